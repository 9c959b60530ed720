/*
 * Input of the local step of as-rigid-as-possible forms (facings_kernel.c has the step): triangles of the start in
 * groups of EXI_LANES, the order of the step's stages, and the goals at a time. Loops over lanes are written for the
 * compiler to make one instruction of several triangles.
 */
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/trajectory/trajectory.h"
#include "runtime/shape/mixture_pose.inl"

enum { LANES = EXI_LANES };

#define EACH_LANE for (int l = 0; l < LANES; l++)

typedef float row[LANES];

/* The triangle of a lane; lanes beyond the last one have that one. */
static size_t triangle_of(const ex_between *b, int first, int lane) {
    return (size_t)(first + lane < b->triangle_count ? first + lane : b->triangle_count - 1);
}

static int larger(int a, int b) {
    return a > b ? a : b;
}

/* ---- triangles of the start ---- */

static void fill_group(const ex_between *b, int first, exi_flat *flat) {
    EACH_LANE {
        const size_t k = triangle_of(b, first, l);
        const double *plane = b->planes + 5 * k;
        float scale = 1;
        for (int i = 0; i < 4; i++)
            flat->slopes[i][l] = (float)plane[i];
        flat->area[l] = first + l < b->triangle_count ? (float)plane[4] : 0;
        for (size_t i = 0; i < 3; i++) {
            flat->corners[l][i] = 3 * b->triangles[3 * k + i];
            flat->others[l][i] = b->neighbours[3 * k + i];
            scale += flat->others[l][i] < 0 ? 0 : EXI_COUPLING;
        }
        flat->scale[l] = 1 / scale;
    }
}

static int power_above(int number) {
    int power = 1;
    while (power <= number)
        power *= 2;
    return power;
}

/* Finds how far the second stage gets with each group, and the sizes of the rings. needs [group_count] is scratch
 * memory: the last group whose rotations group g, and all before, need. */
static void plan_stages(exi_flats *f, int *needs) {
    int most = 0, slopes = 0, reached = 0;
    for (int g = 0; g < f->group_count; g++) {
        const exi_flat *flat = &f->groups[g];
        int first = g;
        needs[g] = g > 0 ? larger(needs[g - 1], g) : g;
        EACH_LANE for (int k = 0; k < 3; k++) {
            const int other = flat->others[l][k] / LANES;
            reached = larger(reached, flat->corners[l][k] / 3 + 1);
            if (flat->others[l][k] < 0)
                continue;
            needs[g] = larger(needs[g], other);
            first = other < first ? other : first;
        }
        most = larger(most, needs[g] - first);
        slopes = larger(slopes, needs[g] - g);
        f->pulled[g] = 0;
        f->reached[g] = reached;
    }
    for (int g = 0; g < f->group_count; g++)
        f->pulled[needs[g]] = g + 1;
    for (int g = 1; g < f->group_count; g++)
        f->pulled[g] = larger(f->pulled[g], f->pulled[g - 1]);
    f->ring = power_above(most);
    f->slope_ring = power_above(slopes);
}

bool exi_flats_create(const ex_between *b, exi_flats *f) {
    const size_t count = ((size_t)b->triangle_count + LANES - 1) / LANES;
    f->group_count = (int)count;
    f->groups = exi_array_allocate(count, sizeof *f->groups);
    f->pulled = exi_array_allocate(count, sizeof *f->pulled);
    f->reached = exi_array_allocate(count, sizeof *f->reached);
    int *needs = exi_array_allocate(count, sizeof *needs);
    const bool room = f->groups && f->pulled && f->reached && needs;
    if (room) {
        for (size_t g = 0; g < count; g++)
            fill_group(b, (int)g * LANES, &f->groups[g]);
        plan_stages(f, needs);
    }
    free(needs);
    return room;
}

void exi_flats_free(exi_flats *f) {
    free(f->groups);
    free(f->pulled);
    free(f->reached);
}

/* ---- goals ---- */

