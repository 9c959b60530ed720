/*
 * The effects of a pose on the subject's skin, besides carrying it along: muscles that swell, bones that protrude,
 * folds. They are soft strokes on the skin at rest: around a place, within about `width`, the skin moves along its
 * normal by the given distance if the stroke's effect is 1. All are of the left; the torso's are on both sides where
 * stated.
 */
#include "body.h"

#include "demos/vector.h"

#include <exemplar/maths.h>

#include <string.h>

typedef struct stroke {
    exi_body_way way;
    double at[3], width[3], out;
} stroke;

static const stroke strokes[] = {
    /* the elbow: biceps, triceps, the point of the elbow, the crease, the forearm's belly pressed out */
    {BODY_BENT, {0.285, 1.305, 0.036}, {0.055, 0.050, 0.030}, 0.016},
    {BODY_BENT, {0.270, 1.318, -0.068}, {0.060, 0.060, 0.030}, -0.005},
    {BODY_BENT, {0.374, 1.226, -0.062}, {0.022, 0.022, 0.022}, 0.012},
    {BODY_BENT, {0.352, 1.222, -0.045}, {0.016, 0.016, 0.020}, -0.004},
    {BODY_BENT, {0.382, 1.222, 0.022}, {0.018, 0.018, 0.018}, -0.007},
    {BODY_BENT, {0.430, 1.180, 0.030}, {0.034, 0.032, 0.026}, 0.008},
    {BODY_BENT, {0.425, 1.160, -0.030}, {0.030, 0.030, 0.024}, 0.004},
    /* the forearm's twist: bellies shift, the ends of the bones cross */
    {BODY_TURNED, {0.440, 1.205, 0.010}, {0.040, 0.036, 0.030}, 0.009},
    {BODY_TURNED, {0.445, 1.140, -0.010}, {0.040, 0.036, 0.030}, -0.006},
    {BODY_TURNED, {0.500, 1.118, 0.034}, {0.035, 0.032, 0.024}, -0.006},
    {BODY_TURNED, {0.542, 1.092, -0.020}, {0.018, 0.018, 0.018}, 0.006},
    {BODY_TURNED, {0.535, 1.068, 0.020}, {0.020, 0.020, 0.020}, 0.004},
    /* the wrist: tendons and folds */
    {BODY_FLEXED, {0.545, 1.075, 0.028}, {0.020, 0.020, 0.016}, 0.005},
    {BODY_FLEXED, {0.562, 1.080, -0.020}, {0.022, 0.022, 0.020}, 0.005},
    {BODY_FLEXED, {0.460, 1.155, 0.030}, {0.040, 0.036, 0.024}, 0.004},
    {BODY_EXTENDED, {0.545, 1.062, 0.024}, {0.022, 0.022, 0.018}, -0.003},
    {BODY_EXTENDED, {0.555, 1.084, -0.010}, {0.018, 0.018, 0.018}, 0.007},
    {BODY_EXTENDED, {0.450, 1.180, -0.030}, {0.040, 0.036, 0.024}, 0.006},
    /* the arm raised: the deltoid bunches, the armpit hollows between two folds, the flank is drawn up */
    {BODY_UP, {0.175, 1.458, -0.010}, {0.048, 0.030, 0.050}, 0.012},
    {BODY_UP, {0.215, 1.425, -0.010}, {0.030, 0.030, 0.045}, 0.008},
    {BODY_UP, {0.180, 1.330, -0.010}, {0.040, 0.040, 0.035}, -0.012},
    {BODY_UP, {0.150, 1.320, 0.045}, {0.040, 0.040, 0.026}, 0.007},
    {BODY_UP, {0.150, 1.310, -0.070}, {0.040, 0.045, 0.026}, 0.009},
    {BODY_UP, {0.105, 1.430, -0.020}, {0.020, 0.020, 0.050}, -0.007},
    {BODY_DOWN, {0.200, 1.435, -0.010}, {0.050, 0.040, 0.060}, 0.008},
    {BODY_DOWN, {0.155, 1.325, 0.060}, {0.034, 0.040, 0.030}, 0.010},
    {BODY_DOWN, {0.155, 1.320, -0.070}, {0.034, 0.040, 0.030}, 0.009},
    {BODY_FORWARD, {0.090, 1.320, 0.090}, {0.045, 0.050, 0.034}, 0.012},
    {BODY_FORWARD, {0.185, 1.400, 0.045}, {0.034, 0.036, 0.026}, 0.009},
    {BODY_FORWARD, {0.095, 1.330, -0.100}, {0.034, 0.060, 0.030}, 0.010},
    {BODY_FORWARD, {0.180, 1.390, -0.070}, {0.034, 0.040, 0.026}, -0.006},
    {BODY_BACK, {0.100, 1.320, -0.105}, {0.030, 0.050, 0.030}, 0.013},
    {BODY_BACK, {0.060, 1.320, -0.105}, {0.020, 0.060, 0.030}, -0.006},
    {BODY_BACK, {0.175, 1.395, 0.048}, {0.030, 0.034, 0.026}, -0.007},
    {BODY_BACK, {0.195, 1.395, -0.068}, {0.034, 0.036, 0.026}, 0.009},
    {BODY_IN, {0.230, 1.365, 0.042}, {0.030, 0.036, 0.026}, 0.007},
    {BODY_IN, {0.250, 1.345, -0.062}, {0.040, 0.040, 0.024}, -0.005},
    {BODY_OUT, {0.235, 1.360, -0.066}, {0.034, 0.036, 0.026}, 0.008},
    {BODY_OUT, {0.100, 1.320, 0.088}, {0.040, 0.040, 0.030}, -0.005},
    /* the collar bone */
    {BODY_SHRUG, {0.075, 1.475, -0.020}, {0.034, 0.030, 0.036}, 0.013},
    {BODY_SHRUG, {0.095, 1.440, 0.040}, {0.036, 0.016, 0.020}, -0.007},
    {BODY_SHRUG, {0.105, 1.350, -0.100}, {0.034, 0.040, 0.026}, 0.006},
    {BODY_SINK, {0.080, 1.462, -0.010}, {0.036, 0.026, 0.040}, -0.006},
    {BODY_SINK, {0.090, 1.432, 0.038}, {0.040, 0.013, 0.020}, 0.006},
    {BODY_PROTRACT, {0.080, 1.330, -0.105}, {0.026, 0.060, 0.030}, 0.011},
    {BODY_PROTRACT, {0.110, 1.370, 0.060}, {0.036, 0.036, 0.030}, 0.008},
    {BODY_RETRACT, {0.040, 1.340, -0.100}, {0.026, 0.070, 0.030}, 0.010},
    {BODY_RETRACT, {0.110, 1.360, 0.060}, {0.045, 0.040, 0.030}, -0.006},
    /* the torso: folds of the flank it leans to, ribs of the other; the belly; muscles of the back */
    {BODY_LEFT, {0.140, 1.085, 0.000}, {0.040, 0.022, 0.060}, 0.014},
    {BODY_LEFT, {0.145, 1.055, 0.000}, {0.040, 0.014, 0.060}, -0.007},
    {BODY_LEFT, {-0.150, 1.190, 0.020}, {0.036, 0.060, 0.050}, 0.007},
    {BODY_RIGHT, {-0.140, 1.085, 0.000}, {0.040, 0.022, 0.060}, 0.014},
    {BODY_RIGHT, {-0.145, 1.055, 0.000}, {0.040, 0.014, 0.060}, -0.007},
    {BODY_RIGHT, {0.150, 1.190, 0.020}, {0.036, 0.060, 0.050}, 0.007},
    {BODY_LEAN, {0.000, 1.080, 0.095}, {0.080, 0.022, 0.034}, 0.012},
    {BODY_LEAN, {0.000, 1.045, 0.095}, {0.090, 0.014, 0.034}, -0.006},
    {BODY_LEAN, {0.000, 1.120, -0.085}, {0.020, 0.090, 0.026}, 0.008},
    {BODY_ARCH, {0.034, 1.080, -0.085}, {0.024, 0.070, 0.030}, 0.010},
    {BODY_ARCH, {-0.034, 1.080, -0.085}, {0.024, 0.070, 0.030}, 0.010},
    {BODY_ARCH, {0.000, 1.200, 0.095}, {0.090, 0.034, 0.034}, 0.009},
    {BODY_TWIST_LEFT, {0.060, 1.080, 0.085}, {0.036, 0.080, 0.034}, 0.009},
    {BODY_TWIST_LEFT, {-0.110, 1.120, -0.060}, {0.036, 0.080, 0.034}, 0.008},
    {BODY_TWIST_LEFT, {-0.080, 1.110, 0.080}, {0.034, 0.070, 0.034}, -0.006},
    {BODY_TWIST_RIGHT, {-0.060, 1.080, 0.085}, {0.036, 0.080, 0.034}, 0.009},
    {BODY_TWIST_RIGHT, {0.110, 1.120, -0.060}, {0.036, 0.080, 0.034}, 0.008},
    {BODY_TWIST_RIGHT, {0.080, 1.110, 0.080}, {0.034, 0.070, 0.034}, -0.006},
};

void exi_body_sculpt(const ex_mesh *rest, const double ways[BODY_WAYS], double *positions) {
    exi_creature_flesh flesh;
    exi_body_flesh(&flesh);
    for (int v = 0; v < rest->vertex_count; v++) {
        const double *p = rest->positions + 3 * (size_t)v;
        double out = 0, normal[3];
        for (size_t i = 0; i < sizeof strokes / sizeof *strokes; i++) {
            const stroke *s = &strokes[i];
            double square = 0;
            if (ways[s->way] == 0)
                continue;
            for (int c = 0; c < 3; c++)
                square += (p[c] - s->at[c]) / s->width[c] * ((p[c] - s->at[c]) / s->width[c]);
            out += ways[s->way] * s->out * ex_exp(-square);
        }
        memcpy(positions + 3 * (size_t)v, p, 3 * sizeof *p);
        if (out < 1e-5 && out > -1e-5) /* too small for an offset */
            continue;
        exi_creature_field(&flesh, p, normal);
        normalise3(normal);
        for (int c = 0; c < 3; c++)
            positions[3 * (size_t)v + (size_t)c] += out * normal[c];
    }
}
