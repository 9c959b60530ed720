/*
 * Stencils applied: sums against double, with any mixture of shared and loose rows; normals from tangents; strides; any
 * division of the work; reading back; invalid rows; failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/refine/stencils.h"
#include "support/check.h"
#include "support/failing_allocator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTROL = 40, MOST = 2000, WEIGHTS = 40000 };

/* Rows that the def points to. */
typedef struct sample {
    int offsets[MOST + 1], indices[WEIGHTS];
    double weights[WEIGHTS], tangents[2 * WEIGHTS];
    ex_stencil_rows rows;
} sample;

static void add_index(sample *s, int k, uint64_t *random) {
    int at = s->offsets[s->rows.vertex_count + 1]++;
    s->indices[at] = k;
    s->weights[at] = random_between(random, -0.2, 1);
    for (int c = 0; c < 2; c++)
        s->tangents[2 * at + c] = random_between(random, -1, 1);
}

/* Makes the row's weights sum up to 1. */
static void end_row(sample *s) {
    int begin = s->offsets[s->rows.vertex_count], end = s->offsets[++s->rows.vertex_count];
    double sum = 0;
    for (int i = begin; i < end; i++)
        sum += s->weights[i];
    for (int i = begin; i < end; i++)
        s->weights[i] /= sum;
}

/* Rows of `group` vertices with the same support, one group after the other, dealt out in turns so that they
 * interleave; supports of 1 to 12, one empty row at the end. */
static void fill(sample *s, const int *groups, int group_count, uint64_t seed) {
    uint64_t random = seed;
    *s = (sample){
        .rows = {.offsets = s->offsets, .indices = s->indices, .weights = s->weights, .tangents = s->tangents}};
    for (int turn = 0;; turn++) {
        bool any = false;
        for (int g = 0; g < group_count; g++) {
            if (turn >= groups[g])
                continue;
            any = true;
            s->offsets[s->rows.vertex_count + 1] = s->offsets[s->rows.vertex_count];
            int size = 1 + g % 12;
            for (int i = 0; i < size; i++)
                add_index(s, (g + i * 3) % 7 + i * 3 < CONTROL ? (g % 3) + i * 3 : i * 3, &random);
            end_row(s);
        }
        if (!any)
            break;
    }
    s->offsets[s->rows.vertex_count + 1] = s->offsets[s->rows.vertex_count];
    s->rows.vertex_count++;
}

static const int groups[] = {1,  2,  3,  4,  5,  7,   8,   9, 15, 16, 17, 18, 19,
                             31, 33, 64, 65, 70, 100, 130, 1, 1,  1,  2,  6,  1};
static sample samples[2];
static ex_stencils_def def;
static ex_stencil_rows levels[1];

static int set_up(void **state) {
    (void)state;
    fill(&samples[0], groups, (int)(sizeof groups / sizeof groups[0]), 1);
    fill(&samples[1], groups, 12, 2);
    levels[0] = samples[0].rows;
    levels[0].tangents = NULL;
    def = (ex_stencils_def){.control_count = CONTROL, .level_count = 1, .levels = levels, .limit = &samples[1].rows};
    return 0;
}

static ex_stencils *create(const ex_stencils_def *d) {
    ex_stencils *stencils = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_stencils_create(d, NULL, &stencils, &error) != EX_OK)
        fail_msg("%s", error.text);
    return stencils;
}

static void made_up_control(float *control, int stride, double far_away) {
    uint64_t random = 77;
    for (int i = 0; i < CONTROL; i++)
        for (int c = 0; c < 3; c++)
            control[i * stride + c] = (float)(far_away + random_between(&random, -1, 1));
}

static void sum_row(const ex_stencil_rows *rows, int v, const float *control, int stride, double out[3][3]) {
    memset(out, 0, sizeof(double[3][3]));
    for (int i = rows->offsets[v]; i < rows->offsets[v + 1]; i++)
        for (int c = 0; c < 3; c++) {
            double x = (double)control[rows->indices[i] * stride + c];
            out[0][c] += rows->weights[i] * x;
            out[1][c] += rows->tangents ? rows->tangents[2 * i] * x : 0;
            out[2][c] += rows->tangents ? rows->tangents[2 * i + 1] * x : 0;
        }
}

