/*
 * figures/figures_scans.c - figures of Articulated Body Deformation from Range Scan Data, all with the demo `body`:
 * poses (1), a scan and its markers (2), skeleton and template (3), the skeleton's degrees of freedom (table 2), holes
 * filled (5), parts and their masks (6), between two poses (7), and another build (8).
 */
#include "cli/scan/scan.h"
#include "figures_body.h"

#include "cli/base/files.h"

#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- 1 ---- */

ex_result exi_figure_poses(exi_figures *f, const char *path) {
    static const char *const poses[] = {
        "shoulder.L=z-22 shoulder.R=z22 elbow.L=15 elbow.R=15",
        "shoulder.L=z52y-25 shoulder.R=z12y20 elbow.L=95 elbow.R=60 waist=y8 abdomen=y14",
        "shoulder.L=z30y-55 shoulder.R=z-25y50 elbow.L=70 elbow.R=80 waist=x8 abdomen=x5",
        "shoulder.L=z55y-15 shoulder.R=z-55y15 elbow.L=105 elbow.R=105 forearm.L=90 forearm.R=90 abdomen=x-6",
        "shoulder.L=z-15y25 shoulder.R=z20y-30 elbow.L=40 elbow.R=110 waist=y-10 abdomen=y-16",
        "shoulder.L=z35y-45 shoulder.R=z-35y45 elbow.L=125 elbow.R=125 forearm.L=60 forearm.R=60",
        "shoulder.L=z10y-40 elbow.L=60 shoulder.R=z-40 elbow.R=35 waist=x18 abdomen=x8",
        "shoulder.L=z50y-30 elbow.L=110 shoulder.R=z20 elbow.R=20 waist=z-8 abdomen=z-6",
    };
    enum { POSES = sizeof poses / sizeof *poses };
    exi_shot shots[POSES];
    const ex_rig *rig = exi_figures_rig(f, "body");
    if (!rig)
        return f->error->result;
    for (int i = 0; i < POSES; i++)
        shots[i] = (exi_shot){.rig = rig, .pose = poses[i]};
    return exi_figures_shots(
        f, &(exi_shots){.shots = shots, .count = POSES, .columns = 4, .yaw = 12, .pitch = 8, .size = 2}, path);
}

/* ---- 2 ---- */

/* Crops empty lines at the top and the bottom: those that are all background. */
static ex_image *crop(const ex_image *image) {
    const size_t width = 4 * (size_t)image->width;
    int first = image->height, last = 0;
    for (int y = 0; y < image->height; y++) {
        const unsigned char *line = image->pixels + (size_t)y * width;
        size_t same = 4;
        while (same < width && abs(line[same] - line[same % 4]) < 12)
            same++;
        if (same == width)
            continue;
        first = y < first ? y : first;
        last = y;
    }
    const int top = first > 24 ? first - 24 : 0, end = last + 24 < image->height ? last + 24 : image->height;
    ex_image *part = top < end ? ex_image_create(image->width, end - top) : NULL;
    if (part)
        memcpy(part->pixels, image->pixels + (size_t)top * width, (size_t)(end - top) * width);
    return part;
}

/* Draws the picture into a file named after the scan. */
static ex_result draw_scan(exi_scanned *s, const char *name, const char *path) {
    ex_error *error = s->figures->error;
    const int scan = ex_scan_session_find(s->session, name);
    ex_found_marker *markers = NULL;
    ex_labelled *labels = NULL;
    ex_image *image = NULL, *part = NULL;
    int count = 0, label_count = 0, sure = 0;
    char *found = ex_scan_path(s->session, "found", name, ".csv"),
         *named = ex_scan_path(s->session, "labels", name, ".csv"),
         *drawn = exi_path_inside(s->session->folder, name, ".png");
    ex_result result = scan >= 0 && found && named && drawn
                           ? ex_scan_found_read(s->session, found, &markers, &count, error)
                           : ex_error_memory(error, "a path", 0);
    if (result == EX_OK)
        result = ex_scan_labels_read(s->session, named, &labels, &label_count, error);
    if (result == EX_OK)
        result = exi_scan_draw_found(s->session, scan, markers, count, s->session->folder, s->figures->tasks, error);
    if (result == EX_OK)
        result = ex_image_read(drawn, &image, error);
    if (result == EX_OK && !(part = crop(image)))
        result = ex_error_memory(error, "an image", 0);
    if (result == EX_OK)
        result = ex_image_write(path, part, error);
    for (int i = 0; i < label_count; i++)
        sure += labels[i].confidence >= EX_LABEL_SURE;
    if (result == EX_OK) {
        exi_figures_fact(s->figures, "markers painted", "90", "%d", s->session->kinematics->site_count);
        exi_figures_fact(s->figures, "found on this scan, and named for sure", "", "%d, %d", count, sure);
    }
    ex_image_destroy(image);
    ex_image_destroy(part);
    ex_labels_free(labels, label_count);
    free(markers);
    free(found);
    free(named);
    free(drawn);
    return result;
}

