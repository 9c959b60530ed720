/*
 * The generic head of the demo `face` as a solid: ellipsoids and tapered rods, added and cut with rounded seams (the
 * polynomial smooth minimum), so that brow, socket, cheek, nose, jaw and neck blend into each other like skin.
 */
#include "face.h"

#include <exemplar/maths.h>

/* Approximate distance to an ellipsoid's surface, exact on it. */
static double ellipsoid(point p, point centre, point radii) {
    point q = point_subtract(p, centre);
    point a = {q.x / radii.x, q.y / radii.y, q.z / radii.z};
    point b = {a.x / radii.x, a.y / radii.y, a.z / radii.z};
    double k = point_length(a), l = point_length(b);
    return l < 1e-9 ? -radii.y : k * (k - 1) / l;
}

/* Distance to a rod from a to b whose radius changes from r to s. */
static double rod(point p, point a, point b, double r, double s) {
    point along = point_subtract(b, a), q = point_subtract(p, a);
    double t = clamped(point_dot(q, along) / point_dot(along, along), 0, 1);
    return point_length(point_subtract(q, point_scale(along, t))) - (r + (s - r) * t);
}

/* The smaller value, with a seam rounded over a width of k. */
static double add(double a, double b, double k) {
    double h = k - fabs(a - b);
    h = h > 0 ? h : 0;
    return (a < b ? a : b) - h * h / (4 * k);
}

static double cut(double a, double b, double k) {
    return -add(-a, b, k);
}

double exi_face_field(point p) {
    /* |x|, rounded at the middle so that the mirror plane has no crease. */
    const point q = {sqrt(p.x * p.x + 4e-6), p.y, p.z};
    double d = ellipsoid(p, (point){0, 0.029, -0.013}, (point){0.0735, 0.086, 0.097}); /* skull */
    d = add(d, ellipsoid(p, (point){0, 0.046, -0.032}, (point){0.0725, 0.069, 0.078}), 0.030);
    d = add(d, ellipsoid(p, (point){0, -0.030, 0.016}, (point){0.0610, 0.080, 0.066}), 0.026);
    /* jaw: chin, its line to the corner, and up to the ear */
    d = add(d, ellipsoid(p, (point){0, -0.0960, 0.0665}, (point){0.022, 0.0165, 0.0205}), 0.022);
    d = add(d, rod(q, (point){0.010, -0.0970, 0.060}, (point){0.044, -0.063, 0.006}, 0.0125, 0.0130), 0.034);
    d = add(d, rod(q, (point){0.044, -0.063, 0.006}, (point){0.055, -0.012, -0.002}, 0.0130, 0.0130), 0.034);
    /* neck */
    d = add(d, rod(p, (point){0, -0.045, -0.030}, (point){0, -0.200, -0.042}, 0.044, 0.052), 0.030);
    /* cheek bones and cheeks, mouth mound, brows */
    d = add(d, ellipsoid(q, (point){0.047, -0.021, 0.046}, (point){0.019, 0.013, 0.023}), 0.022);
    d = add(d, ellipsoid(q, (point){0.036, -0.046, 0.052}, (point){0.021, 0.026, 0.0225}), 0.026);
    d = add(d, ellipsoid(p, (point){0, -0.067, 0.0670}, (point){0.029, 0.022, 0.0230}), 0.018);
    d = add(d, rod(q, (point){0.012, 0.0225, 0.0795}, (point){0.043, 0.0215, 0.0600}, 0.0075, 0.0085), 0.016);
    /* eye sockets, and lids over the eyeballs */
    d = cut(d, ellipsoid(q, (point){0.0315, 0.0005, 0.0975}, (point){0.0205, 0.0135, 0.0165}), 0.014);
    d = cut(d, ellipsoid(q, (point){0.0190, 0.0005, 0.0975}, (point){0.0080, 0.0095, 0.0185}), 0.010);
    d = add(d, point_length(point_subtract(q, (point){FACE_EYE_X, 0, FACE_EYE_Z})) - (FACE_EYE_RADIUS + 0.0018), 0.005);
    /* nose: body, bridge, tip, wings, partition */
    d = add(d, rod(p, (point){0, 0.010, 0.0745}, (point){0, -0.034, 0.0880}, 0.0075, 0.0125), 0.014);
    d = add(d, rod(p, (point){0, 0.017, 0.0825}, (point){0, -0.031, 0.1010}, 0.0056, 0.0076), 0.012);
    d = add(d, ellipsoid(p, (point){0, -0.0330, 0.1005}, (point){0.0095, 0.0088, 0.0105}), 0.010);
    d = add(d, ellipsoid(q, (point){0.0115, -0.0375, 0.0935}, (point){0.0070, 0.0075, 0.0105}), 0.007);
    d = add(d, rod(p, (point){0, -0.040, 0.101}, (point){0, -0.044, 0.086}, 0.0045, 0.0045), 0.006);
    d = cut(d, ellipsoid(q, (point){0.0070, -0.0450, 0.0955}, (point){0.0030, 0.0036, 0.0055}), 0.004);
    /* the furrow from nose to lip; the one under the lower lip */
    d = cut(d, rod(p, (point){0, -0.048, 0.0960}, (point){0, -0.058, 0.0960}, 0.0030, 0.0030), 0.006);
    d = cut(d, rod(p, (point){-0.010, -0.0840, 0.0970}, (point){0.010, -0.0840, 0.0970}, 0.0065, 0.0065), 0.012);
    return d;
}

