/*
 * exemplar/author/kinematics.h - skeletons with unknown bones and axes, and fitting them to markers.
 *
 * A kinematics (Allen, Curless, Popovic 2002, section 3) is a tree of joints, each a rotation about a point or about an
 * axis, followed by a translation to the next. Markers are points fixed in a joint's frame. At the reference pose, with
 * no joint turned, all frames are parallel to the world's. ex_kinematics_fit finds translations, axes, the local
 * positions of the markers and the pose of every scan at once, by equation 3 of the paper.
 *
 * Plain data, owned by its holder. Metres, y up, quaternions x y z w. A skeleton faces +z; its left is +x.
 */
#ifndef EXEMPLAR_AUTHOR_KINEMATICS_H
#define EXEMPLAR_AUTHOR_KINEMATICS_H

#include <exemplar/author/base.h>
#include <exemplar/author/markers.h>
#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of joint, with the names that skeleton files use. */
#define EX_FREEDOM_LIST(X)                                                                                             \
    X(EX_FREEDOM_BASE, "base")   /* turns and moves freely: the one root */                                            \
    X(EX_FREEDOM_BALL, "ball")   /* turns freely */                                                                    \
    X(EX_FREEDOM_HINGE, "hinge") /* turns about an axis, which the fit finds */                                        \
    X(EX_FREEDOM_FIXED, "fixed") /* does not move */

typedef enum ex_freedom {
#define EX_FREEDOM_ENUM(name, text) name,
    EX_FREEDOM_LIST(EX_FREEDOM_ENUM)
#undef EX_FREEDOM_ENUM
        EX_FREEDOM_COUNT
} ex_freedom;

/* Returns the name of a kind of joint. */
EX_API const char *ex_freedom_name(ex_freedom freedom);

/* A joint of a kinematics. */
typedef struct ex_kin_joint {
    char *name;
    int parent; /* an earlier joint; -1 for the base, which is joint 0 */
    ex_freedom freedom;
    double translation[3]; /* from the parent joint to this one, at the reference pose; for the base: its position */
    double axis[3];        /* of a hinge, unit length */
    int mirror;            /* an earlier joint; this one's translation and axis are its mirror image in x (with the axis
                              reversed, so that equal angles are mirrored poses); -1: none */
    bool lock_translation; /* true if the fit must not change it */
    bool lock_axis;
    double least, most; /* range of a hinge in degrees; both 0: any. A fit with a prior is drawn back into it */
} ex_kin_joint;

/* A marker, fixed in a joint's frame. */
typedef struct ex_site {
    char *name;
    int joint;
    double local[3];         /* relative to the joint, in its frame */
    bool placed;             /* true if local is known */
    unsigned char colour[3]; /* as painted, sRGB; 0 0 0: unknown */
} ex_site;

/* A skeleton with its markers, whose bones and axes a fit can find. */
typedef struct ex_kinematics {
    char *name;
    int joint_count;
    ex_kin_joint *joints; /* parents first */
    int site_count;
    ex_site *sites;
} ex_kinematics;

/* Releases a kinematics. NULL is fine. */
EX_API void ex_kinematics_destroy(ex_kinematics *kinematics);
/* Copies a kinematics; NULL without memory. */
EX_API ex_kinematics *ex_kinematics_copy(const ex_kinematics *kinematics);
/* Find a joint or a marker by name; -1 if there is none. */
EX_API int ex_kinematics_find_joint(const ex_kinematics *kinematics, const char *name);
EX_API int ex_kinematics_find_site(const ex_kinematics *kinematics, const char *name);

/*
 * Read and write a skeleton file. It is strict JSON: {"exemplar_skeleton": 1, "name": …, "joints": [{"name": "elbow.L",
 * "parent": "shoulder.L", "joint": "hinge", "translation": [x, y, z], "axis": [x, y, z], "mirror": NAME, "lock":
 * ["translation", "axis"], "range": [least, most]}, …], "markers": [{"name", "joint", "at": [x, y, z], "colour": [r, g,
 * b]}, …]}. The path may instead name a built-in skeleton: "upper" (the paper's table 2) or "full" (a whole body, with
 * the usual markers of motion capture).
 */
EX_API ex_result ex_kinematics_read(const char *path, ex_kinematics **kinematics, ex_error *error);
EX_API ex_result ex_kinematics_parse(const char *text, size_t size, const char *name, ex_kinematics **kinematics,
                                     ex_error *error);
EX_API ex_result ex_kinematics_write(const char *path, const ex_kinematics *kinematics, ex_error *error);

/* A pose of a kinematics. The world frame of joint j is that of its parent, moved by its translation, then turned by
 * its rotation. */
typedef struct ex_kin_pose {
    double translation[3];  /* of the base, in the world; replaces its own */
    double (*rotations)[4]; /* [joint_count]; of a hinge: about its axis */
} ex_kin_pose;

/* Computes the world frames of all joints: rotations [joint_count][4] and places [joint_count][3]; each may be NULL. */
EX_API void ex_kin_frames(const ex_kinematics *kinematics, const ex_kin_pose *pose, double (*rotations)[4],
                          double (*places)[3]);
