/*
 * Takes forms back to where the moving frames of their driver are at rest, T^-1 of DrivenShape, 2.7, with T blended
 * from the frames that carry a vertex (dual quaternions); and the inverse.
 */
#include "author/base/array.h"
#include "author/drive/drive.h"
#include "runtime/base/result.h"
#include "runtime/pose/frame_tree.h"

#include <stdlib.h>
#include <string.h>

static ex_result open_skin(exi_moving_frames *c, const ex_rig_driver *driver, ex_error *error) {
    const size_t rows = (size_t)c->driven_count + (size_t)c->driver_count;
    const ex_influences *carry = &driver->carry;
    const size_t entries = carry->starts ? carry->starts[rows] : rows;
    uint32_t *starts = exi_array_allocate(rows + 1, sizeof *starts), *joints = calloc(entries, sizeof *joints);
    float *weights = exi_array_allocate(entries, sizeof *weights);
    ex_result result = EX_OK;
    if (!starts || !joints || !weights)
        result = ex_error_memory(error, "the moving frames", 12 * entries);
    for (size_t v = 0; result == EX_OK && v <= rows; v++)
        starts[v] = carry->starts ? carry->starts[v] : (uint32_t)v;
    for (size_t i = 0; result == EX_OK && i < entries; i++) {
        joints[i] = carry->starts ? carry->places[i] : 0;
        weights[i] = carry->starts ? carry->weights[i] : 1;
    }
    if (result == EX_OK)
        result = ex_skin_create(&(ex_skin_def){.vertex_count = (int)rows,
                                               .joint_count = driver->driver.frame_count,
                                               .starts = starts,
                                               .joints = joints,
                                               .weights = weights},
                                NULL, &c->skin, error);
    free(starts);
    free(joints);
    free(weights);
    return result;
}

static ex_result open_links(exi_moving_frames *c, const ex_rig_driver *driver, ex_error *error) {
    const int frames = driver->driver.frame_count;
    const size_t room_size = exi_frame_tree_room(frames);
    void *room = malloc(room_size);
    c->links = exi_array_allocate((size_t)frames, sizeof *c->links);
    if (room && c->links)
        exi_frame_tree_make(&driver->carry, (size_t)c->driven_count + (size_t)c->driver_count, frames, c->links, room);
    free(room);
    return room && c->links ? EX_OK : ex_error_memory(error, "the moving frames", room_size);
}

ex_result exi_moving_frames_open(exi_moving_frames *c, const ex_rig_driver *driver, const float *driven,
                                 int driven_count, ex_error *error) {
    const size_t frames = (size_t)driver->driver.frame_count;
    *c = (exi_moving_frames){.driven_count = driven_count, .driver_count = driver->driver.vertex_count};
    const size_t rows = (size_t)c->driven_count + (size_t)c->driver_count;
    const size_t driven_numbers = 3 * (size_t)driven_count, driver_numbers = 3 * (size_t)c->driver_count;
    ex_result result = ex_driver_create(&driver->driver, NULL, &c->driver, error);
    if (result == EX_OK)
        result = open_skin(c, driver, error);
    if (result == EX_OK)
        result = open_links(c, driver, error);
    if (result != EX_OK)
        return result;
    const size_t palette = ex_palette_size(EX_SKINNING_DUAL_QUATERNION, (int)frames);
    c->matrices = exi_array_allocate(12 * frames, sizeof *c->matrices);
    c->memory = exi_array_allocate(palette, 1);
    c->posed = exi_array_allocate(3 * rows, sizeof *c->posed);
    c->rest = exi_array_allocate(3 * rows, sizeof *c->rest);
    c->unposed = exi_array_allocate(3 * rows, sizeof *c->unposed);
    if (!c->matrices || !c->memory || !c->posed || !c->rest || !c->unposed)
        return ex_error_memory(error, "the moving frames", palette + 48 * rows);
    memcpy(c->rest, driven, driven_numbers * sizeof *c->rest);
    memcpy(c->rest + driven_numbers, driver->driver.reference, driver_numbers * sizeof *c->rest);
    return EX_OK;
}

void exi_moving_frames_close(exi_moving_frames *c) {
    ex_driver_destroy(c->driver);
    ex_skin_destroy(c->skin);
    free(c->matrices);
    free(c->links);
    free(c->memory);
    free(c->posed);
    free(c->rest);
    free(c->unposed);
    *c = (exi_moving_frames){0};
}

void exi_moving_frames_place(exi_moving_frames *c, const float *driver, const float *matrices, const int *joints) {
    const int frames = ex_driver_frame_count(c->driver);
    ex_driver_place(c->driver, driver, c->matrices);
    for (int f = 0; matrices && joints && f < frames; f++)
        if (joints[f] >= 0)
            memcpy(c->matrices + 12 * (size_t)f, matrices + 12 * (size_t)f, 12 * sizeof *matrices);
    c->palette = ex_palette_make(
        &(ex_palette_def){.method = EX_SKINNING_DUAL_QUATERNION, .joint_count = frames, .matrices = c->matrices},
        c->memory);
    exi_frame_tree_follow(c->links, c->palette);
}

void exi_moving_frames_unpose(exi_moving_frames *c, const float *driven, const float *driver) {
    const size_t driven_numbers = 3 * (size_t)c->driven_count, driver_numbers = 3 * (size_t)c->driver_count;
    memcpy(c->posed, driven, driven_numbers * sizeof *c->posed);
    memcpy(c->posed + driven_numbers, driver, driver_numbers * sizeof *c->posed);
    ex_skin_unpose(c->skin, c->palette, &(ex_unpose_job){.posed = c->posed, .rest = c->rest, .out = c->unposed});
}

void exi_moving_frames_pose(const exi_moving_frames *c, const double *rest, float *form) {
    for (int v = 0; v < c->driven_count; v++) {
        const double *p = rest + 3 * (size_t)v;
        double m[12];
        ex_skin_vertex_matrix(c->skin, c->palette, v, m);
        for (int r = 0; r < 3; r++)
            form[3 * (size_t)v + (size_t)r] =
                (float)(m[4 * r] * p[0] + m[4 * r + 1] * p[1] + m[4 * r + 2] * p[2] + m[4 * r + 3]);
    }
}
