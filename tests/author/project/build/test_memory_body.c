/*
 * Failing memory while a project with a skeleton, skeletons of examples, refined levels and textures is built, unpacked
 * and checked: the result says so, and nothing leaks (checked by valgrind). The JSON library's own allocations do not
 * fail here: if one of them fails while a text is read, it writes beyond its memory.
 */
#include "author/project/projects.h"

#include "support/arms.h"
#include "support/fail_alloc.h"

static const char text[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': '%s', 'skinning': 'dual_quaternion', 'subdivide': {'scheme': "
    "'catmull_clark', 'levels': 1, 'limit': true}, 'layers': [{'name': 'one', 'shape': 'unposed', 'space': [{'name': "
    "'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}], 'examples': [{'name': 'a', 'mesh': 'rest.obj', "
    "'at': {}}, {'name': 'b', 'mesh': 'rest.obj', 'at': {'elbow': 10}, 'skeleton': 'child.glb'}], 'mask': {'joints': "
    "['fore', 'hand']}},\n"
    "{'name': 'two', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'}, 'examples': [{'name': "
    "'a', 'mesh': 'rest.obj', 'skeleton': 'nodes.glb'}]},\n"
    "{'name': 'skin', 'shape': 'pixels', 'texture': 'base_color', 'space': [{'name': 's', 'min': 0, 'max': 1}], "
    "'weigh': {'kind': 'direct'}, 'examples': [{'name': 'a', 'image': 'a.png'}]}]}";

static ex_project *parse(const char *skeleton) {
    char filled[2000];
    snprintf(filled, sizeof filled, text, skeleton);
    return parse_project(filled);
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    arm_write_scene("child.glb", arm_scene(0.6));
    /* One whose vertices are in another order, and one that has only nodes. */
    ex_scene *scene = arm_scene(1);
    float *p = scene->meshes[0].primitives[0].positions;
    for (int i = 0; i < 3; i++) {
        float first = p[i];
        p[i] = p[3 + i];
        p[3 + i] = first;
    }
    arm_write_scene("other.glb", scene);
    scene = ex_scene_create();
    assert_non_null(scene);
    ex_scene_add_node(scene, "hand", -1, -1);
    ex_scene_add_node(scene, "fore", -1, -1);
    ex_scene_add_node(scene, "upper", 1, -1);
    arm_write_scene("nodes.glb", scene);
    ex_image *image = ex_image_create(2, 2);
    assert_int_equal(ex_image_write(scratch_path("a.png"), image, NULL), EX_OK);
    ex_image_destroy(image);
    return 0;
}

static ex_result build_once(void *context) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    ex_result result = ex_project_build(context, NULL, &rig, &error);
    assert_int_equal(rig != NULL, result == EX_OK);
    ex_rig_destroy(rig);
    return result;
}

static void building(void **state) {
    (void)state;
    ex_project *project = parse("arm.glb");
    assert_true(fail_alloc_sweep(build_once, project) > 200);
    ex_project_destroy(project);
    project = parse("other.glb");
    assert_true(fail_alloc_sweep(build_once, project) > 200);
    ex_project_destroy(project);
}

static ex_result unpack_once(void *context) {
    ex_error error = {0};
    return ex_project_unpack(context, scratch_path("unpacked"), "p", true, &error);
}

static void unpacking(void **state) {
    (void)state;
    ex_project *project = parse("arm.glb");
    ex_rig *rig = build_project(project);
    assert_true(fail_alloc_sweep(unpack_once, rig) > 200);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
    rig = build_text("{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'l', 'space': "
                     "[{'name': 'a', 'joint': 'fore', 'angle': [1, 2, 3], 'min': 0, 'max': 9}, {'name': 'b', 'joint': "
                     "'fore', 'stretch': 'y', 'min': 0, 'max': 9}, {'name': 'c', 'joint': 'hand', 'slide': 'x', "
                     "'metres': 2, 'min': 0, 'max': 9}, {'name': 'd', 'joint': 'upper', 'rotation': 'full'}], "
                     "'examples': [{'name': 'a', 'mesh': 'rest.obj', 'at': {}, 'skeleton': 'child.glb'}]}]}");
    assert_true(fail_alloc_sweep(unpack_once, rig) > 200);
    ex_rig_destroy(rig);
}

