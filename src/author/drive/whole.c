/*
 * Forms of a driver compared as section 2.7 of DrivenShape does it: in the moving frame of the whole, so that where the
 * driver stands and which way it faces does not count.
 */
#include "author/drive/references.h"

#include "author/formats/array.h"
#include "author/project/project.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ex_result exi_whole_create(const ex_mesh *driver, const ex_drive_options *options, ex_driver **whole, ex_error *error) {
    const size_t n = (size_t)driver->vertex_count;
    float *reference = exi_array_allocate(n, 3 * sizeof *reference), *weights = exi_array_allocate(n, sizeof *weights);
    uint32_t *vertices = exi_array_allocate(n, sizeof *vertices), starts[2] = {0, 0};
    ex_result result = reference && weights && vertices ? EX_OK : exi_error_memory(error, "the moving frame", 20 * n);
    if (result == EX_OK) {
        for (size_t i = 0; i < 3 * n; i++)
            reference[i] = (float)driver->positions[i];
        const bool fitted = options->frame == EX_WHOLE_FRAME_FIT;
        for (size_t v = 0; v < n; v++)
            weights[v] = fitted && !options->frame_group ? 1.0F : 0.0F;
        if (fitted && options->frame_group) {
            result = exi_mask_from_group(driver, options->frame_group, weights, error);
            result = exi_error_within(error, result, "the moving frame");
        }
    }
    if (result == EX_OK) {
        for (size_t v = 0; v < n; v++)
            if (weights[v] > 0) {
                weights[starts[1]] = weights[v];
                vertices[starts[1]++] = (uint32_t)v;
            }
        const ex_driver_def def = {.vertex_count = driver->vertex_count,
                                   .reference = reference,
                                   .frame_count = 1,
                                   .starts = starts,
                                   .vertices = vertices,
                                   .weights = weights};
        result = ex_driver_create(&def, NULL, whole, error);
    }
    free(reference);
    free(weights);
    free(vertices);
    return result;
}

void exi_whole_back(const float m[12], const float *form, int count, float *out) {
    for (int v = 0; v < count; v++, form += 3, out += 3) {
        const float d[3] = {form[0] - m[3], form[1] - m[7], form[2] - m[11]};
        for (int c = 0; c < 3; c++)
            out[c] = m[c] * d[0] + m[4 + c] * d[1] + m[8 + c] * d[2];
    }
}

void exi_whole_move(const float m[12], const float *form, int count, float *out) {
    for (int v = 0; v < count; v++, form += 3, out += 3) {
        const float x[3] = {form[0], form[1], form[2]};
        for (int c = 0; c < 3; c++)
            out[c] = m[4 * c] * x[0] + m[4 * c + 1] * x[1] + m[4 * c + 2] * x[2] + m[4 * c + 3];
    }
}

double exi_form_squares(const float *a, const float *b, const float *weights, int count) {
    double sum = 0;
    for (int v = 0; v < count; v++, a += 3, b += 3) {
        const float d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        const double square = (double)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        sum += weights ? (double)weights[v] * square : square;
    }
    return sum;
}

double exi_form_mean(const float *a, const float *b, int count) {
    double sum = 0;
    for (int v = 0; v < count; v++, a += 3, b += 3) {
        const float d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
        sum += sqrt((double)(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    return count > 0 ? sum / count : 0;
}
