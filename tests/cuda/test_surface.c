/*
 * The GPU's surface, its stages run on the host over tables for the host: normals from rings against those of faces, on
 * meshes of every kind; lengths of rings; levels, limits and displacements against the rig's own; split vertices;
 * failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/lay/lay.h"
#include "cuda/stages/surface.inl"
#include "cuda/stages/write.inl"
#include "support/check.h"
#include "support/displaced.h"
#include "support/failing_allocator.h"
#include "support/rigs.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- layout ---- */

typedef struct laid {
    char *memory;
    size_t size;
    exi_gpu head;
    exi_gpu_levels levels;
} laid;

static ex_result lay_parts(const ex_rig *rig, const ex_rig_mesh *mesh, exi_lay *lay, laid *l, ex_error *error) {
    l->levels = (exi_gpu_levels){.count = 1};
    if (rig)
        return exi_lay_surface(rig, lay, &l->head, &l->levels, error);
    l->levels.levels[0] = (exi_gpu_level){.vertices = mesh->vertex_count, .splits = mesh->split_count};
    return exi_lay_rings(mesh, lay, &l->levels.levels[0], error);
}

/* The surface of a rig or, if that is NULL, the rings of a mesh. */
static ex_result lay_out(const ex_rig *rig, const ex_rig_mesh *mesh, const ex_allocator *allocator, laid *l) {
    exi_lay measure = {.allocator = allocator};
    *l = (laid){.head = {.vertices = rig ? ex_rig_level_vertex_count(rig, 0) : mesh->vertex_count,
                         .examples = rig ? ex_rig_example_count(rig) : 0}};
    ex_error error = {.result = EX_OK};
    ex_result result = lay_parts(rig, mesh, &measure, l, &error);
    if (result != EX_OK)
        return result;
    assert_false(measure.overflow);
    l->size = measure.used;
    l->memory = calloc(l->size + 1, 1);
    assert_non_null(l->memory);
    exi_lay fill = {.memory = l->memory, .base = (uintptr_t)l->memory, .allocator = allocator};
    result = lay_parts(rig, mesh, &fill, l, &error);
    if (result != EX_OK)
        free(l->memory);
    else
        assert_int_equal(fill.used, measure.used);
    return result;
}

static laid laid_of(const ex_rig *rig, const ex_rig_mesh *mesh) {
    laid l;
    assert_int_equal(lay_out(rig, mesh, NULL, &l), EX_OK);
    return l;
}

/* ---- rings ---- */

enum { POINTS = 48, FACES = 64, CORNERS = 8 * FACES };

typedef struct soup {
    int points, faces, corner_count;
    int offsets[FACES + 1], corners[CORNERS];
    float positions[POINTS][3];
} soup;

static void add_face(soup *s, int size, const int *corners) {
    assert_true(s->faces < FACES && s->corner_count + size <= CORNERS);
    memcpy(s->corners + s->corner_count, corners, (size_t)size * sizeof *corners);
    s->corner_count += size;
    s->offsets[++s->faces] = s->corner_count;
}

static laid rings_of(const soup *s) {
    static uint32_t sizes[FACES], corners[CORNERS];
    for (int f = 0; f < s->faces; f++)
        sizes[f] = (uint32_t)(s->offsets[f + 1] - s->offsets[f]);
    for (int c = 0; c < s->corner_count; c++)
        corners[c] = (uint32_t)s->corners[c];
    return laid_of(NULL, &(ex_rig_mesh){.vertex_count = s->points,
                                        .split_count = s->points,
                                        .face_count = s->faces,
                                        .corner_count = s->corner_count,
                                        .face_sizes = sizes,
                                        .corners = corners});
}

/* Like ex_normals_compute but all in double, which is accurate where faces cancel. */
static void normals_plainly(const soup *s, float (*normals)[3]) {
    double sums[POINTS][3] = {{0}};
    for (int f = 0; f < s->faces; f++)
        for (int at = s->offsets[f]; at < s->offsets[f + 1]; at++) /* to each of its corners, from its own */
            for (int i = s->offsets[f]; i < s->offsets[f + 1]; i++) {
                const float *o = s->positions[s->corners[at]], *a = s->positions[s->corners[i]];
                const float *b = s->positions[s->corners[i + 1 < s->offsets[f + 1] ? i + 1 : s->offsets[f]]];
                for (int c = 0; c < 3; c++) {
                    const int d = (c + 1) % 3, e = (c + 2) % 3;
                    sums[s->corners[at]][c] += ((double)a[d] - (double)o[d]) * ((double)b[e] - (double)o[e]) -
                                               ((double)a[e] - (double)o[e]) * ((double)b[d] - (double)o[d]);
                }
            }
    for (int v = 0; v < s->points; v++) {
        const double length = sqrt(exi_dot3(sums[v], sums[v]));
        for (int c = 0; c < 3; c++)
            normals[v][c] = length > 0 ? (float)(sums[v][c] / length) : 0;
    }
}

