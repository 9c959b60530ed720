/* exemplar drive suggest - names frames of an animation that should be simulated next. */
#include "drive.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdlib.h>

/* Seconds to simulate before and after a frame of a rig that follows motion. */
#define BEFORE 1.0
#define AFTER  0.5
enum { USUAL = 10, MOST = 10000 };

static const char *driver, *frames_text, *rate_text, *driver_scale_text;
static int most;

static const ex_option options[] = {
    {.name = "driver",
     .argument = "CACHE",
     .help = "animation of the driver to look at: " EXI_CACHE_ENDINGS,
     .text = &driver},
    {.name = "count",
     .argument = "N",
     .help = "number of frames to name, at most (default: 10)",
     .count = &most,
     .count_max = MOST},
    EXI_DRIVE_TAKE_OPTIONS("look only at frames", frames_text, rate_text, driver_scale_text),
};

static char *distance_text(char text[EXI_TEXT_SIZE], const ex_suggestions *s, double distance) {
    if (s->by_motion)
        snprintf(text, EXI_TEXT_SIZE, "%.2f", distance);
    else
        exi_text_length(text, distance);
    return text;
}

static int compare(const void *a, const void *b) {
    const ex_suggestion *x = a, *y = b;
    return (x->frame > y->frame) - (x->frame < y->frame);
}

static int last_of(int frame, int after, int last) {
    return frame < last - after ? frame + after : last;
}

/* Prints the pieces of the animation around all frames, joined where they overlap. step: seconds between frames. */
static void print_pieces(ex_suggestions *s, double step, int first, int last) {
    const int before = (int)fmin(ceil(BEFORE / step), last), after = (int)fmin(ceil(AFTER / step), last - first);
    qsort(s->frames, (size_t)s->count, sizeof *s->frames, compare);
    exi_print("simulate frames");
    for (int i = 0; i < s->count;) {
        int from = s->frames[i].frame - before, to = last_of(s->frames[i].frame, after, last);
        for (i++; i < s->count && s->frames[i].frame - before <= to + 1; i++)
            to = last_of(s->frames[i].frame, after, last);
        from = from < first ? first : from;
        exi_print(" %d-%d", from + 1, to + 1);
    }
    exi_print("\n");
}

static void print_text(const ex_call *call, ex_suggestions *s, const ex_cache_reader *reader,
                       const ex_suggest_def *def) {
    char text[EXI_TEXT_SIZE], enough[EXI_TEXT_SIZE], count[EXI_TEXT_SIZE];
    const ex_cache_info info = ex_cache_get_info(reader);
    if (s->count == 0) {
        exi_print("%s: %s knows motion like all of it; the farthest frame is %s away (%s is far)\n", driver,
                  call->arguments[0], distance_text(text, s, s->left), distance_text(enough, s, s->enough));
        return;
    }
    exi_print("%s: %s to simulate, the farthest from what %s knows first\n", driver,
              exi_text_count(count, s->count, "frame"), call->arguments[0]);
    exi_print("  %6s %9s %10s\n", "frame", "time", s->by_motion ? "unfamiliar" : "distance");
    for (int i = 0; i < s->count; i++)
        exi_print("  %6d %9.3f %10s\n", s->frames[i].frame + 1, s->frames[i].time,
                  distance_text(text, s, s->frames[i].distance));
    exi_print("then the farthest frame is %s away (%s is far)\n", distance_text(text, s, s->left),
              distance_text(enough, s, s->enough));
    const int last = def->count > 0 ? def->first + def->count - 1 : info.frame_count - 1;
    const double step =
        def->rate > 0 ? 1 / def->rate
        : info.frame_count > 1
            ? (ex_cache_time(reader, info.frame_count - 1) - ex_cache_time(reader, 0)) / (info.frame_count - 1)
            : 0;
    if (s->by_motion && step > 0)
        print_pieces(s, step, def->first, last);
}

static void print_json(const ex_call *call, const ex_suggestions *s) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "rig", call->arguments[0]);
    exi_emit_text(&json, "driver", driver);
    exi_emit_open(&json, "frames", '[');
    for (int i = 0; i < s->count; i++) {
        exi_emit_open(&json, NULL, '{');
        exi_emit_number(&json, "frame", s->frames[i].frame + 1);
        exi_emit_number(&json, "time", s->frames[i].time);
        exi_emit_number(&json, "distance", s->frames[i].distance);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_number(&json, "left", s->left);
    exi_emit_number(&json, "enough", s->enough);
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static int suggest(const ex_call *call, const ex_rig *rig) {
    ex_error error = {.result = EX_OK};
    ex_suggestions *made = NULL;
    ex_cache_reader *reader = NULL;
    exi_progress progress;
    ex_suggest_def def = {.rig = rig, .driver = driver, .most = most ? most : USUAL, .progress = &progress.hook};
    if (!exi_drive_frames_read(call, frames_text, &def.first, &def.count) ||
        !exi_drive_rate_read(call, rate_text, &def.rate) ||
        !exi_drive_scale_read(call, EXI_DRIVER_SCALE, driver_scale_text, &def.driver_scale))
        return EX_EXIT_USAGE;
    exi_progress_start(&progress, call);
    ex_result result = ex_drive_suggest(&def, &made, &error);
    exi_progress_end(&progress);
    if (result == EX_OK)
        result = ex_cache_open(driver, &reader, &error);
    if (result == EX_OK && call->json)
        print_json(call, made);
    else if (result == EX_OK)
        print_text(call, made, reader, &def);
    ex_cache_close(reader);
    ex_suggestions_free(made);
    return result == EX_OK ? EX_EXIT_DONE : exi_failed(&error);
}

static int run(const ex_call *call) {
    if (!driver)
        return exi_wrong_usage(call->command, "--driver CACHE is required: it is the animation to look at");
    ex_rig *rig = exi_drive_load(call->arguments[0]);
    if (!rig)
        return EX_EXIT_FAILED;
    const int exit_code = suggest(call, rig);
    ex_rig_destroy(rig);
    return exit_code;
}

const ex_command cmd_drive_suggest = {
    .name = "drive suggest",
    .summary = "name frames of an animation to simulate next",
    .usage = "drive suggest RIG.glb --driver NEW.pc2 [--count N]",
    .description = "Looks for frames of an animation that are farthest from what a rig was\n"
                   "learned from: the first is the farthest one, and each next one is the\n"
                   "farthest from what was known and the frames named before it. Stops when all\n"
                   "others are near.\n"
                   "\n"
                   "For a rig of keys, simulate these frames and add them ('exemplar drive add').\n"
                   "For a rig learned from motion, simulate the pieces of the animation that are\n"
                   "printed last, a second before each frame and half a second after it, and\n"
                   "learn from them too.",
    .examples = "exemplar drive suggest shirt.glb --driver walk.pc2\n"
                "exemplar drive suggest shirt.glb --driver walk.pc2 --count 3 --json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
