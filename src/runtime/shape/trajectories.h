/*
 * Trajectories of one layer (exemplar/shape.h has the formula), laid out for evaluation. Per-vertex data that is summed
 * (angular velocities w, displacement velocities u, correctors c) is stored as examples of an ex_forms that the layer
 * shares with others, in this order: w of those that have turns, u of all but the reference, c of each in turn. With a
 * mixture, the d take the place of u, and the layer's correctors that of c. The rest is one block with a head and
 * tables at offsets, without pointers. The layout belongs to the build, not to a file. A layer without turns, screws,
 * segments, mask and mixture is a sum of its forms. Common subset of C and CUDA.
 */
#ifndef EXI_PATHS_H
#define EXI_PATHS_H

#include "runtime/base/functions.inl"

#include <exemplar/shape.h>

/* Features of a layer or an example. */
enum { EXI_PATHS_TURNS = 1, EXI_PATHS_BASES = 2, EXI_PATHS_SCREWS = 4, EXI_PATHS_MIXTURE = 8 };

/*
 * Tables of a mixture; offsets are from the start of the exi_trajectories. Counts of nodes and edges are padded to
 * multiples of EXI_MIXTURE_PAD in tables that have a coordinate of all of them in a row; the padding is 0. Entries of
 * the reference are 0.
 */
enum { EXI_MIXTURE_PAD = 16 };
typedef struct exi_mixture {
    int32_t node_count; /* 0: no mixture */
    int32_t edge_count, corner_count, corrector_count, term_count;
    int32_t node_stride, edge_stride; /* padded counts */
    int32_t reserved;
    uint64_t given_places; /* [corner_count][node_count][3] float, as given */
    uint64_t given_turns;  /* [example_count][node_count][3] float, as given */
    uint64_t edges;        /* [edge_count][2] uint16_t */
    uint64_t edge_weights; /* [edge_count] float, as given */
    uint64_t terms;        /* [term_count] ex_mixture_term */
    uint64_t curves;       /* [corrector_count][term_count] float */
    uint64_t turns;        /* [example_count][3][node_stride] float: w */
    uint64_t places;       /* [corner_count][3][node_stride] float: y_0, then y_k - y_0 */
    uint64_t steps;        /* [corner_count][6][edge_stride] float: R_ik^T (y_jk - y_ik), R_jk^T (y_jk - y_ik) */
    uint64_t pulls;        /* [edge_count] float: weights of the edges, scaled so that no number is too large */
    uint64_t solve;        /* [node_count][node_stride] float: the pseudo-inverse M of B^T W B with them; symmetric */
    uint64_t nodes;        /* [vertices of all tiles][EX_NODE_SHARES] uint16_t */
    uint64_t shares;       /* the same, float */
} exi_mixture;

typedef struct exi_trajectories {
    uint64_t size;
    int32_t vertex_count, example_count, segment_count;
    int32_t reference;              /* -1: none */
    int32_t corrector_count;        /* total over all examples, or of the mixture */
    int32_t based_count;            /* examples with bases */
    int32_t first_form, form_count; /* range of the layer's forms; the owner sets the first */
    uint32_t flags;                 /* EXI_PATHS_… of all examples together */
    uint32_t reserved;
    double centre[3];
    uint64_t examples; /* [example_count] exi_trajectory_example */
    uint64_t curves;   /* [corrector_count][EX_CURVE_SIZE] float; none with a mixture */
    uint64_t bases;    /* [based_count][segment_count][6] float */
    uint64_t overlaps; /* [example_count] squared, float; 0: none */
    uint64_t parents;  /* [segment_count] int32_t */
    uint64_t order;    /* [segment_count] int32_t: parents before children */
    uint64_t segments; /* [vertices of all tiles] uint16_t; 0: none */
    uint64_t mask;     /* [vertices of all tiles] float; 0: none */
    uint64_t deltas;   /* float storage: [vertex_count][3] float for each example that has them */
    exi_mixture mixture;
} exi_trajectories;

typedef struct exi_trajectory_example {
    ex_screw screw;
    uint32_t flags; /* EXI_PATHS_… */
    int32_t corrector_count, first_corrector;
    int32_t turns, velocities, correctors; /* forms of the layer, and the first of its correctors; -1: none */
    int32_t bases;                         /* index of its bases; -1: none */
    float longest;                         /* longest of its turns as stored */
    int32_t reserved;
    int32_t delta; /* index of its delta; -1: its u is its delta, or it is not kept */
} exi_trajectory_example;

EXI_INLINE const void *exi_trajectories_at(const exi_trajectories *paths, uint64_t offset) {
    return (const char *)paths + offset;
}
EXI_INLINE const exi_trajectory_example *exi_trajectories_examples(const exi_trajectories *paths) {
    return (const exi_trajectory_example *)exi_trajectories_at(paths, paths->examples);
}

/* True if the layer is just the sum of its forms. */
EXI_INLINE bool exi_trajectories_is_sum(const exi_trajectories *paths) {
    return paths->flags == 0 && paths->mask == 0;
}

#endif
