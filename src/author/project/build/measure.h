/*
 * measure.h - measures an example's difference from the mesh with every earlier layer applied, evaluated at the
 * example's whole pose. An example sculpted at that pose is un-posed first. Muted layers do not count for later layers.
 * Joint positions that an example brings are measured in the same way. Private to authoring.
 *
 *   measure.c          the base that an example is measured from, and the difference
 *   measure_pose.c     the example's whole pose: its palette, and the mesh moved by it
 *   measure_carry.c    the same for a mesh that a driver moves; layers that a driver weighs
 *   measure_unpose.c   removes the pose from a form
 *   measure_offsets.c  the vertices that a sculpt moves
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_BUILD_MEASURE_H
#define EXEMPLAR_AUTHOR_PROJECT_BUILD_MEASURE_H

#include "author/project/build/project_trajectories.h"
#include "author/project/model/driver.h"
#include "author/project/model/project.h"
#include "runtime/shape/patches.h"

/* A layer of offsets that weighs each vertex among the examples that move it (exi_incidence_open). */
typedef struct exi_moved {
    exi_incidence sets;
    double *weights; /* of all sets; NULL for other layers */
} exi_moved;

/* A layer that a driver weighs, as evaluation sees it: a rig of that layer alone. */
typedef struct exi_weighed {
    const ex_rig *rig; /* NULL for other layers, and for a layer that does not count */
    int layer;
    ex_rig *own; /* that rig, if it was made for this; owned */
} exi_weighed;

/* Layers measured so far. A layer's deltas, shifts and offsets belong to the caller that measured them, and must
 * outlive this. */
typedef struct exi_measure {
    const ex_project_view *view;
    const ex_mesh *mesh;              /* positions rounded to float */
    const ex_skeleton *skeleton;      /* may be NULL */
    const ex_skin *skin;              /* may be NULL; made of the driver's moving frames if `carried` */
    const exi_project_driver *driver; /* may be NULL */
    bool carried;                     /* true if the driver's moving frames move the mesh */
    double near_limit; /* limit of stretch for reporting vertices that are not damped; 0: none are reported */
    size_t joint_count;
    ex_weigher **weighers;       /* [layer_count], NULL for a layer that does not count */
    const float *const **deltas; /* [layer_count] of [example_count] of [vertex_count][3]; NULL for offsets */
    const float *const **shifts; /* [layer_count] of [example_count] of [joint_count][3]; either may be NULL */
    const ex_offsets **offsets;  /* [layer_count] of [example_count]; NULL for layers of forms */
    exi_moved *moved;            /* [layer_count] */
    const exi_project_trajectories **paths; /* [layer_count]; NULL for layers of other domains */
    const float **masks;                    /* [layer_count] masks of these layers, each may be NULL */
    exi_weighed *weighed;                   /* [layer_count] */
    double *weights;                        /* [example count of the largest layer] scratch */
    double *centres;                        /* [joint_count][3]: joint positions in the mesh; every number is a float */
    double size;                            /* size of the mesh */
    double scale;                           /* of lengths at rest by the skin: exi_skeleton_scale, or 1 */
    double least;                           /* offsets: smaller numbers count as 0 */
    int *firsts; /* [vertex_count]: the first vertex at the same position that the same joints move, mostly itself; NULL
                    without layers of offsets */

    /* base of the current example; exi_measure_base fills it in */
    double *base;   /* [vertex_count][3]; every number is a float */
    double *turned; /* [vertex_count][3]: differences added after skinning, before they are turned; NULL if no layer has
                       any */
    double *joints; /* [joint_count][3]: joint positions in the base; every number is a float */
    double *shift;  /* [joint_count][3]: their displacement from the mesh's, not rounded */
} exi_measure;

/* skeleton, skin and driver may be NULL; all must outlive m. */
ex_result exi_measure_open(exi_measure *m, const ex_project_view *view, const ex_mesh *mesh,
                           const ex_skeleton *skeleton, const ex_skin *skin, const exi_project_driver *driver,
                           ex_error *error);
void exi_measure_close(exi_measure *m);

/* Makes a layer of forms or offsets, whose examples are all measured, count for later layers. weigh: the layer's, with
 * the falloffs that were chosen. shifts may be NULL. */
ex_result exi_measure_add_layer(exi_measure *m, int layer, const ex_weigher_def *weigh, const float *const *deltas,
                                const float *const *shifts, ex_error *error);
ex_result exi_measure_add_offsets(exi_measure *m, int layer, const ex_weigher_def *weigh, const ex_offsets *offsets,
                                  ex_error *error);

/* Does the same for a layer of trajectories; mask may be NULL. */
ex_result exi_measure_add_trajectories(exi_measure *m, int layer, const ex_weigher_def *weigh,
                                       const exi_project_trajectories *paths, const float *mask,
                                       const float *const *shifts, ex_error *error);

/* Does the same for a layer that a driver weighs: makes a rig of that layer alone from its definition, or takes the
 * layer of a rig, which must outlive m. */
ex_result exi_measure_add_driven(exi_measure *m, int layer, const ex_layer_def *def, ex_error *error);
void exi_measure_take_driven(exi_measure *m, int layer, const ex_rig *rig);

/* Makes a rig of a layer that a driver weighs, alone. Only its form at rest is usable. */
ex_result exi_measure_driven_rig(const exi_measure *m, const ex_layer_def *def, ex_rig **rig, ex_error *error);

