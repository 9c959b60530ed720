/*
 * Draws a scan that does not fit, for people to look at: look/NAME.png. Four sides of the scan, the template over it as
 * far as it got, and the named points. A point is green if the template has it there; otherwise it is red, with its
 * name and a line to the place where the template has it.
 */
#include "author/base/array.h"
#include "author/scan/person/person.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/canvas.h>
#include <exemplar/author/files.h>
#include <exemplar/author/picture.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDES = 4, WIDTH = 380, HEIGHT = 600, CAPTION = 44, NAMES_MOST = 12 };

static const double pi = 3.14159265358979323846;
static const double margin = 0.08; /* that ex_render leaves on either side, as a share of the picture */
/* Metres: a point this near to its place on the template is right. Share of the template in a pixel that shows both. */
static const double near_place = 0.04, template_share = 0.5;

typedef struct look {
    exi_carry *w;
    const exi_carry_scan *o;
    const exi_carry_input *in;
    bool posed;                /* w->mesh is the template as posed */
    double middle[3], half[2]; /* of the box that is framed: half its width and depth, and half its height */
    ex_canvas *canvas;
} look;

/* ---- the frame ---- */

static void add_points(const double *points, int count, double low[3], double high[3]) {
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            low[c] = fmin(low[c], points[3 * (size_t)i + (size_t)c]);
            high[c] = fmax(high[c], points[3 * (size_t)i + (size_t)c]);
        }
}

static bool find_frame(look *k) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < k->in->scan.mesh_count; i++)
        add_points(k->in->meshes[i]->positions, k->in->meshes[i]->vertex_count, low, high);
    for (int i = 0; i < k->o->count; i++)
        add_points(k->o->points[i].at, 1, low, high);
    for (int c = 0; c < 3; c++)
        k->middle[c] = 0.5 * (low[c] + high[c]);
    k->half[0] = 0.5 * fmax(high[0] - low[0], high[2] - low[2]);
    k->half[1] = 0.5 * (high[1] - low[1]);
    return isfinite(k->half[0] + k->half[1]) && k->half[0] + k->half[1] > 0;
}

/* The pixel of a point, as ex_render frames a parallel view of that box. */
static void project(const look *k, int side, const double point[3], double at[2]) {
    const double yaw = side * 2 * pi / SIDES, right[3] = {cos(yaw), 0, -sin(yaw)};
    const double half = fmax(k->half[1], k->half[0] * HEIGHT / WIDTH) / (1 - 2 * margin);
    double from[3];
    exi_subtract(point, k->middle, from);
    at[0] = side * WIDTH + 0.5 * WIDTH + 0.5 * HEIGHT * exi_dot3(from, right) / half;
    at[1] = 0.5 * HEIGHT * (1 - from[1] / half);
}

/* ---- surfaces ---- */

static ex_result render(const look *k, const ex_render_item *items, int count, int side, bool over, ex_image **image,
                        ex_error *error) {
    ex_render_def def = ex_render_def_default();
    def.width = WIDTH;
    def.height = HEIGHT;
    def.items = items;
    def.item_count = count;
    def.camera = (ex_camera){.yaw = side * 360.0 / SIDES, .zoom = 1};
    for (int c = 0; c < 3; c++) {
        const double half = k->half[c == 1 ? 1 : 0];
        def.camera.box[c] = k->middle[c] - half;
        def.camera.box[3 + c] = k->middle[c] + half;
    }
    def.ground = false;
    def.occlusion = 0;
    def.samples = 4;
    def.smooth = true;
    def.background = over ? EX_BACKGROUND_TRANSPARENT : EX_BACKGROUND_WHITE;
    def.tasks = k->w->options->tasks;
    return ex_render(&def, image, error);
}

static void blend(ex_image *under, const ex_image *over) {
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) {
        const double share = template_share * over->pixels[4 * i + 3] / 255;
        for (size_t c = 0; c < 3; c++)
            under->pixels[4 * i + c] =
                (unsigned char)((1 - share) * under->pixels[4 * i + c] + share * over->pixels[4 * i + c] + 0.5);
    }
}

