/*
 * C3D files: position and number of the points.
 *
 * Header and parameters both give them, the header in two bytes each, and programs that changed a file often updated
 * only one of the two. Five values decide what is read: points, analogue numbers per frame, frames, the start of the
 * data, and whether they are reals. For the values on which the two sources differ, every mixture is tried, from all
 * parameters to all header. The first whose data end in the last block of the file is taken; otherwise the first that
 * fits into the file.
 *
 * Frames: POINT:FRAMES has two bytes as well. TRIAL:ACTUAL_START_FIELD and ACTUAL_END_FIELD, of four bytes, are used if
 * they agree with it modulo 65536, or if it is missing, 0 or at its maximum; then POINT:LONG_FRAMES likewise.
 */
#include "author/formats/motion/c3d.h"

#include <limits.h>
#include <math.h>

enum { SOURCE_POINTS = 1, SOURCE_ANALOGUE = 2, SOURCE_FRAMES = 4, SOURCE_START = 8, SOURCE_REAL = 16, SOURCES = 32 };

#define COUNT_MOST ((double)INT_MAX)

static bool count_of(const exi_c3d *r, const char *group, const char *name, uint64_t *count) {
    double value;
    if (!exi_c3d_number(r, group, name, 0, &value) || !(value >= 0 && value <= COUNT_MOST))
        return false;
    *count = (uint64_t)value;
    return true;
}

/* ---- layout from the header ---- */

static exi_c3d_layout layout_of_header(const exi_c3d *r) {
    exi_c3d_layout layout = {.points = exi_c3d_word(r, 2), .analogue = exi_c3d_word(r, 4)};
    const uint64_t first = exi_c3d_word(r, 6), last = exi_c3d_word(r, 8), block = exi_c3d_word(r, 16);
    layout.first_frame = (int64_t)first;
    layout.frames = last >= first ? last - first + 1 : 0;
    layout.scale = exi_c3d_real(r, 12);
    layout.real = layout.scale < 0;
    layout.start = block > 0 ? (block - 1) * EXI_C3D_BLOCK : 0;
    layout.rate = exi_c3d_real(r, 20);
    return layout;
}

/* ---- layout from the parameters, with the header as fallback ---- */

/* Gets a number of four bytes from two numbers of two bytes. */
static bool field_of(const exi_c3d *r, const char *name, int64_t *value) {
    double low, high;
    if (!exi_c3d_number(r, "TRIAL", name, 0, &low) || !exi_c3d_number(r, "TRIAL", name, 1, &high) ||
        !(low >= 0 && low < 65536 && high >= 0 && high < 65536))
        return false;
    *value = (int64_t)low + 65536 * (int64_t)high;
    return true;
}

static void take_frames(const exi_c3d *r, exi_c3d_layout *layout) {
    uint64_t frames = 0, longer = 0;
    int64_t start, end;
    const bool there = count_of(r, "POINT", "FRAMES", &frames) && frames > 0;
    const bool full = !there || frames >= 65535;
    if (there)
        layout->frames = frames;
    if (full && count_of(r, "POINT", "LONG_FRAMES", &longer) && longer > 0)
        layout->frames = longer;
    if (!field_of(r, "ACTUAL_START_FIELD", &start) || !field_of(r, "ACTUAL_END_FIELD", &end) || end < start)
        return;
    longer = (uint64_t)(end - start) + 1;
    if (!full && longer % 65536 != frames)
        return;
    layout->frames = longer;
    layout->first_frame = start;
}

static void take_analogue(const exi_c3d *r, exi_c3d_layout *layout) {
    uint64_t used;
    double rate;
    if (!count_of(r, "ANALOG", "USED", &used))
        return;
    if (used == 0)
        layout->analogue = 0;
    else if (exi_c3d_number(r, "ANALOG", "RATE", 0, &rate) && rate > 0 && layout->rate > 0 &&
             rate / layout->rate < 65536 && used < 65536)
        layout->analogue = used * (uint64_t)(rate < layout->rate ? 1 : floor(rate / layout->rate + 0.5));
}

static exi_c3d_layout layout_of_parameters(const exi_c3d *r, const exi_c3d_layout *header) {
    exi_c3d_layout layout = *header;
    uint64_t count;
    double number;
    if (count_of(r, "POINT", "USED", &count))
        layout.points = count;
    if (count_of(r, "POINT", "DATA_START", &count) && count > 0)
        layout.start = (count - 1) * EXI_C3D_BLOCK;
    if (exi_c3d_number(r, "POINT", "SCALE", 0, &number) && number != 0) {
        layout.scale = number;
        layout.real = number < 0;
    }
    if (exi_c3d_number(r, "POINT", "RATE", 0, &number) && number > 0)
        layout.rate = number;
    take_frames(r, &layout);
    take_analogue(r, &layout);
    return layout;
}

/* ---- choosing ---- */

