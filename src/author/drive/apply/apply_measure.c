/*
 * Measures a frame of driven clothes: the distance to a simulation, next to the nearest key (what a pose library
 * without blending would show) and the blend before settling; the distance of the driver from what the keys can blend
 * (figure 8); vertices inside the driver, before and after settling; and jumps of vertices from frame to frame in the
 * moving frames that carry them, those of the driver compared with those of the driven form.
 */
#include "author/drive/apply/apply.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static ex_result open_report(exi_gauge *g, int frame_count, ex_drive_report **made, ex_error *error) {
    ex_drive_report *r = calloc(1, sizeof *r);
    if (r) {
        r->frame_count = frame_count;
        r->first = g->def->first;
        r->key_count = g->key_count;
        r->vertex_count = g->vertex_count;
        r->by_motion = ex_rig_layer_predictor(g->rig, g->layer) != NULL;
        r->mean = r->p95 = r->nearest_mean = r->nearest_p95 = r->blend_mean = r->blend_p95 = -1;
        r->frames = calloc((size_t)frame_count, sizeof *r->frames);
        r->weights = exi_array_allocate((size_t)frame_count, (size_t)g->key_count * sizeof *r->weights);
        r->vertex_errors = g->def->truth ? calloc((size_t)g->vertex_count, sizeof *r->vertex_errors) : NULL;
    }
    *made = g->report = r;
    if (!r || !r->frames || !r->weights || (g->def->truth && !r->vertex_errors))
        return ex_error_memory(error, "the report", (size_t)frame_count * (size_t)(g->key_count + 20) * 8);
    return EX_OK;
}

/* Reads the keys' values on the axis of databases (all 0 without one), and finds the value that is shown: the requested
 * one, or the nearest to it. */
static ex_result open_databases(exi_gauge *g, ex_error *error) {
    const ex_weigher *weigher = ex_rig_weigher(g->rig, g->layer);
    g->databases = calloc((size_t)g->key_count, sizeof *g->databases);
    if (!g->databases)
        return ex_error_memory(error, "databases", (size_t)g->key_count * sizeof *g->databases);
    for (int a = 0; a < ex_weigher_axis_count(weigher); a++) {
        const ex_axis axis = ex_rig_input_axis(g->rig, ex_rig_layer_input(g->rig, g->layer, a));
        if (axis.kind != EX_AXIS_SCALAR)
            continue;
        const double wanted = isnan(g->def->database) ? axis.rest : g->def->database;
        for (int k = 0; k < g->key_count; k++) {
            g->databases[k] = ex_weigher_point(weigher, k)[a == 0 ? 0 : ex_weigher_dimension(weigher) - 1];
            if (k == 0 || fabs(g->databases[k] - wanted) < fabs(g->shown - wanted))
                g->shown = g->databases[k];
        }
    }
    return EX_OK;
}

/* Takes the keys into the moving frame of the whole. */
static ex_result open_keys(exi_gauge *g, ex_error *error) {
    const size_t n = (size_t)g->driver_count, m = (size_t)g->vertex_count, keys = (size_t)g->key_count;
    const ex_drive_def *def = ex_drive_get_def(g->set);
    g->homes = exi_array_allocate(keys * n, 3 * sizeof(float));
    g->home_driven = exi_array_allocate(keys * m, 3 * sizeof(float));
    g->home = exi_array_allocate(n, 3 * sizeof(float));
    g->nearest = exi_array_allocate(m, 3 * sizeof(float));
    if (!g->homes || !g->home_driven || !g->home || !g->nearest)
        return ex_error_memory(error, "the keys", keys * (n + m) * 12);
    const ex_result result = exi_whole_open(&g->whole, def->driver, &def->options, error);
    for (size_t k = 0; result == EX_OK && k < keys; k++) {
        float matrix[12];
        ex_driver_place(g->whole.driver, def->keys[k].driver, matrix);
        exi_whole_back(matrix, def->keys[k].driver, g->driver_count, g->homes + 3 * k * n);
        exi_whole_back(matrix, def->keys[k].driven, g->vertex_count, g->home_driven + 3 * k * m);
    }
    return result;
}

