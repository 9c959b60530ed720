/*
 * Registers a template to a scan: from stiff to soft, in levels. At every level the template is matched with the scan a
 * few times, and after each match rotations and positions are found in turn (docs/mathematics.md, "Registration").
 *
 * Lengths of the levels are in heights of a person: the template's size over 1.25, the ratio for someone who stands
 * with arms half raised.
 */
#include "author/scan/register/register.h"

#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/weigh/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOISE 0.001
#define REACH 0.03
/* The scan's points: their distance in edges of the template, and how many there are at most. */
#define CELL 0.33
enum { POINTS_MOST = 300000 };

/* One level, from stiff to soft. Lengths in heights. */
typedef struct level {
    double length; /* below which the template stays rigid */
    double width;  /* over which rotations are averaged */
    double reach;  /* largest distance of a match; 0: the last one */
    double unlike; /* length that unlike normals count */
    double patch;  /* radius of anchors' patches */
    double facing; /* least cosine */
    double across; /* share of motion across the normal */
    double doubt;  /* least scale of residuals, in reaches */
    int matches;   /* times that the template is matched */
    int steps;     /* after each match */
    int stride;    /* of the vertices that are matched */
    bool settled;  /* the form reached so far is kept, in place of the rest form */
} level;

static const level levels[] = {
    {0.300, 0.080, 1.00, 0.080, 0.030, 0.30, 0.50, 0.30, 8, 3, 4, false},
    {0.200, 0.060, 0.84, 0.069, 0.030, 0.33, 0.20, 0.30, 3, 3, 4, false},
    {0.130, 0.045, 0.69, 0.059, 0.030, 0.37, 0.10, 0.30, 3, 3, 4, false},
    {0.090, 0.034, 0.54, 0.050, 0.030, 0.40, 0.10, 0.30, 3, 2, 4, false},
    {0.060, 0.025, 0.41, 0.043, 0.030, 0.43, 0.05, 0.30, 3, 2, 4, false},
    {0.040, 0.019, 0.30, 0.037, 0.030, 0.47, 0.05, 0.30, 3, 2, 2, false},
    {0.027, 0.014, 0.19, 0.032, 0.025, 0.50, 0.05, 0.30, 3, 2, 2, false},
    {0.018, 0.011, 0.10, 0.027, 0.020, 0.53, 0.05, 0.25, 3, 2, 1, false},
    {0.014, 0.008, 0.04, 0.023, 0.012, 0.57, 0.05, 0.20, 3, 2, 1, true},
    {0.012, 0.006, 0.00, 0.020, 0.006, 0.60, 0.05, 0.00, 4, 2, 1, true},
};
enum { LEVELS = sizeof levels / sizeof levels[0], ANCHOR_STEPS = 30 };
/* Width over which scales are averaged, in heights. */
#define SCALE_WIDTH 0.06
/* Area of an anchor of the default sigma, in squares of a level's length, and at least in squares of heights. */
#define ANCHOR_SQUARE 6.0
#define ANCHOR_LEAST  1e-4
/* Anchors farther off than this, in heights, count less after the first level. */
#define ANCHOR_DOUBT 0.02
/* Least scale of residuals, in noises. */
#define FLOOR 3.0
/* Default reach at the beginning, in sizes of the template. */
#define START_REACH (1.0 / 14)

typedef struct work {
    const ex_register_def *def;
    double noise, reach, start_reach, height;
    exi_reg_shape shape;
    exi_reg_turns turns;
    exi_reg_scan scan;
    exi_reg_tree tree;
    exi_reg_matcher matcher;
    exi_reg_patches patches;
    exi_reg_system *system;
    exi_reg_pull *pulls;
    size_t pull_capacity;
    double (*start)[3];
    double (*x)[3];
    ex_registered *out;
    ex_error *error;
} work;

static double now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

ex_register_def ex_register_def_default(void) {
    return (ex_register_def){0};
}

void ex_registered_destroy(ex_registered *registered) {
    if (!registered)
        return;
    free(registered->vertices);
    free(registered->confidences);
    free(registered);
}

/* ---- checks ---- */

