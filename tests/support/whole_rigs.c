/*
 * Rigs with everything in them; see whole_rigs.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/whole_rigs.h"

#include <stdlib.h>
#include <string.h>

/* ---- skeleton and skin ---- */

static void make_skeleton(whole_rig *w, uint64_t *random) {
    static const char *const names[WHOLE_JOINTS] = {"root",      "elbow \"left\" \\ \xC3\xBC", "", "hand", "tip",
                                                    "other root"};
    static const int parents[WHOLE_JOINTS] = {-1, 2, 0, 1, 3, -1};
    ex_transform rest[WHOLE_JOINTS];
    for (int j = 0; j < WHOLE_JOINTS; j++) {
        rest[j] = ex_transform_identity();
        for (int c = 0; c < 3; c++) {
            rest[j].translation[c] = (float)random_between(random, -2, 2);
            rest[j].scale[c] = (float)random_between(random, 0.8, 1.2);
        }
        for (int c = 0; c < 4; c++)
            rest[j].rotation[c] = (float)random_between(random, -1, 1);
    }
    ex_skeleton_def def = {.joint_count = WHOLE_JOINTS, .parents = parents, .rest = rest, .names = names};
    ex_error error;
    if (ex_skeleton_create(&def, NULL, &w->skeleton, &error) != EX_OK)
        fail_msg("%s", error.text);
}

/* One to six influences per vertex. */
static void make_skin(whole_rig *w, int vertex_count, uint64_t *random) {
    uint32_t *starts = malloc(((size_t)vertex_count + 1) * sizeof *starts);
    uint32_t *joints = malloc((size_t)vertex_count * WHOLE_JOINTS * sizeof *joints);
    float *weights = malloc((size_t)vertex_count * WHOLE_JOINTS * sizeof *weights);
    uint32_t count = 0;
    for (int v = 0; v < vertex_count; v++) {
        starts[v] = count;
        for (uint32_t j = 0; j <= (uint32_t)v % WHOLE_JOINTS; j++, count++) {
            joints[count] = (j + (uint32_t)v) % WHOLE_JOINTS;
            weights[count] = (float)random_between(random, 0.1, 1);
        }
    }
    starts[vertex_count] = count;
    ex_skin_def def = {.vertex_count = vertex_count,
                       .joint_count = WHOLE_JOINTS,
                       .starts = starts,
                       .joints = joints,
                       .weights = weights};
    ex_error error;
    if (ex_skin_create(&def, NULL, &w->skin, &error) != EX_OK)
        fail_msg("%s", error.text);
    free(starts);
    free(joints);
    free(weights);
}

/* ---- levels ---- */

/* Rows of two to four control vertices, and from the eighth on all of the same number, so that some are laid out
 * together. */
typedef struct rows_room {
    ex_stencil_rows rows;
    int *offsets, *indices;
    double *weights, *tangents;
} rows_room;

static void make_rows(rows_room *r, int vertex_count, int control_count, uint64_t *random) {
    const size_t most = 4 * (size_t)vertex_count;
    r->offsets = malloc(((size_t)vertex_count + 1) * sizeof *r->offsets);
    r->indices = malloc(most * sizeof *r->indices);
    r->weights = malloc(most * sizeof *r->weights);
    r->tangents = malloc(most * 2 * sizeof *r->tangents);
    int count = 0;
    for (int v = 0; v < vertex_count; v++) {
        const int size = v < 8 ? 2 + v % 3 : 4, first = v < 8 ? v % (control_count - 3) : 1;
        r->offsets[v] = count;
        for (int i = 0; i < size; i++, count++) {
            r->indices[count] = first + i;
            r->weights[count] = random_between(random, 0.1, 0.9) / size;
            r->tangents[2 * count] = random_between(random, -1, 1);
            r->tangents[2 * count + 1] = random_between(random, -1, 1);
        }
    }
    r->offsets[vertex_count] = count;
    r->rows = (ex_stencil_rows){
        .vertex_count = vertex_count, .offsets = r->offsets, .indices = r->indices, .weights = r->weights};
}

static void free_rows(rows_room *r) {
    free(r->offsets);
    free(r->indices);
    free(r->weights);
    free(r->tangents);
}

