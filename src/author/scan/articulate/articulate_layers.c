/*
 * Layers of what skinning leaves. Around each joint, the rests of the forms (un-posed form minus rest form) are guessed
 * from the rotations of a few joints by kernel ridge regression, which is what a gaussian weigher with a ridge does:
 *
 *   e(p) = sum over i, k of phi_i(p) (Phi + ridge)^-1_ik e_k,    phi_i(p) = exp(-1/2 sum over joints of d^2 /
 * falloff^2)
 *
 * with d the sine of half the angle between two rotations. The error of guessing each form from the others has a closed
 * form: with A = Phi + ridge, what remains of form i is the sum over k of A^-1_ik e_k / A^-1_ii. Joints, falloff and
 * ridge with the least error win; if that is hardly less than of no guess, there is no layer. Masks are skin weights,
 * blurred over the mesh.
 */
#include "author/scan/articulate/articulate_layers.h"
#include "author/base/array.h"
#include "author/scan/articulate/articulation.h"
#include "runtime/base/dense.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLURS = 4, AXES = 12 };
static const double falloffs[] = {0.08, 0.15, 0.25, 0.4, 0.7, 1.2, 2.5};
static const double ridges[] = {0.01, 0.03, 0.1, 0.3, 1, 3};
static const double least_gain = 0.03;
enum { FALLOFF_COUNT = sizeof falloffs / sizeof falloffs[0], RIDGE_COUNT = sizeof ridges / sizeof ridges[0] };

void ex_articulated_layers_destroy(ex_articulated_layers *layers) {
    if (!layers)
        return;
    for (int i = 0; layers->layers && i < layers->count; i++) {
        free(layers->layers[i].axes);
        free(layers->layers[i].mask);
    }
    for (int f = 0; layers->deltas && f < layers->form_count; f++)
        free(layers->deltas[f]);
    free(layers->layers);
    free(layers->deltas);
    free(layers);
}

/* ---- masks ---- */

/* Skin weights [joint_count][vertex_count], blurred; their sum stays 1. */
static float *make_masks(const exi_articulation *a) {
    const size_t vertices = (size_t)a->vertex_count, most = (size_t)a->influence_count;
    float *masks = calloc((size_t)a->joint_count * vertices, sizeof *masks);
    float *next = exi_array_allocate(vertices, sizeof *next);
    for (size_t i = 0; masks && next && i < vertices * most; i++)
        if (a->weights[i] > 0)
            masks[a->joints[i] * vertices + i / most] = (float)a->weights[i];
    for (int b = 0; masks && next && b < a->joint_count; b++) {
        float *mask = masks + (size_t)b * vertices;
        for (int round = 0; round < BLURS; round++) {
            for (int v = 0; v < a->vertex_count; v++) {
                const int begin = a->net.starts[v], end = a->net.starts[v + 1];
                float sum = 0;
                for (int i = begin; i < end; i++)
                    sum += mask[a->net.others[i]];
                next[v] = begin == end ? mask[v] : 0.5f * mask[v] + 0.5f * sum / (float)(end - begin);
            }
            memcpy(mask, next, vertices * sizeof *mask);
        }
    }
    free(next);
    if (next)
        return masks;
    free(masks);
    return NULL;
}

/* ---- kernels ---- */

double exi_art_kernel(double (*p)[4], double (*q)[4], const int *axes, int axis_count, double falloff) {
    double sum = 0;
    for (int i = 0; i < axis_count; i++) {
        const double *a = p[axes[i]], *b = q[axes[i]];
        const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        sum += 1 - dot * dot > 0 ? 1 - dot * dot : 0;
    }
    return exp(-0.5 * sum / (falloff * falloff));
}

/* The forms that count, and their rests around one joint. */
typedef struct guess {
    const exi_articulation *a;
    int count;
    const int *forms; /* [count] */
    double *products; /* [count][count] of rests, masked */
    double *system;   /* [count][2 count] */
} guess;

/* Error of guessing each form from the others. */
static double guess_error(const guess *g, const int *axes, int axis_count, double falloff, double ridge) {
    const size_t n = (size_t)g->count, joints = (size_t)g->a->joint_count;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double(*p)[4] = g->a->turns + (size_t)g->forms[i] * joints;
            double(*q)[4] = g->a->turns + (size_t)g->forms[k] * joints;
            g->system[i * 2 * n + k] = exi_art_kernel(p, q, axes, axis_count, falloff) + (i == k ? ridge : 0);
            g->system[i * 2 * n + n + k] = i == k;
        }
    if (!exi_solve_definite(g->system, (int)n, (int)n))
        return INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double *row = g->system + i * 2 * n + n;
        double error = 0;
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < n; l++)
                error += row[k] * row[l] * g->products[k * n + l];
        sum += error / (row[i] * row[i]);
    }
    return sum;
}