static ex_result check_anchors(const ex_register_def *def, ex_error *error) {
    for (int a = 0; a < def->anchor_count; a++) {
        const ex_register_anchor *anchor = &def->anchors[a];
        double sum = 0;
        bool finite = isfinite(anchor->sigma);
        for (int c = 0; c < 3; c++) {
            if (anchor->vertices[c] < 0 || anchor->vertices[c] >= def->mesh->vertex_count)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "anchor %d is at vertex %d, but the template has %d vertices (counted from 0)",
                                    a + 1, anchor->vertices[c], def->mesh->vertex_count);
            finite = finite && isfinite(anchor->target[c]) && anchor->shares[c] >= 0;
            sum += anchor->shares[c];
        }
        if (!finite || !(fabs(sum - 1) < 1e-6) || anchor->sigma < 0)
            return ex_error_set(error, EX_ERROR_DATA,
                                "anchor %d has a number that is not finite, a sigma below 0, or shares that do not sum "
                                "to 1",
                                a + 1);
    }
    return EX_OK;
}

static ex_result check_values(const float *values, int count, double low, double high, const char *what,
                              ex_error *error) {
    for (int v = 0; values && v < count; v++)
        if (!((double)values[v] >= low && (double)values[v] <= high))
            return ex_error_set(error, EX_ERROR_DATA, "the %s of vertex %d must be from %g to %g, not %g", what, v, low,
                                high, (double)values[v]);
    return EX_OK;
}

static ex_result check(const ex_register_def *def, ex_error *error) {
    const ex_mesh *mesh = def->mesh;
    if (mesh->face_count < 1 || mesh->vertex_count < 4)
        return ex_error_set(error, EX_ERROR_DATA, "the template has no faces: it must be a surface");
    ex_result result = exi_mesh_check_faces(mesh, error);
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count && result == EX_OK; i++)
        if (!isfinite(mesh->positions[i]) || (def->start && !isfinite(def->start[i / 3][i % 3])))
            result = ex_error_set(error, EX_ERROR_DATA, "vertex %zu of the template is not finite", i / 3);
    if (result == EX_OK)
        result = check_anchors(def, error);
    if (result == EX_OK)
        result = check_values(def->stiffness, mesh->vertex_count, 0.01, 100, "stiffness", error);
    if (result == EX_OK)
        result = check_values(def->matching, mesh->vertex_count, 0, 1, "matching", error);
    const double lengths[3] = {def->noise, def->reach, def->start_reach};
    static const char *const names[3] = {"noise", "reach", "start reach"};
    for (int i = 0; i < 3 && result == EX_OK; i++)
        if (!(lengths[i] >= 0 && isfinite(lengths[i])))
            result = ex_error_set(error, EX_ERROR_ARGUMENT, "the %s must be a length of 0 metres or more, not %g",
                                  names[i], lengths[i]);
    return result;
}

/* ---- beginning ---- */

/* Size of the box of all scans. */
static double scans_size(const ex_register_def *def) {
    double sum = 0;
    for (size_t k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < def->scan_count; i++)
            for (size_t v = 0; v < (size_t)def->scans[i]->vertex_count; v++) {
                low = fmin(low, def->scans[i]->positions[3 * v + k]);
                high = fmax(high, def->scans[i]->positions[3 * v + k]);
            }
        sum += (high - low) * (high - low);
    }
    return sqrt(sum);
}

/* The sentence for a template that found nothing near it. */
static ex_result nothing_near(const work *w, int found) {
    static const double units[] = {10, 100, 1000, 39.3701, 3.28084};
    static const char *const names[] = {"10", "100", "1000", "39.37", "3.28"};
    const double ratio = scans_size(w->def) / w->shape.size;
    const double away = ratio > 1 ? ratio : 1 / ratio;
    for (int i = 0; i < 5 && away > 2; i++)
        if (away > units[i] / 1.7 && away < units[i] * 1.7)
            return ex_error_set(w->error, EX_ERROR_DATA,
                                "the scan is about %s times as %s as the template: give both in metres", names[i],
                                ratio > 1 ? "large" : "small");
    return ex_error_set(w->error, EX_ERROR_DATA,
                        "%d of the template's %d vertices have the scan within %g m: begin nearer to the scan, with "
                        "landmarks or a rough pose, or give a larger reach",
                        found, w->shape.count, w->start_reach);
}

static ex_result make_scan(work *w) {
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
        for (int v = 0; v < w->shape.count; v++) {
            low[k] = fmin(low[k], w->x[v][k]);
            high[k] = fmax(high[k], w->x[v][k]);
        }
        for (int a = 0; a < w->def->anchor_count; a++) {
            low[k] = fmin(low[k], w->def->anchors[a].target[k]);
            high[k] = fmax(high[k], w->def->anchors[a].target[k]);
        }
        low[k] -= w->start_reach;
        high[k] += w->start_reach;
    }
    return exi_reg_scan_make(w->def->scans, w->def->scan_count, CELL * w->shape.edge, POINTS_MOST, low, high, &w->scan,
                             w->error);
}