static const uint32_t level_sizes[3] = {4, 3, 3}, level_corners[10] = {0, 1, 2, 3, 3, 2, 4, 5, 4, 2};
static const uint32_t level_triangles[12] = {0, 1, 2, 0, 2, 3, 3, 2, 4, 5, 4, 2};

/* The first has a seam and texture coordinates, the second neither. */
static ex_rig_mesh make_level(whole_rig *w, int level, int vertex_count, uint64_t *random) {
    ex_rig_mesh mesh = {.vertex_count = vertex_count,
                        .split_count = vertex_count,
                        .face_count = 3,
                        .corner_count = 10,
                        .face_sizes = level_sizes,
                        .corners = level_corners,
                        .triangle_count = 4,
                        .triangles = level_triangles};
    if (level > 0)
        return mesh;
    mesh.split_count++;
    const size_t splits = (size_t)mesh.split_count;
    char *memory = malloc(splits * 12);
    uint32_t *sources = (uint32_t *)(void *)memory;
    float *texcoords = (float *)(void *)(memory + splits * 4);
    for (uint32_t i = 0; i < (uint32_t)splits; i++) /* vertex 2 is split */
        sources[i] = i - (i > 2);
    for (size_t i = 0; i < 2 * splits; i++)
        texcoords[i] = (float)random_between(random, 0, 1);
    w->level_memory[level] = memory;
    mesh.split_source = sources;
    mesh.texcoords = texcoords;
    return mesh;
}

