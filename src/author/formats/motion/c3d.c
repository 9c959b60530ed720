/*
 * C3D files: markers of motion capture, frame by frame, as integers or reals, after a header and a section of
 * parameters. A frame holds x, y, z and a fourth number for every point (negative: the point was not seen), and then
 * the samples of analogue channels.
 */
#include "author/formats/motion/c3d.h"

#include "author/base/array.h"
#include "author/formats/foreign.h"
#include "author/formats/motion/marker_sets.h"
#include "author/formats/motion/markers.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Iterates over labels: LABELS has at most 255; LABELS2, LABELS3, … continue it. */
typedef struct label_list {
    const exi_c3d_record *record; /* NULL after the last */
    int number;
    size_t index;
} label_list;

static const char *next_label(const exi_c3d *r, label_list *list, size_t *size) {
    while (list->record && list->index >= exi_c3d_text_count(r, list->record)) {
        char name[32];
        snprintf(name, sizeof name, "LABELS%d", ++list->number);
        list->record = exi_c3d_find(r, "POINT", name);
        list->index = 0;
    }
    *size = 0;
    return list->record ? exi_c3d_text(r, list->record, list->index++, size) : NULL;
}

/* Lists of quantities that models computed and wrote among the points. */
static const char *const no_places[] = {"ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS"};
enum { NO_PLACES = (int)(sizeof no_places / sizeof *no_places) };

static bool lists(const exi_c3d *r, const exi_c3d_record *list, const char *label, size_t size) {
    for (size_t k = 0; k < exi_c3d_text_count(r, list) && size > 0; k++) {
        size_t other_size;
        const char *other = exi_c3d_text(r, list, k, &other_size);
        if (other_size == size && memcmp(other, label, size) == 0)
            return true;
    }
    return false;
}

/* Kinds of points, by the file's lists or else by the names that models give their results. */
typedef enum point_kind { POINT_MARKER, POINT_ANGLE, POINT_OTHER } point_kind;

static point_kind kind_of(const exi_c3d *r, const exi_c3d_record *const records[NO_PLACES], const char *label,
                          size_t size) {
    char name[EXI_MARKER_WORD], word[EXI_MARKER_WORD];
    for (int i = 0; i < NO_PLACES; i++)
        if (lists(r, records[i], label, size))
            return i == 0 ? POINT_ANGLE : POINT_OTHER;
    if (size == 0 || size >= sizeof name)
        return POINT_MARKER;
    memcpy(name, label, size);
    name[size] = '\0';
    if (exi_marker_look_up(name).kind != EXI_MARKER_NUMBERS)
        return POINT_MARKER;
    exi_marker_word(name, word);
    return strstr(word, "ANGLE") ? POINT_ANGLE : POINT_OTHER;
}

static bool keep_label(char **names, int *count, const char *label, size_t size) {
    names[*count] = exi_text_copy(label, size);
    if (!names[*count])
        return false;
    ++*count;
    return true;
}

/* Finds the points that are markers or angles, and their names. places [points] receives their index among markers, or
 * -1 for others and -2 - the index among angles. */
static ex_result read_names(const exi_c3d *r, const exi_c3d_layout *layout, ex_markers *markers, int *places) {
    const size_t count = (size_t)layout->points;
    label_list labels = {.record = exi_c3d_find(r, "POINT", "LABELS"), .number = 1};
    const exi_c3d_record *records[NO_PLACES];
    for (int i = 0; i < NO_PLACES; i++)
        records[i] = exi_c3d_find(r, "POINT", no_places[i]);
    markers->names = calloc(count, sizeof *markers->names);
    markers->angle_names = calloc(count, sizeof *markers->angle_names);
    if (!markers->names || !markers->angle_names)
        return exi_c3d_no_memory(r);
    for (size_t p = 0; p < count; p++) {
        size_t size;
        const char *label = next_label(r, &labels, &size);
        char plain[32];
        const point_kind kind = kind_of(r, records, label, size);
        places[p] = kind == POINT_MARKER ? markers->marker_count : kind == POINT_ANGLE ? -2 - markers->angle_count : -1;
        markers->other_count += kind == POINT_OTHER;
        if (size == 0) {
            size = (size_t)snprintf(plain, sizeof plain, "point%zu", p + 1);
            label = plain;
        }
        if ((kind == POINT_MARKER && !keep_label(markers->names, &markers->marker_count, label, size)) ||
            (kind == POINT_ANGLE && !keep_label(markers->angle_names, &markers->angle_count, label, size)))
            return exi_c3d_no_memory(r);
    }
    if (markers->marker_count == 0)
        return exi_c3d_fail(r, EX_ERROR_DATA, 2, "none of the %zu points is a marker: export the file with its markers",
                            count);
    return exi_markers_tidy_names(markers) ? EX_OK : exi_c3d_no_memory(r);
}

