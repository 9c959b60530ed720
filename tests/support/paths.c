/*
 * Layers of trajectories; see paths.h.
 */
#include "support/paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a layer ---- */

static const char *const example_names[PATHS_EXAMPLES] = {"all", "none", "corrected", "plain"};
static const char *const axis_names[1] = {"way"};
static const double points[PATHS_EXAMPLES] = {3, 0, 1, 2};
static const int corrector_counts[PATHS_EXAMPLES] = {1, 0, 3, 0};
/* two trees; some parents come after their children */
static const int parents[PATHS_SEGMENTS] = {3, -1, 0, 1, -1};

/* Separate random numbers: the programs for other machines, which have no cmocka, use this too. */
static uint64_t bits(uint64_t *random) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 33;
}

static double between(uint64_t *random, double low, double high) {
    return low + (high - low) * (double)bits(random) / 2147483648.0;
}

static float *fill(float *values, size_t count, double size, uint64_t *random) {
    for (size_t i = 0; i < count; i++)
        values[i] = (float)between(random, -size, size);
    return values;
}

void path_layer_open(path_layer *p, const float *mesh, int vertex_count, int parts, uint64_t seed) {
    uint64_t random = seed;
    const size_t vertices = (size_t)vertex_count, triples = 3 * vertices;
    memset(p, 0, sizeof *p);
    p->vertex_count = vertex_count;
    p->mesh = mesh;
    float *next = p->memory = malloc((8 * triples + triples + vertices) * sizeof *p->memory);
    p->vertices = malloc(vertices * sizeof *p->vertices);
    for (size_t v = 0; v < vertices; v++)
        p->vertices[v] = (uint16_t)(bits(&random) % PATHS_SEGMENTS);
    p->axis = ex_axis_scalar(0, 3, 0);
    p->def = (ex_layer_def){.name = "paths",
                            .domain = EX_DOMAIN_TRAJECTORY,
                            .weigh = ex_weigher_def_default(),
                            .axis_names = axis_names,
                            .example_names = example_names,
                            .form.deltas = p->delta_list,
                            .trajectory.examples = p->trajectories,
                            .trajectory.reference = PATHS_REFERENCE,
                            .trajectory.centre = {0.3, -0.2, 0.1}};
    p->def.weigh.axes = &p->axis;
    p->def.weigh.axis_count = 1;
    p->def.weigh.points = points;
    p->def.weigh.example_count = PATHS_EXAMPLES;
    for (int k = 0; k < PATHS_EXAMPLES; k++) {
        ex_trajectory *t = &p->trajectories[k];
        if (k == PATHS_REFERENCE)
            continue;
        p->delta_list[k] = fill(next, triples, 0.7, &random);
        next += triples;
        t->corrector_count = parts & PATHS_CORRECTORS ? corrector_counts[k] : 0;
        t->correctors = p->corrector_list[k];
        t->curves = fill(p->curves[k][0], 3 * EX_CURVE_SIZE, 1, &random);
        for (int j = 0; j < t->corrector_count; j++, next += triples)
            p->corrector_list[k][j] = fill(next, triples, 0.2, &random);
        if (parts & PATHS_TURNS && k == 0) {
            t->turns = fill(next, triples, 1.7, &random);
            next += triples;
        }
        fill(p->bases[k][0], sizeof p->bases[k] / sizeof(float), 1, &random);
        if (parts & PATHS_BASES && k == 0)
            t->bases = p->bases[k][0];
        for (int c = 0; parts & PATHS_SCREWS && k != 3 && c < 3; c++) {
            t->screw.turn[c] = between(&random, -1, 1);
            t->screw.move[c] = between(&random, -1, 1);
        }
    }
    for (int k = 0; k < PATHS_EXAMPLES; k++)
        for (int l = 0; l < PATHS_EXAMPLES; l++)
            p->overlaps[k][l] = k == l ? 1 : (float)between(&random, 0, 1);
    p->def.trajectory.overlaps = parts & PATHS_OVERLAPS ? p->overlaps[0] : NULL;
    if (parts & PATHS_BASES)
        p->def.trajectory.segments = (ex_segments){PATHS_SEGMENTS, parents, p->vertices};
    for (size_t v = 0; v < vertices; v++)
        next[v] = (float)between(&random, 0, 1);
    p->def.mask = parts & PATHS_MASK ? next : NULL;
}

void path_layer_close(path_layer *p) {
    free(p->memory);
    free(p->vertices);
}

/* ---- simple formulas ---- */

static double length(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

void plain_rotate(const double w[3], const double v[3], double out[3]) {
    const double angle = length(w);
    double n[3] = {1, 0, 0}, along = 0, result[3];
    for (int c = 0; angle > 0 && c < 3; c++)
        n[c] = w[c] / angle;
    for (int c = 0; c < 3; c++)
        along += n[c] * v[c];
    for (int c = 0; c < 3; c++) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        result[c] = cos(angle) * v[c] + sin(angle) * (n[d] * v[e] - n[e] * v[d]) + (1 - cos(angle)) * along * n[c];
    }
    memcpy(out, result, sizeof result);
}

/* Five Gauss points in every piece of at most a radian. */
void plain_mean(const double w[3], const double v[3], double out[3]) {
    static const double places[5] = {-0.906179845938664, -0.538469310105683, 0, 0.538469310105683, 0.906179845938664};
    static const double sizes[5] = {0.236926885056189, 0.478628670499366, 0.568888888888889, 0.478628670499366,
                                    0.236926885056189};
    const int pieces = 1 + (int)(length(w) * 2);
    double sum[3] = {0};
    for (int i = 0; i < pieces; i++)
        for (int g = 0; g < 5; g++) {
            const double s = (i + (places[g] + 1) / 2) / pieces;
            double turned[3];
            plain_rotate((double[3]){s * w[0], s * w[1], s * w[2]}, v, turned);
            for (int c = 0; c < 3; c++)
                sum[c] += sizes[g] / 2 / pieces * turned[c];
        }
    memcpy(out, sum, sizeof sum);
}

