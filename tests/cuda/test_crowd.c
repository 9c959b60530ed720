/*
 * Patches for crowds, processed on the host as the crowd's kernel does on the GPU: every vertex of the cage is in one
 * patch, the operands give the rig's positions, and the loops its normals. Also the rigs that have patches, and those
 * that the GPU refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/lay/lay.h"
#include "cuda/stages/prepare.inl"
#include "cuda/work.h"
#include "runtime/base/memory.h"
#include "support/characters.h"
#include "support/failing_allocator.h"
#include "support/tubes.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANCES = 3 };

typedef struct laid {
    character c;
    ex_rig *rig;
    void *memory;
    size_t size;
    exi_gpu head;
    exi_gpu_levels levels;
    exi_gpu_job job;
    void *work;
    ex_transform joints[INSTANCES][CHARACTER_JOINTS];
    float inputs[INSTANCES][CHARACTER_POSE];
} laid;

static double next_number(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

static void open_laid(laid *l, int rings, int sides, ex_skinning skinning) {
    *l = (laid){.size = 0};
    character_open(&l->c, rings, sides, skinning);
    assert_int_equal(ex_rig_create(&l->c.def, NULL, &l->rig, NULL), EX_OK);
    assert_int_equal(exi_gpu_lay(l->rig, NULL, NULL, NULL, &l->memory, &l->size, &l->head, &l->levels, NULL), EX_OK);
    l->work = malloc(exi_gpu_work_lay(&l->head, INSTANCES, NULL, &l->job.work) + 16);
    exi_gpu_work_lay(&l->head, INSTANCES, (char *)(((uintptr_t)l->work + 15) / 16 * 16), &l->job.work);
    unsigned seed = 7;
    for (int i = 0; i < INSTANCES; i++) {
        double inputs[CHARACTER_POSE];
        const ex_pose rest = {.inputs = inputs, .joints = l->joints[i]};
        ex_rig_rest_pose(l->rig, &rest);
        for (int k = 0; k < CHARACTER_POSE; k++)
            l->inputs[i][k] = (float)(inputs[k] + 0.3 * next_number(&seed));
        for (int j = 0; j < CHARACTER_JOINTS; j++)
            for (int k = 0; k < 3; k++)
                l->joints[i][j].rotation[k] += (float)(0.5 * next_number(&seed));
    }
    l->job.count = INSTANCES;
    l->job.skinned = 1;
    l->job.inputs = l->inputs[0];
    l->job.joints = l->joints[0];
    for (int i = 0; i < INSTANCES; i++)
        exi_gpu_prepare(&l->head, &l->job, i, (exi_team){.lane = 0, .lanes = 1});
}

static void close_laid(laid *l) {
    exi_release(NULL, l->memory, l->size);
    free(l->work);
    ex_rig_destroy(l->rig);
    character_close(&l->c);
}

/* Row and column of an operand, as a lane of a warp holds them. */
static float operand(const float *four, int row, int column) {
    return four[4 * (row % 8 * 4 + column % 4) + row / 8 + 2 * (column / 4)];
}

static void move_point(const float *matrix, const float *point, double out[3]) {
    for (int r = 0; r < 3; r++)
        out[r] = (double)matrix[4 * r] * point[0] + (double)matrix[4 * r + 1] * point[1] +
                 (double)matrix[4 * r + 2] * point[2] + matrix[4 * r + 3];
}

/* A row of a patch, from the reference joint's image of the centre. */
static void shape_row(const laid *l, const exi_crowd *c, int patch, int instance, int row, double out[3]) {
    const exi_crowd_patch *p = &c->patches[patch];
    const size_t tile = (size_t)patch * (size_t)(c->rows / 16) + (size_t)(row / 16);
    const float *factors = l->job.work.factors + instance * l->head.forms;
    const uint16_t *joints = c->joints + (size_t)patch * 8 * (size_t)c->most_joint_steps;
    const float *palette = l->job.work.palette + (size_t)instance * (size_t)l->head.joints * 12;
    double x[3], centre[3];
    for (int k = 0; k < 3; k++) {
        x[k] = (double)c->base[(tile * 6 + (size_t)(3 * (row % 16 / 8) + k)) * 32 + (size_t)(row % 8 * 4 + 3)];
        for (int form = 0; form < l->head.sum_forms; form++)
            x[k] +=
                (double)factors[form] *
                (double)operand(c->forms + ((tile * (size_t)c->form_steps + (size_t)(form / 8)) * 3 + (size_t)k) * 128,
                                row % 16, form % 8);
        out[k] = 0;
    }
    const float *reference = palette + 12 * joints[0];
    move_point(reference, p->centre, centre);
    for (int i = 0; i < 8 * p->joint_steps; i++) {
        const float weight =
            operand(c->skin + ((size_t)p->skin + (size_t)(row / 16) * (size_t)p->joint_steps + (size_t)(i / 8)) * 128,
                    row % 16, i % 8);
        if (i >= p->joint_count) {
            assert_true(weight == 0);
            continue;
        }
        const float *m = palette + 12 * joints[i];
        double moved[3];
        move_point(m, p->centre, moved);
        for (int r = 0; r < 3; r++) {
            double sum = i == 0 ? 0 : moved[r] - centre[r];
            for (int k = 0; k < 3; k++)
                sum += ((double)m[4 * r + k] - (i == 0 ? 0 : (double)reference[4 * r + k])) * x[k];
            out[r] += (double)weight * sum;
        }
    }
}

