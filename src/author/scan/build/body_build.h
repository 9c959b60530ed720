/*
 * body_build.h - shared by the files that make a body; private to src/author/scan.
 *
 *   body_build.c     the sequence of steps
 *   body_poses.c    the scans that are examples, and of which parts
 *   body_parts.c    the vertices that a part covers, and masks
 *   body_mirror.c   the other side: joints, rotations, and vertices by the cage's faces
 *   body_cage.c     the cage refitted to average scans
 *   body_measured.c rays cast for a scan, and the maps of what they hit
 *   body_maps.c     a map of displacements for every scan
 *   body_stamps.c   what maps are made from, and whether one is up to date
 *   body_smooth.c   removes the scanner's noise from a map
 *   body_weigh.c    weights of a part's scans at a pose
 *   body_changes.c  the body in the reference, and each scan's change of it
 *   body_sound.c    refuses a surface that sticks out of the reference scan
 *   body_project.c  body.json
 *   body_figure.c   dials for girth and the lengths of bones
 *
 * A body has the session's parts, each a layer, and optionally the mirror images of those that belong to one side. An
 * example is a scan as one of a part; a scan may be an example of several parts.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_BUILD_BODY_BUILD_H
#define EXEMPLAR_AUTHOR_SCAN_BUILD_BODY_BUILD_H

#include "author/formats/map_file.h"

#include <exemplar/author/scan.h>
#include <exemplar/author/scan_body.h>

typedef struct exi_body_part {
    const ex_scan_part *part;
    char *name;
    bool mirrored;          /* true for the mirror image of the session's part */
    int side;               /* of paired joints: 1 for +x, -1 for -x; 0 for a part in the middle */
    unsigned char *covered; /* [level vertices] */
    float *mask;            /* [level vertices]: sums to 1 over all parts */
    float *reference;       /* [level vertices]: its displacements with no joint turned; NULL until known */
    float *image; /* [level vertices]: a mirror image's displacements as its scans give them at that pose; its changes
                     are relative to these. NULL: the same as `reference` */
} exi_body_part;

typedef struct exi_body_example {
    int scan;
    int part; /* of the session; -1: left out after all */
} exi_body_example;

typedef struct exi_body_net exi_body_net;       /* body_smooth.c */
typedef struct exi_body_stamps exi_body_stamps; /* body_stamps.c */

/* Maps before holes are filled, in measured/, and after that, in maps/. */
typedef enum exi_body_stage { EXI_BODY_MEASURED, EXI_BODY_FILLED } exi_body_stage;

typedef struct exi_body {
    const ex_scan_session *session;
    const ex_scan_fitted *fitted;
    const ex_scan_build_options *options;
    ex_scan_built *built;
    ex_template template;
    ex_rig *rig; /* of the present template */
    int level, vertex_count;
    int *mirror;       /* [vertex_count] the mirror image of each vertex; NULL if the session mirrors nothing */
    exi_body_net *net; /* neighbours of vertices; NULL until the parts are found */
    int part_count;
    exi_body_part *parts; /* those of the session first, in its order */
    int *poses;           /* [scan_count of the session] number in fitted, -1 for scans that are not examples */
    int example_count;
    exi_body_example *examples; /* in the order of scans, then of their parts */
    double (*frames)[4];        /* [joint_count] of the reference in the neutral pose; NULL until poses are found */
    exi_body_stamps *stamps;    /* NULL until maps are made */
    ex_error *error;
} exi_body;

/* Returns the joint on the other side, or the joint itself. */
int exi_body_other_joint(const exi_body *body, int joint);
/* Computes the mirror image of a rotation in x. */
void exi_body_mirror_rotation(const double q[4], double mirrored[4]);
/* Computes the rotation of the joint on the other side that mirrors this joint's. Both are relative to the reference,
 * which need not be symmetric. */
void exi_body_mirror_joint(const exi_body *body, int joint, const double q[4], double mirrored[4]);
/* Computes the joints [joint_count of the rig] of the neutral pose, in which the body is upright and symmetric. */
ex_result exi_body_neutral(const exi_body *body, ex_transform *joints);
/* Finds the mirror image of each vertex of the last level, by the faces of the cage; its sides may differ in form. */
ex_result exi_body_find_mirror(exi_body *body);

ex_result exi_body_find_parts(exi_body *body);
void exi_body_free_parts(exi_body *body);

/* Builds the net from the template at rest [vertex_count][3]. */
ex_result exi_body_net_make(exi_body *body, const float *places);
void exi_body_net_free(exi_body_net *net);
ex_result exi_body_smooth(const exi_body *body, ex_displacement_map *map);

ex_result exi_body_refit(exi_body *body);

