/*
 * Compares forms of a driver as in section 2.7 of DrivenShape: in the moving frame of the whole, so that the driver's
 * position and orientation do not count.
 */
#include "author/drive/learn/references.h"
#include "author/mesh/groups.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vertex areas: a third of the triangles around each vertex; faces are cut as a fan from their first corner. */
static void find_areas(const ex_mesh *mesh, float *areas) {
    for (int f = 0; f < mesh->face_count; f++)
        for (int c = mesh->face_offsets[f] + 1; c + 1 < mesh->face_offsets[f + 1]; c++) {
            const int corners[3] = {mesh->corners[mesh->face_offsets[f]], mesh->corners[c], mesh->corners[c + 1]};
            const double *p = mesh->positions + 3 * (size_t)corners[0];
            double u[3], v[3];
            for (int i = 0; i < 3; i++) {
                u[i] = mesh->positions[3 * (size_t)corners[1] + (size_t)i] - p[i];
                v[i] = mesh->positions[3 * (size_t)corners[2] + (size_t)i] - p[i];
            }
            const double n[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
            for (int i = 0; i < 3; i++)
                areas[corners[i]] += (float)(sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 6);
        }
}

/* Scales weights to a sum of 1; if all are 0, makes them equal. */
static void scale(float *weights, size_t count) {
    double sum = 0;
    for (size_t v = 0; v < count; v++)
        sum += (double)weights[v];
    for (size_t v = 0; v < count; v++)
        weights[v] = (float)(sum > 0 ? (double)weights[v] / sum : 1 / (double)count);
}

/* Finds the vertices that the frame is fitted to; none if it stays. */
static ex_result fit(exi_whole *whole, const ex_mesh *driver, const ex_drive_options *options, float *reference,
                     uint32_t *vertices, float *weights, ex_error *error) {
    const size_t n = (size_t)driver->vertex_count;
    uint32_t starts[2] = {0, 0};
    for (size_t i = 0; i < 3 * n; i++)
        reference[i] = (float)driver->positions[i];
    for (size_t v = 0; v < n; v++)
        weights[v] = options->frame_group ? 0.0F : 1.0F;
    if (options->frame == EX_WHOLE_FRAME_FIT && options->frame_group) {
        const ex_result result = ex_mask_from_group(driver, options->frame_group, weights, error);
        if (result != EX_OK)
            return ex_error_within(error, result, "the moving frame");
    }
    for (size_t v = 0; options->frame == EX_WHOLE_FRAME_FIT && v < n; v++)
        if (weights[v] * whole->weights[v] > 0) {
            weights[starts[1]] = weights[v] * whole->weights[v];
            vertices[starts[1]++] = (uint32_t)v;
        }
    const ex_driver_def def = {.vertex_count = driver->vertex_count,
                               .reference = reference,
                               .frame_count = 1,
                               .starts = starts,
                               .vertices = vertices,
                               .weights = weights};
    return ex_driver_create(&def, NULL, &whole->driver, error);
}

ex_result exi_whole_open(exi_whole *whole, const ex_mesh *driver, const ex_drive_options *options, ex_error *error) {
    const size_t n = (size_t)driver->vertex_count;
    *whole = (exi_whole){.weights = calloc(n, sizeof *whole->weights)};
    float *reference = exi_array_allocate(n, 3 * sizeof *reference), *weights = exi_array_allocate(n, sizeof *weights);
    uint32_t *vertices = exi_array_allocate(n, sizeof *vertices);
    ex_result result =
        reference && weights && vertices && whole->weights ? EX_OK : ex_error_memory(error, "the moving frame", 24 * n);
    if (result == EX_OK) {
        find_areas(driver, whole->weights);
        scale(whole->weights, n);
        result = fit(whole, driver, options, reference, vertices, weights, error);
    }
    for (size_t v = 0; result == EX_OK && options->driver_weights && v < n; v++)
        whole->weights[v] *= options->driver_weights[v];
    if (result == EX_OK)
        scale(whole->weights, n);
    free(reference);
    free(weights);
    free(vertices);
    return result;
}

void exi_whole_close(exi_whole *whole) {
    ex_driver_destroy(whole->driver);
    free(whole->weights);
}

ex_result ex_drive_whole(const ex_mesh *driver, const ex_drive_options *options, ex_driver **whole, ex_error *error) {
    exi_whole made;
    const ex_result result = exi_whole_open(&made, driver, options, error);
    *whole = made.driver;
    free(made.weights);
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
        sum += (double)weights[v] * square;
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
