/*
 * skin_probe.c - lets skin_oracle.py ask skeletons and skins through the public header alone.
 *
 * Reads words from stdin and answers on stdout, numbers with 17 digits:
 *
 *   joints J       per joint: parent, translation[3], rotation[4], scale[3], inverse bind[12]
 *   vertices V     per vertex: position[3], normal[3], influences n, then n times joint and weight
 *   pose METHOD    per joint: translation[3], rotation[4], scale[3]
 *
 * and answers each pose with a line of J * 12 matrix entries, a line of V * 3 positions, a line of V * 3 normals, a
 * line of V * 3 un-posed positions (of the positions just given), and a line with the number of damped vertices.
 */
#include <exemplar/pose.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what) {
    fprintf(stderr, "skin_probe: %s\n", what);
    exit(2);
}

static double number(void) {
    double value;
    if (scanf("%lf", &value) != 1)
        fail("cannot read a number");
    return value;
}

static void numbers(float *values, int count) {
    for (int i = 0; i < count; i++)
        values[i] = (float)number();
}

static void *memory(size_t count, size_t size) {
    void *block = calloc(count + 1, size);
    if (!block)
        fail("not enough memory");
    return block;
}

static ex_transform read_transform(void) {
    ex_transform t;
    numbers(t.translation, 3);
    numbers(t.rotation, 4);
    numbers(t.scale, 3);
    return t;
}

static ex_skeleton *read_skeleton(int count) {
    int *parents = memory((size_t)count, sizeof *parents);
    ex_transform *rest = memory((size_t)count, sizeof *rest);
    float *binds = memory((size_t)count, 12 * sizeof *binds);
    for (int j = 0; j < count; j++) {
        parents[j] = (int)number();
        rest[j] = read_transform();
        numbers(binds + 12 * j, 12);
    }
    ex_skeleton_def def = {count, parents, rest, binds, NULL};
    ex_skeleton *skeleton = NULL;
    ex_error error;
    if (ex_skeleton_create(&def, NULL, &skeleton, &error) != EX_OK)
        fail(error.text);
    free(parents);
    free(rest);
    free(binds);
    return skeleton;
}

static ex_skin *read_skin(int vertex_count, int joint_count, float *positions, float *normals) {
    uint32_t *starts = memory((size_t)vertex_count + 1, sizeof *starts);
    uint32_t *joints = memory((size_t)vertex_count * 64, sizeof *joints);
    float *weights = memory((size_t)vertex_count * 64, sizeof *weights);
    for (int v = 0; v < vertex_count; v++) {
        numbers(positions + 3 * v, 3);
        numbers(normals + 3 * v, 3);
        uint32_t count = (uint32_t)number();
        starts[v + 1] = starts[v] + count;
        for (uint32_t i = starts[v]; i < starts[v + 1]; i++) {
            joints[i] = (uint32_t)number();
            weights[i] = (float)number();
        }
    }
    ex_skin_def def = {vertex_count, joint_count, starts, joints, weights};
    ex_skin *skin = NULL;
    ex_error error;
    if (ex_skin_create(&def, NULL, &skin, &error) != EX_OK)
        fail(error.text);
    free(starts);
    free(joints);
    free(weights);
    return skin;
}

static void print_floats(const float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        printf("%s%.9g", i > 0 ? " " : "", (double)values[i]);
    printf("\n");
}

static void answer(const ex_skeleton *skeleton, const ex_skin *skin, ex_skinning method, const float *positions,
                   const float *normals) {
    const size_t joints = (size_t)ex_skeleton_joint_count(skeleton), vertices = (size_t)ex_skin_vertex_count(skin);
    ex_transform *pose = memory(joints, sizeof *pose);
    float *matrices = memory(joints, 12 * sizeof(float)), *centres = memory(joints, 3 * sizeof(float));
    float *turns = memory(joints, 4 * sizeof(float));
    float *moved = memory(vertices, 3 * sizeof(float)), *turned = memory(vertices, 3 * sizeof(float));
    double *back = memory(vertices, 3 * sizeof(double));
    void *scratch = memory(ex_skeleton_scratch_size(skeleton), 1);
    void *room = memory(ex_palette_size(method, (int)joints), 1);
    for (size_t j = 0; j < joints; j++)
        pose[j] = read_transform();
    ex_skeleton_evaluate(skeleton, &(ex_skeleton_input){pose, NULL},
                         &(ex_skeleton_output){.matrices = matrices, .centres = centres, .turns = turns}, scratch);
    ex_palette *palette = ex_palette_make(
        &(ex_palette_def){method, (int)joints, matrices, centres, false, turns, ex_skeleton_scale(skeleton)}, room);
    ex_skin_apply(skin, palette,
                  &(ex_skin_job){.end = (int)vertices,
                                 .positions = positions,
                                 .normals = normals,
                                 .out_positions = moved,
                                 .out_normals = turned});
    int damped = ex_skin_unpose(skin, palette, &(ex_unpose_job){.posed = moved, .rest = positions, .out = back});
    print_floats(matrices, 12 * joints);
    print_floats(moved, 3 * vertices);
    print_floats(turned, 3 * vertices);
    for (size_t i = 0; i < 3 * vertices; i++)
        printf("%s%.17g", i > 0 ? " " : "", back[i]);
    printf("\n%d\n", damped);
    free(pose);
    free(matrices);
    free(centres);
    free(turns);
    free(moved);
    free(turned);
    free(back);
    free(scratch);
    free(room);
}

int main(void) {
    char word[32];
    ex_skeleton *skeleton = NULL;
    ex_skin *skin = NULL;
    float *positions = NULL, *normals = NULL;
    while (scanf("%31s", word) == 1) {
        if (strcmp(word, "joints") == 0 && !skeleton) {
            skeleton = read_skeleton((int)number());
        } else if (strcmp(word, "vertices") == 0 && skeleton && !skin) {
            int count = (int)number();
            positions = memory((size_t)count, 3 * sizeof *positions);
            normals = memory((size_t)count, 3 * sizeof *normals);
            skin = read_skin(count, ex_skeleton_joint_count(skeleton), positions, normals);
        } else if (strcmp(word, "pose") == 0 && skin && scanf("%31s", word) == 1) {
            answer(skeleton, skin, strcmp(word, "linear") == 0 ? EX_SKINNING_LINEAR : EX_SKINNING_DUAL_QUATERNION,
                   positions, normals);
        } else {
            fail("an unknown word, or one out of place");
        }
    }
    ex_skin_destroy(skin);
    ex_skeleton_destroy(skeleton);
    free(positions);
    free(normals);
    return 0;
}
