/*
 * Bones without a skeleton: clusters of vertices that move rigidly in all forms. Clusters grow one at a time, as in
 * smooth skinning decomposition (Le, Deng 2012 and 2014): the worst cluster gives up the vertices around its worst one,
 * then all vertices choose again, and rigid fits follow. Until enough bones, or until four in a row hardly help.
 *
 * Connected pieces become bones; small ones join a neighbour. The tree has the longest common borders, and hangs on the
 * bone in the middle. Weights start as the clusters, blurred over the mesh. The rest form starts as the first form.
 */
#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/scan/articulate/articulation.h"
#include "author/scan/kinematics/kinematics.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 3000, FORMS = 16, USUAL_MOST = 40, SWEEPS = 4, SEED_SIZE = 24, BLURS = 6 };
/* One more bone must lower the squared error by this share, and the error must be above this part of the unit. */
static const double least_gain = 0.03, good_enough = 0.002;

typedef struct grower {
    exi_articulation *a;
    int form_count;
    int *forms; /* the forms that count here: all, or FORMS of them */
    int sample_count;
    int *samples;   /* vertices */
    int *labels;    /* [sample_count] */
    double *errors; /* [sample_count] */
    int bone_count;
    double (*transforms)[12]; /* [bones][form_count]: from the first form */
    int room;
} grower;

/* ---- rigid fits ---- */

static double seen_here(const grower *g, int form, int vertex) {
    return exi_art_seen(g->a, form, vertex) * exi_art_seen(g->a, 0, vertex);
}

/* Fits the rigid motion of a set of vertices [count] from the first form to another. Returns false if too few are
 * seen. */
static bool fit_rigid(const grower *g, const int *vertices, int count, int form, double t[12]) {
    double weight = 0, from[3] = {0}, to[3] = {0}, correlation[9] = {0}, m[9];
    const double *x = g->a->def->forms[0], *y = g->a->def->forms[form];
    for (int k = 0; k < count; k++) {
        const size_t v = 3 * (size_t)vertices[k];
        const double w = seen_here(g, form, vertices[k]);
        weight += w;
        for (size_t i = 0; i < 3 && w > 0; i++) {
            from[i] += w * x[v + i];
            to[i] += w * y[v + i];
        }
    }
    if (weight < 3)
        return false;
    for (int i = 0; i < 3; i++) {
        from[i] /= weight;
        to[i] /= weight;
    }
    for (int k = 0; k < count; k++) {
        const size_t v = 3 * (size_t)vertices[k];
        const double w = seen_here(g, form, vertices[k]);
        for (size_t i = 0; i < 9 && w > 0; i++)
            correlation[i] += w * (y[v + i / 3] - to[i / 3]) * (x[v + i % 3] - from[i % 3]);
    }
    exi_art_rotation(correlation, m);
    for (int i = 0; i < 3; i++) {
        memcpy(t + 4 * i, m + 3 * i, 3 * sizeof *t);
        t[4 * i + 3] = to[i] - exi_dot3(m + 3 * i, from);
    }
    return true;
}