static ex_result draw_side(const look *k, int side, ex_error *error) {
    const int count = k->in->scan.mesh_count;
    ex_render_item *items = exi_array_allocate((size_t)count, sizeof *items);
    ex_render_item person = ex_render_item_default();
    ex_image *image = NULL, *over = NULL;
    ex_result result = items ? EX_OK : exi_carry_no_memory(k->w);
    for (int i = 0; items && i < count; i++) {
        items[i] = ex_render_item_default();
        items[i].mesh = k->in->meshes[i];
        items[i].vertex_colours = true;
    }
    person.mesh = k->w->mesh;
    person.colour[0] = 0.95;
    person.colour[1] = 0.55;
    person.colour[2] = 0.1;
    if (result == EX_OK)
        result = render(k, items, count, side, false, &image, error);
    if (result == EX_OK && k->posed) {
        result = render(k, &person, 1, side, true, &over, error);
        if (result == EX_OK)
            blend(image, over);
    }
    if (result == EX_OK)
        ex_draw_image(k->canvas, image, (ex_box){side * WIDTH, 0, (side + 1) * WIDTH, HEIGHT});
    ex_image_destroy(image);
    ex_image_destroy(over);
    free(items);
    return result;
}

/* ---- points ---- */

/* The place that the posed template has for a point; false: it knows none. */
static bool find_template_place(const look *k, const exi_carry_point *point, double at[3]) {
    const exi_carry_place *p = &k->w->places[point->name];
    for (int c = 0; c < 3; c++) {
        at[c] = 0;
        for (int i = 0; i < 3; i++)
            at[c] += p->anchor.shares[i] * k->w->mesh->positions[3 * p->anchor.vertices[i] + c];
    }
    return exi_carry_is_known(k->w, p) && k->posed;
}

static void draw_points(const look *k, int side) {
    const ex_pen green = {.colour = ex_colour_hex(0x1a9933), .width = 1.5},
                 red = {.colour = ex_colour_hex(0xcc1a1a), .width = 1.5};
    const ex_lettering type = {.size = 11,
                               .colour = red.colour,
                               .along = EX_ALONG_CENTRE,
                               .halo = ex_colour_hex(0xffffff),
                               .across = EX_ACROSS_LEFT};
    int named = 0;
    for (int i = 0; i < k->o->count; i++) {
        const exi_carry_point *point = &k->o->points[i];
        double place[3], away[3], at[2], to[2];
        const bool known = find_template_place(k, point, place);
        exi_subtract(place, point->at, away);
        const bool right = known && exi_dot3(away, away) < near_place * near_place;
        project(k, side, point->at, at);
        if (known && !right) {
            project(k, side, place, to);
            ex_draw_line(k->canvas, at[0], at[1], to[0], to[1], &red);
        }
        ex_draw_mark(k->canvas, EX_MARK_RING, at[0], at[1], 4, right ? &green : &red);
        if (!right && named++ < NAMES_MOST)
            ex_draw_text(k->canvas, at[0] + 7, at[1], &type, k->w->places[point->name].name);
    }
}

static void draw_caption(const look *k) {
    const ex_lettering type = {.size = 14, .colour = ex_colour_hex(0x1a1a1a), .along = EX_ALONG_CENTRE};
    char text[300];
    snprintf(text, sizeof text, "scan '%.80s': from the front, its left, the back, its right%s; named points are %s",
             k->w->session->scans[k->o->scan].name, k->posed ? "; orange: the template" : "",
             k->posed ? "green where the template has them, red with a line to its place if not" : "rings with names");
    ex_draw_text(k->canvas, 12, HEIGHT + 0.5 * CAPTION, &type, text);
}

bool exi_carry_look(exi_carry *w, const exi_carry_scan *o, const exi_carry_input *in) {
    const char *name = w->session->scans[o->scan].name;
    look k = {.w = w, .o = o, .in = in, .posed = o->posed};
    ex_error error = {0};
    char *folder = ex_scan_path(w->session, "", "look", ""), *path = ex_scan_path(w->session, "look", name, ".png");
    ex_result result = EX_ERROR_MEMORY;
    if (folder && path && in->meshes && find_frame(&k))
        result = ex_make_directory(folder, &error);
    if (result == EX_OK && k.posed)
        exi_carry_pose(w, &o->pose, (double(*)[3])(void *)w->mesh->positions);
    if (result == EX_OK)
        result = ex_canvas_create_image(SIDES * WIDTH, HEIGHT + CAPTION, 1, ex_colour_hex(0xffffff), &k.canvas, &error);
    for (int side = 0; side < SIDES && result == EX_OK; side++)
        result = draw_side(&k, side, &error);
    for (int side = 0; side < SIDES && result == EX_OK; side++)
        draw_points(&k, side);
    if (result == EX_OK) {
        draw_caption(&k);
        result = ex_canvas_write(k.canvas, path, &error);
        k.canvas = NULL; /* it has ended */
    }
    ex_canvas_destroy(k.canvas);
    free(folder);
    free(path);
    return result == EX_OK;
}

void exi_carry_forget_look(const exi_carry *w, int scan) {
    char *path = ex_scan_path(w->session, "look", w->session->scans[scan].name, ".png");
    if (path)
        remove(path);
    free(path);
}
