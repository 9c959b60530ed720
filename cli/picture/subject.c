/* cli/picture/subject.c - reads forms and rigs as items of a picture, and computes the numbers shown on them. */
#define _POSIX_C_SOURCE 200809L

#include "subject.h"

#include "cli/base/files.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"
#include "focus.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static bool no_memory(void) {
    exi_failed_memory();
    return false;
}

/* state: of an earlier frame, or NULL. */
static bool evaluate_after(const ex_rig *rig, const ex_pose *pose, int level, const bool *muted, void *state,
                           const exi_form *form, const ex_tasks *tasks) {
    void *const states[1] = {state};
    ex_evaluation how = {.level = level, .tasks = tasks, .muted = muted, .states = state ? states : NULL};
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1) + 1);
    if (scratch) {
        ex_output where = exi_form_output(form);
        ex_rig_evaluate(rig, pose, &where, &how, scratch);
    }
    free(scratch);
    return scratch || no_memory();
}

static bool evaluate(const ex_rig *rig, const ex_pose *pose, int level, const bool *muted, const exi_form *form,
                     const ex_tasks *tasks) {
    return evaluate_after(rig, pose, level, muted, NULL, form, tasks);
}

/* Reads the pose of the call; without one, that of the example. */
static bool read_pose(exi_subject *subject, const ex_call *call, const char *example) {
    int layer, k;
    if (!exi_assignments_read(call, subject->rig, &subject->pose)) {
        subject->pose.inputs = NULL; /* released already */
        return false;
    }
    if (!example || call->argument_count > 1)
        return true;
    if (!exi_focus_example(subject->rig, example, &layer, &k))
        return false;
    exi_focus_pose(subject->rig, layer, k, &subject->pose);
    return true;
}

/* Says which images of materials cannot be drawn. */
static void say_notes(const ex_call *call, const ex_looks *looks) {
    for (int i = 0; looks && !call->quiet && i < looks->note_count; i++)
        exi_print_to(stderr, "exemplar: %s\n", looks->notes[i]);
}

/* Reads the rig's materials; its own textures replace their images. */
static bool open_looks(exi_subject *subject, const ex_call *call) {
    const ex_rig *rig = subject->rig;
    ex_error error = {.result = EX_OK};
    if (ex_looks_from_rig(rig, &subject->looks, &error) != EX_OK) {
        exi_failed(&error);
        return false;
    }
    say_notes(call, subject->looks);
    subject->of_looks = calloc((size_t)ex_rig_texture_count(rig) + 1, sizeof *subject->of_looks);
    if (!subject->of_looks)
        return no_memory();
    for (int i = 0; i < ex_rig_texture_count(rig); i++) {
        const ex_texture t = ex_rig_texture(rig, i);
        subject->of_looks[i] = (ex_image){.width = t.width, .height = t.height, .pixels = subject->form.textures[i]};
        ex_looks_paint(subject->looks, t.name, &subject->of_looks[i]);
    }
    return true;
}

/* Makes the mesh of the evaluated form, in place of an earlier one. */
static bool make_mesh(exi_subject *subject) {
    ex_error error = {.result = EX_OK};
    const ex_surface surface = {
        .level = subject->level, .positions = subject->form.positions, .normals = subject->form.normals};
    ex_mesh_destroy(subject->mesh);
    subject->mesh = NULL;
    if (ex_rig_to_sharp_mesh(subject->rig, &surface, &subject->mesh, &error) == EX_OK)
        return true;
    exi_failed(&error);
    return false;
}

static bool open_rig(exi_subject *subject, const ex_call *call, const char *path, const exi_subject_words *words,
                     const ex_tasks *tasks, int *exit_code) {
    const ex_rig *rig = subject->rig;
    if (!exi_level_read(call, rig, words->level, &subject->level, exit_code))
        return false;
    if (path == call->arguments[0] && !read_pose(subject, call, words->example))
        return false;
    exi_form_wish wish = {.level = subject->level,
                          .normals = ex_rig_get_mesh(rig).face_count > 0,
                          .textures = ex_rig_texture_count(rig) > 0};
    if (!exi_form_open(&subject->form, rig, &wish))
        return no_memory();
    subject->muted = exi_muted_read(rig, words->mute);
    if (!subject->muted || !evaluate(rig, subject->pose.inputs ? &subject->pose : NULL, subject->level, subject->muted,
                                     &subject->form, tasks))
        return false;
    for (int i = 0; i < ex_rig_texture_count(rig); i++) {
        ex_texture t = ex_rig_texture(rig, i);
        if (strcmp(t.name, "base_color") == 0)
            subject->of_rig = (ex_image){.width = t.width, .height = t.height, .pixels = subject->form.textures[i]};
    }
    return make_mesh(subject) && open_looks(subject, call);
}

