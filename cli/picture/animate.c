/*
 * cli/picture/animate.c - draws animated PNG files.
 *
 * A reel is the list of frames: a camera's yaw or a pose for each. All poses are evaluated once before the first
 * picture, to frame them all: of each, the vertices farthest along directions around the view are kept. Colours are
 * chosen from a few frames over the whole length, which are drawn first and kept. So memory does not grow with the
 * number of frames, except that the way back of a sweep takes its pictures from the way there if they fit.
 */
#include "animate.h"

#include "cli/bake/bake.h"
#include "cli/base/files.h"
#include "cli/base/report.h"
#include "cli/base/words.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Frames that colours are chosen from. */
#define SAMPLES 6
/* Bytes of pictures that a sweep keeps for its way back. */
#define KEPT_MOST ((size_t)256 << 20)
/* Directions around the view, and towards it and away, in which the form's farthest vertices are framed. */
#define AROUND 32
#define TILTS  3
enum { EXTREMES = AROUND * TILTS, SWEEP_MOST = 16 };

typedef struct sweep_axis {
    int input;
    double from, to;
} sweep_axis;

typedef struct reel {
    const ex_call *call;
    const exi_animate_words *words;
    exi_subject *subject;
    exi_compare *compare;
    exi_clothes *worn;
    const exi_focus *focus;
    ex_render_item item;
    const ex_pose *pose; /* of the frame, and its shift */
    float shift[3];
    ex_render_def *def;
    double yaw;       /* of the first frame */
    int count, shown; /* frames; the last one that was drawn */
    double rate;
    sweep_axis axes[SWEEP_MOST];
    int axis_count;
    exi_played motion;
    double (*middles)[2]; /* [count] where the form is on the ground, to follow it; or NULL */
    double *lows;         /* [count] the lowest place of the form */
    float *points;        /* [count][EXTREMES][3], twice if it compares; NULL for a turn */
    ex_image **kept;      /* [count] pictures that are needed again, or NULL */
} reel;

static bool moves(const exi_animate_words *w) {
    return w->motion.path || w->motion.clip;
}

bool exi_animate_asked(const exi_animate_words *w) {
    return w->turn || w->sweep.count > 0 || moves(w);
}

/* ---- words ---- */

static const char *first_of(const exi_animate_words *w) {
    return w->turn ? "turn" : w->sweep.count > 0 ? "sweep" : w->motion.path ? "motion" : "clip";
}

/* The option given that needs a motion, or any animation; NULL without one. */
static const char *stray_of(const exi_animate_words *w) {
    const exi_motion_words *m = &w->motion;
    if (!moves(w)) {
        const char *name = m->map         ? "map"
                           : m->start     ? "start"
                           : m->end       ? "end"
                           : w->follow    ? "follow"
                           : w->no_follow ? "no-follow"
                                          : NULL;
        if (name)
            return name;
    }
    if (w->grounded && !moves(w) && w->sweep.count == 0)
        return "grounded";
    return exi_animate_asked(w) ? NULL : m->fps ? "fps" : m->frames ? "frames" : w->colours ? "colours" : NULL;
}

bool exi_animate_check(const ex_call *call, const exi_animate_words *w, const char *other) {
    const char *stray = stray_of(w);
    if (stray)
        exi_wrong_usage(call->command, "--%s goes with %s", stray,
                        strcmp(stray, "fps") == 0 || strcmp(stray, "frames") == 0 || strcmp(stray, "colours") == 0
                            ? "--turn, --sweep, --motion or --clip, which make an animation"
                        : strcmp(stray, "grounded") == 0 ? "--sweep, --motion or --clip, which move a rig"
                                                         : "--motion or --clip, which move a rig");
    else if (!exi_animate_asked(w))
        return true;
    else if ((w->turn ? 1 : 0) + (w->sweep.count > 0 ? 1 : 0) + (moves(w) ? 1 : 0) > 1)
        exi_wrong_usage(call->command, "--turn, --sweep and --motion each make an animation: give one of them");
    else if (other)
        exi_wrong_usage(call->command, "--%s and --%s exclude each other", first_of(w), other);
    else if (w->follow && w->no_follow)
        exi_wrong_usage(call->command, "--follow and --no-follow exclude each other");
    else if (w->colours && strcmp(w->colours, "256") != 0 && strcmp(w->colours, "full") != 0)
        exi_wrong_usage(call->command, "--colours needs 256 or full, not '%s'", w->colours);
    else
        return true;
    return false;
}

