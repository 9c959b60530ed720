/*
 * exemplar/author/scan.h - makes a posable body from range scans with markers (Allen, Curless, Popovic 2002).
 *
 * A scan session is a folder with a scan.json. Each step reads the files of the previous step and adds its own:
 *
 *   scan.json            contents and settings (ex_scan_session)
 *   scans/NAME.ply       a merged scan, or NAME_1.ply … one per view: meshes or points, with colours for markers
 *   landmarks/NAME.csv   points that someone clicked:  marker,x,y,z
 *   found/NAME.csv       markers found on it:  x,y,z,r,g,b,size,view,strength  (scan markers)
 *   labels/NAME.csv      markers with names:   marker,x,y,z,confidence         (scan label; the reference's by hand)
 *   landmarks/NAME.csv   places that a person clicked:  marker,x,y,z           (scan label, for a template person)
 *   fit.json             bones, axes, markers, and the pose of every scan      (scan fit)
 *   template/cage.obj    the cage at the reference pose, a group per joint     (scan template)
 *   template/body.glb    its skeleton and skin
 *   measured/NAME.ply    the same before holes are filled                      (scan build --measure)
 *   maps/NAME.ply        displacements of one scan over the refined template   (scan build)
 *   look/NAME.png        a scan that was left out or refused, for people to look at (scan carry)
 *   body.json, body.glb  the project and the rig                               (scan build)
 *   truth/               the truth, from a simulated scanner                   (scan simulate)
 *
 * Scans, landmarks, found markers and labels are in the unit and the axes of the scanner's program. In memory, and in
 * all other files, everything is in metres with y up. ex_scan_meshes and the functions after it convert.
 *
 * Plain data, owned by its holder. Different sessions may be used on different threads.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_H
#define EXEMPLAR_AUTHOR_SCAN_H

#include <exemplar/author/articulate.h>
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

/* A body part: its scans are examples in a space of some joints, and cover some bones. */
typedef struct ex_scan_part {
    char *name;
    int joint_count;
    char **joints; /* joints whose rotations form its space: its shape depends on them */
    int solve_count;
    char **solves; /* joints solved for in its scans, always including the base; others stay as in the reference.
                      Default: `joints` */
    int cover_count;
    char **covers; /* joints whose bones' surface its scans show */
} ex_scan_part;

/* A scan of a session. */
typedef struct ex_scan_entry {
    char *name;
    int part_count;
    int *parts; /* [part_count] the parts that it is an example of */
    int file_count;
    char **files; /* relative to the folder: one merged mesh, or one per view */
    bool held;    /* true: a template person is carried to it, but the body is made without it; a report predicts it */
    bool posed;   /* true if `pose` gives a rough pose of the body */
    ex_kin_pose pose; /* rotations [joint_count of the skeleton]; translation unused */
    bool follows;     /* true: the next frame of a sequence after the scan before it, from whose pose it starts */
} ex_scan_entry;

/* Scans with more vertices are thinned for a template person, whose skin has 13 000. */
#define EX_SCAN_POINTS 400000