bool exi_subject_try(exi_subject *subject, const ex_pose *pose, const ex_tasks *tasks) {
    const exi_form positions = {.positions = subject->form.positions};
    return evaluate(subject->rig, pose, subject->level, subject->muted, &positions, tasks);
}

bool exi_subject_pose(exi_subject *subject, const ex_pose *pose, const float shift[3], const ex_tasks *tasks) {
    return exi_subject_follow(subject, pose, shift, NULL, tasks);
}

bool exi_subject_follow(exi_subject *subject, const ex_pose *pose, const float shift[3], void *state,
                        const ex_tasks *tasks) {
    if (!evaluate_after(subject->rig, pose, subject->level, subject->muted, state, &subject->form, tasks))
        return false;
    for (size_t i = 0; i < 3 * (size_t)subject->mesh->vertex_count; i++)
        subject->form.positions[i] += shift[i % 3];
    return make_mesh(subject);
}

/* Reads a form of a glTF file with its materials. */
static bool open_scene(exi_subject *subject, const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_scene *scene = NULL;
    ex_result result = ex_scene_read(path, &scene, &error);
    if (result == EX_OK)
        result = ex_error_within(&error, ex_scene_to_standing(scene, &subject->mesh, &error), "%s", path);
    if (result == EX_OK && scene->material_count > 0)
        result = ex_error_within(&error, ex_looks_from_scene(scene, &subject->looks, &error), "%s", path);
    ex_scene_destroy(scene);
    say_notes(call, subject->looks);
    if (result != EX_OK)
        exi_failed(&error);
    return result == EX_OK;
}

bool exi_subject_open(exi_subject *subject, const ex_call *call, const char *path, const exi_subject_words *words,
                      const ex_tasks *tasks, int *exit_code) {
    *subject = (exi_subject){.rig = NULL};
    *exit_code = EX_EXIT_FAILED;
    exi_file_kind kind = exi_file_kind_of(path);
    if (kind == EXI_FILE_PROJECT || kind == EXI_FILE_IMAGE || kind == EXI_FILE_CLIP ||
        (kind == EXI_FILE_CACHE && ex_cache_kind_of(path) != EX_CACHE_ABC) || kind == EXI_FILE_C3D ||
        kind == EXI_FILE_TRC)
        return exi_expect_kind(path, EXI_FILE_RIG);
    if (kind == EXI_FILE_UNKNOWN && !exi_expect_kind(path, EXI_FILE_RIG)) /* a folder, or a rig that is not built yet */
        return false;
    if (kind == EXI_FILE_RIG) {
        subject->rig = exi_rig_load(path, NULL);
        return subject->rig && open_rig(subject, call, path, words, tasks, exit_code);
    }
    if (path == call->arguments[0] && kind != EXI_FILE_UNKNOWN &&
        (call->argument_count > 1 || words->level || words->mute)) {
        exi_failed_text("'%s' is a form, not a rig: %s goes with rigs", path,
                        call->argument_count > 1 ? "axis=value"
                        : words->level           ? "--level"
                                                 : "--mute");
        return false;
    }
    if (ex_path_ends_with(path, ".glb") || ex_path_ends_with(path, ".gltf"))
        return open_scene(subject, call, path);
    ex_error error = {.result = EX_OK};
    if (ex_mesh_read(path, &subject->mesh, &error) == EX_OK)
        return true;
    exi_failed(&error);
    return false;
}

void exi_subject_close(exi_subject *subject) {
    if (subject->rig)
        exi_form_close(&subject->form, subject->rig);
    free(subject->pose.inputs);
    free(subject->muted);
    free(subject->values);
    ex_image_destroy(subject->image);
    ex_looks_destroy(subject->looks);
    free(subject->of_looks);
    ex_mesh_destroy(subject->mesh);
    ex_rig_destroy(subject->rig);
    *subject = (exi_subject){.rig = NULL};
}

/* ---- numbers ---- */

