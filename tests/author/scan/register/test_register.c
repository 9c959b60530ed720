/*
 * Registration of a limb whose true motion is known: without and with anchors, with holes, noise, a floor, points
 * instead of faces, an inside-out scan; what it refuses; lack of memory.
 */
#include "author/scan/register/limb.h"
#include "author/scan/register/register.h"
#include "support/check.h"
#include "support/fail_alloc.h"

#include <stdio.h>

enum { ALONG = 24, AROUND = 20, FINE_ALONG = 60, FINE_AROUND = 50 };

/* Errors of a result against the moved template. */
typedef struct errors {
    double median; /* distance from the true place */
    double farthest;
    double surface; /* RMS distance from the true surface, by its formula */
} errors;

static int order(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static errors compare(const ex_registered *r, const ex_mesh *truth, const ex_mesh *scan) {
    errors e = {0};
    double *all = calloc((size_t)r->vertex_count, sizeof *all);
    assert_non_null(all);
    assert_int_equal(r->vertex_count, truth->vertex_count);
    for (int v = 0; v < r->vertex_count; v++) {
        double sum = 0, least = INFINITY;
        for (int k = 0; k < 3; k++)
            sum += pow(r->vertices[v][k] - truth->positions[3 * v + k], 2);
        all[v] = sqrt(sum);
        for (int f = 0; scan && f < scan->face_count; f++)
            for (int t = 2; t < scan->face_offsets[f + 1] - scan->face_offsets[f]; t++) {
                const int *c = scan->corners + scan->face_offsets[f];
                double shares[3];
                least = fmin(least,
                             exi_reg_closest(scan->positions + 3 * (size_t)c[0], scan->positions + 3 * (size_t)c[t - 1],
                                             scan->positions + 3 * (size_t)c[t], r->vertices[v], shares));
            }
        e.surface += scan ? least : 0;
    }
    e.surface = sqrt(e.surface / r->vertex_count);
    qsort(all, (size_t)r->vertex_count, sizeof *all, order);
    e.median = all[r->vertex_count / 2];
    e.farthest = all[r->vertex_count - 1];
    free(all);
    return e;
}

static ex_registered *run(const ex_register_def *def) {
    ex_registered *r = NULL;
    ex_error error = {0};
    if (ex_register(def, &r, &error) != EX_OK)
        fail_msg("%s", error.text);
    return r;
}

typedef struct scene {
    ex_mesh *mesh, *truth, *scan;
    ex_register_def def;
} scene;

static scene open_scene(double bend, double thicker) {
    scene s = {.mesh = limb_mesh(ALONG, AROUND, 0, 1),
               .truth = limb_mesh(ALONG, AROUND, bend, thicker),
               .scan = limb_mesh(FINE_ALONG, FINE_AROUND, bend, thicker)};
    s.def = ex_register_def_default();
    s.def.mesh = s.mesh;
    s.def.scan_count = 1;
    return s;
}

static void close_scene(scene *s) {
    ex_mesh_destroy(s->mesh);
    ex_mesh_destroy(s->truth);
    ex_mesh_destroy(s->scan);
}

static const ex_mesh *only[1];

static ex_registered *run_scene(scene *s) {
    only[0] = s->scan;
    s->def.scans = only;
    return run(&s->def);
}

/* ---- what it finds ---- */

/* A template on its own scan stays there. */
static void still(void **state) {
    (void)state;
    scene s = open_scene(0, 1);
    ex_registered *r = run_scene(&s);
    const errors e = compare(r, s.truth, s.scan);
    printf("still: median %.2f mm, surface %.2f mm\n", 1e3 * e.median, 1e3 * e.surface);
    assert_true(e.median < 3e-3 && e.surface < 5e-4);
    assert_true(r->matched_count > 0.95 * r->vertex_count);
    assert_int_equal(r->matched_count + r->unmatched_count, r->vertex_count);
    assert_near(r->covered, 1, 0.01);
    assert_true(r->rms < 5e-4);
    assert_int_equal(r->flipped_count, 0);
    ex_registered_destroy(r);
    close_scene(&s);
}

/* The ends are off by 7 cm and turned by 17 degrees, and the limb is a tenth thicker. */
static void bent(void **state) {
    (void)state;
    scene s = open_scene(0.6, 1.1);
    ex_registered *r = run_scene(&s);
    const errors e = compare(r, s.truth, s.scan);
    printf("bent: median %.2f mm, farthest %.2f mm, surface %.2f mm\n", 1e3 * e.median, 1e3 * e.farthest,
           1e3 * e.surface);
    assert_true(e.median < 10e-3 && e.farthest < 25e-3 && e.surface < 1e-3);
    assert_true(r->matched_count > 0.95 * r->vertex_count);
    ex_registered_destroy(r);
    close_scene(&s);
}

static void add_anchors(const scene *s, ex_register_anchor *anchors, int count) {
    for (int a = 0; a < count; a++) {
        const int v = 1 + a * (s->mesh->vertex_count - 3) / (count - 1);
        anchors[a] = (ex_register_anchor){.vertices = {v, v, v}, .shares = {1, 0, 0}};
        memcpy(anchors[a].target, s->truth->positions + 3 * (size_t)v, sizeof anchors[a].target);
    }
}

/* With anchors, it may be bent by a right angle and be half a metre away. */
static void anchored(void **state) {
    (void)state;
    enum { COUNT = 8 };
    scene s = open_scene(1.6, 1.1);
    ex_register_anchor anchors[COUNT];
    for (int i = 0; i < 3 * s.truth->vertex_count; i++)
        s.truth->positions[i] += i % 3 == 2 ? 0.5 : 0;
    for (int i = 0; i < 3 * s.scan->vertex_count; i++)
        s.scan->positions[i] += i % 3 == 2 ? 0.5 : 0;
    add_anchors(&s, anchors, COUNT);
    s.def.anchors = anchors;
    s.def.anchor_count = COUNT;
    ex_registered *r = run_scene(&s);
    const errors e = compare(r, s.truth, s.scan);
    printf("anchored: median %.2f mm, farthest %.2f mm, surface %.2f mm, anchors %.2f mm\n", 1e3 * e.median,
           1e3 * e.farthest, 1e3 * e.surface, 1e3 * r->anchor_rms);
    assert_true(e.median < 6e-3 && e.farthest < 25e-3 && e.surface < 1e-3);
    assert_true(r->anchor_rms < 2e-3);
    ex_registered_destroy(r);
    close_scene(&s);
}

/* One wrong anchor, 30 cm off, does not bend the limb. */
static void doubted(void **state) {
    (void)state;
    enum { COUNT = 8 };
    scene s = open_scene(0.6, 1);
    ex_register_anchor anchors[COUNT];
    add_anchors(&s, anchors, COUNT);
    anchors[4].target[2] += 0.3;
    s.def.anchors = anchors;
    s.def.anchor_count = COUNT;
    ex_registered *r = run_scene(&s);
    const errors e = compare(r, s.truth, s.scan);
    printf("doubted: median %.2f mm, surface %.2f mm\n", 1e3 * e.median, 1e3 * e.surface);
    assert_true(e.median < 6e-3 && e.surface < 4e-3);
    ex_registered_destroy(r);
    close_scene(&s);
}

/* Landmarks that were clicked 6 mm above the skin make no dents. */
static void above(void **state) {
    (void)state;
    enum { COUNT = 40 };
    scene s = open_scene(0, 1);
    ex_register_anchor anchors[COUNT];
    add_anchors(&s, anchors, COUNT);
    for (int a = 0; a < COUNT; a++) {
        const double wide = hypot(anchors[a].target[0], anchors[a].target[2]);
        anchors[a].target[0] *= 1 + 0.006 / wide;
        anchors[a].target[2] *= 1 + 0.006 / wide;
    }
    s.def.anchors = anchors;
    s.def.anchor_count = COUNT;
    ex_registered *r = run_scene(&s);
    const errors e = compare(r, s.truth, s.scan);
    printf("above: surface %.2f mm, anchors %.2f mm\n", 1e3 * e.surface, 1e3 * r->anchor_rms);
    assert_true(e.surface < 5e-4 && r->anchor_rms > 4e-3);
    ex_registered_destroy(r);
    close_scene(&s);
}

/* Removes the faces within a distance of a place. */
static void cut_hole(ex_mesh *mesh, const double at[3], double radius) {
    int kept = 0, corners = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        const int begin = mesh->face_offsets[f], size = mesh->face_offsets[f + 1] - begin;
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += pow(mesh->positions[3 * mesh->corners[begin] + k] - at[k], 2);
        if (sum < radius * radius)
            continue;
        memmove(mesh->corners + corners, mesh->corners + begin, (size_t)size * sizeof *mesh->corners);
        corners += size;
        mesh->face_offsets[++kept] = corners;
    }
    mesh->face_count = kept;
    mesh->corner_count = corners;
}

