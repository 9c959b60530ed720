/*
 * learn_check.h - checks of a definition of learning that need no file. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_LEARN_LEARN_CHECK_H
#define EXEMPLAR_AUTHOR_DRIVE_LEARN_LEARN_CHECK_H

#include <exemplar/author/drive.h>

/* Results: ARGUMENT, DATA. */
ex_result exi_learn_check(const ex_learn_def *def, ex_error *error);

#endif
