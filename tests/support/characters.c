/*
 * The arm: ring r at x = r / (rings - 1), side s at angle 2 pi s / sides; a vertex is at r * sides + s. The tube is
 * open at both ends.
 */
#include "support/characters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Works without cmocka: the program whose results are compared between targets uses the arm too. */
static void must(bool good) {
    if (!good)
        abort();
}

static void *keep(character *c, size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    must(memory && c->memory_count < 32);
    c->memory[c->memory_count++] = memory;
    return memory;
}

static int vertex(const character *c, int ring, int side) {
    return ring * c->sides + (side + c->sides) % c->sides;
}

static void place(const character *c, int ring, int side, double radius, float out[3]) {
    double angle = 2 * pi * side / c->sides;
    out[0] = (float)ring / (float)(c->rings - 1);
    out[1] = (float)(radius * cos(angle));
    out[2] = (float)(radius * sin(angle));
}

/* ---- meshes ---- */

/* Split vertices: every ring has its side 0 twice, with u = 0 and u = 1; sorted by source. */
static void make_mesh(character *c) {
    const int rings = c->rings, sides = c->sides, splits = rings * (sides + 1), faces = (rings - 1) * sides;
    ex_rig_mesh *m = &c->def.mesh;
    float *positions = keep(c, (size_t)rings * (size_t)sides, 12), *texcoords = keep(c, (size_t)splits, 8);
    uint32_t *sources = keep(c, (size_t)splits, 4), *sizes = keep(c, (size_t)faces, 4);
    uint32_t *corners = keep(c, (size_t)faces, 16), *triangles = keep(c, (size_t)faces, 24);
    for (int r = 0, at = 0; r < rings; r++) {
        for (int s = 0; s < sides; s++) {
            place(c, r, s, 0.1, positions + 3 * vertex(c, r, s));
            for (int copy = 0; copy < (s == 0 ? 2 : 1); copy++, at++) {
                sources[at] = (uint32_t)vertex(c, r, s);
                texcoords[2 * at] = copy ? 1 : (float)s / (float)sides;
                texcoords[2 * at + 1] = (float)r / (float)(rings - 1);
            }
        }
    }
    for (int r = 0, f = 0; r + 1 < rings; r++) {
        for (int s = 0; s < sides; s++, f++) {
            /* side s of a ring is split s + 1, and side 0 the splits 0 (u = 0) and 1 (u = 1) */
            const uint32_t row = (uint32_t)(r * (sides + 1)), next = row + (uint32_t)sides + 1;
            const uint32_t a = s == 0 ? 0 : (uint32_t)s + 1, b = s + 1 == sides ? 1 : (uint32_t)s + 2;
            const uint32_t quad[4] = {row + a, row + b, next + b, next + a};
            sizes[f] = 4;
            memcpy(corners + 4 * f, quad, sizeof quad);
            memcpy(triangles + 6 * f, (uint32_t[]){quad[0], quad[1], quad[2], quad[0], quad[2], quad[3]}, 24);
        }
    }
    *m = (ex_rig_mesh){.vertex_count = rings * sides,
                       .positions = positions,
                       .split_count = splits,
                       .split_source = sources,
                       .texcoords = texcoords,
                       .face_count = faces,
                       .corner_count = 4 * faces,
                       .face_sizes = sizes,
                       .corners = corners,
                       .triangle_count = 2 * faces,
                       .triangles = triangles};
}

/* Level 1: the vertices, slightly smoothed along their ring, and the middle of every face; four triangles per face. The
 * limit has the same points, and tangents along the ring and along the tube. */
