/*
 * learn.h - learning while it goes on: what its parts share. Private to this folder.
 *
 *   learn.c          the whole
 *   learn_choose.c   which frames become keys
 *   learn_measure.c  what the keys so far leave unexplained
 *   learn_tune.c     how many moving frames, and which residual
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_LEARN_LEARN_H
#define EXEMPLAR_AUTHOR_DRIVE_LEARN_LEARN_H

#include "author/drive/learn/references.h"

#define EXI_KEY_NAME_SIZE 24

/* A frame that has become a key. */
typedef struct exi_learned_key {
    int frame;
    double database;
    char name[EXI_KEY_NAME_SIZE];
    float *driver, *driven; /* as they are in the caches */
    float *home;            /* the driver in the moving frame of the whole */
    double mean_error;      /* after it was taken; -1: not measured */
} exi_learned_key;

typedef struct exi_learner {
    const ex_learn_def *def;
    exi_references refs;
    exi_whole whole;
    float *places;    /* [frame_count][12]: the whole's frame */
    double *distance; /* [frame_count]: squares from the nearest key of its database; at first from the mesh */
    int *nearest;     /* [frame_count]: that key; -1: none yet */
    int key_count, key_room;
    exi_learned_key *keys; /* [key_count], room for key_room */
    double alike;          /* squares that count as none */
    float *driver, *driven, *home;
    ex_error *error;
    double done, share; /* progress: what is done before the present step, and the step's part of the whole */
} exi_learner;

/* Tells how far the present step is; false: stop. */
bool exi_learn_tell(exi_learner *l, const char *doing, double part);

/* Chooses the keys of the database at this value, the first of which will be keys[first]. */
ex_result exi_learn_choose(exi_learner *l, double database, int first);

/* Which keys make a rig. */
typedef struct exi_key_choice {
    int first, last; /* from first up to last, but not last */
    bool axis;       /* the rig is to have the axis of databases */
    int fold, folds; /* without those whose number leaves `fold` when divided by folds; 0: with all */
} exi_key_choice;

ex_result exi_learn_build(const exi_learner *l, const exi_key_choice *choice, const ex_drive_options *options,
                          ex_rig **rig);

/* The mean error of every one of some frames [count], ascending, at which the rig is evaluated; and, where nearest is
 * not NULL, that of the nearest key. */
ex_result exi_learn_measure(exi_learner *l, const ex_rig *rig, const int *frames, int count, double *errors,
                            double *nearest);

/* At most `most` of the frames from the references at that database (NAN: of all), evenly spread; `keys`: with the
 * frames that are keys. frames has room for `most`; returns how many. */
int exi_learn_spread(const exi_learner *l, double database, bool keys, int most, int *frames);

/* Whether the frame is a key already. */
bool exi_learn_is_key(const exi_learner *l, int frame);

/* Options in which nothing is left open: frames and residual as they serve best. */
ex_result exi_learn_tune(exi_learner *l, ex_drive_options *options);

#endif
