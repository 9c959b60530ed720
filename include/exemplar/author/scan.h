/*
 * exemplar/author/scan.h - reads sessions of range scans, finds and names markers, and fits bones and poses (Allen,
 * Curless, Popovic 2002).
 *
 * A scan session is a folder with a scan.json. Each step reads the files of the previous step and adds its own:
 *
 *   scan.json            contents and settings (ex_scan_session)
 *   scans/NAME.ply       a merged scan, or NAME_1.ply … one per view: meshes or points, with colours for markers
 *   found/NAME.csv       markers found on it:  x,y,z,r,g,b,size,view,strength  (scan markers)
 *   labels/NAME.csv      markers with names:   marker,x,y,z,confidence         (scan label; the reference's by hand)
 *   landmarks/NAME.csv   places that someone clicked:  marker,x,y,z            (scan label, for a template person)
 *   fit.json             bones, axes, markers, and the pose of every scan      (scan fit)
 *   template/cage.obj    the cage at the reference pose, a group per joint     (scan template)
 *   template/body.glb    its skeleton and skin
 *   maps/NAME.ply        displacements of one scan over the refined template   (scan build)
 *   measured/NAME.ply    the same before holes are filled                      (scan build --measure)
 *   look/NAME.png        a scan that was left out or refused, for people to look at (scan carry)
 *   body.json, body.glb  the project and the rig                               (scan build)
 *   truth/               the truth, from a simulated scanner                   (scan simulate)
 *
 * Scans, landmarks, found markers and labels are in the unit and the axes of the scanner's program. In memory, and in
 * all other files, everything is in metres with y up. ex_scan_meshes and the functions after it convert.
 *
 * exemplar/author/scan_body.h makes the body (scan template, carry, build), and exemplar/author/scan_simulate.h scans
 * that are simulated.
 *
 * Plain data, owned by its holder. Different sessions may be used on different threads.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_H
#define EXEMPLAR_AUTHOR_SCAN_H

#include <exemplar/author/kinematics.h>
#include <exemplar/author/mesh.h>

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

#ifdef __cplusplus
}
#endif
#endif
