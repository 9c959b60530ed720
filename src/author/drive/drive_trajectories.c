/*
 * Keys blended along trajectories: driver and driven mesh are joined into one mesh, so that both take the same paths (a
 * residual between a driver on straight lines and clothes on arcs would mean nothing). The paths start from both meshes
 * at rest, which is no key, and weights sum to 1: so every key is reached where its weight is 1, and no key is a
 * reference that the others would start from.
 */
#include "author/drive/drive_build.h"
#include "runtime/base/result.h"

#include <stdlib.h>

static ex_result no_memory(int vertex_count, ex_error *error) {
    return ex_error_memory(error, "the trajectories", 48 * (size_t)vertex_count);
}

/* Triangles of the driven mesh, then those of the driver, whose vertices follow the driven ones. */
static int *join_triangles(exi_drive_building *b, int *count, ex_result *result, ex_error *error) {
    const ex_rig_driver *driver = &b->driving.driver;
    int *corners = NULL, driven_count = 0;
    *result = ex_mesh_triangulate(b->driven, &corners, &driven_count, error);
    if (*result != EX_OK)
        return NULL;
    *count = driven_count + driver->triangle_count;
    int *triangles = exi_arena_allocate(&b->arena, 3 * (size_t)*count, sizeof *triangles);
    for (size_t i = 0; triangles && i < 3 * (size_t)driven_count; i++)
        triangles[i] = b->driven->corners[corners[i]];
    for (size_t i = 0; triangles && i < 3 * (size_t)driver->triangle_count; i++)
        triangles[3 * (size_t)driven_count + i] = b->driven->vertex_count + (int)driver->triangles[i];
    free(corners);
    if (!triangles)
        *result = no_memory(*count, error);
    return triangles;
}

ex_result exi_drive_build_trajectories(exi_drive_building *b, ex_error *error) {
    const ex_drive_def *def = b->def;
    const size_t driven = 3 * (size_t)b->driven->vertex_count, driver = 3 * (size_t)def->driver->vertex_count;
    ex_trajectories_def paths = {.vertex_count = b->driven->vertex_count + def->driver->vertex_count,
                                 .example_count = def->key_count,
                                 .names = b->names,
                                 .options = ex_trajectory_options_default()};
    ex_result result = EX_OK;
    paths.triangles = join_triangles(b, &paths.triangle_count, &result, error);
    double *reference = exi_arena_allocate(&b->arena, driven + driver, sizeof *reference);
    if (result == EX_OK && !reference)
        result = no_memory(paths.vertex_count, error);
    if (result != EX_OK)
        return result;
    for (size_t i = 0; i < driven + driver; i++)
        reference[i] = (double)b->carrier.rest[i];
    /* The forms that the rig will hold, mesh + difference, so that the paths end exactly there. */
    for (int k = 0; k < def->key_count; k++)
        for (size_t i = 0; i < driven; i++)
            b->unposed[k][i] = reference[i] + (double)b->deltas[k][i];
    paths.reference = reference;
    paths.examples = (const double *const *)b->unposed;
    result = ex_trajectories_create(&paths, &b->paths, error);
    if (result != EX_OK)
        return result;
    b->layer.domain = EX_DOMAIN_TRAJECTORY;
    b->layer.trajectory.examples = b->paths->trajectories;
    b->layer.trajectory.overlaps = b->paths->overlaps;
    b->layer.trajectory.segments = b->paths->segments;
    b->layer.trajectory.mixture = b->paths->mixture;
    for (int c = 0; c < 3; c++)
        b->layer.trajectory.centre[c] = b->paths->centre[c];
    return EX_OK;
}
