/* cli/edit/edit_page.h - the editor's page, editor.html, which is part of the tool where that was built with the editor; and
 * pages for others, with a rig in them. Main thread only, except exi_edit_page. */
#ifndef EXEMPLAR_CLI_EDIT_PAGE_H
#define EXEMPLAR_CLI_EDIT_PAGE_H

#include "cli/base/command.h"

#include <stddef.h>

/* The page and its size; it belongs to the program. NULL and 0 in a tool that was built without the editor. */
const unsigned char *exi_edit_page(size_t *size);

/* What to say of a tool that was built without the editor, as a sentence with the reason; NULL in one with it. */
const char *exi_edit_missing(void);

/* Writes `page`, the editor with a rig in it, which needs neither a server nor a network. `rig` names a rig file, or a
 * project, which is built. Says what was written, or why not; returns the exit code. */
int exi_edit_export(const ex_call *call, const char *page, const char *rig);

#endif
