/*
 * The rest form: per vertex, the place whose skinned images are nearest to all forms,
 *
 *   (sum over forms of B' B) x = sum over forms of B' (y - b),    B x + b = sum over bones of w_b T_b x
 *
 * A vertex that no form shows moves with its neighbours. Where skin folds, blends are nearly singular, and places are
 * hardly determined. So if the rest form began as a template's, its edges are held a little, with the same matrices:
 *
 *   (A + sum over edges of e) x_v = a + sum over edges of e (x_u + o_v - o_u),    o: the template's form
 *
 * Also: forms un-posed, and distances.
 */
#include "author/base/array.h"
#include "author/scan/articulate/articulation.h"
#include "runtime/base/dense.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weight of an edge against all that forms say of a vertex; sweeps over the vertices. */
static const double edge_share = 0.01;
enum { SWEEPS = 24 };
/* Confidences of all forms together above which a vertex was seen. */
static const double seen_least = 0.05;
/* Least share of a delta that skinning keeps: bounds deltas where blends are nearly singular. */
static const double collapse_least = 0.02;

/* Blends the transforms [joint_count][12] of a vertex. */
static void blend(const exi_articulation *a, size_t vertex, double (*transforms)[12], double out[12]) {
    const size_t most = (size_t)a->influence_count;
    memset(out, 0, 12 * sizeof *out);
    for (size_t i = 0; i < most; i++) {
        const double w = a->weights[vertex * most + i];
        if (!(w > 0))
            continue;
        const double *t = transforms[a->joints[vertex * most + i]];
        for (int k = 0; k < 12; k++)
            out[k] += w * t[k];
    }
}

typedef struct rest_work {
    const exi_articulation *a;
    double (*transforms)[12]; /* [form_count][joint_count] */
    double *rest, *next;      /* to write */
    double (*systems)[12];    /* [vertex_count]: three rows of A | a, 0 if not seen; NULL: edges are not held */
    double edge;
    unsigned char *seen; /* [vertex_count] */
} rest_work;

static void find_some(void *context, int begin, int end) {
    const rest_work *w = context;
    const exi_articulation *a = w->a;
    for (int v = begin; v < end; v++) {
        double system[12] = {0}, weight = 0;
        for (int f = 0; f < a->form_count; f++) {
            const double seen = exi_art_counts(a, f) ? exi_art_seen(a, f, v) : 0;
            if (!(seen > 0))
                continue;
            const double *y = a->def->forms[f] + 3 * (size_t)v;
            double t[12];
            blend(a, (size_t)v, w->transforms + (size_t)f * (size_t)a->joint_count, t);
            for (int i = 0; i < 3; i++) {
                for (int k = 0; k < 3; k++)
                    system[4 * i + k] += seen * (t[i] * t[k] + t[4 + i] * t[4 + k] + t[8 + i] * t[8 + k]);
                for (int r = 0; r < 3; r++)
                    system[4 * i + 3] += seen * t[4 * r + i] * (y[r] - t[4 * r + 3]);
            }
            weight += seen;
        }
        const double hold = 1e-3 * weight; /* on the present place, for blends that are nearly singular */
        for (int i = 0; i < 3; i++) {
            system[5 * i] += hold;
            system[4 * i + 3] += hold * a->rest[3 * (size_t)v + (size_t)i];
        }
        if (w->systems && weight > seen_least)
            memcpy(w->systems[v], system, sizeof system);
        w->seen[v] = weight > seen_least && exi_solve_definite(system, 3, 1);
        for (int i = 0; i < 3; i++)
            w->rest[3 * (size_t)v + (size_t)i] = w->seen[v] ? system[4 * i + 3] : a->rest[3 * (size_t)v + (size_t)i];
    }
}

