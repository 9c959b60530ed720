/*
 * Nearest points that face the same way: a k-d tree over places and normals. The squared distance between two points
 * is |p - q|^2 + length^2 |n - m|^2, so a point on the other side of a thin limb, or on the thigh beside a hand, is far
 * away although its place is near.
 *
 * The tree is complete: nodes 2k + 1 and 2k + 2 are below node k, and each node halves its points at the median of the
 * axis along which they spread most.
 */
#include "author/scan/register/register.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 8 };

void exi_reg_tree_free(exi_reg_tree *tree) {
    free(tree->order);
    free(tree->places);
    free(tree->axes);
    free(tree->cuts);
    free(tree->starts);
    *tree = (exi_reg_tree){0};
}

static void place(const exi_reg_point *point, float length, float out[6]) {
    for (int k = 0; k < 3; k++) {
        out[k] = point->at[k];
        out[3 + k] = length * point->normal[k];
    }
}

/* ---- making ---- */

static void swap(exi_reg_tree *t, int a, int b) {
    float kept[6];
    const int order = t->order[a];
    t->order[a] = t->order[b];
    t->order[b] = order;
    memcpy(kept, t->places[a], sizeof kept);
    memcpy(t->places[a], t->places[b], sizeof kept);
    memcpy(t->places[b], kept, sizeof kept);
}