static exi_c3d_layout mix(const exi_c3d_layout *parameters, const exi_c3d_layout *header, int sources) {
    exi_c3d_layout layout = *parameters;
    layout.points = sources & SOURCE_POINTS ? header->points : parameters->points;
    layout.analogue = sources & SOURCE_ANALOGUE ? header->analogue : parameters->analogue;
    layout.start = sources & SOURCE_START ? header->start : parameters->start;
    if (sources & SOURCE_FRAMES) {
        layout.frames = header->frames;
        layout.first_frame = header->first_frame;
    }
    if (sources & SOURCE_REAL) {
        layout.real = header->real;
        layout.scale = header->scale;
    }
    return layout;
}

static int differences(const exi_c3d_layout *a, const exi_c3d_layout *b) {
    return (a->points != b->points ? SOURCE_POINTS : 0) | (a->analogue != b->analogue ? SOURCE_ANALOGUE : 0) |
           (a->frames != b->frames ? SOURCE_FRAMES : 0) | (a->start != b->start ? SOURCE_START : 0) |
           (a->real != b->real ? SOURCE_REAL : 0);
}

/* Products stay far below 2^64: points and channels are at most 2^31, and so are frames. */
uint64_t exi_c3d_frame_size(const exi_c3d_layout *layout) {
    return (4 * layout->points + layout->analogue) * (layout->real ? 4 : 2);
}

/* Returns the bytes left after the last frame; -1 if the frames do not fit. */
static int64_t room_left(const exi_c3d *r, const exi_c3d_layout *layout) {
    const uint64_t frame = exi_c3d_frame_size(layout);
    if (layout->points == 0 || layout->frames == 0 || layout->start < r->parameters_end || layout->start > r->size)
        return -1;
    const uint64_t room = r->size - layout->start;
    return frame > 0 && layout->frames <= room / frame ? (int64_t)(room - layout->frames * frame) : -1;
}

static ex_result no_room(const exi_c3d *r, const exi_c3d_layout *layout) {
    if (layout->points == 0)
        return exi_c3d_fail(r, EX_ERROR_DATA, 2, "there are no points in the file: export it with its markers");
    if (layout->frames == 0)
        return exi_c3d_fail(r, EX_ERROR_DATA, 6,
                            "there are no frames in the file: its last frame, %u, is before its "
                            "first, %u; export it again",
                            exi_c3d_word(r, 8), exi_c3d_word(r, 6));
    if (layout->start < r->parameters_end)
        return exi_c3d_fail(
            r, EX_ERROR_DATA, 16,
            "the points would begin at byte %llu, before the end of the parameters: export the file again",
            (unsigned long long)layout->start);
    const uint64_t room = layout->start < r->size ? r->size - layout->start : 0;
    return exi_c3d_fail(r, EX_ERROR_DATA, r->size,
                        "the file ends too early: it has %llu of %llu frames of %llu points; copy or export it again",
                        (unsigned long long)(room / exi_c3d_frame_size(layout)), (unsigned long long)layout->frames,
                        (unsigned long long)layout->points);
}

/* A number of frames at the limit of two bytes says nothing: then all frames that the file has are taken. */
static void count_frames(const exi_c3d *r, exi_c3d_layout *layout, int *found) {
    const uint64_t frame = exi_c3d_frame_size(layout);
    if (layout->frames < 65535 || layout->points == 0 || frame == 0 || layout->start < r->parameters_end ||
        layout->start > r->size || r->size - layout->start < frame)
        return;
    layout->frames = (r->size - layout->start) / frame;
    layout->guessed = true;
    *found = 0;
}

ex_result exi_c3d_find_layout(const exi_c3d *r, exi_c3d_layout *layout) {
    const exi_c3d_layout header = layout_of_header(r), parameters = layout_of_parameters(r, &header);
    const int differ = differences(&parameters, &header);
    int found = -1;
    bool exact = false;
    for (int sources = 0; sources < SOURCES && !exact; sources++) {
        if (sources & ~differ)
            continue;
        const exi_c3d_layout mixed = mix(&parameters, &header, sources);
        const int64_t left = room_left(r, &mixed);
        exact = left >= 0 && left < EXI_C3D_BLOCK;
        if (exact || (left >= 0 && found < 0))
            found = sources;
    }
    *layout = mix(&parameters, &header, found < 0 ? 0 : found);
    if (!exact)
        count_frames(r, layout, &found);
    if (found < 0)
        return no_room(r, layout);
    if (layout->frames > INT_MAX || layout->points > INT_MAX)
        return exi_c3d_fail(r, EX_ERROR_LIMIT, 2, "more than 2147483647 points or frames cannot be read");
    if (!layout->real && !(layout->scale > 0 && isfinite(layout->scale)))
        return exi_c3d_fail(r, EX_ERROR_DATA, 12,
                            "the points are integers, and their scale is %g: export the file again", layout->scale);
    layout->rate = layout->rate > 0 && layout->rate < 1e9 ? layout->rate : 0;
    return EX_OK;
}
