/* exemplar drive apply - computes the clothes for a new animation of the body. */
#include "drive.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "common/pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *driver, *output, *group, *frames_text, *rate_text, *driver_scale_text, *scale_text;
static ex_word_list database, over, over_mesh;
static bool untangle, no_settle, force;

static const ex_option options[] = {
    {.name = "driver",
     .argument = "CACHE",
     .help = "animation of the driver to follow: " EXI_CACHE_ENDINGS,
     .text = &driver},
    {.name = "output", .letter = 'o', .argument = "OUT", .help = "output file: " EXI_CACHE_ENDINGS, .text = &output},
    {.name = "group", .argument = "G", .help = "write only the vertices of this group of faces", .text = &group},
    EXI_DRIVE_TAKE_OPTIONS("follow only frames", frames_text, rate_text, driver_scale_text),
    {.name = EXI_DRIVEN_SCALE,
     .argument = "FACTOR",
     .help = "write the unit that 'drive learn' read with this: positions are divided by it (default: 1)",
     .text = &scale_text},
    {.name = "database",
     .argument = "NAME=VALUE",
     .help = "the cloth, if the rig has several (default: the first)",
     .words = &database},
    EXI_DRIVE_OVER_OPTIONS(over, over_mesh),
    {.name = "untangle", .help = "remove places where the mesh goes through itself, after settling", .flag = &untangle},
    {.name = "no-settle",
     .help = "leave out settling: carry no residual, and do not push the mesh out of the driver",
     .flag = &no_settle},
    {.name = "force", .help = "with .obj: overwrite existing forms", .flag = &force},
};

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* True if two paths, which end alike, lead to the same file. */
static bool are_one(const char *a, const char *b) {
    struct stat one, other;
    return strcmp(last_name(a), last_name(b)) == 0 && stat(a, &one) == 0 && stat(b, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* True if a numbered file may be written: it does not exist, or it may be overwritten and is not a frame of the driver,
 * which would be lost. Otherwise prints an error. */
static bool frame_is_free(const char *path, const ex_cache_reader *drivers) {
    const bool taken = exi_file_exists(path);
    if (taken && !force)
        exi_failed_exists(path, "name");
    for (int i = 0; taken && force && i < ex_cache_get_info(drivers).frame_count; i++)
        if (are_one(path, ex_cache_path(drivers, i))) {
            exi_failed_text("'%s' is a frame of the driver: give another name with -o", path);
            return false;
        }
    return !taken || force;
}

/* The same for all numbered files. A driver that cannot be read is reported. */
static bool frames_are_free(const ex_apply_def *def) {
    ex_cache_reader *reader = NULL;
    ex_error error = {.result = EX_OK};
    bool all = true;
    if (ex_cache_kind_of(output) != EX_CACHE_OBJ)
        return true;
    if (ex_cache_open(driver, &reader, &error) != EX_OK) {
        exi_failed(&error);
        return false;
    }
    const int rest = ex_cache_get_info(reader).frame_count - def->first,
              count = def->count > 0 && def->count < rest ? def->count : rest;
    for (int f = 0; all && f < count; f++) {
        char *path = ex_cache_frame_path(output, f, count);
        if (!path)
            exi_failed_memory();
        all = path && frame_is_free(path, reader);
        free(path);
    }
    ex_cache_close(reader);
    return all;
}

static void print(const ex_call *call, const ex_rig *rig, const ex_drive_report *report, double seconds) {
    char frames[EXI_TEXT_SIZE], size[EXI_TEXT_SIZE], time[EXI_TEXT_SIZE];
    int left = 0;
    for (int i = 0; i < report->frame_count; i++)
        left += report->frames[i].left;
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "file", output);
        exi_emit_number(&json, "frames", report->frame_count);
        exi_emit_number(&json, "vertices", ex_rig_vertex_count(rig));
        exi_emit_number(&json, "far", report->far_count);
        exi_emit_number(&json, "left", left);
        exi_emit_number(&json, "bytes", exi_file_size(output));
        exi_emit_number(&json, "seconds", round(seconds * 1e6) / 1e6);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
        return;
    }
    exi_print("%s: %s", output, exi_text_count(frames, report->frame_count, "frame"));
    if (ex_cache_kind_of(output) != EX_CACHE_OBJ)
        exi_print(", %s", exi_text_bytes(size, exi_file_size(output)));
    exi_print(", %s", exi_text_seconds(time, seconds));
    if (exi_report_is_terminal() && seconds > 0)
        exi_print(", %.0f frames a second", report->frame_count / seconds);
    exi_print("\n");
}

