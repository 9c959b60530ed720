/*
 * Layout of a driver and of its views: one block each, without pointers.
 */
#ifndef EXI_WEIGH_DRIVER_H
#define EXI_WEIGH_DRIVER_H

#include <exemplar/weigh.h>

/* Four vertices that a frame is fitted to. The frame's weights sum to 1; places are positions relative to their mean,
 * times the weight. The last group is filled up with weights of 0. */
typedef struct exi_frame_group {
    uint32_t vertices[4];
    float weights[4];
    float places[3][4];
} exi_frame_group;

struct ex_driver {
    uint64_t size;
    int32_t vertex_count, frame_count;
    uint64_t starts;  /* [frame_count + 1] uint32_t: of the groups */
    uint64_t centres; /* [frame_count][3] double */
    uint64_t squares; /* [frame_count] double: mean squared distance of the frame's vertices from their mean */
    uint64_t groups;  /* [starts[frame_count]] exi_frame_group */
};

struct ex_regions {
    uint64_t size;
    int32_t view_count, key_count;
    int32_t width;       /* keys, padded to a multiple of 4 */
    int32_t frame_count; /* of the driver */
    uint64_t starts;     /* [view_count + 1] uint32_t */
    uint64_t frames;     /* [view_count] int32_t */
    uint64_t vertices;   /* [samples] uint32_t */
    uint64_t weights;    /* [samples] float */
    uint64_t means;      /* [samples][3] float: of the keys, in the view's frame */
    uint64_t features;   /* [samples][3][width] float: weight times (key - mean) */
    uint64_t grams;      /* [view_count][key_count][key_count] double */
    uint64_t totals;     /* [view_count] double: the sum of its weights */
};

static inline void *exi_driver_at(const void *block, uint64_t offset) {
    return (void *)((uintptr_t)block + (uintptr_t)offset);
}

/* ex_driver_place and ex_driver_sizes in one pass; sizes may be NULL. */
void exi_driver_measure(const ex_driver *driver, const float *form, float *matrices, float *sizes);

/* The rotation R that maximises tr(R^T M); the identity for a zero matrix. */
void exi_nearest_rotation(const double matrix[3][3], double r[3][3]);

#endif
