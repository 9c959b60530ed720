/*
 * Scenes evaluated and turned into meshes: keys by hand, orders, skins; primitives joined, strips and fans, placed
 * nodes; meshes into scenes and back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/formats.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/meshes.h"
#include "support/scenes.h"
#include "support/scratch.h"

/* ---- keys ---- */

static void interpolates_by_hand(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    ex_scene_transform t[6];
    /* Halfway, a half turn about z is a quarter turn. It is held before the first key and after the last. */
    ex_scene_sample(scene, 0, 1, t);
    assert_row_near(t[0].rotation, ((double[]){0, 0, sqrt(0.5), sqrt(0.5)}), 4, 1e-15);
    assert_row_near(t[0].translation, ((double[]){1, 2, 0.1}), 3, 0);
    /* ½ v₁ + ⅛ out − ⅛ in. */
    assert_row_near(t[2].translation, ((double[]){0.5 + 0.125, 0.5 - 0.25, 0.5}), 3, 1e-15);
    ex_scene_sample(scene, 0, 0.75, t);
    assert_row_near(t[0].rotation, ((double[]){0, 0, sin(acos(-1) / 8), cos(acos(-1) / 8)}), 4, 1e-15);
    assert_row_near(t[2].translation, ((double[]){0.15625 + 0.140625, 0.15625 - 2 * 0.046875, 0.15625}), 3, 1e-15);
    ex_scene_sample(scene, 0, -7, t);
    assert_row_near(t[0].rotation, ((double[]){0, 0, 0, 1}), 4, 0);
    assert_row_near(t[2].translation, ((double[]){0, 0, 0}), 3, 0);
    ex_scene_sample(scene, 0, 99, t);
    assert_row_near(t[0].rotation, ((double[]){0, 0, 1, 0}), 4, 0);
    assert_row_near(t[2].translation, ((double[]){1, 1, 1}), 3, 0);
    double weights[2];
    static const double times[] = {-1, 0, 0.999, 1, 1.5, 2, 3};
    static const double first[] = {0, 0, 0, 0.5, 0.5, 1, 1};
    for (int i = 0; i < 7; i++) {
        ex_scene_sample_weights(scene, 0, times[i], 3, weights);
        assert_true(weights[0] == first[i]);
    }
    ex_scene_sample_weights(scene, 1, 0, 3, weights);
    assert_true(weights[0] == 0.3); /* the node's own */
    ex_scene_sample_weights(scene, -1, 0, 3, weights);
    assert_true(weights[0] == 0.3 && weights[1] == 0);
    assert_true(ex_scene_duration(scene, 0) == 2 && ex_scene_duration(scene, 1) == 0);
    ex_scene_sample(scene, 1, 0, t);
    assert_row_near(t[1].scale, ((double[]){2, 2, 2}), 3, 0);
    ex_scene_destroy(scene);
}

/* The shorter way, and without damage if two rotations are equal. */
static void turns_the_short_way(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    float *values = scene->animations[0].channels[0].values;
    ex_scene_transform t[6];
    uint64_t random = 5;
    for (int round = 0; round < 200; round++) {
        double q[2][4], plain[4], dot = 0;
        for (int k = 0; k < 8; k++)
            values[k] = (float)random_between(&random, -1, 1);
        if (round % 4 == 0)
            for (int k = 0; k < 4; k++)
                values[4 + k] = -values[k] + (round % 8 ? 0 : 1e-6f * (float)k);
        for (int i = 0; i < 2; i++) {
            double length = 0;
            for (int k = 0; k < 4; k++)
                length += (double)values[4 * i + k] * (double)values[4 * i + k];
            for (int k = 0; k < 4; k++)
                q[i][k] = (double)values[4 * i + k] / sqrt(length);
        }
        for (int k = 0; k < 4; k++)
            dot += q[0][k] * q[1][k];
        /* Halfway is on the normalised sum. */
        double length = 0;
        for (int k = 0; k < 4; k++) {
            plain[k] = q[0][k] + (dot < 0 ? -1 : 1) * q[1][k];
            length += plain[k] * plain[k];
        }
        for (int k = 0; k < 4; k++)
            plain[k] /= sqrt(length);
        ex_scene_sample(scene, 0, 1, t);
        assert_row_near(t[0].rotation, plain, 4, 1e-14);
    }
    ex_scene_destroy(scene);
}

