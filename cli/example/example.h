/* cli/example/example.h - what the commands about examples have in common. */
#ifndef EXEMPLAR_CLI_EXAMPLE_H
#define EXEMPLAR_CLI_EXAMPLE_H

#include "cli/base/command.h"
#include "cli/base/report.h"

#include <exemplar/author.h>

extern const ex_command cmd_example_add;
extern const ex_command cmd_example_move;
extern const ex_command cmd_example_remove;
extern const ex_command cmd_example_mute;
extern const ex_command cmd_example_mirror;
extern const ex_command cmd_example_list;

/* A change of a project under way: what is to be said of it is kept until it is done, for a failure is one sentence. */
typedef struct exi_change {
    const ex_call *call;
    ex_project *project;
    exi_progress progress;
    ex_build_options options; /* to be handed to the library */
    char **notes;
    int note_count;
    int lock; /* no other command changes the project as long as it is held */
} exi_change;

/* Waits for others that change the project, and reads it; false after a sentence. From here on signals are deferred, to
 * the end. */
bool exi_change_open(exi_change *change, const ex_call *call, const char *path);
/* Says how it went, the notes first; returns the exit code. `result` is the library's. */
int exi_change_end(exi_change *change, ex_result result, const ex_error *error);
void exi_change_close(exi_change *change);

/* What the options --at, --joint, --from, --weights and --falloff say; to be freed in any case. */
typedef struct exi_said {
    ex_place at, joints, from, weights, falloff;
} exi_said;
ex_result exi_said_read(const exi_change *change, const ex_word_list lists[4], const char *falloff, exi_said *said,
                        ex_error *error);
void exi_said_free(exi_said *said);
/* Whether every word is of the form name=value; if not, a sentence. */
bool exi_words_check(const ex_command *command, const ex_word_list *list, const char *option);
/* A number from 0, or -1 after a sentence. */
int exi_index_read(const ex_command *command, const char *option, const char *text);

/* The line, or the JSON, about an example that was made; `verb` is "added" or "mirrored". */
void exi_sculpted_print(const exi_change *change, const char *path, const ex_sculpted *made);

#endif
