/*
 * exemplar/author/scan_body.h - makes a posable body from scans whose fit is known.
 *
 * In a session with a template person, ex_scan_carry, ex_scan_body_make and ex_scan_body_write make the body. Without
 * one, ex_scan_template and ex_scan_build make it from a cage and displacement maps. ex_scan_measure says how good it
 * is. The session and its files are in exemplar/author/scan.h; everything is in metres with y up.
 *
 * Plain data, owned by its holder. Different sessions may be used on different threads.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_BODY_H
#define EXEMPLAR_AUTHOR_SCAN_BODY_H

#include <exemplar/author/articulate.h>
#include <exemplar/author/displacement.h>
#include <exemplar/author/scan.h>
#include <exemplar/author/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a template person ---- */

/* Steps of carrying a template person, which different processes may take, in this order. Each leaves records in
 * carried/ for the next, and makes those that it needs and does not find. The result is that of one process. */
typedef enum ex_scan_carry_step {
    EX_SCAN_CARRY_ALL,       /* everything; scans with records are not done again */
    EX_SCAN_CARRY_REFERENCE, /* the figure and pose of the reference alone: once */
    EX_SCAN_CARRY_SCREEN,    /* some scans are posed with it: those that are not of this person are left out */
    EX_SCAN_CARRY_FIGURE,    /* the person's figure, from several scans: once */
    EX_SCAN_CARRY_SCAN       /* some scans are registered: registered/NAME.ply */
} ex_scan_carry_step;

/* Options of carrying a template person to the scans of a session. */
typedef struct ex_scan_carry_options {
    double sure; /* labels of less confidence are ignored; 0: the default, 0.9 */
    const ex_progress *progress;
    const ex_tasks *tasks;
    ex_scan_carry_step step; /* default: everything */
    const bool *scans;       /* [scan_count of the session] true for those of the step; NULL: all */
    bool force;              /* true: what the step makes is made again, even if there are records */
} ex_scan_carry_options;

/* A scan that a template was carried to. Distances are in metres. */
typedef struct ex_carried_scan {
    int scan; /* of the session */
    bool left_out;
    char reason[EX_ERROR_SIZE]; /* of leaving it out: a sentence that says what to do */
    bool pictured;              /* true: look/NAME.png shows why */
    int anchor_count;           /* labels and landmarks that were used */
    double figure_rms;          /* of the surface of the posed template from the scan, before it was registered */
    double anchor_rms;          /* of markers and landmarks from their places on the registered template */
    double rms;                 /* of the registered template from the scan */
    double seen;                /* share of the template's outside that the scan shows */
    int flipped_count;          /* triangles that face away from their neighbours */
    int read_count;             /* points of its files, and */
    int point_count;            /* how many of them were kept */
} ex_carried_scan;

/* Report on carrying a template to a session. */
typedef struct ex_scan_carried {
    int scan_count;
    ex_carried_scan *scans;     /* all scans; those that were left out say why */
    double height;              /* metres, of the person in the neutral pose */
    char unseen[EX_ERROR_SIZE]; /* joints whose skin no scan shows, with spaces between; their skin is the figure's */
    double seconds;
} ex_scan_carried;

/*
 * Carries a template person to every scan of a session, and registers it. Starts from landmarks/NAME.csv (names of the
 * template's landmarks, or others that several scans have) and from labels/NAME.csv. The reference comes first:
 * afterwards, its markers have places on the template. Writes template/body.glb, the person in the neutral pose with
 * skin weights; registered/NAME.ply, the template on every scan, grey as sure as each vertex is; and fit.json, skeleton
 * and poses. Every scan is first posed alone: those that are not of this person are left out, with a reason, and drawn
 * to look/NAME.png, as is a reference that is refused. A scan that `follows` starts from the pose of the one before it,
 * and needs no points. Results: DATA (the reference has fewer than six landmarks or bones with markers, or does not
 * fit), FILE, MEMORY.
 */
EX_API ex_result ex_scan_carry(const ex_scan_session *session, const ex_scan_carry_options *options,
                               ex_scan_carried **carried, ex_error *error);
EX_API void ex_scan_carried_destroy(ex_scan_carried *carried);

