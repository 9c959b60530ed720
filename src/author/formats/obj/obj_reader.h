/*
 * obj_reader.h - what the two halves of the OBJ reader share: obj_read.c (vertices, names, tags, the end) and
 * obj_faces.c.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_READER_H
#define EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_READER_H

#include "author/formats/obj/obj_names.h"

#include <exemplar/author/mesh.h>

/* Counts are those of the mesh; here is how much room its arrays have. */
typedef struct exi_obj_reader {
    exi_obj_scan scan;
    ex_mesh *mesh;
    size_t position_capacity, colour_capacity, texcoord_capacity, normal_capacity;
    size_t offset_capacity, line_capacity, corner_capacity, corner_texcoord_capacity, corner_normal_capacity;
    size_t face_group_capacity, face_material_capacity, tag_capacity, tag_line_capacity;

    int *face_lines; /* [face_count] where each face stands: its vertices may follow later, and are checked last */
    int *tag_lines;  /* [tag_count] */
    exi_obj_names groups, materials;
    bool group_waits;     /* a `g` stands since the last face: an `o` does not override it */
    float largest_colour; /* above 1: colours run to 255 */
} exi_obj_reader;

/* One more item for an array of the mesh; EX_ERROR_LIMIT where int cannot count it. */
ex_result exi_obj_reserve(exi_obj_reader *reader, int count, const char *what);

/* `f …`, behind the keyword. */
ex_result exi_obj_read_face(exi_obj_reader *reader);

/* Whether all that faces refer to came, in the end. */
ex_result exi_obj_check_faces(const exi_obj_reader *reader);

#endif
