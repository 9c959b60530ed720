/*
 * Settles a frame (DrivenShape, sections 2.3 to 2.6). The residual from the blended driver to the true one is carried
 * to the driven vertices,
 *
 *     d + sum_k w_k (T_k(d) - d)        T_k: the motion where d was closest in key k (carry.c)
 *     T(d)                              T: where d is closest on the blended driver now (near_kernel.c)
 *
 * and those nearer to the true driver than their gap are pushed out (push.c). Clusters are independent of each other,
 * so tasks may take them in any order. The caller's state holds the triangles that were closest, which are only hints
 * where to look first, and lower bounds of distances (keep_kernel.c), with the positions of driver and driven vertices
 * to which they belong.
 */
#include "runtime/settle/settle.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"

/* Frames after which clusters that wait try again. */
enum { TRY = 16 };

/* Aligned as in ex_bounds_fit. */
static const ex_bounds *fit_of(const exi_settling *s, int set) {
    const exi_settler_set *sets = exi_tree_at(s->settler, s->settler->sets);
    char *memory = s->scratch + sets[set].fit;
    return (const ex_bounds *)(const void *)(memory + (EXI_ALIGN - (uintptr_t)memory % EXI_ALIGN) % EXI_ALIGN);
}

static exi_view view_of(const exi_settling *s, int set, const float *positions) {
    const exi_settler_set *sets = exi_tree_at(s->settler, s->settler->sets);
    const ex_bounds *fit = fit_of(s, set);
    float scale = 0;
    for (int c = 0; c < 3; c++) {
        scale = fabsf(fit->low[c]) > scale ? fabsf(fit->low[c]) : scale;
        scale = fabsf(fit->high[c]) > scale ? fabsf(fit->high[c]) : scale;
    }
    return (exi_view){fit, positions, exi_tree_at(s->settler, sets[set].corners), (uint32_t)sets[set].triangle_count,
                      scale};
}

static void make_fits(const exi_settling *s, const float *positions, const ex_tasks *tasks) {
    const exi_settler_set *sets = exi_tree_at(s->settler, s->settler->sets);
    for (int k = 0; k < s->settler->set_count; k++)
        ex_bounds_fit(exi_tree_at(s->settler, sets[k].tree), positions, 0, s->scratch + sets[k].fit, tasks);
}

static void take_up(const exi_settling *s, int cluster, bool carried, exi_working *w) {
    const exi_settler_set *sets = exi_tree_at(s->settler, s->settler->sets);
    w->cluster = (const exi_cluster *)exi_tree_at(s->settler, s->settler->clusters) + cluster;
    w->order = (const uint32_t *)exi_tree_at(s->settler, s->settler->order) + w->cluster->first;
    w->triangles = exi_tree_at(s->settler, sets[w->cluster->set].triangles);
    for (int i = 0; i < w->cluster->count; i++) {
        memcpy(w->points[i], s->driven + (size_t)w->order[i] * s->stride, sizeof w->points[i]);
        w->bounds[i] = NULL;
        w->room[i] = 0;
        w->gaps[i] = !s->job ? 0 : s->job->gaps ? s->job->gaps[w->order[i]] : s->job->thickness;
    }
    if (s->job && s->job->weights)
        exi_settle_keys(s, w, carried);
    else if (s->job && s->settler->key_count > 0)
        for (int i = 0; i < w->cluster->count; i++) /* any key is better than no hint */
            w->bounds[i] = (const exi_bound *)exi_tree_at(s->settler, s->settler->bounds) + w->cluster->first + i;
    for (int i = 0; i < w->cluster->count; i++) {
        const uint32_t kept = s->kept ? s->kept[w->cluster->first + i] : 0;
        w->gaps[i] = w->gaps[i] > 0 ? w->gaps[i] : 0;
        w->near.triangle[i] = kept ? kept - 1 : w->bounds[i] ? w->bounds[i]->triangle : EXI_NO_TRIANGLE;
    }
}

static void put_down(const exi_settling *s, const exi_working *w) {
    for (int i = 0; i < w->cluster->count; i++)
        memcpy(s->driven + (size_t)w->order[i] * s->stride, w->points[i], sizeof w->points[i]);
    for (int i = 0; s->kept && i < w->cluster->count; i++)
        s->kept[w->cluster->first + i] = w->near.triangle[i] + 1; /* 0 for none */
}

/* ---- the residual by closest triangles ---- */

static void carry_clusters(void *context, int begin, int end) {
    const exi_settling *s = context;
    for (int c = begin; c < end; c++) {
        exi_working w;
        take_up(s, c, false, &w);
        const exi_view view = view_of(s, w.cluster->set, s->job->blended);
        exi_near_cluster(&view, w.points, w.cluster->count, &w.near);
        exi_settle_closest(s, view.corners, &w);
        put_down(s, &w);
    }
}

/* ---- the residual by keys, and pushing out ---- */

/* Bounds the distances of a cluster from those of the last frame. True if this frame's are of use to the next: its
 * positions are kept then. A cluster in which few bounds are of use, such as tight cloth, waits before it tries
 * again. */
