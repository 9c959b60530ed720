/*
 * Settles a frame (DrivenShape, sections 2.3 to 2.6): the residual from the blended driver to the true one is carried
 * to the driven vertices,
 *
 *     d + sum_k w_k (T_k(d) - d)        T_k: the motion where d was closest in key k (carry.c)
 *     T(d)                              T: where d is closest on the blended driver now (near.c)
 *
 * and those nearer to the true driver than their gap are pushed out (push.c). Clusters are independent of one another,
 * so that tasks may take them in any way. What a caller keeps as state are the blocks in which closest points lay:
 * where to look first, and nothing else, so that any bytes will do.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/settle/settler.h"

typedef struct settling {
    const ex_settler *settler;
    const ex_settle_job *job;
    size_t stride;
    char *scratch;
    uint32_t *blocks; /* [vertex_count]: of the state, 0 or the block and 1; NULL: none */
    exi_push push;
    /* measuring */
    const float *driven;
    uint32_t *triangles;
    float *places, *distances;
} settling;

static const ex_fit *fit_of(const settling *s, int set) {
    const exi_settler_set *sets = exi_tree_at(s->settler, s->settler->sets);
    /* As ex_fit_make lays it. */
    char *memory = s->scratch + sets[set].fit;
    return (const ex_fit *)(const void *)(memory + (EXI_ALIGN - (uintptr_t)memory % EXI_ALIGN) % EXI_ALIGN);
}

static void make_fits(const settling *s, const float *positions, const ex_tasks *tasks) {
    const exi_settler_set *sets = exi_tree_at(s->settler, s->settler->sets);
    for (int k = 0; k < s->settler->set_count; k++)
        ex_fit_make(exi_tree_at(s->settler, sets[k].tree), positions, 0, s->scratch + sets[k].fit, tasks);
}

static float *vertex_at(const settling *s, uint32_t v) {
    return (float *)(void *)((char *)s->job->driven + (size_t)v * s->stride);
}

/* The bound of the heaviest key at a place; NULL without weights. */
static const exi_bound *heaviest(const settling *s, int place) {
    const int count = s->settler->key_count;
    const uint32_t *order = exi_tree_at(s->settler, s->settler->order);
    if (!s->job->weights || count == 0)
        return NULL;
    const float *weights = s->job->weights + (size_t)order[place] * (size_t)count;
    int key = 0;
    for (int k = 1; k < count; k++)
        key = weights[k] > weights[key] ? k : key;
    return (const exi_bound *)exi_tree_at(s->settler, s->settler->bounds) + (size_t)place * (size_t)count + key;
}

static void hint(const settling *s, const exi_cluster *cluster, const exi_bound *const *bounds, exi_nearest *nearest) {
    for (int i = 0; i < cluster->count; i++) {
        const uint32_t kept = s->blocks ? s->blocks[cluster->first + i] : 0;
        nearest[i].block = kept ? kept - 1 : bounds[i] ? bounds[i]->block : EXI_NO_BLOCK;
    }
}

static void keep(const settling *s, const exi_cluster *cluster, const exi_nearest *nearest) {
    for (int i = 0; s->blocks && i < cluster->count; i++)
        s->blocks[cluster->first + i] = nearest[i].at.triangle < 0 ? 0 : nearest[i].block + 1;
}

/* ---- the residual ---- */

static void carry_by_keys(void *context, int begin, int end) {
    const settling *s = context;
    const int count = s->settler->key_count;
    const uint32_t *order = exi_tree_at(s->settler, s->settler->order);
    const exi_motion *motions = exi_tree_at(s->scratch, s->settler->motions);
    for (int i = begin; i < end; i++) {
        const exi_bound *bounds =
            (const exi_bound *)exi_tree_at(s->settler, s->settler->bounds) + (size_t)i * (size_t)count;
        const float *weights = s->job->weights + (size_t)order[i] * (size_t)count;
        float *point = vertex_at(s, order[i]);
        if (!exi_finite3(point))
            continue;
        const exi_quad at = exi_quad_load_three(point);
        exi_carried sum = exi_carry_nothing();
        for (int k = 0; k < count; k++)
            if (weights[k] > 0)
                exi_carry_add(&sum, motions, bounds[k].corner, bounds[k].u, bounds[k].v, weights[k], at);
        exi_carry_apply(&sum, point);
    }
}

