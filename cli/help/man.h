/* cli/help/man.h - prints the help of a command as a page for man(1). */
#ifndef EXEMPLAR_CLI_MAN_H
#define EXEMPLAR_CLI_MAN_H

#include "cli/base/command.h"

#include <stdio.h>

/* Prints exemplar-NAME.1, or exemplar.1 for exi_tool, in the language of man(7). The page has the date of
 * SOURCE_DATE_EPOCH, seconds since 1970, if the environment has it, otherwise of today. */
void exi_man_print(FILE *file, const ex_command *command);

#endif