ex_result exi_figure_scan(exi_figures *f, const char *path) {
    exi_scanned s;
    ex_result result = exi_scanned_open(f, &s);
    if (result == EX_OK)
        result = draw_scan(&s, "arm_20", path);
    exi_scanned_close(&s);
    return result;
}

/* ---- 3 and table 2 ---- */

ex_result exi_figure_template(exi_figures *f, const char *path) {
    exi_scanned s;
    ex_result result = exi_scanned_open(f, &s);
    float *positions = result == EX_OK ? array_allocate((size_t)s.vertex_count, 3 * sizeof *positions) : NULL;
    if (result == EX_OK && !positions)
        result = ex_error_memory(f->error, "a surface", 0);
    if (result == EX_OK)
        result = exi_scanned_add_mesh(&s, exi_scanned_skeleton(&s), "the skeleton that was fitted",
                                      "balls turn freely, cones about an axis");
    if (result == EX_OK)
        result = exi_scanned_add_mesh(&s, exi_scanned_control(&s, s.templates[0].cage), "control points",
                                      "rings in the frames of bones and joints");
    for (int i = 0; i < 2 && result == EX_OK; i++) {
        result = exi_scanned_surface(&s, s.rigs[i], &(ex_pose){0}, false, positions, NULL);
        if (result == EX_OK)
            result =
                exi_scanned_add_mesh(&s, exi_scanned_checkerboard(&s, s.templates[i].cage, s.level, positions),
                                     i ? "refitted to a scan of each part" : "their smooth surface", "a patch a face");
    }
    if (result == EX_OK)
        result = exi_scanned_draw(&s, 2, 2, 15, 8, NULL, path);
    if (result == EX_OK)
        exi_figures_fact(f, "control points", "126", "%d", s.templates[0].cage->vertex_count);
    free(positions);
    exi_scanned_close(&s);
    return result;
}

ex_result exi_figure_freedoms(exi_figures *f, const char *path) {
    exi_scanned s;
    const ex_result result = exi_scanned_open(f, &s);
    const ex_kinematics *k = result == EX_OK ? s.fitted->kinematics : NULL;
    (void)path;
    for (int j = 0; k && j < k->joint_count; j++) {
        const ex_kin_joint *joint = &k->joints[j];
        const double *t = joint->translation, length = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
        if (joint->mirror < 0 && joint->parent >= 0)
            exi_figures_fact(f, joint->name, joint->freedom == EX_FREEDOM_HINGE ? "one axis" : "quaternion",
                             "%s, a bone of %.1f mm", ex_freedom_name(joint->freedom), 1000 * length);
    }
    if (k)
        exi_figures_fact(f, "markers, three each", "90", "%d", k->site_count);
    exi_scanned_close(&s);
    return result;
}

/* ---- 6 ---- */

/* The parts, and the mirror images of the first two. */
enum { PARTS = 3, MASKS = 5 };

static const char *const part_maps[MASKS] = {"arm_02", "shoulder_14", "torso_14", "arm_02.mirrored",
                                             "shoulder_14.mirrored"};
static const unsigned part_colours[PARTS] = {0xC8452F, 0x4C9A3F, 0x3B6FB6};

typedef struct blend {
    exi_scanned *s;
    ex_displacement_map *maps[MASKS]; /* a scan of each */
    unsigned char *covered[MASKS];
    float *masks[MASKS];
    float *rest, *normals, *positions;
    ex_colour *colours;
} blend;

static void blend_close(blend *b) {
    for (int i = 0; i < MASKS; i++) {
        ex_displacement_map_destroy(b->maps[i]);
        free(b->covered[i]);
        free(b->masks[i]);
    }
    free(b->rest);
    free(b->normals);
    free(b->positions);
    free(b->colours);
}

