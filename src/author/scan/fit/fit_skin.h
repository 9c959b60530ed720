/*
 * fit_skin.h - markers on skin that follows more than one bone; private to src/author/scan.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_FIT_FIT_SKIN_H
#define EXEMPLAR_AUTHOR_SCAN_FIT_FIT_SKIN_H

#include <exemplar/author/kinematics.h>

/* Metres: with more noise, the last percents of the fit are not worth their time. */
#define EXI_FIT_NOISY 0.003

/* ex_kinematics_fit with every marker fixed to its bone. last: an earlier fit of the same scans, whose result `def`
 * starts from, so that no search is needed; or NULL. */
ex_result exi_kinematics_fit_rigid(const ex_kin_fit_def *def, const ex_kin_fit *last, ex_kin_fit **fit,
                                   ex_error *error);

#endif
