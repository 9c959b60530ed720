/*
 * check.h - declarations shared by the parts of a check; private to authoring.
 *
 *   check.c           the list of findings; the whole check
 *   check_inputs.c    inputs that contradict or disturb each other
 *   check_mesh.c      the mesh, and forms against it
 *   check_skeleton.c  the skeleton's file, and the joints that the project names
 *   check_surface.c   faces and tags, if the mesh is subdivided
 *   check_forms.c     layers of forms and offsets: losses of un-posing, skeletons of examples
 *   check_trajectories.c     trajectories
 *   check_mixtures.c  mixtures of their examples
 *   check_driver.c    the driver, and the layer that it weighs
 *   check_disturbed.c layers that disturb each other, or are not zero at rest
 *   check_misread.c   forms that were made otherwise than their layer says
 *   check_images.c    layers of pixels
 *   check_maps.c      layers of displacements
 *   check_space.c     spaces
 *   check_weights.c   weights between the examples
 *   check_guess.c     examples predicted from the others
 *
 * Each part reports all its findings, and none blocks another: data that cannot be read is NULL from then on.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_CHECK_CHECK_H
#define EXEMPLAR_AUTHOR_PROJECT_CHECK_CHECK_H

#include "author/project/build/measure.h"
#include "runtime/base/result.h"

#include <exemplar/author/project.h>

typedef struct exi_checker {
    const ex_project_view *view;
    ex_check *check;
    ex_mesh *mesh;         /* NULL if it cannot be read */
    double size;           /* of the mesh, or 1 if that is 0 */
    ex_skeleton *skeleton; /* NULL also if there is none */
    ex_skin *skin;
    bool lame; /* true if skeleton or skin could not be read; reported, and checks that need them are skipped */
    exi_project_driver driver;       /* all zero if there is none, or if it could not be read */
    bool undriven;                   /* true if it could not be read; reported */
    exi_measure measure;             /* only valid with a mesh */
    float ***deltas;                 /* [layer_count] of [example_count], NULL if it could not be measured */
    float ***shifts;                 /* likewise, NULL also if the example brings no skeleton */
    ex_offsets **offsets;            /* [layer_count] of [example_count], for layers of offsets */
    float **masks;                   /* [layer_count], NULL if the layer has none */
    exi_project_trajectories *paths; /* [layer_count], all zero for layers of other domains */
    ex_weigher_def *weighs;          /* [layer_count]: the layers' definitions, with the falloffs that were chosen */
    double **falloffs;               /* [layer_count]: those falloffs, or NULL */
    int refined_count;               /* vertices of the last level, once known */
    int sample_count;
    int mixture_count; /* as in ex_check_options */
    ex_kept_paths *kept_paths;
    const ex_tasks *tasks;
    const ex_progress *progress;
    int done, total; /* number of examples */
    bool failed;     /* true if memory ran out, or */
    bool stopped;    /* if the caller asked to stop */
} exi_checker;

/* Adds a finding; `kind` is a literal. */
bool exi_check_add(exi_checker *c, ex_severity severity, const char *kind, const char *where, double value,
                   const char *format, ...) EX_PRINTF(6, 7);

/* Adds the error of a call as a finding; if memory ran out, the check fails. */
void exi_check_failure(exi_checker *c, const char *kind, const char *where, const ex_error *error);

/* Tells the check's progress; false if the caller asked to stop: the check has failed then. */
bool exi_check_progress(exi_checker *c, const char *what);

/* Text that grows up to the size of its buffer. */
typedef struct exi_check_text {
    char text[240];
    size_t size;
} exi_check_text;
void exi_check_append(exi_check_text *text, const char *format, ...) EX_PRINTF(2, 3);

void exi_check_inputs(exi_checker *c);

/* Reads c->mesh. */
void exi_check_mesh(exi_checker *c);
/* Reads the form of an example. Returns NULL if it cannot be read or does not fit the mesh. */
ex_mesh *exi_check_read_form(exi_checker *c, const ex_project_example *example, const char *where);

/* Reads c->skeleton and c->skin. */
void exi_check_skeleton(exi_checker *c);

void exi_check_surface(exi_checker *c);

/* Reads and measures a layer of forms or offsets into c->deltas and c->shifts or c->offsets, and c->masks; checks its
 * space too. */
void exi_check_forms(exi_checker *c, int layer);
/* Finds the trajectories of a layer whose examples are all measured, into c->paths. True if they were found. */
bool exi_check_trajectories(exi_checker *c, int layer);
/* Reports mixtures of examples of all layers of trajectories that stretch more than as-rigid-as-possible forms. Call
 * after all layers are measured. */
void exi_check_mixtures(exi_checker *c);
/* Reads c->driver and the driver's forms that examples name. */
void exi_check_driver(exi_checker *c);
/* Adds a layer that the driver weighs, whose examples are all measured; it counts from then on. */
void exi_check_driven(exi_checker *c, int layer);
/* Reports sculpts that later layers move, and layers of offsets that are not zero at rest. Call after all layers are
 * measured. */
void exi_check_disturbed(exi_checker *c);

/* Reports a form that fits the mesh far better if it is read differently: at its pose, at rest, or turned. Call after
 * exi_measure_joints. shifts: the example's, or NULL. */
void exi_check_misread(exi_checker *c, int layer, int example, const ex_mesh *form, const float *shifts,
                       const char *where);

/* Data of the examples, for predicting each from the others. */
typedef struct exi_guessed {
    const float *const *rows;  /* [example_count] of [count][width], */
    const ex_offsets *offsets; /* or [example_count] */
    size_t count;
    int width;        /* 0: 3 */
    double size;      /* size that errors are relative to */
    const char *what; /* "form" */
    const char *of;   /* "the mesh's size" */
} exi_guessed;

/* Chooses the falloffs of a layer (falloff.h), into c->weighs, if the layer asks for that. */
void exi_check_falloffs(exi_checker *c, int layer, const exi_guessed *guessed);
/* Reports how well each example is predicted from the others. */
void exi_check_guess(exi_checker *c, int layer, const ex_weigher *weigher, const exi_guessed *guessed);

/* Checks a layer's space: near points, condition, range of weights, and, if the examples are available, leave-one-out
 * errors. guessed may be NULL. */
void exi_check_space(exi_checker *c, int layer, const exi_guessed *guessed);
void exi_check_weights(exi_checker *c, int layer, const char *where, const ex_weigher *weigher);

#endif
