/*
 * Skeletons of projects: joints, binds and weights of the file; vertices found by their order or by their places; and a
 * sentence for every error of a file.
 */
#include "author/project/projects.h"

#include "support/arms.h"

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    return 0;
}

static const char plain[] = "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': []}";

/* Worked by hand from the description in support/arms.h: the world of `upper` is a scale by 2, and `between` adds 0.25
 * of it. */
static void joints_as_the_file_has_them(void **state) {
    (void)state;
    ex_rig *rig = build_text(plain);
    const ex_skeleton *s = ex_rig_skeleton(rig);
    assert_int_equal(ex_skeleton_joint_count(s), 3);
    const char *const names[] = {"upper", "fore", "hand"};
    const double places[] = {0, 0.5, 0.5}, scales[] = {2, 1, 1};
    for (int j = 0; j < 3; j++) {
        const ex_transform rest = ex_skeleton_rest(s, j);
        float bind[12];
        assert_string_equal(ex_skeleton_name(s, j), names[j]);
        assert_int_equal(ex_skeleton_parent(s, j), j - 1);
        check_near((double)rest.translation[0], places[j], 1e-7);
        check_near((double)rest.scale[1], scales[j], 1e-6);
        /* The turns of `place` and `upper` cancel out. */
        check_near((double)rest.rotation[0], j == 1 ? sin(0.3) : 0, 1e-6);
        check_near(fabs((double)rest.rotation[3]), j == 1 ? cos(0.3) : 1, 1e-6);
        ex_skeleton_inverse_bind(s, j, bind);
        check_near((double)bind[0], 0.5, 1e-7);
        check_near((double)bind[3], -0.5 * j, 1e-6);
        check_near((double)bind[7], 0, 1e-7);
        check_near((double)bind[6], j > 0 ? 0.5 * sin(0.6) : 0, 1e-6); /* a turn back by 0.6 about x */
        check_near((double)bind[9], j > 0 ? -0.5 * sin(0.6) : 0, 1e-6);
    }
    /* At rest nothing moves. */
    float rest[3 * ARM_VERTICES], posed[3 * ARM_VERTICES];
    ex_rig_rest_mesh(rig, rest);
    arm_evaluate(rig, (const char *const[]){NULL}, posed);
    for (int i = 0; i < 3 * ARM_VERTICES; i++)
        check_near((double)posed[i], (double)rest[i], 1e-6);
    ex_rig_destroy(rig);
}

static void check_same_skin(const ex_rig *rig, const ex_scene_primitive *p) {
    const ex_skin *skin = ex_rig_skin(rig);
    assert_int_equal(ex_skin_vertex_count(skin), ARM_VERTICES);
    for (int v = 0; v < ARM_VERTICES; v++) {
        uint32_t joints[8];
        float weights[8], expected[ARM_JOINTS] = {0}, found[ARM_JOINTS] = {0};
        for (int i = ex_skin_influences(skin, v, joints, weights) - 1; i >= 0; i--)
            found[joints[i]] = weights[i];
        for (int i = 0; i < p->influence_count; i++)
            expected[p->joints[v * p->influence_count + i]] += p->weights[v * p->influence_count + i];
        for (int j = 0; j < ARM_JOINTS; j++)
            check_near((double)found[j], (double)expected[j], 1e-6);
    }
}

/* Reverses the order of the primitive's vertices, and appends `extra` copies of its first ones. */
static void shuffle(ex_scene_primitive *p, int extra) {
    const int n = p->vertex_count, total = n + extra;
    float *positions = malloc(3 * (size_t)total * sizeof *positions);
    float *texcoords = malloc(2 * (size_t)total * sizeof *texcoords);
    float *weights = malloc(4 * (size_t)total * sizeof *weights);
    uint16_t *joints = malloc(4 * (size_t)total * sizeof *joints);
    for (int v = 0; v < total; v++) {
        const int from = v < n ? n - 1 - v : v - n;
        memcpy(positions + 3 * v, p->positions + 3 * from, 3 * sizeof *positions);
        memcpy(weights + 4 * v, p->weights + 4 * from, 4 * sizeof *weights);
        memcpy(joints + 4 * v, p->joints + 4 * from, 4 * sizeof *joints);
        texcoords[2 * v] = v < n ? 0.9F : 0;
        texcoords[2 * v + 1] = v < n ? 0.9F : 1;
    }
    free(p->positions);
    free(p->weights);
    free(p->joints);
    for (int i = 0; i < p->index_count; i++)
        p->indices[i] = n - 1 - p->indices[i];
    p->positions = positions;
    p->texcoords[0] = texcoords;
    p->weights = weights;
    p->joints = joints;
    p->vertex_count = total;
}

