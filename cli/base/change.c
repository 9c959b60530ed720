/* cli/base/change.c - commands that change a project in place: the lock, notes, progress, and how they end. */
#include "change.h"

#include "files.h"
#include "interrupt.h"
#include "lock.h"

bool exi_change_open(exi_change *change, const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    *change = (exi_change){.call = call, .lock = -1};
    /* Checked before the work, which may take minutes. */
    if (!exi_expect_kind(path, EXI_FILE_PROJECT) || (exi_file_exists(path) && !exi_output_writable(path)))
        return false;
    change->lock = exi_lock_folder_of(path, call->quiet);
    if (ex_project_read(path, &change->project, &error) != EX_OK) {
        exi_failed(&error);
        exi_lock_release(change->lock);
        return false;
    }
    exi_progress_start(&change->progress, call);
    change->options =
        (ex_build_options){.progress = &change->progress.hook, .note = exi_notes_keep, .note_user = &change->notes};
    exi_interrupt_defer(true);
    return true;
}

int exi_change_end(exi_change *change, ex_result result, const ex_error *error) {
    exi_progress_end(&change->progress);
    /* Signals stay deferred: a saved change must not be called interrupted while it is reported. */
    if (result != EX_OK && exi_interrupted()) {
        exi_report_interrupted();
        return exi_interrupted();
    }
    if (result != EX_OK)
        return exi_failed(error);
    for (int i = 0; !change->call->quiet && i < change->notes.count; i++)
        exi_failed_text("%s", change->notes.texts[i]);
    return EX_EXIT_DONE;
}

void exi_change_close(exi_change *change) {
    exi_notes_free(&change->notes);
    ex_project_destroy(change->project);
    exi_lock_release(change->lock);
}
