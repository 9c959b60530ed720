/*
 * cli/picture/clothes.h - clothes in the picture of a rig: rigs that follow it as their driver, and parts of the rig
 * that are left out because they are below.
 */
#ifndef EXEMPLAR_CLI_CLOTHES_H
#define EXEMPLAR_CLI_CLOTHES_H

#include "cli/base/command.h"
#include "subject.h"

#include <exemplar/author.h>

enum { EXI_CLOTHES_MOST = 8 };

/* Words of the options. */
typedef struct exi_clothes_words {
    ex_word_list clothes; /* --wear */
    const char *hide;     /* --hide: groups or materials with commas between */
} exi_clothes_words;

typedef struct exi_clothes {
    const exi_clothes_words *words;
    int count;
    exi_subject clothes[EXI_CLOTHES_MOST];
    ex_pose poses[EXI_CLOTHES_MOST];
    void *states[EXI_CLOTHES_MOST];
    float *body; /* [vertices of the rig's mesh][3] */
} exi_clothes;

/* The options, as rows of a command's table. */
#define EXI_CLOTHES_OPTIONS(w)                                                                                         \
    {.name = "wear",                                                                                                   \
     .argument = "CLOTHES.glb",                                                                                        \
     .help =                                                                                                           \
         "for a rig: also draw clothes that follow it, a rig of 'drive learn' with this rig's mesh as its driver; "    \
         "may be given several times",                                                                                 \
     .words = &(w).clothes},                                                                                           \
    {                                                                                                                  \
        .name = "hide", .argument = "NAME",                                                                            \
        .help = "leave out the faces of a group or material, such as what the clothes cover; several with commas "     \
                "between",                                                                                             \
        .listed = true, .text = &(w).hide                                                                              \
    }

/* Removes the faces of groups or materials, with commas between. Returns their number. */
int exi_hide(ex_mesh *mesh, const char *words);

/* Opens the clothes and puts them on the subject as it is; hides what is to be hidden. False after printing an error;
 * call exi_clothes_close either way. */
bool exi_clothes_open(exi_clothes *worn, const ex_call *call, const exi_clothes_words *words, exi_subject *subject,
                      const ex_tasks *tasks, int *exit_code);
/* After the subject was moved to a pose, shifted by `shift`: lets the clothes follow, and hides. elapsed: seconds since
 * the last pose, 0 for a cut. False after printing an error. */
bool exi_clothes_follow(exi_clothes *worn, exi_subject *subject, const ex_pose *pose, const float shift[3],
                        double elapsed, const ex_tasks *tasks);
void exi_clothes_close(exi_clothes *worn);

/* Items of a picture: that of the subject, then the clothes. Returns their number, at most 1 + EXI_CLOTHES_MOST. */
int exi_clothes_items(const exi_clothes *worn, const ex_render_item *subject, bool textured, ex_render_item *items);

#endif
