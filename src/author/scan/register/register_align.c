/*
 * Finds the similarity between points and their targets (S. Umeyama, 1991). With weights w of sum 1, means p' and q',
 * and M = sum of w (q - q')(p - p')^T:
 *
 *   R = the rotation that maximises tr(R^T M),   s = tr(R^T M) / sum of w |p - p'|^2,   t = q' - s R p'.
 */
#include "author/scan/register/register.h"

#include "author/base/eigen.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/weigh/driver.h"

#include <math.h>
#include <string.h>

/* Points count as on one line if their spread across it is this share of that along it. */
#define LINE 1e-4

static ex_result check(int count, const double (*points)[3], const double (*targets)[3], const double *weights,
                       ex_error *error) {
    int used = 0;
    for (int i = 0; i < count; i++) {
        bool finite = true;
        for (int k = 0; k < 3; k++)
            finite = finite && isfinite(points[i][k]) && isfinite(targets[i][k]);
        if (!finite)
            return ex_error_set(error, EX_ERROR_DATA, "landmark %d has a coordinate that is not finite", i + 1);
        if (weights && !(weights[i] >= 0 && isfinite(weights[i])))
            return ex_error_set(error, EX_ERROR_DATA, "the weight of landmark %d must be 0 or more", i + 1);
        used += !weights || weights[i] > 0;
    }
    if (used < 3)
        return ex_error_set(error, EX_ERROR_DATA, "an alignment needs at least 3 landmarks, but there are %d", used);
    return EX_OK;
}

static void mean(int count, const double (*points)[3], const double *weights, double out[3]) {
    double total = 0;
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < count; i++) {
        const double w = weights ? weights[i] : 1;
        total += w;
        for (int k = 0; k < 3; k++)
            out[k] += w * points[i][k];
    }
    for (int k = 0; k < 3; k++)
        out[k] /= total;
}

/* True if the points lie on one line, or all in one place. */
static bool on_line(int count, const double (*points)[3], const double *weights, const double centre[3]) {
    double spread[9] = {0}, values[3], vectors[9];
    for (int i = 0; i < count; i++) {
        double d[3];
        exi_subtract(points[i], centre, d);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                spread[3 * a + b] += (weights ? weights[i] : 1) * d[a] * d[b];
    }
    exi_eigen(spread, 3, values, vectors);
    return !(values[1] > LINE * LINE * values[0]);
}

ex_result ex_register_align(int count, const double (*points)[3], const double (*targets)[3], const double *weights,
                            bool with_scale, ex_similarity *similarity, ex_error *error) {
    if (count < 0 || (count > 0 && (!points || !targets)) || !similarity)
        return exi_misuse_error(error, __func__, "points, targets and a similarity are needed");
    ex_result result = check(count, points, targets, weights, error);
    if (result != EX_OK)
        return result;
    double p[3], q[3], m[3][3] = {{0}}, r[3][3], own = 0, total = 0;
    mean(count, points, weights, p);
    mean(count, targets, weights, q);
    if (on_line(count, points, weights, p) || on_line(count, targets, weights, q))
        return ex_error_set(error, EX_ERROR_DATA,
                            "all landmarks lie on one line, so they do not say how it is turned: add one beside it");
    for (int i = 0; i < count; i++) {
        const double w = weights ? weights[i] : 1;
        double a[3], b[3];
        exi_subtract(points[i], p, a);
        exi_subtract(targets[i], q, b);
        own += w * exi_dot3(a, a);
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                m[k][l] += w * b[k] * a[l];
    }
    exi_nearest_rotation((const double(*)[3])m, r);
    double trace = 0;
    for (int k = 0; k < 3; k++)
        trace += exi_dot3(r[k], m[k]);
    ex_similarity made = {.scale = with_scale ? trace / own : 1};
    memcpy(made.rotation, r, sizeof r);
    for (int k = 0; k < 3; k++)
        made.translation[k] = q[k] - made.scale * exi_dot3(r[k], p);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double at[3], d[3];
        memcpy(at, points[i], sizeof at);
        ex_similarity_apply(&made, 1, &at);
        exi_subtract(at, targets[i], d);
        sum += (weights ? weights[i] : 1) * exi_dot3(d, d);
        total += weights ? weights[i] : 1;
    }
    made.rms = sqrt(sum / total);
    *similarity = made;
    return EX_OK;
}

void ex_similarity_apply(const ex_similarity *similarity, int count, double (*points)[3]) {
    for (int i = 0; i < count; i++) {
        double at[3];
        for (int k = 0; k < 3; k++)
            at[k] = similarity->scale * exi_dot3(similarity->rotation[k], points[i]) + similarity->translation[k];
        memcpy(points[i], at, sizeof at);
    }
}
