/*
 * exemplar/author/articulate.h - skeleton, skin weights and poses from registered meshes.
 *
 * Registered meshes are forms of one body with the same vertices and faces, in several poses: public sets of bodies
 * have them, and so does a template after registration to scans. ex_articulate finds a rest form, joint centres, the
 * pose of every form, and skin weights for linear blend skinning. It starts from a skeleton and weights if there are
 * some, and else finds the bones. ex_articulated_find_layers makes layers of what skinning does not explain, and
 * ex_articulated_rig a rig. ex_articulate_leave_out and ex_articulated_measure test them on forms not seen.
 *
 * Plain data, owned by its holder. Any thread may call these functions. Any unit of length; y up for rigs.
 */
#ifndef EXEMPLAR_AUTHOR_ARTICULATE_H
#define EXEMPLAR_AUTHOR_ARTICULATE_H

#include <exemplar/author/kinematics.h>
#include <exemplar/author/mesh.h>
#include <exemplar/rig.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of influences of a vertex, and of bones that are found without a skeleton. */
#define EX_ARTICULATE_INFLUENCES 8
#define EX_ARTICULATE_BONES      100

/* A dial of the rig, for the figure: its contribution at 1. */
typedef struct ex_articulated_dial {
    const char *name;
    const char *unit;    /* for display; may be NULL */
    double least, most;  /* its range; 0 at rest */
    const float *deltas; /* [vertex_count][3] of the rest form */
    const float *shifts; /* [joint_count][3] of the joints' centres */
} ex_articulated_dial;

/* Definition of an articulation. All zero but the first three fields: bones are found, four influences. */
typedef struct ex_articulate_def {
    const ex_mesh *mesh;             /* faces, texture coordinates, groups; its positions are not used */
    int form_count;                  /* at least 2 */
    const double *const *forms;      /* [form_count] of [vertex_count][3]; the first stands for "one form alone" */
    const char *const *names;        /* [form_count] or NULL: for messages and examples, all different */
    const float *const *confidences; /* [form_count] of [vertex_count], each may be NULL (all 1); or NULL. From 0 to 1:
                                        positions of vertices with 0 were not seen, and are never read */

    const ex_kinematics *skeleton; /* or NULL: bones are found. Names, tree and neutral places. All joints turn freely
                                      except fixed ones; hinges prefer their axis. Sites are not used */
    const double *rest;            /* [vertex_count][3] or NULL: the mesh in the skeleton's neutral pose; may be another
                                      person. NULL: un-posed by `starts`, or else the first form */
    int influence_count;           /* of the starting weights, from 1 */
    const uint16_t *joints;        /* [vertex_count][influence_count]; required with a skeleton */
    const float *weights;          /* likewise: starting weights, not negative, each row with sum 1 */
    const ex_kin_pose *starts;     /* [form_count] or NULL: poses to start from where they fit better */
    bool lock_weights;             /* true: the weights stay as they are */
    bool lock_centres;             /* true: the joints stay at their neutral places */

    int bone_count;     /* without a skeleton: at most this many; 0: chosen, up to 40 */
    int influence_most; /* influences of a vertex in the result, up to EX_ARTICULATE_INFLUENCES; 0: 4 */
    int round_most;     /* rounds of poses, rest form and weights; 0: 12 */
    int dial_count;     /* for ex_articulated_rig */
    const ex_articulated_dial *dials;
    const ex_progress *progress; /* optional; returning false stops */
    const ex_tasks *tasks;       /* optional; changes no result */
} ex_articulate_def;

/* An articulated body. */
typedef struct ex_articulated {
    ex_kinematics *kinematics; /* centres as found, in the rest form; without sites */
    bool *open;                /* [joint_count]: true if the forms do not determine the joint's centre: the joint turns
                                  too little, and its centre stayed near its start */
    int form_count;
    ex_kin_pose *poses; /* [form_count] */
    int vertex_count;
    double *rest; /* [vertex_count][3]: in the neutral pose of the skeleton; without one, in that of the first form */
    int influence_count;
    uint16_t *joints; /* [vertex_count][influence_count] */
    float *weights;   /* likewise; each row has sum 1 */
    double *rms;      /* [form_count]: distance of the posed rest form from each form, over vertices that were seen */
    double *high;     /* [form_count]: 95th percentile of the same */
    double all_rms;   /* over all forms */
    int round_count;
    double seconds;
} ex_articulated;

