/*
 * bench/skin.c - skinning with four influences per vertex, positions and normals. A run must read 24 bytes of
 * influences and 24 of positions and normals per vertex, and write 24: 72 bytes; the palette stays in the first-level
 * cache. The vertices are those of skinned.h.
 *
 * The peer is ozz-animation's skinning job, with the joints' matrices for normals and with their inverse transposes. It
 * is no Debian package, so it is built only if CMake is told where its sources are (EX_BENCH_OZZ).
 */
#include "bench/bench.h"
#include "bench/peer.h"
#include "bench/skinned.h"

#include <exemplar/pose.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { JOINTS = EXI_SKINNED_JOINTS };

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
    if (starts && joints && weights) {
        for (size_t v = 0; v <= vertices; v++)
            starts[v] = (uint32_t)(v * (size_t)influences);
        exi_skinned_influences(vertex_count, influences, joints, weights);
        ex_skin_def def = {vertex_count, JOINTS, starts, joints, weights};
        ex_skin_create(&def, NULL, &skin, NULL);
    }
    free(starts);
    free(joints);
    free(weights);
    return skin;
}

static ex_palette *make_palette(ex_skinning method, bool stretched, void *memory) {
    float matrices[JOINTS][12];
    exi_skinned_joint joints[JOINTS];
    exi_skinned_joints(stretched, joints);
    for (int j = 0; j < JOINTS; j++) {
        ex_transform t = ex_transform_identity();
        for (int c = 0; c < 3; c++) {
            t.rotation[c] = joints[j].turn[c];
            t.translation[c] = joints[j].move[c];
            t.scale[c] = joints[j].scale[c];
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
    exi_skinned_vertices(vertex_count, s->in);
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
    const char *question; /* what the peer is asked, or NULL */
    double goal_ratio;
} skin_case;

/* The distance of the sum of the squares of all positions from the peer's, as a part of it. */
static bool differs(const skinning *s, const skin_case *c, exi_peer *peer, double *by) {
    char question[64];
    double theirs = 0, ours = 0;
    snprintf(question, sizeof question, "answer %s %d", c->question, c->vertex_count);
    if (!exi_peer_ask(peer, question, &theirs) || !(theirs > 0))
        return false;
    for (int i = 0; i < 3 * c->vertex_count; i++)
        ours += (double)s->out[i] * (double)s->out[i];
    *by = fabs(ours / theirs - 1);
    return true;
}

static bool skin_row(const exi_bench *bench, const skin_case *c, exi_peer *peer, const char *why) {
    skinning s = {0};
    bool good = open_skinning(&s, c->vertex_count, c->influences, c->method, c->stretched);
    if (good) {
        const bool linear = c->method == EX_SKINNING_LINEAR;
        const double extra = c->influences > 4 ? 6 * (c->influences - 4) : 0;
        const double sums = 12 * c->influences + 9 + 9; /* of matrices, for a position and for a normal */
        char question[64], note[64];
        double by = 0;
        exi_work work = {run_skin, &s};
        exi_row row = {.group = "skin",
                       .vertex_count = c->vertex_count,
                       .bytes = (double)c->vertex_count * (72 + extra),
                       .multiply_adds = linear ? c->vertex_count * sums : 0,
                       .goal_ratio = c->goal_ratio};
        snprintf(question, sizeof question, "run %s %d", c->question ? c->question : "", c->vertex_count);
        row.ns = exi_measure_beside(&work, c->question ? peer : NULL, question, bench->repeat, &row.peer_ns);
        if (c->question) {
            row.peer = c->question[0] == 'p' ? "ozz-animation" : "ozz-animation, inverse transposes";
            row.peer_note = row.peer_ns > 0 ? NULL : peer ? "does not answer" : why;
        }
        if (row.peer_ns > 0 && differs(&s, c, peer, &by)) {
            snprintf(note, sizeof note, "positions differ by %.1g", by);
            row.peer_note = note;
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
        {"linear", 7000, 4, EX_SKINNING_LINEAR, false, "plain", 1.3},
        {"linear", 7000, 4, EX_SKINNING_LINEAR, false, "inverse", 1.3},
        {"linear", 70000, 4, EX_SKINNING_LINEAR, false, "plain", 1.3},
        {"linear", 7000, 8, EX_SKINNING_LINEAR, false, NULL, 0},
        {"linear, stretched", 7000, 4, EX_SKINNING_LINEAR, true, NULL, 0},
        {"dual quaternion", 7000, 4, EX_SKINNING_DUAL_QUATERNION, false, NULL, 0},
        {"dual quaternion, stretched", 7000, 4, EX_SKINNING_DUAL_QUATERNION, true, NULL, 0},
    };
    const char *why = NULL;
    exi_peer *peer = exi_peer_start(NULL, "exemplar_peer_ozz", &why);
    if (!peer)
        why = "not built: cmake -DEX_BENCH_OZZ=FOLDER, with its sources";
    bool good = true;
    for (size_t i = 0; good && i < sizeof cases / sizeof cases[0]; i++)
        good = skin_row(bench, &cases[i], peer, why);
    exi_peer_stop(peer);
    return good;
}
