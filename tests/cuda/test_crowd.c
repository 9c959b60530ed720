/*
 * Patches for crowds, gone through on the host as the crowd's kernel goes through them on the GPU: every vertex of the
 * cage is in one patch, the operands give the rig's positions, and the loops its normals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/lay.h"
#include "cuda/prepare.inl"
#include "cuda/work.h"
#include "runtime/base/memory.h"
#include "support/characters.h"
#include "support/failing_allocator.h"

#include <math.h>
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

static void loop_normal(const exi_crowd *c, int patch, int row, double (*rows)[3], double normal[3]) {
    const uint16_t *ring = c->rings + ((size_t)patch * (size_t)c->rows + (size_t)row) * EXI_CROWD_RING;
    const uint32_t *starts = c->long_starts + (size_t)patch * (size_t)(c->rows + 1) + (size_t)row;
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

static void assert_cut(laid *l, const exi_crowd *c, int rows_most, bool has_rings, int least_patches) {
    const size_t vertices = (size_t)l->head.vertices;
    assert_in_range(c->patch_count, least_patches, 2 * least_patches);
    assert_int_equal(c->has_rings, has_rings);
    assert_int_equal(c->rows, rows_most);
    float *positions = malloc(vertices * 12), *normals = malloc(vertices * 12);
    int *times = calloc(vertices, sizeof *times);
    void *scratch = malloc(ex_rig_scratch_size(l->rig, NULL, 1));
    for (int i = 0; i < INSTANCES; i++) {
        double inputs[CHARACTER_POSE];
        for (int k = 0; k < CHARACTER_POSE; k++)
            inputs[k] = (double)l->inputs[i][k];
        ex_rig_evaluate(l->rig, &(ex_pose){.inputs = inputs, .joints = l->joints[i]},
                        &(ex_output){.positions = positions, .normals = normals}, NULL, scratch);
        for (int patch = 0; patch < c->patch_count; patch++) {
            static double rows[EXI_CROWD_ROWS][3];
            const exi_crowd_patch *p = &c->patches[patch];
            double centre[3];
            move_point(l->job.work.palette +
                           ((size_t)i * CHARACTER_JOINTS + c->joints[(size_t)patch * 8 * (size_t)c->most_joint_steps]) *
                               12,
                       p->centre, centre);
            for (int row = 0; row < p->rows; row++) {
                const uint32_t v = c->sources[(size_t)patch * (size_t)c->rows + (size_t)row];
                shape_row(l, c, patch, i, row, rows[row]);
                for (int k = 0; k < 3; k++)
                    assert_true(fabs(rows[row][k] + centre[k] - (double)positions[3 * v + (uint32_t)k]) < 2e-6);
            }
            for (int row = 0; row < p->owned; row++) {
                const uint32_t v = c->sources[(size_t)patch * (size_t)c->rows + (size_t)row];
                double normal[3];
                times[v]++;
                if (!has_rings)
                    continue;
                loop_normal(c, patch, row, rows, normal);
                for (int k = 0; k < 3; k++)
                    assert_true(fabs(normal[k] - (double)normals[3 * v + (uint32_t)k]) < 5e-5);
            }
        }
    }
    for (size_t v = 0; v < vertices; v++)
        assert_int_equal(times[v], INSTANCES);
    free(positions);
    free(normals);
    free(times);
    free(scratch);
}

static void assert_crowd(int rings, int sides, int least_patches, int least_bare) {
    laid l;
    open_laid(&l, rings, sides, EX_SKINNING_LINEAR);
    assert_cut(&l, &l.head.crowd, EXI_CROWD_ROWS, true, least_patches);
    assert_cut(&l, &l.head.bare, EXI_CROWD_BARE, false, least_bare);
    close_laid(&l);
}

static void test_patches(void **state) {
    (void)state;
    assert_crowd(5, 7, 1, 1);
    assert_crowd(60, 50, 6, 12);
}

/* Dual quaternions go the usual way. */
static void test_others(void **state) {
    (void)state;
    laid l;
    open_laid(&l, 5, 7, EX_SKINNING_DUAL_QUATERNION);
    assert_int_equal(l.head.crowd.patch_count, 0);
    assert_int_equal(l.head.bare.patch_count, 0);
    close_laid(&l);
}

static ex_result attempt(void *context, const ex_allocator *allocator) {
    exi_gpu head;
    exi_gpu_levels levels;
    void *memory = NULL;
    size_t size = 0;
    ex_error error = {EX_OK, ""};
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
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