static void add_pair(const double a[3], const double b[3], const double previous[3], double sum[3]) {
    for (int c = 0; c < 3; c++) {
        const int y = (c + 1) % 3, z = (c + 2) % 3;
        sum[c] += a[y] * (b[z] - previous[z]) - a[z] * (b[y] - previous[y]);
    }
}

static void loop_normal(const laid *l, int patch, int row, double (*rows)[3], double normal[3]) {
    const exi_crowd *c = &l->head.crowd;
    const uint16_t *ring = c->rings + ((size_t)patch * EXI_CROWD_ROWS + (size_t)row) * EXI_CROWD_RING;
    const uint32_t *starts = c->long_starts + (size_t)patch * (EXI_CROWD_ROWS + 1) + (size_t)row;
    const uint32_t more = starts[1] - starts[0];
    uint32_t loop[64];
    assert_true(more % 2 == 0 && more <= 56);
    assert_true(more == 0 || c->patches[patch].has_long_rings);
    for (uint32_t k = 0; k < 8 + more; k++)
        loop[k] = (k < 8 ? ring[k] : c->long_rings[starts[0] + k - 8]) / 12;
    normal[0] = normal[1] = normal[2] = 0;
    for (uint32_t k = 0; k < 8 + more; k += 2)
        add_pair(rows[loop[k]], rows[loop[k + 1]], rows[loop[k == 0 ? 7 + more : k - 1]], normal);
    const double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int k = 0; k < 3; k++)
        normal[k] /= length;
}

/* Runs of vertices are written in their order, four at a time. */
static void assert_runs(const exi_crowd *c) {
    uint32_t next = 0;
    for (int patch = 0; patch < c->patch_count; patch++) {
        const exi_crowd_patch *p = &c->patches[patch];
        assert_true(p->owned % 4 == 0 || patch == c->patch_count - 1);
        for (int row = 0; row < p->owned; row++)
            assert_int_equal(c->sources[(size_t)patch * (size_t)c->rows + (size_t)row], next++);
    }
}

/* One instance: positions, and normals of patches that have neighbours; and the number of patches that own each
 * vertex. */
static void assert_patches(const laid *l, const exi_crowd *c, int instance, const float *positions,
                           const float *normals, int *times) {
    for (int patch = 0; patch < c->patch_count; patch++) {
        static double rows[EXI_CROWD_ROWS][3];
        const exi_crowd_patch *p = &c->patches[patch];
        const uint32_t *sources = c->sources + (size_t)patch * (size_t)c->rows;
        const size_t reference = c->joints[(size_t)patch * 8 * (size_t)c->most_joint_steps];
        double centre[3], normal[3];
        assert_true(p->rows <= c->rows && (c->has_rings || p->rows == p->owned));
        move_point(l->job.work.palette + ((size_t)instance * CHARACTER_JOINTS + reference) * 12, p->centre, centre);
        for (int row = 0; row < p->rows; row++) {
            shape_row(l, c, patch, instance, row, rows[row]);
            for (uint32_t k = 0; k < 3; k++)
                assert_true(fabs(rows[row][k] + centre[k] - (double)positions[3 * sources[row] + k]) < 2e-6);
        }
        for (int row = 0; row < p->owned; row++) {
            times[sources[row]]++;
            if (!c->has_rings)
                continue;
            loop_normal(l, patch, row, rows, normal);
            for (uint32_t k = 0; k < 3; k++)
                assert_true(fabs(normal[k] - (double)normals[3 * sources[row] + k]) < 5e-5);
        }
    }
}

