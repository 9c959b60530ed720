/*
 * BVH files (Biovision): a hierarchy of joints and, frame by frame, a number for each of their channels. With the
 * channels of a joint in their written order, its local transform is
 *
 *     T R_1 R_2 R_3
 *
 * where R_i rotates about the i-th rotation channel's axis, and T is the joint's offset, in which each position channel
 * replaces its coordinate, as the programs that write these files do. A frame is a line.
 */
#include "author/formats/motion/bvh.h"

#include "author/base/array.h"
#include "author/formats/foreign.h"
#include "runtime/base/functions.inl"
#include "runtime/base/vector.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words and lines ---- */

ex_result exi_bvh_fail(const exi_bvh *r, ex_result result, const char *format, ...) {
    char sentence[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return ex_error_set(r->error, result, "%s:%d: %s", r->path, r->line, sentence);
}

ex_result exi_bvh_no_memory(const exi_bvh *r) {
    return ex_error_set(r->error, EX_ERROR_MEMORY, "%s: not enough memory for the motion", r->path);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static bool is_break(char c) {
    return c == '\n' || c == '\r';
}

/* Skips one character. Lines end with LF, CR LF or CR. */
static void step(exi_bvh *r) {
    const char c = *r->at++;
    const bool ends = c == '\n' || (c == '\r' && (r->at == r->end || *r->at != '\n'));
    r->next_line += ends && r->next_line < INT_MAX;
}

static bool stands_alone(char c) {
    return c == '{' || c == '}' || c == ':';
}

exi_bvh_word exi_bvh_next(exi_bvh *r) {
    while (r->at < r->end && (is_blank(*r->at) || is_break(*r->at)))
        step(r);
    exi_bvh_word word = {.text = r->at};
    r->line = r->next_line;
    if (r->at < r->end && stands_alone(*r->at))
        r->at++;
    else
        while (r->at < r->end && !is_blank(*r->at) && !is_break(*r->at) && !stands_alone(*r->at))
            r->at++;
    word.size = (size_t)(r->at - word.text);
    return word;
}

exi_bvh_word exi_bvh_rest_of_line(exi_bvh *r) {
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
    exi_bvh_word word = {.text = r->at};
    while (r->at < r->end && !is_break(*r->at) && *r->at != '{')
        r->at++;
    word.size = (size_t)(r->at - word.text);
    while (word.size > 0 && is_blank(word.text[word.size - 1]))
        word.size--;
    return word;
}

static char lower(char c) {
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool exi_bvh_is(exi_bvh_word word, const char *keyword) {
    if (strlen(keyword) != word.size)
        return false;
    for (size_t i = 0; i < word.size; i++)
        if (lower(word.text[i]) != lower(keyword[i]))
            return false;
    return true;
}

const char *exi_bvh_show(exi_bvh_word word, char text[EXI_BVH_SHOWN]) {
    enum { MOST = EXI_BVH_SHOWN - 4 };
    size_t size = word.size < MOST ? word.size : MOST;
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(word.text[i] >= ' ' && word.text[i] <= '~' ? word.text[i] : '?');
    strcpy(text + size, word.size > MOST ? "..." : "");
    return text;
}

/* Parses a number that begins at *cursor and fills its word. */
static bool parse_number(const char **cursor, const char *end, double *number) {
    const char *at = *cursor;
    if (!ex_parse_double(&at, end, number) || !(fabs(*number) <= EXI_BVH_NUMBER_MOST) ||
        (at < end && !is_blank(*at) && !is_break(*at) && !stands_alone(*at)))
        return false;
    *cursor = at;
    return true;
}

ex_result exi_bvh_number(exi_bvh *r, const char *what, double *number) {
    const exi_bvh_word word = exi_bvh_next(r);
    const char *at = word.text;
    char text[EXI_BVH_SHOWN];
    if (word.size == 0)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "the file ends where a number of %s is needed", what);
    if (!parse_number(&at, word.text + word.size, number))
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "'%s' in %s is not a number, or beyond " EXI_BVH_NUMBER_MOST_TEXT,
                            exi_bvh_show(word, text), what);
    return EX_OK;
}

/* ---- the motion's heading ---- */

static ex_result expect(exi_bvh *r, const char *keyword, const char *form) {
    const exi_bvh_word word = exi_bvh_next(r);
    char text[EXI_BVH_SHOWN];
    if (exi_bvh_is(word, keyword))
        return EX_OK;
    if (word.size == 0)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "the file ends where '%s' is needed", form);
    return exi_bvh_fail(r, EX_ERROR_FORMAT, "'%s' is needed here, not '%s'", form, exi_bvh_show(word, text));
}

