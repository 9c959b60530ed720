/*
 * Markers over time, from any file format: their names, names of units, and turning the up direction to y.
 *
 * The rotation from the file's axes to ours depends only on the up direction, so that it can be changed later: it is
 * the quarter or half turn about an axis that takes up to y.
 */
#include "author/formats/motion/markers.h"

#include "author/base/array.h"
#include "author/base/rows.h"
#include "author/formats/foreign.h"
#include "runtime/base/text.h"

#include <exemplar/author/files.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ex_markers_destroy(ex_markers *markers) {
    if (!markers)
        return;
    for (int m = 0; markers->names && m < markers->marker_count; m++)
        free(markers->names[m]);
    free(markers->names);
    free(markers->unit);
    free(markers->up);
    free(markers->positions);
    for (int a = 0; markers->angle_names && a < markers->angle_count; a++)
        free(markers->angle_names[a]);
    free(markers->angle_names);
    free(markers->angles);
    for (int i = 0; markers->notes && i < markers->note_count; i++)
        free(markers->notes[i]);
    free(markers->notes);
    free(markers);
}

bool exi_markers_note(ex_markers *markers, const char *format, ...) {
    char sentence[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    char **notes = realloc(markers->notes, ((size_t)markers->note_count + 1) * sizeof *notes);
    if (!notes)
        return false;
    markers->notes = notes;
    notes[markers->note_count] = exi_text_copy(sentence, strlen(sentence));
    if (!notes[markers->note_count])
        return false;
    markers->note_count++;
    return true;
}

static char lower(char c) {
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool exi_markers_same_word(const char *a, const char *b) {
    while (*a && lower(*a) == lower(*b))
        a++, b++;
    return lower(*a) == lower(*b);
}

/* ---- units ---- */

double exi_markers_unit(const char *unit) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1},
                 {"meter", 1},
                 {"meters", 1},
                 {"metre", 1},
                 {"metres", 1},
                 {"dm", 0.1},
                 {"cm", 0.01},
                 {"centimeter", 0.01},
                 {"centimeters", 0.01},
                 {"centimetre", 0.01},
                 {"centimetres", 0.01},
                 {"mm", 0.001},
                 {"millimeter", 0.001},
                 {"millimeters", 0.001},
                 {"millimetre", 0.001},
                 {"millimetres", 0.001},
                 {"um", 1e-6},
                 {"in", 0.0254},
                 {"inch", 0.0254},
                 {"inches", 0.0254},
                 {"ft", 0.3048},
                 {"feet", 0.3048}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (exi_markers_same_word(unit, units[i].name))
            return units[i].metres;
    return 0;
}

/* ---- names ---- */