static void assert_crowd(int rings, int sides, int least_patches, int least_bare) {
    laid l;
    open_laid(&l, rings, sides, EX_SKINNING_LINEAR);
    const size_t vertices = (size_t)rings * (size_t)sides;
    const exi_crowd *both[2] = {&l.head.crowd, &l.head.bare};
    assert_in_range(l.head.crowd.patch_count, least_patches, 2 * least_patches);
    assert_int_equal(l.head.bare.patch_count, least_bare);
    assert_true(l.head.crowd.has_rings && !l.head.bare.has_rings && l.head.bare.runs);
    float *positions = malloc(vertices * 12), *normals = malloc(vertices * 12);
    int *times = calloc(vertices, sizeof *times);
    void *scratch = malloc(ex_rig_scratch_size(l.rig, NULL, 1));
    for (int i = 0; i < INSTANCES; i++) {
        double inputs[CHARACTER_POSE];
        for (int k = 0; k < CHARACTER_POSE; k++)
            inputs[k] = (double)l.inputs[i][k];
        ex_rig_evaluate(l.rig, &(ex_pose){.inputs = inputs, .joints = l.joints[i]},
                        &(ex_output){.positions = positions, .normals = normals}, NULL, scratch);
        for (int b = 0; b < 2; b++)
            assert_patches(&l, both[b], i, positions, normals, times);
    }
    for (size_t v = 0; v < vertices; v++)
        assert_int_equal(times[v], 2 * INSTANCES);
    for (int b = 0; b < 2; b++)
        if (both[b]->runs)
            assert_runs(both[b]);
    free(positions);
    free(normals);
    free(times);
    free(scratch);
    close_laid(&l);
}

static void test_patches(void **state) {
    (void)state;
    assert_crowd(5, 7, 1, 1);
    assert_crowd(60, 50, 6, 12);
}

/* ---- rigs with patches ---- */

enum { SIDES_MOST = 128, FORMS_MOST = 300, JOINTS_MOST = 40 };

/* A fan of triangles around vertex 0; layers of one dial and one form each; joints that each move their vertices. */
static ex_rig *make_fan(int sides, int forms, int joints) {
    static const float delta[SIDES_MOST + 1][3] = {{0, 0, 0.5F}};
    static const float *const deltas[1] = {delta[0]};
    static const char *const dials[1] = {"dial"}, *const examples[1] = {"up"};
    const ex_axis axis = ex_axis_scalar(0, 1, 0);
    float positions[SIDES_MOST + 1][3] = {{0, 0, 1}}, weights[SIDES_MOST + 1];
    uint32_t sizes[SIDES_MOST], corners[SIDES_MOST][3], starts[SIDES_MOST + 2], joint_of[SIDES_MOST + 1];
    ex_layer_def layers[FORMS_MOST];
    char names[FORMS_MOST][24];
    ex_transform rest[JOINTS_MOST];
    int parents[JOINTS_MOST];
    ex_skeleton *skeleton = NULL;
    ex_skin *skin = NULL;
    for (int i = 0; i < sides; i++) {
        positions[1 + i][0] = cosf(6.2831853F * (float)i / (float)sides);
        positions[1 + i][1] = sinf(6.2831853F * (float)i / (float)sides);
        positions[1 + i][2] = 0.1F * (float)(i % 3);
        sizes[i] = 3;
        corners[i][0] = 0;
        corners[i][1] = (uint32_t)(1 + i);
        corners[i][2] = (uint32_t)(1 + (i + 1) % sides);
    }
    for (int i = 0; i < forms; i++) {
        snprintf(names[i], sizeof names[i], "layer %d", i);
        layers[i] = (ex_layer_def){.name = names[i],
                                   .domain = EX_DOMAIN_FORM,
                                   .weigh = ex_weigher_def_default(),
                                   .axis_names = dials,
                                   .example_names = examples,
                                   .form.deltas = deltas,
                                   .trajectory.reference = -1};
        layers[i].weigh.kind = EX_WEIGHER_DIRECT;
        layers[i].weigh.axes = &axis;
        layers[i].weigh.axis_count = layers[i].weigh.example_count = 1;
    }
    for (int v = 0; v <= sides && joints > 0; v++) {
        starts[v] = (uint32_t)v;
        joint_of[v] = (uint32_t)(v % joints);
        weights[v] = 1;
    }
    starts[sides + 1] = (uint32_t)(sides + 1);
    for (int j = 0; j < joints; j++) {
        rest[j] = ex_transform_identity();
        parents[j] = j - 1;
    }
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = sides + 1,
                             .split_count = sides + 1,
                             .positions = positions[0],
                             .face_count = sides,
                             .corner_count = 3 * sides,
                             .face_sizes = sizes,
                             .corners = corners[0],
                             .triangle_count = sides,
                             .triangles = corners[0]};
    def.layers = layers;
    def.layer_count = forms;
    if (joints > 0) {
        const ex_skeleton_def bones = {.joint_count = joints, .parents = parents, .rest = rest};
        assert_int_equal(ex_skeleton_create(&bones, NULL, &skeleton, NULL), EX_OK);
        assert_int_equal(
            ex_skin_create(&(ex_skin_def){sides + 1, joints, starts, joint_of, weights}, NULL, &skin, NULL), EX_OK);
        def.skeleton = skeleton;
        def.skin = skin;
    }
    ex_rig *rig = rig_of(&def);
    ex_skin_destroy(skin);
    ex_skeleton_destroy(skeleton);
    return rig;
}

