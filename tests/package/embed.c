/*
 * Loads the rig file argv[1], moves its inputs through their ranges, and prints every vertex at every step. The test
 * builds it twice, with the library and with the amalgamation, and compares the output: a first program of a user who
 * has only two of our files.
 */
#include "exemplar.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 4 };

static void *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        *size = (size_t)ftell(file);
        rewind(file);
        bytes = malloc(*size + 1);
        if (bytes && fread(bytes, 1, *size, file) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file)
        fclose(file);
    return bytes;
}

/* Every scalar input at a different fraction of its range, so that each of them matters. */
static void set_inputs(const ex_rig *rig, int step, const ex_pose *pose) {
    ex_rig_rest_pose(rig, pose);
    for (int i = 0; i < ex_rig_input_count(rig); i++) {
        const ex_axis axis = ex_rig_input_axis(rig, i);
        const double fraction = (double)(step + 1) / (STEPS + i % 3);
        const double value = axis.min + (axis.max - axis.min) * fraction;
        if (axis.kind == EX_AXIS_SCALAR)
            ex_rig_set_input(rig, i, &value, pose);
    }
}

int main(int argc, char **argv) {
    size_t size = 0;
    void *bytes = argc == 2 ? read_file(argv[1], &size) : NULL;
    ex_rig *rig = NULL;
    ex_error error;
    if (!bytes || ex_rig_unpack(bytes, size, NULL, NULL, &rig, &error) != EX_OK) {
        fprintf(stderr, "embed: %s\n", bytes ? error.text : "no file to read");
        return 1;
    }
    free(bytes);

    const int level = ex_rig_level(rig);
    const int count = ex_rig_level_vertex_count(rig, level);
    const ex_evaluation evaluation = {.level = level};
    float *surface = calloc((size_t)count, 6 * sizeof(float));
    const ex_output output = {.positions = surface, .normals = surface + 3 * count};
    ex_pose pose = {.inputs = calloc((size_t)ex_rig_pose_size(rig) + 1, sizeof(double)),
                    .joints = calloc((size_t)ex_rig_joint_count(rig) + 1, sizeof(ex_transform))};
    void *scratch = malloc(ex_rig_scratch_size(rig, &evaluation, 1));
    const bool good = surface && pose.inputs && pose.joints && scratch;
    for (int step = 0; good && step < STEPS; step++) {
        set_inputs(rig, step, &pose);
        ex_rig_evaluate(rig, &pose, &output, &evaluation, scratch);
        for (int i = 0; i < 6 * count; i++)
            printf("%.9g%c", (double)surface[i], i % 3 == 2 ? '\n' : ' ');
    }
    free(scratch);
    free(pose.joints);
    free(pose.inputs);
    free(surface);
    ex_rig_destroy(rig);
    return good ? 0 : 1;
}
