/*
 * Computes displacements from a template to a scan: rays along ± its limit normals (Allen, Curless, Popovic, section
 * 4.1 and figure 4).
 *
 * Valid hits. From inside the body outwards, and from outside inwards, a ray meets its surface facing the way of the
 * normal. A surface that faces the other way belongs to something else (the torso, seen from the arm; the far side of
 * the arm), and the ray ends there. A hit also does not count if it is nearer to another sheet of the template that
 * faces the same way, through which the ray leaves the template farther on: where a forearm hides the upper arm, so
 * that both are holes, rays pass into the forearm and meet its far side from within. Triangles seen edge-on are
 * neither: they are the skirts that scanners leave at steps of depth, and the ray goes through them.
 *
 * Several views: those within four times the noise of the best-seen one are averaged, with weights that fall to nearly
 * nothing at the edge of a view, so that no seam shows.
 */
#include "author/scan/map/map.h"

#include "author/base/array.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least cosine between the normals of a hit and of the template to face the same way; and the increase at the end of
 * the reach: a hit that is far away and oblique is hardly ever the right one. */
#define FACING     0.2
#define FACING_FAR 0.5
/* Fraction of the reach within which a ray is still on its own sheet of the template. */
#define OWN_SHEET 0.02
/* Weight of a sample at the very edge of a view, and of one seen edge-on. */
#define LEAST 0.02
/* Number of skirts that a ray goes through before it gives up. */
enum { TRIES = 8, GRAIN = 256 };

typedef struct caster {
    const ex_displacement_map_def *def;
    const exi_map_surface *surface;
    const exi_map_view *template; /* the template itself as a mesh */
    exi_map_view *views;          /* [def->mesh_count] */
    double tolerance;             /* metres: largest difference between views */
    ex_displacement_map *map;
} caster;

/* One view's hit for a vertex. */
typedef struct sighting {
    double displacement, quality;
} sighting;

/* ---- one ray ---- */

static ex_ray make_ray(const caster *c, int vertex, double sign) {
    ex_ray ray = {.t_max = (float)c->def->reach};
    for (int k = 0; k < 3; k++) {
        ray.origin[k] = c->surface->positions[3 * (size_t)vertex + (size_t)k];
        ray.direction[k] = (float)sign * c->surface->normals[3 * (size_t)vertex + (size_t)k];
    }
    return ray;
}

static void triangle_normal(const exi_map_view *view, int triangle, double out[3]) {
    double p[3][3], a[3], b[3];
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            p[k][c] = (double)view->positions[3 * (size_t)view->triangles[3 * triangle + k] + (size_t)c];
    exi_subtract(p[1], p[0], a);
    exi_subtract(p[2], p[0], b);
    exi_cross(a, b, out);
}

static double dot_direction(const double a[3], const float direction[3]) {
    return a[0] * (double)direction[0] + a[1] * (double)direction[1] + a[2] * (double)direction[2];
}

/* Moves on, so that the next search does not find the same triangle again. */
static void go_on(ex_ray *ray, float t) {
    ray->t_min = nextafterf(t, INFINITY) + 1e-6f * ray->t_max;
}

/* True if a hit at t is nearer to another sheet, through which the ray leaves the template, than to its own. */
static bool belongs_elsewhere(const caster *c, ex_ray ray, float t) {
    ray.t_min = (float)(OWN_SHEET * c->def->reach);
    ray.t_max = 2 * t;
    ex_hit hit;
    for (int i = 0; i < TRIES && ray.t_min < ray.t_max && ex_bounds_ray(c->template->fit, &ray, &hit); i++) {
        double n[3];
        triangle_normal(c->template, hit.triangle, n);
        if (dot_direction(n, ray.direction) > 0)
            return true;
        go_on(&ray, hit.t);
    }
    return false;
}

