/*
 * The start of a fit: world rotations of bones by rigid fits of their vertices, and joint centres by relative motion.
 * The centre of a joint is a fixed point a of its parent bone and b of its own; both are found from
 *
 *   minimise  sum over forms of |T_parent a - T b|^2 / (5 mm)^2 + (|a - c|^2 + |b - c|^2) / (3 cm)^2
 *
 * with c the centre so far. In the rest form, bones are then moved so that a and b meet: they get the person's lengths.
 */
#include "author/base/array.h"
#include "author/scan/articulate/articulation.h"
#include "runtime/base/dense.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double meet_sigma = 0.005, near_sigma = 0.03; /* in units */
static const double least = 2.5;                           /* vertices that a rigid fit needs */

/* ---- rigid fits ---- */

typedef struct rigid {
    double weight, from[3], to[3], products[9], from_square, to_square;
} rigid;

static void rigid_add(rigid *r, const double *x, const double *y, double weight) {
    r->weight += weight;
    for (int i = 0; i < 3; i++) {
        r->from[i] += weight * x[i];
        r->to[i] += weight * y[i];
        for (int k = 0; k < 3; k++)
            r->products[3 * i + k] += weight * y[i] * x[k];
    }
    r->from_square += weight * exi_dot3(x, x);
    r->to_square += weight * exi_dot3(y, y);
}

