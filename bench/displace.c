/*
 * bench/displace.c - a scanned body like that of Allen, Curless and Popovic: a cage of 64 quads on four joints, posed
 * by dual quaternions, refined five times to 65792 points of the limit surface, and displaced along its normals by five
 * masked layers of 96 maps in total, of which the eight nearest of each have weight. One thread.
 *
 * A frame with positions and normals must read 16 weights per vertex for its point and 32 for its tangents (192 bytes),
 * the numbers of up to 16 maps (64 bytes) and write 24 bytes; normals of displaced faces read those back.
 */
#include "bench/bench.h"

#include <exemplar/author/mesh.h>
#include <exemplar/rig_inspect.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 8, ALONG = 8, LEVELS = 5, JOINTS = 4, LAYERS = 5, EXAMPLES = 96, NEAREST = 8 };

typedef struct body {
    ex_mesh *cage;
    ex_subdivision *subdivision;
    ex_rig_mesh meshes[LEVELS + 1];
    ex_skeleton *skeleton;
    ex_skin *skin;
    float *positions, *maps[EXAMPLES], *masks[LAYERS];
    double points[EXAMPLES][4];
    char names[EXAMPLES][16], layer_names[LAYERS][16], axis_names[LAYERS][16];
    const char *name_list[EXAMPLES];
} body;

/* ---- the cage ---- */

static bool make_tube(body *b) {
    const int vertices = AROUND * (ALONG + 1), faces = AROUND * ALONG;
    ex_mesh *m = b->cage = ex_mesh_create();
    if (!m)
        return false;
    free(m->face_offsets);
    m->vertex_count = vertices;
    m->face_count = faces;
    m->corner_count = 4 * faces;
    m->positions = malloc((size_t)vertices * 3 * sizeof *m->positions);
    m->face_offsets = malloc(((size_t)faces + 1) * sizeof *m->face_offsets);
    m->corners = malloc(4 * (size_t)faces * sizeof *m->corners);
    b->positions = malloc((size_t)vertices * 3 * sizeof *b->positions);
    if (!m->positions || !m->face_offsets || !m->corners || !b->positions)
        return false;
    for (int v = 0; v < vertices; v++) {
        const double angle = 6.283185307 * (v % AROUND) / AROUND, height = v / AROUND;
        const double radius = 0.1 + 0.02 * sin(height);
        const double place[3] = {radius * cos(angle), 0.2 * height, radius * sin(angle)};
        memcpy(m->positions + 3 * v, place, sizeof place);
        for (int c = 0; c < 3; c++)
            b->positions[3 * v + c] = (float)place[c];
    }
    for (int f = 0; f < faces; f++) {
        const int row = f / AROUND * AROUND, a = row + f % AROUND, next = row + (f + 1) % AROUND;
        const int corners[4] = {a, a + AROUND, next + AROUND, next};
        memcpy(m->corners + 4 * f, corners, sizeof corners);
        m->face_offsets[f] = 4 * f;
    }
    m->face_offsets[faces] = 4 * faces;
    return true;
}

static bool take_faces(const ex_refined_level *level, ex_rig_mesh *mesh) {
    uint32_t *sizes = malloc((size_t)level->face_count * sizeof *sizes);
    uint32_t *corners = malloc((size_t)level->corner_count * sizeof *corners);
    *mesh = (ex_rig_mesh){.vertex_count = level->vertex_count,
                          .split_count = level->vertex_count,
                          .face_count = level->face_count,
                          .corner_count = level->corner_count,
                          .face_sizes = sizes,
                          .corners = corners};
    for (int f = 0; sizes && f < level->face_count; f++)
        sizes[f] = 4;
    for (int c = 0; corners && c < level->corner_count; c++)
        corners[c] = (uint32_t)level->corners[c];
    return sizes && corners;
}

/* Joints up the tube; the two nearest move a vertex. */
static bool make_joints(body *b) {
    static const char *const names[JOINTS] = {"a", "b", "c", "d"};
    const int vertices = b->cage->vertex_count, parents[JOINTS] = {-1, 0, 1, 2};
    ex_transform rest[JOINTS];
    for (int j = 0; j < JOINTS; j++) {
        rest[j] = ex_transform_identity();
        rest[j].translation[1] = j ? 0.4F : 0;
    }
    uint32_t starts[AROUND * (ALONG + 1) + 1], joints[AROUND * (ALONG + 1) * 2];
    float weights[AROUND * (ALONG + 1) * 2];
    for (int v = 0; v < vertices; v++) {
        const double place = (double)b->positions[3 * v + 1] / 0.4;
        const int lower = place < JOINTS - 2 ? (int)place : JOINTS - 2;
        const double share = place - lower < 1 ? place - lower : 1;
        starts[v] = 2 * (uint32_t)v;
        for (int i = 0; i < 2; i++) {
            joints[2 * v + i] = (uint32_t)(lower + i);
            weights[2 * v + i] = (float)(i ? share : 1 - share);
        }
    }
    starts[vertices] = 2 * (uint32_t)vertices;
    const ex_skeleton_def skeleton = {.joint_count = JOINTS, .parents = parents, .rest = rest, .names = names};
    const ex_skin_def skin = {
        .vertex_count = vertices, .joint_count = JOINTS, .starts = starts, .joints = joints, .weights = weights};
    return ex_skeleton_create(&skeleton, NULL, &b->skeleton, NULL) == EX_OK &&
           ex_skin_create(&skin, NULL, &b->skin, NULL) == EX_OK;
}