static void make_levels(whole_rig *w, int vertex_count, int parts, uint64_t *random) {
    const int level_count = parts & WHOLE_LEVELS ? 2 : 0;
    const int counts[3] = {vertex_count + 7, 2 * vertex_count + 9, level_count ? 2 * vertex_count + 9 : vertex_count};
    rows_room rooms[3];
    ex_stencil_rows rows[2];
    for (int i = 0; i < 3; i++)
        make_rows(&rooms[i], counts[i], vertex_count, random);
    for (int i = 0; i < 2; i++) {
        rows[i] = rooms[i].rows;
        w->levels[i] = make_level(w, i, counts[i], random);
    }
    rooms[2].rows.tangents = rooms[2].tangents;
    ex_stencils_def def = {.control_count = vertex_count,
                           .level_count = level_count,
                           .levels = rows,
                           .limit = parts & WHOLE_LIMIT ? &rooms[2].rows : NULL};
    ex_error error;
    if (ex_stencils_create(&def, NULL, &w->stencils, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < 3; i++)
        free_rows(&rooms[i]);
    w->def.stencils = w->stencils;
    w->def.levels = w->levels;
    w->def.level = parts & WHOLE_LIMIT ? EX_LEVEL_LIMIT : level_count;
}

/* ---- layers ---- */

static const char *const joint_axes[4] = {"bend of the elbow", "turn of the hand", "slide", "stretch"};
static const char *const joint_examples[2] = {"at rest", "moved"};
static const double joint_points[2][7] = {{0, 0, 0, 0, 1, 0, 1}, {90, 0, 0.6, 0, 0.8, 20, 1.5}};
static const char *const age[1] = {"skin.age"}, *const wet[1] = {"skin.wet"};
static const char *const ages[2] = {"young", "old"}, *const wets[2] = {"dry", "wet"};
static const double ends[2] = {0, 1};

static ex_layer_def joint_layer(whole_rig *w) {
    w->axes[0] = ex_axis_scalar(-10, 140, 0);
    w->axes[1] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
    w->axes[2] = ex_axis_scalar(0, 100, 0);
    w->axes[3] = ex_axis_scalar(0.5, 2, 1);
    w->sources[0] = (ex_axis_source){1, {.kind = EX_READING_ANGLE, .about = {1, 0, 0}, .middle = 65}};
    w->sources[1] = (ex_axis_source){3, {.kind = EX_READING_ROTATION, .part = EX_AXIS_ROTATION}};
    w->sources[2] = (ex_axis_source){3, {.kind = EX_READING_SLIDE, .about = {0, 2, 0}, .unit = 0.01}};
    w->sources[3] = (ex_axis_source){0, {.kind = EX_READING_STRETCH, .about = {0, 0, 1}}};
    ex_layer_def layer = {.name = "joints / \"moved\"",
                          .weigh = ex_weigher_def_default(),
                          .axis_names = joint_axes,
                          .sources = w->sources,
                          .example_names = joint_examples,
                          .form.deltas = (const float *const *)w->base.deltas + 1,
                          .form.shifts = w->shift_list};
    layer.weigh.axes = w->axes;
    layer.weigh.axis_count = 4;
    layer.weigh.points = joint_points[0];
    layer.weigh.example_count = 2;
    w->shift_list[1] = w->shifts[0];
    return layer;
}

static ex_layer_def pixel_layer(whole_rig *w, const char *texture, int first) {
    static const ex_axis axis = {.kind = EX_AXIS_SCALAR, .min = 0, .max = 1};
    ex_layer_def layer = {.name = first ? "bumps" : "paint",
                          .domain = EX_DOMAIN_PIXELS,
                          .weigh = ex_weigher_def_default(),
                          .axis_names = first ? wet : age,
                          .example_names = first ? wets : ages,
                          .pixels.texture = texture,
                          .pixels.width = WHOLE_WIDTH,
                          .pixels.height = first ? 1 : WHOLE_HEIGHT,
                          .pixels.images = w->pixel_list + first};
    layer.weigh.axes = &axis;
    layer.weigh.axis_count = 1;
    layer.weigh.points = ends;
    layer.weigh.example_count = 2;
    return layer;
}

/* from: first of the vertices of which an example moves all; before it, it moves every third. */
static void make_offsets(ex_offsets *o, int vertex_count, int from, uint64_t *random) {
    uint32_t *vertices = malloc((size_t)vertex_count * sizeof *vertices);
    float *deltas = malloc((size_t)vertex_count * 3 * sizeof *deltas);
    *o = (ex_offsets){.vertices = vertices, .deltas = deltas};
    for (int v = 0; v < vertex_count; v++) {
        if (v < from && v % 3 != 0)
            continue;
        vertices[o->count] = (uint32_t)v;
        for (int c = 0; c < 3; c++)
            deltas[3 * o->count + c] = (float)random_between(random, -0.5, 0.5);
        o->count++;
    }
}

static const char *const sparse_axes[3] = {"flex", "load", "flex"};
static const char *const sparse_names[3] = {"one", "two", "three"};
static const double sparse_points[3] = {0.3, 0.7, 1};

static ex_layer_def offset_layer(whole_rig *w, int which, int vertex_count, uint64_t *random) {
    static const char *const names[WHOLE_SPARSE] = {"sparse", "turned", "moved"};
    static const ex_axis axis = {.kind = EX_AXIS_SCALAR, .min = 0, .max = 1};
    static const double rest[1] = {0}, nothing[3] = {0, 0, 0};
    ex_layer_def layer = {.name = names[which],
                          .domain = EX_DOMAIN_OFFSETS,
                          .weigh = ex_weigher_def_default(),
                          .axis_names = &sparse_axes[which],
                          .example_names = sparse_names,
                          .mask = which == 0 ? w->base.mask : NULL,
                          .offsets.examples = w->offsets[which],
                          .offsets.frame = which == 1 ? EX_OFFSET_FRAME_SKINNED : EX_OFFSET_FRAME_REST,
                          .offsets.moved = which == 2};
    for (int k = 0; k < 3; k++)
        make_offsets(&w->offsets[which][k], vertex_count, k == which ? 0 : vertex_count * k / 3, random);
    layer.weigh.kind = which == 0 ? EX_WEIGHER_CARDINAL : EX_WEIGHER_GAUSSIAN;
    layer.weigh.axes = &axis;
    layer.weigh.axis_count = 1;
    layer.weigh.points = sparse_points;
    layer.weigh.example_count = 3;
    w->zero = (ex_pseudo){.at = rest, .weights = nothing};
    if (which == 1) {
        const double falloffs[4] = {0.3, 0.25, 0, 0.4};
        memcpy(w->falloffs, falloffs, sizeof falloffs);
        layer.weigh.falloffs = w->falloffs;
        layer.weigh.pseudos = &w->zero;
        layer.weigh.pseudo_count = 1;
    }
    return layer;
}

void whole_rig_open(whole_rig *w, int vertex_count, int parts) {
    uint64_t random = 271;
    memset(w, 0, sizeof *w);
    assert_true(vertex_count >= 5);
    sample_rig_open(&w->base, vertex_count);
    w->def = w->base.def;
    for (int i = 0; i < 4; i++) {
        w->pixel_list[i] = w->pixels[i];
        for (size_t k = 0; k < sizeof w->pixels[i]; k++)
            w->pixels[i][k] = (unsigned char)(random_bits(&random) & 0xFF);
    }
    for (int i = 0; i < WHOLE_JOINTS * 3; i++)
        w->shifts[i / 3][i % 3] = (float)random_between(&random, -0.1, 0.1);
    int layers = 0;
    w->layers[layers++] = w->base.layers[0];
    if (parts & WHOLE_PIXELS)
        w->layers[layers++] = pixel_layer(w, "base_color", 0);
    w->layers[layers++] = w->base.layers[1];
    if (parts & WHOLE_SKELETON)
        w->layers[layers++] = joint_layer(w);
    if (parts & WHOLE_PIXELS)
        w->layers[layers++] = pixel_layer(w, "normal", 2);
    w->layers[layers++] = w->base.layers[2];
    for (int i = 0; parts & WHOLE_OFFSETS && i < WHOLE_SPARSE; i++)
        w->layers[layers++] = offset_layer(w, i, vertex_count, &random);
    if (parts & WHOLE_PATHS) {
        path_layer_open(&w->paths, w->base.positions, vertex_count, PATHS_ALL, 31);
        w->layers[layers++] = w->paths.def;
    }
    w->def.layers = w->layers;
    w->def.layer_count = layers;
    if (parts & WHOLE_SKELETON) {
        make_skeleton(w, &random);
        if (parts & WHOLE_SKIN)
            make_skin(w, vertex_count, &random);
    }
    w->def.skeleton = w->skeleton;
    w->def.skin = w->skin;
    if (parts & (WHOLE_LEVELS | WHOLE_LIMIT))
        make_levels(w, vertex_count, parts, &random);
}

void whole_rig_close(whole_rig *w) {
    ex_skeleton_destroy(w->skeleton);
    ex_skin_destroy(w->skin);
    ex_stencils_destroy(w->stencils);
    for (int i = 0; i < WHOLE_SPARSE * 3; i++) {
        free((void *)(uintptr_t)w->offsets[i / 3][i % 3].vertices);
        free((void *)(uintptr_t)w->offsets[i / 3][i % 3].deltas);
    }
    path_layer_close(&w->paths);
    free(w->level_memory[0]);
    free(w->level_memory[1]);
    sample_rig_close(&w->base);
}

/* ---- evaluation ---- */

/* Everything that a rig can output at a level, in one block of numbers: the same rig needs the same memory. */
typedef struct results {
    float *positions, *normals, *tangents;
    float box[6];
    double *weights;
    unsigned char **textures;
    size_t vertices, examples;
    int texture_count;
} results;

static bool has_normals(const ex_rig *rig, int level) {
    return ex_rig_level_mesh(rig, level).face_count > 0;
}

static bool has_tangents(const ex_rig *rig, int level) {
    const ex_rig_mesh mesh = ex_rig_level_mesh(rig, level);
    return mesh.face_count > 0 && mesh.texcoords && mesh.triangle_count > 0;
}

static void evaluate_level(const ex_rig *rig, const ex_pose *pose, int level, results *r) {
    const ex_evaluation evaluation = {.level = level};
    r->vertices = (size_t)ex_rig_level_vertex_count(rig, level);
    r->examples = (size_t)ex_rig_example_count(rig);
    r->texture_count = ex_rig_texture_count(rig);
    r->positions = calloc(r->vertices * 3, sizeof *r->positions);
    r->normals = calloc(r->vertices * 3, sizeof *r->normals);
    r->tangents = calloc(r->vertices * 4, sizeof *r->tangents);
    r->weights = calloc(r->examples + 1, sizeof *r->weights);
    r->textures = calloc((size_t)r->texture_count + 1, sizeof *r->textures);
    for (int i = 0; i < r->texture_count; i++) {
        const ex_texture texture = ex_rig_texture(rig, i);
        r->textures[i] = calloc((size_t)texture.width * (size_t)texture.height, 4);
    }
    void *scratch = malloc(ex_rig_scratch_size(rig, &evaluation, 1));
    const ex_output output = {.positions = r->positions,
                              .normals = has_normals(rig, level) ? r->normals : NULL,
                              .tangents = has_tangents(rig, level) ? r->tangents : NULL,
                              .box = r->box,
                              .weights = r->weights,
                              .textures = r->textures};
    ex_rig_evaluate(rig, pose, &output, &evaluation, scratch);
    free(scratch);
}

static void close_results(results *r) {
    free(r->positions);
    free(r->normals);
    free(r->tangents);
    free(r->weights);
    for (int i = 0; i < r->texture_count; i++)
        free(r->textures[i]);
    free(r->textures);
}

/* The level after this one: the cage, the refined ones, the limit if there is one; then -2. */
static int next_level(const ex_rig *rig, int level) {
    if (level == EX_LEVEL_LIMIT)
        return -2;
    if (level < ex_rig_level_count(rig))
        return level + 1;
    return ex_rig_stencils(rig) && ex_stencils_has(ex_rig_stencils(rig), EX_LEVEL_LIMIT) ? EX_LEVEL_LIMIT : -2;
}

static void random_pose(const ex_rig *rig, uint64_t *random, const ex_pose *pose) {
    ex_rig_rest_pose(rig, pose);
    for (int i = 0; i < ex_rig_pose_size(rig); i++)
        pose->inputs[i] = random_between(random, -1, 2);
    for (int j = 0; j < ex_rig_joint_count(rig); j++) {
        for (int c = 0; c < 4; c++)
            pose->joints[j].rotation[c] += (float)random_between(random, -1, 1);
        for (int c = 0; c < 3; c++) {
            pose->joints[j].translation[c] += (float)random_between(random, -1, 1);
            pose->joints[j].scale[c] *= (float)random_between(random, 0.5, 2);
        }
    }
}

static ex_pose open_pose(const ex_rig *rig) {
    return (ex_pose){.inputs = malloc(((size_t)ex_rig_pose_size(rig) + 1) * sizeof(double)),
                     .joints = malloc(((size_t)ex_rig_joint_count(rig) + 1) * sizeof(ex_transform))};
}

void assert_same_evaluation(const ex_rig *a, const ex_rig *b, int rounds) {
    uint64_t random = 97;
    ex_pose pose = open_pose(a);
    assert_int_equal(ex_rig_pose_size(a), ex_rig_pose_size(b));
    assert_int_equal(ex_rig_joint_count(a), ex_rig_joint_count(b));
    assert_int_equal(ex_rig_level_count(a), ex_rig_level_count(b));
    assert_int_equal(ex_rig_level(a), ex_rig_level(b));
    for (int round = 0; round < rounds; round++) {
        random_pose(a, &random, &pose);
        for (int level = 0; level != -2; level = next_level(a, level)) {
            results r, s;
            evaluate_level(a, &pose, level, &r);
            evaluate_level(b, &pose, level, &s);
            assert_int_equal(r.vertices, s.vertices);
            assert_int_equal(r.texture_count, s.texture_count);
            assert_memory_equal(r.positions, s.positions, r.vertices * 12);
            assert_memory_equal(r.normals, s.normals, r.vertices * 12);
            assert_memory_equal(r.tangents, s.tangents, r.vertices * 16);
            assert_memory_equal(r.box, s.box, sizeof r.box);
            assert_memory_equal(r.weights, s.weights, r.examples * sizeof *r.weights);
            for (int i = 0; i < r.texture_count; i++) {
                const ex_texture texture = ex_rig_texture(a, i);
                assert_memory_equal(r.textures[i], s.textures[i], (size_t)texture.width * (size_t)texture.height * 4);
            }
            close_results(&r);
            close_results(&s);
        }
    }
    free(pose.inputs);
    free(pose.joints);
}

void evaluate_everything(const ex_rig *rig) {
    uint64_t random = 98;
    ex_pose pose = open_pose(rig);
    for (int round = 0; round < 3; round++) {
        random_pose(rig, &random, &pose);
        for (int level = 0; level != -2; level = next_level(rig, level)) {
            results r;
            evaluate_level(rig, round > 0 ? &pose : NULL, level, &r);
            close_results(&r);
        }
    }
    free(pose.inputs);
    free(pose.joints);
}