/* A scan session: its scans, body parts and settings. */
typedef struct ex_scan_session {
    char *folder;
    char *skeleton;            /* "upper", "full", or a path relative to the folder */
    ex_kinematics *kinematics; /* that skeleton, at its starting values, with the markers of `markers` as its sites */
    char *markers;             /* path of a table: marker,joint,r,g,b[,x,y,z] */
    int reference;             /* the scan with no joint turned and with named markers */
    int average;               /* the scan at whose pose the template is refitted */
    char *person;              /* the template person: "human", or the path of a rig; NULL: a cage */
    char *cage;                /* path of a mesh that replaces the generated cage; or NULL */
    double unit;               /* metres of a unit in files of scans, landmarks, found markers and labels; 0: 1 */
    char up[3];                /* the axis that is up in them: "x", "y", "z", "-x", "-y" or "-z"; "": "y" */
    bool unit_found, up_found; /* true: scan.json does not say it; found from `axes_from` */
    bool up_open;              /* true: it cannot be found, and y is taken */
    char axes_from[160];       /* what unit or axis was found from, for a message; "" if nothing told them */
    int points;                /* scans with more vertices, in all views together, are thinned; 0: never; default
                                  EX_SCAN_POINTS with a template person, else 0 */
    int levels;                /* of subdivision; default 5 */
    double reach;   /* metres: hits farther from the template are ignored; default 0.06; half of it after refitting */
    double noise;   /* metres, of the scanner; default 0.001 */
    int neighbours; /* default 8 */
    bool mirror;    /* true: left parts are mirrored right parts */
    bool add;       /* true: where parts overlap, their changes of the reference are added; false: they are blended with
                       masks that sum to 1, as in the paper */
    bool lend;      /* true: holes are filled from other scans of the part before they are smoothed */
    int part_count;
    ex_scan_part *parts;
    int scan_count;
    ex_scan_entry *scans;
} ex_scan_session;

/* Read and write a session. Reads FOLDER/scan.json strictly, and the skeleton and the table of markers that it names.
 */
EX_API ex_result ex_scan_session_read(const char *folder, ex_scan_session **session, ex_error *error);
EX_API ex_result ex_scan_session_write(const ex_scan_session *session, ex_error *error);
EX_API void ex_scan_session_destroy(ex_scan_session *session);
/* Finds a scan by name; -1 if there is none. */
EX_API int ex_scan_session_find(const ex_scan_session *session, const char *scan);
/* Returns folder/kind/NAME.ending, such as found/arm_00.csv; release with free, NULL without memory. */
EX_API char *ex_scan_path(const ex_scan_session *session, const char *kind, const char *name, const char *ending);

/* ---- its files, in metres with y up ---- */

/* Convert a point from the unit and axes of the session's files, and to them. */
EX_API void ex_scan_from_files(const ex_scan_session *session, double point[3]);
EX_API void ex_scan_to_files(const ex_scan_session *session, double point[3]);
/*
 * Reads a mesh of a scan. In a session with a template person, points without faces get faces between neighbours, and
 * normals if they have none, which are found from the points around each. Results: as ex_mesh_read, and DATA (too few
 * points, or a number that is not finite).
 */
EX_API ex_result ex_scan_mesh_read(const ex_scan_session *session, const char *path, ex_mesh **mesh, ex_error *error);
/* Reads the scan's meshes [file_count], in the order of its files, as ex_scan_mesh_read; thinned together if they have
 * more than `points` of the session. Destroy each and free the array. */
EX_API ex_result ex_scan_meshes(const ex_scan_session *session, int scan, ex_mesh ***meshes, ex_error *error);

/*
 * Thins meshes [count] together to at most `most` vertices: one, at their mean, for all in a cell of a grid that face
 * roughly the same way. Faces between different cells stay. *spacing, optional: the size of a cell, metres; 0 if there
 * were not too many. Vertices that are not finite, texture coordinates, groups and normals of faces are dropped.
 * O(vertices) a pass, about four passes.
 * Results: DATA (faces that are out of range), MEMORY.
 */
EX_API ex_result ex_scan_thin(ex_mesh *const *meshes, int count, int most, double *spacing, ex_error *error);

/* ---- a simulated scanner, for tests ---- */

/* Settings of a simulated scanner. */
typedef struct ex_scan_simulation {
    const ex_rig *rig;
    int level;                /* of the rig's surface */
    const ex_pose *poses;     /* [pose_count] */
    const char *const *names; /* [pose_count] */
    int pose_count;
    int view_count;     /* directions around y; default 4 */
    double pitch[2];    /* metres between samples, across and along; default 0.005 and 0.002 */
    double noise;       /* metres, along the ray; default 0.001 */
    double grazing;     /* degrees: samples with a smaller angle between ray and surface are dropped; default 15 */
    bool merged;        /* true: one mesh per scan in place of one per view */
    double marker_size; /* metres across; default 0.012 */
    double missing; /* fraction of the markers rubbed off per scan, in addition to those that no view sees; default 0 */
    double stray;   /* number of paint spots that are not markers, as a fraction of the markers; default 0 */
    uint64_t seed;
} ex_scan_simulation;

