/*
 * Anchors. A single vertex that is pulled far makes a spike in a surface that resists stretching only. So at first an
 * anchor holds the patch of skin around it: every vertex v of the patch is pulled to
 *
 *   target + T (p_v - p_a),   T the present rotation and scale at the anchor, p the rest form,
 *
 * with a share that falls to 0 at the patch's radius. Patches shrink from level to level. At the last levels anchors
 * say where the skin is along the surface, and the scan how far out: a landmark clicked 4 mm off made a dent otherwise.
 */
#include "author/scan/register/register.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIGMA 0.005
/* Pulls along a line: the ratio of weights across the normal and along it. */
#define ALONG_LINE 20.0
enum { PATCH_MOST = 1024 };

void exi_reg_anchor_at(const ex_register_anchor *anchor, const double (*x)[3], double at[3]) {
    for (int k = 0; k < 3; k++) {
        at[k] = 0;
        for (int c = 0; c < 3; c++)
            at[k] += anchor->shares[c] != 0 ? anchor->shares[c] * x[anchor->vertices[c]][k] : 0;
    }
}

void exi_reg_patches_free(exi_reg_patches *p) {
    free(p->patches);
    free(p->vertices);
    free(p->shares);
    free(p->nearest);
    *p = (exi_reg_patches){0};
}

/* Work memory for the search along edges. */
typedef struct walk {
    const exi_reg_shape *shape;
    int count;
    int vertices[PATCH_MOST];
    double away[PATCH_MOST];
    bool done[PATCH_MOST];
} walk;

static void reach_vertex(walk *w, int vertex, double away) {
    for (int i = 0; i < w->count; i++)
        if (w->vertices[i] == vertex) {
            w->away[i] = fmin(w->away[i], away);
            return;
        }
    if (w->count == PATCH_MOST)
        return;
    w->vertices[w->count] = vertex;
    w->away[w->count] = away;
    w->done[w->count++] = false;
}

/* Finds the vertices within a distance along the edges (Dijkstra; patches are small, so lists are searched). */
static void walk_from(walk *w, const ex_register_anchor *anchor, double radius) {
    const exi_reg_shape *s = w->shape;
    double at[3];
    exi_reg_anchor_at(anchor, (const double(*)[3])s->rest, at);
    w->count = 0;
    for (int c = 0; c < 3; c++)
        if (anchor->shares[c] > 0) {
            double d[3];
            exi_subtract(s->rest[anchor->vertices[c]], at, d);
            reach_vertex(w, anchor->vertices[c], sqrt(exi_dot3(d, d)));
        }
    for (;;) {
        int next = -1;
        for (int i = 0; i < w->count; i++)
            if (!w->done[i] && (next < 0 || w->away[i] < w->away[next]))
                next = i;
        if (next < 0)
            return;
        w->done[next] = true;
        const int v = w->vertices[next];
        for (int i = s->around_starts[v]; i < s->around_starts[v + 1]; i++)
            for (int k = 0; k < 3; k++) {
                const int other = (int)s->triangles[3 * (size_t)s->around[i] + (size_t)k];
                double d[3];
                exi_subtract(s->rest[other], s->rest[v], d);
                const double away = w->away[next] + sqrt(exi_dot3(d, d));
                if (away < radius)
                    reach_vertex(w, other, away);
            }
    }
}

/* Shares of a patch; the nearest vertex alone if no other is within the radius. */
static void share_out(const walk *w, int nearest, double radius, int *vertices, double *shares, int *count) {
    double total = 0;
    *count = 0;
    for (int i = 0; i < w->count; i++) {
        const double part = w->away[i] / radius,
                     share = part < 1 ? (1 - part * part) * w->shape->areas[w->vertices[i]] : 0;
        if (share > 0) {
            vertices[*count] = w->vertices[i];
            shares[(*count)++] = share;
            total += share;
        }
    }
    if (*count == 0) {
        vertices[0] = nearest;
        shares[0] = total = 1;
        *count = 1;
    }
    for (int i = 0; i < *count; i++)
        shares[i] /= total;
}

