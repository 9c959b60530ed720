/*
 * exemplar/author/scan.h - from range scans with markers to a body that can be posed (Allen, Curless, Popovic 2002).
 *
 * A scan session is a folder with a scan.json. Each step reads what the one before left there and leaves its own:
 *
 *   scan.json            what there is and what is wanted (ex_scan_session)
 *   scans/NAME.ply       a scan, merged, or NAME_1.ply … one a view; coloured meshes, metres, y up
 *   found/NAME.csv       markers found on it:  x,y,z,r,g,b,size,view,strength  (scan markers)
 *   labels/NAME.csv      markers with names:   marker,x,y,z,confidence         (scan label; the reference's by hand)
 *   fit.json             bones, axes, markers, and the pose of every scan      (scan fit)
 *   template/cage.obj    the cage at the reference pose, a group per joint     (scan template)
 *   template/body.glb    its skeleton and skin
 *   maps/NAME.ply        displacements of one scan over the refined template   (scan build)
 *   body.json, body.glb  the project and the rig                               (scan build)
 *   truth/               what a simulated scanner knows                        (scan simulate)
 *
 * Plain data that belongs to its holder; functions may be called from any thread for different sessions.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_H
#define EXEMPLAR_AUTHOR_SCAN_H

#include <exemplar/author/displacement.h>
#include <exemplar/author/kinematics.h>
#include <exemplar/author/mesh.h>
#include <exemplar/author/project.h>
#include <exemplar/author/scene.h>
#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the session ---- */

/* A body part: scans of it are examples in a space of some joints, and cover some bones. */
typedef struct ex_scan_part {
    char *name;
    int joint_count;
    char **joints; /* whose rotations are its space: what its shape depends on */
    int solve_count;
    char **solves; /* joints that are solved for in its scans, the base always; others stay as in the reference. Those
                      of `joints` where the file does not say */
    int cover_count;
    char **covers; /* joints whose bones' surface its scans show */
} ex_scan_part;

typedef struct ex_scan_entry {
    char *name;
    int part;
    int file_count;
    char **files;     /* relative to the folder: one merged mesh, or one a view */
    bool posed;       /* `pose` says roughly how the body stands: */
    ex_kin_pose pose; /* rotations [joint_count of the skeleton]; translation unused */
} ex_scan_entry;

typedef struct ex_scan_session {
    char *folder;
    char *skeleton;            /* "upper", "full", or a path relative to the folder */
    ex_kinematics *kinematics; /* that skeleton, as it begins, with the markers of `markers` as its sites */
    char *markers;             /* a path: marker,joint,r,g,b[,x,y,z] */
    int reference;             /* a scan: no joint is turned there, and its markers have names */
    int average;               /* the scan in whose pose the template is refitted */
    char *cage;                /* a path of a mesh in place of the generated template; or NULL */
    int levels;                /* of subdivision, 5 */
    double reach; /* metres: hits farther than that from the template do not count, 0.06; after refitting half of it */
    double noise; /* metres, of the scanner: 0.001 */
    int neighbours; /* 8 */
    bool mirror;    /* left parts are right parts, mirrored */
    bool add;       /* true: where parts overlap, what each changes of the reference is added; else they are mixed by
                       masks that sum to 1, as in the paper */
    bool lend;      /* holes are filled with what other scans of the part show there, before they are made smooth */
    int part_count;
    ex_scan_part *parts;
    int scan_count;
    ex_scan_entry *scans;
} ex_scan_session;

/* Reads FOLDER/scan.json, strictly, and the skeleton and the table of markers that it names. */
EX_API ex_result ex_scan_session_read(const char *folder, ex_scan_session **session, ex_error *error);
EX_API ex_result ex_scan_session_write(const ex_scan_session *session, ex_error *error);
EX_API void ex_scan_session_destroy(ex_scan_session *session);
EX_API int ex_scan_session_find(const ex_scan_session *session, const char *scan);
/* folder/kind/NAME.ending, such as found/arm_00.csv; release with free, NULL without memory. */
EX_API char *ex_scan_path(const ex_scan_session *session, const char *kind, const char *name, const char *ending);
/* The scan's meshes [file_count], in the order of its files; each to be destroyed, the array freed. */
EX_API ex_result ex_scan_meshes(const ex_scan_session *session, int scan, ex_mesh ***meshes, ex_error *error);

