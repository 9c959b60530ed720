/*
 * exemplar/author/kinematics.h - skeletons whose bones and axes are not known yet, and finding them from markers.
 *
 * A kinematics (Allen, Curless, Popovic 2002, section 3) is a tree of joints, each turned about a point, or about an
 * axis, and followed by a translation to the next; markers are points fixed in a joint's frame. At the reference pose,
 * where no joint is turned, all frames are parallel to the world's. ex_kinematics_fit finds translations, axes, the
 * local positions of the markers and the pose of every scan at once, by equation 3 of the paper.
 *
 * Plain data that belongs to its holder. Metres, y up, quaternions x y z w. A skeleton stands facing +z, its left is
 * +x.
 */
#ifndef EXEMPLAR_AUTHOR_KINEMATICS_H
#define EXEMPLAR_AUTHOR_KINEMATICS_H

#include <exemplar/author/base.h>
#include <exemplar/author/markers.h>
#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a joint may do, with the names that skeleton files use. */
#define EX_FREEDOM_LIST(X)                                                                                             \
    X(EX_FREEDOM_BASE, "base")   /* turn and move freely: the one root */                                              \
    X(EX_FREEDOM_BALL, "ball")   /* turn freely */                                                                     \
    X(EX_FREEDOM_HINGE, "hinge") /* turn about an axis, which is found */                                              \
    X(EX_FREEDOM_FIXED, "fixed") /* nothing */

typedef enum ex_freedom {
#define EX_FREEDOM_ENUM(name, text) name,
    EX_FREEDOM_LIST(EX_FREEDOM_ENUM)
#undef EX_FREEDOM_ENUM
        EX_FREEDOM_COUNT
} ex_freedom;

EX_API const char *ex_freedom_name(ex_freedom freedom);

typedef struct ex_kin_joint {
    char *name;
    int parent; /* a joint before this one; -1 for the base, which is joint 0 */
    ex_freedom freedom;
    double translation[3]; /* from the parent joint to this one, at the reference pose; of the base: where it is */
    double axis[3];        /* of a hinge, of length 1 */
    int mirror;            /* the joint before it of which translation and axis are the mirror image in x (the axis is
                              turned back, so that equal angles are mirrored poses); -1: none */
    bool lock_translation; /* these stay as they are */
    bool lock_axis;
    double least, most; /* degrees that a hinge turns; both 0: any. Only where to begin, and for warnings */
} ex_kin_joint;

/* A marker, fixed in a joint's frame. */
typedef struct ex_site {
    char *name;
    int joint;
    double local[3];         /* relative to the joint, in its frame */
    bool placed;             /* local says something */
    unsigned char colour[3]; /* as painted, sRGB; 0 0 0: not known */
} ex_site;

typedef struct ex_kinematics {
    char *name;
    int joint_count;
    ex_kin_joint *joints; /* parents first */
    int site_count;
    ex_site *sites;
} ex_kinematics;

EX_API void ex_kinematics_destroy(ex_kinematics *kinematics);
/* NULL without memory. */
EX_API ex_kinematics *ex_kinematics_copy(const ex_kinematics *kinematics);
EX_API int ex_kinematics_find_joint(const ex_kinematics *kinematics, const char *name);
EX_API int ex_kinematics_find_site(const ex_kinematics *kinematics, const char *name);

/*
 * A skeleton file, strict JSON: {"exemplar_skeleton": 1, "name": …, "joints": [{"name": "elbow.L", "parent":
 * "shoulder.L", "joint": "hinge", "translation": [x, y, z], "axis": [x, y, z], "mirror": NAME, "lock": ["translation",
 * "axis"], "range": [least, most]}, …], "markers": [{"name", "joint", "at": [x, y, z], "colour": [r, g, b]}, …]}. In
 * place of a path, the name of a skeleton that comes with the program: "upper" (the paper's table 2) or "full" (a
 * whole body, with the usual markers of motion capture).
 */
EX_API ex_result ex_kinematics_read(const char *path, ex_kinematics **kinematics, ex_error *error);
EX_API ex_result ex_kinematics_parse(const char *text, size_t size, const char *name, ex_kinematics **kinematics,
                                     ex_error *error);
