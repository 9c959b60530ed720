/*
 * The report of `exemplar warp --report`: every method of going from the reference to one example, at five times,
 * compared with the trajectory that was found.
 *
 * Times are the outer loop. The rigid in-between comes first, since the others are compared with its positions of the
 * mesh's components. The polynomial's three forms are computed once and kept. All are measured in double, the
 * trajectory as ex_trajectories_form computes it.
 */
#include "author/trajectory/trajectory.h"

#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/mesh/crossings.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { METHOD_COUNT = EX_BETWEEN_COUNT + 1 /* plus the trajectory */, GUIDE_COUNT = 3 };

typedef struct survey {
    const ex_trajectories_def *def;
    const ex_trajectories *trajectories;
    int example;
    ex_between *between;
    exi_crossings *crossings;
    double *weights;   /* [example_count] */
    double *guides;    /* [3][vertex_count][3]: the polynomial's guides */
    double *work;      /* work memory of exi_between_rigid */
    double *positions; /* [vertex_count][3] */
    double *rigid;     /* [component_count][3]: centroids of the rigid form */
    double *centroids; /* [component_count][3] */
    int *sizes;        /* [component_count]: numbers of vertices */
    ex_warp_report *report;
    int done;
} survey;

static ex_result tell(survey *s, ex_error *error) {
    const int all = METHOD_COUNT * EX_WARP_TIME_COUNT + GUIDE_COUNT + 1;
    return exi_progress_tell(s->def->progress, "measuring", (double)s->done++ / all) ? EX_OK
                                                                                     : exi_progress_stopped(error);
}

/* Computes means over the vertices of each component. */
static void find_centroids(const survey *s, double *centroids) {
    const ex_between *between = s->between;
    memset(centroids, 0, 3 * (size_t)between->component_count * sizeof *centroids);
    for (size_t v = 0; v < (size_t)between->vertex_count; v++)
        for (size_t k = 0; k < 3; k++)
            centroids[3 * (size_t)between->components[v] + k] += s->positions[3 * v + k];
    for (size_t c = 0; c < (size_t)between->component_count; c++)
        for (size_t k = 0; k < 3; k++)
            centroids[3 * c + k] /= s->sizes[c];
}

/* Largest distance of a centroid from the rigid form's. */
static double farthest_centroid(const survey *s) {
    double farthest_sq = 0;
    for (size_t c = 0; c < (size_t)s->between->component_count; c++) {
        double distance_sq = 0;
        for (size_t k = 0; k < 3; k++) {
            const double d = s->centroids[3 * c + k] - s->rigid[3 * c + k];
            distance_sq += d * d;
        }
        farthest_sq = distance_sq > farthest_sq ? distance_sq : farthest_sq;
    }
    return sqrt(farthest_sq);
}

static ex_result count_crossings(const survey *s, const double *positions, int *count, ex_error *error) {
    const double tolerance = exi_crossings_tolerance(s->def->vertex_count, positions, false);
    return exi_crossings_count(s->crossings, positions, tolerance, s->def->tasks, count, error);
}

static const char *method_name(const survey *s, int method) {
    return method < EX_BETWEEN_COUNT ? ex_between_name((ex_between_method)method)
                                     : ex_trajectory_mode_name(s->def->options.mode);
}

static ex_result make_form(survey *s, int method, double t, ex_error *error) {
    if (method == EX_BETWEEN_POLYNOMIAL) {
        exi_between_polynomial(s->between, t, s->guides, s->positions);
        exi_between_move(s->between, t, s->positions);
        return EX_OK;
    }
    if (method < EX_BETWEEN_COUNT)
        return ex_between_form(s->between, (ex_between_method)method, t, s->positions, error);
    s->weights[s->example] = t;
    if (!ex_trajectories_form(s->trajectories, s->def, s->weights, -1, s->positions))
        return ex_error_memory(error, "the form of a trajectory", 0);
    return EX_OK;
}

static ex_result measure_row(survey *s, int method, double t, ex_warp_row *row, ex_error *error) {
    ex_result result = tell(s, error);
    row->method = method_name(s, method);
    row->t = t;
    if (result == EX_OK)
        result = make_form(s, method, t, error);
    if (result == EX_OK)
        result = ex_between_stretch(s->between, t, s->positions, &row->stretch, NULL, error);
    if (result == EX_OK)
        result = count_crossings(s, s->positions, &row->crossing, error);
    if (result != EX_OK)
        return result;
    if (method == EX_BETWEEN_RIGID)
        find_centroids(s, s->rigid);
    find_centroids(s, s->centroids);
    row->centroid = s->between->size > 0 ? farthest_centroid(s) / s->between->size : 0;
    return EX_OK;
}

static ex_result measure_rows(survey *s, ex_error *error) {
    static const double times[EX_WARP_TIME_COUNT] = {0.1, 0.3, 0.5, 0.7, 0.9};
    ex_result result = EX_OK;
    for (int k = 0; k < GUIDE_COUNT && result == EX_OK; k++) {
        result = tell(s, error);
        if (result == EX_OK)
            exi_between_rigid(s->between, 0.25 * (k + 1), s->between->iterations,
                              s->guides + (size_t)k * 3 * (size_t)s->def->vertex_count, s->work);
    }
    for (int k = 0; k < EX_WARP_TIME_COUNT && result == EX_OK; k++)
        for (int i = 0; i < METHOD_COUNT && result == EX_OK; i++) {
            /* The rigid form first, then the ones before it. */
            const int method = i == 0 ? EX_BETWEEN_RIGID : i <= EX_BETWEEN_RIGID ? i - 1 : i;
            result = measure_row(s, method, times[k], &s->report->rows[method * EX_WARP_TIME_COUNT + k], error);
        }
    return result;
}

