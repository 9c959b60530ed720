/*
 * bvh.h - what the two parts of the BVH reader share: words, lines and errors; private to the formats.
 *
 *   bvh_joints.c  the hierarchy: joints, offsets, channels
 *   bvh.c         words, the motion below it, and the whole
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_MOTION_BVH_H
#define EXEMPLAR_AUTHOR_FORMATS_MOTION_BVH_H

#include "runtime/base/result.h"

#include <exemplar/author/clip.h>

/* A number in every frame. */
typedef struct exi_bvh_channel {
    int joint;
    int axis;
    bool turns; /* else it moves */
} exi_bvh_channel;

typedef struct exi_bvh {
    const char *path;
    const char *at, *end;
    int line;      /* of the word that was read last */
    int next_line; /* where `at` is */
    ex_clip *clip; /* grows */
    size_t joint_capacity, seen_capacity, channel_capacity;
    unsigned char *seen; /* [joint_count]: what a joint has said of itself already */
    exi_bvh_channel *channels;
    int channel_count;
    ex_error *error;
} exi_bvh;

typedef struct exi_bvh_word {
    const char *text;
    size_t size; /* 0: the text has ended */
} exi_bvh_word;

/* The next word on this line or a later one; braces and colons are words of their own. */
exi_bvh_word exi_bvh_next(exi_bvh *r);
/* What is left of the line up to a brace, without blanks around it. */
exi_bvh_word exi_bvh_rest_of_line(exi_bvh *r);
/* Letters of either case. */
bool exi_bvh_is(exi_bvh_word word, const char *keyword);
/* A word as a sentence may show it. */
#define EXI_BVH_SHOWN 44
const char *exi_bvh_show(exi_bvh_word word, char text[EXI_BVH_SHOWN]);

/* "PATH:LINE: …" */
ex_result exi_bvh_fail(const exi_bvh *r, ex_result result, const char *format, ...) EX_PRINTF(3, 4);
ex_result exi_bvh_no_memory(const exi_bvh *r);

/* A number that a float holds too. */
ex_result exi_bvh_number(exi_bvh *r, const char *what, double *number);

/* bvh_joints.c: from the first word to the word MOTION, which it takes. */
ex_result exi_bvh_read_joints(exi_bvh *r);

#endif
