/*
 * How transforms are read: in double, with a unit quaternion, and with rest in place of what is not finite.
 */
#ifndef EXI_TRANSFORM_H
#define EXI_TRANSFORM_H

#include <exemplar/pose.h>

typedef struct exi_local {
    double translation[3], rotation[4], scale[3];
} exi_local;

/* Parts that are not finite, and a zero rotation, are taken from rest; a zero rotation there is the identity. */
void exi_local_read(const ex_transform *transform, const ex_transform *rest, exi_local *local);

/* Every number is finite. */
bool exi_transform_finite(const ex_transform *transform);

#endif