/* Moves vertices that were not seen by what their neighbours moved, from the edge of the hole inwards. */
static void fill_unseen(const exi_articulation *a, double *rest, unsigned char *seen) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int v = 0; v < a->vertex_count; v++) {
            double sum[3] = {0}, count = 0;
            if (seen[v])
                continue;
            for (int i = a->net.starts[v]; i < a->net.starts[v + 1]; i++) {
                const size_t u = (size_t)a->net.others[i];
                if (seen[u] != 1)
                    continue;
                for (size_t c = 0; c < 3; c++)
                    sum[c] += rest[3 * u + c] - a->rest[3 * u + c];
                count++;
            }
            if (count == 0)
                continue;
            for (size_t c = 0; c < 3; c++)
                rest[3 * (size_t)v + c] += sum[c] / count;
            seen[v] = 2; /* its neighbours follow in the next sweep */
            changed = true;
        }
        for (int v = 0; v < a->vertex_count; v++)
            seen[v] = seen[v] != 0;
    }
}

static void hold_some(void *context, int begin, int end) {
    const rest_work *w = context;
    const exi_articulation *a = w->a;
    for (size_t v = (size_t)begin; v < (size_t)end; v++) {
        double system[12];
        const bool seen = w->systems[v][0] > 0; /* others moved with their neighbours */
        memcpy(system, w->systems[v], sizeof system);
        for (int i = a->net.starts[v]; i < a->net.starts[v + 1]; i++) {
            const size_t u = (size_t)a->net.others[i];
            for (size_t c = 0; c < 3; c++) {
                system[5 * c] += w->edge;
                system[4 * c + 3] += w->edge * (w->rest[3 * u + c] + a->origin[3 * v + c] - a->origin[3 * u + c]);
            }
        }
        const bool good = seen && exi_solve_definite(system, 3, 1);
        for (size_t c = 0; c < 3; c++)
            w->next[3 * v + c] = good ? system[4 * c + 3] : w->rest[3 * v + c];
    }
}

/* Holds the template's edges. */
static void hold_edges(rest_work *w) {
    for (int f = 0; f < w->a->form_count; f++)
        w->edge += exi_art_counts(w->a, f) ? edge_share : 0;
    for (int k = 0; k < SWEEPS; k++) {
        exi_art_run(w->a, w->a->vertex_count, hold_some, w);
        double *swap = w->rest;
        w->rest = w->next;
        w->next = swap;
    }
}

static double (*all_transforms(const exi_articulation *a))[12] {
    const size_t count = (size_t)a->joint_count;
    double(*transforms)[12] = exi_array_allocate((size_t)a->form_count * count, sizeof *transforms);
    for (int f = 0; transforms && f < a->form_count; f++)
        exi_art_frames(a, a->turns + (size_t)f * count, a->bases[f], transforms + (size_t)f * count, NULL);
    return transforms;
}

ex_result exi_art_find_rest(exi_articulation *a, ex_error *error) {
    rest_work w = {.a = a, .transforms = all_transforms(a)};
    w.rest = exi_array_allocate(3 * (size_t)a->vertex_count, sizeof *w.rest);
    w.seen = exi_array_allocate((size_t)a->vertex_count, sizeof *w.seen);
    if (a->def->rest) {
        w.systems = calloc((size_t)a->vertex_count, sizeof *w.systems);
        w.next = exi_array_allocate(3 * (size_t)a->vertex_count, sizeof *w.next);
    }
    const bool good = w.transforms && w.rest && w.seen && (!a->def->rest || (w.systems && w.next));
    if (good) {
        exi_art_run(a, a->vertex_count, find_some, &w);
        fill_unseen(a, w.rest, w.seen);
        if (w.systems)
            hold_edges(&w);
        double *old = a->rest;
        a->rest = w.rest;
        w.rest = old;
    }
    free(w.transforms);
    free(w.rest);
    free(w.next);
    free(w.systems);
    free(w.seen);
    return good ? EX_OK : ex_error_memory(error, "the rest form", (size_t)a->vertex_count * 24);
}

/* ---- forms and the rest form ---- */

