/*
 * Chooses a palette: cuts the cloud of a picture's colours into boxes, each time the box whose colours differ most in
 * sum, across its longest axis, where both halves differ least from their means (X. Wu, "Color quantization by dynamic
 * programming and principal analysis", 1992, without the turned axes). A few steps of Lloyd's algorithm then move each
 * colour to the mean of the pixels that take it.
 *
 * Distances are between sRGB codes, weighted for the eye: green counts most. A colour's weight is the root of its
 * number of pixels, times their mean share, so that a wide background does not take the colours of a small form.
 */
#include "author/formats/image/palette.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pixels that are looked at, over all images. */
#define PIXELS_MOST 400000
#define LLOYD_STEPS 3

static const int weights[3] = {2, 4, 3};

/* A colour of the pictures, and how much it counts. */
typedef struct tint {
    unsigned char rgb[4];
    float weight;
} tint;

typedef struct box {
    int first, count;
    int axis;     /* that of the largest deviation */
    double error; /* sum of squared distances from the mean */
} box;

int exi_palette_distance(const unsigned char a[3], const unsigned char b[3]) {
    int sum = 0;
    for (int k = 0; k < 3; k++)
        sum += weights[k] * (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

int exi_palette_find(exi_palette *p, const unsigned char rgb[3]) {
    const uint32_t colour = (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
    uint32_t *known = &p->known[(colour * 0x9E3779B1u) >> 16];
    /* Number 0 of black would be 0 too, which is searched for each time. */
    if (*known && (*known & 0xFFFFFF) == colour)
        return (int)(*known >> 24);
    int best = 0, least = exi_palette_distance(rgb, p->colours[0]);
    for (int i = 1; i < p->count && least > 0; i++) {
        const int distance = exi_palette_distance(rgb, p->colours[i]);
        if (distance < least) {
            least = distance;
            best = i;
        }
    }
    *known = (uint32_t)best << 24 | colour;
    return best;
}

/* ---- the colours of the pictures ---- */

static int compare_codes(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Gathers pixels at even distances, as numbers; returns how many. */
static size_t gather(uint32_t *codes, int image_count, const ex_image *const *images) {
    size_t total = 0, count = 0, at = 0;
    for (int i = 0; i < image_count; i++)
        total += (size_t)images[i]->width * (size_t)images[i]->height;
    const size_t step = total / PIXELS_MOST + 1;
    for (int i = 0; i < image_count; i++) {
        const size_t pixels = (size_t)images[i]->width * (size_t)images[i]->height;
        for (; at < pixels; at += step) {
            const unsigned char *p = images[i]->pixels + 4 * at;
            codes[count++] = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
        }
        at -= pixels;
    }
    return count;
}

/* Makes each colour once, with its weight. Returns their number. */
static int count_tints(uint32_t *codes, size_t count, tint *tints) {
    int made = 0;
    qsort(codes, count, sizeof *codes, compare_codes);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && codes[end] == codes[i];)
            end++;
        tints[made++] = (tint){
            {(unsigned char)(codes[i] >> 16), (unsigned char)(codes[i] >> 8 & 255), (unsigned char)(codes[i] & 255)},
            powf((float)(end - i), 0.7f)};
    }
    return made;
}

/* ---- boxes ---- */

static void measure(box *b, const tint *tints) {
    double sum[3] = {0, 0, 0}, squares[3] = {0, 0, 0}, weight = 0, most = -1;
    for (int i = b->first; i < b->first + b->count; i++) {
        const double w = (double)tints[i].weight;
        weight += w;
        for (int k = 0; k < 3; k++) {
            sum[k] += w * tints[i].rgb[k];
            squares[k] += w * tints[i].rgb[k] * tints[i].rgb[k];
        }
    }
    b->error = 0;
    for (int k = 0; k < 3; k++) {
        const double error = weights[k] * (squares[k] - sum[k] * sum[k] / weight);
        b->error += error;
        if (error > most) {
            most = error;
            b->axis = k;
        }
    }
}

static int compare_red(const void *a, const void *b) {
    return ((const tint *)a)->rgb[0] - ((const tint *)b)->rgb[0];
}
static int compare_green(const void *a, const void *b) {
    return ((const tint *)a)->rgb[1] - ((const tint *)b)->rgb[1];
}
static int compare_blue(const void *a, const void *b) {
    return ((const tint *)a)->rgb[2] - ((const tint *)b)->rgb[2];
}

/* Cuts a box where the sum of both errors along its axis is least: where left^2 / weight + right^2 / weight of the sums
 * is largest. False if all its colours are equal along it. */
static bool cut(box *b, tint *tints, box *other) {
    static int (*const compare[3])(const void *, const void *) = {compare_red, compare_green, compare_blue};
    tint *list = tints + b->first;
    const int axis = b->axis;
    double sum = 0, weight = 0, left = 0, left_weight = 0, most = -1;
    int at = 0;
    qsort(list, (size_t)b->count, sizeof *list, compare[axis]);
    for (int i = 0; i < b->count; i++) {
        sum += (double)list[i].weight * list[i].rgb[axis];
        weight += (double)list[i].weight;
    }
    for (int i = 0; i + 1 < b->count; i++) {
        left += (double)list[i].weight * list[i].rgb[axis];
        left_weight += (double)list[i].weight;
        if (list[i].rgb[axis] == list[i + 1].rgb[axis])
            continue;
        const double right = sum - left, gain = left * left / left_weight + right * right / (weight - left_weight);
        if (gain > most) {
            most = gain;
            at = i + 1;
        }
    }
    if (at == 0)
        return false;
    *other = (box){.first = b->first + at, .count = b->count - at};
    b->count = at;
    measure(b, tints);
    measure(other, tints);
    return true;
}

static int cut_all(box *boxes, int most, tint *tints, int tint_count) {
    int count = 1;
    boxes[0] = (box){.first = 0, .count = tint_count};
    measure(&boxes[0], tints);
    while (count < most) {
        int worst = 0;
        for (int i = 1; i < count; i++)
            worst = boxes[i].error > boxes[worst].error ? i : worst;
        if (!(boxes[worst].error > 0) || !cut(&boxes[worst], tints, &boxes[count]))
            break;
        count++;
    }
    return count;
}

/* Sets a colour to the mean of the tints whose number is its own. */
static void set_means(exi_palette *p, const tint *tints, int tint_count, const unsigned char *numbers) {
    double sums[256][4] = {{0}};
    for (int i = 0; i < tint_count; i++) {
        double *sum = sums[numbers[i]];
        for (int k = 0; k < 3; k++)
            sum[k] += (double)tints[i].weight * tints[i].rgb[k];
        sum[3] += (double)tints[i].weight;
    }
    for (int c = 0; c < p->count; c++)
        for (int k = 0; sums[c][3] > 0 && k < 3; k++)
            p->colours[c][k] = (unsigned char)(sums[c][k] / sums[c][3] + 0.5);
}

static void settle(exi_palette *p, const tint *tints, int tint_count, unsigned char *numbers, const box *boxes) {
    for (int c = 0; c < p->count; c++)
        memset(numbers + boxes[c].first, c, (size_t)boxes[c].count);
    set_means(p, tints, tint_count, numbers);
    for (int step = 0; step < LLOYD_STEPS; step++) {
        memset(p->known, 0, sizeof p->known);
        for (int i = 0; i < tint_count; i++)
            numbers[i] = (unsigned char)exi_palette_find(p, tints[i].rgb);
        set_means(p, tints, tint_count, numbers);
    }
    memset(p->known, 0, sizeof p->known);
}

ex_result exi_palette_choose(exi_palette *p, int most, int image_count, const ex_image *const *images,
                             ex_error *error) {
    const size_t room = PIXELS_MOST + (size_t)image_count + 1;
    uint32_t *codes = exi_array_allocate(room, sizeof *codes);
    tint *tints = exi_array_allocate(room, sizeof *tints);
    unsigned char *numbers = exi_array_allocate(room, 1);
    ex_result result = codes && tints && numbers ? EX_OK : ex_error_memory(error, "a palette", room * sizeof *tints);
    *p = (exi_palette){.count = 1};
    if (result == EX_OK) {
        box boxes[256];
        const int count = count_tints(codes, gather(codes, image_count, images), tints);
        if (count > 0) {
            p->count = cut_all(boxes, most, tints, count);
            settle(p, tints, count, numbers, boxes);
        }
    }
    free(codes);
    free(tints);
    free(numbers);
    return result;
}
