/* cli/project/findings.h - what a check found, as JSON: 'exemplar check --json', and the editor. */
#ifndef EXEMPLAR_CLI_FINDINGS_H
#define EXEMPLAR_CLI_FINDINGS_H

#include <exemplar/author.h>

#include <stdio.h>

/* One line. */
void exi_findings_print_json(FILE *file, const ex_check *check);

/* A project that cannot even be read has one finding: the reason. */
void exi_findings_print_unreadable(FILE *file, const char *where, const char *text);

#endif
