/*
 * names.h - rules for names; and a hash table from names to numbers, since a skeleton may have 65535 joints. Private to
 * authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_NAMES_H
#define EXEMPLAR_AUTHOR_BASE_NAMES_H

#include <exemplar/pose.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct exi_names {
    const char **texts; /* [slot_count], NULL for empty */
    int *numbers;
    size_t slot_count;
} exi_names;

/* Opens an empty table with room for `most` names. False without memory; there is then nothing to release. */
bool exi_names_open(exi_names *names, int most);
void exi_names_close(exi_names *names);

/* Returns the number of a name, which the caller may change; NULL if the table does not have the name. */
int *exi_names_find(const exi_names *names, const char *text);

/* Adds a name with its number, unless the table has it already. The text must outlive the table. */
void exi_names_add(exi_names *names, const char *text, int number);

/* True if an axis may have this name. */
bool exi_is_axis_name(const char *name);

/* The joint's name, or "joint 3" if it has none. */
typedef struct exi_joint_text {
    char text[24];
} exi_joint_text;
const char *exi_joint_name(const ex_skeleton *skeleton, int joint, exi_joint_text *text);

#endif