/* body_stamps.c: opens with the template's rig; stamps the maps of all examples with the refitted one. */
ex_result exi_body_open_stamps(exi_body *body);
ex_result exi_body_stamp_maps(exi_body *body);
void exi_body_close_stamps(exi_body *body);
/* Writes the word of an example's map that says what it is made from. Reads the scans, once. */
ex_result exi_body_stamp_text(const exi_body *body, int example, exi_body_stage stage, char text[EXI_MADE_FROM_SIZE]);
/* Finds whether the example's map in that file is up to date. Results: MEMORY. */
ex_result exi_body_is_current(const exi_body *body, int example, exi_body_stage stage, const char *path, bool *current);

/* Makes the scan's map before holes are filled. */
ex_result exi_body_cast(const exi_body *body, int scan, double reach, const unsigned char *covered,
                        ex_displacement_map **map);
/* Finds maps [example_count] of a scan's examples from `first` on, as measured: from measured/ if those are up to date
 * and not made again, else by casting rays. Leaves out examples that show nothing of their part; their map is NULL.
 * write: also writes measured/, before any is left out. *kept, optional: true if they were there. */
ex_result exi_body_measure(exi_body *body, int first, bool again, bool write, ex_displacement_map **maps, bool *kept);
/* Reads the example's map if it is up to date; else *map is NULL. */
ex_result exi_body_read_current(const exi_body *body, int example, exi_body_stage stage, ex_displacement_map **map);
ex_result exi_body_write_map(const exi_body *body, int example, exi_body_stage stage, const ex_displacement_map *map);
/* True if the step is about this scan. */
bool exi_body_is_asked(const exi_body *body, int scan);
/* Makes the maps of these scans. */
ex_result exi_body_make_maps(exi_body *body);
/* Makes measured/ of these scans. */
ex_result exi_body_make_measured(exi_body *body);
/* Returns maps/NAME.ply, or the path in another folder, of a part's scan: NAME.PART.ply if it has several parts.
 * Release with free. */
char *exi_body_map_name(const exi_body_part *part, const char *folder, const ex_scan_entry *scan);
/* Makes the map of the reference scan on a mirror image of a part. Holes take detail from the image of the part's own
 * map `from`; without any hit, or if the reference is not in the fit, the map is that image. smooth false: as it is
 * for refitting. */
ex_result exi_body_other_side(const exi_body *body, const exi_body_part *part, const float *from, double reach,
                              bool smooth, ex_displacement_map **map);

/* Computes weights of a part's examples (equation 5 with the next distance) at rotations [joint_count] of the skeleton,
 * leaving out `without`, into weights [example_count]; 0 for examples of other parts. */
void exi_scan_weigh(const exi_body *body, const exi_body_part *part, double (*rotations)[4], int without,
                    int neighbours, double *weights);

/* Provides maps of examples, NULL if there is none, to functions that need all of them. */
typedef ex_result (*exi_map_source)(void *user, int example, const ex_displacement_map **map);
/* Finds the references of the session's parts and of their mirror images; those of images from sides/ if they are
 * there, else by casting rays. */
ex_result exi_body_find_references(exi_body *body, exi_map_source source, void *user);
/* Returns the weight of a part's changes: more than its mask, since changes are added, not blended. */
double exi_body_change(double mask);
/* Returns what a map of the part contributes at a vertex of the part: a change of the reference, or, without "add", a
 * displacement. */
double exi_body_change_at(const exi_body *body, const exi_body_part *part, const ex_displacement_map *map, int v);
/* Computes the body in the reference [level vertices]. */
void exi_body_base(const exi_body *body, float *base);
/* Writes base.ply, the body in the reference, and changes/, each scan's change of its part's reference. */
ex_result exi_body_write_changes(exi_body *body);

/* Checks the body in the reference against its scan, after the references are found. DATA: it is no body. */
ex_result exi_body_check_sound(const exi_body *body);

ex_result exi_body_write_project(exi_body *body);

/* Returns FOLDER/relative; release with free, NULL without memory. */
char *exi_body_path(const exi_body *body, const char *relative);

/* Returns EX_OK if the rig, which was read from `path`, has the fit's joints; else an error of that kind. */
ex_result exi_body_check_joints(const exi_body *body, const char *path, const char *kind);
/* Finds each scan's pose in the fit, after checking that the fit has the joints of all parts; and the examples. */
ex_result exi_body_find_poses(exi_body *body);
/* Checks that examples of a part differ in pose. A scan of several parts is left out of such a part. */
ex_result exi_body_check_poses(exi_body *body);
/* Leaves an example out, for a reason with the scan's name at its first %s. */
void exi_body_leave_out(exi_body *body, int example, const char *why);
/* Releases everything but its inputs. */
void exi_body_close(exi_body *body);

/* Makes the template's rig again after its cage has changed. */
ex_result exi_body_make_rig(exi_body *body);

#endif
