/*
 * A rig that follows the motion of its driver: one layer of forms, `mean` and the principal forms of the driven mesh,
 * weighed by a predictor. The note of driven rigs keeps the options.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/drive/motion/drive_motion.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_SIZE = 32 };

typedef struct building {
    const char **names; /* [forms + 1] */
    char (*texts)[NAME_SIZE];
    const float **deltas;
    exi_text note;
} building;

static ex_result create(exi_motion_learner *l, building *b, ex_rig **rig) {
    const ex_learn_def *def = l->def;
    const int count = l->form_count + 1;
    const char *driver_name = def->driver_name ? def->driver_name : "body";
    const ex_axis axis = ex_axis_driver(count);
    ex_attachment notes[EXI_RIG_MESH_NOTES + 1];
    ex_layer_def layer = {.name = "driven", .domain = EX_DOMAIN_FORM, .trajectory.reference = -1};
    layer.weigh = ex_weigher_def_default();
    layer.weigh.kind = EX_WEIGHER_MOTION;
    layer.weigh.axes = &axis;
    layer.weigh.axis_count = 1;
    layer.weigh.example_count = count;
    layer.axis_names = &driver_name;
    layer.example_names = b->names;
    layer.form.deltas = b->deltas;
    layer.driven.predictor = l->predictor;
    l->plan.driver.name = driver_name;
    ex_rig_def r = ex_rig_def_default();
    for (int i = 0; i < l->rig_mesh.note_count; i++)
        notes[r.note_count++] = l->rig_mesh.notes[i];
    notes[r.note_count++] = (ex_attachment){.kind = EXI_DRIVE_NOTE, .data = b->note.bytes, .size = b->note.size};
    r.notes = notes;
    r.mesh = l->rig_mesh.mesh;
    r.layers = &layer;
    r.layer_count = 1;
    r.driver = &l->plan.driver;
    return ex_rig_create(&r, NULL, rig, l->error);
}

/* Rounds differences to those that are left if the mesh is added in double and taken off again: an unpacked rig then
 * builds to the same bytes. It changes numbers below 1e-8 of a vertex's distance from the origin. */
static void round_differences(const exi_motion_learner *l, float *differences) {
    for (size_t i = 0; i < 3 * (size_t)l->refs.driven_count; i++) {
        const double base = (double)l->rig_mesh.positions[i], form = base + (double)differences[i];
        differences[i] = (float)(form - base);
    }
}

ex_result exi_motion_build(exi_motion_learner *l, ex_rig **rig) {
    const size_t count = (size_t)l->form_count + 1, numbers = 3 * (size_t)l->refs.driven_count;
    building b = {.names = exi_array_allocate(count, sizeof *b.names),
                  .texts = exi_array_allocate(count, sizeof *b.texts),
                  .deltas = exi_array_allocate(count, sizeof *b.deltas)};
    ex_result result =
        b.names && b.texts && b.deltas ? EX_OK : ex_error_memory(l->error, "names", count * sizeof *b.texts);
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        snprintf(b.texts[i], NAME_SIZE, i == 0 ? "mean" : "form_%02zu", i);
        b.names[i] = b.texts[i];
        float *differences = i == 0 ? l->mean : l->forms + (i - 1) * numbers;
        round_differences(l, differences);
        b.deltas[i] = differences;
    }
    if (result == EX_OK)
        result = exi_drive_note_write(&l->options, l->def->driver, &b.note, l->error);
    if (result == EX_OK)
        result = create(l, &b, rig);
    free(b.names);
    free(b.texts);
    free(b.deltas);
    free(b.note.bytes);
    return result;
}