/* Returns the defaults. */
EX_API ex_scan_simulation ex_scan_simulation_default(void);

/* A painted marker. */
typedef struct ex_paint {
    char *name;
    int joint;               /* of the rig */
    int triangle;            /* of the rig's level */
    double place[3];         /* barycentric, in the triangle */
    unsigned char colour[3]; /* sRGB */
} ex_paint;

/* The simulated scan of one pose. */
typedef struct ex_scan_shot {
    int mesh_count;
    ex_mesh **meshes;    /* coloured, one per view or a single one */
    int *rows, *columns; /* [mesh_count] of each view's grid; 0 if merged */
    int paint_count;
    double (*places)[3]; /* [paint_count]: positions of the markers, in the world */
    bool *visible;       /* [paint_count]: true if painted, and seen well enough by a view */
} ex_scan_shot;

/* Chooses `count` places per joint for markers on the rig's rest surface, far apart, and colours (out of eight) that
 * differ between neighbours. *paints [*paint_count]: free each name, and the array. */
EX_API ex_result ex_scan_paint(const ex_rig *rig, int level, int count, ex_paint **paints, int *paint_count,
                               ex_error *error);
EX_API void ex_paints_free(ex_paint *paints, int paint_count);
/* Reads chosen places from a table marker,joint,r,g,b,x,y,z and moves each to the nearest point of the rest surface. */
EX_API ex_result ex_paints_read(const char *path, const ex_rig *rig, int level, ex_paint **paints, int *paint_count,
                                ex_error *error);
/* Simulates a scan of one pose. The result depends only on simulation, paints and the pose's name (without names: its
 * number). Results: ARGUMENT (a value impossible for a scanner: named), DATA (a rig without a surface), LIMIT (a pitch
 * too fine), MEMORY. */
EX_API ex_result ex_scan_shoot(const ex_scan_simulation *simulation, int pose, const ex_paint *paints, int paint_count,
                               ex_scan_shot **shot, ex_error *error);
EX_API void ex_scan_shot_destroy(ex_scan_shot *shot);

/*
 * A table of poses to scan: as ex_pose_table, with the columns `name` (of the scan; default scan_1 and so on) and
 * `part` (a body part; "held": never scanned, only recorded as truth).
 */
typedef struct ex_scan_poses {
    ex_pose_table table;
    char **names; /* [pose_count], all different, each valid as a file name */
    char **parts; /* [pose_count]; "" if the table does not say */
    char *text;   /* the file */
    size_t size;
} ex_scan_poses;
/* Read a table of poses to scan, and release its arrays. */
EX_API ex_result ex_scan_poses_read(const char *path, const ex_rig *rig, ex_scan_poses *poses, ex_error *error);
EX_API void ex_scan_poses_free(ex_scan_poses *poses);

/* The true skeleton of a rig in some poses, as a fit should find it. */
typedef struct ex_scan_truth {
    ex_kinematics *kinematics; /* frames parallel to the world's in the reference; no sites */
    int *joints;               /* [kinematics->joint_count] of the rig */
    int pose_count;
    ex_kin_pose *poses;     /* [pose_count] */
    double (*rotations)[4]; /* [pose_count][joint_count] of the frames in the world */
    double (*places)[3];    /* likewise */
} ex_scan_truth;

