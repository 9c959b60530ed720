/*
 * Computes the form of an arm of a given gender at a given pose, for the demo `arm`, from formulas. First a straight
 * arm: cross sections from a table (ellipses, flat in the palm), with muscles and bones as bumps on them that depend on
 * the pose (a flexed biceps is higher, shorter and nearer to the shoulder, its triceps flat; a raised shoulder bunches
 * the deltoid). Then the elbow bends: within ARM_BEND of the joint, the centre line becomes an arc of radius R =
 * ARM_BEND / tan(angle / 2) that touches both bones, and sections stay plane and perpendicular to it, so that nothing
 * collapses as it does under blended matrices (Shape by Example, section 5). The formulas take the place of a
 * sculptor.
 */
#include "arm.h"

#include <exemplar/maths.h>

#include <math.h>
#include <stddef.h>

#define PI             3.14159265358979323846
#define ARM_BEND       0.043
#define SHOULDER_END   (-0.045) /* from here the arm is rounded off over SHOULDER_DEPTH, part of which rings cover */
#define SHOULDER_DEPTH 0.042
#define FIRST_RING     (-0.074)
#define KNUCKLES       0.645

static double mix(double a, double b, double t) {
    return a + (b - a) * t;
}

/* 0 below a, 1 above b, smooth between. */
static double smooth_step(double a, double b, double x) {
    double t = (x - a) / (b - a);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * t * (t * (6 * t - 15) + 10);
}

static double bell(double x) {
    return ex_exp(-0.5 * x * x);
}

/* ---- cross sections ---- */

/* Half sizes in metres: to the palm's side, to the back's, to both sides; of a slim arm, and the factors for a strong
 * one, without its muscles. */
typedef struct section {
    double x, palm, back, side, strong;
} section;

static const section sections[] = {
    {-0.10, 0.052, 0.060, 0.052, 1.20},  {-0.05, 0.053, 0.058, 0.053, 1.20},    {0.00, 0.051, 0.052, 0.052, 1.19},
    {0.05, 0.046, 0.047, 0.048, 1.17},   {0.10, 0.040, 0.043, 0.041, 1.16},     {0.15, 0.037, 0.041, 0.037, 1.15},
    {0.20, 0.035, 0.037, 0.035, 1.14},   {0.25, 0.032, 0.033, 0.034, 1.13},     {0.30, 0.030, 0.031, 0.037, 1.12},
    {0.34, 0.033, 0.032, 0.040, 1.14},   {0.39, 0.032, 0.031, 0.037, 1.16},     {0.44, 0.027, 0.027, 0.032, 1.15},
    {0.50, 0.021, 0.022, 0.027, 1.14},   {0.55, 0.0175, 0.019, 0.0255, 1.14},   {0.58, 0.0165, 0.017, 0.0285, 1.13},
    {0.61, 0.0150, 0.0145, 0.034, 1.12}, {0.645, 0.0115, 0.0115, 0.0365, 1.11}, {0.70, 0.0100, 0.0100, 0.037, 1.10}};

/* Catmull-Rom interpolation between the rows of the table; places need not be evenly spaced. */
static section section_at(double x) {
    enum { N = sizeof sections / sizeof *sections };
    int i = 1;
    while (i < N - 3 && sections[i + 1].x < x)
        i++;
    const section *p = &sections[i];
    const double h = p[1].x - p[0].x, t = (x - p[0].x) / h;
    const double a = 2 * t * t * t - 3 * t * t + 1, b = t * t * t - 2 * t * t + t, c = t * t * t - t * t;
    const double before = h / (p[1].x - p[-1].x), after = h / (p[2].x - p[0].x);
#define ARM_BETWEEN(field)                                                                                             \
    (a * p[0].field + (1 - a) * p[1].field + b * before * (p[1].field - p[-1].field) +                                 \
     c * after * (p[2].field - p[0].field))
    return (section){x, ARM_BETWEEN(palm), ARM_BETWEEN(back), ARM_BETWEEN(side), ARM_BETWEEN(strong)};
#undef ARM_BETWEEN
}

/* ---- muscles and bones ---- */

