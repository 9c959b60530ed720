/*
 * human.h - the template person that is carried to scans: a body with skin weights on a skeleton, and its figures: ways
 * in which people differ. Private to authoring.
 *
 * A template is a rig. Its own is human.glb (scripts/make-human); any rig with a skeleton will do. Its joints are those
 * of a skeleton in its neutral pose; joints named `landmark NAME` are points of the skin. The examples of its first
 * layer, if its weights are direct, are the figures. With rest form v, joints J and figures b:
 *
 *     v(b) = v + sum over k of b_k s_k      J(b) = J + sum over k of b_k S_k
 *     x    = sum over joints j of w_j (R_j (v(b) - J_j(b)) + p_j)
 *
 * R_j and p_j are the world frames of a pose (exemplar/author/kinematics.h).
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_HUMAN_HUMAN_H
#define EXEMPLAR_AUTHOR_SCAN_HUMAN_HUMAN_H

#include <exemplar/author/kinematics.h>
#include <exemplar/author/mesh.h>
#include <exemplar/author/register.h>

enum { EXI_HUMAN_INFLUENCES = 4 };

/* A point of the skin that has a name. */
typedef struct exi_landmark {
    char *name;
    int vertex;
} exi_landmark;

/* A template person. */
typedef struct exi_human {
    ex_mesh *mesh;             /* the rest form: neutral pose, usual figure */
    ex_kinematics *kinematics; /* its skeleton; no markers */
    uint16_t *joints;          /* [vertex_count][EXI_HUMAN_INFLUENCES] */
    float *weights;            /* likewise; each row sums to 1 */
    int figure_count;
    float *figures;            /* [figure_count][vertex_count][3]: a standard deviation of each */
    double (*joint_shifts)[3]; /* [figure_count][joint_count] */
    int landmark_count;
    exi_landmark *landmarks;
} exi_human;

/* Reads a template; path NULL: the tool's own. Results: DATA (no skeleton, no skin), and those of ex_rig_read. */
ex_result exi_human_read(const char *path, exi_human **human, ex_error *error);
void exi_human_destroy(exi_human *human);
/* Returns the vertex of a landmark, or -1. */
int exi_human_find(const exi_human *human, const char *landmark);

/* Computes the rest form [vertex_count] and the places of the joints [joint_count] of a figure [figure_count], in the
 * neutral pose; figure NULL: the usual one. */
void exi_human_figure(const exi_human *human, const double *figure, double (*rest)[3], double (*places)[3]);
/* Computes the posed form. frames: rotations as matrices [joint_count][9], and places [joint_count]. */
void exi_human_skin(const exi_human *human, const double (*rest)[3], const double (*places)[3],
                    const double (*rotations)[9], const double (*posed)[3], double (*vertices)[3]);
/* The world frames of a pose, of a skeleton whose joints are at `places` in the neutral pose. */
void exi_human_frames(const exi_human *human, const double (*places)[3], const ex_kin_pose *pose,
                      double (*rotations)[9], double (*posed)[3]);

/* Normals of the vertices of a form of the template. */
void exi_human_normals(const exi_human *human, const double (*vertices)[3], double (*normals)[3]);

/* ---- the fit ---- */

/* A place that a point of a bone has to come near, as markers tell it. */
typedef struct exi_bone_point {
    int joint;
    double at[3]; /* in the rest form of the usual figure */
    double target[3];
    double sigma; /* metres */
} exi_bone_point;

/* A scan that a template is carried to. */
typedef struct exi_human_scan {
    const ex_mesh *const *meshes; /* [mesh_count]; may be 0 */
    int mesh_count;
    int anchor_count;
    const ex_register_anchor *anchors; /* landmarks and markers on the skin; each with its sigma */
    int bone_point_count;
    const exi_bone_point *bone_points;
    ex_kin_pose pose; /* where it starts, and the result */
    double hold;      /* radians: how far its rotations are about, where something tells them; 0: nothing does */
    double rms;       /* result: distance of the template from the scan where they match, metres */
    double matched;   /* result: share of the tried vertices of the template that match */
} exi_human_scan;

/* Finds one figure [figure_count] for all scans, and the pose of each (human_fit.c). figure is where it starts, and the
 * result; lock: it stays. Results: DATA (a scan without anything to fit to), MEMORY. */
ex_result exi_human_fit(const exi_human *human, exi_human_scan *scans, int scan_count, double *figure, bool lock,
                        const ex_progress *progress, const ex_tasks *tasks, ex_error *error);

#endif
