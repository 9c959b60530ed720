/*
 * Predicts weights from a driver's state x: ridge regression, linear and with a Gaussian kernel around landmarks z_m,
 *
 *     w(x) = base + S z + sum over m of exp(-d_m^2 / 2 width^2) p_m,    y = scales (x - mean),    z = C y,
 *     d_m^2 = |z - z_m|^2 + max(0, |y|^2 - |z|^2 - outside),
 *
 * where the last term is what the components C do not see of a state. With r = min d_m / familiar, weights fade from
 * r = 1.5 to r = 3 to the mean of the known weights, weighed by exp(-(d_m^2 - min d^2) / 2 familiar^2).
 *
 * Sums run four numbers at a time, over lanes that do not depend on each other.
 */
#include "runtime/weigh/predictor.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/simd.h"

#include <math.h>
#include <string.h>

enum { GROUP = EXI_LANDMARK_GROUP };

/* Scaled states are limited to this, so that their squares stay finite. Learned ones are about 1 long. */
static const float farthest = 1e6F;

/* ---- the block ---- */

static size_t groups_of(const ex_predictor *p) {
    return ((size_t)p->landmark_count + GROUP - 1) / GROUP;
}

static size_t state_length(const ex_predictor *p) {
    return (size_t)ex_state_start(p->frame_count, EX_STATE_KIND_COUNT);
}

/* Lengths of the tables, in their order. */
enum { TABLES = 9 };
static void measure(const ex_predictor *p, size_t lengths[TABLES]) {
    const size_t components = (size_t)p->component_count, weights = (size_t)p->weight_count;
    const size_t landmarks = (size_t)p->landmark_count;
    lengths[0] = 3 * (size_t)p->frame_count;
    lengths[1] = lengths[2] = state_length(p);
    lengths[3] = state_length(p) * components;
    lengths[4] = groups_of(p) * components * GROUP;
    lengths[5] = weights;
    lengths[6] = components * weights;
    lengths[7] = lengths[8] = landmarks * weights;
}

static uint64_t measure_all(const ex_predictor *p) {
    size_t lengths[TABLES];
    uint64_t total = sizeof *p;
    measure(p, lengths);
    for (int i = 0; i < TABLES; i++)
        total += lengths[i] * sizeof(float);
    return (total + 7) / 8 * 8;
}

static void find(const ex_predictor *p, const float *tables[TABLES]) {
    size_t lengths[TABLES];
    const float *at = (const float *)(const void *)(p + 1);
    measure(p, lengths);
    for (int i = 0; i < TABLES; at += lengths[i++])
        tables[i] = at;
}

exi_predictor_tables exi_predictor_find(const ex_predictor *p) {
    const float *t[TABLES];
    find(p, t);
    return (exi_predictor_tables){t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8]};
}

static bool sound_head(const ex_predictor *p) {
    const float *u = p->up;
    const float length = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    return p->frame_count >= 2 && p->frame_count <= EX_PREDICTOR_FRAME_MAX && p->component_count >= 1 &&
           p->component_count <= EX_PREDICTOR_COMPONENT_MAX && p->landmark_count >= 1 &&
           p->landmark_count <= EX_PREDICTOR_LANDMARK_MAX && p->weight_count >= 1 &&
           p->weight_count <= EX_PREDICTOR_WEIGHT_MAX && p->sizes <= 1 && p->step > 1e-6 && p->step < 1e3 &&
           p->fastest > 0 && p->fastest < 1e9 && p->width > 1e-6 && p->width < 1e6 && p->familiar > 1e-6 &&
           p->familiar < 1e6 && p->outside >= 0 && p->outside < 1e12 && length > 0.9F && length < 1.1F;
}

/* True if all numbers are small enough for every sum of an evaluation to be finite; components are of length 1. */
static bool all_finite(const ex_predictor *head, const void *block) {
    const float *at = (const float *)(const void *)((const char *)block + sizeof *head);
    size_t lengths[TABLES];
    measure(head, lengths);
    for (int t = 0; t < TABLES; at += lengths[t++]) {
        const float most = t == 3 ? 2 : t == 4 ? 1e12F : 1e18F;
        for (size_t i = 0; i < lengths[t]; i++)
            if (!(fabsf(at[i]) < most))
                return false;
    }
    return true;
}

bool exi_predictor_is_sound(const void *bytes, size_t size, ex_predictor *head) {
    if (size < sizeof *head)
        return false;
    memcpy(head, bytes, sizeof *head);
    return head->size == size && head->reserved == 0 && head->spare == 0 && sound_head(head) &&
           measure_all(head) == size && all_finite(head, bytes);
}

