/*
 * Adds targets for what the rig's own targets cannot express. Each frame's true vertices are un-posed through the
 * file's skin (Shape by Example, equation 7, damped where the skin collapses). The residual after rest and targets,
 *
 *     r_f = unpose_f(x_f) - rest - sum over k of a_fk target_k,
 *
 * is a column of a matrix of 3 V rows. Its best approximation of rank N is its truncated singular value decomposition:
 * the leading left singular vectors become targets, and each frame's weights are its projections onto them. They come
 * from the eigenvectors u_i of the Gram matrix G_fg = r_f . r_g, which is small: sum over f of u_if r_f has the length
 * sqrt(lambda_i). For long motions, evenly spread frames give the vectors, and all frames are projected.
 */
#include "author/bake/bake.h"
#include "author/base/eigen.h"

#include "author/base/array.h"
#include "runtime/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MOST  512
#define SAMPLES_BYTES ((size_t)768 << 20)
/* Numbers of a row processed together, for all rows, so that they stay in the cache. */
#define BLOCK 1024

typedef struct decomposition {
    exi_bake *bake;
    size_t numbers; /* length of a row: 3 vertex_count */
    int sample_count;
    int *samples;    /* [sample_count] frames */
    float *rows;     /* [sample_count][numbers]: residuals, reduced as targets are taken out */
    double *gram;    /* [sample_count][sample_count] */
    double *values;  /* [sample_count] */
    double *vectors; /* [sample_count][sample_count] */
    double *largest; /* [sample_count] errors while choosing */
    int count, most; /* numbers of targets */
    float *targets;  /* [most][numbers], each of length 1 */
    double *weights; /* [frame_count][most] */
} decomposition;

static ex_result no_memory(const decomposition *d) {
    return ex_error_memory(d->bake->error, "decomposing the motion",
                           ((size_t)d->sample_count + (size_t)d->most) * d->numbers * sizeof(float));
}

/* Dot product in double of floats, with eight sums: the order of additions depends only on the length. */
static double dot(const float *a, const float *b, size_t count) {
    double sums[8] = {0};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t c = 0; c < 8; c++)
            sums[c] += (double)a[i + c] * (double)b[i + c];
    for (; i < count; i++)
        sums[0] += (double)a[i] * (double)b[i];
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

/* ---- residuals ---- */

static void find_left(const exi_bake *bake, int frame, const float *truth, exi_bake_room *room, float *left) {
    const size_t numbers = 3 * (size_t)bake->vertex_count;
    exi_bake_pose(bake, bake->locals + (size_t)frame * (size_t)bake->joint_count, room);
    exi_bake_form(bake, bake->weights + (size_t)frame * (size_t)bake->target_count, room->form);
    if (room->palette) {
        const ex_unpose_job job = {.posed = truth, .rest = room->form, .out = room->loose};
        ex_skin_unpose(bake->skin, room->palette, &job);
        for (size_t i = 0; i < numbers; i++)
            left[i] = (float)(room->loose[i] - (double)room->form[i]);
    } else {
        for (size_t i = 0; i < numbers; i++)
            left[i] = truth[i] - room->form[i];
    }
}

static void collect(void *context, int index, int frame, const float *truth, exi_bake_room *room) {
    decomposition *d = context;
    find_left(d->bake, frame, truth, room, d->rows + (size_t)index * d->numbers);
}

static void multiply_rows(void *context, int begin, int end) {
    const decomposition *d = context;
    const size_t n = (size_t)d->sample_count;
    for (size_t at = 0; at < d->numbers; at += BLOCK) {
        const size_t count = d->numbers - at < BLOCK ? d->numbers - at : BLOCK;
        for (size_t s = (size_t)begin; s < (size_t)end; s++)
            for (size_t t = 0; t <= s; t++)
                d->gram[s * n + t] += dot(d->rows + s * d->numbers + at, d->rows + t * d->numbers + at, count);
    }
}

