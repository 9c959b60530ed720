/*
 * Finds candidate places of one part from found markers alone: those with the colours of its sites, at the sites'
 * distances.
 *
 * A part attached at a joint needs two of them for a ball joint (each also at the right distance from the joint) and
 * none for a hinge, whose angles are all tried. An unattached part needs three. Every place is rated by the number of
 * further sites of the part that it explains; the best are then moved to fit these.
 */
#include "author/scan/label/label.h"

#include "runtime/base/vector.h"

#include <string.h>

enum { KEPT = 24, ANGLES = 72, NEAR = 7, FIRSTS = 24 };
#define BROAD 4.0 /* factor on variances when places are rated: the joint may be off, too */

/* ---- the best so far ---- */

typedef struct shortlist {
    const exi_label_body *body;
    int part;
    double widen;
    exi_label_place places[KEPT];
    double scores[KEPT];
    int count;
} shortlist;

static double score(shortlist *l, const exi_label_place *place, double widen, int *count) {
    l->body->elsewhere[l->part] = *place; /* mutual matching needs a whole body */
    return exi_label_mutual(l->body, l->part, l->part + 1, l->body->elsewhere, widen, l->body->matches, count,
                            l->body->taken);
}

static void insert(shortlist *l, const exi_label_place *place, double value, double metres, double radians) {
    int at = l->count;
    for (int i = 0; i < l->count; i++)
        if (exi_label_same(place, &l->places[i], metres, radians)) {
            if (l->scores[i] >= value)
                return;
            at = i; /* takes its place, and may move up */
            break;
        }
    if (at == l->count && l->count < KEPT)
        l->count++;
    else if (at == l->count && l->scores[KEPT - 1] >= value)
        return;
    else if (at == l->count)
        at = KEPT - 1;
    for (; at > 0 && l->scores[at - 1] < value; at--) {
        l->scores[at] = l->scores[at - 1];
        l->places[at] = l->places[at - 1];
    }
    l->scores[at] = value;
    l->places[at] = *place;
}

static void try_place(shortlist *l, const exi_label_place *place) {
    int count;
    const double value = score(l, place, l->widen, &count);
    if (count > 0)
        insert(l, place, value, 0.04, 0.25);
}

/* Moves the listed places onto the markers they explain, and returns the best of them. */
static int finish(shortlist *l, const exi_label_place *hung, int most, exi_label_place *places) {
    const int listed = l->count;
    exi_label_place raw[KEPT];
    memcpy(raw, l->places, sizeof raw);
    l->count = 0;
    for (int i = 0; i < listed; i++) {
        exi_label_place place = raw[i];
        int count;
        double widen = l->widen;
        for (int step = 0; step < 4; step++) {
            score(l, &place, widen, &count);
            exi_label_part_step(l->body, l->part, hung ? hung : &raw[i], l->body->matches, count, hung ? 1 : 1e-3,
                                &place);
            widen = 0.5 * (widen + 1);
        }
        insert(l, &place, score(l, &place, 2, &count), 0.03, 0.2);
    }
    const int count = l->count < most ? l->count : most;
    memcpy(places, l->places, (size_t)count * sizeof *places);
    return count;
}

/* ---- rotations from vectors ---- */

/* Makes an orthonormal frame whose first axis is along a and whose second is in the plane of a and b; returns false if
 * they are collinear. */
static bool make_frame(const double a[3], const double b[3], double frame[3][3]) {
    memcpy(frame[0], a, sizeof frame[0]);
    exi_cross(a, b, frame[2]);
    const double sine_sq = exi_dot3(frame[2], frame[2]) / (exi_dot3(a, a) * exi_dot3(b, b) + 1e-30);
    if (sine_sq < 0.03 || !exi_unit3(frame[0]) || !exi_unit3(frame[2]))
        return false;
    exi_cross(frame[2], frame[0], frame[1]);
    return true;
}

