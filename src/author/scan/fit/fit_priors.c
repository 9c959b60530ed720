/*
 * Priors that hold undetermined or weakly determined unknowns: translations, axes and, without a reference, sites near
 * their start; translations small along a hinge's own axis, where the joint's position cannot be seen (section 3.1); in
 * single scans, rotations that the markers leave open, and the reference's base. All are squares with small weights.
 */
#include "author/scan/fit/fit.h"

#include "runtime/base/vector.h"

/* ---- of one scan ---- */

/* Computes the rotation that would bring a joint back to its start; for a hinge only the first number. */
static void turn_back(const exi_fit *f, const exi_fit_state *state, size_t at, bool hinge, double w[3]) {
    const double *q = state->turns[at], *q0 = f->begin.turns[at];
    const double back[4] = {-q[0], -q[1], -q[2], q[3]};
    double d[4];
    exi_quaternion_multiply(q0, back, d);
    for (int i = 0; i < 3; i++)
        w[i] = 2 * d[i] * (d[3] < 0 ? -1 : 1);
    if (hinge) {
        w[0] = f->begin.angles[at] - state->angles[at];
        w[1] = w[2] = 0;
    }
}

double exi_fit_hold_cost(const exi_fit *f, const exi_fit_state *state, int scan) {
    const exi_fit_scan *s = &f->scans[scan];
    const size_t row = (size_t)scan * (size_t)f->joint_count;
    double w[3], cost = 0;
    if (s->reference && s->base_column >= 0) {
        exi_subtract(state->bases[scan], f->begin.bases[scan], w);
        cost += f->hold_base * exi_dot3(w, w);
    }
    for (int j = 0; j < f->joint_count; j++) {
        double weight;
        if (f->pose_columns[row + (size_t)j] < 0)
            continue;
        if (f->turn_holds[row + (size_t)j] > 0) {
            turn_back(f, state, row + (size_t)j, f->kinematics->joints[j].freedom == EX_FREEDOM_HINGE, w);
            cost += f->turn_holds[row + (size_t)j] * exi_dot3(w, w);
        }
        const double beyond = exi_fit_beyond(f, state, scan, j, &weight);
        if (beyond != 0)
            cost += weight * beyond * beyond;
    }
    return cost;
}

void exi_fit_add_holds(const exi_fit *f, int scan, double *v, double *b, int n) {
    const exi_fit_scan *s = &f->scans[scan];
    const size_t row = (size_t)scan * (size_t)f->joint_count;
    for (int i = 0; s->reference && s->base_column >= 0 && i < 3; i++) {
        v[(size_t)(s->base_column + i) * (size_t)(n + 1)] += f->hold_base;
        b[s->base_column + i] += f->hold_base * (f->begin.bases[scan][i] - f->now.bases[scan][i]);
    }
    for (int j = 0; j < f->joint_count; j++) {
        const double hold = f->turn_holds[row + (size_t)j];
        const int column = f->pose_columns[row + (size_t)j];
        const bool hinge = f->kinematics->joints[j].freedom == EX_FREEDOM_HINGE;
        double w[3], weight;
        if (column < 0)
            continue;
        const double beyond = exi_fit_beyond(f, &f->now, scan, j, &weight);
        if (beyond != 0) {
            v[(size_t)column * (size_t)(n + 1)] += weight;
            b[column] -= weight * beyond;
        }
        if (!(hold > 0))
            continue;
        turn_back(f, &f->now, row + (size_t)j, hinge, w);
        for (int i = 0; i < (hinge ? 1 : 3); i++) {
            v[(size_t)(column + i) * (size_t)(n + 1)] += hold;
            b[column + i] += hold * w[i];
        }
    }
}

/* ---- of all scans ---- */