static void places_nodes(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    double worlds[6 * 16], joints[3 * 16];
    scene->nodes[1].transform.translation[2] = 10;
    scene->nodes[2].transform.translation[2] = 1;
    assert_int_equal(ex_scene_worlds(scene, NULL, worlds, NULL), EX_OK);
    /* Node 0 turns z by 2 acos 0.8 about y and stretches it to 2: (0, 0, 1) → 2 (0.96, 0, 0.28). */
    assert_row_near(worlds + 2 * 16 + 12, ((double[]){1 + 1.92, 2, 10.1 + 0.56, 1}), 4, 1e-14);
    assert_row_near(worlds + 16 + 12, ((double[]){0, 0, 10, 1}), 4, 0);
    ex_scene_skin_matrices(scene, 0, worlds, joints);
    assert_row_near(joints + 12, ((double[]){-0.5, 0, 10, 1}), 4, 0);
    assert_row_near(joints + 16, worlds, 16, 0);
    free(scene->skins[0].inverse_binds);
    scene->skins[0].inverse_binds = NULL;
    ex_scene_skin_matrices(scene, 0, worlds, joints);
    assert_row_near(joints, worlds + 16, 16, 0);
    scene->nodes[1].parent = 2;
    ex_error error;
    assert_int_equal(ex_scene_worlds(scene, NULL, worlds, &error), EX_ERROR_DATA);
    ex_scene_destroy(scene);
}

/* A hundred thousand nodes in a chain, the last one first. */
static void places_long_chains(void **state) {
    (void)state;
    enum { NODES = 100000 };
    ex_scene *scene = ex_scene_create();
    scene->nodes = calloc(NODES, sizeof *scene->nodes);
    double *worlds = malloc(NODES * 16 * sizeof *worlds);
    assert_non_null(scene->nodes);
    assert_non_null(worlds);
    scene->node_count = NODES;
    for (int n = 0; n < NODES; n++)
        scene->nodes[n] = (ex_scene_node){.parent = n + 1 < NODES ? n + 1 : -1,
                                          .transform = {{1, 0, 0}, {0, 0, 0, 0}, {1, 1, 1}},
                                          .mesh = -1,
                                          .skin = -1};
    assert_int_equal(ex_scene_check(scene, NULL), EX_OK);
    assert_int_equal(ex_scene_worlds(scene, NULL, worlds, NULL), EX_OK);
    assert_true(worlds[12] == NODES && worlds[16 * (NODES - 1) + 12] == 1);
    free(worlds);
    ex_scene_destroy(scene);
}

static int misuses;

static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void reports_misuse(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    ex_scene_transform t[6];
    double numbers[96];
    ex_set_misuse_hook(count_misuse);
    ex_scene_sample(scene, 2, 0, t);
    ex_scene_sample_weights(scene, 0, 0, 0, numbers);
    ex_scene_skin_matrices(scene, 1, numbers, numbers);
    assert_true(ex_scene_duration(scene, -1) == 0);
    assert_int_equal(misuses, 4);
    ex_set_misuse_hook(NULL);
    ex_mesh *mesh;
    assert_int_equal(ex_scene_to_mesh(scene, 2, &mesh, NULL, NULL), EX_ERROR_ARGUMENT);
    ex_scene_destroy(scene);
}

/* ---- meshes from scenes ---- */

static void check_ints(const int *items, int count, const int *expected) {
    assert_non_null(items);
    for (int i = 0; i < count; i++)
        assert_int_equal(items[i], expected[i]);
}