/* Number of patches of a rig, which is then destroyed. */
static int count_patches(ex_rig *rig) {
    laid l = {.rig = rig};
    assert_int_equal(exi_gpu_lay(rig, NULL, NULL, NULL, &l.memory, &l.size, &l.head, &l.levels, NULL), EX_OK);
    exi_release(NULL, l.memory, l.size);
    ex_rig_destroy(rig);
    assert_int_equal(l.head.bare.patch_count, l.head.crowd.patch_count); /* they are small */
    return l.head.crowd.patch_count;
}

/* Forms and linear skinning, as many as fit the kernel; all other rigs use the usual path. */
static void test_others(void **state) {
    (void)state;
    character c;
    for (int skinning = 0; skinning < EX_SKINNING_COUNT; skinning++)
        for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
            character_open(&c, 5, 7, (ex_skinning)skinning);
            c.def.options.storage = (ex_storage)storage;
            assert_int_equal(count_patches(rig_of(&c.def)),
                             skinning == EX_SKINNING_LINEAR && storage == EX_STORAGE_FLOAT);
            character_close(&c);
        }
    static const int parts[] = {0, WHOLE_OFFSETS, WHOLE_PATHS, WHOLE_SKELETON | WHOLE_SKIN};
    for (int i = 0; i < 4; i++) {
        whole_rig w;
        whole_rig_open(&w, 70, parts[i]);
        assert_int_equal(count_patches(rig_of(&w.def)), i == 0 || i == 3);
        whole_rig_close(&w);
    }
    assert_int_equal(count_patches(make_fan(40, EXI_CROWD_FORM_MAX, 32)), 1);
    assert_int_equal(count_patches(make_fan(40, EXI_CROWD_FORM_MAX + 1, 32)), 0);
    assert_int_equal(count_patches(make_fan(40, 1, 33)), 0);
    assert_int_equal(count_patches(make_fan(40, 1, 0)), 1);
}

/* A rig without a skin, at rest: its positions are the base, and the loops give its normals. Destroys it. */
static void assert_at_rest(ex_rig *rig, bool runs) {
    laid l = {.rig = rig};
    const exi_crowd *c = &l.head.crowd;
    const size_t vertices = (size_t)ex_rig_vertex_count(rig);
    float *positions = malloc(vertices * 12), *normals = malloc(vertices * 12);
    int *times = calloc(vertices, sizeof *times);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    ex_rig_evaluate(rig, NULL, &(ex_output){.positions = positions, .normals = normals}, NULL, scratch);
    assert_int_equal(exi_gpu_lay(rig, NULL, NULL, NULL, &l.memory, &l.size, &l.head, &l.levels, NULL), EX_OK);
    assert_int_equal(c->runs, runs);
    for (int patch = 0; patch < c->patch_count; patch++) {
        static double rows[EXI_CROWD_ROWS][3];
        const exi_crowd_patch *p = &c->patches[patch];
        const uint32_t *sources = c->sources + (size_t)patch * EXI_CROWD_ROWS;
        const float *base = c->base + (size_t)patch * (EXI_CROWD_ROWS / 16) * 6 * 32;
        double normal[3];
        for (int row = 0; row < p->rows; row++)
            for (int k = 0; k < 3; k++) {
                rows[row][k] = (double)base[(row / 16 * 6 + row % 16 / 8 * 3 + k) * 32 + row % 8 * 4];
                assert_true(fabs(rows[row][k] + (double)p->centre[k] -
                                 (double)positions[3 * sources[row] + (uint32_t)k]) < 1e-6);
            }
        for (int row = 0; row < p->owned; row++) {
            times[sources[row]]++;
            loop_normal(&l, patch, row, rows, normal);
            for (uint32_t k = 0; k < 3; k++)
                assert_true(fabs(normal[k] - (double)normals[3 * sources[row] + k]) < 1e-5);
        }
    }
    for (size_t v = 0; v < vertices; v++)
        assert_int_equal(times[v], 1);
    free(positions);
    free(normals);
    free(times);
    free(scratch);
    exi_release(NULL, l.memory, l.size);
    ex_rig_destroy(rig);
}