/* Reads --frames and --fps of a turn or a sweep; false after printing an error. */
static bool read_length(reel *r) {
    const char *frames = r->words->motion.frames, *fps = r->words->motion.fps;
    const char *cursor = frames;
    r->count = 36;
    if (frames && !(ex_parse_int(&cursor, frames + strlen(frames), &r->count) && *cursor == '\0' && r->count >= 2 &&
                    r->count <= 9999)) {
        exi_wrong_usage(r->call->command, "--frames of --%s needs a number from 2 to 9999, not '%s'",
                        first_of(r->words), frames);
        return false;
    }
    cursor = fps;
    r->rate = r->words->turn ? 12 : 18;
    if (fps && !(ex_parse_double(&cursor, fps + strlen(fps), &r->rate) && *cursor == '\0' &&
                 r->rate >= EX_ANIMATION_RATE_MIN && r->rate <= EX_ANIMATION_RATE_MAX)) {
        exi_wrong_usage(r->call->command, "--fps needs a number from %g to %d, not '%s'", EX_ANIMATION_RATE_MIN,
                        EX_ANIMATION_RATE_MAX, fps);
        return false;
    }
    return true;
}

/* Reads "AXIS=FROM:TO". */
static bool read_axis(const ex_call *call, const ex_rig *rig, const char *word, sweep_axis *axis, int *exit_code) {
    const char *equal = strchr(word, '='), *cursor = equal ? equal + 1 : word, *end = word + strlen(word);
    bool good = equal && equal > word && ex_parse_double(&cursor, end, &axis->from) && *cursor == ':';
    cursor++;
    if (!good || !ex_parse_double(&cursor, end, &axis->to) || cursor != end) {
        *exit_code = exi_wrong_usage(
            call->command, "--sweep needs AXIS=FROM:TO such as bend=0:1, not '%s'; axis=value comes before it", word);
        return false;
    }
    char *name = malloc((size_t)(equal - word) + 1);
    *exit_code = EX_EXIT_FAILED;
    if (!name) {
        exi_failed_memory();
        return false;
    }
    memcpy(name, word, (size_t)(equal - word));
    name[equal - word] = '\0';
    axis->input = ex_rig_input_find(rig, name);
    good = axis->input >= 0 && ex_rig_input_axis(rig, axis->input).kind == EX_AXIS_SCALAR;
    if (axis->input < 0)
        exi_failed_text("the rig has no axis '%s': 'exemplar info' lists them", name);
    else if (!good)
        exi_failed_text("the axis '%s' is no number that --sweep could change", name);
    free(name);
    return good;
}

static bool read_sweep(reel *r, int *exit_code) {
    const ex_word_list *list = &r->words->sweep;
    if (list->count > SWEEP_MOST) {
        *exit_code = exi_wrong_usage(r->call->command, "--sweep takes at most %d axes", SWEEP_MOST);
        return false;
    }
    for (int i = 0; i < list->count; i++)
        if (!read_axis(r->call, r->subject->rig, list->words[i], &r->axes[r->axis_count++], exit_code))
            return false;
    return true;
}

/* Reads the motion, and sets the values of the call in all its poses. */
static bool read_motion(reel *r, int *exit_code) {
    const double usual = 20;
    ex_error error = {.result = EX_OK};
    exi_motion_wish wish;
    *exit_code = EX_EXIT_USAGE;
    if (!exi_motion_words_read(r->call, &r->words->motion, &wish))
        return false;
    wish.options.fps = wish.options.fps > 0 ? wish.options.fps : usual;
    if (wish.options.fps < EX_ANIMATION_RATE_MIN || wish.options.fps > EX_ANIMATION_RATE_MAX) {
        exi_wrong_usage(r->call->command, "--fps needs a number from %g to %d, not '%s'", EX_ANIMATION_RATE_MIN,
                        EX_ANIMATION_RATE_MAX, r->words->motion.fps);
        return false;
    }
    *exit_code = EX_EXIT_FAILED;
    if (exi_bake_check_rig(r->subject->rig, r->call->arguments[0], &error) != EX_OK) {
        exi_failed(&error);
        return false;
    }
    if (!exi_played_open(&r->motion, r->call, &wish, r->subject->rig, "drawn"))
        return false;
    r->count = r->motion.part.pose_count;
    r->rate = wish.options.fps;
    if (r->count > EX_ANIMATION_FRAME_MAX) {
        exi_failed_text("the motion has %d frames, more than the %d that a file can have: use --start and --end, or a "
                        "smaller --fps",
                        r->count, EX_ANIMATION_FRAME_MAX);
        return false;
    }
    for (int f = 0; f < r->count; f++)
        for (int i = 1; i < r->call->argument_count; i++)
            if (exi_pose_word(r->subject->rig, r->call->arguments[i], &r->motion.part.poses[f], &error) != EX_OK) {
                exi_failed(&error);
                return false;
            }
    return true;
}

