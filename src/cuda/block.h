/*
 * Layout of a rig on the GPU: one block of memory, laid out by the host and uploaded in one copy, and a head of
 * pointers into it that is passed to every kernel by value. The stages are written for one thread each in the common
 * subset of C and CUDA: kernels run them on the GPU, and tests run the same functions on the host, on a block that was
 * not uploaded.
 *
 * stage     result                                                its functions            its kernels
 * prepare   an instance: weights of all layers, factors of        prepare.inl, _weigh,     kernels_prepare.cu, _near
 *           forms, screws, the skeleton's palette                 _factors, _pose
 * nodes     an instance: matrices of the nodes of mixtures        prepare_mixture.inl      kernels_mix.cu
 * shape     a vertex of the cage: blend, paths, offsets, skin     shape.inl,               kernels_shape.cu, _blend,
 *                                                                 shape_trajectory         _trajectory, _mixture,
 *                                                                                          _posed, _fused
 * refine    a vertex of a level: stencils, displacement           surface.inl              kernels_surface.cu
 * normals   a vertex: its ring                                    surface.inl              kernels_surface.cu, _normals
 * write     an entry: formats, split vertices; boxes              write.inl                kernels_surface.cu
 *
 * crowd.cu does shape and normals in one kernel for the most important case: many instances of a rig with forms and
 * linear skinning. Other files: lay.c and its parts (lay_*.c) make the block, upload.c uploads it, evaluate.c queues a
 * call's stages in a stream, work.h has the data passed between stages, device.c has memory, copies and errors; several
 * of them share layers.inl, machine.h and kernels_fetch, _launch, _store.
 *
 * The data that prepare reads comes first in the block, close together: its front. A kernel can load all of it into
 * shared memory at once, instead of following offsets from one table to the next.
 *
 * Vertices of the cage are in tiles of 32, one for each lane of a warp: x of all, then y, then z. The CPU's tiles have
 * 8 or 16 vertices, depending on its SIMD width, so the GPU needs its own block.
 */
#ifndef EXI_CUDA_BLOCK_H
#define EXI_CUDA_BLOCK_H

#include <exemplar/rig_inspect.h>

enum {
    EXI_GPU_TILE = 32,
    EXI_GPU_MUTED_WORDS = 8,  /* words of 32 layers */
    EXI_GPU_MORE_POINTS = 16, /* room in an uploaded weigher for more pseudo-examples */
    EXI_GPU_LAYER_MAX = 32 * EXI_GPU_MUTED_WORDS
};

/*
 * Features of a rig or a call beyond dials, direct weighers and forms in float. Kernels are compiled without the code
 * that they do not need, since fetching code once per pose costs more than running it. The head says what a rig lacks,
 * and a kernel compiled without a feature treats every rig as lacking it.
 */
enum {
    EXI_GPU_READINGS = 1, /* axes that are read from joints, and rotations */
    EXI_GPU_CARDINAL = 2,
    EXI_GPU_KERNELS = 4, /* kernels other than B-splines; sums restored to 1 */
    EXI_GPU_GAUSSIAN = 8,
    EXI_GPU_SHARES = 16, /* weighers by distance: nearest and shepard */
    EXI_GPU_OFFSETS = 32,
    EXI_GPU_SETS = 64, /* offsets weighed by sets of examples */
    EXI_GPU_PATHS = 128,
    EXI_GPU_CORRECTORS = 256,
    EXI_GPU_SCREWS = 512,
    EXI_GPU_BASES = 1024,
    EXI_GPU_SHORTS = 2048, /* 16-bit storage */
    EXI_GPU_SKIN = 4096,
    EXI_GPU_TURNS = 8192, /* rotations of joints: dual quaternions, offsets in the skin's frame */
    EXI_GPU_SHIFTS = 16384,
    EXI_GPU_LAYERS = 32768, /* more than 32 */
    EXI_GPU_CALM = 65536,   /* calm weighers, and limits of axes */
    EXI_GPU_MIXTURES = 131072,
    EXI_GPU_ALL = 262143,
    EXI_GPU_BY_POINTS = EXI_GPU_CARDINAL | EXI_GPU_KERNELS | EXI_GPU_GAUSSIAN | EXI_GPU_SHARES | EXI_GPU_CALM
};
#define EXI_GPU_HAS(g, things) (((g)->lacks & (things)) != (things))

