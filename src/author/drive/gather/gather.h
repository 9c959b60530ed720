/*
 * gather.h - the first stage of learning, for the second one: reduces references in memory as ex_drive_gather does into
 * files. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_GATHER_GATHER_H
#define EXEMPLAR_AUTHOR_DRIVE_GATHER_GATHER_H

#include "author/drive/drive.h"
#include "author/drive/gather/gathered.h"

/* Squared distance below which two forms of a driver are alike. */
double exi_gather_alike(const ex_mesh *driver);

/* Tells how far gathering is. False: stop. */
typedef struct exi_gather_watch {
    bool (*go_on)(void *user, const char *doing, double part);
    void *user;
} exi_gather_watch;

/* The wanted frames of a reference. */
typedef struct exi_gather_keys {
    int key_count;    /* keys that will be learned */
    int given_count;  /* frames given by hand */
    const int *given; /* frames of the caches, from 0, all used */
    const exi_gather_watch *watch;
} exi_gather_keys;

/* Keeps of a reference with many frames those that learning of keys needs; of one with few, all. One pass over its
 * caches, and single frames again: at most as many as it has. */
ex_result exi_gather_frames(exi_references *refs, int reference, const exi_whole *whole, const exi_gather_keys *how,
                            ex_error *error);

/* Everything that gathering motion needs. */
typedef struct exi_gather_motion {
    const exi_references *refs;
    const exi_drive_plan *plan;
    exi_moving_frames *carrier;
    const float *mesh; /* [driven vertices][3]: the driven mesh as the rig has it */
    int form_count;    /* forms that will be learned */
    size_t memory;     /* bytes for forms that are held in memory */
    float *driver_form, *driven_form;
    const exi_gather_watch *watch;
    const ex_tasks *tasks;
    ex_error *error;
} exi_gather_motion;

/* Finds moving frames and forms of a reference, which is a pair of caches. forms: few forms are kept in the part as
 * they are; else they are left to be read again. */
ex_result exi_gather_part(const exi_gather_motion *how, int reference, bool forms, exi_motion_part *part);
/* Replaces the forms of a part by principal forms and coefficients. reference: to read the caches again if the part has
 * no forms. */
ex_result exi_gather_reduce(const exi_gather_motion *how, int reference, exi_motion_part *part);
/* The un-posed form of a kept frame, as a difference from the mesh: [driven vertices][3]. */
ex_result exi_gather_form(const exi_gather_motion *how, int reference, const exi_motion_part *part, int kept,
                          float *form);

#endif
