/* cli/scan/scan_picture.c - draws scans with the markers found on them, for exemplar scan markers. */
#include "scan.h"

#include "cli/base/files.h"

#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 4, WIDTH = 420, HEIGHT = 640, STEPS = 24 };

static const double pi = 3.14159265358979323846;

/* Makes rings around the markers that face a camera at this yaw, slightly in front: white outside, the marker's colour
 * inside. NULL if out of memory. */
static ex_mesh *make_rings(const ex_found_marker *markers, int count, double yaw) {
    const double right[3] = {cos(yaw), 0, -sin(yaw)}, back[3] = {sin(yaw), 0, cos(yaw)};
    const size_t rim = 3 * (size_t)STEPS;
    ex_mesh *mesh = ex_mesh_create();
    if (!mesh)
        return NULL;
    mesh->positions = array_allocate((size_t)count * rim, 3 * sizeof *mesh->positions);
    mesh->colours = array_allocate((size_t)count * rim, 3 * sizeof *mesh->colours);
    mesh->face_offsets = array_allocate((size_t)count * 2 * STEPS + 1, sizeof *mesh->face_offsets);
    mesh->corners = array_allocate((size_t)count * 8 * STEPS, sizeof *mesh->corners);
    if (!mesh->positions || !mesh->colours || !mesh->face_offsets || !mesh->corners) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    for (int m = 0; m < count; m++)
        for (int i = 0; i < STEPS; i++)
            for (int k = 0; k < 3; k++) {
                const double radius = markers[m].size * (0.75 + 0.2 * k), angle = 2 * pi * i / STEPS;
                double *p = mesh->positions + 3 * (size_t)mesh->vertex_count;
                float *c = mesh->colours + 3 * (size_t)mesh->vertex_count++;
                for (int d = 0; d < 3; d++) {
                    p[d] = markers[m].position[d] + radius * cos(angle) * right[d] + markers[m].size * back[d];
                    c[d] = k == 2 ? 1 : (float)(markers[m].colour[d] / 255);
                }
                p[1] += radius * sin(angle);
            }
    mesh->face_offsets[0] = 0;
    for (int m = 0; m < count; m++)
        for (int i = 0; i < STEPS; i++)
            for (int k = 0; k < 2; k++) {
                const int here = 3 * (m * STEPS + i) + k, next = 3 * (m * STEPS + (i + 1) % STEPS) + k;
                const int quad[4] = {here, here + 1, next + 1, next};
                memcpy(mesh->corners + mesh->corner_count, quad, sizeof quad);
                mesh->corner_count += 4;
                mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
            }
    return mesh;
}

static void paste(ex_image *whole, const ex_image *part, int x) {
    for (int row = 0; row < part->height; row++)
        memcpy(whole->pixels + 4 * ((size_t)row * (size_t)whole->width + (size_t)x),
               part->pixels + 4 * (size_t)row * (size_t)part->width, 4 * (size_t)part->width);
}

/* Draws one side into its place in the picture. */
static ex_result draw_side(ex_mesh *const *meshes, int mesh_count, const ex_found_marker *markers, int count, int side,
                           const ex_tasks *tasks, ex_image *whole, ex_error *error) {
    const double yaw = side * 360.0 / SIDES;
    ex_mesh *rings = make_rings(markers, count, yaw * pi / 180);
    ex_render_item *items = array_allocate((size_t)mesh_count + 1, sizeof *items);
    ex_image *image = NULL;
    ex_result result = rings && items ? EX_OK : EX_ERROR_MEMORY;
    if (result != EX_OK)
        *error = (ex_error){.result = result, .text = "not enough memory for a picture"};
    for (int i = 0; result == EX_OK && i <= mesh_count; i++) {
        items[i] = ex_render_item_default();
        items[i].mesh = i < mesh_count ? meshes[i] : rings;
        items[i].vertex_colours = true;
    }
    if (result == EX_OK) {
        ex_render_def def = ex_render_def_default();
        def.width = WIDTH;
        def.height = HEIGHT;
        def.items = items;
        def.item_count = mesh_count + (count > 0);
        def.camera = (ex_camera){.yaw = yaw, .zoom = 1, .all_around = true};
        def.ground = false;
        def.occlusion = 0;
        def.samples = 4;
        def.smooth = true;
        def.tasks = tasks;
        result = ex_render(&def, &image, error);
    }
    if (result == EX_OK)
        paste(whole, image, side * WIDTH);
    ex_image_destroy(image);
    ex_mesh_destroy(rings);
    free(items);
    return result;
}

ex_result exi_scan_draw_found(const ex_scan_session *session, int scan, const ex_found_marker *markers, int count,
                              const char *folder, const ex_tasks *tasks, ex_error *error) {
    const ex_scan_entry *entry = &session->scans[scan];
    ex_mesh **meshes = NULL;
    char *path = exi_path_inside(folder, entry->name, ".png");
    ex_image *whole = ex_image_create(SIDES * WIDTH, HEIGHT);
    ex_result result = path && whole ? ex_scan_meshes(session, scan, &meshes, error) : EX_ERROR_MEMORY;
    if (!path || !whole)
        *error = (ex_error){.result = EX_ERROR_MEMORY, .text = "not enough memory for a picture"};
    for (int side = 0; side < SIDES && result == EX_OK; side++)
        result = draw_side(meshes, entry->file_count, markers, count, side, tasks, whole, error);
    if (result == EX_OK)
        result = ex_image_write(path, whole, error);
    for (int i = 0; meshes && i < entry->file_count; i++)
        ex_mesh_destroy(meshes[i]);
    free(meshes);
    free(path);
    ex_image_destroy(whole);
    return result;
}
