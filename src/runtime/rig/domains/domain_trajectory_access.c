/*
 * Access to trajectory layers. Layers of other domains have no reference, segments or overlaps.
 */
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <string.h>

/* Returns the layer's trajectories, or NULL if it has none. */
static const exi_trajectories *paths_of(const ex_rig *rig, int layer, const char *function) {
    return exi_rig_has_layer(rig, layer, function) ? exi_rig_trajectories_of(rig, layer) : NULL;
}

/* The same, and checks the example. */
static const exi_trajectories *path_of(const ex_rig *rig, int layer, int example, const char *function) {
    const exi_trajectories *paths = paths_of(rig, layer, function);
    if (!paths || (example >= 0 && example < paths->example_count))
        return paths;
    exi_misuse(function, "no such example");
    return NULL;
}

int ex_rig_layer_reference(const ex_rig *rig, int layer) {
    const exi_trajectories *paths = paths_of(rig, layer, __func__);
    return paths ? paths->reference : -1;
}

ex_segments ex_rig_layer_segments(const ex_rig *rig, int layer) {
    const exi_trajectories *paths = paths_of(rig, layer, __func__);
    if (!paths || paths->segment_count == 0)
        return (ex_segments){0};
    return (ex_segments){.count = paths->segment_count,
                         .parents = exi_trajectories_at(paths, paths->parents),
                         .vertices = exi_trajectories_at(paths, paths->segments)};
}

const float *ex_rig_layer_overlaps(const ex_rig *rig, int layer) {
    const exi_trajectories *paths = paths_of(rig, layer, __func__);
    return paths && paths->overlaps ? exi_trajectories_at(paths, paths->overlaps) : NULL;
}

void ex_rig_layer_centre(const ex_rig *rig, int layer, double centre[3]) {
    const exi_trajectories *paths = paths_of(rig, layer, __func__);
    for (int c = 0; c < 3; c++)
        centre[c] = paths ? paths->centre[c] : 0;
}

bool ex_rig_layer_mask(const ex_rig *rig, int layer, float *mask) {
    const exi_trajectories *paths = paths_of(rig, layer, __func__);
    const bool masked = paths && paths->mask;
    for (int v = 0; rig && v < rig->counts.vertices; v++)
        mask[v] = masked ? ((const float *)exi_trajectories_at(paths, paths->mask))[v] : 1;
    return masked;
}

ex_trajectory ex_rig_example_trajectory(const ex_rig *rig, int layer, int example) {
    const exi_trajectories *paths = path_of(rig, layer, example, __func__);
    if (!paths)
        return (ex_trajectory){0};
    const exi_trajectory_example *e = &exi_trajectories_examples(paths)[example];
    const float *curves = exi_trajectories_at(paths, paths->curves), *bases = exi_trajectories_at(paths, paths->bases);
    return (ex_trajectory){.corrector_count = e->corrector_count,
                           .curves =
                               e->corrector_count > 0 ? curves + (size_t)e->first_corrector * EX_CURVE_SIZE : NULL,
                           .screw = e->screw,
                           .bases = e->bases >= 0 ? bases + (size_t)e->bases * (size_t)paths->segment_count * 6 : NULL};
}

bool ex_rig_example_turns(const ex_rig *rig, int layer, int example, float *turns) {
    const exi_trajectories *paths = path_of(rig, layer, example, __func__);
    if (paths)
        return exi_trajectories_get_turns(paths, exi_rig_forms(rig), example, turns);
    if (rig)
        memset(turns, 0, (size_t)rig->counts.vertices * 3 * sizeof *turns);
    return false;
}

void ex_rig_example_corrector(const ex_rig *rig, int layer, int example, int corrector, float *values) {
    const exi_trajectories *paths = path_of(rig, layer, example, __func__);
    if (paths && corrector >= 0 && corrector < exi_trajectories_examples(paths)[example].corrector_count)
        exi_trajectories_get_corrector(paths, exi_rig_forms(rig), example, corrector, values);
    else
        exi_misuse(__func__, "no such corrector");
}

ex_mixture ex_rig_layer_mixture(const ex_rig *rig, int layer) {
    const exi_trajectories *paths = paths_of(rig, layer, __func__);
    if (!paths || paths->mixture.node_count == 0)
        return (ex_mixture){0};
    const exi_mixture *m = &paths->mixture;
    return (ex_mixture){.node_count = m->node_count,
                        .places = exi_trajectories_at(paths, m->given_places),
                        .turns = exi_trajectories_at(paths, m->given_turns),
                        .edge_count = m->edge_count,
                        .edges = exi_trajectories_at(paths, m->edges),
                        .edge_weights = exi_trajectories_at(paths, m->edge_weights),
                        .nodes = exi_trajectories_at(paths, m->nodes),
                        .shares = exi_trajectories_at(paths, m->shares),
                        .corrector_count = m->corrector_count,
                        .term_count = m->term_count,
                        .terms = exi_trajectories_at(paths, m->terms),
                        .curves = exi_trajectories_at(paths, m->curves)};
}

void ex_rig_layer_corrector(const ex_rig *rig, int layer, int corrector, float *values) {
    const exi_trajectories *paths = paths_of(rig, layer, __func__);
    if (paths && corrector >= 0 && corrector < paths->mixture.corrector_count)
        exi_trajectories_get_corrector(paths, exi_rig_forms(rig), -1, corrector, values);
    else
        exi_misuse(__func__, "no such corrector");
}