/* Sets of axes to try: the joint; with those it carries; with the one above, too. */
static int axis_set(const exi_articulation *a, int joint, int set, int axes[AXES]) {
    int count = 0;
    if (joint > 0)
        axes[count++] = joint;
    for (int b = joint + 1; set > 0 && b < a->joint_count && count < AXES - 1; b++)
        if (a->tree[b].parent == joint)
            axes[count++] = b;
    if (set > 1 && a->tree[joint].parent > 0)
        axes[count++] = a->tree[joint].parent;
    return count;
}

/* Finds the best axes, falloff and ridge around a joint; axis_count 0 if nothing helps. */
static bool find_layer(const guess *g, int joint, ex_articulated_layer *layer) {
    const size_t n = (size_t)g->count;
    double before = 0, best = INFINITY;
    int axes[AXES], best_set = 0, last_count = 0;
    for (size_t i = 0; i < n; i++)
        before += g->products[i * n + i];
    for (int set = 0; set < 3; set++) {
        const int count = axis_set(g->a, joint, set, axes);
        if (count == 0 || count == last_count)
            continue;
        last_count = count;
        for (int f = 0; f < FALLOFF_COUNT; f++)
            for (int r = 0; r < RIDGE_COUNT; r++) {
                const double error = guess_error(g, axes, count, falloffs[f], ridges[r]);
                if (error < best) {
                    best = error;
                    best_set = set;
                    layer->falloff = falloffs[f];
                    layer->ridge = ridges[r];
                }
            }
    }
    layer->joint = joint;
    layer->axis_count = 0;
    if (!(best < (1 - least_gain) * before))
        return true;
    layer->before = before;
    layer->after = best;
    layer->axis_count = axis_set(g->a, joint, best_set, axes);
    layer->axes = exi_array_copy(axes, (size_t)layer->axis_count, sizeof *axes);
    return layer->axes != NULL;
}

static void fill_products(const guess *g, float *const *deltas, const float *mask) {
    const size_t n = (size_t)g->count;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            const float *p = deltas[g->forms[i]], *q = deltas[g->forms[k]];
            double sum = 0;
            for (size_t v = 0; v < (size_t)g->a->vertex_count; v++)
                if (mask[v] > 0)
                    sum += (double)(mask[v] *
                                    (p[3 * v] * q[3 * v] + p[3 * v + 1] * q[3 * v + 1] + p[3 * v + 2] * q[3 * v + 2]));
            g->products[i * n + k] = g->products[k * n + i] = sum;
        }
}

static ex_result make_deltas(const exi_articulation *a, ex_articulated_layers *made, ex_error *error) {
    const size_t numbers = 3 * (size_t)a->vertex_count;
    double *deltas = exi_array_allocate(numbers, sizeof *deltas);
    made->deltas = calloc((size_t)a->form_count, sizeof *made->deltas);
    ex_result result = deltas && made->deltas ? EX_OK : ex_error_memory(error, "the layers", numbers * sizeof *deltas);
    for (int f = 0; f < a->form_count && result == EX_OK; f++) {
        made->deltas[f] = calloc(numbers, sizeof **made->deltas);
        if (!made->deltas[f])
            result = ex_error_memory(error, "the layers", numbers * sizeof **made->deltas);
        else if (exi_art_counts(a, f))
            result =
                exi_art_unpose(a, f, a->turns + (size_t)f * (size_t)a->joint_count, a->bases[f], NULL, deltas, error);
        for (size_t i = 0; result == EX_OK && exi_art_counts(a, f) && i < numbers; i++)
            made->deltas[f][i] = (float)deltas[i];
    }
    free(deltas);
    return result;
}

