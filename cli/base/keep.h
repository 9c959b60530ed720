/* cli/base/keep.h - keeps a project that a command is about to replace as a whole, for 'exemplar undo'. */
#ifndef EXEMPLAR_CLI_KEEP_H
#define EXEMPLAR_CLI_KEEP_H

#include <exemplar/author.h>

/* Keeps DIRECTORY/NAME.json and the files in its folder that it names. *kept is NULL if there is no such project. End
 * it with exi_keep_end. Results: FILE, MEMORY. */
ex_result exi_keep_project(const char *directory, const char *name, const char *what, ex_history_kept **kept,
                           ex_error *error);
/* Ends it, by the result of the command. */
void exi_keep_end(ex_history_kept *kept, ex_result result);

#endif