static void holes(void **state) {
    (void)state;
    scene s = open_scene(0.3, 1.05);
    const int middle = 1 + 12 * AROUND;
    const double *at = s.truth->positions + 3 * (size_t)middle;
    cut_hole(s.scan, at, 0.06);
    ex_registered *r = run_scene(&s);
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += pow(r->vertices[middle][k] - at[k], 2);
    printf("hole: %.2f mm off in its middle\n", 1e3 * sqrt(sum));
    assert_true(r->confidences[middle] == 0);
    assert_true(sqrt(sum) < 8e-3);
    assert_true(r->confidences[1 + 12 * AROUND + AROUND / 2] > 0.5F);
    ex_registered_destroy(r);
    close_scene(&s);
}

/* Noise of 1 mm, and a floor through the lower end that faces up. */
static void floor_and_noise(void **state) {
    (void)state;
    scene s = open_scene(0.3, 1.05);
    ex_mesh *clean = ex_mesh_copy(s.scan);
    uint64_t random = 11;
    for (int i = 0; i < 3 * s.scan->vertex_count; i++)
        s.scan->positions[i] += random_between(&random, -1e-3, 1e-3) + random_between(&random, -1e-3, 1e-3);
    limb_add_floor(s.scan, -0.45, 0.6, 60);
    ex_registered *r = run_scene(&s);
    const errors e = compare(r, s.truth, clean);
    printf("floor: median %.2f mm, surface %.2f mm, covered %.2f\n", 1e3 * e.median, 1e3 * e.surface, r->covered);
    assert_true(e.median < 6e-3 && e.surface < 1.5e-3);
    assert_true(r->covered < 0.5);
    ex_registered_destroy(r);
    ex_mesh_destroy(clean);
    close_scene(&s);
}

