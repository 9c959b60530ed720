/*
 * Motions of the demos of driven cloth. A motion is a wave for every angle,
 * each with its own two frequencies and phases, so that angles keep meeting in new combinations; they depend only on a
 * seed.
 */
#include "garment.h"

#include <exemplar/maths.h>

#include <stdlib.h>
#include <string.h>

enum { EASE = 30 }; /* frames from rest to the motion, which are not output */

#define PI 3.14159265358979323846

/* Random number in [0, 1) from the mixed bits of n. */
static double chance(uint32_t n) {
    n = (n ^ n >> 16) * 0x7feb352du;
    n = (n ^ n >> 15) * 0x846ca68bu;
    return (double)(n ^ n >> 16) / 4294967296.0;
}

double exi_garment_wave(unsigned seed, unsigned axis, double seconds) {
    static const double lowest[2] = {0.10, 0.24}, highest[2] = {0.20, 0.40}, parts[2] = {0.65, 0.35};
    double sum = 0;
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t number = 1000003u * seed + 4 * axis + 2 * i + 17;
        const double hertz = lowest[i] + (highest[i] - lowest[i]) * chance(number);
        double sine, cosine;
        ex_sin_cos(2 * PI * (hertz * seconds + chance(number + 1)), &sine, &cosine);
        sum += parts[i] * sine;
    }
    return sum;
}

double exi_garment_speed(exi_garment_motion motion) {
    return 0.75 + 0.25 * ((int)motion % 5);
}

/* Frame 0 is the first output frame; before it, from -EASE on, the motion fades in. */
static void pose_driver(const exi_garment *garment, exi_garment_motion motion, int frame, double *positions) {
    const double t = frame < 0 ? (double)(frame + EASE) / EASE : 1;
    garment->pose(garment, motion, frame / GARMENT_FPS, t * t * (3 - 2 * t), positions);
}

typedef struct playing {
    const exi_garment *garment;
    const exi_garment_play *play;
} playing;

static ex_result move(void *user, int frame, double *driver, ex_error *error) {
    const playing *p = user;
    (void)error;
    pose_driver(p->garment, p->play->motion, frame, driver);
    return EX_OK;
}

static const double *guide(void *user, int frame, const double *driver) {
    const playing *p = user;
    return p->play->guide(p->play->user, frame, driver);
}

static ex_result show(void *user, int frame, const double *driver, const double *driven, ex_error *error) {
    const playing *p = user;
    return p->play->frame(p->play->user, frame, driver, driven, error);
}

ex_result exi_garment_simulate(const exi_garment *garment, const exi_garment_play *play, ex_error *error) {
    playing p = {garment, play};
    exi_cloth_play whole = {
        .cloth = garment->cloth,
        .first = play->start ? 0 : -EASE,
        .end = garment->frame_counts[play->motion < GARMENT_MOTIONS ? play->motion : GARMENT_TRAINING],
        .move = move,
        .guide = play->guide ? guide : NULL,
        .frame = play->frame ? show : NULL,
        .user = &p,
        .doing = play->motion == GARMENT_UNSEEN ? "simulating cloth to try it on" : "simulating cloth to learn from",
        .progress = play->progress};
    whole.cloth.cloth = garment->driven;
    whole.cloth.driver = garment->driver;
    whole.cloth.start = play->start;
    whole.cloth.pinned = garment->pinned;
    whole.cloth.gaps = garment->gaps;
    return exi_cloth_simulate(&whole, error);
}

void exi_garment_free(exi_garment *garment) {
    if (garment->release)
        garment->release(garment->body);
    ex_mesh_destroy(garment->driver);
    ex_mesh_destroy(garment->driven);
    ex_scene_destroy(garment->looks);
    free(garment->pinned);
    free(garment->gaps);
    memset(garment, 0, sizeof *garment);
}