static double determinant(const double a[3], const double b[3], const double c[3]) {
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) + c[0] * (a[1] * b[2] - a[2] * b[1]);
}

void plain_mean_inverse(const double w[3], const double v[3], double out[3]) {
    double columns[3][3];
    for (int c = 0; c < 3; c++)
        plain_mean(w, (double[3]){c == 0, c == 1, c == 2}, columns[c]);
    const double whole = determinant(columns[0], columns[1], columns[2]);
    const double result[3] = {determinant(v, columns[1], columns[2]) / whole,
                              determinant(columns[0], v, columns[2]) / whole,
                              determinant(columns[0], columns[1], v) / whole};
    memcpy(out, result, sizeof result);
}

double plain_amount(const float *curve, double s) {
    const double inside = s < 0 ? 0 : s > 1 ? 1 : s;
    double r = 0;
    for (int i = 0; i < EX_CURVE_SIZE; i++)
        r += (double)curve[i] * pow(2 * inside - 1, i);
    /* s q(s) has the slope q(0) = r(0) at 0, and -r(1) at 1 */
    return s < 0 ? r : s > 1 ? -(s - 1) * r / s : (1 - s) * r;
}

/* sum over the vertex's segment and its ancestors, except roots, of R~(w_a) u_a */
static void plain_appended(const ex_layer_def *layer, const double *weights, int vertex, double out[3]) {
    const ex_segments *s = &layer->trajectory.segments;
    out[0] = out[1] = out[2] = 0;
    if (s->count == 0)
        return;
    for (int a = s->vertices[vertex]; a >= 0 && s->parents[a] >= 0; a = s->parents[a]) {
        double w[3] = {0}, u[3] = {0};
        for (int k = 0; k < layer->weigh.example_count; k++)
            for (int c = 0; k != layer->trajectory.reference && layer->trajectory.examples[k].bases && c < 3; c++) {
                w[c] += weights[k] * (double)layer->trajectory.examples[k].bases[6 * a + c];
                u[c] += weights[k] * (double)layer->trajectory.examples[k].bases[6 * a + 3 + c];
            }
        plain_mean(w, u, u);
        for (int c = 0; c < 3; c++)
            out[c] += u[c];
    }
}

static void turn_of(const ex_trajectory *t, int vertex, double w[3]) {
    for (int c = 0; c < 3; c++)
        w[c] = t->turns ? (double)t->turns[3 * vertex + c] : 0;
}

/* u of example k */
static void plain_velocity(const ex_layer_def *layer, const float *mesh, int k, int vertex, double u[3]) {
    const ex_trajectory *t = &layer->trajectory.examples[k];
    double move[3], w[3], appended[3], back[3], alone[PATHS_EXAMPLES] = {0};
    alone[k] = 1;
    plain_mean(t->screw.turn, t->screw.move, move);
    for (int c = 0; c < 3; c++) {
        u[c] = (double)mesh[3 * vertex + c] + (double)layer->form.deltas[k][3 * vertex + c] -
               layer->trajectory.centre[c] - move[c];
        back[c] = -t->screw.turn[c];
    }
    plain_rotate(back, u, u);
    plain_appended(layer, alone, vertex, appended);
    for (int c = 0; c < 3; c++)
        u[c] += layer->trajectory.centre[c] - (double)mesh[3 * vertex + c] - appended[c];
    turn_of(t, vertex, w);
    plain_mean_inverse(w, u, u);
}

void plain_path(const ex_layer_def *layer, const float *mesh, const double *weights, int vertex, double out[3]) {
    const int count = layer->weigh.example_count;
    double w[3] = {0}, u[3] = {0}, corrected[3] = {0}, appended[3], move[3];
    ex_screw screw = {{0}, {0}};
    for (int k = 0; k < count; k++) {
        const ex_trajectory *t = &layer->trajectory.examples[k];
        if (k == layer->trajectory.reference || weights[k] == 0)
            continue;
        double own[3], turn[3], s = layer->trajectory.overlaps ? 0 : weights[k];
        plain_velocity(layer, mesh, k, vertex, own);
        turn_of(t, vertex, turn);
        for (int l = 0; layer->trajectory.overlaps && l < count; l++)
            s += (double)layer->trajectory.overlaps[k * count + l] * weights[l];
        for (int c = 0; c < 3; c++) {
            w[c] += weights[k] * turn[c];
            u[c] += weights[k] * own[c];
            screw.turn[c] += weights[k] * t->screw.turn[c];
            screw.move[c] += weights[k] * t->screw.move[c];
            for (int j = 0; j < t->corrector_count; j++)
                corrected[c] += weights[k] * plain_amount(t->curves + j * EX_CURVE_SIZE, s) *
                                (double)t->correctors[j][3 * vertex + c];
        }
    }
    plain_mean(w, u, u);
    plain_appended(layer, weights, vertex, appended);
    plain_mean(screw.turn, screw.move, move);
    for (int c = 0; c < 3; c++)
        out[c] = (double)mesh[3 * vertex + c] - layer->trajectory.centre[c] + u[c] + appended[c] + corrected[c];
    plain_rotate(screw.turn, out, out);
    for (int c = 0; c < 3; c++)
        out[c] = (out[c] + layer->trajectory.centre[c] + move[c] - (double)mesh[3 * vertex + c]) *
                 (double)(layer->mask ? layer->mask[vertex] : 1);
}
