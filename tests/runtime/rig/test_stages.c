/* The stages of a complete rig at a pose, against the rooms' own functions called one after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/characters.h"
#include "support/check.h"
#include "support/rigs.h"

#include "runtime/shape/pixels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RINGS = 40, SIDES = 30, VERTICES = RINGS * SIDES, FACES = (RINGS - 1) * SIDES, REFINED = VERTICES + FACES };

typedef struct fixture {
    character character;
    ex_rig *rig;
    double inputs[CHARACTER_POSE];
    ex_transform joints[CHARACTER_JOINTS];
    ex_pose pose;
} fixture;

static void open(fixture *f, ex_skinning skinning) {
    character_open(&f->character, RINGS, SIDES, skinning);
    f->rig = rig_of(&f->character.def);
    f->pose = (ex_pose){.inputs = f->inputs, .joints = f->joints};
    ex_rig_rest_pose(f->rig, &f->pose);
    f->inputs[0] = 0.6;
    f->inputs[1] = 0.3;
    f->inputs[2] = 0.25;
    const double bend = 70;
    ex_rig_set_input(f->rig, ex_rig_input_find(f->rig, "elbow"), &bend, &f->pose);
    f->joints[2].rotation[1] = 0.3F;
    f->joints[1].scale[1] = 1.1F;
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    open(f, EX_SKINNING_LINEAR);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    ex_rig_destroy(f->rig);
    character_close(&f->character);
    free(f);
    return 0;
}

static void evaluate(const fixture *f, const ex_output *output, const ex_evaluation *how) {
    void *scratch = malloc(ex_rig_scratch_size(f->rig, how, 1));
    ex_rig_evaluate(f->rig, &f->pose, output, how, scratch);
    free(scratch);
}

/* ---- inputs ---- */

/* Inputs of many poses are those of each: of a dial, and of a joint. */
static void test_inputs_of_many(void **state) {
    const fixture *f = *state;
    enum { POSES = 3 };
    double dials[POSES][CHARACTER_POSE];
    ex_transform joints[2 * POSES][8];
    ex_pose poses[POSES], alone[POSES];
    assert_in_range(ex_rig_joint_count(f->rig), 1, 8);
    for (int i = 0; i < POSES; i++) {
        poses[i] = (ex_pose){.inputs = dials[i], .joints = joints[i]};
        alone[i] = (ex_pose){.joints = joints[POSES + i]};
        ex_rig_rest_pose(f->rig, &poses[i]);
        ex_rig_rest_pose(f->rig, &alone[i]);
    }
    const int elbow = ex_rig_input_find(f->rig, "elbow"), size = ex_rig_input_find(f->rig, "size");
    const double angles[POSES] = {10, 50, -20}, sizes[POSES] = {0.1, 0.7, 2};
    double read[POSES];
    ex_rig_set_input_many(f->rig, elbow, POSES, angles, poses);
    ex_rig_set_input_many(f->rig, size, POSES, sizes, poses);
    for (int i = 0; i < POSES; i++) {
        ex_rig_set_input(f->rig, elbow, &angles[i], &alone[i]);
        assert_memory_equal(joints[i], joints[POSES + i], (size_t)ex_rig_joint_count(f->rig) * sizeof(ex_transform));
        assert_true(dials[i][ex_rig_input_offset(f->rig, size)] == sizes[i]);
    }
    ex_rig_get_input_many(f->rig, elbow, POSES, poses, read);
    for (int i = 0; i < POSES; i++)
        assert_true(fabs(read[i] - angles[i]) < 1e-4);
    ex_rig_get_input_many(f->rig, size, POSES, poses, read);
    assert_memory_equal(read, sizes, sizeof sizes);
}

