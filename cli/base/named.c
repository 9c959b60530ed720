/* cli/base/named.c - visits the files that a project names. */
#include "named.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct walk {
    exi_named_visit *visit;
    void *user;
    bool good;
} walk;

__attribute__((format(printf, 3, 4))) static void name(walk *w, const char *path, const char *format, ...) {
    char where[128];
    va_list list;
    if (!path || !w->good)
        return;
    va_start(list, format);
    vsnprintf(where, sizeof where, format, list);
    va_end(list);
    w->good = w->visit(w->user, path, where);
}

static const char *file_of(const ex_project_mask *mask) {
    return mask->kind == EX_MASK_FILE ? mask->source : NULL;
}

static void name_example(walk *w, int layer, const ex_project_example *e) {
    name(w, e->mesh, "layers[%d].examples[%d].mesh", layer, e->place);
    name(w, e->sculpt, "layers[%d].examples[%d].sculpt", layer, e->place);
    name(w, e->driver, "layers[%d].examples[%d].at", layer, e->place);
    name(w, e->image, "layers[%d].examples[%d].image", layer, e->place);
    name(w, e->map, "layers[%d].examples[%d].map", layer, e->place);
    name(w, e->skeleton, "layers[%d].examples[%d].skeleton", layer, e->place);
}

static void name_layer(walk *w, int l, const ex_project_layer *layer, bool muted) {
    name(w, file_of(&layer->mask), "layers[%d].mask", l);
    name(w, file_of(&layer->driver_weights), "layers[%d].weigh", l);
    name(w, layer->trajectory.segments, "layers[%d].trajectory", l);
    for (int r = 0; r < layer->region_count; r++) {
        name(w, file_of(&layer->regions[r].look), "layers[%d].weigh.regions[%d]", l, r);
        name(w, file_of(&layer->regions[r].mask), "layers[%d].weigh.regions[%d]", l, r);
    }
    for (int k = 0; k < layer->example_count; k++)
        name_example(w, l, &layer->examples[k]);
    for (int k = 0; muted && k < layer->muted_count; k++)
        name_example(w, l, &layer->muted_examples[k]);
}

bool exi_named_files(const ex_project_view *view, bool muted, exi_named_visit *visit, void *user) {
    walk w = {.visit = visit, .user = user, .good = true};
    name(&w, view->mesh, "mesh");
    name(&w, view->skeleton, "skeleton");
    name(&w, view->driver.mesh, "driver.mesh");
    name(&w, view->driver.bind, "settle.bind");
    for (int l = 0; l < view->layer_count; l++)
        name_layer(&w, l, &view->layers[l], muted);
    return w.good;
}
