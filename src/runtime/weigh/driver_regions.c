/*
 * Keys of a driver as seen by regions: turns a form into its inner products with the keys (DrivenShape, equation 2),
 *
 *     p_k = sum over the vertices in view of m_v (T_k^-1 P_k(v) - o(v)) . (T^-1 b(v) - o(v)),
 *
 * with T the view's moving frame at the form, T_k at the key, and o the mean of the keys. Differences from the mean are
 * stored as float, already times m, with the keys of a vertex's coordinate side by side: a form costs one
 * multiplication per key, coordinate and vertex. Sums are in float over a few dozen vertices, and then in double.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/simd.h"
#include "runtime/weigh/driver.h"

#include <math.h>
#include <string.h>

/* RUN: vertices summed in float. KEYS: keys summed at a time. */
enum { RUN = 32, KEYS = 16 };
/* Limit of the products of keys with keys over all regions: keeps the memory that a small file can request below 1
 * GB. */
enum { PRODUCTS = 1 << 27 };

static ex_result check(const ex_regions_def *def, ex_error *error) {
    if (!def || !def->driver || def->region_count < 1 || !def->regions || def->key_count < 1 || !def->keys)
        return exi_misuse_error(error, __func__, "views need a driver, a region and a key");
    if (def->region_count > EX_DRIVER_FRAME_MAX || def->key_count > EX_CONVEX_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "a driver has at most %d regions and %d keys, not %d and %d",
                            EX_DRIVER_FRAME_MAX, EX_CONVEX_MAX, def->region_count, def->key_count);
    if ((int64_t)def->region_count * def->key_count * def->key_count > PRODUCTS)
        return ex_error_set(error, EX_ERROR_LIMIT, "%d keys seen by %d regions are too many: use fewer keys or regions",
                            def->key_count, def->region_count);
    for (int r = 0; r < def->region_count; r++) {
        const ex_region *view = &def->regions[r];
        if (view->frame < 0 || view->frame >= def->driver->frame_count || view->count < 1)
            return ex_error_set(error, EX_ERROR_DATA, "region %d looks at %d vertices in frame %d of %d", r,
                                view->count, view->frame, def->driver->frame_count);
        for (int i = 0; i < view->count; i++)
            if (view->vertices[i] >= (uint32_t)def->driver->vertex_count || !(view->weights[i] > 0) ||
                !isfinite(view->weights[i]))
                return ex_error_set(error, EX_ERROR_DATA,
                                    "region %d looks at vertex %u of %d with weight %g (weights must be above 0)", r,
                                    (unsigned)view->vertices[i], def->driver->vertex_count, (double)view->weights[i]);
    }
    for (int k = 0; k < def->key_count; k++)
        for (size_t i = 0; i < 3 * (size_t)def->driver->vertex_count; i++)
            if (!isfinite(def->keys[k][i]))
                return ex_error_set(error, EX_ERROR_DATA, "vertex %zu of the driver is not finite in key %d", i / 3,
                                    k + 1);
    return EX_OK;
}

/* x = T^-1 y, T rigid: in the coordinates of the reference. */
static inline void bring_back(const float m[12], const float y[3], float x[3]) {
    const float d[3] = {y[0] - m[3], y[1] - m[7], y[2] - m[11]};
    for (int c = 0; c < 3; c++)
        x[c] = m[c] * d[0] + m[4 + c] * d[1] + m[8 + c] * d[2];
}

/* Features hold the key itself, in the view's frame, until the mean is known. */
static void fill_key(ex_regions *v, const ex_regions_def *def, int key, const float *matrices) {
    const uint32_t *starts = exi_driver_at(v, v->starts), *vertices = exi_driver_at(v, v->vertices);
    float *features = exi_driver_at(v, v->features);
    for (int r = 0; r < v->view_count; r++)
        for (uint32_t i = starts[r]; i < starts[r + 1]; i++) {
            float x[3];
            bring_back(matrices + 12 * (size_t)def->regions[r].frame, def->keys[key] + 3 * (size_t)vertices[i], x);
            for (int c = 0; c < 3; c++)
                features[(3 * (size_t)i + (size_t)c) * (size_t)v->width + (size_t)key] = x[c];
        }
}

static void centre_features(ex_regions *v) {
    const uint32_t *starts = exi_driver_at(v, v->starts);
    const float *weights = exi_driver_at(v, v->weights);
    float *means = exi_driver_at(v, v->means), *features = exi_driver_at(v, v->features);
    for (size_t i = 0; i < 3 * (size_t)starts[v->view_count]; i++) {
        float *row = features + i * (size_t)v->width;
        double mean = 0;
        for (int k = 0; k < v->key_count; k++)
            mean += (double)row[k] / v->key_count;
        means[i] = (float)mean;
        for (int k = 0; k < v->key_count; k++)
            row[k] = (row[k] - means[i]) * weights[i / 3];
    }
}