/* A layer. Weighers, inputs and axes are the runtime's own records, unchanged. */
typedef struct exi_gpu_layer {
    int32_t domain, flags; /* ex_domain, EXI_LAYER_… */
    int32_t first_axis;
    int32_t example_count, first_example; /* among all weights */
    int32_t first_form;                   /* forms: the factor of its first example; trajectories: of its first form */
    int32_t first_weight;                 /* offsets: among the weights of all offsets */
    int32_t path;                         /* trajectories: index of its exi_gpu_trajectory; else -1 */
    int32_t first_feature; /* among those of all layers: its weigher's dimension, then a factor for each axis if that
                              has limits */
    int32_t first_point;   /* among those of all layers, each with room for EXI_GPU_MORE_POINTS more */
    uint64_t weigher;      /* ex_weigher, bytes from the start of the front */
} exi_gpu_layer;

/* A weight of offsets that are weighed by sets of examples: its place in the tables of its weigher, without
 * pseudo-examples, of which an edit may add more (ex_weigher.sets, exi_gaussian.set_radial). */
typedef struct exi_gpu_set_weight {
    uint16_t column, size; /* the example within its set; the set's size, 0: it is weighed by all examples */
    uint32_t first;        /* number of examples of all earlier sets of the layer */
    uint32_t squares;      /* sum of the squares of their sizes */
    int32_t layer;
} exi_gpu_set_weight;

/*
 * The mixture of a trajectory layer: tables of exi_mixture (runtime/shape/trajectories.h), at bytes from the start of
 * the block, which only the stage of nodes reads; and those of its vertices. Groups are runs of EXI_GPU_MIX_GROUP
 * vertices, each with a list of the nodes that move them.
 */
enum { EXI_GPU_MIX_GROUP = 128 };
typedef struct exi_gpu_mixture {
    int32_t node_count; /* 0: none */
    int32_t edge_count, corner_count, term_count;
    int32_t node_stride, edge_stride;
    int32_t first_node, first_corner, first_term; /* among those of all mixtures */
    int32_t most_nodes;                           /* of a group */
    uint64_t terms;                               /* as in exi_mixture */
    uint64_t curves;                              /* [term_count][corrector_count] float */
    uint64_t turns, places, steps, solve, pulls;  /* the same */
    uint64_t edges;                               /* the same */
    uint64_t end_starts;                          /* [node_count + 1] uint32_t, into ends */
    uint64_t ends;            /* [2 edge_count] uint16_t: edges of a node, times two, plus one if they end there */
    uint64_t nodes;           /* [vertices][EX_NODE_SHARES] uint16_t */
    uint64_t shares;          /* the same, float */
    uint64_t group_starts;    /* [groups + 1] uint32_t, into group_nodes */
    uint64_t group_nodes;     /* uint16_t */
    uint64_t places_in_group; /* as nodes: each node's place in the list of the vertex's group */
} exi_gpu_mixture;

/* A trajectory layer. If exi_trajectories_is_sum, it is summed with the forms (sum is 1). */
typedef struct exi_gpu_trajectory {
    int32_t layer, sum;
    int32_t first_form; /* factors of its forms: turns, velocities, correctors, in this order */
    int32_t turn_count, velocity_count, corrector_count;
    int32_t first_segment, segment_count; /* of exi_gpu_work.appended; 0: none */
    uint64_t paths;    /* exi_trajectories without its tables of vertices, bytes from the start of the front */
    uint64_t mask;     /* its [vertices] float, bytes from the start of the block; 0: none */
    uint64_t segments; /* its [vertices] uint16_t, the same; 0: none */
    exi_gpu_mixture mixture;
} exi_gpu_trajectory;

/* Motion of a trajectory layer at a pose, besides its factors: x + turn (x - centre) + move, as in exi_trajectory. */
typedef struct exi_gpu_motion {
    float turn[9], centre[3], move[3];
    int32_t moves;  /* true if there is a screw */
    int32_t active; /* 0: the layer does nothing at this pose */
    int32_t reserved;
} exi_gpu_motion;

/* One offset of a vertex: 16 bytes, one load. */
typedef struct exi_gpu_offset {
    float delta[3];
    uint32_t weight; /* among the weights of all offsets */
} exi_gpu_offset;

