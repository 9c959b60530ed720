/*
 * Makes the trunk's rows and faces: rings at both ends, above and below each limb, at joints, and between rings that
 * would be far apart; then all limbs, and the pairing of mirrored sides.
 */
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Distance of the trunk's rows above and below the middle of a limb between them, in its radii. The corners of the hole
 * are as close as the limb is thick; the other points are farther apart, so that faces next to the limb are not
 * flat. */
#define HOLE     0.80
#define HOLE_LOW 1.2
/* Width of the last ring of a head, relative to usual. */
#define HEAD_TIP 0.65

/* ---- rows of the trunk ---- */

/* A row: its position, and the limbs that leave between it and the next, right and left; -1: none. */
typedef struct row {
    double s;
    int limbs[2];
    bool opens;   /* true if a limb leaves between it and the next row */
    bool halfway; /* true for the extra row of a closed end */
    double narrow;
} row;

static int compare_rows(const void *a, const void *b) {
    const row *x = a, *y = b;
    return (x->s > y->s) - (x->s < y->s);
}

static void sort_rows(row *rows, int count) {
    qsort(rows, (size_t)count, sizeof *rows, compare_rows);
}

/* Limbs of both sides at about the same position share a row. */
static int add_holes(const exi_trunk *trunk, row *rows) {
    int count = 0;
    for (int i = 0; i < trunk->limb_count; i++) {
        const exi_chain *limb = &trunk->limbs[i];
        const double half = HOLE * limb->radius;
        int found = -1;
        for (int r = 0; r < count && !limb->split && found < 0; r++)
            if (rows[r].opens && fabs((rows[r].s + rows[r + 1].s) / 2 - limb->station) <
                                     (rows[r + 1].s - rows[r].s) / 2 + half + 0.2 * limb->radius)
                found = r;
        if (limb->split)
            continue;
        if (found < 0) {
            found = count;
            rows[count++] = (row){limb->station - HOLE_LOW * half, {-1, -1}, true, false, 1};
            rows[count++] = (row){limb->station + half, {-1, -1}, false, false, 1};
        }
        rows[found].limbs[limb->side > 0] = i;
    }
    return count;
}

/* True if no row is within `room`, and no limb leaves there. */
static bool has_room(const row *rows, int count, double s, double room) {
    for (int r = 0; r < count; r++)
        if (fabs(rows[r].s - s) < room || (rows[r].opens && s > rows[r].s && s < rows[r + 1].s))
            return false;
    return true;
}

/* Makes rows at holes and ends, at joints with enough room, and between rows that are far apart; sorted. */
static int make_rows(const exi_bones *bones, const exi_trunk *trunk, row *rows) {
    const double room = 0.3 * trunk->wide, wide = 1.8 * trunk->wide;
    int count = add_holes(trunk, rows);
    double start = 0, begin = trunk->begin, end = trunk->end;
    const double tip = bones->all[trunk->bones[trunk->count - 1]].length;
    end -= trunk->closed ? (1 - EXI_TIP) * tip : 0;
    sort_rows(rows, count);
    begin = count > 0 && rows[0].s - room < begin ? rows[0].s - room : begin;
    end = count > 0 && rows[count - 1].s + room > end ? rows[count - 1].s + room : end;
    rows[count++] = (row){begin, {-1, -1}, false, false, 1};
    rows[count++] = (row){end, {-1, -1}, false, false, trunk->closed ? HEAD_TIP : 1};
    sort_rows(rows, count);
    for (int i = 0; i < trunk->count; i++) {
        const double own = bones->all[trunk->bones[i]].length;
        if (i > 0 && start > begin && start < end && has_room(rows, count, start, room)) {
            rows[count++] = (row){start, {-1, -1}, false, false, 1};
            sort_rows(rows, count);
        }
        if (i + 1 == trunk->count && trunk->closed && has_room(rows, count, start + own / 2, room)) {
            rows[count++] = (row){start + own / 2, {-1, -1}, false, true, 1};
            sort_rows(rows, count);
        }
        start += own;
    }
    for (int r = 0, known = count; r + 1 < known; r++)
        if (rows[r + 1].s - rows[r].s > wide && !rows[r].opens)
            rows[count++] = (row){(rows[r].s + rows[r + 1].s) / 2, {-1, -1}, false, false, 1};
    sort_rows(rows, count);
    return count;
}

