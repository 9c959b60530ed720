/*
 * evaluate RIG.glb - what bench/python/evaluate.py does in Python, in C: the other side of its table.
 *
 * Reads commands, one a line, and answers with seconds. Axis a of pose i has the value min + (max - min) times the
 * fraction of 0.618034 i + 0.414214 a. Poses are evaluated 64 at a time, as a C program would.
 *   one COUNT              seconds per call of ex_rig_evaluate, over COUNT calls
 *   many COUNT THREADS NEW seconds for COUNT poses; NEW 1: into new memory
 *   write COUNT FILE       writes the positions of COUNT poses, floats one after the other
 */
#include <exemplar/rig_inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/pool.h"
#include "samples/read_file.h"

enum { BATCH = 64 };

typedef struct crowd {
    ex_rig *rig;
    int count, vertices;
    double *inputs;
    ex_transform *joints;
    ex_pose *poses;
    ex_output *outputs;
    float *positions;
} crowd;

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pose(crowd *c, int i) {
    const size_t dials = (size_t)ex_rig_pose_size(c->rig), joints = (size_t)ex_rig_joint_count(c->rig);
    c->poses[i] = (ex_pose){.inputs = c->inputs + dials * (size_t)i, .joints = c->joints + joints * (size_t)i};
    ex_rig_rest_pose(c->rig, &c->poses[i]);
    for (int a = 0; a < ex_rig_input_count(c->rig); a++) {
        const ex_axis axis = ex_rig_input_axis(c->rig, a);
        const double at = 0.618034 * i + 0.414214 * a;
        const double value = axis.min + (axis.max - axis.min) * (at - (double)(long)at);
        if (axis.kind == EX_AXIS_SCALAR)
            ex_rig_set_input(c->rig, a, &value, &c->poses[i]);
    }
}

static void fill(crowd *c, int count) {
    if (count == c->count)
        return;
    const size_t n = (size_t)count + 1;
    c->inputs = realloc(c->inputs, n * (size_t)ex_rig_pose_size(c->rig) * sizeof *c->inputs + 1);
    c->joints = realloc(c->joints, n * (size_t)ex_rig_joint_count(c->rig) * sizeof *c->joints + 1);
    c->poses = realloc(c->poses, n * sizeof *c->poses);
    c->outputs = realloc(c->outputs, n * sizeof *c->outputs);
    c->positions = realloc(c->positions, n * (size_t)c->vertices * sizeof(float[3]));
    if (!c->inputs || !c->joints || !c->poses || !c->outputs || !c->positions)
        abort();
    memset(c->positions, 0, n * (size_t)c->vertices * sizeof(float[3]));
    for (int i = 0; i < count; i++)
        pose(c, i);
    c->count = count;
}

static void evaluate(crowd *c, float *positions, int threads) {
    exi_pool *pool = threads > 1 ? exi_pool_create(threads) : NULL;
    const ex_evaluation how = {.tasks = exi_pool_tasks(pool)};
    const int batch = threads > 1 ? BATCH * threads : BATCH;
    void *scratch = malloc(ex_rig_scratch_size(c->rig, &how, batch));
    for (int i = 0; i < c->count; i++)
        c->outputs[i] = (ex_output){.positions = positions + 3 * (size_t)c->vertices * (size_t)i};
    for (int i = 0; i < c->count; i += batch)
        ex_rig_evaluate_many(c->rig, c->count - i < batch ? c->count - i : batch, c->poses + i, c->outputs + i, &how,
                             scratch);
    free(scratch);
    exi_pool_destroy(pool);
}

static double time_many(crowd *c, int count, int threads, int fresh) {
    fill(c, count);
    const double begin = now();
    float *room = fresh ? malloc((size_t)count * (size_t)c->vertices * sizeof(float[3])) : c->positions;
    if (!room)
        abort();
    evaluate(c, room, threads);
    const double end = now();
    if (fresh)
        free(room);
    return end - begin;
}

static double time_one(crowd *c, int count) {
    fill(c, 1);
    void *scratch = malloc(ex_rig_scratch_size(c->rig, NULL, 1));
    const ex_output output = {.positions = c->positions};
    const double begin = now();
    for (int i = 0; i < count; i++)
        ex_rig_evaluate(c->rig, c->poses, &output, NULL, scratch);
    const double end = now();
    free(scratch);
    return (end - begin) / count;
}

static int write_forms(crowd *c, int count, const char *path) {
    fill(c, count);
    evaluate(c, c->positions, 1);
    FILE *file = fopen(path, "wb");
    const size_t size = (size_t)count * (size_t)c->vertices * sizeof(float[3]);
    const int good = file && fwrite(c->positions, 1, size, file) == size;
    return (file ? fclose(file) : 1) == 0 && good;
}

int main(int words, char **word) {
    size_t size = 0;
    void *bytes = words == 2 ? read_file(word[1], &size) : NULL;
    ex_error error = {0};
    crowd c = {0};
    if (!bytes || ex_rig_unpack(bytes, size, NULL, NULL, &c.rig, &error) != EX_OK) {
        fprintf(stderr, "evaluate: %s\n", bytes ? error.text : "usage: evaluate RIG.glb");
        return 1;
    }
    free(bytes);
    c.vertices = ex_rig_level_vertex_count(c.rig, 0);
    char line[1024], path[1024];
    int count, threads, fresh;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "one %d", &count) == 1 && count > 0)
            printf("%.9g\n", time_one(&c, count));
        else if (sscanf(line, "many %d %d %d", &count, &threads, &fresh) == 3 && count > 0)
            printf("%.9g\n", time_many(&c, count, threads, fresh));
        else if (sscanf(line, "write %d %1023[^\n]", &count, path) == 2 && count > 0)
            printf("%d\n", write_forms(&c, count, path));
        else
            break;
        fflush(stdout);
    }
    free(c.inputs), free(c.joints), free(c.poses), free(c.outputs), free(c.positions);
    ex_rig_destroy(c.rig);
    return 0;
}