point exi_face_normal(point p) {
    const double h = 1e-5;
    point g = {exi_face_field((point){p.x + h, p.y, p.z}) - exi_face_field((point){p.x - h, p.y, p.z}),
               exi_face_field((point){p.x, p.y + h, p.z}) - exi_face_field((point){p.x, p.y - h, p.z}),
               exi_face_field((point){p.x, p.y, p.z + h}) - exi_face_field((point){p.x, p.y, p.z - h})};
    double length = point_length(g);
    return length > 0 ? point_scale(g, 1 / length) : (point){0, 0, 1};
}

point exi_face_cast(point origin, point direction) {
    double inside = 0, outside = 0.3;
    for (double t = 0; t < 0.3; t += 0.001) {
        if (exi_face_field(point_add(origin, point_scale(direction, t))) > 0) {
            outside = t;
            break;
        }
        inside = t;
    }
    for (int i = 0; i < 40; i++) {
        double t = (inside + outside) / 2;
        if (exi_face_field(point_add(origin, point_scale(direction, t))) > 0)
            outside = t;
        else
            inside = t;
    }
    return point_add(origin, point_scale(direction, (inside + outside) / 2));
}

point exi_face_project(point p) {
    for (int i = 0; i < 6; i++)
        p = point_add(p, point_scale(exi_face_normal(p), -0.8 * exi_face_field(p)));
    return p;
}

/* Height of the hair line at a depth, as seen from the side: from the nape over the ear to the forehead. */
static double hair_line(double z) {
    static const double line[][2] = {{-0.120, -0.074}, {-0.075, -0.072}, {-0.045, -0.055}, {-0.028, -0.020},
                                     {-0.010, 0.002},  {0.006, -0.004},  {0.017, -0.008},  {0.025, 0.016},
                                     {0.037, 0.044},   {0.055, 0.064},   {0.075, 0.074},   {0.120, 0.078}};
    enum { KNOTS = sizeof line / sizeof *line };
    z = clamped(z, line[0][0], line[KNOTS - 1][0]);
    int k = 0;
    while (k < KNOTS - 2 && z > line[k + 1][0])
        k++;
    return line[k][1] + (z - line[k][0]) * (line[k + 1][1] - line[k][1]) / (line[k + 1][0] - line[k][0]);
}

double exi_face_hair(point p) {
    double sum = 0; /* round the corners of the line */
    for (int i = -2; i <= 2; i++)
        sum += hair_line(p.z + 0.004 * i);
    return p.y - sum / 5;
}