/* ---- points ---- */

static double coordinate(const exi_c3d *r, const exi_c3d_layout *layout, size_t at) {
    if (layout->real)
        return exi_c3d_real(r, at);
    const int word = (int)exi_c3d_word(r, at);
    return (word < 32768 ? word : word - 65536) * layout->scale;
}

/* position receives metres in the file's axes, or NaN. */
static ex_result read_point(const exi_c3d *r, const exi_c3d_layout *layout, size_t at, double metres,
                            float position[3]) {
    const size_t width = layout->real ? 4 : 2;
    double x[3];
    bool zero = true, number = true;
    for (int i = 0; i < 3; i++) {
        x[i] = coordinate(r, layout, at + (size_t)i * width) * metres;
        zero = zero && x[i] == 0;
        number = number && isfinite(x[i]);
    }
    const double residual =
        layout->real ? exi_c3d_real(r, at + 3 * width) : (exi_c3d_word(r, at + 3 * width) & 0x8000 ? -1 : 0);
    const bool seen = number && !zero && !(residual < 0);
    for (int i = 0; i < 3; i++) {
        if (seen && fabs(x[i]) > EXI_MARKER_FAR)
            return exi_c3d_fail(r, EX_ERROR_DATA, at + (size_t)i * width,
                                "a marker is %g m from the origin, which cannot be: the file is damaged, or its unit "
                                "or number format is not what it says",
                                x[i]);
        position[i] = seen ? (float)x[i] : NAN;
    }
    return EX_OK;
}

/* Angles are kept as they are in the file; NaN if not there. */
static void read_angle(const exi_c3d *r, const exi_c3d_layout *layout, size_t at, float angle[3]) {
    const size_t width = layout->real ? 4 : 2;
    bool good = layout->real ? !(exi_c3d_real(r, at + 3 * width) < 0) : !(exi_c3d_word(r, at + 3 * width) & 0x8000);
    for (int i = 0; i < 3; i++) {
        angle[i] = (float)coordinate(r, layout, at + (size_t)i * width);
        good = good && isfinite(angle[i]);
    }
    for (int i = 0; i < 3 && !good; i++)
        angle[i] = NAN;
}

static ex_result read_points(const exi_c3d *r, const exi_c3d_layout *layout, double metres, const int *places,
                             ex_markers *markers) {
    const size_t count = (size_t)markers->marker_count, frames = (size_t)layout->frames;
    const size_t frame_size = (size_t)exi_c3d_frame_size(layout), point_size = layout->real ? 16 : 8;
    markers->positions =
        frames <= SIZE_MAX / 12 / count ? exi_array_allocate(frames * count, 3 * sizeof *markers->positions) : NULL;
    const size_t angles = (size_t)markers->angle_count;
    if (angles > 0 && frames <= SIZE_MAX / 12 / angles)
        markers->angles = exi_array_allocate(frames * angles, 3 * sizeof *markers->angles);
    ex_result result = markers->positions && (angles == 0 || markers->angles) ? EX_OK : exi_c3d_no_memory(r);
    for (size_t f = 0; f < frames && result == EX_OK; f++)
        for (size_t p = 0; p < layout->points && result == EX_OK; p++) {
            const size_t at = (size_t)layout->start + f * frame_size + p * point_size;
            if (places[p] >= 0)
                result = read_point(r, layout, at, metres, markers->positions + 3 * (f * count + (size_t)places[p]));
            else if (places[p] < -1)
                read_angle(r, layout, at, markers->angles + 3 * (f * angles + (size_t)(-2 - places[p])));
        }
    return result;
}

/* ---- the file ---- */