/* Options of making a person's body. */
typedef struct ex_scan_body_options {
    bool without_left_outs; /* true: do not leave scans out, which takes most of the time; nor if some are held back */
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_scan_body_options;

/* A person's body, made from registered scans. */
typedef struct ex_scan_body {
    int scan_count; /* that it was made from */
    int held_count; /* that were held back */
    int *scans;     /* [scan_count + held_count] of the session, the reference first */
    ex_mesh *mesh;  /* the rest form, for its faces */
    ex_articulated *articulated;
    ex_articulated_layers *layers;
    ex_left_outs *measured;  /* [scan_count + held_count]: the rig in the poses of its scans, then what it predicts */
    ex_left_outs *left_outs; /* [scan_count], each predicted from the others. NULL: not asked for, or scans are held
                                back, or fewer than three scans */
    bool *unseen;            /* [joint_count]: no scan shows the skin of this joint; the template's is there */
    int wrong;               /* if this is no body: the scan that shows it best, of `scans`; else -1 */
    ex_rig *rig;
} ex_scan_body;

/*
 * Makes the body of a session from what ex_scan_carry wrote: skeleton, skin weights, layers and the rig
 * (exemplar/author/articulate.h), with a layer of dials, `figure`: girth, height and lengths. Scans that are held back
 * have no part in it, and are predicted. Refuses what is not a body: bones that no person has, scans far from the rig
 * in their own poses, skin that is torn, limbs that no scan shows. Then *body has everything but the rig, for pictures,
 * and is to be destroyed. Results: DATA (fewer than two registered scans; no body), FILE, MEMORY.
 */
EX_API ex_result ex_scan_body_make(const ex_scan_session *session, const ex_scan_body_options *options,
                                   ex_scan_body **body, ex_error *error);
EX_API void ex_scan_body_destroy(ex_scan_body *body);
/* Writes body.glb; fit.json, skeleton and poses as found, and the places of markers; and poses.csv, the poses of its
 * scans as a motion. */
EX_API ex_result ex_scan_body_write(const ex_scan_session *session, const ex_scan_body *body, ex_error *error);

/* ---- the template ---- */

/* Options of making a template. */
typedef struct ex_template_options {
    const ex_mesh *cage;         /* optional, at the reference pose; NULL: generated from the skeleton */
    const ex_mesh *const *scans; /* [scan_count] of the reference pose, optional: rings become as wide as the body */
    int scan_count;
    const double (*neutral)[4]; /* [joint_count], optional: rotations of the reference from the neutral pose
                                   (ex_scan_fitted.neutral). The cage is planned there, where limbs are apart and sides
                                   alike, and carried to the reference; NULL: none is turned */
} ex_template_options;

/* A cage that follows the skeleton: rings in the frames of bones, and half-way frames at joints, which dual quaternion
 * skinning with halves of both bones gives. */
typedef struct ex_template {
    ex_mesh *cage;   /* at the reference pose; a group per joint: the bone that a face belongs to */
    ex_scene *scene; /* its skeleton (joints as in the kinematics, identity rest rotations) and skin */
} ex_template;

/* Makes a template from a skeleton, or from a given cage. Results: DATA (a limb that the cage has no room for is named;
 * fewer than two joints), MEMORY. */
EX_API ex_result ex_template_create(const ex_kinematics *kinematics, const ex_template_options *options,
                                    ex_template **made, ex_error *error);
EX_API void ex_template_destroy(ex_template *made);
/* Makes a rig of the template without layers: dual quaternion skinning, all levels on the limit surface. */
EX_API ex_result ex_template_rig(const ex_template *made, int levels, ex_rig **rig, ex_error *error);
/* Counts control points where other than four faces meet, or on a boundary other than two. */
EX_API int ex_template_extraordinary_count(const ex_template *made);
/* Computes the pose of this rig: the joints' local transforms [ex_rig_joint_count]. */
EX_API void ex_template_pose(const ex_kinematics *kinematics, const ex_kin_pose *pose, ex_transform *joints);

/*
 * Makes the template of a session: from the mesh that it names, or that `cage` names instead (a path, optional), or
 * generated for the reference scan, whose meshes are moved to the skeleton. Results: as ex_template_create, and those
 * of reading.
 */
EX_API ex_result ex_scan_template(const ex_scan_session *session, const ex_scan_fitted *fitted, const char *cage,
                                  ex_template **made, ex_error *error);
/* Writes template/cage.obj and template/body.glb in the session's folder. */
EX_API ex_result ex_scan_template_write(const ex_scan_session *session, const ex_template *made, ex_error *error);

/* A dial that changes the figure (figure 8): the contribution at weight 1 of a layer of forms with direct weights. */
typedef struct ex_template_dial {
    char *name;          /* "girth", or the joint at the lower end of a bone, without its side: "wrist" for forearms */
    int joint;           /* that joint, the first of a pair; -1: girth */
    double (*deltas)[3]; /* [cage vertices]: girth: twice the distance from the bone's axis; else the bone is a metre
                            longer */
    double (*shifts)[3]; /* [joint_count]: displacement of each joint */
} ex_template_dial;

/* All dials of a template. */
typedef struct ex_template_dials {
    int count;
    ex_template_dial *dials;
} ex_template_dials;

/* Makes the dials: girth, and one for every bone with a length, the same for both bones of a pair. Rings on a bone
 * spread in proportion, and everything beyond moves along. The template may have been changed since, or read from its
 * files. */
EX_API ex_result ex_template_dials_create(const ex_kinematics *kinematics, const ex_template *made,
                                          ex_template_dials **dials, ex_error *error);
EX_API void ex_template_dials_destroy(ex_template_dials *dials);

/* ---- displacement maps ---- */

/* Definition of a displacement map: a template at a pose, and the meshes of a scan. */
typedef struct ex_displacement_map_def {
    const ex_rig *rig; /* of the template */
    int level;
    const ex_transform *joints; /* the scan's pose */
    ex_mesh *const *meshes;     /* of the scan: one, or unmerged views */
    int mesh_count;
    const unsigned char *covered; /* [vertices of the level], 0: outside the part; NULL: all inside */
    double reach;                 /* metres */
    double noise;                 /* metres, of the scanner */
    const ex_tasks *tasks;
} ex_displacement_map_def;

/*
 * Makes a map by casting rays along the limit normals, outwards and inwards. Takes the nearest hit that faces the same
 * way, is within reach, and is neither behind another sheet of the scan nor closer to another sheet of the template.
 * Hits of several views that agree are averaged, weighted by angle of view and distance from the edge of the view. Left
 * out are patches of a few vertices that stand apart from their surroundings, and places where the displaced surface
 * would fold over (figure 4(b)). A vertex without a hit is a hole: state FILLED and displacement 0. Scans are first
 * smoothed, the more the larger their noise; with a noise of 0 they are not. Half a second for 66 thousand vertices and
 * four views of 30 thousand triangles. Results: ARGUMENT, DATA (a mesh without faces, or with a vertex that is not
 * finite), MEMORY.
 */
EX_API ex_result ex_displacement_map_cast(const ex_displacement_map_def *def, ex_displacement_map **map,
                                          ex_error *error);

/* Options of filling holes. */
typedef struct ex_fill_options {
    int ramp;      /* rings around a hole in which measured values may change; 0: the default, 3 */
    double weight; /* weight of smoothing against measured values; 0: the default as in equation 4, 1 */
    int steps;     /* 0: solve; else this many steps of conjugate gradients from the present values, for pictures of the
                      progress */
    const ex_progress *progress;
} ex_fill_options;

/*
 * Fills the holes of a map: solves equation 4 over a mesh of the level, so that holes become thin plates, in the
 * template's rest pose. lender, optional: a map whose curvature, where measured, replaces what is missing. Vertices
 * outside the part are neither read nor written: the boundary is free. options NULL: a ramp of 3. A part without any
 * hit becomes 0. Results: ARGUMENT (another number of vertices), DATA, MEMORY, SINGULAR.
 */
EX_API ex_result ex_displacement_map_fill(ex_displacement_map *map, const ex_rig *rig, int level,
                                          const ex_displacement_map *lender, const ex_fill_options *options,
                                          ex_error *error);

/* Fills holes with several lending maps [lender_count], each with a weight: uses the mean curvature of those that know
 * a vertex and all of its neighbours. A mean of the maps themselves would not do: it jumps where the next map has a
 * hole. */
EX_API ex_result ex_displacement_map_fill_lent(ex_displacement_map *map, const ex_rig *rig, int level,
                                               const ex_displacement_map *const *lenders, const double *weights,
                                               int lender_count, const ex_fill_options *options, ex_error *error);

/* Bending of a displaced surface across the edges of its filled holes. It is the angle in degrees between the two faces
 * at an edge, one of which has a vertex that was filled or faired while the other has none; likewise for filled (or
 * lent) alone. */
typedef struct ex_displacement_map_rim {
    int edge_count;
    double rms, high;             /* of the map; high: 95th percentile */
    double whole_rms, whole_high; /* of the same edges of the map without holes */
} ex_displacement_map_rim;

/* Measures the bending at the rims of filled holes. whole: the map without its holes, optional. */
EX_API ex_result ex_displacement_map_measure_rim(const ex_rig *rig, int level, const ex_transform *joints,
                                                 const ex_displacement_map *map, const ex_displacement_map *whole,
                                                 ex_displacement_map_rim *rim, ex_error *error);

/* Refits the cage (section 4.3): finds the cage whose limit surface passes through the displaced surface at the control
 * points in that pose (M A = V), and returns it to the reference pose. positions [cage vertices][3] of the new cage. If
 * M is singular (a cage of vertices with three edges each), the cage stays as close as possible to the old one. joints
 * NULL: rest. Results: ARGUMENT (another number of vertices, a rig without that level), DATA, MEMORY. */
EX_API ex_result ex_displacement_map_refit(const ex_rig *rig, int level, const ex_transform *joints,
                                           const ex_displacement_map *map, float *positions, ex_error *error);

/* ---- parts of a map ---- */

/* Sets covered [vertices of the level] to 1 if a face at the vertex belongs to a group named after one of the joints,
 * else to 0. DATA: no face of the rig's mesh is in any of these groups (the joint is named). */
EX_API ex_result ex_displacement_map_covered(const ex_rig *rig, int level, const char *const *joints, int joint_count,
                                             unsigned char *covered, ex_error *error);

/*
 * Computes masks that blend overlapping parts (equation 6, corrected). b is the distance over the template at rest to
 * the edge of the part's cover, x the width of the overlap there (the sum of b for both parts). The mask is (1 + cos((b
 * / x - 1) pi)) / 2, scaled to sum to 1. If only one part covers a vertex, its mask is 1; if none does, all are 0.
 * covered [part_count][vertices of the level], masks likewise.
 */
EX_API ex_result ex_displacement_map_masks(const ex_rig *rig, int level, const unsigned char *const *covered,
                                           int part_count, float *const *masks, ex_error *error);

/* ---- the body ---- */

/* Steps of building a body, which different processes may take. The files are the same as those of one process. */
typedef enum ex_scan_build_step {
    EX_SCAN_BUILD_ALL,     /* everything; maps that are up to date are kept */
    EX_SCAN_BUILD_CAGE,    /* cage.obj and skeleton.glb: once, before the others */
    EX_SCAN_BUILD_MEASURE, /* measured/NAME.ply of some scans: their maps before holes are filled */
    EX_SCAN_BUILD_MAP /* maps/NAME.ply of some scans. Others that lend to them are taken from measured/, or, if they
                         are not there, measured again */
} ex_scan_build_step;

/* Options of building a body. */
typedef struct ex_scan_build_options {
    bool keep_cage; /* true: use the template as it is, without refitting */
    bool force;     /* true: also remake maps that are up to date */
    const ex_progress *progress;
    const ex_tasks *tasks;
    ex_scan_build_step step; /* default: everything */
    const bool *scans;       /* [scan_count of the session] true for those of the step; NULL: all */
} ex_scan_build_options;

/* Coverage of a scan: fractions of what its body part covers. */
typedef struct ex_scan_coverage {
    double hit;    /* measured, including vertices smoothed with a hole */
    double lent;   /* taken from other scans */
    double filled; /* filled holes */
    double rms;    /* of the displacements, metres */
} ex_scan_coverage;

/* A scan that is in the fit but not an example, or not one of a part, and why. */
typedef struct ex_scan_left_out {
    int scan;
    int part;       /* of the session; -1: all of the scan's parts */
    char text[320]; /* a sentence */
} ex_scan_left_out;

/* Report on building a body. */
typedef struct ex_scan_built {
    int vertex_count, face_count; /* of the cage */
    int level, level_count;       /* of subdivision; vertices of the last level */
    double refitted;  /* distance of the cage's surface from the average scans before refitting, and after: */
    double remaining; /* root mean square at the control points, metres */
    int scan_count;
    ex_scan_coverage *scans; /* [session->scan_count] */
    int kept_count;          /* maps that existed already */
    int left_count;
    ex_scan_left_out *left_out; /* [left_count] */
} ex_scan_built;

/*
 * Builds the project body.json from scans, fit.json and template/, with all files it names. These are cage.obj,
 * skeleton.glb, base.ply (the body in the reference), changes/ (each scan's change of it), masks/, figure/ (the effect
 * of the dials); and maps/, from which changes are made. Scans that are not in the fit are left out. A scan whose
 * markers leave a joint of a part open is left out of that part alone. Results: DATA (a scan shows nothing of its only
 * part; a part without scans; two scans of a part with the same pose; a bone that no scan shows; a body that sticks out
 * of the reference scan), FILE (also: a step needs the cage of an earlier one), MEMORY.
 *
 * A step of some scans writes their maps alone, and leaves built->scans of the others at 0. Processes may take such
 * steps at the same time, in one folder or in folders that share the files. A map carries hashes of what it was made
 * from, so it is up to date whatever the clock says.
 */
EX_API ex_result ex_scan_build(const ex_scan_session *session, const ex_scan_fitted *fitted,
                               const ex_scan_build_options *options, ex_scan_built **built, ex_error *error);
EX_API void ex_scan_built_destroy(ex_scan_built *built);

/* ---- measuring the body ---- */

/* Distances of one surface from another, metres. */
typedef struct ex_scan_distance {
    double rms, high; /* high: 95th percentile */
    int count;        /* vertices measured; 0: unknown */
} ex_scan_distance;

/* Errors of a surface in poses that it was not made from, and of alternatives. */
typedef struct ex_scan_surfaces {
    int pose_count;
    ex_scan_distance body;
    ex_scan_distance plain;   /* the template without displacements */
    ex_scan_distance nearest; /* with displacements of the nearest scan of each part alone */
    ex_scan_distance old;     /* with displacements of the reference pose (figure 7's red models) */
} ex_scan_surfaces;

/* Errors of the fit against the truth of a simulated session. */
typedef struct ex_scan_joints {
    double angle_rms, angle_high; /* degrees, over all joints solved for in all scans; the largest, and its joint and
                                     scan: */
    char angle_joint[64], angle_scan[64];
    int left_out;   /* scans that are not examples (ex_scan_built.left_out), excluded here */
    int open_count; /* joints of scans that the markers do not determine, also excluded */
    double place;   /* metres: largest error of a bone's translation across hinge axes, and its joint: */
    char place_joint[64];
    double axis; /* degrees: largest error of an axis, and its joint: */
    char axis_joint[64];
} ex_scan_joints;

/* Correctness of the labels of a simulated session. */
typedef struct ex_scan_labels {
    int sure, right;  /* labels called sure, and the number of those that are right */
    int visible, had; /* visible markers, and the number of those with a sure and right label */
} ex_scan_labels;

/* Report on a body: errors against scans left out, and against the truth if it is known. */
typedef struct ex_scan_report {
    int scan_count;
    double marker_rms;         /* of the fit's sightings, metres */
    char worst_scan[64];       /* scan with the largest error, and */
    double worst_rms;          /* its error */
    double hit, lent, filled;  /* fractions of all maps */
    ex_scan_surfaces left_out; /* cross-validation (leave-one-out): each scan predicted from the others, where it was
                                  measured, along the normals */
    bool truth;                /* true if the session was simulated; the fields below are then known */
    ex_scan_joints joints;
    ex_scan_labels labels;
    ex_scan_surfaces held; /* poses that were never scanned: distance from the body to the true surface */
} ex_scan_report;

/* Measures a session whose body.glb was built. */
EX_API ex_result ex_scan_measure(const ex_scan_session *session, const ex_scan_fitted *fitted, const ex_tasks *tasks,
                                 const ex_progress *progress, ex_scan_report *report, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
