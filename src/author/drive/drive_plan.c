/*
 * Plans how one mesh follows another, from both at rest: moving frames, the weights by which they carry vertices, and
 * what regions look at. The result depends only on the meshes and the options, bit for bit.
 */
#include "author/base/array.h"
#include "author/drive/drive.h"
#include "author/mesh/mesh_check.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>

static ex_result no_memory(const exi_drive_plan *made, ex_error *error) {
    return ex_error_memory(error, "the driver", 100 * (size_t)made->driver.driver.vertex_count);
}

/* ---- input meshes ---- */

static ex_result round_positions(exi_drive_plan *made, const ex_mesh *mesh, const char *which, float **positions,
                                 ex_error *error) {
    const size_t count = 3 * (size_t)mesh->vertex_count;
    float *rounded = exi_arena_allocate(&made->arena, count, sizeof *rounded);
    if (!rounded)
        return no_memory(made, error);
    for (size_t i = 0; i < count; i++) {
        rounded[i] = (float)mesh->positions[i];
        if (!isfinite(rounded[i]) || fabsf(rounded[i]) > 1e18F)
            return ex_error_set(error, EX_ERROR_DATA, "vertex %zu of the %s is not finite, or too far away", i / 3,
                                which);
    }
    *positions = rounded;
    return EX_OK;
}

static ex_result take_triangles(exi_drive_plan *made, const ex_mesh *driver, ex_error *error) {
    int *corners = NULL, count = 0;
    ex_result result = exi_mesh_check_faces(driver, error);
    if (result == EX_OK)
        result = ex_mesh_triangulate(driver, &corners, &count, error);
    if (result != EX_OK)
        return ex_error_within(error, result, "driver");
    uint32_t *triangles = exi_arena_allocate(&made->arena, 3 * (size_t)count, sizeof *triangles);
    for (size_t i = 0; triangles && i < 3 * (size_t)count; i++)
        triangles[i] = (uint32_t)driver->corners[corners[i]];
    free(corners);
    made->driver.triangles = triangles;
    made->driver.triangle_count = count;
    return triangles ? EX_OK : no_memory(made, error);
}

static ex_result check_lists(const exi_drive_plan *made, const ex_drive_options *o, ex_error *error) {
    double sum = 0;
    for (int v = 0; o->driver_weights && v < made->graph.vertex_count; v++) {
        if (!(o->driver_weights[v] >= 0) || !isfinite(o->driver_weights[v]))
            return ex_error_set(error, EX_ERROR_DATA,
                                "the weight of the driver's vertex %d is %g, which is not 0 or more", v,
                                (double)o->driver_weights[v]);
        sum += exi_drive_plan_importance(made, o, v);
    }
    if (o->driver_weights && !(sum > 0))
        return ex_error_set(error, EX_ERROR_DATA, "the weights are 0 at every vertex of the driver");
    for (int b = 0; b < o->bind_count; b++) {
        const ex_bind *bind = &o->binds[b];
        if (bind->triangle_count < 1 || !bind->triangles)
            return ex_error_set(error, EX_ERROR_DATA, "bind %d has no triangles", b);
        for (int t = 0; t < bind->triangle_count; t++)
            if (bind->triangles[t] >= (uint32_t)made->driver.triangle_count)
                return ex_error_set(error, EX_ERROR_DATA, "bind %d: refers to triangle %u, but the driver has %d", b,
                                    (unsigned)bind->triangles[t], made->driver.triangle_count);
    }
    for (int v = 0; o->bind_count > 0 && v < made->driven_count; v++)
        if (o->vertex_binds[v] > o->bind_count)
            return ex_error_set(error, EX_ERROR_DATA, "driven vertex %d is in bind %d of %d", v,
                                (int)o->vertex_binds[v], o->bind_count);
    return EX_OK;
}

static ex_result open(exi_drive_plan *made, const ex_mesh *driver, const ex_mesh *driven, const ex_drive_options *o,
                      float **driven_positions, ex_error *error) {
    const size_t count = (size_t)driver->vertex_count;
    float *reference = NULL;
    ex_result result = round_positions(made, driver, "driver", &reference, error);
    if (result == EX_OK)
        result = round_positions(made, driven, "driven mesh", driven_positions, error);
    if (result == EX_OK)
        result = take_triangles(made, driver, error);
    if (result == EX_OK)
        result = ex_error_within(error, exi_mesh_check_faces(driven, error), "driven mesh");
    if (result != EX_OK)
        return result;
    made->driver.driver.reference = reference;
    made->order = exi_arena_allocate(&made->arena, count, sizeof *made->order);
    made->room = exi_arena_allocate(&made->arena, count, sizeof *made->room);
    made->room_two = exi_arena_allocate(&made->arena, count, sizeof *made->room_two);
    if (!made->order || !made->room || !made->room_two ||
        !exi_graph_open(&made->graph, &made->arena, reference, driver->vertex_count, made->driver.triangles,
                        made->driver.triangle_count) ||
        !exi_graph_order(&made->graph, made->order))
        return no_memory(made, error);
    double area = 0;
    for (size_t v = 0; v < count; v++)
        area += made->graph.areas[v];
    return area > 0 ? check_lists(made, o, error)
                    : ex_error_set(error, EX_ERROR_DATA, "the driver has no faces, or none with an area");
}

