/*
 * Removes crossings of a garment with itself: makes the curves along which it crosses shorter, until they vanish (P.
 * Volino and N. Magnenat-Thalmann, "Resolving surface collisions through intersection contour minimization", 2006).
 * That needs no history and no inside: a garment is open. Where an edge with direction E goes through a face with
 * normal N, the curve continues from there into the edge's triangle, in the direction R along both planes. If the edge
 * moves by D, the place moves by D - (D.N / E.N) E, and the curve becomes shorter by
 *
 *     D . G,    G = R - (E.R / E.N) N.
 *
 * So the edge's ends move along G and the face's corners along -G, by a small part of the edge's length. The moves of
 * all places are averaged at each vertex and spread over the vertices around, so that cloth is not torn into spikes.
 * After a few such passes, vertices that came too near to the driver are pushed out of it again (settle.c). The form
 * with the fewest crossings is kept.
 *
 * Passes look only around vertices that have moved. Their count is then a lower bound: pairs that never moved, because
 * their moves cancel or their triangles have no area, are missing. So all pairs are counted whenever the bound says
 * that a form may be the best.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
#include "runtime/base/vector.h"
#include "runtime/settle/untangler.h"

/* Passes between two pushes out of the driver, and times that moves are spread by one ring. */
enum { PASSES = 4, SPREAD = 4, ROUNDS = 16 };

/* Length of a move, as part of the edge's. */
#define STEP 0.6

/* Total move of a vertex at most, as part of the mean length of the edges around it: what is deeper would only pop from
 * frame to frame. */
#define LIMIT 1.0f

typedef struct untangling {
    const ex_untangler *untangler;
    const ex_untangle_job *job;
    char *positions, *scratch;
    size_t stride;
    exi_move *moves;
    unsigned char *active;
} untangling;

static float *at(const untangling *u, uint32_t vertex) {
    return (float *)(void *)(u->positions + (size_t)vertex * u->stride);
}

static exi_cloth fitted(const untangling *u, bool all) {
    const ex_untangler *t = u->untangler;
    const ex_bounds *fit = ex_bounds_fit(exi_tree_at(t, t->tree), (const float *)(const void *)u->positions, u->stride,
                                         u->scratch + t->fit, u->job->tasks);
    return (exi_cloth){t, u->positions, u->stride, fit, all ? NULL : u->active};
}

/* ---- moves ---- */

static void load(const untangling *u, uint32_t vertex, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = (double)at(u, vertex)[c];
}

static bool normal_of(double p[3][3], double normal[3]) {
    double e[3], f[3];
    exi_subtract(p[1], p[0], e);
    exi_subtract(p[2], p[0], f);
    exi_cross(e, f, normal);
    return exi_unit3(normal);
}

static void add(const untangling *u, uint32_t vertex, double weight, const double move[3]) {
    exi_move *m = &u->moves[vertex];
    for (int c = 0; c < 3; c++)
        m->sum[c] += (float)(weight * move[c]);
    m->weight += (float)weight;
}

/* Adds the moves of a place where an edge goes through a face. */
static void shorten(void *context, const exi_pierced *x) {
    const untangling *u = context;
    double a[3][3], b[3][3], e[3], n[3], m[3], r[3], inward[3], move[3], back[3];
    load(u, x->edge[0], a[0]);
    load(u, x->edge[1], a[1]);
    load(u, x->other, a[2]);
    for (int i = 0; i < 3; i++)
        load(u, x->face[i], b[i]);
    exi_subtract(a[1], a[0], e);
    const double length = sqrt(exi_dot3(e, e));
    if (!normal_of(b, n) || !normal_of(a, m) || !exi_unit3(e))
        return;
    exi_cross(m, n, r);
    if (!exi_unit3(r))
        return;
    exi_cross(m, e, inward); /* from the edge into its triangle */
    const double sign = exi_dot3(r, inward) < 0 ? -1 : 1;
    double across = exi_dot3(e, n);
    across = across < 0 ? fmin(across, -0.2) : fmax(across, 0.2); /* an edge nearly in the face is not exact */
    const double along = sign * exi_dot3(e, r) / across;
    for (int c = 0; c < 3; c++)
        move[c] = sign * r[c] - along * n[c];
    const double size = STEP * length / sqrt(1 + exi_dot3(move, move));
    for (int c = 0; c < 3; c++) {
        move[c] *= size;
        back[c] = -move[c];
    }
    add(u, x->edge[0], 1 - x->t, move);
    add(u, x->edge[1], x->t, move);
    for (int i = 0; i < 3; i++)
        add(u, x->face[i], x->weight[i], back);
}

