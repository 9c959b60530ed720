/*
 * Trajectories from a reference to several examples (exemplar/author/trajectory.h): aligns every example with the
 * reference, and finds their paths in one of the two modes.
 *
 * Overlaps tell how far along the path of one example is where another moves too. overlap_kl is the part of example k's
 * motion, by its square, at vertices that l moves as far or farther; where l moves them less, in proportion.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/trajectory/mixture/mixture.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

/* Part of the work before paths are fitted. */
#define FIRST_PART 0.02

const char *ex_trajectory_mode_name(ex_trajectory_mode mode) {
    static const char *const names[] = {
#define EX_TRAJECTORY_NAME(name, text) text,
        EX_TRAJECTORY_LIST(EX_TRAJECTORY_NAME)
#undef EX_TRAJECTORY_NAME
    };
    return mode >= 0 && mode < EX_TRAJECTORY_MODE_COUNT ? names[mode] : "";
}

ex_trajectory_options ex_trajectory_options_default(void) {
    return (ex_trajectory_options){.mode = EX_TRAJECTORY_GUIDED, .corrector_count = -1, .root = -1};
}

static ex_result check(const ex_trajectories_def *def, ex_error *error) {
    const ex_trajectory_options *o = &def->options;
    if (def->vertex_count < 1 || def->triangle_count < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "trajectories need at least one vertex");
    if (def->example_count < 1)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "trajectories need at least one example");
    if (o->mode < 0 || o->mode >= EX_TRAJECTORY_MODE_COUNT || o->iterations < 0 || o->corrector_count < -1 ||
        o->corrector_count > EX_MIXTURE_CORRECTOR_MAX ||
        !(o->segment_angle >= 0 && o->pose_weight >= 0 && o->rotation_weight >= 0 && o->gradient_weight >= 0))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "an option of the trajectories is out of its range");
    return EX_OK;
}

/* Stores the alignment, and the distance that every vertex moves, for the overlaps: in units of about the mesh's size,
 * a power of two, since a float cannot hold the fourth power of every length. */
static void keep(const ex_between *b, ex_trajectories *made, int example, float *moved) {
    memcpy(made->centre, b->centre, sizeof made->centre); /* of the reference: the same for all */
    made->trajectories[example].screw = b->screw;
    int unit = 0;
    (void)frexp(b->size, &unit);
    for (size_t v = 0; v < (size_t)b->vertex_count; v++) {
        double d[3];
        exi_subtract(b->aligned + 3 * v, b->start + 3 * v, d);
        const double square = ldexp(b->vertex_areas[v] * exi_dot3(d, d), -4 * unit);
        moved[(size_t)example * (size_t)b->vertex_count + v] = square < 1e30 ? (float)square : 1e30F;
    }
}

/* Progress of the in-betweens, as the first part of the total. */
static bool report_first(void *user, const char *what, double fraction) {
    return exi_progress_tell(user, what, FIRST_PART * fraction);
}

/* Makes the in-betweens that paths are fitted to; *betweens is NULL if all examples are the reference. */
static ex_result open_betweens(const ex_trajectories_def *def, ex_betweens **betweens, ex_error *error) {
    const ex_progress first = {.report = report_first, .user = (void *)(uintptr_t)def->progress};
    const bool guided = def->options.mode == EX_TRAJECTORY_GUIDED; /* otherwise iterations are of another kind */
    bool any = false;
    *betweens = NULL;
    for (int k = 0; k < def->example_count; k++)
        any = any || def->examples[k];
    if (!any)
        return EX_OK;
    return ex_betweens_create(&(ex_betweens_def){.vertex_count = def->vertex_count,
                                                 .triangle_count = def->triangle_count,
                                                 .triangles = def->triangles,
                                                 .reference = def->reference,
                                                 .example_count = def->example_count,
                                                 .examples = def->examples,
                                                 .names = def->names,
                                                 .iterations = guided ? def->options.iterations : 0,
                                                 .tasks = def->tasks,
                                                 .progress = def->progress ? &first : NULL},
                              betweens, error);
}

/*
 * Takes the correctors of a mixture of one example as those of its path, which needs no nodes at run time. With weight
 * x, a term 4 s_0 s_1 (s_0 - s_1)^p of the mixture is x (1 - x) times 4 (-1)^p (2x - 1)^p, and that is what a path's
 * curve holds.
 */
