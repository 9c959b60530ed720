/*
 * exemplar/author/register.h - moves a template mesh onto a scan: non-rigid registration.
 *
 * The template keeps its vertices and faces, and takes the form of the scanned person. Registered scans of many poses
 * therefore have the same connectivity, as skeletons and skin weights from meshes need it. The scan may be one mesh or
 * several views, or points with normals. It may have holes, noise, a floor and other things around the person.
 *
 * The template bends as rigidly as possible, from stiff to soft, while its vertices are drawn to the scan and the
 * scan's points draw the template (docs/mathematics.md, "Registration"). Anchors hold points of the template at given
 * places: markers, or landmarks that a person clicked. Metres; any axes, the same for template and scan. All
 * functions are thread-safe.
 */
#ifndef EXEMPLAR_AUTHOR_REGISTER_H
#define EXEMPLAR_AUTHOR_REGISTER_H

#include <exemplar/author/base.h>
#include <exemplar/author/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- alignment by landmarks ---- */

/* A similarity: a point p moves to scale R p + translation. */
typedef struct ex_similarity {
    double rotation[3][3];
    double scale;
    double translation[3];
    double rms; /* of the distances that remain, metres */
} ex_similarity;

/*
 * Finds the similarity that brings points [count][3] nearest to targets [count][3], by least squares (Umeyama 1991).
 * with_scale false: a rigid motion, scale 1. weights [count] may be NULL: all 1. O(count). Results: DATA (fewer than
 * three points with a weight above 0, or all of them on one line; a number that is not finite: each named).
 */
EX_API ex_result ex_register_align(int count, const double (*points)[3], const double (*targets)[3],
                                   const double *weights, bool with_scale, ex_similarity *similarity, ex_error *error);

/* Moves points [count][3] in place. */
EX_API void ex_similarity_apply(const ex_similarity *similarity, int count, double (*points)[3]);

/* ---- registration ---- */

/* A point of the template that must come to lie at a target: a marker, or a landmark that was clicked. */
typedef struct ex_register_anchor {
    int vertices[3];  /* of one face; those with share 0 may be anything in range */
    double shares[3]; /* barycentric, not negative; they sum to 1 */
    double target[3];
    double sigma; /* metres: how far off it may be; 0: the default, 0.005 */
} ex_register_anchor;

/* Makes the anchor of the template's point closest to `point`, with the default sigma. O(faces). Results: DATA (no
 * faces), MEMORY. */
EX_API ex_result ex_register_anchor_find(const ex_mesh *mesh, const double point[3], const double target[3],
                                         ex_register_anchor *anchor, ex_error *error);

/* Definition of a registration. All zero but mesh, scans and scan_count: the defaults. */
typedef struct ex_register_def {
    const ex_mesh *mesh; /* the template: faces of any number of corners. Its positions are the rest form, whose local
                            shape is kept; best with the proportions of the person */
    const double (*start)[3];    /* [vertex_count]: where the template begins, roughly posed, as by skinning; or as
                                    registered in the frame before. NULL: as in mesh */
    const ex_mesh *const *scans; /* [scan_count] views, together the scan. One without faces needs a normal for every
                                    vertex. Colours are ignored */
    int scan_count;
    int anchor_count;
    const ex_register_anchor *anchors; /* [anchor_count] */
    const float *stiffness; /* [vertex_count], from 0.01 to 100: multiplies the resistance to bending and stretching;
                               fingers and ears may need more than 1. NULL: 1 */
    const float *matching;  /* [vertex_count], from 0 to 1: how much the scan draws a vertex. 0 for parts that no scan
                               shows, such as the inside of the mouth. NULL: 1 */
    double noise;           /* metres: of the scan; 0: the default, 0.001 */
    double reach; /* metres: greatest distance between template and scan at the end. What is farther away, such as a
                     stand, does not pull. 0: the default, 0.03 */
    double start_reach; /* metres: the same at the beginning; 0: the default, a fourteenth of the template's size, or
                           reach if that is larger. For frames of a sequence, the largest motion from one to the next */
    const ex_progress *progress; /* may ask to stop */
    const ex_tasks *tasks;
} ex_register_def;

/* Returns the defaults: all zero. */
EX_API ex_register_def ex_register_def_default(void);

/* A registered template. */
typedef struct ex_registered {
    int vertex_count;
    double (*vertices)[3]; /* [vertex_count] */
    float *confidences;    /* [vertex_count], 0 to 1: 0 if the scan does not show the vertex, or nothing near it faces
                              the same way; 1 if it lies on the scan within the noise */
    double rms;            /* metres: of the matched vertices to the scan's surface */
    double anchor_rms;     /* metres: of the anchors to their targets; 0 without anchors. At the end anchors pull along
                              the surface only, so this includes how far targets are off it */
    double covered;        /* share of the scan's area within reach of the template; a floor in view is not covered */
    int matched_count;     /* vertices with a confidence above 0 */
    int unmatched_count;   /* the others that were to be matched */
    int flipped_count;     /* triangles that face away from their neighbours, and did not at the start */
    int sample_count;      /* points that stand for the scan */
    double seconds;
} ex_registered;

/*
 * Registers a template to a scan. The scan is thinned to points about a third of the template's edges apart, so the
 * time hardly depends on its size: a template of 13 000 vertices and a scan of a million triangles take about 10 s on
 * one core, and about 150 bytes of memory per triangle. Registering a frame of a sequence from the one before is faster
 * with a small start_reach. Results: DATA (no faces, neither faces nor normals, a number that is not finite, another
 * unit, nothing within reach: each with a sentence that says what to do), FILE (progress asked to stop), MEMORY.
 */
EX_API ex_result ex_register(const ex_register_def *def, ex_registered **registered, ex_error *error);
EX_API void ex_registered_destroy(ex_registered *registered);

#ifdef __cplusplus
}
#endif
#endif
