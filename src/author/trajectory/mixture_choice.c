/*
 * Chooses mixtures of poses to measure. Pose 0 is the reference; the others are the examples.
 *
 * There are four groups: midpoints of pairs, paths from the reference, thirds of triples, and pairs of examples at
 * other times. Groups that are too large are thinned: of n items, those at j g modulo n are taken for j = 0, 1, ...,
 * with g near n times the golden ratio and without a common divisor, which spreads any number of them evenly.
 *
 * A few pairs of examples that move different parts are added at 1 + 1, where both motions should happen at once.
 */
#include "author/trajectory/mixture_choice.h"

#include "author/base/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_MOST = 200,
    LEAST_MOST = 24,
    SIZE_MOST = 6000000, /* triangles of all mixtures together: 200 times 30 000 */
    TIME_COUNT = 10,
    TOGETHER_MOST = 10, /* pairs at 1 + 1 */
    HUNDREDTHS = 100
};

/* The most telling first: near the ends, where fits have no samples, and between. */
static const double times[TIME_COUNT] = {0.9, 0.1, 0.7, 0.3, 0.95, 0.05, 0.8, 0.2, 0.6, 0.4};

/* Examples that share less than this part of what they move count as moving different parts. */
static const double hardly_common = 0.1;

typedef struct chooser {
    exi_mixture_choice *choice;
    const float *overlaps; /* [example_count] squared */
    int example_count;
    const int *poses; /* [pose_count]: examples; -1 for the reference */
    int pose_count;
    int together_left; /* pairs at 1 + 1 to add */
} chooser;

/* ---- items ---- */

static double *add(chooser *c, ex_mixture_kind kind) {
    exi_mixture_choice *choice = c->choice;
    choice->kinds[choice->count] = kind;
    return choice->weights + (size_t)choice->count++ * (size_t)c->example_count;
}

static void give(const chooser *c, double *weights, int pose, double share) {
    if (c->poses[pose] >= 0)
        weights[c->poses[pose]] = share;
}

static void add_pair(chooser *c, int first, int second, double t) {
    double *weights = add(c, first == 0 ? EX_MIXTURE_PATH : EX_MIXTURE_PAIR);
    give(c, weights, first, 1 - t);
    give(c, weights, second, t);
}

static long long pairs_of(long long poses) {
    return poses * (poses - 1) / 2;
}

/* Finds pair number `item` among the poses from `first` on. */
static void find_pair(const chooser *c, int first, long long item, int pair[2]) {
    int a = first;
    for (; item >= c->pose_count - 1 - a; a++)
        item -= c->pose_count - 1 - a;
    pair[0] = a;
    pair[1] = a + 1 + (int)item;
}

static void add_middle(chooser *c, long long item) {
    int pair[2];
    find_pair(c, 0, item, pair);
    add_pair(c, pair[0], pair[1], 0.5);
}

static void add_path(chooser *c, long long item) {
    const long long paths = c->pose_count - 1;
    add_pair(c, 0, 1 + (int)(item % paths), times[item / paths]);
}

static void add_other(chooser *c, long long item) {
    const long long pairs = pairs_of(c->pose_count - 1);
    int pair[2];
    find_pair(c, 1, item % pairs, pair);
    add_pair(c, pair[0], pair[1], times[item / pairs]);
}

static void add_thirds(chooser *c, long long item) {
    int a = 0, pair[2];
    for (; item >= pairs_of(c->pose_count - 1 - a); a++)
        item -= pairs_of(c->pose_count - 1 - a);
    find_pair(c, a + 1, item, pair);
    double *weights = add(c, EX_MIXTURE_THIRDS);
    give(c, weights, a, 1.0 / 3);
    give(c, weights, pair[0], 1.0 / 3);
    give(c, weights, pair[1], 1.0 / 3);
}

/* ---- groups ---- */

typedef struct group {
    void (*add)(chooser *c, long long item);
    long long count, part; /* items, and how many make a part: earlier parts go first */
    int taken;
} group;

enum { MIDDLES, PATHS, THIRDS, OTHERS, GROUP_COUNT };