static void carry_by_closest(void *context, int begin, int end) {
    const settling *s = context;
    const exi_cluster *clusters = exi_tree_at(s->settler, s->settler->clusters);
    const uint32_t *order = exi_tree_at(s->settler, s->settler->order);
    const uint32_t *triangles = exi_tree_at(s->settler, s->settler->triangles);
    const exi_settler_set *sets = exi_tree_at(s->settler, s->settler->sets);
    const exi_motion *motions = exi_tree_at(s->scratch, s->settler->motions);
    for (int c = begin; c < end; c++) {
        const exi_cluster *cluster = &clusters[c];
        const uint32_t *seen = exi_tree_at(s->settler, sets[cluster->set].triangles);
        float points[EXI_CLUSTER][3];
        const exi_bound *bounds[EXI_CLUSTER];
        exi_nearest nearest[EXI_CLUSTER];
        for (int i = 0; i < cluster->count; i++) {
            memcpy(points[i], vertex_at(s, order[cluster->first + i]), sizeof points[i]);
            bounds[i] = heaviest(s, cluster->first + i);
        }
        hint(s, cluster, bounds, nearest);
        exi_near(fit_of(s, cluster->set), (const float(*)[3])points, cluster->count, nearest);
        keep(s, cluster, nearest);
        for (int i = 0; i < cluster->count; i++) {
            const ex_closest *at = &nearest[i].at;
            if (at->triangle < 0)
                continue;
            exi_carried sum = exi_carry_nothing();
            exi_carry_add(&sum, motions, triangles + 3 * (size_t)seen[at->triangle], at->u, at->v, 1,
                          exi_quad_load_three(points[i]));
            exi_carry_apply(&sum, vertex_at(s, order[cluster->first + i]));
        }
    }
}

static void carry(settling *s) {
    const ex_settler *settler = s->settler;
    const ex_settle_job *job = s->job;
    exi_motion *motions = exi_tree_at(s->scratch, settler->motions);
    if (job->residual == EX_RESIDUAL_KEYS && job->weights && settler->key_count > 0) {
        exi_carry_prepare(settler, job->blended, job->driver, exi_tree_at(settler, settler->used), settler->used_count,
                          motions, job->tasks);
        exi_run(job->tasks, settler->vertex_count, 64, carry_by_keys, s);
    } else if (job->residual == EX_RESIDUAL_CLOSEST) {
        exi_carry_prepare(settler, job->blended, job->driver, NULL, settler->driver_count, motions, job->tasks);
        make_fits(s, job->blended, job->tasks);
        exi_run(job->tasks, settler->cluster_count, 8, carry_by_closest, s);
    }
}

/* ---- pushing out ---- */

static float gap_of(const settling *s, int place) {
    const int count = s->settler->key_count;
    float gap = s->job->thickness;
    if (s->job->weights && count > 0) {
        const uint32_t *order = exi_tree_at(s->settler, s->settler->order);
        const exi_bound *bounds =
            (const exi_bound *)exi_tree_at(s->settler, s->settler->bounds) + (size_t)place * (size_t)count;
        const float *weights = s->job->weights + (size_t)order[place] * (size_t)count;
        float sum = 0;
        for (int k = 0; k < count; k++)
            sum += weights[k] > 0 ? weights[k] * bounds[k].gap : 0;
        gap = sum < gap ? sum : gap;
    }
    return gap > 0 ? gap : 0;
}

static void push_out(void *context, int begin, int end) {
    const settling *s = context;
    const exi_cluster *clusters = exi_tree_at(s->settler, s->settler->clusters);
    const uint32_t *order = exi_tree_at(s->settler, s->settler->order);
    const exi_settler_set *sets = exi_tree_at(s->settler, s->settler->sets);
    ex_settled *tallies = exi_tree_at(s->scratch, s->settler->tallies);
    for (int c = begin; c < end; c++) {
        const exi_cluster *cluster = &clusters[c];
        float points[EXI_CLUSTER][3], gaps[EXI_CLUSTER];
        const exi_bound *bounds[EXI_CLUSTER];
        exi_nearest nearest[EXI_CLUSTER];
        exi_push push = s->push;
        push.fit = fit_of(s, cluster->set);
        push.triangles = exi_tree_at(s->settler, sets[cluster->set].triangles);
        for (int i = 0; i < cluster->count; i++) {
            memcpy(points[i], vertex_at(s, order[cluster->first + i]), sizeof points[i]);
            gaps[i] = gap_of(s, cluster->first + i);
            bounds[i] = heaviest(s, cluster->first + i);
        }
        hint(s, cluster, bounds, nearest);
        tallies[c] = (ex_settled){0};
        exi_push_cluster(&push, points, gaps, bounds, cluster->count, nearest, &tallies[c]);
        keep(s, cluster, nearest);
        if (tallies[c].pushed > 0)
            for (int i = 0; i < cluster->count; i++)
                memcpy(vertex_at(s, order[cluster->first + i]), points[i], sizeof points[i]);
    }
}