/* Finds the frame with the largest weight at each vertex. */
static void find_carriers(exi_gauge *g) {
    const ex_influences *carry = &g->driver.carry;
    const int count = g->vertex_count + g->driver_count;
    for (int v = 0; v < count; v++) {
        g->carriers[v] = 0;
        if (!carry->starts)
            continue;
        uint32_t best = carry->starts[v];
        for (uint32_t i = carry->starts[v]; i < carry->starts[v + 1]; i++)
            best = carry->weights[i] > carry->weights[best] ? i : best;
        g->carriers[v] = carry->places[best];
    }
}

static ex_result open_jumps(exi_gauge *g, ex_error *error) {
    const size_t both = (size_t)g->driver_count + (size_t)g->vertex_count;
    g->matrices = exi_array_allocate((size_t)g->driver.driver.frame_count, 12 * sizeof(float));
    g->local[0] = exi_array_allocate(both, 3 * sizeof(float));
    g->local[1] = exi_array_allocate(both, 3 * sizeof(float));
    g->carriers = exi_array_allocate(both, sizeof *g->carriers);
    if (!g->matrices || !g->local[0] || !g->local[1] || !g->carriers)
        return ex_error_memory(error, "moving frames", both * 26);
    find_carriers(g);
    return ex_driver_create(&g->driver.driver, NULL, &g->frames, error);
}

static ex_result open_settler(exi_gauge *g, ex_error *error) {
    const ex_settler_def def = {.driver_count = g->driver_count,
                                .driver_positions = g->driver.driver.reference,
                                .triangle_count = g->driver.triangle_count,
                                .triangles = g->driver.triangles,
                                .vertex_count = g->vertex_count};
    ex_result result = ex_settler_create(&def, NULL, &g->settler, error);
    if (result != EX_OK)
        return result;
    g->settler_scratch = exi_array_allocate(ex_settler_scratch_size(g->settler), 1);
    g->distances = exi_array_allocate((size_t)g->vertex_count, sizeof *g->distances);
    return g->settler_scratch && g->distances
               ? EX_OK
               : ex_error_memory(error, "distances", ex_settler_scratch_size(g->settler));
}

/* Measures the spread of the keys: over regions and keys, the mean distance to the nearest other key of the same
 * database, each a root mean square over the vertices looked at. Other databases do not count: they are simulated on
 * the same poses. */
static ex_result find_spread(exi_gauge *g, ex_error *error) {
    const int count = ex_rig_layer_regions(g->rig, g->layer, NULL, NULL), n = g->key_count;
    ex_region *views = exi_array_allocate((size_t)count, sizeof *views);
    const float **keys = exi_array_allocate((size_t)n, sizeof *keys);
    double *points = exi_array_allocate((size_t)count * (size_t)n, (size_t)n * sizeof *points);
    ex_driver *driver = NULL;
    ex_regions *made = NULL;
    ex_result result = views && keys && points ? EX_OK : ex_error_memory(error, "distances between keys", 0);
    if (result == EX_OK) {
        ex_influences unused;
        ex_rig_layer_regions(g->rig, g->layer, views, &unused);
        for (int k = 0; k < n; k++)
            keys[k] = ex_rig_example_driver(g->rig, g->layer, k);
        result = ex_driver_create(&g->driver.driver, NULL, &driver, error);
    }
    if (result == EX_OK)
        result = ex_regions_create(
            &(ex_regions_def){.driver = driver, .region_count = count, .regions = views, .key_count = n, .keys = keys},
            NULL, &made, error);
    double sum = 0;
    int pairs = 0;
    if (result == EX_OK)
        ex_regions_points(made, points);
    for (int r = 0; result == EX_OK && n > 1 && r < count; r++) {
        double weight = 0;
        for (int i = 0; i < views[r].count; i++)
            weight += (double)views[r].weights[i];
        for (int a = 0; a < n; a++) {
            double least = INFINITY;
            const double *row = points + ((size_t)a * (size_t)count + (size_t)r) * (size_t)n;
            for (int b = 0; b < n; b++) {
                const double *other = points + ((size_t)b * (size_t)count + (size_t)r) * (size_t)n;
                const double square = row[a] + other[b] - 2 * row[b];
                least = b != a && g->databases[b] == g->databases[a] && square < least ? square : least;
            }
            if (isinf(least))
                continue;
            sum += sqrt((least > 0 ? least : 0) / weight);
            pairs++;
        }
    }
    g->report->key_spread = pairs > 0 ? sum / pairs : 0;
    ex_regions_destroy(made);
    ex_driver_destroy(driver);
    free(points);
    free(keys);
    free(views);
    return result;
}