static const double stay[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

static void fit_bone(grower *g, int bone, const int *vertices, int count) {
    for (int f = 0; f < g->form_count; f++) {
        double *t = g->transforms[(size_t)bone * (size_t)g->form_count + (size_t)f];
        if (!fit_rigid(g, vertices, count, g->forms[f], t))
            memcpy(t, stay, sizeof stay);
    }
}

/* Squared distance of a vertex from where a bone puts it, summed over the forms. */
static double bone_error(const grower *g, int bone, int vertex, double limit) {
    double sum = 0;
    const double *x = g->a->def->forms[0] + 3 * (size_t)vertex;
    for (int f = 0; f < g->form_count && sum < limit; f++) {
        const double seen = seen_here(g, g->forms[f], vertex);
        const double *t = g->transforms[(size_t)bone * (size_t)g->form_count + (size_t)f];
        const double *y = g->a->def->forms[g->forms[f]] + 3 * (size_t)vertex;
        for (int i = 0; i < 3 && seen > 0; i++) {
            const double d = exi_dot3(t + 4 * i, x) + t[4 * i + 3] - y[i];
            sum += seen * d * d;
        }
    }
    return sum;
}

static int choose_bone(const grower *g, int vertex, double *error) {
    int best = 0;
    *error = INFINITY;
    for (int b = 0; b < g->bone_count; b++) {
        const double e = bone_error(g, b, vertex, *error);
        if (e < *error) {
            *error = e;
            best = b;
        }
    }
    return best;
}

/* All samples choose their bone; returns the sum of errors. */
static double assign(grower *g) {
    double sum = 0;
    for (int k = 0; k < g->sample_count; k++) {
        g->labels[k] = choose_bone(g, g->samples[k], &g->errors[k]);
        sum += g->errors[k];
    }
    return sum;
}

static void fit_all(grower *g, int *members) {
    for (int b = 0; b < g->bone_count; b++) {
        int count = 0;
        for (int k = 0; k < g->sample_count; k++)
            if (g->labels[k] == b)
                members[count++] = g->samples[k];
        if (count >= 3)
            fit_bone(g, b, members, count);
    }
}

static double distance_sq(const double *p, const double *q) {
    double d[3];
    exi_subtract(p, q, d);
    return exi_dot3(d, d);
}

/* ---- growing ---- */

/* The worst sample of the worst cluster: its error times its squared distance from the cluster's middle. */
static int find_seed(const grower *g, const bool *tried) {
    int worst = -1, seed = -1;
    double most = 0, best = -1, middle[3] = {0}, count = 0;
    for (int b = 0; b < g->bone_count; b++) {
        double sum = 0;
        for (int k = 0; k < g->sample_count; k++)
            sum += g->labels[k] == b ? g->errors[k] : 0;
        if (sum > most && !tried[b]) {
            most = sum;
            worst = b;
        }
    }
    if (worst < 0)
        return -1;
    const double *x = g->a->def->forms[0];
    for (int k = 0; k < g->sample_count; k++)
        for (size_t i = 0; i < 3 && g->labels[k] == worst; i++) {
            middle[i] += x[3 * (size_t)g->samples[k] + i];
            count += 1.0 / 3;
        }
    for (int i = 0; i < 3; i++)
        middle[i] /= count;
    for (int k = 0; k < g->sample_count; k++) {
        if (g->labels[k] != worst)
            continue;
        const double score = g->errors[k] * distance_sq(x + 3 * (size_t)g->samples[k], middle);
        if (score > best) {
            best = score;
            seed = k;
        }
    }
    return seed;
}

/* Adds a bone of the samples nearest to the seed in its cluster. */
static void add_bone(grower *g, int seed, int *members) {
    const double *x = g->a->def->forms[0];
    double distances[SEED_SIZE];
    int count = 0;
    for (int k = 0; k < g->sample_count; k++) {
        if (g->labels[k] != g->labels[seed])
            continue;
        const double d = distance_sq(x + 3 * (size_t)g->samples[k], x + 3 * (size_t)g->samples[seed]);
        if (count == SEED_SIZE && d >= distances[count - 1])
            continue;
        int i = count < SEED_SIZE ? count++ : count - 1;
        for (; i > 0 && distances[i - 1] > d; i--) {
            distances[i] = distances[i - 1];
            members[i] = members[i - 1];
        }
        distances[i] = d;
        members[i] = g->samples[k];
    }
    fit_bone(g, g->bone_count++, members, count);
}

/* Bones that no more than a few samples chose are dropped. */
static void drop_empty(grower *g) {
    for (int b = g->bone_count - 1; b > 0; b--) {
        int count = 0;
        for (int k = 0; k < g->sample_count; k++)
            count += g->labels[k] == b;
        if (count >= 6 || g->bone_count == 1)
            continue;
        const int last = --g->bone_count;
        memcpy(g->transforms[(size_t)b * (size_t)g->form_count], g->transforms[(size_t)last * (size_t)g->form_count],
               (size_t)g->form_count * sizeof *g->transforms);
        for (int k = 0; k < g->sample_count; k++)
            g->labels[k] = g->labels[k] == last ? b : g->labels[k];
    }
}

static ex_result grow(grower *g, int most, bool all, ex_error *error) {
    const exi_articulation *a = g->a;
    int *members = exi_array_allocate((size_t)g->sample_count + SEED_SIZE, sizeof *members);
    bool *tried = calloc((size_t)g->room, sizeof *tried);
    if (!members || !tried) {
        free(members);
        free(tried);
        return ex_error_memory(error, "the bones", (size_t)g->sample_count * sizeof *members);
    }
    const double enough = pow(good_enough * a->unit, 2) * g->form_count * g->sample_count;
    g->bone_count = 1;
    memset(g->labels, 0, (size_t)g->sample_count * sizeof *g->labels);
    fit_all(g, members);
    double now = assign(g);
    int poor = 0; /* bones in a row that hardly helped */
    for (int attempt = 0; attempt < 3 * most && g->bone_count < most; attempt++) { /* bones may come and go */
        if ((!all && now <= enough) || now <= 1e-12 * enough)
            break;
        const int seed = find_seed(g, tried), before = g->bone_count;
        if (seed < 0 || !exi_progress_tell(a->def->progress, "bones", 0.1 * before / most))
            break;
        const int parent = g->labels[seed];
        add_bone(g, seed, members);
        double then = assign(g);
        for (int i = 0; i < SWEEPS; i++) {
            fit_all(g, members);
            then = assign(g);
        }
        drop_empty(g);
        tried[parent] = g->bone_count <= before;
        if (g->bone_count > before)
            memset(tried, 0, (size_t)g->room * sizeof *tried);
        then = assign(g);
        poor = g->bone_count > before && now - then < least_gain * now ? poor + 1 : 0;
        if (!all && poor == 4)
            break;
        now = then;
    }
    free(members);
    free(tried);
    return EX_OK;
}

/* ---- pieces ---- */

typedef struct pieces {
    int count;
    int *of;    /* [vertex_count] */
    int *sizes; /* [count] */
    int *bones; /* [count] cluster */
    int *edges; /* [count][count]: edges between them */
} pieces;

static void pieces_free(pieces *p) {
    free(p->of);
    free(p->sizes);
    free(p->bones);
    free(p->edges);
    *p = (pieces){0};
}

/* Finds connected sets of vertices with one label. */
static ex_result find_pieces(const exi_articulation *a, const int *labels, pieces *p, ex_error *error) {
    const size_t vertices = (size_t)a->vertex_count;
    int *stack = exi_array_allocate(vertices, sizeof *stack);
    *p = (pieces){.of = exi_array_allocate(vertices, sizeof *p->of),
                  .sizes = calloc(vertices, sizeof *p->sizes),
                  .bones = exi_array_allocate(vertices, sizeof *p->bones)};
    if (!stack || !p->of || !p->sizes || !p->bones) {
        free(stack);
        pieces_free(p);
        return ex_error_memory(error, "the bones", vertices * sizeof *stack);
    }
    for (size_t v = 0; v < vertices; v++)
        p->of[v] = -1;
    for (int first = 0; first < a->vertex_count; first++) {
        int size = 0;
        if (p->of[first] >= 0)
            continue;
        stack[size++] = first;
        p->of[first] = p->count;
        while (size > 0) {
            const int v = stack[--size];
            p->sizes[p->count]++;
            for (int i = a->net.starts[v]; i < a->net.starts[v + 1]; i++) {
                const int u = a->net.others[i];
                if (p->of[u] < 0 && labels[u] == labels[v]) {
                    p->of[u] = p->count;
                    stack[size++] = u;
                }
            }
        }
        p->bones[p->count++] = labels[first];
    }
    free(stack);
    return EX_OK;
}

/* Joins the smallest piece to the neighbour with the longest border until none is too small and there are few enough.
 * Returns the labels of vertices: pieces, numbered without gaps. */
static ex_result join_pieces(grower *g, int most, int *labels, int *count, ex_error *error) {
    const exi_articulation *a = g->a;
    const int small = a->vertex_count / 250 > 6 ? a->vertex_count / 250 : 6;
    for (;;) {
        pieces p;
        ex_result result = find_pieces(a, labels, &p, error);
        if (result != EX_OK)
            return result;
        /* All that are too small at once, then one at a time. */
        int least = -1, smaller = 0;
        for (int i = 0; i < p.count; i++) {
            smaller += p.sizes[i] < small;
            least = least < 0 || p.sizes[i] < p.sizes[least] ? i : least;
        }
        const bool done = p.count <= 1 || (smaller == 0 && p.count <= most);
        if (done) {
            memcpy(labels, p.of, (size_t)a->vertex_count * sizeof *labels);
            *count = p.count;
            pieces_free(&p);
            return EX_OK;
        }
        int *borders = calloc((size_t)p.count, sizeof *borders);
        bool joined = false;
        if (!borders) {
            pieces_free(&p);
            return ex_error_memory(error, "the bones", (size_t)p.count * sizeof *borders);
        }
        for (int v = 0; v < a->vertex_count; v++)
            for (int i = a->net.starts[v]; p.of[v] == least && i < a->net.starts[v + 1]; i++)
                borders[p.of[a->net.others[i]]]++;
        int best = -1;
        for (int i = 0; i < p.count; i++)
            best = i != least && borders[i] > 0 && (best < 0 || borders[i] > borders[best]) ? i : best;
        for (int v = 0; v < a->vertex_count; v++) {
            labels[v] = p.of[v] == least && best >= 0 ? best : p.of[v];
            joined = joined || (p.of[v] == least && best >= 0);
        }
        free(borders);
        *count = p.count;
        pieces_free(&p);
        if (!joined)
            return EX_OK; /* components that nothing links: each is a bone */
    }
}

/* ---- the tree ---- */

typedef struct tree {
    int count;
    int *parents, *order; /* of pieces; order: parents first */
    double (*centres)[3]; /* middle of the border with the parent, in the first form */
} tree;

static void tree_free(tree *t) {
    free(t->parents);
    free(t->order);
    free(t->centres);
}

/* Prim's algorithm with the longest borders, from `root`. Returns the sum over vertices of their distance from the root
 * in bones. */
static double span(const int *edges, const int *sizes, int count, int root, int *parents, int *order, int *depths) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        depths[i] = -1;
    depths[root] = 0;
    parents[root] = -1;
    order[0] = root;
    for (int n = 1; n < count; n++) {
        int from = 0, to = -1, most = -1;
        for (int k = 0; k < n; k++)
            for (int i = 0; i < count; i++)
                if (depths[i] < 0 && edges[(size_t)order[k] * (size_t)count + (size_t)i] > most) {
                    most = edges[(size_t)order[k] * (size_t)count + (size_t)i];
                    from = order[k];
                    to = i;
                }
        depths[to] = depths[from] + 1;
        parents[to] = from;
        order[n] = to;
        sum += (double)depths[to] * sizes[to];
    }
    return sum;
}

