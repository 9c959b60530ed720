/*
 * rigs.h - a rig for tests with everything in it, of any number of vertices: three layers (cardinal with a rotation and
 * a pseudo-example, shepard with a mask, direct) of which two share an axis, seams, notes.
 */
#ifndef EXEMPLAR_TESTS_RIGS_H
#define EXEMPLAR_TESTS_RIGS_H

#include <exemplar/rig_inspect.h>
#include <exemplar/rig_pack.h>

enum { RIG_LAYERS = 3, RIG_EXAMPLES = 7, RIG_INPUTS = 5, RIG_POSE = 8, RIG_NOTES = 2 };

/* Points into itself and owns memory: do not copy it, and end with sample_rig_close. */
typedef struct sample_rig {
    ex_rig_def def;
    ex_layer_def layers[RIG_LAYERS];
    ex_axis arm_axes[2], belly_axes[2], mix_axes[2];
    ex_pseudo pseudo;
    ex_attachment notes[RIG_NOTES];
    float *positions, *deltas[RIG_EXAMPLES], *mask, *texcoords, *normals;
    uint32_t *split_source;
    uint32_t face_sizes[2], corners[7], triangles[9];
} sample_rig;

/* At least 4 vertices; all positions are above 1, with any small weights. */
void sample_rig_open(sample_rig *s, int vertex_count);
void sample_rig_close(sample_rig *s);

/* Creates a rig; if that fails, the test fails with the sentence. */
ex_rig *rig_of(const ex_rig_def *def);

/* The packed form, in memory that ends where the pack ends. */
char *pack_of(const ex_rig *rig, size_t *size);

/* The pack in a .glb file with a small JSON chunk before it. */
char *wrap_in_glb(const char *pack, size_t size, size_t *file_size);

/* A pose [RIG_POSE]: scalars up to `ranges` ranges, any rotation. */
void sample_rig_pose(uint64_t *random, double ranges, double *inputs);

/* Evaluates at a number of poses, reads everything there is, and packs: all of this is allowed on any rig. */
void use_rig(const ex_rig *rig);

#endif
