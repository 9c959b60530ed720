/*
 * The subject of the demo `body`: an upper body of bars with round ends, muscle by muscle, blended into one closed
 * skin; it ends below the hips and in a stump of a neck. The twist of the forearm is spread between elbow and wrist, as
 * radius and ulna spread it.
 */
#include "body.h"

#include <string.h>

const char *const exi_body_names[BODY_BONES] = {"hips",       "waist",      "abdomen", "clavicle.L", "clavicle.R",
                                                "shoulder.L", "shoulder.R", "elbow.L", "elbow.R",    "forearm.L",
                                                "forearm.R",  "wrist.L",    "wrist.R"};

/* Neither perpendicular to each other nor through one point, like the axes of elbows (section 3.1). */
const double exi_body_axes[BODY_HINGES][3] = {{-0.658, -0.748, 0.087}, {0.747, -0.660, 0.083}, {-0.610, -0.757, 0.234}};
const double exi_body_arm[3] = {0.743, -0.668, -0.037};

/* Pairs are listed once, for the left. */
static const struct {
    int parent;
    double place[3];
    double softness; /* metres: see exi_creature_bones */
} bone_table[] = {
    {-1, {0, 0.93, 0}, 0.045},                      /* hips */
    {BODY_HIPS, {0, 1.035, -0.01}, 0.035},          /* waist */
    {BODY_WAIST, {0, 1.19, -0.02}, 0.045},          /* abdomen */
    {BODY_ABDOMEN, {0.025, 1.425, 0.02}, 0.06},     /* clavicle */
    {BODY_CLAVICLE, {0.175, 1.405, -0.012}, 0.06},  /* shoulder */
    {BODY_SHOULDER, {0.375, 1.225, -0.022}, 0.035}, /* elbow */
    {BODY_ELBOW, {0.384, 1.220, -0.016}, 0.08},     /* forearm */
    {BODY_FOREARM, {0.555, 1.070, 0.002}, 0.025},   /* wrist */
};

static int line_of(int bone, bool *right) {
    *right = bone >= BODY_CLAVICLE && (bone - BODY_CLAVICLE) % 2 == 1;
    return bone < BODY_CLAVICLE ? bone : BODY_CLAVICLE + (bone - BODY_CLAVICLE) / 2;
}

static int parent_of(int bone) {
    bool right;
    const int parent = bone_table[line_of(bone, &right)].parent;
    return right && parent >= BODY_CLAVICLE ? parent + 1 : parent;
}

static void place_of(int bone, double place[3]) {
    bool right;
    memcpy(place, bone_table[line_of(bone, &right)].place, 3 * sizeof *place);
    place[0] = right ? -place[0] : place[0];
}

static double softness_of(int bone) {
    return bone_table[line_of(bone, &(bool){false})].softness;
}

const exi_creature_bones exi_body_bones = {BODY_BONES, parent_of, place_of, softness_of, 0.025};

