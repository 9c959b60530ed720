/*
 * Mixtures at which paths are fitted: points of the simplex of shares, from its edges to its middle. Pairs of corners
 * at the inner Chebyshev points of their edge, three corners at a third of each, all at equal shares, and random ones,
 * uniform over 3, 4, 5 or all corners: those of all alone would hardly come near the corners. With many corners only
 * pairs and threes of near ones are taken, since weighers mix near examples.
 *
 * The terms of curves follow the samples: for each pair 4 s_a s_b (s_a - s_b)^p, as many powers p as its samples tell
 * apart, and 27 s_a s_b s_c for each three. All vanish at corners, so curves do, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/trajectory/mixture/mixture.h"
#include "runtime/base/functions.inl"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#define PI 3.14159265358979323846

enum {
    FEW = 12, /* corners up to which all pairs are taken */
    NEAR = 3, /* beyond that, pairs of a corner with its nearest ones */
    MOST_THREES = 60,
    MOST_SAMPLES = 400,
    LEAST_SAMPLES = 64,
    NUMBERS_MOST = 300000000
};

double exi_term_value(const ex_mixture_term *term, const double *shares) {
    const double a = shares[term->corners[0]], b = shares[term->corners[1]];
    if (term->corners[2] >= 0)
        return 27 * a * b * shares[term->corners[2]];
    double value = 4 * a * b;
    for (int p = 0; p < term->power; p++)
        value *= a - b;
    return value;
}

/* ---- a plan in the making ---- */

typedef struct planning {
    exi_plan *plan;
    const ex_betweens *betweens;
    int corners[EX_MIXTURE_TERM_MAX]; /* those that are there: 0, and 1 + k of the examples besides the reference */
    int count;
    int times, powers; /* samples and terms of a pair */
    int most;          /* samples */
    uint64_t random;
    size_t sample_capacity, term_capacity;
    bool failed;
} planning;

/* A number between 0 and 1, without 0: a multiplicative generator of 64 bits. */
static double chance(planning *p) {
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return ((double)(p->random >> 11) + 0.5) / 9007199254740992.0;
}

static double *add_sample(planning *p) {
    exi_plan *plan = p->plan;
    const size_t width = (size_t)plan->example_count;
    if (p->failed || plan->sample_count >= p->most)
        return NULL;
    double *grown =
        exi_array_grow(plan->samples, &p->sample_capacity, ((size_t)plan->sample_count + 1) * width, sizeof *grown);
    p->failed = !grown;
    if (!grown)
        return NULL;
    plan->samples = grown;
    double *sample = grown + (size_t)plan->sample_count++ * width;
    memset(sample, 0, width * sizeof *sample);
    return sample;
}

static void set_share(double *sample, int corner, double share) {
    if (sample && corner > 0)
        sample[corner - 1] = share;
}

static void add_term(planning *p, ex_mixture_term term) {
    exi_plan *plan = p->plan;
    if (p->failed || plan->term_count >= EX_MIXTURE_TERM_MAX)
        return;
    ex_mixture_term *grown =
        exi_array_grow(plan->terms, &p->term_capacity, (size_t)plan->term_count + 1, sizeof *grown);
    p->failed = !grown;
    if (!grown)
        return;
    plan->terms = grown;
    grown[plan->term_count++] = term;
}

/* ---- pairs ---- */

static void add_pair(planning *p, int a, int b) {
    for (int i = 0; i < p->powers; i++)
        add_term(p, (ex_mixture_term){.corners = {(int16_t)a, (int16_t)b, -1}, .power = (int16_t)i});
    for (int i = 0; i < p->times; i++) {
        double sine, cosine;
        exi_sin_cos(PI * (i + 1) / (p->times + 1), &sine, &cosine);
        double *sample = add_sample(p);
        set_share(sample, a, 0.5 * (1 + cosine));
        set_share(sample, b, 0.5 * (1 - cosine));
    }
}

static const double *form_of(const planning *p, int corner) {
    return corner == 0 ? p->betweens->first->start : p->betweens->items[corner - 1]->aligned;
}

static double distance(const planning *p, int a, int b) {
    const double *x = form_of(p, a), *y = form_of(p, b);
    double sum = 0;
    for (size_t v = 0; v < (size_t)p->betweens->first->vertex_count; v++) {
        double d[3];
        exi_subtract(x + 3 * v, y + 3 * v, d);
        sum += exi_dot3(d, d);
    }
    return sum;
}

/* Lists for each corner its nearest ones, by index: near [count][NEAR]. */
static bool find_near(const planning *p, int *near) {
    double *distances = exi_array_allocate((size_t)p->count, sizeof *distances);
    for (int i = 0; distances && i < p->count; i++) {
        for (int k = 0; k < p->count; k++)
            distances[k] = k == i ? INFINITY : distance(p, p->corners[i], p->corners[k]);
        for (int r = 0; r < NEAR; r++) {
            int best = 0;
            for (int k = 1; k < p->count; k++)
                best = distances[k] < distances[best] ? k : best;
            near[i * NEAR + r] = best;
            distances[best] = INFINITY;
        }
    }
    free(distances);
    return distances != NULL;
}

