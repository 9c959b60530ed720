/* figures/figures_forms.c - figures of Shape by Example that show forms: sheets of the blob and the arm, skinning and
 * un-posing, faces. */
#include "figures.h"

#include <stdio.h>
#include <string.h>

/* ---- Shape by Example, figures 4, 5 and 9: slices of a space ---- */

typedef struct slice {
    const char *axes[2], *title;
    int counts[2];
    double beyond[2][2], yaw, pitch;
} slice;

static ex_result make_sheet(exi_figures *f, const ex_rig *rig, const slice *s, const char *path, ex_sheet_info *info) {
    ex_sheet_def def = ex_sheet_def_default();
    ex_image *image = NULL;
    if (!rig)
        return f->error->result;
    def.rig = rig;
    def.axis_count = 2;
    for (int i = 0; i < 2; i++) {
        def.axes[i] = ex_rig_input_find(rig, s->axes[i]);
        def.counts[i] = s->counts[i];
    }
    memcpy(def.beyond, s->beyond, sizeof def.beyond);
    def.cell = f->cell;
    def.yaw = s->yaw;
    def.pitch = s->pitch;
    def.unmarked = true;
    def.title = s->title;
    def.tasks = f->tasks;
    ex_result result = ex_sheet_image(&def, &image, info, f->error);
    if (result == EX_OK)
        result = ex_image_write(path, image, f->error);
    ex_image_destroy(image);
    return result;
}

static const slice blob_slice = {.axes = {"bend", "thickness"}, .counts = {5, 5}, .title = ""};

static void blob_facts(exi_figures *f, const ex_rig *rig, const ex_sheet_info *info) {
    const ex_rig_mesh mesh = ex_rig_get_mesh(rig), fine = ex_rig_level_mesh(rig, 1);
    exi_figures_fact(f, "examples", "5", "%d", info->example_count);
    exi_figures_fact(f, "pseudo-examples", info->pseudo_count > 0 ? "2" : "0", "%d", info->pseudo_count);
    exi_figures_fact(f, "vertices and faces of an example", "642, 1280", "%d, %d", mesh.vertex_count, mesh.face_count);
    exi_figures_fact(f, "after one step of Loop subdivision", "2562, 5120", "%d, %d", fine.vertex_count,
                     fine.face_count);
}

ex_result exi_figure_blob_plain(exi_figures *f, const char *path) {
    ex_sheet_info info;
    const ex_rig *rig = exi_figures_rig_without(f, "blob");
    const ex_result result = make_sheet(f, rig, &blob_slice, path, &info);
    if (result == EX_OK)
        blob_facts(f, rig, &info);
    return result;
}

ex_result exi_figure_blob(exi_figures *f, const char *path) {
    ex_sheet_info info;
    const ex_rig *rig = exi_figures_rig(f, "blob");
    const ex_result result = make_sheet(f, rig, &blob_slice, path, &info);
    if (result == EX_OK)
        blob_facts(f, rig, &info);
    return result;
}

ex_result exi_figure_arm(exi_figures *f, const char *path) {
    static const slice arm_slice = {.axes = {"elbow", "gender"},
                                    .counts = {5, 3},
                                    .beyond = {{0, 0.1}, {0, 0.5}},
                                    .yaw = 10,
                                    .pitch = 8,
                                    .title = ""};
    ex_sheet_info info;
    const ex_rig *rig = exi_figures_rig(f, "arm");
    const ex_result result = make_sheet(f, rig, &arm_slice, path, &info);
    if (result != EX_OK)
        return result;
    const ex_rig_mesh mesh = ex_rig_get_mesh(rig);
    exi_figures_fact(f, "examples, and those in this slice", "8, 4", "%d, %d", ex_rig_example_count(rig),
                     info.example_count);
    exi_figures_fact(f, "pseudo-examples, and those in this slice", "6, 1", "%d, %d",
                     ex_weigher_pseudo_count(ex_rig_weigher(rig, 0)), info.pseudo_count);
    exi_figures_fact(f, "vertices and triangles of an example", "1335, 2608", "%d, %d", mesh.vertex_count,
                     mesh.triangle_count);
    return EX_OK;
}

/* ---- figures 6, 7 and 8: the arm, and the effect of its skeleton ---- */

static ex_result arm_shots(exi_figures *f, exi_shot *shots, exi_shots how, const char *path) {
    const ex_rig *rig = exi_figures_rig(f, "arm");
    if (!rig)
        return f->error->result;
    for (int i = 0; i < how.count; i++)
        shots[i].rig = rig;
    how.shots = shots;
    how.yaw = 12;
    how.pitch = 12;
    return exi_figures_shots(f, &how, path);
}