static bool on_trunk(const exi_trunk *trunk, int bone) {
    for (int i = 0; i < trunk->count; i++)
        if (trunk->bones[i] == bone)
            return true;
    return false;
}

/* Gives the inner points above a limb on a clavicle half their weight from the clavicle. */
static void share_yoke(exi_plan *plan, const exi_chain *limb, const int ring[EXI_TRUNK_POINTS]) {
    static const int inner[2][2] = {{2, 5}, {1, 6}};
    for (int i = 0; i < 2 && !plan->failed; i++) {
        exi_spoke *spoke = &plan->spokes[ring[inner[limb->side > 0][i]]];
        exi_share share = {0};
        for (int k = 0; k < spoke->share.count; k++)
            exi_share_add(&share, spoke->share.joints[k], spoke->share.weights[k] / 2);
        exi_share_add_bone(&share, plan->bones, limb->above, 1, 0.5);
        spoke->share = share;
    }
}

/* Collects the corners of the hole between two rows by which a limb leaves. */
static void take_corners(const exi_chain *limb, const int first[EXI_LIMB_POINTS], int *low, int *high) {
    const int front = limb->side > 0 ? 0 : 3, back = limb->side > 0 ? 7 : 4;
    high[front] = first[0];
    high[back] = first[1];
    low[back] = first[2];
    low[front] = first[3];
}

static void take_legs(const exi_trunk *trunk, int (*firsts)[EXI_LIMB_POINTS], int *ring) {
    static const int places[2][EXI_LIMB_POINTS] = {{3, 4, 5, 2}, {0, 7, 6, 1}};
    for (int i = 0; i < trunk->limb_count; i++)
        for (int k = 0; k < EXI_LIMB_POINTS && trunk->limbs[i].split; k++)
            ring[places[trunk->limbs[i].side > 0][k]] = firsts[i][k];
}

/* Returns the joint that a face of the trunk belongs to: near a limb on a clavicle, the clavicle. */
static int joint_of(const exi_plan *plan, const exi_trunk *trunk, const row *rows, int r, int m) {
    for (int from = r; from >= r - 1 && from >= 0; from--)
        for (int side = 0; side < 2; side++) {
            const int limb = rows[from].limbs[side];
            if (limb < 0 || on_trunk(trunk, trunk->limbs[limb].above))
                continue;
            if (side ? m >= 6 || m == 0 : m >= 2 && m <= 4)
                return trunk->limbs[limb].above;
        }
    return exi_trunk_bone(plan->bones, trunk, (rows[r].s + rows[r + 1].s) / 2);
}

static void trunk_faces(exi_plan *plan, const exi_trunk *trunk, const row *rows, int count,
                        int (*rings)[EXI_TRUNK_POINTS]) {
    const int last = trunk->bones[trunk->count - 1], *top = rings[count - 1], *low = rings[0];
    for (int r = 0; r + 1 < count; r++)
        for (int m = 0; m < EXI_TRUNK_POINTS; m++) {
            const int n = (m + 1) % EXI_TRUNK_POINTS;
            if (!(m == 7 && rows[r].limbs[1] >= 0) && !(m == 3 && rows[r].limbs[0] >= 0))
                exi_plan_face(plan, rings[r][m], rings[r + 1][m], rings[r + 1][n], rings[r][n],
                              joint_of(plan, trunk, rows, r, m));
        }
    bool legs = false;
    for (int i = 0; i < trunk->limb_count; i++)
        legs |= trunk->limbs[i].split;
    if (legs)
        exi_plan_face(plan, low[1], low[2], low[5], low[6], trunk->bones[0]);
    for (int m = 0; m < 3 && trunk->closed; m++)
        exi_plan_face(plan, top[m], top[7 - m], top[6 - m], top[m + 1], last);
}

