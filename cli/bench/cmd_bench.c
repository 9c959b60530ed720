/* exemplar bench - measures this machine, next to other libraries that do the same work. */
#include "cli/bake/gpu.h"
#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/report.h"

#include "bench/bench.h"

#include <exemplar/author.h>

#include <stdio.h>
#include <string.h>

static int repeat = 25;
static bool on_gpu;

static const ex_option options[] = {
    {.name = "repeat",
     .argument = "N",
     .help = "samples for each median (default: 25, at most 1000)",
     .count = &repeat,
     .count_max = EXI_REPEAT_MAX},
    {.name = "gpu", .help = "measure the GPU (see 'exemplar info --capabilities')", .flag = &on_gpu},
};

/* ---- as text ---- */

enum { CELL = 32 };

static const char *time_cell(char cell[CELL], double ns, const exi_row *row) {
    if (!(ns > 0))
        return "-";
    if (row->rate > 0)
        snprintf(cell, CELL, "%.2f %s", row->rate, row->rate_unit);
    else if (row->vertex_count > 0)
        snprintf(cell, CELL, "%.2f ns/%s", ns / row->vertex_count, row->unit ? row->unit : "vertex");
    else if (ns < 1e3)
        snprintf(cell, CELL, "%.0f ns", ns);
    else if (ns < 1e6)
        snprintf(cell, CELL, "%.2f us", ns / 1e3);
    else
        snprintf(cell, CELL, "%.2f ms", ns / 1e6);
    return cell;
}

static const char *number_cell(char cell[CELL], const char *format, double value) {
    if (!(value > 0))
        return "-";
    snprintf(cell, CELL, format, value);
    return cell;
}

static const char *goal_cell(char cell[2 * CELL], const exi_row *row) {
    static const char *const verdicts[] = {" (missed)", "", " (reached)"};
    char ratio[CELL] = "", read[CELL] = "", rate[CELL] = "";
    if (row->goal_ratio > 0)
        snprintf(ratio, sizeof ratio, "%.3gx", row->goal_ratio);
    if (row->goal_read > 0)
        snprintf(read, sizeof read, "%s%g of reading", row->goal_ratio > 0 ? ", " : "", row->goal_read);
    if (row->goal_rate > 0)
        snprintf(rate, sizeof rate, "%s%g a second", row->goal_ratio > 0 || row->goal_read > 0 ? ", " : "",
                 row->goal_rate);
    snprintf(cell, 2 * CELL, "%.10s%.20s%.20s%s", ratio, read, rate, verdicts[exi_row_verdict(row) + 1]);
    return cell;
}

static void print_machine(void) {
    char machine[EXI_MACHINE_SIZE];
    exi_machine_name(machine);
    exi_print("exemplar %s, %s, %s\n", ex_version().text, ex_simd_name(), machine);
}

static void print_header(void) {
    exi_print("%-50s %15s %15s %7s %10s %11s  %s\n", "work", "ours", "peer", "ratio", "GB/s", "of reading", "to reach");
}

/* Rows of frames have separate columns, with a header above the first. */
static void print_frames(const exi_row *row) {
    static bool below;
    char vertex[CELL], frame[CELL], rate[CELL], peer[CELL], ratio[CELL];
    if (!below)
        exi_print("%-55s %15s %10s %12s %11s %7s\n", "frames", "a vertex", "a frame", "a second", "the paper's",
                  "ratio");
    below = true;
    exi_print("%-55s %15s %10s %12s %11s %7s\n", row->work,
              row->vertex_count > 0 ? time_cell(vertex, row->ns, row) : "-", time_cell(frame, row->ns, &(exi_row){0}),
              number_cell(rate, "%.0f", 1e9 / row->ns),
              number_cell(peer, "%.0f", row->peer_ns > 0 ? 1e9 / row->peer_ns : 0),
              number_cell(ratio, "%.0f", exi_row_ratio(row)));
    fflush(stdout);
}

