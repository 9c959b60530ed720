/*
 * The demo `shirt` (DrivenShape, figures 1 and 7): a figure in a long-sleeved shirt that walks on the spot, turns,
 * bows, twists and moves its arms; the shirt is simulated. One motion is for learning; the other, in which the same
 * angles meet in other combinations and at other speeds, for testing.
 */
#include "shirt.h"
#include "garment.h"

#include "common/array.h"

#include <exemplar/maths.h>

#include <string.h>

#define PI 3.14159265358979323846

enum { TRAINING_FRAMES = 280, UNSEEN_FRAMES = 120 };

/* The angles that move, each with its own wave. */
enum { TURN, BOW, TWIST, LEAN, LOOK, RAISE, REACH, ROLL, FOLD };

/* Bone, axis and degrees of each turn: the middle and the range to either side. For a pair the left; the right mirrors
 * it. */
static const struct {
    int bone, axis, wave;
    double middle, swing;
} table[] = {
    {SHIRT_HIPS, 1, TURN, 0, 90},     {SHIRT_SPINE, 0, BOW, 5, 11},      {SHIRT_CHEST, 0, BOW, 4, 9},
    {SHIRT_SPINE, 1, TWIST, 0, 16},   {SHIRT_CHEST, 1, TWIST, 0, 14},    {SHIRT_SPINE, 2, LEAN, 0, 9},
    {SHIRT_CHEST, 2, LEAN, 0, 7},     {SHIRT_NECK, 1, LOOK, 0, 18},      {SHIRT_HEAD, 0, LOOK, 3, 8},
    {SHIRT_CLAVICLE, 2, RAISE, 4, 8}, {SHIRT_ARM, 2, RAISE, 10, 38},     {SHIRT_ARM, 1, REACH, -22, 34},
    {SHIRT_ARM, 0, ROLL, 0, 12},      {SHIRT_FOREARM, 1, FOLD, -44, 40},
};
enum { AXES = sizeof table / sizeof *table };

#define TOGETHER 0.35 /* fraction of the arms' motion that both do together; the rest is independent */
#define UNSEEN   0.85 /* range of the unseen motion: within the training range, as in practice */

/* Steps forwards and backwards with each leg in turn, at a leisurely walking pace. */
static void walk(double seconds, double part, double degrees[SHIRT_BONES][3], double moved[3]) {
    double sine, cosine;
    ex_sin_cos(2 * PI * 0.55 * seconds, &sine, &cosine);
    for (int right = 0; right < 2; right++)
        degrees[SHIRT_THIGH + right][0] = part * (-6 + (right ? 20 : -20) * sine);
    degrees[SHIRT_HIPS][2] += part * 3 * cosine;
    moved[1] = -part * 0.012 * sine * sine;
}

static void pose(const exi_garment *garment, exi_garment_motion motion, double seconds, double part,
                 double *positions) {
    const unsigned seed = motion == GARMENT_TRAINING ? 11 : motion == GARMENT_UNSEEN ? 42 : 1000 + (unsigned)motion;
    const double wide = motion == GARMENT_UNSEEN ? UNSEEN : 1;
    if (motion >= GARMENT_MOTIONS)
        seconds *= exi_garment_speed(motion);
    double degrees[SHIRT_BONES][3], moved[3];
    memset(degrees, 0, sizeof degrees);
    for (unsigned i = 0; i < AXES; i++) {
        const int sides = table[i].bone >= SHIRT_CLAVICLE ? 2 : 1;
        for (int right = 0; right < sides; right++) {
            const double own = exi_garment_wave(seed, 50 + 2 * (unsigned)table[i].wave + (unsigned)right, seconds);
            const double both =
                exi_garment_wave(seed, (unsigned)table[i].wave, table[i].wave == TURN ? seconds / 2 : seconds);
            const double wave = wide * (sides == 1 ? both : TOGETHER * both + (1 - TOGETHER) * own);
            const double angle = part * (table[i].middle + table[i].swing * wave);
            /* In the mirror image, a turn about x is the same and others are reversed. */
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
    garment->cloth.bend = 2e-5;
    garment->cloth.bent = 0.5;
    garment->cloth.friction = 0.8;
    garment->cloth.drag = 10;
    if (garment->driver)
        garment->body = exi_shirt_figure_create(garment->driver);
    if (garment->driven)
        garment->pinned = array_allocate((size_t)garment->driven->vertex_count, sizeof *garment->pinned);
    if (!garment->driver || !garment->driven || !garment->body || !garment->pinned)
        return ex_error_memory(error, "the shirt", 0);
    for (int v = 0; v < garment->driven->vertex_count; v++)
        garment->pinned[v] = exi_shirt_is_sewn(garment->driven->positions + 3 * (size_t)v);
    return EX_OK;
}