static void weights_by_order_and_by_place(void **state) {
    (void)state;
    ex_scene *scene = arm_scene(1), *other;
    const ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    ex_rig *rig = build_text(plain);
    check_same_skin(rig, p);
    ex_rig_destroy(rig);
    const char *const shuffled = "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'other.glb', 'layers': []}";
    for (int extra = 0; extra < 20; extra += 19) {
        other = arm_scene(1);
        shuffle(&other->meshes[0].primitives[0], extra);
        /* Positions may be slightly off, as after a file with few digits. */
        for (int i = 0; i < 3 * ARM_VERTICES; i++)
            other->meshes[0].primitives[0].positions[i] += i % 2 ? 1e-6F : -1e-6F;
        arm_write_scene("other.glb", other);
        rig = build_text(shuffled);
        check_same_skin(rig, p);
        ex_rig_destroy(rig);
    }
    /* And the mesh's may be off in the other direction. */
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    for (int i = 0; i < 3 * ARM_VERTICES; i++)
        positions[i] -= 1e-6;
    arm_write_mesh("below.obj", positions);
    other = arm_scene(1);
    shuffle(&other->meshes[0].primitives[0], 0);
    arm_write_scene("other.glb", other);
    rig = build_text("{'exemplar': 1, 'mesh': 'below.obj', 'skeleton': 'other.glb', 'layers': []}");
    check_same_skin(rig, p);
    ex_rig_destroy(rig);
    /* Two vertices at one place with different weights: the one with the mesh's texture coordinate is used. */
    other = arm_scene(1);
    ex_scene_primitive *q = &other->meshes[0].primitives[0];
    shuffle(q, ARM_SIDES);
    for (int s = 0; s < ARM_SIDES; s++) {
        float *first = q->weights + 4 * (ARM_VERTICES - 1 - s), *second = q->weights + 4 * (ARM_VERTICES + s);
        first[0] = second[1] = 0;
        first[1] = second[0] = 1;
        q->joints[4 * (ARM_VERTICES - 1 - s) + 1] = 1;
        q->texcoords[0][2 * (ARM_VERTICES + s)] = 0;
        q->texcoords[0][2 * (ARM_VERTICES + s) + 1] = 1 - (float)s / ARM_SIDES;
    }
    arm_write_scene("other.glb", other);
    rig = build_text(shuffled);
    check_same_skin(rig, p); /* all of the first ring is moved by the upper arm */
    ex_rig_destroy(rig);
    ex_scene_destroy(scene);
}

/* The mesh may be in the skeleton's file; then the order of the vertices distinguishes those at one place. */
static void one_file_for_both(void **state) {
    (void)state;
    ex_scene *scene = arm_scene(1), *same = arm_scene(1);
    const int last = ARM_VERTICES - 1;
    for (int i = 0; i < 2; i++) {
        ex_scene_primitive *p = &(i == 0 ? scene : same)->meshes[0].primitives[0];
        memcpy(p->positions + 3 * last, p->positions, 3 * sizeof *p->positions);
    }
    arm_write_scene("same.glb", same);
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'same.glb', 'skeleton': 'same.glb', 'layers': []}");
    check_same_skin(rig, &scene->meshes[0].primitives[0]);
    ex_rig_destroy(rig);
    ex_scene_destroy(scene);
}

