/*
 * The solid of the demo `creature`: tapered bars with round ends, blended one after the other, and the skeleton that
 * they belong to. Every bar's distance is exact and a soft union is never steeper than its parts, so the value at a
 * point is a distance within which there is no skin.
 */
#include "creature.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- the skeleton ---- */

typedef struct joint {
    int parent;
    double place[3]; /* of the right one of a pair; the left one's z is negative */
    bool pair;
} joint;

/* In the order of exi_creature_bone, pairs listed once. */
static const joint joints[] = {
    {-1, {0.00, 0.60, 0}, false},                    /* body */
    {CREATURE_BODY, {-0.13, 0.615, 0}, false},       /* hips */
    {CREATURE_BODY, {0.13, 0.60, 0}, false},         /* chest */
    {CREATURE_CHEST, {0.32, 0.66, 0}, false},        /* neck */
    {CREATURE_NECK, {0.455, 0.845, 0}, false},       /* head */
    {CREATURE_CHEST, {0.265, 0.56, 0.085}, true},    /* arm */
    {CREATURE_ARM, {0.205, 0.365, 0.100}, true},     /* forearm */
    {CREATURE_FOREARM, {0.245, 0.105, 0.100}, true}, /* hand */
    {CREATURE_HIPS, {-0.31, 0.58, 0.075}, true},     /* thigh */
    {CREATURE_THIGH, {-0.235, 0.355, 0.110}, true},  /* shank */
    {CREATURE_SHANK, {-0.395, 0.195, 0.105}, true},  /* foot */
    {CREATURE_FOOT, {-0.365, 0.055, 0.105}, true},   /* toes */
    {CREATURE_HIPS, {-0.405, 0.655, 0}, false},      /* the tail starts here */
    {CREATURE_TAIL_FIRST, {-0.51, 0.635, 0}, false},
    {CREATURE_TAIL_FIRST + 1, {-0.615, 0.585, 0}, false},
    {CREATURE_TAIL_FIRST + 2, {-0.71, 0.525, 0}, false},
    {CREATURE_TAIL_FIRST + 3, {-0.81, 0.480, 0}, false},
    {CREATURE_TAIL_FIRST + 4, {-0.92, 0.460, 0}, false},
    {CREATURE_TAIL_FIRST + 5, {-1.03, 0.470, 0}, false},
    {CREATURE_TAIL_FIRST + 6, {-1.135, 0.510, 0}, false},
};

static const double tail_end[3] = {-1.22, 0.565, 0};
static const double tail_radii[CREATURE_TAIL + 1] = {0.050, 0.050, 0.053, 0.058, 0.063, 0.065, 0.060, 0.049, 0.028};

/* The line of the table; *left: true for the left one of a pair. */
static const joint *joint_of(int bone, bool *left) {
    const int single = CREATURE_ARM, pairs = CREATURE_TAIL_FIRST;
    *left = bone >= single && bone < pairs && (bone - single) % 2 == 0;
    return &joints[bone < single ? bone : bone < pairs ? single + (bone - single) / 2 : bone - (pairs - single) / 2];
}

int exi_creature_parent(int bone) {
    bool left;
    const joint *j = joint_of(bone, &left);
    const joint *parent = j->parent < 0 ? NULL : joint_of(j->parent, &(bool){false});
    return j->pair && parent->pair && !left ? j->parent + 1 : j->parent;
}

void exi_creature_joint(int bone, double place[3]) {
    bool left;
    const joint *j = joint_of(bone, &left);
    for (int c = 0; c < 3; c++)
        place[c] = c == 2 && left ? 0 - j->place[c] : j->place[c];
}

/* ---- flesh ---- */

typedef struct piece {
    int bone; /* the left one of a pair */
    bool pair;
    double a[3], ra, b[3], rb;
    double soft; /* distance over which it is blended with earlier bars */
} piece;