/* A bump: height for a slim and for a strong arm, in metres; position and length; direction in degrees from +y to +z,
 * and width. The same at full flexion of the elbow (110 degrees), and the change for a shoulder up or down by 60. */
typedef struct bump {
    double slim, strong, x, length, direction, width;
    double flexed_slim, flexed_strong, flexed_x, flexed_length;
    double up, down, up_x, down_x; /* up and down: factors on the height */
    double load;                   /* height added by a load when flexed, in metres */
} bump;

static const bump bumps[] = {
    /* deltoid */
    {0.004, 0.012, 0.020, 0.040, -5, 55, 0.004, 0.013, 0.020, 0.040, 1.9, 0.25, -0.022, 0.020, 0},
    /* biceps */
    {0.003, 0.009, 0.180, 0.042, -6, 44, 0.012, 0.027, 0.168, 0.036, 1.0, 1.0, 0, 0, 0.017},
    /* triceps, long head and lateral head */
    {0.003, 0.011, 0.125, 0.048, 165, 40, 0.000, 0.003, 0.120, 0.055, 1.25, 0.9, 0, 0, 0},
    {0.002, 0.008, 0.150, 0.045, 225, 36, 0.000, 0.002, 0.145, 0.050, 1.1, 1.0, 0, 0, 0},
    /* brachioradialis, and the flexors on the other side */
    {0.003, 0.009, 0.350, 0.040, -55, 40, 0.006, 0.014, 0.355, 0.034, 1.0, 1.0, 0, 0, 0.007},
    {0.002, 0.006, 0.365, 0.042, 55, 42, 0.005, 0.011, 0.368, 0.036, 1.0, 1.0, 0, 0, 0.005},
    /* extensors on the back of the forearm */
    {0.001, 0.006, 0.372, 0.045, 215, 42, 0.001, 0.005, 0.375, 0.048, 1.0, 1.0, 0, 0, 0},
    /* the point of the elbow, and the ends of the humerus next to it */
    {0.003, 0.003, 0.304, 0.016, 180, 30, 0.019, 0.019, 0.301, 0.018, 1.0, 1.0, 0, 0, 0},
    {0.002, 0.002, 0.292, 0.014, 95, 26, 0.003, 0.003, 0.294, 0.016, 1.0, 1.0, 0, 0, 0},
    {0.0015, 0.0015, 0.294, 0.014, -95, 26, 0.002, 0.002, 0.296, 0.016, 1.0, 1.0, 0, 0, 0},
    /* the end of the ulna at the wrist */
    {0.002, 0.0025, 0.543, 0.012, 145, 28, 0.002, 0.0025, 0.543, 0.012, 1.0, 1.0, 0, 0, 0},
    /* the balls of the thumb and of the little finger; the hollow between them */
    {0.004, 0.005, 0.592, 0.016, -50, 26, 0.004, 0.005, 0.592, 0.016, 1.0, 1.0, 0, 0, 0},
    {0.002, 0.003, 0.595, 0.018, 50, 26, 0.002, 0.003, 0.595, 0.018, 1.0, 1.0, 0, 0, 0},
    {-0.002, -0.002, 0.620, 0.014, 0, 24, -0.002, -0.002, 0.620, 0.014, 1.0, 1.0, 0, 0, 0},
    /* below the shoulder: a raised arm hollows the armpit, a hanging one folds it */
    {0.001, 0.001, 0.000, 0.035, 180, 50, 0.001, 0.001, 0.000, 0.035, -7.0, 5.0, 0.01, -0.01, 0}};

static double bumps_at(exi_arm_look look, double x, double angle) {
    const double flexed = look.elbow / 110, up = look.shoulder > 0 ? look.shoulder / 60 : 0,
                 down = look.shoulder < 0 ? -look.shoulder / 60 : 0;
    double sum = 0;
    for (size_t i = 0; i < sizeof bumps / sizeof *bumps; i++) {
        const bump *b = &bumps[i];
        double height =
            mix(mix(b->slim, b->strong, look.gender), mix(b->flexed_slim, b->flexed_strong, look.gender), flexed) +
            look.load * flexed * b->load;
        height *= 1 + up * (b->up - 1) + down * (b->down - 1);
        double place = mix(b->x, b->flexed_x, flexed) + up * b->up_x + down * b->down_x;
        double turn = angle * 180 / PI - b->direction;
        turn -= turn > 180 ? 360 : turn < -180 ? -360 : 0;
        sum += height * bell((x - place) / mix(b->length, b->flexed_length, flexed)) * bell(turn / b->width);
    }
    return sum;
}

