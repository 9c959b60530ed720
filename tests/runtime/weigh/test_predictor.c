/*
 * Predictors: their formula against plain sums in double precision, the fade to known weights far from everything
 * learned, states and bytes that no learning makes, and definitions that are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/weigh/predictor.h"
#include "support/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Landmarks fill two groups and a part of a third. */
enum { FRAMES = 3, LENGTH = 66, COMPONENTS = 7, LANDMARKS = 37, WEIGHTS = 5 };

typedef struct tables {
    float centres[FRAMES * 3], mean[LENGTH], scales[LENGTH], components[LENGTH * COMPONENTS];
    float landmarks[LANDMARKS * COMPONENTS], base[WEIGHTS], slopes[COMPONENTS * WEIGHTS];
    float pulls[LANDMARKS * WEIGHTS], known[LANDMARKS * WEIGHTS];
} tables;

static void fill(uint64_t *random, float *numbers, int count, double most) {
    for (int i = 0; i < count; i++)
        numbers[i] = (float)random_between(random, -most, most);
}

/* Rows of length 1 at right angles, in columns of the table. */
static void fill_components(uint64_t *random, float *table) {
    double rows[COMPONENTS][LENGTH];
    for (int c = 0; c < COMPONENTS; c++) {
        double square = 0;
        for (int i = 0; i < LENGTH; i++)
            rows[c][i] = random_between(random, -1, 1);
        for (int o = 0; o < c; o++) {
            double product = 0;
            for (int i = 0; i < LENGTH; i++)
                product += rows[c][i] * rows[o][i];
            for (int i = 0; i < LENGTH; i++)
                rows[c][i] -= product * rows[o][i];
        }
        for (int i = 0; i < LENGTH; i++)
            square += rows[c][i] * rows[c][i];
        for (int i = 0; i < LENGTH; i++) {
            rows[c][i] /= sqrt(square);
            table[i * COMPONENTS + c] = (float)rows[c][i];
        }
    }
}

static ex_predictor_def define(tables *t, uint64_t seed) {
    uint64_t random = seed;
    fill(&random, t->centres, FRAMES * 3, 1);
    fill(&random, t->mean, LENGTH, 1);
    for (int i = 0; i < LENGTH; i++)
        t->scales[i] = (float)random_between(&random, 0.3, 1);
    fill_components(&random, t->components);
    fill(&random, t->landmarks, LANDMARKS * COMPONENTS, 1);
    fill(&random, t->base, WEIGHTS, 1);
    fill(&random, t->slopes, COMPONENTS * WEIGHTS, 1);
    fill(&random, t->pulls, LANDMARKS * WEIGHTS, 1);
    fill(&random, t->known, LANDMARKS * WEIGHTS, 1);
    return (ex_predictor_def){.frame_count = FRAMES,
                              .centres = t->centres,
                              .up = {0, 1, 0},
                              .step = 0.04,
                              .fastest = 100,
                              .sizes = true,
                              .component_count = COMPONENTS,
                              .landmark_count = LANDMARKS,
                              .weight_count = WEIGHTS,
                              .mean = t->mean,
                              .scales = t->scales,
                              .components = t->components,
                              .landmarks = t->landmarks,
                              .base = t->base,
                              .slopes = t->slopes,
                              .pulls = t->pulls,
                              .known = t->known,
                              .width = 1.3,
                              .familiar = 0.9,
                              .outside = 0.5};
}

static ex_predictor *make(const ex_predictor_def *def) {
    ex_predictor *predictor = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_predictor_create(def, NULL, &predictor, &error) != EX_OK)
        fail_msg("%s", error.text);
    return predictor;
}

static double evaluate(const ex_predictor *predictor, const float *state, double *weights) {
    void *scratch = malloc(ex_predictor_scratch_size(predictor));
    memset(scratch, 0xAB, ex_predictor_scratch_size(predictor));
    const double far = ex_predictor_evaluate(predictor, state, weights, scratch);
    free(scratch);
    return far;
}

/* ---- the formula ---- */