static ex_result read_frame_count(exi_bvh *r, int *count) {
    static const char form[] = "Frames: COUNT";
    ex_result result = expect(r, "Frames", form);
    if (result == EX_OK)
        result = expect(r, ":", form);
    if (result != EX_OK)
        return result;
    const exi_bvh_word word = exi_bvh_next(r);
    const char *at = word.text;
    char text[EXI_BVH_SHOWN];
    if (!ex_parse_int(&at, word.text + word.size, count) || at != word.text + word.size)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "'%s' is not a number of frames", exi_bvh_show(word, text));
    if (*count < 1)
        return exi_bvh_fail(r, EX_ERROR_DATA, "there are %d frames: a motion needs at least one", *count);
    return EX_OK;
}

static ex_result read_frame_time(exi_bvh *r, double *seconds) {
    static const char form[] = "Frame Time: SECONDS";
    ex_result result = expect(r, "Frame", form);
    if (result == EX_OK)
        result = expect(r, "Time", form);
    if (result == EX_OK)
        result = expect(r, ":", form);
    if (result == EX_OK)
        result = exi_bvh_number(r, "Frame Time", seconds);
    if (result == EX_OK && !(*seconds > 0))
        result = exi_bvh_fail(r, EX_ERROR_DATA, "the Frame Time is %g seconds: it must be more than 0", *seconds);
    return result;
}

/* ---- frames ---- */

/* Returns the next line that is not empty, without its end; size 0 at the end of the file. */
static exi_bvh_word next_line(exi_bvh *r) {
    while (r->at < r->end && (is_blank(*r->at) || is_break(*r->at)))
        step(r);
    exi_bvh_word line = {.text = r->at};
    r->line = r->next_line;
    while (r->at < r->end && !is_break(*r->at))
        r->at++;
    line.size = (size_t)(r->at - line.text);
    return line;
}

static int count_words(exi_bvh_word line) {
    int count = 0;
    for (size_t i = 0; i < line.size; i++)
        count += !is_blank(line.text[i]) && (i == 0 || is_blank(line.text[i - 1]));
    return count;
}

/* Counts lines before any memory is allocated: the count in the file may be anything. */
static ex_result check_frame_count(exi_bvh *r, int promised) {
    const exi_bvh start = *r;
    exi_bvh_word last = {0};
    int count = 0;
    for (exi_bvh_word line; count <= promised && (line = next_line(r)).size > 0; count++)
        last = line;
    if (count > promised)
        return exi_bvh_fail(r, EX_ERROR_DATA, "there are more frames than the %d that 'Frames:' states", promised);
    const bool cut = count > 0 && last.text + last.size == r->end && count_words(last) < r->channel_count;
    if (cut)
        return exi_bvh_fail(r, EX_ERROR_DATA, "the file ends too early, within a frame: it has %d of %d frames",
                            count - 1, promised);
    if (count < promised)
        return exi_bvh_fail(r, EX_ERROR_DATA, "the file ends too early: it has %d of %d frames", count, promised);
    *r = start;
    return EX_OK;
}

static ex_result bad_frame(const exi_bvh *r, exi_bvh_word line, int frame, const char *at, int channel) {
    const int count = count_words(line);
    if (count != r->channel_count)
        return exi_bvh_fail(r, EX_ERROR_DATA, "frame %d has %d number%s, but the joints have %d channels", frame + 1,
                            count, count == 1 ? "" : "s", r->channel_count);
    exi_bvh_word word = {.text = at};
    while (at < line.text + line.size && !is_blank(*at))
        at++;
    word.size = (size_t)(at - word.text);
    char text[EXI_BVH_SHOWN];
    const exi_bvh_channel *c = &r->channels[channel];
    return exi_bvh_fail(r, EX_ERROR_DATA,
                        "'%s' is not a number, or beyond " EXI_BVH_NUMBER_MOST_TEXT
                        ": channel %c%s of joint '%s' in frame %d",
                        exi_bvh_show(word, text), 'X' + c->axis, c->turns ? "rotation" : "position",
                        r->clip->joints[c->joint].name, frame + 1);
}

static ex_result read_numbers(const exi_bvh *r, exi_bvh_word line, int frame, double *numbers) {
    const char *at = line.text, *end = line.text + line.size;
    for (int i = 0; i <= r->channel_count; i++) {
        while (at < end && is_blank(*at))
            at++;
        if (i == r->channel_count)
            break;
        if (!parse_number(&at, end, &numbers[i]))
            return bad_frame(r, line, frame, at, i);
    }
    return at == end ? EX_OK : bad_frame(r, line, frame, at, 0);
}