/* By hand: a segment split in two, and its normal. */
static void test_by_hand(void **state) {
    (void)state;
    const int offsets[] = {0, 1, 2, 4}, indices[] = {0, 1, 0, 1};
    const double weights[] = {1, 1, 0.25, 0.75};
    const double tangents[] = {-1, 0, 1, 0, -1, 0, 0, 2};
    const ex_stencil_rows rows = {3, offsets, indices, weights, tangents};
    ex_stencils *s = create(&(ex_stencils_def){.control_count = 2, .limit = &rows});
    const float control[] = {1, 0, 0, 0, 2, 0};
    float positions[9], normals[9], scratch[16];
    assert_true(ex_stencils_scratch_size(s) <= sizeof scratch);
    ex_stencils_apply(s, &(ex_refine){EX_LEVEL_LIMIT, control, 0, positions, 0, normals, 0}, NULL, scratch);
    const float expected[] = {1, 0, 0, 0, 2, 0, 0.25f, 1.5f, 0};
    assert_memory_equal(positions, expected, sizeof expected);
    /* The third vertex: t1 = -(1 0 0), t2 = (0 4 0). The others have only one tangent. */
    const float expected_normals[] = {0, 0, 0, 0, 0, 0, 0, 0, -1};
    for (int i = 0; i < 9; i++)
        assert_near((double)normals[i], (double)expected_normals[i], 0);
    assert_int_equal(ex_stencils_control_count(s), 2);
    assert_int_equal(ex_stencils_level_count(s), 0);
    assert_true(ex_stencils_has(s, 0) && ex_stencils_has(s, EX_LEVEL_LIMIT) && !ex_stencils_has(s, 1));
    assert_false(ex_stencils_has(s, -2));
    assert_int_equal(ex_stencils_vertex_count(s, 0), 2);
    assert_int_equal(ex_stencils_vertex_count(s, EX_LEVEL_LIMIT), 3);
    assert_int_equal(ex_stencils_vertex_count(s, 1), 0);
    assert_true(ex_stencils_has_tangents(s, EX_LEVEL_LIMIT) && !ex_stencils_has_tangents(s, 0));
    assert_false(ex_stencils_on_limit(s));
    ex_stencils_destroy(s);

    /* A level that is on the limit: the limit is that level. */
    s = create(&(ex_stencils_def){.control_count = 2, .level_count = 1, .levels = &rows});
    assert_true(ex_stencils_on_limit(s) && ex_stencils_has(s, EX_LEVEL_LIMIT));
    memset(positions, 0, sizeof positions);
    ex_stencils_apply(s, &(ex_refine){EX_LEVEL_LIMIT, control, 0, positions, 0, NULL, 0}, NULL, scratch);
    assert_memory_equal(positions, expected, sizeof expected);
    ex_stencils_destroy(s);
    const ex_stencil_rows bare = {3, offsets, indices, weights, NULL}, mixed[2] = {bare, rows};
    s = create(&(ex_stencils_def){.control_count = 2, .level_count = 2, .levels = mixed});
    assert_false(ex_stencils_on_limit(s) || ex_stencils_has(s, EX_LEVEL_LIMIT));
    ex_stencils_destroy(s);
}

