/*
 * The demo `shoulder` (Pose Space Deformation, figure 8): an upper arm on half a torso. The space is one axis, the
 * direction of the arm: the swing of its joint, independent of the turn about the arm and of the quaternion's sign.
 * Seven sculpts surround the rest pose.
 *
 * In the sculpts every vertex turns about the joint by its fraction of the rotation, and so keeps its distance from it;
 * soft strokes raise the deltoid, pull the side along with a lifted arm, and press the chest out in front of it.
 */
#include "shoulder.h"

#include "demos/bones.h"

#include <exemplar/maths.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI         3.14159265358979323846
#define FOLD_BEGIN (-0.055) /* along x: where folded skin begins to turn with the arm, and where it turns fully */
#define FOLD_END   0.06
#define DRAW_BEGIN (-0.10) /* the same for stretched skin */
#define DRAW_END   0.12

static const char project[] =
    "{\n"
    "  \"exemplar\": 1,\n"
    "  \"mesh\": \"rest.obj\",\n"
    "  \"skeleton\": \"skeleton.glb\",\n"
    "  \"skinning\": \"linear\",\n"
    "  \"layers\": [\n"
    "    {\n"
    "      \"name\": \"shoulder\",\n"
    "      \"space\": [\n"
    "        {\"name\": \"shoulder\", \"joint\": \"arm\", \"rotation\": \"swing\", \"about\": \"x\"}\n"
    "      ],\n"
    "      \"weigh\": {\"kind\": \"calm\"},\n"
    "      \"shape\": \"offsets\",\n"
    "      \"examples\": [\n"
    "        {\"name\": \"up\", \"mesh\": \"up.obj\", \"at\": {\"shoulder\": {\"z\": 60}}},\n"
    "        {\"name\": \"down\", \"mesh\": \"down.obj\", \"at\": {\"shoulder\": {\"z\": -75}}},\n"
    "        {\"name\": \"forward\", \"mesh\": \"forward.obj\", \"at\": {\"shoulder\": {\"y\": -85}}},\n"
    "        {\"name\": \"back\", \"mesh\": \"back.obj\", \"at\": {\"shoulder\": {\"y\": 40}}},\n"
    "        {\"name\": \"up_forward\", \"mesh\": \"up_forward.obj\", \"at\": {\"shoulder\": {\"y\": -60, \"z\": "
    "45}}},\n"
    "        {\"name\": \"down_forward\", \"mesh\": \"down_forward.obj\", \"at\": {\"shoulder\": {\"y\": -60, \"z\": "
    "-40}}},\n"
    "        {\"name\": \"down_back\", \"mesh\": \"down_back.obj\", \"at\": {\"shoulder\": {\"y\": 35, \"z\": -45}}}\n"
    "      ]\n"
    "    }\n"
    "  ],\n"
    "  \"subdivide\": {\"scheme\": \"catmull_clark\", \"levels\": 1, \"limit\": true}\n"
    "}\n";

/* Turned about y, then about the resulting z, in degrees. */
static const struct {
    const char *file;
    double y, z;
} forms[] = {
    {"rest.obj", 0, 0},  {"up.obj", 0, 60},           {"down.obj", 0, -75},           {"forward.obj", -85, 0},
    {"back.obj", 40, 0}, {"up_forward.obj", -60, 45}, {"down_forward.obj", -60, -40}, {"down_back.obj", 35, -45}};

