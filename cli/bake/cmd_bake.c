/* exemplar bake - writes a rig in motion as a file that plays without Exemplar: standard glTF, or a point cache. */
#include "bake.h"
#include "cli/base/command.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/motions.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"
#include "cli/pose/forms.h"
#include "common/pool.h"
#include "gpu.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

#define ENDINGS ".glb, .pc2, .mdd, .abc or .obj"

static const char *output;
static exi_motion_words motion_words;
static const char *level_text, *thin_text, *error_text, *mute_text;
static int targets, influences;
static bool force, on_gpu;

static const ex_option options[] = {
    {.name = "output", .letter = 'o', .argument = "OUT", .help = "output file: " ENDINGS, .text = &output},
    {.name = "motion",
     .values = ".bvh|.glb|.gltf|.csv",
     .argument = "FILE",
     .help = "the motion: .bvh, .glb or .gltf, or .csv (a table of poses, with a column 'time' or 24 rows per second) "
             "(default: the rig's own clip, --clip)",
     .text = &motion_words.path},
    {.name = "map",
     .argument = "MAP.json",
     .help = "pairs of joints of the rig and of the motion (default: joints of the same name)",
     .text = &motion_words.map},
    {.name = "clip",
     .argument = "NAME",
     .help = "name of a clip (animation) in the glTF file of --motion, or else in the rig; or its number there, from 1 "
             "(default: the first of the file)",
     .text = &motion_words.clip},
    {.name = "fps",
     .argument = "N",
     .help = "frames per second (default: the motion's own frames or keys)",
     .text = &motion_words.fps},
    {.name = "frames",
     .argument = "A:B",
     .help = "bake only frames A to B, counting from 1 as numbered files do; A: and :B work too (default: all)",
     .text = &motion_words.frames},
    {.name = "start",
     .argument = "S",
     .help = "start at S seconds of the motion (default: its start)",
     .text = &motion_words.start},
    {.name = "end",
     .argument = "S",
     .help = "end at S seconds of the motion (default: its end)",
     .text = &motion_words.end},
    {.name = "level",
     .values = "cage|limit",
     .argument = "LEVEL",
     .help = "level of subdivision: cage, a number, or limit (default: cage; for a rig with displacements, the level "
             "that it shows)",
     .text = &level_text},
    {.name = "targets",
     .argument = "N",
     .help = ".glb: number of morph targets in all, those that the motion needs most (default: the rig's examples, and "
             "more if needed)",
     .count = &targets,
     .count_max = 4096},
    {.name = "influences",
     .argument = "N",
     .help = ".glb: most joints that move a vertex (default: 4, which every engine plays)",
     .count = &influences,
     .count_max = EX_INFLUENCE_MAX},
    {.name = "thin",
     .argument = "E",
     .help = ".glb: leave out keys as long as no vertex moves by more than E metres, or E% of the height, the mesh's "
             "longest side (default: a key for every frame)",
     .text = &thin_text},
    {.name = "error",
     .argument = "E",
     .help = ".glb: fail if a vertex is farther from the rig than E metres, or E% of the height (default: no limit)",
     .text = &error_text},
    {.name = "mute",
     .argument = "LAYER",
     .help = "leave out a layer; several with commas between them",
     .listed = true,
     .text = &mute_text},
    {.name = "gpu",
     .help = ".pc2, .mdd, .abc, .obj: evaluate the frames on the GPU (see 'exemplar info --capabilities')",
     .flag = &on_gpu},
    {.name = "force", .help = "with .obj: overwrite existing forms", .flag = &force},
};

/* ---- words ---- */

static bool read_number(const char *text, double *value, const char **rest) {
    const char *cursor = text, *end = text + strlen(text);
    if (!ex_parse_double(&cursor, end, value))
        return false;
    *rest = cursor;
    return true;
}

/* Metres, or a percentage of the height, which is converted once the rig is known. */
typedef struct length {
    double value;
    bool relative;
} length;

static bool read_length(const ex_call *call, const char *name, const char *text, length *made) {
    const char *rest;
    *made = (length){.value = 0};
    if (!text)
        return true;
    if (read_number(text, &made->value, &rest) && made->value > 0 && (*rest == 0 || strcmp(rest, "%") == 0)) {
        made->relative = *rest == '%';
        return true;
    }
    exi_wrong_usage(call->command, "--%s needs metres (0.001) or a percentage of the height (0.1%%), not '%s'", name,
                    text);
    return false;
}

static double metres(const length *l, double size) {
    return l->relative ? l->value / 100 * size : l->value;
}

