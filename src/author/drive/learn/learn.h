/*
 * learn.h - types and functions shared by the files that learn a driven rig. Private to this folder.
 *
 *   learn.c          runs all steps
 *   learn_estimate.c estimates how long the rest will take
 *   learn_choose.c   chooses the frames that become keys
 *   learn_measure.c  measures the error that the present keys leave
 *   learn_tune.c     chooses the number of moving frames, and the residual
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_LEARN_LEARN_H
#define EXEMPLAR_AUTHOR_DRIVE_LEARN_LEARN_H

#include "author/base/progress.h"
#include "author/drive/gather/far.h"
#include "author/drive/gather/gathered.h"
#include "author/drive/learn/references.h"

#define EXI_KEY_NAME_SIZE 24

/* A frame that has become a key. */
typedef struct exi_learned_key {
    int frame;
    double database;
    char name[EXI_KEY_NAME_SIZE];
    float *driver, *driven; /* as stored in the caches */
    float *home;            /* the driver in the moving frame of the whole */
    double mean_error;      /* after this key was added; -1: not measured */
} exi_learned_key;

typedef struct exi_learner {
    const ex_learn_def *def;
    exi_references refs;
    exi_whole whole;
    float *places;         /* [frame_count][12]: matrix of the moving frame of the whole */
    exi_far far;           /* distances of all frames to the nearest key of their database, or bounds of them */
    exi_far_range *ranges; /* [references]: room for the frames of one database */
    int key_count, key_room;
    exi_learned_key *keys; /* [key_count], room for key_room */
    double alike;          /* squared distances below this count as 0 */
    float *driver, *driven, *home;
    ex_error *error;
    double gathered;    /* progress: fraction of all work that was gathering */
    double done, share; /* of the other work: fraction done before the present step, and the step's share */
    bool stopped;       /* the caller wants to stop */
} exi_learner;

/* Reports the progress of the present step. False: stop. */
bool exi_learn_tell(exi_learner *l, const char *doing, double part);

/* Times a few steps and tells def->estimate about the rest. Without an answer, nothing is told; fails only if the
 * caller wants to stop. */
ex_result exi_learn_foresee(exi_learner *l, double seconds_read);
/* Seconds on a monotonic clock. */
double exi_learn_clock(void);

/* Chooses the keys of the database at this value. The first will be keys[first]. */
ex_result exi_learn_choose(exi_learner *l, double database, int first);

/* The subset of keys that a rig is built from. */
typedef struct exi_key_choice {
    int first, last; /* from first to last - 1 */
    bool axis;       /* true if the rig gets the axis of databases */
    int fold, folds; /* leaves out keys whose index modulo folds is `fold`; folds 0: uses all */
} exi_key_choice;

ex_result exi_learn_build(const exi_learner *l, const exi_key_choice *choice, const ex_drive_options *options,
                          ex_rig **rig);

/* Evaluates the rig at frames [count], ascending, and returns the mean error of each. If nearest is not NULL, also
 * returns the mean error of the nearest key. */
ex_result exi_learn_measure(exi_learner *l, const ex_rig *rig, const int *frames, int count, double *errors,
                            double *nearest);

/* Picks at most `most` evenly spread frames of the references at that database (NAN: of all). keys: includes frames
 * that are keys. frames has room for `most`. Returns their number. */
int exi_learn_spread(const exi_learner *l, double database, bool keys, int most, int *frames);

/* Finds the nearest key of its database for every frame, in far.nearest: one pass over the driver's frames. */
ex_result exi_learn_find_nearest(exi_learner *l);

/* True if the frame is a key already. */
bool exi_learn_is_key(const exi_learner *l, int frame);

/* Fills in the options that are left open, with the number of frames and the residual of least error. */
ex_result exi_learn_tune(exi_learner *l, ex_drive_options *options);

#endif