/* Points with normals in place of faces; and two halves as two views. */
static void clouds_and_views(void **state) {
    (void)state;
    scene s = open_scene(0.3, 1.05);
    ex_mesh *clean = ex_mesh_copy(s.scan), *halves[2] = {ex_mesh_copy(s.scan), ex_mesh_copy(s.scan)};
    s.scan->normal_count = s.scan->vertex_count;
    s.scan->normals = calloc(3 * (size_t)s.scan->vertex_count, sizeof *s.scan->normals);
    assert_non_null(s.scan->normals);
    for (int f = 0; f < s.scan->face_count; f++) {
        const int *c = s.scan->corners + s.scan->face_offsets[f];
        const double *p[3] = {clean->positions + 3 * (size_t)c[0], clean->positions + 3 * (size_t)c[1],
                              clean->positions + 3 * (size_t)c[2]};
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            for (int v = 0; v < s.scan->face_offsets[f + 1] - s.scan->face_offsets[f]; v++)
                s.scan->normals[3 * c[v] + k] +=
                    (p[1][i] - p[0][i]) * (p[2][j] - p[0][j]) - (p[1][j] - p[0][j]) * (p[2][i] - p[0][i]);
        }
    }
    s.scan->face_count = s.scan->corner_count = 0;
    ex_registered *r = run_scene(&s);
    const errors e = compare(r, s.truth, clean);
    printf("points: median %.2f mm, surface %.2f mm\n", 1e3 * e.median, 1e3 * e.surface);
    assert_true(e.median < 10e-3 && e.surface < 1e-3);
    assert_true(r->matched_count > 0.9 * r->vertex_count);
    ex_registered_destroy(r);
    for (int side = 0; side < 2; side++) /* they overlap in the middle */
        cut_hole(halves[side], (const double[3]){0, side ? -10.02 : 10.02, 0}, 10);
    s.def.scans = (const ex_mesh *const *)halves;
    s.def.scan_count = 2;
    r = run(&s.def);
    const errors both = compare(r, s.truth, clean);
    assert_true(both.median < 10e-3 && both.surface < 1e-3);
    assert_true(r->matched_count > 0.95 * r->vertex_count);
    ex_registered_destroy(r);
    for (int i = 0; i < 2; i++)
        ex_mesh_destroy(halves[i]);
    ex_mesh_destroy(clean);
    close_scene(&s);
}

