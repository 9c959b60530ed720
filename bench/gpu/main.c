/*
 * bench/gpu/main.c - exemplar_cuda_bench: the measurements of 'exemplar bench --gpu' that need only the runtime, for
 * machines that have a GPU and none of authoring's libraries.
 *
 *     exemplar_cuda_bench [--only NAME] [--repeat N] [--json]
 */
#include "bench/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

typedef struct printing {
    bool json, any;
} printing;

static void report(void *user, const exi_gpu_bench_row *row) {
    printing *p = user;
    if (p->json) {
        printf("%s\n  ", p->any ? "," : "");
        exi_gpu_bench_row_json(stdout, row);
    } else {
        exi_gpu_bench_row_print(stdout, row);
    }
    p->any = true;
}

static bool is_name(const char *name) {
    for (int i = 0; exi_gpu_bench_name(i); i++)
        if (strcmp(exi_gpu_bench_name(i), name) == 0)
            return true;
    return false;
}

static int usage(void) {
    fprintf(stderr, "exemplar_cuda_bench [--only NAME] [--repeat N] [--json]; NAME is one of:");
    for (int i = 0; exi_gpu_bench_name(i); i++)
        fprintf(stderr, " %s", exi_gpu_bench_name(i));
    fprintf(stderr, "\n");
    return 2;
}

int main(int argc, char **argv) {
    printing p = {0};
    exi_gpu_bench bench = {.repeat = 25, .report = report, .user = &p};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            p.json = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc && is_name(argv[i + 1]))
            bench.only = argv[++i];
        else if (strcmp(argv[i], "--repeat") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0)
            bench.repeat = atoi(argv[++i]);
        else
            return usage();
    }
    ex_error error = {.result = EX_OK};
    ex_cuda_device device;
    if (ex_cuda_device_count() == 0) {
        fprintf(stderr, "exemplar_cuda_bench: there is no NVIDIA GPU here, or no driver for it\n");
        return 1;
    }
    ex_result result = ex_cuda_get_device(0, &device, &error);
    if (result == EX_OK && p.json)
        printf("{\"version\": \"%s\", \"gpu\": \"%s\", \"driver\": %d, \"runtime\": %d, \"rows\": [", ex_version().text,
               device.name, device.driver, device.runtime);
    else if (result == EX_OK)
        exi_gpu_bench_row_header(stdout, &device);
    if (result == EX_OK)
        result = exi_gpu_bench_run(&bench, &error);
    if (p.json)
        printf("\n]}\n");
    if (result != EX_OK)
        fprintf(stderr, "exemplar_cuda_bench: %s\n", error.text);
    return result == EX_OK ? 0 : 1;
}
