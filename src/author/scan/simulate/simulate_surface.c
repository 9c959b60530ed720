/*
 * The rig's surface at rest, and the paint on it. A spot is round where it was painted, at rest; the triangles carry
 * it, so it stretches with the skin.
 */
#include "author/base/array.h"
#include "author/scan/simulate/simulate.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdlib.h>
#include <string.h>

/* Costume make-up, in sRGB: far from skin and from each other. */
const unsigned char exi_paint_colours[8][3] = {{25, 60, 200},  {15, 140, 60},  {25, 25, 28},   {246, 246, 246},
                                               {250, 225, 30}, {200, 25, 145}, {30, 195, 215}, {240, 95, 10}};

/* ---- chance ---- */

uint64_t exi_chance_text(uint64_t key, const char *text) {
    for (; text && *text; text++)
        key = exi_chance(key, (unsigned char)*text);
    return key;
}

void exi_chance_direction(uint64_t chance, double direction[3]) {
    do {
        for (int k = 0; k < 3; k++) {
            chance = exi_chance(chance, (uint64_t)k);
            direction[k] = 2 * exi_chance_part(chance) - 1;
        }
    } while (exi_dot3(direction, direction) > 1 || !exi_unit3(direction));
}

/* ---- the surface ---- */

void exi_surface_point(const exi_skin_surface *s, const float *positions, int triangle, const double place[3],
                       double point[3]) {
    const uint32_t *corners = s->triangles + 3 * (size_t)triangle;
    for (int k = 0; k < 3; k++) {
        point[k] = 0;
        for (int i = 0; i < 3; i++)
            point[k] += place[i] * (double)positions[3 * (size_t)corners[i] + (size_t)k];
    }
}

/* Computes the triangle's normal, with twice its area as length. */
static void long_normal(const exi_skin_surface *s, const float *positions, int triangle, double normal[3]) {
    double corners[3][3], a[3], b[3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            corners[i][k] = (double)positions[3 * (size_t)s->triangles[3 * (size_t)triangle + (size_t)i] + (size_t)k];
    exi_subtract(corners[1], corners[0], a);
    exi_subtract(corners[2], corners[0], b);
    exi_cross(a, b, normal);
}

void exi_surface_normal(const exi_skin_surface *s, const float *positions, int triangle, double normal[3]) {
    long_normal(s, positions, triangle, normal);
    if (!exi_unit3(normal))
        normal[0] = normal[1] = normal[2] = 0;
}

bool exi_surface_closest(const ex_bounds *fit, const double point[3], int *triangle, double place[3]) {
    const float at[3] = {(float)point[0], (float)point[1], (float)point[2]};
    ex_closest closest;
    if (!ex_bounds_closest(fit, at, INFINITY, &closest))
        return false;
    *triangle = closest.triangle;
    place[1] = (double)closest.u;
    place[2] = (double)closest.v;
    place[0] = 1 - place[1] - place[2];
    return true;
}

static ex_result rest_positions(exi_skin_surface *s, ex_error *error) {
    const ex_evaluation how = {.level = s->level};
    const size_t size = ex_rig_scratch_size(s->rig, &how, 1);
    void *scratch = malloc(size + 1);
    if (!scratch)
        return ex_error_memory(error, "the rig's surface", size);
    const ex_pose rest = {.inputs = NULL};
    const ex_output output = {.positions = s->rest};
    ex_rig_evaluate(s->rig, &rest, &output, &how, scratch);
    free(scratch);
    return EX_OK;
}

ex_result exi_skin_surface_open(exi_skin_surface *s, const ex_rig *rig, int level, ex_error *error) {
    *s = (exi_skin_surface){.rig = rig, .level = level, .vertex_count = ex_rig_level_vertex_count(rig, level)};
    if (s->vertex_count == 0)
        return ex_error_set(error, EX_ERROR_DATA, "the rig has no level %d to scan", level);
    s->mesh = ex_rig_level_mesh(rig, level);
    s->triangle_count = s->mesh.triangle_count;
    if (s->triangle_count == 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the rig has no surface: its mesh has only vertices, but a scanner sees faces");
    const size_t triangles = (size_t)s->triangle_count, vertices = (size_t)s->vertex_count;
    s->triangles = exi_array_allocate(3 * triangles, sizeof *s->triangles);
    s->rest = exi_array_allocate(3 * vertices, sizeof *s->rest);
    s->areas = exi_array_allocate(triangles, sizeof *s->areas);
    if (!s->triangles || !s->rest || !s->areas)
        return ex_error_memory(error, "the rig's surface", triangles * 20 + vertices * 12);
    for (size_t i = 0; i < 3 * triangles; i++)
        s->triangles[i] = s->mesh.split_source ? s->mesh.split_source[s->mesh.triangles[i]] : s->mesh.triangles[i];
    ex_result result = rest_positions(s, error);
    if (result != EX_OK)
        return result;
    double sum = 0;
    for (int t = 0; t < s->triangle_count; t++) {
        double normal[3];
        long_normal(s, s->rest, t, normal);
        sum += sqrt(exi_dot3(normal, normal)) / 2;
        s->areas[t] = sum;
    }
    return ex_tree_create(&(ex_tree_def){.vertex_count = s->vertex_count,
                                         .positions = s->rest,
                                         .triangle_count = s->triangle_count,
                                         .triangles = s->triangles},
                          NULL, &s->tree, error);
}

void exi_skin_surface_close(exi_skin_surface *s) {
    ex_tree_destroy(s->tree);
    free(s->triangles);
    free(s->rest);
    free(s->areas);
    *s = (exi_skin_surface){.rig = NULL};
}

/* ---- paint ---- */

exi_spot exi_spot_make(const exi_skin_surface *surface, int triangle, const double place[3], double radius,
                       const unsigned char colour[3]) {
    exi_spot spot = {.radius = radius, .colour = {colour[0], colour[1], colour[2]}};
    exi_surface_point(surface, surface->rest, triangle, place, spot.point);
    exi_surface_normal(surface, surface->rest, triangle, spot.normal);
    return spot;
}

/* Uses straight distances, which on a patch of two centimetres are as good as distances along the skin; but ignores
 * surfaces that face away, such as the other side of an ear. */
double exi_spot_cover(const exi_spot *spot, const double rest[3], const double normal[3], double blur) {
    double away[3];
    exi_subtract(rest, spot->point, away);
    const double reach = spot->radius + blur / 2, square = exi_dot3(away, away);
    if (square >= reach * reach || exi_dot3(normal, spot->normal) < 0.2)
        return 0;
    const double cover = blur > 0 ? (reach - sqrt(square)) / blur : 1;
    return cover < 1 ? cover : 1;
}
