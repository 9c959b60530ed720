/*
 * The figure of the demo `shirt`: torso, neck, head, arms and thighs of bars with round ends, blended into one closed
 * skin; bones with their flesh; poses by dual quaternions. It uses the functions that make the creature from bars.
 */
#include "shirt.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

#define SPACING 0.0199 /* of the lattice for the skin: about 10000 triangles */

/* ---- bones ---- */

/* Pairs are listed once, for the left. */
static const struct {
    int parent;
    double place[3];
    double softness; /* metres: see exi_creature_bones */
} bone_table[] = {
    {-1, {0, 0.95, 0}, 0.16},                       /* hips */
    {SHIRT_HIPS, {0, 1.04, 0}, 0.16},               /* spine */
    {SHIRT_SPINE, {0, 1.18, 0}, 0.16},              /* chest */
    {SHIRT_CHEST, {0, 1.44, -0.01}, 0.08},          /* neck */
    {SHIRT_NECK, {0, 1.56, 0.005}, 0.06},           /* head */
    {SHIRT_CHEST, {0.035, 1.40, -0.01}, 0.12},      /* clavicle */
    {SHIRT_CLAVICLE, {0.185, 1.395, -0.015}, 0.10}, /* arm */
    {SHIRT_ARM, {0.395, 1.215, -0.015}, 0.05},      /* forearm */
    {SHIRT_HIPS, {0.095, 0.89, 0}, 0.12},           /* thigh */
};

/* The line of the table; *right: true for the right one of a pair. */
static int line_of(int bone, bool *right) {
    *right = bone >= SHIRT_CLAVICLE && (bone - SHIRT_CLAVICLE) % 2 == 1;
    return bone < SHIRT_CLAVICLE ? bone : SHIRT_CLAVICLE + (bone - SHIRT_CLAVICLE) / 2;
}

static int parent_of(int bone) {
    bool right;
    const int parent = bone_table[line_of(bone, &right)].parent;
    return right && parent >= SHIRT_CLAVICLE ? parent + 1 : parent;
}

void exi_shirt_joint(int bone, double place[3]) {
    bool right;
    memcpy(place, bone_table[line_of(bone, &right)].place, 3 * sizeof *place);
    place[0] = right ? -place[0] : place[0];
}

static double softness_of(int bone) {
    return bone_table[line_of(bone, &(bool){false})].softness;
}

static const exi_creature_bones bones = {SHIRT_BONES, parent_of, exi_shirt_joint, softness_of, 0.07};

/* ---- flesh ---- */

/* The left side; the right is mirrored, and both halves of the torso merge. */
static const struct {
    int bone;
    bool pair;
    enum { SKIN, BOTH, CLOTH } of; /* the flesh that it belongs to: the figure's, the shirt's, or both */
    double from[3], from_radius, to[3], to_radius, soft;
} pieces[] = {
    {SHIRT_HIPS, true, BOTH, {0.072, 0.885, -0.01}, 0.104, {0.062, 1.00, 0}, 0.092, 0.09},
    {SHIRT_SPINE, true, BOTH, {0.058, 1.00, 0.005}, 0.088, {0.060, 1.14, 0.005}, 0.089, 0.09},
    {SHIRT_CHEST, true, BOTH, {0.064, 1.17, 0.005}, 0.103, {0.082, 1.335, -0.005}, 0.096, 0.08},
    {SHIRT_NECK, false, BOTH, {0, 1.42, -0.015}, 0.056, {0, 1.53, 0}, 0.054, 0.05},
    {SHIRT_HEAD, false, SKIN, {0, 1.585, 0.025}, 0.074, {0, 1.655, 0.01}, 0.086, 0.04},
    {SHIRT_CLAVICLE, true, BOTH, {0.050, 1.405, -0.012}, 0.062, {0.155, 1.392, -0.015}, 0.064, 0.07},
    {SHIRT_ARM, true, BOTH, {0.185, 1.388, -0.015}, 0.060, {0.390, 1.218, -0.015}, 0.041, 0.05},
    {SHIRT_FOREARM, true, BOTH, {0.400, 1.210, -0.015}, 0.041, {0.575, 1.060, -0.015}, 0.029, 0.012},
    {SHIRT_FOREARM, true, SKIN, {0.595, 1.043, -0.015}, 0.033, {0.650, 0.996, -0.015}, 0.028, 0.03},
    {SHIRT_HIPS, true, CLOTH, {0.103, 0.80, 0}, 0.095, {0.085, 0.90, 0}, 0.098, 0.06},
    {SHIRT_THIGH, true, SKIN, {0.100, 0.84, 0}, 0.092, {0.128, 0.50, 0}, 0.062, 0.04},
};