static void trunk_rings(exi_plan *plan, const exi_trunk *trunk, int (*firsts)[EXI_LIMB_POINTS], row *rows,
                        int (*rings)[EXI_TRUNK_POINTS]) {
    const int count = make_rows(plan->bones, trunk, rows);
    for (int r = 0; r < count; r++)
        for (int m = 0; m < EXI_TRUNK_POINTS; m++)
            rings[r][m] = -1;
    for (int r = 0; r + 1 < count; r++)
        for (int side = 0; side < 2; side++)
            if (rows[r].limbs[side] >= 0)
                take_corners(&trunk->limbs[rows[r].limbs[side]], firsts[rows[r].limbs[side]], rings[r], rings[r + 1]);
    take_legs(trunk, firsts, rings[0]);
    for (int r = 0; r < count; r++) {
        const int first = plan->spoke_count;
        exi_trunk_ring(plan, trunk, rows[r].s, rows[r].narrow, rings[r]);
        if (r + 1 == count && trunk->closed)
            exi_plan_tip(plan, trunk->bones[trunk->count - 1], first, rows[r - 1].halfway ? rings[r - 1][0] : -1);
        for (int side = 0; r > 0 && side < 2; side++) {
            const int limb = rows[r - 1].limbs[side];
            if (limb >= 0 && !on_trunk(trunk, trunk->limbs[limb].above))
                share_yoke(plan, &trunk->limbs[limb], rings[r]);
        }
        for (int m = 0; m < EXI_TRUNK_POINTS && plan->bones->symmetric && !plan->failed; m++)
            plan->spokes[rings[r][m]].mirror = rings[r][(11 - m) % EXI_TRUNK_POINTS];
    }
    trunk_faces(plan, trunk, rows, count, rings);
}

/* True if the bones of both chains are partners. Even a symmetric skeleton may have others: where a joint has several
 * children, the longest path may lead along another one on each side, and a bone may be too short for a ring on one. */
static bool are_partners(const exi_bones *bones, const exi_chain *a, const exi_chain *b) {
    for (int i = 0; i < a->count; i++)
        if (a->count != b->count || bones->all[a->bones[i]].partner != b->bones[i])
            return false;
    return true;
}

/* Pairs the spokes of mirrored limbs, which are in the same order. */
static void pair_limbs(exi_plan *plan, const exi_trunk *trunk, const int *starts) {
    for (int i = 0; i < trunk->limb_count && plan->bones->symmetric && !plan->failed; i++)
        for (int k = 0; k < trunk->limb_count; k++)
            if (are_partners(plan->bones, &trunk->limbs[i], &trunk->limbs[k]))
                for (int n = 0; n < starts[i + 1] - starts[i]; n++)
                    plan->spokes[starts[i] + n].mirror = starts[k] + n;
}

/* Makes one side the exact mirror image of the other. */
static void mirror_spokes(exi_plan *plan) {
    for (int i = 0; i < plan->spoke_count; i++) {
        exi_spoke *own = &plan->spokes[i], *other = own->mirror >= 0 ? &plan->spokes[own->mirror] : own;
        if (own->mirror <= i)
            continue;
        memcpy(other->centre, own->centre, sizeof own->centre);
        memcpy(other->direction, own->direction, sizeof own->direction);
        other->centre[0] = 2 * plan->bones->plane - own->centre[0];
        other->direction[0] = -own->direction[0];
        other->radius = own->radius;
        other->most = own->most;
    }
}

void exi_plan_rings(exi_plan *plan, const exi_trunk *trunk) {
    const size_t limbs = (size_t)trunk->limb_count, most = 4 * (2 * limbs + (size_t)trunk->count + 2);
    int(*firsts)[EXI_LIMB_POINTS] = exi_array_allocate(limbs, sizeof *firsts);
    int *starts = exi_array_allocate(limbs + 1, sizeof *starts);
    exi_frame *frames = exi_array_allocate(limbs, sizeof *frames);
    row *rows = exi_array_allocate(most, sizeof *rows);
    int(*rings)[EXI_TRUNK_POINTS] = exi_array_allocate(most, sizeof *rings);
    plan->failed |= !firsts || !starts || !frames || !rows || !rings;
    for (int i = 0; i < trunk->limb_count && !plan->failed; i++)
        exi_limb_begin(plan, trunk, &trunk->limbs[i], &frames[i], firsts[i]);
    if (!plan->failed)
        trunk_rings(plan, trunk, firsts, rows, rings);
    for (int i = 0; i < trunk->limb_count && !plan->failed; i++) {
        starts[i] = plan->spoke_count;
        exi_limb_rings(plan, trunk, &trunk->limbs[i], frames[i], firsts[i]);
        starts[i + 1] = plan->spoke_count;
    }
    if (!plan->failed) {
        pair_limbs(plan, trunk, starts);
        mirror_spokes(plan);
    }
    free(firsts);
    free(starts);
    free(frames);
    free(rows);
    free(rings);
}