/* Three rows of R | t; returns the ratio of sizes, to / from. */
static double rigid_solve(const rigid *r, double t[12]) {
    double correlation[9], m[9], from[3], to[3];
    for (int i = 0; i < 3; i++) {
        from[i] = r->from[i] / r->weight;
        to[i] = r->to[i] / r->weight;
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            correlation[3 * i + k] = r->products[3 * i + k] - r->weight * to[i] * from[k];
    exi_art_rotation(correlation, m);
    for (int i = 0; i < 3; i++) {
        memcpy(t + 4 * i, m + 3 * i, 3 * sizeof *t);
        t[4 * i + 3] = to[i] - exi_dot3(m + 3 * i, from);
    }
    const double a = r->from_square - r->weight * exi_dot3(from, from);
    const double b = r->to_square - r->weight * exi_dot3(to, to);
    return a > 0 && b > 0 ? sqrt(b / a) : 1;
}

/* Fits all bones of a form. Bones with too little skin follow their parent. Returns the mean ratio of sizes. */
static double fit_bones(const exi_articulation *a, int form, rigid *sums, double (*transforms)[12]) {
    const size_t most = (size_t)a->influence_count;
    double ratio = 0, weight = 0;
    memset(sums, 0, (size_t)a->joint_count * sizeof *sums);
    for (size_t v = 0; v < (size_t)a->vertex_count; v++) {
        const double seen = exi_art_seen(a, form, (int)v);
        for (size_t i = 0; i < most && seen > 0; i++) {
            const double w = a->weights[v * most + i];
            if (w > 0)
                rigid_add(&sums[a->joints[v * most + i]], a->rest + 3 * v, a->def->forms[form] + 3 * v, seen * w * w);
        }
    }
    for (int b = 0; b < a->joint_count; b++) {
        const int parent = a->tree[b].parent;
        if (sums[b].weight >= least) {
            ratio += sums[b].weight * rigid_solve(&sums[b], transforms[b]);
            weight += sums[b].weight;
        } else if (parent >= 0) {
            memcpy(transforms[b], transforms[parent], sizeof transforms[b]);
        } else { /* the whole body, so that there is something to follow */
            rigid all = {0};
            for (size_t v = 0; v < (size_t)a->vertex_count; v++)
                if (exi_art_seen(a, form, (int)v) > 0)
                    rigid_add(&all, a->rest + 3 * v, a->def->forms[form] + 3 * v, 1);
            rigid_solve(&all, transforms[b]);
        }
    }
    return weight > 0 ? ratio / weight : 1;
}

/* ---- centres ---- */

/* Finds a joint's fixed points, on its parent and on itself. transforms [form_count][joint_count][12]. */
static void find_meeting(const exi_articulation *a, double (*transforms)[12], int joint, double parent_point[3],
                         double own_point[3]) {
    const double meet = 1 / pow(meet_sigma * a->unit, 2), near = 1 / pow(near_sigma * a->unit, 2);
    double system[6 * 7] = {0};
    const double *c = a->centres[joint];
    for (int f = 0; f < a->form_count; f++) {
        const double *p = transforms[(size_t)f * (size_t)a->joint_count + (size_t)a->tree[joint].parent];
        const double *t = transforms[(size_t)f * (size_t)a->joint_count + (size_t)joint];
        for (int r = 0; r < 3 && exi_art_counts(a, f); r++) {
            const double row[7] = {p[4 * r],
                                   p[4 * r + 1],
                                   p[4 * r + 2],
                                   -t[4 * r],
                                   -t[4 * r + 1],
                                   -t[4 * r + 2],
                                   t[4 * r + 3] - p[4 * r + 3]};
            for (int i = 0; i < 6; i++)
                for (int k = 0; k < 7; k++)
                    system[7 * i + k] += meet * row[i] * row[k];
        }
    }
    for (int i = 0; i < 6; i++) {
        system[8 * i] += near;
        system[7 * i + 6] += near * c[i % 3];
    }
    const bool good = exi_solve_definite(system, 6, 1);
    for (int i = 0; i < 3; i++) {
        parent_point[i] = good ? system[7 * i + 6] : c[i];
        own_point[i] = good ? system[7 * (i + 3) + 6] : c[i];
    }
}

static ex_result meet(exi_articulation *a, double (*transforms)[12], ex_error *error) {
    double(*moves)[3] = calloc((size_t)a->joint_count, sizeof *moves); /* of bones, in the rest form */
    if (!moves)
        return ex_error_memory(error, "the joints", (size_t)a->joint_count * sizeof *moves);
    for (int b = 1; b < a->joint_count; b++) {
        double above[3], own[3];
        const double *moved = moves[a->tree[b].parent];
        find_meeting(a, transforms, b, above, own);
        for (int i = 0; i < 3; i++) {
            moves[b][i] = moved[i] + above[i] - own[i];
            a->centres[b][i] = moved[i] + above[i];
        }
    }
    free(moves);
    return EX_OK;
}

/* ---- the start ---- */

/* Turns world rotations of bones into turns of joints; the base is where the first bone puts its centre. */
static void set_pose(exi_articulation *a, int form, double (*transforms)[12]) {
    double(*turns)[4] = a->turns + (size_t)form * (size_t)a->joint_count;
    for (int b = 0; b < a->joint_count; b++) {
        const int parent = a->tree[b].parent;
        double own[9];
        for (int i = 0; i < 9; i++) {
            const double *t = transforms[b], *p = parent >= 0 ? transforms[parent] : NULL;
            own[i] = !p ? t[4 * (i / 3) + i % 3]
                        : p[i / 3] * t[i % 3] + p[4 + i / 3] * t[4 + i % 3] + p[8 + i / 3] * t[8 + i % 3];
        }
        exi_art_quaternion(own, turns[b]);
    }
    for (int i = 0; i < 3; i++)
        a->bases[form][i] = exi_dot3(transforms[0] + 4 * i, a->centres[0]) + transforms[0][4 * i + 3];
}

/* Scales the rest form and the centres, which may be another person's. */
static void scale_all(exi_articulation *a, double ratio) {
    for (size_t i = 0; i < 3 * (size_t)a->vertex_count; i++)
        a->rest[i] *= ratio;
    for (int b = 0; b < a->joint_count; b++)
        for (int i = 0; i < 3; i++)
            a->centres[b][i] *= ratio;
}

ex_result exi_art_start(exi_articulation *a, ex_error *error) {
    const size_t count = (size_t)a->joint_count;
    double(*transforms)[12] = exi_array_allocate((size_t)a->form_count * count, sizeof *transforms);
    rigid *sums = exi_array_allocate(count, sizeof *sums);
    ex_result result = transforms && sums ? EX_OK : ex_error_memory(error, "the start", count * sizeof *sums);
    double ratio = 0, forms = 0;
    for (int f = 0; f < a->form_count && result == EX_OK; f++)
        if (exi_art_counts(a, f)) {
            ratio += fit_bones(a, f, sums, transforms + (size_t)f * count);
            forms++;
        }
    if (result == EX_OK && a->def->rest && !a->def->lock_centres)
        scale_all(a, ratio / forms);
    for (int f = 0; f < a->form_count && result == EX_OK; f++)
        if (exi_art_counts(a, f)) {
            fit_bones(a, f, sums, transforms + (size_t)f * count);
            set_pose(a, f, transforms + (size_t)f * count);
        }
    if (result == EX_OK)
        exi_art_anchor(a);
    if (result == EX_OK && !a->def->lock_centres)
        result = meet(a, transforms, error);
    free(transforms);
    free(sums);
    return result;
}

ex_result exi_art_start_pose(exi_articulation *a, int form, ex_error *error) {
    const size_t count = (size_t)a->joint_count;
    double(*transforms)[12] = exi_array_allocate(count, sizeof *transforms);
    rigid *sums = exi_array_allocate(count, sizeof *sums);
    const bool good = transforms && sums;
    if (good) {
        fit_bones(a, form, sums, transforms);
        set_pose(a, form, transforms);
    }
    free(transforms);
    free(sums);
    return good ? EX_OK : ex_error_memory(error, "the start", count * sizeof *sums);
}

/* ---- places in the skin ---- */

/* The skin around a joint: its places at the origin and now. */
typedef struct patch {
    double weight, from[3], to[3], from_from[9], to_from[9];
} patch;

static void patch_add(patch *p, const double *from, const double *to, double weight) {
    p->weight += weight;
    for (int i = 0; i < 3; i++) {
        p->from[i] += weight * from[i];
        p->to[i] += weight * to[i];
        for (int k = 0; k < 3; k++) {
            p->from_from[3 * i + k] += weight * from[i] * from[k];
            p->to_from[3 * i + k] += weight * to[i] * from[k];
        }
    }
}

/* Moves a point with the patch, by the affine map that fits best; stiff, so that a flat patch does not collapse. */
static void patch_move(const patch *p, const double point[3], double moved[3]) {
    double from[3], to[3], system[3 * 6], spread = 0;
    for (int i = 0; i < 3; i++) {
        from[i] = p->from[i] / p->weight;
        to[i] = p->to[i] / p->weight;
        spread += p->from_from[4 * i] / p->weight - from[i] * from[i];
    }
    const double stiff = 0.1 * spread;
    for (int i = 0; i < 3; i++) /* A (C + stiff) = D + stiff, transposed */
        for (int k = 0; k < 3; k++) {
            const double more = i == k ? stiff : 0;
            system[6 * i + k] = p->from_from[3 * i + k] / p->weight - from[i] * from[k] + more;
            system[6 * i + 3 + k] = p->to_from[3 * k + i] / p->weight - to[k] * from[i] + more;
        }
    const bool good = spread > 0 && exi_solve_definite(system, 3, 3);
    for (int k = 0; k < 3; k++) {
        moved[k] = to[k];
        for (int i = 0; i < 3; i++)
            moved[k] += (good ? system[6 * i + 3 + k] : i == k) * (point[i] - from[i]);
    }
}

ex_result exi_art_skin(const exi_articulation *a, double (*places)[3], ex_error *error) {
    const size_t count = (size_t)a->joint_count, most = (size_t)a->influence_count;
    patch *joints = calloc(2 * count, sizeof *joints); /* where both bones at a joint move the skin, and of one bone */
    if (!joints)
        return ex_error_memory(error, "the skin", 2 * count * sizeof *joints);
    for (size_t v = 0; v < (size_t)a->vertex_count; v++)
        for (size_t i = 0; i < most; i++) {
            const size_t b = a->first_joints[v * most + i];
            const double w = a->first_weights[v * most + i];
            double above = 0;
            if (!(w > 0))
                continue;
            for (size_t k = 0; k < most; k++)
                above += (int)a->first_joints[v * most + k] == a->tree[b].parent ? a->first_weights[v * most + k] : 0;
            if (above > 0)
                patch_add(&joints[2 * b], a->origin + 3 * v, a->rest + 3 * v, w * above);
            patch_add(&joints[2 * b + 1], a->origin + 3 * v, a->rest + 3 * v, w);
        }
    for (size_t b = 0; b < count; b++) {
        const int parent = a->tree[b].parent;
        if (joints[2 * b].weight > 2)
            patch_move(&joints[2 * b], a->origin_centres[b], places[b]);
        else if (joints[2 * b + 1].weight > 2)
            patch_move(&joints[2 * b + 1], a->origin_centres[b], places[b]);
        else /* no skin: as the joint above */
            for (size_t c = 0; c < 3; c++)
                places[b][c] =
                    a->origin_centres[b][c] + (parent >= 0 ? places[parent][c] - a->origin_centres[parent][c] : 0);
    }
    free(joints);
    return EX_OK;
}

void exi_art_anchor(exi_articulation *a) {
    memcpy(a->origin_centres, a->centres, (size_t)a->joint_count * sizeof *a->centres);
    memcpy(a->origin, a->rest, 3 * (size_t)a->vertex_count * sizeof *a->rest);
}

ex_result exi_art_place_base(exi_articulation *a, ex_error *error) {
    double(*places)[3] = exi_array_allocate((size_t)a->joint_count, sizeof *places);
    ex_result result = places ? exi_art_skin(a, places, error)
                              : ex_error_memory(error, "the skin", (size_t)a->joint_count * sizeof *places);
    for (int f = 0; f < a->form_count && result == EX_OK; f++) {
        double move[3];
        exi_subtract(places[0], a->centres[0], move);
        exi_rotate(a->turns[(size_t)f * (size_t)a->joint_count], move, move);
        for (int i = 0; i < 3; i++)
            a->bases[f][i] += move[i];
    }
    if (result == EX_OK)
        memcpy(a->centres[0], places[0], sizeof places[0]);
    free(places);
    return result;
}