/* As the header has it, in double precision. */
static double plain(const ex_predictor_def *d, const float *state, double *weights) {
    double y[LENGTH], z[COMPONENTS] = {0}, squares[LANDMARKS], whole = 0, seen = 0, least = INFINITY;
    for (int i = 0; i < LENGTH; i++) {
        y[i] = (double)d->scales[i] * ((double)state[i] - (double)d->mean[i]);
        whole += y[i] * y[i];
        for (int c = 0; c < COMPONENTS; c++)
            z[c] += (double)d->components[i * COMPONENTS + c] * y[i];
    }
    for (int c = 0; c < COMPONENTS; c++)
        seen += z[c] * z[c];
    for (int m = 0; m < LANDMARKS; m++) {
        squares[m] = fmax(0, whole - seen - d->outside);
        for (int c = 0; c < COMPONENTS; c++)
            squares[m] += pow(z[c] - (double)d->landmarks[m * COMPONENTS + c], 2);
        least = fmin(least, squares[m]);
    }
    const double far = sqrt(least) / d->familiar, part = fmin(1, fmax(0, (far - 1.5) / 1.5));
    const double share = part * part * (3 - 2 * part);
    for (int w = 0; w < WEIGHTS; w++) {
        double learned = (double)d->base[w], known = 0, total = 0;
        for (int c = 0; c < COMPONENTS; c++)
            learned += (double)d->slopes[c * WEIGHTS + w] * z[c];
        for (int m = 0; m < LANDMARKS; m++) {
            const double k = exp(-(squares[m] - least) / (2 * d->familiar * d->familiar));
            learned += exp(-squares[m] / (2 * d->width * d->width)) * (double)d->pulls[m * WEIGHTS + w];
            known += k * (double)d->known[m * WEIGHTS + w];
            total += k;
        }
        weights[w] = (1 - share) * learned + share * known / total;
    }
    return far;
}

/* A state whose components are z. */
static void state_at(const ex_predictor_def *d, const double z[COMPONENTS], float *state) {
    for (int i = 0; i < LENGTH; i++) {
        double y = 0;
        for (int c = 0; c < COMPONENTS; c++)
            y += (double)d->components[i * COMPONENTS + c] * z[c];
        state[i] = (float)((double)d->mean[i] + y / (double)d->scales[i]);
    }
}

static void weights_are_the_formula(void **context) {
    (void)context;
    static tables t;
    const ex_predictor_def def = define(&t, 1);
    ex_predictor *predictor = make(&def);
    uint64_t random = 2;
    int bands[3] = {0};
    for (int round = 0; round < 600; round++) {
        float state[LENGTH];
        double z[COMPONENTS], weights[WEIGHTS], expected[WEIGHTS];
        const double reach = random_between(&random, 0, 4), noise = round % 3 == 0 ? 0.4 : 0;
        for (int c = 0; c < COMPONENTS; c++)
            z[c] = reach * random_between(&random, -1, 1);
        state_at(&def, z, state);
        for (int i = 0; i < LENGTH; i++)
            state[i] += (float)random_between(&random, -noise, noise);
        const double far = evaluate(predictor, state, weights), right = plain(&def, state, expected);
        bands[right < 1.5 ? 0 : right < 3 ? 1 : 2]++;
        assert_near(far, right, 1e-4 * (1 + right));
        assert_row_near(weights, expected, WEIGHTS, 2e-4);
    }
    for (int i = 0; i < 3; i++)
        assert_true(bands[i] > 30);
    ex_predictor_destroy(predictor);
}

static void equal_states_give_equal_bytes(void **context) {
    (void)context;
    static tables t;
    const ex_predictor_def def = define(&t, 3);
    ex_predictor *one = make(&def), *other = make(&def);
    uint64_t random = 4;
    for (int round = 0; round < 50; round++) {
        float state[LENGTH];
        double weights[2][WEIGHTS];
        fill(&random, state, LENGTH, round % 2 ? 1 : 4);
        const double far = evaluate(one, state, weights[0]);
        assert_true(far == evaluate(other, state, weights[1]));
        assert_memory_equal(weights[0], weights[1], sizeof weights[0]);
    }
    ex_predictor_destroy(one);
    ex_predictor_destroy(other);
}