/* Chooses a readable unit of length. */
static void choose_unit(exi_subject *subject) {
    float most = 0;
    for (int v = 0; v < subject->mesh->vertex_count; v++)
        most = subject->values[v] > most ? subject->values[v] : most;
    subject->unit = most < 0.5f ? "mm" : "m";
    for (int v = 0; most < 0.5f && v < subject->mesh->vertex_count; v++)
        subject->values[v] *= 1000;
}

static bool show_difference(exi_subject *subject, const exi_subject *other, const ex_tasks *tasks, ex_error *error) {
    bool by_vertex;
    if (ex_form_distances(subject->mesh, other->mesh, subject->values, &by_vertex, tasks, error) != EX_OK)
        return false;
    snprintf(subject->label, sizeof subject->label, "%s",
             by_vertex ? "distance between the forms" : "distance from the other surface");
    return true;
}

/* Distance from the rig at rest. */
static bool show_displacement(exi_subject *subject, const ex_tasks *tasks) {
    exi_form rest;
    bool good = exi_form_open(&rest, subject->rig, &(exi_form_wish){.level = subject->level}) || no_memory();
    good = good && evaluate(subject->rig, NULL, subject->level, NULL, &rest, tasks);
    for (size_t v = 0; good && v < (size_t)subject->mesh->vertex_count; v++) {
        const float *a = subject->form.positions + 3 * v, *b = rest.positions + 3 * v;
        subject->values[v] =
            sqrtf((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
    }
    exi_form_close(&rest, subject->rig);
    snprintf(subject->label, sizeof subject->label, "displacement from rest");
    return good;
}

static bool show_example(exi_subject *subject, const char *words, ex_error *error) {
    int layer, example;
    if (!exi_focus_example(subject->rig, words, &layer, &example))
        return false;
    snprintf(subject->label, sizeof subject->label, "what %.80s moves", words);
    return ex_rig_example_amounts(subject->rig, layer, example, subject->level, subject->values, error) == EX_OK;
}

static bool show_skin(exi_subject *subject, const char *name, ex_error *error) {
    const ex_skeleton *skeleton = ex_rig_skeleton(subject->rig);
    int joint = skeleton ? ex_skeleton_find(skeleton, name) : -1;
    if (joint < 0 || !ex_rig_skin(subject->rig)) {
        exi_failed_text(skeleton ? "the rig has no joint '%s' with a skin"
                                 : "the rig has no skeleton, so it has no joint '%s'",
                        name);
        return false;
    }
    snprintf(subject->label, sizeof subject->label, "skin weight of %.80s", name);
    subject->whole_weight = true;
    return ex_rig_joint_weights(subject->rig, joint, subject->level, subject->values, error) == EX_OK;
}

bool exi_subject_show(exi_subject *subject, const ex_call *call, const char *what, const exi_subject *other,
                      const ex_tasks *tasks) {
    ex_error error = {.result = EX_OK};
    bool difference = strcmp(what, "difference") == 0, good;
    if (!difference && !subject->rig) {
        exi_failed_text("'%s' is a form, not a rig: only --show difference --with OTHER goes with forms",
                        call->arguments[0]);
        return false;
    }
    subject->values = calloc((size_t)subject->mesh->vertex_count + 1, sizeof *subject->values);
    if (!subject->values)
        return no_memory();
    if (difference)
        good = show_difference(subject, other, tasks, &error);
    else if (strcmp(what, "displacement") == 0)
        good = show_displacement(subject, tasks);
    else if (strncmp(what, "example:", 8) == 0)
        good = show_example(subject, what + 8, &error);
    else
        good = show_skin(subject, what + 5, &error);
    if (!good && error.result != EX_OK)
        exi_failed(&error);
    /* Rigs are in metres; a form's file does not state its unit. */
    if (good && subject->rig && !subject->whole_weight)
        choose_unit(subject);
    return good;
}

ex_render_item exi_subject_item(const exi_subject *subject, bool textured) {
    ex_render_item item = ex_render_item_default();
    item.mesh = subject->mesh;
    item.vertex_colours = true;
    if (textured && !subject->image)
        item.looks = subject->looks;
    if (textured && subject->image)
        item.texture = subject->image;
    else if (textured && subject->of_rig.pixels)
        item.texture = &subject->of_rig;
    if (subject->values) {
        item.scalar = (ex_render_scalar){.values = subject->values,
                                         .max = subject->whole_weight ? 1 : 0,
                                         .label = subject->label,
                                         .unit = subject->unit};
    }
    return item;
}