/* Counts vertices that have the scan near, facing the same or the other way; turns the scan over if most do the
 * latter. */
static ex_result look_around(work *w) {
    int same = 0, other = 0;
    exi_reg_shape_points(&w->shape, (const double(*)[3])w->x, w->matcher.points);
    if (!exi_reg_tree_make(w->scan.points, w->scan.count, 1e-4, &w->tree))
        return ex_error_memory(w->error, "the points of the scan", (size_t)w->scan.count * 40);
    for (int v = 0; v < w->shape.count; v++) {
        const exi_reg_point *own = &w->matcher.points[v];
        const int found = w->shape.loose[v] ? -1 : exi_reg_tree_nearest(&w->tree, own, w->start_reach, -1.5);
        double facing = 0;
        for (int k = 0; k < 3 && found >= 0; k++)
            facing += (double)own->normal[k] * (double)w->scan.points[found].normal[k];
        same += found >= 0 && facing > 0;
        other += found >= 0 && facing <= 0;
    }
    exi_reg_tree_free(&w->tree);
    if (other > 2 * same)
        for (int i = 0; i < w->scan.count; i++)
            for (int k = 0; k < 3; k++)
                w->scan.points[i].normal[k] = -w->scan.points[i].normal[k];
    (void)exi_reg_scan_drop_floors(&w->scan, &w->shape, w->matcher.points, w->start_reach, w->noise);
    if (50 * (int64_t)(same + other) < w->shape.count && w->def->anchor_count < 3)
        return nothing_near(w, same + other);
    return EX_OK;
}

static ex_result open_work(work *w) {
    const ex_register_def *def = w->def;
    const size_t n = (size_t)def->mesh->vertex_count;
    w->noise = def->noise > 0 ? def->noise : NOISE;
    w->reach = def->reach > 0 ? def->reach : REACH;
    ex_result result = exi_reg_shape_make(def, &w->shape, w->error);
    if (result != EX_OK)
        return result;
    w->height = w->shape.size / 1.25;
    w->start_reach = fmax(w->reach, def->start_reach > 0 ? def->start_reach : START_REACH * w->shape.size);
    w->x = exi_array_copy(def->start ? &def->start[0][0] : def->mesh->positions, n, sizeof *w->x);
    w->start = exi_array_copy(w->x, w->x ? n : 0, sizeof *w->start);
    w->matcher = (exi_reg_matcher){.def = def, .shape = &w->shape, .scan = &w->scan, .tree = &w->tree};
    w->matcher.points = exi_array_allocate(n, sizeof *w->matcher.points);
    w->matcher.forward = exi_array_allocate(n, sizeof *w->matcher.forward);
    w->matcher.forward_weights = exi_array_allocate(n, sizeof *w->matcher.forward_weights);
    w->matcher.residuals = exi_array_allocate(n, sizeof *w->matcher.residuals);
    w->out->confidences = calloc(n, sizeof *w->out->confidences);
    if (!w->x || !w->start || !w->matcher.points || !w->matcher.forward || !w->matcher.forward_weights ||
        !w->matcher.residuals || !w->out->confidences)
        return ex_error_memory(w->error, "the template", n * 100);
    result = make_scan(w);
    if (result == EX_OK)
        result = look_around(w);
    if (result == EX_OK)
        result = exi_reg_turns_make(&w->shape, &w->turns, w->error);
    if (result == EX_OK)
        result = exi_reg_system_make(&w->shape, &w->system, w->error);
    return result;
}

static void close_work(work *w) {
    exi_reg_system_free(w->system);
    exi_reg_patches_free(&w->patches);
    exi_reg_tree_free(&w->matcher.own);
    exi_reg_tree_free(&w->tree);
    exi_reg_scan_free(&w->scan);
    exi_reg_turns_free(&w->turns);
    exi_reg_shape_free(&w->shape);
    free(w->matcher.points);
    free(w->matcher.forward);
    free(w->matcher.forward_weights);
    free(w->matcher.residuals);
    free(w->pulls);
    free(w->start);
    free(w->x);
}

/* ---- levels ---- */

