/*
 * obj_tags.h - subdivision tags of an OBJ file; private to the OBJ reader.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_TAGS_H
#define EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_TAGS_H

#include "author/formats/obj/obj_reader.h"

/* Reads `t …`, after the keyword. */
ex_result exi_obj_read_tag(exi_obj_reader *reader);

/* Checks at the end that the vertices of creases and corners exist. */
ex_result exi_obj_check_tags(const exi_obj_reader *reader);

#endif