/* ---- maps ---- */

static int first_of(int layer) {
    return EXAMPLES * layer / LAYERS;
}

/* Makes maps of parts that overlap: every vertex belongs to one or two of them. The cage's heights are those of a
 * vertex's row, which refining hardly changes. */
static bool make_maps(body *b, const float *surface, int count) {
    unsigned seed = 1;
    for (int l = 0; l < LAYERS; l++) {
        b->masks[l] = malloc((size_t)count * sizeof *b->masks[l]);
        if (!b->masks[l])
            return false;
        for (int v = 0; v < count; v++) {
            const double at = (double)surface[3 * v + 1] / 1.6 * LAYERS - 0.5 - l, far = fabs(at);
            b->masks[l][v] = far < 0.4 ? 1 : far < 0.8 ? (float)((0.8 - far) / 0.4) : 0;
        }
        snprintf(b->layer_names[l], sizeof b->layer_names[l], "part%d", l);
        snprintf(b->axis_names[l], sizeof b->axis_names[l], "turn%d", l);
    }
    for (int k = 0; k < EXAMPLES; k++) {
        b->maps[k] = malloc((size_t)count * sizeof *b->maps[k]);
        if (!b->maps[k])
            return false;
        const double phase = 6 * exi_made_up(&seed);
        for (int v = 0; v < count; v++)
            b->maps[k][v] = (float)(0.01 * sin(40 * (double)surface[3 * v + 1] + phase));
        for (int c = 0; c < 4; c++)
            b->points[k][c] = (c == 3) + 0.8 * (exi_made_up(&seed) - 0.5);
        snprintf(b->names[k], sizeof b->names[k], "m%d", k);
        b->name_list[k] = b->names[k];
    }
    return true;
}

static ex_rig *make_rig(body *b, ex_storage storage, bool displaced) {
    ex_axis axes[LAYERS];
    ex_axis_source sources[LAYERS];
    const char *axis_names[LAYERS];
    ex_layer_def layers[LAYERS];
    for (int l = 0; l < LAYERS; l++) {
        const int first = first_of(l);
        axes[l] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
        sources[l] = (ex_axis_source){l % JOINTS, {.kind = EX_READING_ROTATION, .part = EX_AXIS_ROTATION}};
        axis_names[l] = b->axis_names[l];
        layers[l] = (ex_layer_def){.name = b->layer_names[l],
                                   .domain = EX_DOMAIN_DISPLACEMENT,
                                   .weigh = ex_weigher_def_default(),
                                   .axis_names = &axis_names[l],
                                   .sources = &sources[l],
                                   .example_names = b->name_list + first,
                                   .mask = b->masks[l],
                                   .displacement.maps = (const float *const *)b->maps + first};
        layers[l].weigh.kind = EX_WEIGHER_NEAREST;
        layers[l].weigh.neighbours = NEAREST;
        layers[l].weigh.axes = &axes[l];
        layers[l].weigh.axis_count = 1;
        layers[l].weigh.points = b->points[first];
        layers[l].weigh.example_count = first_of(l + 1) - first;
    }
    ex_rig_def def = ex_rig_def_default();
    def.mesh = b->meshes[0];
    def.mesh.positions = b->positions;
    def.layers = layers;
    def.layer_count = displaced ? LAYERS : 0;
    def.skeleton = b->skeleton;
    def.skin = b->skin;
    def.skinning = EX_SKINNING_DUAL_QUATERNION;
    def.stencils = b->subdivision->stencils;
    def.levels = b->meshes + 1;
    def.options.storage = storage;
    ex_rig *rig = NULL;
    ex_rig_create(&def, NULL, &rig, NULL);
    return rig;
}

/* ---- frames ---- */

typedef struct frames {
    const ex_rig *rig;
    ex_transform joints[JOINTS];
    ex_evaluation evaluation;
    ex_output output;
    void *scratch;
} frames;

static void run_frame(void *context) {
    frames *f = context;
    ex_rig_evaluate(f->rig, &(ex_pose){.joints = f->joints}, &f->output, &f->evaluation, f->scratch);
}

