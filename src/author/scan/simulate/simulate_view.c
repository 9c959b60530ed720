/*
 * Casts the rays of one head of the scanner. A head looks horizontally at the vertical axis. Its rays are parallel, on
 * a grid fixed in the world, so that a sample depends neither on the pose nor on the order of work. Every ray ends at
 * the nearest surface, so surfaces hide those behind them. Noise moves samples along their ray, as laser ranging does.
 */
#include "author/base/array.h"
#include "author/scan/simulate/simulate.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

void exi_head_direction(int index, int count, double head[3], double right[3]) {
    const double angle = 2 * PI * (index + 0.5) / count;
    head[0] = sin(angle);
    head[1] = 0;
    head[2] = cos(angle);
    right[0] = head[2];
    right[1] = 0;
    right[2] = -head[0];
}

double exi_head_sees(const ex_bounds *fit, const double head[3], const double point[3], const double normal[3]) {
    const double slant = exi_dot3(normal, head);
    ex_ray ray = {.t_min = 0, .t_max = INFINITY};
    if (!(slant > 0))
        return 0;
    for (int k = 0; k < 3; k++) { /* starts slightly above the surface, which must not hide itself */
        ray.origin[k] = (float)(point[k] + 1e-4 * normal[k] + 1e-4 * head[k]);
        ray.direction[k] = (float)head[k];
    }
    return ex_bounds_blocked(fit, &ray) ? 0 : slant;
}

/* ---- colours ---- */

/* Skin without a texture: darker and redder in patches a hand's breadth wide. */
static void skin_tone(const double rest[3], double colour[3]) {
    const double x = rest[0], y = rest[1], z = rest[2];
    const double dark = sin(23 * x + 2 * sin(11 * z)) + sin(19 * y + 1.7 * sin(13 * x)) + sin(21 * z + 1.9);
    const double red = sin(17 * y + 3 * z) + sin(27 * x - 9 * y);
    colour[0] = 206 - 3 * dark + 2 * red;
    colour[1] = 162 - 4 * dark - 2 * red;
    colour[2] = 138 - 4 * dark - 2 * red;
}