void exi_shirt_flesh(exi_creature_flesh *flesh, bool shirt, double wider) {
    flesh->count = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (int right = 0; right < (pieces[i].pair ? 2 : 1); right++) {
            const double sign = right ? -1 : 1,
                         ends[2][3] = {{sign * pieces[i].from[0], pieces[i].from[1], pieces[i].from[2]},
                                       {sign * pieces[i].to[0], pieces[i].to[1], pieces[i].to[2]}};
            const int bone = pieces[i].bone + (pieces[i].bone >= SHIRT_CLAVICLE ? right : 0);
            if (pieces[i].of == BOTH || pieces[i].of == (shirt ? CLOTH : SKIN))
                exi_creature_flesh_add(flesh, bone, ends[0], pieces[i].from_radius + wider, ends[1],
                                       pieces[i].to_radius + wider, pieces[i].soft);
        }
}

ex_mesh *exi_shirt_body(void) {
    exi_creature_flesh flesh;
    exi_shirt_flesh(&flesh, false, 0);
    return exi_creature_flesh_mesh(&flesh, SPACING);
}

/* ---- poses ---- */

struct exi_shirt_figure {
    size_t count;
    ex_skin *skin;
    float *rest, *moved; /* [count][3] */
    void *palette;
};

void exi_shirt_figure_destroy(exi_shirt_figure *figure) {
    if (!figure)
        return;
    ex_skin_destroy(figure->skin);
    free(figure->rest);
    free(figure->moved);
    free(figure->palette);
    free(figure);
}

exi_shirt_figure *exi_shirt_figure_create(const ex_mesh *body) {
    exi_shirt_figure *figure = calloc(1, sizeof *figure);
    if (!figure)
        return NULL;
    exi_creature_flesh flesh;
    exi_shirt_flesh(&flesh, false, 0);
    figure->count = (size_t)body->vertex_count;
    figure->skin = exi_creature_bones_skin(&bones, &flesh, body);
    figure->rest = array_allocate(3 * figure->count, sizeof(float));
    figure->moved = array_allocate(3 * figure->count, sizeof(float));
    figure->palette = malloc(ex_palette_size(EX_SKINNING_DUAL_QUATERNION, SHIRT_BONES));
    if (!figure->skin || !figure->rest || !figure->moved || !figure->palette) {
        exi_shirt_figure_destroy(figure);
        return NULL;
    }
    for (size_t i = 0; i < 3 * figure->count; i++)
        figure->rest[i] = (float)body->positions[i];
    return figure;
}

void exi_shirt_figure_pose(exi_shirt_figure *figure, double (*degrees)[3], const double moved[3], double *positions) {
    double turns[SHIRT_BONES][3][3];
    float matrices[SHIRT_BONES][12];
    for (int b = 0; b < SHIRT_BONES; b++)
        exi_creature_turn(degrees[b], turns[b]);
    exi_creature_bones_move(&bones, turns, matrices);
    const ex_palette_def def = {
        .method = EX_SKINNING_DUAL_QUATERNION, .joint_count = SHIRT_BONES, .matrices = matrices[0]};
    const ex_palette *palette = ex_palette_make(&def, figure->palette);
    ex_skin_apply(figure->skin, palette,
                  &(ex_skin_job){.end = (int)figure->count, .positions = figure->rest, .out_positions = figure->moved});
    for (size_t i = 0; i < 3 * figure->count; i++)
        positions[i] = (double)figure->moved[i] + moved[i % 3];
}