/* ---- a scanner to test with ---- */

typedef struct ex_scan_simulation {
    const ex_rig *rig;
    int level;                /* of the rig's surface */
    const ex_pose *poses;     /* [pose_count] */
    const char *const *names; /* [pose_count] */
    int pose_count;
    int view_count;     /* from the directions around y, 4 */
    double pitch[2];    /* metres between samples, across and along: 0.005 and 0.002 */
    double noise;       /* metres, along the ray: 0.001 */
    double grazing;     /* degrees between ray and surface below which a sample is dropped: 15 */
    bool merged;        /* one mesh a scan in place of one a view */
    double marker_size; /* metres across: 0.012 */
    double missing; /* part of the markers that were rubbed off, per scan: 0 (what no view sees is missing anyway) */
    double stray;   /* spots of paint that are no markers, as a part of their number: 0 */
    uint64_t seed;
} ex_scan_simulation;

EX_API ex_scan_simulation ex_scan_simulation_default(void);

/* Where a marker is painted. */
typedef struct ex_paint {
    char *name;
    int joint;               /* of the rig */
    int triangle;            /* of the rig's level, and where in it */
    double place[3];         /* barycentric */
    unsigned char colour[3]; /* sRGB */
} ex_paint;

/* What a scan of one pose gave. */
typedef struct ex_scan_shot {
    int mesh_count;
    ex_mesh **meshes;    /* coloured, one a view or one */
    int *rows, *columns; /* [mesh_count] of each view's grid; 0 where merged */
    int paint_count;
    double (*places)[3]; /* [paint_count]: where the markers are, in the world */
    bool *visible;       /* [paint_count]: painted, and seen by a view well enough */
} ex_scan_shot;

/* Chooses places for `count` markers a joint on the rig's rest surface, far apart, and colours (of eight) that differ
 * among neighbours. *paints [*paint_count]: each name to be freed, and the array. */
EX_API ex_result ex_scan_paint(const ex_rig *rig, int level, int count, ex_paint **paints, int *paint_count,
                               ex_error *error);
EX_API void ex_paints_free(ex_paint *paints, int paint_count);
/* Places that someone chose: a table marker,joint,r,g,b,x,y,z, each put to the nearest point of the rest surface. */
EX_API ex_result ex_paints_read(const char *path, const ex_rig *rig, int level, ex_paint **paints, int *paint_count,
                                ex_error *error);
/* Depends on simulation, paints and the pose's name (without names: its number) alone. Results: ARGUMENT (a number
 * that no scanner has: named), DATA (a rig without a surface), LIMIT (a pitch too fine), MEMORY. */
EX_API ex_result ex_scan_shoot(const ex_scan_simulation *simulation, int pose, const ex_paint *paints, int paint_count,
                               ex_scan_shot **shot, ex_error *error);
EX_API void ex_scan_shot_destroy(ex_scan_shot *shot);

/*
 * A table of poses that says what is scanned: as ex_pose_table, with the columns `name` (of the scan; scan_1 and so on
 * without it) and `part` (a body part; "held": never scanned, only written down as truth).
 */
typedef struct ex_scan_poses {
    ex_pose_table table;
    char **names; /* [pose_count], all different, each fit to be the name of a file */
    char **parts; /* [pose_count]; "" where the table does not say */
    char *text;   /* the file */
    size_t size;
} ex_scan_poses;
EX_API ex_result ex_scan_poses_read(const char *path, const ex_rig *rig, ex_scan_poses *poses, ex_error *error);
EX_API void ex_scan_poses_free(ex_scan_poses *poses);

/* What is true of a rig's skeleton in some poses, as a fit should find it. */
typedef struct ex_scan_truth {
    ex_kinematics *kinematics; /* frames parallel to the world's in the reference; no sites */
    int *joints;               /* [kinematics->joint_count] of the rig */
    int pose_count;
    ex_kin_pose *poses;     /* [pose_count] */
    double (*rotations)[4]; /* [pose_count][joint_count] of the frames in the world */
    double (*places)[3];    /* likewise */
} ex_scan_truth;