/* Puts the middle-th value along an axis in its place, smaller ones before it and larger ones after it (Hoare). */
static void divide(exi_reg_tree *t, int begin, int end, int middle, int axis) {
    int low = begin, high = end - 1;
    while (low < high) {
        const float a = t->places[low][axis], b = t->places[low + (high - low) / 2][axis], c = t->places[high][axis];
        const float less = a < b ? a : b, more = a < b ? b : a, pivot = c < less ? less : c < more ? c : more;
        int i = low, j = high;
        while (i <= j) {
            while (t->places[i][axis] < pivot)
                i++;
            while (t->places[j][axis] > pivot)
                j--;
            if (i <= j)
                swap(t, i++, j--);
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

static int widest(const exi_reg_tree *t, int begin, int end) {
    float low[6], high[6];
    memcpy(low, t->places[begin], sizeof low);
    memcpy(high, t->places[begin], sizeof high);
    for (int i = begin + 1; i < end; i++)
        for (int k = 0; k < 6; k++) {
            const float x = t->places[i][k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }
    int best = 0;
    for (int k = 1; k < 6; k++)
        best = high[k] - low[k] > high[best] - low[best] ? k : best;
    return best;
}

static void split(exi_reg_tree *t, int node, int begin, int end) {
    if (node >= t->node_count) {
        t->starts[node - t->node_count] = begin;
        return;
    }
    const int middle = begin + (end - begin) / 2;
    int axis = 0;
    t->cuts[node] = 0;
    if (end > begin) {
        axis = widest(t, begin, end);
        divide(t, begin, end, middle, axis);
        t->cuts[node] = t->places[middle][axis];
    }
    t->axes[node] = (unsigned char)axis;
    split(t, 2 * node + 1, begin, middle);
    split(t, 2 * node + 2, middle, end);
}

bool exi_reg_tree_make(const exi_reg_point *points, int count, double length, exi_reg_tree *tree) {
    *tree = (exi_reg_tree){.count = count, .length = (float)length};
    while ((count >> 1) / (tree->node_count + 1) >= LEAF / 2 && tree->node_count < (1 << 28))
        tree->node_count = 2 * tree->node_count + 1;
    const size_t n = (size_t)count, nodes = (size_t)tree->node_count;
    tree->order = exi_array_allocate(n, sizeof *tree->order);
    tree->places = exi_array_allocate(n, sizeof *tree->places);
    tree->axes = exi_array_allocate(nodes, 1);
    tree->cuts = exi_array_allocate(nodes, sizeof *tree->cuts);
    tree->starts = exi_array_allocate(nodes + 2, sizeof *tree->starts);
    if (!tree->order || !tree->places || !tree->axes || !tree->cuts || !tree->starts) {
        exi_reg_tree_free(tree);
        return false;
    }
    for (int i = 0; i < count; i++) {
        tree->order[i] = i;
        place(&points[i], tree->length, tree->places[i]);
    }
    split(tree, 0, 0, count);
    tree->starts[nodes + 1] = count;
    return true;
}

/* ---- searching ---- */

typedef struct search {
    const exi_reg_tree *tree;
    float at[6];
    float facing; /* least cosine times length^2 */
    float reach_sq;
    float best; /* squared distance */
    int found;
} search;

static float apart(const float a[6], const float b[6], int begin, int end) {
    float sum = 0;
    for (int k = begin; k < end; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

static float along(const float a[6], const float b[6]) {
    return a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static void look(search *s, int leaf) {
    const exi_reg_tree *t = s->tree;
    for (int i = t->starts[leaf]; i < t->starts[leaf + 1]; i++) {
        const float near = apart(s->at, t->places[i], 0, 3);
        if (near > s->reach_sq)
            continue;
        const float all = near + apart(s->at, t->places[i], 3, 6);
        if (all > s->best || (all == s->best && s->found >= 0 && t->order[i] > s->found) ||
            !(along(s->at, t->places[i]) > s->facing))
            continue;
        s->best = all;
        s->found = t->order[i];
    }
}

static void descend(search *s, int node) {
    const exi_reg_tree *t = s->tree;
    if (node >= t->node_count) {
        look(s, node - t->node_count);
        return;
    }
    const float off = s->at[t->axes[node]] - t->cuts[node];
    const int near = off < 0 ? 2 * node + 1 : 2 * node + 2;
    descend(s, near);
    if (off * off <= s->best)
        descend(s, 4 * node + 3 - near);
}

int exi_reg_tree_nearest(const exi_reg_tree *tree, const exi_reg_point *point, double reach, double facing) {
    const double length = (double)tree->length;
    search s = {.tree = tree, .found = -1, .reach_sq = (float)(reach * reach)};
    place(point, tree->length, s.at);
    s.facing = (float)(facing * length * length);
    s.best = (float)(reach * reach + 2 * length * length * (1 - facing));
    if (tree->count > 0)
        descend(&s, 0);
    return s.found;
}

typedef struct around {
    const exi_reg_tree *tree;
    float at[6];
    float facing, radius, radius_sq;
    float turned; /* greatest difference of normals, times length */
    int most, count;
    int *found;
} around;

static void collect(around *s, int node) {
    const exi_reg_tree *t = s->tree;
    if (node >= t->node_count) {
        const int leaf = node - t->node_count;
        for (int i = t->starts[leaf]; i < t->starts[leaf + 1] && s->count < s->most; i++)
            if (apart(s->at, t->places[i], 0, 3) <= s->radius_sq && along(s->at, t->places[i]) > s->facing)
                s->found[s->count++] = t->order[i];
        return;
    }
    const int axis = t->axes[node];
    const float off = s->at[axis] - t->cuts[node], limit = axis < 3 ? s->radius : s->turned;
    if (off <= limit)
        collect(s, 2 * node + 1);
    if (-off <= limit)
        collect(s, 2 * node + 2);
}

int exi_reg_tree_around(const exi_reg_tree *tree, const exi_reg_point *point, double radius, double facing, int most,
                        int *found) {
    around s = {.tree = tree, .most = most, .found = found, .radius = (float)radius};
    place(point, tree->length, s.at);
    s.radius_sq = (float)(radius * radius);
    s.turned = tree->length * (float)sqrt(2 * (1 - facing)) * 1.001F;
    s.facing = (float)(facing * (double)tree->length * (double)tree->length);
    if (tree->count > 0)
        collect(&s, 0);
    return s.count;
}