/*
 * Makes a kinematics of the rig's skeleton. A joint that one axis of the rig reads as an angle, and that no pose turns
 * otherwise, is a hinge, and so is its mirror image. A joint that neither moves skin nor turns in any pose is fixed.
 * Others are ball joints. Pairs by name (ex_mirror_name) that are mirrored in x at the reference are marked as
 * mirrored. Results: DATA (no skeleton, several roots that move the skin, joints without a name or with the same name),
 * MEMORY.
 */
EX_API ex_result ex_scan_truth_create(const ex_rig *rig, const ex_pose *poses, int pose_count, int reference,
                                      ex_scan_truth **truth, ex_error *error);
EX_API void ex_scan_truth_destroy(ex_scan_truth *truth);
/* Disturbs bones as if measured with a tape: translations by up to `metres`, axes by up to `degrees`; the same on left
 * and right. Fixed joints are unchanged, and locked, since nothing determines their positions. */
EX_API void ex_scan_disturb(ex_kinematics *kinematics, double metres, double degrees, uint64_t seed);

/*
 * Definition of a simulated session. It has the files listed at the top, and in truth/
 *
 *   scanner.json         the scanner's settings and input; a later run must agree with them
 *   poses.csv            the table of poses, as given
 *   skeleton.json        the true skeleton, with the markers in their places
 *   fit.json             the same with the poses of all scans and of held-back poses: as ex_scan_fitted
 *   frames.json          {"joints": [name], "poses": [{"name", "rotations": [[x, y, z, w]], "places": [[x, y, z]]}]}:
 *                        the joints' world frames, parallel to the world in the reference
 *   markers/NAME.csv     marker,x,y,z,visible: of every marker, seen or not
 *   surface/NAME.ply     the rig's surface at held-back poses
 *
 * Existing files are kept, so that an interrupted run can continue; scan.json is written last. No marker is rubbed off
 * in the reference.
 */
typedef struct ex_scan_simulate_def {
    const char *folder;
    ex_scan_simulation simulation; /* with names */
    const int *parts;              /* [pose_count] the part that the pose is scanned for; -1: held back */
    int part_count;                /* 0: one part of all joints, "body" */
    const ex_scan_part *part_list; /* solves NULL: the part's joints */
    int paint_count;
    const ex_paint *paints;
    int reference;    /* the pose with no joint turned; -1: the first that is scanned at rest */
    int average;      /* -1: the reference */
    double rough;     /* degrees: error of the rough poses in scan.json; below 0: it has none */
    bool mirror;      /* as in the session */
    bool surfaces;    /* true: write truth/surface for all poses */
    bool force;       /* true: overwrite existing files */
    const char *text; /* the table of poses [size]; NULL: it is not kept */
    size_t size;
    const ex_progress *progress; /* optional; returning false stops */
    const ex_tasks *tasks;       /* optional: scans run in parallel */
} ex_scan_simulate_def;

/* Report on a simulated session. */
typedef struct ex_scan_simulated {
    int scan_count, held_count;
    int kept_count;      /* scans that existed already */
    double seen;         /* mean number of markers seen in a scan, over those made now; 0 if none was */
    char reference[256]; /* its name */
} ex_scan_simulated;

/* Simulates a whole session from a rig. Results: as ex_scan_shoot, ex_scan_truth_create, and DATA (no pose to scan;
 * none at rest; an unknown joint in a part; a folder with other contents), FILE. If stopped by progress: FILE, and
 * complete files stay. */
EX_API ex_result ex_scan_simulate(const ex_scan_simulate_def *def, ex_scan_simulated *made, ex_error *error);

/* ---- markers ---- */

/* A marker found on a scan, without a name yet. */
typedef struct ex_found_marker {
    double position[3]; /* centroid */
    double colour[3];   /* sRGB, 0 to 255, at its middle */
    double size;        /* metres across */
    int view;           /* the file of the scan it was found on; the best if several show it */
    double strength;    /* contrast with the skin around it */
} ex_found_marker;