/* Displacements of a layer: the slot of each vertex of the last level, and values, one example after the other. */
typedef struct exi_gpu_displacement {
    int32_t layer, example_count, first_example, storage;
    uint64_t stride;      /* values from one example to the next */
    const int32_t *slots; /* [vertices of the last level]; -1: not displaced */
    const void *values;   /* [example_count][stride] float or int16_t */
    const float *scales;  /* [example_count], 16-bit storage */
} exi_gpu_displacement;

/*
 * A level; 0 is the cage. Stencils are in tiles of 32 vertices too: tile t has rows tile_starts[t] to tile_starts[t +
 * 1], each of 32 control vertices and weights; unused entries of a vertex have weight 0.
 *
 * The ring of a vertex: chains of neighbours, in the order of the outlines of the faces around it; the first of a chain
 * has EXI_GPU_RING_START set. With q the neighbours relative to the vertex, the sum of the area vectors of its faces is
 * half the sum over chains of q_i x q_(i+1): edges at the vertex itself drop out.
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
    const uint32_t *sources; /* [splits]; NULL: each vertex is its own */
} exi_gpu_level;

/*
 * Patches for crowds (crowd.cu uses them; lay_crowd.c makes them): the cage cut into pieces with a limited number of
 * rows. Rows are the vertices of the piece and, for normals, their neighbours outside. All numbers are relative to the
 * patch's centre. Tables are in the order in which the lanes of a warp hold the operands of a matrix product: row g and
 * g + 8, column t and t + 4, with g = lane / 4 and t = lane % 4.
 */
enum {
    EXI_CROWD_ROWS = 512,   /* with neighbours */
    EXI_CROWD_BARE = 256,   /* without: two blocks then share a multiprocessor, and one works while the other waits */
    EXI_CROWD_RING = 8,     /* neighbours that a thread keeps; others are in a list */
    EXI_CROWD_FORM_MAX = 64 /* rigs with more forms use the general kernels */
};
typedef struct exi_crowd_patch {
    int32_t owned, rows; /* its own vertices come first, ascending; then neighbours */
    int32_t joint_count; /* joints that move its vertices; the first is the reference; 0: no skin */
    int32_t joint_steps; /* of 8 columns */
    int32_t has_long_rings;
    uint32_t skin; /* its first operand in the skin's table: tiles one after the other, steps within */
    float centre[3];
    int32_t reserved;
} exi_crowd_patch;
typedef struct exi_crowd {
    int32_t patch_count; /* 0: the rig does not suit crowds */
    int32_t rows;        /* EXI_CROWD_ROWS or EXI_CROWD_BARE */
    int32_t form_steps;  /* of 8 columns */
    int32_t most_joint_steps, has_rings;
    int32_t runs; /* true if patches are runs of vertices, each a multiple of four except the last */
    float area;   /* inverse of the usual area of a ring, approximately */
    const exi_crowd_patch *patches;
    const uint32_t *sources;     /* [patch][rows]: vertices of the cage */
    const uint16_t *joints;      /* [patch][8 * most_joint_steps] */
    const float *base;           /* [patch][tile][6][32 lanes]: x y z of row g, then of row g + 8 */
    const float *forms;          /* [patch][tile][form_steps][3][32 lanes][4] */
    const float *skin;           /* [operands][32 lanes][4] */
    const uint16_t *rings;       /* [patch][rows][8]: closed loops, as bytes: row times 12 */
    const uint32_t *long_starts; /* [patch][rows + 1]: into long_rings */
    const uint32_t *long_rings;  /* rows times 12 after the first eight, an even number */
} exi_crowd;