/*
 * The rig's skeleton as a kinematics. A joint that one axis of the rig reads as an angle, and that no pose turns
 * otherwise, is a hinge, and so is its mirror image; one that neither moves skin nor is turned in any pose is fixed;
 * others are ball joints. Pairs by name (ex_mirror_name) that are mirrored in x at the reference are marked so.
 * Results: DATA (no skeleton, several roots that move the skin, joints without a name or with one name), MEMORY.
 */
EX_API ex_result ex_scan_truth_create(const ex_rig *rig, const ex_pose *poses, int pose_count, int reference,
                                      ex_scan_truth **truth, ex_error *error);
EX_API void ex_scan_truth_destroy(ex_scan_truth *truth);
/* Bones as someone measures them with a tape: off by up to so many metres, axes by so many degrees; left as right.
 * Fixed joints stay, and are locked: nothing tells where they are. */
EX_API void ex_scan_disturb(ex_kinematics *kinematics, double metres, double degrees, uint64_t seed);

/*
 * A whole session from a rig: what is described at the top, and in truth/
 *
 *   scanner.json         what the scanner was told, and what of; another run must agree with it
 *   poses.csv            the table of poses, as given
 *   skeleton.json        the skeleton as it is, with the markers in their places
 *   fit.json             the same with the pose of every scan, and of those that were held back: as ex_scan_fitted
 *   frames.json          {"joints": [name], "poses": [{"name", "rotations": [[x, y, z, w]], "places": [[x, y, z]]}]}:
 *                        the joints' frames in the world, parallel to it in the reference
 *   markers/NAME.csv     marker,x,y,z,visible: of every marker, seen or not
 *   surface/NAME.ply     the rig's surface, of poses that were held back
 *
 * Files that are there are kept, so that an interrupted run goes on where it stopped; scan.json comes last. Markers are
 * fresh in the reference: none is rubbed off there.
 */
typedef struct ex_scan_simulate_def {
    const char *folder;
    ex_scan_simulation simulation; /* with names */
    const int *parts;              /* [pose_count] which part a pose is scanned for; -1: held back */
    int part_count;                /* 0: one part of all joints, "body" */
    const ex_scan_part *part_list; /* solves NULL: its joints */
    int paint_count;
    const ex_paint *paints;
    int reference;    /* the pose in which no joint is turned; -1: the first that is scanned at rest */
    int average;      /* -1: the reference */
    double rough;     /* degrees: scan.json says how the body stands, so far off; below 0: it does not say */
    bool mirror;      /* as in the session */
    bool surfaces;    /* truth/surface of all poses */
    bool force;       /* write over what is there */
    const char *text; /* the table of poses [size]; or NULL: it is not kept */
    size_t size;
    const ex_progress *progress; /* or NULL; false stops */
    const ex_tasks *tasks;       /* scans side by side */
} ex_scan_simulate_def;

typedef struct ex_scan_simulated {
    int scan_count, held_count;
    int kept_count;      /* scans that were there already */
    double seen;         /* markers seen in a scan, on average over those made now; 0 where there is none */
    char reference[256]; /* its name */
} ex_scan_simulated;

/* Results: as ex_scan_shoot, ex_scan_truth_create, and DATA (no pose to scan; none at rest; an unknown joint in a part;
 * a folder that holds something else), FILE. Stopped by progress: FILE, and what is whole stays. */
EX_API ex_result ex_scan_simulate(const ex_scan_simulate_def *def, ex_scan_simulated *made, ex_error *error);

/* ---- markers ---- */

typedef struct ex_found_marker {
    double position[3]; /* centroid */
    double colour[3];   /* sRGB, 0 to 255, of its middle */
    double size;        /* metres across */
    int view;           /* the file of the scan it was found on; the best where several show it */
    double strength;    /* how much it stands out from the skin around */
} ex_found_marker;

typedef struct ex_find_options {
    double size;        /* metres across that a marker has: 0.012 */
    double least, most; /* of the size: what is accepted, 0.6 and 1.6 */
    double threshold; /* how far from the skin's colour, as a distance in OKLab, 0 to 1; 0: found from the mesh, 0.06 to
                         0.15 */
} ex_find_options;

EX_API ex_find_options ex_find_options_default(void);

