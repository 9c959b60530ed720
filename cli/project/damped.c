/* cli/project/damped.c - prints damped vertices as sentences and as JSON. */
#include "damped.h"

#include "cli/base/report.h"

#include <stdlib.h>
#include <string.h>

/* Largest number of vertices that a sentence names. */
#define NAMED_MOST 10

static void on_report(void *user, int layer, int example, const ex_damped *vertices, int count) {
    exi_damped_list *list = user;
    exi_damped_example *examples = realloc(list->examples, (size_t)(list->count + 1) * sizeof *examples);
    ex_damped *copy = malloc((size_t)count * sizeof *copy + 1);
    if (examples)
        list->examples = examples;
    if (!examples || !copy) {
        free(copy);
        list->failed = true;
        return;
    }
    memcpy(copy, vertices, (size_t)count * sizeof *copy);
    examples[list->count++] =
        (exi_damped_example){.layer = layer, .example = example, .vertices = copy, .count = count};
}

void exi_damped_start(exi_damped_list *list) {
    *list = (exi_damped_list){.hook = {.report = on_report, .user = list}};
}

void exi_damped_free(exi_damped_list *list) {
    for (int i = 0; i < list->count; i++)
        free(list->examples[i].vertices);
    free(list->examples);
    list->examples = NULL;
    list->count = 0;
}

static double worst_of(const exi_damped_example *e) {
    double worst = 0;
    for (int i = 0; i < e->count; i++)
        worst = (double)e->vertices[i].residual > worst ? (double)e->vertices[i].residual : worst;
    return worst;
}

void exi_damped_print(const exi_damped_list *list, const ex_rig *rig) {
    for (int i = 0; i < list->count; i++) {
        const exi_damped_example *e = &list->examples[i];
        char numbers[NAMED_MOST * 16 + 32] = "", count[EXI_TEXT_SIZE];
        size_t at = 0;
        for (int v = 0; v < e->count && v < NAMED_MOST; v++)
            at += (size_t)snprintf(numbers + at, sizeof numbers - at, "%s%d", v > 0 ? ", " : "", e->vertices[v].vertex);
        if (e->count > NAMED_MOST)
            snprintf(numbers + at, sizeof numbers - at, " and %d more", e->count - NAMED_MOST);
        const double worst = worst_of(e);
        exi_failed_text("example '%s': %s damped (%s), worst off by %.2g %s",
                        ex_rig_example_name(rig, e->layer, e->example), exi_text_count(count, e->count, "vertex"),
                        numbers, worst < 0.1 ? 1000 * worst : worst, worst < 0.1 ? "mm" : "m");
    }
}

void exi_damped_print_json(const exi_damped_list *list, const ex_rig *rig, exi_emitter *json) {
    exi_emit_open(json, "damped", '[');
    for (int i = 0; i < list->count; i++) {
        const exi_damped_example *e = &list->examples[i];
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "layer", ex_rig_layer_name(rig, e->layer));
        exi_emit_text(json, "example", ex_rig_example_name(rig, e->layer, e->example));
        exi_emit_number(json, "worst", worst_of(e));
        exi_emit_open(json, "vertices", '[');
        for (int v = 0; v < e->count; v++)
            exi_emit_number(json, NULL, e->vertices[v].vertex);
        exi_emit_close(json, ']');
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}