static bool bound(const exi_settling *s, int cluster, const exi_working *w, float *least) {
    const int first = w->cluster->first, count = w->cluster->count;
    if (s->fours && (!s->waits[cluster] || s->tries)) {
        const int known = exi_keep_cluster(s->settler, s->fours, (const float(*)[3])w->points,
                                           s->before + 3 * (size_t)first, s->least + first, count, least);
        int clear = 0;
        for (int i = 0; i < count; i++)
            clear += least[i] > w->gaps[i];
        s->waits[cluster] = known >= count / 2 && clear < 3 * count / 8;
    }
    if (!s->tries_next && (s->waits[cluster] || !s->keeps))
        return false;
    memcpy(s->before + 3 * (size_t)first, w->points, (size_t)count * sizeof w->points[0]);
    return true;
}

static void settle_clusters(void *context, int begin, int end) {
    const exi_settling *s = context;
    ex_settled *tallies = exi_tree_at(s->scratch, s->settler->tallies);
    for (int c = begin; c < end; c++) {
        exi_working w;
        take_up(s, c, s->by_keys, &w);
        tallies[c] = (ex_settled){0};
        if (s->job->push) {
            exi_push push = s->push;
            push.view = view_of(s, w.cluster->set, s->job->driver);
            push.triangles = w.triangles;
            if (s->job->weights && s->settler->key_count > 0)
                push.keys = (exi_push_keys){.weights = s->job->weights,
                                            .count = s->settler->key_count,
                                            .bounds = (const exi_bound *)exi_tree_at(s->settler, s->settler->bounds) +
                                                      w.cluster->first,
                                            .stride = (size_t)s->settler->vertex_count,
                                            .order = w.order};
            float least[EXI_CLUSTER] = {0};
            const bool kept = s->least && w.cluster->set == s->settler->kept_set;
            const bool keeps = kept && bound(s, c, &w, least);
            exi_push_cluster(&push, w.points, w.gaps, w.room, w.cluster->count, &w.near, kept ? least : NULL,
                             &tallies[c]);
            for (int i = 0; !keeps && i < w.cluster->count; i++)
                least[i] = 0;
            if (kept)
                memcpy(s->least + w.cluster->first, least, (size_t)w.cluster->count * sizeof *least);
        }
        put_down(s, &w);
    }
}

/* Finds the driver's size, and its largest absolute coordinate. */
static void measure_driver(exi_settling *s) {
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double size_sq = 0, largest = 0;
    for (int k = 0; k < s->settler->set_count; k++)
        for (int c = 0; c < 3; c++) {
            const ex_bounds *fit = fit_of(s, k);
            low[c] = fit->low[c] < low[c] ? fit->low[c] : low[c];
            high[c] = fit->high[c] > high[c] ? fit->high[c] : high[c];
        }
    for (int c = 0; c < 3 && low[c] <= high[c]; c++) {
        const double extent = (double)high[c] - (double)low[c];
        size_sq += extent * extent;
        largest = fmax(largest, (double)fmaxf(fabsf(low[c]), fabsf(high[c])));
    }
    const double tolerance = fmax(1e-6 * sqrt(size_sq), 5e-7 * largest);
    s->push.tolerance = (float)tolerance;
    s->push.left = (float)fmax(1e-5 * sqrt(size_sq), 2 * tolerance);
}

/* Sums the reports of the clusters. */
static void tally(const exi_settling *s) {
    const ex_settle_job *job = s->job;
    const ex_settled *tallies = exi_tree_at(s->scratch, s->settler->tallies);
    for (int c = 0; c < s->settler->cluster_count; c++) {
        job->settled->inside += tallies[c].inside;
        job->settled->penetrating += tallies[c].penetrating;
        job->settled->pushed += tallies[c].pushed;
        job->settled->left += tallies[c].left;
        job->settled->deepest = tallies[c].deepest < job->settled->deepest ? tallies[c].deepest : job->settled->deepest;
    }
}

/* ---- measuring ---- */

static void measure(void *context, int begin, int end) {
    const exi_settling *s = context;
    for (int c = begin; c < end; c++) {
        exi_working w;
        take_up(s, c, false, &w);
        const exi_view view = view_of(s, w.cluster->set, s->push.driver.positions);
        exi_near_cluster(&view, w.points, w.cluster->count, &w.near);
        for (int i = 0; i < w.cluster->count; i++) {
            const size_t v = w.order[i];
            const bool found = w.near.triangle[i] != EXI_NO_TRIANGLE;
            const uint32_t triangle = found ? w.triangles[w.near.triangle[i]] : UINT32_MAX;
            if (s->triangles)
                s->triangles[v] = triangle;
            if (s->places) {
                s->places[2 * v] = found ? w.near.u[i] : 0;
                s->places[2 * v + 1] = found ? w.near.v[i] : 0;
            }
            if (s->distances)
                s->distances[v] = found ? exi_side_distance(&s->push.driver, triangle, &w.near, i) : INFINITY;
        }
    }
}

static char *aligned(void *scratch) {
    return (char *)scratch + (EXI_ALIGN - (uintptr_t)scratch % EXI_ALIGN) % EXI_ALIGN;
}