static void add_joint_priors(exi_fit *f, int j) {
    const int n = f->shared_count, base = n - f->kin_count;
    const int t = f->translation_columns[j], a = f->axis_columns[j];
    double *h = f->shared_matrix, *b = f->shared_right, *d = f->shared_diagonal, across[2][3];
    const double *now = f->now.translations[j], *axis = f->now.axes[j];
    exi_fit_across(axis, across);
    if (t >= 0 && f->translation_owners[j] == j) {
        double off[3];
        exi_subtract(f->begin.translations[j], now, off);
        for (int i = 0; i < 3; i++)
            for (int c = i; c < 3; c++)
                h[(size_t)(base + t + i) * (size_t)n + (size_t)(base + t + c)] +=
                    f->extra_hold[j][3 * i + c] + (i == c ? f->hold_translation : 0);
        for (int i = 0; i < 3; i++) {
            b[base + t + i] += f->hold_translation * off[i];
            d[base + t + i] += f->hold_translation + f->extra_hold[j][4 * i];
            for (int c = 0; c < 3; c++)
                b[base + t + i] += f->extra_hold[j][3 * i + c] * off[c];
        }
    }
    if (a >= 0 && f->axis_owners[j] == j)
        for (int k = 0; k < 2; k++) {
            const double hold = f->hold_axis + f->extra_axis[j];
            h[(size_t)(base + a + k) * (size_t)(n + 1)] += hold;
            d[base + a + k] += hold;
            b[base + a + k] += hold * exi_dot3(f->begin.axes[j], across[k]);
        }
    if (t < 0 || f->translation_owners[j] != j || f->preferences[j] <= 0)
        return;
    const bool free_axis = a >= 0 && f->axis_owners[j] == j;
    const double s = exi_dot3(axis, now);
    const double row[5] = {axis[0], axis[1], axis[2], exi_dot3(across[0], now), exi_dot3(across[1], now)};
    for (int i = 0; i < (free_axis ? 5 : 3); i++) {
        const int ci = base + (i < 3 ? t + i : a + i - 3);
        b[ci] -= f->preferences[j] * row[i] * s;
        d[ci] += f->preferences[j] * row[i] * row[i];
        for (int k = i; k < (free_axis ? 5 : 3); k++) {
            const int ck = base + (k < 3 ? t + k : a + k - 3);
            h[ci <= ck ? (size_t)ci * (size_t)n + (size_t)ck : (size_t)ck * (size_t)n + (size_t)ci] +=
                f->preferences[j] * row[i] * row[k];
        }
    }
}

static double joint_prior_cost(const exi_fit *f, const exi_fit_state *state, int j) {
    double cost = 0, off[3];
    if (f->translation_columns[j] >= 0 && f->translation_owners[j] == j) {
        exi_subtract(f->begin.translations[j], state->translations[j], off);
        cost += f->hold_translation * exi_dot3(off, off);
        for (int i = 0; i < 3; i++)
            cost += off[i] * exi_dot3(f->extra_hold[j] + 3 * i, off);
        const double s = exi_dot3(state->axes[j], state->translations[j]);
        cost += f->preferences[j] * s * s;
    }
    if (f->axis_columns[j] >= 0 && f->axis_owners[j] == j) {
        exi_subtract(f->begin.axes[j], state->axes[j], off);
        cost += (f->hold_axis + f->extra_axis[j]) * exi_dot3(off, off);
    }
    return cost;
}

void exi_fit_add_priors(exi_fit *f) {
    const size_t n = (size_t)f->shared_count;
    for (int j = 1; j < f->joint_count; j++)
        add_joint_priors(f, j);
    if (f->person)
        exi_fit_add_person(f);
    for (int s = 0; s < f->site_count; s++)
        for (int i = 0; f->hold_site > 0 && f->site_columns[s] >= 0 && i < 3; i++) {
            const size_t c = (size_t)(f->site_columns[s] + i);
            f->shared_matrix[c * (n + 1)] += f->hold_site;
            f->shared_diagonal[c] += f->hold_site;
            f->shared_right[c] += f->hold_site * (f->begin.locals[s][i] - f->now.locals[s][i]);
        }
}

double exi_fit_prior_cost(const exi_fit *f, const exi_fit_state *state) {
    double cost = 0;
    for (int j = 1; j < f->joint_count; j++)
        cost += joint_prior_cost(f, state, j);
    if (f->person)
        cost += exi_fit_person_cost(f, state);
    for (int s = 0; s < f->site_count; s++)
        if (f->hold_site > 0 && f->site_columns[s] >= 0) {
            double d[3];
            exi_subtract(state->locals[s], f->begin.locals[s], d);
            cost += f->hold_site * exi_dot3(d, d);
        }
    return cost;
}
