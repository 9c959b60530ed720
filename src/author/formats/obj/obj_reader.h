/*
 * obj_reader.h - shared by the two halves of the OBJ reader: obj_read.c (vertices, names, tags, final checks) and
 * obj_faces.c.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_READER_H
#define EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_READER_H

#include "author/formats/obj/obj_names.h"

#include <exemplar/author/mesh.h>

/* Capacities of the mesh's arrays; their counts are in the mesh. */
typedef struct exi_obj_reader {
    exi_obj_scan scan;
    ex_mesh *mesh;
    size_t position_capacity, colour_capacity, texcoord_capacity, normal_capacity;
    size_t offset_capacity, line_capacity, corner_capacity, corner_texcoord_capacity, corner_normal_capacity;
    size_t face_group_capacity, face_material_capacity, tag_capacity, tag_line_capacity;

    int *face_lines; /* [face_count] line of each face: its vertices may come later, and are checked at the end */
    int *tag_lines;  /* [tag_count] */
    exi_obj_names groups, materials;
    bool group_waits;     /* true after a `g` that no face has used yet: an `o` does not override it */
    float largest_colour; /* above 1: colours range up to 255 */
} exi_obj_reader;

/* Makes room for one more item in an array of the mesh; EX_ERROR_LIMIT if int cannot count it. */
ex_result exi_obj_reserve(exi_obj_reader *reader, int count, const char *what);

/* Reads `f …`, after the keyword. */
ex_result exi_obj_read_face(exi_obj_reader *reader);

/* Checks at the end that everything that faces refer to exists. */
ex_result exi_obj_check_faces(const exi_obj_reader *reader);

#endif
