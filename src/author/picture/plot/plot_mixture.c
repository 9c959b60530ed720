/*
 * Draws a mixture of poses: the form on the trajectories and the as-rigid-as-possible form side by side, coloured by
 * the stretch of their triangles on one scale. A vertex has the mean stretch of its triangles, weighted by area.
 *
 * Of eight directions around the form, the camera takes the one that faces most of the area where the trajectories
 * stretch more than the rigid form, weighted by how much more.
 */
#include "author/picture/plot/plot.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 8, PIXELS = 760 /* along the longer side of a form */ };

#define SCALE  2.0 /* pixels per point */
#define MARGIN 22.0
#define TOP    86.0
#define GAP    18.0
#define PITCH  8.0

/* Smallest value at the top of the scale: below, colours would show what cannot be seen. */
static const double least_top = 0.01;

typedef struct picture {
    const ex_trajectories_def *def;
    const ex_measured_mixture *mixture;
    double *forms[2];  /* path, rigid: [vertex_count][3] */
    double *values[2]; /* [triangle_count] */
    float *points[2];  /* [vertex_count][3] */
    float *colours[2]; /* [vertex_count] */
    double *areas;     /* [vertex_count] */
    ex_mesh *mesh;
    ex_image *images[2];
    ex_camera camera;
    int width, height; /* of a form, in pixels */
    double top;        /* of the scale */
    ex_canvas *canvas;
} picture;

static void find_normal(const picture *p, const double *form, size_t triangle, double normal[3]) {
    const int *v = p->def->triangles + 3 * triangle;
    double a[3], b[3];
    exi_subtract(form + 3 * (size_t)v[1], form + 3 * (size_t)v[0], a);
    exi_subtract(form + 3 * (size_t)v[2], form + 3 * (size_t)v[0], b);
    exi_cross(a, b, normal);
}

/* ---- what is drawn ---- */

static bool make_mesh(picture *p) {
    const size_t triangles = (size_t)p->def->triangle_count;
    ex_mesh *mesh = p->mesh = ex_mesh_create();
    if (!mesh)
        return false;
    mesh->positions = exi_array_copy(p->def->reference, 3 * (size_t)p->def->vertex_count, sizeof *mesh->positions);
    mesh->corners = exi_array_copy(p->def->triangles, 3 * triangles, sizeof *mesh->corners);
    mesh->face_offsets = exi_array_allocate(triangles + 1, sizeof *mesh->face_offsets);
    if (!mesh->positions || !mesh->corners || !mesh->face_offsets)
        return false;
    mesh->vertex_count = p->def->vertex_count;
    mesh->face_count = p->def->triangle_count;
    mesh->corner_count = 3 * p->def->triangle_count;
    for (size_t t = 0; t <= triangles; t++)
        mesh->face_offsets[t] = 3 * (int)t;
    return true;
}

/* Fills in the points and colours of one form. */
static void colour(picture *p, int side) {
    const size_t vertices = (size_t)p->def->vertex_count, triangles = (size_t)p->def->triangle_count;
    float *colours = p->colours[side];
    memset(colours, 0, vertices * sizeof *colours);
    memset(p->areas, 0, vertices * sizeof *p->areas);
    for (size_t t = 0; t < triangles; t++) {
        double normal[3];
        find_normal(p, p->def->reference, t, normal);
        const double area = sqrt(exi_dot3(normal, normal));
        const double value =
            p->values[side][t] < 10 * p->top ? p->values[side][t] : 10 * p->top; /* it may be infinite */
        for (size_t i = 0; i < 3; i++) {
            const int v = p->def->triangles[3 * t + i];
            p->areas[v] += area;
            colours[v] += (float)(area * value);
        }
    }
    for (size_t v = 0; v < vertices; v++)
        colours[v] /= p->areas[v] > 0 ? (float)p->areas[v] : 1;
    for (size_t i = 0; i < 3 * vertices; i++)
        p->points[side][i] = (float)p->forms[side][i];
}

