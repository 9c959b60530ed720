/*
 * figures/figures_pose.c - figures of Pose Space Deformation that show forms: the defects of skinning alone at an elbow
 * and a forearm (2 and 3), emotions over two axes (6), and sculpts in pose space next to skinning alone (8 and 9).
 */
#include "figures.h"

static ex_result demo_shots(exi_figures *f, const char *demo, exi_shot *shots, exi_shots how, const char *path) {
    const ex_rig *rig = exi_figures_rig(f, demo);
    if (!rig)
        return f->error->result;
    for (int i = 0; i < how.count; i++)
        shots[i].rig = rig;
    how.shots = shots;
    return exi_figures_shots(f, &how, path);
}

/* Box around the elbow at every bend. */
static const float elbow[6] = {0.13f, -0.09f, 0, 0.42f, 0.19f, 0};

ex_result exi_figure_collapse(exi_figures *f, const char *path) {
    exi_shot shots[] = {
        {.pose = "elbow=0", .muted = true, .tone = 1, .title = "straight", .note = "the mesh"},
        {.pose = "elbow=70", .muted = true, .tone = 2, .title = "70\xC2\xB0", .note = "matrices blended"},
        {.pose = "elbow=110", .muted = true, .tone = 2, .title = "110\xC2\xB0", .note = "the elbow shrinks"},
        {.pose = "elbow=140", .muted = true, .tone = 2, .title = "140\xC2\xB0", .note = "and collapses"},
    };
    return demo_shots(f, "elbow", shots,
                      (exi_shots){.count = 4, .columns = 4, .yaw = 12, .pitch = 12, .size = 1.4, .close_up = elbow},
                      path);
}

ex_result exi_figure_twist(exi_figures *f, const char *path) {
    exi_shot shots[] = {
        {.pose = "twist=0", .muted = true, .tone = 1, .title = "straight", .note = "the mesh"},
        {.pose = "twist=90", .muted = true, .tone = 2, .title = "90\xC2\xB0", .note = "skinning alone"},
        {.pose = "twist=180", .muted = true, .tone = 2, .title = "180\xC2\xB0", .note = "skinning alone"},
        {.pose = "twist=60", .tone = 1, .title = "60\xC2\xB0", .note = "a sculpt"},
        {.pose = "twist=90", .title = "90\xC2\xB0", .note = "between two sculpts"},
        {.pose = "twist=180", .tone = 1, .title = "180\xC2\xB0", .note = "a sculpt"},
    };
    static const float forearm[6] = {0.26f, -0.075f, 0, 0.73f, 0.075f, 0};
    const ex_result result = demo_shots(
        f, "twist", shots,
        (exi_shots){.count = 6, .columns = 3, .yaw = 8, .pitch = 25, .size = 1.7, .close_up = forearm}, path);
    if (result == EX_OK)
        exi_figures_fact(f, "sculpts, added after skinning", "", "%d", ex_rig_example_count(shots[0].rig));
    return result;
}

ex_result exi_figure_emotions(exi_figures *f, const char *path) {
    ex_sheet_def def = ex_sheet_def_default();
    ex_sheet_info info;
    ex_image *image = NULL;
    const ex_rig *rig = exi_figures_rig(f, "emotion");
    if (!rig)
        return f->error->result;
    def.rig = rig;
    def.axis_count = 2;
    def.axes[0] = ex_rig_input_find(rig, "happiness");
    def.axes[1] = ex_rig_input_find(rig, "arousal");
    def.beyond[0][0] = def.beyond[0][1] = def.beyond[1][0] = def.beyond[1][1] = 0;
    def.cell = f->cell * 7 / 10 > EX_SHEET_CELL_MIN ? f->cell * 7 / 10 : EX_SHEET_CELL_MIN;
    def.pitch = 2;
    def.textures = true;
    def.unmarked = true;
    def.title = "";
    def.tasks = f->tasks;
    ex_result result = ex_sheet_image(&def, &image, &info, f->error);
    if (result == EX_OK)
        result = ex_image_write(path, image, f->error);
    if (result == EX_OK)
        exi_figures_fact(f, "expressions that were sculpted, and neutral", "", "%d, 1", info.example_count);
    ex_image_destroy(image);
    return result;
}

ex_result exi_figure_shoulder(exi_figures *f, const char *path) {
    exi_shot shots[] = {
        {.pose = "shoulder=z-75", .muted = true, .tone = 2, .title = "skinning alone", .note = "down"},
        {.pose = "shoulder=z-75", .tone = 1, .title = "pose space", .note = "down, a sculpt"},
        {.pose = "shoulder=z50", .muted = true, .tone = 2, .title = "skinning alone", .note = "up"},
        {.pose = "shoulder=z50", .title = "pose space", .note = "up, near a sculpt"},
        {.pose = "shoulder=y-40z-40", .muted = true, .tone = 2, .title = "skinning alone", .note = "between"},
        {.pose = "shoulder=y-40z-40", .title = "pose space", .note = "between sculpts"},
    };
    const ex_result result = demo_shots(
        f, "shoulder", shots, (exi_shots){.count = 6, .columns = 2, .yaw = 20, .pitch = 8, .size = 1.6}, path);
    if (result == EX_OK)
        exi_figures_fact(f, "sculpts, over one axis that is a rotation", "", "%d", ex_rig_example_count(shots[0].rig));
    return result;
}

ex_result exi_figure_elbow(exi_figures *f, const char *path) {
    exi_shot shots[] = {
        {.pose = "elbow=80", .muted = true, .tone = 2, .title = "skinning alone", .note = "80\xC2\xB0"},
        {.pose = "elbow=120", .muted = true, .tone = 2, .title = "skinning alone", .note = "120\xC2\xB0"},
        {.pose = "elbow=140", .muted = true, .tone = 2, .title = "skinning alone", .note = "140\xC2\xB0"},
        {.pose = "elbow=80", .title = "pose space", .note = "80\xC2\xB0, between sculpts"},
        {.pose = "elbow=120", .title = "pose space", .note = "120\xC2\xB0, between sculpts"},
        {.pose = "elbow=140", .tone = 1, .title = "pose space", .note = "140\xC2\xB0, a sculpt"},
        {.pose = "elbow=80 load=1", .title = "with a heavy load", .note = "80\xC2\xB0"},
        {.pose = "elbow=120 load=1", .title = "with a heavy load", .note = "120\xC2\xB0"},
        {.pose = "elbow=140 load=1", .tone = 1, .title = "with a heavy load", .note = "140\xC2\xB0, a sculpt"},
    };
    const ex_result result =
        demo_shots(f, "elbow", shots,
                   (exi_shots){.count = 9, .columns = 3, .yaw = 12, .pitch = 12, .size = 1.4, .close_up = elbow}, path);
    if (result == EX_OK)
        exi_figures_fact(f, "sculpts, of the bend and of the load", "", "3, 3");
    return result;
}