static bool read_words(reel *r, int *exit_code) {
    *exit_code = EX_EXIT_FAILED;
    if (!r->words->turn && !r->subject->rig) {
        exi_failed_text("'%s' is a form, not a rig: --%s goes with rigs", r->call->arguments[0], first_of(r->words));
        return false;
    }
    if (moves(r->words))
        return read_motion(r, exit_code);
    *exit_code = EX_EXIT_USAGE;
    return read_length(r) && (r->words->turn || read_sweep(r, exit_code));
}

/* ---- frames ---- */

/* The frame of the way there that looks the same; itself on the way there. */
static int source_of(const reel *r, int frame) {
    return r->axis_count > 0 && 2 * frame > r->count ? r->count - frame : frame;
}

/* The pose of a frame. A sweep eases in and out at both ends. */
static const ex_pose *pose_of(reel *r, int frame) {
    if (r->motion.whole)
        return &r->motion.part.poses[frame];
    const double t = 0.5 - 0.5 * cos(2 * PI * source_of(r, frame) / r->count);
    for (int i = 0; i < r->axis_count; i++) {
        const double value = r->axes[i].from + t * (r->axes[i].to - r->axes[i].from);
        ex_rig_set_input(r->subject->rig, r->axes[i].input, &value, &r->subject->pose);
    }
    return &r->subject->pose;
}

/* Moves the form of a frame back to where it was at first, or to the ground. */
static void shift_of(const reel *r, int frame, float shift[3]) {
    shift[0] = r->middles ? (float)(r->middles[0][0] - r->middles[frame][0]) : 0;
    shift[1] = r->words->grounded ? (float)(r->lows[0] - r->lows[frame]) : 0;
    shift[2] = r->middles ? (float)(r->middles[0][1] - r->middles[frame][1]) : 0;
}

static bool show_frame(reel *r, int frame) {
    if (r->words->turn) {
        r->pose = r->subject->pose.inputs ? &r->subject->pose : NULL;
        r->def->camera.yaw = r->yaw + 360.0 * frame / r->count;
        return true;
    }
    shift_of(r, frame, r->shift);
    r->pose = pose_of(r, frame);
    const double elapsed = frame > 0 && frame == r->shown + 1 ? 1 / r->rate : 0;
    if (!exi_subject_pose(r->subject, r->pose, r->shift, r->def->tasks) ||
        !exi_clothes_follow(r->worn, r->subject, r->pose, r->shift, elapsed, r->def->tasks))
        return false;
    r->shown = frame;
    r->item.mesh = r->subject->mesh;
    return true;
}

/* ---- the camera ---- */

static size_t vertex_of(const reel *r, int i) {
    return (size_t)(r->focus->vertices ? r->focus->vertices[i] : i);
}

static int vertex_count(const reel *r) {
    return r->focus->vertices ? r->focus->count : r->subject->mesh->vertex_count;
}

/* The mean of the vertices on the ground, the lowest place, and the size of the form. */
static double measure(const reel *r, double middle[2], double *lowest) {
    const float *at = r->subject->form.positions;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum[3] = {0, 0, 0};
    const int count = r->subject->mesh->vertex_count;
    for (size_t v = 0; v < (size_t)count; v++)
        for (size_t k = 0; k < 3; k++) {
            const double x = (double)at[3 * v + k];
            sum[k] += x;
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }
    middle[0] = sum[0] / count;
    middle[1] = sum[2] / count;
    *lowest = low[1];
    return sqrt((high[0] - low[0]) * (high[0] - low[0]) + (high[1] - low[1]) * (high[1] - low[1]) +
                (high[2] - low[2]) * (high[2] - low[2]));
}