ex_result exi_gauge_open(exi_gauge *g, const ex_apply_def *def, int layer, int frame_count, ex_drive_report **report,
                         ex_error *error) {
    *g = (exi_gauge){.rig = def->rig, .def = def, .layer = layer, .vertex_count = ex_rig_vertex_count(def->rig)};
    ex_rig_get_driver(def->rig, &g->driver, NULL);
    g->driver_count = g->driver.driver.vertex_count;
    g->key_count = ex_weigher_example_count(ex_rig_weigher(def->rig, layer));
    ex_result result = open_report(g, frame_count, report, error);
    if (result == EX_OK)
        result = open_databases(g, error);
    if (result == EX_OK && !g->report->by_motion)
        result = find_spread(g, error);
    if (result == EX_OK && def->truth) {
        g->errors = exi_array_allocate((size_t)g->vertex_count, sizeof *g->errors);
        g->ours = calloc(1, sizeof *g->ours);
        g->theirs = calloc(1, sizeof *g->theirs);
        g->blends = calloc(1, sizeof *g->blends);
        if (!g->errors || !g->ours || !g->theirs || !g->blends)
            result = ex_error_memory(error, "errors", (size_t)g->vertex_count * sizeof *g->errors);
    }
    if (def->brief || result != EX_OK)
        return result;
    if (!g->report->by_motion)
        result = ex_drive_open(def->rig, &g->set, error);
    if (result == EX_OK && g->set)
        result = open_keys(g, error);
    if (result == EX_OK)
        result = open_jumps(g, error);
    if (result == EX_OK)
        result = open_settler(g, error);
    return result;
}

void exi_gauge_close(exi_gauge *g) {
    ex_drive_close(g->set);
    exi_whole_close(&g->whole);
    ex_driver_destroy(g->frames);
    ex_settler_destroy(g->settler);
    free(g->databases);
    free(g->homes);
    free(g->home_driven);
    free(g->home);
    free(g->matrices);
    free(g->nearest);
    free(g->local[0]);
    free(g->local[1]);
    free(g->carriers);
    free(g->settler_scratch);
    free(g->distances);
    free(g->errors);
    free(g->ours);
    free(g->theirs);
    free(g->blends);
}

/* ---- a frame ---- */