/* Bytes of a vertex in the runtime, three floats for each form. Of a mixture: its four nodes and their shares, all
 * examples and correctors. Otherwise those of one path: its displacement velocity, perhaps an angular one, and
 * correctors; and the number of its segment if there are bases. */
static double bytes_per_vertex(const ex_trajectories *t, const ex_trajectories_def *def, int example) {
    const ex_trajectory *path = &t->trajectories[example];
    int forms = t->mixture.corrector_count;
    for (int k = 0; k < def->example_count; k++)
        forms += def->examples[k] ? 1 : 0;
    if (t->mixture.node_count > 0)
        return EX_NODE_SHARES * (sizeof(uint16_t) + sizeof(float)) + (double)(3 * sizeof(float)) * forms;
    return (double)(3 * sizeof(float)) * (1 + (path->turns ? 1 : 0) + path->corrector_count) +
           (path->bases ? (double)sizeof(uint16_t) : 0);
}

/* ---- memory ---- */

static ex_result allocate(survey *s, ex_error *error) {
    const size_t components = (size_t)s->between->component_count, examples = (size_t)s->def->example_count;
    const size_t numbers = 3 * (size_t)s->def->vertex_count;
    s->weights = calloc(examples, sizeof *s->weights);
    s->positions = exi_array_allocate(numbers, sizeof *s->positions);
    s->guides = exi_array_allocate(GUIDE_COUNT * numbers, sizeof *s->guides);
    s->work = exi_array_allocate(exi_between_work_size(s->between), sizeof *s->work);
    s->rigid = exi_array_allocate(3 * components, sizeof *s->rigid);
    s->centroids = exi_array_allocate(3 * components, sizeof *s->centroids);
    s->sizes = calloc(components ? components : 1, sizeof *s->sizes);
    s->report->rows = calloc((size_t)s->report->row_count, sizeof *s->report->rows);
    if (!s->weights || !s->positions || !s->guides || !s->work || !s->rigid || !s->centroids || !s->sizes ||
        !s->report->rows)
        return ex_error_memory(error, "the report", (GUIDE_COUNT + 1) * numbers * sizeof *s->positions);
    for (int v = 0; v < s->def->vertex_count; v++)
        s->sizes[s->between->components[v]]++;
    return EX_OK;
}

static void release(survey *s) {
    free(s->sizes);
    free(s->centroids);
    free(s->rigid);
    free(s->work);
    free(s->guides);
    free(s->positions);
    free(s->weights);
    exi_crossings_destroy(s->crossings);
    ex_between_destroy(s->between);
}

static ex_result open_survey(survey *s, ex_error *error) {
    const ex_trajectories_def *def = s->def;
    const bool guided = def->options.mode == EX_TRAJECTORY_GUIDED; /* otherwise iterations are of another kind */
    const ex_between_def between = {.vertex_count = def->vertex_count,
                                    .triangle_count = def->triangle_count,
                                    .triangles = def->triangles,
                                    .start = def->reference,
                                    .end = def->examples[s->example],
                                    .iterations = guided ? def->options.iterations : 0,
                                    .tasks = def->tasks};
    ex_result result = ex_between_create(&between, &s->between, error);
    if (result == EX_OK)
        result = allocate(s, error);
    if (result == EX_OK)
        result = exi_crossings_create(def->vertex_count, def->reference, def->triangle_count, def->triangles,
                                      &s->crossings, error);
    if (result == EX_OK)
        result = count_crossings(s, def->reference, &s->report->start_crossing, error);
    if (result == EX_OK)
        result = count_crossings(s, def->examples[s->example], &s->report->end_crossing, error);
    return result;
}

void ex_warp_report_destroy(ex_warp_report *report) {
    if (!report)
        return;
    free(report->rows);
    free(report);
}

ex_result ex_warp_report_create(const ex_trajectories_def *def, const ex_trajectories *trajectories, int example,
                                ex_warp_report **report, ex_error *error) {
    if (!report)
        return exi_misuse_error(error, __func__, "no pointer for the report");
    *report = NULL;
    if (!def || !trajectories || example < 0 || example >= def->example_count || !def->examples[example])
        return exi_misuse_error(error, __func__, "no trajectories, or no such example, or it is the reference");
    survey s = {.def = def, .trajectories = trajectories, .example = example};
    s.report = calloc(1, sizeof *s.report);
    if (!s.report)
        return ex_error_memory(error, "the report", sizeof *s.report);
    s.report->row_count = METHOD_COUNT * EX_WARP_TIME_COUNT;
    ex_result result = tell(&s, error);
    if (result == EX_OK)
        result = open_survey(&s, error);
    if (result == EX_OK)
        result = measure_rows(&s, error);
    if (result == EX_OK) {
        s.report->component_count = s.between->component_count;
        s.report->bytes = bytes_per_vertex(trajectories, def, example);
        *report = s.report;
    } else {
        ex_warp_report_destroy(s.report);
    }
    release(&s);
    return result;
}
