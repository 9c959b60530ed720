/*
 * learn_motion.h - the entry to learning from motion. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_MOTION_LEARN_MOTION_H
#define EXEMPLAR_AUTHOR_DRIVE_MOTION_LEARN_MOTION_H

#include <exemplar/author/drive.h>

/* Usual bytes for frames of the driven mesh that are held in memory; further ones are read again. */
#define EXI_MOTION_MEMORY ((size_t)256 << 20)

/* ex_drive_learn for EX_LEARN_MOTION. What both methods need is checked already; error is not NULL. files: gathered
 * files of the references, or NULL for caches. After a failure there may be a rig: destroy it. */
ex_result exi_learn_motion(const ex_learn_def *def, ex_gathered *const *files, size_t memory, ex_rig **rig,
                           ex_learned **learned, ex_error *error);

#endif