static double distance(const float *a, const float *b) {
    const double d[3] = {(double)a[0] - (double)b[0], (double)a[1] - (double)b[1], (double)a[2] - (double)b[2]};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* Writes the distances of all vertices from the truth into errors, and into a histogram. Returns their mean. */
static double compare(exi_gauge *g, const float *form, const float *truth, exi_histogram *histogram) {
    double sum = 0;
    for (int v = 0; v < g->vertex_count; v++) {
        g->errors[v] = distance(form + 3 * (size_t)v, truth + 3 * (size_t)v);
        exi_histogram_add(histogram, g->errors[v]);
        sum += g->errors[v];
    }
    return sum / g->vertex_count;
}

/* Finds the key, in the database that is shown, whose driver is nearest in the moving frame of the whole; moves its
 * form to the frame's present place. */
static void find_nearest(exi_gauge *g, const float *driver) {
    const size_t n = (size_t)g->driver_count, m = (size_t)g->vertex_count;
    float matrix[12];
    size_t best = 0;
    double least = INFINITY;
    ex_driver_place(g->whole.driver, driver, matrix);
    exi_whole_back(matrix, driver, g->driver_count, g->home);
    for (size_t k = 0; k < (size_t)g->key_count; k++) {
        if (g->databases[k] != g->shown)
            continue;
        const double square = exi_form_squares(g->home, g->homes + 3 * k * n, g->whole.weights, g->driver_count);
        if (square < least) {
            least = square;
            best = k;
        }
    }
    exi_whole_move(matrix, g->home_driven + 3 * best * m, g->vertex_count, g->nearest);
}

static void compare_all(exi_gauge *g, const exi_applied *a, ex_drive_frame *f) {
    f->mean = compare(g, a->driven, a->truth, g->ours);
    f->worst_vertex = 0;
    for (int v = 0; v < g->vertex_count; v++) {
        g->report->vertex_errors[v] += g->errors[v] / g->report->frame_count;
        f->worst_vertex = g->errors[v] > g->errors[f->worst_vertex] ? v : f->worst_vertex;
    }
    f->worst = g->errors[f->worst_vertex];
    f->p95 = exi_percentile(g->errors, g->vertex_count, 0.95);
    if (a->unsettled)
        f->blend_mean = compare(g, a->unsettled, a->truth, g->blends);
    if (!g->def->brief && g->set) {
        find_nearest(g, a->driver);
        f->nearest_mean = compare(g, g->nearest, a->truth, g->theirs);
    }
}

/* Takes vertices into the frames that carry them. Returns the farthest move of one of [from, to) since the last
 * frame. */
static double find_jump(const exi_gauge *g, int from, int to) {
    double most = 0;
    for (int v = from; v < to; v++) {
        const double moved = distance(g->local[0] + 3 * (size_t)v, g->local[1] + 3 * (size_t)v);
        most = moved > most ? moved : most;
    }
    return most;
}

static void measure_jumps(exi_gauge *g, const exi_applied *a, ex_drive_frame *f) {
    float *kept = g->local[1];
    g->local[1] = g->local[0];
    g->local[0] = kept;
    ex_driver_place(g->frames, a->driver, g->matrices);
    for (int v = 0; v < g->vertex_count + g->driver_count; v++) {
        const float *at =
            v < g->vertex_count ? a->driven + 3 * (size_t)v : a->driver + 3 * (size_t)(v - g->vertex_count);
        exi_whole_back(g->matrices + 12 * (size_t)g->carriers[v], at, 1, g->local[0] + 3 * (size_t)v);
    }
    if (a->frame == 0)
        return;
    f->driven_jump = find_jump(g, 0, g->vertex_count);
    f->driver_jump = find_jump(g, g->vertex_count, g->vertex_count + g->driver_count);
}

static void measure_depth(exi_gauge *g, const exi_applied *a, ex_drive_frame *f) {
    ex_settler_measure(g->settler, a->driver, a->driven, 0, NULL, NULL, g->distances, g->def->tasks,
                       g->settler_scratch);
    for (int v = 0; v < g->vertex_count; v++)
        f->deepest_after = (double)g->distances[v] < f->deepest_after ? (double)g->distances[v] : f->deepest_after;
}

void exi_gauge_add(exi_gauge *g, const exi_applied *a) {
    ex_drive_frame *f = &g->report->frames[a->frame];
    *f = (ex_drive_frame){.time = a->time,
                          .hull_distance = a->info->hull_distance,
                          .unfamiliar = a->info->unfamiliar,
                          .mean = -1,
                          .p95 = -1,
                          .worst = -1,
                          .nearest_mean = -1,
                          .blend_mean = -1,
                          .worst_vertex = -1,
                          .penetrating = a->info->settled.penetrating,
                          .left = a->info->settled.left,
                          .deepest_before = (double)a->info->settled.deepest,
                          .crossings_before = a->worn->crossings_before,
                          .crossings = a->worn->crossings,
                          .truth_crossings = a->truth && !g->def->brief ? exi_wear_count(a->wear, a->truth) : -1,
                          .covered_before = a->worn->covered_before,
                          .covered = a->worn->covered};
    memcpy(g->report->weights + (size_t)a->frame * (size_t)g->key_count, a->weights,
           (size_t)g->key_count * sizeof *a->weights);
    if (a->truth)
        compare_all(g, a, f);
    if (g->def->brief)
        return;
    measure_jumps(g, a, f);
    measure_depth(g, a, f);
}

void exi_gauge_finish(exi_gauge *g) {
    ex_drive_report *r = g->report;
    for (int i = 0; i < r->frame_count; i++)
        r->far_count += r->by_motion ? r->frames[i].unfamiliar > 1
                                     : r->key_spread > 0 && r->frames[i].hull_distance > r->key_spread;
    if (!g->def->truth)
        return;
    r->mean = exi_histogram_mean(g->ours);
    r->p95 = exi_histogram_percentile(g->ours, 0.95);
    if (g->blends->total > 0) {
        r->blend_mean = exi_histogram_mean(g->blends);
        r->blend_p95 = exi_histogram_percentile(g->blends, 0.95);
    }
    if (g->theirs->total > 0) {
        r->nearest_mean = exi_histogram_mean(g->theirs);
        r->nearest_p95 = exi_histogram_percentile(g->theirs, 0.95);
    }
}