static void test_sums(void **state) {
    (void)state;
    ex_stencils *s = create(&def);
    for (int pass = 0; pass < 8; pass++) {
        const int level = pass & 1 ? EX_LEVEL_LIMIT : 1;
        const int stride = pass & 2 ? 5 : 3, out_stride = pass & 4 ? 4 : 3;
        const ex_stencil_rows *rows = pass & 1 ? &samples[1].rows : &samples[0].rows;
        const int count = rows->vertex_count;
        float control[CONTROL * 5];
        made_up_control(control, stride, 0);
        float *positions = calloc((size_t)count * 4, sizeof(float)),
              *normals = calloc((size_t)count * 4, sizeof(float));
        void *scratch = malloc(ex_stencils_scratch_size(s));
        ex_refine refine = {level, control, (size_t)stride * 4, positions, (size_t)out_stride * 4, NULL, 0};
        if (pass & 1) {
            refine.normals = normals;
            refine.normal_stride = (size_t)out_stride * 4;
        }
        ex_stencils_apply(s, &refine, NULL, scratch);
        for (int v = 0; v < count; v++) {
            double expected[3][3], normal[3], length = 0;
            sum_row(rows, v, control, stride, expected);
            for (int c = 0; c < 3; c++) {
                assert_near((double)positions[v * out_stride + c], expected[0][c], 3e-6);
                normal[c] = expected[1][(c + 1) % 3] * expected[2][(c + 2) % 3] -
                            expected[1][(c + 2) % 3] * expected[2][(c + 1) % 3];
                length += normal[c] * normal[c];
            }
            for (int c = 0; c < 3 && (pass & 1) && length > 1e-4; c++)
                assert_near((double)normals[v * out_stride + c], normal[c] / sqrt(length), 1e-4);
            if (out_stride == 4)
                assert_true(positions[4 * v + 3] == 0 && normals[4 * v + 3] == 0);
        }
        free(positions);
        free(normals);
        free(scratch);
    }
    ex_stencils_destroy(s);
}

/* Far from the origin a sum of weights other than 1 shows first. */
static void test_far_away(void **state) {
    (void)state;
    ex_stencils *s = create(&def);
    float control[CONTROL * 3], *positions = malloc((size_t)samples[0].rows.vertex_count * 12);
    void *scratch = malloc(ex_stencils_scratch_size(s));
    for (int i = 0; i < 3 * CONTROL; i++)
        control[i] = 4096;
    ex_stencils_apply(s, &(ex_refine){.level = 1, .control = control, .positions = positions}, NULL, scratch);
    for (int i = 0; i < 3 * (samples[0].rows.vertex_count - 1); i++)
        assert_near((double)positions[i], 4096, 4096 * 2e-6);
    int count = ex_stencils_weight_count(s, 1), *offsets = malloc((MOST + 1) * sizeof(int));
    int *indices = malloc((size_t)count * sizeof(int));
    double *weights = malloc((size_t)count * sizeof(double));
    ex_stencils_read(s, 1, offsets, indices, weights, NULL);
    for (int v = 0; v + 1 < samples[0].rows.vertex_count; v++) {
        double sum = 0, largest = 0;
        for (int i = offsets[v]; i < offsets[v + 1]; i++) {
            sum += weights[i];
            largest = fabs(weights[i]) > largest ? fabs(weights[i]) : largest;
        }
        assert_near(sum, 1, 6e-8 * largest);
    }
    free(offsets);
    free(indices);
    free(weights);
    free(positions);
    free(scratch);
    ex_stencils_destroy(s);
}

/* The rows read back are those given, and make the same block again. */
static void test_read_back(void **state) {
    (void)state;
    ex_stencils *s = create(&def);
    static sample back[2];
    for (int i = 0; i < 2; i++) {
        const ex_stencil_rows *rows = i ? def.limit : &def.levels[0];
        int level = i ? EX_LEVEL_LIMIT : 1;
        assert_int_equal(ex_stencils_weight_count(s, level), rows->offsets[rows->vertex_count]);
        ex_stencils_read(s, level, back[i].offsets, back[i].indices, back[i].weights, i ? back[i].tangents : NULL);
        assert_memory_equal(back[i].offsets, rows->offsets, ((size_t)rows->vertex_count + 1) * sizeof(int));
        for (int k = 0; k < rows->offsets[rows->vertex_count]; k++) {
            assert_int_equal(back[i].indices[k], rows->indices[k]);
            assert_near(back[i].weights[k], rows->weights[k], 5e-7 * (1 + fabs(rows->weights[k])));
            for (int c = 0; c < 2 && i; c++)
                assert_near(back[i].tangents[2 * k + c], rows->tangents[2 * k + c], 1e-6);
        }
        back[i].rows = (ex_stencil_rows){rows->vertex_count, back[i].offsets, back[i].indices, back[i].weights,
                                         i ? back[i].tangents : NULL};
    }
    ex_stencils *again = create(&(ex_stencils_def){
        .control_count = CONTROL, .level_count = 1, .levels = &back[0].rows, .limit = &back[1].rows});
    assert_int_equal(ex_stencils_size(again), ex_stencils_size(s));
    assert_memory_equal(again, s, ex_stencils_size(s));
    ex_stencils_destroy(again);
    ex_stencils_destroy(s);
}