/* ---- the straight arm ---- */

/* A point of the surface. Columns are at even angles in the arm, and evenly spaced across the palm. */
static void surface_at(exi_arm_look look, double x, double column, double out[3]) {
    static const double across[11] = {0, 0.235, 0.47, 0.705, 0.93, 1, 0.93, 0.705, 0.47, 0.235, 0};
    static const double high[11] = {1, 1, 0.98, 0.95, 0.78, 0, -0.78, -0.95, -0.98, -1, -1};
    const double angle = 2 * PI * column / ARM_COLUMNS, flat = smooth_step(0.55, 0.625, x);
    const section s = section_at(x);
    const double factor = mix(1, s.strong, look.gender), inset = (SHOULDER_END - x) / SHOULDER_DEPTH;
    const double round = inset > 0 ? sqrt(inset < 1 ? 1 - inset * inset : 0) : 1;
    double sine, cosine;
    ex_sin_cos(angle, &sine, &cosine);
    double y = cosine, z = sine;
    if (flat > 0) {
        int c = (int)(column + 0.5) % ARM_COLUMNS;
        y = mix(y, high[c <= 10 ? c : 20 - c], flat);
        z = mix(z, c <= 10 ? across[c] : -across[20 - c], flat);
    }
    const double tall = (y > 0 ? s.palm : s.back) * factor, side = s.side * factor;
    const double ny = cosine / tall, nz = sine / side, length = sqrt(ny * ny + nz * nz);
    const double lift = bumps_at(look, x, angle);
    out[0] = x;
    out[1] = round * (y * tall + lift * ny / length);
    out[2] = round * (z * side + lift * nz / length);
}

/* Relative density of rings along the arm: highest at the elbow and in the hand. */
static double ring_density(double x) {
    return 1 + 0.9 * bell((x - ARM_ELBOW) / 0.05) + 0.4 * smooth_step(0.55, 0.59, x);
}

/* Finds the places at which the integral of the density has even steps. */
static void place_rings(double places[ARM_RINGS]) {
    enum { STEPS = 4000 };
    const double step = (KNUCKLES - FIRST_RING) / STEPS;
    double total = 0, sum = 0;
    for (int i = 0; i < STEPS; i++)
        total += ring_density(FIRST_RING + (i + 0.5) * step);
    for (int i = 0, ring = 0; i < STEPS; i++) {
        const double density = ring_density(FIRST_RING + (i + 0.5) * step);
        for (; ring < ARM_RINGS - 1 && sum + density > total * ring / (ARM_RINGS - 1); ring++)
            places[ring] = FIRST_RING + (i + (total * ring / (ARM_RINGS - 1) - sum) / density) * step;
        sum += density;
    }
    places[ARM_RINGS - 1] = KNUCKLES;
}

static void shape_tube(exi_arm_look look, double *positions) {
    double places[ARM_RINGS];
    place_rings(places);
    for (int ring = 0; ring < ARM_RINGS; ring++) {
        const double x = places[ring], side = section_at(x).side * mix(1, section_at(x).strong, look.gender);
        for (int c = 0; c < ARM_COLUMNS; c++) {
            double *p = positions + 3 * (size_t)exi_arm_vertex(ring, c);
            surface_at(look, x, c, p);
            /* The knuckles lie on a curve, furthest out at the middle finger. */
            const double across = p[2] / side + 0.2;
            p[0] += smooth_step(0.60, KNUCKLES, x) * (0.008 - 0.013 * across * across);
        }
    }
}