/* Averages the moves of every vertex with those around it. */
static void spread(const untangling *u) {
    const ex_untangler *t = u->untangler;
    const uint32_t *ring = exi_tree_at(t, t->ring), *rings = exi_tree_at(t, t->rings);
    float(*to)[3] = exi_tree_at(u->scratch, t->spread);
    for (int v = 0; v < t->vertex_count; v++) {
        float sum[3] = {0, 0, 0};
        const float count = (float)(ring[v + 1] - ring[v]);
        for (uint32_t k = ring[v]; k < ring[v + 1]; k++)
            for (int c = 0; c < 3; c++)
                sum[c] += u->moves[rings[k]].sum[c];
        for (int c = 0; c < 3; c++)
            to[v][c] = count > 0 ? 0.5f * u->moves[v].sum[c] + 0.5f * sum[c] / count : u->moves[v].sum[c];
    }
    for (int v = 0; v < t->vertex_count; v++)
        memcpy(u->moves[v].sum, to[v], sizeof to[v]);
}

/* Notes where vertices are, and how far they may move. */
static void note_homes(const untangling *u) {
    const ex_untangler *t = u->untangler;
    const uint32_t *ring = exi_tree_at(t, t->ring), *rings = exi_tree_at(t, t->rings);
    float(*homes)[4] = exi_tree_at(u->scratch, t->homes);
    for (int v = 0; v < t->vertex_count; v++) {
        const float *from = at(u, (uint32_t)v);
        double sum = 0;
        for (uint32_t k = ring[v]; k < ring[v + 1]; k++) {
            const float *to = at(u, rings[k]);
            double square = 0;
            for (int c = 0; c < 3; c++)
                square += ((double)to[c] - (double)from[c]) * ((double)to[c] - (double)from[c]);
            sum += sqrt(square);
        }
        memcpy(homes[v], from, 3 * sizeof *from);
        homes[v][3] = ring[v + 1] > ring[v] ? LIMIT * (float)(sum / (ring[v + 1] - ring[v])) : 0;
    }
}

static void move_within(float point[3], const float by[3], const float home[4]) {
    float to[3], square = 0;
    for (int c = 0; c < 3; c++) {
        to[c] = point[c] + by[c] - home[c];
        square += to[c] * to[c];
    }
    const float scale = square > home[3] * home[3] ? home[3] / sqrtf(square) : 1;
    for (int c = 0; c < 3; c++)
        point[c] = home[c] + scale * to[c];
}

/* One pass: finds the crossings, and moves what crosses. Returns the number of pairs before. */
static int pass(const untangling *u, bool all) {
    const ex_untangler *t = u->untangler;
    memset(u->moves, 0, (size_t)t->vertex_count * sizeof *u->moves);
    const exi_cloth cloth = fitted(u, all);
    const int count = exi_cross_find(&cloth, shorten, (void *)(uintptr_t)u);
    if (count == 0)
        return 0;
    for (int v = 0; v < t->vertex_count; v++)
        for (int c = 0; c < 3; c++)
            u->moves[v].sum[c] = u->moves[v].weight > 0 ? u->moves[v].sum[c] / u->moves[v].weight : 0;
    for (int i = 0; i < SPREAD; i++)
        spread(u);
    float(*homes)[4] = exi_tree_at(u->scratch, t->homes);
    for (int v = 0; v < t->vertex_count; v++) {
        const float *by = u->moves[v].sum;
        if (by[0] == 0 && by[1] == 0 && by[2] == 0)
            continue;
        u->active[v] = 1;
        move_within(at(u, (uint32_t)v), by, homes[v]);
    }
    return count;
}