/* The skin of the largest mesh is used. */
static void the_largest_mesh_has_the_skin(void **state) {
    (void)state;
    ex_scene *scene = arm_scene(1), *arm = arm_scene(1);
    ex_scene_skin *skins = calloc(2, sizeof *skins);
    ex_scene_mesh *meshes = calloc(2, sizeof *meshes);
    assert_true(skins && meshes);
    skins[1] = scene->skins[0];
    skins[0] = (ex_scene_skin){.joint_count = 1, .joints = calloc(1, sizeof(int)), .skeleton = -1};
    meshes[0] = scene->meshes[0];
    meshes[1] = (ex_scene_mesh){.primitive_count = 1, .primitives = calloc(1, sizeof *meshes[1].primitives)};
    ex_scene_primitive *p = meshes[1].primitives;
    *p = (ex_scene_primitive){.mode = EX_SCENE_POINTS,
                              .material = -1,
                              .vertex_count = 1,
                              .influence_count = 1,
                              .positions = calloc(3, sizeof(float)),
                              .joints = calloc(1, sizeof *p->joints),
                              .weights = malloc(sizeof *p->weights)};
    assert_non_null(p->weights);
    p->weights[0] = 1;
    free(scene->skins);
    free(scene->meshes);
    scene->skins = skins;
    scene->meshes = meshes;
    scene->skin_count = scene->mesh_count = 2;
    scene->nodes[ARM_MESH].skin = 1;
    const int dot = ex_scene_add_node(scene, "dot", -1, 1);
    scene->nodes[dot].skin = 0;
    arm_write_scene("two.glb", scene);
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'two.glb', 'layers': []}");
    assert_int_equal(ex_rig_joint_count(rig), 3);
    check_same_skin(rig, &arm->meshes[0].primitives[0]);
    ex_rig_destroy(rig);
    ex_scene_destroy(arm);
}

static void names_that_are_missing(void **state) {
    (void)state;
    ex_scene *scene = arm_scene(1);
    free(scene->nodes[ARM_FORE].name);
    scene->nodes[ARM_FORE].name = NULL;
    arm_write_scene("nameless.glb", scene);
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'nameless.glb', 'layers': []}");
    assert_string_equal(ex_skeleton_name(ex_rig_skeleton(rig), 1), "joint 1");
    ex_rig_destroy(rig);
}

/* Joints at the mesh's origin need no matrices. */
static void binds_that_are_identities(void **state) {
    (void)state;
    ex_scene *scene = arm_scene(1);
    for (int n = 0; n < ARM_MESH; n++)
        scene->nodes[n].transform = (ex_scene_transform){.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    free(scene->skins[0].inverse_binds);
    scene->skins[0].inverse_binds = NULL;
    arm_write_scene("origin.glb", scene);
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'origin.glb', 'layers': []}");
    float bind[12];
    ex_skeleton_inverse_bind(ex_rig_skeleton(rig), 2, bind);
    for (int i = 0; i < 12; i++)
        assert_true(bind[i] == (i % 5 == 0 ? 1.0F : 0.0F));
    ex_rig_destroy(rig);
}

/* ---- errors ---- */

static char *copy_text(const char *text) {
    char *made = malloc(strlen(text) + 1);
    assert_non_null(made);
    return strcpy(made, text);
}

static void no_skin(ex_scene *s) {
    s->nodes[ARM_MESH].skin = -1;
    free(s->skins[0].joints);
    free(s->skins[0].inverse_binds);
    free(s->skins);
    s->skins = NULL;
    s->skin_count = 0;
    s->meshes[0].primitives[0].influence_count = 0;
    free(s->meshes[0].primitives[0].joints);
    free(s->meshes[0].primitives[0].weights);
    s->meshes[0].primitives[0].joints = NULL;
    s->meshes[0].primitives[0].weights = NULL;
}

static void flat_bind(ex_scene *s) {
    for (int i = 0; i < 12; i++)
        s->skins[0].inverse_binds[16 + i] = 0;
}

static void projective_bind(ex_scene *s) {
    s->skins[0].inverse_binds[16 + 3] = 0.5F;
}

static void same_name(ex_scene *s) {
    free(s->nodes[ARM_HAND].name);
    s->nodes[ARM_HAND].name = copy_text("upper");
}

