/*
 * exemplar/cuda.h - rigs on an NVIDIA GPU (libexemplar_cuda): one character or a hundred thousand, each instance at its
 * own pose. Results equal those of ex_rig_evaluate_many within rounding.
 *
 * Upload a rig once. Each call of ex_cuda_evaluate then queues work in a stream and returns. It reads poses from device
 * memory and writes surfaces to the caller's device memory, which may be a graphics buffer. It allocates nothing, does
 * not wait, and can be captured into a CUDA graph. Any number of threads and streams may use one uploaded rig at once,
 * each with its own scratch.
 *
 * "Device" pointers point to GPU memory, from cudaMalloc, ex_cuda_allocate or graphics interop. This header needs no
 * CUDA headers. A stream is a cudaStream_t; NULL is the default stream.
 *
 * Not supported: textures and tangents. Rigs with a driver are refused.
 */
#ifndef EXEMPLAR_CUDA_H
#define EXEMPLAR_CUDA_H

#include <exemplar/rig.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A CUDA stream: a cudaStream_t. */
typedef struct CUstream_st *ex_cuda_stream;

/* ---- devices ---- */

/* Facts about a GPU. */
typedef struct ex_cuda_device {
    char name[128];
    int major, minor; /* compute capability */
    int multiprocessors;
    size_t memory;       /* total bytes */
    size_t memory_free;  /* bytes free now */
    int driver, runtime; /* CUDA version numbers: 13000 is 13.0 */
} ex_cuda_device;

/* Returns the number of GPUs that this program can use; 0 if there is no driver. */
EX_API int ex_cuda_device_count(void);
/* Describes a device. Results: ARGUMENT (no such device), DEVICE. */
EX_API ex_result ex_cuda_get_device(int device, ex_cuda_device *info, ex_error *error);
/* Makes a device the current one of this thread, for programs that do not call CUDA themselves. Results: ARGUMENT (no
 * such device), DEVICE. */
EX_API ex_result ex_cuda_use_device(int device, ex_error *error);

/* ---- rigs ---- */

/* A rig in GPU memory. */
typedef struct ex_cuda_rig ex_cuda_rig;

/*
 * Lays a rig out for the GPU and uploads it, in one copy, to the current device of this thread. The rig may be
 * destroyed afterwards. The same device must be current wherever the uploaded rig is used. allocator provides host
 * memory, of which little is kept after the call.
 *
 * Device memory: the rig's size, and about as much again for neighbour rings and the stencils of levels. Rigs with
 * forms and linear skinning only, of up to 262 144 vertices and 64 forms, also store their forms in patches, twice:
 * without neighbours (the size of the forms), and with neighbours (one to four times that). Results: ARGUMENT (a rig
 * with a driver), MEMORY (host or device), LIMIT, DEVICE.
 */
EX_API ex_result ex_cuda_rig_create(const ex_rig *rig, const ex_allocator *allocator, ex_cuda_rig **made,
                                    ex_error *error);
/* Releases an uploaded rig. Call it after all work that uses the rig is done. NULL is fine. */
EX_API void ex_cuda_rig_destroy(ex_cuda_rig *rig);
/* Returns the bytes used on the device. */
EX_API size_t ex_cuda_rig_size(const ex_cuda_rig *rig);

/*
 * Replaces a layer's weigher by an edited one, in stream order: evaluations that come later in the stream use it. The
 * weigher is copied before the call returns, so the call cannot be captured into a graph. If the weigher's kind or
 * kernel is new to the rig, other kernels evaluate the rig from then on: no other thread may evaluate the rig during
 * the call, and graphs captured before must be captured again. An edit that keeps kind and kernel has neither
 * restriction. Results: ARGUMENT (another number of examples, axes or sets; more points than there is room for, which
 * is the number at upload plus 16; a stream that is being captured; a device other than the rig's), DEVICE.
 */
EX_API ex_result ex_cuda_set_weigher(ex_cuda_rig *rig, int layer, const ex_weigher *weigher, ex_cuda_stream stream,
                                     ex_error *error);

/* ---- evaluation ---- */

/* Poses in device memory, one instance after the other. NULL: rest. Numbers that are not finite read as rest. */
typedef struct ex_cuda_poses {
    const float *inputs;        /* [count][ex_rig_pose_size]: dials */
    const ex_transform *joints; /* [count][ex_rig_joint_count]: local transforms */
} ex_cuda_poses;

/* Number formats of the output, with their names. 16-bit entries have four numbers: x y z, then 1 for a position or 0
 * for a normal. */
