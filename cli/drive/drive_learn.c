/* exemplar drive learn - learns a rig that follows a driver from caches of the driver and of the driven mesh. */
#include "drive.h"

#include "cli/base/files.h"
#include "common/pool.h"

#include <exemplar/author/base.h>
#include <exemplar/author/formats.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GIVEN_MAX = 1024, REFERENCE_MAX = 256 };
#define LONG_SECONDS 5.0 /* work that takes longer is announced */

static ex_word_list drivers, drivens, databases, ranges, rates, gathered;
static const char *driver_mesh, *driven_mesh, *output, *choose, *until, *at_text, *frames_text, *frame_text;
static const char *residual, *thickness, *bind, *weights_text, *name, *driver_scale_text, *scale_text;
static bool no_push, paths, paper, force;
static const char *method, *up_text;
static int keys, forms, landmarks;

static const ex_option options[] = {
    {.name = "driver",
     .argument = "CACHE",
     .help = "animation of the driver: .pc2, .mdd, .abc or numbered .obj; may be given again, for several pairs",
     .words = &drivers},
    {.name = "driver-mesh",
     .argument = "MESH",
     .help = "mesh of the driver, .obj, .ply, .off or .glb, in the form that moving frames start from (default: the "
             "first of "
             "numbered .obj files)",
     .text = &driver_mesh},
    {.name = "driven", .argument = "CACHE", .help = "animation of the driven mesh, frame by frame", .words = &drivens},
    {.name = "driven-mesh",
     .argument = "MESH",
     .help = "mesh of the driven mesh's animation (default: as for --driver-mesh)",
     .text = &driven_mesh},
    {.name = "range",
     .argument = "A:B",
     .help = "learn only from frames A to B of the pair of caches before it, counting from 1; A: and :B work too, and "
             "so does A-B (default: all)",
     .words = &ranges},
    {.name = "fps",
     .argument = "RATE",
     .help = "frames per second of the pair of caches before it (default: the times in the driver's cache)",
     .words = &rates},
    {.name = EXI_DRIVER_SCALE,
     .argument = "FACTOR",
     .help =
         "multiply the driver and its animation by this: 0.01 for centimetres, if the rig is to be in metres (default: "
         "1)",
     .text = &driver_scale_text},
    {.name = EXI_DRIVEN_SCALE,
     .argument = "FACTOR",
     .help = "multiply the driven mesh and its animation by this, if its unit is another than the driver's: 0.01 for "
             "centimetres on a driver in metres (default: 1)",
     .text = &scale_text},
    {.name = "method",
     .values = "keys|motion",
     .argument = "WORD",
     .help = "keys (default): a blend of a few frames with like poses; motion: forms found in all frames, weighed by "
             "how the driver moves, so that cloth swings",
     .text = &method},
    {.name = "forms",
     .argument = "N",
     .help = "motion: number of forms (default: 40)",
     .count = &forms,
     .count_max = EX_CONVEX_MAX - 1},
    {.name = "landmarks",
     .argument = "N",
     .help = "motion: number of known states that the regression is built around (default: 1000)",
     .count = &landmarks,
     .count_max = EX_PREDICTOR_LANDMARK_MAX},
    {.name = "up",
     .values = "x|y|z",
     .argument = "AXIS",
     .help = "motion: the axis that points up in the caches, x, y or z (default: the one that the driver turns about, "
             "y in doubt)",
     .text = &up_text},
    {.name = "keys",
     .argument = "N",
     .help = "number of keys to choose, per database",
     .count = &keys,
     .count_max = EX_CONVEX_MAX},
    {.name = "output", .letter = 'o', .argument = "RIG.glb", .help = "output file", .text = &output},
    {.name = "gathered",
     .argument = "FILE",
     .values = ".gathered",
     .help = "learn from this file of 'drive gather' instead of caches; may be given again, in the order of the pairs",
     .words = &gathered},
    {.name = "choose",
     .values = "farthest|worst",
     .argument = "HOW",
     .help = "farthest (default): next is the frame whose driver is farthest from its nearest key; worst: the frame "
             "whose driven form the keys so far explain worst",
     .text = &choose},
    {.name = "until",
     .argument = "ERROR",
     .help = "stop when the mean error over the references is below this, in metres, or 5mm; --keys is then the limit",
     .text = &until},
    {.name = "at",
     .argument = "FRAME,...",
     .help = "frames that always become keys, before others; counting from 1, over all caches one after the other",
     .text = &at_text},
    {.name = "frames",
     .argument = "N",
     .help = "number of moving frames of the driver: 1 for the whole, more for parts, or auto: the best of 1, 8, 16 "
             "and 32 (default: auto)",
     .text = &frames_text},
    {.name = "frame",
     .values = "fit|group:|none",
     .argument = "WORD",
     .help = "moving frame of the whole driver: fit to all vertices, group:NAME to those of a group of faces, or none "
             "(default: fit)",
     .text = &frame_text},
    {.name = "residual",
     .values = "none|keys|closest",
     .argument = "WORD",
     .help = "way to carry over what the blend misses of the driver: none, keys or closest (default: the better of "
             "none and keys)",
     .text = &residual},
    {.name = "thickness",
     .argument = "T",
     .help = "distance between the driver and the driven mesh, in metres, or 2mm (default: 2mm)",
     .text = &thickness},
    {.name = "no-push", .help = "do not push the driven mesh out of the driver", .flag = &no_push},
    {.name = "bind",
     .argument = "FILE.json",
     .help = "groups of the driven mesh, and the only groups of the driver that each follows",
     .text = &bind},
    {.name = "weights",
     .argument = "FILE",
     .help = "weights of the driver's vertices: lines 'vertex value', or group:NAME for only a group of faces "
             "(default: all alike)",
     .text = &weights_text},
    {.name = "paths", .help = "blend along trajectories instead of straight lines", .flag = &paths},
    {.name = "database",
     .argument = "NAME=VALUE",
     .help = "once for each pair of caches: its position on an axis of that name (stiffness=5), which the rig then has",
     .words = &databases},
    {.name = "name", .argument = "NAME", .help = "name of the driver in the rig (default: body)", .text = &name},
    {.name = "paper",
     .help = "the method of the DrivenShape paper: one moving frame, the residual by closest triangles",
     .flag = &paper},
    {.name = "force",
     .letter = 'f',
     .help = "take a driven mesh that looks 10, 100 or 1000 times too large or too small, or is far from the driver",
     .flag = &force},
};

