/*
 * figures/figures_maps.c - figures about the displacement maps of Articulated Body Deformation from Range Scan Data:
 * rays from the template in a slice through an armpit (4), and a map whose holes are filled (5).
 */
#include "figures_body.h"

#include "common/array.h"

#include <exemplar/author/canvas.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- maps ---- */

/* Working data between a scan and its map. */
typedef struct holes {
    exi_scanned *s;
    int which; /* template: before refitting, or after */
    double reach;
    float *positions, *normals; /* of the template in the scan's pose */
    float *displaced;
    ex_colour *colours;
    unsigned char *covered, *kept;
    ex_displacement_map *map;
} holes;

static bool holes_open(holes *h) {
    const size_t count = (size_t)h->s->vertex_count;
    h->positions = array_allocate(count, 3 * sizeof *h->positions);
    h->normals = array_allocate(count, 3 * sizeof *h->normals);
    h->displaced = array_allocate(count, 3 * sizeof *h->displaced);
    h->colours = array_allocate(count, sizeof *h->colours);
    h->covered = array_allocate(count, 1);
    h->kept = array_allocate(count, 1);
    return h->positions && h->normals && h->displaced && h->colours && h->covered && h->kept;
}

static void holes_close(holes *h) {
    ex_displacement_map_destroy(h->map);
    free(h->positions);
    free(h->normals);
    free(h->displaced);
    free(h->colours);
    free(h->covered);
    free(h->kept);
}

/* Computes the scan's map before anything is filled, and the template in its pose. */
static ex_result cast(holes *h, const char *name, ex_mesh **meshes) {
    exi_scanned *s = h->s;
    ex_error *error = s->figures->error;
    const int scan = ex_scan_session_find(s->session, name);
    const ex_scan_part *part = &s->session->parts[s->session->scans[scan].parts[0]];
    int pose = 0;
    while (pose < s->fitted->scan_count - 1 && strcmp(s->fitted->names[pose], name) != 0)
        pose++;
    ex_transform *joints = array_allocate((size_t)ex_rig_joint_count(s->rigs[h->which]), sizeof *joints);
    ex_result result = joints ? EX_OK : ex_error_memory(error, "a pose", 0);
    if (result == EX_OK)
        result = ex_displacement_map_covered(s->rigs[h->which], s->level, (const char *const *)part->covers,
                                             part->cover_count, h->covered, error);
    if (result == EX_OK) {
        ex_template_pose(s->fitted->kinematics, &s->fitted->poses[pose], joints);
        result =
            exi_scanned_surface(s, s->rigs[h->which], &(ex_pose){.joints = joints}, false, h->positions, h->normals);
    }
    if (result == EX_OK) {
        const ex_displacement_map_def def = {.rig = s->rigs[h->which],
                                             .level = s->level,
                                             .joints = joints,
                                             .meshes = meshes,
                                             .mesh_count = s->session->scans[scan].file_count,
                                             .covered = h->covered,
                                             .reach = h->reach,
                                             .noise = s->session->noise,
                                             .tasks = s->figures->tasks};
        result = ex_displacement_map_cast(&def, &h->map, error);
    }
    free(joints);
    return result;
}

static ex_result read_scan(const exi_scanned *s, const char *name, ex_mesh ***meshes, int *count) {
    const int scan = ex_scan_session_find(s->session, name);
    *meshes = NULL;
    *count = scan < 0 ? 0 : s->session->scans[scan].file_count;
    if (scan < 0)
        return ex_error_set(s->figures->error, EX_ERROR_DATA, "the session has no scan '%s'", name);
    return ex_scan_meshes(s->session, scan, meshes, s->figures->error);
}

static void free_scan(ex_mesh **meshes, int count) {
    for (int i = 0; meshes && i < count; i++)
        ex_mesh_destroy(meshes[i]);
    free(meshes);
}

/* ---- 4 ---- */

#define PANEL 230.0 /* points, width and height */
#define LINE  16.0  /* height of a line of text */

/* A part of the plane z = depth, and its place in the drawing. */
typedef struct window {
    ex_canvas *canvas;
    double depth, x, y, size; /* metres: depth, lower left corner and size */
    double left;              /* points */
} window;

static void to_points(const window *w, const double p[3], double at[2]) {
    at[0] = w->left + (p[0] - w->x) / w->size * PANEL;
    at[1] = PANEL - (p[1] - w->y) / w->size * PANEL;
}

