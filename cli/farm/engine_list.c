/* Writes files of commands, one a line, for engines that take such a list: GNU parallel, cuecmd of OpenCue, xargs. */
#include "farm.h"

#include "cli/base/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static ex_result write_stage(const exi_farm_order *order, int stage, ex_file_writer *writer, int *count) {
    const exi_farm *farm = order->farm;
    for (int t = 0; t < farm->task_count; t++) {
        if (!order->wanted[t] || farm->tasks[t].stage != stage)
            continue;
        char *line = exi_farm_line(farm, t, order->command);
        if (!line)
            return EX_ERROR_MEMORY;
        ex_file_printf(writer, "%s\n", line);
        free(line);
        ++*count;
    }
    return EX_OK;
}

/* True if nothing but an older list would be lost. */
static bool is_replaceable(const char *path) {
    char start[4096];
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return true;
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(start, 1, sizeof start - 1, file) : 0;
    if (file)
        fclose(file);
    start[size] = '\0';
    return strstr(start, " farm do ") != NULL;
}

/* One file for all stages: those who run it must keep to their order. */
static int write_one(const exi_farm_order *order, ex_error *error) {
    ex_file_writer writer;
    int count = 0, exit_code = EX_EXIT_FAILED, stages = 0;
    if (!exi_is_standard_output(order->output) && !exi_output_writable(order->output))
        return EX_EXIT_FAILED;
    if (!is_replaceable(order->output))
        return exi_failed_text("'%s' is there and is no list of commands: give another name with -o", order->output);
    ex_result result =
        ex_file_open(&writer, exi_is_standard_output(order->output) ? "/dev/stdout" : order->output, error);
    if (result != EX_OK)
        return exi_failed(error);
    for (int s = 0; result == EX_OK && s < order->farm->stage_count; s++) {
        const int before = count;
        result = write_stage(order, s, &writer, &count);
        stages += count > before;
    }
    if (result == EX_OK)
        result = ex_file_commit(&writer, error);
    else
        ex_file_abandon(&writer);
    if (result != EX_OK)
        return result == EX_ERROR_MEMORY ? exi_failed_memory() : exi_failed(error);
    exit_code = EX_EXIT_DONE;
    if (stages > 1 && !order->call->quiet)
        exi_failed_text("these are commands of %d stages: a task waits a minute for those that it needs, so run the "
                        "stages one after the other (without -o, each has a file of its own)",
                        stages);
    return exit_code;
}

int exi_farm_to_list(const exi_farm_order *order) {
    ex_error error = {.result = EX_OK};
    char a[EXI_TEXT_SIZE];
    if (order->output)
        return write_one(order, &error);
    for (int s = 0; s < order->farm->stage_count; s++) {
        ex_file_writer writer;
        char name[40];
        int count = 0;
        snprintf(name, sizeof name, "list-%d", s + 1);
        char *path = exi_farm_path(order->farm, "submitted", name, ".txt");
        ex_result result = path ? ex_file_open(&writer, path, &error) : EX_ERROR_MEMORY;
        if (result == EX_OK) {
            result = write_stage(order, s, &writer, &count);
            if (result == EX_OK && count > 0)
                result = ex_file_commit(&writer, &error);
            else
                ex_file_abandon(&writer);
        }
        if (result == EX_OK && count > 0)
            exi_print("%s: %s\n", path, exi_text_count(a, count, "command"));
        free(path);
        if (result != EX_OK)
            return result == EX_ERROR_MEMORY ? exi_failed_memory() : exi_failed(&error);
    }
    return EX_EXIT_DONE;
}
