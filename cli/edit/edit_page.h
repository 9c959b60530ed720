/* cli/edit/edit_page.h - the editor's page, editor.html, which is embedded in the tool if it was built with the editor;
 * and exported pages with a rig in them. Main thread only, except exi_edit_page. */
#ifndef EXEMPLAR_CLI_EDIT_PAGE_H
#define EXEMPLAR_CLI_EDIT_PAGE_H

#include "cli/base/command.h"

#include <stddef.h>

/* Samples per second of a rig's own clips, in the editor and in exported pages. */
#define EXI_CLIP_FPS 30

/* The page and its size; the program owns it. NULL and 0 in a tool built without the editor. */
const unsigned char *exi_edit_page(size_t *size);

/* Sentence with the reason why the tool has no editor; NULL if it has one. */
const char *exi_edit_missing(void);

/* Writes `page`, the editor with a rig in it, which needs neither a server nor a network. `rig` names a rig file, or a
 * project, which is built. Prints what was written, or an error; returns the exit code. */
int exi_edit_export(const ex_call *call, const char *page, const char *rig);

#endif