/* R^t: the rotations R(t w). */
static void turn_lanes(const ex_between *b, double t, int first, row r[3][3]) {
    double w[3][LANES], a[LANES], sinc[LANES], most = 0;
    EACH_LANE {
        const double *turn = b->turns + 3 * triangle_of(b, first, l);
        for (int i = 0; i < 3; i++)
            w[i][l] = t * turn[i];
    }
    EACH_LANE {
        const double z = w[0][l] * w[0][l] + w[1][l] * w[1][l] + w[2][l] * w[2][l];
        exi_mixture_factors(z, &a[l], &sinc[l]);
        most = z > most ? z : most;
    }
    EACH_LANE {
        const double x = w[0][l], y = w[1][l], z = w[2][l];
        r[0][0][l] = (float)(1 - a[l] * (y * y + z * z));
        r[0][1][l] = (float)(a[l] * x * y - sinc[l] * z);
        r[0][2][l] = (float)(a[l] * x * z + sinc[l] * y);
        r[1][0][l] = (float)(a[l] * x * y + sinc[l] * z);
        r[1][1][l] = (float)(1 - a[l] * (x * x + z * z));
        r[1][2][l] = (float)(a[l] * y * z - sinc[l] * x);
        r[2][0][l] = (float)(a[l] * x * z - sinc[l] * y);
        r[2][1][l] = (float)(a[l] * y * z + sinc[l] * x);
        r[2][2][l] = (float)(1 - a[l] * (x * x + y * y));
    }
    for (int l = 0; most > EXI_MIXTURE_NEAR && l < LANES; l++) { /* a turn and more */
        double far[3][3];
        exi_turn_matrix((double[3]){w[0][l], w[1][l], w[2][l]}, far);
        for (int i = 0; i < 9; i++)
            r[i / 3][i % 3][l] = (float)far[i / 3][i % 3];
    }
}

size_t exi_goals_size(const ex_between *b) {
    return (size_t)b->flats.group_count * sizeof(exi_goal);
}

void exi_goals_set(const ex_between *b, double t, exi_goal *goals) {
    for (int first = 0; first < b->triangle_count; first += LANES, goals++) {
        row r[3][3], e[3][3];
        turn_lanes(b, t, first, r);
        EACH_LANE {
            const size_t k = triangle_of(b, first, l);
            const double *strain = b->strains + 3 * k;
            for (int i = 0; i < 3; i++) {
                e[0][i][l] = (float)b->frames[6 * k + (size_t)i];
                e[1][i][l] = (float)b->frames[6 * k + 3 + (size_t)i];
                e[2][i][l] = (float)b->normals[3 * k + (size_t)i];
            }
            goals->s[0][l] = (float)(1 - t + t * strain[0]);
            goals->s[1][l] = (float)(t * strain[1]);
            goals->s[2][l] = (float)(1 - t + t * strain[2]);
        }
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++)
                EACH_LANE goals->frame[k][i][l] =
                    r[i][0][l] * e[k][0][l] + r[i][1][l] * e[k][1][l] + r[i][2][l] * e[k][2][l];
    }
}

/* ---- the step ---- */

/* Entries of a ring: no more than there are groups. */
static size_t ring_size(const ex_between *b, int ring) {
    return (size_t)(ring < b->flats.group_count ? ring : b->flats.group_count);
}

size_t exi_facings_size(const ex_between *b) {
    return ring_size(b, b->flats.ring) * sizeof(exi_facing) + ring_size(b, b->flats.slope_ring) * sizeof(exi_slope);
}

void exi_local_step(const ex_between *b, const exi_goal *goals, const double *form, void *facings, double *right) {
    exi_facing *turns = facings;
    exi_facings_run(&(exi_facings_step){.flats = &b->flats,
                                        .vertex_count = b->vertex_count,
                                        .goals = goals,
                                        .form = form,
                                        .facings = turns,
                                        .slopes = (exi_slope *)(void *)(turns + ring_size(b, b->flats.ring)),
                                        .right = right});
}