static ex_result sample(decomposition *d) {
    const exi_bake *bake = d->bake;
    const size_t fits = SAMPLES_BYTES / (d->numbers * sizeof(float) + 1);
    int most = fits < 16 ? 16 : fits > SAMPLES_MOST ? SAMPLES_MOST : (int)fits;
    d->sample_count = bake->frame_count < most ? bake->frame_count : most;
    const size_t n = (size_t)d->sample_count;
    d->samples = exi_array_allocate(n, sizeof *d->samples);
    d->rows = exi_array_allocate(n * d->numbers, sizeof *d->rows);
    d->gram = calloc(n * n, sizeof *d->gram);
    d->values = exi_array_allocate(n, sizeof *d->values);
    d->vectors = exi_array_allocate(n * n, sizeof *d->vectors);
    d->largest = exi_array_allocate(n, sizeof *d->largest);
    if (!d->samples || !d->rows || !d->gram || !d->values || !d->vectors || !d->largest)
        return no_memory(d);
    for (int i = 0; i < d->sample_count; i++)
        d->samples[i] = d->sample_count > 1 ? (int)((int64_t)i * (bake->frame_count - 1) / (d->sample_count - 1)) : 0;
    const exi_bake_walk walk = {.frames = d->samples,
                                .count = d->sample_count,
                                .truth = EXI_BAKE_POSED,
                                .visit = collect,
                                .context = d,
                                .what = "un-posing frames",
                                .begin = 0.2,
                                .end = 0.35};
    return exi_bake_walk_frames(bake, &walk);
}

static void solve(decomposition *d) {
    const size_t n = (size_t)d->sample_count;
    exi_run(d->bake->options.tasks, d->sample_count, 1, multiply_rows, d);
    for (size_t s = 0; s < n; s++)
        for (size_t t = 0; t < s; t++)
            d->gram[t * n + s] = d->gram[s * n + t];
    exi_eigen(d->gram, d->sample_count, d->values, d->vectors);
}

/* ---- extracting targets ---- */

static void combine_range(void *context, int begin, int end) {
    decomposition *d = context;
    const double *vector = d->vectors + (size_t)d->count * (size_t)d->sample_count;
    float *target = d->targets + (size_t)d->count * d->numbers;
    for (size_t block = (size_t)begin; block < (size_t)end; block++) {
        const size_t at = block * BLOCK, count = d->numbers - at < BLOCK ? d->numbers - at : BLOCK;
        double sums[BLOCK] = {0};
        for (int s = 0; s < d->sample_count; s++) {
            const float *row = d->rows + (size_t)s * d->numbers + at;
            for (size_t i = 0; i < count; i++)
                sums[i] += vector[s] * (double)row[i];
        }
        for (size_t i = 0; i < count; i++)
            target[at + i] = (float)sums[i];
    }
}

static void take_out_range(void *context, int begin, int end) {
    decomposition *d = context;
    const float *target = d->targets + (size_t)d->count * d->numbers;
    for (int s = begin; s < end; s++) {
        float *row = d->rows + (size_t)s * d->numbers;
        const double part = dot(row, target, d->numbers);
        for (size_t i = 0; i < d->numbers; i++)
            row[i] = (float)((double)row[i] - part * (double)target[i]);
    }
}

/* Makes a target perpendicular to those before, as it would be without rounding. */
static void straighten(const decomposition *d, float *target) {
    for (int k = 0; k < d->count; k++) {
        const float *other = d->targets + (size_t)k * d->numbers;
        const double part = dot(target, other, d->numbers);
        for (size_t i = 0; i < d->numbers; i++)
            target[i] = (float)((double)target[i] - part * (double)other[i]);
    }
}

