/*
 * check.h - what the parts of a check share; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_CHECK_H
#define EXEMPLAR_AUTHOR_PROJECT_CHECK_H

#include "author/project/measure.h"
#include "runtime/base/result.h"

#include <exemplar/author/project.h>

typedef struct exi_checker {
    const ex_project_view *view;
    ex_check *check;
    ex_mesh *mesh;         /* NULL where it cannot be read */
    ex_skeleton *skeleton; /* and where there is one */
    ex_skin *skin;
    exi_measure measure; /* where there is a mesh */
    float ***deltas;     /* [layer_count] of [example_count], NULL where one could not be measured */
    float ***shifts;     /* likewise, NULL also where the example brings no skeleton */
    int sample_count;
    const ex_progress *progress;
    int done, total; /* examples */
    bool failed;     /* memory ran out */
} exi_checker;

/* Adds a finding; `kind` is a literal. */
bool exi_check_add(exi_checker *c, ex_severity severity, const char *kind, const char *where, double value,
                   const char *format, ...) EXI_PRINTF(6, 7);

/* Adds what a call said as an error; where it said that memory ran out, the check has failed. */
void exi_check_failure(exi_checker *c, const char *kind, const char *where, const ex_error *error);

void exi_check_progress(exi_checker *c, const char *what);

/* Everything about a layer's space: near points, condition, range of weights, and, with the examples' differences from
 * the mesh, leave-one-out errors. */
void exi_check_space(exi_checker *c, int layer, const float *const *deltas);

#endif