/* ---- the work ---- */

typedef struct wish {
    length thin, error;
    exi_motion_wish motion;
} wish;

/* True if none of the numbered files exists, or all may be overwritten; otherwise prints an error. */
static bool frames_are_free(int count) {
    bool all_free = true;
    for (int i = 0; !force && all_free && i < count && ex_cache_kind_of(output) == EX_CACHE_OBJ; i++) {
        char *path = ex_cache_frame_path(output, i, count);
        all_free = path && !exi_file_exists(path);
        if (!path)
            exi_failed_memory();
        else if (!all_free)
            exi_failed_exists(path, "name");
        free(path);
    }
    return all_free;
}

static int write_cache(const ex_call *call, const ex_rig *rig, const ex_motion *motion, const ex_bake_options *how) {
    ex_error error = {.result = EX_OK};
    exi_progress progress;
    exi_progress_start(&progress, call);
    ex_bake_options o = *how;
    o.progress = &progress.hook;
    exi_interrupt_defer(true); /* several files may belong together */
    const ex_result result = ex_bake_cache(rig, motion, output, &o, &error);
    exi_interrupt_defer(false);
    exi_progress_end(&progress);
    if (result != EX_OK) {
        const int signal = exi_interrupted();
        if (!signal)
            return exi_failed(&error);
        exi_failed_text("interrupted");
        return signal;
    }
    exi_bake_print_cache(call, output, rig, motion, how);
    return EX_EXIT_DONE;
}

static int bake_cache(const ex_call *call, const ex_rig *rig, const ex_motion *motion, const ex_bake_options *how) {
    ex_error error = {.result = EX_OK};
    if (!frames_are_free(motion->pose_count))
        return EX_EXIT_FAILED;
    if (!on_gpu)
        return write_cache(call, rig, motion, how);
    exi_gpu_frames *frames = NULL;
    if (exi_gpu_frames_create(rig, how->level, how->muted, motion->pose_count, &frames, &error) != EX_OK)
        return exi_failed(&error);
    const ex_bake_evaluator evaluator = exi_gpu_frames_evaluator(frames);
    ex_bake_options o = *how;
    o.evaluator = &evaluator;
    const int exit_code = write_cache(call, rig, motion, &o);
    exi_gpu_frames_destroy(frames);
    return exit_code;
}

static int bake_glb(const ex_call *call, const ex_rig *rig, const ex_motion *motion, const ex_bake_options *how) {
    ex_error error = {.result = EX_OK};
    ex_bake_report report;
    exi_progress progress;
    exi_progress_start(&progress, call);
    ex_bake_options o = *how;
    o.progress = &progress.hook;
    exi_bake_between between;
    const bool measured = exi_bake_between_measure(rig, motion, how, &between);
    const ex_result result = measured ? ex_bake_glb(rig, motion, output, &o, &report, &error) : EX_ERROR_MEMORY;
    exi_progress_end(&progress);
    if (!measured)
        return exi_failed_memory();
    if (result != EX_OK)
        return exi_failed(&error);
    exi_bake_print_glb(call, output, rig, motion, how, &report, &between);
    return EX_EXIT_DONE;
}

static int bake(const ex_call *call, const ex_rig *rig, const wish *w, ex_bake_options *how) {
    exi_played motion;
    int exit_code = EX_EXIT_FAILED;
    const double size = ex_bake_size(rig);
    if (size < 0)
        return exi_failed_memory();
    how->thin = metres(&w->thin, size);
    how->error_most = metres(&w->error, size);
    if (exi_played_open(&motion, call, &w->motion, rig, "baked"))
        exit_code = ex_path_ends_with(output, ".glb") ? bake_glb(call, rig, &motion.part, how)
                                                      : bake_cache(call, rig, &motion.part, how);
    exi_played_close(&motion);
    return exit_code;
}

static bool read_level(const ex_call *call, const ex_rig *rig, int *level, int *exit_code) {
    *level = exi_bake_level(rig);
    return !level_text || exi_level_read(call, rig, level_text, level, exit_code);
}

static int run_rig(const ex_call *call, const ex_rig *rig, const wish *w) {
    ex_bake_options how = {.target_count = targets, .influence_most = influences, .name = motion_words.clip};
    int exit_code = EX_EXIT_FAILED;
    bool *muted = exi_muted_read(rig, mute_text);
    exi_pool *pool = exi_pool_create(call->threads);
    how.tasks = exi_pool_tasks(pool);
    how.muted = muted;
    if (muted && read_level(call, rig, &how.level, &exit_code))
        exit_code = bake(call, rig, w, &how);
    exi_pool_destroy(pool);
    free(muted);
    return exit_code;
}

