/* cli/base/named.h - the files that a project names, and where it names them. */
#ifndef EXEMPLAR_CLI_NAMED_H
#define EXEMPLAR_CLI_NAMED_H

#include <exemplar/author.h>

/* Called with a path as the project has it and its place: "layers[0].examples[2].mesh". False ends it. */
typedef bool exi_named_visit(void *user, const char *path, const char *where);

/* Every file once or more; those of muted examples, which no build reads, only if asked. False where a visit was. */
bool exi_named_files(const ex_project_view *view, bool muted, exi_named_visit *visit, void *user);

#endif
