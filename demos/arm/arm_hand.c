/*
 * Fingers and thumb of the demo `arm`: round tubes from the loops of vertices at their bases, slightly bent towards the
 * palm as in an open, relaxed hand.
 */
#include "arm.h"

#include <exemplar/maths.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct finger {
    double length;
    double width, height; /* half sizes, in metres */
    double splay, curl;   /* degrees: turned towards +z; bent towards the palm over its length */
} finger;

/* A ring of a finger: its position along the finger, and its thickness. */
typedef struct station {
    double along, thick;
} station;

/* Axes of a finger: along, across (from the loop's first to third vertex), towards its palm. */
typedef struct axes {
    double along[3], across[3], palm[3];
} axes;

static void middle_of(const double *positions, const int *loop, double middle[3]) {
    memset(middle, 0, 3 * sizeof *middle);
    for (int i = 0; i < ARM_LOOP; i++)
        for (int c = 0; c < 3; c++)
            middle[c] += positions[3 * (size_t)loop[i] + (size_t)c] / ARM_LOOP;
}

/* Point and direction of the finger's centre line: an arc. */
static void follow(const axes *a, const double base[3], double length, double curl, double t, double centre[3],
                   double palm[3]) {
    const double angle = curl * 3.14159265358979323846 / 180, phi = angle * t;
    double sine, cosine;
    ex_sin_cos(phi, &sine, &cosine);
    const double forth = length * sine / angle, up = length * (1 - cosine) / angle;
    for (int c = 0; c < 3; c++) {
        centre[c] = base[c] + forth * a->along[c] + up * a->palm[c];
        palm[c] = cosine * a->palm[c] - sine * a->along[c];
    }
}

static void shape_finger(const finger *f, const axes *a, const double base[3], const station *stations, int rings,
                         int start, int tip, double *positions) {
    /* The loop's vertices on a rounded square. */
    static const double corners[ARM_LOOP][2] = {{-0.76, 0.76}, {0, 1},  {0.76, 0.76},   {1, 0},
                                                {0.76, -0.76}, {0, -1}, {-0.76, -0.76}, {-1, 0}};
    double centre[3], palm[3];
    for (int ring = 0; ring < rings; ring++) {
        follow(a, base, f->length, f->curl, stations[ring].along, centre, palm);
        for (int i = 0; i < ARM_LOOP; i++) {
            double *p = positions + 3 * (size_t)(start + ring * ARM_LOOP + i);
            for (int c = 0; c < 3; c++)
                p[c] = centre[c] + stations[ring].thick *
                                       (f->width * corners[i][0] * a->across[c] + f->height * corners[i][1] * palm[c]);
        }
    }
    follow(a, base, f->length, f->curl, 1, positions + 3 * (size_t)tip, palm);
}

static void normalise(double v[3]) {
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int c = 0; c < 3; c++)
        v[c] /= length;
}

void exi_arm_shape_hand(double gender, double *positions) {
    static const finger fingers[ARM_FINGERS] = {{0.072, 0.0090, 0.0088, -5, 24},
                                                {0.080, 0.0092, 0.0090, -1, 26},
                                                {0.074, 0.0089, 0.0087, 4, 28},
                                                {0.057, 0.0079, 0.0077, 9, 30}};
    static const station stations[ARM_FINGER_RINGS] = {{0.16, 0.98}, {0.48, 1.0}, {0.78, 0.92}, {0.95, 0.64}};
    static const station thumb_stations[ARM_THUMB_RINGS] = {{0.34, 1.10}, {0.70, 1.0}, {0.94, 0.66}};
    const double size = 1 + 0.1 * gender;
    int loop[ARM_LOOP];
    double base[3];
    for (int w = 0; w < ARM_WEBS; w++) {
        /* The skin between two fingers, midway between palm and back. */
        exi_arm_finger_base(w, loop);
        for (int c = 0; c < 3; c++)
            positions[3 * (size_t)(ARM_FIRST_WEB + w) + (size_t)c] =
                (positions[3 * (size_t)loop[2] + (size_t)c] + positions[3 * (size_t)loop[4] + (size_t)c]) / 2;
        positions[3 * (size_t)(ARM_FIRST_WEB + w)] += 0.002;
    }
    for (int f = 0; f < ARM_FINGERS; f++) {
        finger grown = fingers[f];
        double sine, cosine;
        ex_sin_cos(grown.splay * 3.14159265358979323846 / 180, &sine, &cosine);
        const axes a = {{cosine, 0, sine}, {-sine, 0, cosine}, {0, 1, 0}};
        grown.length *= 1 + 0.06 * gender;
        grown.width *= size;
        grown.height *= size;
        exi_arm_finger_base(f, loop);
        middle_of(positions, loop, base);
        const int start = ARM_FIRST_FINGER + f * ARM_FINGER_SIZE;
        shape_finger(&grown, &a, base, stations, ARM_FINGER_RINGS, start, start + ARM_FINGER_SIZE - 1, positions);
    }
    /* The thumb points towards the fingers and away from them, slightly above the palm. */
    const finger thumb = {0.060 * size, 0.0105 * size, 0.0098 * size, 0, 20};
    axes a = {{0.62, 0.22, -0.76}, {0.76, 0.1, 0.62}, {0, 0, 0}};
    normalise(a.along);
    const double *t = a.along;
    double *u = a.across;
    const double dot = u[0] * t[0] + u[1] * t[1] + u[2] * t[2];
    for (int c = 0; c < 3; c++)
        u[c] -= dot * t[c];
    normalise(u);
    /* Around the thumb, vertices run from palm to across, so that palm x across is along. */
    a.palm[0] = u[1] * t[2] - u[2] * t[1];
    a.palm[1] = u[2] * t[0] - u[0] * t[2];
    a.palm[2] = u[0] * t[1] - u[1] * t[0];
    exi_arm_thumb_base(loop);
    middle_of(positions, loop, base);
    shape_finger(&thumb, &a, base, thumb_stations, ARM_THUMB_RINGS, ARM_FIRST_THUMB,
                 exi_arm_vertex(ARM_THUMB, ARM_THUMB_COLUMN), positions);
}
