/*
 * Rigs with displaced surfaces; see displaced.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/displaced.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ex_mesh *make_grid(int width, int depth, bool bent) {
    ex_mesh *mesh = ex_mesh_create();
    assert_non_null(mesh);
    const int vertices = (width + 1) * (depth + 1), faces = width * depth;
    mesh->vertex_count = vertices;
    mesh->positions = calloc((size_t)vertices * 3, sizeof *mesh->positions);
    mesh->face_count = faces;
    mesh->corner_count = 4 * faces;
    free(mesh->face_offsets);
    mesh->face_offsets = calloc((size_t)faces + 1, sizeof *mesh->face_offsets);
    mesh->corners = calloc(4 * (size_t)faces, sizeof *mesh->corners);
    for (int v = 0; v < vertices; v++) {
        const double x = v % (width + 1), z = v / (width + 1);
        const double position[3] = {x, bent ? 0.3 * x * x - 0.2 * x * z + 0.5 * sin(z) : 0, z};
        memcpy(mesh->positions + 3 * v, position, sizeof position);
    }
    for (int f = 0; f < faces; f++) { /* against x, then along z: upwards */
        const int v = f / width * (width + 1) + f % width;
        const int corners[4] = {v, v + width + 1, v + width + 2, v + 1};
        memcpy(mesh->corners + 4 * f, corners, sizeof corners);
        mesh->face_offsets[f + 1] = 4 * (f + 1);
    }
    return mesh;
}

/* Faces in the layout of a rig; quads are split along one diagonal. */
static ex_rig_mesh make_faces(int vertex_count, int face_count, const int *offsets, const int *corners) {
    const size_t corner_count = (size_t)offsets[face_count];
    uint32_t *sizes = malloc((size_t)face_count * sizeof *sizes), *own = malloc(corner_count * sizeof *own);
    uint32_t *triangles = malloc(6 * (size_t)face_count * sizeof *triangles);
    assert_true(sizes && own && triangles);
    for (int f = 0; f < face_count; f++) {
        static const int cut[6] = {0, 1, 2, 0, 2, 3};
        sizes[f] = 4;
        for (int i = 0; i < 6; i++)
            triangles[6 * f + i] = (uint32_t)corners[offsets[f] + cut[i]];
    }
    for (size_t c = 0; c < corner_count; c++)
        own[c] = (uint32_t)corners[c];
    return (ex_rig_mesh){.vertex_count = vertex_count,
                         .split_count = vertex_count,
                         .face_count = face_count,
                         .corner_count = (int)corner_count,
                         .face_sizes = sizes,
                         .corners = own,
                         .triangle_count = 2 * face_count,
                         .triangles = triangles};
}

static void free_faces(const ex_rig_mesh *mesh) {
    free((void *)(uintptr_t)mesh->face_sizes);
    free((void *)(uintptr_t)mesh->corners);
    free((void *)(uintptr_t)mesh->triangles);
}

static void make_joints(displaced *d, int vertices, int width) {
    static const int parents[2] = {-1, 0};
    static const char *const names[2] = {"root", "tip"};
    ex_transform rest[2] = {ex_transform_identity(), ex_transform_identity()};
    rest[1].translation[0] = (float)width / 2;
    const ex_skeleton_def def = {.joint_count = 2, .parents = parents, .rest = rest, .names = names};
    ex_error error;
    if (ex_skeleton_create(&def, NULL, &d->skeleton, &error) != EX_OK)
        fail_msg("%s", error.text);
    uint32_t *starts = malloc(((size_t)vertices + 1) * sizeof *starts), *joints = malloc((size_t)vertices * 2 * 4);
    float *weights = malloc((size_t)vertices * 2 * sizeof *weights);
    assert_true(starts && joints && weights);
    for (int v = 0; v < vertices; v++) {
        const float share = d->positions[3 * v] / (float)width;
        starts[v] = 2 * (uint32_t)v;
        for (uint32_t j = 0; j < 2; j++) {
            joints[2 * v + (int)j] = j;
            weights[2 * v + (int)j] = j ? 0.05F + 0.9F * share : 0.95F - 0.9F * share;
        }
    }
    starts[vertices] = 2 * (uint32_t)vertices;
    const ex_skin_def skin = {
        .vertex_count = vertices, .joint_count = 2, .starts = starts, .joints = joints, .weights = weights};
    if (ex_skin_create(&skin, NULL, &d->skin, &error) != EX_OK)
        fail_msg("%s", error.text);
    free(starts);
    free(joints);
    free(weights);
}

static void make_layers(displaced *d) {
    static const char *const names[DISPLACED_LAYERS] = {"shape", "bulge", "ripple"};
    static const char *const axes[2] = {"bend", "breath"};
    static const char *const examples[DISPLACED_EXAMPLES] = {"none", "half", "full"};
    static const double points[DISPLACED_EXAMPLES] = {0, 0.5, 1};
    d->axes[0] = d->axes[1] = ex_axis_scalar(0, 1, 0);
    for (int l = 0; l < DISPLACED_LAYERS; l++) {
        ex_layer_def *layer = &d->layers[l];
        *layer = (ex_layer_def){.name = names[l],
                                .domain = l ? EX_DOMAIN_DISPLACEMENT : EX_DOMAIN_FORM,
                                .weigh = ex_weigher_def_default(),
                                .axis_names = &axes[l == 2],
                                .example_names = examples};
        layer->weigh.kind = l == 2 ? EX_WEIGHER_NEAREST : EX_WEIGHER_CARDINAL;
        layer->weigh.axes = &d->axes[l == 2];
        layer->weigh.axis_count = 1;
        layer->weigh.points = points;
        layer->weigh.example_count = DISPLACED_EXAMPLES;
        if (l == 0)
            layer->form.deltas = (const float *const *)d->deltas;
        else
            layer->displacement.maps = (const float *const *)d->maps + (l - 1) * DISPLACED_EXAMPLES;
    }
    d->layers[2].mask = d->mask;
}