/* A scan whose faces all run the other way round is taken as meant. */
static void inside_out(void **state) {
    (void)state;
    scene s = open_scene(0.3, 1.05);
    for (int f = 0; f < s.scan->face_count; f++)
        for (int a = s.scan->face_offsets[f], b = s.scan->face_offsets[f + 1] - 1; a < b; a++, b--) {
            const int kept = s.scan->corners[a];
            s.scan->corners[a] = s.scan->corners[b];
            s.scan->corners[b] = kept;
        }
    ex_registered *r = run_scene(&s);
    assert_true(compare(r, s.truth, s.scan).surface < 1e-3);
    ex_registered_destroy(r);
    close_scene(&s);
}

/* A start that is turned and smaller than the rest form; a loose vertex and a part of its own follow. */
static void parts(void **state) {
    (void)state;
    scene s = open_scene(0.3, 1);
    ex_mesh *meshes[2] = {s.mesh, s.truth};
    const int n = s.mesh->vertex_count;
    for (int m = 0; m < 2; m++) { /* a small tetrahedron inside, and a vertex without faces */
        ex_mesh *mesh = meshes[m];
        mesh->positions = realloc(mesh->positions, 3 * (size_t)(n + 5) * sizeof *mesh->positions);
        mesh->corners = realloc(mesh->corners, ((size_t)mesh->corner_count + 12) * sizeof *mesh->corners);
        mesh->face_offsets = realloc(mesh->face_offsets, ((size_t)mesh->face_count + 5) * sizeof *mesh->face_offsets);
        assert_true(mesh->positions && mesh->corners && mesh->face_offsets);
        static const double inner[5][3] = {
            {0.01, 0.4, 0}, {-0.01, 0.4, 0.01}, {0, 0.42, 0}, {0, 0.4, -0.01}, {0.01, -0.4, 0.01}};
        static const int faces[12] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
        for (int i = 0; i < 5; i++)
            limb_move(inner[i], m ? 0.3 : 0, 1, mesh->positions + 3 * (size_t)(n + i));
        for (int i = 0; i < 12; i++)
            mesh->corners[mesh->corner_count++] = n + faces[i];
        for (int i = 0; i < 4; i++)
            mesh->face_offsets[mesh->face_count + i + 1] = mesh->face_offsets[mesh->face_count + i] + 3;
        mesh->face_count += 4;
        mesh->vertex_count = n + 5;
    }
    float *matching = calloc((size_t)n + 5, sizeof *matching);
    double(*start)[3] = calloc((size_t)n + 5, sizeof *start);
    assert_true(matching && start);
    for (int v = 0; v < n + 5; v++) {
        matching[v] = v < n;
        const double *p = s.mesh->positions + 3 * (size_t)v;
        start[v][0] = p[0] * cos(0.1) - p[1] * sin(0.1);
        start[v][1] = p[0] * sin(0.1) + p[1] * cos(0.1);
        start[v][2] = p[2] + 0.02;
        for (int k = 0; k < 3; k++)
            s.mesh->positions[3 * v + k] *= 1000; /* the rest form may even be in another unit */
    }
    s.def.matching = matching;
    s.def.start = (const double(*)[3])start;
    ex_registered *r = run_scene(&s);
    for (int i = 0; i < 5; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += pow(r->vertices[n + i][k] - s.truth->positions[3 * (n + i) + k], 2);
        printf("part %d: %.2f mm off\n", i, 1e3 * sqrt(sum));
        assert_true(sqrt(sum) < 0.02);
        assert_true(r->confidences[n + i] == 0);
    }
    assert_int_equal(r->matched_count + r->unmatched_count, n);
    assert_true(compare(r, s.truth, NULL).median < 6e-3);
    ex_registered_destroy(r);
    free(matching);
    free(start);
    close_scene(&s);
}

