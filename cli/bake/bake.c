/* cli/bake/bake.c - the defaults of a bake, and its report. */
#include "bake.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/report.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- defaults ---- */

ex_result exi_bake_check_rig(const ex_rig *rig, const char *path, ex_error *error) {
    ex_rig_driver driver;
    if (!ex_rig_get_driver(rig, &driver, NULL))
        return EX_OK;
    return ex_error_set(error, EX_ERROR_DATA,
                        "%s follows the driver '%s', and no motion file holds its forms: 'exemplar drive apply %s "
                        "--driver CACHE -o OUT.pc2' plays a cache of them",
                        path, driver.name, path);
}

/* The cage of a displaced surface is far from the displayed surface. */
int exi_bake_level(const ex_rig *rig) {
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        if (ex_rig_layer_displaced(rig, l, NULL) > 0)
            return ex_rig_level(rig);
    return 0;
}

/* Attributes that glTF asks viewers to morph at once; a target changes positions and normals. */
enum { MORPHED_MOST = 8 };

static double seconds_of(const ex_motion *motion) {
    return motion->times[motion->pose_count - 1] - motion->times[0];
}

static void emit_error(exi_emitter *json, const char *key, const ex_bake_error *error) {
    exi_emit_open(json, key, '{');
    exi_emit_number(json, "largest", error->largest);
    exi_emit_number(json, "rms", error->rms);
    exi_emit_number(json, "frame", error->frame + 1);
    exi_emit_number(json, "vertex", error->vertex);
    exi_emit_close(json, '}');
}

static int pixel_layers(const ex_rig *rig) {
    int count = 0;
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        count += ex_rig_layer_stage(rig, l) == EX_STAGE_TEXTURE;
    return count;
}

/* Number of attributes that a viewer morphs: positions, and normals if there are faces. */
static int morphed_of(const ex_rig *rig, const ex_bake_report *report) {
    return report->target_count * (ex_rig_get_mesh(rig).face_count > 0 ? 2 : 1);
}

static const char *why_inexact(const ex_rig *rig, const ex_bake_options *options) {
    const char *why = ex_bake_inexact(rig, options->muted, options->level);
    return why ? why : "--targets limits the number of targets";
}

static void print_json(const char *path, const ex_rig *rig, const ex_motion *motion, const ex_bake_options *options,
                       const ex_bake_report *report, const exi_bake_between *between) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "file", path);
    exi_emit_number(&json, "frames", report->frame_count);
    exi_emit_number(&json, "seconds", seconds_of(motion));
    exi_emit_number(&json, "targets", report->target_count);
    exi_emit_number(&json, "unused", report->unused_count);
    exi_emit_number(&json, "influences", options->influence_most ? options->influence_most : 4);
    exi_emit_number(&json, "influences_of_rig", report->influence_most);
    emit_error(&json, "loss_by_influences", &report->influences);
    exi_emit_bool(&json, "exact", report->exact);
    exi_emit_text(&json, "why_not_exact", report->exact ? NULL : why_inexact(rig, options));
    emit_error(&json, "error", &report->total);
    if (between->measured) {
        exi_emit_open(&json, "between_frames", '{');
        exi_emit_number(&json, "largest", between->largest);
        exi_emit_number(&json, "frame", between->frame + 1);
        exi_emit_close(&json, '}');
    }
    exi_emit_number(&json, "height", report->size);
    exi_emit_number(&json, "keys", (double)report->key_count);
    exi_emit_number(&json, "keys_of_all_frames", (double)report->key_count_full);
    exi_emit_number(&json, "morphed_attributes", morphed_of(rig, report));
    exi_emit_number(&json, "layers_of_pixels_left_out", pixel_layers(rig));
    exi_emit_number(&json, "bytes", exi_file_size(path));
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static bool is_rounding(const ex_bake_error *error, double size) {
    return error->largest <= 1e-6 * size;
}

/* ---- notes: sentences about a .glb, each false where it has nothing to say ---- */

typedef bool note_of(const ex_rig *rig, const ex_bake_options *options, const ex_bake_report *report,
                     char text[EXI_BAKE_NOTE_SIZE]);

static bool note_targets(const ex_rig *rig, const ex_bake_report *report, char text[EXI_BAKE_NOTE_SIZE]) {
    const int morphed = morphed_of(rig, report);
    snprintf(
        text, EXI_BAKE_NOTE_SIZE,
        "%d targets that change %s are %d morphed attributes: glTF viewers need to support only %d, and some show no more",
        report->target_count, morphed > report->target_count ? "positions and normals" : "positions", morphed,
        MORPHED_MOST);
    return morphed > MORPHED_MOST;
}

static bool note_inexact(const ex_rig *rig, const ex_bake_options *options, const ex_bake_report *report,
                         char text[EXI_BAKE_NOTE_SIZE]) {
    if (report->exact || is_rounding(&report->total, report->size))
        return false;
    snprintf(text, EXI_BAKE_NOTE_SIZE, "not exact: %s", why_inexact(rig, options));
    return true;
}

/* Error that the requested options explain: the targets' tolerance, and the keys and influences left out. If the file
 * is worse than that, the skin collapses somewhere, and no target helps. */
