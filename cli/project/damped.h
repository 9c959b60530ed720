/* cli/project/damped.h - which vertices un-posing had to damp, gathered while a project is built and told afterwards. */
#ifndef EXEMPLAR_CLI_DAMPED_H
#define EXEMPLAR_CLI_DAMPED_H

#include "cli/base/emit.h"

#include <exemplar/author.h>

/* One example with its damped vertices, ascending. */
typedef struct exi_damped_example {
    int layer, example;
    ex_damped *vertices;
    int count;
} exi_damped_example;

typedef struct exi_damped_list {
    ex_damped_report hook;
    exi_damped_example *examples;
    int count;
    bool failed; /* memory ran out */
} exi_damped_list;

/* To be handed to the library as &list->hook. */
void exi_damped_start(exi_damped_list *list);
void exi_damped_free(exi_damped_list *list);

/* On stderr: "example 'bent': 3 vertices damped (120, 121, 300), worst off by 2.1 mm". */
void exi_damped_print(const exi_damped_list *list, const ex_rig *rig);
void exi_damped_print_json(const exi_damped_list *list, const ex_rig *rig, exi_emitter *json);

#endif