static ex_result read_unit(const exi_c3d *r, ex_markers *markers, double *metres, bool *stated) {
    const exi_c3d_record *record = exi_c3d_find(r, "POINT", "UNITS");
    size_t size = 0;
    const char *text = exi_c3d_text_count(r, record) > 0 ? exi_c3d_text(r, record, 0, &size) : NULL;
    *stated = size > 0;
    markers->unit = size > 0 ? exi_text_copy(text, size) : exi_text_copy("mm", 2);
    if (!markers->unit)
        return exi_c3d_no_memory(r);
    *metres = exi_markers_unit(markers->unit);
    if (*metres == 0)
        return exi_c3d_fail(r, EX_ERROR_DATA, record->data,
                            "POINT:UNITS names an unknown unit of length: export the file in mm, cm, m, in or ft");
    return EX_OK;
}

/* Returns the file's up direction, if it gives one; `text` has room for it. */
static const char *find_up(const exi_c3d *r, char text[3]) {
    const exi_c3d_record *record = exi_c3d_find(r, "POINT", "Y_SCREEN");
    size_t size = 0;
    const char *from = exi_c3d_text_count(r, record) > 0 ? exi_c3d_text(r, record, 0, &size) : NULL;
    if (size != 2 || (from[0] != '+' && from[0] != '-') || !strchr("XYZxyz", from[1]))
        return NULL;
    text[0] = from[0];
    text[1] = from[1];
    text[2] = '\0';
    return text;
}

/* Drops frames at the end that show nothing: they may be padding. */
static void trim_frames(ex_markers *markers) {
    const size_t row = 3 * (size_t)markers->marker_count;
    for (bool empty = true; empty && markers->frame_count > 1; markers->frame_count -= empty) {
        const float *last = markers->positions + (size_t)(markers->frame_count - 1) * row;
        for (size_t i = 0; i < row && empty; i += 3)
            empty = isnan(last[i]);
    }
}

static ex_result read_markers(const exi_c3d *r, ex_markers *markers) {
    exi_c3d_layout layout;
    double metres = 0, used = 0;
    bool unit_stated = false;
    char up[3];
    ex_result result = exi_c3d_find_layout(r, &layout);
    if (result != EX_OK)
        return result;
    int *places = exi_array_allocate((size_t)layout.points, sizeof *places);
    result = places ? read_names(r, &layout, markers, places) : exi_c3d_no_memory(r);
    if (result == EX_OK)
        result = read_unit(r, markers, &metres, &unit_stated);
    if (result == EX_OK)
        result = read_points(r, &layout, metres, places, markers);
    free(places);
    markers->frame_count = (int)layout.frames;
    markers->first_frame = (int)(layout.first_frame <= 2000000000 ? layout.first_frame : 2000000000);
    markers->rate = layout.rate;
    if (layout.analogue > 0)
        markers->analogue_count = exi_c3d_number(r, "ANALOG", "USED", 0, &used) ? (int)used : (int)layout.analogue;
    if (result == EX_OK && layout.guessed)
        trim_frames(markers);
    if (result == EX_OK && layout.guessed &&
        !exi_markers_note(markers, "the header's number of frames is not true: the file has %d", markers->frame_count))
        result = exi_c3d_no_memory(r);
    return result == EX_OK ? exi_markers_settle(markers, find_up(r, up), "+Z", unit_stated, r->error) : result;
}

ex_result ex_c3d_parse(const void *bytes, size_t size, const char *name, ex_markers **markers, ex_error *error) {
    if (!markers || !name || (!bytes && size > 0))
        return exi_misuse_error(error, __func__, "no bytes, no name, or no pointer for the markers");
    *markers = NULL;
    exi_c3d r = {.bytes = bytes, .size = size, .path = name, .error = error};
    ex_markers *made = calloc(1, sizeof *made);
    ex_result result = made ? exi_c3d_read_parameters(&r) : exi_c3d_no_memory(&r);
    if (result == EX_OK)
        result = read_markers(&r, made);
    free(r.records);
    if (result == EX_OK)
        *markers = made;
    else
        ex_markers_destroy(made);
    return exi_foreign_explain(error, result, EXI_CONTENT_MARKERS, name, ".c3d", bytes, size);
}

ex_result ex_c3d_read(const char *path, ex_markers **markers, ex_error *error) {
    if (!path || !markers)
        return exi_misuse_error(error, __func__, "no path, or no pointer for the markers");
    char *bytes = NULL;
    size_t size = 0;
    *markers = NULL;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    if (result == EX_OK)
        result = ex_c3d_parse(bytes, size, path, markers, error);
    free(bytes);
    return result;
}