static void test_inputs_from_joints(void **state) {
    fixture *f = *state;
    const int elbow = ex_rig_input_find(f->rig, "elbow"), size = ex_rig_input_find(f->rig, "size");
    assert_int_equal(ex_rig_input_count(f->rig), CHARACTER_INPUTS);
    assert_int_equal(ex_rig_pose_size(f->rig), CHARACTER_POSE);
    assert_int_equal(ex_rig_input_offset(f->rig, elbow), -1);
    assert_int_equal(ex_rig_input_offset(f->rig, size), 0);
    assert_int_equal(ex_rig_input_source(f->rig, elbow).joint, 1);
    assert_int_equal(ex_rig_input_source(f->rig, elbow).reading.kind, EX_READING_ANGLE);
    assert_int_equal(ex_rig_input_source(f->rig, size).joint, -1);
    double value = 0;
    ex_rig_get_input(f->rig, elbow, &f->pose, &value);
    assert_true(fabs(value - 70) < 1e-4);
    ex_rig_get_input(f->rig, elbow, NULL, &value);
    assert_true(value == 0);
    ex_rig_get_input(f->rig, size, &f->pose, &value);
    assert_true(value == 0.6);

    /* Weights are those of the point that was read. */
    double point[2] = {70, 0.6}, weights[CHARACTER_EXAMPLES], expected[CHARACTER_FORMS];
    evaluate(f, &(ex_output){.weights = weights}, NULL);
    ex_weigher_evaluate(ex_rig_weigher(f->rig, 0), point, expected);
    assert_row_near(weights, expected, CHARACTER_FORMS, 1e-6);
    /* The same rotation with the other sign, and longer. */
    double again[CHARACTER_EXAMPLES];
    for (int i = 0; i < 4; i++)
        f->joints[1].rotation[i] *= -2;
    evaluate(f, &(ex_output){.weights = again}, NULL);
    assert_row_near(again, weights, CHARACTER_FORMS, 1e-6);
}

/* Joints that are not given, and joints given at rest, are the same pose: also if the axis has a rest value that its
 * joint does not have, and if a turned rest does not read as exactly zero. */
static void test_joints_not_given(void **state) {
    (void)state;
    character c;
    character_open(&c, RINGS, SIDES, EX_SKINNING_LINEAR);
    c.form_axes[0].rest = 25;
    ex_rig *rig = rig_of(&c.def);
    ex_transform joints[CHARACTER_JOINTS];
    const ex_pose at_rest = {.joints = joints};
    ex_rig_rest_pose(rig, &at_rest);
    for (int i = 0; i < ex_rig_input_count(rig); i++) {
        double given = -1, none = -2, no_pose = -3;
        ex_rig_get_input(rig, i, &at_rest, &given);
        ex_rig_get_input(rig, i, &(ex_pose){0}, &none);
        ex_rig_get_input(rig, i, NULL, &no_pose);
        assert_memory_equal(&none, &given, sizeof given);
        assert_memory_equal(&no_pose, &given, sizeof given);
    }
    float a[3 * RINGS * SIDES], b[3 * RINGS * SIDES];
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    ex_rig_evaluate(rig, &at_rest, &(ex_output){.positions = a}, NULL, scratch);
    ex_rig_evaluate(rig, NULL, &(ex_output){.positions = b}, NULL, scratch);
    assert_memory_equal(a, b, sizeof a);
    free(scratch);
    ex_rig_destroy(rig);
    character_close(&c);
}

/* ---- shape, pose ---- */

static void expected_cage(const fixture *f, float *positions) {
    double weights[CHARACTER_EXAMPLES];
    evaluate(f, &(ex_output){.positions = positions, .weights = weights}, &(ex_evaluation){.unskinned = true});
    float shifts[CHARACTER_JOINTS][3] = {{0}}, matrices[CHARACTER_JOINTS][12], centres[CHARACTER_JOINTS][3];
    float turns[CHARACTER_JOINTS][4];
    for (int k = 2; k < CHARACTER_FORMS; k++)
        for (int j = 0; j < CHARACTER_JOINTS; j++)
            shifts[j][0] += (float)weights[k] * f->character.shifts[j][0];
    ex_skeleton_input input = {.locals = f->joints, .shifts = &shifts[0][0]};
    ex_skeleton_output output = {.matrices = &matrices[0][0], .centres = &centres[0][0], .turns = &turns[0][0]};
    void *scratch = malloc(ex_skeleton_scratch_size(f->character.skeleton));
    ex_skeleton_evaluate(ex_rig_skeleton(f->rig), &input, &output, scratch);
    free(scratch);
    assert_true(fabsf(centres[2][0] - (0.9F + shifts[2][0])) < 1e-6F && shifts[2][0] > 0.1F);
    ex_palette_def def = {
        ex_rig_skinning(f->rig), CHARACTER_JOINTS, &matrices[0][0], &centres[0][0], false, &turns[0][0], 1};
    void *memory = malloc(ex_palette_size(def.method, CHARACTER_JOINTS));
    ex_skin_job job = {.begin = 0, .end = VERTICES, .positions = positions, .out_positions = positions};
    ex_skin_apply(f->character.skin, ex_palette_make(&def, memory), &job);
    free(memory);
}