/* ---- words ---- */

typedef struct wish {
    ex_learn_def def;
    ex_drive_reference references[REFERENCE_MAX];
    int given[GIVEN_MAX];
    char axis[128];
    exi_drive_meshes meshes;
    ex_gathered *gathered; /* the first file of --gathered */
} wish;

static bool read_choice(const ex_call *call, wish *w) {
    for (int i = 0; choose && i < EX_KEY_CHOICE_COUNT; i++)
        if (strcmp(choose, ex_key_choice_name((ex_key_choice)i)) == 0) {
            w->def.choice = (ex_key_choice)i;
            return true;
        }
    if (choose)
        exi_wrong_usage(call->command, "--choose needs farthest or worst, not '%s'", choose);
    return !choose;
}

/* Reads what belongs to learning from motion, and refuses what belongs to keys. */
static bool read_method(const ex_call *call, wish *w) {
    if (method && strcmp(method, ex_learn_method_name(EX_LEARN_MOTION)) != 0 &&
        strcmp(method, ex_learn_method_name(EX_LEARN_KEYS)) != 0) {
        exi_wrong_usage(call->command, "--method needs keys or motion, not '%s'", method);
        return false;
    }
    if (!method || strcmp(method, ex_learn_method_name(EX_LEARN_MOTION)) != 0) {
        if (forms || landmarks || up_text)
            exi_wrong_usage(call->command, "--forms, --landmarks and --up belong to --method motion");
        return !forms && !landmarks && !up_text;
    }
    if (keys || until || at_text || choose || residual || paths || paper || databases.count > 0) {
        exi_wrong_usage(call->command, "--method motion learns from all frames and has no keys: it does not go with "
                                       "--keys, --until, --at, --choose, --residual, --paths, --paper or --database");
        return false;
    }
    if (up_text && (strlen(up_text) != 1 || !strchr("xyz", up_text[0]))) {
        exi_wrong_usage(call->command, "--up needs x, y or z, not '%s'", up_text);
        return false;
    }
    for (int c = 0; up_text && c < 3; c++)
        w->def.up[c] = up_text[0] == 'x' + c;
    w->def.method = EX_LEARN_MOTION;
    w->def.form_count = forms ? forms : 40;
    w->def.landmark_count = landmarks ? landmarks : 1000;
    return true;
}

static bool read_residual(const ex_call *call, wish *w) {
    for (int i = 0; residual && i < EX_RESIDUAL_COUNT; i++)
        if (strcmp(residual, ex_residual_name((ex_residual)i)) == 0) {
            w->def.options.residual = (ex_residual)i;
            return true;
        }
    if (residual)
        exi_wrong_usage(call->command, "--residual needs none, keys or closest, not '%s'", residual);
    return !residual;
}