/* A matcher of a template and a scan, for single parts of the work. */
typedef struct bench {
    exi_reg_shape shape;
    exi_reg_scan scan;
    exi_reg_tree tree;
    exi_reg_matcher m;
    exi_reg_pull *pulls;
    double (*x)[3];
} bench;

static void open_bench(bench *b, const scene *s) {
    const double low[3] = {-9, -9, -9}, high[3] = {9, 9, 9};
    const ex_mesh *scans[1] = {s->scan};
    const size_t n = (size_t)s->mesh->vertex_count;
    *b = (bench){.pulls = calloc(n + 1, sizeof *b->pulls), .x = malloc(n * sizeof *b->x)};
    assert_true(b->pulls && b->x);
    memcpy(b->x, s->mesh->positions, n * sizeof *b->x);
    assert_int_equal(exi_reg_shape_make(&s->def, &b->shape, NULL), EX_OK);
    assert_int_equal(exi_reg_scan_make(scans, 1, 0.01, 100000, low, high, &b->scan, NULL), EX_OK);
    assert_true(exi_reg_tree_make(b->scan.points, b->scan.count, 0.05, &b->tree));
    b->m = (exi_reg_matcher){.def = &s->def,
                             .shape = &b->shape,
                             .scan = &b->scan,
                             .tree = &b->tree,
                             .points = calloc(n, sizeof(exi_reg_point)),
                             .forward = calloc(n, sizeof(int)),
                             .forward_weights = calloc(n, sizeof(float)),
                             .residuals = calloc(n, sizeof(exi_reg_residual))};
    assert_true(b->m.points && b->m.forward && b->m.forward_weights && b->m.residuals);
    exi_reg_shape_points(&b->shape, (const double(*)[3])b->x, b->m.points);
}

static int match(bench *b, double facing) {
    const exi_reg_rule rule = {.reach = 0.1, .facing = facing, .across = 1, .floor = 1e-3, .stride = 1};
    int count = 0;
    assert_int_equal(exi_reg_match(&b->m, (const double(*)[3])b->x, &rule, b->pulls, &count, NULL), EX_OK);
    return count;
}

static void close_bench(bench *b) {
    exi_reg_tree_free(&b->m.own);
    exi_reg_tree_free(&b->tree);
    exi_reg_scan_free(&b->scan);
    exi_reg_shape_free(&b->shape);
    free(b->m.points);
    free(b->m.forward);
    free(b->m.forward_weights);
    free(b->m.residuals);
    free(b->pulls);
    free(b->x);
}

/* Two sheets of one skin that touch: a vertex is not matched with the other sheet's scan, though it faces the same way
 * and is the nearest, because that point of the scan is nearer to the other sheet. */
static void same_skin(void **state) {
    (void)state;
    scene s = open_scene(0, 1);
    bench b;
    open_bench(&b, &s);
    /* A piece of the upper end is carried to the lower end, just outside the skin there. */
    const int piece = 1 + 20 * AROUND, below = 1 + 3 * AROUND;
    for (int i = 0; i < 3; i++) {
        b.x[piece + i][0] = 1.05 * b.x[below + i][0];
        b.x[piece + i][1] = b.x[below + i][1];
        b.x[piece + i][2] = b.x[below + i][2];
    }
    assert_true(match(&b, -0.9) > 0.9 * b.shape.count);
    assert_true(b.m.forward[below + 1] >= 0);
    assert_int_equal(b.m.forward[piece + 1], -1);
    close_bench(&b);
    close_scene(&s);
}

/* Vertices above a hole are not matched with its rim. */
static void rims(void **state) {
    (void)state;
    scene s = open_scene(0, 1);
    bench b;
    const int middle = 1 + 12 * AROUND;
    open_bench(&b, &s);
    const int all = match(&b, 0.3);
    assert_true(b.m.forward[middle] >= 0);
    close_bench(&b);
    cut_hole(s.scan, s.mesh->positions + 3 * (size_t)middle, 0.05);
    open_bench(&b, &s);
    const int fewer = match(&b, 0.3);
    assert_int_equal(b.m.forward[middle], -1);
    assert_true(fewer < all - 3 && fewer > 0.8 * all);
    close_bench(&b);
    close_scene(&s);
}

