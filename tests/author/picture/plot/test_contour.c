/*
 * Contours: a plane and a saddle worked by hand, a circle within half a pixel, regions with holes by their area, all
 * lines of one sense; lines made simpler stay where they were.
 */
#include "support/check.h"
#include "support/fail_alloc.h"

#include "author/picture/plot/contour.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WIDTH = 80, HEIGHT = 60 };
static float grid[HEIGHT * WIDTH];

static void fill_grid(double (*f)(double x, double y)) {
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            grid[y * WIDTH + x] = (float)f(x, y);
}

static double circle(double x, double y) {
    return 20 - hypot(x - 40.3, y - 29.7);
}

static double ring(double x, double y) {
    const double r = hypot(x - 40, y - 30);
    return r < 18 ? r - 10 : 26 - r;
}

static double slope(double x, double y) {
    (void)y;
    return x / 10;
}

static double waves(double x, double y) {
    return sin(x / 5) * cos(y / 7);
}

/* Twice the signed area of a line's points. */
static double double_area(const exi_contour *c, int line) {
    double area = 0;
    for (int i = c->starts[line]; i < c->starts[line + 1]; i++) {
        const double *p = c->points[i], *q = c->points[i + 1 < c->starts[line + 1] ? i + 1 : c->starts[line]];
        area += p[0] * q[1] - q[0] * p[1];
    }
    return area;
}

static void plane_is_one_straight_line(void **state) {
    (void)state;
    exi_contour c;
    fill_grid(slope);
    assert_true(exi_contour_find(grid, WIDTH, HEIGHT, 2.55, &c));
    assert_int_equal(c.line_count, 1);
    assert_false(c.closed[0]);
    assert_int_equal(c.starts[1], HEIGHT);
    for (int i = 0; i < HEIGHT; i++)
        assert_near(c.points[i][0], 25.5, 1e-5);
    assert_near(fabs(c.points[HEIGHT - 1][1] - c.points[0][1]), HEIGHT - 1, 1e-9);
    exi_contour_free(&c);
    assert_true(exi_contour_find(grid, WIDTH, HEIGHT, 100, &c));
    assert_int_equal(c.line_count, 0);
    exi_contour_free(&c);
}

static void circle_is_where_it_should_be(void **state) {
    (void)state;
    exi_contour c;
    fill_grid(circle);
    for (double level = 0; level < 19; level += 3) {
        assert_true(exi_contour_find(grid, WIDTH, HEIGHT, level, &c));
        assert_int_equal(c.line_count, 1);
        assert_true(c.closed[0]);
        for (int i = 0; i < c.starts[1]; i++)
            assert_near(hypot(c.points[i][0] - 40.3, c.points[i][1] - 29.7), 20 - level, level < 17 ? 0.05 : 0.5);
        exi_contour_free(&c);
    }
}

/* Corners 1 and 3 high, 0 and 2 low; the middle decides which pair is joined. */
static void saddle_is_decided_by_its_middle(void **state) {
    (void)state;
    exi_contour c;
    const float high[4] = {-1, 3, 3, -1}, low[4] = {-3, 1, 1, -3};
    for (int i = 0; i < 2; i++) {
        assert_true(exi_contour_find(i ? low : high, 2, 2, 0, &c));
        assert_int_equal(c.line_count, 2);
        for (int k = 0; k < 2; k++) {
            const double *p = c.points[c.starts[k]], *q = c.points[c.starts[k] + 1];
            /* Joined above: lines cut off the low corners (0, 0) and (1, 1); otherwise the high ones. */
            const bool around_low = fabs((p[0] + q[0]) / 2 - (p[1] + q[1]) / 2) < 1e-6;
            assert_int_equal(c.starts[k + 1] - c.starts[k], 2);
            assert_int_equal(around_low, i == 0);
        }
        exi_contour_free(&c);
    }
}

static void lines_have_one_sense(void **state) {
    (void)state;
    exi_contour c;
    fill_grid(waves);
    assert_true(exi_contour_find(grid, WIDTH, HEIGHT, 0.2, &c));
    assert_true(c.line_count > 4);
    for (int k = 0; k < c.line_count; k++) {
        for (int i = c.starts[k]; i + 1 < c.starts[k + 1]; i++) {
            const double *p = c.points[i], *q = c.points[i + 1];
            const double dx = q[0] - p[0], dy = q[1] - p[1], length = hypot(dx, dy);
            if (length < 1e-3)
                continue;
            const double x = (p[0] + q[0]) / 2, y = (p[1] + q[1]) / 2, step = 0.3 / length;
            assert_true(waves(x - step * dy, y + step * dx) > waves(x + step * dy, y - step * dx));
        }
    }
    exi_contour_free(&c);
}