static void joins_primitives(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    ex_mesh *mesh;
    int first[2];
    assert_int_equal(ex_scene_to_mesh(scene, 0, &mesh, first, NULL), EX_OK);
    assert_int_equal(mesh->vertex_count, 7);
    check_ints(first, 2, (int[]){0, 4});
    assert_int_equal(mesh->face_count, 4);
    check_ints(mesh->face_offsets, 5, (int[]){0, 3, 6, 9, 12});
    check_ints(mesh->corners, 12, (int[]){0, 1, 2, 1, 3, 2, 4, 5, 6, 6, 5, 4});
    check_ints(mesh->corner_texcoords, 12, (int[]){0, 1, 2, 1, 3, 2, -1, -1, -1, -1, -1, -1});
    check_ints(mesh->corner_normals, 12, (int[]){0, 1, 2, 1, 3, 2, -1, -1, -1, -1, -1, -1});
    check_ints(mesh->face_groups, 4, (int[]){0, 0, 1, 1});
    check_ints(mesh->face_materials, 4, (int[]){1, 1, -1, -1});
    assert_string_equal(mesh->group_names[1], "größe_\"quoted\"_\\__.1");
    assert_string_equal(mesh->material_names[0], "material.0");
    assert_string_equal(mesh->material_names[1], "cloth");
    assert_true(mesh->texcoords[6] == -2 && mesh->texcoords[7] == -1 && /* the second set, times 2 */
                mesh->positions[11] == (double)0.1f);
    const float colours[6] = {0.1f, 0.2f, 0.3f, 1, 1, 1};
    assert_memory_equal(mesh->colours + 9, colours, sizeof colours);
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
}

/* Sixteen nodes with one mesh make a form; one more is refused before memory is taken. */
static void bounds_repeated_meshes(void **state) {
    (void)state;
    for (int nodes = 16; nodes <= 17; nodes++) {
        char text[1024] = "{\"asset\":{\"version\":\"2.0\"},\"accessors\":[{\"componentType\":5126,\"count\":90000,"
                          "\"type\":\"VEC3\"}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
                          "\"nodes\":[{\"mesh\":0}";
        for (int i = 1; i < nodes; i++)
            strcat(text, ",{\"mesh\":0}");
        strcat(text, "]}");
        ex_scene *scene;
        ex_mesh *mesh;
        ex_error error = {.result = EX_OK};
        assert_int_equal(ex_scene_parse(text, strlen(text), "forest.gltf", false, &scene, &error), EX_OK);
        assert_int_equal(ex_scene_to_form(scene, &mesh, &error), nodes == 16 ? EX_OK : EX_ERROR_LIMIT);
        if (nodes == 16)
            assert_int_equal(mesh->vertex_count, 16 * 90000);
        else
            assert_sentence(&error, EX_ERROR_LIMIT,
                            "repeat meshes until the form would have more than 1440000 vertices");
        ex_mesh_destroy(mesh);
        ex_scene_destroy(scene);
    }
}