/* Takes the next target out of the rows. False if only the rounding of floats is left. */
static bool take_target(decomposition *d) {
    const double value = d->count < d->sample_count ? d->values[d->count] : 0;
    const double least = 1e-8 * d->bake->size;
    if (!(value > least * least * (double)d->numbers) || !(value > 1e-14 * d->values[0]))
        return false;
    const int blocks = (int)((d->numbers + BLOCK - 1) / BLOCK);
    float *target = d->targets + (size_t)d->count * d->numbers;
    exi_run(d->bake->options.tasks, blocks, 4, combine_range, d);
    straighten(d, target);
    const double length = sqrt(dot(target, target, d->numbers));
    if (!(length > 0))
        return false;
    for (size_t i = 0; i < d->numbers; i++)
        target[i] = (float)((double)target[i] / length);
    exi_run(d->bake->options.tasks, d->sample_count, 1, take_out_range, d);
    d->count++;
    return true;
}

/* Measures the distance that the residual moves a vertex once posed, by the linear part of the skin alone. */
static void measure_left(void *context, int index, int frame, const float *truth, exi_bake_room *room) {
    decomposition *d = context;
    const exi_bake *bake = d->bake;
    (void)truth;
    exi_bake_pose(bake, bake->locals + (size_t)frame * (size_t)bake->joint_count, room);
    memcpy(room->form, d->rows + (size_t)index * d->numbers, d->numbers * sizeof *room->form);
    if (room->palette) {
        for (size_t j = 0; j < (size_t)bake->joint_count; j++)
            for (size_t c = 0; c < 3; c++)
                room->matrices[12 * j + 4 * c + 3] = 0;
        const ex_palette_def def = {
            .method = EX_SKINNING_LINEAR, .joint_count = bake->joint_count, .matrices = room->matrices};
        room->palette = ex_palette_make(&def, room->palette_room);
        exi_bake_skin_form(bake->skin, room, bake->vertex_count, room->form);
    }
    double largest = 0;
    for (int v = 0; v < bake->vertex_count; v++) {
        const float *p = room->form + 3 * (size_t)v;
        const double square = (double)p[0] * (double)p[0] + (double)p[1] * (double)p[1] + (double)p[2] * (double)p[2];
        largest = square > largest ? square : largest;
    }
    d->largest[index] = sqrt(largest);
}

static ex_result is_near(decomposition *d, double tolerance, bool *near) {
    double left = 0;
    for (int i = d->count; i < d->sample_count; i++)
        left += d->values[i] > 0 ? d->values[i] : 0;
    /* Their mean error is too large already. */
    *near = sqrt(left / ((double)d->sample_count * d->bake->vertex_count)) <= tolerance;
    if (!*near)
        return EX_OK;
    const exi_bake_walk walk = {.frames = d->samples,
                                .count = d->sample_count,
                                .visit = measure_left,
                                .context = d,
                                .what = "choosing targets",
                                .begin = 0.35 + 0.2 * d->count / EXI_BAKE_TARGETS,
                                .end = 0.35 + 0.2 * d->count / EXI_BAKE_TARGETS};
    const ex_result result = exi_bake_walk_frames(d->bake, &walk);
    for (int i = 0; result == EX_OK && i < d->sample_count; i++)
        *near = *near && d->largest[i] <= tolerance;
    return result;
}

static ex_result choose(decomposition *d, int wanted, double tolerance) {
    /* Frames between the samples have not been looked at. */
    const double room = d->sample_count < d->bake->frame_count ? 0.5 * tolerance : tolerance;
    bool near = false;
    ex_result result = EX_OK;
    while (result == EX_OK && d->count < d->most && !near) {
        if (wanted == 0)
            result = is_near(d, room, &near);
        if (result == EX_OK && !near && !take_target(d))
            break;
    }
    return result;
}

/* ---- weights ---- */

static void project(void *context, int index, int frame, const float *truth, exi_bake_room *room) {
    decomposition *d = context;
    (void)index;
    find_left(d->bake, frame, truth, room, room->form);
    for (int k = 0; k < d->count; k++) {
        const float *target = d->targets + (size_t)k * d->numbers;
        const double part = dot(room->form, target, d->numbers);
        d->weights[(size_t)frame * (size_t)d->most + (size_t)k] = part;
        for (size_t i = 0; i < d->numbers; i++)
            room->form[i] = (float)((double)room->form[i] - part * (double)target[i]);
    }
}