/* The driver's size, and the largest of its numbers. */
static void measure_driver(settling *s) {
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double size_sq = 0, largest = 0;
    for (int k = 0; k < s->settler->set_count; k++)
        for (int c = 0; c < 3; c++) {
            const ex_fit *fit = fit_of(s, k);
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

static void push_all(settling *s) {
    const ex_settle_job *job = s->job;
    make_fits(s, job->driver, job->tasks);
    s->push.driver = (exi_driver){s->settler, job->driver};
    measure_driver(s);
    exi_run(job->tasks, s->settler->cluster_count, 8, push_out, s);
    if (!job->settled)
        return;
    const ex_settled *tallies = exi_tree_at(s->scratch, s->settler->tallies);
    for (int c = 0; c < s->settler->cluster_count; c++) {
        job->settled->penetrating += tallies[c].penetrating;
        job->settled->pushed += tallies[c].pushed;
        job->settled->left += tallies[c].left;
        job->settled->deepest = tallies[c].deepest < job->settled->deepest ? tallies[c].deepest : job->settled->deepest;
    }
}

/* ---- measuring ---- */

static void measure(void *context, int begin, int end) {
    const settling *s = context;
    const exi_cluster *clusters = exi_tree_at(s->settler, s->settler->clusters);
    const uint32_t *order = exi_tree_at(s->settler, s->settler->order);
    const exi_settler_set *sets = exi_tree_at(s->settler, s->settler->sets);
    for (int c = begin; c < end; c++) {
        const exi_cluster *cluster = &clusters[c];
        const uint32_t *seen = exi_tree_at(s->settler, sets[cluster->set].triangles);
        float points[EXI_CLUSTER][3];
        exi_nearest nearest[EXI_CLUSTER];
        for (int i = 0; i < cluster->count; i++) {
            const char *at = (const char *)s->driven + (size_t)order[cluster->first + i] * s->stride;
            memcpy(points[i], at, sizeof points[i]);
            nearest[i].block = EXI_NO_BLOCK;
        }
        exi_near(fit_of(s, cluster->set), (const float(*)[3])points, cluster->count, nearest);
        for (int i = 0; i < cluster->count; i++) {
            const size_t v = order[cluster->first + i];
            const ex_closest *at = &nearest[i].at;
            const bool found = at->triangle >= 0;
            if (s->triangles)
                s->triangles[v] = found ? seen[at->triangle] : UINT32_MAX;
            if (s->places) {
                s->places[2 * v] = found ? at->u : 0;
                s->places[2 * v + 1] = found ? at->v : 0;
            }
            if (s->distances)
                s->distances[v] =
                    found ? exi_side_distance(&s->push.driver, seen[at->triangle], at, points[i]) : INFINITY;
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
    settling s = {.settler = settler,
                  .stride = stride ? stride : 3 * sizeof(float),
                  .scratch = aligned(scratch),
                  .driven = driven,
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
    /* For the blended driver, and for the true one. */
    return settler ? 2 * (size_t)settler->vertex_count * sizeof(uint32_t) : (size_t)exi_misuse(__func__, "no settler");
}

void ex_settle(const ex_settler *settler, const ex_settle_job *job, void *state, void *scratch) {
    if (!settler || !job || !scratch || !job->driver || (settler->vertex_count > 0 && !job->driven)) {
        exi_misuse(__func__, "no settler, job, driver, driven form or scratch");
        return;
    }
    settling s = {.settler = settler,
                  .job = job,
                  .stride = job->stride ? job->stride : 3 * sizeof(float),
                  .scratch = aligned(scratch),
                  .blocks = state};
    if (job->settled)
        *job->settled = (ex_settled){0};
    if (job->blended)
        carry(&s);
    if (s.blocks)
        s.blocks += settler->vertex_count;
    if (job->push)
        push_all(&s);
}
