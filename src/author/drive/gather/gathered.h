/*
 * gathered.h - files of gathered references, and the numbers in them. Private to authoring.
 *
 *   far.c             the farthest frames, by sketches
 *   gather.c          the entry point: one reference to a file
 *   gather_keys.c     the frames of a reference that learning of keys needs
 *   gather_motion.c   moving frames and principal forms of a reference, for learning from motion
 *   gathered_pack.c   numbers, texts, meshes and options as bytes, and back
 *   gathered_write.c  writes a file
 *   gathered_open.c   reads and checks one
 *   gathered_set.c    several files that one rig is learned from
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_GATHER_GATHERED_H
#define EXEMPLAR_AUTHOR_DRIVE_GATHER_GATHERED_H

#include "author/base/arena.h"
#include "author/base/file_view.h"
#include "author/drive/learn/references.h"

#include <exemplar/author/files.h>

/* Evenly spread frames that are kept of a reference, and the least number of frames kept because they are farthest. */
enum { EXI_GATHER_SPREAD = 512, EXI_GATHER_FAR = 64 };
/* Frames of a reference that motion is learned from, at most; evenly spread. */
enum { EXI_GATHER_LEARNED = 20000 };
/* Bytes of forms of one reference that motion keeps as they are, at most. */
#define EXI_GATHER_FORMS ((size_t)64 << 20)

/* ---- motion ---- */

/* A reference as learning from motion needs it. Frames are its used frames, from 0. */
typedef struct exi_motion_part {
    int frame_count, moving_count;
    const double *times;    /* [frame_count], since the first */
    const float *matrices;  /* [frame_count][moving_count][12] */
    const float *sizes;     /* [frame_count][moving_count] */
    int stride, kept_count; /* frames 0, stride, 2 stride, … are kept */
    /* Un-posed forms of kept frames, as differences from the mesh: themselves, [kept_count][driven vertices][3] or NULL
     * to read the caches; or mean + sum over rows of a coefficient times a form. */
    bool reduced;
    const float *forms;
    int row_count;
    const float *mean;          /* [driven vertices][3] */
    const float *basis;         /* [row_count][driven vertices][3], orthonormal */
    const double *coefficients; /* [kept_count][row_count] */
    const double *left;         /* [kept_count]: squared length of what the rows do not hold */
    void *owned[8];             /* released with the part */
    int owned_count;
} exi_motion_part;

void exi_motion_part_free(exi_motion_part *part);

/* ---- files ---- */

struct ex_gathered {
    char *path;
    exi_file_view view;
    uint64_t checksum;
    ex_gathered_info info;
    ex_drive_options options; /* those that gathering used; the others have their defaults */
    double driver_scale, driven_scale;
    ex_mesh *driver, *driven;
    exi_arena arena;
    const char *blocks[3]; /* bytes of the driver, the driven mesh, and the options, to compare files */
    size_t block_sizes[3];
    /* keys */
    const int *kept;       /* [info.kept_count]: frames of the caches, rising */
    const uint8_t *spread; /* [info.kept_count]: true for evenly spread ones */
    const float *forms;    /* [info.kept_count][driver and driven vertices][3] */
    int given_form_count;  /* motion: forms that were asked for */
    exi_motion_part motion;
};

/* The description of a reference, and its data: what a file is written from. */
typedef struct exi_gathering {
    const ex_gather_def *def;
    exi_references refs; /* of one reference */
    exi_motion_part motion;
    ex_error *error;
} exi_gathering;

/* Writes the file. */
ex_result exi_gathered_write(exi_gathering *g, const char *path);

/* Several files. Close the set even after a failure. */
typedef struct exi_gathered_set {
    int count;
    ex_gathered **files;
    ex_drive_reference *references; /* [count] */
    ex_learn_def def;               /* the caller's, completed from the files */
} exi_gathered_set;

/* Opens all files of def and checks that they go together. */
ex_result exi_gathered_set_open(exi_gathered_set *set, const ex_learn_def *def, ex_error *error);
void exi_gathered_set_close(exi_gathered_set *set);

/* ---- bytes: all are padded to eight ---- */

typedef struct exi_out {
    ex_file_writer *file;
    uint64_t size, checksum;
} exi_out;

void exi_out_start(exi_out *out, ex_file_writer *file);
void exi_out_bytes(exi_out *out, const void *bytes, size_t size);
void exi_out_int(exi_out *out, int64_t value);
void exi_out_number(exi_out *out, double value);
void exi_out_text(exi_out *out, const char *text); /* may be NULL */
void exi_out_mesh(exi_out *out, const ex_mesh *mesh);
void exi_out_options(exi_out *out, const ex_drive_options *options, ex_learn_method method, int driver_count,
                     int driven_count);
/* Ends the bytes with their size and checksum. */
void exi_out_end(exi_out *out);

/* Readers set failed if something is missing or out of range, no_memory without memory; then they return 0 or NULL. */
typedef struct exi_in {
    const char *bytes;
    size_t size, at;
    bool failed, no_memory;
    exi_arena *arena;
} exi_in;

/* Checks the end of a file; the rest is then what `in` reads. False if it is damaged. */
bool exi_in_start(exi_in *in, const char *bytes, size_t size, uint64_t *checksum);
/* The next bytes, in place. */
const void *exi_in_bytes(exi_in *in, size_t count, size_t size);
/* Numbers that are finite, and below 1e18 in size. */
const float *exi_in_floats(exi_in *in, size_t count, size_t width);
const double *exi_in_doubles(exi_in *in, size_t count, size_t width);
int exi_in_int(exi_in *in, int least, int most);
int64_t exi_in_long(exi_in *in);
double exi_in_number(exi_in *in);
const char *exi_in_text(exi_in *in);
ex_mesh *exi_in_mesh(exi_in *in);
void exi_in_options(exi_in *in, ex_drive_options *options, ex_learn_method method, int driver_count, int driven_count);

#endif