static ex_result check_once(void *context) {
    ex_check *check = NULL;
    ex_error error = {0};
    const ex_check_options options = {.sample_count = 8};
    ex_result result = ex_project_check(context, &options, &check, &error);
    assert_int_equal(check != NULL, result == EX_OK);
    for (int i = 0; check && i < check->finding_count; i++)
        if (check->findings[i].severity == EX_SEVERITY_ERROR)
            fail_msg("%s", check->findings[i].text);
    ex_check_destroy(check);
    return result;
}

static void checking(void **state) {
    (void)state;
    ex_project *project = parse("arm.glb");
    assert_true(fail_alloc_sweep(check_once, project) > 100);
    ex_project_destroy(project);
}

/* Everything wrong at once: vertices in another order, joints and images that do not fit, a crease along no edge. */
static ex_result check_faulty_once(void *context) {
    ex_check *check = NULL;
    const ex_check_options options = {.sample_count = 8};
    ex_result result = ex_project_check(context, &options, &check, NULL);
    assert_int_equal(check != NULL, result == EX_OK);
    if (check)
        assert_int_equal(check->error_count, 6);
    ex_check_destroy(check);
    return result;
}

static void checking_what_is_wrong(void **state) {
    (void)state;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    ex_mesh *mesh = arm_mesh(positions);
    for (int c = 0; c < mesh->corner_count; c++)
        mesh->corners[c] = ARM_VERTICES - 1 - mesh->corners[c];
    assert_int_equal(ex_obj_write(scratch_path("swapped.obj"), mesh, NULL), EX_OK);
    ex_mesh_destroy(mesh);
    size_t size;
    char *bytes = scratch_read("rest.obj", &size), *creased = malloc(size + 40);
    assert_non_null(creased);
    memcpy(creased, bytes, size);
    strcpy(creased + size, "t crease 2/1/0 0 40 2\n");
    scratch_write("creased.obj", creased, strlen(creased));
    free(bytes);
    free(creased);
    ex_image *image = ex_image_create(3, 2);
    assert_int_equal(ex_image_write(scratch_path("b.png"), image, NULL), EX_OK);
    ex_image_destroy(image);
    ex_project *project = parse_project(
        "{'exemplar': 1, 'mesh': 'creased.obj', 'skeleton': 'arm.glb', 'subdivide': {'scheme': 'loop'}, 'layers': [\n"
        "{'name': 'one', 'shape': 'unposed', 'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'x', 'min': 0, "
        "'max': 200}], 'mask': {'joints': ['upper', 'knee']}, 'examples': [{'name': 'a', 'mesh': 'swapped.obj', 'at': "
        "{}}, {'name': 'b', 'mesh': 'rest.obj', 'at': {'elbow': 180}, 'joints': {'toe': {'x': 1}}}, {'name': 'c', "
        "'mesh': 'rest.obj', 'at': {'elbow': 50}, 'skeleton': 'none.glb'}]},\n"
        "{'name': 'skin', 'shape': 'pixels', 'texture': 'base_color', 'space': [{'name': 's', 'min': 0, 'max': 1}], "
        "'examples': [{'name': 'a', 'image': 'a.png', 'at': {}}, {'name': 'b', 'image': 'b.png', 'at': {'s': 1}}]}]}");
    assert_true(fail_alloc_sweep(check_faulty_once, project) > 200);
    ex_project_destroy(project);
}

/* Levels, a skin and pixels. */
static void building_stops(void **state) {
    (void)state;
    ex_project *project = parse("arm.glb");
    check_stops(project);
    ex_project_destroy(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(building), cmocka_unit_test(building_stops),         cmocka_unit_test(unpacking),
        cmocka_unit_test(checking), cmocka_unit_test(checking_what_is_wrong),
    };
    return cmocka_run_group_tests_name("author.project.memory_body", tests, set_up, scratch_tear_down);
}
