/* bench/gpu/print.c - prints rows for people and for programs. */
#include "bench/gpu/gpu.h"

#include <math.h>

double exi_gpu_bench_row_speed(const exi_gpu_bench_row *row) {
    return row->us > 0 ? row->bytes / row->us : 0;
}

double exi_gpu_bench_row_part(const exi_gpu_bench_row *row) {
    return row->copy_speed > 0 ? exi_gpu_bench_row_speed(row) / row->copy_speed : 0;
}

int exi_gpu_bench_row_verdict(const exi_gpu_bench_row *row) {
    if (row->agreement.wrong || (row->goal_part > 0 && exi_gpu_bench_row_part(row) < row->goal_part) ||
        (row->goal_us > 0 && row->us > row->goal_us) ||
        (row->goal_times > 0 && row->us > row->goal_times * row->beside_us))
        return -1;
    return row->goal_part > 0 || row->goal_us > 0 || row->goal_times > 0;
}

void exi_gpu_bench_row_header(FILE *file, const ex_cuda_device *device) {
    fprintf(file, "%s, compute capability %d.%d, %.1f GB; driver %d.%d, runtime %d.%d\n", device->name, device->major,
            device->minor, 1e-9 * (double)device->memory, device->driver / 1000, device->driver % 1000 / 10,
            device->runtime / 1000, device->runtime % 1000 / 10);
    fprintf(file, "%-54s %11s %8s %8s %9s %9s  %s\n", "work", "time", "GB/s", "of copy", "differs", "normals",
            "to reach");
}

static void print_difference(double difference, char text[16]) {
    if (difference >= 0)
        snprintf(text, 16, "%.1e", difference);
    else
        snprintf(text, 16, "-");
}

void exi_gpu_bench_row_print(FILE *file, const exi_gpu_bench_row *row) {
    static const char *const verdicts[] = {" (missed)", "", " (reached)"};
    char goal[48] = "", time[24], differs[2][16];
    const int verdict = exi_gpu_bench_row_verdict(row);
    if (row->us < 1e3)
        snprintf(time, sizeof time, "%.2f us", row->us);
    else
        snprintf(time, sizeof time, "%.3f ms", 1e-3 * row->us);
    if (row->goal_part > 0)
        snprintf(goal, sizeof goal, "%g of copy", row->goal_part);
    else if (row->goal_us > 0)
        snprintf(goal, sizeof goal, "%g us", row->goal_us);
    else if (row->goal_times > 0)
        snprintf(goal, sizeof goal, "%g times", row->goal_times);
    else if (verdict < 0)
        snprintf(goal, sizeof goal, "to be right");
    print_difference(row->agreement.positions, differs[0]);
    print_difference(row->agreement.normals, differs[1]);
    fprintf(file, "%-54s %11s %8.0f %8.2f %9s %9s  %s%s\n", row->work, time, 1e-3 * exi_gpu_bench_row_speed(row),
            exi_gpu_bench_row_part(row), differs[0], differs[1], goal, verdicts[verdict + 1]);
    if (row->beside)
        fprintf(file, "    beside: %s, %.2f us: %.2f times that\n", row->beside, row->beside_us,
                row->us / row->beside_us);
    fflush(file); /* a row takes a while: show it as soon as it is done */
}

static void json_number(FILE *file, const char *key, double value, bool is) {
    if (is && isfinite(value))
        fprintf(file, ", \"%s\": %.9g", key, value);
    else
        fprintf(file, ", \"%s\": null", key);
}

/* The rows' names and works need no escapes. */
void exi_gpu_bench_row_json(FILE *file, const exi_gpu_bench_row *row) {
    const int verdict = exi_gpu_bench_row_verdict(row);
    fprintf(file, "{\"name\": \"%s\", \"work\": \"%s\", \"instances\": %d, \"vertices\": %d", row->name, row->work,
            row->instances, row->vertices);
    json_number(file, "us", row->us, true);
    json_number(file, "bytes", row->bytes, true);
    json_number(file, "gb_per_second", 1e-3 * exi_gpu_bench_row_speed(row), true);
    json_number(file, "copy_gb_per_second", 1e-3 * row->copy_speed, row->copy_speed > 0);
    json_number(file, "part_of_copy", exi_gpu_bench_row_part(row), row->copy_speed > 0);
    json_number(file, "difference", row->agreement.positions, row->agreement.positions >= 0);
    json_number(file, "normal_difference", row->agreement.normals, row->agreement.normals >= 0);
    fprintf(file, ", \"right\": %s", row->agreement.wrong ? "false" : "true");
    fprintf(file, row->beside ? ", \"beside\": \"%s\"" : ", \"beside\": null", row->beside ? row->beside : "");
    json_number(file, "beside_us", row->beside_us, row->beside_us > 0);
    json_number(file, "goal_part_of_copy", row->goal_part, row->goal_part > 0);
    json_number(file, "goal_us", row->goal_us, row->goal_us > 0);
    json_number(file, "goal_times_beside", row->goal_times, row->goal_times > 0);
    fprintf(file, ", \"reached\": %s}", verdict > 0 ? "true" : verdict < 0 ? "false" : "null");
}
