#include "support/arms.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/poses.h"
#include "support/scratch.h"
#include "words.h"

void arm_form(double length, double thickness, double *positions) {
    for (int r = 0; r < ARM_RINGS; r++)
        for (int s = 0; s < ARM_SIDES; s++) {
            double *p = positions + 3 * (r * ARM_SIDES + s), angle = 6.283185307179586 * s / ARM_SIDES;
            p[0] = 2 * length * r / (ARM_RINGS - 1);
            p[1] = thickness * cos(angle);
            p[2] = thickness * sin(angle);
        }
}

static void *copy(const void *bytes, size_t size) {
    void *made = malloc(size);
    assert_non_null(made);
    memcpy(made, bytes, size);
    return made;
}

ex_mesh *arm_mesh(const double *positions) {
    enum { FACES = (ARM_RINGS - 1) * ARM_SIDES, COLUMNS = ARM_SIDES + 1 };
    int offsets[FACES + 1] = {0}, corners[4 * FACES], corner_texcoords[4 * FACES];
    double texcoords[2 * ARM_RINGS * COLUMNS];
    for (int r = 0; r < ARM_RINGS; r++)
        for (int s = 0; s < COLUMNS; s++) {
            texcoords[2 * (r * COLUMNS + s)] = (double)r / (ARM_RINGS - 1);
            texcoords[2 * (r * COLUMNS + s) + 1] = (double)s / ARM_SIDES;
        }
    for (int f = 0; f < FACES; f++) {
        int r = f / ARM_SIDES, s = f % ARM_SIDES, t = (s + 1) % ARM_SIDES;
        const int quad[4] = {r * ARM_SIDES + s, (r + 1) * ARM_SIDES + s, (r + 1) * ARM_SIDES + t, r * ARM_SIDES + t};
        const int at[4] = {r * COLUMNS + s, (r + 1) * COLUMNS + s, (r + 1) * COLUMNS + s + 1, r * COLUMNS + s + 1};
        memcpy(corners + 4 * f, quad, sizeof quad);
        memcpy(corner_texcoords + 4 * f, at, sizeof at);
        offsets[f + 1] = 4 * (f + 1);
    }
    ex_mesh *mesh = ex_mesh_create();
    assert_non_null(mesh);
    mesh->vertex_count = ARM_VERTICES;
    mesh->positions = copy(positions, 3 * ARM_VERTICES * sizeof *positions);
    mesh->texcoord_count = ARM_RINGS * COLUMNS;
    mesh->texcoords = copy(texcoords, sizeof texcoords);
    mesh->face_count = FACES;
    mesh->face_offsets = copy(offsets, sizeof offsets);
    mesh->corner_count = 4 * FACES;
    mesh->corners = copy(corners, sizeof corners);
    mesh->corner_texcoords = copy(corner_texcoords, sizeof corner_texcoords);
    return mesh;
}

/* ---- the skeleton ---- */

static double ramp(double x, double from, double to) {
    double t = (x - from) / (to - from);
    return t < 0 ? 0 : t > 1 ? 1 : t;
}

static void bind(ex_scene *scene) {
    double worlds[(ARM_MESH + 1) * 16];
    assert_int_equal(ex_scene_worlds(scene, NULL, worlds, NULL), EX_OK);
    for (int j = 0; j < ARM_JOINTS; j++) {
        const double *w = worlds + 16 * scene->skins[0].joints[j];
        double rows[12], inverse[12];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                rows[4 * r + c] = w[4 * c + r];
        assert_true(oracle_invert(rows, inverse));
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++)
                scene->skins[0].inverse_binds[16 * j + 4 * c + r] = r < 3 ? (float)inverse[4 * r + c] : (float)(c == 3);
    }
}