static double explained(const ex_bake_options *options, const ex_bake_report *report) {
    const double usual = EX_BAKE_ERROR * report->size;
    return (options->error_most > usual ? options->error_most : usual) + options->thin + report->influences.largest;
}

static bool note_far(const ex_rig *rig, const ex_bake_options *options, const ex_bake_report *report,
                     char text[EXI_BAKE_NOTE_SIZE]) {
    (void)rig;
    snprintf(text, EXI_BAKE_NOTE_SIZE,
             "morph targets before a linear skin cannot come closer: a point cache (.pc2, .mdd, .abc) is exact");
    return options->target_count == 0 && report->total.largest > explained(options, report);
}

static bool note_pixels(const ex_rig *rig, const ex_bake_options *options, const ex_bake_report *report,
                        char text[EXI_BAKE_NOTE_SIZE]) {
    char layers[EXI_TEXT_SIZE];
    (void)options;
    (void)report;
    snprintf(text, EXI_BAKE_NOTE_SIZE, "glTF cannot blend textures: %s of pixels left out, textures as at rest",
             exi_text_count(layers, pixel_layers(rig), "layer"));
    return pixel_layers(rig) > 0;
}

static note_of *const notes[] = {note_inexact, note_far, note_pixels};
enum { NOTE_COUNT = (int)(sizeof notes / sizeof notes[0]) };

int exi_bake_notes(const ex_rig *rig, const ex_bake_options *options, const ex_bake_report *report,
                   const exi_bake_between *between, char texts[EXI_BAKE_NOTES][EXI_BAKE_NOTE_SIZE]) {
    int count = note_targets(rig, report, texts[0]);
    for (int i = 0; i < NOTE_COUNT; i++)
        count += notes[i](rig, options, report, texts[count]);
    count += exi_bake_between_note(between, report->size, texts[count], EXI_BAKE_NOTE_SIZE);
    return count;
}

/* ---- the report ---- */

static void print_error(const char *what, const ex_bake_error *error, double size) {
    if (is_rounding(error, size)) {
        exi_print("%s none beyond rounding\n", what);
        return;
    }
    exi_print("%s up to %.2g m", what, error->largest);
    if (size > 0)
        exi_print(" (%.2g %% of the height)", 100 * error->largest / size);
    exi_print(", rms %.2g m; the largest at frame %d, vertex %d\n", error->rms, error->frame + 1, error->vertex);
}

static void print_targets(const ex_rig *rig, const ex_bake_report *report) {
    char text[EXI_TEXT_SIZE], note[EXI_BAKE_NOTE_SIZE];
    const int morphed = morphed_of(rig, report);
    exi_print("targets    %d", report->target_count);
    if (report->unused_count > 0)
        exi_print("; %s without weight in this motion left out", exi_text_count(text, report->unused_count, "example"));
    exi_print("\n");
    if (note_targets(rig, report, note))
        exi_print("note       %s (--targets %d stays within)\n", note,
                  morphed > report->target_count ? MORPHED_MOST / 2 : MORPHED_MOST);
}

static void print_influences(const ex_bake_options *options, const ex_bake_report *report) {
    const int most = options->influence_most ? options->influence_most : 4;
    if (report->influence_most == 0)
        return;
    if (report->influences.largest == 0) {
        exi_print("influences %d, none left out\n", report->influence_most);
        return;
    }
    exi_print("influences %d of up to %d:", most, report->influence_most);
    print_error(" the cost by itself is", &report->influences, report->size);
}

void exi_bake_print_glb(const ex_call *call, const char *path, const ex_rig *rig, const ex_motion *motion,
                        const ex_bake_options *options, const ex_bake_report *report, const exi_bake_between *between) {
    char frames[EXI_TEXT_SIZE], bytes[EXI_TEXT_SIZE], note[EXI_BAKE_NOTE_SIZE];
    if (call->json) {
        print_json(path, rig, motion, options, report, between);
        return;
    }
    if (call->quiet)
        return;
    exi_print("%s: %s, %.4g s, %s\n", path, exi_text_count(frames, report->frame_count, "frame"), seconds_of(motion),
              exi_text_bytes(bytes, exi_file_size(path)));
    print_targets(rig, report);
    print_influences(options, report);
    print_error("error     ", &report->total, report->size);
    exi_print("keys       %ld of %ld\n", report->key_count, report->key_count_full);
    for (int i = 0; i < NOTE_COUNT; i++)
        if (notes[i](rig, options, report, note))
            exi_print("note       %s\n", note);
    if (exi_bake_between_note(between, report->size, note, sizeof note))
        exi_print("note       %s (--fps)\n", note);
}

void exi_bake_print_cache(const ex_call *call, const char *path, const ex_rig *rig, const ex_motion *motion,
                          const ex_bake_options *options) {
    char frames[EXI_TEXT_SIZE], vertices[EXI_TEXT_SIZE];
    const int count = ex_rig_level_vertex_count(rig, options->level);
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "file", path);
        exi_emit_number(&json, "frames", motion->pose_count);
        exi_emit_number(&json, "seconds", seconds_of(motion));
        exi_emit_number(&json, "vertices", count);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet) {
        exi_print("%s: %s of %s, %.4g s\n", path, exi_text_count(frames, motion->pose_count, "frame"),
                  exi_text_count(vertices, count, "vertex"), seconds_of(motion));
    }
}