/* The left side; the right is mirrored. */
static const struct {
    int bone;
    bool pair;
    double from[3], from_radius, to[3], to_radius, soft;
} pieces[] = {
    /* hips, belly, flanks, ribs */
    {BODY_HIPS, true, {0.070, 0.895, -0.012}, 0.098, {0.060, 1.02, -0.002}, 0.086, 0.11},
    {BODY_HIPS, true, {0.062, 0.875, -0.045}, 0.070, {0.055, 0.93, -0.050}, 0.065, 0.03},
    {BODY_WAIST, true, {0.058, 0.99, 0.002}, 0.085, {0.058, 1.16, 0.004}, 0.087, 0.11},
    {BODY_WAIST, false, {0, 1.00, 0.030}, 0.062, {0, 1.12, 0.034}, 0.062, 0.03},
    {BODY_ABDOMEN, true, {0.060, 1.12, 0.002}, 0.088, {0.082, 1.34, -0.012}, 0.092, 0.09},
    {BODY_ABDOMEN, true, {0.070, 1.305, 0.052}, 0.052, {0.135, 1.345, 0.030}, 0.040, 0.025},  /* pectoral */
    {BODY_ABDOMEN, true, {0.085, 1.20, -0.062}, 0.040, {0.140, 1.335, -0.050}, 0.040, 0.03},  /* latissimus */
    {BODY_ABDOMEN, true, {0.075, 1.36, -0.078}, 0.030, {0.105, 1.28, -0.085}, 0.022, 0.03},   /* shoulder blade */
    {BODY_ABDOMEN, false, {0, 1.43, -0.018}, 0.055, {0, 1.50, -0.005}, 0.052, 0.045},         /* neck */
    {BODY_ABDOMEN, true, {0.030, 1.485, -0.030}, 0.028, {0.085, 1.435, -0.030}, 0.034, 0.03}, /* trapezius */
    /* collar bone and the cap of the shoulder */
    {BODY_CLAVICLE, true, {0.050, 1.405, -0.008}, 0.056, {0.140, 1.402, -0.012}, 0.056, 0.06},
    {BODY_SHOULDER, true, {0.172, 1.402, -0.012}, 0.058, {0.225, 1.350, -0.014}, 0.050, 0.04}, /* deltoid */
    /* upper arm: biceps before, triceps behind */
    {BODY_SHOULDER, true, {0.215, 1.372, -0.014}, 0.046, {0.368, 1.232, -0.020}, 0.037, 0.03},
    {BODY_SHOULDER, true, {0.250, 1.338, 0.008}, 0.034, {0.320, 1.275, 0.008}, 0.031, 0.02},
    {BODY_SHOULDER, true, {0.240, 1.350, -0.036}, 0.034, {0.315, 1.278, -0.040}, 0.029, 0.02},
    /* forearm: the belly near the elbow, thin and flat at the wrist */
    {BODY_ELBOW, true, {0.378, 1.222, -0.020}, 0.038, {0.440, 1.168, -0.012}, 0.037, 0.012},
    {BODY_ELBOW, true, {0.376, 1.223, -0.045}, 0.019, {0.392, 1.208, -0.042}, 0.017, 0.015}, /* olecranon */
    {BODY_FOREARM, true, {0.430, 1.175, -0.006}, 0.038, {0.545, 1.078, 0.002}, 0.025, 0.02},
    {BODY_FOREARM, true, {0.420, 1.190, 0.008}, 0.028, {0.470, 1.146, 0.010}, 0.022, 0.02},
    {BODY_FOREARM, true, {0.535, 1.080, -0.012}, 0.020, {0.552, 1.066, 0.018}, 0.020, 0.012},
    /* hand: palm, fingers, thumb */
    {BODY_WRIST, true, {0.565, 1.062, -0.012}, 0.022, {0.612, 1.020, -0.016}, 0.020, 0.02},
    {BODY_WRIST, true, {0.566, 1.058, 0.018}, 0.022, {0.615, 1.012, 0.022}, 0.020, 0.02},
    {BODY_WRIST, true, {0.615, 1.016, -0.016}, 0.017, {0.678, 0.958, -0.018}, 0.012, 0.012},
    {BODY_WRIST, true, {0.618, 1.012, 0.004}, 0.017, {0.688, 0.948, 0.004}, 0.012, 0.012},
    {BODY_WRIST, true, {0.616, 1.011, 0.022}, 0.016, {0.680, 0.950, 0.026}, 0.012, 0.012},
    {BODY_WRIST, true, {0.572, 1.054, 0.030}, 0.018, {0.622, 1.004, 0.036}, 0.013, 0.012},
};

/* Adds one piece, and its mirror image if it is one of a pair. */
static void add_piece(exi_creature_flesh *flesh, int bone, bool pair, const double from[3], double from_radius,
                      const double to[3], double to_radius, double soft) {
    for (int right = 0; right < (pair ? 2 : 1); right++) {
        const double sign = right ? -1 : 1,
                     ends[2][3] = {{sign * from[0], from[1], from[2]}, {sign * to[0], to[1], to[2]}};
        exi_creature_flesh_add(flesh, bone + (bone >= BODY_CLAVICLE ? right : 0), ends[0], from_radius, ends[1],
                               to_radius, soft);
    }
}

void exi_body_flesh(exi_creature_flesh *flesh) {
    flesh->count = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        add_piece(flesh, pieces[i].bone, pieces[i].pair, pieces[i].from, pieces[i].from_radius, pieces[i].to,
                  pieces[i].to_radius, pieces[i].soft);
}

/* Pelvis, loin and ribs for the skin's weights: they are separated at their joints, and not by flesh that extends from
 * one into the other. */
static const struct {
    int bone;
    double from[3], to[3], radius;
} trunk[] = {{BODY_HIPS, {0.060, 0.870, -0.01}, {0.060, 0.970, -0.004}, 0.09},
             {BODY_WAIST, {0.060, 1.100, 0.000}, {0.060, 1.125, 0.004}, 0.09},
             {BODY_ABDOMEN, {0.060, 1.255, 0.000}, {0.078, 1.335, -0.012}, 0.09}};

void exi_body_weights(exi_creature_flesh *flesh) {
    flesh->count = 0;
    for (size_t i = 0; i < sizeof trunk / sizeof *trunk; i++)
        add_piece(flesh, trunk[i].bone, true, trunk[i].from, trunk[i].radius, trunk[i].to, trunk[i].radius, 0.01);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        if (pieces[i].bone > BODY_WAIST && (pieces[i].bone > BODY_ABDOMEN || pieces[i].from[1] > 1.25))
            add_piece(flesh, pieces[i].bone, pieces[i].pair, pieces[i].from, pieces[i].from_radius, pieces[i].to,
                      pieces[i].to_radius, pieces[i].soft);
    }
}

ex_mesh *exi_body_mesh(double spacing) {
    exi_creature_flesh flesh;
    exi_body_flesh(&flesh);
    return exi_creature_flesh_mesh(&flesh, spacing);
}
