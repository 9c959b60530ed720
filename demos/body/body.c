/*
 * The demo `body` (Articulated Body Deformation from Range Scan Data): a subject to scan, as an ordinary rig: a skin on
 * bones, with layers of offsets for the effects of a pose. The program itself makes the scans and builds a body from
 * them (exemplar scan).
 */
#include "body.h"

#include "common/array.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- axes of the subject's shape ---- */

enum { AXES = 2, EXAMPLE_WAYS = 3 };

/* A joint's value at an example: degrees of a hinge, or turns of a ball joint as in exi_body_turn. */
typedef struct example {
    const char *name;
    double turn[3];
    struct {
        exi_body_way way;
        double amount;
    } ways[EXAMPLE_WAYS];
} example;

typedef struct layer {
    const char *name;
    const char *axes[AXES]; /* joints; two of them share the turn */
    int hinge;              /* exi_body_hinge, or -1 */
    double range[2], falloff;
    example examples[9];
} layer;

static const layer layers[] = {
    {"elbow",
     {"elbow.L"},
     BODY_BEND,
     {0, 140},
     48,
     {{"elbow_45", {45}, {{BODY_BENT, 0.35}}},
      {"elbow_90", {90}, {{BODY_BENT, 0.75}}},
      {"elbow_140", {140}, {{BODY_BENT, 1}}}}},
    {"forearm",
     {"forearm.L"},
     BODY_TWIST,
     {0, 140},
     60,
     {{"forearm_65", {65}, {{BODY_TURNED, 0.5}}}, {"forearm_130", {130}, {{BODY_TURNED, 1}}}}},
    {"wrist",
     {"wrist.L"},
     BODY_FLEX,
     {-60, 60},
     30,
     {{"wrist_extended", {-45}, {{BODY_EXTENDED, 1}}}, {"wrist_flexed", {45}, {{BODY_FLEXED, 1}}}}},
    {"shoulder",
     {"shoulder.L"},
     -1,
     {0, 0},
     38,
     {{"up", {60, 0, 0}, {{BODY_UP, 1}}},
      {"down", {-28, 0, 0}, {{BODY_DOWN, 1}}},
      {"forward", {0, -65, 0}, {{BODY_FORWARD, 1}}},
      {"back", {0, 35, 0}, {{BODY_BACK, 1}}},
      {"in", {0, 0, 40}, {{BODY_IN, 1}}},
      {"out", {0, 0, -40}, {{BODY_OUT, 1}}},
      {"up_forward", {60, -60, 0}, {{BODY_UP, 0.8}, {BODY_FORWARD, 0.8}}},
      {"down_forward", {-25, -60, 0}, {{BODY_DOWN, 0.7}, {BODY_FORWARD, 0.8}}},
      {"up_back", {60, 30, 0}, {{BODY_UP, 0.9}, {BODY_BACK, 0.7}}}}},
    {"clavicle",
     {"clavicle.L"},
     -1,
     {0, 0},
     14,
     {{"shrug", {18, 0, 0}, {{BODY_SHRUG, 1}}},
      {"sink", {-9, 0, 0}, {{BODY_SINK, 1}}},
      {"protract", {0, -18, 0}, {{BODY_PROTRACT, 1}}},
      {"retract", {0, 15, 0}, {{BODY_RETRACT, 1}}}}},
    {"torso",
     {"waist", "abdomen"},
     -1,
     {0, 0},
     16,
     {{"left", {-15, 0, 0}, {{BODY_LEFT, 1}}},
      {"right", {15, 0, 0}, {{BODY_RIGHT, 1}}},
      {"twist_left", {0, 22, 0}, {{BODY_TWIST_LEFT, 1}}},
      {"twist_right", {0, -22, 0}, {{BODY_TWIST_RIGHT, 1}}},
      {"lean", {0, 0, 20}, {{BODY_LEAN, 1}}},
      {"arch", {0, 0, -12}, {{BODY_ARCH, 1}}}}},
};

/* ---- the project ---- */

/* [x, y, …] */
static void add_numbers(ex_file_writer *file, const double *values, int count, int digits) {
    char number[32];
    for (int i = 0; i < count; i++)
        ex_file_printf(file, "%s%s", i ? ", " : "[", exi_demo_number(number, values[i], digits));
    ex_file_printf(file, "]");
}