static void test_blend_and_skin(void **state) {
    fixture *f = *state;
    for (int skinning = 0; skinning < EX_SKINNING_COUNT; skinning++) {
        if (skinning > 0) {
            ex_rig_destroy(f->rig);
            character_close(&f->character);
            open(f, (ex_skinning)skinning);
        }
        static float positions[VERTICES][3], expected[VERTICES][3], strided[VERTICES][5];
        float box[6], alone[6];
        expected_cage(f, &expected[0][0]);
        evaluate(f, &(ex_output){.positions = &positions[0][0], .box = box}, NULL);
        assert_memory_equal(positions, expected, sizeof positions);
        evaluate(f, &(ex_output){.positions = &strided[0][0], .position_stride = sizeof strided[0]}, NULL);
        for (int v = 0; v < VERTICES; v++)
            assert_memory_equal(strided[v], expected[v], 12);
        evaluate(f, &(ex_output){.box = alone}, NULL);
        assert_memory_equal(alone, box, sizeof box);
        float low = positions[0][1], high = low;
        for (int v = 0; v < VERTICES; v++) {
            low = positions[v][1] < low ? positions[v][1] : low;
            high = positions[v][1] > high ? positions[v][1] : high;
        }
        assert_true(box[1] == low && box[4] == high && high > 0.3F); /* the forearm has gone up */
    }
}

/* ---- refine, normals, tangents ---- */

static void test_levels(void **state) {
    fixture *f = *state;
    static float cage[VERTICES][3], expected[REFINED][3], expected_normals[REFINED][3];
    static float positions[REFINED][3], normals[REFINED][3];
    float box[6];
    expected_cage(f, &cage[0][0]);
    assert_int_equal(ex_rig_level(f->rig), EX_LEVEL_LIMIT);
    assert_int_equal(ex_rig_level_count(f->rig), 1);
    assert_int_equal(ex_rig_level_vertex_count(f->rig, 0), VERTICES);
    assert_int_equal(ex_rig_level_vertex_count(f->rig, 1), REFINED);
    assert_int_equal(ex_rig_level_vertex_count(f->rig, EX_LEVEL_LIMIT), REFINED);
    assert_int_equal(ex_rig_level_vertex_count(f->rig, 2), 0);
    assert_int_equal(ex_rig_level_mesh(f->rig, EX_LEVEL_LIMIT).face_count, 4 * FACES);
    ex_refine job = {.level = EX_LEVEL_LIMIT,
                     .control = &cage[0][0],
                     .positions = &expected[0][0],
                     .normals = &expected_normals[0][0]};
    void *scratch = malloc(ex_stencils_scratch_size(f->character.stencils));
    ex_stencils_apply(f->character.stencils, &job, NULL, scratch);
    free(scratch);
    ex_evaluation how = {.level = EX_LEVEL_LIMIT};
    evaluate(f, &(ex_output){.positions = &positions[0][0], .normals = &normals[0][0], .box = box}, &how);
    assert_memory_equal(positions, expected, sizeof positions);
    assert_memory_equal(normals, expected_normals, sizeof normals);
    for (int v = 0; v < REFINED; v++)
        for (int c = 0; c < 3; c++)
            assert_true(positions[v][c] >= box[c] && positions[v][c] <= box[3 + c]);

    /* A level without its own tangents: the normals of its faces. They are near those of the limit. */
    static float level_normals[REFINED][3];
    evaluate(f, &(ex_output){.positions = &positions[0][0], .normals = &level_normals[0][0]},
             &(ex_evaluation){.level = 1});
    assert_memory_equal(positions, expected, sizeof positions);
    for (int v = 0; v < REFINED; v++) {
        const float *a = normals[v], *b = level_normals[v];
        assert_true(fabsf(b[0] * b[0] + b[1] * b[1] + b[2] * b[2] - 1) < 1e-5F);
        const int ring = (v < VERTICES ? v : v - VERTICES) / SIDES;
        if (ring < RINGS * 85 / 100) /* the wrist is torn: weights jump there */
            assert_true(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] > 0.9F);
    }

    /* Only a box: the cage's, which contains the surface. */
    float outer[6];
    evaluate(f, &(ex_output){.box = outer}, &how);
    for (int c = 0; c < 3; c++)
        assert_true(outer[c] <= box[c] && outer[3 + c] >= box[3 + c] && outer[3 + c] < box[3 + c] + 0.1F);
}

