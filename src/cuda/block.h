/*
 * A rig as the GPU has it: one block of memory, laid out by the host and uploaded in one copy, and a head of pointers
 * into it that goes to every kernel by value. The stages are written for one thread each in the common subset of C and
 * CUDA: kernels run them on the GPU, and tests run the same functions on the host, over a block that was not uploaded.
 *
 * stage     what it makes                                         its functions            its kernels
 * prepare   an instance: weights of all layers, factors of        prepare.inl, _weigh,     kernels_prepare.cu, _near
 *           forms, screws, the skeleton's palette                 _factors, _pose
 * shape     a vertex of the cage: blend, paths, offsets, skin     shape.inl, shape_path    kernels_shape.cu, _blend,
 *                                                                                          _path, _posed, _fused
 * refine    a vertex of a level: stencils, displacement           surface.inl              kernels_surface.cu
 * normals   a vertex: its ring                                    surface.inl              kernels_surface.cu, _normals
 * write     an entry: formats, split vertices; boxes              write.inl                kernels_surface.cu
 *
 * crowd.cu has shape and normals in one kernel for the case that matters most: many instances of a rig that is forms
 * and linear skinning. Around them: lay.c and its parts (lay_*.c) make the block, upload.c brings it to the GPU,
 * evaluate.c puts a call's stages into a stream, work.h is what stages hand on, device.c is memory, copies and errors;
 * layers.inl, machine.h and kernels_fetch, _launch, _store are what several of them use.
 *
 * What prepare reads of the rig comes first in the block, close together: its front. A kernel can so have a copy of it
 * in shared memory, all of it loaded in one go, in place of following offsets from one table to the next.
 *
 * Vertices of the cage stand in tiles of 32, one for each lane of a warp: x of all, then y, then z. The CPU's tiles are
 * of 8 or 16, as its build has lanes: hence a block of the GPU's own, and not the rig's.
 */
#ifndef EXI_CUDA_BLOCK_H
#define EXI_CUDA_BLOCK_H

#include <exemplar/rig_inspect.h>

enum {
    EXI_GPU_TILE = 32,
    EXI_GPU_MUTED_WORDS = 8,  /* of 32 layers */
    EXI_GPU_MORE_POINTS = 16, /* pseudo-examples for which an uploaded weigher leaves room */
    EXI_GPU_LAYER_MAX = 32 * EXI_GPU_MUTED_WORDS
};

/*
 * What a rig or a call has beside dials, direct weighers and forms in float: code that a kernel does not need is left
 * out where it is made, since what is fetched once a pose costs more than it does. The head says what a rig lacks, and
 * a kernel that is made without a thing says so of every rig.
 */
enum {
    EXI_GPU_READINGS = 1, /* axes that are read from joints, and rotations */
    EXI_GPU_CARDINAL = 2,
    EXI_GPU_KERNELS = 4, /* other kernels than B-splines; sums that are put back to 1 */
    EXI_GPU_GAUSSIAN = 8,
    EXI_GPU_SHARES = 16, /* weighers by distance, nearest and Shepard's */
    EXI_GPU_OFFSETS = 32,
    EXI_GPU_SETS = 64, /* offsets that go by sets of examples */
    EXI_GPU_PATHS = 128,
    EXI_GPU_CORRECTORS = 256,
    EXI_GPU_SCREWS = 512,
    EXI_GPU_BASES = 1024,
    EXI_GPU_SHORTS = 2048, /* 16-bit storage */
    EXI_GPU_SKIN = 4096,
    EXI_GPU_TURNS = 8192, /* rotations of joints: dual quaternions, offsets in the skin's frame */
    EXI_GPU_SHIFTS = 16384,
    EXI_GPU_LAYERS = 32768, /* more than 32 */
    EXI_GPU_ALL = 65535,
    EXI_GPU_BY_POINTS = EXI_GPU_CARDINAL | EXI_GPU_KERNELS | EXI_GPU_GAUSSIAN | EXI_GPU_SHARES
};
#define EXI_GPU_HAS(g, things) (((g)->lacks & (things)) != (things))

