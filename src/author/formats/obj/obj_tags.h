/*
 * obj_tags.h - subdivision tags of an OBJ file; private to the OBJ reader.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_TAGS_H
#define EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_TAGS_H

#include "author/formats/obj/obj_reader.h"

/* `t …`, behind the keyword. */
ex_result exi_obj_read_tag(exi_obj_reader *reader);

/* Whether the vertices that creases and corners name are there, in the end. */
ex_result exi_obj_check_tags(const exi_obj_reader *reader);

#endif