/* A limit without levels, which has the mesh's own faces; by hand: the sums swap two vertices of a triangle. The first
 * and the last vertex are each the farthest out on one side. */
static void test_limit_without_levels(void **state) {
    (void)state;
    static const float positions[9] = {-3, 0, 0, 4, 5, 0, 1, 1, 0};
    static const uint32_t sizes[1] = {3}, corners[3] = {0, 1, 2};
    static const int offsets[4] = {0, 1, 2, 3}, indices[3] = {0, 2, 1};
    static const double weights[3] = {1, 1, 1};
    static const float texcoords[6] = {0, 0, 1, 0, 0, 1};
    const ex_stencil_rows limit = {.vertex_count = 3, .offsets = offsets, .indices = indices, .weights = weights};
    ex_stencils *stencils = NULL;
    assert_int_equal(ex_stencils_create(&(ex_stencils_def){.control_count = 3, .limit = &limit}, NULL, &stencils, NULL),
                     EX_OK);
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = 3,
                             .positions = positions,
                             .split_count = 3,
                             .texcoords = texcoords,
                             .face_count = 1,
                             .corner_count = 3,
                             .face_sizes = sizes,
                             .corners = corners,
                             .triangle_count = 1,
                             .triangles = corners};
    def.stencils = stencils;
    def.level = EX_LEVEL_LIMIT;
    ex_rig *rig = rig_of(&def);
    assert_int_equal(ex_rig_level_count(rig), 0);
    assert_int_equal(ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT), 3);
    assert_int_equal(ex_rig_level_mesh(rig, EX_LEVEL_LIMIT).face_count, 1);
    const ex_evaluation how = {.level = EX_LEVEL_LIMIT};
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    float out[9], normals[9], tangents[12], box[6];
    ex_rig_evaluate(rig, NULL, &(ex_output){.positions = out, .normals = normals, .tangents = tangents, .box = box},
                    &how, scratch);
    assert_memory_equal(out, ((float[]){-3, 0, 0, 1, 1, 0, 4, 5, 0}), sizeof out);
    assert_memory_equal(box, ((float[]){-3, 0, 0, 4, 5, 0}), sizeof box);
    for (int v = 0; v < 3; v++) {
        assert_true(normals[3 * v] == 0 && normals[3 * v + 1] == 0 && fabsf(normals[3 * v + 2] - 1) < 1e-6F);
        assert_true(fabsf(tangents[4 * v] - 4 / sqrtf(17)) < 1e-6F &&
                    fabsf(tangents[4 * v + 1] - 1 / sqrtf(17)) < 1e-6F);
    }
    free(scratch);
    ex_rig_destroy(rig);
    ex_stencils_destroy(stencils);
}

