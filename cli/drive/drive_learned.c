/* The result of `drive learn`, as text and as JSON: keys, or forms learned from motion. */
#include "drive.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"

#include <math.h>

static void print_json(const ex_learned *l, const ex_rig *rig, const char *output, double seconds) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "rig", output);
    exi_emit_number(&json, "vertices", ex_rig_vertex_count(rig));
    exi_emit_open(&json, "keys", '[');
    for (int k = 0; k < l->key_count; k++) {
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", ex_rig_example_name(rig, 0, k));
        exi_emit_number(&json, "frame", l->frames[k] + 1);
        exi_emit_number(&json, "error", l->mean_error[k] >= 0 ? l->mean_error[k] : NAN);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_number(&json, "frames", l->frame_count);
    exi_emit_text(&json, "residual", ex_residual_name(l->residual));
    exi_emit_number(&json, "error", l->error);
    exi_emit_number(&json, "nearest", l->nearest);
    exi_emit_number(&json, "bytes", exi_file_size(output));
    exi_emit_number(&json, "seconds", round(seconds * 1e6) / 1e6);
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static void print_motion_json(const ex_learned *l, const ex_rig *rig, const char *output, double seconds) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "rig", output);
    exi_emit_text(&json, "method", ex_learn_method_name(EX_LEARN_MOTION));
    exi_emit_number(&json, "vertices", ex_rig_vertex_count(rig));
    exi_emit_number(&json, "forms", l->form_count);
    exi_emit_number(&json, "landmarks", l->landmark_count);
    exi_emit_number(&json, "frames", l->frame_count);
    exi_emit_number(&json, "learned", l->learned_count);
    exi_emit_number(&json, "error", l->error);
    exi_emit_number(&json, "form_error", l->form_error);
    exi_emit_number(&json, "left_out", l->left_out);
    exi_emit_number(&json, "width", l->width);
    exi_emit_number(&json, "ridge", l->ridge);
    exi_emit_number(&json, "motion", l->motion);
    exi_emit_number(&json, "sizes", l->sizes);
    exi_emit_numbers(&json, "up", l->up, 3);
    exi_emit_number(&json, "bytes", exi_file_size(output));
    exi_emit_number(&json, "seconds", round(seconds * 1e6) / 1e6);
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static void print_motion_text(const ex_learned *l, const ex_rig *rig, const char *output, double seconds) {
    char count[EXI_TEXT_SIZE], vertices[EXI_TEXT_SIZE], frames[EXI_TEXT_SIZE], size[EXI_TEXT_SIZE], time[EXI_TEXT_SIZE];
    char error[EXI_TEXT_SIZE], held[EXI_TEXT_SIZE], left[EXI_TEXT_SIZE], marks[EXI_TEXT_SIZE];
    exi_print("%s: %s of %s, learned from %s, %s, %s, %s\n", output, exi_text_count(count, l->form_count, "form"),
              exi_text_count(vertices, ex_rig_vertex_count(rig), "vertex"),
              exi_text_count(held, l->learned_count, "frame"), exi_text_count(frames, l->frame_count, "moving frame"),
              exi_text_bytes(size, exi_file_size(output)), exi_text_seconds(time, seconds));
    if (l->width > 0)
        exi_print("regression around %s, width %g, ridge %g; ", exi_text_count(marks, l->landmark_count, "known state"),
                  l->width, l->ridge);
    else
        exi_print("linear regression, ridge %g; ", l->ridge);
    exi_print("motion counts %g, the size of parts %g; %c is up\n", l->motion, l->sizes,
              l->up[0] > 0.5   ? 'x'
              : l->up[2] > 0.5 ? 'z'
                               : 'y');
    exi_print("mean error over the references %s\n", exi_text_length(error, l->error));
    exi_print("root mean square on takes left out %s, of which the forms cannot hold %s\n",
              exi_text_length(left, l->left_out), exi_text_length(held, l->form_error));
}

static void print_text(const ex_learned *l, const ex_rig *rig, const char *output, double seconds) {
    char count[EXI_TEXT_SIZE], vertices[EXI_TEXT_SIZE], frames[EXI_TEXT_SIZE], size[EXI_TEXT_SIZE], time[EXI_TEXT_SIZE];
    char error[EXI_TEXT_SIZE], nearest[EXI_TEXT_SIZE];
    bool measured = false;
    exi_print("%s: %s of %s, %s, residual %s, %s, %s\n", output, exi_text_count(count, l->key_count, "key"),
              exi_text_count(vertices, ex_rig_vertex_count(rig), "vertex"),
              exi_text_count(frames, l->frame_count, "moving frame"), ex_residual_name(l->residual),
              exi_text_bytes(size, exi_file_size(output)), exi_text_seconds(time, seconds));
    for (int k = 0; k < l->key_count; k++)
        measured |= l->mean_error[k] >= 0;
    exi_print("keys at frames");
    for (int k = 0; k < l->key_count; k++)
        exi_print(" %d", l->frames[k] + 1);
    exi_print("\n");
    if (measured) {
        exi_print("mean error after each");
        for (int k = 0; k < l->key_count; k++)
            exi_print("%s %s", k ? "," : "", exi_text_length(error, l->mean_error[k]));
        exi_print("\n");
    }
    exi_print("mean error over the references %s; of the nearest key alone %s\n", exi_text_length(error, l->error),
              exi_text_length(nearest, l->nearest));
}

void exi_drive_learned_print(const ex_call *call, const ex_learned *learned, const ex_rig *rig, const char *output,
                             double seconds) {
    const bool motion = learned->form_count > 0;
    if (call->json)
        (motion ? print_motion_json : print_json)(learned, rig, output, seconds);
    else if (!call->quiet)
        (motion ? print_motion_text : print_text)(learned, rig, output, seconds);
}