/* Returns the yaw, in degrees, from which most of the difference is seen. */
static double choose_yaw(const picture *p) {
    double best = 0, yaw = 0;
    for (int side = 0; side < SIDES; side++) {
        const double angle = 2 * 3.14159265358979323846 * side / SIDES, towards[3] = {sin(angle), 0, cos(angle)};
        double seen = 0;
        for (size_t t = 0; t < (size_t)p->def->triangle_count; t++) {
            double normal[3];
            const double more = p->values[0][t] - p->values[1][t];
            find_normal(p, p->forms[0], t, normal);
            const double facing = exi_dot3(normal, towards);
            seen += more > 0 && facing > 0 ? fmin(more, p->top) * facing : 0;
        }
        if (seen > best * (1 + 1e-9)) {
            best = seen;
            yaw = 360.0 * side / SIDES;
        }
    }
    return yaw;
}

/* Rounds up to 1, 2 or 5 times a power of ten. */
static double round_up(double value) {
    const double power = pow(10, floor(log10(value) + 1e-9));
    return power * (value <= power * (1 + 1e-9) ? 1 : value <= 2 * power ? 2 : value <= 5 * power ? 5 : 10);
}

static ex_result render(picture *p, int side, ex_error *error) {
    ex_render_item item = ex_render_item_default();
    ex_render_def def = ex_render_def_default();
    item.mesh = p->mesh;
    item.positions = p->points[side];
    item.scalar = (ex_render_scalar){.values = p->colours[side], .max = p->top, .label = "stretch"};
    def.width = p->width;
    def.height = p->height;
    def.items = &item;
    def.item_count = 1;
    def.camera = p->camera;
    def.smooth = true;
    def.ground = false;
    def.background = EX_BACKGROUND_WHITE;
    def.legend = true; /* in both: it takes room, and the forms would differ in size */
    def.samples = 4;
    def.occlusion = 4;
    def.tasks = p->def->tasks;
    return ex_render(&def, &p->images[side], error);
}

/* ---- the page ---- */

static ex_box panel(const picture *p, int side) {
    const double width = p->width / SCALE, x = MARGIN + side * (width + GAP);
    return (ex_box){x, TOP, x + width, TOP + p->height / SCALE};
}

static void draw(const picture *p, const char *title) {
    const ex_measured_mixture *m = p->mixture;
    const double width = panel(p, 1).x1 - MARGIN;
    char text[EX_LABEL_SIZE], line[160];
    ex_lettering type = {.size = EXI_PLOT_TITLE_SIZE, .colour = exi_plot_ink()};
    ex_draw_text(p->canvas, MARGIN, 30, &type, ex_label_fit(text, title, type.size, width));
    type.size = EXI_PLOT_TEXT_SIZE;
    type.colour = exi_plot_quiet();
    snprintf(line, sizeof line, "stretch of the triangles: %.3g times as much as in the rigid form (99th percentile)",
             m->ratio);
    ex_draw_text(p->canvas, MARGIN, 48, &type, ex_label_fit(text, line, type.size, width));
    for (int side = 0; side < 2; side++) {
        const ex_stretch *stretch = side == 0 ? &m->path : &m->rigid;
        const ex_box box = panel(p, side);
        ex_draw_image(p->canvas, p->images[side], box);
        type = (ex_lettering){.size = EXI_PLOT_TEXT_SIZE + 1, .colour = exi_plot_ink(), .bold = true};
        ex_draw_text(p->canvas, box.x0, TOP - 18, &type, side == 0 ? "on the paths" : "as rigid as possible");
        type = (ex_lettering){.size = EXI_PLOT_TEXT_SIZE, .colour = exi_plot_quiet()};
        snprintf(line, sizeof line, "99 %%: %.4f \xC2\xB7 99.9 %%: %.4f \xC2\xB7 folded: %d", stretch->percentiles[2],
                 stretch->percentiles[3], stretch->flipped);
        ex_draw_text(p->canvas, box.x0, TOP - 4, &type, ex_label_fit(text, line, type.size, box.x1 - box.x0));
    }
}

