/* cli/info/info_markers.c - describes markers over time (.c3d, .trc) for `exemplar info`. */
#include "info.h"

#include "cli/base/report.h"

#include <exemplar/author.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Number of frames in which a marker is seen, number of gaps, and the longest. Missing frames before the first sighting
 * and after the last are not gaps. */
typedef struct sightings {
    int count, first, last; /* frames, from 0; first -1: never */
    int gaps, longest;
} sightings;

static sightings count_sightings(const ex_markers *markers, int marker) {
    sightings found = {.first = -1, .last = -1};
    for (int f = 0; f < markers->frame_count; f++) {
        const size_t i = (size_t)f * (size_t)markers->marker_count + (size_t)marker;
        if (isnan(markers->positions[3 * i]))
            continue;
        if (found.first >= 0 && f > found.last + 1) {
            found.gaps++;
            found.longest = f - found.last - 1 > found.longest ? f - found.last - 1 : found.longest;
        }
        found.first = found.first < 0 ? f : found.first;
        found.last = f;
        found.count++;
    }
    return found;
}

static void find_box(const ex_markers *markers, double box[6]) {
    const size_t count = (size_t)markers->frame_count * (size_t)markers->marker_count;
    bool any = false;
    for (int i = 0; i < 6; i++)
        box[i] = 0;
    for (size_t k = 0; k < count; k++) {
        const float *p = markers->positions + 3 * k;
        for (int i = 0; i < 3 && !isnan(p[0]); i++) {
            box[i] = !any || (double)p[i] < box[i] ? (double)p[i] : box[i];
            box[3 + i] = !any || (double)p[i] > box[3 + i] ? (double)p[i] : box[3 + i];
        }
        any = any || !isnan(p[0]);
    }
}

/* "skipped   16 analogue channels, 3 forces …" */
static void print_passed_over(const ex_markers *markers) {
    char text[EXI_TEXT_SIZE];
    if (markers->angle_count > 0)
        exi_print("angles    %s of another program\n", exi_text_count(text, markers->angle_count, "joint"));
    if (markers->analogue_count == 0 && markers->other_count == 0)
        return;
    exi_print("skipped   ");
    if (markers->analogue_count > 0)
        exi_print("%s", exi_text_count(text, markers->analogue_count, "analogue channel"));
    if (markers->other_count > 0)
        exi_print("%s%s of another program (forces, moments, powers)", markers->analogue_count > 0 ? ", " : "",
                  exi_text_count(text, markers->other_count, "result"));
    exi_print("\n");
}

static void print_markers(const char *path, const ex_markers *markers) {
    char text[EXI_TEXT_SIZE];
    double box[6];
    find_box(markers, box);
    exi_info_begin(path, "markers over time");
    exi_print("frames    %s, from %d on", exi_text_count(text, markers->frame_count, "frame"), markers->first_frame);
    if (markers->rate > 0)
        exi_print(", %.6g a second, %.4g s", markers->rate, (markers->frame_count - 1) / markers->rate);
    exi_print("\nunit      %s, %s up; in metres, y up:\n", markers->unit, markers->up);
    exi_info_print_box(box);
    print_passed_over(markers);
    for (int i = 0; i < markers->note_count; i++)
        exi_print("note      %s\n", markers->notes[i]);
    int whole = 0, width = 0;
    for (int m = 0; m < markers->marker_count; m++) {
        const int length = exi_plain_width(markers->names[m]);
        width = length > width && length <= 24 ? length : width;
        whole += count_sightings(markers, m).count == markers->frame_count;
    }
    exi_print("markers   %d, %d of them seen in every frame\n", markers->marker_count, whole);
    for (int m = 0; m < markers->marker_count; m++) {
        const sightings found = count_sightings(markers, m);
        if (found.count == markers->frame_count)
            continue;
        exi_print("  %-*s seen in %d", width, markers->names[m], found.count);
        if (found.gaps > 0)
            exi_print(", %s of at most %d", exi_text_count(text, found.gaps, "gap"), found.longest);
        exi_print("\n");
    }
    if (whole > 0)
        exi_print("  always:");
    for (int m = 0, column = 9; m < markers->marker_count && whole > 0; m++) {
        const int length = exi_plain_width(markers->names[m]) + 1;
        if (count_sightings(markers, m).count < markers->frame_count)
            continue;
        if (column + length > 79)
            exi_print("\n         ");
        column = (column + length > 79 ? 9 : column) + length;
        exi_print(" %s", markers->names[m]);
    }
    if (whole > 0)
        exi_print("\n");
}

static void print_markers_json(const char *path, const ex_markers *markers) {
    double box[6];
    find_box(markers, box);
    exi_emitter json = exi_info_begin_json(path, "markers");
    exi_emit_number(&json, "frames", markers->frame_count);
    exi_emit_number(&json, "first_frame", markers->first_frame);
    exi_emit_number(&json, "rate", markers->rate);
    exi_emit_text(&json, "unit", markers->unit);
    exi_emit_text(&json, "up", markers->up);
    exi_emit_numbers(&json, "box", box, 6);
    exi_emit_number(&json, "angle_count", markers->angle_count);
    exi_emit_number(&json, "analogue_count", markers->analogue_count);
    exi_emit_number(&json, "other_count", markers->other_count);
    exi_emit_open(&json, "notes", '[');
    for (int i = 0; i < markers->note_count; i++)
        exi_emit_text(&json, NULL, markers->notes[i]);
    exi_emit_close(&json, ']');
    exi_emit_open(&json, "markers", '[');
    for (int m = 0; m < markers->marker_count; m++) {
        const sightings found = count_sightings(markers, m);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", markers->names[m]);
        exi_emit_number(&json, "seen", found.count);
        exi_emit_number(&json, "gaps", found.gaps);
        exi_emit_number(&json, "longest_gap", found.longest);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_info_end_json(&json);
}

int exi_info_markers(const ex_call *call, const char *path, bool text) {
    ex_error error = {.result = EX_OK};
    ex_markers *markers = NULL;
    if ((text ? ex_trc_read(path, &markers, &error) : ex_c3d_read(path, &markers, &error)) != EX_OK)
        return exi_failed(&error);
    if (call->json)
        print_markers_json(path, markers);
    else
        print_markers(path, markers);
    ex_markers_destroy(markers);
    return EX_EXIT_DONE;
}