static ex_result read_part(blend *b, int i) {
    ex_error *error = b->s->figures->error;
    const int count = b->s->vertex_count;
    char *path = ex_scan_path(b->s->session, i < PARTS ? "maps" : "changes", part_maps[i], ".ply");
    b->covered[i] = array_allocate((size_t)count, 1);
    b->masks[i] = array_allocate((size_t)count, sizeof **b->masks);
    ex_result result = path && b->covered[i] && b->masks[i] ? ex_displacement_map_read(path, &b->maps[i], error)
                                                            : ex_error_memory(error, "a mask", 0);
    if (result == EX_OK && b->maps[i]->vertex_count != count)
        result = ex_error_set(error, EX_ERROR_DATA, "%s is not of the body", path);
    for (int v = 0; v < count && result == EX_OK; v++)
        b->covered[i][v] = b->maps[i]->states[v] != EX_DISPLACEMENT_MAP_OUTSIDE;
    free(path);
    return result;
}

static ex_result blend_open(blend *b) {
    const size_t count = (size_t)b->s->vertex_count;
    ex_error *error = b->s->figures->error;
    ex_result result = EX_OK;
    b->rest = array_allocate(count, 3 * sizeof *b->rest);
    b->normals = array_allocate(count, 3 * sizeof *b->normals);
    b->positions = array_allocate(count, 3 * sizeof *b->positions);
    b->colours = array_allocate(count, sizeof *b->colours);
    if (!b->rest || !b->normals || !b->positions || !b->colours)
        result = ex_error_memory(error, "a surface", 0);
    for (int i = 0; i < MASKS && result == EX_OK; i++)
        result = read_part(b, i);
    if (result == EX_OK)
        result = ex_displacement_map_masks(b->s->rigs[1], b->s->level, (const unsigned char *const *)b->covered, MASKS,
                                           b->masks, error);
    if (result == EX_OK)
        result = exi_scanned_surface(b->s, b->s->rigs[1], &(ex_pose){0}, false, b->rest, b->normals);
    return result;
}

/* Colours vertices by the masks of some parts; light grey as far as they belong to none. */
static void colour(blend *b, int first, int count) {
    for (int v = 0; v < b->s->vertex_count; v++) {
        double lab[3] = {0, 0, 0}, own[3], left = 1;
        for (int i = first; i <= first + count; i++) {
            const bool none = i == first + count;
            const double mask = none ? left : (double)b->masks[i][v];
            ex_colour_to_oklab(
                none ? ex_colour_grey(225) : ex_colour_paled(ex_colour_hex(part_colours[i % PARTS]), 0.3), own);
            for (int c = 0; c < 3; c++)
                lab[c] += mask * own[c];
            left -= mask;
        }
        b->colours[v] = ex_colour_from_oklab(lab);
    }
}

/* Adds a scan of each part in the reference pose, and the body. */
static ex_result add_parts(blend *b) {
    exi_scanned *s = b->s;
    ex_result result = EX_OK;
    for (int p = 0; p < PARTS && result == EX_OK; p++) {
        memcpy(b->positions, b->rest, (size_t)s->vertex_count * 3 * sizeof *b->positions);
        exi_scanned_displace(s, b->maps[p]->displacements, b->normals, b->positions);
        colour(b, p, 1);
        result = exi_scanned_add(s, b->positions, b->colours, b->covered[p], s->session->parts[p].name, part_maps[p]);
    }
    if (result == EX_OK)
        result = exi_scanned_surface(s, s->rig, &(ex_pose){0}, false, b->positions, NULL);
    colour(b, 0, MASKS);
    if (result == EX_OK)
        result = exi_scanned_add(s, b->positions, b->colours, NULL, "blended, arm and shoulder mirrored",
                                 "colours: how much of each");
    return result;
}

ex_result exi_figure_parts(exi_figures *f, const char *path) {
    exi_scanned s;
    blend b = {.s = &s};
    ex_result result = exi_scanned_open(f, &s);
    if (result == EX_OK)
        result = blend_open(&b);
    if (result == EX_OK)
        result = add_parts(&b);
    if (result == EX_OK)
        result = exi_scanned_draw(&s, 2, 2, 10, 8, NULL, path);
    blend_close(&b);
    exi_scanned_close(&s);
    return result;
}

/* ---- 7 ---- */