/* Computes the averaged normal at a hit, and returns its distance from the edge of the view. */
static double look_at(const exi_map_view *view, const ex_hit *hit, double normal[3]) {
    const double parts[3] = {1.0 - (double)hit->u - (double)hit->v, (double)hit->u, (double)hit->v};
    double inside = 0;
    normal[0] = normal[1] = normal[2] = 0;
    for (int k = 0; k < 3; k++) {
        const size_t v = (size_t)view->triangles[3 * hit->triangle + k];
        inside += parts[k] * (double)view->insides[v];
        for (size_t c = 0; c < 3; c++)
            normal[c] += parts[k] * (double)view->normals[3 * v + c];
    }
    exi_unit3(normal);
    return inside;
}

static bool shoot(const caster *c, const exi_map_view *view, int vertex, double sign, sighting *seen) {
    const ex_ray first = make_ray(c, vertex, sign);
    ex_ray ray = first;
    ex_hit hit;
    for (int i = 0; i < TRIES && ex_bounds_ray(view->fit, &ray, &hit); i++) {
        double normal[3];
        const double inside = look_at(view, &hit, normal), facing = sign * dot_direction(normal, ray.direction);
        if (facing < -FACING)
            return false;
        if (facing > FACING + FACING_FAR * (double)hit.t / c->def->reach) {
            const double square = exi_dot3(view->direction, view->direction) > 0
                                      ? exi_dot3(view->direction, normal)
                                      : 1; /* merged: only well-seen samples are left */
            *seen = (sighting){.displacement = sign * (double)hit.t,
                               .quality = (square > LEAST ? square : LEAST) * (inside > LEAST ? inside : LEAST)};
            return !belongs_elsewhere(c, first, hit.t);
        }
        go_on(&ray, hit.t);
    }
    return false;
}

/* Finds the nearer of the hits outwards and inwards. */
static bool sight(const caster *c, const exi_map_view *view, int vertex, sighting *seen) {
    sighting out, in;
    const bool outwards = shoot(c, view, vertex, 1, &out), inwards = shoot(c, view, vertex, -1, &in);
    *seen = outwards && (!inwards || out.displacement <= -in.displacement) ? out : in;
    return outwards || inwards;
}

/* ---- one vertex ---- */

/* Averages the views at a vertex. seen [mesh_count] is work memory. */
static void join_views(const caster *c, int vertex, sighting *seen) {
    int count = 0, best = 0;
    for (int i = 0; i < c->def->mesh_count; i++)
        if (sight(c, &c->views[i], vertex, &seen[count]))
            count++;
    for (int i = 1; i < count; i++)
        best = seen[i].quality > seen[best].quality ? i : best;
    double sum = 0, total = 0;
    for (int i = 0; i < count; i++)
        if (fabs(seen[i].displacement - seen[best].displacement) <= c->tolerance) {
            sum += seen[i].quality * seen[i].displacement;
            total += seen[i].quality;
        }
    c->map->states[vertex] = count ? EX_DISPLACEMENT_MAP_HIT : EX_DISPLACEMENT_MAP_FILLED;
    c->map->displacements[vertex] = count ? (float)(sum / total) : 0;
}

enum { VIEWS_AT_HAND = 16 };

static void cast_range(void *context, int begin, int end) {
    const caster *c = context;
    for (int v = begin; v < end; v++) {
        sighting seen[VIEWS_AT_HAND];
        if (!c->def->covered || c->def->covered[v])
            join_views(c, v, seen);
    }
}

/* ---- the entry point ---- */