/* Pieces of any size, from the back. */
static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)grain;
    for (int end = count, size = *(int *)user; end > 0; end -= size)
        body(context, end > size ? end - size : 0, end);
}

static void test_any_cut(void **state) {
    (void)state;
    static sample many;
    int sizes[150];
    for (int i = 0; i < 150; i++)
        sizes[i] = i % 13 + 1;
    fill(&many, sizes, 150, 5);
    ex_stencils *s = create(&(ex_stencils_def){.control_count = CONTROL, .limit = &many.rows});
    size_t size = (size_t)many.rows.vertex_count * 12;
    float control[CONTROL * 3], *whole = malloc(2 * size), *cut = malloc(2 * size);
    void *scratch = malloc(ex_stencils_scratch_size(s));
    made_up_control(control, 3, 0);
    size_t half = size / 4;
    ex_stencils_apply(s, &(ex_refine){EX_LEVEL_LIMIT, control, 0, whole, 0, whole + half, 0}, NULL, scratch);
    for (int piece = 1; piece < 70; piece += 4) {
        memset(cut, 0, 2 * size);
        ex_tasks tasks = {run_backwards, &piece};
        ex_stencils_apply(s, &(ex_refine){EX_LEVEL_LIMIT, control, 0, cut, 0, cut + half, 0}, &tasks, scratch);
        assert_memory_equal(whole, cut, 2 * size);
    }
    /* Normals alone are the same normals. */
    memset(cut, 0, 2 * size);
    ex_stencils_apply(s, &(ex_refine){.level = EX_LEVEL_LIMIT, .control = control, .normals = cut + half}, NULL,
                      scratch);
    assert_memory_equal(whole + half, cut + half, size);
    free(whole);
    free(cut);
    free(scratch);
    ex_stencils_destroy(s);
}

/* Vertices with the same support share it, and only those: this makes evaluation fast. */
static void test_layout(void **state) {
    (void)state;
    ex_stencils *s = create(&def);
    const exi_stencil_table *table = exi_stencils_table(s, 1);
    const exi_stencil_batch *batches = (const exi_stencil_batch *)((uintptr_t)s + (uintptr_t)table->batches);
    int shared = 0, loose = 0;
    for (int b = 0; b < table->batch_count; b++) {
        *(batches[b].width ? &shared : &loose) += batches[b].vertex_count;
        if (batches[b].width) {
            assert_in_range(batches[b].width, EXI_STENCIL_PAD, EXI_BATCH_SHARED);
            assert_in_range(batches[b].width - batches[b].vertex_count, 0, EXI_STENCIL_PAD / 2 - 1);
            assert_int_equal(batches[b].width % EXI_STENCIL_PAD, 0);
            assert_int_equal(batches[b].weights % EXI_STENCIL_BLOCK, 0);
        } else
            assert_in_range(batches[b].vertex_count, 1, EXI_BATCH_LOOSE);
    }
    assert_int_equal(shared + loose, table->vertex_count);
    assert_true(shared > 5 * loose);
    ex_stencils_destroy(s);
}

/* Hundreds of rows of one size, all with different supports: loose batches, of a size that can be divided among
 * tasks. */
