/*
 * Skin weights: per vertex, those that bring it nearest to all forms,
 *
 *   minimise  sum over forms of |sum over b of w_b (T_b x - y)|^2 + lambda |w - w0|^2,    w >= 0,  sum w = 1
 *
 * over at most eight bones: those of the vertex and of its neighbours, and the ones next to its strongest. w0 is the
 * mean of the neighbours' weights and, if there are some, of the starting weights. lambda says how far weights may
 * differ from both at the present noise.
 */
#include "author/base/array.h"
#include "author/scan/articulate/articulation.h"
#include "runtime/base/vector.h"
#include "runtime/weigh/simplex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHOICES = 8 };
static const double start_sigma = 0.15, neighbour_sigma = 0.15;

typedef struct weights_work {
    const exi_articulation *a;
    double (*transforms)[12]; /* [form_count][joint_count] */
    uint16_t *joints;         /* to write */
    double *weights;
    double per_start, per_neighbour; /* lambdas */
} weights_work;

/* Bones that may move a vertex, with what draws their weights. */
typedef struct choices {
    int count;
    int joints[64];
    double means[64]; /* w0 times the sum of lambdas */
} choices;

static void choose(choices *c, int joint, double weight) {
    for (int i = 0; i < c->count; i++)
        if (c->joints[i] == joint) {
            c->means[i] += weight;
            return;
        }
    if (c->count < 64) {
        c->joints[c->count] = joint;
        c->means[c->count++] = weight;
    }
}

static void choose_near(const weights_work *w, int vertex, choices *c) {
    const exi_articulation *a = w->a;
    const size_t most = (size_t)a->influence_count, v = (size_t)vertex;
    const int begin = a->net.starts[vertex], end = a->net.starts[vertex + 1];
    c->count = 0;
    for (size_t i = 0; i < most; i++) {
        if (a->weights[v * most + i] > 0)
            choose(c, a->joints[v * most + i], begin == end ? w->per_neighbour * a->weights[v * most + i] : 0);
        if (a->drawn && a->first_weights[v * most + i] > 0)
            choose(c, a->first_joints[v * most + i], w->per_start * a->first_weights[v * most + i]);
    }
    for (int k = begin; k < end; k++) {
        const size_t u = (size_t)a->net.others[k];
        for (size_t i = 0; i < most; i++)
            if (a->weights[u * most + i] > 0)
                choose(c, a->joints[u * most + i], w->per_neighbour * a->weights[u * most + i] / (end - begin));
    }
    int strongest = 0; /* and the bones next to it */
    for (int i = 1; i < c->count; i++)
        strongest = c->means[i] > c->means[strongest] ? i : strongest;
    const int joint = c->joints[strongest];
    if (a->tree[joint].parent >= 0)
        choose(c, a->tree[joint].parent, 0);
    for (int b = joint + 1; b < a->joint_count; b++)
        if (a->tree[b].parent == joint)
            choose(c, b, 0);
}

/* Keeps the choices that are drawn most, in that order; those that are not drawn come last. */
static void sort_choices(choices *c) {
    for (int i = 1; i < c->count; i++) {
        const int joint = c->joints[i];
        const double mean = c->means[i];
        int k = i;
        for (; k > 0 && c->means[k - 1] < mean; k--) {
            c->joints[k] = c->joints[k - 1];
            c->means[k] = c->means[k - 1];
        }
        c->joints[k] = joint;
        c->means[k] = mean;
    }
    c->count = c->count > CHOICES ? CHOICES : c->count;
}

static void find_some(void *context, int begin, int end) {
    const weights_work *w = context;
    const exi_articulation *a = w->a;
    const size_t most = (size_t)a->influence_count;
    const double lambda = w->per_neighbour + (a->drawn ? w->per_start : 0);
    double scratch[512];
    for (int v = begin; v < end; v++) {
        choices c;
        double h[CHOICES * CHOICES] = {0}, linear[CHOICES], found[CHOICES];
        const double *x = a->rest + 3 * (size_t)v;
        choose_near(w, v, &c);
        sort_choices(&c);
        for (int f = 0; f < a->form_count; f++) {
            const double seen = exi_art_counts(a, f) ? exi_art_seen(a, f, v) : 0;
            double away[CHOICES][3];
            if (!(seen > 0))
                continue;
            for (int i = 0; i < c.count; i++) {
                const double *t = w->transforms[(size_t)f * (size_t)a->joint_count + (size_t)c.joints[i]];
                for (int r = 0; r < 3; r++)
                    away[i][r] = exi_dot3(t + 4 * r, x) + t[4 * r + 3] - a->def->forms[f][3 * (size_t)v + (size_t)r];
                for (int k = 0; k <= i; k++)
                    h[i * CHOICES + k] += seen * exi_dot3(away[i], away[k]);
            }
        }
        for (int i = 0; i < c.count; i++) {
            h[i * CHOICES + i] += lambda;
            linear[i] = -c.means[i];
            for (int k = 0; k < i; k++)
                h[k * CHOICES + i] = h[i * CHOICES + k];
        }
        exi_simplex_solve(&(exi_simplex){.count = c.count, .stride = CHOICES, .matrix = h}, linear, a->influence_most,
                          NULL, scratch, found);
        size_t kept = 0;
        double sum = 0;
        for (int i = 0; i < c.count; i++)
            sum += found[i] > 1e-4 ? found[i] : 0;
        for (int i = 0; i < c.count && kept < most; i++)
            if (found[i] > 1e-4) {
                w->joints[(size_t)v * most + kept] = (uint16_t)c.joints[i];
                w->weights[(size_t)v * most + kept++] = found[i] / sum;
            }
        for (; kept < most; kept++) {
            w->joints[(size_t)v * most + kept] = 0;
            w->weights[(size_t)v * most + kept] = 0;
        }
    }
}

ex_result exi_art_find_weights(exi_articulation *a, double noise, ex_error *error) {
    const size_t count = (size_t)a->joint_count, room = (size_t)a->vertex_count * (size_t)a->influence_count;
    const double floor = 5e-4 * a->unit, sigma = noise > floor ? noise : floor;
    weights_work w = {.a = a,
                      .per_start = pow(sigma / start_sigma, 2),
                      .per_neighbour = pow(sigma / neighbour_sigma, 2),
                      .transforms = exi_array_allocate((size_t)a->form_count * count, sizeof *w.transforms),
                      .joints = exi_array_allocate(room, sizeof *w.joints),
                      .weights = exi_array_allocate(room, sizeof *w.weights)};
    const bool good = w.transforms && w.joints && w.weights;
    if (good) {
        for (int f = 0; f < a->form_count; f++)
            exi_art_frames(a, a->turns + (size_t)f * count, a->bases[f], w.transforms + (size_t)f * count, NULL);
        exi_art_run(a, a->vertex_count, find_some, &w);
        uint16_t *joints = a->joints;
        double *weights = a->weights;
        a->joints = w.joints;
        a->weights = w.weights;
        w.joints = joints;
        w.weights = weights;
    }
    free(w.transforms);
    free(w.joints);
    free(w.weights);
    return good ? EX_OK : ex_error_memory(error, "the weights", room * sizeof *w.weights);
}
