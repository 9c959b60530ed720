/*
 * The demo `shirt` (DrivenShape, figures 1 and 7): a figure with a long-sleeved shirt that walks on the spot, turns,
 * bows, twists and moves its arms; the shirt is simulated. One motion is there to learn from; the other, in which the
 * same angles meet in other combinations and at other speeds, to try what was learnt.
 */
#include "shirt.h"
#include "garment.h"

#include "runtime/base/functions.inl"
#include "runtime/base/result.h"

#include <string.h>

#define PI 3.14159265358979323846

enum { TRAINING_FRAMES = 280, UNSEEN_FRAMES = 120 };

/* Which bone turns about which axis, by how many degrees: the middle and how far to either side. Of a pair the left;
 * the right mirrors it, with a wave of its own. */
static const struct {
    int bone, axis;
    double middle, swing;
} table[] = {
    {SHIRT_HIPS, 1, 0, 90}, /* turns */
    {SHIRT_SPINE, 0, 5, 11},     {SHIRT_SPINE, 1, 0, 16}, {SHIRT_SPINE, 2, 0, 9},  {SHIRT_CHEST, 0, 4, 9},
    {SHIRT_CHEST, 1, 0, 14},     {SHIRT_CHEST, 2, 0, 7},  {SHIRT_NECK, 1, 0, 18},  {SHIRT_HEAD, 0, 3, 8},
    {SHIRT_CLAVICLE, 2, 4, 8},   {SHIRT_ARM, 2, 10, 38},  {SHIRT_ARM, 1, -22, 34}, {SHIRT_ARM, 0, 0, 16},
    {SHIRT_FOREARM, 1, -44, 40},
};
enum { AXES = sizeof table / sizeof *table };

/* A step forwards and backwards with each leg in turn: as fast as one walks at leisure. */
static void walk(double seconds, double part, double degrees[SHIRT_BONES][3], double moved[3]) {
    double sine, cosine;
    exi_sin_cos(2 * PI * 0.55 * seconds, &sine, &cosine);
    for (int right = 0; right < 2; right++)
        degrees[SHIRT_THIGH + right][0] = part * (-6 + (right ? 20 : -20) * sine);
    degrees[SHIRT_HIPS][2] += part * 3 * cosine;
    moved[1] = -part * 0.012 * sine * sine;
}

static void pose(const exi_garment *garment, exi_garment_motion motion, double seconds, double part,
                 double *positions) {
    const unsigned seed = motion == GARMENT_TRAINING ? 11 : 42;
    double degrees[SHIRT_BONES][3], moved[3];
    memset(degrees, 0, sizeof degrees);
    for (unsigned i = 0; i < AXES; i++) {
        const int sides = table[i].bone >= SHIRT_CLAVICLE ? 2 : 1;
        for (int right = 0; right < sides; right++) {
            const double wave = exi_garment_wave(seed, 2 * i + (unsigned)right, seconds);
            const double angle = part * (table[i].middle + table[i].swing * wave);
            /* Mirrored, a turn about x is the same and others go the other way. */
            degrees[table[i].bone + right][table[i].axis] = right && table[i].axis > 0 ? -angle : angle;
        }
    }
    for (int c = 0; c < 3; c++)
        moved[c] = part * 0.25 * exi_garment_wave(seed, 100 + (unsigned)c, seconds);
    walk(seconds, part, degrees, moved);
    exi_shirt_figure_pose(garment->body, degrees, moved, positions);
}

static void release(void *body) {
    exi_shirt_figure_destroy(body);
}

ex_result exi_shirt_make(exi_garment *garment, ex_error *error) {
    *garment = (exi_garment){.name = "shirt",
                             .driver = exi_shirt_body(),
                             .driven = exi_shirt_cloth(),
                             .frame_counts = {TRAINING_FRAMES, UNSEEN_FRAMES},
                             .cloth = exi_cloth_def_default(),
                             .pose = pose,
                             .release = release};
    garment->cloth.bend = 5e-5;
    if (garment->driver)
        garment->body = exi_shirt_figure_create(garment->driver);
    if (!garment->driver || !garment->driven || !garment->body)
        return exi_error_memory(error, "the shirt", 0);
    return EX_OK;
}