/* The head. Pointers are device pointers, or host pointers for a block that was not uploaded. */
typedef struct exi_gpu {
    const char *block;
    int32_t vertices, tiles, layer_count, pose_size;
    int32_t examples, forms, offset_weights;
    int32_t sum_forms; /* number of factors of the plain sum, which come first: forms of all layers */
    int32_t path_count, segments;
    int32_t mixed_nodes, mixed_corners, mixed_terms;                /* of all mixtures; no nodes: there are none */
    int32_t most_mixed_nodes, most_mixed_corners, most_mixed_edges; /* of one mixture, nodes padded */
    int32_t joints, skinning, shift_count;
    int32_t depth_count; /* of the skeleton */
    int32_t storage;     /* ex_storage of the forms */
    int32_t axes;        /* of all layers */
    int32_t features;    /* room for those of all layers */
    int32_t points;      /* room for examples and pseudo-examples of all layers */
    int32_t lacks;       /* EXI_GPU_… that this rig does not need */
    int32_t weigh_bytes; /* bytes of the front that weighing reads, without readings of joints */
    int32_t front_bytes; /* all bytes of the front, with the skeleton */
    const char *front;   /* the block, or a copy of its front */
    const exi_gpu_layer *layers;
    const struct exi_input_record *inputs;
    const int32_t *axis_inputs;
    const exi_gpu_set_weight *set_weights; /* [offset_weights]; NULL: all offsets are weighed by all examples */
    /* skeleton: the runtime's block; joints by depth, so that those of one depth can be computed side by side */
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
    exi_gpu_trajectory alone;        /* the path of a rig with a single one, by which the host chooses kernels */
    /* offsets, at rest and in the skin's frame */
    const uint32_t *offset_starts[EX_OFFSET_FRAME_COUNT]; /* [vertices + 1]; NULL: none */
    const exi_gpu_offset *offsets[EX_OFFSET_FRAME_COUNT];
    /* skin: the first four influences of each vertex, heaviest first, then the others of vertices with more */
    const uint16_t *skin_joints; /* [vertices][4]; NULL: no skin */
    const float *skin_weights;   /* [vertices][4] */
    const uint32_t *long_starts; /* [vertices + 1]; NULL: no vertex has more */
    const uint16_t *long_joints;
    const float *long_weights;
    /* displacement */
    int32_t displacement_count, reserved;
    const exi_gpu_displacement *displacements; /* array on the device */
    exi_crowd crowd;                           /* with neighbours */
    exi_crowd bare;                            /* without */
} exi_gpu;

/* Data that one call's stages pass on: pointers into scratch, each array for [count] instances. */
typedef struct exi_gpu_work {
    double *points;          /* [count][features]: of all layers */
    double *kernels;         /* [count][points]: kernels, distances or shares of the points of all layers */
    double *doubles;         /* [count][examples]: weights */
    float *weights;          /* [count][examples] */
    float *factors;          /* [count][forms] */
    float *offset_weights;   /* [count][offset_weights] */
    exi_gpu_motion *motions; /* [count][path_count] */
    double *bases;           /* [count][segments][3]: contribution of each segment */
    double *mixed;           /* [count][examples], if there are mixtures: weights of their layers, brought back */
    double *shares;          /* [count][2][mixed_corners]: shares, bounded shares */
    double *terms;           /* [count][mixed_terms]: terms of correctors */
    float *matrices;         /* [count][mixed_nodes][12]: R - I and offset of the nodes, row by row */
    float *node_rooms;       /* [count][exi_gpu_mix_room]: where a block's shared memory is too small */
    float *appended;         /* [count][segments][3]: the same plus those above it */
    double *worlds;          /* [count][joints][12] */
    double *turns;           /* [count][joints][4]: turns from rest, if there are duals */
    float *shifts;           /* [count][joints][3] */
    float *palette;          /* [count][joints][12]: linear: the matrices; dual quaternion: stretches */
    float *duals;            /* [count][joints][8]: dual quaternions; linear: rotations, if offsets need them */
    int32_t *stretched;      /* [count]: dual quaternion: true if the motion of some joint is not rigid */
} exi_gpu_work;

/* One call. */
typedef struct exi_gpu_job {
    int32_t count;
    int32_t skinned;                     /* true to pose with the skeleton */
    uint32_t muted[EXI_GPU_MUTED_WORDS]; /* bit l: leave out layer l */
    const float *inputs;                 /* [count][pose_size] or NULL */
    const ex_transform *joints;          /* [count][joints] or NULL */
    exi_gpu_work work;
    /* The cage and the surface in float, source order. NULL if no stage uses them. */
    float *cage;      /* [count][vertices][3], if a level is refined from it */
    float *positions; /* [count] of the level's vertices */
    float *normals;
    uint64_t position_stride, position_instance; /* floats from one vertex to the next, and from one instance to the
                                                    next */
    uint64_t normal_stride, normal_instance;
    int32_t displaced;     /* true if some displacement layer takes part */
    int32_t limit_normals; /* true if normals are those of the limit surface */
    exi_gpu_level level;
} exi_gpu_job;

#endif
