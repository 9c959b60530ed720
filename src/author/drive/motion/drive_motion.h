/*
 * drive_motion.h - learning a driven rig from the motion of its driver. Private to this folder.
 *
 *   motion_learn.c    runs all steps
 *   motion_states.c   the driver's state in every frame, from its moving frames (author/drive/gather)
 *   motion_forms.c    principal forms of the driven mesh, and their coefficients in every frame
 *   motion_merge.c    the same from principal forms of each reference
 *   motion_rows.c     principal directions of rows of numbers
 *   motion_select.c   cross-validation: which numbers of a state count how much
 *   motion_regress.c  the regression from states to coefficients
 *   motion_rig.c      the rig
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_MOTION_DRIVE_MOTION_H
#define EXEMPLAR_AUTHOR_DRIVE_MOTION_DRIVE_MOTION_H

#include "author/base/progress.h"
#include "author/drive/drive.h"
#include "author/drive/gather/gather.h"
#include "author/drive/learn/references.h"
#include "author/drive/motion/motion_rows.h"
#include "author/mesh/rig_mesh.h"

#include <exemplar/predict.h>

/* A driver that moves at this many times the speed that was learned was moved by a cut. */
#define EXI_MOTION_CUT 10.0

/* Settings that cross-validation chose. */
typedef struct exi_motion_choice {
    double weights[EX_STATE_KIND_COUNT]; /* of each kind of number, relative to its spread */
    double width;                        /* of the kernel; 0: the regression is linear */
    double ridge;
    double error;    /* root mean square over vertices, metres, on takes that were left out; -1: not measured */
    double familiar; /* distance from the nearest known state that 99 of 100 left out frames stay below */
} exi_motion_choice;

typedef struct exi_motion_learner {
    const ex_learn_def *def;
    ex_drive_options options; /* complete: with the number of moving frames, and without a residual */
    size_t memory;            /* bytes for frames of the driven mesh that are held in memory */
    exi_references refs;
    exi_drive_plan plan;
    exi_moving_frames carrier;
    ex_mesh *driven; /* a copy, positions rounded to float */
    exi_rig_mesh rig_mesh;
    float *driver_form, *driven_form;
    exi_motion_part *parts; /* [refs.count] */
    exi_gather_motion gather;
    exi_gather_watch watch;
    int part; /* the reference that is gathered, for progress */

    /* Frames that are learned from: all, or evenly spread ones if there are very many. */
    int frame_count;
    int *frames, *homes; /* [frame_count]: index among the kept frames of a part, and that part */
    int *takes;          /* [frame_count]: take, numbered from 0 */
    int take_count;      /* takes that frames are held out by: references, or pieces of them */
    double step, fastest;
    float up[3];
    bool up_given;    /* false to find it */
    float *centres;   /* [moving frames][3] */
    int state_length; /* numbers of a state */
    float *states;    /* [frame_count][state_length] */

    int form_count;
    float *mean;          /* [driven vertices][3]: difference from the mesh, un-posed */
    float *forms;         /* [form_count][driven vertices][3]: of length 1, orthogonal */
    double *coefficients; /* [frame_count][form_count] */
    double form_square;   /* mean squared distance of a vertex from what the forms can hold */

    exi_motion_choice choice;
    ex_predictor *predictor;
    ex_error *error;
    double done, share; /* progress: fraction done before the present step, and the step's share of the whole */
} exi_motion_learner;

/* Reports the progress of the present step; the result of a stop, if the caller wants one. */
ex_result exi_motion_tell(exi_motion_learner *l, const char *doing, double part);

/* Finds frames, takes and states; and the numbers that belong to them. */
ex_result exi_motion_observe(exi_motion_learner *l);
/* Finds mean, forms and coefficients. */
ex_result exi_motion_find_forms(exi_motion_learner *l);
/* Chooses the settings of the regression. */
ex_result exi_motion_select(exi_motion_learner *l);
/* Makes the predictor. */
ex_result exi_motion_regress(exi_motion_learner *l);
/* Makes the rig. */
ex_result exi_motion_build(exi_motion_learner *l, ex_rig **rig);

/* Scale of every number of a state [state_length] for the chosen weights: weight over the spread of its kind. means
 * [state_length] are returned too. */
void exi_motion_scales(const exi_motion_learner *l, const double weights[EX_STATE_KIND_COUNT], double *means,
                       double *scales);

/* The un-posed form of a frame that is learned from, as a difference from the mesh. */
ex_result exi_motion_form(const exi_motion_learner *l, int i, float *form);

/* Checks the definition, and opens everything that gathering needs; files: gathered files, or NULL for caches. Close it
 * even after a failure. */
ex_result exi_motion_open(exi_motion_learner *l, ex_gathered *const *files);
void exi_motion_close(exi_motion_learner *l);
/* Gathers every reference, or takes it from its file. */
ex_result exi_motion_gather(exi_motion_learner *l, bool forms);

#endif
