/* exemplar drive report - measures a driven rig on an animation: text, JSON, a table, a picture. */
#include "drive.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "common/pool.h"

#include "common/array.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORST = 8 };

static const char *driver, *truth, *picture, *csv, *frames_text, *rate_text, *driver_scale_text, *scale_text;
static ex_word_list database, over, over_mesh;
static bool untangle, no_settle;

static const ex_option options[] = {
    {.name = "driver",
     .argument = "CACHE",
     .help = "animation of the driver to follow: " EXI_CACHE_ENDINGS,
     .text = &driver},
    {.name = "truth",
     .argument = "CACHE",
     .help = "a simulation of the same animation, to compare with",
     .text = &truth},
    EXI_DRIVE_TAKE_OPTIONS("use only frames", frames_text, rate_text, driver_scale_text),
    {.name = EXI_DRIVEN_SCALE,
     .argument = "FACTOR",
     .help = "multiply the positions of --truth by this, as for 'drive learn' (default: 1)",
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
    {.name = "picture",
     .values = ".png|.svg",
     .argument = "P.png",
     .help = "draw weights and errors over time, .png or .svg",
     .text = &picture},
    {.name = "csv", .argument = "T.csv", .help = "write all figures of every frame as a table", .text = &csv},
};

static const char *key_name(const ex_rig *rig, int layer, int key) {
    return ex_rig_example_name(rig, layer, key);
}

/* The layer weighed by the driver. */
static int driven_layer(const ex_rig *rig) {
    int layer = 0;
    while (layer + 1 < ex_rig_layer_count(rig) && ex_rig_layer_regions(rig, layer, NULL, NULL) == 0 &&
           !ex_rig_layer_predictor(rig, layer))
        layer++;
    return layer;
}

/* ---- text ---- */

static void print_pair(const char *what, double mean, double p95) {
    char first[EXI_TEXT_SIZE], second[EXI_TEXT_SIZE];
    if (mean >= 0)
        exi_print("  %-22s %10s %10s\n", what, exi_text_length(first, mean), exi_text_length(second, p95));
}

/* Prints how many triangles go through each other, and how many vertices are inside garments below. */
static void print_crossings(const ex_drive_report *r) {
    long long before = 0, after = 0, truth_sum = 0, covered_before = 0, covered = 0;
    for (int i = 0; i < r->frame_count; i++) {
        const ex_drive_frame *f = &r->frames[i];
        before += f->crossings_before;
        after += f->crossings;
        truth_sum += f->truth_crossings;
        covered_before += f->covered_before;
        covered += f->covered;
    }
    const double frames = r->frame_count;
    exi_print("crossing triangles: %.1f pairs a frame", (double)after / frames);
    if (untangle)
        exi_print(", %.1f before untangling", (double)before / frames);
    if (truth_sum >= 0)
        exi_print(", simulation %.1f", (double)truth_sum / frames);
    exi_print("\n");
    if (covered >= 0)
        exi_print("inside garments below: %.1f vertices a frame, %.1f after\n", (double)covered_before / frames,
                  (double)covered / frames);
}

static void print_depths(const ex_drive_report *r) {
    long long before = 0, left = 0;
    double deep_before = 0, deep_after = 0, jump = 0, driver_jump = 0;
    char one[EXI_TEXT_SIZE], two[EXI_TEXT_SIZE];
    for (int i = 0; i < r->frame_count; i++) {
        const ex_drive_frame *f = &r->frames[i];
        before += f->penetrating;
        left += f->left;
        deep_before = f->deepest_before < deep_before ? f->deepest_before : deep_before;
        deep_after = f->deepest_after < deep_after ? f->deepest_after : deep_after;
        jump = f->driven_jump > jump ? f->driven_jump : jump;
        driver_jump = f->driver_jump > driver_jump ? f->driver_jump : driver_jump;
    }
    exi_print("nearer to the driver than wanted: %.1f vertices a frame before settling, %.1f after\n",
              (double)before / r->frame_count, (double)left / r->frame_count);
    exi_print("deepest inside: %s before settling, %s after\n", exi_text_length(one, fabs(deep_before)),
              exi_text_length(two, fabs(deep_after)));
    print_crossings(r);
    exi_print("largest jump between frames: %s, of the driver %s\n", exi_text_length(one, jump),
              exi_text_length(two, driver_jump));
}

static void print_text(const ex_call *call, const ex_rig *rig, const ex_drive_report *r) {
    char frames[EXI_TEXT_SIZE], keys[EXI_TEXT_SIZE], a[EXI_TEXT_SIZE], b[EXI_TEXT_SIZE], c[EXI_TEXT_SIZE];
    char d[EXI_TEXT_SIZE], e[EXI_TEXT_SIZE];
    int worst[WORST];
    const int count = exi_drive_worst(r, r->mean >= 0, WORST, worst), layer = driven_layer(rig);
    exi_print("%s on %s: %s, %s\n", call->arguments[0], driver, exi_text_count(frames, r->frame_count, "frame"),
              r->by_motion ? exi_text_count(keys, r->key_count - 1, "form")
                           : exi_text_count(keys, r->key_count, "key"));
    if (r->mean >= 0)
        exi_print("  %-22s %10s %10s\n", "error", "mean", "95 %");
    print_pair("this rig", r->mean, r->p95);
    print_pair("before settling", r->blend_mean, r->blend_p95);
    print_pair("nearest key", r->nearest_mean, r->nearest_p95);
    print_depths(r);
    if (r->by_motion)
        exi_print("farther from what was learned than its takes are from each other: %d of %s\n", r->far_count,
                  exi_text_count(b, r->frame_count, "frame"));
    else
        exi_print("keys are %s apart; farther than that from what they can blend: %d of %s\n",
                  exi_text_length(a, r->key_spread), r->far_count, exi_text_count(b, r->frame_count, "frame"));
    exi_print("%s:\n  %5s %8s %10s %10s %10s %10s %10s  %s\n",
              r->mean >= 0   ? "worst frames (of similar frames, the worst one)"
              : r->by_motion ? "frames farthest from what was learned (of similar frames, the farthest one)"
                             : "frames farthest from the keys (of similar frames, the farthest one)",
              "frame", "time", "error", "95 %", "largest", "nearest", r->by_motion ? "unfamiliar" : "from keys",
              r->by_motion ? "form with most weight" : "key with most weight");
    for (int i = 0; i < count; i++) {
        const ex_drive_frame *f = &r->frames[worst[i]];
        const double *weights = r->weights + (size_t)worst[i] * (size_t)r->key_count;
        int most = r->by_motion && r->key_count > 1; /* the first form is the mean */
        for (int k = most + 1; k < r->key_count; k++)
            most = fabs(weights[k]) > fabs(weights[most]) ? k : most;
        if (r->by_motion)
            snprintf(e, sizeof e, "%.2f", f->unfamiliar);
        else
            exi_text_length(e, f->hull_distance);
        exi_print("  %5d %8.3f %10s %10s %10s %10s %10s  %s %.2f\n", r->first + worst[i] + 1, f->time,
                  exi_text_length(a, f->mean), exi_text_length(b, f->p95), exi_text_length(c, f->worst),
                  exi_text_length(d, f->nearest_mean), e, key_name(rig, layer, most), weights[most]);
    }
}

/* ---- JSON ---- */

/* Emits a measurement; null if it was not measured. */
static void emit_figure(exi_emitter *json, const char *key, double value) {
    exi_emit_number(json, key, value >= 0 ? value : NAN);
}

static void emit_frame(exi_emitter *json, const ex_drive_report *r, int frame) {
    const ex_drive_frame *f = &r->frames[frame];
    exi_emit_open(json, NULL, '{');
    exi_emit_number(json, "frame", r->first + frame + 1);
    exi_emit_number(json, "time", f->time);
    exi_emit_number(json, "hull_distance", f->hull_distance);
    exi_emit_number(json, "unfamiliar", f->unfamiliar);
    emit_figure(json, "mean", f->mean);
    emit_figure(json, "p95", f->p95);
    emit_figure(json, "worst", f->worst);
    emit_figure(json, "worst_vertex", f->worst_vertex);
    emit_figure(json, "nearest_mean", f->nearest_mean);
    emit_figure(json, "blend_mean", f->blend_mean);
    exi_emit_number(json, "penetrating", f->penetrating);
    exi_emit_number(json, "left", f->left);
    exi_emit_number(json, "deepest_before", f->deepest_before);
    exi_emit_number(json, "deepest_after", f->deepest_after);
    exi_emit_number(json, "driver_jump", f->driver_jump);
    exi_emit_number(json, "driven_jump", f->driven_jump);
    exi_emit_number(json, "crossings", f->crossings);
    exi_emit_number(json, "crossings_before", f->crossings_before);
    emit_figure(json, "truth_crossings", f->truth_crossings);
    emit_figure(json, "covered", f->covered);
    emit_figure(json, "covered_before", f->covered_before);
    exi_emit_numbers(json, "weights", r->weights + (size_t)frame * (size_t)r->key_count, r->key_count);
    exi_emit_close(json, '}');
}

static void print_json(const ex_call *call, const ex_rig *rig, const ex_drive_report *r) {
    exi_emitter json = exi_emit_start(stdout);
    const int layer = driven_layer(rig);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "rig", call->arguments[0]);
    exi_emit_text(&json, "driver", driver);
    exi_emit_text(&json, "truth", truth);
    exi_emit_open(&json, "keys", '[');
    for (int k = 0; k < r->key_count; k++)
        exi_emit_text(&json, NULL, key_name(rig, layer, k));
    exi_emit_close(&json, ']');
    emit_figure(&json, "mean", r->mean);
    emit_figure(&json, "p95", r->p95);
    emit_figure(&json, "nearest_mean", r->nearest_mean);
    emit_figure(&json, "nearest_p95", r->nearest_p95);
    emit_figure(&json, "blend_mean", r->blend_mean);
    emit_figure(&json, "blend_p95", r->blend_p95);
    exi_emit_number(&json, "key_spread", r->key_spread);
    exi_emit_number(&json, "far", r->far_count);
    exi_emit_open(&json, "frames", '[');
    for (int i = 0; i < r->frame_count; i++)
        emit_frame(&json, r, i);
    exi_emit_close(&json, ']');
    if (r->vertex_errors)
        exi_emit_numbers(&json, "vertex_errors", r->vertex_errors, r->vertex_count);
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

/* ---- a table ---- */

static void write_cell(ex_file_writer *w, double value, bool known) {
    char text[32] = "";
    if (known)
        ex_format_double(text, value);
    ex_file_printf(w, ",%s", text);
}

static void write_name(ex_file_writer *w, const char *text) {
    ex_file_printf(w, ",\"");
    for (; *text; text++)
        ex_file_printf(w, *text == '"' ? "\"%c" : "%c", *text);
    ex_file_printf(w, "\"");
}

static ex_result write_table(const ex_rig *rig, const ex_drive_report *r, ex_error *error) {
    ex_file_writer w;
    ex_result result = ex_file_open(&w, csv, error);
    if (result != EX_OK)
        return result;
    ex_file_printf(&w,
                   "frame,time,hull_distance,mean,p95,worst,worst_vertex,nearest_mean,blend_mean,penetrating,left,"
                   "deepest_before,deepest_after,driver_jump,driven_jump,crossings,crossings_before,truth_crossings,"
                   "covered,covered_before,unfamiliar");
    for (int k = 0; k < r->key_count; k++)
        write_name(&w, key_name(rig, driven_layer(rig), k));
    ex_file_printf(&w, "\n");
    for (int i = 0; i < r->frame_count; i++) {
        const ex_drive_frame *f = &r->frames[i];
        const double values[] = {f->time,
                                 f->hull_distance,
                                 f->mean,
                                 f->p95,
                                 f->worst,
                                 f->worst_vertex,
                                 f->nearest_mean,
                                 f->blend_mean,
                                 f->penetrating,
                                 f->left,
                                 f->deepest_before,
                                 f->deepest_after,
                                 f->driver_jump,
                                 f->driven_jump,
                                 f->crossings,
                                 f->crossings_before,
                                 f->truth_crossings,
                                 f->covered,
                                 f->covered_before,
                                 f->unfamiliar};
        ex_file_printf(&w, "%d", r->first + i + 1);
        for (int c = 0; c < (int)(sizeof values / sizeof values[0]); c++)
            write_cell(&w, values[c], c < 2 || (c > 7 && c < 14) || values[c] >= 0);
        for (int k = 0; k < r->key_count; k++)
            write_cell(&w, r->weights[(size_t)i * (size_t)r->key_count + (size_t)k], true);
        ex_file_printf(&w, "\n");
    }
    return ex_file_commit(&w, error);
}

static ex_result draw(const ex_rig *rig, const ex_drive_report *r, ex_error *error) {
    const char **names = array_allocate((size_t)r->key_count, sizeof *names);
    if (!names) {
        *error = (ex_error){.result = EX_ERROR_MEMORY, .text = "not enough memory"};
        return EX_ERROR_MEMORY;
    }
    for (int k = 0; k < r->key_count; k++)
        names[k] = key_name(rig, driven_layer(rig), k);
    const ex_result result = ex_drive_report_draw(r, names, picture, error);
    free(names);
    return result;
}

/* ---- the command ---- */

static int report(const ex_call *call, const ex_rig *rig) {
    ex_error error = {.result = EX_OK};
    ex_drive_report *made = NULL;
    exi_progress progress;
    ex_apply_def def = {.rig = rig,
                        .driver = driver,
                        .truth = truth,
                        .unsettled = no_settle,
                        .untangle = untangle,
                        .progress = &progress.hook};
    const int found = exi_drive_database_find(call, rig, &database, &def.database);
    if (found != EX_EXIT_DONE)
        return found;
    if (!exi_drive_frames_read(call, frames_text, &def.first, &def.count) ||
        !exi_drive_rate_read(call, rate_text, &def.rate) ||
        !exi_drive_scale_read(call, EXI_DRIVER_SCALE, driver_scale_text, &def.driver_scale) ||
        !exi_drive_scale_read(call, EXI_DRIVEN_SCALE, scale_text, &def.driven_scale))
        return EX_EXIT_USAGE;
    exi_drive_overs overs;
    const int opened = exi_drive_overs_open(call, &over, &over_mesh, NULL, &overs, &def);
    if (opened != EX_EXIT_DONE)
        return opened;
    exi_pool *pool = exi_pool_create(call->threads);
    def.tasks = exi_pool_tasks(pool);
    exi_progress_start(&progress, call);
    ex_result result = ex_drive_apply(&def, &made, &error);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    exi_drive_overs_close(&overs);
    if (result == EX_OK && csv)
        result = write_table(rig, made, &error);
    if (result == EX_OK && picture)
        result = draw(rig, made, &error);
    if (result == EX_OK && call->json)
        print_json(call, rig, made);
    else if (result == EX_OK)
        print_text(call, rig, made);
    ex_drive_report_free(made);
    return result == EX_OK ? EX_EXIT_DONE : exi_failed(&error);
}

static int run(const ex_call *call) {
    int exit_code;
    if (!driver)
        return exi_wrong_usage(call->command, "--driver CACHE is required: it is the animation to follow");
    for (int i = 0; i < 2; i++) {
        const char *path = i ? csv : picture;
        if (path && exi_is_standard_output(path))
            return exi_wrong_usage(call->command, "the report goes to standard output: name a file with --%s",
                                   i ? "csv" : "picture");
        if (path && !exi_output_check(call->command, path, i ? ".csv" : ".png or .svg", call->arguments[0], &exit_code))
            return exit_code;
    }
    ex_rig *rig = exi_drive_load(call->arguments[0]);
    if (!rig)
        return EX_EXIT_FAILED;
    exit_code = report(call, rig);
    ex_rig_destroy(rig);
    return exit_code;
}

const ex_command cmd_drive_report = {
    .name = "drive report",
    .summary = "measure how well a driven rig follows an animation",
    .usage = "drive report RIG.glb --driver NEW.pc2 [--truth SIM.pc2] ...",
    .description = "Follows an animation of the driver and prints:\n"
                   "\n"
                   "  - the distance of the driver from any blend of the keys\n"
                   "  - the vertices that are too close to the driver, before and after settling\n"
                   "  - the triangles that go through each other, and with --over the vertices\n"
                   "    inside garments below\n"
                   "  - the jumps of vertices from frame to frame, beside those of the driver, in\n"
                   "    the moving frames that carry them\n"
                   "\n"
                   "With --truth, a simulation of the same animation, it also prints the mean\n"
                   "distance of the vertices from the simulation and the distance that 95 of 100\n"
                   "stay below. Beside them are those of the blend before settling, and of the\n"
                   "nearest key without blending.\n"
                   "\n"
                   "The picture shows the weights of the keys over time, each in its colour, and\n"
                   "below them the errors. --json has every frame, the weights, and the mean error\n"
                   "of every vertex.",
    .examples = "exemplar drive report shirt.glb --driver walk.pc2 --truth walk_sim.pc2\n"
                "exemplar drive report shirt.glb --driver walk.pc2 --picture p.svg --csv t.csv",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
