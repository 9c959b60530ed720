/*
 * body_build.h - shared by the files that make a body; private to src/author/scan.
 *
 *   body_build.c     the sequence of steps
 *   body_parts.c    the vertices that a part covers, masks, and mirror images
 *   body_cage.c     the cage refitted to average scans
 *   body_maps.c     a map of displacements for every scan
 *   body_smooth.c   removes the scanner's noise from a map
 *   body_weigh.c    weights of a part's scans at a pose
 *   body_changes.c  the body in the reference, and each scan's change of it
 *   body_project.c  body.json
 *   body_figure.c   dials for girth and the lengths of bones
 *
 * A body has the session's parts, each a layer, and optionally the mirror images of those that belong to one side.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_BUILD_BODY_BUILD_H
#define EXEMPLAR_AUTHOR_SCAN_BUILD_BODY_BUILD_H

#include <exemplar/author/scan.h>

typedef struct exi_body_part {
    const ex_scan_part *part;
    char *name;
    bool mirrored;          /* true for the mirror image of the session's part */
    int side;               /* of paired joints: 1 for +x, -1 for -x; 0 for a part in the middle */
    unsigned char *covered; /* [level vertices] */
    float *mask;            /* [level vertices]: sums to 1 over all parts */
    float *reference;       /* [level vertices]: its displacements with no joint turned; NULL until known */
} exi_body_part;

typedef struct exi_body_net exi_body_net; /* body_smooth.c */

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
    int *poses;           /* [scan_count of the session] number in fitted, -1 for scans that are not in it */
    ex_error *error;
} exi_body;

/* Returns the joint on the other side, or the joint itself. */
int exi_body_other_joint(const ex_kinematics *kinematics, int joint);
/* Computes the mirror image of a rotation in x. */
void exi_body_mirror_rotation(const double q[4], double mirrored[4]);

ex_result exi_body_find_parts(exi_body *body);
void exi_body_free_parts(exi_body *body);

/* Builds the net from the template at rest [vertex_count][3]. */
ex_result exi_body_net_make(exi_body *body, const float *places);
void exi_body_net_free(exi_body_net *net);
ex_result exi_body_smooth(const exi_body *body, ex_displacement_map *map);

ex_result exi_body_refit(exi_body *body);

/* Makes the scan's map before holes are filled. */
ex_result exi_body_cast(const exi_body *body, int scan, double reach, const unsigned char *covered,
                        ex_displacement_map **map);
ex_result exi_body_make_maps(exi_body *body);
/* Returns maps/NAME.ply, or the path in another folder, of a part's scan; release with free. */
char *exi_body_map_name(const exi_body_part *part, const char *folder, const char *scan);

/* Computes weights of a part's scans (equation 5 with the next distance) at rotations [joint_count] of the skeleton,
 * leaving out `without`, into weights [scan_count of the session]; 0 for scans of other parts. */
void exi_scan_weigh(const exi_body *body, const exi_body_part *part, double (*rotations)[4], int without,
                    int neighbours, double *weights);

/* Provides maps of scans, NULL if there is none, to functions that need all of them. */
typedef ex_result (*exi_map_source)(void *user, int scan, const ex_displacement_map **map);
/* Finds the references of the session's parts and of their mirror images. */
ex_result exi_body_find_references(exi_body *body, exi_map_source source, void *user);
/* Returns the weight of a part's changes: more than its mask, since changes are added, not blended. */
double exi_body_change(double mask);
/* Computes the body in the reference [level vertices]. */
void exi_body_base(const exi_body *body, float *base);
/* Writes base.ply, the body in the reference, and changes/, each scan's change of its part's reference. */
ex_result exi_body_write_changes(exi_body *body);

ex_result exi_body_write_project(exi_body *body);

/* Returns FOLDER/relative; release with free, NULL without memory. */
char *exi_body_path(const exi_body *body, const char *relative);

/* Returns EX_OK if the rig, which was read from `path`, has the fit's joints; else an error of that kind. */
ex_result exi_body_check_joints(const exi_body *body, const char *path, const char *kind);
/* Finds each scan's pose in the fit, after checking that the fit has the joints of all parts. */
ex_result exi_body_find_poses(exi_body *body);
/* Releases everything but its inputs. */
void exi_body_close(exi_body *body);

/* Makes the template's rig again after its cage has changed. */
ex_result exi_body_make_rig(exi_body *body);

#endif