/* Draws the intersection of the plane with the faces. */
static void draw_cut(const window *w, const ex_mesh *mesh, const float *positions, const ex_pen *pen) {
    for (int face = 0; face < mesh->face_count; face++) {
        double ends[2][2];
        int count = 0;
        const int first = mesh->face_offsets[face], sides = mesh->face_offsets[face + 1] - first;
        for (int i = 0; i < sides && count < 2; i++) {
            double p[2][3], cut[3];
            for (int k = 0; k < 2; k++) {
                const size_t v = 3 * (size_t)mesh->corners[first + (i + k) % sides];
                for (size_t c = 0; c < 3; c++)
                    p[k][c] = positions ? (double)positions[v + c] : mesh->positions[v + c];
            }
            if ((p[0][2] < w->depth) == (p[1][2] < w->depth))
                continue;
            const double t = (w->depth - p[0][2]) / (p[1][2] - p[0][2]);
            for (int c = 0; c < 3; c++)
                cut[c] = p[0][c] + t * (p[1][c] - p[0][c]);
            to_points(w, cut, ends[count++]);
        }
        if (count == 2)
            ex_draw_line(w->canvas, ends[0][0], ends[0][1], ends[1][0], ends[1][1], pen);
    }
}

/* Draws rays of vertices near the plane, to the hit, or (length above 0) with that length whatever they hit. */
static int draw_rays(const window *w, const holes *h, double length) {
    const ex_pen pen = {ex_colour_hex(0xC8362A), 0.8, 0, 0};
    int count = 0;
    for (int v = 0; v < h->s->vertex_count; v++) {
        double p[3], q[3], a[2], b[2];
        if (fabs((double)h->positions[3 * v + 2] - w->depth) > 0.0018 || fabs((double)h->normals[3 * v + 2]) > 0.5 ||
            (length <= 0 && h->map->states[v] != EX_DISPLACEMENT_MAP_HIT))
            continue;
        for (int c = 0; c < 3; c++) {
            p[c] = (double)h->positions[3 * v + c];
            q[c] = p[c] + (length > 0 ? length : (double)h->map->displacements[v]) * (double)h->normals[3 * v + c];
        }
        if (p[0] < w->x || p[0] > w->x + w->size || p[1] < w->y || p[1] > w->y + w->size)
            continue;
        to_points(w, p, a);
        to_points(w, q, b);
        ex_draw_arrow(w->canvas, a[0], a[1], b[0], b[1], 3, &pen);
        count++;
    }
    return count;
}

/* Draws a slice through an armpit: the cut surfaces, and rays. */
static ex_result draw_slice(ex_canvas *canvas, holes *h, ex_mesh *const *meshes, int mesh_count, int panel,
                            double length, const char *title) {
    const double left = panel * (PANEL + LINE) + LINE / 2;
    const window w = {.canvas = canvas, .depth = -0.03, .x = 0.1, .y = 1.16, .size = 0.24, .left = left};
    const ex_box box = {left, 0, left + PANEL, PANEL};
    ex_mesh *template = NULL;
    const ex_surface surface = {.level = h->s->level, .positions = h->positions};
    const ex_result result = ex_rig_to_mesh(h->s->rigs[h->which], &surface, &template, h->s->figures->error);
    if (result != EX_OK)
        return result;
    ex_canvas_clip(canvas, &box);
    for (int i = 0; i < mesh_count; i++)
        draw_cut(&w, meshes[i], NULL, &(ex_pen){ex_colour_grey(170), 2.6, 0, 0});
    draw_rays(&w, h, length);
    draw_cut(&w, template, h->positions, &(ex_pen){ex_colour_hex(0x2F62A8), 1.4, 0, 0});
    ex_canvas_clip(canvas, NULL);
    ex_draw_frame(canvas, box, &(ex_pen){ex_colour_grey(214), 0.9, 0, 0});
    ex_draw_text(canvas, left + PANEL / 2, PANEL + LINE,
                 &(ex_lettering){
                     .size = 11, .colour = ex_colour_grey(38), .across = EX_ACROSS_MIDDLE, .along = EX_ALONG_BASELINE},
                 title);
    ex_mesh_destroy(template);
    return EX_OK;
}

