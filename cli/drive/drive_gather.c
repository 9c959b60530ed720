/* exemplar drive gather - reduces one pair of caches to what learning needs of it: the first stage of `drive learn`. */
#include "drive.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "common/pool.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <string.h>

enum { GIVEN_MAX = 1024 };

static const char *driver, *driven, *driver_mesh, *driven_mesh, *range, *rate, *driver_scale_text, *scale_text;
static const char *method, *at_text, *frames_text, *frame_text, *bind, *weights_text, *database, *output;
static int keys, forms;
static bool force;

static const ex_option options[] = {
    {.name = "driver",
     .argument = "CACHE",
     .help = "animation of the driver: .pc2, .mdd, .abc or numbered .obj",
     .text = &driver},
    {.name = "driver-mesh",
     .argument = "MESH",
     .help = "mesh of the driver, as for 'drive learn' (default: the first of numbered .obj files)",
     .text = &driver_mesh},
    {.name = "driven", .argument = "CACHE", .help = "animation of the driven mesh, frame by frame", .text = &driven},
    {.name = "driven-mesh",
     .argument = "MESH",
     .help = "mesh of the driven mesh's animation (default: as for --driver-mesh)",
     .text = &driven_mesh},
    {.name = "range",
     .argument = "A:B",
     .help = "learn only from frames A to B, counting from 1; A: and :B work too (default: all)",
     .text = &range},
    {.name = "fps",
     .argument = "RATE",
     .help = "frames per second (default: the times in the driver's cache)",
     .text = &rate},
    {.name = EXI_DRIVER_SCALE,
     .argument = "FACTOR",
     .help = "multiply the driver and its animation by this, as for 'drive learn' (default: 1)",
     .text = &driver_scale_text},
    {.name = EXI_DRIVEN_SCALE,
     .argument = "FACTOR",
     .help = "multiply the driven mesh and its animation by this, as for 'drive learn' (default: 1)",
     .text = &scale_text},
    {.name = "method",
     .values = "keys|motion",
     .argument = "WORD",
     .help = "the method that will be learned with: keys (default) or motion",
     .text = &method},
    {.name = "keys",
     .argument = "N",
     .help = "keys: the number of keys that will be learned, if it is above 64 (default: 64)",
     .count = &keys,
     .count_max = EX_CONVEX_MAX},
    {.name = "at",
     .argument = "FRAME,...",
     .help = "keys: frames that 'drive learn --at' will name; counting from 1, in this pair of caches",
     .text = &at_text},
    {.name = "forms",
     .argument = "N",
     .help = "motion: the number of forms that will be learned (default: 40)",
     .count = &forms,
     .count_max = EX_CONVEX_MAX - 1},
    {.name = "frames",
     .argument = "N",
     .help = "motion: number of moving frames of the driver (default: 24)",
     .text = &frames_text},
    {.name = "frame",
     .values = "fit|group:|none",
     .argument = "WORD",
     .help = "moving frame of the whole driver: fit, group:NAME or none, as for 'drive learn' (default: fit)",
     .text = &frame_text},
    {.name = "bind",
     .argument = "FILE.json",
     .help = "motion: groups of the driven mesh, and the only groups of the driver that each follows",
     .text = &bind},
    {.name = "weights",
     .argument = "FILE",
     .help = "weights of the driver's vertices, as for 'drive learn' (default: all alike)",
     .text = &weights_text},
    {.name = "database",
     .argument = "NAME=VALUE",
     .help = "position of this pair on an axis of that name (stiffness=5), which the rig then has",
     .text = &database},
    {.name = "force",
     .letter = 'f',
     .help = "take a driven mesh that looks 10, 100 or 1000 times too large or too small, or is far from the driver",
     .flag = &force},
    {.name = "output", .letter = 'o', .argument = "FILE.gathered", .help = "output file", .text = &output},
};

/* ---- words ---- */

typedef struct wish {
    ex_gather_def def;
    int given[GIVEN_MAX];
    char axis[128];
    exi_drive_meshes meshes;
} wish;

