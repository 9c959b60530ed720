/*
 * Builds layers of trajectories: finds paths from the mesh to mesh + difference, after the examples are measured.
 */
#include "author/project/build/build.h"
#include "runtime/base/result.h"

#include <stdlib.h>

/* Progress of a layer's paths as a part of the total. */
typedef struct share {
    const exi_building *b;
    double cost;
} share;

static bool report_share(void *user, const char *what, double fraction) {
    const share *s = user;
    const ex_progress *progress = s->b->options.progress;
    return progress->report(progress->user, what,
                            (s->b->example_done + s->cost * fraction) / (s->b->example_total + 1));
}

static ex_result describe(exi_building *b, int index, ex_error *error) {
    if (!b->path_note)
        b->path_note = json_object();
    return b->path_note && exi_project_trajectories_describe(b->path_note, &b->view->layers[index], &b->paths[index],
                                                             b->mesh->face_count)
               ? EX_OK
               : ex_error_memory(error, "a note", 0);
}

ex_result exi_build_trajectories(exi_building *b, int index, ex_layer_def *layer, ex_error *error) {
    const ex_project_layer *source = &b->view->layers[index];
    exi_project_trajectories *paths = &b->paths[index];
    share s = {.b = b, .cost = EXI_BUILD_PATH_COST * source->example_count};
    const ex_progress progress = {.report = report_share, .user = &s};
    const bool reports = b->options.progress && b->options.progress->report;
    ex_result result =
        exi_project_trajectories_open(paths,
                                      &(exi_project_trajectories_source){.mesh = b->mesh,
                                                                         .example_count = source->example_count,
                                                                         .names = source->weigh.names,
                                                                         .reference = layer->trajectory.reference,
                                                                         .deltas = layer->form.deltas},
                                      error);
    if (result == EX_OK)
        result = exi_project_trajectories_find(paths, b->view, source, b->mesh,
                                               &(exi_path_search){.kept = b->options.kept_paths,
                                                                  .tasks = b->options.tasks,
                                                                  .progress = reports ? &progress : NULL},
                                               error);
    if (result == EX_OK)
        result = describe(b, index, error);
    b->example_done += EXI_BUILD_PATH_COST * source->example_count;
    if (result != EX_OK)
        return result;
    layer->trajectory.examples = paths->found->trajectories;
    layer->trajectory.overlaps = paths->found->overlaps;
    layer->trajectory.segments = paths->found->segments;
    layer->trajectory.mixture = paths->found->mixture;
    for (int c = 0; c < 3; c++)
        layer->trajectory.centre[c] = paths->found->centre[c];
    exi_build_note_trajectories(b, index);
    return EX_OK;
}
