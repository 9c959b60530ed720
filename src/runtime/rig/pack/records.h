/*
 * Records of a rig that a GPU reads directly. Common subset of C and CUDA; rig.h has the others.
 */
#ifndef EXI_RIG_RECORDS_H
#define EXI_RIG_RECORDS_H

#include "runtime/base/functions.inl"
#include "runtime/weigh/block.h"

#include <exemplar/pose.h>

typedef struct exi_input_record {
    uint32_t name, unit; /* into strings */
    int32_t offset;      /* in ex_pose.inputs; -1 with a joint */
    int32_t joint;       /* -1: a dial */
    exi_axis_record axis;
    double about[3], middle, slide_unit; /* ex_reading */
    int32_t reading, part;
} exi_input_record;

EXI_INLINE ex_reading exi_input_reading(const exi_input_record *input) {
    ex_reading reading;
    reading.kind = (ex_reading_kind)input->reading;
    for (int i = 0; i < 3; i++)
        reading.about[i] = input->about[i];
    reading.middle = input->middle;
    reading.unit = input->slide_unit;
    reading.part = input->part;
    return reading;
}

/* MOVED: offsets, with a weight for every set of examples and every example in it. DRIVEN: weighed by the driver.
 * PREDICTED: by its motion, with a predictor instead of regions, and without keys. */
enum { EXI_LAYER_MUTED = 1, EXI_LAYER_MOVED = 2, EXI_LAYER_DRIVEN = 4, EXI_LAYER_PREDICTED = 8 };

/* True if every example of a layer with these flags has a form of the driver. */
EXI_INLINE bool exi_layer_has_keys(uint32_t flags) {
    return (flags & EXI_LAYER_DRIVEN) != 0 && (flags & EXI_LAYER_PREDICTED) == 0;
}

#endif
