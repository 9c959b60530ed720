/*
 * exemplar/cuda.h - rigs on an NVIDIA GPU (libexemplar_cuda): one character or a hundred thousand, each instance at a
 * pose of its own, with the results of ex_rig_evaluate_many within rounding.
 *
 * A rig is uploaded once. A call of ex_cuda_evaluate then puts work into a stream and returns: poses are read from
 * device memory, surfaces are written into device memory of the caller, which may be a buffer of a graphics interface.
 * It allocates nothing, does not wait, and can be captured into a graph. Any number of threads and streams may use one
 * uploaded rig at once, each with scratch of its own.
 *
 * Pointers called "device" are to memory of the GPU, from cudaMalloc, ex_cuda_allocate or graphics interop. The header
 * needs no header of CUDA; a stream is a cudaStream_t, NULL the default one.
 *
 * Not here: textures, tangents, and rigs that follow a driver, which are refused.
 */
#ifndef EXEMPLAR_CUDA_H
#define EXEMPLAR_CUDA_H

#include <exemplar/rig.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUstream_st *ex_cuda_stream;

/* ---- devices ---- */

typedef struct ex_cuda_device {
    char name[128];
    int major, minor; /* compute capability */
    int multiprocessors;
    size_t memory;       /* bytes in all */
    size_t memory_free;  /* now */
    int driver, runtime; /* versions as CUDA counts them: 13000 is 13.0 */
} ex_cuda_device;

/* How many GPUs this program can use; 0 where there is no driver. */
EX_API int ex_cuda_device_count(void);
/* What a device is. Results: ARGUMENT (no such device), DEVICE. */
EX_API ex_result ex_cuda_get_device(int device, ex_cuda_device *info, ex_error *error);

/* ---- rigs ---- */

typedef struct ex_cuda_rig ex_cuda_rig;

/*
 * Lays a rig out for the GPU and uploads it, in one copy, to the device that is current in this thread; the rig may be
 * destroyed afterwards. That device must be current wherever the uploaded rig is used. allocator serves the host's
 * side, which is small but for the time of the call. Costs the rig's size on the device, and about as much again for
 * rings of neighbours and stencils of levels; where it is no more than forms and linear skinning, up to 262 144
 * vertices and 64 forms, the forms twice more, in patches: without neighbours, as large as they are, and with them, one
 * to four times that. Results: ARGUMENT (a rig with a driver), MEMORY (of either side), LIMIT, DEVICE.
 */
EX_API ex_result ex_cuda_rig_create(const ex_rig *rig, const ex_allocator *allocator, ex_cuda_rig **made,
                                    ex_error *error);
/* After all work that uses it is done. NULL is fine. */
EX_API void ex_cuda_rig_destroy(ex_cuda_rig *rig);
/* Bytes on the device. */
EX_API size_t ex_cuda_rig_size(const ex_cuda_rig *rig);

/*
 * Puts an edited weigher in place of a layer's, in stream order: for evaluations that come after it in the stream. The
 * weigher is copied before the call returns, so not into a graph. A kind of weigher or kernel that the rig did not have
 * changes which kernels evaluate it: no other thread may evaluate the rig meanwhile, and graphs that were captured
 * before have to be captured again; an edit that keeps kind and kernel is free of both. Results: ARGUMENT (another
 * number of examples, axes or sets; more points than there is room for: as many as the layer's weigher had when it was
 * uploaded, and 16 more; a stream that is being captured; another device than the rig's), DEVICE.
 */
EX_API ex_result ex_cuda_set_weigher(ex_cuda_rig *rig, int layer, const ex_weigher *weigher, ex_cuda_stream stream,
                                     ex_error *error);

/* ---- evaluation ---- */

/* Poses, device memory, instance after instance; NULL: rest. What is not finite reads as rest. */
typedef struct ex_cuda_poses {
    const float *inputs;        /* [count][ex_rig_pose_size]: the dials */
    const ex_transform *joints; /* [count][ex_rig_joint_count]: local transforms */
} ex_cuda_poses;

/* How numbers are written, with their names. 16-bit entries are four numbers, x y z and one more: 1 of a position, 0 of
 * a normal. */
#define EX_CUDA_NUMBER_LIST(X)                                                                                         \
    X(EX_CUDA_FLOAT, "float") /* three floats */                                                                       \
    X(EX_CUDA_HALF, "half")   /* 16-bit floats, as graphics interfaces have them */                                    \
    X(EX_CUDA_SNORM, "snorm") /* 16-bit integers n: the number is n / 32767; of positions in ex_cuda_output.frame */

