/*
 * cli/picture/focus.h - what a picture is about: the vertices around a joint, those of a group, or those that an
 * example moves. The camera then frames them, as posed, instead of the whole form.
 */
#ifndef EXEMPLAR_CLI_FOCUS_H
#define EXEMPLAR_CLI_FOCUS_H

#include "cli/base/command.h"

#include <exemplar/author.h>

/* The words of the options; at most one of the first three is not NULL. */
typedef struct exi_focus_words {
    const char *joint;   /* --look-at */
    const char *group;   /* --around */
    const char *example; /* --fit, with "example:" */
    const char *hide;    /* --hide, for which the mesh lacks faces; or NULL */
} exi_focus_words;

/* The options, as rows of a command's table. */
#define EXI_FOCUS_OPTIONS(focus)                                                                                       \
    {.name = "look-at",                                                                                                \
     .argument = "JOINT",                                                                                              \
     .help = "fill the picture with the vertices around a joint",                                                      \
     .text = &(focus).joint},                                                                                          \
        {.name = "around",                                                                                             \
         .argument = "VERTEX-GROUP",                                                                                   \
         .help = "fill the picture with a group of the mesh",                                                          \
         .text = &(focus).group},                                                                                      \
    {                                                                                                                  \
        .name = "fit", .values = "example:", .argument = "example:NAME",                                               \
        .help = "fill the picture with the vertices that an example moves: NAME, or LAYER/NAME",                       \
        .text = &(focus).example                                                                                       \
    }

/* Vertices [count]; NULL: the whole form. Release with free. */
typedef struct exi_focus {
    int *vertices;
    int count;
} exi_focus;

/* True if at most one option is given, with proper words; otherwise prints an error. */
bool exi_focus_check(const ex_call *call, const exi_focus_words *words);

/* Finds the vertices in a mesh: that of a level of the rig, or a form from a file, for which rig is NULL. No vertices
 * without such an option. False after printing an error. */
bool exi_focus_find(const exi_focus_words *words, const ex_rig *rig, int level, const ex_mesh *mesh, exi_focus *focus);

/* Finds LAYER/NAME, or a NAME that only one layer has, among the examples that have forms. False after printing an
 * error. */
bool exi_focus_example(const ex_rig *rig, const char *words, int *layer, int *example);

/* Sets a pose to the place of an example in its layer's space. All other inputs stay as they are. */
void exi_focus_pose(const ex_rig *rig, int layer, int example, ex_pose *pose);

#endif