static const piece bars[] = {
    {CREATURE_CHEST, false, {0.24, 0.585, 0}, 0.150, {0.08, 0.570, 0}, 0.148, 0.02},
    {CREATURE_CHEST, false, {0.22, 0.515, 0}, 0.118, {0.08, 0.520, 0}, 0.115, 0.06},
    {CREATURE_CHEST, false, {0.25, 0.590, 0}, 0.130, {0.335, 0.590, 0}, 0.095, 0.04},
    {CREATURE_BODY, false, {0.08, 0.575, 0}, 0.145, {-0.15, 0.612, 0}, 0.115, 0.03},
    {CREATURE_HIPS, false, {-0.15, 0.613, 0}, 0.115, {-0.335, 0.615, 0}, 0.110, 0.02},
    {CREATURE_NECK, false, {0.31, 0.650, 0}, 0.105, {0.445, 0.825, 0}, 0.083, 0.10},
    {CREATURE_HEAD, false, {0.462, 0.865, 0}, 0.102, {0.505, 0.865, 0}, 0.099, 0.05},
    {CREATURE_HEAD, false, {0.520, 0.835, 0}, 0.066, {0.645, 0.800, 0}, 0.036, 0.06},        /* snout */
    {CREATURE_HEAD, false, {0.655, 0.812, 0}, 0.022, {0.662, 0.813, 0}, 0.021, 0.015},       /* nose */
    {CREATURE_HEAD, true, {0.485, 0.835, 0.055}, 0.055, {0.515, 0.828, 0.045}, 0.05, 0.03},  /* cheeks */
    {CREATURE_HEAD, true, {0.540, 0.892, 0.038}, 0.030, {0.520, 0.905, 0.045}, 0.030, 0.03}, /* brows */
    {CREATURE_HEAD, true, {0.450, 0.925, 0.062}, 0.044, {0.425, 1.030, 0.105}, 0.021, 0.03}, /* ears */
    {CREATURE_HEAD, true, {0.470, 0.925, 0.045}, 0.036, {0.428, 1.025, 0.100}, 0.021, 0.02},
    {CREATURE_ARM, true, {0.265, 0.550, 0.075}, 0.085, {0.210, 0.370, 0.100}, 0.060, 0.06},
    {CREATURE_FOREARM, true, {0.208, 0.365, 0.100}, 0.057, {0.245, 0.115, 0.100}, 0.040, 0.03},
    {CREATURE_HAND, true, {0.245, 0.105, 0.100}, 0.040, {0.255, 0.070, 0.100}, 0.042, 0.02},
    {CREATURE_HAND, true, {0.255, 0.052, 0.100}, 0.044, {0.318, 0.042, 0.100}, 0.041, 0.03},
    {CREATURE_THIGH, true, {-0.315, 0.570, 0.062}, 0.115, {-0.245, 0.380, 0.105}, 0.074, 0.07},
    {CREATURE_SHANK, true, {-0.240, 0.358, 0.110}, 0.069, {-0.385, 0.205, 0.105}, 0.041, 0.04},
    {CREATURE_FOOT, true, {-0.393, 0.195, 0.105}, 0.040, {-0.368, 0.070, 0.105}, 0.037, 0.02},
    {CREATURE_TOES, true, {-0.360, 0.050, 0.105}, 0.043, {-0.285, 0.042, 0.105}, 0.041, 0.03},
};
enum { BARS = sizeof bars / sizeof *bars };

void exi_creature_flesh_add(exi_creature_flesh *flesh, int bone, const double from[3], double from_radius,
                            const double to[3], double to_radius, double soft) {
    exi_creature_bar *made = &flesh->bars[flesh->count++];
    double squared = 0;
    *made = (exi_creature_bar){.bone = bone, .from_radius = from_radius, .to_radius = to_radius, .soft = soft};
    for (int c = 0; c < 3; c++) {
        made->from[c] = from[c];
        made->along[c] = to[c] - from[c];
        made->middle[c] = (from[c] + to[c]) / 2;
        squared += made->along[c] * made->along[c];
    }
    made->length = sqrt(squared);
    for (int c = 0; c < 3; c++)
        made->along[c] /= made->length;
    made->reach = made->length / 2 + (from_radius > to_radius ? from_radius : to_radius);
}

static void add_bar(exi_creature_flesh *flesh, int bone, const piece *b, bool left) {
    const double sign = left ? -1 : 1, from[3] = {b->a[0], b->a[1], sign * b->a[2]};
    exi_creature_flesh_add(flesh, bone, from, b->ra, (const double[3]){b->b[0], b->b[1], sign * b->b[2]}, b->rb,
                           b->soft);
}