/*
 * Found on coloured meshes of one scan: what several views show is joined. options NULL: the default ones. *markers
 * [*count], the one seen best first; release with free. Left out are spots of fewer than four samples, those seen very
 * slantwise, and those that the edge of a view cuts so that no disc of the given size tells where their middle is.
 * Vertices with numbers that are not finite count as not there. Time and memory are linear in the size of the meshes:
 * one to two seconds and 200 MB for a million vertices. Results: ARGUMENT, DATA (a mesh without faces or without
 * colours, or too coarse; of several views the one is named), MEMORY.
 */
EX_API ex_result ex_find_markers(ex_mesh *const *meshes, int mesh_count, const ex_find_options *options,
                                 ex_found_marker **markers, int *count, ex_error *error);

/* found/NAME.csv. Reading: size, view and strength may be missing, and *markers is released with free. Writing rounds
 * to micrometres and whole colours. */
EX_API ex_result ex_found_read(const char *path, ex_found_marker **markers, int *count, ex_error *error);
EX_API ex_result ex_found_write(const char *path, const ex_found_marker *markers, int count, ex_error *error);

/* What a found marker was recognised as. */
typedef struct ex_label {
    int marker;        /* of the found ones */
    int site;          /* of the kinematics, or -1: none fits; no site twice in a scan */
    double confidence; /* 0 to 1; sure from EX_LABEL_SURE on */
    int other;         /* the site that fits second best, or -1 */
} ex_label;
#define EX_LABEL_SURE 0.9

typedef struct ex_label_def {
    const ex_kinematics *kinematics; /* those of its sites that are placed can be recognised */
    int found_count;
    const ex_found_marker *found;
    const int *known; /* [found_count] sites that are known already (named by hand), or -1; NULL: none */
    int start_count;
    const ex_kin_pose *starts;  /* poses to begin from, the likeliest first: a rough one, those of other scans; how
                                   the base is turned there counts, where it is does not */
    const bool *solved;         /* [joint_count] joints that may be turned; NULL: all */
    const double *site_sigmas;  /* [site_count] metres that a marker usually is off its place; NULL: sigma for all */
    const double (*colours)[3]; /* [site_count] as the scanner sees them, sRGB from 0 to 255; NULL: as painted */
    double sigma;               /* metres that a marker may be off its bone: 0.015 */
    double slack;               /* metres that a joint may be off where the bones have it: 0.03 before they are
                                   fitted, some millimetres afterwards */
    double tilt;                /* degrees that an axis may be off, likewise: 12 */
    double colour;              /* how far colours vary from scan to scan, in OKLab: 0.04 */
    bool settled;               /* false; true: the first start is nearly right, nothing else is looked for */
} ex_label_def;

EX_API ex_label_def ex_label_def_default(void);

/*
 * Recognises the markers of one scan, by colour, by distances within a rigid part, and by where the skeleton can bring
 * them: no pose has to be known. labels [found_count]; pose: as the sure ones put it, rotations [joint_count] the
 * caller's, or NULL; *evidence, or NULL: the logarithm of how much likelier it is that these are the markers than that
 * they are spots anywhere; below 10 hardly any were recognised. Results: DATA (positions that are not finite), MEMORY.
 */
EX_API ex_result ex_label_markers(const ex_label_def *def, ex_label *labels, ex_kin_pose *pose, double *evidence,
                                  ex_error *error);

/* Labelled markers of a scan, as labels/NAME.csv holds them. */
typedef struct ex_labelled {
    char *name; /* of the marker */
    double position[3];
    double confidence; /* 1 by hand */
    bool by_hand;      /* the file says nothing about confidence: never overwritten */
} ex_labelled;
/* marker,x,y,z[,confidence]: a line without confidence was named by hand. No name twice. */
EX_API ex_result ex_labels_read(const char *path, ex_labelled **labelled, int *count, ex_error *error);
EX_API ex_result ex_labels_write(const char *path, const ex_labelled *labelled, int count, ex_error *error);
EX_API void ex_labels_free(ex_labelled *labelled, int count);

/* A scan among others that are labelled together. */
typedef struct ex_label_scan {
    const char *name; /* for sentences */
    int found_count;
    const ex_found_marker *found;
    int given_count;
    const ex_labelled *given; /* labels that stand: by hand, or of an earlier run. Names of the kinematics' sites */
    bool done;                /* nothing is to be added to them */
    const bool *solved;       /* as above */
    const ex_kin_pose *start; /* a rough pose, or NULL */
} ex_label_scan;

