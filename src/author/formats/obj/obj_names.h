/*
 * obj_names.h - the names of groups and materials, each kept once, numbered as faces first use them; private to the OBJ
 * reader.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_NAMES_H
#define EXEMPLAR_AUTHOR_FORMATS_OBJ_OBJ_NAMES_H

#include "author/formats/obj/obj_scan.h"

/* Zeroed to start with. The name in force is remembered as text until a face uses it: names without faces vanish. */
typedef struct exi_obj_names {
    char *current; /* in force, or NULL */
    size_t current_size, current_capacity;
    int current_number; /* -1 where there is no name in force, or no face used it yet */
    size_t names_capacity;
    int *slots; /* hash table of numbers + 1, 0 for empty */
    size_t slot_count;
} exi_obj_names;

/* Takes the rest of the line, words joined by one blank, as the name in force; `otherwise` where nothing is left. An
 * empty name puts no name in force. */
ex_result exi_obj_names_read(exi_obj_names *names, exi_obj_scan *scan, const char *otherwise);

/* The number of the name in force, -1 for none; adds it to *texts where it is new. */
ex_result exi_obj_names_use(exi_obj_names *names, const exi_obj_scan *scan, char ***texts, int *count, int *number);

void exi_obj_names_free(exi_obj_names *names);

#endif