/* A floor is left out, whichever way the limb stands on it; the limb itself, or a table that is the template, is not.
 */
static void floors(void **state) {
    (void)state;
    scene s = open_scene(0, 1);
    bench b;
    open_bench(&b, &s);
    const int own = b.scan.count;
    assert_int_equal(exi_reg_scan_drop_floors(&b.scan, &b.shape, b.m.points, 0.1, 1e-3), 0);
    assert_int_equal(b.scan.count, own);
    close_bench(&b);
    limb_add_floor(s.scan, -0.45, 0.4, 40);
    open_bench(&b, &s);
    assert_true(b.scan.count > 1.5 * own);
    assert_int_equal(exi_reg_scan_drop_floors(&b.scan, &b.shape, b.m.points, 0.1, 1e-3), 1);
    assert_true(abs(b.scan.count - own) < 0.05 * own);
    assert_near(b.scan.left_out, 0.64, 0.03);
    close_bench(&b);
    limb_add_floor(s.mesh, -0.42, 0.4, 40);
    open_bench(&b, &s);
    assert_int_equal(exi_reg_scan_drop_floors(&b.scan, &b.shape, b.m.points, 0.1, 1e-3), 0);
    close_bench(&b);
    close_scene(&s);
}

/* The frame after: begins at the result of the one before. */
static void sequence(void **state) {
    (void)state;
    scene first = open_scene(0.5, 1.05), next = open_scene(0.7, 1.05);
    ex_registered *r = run_scene(&first);
    next.def.start = (const double(*)[3])r->vertices;
    next.def.start_reach = 0.05;
    ex_registered *after = run_scene(&next);
    const errors e = compare(after, next.truth, next.scan);
    assert_true(e.median < 10e-3 && e.surface < 1e-3);
    ex_registered_destroy(r);
    ex_registered_destroy(after);
    close_scene(&first);
    close_scene(&next);
}

static void anchor_of_point(void **state) {
    (void)state;
    scene s = open_scene(0, 1);
    const double *p = s.mesh->positions + 3 * 200, target[3] = {1, 2, 3};
    const double outside[3] = {1.3 * p[0], p[1], p[2]};
    ex_register_anchor anchor;
    ex_error error = {0};
    assert_int_equal(ex_register_anchor_find(s.mesh, p, target, &anchor, NULL), EX_OK);
    double at[3], sum = 0;
    exi_reg_anchor_at(&anchor, (const double(*)[3])s.mesh->positions, at);
    assert_row_near(at, p, 3, 1e-12);
    assert_row_near(anchor.target, target, 3, 0);
    assert_int_equal(ex_register_anchor_find(s.mesh, outside, target, &anchor, NULL), EX_OK);
    for (int c = 0; c < 3; c++) {
        assert_true(anchor.shares[c] >= 0);
        sum += anchor.shares[c];
    }
    assert_near(sum, 1, 1e-12);
    s.mesh->face_count = 0;
    ex_register_anchor_find(s.mesh, p, target, &anchor, &error);
    assert_sentence(&error, EX_ERROR_DATA, "no faces");
    close_scene(&s);
}

/* ---- what it refuses ---- */

static void refuse(scene *s, ex_result result, const char *word) {
    ex_registered *r = (ex_registered *)s;
    ex_error error = {0};
    only[0] = s->scan;
    s->def.scans = only;
    assert_int_equal(ex_register(&s->def, &r, &error), result);
    assert_sentence(&error, result, word);
    assert_null(r);
}

static bool stop(void *user, const char *what, double fraction) {
    (void)user;
    (void)what;
    return fraction < 0.3;
}

