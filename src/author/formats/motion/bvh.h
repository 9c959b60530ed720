/*
 * bvh.h - shared by the files of BVH: words, lines and errors; private to the formats.
 *
 *   bvh_joints.c  the hierarchy: joints, offsets, channels
 *   bvh.c         words, the motion, and the reader itself
 *   bvh_write.c   the writer
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_MOTION_BVH_H
#define EXEMPLAR_AUTHOR_FORMATS_MOTION_BVH_H

#include "runtime/base/result.h"

#include <exemplar/author/clip.h>

/* Larger numbers are neither lengths nor angles, and their products exceed the range of a float. */
#define EXI_BVH_NUMBER_MOST      1e15
#define EXI_BVH_NUMBER_MOST_TEXT "1e15"

/* A channel: one number in every frame. */
typedef struct exi_bvh_channel {
    int joint;
    int axis;
    bool turns; /* true: a rotation; false: a position */
} exi_bvh_channel;

typedef struct exi_bvh {
    const char *path;
    const char *at, *end;
    int line;      /* of the last word read */
    int next_line; /* of `at` */
    ex_clip *clip; /* grows */
    size_t joint_capacity, seen_capacity, channel_capacity;
    unsigned char *seen; /* [joint_count]: flags of what a joint has specified already */
    exi_bvh_channel *channels;
    int channel_count;
    ex_error *error;
} exi_bvh;

typedef struct exi_bvh_word {
    const char *text;
    size_t size; /* 0: end of the text */
} exi_bvh_word;

/* Returns the next word, on this line or a later one; braces and colons are separate words. */
exi_bvh_word exi_bvh_next(exi_bvh *r);
/* Returns the rest of the line up to a brace, trimmed. */
exi_bvh_word exi_bvh_rest_of_line(exi_bvh *r);
/* Compares, ignoring case. */
bool exi_bvh_is(exi_bvh_word word, const char *keyword);
/* Buffer size for a word shown in an error. */
#define EXI_BVH_SHOWN 44
const char *exi_bvh_show(exi_bvh_word word, char text[EXI_BVH_SHOWN]);

/* "PATH:LINE: …" */
ex_result exi_bvh_fail(const exi_bvh *r, ex_result result, const char *format, ...) EX_PRINTF(3, 4);
ex_result exi_bvh_no_memory(const exi_bvh *r);

/* Reads a number in the range of a float. */
ex_result exi_bvh_number(exi_bvh *r, const char *what, double *number);

/* In bvh_joints.c: reads from the first word up to and including MOTION. */
ex_result exi_bvh_read_joints(exi_bvh *r);

#endif