static void fill_primitive(ex_scene_primitive *p, double length) {
    double positions[3 * ARM_VERTICES];
    arm_form(length, 0.2, positions);
    ex_mesh *mesh = arm_mesh(positions);
    int *triangles = NULL;
    p->mode = EX_SCENE_TRIANGLES;
    p->material = -1;
    p->vertex_count = ARM_VERTICES;
    p->influence_count = 4;
    p->positions = malloc(3 * ARM_VERTICES * sizeof(float));
    p->joints = calloc(4 * ARM_VERTICES, sizeof *p->joints);
    p->weights = calloc(4 * ARM_VERTICES, sizeof *p->weights);
    assert_int_equal(ex_mesh_triangulate(mesh, &triangles, &p->index_count, NULL), EX_OK);
    p->index_count *= 3;
    for (int i = 0; i < p->index_count; i++)
        triangles[i] = mesh->corners[triangles[i]];
    p->indices = triangles;
    for (int v = 0; v < ARM_VERTICES; v++) {
        const double x = positions[3 * v] / length;
        const double fore = ramp(x, 0.5, 1.5), hand = ramp(x, 1.7, 2);
        const float weights[3] = {(float)(1 - fore), (float)(fore - hand * fore), (float)(hand * fore)};
        for (int i = 0; i < 3; i++) {
            p->positions[3 * v + i] = (float)positions[3 * v + i];
            p->joints[4 * v + i] = (uint16_t)(weights[i] > 0 ? i : 0);
            p->weights[4 * v + i] = weights[i];
        }
    }
    ex_mesh_destroy(mesh);
}

ex_scene *arm_scene(double length) {
    static const char *const names[] = {"place", "upper", "fore", "between", "hand"};
    static const int parents[] = {-1, ARM_PLACE, ARM_UPPER, ARM_FORE, ARM_BETWEEN};
    const double half = sqrt(0.5), places[] = {0, 0, length / 2, 0.25, length / 2 - 0.25};
    ex_scene *scene = ex_scene_create();
    assert_non_null(scene);
    for (int n = 0; n <= ARM_HAND; n++) {
        assert_int_equal(ex_scene_add_node(scene, names[n], parents[n], -1), n);
        scene->nodes[n].transform.translation[0] = places[n];
    }
    ex_scene_transform *t = &scene->nodes[ARM_PLACE].transform;
    t->rotation[2] = t->rotation[3] = half;
    t->scale[0] = t->scale[1] = t->scale[2] = 2;
    t = &scene->nodes[ARM_UPPER].transform;
    t->rotation[2] = -half;
    t->rotation[3] = half;
    t = &scene->nodes[ARM_FORE].transform;
    t->rotation[0] = sin(0.3); /* about its bone, so that nothing moves */
    t->rotation[3] = cos(0.3);
    scene->meshes = calloc(1, sizeof *scene->meshes);
    scene->mesh_count = 1;
    scene->meshes[0].primitives = calloc(1, sizeof *scene->meshes[0].primitives);
    scene->meshes[0].primitive_count = 1;
    fill_primitive(&scene->meshes[0].primitives[0], length);
    assert_int_equal(ex_scene_add_node(scene, "arm", -1, 0), ARM_MESH);
    scene->nodes[ARM_MESH].skin = 0;
    const int joints[] = {ARM_UPPER, ARM_FORE, ARM_HAND};
    scene->skins = calloc(1, sizeof *scene->skins);
    scene->skin_count = 1;
    scene->skins[0].skeleton = -1;
    scene->skins[0].joint_count = ARM_JOINTS;
    scene->skins[0].joints = copy(joints, sizeof joints);
    scene->skins[0].inverse_binds = calloc(16 * ARM_JOINTS, sizeof(float));
    bind(scene);
    return scene;
}

/* ---- files and poses ---- */

void arm_write_mesh(const char *name, const double *positions) {
    ex_mesh *mesh = arm_mesh(positions);
    ex_error error;
    if (ex_mesh_write(scratch_path(name), mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(mesh);
}

void arm_write_scene(const char *name, ex_scene *scene) {
    ex_error error;
    if (ex_scene_write(scratch_path(name), scene, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_scene_destroy(scene);
}

ex_pose arm_pose(const ex_rig *rig, const char *const *words) {
    ex_pose pose = ex_pose_create(rig);
    ex_error error;
    assert_non_null(pose.inputs);
    for (; *words; words++)
        if (exi_pose_word(rig, *words, &pose, &error) != EX_OK)
            fail_msg("%s", error.text);
    return pose;
}

void arm_evaluate(const ex_rig *rig, const char *const *words, float *positions) {
    ex_pose pose = arm_pose(rig, words);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    assert_non_null(scratch);
    ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions}, NULL, scratch);
    free(scratch);
    free(pose.inputs);
}

void arm_sculpt(const ex_rig *rig, const char *const *words, double amount, uint32_t seed, double *positions) {
    float posed[3 * ARM_VERTICES];
    arm_evaluate(rig, words, posed);
    for (int i = 0; i < 3 * ARM_VERTICES; i++) {
        seed = seed * 1664525 + 1013904223;
        positions[i] = (double)posed[i] + amount * ((double)(seed >> 8) / 0x800000 - 1);
    }
}