/*
 * Finds skeleton, poses, rest form and weights, by linear blend skinning x' = sum of w_b T_b x. Rounds of three steps:
 * poses and joint centres together (Levenberg-Marquardt on moments, so that its cost does not depend on the number of
 * vertices), the rest form (closed form per vertex), weights (a quadratic program per vertex). Priors are weak: 12 mm
 * on a person's joints, 2 degrees on turns off a hinge's axis, 0.15 on weights from their start and from their
 * neighbours. A joint whose name begins with "clavicle" hardly turns about its own bone; those of the spine (waist,
 * abdomen, chest, neck, head) share a turn. Time: about 0.4 s for 12 forms of 13 thousand vertices on one core.
 * Results: ARGUMENT, DATA (one form only; a number that is not finite: form and vertex are named; nothing moves; a
 * vertex without weights), MEMORY, FILE (stopped by progress).
 */
EX_API ex_result ex_articulate(const ex_articulate_def *def, ex_articulated **articulated, ex_error *error);
EX_API void ex_articulated_destroy(ex_articulated *articulated);

/* Computes the skinned rest form [vertex_count][3] at a pose. deltas [vertex_count][3] are added to the rest form
 * first; NULL: none. Results: MEMORY. */
EX_API ex_result ex_articulated_pose(const ex_articulated *articulated, const ex_kin_pose *pose, const double *deltas,
                                     double *positions, ex_error *error);

/* ---- files ---- */

/* Registered meshes from files, and a skeleton and weights to start from. */
typedef struct ex_registered_set {
    ex_mesh *mesh; /* the first file */
    int form_count;
    double **forms;          /* [form_count] of [vertex_count][3] */
    char **names;            /* [form_count]: names of the files, without folder and ending; all different */
    ex_kinematics *skeleton; /* NULL: none; so are the fields below */
    double *rest;
    int influence_count;
    uint16_t *joints;
    float *weights;
} ex_registered_set;

/*
 * Reads files [count] of the same connectivity: .obj, .ply, .off, .glb or .gltf. weights, optional: a .glb or .gltf
 * file with the same vertices in the same order, in the neutral pose, bound to a skeleton: it gives joints, rest form
 * and weights. skeleton, only with weights: "full", "upper" or a skeleton file, whose joints are those of the same
 * names in that file; weights of other joints go to the nearest of them above. Hinges get their axes from it. Results:
 * DATA (another connectivity: both files and their numbers are named), FORMAT, FILE, MEMORY.
 */
EX_API ex_result ex_registered_set_read(const char *const *paths, int count, const char *weights, const char *skeleton,
                                        ex_registered_set **registered, ex_error *error);
EX_API void ex_registered_set_destroy(ex_registered_set *registered);
/* Returns a definition that points to the arrays. */
EX_API ex_articulate_def ex_registered_set_def(const ex_registered_set *registered);

/* ---- what skinning leaves ---- */

/* A layer: around one joint, the un-posed rests of all forms, weighed by the rotations of a few joints. */
typedef struct ex_articulated_layer {
    int joint; /* whose bone it covers */
    int axis_count;
    int *axes;      /* [axis_count] joints whose rotations form its space */
    double falloff; /* of its gaussian weigher, as a chord: sine of half the angle */
    double ridge;
    double before,
        after;   /* mean square of the rests of forms, and of what remains if each is guessed from the others */
    float *mask; /* [vertex_count]; all layers that could be made have masks with sum 1 */
} ex_articulated_layer;

