/*
 * crowd - evaluate many poses of one rig in one call, by four threads.
 *
 *   crowd RIG.glb INPUT FROM TO
 *
 * The library starts no threads. It passes its work to a task hook; this one starts four threads, which is enough for a
 * sample. An engine passes its job system instead. Results do not depend on it, bit for bit.
 */
#include "read_file.h"

#include <exemplar/rig.h>
#include <exemplar/rig_inspect.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, CROWD = 256 };

typedef struct piece {
    ex_task_body body;
    void *context;
    int begin, end;
} piece;

static void *run_piece(void *user) {
    const piece *p = user;
    p->body(p->context, p->begin, p->end);
    return NULL;
}

/* Divides [0, count) into a piece for each thread, none smaller than grain. */
static void run(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    pthread_t threads[THREADS];
    piece pieces[THREADS];
    int started = 0;
    const int share = (count + THREADS - 1) / THREADS > grain ? (count + THREADS - 1) / THREADS : grain;
    for (int begin = 0; begin < count; begin += share, started++) {
        pieces[started] = (piece){body, context, begin, begin + share < count ? begin + share : count};
        if (pthread_create(&threads[started], NULL, run_piece, &pieces[started]) != 0)
            abort();
    }
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

int main(int count, char **words) {
    if (count != 5)
        return fprintf(stderr, "usage: crowd RIG.glb INPUT FROM TO\n"), 2;
    ex_rig *rig = read_rig(words[1]);
    if (!rig)
        return 1;
    const int input = ex_rig_input_find(rig, words[2]), vertices = ex_rig_level_vertex_count(rig, 0);
    if (input < 0 || ex_rig_input_axis(rig, input).kind != EX_AXIS_SCALAR)
        return fprintf(stderr, "crowd: the rig has no input '%s' that takes one number\n", words[2]), 1;
    const size_t dials = (size_t)ex_rig_pose_size(rig), joints = (size_t)ex_rig_joint_count(rig);
    const ex_tasks tasks = {.run = run};
    const ex_evaluation how = {.tasks = &tasks};
    double *inputs = calloc(CROWD * dials + 1, sizeof *inputs);
    ex_transform *locals = calloc(CROWD * joints + 1, sizeof *locals);
    float *positions = malloc(CROWD * (size_t)vertices * sizeof(float[3]));
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, CROWD));
    static ex_pose poses[CROWD];
    static ex_output outputs[CROWD];
    for (size_t i = 0; i < CROWD; i++) {
        const double value = atof(words[3]) + (atof(words[4]) - atof(words[3])) * (double)i / (CROWD - 1);
        poses[i] = (ex_pose){.inputs = inputs + i * dials, .joints = locals + i * joints};
        outputs[i] = (ex_output){.positions = positions + i * (size_t)vertices * 3};
        ex_rig_rest_pose(rig, &poses[i]);
        ex_rig_set_input(rig, input, &value, &poses[i]);
    }
    ex_rig_evaluate_many(rig, CROWD, poses, outputs, &how, scratch);
    const float *last = outputs[CROWD - 1].positions;
    printf("%d forms of %d vertices; the first vertex of the last one is at %g %g %g\n", CROWD, vertices,
           (double)last[0], (double)last[1], (double)last[2]);
    free(scratch), free(positions), free(locals), free(inputs);
    ex_rig_destroy(rig);
    return 0;
}