static int compare_texts(const void *a, const void *b) {
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

static const char *without_prefix(const char *name) {
    const char *colon = strrchr(name, ':');
    return colon && colon[1] ? colon + 1 : name;
}

/* Sorts the names into sorted [count], with or without their prefixes. True if all are different. */
static bool sort_names(const ex_markers *markers, const char **sorted, bool prefixes) {
    const size_t count = (size_t)markers->marker_count;
    for (size_t m = 0; m < count; m++)
        sorted[m] = prefixes ? markers->names[m] : without_prefix(markers->names[m]);
    qsort(sorted, count, sizeof *sorted, compare_texts);
    for (size_t m = 1; m < count; m++)
        if (strcmp(sorted[m - 1], sorted[m]) == 0)
            return false;
    return true;
}

/* Replaces bytes that are not text by question marks, and trims blanks. */
static void clean_name(char *name) {
    size_t start = strspn(name, " \t"), size = strlen(name);
    while (size > start && (name[size - 1] == ' ' || name[size - 1] == '\t'))
        size--;
    memmove(name, name + start, size - start);
    name[size - start] = '\0';
    name[exi_text_cut(name, EXI_NAME_MAX - 8)] = '\0';
    if (*name && !exi_is_name(name))
        for (char *c = name; *c; c++)
            *c = (char)(*c >= ' ' && *c <= '~' ? *c : '?');
}

static bool set_name(ex_markers *markers, int marker, const char *name) {
    char *copy = exi_text_copy(name, strlen(name));
    if (copy) {
        free(markers->names[marker]);
        markers->names[marker] = copy;
    }
    return copy != NULL;
}

static bool name_taken(const ex_markers *markers, const char *name) {
    for (int m = 0; m < markers->marker_count; m++)
        if (strcmp(markers->names[m], name) == 0)
            return true;
    return false;
}

static uint64_t hash_name(const void *context, int row) {
    const ex_markers *markers = context;
    uint64_t hash = 0;
    for (const char *c = markers->names[row]; *c; c++)
        hash = exi_mix(hash, (uint64_t)(unsigned char)*c);
    return hash;
}

static bool same_name(const void *context, int a, int b) {
    const ex_markers *markers = context;
    return strcmp(markers->names[a], markers->names[b]) == 0;
}

/* Appends a number to every repeated name except the first. */
static bool separate_names(ex_markers *markers) {
    const exi_rows rows = {.context = markers, .hash = hash_name, .same = same_name};
    int *first = exi_array_allocate((size_t)markers->marker_count, sizeof *first);
    bool good = first && exi_rows_find_first(&rows, markers->marker_count, first);
    for (int m = 0; m < markers->marker_count && good; m++) {
        if (first[m] == m)
            continue;
        char name[EXI_NAME_MAX + 16];
        int number = m + 1;
        do
            snprintf(name, sizeof name, "%s_%d", markers->names[m], number++);
        while (name_taken(markers, name));
        good = set_name(markers, m, name);
    }
    free(first);
    return good;
}

static bool name_nameless(ex_markers *markers) {
    for (int m = 0; m < markers->marker_count; m++) {
        clean_name(markers->names[m]);
        if (*markers->names[m])
            continue;
        char name[32];
        snprintf(name, sizeof name, "point%d", m + 1);
        if (!set_name(markers, m, name))
            return false;
    }
    return true;
}

bool exi_markers_tidy_names(ex_markers *markers) {
    const char **sorted = exi_array_allocate((size_t)markers->marker_count, sizeof *sorted);
    bool good = sorted && name_nameless(markers);
    if (good && sort_names(markers, sorted, false))
        for (int m = 0; m < markers->marker_count; m++) {
            const char *name = without_prefix(markers->names[m]);
            memmove(markers->names[m], name, strlen(name) + 1);
        }
    else if (good && !sort_names(markers, sorted, true))
        good = separate_names(markers);
    free(sorted);
    return good;
}

/* ---- the up direction ---- */

static const struct {
    char name[3];
    int axes[3];  /* axes of the file that become x, y, z */
    int signs[3]; /* and their signs */
} turns[] = {
    {"+Y", {0, 1, 2}, {1, 1, 1}},   {"+Z", {0, 2, 1}, {1, 1, -1}}, {"+X", {1, 0, 2}, {-1, 1, 1}},
    {"-Y", {0, 1, 2}, {1, -1, -1}}, {"-Z", {0, 2, 1}, {1, -1, 1}}, {"-X", {1, 0, 2}, {1, -1, 1}},
};
enum { TURN_COUNT = (int)(sizeof turns / sizeof *turns) };

static int find_turn(const char *up) {
    for (int i = 0; up && i < TURN_COUNT; i++)
        if (exi_markers_same_word(up, turns[i].name) ||
            (turns[i].name[0] == '+' && exi_markers_same_word(up, turns[i].name + 1)))
            return i;
    return -1;
}

const char *exi_markers_direction(int axis, bool positive) {
    for (int i = 0; i < TURN_COUNT; i++)
        if (turns[i].axes[1] == axis && (turns[i].signs[1] > 0) == positive)
            return turns[i].name;
    return turns[0].name;
}

/* Rotates from the file's axes to ours, or back. */
static void turn_positions(ex_markers *markers, int turn, bool back) {
    const size_t count = (size_t)markers->frame_count * (size_t)markers->marker_count;
    for (size_t i = 0; i < count; i++) {
        float *p = markers->positions + 3 * i, from[3] = {p[0], p[1], p[2]};
        for (int k = 0; k < 3; k++) {
            const int a = turns[turn].axes[k], s = turns[turn].signs[k];
            const float value = from[back ? k : a] * (float)s;
            p[back ? a : k] = value == 0 ? 0 : value; /* avoids -0, which would show in files */
        }
    }
}

ex_result exi_markers_turn(ex_markers *markers, const char *up, ex_error *error) {
    const int turn = find_turn(up);
    if (turn < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "'%.20s' is not a direction: write +X, -X, +Y, -Y, +Z or -Z", up);
    char *copy = exi_text_copy(turns[turn].name, 2);
    if (!copy)
        return ex_error_memory(error, "a direction", 3);
    free(markers->up);
    markers->up = copy;
    turn_positions(markers, turn, false);
    return EX_OK;
}

ex_result ex_markers_set_up(ex_markers *markers, const char *up, ex_error *error) {
    const int old = markers && up ? find_turn(markers->up) : -1;
    if (old < 0)
        return exi_misuse_error(error, __func__, "no markers, or no direction");
    turn_positions(markers, old, true);
    const ex_result result = exi_markers_turn(markers, up, error);
    if (result != EX_OK)
        turn_positions(markers, old, false);
    return result;
}

/* ---- by file extension ---- */

ex_result ex_markers_read(const char *path, ex_markers **markers, ex_error *error) {
    if (!path || !markers)
        return exi_misuse_error(error, __func__, "no path, or no pointer for the markers");
    *markers = NULL;
    if (ex_path_ends_with(path, ".c3d"))
        return ex_c3d_read(path, markers, error);
    if (ex_path_ends_with(path, ".trc"))
        return ex_trc_read(path, markers, error);
    return exi_foreign_ending(error, EXI_CONTENT_MARKERS, path);
}
