/*
 * bench/inside/person.c - finds the paths between poses of a real body: the template person of scans, 26 756 triangles
 * of skin that differ in size by a hundred times, where a tube has them all alike. Once for two poses, and once for
 * five. One thread. The goal is 3 s for 38 000 triangles between two poses. The template is private to authoring: this
 * group is part of a tool built together with the libraries.
 */
#include "bench/bench.h"

#include "author/scan/human/human.h"

#include <exemplar/author/trajectory.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POSES = 5 };
#define GOAL (3e9 / 38000) /* ns a triangle */

/* A turn of a joint about an axis, in degrees; of a hinge about its own. */
typedef struct bend {
    int pose;
    const char *joint;
    double axis[3], degrees;
} bend;

static const bend bends[] = {
    {1, "hip.R", {1, 0, 0}, -95},      {1, "knee.R", {1, 0, 0}, 40},  {1, "shoulder.L", {0, 0, 1}, 60},
    {2, "hip.L", {1, 0, 0}, -110},     {2, "hip.R", {1, 0, 0}, -110}, {2, "knee.L", {1, 0, 0}, 115},
    {2, "knee.R", {1, 0, 0}, 115},     {2, "waist", {1, 0, 0}, 25},   {3, "shoulder.L", {0, 0, 1}, 80},
    {3, "shoulder.R", {0, 0, 1}, -80}, {3, "elbow.L", {0, 1, 0}, 50}, {3, "neck", {1, 0, 0}, -25},
    {4, "waist", {0, 1, 0}, 35},       {4, "chest", {0, 1, 0}, 30},   {4, "shoulder.R", {0, 1, 0}, 70},
};

typedef struct person {
    exi_human *human;
    int *triangles;
    int triangle_count;
    double (*forms)[3]; /* [POSES][vertex_count] */
} person;

static void set_pose(const exi_human *human, int pose, double (*rotations)[4]) {
    const ex_kinematics *k = human->kinematics;
    for (int j = 0; j < k->joint_count; j++)
        memcpy(rotations[j], (double[4]){0, 0, 0, 1}, sizeof rotations[j]);
    for (size_t i = 0; i < sizeof bends / sizeof *bends; i++) {
        const int joint = ex_kinematics_find_joint(k, bends[i].joint);
        if (bends[i].pose != pose || joint < 0)
            continue;
        const bool hinge = k->joints[joint].freedom == EX_FREEDOM_HINGE;
        const double *axis = hinge ? k->joints[joint].axis : bends[i].axis;
        const double half = bends[i].degrees * 0.00872664625997165;
        for (int c = 0; c < 3; c++)
            rotations[joint][c] = sin(half) * axis[c];
        rotations[joint][3] = cos(half);
    }
}

static bool pose_all(person *p) {
    const size_t joints = (size_t)p->human->kinematics->joint_count, vertices = (size_t)p->human->mesh->vertex_count;
    double(*rest)[3] = calloc(vertices, sizeof *rest), (*places)[3] = calloc(joints, sizeof *places);
    double(*posed)[3] = calloc(joints, sizeof *posed), (*matrices)[9] = calloc(joints, sizeof *matrices);
    double(*rotations)[4] = calloc(joints, sizeof *rotations);
    p->forms = calloc(POSES * vertices, sizeof *p->forms);
    const bool good = rest && places && posed && matrices && rotations && p->forms;
    if (good)
        exi_human_figure(p->human, NULL, rest, places);
    for (int i = 0; good && i < POSES; i++) {
        ex_kin_pose pose = {.rotations = rotations};
        memcpy(pose.translation, places[0], sizeof pose.translation);
        set_pose(p->human, i, rotations);
        exi_human_frames(p->human, (const double(*)[3])places, &pose, matrices, posed);
        exi_human_skin(p->human, (const double(*)[3])rest, (const double(*)[3])places, (const double(*)[9])matrices,
                       (const double(*)[3])posed, p->forms + (size_t)i * vertices);
    }
    free(rest);
    free(places);
    free(posed);
    free(matrices);
    free(rotations);
    return good;
}

static bool open_person(person *p, ex_error *error) {
    if (exi_human_read(NULL, &p->human, error) != EX_OK ||
        ex_mesh_triangulate(p->human->mesh, &p->triangles, &p->triangle_count, error) != EX_OK)
        return false;
    for (int i = 0; i < 3 * p->triangle_count; i++)
        p->triangles[i] = p->human->mesh->corners[p->triangles[i]];
    return pose_all(p);
}

static void close_person(person *p) {
    free(p->forms);
    free(p->triangles);
    exi_human_destroy(p->human);
}

static double now_ns(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Once and without a warm-up, because it takes seconds. */
static bool measure(const exi_bench *bench, const person *p, int poses) {
    const size_t vertices = (size_t)p->human->mesh->vertex_count;
    const double *examples[POSES - 1];
    for (int k = 0; k + 1 < poses; k++)
        examples[k] = p->forms[(size_t)(k + 1) * vertices];
    const ex_trajectories_def def = {.vertex_count = (int)vertices,
                                     .triangle_count = p->triangle_count,
                                     .triangles = p->triangles,
                                     .reference = p->forms[0],
                                     .example_count = poses - 1,
                                     .examples = examples,
                                     .options = ex_trajectory_options_default()};
    exi_row row = {.group = "person", .vertex_count = p->triangle_count, .unit = "triangle"};
    ex_trajectories *found = NULL;
    const double begun = now_ns();
    const bool good = ex_trajectories_create(&def, &found, bench->error) == EX_OK;
    row.ns = now_ns() - begun;
    row.goal_rate = poses == 2 ? 1e9 / (GOAL * p->triangle_count) : 0;
    snprintf(row.work, sizeof row.work, "find, guided, %d poses of a person", poses);
    if (good)
        bench->report(bench->user, &row);
    ex_trajectories_destroy(found);
    return good;
}

bool exi_bench_person(const exi_bench *bench) {
    person p = {0};
    const bool good = open_person(&p, bench->error) && measure(bench, &p, 2) && measure(bench, &p, POSES);
    close_person(&p);
    return good;
}