/* ---- making and describing ---- */

static void store_landmarks(const ex_predictor_def *def, float *groups) {
    const size_t components = (size_t)def->component_count;
    for (size_t m = 0; m < (size_t)def->landmark_count; m++)
        for (size_t c = 0; c < components; c++)
            groups[(m / GROUP * components + c) * GROUP + m % GROUP] = def->landmarks[m * components + c];
}

ex_result ex_predictor_create(const ex_predictor_def *def, const ex_allocator *allocator, ex_predictor **predictor,
                              ex_error *error) {
    if (!def || !predictor || !def->centres || !def->mean || !def->scales || !def->components || !def->landmarks ||
        !def->base || !def->slopes || !def->pulls || !def->known)
        return exi_misuse_error(error, __func__, "a table is missing");
    *predictor = NULL;
    ex_predictor head = {.frame_count = def->frame_count,
                         .component_count = def->component_count,
                         .landmark_count = def->landmark_count,
                         .weight_count = def->weight_count,
                         .sizes = def->sizes,
                         .up = {def->up[0], def->up[1], def->up[2]},
                         .step = def->step,
                         .fastest = def->fastest,
                         .width = def->width,
                         .familiar = def->familiar,
                         .outside = def->outside};
    if (def->frame_count > EX_PREDICTOR_FRAME_MAX || def->component_count > EX_PREDICTOR_COMPONENT_MAX ||
        def->landmark_count > EX_PREDICTOR_LANDMARK_MAX || def->weight_count > EX_PREDICTOR_WEIGHT_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT,
                            "a predictor has at most %d moving frames, %d components, %d landmarks and %d weights, not "
                            "%d, %d, %d and %d",
                            EX_PREDICTOR_FRAME_MAX, EX_PREDICTOR_COMPONENT_MAX, EX_PREDICTOR_LANDMARK_MAX,
                            EX_PREDICTOR_WEIGHT_MAX, def->frame_count, def->component_count, def->landmark_count,
                            def->weight_count);
    if (!sound_head(&head))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a predictor has a count or a number that is out of range, or 'up' is not of length 1");
    head.size = measure_all(&head);
    ex_predictor *p = head.size > SIZE_MAX ? NULL : exi_block_create(allocator, (size_t)head.size);
    if (!p)
        return ex_error_memory(error, "a predictor", (size_t)head.size);
    *p = head;
    const float *const from[TABLES] = {def->centres, def->mean,   def->scales, def->components, NULL,
                                       def->base,    def->slopes, def->pulls,  def->known};
    const float *to[TABLES];
    size_t lengths[TABLES];
    measure(p, lengths);
    find(p, to);
    for (int i = 0; i < TABLES; i++)
        if (from[i])
            memcpy((float *)(uintptr_t)to[i], from[i], lengths[i] * sizeof(float));
    store_landmarks(def, (float *)(uintptr_t)to[4]);
    if (!all_finite(p, p)) {
        ex_predictor_destroy(p);
        return ex_error_set(error, EX_ERROR_DATA, "a number of a predictor is not finite, or far too large");
    }
    *predictor = p;
    return EX_OK;
}

void ex_predictor_destroy(ex_predictor *predictor) {
    exi_block_destroy(predictor);
}

void ex_predictor_describe(const ex_predictor *p, float *landmarks, ex_predictor_def *def) {
    const exi_predictor_tables t = exi_predictor_find(p);
    const size_t components = (size_t)p->component_count;
    *def = (ex_predictor_def){.frame_count = p->frame_count,
                              .centres = t.centres,
                              .up = {p->up[0], p->up[1], p->up[2]},
                              .step = p->step,
                              .fastest = p->fastest,
                              .sizes = p->sizes != 0,
                              .component_count = p->component_count,
                              .landmark_count = p->landmark_count,
                              .weight_count = p->weight_count,
                              .mean = t.mean,
                              .scales = t.scales,
                              .components = t.components,
                              .landmarks = landmarks,
                              .base = t.base,
                              .slopes = t.slopes,
                              .pulls = t.pulls,
                              .known = t.known,
                              .width = p->width,
                              .familiar = p->familiar,
                              .outside = p->outside};
    for (size_t m = 0; landmarks && m < (size_t)p->landmark_count; m++)
        for (size_t c = 0; c < components; c++)
            landmarks[m * components + c] = t.landmarks[(m / GROUP * components + c) * GROUP + m % GROUP];
}

/* ---- evaluation ---- */

