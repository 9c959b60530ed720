/* cli/base/motions.c - reads the motion that a command plays on a rig. */
#include "motions.h"

#include "report.h"
#include "span.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <string.h>

#define PLAIN_MOST 1e6
/* An end of 0 means no end. */
#define TIME_LEAST 1e-6

/* Reads a number of seconds or of frames per second; false after printing an error. */
static bool read_plain(const ex_call *call, const char *name, const char *text, double least, double *value) {
    if (!text)
        return true;
    const char *cursor = text;
    if (ex_parse_double(&cursor, text + strlen(text), value) && *cursor == 0 && *value >= least && *value <= PLAIN_MOST)
        return true;
    exi_wrong_usage(call->command, "--%s needs a number from %g to %g, not '%s'", name, least, PLAIN_MOST, text);
    return false;
}

static bool check(const ex_call *call, const exi_motion_words *w) {
    if (!w->path && w->map)
        exi_wrong_usage(call->command, "the rig's own clips need no --map: it goes with --motion");
    else if (w->map && w->path && ex_path_ends_with(w->path, ".csv"))
        exi_wrong_usage(call->command, "a table names the rig's own axes and joints: --map goes with .bvh, .glb "
                                       "and .gltf");
    else if (w->clip && w->path && !ex_path_ends_with(w->path, ".glb") && !ex_path_ends_with(w->path, ".gltf"))
        exi_wrong_usage(call->command, "'%s' holds one motion: --clip goes with .glb and .gltf", w->path);
    else
        return true;
    return false;
}

bool exi_motion_words_read(const ex_call *call, const exi_motion_words *words, exi_motion_wish *wish) {
    *wish = (exi_motion_wish){.words = words, .options = {.clip = words->clip, .rig_name = call->arguments[0]}};
    if (!check(call, words) || !read_plain(call, "fps", words->fps, 1e-3, &wish->options.fps) ||
        !read_plain(call, "start", words->start, 0, &wish->options.start) ||
        !read_plain(call, "end", words->end, TIME_LEAST, &wish->options.end) ||
        !exi_span_read(call, "frames", "frame", words->frames, &wish->first, &wish->last))
        return false;
    if (words->start && !words->end)
        wish->options.end = INFINITY;
    return true;
}

static const char *name_of(const exi_motion_words *words) {
    return words->path ? words->path : words->clip;
}

/* Says so if the motion begins after --start, or ends before --end, which is then all that is played. */
static void say_range(const ex_call *call, const ex_motion *whole, const exi_motion_wish *w, const char *done) {
    const bool late = (w->words->start || w->words->end) && w->options.start < whole->first - TIME_LEAST;
    const bool early = w->words->end && w->options.end > whole->last + TIME_LEAST;
    char text[160], *note = text;
    if (call->quiet || (!late && !early))
        return;
    snprintf(text, sizeof text, "goes from %.4g s to %.4g s: %s %s its %s", whole->first, whole->last, done,
             late ? "from" : "to",
             late && early ? "start to its end"
             : late        ? "start"
                           : "end");
    exi_notes_print(name_of(w->words), &note, 1);
}

/* Frames first to last; false after printing an error. */
static bool cut(const ex_motion *whole, const exi_motion_wish *w, ex_motion *part) {
    const int first = w->first > 0 ? w->first : 1, last = w->last > 0 ? w->last : whole->pose_count;
    *part = *whole;
    if (last > whole->pose_count || first > last) {
        exi_failed_text("'%s' has %d frames: there is no frame %d", name_of(w->words), whole->pose_count,
                        last > whole->pose_count ? last : first);
        return false;
    }
    part->poses += first - 1;
    part->times += first - 1;
    part->pose_count = last - first + 1;
    return true;
}

bool exi_played_open(exi_played *motion, const ex_call *call, const exi_motion_wish *wish, const ex_rig *rig,
                     const char *done) {
    ex_error error = {.result = EX_OK};
    ex_joint_map *map = NULL;
    ex_motion_options options = wish->options;
    *motion = (exi_played){.whole = NULL};
    ex_result result = wish->words->map ? ex_joint_map_read(wish->words->map, &map, &error) : EX_OK;
    options.map = map;
    if (result == EX_OK)
        result = wish->words->path ? ex_motion_read(wish->words->path, rig, &options, &motion->whole, &error)
                                   : ex_rig_motion(rig, &options, &motion->whole, &error);
    ex_joint_map_destroy(map);
    if (result != EX_OK) {
        exi_failed(&error);
        return false;
    }
    if (!cut(motion->whole, wish, &motion->part))
        return false;
    say_range(call, motion->whole, wish, done);
    return true;
}

void exi_played_close(exi_played *motion) {
    ex_motion_destroy(motion->whole);
    *motion = (exi_played){.whole = NULL};
}