/* Options of finding markers. */
typedef struct ex_find_options {
    double size;        /* diameter of a marker in metres; default 0.012 */
    double least, most; /* accepted range, in multiples of size; default 0.6 and 1.6 */
    double threshold;   /* least distance from the skin's colour in OKLab, 0 to 1; 0: chosen from the mesh, 0.06 to
                           0.15 */
} ex_find_options;

/* Returns the defaults. */
EX_API ex_find_options ex_find_options_default(void);

/*
 * Finds markers on the coloured meshes of one scan; a marker seen in several views is found once. options NULL: the
 * defaults. *markers [*count], the best seen first; release with free. Left out are spots of fewer than four samples,
 * those seen at a very oblique angle, and those cut by the edge of a view such that no disc of the given size
 * determines their middle. Vertices that are not finite are ignored. Time and memory are linear in the size of the
 * meshes: one to two seconds and 200 MB for a million vertices. Results: ARGUMENT, DATA (a mesh without faces or
 * without colours, or too coarse; with several views, the one is named), MEMORY.
 */
EX_API ex_result ex_find_markers(ex_mesh *const *meshes, int mesh_count, const ex_find_options *options,
                                 ex_found_marker **markers, int *count, ex_error *error);

/* Read and write found/NAME.csv. Reading: size, view and strength are optional; release *markers with free. Writing
 * rounds to micrometres and whole colours. */
EX_API ex_result ex_found_read(const char *path, ex_found_marker **markers, int *count, ex_error *error);
EX_API ex_result ex_found_write(const char *path, const ex_found_marker *markers, int count, ex_error *error);
/* The same for a session, whose files have its unit and axes. */
EX_API ex_result ex_scan_found_read(const ex_scan_session *session, const char *path, ex_found_marker **markers,
                                    int *count, ex_error *error);
EX_API ex_result ex_scan_found_write(const ex_scan_session *session, const char *path, const ex_found_marker *markers,
                                     int count, ex_error *error);

/* The site that a found marker was recognised as. */
typedef struct ex_label {
    int marker;        /* number among the found ones */
    int site;          /* of the kinematics, or -1: none fits; each site at most once per scan */
    double confidence; /* 0 to 1; sure from EX_LABEL_SURE */
    int other;         /* the site that fits second best, or -1 */
} ex_label;
#define EX_LABEL_SURE 0.9

/* Definition of recognising the markers of one scan. */
typedef struct ex_label_def {
    const ex_kinematics *kinematics; /* only its placed sites can be recognised */
    int found_count;
    const ex_found_marker *found;
    const int *known; /* [found_count] sites already known (named by hand), or -1; NULL: none */
    int start_count;
    const ex_kin_pose *starts;  /* starting poses, the likeliest first: a rough one, those of other scans; only the
                                   base's rotation counts, not its position */
    const bool *solved;         /* [joint_count] true for joints that may turn; NULL: all */
    const double *site_sigmas;  /* [site_count] typical distance of a marker from its place, metres; NULL: sigma for
                                   all */
    const double (*colours)[3]; /* [site_count] as the scanner sees them, sRGB from 0 to 255; NULL: as painted */
    double sigma;               /* metres: deviation of a marker from its bone; default 0.015 */
    double slack;               /* metres: deviation of a joint from the bones' prediction; default 0.03 before they are
                                   fitted, a few millimetres afterwards */
    double tilt;                /* degrees: deviation of an axis, likewise; default 12 */
    double colour;              /* variation of colours between scans, in OKLab; default 0.04 */
    bool settled;               /* default false; true: the first start is nearly right, and no other is tried */
} ex_label_def;

/* Returns the defaults. */
EX_API ex_label_def ex_label_def_default(void);

/*
 * Recognises the markers of one scan, by colour, by distances within a rigid part, and by the positions that the
 * skeleton allows; no pose has to be known. labels [found_count]. pose, optional: the pose given by the sure labels;
 * the caller provides rotations [joint_count]. *evidence, optional: log of the likelihood ratio of these markers to
 * random spots; below 10 hardly any were recognised. Results: DATA (positions that are not finite), MEMORY.
 */
