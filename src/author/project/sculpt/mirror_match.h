/*
 * mirror_match.h - counterparts of vertices in a mirror, and the mirror's plane; private to authoring.
 *
 * Both are found on the mesh as it stands at rest: skinned, in metres, with y up and without layers. The file of the
 * mesh may be turned and scaled against that, because a mesh is often bound in another space.
 *
 * A vertex v has the mirror image S(v). Its counterpart is found in the first of these ways that works:
 *
 *   symmetric  a vertex lies within `room` of S(v), and v within `room` of the image of that vertex
 *   topology   the faces around v are the mirrored faces around another vertex, starting from symmetric neighbours
 *   nearest    the point of the surface nearest to S(v)
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_MATCH_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_MATCH_H

#include <exemplar/author/project.h>
#include <exemplar/settle.h>

/* The plane n p = offset. */
typedef struct exi_plane {
    double normal[3]; /* unit length */
    double offset;    /* metres */
} exi_plane;

/* Returns the mirror image of a point, and of a direction. */
static inline void exi_plane_point(const exi_plane *plane, const double p[3], double out[3]) {
    const double *n = plane->normal, off = 2 * (n[0] * p[0] + n[1] * p[1] + n[2] * p[2] - plane->offset);
    for (int c = 0; c < 3; c++)
        out[c] = p[c] - off * n[c];
}

static inline void exi_plane_direction(const exi_plane *plane, const double d[3], double out[3]) {
    exi_plane_point(&(exi_plane){{plane->normal[0], plane->normal[1], plane->normal[2]}, 0}, d, out);
}

/* A mesh as it stands, with its surface for searching. */
typedef struct exi_standing {
    const ex_mesh *mesh; /* for its faces */
    double *positions;   /* [vertex_count][3] */
    double *normals;     /* [vertex_count][3]; 0 0 0 for a vertex without faces */
    double size;
    uint32_t *triangles; /* [triangle_count][3] */
    int triangle_count;
    ex_tree *tree;
    void *memory;
    const ex_bounds *surface;
} exi_standing;

/* positions [vertex_count][3]. The mesh must outlive this. Close it even after a failure. */
ex_result exi_standing_open(exi_standing *s, const ex_mesh *mesh, const float *positions, ex_error *error);
void exi_standing_close(exi_standing *s);
/* Finds the point of the surface nearest to p that looks the same way as `normal`, if there is one close by. Returns
 * its distance from p; INFINITY without a surface, and then triangle is -1. */
double exi_standing_nearest(const exi_standing *s, const double p[3], const double normal[3], ex_closest *closest);

/* The counterpart of a vertex: a vertex, or a point of a triangle. */
typedef struct exi_counterpart {
    ex_match match;
    int vertices[3]; /* [1] and [2] are -1 for a vertex; all are -1 if there is none */
    double shares[3];
    double distance; /* from the mirror image */
} exi_counterpart;

/* Finds the counterparts [vertex_count], in O(n log n). room: of symmetric vertices; reach: the largest distance by
 * topology. Release with free. */
ex_result exi_mirror_match(const exi_standing *s, const exi_plane *plane, double room, double reach,
                           exi_counterpart **counterparts, ex_error *error);

/* Joints that help to find the plane: those that their names make a pair decide on its direction. Without any, the
 * images of all joints should be at joints that are as deep in the hierarchy. */
typedef struct exi_plane_joints {
    const double (*pairs)[2][3]; /* [pair_count] positions */
    int pair_count;
    const double *centres;       /* [joint_count][3] of all joints; NULL without a skeleton */
    const ex_skeleton *skeleton; /* or NULL */
} exi_plane_joints;

/* Returns the number of joints above a joint. */
int exi_joint_depth(const ex_skeleton *skeleton, int joint);

/* Finds the plane of symmetry. *near: the share of the surface that has a mirror image, about 1 for a symmetric mesh.
 * *points: that and the share of vertices that have one, together up to 2. */
ex_result exi_mirror_find_plane(const exi_standing *s, const exi_plane_joints *joints, exi_plane *plane, double *near,
                                double *points, ex_error *error);

#endif
