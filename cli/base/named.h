/* cli/base/named.h - visits the files that a project names. */
#ifndef EXEMPLAR_CLI_NAMED_H
#define EXEMPLAR_CLI_NAMED_H

#include <exemplar/author.h>

/* Called with a path as written in the project and its place: "layers[0].examples[2].mesh". Return false to stop. */
typedef bool exi_named_visit(void *user, const char *path, const char *where);

/* Visits every file at least once; files of muted examples, which no build reads, only if `muted`. Returns false if a
 * visit did. */
bool exi_named_files(const ex_project_view *view, bool muted, exi_named_visit *visit, void *user);

#endif