/* A layer. Weighers, inputs and axes are the runtime's own records, as they stand in the rig. */
typedef struct exi_gpu_layer {
    int32_t domain, flags; /* ex_domain, EXI_LAYER_… */
    int32_t first_axis;
    int32_t example_count, first_example; /* among all weights */
    int32_t first_form;                   /* forms: the factor of its first example; trajectories: of its first form */
    int32_t first_weight;                 /* offsets: among the weights of all offsets */
    int32_t path;                         /* trajectories: which exi_gpu_trajectory; else -1 */
    int32_t first_feature;                /* among those of all layers, each with room for its weigher's dimension */
    int32_t first_point;                  /* among those of all layers, each with room for EXI_GPU_MORE_POINTS more */
    uint64_t weigher;                     /* ex_weigher, bytes from the start of the front */
} exi_gpu_layer;

/* A weight of offsets that go by sets of examples: where it stands in the tables of its weigher, but for
 * pseudo-examples, of which an edit may bring more (ex_weigher.sets, exi_gaussian.set_radial). */
typedef struct exi_gpu_set_weight {
    uint16_t column, size; /* which example of its set it belongs to; the set's size, 0: it goes by all examples */
    uint32_t first;        /* examples of all sets of the layer before its own */
    uint32_t squares;      /* the sum of the squares of their sizes */
    int32_t layer;
} exi_gpu_set_weight;

/* A layer of trajectories. What exi_trajectories_is_sum holds for is summed with the forms (sum is 1). */
typedef struct exi_gpu_trajectory {
    int32_t layer, sum;
    int32_t first_form; /* factors of its forms: turns, velocities, correctors, in this order */
    int32_t turn_count, velocity_count, corrector_count;
    int32_t first_segment, segment_count; /* of exi_gpu_work.appended; 0: none */
    uint64_t paths;    /* exi_trajectories without its tables of vertices, bytes from the front's start */
    uint64_t mask;     /* its [vertices] float, bytes from the start of the block; 0: none */
    uint64_t segments; /* its [vertices] uint16_t, likewise; 0: none */
} exi_gpu_trajectory;

/* What a layer of trajectories does at a pose, beside its factors: x + turn (x - centre) + move, as exi_trajectory has
 * it. */
typedef struct exi_gpu_motion {
    float turn[9], centre[3], move[3];
    int32_t moves;  /* whether there is a screw */
    int32_t active; /* 0: the layer does nothing at this pose */
    int32_t reserved;
} exi_gpu_motion;

/* One offset of a vertex: 16 bytes, one load. */
typedef struct exi_gpu_offset {
    float delta[3];
    uint32_t weight; /* among the weights of all offsets */
} exi_gpu_offset;

/* Displacements of a layer: the slot of each vertex of the last level, and numbers one example after the other. */
typedef struct exi_gpu_displacement {
    int32_t layer, example_count, first_example, storage;
    uint64_t stride;      /* numbers from one example to the next */
    const int32_t *slots; /* [vertices of the last level]; -1: not displaced */
    const void *values;   /* [example_count][stride] float or int16_t */
    const float *scales;  /* [example_count], 16-bit storage */
} exi_gpu_displacement;

/*
 * A level; 0 is the cage. Stencils stand in tiles of 32 vertices too: tile t has rows tile_starts[t] to
 * tile_starts[t + 1], each of 32 control vertices and weights, those that a vertex does not have with weight 0.
 *
 * The ring of a vertex: chains of neighbours, one after the other as the outlines of the faces around it go, vertex by
 * vertex; the first of a chain has EXI_GPU_RING_START set. With q the neighbours seen from the vertex, the sum of the
 * area vectors of its faces is half the sum over chains of q_i x q_(i+1): edges at the vertex itself drop out.
 */
