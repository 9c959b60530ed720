/* Says what a plan will cost. */
#include "planner.h"

#include "cli/base/emit.h"

#include <stdio.h>

/* "2.5 h of one core". */
static const char *text_span(char text[EXI_TEXT_SIZE], double seconds) {
    if (seconds < 90)
        return exi_text_seconds(text, seconds);
    if (seconds < 90 * 60)
        snprintf(text, EXI_TEXT_SIZE, "%.0f min", seconds / 60);
    else if (seconds < 100 * 3600)
        snprintf(text, EXI_TEXT_SIZE, "%.1f h", seconds / 3600);
    else
        snprintf(text, EXI_TEXT_SIZE, "%.0f days", seconds / 86400);
    return text;
}

void exi_farm_print_plan_json(const exi_farm *farm, int done) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "folder", farm->folder);
    exi_emit_number(&json, "tasks", farm->task_count);
    exi_emit_number(&json, "done", done);
    exi_emit_number(&json, "results", (double)json_array_size(json_object_get(farm->plan, "results")));
    exi_emit_open(&json, "stages", '[');
    for (int s = 0; s < farm->stage_count; s++) {
        const json_t *stage = json_array_get(json_object_get(farm->plan, "stages"), (size_t)s);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", exi_farm_text(stage, "name"));
        exi_emit_number(&json, "tasks", exi_farm_number(stage, "count"));
        exi_emit_number(&json, "seconds", exi_farm_number(stage, "seconds"));
        exi_emit_number(&json, "memory", exi_farm_number(stage, "memory"));
        exi_emit_number(&json, "disk", exi_farm_number(stage, "disk"));
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

void exi_farm_print_plan(const exi_farm *farm, const char *output, int done) {
    char a[EXI_TEXT_SIZE], b[EXI_TEXT_SIZE], c[EXI_TEXT_SIZE];
    double seconds = 0, longest = 0;
    bool known = true;
    exi_print("%s: %s in %s", output, exi_text_count(a, farm->task_count, "task"),
              exi_text_count(b, farm->stage_count, "stage"));
    exi_print(", for %s\n", exi_text_count(a, (int)json_array_size(json_object_get(farm->plan, "results")), "result"));
    for (int s = 0; s < farm->stage_count; s++) {
        const json_t *stage = json_array_get(json_object_get(farm->plan, "stages"), (size_t)s);
        const double takes = exi_farm_number(stage, "seconds");
        exi_print("  %d %-10s %8s", s + 1, exi_farm_text(stage, "name"),
                  exi_text_count(a, (int)exi_farm_number(stage, "count"), "task"));
        if (takes > 0)
            exi_print(", up to %s each, %s of memory, %s of pieces", text_span(a, exi_farm_number(stage, "longest")),
                      exi_text_bytes(b, exi_farm_number(stage, "memory")),
                      exi_text_bytes(c, exi_farm_number(stage, "disk")));
        exi_print("\n");
        known = known && takes > 0;
        seconds += takes;
        longest += exi_farm_number(stage, "longest");
    }
    if (known)
        exi_print("About %s of one core; at best %s.\n", text_span(a, seconds), text_span(b, longest));
    if (done > 0)
        exi_print("%s there already.\n", done == 1 ? "1 piece is" : (snprintf(a, sizeof a, "%d pieces are", done), a));
    exi_print("Next: exemplar farm submit ");
    exi_print_word(output);
    exi_print("\n");
}

/* Reads the plan back, writes the lists, and reports. */