/* From a landmark outwards: the distance grows, weights never jump, and in the end lie among the known ones. */
static void far_states_fade_to_known_weights(void **context) {
    (void)context;
    static tables t;
    ex_predictor_def def = define(&t, 5);
    def.outside = 0;
    ex_predictor *predictor = make(&def);
    double before[WEIGHTS], weights[WEIGHTS], previous = 0, low[WEIGHTS], high[WEIGHTS];
    for (int w = 0; w < WEIGHTS; w++) {
        low[w] = high[w] = (double)def.known[w];
        for (int m = 1; m < LANDMARKS; m++) {
            low[w] = fmin(low[w], (double)def.known[m * WEIGHTS + w]);
            high[w] = fmax(high[w], (double)def.known[m * WEIGHTS + w]);
        }
    }
    for (int step = 0; step <= 4000; step++) {
        float state[LENGTH];
        double z[COMPONENTS];
        for (int c = 0; c < COMPONENTS; c++)
            z[c] = step * 0.002 / sqrt(COMPONENTS);
        state_at(&def, z, state);
        const double far = evaluate(predictor, state, weights);
        for (int w = 0; w < WEIGHTS; w++) {
            if (step > 0)
                assert_near(weights[w], before[w], 0.03);
            if (far >= 3)
                assert_true(weights[w] >= low[w] - 1e-5 && weights[w] <= high[w] + 1e-5);
        }
        if (step > 2000)
            assert_true(far > previous);
        previous = far;
        memcpy(before, weights, sizeof before);
    }
    assert_true(previous > 4);
    ex_predictor_destroy(predictor);
}

/* Numbers that the components do not see make a state unfamiliar too. */
static void unseen_numbers_are_unfamiliar(void **context) {
    (void)context;
    static tables t;
    ex_predictor_def def = define(&t, 6);
    memset(t.components, 0, sizeof t.components);
    for (int c = 0; c < COMPONENTS; c++)
        t.components[c * COMPONENTS + c] = 1;
    for (int i = 0; i < LENGTH; i++)
        t.scales[i] = 1;
    memset(t.landmarks, 0, COMPONENTS * sizeof(float));
    ex_predictor *predictor = make(&def);
    float state[LENGTH];
    double weights[WEIGHTS];
    memcpy(state, t.mean, sizeof state);
    assert_near(evaluate(predictor, state, weights), 0, 1e-6);
    state[LENGTH - 1] += 0.7F; /* 0.49, and 0.5 was met */
    assert_near(evaluate(predictor, state, weights), 0, 1e-6);
    state[LENGTH - 1] = t.mean[LENGTH - 1] + 5;
    assert_near(evaluate(predictor, state, weights), sqrt(24.5) / 0.9, 1e-4);
    ex_predictor_destroy(predictor);
}

/* ---- states and bytes that no learning makes ---- */

static void assert_finite(const ex_predictor *predictor, const float *state) {
    double *weights = malloc((size_t)predictor->weight_count * sizeof *weights);
    const double far = evaluate(predictor, state, weights);
    assert_true(isfinite(far) && far >= 0);
    for (int w = 0; w < predictor->weight_count; w++)
        assert_true(isfinite(weights[w]));
    free(weights);
}

static void fill_wild(uint64_t *random, float *state, int length) {
    static const float wild[] = {NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, FLT_MIN, 1e20F, -1e10F, 0, 1};
    for (int i = 0; i < length; i++)
        state[i] = wild[random_bits(random) % 10];
}

static void wild_states_give_finite_weights(void **context) {
    (void)context;
    static tables t;
    const ex_predictor_def def = define(&t, 7);
    ex_predictor *predictor = make(&def);
    uint64_t random = 8;
    float state[LENGTH];
    for (int round = 0; round < 200; round++) {
        fill_wild(&random, state, LENGTH);
        assert_finite(predictor, state);
    }
    for (int i = 0; i < LENGTH; i++)
        state[i] = NAN;
    assert_finite(predictor, state);
    ex_predictor_destroy(predictor);
}