static void make_levels(character *c) {
    const int vertices = c->def.mesh.vertex_count, faces = c->def.mesh.face_count, total = vertices + faces;
    int *offsets = keep(c, (size_t)total + 1, sizeof(int)), *indices = keep(c, 4 * (size_t)total, sizeof(int));
    double *weights = keep(c, 4 * (size_t)total, sizeof(double)),
           *tangents = keep(c, 8 * (size_t)total, sizeof(double));
    uint32_t *sizes = keep(c, 4 * (size_t)faces, 4), *corners = keep(c, 12 * (size_t)faces, 4);
    int at = 0;
    for (int row = 0; row < total; row++) {
        const bool middle = row >= vertices;
        const int first = middle ? row - vertices : row, ring = first / c->sides, side = first % c->sides;
        int list[4] = {vertex(c, ring, side - 1), vertex(c, ring, side), vertex(c, ring, side + 1), -1};
        double w[4] = {0.1, 0.8, 0.1, 0}, u[4] = {-1, 0, 1, 0}, v[4] = {0, 0, 0, 0};
        if (middle) {
            list[0] = vertex(c, ring, side);
            list[1] = vertex(c, ring, side + 1);
            list[2] = vertex(c, ring + 1, side);
            list[3] = vertex(c, ring + 1, side + 1);
            for (int i = 0; i < 4; i++) {
                w[i] = 0.25;
                u[i] = i % 2 ? 0.5 : -0.5;
                v[i] = i / 2 ? 0.5 : -0.5;
            }
        } else { /* along the tube: to the ring after, or from the one before */
            list[3] = vertex(c, ring + 1 < c->rings ? ring + 1 : ring - 1, side);
            v[1] = ring + 1 < c->rings ? -1 : 1;
            v[3] = -v[1];
        }
        for (int i = 0; i < 4; i++) /* ascending */
            for (int j = i + 1; j < 4; j++)
                if (list[j] < list[i]) {
                    int k = list[i];
                    double a = w[i], b = u[i], d = v[i];
                    list[i] = list[j], w[i] = w[j], u[i] = u[j], v[i] = v[j];
                    list[j] = k, w[j] = a, u[j] = b, v[j] = d;
                }
        for (int i = 0; i < 4; i++, at++) {
            indices[at] = list[i];
            weights[at] = w[i];
            tangents[2 * at] = u[i];
            tangents[2 * at + 1] = v[i];
        }
        offsets[row + 1] = at;
    }
    for (int f = 0; f < faces; f++) {
        const int ring = f / c->sides, side = f % c->sides;
        const int around[5] = {vertex(c, ring, side), vertex(c, ring, side + 1), vertex(c, ring + 1, side + 1),
                               vertex(c, ring + 1, side), vertex(c, ring, side)};
        for (int i = 0; i < 4; i++) {
            sizes[4 * f + i] = 3;
            corners[12 * f + 3 * i] = (uint32_t)around[i];
            corners[12 * f + 3 * i + 1] = (uint32_t)around[i + 1];
            corners[12 * f + 3 * i + 2] = (uint32_t)(vertices + f);
        }
    }
    ex_stencil_rows level = {total, offsets, indices, weights, NULL},
                    limit = {total, offsets, indices, weights, tangents};
    ex_stencils_def def = {.control_count = vertices, .level_count = 1, .levels = &level, .limit = &limit};
    ex_error error = {0};
    ex_stencils_create(&def, NULL, &c->stencils, &error);
    must(error.result == EX_OK);
    c->level = (ex_rig_mesh){.vertex_count = total,
                             .split_count = total,
                             .face_count = 4 * faces,
                             .corner_count = 12 * faces,
                             .face_sizes = sizes,
                             .corners = corners,
                             .triangle_count = 4 * faces,
                             .triangles = corners};
    c->def.stencils = c->stencils;
    c->def.levels = &c->level;
    c->def.level = EX_LEVEL_LIMIT;
}

/* ---- skeleton ---- */

static void make_skeleton(character *c) {
    static const char *const names[CHARACTER_JOINTS] = {"shoulder", "elbow", "wrist"};
    static const int parents[CHARACTER_JOINTS] = {-1, 0, 1};
    ex_transform rest[CHARACTER_JOINTS];
    for (int j = 0; j < CHARACTER_JOINTS; j++)
        rest[j] = ex_transform_identity();
    rest[1].translation[0] = 0.5F;
    rest[1].rotation[0] = 0.1F; /* not along the axes of the world */
    rest[2].translation[0] = 0.4F;
    ex_error error = {0};
    ex_skeleton_def skeleton = {.joint_count = CHARACTER_JOINTS, .parents = parents, .rest = rest, .names = names};
    ex_skeleton_create(&skeleton, NULL, &c->skeleton, &error);
    must(error.result == EX_OK);
    const int vertices = c->def.mesh.vertex_count;
    uint32_t *starts = keep(c, (size_t)vertices + 1, 4), *joints = keep(c, 3 * (size_t)vertices, 4);
    float *weights = keep(c, 3 * (size_t)vertices, 4);
    for (int v = 0, at = 0; v < vertices; v++) {
        const float x = c->def.mesh.positions[3 * v];
        const float bend = x < 0.35F ? 0 : x > 0.65F ? 1 : (x - 0.35F) / 0.3F, hand = x > 0.9F ? 0.75F : 0;
        const float w[3] = {1 - bend, bend * (1 - hand), bend * hand};
        for (uint32_t j = 0; j < 3; j++)
            if (w[j] > 0) {
                joints[at] = j;
                weights[at++] = w[j];
            }
        starts[v + 1] = (uint32_t)at;
    }
    ex_skin_def skin = {vertices, CHARACTER_JOINTS, starts, joints, weights};
    ex_skin_create(&skin, NULL, &c->skin, &error);
    must(error.result == EX_OK);
    c->def.skeleton = c->skeleton;
    c->def.skin = c->skin;
}