static void add_space(ex_file_writer *file, const layer *l) {
    char least[32], most[32];
    ex_file_printf(file, "      \"space\": [");
    for (int i = 0; i < AXES && l->axes[i]; i++) {
        ex_file_printf(file, "%s{\"name\": \"%s\", \"joint\": \"%s\", ", i ? ", " : "", l->axes[i], l->axes[i]);
        if (l->hinge < 0)
            ex_file_printf(file, "\"rotation\": \"full\"}");
        else {
            ex_file_printf(file, "\"angle\": ");
            add_numbers(file, exi_body_axes[l->hinge], 3, 3);
            ex_file_printf(file, ", \"min\": %s, \"max\": %s}", exi_demo_number(least, l->range[0], 0),
                           exi_demo_number(most, l->range[1], 0));
        }
    }
    ex_file_printf(file, "],\n      \"weigh\": {\"kind\": \"gaussian\", \"falloff\": {");
    for (int i = 0; i < AXES && l->axes[i]; i++)
        ex_file_printf(file, "%s\"%s\": %s", i ? ", " : "", l->axes[i], exi_demo_number(most, l->falloff, 0));
    ex_file_printf(file, "}},\n");
}

static void add_example(ex_file_writer *file, const layer *l, const example *e) {
    ex_file_printf(file, "        {\"name\": \"%s\", \"mesh\": \"subject/%s.obj\", \"at\": {", e->name, e->name);
    for (int i = 0; i < AXES && l->axes[i]; i++) {
        char number[32];
        double q[4];
        exi_body_turn(e->turn[0], e->turn[1], i || l->axes[1] ? (const double[3]){1, 0, 0} : exi_body_arm, e->turn[2],
                      q);
        ex_file_printf(file, "%s\"%s\": ", i ? ", " : "", l->axes[i]);
        if (l->hinge < 0)
            add_numbers(file, q, 4, 9);
        else
            ex_file_printf(file, "%s", exi_demo_number(number, e->turn[0], 0));
    }
    ex_file_printf(file, "}}");
}

static ex_result write_project(const char *directory, ex_error *error) {
    ex_file_writer file;
    char *path = exi_demo_path(directory, "subject.json");
    ex_result result = path ? ex_file_open(&file, path, error) : ex_error_memory(error, "a path", 0);
    free(path);
    if (result != EX_OK)
        return result;
    ex_file_printf(
        &file, "{\n  \"exemplar\": 1,\n  \"mesh\": \"subject/rest.obj\",\n  \"skeleton\": \"subject/skeleton.glb\",\n"
               "  \"skinning\": \"dual_quaternion\",\n  \"layers\": [\n");
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const layer *l = &layers[i];
        ex_file_printf(&file, "%s    {\n      \"name\": \"%s\",\n", i ? ",\n" : "", l->name);
        add_space(&file, l);
        ex_file_printf(&file, "      \"shape\": \"offsets\",\n      \"posed\": false,\n      \"examples\": [\n");
        for (int e = 0; e < 9 && l->examples[e].name; e++) {
            ex_file_printf(&file, "%s", e ? ",\n" : "");
            add_example(&file, l, &l->examples[e]);
        }
        ex_file_printf(&file, "\n      ]\n    }");
    }
    ex_file_printf(&file, "\n  ]\n}\n");
    return ex_file_commit(&file, error);
}

/* ---- bones and skin ---- */

static ex_result make_skeleton(ex_skeleton **skeleton, ex_error *error) {
    int parents[BODY_BONES];
    ex_transform rest[BODY_BONES];
    for (int b = 0; b < BODY_BONES; b++) {
        double place[3], above[3] = {0};
        parents[b] = exi_body_bones.parent(b);
        exi_body_bones.joint(b, place);
        if (parents[b] >= 0)
            exi_body_bones.joint(parents[b], above);
        rest[b] = ex_transform_identity();
        for (int c = 0; c < 3; c++)
            rest[b].translation[c] = (float)(place[c] - above[c]);
    }
    const ex_skeleton_def def = {.joint_count = BODY_BONES, .parents = parents, .rest = rest, .names = exi_body_names};
    return ex_skeleton_create(&def, NULL, skeleton, error);
}