/* The largest numbers that are accepted. */
static void largest_tables_give_finite_weights(void **context) {
    (void)context;
    static tables t;
    ex_predictor_def def = define(&t, 9);
    uint64_t random = 10;
    float *const all[] = {t.centres, t.mean, t.scales, t.components, t.landmarks, t.base, t.slopes, t.pulls, t.known};
    const size_t sizes[] = {sizeof t.centres, sizeof t.mean,   sizeof t.scales, sizeof t.components, sizeof t.landmarks,
                            sizeof t.base,    sizeof t.slopes, sizeof t.pulls,  sizeof t.known};
    for (int i = 0; i < 9; i++)
        for (size_t k = 0; k < sizes[i] / sizeof(float); k++)
            all[i][k] = (random_bits(&random) & 1 ? -1 : 1) * (i == 3 ? 1.99F : i == 4 ? 9e11F : 9e17F);
    for (int widest = 0; widest < 2; widest++) {
        def.width = def.familiar = widest ? 9e5 : 2e-6;
        ex_predictor *predictor = make(&def);
        float state[LENGTH];
        for (int round = 0; round < 100; round++) {
            fill_wild(&random, state, LENGTH);
            assert_finite(predictor, state);
        }
        ex_predictor_destroy(predictor);
    }
}

static void damaged_bytes_are_refused_or_harmless(void **context) {
    (void)context;
    static tables t;
    const ex_predictor_def def = define(&t, 11);
    ex_predictor *predictor = make(&def);
    const size_t size = (size_t)predictor->size;
    unsigned char *copy = malloc(size);
    ex_predictor head;
    assert_true(exi_predictor_is_sound(predictor, size, &head));
    assert_memory_equal(&head, predictor, sizeof head);
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 37) {
        unsigned char *part = malloc(cut + 1);
        memcpy(part, predictor, cut);
        assert_false(exi_predictor_is_sound(part, cut, &head));
        free(part);
    }
    uint64_t random = 12;
    int sound = 0, broken = 0;
    float state[LENGTH];
    for (int round = 0; round < 4000; round++) {
        memcpy(copy, predictor, size);
        const size_t bits = 8 * (round % 2 ? size : sizeof head);
        for (int flips = 1 + round % 3; flips > 0; flips--) {
            const size_t bit = (size_t)(random_bits(&random) % bits);
            copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        if (!exi_predictor_is_sound(copy, size, &head)) {
            broken++;
            continue;
        }
        sound++;
        fill(&random, state, LENGTH, 3);
        const ex_predictor *damaged = (const ex_predictor *)(const void *)copy;
        assert_int_equal(ex_state_start(damaged->frame_count, EX_STATE_KIND_COUNT), LENGTH);
        assert_finite(damaged, state);
        fill_wild(&random, state, LENGTH);
        assert_finite(damaged, state);
    }
    assert_true(sound > 100 && broken > 100);
    free(copy);
    ex_predictor_destroy(predictor);
}

/* ---- definitions ---- */

static void a_description_makes_the_same_predictor(void **context) {
    (void)context;
    static tables t;
    const ex_predictor_def def = define(&t, 13);
    ex_predictor *one = make(&def);
    float landmarks[LANDMARKS * COMPONENTS];
    ex_predictor_def described;
    ex_predictor_describe(one, NULL, &described);
    assert_null(described.landmarks);
    ex_predictor_describe(one, landmarks, &described);
    assert_memory_equal(landmarks, t.landmarks, sizeof landmarks);
    assert_memory_equal(described.known, t.known, sizeof t.known);
    assert_true(described.sizes && described.outside == def.outside && described.fastest == def.fastest);
    ex_predictor *other = make(&described);
    assert_true(one->size == other->size);
    assert_memory_equal(one, other, (size_t)one->size);
    ex_predictor_destroy(one);
    ex_predictor_destroy(other);
}