/*
 * falls[m] = e^-q with q = (squares[m] - least) factor >= 0, to 6e-6 of itself; 0 beyond 87. Each step is a loop over a
 * group, which compilers do in vectors: 2^whole is made from its bits.
 */
static void fall_all(const float *squares, float least, float factor, size_t groups, float *falls) {
    for (size_t g = 0; g < groups; g++, squares += GROUP, falls += GROUP) {
        float part[GROUP], scale[GROUP], near[GROUP];
        uint32_t bits[GROUP];
        for (int i = 0; i < GROUP; i++) {
            const float q = (squares[i] - least) * factor;
            const float above = q > 0 ? q : 0; /* numbers after the last landmark may be below */
            const float t = -1.44269504F * (q < 87 ? above : 87);
            const int32_t whole = (int32_t)(t - 0.5F);
            near[i] = q < 87 ? 1.0F : 0.0F;
            part[i] = (t - (float)whole) * 0.69314718F;
            bits[i] = (uint32_t)(whole + 127) << 23;
        }
        memcpy(scale, bits, sizeof scale);
        for (int i = 0; i < GROUP; i++) {
            const float x = part[i];
            const float e = 1 + x * (1 + x * (0.5F + x * (0.16666667F + x * (0.041666667F + x * 0.0083333333F))));
            falls[i] = e * scale[i] * near[i];
        }
    }
}

typedef struct room {
    float *scaled;     /* [state length] */
    float *components; /* [component_count] */
    float *squares;    /* [groups][GROUP]: distances from the landmarks */
    float *falls;      /* [groups][GROUP]: how much each landmark counts */
    float *weights;    /* [weight_count] */
} room;

static room lay(const ex_predictor *p, void *scratch) {
    float *at = scratch;
    room r = {.scaled = at};
    r.components = r.scaled + state_length(p);
    r.squares = r.components + p->component_count;
    r.falls = r.squares + groups_of(p) * GROUP;
    r.weights = r.falls + groups_of(p) * GROUP;
    return r;
}

size_t ex_predictor_scratch_size(const ex_predictor *p) {
    return (state_length(p) + (size_t)p->component_count + 2 * groups_of(p) * GROUP + (size_t)p->weight_count) *
           sizeof(float);
}

/* Adds the sum over rows of factor times row to 4 * quads columns, whose sums stay in registers. Rows are `stride`
 * floats apart. Narrow ones have two sums per column, since the additions of one wait for each other. */
enum { QUADS = 16 };
EXI_KERNEL void add_columns(float *sums, const float *rows, const float *factors, size_t row_count, size_t stride,
                            int quads) {
    exi_quad sum[QUADS], other[QUADS];
    EXI_WRITE_OUT
    for (int q = 0; q < quads; q++) {
        sum[q] = exi_quad_load(sums + 4 * q);
        other[q] = exi_quad_splat(0);
    }
    size_t r = 0;
    for (; r + 2 <= row_count; r += 2, rows += 2 * stride) {
        if (factors[r] == 0 && factors[r + 1] == 0)
            continue;
        const exi_quad f = exi_quad_splat(factors[r]), g = exi_quad_splat(factors[r + 1]);
        EXI_WRITE_OUT
        for (int q = 0; q < quads; q++)
            sum[q] = exi_quad_madd(f, exi_quad_load(rows + 4 * q), sum[q]);
        EXI_WRITE_OUT
        for (int q = 0; q < quads; q++) {
            exi_quad *to = quads < QUADS ? &other[q] : &sum[q];
            *to = exi_quad_madd(g, exi_quad_load(rows + stride + 4 * q), *to);
        }
    }
    EXI_WRITE_OUT
    for (int q = 0; q < quads; q++) {
        if (r < row_count)
            sum[q] = exi_quad_madd(exi_quad_splat(factors[r]), exi_quad_load(rows + 4 * q), sum[q]);
        exi_quad_store(sums + 4 * q, exi_quad_add(sum[q], other[q]));
    }
}

/* The same for all `count` columns of rows that lie one after the other. */
static void add_all(float *sums, const float *rows, const float *factors, size_t row_count, size_t count) {
    size_t i = 0;
    for (; i + 64 <= count; i += 64)
        add_columns(sums + i, rows + i, factors, row_count, count, 16);
    for (; i + 32 <= count; i += 32)
        add_columns(sums + i, rows + i, factors, row_count, count, 8);
    for (; i + 8 <= count; i += 8)
        add_columns(sums + i, rows + i, factors, row_count, count, 2);
    for (; i < count; i++) {
        float four[4] = {0};
        size_t r = 0;
        for (; r + 4 <= row_count; r += 4)
            for (size_t k = 0; k < 4; k++)
                four[k] += factors[r + k] * rows[(r + k) * count + i];
        for (; r < row_count; r++)
            four[0] += factors[r] * rows[r * count + i];
        sums[i] += (four[0] + four[1]) + (four[2] + four[3]);
    }
}

