/*
 * template.h - what the files of the template share; private to src/author/scan.
 *
 *   template_bones.c   the bones of a kinematics: where they lead, what turns them, which is whose mirror image
 *   template_plan.c    trunk and limbs: which rings of control points there are
 *   template_rings.c   rings: where they stand, what moves them; limbs
 *   template_rows.c    the trunk's rows of rings, and its faces
 *   template_widths.c  how wide rings are: by markers, by rays to scans
 *   template_limit.c   from points of the surface to control points
 *   template_given.c   what moves the vertices of a mesh that was given
 *   template_scene.c   groups, skeleton and skin
 *   template_rig.c     a rig of it, and its poses
 *   template_dials.c   figures: girth and lengths of bones
 *   template.c         the whole
 *   template_session.c the template of a scan session, and its files
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_TEMPLATE_TEMPLATE_H
#define EXEMPLAR_AUTHOR_SCAN_TEMPLATE_TEMPLATE_H

#include <exemplar/author/scan.h>

/* ---- bones ---- */

/* What hangs on a joint, at the reference pose. */
typedef struct exi_bone {
    double place[3]; /* of the joint */
    double end[3];   /* where the child is that it leads to, or how far its flesh goes */
    double direction[3];
    double length;
    int parent;  /* the bone above it, twists left out; -1 */
    int child;   /* the bone that it leads to; -1: none */
    int partner; /* the joint of which it is the mirror image; -1: none */
    int carrier; /* the joint itself; of a twist, which has no bone of its own, the joint whose bone it turns */
    int twist;   /* the joint that turns the far end of this bone about it; -1: none */
    bool limb;   /* it, or a joint above it, has a partner */
    double reach;
} exi_bone;

typedef struct exi_bones {
    int count;
    exi_bone *all; /* [joint_count] */
    bool symmetric;
    double plane; /* x, about which they are */
    double size;  /* of the whole */
} exi_bones;

ex_result exi_bones_make(const ex_kinematics *kinematics, exi_bones *bones, ex_error *error);
void exi_bones_free(exi_bones *bones);
/* Where a limb that begins with this joint leaves the trunk: there, or where its child is, if the joint is a clavicle.
 */
int exi_bone_anchor(const exi_bones *bones, int joint);

/* What moves a point: joints and weights of sum 1. */
#define EXI_SHARE_MAX 8
typedef struct exi_share {
    int count;
    int joints[EXI_SHARE_MAX];
    double weights[EXI_SHARE_MAX];
} exi_share;

void exi_share_add(exi_share *share, int joint, double weight);
/* The bone at a fraction of its length: where something turns its far end about it, that takes part so far. */
void exi_share_add_bone(exi_share *share, const exi_bones *bones, int bone, double fraction, double weight);

/* ---- control points ---- */

#define EXI_TRUNK_POINTS 8
#define EXI_LIMB_POINTS  4

/* A control point to be: a point of the surface, out from the middle of its ring. */
typedef struct exi_spoke {
    double centre[3], direction[3];
    double radius;
    double most;  /* that it may become */
    double ratio; /* of what scans show to `radius`; NAN: none shows it */
    int ring;
    int mirror; /* its counterpart; -1: none */
    exi_share share;
} exi_spoke;

/* The last ring of what is closed: its points follow each other. It stands by this much of their radius before the
 * end. */
#define EXI_TIP_ROUND 0.35
typedef struct exi_tip {
    int bone;
    int first, count;
    int middle; /* the first of a ring half-way to it; -1: none */
} exi_tip;

typedef struct exi_face {
    int corners[4];
    int joint;
} exi_face;

typedef struct exi_plan {
    const ex_kinematics *kinematics;
    const exi_bones *bones;
    int spoke_count, ring_count, face_count, tip_count;
    size_t spoke_capacity, face_capacity, tip_capacity;
    exi_spoke *spokes;
    exi_face *faces;
    exi_tip *tips;
    bool failed; /* for want of memory */
} exi_plan;

/* Adds one and returns its number; 0 without memory. */
int exi_plan_spoke(exi_plan *plan, const exi_spoke *spoke);
void exi_plan_face(exi_plan *plan, int a, int b, int c, int d, int joint);
/* The spokes from `first` on are a tip. */
void exi_plan_tip(exi_plan *plan, int bone, int first, int middle);