static ex_result write_page(picture *p, const char *title, const char *path, ex_error *error) {
    const double width = panel(p, 1).x1 + MARGIN, height = panel(p, 0).y1 + MARGIN;
    const ex_colour white = ex_colour_grey(255);
    const ex_result result = ex_path_ends_with(path, ".png")
                                 ? ex_canvas_create_image(width, height, SCALE, white, &p->canvas, error)
                                 : ex_canvas_create_svg(width, height, white, title,
                                                        "A mixture of poses on its paths, and as rigid as possible, "
                                                        "coloured by the stretch of the triangles.",
                                                        &p->canvas, error);
    if (result != EX_OK)
        return result;
    draw(p, title);
    return ex_canvas_write(p->canvas, path, error);
}

static bool allocate(picture *p) {
    const size_t vertices = (size_t)p->def->vertex_count, triangles = (size_t)p->def->triangle_count;
    bool good = (p->areas = exi_array_allocate(vertices, sizeof *p->areas));
    for (int side = 0; side < 2; side++) {
        p->forms[side] = exi_array_allocate(3 * vertices, sizeof *p->forms[side]);
        p->values[side] = exi_array_allocate(triangles, sizeof *p->values[side]);
        p->points[side] = exi_array_allocate(3 * vertices, sizeof *p->points[side]);
        p->colours[side] = exi_array_allocate(vertices, sizeof *p->colours[side]);
        good = good && p->forms[side] && p->values[side] && p->points[side] && p->colours[side];
    }
    return make_mesh(p) && good;
}

static void release(picture *p) {
    for (int side = 0; side < 2; side++) {
        free(p->forms[side]);
        free(p->values[side]);
        free(p->points[side]);
        free(p->colours[side]);
        ex_image_destroy(p->images[side]);
    }
    free(p->areas);
    ex_mesh_destroy(p->mesh);
}

static ex_result aim(picture *p, ex_error *error) {
    ex_framing framing = ex_framing_start(choose_yaw(p), PITCH);
    for (int side = 0; side < 2; side++) {
        colour(p, side);
        if (!ex_framing_add(&framing, p->points[side], p->def->vertex_count))
            return ex_error_set(error, EX_ERROR_DATA, "a mixture is too far away to draw it");
    }
    p->camera = ex_framing_camera(&framing, PIXELS, &p->width, &p->height);
    p->width = p->width < PIXELS / 2 ? PIXELS / 2 : p->width; /* room for the words above, and the legend */
    return EX_OK;
}

ex_result ex_mixture_draw(const ex_trajectories_def *def, const ex_trajectories *trajectories,
                          const ex_measured_mixture *mixture, const char *title, const char *path, ex_error *error) {
    if (!def || !trajectories || !mixture || !title || !path)
        return exi_misuse_error(error, __func__, "no trajectories, mixture, title or path");
    const double high = mixture->path.percentiles[3];
    picture p = {.def = def, .mixture = mixture};
    p.top = round_up(high > least_top ? fmin(high, 10) : least_top);
    ex_result result =
        allocate(&p) ? EX_OK : ex_error_memory(error, "the picture of a mixture", 80 * (size_t)def->vertex_count);
    if (result == EX_OK)
        result = ex_mixture_forms(def, trajectories, mixture->weights, p.forms[0], p.values[0], p.forms[1], p.values[1],
                                  error);
    if (result == EX_OK)
        result = aim(&p, error);
    for (int side = 0; side < 2 && result == EX_OK; side++)
        result = render(&p, side, error);
    if (result == EX_OK)
        result = write_page(&p, title, path, error);
    release(&p);
    return result;
}