static void print_row(void *user, const exi_row *row) {
    (void)user;
    if (row->frames) {
        print_frames(row);
        return;
    }
    char ours[CELL], peer[CELL], ratio[CELL], speed[CELL], part[CELL], goal[2 * CELL];
    exi_print("%-50s %15s %15s %7s %10s %11s  %s\n", row->work, time_cell(ours, row->ns, row),
              time_cell(peer, row->peer_ns, row), number_cell(ratio, "%.2f", exi_row_ratio(row)),
              number_cell(speed, "%.1f", row->bytes / row->ns), number_cell(part, "%.2f", exi_row_read(row)),
              goal_cell(goal, row));
    if (row->peer && row->peer_note)
        exi_print("    peer: %s (%s)\n", row->peer, row->peer_note);
    else if (row->peer)
        exi_print("    peer: %s\n", row->peer);
    fflush(stdout); /* a row takes a while: show it as soon as it is done */
}

/* ---- as JSON ---- */

static void emit_positive(exi_emitter *json, const char *key, double value) {
    if (value > 0)
        exi_emit_number(json, key, value);
    else
        exi_emit_text(json, key, NULL);
}

static void emit_row(void *user, const exi_row *row) {
    exi_emitter *json = user;
    exi_emit_open(json, NULL, '{');
    exi_emit_text(json, "group", row->group);
    exi_emit_text(json, "work", row->work);
    exi_emit_number(json, "ns", row->ns);
    emit_positive(json, row->unit ? "ns_per_query" : "ns_per_vertex",
                  row->vertex_count > 0 ? row->ns / row->vertex_count : 0);
    exi_emit_number(json, "per_second", 1e9 / row->ns);
    emit_positive(json, "rate", row->rate);
    exi_emit_text(json, "rate_unit", row->rate_unit);
    exi_emit_text(json, "peer", row->peer);
    exi_emit_text(json, "peer_note", row->peer_note);
    emit_positive(json, "peer_ns", row->peer_ns);
    emit_positive(json, "peer_per_second", row->peer_ns > 0 ? 1e9 / row->peer_ns : 0);
    emit_positive(json, "ratio", exi_row_ratio(row));
    emit_positive(json, "bytes", row->bytes);
    emit_positive(json, "multiply_adds", row->multiply_adds);
    emit_positive(json, "gb_per_second", row->bytes / row->ns);
    emit_positive(json, "read_gb_per_second", row->read_speed);
    emit_positive(json, "read_two_streams_gb_per_second", row->read_speed_two);
    emit_positive(json, "part_of_read_speed", exi_row_read(row));
    emit_positive(json, "goal_ratio", row->goal_ratio);
    emit_positive(json, "goal_part_of_read_speed", row->goal_read);
    emit_positive(json, "goal_per_second", row->goal_rate);
    if (exi_row_verdict(row) != 0)
        exi_emit_bool(json, "reached", exi_row_verdict(row) > 0);
    else
        exi_emit_text(json, "reached", NULL);
    exi_emit_close(json, '}');
}

/* ---- the command ---- */

static bool is_group(const char *name) {
    for (int i = 0; i < exi_bench_group_count; i++)
        if (strcmp(exi_bench_groups[i].name, name) == 0)
            return true;
    return false;
}

static int unknown_group(const ex_call *call, const char *name) {
    const char *names[32];
    int count = 0;
    for (; count < exi_bench_group_count && count < 32; count++)
        names[count] = exi_bench_groups[count].name;
    const char *near = ex_suggest(name, names, count);
    if (near)
        return exi_wrong_usage(call->command, "there is no measurement '%s': did you mean '%s'?", name, near);
    return exi_wrong_usage(call->command, "there is no measurement '%s'", name);
}