EX_API ex_result ex_label_markers(const ex_label_def *def, ex_label *labels, ex_kin_pose *pose, double *evidence,
                                  ex_error *error);

/* A labelled marker of a scan, as in labels/NAME.csv. */
typedef struct ex_labelled {
    char *name; /* of the marker */
    double position[3];
    double confidence; /* 1 if by hand */
    bool by_hand;      /* true if the file gives no confidence: never overwritten */
} ex_labelled;
/* Read and write labels/NAME.csv: marker,x,y,z[,confidence]. A line without confidence was named by hand. Names are
 * unique. */
EX_API ex_result ex_labels_read(const char *path, ex_labelled **labelled, int *count, ex_error *error);
EX_API ex_result ex_labels_write(const char *path, const ex_labelled *labelled, int count, ex_error *error);
EX_API void ex_labels_free(ex_labelled *labelled, int count);
/* The same for labels and landmarks of a session, whose files have its unit and axes. */
EX_API ex_result ex_scan_labels_read(const ex_scan_session *session, const char *path, ex_labelled **labelled,
                                     int *count, ex_error *error);
EX_API ex_result ex_scan_labels_write(const ex_scan_session *session, const char *path, const ex_labelled *labelled,
                                      int count, ex_error *error);

/* One of several scans that are labelled together. */
typedef struct ex_label_scan {
    const char *name; /* for messages */
    int found_count;
    const ex_found_marker *found;
    int given_count;
    const ex_labelled *given; /* labels that are final: by hand, or from an earlier run. Names of the kinematics'
                                 sites */
    bool done;                /* true if none are to be added */
    const bool *solved;       /* see ex_label_def */
    const ex_kin_pose *start; /* a rough pose, optional */
} ex_label_scan;