/* Keeps the vertices of the evaluated form that are farthest in directions around the view. */
static void keep_extremes(const reel *r, float *points) {
    const double yaw = r->def->camera.yaw * PI / 180, pitch = r->def->camera.pitch * PI / 180;
    const double right[3] = {cos(yaw), 0, -sin(yaw)};
    const double up[3] = {-sin(yaw) * sin(pitch), cos(pitch), -cos(yaw) * sin(pitch)};
    const double back[3] = {sin(yaw) * cos(pitch), sin(pitch), cos(yaw) * cos(pitch)};
    const float *at = r->subject->form.positions;
    for (int i = 0; i < EXTREMES; i++) {
        const double angle = 2 * PI * (i % AROUND) / AROUND, tilt = 0.35 * (i / AROUND - 1);
        float d[3], most = -INFINITY;
        for (int k = 0; k < 3; k++)
            d[k] = (float)(cos(angle) * right[k] + sin(angle) * up[k] + tilt * back[k]);
        for (int v = 0; v < vertex_count(r); v++) {
            const float *p = at + 3 * vertex_of(r, v), along = d[0] * p[0] + d[1] * p[1] + d[2] * p[2];
            if (along > most) {
                most = along;
                memcpy(points + 3 * i, p, 3 * sizeof *points);
            }
        }
    }
}

/* Finds what the camera has to show in all frames, and whether it follows. */
static bool frame_all(reel *r) {
    double size = 0, far = 0;
    const int parts = r->compare->without ? 2 : 1;
    r->points = malloc((size_t)(parts * r->count) * EXTREMES * 3 * sizeof *r->points);
    r->middles = malloc((size_t)r->count * sizeof *r->middles);
    r->lows = malloc((size_t)r->count * sizeof *r->lows);
    if (!r->points || !r->middles || !r->lows) {
        exi_failed_memory();
        return false;
    }
    for (int f = 0; f < r->count; f++) {
        if (parts > 1) {
            exi_compare_swap(r->compare, r->subject);
            const bool good = exi_subject_try(r->subject, pose_of(r, f), r->def->tasks);
            exi_compare_swap(r->compare, r->subject);
            if (!good)
                return false;
            keep_extremes(r, r->points + (size_t)(r->count + f) * EXTREMES * 3);
        }
        if (!exi_subject_try(r->subject, pose_of(r, f), r->def->tasks))
            return false;
        const double here = measure(r, r->middles[f], &r->lows[f]);
        size = here > size ? here : size;
        far = fmax(far, hypot(r->middles[f][0] - r->middles[0][0], r->middles[f][1] - r->middles[0][1]));
        keep_extremes(r, r->points + (size_t)f * EXTREMES * 3);
    }
    if (!r->words->follow && (r->words->no_follow || !(moves(r->words) && far > size))) {
        free(r->middles);
        r->middles = NULL;
    }
    for (int f = 0; f < parts * r->count; f++) {
        float shift[3];
        shift_of(r, f % r->count, shift);
        for (size_t i = 0; i < 3 * EXTREMES; i++)
            r->points[(size_t)f * EXTREMES * 3 + i] += shift[i % 3];
    }
    r->def->camera.points = r->points;
    r->def->camera.point_count = parts * r->count * EXTREMES;
    return true;
}

/* ---- pictures ---- */

static bool draw(reel *r, int frame, ex_image **image, exi_progress *progress) {
    ex_error error = {.result = EX_OK};
    ex_render_item items[1 + EXI_CLOTHES_MOST];
    if (!show_frame(r, frame))
        return false;
    r->def->items = items;
    r->def->item_count = exi_clothes_items(r->worn, &r->item, r->item.vertex_colours, items);
    const bool good = exi_compare_render(r->compare, r->subject, r->pose, r->shift, r->def, image, &error);
    r->item.mesh = r->subject->mesh;
    if (good)
        return true;
    exi_progress_end(progress);
    if (ex_error_within(&error, error.result, "%s", r->call->arguments[0]) != EX_OK)
        exi_failed(&error);
    return false;
}

