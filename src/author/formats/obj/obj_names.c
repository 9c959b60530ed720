/*
 * Names of groups and materials in a hash table, since there are files with a group for every face.
 */
#include "author/formats/obj/obj_names.h"

#include "author/base/array.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static ex_result append(exi_obj_names *names, const exi_obj_scan *scan, const char *text, size_t size) {
    char *moved = exi_array_grow(names->current, &names->current_capacity, names->current_size + size + 1, 1);
    if (!moved)
        return exi_obj_no_memory(scan);
    names->current = moved;
    memcpy(moved + names->current_size, text, size);
    names->current_size += size;
    moved[names->current_size] = '\0';
    return EX_OK;
}

ex_result exi_obj_names_read(exi_obj_names *names, exi_obj_scan *scan, const char *otherwise) {
    names->current_size = 0;
    names->current_number = -1;
    ex_result result = EX_OK;
    /* A name may begin with '#': a comment can only follow a name. */
    bool hash = !exi_obj_next_word(scan) && scan->at < scan->end && *scan->at == '#';
    while (result == EX_OK && (hash || exi_obj_next_word(scan))) {
        hash = false;
        if (names->current_size > 0)
            result = append(names, scan, " ", 1);
        const char *word = scan->at;
        size_t size = exi_obj_skip_word(scan);
        if (result == EX_OK)
            result = append(names, scan, word, size);
    }
    if (result == EX_OK && names->current_size == 0)
        result = append(names, scan, otherwise, strlen(otherwise));
    return result;
}

static size_t hash_text(const char *text) {
    size_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash ^ (hash >> 15);
}

/* Returns the slot of a text, or the empty slot where it belongs. */
static size_t find_slot(const exi_obj_names *names, char *const *texts, const char *text) {
    size_t slot = hash_text(text) & (names->slot_count - 1);
    while (names->slots[slot] != 0 && strcmp(texts[names->slots[slot] - 1], text) != 0)
        slot = (slot + 1) & (names->slot_count - 1);
    return slot;
}

/* Keeps at least half of the slots empty. */
static ex_result make_room(exi_obj_names *names, const exi_obj_scan *scan, char *const *texts, int count) {
    if (names->slots && (size_t)count < names->slot_count / 2)
        return EX_OK;
    size_t slot_count = names->slot_count > 0 ? names->slot_count * 2 : 64;
    int *slots = exi_array_allocate(slot_count, sizeof *slots);
    if (!slots)
        return exi_obj_no_memory(scan);
    memset(slots, 0, slot_count * sizeof *slots);
    free(names->slots);
    names->slots = slots;
    names->slot_count = slot_count;
    for (int i = 0; i < count; i++)
        slots[find_slot(names, texts, texts[i])] = i + 1;
    return EX_OK;
}

ex_result exi_obj_names_use(exi_obj_names *names, const exi_obj_scan *scan, char ***texts, int *count, int *number) {
    *number = names->current_number;
    if (names->current_number >= 0 || names->current_size == 0)
        return EX_OK;
    ex_result result = make_room(names, scan, *texts, *count);
    if (result != EX_OK)
        return result;
    size_t slot = find_slot(names, *texts, names->current);
    if (names->slots[slot] == 0) {
        char **moved = exi_array_grow(*texts, &names->names_capacity, (size_t)*count + 1, sizeof **texts);
        if (!moved)
            return exi_obj_no_memory(scan);
        *texts = moved;
        moved[*count] = exi_text_copy(names->current, names->current_size);
        if (!moved[*count])
            return exi_obj_no_memory(scan);
        names->slots[slot] = ++*count;
    }
    names->current_number = names->slots[slot] - 1;
    *number = names->current_number;
    return EX_OK;
}

void exi_obj_names_free(exi_obj_names *names) {
    free(names->current);
    free(names->slots);
    *names = (exi_obj_names){0};
}