static ex_result report(const work *w, double fraction) {
    const ex_progress *progress = w->def->progress;
    if (!progress || !progress->report || progress->report(progress->user, "registering", fraction))
        return EX_OK;
    return ex_error_set(w->error, EX_ERROR_FILE, "the registration was stopped");
}

static ex_result reserve(work *w, size_t count) {
    exi_reg_pull *grown = exi_array_grow(w->pulls, &w->pull_capacity, count, sizeof *grown);
    if (!grown)
        return ex_error_memory(w->error, "the matches", count * sizeof *grown);
    w->pulls = grown;
    return EX_OK;
}

/* Finds positions and rotations in turn, with the pulls held. anchors: first of the anchors' pulls. */
static ex_result settle(work *w, double length, int pull_count, int anchors, int steps) {
    ex_result result = exi_reg_system_set(w->system, length, w->pulls, pull_count, w->error);
    for (int i = 0; i < steps && result == EX_OK; i++) {
        exi_reg_system_step(w->system, &w->turns, w->x);
        exi_reg_turns_find(&w->turns, (const double(*)[3])w->x, w->def->tasks);
        exi_reg_patches_aim(&w->patches, w->def, &w->turns, w->pulls + anchors);
    }
    return result;
}

/* Opens a level: rotations, patches and the tree of its lengths. */
static ex_result open_level(work *w, const level *l) {
    exi_reg_patches_free(&w->patches);
    exi_reg_tree_free(&w->tree);
    if (l->settled)
        exi_reg_turns_settle(&w->turns, (const double(*)[3])w->x);
    ex_result result = exi_reg_turns_widen(&w->turns, l->width * w->height, SCALE_WIDTH * w->height, w->error);
    if (result == EX_OK)
        result = exi_reg_patches_make(&w->shape, w->def, l->patch * w->height, &w->patches, w->error);
    if (result == EX_OK && !exi_reg_tree_make(w->scan.points, w->scan.count, l->unlike * w->height, &w->tree))
        result = ex_error_memory(w->error, "the points of the scan", (size_t)w->scan.count * 40);
    return result;
}

static double anchor_weight(const work *w, double length) {
    return fmax(ANCHOR_SQUARE * length * length, ANCHOR_LEAST * w->height * w->height);
}

/* Brings the anchors to their targets before the scan pulls. */
static ex_result go_to_anchors(work *w) {
    ex_result result = open_level(w, &levels[0]);
    const int count = exi_reg_patches_size(&w->patches);
    if (result == EX_OK)
        result = reserve(w, (size_t)count);
    const double length = levels[0].length * w->height;
    if (result == EX_OK) {
        exi_reg_patches_pull(&w->patches, w->def, &w->turns, (const double(*)[3])w->x, NULL,
                             25 * anchor_weight(w, length), INFINITY, w->pulls);
        result = settle(w, length, count, 0, ANCHOR_STEPS);
    }
    return result;
}

static exi_reg_rule rule_of(const work *w, const level *l) {
    const double reach = w->reach + l->reach * (w->start_reach - w->reach);
    return (exi_reg_rule){.reach = reach,
                          .facing = l->facing,
                          .across = l->across,
                          .floor = fmax(FLOOR * w->noise, l->doubt * reach),
                          .back = 0.5,
                          .back_most = 2 * w->shape.count / l->stride,
                          .stride = l->stride};
}

static ex_result run_level(work *w, int number, double begin, double end) {
    const level *l = &levels[number];
    const exi_reg_rule rule = rule_of(w, l);
    ex_result result = open_level(w, l);
    const size_t anchors = result == EX_OK ? (size_t)exi_reg_patches_size(&w->patches) : 0;
    if (result == EX_OK)
        result = reserve(w, anchors + (size_t)w->shape.count + (size_t)rule.back_most + 1);
    for (int i = 0; i < l->matches && result == EX_OK; i++) {
        int count = 0;
        const double length = l->length * w->height;
        result = report(w, begin + (end - begin) * i / l->matches);
        if (result == EX_OK)
            result = exi_reg_match(&w->matcher, (const double(*)[3])w->x, &rule, w->pulls + anchors, &count, w->error);
        if (result == EX_OK) {
            exi_reg_patches_pull(&w->patches, w->def, &w->turns, (const double(*)[3])w->x,
                                 l->settled ? w->matcher.points : NULL, anchor_weight(w, length),
                                 number > 0 ? ANCHOR_DOUBT * w->height : INFINITY, w->pulls);
            result = settle(w, length, (int)anchors + count, 0, l->steps);
        }
    }
    return result;
}

