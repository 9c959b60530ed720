/* cli/info/layers.h - prints a layer of a project or of a rig in the same way, as text or as JSON. */
#ifndef EXEMPLAR_CLI_LAYERS_H
#define EXEMPLAR_CLI_LAYERS_H

#include "cli/base/emit.h"

#include <exemplar/author.h>

/* Size of an example's path in a rig's layer of trajectories. */
typedef struct exi_layer_path {
    bool turns;
    int corrector_count;
} exi_layer_path;

/* Bytes that evaluation reads per vertex: velocities, turns and correctors, in float. */
int exi_layer_path_bytes(const exi_layer_path *path);

/* A layer to print. The project or the rig owns everything but the arrays themselves. */
typedef struct exi_layer {
    const char *name;
    const char *shape;                 /* "positions", "pixels", … */
    const char *texture;               /* of a layer of pixels, else NULL */
    const char *frame, *participation; /* of a layer of offsets, else NULL */
    const char *mode;                  /* of a layer of trajectories in a project, else NULL */
    int reference;                     /* its reference example, or -1 */
    int segment_count;                 /* in a rig: number of segments with appended bases */
    ex_mixture mixture;                /* in a rig; zero: none */
    exi_layer_path *paths;             /* [example_count] in a rig's layer of trajectories; or NULL */
    bool muted;
    bool auto_falloff;             /* in a project: true if the build chooses the falloff */
    ex_ridge ridge;                /* in a rig the ridge the solve used, in a project the requested one */
    ex_weigher_def weigh;          /* its ridge is the one above */
    ex_axis *axes;                 /* [axis_count] */
    ex_pseudo *pseudos;            /* [pseudo_count] */
    const char **axis_names;       /* [axis_count] */
    const char **axis_units;       /* [axis_count], "" for none */
    const char **axis_joints;      /* [axis_count] joints that the axes read, NULL for dials */
    ex_reading *readings;          /* [axis_count] */
    const char **example_names;    /* [example_count] */
    const char **example_files;    /* [example_count], or NULL in a rig */
    const char **driver_files;     /* [example_count] files of the driver's forms, or NULL in a rig */
    int region_count;              /* number of regions, in a rig's layer with a driver; otherwise 0 */
    const ex_predictor *predictor; /* in a rig's layer that follows motion, else NULL */
    const char *predictor_file;    /* in a project's, else NULL */
    int *moved;                    /* [example_count] number of vertices moved, in a rig's layer of offsets; or NULL */
    const char **muted_names;      /* [muted_count] muted examples of a project */
    int muted_count;
    const char **skeletons; /* [example_count] the file of the example's own skeleton, in a rig a word for it; NULL for
                             * none */
} exi_layer;

/* Bytes that evaluation reads per vertex in a layer with a mixture: nodes and their shares, examples and correctors, in
 * float. */
int exi_layer_mixture_bytes(const exi_layer *layer);

/* False if out of memory. Call exi_layer_free either way. */
bool exi_layer_of_project(exi_layer *layer, const ex_project_layer *source);
bool exi_layer_of_rig(exi_layer *layer, const ex_rig *rig, int index);
void exi_layer_free(exi_layer *layer);

void exi_layer_print(const exi_layer *layer);
/* Print the predictor of a layer, if it has one (layers_predictor.c). */
void exi_layer_print_predictor(const exi_layer *layer);
void exi_layer_emit_predictor(const exi_layer *layer, exi_emitter *json);
void exi_layer_print_json(const exi_layer *layer, exi_emitter *json);

/* Point of example `example`; NULL in a direct layer. */
const double *exi_layer_point(const exi_layer *layer, int example);
/* Falloff set for a point, in distances of the space, and its metric [scalar axes][scalar axes]; NULL if it has the
 * default. Points are the examples, then the pseudo-examples. */
const double *exi_layer_falloff(const exi_layer *layer, int point);
const double *exi_layer_metric(const exi_layer *layer, int point);
/* Number of axes that are numbers. */
int exi_layer_scalar_count(const exi_layer *layer);

extern const char *const exi_axis_kinds[EX_AXIS_KIND_COUNT], *const exi_reading_kinds[EX_READING_KIND_COUNT];

/* Prints one axis as an entry of a list of inputs; joint NULL: a dial. */
void exi_axis_print_json(const ex_axis *axis, const char *name, const char *unit, const char *joint,
                         const ex_reading *reading, exi_emitter *json);

#endif
