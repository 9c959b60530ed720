/*
 * cli/base/options.h - parses the declared options of a command and prints its help.
 *
 * Options may appear anywhere among the arguments. Accepted: `--name value`, `--name=value`, `-n value`, `-nvalue` and
 * joined flags (`-qf`); `--` ends options; a lone `-` is an argument. Giving an option twice is wrong usage, because
 * one of the two would have no effect; but an option of several words collects them from all its occurrences.
 */
#ifndef EXEMPLAR_CLI_OPTIONS_H
#define EXEMPLAR_CLI_OPTIONS_H

#include "command.h"

#include <stdio.h>

/*
 * Parses the words after the command's name. Fills call and the targets of the command's options; `arguments` has room
 * for word_count words and afterwards holds the plain arguments. *help is set if -h was given: nothing else is then
 * checked. Wrong usage: prints the sentence, returns EX_EXIT_USAGE.
 */
int exi_options_parse(const ex_command *command, int word_count, char *const *words, const char **arguments,
                      ex_call *call, bool *help);

/* Prints the command's help page. */
void exi_help_print(FILE *file, const ex_command *command);

#endif
