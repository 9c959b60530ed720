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

/* Largest number of options of a command, with the common ones. */
#define EXI_OPTION_MAX 48

/* Copies the options that the command accepts, first its own, then the common ones, and returns their number. The
 * targets only tell the kind of an option: those of the common ones no longer exist. */
int exi_options_list(const ex_command *command, ex_option options[EXI_OPTION_MAX]);

/* Prints every line of a text after a margin. */
void exi_lines_print(FILE *file, const char *margin, const char *text);

/* Prints the command's help page. */
void exi_help_print(FILE *file, const ex_command *command);

#endif
