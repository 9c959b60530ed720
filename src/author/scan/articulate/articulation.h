/*
 * articulation.h - shared by the files that articulate registered meshes; private to src/author/scan.
 *
 *   articulate.c           checks, and the rounds
 *   articulate_bones.c     bones, tree and starting weights if there is no skeleton
 *   articulate_start.c     rotations of bones by rigid fits, joint centres by relative motion
 *   articulate_moments.c   sums over vertices that a fit of poses needs
 *   articulate_solve.c     poses and joint centres together
 *   articulate_rest.c      the rest form; distances
 *   articulate_weights.c   skin weights
 *   articulate_net.c       neighbours of vertices, also between components
 *   articulate_layers.c    layers of what is left
 *   articulate_rig.c       the rig
 *   articulate_left_out.c  forms that are left out
 *
 * Model, with c_b the centre of joint b in the rest form, R_b and p_b its frame in a form:
 *
 *   x' = sum over b of w_b (R_b (x - c_b) + p_b),    p_b = p_parent + R_parent (c_b - c_parent)
 *
 * "unit" is half the diagonal of the first form: about a metre for a person.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_ARTICULATE_ARTICULATION_H
#define EXEMPLAR_AUTHOR_SCAN_ARTICULATE_ARTICULATION_H

#include <exemplar/author/articulate.h>

/* Neighbours of vertices: along edges of faces, and between components. */
typedef struct exi_art_net {
    int *starts; /* [vertex_count + 1] */
    int *others; /* [starts[vertex_count]] */
} exi_art_net;

ex_result exi_art_net_make(const ex_mesh *mesh, const double *positions, exi_art_net *net, ex_error *error);
void exi_art_net_free(exi_art_net *net);

/* Priors of the skeleton. */
typedef struct exi_art_joint {
    int parent;
    ex_freedom freedom;
    double axis[3]; /* of a hinge; of a collar bone: along it */
    bool spine;     /* true for a joint of the spine: those share a turn, and none does all of it */
    bool collar;    /* true for a collar bone, which hardly turns about itself, whatever the skin on it does */
} exi_art_joint;

typedef struct exi_articulation {
    const ex_articulate_def *def;
    int vertex_count, form_count, joint_count;
    int influence_count; /* room per vertex in joints and weights */
    int influence_most;  /* of them, in the result */
    double unit;
    const bool *left_out; /* [form_count] or NULL: forms that count for nothing */
    exi_art_net net;
    exi_art_joint *tree;         /* [joint_count], parents first */
    double (*centres)[3];        /* [joint_count] in the rest form */
    double (*origin_centres)[3]; /* [joint_count] and the rest form that belongs to them: how the prior of a centre */
    double *origin;              /* [vertex_count][3] follows the skin (exi_art_skin) */
    double (*turns)[4];          /* [form_count][joint_count]: rotations relative to the parent */
    double (*bases)[3];          /* [form_count]: places of joint 0 */
    double *rest;                /* [vertex_count][3] */
    uint16_t *joints;            /* [vertex_count][influence_count] */
    double *weights;             /* likewise; 0 beyond those in use */
    uint16_t *first_joints;      /* likewise: the start, to which weights are drawn */
    double *first_weights;
    double noise;        /* in units: the usual distance of a vertex, twice what the last round left */
    double centre_sigma; /* in units: how far centres may be from where the skin puts them */
    bool drawn;          /* true if weights are drawn to the start */
} exi_articulation;

/* Returns the confidence of a vertex in a form. */
static inline double exi_art_seen(const exi_articulation *a, int form, int vertex) {
    const float *c = a->def->confidences ? a->def->confidences[form] : NULL;
    return c ? (double)c[vertex] : 1;
}
static inline bool exi_art_counts(const exi_articulation *a, int form) {
    return !a->left_out || !a->left_out[form];
}
/* Runs body over [0, count) on the caller's tasks. */
static inline void exi_art_run(const exi_articulation *a, int count, ex_task_body body, void *context) {
    const ex_tasks *tasks = a->def->tasks;
    if (tasks && tasks->run)
        tasks->run(tasks->user, count, 256, body, context);
    else
        body(context, 0, count);
}

/* Copies everything but the net, which is shared, for a fit that leaves forms out. */
ex_result exi_art_copy(const exi_articulation *from, exi_articulation *to, ex_error *error);
void exi_art_free(exi_articulation *a); /* all but the net */
/* Allocates everything for this number of joints; turns are none. */
ex_result exi_art_allocate(exi_articulation *a, int joint_count, ex_error *error);
/* Takes centres, poses, rest form and weights from a result. */
ex_result exi_art_open(const ex_articulate_def *def, const ex_articulated *from, exi_articulation *a, ex_error *error);

