/*
 * Joins a static trial and a motion of the same person into one trial: some frames of the static one, then all of the
 * motion. Markers that only the static trial has, such as those on the inner side of the knees, come last, and are not
 * seen in the motion.
 */
#include "author/scan/capture/capture.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STILL = 8 };

static int find_name(const ex_markers *markers, int count, const char *name) {
    char word[EXI_MARKER_WORD], other[EXI_MARKER_WORD];
    for (int m = 0; m < count; m++)
        if (strcmp(markers->names[m], name) == 0)
            return m;
    exi_marker_word(name, word);
    for (int m = 0; m < count && *word; m++) {
        exi_marker_word(markers->names[m], other);
        if (strcmp(word, other) == 0)
            return m;
    }
    return -1;
}

/* Frame i of count taken evenly from the static trial, avoiding its ends. */
static int still_frame(const ex_markers *still, int i, int count) {
    return (int)(((int64_t)2 * i + 1) * still->frame_count / (2 * count));
}

static bool copy_names(exi_capture_work *w, int *from) {
    const ex_markers *motion = w->motion, *still = w->options->still;
    ex_markers *made = w->markers;
    for (int m = 0; m < motion->marker_count; m++, made->marker_count++)
        if (!(made->names[m] = exi_text_copy(motion->names[m], strlen(motion->names[m]))))
            return false;
    for (int m = 0; still && m < still->marker_count; m++) {
        from[m] = find_name(motion, motion->marker_count, still->names[m]);
        if (from[m] >= 0)
            continue;
        from[m] = made->marker_count;
        if (!(made->names[from[m]] = exi_text_copy(still->names[m], strlen(still->names[m]))))
            return false;
        made->marker_count++;
    }
    return true;
}

static void copy_row(const ex_markers *source, int frame, const int *to, float *row) {
    for (int m = 0; m < source->marker_count; m++)
        memcpy(row + 3 * (to ? to[m] : m),
               source->positions + 3 * ((size_t)frame * (size_t)source->marker_count + (size_t)m), 3 * sizeof *row);
}

ex_result exi_capture_join(exi_capture_work *w) {
    const ex_markers *motion = w->motion, *still = w->options->still;
    const size_t most = (size_t)motion->marker_count + (size_t)(still ? still->marker_count : 0);
    w->still_count = !still ? 0 : still->frame_count < STILL ? still->frame_count : STILL;
    w->markers = calloc(1, sizeof *w->markers);
    int *from = exi_array_allocate(most, sizeof *from);
    if (w->markers)
        w->markers->names = calloc(most, sizeof *w->markers->names);
    bool good = w->markers && from && w->markers->names && copy_names(w, from);
    if (good) {
        ex_markers *made = w->markers;
        made->frame_count = w->still_count + motion->frame_count;
        made->rate = motion->rate;
        made->first_frame = motion->first_frame;
        const size_t row = 3 * (size_t)made->marker_count;
        made->positions = exi_array_allocate((size_t)made->frame_count * row, sizeof *made->positions);
        good = made->positions != NULL;
        for (size_t i = 0; good && i < (size_t)made->frame_count * row; i++)
            made->positions[i] = NAN;
        for (int f = 0; good && f < made->frame_count; f++)
            copy_row(f < w->still_count ? still : motion,
                     f < w->still_count ? still_frame(still, f, w->still_count) : f - w->still_count,
                     f < w->still_count ? from : NULL, made->positions + (size_t)f * row);
    }
    free(from);
    return good ? EX_OK : exi_capture_no_memory(w);
}