typedef struct ex_label_scans_def {
    const ex_kinematics *kinematics;
    int scan_count;
    const ex_label_scan *scans;
    int reference; /* a scan that has labels; no joint is turned in it */
    int rounds;    /* 3: label, fit the bones and the markers' places to what is sure, label again */
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_label_scans_def;

/*
 * labels[scan] [found_count], the arrays the caller's; evidence [scan_count] or NULL. Markers that the reference does
 * not show are found from scans that do, where colour and bone leave no doubt. Results: DATA (the reference has no
 * labels, or a name is not known: the nearest is suggested), MEMORY.
 */
EX_API ex_result ex_label_scans(const ex_label_scans_def *def, ex_label *const *labels, double *evidence,
                                ex_error *error);

typedef struct ex_scan_label_options {
    const bool *redo; /* [scan_count] scans whose automatic labels are made again; NULL: those that have none yet */
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_scan_label_options;

/* A marker whose name is not sure. */
typedef struct ex_doubt {
    int scan;
    int site;  /* that fits best */
    int other; /* or this one; -1: none, or not known any more */
    double position[3];
    double confidence;
} ex_doubt;

typedef struct ex_scan_labelling {
    int scan_count;
    int *found; /* [scan_count] markers */
    int *sure;  /* of them with a name that is sure, those named by hand among them */
    int *by_hand;
    bool *kept; /* labelled before, and left alone */
    int doubt_count;
    ex_doubt *doubts; /* by scan */
} ex_scan_labelling;

/*
 * Labels all scans of a session from found/ and from labels/ of the reference: writes labels/NAME.csv of each, and
 * labels/doubtful.csv (scan,marker,x,y,z,confidence,other). What was named by hand stays, also in scans that are done
 * again. Results: DATA (the reference has no labels; an unknown marker or one named twice), FILE (found/NAME.csv is
 * missing), MEMORY.
 */
EX_API ex_result ex_scan_label(const ex_scan_session *session, const ex_scan_label_options *options,
                               ex_scan_labelling **labels, ex_error *error);
EX_API void ex_scan_labelling_destroy(ex_scan_labelling *labels);

/* Takes labels that someone made of a scan: rows of the file replace those of the same marker and, within a few
 * millimetres, of the same place. *count: how many were taken. Results: as ex_labels_read; an unknown marker. */
EX_API ex_result ex_scan_label_take(const ex_scan_session *session, int scan, const char *path, int *count,
                                    ex_error *error);

/*
 * A page to name markers on pictures of scans [count], from all sides, in any browser; everything is in the one file.
 * It gives the CSV of a scan, which is saved in labels/ or taken by ex_scan_label_take. Results: FILE, DATA, MEMORY.
 */
EX_API ex_result ex_scan_label_page(const ex_scan_session *session, const int *scans, int count, const char *path,
                                    const ex_progress *progress, const ex_tasks *tasks, ex_error *error);

/* ---- what was fitted ---- */

/* fit.json: the kinematics found, and the poses of scans by name. */
typedef struct ex_scan_fitted {
    ex_kinematics *kinematics;
    int scan_count;
    char **names;
    ex_kin_pose *poses;
    double *rms; /* [scan_count] of the sightings, metres */
    bool *opens; /* [scan_count][joint_count]: rotations that the markers do not determine; NULL: none */
} ex_scan_fitted;

EX_API ex_result ex_scan_fitted_read(const char *path, ex_scan_fitted **fitted, ex_error *error);
EX_API ex_result ex_scan_fitted_write(const char *path, const ex_scan_fitted *fitted, ex_error *error);
EX_API void ex_scan_fitted_destroy(ex_scan_fitted *fitted);

typedef struct ex_scan_fit_options {
    double sure; /* labels of less confidence are left out; 0: 0.9 */
    double loss; /* ex_kin_fit_def */
    bool even, rigid;
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_scan_fit_options;

/*
 * Fits the session's skeleton to the labels of all scans that have some: joints that a scan's part does not solve for
 * stay as in the reference. A skeleton that stands elsewhere than the reference's markers, or is of another size, is
 * first brought there. fit: what was found besides, its scans being those of fitted; to be destroyed, too. Results:
 * DATA (a reference without labels, no marker in common with it: the scan is named; an unknown marker), FILE, MEMORY.
 */
EX_API ex_result ex_scan_fit(const ex_scan_session *session, const ex_scan_fit_options *options,
                             ex_scan_fitted **fitted, ex_kin_fit **fit, ex_error *error);

/* ---- the template ---- */

typedef struct ex_template_options {
    const ex_mesh *cage; /* given, at the reference pose; NULL: generated from the skeleton */
    const ex_mesh *const
        *scans; /* [scan_count] of the reference pose, to make rings as wide as the body; may be none */
    int scan_count;
} ex_template_options;

/* A cage that follows the skeleton: rings in the frames of bones, and half-way frames at joints, which dual quaternion
 * skinning with halves of both bones gives. */
typedef struct ex_template {
    ex_mesh *cage;   /* at the reference pose; a group per joint: the bone that a face belongs to */
    ex_scene *scene; /* its skeleton (joints as in the kinematics, rest rotations none) and skin */
} ex_template;

EX_API ex_result ex_template_create(const ex_kinematics *kinematics, const ex_template_options *options,
                                    ex_template **made, ex_error *error);
EX_API void ex_template_destroy(ex_template *made);
/* A rig of the template without layers, dual quaternion skinning, its levels all on the limit surface. */
EX_API ex_result ex_template_rig(const ex_template *made, int levels, ex_rig **rig, ex_error *error);
/* Control points at which other than four faces meet, or on a boundary other than two. */
EX_API int ex_template_extraordinary_count(const ex_template *made);
/* The pose of such a rig: the joints' local transforms [ex_rig_joint_count]. */
EX_API void ex_template_pose(const ex_kinematics *kinematics, const ex_kin_pose *pose, ex_transform *joints);

/*
 * The template of a session: of the mesh that it names, or that `cage` names in its place (a path; NULL: none), or
 * generated for the reference scan, whose meshes are moved to where the skeleton is. Results: as ex_template_create,
 * and those of reading.
 */
EX_API ex_result ex_scan_template(const ex_scan_session *session, const ex_scan_fitted *fitted, const char *cage,
                                  ex_template **made, ex_error *error);
/* template/cage.obj and template/body.glb of the session's folder. */
EX_API ex_result ex_scan_template_write(const ex_scan_session *session, const ex_template *made, ex_error *error);

/* A dial that changes the figure (figure 8): what a layer of forms with direct weights adds at weight 1. */
typedef struct ex_template_dial {
    char *name; /* "girth", or the joint at the lower end of a bone, without its side: "wrist" for forearms */
    int joint;  /* that joint, of a pair the one that comes first; -1: girth */
    double (
        *deltas)[3]; /* [cage vertices]: girth: as far again from the bone's axis; else the bone is a metre longer */
    double (*shifts)[3]; /* [joint_count]: by how much the joints are elsewhere */
} ex_template_dial;

typedef struct ex_template_dials {
    int count;
    ex_template_dial *dials;
} ex_template_dials;

/* Girth, and one for every bone that has a length, of a pair both. Rings on a bone spread in proportion, and what is
 * beyond moves along. The template may be one that was changed since, or read from its files. */
EX_API ex_result ex_template_dials_create(const ex_kinematics *kinematics, const ex_template *made,
                                          ex_template_dials **dials, ex_error *error);
EX_API void ex_template_dials_destroy(ex_template_dials *dials);

/* ---- displacement maps ---- */

typedef struct ex_displacement_map_def {
    const ex_rig *rig; /* of the template */
    int level;
    const ex_transform *joints; /* the scan's pose */
    ex_mesh *const *meshes;     /* of the scan: one, or views that were not merged */
    int mesh_count;
    const unsigned char *covered; /* [vertices of the level], 0: outside of the part; NULL: all inside */
    double reach;                 /* metres */
    double noise;                 /* metres, of the scanner */
    const ex_tasks *tasks;
} ex_displacement_map_def;

/*
 * Rays along the limit normals, outwards and inwards: the nearest hit that faces the same way, is not beyond reach and
 * does not lie behind another sheet of the scan, nor nearer to another of the template; of several views those that
 * agree, averaged by how squarely they saw it and how far from the edge of what they saw. Patches of a few vertices
 * that stand apart from what is around them, and places where the displaced surface would be turned over (figure 4(b)),
 * are left out. What is not hit is a hole: state FILLED and displacement 0. Scans are smoothed before, the more the
 * larger their noise; with a noise of 0 they are not. Half a second for 66 thousand vertices and four views of 30
 * thousand triangles. Results: ARGUMENT, DATA (a mesh without faces, or with a vertex that is not finite), MEMORY.
 */
EX_API ex_result ex_displacement_map_cast(const ex_displacement_map_def *def, ex_displacement_map **map,
                                          ex_error *error);

typedef struct ex_fill_options {
    int ramp;      /* rings around a hole in which measured values may give way; 0: 3 */
    double weight; /* how much smoothing counts against what was measured; 0: as in equation 4, 1 */
    int steps; /* 0: solved; else so many steps of conjugate gradients from what is there, for pictures of the way */
    const ex_progress *progress;
} ex_fill_options;

/*
 * Equation 4 over a mesh of the level: holes become thin plates, in the template's rest pose. lender: a map whose
 * curvature, where it was measured, stands in for what is missing, or NULL. Vertices outside of the part are neither
 * read nor written: what ends there ends freely. options NULL: a ramp of 3. A part that shows nothing at all becomes 0.
 * Results: ARGUMENT (another number of vertices), DATA, MEMORY, SINGULAR.
 */
EX_API ex_result ex_displacement_map_fill(ex_displacement_map *map, const ex_rig *rig, int level,
                                          const ex_displacement_map *lender, const ex_fill_options *options,
                                          ex_error *error);

/* The same with several maps that lend [lender_count], each with its weight: where some know a place and all around it,
 * the mean of their curvatures. A mean of the maps themselves would not do: it jumps where the next of them has a hole.
 */
EX_API ex_result ex_displacement_map_fill_lent(ex_displacement_map *map, const ex_rig *rig, int level,
                                               const ex_displacement_map *const *lenders, const double *weights,
                                               int lender_count, const ex_fill_options *options, ex_error *error);

/* How much a displaced surface turns across the edges of its filled holes: the angles in degrees between the faces on
 * both sides of an edge, one of which has a vertex that was filled or faired and the other has not, or likewise for
 * filled (or lent) alone. */
typedef struct ex_displacement_map_rim {
    int edge_count;
    double rms, high;             /* of the map; high: 95 of 100 are below */
    double whole_rms, whole_high; /* of the same edges of the unharmed map */
} ex_displacement_map_rim;

/* whole: the map without its holes, or NULL. */
EX_API ex_result ex_displacement_map_measure_rim(const ex_rig *rig, int level, const ex_transform *joints,
                                                 const ex_displacement_map *map, const ex_displacement_map *whole,
                                                 ex_displacement_map_rim *rim, ex_error *error);

/* Section 4.3: the cage whose limit surface runs through the displaced surface at the control points in that pose (M A
 * = V), brought back to the reference pose. positions [cage vertices][3] of the new cage. Where M cannot tell (a cage
 * of vertices with three edges each), the cage stays as near to what it was as may be. joints NULL: rest. Results:
 * ARGUMENT (another number of vertices, a rig without that level), DATA, MEMORY. */
EX_API ex_result ex_displacement_map_refit(const ex_rig *rig, int level, const ex_transform *joints,
                                           const ex_displacement_map *map, float *positions, ex_error *error);

/* ---- parts of a map ---- */

/* covered [vertices of the level] becomes 1 where a face at the vertex belongs to a group that is named by one of the
 * joints, else 0. DATA: no face of the rig's mesh is in any such group (the joint is named). */
EX_API ex_result ex_displacement_map_covered(const ex_rig *rig, int level, const char *const *joints, int joint_count,
                                             unsigned char *covered, ex_error *error);

/*
 * Masks by which parts that overlap are blended (equation 6, corrected): b is the distance over the template at rest to
 * the edge of what the part covers, x the width of the overlap there (b and that of the other part together), and
 * (1 + cos((b / x - 1) pi)) / 2, scaled to sum to 1. Where one part covers a vertex alone its mask is 1; where none
 * does all are 0. covered [part_count][vertices of the level], masks likewise.
 */
EX_API ex_result ex_displacement_map_masks(const ex_rig *rig, int level, const unsigned char *const *covered,
                                           int part_count, float *const *masks, ex_error *error);

/* ---- the body ---- */

typedef struct ex_scan_build_options {
    bool keep_cage; /* the template as it is: no refitting */
    bool force;     /* maps that are newer than what they are made of are made again, too */
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_scan_build_options;

/* What became of a scan: parts of what its body part covers. */
typedef struct ex_scan_coverage {
    double hit;    /* measured, and so left alone or made smooth with a hole */
    double lent;   /* from other scans */
    double filled; /* holes */
    double rms;    /* of the displacements, metres */
} ex_scan_coverage;

/* A scan that is in the fit and yet no example, and why. */
typedef struct ex_scan_left_out {
    int scan;
    char text[320]; /* a sentence */
} ex_scan_left_out;

typedef struct ex_scan_built {
    int vertex_count, face_count; /* of the cage */
    int level, level_count;       /* vertices of the last level */
    double refitted;  /* how far the cage's surface was from the average scans before refitting, and after: */
    double remaining; /* roots of mean squares at the control points, metres */
    int scan_count;
    ex_scan_coverage *scans; /* [session->scan_count] */
    int kept_count;          /* maps that were there already */
    int left_count;
    ex_scan_left_out *left_out; /* [left_count] */
} ex_scan_built;

/*
 * From scans, fit.json and template/ to the project body.json with all that it names: cage.obj, skeleton.glb, base.ply
 * (the body in the reference), changes/ (what scans change of it), masks/, figure/ (what the dials do); and maps/,
 * which changes are made from. Scans that are not in the fit are left out. Results: DATA (a scan shows nothing of its
 * part; a part without scans; two scans of a part that stand alike), FILE, MEMORY.
 */
EX_API ex_result ex_scan_build(const ex_scan_session *session, const ex_scan_fitted *fitted,
                               const ex_scan_build_options *options, ex_scan_built **built, ex_error *error);
EX_API void ex_scan_built_destroy(ex_scan_built *built);

/* ---- what it is worth ---- */

/* Distances of one surface from another, metres. */
typedef struct ex_scan_distance {
    double rms, high; /* high: 95 of 100 are below */
    int count;        /* vertices measured; 0: not known */
} ex_scan_distance;

/* A surface in poses that it was not made from, and what it is compared with. */
typedef struct ex_scan_surfaces {
    int pose_count;
    ex_scan_distance body;
    ex_scan_distance plain;   /* the template without displacements */
    ex_scan_distance nearest; /* with those of the nearest scan of each part alone */
    ex_scan_distance old;     /* with those of the reference pose (figure 7's red models) */
} ex_scan_surfaces;

/* How far the fit is from the truth of a simulated session. */
typedef struct ex_scan_joints {
    double angle_rms, angle_high; /* degrees, over all joints that were solved for in all scans; the largest, */
    char angle_joint[64], angle_scan[64];
    int left_out;   /* scans that are no examples (ex_scan_built.left_out), and are not in these */
    int open_count; /* joints of scans that the markers do not determine, likewise */
    double place;   /* metres: the largest error of a bone's translation across hinge axes, and which; */
    char place_joint[64];
    double axis; /* degrees: the largest error of an axis, and which */
    char axis_joint[64];
} ex_scan_joints;

typedef struct ex_scan_labels {
    int sure, right;  /* labels called sure, and those of them that are right */
    int visible, had; /* markers that were to be seen, and those of them that are called sure, and rightly */
} ex_scan_labels;

typedef struct ex_scan_report {
    int scan_count;
    double marker_rms;         /* of the fit's sightings, metres */
    char worst_scan[64];       /* by that, and */
    double worst_rms;          /* how much it is there */
    double hit, lent, filled;  /* parts of all maps */
    ex_scan_surfaces left_out; /* each scan predicted from the others, where it was measured, along the normals */
    bool truth;                /* the session was simulated, and what follows is known: */
    ex_scan_joints joints;
    ex_scan_labels labels;
    ex_scan_surfaces held; /* poses that were never scanned, from the body to the true surface */
} ex_scan_report;

/* Of a session whose body.glb was built. */
EX_API ex_result ex_scan_measure(const ex_scan_session *session, const ex_scan_fitted *fitted, const ex_tasks *tasks,
                                 const ex_progress *progress, ex_scan_report *report, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