/* Layers of an articulated body. */
typedef struct ex_articulated_layers {
    int vertex_count, form_count;
    int count;
    ex_articulated_layer *layers; /* [count]; none for joints around which guesses would be no better */
    float **deltas;               /* [form_count] of [vertex_count][3]: un-posed form minus rest form; the examples */
} ex_articulated_layers;

/* Makes layers: one per joint whose form can be guessed by kernel ridge regression over rotations. Joints that take
 * part, falloff and ridge are chosen by leave-one-out cross-validation. Results: MEMORY. */
EX_API ex_result ex_articulated_find_layers(const ex_articulate_def *def, const ex_articulated *articulated,
                                            ex_articulated_layers **layers, ex_error *error);
EX_API void ex_articulated_layers_destroy(ex_articulated_layers *layers);
/* Computes what the layers add to the rest form [vertex_count][3] at a pose. Results: MEMORY. */
EX_API ex_result ex_articulated_layers_evaluate(const ex_articulated *articulated, const ex_articulated_layers *layers,
                                                const ex_kin_pose *pose, double *deltas, ex_error *error);

/* Makes a rig: the rest form with the mesh's faces and texture coordinates, the skeleton, linear skinning, and a layer
 * of offsets for each of layers, which may be NULL. Their axes have the names of joints. Dials of `def` are one more
 * layer, `figure`. Results: as ex_rig_create. */
EX_API ex_result ex_articulated_rig(const ex_articulate_def *def, const ex_articulated *articulated,
                                    const ex_articulated_layers *layers, ex_rig **rig, ex_error *error);

/* ---- forms that were left out ---- */

/* Errors of one form that was left out: distances of vertices, root mean square and 95th percentile. */
typedef struct ex_left_out {
    double rms, high;                 /* by skinning and layers */
    double skinned_rms, skinned_high; /* by skinning alone */
    double one_rms, one_high;         /* by skinning the first form alone, with the starting weights */
} ex_left_out;

/* Report on forms that were left out. */
typedef struct ex_left_outs {
    int form_count;
    ex_left_out *forms; /* [form_count] */
    ex_kin_pose *poses; /* [form_count] that were fitted */
    float **positions;  /* [form_count] of [vertex_count][3]: the form by skinning and layers */
    float **distances;  /* [form_count] of [vertex_count]: of these from the form; NaN where it was not seen */
    ex_left_out all;    /* over all forms: root mean square of rms, mean of the 95th percentiles */
    int group_count;    /* forms were left out in this many groups: one each up to 12 forms */
    double seconds;
} ex_left_outs;

/*
 * Leaves every form out once: weights, rest form, joint centres and layers are made without it, from the starting
 * weights; then its pose is fitted with everything else locked. Beside it: the first form alone, skinned with the
 * starting weights (without a skeleton: with those found without the form) and posed likewise; for the first form
 * itself, the second. Without a skeleton, the number of bones and the tree are those of `articulated`. With fewer than
 * 3 forms nothing can be left out: DATA. Other results: as ex_articulate.
 */
EX_API ex_result ex_articulate_leave_out(const ex_articulate_def *def, const ex_articulated *articulated,
                                         ex_left_outs **report, ex_error *error);
EX_API void ex_left_outs_destroy(ex_left_outs *report);

/*
 * Measures forms against a finished body, which stays as it is: only poses are fitted. The first forms of `def` are
 * those that the body was made from; more may follow, which it has never seen. So the report has the error of the rig
 * in its own poses first, then that of predictions. Beside it: the first form alone, as above. layers: NULL for none.
 * Results: as ex_articulate.
 */
EX_API ex_result ex_articulated_measure(const ex_articulate_def *def, const ex_articulated *articulated,
                                        const ex_articulated_layers *layers, ex_left_outs **report, ex_error *error);
/* Sums up the forms from one to another, as in ex_left_outs.all. */
EX_API ex_left_out ex_left_outs_sum(const ex_left_outs *report, int from, int to);

#ifdef __cplusplus
}
#endif
#endif
