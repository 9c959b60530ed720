/*
 * gpu - a thousand characters on a GPU, each at its own pose.
 *
 *   gpu RIG.glb
 *
 * The rig is uploaded once. Then one call per frame writes all surfaces into device memory, which may be a vertex
 * buffer of a graphics interface.
 */
#include <exemplar/author/formats.h>
#include <exemplar/cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { CROWD = 1000 };

int main(int count, char **words) {
    ex_rig *rig = NULL;
    ex_cuda_rig *uploaded = NULL;
    ex_error error = {0};
    if (count != 2) {
        fprintf(stderr, "usage: gpu RIG.glb\n");
        return 2;
    }
    if (ex_cuda_device_count() == 0) {
        printf("there is no GPU here\n");
        return 0;
    }
    ex_result result = ex_rig_read(words[1], NULL, &rig, &error);
    if (result == EX_OK)
        result = ex_cuda_rig_create(rig, NULL, &uploaded, &error);

    /* Dials of every instance, side by side: the first one goes from 0 to 1 through the crowd. */
    const size_t dials = rig ? (size_t)ex_rig_pose_size(rig) : 0, bytes = CROWD * dials * sizeof(float);
    const size_t vertices = rig ? (size_t)ex_rig_level_vertex_count(rig, 0) : 0;
    float *inputs = calloc(CROWD * dials + 1, sizeof *inputs), last[3] = {0};
    for (size_t i = 0; dials > 0 && i < CROWD; i++)
        inputs[i * dials] = (float)i / (CROWD - 1);

    void *device_inputs = NULL, *surfaces = NULL, *scratch = NULL;
    ex_cuda_output output = {.positions = {.number = EX_CUDA_FLOAT}};
    if (result == EX_OK)
        result = ex_cuda_allocate(bytes + 4, &device_inputs, &error);
    if (result == EX_OK)
        result = ex_cuda_allocate(CROWD * vertices * sizeof(float[3]), &surfaces, &error);
    output.positions.data = surfaces;
    if (result == EX_OK)
        result = ex_cuda_allocate(ex_cuda_scratch_size(uploaded, NULL, &output, CROWD), &scratch, &error);
    if (result == EX_OK)
        result = ex_cuda_copy(device_inputs, inputs, bytes, NULL, &error);
    if (result == EX_OK)
        result = ex_cuda_evaluate(uploaded, CROWD, &(ex_cuda_poses){.inputs = device_inputs}, &output, NULL, scratch,
                                  &error);
    if (result == EX_OK)
        result = ex_cuda_copy(last, (float *)surfaces + 3 * (CROWD - 1) * vertices, sizeof last, NULL, &error);
    if (result == EX_OK)
        result = ex_cuda_wait(NULL, &error);
    if (result == EX_OK)
        printf("the first vertex of the last one is at %g %g %g\n", (double)last[0], (double)last[1], (double)last[2]);
    else
        fprintf(stderr, "gpu: %s\n", error.text);
    ex_cuda_release(scratch);
    ex_cuda_release(surfaces);
    ex_cuda_release(device_inputs);
    ex_cuda_rig_destroy(uploaded);
    ex_rig_destroy(rig);
    free(inputs);
    return result == EX_OK ? 0 : 1;
}