static ex_result make_tree(const exi_articulation *a, const int *labels, int count, tree *t, ex_error *error) {
    const size_t n = (size_t)count;
    int *edges = calloc(n * n, sizeof *edges), *sizes = calloc(n, sizeof *sizes), *depths = calloc(n, sizeof *depths);
    *t = (tree){.count = count,
                .parents = calloc(n, sizeof *t->parents),
                .order = calloc(n, sizeof *t->order),
                .centres = calloc(n, sizeof *t->centres)};
    const bool good = edges && sizes && depths && t->parents && t->order && t->centres;
    double least = INFINITY;
    int root = 0;
    for (int v = 0; good && v < a->vertex_count; v++) {
        sizes[labels[v]]++;
        for (int i = a->net.starts[v]; i < a->net.starts[v + 1]; i++)
            if (labels[a->net.others[i]] != labels[v])
                edges[(size_t)labels[v] * n + (size_t)labels[a->net.others[i]]]++;
    }
    for (int i = 0; good && i < count; i++) {
        const double sum = span(edges, sizes, count, i, t->parents, t->order, depths);
        if (sum < least) {
            least = sum;
            root = i;
        }
    }
    if (good)
        span(edges, sizes, count, root, t->parents, t->order, depths);
    for (int i = 0; good && i < count; i++) {
        double number = 0;
        for (int v = 0; v < a->vertex_count; v++)
            for (int k = a->net.starts[v]; k < a->net.starts[v + 1]; k++) {
                const int u = a->net.others[k];
                if (labels[v] != i || (t->parents[i] >= 0 && labels[u] != t->parents[i]))
                    continue;
                for (size_t c = 0; c < 3; c++)
                    t->centres[i][c] +=
                        0.5 * (a->def->forms[0][3 * (size_t)v + c] + a->def->forms[0][3 * (size_t)u + c]);
                number++;
            }
        for (int c = 0; c < 3 && number > 0; c++)
            t->centres[i][c] /= number;
    }
    free(edges);
    free(sizes);
    free(depths);
    return good ? EX_OK : ex_error_memory(error, "the tree of bones", n * n * sizeof *edges);
}

