/*
 * Frames of poses, and moments: the sums over vertices from which the error of a pose and its derivatives follow. With
 * them a step of a fit costs the same for a hundred vertices as for a million.
 */
#include "author/base/array.h"
#include "author/base/eigen.h"
#include "author/scan/articulate/articulation.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Horn (1987): the quaternion is the first eigenvector of a symmetric matrix of the correlation's entries. */
static void horn(const double c[9], double q[4]) {
    const double xx = c[0], xy = c[3], xz = c[6], yx = c[1], yy = c[4], yz = c[7], zx = c[2], zy = c[5], zz = c[8];
    double n[16] = {xx + yy + zz, yz - zy,      zx - xz,       xy - yx, /* */
                    yz - zy,      xx - yy - zz, xy + yx,       zx + xz, /* */
                    zx - xz,      xy + yx,      -xx + yy - zz, yz + zy, /* */
                    xy - yx,      zx + xz,      yz + zy,       -xx - yy + zz};
    double values[4], vectors[16];
    exi_eigen(n, 4, values, vectors);
    q[3] = vectors[0];
    for (int i = 0; i < 3; i++)
        q[i] = vectors[1 + i];
    if (!exi_normalise(q, 4)) {
        q[0] = q[1] = q[2] = 0;
        q[3] = 1;
    }
}

void exi_art_rotation(const double correlation[9], double m[9]) {
    double q[4];
    horn(correlation, q);
    exi_quaternion_matrix(q, m);
}

void exi_art_quaternion(const double m[9], double q[4]) {
    horn(m, q);
}

void exi_art_frames(const exi_articulation *a, double (*turns)[4], const double base[3], double (*transforms)[12],
                    double (*places)[3]) {
    for (int b = 0; b < a->joint_count; b++) {
        const int parent = a->tree[b].parent;
        double own[9], place[3], *t = transforms[b];
        exi_quaternion_matrix(turns[b], own);
        if (parent < 0) {
            memcpy(place, base, sizeof place);
            for (int i = 0; i < 3; i++)
                memcpy(t + 4 * i, own + 3 * i, 3 * sizeof *t);
        } else {
            const double *p = transforms[parent];
            for (int i = 0; i < 3; i++) {
                place[i] = exi_dot3(p + 4 * i, a->centres[b]) + p[4 * i + 3];
                for (int k = 0; k < 3; k++)
                    t[4 * i + k] = p[4 * i] * own[k] + p[4 * i + 1] * own[3 + k] + p[4 * i + 2] * own[6 + k];
            }
        }
        for (int i = 0; i < 3; i++)
            t[4 * i + 3] = place[i] - exi_dot3(t + 4 * i, a->centres[b]);
        if (places)
            memcpy(places[b], place, sizeof place);
    }
}

void exi_art_moments_free(exi_art_moments *m) {
    free(m->pairs);
    free(m->squares);
    free(m->products);
    *m = (exi_art_moments){0};
}

/* Numbers the pairs of bones that share vertices: numbers [joint_count][joint_count], -1 for none. */
static int number_pairs(const exi_articulation *a, int *numbers) {
    const size_t b = (size_t)a->joint_count, most = (size_t)a->influence_count;
    int count = 0;
    for (size_t i = 0; i < b * b; i++)
        numbers[i] = -1;
    for (size_t v = 0; v < (size_t)a->vertex_count; v++)
        for (size_t i = 0; i < most; i++)
            for (size_t k = 0; k < most; k++) {
                const size_t r = a->joints[v * most + i], s = a->joints[v * most + k];
                if (a->weights[v * most + i] > 0 && a->weights[v * most + k] > 0 && r <= s && numbers[r * b + s] < 0)
                    numbers[r * b + s] = count++;
            }
    return count;
}

/* x x' and x y' of one vertex, times its weight. */
static void add_vertex(const exi_articulation *a, size_t v, const double x[4], const double *y, double weight,
                       const int *numbers, exi_art_moments *m) {
    const size_t most = (size_t)a->influence_count, count = (size_t)a->joint_count;
    double square[16];
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            square[4 * i + k] = weight * x[i] * x[k];
    for (size_t i = 0; i < most; i++) {
        const size_t b = a->joints[v * most + i];
        const double w = a->weights[v * most + i];
        if (!(w > 0))
            continue;
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 3; c++)
                m->products[b][3 * r + c] += weight * w * x[r] * y[c];
        for (size_t k = 0; k < most; k++) {
            const size_t other = a->joints[v * most + k];
            const double both = w * a->weights[v * most + k];
            if (other < b || !(both > 0) || (other == b && k != i))
                continue;
            double *to = m->squares[numbers[b * count + other]];
            for (int r = 0; r < 16; r++)
                to[r] += both * square[r];
        }
    }
    m->weight += weight;
    m->length += weight * exi_dot3(y, y);
}

ex_result exi_art_moments_make(const exi_articulation *a, int form, const double *rest, exi_art_moments *m,
                               ex_error *error) {
    const size_t count = (size_t)a->joint_count;
    int *numbers = exi_array_allocate(count * count, sizeof *numbers);
    *m = (exi_art_moments){0};
    rest = rest ? rest : a->rest;
    if (numbers) {
        m->pair_count = number_pairs(a, numbers);
        m->pairs = exi_array_allocate((size_t)m->pair_count, sizeof *m->pairs);
        m->squares = calloc((size_t)m->pair_count + 1, sizeof *m->squares);
        m->products = calloc(count, sizeof *m->products);
    }
    if (!numbers || !m->pairs || !m->squares || !m->products) {
        free(numbers);
        exi_art_moments_free(m);
        return ex_error_memory(error, "moments", count * count * sizeof *numbers);
    }
    for (size_t i = 0; i < count * count; i++)
        if (numbers[i] >= 0) {
            m->pairs[numbers[i]][0] = (int)(i / count);
            m->pairs[numbers[i]][1] = (int)(i % count);
        }
    for (int v = 0; v < a->vertex_count; v++) {
        const double weight = exi_art_seen(a, form, v), *p = rest + 3 * (size_t)v;
        const double x[4] = {p[0], p[1], p[2], 1};
        if (weight > 0)
            add_vertex(a, (size_t)v, x, a->def->forms[form] + 3 * (size_t)v, weight, numbers, m);
    }
    free(numbers);
    return EX_OK;
}