static long long common_divisor(long long a, long long b) {
    while (b != 0) {
        const long long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Takes `wanted` of the items from `start` on. */
static void take_part(chooser *c, const group *g, long long start, long long count, long long wanted) {
    long long step = wanted < count ? (long long)(0.6180339887498949 * (double)count) : 1;
    step = step > 0 ? step : 1;
    while (common_divisor(step, count) != 1)
        step++;
    for (long long j = 0, item = 0; j < wanted; j++, item = (item + step) % count)
        g->add(c, start + item);
}

static void take(chooser *c, const group *g) {
    for (long long start = 0, left = g->taken; left > 0; start += g->part) {
        const long long wanted = left < g->part ? left : g->part;
        take_part(c, g, start, g->part, wanted);
        left -= wanted;
    }
}

static int smaller(long long a, long long b) {
    return (int)(a < b ? a : b);
}

/* Divides `most` among the groups. */
static void divide(group groups[GROUP_COUNT], int most) {
    long long all = 0;
    for (int i = 0; i < GROUP_COUNT; i++)
        all += groups[i].count;
    int left = most;
    for (int i = 0; i < GROUP_COUNT; i++) {
        const int share = i == MIDDLES ? left / 3 : i == OTHERS ? left : left / 2;
        groups[i].taken = all <= most ? (int)groups[i].count : smaller(groups[i].count, share);
        left -= groups[i].taken;
    }
}

/* ---- different parts ---- */

static bool are_apart(const chooser *c, const int pair[2]) {
    const int a = c->poses[pair[0]], b = c->poses[pair[1]], width = c->example_count;
    return (double)c->overlaps[a * width + b] < hardly_common && (double)c->overlaps[b * width + a] < hardly_common;
}

/* Returns the number of pairs of examples that move different parts. */
static long long count_apart(const chooser *c) {
    long long count = 0;
    for (long long item = 0; item < pairs_of(c->pose_count - 1); item++) {
        int pair[2];
        find_pair(c, 1, item, pair);
        count += are_apart(c, pair);
    }
    return count;
}

/* Adds a pair at 1 + 1, if it moves different parts and there is room. */
static void add_together(chooser *c, long long item) {
    int pair[2];
    find_pair(c, 1, item, pair);
    if (c->together_left == 0 || !are_apart(c, pair))
        return;
    double *weights = add(c, EX_MIXTURE_PAIR);
    give(c, weights, pair[0], 1);
    give(c, weights, pair[1], 1);
    c->together_left--;
}

/* ---- random weights ---- */

/* A generator of 64-bit numbers: a counter by steps of an odd number, mixed by multiplications and shifts. */
static uint64_t draw_bits(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int draw(uint64_t *state, int count) {
    return (int)(draw_bits(state) % (uint64_t)count);
}

/* Adds random weights of `width` poses: cuts at random hundredths, sorted, are the ends of the shares. */
static void add_random(chooser *c, uint64_t *state, int width, int *order) {
    double *weights = add(c, EX_MIXTURE_RANDOM);
    int cuts[8 + 1] = {0};
    for (int i = 0; i < width; i++) { /* the first `width` of a shuffle */
        const int j = i + draw(state, c->pose_count - i), pose = order[j];
        order[j] = order[i];
        order[i] = pose;
    }
    for (int i = 1; i < width; i++) {
        const int cut = draw(state, HUNDREDTHS + 1);
        int j = i;
        for (; j > 1 && cuts[j - 1] > cut; j--)
            cuts[j] = cuts[j - 1];
        cuts[j] = cut;
    }
    cuts[width] = HUNDREDTHS;
    for (int i = 0; i < width; i++)
        give(c, weights, order[i], (double)(cuts[i + 1] - cuts[i]) / HUNDREDTHS);
}

static void add_randoms(chooser *c, int count, int *order) {
    static const int widths[3] = {3, 5, 8};
    uint64_t state = 1;
    for (int i = 0; i < count; i++)
        add_random(c, &state, smaller(widths[i % 3], c->pose_count), order);
}

/* ---- choosing ---- */

static int most_of(const ex_trajectories_def *def, const ex_mixture_options *options) {
    if (options->most > 0)
        return options->most;
    const int by_size = SIZE_MOST / (def->triangle_count > 0 ? def->triangle_count : 1);
    return by_size > DEFAULT_MOST ? DEFAULT_MOST : by_size < LEAST_MOST ? LEAST_MOST : by_size;
}

static bool take_given(const ex_trajectories_def *def, const ex_mixture_options *options, exi_mixture_choice *choice) {
    const size_t count = (size_t)options->given_count, width = (size_t)def->example_count;
    choice->weights = exi_array_copy(options->given, count * width, sizeof *choice->weights);
    choice->kinds = exi_array_allocate(count, sizeof *choice->kinds);
    if (!choice->weights || !choice->kinds)
        return false;
    choice->count = choice->candidate_count = options->given_count;
    for (size_t i = 0; i < count; i++)
        choice->kinds[i] = EX_MIXTURE_GIVEN;
    for (size_t i = 0; i < count * width; i++)
        if (!def->examples[i % width])
            choice->weights[i] = 0;
    return true;
}

static bool choose(chooser *c, const ex_mixture_options *options, int most, int *order) {
    const long long p = c->pose_count, pairs = pairs_of(p), others = pairs_of(p - 1);
    const bool many = p >= 3, all = p >= 4; /* of three, all of them are thirds */
    group groups[GROUP_COUNT] = {[MIDDLES] = {add_middle, pairs, pairs, 0},
                                 [PATHS] = {add_path, TIME_COUNT * (p - 1), p - 1, 0},
                                 [THIRDS] = {add_thirds, p * (p - 1) * (p - 2) / 6, p * (p - 1) * (p - 2) / 6, 0},
                                 [OTHERS] = {add_other, TIME_COUNT * others, others, 0}};
    exi_mixture_choice *choice = c->choice;
    divide(groups, most);
    const long long together = count_apart(c);
    c->together_left = smaller(together, TOGETHER_MOST);
    long long candidates = all + (many ? options->random_count : 0), taken = candidates + c->together_left;
    candidates += together;
    for (int i = 0; i < GROUP_COUNT; i++) {
        candidates += groups[i].count;
        taken += groups[i].taken;
    }
    choice->candidate_count = smaller(candidates, INT32_MAX);
    choice->weights = calloc((size_t)taken * (size_t)c->example_count, sizeof *choice->weights);
    choice->kinds = exi_array_allocate((size_t)taken, sizeof *choice->kinds);
    if (!choice->weights || !choice->kinds)
        return false;
    for (int i = 0; i < GROUP_COUNT; i++)
        take(c, &groups[i]);
    if (together > 0) /* a walk over all pairs, in the order of thinning */
        take_part(c, &(group){.add = add_together}, 0, others, together > TOGETHER_MOST ? others - 1 : others);
    if (all) {
        double *weights = add(c, EX_MIXTURE_ALL);
        for (int i = 0; i < c->pose_count; i++)
            give(c, weights, i, 1.0 / c->pose_count);
    }
    if (many)
        add_randoms(c, options->random_count, order);
    return true;
}

bool exi_mixture_choose(const ex_trajectories_def *def, const ex_trajectories *trajectories,
                        const ex_mixture_options *options, exi_mixture_choice *choice) {
    *choice = (exi_mixture_choice){0};
    if (options->given)
        return take_given(def, options, choice);
    const size_t room = (size_t)def->example_count + 1;
    int *poses = exi_array_allocate(2 * room, sizeof *poses), count = 0;
    if (!poses)
        return false;
    poses[count++] = -1;
    for (int k = 0; k < def->example_count; k++)
        if (def->examples[k])
            poses[count++] = k;
    int *order = poses + room;
    for (int i = 0; i < count; i++)
        order[i] = i;
    chooser c = {.choice = choice,
                 .overlaps = trajectories->overlaps,
                 .example_count = def->example_count,
                 .poses = poses,
                 .pose_count = count};
    const bool done = choose(&c, options, most_of(def, options), order);
    free(poses);
    return done;
}

void exi_mixture_choice_release(exi_mixture_choice *choice) {
    free(choice->weights);
    free(choice->kinds);
    *choice = (exi_mixture_choice){0};
}
