/* Reports progress of long work, which its caller may stop. */
#include "author/base/progress.h"

#include "runtime/base/result.h"

bool exi_progress_tell(const ex_progress *progress, const char *what, double fraction) {
    return !progress || !progress->report || progress->report(progress->user, what, fraction);
}

ex_result exi_progress_stopped(ex_error *error) {
    return ex_error_set(error, EX_ERROR_FILE, "stopped before it was finished: nothing was written");
}
