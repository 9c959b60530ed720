/*
 * Unpacking rigs with more than forms: skeletons and skins, axes of joints, skeletons of examples, refined levels,
 * textures. Each becomes a project that builds to the same bytes.
 */
#include "author/project/projects.h"

#include "support/arms.h"

static void write_image(const char *name, int width, int height, int seed, bool opaque) {
    ex_image *image = ex_image_create(width, height);
    assert_non_null(image);
    for (int i = 0; i < 4 * width * height; i++)
        image->pixels[i] = (unsigned char)(i % 4 == 3 && opaque ? 255 : (i * 37 + seed * 101) % 256);
    assert_int_equal(ex_image_write(scratch_path(name), image, NULL), EX_OK);
    ex_image_destroy(image);
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    arm_write_scene("child.glb", arm_scene(0.6));
    for (int i = 0; i < 3 * ARM_VERTICES; i++)
        positions[i] *= 1 + 0.1 * sin(i);
    arm_write_mesh("odd.obj", positions);
    arm_form(1.0 / 3, 0.1, positions);
    arm_write_mesh("third.obj", positions);
    write_image("young.png", 5, 3, 1, true);
    write_image("old.png", 5, 3, 2, true);
    write_image("dead.png", 5, 3, 3, false);
    write_image("large.png", 6, 3, 1, true);
    write_cube("cube.obj", 1, 0);
    write_cube("tall.obj", 2.3, 1.0 / 3);
    return 0;
}

static void skeletons_and_skins(void **state) {
    (void)state;
    check_round_trip("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': []}");
    check_round_trip("{'exemplar': 1, 'mesh': 'arm.glb', 'skeleton': 'arm.glb', 'skinning': 'dual_quaternion', "
                     "'layers': []}");
    /* Six influences, rotations of length 1 up to rounding, signed zeros. */
    ex_scene *scene = arm_scene(1);
    ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    uint32_t seed = 5;
    p->influence_count = 6;
    free(p->joints);
    free(p->weights);
    p->joints = calloc(6 * ARM_VERTICES, sizeof *p->joints);
    p->weights = calloc(6 * ARM_VERTICES, sizeof *p->weights);
    scene->skins[0].joint_count = 4;
    free(scene->skins[0].joints);
    free(scene->skins[0].inverse_binds);
    scene->skins[0].joints = malloc(4 * sizeof(int));
    scene->skins[0].inverse_binds = calloc(4 * 16, sizeof(float));
    for (int j = 0; j < 4; j++) {
        ex_scene_transform *t = &scene->nodes[ARM_UPPER + j].transform;
        scene->skins[0].joints[j] = ARM_HAND - j; /* children before their parents */
        for (int i = 0; i < 16; i++) {
            seed = seed * 1664525 + 1013904223;
            scene->skins[0].inverse_binds[16 * j + i] =
                i % 4 == 3 ? (float)(i == 15) : (float)(i % 5 == 0) + (float)(seed >> 8) / 0x1p26F;
        }
        double length = 0;
        for (int i = 0; i < 4; i++) {
            seed = seed * 1664525 + 1013904223;
            t->rotation[i] = (double)(seed >> 8) / 0x800000 - 1;
            length += t->rotation[i] * t->rotation[i];
        }
        for (int i = 0; i < 4; i++)
            t->rotation[i] /= sqrt(length);
        t->translation[2] = -0.0;
        t->scale[1] = 1 + j / 3.0;
    }
    for (int v = 0; v < 6 * ARM_VERTICES; v++) {
        seed = seed * 1664525 + 1013904223;
        p->joints[v] = (uint16_t)(v % 6 % 4);
        p->weights[v] = (float)(seed >> 8) / 0x1p26F;
    }
    /* And two vertices at one place, which only their order distinguishes. */
    memcpy(p->positions + 3, p->positions, 3 * sizeof *p->positions);
    arm_write_scene("odd.glb", scene);
    check_round_trip("{'exemplar': 1, 'mesh': 'odd.glb', 'skeleton': 'odd.glb', 'layers': []}");
    /* A skeleton that moves nothing. */
    scene = arm_scene(1);
    scene->nodes[ARM_MESH].skin = scene->nodes[ARM_MESH].mesh = -1;
    arm_write_scene("bones.glb", scene);
    check_round_trip("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'bones.glb', 'layers': []}");
}