static int run(const ex_call *call) {
    int exit_code = EX_EXIT_USAGE;
    const char *motion_path = motion_words.path;
    wish w;
    if (!motion_path && !motion_words.clip)
        return exi_wrong_usage(call->command, "--motion FILE or --clip NAME is required: it moves the rig");
    if (!output)
        return exi_wrong_usage(call->command, "-o is required: it names the output");
    if (exi_is_standard_output(output))
        return exi_wrong_usage(call->command, "a bake cannot go to standard output: name a file with -o, " ENDINGS);
    if (!exi_output_check(call->command, output, ENDINGS, call->arguments[0], &exit_code) ||
        (motion_path && !exi_output_check(call->command, output, ENDINGS, motion_path, &exit_code)))
        return exit_code;
    if (!ex_path_ends_with(output, ".glb") && (targets || influences || thin_text || error_text))
        return exi_wrong_usage(call->command, "a point cache holds every vertex as it is: --%s goes with .glb",
                               targets      ? "targets"
                               : influences ? "influences"
                               : thin_text  ? "thin"
                                            : "error");
    if (on_gpu && ex_path_ends_with(output, ".glb"))
        return exi_wrong_usage(call->command, "--gpu evaluates the frames of point caches: it goes with .pc2, .mdd, "
                                              ".abc and .obj, not with .glb");
    if (!exi_motion_words_read(call, &motion_words, &w.motion) || !read_length(call, "thin", thin_text, &w.thin) ||
        !read_length(call, "error", error_text, &w.error))
        return EX_EXIT_USAGE;
    ex_error error = {.result = EX_OK};
    if (on_gpu && exi_gpu_ready(&error) != EX_OK)
        return exi_failed(&error);
    ex_rig *rig = exi_rig_load(call->arguments[0], &(ex_rig_options){.without_tangents = true});
    if (!rig)
        return EX_EXIT_FAILED;
    exit_code =
        exi_bake_check_rig(rig, call->arguments[0], &error) == EX_OK ? run_rig(call, rig, &w) : exi_failed(&error);
    ex_rig_destroy(rig);
    return exit_code;
}

const ex_command cmd_bake = {
    .name = "bake",
    .summary = "play a motion on a rig and write standard animation",
    .usage = "bake RIG.glb --motion FILE -o OUT.glb [--thin E] [--targets N]\n"
             "bake RIG.glb [--motion FILE.glb] --clip NAME -o OUT.glb\n"
             "bake RIG.glb --motion FILE -o OUT.pc2|OUT.mdd|OUT.abc|OUT.obj [--gpu]",
    .description = "Moves the rig by a motion and writes the result for programs that do not know\n"
                   "Exemplar.\n"
                   "\n"
                   "A .glb is standard glTF: morph targets, a skin and an animation. It is exact\n"
                   "for layers at rest, linear skinning and the cage, except for influences left\n"
                   "out where a vertex has more than four joints. For anything else it is the\n"
                   "closest such file. Every frame is compared with the rig, and the largest error\n"
                   "printed. Between frames, vertices move along straight lines. If a layer\n"
                   "has curved paths, a note says how far off that is, and which frame rate is\n"
                   "high enough.\n"
                   "\n"
                   "Point caches (.pc2, .mdd, .abc, or numbered OUT_0001.obj and so on) hold every\n"
                   "vertex at every frame and are always exact. With --gpu, if that was built in,\n"
                   "an NVIDIA GPU evaluates them; the results are within 1e-5 of the form's size\n"
                   "of the CPU's.\n"
                   "\n"
                   "A rig made from a glTF file with animations has them as clips; 'exemplar info'\n"
                   "lists them. --clip bakes one of them, or, with --motion, one of that file.\n"
                   "\n"
                   "Joints of the motion are matched by name with those of the rig; use a map if\n"
                   "names differ. The animation of a .glb begins at 0, whatever part of the motion\n"
                   "it is.",
    .examples = "exemplar demo arm\n"
                "printf 'time,elbow\\n0,0\\n0.5,60\\n1,110\\n' > bend.csv\n"
                "exemplar bake arm/arm.glb --motion bend.csv --fps 24 -o bend.glb --thin 0.01%\n"
                "exemplar bake arm/arm.glb --motion bend.csv --fps 24 -o bend.pc2\n"
                "exemplar bake arm/arm.glb --motion bend.csv --fps 600 -o bend.pc2 --gpu",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
