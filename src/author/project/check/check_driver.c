/*
 * Checks the driver of a project: its forms against its mesh, keys at which it has nearly the same form, and how well
 * each key is predicted from the others (leave-one-out, by a rig without it).
 */
#include "author/base/array.h"
#include "author/project/check/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Closer than this fraction of the median distance to the nearest key: probably a mistake. */
static const double nearly = 0.02;
/* With more keys than this, leave-one-out is too slow for every check: it makes a rig for each. */
enum { LEAVE_ONE_OUT_MOST = 64 };

/* ---- the driver ---- */

/* Returns six times the volume that its triangles enclose, seen from the middle of its vertices: below 0 if they face
 * inwards, even for a body that is open at neck and wrists. */
static double volume_of(const ex_rig_driver *driver) {
    double middle[3] = {0, 0, 0}, sum = 0;
    const size_t count = (size_t)driver->driver.vertex_count;
    for (size_t i = 0; i < 3 * count; i++)
        middle[i % 3] += (double)driver->driver.reference[i] / (double)count;
    for (int t = 0; t < driver->triangle_count; t++) {
        double p[3][3];
        for (int k = 0; k < 3; k++)
            for (size_t i = 0; i < 3; i++)
                p[k][i] =
                    (double)driver->driver.reference[3 * (size_t)driver->triangles[3 * (size_t)t + (size_t)k] + i] -
                    middle[i];
        sum += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) + p[0][1] * (p[1][2] * p[2][0] - p[1][0] * p[2][2]) +
               p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return sum;
}

void exi_check_driver(exi_checker *c) {
    ex_error error = {0};
    if (!c->view->driver.mesh || c->lame) {
        c->undriven = c->view->driver.mesh != NULL;
        return;
    }
    exi_check_progress(c, "driver");
    if (exi_project_driver_open(&c->driver, c->view, c->mesh, c->skeleton, c->skin, &error) != EX_OK) {
        exi_check_failure(c, "driver", "driver", &error);
        exi_project_driver_close(&c->driver);
        c->undriven = true;
        return;
    }
    if (c->driver.driving.driver.push && volume_of(&c->driver.driving.driver) < 0)
        exi_check_add(
            c, EX_SEVERITY_WARNING, "inside_out", "driver.mesh", 0,
            "the faces of the driver '%s' point inwards, so clothes outside it would be pushed in: flip its normals",
            c->view->driver.mesh);
    for (int l = 0; l < c->view->layer_count; l++)
        for (int k = 0; k < c->view->layers[l].example_count && !c->failed; k++) {
            const ex_project_example *example = &c->view->layers[l].examples[k];
            char where[128];
            snprintf(where, sizeof where, "layers[%d].examples[%d].at.%.60s", l, example->place, c->view->driver.name);
            error = (ex_error){0};
            if (!example->driver || exi_project_driver_read_form(&c->driver, example->driver, &error) == EX_OK)
                continue;
            exi_check_failure(c, "driver_form", where, &error);
            c->undriven = true;
        }
}

/* ---- keys ---- */

/* State while keys are compared. */
typedef struct keys {
    exi_checker *c;
    int index, count;
    const ex_project_layer *layer;
    ex_layer_def def;
    const float **forms;
    double *apart; /* [count][count]: distances between the driver's forms, in metres */
} keys;

static double measure_apart(const double *points, int count, int a, int b, int regions) {
    double sum = 0;
    for (int r = 0; r < regions; r++) {
        const double *row_a = points + ((size_t)a * (size_t)regions + (size_t)r) * (size_t)count;
        const double *row_b = points + ((size_t)b * (size_t)regions + (size_t)r) * (size_t)count;
        const double sq = row_a[a] + row_b[b] - row_a[b] - row_b[a];
        sum += sq > 0 ? sq : 0;
    }
    return sqrt(sum / regions);
}

