/*
 * The points of a layer's weigher in a definition: products of the driver's keys, over the regions that the layer sees,
 * and where the frames are in each key.
 */
#include "runtime/rig/drive/drive.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/driver.h"

#include <string.h>

ex_result exi_drive_place_frames(const ex_driver *driver, const int *frame_joints, const ex_skeleton *skeleton,
                                 const ex_transform *locals, const float *form, const ex_allocator *allocator,
                                 float *matrices, ex_error *error) {
    const size_t joints = (size_t)ex_skeleton_joint_count(skeleton);
    const size_t scratch = (ex_skeleton_scratch_size(skeleton) + 15) / 16 * 16, size = scratch + joints * 48;
    char *memory = exi_allocate(allocator, size);
    if (!memory)
        return ex_error_memory(error, "the driver", size);
    float *all = (float *)(void *)(memory + scratch);
    const ex_skeleton_input input = {.locals = locals};
    const ex_skeleton_output output = {.matrices = all};
    ex_skeleton_evaluate(skeleton, &input, &output, memory);
    ex_driver_place(driver, form, matrices);
    for (int f = 0; f < driver->frame_count; f++)
        if (frame_joints[f] >= 0)
            memcpy(matrices + 12 * (size_t)f, all + 12 * (size_t)frame_joints[f], 12 * sizeof(float));
    exi_release(allocator, memory, size);
    return EX_OK;
}

/* Computes the frames' motions in every key, if any frame follows a joint: [keys] of [frames][12] in memory of
 * *size. */
static ex_result place_keys_of(const ex_rig_def *def, const ex_layer_def *layer, const ex_driver *driver,
                               const ex_allocator *allocator, const float ***places, size_t *size, ex_error *error) {
    const size_t n = (size_t)layer->weigh.example_count, floats = 12 * (size_t)driver->frame_count;
    exi_size total = {.bytes = n * sizeof(float *)};
    size_t count = 0;
    if (!exi_multiply(n, floats, &count))
        total.overflow = true;
    const size_t at = exi_size_add(&total, count, sizeof(float), 16);
    *size = total.bytes;
    *places = total.overflow ? NULL : exi_allocate(allocator, *size);
    if (!*places)
        return ex_error_memory(error, "the driver", *size);
    ex_result result = EX_OK;
    for (size_t k = 0; result == EX_OK && k < n; k++) {
        float *matrices = (float *)(void *)((char *)*places + at) + k * floats;
        (*places)[k] = matrices;
        result = exi_drive_place_frames(driver, def->driver->joints, def->skeleton,
                                        layer->driven.joints ? layer->driven.joints[k] : NULL, layer->driven.keys[k],
                                        allocator, matrices, error);
    }
    return result;
}

static void sum_products(const ex_regions *seen, const ex_layer_def *from, double *points) {
    const size_t n = (size_t)from->weigh.example_count, scalars = (size_t)from->weigh.axis_count - 1;
    const size_t dimension = n + scalars, driver_at = from->weigh.axes[0].kind == EX_AXIS_DRIVER ? 0 : 1;
    const double *grams = exi_driver_at(seen, seen->grams);
    memset(points, 0, n * dimension * sizeof *points);
    for (size_t k = 0; k < n; k++) {
        for (size_t r = 0; r < (size_t)from->driven.view_count; r++)
            for (size_t i = 0; i < n; i++)
                points[k * dimension + driver_at + i] += grams[(r * n + k) * n + i];
        if (scalars > 0)
            points[k * dimension + (driver_at == 0 ? n : 0)] = from->weigh.points ? from->weigh.points[k] : 0;
    }
}

ex_result exi_drive_points(const ex_rig_def *def, int layer, const ex_allocator *allocator, double *points,
                           ex_error *error) {
    const ex_layer_def *from = &def->layers[layer];
    ex_driver *driver = NULL;
    ex_regions *seen = NULL;
    const float **places = NULL;
    size_t size = 0;
    ex_result result = ex_driver_create(&def->driver->driver, allocator, &driver, error);
    if (result == EX_OK && def->driver->joints && def->skeleton)
        result = place_keys_of(def, from, driver, allocator, &places, &size, error);
    const ex_regions_def views = {.driver = driver,
                                  .region_count = from->driven.view_count,
                                  .regions = from->driven.views,
                                  .key_count = from->weigh.example_count,
                                  .keys = from->driven.keys,
                                  .key_places = places};
    if (result == EX_OK)
        result = ex_regions_create(&views, allocator, &seen, error);
    if (result == EX_OK)
        sum_products(seen, from, points);
    ex_regions_destroy(seen);
    ex_driver_destroy(driver);
    exi_release(allocator, places, size);
    return result;
}
