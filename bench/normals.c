/*
 * bench/normals.c - normals and tangents of a grid of quads with pseudo-random heights, which every frame of an
 * unrefined character needs. A run reads positions in the order of the faces around a vertex, so that a count of bytes
 * means little.
 */
#include "bench/bench.h"

#include <exemplar/refine.h>

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 83, ROW = SIDE + 1, VERTICES = ROW * ROW, QUADS = SIDE * SIDE };

typedef struct surface {
    float positions[VERTICES][3], normals[VERTICES][3], tangents[VERTICES][4], texcoords[VERTICES][2];
    int offsets[QUADS + 1], corners[4 * QUADS];
    uint32_t triangles[6 * QUADS];
    ex_normals *by[EX_NORMAL_WEIGHTING_COUNT];
    ex_tangents *tangent;
    void *scratch;
    ex_normal_weighting weighting; /* weighting that run_normals measures */
} surface;

static void run_normals(void *context) {
    surface *s = context;
    ex_normals_compute(s->by[s->weighting], s->positions[0], 0, s->normals[0], 0, NULL, s->scratch);
}

static void run_tangents(void *context) {
    surface *s = context;
    const ex_tangents_job job = {.positions = s->positions[0], .normals = s->normals[0], .out = s->tangents[0]};
    ex_tangents_compute(s->tangent, &job, NULL, s->scratch);
}

static void fill_surface(surface *s) {
    unsigned seed = 1;
    for (int v = 0; v < VERTICES; v++) {
        const int x = v % ROW, y = v / ROW;
        s->positions[v][0] = (float)x;
        s->positions[v][1] = (float)y;
        s->positions[v][2] = (float)exi_made_up(&seed);
        s->texcoords[v][0] = (float)x / SIDE;
        s->texcoords[v][1] = (float)y / SIDE;
    }
    for (int f = 0; f < QUADS; f++) {
        const int first = f / SIDE * ROW + f % SIDE, corners[4] = {first, first + 1, first + ROW + 1, first + ROW};
        static const int cut[6] = {0, 1, 2, 0, 2, 3};
        s->offsets[f] = 4 * f;
        for (int i = 0; i < 4; i++)
            s->corners[4 * f + i] = corners[i];
        for (int i = 0; i < 6; i++)
            s->triangles[6 * f + i] = (uint32_t)corners[cut[i]];
    }
    s->offsets[QUADS] = 4 * QUADS;
}

static bool open_surface(surface *s) {
    fill_surface(s);
    size_t size = 0;
    for (int k = 0; k < EX_NORMAL_WEIGHTING_COUNT; k++) {
        const ex_normals_def def = {VERTICES, QUADS, s->offsets, s->corners, (ex_normal_weighting)k};
        if (ex_normals_create(&def, NULL, &s->by[k], NULL) != EX_OK)
            return false;
        const size_t needed = ex_normals_scratch_size(s->by[k]);
        size = needed > size ? needed : size;
    }
    const ex_tangents_def def = {.vertex_count = VERTICES,
                                 .split_count = VERTICES,
                                 .texcoords = s->texcoords[0],
                                 .triangle_count = 2 * QUADS,
                                 .triangles = s->triangles};
    if (ex_tangents_create(&def, NULL, &s->tangent, NULL) != EX_OK)
        return false;
    const size_t needed = ex_tangents_scratch_size(s->tangent);
    s->scratch = malloc(needed > size ? needed : size);
    return s->scratch != NULL;
}

static void report(const exi_bench *bench, const char *what, void (*run)(void *context), surface *s) {
    exi_work work = {run, s};
    exi_row row = {.group = "normals", .vertex_count = VERTICES, .ns = exi_measure_alone(&work, bench->repeat)};
    snprintf(row.work, sizeof row.work, "%s, %d", what, VERTICES);
    bench->report(bench->user, &row);
}

bool exi_bench_normals(const exi_bench *bench) {
    surface *s = calloc(1, sizeof *s);
    const bool good = s && open_surface(s);
    if (good) {
        report(bench, "normals by area, quads", run_normals, s);
        s->weighting = EX_NORMAL_BY_ANGLE;
        report(bench, "normals by angle, quads", run_normals, s);
        report(bench, "tangents, triangles", run_tangents, s);
    }
    if (s) {
        for (int k = 0; k < EX_NORMAL_WEIGHTING_COUNT; k++)
            ex_normals_destroy(s->by[k]);
        ex_tangents_destroy(s->tangent);
        free(s->scratch);
    }
    free(s);
    return good;
}
