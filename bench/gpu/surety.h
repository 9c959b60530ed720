/*
 * bench/gpu/surety.h - how sure the runtime's own float results are, so that another evaluation of the same rig can be
 * compared with them fairly: for the measurements here and for exemplar_cuda_test. Public headers alone.
 */
#ifndef EXEMPLAR_BENCH_GPU_SURETY_H
#define EXEMPLAR_BENCH_GPU_SURETY_H

#include <exemplar/rig_inspect.h>

/* Results differ by no more than this: positions in parts of the form's size, weights as they are; normals too, but for
 * what their vertices' roundings may turn them by. */
#define EXI_SURETY_TOLERANCE 1e-5

/* Normals that rounding may turn further, in radians, say nothing. */
#define EXI_SURETY_UNSURE 0.05

/* How large a form is: the largest side of a box around it and the origin, since floats are as fine as they are far
 * from there. */
double exi_surety_form_size(const float *positions, int count);

/*
 * Of one pose. positions: of the level asked for, as ex_rig_evaluate gives them, in source order. For each vertex of
 * the level: off, how far a displaced position may be from another evaluation's because its limit normal is no surer
 * than that, 0 of one that is not displaced; angles, how far rounding of the positions may turn the normal, in radians.
 * False where there is no memory.
 */
bool exi_surety_of(const ex_rig *rig, const ex_pose *pose, const ex_evaluation *how, const float *positions, float *off,
                   float *angles);

#endif