static void test_split_vertices(void **state) {
    fixture *f = *state;
    const ex_rig_mesh mesh = ex_rig_get_mesh(f->rig);
    enum { SPLITS = RINGS * (SIDES + 1) };
    assert_int_equal(mesh.split_count, SPLITS);
    static float positions[VERTICES][3], normals[VERTICES][3], tangents[VERTICES][4];
    evaluate(f, &(ex_output){.positions = &positions[0][0], .normals = &normals[0][0], .tangents = &tangents[0][0]},
             NULL);
    /* As in a vertex buffer: one after the other in one entry. */
    static struct entry { float position[3], normal[3], tangent[4]; } buffer[SPLITS];
    ex_output where = {.positions = buffer[0].position,
                       .position_stride = sizeof *buffer,
                       .normals = buffer[0].normal,
                       .normal_stride = sizeof *buffer,
                       .tangents = buffer[0].tangent,
                       .tangent_stride = sizeof *buffer};
    evaluate(f, &where, &(ex_evaluation){.split = true});
    uint32_t last = UINT32_MAX;
    for (int i = 0; i < SPLITS; i++) {
        const uint32_t v = mesh.split_source[i];
        assert_memory_equal(buffer[i].position, positions[v], 12);
        assert_memory_equal(buffer[i].normal, normals[v], 12);
        if (v != last) /* a vertex's first */
            assert_memory_equal(buffer[i].tangent, tangents[v], 16);
        last = v;
        const float *n = buffer[i].normal, *t = buffer[i].tangent;
        assert_true(fabsf(n[0] * t[0] + n[1] * t[1] + n[2] * t[2]) < 1e-5F);
        assert_true(fabsf(t[0] * t[0] + t[1] * t[1] + t[2] * t[2] - 1) < 1e-5F && fabsf(t[3]) == 1);
    }
}

/* ---- textures ---- */

static void test_textures(void **state) {
    fixture *f = *state;
    enum { PIXELS = CHARACTER_WIDTH * CHARACTER_HEIGHT };
    unsigned char out[PIXELS * 4], expected[PIXELS * 4], *list[1] = {out};
    assert_int_equal(ex_rig_texture_count(f->rig), 1);
    ex_texture texture = ex_rig_texture(f->rig, 0);
    assert_string_equal(texture.name, "base_color");
    assert_true(texture.width == CHARACTER_WIDTH && texture.height == CHARACTER_HEIGHT && texture.srgb);
    assert_int_equal(ex_rig_layer_domain(f->rig, 0), EX_DOMAIN_FORM);
    assert_int_equal(ex_rig_layer_domain(f->rig, 1), EX_DOMAIN_PIXELS);
    assert_int_equal(ex_rig_layer_texture(f->rig, 0), -1);
    assert_int_equal(ex_rig_layer_texture(f->rig, 2), 0);
    assert_null(ex_rig_example_image(f->rig, 0, 0));
    assert_memory_equal(ex_rig_example_image(f->rig, 2, 0), f->character.images[2], sizeof out);
    /* tan 0.3: 0.7 pale + 0.3 tanned; wet 0.25: + 0.25 (wet - pale). */
    evaluate(f, &(ex_output){.textures = list}, NULL);
    exi_pixels_term terms[3] = {
        {f->character.images[0], (float)(0.7 - 0.25)}, {f->character.images[1], 0.3F}, {f->character.images[2], 0.25F}};
    exi_pixels_blend(terms, 3, true, 0, PIXELS, expected);
    for (int i = 0; i < PIXELS * 4; i++)
        assert_true(abs(out[i] - expected[i]) <= 1);
    /* At an example, the example; with all layers muted, the first. */
    f->inputs[1] = 1;
    f->inputs[2] = 0;
    evaluate(f, &(ex_output){.textures = list}, NULL);
    assert_memory_equal(out, f->character.images[1], sizeof out);
    const bool muted[CHARACTER_LAYERS] = {true, true, true};
    evaluate(f, &(ex_output){.textures = list}, &(ex_evaluation){.muted = muted});
    assert_memory_equal(out, f->character.images[0], sizeof out);
    list[0] = NULL;
    evaluate(f, &(ex_output){.textures = list}, NULL);
}

