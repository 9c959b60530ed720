/*
 * turns_probe.c - turns every joint of a rig about every axis and reports the largest step of a vertex.
 *
 *   turns_probe RIG.glb INPUT VALUE FULL   INPUT is set to VALUE at every pose ("-": none). FULL 1: steps of 0.01
 *                                          degrees from -180 to 180, and on to 190; 0: only near -180, 0 and 180
 *
 * One line per joint and axis: the joint's name, the axis, the largest step of any vertex divided by the median step,
 * its place in degrees, and its length in metres.
 */
#include <exemplar/author.h>
#include <exemplar/exemplar.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 40000 };

typedef struct probe {
    const ex_rig *rig;
    ex_pose pose;
    float *now, *before;
    void *scratch;
    double steps[STEPS_MOST], sorted[STEPS_MOST], places[STEPS_MOST];
    int count;
} probe;

static void turn(ex_transform *local, const ex_transform *rest, int axis, double degrees) {
    const double half = degrees * 0.5 * 0.017453292519943295;
    double b[4] = {0, 0, 0, cos(half)}, a[4];
    b[axis] = sin(half);
    for (int i = 0; i < 4; i++)
        a[i] = (double)rest->rotation[i];
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        local->rotation[i] = (float)(a[3] * b[i] + b[3] * a[i] + a[j] * b[k] - a[k] * b[j]);
    }
    local->rotation[3] = (float)(a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]);
}

static void sweep(probe *p, int joint, int axis, double from, int steps) {
    const size_t count = 3 * (size_t)ex_rig_vertex_count(p->rig);
    const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(p->rig), joint);
    for (int i = 0; i <= steps; i++) {
        double most = 0;
        float *swap = p->before;
        turn(&p->pose.joints[joint], &rest, axis, from + 0.01 * i);
        p->before = p->now;
        p->now = swap;
        ex_rig_evaluate(p->rig, &p->pose, &(ex_output){.positions = p->now}, NULL, p->scratch);
        for (size_t k = 0; i > 0 && k < count; k += 3) {
            const double x = (double)(p->now[k] - p->before[k]), y = (double)(p->now[k + 1] - p->before[k + 1]),
                         z = (double)(p->now[k + 2] - p->before[k + 2]), sq = x * x + y * y + z * z;
            most = sq > most ? sq : most;
        }
        if (i > 0) {
            p->places[p->count] = from + 0.01 * i;
            p->steps[p->count] = p->sorted[p->count] = sqrt(most);
            p->count++;
        }
    }
    p->pose.joints[joint] = rest;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    static probe p;
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (argc != 5 || ex_rig_read(argv[1], NULL, &rig, &error) != EX_OK) {
        fprintf(stderr, "turns_probe: %s\n", argc == 5 ? error.text : "RIG.glb INPUT VALUE FULL");
        return 1;
    }
    const size_t vertices = (size_t)ex_rig_vertex_count(rig);
    const int input = ex_rig_input_find(rig, argv[2]), full = atoi(argv[4]);
    const double value = atof(argv[3]);
    p.rig = rig;
    p.pose = ex_pose_create(rig);
    p.now = calloc(vertices, 3 * sizeof *p.now);
    p.before = calloc(vertices, 3 * sizeof *p.before);
    p.scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    if (!p.pose.joints || !p.now || !p.before || !p.scratch || (input < 0 && strcmp(argv[2], "-") != 0))
        return 1;
    if (input >= 0)
        ex_rig_set_input(rig, input, &value, &p.pose);
    for (int joint = 0; joint < ex_rig_joint_count(rig); joint++)
        for (int axis = 0; axis < 3; axis++) {
            int worst = 0;
            p.count = 0;
            if (full) {
                sweep(&p, joint, axis, -180, 37000);
            } else {
                sweep(&p, joint, axis, -180, 30);
                sweep(&p, joint, axis, -0.1, 20);
                sweep(&p, joint, axis, 179.7, 60);
            }
            qsort(p.sorted, (size_t)p.count, sizeof *p.sorted, compare);
            for (int i = 0; i < p.count; i++)
                worst = p.steps[i] > p.steps[worst] ? i : worst;
            const double median = p.sorted[p.count / 2];
            printf("%s %c %.6g %.2f %.6g\n", ex_skeleton_name(ex_rig_skeleton(rig), joint), "xyz"[axis],
                   median > 0           ? p.steps[worst] / median
                   : p.steps[worst] > 0 ? INFINITY
                                        : 0,
                   p.places[worst], p.steps[worst]);
        }
    free(p.pose.inputs);
    free(p.now);
    free(p.before);
    free(p.scratch);
    ex_rig_destroy(rig);
    return 0;
}