static ex_result make_kinematics(const exi_articulation *a, ex_kinematics **made, ex_error *error) {
    ex_kinematics *k = *made = exi_kinematics_create(a->joint_count, 0);
    bool good = k != NULL;
    for (int b = 0; good && b < a->joint_count; b++) {
        char name[32];
        const int length = snprintf(name, sizeof name, "bone_%d", b + 1);
        k->joints[b] = (ex_kin_joint){.name = exi_text_copy(name, (size_t)length),
                                      .parent = a->tree[b].parent,
                                      .freedom = a->tree[b].freedom,
                                      .mirror = -1};
        good = k->joints[b].name != NULL;
    }
    if (good && !k->name) {
        k->name = exi_text_copy("body", 4);
        good = k->name != NULL;
    }
    return good ? EX_OK : ex_error_memory(error, "the skeleton", (size_t)a->joint_count * 100);
}

/* ---- weights ---- */

/* Clusters, blurred: each round, half of a vertex's weights are the mean of its neighbours'. */
ex_result exi_art_blur(exi_articulation *a, ex_error *error) {
    const size_t most = (size_t)a->influence_count, room = (size_t)a->vertex_count * most;
    uint16_t *joints = exi_array_allocate(room, sizeof *joints);
    double *weights = exi_array_allocate(room, sizeof *weights);
    for (int round = 0; round < BLURS && joints && weights; round++) {
        for (int v = 0; v < a->vertex_count; v++) {
            uint16_t found[64];
            double sums[64], total = 0;
            size_t count = 0;
            const int begin = a->net.starts[v], end = a->net.starts[v + 1];
            for (int k = begin - 1; k < end; k++) {
                const size_t u = k < begin ? (size_t)v : (size_t)a->net.others[k];
                const double share = k < begin ? (begin == end ? 1 : 0.5) : 0.5 / (end - begin);
                for (size_t i = 0; i < most; i++) {
                    const double w = a->weights[u * most + i];
                    size_t at = 0;
                    while (at < count && found[at] != a->joints[u * most + i])
                        at++;
                    if (!(w > 0) || at == 64)
                        continue;
                    if (at == count) {
                        found[count] = a->joints[u * most + i];
                        sums[count++] = 0;
                    }
                    sums[at] += share * w;
                }
            }
            for (size_t i = 0; i < most; i++) { /* the largest ones */
                size_t best = 0;
                for (size_t k = 1; k < count; k++)
                    best = sums[k] > sums[best] ? k : best;
                const bool use = count > 0 && sums[best] > 1e-3;
                joints[(size_t)v * most + i] = use ? found[best] : 0;
                weights[(size_t)v * most + i] = use ? sums[best] : 0;
                total += use ? sums[best] : 0;
                if (use)
                    sums[best] = 0;
            }
            for (size_t i = 0; i < most; i++)
                weights[(size_t)v * most + i] /= total;
        }
        uint16_t *j = a->joints;
        double *w = a->weights;
        a->joints = joints;
        a->weights = weights;
        joints = j;
        weights = w;
    }
    const bool good = joints && weights;
    free(joints);
    free(weights);
    return good ? EX_OK : ex_error_memory(error, "the weights", room * sizeof *weights);
}