/* As many influences as a vertex can have are more than bodies need, but what a rig can hold comes back. */
static void very_many_influences(void **state) {
    (void)state;
    enum { JOINTS = EX_INFLUENCE_MAX };
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const uint32_t corners[3] = {0, 1, 2}, sizes[1] = {3};
    static char names[JOINTS][24];
    static const char *name_list[JOINTS];
    static int parents[JOINTS];
    static ex_transform rest[JOINTS];
    static uint32_t joints[3 * JOINTS], starts[4] = {0, JOINTS, 2 * JOINTS, 3 * JOINTS};
    static float weights[3 * JOINTS];
    for (int j = 0; j < JOINTS; j++) {
        snprintf(names[j], sizeof names[j], "j%d", j);
        name_list[j] = names[j];
        parents[j] = j - 1;
        rest[j] = ex_transform_identity();
        for (int v = 0; v < 3; v++) {
            joints[v * JOINTS + j] = (uint32_t)j;
            weights[v * JOINTS + j] = (float)(1 + (j * 7 + v) % 5);
        }
    }
    ex_rig_def def = ex_rig_def_default();
    ex_skeleton *skeleton = NULL;
    ex_skin *skin = NULL;
    assert_int_equal(
        ex_skeleton_create(&(ex_skeleton_def){JOINTS, parents, rest, NULL, name_list}, NULL, &skeleton, NULL), EX_OK);
    assert_int_equal(ex_skin_create(&(ex_skin_def){3, JOINTS, starts, joints, weights}, NULL, &skin, NULL), EX_OK);
    def.mesh = (ex_rig_mesh){.vertex_count = 3,
                             .positions = positions,
                             .split_count = 3,
                             .face_count = 1,
                             .corner_count = 3,
                             .face_sizes = sizes,
                             .corners = corners,
                             .triangle_count = 1,
                             .triangles = corners};
    def.skeleton = skeleton;
    def.skin = skin;
    ex_rig *rig = NULL, *again = NULL;
    ex_project *project = NULL;
    ex_error error = {0};
    assert_int_equal(ex_rig_create(&def, NULL, &rig, NULL), EX_OK);
    assert_int_equal(ex_project_unpack(rig, scratch_path("many"), "p", false, &error), EX_OK);
    if (ex_project_read(scratch_path("many/p.json"), &project, &error) != EX_OK ||
        ex_project_build(project, NULL, &again, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int v = 0; v < 3; v++) {
        static uint32_t numbers[2][JOINTS];
        static float values[2][JOINTS];
        assert_int_equal(ex_skin_influences(ex_rig_skin(rig), v, numbers[0], values[0]), JOINTS);
        assert_int_equal(ex_skin_influences(ex_rig_skin(again), v, numbers[1], values[1]), JOINTS);
        assert_memory_equal(numbers[0], numbers[1], sizeof numbers[0]);
        assert_memory_equal(values[0], values[1], sizeof values[0]);
    }
    ex_project_destroy(project);
    ex_rig_destroy(again);
    ex_rig_destroy(rig);
    ex_skin_destroy(skin);
    ex_skeleton_destroy(skeleton);
}

static void axes_of_all_kinds(void **state) {
    (void)state;
    check_round_trip(
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'one', 'shape': 'unposed', "
        "'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': -10, 'max': 140, 'unit': 'degrees'},\n"
        " {'name': 'odd', 'joint': 'hand', 'angle': [1, 0.2, -0.3], 'min': -30, 'max': 30, 'clamp': true},\n"
        " {'name': 'dial', 'min': 0, 'max': 1}], 'examples': [{'name': 'a', 'mesh': 'rest.obj', 'at': {}},\n"
        " {'name': 'b', 'mesh': 'odd.obj', 'at': {'elbow': 33.3, 'odd': 11.1}},\n"
        " {'name': 'c', 'mesh': 'third.obj', 'at': {'elbow': 100, 'dial': 0.7}, 'joints': {'upper': {'x': 12}}}]},\n"
        "{'name': 'two', 'shape': 'unposed', 'space': [{'name': 'turn', 'joint': 'upper', 'rotation': 'full', 'scale': "
        "0.3},\n"
        " {'name': 'swing', 'joint': 'hand', 'rotation': 'swing', 'about': [1, 0, 0]},\n"
        " {'name': 'out', 'joint': 'fore', 'slide': [1, 1, 0], 'min': 0, 'max': 1}, {'name': 'thick', 'joint': 'fore', "
        "'stretch': 'y', 'min': 0.5, 'max': 2}], 'weigh': {'linear': false}, 'examples': [{'name': 'a', 'mesh': "
        "'rest.obj', 'at': {}},\n"
        " {'name': 'b', 'mesh': 'odd.obj', 'at': {'turn': {'x': 20, 'y': 40}, 'swing': {'z': 30}, 'elbow': 50}},\n"
        " {'name': 'c', 'mesh': 'odd.obj', 'at': {'out': 0.3, 'thick': 1.7, 'dial': 1}}]},\n"
        "{'name': 'three', 'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 300}], "
        "'examples': [{'name': 'a', 'mesh': 'rest.obj', 'at': {}}, {'name': 'b', 'mesh': 'odd.obj', 'at': {'elbow': "
        "77.7}}], 'mask': {'joints': ['fore']}}]}");
    /* A slide is in the project's unit. */
    double positions[3 * ARM_VERTICES];
    arm_form(100, 20, positions);
    arm_write_mesh("cm.obj", positions);
    check_round_trip("{'exemplar': 1, 'mesh': 'cm.obj', 'unit': 'cm', 'skeleton': 'arm.glb', 'layers': [{'name': "
                     "'one', 'space': [{'name': 'out', 'joint': 'fore', 'slide': 'x', 'min': 0, 'max': 30}], "
                     "'examples': [{'name': 'a', 'mesh': 'cm.obj', 'at': {}}, {'name': 'b', 'mesh': 'cm.obj', 'at': "
                     "{'out': 17}}]}]}");
}

static void skeletons_of_examples(void **state) {
    (void)state;
    check_round_trip(
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'one', 'space': [{'name': "
        "'age', 'min': 0, 'max': 1}], 'examples': [{'name': 'a', 'mesh': 'rest.obj', 'at': {}},\n"
        " {'name': 'b/c', 'mesh': 'third.obj', 'at': {'age': 1}, 'skeleton': 'child.glb'}]},\n"
        "{'name': 'two', 'shape': 'unposed', 'space': [{'name': 'e', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': "
        "140}, {'name': 'age', 'min': 0, 'max': 1}], 'examples': [{'name': 'a', 'mesh': 'rest.obj', 'at': {}, "
        "'skeleton': 'arm.glb'},\n"
        " {'name': 'b', 'mesh': 'odd.obj', 'at': {'e': 100, 'age': 0.37}, 'skeleton': 'child.glb'},\n"
        " {'name': 'c', 'mesh': 'odd.obj', 'at': {'e': 60, 'age': 0.11}}]}]}");
}

static void refined_levels(void **state) {
    (void)state;
    const char *rules[] = {"'scheme': 'catmull_clark', 'levels': 2, 'limit': true",
                           "'scheme': 'loop', 'levels': 1, 'boundary': 'edges'",
                           "'scheme': 'bilinear', 'levels': 1, 'boundary': 'edges'",
                           "'scheme': 'catmull_clark', 'levels': 0, 'limit': true",
                           "'scheme': 'loop', 'levels': 2, 'limit': true, 'boundary': 'edges_and_corners'"};
    /* Texture coordinates with more digits than a float has, none at one face, one that occurs twice. */
    write_text("grid.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0.3\nv 0 1 0\nv 1 1 0.1\nv 2 1 0\nv 0 2 0\nv 1 2 0\nv 2 2 0\n"
                           "vt 0.1 0.7\nvt 0.333333333333333 0.123456789012345\nvt 0.9 0.2\nvt 0.6 0.61\nvt 0.9 0.2\n"
                           "f 1/1 2/2 5/3 4/4\nf 2/2 3/1 6/4 5/5\nf 4/4 5/5 8/2 7/1\nf 5 6 9 8\n"
                           "t crease 2/1/0 1 4 2.5\nt interpolateboundary 1/0/0 1\n");
    write_text("grid2.obj", "v 0 0 0.1\nv 1 0 0\nv 2 0 0.3\nv 0 1 0\nv 1 1 1.1\nv 2 1 0\nv 0 2 0\nv 1 2 0\nv 2 2 0.5\n"
                            "f 1 2 5 4\nf 2 3 6 5\nf 4 5 8 7\nf 5 6 9 8\n");
    const char *forms[][2] = {{"grid.obj", "grid2.obj"}, {"cube.obj", "tall.obj"}, {"rest.obj", "odd.obj"}};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
            char text[1000];
            snprintf(text, sizeof text,
                     "{'exemplar': 1, 'mesh': '%s', 'subdivide': {%s}, 'layers': [{'name': 'l', 'space': [{'name': "
                     "'a', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'examples': [{'name': 'e', 'mesh': "
                     "'%s'}]}]}",
                     forms[k][0], rules[i], forms[k][1]);
            check_round_trip(text);
        }
}

static const char textures[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'layers': [{'name': 'form', 'space': [{'name': 'age', 'min': 0, 'max': 1}], "
    "'examples': [{'name': 'a', 'mesh': 'rest.obj', 'at': {}}, {'name': 'b', 'mesh': 'odd.obj', 'at': {'age': 1}}]},\n"
    "{'name': 'skin', 'shape': 'pixels', 'texture': 'base_color', 'space': [{'name': 'skin.age', 'min': 0, 'max': 1}], "
    "'examples': [{'name': 'young', 'image': 'young.png', 'at': {}}, {'name': 'old', 'image': '%s', 'at': {'skin.age': "
    "1}}]},\n"
    "{'name': 'pale', 'shape': 'pixels', 'texture': 'base_color', 'space': [{'name': 'pale', 'min': 0, 'max': 1}], "
    "'weigh': {'kind': 'direct'}, 'examples': [{'name': 'dead', 'image': '%s'}]},\n"
    "{'name': 'later', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'examples': [{'name': 'a', 'mesh': 'odd.obj', "
    "'at': {'age': 0.3}}]}]}";

static void textures_too(void **state) {
    (void)state;
    char text[2000];
    snprintf(text, sizeof text, textures, "old.png", "dead.png");
    check_round_trip(text);
    ex_rig *rig = build_text(text);
    assert_int_equal(ex_rig_texture_count(rig), 1);
    assert_int_equal(ex_rig_texture(rig, 0).width, 5);
    ex_image *image = NULL;
    assert_int_equal(ex_image_read(scratch_path("dead.png"), &image, NULL), EX_OK);
    assert_memory_equal(ex_rig_example_image(rig, 2, 0), image->pixels, 60);
    ex_image_destroy(image);
    ex_rig_destroy(rig);
}

static void images_of_another_size(void **state) {
    (void)state;
    const char *pairs[][3] = {
        {"large.png", "dead.png",
         "layers[1].examples[1] 'old': large.png is 6 x 3 pixels, but young.png is 5 x 3: the images of a texture must "
         "have the same size"},
        {"old.png", "large.png", "layers[2].examples[0] 'dead': large.png is 6 x 3 pixels, but young.png is 5 x 3"},
        {"none.png", "dead.png", "none.png"},
        {"old.png", "rest.obj", "rest.obj"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char text[2000];
        snprintf(text, sizeof text, textures, pairs[i][0], pairs[i][1]);
        ex_project *project = parse_project(text);
        ex_rig *rig = NULL;
        ex_error error = {0};
        assert_int_not_equal(ex_project_build(project, NULL, &rig, &error), EX_OK);
        if (!strstr(error.text, pairs[i][2]))
            fail_msg("'%s' is not in '%s'", pairs[i][2], error.text);
        ex_project_destroy(project);
    }
}

static void refuses_to_overwrite(void **state) {
    (void)state;
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'one', "
                             "'space': [{'name': 'age', 'min': 0, 'max': 1}], 'examples': [{'name': 'b', 'mesh': "
                             "'third.obj', 'at': {'age': 1}, 'skeleton': 'child.glb'}]}]}");
    const char *files[] = {"skeleton.glb", "layer1_001_b.skeleton.glb", "layer1_001_b.obj", "mesh.obj", "p.json"};
    ex_error error;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char folder[32], path[100];
        snprintf(folder, sizeof folder, "kept%zu", i);
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        if (ex_project_unpack(rig, scratch_path(folder), "p", false, &error) != EX_OK)
            fail_msg("%s", error.text);
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            char other[100];
            snprintf(other, sizeof other, "%s/%s", folder, files[k]);
            if (k != i && remove(scratch_path(other)) != 0)
                fail_msg("%s was not written", other);
        }
        write_text(path, "mine");
        assert_int_equal(ex_project_unpack(rig, scratch_path(folder), "p", false, &error), EX_ERROR_FILE);
        assert_non_null(strstr(error.text, files[i]));
        char *text = scratch_read(path, NULL);
        assert_string_equal(text, "mine");
        free(text);
        assert_int_equal(ex_project_unpack(rig, scratch_path(folder), "p", true, &error), EX_OK);
    }
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(very_many_influences),   cmocka_unit_test(skeletons_and_skins),
        cmocka_unit_test(axes_of_all_kinds),      cmocka_unit_test(skeletons_of_examples),
        cmocka_unit_test(refined_levels),         cmocka_unit_test(textures_too),
        cmocka_unit_test(images_of_another_size), cmocka_unit_test(refuses_to_overwrite),
    };
    return cmocka_run_group_tests_name("author.project.unpack_body", tests, set_up, scratch_tear_down);
}