/* Computes the distances from the keys' inner products, as the regions see them. */
static bool fill_apart(keys *k) {
    const int n = k->count, regions = k->c->driver.driving.view_count;
    ex_regions *views = NULL;
    ex_error error = {0};
    const ex_regions_def def = {.driver = k->c->driver.driver,
                                .region_count = regions,
                                .regions = k->c->driver.driving.views,
                                .key_count = n,
                                .keys = k->forms};
    const ex_result result = ex_regions_create(&def, NULL, &views, &error);
    double *points = exi_array_allocate((size_t)n * (size_t)regions, (size_t)n * sizeof *points);
    k->apart = exi_array_allocate((size_t)n, (size_t)n * sizeof *k->apart);
    k->c->failed = k->c->failed || result == EX_ERROR_MEMORY || !points || !k->apart;
    const bool done = result == EX_OK && points && k->apart;
    if (done)
        ex_regions_points(views, points);
    for (int a = 0; done && a < n; a++)
        for (int b = 0; b < n; b++)
            k->apart[(size_t)a * (size_t)n + (size_t)b] = measure_apart(points, n, a, b, regions);
    free(points);
    ex_regions_destroy(views);
    return done;
}

static bool same_database(const keys *k, int a, int b) {
    return k->layer->dimension == 0 || k->layer->weigh.points[a] == k->layer->weigh.points[b];
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void check_near(keys *k) {
    const int n = k->count;
    double *nearest = exi_array_allocate((size_t)n, sizeof *nearest);
    k->c->failed = k->c->failed || !nearest;
    for (int a = 0; nearest && a < n; a++) {
        nearest[a] = INFINITY;
        for (int b = 0; b < n; b++) {
            const double d = k->apart[(size_t)a * (size_t)n + (size_t)b];
            if (b != a && same_database(k, a, b) && d < nearest[a])
                nearest[a] = d;
        }
    }
    if (nearest)
        qsort(nearest, (size_t)n, sizeof *nearest, compare_doubles);
    const double usual = nearest ? nearest[n / 2] : 0;
    free(nearest);
    for (int a = 0; !k->c->failed && a < n; a++)
        for (int b = a + 1; b < n; b++) {
            const double d = k->apart[(size_t)a * (size_t)n + (size_t)b];
            char where[64];
            snprintf(where, sizeof where, "layers[%d]", k->index);
            if (same_database(k, a, b) && n > 2 && d < nearly * usual)
                exi_check_add(k->c, EX_SEVERITY_WARNING, "close_examples", where, d / usual,
                              "the driver has nearly the same form at '%s' and '%s' (%.2g of the usual distance): "
                              "forms will change abruptly between them",
                              k->layer->examples[a].name, k->layer->examples[b].name, d / usual);
        }
}

/* ---- leave-one-out cross-validation ---- */

static double largest_distance(const double *sum, const float *delta, size_t vertices) {
    double largest = 0;
    for (size_t v = 0; v < vertices; v++) {
        double sq = 0;
        for (size_t i = 3 * v; i < 3 * v + 3; i++)
            sq += (sum[i] - (double)delta[i]) * (sum[i] - (double)delta[i]);
        largest = sq > largest ? sq : largest;
    }
    return sqrt(largest);
}

/* The layer's lists without one key, in lists of the same size. */
typedef struct shortened {
    const char **names;
    const float **deltas, **forms;
    const ex_transform **joints;
    double *points;
    double *sum; /* [vertex_count][3] */
} shortened;

static bool guess(const keys *k, int left_out, const shortened *s, double *error) {
    const exi_measure *m = &k->c->measure;
    const size_t count = 3 * (size_t)m->mesh->vertex_count;
    ex_layer_def def = k->def;
    ex_error reason = {0};
    exi_weighed weighed = {0};
    for (int i = 0, at = 0; i < k->count; i++) {
        if (i == left_out)
            continue;
        s->names[at] = k->layer->examples[i].name;
        s->deltas[at] = k->def.form.deltas[i];
        s->forms[at] = k->forms[i];
        if (k->def.driven.joints)
            s->joints[at] = k->def.driven.joints[i];
        if (k->layer->dimension > 0)
            s->points[at] = k->layer->weigh.points[i];
        at++;
    }
    def.weigh.example_count = k->count - 1;
    def.weigh.names = def.example_names = s->names;
    def.weigh.points = k->layer->dimension > 0 ? s->points : NULL;
    def.form.deltas = s->deltas;
    def.driven.keys = s->forms;
    def.driven.joints = def.driven.joints ? s->joints : NULL;
    const ex_result result = exi_measure_driven_rig(m, &def, &weighed.own, &reason);
    weighed.rig = weighed.own;
    memset(s->sum, 0, count * sizeof *s->sum);
    bool fits = result != EX_ERROR_MEMORY;
    *error = -1;
    if (result == EX_OK) {
        fits = exi_measure_add_weighed(m, k->index, &weighed, &k->layer->examples[left_out], s->sum);
        *error = largest_distance(s->sum, k->def.form.deltas[left_out], count / 3);
    }
    ex_rig_destroy(weighed.own);
    return fits;
}

static void check_guesses(keys *k) {
    const size_t n = (size_t)k->count, vertices = (size_t)k->c->mesh->vertex_count;
    if (k->count < 3 || k->count > LEAVE_ONE_OUT_MOST)
        return;
    shortened s = {.names = exi_array_allocate(n, sizeof *s.names),
                   .deltas = exi_array_allocate(n, sizeof *s.deltas),
                   .forms = exi_array_allocate(n, sizeof *s.forms),
                   .joints = exi_array_allocate(n, sizeof *s.joints),
                   .points = exi_array_allocate(n, sizeof *s.points),
                   .sum = exi_array_allocate(vertices, 3 * sizeof *s.sum)};
    const bool fits = s.names && s.deltas && s.forms && s.joints && s.points && s.sum;
    k->c->failed = k->c->failed || !fits;
    for (int i = 0; !k->c->failed && i < k->count; i++) {
        double error = -1;
        char where[64];
        snprintf(where, sizeof where, "layers[%d].examples[%d]", k->index, k->layer->examples[i].place);
        k->c->failed = !guess(k, i, &s, &error);
        if (!k->c->failed && error >= 0)
            exi_check_add(k->c, EX_SEVERITY_NOTE, "leave_one_out", where, error / k->c->size,
                          "without '%s', its form would be predicted with an error of %.2g %% of the mesh's size",
                          k->layer->examples[i].name, 100 * error / k->c->size);
    }
    free(s.names);
    free(s.deltas);
    free(s.forms);
    free(s.joints);
    free(s.points);
    free(s.sum);
}

/* ---- the layer ---- */

/* Opens the layer as building does, except that trajectories are treated as forms; these checks depend little on
 * them. */
static bool open_keys(keys *k, const char **names, ex_axis_source *sources) {
    const ex_project_layer *layer = k->layer;
    for (int i = 0; i < layer->axis_count; i++) {
        const char *joint = layer->axes[i].joint;
        names[i] = layer->axes[i].name;
        sources[i] = (ex_axis_source){.joint = joint ? ex_skeleton_find(k->c->skeleton, joint) : -1,
                                      .reading = layer->axes[i].reading};
    }
    k->def = (ex_layer_def){.name = layer->name,
                            .weigh = layer->weigh,
                            .axis_names = names,
                            .sources = sources,
                            .example_names = layer->weigh.names,
                            .form.deltas = (const float *const *)k->c->deltas[k->index],
                            .trajectory.reference = -1};
    k->forms = exi_array_allocate((size_t)k->count, sizeof *k->forms);
    if (!k->forms)
        return false;
    exi_project_driver_fill(&k->c->driver, layer, k->forms, &k->def);
    ex_error error;
    return exi_project_driver_joints(&k->c->driver, layer, k->c->skeleton, &k->def.driven.joints, &error) == EX_OK;
}

void exi_check_driven(exi_checker *c, int index) {
    const char *names[2];
    ex_axis_source sources[2];
    keys k = {.c = c, .index = index, .layer = &c->view->layers[index], .count = c->view->layers[index].example_count};
    ex_error error = {0};
    char where[64];
    snprintf(where, sizeof where, "layers[%d]", index);
    if (c->undriven || c->failed)
        return;
    c->failed = !open_keys(&k, names, sources);
    if (!c->failed && exi_measure_add_driven(&c->measure, index, &k.def, &error) != EX_OK)
        exi_check_failure(c, "unsolvable", where, &error);
    else if (!c->failed && !k.layer->predictor && fill_apart(&k)) { /* without keys there is nothing to compare */
        check_near(&k);
        check_guesses(&k);
    }
    exi_project_driver_free_joints(k.def.driven.joints);
    free(k.forms);
    free(k.apart);
}