static bool run_groups(const ex_call *call, const exi_bench *bench) {
    const char *chosen = call->argument_count > 0 ? call->arguments[0] : NULL;
    exi_progress progress;
    exi_progress_start(&progress, call);
    bool good = true;
    for (int i = 0; good && i < exi_bench_group_count; i++) {
        const exi_bench_group *group = &exi_bench_groups[i];
        if (chosen && strcmp(group->name, chosen) != 0)
            continue;
        if (call->json)
            exi_progress_step(&progress, group->what, (double)i / exi_bench_group_count);
        good = group->run(bench);
    }
    exi_progress_end(&progress);
    return good;
}

static int run(const ex_call *call) {
    if (on_gpu)
        return exi_gpu_bench_command(call, call->argument_count > 0 ? call->arguments[0] : NULL, repeat);
    if (call->argument_count > 0 && !is_group(call->arguments[0]))
        return unknown_group(call, call->arguments[0]);
    exi_emitter json = exi_emit_start(stdout);
    if (call->json) {
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "version", ex_version().text);
        exi_emit_text(&json, "simd", ex_version().simd);
        char machine[EXI_MACHINE_SIZE];
        exi_machine_name(machine);
        exi_emit_text(&json, "machine", machine);
        exi_emit_open(&json, "rows", '[');
    } else {
        print_machine();
        if (call->argument_count == 0 || strcmp(call->arguments[0], "paper") != 0)
            print_header();
    }
    ex_error error = {.result = EX_OK};
    exi_bench bench = {.repeat = repeat, .report = call->json ? emit_row : print_row, .user = &json, .error = &error};
    bool good = run_groups(call, &bench);
    if (call->json) {
        exi_emit_close(&json, ']');
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    }
    if (!good && error.result != EX_OK)
        return exi_failed(&error);
    return good ? EX_EXIT_DONE : exi_failed_text("not enough memory for the measurement");
}

static const char *group_name(int index) {
    return index < exi_bench_group_count ? exi_bench_groups[index].name : NULL;
}

const ex_command cmd_bench = {
    .name = "bench",
    .summary = "measure speed, beside other libraries",
    .usage = "bench [NAME] [--json] [--repeat N]\n"
             "bench --gpu [NAME] [--json] [--repeat N]",
    .description = "NAME is one of: copy, blend, skin, solve, convex, evaluate, subdivide, tree,\n"
                   "settle, drive, normals, edit, offsets, sparse, trajectory, mixture, warp,\n"
                   "person, paper, fit, displace. Without it, all are measured.\n"
                   "\n"
                   "Times are medians of runs in one thread. A peer runs in turn with ours, so\n"
                   "that noise hits both; 'ratio' is its time over ours. 'GB/s' counts the bytes\n"
                   "that a run must read and write; 'of reading' compares that with reading the\n"
                   "same number of bytes in one stream. If a peer (Eigen, OpenSubdiv, Embree,\n"
                   "scipy, Ceres; ozz-animation, DAQP and libigl if built from their sources) is\n"
                   "missing, its columns are empty. 'copy' measures the limits of the machine: its\n"
                   "clock, multiply-adds, reading and copying. 'paper' counts frames of the demos,\n"
                   "beside the numbers that Shape by Example printed for a machine of 2001.\n"
                   "\n"
                   "With --gpu, NAME is one of: copy, blend, trajectory, mixture, crowd, table,\n"
                   "many, displaced. 'GB/s' counts the bytes that must move (results, every\n"
                   "instance's inputs, tables once), 'of copy' compares that with a copy in the\n"
                   "GPU's memory, 'differs' is the distance from the CPU's results, in parts of\n"
                   "the form's size. 'table' is table 1 of trajectory warping.",
    .examples = "exemplar bench\n"
                "taskset -c 1 exemplar bench blend --repeat 100\n"
                "exemplar bench --json > bench.json\n"
                "exemplar bench --gpu crowd",
    .options = options,
    .option_count = (int)(sizeof options / sizeof options[0]),
    .json = true,
    .argument_max = 1,
    .argument_name = group_name,
    .run = run,
};
