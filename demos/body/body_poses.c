/*
 * The poses of the subject to scan (Articulated Body Deformation from Range Scan Data, table 1): 36 of the arm (four
 * bends of the elbow, three twists of the forearm, three of the wrist), 33 of the shoulder (flexion, abduction and
 * rotation in threes, four of the collar bone, and two of both together, since the table's list does not add up to 33),
 * 27 of the torso (twist, lateral flexion and leaning in threes); and twelve in between that are never scanned. Nobody
 * holds still: joints are off by up to two degrees from the nominal pose, and the body moves slightly from scan to
 * scan, except in the reference, shoulder_14.
 */
#include "body.h"

#include "demos/vector.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>
#include <exemplar/maths.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

static void about_axis(const double axis[3], double degrees, double q[4]) {
    double sine;
    ex_sin_cos(degrees * PI / 360, &sine, &q[3]);
    for (int c = 0; c < 3; c++)
        q[c] = sine * axis[c];
}

void exi_body_turn(double about_z, double about_y, const double about[3], double turn, double q[4]) {
    double next[4];
    about_axis((const double[3]){0, 0, 1}, about_z, q);
    about_axis((const double[3]){0, 1, 0}, about_y, next);
    quaternion_multiply(q, next, q);
    about_axis(about, turn, next);
    quaternion_multiply(q, next, q);
}

/* A nominal pose, in degrees. */
typedef struct stance {
    double bend, twist, flex;
    double shoulder[3], clavicle[2]; /* about z, about y, about the arm */
    double lean, side, turn;         /* of the torso, shared by waist and abdomen: see shares */
} stance;

/* The waist's share of each: people lean from the hips, and twist with the ribs. */
static const double shares[3] = {0.7, 0.5, 0.25};

typedef struct table {
    ex_file_writer file;
    uint32_t random;
} table;

/* In [-1, 1]. */
static double next_random(table *t) {
    t->random = t->random * 1664525u + 1013904223u;
    return (double)(t->random >> 8) / (double)(1u << 23) - 1;
}

static void add_text(table *t, const char *text) {
    ex_file_write(&t->file, text, strlen(text));
}

static void add_number(table *t, double value) {
    char buffer[32];
    add_text(t, ",");
    const int size = ex_format_float(buffer, (float)value);
    ex_file_write(&t->file, buffer, (size_t)size);
}

static void add_rotation(table *t, const double q[4]) {
    for (int i = 0; i < 4; i++)
        add_number(t, q[i]);
}

/* exact: exactly the nominal pose, for the reference. */
static void add_row(table *t, const char *name, const char *part, const stance *s, bool exact) {
    const double off = exact ? 0 : 2, x[3] = {1, 0, 0};
    const bool arm = strcmp(part, "torso") != 0, torso = strcmp(part, "torso") == 0 || strcmp(part, "held") == 0;
    double q[4], around[3];
    const double hinges[3] = {s->bend, s->twist, s->flex};
    add_text(t, name);
    add_text(t, ",");
    add_text(t, part);
    for (int i = 0; i < 3; i++)
        add_number(t, hinges[i] + (arm && strcmp(part, "shoulder") != 0 ? off * next_random(t) : 0));
    for (int i = 0; i < 3; i++)
        around[i] = arm ? off * next_random(t) : 0;
    exi_body_turn(s->shoulder[0] + around[0], s->shoulder[1] + around[1], exi_body_arm, s->shoulder[2] + around[2], q);
    add_rotation(t, q);
    for (int i = 0; i < 2; i++)
        around[i] = strcmp(part, "shoulder") == 0 || strcmp(part, "held") == 0 ? off * next_random(t) / 2 : 0;
    exi_body_turn(s->clavicle[0] + around[0], s->clavicle[1] + around[1], x, 0, q);
    add_rotation(t, q);
    for (int joint = 0; joint < 2; joint++) {
        for (int i = 0; i < 3; i++)
            around[i] = torso ? off * next_random(t) : 0;
        const double own[3] = {joint ? 1 - shares[0] : shares[0], joint ? 1 - shares[1] : shares[1],
                               joint ? 1 - shares[2] : shares[2]};
        exi_body_turn(own[1] * s->side + around[0], own[2] * s->turn + around[1], x, own[0] * s->lean + around[2], q);
        add_rotation(t, q);
    }
    for (int i = 0; i < 3; i++)
        around[i] = exact ? 0 : 4 * next_random(t);
    exi_body_turn(around[0] / 2, around[1], x, around[2] / 2, q);
    add_rotation(t, q);
    add_text(t, "\n");
}

