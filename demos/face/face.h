/*
 * face.h - shared by the files of the demo `face`: the generic head, and the fields that change it. Private to demos.
 *
 * Metres, y up, the face towards +z, the pupils at height 0; +x is the head's own left. Everything is symmetric in
 * x.
 */
#ifndef EXEMPLAR_DEMOS_FACE_H
#define EXEMPLAR_DEMOS_FACE_H

#include "demos/demos.h"

#include <math.h>

typedef struct point {
    double x, y, z;
} point;

static inline point point_add(point a, point b) {
    return (point){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline point point_subtract(point a, point b) {
    return (point){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline point point_scale(point a, double s) {
    return (point){a.x * s, a.y * s, a.z * s};
}
static inline double point_dot(point a, point b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline double point_length(point a) {
    return sqrt(point_dot(a, a));
}
static inline point point_unit(point a) {
    return point_scale(a, 1 / point_length(a));
}
static inline point point_mix(point a, point b, double t) {
    return point_add(a, point_scale(point_subtract(b, a), t));
}
static inline point point_mirror(point a) {
    return (point){-a.x, a.y, a.z};
}

static inline double clamped(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* 0 below a, 1 above b, smooth between. */
static inline double smooth_step(double a, double b, double x) {
    double t = clamped((x - a) / (b - a), 0, 1);
    return t * t * (3 - 2 * t);
}

/* Angle of the direction (x, y), from -pi to pi (face_paint.c). */
double exi_face_turn(double y, double x);

/* ---- the generic head as a solid (face_field.c) ---- */

/* The left eyeball; the right one is its mirror image. */
#define FACE_EYE_X      0.0315
#define FACE_EYE_Z      0.0665
#define FACE_EYE_RADIUS 0.0145

/* Signed distance to the skin, approximate near it: negative inside, positive outside; no hair, lips or ears. */
double exi_face_field(point p);
/* Its gradient direction, of length 1. */
point exi_face_normal(point p);
/* The point where a ray from inside leaves the skin. */
point exi_face_cast(point origin, point direction);
/* The nearest point on the skin, for a point near it. */
point exi_face_project(point p);
/* Height above the hair line, in metres; negative on the face and the neck. */
double exi_face_hair(point p);

/* ---- the generic head as a mesh (face_mesh.c) ---- */

/* Attributes of a vertex, from 0 to 1; the texture is painted from these, interpolated over the faces. */
typedef enum face_paint { FACE_LIP, FACE_LASH, FACE_DARK, FACE_EYE, FACE_EAR, FACE_PAINT_COUNT } face_paint;
typedef enum face_group { FACE_HEAD, FACE_EYES, FACE_EARS, FACE_GROUP_COUNT } face_group;

enum {
    FACE_LID = 9,
    FACE_MOUTH = 32
}; /* number of vertices on the edge of a lid, between the corners of the eye; of
    * the lips */

typedef struct exi_face {
    ex_mesh *mesh;
    double *paint;            /* [vertex_count][FACE_PAINT_COUNT] */
    double *blink;            /* [vertex_count][3]: offsets from open to closed eyes */
    point *normals;           /* [vertex_count]: of the solid's skin; forwards on ears and eyeballs */
    int lids[2][2][FACE_LID]; /* left eye and right; upper lid and lower; from the nose outwards */
    int mouth[FACE_MOUTH];    /* the line where the lips meet, around the mouth */
} exi_face;

/* Border of a block that rings replace, anticlockwise from its lower right corner as the head sees it. */
typedef struct face_loop {
    int count, width, height; /* count = 2 (width + height) edges */
    const point *at;
    const int *vertices;
    const int *texcoords;
} face_loop;

/* NULL if out of memory. */
exi_face *exi_face_create(void);
void exi_face_destroy(exi_face *face);

/* For building the mesh: there is room for everything that the formulas make. */
int exi_face_add_vertex(exi_face *face, point p);
int exi_face_add_texcoord(exi_face *face, double u, double v);
/* Corners anticlockwise as seen from outside. */
void exi_face_add_polygon(exi_face *face, face_group group, int count, const int *vertices, const int *texcoords);
/* Adds the skin with lids and lips (face_grid.c, face_rings.c). False if out of memory. */
bool exi_face_add_head(exi_face *face);
/* Add lids inside the loop around the left or the right eye, and lips inside the loop around the mouth. */
void exi_face_add_lids(exi_face *face, const face_loop *loop, bool right);
void exi_face_add_lips(exi_face *face, const face_loop *loop);
/* Add eyeballs and ears, as separate components (face_parts.c). */
void exi_face_add_eyes(exi_face *face);
void exi_face_add_ears(exi_face *face);

/* A point on a sphere about the left eye: radius, and angles to the left and up in degrees. */
point exi_face_about_eye(double radius, double side, double up);

/* Radii and positions of the discs of eyeballs and ears in the texture. */
#define FACE_ISLAND   0.088
#define FACE_EYE_U    0.095
#define FACE_EAR_U    0.905
#define FACE_ISLAND_V 0.905
#define FACE_EAR_BACK 0.042 /* disc of the ears' backs, in a corner at the bottom */

/* ---- fields that change it (face_metric.c) ---- */

/* Fields of vertex offsets: every head is the generic one plus a sum of these. The last one is an expression. */
typedef enum face_metric {
    FACE_HEAD_WIDTH,
    FACE_HEAD_LENGTH,
    FACE_FACE_LENGTH,
    FACE_FOREHEAD,
    FACE_BROW,
    FACE_EYE_SIZE,
    FACE_EYE_SPACING,
    FACE_CHEEK_BONES,
    FACE_CHEEKS,
    FACE_NOSE_LENGTH,
    FACE_NOSE_WIDTH,
    FACE_NOSE_BRIDGE,
    FACE_NOSE_TIP,
    FACE_LIPS,
    FACE_MOUTH_WIDTH,
    FACE_JAW_WIDTH,
    FACE_CHIN,
    FACE_DOUBLE_CHIN,
    FACE_NECK,
    FACE_SAG,
    FACE_FOLDS,
    FACE_EARS_SIZE,
    FACE_HAIR_TOP,
    FACE_HAIR_BACK,
    FACE_SMILE,
    FACE_METRIC_COUNT
} face_metric;

/* Adds amount times the metric to offsets [vertex_count][3]. */
void exi_face_add_metric(const exi_face *face, face_metric metric, double amount, double *offsets);

/* ---- the texture (face_texture.c) ---- */

enum { FACE_TEXELS = 512 }; /* size of the texture along a side */

/* Paint of a face; colours are sRGB from 0 to 1. */
typedef struct face_style {
    double skin[3], lips[3], hair[3], brows[3], iris[3];
    double brow_width, brow_rise;  /* millimetres */
    double hair_line, sweep, bald; /* receding of the hair line in millimetres, and how much more on the left than on
                                    * the right; thinness of the crown, 0 to 1 */
    double blush, freckles, stubble, beard, lines, spots, make_up; /* 0 to 1 */
} face_style;

/* A place on the generic head in millimetres, the attributes there, and noise from 0 to 1: in patches, mottled, as fine
 * as pores, along hairs; and small and large spots. */
typedef struct face_place {
    double x, y, z, paint[FACE_PAINT_COUNT];
    double coarse, fine, grain, strand, freckle, blotch;
} face_place;
void exi_face_colour(const face_place *place, const face_style *style, double colour[3]); /* face_paint.c */

/* The place on the generic head of every texel. NULL if out of memory. */
typedef struct exi_face_canvas exi_face_canvas;
exi_face_canvas *exi_face_canvas_create(const exi_face *face);
void exi_face_canvas_destroy(exi_face_canvas *canvas);
/* pixels [FACE_TEXELS][FACE_TEXELS][4], rows from the top. */
void exi_face_canvas_paint(const exi_face_canvas *canvas, const face_style *style, unsigned char *pixels);

/* ---- the heads (face_heads.c) ---- */

/* A head: its point (age from about 20 to 80 years, gender from female to male, build from thin to heavy), its metrics
 * in their order, and its skin. */
typedef struct face_head {
    const char *name;
    double place[3];
    double metrics[FACE_SMILE];
    face_style style;
} face_head;

enum { FACE_HEADS = 8 };
extern const face_head exi_face_heads[FACE_HEADS];

/* The sum of metrics of a head, into offsets [vertex_count][3] (face.c). */
void exi_face_head_offsets(const exi_face *face, int head, double *offsets);
/* The heads' weights in the middle of the space, which is the rig's rest. */
ex_result exi_face_rest_weights(double weights[FACE_HEADS], ex_error *error);

#endif