/* Normals from faces (or plainly) and from rings, of positions five floats apart, the second of two instances. */
static void compare_normals(const soup *s, bool plainly, double tolerance) {
    laid l = rings_of(s);
    float strided[2][POINTS][5] = {{{0}}}, expected[POINTS][3];
    for (int v = 0; v < s->points; v++)
        memcpy(strided[1][v], s->positions[v], sizeof s->positions[v]);
    ex_normals *normals = NULL;
    const ex_normals_def def = {s->points, s->faces, s->offsets, s->corners, EX_NORMAL_BY_AREA};
    assert_int_equal(ex_normals_create(&def, NULL, &normals, NULL), EX_OK);
    void *scratch = malloc(ex_normals_scratch_size(normals));
    ex_normals_compute(normals, s->positions[0], 0, expected[0], 0, NULL, scratch);
    if (plainly)
        normals_plainly(s, expected);
    const exi_gpu_job job = {.count = 2,
                             .positions = strided[0][0],
                             .position_stride = 5,
                             .position_instance = 5 * POINTS,
                             .level = l.levels.levels[0]};
    for (int v = 0; v < s->points; v++) {
        float normal[3];
        exi_gpu_normal(&job, 1, v, normal);
        for (int c = 0; c < 3; c++)
            assert_near((double)normal[c], (double)expected[v][c], tolerance);
    }
    free(scratch);
    ex_normals_destroy(normals);
    free(l.memory);
}

static int ring_length(const laid *l, int v) {
    return (int)(l->levels.levels[0].ring_starts[v + 1] - l->levels.levels[0].ring_starts[v]);
}

static int chain_count(const laid *l, int v) {
    const exi_gpu_level *level = &l->levels.levels[0];
    int count = 0;
    for (uint32_t i = level->ring_starts[v]; i < level->ring_starts[v + 1]; i++)
        count += (level->rings[i] & EXI_GPU_RING_START) != 0;
    return count;
}

static void move(soup *s, float scale, float offset) {
    for (int i = 0; i < 3 * s->points; i++)
        s->positions[i / 3][i % 3] = s->positions[i / 3][i % 3] * scale + offset;
}

static void random_points(soup *s, uint64_t *random) {
    for (int i = 0; i < 3 * s->points; i++)
        s->positions[i / 3][i % 3] = (float)random_between(random, -1, 1);
}

/* A bumpy sheet of five times six vertices: triangles, quads or both in turn. */
static soup sheet(int kind) {
    soup s = {.points = 30};
    for (int v = 0; v < s.points; v++) {
        s.positions[v][0] = (float)(v % 6);
        s.positions[v][1] = (float)(v / 6);
        s.positions[v][2] = 0.3F * (float)((v * 7) % 5);
    }
    for (int q = 0; q < 20; q++) {
        const int v = q / 5 * 6 + q % 5, quad[4] = {v, v + 1, v + 7, v + 6}, low[3] = {v, v + 1, v + 7};
        const int high[3] = {v, v + 7, v + 6};
        if (kind == 1 || (kind == 2 && q % 2)) {
            add_face(&s, 4, quad);
        } else {
            add_face(&s, 3, low);
            add_face(&s, 3, high);
        }
    }
    return s;
}

static void rings_of_sheets(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        soup s = sheet(kind);
        compare_normals(&s, false, 2e-6);
        move(&s, 1, 1000); /* positions are rounded, and seen alike from both */
        compare_normals(&s, false, 1e-5);
        move(&s, 1, -1000);
        move(&s, 1e-12F, 0);
        compare_normals(&s, false, 1e-5);
        move(&s, 1e24F, 0);
        compare_normals(&s, false, 1e-5);
    }
}