static void add_arms(table *t) {
    static const double bends[] = {0, 60, 90, 130}, twists[] = {0, 60, 130}, flexes[] = {-45, 0, 30};
    char name[32];
    int count = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) {
                /* The arm is held up and away from the body. */
                const stance s = {.bend = bends[i], .twist = twists[j], .flex = flexes[k], .shoulder = {35, -20, 0}};
                snprintf(name, sizeof name, "arm_%02d", ++count);
                add_row(t, name, "arm", &s, false);
            }
}

static void add_shoulders(table *t) {
    static const double flexion[] = {60, 0, -30}, abduction[] = {60, 0, -25}, turns[] = {35, 0, -35};
    static const stance girdle[] = {{.clavicle = {18, 0}},
                                    {.clavicle = {-8, 0}},
                                    {.clavicle = {0, -18}},
                                    {.clavicle = {0, 14}},
                                    {.clavicle = {15, 0}, .shoulder = {70, 0, 0}},
                                    {.clavicle = {0, -15}, .shoulder = {15, -60, 0}}};
    char name[32];
    int count = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) {
                const stance s = {.shoulder = {abduction[j], -flexion[i], turns[k]}};
                snprintf(name, sizeof name, "shoulder_%02d", ++count);
                add_row(t, name, "shoulder", &s, i == 1 && j == 1 && k == 1);
            }
    for (size_t i = 0; i < sizeof girdle / sizeof *girdle; i++) {
        snprintf(name, sizeof name, "shoulder_%02d", ++count);
        add_row(t, name, "shoulder", &girdle[i], false);
    }
}

static void add_torsos(table *t) {
    static const double turns[] = {-45, 0, 45}, sides[] = {-30, 0, 30}, leans[] = {-20, 0, 40};
    char name[32];
    int count = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) {
                const stance s = {.turn = turns[i], .side = sides[j], .lean = leans[k]};
                snprintf(name, sizeof name, "torso_%02d", ++count);
                add_row(t, name, "torso", &s, false);
            }
}

static void add_held(table *t) {
    static const stance held[] = {
        {.bend = 32, .twist = 35, .flex = -10, .shoulder = {35, -20, 0}},
        {.bend = 75, .twist = 90, .flex = 15, .shoulder = {35, -20, 0}},
        {.bend = 110, .twist = 30, .flex = -25, .shoulder = {35, -20, 0}},
        {.bend = 118, .twist = 100, .flex = 5, .shoulder = {35, -20, 0}},
        {.shoulder = {40, -30, 18}},
        {.shoulder = {-5, 15, -18}},
        {.shoulder = {45, 10, 20}, .clavicle = {8, 0}},
        {.shoulder = {10, -35, -15}, .clavicle = {0, -8}},
        {.turn = 25, .side = 15, .lean = 18},
        {.turn = -20, .side = -16, .lean = -10},
        {.bend = 70, .twist = 45, .flex = 0, .shoulder = {30, -45, 10}, .clavicle = {5, -6}, .turn = 20, .lean = 12},
        {.bend = 45, .twist = 70, .flex = -15, .shoulder = {5, -15, 15}, .side = 14, .turn = -15},
    };
    char name[32];
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        snprintf(name, sizeof name, "held_%02d", (int)i + 1);
        add_row(t, name, "held", &held[i], false);
    }
}

ex_result exi_body_write_poses(const char *directory, ex_error *error) {
    static const char *const rotations[] = {"shoulder.L", "clavicle.L", "waist", "abdomen", "joint:hips"};
    table t = {.random = 2002};
    char *path = exi_demo_path(directory, "poses.csv");
    ex_result result = path ? ex_file_open(&t.file, path, error) : ex_error_memory(error, "a path", 0);
    free(path);
    if (result != EX_OK)
        return result;
    add_text(&t, "name,part,elbow.L,forearm.L,wrist.L");
    for (size_t i = 0; i < sizeof rotations / sizeof *rotations; i++)
        for (const char *c = "xyzw"; *c; c++) {
            const char column[] = {'.', *c, 0};
            add_text(&t, ",");
            add_text(&t, rotations[i]);
            add_text(&t, column);
        }
    add_text(&t, "\n");
    add_arms(&t);
    add_shoulders(&t);
    add_torsos(&t);
    add_held(&t);
    return ex_file_commit(&t.file, error);
}
