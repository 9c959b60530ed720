/*
 * whole_rigs.h - a rig for tests with everything that a rig can have: the layers of rigs.h, of which one reads two
 * joints in four ways and moves joints, two layers of pixels between them, a skeleton, a skin of more than four
 * influences, three layers of offsets (at rest; turned with the skin; a vertex among the examples that move it), one of
 * trajectories, two refined levels and a limit. Any of these can be left out.
 */
#ifndef EXEMPLAR_TESTS_WHOLE_RIGS_H
#define EXEMPLAR_TESTS_WHOLE_RIGS_H

#include "support/paths.h"
#include "support/rigs.h"

enum {
    WHOLE_SKELETON = 1, /* and inputs that read it, and examples that move it */
    WHOLE_SKIN = 2,
    WHOLE_LEVELS = 4,
    WHOLE_LIMIT = 8,
    WHOLE_PIXELS = 16,
    WHOLE_OFFSETS = 32,
    WHOLE_PATHS = 64,
    WHOLE_ALL = 127
};
enum { WHOLE_JOINTS = 6, WHOLE_LAYERS = 10, WHOLE_WIDTH = 3, WHOLE_HEIGHT = 2, WHOLE_SPARSE = 3 };

/* Points into itself: do not copy it, and end with whole_rig_close. */
typedef struct whole_rig {
    sample_rig base;
    ex_rig_def def; /* definition of the rig */
    ex_layer_def layers[WHOLE_LAYERS];
    ex_axis axes[4];
    ex_axis_source sources[4];
    float shifts[WHOLE_JOINTS][3];
    const float *shift_list[2];
    unsigned char pixels[4][WHOLE_HEIGHT * WHOLE_WIDTH * 4];
    const unsigned char *pixel_list[4];
    ex_offsets offsets[WHOLE_SPARSE][3]; /* of three layers */
    path_layer paths;                    /* last layer */
    double falloffs[4];
    ex_pseudo zero;
    ex_skeleton *skeleton;
    ex_skin *skin;
    ex_stencils *stencils;
    ex_rig_mesh levels[2];
    void *level_memory[2];
} whole_rig;

/* At least 5 vertices. A skin needs a skeleton; parts without their requirements are left out. */
void whole_rig_open(whole_rig *w, int vertex_count, int parts);
void whole_rig_close(whole_rig *w);

/* Evaluates both at random poses, everything at every level, and compares to the bit. */
void assert_same_evaluation(const ex_rig *a, const ex_rig *b, int rounds);

/* Evaluates everything at every level at a few poses. */
void evaluate_everything(const ex_rig *rig);

#endif
