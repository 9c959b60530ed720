/*
 * Weights of the bones at a vertex of flesh: they favour the bones whose flesh is nearest, by how much nearer it is,
 * and exclude those more than two joints away from the nearest; then they are smoothed over the skin. Also the
 * transforms of bones that turn about their joints.
 */
#include "creature.h"

#include "common/array.h"

#include <exemplar/maths.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- weights ---- */

/* Number of joints between two bones. */
static int steps_between(const exi_creature_bones *bones, int a, int b) {
    int steps = 0;
    while (a != b) { /* a parent has a lower index */
        if (a > b)
            a = bones->parent(a);
        else
            b = bones->parent(b);
        steps++;
    }
    return steps;
}

static void weigh_vertex(const exi_creature_bones *bones, const exi_creature_flesh *flesh, const double p[3],
                         float *weights) {
    double distances[CREATURE_BONES], sum = 0;
    int best = 0;
    exi_creature_bone_fields(flesh, p, distances);
    for (int b = 1; b < bones->count; b++)
        best = distances[b] < distances[best] ? b : best;
    for (int b = 0; b < bones->count; b++) {
        const double soft = (bones->softness(b) + bones->softness(best)) / 2,
                     near = 1 - (distances[b] - distances[best]) / soft;
        const double weight = near > 0 && steps_between(bones, b, best) <= 2 ? near * near : 0;
        weights[b] = (float)weight;
        sum += weight;
    }
    for (int b = 0; b < bones->count; b++)
        weights[b] = (float)((double)weights[b] / sum);
}

/* One step towards the mean of the neighbours; every neighbour counts once, because the mesh is closed. */
static void even_out(const ex_mesh *mesh, size_t bones, const float *weights, float *evened) {
    const size_t count = (size_t)mesh->vertex_count * bones;
    float *neighbours = evened + count; /* [vertex_count] */
    memset(evened, 0, (count + (size_t)mesh->vertex_count) * sizeof *evened);
    for (int h = 0; h < mesh->corner_count; h++) {
        const size_t v = (size_t)mesh->corners[h], other = (size_t)mesh->corners[h % 3 == 2 ? h - 2 : h + 1];
        for (size_t b = 0; b < bones; b++)
            evened[v * bones + b] += weights[other * bones + b];
        neighbours[v]++;
    }
    for (size_t i = 0; i < count; i++)
        evened[i] = 0.5f * (weights[i] + evened[i] / neighbours[i / bones]);
}

static double edge_length(const ex_mesh *mesh) {
    double sum = 0;
    for (int h = 0; h < mesh->corner_count; h++) {
        const double *p = mesh->positions + 3 * (size_t)mesh->corners[h];
        const double *q = mesh->positions + 3 * (size_t)mesh->corners[h % 3 == 2 ? h - 2 : h + 1];
        sum += sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
    }
    return sum / mesh->corner_count;
}

static ex_skin *make_skin(const ex_mesh *mesh, uint32_t bones, const float *weights) {
    const size_t count = (size_t)mesh->vertex_count;
    uint32_t *starts = array_allocate(count + 1, sizeof *starts);
    uint32_t *joints = array_allocate(count * bones, sizeof *joints);
    float *kept = array_allocate(count * bones, sizeof *kept);
    ex_skin *skin = NULL;
    if (starts && joints && kept) {
        starts[0] = 0;
        for (size_t v = 0; v < count; v++) {
            uint32_t at = starts[v];
            for (uint32_t b = 0; b < bones; b++)
                if (weights[v * bones + b] > 0.001f) {
                    joints[at] = b;
                    kept[at++] = weights[v * bones + b];
                }
            starts[v + 1] = at;
        }
        ex_skin_create(&(ex_skin_def){mesh->vertex_count, (int)bones, starts, joints, kept}, NULL, &skin, NULL);
    }
    free(starts);
    free(joints);
    free(kept);
    return skin;
}

ex_skin *exi_creature_bones_skin(const exi_creature_bones *bones, const exi_creature_flesh *flesh,
                                 const ex_mesh *mesh) {
    const size_t count = (size_t)bones->count, size = (size_t)mesh->vertex_count * count;
    float *weights = array_allocate(size + (size_t)mesh->vertex_count, sizeof *weights);
    float *evened = array_allocate(size + (size_t)mesh->vertex_count, sizeof *evened);
    ex_skin *skin = NULL;
    if (weights && evened) {
        for (int v = 0; v < mesh->vertex_count; v++)
            weigh_vertex(bones, flesh, mesh->positions + 3 * (size_t)v, weights + (size_t)v * count);
        /* The same distance in metres, whatever the size of the triangles. */
        const double width = bones->width / edge_length(mesh);
        for (int step = (int)(width * width); step > 0; step--) {
            even_out(mesh, count, weights, evened);
            float *const swap = weights;
            weights = evened;
            evened = swap;
        }
        skin = make_skin(mesh, (uint32_t)count, weights);
    }
    free(weights);
    free(evened);
    return skin;
}

/* ---- transforms ---- */

void exi_creature_turn(const double degrees[3], double m[3][3]) {
    double s[3], c[3];
    for (int i = 0; i < 3; i++)
        ex_sin_cos(degrees[i] * PI / 180, &s[i], &c[i]);
    const double made[3][3] = {
        {c[1] * c[2], -c[1] * s[2], s[1]},
        {c[0] * s[2] + s[0] * s[1] * c[2], c[0] * c[2] - s[0] * s[1] * s[2], -s[0] * c[1]},
        {s[0] * s[2] - c[0] * s[1] * c[2], s[0] * c[2] + c[0] * s[1] * s[2], c[0] * c[1]},
    };
    memcpy(m, made, sizeof made);
}

void exi_creature_bones_move(const exi_creature_bones *bones, double (*turns)[3][3], float (*matrices)[12]) {
    double all[CREATURE_BONES][3][4];
    for (int b = 0; b < bones->count; b++) {
        const int parent = bones->parent(b);
        double place[3], local[3][4];
        bones->joint(b, place);
        for (int r = 0; r < 3; r++) { /* about the joint */
            local[r][3] = place[r];
            for (int c = 0; c < 3; c++) {
                local[r][c] = turns[b][r][c];
                local[r][3] -= turns[b][r][c] * place[c];
            }
        }
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++) {
                all[b][r][c] = parent < 0 ? local[r][c] : c == 3 ? all[parent][r][3] : 0;
                for (int i = 0; parent >= 0 && i < 3; i++)
                    all[b][r][c] += all[parent][r][i] * local[i][c];
                matrices[b][4 * r + c] = (float)all[b][r][c];
            }
    }
}