/* Sets the weights to start from: those given with a skeleton, else one bone per vertex, blurred. Needs a net. */
ex_result exi_art_first(exi_articulation *a, ex_error *error);

/* ---- frames ---- */

/* Computes transforms [joint_count][12] of a pose: three rows of R | p - R c. places [joint_count][3]: p; or NULL. */
void exi_art_frames(const exi_articulation *a, double (*turns)[4], const double base[3], double (*transforms)[12],
                    double (*places)[3]);
void exi_art_quaternion(const double m[9], double q[4]);
/* Finds the rotation R that maximises the sum of y . R x for the correlation sum of y x' [3][3]. */
void exi_art_rotation(const double correlation[9], double m[9]);

/* ---- steps ---- */

/* Finds bones by clusters of vertices that move rigidly: tree, centres, turns, bases, weights, rest. */
ex_result exi_art_find_bones(exi_articulation *a, ex_kinematics **kinematics, ex_error *error);
/* Blurs weights over the mesh. */
ex_result exi_art_blur(exi_articulation *a, ex_error *error);
/* Finds turns and bases by rigid fits of bones, and centres by relative motion, from rest form and weights. */
ex_result exi_art_start(exi_articulation *a, ex_error *error);
/* Finds turns and base of one form by rigid fits of its bones. */
ex_result exi_art_start_pose(exi_articulation *a, int form, ex_error *error);
/* Makes centres and rest form the origin that priors of centres follow. */
void exi_art_anchor(exi_articulation *a);
/* Computes where the present rest form puts centres [joint_count][3]: as the origin does, moved like the skin around
 * each joint. */
ex_result exi_art_skin(const exi_articulation *a, double (*places)[3], ex_error *error);

/* Moves the base's centre to where the skin says; the bases of forms follow, so that no form changes. */
ex_result exi_art_place_base(exi_articulation *a, ex_error *error);

/* Sums over the vertices of a form, for bones that share vertices. x is the rest position with a fourth number 1. */
typedef struct exi_art_moments {
    int pair_count;
    int (*pairs)[2];        /* first <= second */
    double (*squares)[16];  /* [pair_count] sum of weight w_b w_c x x' */
    double (*products)[12]; /* [joint_count] sum of weight w_b x y', [4][3] */
    double weight, length;  /* sums of weight, and of weight y . y */
} exi_art_moments;

/* Computes the moments of a form. rest replaces the rest form; NULL: a->rest. */
ex_result exi_art_moments_make(const exi_articulation *a, int form, const double *rest, exi_art_moments *m,
                               ex_error *error);
void exi_art_moments_free(exi_art_moments *m);

/* Fits poses of the forms that are not left out, and centres. */
ex_result exi_art_fit(exi_articulation *a, int step_count, bool centres, ex_error *error);
/* Fits the pose of one form by its moments; turns [joint_count] and base are the start and the result. */
ex_result exi_art_fit_pose(const exi_articulation *a, const exi_art_moments *m, int step_count, double (*turns)[4],
                           double base[3], ex_error *error);

ex_result exi_art_find_rest(exi_articulation *a, ex_error *error);
/* Computes the un-posed form minus rest [vertex_count][3]; 0 at vertices that were not seen. */
ex_result exi_art_unpose(const exi_articulation *a, int form, double (*turns)[4], const double base[3],
                         const double *rest, double *deltas, ex_error *error);
/* Computes the posed rest form [vertex_count][3]. */
ex_result exi_art_pose(const exi_articulation *a, double (*turns)[4], const double base[3], const double *rest,
                       double *positions, ex_error *error);
/* Computes distances of a posed rest form from a form, over vertices that were seen. */
ex_result exi_art_distance(const exi_articulation *a, int form, double (*turns)[4], const double base[3],
                           const double *rest, double *rms, double *high, ex_error *error);
/* Root mean square over all forms that are not left out. */
ex_result exi_art_rms(const exi_articulation *a, double *rms, ex_error *error);

/* noise: the present root mean square distance. */
ex_result exi_art_find_weights(exi_articulation *a, double noise, ex_error *error);

/* The rounds. */
ex_result exi_art_rounds(exi_articulation *a, int round_most, const ex_progress *progress, double from, double to,
                         int *round_count, ex_error *error);

#endif