static void test_all_loose(void **state) {
    (void)state;
    static sample pairs;
    uint64_t random = 8;
    pairs.rows = (ex_stencil_rows){0, pairs.offsets, pairs.indices, pairs.weights, NULL};
    for (int a = 0; a < CONTROL; a++)
        for (int b = a + 1; b < CONTROL; b++) {
            pairs.offsets[pairs.rows.vertex_count + 1] = pairs.offsets[pairs.rows.vertex_count];
            add_index(&pairs, a, &random);
            add_index(&pairs, b, &random);
            pairs.rows.vertex_count++;
        }
    ex_stencils *s = create(&(ex_stencils_def){.control_count = CONTROL, .level_count = 1, .levels = &pairs.rows});
    const exi_stencil_table *table = exi_stencils_table(s, 1);
    const exi_stencil_batch *batches = (const exi_stencil_batch *)((uintptr_t)s + (uintptr_t)table->batches);
    for (int b = 0; b < table->batch_count; b++) {
        assert_int_equal(batches[b].width, 0);
        assert_in_range(batches[b].vertex_count, 1, EXI_BATCH_LOOSE);
    }
    float control[CONTROL * 3], *positions = malloc((size_t)pairs.rows.vertex_count * 12);
    void *scratch = malloc(ex_stencils_scratch_size(s));
    made_up_control(control, 3, 0);
    ex_stencils_apply(s, &(ex_refine){.level = 1, .control = control, .positions = positions}, NULL, scratch);
    for (int v = 0; v < pairs.rows.vertex_count; v++) {
        double expected[3][3];
        sum_row(&pairs.rows, v, control, 3, expected);
        for (int c = 0; c < 3; c++)
            assert_near((double)positions[3 * v + c], expected[0][c], 1e-6);
    }
    free(positions);
    free(scratch);
    ex_stencils_destroy(s);
}

/* Small and large forms have normals too, needles and points do not. */
static void test_sizes_of_normals(void **state) {
    (void)state;
    const int offsets[] = {0, 3}, indices[] = {0, 1, 2};
    const double weights[] = {1, 0, 0}, tangents[] = {-1, -1, 1, 0, 0, 1};
    const ex_stencil_rows rows = {1, offsets, indices, weights, tangents};
    ex_stencils *s = create(&(ex_stencils_def){.control_count = 3, .limit = &rows});
    const double sizes[] = {1e-18, 1e-10, 1e-3, 1, 1e4, 1e12, 1e18};
    float scratch[32], normal[3];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        float size = (float)sizes[i];
        float control[] = {0, 0, 0, size, 0, 0, size, size, 0};
        ex_stencils_apply(s, &(ex_refine){.level = EX_LEVEL_LIMIT, .control = control, .normals = normal}, NULL,
                          scratch);
        assert_near((double)normal[2], 1, 1e-6);
        assert_near((double)normal[0], 0, 1e-6);
    }
    const float flat[] = {0.1f, 0.2f, 0.3f, 0.2f, 0.4f, 0.6f, 0.4f, 0.8f, 1.2000002f},
                bad[] = {0, 0, 0, NAN, 0, 0, 0, 1, 0};
    ex_stencils_apply(s, &(ex_refine){.level = EX_LEVEL_LIMIT, .control = flat, .normals = normal}, NULL, scratch);
    assert_true(normal[0] == 0 && normal[1] == 0 && normal[2] == 0);
    ex_stencils_apply(s, &(ex_refine){.level = EX_LEVEL_LIMIT, .control = bad, .normals = normal}, NULL, scratch);
    assert_true(normal[0] == 0 && normal[1] == 0 && normal[2] == 0);
    ex_stencils_destroy(s);
}

static void test_level_0(void **state) {
    (void)state;
    ex_stencils *s = create(&def);
    float control[CONTROL * 3], out[CONTROL * 3];
    void *scratch = malloc(ex_stencils_scratch_size(s));
    made_up_control(control, 3, 0);
    ex_stencils_apply(s, &(ex_refine){.level = 0, .control = control, .positions = out}, NULL, scratch);
    assert_memory_equal(control, out, sizeof out);
    free(scratch);
    ex_stencils_destroy(s);
}

