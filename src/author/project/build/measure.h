/*
 * measure.h - how an example's difference is measured: from the mesh with every earlier layer on it, as that layer
 * stands at the example's whole pose; un-posed first where it was sculpted at that pose. Layers that are muted do not
 * count for those after them. Joint positions that an example brings are measured in the same way. Private to
 * authoring.
 *
 *   measure.c          what an example is measured from, and the difference
 *   measure_pose.c     the example's whole pose: its palette, and the mesh moved by it
 *   measure_carry.c    the same where a driver moves the mesh; layers that a driver weighs
 *   measure_unpose.c   a form without its pose
 *   measure_offsets.c  the vertices that a sculpt moves
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_BUILD_MEASURE_H
#define EXEMPLAR_AUTHOR_PROJECT_BUILD_MEASURE_H

#include "author/project/build/project_trajectories.h"
#include "author/project/model/driver.h"
#include "author/project/model/project.h"
#include "runtime/shape/patches.h"

/* A layer of offsets of which a vertex is weighed among the examples that move it (exi_incidence_open). */
typedef struct exi_moved {
    exi_incidence sets;
    double *weights; /* of all sets; NULL where the layer is not of that kind */
} exi_moved;

/* A layer that a driver weighs, as evaluation has it: that layer of a rig, alone. */
typedef struct exi_weighed {
    const ex_rig *rig; /* NULL where the layer is not of that kind, or not there to count */
    int layer;
    ex_rig *own; /* that rig, where it was made for this */
} exi_weighed;

/* Layers measured so far. A layer's deltas, shifts and offsets belong to whoever measured them, and must stay. */
typedef struct exi_measure {
    const ex_project_view *view;
    const ex_mesh *mesh;              /* positions rounded to float */
    const ex_skeleton *skeleton;      /* or NULL */
    const ex_skin *skin;              /* or NULL; by the moving frames of a driver where `carried` */
    const exi_project_driver *driver; /* or NULL */
    bool carried;                     /* the mesh is moved by the driver's moving frames */
    double near_limit;                /* of stretches that are looked for besides what is damped; 0: none are */
    size_t joint_count;
    ex_weigher **weighers;       /* [layer_count], NULL where a layer is not there to count */
    const float *const **deltas; /* [layer_count] of [example_count] of [vertex_count][3]; NULL for offsets */
    const float *const **shifts; /* [layer_count], each may be NULL, of [example_count], too, of [joint_count][3] */
    const ex_offsets **offsets;  /* [layer_count] of [example_count]; NULL for layers of forms */
    exi_moved *moved;            /* [layer_count] */
    const exi_project_trajectories **paths; /* [layer_count]; NULL for layers of others than trajectories, */
    const float **masks;                    /* and these layers' masks, each may be NULL */
    exi_weighed *weighed;                   /* [layer_count] */
    double *weights;                        /* of the layer with the most examples */
    double *centres; /* [joint_count][3]: where the joints are in the mesh; every number is a float */
    double size;     /* of the mesh */
    double least;    /* offsets: a number below this is none */
    int *firsts; /* [vertex_count]: the first vertex at the same place that the same joints move, mostly itself; NULL
                    where there are no layers of offsets */

    /* what the example at hand is measured from; exi_measure_base fills it in */
    double *base;   /* [vertex_count][3]; every number is a float */
    double *turned; /* [vertex_count][3]: what is added after skinning, before it is turned; NULL where no layer does */
    double *joints; /* [joint_count][3]: where the joints are in it; every number is a float */
    double *shift;  /* [joint_count][3]: by how much that is elsewhere than in the mesh, not rounded */
} exi_measure;

/* skeleton, skin and driver may be NULL, and must stay. */
ex_result exi_measure_open(exi_measure *m, const ex_project_view *view, const ex_mesh *mesh,
                           const ex_skeleton *skeleton, const ex_skin *skin, const exi_project_driver *driver,
                           ex_error *error);
void exi_measure_close(exi_measure *m);

/* Lets a layer of forms, or of offsets, whose examples are all measured, count for those after it. weigh: the layer's,
 * with the falloffs that were chosen. shifts may be NULL. */
ex_result exi_measure_add_layer(exi_measure *m, int layer, const ex_weigher_def *weigh, const float *const *deltas,
                                const float *const *shifts, ex_error *error);
ex_result exi_measure_add_offsets(exi_measure *m, int layer, const ex_weigher_def *weigh, const ex_offsets *offsets,
                                  ex_error *error);

/* The same for a layer of trajectories; mask may be NULL. */
ex_result exi_measure_add_trajectories(exi_measure *m, int layer, const ex_weigher_def *weigh,
                                       const exi_project_trajectories *paths, const float *mask,
                                       const float *const *shifts, ex_error *error);

/* The same for a layer that a driver weighs: a rig of it alone is made of its definition; or the layer of a rig, which
 * must stay, is taken. */
ex_result exi_measure_add_driven(exi_measure *m, int layer, const ex_layer_def *def, ex_error *error);
void exi_measure_take_driven(exi_measure *m, int layer, const ex_rig *rig);

/* A rig of a layer that a driver weighs, alone, of which only the form at rest is of use. */
ex_result exi_measure_driven_rig(const exi_measure *m, const ex_layer_def *def, ex_rig **rig, ex_error *error);