void ex_settler_measure(const ex_settler *settler, const float *driver, const float *driven, size_t stride,
                        uint32_t *triangles, float *places, float *distances, const ex_tasks *tasks, void *scratch) {
    if (!settler || !driver || !driven || !scratch) {
        exi_misuse(__func__, "no settler, driver, driven form or scratch");
        return;
    }
    if (!exi_rows_fit(driven, stride, 12)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    exi_settling s = {.settler = settler,
                      .stride = stride ? stride : 3 * sizeof(float),
                      .scratch = aligned(scratch),
                      .driven = (char *)(uintptr_t)driven,
                      .triangles = triangles,
                      .places = places,
                      .distances = distances};
    s.push.driver = (exi_driver){settler, driver};
    make_fits(&s, driver, tasks);
    exi_run(tasks, settler->cluster_count, 8, measure, &s);
}

/* ---- frames ---- */

const char *ex_residual_name(ex_residual residual) {
    static const char *const names[] = {
#define NAME(name, text) text,
        EX_RESIDUAL_LIST(NAME)
#undef NAME
    };
    return (unsigned)residual < EX_RESIDUAL_COUNT ? names[residual] : "unknown residual";
}

size_t ex_settler_scratch_size(const ex_settler *settler) {
    return settler ? (size_t)settler->scratch : (size_t)exi_misuse(__func__, "no settler");
}

size_t ex_settler_state_size(const ex_settler *settler) {
    if (!settler)
        return (size_t)exi_misuse(__func__, "no settler");
    /* Triangles for the blended driver and for the true one; a number of frames, clusters that wait, bounds, positions,
     * the driver. */
    const size_t vertices = (size_t)settler->vertex_count, driver = (size_t)settler->driver_count;
    const size_t kept = settler->kept_set < 0 ? 0 : 1 + (size_t)settler->cluster_count + 4 * vertices + 3 * driver;
    return (2 * vertices + kept) * sizeof(uint32_t);
}

/* Finds how the driver has moved since the state's frame, and keeps it for the next. */
static void keep(exi_settling *s, void *state) {
    const ex_settler *settler = s->settler;
    const size_t vertices = (size_t)settler->vertex_count, clusters = (size_t)settler->cluster_count;
    uint32_t *count = (uint32_t *)state + 2 * vertices;
    s->waits = count + 1;
    s->least = (float *)(void *)(s->waits + clusters);
    s->before = s->least + vertices;
    float *driver = s->before + 3 * vertices;
    s->tries = *count % TRY == 1;
    s->tries_next = *count % TRY == 0;
    ++*count;
    size_t use = 0;
    for (size_t c = 0; c < clusters; c++)
        use += !s->waits[c];
    s->keeps = 4 * use > clusters;
    exi_patch_four *fours = exi_tree_at(s->scratch, settler->fours);
    if ((s->keeps || s->tries) && exi_keep_prepare(settler, driver, s->job->driver, fours, s->job->tasks))
        s->fours = fours;
    if (s->keeps || s->tries_next)
        memcpy(driver, s->job->driver, 3 * (size_t)settler->driver_count * sizeof *driver);
}

void ex_settle(const ex_settler *settler, const ex_settle_job *job, void *state, void *scratch) {
    if (!settler || !job || !scratch || !job->driver || (settler->vertex_count > 0 && !job->driven)) {
        exi_misuse(__func__, "no settler, job, driver, driven form or scratch");
        return;
    }
    if (!exi_rows_fit(job->driven, job->stride, 12) || !exi_rows_fit(state, 0, 0)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    exi_settling s = {.settler = settler,
                      .job = job,
                      .driven = (char *)job->driven,
                      .stride = job->stride ? job->stride : 3 * sizeof(float),
                      .scratch = aligned(scratch),
                      .kept = state};
    s.motions.of = exi_tree_at(s.scratch, settler->motions);
    s.by_keys = job->blended && job->residual == EX_RESIDUAL_KEYS && job->weights && settler->key_count > 0;
    if (job->settled)
        *job->settled = (ex_settled){0};
    if (job->blended && job->residual == EX_RESIDUAL_CLOSEST) {
        exi_carry_prepare(settler, job->blended, job->driver, NULL, settler->driver_count, &s.motions, job->tasks);
        make_fits(&s, job->blended, job->tasks);
        exi_run(job->tasks, settler->cluster_count, 8, carry_clusters, &s);
    }
    if (s.by_keys)
        exi_carry_prepare(settler, job->blended, job->driver, exi_tree_at(settler, settler->used), settler->used_count,
                          &s.motions, job->tasks);
    if (s.kept)
        s.kept += settler->vertex_count;
    if (job->push) {
        make_fits(&s, job->driver, job->tasks);
        s.push.driver = (exi_driver){settler, job->driver};
        s.push.reach = job->reach > 0 ? job->reach : INFINITY;
        measure_driver(&s);
        if (state && settler->kept_set >= 0)
            keep(&s, state);
    }
    if (s.by_keys || job->push)
        exi_run(job->tasks, settler->cluster_count, 8, settle_clusters, &s);
    if (job->settled && job->push)
        tally(&s);
}
