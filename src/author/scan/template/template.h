/*
 * template.h - shared by the files of the template; private to src/author/scan.
 *
 *   template_bones.c   the bones of a kinematics: ends, twists and mirror images
 *   template_plan.c    trunk and limbs: the list of rings of control points
 *   template_rings.c   rings: positions and skin weights; limbs
 *   template_rows.c    the trunk's rows of rings, and its faces
 *   template_widths.c  widths of rings: by markers, by rays to scans
 *   template_carry.c   from the neutral pose, in which a cage is planned, to the reference
 *   template_limit.c   from points of the surface to control points
 *   template_given.c   skin weights of a given mesh
 *   template_scene.c   groups, skeleton and skin
 *   template_rig.c     a rig of the template, and its poses
 *   template_dials.c   figures: girth and lengths of bones
 *   template.c         entry point
 *   template_session.c the template of a scan session, and its files
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_TEMPLATE_TEMPLATE_H
#define EXEMPLAR_AUTHOR_SCAN_TEMPLATE_TEMPLATE_H

#include <exemplar/author/scan_body.h>

/* ---- bones ---- */

/* A joint's bone, at the reference pose. */
typedef struct exi_bone {
    double place[3]; /* of the joint */
    double end[3];   /* position of the child that it leads to, or the end of its flesh */
    double direction[3];
    double length;
    int parent;  /* the bone above it, skipping twists; -1: none */
    int child;   /* the bone that it leads to; -1: none */
    int partner; /* the joint whose mirror image it is; -1: none */
    int carrier; /* the joint itself; for a twist, which has no bone, the joint whose bone it turns */
    int twist;   /* the joint that turns the far end of this bone about it; -1: none */
    bool limb;   /* true if it, or a joint above it, has a partner */
    double reach;
} exi_bone;

typedef struct exi_bones {
    int count;
    exi_bone *all; /* [joint_count] */
    bool symmetric;
    double plane; /* x of the plane of symmetry */
    double size;  /* of the whole skeleton */
    double up[3]; /* from the first joint of the trunk to its last; its first bone alone is short, and may lean */
} exi_bones;

ex_result exi_bones_make(const ex_kinematics *kinematics, exi_bones *bones, ex_error *error);
void exi_bones_free(exi_bones *bones);
/* Returns the joint at which a limb that begins with this joint leaves the trunk: the joint itself, or its child if it
 * is a clavicle. */
int exi_bone_anchor(const exi_bones *bones, int joint);

/* Skin weights of a point: joints and weights with sum 1. */
#define EXI_SHARE_MAX 8
typedef struct exi_share {
    int count;
    int joints[EXI_SHARE_MAX];
    double weights[EXI_SHARE_MAX];
} exi_share;

void exi_share_add(exi_share *share, int joint, double weight);
/* Adds the bone at a fraction of its length; a twist at its far end takes part by that fraction. */
void exi_share_add_bone(exi_share *share, const exi_bones *bones, int bone, double fraction, double weight);

/* ---- control points ---- */

#define EXI_TRUNK_POINTS 8
#define EXI_LIMB_POINTS  4

/* A future control point: a point of the surface, out from the middle of its ring. */
typedef struct exi_spoke {
    double centre[3], direction[3];
    double radius;
    double most;  /* maximum radius */
    double ratio; /* of the radius that scans show to `radius`; NAN: no scan shows it */
    int ring;
    int mirror; /* its counterpart; -1: none */
    exi_share share;
} exi_spoke;

/* The last ring of a closed end: its points are consecutive. Its distance from the end is this fraction of their
 * radius. */
#define EXI_TIP_ROUND 0.35
typedef struct exi_tip {
    int bone;
    int first, count;
    int middle; /* the first spoke of a ring half-way to it; -1: none */
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
    bool failed; /* true if out of memory */
} exi_plan;

/* Adds a spoke and returns its number; 0 without memory. */
int exi_plan_spoke(exi_plan *plan, const exi_spoke *spoke);
void exi_plan_face(exi_plan *plan, int a, int b, int c, int d, int joint);
/* Declares the spokes from `first` on as a tip. */
void exi_plan_tip(exi_plan *plan, int bone, int first, int middle);

/* A chain of bones along which rings are placed. */
typedef struct exi_chain {
    int count;
    int *bones;     /* [count] from the first that has a surface */
    int *heads;     /* [count] the joint that the upper half of each bone's faces belongs to: a bone too short for a
                       ring */
    int above;      /* the bone above the first */
    int side;       /* 1: left, -1: right */
    bool split;     /* true for a leg: the end of the trunk becomes two of them */
    double station; /* along the trunk */
    double radius;  /* at the trunk */
} exi_chain;