#define EXI_GPU_RING_START 0x80000000u
typedef struct exi_gpu_level {
    int32_t vertices, splits;
    int32_t has_tangents; /* limit normals */
    int32_t has_rings;
    const uint32_t *tile_starts; /* [tiles + 1] */
    const uint32_t *support;     /* [rows][32] */
    const float *weights;        /* [rows][32] */
    const float *tangents;       /* [rows][2][32] */
    const uint32_t *ring_starts; /* [vertices + 1] */
    const uint32_t *rings;
    const uint32_t *sources; /* [splits]; NULL: each vertex is one */
} exi_gpu_level;

/*
 * Patches for crowds (crowd.cu has the way they go; lay_crowd.c makes them): the cage cut into pieces of so many
 * vertices at most, those of the piece and, where normals are wanted, their neighbours beyond it. All numbers are seen
 * from the patch's centre. Tables stand in the order in which the lanes of a warp hold the operands of a matrix
 * product: row g and g + 8, column t and t + 4, with g = lane / 4 and t = lane % 4.
 */
enum {
    EXI_CROWD_ROWS = 512,   /* with neighbours */
    EXI_CROWD_BARE = 256,   /* without: two blocks then share a multiprocessor, and one works while the other waits */
    EXI_CROWD_RING = 8,     /* neighbours that a thread keeps; further ones stand in a list */
    EXI_CROWD_FORM_MAX = 64 /* more forms go by the usual way */
};
typedef struct exi_crowd_patch {
    int32_t owned, rows; /* vertices of its own come first, ascending; then neighbours */
    int32_t joint_count; /* that move its vertices; the first is the reference; 0: no skin */
    int32_t joint_steps; /* of 8 columns */
    int32_t has_long_rings;
    uint32_t skin; /* its first operand among those of the skin: tiles one after the other, steps within */
    float centre[3];
    int32_t reserved;
} exi_crowd_patch;
typedef struct exi_crowd {
    int32_t patch_count; /* 0: the rig is none for this way */
    int32_t rows;        /* EXI_CROWD_ROWS or EXI_CROWD_BARE */
    int32_t form_steps;  /* of 8 columns */
    int32_t most_joint_steps, has_rings;
    int32_t runs; /* patches are runs of vertices, each a multiple of four but for the last */
    float area;   /* 1 over what is usual for a ring's area, about */
    const exi_crowd_patch *patches;
    const uint32_t *sources;     /* [patch][rows]: vertices of the cage */
    const uint16_t *joints;      /* [patch][8 * most_joint_steps] */
    const float *base;           /* [patch][tile][6][32 lanes]: x y z of row g, then of row g + 8 */
    const float *forms;          /* [patch][tile][form_steps][3][32 lanes][4] */
    const float *skin;           /* [operands][32 lanes][4] */
    const uint16_t *rings;       /* [patch][rows][8]: closed loops, as bytes: row times 12 */
    const uint32_t *long_starts; /* [patch][rows + 1]: into long_rings */
    const uint32_t *long_rings;  /* rows times 12 that follow the first eight, an even number */
} exi_crowd;