static void multiply_features(ex_regions *v) {
    const uint32_t *starts = exi_driver_at(v, v->starts);
    const float *weights = exi_driver_at(v, v->weights), *features = exi_driver_at(v, v->features);
    double *grams = exi_driver_at(v, v->grams);
    const size_t n = (size_t)v->key_count;
    for (int r = 0; r < v->view_count; r++)
        for (size_t i = 3 * (size_t)starts[r]; i < 3 * (size_t)starts[r + 1]; i++) {
            const float *row = features + i * (size_t)v->width;
            double *gram = grams + (size_t)r * n * n;
            for (size_t a = 0; a < n; a++)
                for (size_t b = 0; b <= a; b++)
                    gram[a * n + b] += (double)row[a] * (double)row[b] / (double)weights[i / 3];
        }
    for (int r = 0; r < v->view_count; r++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < a; b++)
                grams[((size_t)r * n + b) * n + a] = grams[((size_t)r * n + a) * n + b];
}

ex_result ex_regions_create(const ex_regions_def *def, const ex_allocator *allocator, ex_regions **regions,
                            ex_error *error) {
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    const size_t n = (size_t)def->key_count, width = (n + 3) / 4 * 4;
    size_t samples = 0;
    for (int r = 0; r < def->region_count; r++)
        samples += (size_t)def->regions[r].count;
    exi_size total = {.bytes = sizeof(ex_regions)}, room = {0};
    ex_regions head = {.view_count = def->region_count,
                       .key_count = def->key_count,
                       .width = (int32_t)width,
                       .frame_count = def->driver->frame_count};
    size_t features = 0;
    if (!exi_multiply(3 * width, samples, &features) || samples > UINT32_MAX)
        total.overflow = true;
    head.starts = exi_size_add(&total, (size_t)def->region_count + 1, sizeof(uint32_t), 16);
    head.frames = exi_size_add(&total, (size_t)def->region_count, sizeof(int32_t), 16);
    head.vertices = exi_size_add(&total, samples, sizeof(uint32_t), 16);
    head.weights = exi_size_add(&total, samples, sizeof(float), 16);
    head.means = exi_size_add(&total, samples, 3 * sizeof(float), 16);
    head.features = exi_size_add(&total, features, sizeof(float), EXI_ALIGN);
    head.grams = exi_size_add(&total, (size_t)def->region_count * n, n * sizeof(double), EXI_ALIGN);
    head.totals = exi_size_add(&total, (size_t)def->region_count, sizeof(double), 16);
    head.size = total.bytes;
    exi_size_add(&room, (size_t)def->driver->frame_count, 12 * sizeof(float), 16);
    ex_regions *made = total.overflow ? NULL : exi_block_create(allocator, total.bytes);
    float *matrices = made ? exi_allocate(allocator, room.bytes) : NULL;
    if (!matrices) {
        exi_block_destroy(made);
        return ex_error_memory(error, "the keys of the driver", total.bytes);
    }
    *made = head;
    uint32_t *starts = exi_driver_at(made, made->starts), *vertices = exi_driver_at(made, made->vertices);
    float *weights = exi_driver_at(made, made->weights);
    int32_t *frames = exi_driver_at(made, made->frames);
    double *totals = exi_driver_at(made, made->totals);
    for (int r = 0; r < def->region_count; r++) {
        const ex_region *view = &def->regions[r];
        frames[r] = view->frame;
        starts[r + 1] = starts[r] + (uint32_t)view->count;
        memcpy(vertices + starts[r], view->vertices, (size_t)view->count * sizeof *vertices);
        memcpy(weights + starts[r], view->weights, (size_t)view->count * sizeof *weights);
        for (int i = 0; i < view->count; i++)
            totals[r] += (double)view->weights[i];
    }
    for (int k = 0; k < def->key_count; k++) {
        const float *given = def->key_places ? def->key_places[k] : NULL;
        if (!given)
            ex_driver_place(def->driver, def->keys[k], matrices);
        fill_key(made, def, k, given ? given : matrices);
    }
    centre_features(made);
    multiply_features(made);
    exi_release(allocator, matrices, room.bytes);
    *regions = made;
    return EX_OK;
}

void ex_regions_destroy(ex_regions *views) {
    exi_block_destroy(views);
}

void ex_regions_points(const ex_regions *v, double *points) {
    const double *grams = exi_driver_at(v, v->grams);
    const size_t n = (size_t)v->key_count, views = (size_t)v->view_count;
    for (size_t k = 0; k < n; k++)
        for (size_t r = 0; r < views; r++)
            memcpy(points + (k * views + r) * n, grams + (r * n + k) * n, n * sizeof *points);
}

/* Computes the products of the vertices of a run with `quads` times four keys; quads is a constant at the call.
 * differences are three rows of RUN. */