typedef struct exi_trunk {
    int count;
    int *bones; /* [count] */
    bool closed;
    double begin, end; /* along it, from the first joint; begin may be negative */
    double wide;       /* half the distance between the limbs */
    int limb_count;
    exi_chain *limbs;
} exi_trunk;

ex_result exi_plan_make(const ex_kinematics *kinematics, const exi_bones *bones, exi_plan *plan, ex_error *error);
void exi_plan_free(exi_plan *plan);

/* Computes a point of the trunk's axis, and the direction there. */
void exi_trunk_at(const exi_bones *bones, const exi_trunk *trunk, double s, double place[3], double direction[3]);
/* Returns the position along the axis of the point nearest to p. */
double exi_trunk_station(const exi_bones *bones, const exi_trunk *trunk, const double p[3]);
/* The bone at s; and the skin weights of a ring there. */
int exi_trunk_bone(const exi_bones *bones, const exi_trunk *trunk, double s);
exi_share exi_trunk_share(const exi_bones *bones, const exi_trunk *trunk, double s);

/* Position of the last ring of a closed end, in lengths of its bone. */
#define EXI_TIP 0.88

/* Orientation of a limb's rings. */
typedef struct exi_frame {
    double along[3], front[3], up[3];
} exi_frame;

/* Makes the points of a ring at s that are still -1; narrower than usual by a factor. */
void exi_trunk_ring(exi_plan *plan, const exi_trunk *trunk, double s, double narrow, int ring[EXI_TRUNK_POINTS]);
/* Make a limb's first ring, which is part of the trunk's; and the others, with the faces between them. */
void exi_limb_begin(exi_plan *plan, const exi_trunk *trunk, const exi_chain *limb, exi_frame *f,
                    int ring[EXI_LIMB_POINTS]);
void exi_limb_rings(exi_plan *plan, const exi_trunk *trunk, const exi_chain *limb, exi_frame f,
                    const int first[EXI_LIMB_POINTS]);

/* Makes all rings and faces. */
void exi_plan_rings(exi_plan *plan, const exi_trunk *trunk);

/* ---- widths ---- */

/* Returns the width of a bone relative to the usual, from the markers on it; the function gives the usual radius at a
 * fraction of the bone. 1 if there are too few markers. */
double exi_width_by_sites(const ex_kinematics *kinematics, const exi_bones *bones, int bone,
                          double (*usual)(const void *context, const double p[3]), const void *context);

/* Returns the reach of the markers of a joint without children along their mean direction, and that; 0: it has none.
 * The farthest alone may be on a thumb. */
double exi_sites_reach(const ex_kinematics *kinematics, int joint, double direction[3]);

/* ---- from the neutral pose to the reference ---- */

/* The motion of each joint from the pose of the plan's bones to the reference. */
typedef struct exi_cage_carry {
    const exi_bones *bones;
    double (*places)[3];    /* [joint_count] in the reference */
    double (*rotations)[4]; /* [joint_count] of the frames in the reference, from the neutral pose */
} exi_cage_carry;

/* Opens the way to the reference. kinematics: in the reference; neutral [joint_count] or NULL: nothing turns. */
ex_result exi_cage_carry_open(exi_cage_carry *carry, const ex_kinematics *kinematics, const double (*neutral)[4],
                              const exi_bones *bones, ex_error *error);
void exi_cage_carry_close(exi_cage_carry *carry);
/* Moves a point with its skin weights, as dual quaternions blend them; rotation: optional, that of the blend. */
void exi_cage_carry_point(const exi_cage_carry *carry, const exi_share *share, const double point[3], double carried[3],
                          double rotation[4]);

/* Finds the ratios of all spokes by rays to the scans, which are in the reference; those that no scan shows, from
 * neighbours. */
ex_result exi_widths_by_scans(exi_plan *plan, const exi_cage_carry *carry, const ex_mesh *const *scans, int scan_count,
                              ex_error *error);

/* ---- the rest ---- */

/* Moves the mesh's vertices so that its limit surface passes through their old positions, except for components that
 * alternate between vertices. */
ex_result exi_template_meet(ex_mesh *mesh, ex_error *error);

/* Computes the skin weights [vertex_count] of a mesh's vertices from their positions. */
void exi_template_given(const exi_bones *bones, const ex_mesh *mesh, exi_share *shares);

/* Names faces' groups after the joint that moves them most, if the plan did not set them. */
ex_result exi_template_groups(const ex_kinematics *kinematics, const exi_share *shares, ex_mesh *mesh, ex_error *error);
ex_result exi_template_scene(const ex_kinematics *kinematics, const ex_mesh *mesh, const exi_share *shares,
                             ex_scene **scene, ex_error *error);

/* ---- vectors ---- */

static inline void exi_along(const double from[3], const double direction[3], double length, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = from[c] + length * direction[c];
}

#endif
