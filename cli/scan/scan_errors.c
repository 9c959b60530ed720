/* cli/scan/scan_errors.c - draws a body coloured by its distance from a scan, for exemplar scan report and build. */
#include "scan.h"

#include "cli/base/files.h"

#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 520, HEIGHT = 760 };

/* Draws one side. */
static ex_result draw_side(const ex_mesh *mesh, const float *positions, const float *values, double most,
                           const char *label, double yaw, const ex_tasks *tasks, ex_image **image, ex_error *error) {
    ex_render_item item = ex_render_item_default();
    ex_render_def def = ex_render_def_default();
    item.mesh = mesh;
    item.positions = positions;
    item.scalar = (ex_render_scalar){.values = values, .min = 0, .max = most, .label = label, .unit = "mm"};
    def.width = WIDTH;
    def.height = HEIGHT;
    def.items = &item;
    def.item_count = 1;
    def.camera = (ex_camera){.yaw = yaw, .zoom = 1, .all_around = true};
    def.ground = false;
    def.occlusion = 4;
    def.samples = 4;
    def.smooth = true;
    def.legend = yaw > 0; /* one is enough */
    def.tasks = tasks;
    return ex_render(&def, image, error);
}

ex_result exi_scan_draw_errors(const ex_mesh *mesh, const float *positions, const float *distances, double most,
                               const char *label, const char *path, const ex_tasks *tasks, ex_error *error) {
    const size_t count = (size_t)mesh->vertex_count, row = 4 * (size_t)WIDTH;
    float *values = array_allocate(count, sizeof *values);
    ex_image *whole = ex_image_create(2 * WIDTH, HEIGHT);
    ex_result result = values && whole ? EX_OK : EX_ERROR_MEMORY;
    if (result != EX_OK)
        *error = (ex_error){.result = result, .text = "not enough memory for a picture"};
    for (size_t v = 0; result == EX_OK && v < count; v++)
        values[v] = 1000 * distances[v];
    for (int side = 0; side < 2 && result == EX_OK; side++) {
        ex_image *image = NULL;
        result = draw_side(mesh, positions, values, 1000 * most, label, 180.0 * side, tasks, &image, error);
        for (size_t y = 0; result == EX_OK && y < HEIGHT; y++)
            memcpy(whole->pixels + (2 * y + (size_t)side) * row, image->pixels + y * row, row);
        ex_image_destroy(image);
    }
    if (result == EX_OK)
        result = ex_image_write(path, whole, error);
    free(values);
    ex_image_destroy(whole);
    return result;
}

/* The top of the scale: 5 mm, 10 mm, 15 mm and so on, above the 95th percentiles of most scans. */
static double find_scale(const ex_left_outs *report) {
    double most = 0;
    for (int f = 0; f < report->form_count; f++)
        most = fmax(most, report->forms[f].high);
    return 0.005 * fmax(1, ceil(most / 0.005));
}

ex_result exi_scan_draw_report(const ex_scan_session *session, const ex_scan_body *body, const char *folder,
                               const ex_tasks *tasks, ex_error *error) {
    const ex_left_outs *report = body->left_outs ? body->left_outs : body->measured;
    const double most = find_scale(report);
    ex_result result = ex_make_directory(folder, error);
    for (int f = 0; f < report->form_count && result == EX_OK; f++) {
        const char *name = session->scans[body->scans[f]].name;
        const bool predicted = body->left_outs || f >= body->scan_count;
        char *path = exi_path_inside(folder, name, ".png"), label[200];
        snprintf(label, sizeof label, "%s: distance of %s from it", name,
                 predicted ? "the prediction" : "the rig in its own pose");
        result = path ? exi_scan_draw_errors(body->mesh, report->positions[f], report->distances[f], most, label, path,
                                             tasks, error)
                      : EX_ERROR_MEMORY;
        if (!path)
            *error = (ex_error){.result = result, .text = "not enough memory for a picture"};
        free(path);
    }
    return result;
}