EXI_KERNEL void sum_quads(const float *features, size_t width, const float (*differences)[RUN], int count, int quads,
                          double *sums) {
    exi_quad sum[KEYS / 4];
    for (int q = 0; q < quads; q++)
        sum[q] = exi_quad_splat(0);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            const exi_quad d = exi_quad_splat(differences[c][i]);
            const float *row = features + (3 * (size_t)i + (size_t)c) * width;
            for (int q = 0; q < quads; q++)
                sum[q] = exi_quad_madd(d, exi_quad_load(row + 4 * q), sum[q]);
        }
    for (int q = 0; q < quads; q++) {
        float four[4];
        exi_quad_store(four, sum[q]);
        for (int l = 0; l < 4; l++)
            sums[4 * q + l] += (double)four[l];
    }
}

static void sum_run(const float *features, size_t width, const float (*differences)[RUN], int count, int quads,
                    double *sums) {
    if (quads == 4)
        sum_quads(features, width, differences, count, 4, sums);
    else if (quads == 3)
        sum_quads(features, width, differences, count, 3, sums);
    else if (quads == 2)
        sum_quads(features, width, differences, count, 2, sums);
    else
        sum_quads(features, width, differences, count, 1, sums);
}

/* Computes the form minus the keys' mean in the view's frame, for a run of vertices, and returns its square; a vertex
 * that is not finite counts as the mean. Four vertices at a time; padding of the last four is not used. */
static double difference_run(const float *form, const uint32_t *vertices, const float *means, const float *weights,
                             const float m[12], int count, float (*differences)[RUN]) {
    float from[3][RUN], mean[3][RUN], weight[RUN];
    for (int i = 0; i < (count + 3) / 4 * 4; i++) {
        const int at = i < count ? i : count - 1;
        const float *y = form + 3 * (size_t)vertices[at];
        for (int c = 0; c < 3; c++) {
            from[c][i] = y[c];
            mean[c][i] = means[3 * at + c];
        }
        weight[i] = i < count ? weights[at] : 0;
    }
    exi_quad total = exi_quad_splat(0);
    const exi_quad zero = exi_quad_splat(0), most = exi_quad_splat(1e18F);
    for (int i = 0; i < count; i += 4) {
        exi_quad d[3], x[3], square = zero;
        for (int c = 0; c < 3; c++)
            d[c] = exi_quad_sub(exi_quad_load(from[c] + i), exi_quad_splat(m[4 * c + 3]));
        for (int c = 0; c < 3; c++) {
            x[c] = exi_quad_mul(exi_quad_splat(m[c]), d[0]);
            x[c] = exi_quad_madd(exi_quad_splat(m[4 + c]), d[1], x[c]);
            x[c] = exi_quad_madd(exi_quad_splat(m[8 + c]), d[2], x[c]);
            x[c] = exi_quad_sub(x[c], exi_quad_load(mean[c] + i));
            square = exi_quad_madd(x[c], x[c], square);
        }
        for (int c = 0; c < 3; c++) /* NaN is above nothing */
            exi_quad_store(differences[c] + i, exi_quad_pick(most, square, x[c], zero));
        total = exi_quad_madd(exi_quad_load(weight + i), exi_quad_pick(most, square, square, zero), total);
    }
    float four[4];
    exi_quad_store(four, total);
    return (double)four[0] + (double)four[1] + (double)four[2] + (double)four[3];
}

static void measure_view(const ex_regions *v, int view, const float *form, const float *matrix, double *point,
                         double *square) {
    const uint32_t *starts = exi_driver_at(v, v->starts), *vertices = exi_driver_at(v, v->vertices);
    const float *weights = exi_driver_at(v, v->weights), *means = exi_driver_at(v, v->means);
    const float *features = exi_driver_at(v, v->features);
    const size_t width = (size_t)v->width;
    double total = 0;
    memset(point, 0, (size_t)v->key_count * sizeof *point);
    for (uint32_t begin = starts[view]; begin < starts[view + 1]; begin += RUN) {
        const int count = starts[view + 1] - begin < RUN ? (int)(starts[view + 1] - begin) : RUN;
        float differences[3][RUN];
        total += difference_run(form, vertices + begin, means + 3 * (size_t)begin, weights + begin, matrix, count,
                                differences);
        for (size_t first = 0; first < width; first += KEYS) {
            const int quads = (int)((width - first < KEYS ? width - first : KEYS) / 4);
            double sums[KEYS] = {0};
            sum_run(features + 3 * (size_t)begin * width + first, width, (const float(*)[RUN])differences, count, quads,
                    sums);
            for (size_t k = first; k < (size_t)v->key_count && k < first + KEYS; k++)
                point[k] += sums[k - first];
        }
    }
    if (square)
        *square = total;
}

void ex_regions_measure(const ex_regions *v, const float *form, const float *matrices, double *point, double *squares) {
    const int32_t *frames = exi_driver_at(v, v->frames);
    for (int r = 0; r < v->view_count; r++)
        measure_view(v, r, form, matrices + 12 * (size_t)frames[r], point + (size_t)r * (size_t)v->key_count,
                     squares ? squares + r : NULL);
}
