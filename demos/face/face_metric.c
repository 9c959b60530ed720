/*
 * The metrics of the demo `face` (Shape by Example, 6.3): fields of vertex offsets, of which every head is a linear
 * combination on top of the generic head. Most are sums of soft strokes, like those of a sculptor's brush; some scale a
 * part of the head. Within an eye every field is made constant: lids and eyeball move together, so that a blink made on
 * the generic head closes every head's eyes.
 */
#include "face.h"

#include <exemplar/maths.h>

/* A stroke: around a place, and its mirror image if that is not on the middle plane, within about `width` along each
 * axis, vertices move by `move` and by `out` along the skin's normal. On the middle plane move.x spreads.
 * Millimetres. */
typedef struct stroke {
    face_metric metric;
    point at, width, move;
    double out;
} stroke;

static const stroke strokes[] = {
    {FACE_FOREHEAD, {0, 52, 76}, {48, 26, 40}, {0, 0, 3.5}, 0},
    {FACE_BROW, {14, 23, 86}, {14, 8, 14}, {0, -1.2, 3.6}, 0},
    {FACE_BROW, {36, 23, 74}, {16, 8, 16}, {0.5, -1.6, 3.0}, 0},
    {FACE_EYE_SPACING, {31.5, 0, 76}, {26, 22, 26}, {2.4, 0, 0}, 0},
    {FACE_CHEEK_BONES, {53, -19, 46}, {17, 13, 24}, {3.2, 0.8, 1.0}, 0},
    {FACE_CHEEKS, {46, -55, 40}, {24, 30, 32}, {0, 0, 0}, 6.0},
    {FACE_CHEEKS, {34, -36, 70}, {18, 14, 20}, {0, 0, 0}, 1.8},
    {FACE_NOSE_LENGTH, {0, -36, 104}, {17, 15, 20}, {0, -3.2, 2.4}, 0},
    {FACE_NOSE_LENGTH, {0, -14, 98}, {12, 16, 16}, {0, -0.8, 1.2}, 0},
    {FACE_NOSE_WIDTH, {0, -37, 97}, {15, 12, 18}, {2.9, 0, 0}, 0},
    {FACE_NOSE_WIDTH, {0, -12, 92}, {15, 18, 14}, {1.4, 0, 0}, 0},
    {FACE_NOSE_BRIDGE, {0, -8, 97}, {9, 13, 14}, {0, 0, 2.8}, 0},
    {FACE_NOSE_BRIDGE, {0, 12, 90}, {10, 12, 12}, {0, 0, 1.2}, 0},
    {FACE_NOSE_TIP, {0, -36, 108}, {13, 11, 12}, {0, 3.0, 0.6}, 0},
    {FACE_LIPS, {0, -62.5, 93}, {17, 4.6, 14}, {0, 1.7, 1.0}, 0},
    {FACE_LIPS, {0, -74.0, 92}, {16, 5.0, 14}, {0, -1.9, 1.1}, 0},
    {FACE_MOUTH_WIDTH, {0, -68, 86}, {30, 14, 24}, {3.6, 0, 0}, 0},
    {FACE_JAW_WIDTH, {50, -64, 10}, {20, 24, 34}, {5.0, -1.0, 0}, 0},
    {FACE_JAW_WIDTH, {26, -96, 50}, {16, 15, 22}, {3.6, 0, 0}, 0},
    {FACE_CHIN, {0, -101, 80}, {24, 17, 26}, {1.2, -2.8, 3.8}, 0},
    {FACE_DOUBLE_CHIN, {0, -113, 32}, {46, 24, 31}, {0, -6.0, 2.5}, 3.5},
    {FACE_DOUBLE_CHIN, {36, -94, 24}, {24, 25, 32}, {0, -2.0, 0}, 6.5},
    {FACE_SAG, {36, -88, 46}, {15, 15, 20}, {1.2, -3.6, 0}, 2.0},
    {FACE_SAG, {42, -52, 54}, {18, 18, 22}, {0, -2.2, 0}, -1.6},
    {FACE_SAG, {34, -15.5, 80}, {12, 5.0, 12}, {0, -0.8, 1.1}, 0},
    {FACE_SAG, {58, 18, 44}, {14, 16, 16}, {0, 0, 0}, -2.2},
    {FACE_SAG, {0, -36, 106}, {15, 12, 14}, {0, -1.6, 0}, 0},
    {FACE_SAG, {0, -112, 40}, {20, 24, 24}, {0, -3.0, 2.0}, 0},
    {FACE_FOLDS, {21, -46, 86}, {5.0, 8, 12}, {0, 0, 0}, -2.2},
    {FACE_FOLDS, {27, -56, 82}, {5.0, 8, 12}, {0, 0, 0}, -2.4},
    {FACE_FOLDS, {31, -67, 76}, {5.0, 8, 12}, {0, 0, 0}, -1.8},
    {FACE_FOLDS, {33, -47, 76}, {9, 13, 14}, {0, 0, 0}, 1.5},
    {FACE_SMILE, {26, -68, 80}, {12, 10, 20}, {5.2, 6.4, -3.0}, 0},
    {FACE_SMILE, {13, -68, 90}, {12, 10, 20}, {1.8, 1.2, -1.0}, 0},
    {FACE_SMILE, {0, -68, 92}, {13, 11, 16}, {0, -0.7, -1.0}, 0},
    {FACE_SMILE, {40, -34, 66}, {15, 13, 20}, {1.0, 2.6, 0}, 3.4},
    {FACE_SMILE, {27, -48, 82}, {5.5, 10, 12}, {0, 0, 0}, -1.5},
    {FACE_SMILE, {14, -39, 94}, {8, 8, 12}, {1.1, 0.9, 0}, 0},
};
enum { STROKES = sizeof strokes / sizeof *strokes };

