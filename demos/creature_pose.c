/*
 * Poses of the creature. A vertex is moved by the bones whose flesh is nearest to it, by how much nearer they are, and
 * by none that is more than two joints away from the nearest; these weights are then evened out over the skin. Joints
 * turn by tables of degrees, and dual quaternions carry the skin along, so that no joint collapses.
 */
#include "creature.h"

#include "author/formats/array.h"
#include "runtime/base/functions.inl"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---- which bones move a vertex ---- */

/* In metres: how much farther than the nearest a bone's flesh may be and still have a say. */
static double softness(int bone) {
    static const double pairs[] = {0.075, 0.058, 0.040, 0.090, 0.065, 0.045, 0.040}; /* from the arms to the toes */
    static const double single[] = {0.20, 0.20, 0.20, 0.12, 0.07};
    return bone < CREATURE_ARM ? single[bone] : bone < CREATURE_TAIL_FIRST ? pairs[(bone - CREATURE_ARM) / 2] : 0.060;
}

/* Joints between two bones. */
static int steps_between(int a, int b) {
    int steps = 0;
    while (a != b) { /* a parent's number is lower */
        if (a > b)
            a = exi_creature_parent(a);
        else
            b = exi_creature_parent(b);
        steps++;
    }
    return steps;
}

static void weigh_vertex(const exi_creature_flesh *flesh, const double p[3], float weights[CREATURE_BONES]) {
    double distances[CREATURE_BONES], sum = 0;
    int best = 0;
    exi_creature_bone_fields(flesh, p, distances);
    for (int b = 1; b < CREATURE_BONES; b++)
        best = distances[b] < distances[best] ? b : best;
    for (int b = 0; b < CREATURE_BONES; b++) {
        const double soft = (softness(b) + softness(best)) / 2, near = 1 - (distances[b] - distances[best]) / soft;
        const double weight = near > 0 && steps_between(b, best) <= 2 ? near * near : 0;
        weights[b] = (float)weight;
        sum += weight;
    }
    for (int b = 0; b < CREATURE_BONES; b++)
        weights[b] = (float)((double)weights[b] / sum);
}

