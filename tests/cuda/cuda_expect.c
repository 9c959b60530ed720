/*
 * What the runtime gives for some poses, and how sure its normals are; see cuda_compare.h.
 *
 * A position that is off by d turns the sum of the area vectors of a vertex's faces by at most d/2 times the sum of
 * their outlines, and the cross product of two tangents by d times the sums of their weights times each other's length.
 * Over the length of the sum that is an angle; d is four roundings of the largest coordinate.
 */
#include "cuda/cuda_compare.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rounding = 4 * 5.9604644775390625e-08; /* four times 2^-24 */

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

static double length(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* Of normals from faces. areas and outlines: [vertices] of three and of one. */
static void allow_faces(const ex_rig_mesh *mesh, const float *positions, double most, double (*areas)[3],
                        double *outlines, float *allowances) {
    const uint32_t *corners = mesh->corners;
    memset(areas, 0, (size_t)mesh->vertex_count * sizeof *areas);
    memset(outlines, 0, (size_t)mesh->vertex_count * sizeof *outlines);
    for (int f = 0; f < mesh->face_count; corners += mesh->face_sizes[f++]) {
        const uint32_t count = mesh->face_sizes[f];
        double area[3] = {0}, outline = 0;
        for (uint32_t i = 0; i < count; i++) {
            double from[3], to[3], edge[3], part[3];
            for (int c = 0; c < 3; c++) {
                const uint32_t s[3] = {corners[0], corners[i], corners[(i + 1) % count]};
                double p[3];
                for (int k = 0; k < 3; k++)
                    p[k] = (double)positions[3 * (mesh->split_source ? mesh->split_source[s[k]] : s[k]) + (size_t)c];
                from[c] = p[1] - p[0];
                to[c] = p[2] - p[0];
                edge[c] = p[2] - p[1];
            }
            cross(from, to, part);
            for (int c = 0; c < 3; c++)
                area[c] += part[c] / 2;
            outline += length(edge);
        }
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t v = mesh->split_source ? mesh->split_source[corners[i]] : corners[i];
            for (int c = 0; c < 3; c++)
                areas[v][c] += area[c];
            outlines[v] += outline;
        }
    }
    for (int v = 0; v < mesh->vertex_count; v++)
        allowances[v] = outlines[v] == 0 ? 0 : (float)(rounding * most * outlines[v] / 2 / (length(areas[v]) + 1e-30));
}

/* Of normals from the limit's tangents, of a cage. */
static void allow_tangents(const ex_stencils *stencils, int level, const float *cage, double most, float *allowances) {
    const size_t rows = (size_t)ex_stencils_vertex_count(stencils, level),
                 count = (size_t)ex_stencils_weight_count(stencils, level);
    int *offsets = must_allocate(rows + 1, sizeof *offsets), *indices = must_allocate(count, sizeof *indices);
    double *weights = must_allocate(count, sizeof *weights), *tangents = must_allocate(2 * count, sizeof *tangents);
    ex_stencils_read(stencils, level, offsets, indices, weights, tangents);
    for (size_t v = 0; v < rows; v++) {
        double t[2][3] = {{0}}, sums[2] = {0}, normal[3];
        for (int i = offsets[v]; i < offsets[v + 1]; i++)
            for (int k = 0; k < 2; k++) {
                sums[k] += fabs(tangents[2 * i + k]);
                for (int c = 0; c < 3; c++)
                    t[k][c] += tangents[2 * i + k] * (double)cage[3 * indices[i] + c];
            }
        cross(t[0], t[1], normal);
        const double turned = rounding * most * (sums[0] * length(t[1]) + sums[1] * length(t[0]));
        allowances[v] = sums[0] == 0 ? 0 : (float)(turned / (length(normal) + 1e-30));
    }
    free(offsets);
    free(indices);
    free(weights);
    free(tangents);
}

/* Whether a layer that takes part displaces the surface. */
static bool is_displaced(const ex_rig *rig, const setting *way) {
    bool displaced = false;
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        displaced |= ex_rig_layer_domain(rig, l) == EX_DOMAIN_DISPLACEMENT &&
                     !(way->muted ? way->muted[l] : ex_rig_layer_muted(rig, l));
    return displaced;
}

