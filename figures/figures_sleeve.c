/* figures/figures_sleeve.c - learns rigs from the demo `sleeve` for DrivenShape's figures, and makes shots of arm and
 * sleeve. */
#include "figures_sleeve.h"

#include "cli/base/files.h"

#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static ex_result open_files(exi_sleeve *s, const char *folder) {
    ex_error *error = s->figures->error;
    char *mesh = exi_path_inside(folder, "driver", ".obj");
    s->driver_train = exi_path_inside(folder, "driver_train", ".pc2");
    s->driven_train = exi_path_inside(folder, "driven_train", ".pc2");
    s->driver_unseen = exi_path_inside(folder, "driver_unseen", ".pc2");
    s->driven_unseen = exi_path_inside(folder, "driven_unseen", ".pc2");
    ex_result result = mesh && s->driver_train && s->driven_train && s->driver_unseen && s->driven_unseen
                           ? ex_mesh_read(mesh, &s->driver, error)
                           : ex_error_memory(error, "a path", 0);
    if (result == EX_OK)
        result = ex_cache_open(s->driver_unseen, &s->drivers, error);
    if (result == EX_OK)
        result = ex_cache_open(s->driven_unseen, &s->drivens, error);
    free(mesh);
    return result;
}

ex_result exi_sleeve_open(exi_figures *f, exi_sleeve *s) {
    *s = (exi_sleeve){.figures = f, .rig = exi_figures_rig(f, "sleeve")};
    if (!s->rig)
        return f->error->result;
    const ex_drive_options options = ex_drive_options_default();
    char *folder = exi_path_inside(f->folder, "demos/sleeve", "");
    ex_result result = folder ? open_files(s, folder) : ex_error_memory(f->error, "a path", 0);
    free(folder);
    if (result == EX_OK)
        result = ex_drive_whole(s->driver, &options, &s->whole, f->error);
    if (result == EX_OK) {
        s->driver_form = array_allocate((size_t)s->driver->vertex_count, 3 * sizeof(float));
        s->blended = array_allocate((size_t)s->driver->vertex_count, 3 * sizeof(float));
        s->driven_form = array_allocate((size_t)ex_rig_vertex_count(s->rig), 3 * sizeof(float));
        s->unsettled = array_allocate((size_t)ex_rig_vertex_count(s->rig), 3 * sizeof(float));
        if (!s->driver_form || !s->blended || !s->driven_form || !s->unsettled)
            result = ex_error_memory(f->error, "forms", 0);
    }
    return result;
}

void exi_sleeve_close(exi_sleeve *s) {
    for (int i = 0; i < s->shot_count; i++)
        for (int k = 0; k < 2; k++)
            free(s->forms[i][k]);
    ex_driver_destroy(s->whole);
    ex_cache_close(s->drivers);
    ex_cache_close(s->drivens);
    ex_mesh_destroy(s->driver);
    char *paths[] = {s->driver_train, s->driven_train, s->driver_unseen, s->driven_unseen};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        free(paths[i]);
    free(s->driver_form);
    free(s->driven_form);
    free(s->blended);
    free(s->unsettled);
}

/* ---- rigs ---- */

const ex_rig *exi_sleeve_learn(exi_sleeve *s, int key_count, bool paper, bool still) {
    exi_figures *f = s->figures;
    exi_figure_rig *slot = exi_figures_slot(f, "sleeve", (char)(key_count + (paper ? 32 : 0) + (still ? 64 : 0)));
    if (slot->rig)
        return slot->rig;
    const ex_drive_reference reference = {.driver = s->driver_train, .driven = s->driven_train};
    ex_rig_driver driver;
    ex_mesh *driven = NULL;
    ex_rig *rig = NULL;
    ex_learned *learned = NULL;
    ex_learn_def def = {.driver = s->driver,
                        .reference_count = 1,
                        .references = &reference,
                        .key_count = key_count,
                        .options = ex_drive_options_default(),
                        .tasks = f->tasks};
    ex_rig_get_driver(s->rig, &driver, NULL);
    def.options.thickness = (double)driver.thickness;
    def.options.frame = still ? EX_WHOLE_FRAME_NONE : EX_WHOLE_FRAME_FIT;
    if (paper) {
        def.options.frames = 1;
        def.options.residual = EX_RESIDUAL_CLOSEST;
    }
    ex_result result = ex_rig_to_mesh(s->rig, NULL, &driven, f->error);
    def.driven = driven;
    if (result == EX_OK)
        result = ex_drive_learn(&def, &rig, &learned, f->error);
    ex_learned_free(learned);
    ex_mesh_destroy(driven);
    if (result != EX_OK)
        return NULL;
    slot->name = "sleeve";
    slot->kind = (char)(key_count + (paper ? 32 : 0) + (still ? 64 : 0));
    return slot->rig = rig;
}

