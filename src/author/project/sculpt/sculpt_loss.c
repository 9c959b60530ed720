/*
 * Measures what a new sculpt does to the sculpts that were there: the form at each of their poses before the change and
 * after it, through all layers and the skin. Without the new layer, a rig is the one before. For an example in an old
 * layer, the project is built once more as it was.
 */
#include "author/base/array.h"
#include "author/project/domains/project_domain.h"
#include "author/project/sculpt/sculpt.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Smallest change that counts, in sizes of the mesh: as for a sculpt that does not come back exactly. */
#define LOSS 1e-5

/* The rig before, and the layer to leave out of it, or -1. */
typedef struct past {
    const ex_rig *rig;
    const ex_project_view *view;
    int without;
    float *before, *after; /* [vertex_count][3] */
} past;

/* Finds the longest way of a vertex at an example's pose. */
static ex_result measure_one(const exi_amendment *a, const past *p, int layer, int place, double *way,
                             ex_error *error) {
    const ex_project_example *old = exi_example_at(&p->view->layers[layer], place);
    const ex_project_example *now = exi_example_at(&a->trial.view.layers[layer], place);
    exi_counted counted = {.shown = -1, .end = INT_MAX, .without = p->without};
    *way = 0;
    if (!old || !now)
        return EX_OK;
    ex_result result = exi_example_evaluate(p->rig, p->view, old, &counted, p->before, error);
    counted.without = -1;
    if (result == EX_OK)
        result = exi_example_evaluate(a->rig, &a->trial.view, now, &counted, p->after, error);
    for (size_t i = 0; result == EX_OK && i < 3 * (size_t)ex_rig_vertex_count(a->rig); i += 3) {
        double d[3];
        for (size_t c = 0; c < 3; c++)
            d[c] = (double)p->after[i + c] - (double)p->before[i + c];
        *way = fmax(*way, hypot(hypot(d[0], d[1]), d[2]));
    }
    return result;
}

static ex_result measure_all(const exi_amendment *a, const past *p, int layer, int place, ex_sculpted *made,
                             ex_error *error) {
    ex_result result = EX_OK;
    for (int l = 0; l < a->project->view.layer_count && result == EX_OK; l++) {
        const ex_project_layer *earlier = &a->project->view.layers[l];
        const bool forms = exi_project_domain_of(earlier)->masked == EXI_MASKED_MESH && !earlier->muted;
        for (int k = 0; forms && k < earlier->example_count && result == EX_OK; k++) {
            double way = 0;
            if (l == layer && earlier->examples[k].place == place)
                continue;
            result = measure_one(a, p, l, earlier->examples[k].place, &way, error);
            made->lost_count += way > LOSS * made->size;
            if (way > LOSS * made->size && way > made->loss) {
                made->loss = way;
                made->lost_layer = l;
                made->lost_example = k;
            }
        }
    }
    return result;
}

ex_result exi_sculpt_loss(const exi_amendment *a, int layer, int place, bool new_layer, ex_sculpted *made,
                          ex_error *error) {
    const size_t count = 3 * (size_t)ex_rig_vertex_count(a->rig);
    const ex_build_options plain = {.rig = {.without_levels = true, .without_normals = true, .without_tangents = true}};
    ex_rig *old = NULL;
    ex_result result = EX_OK;
    if (!new_layer) {
        result = ex_project_build(a->project, &plain, &old, error);
        if (result == EX_ERROR_MEMORY)
            return result;
        if (result != EX_OK) {
            *error = (ex_error){0};
            return EX_OK; /* it was damaged before: there is nothing to compare with */
        }
    }
    past p = {.rig = new_layer ? a->rig : old,
              .view = new_layer ? &a->trial.view : &a->project->view,
              .without = new_layer ? layer : -1,
              .before = exi_array_allocate(count, sizeof *p.before),
              .after = exi_array_allocate(count, sizeof *p.after)};
    const bool fits = p.before && p.after && ex_rig_vertex_count(p.rig) == ex_rig_vertex_count(a->rig);
    result = fits ? measure_all(a, &p, layer, place, made, error) : ex_error_memory(error, "a form", 2 * count);
    free(p.before);
    free(p.after);
    ex_rig_destroy(old);
    return result;
}