static void texture_colour(const exi_subject *s, int triangle, const double place[3], double colour[3]) {
    const ex_rig_mesh *mesh = &s->scanner->surface.mesh;
    const int width = s->texture.width, height = s->texture.height;
    double at[2] = {0, 0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            at[k] += place[i] *
                     (double)mesh->texcoords[2 * (size_t)mesh->triangles[3 * (size_t)triangle + (size_t)i] + (size_t)k];
    double x = (at[0] - floor(at[0])) * width - 0.5, y = (at[1] - floor(at[1])) * height - 0.5;
    const int column = (int)floor(x), row = (int)floor(y);
    x -= column;
    y -= row;
    colour[0] = colour[1] = colour[2] = 0;
    for (int i = 0; i < 4; i++) {
        const int c = (column + (i & 1) + width) % width, r = (row + (i >> 1) + height) % height;
        const unsigned char *pixel = s->image + 4 * ((size_t)r * (size_t)width + (size_t)c);
        const double weight = ((i & 1) ? x : 1 - x) * ((i >> 1) ? y : 1 - y);
        for (int k = 0; k < 3; k++)
            colour[k] += weight * pixel[k];
    }
}

static void paint_over(double colour[3], const exi_spot *spot, double cover) {
    for (int k = 0; k < 3; k++)
        colour[k] += cover * (spot->colour[k] - colour[k]);
}

/* Computes the colour that the camera sees at a place of the skin; counts the samples of markers. */
static void sample_colour(const exi_subject *s, const exi_range_view *view, int triangle, const double place[3],
                          uint64_t chance, unsigned char out[3]) {
    const exi_scanner *scanner = s->scanner;
    const exi_skin_surface *surface = &scanner->surface;
    const double blur = view->pitch[1] < view->pitch[0] ? view->pitch[1] : view->pitch[0];
    const int *list = scanner->lists + scanner->starts[triangle], *end = scanner->lists + scanner->starts[triangle + 1];
    double colour[3], rest[3], normal[3];
    exi_surface_point(surface, surface->rest, triangle, place, rest);
    if (s->image)
        texture_colour(s, triangle, place, colour);
    else
        skin_tone(rest, colour);
    if (list < end || s->stray_count > 0)
        exi_surface_normal(surface, surface->rest, triangle, normal);
    for (int i = 0; i < s->stray_count; i++)
        paint_over(colour, &s->strays[i], exi_spot_cover(&s->strays[i], rest, normal, blur));
    for (; list < end; list++) {
        const double cover = s->painted[*list] ? exi_spot_cover(&scanner->spots[*list], rest, normal, blur) : 0;
        paint_over(colour, &scanner->spots[*list], cover);
        view->counts[*list] += cover > 0.5;
    }
    for (int k = 0; k < 3; k++) {
        chance = exi_chance(chance, (uint64_t)k);
        const double value = round(colour[k] + 2 * exi_chance_normal(chance));
        out[k] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

/* ---- rays ---- */

static ex_result open_view(exi_range_view *view, const exi_subject *s, ex_error *error) {
    const exi_scanner *scanner = s->scanner;
    double least = INFINITY, most = -INFINITY;
    for (int v = 0; v < scanner->surface.vertex_count; v++) {
        const double across = (double)s->posed[3 * v] * view->right[0] + (double)s->posed[3 * v + 2] * view->right[2];
        least = across < least ? across : least;
        most = across > most ? across : most;
    }
    const double columns[2] = {ceil(least / view->pitch[0]), floor(most / view->pitch[0])},
                 rows[2] = {ceil(s->box[0][1] / view->pitch[1]), floor(s->box[1][1] / view->pitch[1])};
    if (!(fabs(columns[0]) < 1e8 && fabs(columns[1]) < 1e8 && fabs(rows[0]) < 1e8 && fabs(rows[1]) < 1e8) ||
        (columns[1] - columns[0] + 1) * (rows[1] - rows[0] + 1) > 2e8)
        return ex_error_set(
            error, EX_ERROR_LIMIT,
            "a pitch of %g and %g m gives more than 200 million samples per view: the rig is %.3g m high",
            view->pitch[0], view->pitch[1], s->box[1][1] - s->box[0][1]);
    view->first_column = (int)columns[0];
    view->first_row = (int)rows[0];
    view->column_count = columns[1] < columns[0] ? 0 : (int)(columns[1] - columns[0]) + 1;
    view->row_count = rows[1] < rows[0] ? 0 : (int)(rows[1] - rows[0]) + 1;
    const size_t count = (size_t)view->row_count * (size_t)view->column_count;
    view->depths = exi_array_allocate(count, sizeof *view->depths);
    view->slants = exi_array_allocate(count, sizeof *view->slants);
    view->colours = exi_array_allocate(count, sizeof *view->colours);
    view->cells = exi_array_allocate(count, sizeof *view->cells);
    view->counts = exi_array_allocate((size_t)scanner->paint_count, sizeof *view->counts);
    if (!view->depths || !view->slants || !view->colours || !view->cells || !view->counts)
        return ex_error_memory(error, "a range image", count * 12);
    memset(view->colours, 0, count * sizeof *view->colours);
    memset(view->cells, 0, count * sizeof *view->cells);
    memset(view->counts, 0, (size_t)scanner->paint_count * sizeof *view->counts);
    return EX_OK;
}

/* Takes one sample; none if the ray misses, or only grazes the surface. */
static void shoot_ray(exi_range_view *view, const exi_subject *s, uint64_t key, double least_slant, ex_ray *ray,
                      int row, int column) {
    const size_t at = (size_t)row * (size_t)view->column_count + (size_t)column;
    const int line[2] = {view->first_row + row, view->first_column + column};
    const double across = line[1] * view->pitch[0],
                 away = 1 + (s->box[1][0] - s->box[0][0]) + (s->box[1][2] - s->box[0][2]);
    const double middle =
        view->head[0] * (s->box[0][0] + s->box[1][0]) / 2 + view->head[2] * (s->box[0][2] + s->box[1][2]) / 2;
    ex_hit hit;
    for (int k = 0; k < 3; k++)
        ray->origin[k] = (float)(across * view->right[k] + (middle + away) * view->head[k]);
    ray->origin[1] = (float)(line[0] * view->pitch[1]);
    view->depths[at] = NAN;
    view->slants[at] = 0;
    if (!ex_bounds_ray(s->fit, ray, &hit))
        return;
    const double place[3] = {1 - (double)hit.u - (double)hit.v, (double)hit.u, (double)hit.v};
    double point[3], normal[3];
    exi_surface_normal(&s->scanner->surface, s->posed, hit.triangle, normal);
    const double slant = fabs(exi_dot3(normal, view->head));
    if (!(slant >= least_slant))
        return;
    exi_surface_point(&s->scanner->surface, s->posed, hit.triangle, place, point);
    const uint64_t chance = exi_chance(exi_chance(key, (uint64_t)(int64_t)line[0]), (uint64_t)(int64_t)line[1]);
    view->depths[at] = (float)(exi_dot3(point, view->head) + s->scanner->simulation.noise * exi_chance_normal(chance));
    view->slants[at] = (float)slant;
    sample_colour(s, view, hit.triangle, place, chance, view->colours[at]);
}

ex_result exi_view_scan(exi_range_view *view, const exi_subject *s, int index, ex_error *error) {
    const ex_scan_simulation *simulation = &s->scanner->simulation;
    *view = (exi_range_view){.pitch = {simulation->pitch[0], simulation->pitch[1]}};
    exi_head_direction(index, simulation->view_count, view->head, view->right);
    ex_result result = open_view(view, s, error);
    if (result != EX_OK)
        return result;
    const double least_slant = sin(simulation->grazing * PI / 180);
    const uint64_t key = exi_chance(s->key, 0x1000 + (uint64_t)index);
    ex_ray ray = {.t_min = 0, .t_max = INFINITY};
    for (int k = 0; k < 3; k++)
        ray.direction[k] = (float)-view->head[k];
    for (int row = 0; row < view->row_count; row++)
        for (int column = 0; column < view->column_count; column++)
            shoot_ray(view, s, key, least_slant, &ray, row, column);
    return EX_OK;
}

void exi_view_close(exi_range_view *view) {
    free(view->depths);
    free(view->slants);
    free(view->colours);
    free(view->cells);
    free(view->counts);
    *view = (exi_range_view){.row_count = 0};
}
