/*
 * learn_motion.h - the entry to learning from motion. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_MOTION_LEARN_MOTION_H
#define EXEMPLAR_AUTHOR_DRIVE_MOTION_LEARN_MOTION_H

#include <exemplar/author/drive.h>

/* ex_drive_learn for EX_LEARN_MOTION. What both methods need is checked already; error is not NULL. */
ex_result exi_learn_motion(const ex_learn_def *def, ex_rig **rig, ex_learned **learned, ex_error *error);

#endif
