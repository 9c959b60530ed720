/* cli/info/layers.h - prints a layer, as text or as JSON, the same for a layer of a project and a layer of a rig. */
#ifndef EXEMPLAR_CLI_LAYERS_H
#define EXEMPLAR_CLI_LAYERS_H

#include "cli/base/emit.h"

#include <exemplar/author.h>

/* What an example of a layer of trajectories has in a rig. */
typedef struct exi_layer_path {
    bool turns;
    int corrector_count;
} exi_layer_path;

/* Bytes that evaluation reads for it at every vertex: velocities, turns and correctors, in float. */
int exi_layer_path_bytes(const exi_layer_path *path);

/* Everything but the arrays themselves belongs to the project or the rig. */
typedef struct exi_layer {
    const char *name;
    const char *shape;                 /* "positions", "pixels", … */
    const char *texture;               /* of a layer of pixels, else NULL */
    const char *frame, *participation; /* of a layer of offsets, else NULL */
    const char *mode;                  /* of a layer of trajectories in a project, else NULL */
    int reference;                     /* its reference, or -1 */
    int segment_count;                 /* in a rig: segments that bases are appended for */
    exi_layer_path *paths;             /* [example_count] of such a layer in a rig; or NULL */
    bool muted;
    bool auto_falloff;          /* in a project: chosen when it is built */
    ex_ridge ridge;             /* in a rig what the solve came to, in a project what is asked for */
    ex_weigher_def weigh;       /* with that ridge */
    ex_axis *axes;              /* [axis_count] */
    ex_pseudo *pseudos;         /* [pseudo_count] */
    const char **axis_names;    /* [axis_count] */
    const char **axis_units;    /* [axis_count], "" for none */
    const char **axis_joints;   /* [axis_count] that they are read from, NULL for dials */
    ex_reading *readings;       /* [axis_count] */
    const char **example_names; /* [example_count] */
    const char **example_files; /* [example_count], or NULL in a rig */
    const char **driver_files;  /* [example_count] forms of the driver, or NULL in a rig */
    int region_count;           /* of a layer that a driver weighs in a rig, else 0 */
    int *moved;                 /* [example_count] vertices that it moves, in a rig's layer of offsets; or NULL */
    const char **muted_names;   /* [muted_count] examples of a project that are left out */
    int muted_count;
    const char **skeletons; /* [example_count] the file of its own skeleton, in a rig a word for it; NULL for none */
} exi_layer;

/* False without memory. Either way, to be freed by exi_layer_free. */
bool exi_layer_of_project(exi_layer *layer, const ex_project_layer *source);
bool exi_layer_of_rig(exi_layer *layer, const ex_rig *rig, int index);
void exi_layer_free(exi_layer *layer);

void exi_layer_print(const exi_layer *layer);
void exi_layer_print_json(const exi_layer *layer, exi_emitter *json);

/* Where example `example` stands; NULL in a direct layer. */
const double *exi_layer_point(const exi_layer *layer, int example);
/* The falloff that a point was given, in distances of the space, and its metric [scalar axes][scalar axes]; NULL where
 * it has the default. Points are the examples, then the pseudo-examples. */
const double *exi_layer_falloff(const exi_layer *layer, int point);
const double *exi_layer_metric(const exi_layer *layer, int point);
/* Axes that are numbers. */
int exi_layer_scalar_count(const exi_layer *layer);

extern const char *const exi_axis_kinds[EX_AXIS_KIND_COUNT], *const exi_reading_kinds[EX_READING_KIND_COUNT];

/* One axis as it stands in a list of inputs; joint NULL: a dial. */
void exi_axis_print_json(const ex_axis *axis, const char *name, const char *unit, const char *joint,
                         const ex_reading *reading, exi_emitter *json);

#endif
