/* cli/bake/between.h - the error of a baked file between its frames, if layers move along trajectories. Any thread. */
#ifndef EXEMPLAR_CLI_BAKE_BETWEEN_H
#define EXEMPLAR_CLI_BAKE_BETWEEN_H

#include <exemplar/author.h>

/* The largest distance of a vertex, halfway between two frames, from the rig at rest. */
typedef struct exi_bake_between {
    bool measured;  /* false without layers of trajectories, or with a single frame */
    double largest; /* metres */
    int frame;      /* the first of the two, from 0 */
    double seconds; /* between the two */
} exi_bake_between;

/* Evaluates each frame and the pose halfway to the next. Returns false without memory. */
bool exi_bake_between_measure(const ex_rig *rig, const ex_motion *motion, const ex_bake_options *options,
                              exi_bake_between *between);
/* Writes a sentence without a full stop. Returns false if there is nothing to say. size: the rig's. */
bool exi_bake_between_note(const exi_bake_between *between, double size, char *text, size_t text_size);

#endif
