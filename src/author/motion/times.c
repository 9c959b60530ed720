/*
 * Sample times of a motion: its own frames within a range, or start, start + 1/fps, start + 2/fps, … up to the end.
 * Times are those of the file.
 */
#include "author/base/array.h"
#include "author/motion/motion.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>

/* Times closer than this, in frames, are the same: files give the length of a frame with few digits. */
#define ROOM 1e-6
/* More frames, 46 hours at 60 per second, are a typing error and would fill the memory. */
#define MOST 1e7

typedef struct range {
    double start, end;
} range;

static ex_result check_numbers(const ex_motion_options *o, ex_error *error) {
    if (!(o->fps >= 0 && o->fps <= 1e9))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%g frames per second: a number from 0 to 1e9 is needed", o->fps);
    if (!isfinite(o->start) || isnan(o->end) || o->end == -INFINITY)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "start and end must be times in seconds");
    return EX_OK;
}

/* If the end is 0 with a start given, or infinity, it is the motion's end. A range that reaches beyond the motion is
 * cut to it: many clips have their first key a frame after 0. */
static ex_result find_range(const char *path, const ex_motion_options *o, double first, double last, range *r,
                            ex_error *error) {
    *r = (range){first, last};
    if (o->start == 0 && o->end == 0)
        return EX_OK;
    const double room = ROOM * (fabs(last) + fabs(first) + 1);
    const bool open = (o->end == 0 && o->start > 0) || isinf(o->end);
    if (!open && o->end < o->start)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the motion would end at %g s, before it starts at %g s", o->end,
                            o->start);
    if (o->start > last + room || (!open && o->end < first - room))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%s goes from %g s to %g s, so it cannot %s at %g s", path, first,
                            last, o->start > last + room ? "start" : "end", o->start > last + room ? o->start : o->end);
    r->start = o->start > last ? last : o->start > first ? o->start : first;
    r->end = open || o->end > last ? last : o->end > r->start ? o->end : r->start;
    return EX_OK;
}

ex_result exi_motion_times(const char *path, const ex_motion_options *options, const double *own, int own_count,
                           double **times, int *count, ex_error *error) {
    const ex_motion_options all = {0}, *o = options ? options : &all;
    range r = {0};
    ex_result result = check_numbers(o, error);
    *times = NULL;
    if (result == EX_OK)
        result = find_range(path, o, own[0], own[own_count - 1], &r, error);
    if (result != EX_OK)
        return result;
    const double steps = floor((r.end - r.start) * o->fps + ROOM);
    if (steps >= MOST)
        return ex_error_kind(error,
                             ex_error_set(error, EX_ERROR_LIMIT,
                                          "%s: %g frames per second from %g s to %g s are more than ten million frames",
                                          path, o->fps, r.start, r.end),
                             "long_motion");
    const size_t most = o->fps > 0 ? (size_t)steps + 1 : (size_t)own_count;
    *times = exi_array_allocate(most, sizeof **times);
    if (!*times)
        return ex_error_memory(error, "the times of the motion", most * sizeof **times);
    *count = 0;
    for (size_t i = 0; o->fps > 0 && i < most; i++)
        (*times)[(*count)++] = r.start + (double)i / o->fps;
    for (size_t i = 0; !(o->fps > 0) && i < most; i++)
        if (own[i] >= r.start - ROOM && own[i] <= r.end + ROOM)
            (*times)[(*count)++] = own[i];
    if (*count == 0) /* a range between two frames */
        (*times)[(*count)++] = r.start;
    return EX_OK;
}
