/*
 * Lids and lips of the generic head: rings of vertices from the border of a block of the grid inwards. The edge of a
 * lid, open or closed, is an almond on a sphere slightly larger than the eyeball. Since a blink is a straight line
 * between the two, the sphere is larger by more than the line's sag, so that the lid passes in front of the eyeball
 * everywhere between.
 */
#include "face.h"

#include <exemplar/maths.h>

#define DEGREE (3.14159265358979323846 / 180)

enum { LID_RINGS = 7, LIP_RINGS = 6, LOOP_MAX = 32 };

point exi_face_about_eye(double radius, double side, double up) {
    double a, b, c, d;
    ex_sin_cos(side * DEGREE, &a, &b);
    ex_sin_cos(up * DEGREE, &c, &d);
    return (point){FACE_EYE_X + radius * a * d, radius * c, FACE_EYE_Z + radius * b * d};
}

static void set_paint(exi_face *face, int vertex, face_paint paint, double amount) {
    face->paint[(size_t)vertex * FACE_PAINT_COUNT + paint] = amount;
}

/* Joins a ring to the one inside it. */
static void add_ring(exi_face *face, int count, const int *outer, const int *outer_texcoords, const int *inner,
                     const int *inner_texcoords) {
    for (int i = 0; i < count; i++) {
        int j = (i + 1) % count;
        exi_face_add_polygon(face, FACE_HEAD, 4, (int[]){outer[i], outer[j], inner[j], inner[i]},
                             (int[]){outer_texcoords[i], outer_texcoords[j], inner_texcoords[j], inner_texcoords[i]});
    }
}

/* Texture coordinates of a ring: the border's, contracted towards its middle. */
static void ring_texcoords(exi_face *face, const face_loop *loop, double across, double up, int *texcoords) {
    const double *uv = face->mesh->texcoords;
    double u = 0, v = 0;
    for (int i = 0; i < loop->count; i++) {
        u += uv[2 * loop->texcoords[i]] / loop->count;
        v += uv[2 * loop->texcoords[i] + 1] / loop->count;
    }
    for (int i = 0; i < loop->count; i++) {
        uv = face->mesh->texcoords;
        const double *t = uv + 2 * loop->texcoords[i];
        texcoords[i] = exi_face_add_texcoord(face, u + across * (t[0] - u), v + up * (t[1] - v));
    }
}

/* ---- lids ---- */

/* Place of a vertex of the loop on the lids' edge: s goes from the inner corner of the eye to the outer one. */
typedef struct lid_place {
    double s;
    bool upper, corner;
} lid_place;

static lid_place place_on_lid(const face_loop *loop, int i) {
    const int half = loop->count / 2, outer = loop->width + loop->height / 2;
    int n = (i - outer + loop->count) % loop->count; /* counted from the outer corner over the upper lid */
    lid_place place = {n <= half ? 1 - (double)n / half : (double)(n - half) / half, n < half, n % half == 0};
    return place;
}

/* Angles on the sphere: along the eye, and up to a lid `arch` degrees from the line between the corners. */
static double lid_side(double s) {
    return -51 + 105 * (s + 0.04 * s * (1 - s));
}
static double lid_up(double s, double arch) {
    double w = 4 * s * (1 - s), skew = 1 - 0.22 * (s - 0.5);
    return -5 + 6.5 * s + arch * skew * w * (1.35 - 0.35 * w);
}

#define UPPER_ARCH  22.0
#define LOWER_ARCH  -13.0
#define CLOSED_ARCH -9.0

static point lid_direction(lid_place place, double arch) {
    return point_unit(point_subtract(exi_face_about_eye(1, lid_side(place.s), lid_up(place.s, arch)),
                                     (point){FACE_EYE_X, 0, FACE_EYE_Z}));
}

