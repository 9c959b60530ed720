/*
 * exemplar/author/scan_simulate.h - simulates range scans of a rig, for tests: a session whose truth is known.
 *
 * Plain data, owned by its holder. Different sessions may be used on different threads.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_SIMULATE_H
#define EXEMPLAR_AUTHOR_SCAN_SIMULATE_H

#include <exemplar/author/kinematics.h>
#include <exemplar/author/mesh.h>
#include <exemplar/author/project.h>
#include <exemplar/author/scan.h>
#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
