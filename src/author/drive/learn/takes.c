/*
 * The used part of a cache: a range of its frames, their times, and their positions in the unit of the rig. With frames
 * counted from 0, frame i is at i / rate seconds, or where the cache has it. And what caches need of a rig.
 */
#include "author/drive/learn/references.h"

#include "author/base/names.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- rigs ---- */

/* Returns the layer that a driver weighs; -1: none. */
static int find_layer(const ex_rig *rig) {
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        if (ex_rig_layer_regions(rig, l, NULL, NULL) > 0 || ex_rig_layer_predictor(rig, l))
            return l;
    return -1;
}

/* Caches hold the driver's vertices but no joints. */
static ex_result check_joints(const ex_rig *rig, const ex_rig_driver *driver, ex_error *error) {
    exi_joint_text text;
    if (ex_rig_skin(rig))
        return ex_error_kind(
            error,
            ex_error_set(error, EX_ERROR_DATA,
                         "the rig is posed by its skeleton, but a cache does not hold the pose of joints"),
            "cache_without_joints");
    for (int f = 0; driver->joints && f < driver->driver.frame_count; f++)
        if (driver->joints[f] >= 0)
            return ex_error_kind(
                error,
                ex_error_set(error, EX_ERROR_DATA,
                             "the rig moves with joint '%s', but a cache does not hold the pose of joints",
                             exi_joint_name(ex_rig_skeleton(rig), driver->joints[f], &text)),
                "cache_without_joints");
    return EX_OK;
}

ex_result exi_take_check_rig(const ex_rig *rig, ex_rig_driver *driver, int *layer, ex_error *error) {
    *layer = find_layer(rig);
    if (!ex_rig_get_driver(rig, driver, NULL) || *layer < 0)
        return ex_error_kind(error, ex_error_set(error, EX_ERROR_DATA, "this rig does not follow a driver"),
                             "no_driver");
    return check_joints(rig, driver, error);
}

/* ---- frames ---- */

ex_result exi_take_check(const ex_cache_reader *reader, const char *path, int first, int count, double rate, int *used,
                         ex_error *error) {
    const int there = ex_cache_get_info(reader).frame_count;
    if (!(rate >= 0) || !isfinite(rate))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the rate of '%s' is %g frames per second: it must be above 0",
                            path, rate);
    if (first < 0 || count < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the range of '%s' begins at frame %d (counting from 0) and has %d frames: neither may be "
                            "negative",
                            path, first, count);
    if (first >= there || count > there - first)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "'%s' has frames 1 to %d: there is no frame %lld", path, there,
                            first >= there ? first + 1LL : (long long)first + count);
    *used = count > 0 ? count : there - first;
    return EX_OK;
}

ex_result exi_take_check_pair(const ex_cache_reader *driver, const char *driver_path, const ex_cache_reader *driven,
                              const char *driven_path, int first, int count, ex_error *error) {
    const int counts[2] = {ex_cache_get_info(driver).frame_count, ex_cache_get_info(driven).frame_count};
    if (ex_cache_number(driver, 0) < 0 || ex_cache_number(driven, 0) < 0)
        return EX_OK;
    for (int f = first; f - first < count; f++) {
        const int one = f < counts[0] ? ex_cache_number(driver, f) : INT_MAX;
        const int other = f < counts[1] ? ex_cache_number(driven, f) : INT_MAX;
        if (one != other)
            return ex_error_set(error, EX_ERROR_DATA,
                                "'%s' has no partner, because '%s' has no frame %d: give files that belong together "
                                "the same number, and move those without a partner to another folder",
                                ex_cache_path(one < other ? driver : driven, f),
                                one < other ? driven_path : driver_path, one < other ? one : other);
    }
    return EX_OK;
}

ex_result ex_drive_check_pair(const ex_cache_reader *driver, const char *driver_path, const ex_cache_reader *driven,
                              const char *driven_path, ex_error *error) {
    if (!driver || !driven || !driver_path || !driven_path)
        return exi_misuse_error(error, __func__, "no caches, or no paths");
    const int counts[2] = {ex_cache_get_info(driver).frame_count, ex_cache_get_info(driven).frame_count};
    return exi_take_check_pair(driver, driver_path, driven, driven_path, 0,
                               counts[0] > counts[1] ? counts[0] : counts[1], error);
}

ex_result exi_take_check_scale(double scale, const char *what, ex_error *error) {
    if (scale >= 0 && isfinite(scale))
        return EX_OK;
    return ex_error_set(error, EX_ERROR_ARGUMENT, "the scale of %s forms is %g: it must be above 0", what, scale);
}

double ex_drive_time(const ex_cache_reader *reader, int frame, double rate) {
    return rate > 0 ? frame / rate : ex_cache_time(reader, frame);
}

ex_result exi_take_read(ex_cache_reader *reader, const char *path, int frame, double scale, float *positions,
                        ex_error *error) {
    const ex_result result = ex_cache_read(reader, frame, positions, error);
    const size_t count = 3 * (size_t)ex_cache_get_info(reader).vertex_count;
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        const double x = scale > 0 ? scale * (double)positions[i] : (double)positions[i];
        if (!(fabs(x) < 1e18))
            return ex_error_set(error, EX_ERROR_DATA, "%s: in frame %d, vertex %zu (counting from 0) is too far away",
                                path, frame + 1, i / 3);
        positions[i] = (float)x;
    }
    return result;
}

ex_result ex_drive_read_frame(ex_cache_reader *reader, const char *path, int frame, float *positions, ex_error *error) {
    return exi_take_read(reader, path, frame, 1, positions, error);
}

/* Two forms on the parabola through three frames, p(-s) = 3 p(0) - 3 p(s) + p(2s) and p(-2s) = 6 p(0) - 8 p(s) +
 * 3 p(2s); s is about the predictor's step. */
ex_result exi_take_past(const exi_take *take, const ex_predictor *predictor, float *past, float *form, double *seconds,
                        ex_error *error) {
    static const float factors[2][3] = {{6, -8, 3}, {3, -3, 1}};
    *seconds = 0;
    if (take->count < 3)
        return EX_OK;
    ex_predictor_def def;
    ex_predictor_describe(predictor, NULL, &def);
    const double step =
        ex_drive_time(take->reader, take->first + 1, take->rate) - ex_drive_time(take->reader, take->first, take->rate);
    const double ratio = step > 0 ? def.step / step : INFINITY;
    if (!(2 * ratio + 2 < take->count))
        return EX_OK;
    const int apart = ratio > 1 ? (int)(ratio + 0.5) : 1;
    const size_t numbers = 3 * (size_t)ex_cache_get_info(take->reader).vertex_count;
    memset(past, 0, 2 * numbers * sizeof *past);
    for (int k = 0; k < 3; k++) {
        const int frame = take->first + k * apart;
        const ex_result result = exi_take_read(take->reader, take->path, frame, take->scale, form, error);
        if (result != EX_OK)
            return result;
        for (size_t i = 0; i < numbers; i++) {
            past[i] += factors[0][k] * form[i];
            past[numbers + i] += factors[1][k] * form[i];
        }
    }
    *seconds = apart * step;
    return EX_OK;
}