static bool read_method(const ex_call *call, wish *w) {
    const bool motion = method && strcmp(method, ex_learn_method_name(EX_LEARN_MOTION)) == 0;
    if (method && !motion && strcmp(method, ex_learn_method_name(EX_LEARN_KEYS)) != 0) {
        exi_wrong_usage(call->command, "--method needs keys or motion, not '%s'", method);
        return false;
    }
    if (motion && (keys || at_text || database)) {
        exi_wrong_usage(call->command, "--method motion learns from all frames and has no keys: it does not go with "
                                       "--keys, --at or --database");
        return false;
    }
    if (!motion && (forms || frames_text || bind)) {
        exi_wrong_usage(call->command,
                        "--forms, --frames and --bind belong to --method motion; with keys, --frames and "
                        "--bind are given to 'drive learn'");
        return false;
    }
    w->def.method = motion ? EX_LEARN_MOTION : EX_LEARN_KEYS;
    w->def.form_count = forms ? forms : 40;
    w->def.key_count = keys;
    return true;
}

static bool read_database(const ex_call *call, wish *w) {
    size_t size = 0;
    if (!database)
        return true;
    if (!exi_drive_database_read(call, database, &size, &w->def.reference.database))
        return false;
    if (size >= sizeof w->axis) {
        exi_wrong_usage(call->command, "the name in --database '%s' is too long", database);
        return false;
    }
    memcpy(w->axis, database, size);
    w->def.database_axis = w->axis;
    return true;
}

static bool read_words(const ex_call *call, wish *w) {
    ex_drive_reference *pair = &w->def.reference;
    if (!driver || !driven) {
        exi_wrong_usage(call->command, "--driver and --driven are required: they name a pair of caches");
        return false;
    }
    *pair = (ex_drive_reference){.driver = driver, .driven = driven};
    w->def.options = ex_drive_options_default();
    w->def.any_fit = force;
    const bool good = read_method(call, w) && exi_drive_range_read(call, range, &pair->first, &pair->count) &&
                      exi_drive_rate_read(call, rate, &pair->rate) && read_database(call, w) &&
                      exi_drive_scale_read(call, EXI_DRIVER_SCALE, driver_scale_text, &w->def.driver_scale) &&
                      exi_drive_scale_read(call, EXI_DRIVEN_SCALE, scale_text, &w->def.driven_scale) &&
                      exi_drive_moving_read(call, frames_text, &w->def.options) &&
                      exi_drive_frame_read(call, frame_text, false, &w->def.options) &&
                      exi_drive_given_read(call, at_text, w->given, GIVEN_MAX, &w->def.given_count);
    w->def.given = w->given;
    return good && exi_drive_meshes_named(call, driver_mesh, driven_mesh, driver, driven);
}

static bool check_output(const ex_call *call, int *exit_code) {
    *exit_code = EX_EXIT_USAGE;
    if (!output || exi_is_standard_output(output)) {
        exi_wrong_usage(call->command, output ? "the report goes to standard output: name a file with -o"
                                              : "-o is required: it names the output");
        return false;
    }
    return exi_output_check(call->command, output, ".gathered", driver, exit_code) &&
           exi_output_check(call->command, output, ".gathered", driven, exit_code);
}

/* ---- the result ---- */

static void print_json(const ex_gathered_info *info, double seconds) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "gathered", output);
    exi_emit_text(&json, "method", ex_learn_method_name(info->method));
    exi_emit_number(&json, "frames", info->count);
    exi_emit_number(&json, "kept", info->kept_count);
    if (info->method == EX_LEARN_MOTION) {
        exi_emit_number(&json, "forms", info->form_count);
        exi_emit_number(&json, "left", info->left);
    }
    exi_emit_number(&json, "bytes", exi_file_size(output));
    exi_emit_number(&json, "seconds", round(seconds * 1e6) / 1e6);
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static void print_text(const ex_gathered_info *info, double seconds) {
    char count[EXI_TEXT_SIZE], kept[EXI_TEXT_SIZE], size[EXI_TEXT_SIZE], time[EXI_TEXT_SIZE], left[EXI_TEXT_SIZE];
    exi_text_bytes(size, exi_file_size(output));
    exi_text_seconds(time, seconds);
    if (info->method == EX_LEARN_MOTION && info->form_count > 0)
        exi_print("%s: %s, reduced to %s, which leave a root mean square of %s; %s, %s\n", output,
                  exi_text_count(count, info->count, "frame"), exi_text_count(kept, info->form_count, "form"),
                  exi_text_length(left, info->left), size, time);
    else
        exi_print("%s: %s kept of %s, %s, %s\n", output, exi_text_count(kept, info->kept_count, "frame"),
                  exi_text_count(count, info->count, "frame"), size, time);
}