/* True if a layer counts. */
bool exi_measure_counts(const exi_measure *m, int layer);

/* Sets m->base, m->turned, m->joints and m->shift for an example of a layer; or to the mesh with the layers before
 * `end` at the whole pose of an example. False without memory, which trajectories need. */
bool exi_measure_base(exi_measure *m, int layer, int example);
bool exi_measure_layers(exi_measure *m, int end, const ex_project_example *at);

/* Adds a counting layer's contribution at an example's whole pose, or at rest if `at` is NULL, to sum
 * [vertex_count][3], whatever the layer's frame. False without memory. */
bool exi_measure_add_up(const exi_measure *m, int layer, const ex_project_example *at, double *sum);
/* Does the same for a layer that a driver weighs, evaluated as a layer of a rig that may be another one. */
bool exi_measure_add_weighed(const exi_measure *m, int layer, const exi_weighed *as, const ex_project_example *at,
                             double *sum);

/* Adds sum += weight * delta for count numbers; skips weights that are only rounding. */
void exi_measure_sum(double *sum, size_t count, double weight, const float *delta);

/* Returns mask * (to - base), rounded to float once, for count numbers. mask has one value per three numbers, or is
 * NULL for 1 everywhere. Release with free; NULL without memory. */
float *exi_measure_difference(const double *base, const double *to, const float *mask, size_t count);

/* A measured example. */
typedef struct exi_measured {
    float *delta;       /* [vertex_count][3]; NULL in a layer of offsets */
    ex_offsets offsets; /* in a layer of offsets */
    float *shifts;      /* [joint_count][3], or NULL if the example brings no skeleton */
    ex_damped *damped;  /* [damped_count] vertices that are not reproduced exactly, ascending */
    int damped_count;
    ex_damped *near; /* [near_count] vertices that were not damped, but shrink to less than near_limit; or NULL */
    int near_count;
} exi_measured;

/* In two steps: first the base and the joints that the example brings; then its form. Free *out even after a
 * failure. */
ex_result exi_measure_joints(exi_measure *m, int layer, int example, exi_measured *out, ex_error *error);
ex_result exi_measure_form(const exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                           exi_measured *out, ex_error *error);

/* Does both. form: the example's mesh. On failure *out holds nothing. */
ex_result exi_measure_example(exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                              exi_measured *out, ex_error *error);
/* Measures the reference of a layer of trajectories: no difference at all. */
ex_result exi_measure_reference(const exi_measure *m, exi_measured *out, ex_error *error);
void exi_measured_free(exi_measured *measured);
void exi_offsets_free(ex_offsets *offsets);

/* ---- poses ---- */

/* A whole pose, while it is in use. */
typedef struct exi_posing {
    ex_transform *locals; /* [joint_count] */
    float *shifts;        /* [joint_count][3] */
    float *matrices;      /* [joint_count][12] */
    float *centres;       /* [joint_count][3] */
    float *turns;         /* [joint_count][4] */
    void *scratch, *memory;
    const ex_palette *palette;
} exi_posing;

/* Opens the pose of an example with the joints shifted by m->shift, and by shifts too, which may be NULL. Requires a
 * skin. False without memory; close in any case. */
bool exi_posing_open(exi_posing *p, const exi_measure *m, const ex_project_example *example, const float *shifts);
/* Opens the pose of a mesh that the driver's moving frames move. */
bool exi_posing_open_carried(exi_posing *p, const exi_measure *m, const ex_project_example *example);
void exi_posing_close(exi_posing *p);

/* positions [vertex_count][3] += sign * the differences added after skinning, turned with the vertices. False without
 * memory. */
bool exi_posing_turn(const exi_posing *p, const exi_measure *m, float sign, float *positions);
/* Poses the mesh with the layers in m->base: positions [vertex_count][3]. p NULL: it stays at rest. */
bool exi_posing_apply(const exi_posing *p, const exi_measure *m, float *positions);

/* Removes the pose from the form [vertex_count][3], into rest [vertex_count][3]; fills in the damped vertices. */
ex_result exi_measure_unpose(const exi_measure *m, const exi_posing *p, const ex_mesh *form, double *rest,
                             exi_measured *out, ex_error *error);
/* Fails with the sentence for a missing skin to un-pose with. */
ex_result exi_measure_no_skin(ex_error *error);

/* ---- offsets ---- */

/* True if something moves the mesh. */
bool exi_measure_moves(const exi_measure *m);
/* True if the sculpts of a layer were made at their poses; and the same for an example. */
bool exi_measure_is_posed(const exi_measure *m, const ex_project_layer *layer);
bool exi_measure_unposes(const ex_project_layer *layer, const ex_project_example *example);
/* Vertices that move no farther than this count as not moved. */
double exi_measure_tolerance(const exi_measure *m, const ex_project_layer *layer);
/* Finds the vertices that the sculpt of an example moves, into out->offsets. */
ex_result exi_measure_offsets(const exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                              exi_measured *out, ex_error *error);
/* Finds m->firsts; false without memory. */
bool exi_measure_find_firsts(exi_measure *m);

/* Composes the rest transform of a joint with a pose's transform relative to it. */
ex_transform exi_pose_compose(const ex_transform *rest, const ex_transform *relative);

#endif