/* ---- the entry ---- */

static ex_result open_grower(exi_articulation *a, int most, grower *g, ex_error *error) {
    const int stride = a->vertex_count > SAMPLES ? a->vertex_count / SAMPLES : 1;
    const int forms = a->form_count - 1 < FORMS ? a->form_count - 1 : FORMS;
    *g = (grower){.a = a, .form_count = forms, .room = most + 1};
    g->samples = exi_array_allocate((size_t)a->vertex_count, sizeof *g->samples);
    g->labels = exi_array_allocate((size_t)a->vertex_count, sizeof *g->labels);
    g->errors = exi_array_allocate((size_t)a->vertex_count, sizeof *g->errors);
    g->forms = exi_array_allocate((size_t)forms, sizeof *g->forms);
    g->transforms = exi_array_allocate((size_t)g->room * (size_t)forms, sizeof *g->transforms);
    if (!g->samples || !g->labels || !g->errors || !g->forms || !g->transforms)
        return ex_error_memory(error, "the bones", (size_t)a->vertex_count * 16);
    for (int v = 0; v < a->vertex_count; v += stride)
        g->samples[g->sample_count++] = v;
    for (int f = 0; f < forms; f++)
        g->forms[f] = 1 + (int)((int64_t)f * (a->form_count - 1) / forms);
    return EX_OK;
}