static int apply(const ex_call *call, const ex_rig *rig) {
    ex_error error = {.result = EX_OK};
    ex_drive_report *report = NULL;
    exi_progress progress;
    ex_apply_def def = {.rig = rig,
                        .driver = driver,
                        .output = output,
                        .group = group,
                        .unsettled = no_settle,
                        .untangle = untangle,
                        .brief = true,
                        .progress = &progress.hook};
    const int found = exi_drive_database_find(call, rig, &database, &def.database);
    if (found != EX_EXIT_DONE)
        return found;
    if (!exi_drive_frames_read(call, frames_text, &def.first, &def.count) ||
        !exi_drive_rate_read(call, rate_text, &def.rate) ||
        !exi_drive_scale_read(call, EXI_DRIVER_SCALE, driver_scale_text, &def.driver_scale) ||
        !exi_drive_scale_read(call, EXI_DRIVEN_SCALE, scale_text, &def.driven_scale))
        return EX_EXIT_USAGE;
    if (!frames_are_free(&def))
        return EX_EXIT_FAILED;
    exi_drive_overs overs;
    const int opened = exi_drive_overs_open(call, &over, &over_mesh, output, &overs, &def);
    if (opened != EX_EXIT_DONE)
        return opened;
    const double start = exi_clock();
    exi_pool *pool = exi_pool_create(call->threads);
    def.tasks = exi_pool_tasks(pool);
    exi_progress_start(&progress, call);
    exi_interrupt_defer(true); /* several files may belong together */
    const ex_result result = ex_drive_apply(&def, &report, &error);
    exi_interrupt_defer(false);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    exi_drive_overs_close(&overs);
    if (result != EX_OK && exi_interrupted()) {
        exi_failed_text("interrupted");
        return exi_interrupted();
    }
    if (result != EX_OK)
        return exi_failed(&error);
    if (!call->quiet)
        exi_drive_warn(report);
    if (call->json || !call->quiet)
        print(call, rig, report, exi_clock() - start);
    ex_drive_report_free(report);
    return EX_EXIT_DONE;
}

static int run(const ex_call *call) {
    int exit_code;
    if (!driver)
        return exi_wrong_usage(call->command, "--driver CACHE is required: it is the animation to follow");
    if (!output)
        return exi_wrong_usage(call->command, "-o is required: it names the output");
    if (exi_is_standard_output(output))
        return exi_wrong_usage(call->command,
                               "a cache cannot go to standard output: name a file with -o, " EXI_CACHE_ENDINGS);
    if (!exi_output_check(call->command, output, EXI_CACHE_ENDINGS, driver, &exit_code) ||
        !exi_output_check(call->command, output, EXI_CACHE_ENDINGS, call->arguments[0], &exit_code))
        return exit_code;
    ex_rig *rig = exi_drive_load(call->arguments[0]);
    if (!rig)
        return EX_EXIT_FAILED;
    exit_code = apply(call, rig);
    ex_rig_destroy(rig);
    return exit_code;
}

const ex_command cmd_drive_apply = {
    .name = "drive apply",
    .summary = "make the clothes for a new animation of the body",
    .usage = "drive apply RIG.glb --driver NEW.pc2 -o OUT.pc2 [--group G]",
    .description = "Reads the driver's animation frame by frame and writes the driven mesh for\n"
                   "each frame, with the same times. The driver must have the vertices of the mesh\n"
                   "used for learning, in the same order.\n"
                   "\n"
                   "With --over, the mesh is also put over other garments, which were made for the\n"
                   "same animation: a jacket over a shirt.\n"
                   "\n"
                   "A note on stderr names frames that are farther from any blend of the keys than\n"
                   "keys are from each other: there the rig guesses, and a simulated key would\n"
                   "help ('exemplar drive add').",
    .examples = "exemplar drive apply shirt.glb --driver walk.pc2 -o walk_shirt.pc2\n"
                "exemplar drive apply shirt.glb --driver walk.mdd -o hood.obj --group hood\n"
                "exemplar drive apply coat.glb --driver w.pc2 --over w_shirt.pc2 \\\n"
                "    --over-mesh shirt.obj -o w_coat.pc2",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