static bool read_references(const ex_call *call, wish *w) {
    if (drivers.count == 0 || drivens.count == 0 || drivers.count != drivens.count || drivers.count > REFERENCE_MAX) {
        exi_wrong_usage(call->command,
                        drivers.count > REFERENCE_MAX
                            ? "%d and %d caches are too many"
                            : "--driver and --driven go in pairs, but there are %d and %d of them",
                        drivers.count, drivens.count);
        return false;
    }
    if (databases.count != 0 && databases.count != drivers.count) {
        exi_wrong_usage(call->command, "--database is needed once for each of the %d pairs of caches, not %d times",
                        drivers.count, databases.count);
        return false;
    }
    const char *range_words[REFERENCE_MAX], *rate_words[REFERENCE_MAX];
    if (!exi_drive_words_of_pairs(call, "range", &ranges, &drivers, &drivens, range_words) ||
        !exi_drive_words_of_pairs(call, "fps", &rates, &drivers, &drivens, rate_words))
        return false;
    w->def.references = w->references;
    w->def.reference_count = drivers.count;
    for (int i = 0; i < drivers.count; i++) {
        size_t size = 0;
        ex_drive_reference *pair = &w->references[i];
        *pair = (ex_drive_reference){.driver = drivers.words[i], .driven = drivens.words[i]};
        if (!exi_drive_range_read(call, range_words[i], &pair->first, &pair->count) ||
            !exi_drive_rate_read(call, rate_words[i], &pair->rate))
            return false;
        if (databases.count == 0)
            continue;
        if (!exi_drive_database_read(call, databases.words[i], &size, &pair->database))
            return false;
        if (size >= sizeof w->axis ||
            (i > 0 && (strlen(w->axis) != size || strncmp(w->axis, databases.words[i], size)))) {
            exi_wrong_usage(call->command, "databases share one axis, but '%s' and '%s' are different axes",
                            databases.words[i], databases.words[0]);
            return false;
        }
        memcpy(w->axis, databases.words[i], size);
        w->axis[size] = 0;
        w->def.database_axis = w->axis;
    }
    return true;
}

static bool read_words(const ex_call *call, wish *w) {
    if (paper && (frames_text || residual || paths)) {
        exi_wrong_usage(call->command, "--paper means one moving frame and the residual by closest triangles: it does "
                                       "not go with --frames, --residual or --paths");
        return false;
    }
    if (!read_method(call, w))
        return false;
    if (w->def.method == EX_LEARN_KEYS && keys == 0 && !until && !at_text) {
        exi_wrong_usage(call->command, "--keys N is required: it is the number of keys to choose; or --method motion");
        return false;
    }
    w->def.options = ex_drive_options_default();
    w->def.driver_name = name ? name : "body";
    if (paper) {
        w->def.options.frames = 1;
        w->def.options.residual = EX_RESIDUAL_CLOSEST;
    }
    w->def.options.push = !no_push;
    w->def.options.paths = paths;
    w->def.options.one_region = paths;
    w->def.any_fit = force;
    const bool good =
        exi_drive_scale_read(call, EXI_DRIVER_SCALE, driver_scale_text, &w->def.driver_scale) &&
        exi_drive_scale_read(call, EXI_DRIVEN_SCALE, scale_text, &w->def.driven_scale) &&
        (gathered.count > 0 || read_references(call, w)) && read_choice(call, w) && read_residual(call, w) &&
        exi_drive_moving_read(call, frames_text, &w->def.options) &&
        exi_drive_frame_read(call, frame_text, !frames_text && w->def.method == EX_LEARN_KEYS, &w->def.options) &&
        exi_drive_given_read(call, at_text, w->given, GIVEN_MAX, &w->def.given_count) &&
        exi_drive_length_read(call, "until", until, &w->def.until) &&
        exi_drive_length_read(call, "thickness", thickness, &w->def.options.thickness);
    w->def.given = w->given;
    w->def.gathered_count = gathered.count;
    w->def.gathered = gathered.words;
    w->def.key_count = keys ? keys : until ? EX_CONVEX_MAX : w->def.given_count;
    return good;
}