typedef enum ex_cuda_number {
#define EX_CUDA_NUMBER_ENUM(name, text) name,
    EX_CUDA_NUMBER_LIST(EX_CUDA_NUMBER_ENUM)
#undef EX_CUDA_NUMBER_ENUM
        EX_CUDA_NUMBER_COUNT
} ex_cuda_number;

EX_API const char *ex_cuda_number_name(ex_cuda_number number);

/* One array of results: entry v of instance i stands at data + i * instance_stride + v * stride. */
typedef struct ex_cuda_array {
    void *data; /* NULL: not wanted */
    ex_cuda_number number;
    size_t stride;          /* bytes; 0: close together, 12 or, in 16 bit, 8; a multiple of 4, or of 8 in 16 bit */
    size_t instance_stride; /* bytes; 0: close together; likewise a multiple */
} ex_cuda_array;

/* Where results go. Entries are the vertices of the level asked for in source order, or its split vertices. */
typedef struct ex_cuda_output {
    ex_cuda_array positions;
    ex_cuda_array normals; /* of length 1, 0 0 0 where the surface has none; positions need not be asked for */
    float *boxes;          /* [count][6]: smallest x y z, largest x y z of the positions; or NULL */
    float *weights;        /* [count][ex_rig_example_count]; or NULL */
    float frame[4];        /* SNORM positions: the centre x y z, and the half width that 32767 stands for; what is
                              outside is cut off */
    bool to_host;          /* all of these are the host's memory: entries close together; the copy is asynchronous where
                              the memory is page-locked */
} ex_cuda_output;

/* How to evaluate; NULL or all zero is the cage of the rig as it is, in the default stream. */
typedef struct ex_cuda_evaluation {
    const bool *muted; /* [layer_count], the host's: layers to leave out; NULL: those that the rig leaves out */
    int level;         /* 0: the cage; a level of the rig; EX_LEVEL_LIMIT */
    bool split;        /* write split vertices, which a renderer needs, not source vertices */
    bool unskinned;    /* leave the form at rest */
    ex_cuda_stream stream;
} ex_cuda_evaluation;

/* Bytes of device memory that evaluating so many instances in one call needs; enough for fewer. Of output it counts
 * what is asked for, not where it goes. For each instance: 144 to 188 bytes a joint; 12 an example, 4 a form, 8 a point
 * of a weigher and for 16 more of each; a refined level: 12 a vertex of the cage; 16 bit, split vertices, the host, and
 * positions that are needed but not asked for: 12 a vertex and array; the host: 8 or 12 an entry more. */
EX_API size_t ex_cuda_scratch_size(const ex_cuda_rig *rig, const ex_cuda_evaluation *evaluation,
                                   const ex_cuda_output *output, int count);

/*
 * Evaluates count instances, 0 of them too. scratch is device memory, aligned to 256 bytes as cudaMalloc does, and is
 * in use until the work is done. Where it returns ARGUMENT, nothing is written. An error of an earlier call that CUDA
 * has a note of is forgotten.
 * Results: ARGUMENT (no such level, misaligned strides or addresses, normals of a rig without them, another device than
 * the rig's), DEVICE (what CUDA says).
 */
EX_API ex_result ex_cuda_evaluate(const ex_cuda_rig *rig, int count, const ex_cuda_poses *poses,
                                  const ex_cuda_output *output, const ex_cuda_evaluation *evaluation, void *scratch,
                                  ex_error *error);

/* ---- memory, for programs that do not call CUDA themselves ---- */

/* Device memory. Results: MEMORY, DEVICE. */
EX_API ex_result ex_cuda_allocate(size_t size, void **memory, ex_error *error);
EX_API void ex_cuda_release(void *memory);
/* Page-locked memory of the host, to and from which copies are asynchronous. */
EX_API ex_result ex_cuda_allocate_host(size_t size, void **memory, ex_error *error);
EX_API void ex_cuda_release_host(void *memory);
/* Copies in stream order, from and to any side. */
EX_API ex_result ex_cuda_copy(void *to, const void *from, size_t size, ex_cuda_stream stream, ex_error *error);
/* Waits for a stream; errors of its kernels come up here. */
EX_API ex_result ex_cuda_wait(ex_cuda_stream stream, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
