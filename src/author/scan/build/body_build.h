/*
 * body_build.h - what the files that make a body share; private to src/author/scan.
 *
 *   body_build.c     the way through it
 *   body_parts.c    which vertices a part covers, masks, and the mirror image of each
 *   body_cage.c     the cage refitted to average scans
 *   body_maps.c     a map of displacements for every scan
 *   body_smooth.c   the scanner's noise taken out of a map
 *   body_weigh.c    weights of a part's scans at a pose
 *   body_changes.c  the body in the reference, and what each scan changes of it
 *   body_project.c  body.json
 *   body_figure.c   dials for girth and the lengths of bones
 *
 * A body has the session's parts, each a layer, and where the session says so the mirror images of those that belong to
 * one side.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_BUILD_BODY_BUILD_H
#define EXEMPLAR_AUTHOR_SCAN_BUILD_BODY_BUILD_H

#include <exemplar/author/scan.h>

typedef struct exi_body_part {
    const ex_scan_part *part;
    char *name;
    bool mirrored;          /* the mirror image of the session's part */
    int side;               /* of joints in pairs: 1 for +x, -1 for -x, 0 for a part in the middle */
    unsigned char *covered; /* [level vertices] */
    float *mask;            /* [level vertices]: of all parts together 1 */
    float *reference; /* [level vertices]: its displacements where no joint is turned; NULL until they are known */
} exi_body_part;

typedef struct exi_body_net exi_body_net; /* body_smooth.c */

typedef struct exi_body {
    const ex_scan_session *session;
    const ex_scan_fitted *fitted;
    const ex_scan_build_options *options;
    ex_scan_built *built;
    ex_template template;
    ex_rig *rig; /* of the template as it is now */
    int level, vertex_count;
    int *mirror;       /* [vertex_count] the vertex that each is mirrored to; NULL where the session mirrors nothing */
    exi_body_net *net; /* vertices beside each other; NULL until the parts are found */
    int part_count;
    exi_body_part *parts; /* those of the session first, in its order */
    int *poses;           /* [scan_count of the session] in fitted, -1 for scans that are not */
    ex_error *error;
} exi_body;

/* The joint on the other side, or the joint itself. */
int exi_body_other_joint(const ex_kinematics *kinematics, int joint);
/* The mirror image of a rotation in x. */
void exi_body_mirror_rotation(const double q[4], double mirrored[4]);

ex_result exi_body_find_parts(exi_body *body);
void exi_body_free_parts(exi_body *body);

/* From the template at rest [vertex_count][3]. */
ex_result exi_body_net_make(exi_body *body, const float *places);
void exi_body_net_free(exi_body_net *net);
ex_result exi_body_smooth(const exi_body *body, ex_displacement_map *map);

ex_result exi_body_refit(exi_body *body);

/* The scan's map before holes are filled. */
ex_result exi_body_cast(const exi_body *body, int scan, double reach, const unsigned char *covered,
                        ex_displacement_map **map);
ex_result exi_body_make_maps(exi_body *body);
/* maps/NAME.ply, or in another folder, of a part's scan; release with free. */
char *exi_body_map_name(const exi_body_part *part, const char *folder, const char *scan);

/* Weights of a part's scans (equation 5 with the next distance) at rotations [joint_count] of the skeleton, `without`
 * being left out, into weights [scan_count of the session]; 0 for scans of other parts. */
void exi_scan_weigh(const exi_body *body, const exi_body_part *part, double (*rotations)[4], int without,
                    int neighbours, double *weights);

/* Maps of scans, NULL where there is none, for what needs them all at once. */
typedef ex_result (*exi_map_source)(void *user, int scan, const ex_displacement_map **map);
/* The references of the session's parts and of their images. */
ex_result exi_body_find_references(exi_body *body, exi_map_source source, void *user);
/* By how much a part's changes count: more than its mask, since changes are added, not mixed. */
double exi_body_change(double mask);
/* The body in the reference [level vertices]. */
void exi_body_base(const exi_body *body, float *base);
/* base.ply: the body in the reference; changes/: what each scan changes of its part's reference. */
ex_result exi_body_write_changes(exi_body *body);

ex_result exi_body_write_project(exi_body *body);

/* FOLDER/relative; release with free, NULL without memory. */
char *exi_body_path(const exi_body *body, const char *relative);

/* EX_OK where the rig, which was read from `path`, has the fit's joints; else an error of that kind. */
ex_result exi_body_check_joints(const exi_body *body, const char *path, const char *kind);
/* Which of the fit's poses is each scan's, once the fit has the joints of all parts. */
ex_result exi_body_find_poses(exi_body *body);
/* Releases all but what it was made with. */
void exi_body_close(exi_body *body);

/* The template's rig, anew, after its cage has changed. */
ex_result exi_body_make_rig(exi_body *body);

#endif
