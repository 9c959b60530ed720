/*
 * bench/torso.c - the body and the clothes of bench/torso.h.
 */
#include "bench/torso.h"

#include <math.h>

static const double turn = 6.283185307179586;

/* A point on the torso: h from 0 to 1 along it, a from 0 to 1 around it, `off` outside; phase 1 is a complete step. */
static void torso(double h, double a, double off, double phase, float out[3]) {
    const double angle = turn * a, beat = turn * phase;
    const double radius =
        (0.11 + 0.035 * cos(turn * 1.3 * h) + 0.004 * sin(beat + 3 * h)) * sqrt(4 * h * (1 - h) + 0.02);
    const double x = (radius + off) * 1.25 * cos(angle),
                 z = (radius + off) * sin(angle) + 0.006 * sin(6 * angle + 9 * h);
    const double bend = 0.5 * sin(beat) * h * h, twist = 0.35 * cos(beat) * (h - 0.5);
    const double lean = 0.25 * sin(beat + 1), y = 1.2 * h - 0.4 * bend * x;
    const double tx = x * cos(twist) - z * sin(twist), tz = x * sin(twist) + z * cos(twist);
    out[0] = (float)(tx * cos(bend) + y * sin(0.5 * bend) + lean * 0.1);
    out[1] = (float)(y * cos(0.5 * bend) - tx * sin(bend));
    out[2] = (float)(tz + 0.12 * sin(beat + 2 * h) * h);
}

void torso_body(double phase, double walked, float *out) {
    for (int v = 0; v < TORSO_BODY; v++) {
        const int ring = v / TORSO_AROUND;
        const double h = v < TORSO_AROUND * TORSO_RINGS ? (ring + 0.5) / TORSO_RINGS : v - TORSO_AROUND * TORSO_RINGS;
        torso(h, (v % TORSO_AROUND) / (double)TORSO_AROUND, 0, phase, out + 3 * v);
        out[3 * v + 2] += (float)walked;
    }
}

void torso_cloth(double phase, double walked, double off, float *out) {
    for (int v = 0; v < TORSO_CLOTH; v++) {
        const double h = 0.15 + 0.7 * (v / TORSO_CLOTH_AROUND) / TORSO_CLOTH_RINGS,
                     a = (v % TORSO_CLOTH_AROUND) / (double)TORSO_CLOTH_AROUND;
        const double fold = sin(turn * (9 * a + 3 * h + sin(turn * phase))) * sin(turn * (5 * h + phase));
        torso(h, a, off + 0.0015 * fold, phase, out + 3 * v);
        out[3 * v + 2] += (float)walked;
    }
}

void torso_triangles(uint32_t *out) {
    int n = 0;
    for (int f = 0; f < TORSO_AROUND * (TORSO_RINGS - 1); f++) {
        const int ring = f / TORSO_AROUND, a = f % TORSO_AROUND, b = (a + 1) % TORSO_AROUND;
        const int p = ring * TORSO_AROUND + a, q = ring * TORSO_AROUND + b;
        const int corners[6] = {p, p + TORSO_AROUND, q, q, p + TORSO_AROUND, q + TORSO_AROUND};
        for (int i = 0; i < 6; i++)
            out[n++] = (uint32_t)corners[i];
    }
    for (int a = 0; a < TORSO_AROUND; a++) {
        const int b = (a + 1) % TORSO_AROUND, top = TORSO_AROUND * (TORSO_RINGS - 1);
        const int corners[6] = {TORSO_AROUND * TORSO_RINGS, a, b, TORSO_AROUND * TORSO_RINGS + 1, top + b, top + a};
        for (int i = 0; i < 6; i++)
            out[n++] = (uint32_t)corners[i];
    }
}

void torso_cloth_triangles(uint32_t *out) {
    int n = 0;
    for (int f = 0; f < TORSO_CLOTH_AROUND * (TORSO_CLOTH_RINGS - 1); f++) {
        const int ring = f / TORSO_CLOTH_AROUND, a = f % TORSO_CLOTH_AROUND, b = (a + 1) % TORSO_CLOTH_AROUND;
        const int p = ring * TORSO_CLOTH_AROUND + a, q = ring * TORSO_CLOTH_AROUND + b;
        const int corners[6] = {p, p + TORSO_CLOTH_AROUND, q, q, p + TORSO_CLOTH_AROUND, q + TORSO_CLOTH_AROUND};
        for (int i = 0; i < 6; i++)
            out[n++] = (uint32_t)corners[i];
    }
}