/* ---- incomplete poses, and rest ---- */

/* Only images, all of them at once: the scratch is large enough for them, and nothing after it is touched. */
static void test_many_images_without_faces(void **state) {
    (void)state;
    enum { IMAGES = 100, GUARD = 4096 };
    static const float positions[3] = {0, 0, 0};
    static char names[IMAGES][8];
    static const char *name_list[IMAGES];
    static unsigned char pixels[IMAGES][4];
    static const unsigned char *images[IMAGES];
    static ex_axis axes[IMAGES];
    static double inputs[IMAGES];
    for (int k = 0; k < IMAGES; k++) {
        snprintf(names[k], sizeof names[k], "i%d", k);
        name_list[k] = names[k];
        memset(pixels[k], k == 0 ? 0 : 1, 4);
        images[k] = pixels[k];
        axes[k] = ex_axis_scalar(0, 1, 0);
        inputs[k] = k == 0 ? 0 : 1;
    }
    ex_layer_def layer = {.name = "many",
                          .domain = EX_DOMAIN_PIXELS,
                          .weigh = ex_weigher_def_default(),
                          .axis_names = name_list,
                          .example_names = name_list,
                          .pixels.texture = "height",
                          .pixels.width = 1,
                          .pixels.height = 1,
                          .pixels.images = images};
    layer.weigh.kind = EX_WEIGHER_DIRECT;
    layer.weigh.axes = axes;
    layer.weigh.axis_count = layer.weigh.example_count = IMAGES;
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = 1, .positions = positions, .split_count = 1};
    def.layers = &layer;
    def.layer_count = 1;
    ex_rig *rig = rig_of(&def);
    const size_t size = ex_rig_scratch_size(rig, NULL, 1);
    char *scratch = malloc(size + GUARD);
    memset(scratch, 0x5A, size + GUARD);
    unsigned char out[4], *const textures[] = {out};
    ex_rig_evaluate(rig, &(ex_pose){.inputs = inputs}, &(ex_output){.textures = textures}, NULL, scratch);
    assert_memory_equal(out, ((unsigned char[]){99, 99, 99, 99}), 4);
    for (size_t i = size; i < size + GUARD; i++)
        assert_int_equal(scratch[i], 0x5A);
    free(scratch);
    ex_rig_destroy(rig);
}

static void test_rest_and_bad_poses(void **state) {
    fixture *f = *state;
    static float rest[VERTICES][3], other[VERTICES][3];
    void *scratch = malloc(ex_rig_scratch_size(f->rig, NULL, 1));
    ex_rig_evaluate(f->rig, NULL, &(ex_output){.positions = &rest[0][0]}, NULL, scratch);
    ex_rig_rest_pose(f->rig, &f->pose);
    for (int v = 0; v < VERTICES; v++) /* the first example is the mesh */
        for (int c = 0; c < 3; c++)
            assert_true(fabsf(rest[v][c] - f->character.def.mesh.positions[3 * v + c]) < 1e-6F);
    for (int i = 0; i < CHARACTER_POSE; i++)
        f->inputs[i] = NAN;
    f->joints[0].translation[1] = INFINITY;
    memset(f->joints[1].rotation, 0, sizeof f->joints[1].rotation);
    f->joints[2].scale[0] = NAN;
    evaluate(f, &(ex_output){.positions = &other[0][0]}, NULL);
    for (int v = 0; v < VERTICES; v++)
        for (int c = 0; c < 3; c++)
            assert_true(fabsf(rest[v][c] - other[v][c]) < 1e-6F);
    free(scratch);
}

/* ---- cut and threaded work gives the same bits ---- */

/* Backwards, one item at a time. */
static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user, (void)grain;
    for (int i = count; i-- > 0;)
        body(context, i, i + 1);
}

