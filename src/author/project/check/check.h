/*
 * check.h - what the parts of a check share; private to authoring.
 *
 *   check.c           the list of findings; the whole
 *   check_inputs.c    inputs that contradict or disturb each other
 *   check_mesh.c      the mesh, and forms against it
 *   check_skeleton.c  the skeleton's file, and the joints that the project names
 *   check_surface.c   faces and tags, where the mesh is subdivided
 *   check_forms.c     layers of forms and offsets: what un-posing loses, skeletons of examples
 *   check_trajectories.c     trajectories
 *   check_driver.c    the driver, and the layer that it weighs
 *   check_disturbed.c layers that disturb each other, or do something at rest
 *   check_misread.c   forms that were made otherwise than their layer says
 *   check_images.c    layers of pixels
 *   check_maps.c      layers of displacements
 *   check_space.c     spaces
 *   check_guess.c     examples guessed from the others
 *
 * Each reports all it finds, and none stands in the way of another: what cannot be read is NULL from then on.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_CHECK_CHECK_H
#define EXEMPLAR_AUTHOR_PROJECT_CHECK_CHECK_H

#include "author/project/build/measure.h"
#include "runtime/base/result.h"

#include <exemplar/author/project.h>

typedef struct exi_checker {
    const ex_project_view *view;
    ex_check *check;
    ex_mesh *mesh;         /* NULL where it cannot be read */
    double size;           /* of the mesh, or 1 where that is 0 */
    ex_skeleton *skeleton; /* and where there is one */
    ex_skin *skin;
    bool lame; /* skeleton or skin could not be read, which has been reported: what needs them is passed over */
    exi_project_driver driver;       /* all zero where there is none, or it could not be read, */
    bool undriven;                   /* which has been reported then */
    exi_measure measure;             /* where there is a mesh */
    float ***deltas;                 /* [layer_count] of [example_count], NULL where one could not be measured */
    float ***shifts;                 /* likewise, NULL also where the example brings no skeleton */
    ex_offsets **offsets;            /* [layer_count] of [example_count], those of layers of offsets */
    float **masks;                   /* [layer_count], NULL where the layer has none */
    exi_project_trajectories *paths; /* [layer_count], all zero for layers of others than trajectories */
    ex_weigher_def *weighs;          /* [layer_count]: the layers', with falloffs that were chosen */
    double **falloffs;               /* [layer_count]: those, or NULL */
    int refined_count;               /* vertices of the last level, once that is known */
    int sample_count;
    const ex_progress *progress;
    int done, total; /* examples */
    bool failed;     /* memory ran out */
} exi_checker;

/* Adds a finding; `kind` is a literal. */
bool exi_check_add(exi_checker *c, ex_severity severity, const char *kind, const char *where, double value,
                   const char *format, ...) EX_PRINTF(6, 7);

/* Adds what a call said as an error; where it said that memory ran out, the check has failed. */
void exi_check_failure(exi_checker *c, const char *kind, const char *where, const ex_error *error);

void exi_check_progress(exi_checker *c, const char *what);

/* Text that grows up to its size. */
typedef struct exi_check_text {
    char text[240];
    size_t size;
} exi_check_text;
void exi_check_append(exi_check_text *text, const char *format, ...) EX_PRINTF(2, 3);

void exi_check_inputs(exi_checker *c);

/* Reads c->mesh. */
void exi_check_mesh(exi_checker *c);
/* The form of an example, which fits the mesh where there is one, or NULL. */
ex_mesh *exi_check_read_form(exi_checker *c, const ex_project_example *example, const char *where);

/* Reads c->skeleton and c->skin. */
void exi_check_skeleton(exi_checker *c);

void exi_check_surface(exi_checker *c);

/* Reads and measures a layer of forms or offsets into c->deltas and c->shifts or c->offsets, and c->masks; looks at its
 * space, too. */
void exi_check_forms(exi_checker *c, int layer);
/* The trajectories of a layer whose examples are all measured, into c->paths; whether they could be found. */
bool exi_check_trajectories(exi_checker *c, int layer);
/* Reads c->driver and the forms of it that examples name. */
void exi_check_driver(exi_checker *c);
/* A layer that the driver weighs, whose examples are all measured: counts from then on. */
void exi_check_driven(exi_checker *c, int layer);
/* Sculpts that later layers move, and layers of offsets that do something at rest, once all layers are measured. */
void exi_check_disturbed(exi_checker *c);

/* Whether a form fits the mesh far better when it is read otherwise, at its pose or at rest, or turned; after
 * exi_measure_joints. shifts: what the example brings, or NULL. */
void exi_check_misread(exi_checker *c, int layer, int example, const ex_mesh *form, const float *shifts,
                       const char *where);

/* What examples are, for guessing each from the others. */
typedef struct exi_guessed {
    const float *const *rows;  /* [example_count] of [count][width], */
    const ex_offsets *offsets; /* or [example_count] */
    size_t count;
    int width;        /* 3, where it is 0 */
    double size;      /* that errors are relative to */
    const char *what; /* "form" */
    const char *of;   /* "the mesh's size" */
} exi_guessed;

/* Chooses the falloffs of a layer that leaves them to leave-one-out, into c->weighs. */
void exi_check_falloffs(exi_checker *c, int layer, const exi_guessed *guessed);
/* How well each example would be guessed from the others. */
void exi_check_guess(exi_checker *c, int layer, const ex_weigher *weigher, const exi_guessed *guessed);

/* Everything about a layer's space: near points, condition, range of weights, and leave-one-out errors where the
 * examples are there to guess; guessed may be NULL. */
void exi_check_space(exi_checker *c, int layer, const exi_guessed *guessed);

#endif