float exi_predictor_project(const ex_predictor *p, const float *state, float *scaled, float *components) {
    const exi_predictor_tables t = exi_predictor_find(p);
    const size_t length = state_length(p), count = (size_t)p->component_count;
    double whole = 0, seen = 0;
    memset(components, 0, count * sizeof(float));
    for (size_t i = 0; i < length; i++) {
        const float y = (state[i] - t.mean[i]) * t.scales[i];
        scaled[i] = y > farthest ? farthest : y > -farthest ? y : y <= -farthest ? -farthest : 0;
        whole += (double)scaled[i] * (double)scaled[i];
    }
    add_all(components, t.components, scaled, length, count);
    for (size_t c = 0; c < count; c++)
        seen += (double)components[c] * (double)components[c];
    return whole - seen > p->outside ? (float)(whole - seen - p->outside) : 0;
}

EXI_KERNEL void measure_group(const float *group, const float *components, size_t count, float unseen,
                              float sums[GROUP]) {
    exi_quad sum[GROUP / 4];
    for (int q = 0; q < GROUP / 4; q++)
        sum[q] = exi_quad_splat(unseen);
    for (size_t c = 0; c < count; c++) {
        const exi_quad z = exi_quad_splat(components[c]);
        for (int q = 0; q < GROUP / 4; q++) {
            const exi_quad d = exi_quad_sub(z, exi_quad_load(group + c * GROUP + 4 * (size_t)q));
            sum[q] = exi_quad_madd(d, d, sum[q]);
        }
    }
    for (int q = 0; q < GROUP / 4; q++)
        exi_quad_store(sums + 4 * q, sum[q]);
}

/* Squares of the distances from all landmarks; returns the least. */
static float measure_landmarks(const ex_predictor *p, const exi_predictor_tables *t, float unseen, const room *r) {
    const size_t count = (size_t)p->component_count, landmarks = (size_t)p->landmark_count;
    float least = INFINITY;
    for (size_t g = 0; g < groups_of(p); g++) {
        float sums[GROUP];
        measure_group(t->landmarks + g * count * GROUP, r->components, count, unseen, sums);
        for (size_t i = 0; i < GROUP && g * GROUP + i < landmarks; i++)
            least = sums[i] < least ? sums[i] : least;
        memcpy(r->squares + g * GROUP, sums, sizeof sums);
    }
    return least;
}

/* Weights of the nearest known states; their sum is 1. */
static void recall(const ex_predictor *p, const exi_predictor_tables *t, const room *r, float least, double share,
                   double *weights) {
    const size_t count = (size_t)p->weight_count;
    const float factor = (float)(0.5 / (p->familiar * p->familiar));
    double total = 0;
    memset(r->weights, 0, count * sizeof(float));
    fall_all(r->squares, least, factor, groups_of(p), r->falls);
    for (size_t m = 0; m < (size_t)p->landmark_count; m++)
        total += (double)r->falls[m];
    add_all(r->weights, t->known, r->falls, (size_t)p->landmark_count, count);
    for (size_t i = 0; i < count; i++)
        weights[i] += share * ((double)r->weights[i] / total - weights[i]);
}

double ex_predictor_evaluate(const ex_predictor *p, const float *state, double *weights, void *scratch) {
    const exi_predictor_tables t = exi_predictor_find(p);
    const room r = lay(p, scratch);
    const size_t count = (size_t)p->weight_count;
    const float factor = (float)(0.5 / (p->width * p->width));
    const float unseen = exi_predictor_project(p, state, r.scaled, r.components);
    const float least = measure_landmarks(p, &t, unseen, &r);
    memcpy(r.weights, t.base, count * sizeof(float));
    add_all(r.weights, t.slopes, r.components, (size_t)p->component_count, count);
    fall_all(r.squares, 0, factor, groups_of(p), r.falls);
    add_all(r.weights, t.pulls, r.falls, (size_t)p->landmark_count, count);
    for (size_t i = 0; i < count; i++)
        weights[i] = (double)r.weights[i];
    const double far = sqrt((double)least) / p->familiar, fade = far <= 1.5 ? 0 : far >= 3 ? 1 : (far - 1.5) / 1.5;
    if (fade > 0)
        recall(p, &t, &r, least, fade * fade * (3 - 2 * fade), weights);
    return far;
}