/* Loops of every length, and vertices of the border. */
static void test_loops(void **state) {
    (void)state;
    for (int sides = 3; sides < 40; sides++)
        assert_at_rest(make_fan(sides, 1, 0), true);
}

/* Consecutive vertices that are not near each other: the cage is divided by position. */
static void test_cut(void **state) {
    (void)state;
    enum { SIDE = 36, COUNT = SIDE * SIDE, FACES = (SIDE - 1) * (SIDE - 1) };
    static float positions[COUNT][3];
    static uint32_t sizes[FACES], corners[FACES][4], number[COUNT];
    for (int v = 0; v < COUNT; v++) {
        number[v] = (uint32_t)(v * 587 % COUNT);
        float *at = positions[number[v]];
        at[0] = (float)(v % SIDE) / SIDE;
        at[1] = (float)(v / SIDE) / SIDE;
        at[2] = 0.01F * (float)(v % 7 % 3);
    }
    for (int f = 0; f < FACES; f++) {
        const int v = f / (SIDE - 1) * SIDE + f % (SIDE - 1);
        sizes[f] = 4;
        corners[f][0] = number[v];
        corners[f][1] = number[v + 1];
        corners[f][2] = number[v + SIDE + 1];
        corners[f][3] = number[v + SIDE];
    }
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = COUNT,
                             .split_count = COUNT,
                             .positions = positions[0],
                             .face_count = FACES,
                             .corner_count = 4 * FACES,
                             .face_sizes = sizes,
                             .corners = corners[0]};
    assert_at_rest(rig_of(&def), false);
}

/* ---- errors ---- */

static void refuse(ex_rig *rig, ex_result expected, const char *part) {
    laid l = {.rig = rig};
    ex_error error = {.result = EX_OK};
    assert_int_equal(exi_gpu_lay(rig, NULL, NULL, NULL, &l.memory, &l.size, &l.head, &l.levels, &error), expected);
    assert_non_null(strstr(error.text, part));
    assert_null(l.memory);
    ex_rig_destroy(rig);
}

static void test_refused(void **state) {
    (void)state;
    driven_tube *tube = driven_tube_make(1, EX_RESIDUAL_NONE, false);
    refuse(rig_of(&tube->def), EX_ERROR_ARGUMENT, "is weighed by 'convex', which has no GPU code");
    free(tube);
    assert_int_equal(count_patches(make_fan(3, EXI_GPU_LAYER_MAX, 0)), 0);
    refuse(make_fan(3, EXI_GPU_LAYER_MAX + 1, 0), EX_ERROR_LIMIT, "257 layers");
}

/* ---- memory ---- */

static ex_result attempt(void *context, const ex_allocator *allocator) {
    exi_gpu head;
    exi_gpu_levels levels;
    void *memory = NULL;
    size_t size = 0;
    ex_error error = {.result = EX_OK};
    const ex_result result = exi_gpu_lay(context, NULL, NULL, allocator, &memory, &size, &head, &levels, &error);
    if (result == EX_OK)
        exi_release(allocator, memory, size);
    else
        assert_true(error.text[0] != 0);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    character c;
    ex_rig *rig = NULL;
    character_open(&c, 5, 7, EX_SKINNING_LINEAR);
    assert_int_equal(ex_rig_create(&c.def, NULL, &rig, NULL), EX_OK);
    assert_true(failing_allocator_sweep(attempt, rig) > 5);
    ex_rig_destroy(rig);
    character_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patches), cmocka_unit_test(test_others),  cmocka_unit_test(test_loops),
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_refused), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
