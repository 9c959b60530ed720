/*
 * bench/gpu/surety.h - the uncertainty of the runtime's float results, for a fair comparison with another evaluation of
 * the same rig: for the measurements here and for exemplar_cuda_test. Uses only public headers.
 */
#ifndef EXEMPLAR_BENCH_GPU_SURETY_H
#define EXEMPLAR_BENCH_GPU_SURETY_H

#include <exemplar/rig_inspect.h>

/* Largest difference of results: positions as fractions of the form's size, weights absolute; normals too, beyond the
 * angle by which their vertices' rounding may turn them. */
#define EXI_SURETY_TOLERANCE 1e-5

/* Angle in radians: normals that rounding may turn further are not compared. */
#define EXI_SURETY_UNSURE 0.05

/* Size of a form: the largest side of a box around it and the origin, since the precision of floats depends on the
 * distance from there. */
double exi_surety_form_size(const float *positions, int count);

/*
 * Uncertainty at one pose. positions: of the requested level, from ex_rig_evaluate, in source order. For each vertex of
 * the level: off, the possible difference of a displaced position from another evaluation's because of its uncertain
 * limit normal, 0 if it is not displaced; angles, the angle by which rounding of the positions may turn the normal, in
 * radians. False if out of memory.
 */
bool exi_surety_of(const ex_rig *rig, const ex_pose *pose, const ex_evaluation *how, const float *positions, float *off,
                   float *angles);

#endif