static double largest_weight(const decomposition *d, int k) {
    double largest = 0;
    for (int f = 0; f < d->bake->frame_count; f++) {
        const double weight = fabs(d->weights[(size_t)f * (size_t)d->most + (size_t)k]);
        largest = weight > largest ? weight : largest;
    }
    return largest;
}

/* Adds a target, scaled so that its largest weight is 1, which suits programs with sliders. row [numbers]. */
static ex_result add_target(decomposition *d, int k, double size, float *row) {
    exi_bake *bake = d->bake;
    const float *target = d->targets + (size_t)k * d->numbers;
    for (size_t v = 0; v < d->numbers; v += 3) {
        double square = 0;
        for (size_t c = 0; c < 3; c++) {
            row[v + c] = (float)(size * (double)target[v + c]);
            square += (double)row[v + c] * (double)row[v + c];
        }
        if (square <= 1e-16 * bake->size * bake->size) /* too small to be seen */
            row[v] = row[v + 1] = row[v + 2] = 0;
    }
    char name[32];
    snprintf(name, sizeof name, "motion %d", k + 1);
    exi_bake_target *made = exi_bake_add_target(bake, name);
    return made ? exi_bake_fill_target(bake, made, row) : EX_ERROR_MEMORY;
}

/* Appends the targets and their weights to those of the bake. */
static ex_result append(decomposition *d) {
    exi_bake *bake = d->bake;
    const size_t before = (size_t)bake->target_count, total = before + (size_t)d->count;
    const size_t frames = (size_t)bake->frame_count;
    float *weights = exi_array_allocate(frames * total, sizeof *weights);
    float *row = exi_array_allocate(d->numbers, sizeof *row);
    ex_result result = weights && row ? EX_OK : no_memory(d);
    for (size_t f = 0; result == EX_OK && f < frames; f++)
        memcpy(weights + f * total, bake->weights + f * before, before * sizeof *weights);
    for (int k = 0; result == EX_OK && k < d->count; k++) {
        const double size = largest_weight(d, k);
        for (size_t f = 0; f < frames; f++)
            weights[f * total + before + (size_t)k] =
                (float)(size > 0 ? d->weights[f * (size_t)d->most + (size_t)k] / size : 0);
        result = add_target(d, k, size, row);
    }
    free(row);
    if (result != EX_OK) {
        free(weights);
        return result;
    }
    free(bake->weights);
    bake->weights = weights;
    return EX_OK;
}

ex_result exi_bake_decompose(exi_bake *bake, int wanted, double tolerance) {
    decomposition d = {.bake = bake, .numbers = 3 * (size_t)bake->vertex_count};
    d.most = wanted > 0 ? wanted : EXI_BAKE_TARGETS - bake->target_count;
    d.most = d.most < bake->frame_count ? d.most : bake->frame_count;
    if (d.most <= 0)
        return EX_OK;
    d.targets = exi_array_allocate((size_t)d.most * d.numbers, sizeof *d.targets);
    d.weights = exi_array_allocate((size_t)bake->frame_count * (size_t)d.most, sizeof *d.weights);
    ex_result result = d.targets && d.weights ? sample(&d) : no_memory(&d);
    if (result == EX_OK) {
        solve(&d);
        result = choose(&d, wanted, tolerance);
    }
    if (result == EX_OK && d.count > 0) {
        const exi_bake_walk walk = {.count = bake->frame_count,
                                    .truth = EXI_BAKE_POSED,
                                    .visit = project,
                                    .context = &d,
                                    .what = "weighing targets",
                                    .begin = 0.55,
                                    .end = 0.65};
        result = exi_bake_walk_frames(bake, &walk);
    }
    if (result == EX_OK && d.count > 0)
        result = append(&d);
    free(d.samples);
    free(d.rows);
    free(d.gram);
    free(d.values);
    free(d.vectors);
    free(d.largest);
    free(d.targets);
    free(d.weights);
    return result;
}