static int gather(const ex_call *call, wish *w) {
    const double start = exi_clock();
    ex_error error = {.result = EX_OK};
    ex_gathered *made = NULL;
    exi_progress progress;
    const exi_drive_mesh_words words = {.driver_mesh = driver_mesh,
                                        .driven_mesh = driven_mesh,
                                        .driver_cache = driver,
                                        .driven_cache = driven,
                                        .weights = weights_text,
                                        .bind = bind,
                                        .driver_scale = w->def.driver_scale,
                                        .driven_scale = w->def.driven_scale};
    ex_result result = exi_drive_meshes_read(&words, &w->meshes, &w->def.options, &error);
    if (result == EX_OK) {
        exi_pool *pool = exi_pool_create(call->threads);
        w->def.driver = w->meshes.driver;
        w->def.driven = w->meshes.driven;
        exi_progress_start(&progress, call);
        w->def.progress = &progress.hook;
        w->def.tasks = exi_pool_tasks(pool);
        result = ex_drive_gather(&w->def, output, &error);
        exi_progress_end(&progress);
        exi_pool_destroy(pool);
    }
    if (result == EX_OK)
        result = ex_gathered_open(output, &made, &error);
    if (result == EX_OK && call->json)
        print_json(ex_gathered_get_info(made), exi_clock() - start);
    else if (result == EX_OK && !call->quiet)
        print_text(ex_gathered_get_info(made), exi_clock() - start);
    ex_gathered_close(made);
    return result == EX_OK ? EX_EXIT_DONE : exi_failed(&error);
}

static int run(const ex_call *call) {
    static wish w;
    int exit_code = EX_EXIT_USAGE;
    if (read_words(call, &w) && check_output(call, &exit_code))
        exit_code = gather(call, &w);
    exi_drive_meshes_close(&w.meshes);
    return exit_code;
}

const ex_command cmd_drive_gather = {
    .name = "drive gather",
    .summary = "reduce one pair of caches to what learning needs of it",
    .usage = "drive gather --driver CACHE --driven CACHE -o FILE.gathered ...",
    .description = "The first half of 'drive learn', for one pair of caches: writes one file with\n"
                   "what learning needs of it. Pairs can be gathered in any order, at the same\n"
                   "time, and on several machines. 'exemplar drive learn --gathered' then makes the\n"
                   "rig from these files, without the caches. It has the same bytes as one learned\n"
                   "from the caches themselves.\n"
                   "\n"
                   "With --method keys the file holds all frames, if there are up to 512. Of more,\n"
                   "it holds 512 evenly spread ones, those that are farthest from each other, and\n"
                   "those of --at. With --method motion it holds how the driver moves in every\n"
                   "frame; and the forms of up to 512 frames, or principal forms of more, about\n"
                   "twice as many as will be learned.\n"
                   "\n"
                   "The caches are read at most twice, frame by frame. All files for one rig need\n"
                   "the same meshes and the same options, except --range, --fps, --at, --keys,\n"
                   "--force and the value of --database. Options that are not here are given to\n"
                   "'drive learn'.",
    .examples = "# two takes, gathered one by one, and a rig from both\n"
                "exemplar drive gather --driver walk.pc2 --driver-mesh body.obj \\\n"
                "    --driven walk_s.pc2 --driven-mesh shirt.obj -o walk.gathered\n"
                "exemplar drive gather --driver run.pc2 --driver-mesh body.obj \\\n"
                "    --driven run_s.pc2 --driven-mesh shirt.obj -o run.gathered\n"
                "exemplar drive learn --gathered walk.gathered --gathered run.gathered \\\n"
                "    --keys 12 -o shirt.glb",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 0,
    .argument_max = 0,
    .run = run,
};