static ex_result take_path(ex_mixture *from, ex_trajectory *path, ex_error *error) {
    float *curves = calloc((size_t)from->corrector_count * EX_CURVE_SIZE + 1, sizeof *curves);
    if (!curves)
        return ex_error_memory(error, "curves", (size_t)from->corrector_count * EX_CURVE_SIZE * sizeof *curves);
    for (int j = 0; j < from->corrector_count; j++)
        for (int t = 0; t < from->term_count; t++) {
            const int power = from->terms[t].power;
            curves[j * EX_CURVE_SIZE + power] = (power % 2 ? -4 : 4) * from->curves[j * from->term_count + t];
        }
    path->corrector_count = from->corrector_count;
    path->correctors = from->correctors;
    path->curves = curves;
    from->correctors = NULL;
    exi_mixture_release(from);
    return EX_OK;
}

static ex_result fit_guided(const ex_trajectories_def *def, const ex_betweens *betweens, ex_trajectories *made,
                            ex_error *error) {
    ex_result result = exi_mixture_fit(def, betweens, &made->mixture, made->rigid, error);
    for (int k = 0; result == EX_OK && made->mixture.node_count == 0 && k < def->example_count; k++)
        if (betweens->items[k])
            return take_path(&made->mixture, &made->trajectories[k], error);
    return result;
}

static ex_result fit(const ex_trajectories_def *def, ex_trajectories *made, float *moved, ex_error *error) {
    ex_betweens *betweens = NULL;
    ex_result result = exi_progress_tell(def->progress, "finding trajectories", 0)
                           ? open_betweens(def, &betweens, error)
                           : exi_progress_stopped(error);
    for (int k = 0; betweens && k < def->example_count; k++)
        if (betweens->items[k])
            keep(betweens->items[k], made, k, moved);
    if (betweens)
        result = def->options.mode == EX_TRAJECTORY_PAPER ? exi_paper_fit(def, betweens->items, made, error)
                                                          : fit_guided(def, betweens, made, error);
    ex_betweens_destroy(betweens);
    return result;
}

static void find_overlaps(const float *moved, size_t vertex_count, int count, float *overlaps) {
    for (int k = 0; k < count; k++)
        for (int l = 0; l < count; l++) {
            const float *own = moved + (size_t)k * vertex_count, *other = moved + (size_t)l * vertex_count;
            double whole = 0, common = 0;
            for (size_t v = 0; k != l && v < vertex_count; v++) {
                whole += (double)own[v];
                common += (double)(own[v] < other[v] ? own[v] : other[v]);
            }
            overlaps[k * count + l] = k == l ? 1 : whole > 0 ? (float)(common / whole) : 0;
        }
}

ex_result ex_trajectories_create(const ex_trajectories_def *def, ex_trajectories **trajectories, ex_error *error) {
    if (!def || !trajectories)
        return exi_misuse_error(error, "ex_trajectories_create", "NULL");
    *trajectories = NULL;
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    const size_t count = (size_t)def->example_count;
    float *moved = def->vertex_count > 0 ? calloc(count * (size_t)def->vertex_count, sizeof *moved) : NULL;
    ex_trajectories *made = calloc(1, sizeof *made);
    if (made) {
        made->example_count = def->example_count;
        made->trajectories = calloc(count, sizeof *made->trajectories);
        made->overlaps = calloc(count * count, sizeof *made->overlaps);
        made->fits = calloc(count, sizeof *made->fits);
    }
    if (!moved || !made || !made->trajectories || !made->overlaps || !made->fits)
        result = ex_error_memory(error, "trajectories", count * (count + (size_t)def->vertex_count) * sizeof(float));
    if (result == EX_OK)
        result = fit(def, made, moved, error);
    if (result == EX_OK)
        find_overlaps(moved, (size_t)def->vertex_count, def->example_count, made->overlaps);
    free(moved);
    if (result != EX_OK) {
        ex_trajectories_destroy(made);
        return result;
    }
    *trajectories = made;
    return EX_OK;
}

void ex_trajectories_destroy(ex_trajectories *t) {
    if (!t)
        return;
    for (int k = 0; t->trajectories && k < t->example_count; k++) {
        for (int j = 0; j < t->trajectories[k].corrector_count; j++)
            free((void *)t->trajectories[k].correctors[j]);
        free((void *)t->trajectories[k].correctors);
        free((void *)t->trajectories[k].curves);
        free((void *)t->trajectories[k].turns);
        free((void *)t->trajectories[k].bases);
    }
    free(t->trajectories);
    exi_mixture_release(&t->mixture);
    free(t->overlaps);
    free((void *)t->segments.parents);
    free((void *)t->segments.vertices);
    free(t->triangle_segments);
    free(t->fits);
    free(t);
}