static void rings_are_joined(void **state) {
    (void)state;
    soup s = sheet(0);
    laid l = rings_of(&s);
    for (int v = 0; v < s.points; v++)
        assert_int_equal(chain_count(&l, v), 1);
    assert_int_equal(ring_length(&l, 7), 7); /* six triangles all around */
    assert_int_equal(l.levels.levels[0].rings[l.levels.levels[0].ring_starts[8] - 1] | EXI_GPU_RING_START,
                     l.levels.levels[0].rings[l.levels.levels[0].ring_starts[7]]); /* closed */
    assert_int_equal(ring_length(&l, 0), 3);                                       /* two triangles */
    assert_int_equal(ring_length(&l, 1), 4);                                       /* three along the border */
    free(l.memory);
    s = sheet(1);
    l = rings_of(&s);
    assert_int_equal(ring_length(&l, 7), 9); /* four quads */
    assert_int_equal(ring_length(&l, 0), 3);
    free(l.memory);
    /* Two fans that meet in a vertex, of which one is closed. */
    s = (soup){.points = 7};
    add_face(&s, 3, (const int[]){0, 1, 2});
    add_face(&s, 3, (const int[]){0, 4, 5});
    add_face(&s, 3, (const int[]){0, 2, 3});
    add_face(&s, 3, (const int[]){0, 5, 6});
    add_face(&s, 3, (const int[]){0, 3, 1});
    l = rings_of(&s);
    assert_int_equal(chain_count(&l, 0), 2);
    assert_int_equal(ring_length(&l, 0), 4 + 3);
    free(l.memory);
}

/* Faces at random: edges of many faces, reversed faces, a vertex twice in a face, twice in a row, thrice; vertices
 * without faces. */
static void rings_of_soups(void **state) {
    (void)state;
    uint64_t random = 9;
    for (int round = 0; round < 30; round++) {
        soup s = {.points = POINTS};
        random_points(&s, &random);
        for (int f = 0; f < 12 + round; f++) {
            int corners[7];
            const int size = 3 + f % 5;
            for (int c = 0; c < size; c++)
                corners[c] = (int)(random_bits(&random) % (round % 2 ? 9 : POINTS - 3));
            add_face(&s, size, corners);
        }
        compare_normals(&s, false, 1e-5);
    }
}

/* Vertices without a normal: no faces, faces without extent, a face and its reverse; everything next to them is as
 * usual. */
static void rings_without_normals(void **state) {
    (void)state;
    soup s = {.points = 12};
    uint64_t random = 3;
    random_points(&s, &random);
    for (int c = 0; c < 3; c++) { /* 4 between 3 and 5; 6 where 7 is */
        s.positions[4][c] = 0.5F * (s.positions[3][c] = 0.25F * (float)c);
        s.positions[5][c] = 0;
        s.positions[6][c] = s.positions[7][c];
    }
    add_face(&s, 3, (const int[]){0, 1, 2});
    add_face(&s, 3, (const int[]){2, 1, 0});
    add_face(&s, 3, (const int[]){3, 4, 5});
    add_face(&s, 3, (const int[]){6, 7, 8});
    add_face(&s, 3, (const int[]){9, 9, 9});
    laid l = rings_of(&s);
    const exi_gpu_job job = {
        .count = 1, .positions = s.positions[0], .position_stride = 3, .level = l.levels.levels[0]};
    for (int v = 0; v < s.points; v++) {
        float normal[3] = {7, 7, 7};
        exi_gpu_normal(&job, 0, v, normal);
        assert_true(normal[0] == 0 && normal[1] == 0 && normal[2] == 0);
    }
    free(l.memory);
    compare_normals(&s, false, 0);
    /* A needle, and one that nearly cancels another, for which areas in float are too coarse. */
    s = (soup){.points = 5, .positions = {{0, 0, 0}, {1, 0, 0}, {0.5F, 1e-6F, 0}, {0.5F, -1, 1e-4F}, {0.5F, -1, 0}}};
    add_face(&s, 3, (const int[]){0, 1, 2});
    add_face(&s, 3, (const int[]){0, 3, 1});
    add_face(&s, 3, (const int[]){1, 4, 0});
    compare_normals(&s, true, 1e-6);
    /* Not a number around a vertex: none for it. */
    s.positions[3][1] = NAN;
    compare_normals(&s, false, 1e-5);
}

/* ---- levels ---- */

/* A surface as a rig gives it. */
typedef struct surface {
    int count;
    float *positions, *normals;
    float weights[64];
} surface;

static surface evaluate(const ex_rig *rig, const ex_pose *pose, ex_evaluation how, bool normals) {
    surface s = {.count = ex_rig_level_vertex_count(rig, how.level)};
    const ex_rig_mesh mesh = ex_rig_level_mesh(rig, how.level);
    const size_t entries = (size_t)mesh.split_count;
    double weights[64];
    assert_true(ex_rig_example_count(rig) <= 64);
    s.positions = malloc(entries * 3 * sizeof *s.positions);
    s.normals = malloc(entries * 3 * sizeof *s.normals);
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    assert_true(s.positions && s.normals && scratch);
    const ex_output output = {.positions = s.positions, .normals = normals ? s.normals : NULL, .weights = weights};
    ex_rig_evaluate(rig, pose, &output, &how, scratch);
    for (int k = 0; k < ex_rig_example_count(rig); k++)
        s.weights[k] = (float)weights[k];
    free(scratch);
    return s;
}