static void test_bad_rows(void **state) {
    (void)state;
    const int good_offsets[] = {0, 2, 4}, good_indices[] = {0, 1, 1, 2};
    const double good_weights[] = {0.5, 0.5, 0.5, 0.5};
    for (int i = 0; i < 13; i++) {
        int offsets[3], indices[4];
        double weights[4], tangents[8] = {0};
        memcpy(offsets, good_offsets, sizeof offsets);
        memcpy(indices, good_indices, sizeof indices);
        memcpy(weights, good_weights, sizeof weights);
        ex_stencil_rows rows = {2, offsets, indices, weights, NULL};
        ex_stencils_def bad = {.control_count = 3, .level_count = 1, .levels = &rows};
        ex_result expected = EX_ERROR_DATA;
        const char *word = "level 1";
        switch (i) {
        case 0:
            offsets[0] = 1;
            break;
        case 1:
            offsets[1] = 5, offsets[2] = 4;
            break;
        case 2:
            indices[3] = 3;
            word = "vertex 1";
            break;
        case 3:
            indices[0] = -1;
            word = "vertex 0";
            break;
        case 4:
            indices[2] = 2;
            word = "vertex 1";
            break;
        case 5:
            weights[3] = NAN;
            word = "vertex 1";
            break;
        case 6:
            weights[0] = 1e39;
            word = "vertex 0";
            break;
        case 7:
            tangents[5] = INFINITY;
            rows.tangents = tangents;
            word = "vertex 1";
            break;
        case 8:
            rows.vertex_count = -1;
            expected = EX_ERROR_ARGUMENT;
            break;
        case 9:
            rows.weights = NULL;
            expected = EX_ERROR_ARGUMENT;
            break;
        case 10:
            bad.control_count = -1;
            expected = EX_ERROR_ARGUMENT;
            word = "count";
            break;
        case 11:
            bad.level_count = 33;
            expected = EX_ERROR_ARGUMENT;
            word = "levels";
            break;
        default:
            bad.levels = NULL;
            bad.limit = &rows;
            bad.level_count = 0;
            offsets[0] = 1;
            word = "limit";
            break;
        }
        ex_stencils *stencils = (ex_stencils *)1;
        ex_error error = {.result = EX_OK};
        assert_int_equal(ex_stencils_create(&bad, NULL, &stencils, &error), expected);
        assert_null(stencils);
        assert_sentence(&error, expected, word);
    }
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void test_misuse(void **state) {
    (void)state;
    ex_stencils *s = create(&def), *none = NULL;
    float control[CONTROL * 3] = {0}, out[3], scratch[4 * (CONTROL + 1)];
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    ex_stencils_apply(NULL, &(ex_refine){.level = 1, .control = control}, NULL, scratch);
    ex_stencils_apply(s, NULL, NULL, scratch);
    ex_stencils_apply(s, &(ex_refine){.level = 1}, NULL, scratch);
    ex_stencils_apply(s, &(ex_refine){.level = 2, .control = control}, NULL, scratch);
    ex_stencils_apply(s, &(ex_refine){.level = 1, .control = control, .normals = out}, NULL, scratch);
    ex_stencils_apply(s, &(ex_refine){.level = 1, .control = control}, NULL, NULL);
    ex_stencils_read(s, 2, NULL, NULL, NULL, NULL);
    ex_stencils_create(NULL, NULL, &none, NULL);
    assert_int_equal(misuses, 8);
    /* Strides and addresses that are not multiples of four bytes; strides shorter than a triple. */
    for (int i = 0; i < 7; i++) {
        const char *first = (const char *)control + (i == 4), *to = (const char *)out + (i == 5);
        const ex_refine bad = {.level = i == 6 ? 0 : 1,
                               .control = (const float *)(const void *)first,
                               .control_stride = i == 0   ? 13
                                                 : i == 1 ? 8
                                                          : 0,
                               .positions = (float *)(uintptr_t)to,
                               .position_stride = i == 2   ? 14
                                                  : i == 3 ? 4
                                                  : i == 6 ? 15
                                                           : 0};
        ex_stencils_apply(s, &bad, NULL, scratch);
        assert_int_equal(misuses, 9 + i);
    }
    ex_set_misuse_hook(NULL);
    ex_stencils_destroy(s);
    ex_stencils_destroy(NULL);
}

static ex_result attempt(void *context, const ex_allocator *allocator) {
    ex_stencils *stencils = NULL;
    ex_result result = ex_stencils_create(context, allocator, &stencils, NULL);
    ex_stencils_destroy(stencils);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    assert_int_equal(failing_allocator_sweep(attempt, &def), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),  cmocka_unit_test(test_sums),
        cmocka_unit_test(test_far_away), cmocka_unit_test(test_read_back),
        cmocka_unit_test(test_any_cut),  cmocka_unit_test(test_layout),
        cmocka_unit_test(test_level_0),  cmocka_unit_test(test_sizes_of_normals),
        cmocka_unit_test(test_bad_rows), cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_memory),   cmocka_unit_test(test_all_loose),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