static void close_grower(grower *g) {
    free(g->samples);
    free(g->labels);
    free(g->errors);
    free(g->forms);
    free(g->transforms);
}

/* Sets tree, centres and one-bone weights from pieces. */
static ex_result build(exi_articulation *a, const int *labels, const tree *t, ex_error *error) {
    const size_t most = (size_t)EX_ARTICULATE_INFLUENCES;
    int *numbers = exi_array_allocate((size_t)t->count, sizeof *numbers);
    ex_result result = numbers ? exi_art_allocate(a, t->count, error) : ex_error_memory(error, "the bones", 0);
    for (int b = 0; b < t->count && result == EX_OK; b++) {
        const int piece = t->order[b];
        numbers[piece] = b;
        a->tree[b].parent = b > 0 ? numbers[t->parents[piece]] : -1;
        a->tree[b].freedom = b > 0 ? EX_FREEDOM_BALL : EX_FREEDOM_BASE;
        memcpy(a->centres[b], t->centres[piece], sizeof a->centres[b]);
    }
    for (size_t v = 0; result == EX_OK && v < (size_t)a->vertex_count; v++) {
        a->joints[v * most] = (uint16_t)numbers[labels[v]];
        a->weights[v * most] = 1;
    }
    free(numbers);
    if (result == EX_OK)
        memcpy(a->rest, a->def->forms[0], 3 * (size_t)a->vertex_count * sizeof *a->rest);
    return result;
}

ex_result exi_art_find_bones(exi_articulation *a, ex_kinematics **kinematics, ex_error *error) {
    const int given = a->def->bone_count, most = given > 0 ? given : USUAL_MOST;
    const size_t room = (size_t)a->vertex_count * (size_t)a->influence_count;
    int *labels = exi_array_allocate((size_t)a->vertex_count, sizeof *labels), count = 0;
    tree t = {0};
    grower g = {0};
    ex_result result = labels ? open_grower(a, most, &g, error) : ex_error_memory(error, "the bones", 0);
    if (result == EX_OK)
        result = grow(&g, most, given > 0, error);
    for (int v = 0; result == EX_OK && v < a->vertex_count; v++) {
        double unused;
        labels[v] = choose_bone(&g, v, &unused);
    }
    if (result == EX_OK)
        result = join_pieces(&g, most, labels, &count, error);
    if (result == EX_OK)
        result = make_tree(a, labels, count, &t, error);
    if (result == EX_OK)
        result = build(a, labels, &t, error);
    if (result == EX_OK)
        result = make_kinematics(a, kinematics, error);
    if (result == EX_OK)
        result = exi_art_start(a, error); /* with one bone per vertex: the clearest motions */
    if (result == EX_OK)
        result = exi_art_blur(a, error);
    if (result == EX_OK) {
        memcpy(a->first_joints, a->joints, room * sizeof *a->joints);
        memcpy(a->first_weights, a->weights, room * sizeof *a->weights);
        exi_art_anchor(a);
    }
    close_grower(&g);
    tree_free(&t);
    free(labels);
    return result;
}