/* Refuses options that belong to gathering, and takes the method from the first file. Returns the exit code. */
static int read_gathered(const ex_call *call, wish *w) {
    ex_error error = {.result = EX_OK};
    if (gathered.count == 0)
        return EX_EXIT_DONE;
    if (drivers.count > 0 || drivens.count > 0)
        return exi_wrong_usage(call->command,
                               "learn from caches (--driver and --driven) or from --gathered files: give "
                               "one of the two");
    if (driver_mesh || driven_mesh || ranges.count > 0 || rates.count > 0 || driver_scale_text || scale_text ||
        frame_text || weights_text || databases.count > 0 || force)
        return exi_wrong_usage(call->command, "--driver-mesh, --driven-mesh, --range, --fps, --driver-scale, "
                                              "--driven-scale, --frame, --weights, --database and --force belong to "
                                              "'drive gather': what they say is in the --gathered files");
    if (ex_gathered_open(gathered.words[0], &w->gathered, &error) != EX_OK)
        return exi_failed(&error);
    const ex_learn_method there = ex_gathered_get_info(w->gathered)->method;
    method = method ? method : ex_learn_method_name(there);
    if (there == EX_LEARN_MOTION && (frames_text || bind))
        return exi_wrong_usage(call->command,
                               "--frames and --bind belong to 'drive gather' if it gathers with --method "
                               "motion: leave them out");
    return EX_EXIT_DONE;
}

static bool check_output(const ex_call *call, int *exit_code) {
    *exit_code = EX_EXIT_USAGE;
    if (!output || exi_is_standard_output(output)) {
        exi_wrong_usage(call->command, output ? "the report goes to standard output: name a file with -o"
                                              : "-o is required: it names the output");
        return false;
    }
    if (gathered.count > 0)
        return exi_output_check(call->command, output, ".glb", gathered.words[0], exit_code);
    return (!driver_mesh || exi_output_check(call->command, output, ".glb", driver_mesh, exit_code)) &&
           (!driven_mesh || exi_output_check(call->command, output, ".glb", driven_mesh, exit_code)) &&
           exi_output_check(call->command, output, ".glb", drivers.words[0], exit_code);
}

/* ---- files ---- */

static ex_result read_files(wish *w, ex_error *error) {
    const exi_drive_mesh_words words = {.driver_mesh = driver_mesh,
                                        .driven_mesh = driven_mesh,
                                        .driver_cache = drivers.count > 0 ? drivers.words[0] : NULL,
                                        .driven_cache = drivens.count > 0 ? drivens.words[0] : NULL,
                                        .weights = weights_text,
                                        .bind = bind,
                                        .driver_scale = w->def.driver_scale,
                                        .driven_scale = w->def.driven_scale,
                                        .gathered = w->gathered};
    const ex_result result = exi_drive_meshes_read(&words, &w->meshes, &w->def.options, error);
    w->def.driver = w->meshes.driver;
    w->def.driven = w->meshes.driven;
    return result;
}

static void close_wish(wish *w) {
    exi_drive_meshes_close(&w->meshes);
    ex_gathered_close(w->gathered);
}

/* ---- the result ---- */

static void print_note(const ex_call *call, const wish *w, const ex_learned *l) {
    char count[EXI_TEXT_SIZE];
    int values = 0;
    for (int i = 0; i < w->def.reference_count; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++)
            seen |= w->references[j].database == w->references[i].database;
        values += !seen;
    }
    if (!call->quiet && keys && values > 0 && l->key_count < keys * values &&
        !(w->def.until > 0 && l->error < w->def.until))
        exi_failed_text("only %s, not %d: no other frame shows the driver in another form",
                        exi_text_count(count, l->key_count, "key"), keys * values);
    if (!call->quiet && w->def.until > 0 && !(l->error < w->def.until)) {
        char length[EXI_TEXT_SIZE];
        exi_failed_text("%d keys do not reach a mean error below %s", l->key_count,
                        exi_text_length(length, w->def.until));
    }
}

typedef struct announcer {
    const ex_call *call;
    const wish *wish;
    exi_progress *progress;
} announcer;

/* Says how long the work will take if that is more than a few seconds, and what shortens it. */
static void announce(void *user, double seconds) {
    const announcer *a = user;
    const bool open = a->wish->def.options.frames < 0;
    char time[EXI_TEXT_SIZE];
    if (a->call->quiet || seconds < LONG_SECONDS)
        return;
    exi_progress_end(a->progress);
    if (seconds < 90)
        snprintf(time, sizeof time, "%.0f s", seconds);
    else
        snprintf(time, sizeof time, "%.0f min", seconds / 60);
    exi_failed_text("learning will take %s %s%s", a->wish->def.until > 0 ? "at most about" : "about", time,
                    open ? "; '--frames 16 --residual none' compares nothing and is faster" : "");
}

