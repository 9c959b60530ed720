/* progress.h - reports of long work, and how it stops. Private to authoring. */
#ifndef EXEMPLAR_AUTHOR_BASE_PROGRESS_H
#define EXEMPLAR_AUTHOR_BASE_PROGRESS_H

#include <exemplar/author/base.h>

/* Reports progress; progress and its function may be NULL. False if the caller wants to stop. */
bool exi_progress_tell(const ex_progress *progress, const char *what, double fraction);
/* Returns the error of work that was stopped. */
ex_result exi_progress_stopped(ex_error *error);

#endif
