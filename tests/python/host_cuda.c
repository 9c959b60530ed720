/*
 * A stand-in for libexemplar_cuda in host memory: Python's side of the GPU (gpu.py) is tested without one. It writes
 * floats only, and knows one device.
 */
#include <exemplar/cuda.h>
#include <exemplar/rig_inspect.h>

#include <stdlib.h>
#include <string.h>

struct ex_cuda_rig {
    const ex_rig *rig;
};

int ex_cuda_device_count(void) {
    return 1;
}

ex_result ex_cuda_use_device(int device, ex_error *error) {
    return device == 0 ? EX_OK
                       : ex_error_set(error, EX_ERROR_ARGUMENT, "there is no GPU %d: this program sees 1", device);
}

ex_result ex_cuda_get_device(int device, ex_cuda_device *info, ex_error *error) {
    *info = (ex_cuda_device){.name = "stand-in", .major = 1, .memory = 1 << 30};
    return ex_cuda_use_device(device, error);
}

ex_result ex_cuda_rig_create(const ex_rig *rig, const ex_allocator *allocator, ex_cuda_rig **made, ex_error *error) {
    (void)allocator;
    *made = malloc(sizeof **made);
    if (!*made)
        return ex_error_memory(error, "a rig", sizeof **made);
    (*made)->rig = rig;
    return EX_OK;
}

void ex_cuda_rig_destroy(ex_cuda_rig *rig) {
    free(rig);
}

size_t ex_cuda_rig_size(const ex_cuda_rig *rig) {
    return sizeof *rig;
}

ex_result ex_cuda_set_weigher(ex_cuda_rig *rig, int layer, const ex_weigher *weigher, ex_cuda_stream stream,
                              ex_error *error) {
    (void)stream;
    if (ex_weigher_example_count(weigher) != ex_weigher_example_count(ex_rig_weigher(rig->rig, layer)))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "another number of examples");
    return EX_OK;
}

const char *ex_cuda_number_name(ex_cuda_number number) {
    return number == EX_CUDA_FLOAT ? "float" : "other";
}

size_t ex_cuda_scratch_size(const ex_cuda_rig *rig, const ex_cuda_evaluation *evaluation, const ex_cuda_output *output,
                            int count) {
    (void)output, (void)count;
    return ex_rig_scratch_size(rig->rig, &(ex_evaluation){.level = evaluation->level}, 1);
}

ex_result ex_cuda_evaluate(const ex_cuda_rig *rig, int count, const ex_cuda_poses *poses, const ex_cuda_output *output,
                           const ex_cuda_evaluation *evaluation, void *scratch, ex_error *error) {
    enum { DIALS = 64, WEIGHTS = 256 };
    const int size = ex_rig_pose_size(rig->rig), joints = ex_rig_joint_count(rig->rig);
    const int vertices = ex_rig_level_vertex_count(rig->rig, evaluation->level),
              examples = ex_rig_example_count(rig->rig);
    double dials[DIALS], weights[WEIGHTS];
    if (vertices == 0 || size > DIALS || examples > WEIGHTS || output->positions.number != EX_CUDA_FLOAT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the stand-in has no such level or numbers");
    const size_t row = output->positions.stride ? output->positions.stride : 12;
    const size_t step = output->positions.instance_stride ? output->positions.instance_stride : row * (size_t)vertices;
    for (int i = 0; i < count; i++) {
        for (int d = 0; poses->inputs && d < size; d++)
            dials[d] = (double)poses->inputs[(size_t)i * (size_t)size + (size_t)d];
        ex_transform *own = poses->joints ? (ex_transform *)poses->joints + (size_t)i * (size_t)joints : NULL;
        ex_output one = {
            .positions = (float *)(void *)((char *)output->positions.data + (size_t)i * step),
            .position_stride = row,
            .normals = output->normals.data ? (float *)output->normals.data + 3 * (size_t)i * (size_t)vertices : NULL,
            .box = output->boxes ? output->boxes + 6 * i : NULL,
            .weights = output->weights ? weights : NULL};
        ex_rig_evaluate(rig->rig, &(ex_pose){.inputs = poses->inputs ? dials : NULL, .joints = own}, &one,
                        &(ex_evaluation){.level = evaluation->level}, scratch);
        for (int k = 0; output->weights && k < examples; k++)
            output->weights[(size_t)i * (size_t)examples + (size_t)k] = (float)weights[k];
    }
    return EX_OK;
}

ex_result ex_cuda_allocate(size_t size, void **memory, ex_error *error) {
    *memory = malloc(size);
    return *memory ? EX_OK : ex_error_memory(error, "an array", size);
}

void ex_cuda_release(void *memory) {
    free(memory);
}

ex_result ex_cuda_allocate_host(size_t size, void **memory, ex_error *error) {
    return ex_cuda_allocate(size, memory, error);
}

void ex_cuda_release_host(void *memory) {
    free(memory);
}

ex_result ex_cuda_copy(void *to, const void *from, size_t size, ex_cuda_stream stream, ex_error *error) {
    (void)stream, (void)error;
    memcpy(to, from, size);
    return EX_OK;
}

ex_result ex_cuda_wait(ex_cuda_stream stream, ex_error *error) {
    (void)stream, (void)error;
    return EX_OK;
}
