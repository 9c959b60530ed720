/*
 * Table from names to numbers: open addressing, at most half full.
 */
#include "author/base/names.h"

#include "author/base/array.h"
#include "author/base/rows.h"
#include "runtime/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool exi_names_open(exi_names *names, int most) {
    *names = (exi_names){.slot_count = 16};
    while (names->slot_count < 2 * (size_t)most)
        names->slot_count *= 2;
    names->texts = calloc(names->slot_count, sizeof *names->texts);
    names->numbers = exi_array_allocate(names->slot_count, sizeof *names->numbers);
    if (names->texts && names->numbers)
        return true;
    exi_names_close(names);
    return false;
}

void exi_names_close(exi_names *names) {
    free(names->texts);
    free(names->numbers);
    *names = (exi_names){0};
}

/* Returns the slot of a name, or the empty slot where it belongs. */
static size_t find_slot(const exi_names *names, const char *text) {
    uint64_t hash = 0;
    for (const char *c = text; *c; c++)
        hash = exi_mix(hash, (unsigned char)*c);
    size_t slot = (size_t)hash & (names->slot_count - 1);
    while (names->texts[slot] && strcmp(names->texts[slot], text) != 0)
        slot = (slot + 1) & (names->slot_count - 1);
    return slot;
}

int *exi_names_find(const exi_names *names, const char *text) {
    const size_t slot = find_slot(names, text);
    return names->texts[slot] ? &names->numbers[slot] : NULL;
}

void exi_names_add(exi_names *names, const char *text, int number) {
    const size_t slot = find_slot(names, text);
    if (names->texts[slot])
        return;
    names->texts[slot] = text;
    names->numbers[slot] = number;
}

bool exi_is_axis_name(const char *name) {
    return exi_is_name(name) && !strpbrk(name, "=,\"") && strncmp(name, "joint:", 6) != 0 && strcmp(name, "time") != 0;
}

const char *exi_joint_name(const ex_skeleton *skeleton, int joint, exi_joint_text *text) {
    const char *name = ex_skeleton_name(skeleton, joint);
    if (name[0])
        return name;
    snprintf(text->text, sizeof text->text, "joint %d", joint);
    return text->text;
}
