/*
 * Spaces for tests; see spaces.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/spaces.h"

#include <math.h>
#include <string.h>

void turn_about(double x, double y, double z, double degrees, double q[4]) {
    double half = degrees * (3.14159265358979323846 / 360), length = sqrt(x * x + y * y + z * z);
    q[0] = x / length * sin(half);
    q[1] = y / length * sin(half);
    q[2] = z / length * sin(half);
    q[3] = cos(half);
}

double sum_of(const double *values, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

ex_weigher *weigher_of(const ex_weigher_def *def) {
    ex_weigher *weigher = NULL;
    ex_error error = {0};
    ex_result result = ex_weigher_create(def, NULL, &weigher, &error);
    if (result != EX_OK)
        fail_msg("%s, kernel %s: %s", ex_weigher_kind_name(def->kind), ex_kernel_name(def->kernel), error.text);
    assert_non_null(weigher);
    return weigher;
}

void sample_space_point(const sample_space *s, double ranges, uint64_t *random, double *point) {
    for (int a = 0; a < s->def.axis_count; a++) {
        const ex_axis *axis = &s->axes[a];
        if (axis->kind == EX_AXIS_SCALAR) {
            double middle = 0.5 * (axis->min + axis->max), reach = 0.5 * ranges * (axis->max - axis->min);
            *point++ = random_between(random, middle - reach, middle + reach);
            continue;
        }
        double length = 0, q[4];
        do {
            for (int i = 0; i < 4; i++)
                q[i] = random_between(random, -1, 1);
            length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        } while (!(length > 0.1 && length < 1));
        for (int i = 0; i < 4; i++)
            *point++ = q[i] / length;
    }
}

/* True if a new point keeps its distance from those before it. Random rotations are far enough apart anyway. */
static bool keeps_distance(const sample_space *s, int count, double gap) {
    const double *a = s->points + count * s->dimension;
    for (int j = 0; j < count; j++) {
        const double *b = s->points + j * s->dimension;
        double sum = 0;
        int at = 0;
        for (int i = 0; i < s->def.axis_count; i++) {
            double range = s->axes[i].max - s->axes[i].min;
            if (s->axes[i].kind == EX_AXIS_SCALAR)
                sum += (a[at] - b[at]) * (a[at] - b[at]) / (range * range);
            at += ex_axis_width(&s->axes[i]);
        }
        if (sum < gap * gap)
            return false;
    }
    return true;
}

static void strew(sample_space *s, int example_count, double gap, uint64_t seed) {
    s->def.axes = s->axes;
    s->def.points = s->points;
    s->def.pseudos = s->pseudos;
    s->def.example_count = example_count;
    s->dimension = 0;
    for (int i = 0; i < s->def.axis_count; i++)
        s->dimension += ex_axis_width(&s->axes[i]);
    assert_in_range(example_count, 1, SPACE_POINTS);
    assert_in_range(s->dimension, 1, SPACE_NUMBERS);
    for (int k = 0; k < example_count; k++)
        do
            sample_space_point(s, 1, &seed, s->points + k * s->dimension);
        while (!keeps_distance(s, k, gap));
}

void sample_space_scalars(sample_space *s, int axis_count, int example_count, uint64_t seed) {
    memset(s, 0, sizeof *s);
    s->def = ex_weigher_def_default();
    s->def.axis_count = axis_count;
    for (int a = 0; a < axis_count; a++)
        s->axes[a] = ex_axis_scalar(-2.0 * a, 10.0 + 5.0 * a * a, 1.5);
    strew(s, example_count, 0.4 * pow(example_count, -1.0 / axis_count), seed);
}

void sample_space_mixed(sample_space *s, int example_count, uint64_t seed) {
    memset(s, 0, sizeof *s);
    s->def = ex_weigher_def_default();
    s->def.axis_count = 4;
    s->axes[0] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
    s->axes[1] = ex_axis_scalar(0, 140, 10);
    s->axes[2] = ex_axis_rotation(EX_AXIS_SWING, (double[]){1, 2, 0});
    s->axes[3] = ex_axis_rotation(EX_AXIS_TWIST, (double[]){0, 0, 3});
    strew(s, example_count, 0.3 / example_count, seed);
}

void sample_space_add_pseudo(sample_space *s, const double *at, const double *from) {
    int i = s->def.pseudo_count++;
    assert_in_range(i, 0, SPACE_PSEUDOS - 1);
    memcpy(s->at + i * s->dimension, at, (size_t)s->dimension * sizeof *at);
    memcpy(s->from + i * s->dimension, from, (size_t)s->dimension * sizeof *from);
    s->pseudos[i] = (ex_pseudo){.at = s->at + i * s->dimension, .from = s->from + i * s->dimension};
}