static ex_result make_template(const caster *c, const exi_map_net *net, exi_map_view *view, ex_error *error) {
    const ex_rig_mesh mesh = ex_rig_level_mesh(c->def->rig, c->def->level);
    const size_t corners = 3 * (size_t)mesh.triangle_count;
    *view = (exi_map_view){.vertex_count = net->vertex_count,
                           .triangle_count = mesh.triangle_count,
                           .positions = exi_array_copy(c->surface->positions, 3 * (size_t)net->vertex_count, 4),
                           .triangles = exi_array_allocate(corners, sizeof(uint32_t))};
    if (!view->positions || !view->triangles)
        return ex_error_memory(error, "the template's triangles", corners * 4);
    for (size_t i = 0; i < corners; i++)
        view->triangles[i] = mesh.split_source ? mesh.split_source[mesh.triangles[i]] : mesh.triangles[i];
    ex_result result = ex_tree_create(&(ex_tree_def){.vertex_count = view->vertex_count,
                                                     .positions = view->positions,
                                                     .triangle_count = view->triangle_count,
                                                     .triangles = view->triangles},
                                      NULL, &view->tree, error);
    if (result != EX_OK)
        return result;
    view->memory = malloc(ex_bounds_size(view->tree));
    if (!view->memory)
        return ex_error_memory(error, "the template's triangles", ex_bounds_size(view->tree));
    view->fit = ex_bounds_fit(view->tree, view->positions, 0, view->memory, c->def->tasks);
    return EX_OK;
}

typedef struct making {
    const caster *caster;
    ex_result results[VIEWS_AT_HAND];
    ex_error errors[VIEWS_AT_HAND];
} making;

static void make_range(void *context, int begin, int end) {
    making *m = context;
    const ex_displacement_map_def *def = m->caster->def;
    for (int i = begin; i < end; i++)
        m->results[i] = exi_map_view_make(def->meshes[i], i, def->noise, &m->caster->views[i], &m->errors[i]);
}

/* Reports the first view that fails, whatever the threads. */
static ex_result make_views(const caster *c, ex_error *error) {
    making m = {.caster = c};
    exi_run(c->def->tasks, c->def->mesh_count, 1, make_range, &m);
    for (int i = 0; i < c->def->mesh_count; i++)
        if (m.results[i] != EX_OK) {
            if (error)
                *error = m.errors[i];
            return m.results[i];
        }
    return EX_OK;
}

static ex_result cast(caster *c, const exi_map_net *net, ex_error *error) {
    exi_map_view template = {0};
    const size_t count = (size_t)c->def->mesh_count;
    c->views = calloc(count, sizeof *c->views);
    c->map = ex_displacement_map_create(net->vertex_count);
    ex_result result = c->views && c->map ? make_template(c, net, &template, error)
                                          : ex_error_memory(error, "the map", (size_t)net->vertex_count * 5);
    if (result == EX_OK)
        result = make_views(c, error);
    if (result == EX_OK) {
        c->template = &template;
        exi_run(c->def->tasks, net->vertex_count, GRAIN, cast_range, c);
        result = exi_map_reject(net, c->surface, c->def->noise, c->map, error);
    }
    for (size_t i = 0; c->views && i < count; i++)
        exi_map_view_free(&c->views[i]);
    free(c->views);
    exi_map_view_free(&template);
    return result;
}

ex_result ex_displacement_map_cast(const ex_displacement_map_def *def, ex_displacement_map **map, ex_error *error) {
    if (!def || !def->rig || !def->meshes || !map)
        return exi_misuse_error(error, __func__, "no rig, no meshes, or no pointer for the map");
    *map = NULL;
    if (def->mesh_count < 1 || def->mesh_count > VIEWS_AT_HAND)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a scan has 1 to %d meshes, not %d", VIEWS_AT_HAND,
                            def->mesh_count);
    if (!(def->reach > 0) || !isfinite(def->reach) || !(def->noise >= 0) || !isfinite(def->noise))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the reach of rays must be above 0 and the noise at least 0; they are %g and %g",
                            def->reach, def->noise);
    exi_map_net net;
    exi_map_surface surface = {0};
    caster c = {.def = def, .surface = &surface, .tolerance = def->noise > 0 ? 4 * def->noise : 0.001};
    ex_result result = exi_map_net_make(def->rig, def->level, &net, error);
    if (result == EX_OK)
        result = exi_map_surface_make(def->rig, def->level, def->joints, def->tasks, &surface, error);
    if (result == EX_OK)
        result = cast(&c, &net, error);
    if (result == EX_OK)
        *map = c.map;
    else
        ex_displacement_map_destroy(c.map);
    exi_map_surface_free(&surface);
    exi_map_net_free(&net);
    return result;
}
