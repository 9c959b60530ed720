/*
 * tubes.h - a rig to drive, for tests of the runtime alone: a tube that bends, and a sleeve around it that contracts at
 * the bend, with five keys and one or three moving frames.
 */
#ifndef TESTS_SUPPORT_TUBES_H
#define TESTS_SUPPORT_TUBES_H

#include <exemplar/rig_inspect.h>

enum {
    TUBE_RINGS = 13,
    TUBE_AROUND = 8,
    TUBE_VERTICES = TUBE_RINGS * TUBE_AROUND,
    TUBE_FACES = 2 * (TUBE_RINGS - 1) * TUBE_AROUND,
    TUBE_KEYS = 5,
    TUBE_FRAMES = 3
};

/* A tube along x from 0 to 1.2 that bends in its middle by that many degrees about z, thinner by `draw` there. out
 * [TUBE_VERTICES][3]. */
void tube_bend(double degrees, double radius, double draw, float *out);

/* Everything that a definition points to; a test may change it before it creates a rig from it. */
typedef struct driven_tube {
    float reference[TUBE_VERTICES * 3], mesh[TUBE_VERTICES * 3], keys[TUBE_KEYS][TUBE_VERTICES * 3],
        forms[TUBE_KEYS][TUBE_VERTICES * 3], deltas[TUBE_KEYS][TUBE_VERTICES * 3];
    const float *key_list[TUBE_KEYS], *delta_list[TUBE_KEYS];
    uint32_t triangles[TUBE_FACES * 3], face_sizes[TUBE_FACES];
    uint32_t fit_starts[TUBE_FRAMES + 1], fit_vertices[TUBE_FRAMES * TUBE_VERTICES];
    float fit_weights[TUBE_FRAMES * TUBE_VERTICES];
    uint32_t carry_starts[2 * TUBE_VERTICES + 1];
    uint16_t carry_places[2 * TUBE_VERTICES * TUBE_FRAMES];
    float carry_weights[2 * TUBE_VERTICES * TUBE_FRAMES];
    uint32_t all[TUBE_VERTICES];
    float ones[TUBE_VERTICES];
    ex_region views[TUBE_FRAMES];
    ex_axis axes[2];
    ex_rig_driver driver;
    ex_layer_def layer;
    ex_rig_def def;
} driven_tube;

/* With 1 or TUBE_FRAMES moving frames; ends the program if out of memory. Release with free. */
driven_tube *driven_tube_make(int frames, ex_residual residual, bool push);
/* Un-poses the forms again by the frames at their keys. */
void driven_tube_unpose(driven_tube *tube);

/* Makes the layer follow the motion of the driver: TUBE_KEYS examples, weighed by a predictor of two components and
 * five landmarks. tube: with TUBE_FRAMES moving frames, without a residual. Release the predictor. */
ex_predictor *driven_tube_follow(driven_tube *tube);

#endif