static void shear(ex_scene *s) {
    s->nodes[ARM_BETWEEN].transform.scale[1] = 2;
    s->nodes[ARM_HAND].transform.rotation[2] = 0.3;
}

static void elsewhere(ex_scene *s) {
    s->meshes[0].primitives[0].positions[3 * 17 + 1] += 0.01F;
}

static const struct {
    const char *name;
    void (*damage)(ex_scene *s);
    const char *words;
} files[] = {
    {"no_skin.glb", no_skin, "no_skin.glb: it has no skin"},
    {"flat.glb", flat_bind, "flat.glb: the inverse bind matrix of joint 1 (\"fore\") is singular"},
    {"projective.glb", projective_bind, "the inverse bind matrix of joint 'fore' does not end with the row 0 0 0 1"},
    {"twice.glb", same_name, "two joints of the skin are called 'upper'"},
    {"shear.glb", shear, "joint 'hand': node 3 ('between') above it scales unevenly"},
    {"elsewhere.glb", elsewhere, "nothing at the position of vertex 17 of the mesh"},
};

static void check_refused(const char *text, const char *words) {
    ex_project *project = parse_project(text);
    ex_rig *rig = NULL;
    ex_error error = {0};
    ex_result result = ex_project_build(project, NULL, &rig, &error);
    if (result == EX_OK || !strstr(error.text, words))
        fail_msg("result %d, '%s' is not in '%s'", (int)result, words, error.text);
    assert_null(rig);
    ex_project_destroy(project);
}

static void one_sentence_each(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ex_scene *scene = arm_scene(1);
        char text[300];
        files[i].damage(scene);
        arm_write_scene(files[i].name, scene);
        snprintf(text, sizeof text, "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': '%s', 'layers': []}",
                 files[i].name);
        check_refused(text, files[i].words);
    }
    check_refused("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'none.glb', 'layers': []}", "none.glb");
}

