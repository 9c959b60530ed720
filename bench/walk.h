/*
 * bench/walk.h - the keys and frames of 'exemplar bench convex', generated identically for us and for the peer, so this
 * is C and C++: keys in many dimensions, and a form that circles among them, slightly outside their hull. About two
 * thirds of the keys have weight.
 */
#ifndef EXEMPLAR_BENCH_WALK_H
#define EXEMPLAR_BENCH_WALK_H

#include <math.h>

enum { EXI_WALK_FRAMES = 600, EXI_WALK_FORM = 60, EXI_WALK_KEYS_MAX = 64 };

/* gram [count][count]: products of the keys. rows [EXI_WALK_FRAMES][count]: products of each frame's form with them. */
static inline void exi_walk(int count, double *gram, double *rows) {
    static double keys[EXI_WALK_KEYS_MAX][EXI_WALK_FORM];
    unsigned seed = 1;
    for (int i = 0; i < count * EXI_WALK_FORM; i++) {
        seed = seed * 1664525u + 1013904223u;
        keys[i / EXI_WALK_FORM][i % EXI_WALK_FORM] = 2 * ((double)(seed >> 8) / 16777216.0) - 1;
    }
    for (int i = 0; i < count * count; i++) {
        gram[i] = 0;
        for (int k = 0; k < EXI_WALK_FORM; k++)
            gram[i] += keys[i / count][k] * keys[i % count][k];
    }
    for (int f = 0; f < EXI_WALK_FRAMES; f++) {
        double form[EXI_WALK_FORM], sum = 0, share[EXI_WALK_KEYS_MAX];
        const double phase = 6.283185307179586 * f / EXI_WALK_FRAMES;
        for (int i = 0; i < count; i++) {
            const double wave = cos(phase + 2.4 * i) - 0.2;
            share[i] = wave > 0 ? wave : 0;
            sum += share[i];
        }
        for (int k = 0; k < EXI_WALK_FORM; k++) {
            form[k] = 0.05 * cos(3.1 * k + phase);
            for (int i = 0; i < count; i++)
                form[k] += share[i] / sum * keys[i][k];
        }
        for (int i = 0; i < count; i++) {
            double *product = &rows[f * count + i];
            *product = 0;
            for (int k = 0; k < EXI_WALK_FORM; k++)
                *product += keys[i][k] * form[k];
        }
    }
}

#endif