/* Finds how the surroundings of a vertex turned and grew since rest. */
static void turn_at(const work *w, int vertex, double turn[3][3]) {
    const exi_reg_shape *s = &w->shape;
    double sum[3][3] = {{0}}, own = 0, along = 0;
    for (int i = s->around_starts[vertex]; i < s->around_starts[vertex + 1]; i++)
        for (int k = 0; k < 3; k++) {
            const uint32_t other = s->triangles[3 * (size_t)s->around[i] + (size_t)k];
            double e[3], d[3];
            exi_subtract(s->rest[other], s->rest[vertex], e);
            exi_subtract(w->x[other], w->x[vertex], d);
            own += exi_dot3(e, e);
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    sum[a][b] += d[a] * e[b];
        }
    exi_nearest_rotation((const double(*)[3])sum, turn);
    for (int a = 0; a < 3; a++)
        along += exi_dot3(turn[a], sum[a]);
    for (int i = 0; i < 9 && own > 0; i++)
        turn[i / 3][i % 3] *= along / own;
}

/* Vertices without faces move as the nearest vertex with faces does. */
static void move_loose(work *w) {
    const exi_reg_shape *s = &w->shape;
    for (int v = 0; v < s->count; v++) {
        int best = -1;
        double least = INFINITY, e[3], turn[3][3];
        for (int u = 0; s->loose[v] && u < s->count; u++) {
            exi_subtract(s->rest[v], s->rest[u], e);
            if (!s->loose[u] && exi_dot3(e, e) < least) {
                least = exi_dot3(e, e);
                best = u;
            }
        }
        if (best < 0)
            continue;
        exi_subtract(s->rest[v], s->rest[best], e);
        turn_at(w, best, turn);
        for (int k = 0; k < 3; k++)
            w->x[v][k] = w->x[best][k] + exi_dot3(turn[k], e);
    }
}

static ex_result finish(work *w) {
    int count = 0;
    exi_reg_rule rule = rule_of(w, &levels[LEVELS - 1]);
    rule.back_most = 0;
    ex_result result = reserve(w, (size_t)w->shape.count + 1);
    if (result == EX_OK)
        result = exi_reg_match(&w->matcher, (const double(*)[3])w->x, &rule, w->pulls, &count, w->error);
    if (result == EX_OK && 50 * (int64_t)count < w->shape.count)
        return nothing_near(w, count);
    move_loose(w);
    w->out->vertex_count = w->shape.count;
    w->out->vertices = w->x;
    w->x = NULL;
    if (result == EX_OK)
        result = exi_reg_measure(&w->matcher, (const double(*)[3])w->start, &rule, w->noise, w->out, w->error);
    return result;
}

ex_result ex_register(const ex_register_def *def, ex_registered **registered, ex_error *error) {
    if (!def || !def->mesh || !registered || def->scan_count < 1 || !def->scans || def->anchor_count < 0 ||
        (def->anchor_count > 0 && !def->anchors))
        return exi_misuse_error(error, __func__, "a template, a scan and a pointer for the result are needed");
    const double begin = now();
    work w = {.def = def, .error = error};
    *registered = NULL;
    ex_result result = check(def, error);
    if (result == EX_OK) {
        w.out = calloc(1, sizeof *w.out);
        result = w.out ? open_work(&w) : ex_error_memory(error, "the registered template", sizeof *w.out);
    }
    if (result == EX_OK) { /* rotations of the start */
        result = exi_reg_turns_widen(&w.turns, 0, 0, error);
        exi_reg_turns_find(&w.turns, (const double(*)[3])w.x, def->tasks);
    }
    if (result == EX_OK && def->anchor_count > 0)
        result = go_to_anchors(&w);
    int total = 0, done = 0;
    for (int i = 0; i < LEVELS; i++)
        total += levels[i].matches * (4 / levels[i].stride + 1);
    for (int i = 0; i < LEVELS && result == EX_OK; i++) {
        const int next = done + levels[i].matches * (4 / levels[i].stride + 1);
        result = run_level(&w, i, 0.05 + 0.9 * done / total, 0.05 + 0.9 * next / total);
        done = next;
    }
    if (result == EX_OK)
        result = finish(&w);
    close_work(&w);
    if (result == EX_OK) {
        w.out->seconds = now() - begin;
        *registered = w.out;
    } else {
        ex_registered_destroy(w.out);
    }
    return result;
}
