/* cli/example/example.h - shared by the commands that change examples. */
#ifndef EXEMPLAR_CLI_EXAMPLE_H
#define EXEMPLAR_CLI_EXAMPLE_H

#include "cli/base/change.h"
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