/* Errors that no scene in memory can have, but a file can: a circle of nodes, and weights that sum to 0. */
static void files_that_say_the_impossible(void **state) {
    (void)state;
    const char *circle = "{'asset': {'version': '2.0'}, 'nodes': [{'name': 'a', 'children': [1]}, {'name': 'b', "
                         "'children': [0]}], 'skins': [{'joints': [0, 1]}]}";
    char *text = with_quotes(circle);
    write_text("circle.gltf", text);
    free(text);
    check_refused("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'circle.gltf', 'layers': []}",
                  "is its own ancestor");
    /* One triangle on one joint; the second vertex has no weight. */
    float buffer[9 + 12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, /* weights */ 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    unsigned char joints[12] = {0}, bytes[sizeof buffer + sizeof joints + 64];
    const float bind[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    memcpy(bytes, buffer, sizeof buffer);
    memcpy(bytes + sizeof buffer, joints, sizeof joints);
    memcpy(bytes + sizeof buffer + sizeof joints, bind, sizeof bind);
    scratch_write("weightless.bin", bytes, sizeof bytes);
    text = with_quotes(
        "{'asset': {'version': '2.0'}, 'buffers': [{'uri': 'weightless.bin', 'byteLength': 160}],\n"
        "'bufferViews': [{'buffer': 0, 'byteLength': 36}, {'buffer': 0, 'byteOffset': 36, 'byteLength': 48},\n"
        " {'buffer': 0, 'byteOffset': 84, 'byteLength': 12}, {'buffer': 0, 'byteOffset': 96, 'byteLength': 64}],\n"
        "'accessors': [{'bufferView': 0, 'componentType': 5126, 'count': 3, 'type': 'VEC3', 'min': [0, 0, 0], 'max': "
        "[1, 1, 0]},\n"
        " {'bufferView': 1, 'componentType': 5126, 'count': 3, 'type': 'VEC4'},\n"
        " {'bufferView': 2, 'componentType': 5121, 'count': 3, 'type': 'VEC4'},\n"
        " {'bufferView': 3, 'componentType': 5126, 'count': 1, 'type': 'MAT4'}],\n"
        "'meshes': [{'primitives': [{'attributes': {'POSITION': 0, 'WEIGHTS_0': 1, 'JOINTS_0': 2}}]}],\n"
        "'nodes': [{'name': 'j', 'translation': [0, 0, -0.0]}, {'mesh': 0, 'skin': 0}], 'skins': [{'joints': [0], "
        "'inverseBindMatrices': 3}]}");
    write_text("weightless.gltf", text);
    free(text);
    check_refused("{'exemplar': 1, 'mesh': 'weightless.gltf', 'skeleton': 'weightless.gltf', 'layers': []}",
                  "the joint weights of vertex 1 (counting from 0) sum to 0");
    /* With a weight it is sound; no writer keeps the signed zero. */
    buffer[13] = 1;
    memcpy(bytes, buffer, sizeof buffer);
    scratch_write("weightless.bin", bytes, sizeof bytes);
    check_round_trip("{'exemplar': 1, 'mesh': 'weightless.gltf', 'skeleton': 'weightless.gltf', 'layers': []}");
}

static void unknown_joints(void **state) {
    (void)state;
    static const char layer[] =
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'l', 'space': [{'name': 'd', "
        "'min': 0, 'max': 1}, {'name': 'e', 'joint': '%s', 'angle': 'x', 'min': 0, 'max': 90}], 'examples': [{'name': "
        "'a', 'mesh': 'rest.obj', 'at': {}}, {'name': 'b', 'mesh': 'rest.obj', 'at': {'d': 1}, 'joints': {'%s': {'x': "
        "10}}%s%s}]%s}]}";
    const struct {
        const char *joint, *moved, *key, *value, *mask, *words;
    } cases[] = {
        {"for", "hand", "", "", "", "layers[0].space[1].joint: the skeleton has no joint 'for'; did you mean 'fore'?"},
        {"knee", "hand", "", "", "", "layers[0].space[1].joint: the skeleton has no joint 'knee'"},
        {"fore", "hnad", "", "", "", "layers[0].examples[1].joints.hnad: the skeleton has no joint 'hnad'; did you"},
        {"fore", "hand", "", "", ", 'mask': {'joints': ['fore', 'handy']}",
         "layers[0].mask.joints[1]: the skeleton has no joint 'handy'; did you mean 'hand'?"},
        {"fore", "hand", ", 'skeleton': ", "'missing.glb'", "", "missing.glb"},
        {"fore", "hand", ", 'skeleton': ", "'small.glb'", "",
         "layers[0].examples[1] 'b': small.glb: it lacks joint 'hand', which the project's skeleton has"},
        {"fore", "hand", ", 'skeleton': ", "'nodes.glb'", "", "nodes.glb: it lacks joint 'upper'"},
        {"fore", "hand", ", 'skeleton': ", "'boneless.glb'", "", "boneless.glb: it has no skeleton"},
    };
    ex_scene *scene = arm_scene(1);
    free(scene->nodes[ARM_HAND].name);
    scene->nodes[ARM_HAND].name = copy_text("paw");
    arm_write_scene("small.glb", scene);
    scene = arm_scene(1);
    no_skin(scene);
    free(scene->nodes[ARM_UPPER].name);
    scene->nodes[ARM_UPPER].name = copy_text("arm");
    arm_write_scene("nodes.glb", scene);
    scene = arm_scene(1);
    no_skin(scene);
    for (int n = 0; n < ARM_MESH; n++)
        scene->nodes[n].name[0] = '#';
    arm_write_scene("boneless.glb", scene);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1500];
        snprintf(text, sizeof text, layer, cases[i].joint, cases[i].moved, cases[i].key, cases[i].value, cases[i].mask);
        check_refused(text, cases[i].words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_as_the_file_has_them),
        cmocka_unit_test(weights_by_order_and_by_place),
        cmocka_unit_test(one_file_for_both),
        cmocka_unit_test(the_largest_mesh_has_the_skin),
        cmocka_unit_test(names_that_are_missing),
        cmocka_unit_test(binds_that_are_identities),
        cmocka_unit_test(one_sentence_each),
        cmocka_unit_test(files_that_say_the_impossible),
        cmocka_unit_test(unknown_joints),
    };
    return cmocka_run_group_tests_name("author.project.skeleton", tests, set_up, scratch_tear_down);
}
