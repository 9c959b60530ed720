/*
 * c3d.h - what the parts of the C3D reader share: numbers in the file's byte order, and its parameters; private to the
 * formats.
 *
 *   c3d_parameters.c  numbers, and the parameter section: groups and parameters by name
 *   c3d_layout.c      where points are and how many: what header and parameters say, and what the file has room for
 *   c3d.c             labels, points, and the whole
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_MOTION_C3D_H
#define EXEMPLAR_AUTHOR_FORMATS_MOTION_C3D_H

#include "runtime/base/result.h"

enum { EXI_C3D_BLOCK = 512 };

/* The processor whose numbers the file holds, with the byte that says so. */
typedef enum exi_c3d_order { EXI_C3D_INTEL = 84, EXI_C3D_DEC = 85, EXI_C3D_MIPS = 86 } exi_c3d_order;

/* A group or a parameter. */
typedef struct exi_c3d_record {
    int group;   /* below 0: it is the group of -group */
    size_t name; /* byte of the file */
    int name_size;
    int type; /* -1 text, 1 byte, 2 integer of two bytes, 4 real */
    int dimension_count;
    size_t dimensions; /* byte: a byte each */
    size_t data;       /* byte */
    size_t count;      /* of items */
} exi_c3d_record;

typedef struct exi_c3d {
    const unsigned char *bytes;
    size_t size;
    const char *path;
    ex_error *error;
    exi_c3d_order order;
    size_t parameters_end; /* byte */
    exi_c3d_record *records;
    int record_count;
    size_t record_capacity;
} exi_c3d;

/* Numbers at a byte, which must be inside the file. */
unsigned exi_c3d_word(const exi_c3d *r, size_t at);
double exi_c3d_real(const exi_c3d *r, size_t at);

/* "PATH, byte AT: SENTENCE" */
ex_result exi_c3d_fail(const exi_c3d *r, ex_result result, size_t at, const char *format, ...) EX_PRINTF(4, 5);
ex_result exi_c3d_no_memory(const exi_c3d *r);

/* Finds out the byte order and lists all records. */
ex_result exi_c3d_read_parameters(exi_c3d *r);

/* NULL where there is none. */
const exi_c3d_record *exi_c3d_find(const exi_c3d *r, const char *group, const char *name);
/* The number at an index of a parameter; false where it is not there, is text, or not finite. Integers of two bytes are
 * taken as they are stored, without a sign. */
bool exi_c3d_number(const exi_c3d *r, const char *group, const char *name, size_t index, double *value);
/* How many texts a parameter has, and one of them without blanks at its end. */
size_t exi_c3d_text_count(const exi_c3d *r, const exi_c3d_record *record);
const char *exi_c3d_text(const exi_c3d *r, const exi_c3d_record *record, size_t index, size_t *size);

/* Where the points are. */
typedef struct exi_c3d_layout {
    uint64_t points;
    uint64_t analogue; /* numbers in a frame behind the points */
    uint64_t frames;
    uint64_t start; /* byte */
    bool real;
    double scale; /* of integers */
    int64_t first_frame;
    double rate;
} exi_c3d_layout;

/* Bytes of a frame; 0 where that is beyond reason. */
uint64_t exi_c3d_frame_size(const exi_c3d_layout *layout);
ex_result exi_c3d_find_layout(const exi_c3d *r, exi_c3d_layout *layout);

#endif