/* The left eye's ring k, open or closed, at the loop's vertex i. */
static point lid_point(const face_loop *loop, point rim, int i, int k, bool closed) {
    static const double along[5] = {0, 0.34, 0.62, 0.80, 0.91};
    static const double onto[5] = {0, 0, 0.12, 0.45, 0.85};
    const point eye = {FACE_EYE_X, 0, FACE_EYE_Z};
    const lid_place place = place_on_lid(loop, i);
    const double arch = place.upper ? UPPER_ARCH : LOWER_ARCH, r = FACE_EYE_RADIUS;
    const point open = lid_direction(place, place.corner ? 0 : arch);
    const point shut = lid_direction(place, place.corner ? 0 : CLOSED_ARCH + (place.upper ? -1.3 : 0.6));
    const point border = point_unit(point_subtract(rim, eye));
    if (k <= 4) {
        point direction = point_unit(point_mix(border, open, along[k]));
        point p = exi_face_cast(eye, direction);
        /* Skin continues down to the lids; the fold over the upper one is deeper than the skin above it. */
        double out = point_length(point_subtract(p, eye)), arc = 4 * place.s * (1 - place.s);
        /* A ray towards the nose may stay inside it. */
        double most = point_length(point_subtract(rim, eye));
        most += along[k] * (r + 0.0022 - most) + 0.0015;
        out = out < most ? out : most;
        out += onto[k] * (r + 0.0022 - out);
        if (place.upper)
            out += arc * (k == 3 ? -0.0008 : k == 2 ? 0.0006 : k == 4 ? 0.0002 : 0);
        p = point_add(eye, point_scale(direction, out));
        if (!closed || k < 3)
            return p;
        double radius = point_length(point_subtract(p, eye)), least = r + 0.0022;
        direction = point_unit(point_mix(border, shut,
                                         k == 3        ? (place.upper ? 0.66 : 0.82)
                                         : place.upper ? 0.84
                                                       : 0.92));
        if (k == 3 && !place.upper)
            return p;
        return point_add(eye, point_scale(direction, k == 4 && radius < least ? least : radius));
    }
    /* Lids are close to the eyeball where they hardly move, at the corners and below. */
    const double free = 4 * place.s * (1 - place.s) * (place.upper ? 1 : 0.5);
    point direction = closed ? shut : open;
    if (k == 5)
        return point_add(eye, point_scale(direction, r + 0.0012 + 0.0009 * free));
    if (k == 6)
        return point_add(eye, point_scale(direction, r + 0.0002 + 0.0008 * free));
    return point_add(eye, point_scale(point_unit(point_mix(direction, border, 0.12)), r - 0.0012 + 0.0021 * free));
}

void exi_face_add_lids(exi_face *face, const face_loop *loop, bool right) {
    static const double across[LID_RINGS] = {0.92, 0.86, 0.80, 0.76, 0.72, 0.66, 0.5};
    static const double up[LID_RINGS] = {0.80, 0.64, 0.52, 0.43, 0.36, 0.30, 0.2};
    static const double lash[LID_RINGS] = {0, 0, 0, 0.1, 1, 1, 1};
    int rings[LID_RINGS + 1][LOOP_MAX], texcoords[LID_RINGS + 1][LOOP_MAX];
    for (int i = 0; i < loop->count; i++) {
        rings[0][i] = loop->vertices[i];
        texcoords[0][i] = loop->texcoords[i];
    }
    for (int k = 1; k <= LID_RINGS; k++) {
        ring_texcoords(face, loop, across[k - 1], up[k - 1], texcoords[k]);
        for (int i = 0; i < loop->count; i++) {
            /* The right eye is the mirror image of the left one, which reverses the loop. */
            int j = right ? (loop->width - i + loop->count) % loop->count : i;
            point rim = right ? point_mirror(loop->at[i]) : loop->at[i];
            point open = lid_point(loop, rim, j, k, false), shut = lid_point(loop, rim, j, k, true);
            point move = point_subtract(shut, open);
            int v = rings[k][i] = exi_face_add_vertex(face, right ? point_mirror(open) : open);
            face->blink[3 * v] = right ? -move.x : move.x;
            face->blink[3 * v + 1] = move.y;
            face->blink[3 * v + 2] = move.z;
            lid_place place = place_on_lid(loop, j);
            set_paint(face, v, FACE_LASH, lash[k - 1] * (place.upper || place.corner ? 1 : 0.45));
            if (k == 5 && !place.corner)
                face->lids[right][!place.upper][(int)(place.s * loop->count / 2 + 0.5) - 1] = v;
        }
        add_ring(face, loop->count, rings[k - 1], texcoords[k - 1], rings[k], texcoords[k]);
    }
}

/* ---- lips ---- */

#define MOUTH_Y    -0.0680
#define MOUTH_HALF 0.0285

/* Height of the mouth's line, and of the lips' outlines above and below it, at s from -1 to 1. */
static double mouth_line(double s) {
    return MOUTH_Y - 0.0007 * (1 - s * s) * (1 - 3.0 * s * s) + 0.0006 * s * s;
}
static double upper_outline(double s) {
    double w = 1 - s * s, bow = s * s / 0.045;
    return 0.0086 * w * (0.90 + 0.10 * w) - 0.0017 * ex_exp(-bow * 2);
}
static double lower_outline(double s) {
    double w = 1 - s * s;
    return -0.0102 * w * (0.62 + 0.38 * w);
}

