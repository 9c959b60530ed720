/*
 * ply.h - shared by the files of the PLY reader: the header, and reading of numbers; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_PLY_PLY_H
#define EXEMPLAR_AUTHOR_FORMATS_PLY_PLY_H

#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

typedef enum exi_ply_type {
    EXI_PLY_INT8,
    EXI_PLY_UINT8,
    EXI_PLY_INT16,
    EXI_PLY_UINT16,
    EXI_PLY_INT32,
    EXI_PLY_UINT32,
    EXI_PLY_FLOAT32,
    EXI_PLY_FLOAT64,
    EXI_PLY_NONE
} exi_ply_type;

/* A property: one number, or a list of numbers preceded by its length. */
typedef struct exi_ply_property {
    const char *name; /* in the file's text, not ended by NUL */
    size_t name_size;
    exi_ply_type type, count_type; /* EXI_PLY_NONE: not a list */
    int role;                      /* set by the reader of its element */
} exi_ply_property;

typedef struct exi_ply_element {
    const char *name;
    size_t name_size;
    size_t count;
    int first_property, property_count;
} exi_ply_element;

typedef struct exi_ply_header {
    ex_ply_encoding encoding;
    exi_ply_element *elements;
    int element_count;
    exi_ply_property *properties;
    int property_count;
    size_t element_capacity, property_capacity;
    size_t columns, rows; /* obj_info num_cols, num_rows; 0 if not given */
} exi_ply_header;

typedef struct exi_ply {
    const char *name; /* of the file */
    const unsigned char *at, *end;
    int line;     /* of the header, or of ascii data */
    bool two_end; /* lines end with CR LF; if they end with CR alone, an LF after the header is data */
    exi_ply_header header;
    ex_error *error;
} exi_ply;

size_t exi_ply_type_size(exi_ply_type type);
bool exi_ply_is(const char *name, size_t size, const char *word);

/* Reports an error with the file, and the line if the data are text. */
ex_result exi_ply_fail(const exi_ply *ply, ex_result result, const char *format, ...) EX_PRINTF(3, 4);
ex_result exi_ply_no_memory(const exi_ply *ply);

/* Reads from "ply" to the end of the line "end_header". */
ex_result exi_ply_read_header(exi_ply *ply);

/* Reads the next number of the data; EX_ERROR_FORMAT if the data end or it is not a number. */
ex_result exi_ply_next(exi_ply *ply, exi_ply_type type, double *value);
/* Moves past count numbers. */
ex_result exi_ply_skip(exi_ply *ply, exi_ply_type type, size_t count);
/* Fewest bytes that count rows of an element take; SIZE_MAX on overflow. */
size_t exi_ply_least_size(const exi_ply *ply, const exi_ply_element *element);

/* Makes faces for a mesh that has vertices and a range grid: cells [cell_count] hold vertices, or -1. */
ex_result exi_ply_grid_faces(const exi_ply *ply, const int *cells, size_t cell_count, ex_mesh *mesh);

#endif
