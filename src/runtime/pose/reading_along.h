/*
 * Derivatives of readings: how a joint moves as the value that is read from it is set, and how other values move with
 * the joint (reading.c has the values).
 */
#ifndef EXI_READING_ALONG_H
#define EXI_READING_ALONG_H

#include "runtime/pose/local.inl"

/* Derivatives of a local transform by number `number` of a reading's value, at the value that it has: those of the
 * translation, of the unit quaternion, and of the scale. */
void exi_reading_write_along(const ex_reading *reading, const ex_transform *rest, const ex_transform *local, int number,
                             exi_local *along);

/* Derivatives of a reading's value [1 or 4] as the transform moves along `along`. */
void exi_reading_read_along(const ex_reading *reading, const ex_transform *rest, const ex_transform *local,
                            const exi_local *along, double *value);

#endif
