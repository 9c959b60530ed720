/*
 * Matrices, rotations and skins for tests; see poses.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/poses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void oracle_matrix(const ex_transform *t, double m[12]) {
    double x = (double)t->rotation[0], y = (double)t->rotation[1], z = (double)t->rotation[2],
           w = (double)t->rotation[3];
    double n = x * x + y * y + z * z + w * w;
    double r[9] = {
        (w * w + x * x - y * y - z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n, 2 * (x * y + w * z) / n,
        (w * w - x * x + y * y - z * z) / n, 2 * (y * z - w * x) / n, 2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n,
        (w * w - x * x - y * y + z * z) / n};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            m[4 * i + j] = r[3 * i + j] * (double)t->scale[j];
        m[4 * i + 3] = (double)t->translation[i];
    }
}

void oracle_multiply(const double a[12], const double b[12], double out[12]) {
    double result[12];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            result[4 * i + j] = j == 3 ? a[4 * i + 3] : 0;
            for (int k = 0; k < 3; k++)
                result[4 * i + j] += a[4 * i + k] * b[4 * k + j];
        }
    memcpy(out, result, sizeof result);
}

bool oracle_invert(const double m[12], double out[12]) {
    double rows[4][8] = {{0}};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            rows[i][j] = i < 3 ? m[4 * i + j] : j == 3;
        rows[i][4 + i] = 1;
    }
    for (int k = 0; k < 4; k++) {
        int pivot = k;
        for (int i = k + 1; i < 4; i++)
            pivot = fabs(rows[i][k]) > fabs(rows[pivot][k]) ? i : pivot;
        if (!(fabs(rows[pivot][k]) > 0))
            return false;
        for (int j = 0; j < 8; j++) {
            double t = rows[k][j];
            rows[k][j] = rows[pivot][j];
            rows[pivot][j] = t;
        }
        double inverse = 1 / rows[k][k];
        for (int j = 0; j < 8; j++)
            rows[k][j] *= inverse;
        for (int i = 0; i < 4; i++) {
            double factor = i == k ? 0 : rows[i][k];
            for (int j = 0; j < 8; j++)
                rows[i][j] -= factor * rows[k][j];
        }
    }
    for (int i = 0; i < 12; i++)
        out[i] = rows[i / 4][4 + i % 4];
    return true;
}

void oracle_apply(const double m[12], const double x[3], double out[3]) {
    double result[3];
    for (int i = 0; i < 3; i++)
        result[i] = m[4 * i] * x[0] + m[4 * i + 1] * x[1] + m[4 * i + 2] * x[2] + m[4 * i + 3];
    memcpy(out, result, sizeof result);
}

ex_transform turned(double degrees, double x, double y, double z) {
    ex_transform t = ex_transform_identity();
    double half = degrees * acos(-1.0) / 360, length = sqrt(x * x + y * y + z * z);
    t.rotation[0] = (float)(sin(half) * x / length);
    t.rotation[1] = (float)(sin(half) * y / length);
    t.rotation[2] = (float)(sin(half) * z / length);
    t.rotation[3] = (float)cos(half);
    return t;
}

ex_transform random_rigid(uint64_t *random, double reach) {
    ex_transform t = ex_transform_identity();
    for (int i = 0; i < 4; i++)
        t.rotation[i] = (float)random_between(random, -1, 1);
    for (int i = 0; i < 3; i++)
        t.translation[i] = (float)random_between(random, -reach, reach);
    return t;
}

ex_skin *random_skin(uint64_t *random, int vertex_count, int joint_count, int most) {
    uint32_t *starts = malloc(((size_t)vertex_count + 1) * sizeof *starts);
    uint32_t *joints = malloc((size_t)vertex_count * (size_t)most * sizeof *joints + 4);
    float *weights = malloc((size_t)vertex_count * (size_t)most * sizeof *weights + 4);
    uint32_t end = 0;
    starts[0] = 0;
    for (int v = 0; v < vertex_count; v++) {
        int count = 1 + (int)(random_bits(random) % (uint64_t)most);
        for (int i = 0; i < count; i++, end++) {
            joints[end] = (uint32_t)(random_bits(random) % (uint64_t)joint_count);
            weights[end] = (float)random_between(random, 0.05, 1);
        }
        starts[v + 1] = end;
    }
    ex_skin_def def = {vertex_count, joint_count, starts, joints, weights};
    ex_skin *skin = NULL;
    ex_error error = {0};
    if (ex_skin_create(&def, NULL, &skin, &error) != EX_OK)
        fail_msg("%s", error.text);
    free(starts);
    free(joints);
    free(weights);
    return skin;
}

void random_rows(uint64_t *random, float *rows, int count, int width, bool unit) {
    for (int v = 0; v < count; v++) {
        double length = 0;
        for (int c = 0; c < 3; c++) {
            double value = random_between(random, -1, 1);
            rows[width * v + c] = (float)value;
            length += value * value;
        }
        for (int c = 0; unit && c < 3; c++)
            rows[width * v + c] = (float)((double)rows[width * v + c] / sqrt(length));
        if (width == 4)
            rows[4 * v + 3] = random_bits(random) % 2 ? 1.0f : -1.0f;
    }
}

ex_palette *palette_of(ex_skinning method, int joint_count, const float *matrices, const float *centres,
                       void **memory) {
    ex_palette_def def = {method, joint_count, matrices, centres, false, NULL, 0};
    *memory = malloc(ex_palette_size(method, joint_count));
    ex_palette *palette = ex_palette_make(&def, *memory);
    assert_non_null(palette);
    return palette;
}