static void close_surface(surface *s) {
    free(s->positions);
    free(s->normals);
}

static double size_of(const surface *s) {
    double most = 0;
    for (int i = 0; i < 3 * s->count; i++)
        most = fabs((double)s->positions[i]) > most ? fabs((double)s->positions[i]) : most;
    return most;
}

/* The stages for one level, from the rig's own cage. */
static void compare_level(const ex_rig *rig, const laid *l, const ex_pose *pose, int level, const bool *muted,
                          double tolerance) {
    const exi_gpu_level *laid_level = &l->levels.levels[level == EX_LEVEL_LIMIT ? l->levels.limit : level];
    surface cage = evaluate(rig, pose, (ex_evaluation){.muted = muted}, false);
    surface s = evaluate(rig, pose, (ex_evaluation){.level = level, .muted = muted}, true);
    surface loud = evaluate(rig, pose, (ex_evaluation){0}, false); /* for the weights: muting does not set weights to
                                                                    * 0 */
    float *positions = malloc((size_t)s.count * 3 * sizeof *positions);
    assert_non_null(positions);
    exi_gpu_job job = {.count = 1,
                       .cage = cage.positions,
                       .positions = positions,
                       .position_stride = 3,
                       .work = {.weights = loud.weights},
                       .level = *laid_level};
    for (int i = 0; i < l->head.displacement_count; i++)
        job.displaced |= level != 0 && !(muted && muted[l->head.displacements[i].layer]);
    for (int i = 0; muted && i < ex_rig_layer_count(rig); i++)
        job.muted[i / 32] |= (uint32_t)muted[i] << i % 32;
    const double size = size_of(&s);
    const bool limit_normals = level != 0 && !job.displaced && laid_level->has_tangents;
    assert_int_equal(laid_level->vertices, s.count);
    assert_int_equal(laid_level->has_tangents, level != 0 && ex_stencils_has_tangents(ex_rig_stencils(rig), level));
    for (int v = 0; v < s.count; v++) {
        float normal[3], *position = positions + 3 * v;
        if (level == 0)
            memcpy(position, cage.positions + 3 * v, 3 * sizeof *position);
        else
            exi_gpu_refine(&l->head, &job, 0, v, position, limit_normals ? normal : NULL);
        for (int c = 0; c < 3; c++) {
            assert_near((double)position[c], (double)s.positions[3 * v + c], 1e-6 * size);
            if (limit_normals)
                assert_near((double)normal[c], (double)s.normals[3 * v + c], tolerance);
        }
    }
    for (int v = 0; !limit_normals && v < s.count; v++) {
        float normal[3];
        exi_gpu_normal(&job, 0, v, normal);
        for (int c = 0; c < 3; c++)
            assert_near((double)normal[c], (double)s.normals[3 * v + c], 1e-5);
    }
    free(positions);
    close_surface(&s);
    close_surface(&loud);
    close_surface(&cage);
}

static void levels_are_displaced(void **state) {
    (void)state;
    displaced d;
    displaced_open(&d, 5, 3, 3, true);
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        d.def.options.storage = (ex_storage)storage;
        ex_rig *rig = rig_of(&d.def);
        laid l = laid_of(rig, NULL);
        assert_int_equal(l.levels.count, 4);
        assert_int_equal(l.levels.limit, 3); /* all levels are on the limit surface: it is the last */
        assert_int_equal(l.head.displacement_count, 2);
        double inputs[2] = {0.8, 0.3};
        const ex_pose pose = {.inputs = inputs};
        for (int level = EX_LEVEL_LIMIT; level <= 3; level++)
            for (int mute = 0; mute < 4; mute++) {
                const bool muted[DISPLACED_LAYERS] = {false, (mute & 1) != 0, (mute & 2) != 0};
                compare_level(rig, &l, &pose, level, muted, 1e-5);
            }
        free(l.memory);
        ex_rig_destroy(rig);
    }
    displaced_close(&d);
}