static bool is_near(const int *near, int i, int k) {
    for (int r = 0; r < NEAR; r++)
        if (near[i * NEAR + r] == k)
            return true;
    return false;
}

static void add_pairs(planning *p, const int *near) {
    for (int i = 0; i < p->count; i++)
        for (int k = i + 1; k < p->count; k++)
            if (!near || is_near(near, i, k) || is_near(near, k, i))
                add_pair(p, p->corners[i], p->corners[k]);
}

/* ---- more than two ---- */

/* Three corners; terms have them in ascending order. */
static void add_three(planning *p, int a, int b, int c) {
    const int low = a < b ? a : b, high = a < b ? b : a;
    const int first = c < low ? c : low, last = c > high ? c : high;
    add_term(p, (ex_mixture_term){.corners = {(int16_t)first, (int16_t)(a + b + c - first - last), (int16_t)last}});
    double *sample = add_sample(p);
    set_share(sample, a, 1.0 / 3);
    set_share(sample, b, 1.0 / 3);
    set_share(sample, c, 1.0 / 3);
}

/* All threes, or as many as there is room for, spread evenly over their list; with many corners, near ones. */
static void add_threes(planning *p, const int *near) {
    const int n = p->count;
    for (int i = 0; near && i < n && i < MOST_THREES; i++)
        add_three(p, p->corners[i], p->corners[near[i * NEAR]], p->corners[near[i * NEAR + 1]]);
    if (near)
        return;
    const double all = (double)n * (n - 1) * (n - 2) / 6, part = all > MOST_THREES ? MOST_THREES / all : 1;
    double due = 0;
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++)
            for (int l = k + 1; l < n; l++) {
                due += part;
                if (due < 1)
                    continue;
                due -= 1;
                add_three(p, p->corners[i], p->corners[k], p->corners[l]);
            }
}

/* Draws `count` of the corners in turn into the first places. */
static void draw(planning *p, int *corners, int all, int count) {
    for (int i = 0; i < count; i++) {
        const int other = i + (int)(chance(p) * (all - i)), swap = corners[i];
        corners[i] = corners[other];
        corners[other] = swap;
    }
}

/* number: of the random mixture. */
static void add_random(planning *p, const int *near, int number) {
    static const int sizes[] = {FEW, 5, 4, FEW, 5, 3};
    double parts[NEAR + FEW], sum = 0;
    int corners[NEAR + FEW], count = 0;
    if (near) { /* a corner and its nearest */
        const int i = (int)(chance(p) * p->count);
        corners[count++] = p->corners[i];
        for (int r = 0; r < NEAR; r++)
            corners[count++] = p->corners[near[i * NEAR + r]];
    } else {
        const int size = sizes[number % 6];
        memcpy(corners, p->corners, (size_t)p->count * sizeof *corners);
        count = size < p->count ? size : p->count;
        draw(p, corners, p->count, count);
    }
    for (int i = 0; i < count; i++) {
        parts[i] = -exi_log(chance(p));
        sum += parts[i];
    }
    double *sample = add_sample(p);
    for (int i = 0; i < count; i++)
        set_share(sample, corners[i], parts[i] / sum);
}

/* ---- entry points ---- */

ex_result exi_plan_create(const ex_betweens *betweens, exi_plan *plan, ex_error *error) {
    planning p = {.plan = plan, .betweens = betweens, .random = 25};
    *plan = (exi_plan){.example_count = betweens->example_count};
    /* With a million vertices and more, memory is for the forms at fewer samples. */
    const double room = NUMBERS_MOST / (3.0 * betweens->first->vertex_count);
    p.most = room > MOST_SAMPLES ? MOST_SAMPLES : room > LEAST_SAMPLES ? (int)room : LEAST_SAMPLES;
    p.corners[p.count++] = 0;
    for (int k = 0; k < betweens->example_count && p.count < EX_MIXTURE_TERM_MAX; k++)
        if (betweens->items[k])
            p.corners[p.count++] = 1 + k;
    p.times = p.count == 2 ? 11 : p.count <= 8 ? 5 : p.count <= FEW ? 3 : 1;
    p.powers = p.count == 2 ? EX_CURVE_SIZE : p.count <= 4 ? 4 : p.count <= 8 ? 3 : p.count <= FEW ? 2 : 1;
    int *near = p.count > FEW ? exi_array_allocate((size_t)p.count * NEAR, sizeof *near) : NULL;
    p.failed = p.count > FEW && (!near || !find_near(&p, near));
    if (!p.failed)
        add_pairs(&p, near);
    if (!p.failed && p.count > 2) {
        add_threes(&p, near);
        double *middle = p.count <= FEW ? add_sample(&p) : NULL;
        for (int i = 0; i < p.count; i++)
            set_share(middle, p.corners[i], 1.0 / p.count);
        for (int i = 0; i < 12 + 10 * (p.count < FEW ? p.count : FEW); i++)
            add_random(&p, near, i);
    }
    free(near);
    if (p.failed)
        return ex_error_memory(error, "the plan of a mixture", (size_t)p.count * sizeof(double));
    return EX_OK;
}

void exi_plan_release(exi_plan *plan) {
    free(plan->terms);
    free(plan->samples);
}