static void test_work_cut_otherwise(void **state) {
    fixture *f = *state;
    enum { POSES = 3, PIXELS = CHARACTER_WIDTH * CHARACTER_HEIGHT };
    static float positions[2][POSES][REFINED][3], normals[2][POSES][REFINED][3];
    static unsigned char pixels[2][POSES][PIXELS * 4];
    float boxes[2][POSES][6];
    ex_transform joints[POSES][CHARACTER_JOINTS];
    double inputs[POSES][CHARACTER_POSE];
    ex_tasks tasks = {.run = run_backwards};
    for (int round = 0; round < 2; round++) {
        ex_pose poses[POSES];
        ex_output outputs[POSES];
        unsigned char *lists[POSES][1];
        for (int i = 0; i < POSES; i++) {
            memcpy(joints[i], f->joints, sizeof f->joints);
            memcpy(inputs[i], f->inputs, sizeof f->inputs);
            joints[i][0].rotation[2] = 0.2F * (float)i;
            inputs[i][0] += 0.1 * i;
            lists[i][0] = pixels[round][i];
            poses[i] = (ex_pose){.inputs = inputs[i], .joints = joints[i]};
            outputs[i] = (ex_output){.positions = &positions[round][i][0][0],
                                     .normals = &normals[round][i][0][0],
                                     .box = boxes[round][i],
                                     .textures = lists[i]};
        }
        ex_evaluation how = {.level = EX_LEVEL_LIMIT, .tasks = round ? &tasks : NULL};
        void *scratch = malloc(ex_rig_scratch_size(f->rig, &how, POSES));
        if (round)
            ex_rig_evaluate_many(f->rig, POSES, poses, outputs, &how, scratch);
        for (int i = 0; !round && i < POSES; i++)
            ex_rig_evaluate(f->rig, &poses[i], &outputs[i], &how, scratch);
        free(scratch);
    }
    assert_memory_equal(positions[0], positions[1], sizeof positions[0]);
    assert_memory_equal(normals[0], normals[1], sizeof normals[0]);
    assert_memory_equal(pixels[0], pixels[1], sizeof pixels[0]);
    assert_memory_equal(boxes[0], boxes[1], sizeof boxes[0]);
}

/* ---- options, misuse ---- */

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function, (void)what;
    misuses++;
}

static void test_what_is_left_out(void **state) {
    fixture *f = *state;
    static float positions[REFINED][3], normals[REFINED][3], tangents[REFINED][4];
    ex_set_misuse_hook(count_misuse);
    f->character.def.options = (ex_rig_options){.without_normals = true, .without_levels = true};
    ex_rig *small = rig_of(&f->character.def);
    assert_int_equal(ex_rig_level_vertex_count(small, 1), 0);
    assert_int_equal(ex_rig_level(small), 0);
    assert_null(ex_rig_stencils(small));
    ex_rig *whole = f->rig;
    f->rig = small;
    misuses = 0;
    evaluate(f, &(ex_output){.positions = &positions[0][0], .normals = &normals[0][0]}, NULL);
    assert_int_equal(misuses, 1);
    evaluate(f, &(ex_output){.positions = &positions[0][0]}, &(ex_evaluation){.level = 1});
    assert_int_equal(misuses, 2);
    f->rig = whole;
    evaluate(f, &(ex_output){.normals = &normals[0][0]}, NULL);
    assert_int_equal(misuses, 3);
    /* The level has no texture coordinates. */
    evaluate(f, &(ex_output){.positions = &positions[0][0], .normals = &normals[0][0], .tangents = &tangents[0][0]},
             &(ex_evaluation){.level = 1});
    assert_int_equal(misuses, 4);
    ex_set_misuse_hook(NULL);
    ex_rig_destroy(small);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_inputs_of_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_inputs_from_joints, set_up, tear_down),
        cmocka_unit_test(test_joints_not_given),
        cmocka_unit_test_setup_teardown(test_blend_and_skin, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_levels, set_up, tear_down),
        cmocka_unit_test(test_limit_without_levels),
        cmocka_unit_test_setup_teardown(test_split_vertices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_textures, set_up, tear_down),
        cmocka_unit_test(test_many_images_without_faces),
        cmocka_unit_test_setup_teardown(test_rest_and_bad_poses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_work_cut_otherwise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_is_left_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
