/* cli/project/damped.h - collects the vertices that un-posing had to damp while a project is built, and prints them. */
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
    bool failed; /* true if memory ran out */
} exi_damped_list;

/* Starts a list; pass &list->hook to the library. */
void exi_damped_start(exi_damped_list *list);
void exi_damped_free(exi_damped_list *list);

/* Prints to stderr: "example 'bent': 3 vertices damped (120, 121, 300), worst off by 2.1 mm". */
void exi_damped_print(const exi_damped_list *list, const ex_rig *rig);
void exi_damped_print_json(const exi_damped_list *list, const ex_rig *rig, exi_emitter *json);

#endif