/* Definition of labelling several scans together. */
typedef struct ex_label_scans_def {
    const ex_kinematics *kinematics;
    int scan_count;
    const ex_label_scan *scans;
    int reference; /* a scan that has labels, with no joint turned */
    int rounds;    /* default 3: label, fit bones and marker positions to the sure labels, label again */
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_label_scans_def;

/*
 * Labels several scans together. labels[scan] [found_count]: arrays from the caller; evidence [scan_count], optional.
 * Markers that the reference does not show are found from scans that do, if colour and bone leave no doubt. Results:
 * DATA (the reference has no labels, or a name is unknown: the nearest is suggested), MEMORY.
 */
EX_API ex_result ex_label_scans(const ex_label_scans_def *def, ex_label *const *labels, double *evidence,
                                ex_error *error);

/* Options of labelling a session. */
typedef struct ex_scan_label_options {
    const bool *redo; /* [scan_count] true for scans whose automatic labels are made again; NULL: only those that have
                         none yet */
    const ex_progress *progress;
    const ex_tasks *tasks;
    const struct ex_scan_fitted *known; /* with `only`: a fit of some scans of the session */
    const bool *only; /* [scan_count] true for scans that are labelled, each alone, with the skeleton of `known`; then
                         labels/doubtful.csv is left to a later call. NULL: all scans together */
} ex_scan_label_options;

/* A marker with an uncertain name. */
typedef struct ex_doubt {
    int scan;
    int site;  /* best fit */
    int other; /* second best; -1: none, or no longer known */
    double position[3];
    double confidence;
} ex_doubt;

/* Report on labelling a session. */
typedef struct ex_scan_labelling {
    int scan_count;
    int *found; /* [scan_count] number of markers */
    int *sure;  /* number of sure names, including those given by hand */
    int *by_hand;
    bool *kept; /* true if labelled before, and left alone */
    int doubt_count;
    ex_doubt *doubts; /* in the order of scans */
    int *not_found;   /* [scan_count] number of sure names at places where no marker was found: those given by hand */
} ex_scan_labelling;

/*
 * Labels all scans of a session from found/ and from labels/ of the reference: writes labels/NAME.csv of each, and
 * labels/doubtful.csv (scan,marker,x,y,z,confidence,other). Names given by hand are kept, even in scans that are
 * labelled again. Results: DATA (the reference has no labels; an unknown marker or one named twice), FILE
 * (found/NAME.csv is missing), MEMORY.
 */
EX_API ex_result ex_scan_label(const ex_scan_session *session, const ex_scan_label_options *options,
                               ex_scan_labelling **labels, ex_error *error);
EX_API void ex_scan_labelling_destroy(ex_scan_labelling *labels);

/* Report on a table of names given by hand. */
typedef struct ex_scan_taken {
    bool landmarks; /* true: filed in landmarks/; false: in labels/ */
    int scan_count; /* of the session */
    int *taken;     /* [scan_count] rows of each scan */
    int *totals;    /* [scan_count] names that it has now; 0 for scans without rows */
} ex_scan_taken;

/*
 * Files a table that someone made, as the pages give it: [scan,]marker,x,y,z[,confidence] goes to labels/NAME.csv, and
 * [scan,]landmark,x,y,z to landmarks/NAME.csv. So does a table of markers in a session with a template person, if all
 * names are landmarks of the template and none is a marker. scan: of rows without the column; -1: there must be one.
 * Rows replace those of the same name, and of markers those within a few millimetres. A row without a place removes the
 * name. A row of markers without a name says that the spot there is no marker: no_markers.csv keeps that, and
 * ex_scan_label never names the spot. Nothing is written if a row is wrong. Results: DATA (an unknown scan or marker, a
 * name twice in a scan), FORMAT, FILE, MEMORY.
 */
EX_API ex_result ex_scan_take(const ex_scan_session *session, int scan, const char *path, ex_scan_taken **taken,
                              ex_error *error);
EX_API void ex_scan_taken_destroy(ex_scan_taken *taken);

/*
 * Writes a web page for naming markers on pictures of scans [count] from all sides, in any browser; the one file is
 * self-contained. It asks about doubtful markers first, each with a picture of the spot and of the reference. It
 * produces a CSV for ex_scan_take. Results: FILE, DATA, MEMORY.
 */
EX_API ex_result ex_scan_label_page(const ex_scan_session *session, const int *scans, int count, const char *path,
                                    const ex_progress *progress, const ex_tasks *tasks, ex_error *error);

/*
 * Writes a web page for clicking the landmarks of the session's template person on scans [count], which can be turned;
 * the one file is self-contained, for any browser with WebGL. Scans are thinned; landmarks that they have are shown. It
 * produces a CSV for ex_scan_take. Results: FILE, DATA (no template person; a template without landmarks), MEMORY.
 */
EX_API ex_result ex_scan_landmark_page(const ex_scan_session *session, const int *scans, int count, const char *path,
                                       const ex_progress *progress, ex_error *error);

/* ---- the fit ---- */

/* The contents of fit.json: the fitted kinematics, and the poses of scans by name. */
typedef struct ex_scan_fitted {
    ex_kinematics *kinematics;
    int scan_count;
    char **names;
    ex_kin_pose *poses;
    double *rms; /* [scan_count] of the sightings, metres */
    bool *opens; /* [scan_count][joint_count]: true for rotations that the markers do not determine; NULL: none */
    double (*neutral)[4]; /* [joint_count]: rotations of the reference from the neutral pose of the session's skeleton;
                             NULL: none is turned */
    int left_count;       /* scans that do not fit the others, and are left out */
    char **left_names, **left_reasons; /* [left_count] */
} ex_scan_fitted;

/* Read, write and release fit.json. */
EX_API ex_result ex_scan_fitted_read(const char *path, ex_scan_fitted **fitted, ex_error *error);
EX_API ex_result ex_scan_fitted_write(const char *path, const ex_scan_fitted *fitted, ex_error *error);
EX_API void ex_scan_fitted_destroy(ex_scan_fitted *fitted);
/* Copies a fit with all frames and rotations measured from the skeleton's neutral pose (arms out to the sides) instead
 * of from the reference scan. */
EX_API ex_result ex_scan_fitted_neutral(const ex_scan_fitted *fitted, ex_scan_fitted **made, ex_error *error);

/* Options of fitting a session. */
typedef struct ex_scan_fit_options {
    double sure; /* labels of less confidence are ignored; 0: the default, 0.9 */
    double loss; /* see ex_kin_fit_def */
    bool even, rigid, free_bones;
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_scan_fit_options;

/*
 * Fits the session's skeleton to the labels of all scans that have some. Joints that a scan's part does not solve for
 * stay as in the reference. A skeleton at another position or of another size than the reference's markers is first
 * moved and scaled, and turned joint by joint if it is in another pose. Scans that do not fit the others are left out
 * (fitted->left_names). fit: details of the fit, with the same scans as fitted; destroy it too. Results: DATA (a
 * reference without labels, no marker in common with it: the scan is named; an unknown marker; a result that no person
 * has; left and right exchanged), FILE, MEMORY.
 */
EX_API ex_result ex_scan_fit(const ex_scan_session *session, const ex_scan_fit_options *options,
                             ex_scan_fitted **fitted, ex_kin_fit **fit, ex_error *error);

/* Report on a round of a fit in blocks. */
typedef struct ex_scan_fit_round {
    int round;   /* counting from 1 */
    double cost; /* of all scans and priors */
    double gain; /* by how much of it the last step lowered it; below 0: the step is taken back */
    bool done;   /* true: it gains nothing more, and fit.json is written */
} ex_scan_fit_round;

/*
 * Fits a session in blocks of 100 scans, for processes that share files alone. fit.json must be there: the fit of some
 * scans, with the reference. A round is ex_scan_fit_block for every block, in any order and at the same time, then
 * ex_scan_fit_sum; a few rounds lead to the fit of all scans, rigid and even (ex_scan_fit_options). Then fit.json is
 * written, and further calls do nothing. Files are in blocks/. A block of n shared unknowns takes 4 n^2 bytes. Results:
 * DATA (as ex_scan_fit; fit.json without the reference), FILE (no fit.json; a block is missing), MEMORY.
 */
EX_API int ex_scan_fit_block_count(const ex_scan_session *session);
/* Makes one block. *done: the fit has ended, and there is nothing to do. */
EX_API ex_result ex_scan_fit_block(const ex_scan_session *session, int block, bool *done, ex_error *error);
/* Sums all blocks, and takes a step or ends. */
EX_API ex_result ex_scan_fit_sum(const ex_scan_session *session, ex_scan_fit_round *round, ex_error *error);

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
 * Carries a template person to every scan of a session, and registers it. Starts from landmarks/NAME.csv (landmark,
 * x,y,z: names of the template's landmarks, or others that several scans have) and from labels/NAME.csv. The reference
 * comes first: afterwards, its markers have places on the template. Writes template/body.glb, the person in the neutral
 * pose with skin weights; registered/NAME.ply, the template on every scan, grey as sure as each vertex is; and
 * fit.json, skeleton and poses. Every scan is first posed alone: those that are not of this person are left out, with a
 * reason, and drawn to look/NAME.png, as is a reference that is refused. A scan that `follows` starts from the pose of
 * the one before it, and needs no points. Results: DATA (the
 * reference has fewer than six landmarks or bones with markers, or does not fit), FILE, MEMORY.
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
 * part; a part without scans; two scans of a part with the same pose; a bone that no
 * scan shows; a body that sticks out of the reference scan), FILE (also: a step needs the cage of an earlier one),
 * MEMORY.
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
