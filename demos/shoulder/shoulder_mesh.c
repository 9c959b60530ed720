/*
 * The form of the demo `shoulder` at rest: a rounded torso, a tapering arm and the deltoid between them as a solid with
 * soft unions, and a mesh whose vertices are where rays from an axis inside leave it. The axis is that of the arm,
 * turns down through a quarter of a circle about a point below the armpit, and continues to the waist.
 */
#include "shoulder.h"

#include "common/array.h"

#include <exemplar/maths.h>

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- the solid ---- */

static double length(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* A box with round edges. */
static double box(const double p[3], const double centre[3], const double half[3], double round) {
    double outside[3], inside = -1;
    for (int c = 0; c < 3; c++) {
        const double d = fabs(p[c] - centre[c]) - (half[c] - round);
        outside[c] = d > 0 ? d : 0;
        inside = c == 0 || d > inside ? d : inside;
    }
    return length(outside) + (inside < 0 ? inside : 0) - round;
}

/* A round bar between two points on a line along x. */
static double bar(const double p[3], const double from[3], double along, double from_radius, double to_radius) {
    double t = (p[0] - from[0]) / along;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    const double d[3] = {p[0] - from[0] - t * along, p[1] - from[1], p[2] - from[2]};
    return length(d) - (from_radius + (to_radius - from_radius) * t);
}

static double ellipsoid(const double p[3], const double centre[3], const double half[3]) {
    double q[3], least = half[0];
    for (int c = 0; c < 3; c++) {
        q[c] = (p[c] - centre[c]) / half[c];
        least = half[c] < least ? half[c] : least;
    }
    return (length(q) - 1) * least;
}

/* The smaller of both, rounded where they differ by less than `soft`. */
static double joined(double a, double b, double soft) {
    const double apart = fabs(a - b), h = apart < soft ? (soft - apart) / soft : 0;
    return (a < b ? a : b) - h * h * soft / 4;
}

/* The torso, narrower towards the waist. */
static double torso(const double p[3]) {
    static const double centre[3] = {-0.205, -0.135, 0}, half[3] = {0.125, 0.195, 0.090};
    const double middle = centre[0] - half[0]; /* of the body */
    double t = (-0.06 - p[1]) / 0.27;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    const double narrow = 1 - 0.22 * t * t * (3 - 2 * t);
    return box((const double[3]){middle + (p[0] - middle) / narrow, p[1], p[2] / narrow}, centre, half, 0.08) * narrow;
}

double exi_shoulder_field(const double p[3]) {
    static const double neck[3] = {-0.215, 0.052, -0.012}, neck_half[3] = {0.112, 0.050, 0.060};
    static const double chest[3] = {-0.17, -0.070, 0.060}, chest_half[3] = {0.110, 0.062, 0.048};
    static const double blade[3] = {-0.16, -0.060, -0.065}, blade_half[3] = {0.085, 0.080, 0.035};
    static const double deltoid[3] = {0.015, 0.004, 0}, deltoid_half[3] = {0.085, 0.060, 0.058};
    static const double biceps[3] = {0.175, 0, 0.010}, biceps_half[3] = {0.080, 0.043, 0.043};
    double d = torso(p);
    d = joined(d, ellipsoid(p, neck, neck_half), 0.05);
    d = joined(d, ellipsoid(p, chest, chest_half), 0.03);
    d = joined(d, ellipsoid(p, blade, blade_half), 0.03);
    d = joined(d, bar(p, (const double[3]){-0.05, 0, 0}, 0.34, 0.048, 0.037), 0.06);
    d = joined(d, ellipsoid(p, biceps, biceps_half), 0.02);
    return joined(d, ellipsoid(p, deltoid, deltoid_half), 0.03);
}

void exi_shoulder_normal(const double p[3], double normal[3]) {
    const double step = 1e-5;
    for (int c = 0; c < 3; c++) {
        double before[3] = {p[0], p[1], p[2]}, after[3] = {p[0], p[1], p[2]};
        before[c] -= step;
        after[c] += step;
        normal[c] = exi_shoulder_field(after) - exi_shoulder_field(before);
    }
    const double size = length(normal);
    for (int c = 0; c < 3; c++)
        normal[c] /= size;
}

/* Finds where a ray from inside leaves the solid: first in steps, then by bisection. */
static void cast(const double origin[3], const double direction[3], double out[3]) {
    double low = 0, high = 0, p[3];
    bool outside = false;
    for (int i = 0; i < 50 && !outside; i++) {
        low = high;
        high += 0.012;
        for (int c = 0; c < 3; c++)
            p[c] = origin[c] + high * direction[c];
        outside = exi_shoulder_field(p) > 0;
    }
    for (int i = 0; i < 40; i++) {
        const double middle = (low + high) / 2;
        for (int c = 0; c < 3; c++)
            p[c] = origin[c] + middle * direction[c];
        *(exi_shoulder_field(p) > 0 ? &high : &low) = middle;
    }
    for (int c = 0; c < 3; c++) /* to tenths of a micrometre, like the other forms of demos */
        out[c] = floor((origin[c] + low * direction[c]) * 1e7 + 0.5) / 1e7;
}

/* ---- rays ---- */

enum { TIP = 5, ARM = 17, ARC = 17, DOWN = 2, WAIST = SHOULDER_RINGS - TIP - ARM - ARC - DOWN };
#define ARM_END 0.29
#define TURN    0.205 /* radius of the axis's turn, about a point below the joint */
#define BOTTOM  (-0.26)

/* Start of the rays of a ring, the direction of column 0, and the fraction of it by which they lean along `lean`. */
typedef struct ring {
    double origin[3], up[3], lean[3], upright, leaning;
} ring;

static ring ring_at(int i) {
    double sine, cosine;
    if (i < TIP) {
        ex_sin_cos((TIP - i) * PI / 2 / (TIP + 1), &sine, &cosine);
        return (ring){{ARM_END, 0, 0}, {0, 1, 0}, {1, 0, 0}, cosine, sine};
    }
    if ((i -= TIP) < ARM)
        return (ring){{ARM_END * (ARM - i) / ARM, 0, 0}, {0, 1, 0}, {1, 0, 0}, 1, 0};
    if ((i -= ARM) < ARC) {
        ex_sin_cos(i * PI / 2 / ARC, &sine, &cosine);
        return (ring){{-TURN * sine, TURN * (cosine - 1), 0}, {-sine, cosine, 0}, {0, -1, 0}, 1, 0};
    }
    if ((i -= ARC) < DOWN)
        return (ring){{-TURN, -TURN + (BOTTOM + TURN) * i / DOWN, 0}, {-1, 0, 0}, {0, -1, 0}, 1, 0};
    ex_sin_cos((i - DOWN) * PI / 2 / (WAIST + 1), &sine, &cosine);
    return (ring){{-TURN, BOTTOM, 0}, {-1, 0, 0}, {0, -1, 0}, cosine, sine};
}

static void place_vertices(double *positions) {
    for (int i = 0; i < SHOULDER_RINGS; i++) {
        const ring r = ring_at(i);
        for (int k = 0; k < SHOULDER_COLUMNS; k++) {
            double sine, cosine, direction[3];
            ex_sin_cos(2 * PI * k / SHOULDER_COLUMNS, &sine, &cosine);
            for (int c = 0; c < 3; c++)
                direction[c] = r.upright * (cosine * r.up[c] + (c == 2 ? sine : 0)) + r.leaning * r.lean[c];
            cast(r.origin, direction, positions + 3 * (i * SHOULDER_COLUMNS + k));
        }
    }
    cast((const double[3]){ARM_END, 0, 0}, (const double[3]){1, 0, 0}, positions + 3 * (SHOULDER_VERTICES - 2));
    cast((const double[3]){-TURN, BOTTOM, 0}, (const double[3]){0, -1, 0}, positions + 3 * (SHOULDER_VERTICES - 1));
}

/* ---- faces ---- */

static void add_face(ex_mesh *mesh, const int *vertices, int count) {
    memcpy(mesh->corners + mesh->corner_count, vertices, (size_t)count * sizeof *vertices);
    mesh->corner_count += count;
    mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
}

static void add_faces(ex_mesh *mesh) {
    enum { N = SHOULDER_COLUMNS, LAST = (SHOULDER_RINGS - 1) * N };
    for (int k = 0; k < N; k++)
        add_face(mesh, (const int[3]){SHOULDER_VERTICES - 2, k, (k + 1) % N}, 3);
    for (int i = 0; i + 1 < SHOULDER_RINGS; i++)
        for (int k = 0; k < N; k++) {
            const int a = i * N + k, b = i * N + (k + 1) % N;
            add_face(mesh, (const int[4]){a, a + N, b + N, b}, 4);
        }
    for (int k = 0; k < N; k++)
        add_face(mesh, (const int[3]){SHOULDER_VERTICES - 1, LAST + (k + 1) % N, LAST + k}, 3);
}

ex_mesh *exi_shoulder_mesh(void) {
    ex_mesh *mesh = ex_mesh_create();
    if (!mesh)
        return NULL;
    mesh->positions = array_allocate(3 * SHOULDER_VERTICES, sizeof(double));
    mesh->face_offsets = array_allocate(SHOULDER_FACES + 1, sizeof(int));
    mesh->corners = array_allocate(4 * SHOULDER_FACES, sizeof(int));
    if (!mesh->positions || !mesh->face_offsets || !mesh->corners) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    mesh->vertex_count = SHOULDER_VERTICES;
    mesh->face_offsets[0] = 0;
    place_vertices(mesh->positions);
    add_faces(mesh);
    return mesh;
}