void displaced_open(displaced *d, int width, int depth, int levels, bool bent) {
    uint64_t random = 512;
    memset(d, 0, sizeof *d);
    assert_true(levels >= 1 && levels <= 5);
    d->cage = make_grid(width, depth, bent);
    const ex_subdivide_def subdivide = {
        .scheme = EX_SCHEME_CATMULL_CLARK, .levels = levels, .limit = true, .all = true, .boundary = EX_BOUNDARY_EDGES};
    ex_error error;
    if (ex_mesh_subdivide(d->cage, &subdivide, &d->subdivision, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i <= levels; i++) {
        const ex_refined_level *level = &d->subdivision->levels[i];
        d->meshes[i] = make_faces(level->vertex_count, level->face_count, level->face_offsets, level->corners);
        if (i > 0)
            d->levels[i - 1] = d->meshes[i];
    }
    const int vertices = d->cage->vertex_count;
    d->count = d->subdivision->levels[levels].vertex_count;
    d->positions = malloc((size_t)vertices * 3 * sizeof *d->positions);
    assert_non_null(d->positions);
    for (int i = 0; i < 3 * vertices; i++)
        d->positions[i] = (float)d->cage->positions[i];
    for (int k = 0; k < DISPLACED_EXAMPLES; k++) {
        d->deltas[k] = malloc((size_t)vertices * 3 * sizeof **d->deltas);
        assert_non_null(d->deltas[k]);
        for (int i = 0; i < 3 * vertices; i++)
            d->deltas[k][i] = k ? (float)random_between(&random, -0.1, 0.1) : 0;
    }
    for (int k = 0; k < DISPLACED_MAPS; k++) {
        d->maps[k] = malloc((size_t)d->count * sizeof **d->maps);
        assert_non_null(d->maps[k]);
        for (int v = 0; v < d->count; v++)
            d->maps[k][v] = (float)random_between(&random, -0.05, 0.05);
    }
    d->mask = malloc((size_t)d->count * sizeof *d->mask);
    assert_non_null(d->mask);
    for (int v = 0; v < d->count; v++) /* nothing, partly, all */
        d->mask[v] = v % 3 == 0 ? 0 : v % 3 == 1 ? (float)random_between(&random, 0.1, 0.9) : 1;
    make_joints(d, vertices, width);
    make_layers(d);
    d->def = ex_rig_def_default();
    d->def.mesh = d->meshes[0];
    d->def.mesh.positions = d->positions;
    d->def.layers = d->layers;
    d->def.layer_count = DISPLACED_LAYERS;
    d->def.skeleton = d->skeleton;
    d->def.skin = d->skin;
    d->def.skinning = EX_SKINNING_DUAL_QUATERNION;
    d->def.stencils = d->subdivision->stencils;
    d->def.levels = d->levels;
    d->def.level = levels;
}

void displaced_close(displaced *d) {
    for (int i = 0; i <= d->subdivision->level_count; i++)
        free_faces(&d->meshes[i]);
    for (int k = 0; k < DISPLACED_EXAMPLES; k++)
        free(d->deltas[k]);
    for (int k = 0; k < DISPLACED_MAPS; k++)
        free(d->maps[k]);
    free(d->mask);
    free(d->positions);
    ex_skeleton_destroy(d->skeleton);
    ex_skin_destroy(d->skin);
    ex_mesh_destroy(d->cage);
    ex_subdivision_destroy(d->subdivision);
}

void displaced_plainly(const displaced *d, const ex_stencils *stencils, int level, const float *control,
                       const double *weights, double *positions, double *normals) {
    const int count = ex_stencils_vertex_count(stencils, level), terms = ex_stencils_weight_count(stencils, level);
    int *offsets = malloc(((size_t)count + 1) * sizeof *offsets), *indices = malloc((size_t)terms * sizeof *indices);
    double *rows = malloc((size_t)terms * sizeof *rows), *tangents = malloc((size_t)terms * 2 * sizeof *tangents);
    assert_true(offsets && indices && rows && tangents);
    ex_stencils_read(stencils, level, offsets, indices, rows, tangents);
    for (int v = 0; v < count; v++) {
        double sums[3][3] = {{0}}, amount = 0;
        for (int i = offsets[v]; i < offsets[v + 1]; i++)
            for (int c = 0; c < 3; c++) {
                const double from = (double)control[3 * indices[i] + c];
                sums[0][c] += rows[i] * from;
                sums[1][c] += tangents[2 * i] * from;
                sums[2][c] += tangents[2 * i + 1] * from;
            }
        const double *a = sums[1], *b = sums[2];
        const double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < DISPLACED_MAPS; k++) {
            const double mask = k < DISPLACED_EXAMPLES ? 1 : (double)d->mask[v];
            amount += weights[DISPLACED_EXAMPLES + k] * mask * (double)d->maps[k][v];
        }
        for (int c = 0; c < 3; c++) {
            positions[3 * v + c] = sums[0][c] + amount * n[c] / length;
            if (normals)
                normals[3 * v + c] = n[c] / length;
        }
    }
    free(offsets);
    free(indices);
    free(rows);
    free(tangents);
}
