/* The runtime's results for some poses, and their uncertainty; see cuda_compare.h. */
#include "cuda/cuda_compare.h"

#include "bench/gpu/surety.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    *made = (expected){.count = poses->count, .entries = (int)entries, .examples = (int)examples};
    made->has_normals = mesh.face_count > 0;
    made->positions = must_allocate(count * entries, 12);
    made->normals = must_allocate(count * entries, 12);
    made->off = must_allocate(count * entries, sizeof *made->off);
    made->angles = must_allocate(count * entries, sizeof *made->angles);
    made->boxes = must_allocate(count, 24);
    made->sizes = must_allocate(count, sizeof *made->sizes);
    made->weights = must_allocate(count * examples, sizeof *made->weights);
    const ex_evaluation how = {
        .level = way->level, .unskinned = way->unskinned, .muted = way->muted, .weighers = way->weighers};
    float *positions = must_allocate(vertices, 12), *normals = must_allocate(vertices, 12),
          *off = must_allocate(vertices, sizeof *off), *angles = must_allocate(vertices, sizeof *angles);
    void *scratch = must_allocate(ex_rig_scratch_size(rig, &how, 1), 1);
    for (size_t i = 0; i < count; i++) {
        const ex_output output = {.positions = positions,
                                  .normals = made->has_normals ? normals : NULL,
                                  .weights = made->weights + i * examples};
        ex_rig_evaluate(rig, &poses->poses[i], &output, &how, scratch);
        measure(positions, (int)vertices, made->boxes + 6 * i);
        made->sizes[i] = fmax(1, exi_surety_form_size(positions, (int)vertices));
        must(exi_surety_of(rig, &poses->poses[i], &how, positions, off, angles), "not enough memory", NULL);
        for (size_t v = 0; v < entries; v++) {
            const size_t from = way->split && mesh.split_source ? mesh.split_source[v] : v, to = i * entries + v;
            memcpy(made->positions + 3 * to, positions + 3 * from, 12);
            memcpy(made->normals + 3 * to, normals + 3 * from, 12);
            made->off[to] = off[from];
            made->angles[to] = angles[from];
        }
    }
    free(positions);
    free(normals);
    free(off);
    free(angles);
    free(scratch);
}

void free_expected(expected *e) {
    free(e->positions);
    free(e->normals);
    free(e->off);
    free(e->angles);
    free(e->boxes);
    free(e->sizes);
    free(e->weights);
    *e = (expected){0};
}
