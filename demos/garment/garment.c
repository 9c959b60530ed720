/*
 * Simulates driven cloth: moves the driver frame by frame, and the cloth after it. A motion is a wave for every angle,
 * each with its own two frequencies and phases, so that angles keep meeting in new combinations; they depend only on a
 * seed.
 */
#include "garment.h"

#include "common/array.h"

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

static ex_result simulate(const exi_garment *garment, const exi_garment_play *play, exi_cloth *cloth, double *driver,
                          ex_error *error) {
    const int count = garment->frame_counts[play->motion < GARMENT_MOTIONS ? play->motion : GARMENT_TRAINING],
              first = play->start ? 0 : -EASE;
    ex_result result = EX_OK;
    for (int frame = first; result == EX_OK && frame < count; frame++) {
        if (play->progress)
            play->progress->report(play->progress->user,
                                   play->motion == GARMENT_UNSEEN ? "simulating cloth to try it on"
                                                                  : "simulating cloth to learn from",
                                   (double)(frame - first) / (count - first));
        pose_driver(garment, play->motion, frame, driver);
        if (!play->start || frame > 0)
            exi_cloth_step(cloth, driver, play->guide ? play->guide(play->user, frame, driver) : NULL);
        if (play->frame && frame >= 0)
            result = play->frame(play->user, frame, driver, exi_cloth_positions(cloth), error);
    }
    return result;
}

ex_result exi_garment_simulate(const exi_garment *garment, const exi_garment_play *play, ex_error *error) {
    const size_t count = 3 * (size_t)garment->driver->vertex_count;
    double *driver = array_allocate(count, sizeof *driver);
    ex_mesh *begin = ex_mesh_copy(garment->driver);
    exi_cloth *cloth = NULL;
    ex_result result =
        driver && begin ? EX_OK : ex_error_memory(error, "the driver of a cloth", count * sizeof *driver);
    if (result == EX_OK) {
        exi_cloth_def def = garment->cloth;
        def.cloth = garment->driven;
        def.driver = begin;
        def.start = play->start;
        def.pinned = garment->pinned;
        pose_driver(garment, play->motion, play->start ? 0 : -EASE, begin->positions);
        result = exi_cloth_create(&def, &cloth, error);
    }
    if (result == EX_OK)
        result = simulate(garment, play, cloth, driver, error);
    exi_cloth_destroy(cloth);
    ex_mesh_destroy(begin);
    free(driver);
    return result;
}

void exi_garment_free(exi_garment *garment) {
    if (garment->release)
        garment->release(garment->body);
    ex_mesh_destroy(garment->driver);
    ex_mesh_destroy(garment->driven);
    free(garment->pinned);
    memset(garment, 0, sizeof *garment);
}