/* A chain of bones that rings are put along. */
typedef struct exi_chain {
    int count;
    int *bones;     /* [count] from the first that has a surface on */
    int *heads;     /* [count] the joint that the upper half of each one's faces belongs to: one too short for a ring */
    int above;      /* the bone above the first */
    int side;       /* 1: left, -1: right */
    bool split;     /* a leg: the end of the trunk becomes two of them */
    double station; /* along the trunk */
    double radius;  /* where it leaves the trunk */
} exi_chain;

typedef struct exi_trunk {
    int count;
    int *bones; /* [count] */
    bool closed;
    double begin, end; /* along it, from the first joint; begin may be below 0 */
    double wide;       /* half of what is between the limbs */
    int limb_count;
    exi_chain *limbs;
} exi_trunk;

ex_result exi_plan_make(const ex_kinematics *kinematics, const exi_bones *bones, exi_plan *plan, ex_error *error);
void exi_plan_free(exi_plan *plan);

/* A point of the trunk's axis, and the direction there. */
void exi_trunk_at(const exi_bones *bones, const exi_trunk *trunk, double s, double place[3], double direction[3]);
/* Where along it the point on the axis is that is nearest to p. */
double exi_trunk_station(const exi_bones *bones, const exi_trunk *trunk, const double p[3]);
/* The bone at s; and what moves a ring there. */
int exi_trunk_bone(const exi_bones *bones, const exi_trunk *trunk, double s);
exi_share exi_trunk_share(const exi_bones *bones, const exi_trunk *trunk, double s);

/* Where the last ring of what is closed stands, in lengths of its bone. */
#define EXI_TIP 0.88

/* How a limb's rings are about to stand. */
typedef struct exi_frame {
    double along[3], front[3], up[3];
} exi_frame;

/* The points of a ring at s that are -1 so far; narrower than usual by a factor. */
void exi_trunk_ring(exi_plan *plan, const exi_trunk *trunk, double s, double narrow, int ring[EXI_TRUNK_POINTS]);
/* A limb's first ring, which is part of the trunk's; and the others, with the faces between them. */
void exi_limb_begin(exi_plan *plan, const exi_trunk *trunk, const exi_chain *limb, exi_frame *f,
                    int ring[EXI_LIMB_POINTS]);
void exi_limb_rings(exi_plan *plan, const exi_trunk *trunk, const exi_chain *limb, exi_frame f,
                    const int first[EXI_LIMB_POINTS]);

/* Rings and faces of everything. */
void exi_plan_rings(exi_plan *plan, const exi_trunk *trunk);

/* ---- widths ---- */

/* How much wider than usual a bone is, by the markers on it, where the usual radius at a fraction of it is given by the
 * function: 1 where there are too few. */
double exi_width_by_sites(const ex_kinematics *kinematics, const exi_bones *bones, int bone,
                          double (*usual)(const void *context, const double p[3]), const void *context);

/* How far the markers of a joint without children reach from it, and the direction of the farthest; 0: there are none.
 */
double exi_sites_reach(const ex_kinematics *kinematics, int joint, double direction[3]);

/* Ratios of all spokes by rays to the scans; what no scan shows, by neighbours. */
ex_result exi_widths_by_scans(exi_plan *plan, const ex_mesh *const *scans, int scan_count, ex_error *error);

/* ---- the rest ---- */

/* Moves the mesh's vertices so that its limit surface runs through where they are, but for what alternates between
 * them. */
ex_result exi_template_meet(ex_mesh *mesh, ex_error *error);

/* [vertex_count] what moves the vertices of a mesh, by where they are. */
void exi_template_given(const exi_bones *bones, const ex_mesh *mesh, exi_share *shares);

/* Faces' groups after what moves them most; only where the plan did not say. */
ex_result exi_template_groups(const ex_kinematics *kinematics, const exi_share *shares, ex_mesh *mesh, ex_error *error);
ex_result exi_template_scene(const ex_kinematics *kinematics, const ex_mesh *mesh, const exi_share *shares,
                             ex_scene **scene, ex_error *error);

/* ---- vectors ---- */

static inline void exi_along(const double from[3], const double direction[3], double length, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = from[c] + length * direction[c];
}

#endif
