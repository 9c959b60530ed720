/* cli/example/example.h - shared by the commands that change examples. */
#ifndef EXEMPLAR_CLI_EXAMPLE_H
#define EXEMPLAR_CLI_EXAMPLE_H

#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/report.h"

#include <exemplar/author.h>

extern const ex_command cmd_example_add;
extern const ex_command cmd_example_move;
extern const ex_command cmd_example_rename;
extern const ex_command cmd_example_remove;
extern const ex_command cmd_example_mute;
extern const ex_command cmd_example_mirror;
extern const ex_command cmd_example_list;

/* A change of a project in progress. */
typedef struct exi_change {
    const ex_call *call;
    ex_project *project;
    exi_progress progress;
    ex_build_options options; /* pass this to the library */
    exi_notes notes;
    int lock; /* while held, no other command changes the project */
} exi_change;

/* Waits for other commands that change the project, and reads it; false after printing an error. Signals are deferred
 * from here to the end. */
bool exi_change_open(exi_change *change, const ex_call *call, const char *path);
/* Prints the result, notes first, and returns the exit code. `result` is the library's. */
int exi_change_end(exi_change *change, ex_result result, const ex_error *error);
void exi_change_close(exi_change *change);

/* Values of the options --at, --joint, --from, --weights and --falloff; always free it. */
typedef struct exi_said {
    ex_place at, joints, from, weights, falloff;
} exi_said;
ex_result exi_said_read(const exi_change *change, const ex_word_list lists[4], const char *falloff, exi_said *said,
                        ex_error *error);
void exi_said_free(exi_said *said);
/* True if every word has the form name=value; otherwise prints an error. */
bool exi_words_check(const ex_command *command, const ex_word_list *list, const char *option);
/* Reads a number from 1; 0 after printing an error. */
int exi_number_read(const ex_command *command, const char *option, const char *text);

/* Prints the line, or the JSON, about a new example. */
void exi_sculpted_print(const exi_change *change, const char *path, const ex_sculpted *made);
/* Write the keys of that JSON about the example, and its notes, into an object. */
void exi_sculpted_emit(const exi_change *change, exi_emitter *json, const ex_sculpted *made);
void exi_notes_emit(const exi_change *change, exi_emitter *json);

#endif