ex_result exi_figure_shrinking(exi_figures *f, const char *path) {
    exi_shot shots[] = {
        {.pose = "elbow=0", .muted = true, .tone = 1, .title = "straight", .note = "the example"},
        {.pose = "elbow=70", .muted = true, .tone = 2, .title = "70\xC2\xB0", .note = "matrices blended"},
        {.pose = "elbow=110", .muted = true, .tone = 2, .title = "110\xC2\xB0", .note = "the elbow shrinks"},
        {.pose = "elbow=140", .muted = true, .tone = 2, .title = "140\xC2\xB0", .note = "and collapses"},
    };
    static const float elbow[6] = {0.13f, -0.07f, 0, 0.45f, 0.2f, 0};
    return arm_shots(f, shots, (exi_shots){.count = 4, .columns = 4, .size = 1.5, .close_up = elbow}, path);
}

ex_result exi_figure_unposed(exi_figures *f, const char *path) {
    exi_shot shots[] = {
        {.pose = "gender=1", .tone = 1, .title = "straight, as sculpted", .note = "elbow 0\xC2\xB0"},
        {.pose = "gender=1 elbow=110", .tone = 1, .title = "bent, as sculpted", .note = "elbow 110\xC2\xB0"},
        {.pose = "gender=1", .unskinned = true, .title = "straight, un-posed", .note = "unchanged"},
        {.pose = "gender=1 elbow=110", .unskinned = true, .title = "bent, un-posed", .note = "swollen at the elbow"},
    };
    return arm_shots(f, shots, (exi_shots){.count = 4, .columns = 2, .size = 2}, path);
}

ex_result exi_figure_stages(exi_figures *f, const char *path) {
    exi_shot shots[] = {
        {.pose = "elbow=125", .muted = true, .tone = 2, .title = "one example, skinned", .note = "naive, 125\xC2\xB0"},
        {.pose = "elbow=125", .title = "all examples, skinned", .note = "interpolated, 125\xC2\xB0"},
        {.pose = "", .tone = 1, .title = "one example", .note = "straight"},
        {.pose = "elbow=125", .unskinned = true, .title = "blend of all, un-posed", .note = "before skinning"},
    };
    const ex_result result = arm_shots(f, shots, (exi_shots){.count = 4, .columns = 2, .size = 2}, path);
    if (result == EX_OK)
        exi_figures_fact(f, "examples in the blend", "6", "%d", ex_rig_example_count(shots[0].rig));
    return result;
}

/* ---- figure 10: faces ---- */

ex_result exi_figure_faces(exi_figures *f, const char *path) {
    static const char *const axes[3] = {"age", "gender", "build"};
    static const struct {
        const char *pose, *title;
    } mixed[4] = {
        {"age=0.2 gender=0.25 build=0.3 skin.age=0.2 skin.gender=0.25 skin.build=0.3", "form A, skin A"},
        {"age=0.2 gender=0.25 build=0.3 skin.age=0.85 skin.gender=0.9 skin.build=0.8", "form A, skin B"},
        {"age=0.85 gender=0.9 build=0.8 skin.age=0.2 skin.gender=0.25 skin.build=0.3", "form B, skin A"},
        {"age=0.85 gender=0.9 build=0.8 skin.age=0.85 skin.gender=0.9 skin.build=0.8", "form B, skin B"},
    };
    enum { HEADS = 8 };
    exi_shot shots[HEADS + 4];
    char poses[HEADS][160], notes[HEADS][64];
    const ex_rig *rig = exi_figures_rig(f, "face");
    if (!rig)
        return f->error->result;
    const ex_weigher *heads = ex_rig_weigher(rig, 0);
    const int count = ex_weigher_example_count(heads) < HEADS ? ex_weigher_example_count(heads) : HEADS;
    for (int k = 0; k < count; k++) {
        const double *p = ex_weigher_point(heads, k);
        int length = 0;
        for (int a = 0; a < 3; a++)
            length += snprintf(poses[k] + length, sizeof poses[k] - (size_t)length, "%s=%g skin.%s=%g ", axes[a], p[a],
                               axes[a], p[a]);
        snprintf(notes[k], sizeof notes[k], "%g, %g, %g", p[0], p[1], p[2]);
        shots[k] = (exi_shot){
            .rig = rig, .pose = poses[k], .textures = true, .title = ex_rig_example_name(rig, 0, k), .note = notes[k]};
    }
    for (int i = 0; i < 4; i++)
        shots[count + i] = (exi_shot){.rig = rig, .pose = mixed[i].pose, .textures = true, .title = mixed[i].title};
    exi_figures_fact(f, "examples", "8", "%d", count);
    exi_figures_fact(f, "axes, of form and of skin", "3, 3", "3, 3");
    return exi_figures_shots(
        f, &(exi_shots){.shots = shots, .count = count + 4, .columns = 4, .yaw = 22, .pitch = 6, .size = 1.1}, path);
}