/* Returns the angle of a hinge in degrees, in (-180, 180]. */
EX_API double ex_kin_angle(const ex_kin_joint *joint, const double rotation[4]);

/*
 * Writes a skeleton and poses of it [pose_count] in other frames; everything stays at its place in the world. turns
 * [joint_count]: rotations of the reference from the neutral pose (ex_kin_fit.neutral). to_reference false: leads from
 * frames that are parallel to the world's in the reference to those of the neutral pose, where the reference itself is
 * turned by `turns`; true: leads back. Joints that are no longer mirror images lose their twin. Results: MEMORY.
 */
EX_API ex_result ex_kinematics_rebase(ex_kinematics *kinematics, const double (*turns)[4], bool to_reference,
                                      ex_kin_pose *poses, int pose_count, ex_error *error);

/* ---- the fit ---- */

/* A marker seen in a scan. */
typedef struct ex_sighting {
    int scan, site;
    double position[3];
    double weight; /* usually 1; 0: not fitted, but its error is reported */
} ex_sighting;

/* A scan to fit a pose to. */
typedef struct ex_kin_scan {
    const char *name;         /* for messages */
    const bool *locked;       /* [joint_count]: true for rotations that stay as in start; NULL: none */
    bool base_locked;         /* true if the base's translation and rotation stay too */
    const ex_kin_pose *start; /* NULL: no joint turned, and the base at the markers (see ex_kinematics_fit) */
} ex_kin_scan;

/* Definition of a fit: a starting skeleton, scans, and the markers seen in them. */
typedef struct ex_kin_fit_def {
    const ex_kinematics *kinematics; /* starting values; sites not yet placed get a position from the reference, or from
                                        the scans that see them once their poses are known */
    int scan_count;
    const ex_kin_scan *scans;
    int sighting_count;
    const ex_sighting *sightings;
    int reference;   /* the scan whose rotations, except the base's, stay at its start; -1: none, and local
                        positions are instead held near their start */
    bool free_bones; /* true: bones and axes are found from markers alone, as in the paper, and mirrored joints are
                        exact mirror images; false: with a reference, they are drawn to those of `usual` */
    const ex_kinematics *usual; /* a skeleton in its neutral pose, with the same joints, whose proportions are usual;
                                   its size does not matter. NULL: kinematics */
    const double (*neutral)[4]; /* [joint_count]: rotations of the reference from the neutral pose of `usual`, roughly;
                                   NULL: none is turned */
    bool lock_sites;            /* true: fit only poses and bones */
    bool lock_kinematics;       /* true: fit only poses (and sites, unless locked) */
    double loss;       /* metres: sightings farther away count less and less (a robust loss); 0: the default, 0.02,
                          or three times the noise if that is more; INFINITY: least squares as in the paper */
    bool even;         /* true: all sites have the same weight; false: those that slide on the bone, as skin near a
                          joint does, count less, as found by the fit */
    bool rigid;        /* true: markers are fixed to their bone, as in the paper; false: each may also follow the
                          bone above and one below by a fraction that is found, as skin near joints does (only with a
                          reference) */
    double preference; /* strength of the preference for small translations along hinge axes; 0: the default, 1e-3;
                          below 0: none */
    int iterations;    /* at most; 0: the default, 100 */
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_kin_fit_def;

/* A parameter that the markers do not determine. */
typedef struct ex_kin_open {
    int joint; /* or -1 */
    int site;  /* or -1 */
    int scan;  /* or -1: for all scans */
    char text[200];
} ex_kin_open;

/* Result of a fit: the skeleton, the pose of every scan, and errors. */
typedef struct ex_kin_fit {
    ex_kinematics *kinematics; /* as found */
    int scan_count;
    ex_kin_pose *poses;   /* [scan_count] */
    double *errors;       /* [sighting_count]: distance of each sighting from its prediction; NaN if its site has no
                             place */
    double *site_sigmas;  /* [site_count]: typical distance of a marker from its prediction */
    double rms;           /* over sightings that are not outliers */
    double noise;         /* typical distance, skin motion included: the median of site_sigmas */
    double scale;         /* size of the person in units of `usual`; 1 without a prior */
    double (*neutral)[4]; /* [joint_count]: rotations of the reference from the neutral pose of `usual` */
    int outlier_count;    /* sightings beyond three times the loss */
    int open_count;
    ex_kin_open *opens; /* what the markers do not determine; each text says which value it has instead */
    int iteration_count;
    int unknown_count;
    double seconds;
} ex_kin_fit;

/*
 * Fits bones, axes, markers and poses to the sightings, by Levenberg-Marquardt with the poses eliminated: first with
 * sites locked, then with everything free (section 3.3). Each scan starts at the best-fitting of: the pose found joint
 * by joint from its markers, its start, another scan's pose. The reference's base stays at its start (or at the
 * skeleton's), unless the prior on bones, or with free_bones markers on both sides of mirrored joints, give a better
 * position. Results: DATA (no marker in common with the reference, too few sightings: the scan is named), MEMORY.
 */
EX_API ex_result ex_kinematics_fit(const ex_kin_fit_def *def, ex_kin_fit **fit, ex_error *error);
EX_API void ex_kin_fit_destroy(ex_kin_fit *fit);

#ifdef __cplusplus
}
#endif
#endif