static double weight(point p, point at, point width) {
    double x = (p.x - at.x) / width.x, y = (p.y - at.y) / width.y, z = (p.z - at.z) / width.z;
    return ex_exp(-(x * x + y * y + z * z));
}

/* Sum of the strokes of a metric, in millimetres like p. */
static point stroke_sum(face_metric metric, point p, point normal) {
    point sum = {0, 0, 0};
    for (int i = 0; i < STROKES; i++) {
        const stroke *s = &strokes[i];
        if (s->metric != metric)
            continue;
        double left = weight(p, s->at, s->width);
        double right = s->at.x > 0 ? weight(point_mirror(p), s->at, s->width) : 0;
        double both = left + right, side = s->at.x > 0 ? left - right : left * clamped(p.x / s->width.x, -1.5, 1.5);
        sum = point_add(sum, (point){s->move.x * side, s->move.y * both, s->move.z * both});
        sum = point_add(sum, point_scale(normal, s->out * both));
    }
    return sum;
}

/* The parts of a metric that are not strokes, in metres. */
static point scaling(face_metric metric, point p, point normal, bool ear) {
    const double above = smooth_step(-0.09, 0.0, p.y), neck = 1 - smooth_step(-0.125, -0.085, p.y);
    const point ear_at = {p.x < 0 ? -0.071 : 0.071, -0.008, -0.012};
    /* Hair stays clear of the ears. */
    const point from_ear = point_subtract((point){fabs(p.x), p.y, p.z}, (point){0.078, 0.004, -0.020});
    const double hair = exi_face_hair(p), clear = smooth_step(0.014, 0.046, point_length(from_ear));
    switch (metric) {
    case FACE_HEAD_WIDTH:
        return (point){0.055 * p.x * (0.25 + 0.75 * above), 0, 0};
    case FACE_HEAD_LENGTH:
        return (point){0, 0, 0.055 * p.z * (1 - smooth_step(-0.02, 0.02, p.z)) * above};
    case FACE_FACE_LENGTH:
        return (point){0, 0.065 * p.y * (1 - smooth_step(-0.06, 0.03, p.y)) - 0.0008, 0};
    case FACE_FOREHEAD:
        return (point){0, 0.075 * (p.y - 0.02) * smooth_step(0.01, 0.06, p.y), 0};
    case FACE_EARS_SIZE:
        return ear ? point_scale(point_subtract(p, ear_at), 0.14) : (point){0, 0, 0};
    case FACE_NECK:
        return (point){0.13 * p.x * neck, 0, 0.13 * (p.z + 0.04) * neck};
    case FACE_HAIR_TOP: /* hair: thick on top, flat at the line and over the ears */
        return point_scale(normal, ear ? 0
                                       : 0.012 * clear * smooth_step(-0.002, 0.042, hair) *
                                             (0.5 + 0.5 * smooth_step(0.02, 0.09, p.y)));
    case FACE_HAIR_BACK: /* and behind the ears down to the nape */
        return point_scale(normal, ear ? 0
                                       : 0.015 * clear * smooth_step(-0.006, 0.075, hair) *
                                             smooth_step(0.005, -0.06, p.z) * (1 - smooth_step(0.03, 0.11, p.y)));
    default:
        return (point){0, 0, 0};
    }
}

static point offset_at(face_metric metric, point p, point normal, bool ear) {
    point sum = stroke_sum(metric, point_scale(p, 1000), normal);
    return point_add(point_scale(sum, 0.001), scaling(metric, p, normal, ear));
}

void exi_face_add_metric(const exi_face *face, face_metric metric, double amount, double *offsets) {
    const ex_mesh *mesh = face->mesh;
    const point eye = {FACE_EYE_X, 0, FACE_EYE_Z};
    const point level = {0, 0, 1};
    const point of_eye = offset_at(metric, (point){eye.x, eye.y, eye.z + FACE_EYE_RADIUS}, level, false);
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *q = mesh->positions + 3 * v;
        const point p = {q[0], q[1], q[2]}, at = {fabs(q[0]), q[1], q[2]};
        const bool ear = face->paint[v * FACE_PAINT_COUNT + FACE_EAR] > 0;
        const bool eyeball = face->paint[v * FACE_PAINT_COUNT + FACE_EYE] > 0;
        point d = eyeball ? of_eye : offset_at(metric, p, face->normals[v], ear);
        const point from_eye = point_subtract(at, eye);
        double distance = point_length(from_eye);
        double within = eyeball ? 1 : 1 - smooth_step(FACE_EYE_RADIUS + 0.004, FACE_EYE_RADIUS + 0.018, distance);
        if (metric == FACE_SMILE) { /* cheeks only push the lower lids up */
            double lower = smooth_step(0.002, -0.004, p.y) * smooth_step(0.016, 0.008, fabs(from_eye.x));
            d = eyeball ? (point){0, 0, 0} : point_mix(d, (point){0, 0.0011 * lower, 0}, within);
        } else {
            point rigid = {p.x < 0 ? -of_eye.x : of_eye.x, of_eye.y, of_eye.z};
            d = point_mix(d, rigid, within);
        }
        if (metric == FACE_EYE_SIZE) {
            point grow = point_scale(from_eye, 0.035 * within);
            d = point_add(d, (point){p.x < 0 ? -grow.x : grow.x, grow.y, grow.z});
        }
        offsets[3 * v] += amount * d.x;
        offsets[3 * v + 1] += amount * d.y;
        offsets[3 * v + 2] += amount * d.z;
    }
}