void exi_creature_flesh_make(exi_creature_flesh *flesh) {
    flesh->count = 0;
    for (int i = 0; i < BARS; i++) {
        const int right = bars[i].bone + (bars[i].bone >= CREATURE_ARM ? 1 : 0); /* the head has both sides */
        add_bar(flesh, bars[i].bone, &bars[i], bars[i].pair);
        if (bars[i].pair)
            add_bar(flesh, right, &bars[i], false);
    }
    for (int i = 0; i < CREATURE_TAIL; i++) {
        piece link = {.ra = tail_radii[i], .rb = tail_radii[i + 1], .soft = i == 0 ? 0.06 : 0.015};
        memcpy(link.b, tail_end, sizeof link.b);
        exi_creature_joint(CREATURE_TAIL_FIRST + i, link.a);
        if (i + 1 < CREATURE_TAIL)
            exi_creature_joint(CREATURE_TAIL_FIRST + i + 1, link.b);
        add_bar(flesh, CREATURE_TAIL_FIRST + i, &link, false);
    }
}

/* Distance to the nearest ball that rolls along the bar from one end to the other: its centre is where the
 * perpendicular to the slanting side meets the axis. */
static double bar_distance(const exi_creature_bar *bar, const double p[3], double gradient[3]) {
    double d[3], y = 0, x = 0;
    for (int c = 0; c < 3; c++) {
        d[c] = p[c] - bar->from[c];
        y += d[c] * bar->along[c];
    }
    for (int c = 0; c < 3; c++)
        x += (d[c] - y * bar->along[c]) * (d[c] - y * bar->along[c]);
    const double sine = (bar->from_radius - bar->to_radius) / bar->length, cosine = sqrt(1 - sine * sine);
    double t = (y - sqrt(x) * sine / cosine) / bar->length, length = 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int c = 0; c < 3; c++) {
        gradient[c] = d[c] - t * bar->length * bar->along[c];
        length += gradient[c] * gradient[c];
    }
    length = sqrt(length);
    for (int c = 0; c < 3; c++)
        gradient[c] = length > 0 ? gradient[c] / length : 0;
    return length - (bar->from_radius + t * (bar->to_radius - bar->from_radius));
}

/* True if a point is farther than `beyond` from the bar's bounding ball. */
static bool far_from(const exi_creature_bar *bar, const double p[3], double beyond) {
    double squared = 0;
    for (int c = 0; c < 3; c++)
        squared += (p[c] - bar->middle[c]) * (p[c] - bar->middle[c]);
    const double limit = beyond + bar->reach;
    return limit > 0 && squared > limit * limit;
}

double exi_creature_field(const exi_creature_flesh *flesh, const double p[3], double gradient[3]) {
    double value = 1e3, slope[3] = {0, 0, 0}, own[3];
    for (int i = 0; i < flesh->count; i++) {
        const exi_creature_bar *bar = &flesh->bars[i];
        if (far_from(bar, p, value + bar->soft)) /* it would change nothing */
            continue;
        const double d = bar_distance(bar, p, own), apart = fabs(d - value);
        /* The smaller of both, rounded where they differ by less than `soft`. */
        const double h = apart < bar->soft ? (bar->soft - apart) / bar->soft : 0, part = d < value ? 1 - h / 2 : h / 2;
        value = (d < value ? d : value) - h * h * bar->soft / 4;
        for (int c = 0; c < 3; c++)
            slope[c] += part * (own[c] - slope[c]);
    }
    for (int c = 0; gradient && c < 3; c++)
        gradient[c] = slope[c];
    return value;
}

void exi_creature_bone_fields(const exi_creature_flesh *flesh, const double p[3], double distances[CREATURE_BONES]) {
    double gradient[3];
    for (int b = 0; b < CREATURE_BONES; b++)
        distances[b] = 1e3;
    for (int i = 0; i < flesh->count; i++) {
        const double d = bar_distance(&flesh->bars[i], p, gradient);
        if (d < distances[flesh->bars[i].bone])
            distances[flesh->bars[i].bone] = d;
    }
}

void exi_creature_project(const exi_creature_flesh *flesh, double p[3]) {
    for (int step = 0; step < 3; step++) {
        double g[3];
        const double value = exi_creature_field(flesh, p, g), squared = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
        for (int c = 0; squared > 0.01 && c < 3; c++) /* in a crease the gradient is small: the point stays */
            p[c] -= value * g[c] / squared;
    }
}