/* The point on the skin with this x and y. */
static point skin_at(double x, double y) {
    return exi_face_cast((point){x, y, 0.035}, (point){0, 0, 1});
}

void exi_face_add_lips(exi_face *face, const face_loop *loop) {
    /* For each ring: its place between the line (0) and the outline (1), and its height above the skin. */
    static const double along[LIP_RINGS] = {0, 1, 0.50, 0.03, 0.03, 0.25};
    static const double out[LIP_RINGS] = {0, 0.0005, 0.0038, 0.0016, -0.0035, -0.0090};
    static const double lip[LIP_RINGS] = {0, 0.55, 1, 1, 1, 1}, dark[LIP_RINGS] = {0, 0, 0, 0.35, 1, 1};
    static const double across[LIP_RINGS] = {0.93, 0.86, 0.82, 0.78, 0.74, 0.6};
    static const double up[LIP_RINGS] = {0.78, 0.56, 0.34, 0.14, 0.08, 0.04};
    int rings[LIP_RINGS + 1][LOOP_MAX], texcoords[LIP_RINGS + 1][LOOP_MAX];
    const int half = loop->count / 2, corner = loop->width + loop->height / 2;
    for (int i = 0; i < loop->count; i++) {
        rings[0][i] = loop->vertices[i];
        texcoords[0][i] = loop->texcoords[i];
    }
    for (int k = 1; k <= LIP_RINGS; k++) {
        ring_texcoords(face, loop, across[k - 1], up[k - 1], texcoords[k]);
        for (int i = 0; i < loop->count; i++) {
            int n = (i - corner + loop->count) % loop->count; /* counted from the left corner over the upper lip */
            bool upper = n < half;
            double t = n <= half ? 1 - 2.0 * n / half : 2.0 * (n - half) / half - 1;
            double s = t * (1.25 - 0.25 * t * t), middle = 1 - s * s; /* closer together at the corners */
            double wide = MOUTH_HALF * (k >= 3 ? 0.985 : 1), edge = upper ? upper_outline(s) : lower_outline(s);
            double gap = n % half == 0 ? 0 : upper ? 0.0001 : -0.0001;
            point p;
            if (k == 1) {
                point outline = skin_at(wide * s * 1.04, mouth_line(s) + 1.15 * edge);
                p = exi_face_project(point_mix(loop->at[i], outline, 0.58));
            } else {
                p = skin_at(wide * s, mouth_line(s) + along[k - 1] * edge + gap);
                if (k <= 4)
                    p = point_add(p, point_scale(exi_face_normal(p), out[k - 1] * (0.15 + 0.85 * middle)));
                else /* straight back behind the lips, so that they stay apart */
                    p = (point){p.x * (k == 5 ? 0.97 : 0.90), p.y, p.z + out[k - 1]};
                if (k == 4)
                    p.y = mouth_line(s) + along[k - 1] * edge + gap;
            }
            int v = rings[k][i] = exi_face_add_vertex(face, p);
            if (k == 4)
                face->mouth[i] = v;
            set_paint(face, v, FACE_LIP, lip[k - 1]);
            set_paint(face, v, FACE_DARK, dark[k - 1]);
        }
        add_ring(face, loop->count, rings[k - 1], texcoords[k - 1], rings[k], texcoords[k]);
    }
    /* Close the mouth behind the lips: join upper vertices to lower ones, with a triangle at each corner. */
    const int *v = rings[LIP_RINGS], *t = texcoords[LIP_RINGS];
    for (int n = 0; n < half; n++) {
        const int a = (corner + n) % loop->count, b = (a + 1) % loop->count;
        const int d = (corner - n + loop->count) % loop->count, c = (d - 1 + loop->count) % loop->count;
        if (n == 0)
            exi_face_add_polygon(face, FACE_HEAD, 3, (int[]){v[a], v[b], v[c]}, (int[]){t[a], t[b], t[c]});
        else if (n == half - 1)
            exi_face_add_polygon(face, FACE_HEAD, 3, (int[]){v[a], v[b], v[d]}, (int[]){t[a], t[b], t[d]});
        else
            exi_face_add_polygon(face, FACE_HEAD, 4, (int[]){v[a], v[b], v[c], v[d]}, (int[]){t[a], t[b], t[c], t[d]});
    }
}
