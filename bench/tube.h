/*
 * bench/tube.h - the tube of 'exemplar bench warp' and the same tube bent by 120 degrees and wound by 60, generated
 * identically for us and for the peer, so this is C and C++. `around` vertices in each of `along` rings, without lids.
 */
#ifndef EXEMPLAR_BENCH_TUBE_H
#define EXEMPLAR_BENCH_TUBE_H

#include <math.h>

/* start, end [around * along][3]. */
static inline void exi_tube_forms(int around, int along, double *start, double *end) {
    const double length = 6, bend = 2.0943951, wind = 1.0471976;
    for (int i = 0; i < along; i++)
        for (int k = 0; k < around; k++) {
            const double x = length * i / (along - 1), a = 6.2831853 * k / around, b = a + wind * x / length;
            const double turn = bend * x / length, radius = length / bend;
            double *p = start + 3 * (i * around + k), *q = end + 3 * (i * around + k);
            p[0] = x;
            p[1] = cos(a);
            p[2] = sin(a);
            q[0] = (radius - cos(b)) * sin(turn);
            q[1] = radius - (radius - cos(b)) * cos(turn);
            q[2] = sin(b);
        }
}

/* [2 * around * (along - 1)][3] */
static inline void exi_tube_triangles(int around, int along, int *triangles) {
    for (int i = 0; i + 1 < along; i++)
        for (int k = 0; k < around; k++) {
            const int a = i * around + k, b = i * around + (k + 1) % around;
            const int quad[6] = {a, b, b + around, a, b + around, a + around};
            for (int j = 0; j < 6; j++)
                *triangles++ = quad[j];
        }
}

#endif