static void refused(void **state) {
    (void)state;
    scene s = open_scene(0, 1);
    const int faces = s.mesh->face_count, n = s.mesh->vertex_count;
    s.mesh->face_count = 0;
    refuse(&s, EX_ERROR_DATA, "the template has no faces");
    s.mesh->face_count = faces;
    const int scan_faces = s.scan->face_count;
    s.scan->face_count = 0;
    refuse(&s, EX_ERROR_DATA, "without faces or normals");
    s.scan->face_count = scan_faces;
    const double kept = s.scan->positions[30];
    s.scan->positions[30] = NAN;
    refuse(&s, EX_ERROR_DATA, "vertex 10 of the scan is not finite");
    s.scan->positions[30] = kept;
    const double own = s.mesh->positions[3];
    s.mesh->positions[3] = INFINITY;
    refuse(&s, EX_ERROR_DATA, "vertex 1 of the template");
    s.mesh->positions[3] = own;
    float *values = calloc((size_t)n, sizeof *values);
    assert_non_null(values);
    s.def.stiffness = values;
    refuse(&s, EX_ERROR_DATA, "stiffness of vertex 0 must be from 0.01 to 100");
    s.def.stiffness = NULL;
    values[7] = 2;
    s.def.matching = values;
    refuse(&s, EX_ERROR_DATA, "matching of vertex 7");
    s.def.matching = NULL;
    s.def.reach = -1;
    refuse(&s, EX_ERROR_ARGUMENT, "reach must be a length");
    s.def.reach = 0;
    ex_register_anchor anchor = {.vertices = {0, 0, n}, .shares = {1, 0, 0}};
    s.def.anchors = &anchor;
    s.def.anchor_count = 1;
    refuse(&s, EX_ERROR_DATA, "anchor 1 is at vertex");
    anchor.vertices[2] = 0;
    anchor.shares[0] = 0.5;
    refuse(&s, EX_ERROR_DATA, "shares");
    s.def.anchor_count = 0;
    const ex_progress progress = {.report = stop};
    s.def.progress = &progress;
    refuse(&s, EX_ERROR_FILE, "stopped");
    s.def.progress = NULL;
    for (int i = 0; i < 3 * s.scan->vertex_count; i++)
        s.scan->positions[i] += 5;
    refuse(&s, EX_ERROR_DATA, "begin nearer to the scan");
    for (int i = 0; i < 3 * s.scan->vertex_count; i++)
        s.scan->positions[i] = 1000 * (s.scan->positions[i] - 5);
    refuse(&s, EX_ERROR_DATA, "about 1000 times as large as the template: give both in metres");
    for (int i = 0; i < 3 * s.scan->vertex_count; i++)
        s.scan->positions[i] /= 1e5;
    refuse(&s, EX_ERROR_DATA, "about 100 times as small");
    free(values);
    close_scene(&s);
}

static ex_result attempt(void *context) {
    scene *s = context;
    ex_registered *r = NULL;
    const ex_result result = ex_register(&s->def, &r, NULL);
    ex_registered_destroy(r);
    return result;
}

static void memory(void **state) {
    (void)state;
    scene s = {.mesh = limb_mesh(5, 6, 0, 1), .scan = limb_mesh(6, 7, 0, 1)};
    ex_register_anchor anchor = {.vertices = {3, 4, 5}, .shares = {1, 0, 0}};
    memcpy(anchor.target, s.mesh->positions + 9, sizeof anchor.target);
    only[0] = s.scan;
    s.def = (ex_register_def){
        .mesh = s.mesh, .scans = only, .scan_count = 1, .anchors = &anchor, .anchor_count = 1, .start_reach = 0.2};
    s.def.start = (const double(*)[3])s.mesh->positions;
    assert_true(fail_alloc_sweep(attempt, &s) > 50);
    ex_mesh_destroy(s.mesh);
    ex_mesh_destroy(s.scan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(still),           cmocka_unit_test(bent),
                                       cmocka_unit_test(anchored),        cmocka_unit_test(doubted),
                                       cmocka_unit_test(above),           cmocka_unit_test(holes),
                                       cmocka_unit_test(floor_and_noise), cmocka_unit_test(clouds_and_views),
                                       cmocka_unit_test(inside_out),      cmocka_unit_test(parts),
                                       cmocka_unit_test(same_skin),       cmocka_unit_test(rims),
                                       cmocka_unit_test(floors),          cmocka_unit_test(sequence),
                                       cmocka_unit_test(anchor_of_point), cmocka_unit_test(refused),
                                       cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