ex_result exi_sleeve_report(exi_sleeve *s, const ex_rig *rig, ex_drive_report **report) {
    const ex_apply_def def = {
        .rig = rig, .driver = s->driver_unseen, .truth = s->driven_unseen, .database = NAN, .tasks = s->figures->tasks};
    return ex_drive_apply(&def, report, s->figures->error);
}

/* ---- shots ---- */

/* out = T^-1 form, T rigid: the form as if the driver had not moved. */
static void move_back(const float t[12], const float *form, int count, float *out) {
    for (int v = 0; v < count; v++, form += 3, out += 3) {
        const float d[3] = {form[0] - t[3], form[1] - t[7], form[2] - t[11]};
        for (int c = 0; c < 3; c++)
            out[c] = t[c] * d[0] + t[4 + c] * d[1] + t[8 + c] * d[2];
    }
}

/* Adds both forms, moved to the reference's place by the motion of `where`, a form of the driver. */
static ex_result add(exi_sleeve *s, const float *driver, const float *driven, const float *where, const char *title,
                     const char *note) {
    const int counts[2] = {ex_rig_vertex_count(s->rig), s->driver->vertex_count};
    const float *const sources[2] = {driven, driver};
    float matrix[12], **forms = s->forms[s->shot_count];
    if (s->shot_count == EXI_SLEEVE_SHOTS)
        return ex_error_set(s->figures->error, EX_ERROR_LIMIT, "a figure has more than %d shots", EXI_SLEEVE_SHOTS);
    ex_driver_place(s->whole, where, matrix);
    for (int k = 0; k < 2; k++) {
        forms[k] = array_allocate((size_t)counts[k], 3 * sizeof(float));
        if (!forms[k]) {
            free(forms[0]);
            return ex_error_memory(s->figures->error, "a form", (size_t)counts[k] * 12);
        }
        move_back(matrix, sources[k], counts[k], forms[k]);
    }
    s->shots[s->shot_count++] = (exi_shot){
        .rig = s->rig, .form = forms[0], .under = s->driver, .under_form = forms[1], .title = title, .note = note};
    return EX_OK;
}

ex_result exi_sleeve_add_truth(exi_sleeve *s, int frame, const char *title, const char *note) {
    ex_result result = ex_cache_read(s->drivers, frame, s->driver_form, s->figures->error);
    if (result == EX_OK)
        result = ex_cache_read(s->drivens, frame, s->driven_form, s->figures->error);
    return result == EX_OK ? add(s, s->driver_form, s->driven_form, s->driver_form, title, note) : result;
}

ex_result exi_sleeve_add(exi_sleeve *s, const ex_rig *rig, const float *driver, exi_sleeve_stage stage,
                         const char *title, const char *note, double *hull) {
    const ex_evaluation how = {.unsettled = stage == SLEEVE_UNSETTLED};
    const bool blended = stage == SLEEVE_BLENDED;
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1) + 1);
    ex_driven driven = {.blended = blended ? s->blended : NULL, .unsettled = blended ? s->unsettled : NULL};
    if (!scratch)
        return ex_error_memory(s->figures->error, "a form", 0);
    ex_rig_evaluate(rig, &(ex_pose){.driver = driver}, &(ex_output){.positions = s->driven_form, .driven = &driven},
                    &how, scratch);
    free(scratch);
    if (hull)
        *hull = driven.hull_distance;
    return add(s, blended ? s->blended : driver, blended ? s->unsettled : s->driven_form, driver, title, note);
}

ex_result exi_sleeve_add_frame(exi_sleeve *s, const ex_rig *rig, int frame, exi_sleeve_stage stage, const char *title,
                               const char *note) {
    const ex_result result = ex_cache_read(s->drivers, frame, s->driver_form, s->figures->error);
    return result == EX_OK ? exi_sleeve_add(s, rig, s->driver_form, stage, title, note, NULL) : result;
}

ex_result exi_sleeve_add_key(exi_sleeve *s, const ex_rig *rig, int key, const char *title) {
    return exi_sleeve_add(s, rig, ex_rig_example_driver(rig, 0, key), SLEEVE_SETTLED, title, NULL, NULL);
}