static void measure(const float *positions, int count, float box[6]) {
    for (int c = 0; c < 3; c++) {
        box[c] = FLT_MAX;
        box[3 + c] = -FLT_MAX;
    }
    for (int i = 0; i < 3 * count; i++) {
        const float p = positions[i];
        box[i % 3] = p < box[i % 3] ? p : box[i % 3];
        box[3 + i % 3] = p > box[3 + i % 3] ? p : box[3 + i % 3];
    }
}

void expect(const ex_rig *rig, const pose_set *poses, const setting *way, expected *made) {
    const ex_rig_mesh mesh = way->level == 0 ? ex_rig_get_mesh(rig) : ex_rig_level_mesh(rig, way->level);
    const size_t vertices = (size_t)ex_rig_level_vertex_count(rig, way->level),
                 entries = way->split ? (size_t)mesh.split_count : vertices, count = (size_t)poses->count,
                 examples = (size_t)ex_rig_example_count(rig);
    const ex_stencils *stencils = ex_rig_stencils(rig);
    const bool on_limit =
        way->level != 0 && ex_stencils_has_tangents(stencils, way->level) && !(is_displaced(rig, way));
    *made = (expected){.count = poses->count, .entries = (int)entries, .examples = (int)examples, .size = 1};
    made->has_normals = mesh.face_count > 0 || on_limit;
    made->positions = must_allocate(count * entries, 12);
    made->normals = must_allocate(count * entries, 12);
    made->allowances = must_allocate(count * entries, 4);
    made->boxes = must_allocate(count, 24);
    made->weights = must_allocate(count * examples, sizeof(double));
    ex_evaluation how = {
        .level = way->level, .unskinned = way->unskinned, .muted = way->muted, .weighers = way->weighers};
    ex_evaluation at_cage = how;
    at_cage.level = 0;
    float *positions = must_allocate(vertices, 12), *normals = must_allocate(vertices, 12),
          *allowances = must_allocate(vertices, 4), *cage = must_allocate((size_t)ex_rig_vertex_count(rig), 12);
    double(*areas)[3] = must_allocate(vertices, sizeof *areas), *outlines = must_allocate(vertices, sizeof *outlines);
    void *scratch = must_allocate(ex_rig_scratch_size(rig, &how, 1) + ex_rig_scratch_size(rig, &at_cage, 1), 1);
    for (size_t i = 0; i < count; i++) {
        const ex_output output = {.positions = positions,
                                  .normals = made->has_normals ? normals : NULL,
                                  .weights = made->weights + i * examples};
        float *box = made->boxes + 6 * i;
        ex_rig_evaluate(rig, &poses->poses[i], &output, &how, scratch);
        measure(positions, (int)vertices, box);
        double most = 0;
        for (int c = 0; c < 3; c++) {
            made->size = fmax(made->size, (double)box[3 + c] - (double)box[c]);
            most = fmax(most, fmax(fabs((double)box[c]), fabs((double)box[3 + c])));
        }
        if (on_limit) {
            ex_rig_evaluate(rig, &poses->poses[i], &(ex_output){.positions = cage}, &at_cage, scratch);
            allow_tangents(stencils, way->level, cage, most, allowances);
        } else if (made->has_normals) {
            allow_faces(&mesh, positions, most, areas, outlines, allowances);
        }
        for (size_t v = 0; v < entries; v++) {
            const size_t from = way->split && mesh.split_source ? mesh.split_source[v] : v, to = i * entries + v;
            memcpy(made->positions + 3 * to, positions + 3 * from, 12);
            memcpy(made->normals + 3 * to, normals + 3 * from, 12);
            made->allowances[to] = allowances[from];
        }
    }
    free(positions);
    free(normals);
    free(allowances);
    free(cage);
    free(areas);
    free(outlines);
    free(scratch);
}

void free_expected(expected *e) {
    free(e->positions);
    free(e->normals);
    free(e->allowances);
    free(e->boxes);
    free(e->weights);
    *e = (expected){0};
}