/* Whether a layer counts. */
bool exi_measure_counts(const exi_measure *m, int layer);

/* Sets m->base, m->turned, m->joints and m->shift for an example of a layer; or to what the layers before `end` make of
 * the mesh at the whole pose of an example. False without memory, which trajectories take. */
bool exi_measure_base(exi_measure *m, int layer, int example);
bool exi_measure_layers(exi_measure *m, int end, const ex_project_example *at);

/* Adds to sum [vertex_count][3] what a layer that counts makes of an example's whole pose, or of rest where that is
 * NULL, whatever its frame. False as above. */
bool exi_measure_add_up(const exi_measure *m, int layer, const ex_project_example *at, double *sum);
/* The same for a layer that a driver weighs, as a layer of a rig that need not be its own. */
bool exi_measure_add_weighed(const exi_measure *m, int layer, const exi_weighed *as, const ex_project_example *at,
                             double *sum);

/* sum += weight * delta, for count numbers; weights that are rounding alone are left out. */
void exi_measure_sum(double *sum, size_t count, double weight, const float *delta);

/* mask times `to` minus base, rounded to float once, for count numbers; mask has one for every three, or is NULL for 1
 * everywhere. Release with free; NULL without memory. */
float *exi_measure_difference(const double *base, const double *to, const float *mask, size_t count);

/* An example, measured. */
typedef struct exi_measured {
    float *delta;       /* [vertex_count][3]; NULL in a layer of offsets */
    ex_offsets offsets; /* in a layer of offsets */
    float *shifts;      /* [joint_count][3], or NULL where the example brings no skeleton */
    ex_damped *damped;  /* [damped_count] vertices that will not come back exactly, ascending */
    int damped_count;
    ex_damped *near; /* [near_count] vertices that were not damped, but shrink to less than near_limit; or NULL */
    int near_count;
} exi_measured;

/* In two steps: what the example is measured from and the joints that it brings; then its form. On failure *out is to
 * be freed as after success. */
ex_result exi_measure_joints(exi_measure *m, int layer, int example, exi_measured *out, ex_error *error);
ex_result exi_measure_form(const exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                           exi_measured *out, ex_error *error);

/* Both. form: the example's own mesh. On failure *out holds nothing. */
ex_result exi_measure_example(exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                              exi_measured *out, ex_error *error);
/* The reference of a layer of trajectories: no difference at all. */
ex_result exi_measure_reference(const exi_measure *m, exi_measured *out, ex_error *error);
void exi_measured_free(exi_measured *measured);
void exi_offsets_free(ex_offsets *offsets);

/* ---- poses ---- */

/* A whole pose, for as long as something is done with it. */
typedef struct exi_posing {
    ex_transform *locals; /* [joint_count] */
    float *shifts;        /* [joint_count][3] */
    float *matrices;      /* [joint_count][12] */
    float *centres;       /* [joint_count][3] */
    void *scratch, *memory;
    const ex_palette *palette;
} exi_posing;

/* The pose of an example with the joints as m->shift has them, and shifts beyond that, or NULL. Asks for a skin. False
 * without memory; to be closed in any case. */
bool exi_posing_open(exi_posing *p, const exi_measure *m, const ex_project_example *example, const float *shifts);
/* Where the driver's moving frames move the mesh. */
bool exi_posing_open_carried(exi_posing *p, const exi_measure *m, const ex_project_example *example);
void exi_posing_close(exi_posing *p);

/* positions [vertex_count][3] += sign * what is added after skinning, turned as the vertices are. False without memory.
 */
bool exi_posing_turn(const exi_posing *p, const exi_measure *m, float sign, float *positions);
/* The mesh with the layers that m->base holds, posed: positions [vertex_count][3]. p NULL: it stays at rest. */
bool exi_posing_apply(const exi_posing *p, const exi_measure *m, float *positions);

/* The form [vertex_count][3] without the pose, in rest [vertex_count][3]; fills in what is damped. */
ex_result exi_measure_unpose(const exi_measure *m, const exi_posing *p, const ex_mesh *form, double *rest,
                             exi_measured *out, ex_error *error);
/* The sentence where there is no skin to un-pose by. */
ex_result exi_measure_no_skin(ex_error *error);

/* ---- offsets ---- */

/* Whether something moves the mesh. */
bool exi_measure_moves(const exi_measure *m);
/* Whether the sculpts of a layer were made at their poses; and the one of an example. */
bool exi_measure_is_posed(const exi_measure *m, const ex_project_layer *layer);
bool exi_measure_unposes(const ex_project_layer *layer, const ex_project_example *example);
/* What moves no farther counts as not moved. */
double exi_measure_tolerance(const exi_measure *m, const ex_project_layer *layer);
/* The vertices that the sculpt of an example moves, into out->offsets. */
ex_result exi_measure_offsets(const exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                              exi_measured *out, ex_error *error);
/* Finds m->firsts; false without memory. */
bool exi_measure_find_firsts(exi_measure *m);

/* What a pose says of a joint relative to its rest, put on top of the rest. */
ex_transform exi_pose_compose(const ex_transform *rest, const ex_transform *relative);

#endif
