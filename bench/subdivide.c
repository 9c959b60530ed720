/*
 * bench/subdivide.c - Catmull-Clark stencils next to OpenSubdiv's: a regular grid of quads, from the cage to a level in
 * one sum. A run must read a weight for every control vertex that a refined one depends on, and write positions: 4
 * bytes per weight and 12 per vertex; the lists of control vertices are shared and hardly count.
 */
#include "bench/bench.h"
#include "bench/peer.h"

#include <exemplar/author/mesh.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct refining {
    ex_mesh *cage;
    ex_subdivision *subdivision;
    float *control, *positions, *normals;
    void *scratch;
    ex_refine refine;
} refining;

static void run_refine(void *context) {
    refining *r = context;
    ex_stencils_apply(r->subdivision->stencils, &r->refine, NULL, r->scratch);
}

/* A square of `size` by `size` quads with pseudo-random heights. */
static ex_mesh *make_grid(int size) {
    const int row = size + 1;
    unsigned seed = 1;
    ex_mesh *grid = ex_mesh_create();
    if (!grid)
        return NULL;
    grid->vertex_count = row * row;
    grid->face_count = size * size;
    grid->corner_count = 4 * grid->face_count;
    grid->positions = malloc((size_t)grid->vertex_count * 3 * sizeof *grid->positions);
    grid->face_offsets = malloc(((size_t)grid->face_count + 1) * sizeof *grid->face_offsets);
    grid->corners = malloc((size_t)grid->corner_count * sizeof *grid->corners);
    if (!grid->positions || !grid->face_offsets || !grid->corners) {
        ex_mesh_destroy(grid);
        return NULL;
    }
    for (int v = 0; v < grid->vertex_count; v++) {
        grid->positions[3 * v] = v % row;
        grid->positions[3 * v + 1] = (double)(v / row);
        grid->positions[3 * v + 2] = exi_made_up(&seed);
    }
    for (int f = 0; f < grid->face_count; f++) {
        const int first = f / size * row + f % size, corners[4] = {first, first + 1, first + row + 1, first + row};
        grid->face_offsets[f] = 4 * f;
        for (int i = 0; i < 4; i++)
            grid->corners[4 * f + i] = corners[i];
    }
    grid->face_offsets[grid->face_count] = grid->corner_count;
    return grid;
}

static bool open_refining(refining *r, int size, int level, bool limit) {
    const ex_subdivide_def def = {.scheme = EX_SCHEME_CATMULL_CLARK, .levels = level, .limit = limit};
    r->cage = make_grid(size);
    if (!r->cage || ex_mesh_subdivide(r->cage, &def, &r->subdivision, NULL) != EX_OK)
        return false;
    const size_t vertices = (size_t)ex_stencils_vertex_count(r->subdivision->stencils, level);
    r->control = malloc((size_t)r->cage->vertex_count * 3 * sizeof *r->control);
    r->positions = malloc(vertices * 3 * sizeof *r->positions);
    r->normals = malloc(vertices * 3 * sizeof *r->normals);
    r->scratch = malloc(ex_stencils_scratch_size(r->subdivision->stencils));
    if (!r->control || !r->positions || !r->normals || !r->scratch)
        return false;
    for (int i = 0; i < 3 * r->cage->vertex_count; i++)
        r->control[i] = (float)r->cage->positions[i];
    r->refine = (ex_refine){.level = limit ? EX_LEVEL_LIMIT : level,
                            .control = r->control,
                            .positions = r->positions,
                            .normals = limit ? r->normals : NULL};
    return true;
}

static void close_refining(refining *r) {
    ex_subdivision_destroy(r->subdivision);
    ex_mesh_destroy(r->cage);
    free(r->control);
    free(r->positions);
    free(r->normals);
    free(r->scratch);
}

typedef struct refine_case {
    int size, level;
    bool limit;
    double goal_ratio;
} refine_case;

static bool refine_row(const exi_bench *bench, const refine_case *c, exi_peer *peer, const char *why) {
    refining r = {0};
    bool good = open_refining(&r, c->size, c->level, c->limit);
    if (good) {
        const ex_stencils *stencils = r.subdivision->stencils;
        const int vertices = ex_stencils_vertex_count(stencils, r.refine.level);
        const double weights = ex_stencils_weight_count(stencils, r.refine.level);
        exi_row row = {.group = "subdivide",
                       .vertex_count = vertices,
                       .bytes = (c->limit ? 12 : 4) * weights + (c->limit ? 24.0 : 12.0) * vertices,
                       .peer = c->limit ? NULL : "OpenSubdiv, float4",
                       .goal_ratio = c->goal_ratio};
        snprintf(row.work, sizeof row.work, "Catmull-Clark %d x %d, %s %d", c->size, c->size,
                 c->limit ? "limit and normals," : "level", c->level);
        char question[64];
        snprintf(question, sizeof question, "run catmull-clark %d %d", c->size, c->level);
        exi_work work = {run_refine, &r};
        row.ns = exi_measure_beside(&work, c->limit ? NULL : peer, question, bench->repeat, &row.peer_ns);
        row.peer_note = c->limit || row.peer_ns > 0 ? NULL : peer ? "does not answer" : why;
        row.read_speed = exi_read_speed((size_t)row.bytes, 1, bench->repeat);
        row.read_speed_two = exi_read_speed((size_t)row.bytes, 2, bench->repeat);
        bench->report(bench->user, &row);
    }
    close_refining(&r);
    return good;
}

bool exi_bench_subdivide(const exi_bench *bench) {
    static const refine_case cases[] = {{8, 5, false, 1.5}, {64, 2, false, 0}, {250, 1, false, 0}, {8, 5, true, 0}};
    const char *why = NULL;
    exi_peer *peer = exi_peer_start(NULL, "exemplar_peer_opensubdiv", &why);
    bool good = true;
    for (size_t i = 0; good && i < sizeof cases / sizeof cases[0]; i++)
        good = refine_row(bench, &cases[i], peer, why);
    exi_peer_stop(peer);
    return good;
}
