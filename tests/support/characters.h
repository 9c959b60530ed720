/*
 * characters.h - a small arm for tests, with everything that a rig can have: a tube over two joints, a seam, a layer
 * that reads the elbow and a dial and has its own joints, two layers of pixels, a refined level and a limit.
 */
#ifndef EXEMPLAR_TESTS_CHARACTERS_H
#define EXEMPLAR_TESTS_CHARACTERS_H

#include <exemplar/rig_inspect.h>

enum {
    CHARACTER_JOINTS = 3,
    CHARACTER_LAYERS = 3,
    CHARACTER_FORMS = 4,
    CHARACTER_IMAGES = 3, /* two in the first layer of pixels, one in the second */
    CHARACTER_EXAMPLES = CHARACTER_FORMS + CHARACTER_IMAGES,
    CHARACTER_INPUTS = 4, /* elbow (read from its joint), size, tan, wet */
    CHARACTER_POSE = 3,
    CHARACTER_WIDTH = 5,
    CHARACTER_HEIGHT = 3
};

/* Points into itself and owns memory: do not copy it, and end with character_close. */
typedef struct character {
    int rings, sides; /* vertices: rings * sides */
    ex_rig_def def;
    ex_layer_def layers[CHARACTER_LAYERS];
    ex_axis form_axes[2], tan_axes[1], wet_axes[1];
    ex_axis_source form_sources[2];
    ex_rig_mesh level;
    ex_skeleton *skeleton;
    ex_skin *skin;
    ex_stencils *stencils;
    float *deltas[CHARACTER_FORMS];
    float shifts[CHARACTER_JOINTS][3];
    const float *shift_list[CHARACTER_FORMS];
    unsigned char images[CHARACTER_IMAGES][CHARACTER_WIDTH * CHARACTER_HEIGHT * 4];
    void *memory[32];
    int memory_count;
} character;

/* At least 3 rings and 3 sides. */
void character_open(character *c, int rings, int sides, ex_skinning skinning);
void character_close(character *c);

#endif