/* ---- the form ---- */

static void copy_form(const untangling *u, bool back) {
    float(*kept)[3] = exi_tree_at(u->scratch, u->untangler->best);
    for (int v = 0; v < u->untangler->vertex_count; v++)
        if (back)
            memcpy(at(u, (uint32_t)v), kept[v], sizeof kept[v]);
        else
            memcpy(kept[v], at(u, (uint32_t)v), sizeof kept[v]);
}

static char *aligned(void *scratch) {
    return (char *)scratch + (EXI_ALIGN - (uintptr_t)scratch % EXI_ALIGN) % EXI_ALIGN;
}

/* Pushes vertices out of the driver. Those that move are looked at from then on. */
static void push(const untangling *u) {
    const ex_untangle_job *job = u->job;
    const int count = u->untangler->vertex_count;
    float(*before)[3] = exi_tree_at(u->scratch, u->untangler->spread);
    if (!job->settler)
        return;
    for (int v = 0; v < count; v++)
        memcpy(before[v], at(u, (uint32_t)v), sizeof before[v]);
    const ex_settle_job settle = {.driver = job->driver,
                                  .driven = (float *)(void *)u->positions,
                                  .stride = u->stride,
                                  .push = true,
                                  .gaps = job->gaps,
                                  .tasks = job->tasks};
    ex_settle(job->settler, &settle, NULL, job->settler_scratch);
    for (int v = 0; v < count; v++)
        if (memcmp(before[v], at(u, (uint32_t)v), sizeof before[v]) != 0)
            u->active[v] = 1;
}

static int count_pairs(const untangling *u, bool all) {
    const exi_cloth cloth = fitted(u, all);
    return exi_cross_find(&cloth, NULL, NULL);
}

int ex_untangler_count(const ex_untangler *untangler, const float *positions, size_t stride, const ex_tasks *tasks,
                       void *scratch) {
    if (!untangler || !positions || !scratch)
        return exi_misuse(__func__, "no untangler, positions or scratch");
    if (!exi_rows_fit(positions, stride, 12))
        return exi_misuse(__func__, EXI_ROWS_MISUSE);
    const ex_untangle_job job = {.tasks = tasks};
    const untangling u = {.untangler = untangler,
                          .job = &job,
                          .positions = (char *)(uintptr_t)positions,
                          .stride = stride ? stride : 3 * sizeof(float),
                          .scratch = aligned(scratch)};
    return count_pairs(&u, true);
}

ex_untangled ex_untangle(const ex_untangler *untangler, const ex_untangle_job *job, void *scratch) {
    ex_untangled result = {0};
    if (!untangler || !job || !scratch || (untangler->vertex_count > 0 && !job->positions) ||
        (job->settler && (!job->driver || !job->settler_scratch))) {
        exi_misuse(__func__, "no untangler, job, positions, driver or scratch");
        return result;
    }
    if (!exi_rows_fit(job->positions, job->stride, 12)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return result;
    }
    untangling u = {.untangler = untangler,
                    .job = job,
                    .positions = (char *)job->positions,
                    .stride = job->stride ? job->stride : 3 * sizeof(float),
                    .scratch = aligned(scratch)};
    u.moves = exi_tree_at(u.scratch, untangler->moves);
    u.active = exi_tree_at(u.scratch, untangler->active);
    memset(u.active, 0, (size_t)untangler->vertex_count);
    copy_form(&u, false);
    note_homes(&u);
    const int rounds = job->rounds > 0 ? job->rounds : ROUNDS;
    result.before = result.after = pass(&u, true);
    for (int round = 0; round < rounds && result.after > 0; round++) {
        for (int i = 1; i < PASSES; i++)
            if (pass(&u, false) == 0)
                break;
        push(&u);
        const int bound = count_pairs(&u, false), count = bound < result.after ? count_pairs(&u, true) : bound;
        if (count < result.after) {
            result.after = count;
            copy_form(&u, false);
        }
        if (bound == 0)
            break; /* nothing is left that would move */
        if (round + 1 < rounds)
            pass(&u, false);
    }
    if (result.before > 0)
        copy_form(&u, true);
    return result;
}