/* Draws the frames that colours are chosen from, and starts the file. */
static bool start(reel *r, const char *path, ex_animation **file, exi_progress *progress) {
    const bool clear = r->def->background == EX_BACKGROUND_TRANSPARENT;
    const ex_image *samples[SAMPLES];
    ex_error error = {.result = EX_OK};
    ex_animation_def def = {.width = r->def->width,
                            .height = r->def->height,
                            .frame_count = r->count,
                            .rate = r->rate,
                            .full = r->words->colours ? strcmp(r->words->colours, "full") == 0 : clear,
                            .samples = samples};
    /* Of a sweep, the frames of its way there. */
    const int last = r->axis_count > 0 ? r->count / 2 : r->count - 1;
    for (int i = 0; !def.full && i < SAMPLES && i <= last; i++) {
        const int frame = last < SAMPLES ? i : (int)((int64_t)i * last / (SAMPLES - 1));
        exi_progress_step(progress, "choosing colours", 0);
        if (!draw(r, frame, &r->kept[frame], progress))
            return false;
        samples[def.sample_count++] = r->kept[frame];
    }
    if (ex_animation_open(&def, path, file, &error) == EX_OK)
        return true;
    exi_progress_end(progress);
    exi_failed(&error);
    return false;
}

static bool add(reel *r, int frame, ex_animation *file, exi_progress *progress) {
    ex_error error = {.result = EX_OK};
    const int source = source_of(r, frame);
    const size_t each = 4 * (size_t)r->def->width * (size_t)r->def->height;
    const bool again = r->axis_count > 0 && source == frame && frame > 0 && 2 * frame < r->count &&
                       each * (size_t)r->count / 2 <= KEPT_MOST;
    ex_image *image = r->kept[source];
    if (!image && !draw(r, source, &image, progress))
        return false;
    r->kept[source] = again ? image : NULL;
    const ex_result result = ex_animation_add(file, image, &error);
    if (!again)
        ex_image_destroy(image);
    if (result == EX_OK)
        return true;
    exi_progress_end(progress);
    exi_failed(&error);
    return false;
}

static bool write_file(reel *r, const char *path, exi_progress *progress) {
    ex_error error = {.result = EX_OK};
    ex_animation *file = NULL;
    bool good = start(r, path, &file, progress);
    for (int f = 0; good && f < r->count; f++) {
        exi_progress_step(progress, "rendering", (double)f / r->count);
        good = add(r, f, file, progress);
    }
    if (!good) {
        ex_animation_abandon(file);
        return false;
    }
    exi_progress_end(progress);
    if (ex_animation_close(file, &error) == EX_OK)
        return true;
    exi_failed(&error);
    return false;
}

static int run(reel *r, const char *path) {
    const double begun = exi_clock();
    char frames[EXI_TEXT_SIZE], bytes[EXI_TEXT_SIZE], time[EXI_TEXT_SIZE];
    exi_progress progress;
    const bool to_stdout = exi_is_standard_output(path);
    if (!r->words->turn && !frame_all(r))
        return EX_EXIT_FAILED;
    r->kept = calloc((size_t)r->count, sizeof *r->kept);
    if (!r->kept)
        return exi_failed_memory();
    exi_progress_start(&progress, r->call);
    const bool good = write_file(r, to_stdout ? "/dev/stdout" : path, &progress);
    exi_progress_end(&progress);
    if (good && !r->call->quiet && !to_stdout)
        exi_print("%s: %s in %.4g s, %d x %d pixels, %s, %s\n", path, exi_text_count(frames, r->count, "frame"),
                  r->count / r->rate, r->def->width, r->def->height, exi_text_bytes(bytes, exi_file_size(path)),
                  exi_text_seconds(time, exi_clock() - begun));
    return good ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

int exi_animate(const ex_call *call, const exi_animate_words *words, exi_subject *subject, exi_compare *compare,
                exi_clothes *worn, const exi_focus *focus, const ex_render_item *item, ex_render_def *def,
                const char *path) {
    reel r = {.call = call,
              .words = words,
              .subject = subject,
              .compare = compare,
              .worn = worn,
              .shown = -1,
              .focus = focus,
              .item = *item,
              .def = def,
              .yaw = def->camera.yaw};
    int exit_code;
    if (words->colours && strcmp(words->colours, "256") == 0 && def->background == EX_BACKGROUND_TRANSPARENT)
        return exi_wrong_usage(call->command, "a palette of 256 colours has no shadows that show through: leave out "
                                              "--colours 256 or --background transparent");
    def->progress = NULL;
    def->camera.all_around = words->turn;
    if (read_words(&r, &exit_code))
        exit_code = run(&r, path);
    for (int f = 0; r.kept && f < r.count; f++)
        ex_image_destroy(r.kept[f]);
    free(r.kept);
    free(r.points);
    free(r.middles);
    free(r.lows);
    exi_played_close(&r.motion);
    return exit_code;
}
