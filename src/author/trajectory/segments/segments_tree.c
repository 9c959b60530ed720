/*
 * The tree of segments: neighbours, the root, parents, and the segment of each vertex.
 *
 * Segments that share an edge are neighbours. If that leaves the mesh in several pieces, those that share a single
 * vertex are neighbours too, then those between which the in-between has links; otherwise, a single vertex where three
 * segments meet is no joint. The root is given, or is the largest of the segments with the least distance to their
 * farthest segment. Parents are the neighbours one step nearer to it; of several, the one with the longest seam.
 */
#include "author/base/array.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/segments/segments.h"
#include "author/trajectory/sets.h"
#include "runtime/base/result.h"

#include <limits.h>
#include <stdlib.h>

typedef struct seam {
    int a, b, shared; /* shared: number of vertices, 0: only links */
} seam;

typedef struct graph {
    const exi_segments_input *in;
    exi_segmentation *s;
    seam *seams;
    size_t count, capacity;
    int *sets, *depths, *queue; /* [segment_count] */
    int *starts, *others;       /* neighbours of each segment, in the order of seams; starts [segment_count + 1] */
} graph;

static int compare_seams(const void *x, const void *y) {
    const seam *p = x, *q = y;
    return p->a != q->a ? (p->a < q->a ? -1 : 1) : (p->b > q->b) - (p->b < q->b);
}

static bool add_seam(graph *g, int a, int b, int shared) {
    if (a == b || a < 0 || b < 0)
        return true;
    seam *grown = exi_array_grow(g->seams, &g->capacity, g->count + 1, sizeof *g->seams);
    if (!grown)
        return false;
    g->seams = grown;
    g->seams[g->count++] = (seam){a < b ? a : b, a < b ? b : a, shared};
    return true;
}

/* Lists the segments at a vertex, each once, at most `most` of them. */
static int segments_at(const graph *g, int vertex, int *list, int most) {
    const ex_between *b = g->in->any;
    int count = 0;
    for (int k = b->triangle_starts[vertex]; k < b->triangle_starts[vertex + 1] && count < most; k++) {
        int s = g->s->triangles[b->triangle_list[k] / 3], at = 0;
        while (at < count && list[at] != s)
            at++;
        if (at == count)
            list[count++] = s;
    }
    return count;
}

static bool find_seams(graph *g) {
    const ex_between *b = g->in->any;
    int list[32];
    bool done = true;
    for (int v = 0; v < b->vertex_count && done; v++) {
        int count = segments_at(g, v, list, 32);
        for (int i = 1; i < count; i++)
            for (int k = 0; k < i && done; k++)
                done = add_seam(g, list[i], list[k], 1);
    }
    for (int i = 0; i < b->link_count && done; i++) {
        int ends[2] = {-1, -1};
        for (int e = 0; e < 2; e++)
            segments_at(g, b->links[i].vertices[e], &ends[e], 1);
        done = add_seam(g, ends[0], ends[1], 0);
    }
    if (!done || g->count == 0)
        return done;
    qsort(g->seams, g->count, sizeof *g->seams, compare_seams);
    size_t kept = 0;
    for (size_t k = 0; k < g->count; k++)
        if (kept > 0 && compare_seams(&g->seams[kept - 1], &g->seams[k]) == 0)
            g->seams[kept - 1].shared += g->seams[k].shared;
        else
            g->seams[kept++] = g->seams[k];
    g->count = kept;
    return true;
}

/* Keeps all seams of an edge or more, and the weaker kinds only if they join pieces that the stronger leave apart. */
static void choose_seams(graph *g) {
    size_t kept = 0;
    for (int i = 0; i < g->s->count; i++)
        g->sets[i] = i;
    for (int kind = 2; kind >= 0; kind--) {
        size_t first = kept;
        for (size_t k = first; k < g->count; k++) {
            seam x = g->seams[k];
            if ((x.shared > 2 ? 2 : x.shared) != kind ||
                (kind < 2 && exi_set_of(g->sets, x.a) == exi_set_of(g->sets, x.b)))
                continue;
            g->seams[k] = g->seams[kept]; /* the order of the remaining ones does not matter */
            g->seams[kept++] = x;
        }
        for (size_t k = first; k < kept; k++)
            exi_sets_join(g->sets, g->seams[k].a, g->seams[k].b);
    }
    g->count = kept;
    if (kept)
        qsort(g->seams, kept, sizeof *g->seams, compare_seams);
}

static bool list_neighbours(graph *g) {
    g->starts = calloc((size_t)g->s->count + 2, sizeof *g->starts);
    g->others = exi_array_allocate(2 * g->count, sizeof *g->others);
    if (!g->starts || !g->others)
        return false;
    for (size_t k = 0; k < g->count; k++) {
        g->starts[g->seams[k].a + 2]++;
        g->starts[g->seams[k].b + 2]++;
    }
    for (int i = 0; i < g->s->count; i++)
        g->starts[i + 2] += g->starts[i + 1];
    for (size_t k = 0; k < g->count; k++) {
        g->others[g->starts[g->seams[k].a + 1]++] = g->seams[k].b;
        g->others[g->starts[g->seams[k].b + 1]++] = g->seams[k].a;
    }
    return true;
}