ex_result exi_figure_rays(exi_figures *f, const char *path) {
    static const char scan[] = "shoulder_14";
    exi_scanned s;
    ex_mesh **meshes = NULL;
    int mesh_count = 0;
    ex_canvas *canvas = NULL;
    ex_result result = exi_scanned_open(f, &s);
    if (result == EX_OK)
        result = read_scan(&s, scan, &meshes, &mesh_count);
    if (result == EX_OK)
        result = ex_canvas_create_image(3 * (PANEL + LINE), PANEL + 1.6 * LINE, f->cell / 120.0, ex_colour_grey(255),
                                        &canvas, f->error);
    for (int which = 0; which < 2 && result == EX_OK; which++) {
        holes h = {.s = &s, .which = which, .reach = s.session->reach / (1 + which)};
        result = holes_open(&h) ? cast(&h, scan, meshes) : ex_error_memory(f->error, "a surface", 0);
        if (result == EX_OK)
            result = draw_slice(canvas, &h, meshes, mesh_count, 2 * which, 0,
                                which ? "after refitting" : "rays from the template to a scan");
        if (result == EX_OK && which == 0)
            result = draw_slice(canvas, &h, meshes, mesh_count, 1, s.session->reach, "farther out they cross");
        holes_close(&h);
    }
    if (result == EX_OK)
        result = ex_canvas_write(canvas, path, f->error);
    else
        ex_canvas_destroy(canvas);
    free_scan(meshes, mesh_count);
    exi_scanned_close(&s);
    return result;
}

/* ---- 5 ---- */

/* Adds the map as colours, or the displaced surface; holes open or as they are. */
static ex_result add_map(holes *h, const ex_displacement_map *map, bool colours, bool open, const char *title,
                         const char *note) {
    exi_scanned *s = h->s;
    for (int v = 0; v < s->vertex_count; v++) {
        const bool missing = open && h->map->states[v] == EX_DISPLACEMENT_MAP_FILLED;
        h->kept[v] = h->covered[v] && (colours || !missing);
        h->colours[v] = missing ? ex_colour_grey(60) : ex_colour_diverging((double)map->displacements[v] / 0.012);
    }
    memcpy(h->displaced, h->positions, (size_t)s->vertex_count * 3 * sizeof *h->displaced);
    if (!colours)
        exi_scanned_displace(s, map->displacements, h->normals, h->displaced);
    return exi_scanned_add(s, h->displaced, colours ? h->colours : NULL, h->kept, title, note);
}

ex_result exi_figure_holes(exi_figures *f, const char *path) {
    static const char *const titles[] = {"displacements", "begun with 0", "after a while", "filled"};
    static const char *const notes[] = {"dark: no ray hit anything", NULL, "40 steps of the solver", NULL};
    static const int steps[] = {-1, -1, 40, 0}; /* 0: complete */
    exi_scanned s;
    ex_mesh **meshes = NULL;
    int mesh_count = 0;
    ex_result result = exi_scanned_open(f, &s);
    holes h = {.s = &s, .which = 1};
    if (result == EX_OK)
        result = read_scan(&s, "arm_20", &meshes, &mesh_count);
    if (result == EX_OK) {
        h.reach = s.session->reach / 2;
        result = holes_open(&h) ? cast(&h, "arm_20", meshes) : ex_error_memory(f->error, "a surface", 0);
    }
    for (int i = 0; i < 8 && result == EX_OK; i++) { /* colours above, surfaces below */
        ex_displacement_map *map = ex_displacement_map_create(h.map->vertex_count);
        if (!map) {
            result = ex_error_memory(f->error, "a map", 0);
            break;
        }
        memcpy(map->displacements, h.map->displacements, (size_t)map->vertex_count * sizeof *map->displacements);
        memcpy(map->states, h.map->states, (size_t)map->vertex_count);
        if (steps[i % 4] >= 0)
            result = ex_displacement_map_fill(map, s.rigs[h.which], s.level, NULL,
                                              &(ex_fill_options){.steps = steps[i % 4]}, f->error);
        if (result == EX_OK)
            result = add_map(&h, map, i < 4, i % 4 == 0, i < 4 ? titles[i] : NULL, i < 4 ? notes[i] : NULL);
        ex_displacement_map_destroy(map);
    }
    if (result == EX_OK) {
        int missing = 0, all = 0;
        for (int v = 0; v < s.vertex_count; v++) {
            all += h.covered[v] != 0;
            missing += h.map->states[v] == EX_DISPLACEMENT_MAP_FILLED;
        }
        exi_figures_fact(f, "not seen of the arm", "", "%.0f %%", 100.0 * missing / (all > 0 ? all : 1));
        result = exi_scanned_draw(&s, 4, 1.4, 35, 5, NULL, path);
    }
    holes_close(&h);
    free_scan(meshes, mesh_count);
    exi_scanned_close(&s);
    return result;
}
