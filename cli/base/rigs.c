/* cli/base/rigs.c - functions shared by the commands that work on a rig. */
#include "rigs.h"

#include "emit.h"
#include "files.h"
#include "report.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ex_rig *exi_rig_load(const char *path, const ex_rig_options *options) {
    if (!exi_expect_kind(path, EXI_FILE_RIG))
        return NULL;
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    if (ex_rig_read(path, options, &rig, &error) != EX_OK) {
        exi_failed(&error);
        return NULL;
    }
    return rig;
}

/* ---- layers ---- */

int exi_rig_find_layer(const ex_rig *rig, const char *name, size_t size) {
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        if (strlen(ex_rig_layer_name(rig, l)) == size && memcmp(ex_rig_layer_name(rig, l), name, size) == 0)
            return l;
    return -1;
}

void exi_rig_no_layer(const ex_rig *rig, const char *name, size_t size) {
    const int count = ex_rig_layer_count(rig);
    const char **names = malloc(((size_t)count + 1) * sizeof *names);
    char *word = malloc(size + 1);
    if (!names || !word) {
        exi_failed_memory();
    } else {
        memcpy(word, name, size);
        word[size] = 0;
        for (int l = 0; l < count; l++)
            names[l] = ex_rig_layer_name(rig, l);
        const char *near = ex_suggest(word, names, count);
        if (near)
            exi_failed_text("the rig has no layer '%s': did you mean '%s'?", word, near);
        else
            exi_failed_text("the rig has no layer '%s': 'exemplar info' lists them", word);
    }
    free(names);
    free(word);
}

/* ---- poses from words ---- */

/* True if an earlier argument gives a value to the same axis. */
static bool assigned_before(const ex_call *call, int index) {
    size_t length = strcspn(call->arguments[index], "=") + 1;
    for (int i = 1; i < index; i++)
        if (strncmp(call->arguments[i], call->arguments[index], length) == 0)
            return true;
    return false;
}

bool *exi_muted_read(const ex_rig *rig, const char *names) {
    bool *muted = malloc((size_t)ex_rig_layer_count(rig) + 1);
    if (!muted)
        exi_failed_memory();
    for (int l = 0; muted && l < ex_rig_layer_count(rig); l++)
        muted[l] = ex_rig_layer_muted(rig, l);
    for (const char *at = names; muted && at && *at;) {
        size_t size = strlen(at); /* a name may contain a comma */
        int layer = exi_rig_find_layer(rig, at, size);
        if (layer < 0) {
            size = strcspn(at, ",");
            layer = exi_rig_find_layer(rig, at, size);
        }
        if (layer < 0) {
            exi_rig_no_layer(rig, at, size);
            free(muted);
            return NULL;
        }
        muted[layer] = true;
        at += size + (at[size] == ',');
    }
    return muted;
}

bool exi_assignments_check(const ex_call *call) {
    for (int i = 1; i < call->argument_count; i++) {
        const char *equals = strchr(call->arguments[i], '=');
        if (!equals || equals == call->arguments[i] || equals[1] == '\0') {
            const int left = call->argument_count - i - 1;
            char advice[300];
            if (exi_word_advice(advice, sizeof advice, call->arguments[i], left > 0 ? call->arguments[i + 1] : NULL,
                                left > 1 ? call->arguments[i + 2] : NULL))
                exi_wrong_usage(call->command, "'%s' is not of the form axis=value: %s", call->arguments[i], advice);
            else
                exi_wrong_usage(call->command, "'%s' is not of the form axis=value%s", call->arguments[i],
                                exi_command_has(call->command, "axes") ? "; --axes takes names with commas between them"
                                                                       : "");
            return false;
        }
        if (assigned_before(call, i)) {
            exi_wrong_usage(call->command, "the axis '%.*s' is given twice", (int)(equals - call->arguments[i]),
                            call->arguments[i]);
            return false;
        }
    }
    return true;
}

/* Says which axes have left their range. A joint that was turned may move several axes. */
static void note_ranges(const ex_rig *rig, const ex_pose *pose) {
    for (int i = 0; i < ex_rig_input_count(rig); i++) {
        const ex_axis axis = ex_rig_input_axis(rig, i);
        double value[4] = {0};
        if (axis.kind != EX_AXIS_SCALAR)
            continue;
        ex_rig_get_input(rig, i, pose, value);
        const double slack = 1e-5 * (axis.max - axis.min);
        if (value[0] < axis.min - slack || value[0] > axis.max + slack)
            exi_failed_text("%s=%g is outside its range, %g to %g: %s", ex_rig_input_name(rig, i), value[0], axis.min,
                            axis.max, axis.clamp ? "the axis is clamped to it" : "no example is that far out");
    }
}

bool exi_assignments_read(const ex_call *call, const ex_rig *rig, ex_pose *pose) {
    *pose = ex_pose_create(rig);
    if (!pose->inputs) {
        exi_failed_text("not enough memory for a pose");
        return false;
    }
    for (int i = 1; i < call->argument_count; i++) {
        ex_error error = {.result = EX_OK};
        if (exi_pose_word(rig, call->arguments[i], pose, &error) != EX_OK) {
            exi_failed(&error);
            free(pose->inputs);
            return false;
        }
    }
    if (call->argument_count > 1 && !call->quiet)
        note_ranges(rig, pose);
    return true;
}

static void print_line_json(FILE *file, const char *path, const ex_rig *rig, double seconds,
                            const exi_damped_list *damped) {
    exi_emitter json = exi_emit_start(file);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "rig", path);
    exi_emit_number(&json, "vertices", ex_rig_vertex_count(rig));
    exi_emit_number(&json, "layers", ex_rig_layer_count(rig));
    exi_emit_number(&json, "examples", ex_rig_example_count(rig));
    exi_emit_number(&json, "bytes", exi_file_size(path));
    exi_emit_number(&json, "seconds", round(seconds * 1e6) / 1e6);
    if (damped)
        exi_damped_print_json(damped, rig, &json);
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

void exi_rig_print_line(FILE *file, bool json, const char *path, const ex_rig *rig, double seconds,
                        const exi_damped_list *damped) {
    if (json) {
        print_line_json(file, path, rig, seconds, damped);
        return;
    }
    char vertices[EXI_TEXT_SIZE], layers[EXI_TEXT_SIZE], examples[EXI_TEXT_SIZE], size[EXI_TEXT_SIZE],
        time[EXI_TEXT_SIZE];
    exi_print_to(file, "%s: %s, %s, %s, %s, %s\n", path, exi_text_count(vertices, ex_rig_vertex_count(rig), "vertex"),
                 exi_text_count(layers, ex_rig_layer_count(rig), "layer"),
                 exi_text_count(examples, ex_rig_example_count(rig), "example"),
                 exi_text_bytes(size, exi_file_size(path)), exi_text_seconds(time, seconds));
}