/* Computes the steps from a segment to all that it reaches, -1 to the others. The order of the visit is in queue;
 * returns its length. */
static int walk(graph *g, int from) {
    int count = 1;
    for (int i = 0; i < g->s->count; i++)
        g->depths[i] = -1;
    g->depths[from] = 0;
    g->queue[0] = from;
    for (int head = 0; head < count; head++)
        for (int k = g->starts[g->queue[head]]; k < g->starts[g->queue[head] + 1]; k++)
            if (g->depths[g->others[k]] < 0) {
                g->depths[g->others[k]] = g->depths[g->queue[head]] + 1;
                g->queue[count++] = g->others[k];
            }
    return count;
}

/* Chooses the root of the piece that a segment belongs to. */
static int choose_root(graph *g, int member) {
    int count = walk(g, member), best = -1, least = INT_MAX;
    int *piece = g->sets; /* no longer needed as sets */
    memcpy(piece, g->queue, (size_t)count * sizeof *piece);
    for (int i = 0; i < count; i++)
        if (piece[i] == g->in->options->root)
            return piece[i];
    for (int i = 0; i < count; i++) {
        int reached = walk(g, piece[i]), far = g->depths[g->queue[reached - 1]];
        if (best < 0 || far < least ||
            (far == least && (g->s->areas[piece[i]] > g->s->areas[best] ||
                              (g->s->areas[piece[i]] == g->s->areas[best] && piece[i] < best)))) {
            best = piece[i];
            least = far;
        }
    }
    return best;
}

/* Sets parents along the last walk, and appends its order. */
static int hang(graph *g, int count, int done) {
    for (int i = 0; i < count; i++) {
        int s = g->queue[i], longest = -1;
        g->s->order[done++] = s;
        g->s->parents[s] = -1;
        for (size_t k = 0; k < g->count; k++) {
            const seam *x = &g->seams[k];
            int other = x->a == s ? x->b : x->a;
            if ((x->a != s && x->b != s) || g->depths[other] != g->depths[s] - 1 || x->shared <= longest)
                continue;
            longest = x->shared;
            g->s->parents[s] = other;
            g->s->loose[s] = x->shared == 0;
        }
    }
    return done;
}

static int depth(const exi_segmentation *s, int segment) {
    int count = 0;
    while ((segment = s->parents[segment]) >= 0)
        count++;
    return count;
}

/* Assigns each vertex to the segment with most of the area around it; of equals, to the one nearer to the root. */
static void own_vertices(const graph *g) {
    const ex_between *b = g->in->any;
    for (int v = 0; v < b->vertex_count; v++) {
        int list[32], count = segments_at(g, v, list, 32), best = g->s->order[0];
        double most = -1;
        for (int i = 0; i < count; i++) {
            double area = 0;
            for (int k = b->triangle_starts[v]; k < b->triangle_starts[v + 1]; k++)
                area += g->s->triangles[b->triangle_list[k] / 3] == list[i] ? b->areas[b->triangle_list[k] / 3] : 0;
            bool same = fabs(area - most) <= 1e-9 * most;
            int nearer = depth(g->s, list[i]) - depth(g->s, best);
            if (most < 0 || (!same && area > most) || (same && (nearer < 0 || (nearer == 0 && list[i] < best)))) {
                best = list[i];
                most = area;
            }
        }
        g->s->vertices[v] = (uint16_t)best;
    }
    /* A vertex without triangles joins the segment at the other end of its link. */
    for (int i = 0; i < b->link_count; i++)
        for (int e = 0; e < 2; e++) {
            int v = b->links[i].vertices[e], other = b->links[i].vertices[1 - e];
            if (b->triangle_starts[v] == b->triangle_starts[v + 1] &&
                b->triangle_starts[other] != b->triangle_starts[other + 1])
                g->s->vertices[v] = g->s->vertices[other];
        }
}

ex_result exi_segments_tree(const exi_segments_input *in, exi_segmentation *s, ex_error *error) {
    size_t count = (size_t)s->count;
    if (in->options->root >= s->count)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "segment %d cannot be the root: there are %d (counting from 0)",
                            in->options->root, s->count);
    graph g = {.in = in, .s = s};
    g.sets = exi_array_allocate(count, sizeof *g.sets);
    g.depths = exi_array_allocate(count, sizeof *g.depths);
    g.queue = exi_array_allocate(count, sizeof *g.queue);
    s->parents = exi_array_allocate(count, sizeof *s->parents);
    s->order = exi_array_allocate(count, sizeof *s->order);
    s->loose = calloc(count, sizeof *s->loose);
    bool done = g.sets && g.depths && g.queue && s->parents && s->order && s->loose && find_seams(&g);
    if (done) {
        choose_seams(&g);
        done = list_neighbours(&g);
    }
    if (done) {
        for (int i = 0; i < s->count; i++)
            s->parents[i] = -2;
        for (int i = 0, hung = 0; i < s->count; i++)
            if (s->parents[i] == -2) {
                int root = choose_root(&g, i);
                hung = hang(&g, walk(&g, root), hung);
            }
        own_vertices(&g);
    }
    free(g.seams);
    free(g.sets);
    free(g.depths);
    free(g.queue);
    free(g.starts);
    free(g.others);
    return done ? EX_OK : ex_error_memory(error, "the tree of segments", count * sizeof *g.sets);
}
