/* cli/project/init_forms.h - `exemplar init` from forms: a mesh and shapes of it, as files or as a folder of files. */
#ifndef EXEMPLAR_CLI_PROJECT_INIT_FORMS_H
#define EXEMPLAR_CLI_PROJECT_INIT_FORMS_H

#include "cli/base/command.h"

#include <exemplar/author.h>

/* Forms as the command line gives them. Every pointer is owned and released by exi_forms_free. */
typedef struct exi_forms {
    ex_init_forms forms;
    char **paths; /* [path_count], the mesh first */
    char **names; /* [path_count] */
    int path_count;
    double *places; /* [path_count][axis_count] */
    char *axis_text;
    const char **axes;
    ex_init_form *list;
} exi_forms;

/* Reads the arguments: paths [count], or one folder; space "bend,thickness" or NULL; places "smile:1,0". Otherwise
 * prints why not and sets *exit_code. */
bool exi_forms_read(const ex_call *call, const char *space, const ex_word_list *places, bool trajectory,
                    exi_forms *forms, int *exit_code);
void exi_forms_free(exi_forms *forms);

#endif
