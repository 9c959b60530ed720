/* cli/base/span.h - parses a part of what is counted from 1, as all commands write it: A:B, A: and :B. */
#ifndef EXEMPLAR_CLI_SPAN_H
#define EXEMPLAR_CLI_SPAN_H

#include "command.h"

/* Reads "A:B", the first and the last; each is 0 if it is missing, and both are if text is NULL. what: the thing
 * counted, "frame". False after printing an error. */
bool exi_span_read(const ex_call *call, const char *option, const char *what, const char *text, int *first, int *last);

#endif
