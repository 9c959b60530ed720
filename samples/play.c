/*
 * play - load a rig and play one of its inputs from end to end.
 *
 *   play RIG.glb INPUT FROM TO
 *
 * Uses only the runtime: it gets the bytes of the file, and evaluation allocates nothing.
 */
#include "read_file.h"

#include <exemplar/rig.h>
#include <exemplar/rig_inspect.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "usage: play RIG.glb INPUT FROM TO\n");
        return 2;
    }
    size_t size = 0;
    void *bytes = read_file(words[1], &size);
    if (!bytes) {
        fprintf(stderr, "play: cannot read '%s'\n", words[1]);
        return 1;
    }
    ex_rig *rig = NULL;
    ex_error error = {0};
    const ex_result result = ex_rig_unpack(bytes, size, NULL, NULL, &rig, &error);
    free(bytes); /* the rig is a copy */
    if (result != EX_OK) {
        fprintf(stderr, "play: %s\n", error.text);
        return 1;
    }
    const int input = ex_rig_input_find(rig, words[2]);
    if (input < 0) {
        fprintf(stderr, "play: the rig has no input '%s'\n", words[2]);
        ex_rig_destroy(rig);
        return 1;
    }
    if (ex_rig_input_axis(rig, input).kind != EX_AXIS_SCALAR) {
        fprintf(stderr, "play: input '%s' takes a rotation or a driver, not a number\n", words[2]);
        ex_rig_destroy(rig);
        return 1;
    }

    /* Made once: the pose, the output, and the scratch memory of evaluation. */
    const ex_evaluation how = {.level = ex_rig_level(rig)};
    const int vertices = ex_rig_level_vertex_count(rig, how.level);
    ex_pose pose = {.inputs = calloc((size_t)ex_rig_pose_size(rig) + 1, sizeof(double)),
                    .joints = calloc((size_t)ex_rig_joint_count(rig) + 1, sizeof(ex_transform))};
    float *positions = malloc((size_t)vertices * sizeof(float[3])), box[6];
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    const ex_output output = {.positions = positions, .box = box};
    ex_rig_rest_pose(rig, &pose);

    /* Each frame: set inputs, evaluate, draw. */
    const double from = atof(words[3]), to = atof(words[4]);
    for (int frame = 0; frame <= 8; frame++) {
        const double value = from + (to - from) * frame / 8;
        ex_rig_set_input(rig, input, &value, &pose);
        ex_rig_evaluate(rig, &pose, &output, &how, scratch);
        printf("%s=%-8g %d vertices in a box of %.4f x %.4f x %.4f\n", words[2], value, vertices,
               (double)(box[3] - box[0]), (double)(box[4] - box[1]), (double)(box[5] - box[2]));
    }
    free(scratch);
    free(positions);
    free(pose.joints);
    free(pose.inputs);
    ex_rig_destroy(rig);
    return 0;
}
