/*
 * c3d.h - shared by the files of the C3D reader: numbers in the file's byte order, and its parameters; private to the
 * formats.
 *
 *   c3d_parameters.c  numbers, and the parameter section: groups and parameters by name
 *   c3d_layout.c      position and number of points: from header and parameters, checked against the file's size
 *   c3d.c             labels, points, and the reader itself
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_MOTION_C3D_H
#define EXEMPLAR_AUTHOR_FORMATS_MOTION_C3D_H

#include "runtime/base/result.h"

enum { EXI_C3D_BLOCK = 512 };

/* Processor whose number format the file uses; values are the byte in the file. */
typedef enum exi_c3d_order { EXI_C3D_INTEL = 84, EXI_C3D_DEC = 85, EXI_C3D_MIPS = 86 } exi_c3d_order;

/* A group or a parameter. */
typedef struct exi_c3d_record {
    int group;   /* negative: it is the group -group */
    size_t name; /* byte offset in the file */
    int name_size;
    int type; /* -1 text, 1 byte, 2 integer of two bytes, 4 real */
    int dimension_count;
    size_t dimensions; /* byte offset: one byte each */
    size_t data;       /* byte offset */
    size_t count;      /* number of items */
} exi_c3d_record;

typedef struct exi_c3d {
    const unsigned char *bytes;
    size_t size;
    const char *path;
    ex_error *error;
    exi_c3d_order order;
    size_t parameters_end; /* byte offset */
    exi_c3d_record *records;
    int record_count;
    size_t record_capacity;
} exi_c3d;

/* Read numbers at a byte offset, which must be inside the file. */
unsigned exi_c3d_word(const exi_c3d *r, size_t at);
double exi_c3d_real(const exi_c3d *r, size_t at);

/* "PATH, byte AT: SENTENCE" */
ex_result exi_c3d_fail(const exi_c3d *r, ex_result result, size_t at, const char *format, ...) EX_PRINTF(4, 5);
ex_result exi_c3d_no_memory(const exi_c3d *r);

/* Determines the byte order and lists all records. */
ex_result exi_c3d_read_parameters(exi_c3d *r);

/* Returns NULL if there is none. */
const exi_c3d_record *exi_c3d_find(const exi_c3d *r, const char *group, const char *name);
/* Gets the number at an index of a parameter. False if it is missing, is text, or is not finite. Integers of two bytes
 * are unsigned. */
bool exi_c3d_number(const exi_c3d *r, const char *group, const char *name, size_t index, double *value);
/* Number of texts of a parameter; and one of them, without trailing blanks. */
size_t exi_c3d_text_count(const exi_c3d *r, const exi_c3d_record *record);
const char *exi_c3d_text(const exi_c3d *r, const exi_c3d_record *record, size_t index, size_t *size);

/* Position and format of the points. */
typedef struct exi_c3d_layout {
    uint64_t points;
    uint64_t analogue; /* analogue numbers after the points of each frame */
    uint64_t frames;
    uint64_t start; /* byte offset */
    bool real;
    double scale; /* scale of integers */
    int64_t first_frame;
    double rate;
    bool guessed; /* the number of frames is found from the file's size */
} exi_c3d_layout;

/* Bytes per frame; 0 if that is unreasonable. */
uint64_t exi_c3d_frame_size(const exi_c3d_layout *layout);
ex_result exi_c3d_find_layout(const exi_c3d *r, exi_c3d_layout *layout);

#endif
