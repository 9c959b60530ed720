/*
 * bars.h - a bar for tests of trajectories: four corners at every place along x, bent in the plane of x and y by an
 * angle over its entire length; and rigidly turned forms of it.
 */
#ifndef EXEMPLAR_TESTS_BARS_H
#define EXEMPLAR_TESTS_BARS_H

#include "projects.h"

enum { BAR_PARTS = 4, BAR_VERTICES = 4 * (BAR_PARTS + 1), BAR_FACES = 4 * BAR_PARTS + 2 };

/* Position of a corner, 4 units along and 1 thick. */
static inline void bar_corner(double angle, int v, double p[3]) {
    static const double corners[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    const double s = v / 4 * (4.0 / BAR_PARTS), bend = angle / 4, a = corners[v % 4][0];
    const double x = angle == 0 ? s : sin(bend * s) / bend, y = angle == 0 ? 0 : (1 - cos(bend * s)) / bend;
    p[0] = x - a * sin(bend * s);
    p[1] = y + a * cos(bend * s);
    p[2] = corners[v % 4][1];
}

/* The bar bent by an angle, then turned about z by another and lifted. backwards: its faces are reversed. */
static inline void write_bar_as(const char *name, double angle, double turn, double lift, bool backwards) {
    char text[8000];
    size_t size = 0;
    for (int v = 0; v < BAR_VERTICES; v++) {
        double p[3];
        bar_corner(angle, v, p);
        size += (size_t)snprintf(text + size, sizeof text - size, "v %.17g %.17g %.17g\n",
                                 cos(turn) * p[0] - sin(turn) * p[1], sin(turn) * p[0] + cos(turn) * p[1], p[2] + lift);
    }
    for (int f = 0; f < BAR_FACES; f++) {
        const int ring = 4 * (f / 4), side = f % 4, last = 4 * BAR_PARTS;
        int c[4] = {ring + side, ring + (side + 1) % 4, ring + 4 + (side + 1) % 4, ring + 4 + side};
        for (int i = 0; f >= 4 * BAR_PARTS && i < 4; i++)
            c[i] = f == 4 * BAR_PARTS ? 3 - i : last + i;
        size += (size_t)snprintf(text + size, sizeof text - size, "f %d %d %d %d\n", c[backwards ? 3 : 0] + 1,
                                 c[backwards ? 2 : 1] + 1, c[backwards ? 1 : 2] + 1, c[backwards ? 0 : 3] + 1);
    }
    assert_true(size < sizeof text);
    write_text(name, text);
}

static inline void write_bar(const char *name, double angle) {
    write_bar_as(name, angle, 0, 0, false);
}

/* m.obj straight, a.obj bent one way, b.obj the other, t.obj rigidly turned. */
static inline int write_bars(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_bar("m.obj", 0);
    write_bar("a.obj", 2.2);
    write_bar("b.obj", -1.4);
    write_bar_as("t.obj", 0, 2.5, 3, false);
    return 0;
}

#endif