ex_result exi_art_unpose(const exi_articulation *a, int form, double (*turns)[4], const double base[3],
                         const double *rest, double *deltas, ex_error *error) {
    double(*transforms)[12] = exi_array_allocate((size_t)a->joint_count, sizeof *transforms);
    rest = rest ? rest : a->rest;
    if (!transforms)
        return ex_error_memory(error, "the un-posed form", (size_t)a->joint_count * sizeof *transforms);
    exi_art_frames(a, turns, base, transforms, NULL);
    for (size_t v = 0; v < (size_t)a->vertex_count; v++) {
        double t[12], system[12];
        const double *x = rest + 3 * v, *y = a->def->forms[form] + 3 * v;
        const bool seen = exi_art_seen(a, form, (int)v) > 0;
        blend(a, v, transforms, t);
        /* (B'B + least) d = B' (y - B x - b): as B's inverse, but bounded where linear skinning collapses */
        for (int i = 0; i < 3 && seen; i++) {
            for (int k = 0; k < 3; k++)
                system[4 * i + k] =
                    t[i] * t[k] + t[4 + i] * t[4 + k] + t[8 + i] * t[8 + k] + (i == k ? collapse_least : 0);
            system[4 * i + 3] = 0;
            for (int r = 0; r < 3; r++)
                system[4 * i + 3] += t[4 * r + i] * (y[r] - exi_dot3(t + 4 * r, x) - t[4 * r + 3]);
        }
        const bool good = seen && exi_solve_definite(system, 3, 1);
        for (size_t i = 0; i < 3; i++)
            deltas[3 * v + i] = good ? system[4 * i + 3] : 0;
    }
    free(transforms);
    return EX_OK;
}

ex_result exi_art_pose(const exi_articulation *a, double (*turns)[4], const double base[3], const double *rest,
                       double *positions, ex_error *error) {
    double(*transforms)[12] = exi_array_allocate((size_t)a->joint_count, sizeof *transforms);
    if (!transforms)
        return ex_error_memory(error, "the posed form", (size_t)a->joint_count * sizeof *transforms);
    exi_art_frames(a, turns, base, transforms, NULL);
    for (size_t v = 0; v < (size_t)a->vertex_count; v++) {
        double t[12];
        blend(a, v, transforms, t);
        for (size_t i = 0; i < 3; i++)
            positions[3 * v + i] = exi_dot3(t + 4 * i, rest + 3 * v) + t[4 * i + 3];
    }
    free(transforms);
    return EX_OK;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

ex_result exi_art_distance(const exi_articulation *a, int form, double (*turns)[4], const double base[3],
                           const double *rest, double *rms, double *high, ex_error *error) {
    double(*transforms)[12] = exi_array_allocate((size_t)a->joint_count, sizeof *transforms);
    double *distances = high ? exi_array_allocate((size_t)a->vertex_count, sizeof *distances) : NULL;
    size_t count = 0;
    double sum = 0, weight = 0;
    rest = rest ? rest : a->rest;
    if (!transforms || (high && !distances)) {
        free(transforms);
        free(distances);
        return ex_error_memory(error, "distances", (size_t)a->vertex_count * sizeof *distances);
    }
    exi_art_frames(a, turns, base, transforms, NULL);
    for (size_t v = 0; v < (size_t)a->vertex_count; v++) {
        const double seen = exi_art_seen(a, form, (int)v), *x = rest + 3 * v, *y = a->def->forms[form] + 3 * v;
        double t[12], square = 0;
        if (!(seen > 0))
            continue;
        blend(a, v, transforms, t);
        for (int i = 0; i < 3; i++) {
            const double d = exi_dot3(t + 4 * i, x) + t[4 * i + 3] - y[i];
            square += d * d;
        }
        sum += seen * square;
        weight += seen;
        if (distances && seen >= 0.5)
            distances[count++] = sqrt(square);
    }
    *rms = weight > 0 ? sqrt(sum / weight) : 0;
    if (high) {
        qsort(distances, count, sizeof *distances, compare);
        *high = count > 0 ? distances[(size_t)(0.95 * (double)(count - 1))] : 0;
    }
    free(transforms);
    free(distances);
    return EX_OK;
}

ex_result exi_art_rms(const exi_articulation *a, double *rms, ex_error *error) {
    ex_result result = EX_OK;
    double sum = 0;
    int count = 0;
    for (int f = 0; f < a->form_count && result == EX_OK; f++) {
        double one = 0;
        if (!exi_art_counts(a, f))
            continue;
        result =
            exi_art_distance(a, f, a->turns + (size_t)f * (size_t)a->joint_count, a->bases[f], NULL, &one, NULL, error);
        sum += one * one;
        count++;
    }
    *rms = count > 0 ? sqrt(sum / count) : 0;
    return result;
}