static void shares_vertices(void **state) {
    (void)state;
    const char obj[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\ng a\nf 1 2 3 4\ng b\nf 4 3 2 1\n";
    ex_mesh *mesh, *again;
    ex_scene *scene = ex_scene_create();
    assert_int_equal(ex_obj_parse(obj, sizeof obj - 1, "x", &mesh, NULL), EX_OK);
    assert_int_equal(ex_scene_add_mesh(scene, mesh, NULL, NULL, NULL), EX_OK);
    assert_int_equal(scene->meshes[0].primitive_count, 2);
    int first[2];
    assert_int_equal(ex_scene_to_mesh(scene, 0, &again, first, NULL), EX_OK);
    assert_int_equal(again->vertex_count, 4);
    check_ints(first, 2, (int[]){0, 0});
    assert_int_equal(again->face_count, 4);
    ex_mesh_destroy(again);
    scene->meshes[0].primitives[1].positions[1] = -0.0f;
    assert_int_equal(ex_scene_to_mesh(scene, 0, &again, first, NULL), EX_OK);
    assert_int_equal(again->vertex_count, 8);
    check_ints(first, 2, (int[]){0, 4});
    ex_mesh_destroy(again);
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
}

/* Texture coordinates as the material uses them, worked out by hand for a quarter turn. */
static void transforms_texcoords(void **state) {
    (void)state;
    const char obj[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nvt 0.25 0.5\nvt 1 1\nvt 0 0\nusemtl a\nf 1/1 2/2 3/3\n";
    ex_mesh *mesh, *again;
    ex_scene *scene = ex_scene_create();
    assert_int_equal(ex_obj_parse(obj, sizeof obj - 1, "x", &mesh, NULL), EX_OK);
    assert_int_equal(ex_scene_add_mesh(scene, mesh, NULL, NULL, NULL), EX_OK);
    ex_scene_material *material = &scene->materials[0];
    ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    static const struct {
        const char *rest;
        double u, v;
    } cases[] = {
        {"{\"extensions\":{\"KHR_texture_transform\":{\"offset\":[9,9]}}}", 0.25, 0.5},
        {"{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"extensions\":{\"KHR_texture_transform\":{\"offset\":[0.1,"
         "0.2],"
         "\"rotation\":1.5707963267948966,\"scale\":[2,3]}}}}}",
         0.1 + 3 * 0.5, 1 - (0.2 - 2 * 0.25)},
        {"{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"extensions\":{\"KHR_texture_transform\":{\"texCoord\":1,"
         "\"scale\":[0.5,1]}}}}}",
         0.35, 0.9},
    };
    p->texcoords[1] = malloc(6 * sizeof(float));
    memcpy(p->texcoords[1], (float[]){0.7f, 0.1f, 0, 0, 0, 0}, 6 * sizeof(float));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        free(material->rest);
        material->rest = malloc(strlen(cases[i].rest) + 1);
        strcpy(material->rest, cases[i].rest);
        for (int textured = 0; textured < 2; textured++) {
            material->base_texture = textured - 1; /* a transform of nothing counts for nothing */
            assert_int_equal(ex_scene_to_mesh(scene, 0, &again, NULL, NULL), EX_OK);
            assert_near(again->texcoords[0], textured ? cases[i].u : 0.25, 1e-7);
            assert_near(again->texcoords[1], textured ? cases[i].v : 0.5, 1e-7);
            ex_mesh_destroy(again);
        }
    }
    /* A set that the primitive does not have. */
    free(material->rest);
    material->rest = NULL;
    material->base_texcoord = 2;
    assert_int_equal(ex_scene_to_mesh(scene, 0, &again, NULL, NULL), EX_OK);
    assert_null(again->texcoords);
    ex_mesh_destroy(again);
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
}

/* Fans and strips as the specification orders them; triangles with a vertex twice are left out. */
static void cuts_strips_and_fans(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    ex_scene_primitive *p = &scene->meshes[0].primitives[1];
    ex_mesh *mesh;
    free(p->indices);
    p->indices = malloc(6 * sizeof *p->indices);
    assert_non_null(p->indices);
    memcpy(p->indices, (int[]){0, 1, 2, 0, 0, 1}, 6 * sizeof *p->indices);
    p->mode = EX_SCENE_TRIANGLE_STRIP;
    assert_int_equal(ex_scene_to_mesh(scene, 0, &mesh, NULL, NULL), EX_OK);
    assert_int_equal(mesh->face_count, 4); /* 0 1 2, 1 0 2; the others are nothing */
    check_ints(mesh->corners + 6, 6, (int[]){4, 5, 6, 5, 4, 6});
    ex_mesh_destroy(mesh);
    p->mode = EX_SCENE_TRIANGLE_FAN;
    assert_int_equal(ex_scene_to_mesh(scene, 0, &mesh, NULL, NULL), EX_OK);
    assert_int_equal(mesh->face_count, 3);
    check_ints(mesh->corners + 6, 3, (int[]){5, 6, 4});
    ex_mesh_destroy(mesh);
    p->mode = EX_SCENE_LINE_STRIP;
    assert_int_equal(ex_scene_to_mesh(scene, 0, &mesh, NULL, NULL), EX_OK);
    assert_int_equal(mesh->face_count, 2);
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
}

static void places_forms(void **state) {
    (void)state;
    const char obj[] = "v 1 2 3\nv 2 2 3\nv 1 3 3\nvn 0 0 2\nf 1//1 2//1 3//1\n";
    ex_mesh *mesh, *form;
    ex_error error;
    ex_scene *scene = ex_scene_create();
    assert_int_equal(ex_obj_parse(obj, sizeof obj - 1, "x", &mesh, NULL), EX_OK);
    assert_int_equal(ex_scene_add_mesh(scene, mesh, "m", NULL, NULL), EX_OK);
    assert_int_equal(ex_scene_to_form(scene, &form, NULL), EX_OK); /* without nodes: as it is */
    assert_true(form->positions[0] == 1);
    ex_mesh_destroy(form);
    ex_scene_add_node(scene, "a", 1, 0);
    ex_scene_add_node(scene, NULL, -1, -1);
    ex_scene_add_node(scene, "hidden", -1, 0);
    scene->nodes[2].hidden = true;
    scene->nodes[0].transform.scale[0] = -2; /* a mirror: the face turns round, the normal does not */
    scene->nodes[1].transform.translation[1] = 10;
    assert_int_equal(ex_scene_to_form(scene, &form, NULL), EX_OK);
    assert_int_equal(form->vertex_count, 3);
    assert_row_near(form->positions, ((double[]){-2, 12, 3, -4, 12, 3, -2, 13, 3}), 9, 1e-15);
    check_ints(form->corners, 3, (int[]){2, 1, 0});
    assert_row_near(form->normals, ((double[]){0, 0, 1}), 3, 1e-15);
    assert_string_equal(form->group_names[0], "a");
    ex_mesh_destroy(form);
    scene->nodes[1].hidden = true; /* hides what is below, too */
    assert_int_equal(ex_scene_to_form(scene, &form, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "no mesh");
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
    /* With a skin, the node's own place has no effect. */
    scene = scene_with_everything();
    scene->nodes[3].transform.translation[0] = 100;
    scene->nodes[4].transform.translation[0] = 50;
    assert_int_equal(ex_scene_to_form(scene, &form, NULL), EX_OK);
    assert_int_equal(form->vertex_count, 9);
    assert_true(form->positions[3] == 1 && form->positions[21] == 50);
    ex_mesh_destroy(form);
    ex_scene_destroy(scene);
}

/* ---- meshes into scenes ---- */

static void splits_at_seams(void **state) {
    (void)state;
    const char obj[] = "v 0 0 0 1 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 9 9 9\nvt 0 0\nvt 1 0\nvt 0 0.25\nvn 0 0 1\n"
                       "usemtl red\nf 1/1/1 2/2/1 3/1/1 4/3/1\nf 4/1/1 3/1/1 2/2/1\nusemtl blue\nf 1 3 2\n";
    ex_mesh *mesh;
    ex_scene *scene = scene_with_everything();
    int number;
    assert_int_equal(ex_obj_parse(obj, sizeof obj - 1, "x", &mesh, NULL), EX_OK);
    assert_int_equal(ex_scene_add_mesh(scene, mesh, "new", &number, NULL), EX_OK);
    assert_int_equal(number, 2);
    assert_int_equal(scene->material_count, 4);
    assert_string_equal(scene->materials[3].name, "blue");
    const ex_scene_mesh *made = &scene->meshes[2];
    assert_int_equal(made->primitive_count, 2);
    const ex_scene_primitive *p = &made->primitives[0], *q = &made->primitives[1];
    assert_int_equal(p->vertex_count, 5); /* the fourth vertex is split, the fifth has no face */
    check_ints(p->sources, 5, (int[]){0, 1, 2, 3, 3});
    assert_int_equal(p->material, 2);
    assert_int_equal(p->index_count, 9);
    assert_true(p->texcoords[0][1] == 1 && p->texcoords[0][9] == 0.75f);
    assert_true(p->normals[14] == 1 && p->colours[0] == 1 && p->colours[1] == 0 && p->colours[3] == 1);
    assert_int_equal(q->vertex_count, 3);
    assert_null(q->normals);
    assert_null(q->texcoords[0]);
    check_ints(q->indices, 3, (int[]){0, 2, 1});
    assert_int_equal(ex_scene_check(scene, NULL), EX_OK);
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
}

/* Written to a file and read again: the same faces over the same places. */
static void goes_through_files(void **state) {
    (void)state;
    static const char *const names[] = {"m.obj", "m.ply", "m.GLTF", "m.glb"};
    ex_mesh *mesh, *again;
    ex_error error;
    const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0.3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";
    assert_int_equal(ex_obj_parse(obj, sizeof obj - 1, "x", &mesh, NULL), EX_OK);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (ex_mesh_write(scratch_path(names[i]), mesh, &error) != EX_OK ||
            ex_mesh_read(scratch_path(names[i]), &again, &error) != EX_OK)
            fail_msg("%s", error.text);
        assert_int_equal(ex_mesh_compare_connectivity(mesh, again, &error), EX_OK);
        for (int k = 0; k < 12; k++)
            assert_near(again->positions[k], mesh->positions[k], 1e-7);
        ex_mesh_destroy(again);
    }
    assert_int_equal(ex_mesh_write(scratch_path("m.stl"), mesh, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_mesh_read(scratch_path("m.stl"), &again, &error), EX_ERROR_FILE);
    scratch_write("m.stl", "solid", 5);
    assert_int_equal(ex_mesh_read(scratch_path("m.stl"), &again, &error), EX_ERROR_FORMAT);
    mesh->positions[4] = 1e300;
    assert_int_equal(ex_mesh_write(scratch_path("n.glb"), mesh, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "vertex 1 of the mesh (counting from 0) is not finite as a float");
    mesh->vertex_count = 0;
    mesh->face_count = 0;
    assert_int_equal(ex_mesh_write(scratch_path("n.glb"), mesh, &error), EX_ERROR_DATA);
    mesh->vertex_count = 4; /* without faces: points */
    mesh->positions[4] = 1;
    assert_int_equal(ex_mesh_write(scratch_path("n.glb"), mesh, &error), EX_OK);
    assert_int_equal(ex_mesh_read(scratch_path("n.glb"), &again, &error), EX_OK);
    assert_int_equal(again->vertex_count, 4);
    assert_int_equal(again->face_count, 0);
    ex_mesh_destroy(again);
    ex_mesh_destroy(mesh);
}

/* Every vertex of a skin is the sum of its joints' matrices over its weights, computed here from the scene's parts. */
static void stands_by_its_joints(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    ex_mesh *form, *standing;
    double worlds[16 * 6], matrices[16 * 8];
    int start = 0, skinned = 0;
    assert_true(scene->node_count <= 6);
    assert_int_equal(ex_scene_to_form(scene, &form, NULL), EX_OK);
    assert_int_equal(ex_scene_to_standing(scene, &standing, NULL), EX_OK);
    assert_int_equal(ex_scene_worlds(scene, NULL, worlds, NULL), EX_OK);
    assert_int_equal(standing->vertex_count, form->vertex_count);
    for (int n = 0; n < scene->node_count; n++) {
        const ex_scene_node *node = &scene->nodes[n];
        for (int i = 0; node->mesh >= 0 && !node->hidden && i < scene->meshes[node->mesh].primitive_count; i++) {
            const ex_scene_primitive *p = &scene->meshes[node->mesh].primitives[i];
            for (int v = 0; v < p->vertex_count; v++) {
                const double *bound = form->positions + 3 * (start + v);
                double expected[3] = {bound[0], bound[1], bound[2]};
                if (node->skin >= 0 && p->influence_count > 0) {
                    assert_true(scene->skins[node->skin].joint_count <= 8);
                    ex_scene_skin_matrices(scene, node->skin, worlds, matrices);
                    memset(expected, 0, sizeof expected);
                    for (int k = 0; k < p->influence_count; k++)
                        for (int r = 0; r < 3; r++) {
                            const double *m = matrices + 16 * p->joints[v * p->influence_count + k] + r;
                            expected[r] += (double)p->weights[v * p->influence_count + k] *
                                           (m[0] * bound[0] + m[4] * bound[1] + m[8] * bound[2] + m[12]);
                        }
                    skinned++;
                }
                assert_row_near(standing->positions + 3 * (start + v), expected, 3, 1e-12);
            }
            start += p->vertex_count;
        }
    }
    assert_int_equal(start, form->vertex_count);
    assert_true(skinned > 0);
    ex_mesh_destroy(form);
    ex_mesh_destroy(standing);
    ex_scene_destroy(scene);
}

/* ---- memory ---- */

static ex_result stand_with_little_memory(void *context) {
    ex_mesh *mesh;
    const ex_result result = ex_scene_to_standing(context, &mesh, NULL);
    ex_mesh_destroy(mesh);
    return result;
}

static ex_result convert_with_little_memory(void *context) {
    const ex_mesh *mesh = context;
    ex_scene *scene = ex_scene_create();
    ex_mesh *again = NULL;
    ex_error error = {.result = EX_OK};
    ex_result result = scene ? ex_scene_add_mesh(scene, mesh, "m", NULL, &error) : EX_ERROR_MEMORY;
    if (result == EX_OK && ex_scene_add_node(scene, "n", -1, 0) < 0)
        result = EX_ERROR_MEMORY;
    if (result == EX_OK)
        result = ex_scene_to_mesh(scene, 0, &again, NULL, &error);
    ex_mesh_destroy(again);
    if (result == EX_OK)
        result = ex_scene_to_form(scene, &again, &error);
    if (result == EX_OK)
        ex_mesh_destroy(again);
    if (scene && (scene->mesh_count == 0) != (scene->material_count == 0))
        result = EX_ERROR_DATA;
    ex_scene_destroy(scene);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    ex_mesh *mesh;
    assert_int_equal(ex_obj_parse(obj_with_everything, strlen(obj_with_everything), "x", &mesh, NULL), EX_OK);
    mesh->positions[11] = 1;
    assert_true(fail_alloc_sweep(convert_with_little_memory, mesh) >= 40);
    ex_mesh_destroy(mesh);
    ex_scene *scene = scene_with_everything();
    assert_true(fail_alloc_sweep(stand_with_little_memory, scene) >= 5);
    ex_scene_destroy(scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpolates_by_hand),
        cmocka_unit_test(turns_the_short_way),
        cmocka_unit_test(places_nodes),
        cmocka_unit_test(places_long_chains),
        cmocka_unit_test(reports_misuse),
        cmocka_unit_test(joins_primitives),
        cmocka_unit_test(bounds_repeated_meshes),
        cmocka_unit_test(shares_vertices),
        cmocka_unit_test(transforms_texcoords),
        cmocka_unit_test(cuts_strips_and_fans),
        cmocka_unit_test(places_forms),
        cmocka_unit_test(stands_by_its_joints),
        cmocka_unit_test(splits_at_seams),
        TEST(goes_through_files),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