static bool open_frames(frames *f, const ex_rig *rig, int level, bool normals) {
    const size_t count = (size_t)ex_rig_level_vertex_count(rig, level);
    *f = (frames){.rig = rig, .evaluation = {.level = level}};
    f->output.positions = malloc(count * 3 * sizeof(float));
    f->output.normals = normals ? malloc(count * 3 * sizeof(float)) : NULL;
    f->scratch = malloc(ex_rig_scratch_size(rig, &f->evaluation, 1));
    ex_rig_rest_pose(rig, &(ex_pose){.joints = f->joints});
    for (int j = 0; j < JOINTS; j++)
        f->joints[j].rotation[j % 3] = 0.2F;
    return f->output.positions && f->scratch && (f->output.normals || !normals);
}

static void close_frames(frames *f) {
    free(f->output.positions);
    free(f->output.normals);
    free(f->scratch);
}

typedef struct displace_case {
    const char *what;
    bool displaced, normals;
    ex_storage storage;
    int level;
    bool goal;
} displace_case;

static bool measure(const exi_bench *bench, body *b, const displace_case *c) {
    frames f = {0};
    ex_rig *rig = make_rig(b, c->storage, c->displaced);
    const bool good = rig && open_frames(&f, rig, c->level, c->normals);
    if (good) {
        const exi_work work = {run_frame, &f};
        exi_row row = {.group = "displace",
                       .frames = true,
                       .ns = exi_measure_alone(&work, bench->repeat),
                       .vertex_count = ex_rig_level_vertex_count(rig, c->level)};
        if (c->goal) {
            row.goal_rate = 300;
            row.peer = "the paper, 2002";
            row.peer_note = "as printed, 3 to 5 frames a second";
            row.peer_ns = 1e9 / 5;
        }
        snprintf(row.work, sizeof row.work, "%s", c->what);
        bench->report(bench->user, &row);
    }
    close_frames(&f);
    ex_rig_destroy(rig);
    return good;
}

static bool open_body(body *b) {
    const ex_subdivide_def def = {
        .scheme = EX_SCHEME_CATMULL_CLARK, .levels = LEVELS, .limit = true, .all = true, .boundary = EX_BOUNDARY_EDGES};
    bool good = make_tube(b) && ex_mesh_subdivide(b->cage, &def, &b->subdivision, NULL) == EX_OK && make_joints(b);
    for (int i = 0; good && i <= LEVELS; i++)
        good = take_faces(&b->subdivision->levels[i], &b->meshes[i]);
    if (!good)
        return false;
    const int count = b->meshes[LEVELS].vertex_count;
    float *surface = malloc((size_t)count * 3 * sizeof *surface);
    void *scratch = malloc(ex_stencils_scratch_size(b->subdivision->stencils));
    if (surface && scratch)
        ex_stencils_apply(b->subdivision->stencils,
                          &(ex_refine){.level = LEVELS, .control = b->positions, .positions = surface}, NULL, scratch);
    good = surface && scratch && make_maps(b, surface, count);
    free(surface);
    free(scratch);
    return good;
}

static void close_body(body *b) {
    for (int i = 0; i <= LEVELS; i++) {
        free((void *)(uintptr_t)b->meshes[i].face_sizes);
        free((void *)(uintptr_t)b->meshes[i].corners);
    }
    for (int k = 0; k < EXAMPLES; k++)
        free(b->maps[k]);
    for (int l = 0; l < LAYERS; l++)
        free(b->masks[l]);
    free(b->positions);
    ex_skeleton_destroy(b->skeleton);
    ex_skin_destroy(b->skin);
    ex_subdivision_destroy(b->subdivision);
    ex_mesh_destroy(b->cage);
}

ex_rig *exi_displace_rig(ex_storage storage) {
    body b = {0};
    ex_rig *rig = open_body(&b) ? make_rig(&b, storage, true) : NULL;
    close_body(&b);
    return rig;
}

bool exi_bench_displace(const exi_bench *bench) {
    static const displace_case cases[] = {
        {"level 5 on the limit, not displaced", false, false, EX_STORAGE_FLOAT, 5, false},
        {"... and its normals", false, true, EX_STORAGE_FLOAT, 5, false},
        {"level 5, displaced by 96 maps in 5 layers", true, false, EX_STORAGE_FLOAT, 5, false},
        {"... and normals of that: all included", true, true, EX_STORAGE_FLOAT, 5, true},
        {"... in 16 bit", true, true, EX_STORAGE_16_BIT, 5, true},
        {"level 4, all included", true, true, EX_STORAGE_FLOAT, 4, false},
        {"level 3, all included", true, true, EX_STORAGE_FLOAT, 3, false},
    };
    body b = {0};
    bool good = open_body(&b);
    for (size_t i = 0; good && i < sizeof cases / sizeof cases[0]; i++)
        good = measure(bench, &b, &cases[i]);
    close_body(&b);
    return good;
}