ex_result exi_art_find_layers(const exi_articulation *a, ex_articulated_layers **layers, ex_error *error) {
    const size_t vertices = (size_t)a->vertex_count, forms = (size_t)a->form_count;
    ex_articulated_layers *made = *layers = calloc(1, sizeof *made);
    int *used = exi_array_allocate(forms, sizeof *used);
    guess g = {.a = a, .forms = used};
    float *masks = make_masks(a);
    g.products = exi_array_allocate(forms * forms, sizeof *g.products);
    g.system = exi_array_allocate(2 * forms * forms, sizeof *g.system);
    if (made) {
        made->vertex_count = a->vertex_count;
        made->form_count = a->form_count;
        made->layers = calloc((size_t)a->joint_count, sizeof *made->layers);
    }
    bool good = made && used && masks && g.products && g.system && made->layers;
    ex_result result = good ? make_deltas(a, made, error) : EX_ERROR_MEMORY;
    for (int f = 0; f < a->form_count && result == EX_OK; f++)
        if (exi_art_counts(a, f))
            used[g.count++] = f;
    for (int b = 0; b < a->joint_count && result == EX_OK && good && g.count > 2; b++) {
        ex_articulated_layer *layer = &made->layers[made->count];
        fill_products(&g, made->deltas, masks + (size_t)b * vertices);
        good = find_layer(&g, b, layer);
        if (good && layer->axis_count > 0) {
            made->count++;
            layer->mask = exi_array_copy(masks + (size_t)b * vertices, vertices, sizeof *masks);
            good = layer->mask != NULL;
        }
    }
    free(used);
    free(masks);
    free(g.products);
    free(g.system);
    if (!good)
        result = ex_error_memory(error, "the layers", vertices * forms * 12);
    if (result != EX_OK) {
        ex_articulated_layers_destroy(made);
        *layers = NULL;
    }
    return result;
}

/* ---- evaluation ---- */

ex_result exi_art_evaluate_layers(const exi_articulation *a, const ex_articulated_layers *layers, double (*turns)[4],
                                  double *deltas, ex_error *error) {
    const size_t joints = (size_t)a->joint_count, forms = (size_t)a->form_count;
    int *used = exi_array_allocate(forms, sizeof *used);
    double *system = exi_array_allocate(forms * (forms + 1), sizeof *system);
    size_t n = 0;
    const bool good = used && system;
    memset(deltas, 0, 3 * (size_t)a->vertex_count * sizeof *deltas);
    for (int f = 0; good && f < a->form_count; f++)
        if (exi_art_counts(a, f))
            used[n++] = f;
    for (int i = 0; good && i < layers->count; i++) {
        const ex_articulated_layer *layer = &layers->layers[i];
        for (size_t r = 0; r < n; r++) {
            double(*p)[4] = a->turns + (size_t)used[r] * joints;
            for (size_t c = 0; c < n; c++)
                system[r * (n + 1) + c] = exi_art_kernel(p, a->turns + (size_t)used[c] * joints, layer->axes,
                                                         layer->axis_count, layer->falloff) +
                                          (r == c ? layer->ridge : 0);
            system[r * (n + 1) + n] = exi_art_kernel(p, turns, layer->axes, layer->axis_count, layer->falloff);
        }
        if (!exi_solve_definite(system, (int)n, 1))
            continue;
        for (size_t k = 0; k < n; k++) {
            const double weight = system[k * (n + 1) + n];
            const float *delta = layers->deltas[used[k]];
            for (size_t v = 0; v < (size_t)a->vertex_count; v++)
                if (layer->mask[v] > 0)
                    for (size_t c = 0; c < 3; c++)
                        deltas[3 * v + c] += (double)layer->mask[v] * weight * (double)delta[3 * v + c];
        }
    }
    free(used);
    free(system);
    return good ? EX_OK : ex_error_memory(error, "the layers", forms * forms * sizeof *system);
}

ex_result ex_articulated_find_layers(const ex_articulate_def *def, const ex_articulated *articulated,
                                     ex_articulated_layers **layers, ex_error *error) {
    exi_articulation a;
    *layers = NULL;
    ex_result result = exi_art_open(def, articulated, &a, error);
    if (result != EX_OK)
        return result;
    result = exi_art_net_make(def->mesh, articulated->rest, &a.net, error);
    if (result == EX_OK)
        result = exi_art_find_layers(&a, layers, error);
    exi_art_net_free(&a.net);
    exi_art_free(&a);
    return result;
}

/* Only turns are read. */
ex_result ex_articulated_layers_evaluate(const ex_articulated *articulated, const ex_articulated_layers *layers,
                                         const ex_kin_pose *pose, double *deltas, ex_error *error) {
    const size_t joints = (size_t)articulated->kinematics->joint_count;
    exi_articulation a = {.vertex_count = articulated->vertex_count,
                          .form_count = articulated->form_count,
                          .joint_count = articulated->kinematics->joint_count};
    a.turns = exi_array_allocate(joints * (size_t)a.form_count, sizeof *a.turns);
    if (!a.turns)
        return ex_error_memory(error, "the layers", joints * sizeof *a.turns);
    for (int f = 0; f < a.form_count; f++)
        memcpy(a.turns + (size_t)f * joints, articulated->poses[f].rotations, joints * sizeof *a.turns);
    ex_result result = exi_art_evaluate_layers(&a, layers, pose->rotations, deltas, error);
    free(a.turns);
    return result;
}