/* Column of a place (a, b) on the square of half side `size` about the middle of the shoulder's patch, counted from the
 * patch's first corner against the direction of the other columns; a side is five columns long. */
static double column_on_square(double a, double b, double size) {
    if (a == -size)
        return 2.5 * (1 + b / size);
    if (b == size)
        return 5 + 2.5 * (1 + a / size);
    if (a == size)
        return 10 + 2.5 * (1 - b / size);
    return 15 + 2.5 * (1 - a / size);
}

/* The patch continues the rings: squares about its middle become rings that are smaller and further out. */
static void shape_shoulder(exi_arm_look look, double *positions) {
    const double inset = (SHOULDER_END - FIRST_RING) / SHOULDER_DEPTH, rim = sqrt(1 - inset * inset);
    for (int j = 0; j < ARM_CAP; j++)
        for (int i = 0; i < ARM_CAP; i++) {
            const double a = 2 * j - 3, b = 2 * i - 3, size = fabs(a) > fabs(b) ? fabs(a) : fabs(b), part = size / 5;
            double *p = positions + 3 * (size_t)(ARM_FIRST_CAP + j * ARM_CAP + i);
            double column = ARM_COLUMNS - 2 - column_on_square(a, b, size);
            surface_at(look, FIRST_RING, column < 0 ? column + ARM_COLUMNS : column, p);
            p[0] = SHOULDER_END - SHOULDER_DEPTH * sqrt(1 - part * part * rim * rim);
            p[1] *= part;
            p[2] *= part;
        }
}

/* ---- the pose ---- */

static void turn(double p[3], double centre, double degrees) {
    double sine, cosine;
    ex_sin_cos(degrees * PI / 180, &sine, &cosine);
    const double x = p[0] - centre, y = p[1];
    p[0] = centre + x * cosine - y * sine;
    p[1] = x * sine + y * cosine;
}

/* Flesh on the inner side yields to that of the other bone: the height tends to `limit` and never reaches it. */
static double yielding(double height, double limit) {
    const double t = height / limit, q = t * t * t * t;
    return height <= 0 ? height : height / sqrt(sqrt(1 + q));
}

static void bend_elbow(double p[3], double degrees) {
    if (degrees <= 0)
        return;
    double sine, cosine;
    ex_sin_cos(degrees * PI / 360, &sine, &cosine);
    const double radius = ARM_BEND * cosine / sine, d = p[0] - ARM_ELBOW, part = d / ARM_BEND;
    const double limit = radius * (fabs(part) > 1 ? fabs(part) : 1);
    p[1] = yielding(p[1], 0.88 * limit);
    if (part >= 1)
        turn(p, ARM_ELBOW, degrees);
    else if (part > -1) {
        /* The arc begins ARM_BEND before the joint; its centre is above that place. */
        const double phi = (part + 1) * degrees / 2 * PI / 180, r = radius - p[1];
        ex_sin_cos(phi, &sine, &cosine);
        p[0] = ARM_ELBOW - ARM_BEND + r * sine;
        p[1] = radius - r * cosine;
    }
}

/* Turns the entire arm in its socket, but the shoulder's end only in part: the shoulder blade turns less. */
static void turn_shoulder(double p[3], double degrees) {
    turn(p, 0, -0.4 * degrees * smooth_step(0.045, -0.075, p[0]));
    turn(p, 0, degrees);
}

void exi_arm_round(double *positions) {
    for (size_t i = 0; i < 3 * (size_t)ARM_VERTICES; i++)
        positions[i] = floor(positions[i] * 1e7 + 0.5) / 1e7;
}

void exi_arm_shape_straight(exi_arm_look look, double *positions) {
    shape_tube(look, positions);
    shape_shoulder(look, positions);
    exi_arm_shape_hand(look.gender, positions);
}

void exi_arm_shape(exi_arm_look look, double *positions) {
    exi_arm_shape_straight(look, positions);
    for (int v = 0; v < ARM_VERTICES; v++) {
        bend_elbow(positions + 3 * (size_t)v, look.elbow);
        turn_shoulder(positions + 3 * (size_t)v, look.shoulder);
    }
    exi_arm_round(positions);
}
