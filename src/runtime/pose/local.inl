/*
 * Reading of transforms: in double, with a unit quaternion, and with rest in place of parts that are not finite. Common
 * subset of C and CUDA.
 */
#ifndef EXI_LOCAL_INL
#define EXI_LOCAL_INL

#include "runtime/base/vector.h"

#include <exemplar/pose.h>

typedef struct exi_local {
    double translation[3], rotation[4], scale[3];
} exi_local;

EXI_INLINE bool exi_floats_finite(const float *row, int count) {
    for (int i = 0; i < count; i++)
        if (!isfinite(row[i]))
            return false;
    return true;
}

/* True if every number is finite. */
EXI_INLINE bool exi_transform_finite(const ex_transform *t) {
    return exi_floats_finite(t->translation, 3) && exi_floats_finite(t->rotation, 4) && exi_floats_finite(t->scale, 3);
}

/* Parts that are not finite, and a zero rotation, are taken from rest; a zero rotation in rest is the identity. */
EXI_INLINE void exi_local_read(const ex_transform *transform, const ex_transform *rest, exi_local *local) {
    const float *translation =
        exi_floats_finite(transform->translation, 3) ? transform->translation : rest->translation;
    const float *scale = exi_floats_finite(transform->scale, 3) ? transform->scale : rest->scale;
    const float *rotation = exi_floats_finite(transform->rotation, 4) ? transform->rotation : rest->rotation;
    for (int i = 0; i < 3; i++) {
        local->translation[i] = (double)translation[i];
        local->scale[i] = (double)scale[i];
    }
    for (int i = 0; i < 4; i++)
        local->rotation[i] = (double)rotation[i];
    if (exi_normalise(local->rotation, 4))
        return;
    for (int i = 0; i < 4; i++)
        local->rotation[i] = (double)rest->rotation[i];
    if (!exi_normalise(local->rotation, 4))
        local->rotation[3] = 1;
}

#endif
