/* exemplar farm status - says how far a plan is, from the files in its folder alone. */
#define _GNU_SOURCE

#include "farm.h"

#include "cli/base/emit.h"
#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAMED_MOST = 5 };

static const char *const state_names[EXI_FARM_STATE_COUNT] = {"left", "done", "running", "failed", "lost"};

typedef struct tally {
    int counts[EXI_FARM_STATE_COUNT];
    double left, done; /* expected seconds, or tasks if those are not known */
} tally;

/* Seconds to go, if it goes on as it did since the last submit; -1: nobody knows. */
static double to_go(const exi_farm *farm, const tally *all) {
    char *path = exi_farm_path(farm, "submitted", "last.json", "");
    json_t *last = path ? json_load_file(path, 0, NULL) : NULL;
    const double since = last ? difftime(time(NULL), (time_t)exi_farm_number(last, "time")) : 0;
    json_decref(last);
    free(path);
    return since > 0 && all->done > 0 && all->counts[EXI_FARM_RUNNING] > 0 ? since * all->left / all->done : -1;
}

static void add_up(const exi_farm *farm, const exi_farm_state *states, int stage, tally *t) {
    *t = (tally){.left = 0};
    for (int i = 0; i < farm->task_count; i++) {
        if (stage >= 0 && farm->tasks[i].stage != stage)
            continue;
        const double weight = farm->tasks[i].seconds > 0 ? farm->tasks[i].seconds : 1;
        t->counts[states[i]]++;
        *(states[i] == EXI_FARM_DONE ? &t->done : &t->left) += weight;
    }
}

static void print_failures_json(exi_emitter *json, const exi_farm *farm, const exi_farm_state *states) {
    exi_emit_open(json, "failures", '[');
    for (int i = 0; i < farm->task_count; i++) {
        if (states[i] != EXI_FARM_FAILED && states[i] != EXI_FARM_LOST)
            continue;
        json_t *failure = exi_farm_failure(farm, i);
        const json_t *lines = json_object_get(failure, "lines");
        exi_emit_open(json, NULL, '{');
        exi_emit_number(json, "task", i + 1);
        exi_emit_text(json, "name", farm->tasks[i].name);
        exi_emit_text(json, "piece", farm->tasks[i].piece);
        exi_emit_text(json, "state", state_names[states[i]]);
        exi_emit_text(json, "how", exi_farm_text(failure, "how"));
        exi_emit_text(json, "host", exi_farm_text(failure, "host"));
        exi_emit_open(json, "lines", '[');
        for (size_t k = 0; k < json_array_size(lines); k++)
            exi_emit_text(json, NULL, json_string_value(json_array_get(lines, k)));
        exi_emit_close(json, ']');
        exi_emit_close(json, '}');
        json_decref(failure);
    }
    exi_emit_close(json, ']');
}

