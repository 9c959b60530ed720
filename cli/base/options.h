/*
 * cli/options.h - from declared options to parsed calls and to help texts.
 *
 * Options may stand anywhere among the arguments; `--name value`, `--name=value`, `-n value`, `-nvalue` and joined
 * flags (`-qf`) are understood; `--` ends options; a lone `-` is an argument. An option given twice is wrong usage: one
 * of the two would not do what was asked for; but an option of several words takes them from all places.
 */
#ifndef EXEMPLAR_CLI_OPTIONS_H
#define EXEMPLAR_CLI_OPTIONS_H

#include "command.h"

#include <stdio.h>

/*
 * Parses what follows the command's name. Fills call and the targets of the command's options; `arguments` has room for
 * word_count words and holds the plain arguments afterwards. *help is set when -h was given: nothing else is then
 * checked. Wrong usage: prints the sentence, returns EX_EXIT_USAGE.
 */
int exi_options_parse(const ex_command *command, int word_count, char *const *words, const char **arguments,
                      ex_call *call, bool *help);

/* The command's help page. */
void exi_help_print(FILE *file, const ex_command *command);

#endif
