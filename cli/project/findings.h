/* cli/project/findings.h - findings of a check as JSON, for 'exemplar check --json' and the editor. */
#ifndef EXEMPLAR_CLI_FINDINGS_H
#define EXEMPLAR_CLI_FINDINGS_H

#include <exemplar/author.h>

#include <stdio.h>

/* Prints one line. */
void exi_findings_print_json(FILE *file, const ex_check *check);

/* Prints one finding for a project that cannot be read: the reason. */
void exi_findings_print_unreadable(FILE *file, const char *where, const char *text);

#endif