/* ---- frames of parts ---- */

static ex_result spread(exi_drive_plan *made, const ex_mesh *driven, const float *positions, const ex_drive_options *o,
                        exi_nodes *nodes, ex_error *error) {
    made->feet = exi_arena_allocate(&made->arena, (size_t)made->driven_count, sizeof *made->feet);
    if (!made->feet)
        return no_memory(made, error);
    ex_result result = exi_nodes_feet(&made->graph, o, positions, made->driven_count, made->feet, error);
    if (result == EX_OK &&
        !exi_nodes_spread(&made->graph, made->feet, made->driven_count, exi_drive_frame_count(o), &made->arena, nodes))
        result = no_memory(made, error);
    if (result == EX_OK) {
        made->spacing = nodes->spacing;
        result = exi_drive_plan_fit_nodes(made, nodes, o, error);
    }
    return result == EX_OK ? exi_drive_plan_carry(made, nodes, driven, positions, o, error) : result;
}

static void settle(exi_drive_plan *made, const ex_drive_options *o) {
    const bool one = exi_drive_frame_count(o) == 0;
    made->driver.residual = o->residual != EX_RESIDUAL_COUNT ? o->residual : one ? EX_RESIDUAL_KEYS : EX_RESIDUAL_NONE;
    made->driver.push = o->push;
    made->driver.thickness = (float)o->thickness;
    made->driver.bind_count = o->bind_count;
    made->driver.binds = o->bind_count > 0 ? o->binds : NULL;
    made->driver.vertex_binds = o->bind_count > 0 ? o->vertex_binds : NULL;
}

static ex_result make(exi_drive_plan *made, const ex_mesh *driver, const ex_mesh *driven, const ex_drive_options *o,
                      ex_error *error) {
    const int frames = exi_drive_frame_count(o);
    const bool whole_view = o->region_count == 0 && (frames == 0 || o->one_region);
    float *positions = NULL;
    exi_nodes nodes = {0};
    ex_result result = open(made, driver, driven, o, &positions, error);
    if (result == EX_OK && !exi_drive_plan_reserve(made, frames))
        result = no_memory(made, error);
    if (result == EX_OK && frames > 0)
        result = spread(made, driven, positions, o, &nodes, error);
    if (result == EX_OK && (frames == 0 || whole_view))
        result = exi_drive_plan_fit_whole(made, driver, o, error);
    if (result != EX_OK)
        return result;
    settle(made, o);
    if (o->region_count > 0)
        return exi_drive_plan_look_regions(made, frames > 0 ? &nodes : NULL, o, error);
    return whole_view ? exi_drive_plan_look_whole(made, made->driver.driver.frame_count - 1, o, error)
                      : exi_drive_plan_look_nodes(made, &nodes, o, error);
}

/* Rounds the mesh as the rig will hold it, so that quads are cut and areas measured as after unpacking. */
static ex_result round_mesh(exi_drive_plan *made, const ex_mesh *mesh, ex_mesh *rounded, ex_error *error) {
    const size_t count = 3 * (size_t)mesh->vertex_count;
    *rounded = *mesh;
    rounded->positions = exi_arena_allocate(&made->arena, count, sizeof *rounded->positions);
    for (size_t i = 0; rounded->positions && i < count; i++)
        rounded->positions[i] = (double)(float)mesh->positions[i];
    return rounded->positions ? EX_OK : no_memory(made, error);
}

ex_result exi_drive_plan_make(const ex_mesh *driver, const ex_mesh *driven, const ex_drive_options *o, int joint_count,
                              exi_drive_plan *made, ex_error *error) {
    *made = (exi_drive_plan){.driver = {.driver = {.vertex_count = driver->vertex_count}},
                             .driven_count = driven->vertex_count};
    ex_result result = exi_drive_options_check(o, error);
    if (result != EX_OK)
        return result;
    if (driver->vertex_count < 1 || driven->vertex_count < 1)
        return ex_error_set(error, EX_ERROR_DATA, "the %s has no vertices",
                            driver->vertex_count < 1 ? "driver" : "driven mesh");
    if (o->frame == EX_WHOLE_FRAME_JOINT && (o->frame_joint < 0 || o->frame_joint >= joint_count))
        return joint_count > 0 ? ex_error_set(error, EX_ERROR_ARGUMENT,
                                              "the driver's frame follows joint %d, but the skeleton has %d joints",
                                              o->frame_joint, joint_count)
                               : ex_error_set(error, EX_ERROR_ARGUMENT,
                                              "the driver's frame follows a joint, but there is no skeleton");
    ex_mesh driver_rounded, driven_rounded;
    result = round_mesh(made, driver, &driver_rounded, error);
    if (result == EX_OK)
        result = round_mesh(made, driven, &driven_rounded, error);
    return result == EX_OK ? make(made, &driver_rounded, &driven_rounded, o, error) : result;
}

void exi_drive_plan_free(exi_drive_plan *made) {
    exi_arena_free(&made->arena);
    *made = (exi_drive_plan){0};
}