/* Makes a rig of the rest form, with as much as a skeleton file needs. */
static ex_result make_rig(const ex_mesh *mesh, const ex_skeleton *skeleton, const ex_skin *skin, ex_rig **rig,
                          ex_error *error) {
    const size_t count = (size_t)mesh->vertex_count, faces = (size_t)mesh->face_count;
    float *positions = array_allocate(3 * count, sizeof *positions);
    uint32_t *corners = array_allocate(3 * faces, sizeof *corners), *sizes = array_allocate(faces, sizeof *sizes);
    ex_result result = EX_OK;
    if (!positions || !corners || !sizes) {
        result = ex_error_memory(error, "the skin", 3 * count * sizeof *positions);
    } else {
        ex_rig_def def = ex_rig_def_default();
        for (size_t i = 0; i < 3 * count; i++)
            positions[i] = (float)mesh->positions[i];
        for (size_t i = 0; i < 3 * faces; i++)
            corners[i] = (uint32_t)mesh->corners[i];
        for (size_t i = 0; i < faces; i++)
            sizes[i] = 3;
        def.mesh = (ex_rig_mesh){.vertex_count = mesh->vertex_count,
                                 .positions = positions,
                                 .split_count = mesh->vertex_count,
                                 .face_count = mesh->face_count,
                                 .corner_count = mesh->corner_count,
                                 .face_sizes = sizes,
                                 .corners = corners,
                                 .triangle_count = mesh->face_count,
                                 .triangles = corners};
        def.skeleton = skeleton;
        def.skin = skin;
        def.skinning = EX_SKINNING_DUAL_QUATERNION;
        result = ex_rig_create(&def, NULL, rig, error);
    }
    free(positions);
    free(corners);
    free(sizes);
    return result;
}

static ex_result write_skeleton(const char *directory, const ex_mesh *mesh, ex_error *error) {
    exi_creature_flesh flesh;
    ex_skeleton *skeleton = NULL;
    ex_rig *rig = NULL;
    exi_body_weights(&flesh);
    ex_skin *skin = exi_creature_bones_skin(&exi_body_bones, &flesh, mesh);
    char *path = exi_demo_path(directory, "subject/skeleton.glb");
    ex_result result = skin && path ? make_skeleton(&skeleton, error) : ex_error_memory(error, "the skin", 0);
    if (result == EX_OK)
        result = make_rig(mesh, skeleton, skin, &rig, error);
    if (result == EX_OK)
        result = ex_skeleton_write(path, rig, error);
    free(path);
    ex_rig_destroy(rig);
    ex_skin_destroy(skin);
    ex_skeleton_destroy(skeleton);
    return result;
}

/* ---- the subject ---- */

static ex_result write_forms(const char *directory, const ex_mesh *rest, ex_error *error) {
    ex_mesh *form = ex_mesh_copy(rest);
    ex_result result =
        form ? exi_demo_write_mesh(directory, "subject/rest.obj", rest, error) : ex_error_memory(error, "a form", 0);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        for (int e = 0; e < 9 && layers[i].examples[e].name && result == EX_OK; e++) {
            double ways[BODY_WAYS] = {0};
            char name[64];
            for (int w = 0; w < EXAMPLE_WAYS; w++)
                ways[layers[i].examples[e].ways[w].way] += layers[i].examples[e].ways[w].amount;
            exi_body_sculpt(rest, ways, form->positions);
            snprintf(name, sizeof name, "subject/%s.obj", layers[i].examples[e].name);
            result = exi_demo_write_mesh(directory, name, form, error);
        }
    ex_mesh_destroy(form);
    return result;
}

ex_result exi_body_write_subject(const char *directory, double spacing, ex_error *error) {
    ex_mesh *rest = exi_body_mesh(spacing);
    char *folder = exi_demo_path(directory, "subject");
    ex_result result = rest && folder ? ex_make_directory(folder, error) : ex_error_memory(error, "a body", 0);
    for (int i = 0; result == EX_OK && i < 3 * rest->vertex_count; i++)
        rest->positions[i] = (double)(float)rest->positions[i];
    if (result == EX_OK)
        result = write_forms(directory, rest, error);
    if (result == EX_OK)
        result = write_skeleton(directory, rest, error);
    if (result == EX_OK)
        result = exi_body_write_poses(directory, error);
    if (result == EX_OK)
        result = write_project(directory, error);
    free(folder);
    ex_mesh_destroy(rest);
    return result;
}