/* Computes the displacement of the surface in a pose, along its normals. */
static ex_result find_displacements(const exi_scanned *s, const ex_pose *pose, float *plain, float *normals,
                                    float *whole, float *d) {
    ex_result result = exi_scanned_surface(s, s->rig, pose, true, plain, normals);
    if (result == EX_OK)
        result = exi_scanned_surface(s, s->rig, pose, false, whole, NULL);
    for (int v = 0; v < s->vertex_count && result == EX_OK; v++) {
        d[v] = 0;
        for (int c = 0; c < 3; c++)
            d[v] += (whole[3 * v + c] - plain[3 * v + c]) * normals[3 * v + c];
    }
    return result;
}

/* Adds a row: from the first pose to the last, and the first pose's displacements on the last pose's template. */
static ex_result add_row(exi_scanned *s, const char *const *poses, const char *const *titles, int count,
                         float *const forms[4]) {
    float *plain = forms[0], *normals = forms[1], *whole = forms[2], *d = forms[3];
    ex_result result = EX_OK;
    for (int i = 0; i <= count && result == EX_OK; i++) {
        ex_pose pose;
        result = exi_scanned_pose(s, poses[i < count ? i : count - 1], &pose);
        if (result == EX_OK && i == 0)
            result = find_displacements(s, &pose, plain, normals, whole, d);
        else if (result == EX_OK && i < count)
            result = exi_scanned_surface(s, s->rig, &pose, false, whole, NULL);
        else if (result == EX_OK) {
            result = exi_scanned_surface(s, s->rig, &pose, true, whole, normals);
            exi_scanned_displace(s, d, normals, whole);
        }
        if (result == EX_OK)
            result =
                exi_scanned_add(s, whole, NULL, NULL, i < count ? titles[i] : "the first one's displacements", NULL);
        if (result == EX_OK && i == count)
            s->shots[s->shot_count - 1].tone = 2;
        free(pose.inputs);
    }
    return result;
}

ex_result exi_figure_interpolated(exi_figures *f, const char *path) {
    enum { STEPS = 4 };
    static const char *const elbow[STEPS] = {"shoulder.L=z20y-15 elbow.L=0", "shoulder.L=z20y-15 elbow.L=40",
                                             "shoulder.L=z20y-15 elbow.L=80", "shoulder.L=z20y-15 elbow.L=120"};
    static const char *const shoulder[STEPS] = {"shoulder.L=z-20 clavicle.L=z-4", "shoulder.L=z10y-10 clavicle.L=z2",
                                                "shoulder.L=z35y-20 clavicle.L=z8",
                                                "shoulder.L=z55y-30 clavicle.L=z14"};
    static const char *const elbow_titles[STEPS] = {"elbow 0\xC2\xB0", "40\xC2\xB0", "80\xC2\xB0", "120\xC2\xB0"};
    static const char *const shoulder_titles[STEPS] = {"arm lowered", "half-way", "level", "raised"};
    static const float close_up[6] = {0.0f, 1.08f, -0.1f, 0.6f, 1.66f, 0.3f};
    exi_scanned s;
    ex_result result = exi_scanned_open(f, &s);
    float *forms[4] = {NULL};
    for (int i = 0; i < 4; i++)
        forms[i] = array_allocate((size_t)s.vertex_count, 3 * sizeof **forms);
    if (result == EX_OK && (!forms[0] || !forms[1] || !forms[2] || !forms[3]))
        result = ex_error_memory(f->error, "a surface", 0);
    if (result == EX_OK)
        result = add_row(&s, elbow, elbow_titles, STEPS, forms);
    if (result == EX_OK)
        result = add_row(&s, shoulder, shoulder_titles, STEPS, forms);
    if (result == EX_OK)
        result = exi_scanned_draw(&s, STEPS + 1, 1.1, 10, 8, close_up, path);
    for (int i = 0; i < 4; i++)
        free(forms[i]);
    exi_scanned_close(&s);
    return result;
}

/* ---- 8 ---- */

ex_result exi_figure_builds(exi_figures *f, const char *path) {
    const ex_rig *rig = exi_figures_rig(f, "body");
    const exi_shot shots[] = {
        {.rig = rig, .pose = "elbow.L=60", .title = "as scanned"},
        {.rig = rig, .pose = "elbow.L=60 wrist.length=-0.06", .title = "forearms 6 cm shorter"},
        {.rig = rig, .pose = "elbow.L=60 girth=-0.2", .title = "20 % thinner"},
        {.rig = rig, .pose = "elbow.L=60 girth=0.44", .title = "44 % thicker"},
    };
    if (!rig)
        return f->error->result;
    return exi_figures_shots(
        f, &(exi_shots){.shots = shots, .count = 4, .columns = 4, .yaw = 10, .pitch = 8, .size = 1.5}, path);
}
