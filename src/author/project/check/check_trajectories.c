/*
 * Checks trajectories: finds them as building does, and reports examples that no path reaches without a collapse, and
 * fits that did not converge. check_mixtures.c compares the forms on the way with as-rigid-as-possible ones.
 */
#include "author/project/check/check.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>

/* A volume below this fraction of the mesh's size cubed counts as 0: the surface is flat. */
static const double flat = 1e-6;
/* A surface counts as closed if its area vectors sum to less than this fraction of its area. */
static const double open = 1e-6;

/* Returns six times the volume that the triangles enclose; 0 for an open surface, whose area vectors do not sum to
 * 0. */
static double volume_of(const ex_trajectories_def *def, const double *form) {
    double sum = 0, areas = 0, total[3] = {0, 0, 0};
    for (size_t t = 0; t < (size_t)def->triangle_count; t++) {
        const int *v = def->triangles + 3 * t;
        const double *a = form + 3 * (size_t)v[0];
        double u[3], w[3], n[3];
        exi_subtract(form + 3 * (size_t)v[1], a, u);
        exi_subtract(form + 3 * (size_t)v[2], a, w);
        exi_cross(u, w, n);
        sum += exi_dot3(a, n);
        areas += sqrt(exi_dot3(n, n));
        for (int i = 0; i < 3; i++)
            total[i] += n[i];
    }
    return sqrt(exi_dot3(total, total)) <= open * areas ? sum : 0;
}

/* Reports a closed surface whose volume has the other sign: it is a mirror image, or inside out, and no turn brings one
 * to the other. */
static void check_inside_out(exi_checker *c, int index, int k, const char *where) {
    const ex_trajectories_def *def = &c->paths[index].def;
    const double size = pow(c->size, 3);
    const double before = volume_of(def, def->reference), after = volume_of(def, def->examples[k]);
    if (before == 0 || after == 0 || (before < 0) == (after < 0) || fabs(before) < flat * size ||
        fabs(after) < flat * size)
        return;
    exi_check_add(c, EX_SEVERITY_WARNING, "inside_out", where, after / before,
                  "'%s' is inside out compared with the mesh, or its mirror image: no rotation turns one into the "
                  "other, so it will collapse somewhere on the way",
                  c->view->layers[index].examples[k].name);
}

static void check_fit(exi_checker *c, int index, int k, const char *where) {
    const ex_project_layer *layer = &c->view->layers[index];
    const struct ex_trajectory_fit *fit = &c->paths[index].found->fits[k];
    if (layer->trajectory.options->mode == EX_TRAJECTORY_PAPER && !fit->converged)
        exi_check_add(c, EX_SEVERITY_WARNING, "not_converged", where, fit->iterations,
                      "the trajectory to '%s' was still changing after %d steps: more iterations may help",
                      layer->examples[k].name, fit->iterations);
}

/* Bases are appended to segments that depend on others. */
static void check_bases(exi_checker *c, int index, const char *where) {
    const ex_project_layer *layer = &c->view->layers[index];
    const ex_segments *segments = &c->paths[index].found->segments;
    bool chain = false;
    for (int s = 0; s < segments->count; s++)
        chain = chain || segments->parents[s] >= 0;
    if (layer->trajectory.options->mode == EX_TRAJECTORY_PAPER && layer->trajectory.options->bases && !chain)
        exi_check_add(c, EX_SEVERITY_WARNING, "no_chain", where, segments->count,
                      "'%s' asks for \"bases\", but no segment is the child of another, so none are added: a smaller "
                      "\"segment_angle\", or \"segments\" from a file, would separate them",
                      layer->name);
}

/* Tells that paths are looked for, which takes the most time. */
static bool tell(void *user, const char *what, double fraction) {
    (void)fraction; /* that of the check must not fall before the next layer */
    return exi_check_progress(user, what);
}

bool exi_check_trajectories(exi_checker *c, int index) {
    const ex_project_layer *layer = &c->view->layers[index];
    exi_project_trajectories *paths = &c->paths[index];
    ex_error error = {0};
    char where[64];
    snprintf(where, sizeof where, "layers[%d].trajectory", index);
    const ex_progress progress = {tell, c};
    if (!exi_check_progress(c, layer->name))
        return false;
    ex_result result = exi_project_trajectories_open(
        paths,
        &(exi_project_trajectories_source){.mesh = c->mesh,
                                           .example_count = layer->example_count,
                                           .names = layer->weigh.names,
                                           .reference = exi_layer_reference(layer),
                                           .deltas = (const float *const *)c->deltas[index]},
        &error);
    if (result == EX_OK)
        result = exi_project_trajectories_find(
            paths, c->view, layer, c->mesh,
            &(exi_path_search){.kept = c->kept_paths, .progress = c->progress ? &progress : NULL, .tasks = c->tasks},
            &error);
    if (c->stopped)
        return false;
    if (result != EX_OK) {
        exi_check_failure(c, "trajectory", where, &error);
        return false;
    }
    check_bases(c, index, where);
    for (int k = 0; k < layer->example_count && !c->failed; k++) {
        snprintf(where, sizeof where, "layers[%d].examples[%d]", index, layer->examples[k].place);
        if (layer->examples[k].reference)
            continue;
        check_inside_out(c, index, k, where);
        check_fit(c, index, k, where);
    }
    return !c->failed;
}
