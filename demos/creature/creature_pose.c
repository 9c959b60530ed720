/*
 * Poses of the creature. Joints turn by tables of degrees, and dual quaternions move the skin, so that no joint
 * collapses.
 */
#include "creature.h"

#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest extra distance in metres, compared with the nearest bone's flesh, at which a bone still has weight. */
static double softness(int bone) {
    static const double pairs[] = {0.075, 0.058, 0.040, 0.090, 0.065, 0.045, 0.040}; /* from the arms to the toes */
    static const double single[] = {0.20, 0.20, 0.20, 0.12, 0.07};
    return bone < CREATURE_ARM ? single[bone] : bone < CREATURE_TAIL_FIRST ? pairs[(bone - CREATURE_ARM) / 2] : 0.060;
}

static const exi_creature_bones bones = {CREATURE_BONES, exi_creature_parent, exi_creature_joint, softness, 0.08};

ex_skin *exi_creature_skin(const ex_mesh *mesh) {
    exi_creature_flesh flesh;
    exi_creature_flesh_make(&flesh);
    return exi_creature_bones_skin(&bones, &flesh, mesh);
}

/* ---- poses ---- */

const char *const exi_creature_pose_names[CREATURE_POSES] = {"leap", "sit", "kick", "curl"};

/* Degrees about x, y, z, in this order; of both sides, or of one. */
typedef struct turn {
    int bone;
    enum { BOTH, LEFT, RIGHT } side; /* ignored for bones that are not paired */
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

/* Turn of each further link of the tail, and the height of the animal above the ground. */
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

static void bone_matrices(exi_creature_pose pose, float matrices[CREATURE_BONES][12]) {
    double degrees[CREATURE_BONES][3], turns[CREATURE_BONES][3][3];
    find_turns(pose, degrees);
    for (int b = 0; b < CREATURE_BONES; b++)
        exi_creature_turn(degrees[b], turns[b]);
    exi_creature_bones_move(&bones, turns, matrices);
}

/* Puts the lowest vertex at a height, and rounds all of them to a hundredth of a millimetre, for shorter files. */
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
    float *rest = array_allocate(3 * count, sizeof *rest), *moved = array_allocate(3 * count, sizeof *moved);
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
    return room ? EX_OK : ex_error_memory(error, "the creature's pose", count);
}