/* Computes the rotation that takes one frame to another, by the largest component. */
static void between(const double from[3][3], const double to[3][3], double q[4]) {
    double m[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            m[r][c] = to[0][r] * from[0][c] + to[1][r] * from[1][c] + to[2][r] * from[2][c];
    const double trace = m[0][0] + m[1][1] + m[2][2];
    int i = 0;
    for (int k = 1; k < 3; k++)
        i = m[k][k] > m[i][i] ? k : i;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    if (trace > m[i][i]) {
        q[0] = m[2][1] - m[1][2];
        q[1] = m[0][2] - m[2][0];
        q[2] = m[1][0] - m[0][1];
        q[3] = 1 + trace;
    } else {
        q[i] = 1 + m[i][i] - m[j][j] - m[k][k];
        q[j] = m[j][i] + m[i][j];
        q[k] = m[k][i] + m[i][k];
        q[3] = m[k][j] - m[j][k];
    }
    exi_normalise(q, 4);
}

static double length_of(const double v[3]) {
    return sqrt(exi_dot3(v, v));
}

/* ---- attached parts ---- */

static void try_angles(shortlist *l, const exi_label_place *hung) {
    const exi_label_part *part = &l->body->parts[l->part];
    for (int i = 0; i < ANGLES; i++) {
        const double half = 3.141592653589793 * i / ANGLES;
        double turn[4] = {sin(half) * part->axis[0], sin(half) * part->axis[1], sin(half) * part->axis[2], cos(half)};
        exi_label_place place = *hung;
        exi_quaternion_multiply(hung->rotation, turn, place.rotation);
        try_place(l, &place);
    }
}

static void try_pairs(shortlist *l, const exi_label_place *hung) {
    const exi_label_body *body = l->body;
    const exi_label_part *part = &body->parts[l->part];
    const ex_found_marker *found = body->def->found;
    const double slack_sq = body->slack * body->slack;
    for (int s = part->first; s < part->first + part->count; s++)
        for (int t = part->first; t < part->first + part->count; t++) {
            const exi_label_site *a = &body->sites[s], *b = &body->sites[t];
            const double reach_a = length_of(a->local), reach_b = length_of(b->local);
            const double off_a = 2.5 * sqrt(a->variance + slack_sq), off_b = 2.5 * sqrt(b->variance + slack_sq);
            double from[3][3], to[3][3], apart[3];
            exi_subtract(a->local, b->local, apart);
            const double distance = length_of(apart), off = 2.5 * sqrt(a->variance + b->variance);
            /* The farther one determines the direction better; each pair is tried once. */
            if (s == t || reach_a < reach_b || (reach_a == reach_b && s > t) || distance < 0.03 ||
                !make_frame(a->local, b->local, from))
                continue;
            for (int i = a->first; i < a->first + a->count; i++) {
                double u[3], v[3], w[3];
                exi_subtract(found[body->alike[i]].position, hung->at, u);
                if (fabs(length_of(u) - reach_a) > off_a)
                    continue;
                for (int k = b->first; k < b->first + b->count; k++) {
                    exi_subtract(found[body->alike[k]].position, hung->at, v);
                    exi_subtract(u, v, w);
                    if (body->alike[k] == body->alike[i] || fabs(length_of(v) - reach_b) > off_b ||
                        fabs(length_of(w) - distance) > off || !make_frame(u, v, to))
                        continue;
                    exi_label_place place = *hung;
                    between((const double(*)[3])from, (const double(*)[3])to, place.rotation);
                    try_place(l, &place);
                }
            }
        }
}

int exi_label_turns(const exi_label_body *body, int part, const exi_label_place *hung, int most,
                    exi_label_place *places) {
    shortlist list = {.body = body, .part = part, .widen = BROAD};
    if (body->parts[part].count == 0)
        return 0;
    if (body->parts[part].freedom == EX_FREEDOM_HINGE)
        try_angles(&list, hung);
    else
        try_pairs(&list, hung);
    return finish(&list, hung, most, places);
}

/* ---- unattached parts ---- */

/* Finds sites of the part near one, but far enough away to determine the rotation. Sites near each other are mostly
 * seen together. */
static int find_near(const exi_label_body *body, const exi_label_part *part, int site, int near[NEAR]) {
    double distances[NEAR];
    int count = 0;
    for (int t = part->first; t < part->first + part->count; t++) {
        double apart[3];
        exi_subtract(body->sites[t].local, body->sites[site].local, apart);
        const double distance = length_of(apart);
        if (distance < 0.05 || (count == NEAR && distance >= distances[NEAR - 1]))
            continue;
        int at = count < NEAR ? count++ : NEAR - 1;
        for (; at > 0 && distances[at - 1] > distance; at--) {
            distances[at] = distances[at - 1];
            near[at] = near[at - 1];
        }
        distances[at] = distance;
        near[at] = t;
    }
    return count;
}

/* Tries all found markers for three sites. */
static void try_triple(shortlist *l, const int sites[3]) {
    const exi_label_body *body = l->body;
    const ex_found_marker *found = body->def->found;
    const exi_label_site *s[3] = {&body->sites[sites[0]], &body->sites[sites[1]], &body->sites[sites[2]]};
    double u[3], v[3], w[3], from[3][3], to[3][3];
    exi_subtract(s[1]->local, s[0]->local, u);
    exi_subtract(s[2]->local, s[0]->local, v);
    exi_subtract(s[2]->local, s[1]->local, w);
    const double lengths[3] = {length_of(u), length_of(v), length_of(w)};
    const double off = 2 * sqrt(2 * s[0]->variance);
    if (!make_frame(u, v, from))
        return;
    for (int i = s[0]->first; i < s[0]->first + s[0]->count; i++)
        for (int j = s[1]->first; j < s[1]->first + s[1]->count; j++) {
            const double *a = found[body->alike[i]].position, *b = found[body->alike[j]].position;
            exi_subtract(b, a, u);
            if (body->alike[i] == body->alike[j] || fabs(length_of(u) - lengths[0]) > off)
                continue;
            for (int k = s[2]->first; k < s[2]->first + s[2]->count; k++) {
                const double *c = found[body->alike[k]].position;
                exi_subtract(c, a, v);
                exi_subtract(c, b, w);
                if (fabs(length_of(v) - lengths[1]) > off || fabs(length_of(w) - lengths[2]) > off ||
                    !make_frame(u, v, to))
                    continue;
                exi_label_place place = {.at = {0, 0, 0}};
                double centre[3];
                between((const double(*)[3])from, (const double(*)[3])to, place.rotation);
                for (int x = 0; x < 3; x++)
                    centre[x] = (s[0]->local[x] + s[1]->local[x] + s[2]->local[x]) / 3;
                exi_rotate(place.rotation, centre, centre);
                for (int x = 0; x < 3; x++)
                    place.at[x] = (a[x] + b[x] + c[x]) / 3 - centre[x];
                try_place(l, &place);
            }
        }
}

int exi_label_triples(const exi_label_body *body, int part, int most, exi_label_place *places) {
    const exi_label_part *p = &body->parts[part];
    shortlist list = {.body = body, .part = part, .widen = 2};
    if (p->count < 3)
        return 0;
    const int stride = 1 + p->count / FIRSTS; /* with many sites one triple is as good as another */
    for (int s = p->first; s < p->first + p->count; s += stride) {
        int near[NEAR];
        const int count = find_near(body, p, s, near);
        for (int i = 0; i < count; i++)
            for (int j = i + 1; j < count; j++)
                if (stride > 1 || near[i] > s || near[j] > s) /* most triples come up more than once */
                    try_triple(&list, (int[3]){s, near[i], near[j]});
    }
    return finish(&list, NULL, most, places);
}