static double smooth_step(double a, double b, double x) {
    double t = (x - a) / (b - a);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

/* ---- the skin ---- */

static double part_of_arm(const double p[3]) {
    return smooth_step(-0.06, 0.065, p[0]);
}

static void weigh_vertex(const double place[3], float weights[BONES_MAX]) {
    weights[1] = (float)part_of_arm(place);
    weights[0] = 1 - weights[1];
    weights[2] = weights[3] = 0;
}

static const exi_bone bones[] = {{"torso", -1, {-0.2, -0.2, 0}}, {"arm", 0, {0, 0, 0}}};

/* ---- sculpting ---- */

typedef struct rotation {
    double axis[3], angle;
} rotation;

/* The shortest rotation that takes x to the direction: a swing. */
static rotation swing_to(const double to[3]) {
    const double across = sqrt(to[1] * to[1] + to[2] * to[2]);
    if (across == 0)
        return (rotation){{0, 0, 1}, 0};
    return (rotation){{0, -to[2] / across, to[1] / across}, ex_angle(across, to[0])};
}

/* Turns p about the origin by a fraction of the rotation. */
static void turn(double p[3], const rotation *r, double part) {
    double sine, cosine, dot = 0, out[3];
    ex_sin_cos(r->angle * part, &sine, &cosine);
    for (int c = 0; c < 3; c++)
        dot += r->axis[c] * p[c];
    for (int c = 0; c < 3; c++) {
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        out[c] = cosine * p[c] + sine * (r->axis[a] * p[b] - r->axis[b] * p[a]) + (1 - cosine) * dot * r->axis[c];
    }
    memcpy(p, out, sizeof out);
}

/* A stroke on the form at rest: around a place, within about `width`, skin moves by `move` and by `out` along its
 * normal, scaled by how far the arm points up, down, forwards or back. */
typedef struct stroke {
    enum { UP, DOWN, FORWARD, BACK, WAYS } way;
    double at[3], width[3], move[3], out;
} stroke;

static const stroke strokes[] = {
    /* the deltoid bunches above a raised arm, and stretches over a lowered one */
    {UP, {0.03, 0.05, 0}, {0.05, 0.05, 0.06}, {0, 0, 0}, 0.006},
    {DOWN, {0.0, 0.055, 0}, {0.045, 0.04, 0.05}, {0.002, 0, 0}, 0.006},
    {FORWARD, {0.02, 0.02, 0.05}, {0.05, 0.05, 0.04}, {0, 0, 0}, 0.004},
    {BACK, {0.01, 0.02, -0.05}, {0.05, 0.05, 0.04}, {0, 0, 0}, 0.006},
    /* the side and the shoulder blade follow a raised arm, and so do two folds of its armpit with a hollow between */
    {UP, {-0.065, -0.11, 0}, {0.06, 0.08, 0.10}, {0.024, 0.020, 0}, 0},
    {UP, {-0.12, 0.04, 0}, {0.08, 0.05, 0.09}, {0, 0.010, 0}, 0},
    {UP, {0.05, -0.06, 0}, {0.05, 0.05, 0.05}, {0, 0, 0}, -0.008},
    {UP, {-0.02, -0.06, 0.045}, {0.05, 0.05, 0.03}, {0, 0, 0}, 0.004},
    {UP, {-0.02, -0.06, -0.045}, {0.05, 0.05, 0.03}, {0, 0, 0}, 0.005},
    /* folds in front of and behind a lowered arm's armpit */
    {DOWN, {-0.035, -0.05, 0.05}, {0.035, 0.04, 0.03}, {0, 0, 0}, 0.006},
    {DOWN, {-0.035, -0.05, -0.05}, {0.035, 0.04, 0.03}, {0, 0, 0}, 0.005},
    /* the chest swells in front of an arm that is swung forwards, the back widens */
    {FORWARD, {-0.11, -0.06, 0.10}, {0.05, 0.06, 0.05}, {0, 0, 0}, 0.008},
    {FORWARD, {-0.09, -0.02, -0.08}, {0.07, 0.09, 0.05}, {0.012, 0, 0.004}, 0},
    /* and the shoulder blade protrudes behind one that is swung back */
    {BACK, {-0.12, -0.05, -0.09}, {0.05, 0.07, 0.04}, {-0.006, 0, 0}, 0.008},
    {BACK, {-0.08, -0.05, 0.10}, {0.06, 0.07, 0.05}, {0.006, 0, 0}, -0.004},
};

static void add_strokes(const double rest[3], const double ways[WAYS], double p[3]) {
    double normal[3];
    exi_shoulder_normal(rest, normal);
    for (size_t i = 0; i < sizeof strokes / sizeof *strokes; i++) {
        const stroke *s = &strokes[i];
        double square = 0;
        for (int c = 0; c < 3; c++)
            square += (rest[c] - s->at[c]) / s->width[c] * ((rest[c] - s->at[c]) / s->width[c]);
        const double amount = ways[s->way] * ex_exp(-square);
        for (int c = 0; c < 3 && amount > 1e-4; c++) /* too small for an offset */
            p[c] += amount * (s->move[c] + s->out * normal[c]);
    }
}

/* Flesh on the side to which the arm swings yields to the plane of the crease, midway between arm and torso: its height
 * tends to the plane's and never reaches it. */
static double yielding(double height, double along, double angle) {
    const double turn = angle * fabs(smooth_step(FOLD_BEGIN, FOLD_END, along) - 0.5);
    const double off = fabs(along - (FOLD_BEGIN + FOLD_END) / 2);
    double sine, cosine;
    ex_sin_cos(turn, &sine, &cosine);
    /* In the middle, from the slope of the turn. */
    const double limit = 0.9 * (off < 1e-4 ? (FOLD_END - FOLD_BEGIN) / (1.5 * angle) : off * cosine / sine);
    const double t = height / limit, q = t * t * t * t;
    return height <= 0 ? height : height / sqrt(sqrt(1 + q));
}

/* Moves the arm from x to a direction: strokes, folds, then every vertex turns by its fraction. Skin stretches over a
 * longer distance on the side from which the arm swings than it folds on the other. */
static void sculpt_vertex(const double rest[3], const double to[3], const rotation *swing, double p[3]) {
    const double ways[WAYS] = {to[1] > 0 ? to[1] : 0, to[1] < 0 ? -to[1] : 0, to[2] > 0 ? to[2] : 0,
                               to[2] < 0 ? -to[2] : 0};
    const double side[2] = {swing->axis[2], -swing->axis[1]}; /* y and z of the swing's direction */
    memcpy(p, rest, 3 * sizeof *p);
    if (swing->angle == 0)
        return;
    add_strokes(rest, ways, p);
    const double height = p[1] * side[0] + p[2] * side[1];
    /* The torso itself does not fold. */
    const double near = smooth_step(-0.09, -0.05, rest[0]) * smooth_step(0.12, 0.07, height);
    const double less = near * (height - yielding(height, rest[0], swing->angle));
    p[1] -= less * side[0];
    p[2] -= less * side[1];
    const double fold = smooth_step(-0.05, 0.03, height);
    turn(p, swing,
         smooth_step(DRAW_BEGIN + (FOLD_BEGIN - DRAW_BEGIN) * fold, DRAW_END + (FOLD_END - DRAW_END) * fold, rest[0]));
}

/* Positions [SHOULDER_VERTICES][3], from those at rest. */
static void sculpt(const double *rest, double about_y, double about_z, double *positions) {
    double sy, cy, sz, cz;
    ex_sin_cos(about_y * PI / 180, &sy, &cy);
    ex_sin_cos(about_z * PI / 180, &sz, &cz);
    const double to[3] = {cz * cy, sz, -cz * sy};
    const rotation swing = swing_to(to);
    for (size_t v = 0; v < SHOULDER_VERTICES; v++)
        sculpt_vertex(rest + 3 * v, to, &swing, positions + 3 * v);
    for (size_t i = 0; i < 3 * (size_t)SHOULDER_VERTICES; i++)
        positions[i] = floor(positions[i] * 1e7 + 0.5) / 1e7;
}

ex_result exi_demo_shoulder(const char *directory, ex_error *error) {
    ex_mesh *rest = exi_shoulder_mesh(), *form = rest ? ex_mesh_copy(rest) : NULL;
    ex_result result = form ? EX_OK : ex_error_memory(error, "the shoulder", 0);
    for (size_t i = 0; result == EX_OK && i < sizeof forms / sizeof *forms; i++) {
        sculpt(rest->positions, forms[i].y, forms[i].z, form->positions);
        result = exi_demo_write_mesh(directory, forms[i].file, form, error);
    }
    if (result == EX_OK)
        result = exi_bones_write(&(exi_bones){"shoulder", bones, 2, weigh_vertex}, rest, directory, error);
    if (result == EX_OK)
        result = exi_demo_write_text(directory, "shoulder.json", project, error);
    ex_mesh_destroy(form);
    ex_mesh_destroy(rest);
    return result;
}
