/*
 * bench/skin.c - skinning with four influences per vertex, positions and normals. A run must read 24 bytes of
 * influences and 24 of positions and normals per vertex, and write 24: 72 bytes; the palette stays in the first-level
 * cache. Joints of a vertex are neighbours, as in bodies, and consecutive vertices share most of them.
 *
 * The peer is not a Debian package, so its published number is used: ozz-animation, 6.7 ns per vertex on
 * Neoverse-V1.
 */
#include "bench/bench.h"

#include <exemplar/pose.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { JOINTS = 64 };

static const double ozz_ns = 6.7;

typedef struct skinning {
    ex_skin *skin;
    void *memory;
    ex_palette *palette;
    float *in, *out; /* positions, then normals */
    ex_skin_job job;
} skinning;

static void run_skin(void *context) {
    const skinning *s = context;
    ex_skin_apply(s->skin, s->palette, &s->job);
}

static ex_skin *make_skin(int vertex_count, int influences) {
    const size_t vertices = (size_t)vertex_count, count = vertices * (size_t)influences;
    uint32_t *starts = malloc((vertices + 1) * sizeof *starts), *joints = malloc(count * sizeof *joints);
    float *weights = malloc(count * sizeof *weights);
    ex_skin *skin = NULL;
    unsigned seed = 1;
    if (starts && joints && weights) {
        for (size_t v = 0; v <= vertices; v++)
            starts[v] = (uint32_t)(v * (size_t)influences);
        for (size_t i = 0; i < count; i++) {
            size_t v = i / (size_t)influences, near = v * JOINTS / vertices + (size_t)(3 * exi_made_up(&seed));
            joints[i] = (uint32_t)((near + 3 * (i % (size_t)influences)) % JOINTS);
            weights[i] = (float)(0.1 + exi_made_up(&seed));
        }
        ex_skin_def def = {vertex_count, JOINTS, starts, joints, weights};
        ex_skin_create(&def, NULL, &skin, NULL);
    }
    free(starts);
    free(joints);
    free(weights);
    return skin;
}

/* Joints turned and moved by pseudo-random amounts; every other one is scaled if `stretched`. */
static ex_palette *make_palette(ex_skinning method, bool stretched, void *memory) {
    float matrices[JOINTS][12];
    unsigned seed = 2;
    for (int j = 0; j < JOINTS; j++) {
        ex_transform t = ex_transform_identity();
        for (int c = 0; c < 3; c++) {
            t.rotation[c] = (float)(exi_made_up(&seed) - 0.5);
            t.translation[c] = (float)exi_made_up(&seed);
            t.scale[c] = stretched && j % 2 ? (float)(0.5 + exi_made_up(&seed)) : 1;
        }
        ex_transform_matrix(&t, matrices[j]);
    }
    ex_palette_def def = {.method = method, .joint_count = JOINTS, .matrices = &matrices[0][0]};
    return memory ? ex_palette_make(&def, memory) : NULL;
}

static bool open_skinning(skinning *s, int vertex_count, int influences, ex_skinning method, bool stretched) {
    const size_t vertices = (size_t)vertex_count;
    s->skin = make_skin(vertex_count, influences);
    s->memory = malloc(ex_palette_size(method, JOINTS));
    s->palette = make_palette(method, stretched, s->memory);
    s->in = malloc(vertices * 6 * sizeof *s->in);
    s->out = malloc(vertices * 6 * sizeof *s->out);
    if (!s->skin || !s->palette || !s->in || !s->out)
        return false;
    unsigned seed = 3;
    for (size_t i = 0; i < 6 * vertices; i++)
        s->in[i] = (float)(0.1 + exi_made_up(&seed));
    s->job = (ex_skin_job){.end = vertex_count,
                           .positions = s->in,
                           .normals = s->in + 3 * vertices,
                           .out_positions = s->out,
                           .out_normals = s->out + 3 * vertices};
    return true;
}

static void close_skinning(skinning *s) {
    ex_skin_destroy(s->skin);
    free(s->memory);
    free(s->in);
    free(s->out);
}

typedef struct skin_case {
    const char *what;
    int vertex_count, influences;
    ex_skinning method;
    bool stretched;
    double goal_ratio;
} skin_case;

static bool skin_row(const exi_bench *bench, const skin_case *c) {
    skinning s = {0};
    bool good = open_skinning(&s, c->vertex_count, c->influences, c->method, c->stretched);
    if (good) {
        const double extra = c->influences > 4 ? 6 * (c->influences - 4) : 0;
        exi_work work = {run_skin, &s};
        exi_row row = {.group = "skin",
                       .vertex_count = c->vertex_count,
                       .ns = exi_measure_alone(&work, bench->repeat),
                       .bytes = (double)c->vertex_count * (72 + extra),
                       .goal_ratio = c->goal_ratio};
        if (c->goal_ratio > 0) {
            row.peer = "ozz-animation";
            row.peer_note = "printed, 6.7 ns a vertex on Neoverse-V1";
            row.peer_ns = ozz_ns * c->vertex_count;
        }
        snprintf(row.work, sizeof row.work, "%s, %d influences, %d", c->what, c->influences, c->vertex_count);
        row.read_speed = exi_read_speed((size_t)row.bytes, 1, bench->repeat);
        row.read_speed_two = exi_read_speed((size_t)row.bytes, 2, bench->repeat);
        bench->report(bench->user, &row);
    }
    close_skinning(&s);
    return good;
}

bool exi_bench_skin(const exi_bench *bench) {
    static const skin_case cases[] = {
        {"linear", 7000, 4, EX_SKINNING_LINEAR, false, 1.3},
        {"linear", 70000, 4, EX_SKINNING_LINEAR, false, 1.3},
        {"linear", 7000, 8, EX_SKINNING_LINEAR, false, 0},
        {"dual quaternion", 7000, 4, EX_SKINNING_DUAL_QUATERNION, false, 0},
        {"dual quaternion, stretched", 7000, 4, EX_SKINNING_DUAL_QUATERNION, true, 0},
    };
    bool good = true;
    for (size_t i = 0; good && i < sizeof cases / sizeof cases[0]; i++)
        good = skin_row(bench, &cases[i]);
    return good;
}