ex_result exi_reg_patches_make(const exi_reg_shape *shape, const ex_register_def *def, double radius,
                               exi_reg_patches *p, ex_error *error) {
    const size_t anchors = (size_t)def->anchor_count;
    size_t vertex_capacity = 0, share_capacity = 0, used = 0;
    *p = (exi_reg_patches){.count = def->anchor_count};
    walk *w = malloc(sizeof *w);
    p->patches = exi_array_allocate(anchors, sizeof *p->patches);
    p->nearest = exi_array_allocate(anchors, sizeof *p->nearest);
    bool good = w && p->patches && p->nearest;
    for (size_t a = 0; a < anchors && good; a++) {
        const ex_register_anchor *anchor = &def->anchors[a];
        int best = 0;
        for (int c = 1; c < 3; c++)
            best = anchor->shares[c] > anchor->shares[best] ? c : best;
        p->nearest[a] = anchor->vertices[best];
        w->shape = shape;
        walk_from(w, anchor, radius);
        int *vertices = exi_array_grow(p->vertices, &vertex_capacity, used + PATCH_MOST, sizeof *vertices);
        p->vertices = vertices ? vertices : p->vertices;
        double *shares = exi_array_grow(p->shares, &share_capacity, used + PATCH_MOST, sizeof *shares);
        p->shares = shares ? shares : p->shares;
        good = vertices && shares;
        if (good) {
            p->patches[a].first = (int)used;
            share_out(w, p->nearest[a], radius, vertices + used, shares + used, &p->patches[a].count);
            used += (size_t)p->patches[a].count;
        }
    }
    free(w);
    if (good)
        return EX_OK;
    exi_reg_patches_free(p);
    return ex_error_memory(error, "the anchors", anchors * PATCH_MOST * 12);
}

int exi_reg_patches_size(const exi_reg_patches *p) {
    return p->count > 0 ? p->patches[p->count - 1].first + p->patches[p->count - 1].count : 0;
}

void exi_reg_patches_pull(const exi_reg_patches *p, const ex_register_def *def, const exi_reg_turns *turns,
                          const double (*x)[3], const exi_reg_point *points, double weight, double doubt,
                          exi_reg_pull *pulls) {
    for (int a = 0; a < p->count; a++) {
        const ex_register_anchor *anchor = &def->anchors[a];
        const double sigma = (anchor->sigma > 0 ? anchor->sigma : SIGMA) / SIGMA;
        double at[3], d[3], trust = 1;
        exi_reg_anchor_at(anchor, x, at);
        exi_subtract(anchor->target, at, d);
        if (isfinite(doubt)) {
            const double part = doubt * doubt * fmax(1, sigma * sigma);
            trust = part / (part + exi_dot3(d, d));
        }
        for (int i = 0; i < p->patches[a].count; i++) {
            exi_reg_pull *pull = &pulls[p->patches[a].first + i];
            *pull = (exi_reg_pull){.across = 1};
            for (int c = 0; c < 3; c++)
                pull->vertices[c] = p->vertices[p->patches[a].first + i];
            pull->shares[0] = 1;
            if (points) {
                pull->across = ALONG_LINE;
                for (int k = 0; k < 3; k++)
                    pull->normal[k] = (double)points[p->nearest[a]].normal[k];
            }
            pull->weight = weight / pull->across * trust * trust / (sigma * sigma) * p->shares[p->patches[a].first + i];
        }
    }
    exi_reg_patches_aim(p, def, turns, pulls);
}

void exi_reg_patches_aim(const exi_reg_patches *p, const ex_register_def *def, const exi_reg_turns *turns,
                         exi_reg_pull *pulls) {
    for (int a = 0; a < p->count; a++) {
        const ex_register_anchor *anchor = &def->anchors[a];
        const int near = p->nearest[a];
        double own[3];
        exi_reg_anchor_at(anchor, (const double(*)[3])turns->forms, own);
        for (int i = 0; i < p->patches[a].count; i++) {
            exi_reg_pull *pull = &pulls[p->patches[a].first + i];
            double e[3];
            exi_subtract(turns->forms[pull->vertices[0]], own, e);
            for (int k = 0; k < 3; k++)
                pull->target[k] = anchor->target[k] + turns->scales[near] * exi_dot3(turns->rotations[near][k], e);
        }
    }
}

ex_result ex_register_anchor_find(const ex_mesh *mesh, const double point[3], const double target[3],
                                  ex_register_anchor *anchor, ex_error *error) {
    if (!mesh || !point || !target || !anchor)
        return exi_misuse_error(error, __func__, "a template, a point, a target and an anchor are needed");
    int *triangles = NULL, count = 0;
    double least = INFINITY;
    if (mesh->face_count < 1)
        return ex_error_set(error, EX_ERROR_DATA, "the template has no faces: it must be a surface");
    ex_result result = ex_mesh_triangulate(mesh, &triangles, &count, error);
    if (result != EX_OK)
        return result;
    *anchor = (ex_register_anchor){.shares = {1, 0, 0}};
    memcpy(anchor->target, target, sizeof anchor->target);
    for (int t = 0; t < count; t++) {
        int vertices[3];
        double p[3][3], shares[3];
        for (int k = 0; k < 3; k++) {
            vertices[k] = mesh->corners[triangles[3 * t + k]];
            memcpy(p[k], mesh->positions + 3 * (size_t)vertices[k], sizeof p[k]);
        }
        const double sq = exi_reg_closest(p[0], p[1], p[2], point, shares);
        if (!(sq < least))
            continue;
        least = sq;
        memcpy(anchor->vertices, vertices, sizeof vertices);
        memcpy(anchor->shares, shares, sizeof shares);
    }
    free(triangles);
    return EX_OK;
}