static void turn(double q[4], int axis, double degrees) {
    double by[4] = {0};
    exi_sin_cos(fmod(degrees, 720.0) * (3.14159265358979323846 / 360.0), &by[axis], &by[3]);
    exi_quaternion_multiply(q, by, q);
}

/* Chooses q or -q, whichever is nearer to the frame before, so that interpolation never takes the long way round. */
static void set_rotation(ex_transform *local, const double q[4], const ex_transform *before) {
    double along = 0;
    for (int i = 0; i < 4; i++)
        along += q[i] * (before ? (double)before->rotation[i] : 0);
    for (int i = 0; i < 4; i++)
        local->rotation[i] = (float)(along < 0 ? -q[i] : q[i]);
}

/* Channels of a joint are consecutive. before: the frame before, or NULL. */
static void set_locals(const exi_bvh *r, const double *numbers, ex_transform *locals, const ex_transform *before) {
    for (int j = 0; j < r->clip->joint_count; j++)
        locals[j] = r->clip->joints[j].rest;
    for (int i = 0; i < r->channel_count;) {
        const int joint = r->channels[i].joint;
        double q[4] = {0, 0, 0, 1};
        for (; i < r->channel_count && r->channels[i].joint == joint; i++)
            if (r->channels[i].turns)
                turn(q, r->channels[i].axis, numbers[i]);
            else
                locals[joint].translation[r->channels[i].axis] = (float)numbers[i];
        set_rotation(&locals[joint], q, before ? &before[joint] : NULL);
    }
}

static ex_result read_frames(exi_bvh *r, int count, double seconds) {
    ex_clip *clip = r->clip;
    const size_t joints = (size_t)clip->joint_count;
    double *numbers = exi_array_allocate((size_t)r->channel_count, sizeof *numbers);
    clip->times = exi_array_allocate((size_t)count, sizeof *clip->times);
    clip->locals = joints <= SIZE_MAX / sizeof *clip->locals / (size_t)count
                       ? exi_array_allocate((size_t)count * joints, sizeof *clip->locals)
                       : NULL;
    ex_result result = numbers && clip->times && clip->locals ? EX_OK : exi_bvh_no_memory(r);
    for (int f = 0; f < count && result == EX_OK; f++) {
        ex_transform *locals = clip->locals + (size_t)f * joints;
        result = read_numbers(r, next_line(r), f, numbers);
        if (result == EX_OK)
            set_locals(r, numbers, locals, f > 0 ? locals - joints : NULL);
        clip->times[f] = f * seconds;
    }
    clip->frame_count = count;
    free(numbers);
    return result;
}

static ex_result read_motion(exi_bvh *r) {
    int count = 0;
    double seconds = 0;
    if (r->channel_count == 0)
        return exi_bvh_fail(r, EX_ERROR_DATA, "no joint has channels, so there is no motion in the file");
    ex_result result = read_frame_count(r, &count);
    if (result == EX_OK)
        result = read_frame_time(r, &seconds);
    if (result == EX_OK)
        result = check_frame_count(r, count);
    return result == EX_OK ? read_frames(r, count, seconds) : result;
}

ex_result ex_bvh_parse(const char *text, size_t size, const char *path, ex_clip **clip, ex_error *error) {
    if (!clip || !path || (!text && size > 0))
        return exi_misuse_error(error, __func__, "no text, no path, or no pointer for the clip");
    *clip = NULL;
    text = text ? text : "";
    exi_bvh r = {.path = path, .at = text, .end = text + size, .line = 1, .next_line = 1, .error = error};
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        r.at += 3;
    r.clip = calloc(1, sizeof *r.clip);
    ex_result result = r.clip ? exi_bvh_read_joints(&r) : exi_bvh_no_memory(&r);
    if (result == EX_OK)
        result = read_motion(&r);
    free(r.seen);
    free(r.channels);
    if (result == EX_OK)
        *clip = r.clip;
    else
        ex_clip_destroy(r.clip);
    return exi_foreign_explain(error, result, EXI_CONTENT_MOTION, path, ".bvh", text, size);
}

ex_result ex_bvh_read(const char *path, ex_clip **clip, ex_error *error) {
    if (!path || !clip)
        return exi_misuse_error(error, __func__, "no path, or no pointer for the clip");
    char *text = NULL;
    size_t size = 0;
    *clip = NULL;
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result == EX_OK)
        result = ex_bvh_parse(text, size, path, clip, error);
    free(text);
    return result;
}
