/*
 * Differences between rigs: a body with a skeleton, skeletons of its examples, refinement and textures, with one thing
 * changed at a time. (Spaces, weighers and names: tests/cli/diff.py.)
 */
#include "author/project/projects.h"

#include "support/arms.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/mixtures.h"

#include <exemplar/rig_create.h>

static void write_image(const char *name, int width, unsigned char value) {
    ex_image *image = ex_image_create(width, 2);
    assert_non_null(image);
    for (int i = 0; i < width * 2 * 4; i++)
        image->pixels[i] = i % 4 == 3 ? 255 : 100;
    image->pixels[0] = value;
    assert_int_equal(ex_image_write(scratch_path(name), image, NULL), EX_OK);
    ex_image_destroy(image);
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_form(0.6, 0.15, positions);
    arm_write_mesh("child.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    arm_write_scene("child.glb", arm_scene(0.6));
    write_image("young.png", 2, 100);
    write_image("old.png", 2, 140);
    write_image("old_wide.png", 4, 140);
    write_image("young_wide.png", 4, 100);
    return 0;
}

static const char body[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': '%s', 'layers': [\n"
    "{'name': 'age', 'space': [{'name': 'age', 'min': 0, 'max': 1}], 'examples': [\n"
    " {'name': 'adult', 'mesh': 'rest.obj', 'at': {'age': 0}},\n"
    " {'name': 'child', 'mesh': 'child.obj', 'at': {'age': 1}%s}]},\n"
    "{'name': 'skin', 'shape': 'pixels', 'texture': 'base_color', 'space': [{'name': 'skin.age', 'min': 0, 'max': "
    "1}],\n"
    " 'examples': [{'name': 'young', 'image': '%s', 'at': {'skin.age': 0}}, {'name': 'old', 'image': '%s', 'at': "
    "{'skin.age': 1}}]}]%s}";

static ex_rig *make(const char *skeleton, const char *own, const char *young, const char *old, const char *more) {
    char text[1500];
    snprintf(text, sizeof text, body, skeleton, own, young, old, more);
    return build_text(text);
}

#define OWN ", 'skeleton': 'child.glb'"

static ex_differences *compare(const ex_rig *a, const ex_rig *b, double tolerance) {
    ex_differences *list = NULL;
    ex_error error = {0};
    if (ex_rig_compare(a, b, tolerance, &list, &error) != EX_OK)
        fail_msg("%s", error.text);
    return list;
}

/* The one difference of two rigs. Destroys the second. */
static void check_one(const ex_rig *a, ex_rig *b, const char *kind, const char *word, double largest) {
    ex_differences *list = compare(a, b, 1e-7);
    if (list->count != 1 || strcmp(list->items[0].kind, kind) != 0 || !strstr(list->items[0].text, word))
        fail_msg("%d differences, the first: %s: %s: %s", list->count, list->count ? list->items[0].kind : "",
                 list->count ? list->items[0].where : "", list->count ? list->items[0].text : "");
    assert_near(list->items[0].largest, largest, 1e-5);
    ex_differences_destroy(list);
    /* In the other direction the number and sizes are the same. */
    list = compare(b, a, 1e-7);
    assert_int_equal(list->count, 1);
    assert_near(list->items[0].largest, largest, 1e-5);
    ex_differences_destroy(list);
    ex_rig_destroy(b);
}

static void one_thing_at_a_time(void **state) {
    (void)state;
    ex_rig *rig = make("arm.glb", OWN, "young.png", "old.png", "");
    ex_rig *same = make("arm.glb", OWN, "young.png", "old.png", "");
    ex_differences *list = compare(rig, same, 0);
    assert_int_equal(list->count, 0);
    ex_differences_destroy(list);
    ex_rig_destroy(same);

    /* The skeleton of an example, which another file has at 0.6 of the size: the hand at 1.2, not 2. */
    check_one(rig, make("arm.glb", "", "young.png", "old.png", ""), "example", "has a skeleton of its own only in the",
              0.8);
    write_image("changed.png", 2, 91);
    check_one(rig, make("arm.glb", OWN, "young.png", "changed.png", ""), "example",
              "the image of example 'old' differs by at most 49 of 255", 49 / 255.0);
    check_one(rig, make("arm.glb", OWN, "young_wide.png", "old_wide.png", ""), "texture", "base_color", 0);

    ex_scene *scene = arm_scene(1);
    scene->nodes[ARM_HAND].transform.rotation[0] = 0.6;
    scene->nodes[ARM_HAND].transform.rotation[3] = 0.8;
    arm_write_scene("turned.glb", scene);
    check_one(rig, make("turned.glb", OWN, "young.png", "old.png", ""), "joint", "joint 'hand' rests elsewhere", 0.6);

    scene = arm_scene(1);
    float *weights = scene->meshes[0].primitives[0].weights + 4 * (ARM_VERTICES - 1);
    weights[0] += 0.25F;
    weights[2] -= 0.25F;
    arm_write_scene("painted.glb", scene);
    check_one(rig, make("painted.glb", OWN, "young.png", "old.png", ""), "skin",
              "of 1 vertices differ, those of vertex 77 (counting from 0) the most", 0.25);

    check_one(rig, make("arm.glb", OWN, "young.png", "old.png", ", 'skinning': 'dual_quaternion'"), "skin",
              "dual_quaternion", 0);
    ex_rig_destroy(rig);

    const char loop[] = ", 'subdivide': {'scheme': 'catmull_clark', 'levels': 1}";
    rig = make("arm.glb", OWN, "young.png", "old.png", loop);
    check_one(rig, make("arm.glb", OWN, "young.png", "old.png", ", 'subdivide': {'scheme': 'bilinear', 'levels': 1}"),
              "level", "refined by other rules", 0);
    ex_rig_destroy(rig);
}

static void joints_by_name(void **state) {
    (void)state;
    ex_rig *rig = make("arm.glb", "", "young.png", "old.png", "");
    ex_scene *scene = arm_scene(1);
    strcpy(scene->nodes[ARM_HAND].name, "paw");
    arm_write_scene("paw.glb", scene);
    check_one(rig, make("paw.glb", "", "young.png", "old.png", ""), "joint",
              "joint 'hand' of the first is called 'paw'", 0);
    /* Another order makes no difference: the order of joints is the file's, their names are the users'. */
    scene = arm_scene(1);
    ex_scene_skin *skin = &scene->skins[0];
    ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    int joint = skin->joints[0];
    float bind[16];
    skin->joints[0] = skin->joints[2];
    skin->joints[2] = joint;
    memcpy(bind, skin->inverse_binds, sizeof bind);
    memcpy(skin->inverse_binds, skin->inverse_binds + 32, sizeof bind);
    memcpy(skin->inverse_binds + 32, bind, sizeof bind);
    for (int i = 0; i < 4 * ARM_VERTICES; i++)
        if (p->weights[i] > 0)
            p->joints[i] = (uint16_t)(2 - p->joints[i]);
    arm_write_scene("other_way.glb", scene);
    ex_rig *other = make("other_way.glb", "", "young.png", "old.png", "");
    ex_differences *list = compare(rig, other, 1e-7);
    if (list->count > 0)
        fail_msg("%s: %s", list->items[0].where, list->items[0].text);
    ex_differences_destroy(list);
    ex_rig_destroy(other);
    ex_rig_destroy(rig);
}

typedef struct rigs {
    const ex_rig *a, *b;
} rigs;

static ex_result compare_once(void *context) {
    const rigs *r = context;
    ex_differences *list = NULL;
    ex_result result = ex_rig_compare(r->a, r->b, 0, &list, NULL);
    assert_int_equal(list != NULL, result == EX_OK);
    ex_differences_destroy(list);
    return result;
}

static void memory(void **state) {
    (void)state;
    ex_scene *scene = arm_scene(1);
    scene->nodes[ARM_HAND].transform.rotation[0] = 0.6;
    scene->meshes[0].primitives[0].weights[4 * (ARM_VERTICES - 1)] = 0.5F;
    arm_write_scene("other.glb", scene);
    const char loop[] = ", 'subdivide': {'scheme': 'catmull_clark', 'levels': 1, 'limit': true}";
    ex_rig *a = make("arm.glb", OWN, "young.png", "old.png", loop);
    ex_rig *b = make("other.glb", OWN, "old.png", "young.png", loop);
    assert_true(fail_alloc_sweep(compare_once, &(rigs){a, b}) > 30);
    ex_rig_destroy(a);
    ex_rig_destroy(b);
}

/* ---- layers of offsets ---- */

static ex_rig *make_offsets(const char *keys, const char *weigh, const char *reach, const char *mesh) {
    char text[1500];
    snprintf(
        text, sizeof text,
        "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'layers': [{'name': 'l', 'shape': 'offsets', %s "
        "'space': [{'name': 'a', 'min': 0, 'max': 1}, {'name': 'b', 'min': 0, 'max': 1}], 'weigh': {'kind': "
        "'gaussian'%s}, 'examples': [{'name': 'e', 'mesh': '%s', 'at': {'a': 1}%s}]}]}",
        keys, weigh, mesh, reach);
    return build_text(text);
}

static void layers_of_offsets(void **state) {
    (void)state;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    positions[3] += 0.125;
    arm_write_mesh("one.obj", positions);
    positions[3] += 0.125;
    arm_write_mesh("other.obj", positions);
    ex_rig *rig = make_offsets("", "", "", "one.obj");
    check_one(rig, make_offsets("'frame': 'skinned',", "", "", "one.obj"), "layer", "in the frame ", 0);
    check_one(rig, make_offsets("'participation': 'moved', 'rest': true,", "", "", "one.obj"), "layer",
              "weighed among the examples that move them", 0);
    check_one(rig, make_offsets("'muted': true,", "", "", "one.obj"), "layer", "it is muted only in the second", 0);
    check_one(rig, make_offsets("'rest': false,", "", "", "one.obj"), "pseudo", "1 in the first, 0 in the second", 0);
    check_one(rig, make_offsets("", ", 'ridge': 0.5", "", "one.obj"), "weigher", "gaussian (ridge 0) in the first", 0);
    check_one(rig, make_offsets("", "", ", 'falloff': 0.75", "one.obj"), "example",
              "the falloff of example 'e' differs by 0.75", 0.75);
    check_one(rig, make_offsets("", "", ", 'metric': [[2, 1], [1, 3]]", "one.obj"), "example",
              "the metric of example 'e' differs by 3", 3);
    check_one(rig, make_offsets("", "", "", "other.obj"), "example", "moves vertex 1 (counting from 0) differently",
              0.125);
    ex_rig_destroy(rig);
}

/* ---- mixtures ---- */

enum { MIXED = 20 };

static ex_rig *mixed_rig(const mixed_layer *m) {
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = MIXED, .split_count = MIXED, .positions = m->mesh};
    def.layers = &m->def;
    def.layer_count = 1;
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_rig_create(&def, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    return rig;
}

/* Changes one thing; returns a word of the difference and its size, or NULL after the last. */
static const char *change_mixture(mixed_layer *m, int which, double *largest) {
    *largest = 0;
    switch (which) {
    case 0:
        *largest = 0.125;
        m->places[3][2][1] += 0.125F;
        return "places of nodes of the mixture differ by at most 0.125";
    case 1:
        *largest = 0.25;
        m->turns[2][1][0] += 0.25F;
        return "turns of nodes, in radians, of the mixture differ by at most 0.25";
    case 2:
        m->edges[0][0] = 2;
        return "edges of the mixture join other nodes";
    case 3:
        *largest = 0.5;
        m->edge_weights[3] += 0.5F;
        return "weights of edges of the mixture differ by at most 0.5";
    case 4:
        m->nodes[4 * 7] = (uint16_t)((m->nodes[4 * 7] + 1) % MIXED_NODES);
        return "vertices are moved by other nodes";
    case 5:
        *largest = (double)m->shares[4 * 7];
        m->shares[4 * 7 + 1] += m->shares[4 * 7];
        m->shares[4 * 7] = 0;
        return "shares of vertices of the mixture differ";
    case 6:
        m->terms[1].power = 2;
        return "terms of the mixture have other corners or powers";
    case 7:
        *largest = 0.5;
        m->curves[2][3] += 0.5F;
        return "curves of correctors of the mixture differ by at most 0.5";
    case 8:
        *largest = 0.5;
        ((float *)(uintptr_t)m->corrector_list[1])[3 * 9] += 0.5F;
        return "corrector 2 of the mixture differs by at most 0.5 (vertex 9)";
    case 9:
        m->def.trajectory.mixture.edge_count--;
        return "the mixture has 7 edges in the first and 6 in the second";
    default:
        return NULL;
    }
}

static void mixtures(void **state) {
    (void)state;
    float mesh[3 * MIXED];
    uint64_t random = 4;
    for (int i = 0; i < 3 * MIXED; i++)
        mesh[i] = (float)random_between(&random, -1, 1);
    mixed_layer given;
    mixed_layer_open(&given, mesh, MIXED, 0, MIXED_ALL, 5);
    ex_rig *rig = mixed_rig(&given);
    int count = 0;
    for (const char *word = ""; word; count++) {
        mixed_layer m;
        double largest = 0;
        mixed_layer_open(&m, mesh, MIXED, 0, MIXED_ALL, 5);
        word = change_mixture(&m, count, &largest);
        ex_rig *other = mixed_rig(&m);
        if (word) {
            check_one(rig, other, "trajectory", word, largest);
        } else {
            ex_differences *list = compare(rig, other, 0);
            assert_int_equal(list->count, 0);
            ex_differences_destroy(list);
            ex_rig_destroy(other);
        }
        mixed_layer_close(&m);
    }
    assert_int_equal(count, 11);
    ex_rig_destroy(rig);
    mixed_layer_close(&given);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thing_at_a_time), cmocka_unit_test(joints_by_name), cmocka_unit_test(memory),
        cmocka_unit_test(layers_of_offsets),   cmocka_unit_test(mixtures),
    };
    return cmocka_run_group_tests_name("author.project.difference", tests, set_up, scratch_tear_down);
}