EX_API ex_result ex_kinematics_write(const char *path, const ex_kinematics *kinematics, ex_error *error);

/* A pose of a kinematics: the world frame of joint j is that of its parent, moved by its translation, turned by its
 * rotation. */
typedef struct ex_kin_pose {
    double translation[3];  /* of the base, in the world: in place of its own */
    double (*rotations)[4]; /* [joint_count]; of a hinge about its axis */
} ex_kin_pose;

/* World frames of all joints: rotations [joint_count][4] and places [joint_count][3], each may be NULL. */
EX_API void ex_kin_frames(const ex_kinematics *kinematics, const ex_kin_pose *pose, double (*rotations)[4],
                          double (*places)[3]);
/* The degrees that a hinge is turned by, in (-180, 180]. */
EX_API double ex_kin_angle(const ex_kin_joint *joint, const double rotation[4]);

/* ---- the fit ---- */

/* A marker seen in a scan. */
typedef struct ex_sighting {
    int scan, site;
    double position[3];
    double weight; /* 1; 0: is not fitted, but its error is told */
} ex_sighting;

typedef struct ex_kin_scan {
    const char *name;         /* for sentences */
    const bool *locked;       /* [joint_count]: rotations that stay as in start; NULL: none */
    bool base_locked;         /* the base's translation and rotation stay, too */
    const ex_kin_pose *start; /* NULL: no joint turned, and the base where the markers are (see ex_kinematics_fit) */
} ex_kin_scan;

typedef struct ex_kin_fit_def {
    const ex_kinematics *kinematics; /* where to begin; sites that are not placed get a place from the reference, or
                                        from the scans that see them once their poses are known */
    int scan_count;
    const ex_kin_scan *scans;
    int sighting_count;
    const ex_sighting *sightings;
    int reference;        /* the scan in which all rotations but the base's are those of its start; -1: none, and local
                             positions are held near where they begin instead */
    bool lock_sites;      /* only poses and bones */
    bool lock_kinematics; /* only poses (and sites, unless locked) */
    double loss;          /* metres beyond which a sighting counts less and less (a robust loss); 0: 0.02; INFINITY:
                             least squares as in the paper */
    bool even;            /* all sites weigh the same; else those that slide on the bone, as skin near a joint does,
                             count less, by what the fit finds */
    bool rigid;           /* markers are fixed to their bone, as in the paper; else each may follow the bone above and
                             one below by a share that is found: skin near joints does (with a reference only) */
    double preference;    /* how strongly translations along hinge axes stay small; 0: 1e-3; below 0: not at all */
    int iterations;       /* at most; 0: 100 */
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_kin_fit_def;

/* Something that the markers do not determine. */
typedef struct ex_kin_open {
    int joint; /* or -1 */
    int site;  /* or -1 */
    int scan;  /* or -1: for all scans */
    char text[160];
} ex_kin_open;

typedef struct ex_kin_fit {
    ex_kinematics *kinematics; /* as found */
    int scan_count;
    ex_kin_pose *poses;  /* [scan_count] */
    double *errors;      /* [sighting_count]: distance of each sighting from where it is predicted; NaN where its site
                            has no place */
    double *site_sigmas; /* [site_count]: how far a marker usually is from where it is predicted */
    double rms;          /* over sightings that are not outliers */
    int outlier_count;   /* sightings beyond three times the loss */
    int open_count;
    ex_kin_open *opens; /* what is not determined, and was held where it began */
    int iteration_count;
    int unknown_count;
    double seconds;
} ex_kin_fit;

/*
 * Levenberg-Marquardt with the poses eliminated: first with sites locked, then with all free (section 3.3). Scans
 * begin at poses found joint by joint from what they show, at their start or at another scan's pose, whichever fits
 * best. The reference's base stays at its start (or where the skeleton's is), unless markers on both sides of mirrored
 * joints say better. Results: DATA (no
 * marker in common with the reference, too few sightings to say anything: the scan is named), MEMORY.
 */
EX_API ex_result ex_kinematics_fit(const ex_kin_fit_def *def, ex_kin_fit **fit, ex_error *error);
EX_API void ex_kin_fit_destroy(ex_kin_fit *fit);

#ifdef __cplusplus
}
#endif
#endif