static int learn(const ex_call *call, wish *w) {
    const double start = exi_clock();
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    ex_learned *learned = NULL;
    exi_progress progress;
    ex_result result = read_files(w, &error);
    if (result == EX_OK) {
        exi_pool *pool = exi_pool_create(call->threads);
        const announcer told = {.call = call, .wish = w, .progress = &progress};
        const ex_learn_estimate estimate = {.tell = announce, .user = (void *)(uintptr_t)&told};
        exi_progress_start(&progress, call);
        w->def.estimate = &estimate;
        w->def.progress = &progress.hook;
        w->def.tasks = exi_pool_tasks(pool);
        result = ex_drive_learn(&w->def, &rig, &learned, &error);
        exi_progress_end(&progress);
        exi_pool_destroy(pool);
        w->def.estimate = NULL;
    }
    if (result == EX_OK)
        result = ex_rig_write(output, rig, &error);
    if (result == EX_OK) {
        if (w->def.method == EX_LEARN_KEYS)
            print_note(call, w, learned);
        exi_drive_learned_print(call, learned, rig, output, exi_clock() - start);
    }
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    return result == EX_OK ? EX_EXIT_DONE : exi_failed(&error);
}

static int run(const ex_call *call) {
    static wish w;
    int exit_code = read_gathered(call, &w);
    if (exit_code == EX_EXIT_DONE && !read_words(call, &w))
        exit_code = EX_EXIT_USAGE;
    if (exit_code == EX_EXIT_DONE && gathered.count == 0 &&
        !exi_drive_meshes_named(call, driver_mesh, driven_mesh, drivers.words[0], drivens.words[0]))
        exit_code = EX_EXIT_USAGE;
    if (exit_code == EX_EXIT_DONE && check_output(call, &exit_code))
        exit_code = learn(call, &w);
    close_wish(&w);
    return exit_code;
}

const ex_command cmd_drive_learn = {
    .name = "drive learn",
    .summary = "choose keys from a simulation and make a rig from them",
    .usage = "drive learn --driver CACHE --driven CACHE --keys N -o RIG.glb ...\n"
             "drive learn --gathered FILE.gathered --keys N -o RIG.glb ...",
    .description = "Takes an animation of a driver and of the mesh that it drives, frame by frame:\n"
                   "a body and its simulated shirt. Chooses the frames that differ most\n"
                   "(farthest), or that the keys so far explain worst (worst), and makes a rig\n"
                   "from them. The caches are not needed afterwards.\n"
                   "\n"
                   "The number of moving frames of the driver, and the way the residual is carried\n"
                   "over, are chosen by leaving out keys in turn, unless you set them. Prints the\n"
                   "frames that became keys and the mean error over the references, beside that of\n"
                   "the nearest key alone. The error on other animations is larger ('exemplar\n"
                   "drive report').\n"
                   "\n"
                   "--method motion learns from all frames instead, and from how the driver moves:\n"
                   "its pose, gravity, speed and acceleration. It finds a few forms that\n"
                   "approximate all frames, and decides how much each input counts by leaving out\n"
                   "whole takes in turn. Use it if cloth swings and you have hundreds of frames,\n"
                   "preferably in several takes. It prints the error on takes that were left out.\n"
                   "\n"
                   "Several pairs of caches are several takes: give --driver and --driven again,\n"
                   "and after each pair its --range and --fps. With --database they are\n"
                   "simulations of different cloth: keys are chosen in each, and the rig has an\n"
                   "axis that goes from one to the other. Frames are numbered over all caches one\n"
                   "after the other, whatever the ranges.\n"
                   "\n"
                   "Of each pair with more than 512 frames, learning needs 512 evenly spread ones\n"
                   "and those that are farthest from each other; or forms and coefficients\n"
                   "(motion). Caches are read at most twice for that, frame by frame. 'exemplar\n"
                   "drive gather' does this part alone, for one pair, on any machine; --gathered\n"
                   "then learns from its files, without the caches. The rig has the same bytes.\n"
                   "Errors are measured on the evenly spread frames.",
    .examples = "# from numbered files body_0001.obj and shirt_0001.obj on\n"
                "exemplar drive learn --driver body.obj --driven shirt.obj --keys 12 -o s.glb\n"
                "# from caches, which have no faces; as few keys as leave 5 mm\n"
                "exemplar drive learn --driver body.pc2 --driver-mesh body.obj \\\n"
                "    --driven shirt.pc2 --driven-mesh shirt.obj --keys 30 --until 5mm -o s.glb\n"
                "# clothes that swing, from two takes\n"
                "exemplar drive learn --method motion --driver walk.pc2 --driven walk_s.pc2 \\\n"
                "    --driver run.pc2 --driven run_s.pc2 \\\n"
                "    --driver-mesh body.obj --driven-mesh shirt.obj -o s.glb",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 0,
    .argument_max = 0,
    .run = run,
};