static void refuse(const ex_predictor_def *def, ex_result result, const char *word) {
    ex_error error = {.result = EX_OK};
    ex_predictor *predictor = NULL;
    assert_int_equal(ex_predictor_create(def, NULL, &predictor, &error), result);
    assert_null(predictor);
    assert_sentence(&error, result, word);
}

static void wrong_definitions_are_refused(void **context) {
    (void)context;
    static tables t;
    const ex_predictor_def right = define(&t, 14);
    static const struct {
        size_t offset;
        int number;
        ex_result result;
    } counts[] = {
        {offsetof(ex_predictor_def, frame_count), 1, EX_ERROR_ARGUMENT},
        {offsetof(ex_predictor_def, frame_count), -1, EX_ERROR_ARGUMENT},
        {offsetof(ex_predictor_def, frame_count), EX_PREDICTOR_FRAME_MAX + 1, EX_ERROR_LIMIT},
        {offsetof(ex_predictor_def, component_count), 0, EX_ERROR_ARGUMENT},
        {offsetof(ex_predictor_def, component_count), EX_PREDICTOR_COMPONENT_MAX + 1, EX_ERROR_LIMIT},
        {offsetof(ex_predictor_def, landmark_count), 0, EX_ERROR_ARGUMENT},
        {offsetof(ex_predictor_def, landmark_count), EX_PREDICTOR_LANDMARK_MAX + 1, EX_ERROR_LIMIT},
        {offsetof(ex_predictor_def, weight_count), 0, EX_ERROR_ARGUMENT},
        {offsetof(ex_predictor_def, weight_count), EX_PREDICTOR_WEIGHT_MAX + 1, EX_ERROR_LIMIT},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        ex_predictor_def wrong = right;
        memcpy((char *)&wrong + counts[i].offset, &counts[i].number, sizeof(int));
        refuse(&wrong, counts[i].result, "a predictor has");
    }
    static const size_t numbers[] = {offsetof(ex_predictor_def, step), offsetof(ex_predictor_def, fastest),
                                     offsetof(ex_predictor_def, width), offsetof(ex_predictor_def, familiar)};
    static const double values[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) {
            ex_predictor_def wrong = right;
            memcpy((char *)&wrong + numbers[i], &values[k], sizeof(double));
            refuse(&wrong, EX_ERROR_ARGUMENT, "out of range");
        }
    ex_predictor_def wrong = right;
    wrong.outside = -1;
    refuse(&wrong, EX_ERROR_ARGUMENT, "out of range");
    wrong = right;
    wrong.up[1] = 2;
    refuse(&wrong, EX_ERROR_ARGUMENT, "'up'");
    t.pulls[3] = NAN;
    refuse(&right, EX_ERROR_DATA, "not finite");
    t.pulls[3] = 0;
    t.components[8] = 3;
    refuse(&right, EX_ERROR_DATA, "not finite");
}

static void kinds_have_names_and_places(void **context) {
    (void)context;
    assert_string_equal(ex_state_kind_name(EX_STATE_TURN), "turn");
    assert_string_equal(ex_state_kind_name(EX_STATE_SIZE), "size");
    assert_string_equal(ex_state_kind_name((ex_state_kind)99), "unknown");
    assert_int_equal(ex_state_start(FRAMES, EX_STATE_TURN), 0);
    assert_int_equal(ex_state_start(FRAMES, EX_STATE_UP), 24);
    assert_int_equal(ex_state_start(FRAMES, EX_STATE_VELOCITY), 27);
    assert_int_equal(ex_state_start(FRAMES, EX_STATE_SIZE), 63);
    assert_int_equal(ex_state_start(FRAMES, EX_STATE_KIND_COUNT), LENGTH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_the_formula),
        cmocka_unit_test(equal_states_give_equal_bytes),
        cmocka_unit_test(far_states_fade_to_known_weights),
        cmocka_unit_test(unseen_numbers_are_unfamiliar),
        cmocka_unit_test(wild_states_give_finite_weights),
        cmocka_unit_test(largest_tables_give_finite_weights),
        cmocka_unit_test(damaged_bytes_are_refused_or_harmless),
        cmocka_unit_test(a_description_makes_the_same_predictor),
        cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(kinds_have_names_and_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