static void print_json(const exi_farm *farm, const exi_farm_state *states) {
    tally all;
    add_up(farm, states, -1, &all);
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_number(&json, "tasks", farm->task_count);
    for (int i = 0; i < EXI_FARM_STATE_COUNT; i++)
        exi_emit_number(&json, state_names[i], all.counts[i]);
    const double left = to_go(farm, &all);
    exi_emit_number(&json, "seconds_left", left >= 0 ? left : (double)NAN);
    exi_emit_open(&json, "stages", '[');
    for (int s = 0; s < farm->stage_count; s++) {
        tally t;
        add_up(farm, states, s, &t);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name",
                      exi_farm_text(json_array_get(json_object_get(farm->plan, "stages"), (size_t)s), "name"));
        for (int i = 0; i < EXI_FARM_STATE_COUNT; i++)
            exi_emit_number(&json, state_names[i], t.counts[i]);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    print_failures_json(&json, farm, states);
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static void print_failures(const ex_call *call, const exi_farm *farm, const exi_farm_state *states, int failed) {
    int named = 0;
    for (int i = 0; i < farm->task_count && named < NAMED_MOST; i++) {
        if (states[i] != EXI_FARM_FAILED && states[i] != EXI_FARM_LOST)
            continue;
        json_t *failure = exi_farm_failure(farm, i);
        const json_t *lines = json_object_get(failure, "lines");
        if (states[i] == EXI_FARM_LOST)
            exi_print("task %d (%s): lost, no sign of it for a minute\n", i + 1, farm->tasks[i].name);
        else
            exi_print("task %d (%s): %s, on %s\n", i + 1, farm->tasks[i].name, exi_farm_text(failure, "how"),
                      exi_farm_text(failure, "host"));
        for (size_t k = 0; k < json_array_size(lines); k++)
            exi_print("    %s\n", json_string_value(json_array_get(lines, k)));
        exi_print("    log: %s/logs/%s.log\n", farm->folder, farm->tasks[i].piece);
        json_decref(failure);
        named++;
    }
    if (failed > named)
        exi_print("and %d more (--json lists all)\n", failed - named);
    if (failed > 0) {
        exi_print("Run them again: exemplar farm retry ");
        exi_print_word(call->arguments[0]);
        exi_print("\n");
    }
}

static void print_text(const ex_call *call, const exi_farm *farm, const exi_farm_state *states) {
    char text[EXI_TEXT_SIZE];
    tally all;
    add_up(farm, states, -1, &all);
    exi_print("%-16s %8s %8s %8s %8s %8s\n", "stage", "done", "running", "failed", "lost", "left");
    for (int s = 0; s < farm->stage_count; s++) {
        tally t;
        char name[64];
        add_up(farm, states, s, &t);
        snprintf(name, sizeof name, "%d %s", s + 1,
                 exi_farm_text(json_array_get(json_object_get(farm->plan, "stages"), (size_t)s), "name"));
        exi_print("%-16s %8d %8d %8d %8d %8d\n", name, t.counts[EXI_FARM_DONE], t.counts[EXI_FARM_RUNNING],
                  t.counts[EXI_FARM_FAILED], t.counts[EXI_FARM_LOST], t.counts[EXI_FARM_LEFT]);
    }
    const double left = to_go(farm, &all);
    exi_print("%d of %s done", all.counts[EXI_FARM_DONE], exi_text_count(text, farm->task_count, "task"));
    if (left >= 0 && left < 90)
        exi_print(", about %.0f s to go", left);
    else if (left >= 0)
        exi_print(", about %.0f min to go", left / 60);
    exi_print("\n");
    print_failures(call, farm, states, all.counts[EXI_FARM_FAILED] + all.counts[EXI_FARM_LOST]);
    if (all.counts[EXI_FARM_DONE] == farm->task_count) {
        exi_print("Next: exemplar farm merge ");
        exi_print_word(call->arguments[0]);
        exi_print("\n");
    }
}

static int run(const ex_call *call) {
    ex_error error = {.result = EX_OK};
    exi_farm farm;
    if (!exi_farm_open_argument(call, &farm))
        return EX_EXIT_FAILED;
    exi_farm_state *states = array_allocate((size_t)farm.task_count, sizeof *states);
    int code = EX_EXIT_DONE;
    if (!states)
        code = exi_failed_memory();
    else if (exi_farm_states(&farm, states, &error) != EX_OK)
        code = exi_failed(&error);
    else if (call->json)
        print_json(&farm, states);
    else
        print_text(call, &farm, states);
    free(states);
    exi_farm_close(&farm);
    return code;
}

const ex_command cmd_farm_status = {
    .name = "farm status",
    .summary = "show the progress of a plan",
    .usage = "farm status DIR [--json]",
    .description = "Prints how many tasks of each stage are done, running, failed, lost (they began,\n"
                   "and nothing was heard of them for a minute) or left, about how long the rest\n"
                   "takes, and the last lines of tasks that failed.",
    .examples = "exemplar farm status job\n"
                "watch exemplar farm status job",
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