#define EX_CUDA_NUMBER_LIST(X)                                                                                         \
    X(EX_CUDA_FLOAT, "float") /* three floats */                                                                       \
    X(EX_CUDA_HALF, "half")   /* 16-bit floats, as in graphics APIs */                                                 \
    X(EX_CUDA_SNORM, "snorm") /* 16-bit integers n for n / 32767; positions are relative to ex_cuda_output.frame */

typedef enum ex_cuda_number {
#define EX_CUDA_NUMBER_ENUM(name, text) name,
    EX_CUDA_NUMBER_LIST(EX_CUDA_NUMBER_ENUM)
#undef EX_CUDA_NUMBER_ENUM
        EX_CUDA_NUMBER_COUNT
} ex_cuda_number;

/* Returns the name of a number format. */
EX_API const char *ex_cuda_number_name(ex_cuda_number number);

/* One output array: entry v of instance i is at data + i * instance_stride + v * stride. */
typedef struct ex_cuda_array {
    void *data; /* NULL: not written */
    ex_cuda_number number;
    size_t stride;          /* bytes; 0: packed, 12, or 8 in 16 bit; a multiple of 4, or of 8 in 16 bit */
    size_t instance_stride; /* bytes; 0: packed; the same multiples */
} ex_cuda_array;

/* Output arrays of an evaluation. Entries are the vertices of the requested level in source order, or its split
 * vertices. */
typedef struct ex_cuda_output {
    ex_cuda_array positions;
    ex_cuda_array normals; /* unit length, 0 0 0 where the surface has no normal; can be written without positions */
    float *boxes;          /* [count][6]: minimum x y z, maximum x y z of the positions; or NULL */
    float *weights;        /* [count][ex_rig_example_count]; or NULL */
    float frame[4];        /* SNORM positions: centre x y z, and the half width that 32767 represents; values outside
                              are clamped */
    bool to_host;          /* true if all arrays are in host memory: entries are packed; the copy is asynchronous if
                              the memory is page-locked */
} ex_cuda_output;

/* Evaluation options. NULL or all zero: the cage of the rig, unchanged, in the default stream. */
typedef struct ex_cuda_evaluation {
    const bool *muted; /* [layer_count], host memory: true to leave a layer out; NULL: the rig's own setting */
    int level;         /* 0: the cage; 1 and up: a level of the rig; EX_LEVEL_LIMIT: the limit surface */
    bool split;        /* true to write split vertices, which renderers need, instead of source vertices */
    bool unskinned;    /* true to leave the form at rest */
    ex_cuda_stream stream;
} ex_cuda_evaluation;

/*
 * Returns the bytes of device memory needed to evaluate `count` instances in one call; enough for fewer. Only the kind
 * of output matters, not its addresses. Per instance:
 *
 *   - 144 to 188 bytes per joint;
 *   - 12 per example, 4 per form, and 8 per point of a weigher, with room for 16 more points per weigher;
 *   - a refined level: 12 per vertex of the cage;
 *   - 16-bit output, split vertices, host output, positions that are needed but not written: 12 per vertex and array;
 *   - host output: 8 or 12 more per entry.
 */
EX_API size_t ex_cuda_scratch_size(const ex_cuda_rig *rig, const ex_cuda_evaluation *evaluation,
                                   const ex_cuda_output *output, int count);

/*
 * Queues the evaluation of `count` instances in a stream; 0 is fine. scratch is device memory, aligned to 256 bytes as
 * cudaMalloc does, and in use until the work is done. If the result is ARGUMENT, nothing is written. An error that CUDA
 * still holds from an earlier call is cleared. Results: ARGUMENT (no such level, misaligned strides or addresses,
 * normals of a rig without them, a device other than the rig's), DEVICE (with CUDA's message).
 */
EX_API ex_result ex_cuda_evaluate(const ex_cuda_rig *rig, int count, const ex_cuda_poses *poses,
                                  const ex_cuda_output *output, const ex_cuda_evaluation *evaluation, void *scratch,
                                  ex_error *error);

/* ---- memory, for programs that do not call CUDA themselves ---- */

/* Allocates device memory. Results: MEMORY, DEVICE. */
EX_API ex_result ex_cuda_allocate(size_t size, void **memory, ex_error *error);
EX_API void ex_cuda_release(void *memory);
/* Allocates page-locked host memory, for asynchronous copies. */
EX_API ex_result ex_cuda_allocate_host(size_t size, void **memory, ex_error *error);
EX_API void ex_cuda_release_host(void *memory);
/* Copies in stream order between host and device, in any direction. */
EX_API ex_result ex_cuda_copy(void *to, const void *from, size_t size, ex_cuda_stream stream, ex_error *error);
/* Waits for a stream. Errors of its kernels are reported here. */
EX_API ex_result ex_cuda_wait(ex_cuda_stream stream, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