/* The head. Pointers are the device's, or the host's for a block that was not uploaded. */
typedef struct exi_gpu {
    const char *block;
    int32_t vertices, tiles, layer_count, pose_size;
    int32_t examples, forms, offset_weights;
    int32_t sum_forms; /* the first so many factors are those of the plain sum: forms of all layers */
    int32_t path_count, segments;
    int32_t joints, skinning, shift_count;
    int32_t depth_count; /* of the skeleton */
    int32_t storage;     /* ex_storage of the forms */
    int32_t axes;        /* of all layers */
    int32_t features;    /* room for those of all layers */
    int32_t points;      /* room for examples and pseudo-examples of all layers */
    int32_t lacks;       /* EXI_GPU_… that nothing here needs */
    int32_t weigh_bytes; /* of the front: what weighing reads, but for readings of joints; */
    int32_t front_bytes; /* and all of it, with the skeleton */
    const char *front;   /* the block, or a copy of its front */
    const exi_gpu_layer *layers;
    const struct exi_input_record *inputs;
    const int32_t *axis_inputs;
    const exi_gpu_set_weight *set_weights; /* [offset_weights]; NULL: all offsets go by all examples */
    /* skeleton: the runtime's block; joints by depth, so that those of one depth can be placed side by side */
    const ex_skeleton *skeleton;
    const int32_t *depth_starts;   /* [depth_count + 1] into depth_joints */
    const int32_t *depth_joints;   /* [joints] */
    const int32_t *shift_examples; /* [shift_count] */
    const float *shifts;           /* [shift_count][joints][3] */
    /* forms */
    const float *base;               /* [tiles][3][32] */
    const void *numbers;             /* [tiles][forms][3][32] float or int16_t */
    const float *scales;             /* [forms], 16-bit storage */
    const exi_gpu_trajectory *paths; /* [path_count] */
    exi_gpu_trajectory alone;        /* the path of a rig that has one: the host chooses kernels by it */
    /* offsets, at rest and in the skin's frame */
    const uint32_t *offset_starts[EX_OFFSET_FRAME_COUNT]; /* [vertices + 1]; NULL: none */
    const exi_gpu_offset *offsets[EX_OFFSET_FRAME_COUNT];
    /* skin: the first four influences of each vertex, heaviest first, then those of vertices that have more */
    const uint16_t *skin_joints; /* [vertices][4]; NULL: no skin */
    const float *skin_weights;   /* [vertices][4] */
    const uint32_t *long_starts; /* [vertices + 1]; NULL: none has more */
    const uint16_t *long_joints;
    const float *long_weights;
    /* displacement */
    int32_t displacement_count, reserved;
    const exi_gpu_displacement *displacements; /* the device's own array */
    exi_crowd crowd;                           /* with neighbours */
    exi_crowd bare;                            /* without */
} exi_gpu;

/* Where one call keeps what its stages hand on: pointers into scratch, [count] of everything. */
typedef struct exi_gpu_work {
    double *points;          /* [count][features]: of all layers */
    double *kernels;         /* [count][points]: kernels, distances or shares of the points of all layers */
    double *doubles;         /* [count][examples]: weights */
    float *weights;          /* [count][examples] */
    float *factors;          /* [count][forms] */
    float *offset_weights;   /* [count][offset_weights] */
    exi_gpu_motion *motions; /* [count][path_count] */
    double *bases;           /* [count][segments][3]: what segments append by themselves */
    float *appended;         /* [count][segments][3]: and those above them */
    double *worlds;          /* [count][joints][12] */
    float *shifts;           /* [count][joints][3] */
    float *palette;          /* [count][joints][12]: linear: the matrices; dual quaternion: stretches */
    float *duals;            /* [count][joints][8]: dual quaternions; linear: rotations, where offsets want them */
    int32_t *stretched;      /* [count]: dual quaternion: some joint does more than move rigidly */
} exi_gpu_work;

/* One call. */
typedef struct exi_gpu_job {
    int32_t count;
    int32_t skinned;                     /* pose with the skeleton */
    uint32_t muted[EXI_GPU_MUTED_WORDS]; /* bit l: leave layer l out */
    const float *inputs;                 /* [count][pose_size] or NULL */
    const ex_transform *joints;          /* [count][joints] or NULL */
    exi_gpu_work work;
    /* The cage and the surface in float, source order. NULL where a stage does not write or read them. */
    float *cage;      /* [count][vertices][3], where a level is refined from it */
    float *positions; /* [count] of the level's vertices */
    float *normals;
    uint64_t position_stride, position_instance; /* floats from a vertex to the next, from an instance to the next */
    uint64_t normal_stride, normal_instance;
    int32_t displaced;     /* some layer of displacements takes part */
    int32_t limit_normals; /* normals are those of the limit surface */
    exi_gpu_level level;
} exi_gpu_job;

#endif