/* ---- layers ---- */

static void make_forms(character *c) {
    static const char *const axes[] = {"elbow", "size"}, *const units[] = {"deg", NULL};
    static const char *const names[] = {"straight", "bent", "big", "big bent"};
    static const double points[] = {0, 0, 100, 0, 0, 1, 100, 1};
    const int vertices = c->def.mesh.vertex_count;
    for (int k = 0; k < CHARACTER_FORMS; k++) {
        c->deltas[k] = keep(c, (size_t)vertices, 12);
        for (int i = 0; k > 0 && i < 3 * vertices; i++)
            c->deltas[k][i] =
                c->def.mesh.positions[i] * 0.25F * (float)(k >= 2) + 0.002F * (float)(k % 2) * (float)sin(0.7 * i + k);
    }
    for (int j = 0; j < CHARACTER_JOINTS; j++)
        c->shifts[j][0] = 0.1F * (float)j;
    c->shift_list[2] = c->shift_list[3] = &c->shifts[0][0];
    c->form_axes[0] = ex_axis_scalar(0, 120, 0);
    c->form_axes[1] = ex_axis_scalar(0, 1, 0);
    c->form_sources[0] = (ex_axis_source){
        .joint = 1, .reading = {.kind = EX_READING_ANGLE, .about = {0, 0, 1}, .middle = 60, .part = EX_AXIS_ROTATION}};
    c->form_sources[1] = (ex_axis_source){.joint = -1};
    ex_layer_def *layer = &c->layers[0];
    *layer = (ex_layer_def){.name = "arm",
                            .weigh = ex_weigher_def_default(),
                            .axis_names = axes,
                            .axis_units = units,
                            .sources = c->form_sources,
                            .example_names = names,
                            .form.deltas = (const float *const *)c->deltas,
                            .form.shifts = c->shift_list};
    layer->weigh.axes = c->form_axes;
    layer->weigh.axis_count = 2;
    layer->weigh.example_count = CHARACTER_FORMS;
    layer->weigh.points = points;
}

static void make_pixels(character *c) {
    static const char *const tan_axes[] = {"tan"}, *const wet_axes[] = {"wet"};
    static const char *const tan_names[] = {"pale", "tanned"}, *const wet_names[] = {"wet"};
    static const double points[] = {0, 1};
    uint64_t random = 5;
    for (int k = 0; k < CHARACTER_IMAGES; k++)
        for (int i = 0; i < CHARACTER_WIDTH * CHARACTER_HEIGHT * 4; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            c->images[k][i] = (unsigned char)(random >> 56);
        }
    const unsigned char **list = keep(c, CHARACTER_IMAGES, sizeof *list);
    for (int k = 0; k < CHARACTER_IMAGES; k++)
        list[k] = c->images[k];
    c->tan_axes[0] = c->wet_axes[0] = ex_axis_scalar(0, 1, 0);
    for (int l = 0; l < 2; l++) {
        ex_layer_def *layer = &c->layers[1 + l];
        *layer = (ex_layer_def){.name = l ? "wet" : "skin",
                                .domain = EX_DOMAIN_PIXELS,
                                .weigh = ex_weigher_def_default(),
                                .axis_names = l ? wet_axes : tan_axes,
                                .example_names = l ? wet_names : tan_names,
                                .pixels.texture = "base_color",
                                .pixels.width = CHARACTER_WIDTH,
                                .pixels.height = CHARACTER_HEIGHT,
                                .pixels.images = list + 2 * l};
        layer->weigh.axes = l ? c->wet_axes : c->tan_axes;
        layer->weigh.axis_count = 1;
        layer->weigh.example_count = l ? 1 : 2;
        layer->weigh.points = l ? NULL : points;
        layer->weigh.kind = l ? EX_WEIGHER_DIRECT : EX_WEIGHER_CARDINAL;
    }
}

void character_open(character *c, int rings, int sides, ex_skinning skinning) {
    memset(c, 0, sizeof *c);
    c->rings = rings;
    c->sides = sides;
    c->def = ex_rig_def_default();
    make_mesh(c);
    make_levels(c);
    make_skeleton(c);
    make_forms(c);
    make_pixels(c);
    c->def.skinning = skinning;
    c->def.layers = c->layers;
    c->def.layer_count = CHARACTER_LAYERS;
}

void character_close(character *c) {
    ex_skeleton_destroy(c->skeleton);
    ex_skin_destroy(c->skin);
    ex_stencils_destroy(c->stencils);
    for (int i = 0; i < c->memory_count; i++)
        free(c->memory[i]);
    memset(c, 0, sizeof *c);
}