static void regions_have_holes_and_borders(void **state) {
    (void)state;
    const double pi = 3.14159265358979;
    exi_contour c;
    fill_grid(ring);
    assert_true(exi_contour_region(grid, WIDTH, HEIGHT, 0, &c));
    assert_int_equal(c.line_count, 2);
    double area = 0;
    for (int k = 0; k < c.line_count; k++) {
        assert_true(c.closed[k]);
        area += double_area(&c, k) / 2;
    }
    assert_near(fabs(area), pi * (26 * 26 - 10 * 10), 4);
    exi_contour_free(&c);
    /* All of it, and a part up to three borders, to the border itself. */
    fill_grid(slope);
    assert_true(exi_contour_region(grid, WIDTH, HEIGHT, -1, &c));
    assert_int_equal(c.line_count, 1);
    assert_near(fabs(double_area(&c, 0) / 2), (WIDTH - 1) * (HEIGHT - 1), 1e-6);
    exi_contour_free(&c);
    assert_true(exi_contour_region(grid, WIDTH, HEIGHT, 2.5, &c));
    assert_near(fabs(double_area(&c, 0) / 2), (WIDTH - 1 - 25) * (HEIGHT - 1), 0.01);
    exi_contour_free(&c);
}

static void numbers_that_are_none_are_below(void **state) {
    (void)state;
    exi_contour c;
    const float values[9] = {NAN, NAN, NAN, NAN, 1, NAN, NAN, INFINITY, NAN};
    assert_true(exi_contour_find(values, 3, 3, 0, &c));
    for (int i = 0; i < c.starts[c.line_count]; i++)
        assert_true(isfinite(c.points[i][0]) && isfinite(c.points[i][1]));
    exi_contour_free(&c);
}

static double distance_to_line(const double (*points)[2], int count, const double at[2]) {
    double best = INFINITY;
    for (int i = 0; i + 1 < count; i++) {
        const double dx = points[i + 1][0] - points[i][0], dy = points[i + 1][1] - points[i][1];
        const double vx = at[0] - points[i][0], vy = at[1] - points[i][1], square = dx * dx + dy * dy;
        double t = square > 0 ? (vx * dx + vy * dy) / square : 0;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        const double d = hypot(vx - t * dx, vy - t * dy);
        best = d < best ? d : best;
    }
    return best;
}

static void simpler_lines_stay_near(void **state) {
    (void)state;
    enum { COUNT = 500 };
    static double points[COUNT][2], before[COUNT][2];
    uint64_t random = 7;
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < COUNT; i++) {
            const double t = i / 40.0;
            const double x[4] = {i * 0.1, 30 * cos(t), i % 7, random_between(&random, 0, 40)};
            const double y[4] = {20 * sin(t), 30 * sin(2 * t), 0, random_between(&random, 0, 40)};
            before[i][0] = points[i][0] = x[kind];
            before[i][1] = points[i][1] = y[kind];
        }
        const int count = exi_simplify(points, COUNT, 0.05);
        assert_true(kind == 3 || count < COUNT / 3);
        assert_true(points[0][0] == before[0][0] && points[count - 1][1] == before[COUNT - 1][1]);
        for (int i = 0; i < COUNT; i++)
            assert_true(distance_to_line((const double(*)[2])points, count, before[i]) < 0.11);
    }
    assert_int_equal(exi_simplify(points, 2, 1), 2);
}

static ex_result attempt(void *context) {
    (void)context;
    exi_contour c;
    const bool fits = exi_contour_region(grid, 20, 20, 0.1, &c);
    exi_contour_free(&c);
    return fits ? EX_OK : EX_ERROR_MEMORY;
}

static void memory_may_run_out(void **state) {
    (void)state;
    fill_grid(waves);
    assert_true(fail_alloc_sweep(attempt, NULL) >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plane_is_one_straight_line),      cmocka_unit_test(circle_is_where_it_should_be),
        cmocka_unit_test(saddle_is_decided_by_its_middle), cmocka_unit_test(lines_have_one_sense),
        cmocka_unit_test(regions_have_holes_and_borders),  cmocka_unit_test(numbers_that_are_none_are_below),
        cmocka_unit_test(simpler_lines_stay_near),         cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