/* One step towards the mean of the neighbours; every neighbour counts once, the mesh being closed. */
static void even_out(const ex_mesh *mesh, const float *weights, float *evened) {
    const size_t count = (size_t)mesh->vertex_count * CREATURE_BONES;
    float *neighbours = evened + count; /* [vertex_count] */
    memset(evened, 0, (count + (size_t)mesh->vertex_count) * sizeof *evened);
    for (int h = 0; h < mesh->corner_count; h++) {
        const size_t v = (size_t)mesh->corners[h], other = (size_t)mesh->corners[h % 3 == 2 ? h - 2 : h + 1];
        for (size_t b = 0; b < CREATURE_BONES; b++)
            evened[v * CREATURE_BONES + b] += weights[other * CREATURE_BONES + b];
        neighbours[v]++;
    }
    for (size_t i = 0; i < count; i++)
        evened[i] = 0.5f * (weights[i] + evened[i] / neighbours[i / CREATURE_BONES]);
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

static ex_skin *make_skin(const ex_mesh *mesh, const float *weights) {
    const size_t count = (size_t)mesh->vertex_count;
    uint32_t *starts = exi_array_allocate(count + 1, sizeof *starts);
    uint32_t *joints = exi_array_allocate(count * CREATURE_BONES, sizeof *joints);
    float *kept = exi_array_allocate(count * CREATURE_BONES, sizeof *kept);
    ex_skin *skin = NULL;
    if (starts && joints && kept) {
        starts[0] = 0;
        for (size_t v = 0; v < count; v++) {
            uint32_t at = starts[v];
            for (uint32_t b = 0; b < CREATURE_BONES; b++)
                if (weights[v * CREATURE_BONES + b] > 0.001f) {
                    joints[at] = b;
                    kept[at++] = weights[v * CREATURE_BONES + b];
                }
            starts[v + 1] = at;
        }
        ex_skin_create(&(ex_skin_def){mesh->vertex_count, CREATURE_BONES, starts, joints, kept}, NULL, &skin, NULL);
    }
    free(starts);
    free(joints);
    free(kept);
    return skin;
}

ex_skin *exi_creature_skin(const ex_mesh *mesh) {
    const size_t size = (size_t)mesh->vertex_count * CREATURE_BONES;
    float *weights = exi_array_allocate(size + (size_t)mesh->vertex_count, sizeof *weights);
    float *evened = exi_array_allocate(size + (size_t)mesh->vertex_count, sizeof *evened);
    ex_skin *skin = NULL;
    if (weights && evened) {
        exi_creature_flesh flesh;
        exi_creature_flesh_make(&flesh);
        for (int v = 0; v < mesh->vertex_count; v++)
            weigh_vertex(&flesh, mesh->positions + 3 * (size_t)v, weights + (size_t)v * CREATURE_BONES);
        /* As far, in metres, whatever the triangles' size. */
        const double width = 0.08 / edge_length(mesh);
        for (int step = (int)(width * width); step > 0; step--) {
            even_out(mesh, weights, evened);
            float *const swap = weights;
            weights = evened;
            evened = swap;
        }
        skin = make_skin(mesh, weights);
    }
    free(weights);
    free(evened);
    return skin;
}

/* ---- poses ---- */

const char *const exi_creature_pose_names[CREATURE_POSES] = {"leap", "sit", "kick", "curl"};

/* Degrees about x, y, z, in this order; of both sides alike, or of one. */
typedef struct turn {
    int bone;
    enum { BOTH, LEFT, RIGHT } side; /* ignored where there is one only */
    double x, y, z;
} turn;

static const turn leap[] = {
    {CREATURE_BODY, BOTH, 0, 0, 12},        {CREATURE_HIPS, BOTH, 0, 0, 14},   {CREATURE_CHEST, BOTH, 0, 0, 4},
    {CREATURE_NECK, BOTH, 0, 0, -24},       {CREATURE_HEAD, BOTH, 0, 0, 6},    {CREATURE_ARM, LEFT, 0, 0, 62},
    {CREATURE_ARM, RIGHT, 0, 0, 46},        {CREATURE_FOREARM, LEFT, 0, 0, 4}, {CREATURE_FOREARM, RIGHT, 0, 0, -12},
    {CREATURE_HAND, BOTH, 0, 0, -58},       {CREATURE_THIGH, LEFT, 0, 0, -92}, {CREATURE_THIGH, RIGHT, 0, 0, -78},
    {CREATURE_SHANK, BOTH, 0, 0, 42},       {CREATURE_FOOT, BOTH, 0, 0, -50},  {CREATURE_TOES, BOTH, 0, 0, -56},
    {CREATURE_TAIL_FIRST, BOTH, 0, 0, -42},
};
static const turn sit[] = {
    {CREATURE_BODY, BOTH, 0, 0, 20},         {CREATURE_HIPS, BOTH, 0, 0, 28},   {CREATURE_CHEST, BOTH, 0, 0, 12},
    {CREATURE_NECK, BOTH, 0, 0, -6},         {CREATURE_HEAD, BOTH, 0, 14, -32}, {CREATURE_ARM, BOTH, 0, 0, -22},
    {CREATURE_FOREARM, BOTH, 0, 0, -10},     {CREATURE_HAND, BOTH, 0, 0, -4},   {CREATURE_THIGH, BOTH, 0, 0, 8},
    {CREATURE_SHANK, BOTH, 0, 0, -46},       {CREATURE_FOOT, BOTH, 0, 0, 66},   {CREATURE_TOES, BOTH, 0, 0, -70},
    {CREATURE_TAIL_FIRST, BOTH, 0, 10, -38},
};
static const turn kick[] = {
    {CREATURE_BODY, BOTH, 0, 0, -22},  {CREATURE_HIPS, BOTH, 0, 0, -10},   {CREATURE_CHEST, BOTH, 0, 0, 2},
    {CREATURE_NECK, BOTH, 0, 0, 4},    {CREATURE_HEAD, BOTH, 0, 0, 8},     {CREATURE_ARM, BOTH, 0, 0, 20},
    {CREATURE_THIGH, LEFT, 0, 0, -84}, {CREATURE_THIGH, RIGHT, 0, 0, -66}, {CREATURE_SHANK, BOTH, 0, 0, 44},
    {CREATURE_FOOT, BOTH, 0, 0, -50},  {CREATURE_TOES, BOTH, 0, 0, -50},   {CREATURE_TAIL_FIRST, BOTH, 0, 0, -40},
};

/* What each further link of the tail turns, and how high above the ground the whole animal is. */
static const struct {
    const turn *turns;
    int count;
    double tail[3], height;
} poses[CREATURE_POSES] = {
    [CREATURE_LEAP] = {leap, sizeof leap / sizeof *leap, {0, 0, 2}, 0.12},
    [CREATURE_SIT] = {sit, sizeof sit / sizeof *sit, {0, 18, -4}, 0},
    [CREATURE_KICK] = {kick, sizeof kick / sizeof *kick, {0, 0, -14}, 0},
    [CREATURE_CURL] = {NULL, 0, {0, 0, -34}, 0},
};

/* rotation = rotation about x, then y, then z (of the turned axes), degrees; rows first. */
static void turn_matrix(const double degrees[3], double m[3][3]) {
    double s[3], c[3];
    for (int i = 0; i < 3; i++)
        exi_sin_cos(degrees[i] * PI / 180, &s[i], &c[i]);
    const double made[3][3] = {
        {c[1] * c[2], -c[1] * s[2], s[1]},
        {c[0] * s[2] + s[0] * s[1] * c[2], c[0] * c[2] - s[0] * s[1] * s[2], -s[0] * c[1]},
        {s[0] * s[2] - c[0] * s[1] * c[2], s[0] * c[2] + c[0] * s[1] * s[2], c[0] * c[1]},
    };
    memcpy(m, made, sizeof made);
}

static void find_turns(exi_creature_pose pose, double degrees[CREATURE_BONES][3]) {
    memset(degrees, 0, CREATURE_BONES * sizeof *degrees);
    for (int i = 0; i < poses[pose].count; i++) {
        const turn *t = &poses[pose].turns[i];
        const bool pair = t->bone >= CREATURE_ARM && t->bone < CREATURE_TAIL_FIRST;
        for (int side = 0; side < (pair ? 2 : 1); side++)
            if (!pair || t->side == BOTH || (t->side == LEFT) == (side == 0))
                memcpy(degrees[t->bone + side], (const double[3]){t->x, t->y, t->z}, sizeof *degrees);
    }
    for (int i = 1; i < CREATURE_TAIL; i++)
        memcpy(degrees[CREATURE_TAIL_FIRST + i], poses[pose].tail, sizeof *degrees);
}

/* What moves what is at rest: rows of a rotation and a translation. */
static void bone_matrices(exi_creature_pose pose, float matrices[CREATURE_BONES][12]) {
    double turns[CREATURE_BONES][3], all[CREATURE_BONES][3][4];
    find_turns(pose, turns);
    for (int b = 0; b < CREATURE_BONES; b++) {
        const int parent = exi_creature_parent(b);
        double own[3][3], place[3], local[3][4];
        exi_creature_joint(b, place);
        turn_matrix(turns[b], own);
        for (int r = 0; r < 3; r++) { /* about the joint */
            local[r][3] = place[r];
            for (int c = 0; c < 3; c++) {
                local[r][c] = own[r][c];
                local[r][3] -= own[r][c] * place[c];
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

/* The lowest vertex at a height, and all of them rounded to a hundredth of a millimetre: shorter files. */
static void set_down(const float *moved, size_t count, double height, double *positions) {
    double lowest = (double)moved[1];
    for (size_t v = 1; v < count; v++)
        lowest = (double)moved[3 * v + 1] < lowest ? (double)moved[3 * v + 1] : lowest;
    for (size_t i = 0; i < 3 * count; i++)
        positions[i] = floor(((double)moved[i] + (i % 3 == 1 ? height - lowest : 0)) * 1e5 + 0.5) / 1e5;
}

ex_result exi_creature_posed(const ex_mesh *mesh, const ex_skin *skin, exi_creature_pose pose, double *positions,
                             ex_error *error) {
    float matrices[CREATURE_BONES][12];
    const size_t count = (size_t)mesh->vertex_count;
    float *rest = exi_array_allocate(3 * count, sizeof *rest), *moved = exi_array_allocate(3 * count, sizeof *moved);
    void *memory = malloc(ex_palette_size(EX_SKINNING_DUAL_QUATERNION, CREATURE_BONES));
    const bool room = rest && moved && memory;
    if (room) {
        bone_matrices(pose, matrices);
        const ex_palette_def def = {
            .method = EX_SKINNING_DUAL_QUATERNION, .joint_count = CREATURE_BONES, .matrices = matrices[0]};
        const ex_palette *palette = ex_palette_make(&def, memory);
        for (size_t i = 0; i < 3 * count; i++)
            rest[i] = (float)mesh->positions[i];
        ex_skin_apply(skin, palette,
                      &(ex_skin_job){.end = mesh->vertex_count, .positions = rest, .out_positions = moved});
        set_down(moved, count, poses[pose].height, positions);
    }
    free(rest);
    free(moved);
    free(memory);
    return room ? EX_OK : exi_error_memory(error, "the creature's pose", count);
}
