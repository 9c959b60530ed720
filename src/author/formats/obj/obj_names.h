/*
 * obj_names.h - names of groups and materials, each stored once, numbered in the order in which faces use them; private
 * to the OBJ reader.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_NAMES_H
#define EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_NAMES_H

#include "author/formats/obj/obj_scan.h"

/* Initialise with zeros. The current name is only a text until a face uses it: names without faces vanish. */
typedef struct exi_obj_names {
    char *current; /* current name, or NULL */
    size_t current_size, current_capacity;
    int current_number; /* -1 if there is no current name, or no face has used it yet */
    size_t names_capacity;
    int *slots; /* hash table of numbers + 1, 0 for empty */
    size_t slot_count;
} exi_obj_names;

/* Makes the rest of the line, words joined by one blank, the current name; `otherwise` if the line is empty. An empty
 * name leaves no current name. */
ex_result exi_obj_names_read(exi_obj_names *names, exi_obj_scan *scan, const char *otherwise);

/* Returns the number of the current name, -1 for none; adds it to *texts if it is new. */
ex_result exi_obj_names_use(exi_obj_names *names, const exi_obj_scan *scan, char ***texts, int *count, int *number);

void exi_obj_names_free(exi_obj_names *names);

#endif