/* A limit next to the levels, and one without levels; seams; muted layers. */
static void levels_and_limits(void **state) {
    (void)state;
    const int parts[3] = {WHOLE_ALL, WHOLE_LIMIT, WHOLE_LEVELS};
    const int counts[3] = {4, 2, 3}, limits[3] = {3, 1, 0};
    for (int i = 0; i < 3; i++) {
        whole_rig w;
        whole_rig_open(&w, 70, parts[i]);
        ex_rig *rig = rig_of(&w.def);
        laid l = laid_of(rig, NULL);
        assert_int_equal(l.levels.count, counts[i]);
        assert_int_equal(l.levels.limit, limits[i]);
        for (int level = limits[i] ? EX_LEVEL_LIMIT : 0; level <= ex_rig_level_count(rig); level++)
            compare_level(rig, &l, NULL, level, NULL, 1e-4); /* random tangents are rarely perpendicular */
        if (limits[i] == 3)                                  /* the last level's faces stand there once */
            assert_ptr_equal(l.levels.levels[3].rings, l.levels.levels[2].rings);
        free(l.memory);
        ex_rig_destroy(rig);
        w.def.options.without_normals = true;
        w.def.options.without_levels = true;
        rig = rig_of(&w.def);
        l = laid_of(rig, NULL);
        assert_int_equal(l.levels.count, 1);
        assert_int_equal(l.levels.limit, 0);
        assert_int_equal(l.levels.levels[0].has_rings, 0);
        free(l.memory);
        ex_rig_destroy(rig);
        whole_rig_close(&w);
    }
}

/* Rows of a tile that a vertex does not need have weight 0, which is not enough if the cage is not finite. */
static void what_is_not_finite_stays(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, 70, WHOLE_LEVELS);
    ex_rig *rig = rig_of(&w.def);
    laid l = laid_of(rig, NULL);
    surface cage = evaluate(rig, NULL, (ex_evaluation){0}, false);
    for (int c = 0; c < 3; c++)
        cage.positions[c] = NAN;
    surface s = evaluate(rig, NULL, (ex_evaluation){.level = 1}, false);
    const exi_gpu_job job = {.count = 1, .cage = cage.positions, .level = l.levels.levels[1]};
    int finite = 0;
    for (int v = 0; v < s.count; v++) {
        float position[3];
        exi_gpu_refine(&l.head, &job, 0, v, position, NULL);
        finite += isfinite(position[0]) != 0;
    }
    assert_int_equal(finite, s.count - 1); /* of the rows of the first eight, only the first has that vertex */
    close_surface(&s);
    close_surface(&cage);
    free(l.memory);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

static void split_vertices(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, 70, WHOLE_LEVELS);
    ex_rig *rig = rig_of(&w.def);
    laid l = laid_of(rig, NULL);
    for (int level = 0; level <= 2; level++) {
        surface plain = evaluate(rig, NULL, (ex_evaluation){.level = level}, true);
        surface split = evaluate(rig, NULL, (ex_evaluation){.level = level, .split = true}, true);
        const exi_gpu_job job = {.count = 1, .level = l.levels.levels[level]};
        float out[256][4] = {{0}};
        exi_gpu_writing writing = {.from = plain.normals, .to = {.data = out, .stride = sizeof out[0]}, .split = true};
        const int entries = exi_gpu_write_count(&job, &writing);
        assert_int_equal(entries, ex_rig_level_mesh(rig, level).split_count);
        assert_true(entries <= 256 && (level == 2 || entries > plain.count));
        for (int e = 0; e < entries; e++) {
            exi_gpu_write(&job, &writing, 0, e);
            assert_memory_equal(out[e], split.normals + 3 * e, 3 * sizeof(float));
            assert_true(out[e][3] == 0);
        }
        writing.split = false;
        assert_int_equal(exi_gpu_write_count(&job, &writing), plain.count);
        close_surface(&plain);
        close_surface(&split);
    }
    free(l.memory);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

/* ---- without memory ---- */

static ex_result attempt(void *context, const ex_allocator *allocator) {
    laid l;
    const ex_result result = lay_out(context, NULL, allocator, &l);
    if (result == EX_OK)
        free(l.memory);
    return result;
}

static void memory_that_runs_out(void **state) {
    (void)state;
    whole_rig w;
    whole_rig_open(&w, 40, WHOLE_ALL);
    ex_rig *rig = rig_of(&w.def);
    assert_true(failing_allocator_sweep(attempt, rig) >= 10);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_of_sheets),          cmocka_unit_test(rings_are_joined),
        cmocka_unit_test(rings_of_soups),           cmocka_unit_test(rings_without_normals),
        cmocka_unit_test(levels_are_displaced),     cmocka_unit_test(levels_and_limits),
        cmocka_unit_test(split_vertices),           cmocka_unit_test(memory_that_runs_out),
        cmocka_unit_test(what_is_not_finite_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
