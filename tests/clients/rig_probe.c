/*
 * Writes rigs of every kind, and baked motions, into a folder for other programs to read: rig_probe FOLDER. Prints a
 * line per rig: the file's name and the expected numbers of morph targets, joints, sets of influences and pictures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/bakes.h"
#include "support/whole_rigs.h"

#include <exemplar/author.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { VERTICES = 23 };

typedef struct rig_case {
    const char *name;
    int parts;
    int influences; /* largest number per vertex; 0: all of them */
    ex_skinning skinning;
    bool without_normals, without_texcoords;
} rig_case;

static const rig_case cases[] = {
    {.name = "plain"},
    {.name = "without normals and texture coordinates", .without_normals = true, .without_texcoords = true},
    {.name = "skeleton without skin", .parts = WHOLE_SKELETON},
    {.name = "one influence", .parts = WHOLE_SKELETON | WHOLE_SKIN, .influences = 1},
    {.name = "four influences", .parts = WHOLE_SKELETON | WHOLE_SKIN, .influences = 4},
    {.name = "two sets", .parts = WHOLE_SKELETON | WHOLE_SKIN},
    {.name = "dual quaternion", .parts = WHOLE_SKELETON | WHOLE_SKIN, .skinning = EX_SKINNING_DUAL_QUATERNION},
    {.name = "textured", .parts = WHOLE_PIXELS},
    {.name = "textured without normals", .parts = WHOLE_PIXELS, .without_normals = true},
    {.name = "textured without coordinates", .parts = WHOLE_PIXELS, .without_texcoords = true},
    {.name = "subdivided", .parts = WHOLE_LEVELS | WHOLE_LIMIT},
    {.name = "everything", .parts = WHOLE_ALL},
};

/* The samples' normals are arbitrary numbers. */
static void make_unit(float *normals, int count) {
    for (int i = 0; i < count; i++) {
        float *n = normals + 3 * i;
        const float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int c = 0; c < 3; c++)
            n[c] /= length;
    }
}

static ex_skin *limited_skin(const ex_skin *from, int most) {
    uint32_t starts[VERTICES + 1] = {0}, joints[VERTICES * WHOLE_JOINTS];
    float weights[VERTICES * WHOLE_JOINTS];
    for (int v = 0; v < VERTICES; v++) {
        const int count = ex_skin_influences(from, v, joints + starts[v], weights + starts[v]);
        starts[v + 1] = starts[v] + (uint32_t)(count < most ? count : most);
    }
    ex_skin *skin = NULL;
    const ex_skin_def def = {VERTICES, WHOLE_JOINTS, starts, joints, weights};
    return ex_skin_create(&def, NULL, &skin, NULL) == EX_OK ? skin : NULL;
}

static int write_case(const char *folder, const rig_case *c) {
    whole_rig w;
    whole_rig_open(&w, VERTICES, c->parts);
    ex_skin *skin = c->influences ? limited_skin(w.skin, c->influences) : NULL;
    make_unit(w.base.normals, VERTICES + 2);
    w.def.skinning = c->skinning;
    if (skin)
        w.def.skin = skin;
    if (c->without_normals)
        w.def.mesh.normals = NULL;
    if (c->without_texcoords)
        w.def.mesh.texcoords = NULL;
    ex_rig *rig = NULL;
    ex_error error;
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.glb", folder, c->name);
    int result = ex_rig_create(&w.def, NULL, &rig, &error) == EX_OK && ex_rig_write(path, rig, &error) == EX_OK ? 0 : 1;
    if (result != 0)
        fprintf(stderr, "%s\n", error.text);
    else
        printf("%s.glb\t%d\t%d\t%d\t%d\n", c->name, ex_rig_example_count(rig) - (c->parts & WHOLE_PIXELS ? 4 : 0),
               c->parts & WHOLE_SKIN ? WHOLE_JOINTS : 0,
               c->parts & WHOLE_SKIN ? (ex_skin_get_info(ex_rig_skin(rig)).influence_most + 3) / 4 : 0,
               c->parts & WHOLE_PIXELS && !c->without_texcoords ? 2 : 0);
    ex_rig_destroy(rig);
    ex_skin_destroy(skin);
    whole_rig_close(&w);
    return result;
}

/* ---- baked motions ---- */

typedef struct bake_case {
    const char *name;
    int parts;
    ex_skinning skinning;
    int frame_count;
    ex_bake_options options;
} bake_case;

static const bake_case bakes[] = {
    {"baked forms", 0, EX_SKINNING_LINEAR, 20, {.level = 0}},
    {"baked offsets", BAKE_OFFSETS | BAKE_MOVED, EX_SKINNING_LINEAR, 20, {.thin = 1e-3}},
    {"baked one influence", 0, EX_SKINNING_LINEAR, 20, {.influence_most = 1}},
    {"baked dual quaternions", BAKE_SKINNED, EX_SKINNING_DUAL_QUATERNION, 20, {.level = 0}},
    {"baked limit", 0, EX_SKINNING_LINEAR, 20, {.level = EX_LEVEL_LIMIT, .target_count = 5}},
    {"baked without skeleton", BAKE_BARE | BAKE_UNUSED, EX_SKINNING_LINEAR, 20, {.thin = 1e-2}},
    {"baked one frame", BAKE_OFFSETS, EX_SKINNING_LINEAR, 1, {.level = 0}},
};

static int write_bake(const char *folder, const bake_case *c) {
    ex_rig *rig = bake_arm_rig(9, 8, c->skinning, c->parts);
    ex_motion *motion = bake_motion(rig, c->frame_count, 7, 80);
    ex_bake_report report;
    ex_error error;
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.glb", folder, c->name);
    const int result = ex_bake_glb(rig, motion, path, &c->options, &report, &error) == EX_OK ? 0 : 1;
    const int joints = ex_rig_joint_count(rig);
    if (result != 0)
        fprintf(stderr, "%s\n", error.text);
    else
        printf("%s.glb\t%d\t%d\t%d\t%d\n", c->name, report.target_count, joints, joints > 0,
               c->options.level == 0 ? 1 : 0); /* refined levels of this arm have no texture coordinates */
    bake_motion_free(motion);
    ex_rig_destroy(rig);
    return result;
}

int main(int argument_count, char **arguments) {
    int result = argument_count == 2 ? 0 : 1;
    for (size_t i = 0; result == 0 && i < sizeof cases / sizeof *cases; i++)
        result = write_case(arguments[1], &cases[i]);
    for (size_t i = 0; result == 0 && i < sizeof bakes / sizeof *bakes; i++)
        result = write_bake(arguments[1], &bakes[i]);
    return result;
}
