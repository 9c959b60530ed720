/*
 * Computes the predicted position of a site and its derivatives by every unknown. With x the position, p_k, R_k the
 * position and rotation of joint k on the way to it, and R_a the rotation of the joint above k:
 *
 *     turning k about w (in the world):  dx = w x (x - p_k)     w = R_a e for a ball's e = 1, 2, 3; R_a a for a hinge
 *     translation of k:                  dx = R_a dt
 *     axis a of k, at angle T:           dx = (R_a v) x (x - p_k),   v = sin T da + (1 - cos T) a x da
 *     local position:                    dx = R_j dm
 *
 * v is the left Jacobian of the exponential map, applied to T da, for da perpendicular to a. A mirrored joint takes its
 * owner's dt and da through the mirror. A site tied to the reference has m = R_j^T (o - p_j) there, and so loses what
 * the translations gain: dm = -R_j^T R_a dt with the reference's rotations.
 */
#include "author/scan/fit/fit.h"

#include "runtime/base/functions.inl"
#include "runtime/base/vector.h"

#include <string.h>

/* ---- frames ---- */

bool exi_fit_make_frames(exi_arena *arena, int joint_count, exi_fit_frames *frames) {
    const size_t n = (size_t)joint_count;
    frames->rotations = exi_arena_allocate(arena, n, sizeof *frames->rotations);
    frames->places = exi_arena_allocate(arena, n, sizeof *frames->places);
    frames->turning = exi_arena_allocate(arena, n, sizeof *frames->turning);
    frames->tilting = exi_arena_allocate(arena, n, sizeof *frames->tilting);
    return frames->rotations && frames->places && frames->turning && frames->tilting;
}

void exi_fit_across(const double a[3], double b[2][3]) {
    int least = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(a[i]) < fabs(a[least]))
            least = i;
    double e[3] = {0};
    e[least] = 1;
    exi_cross(a, e, b[0]);
    exi_unit3(b[0]);
    exi_cross(a, b[0], b[1]);
}

void exi_fit_turn(const double w[3], double q[4]) {
    const double angle = sqrt(exi_dot3(w, w));
    double s = 0, c = 1;
    exi_sin_cos(0.5 * fmod(angle, 4 * 3.14159265358979323846), &s, &c);
    for (int i = 0; i < 3; i++)
        q[i] = angle > 0 ? w[i] * (s / angle) : 0;
    q[3] = c;
}

static void apply(const double m[9], const double v[3], double out[3]) {
    const double x = v[0], y = v[1], z = v[2];
    for (int i = 0; i < 3; i++)
        out[i] = m[3 * i] * x + m[3 * i + 1] * y + m[3 * i + 2] * z;
}

static void multiply(const double a[9], const double b[9], double out[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

static const double no_turn[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static void frame_hinge(const exi_fit *f, const exi_fit_state *state, int j, double angle, const double above[9],
                        exi_fit_frames *frames, double q[4]) {
    const double *a = state->axes[j];
    double s, c, b[2][3], sine, cosine;
    exi_sin_cos(0.5 * angle, &s, &c);
    for (int i = 0; i < 3; i++)
        q[i] = s * a[i];
    q[3] = c;
    sine = 2 * s * c;
    cosine = c * c - s * s;
    apply(above, a, frames->turning[j]);
    exi_fit_across(state->axes[f->axis_owners[j]], b);
    for (int k = 0; k < 2; k++) {
        double da[3], across[3], v[3];
        memcpy(da, b[k], sizeof da);
        if (f->mirrored_axis[j])
            exi_kin_mirror_axis(b[k], da);
        exi_cross(a, da, across);
        for (int i = 0; i < 3; i++)
            v[i] = sine * da[i] + (1 - cosine) * across[i];
        apply(above, v, frames->tilting[j][k]);
    }
}

void exi_fit_frame(const exi_fit *f, const exi_fit_state *state, int scan, exi_fit_frames *frames) {
    const size_t row = (size_t)scan * (size_t)f->joint_count;
    for (int j = 0; j < f->joint_count; j++) {
        const ex_kin_joint *joint = &f->kinematics->joints[j];
        const int parent = joint->parent;
        const double *above = parent < 0 ? no_turn : frames->rotations[parent];
        double q[4], m[9], t[3];
        memcpy(q, state->turns[row + (size_t)j], sizeof q);
        if (joint->freedom == EX_FREEDOM_HINGE)
            frame_hinge(f, state, j, state->angles[row + (size_t)j], above, frames, q);
        exi_quaternion_matrix(q, m);
        multiply(above, m, frames->rotations[j]);
        apply(above, state->translations[j], t);
        for (int i = 0; i < 3; i++)
            frames->places[j][i] = parent < 0 ? state->bases[scan][i] : frames->places[parent][i] + t[i];
    }
}

void exi_fit_predict(const exi_fit *f, const exi_fit_state *state, const exi_fit_frames *frames, int site,
                     double at[3]) {
    const int joint = f->kinematics->sites[site].joint;
    apply(frames->rotations[joint], state->locals[site], at);
    for (int i = 0; i < 3; i++)
        at[i] += frames->places[joint][i];
}

/* ---- derivatives ---- */

bool exi_fit_make_rows(exi_arena *arena, const exi_fit *f, exi_fit_rows *rows) {
    const size_t n = 5 * (size_t)f->depth + 6;
    rows->pose_columns = exi_arena_allocate(arena, n, sizeof *rows->pose_columns);
    rows->kin_columns = exi_arena_allocate(arena, n, sizeof *rows->kin_columns);
    rows->pose = exi_arena_allocate(arena, n, sizeof *rows->pose);
    rows->kin = exi_arena_allocate(arena, n, sizeof *rows->kin);
    return rows->pose_columns && rows->kin_columns && rows->pose && rows->kin;
}

/* Two joints of a chain may have the same owner: then their columns add up. */
static double *kin_column(exi_fit_rows *rows, int column) {
    for (int k = 0; k < rows->kin_count; k++)
        if (rows->kin_columns[k] == column)
            return rows->kin[k];
    double *out = rows->kin[rows->kin_count];
    rows->kin_columns[rows->kin_count++] = column;
    memset(out, 0, 3 * sizeof *out);
    return out;
}

static void derive_translation(const exi_fit *f, const exi_fit_frames *frames, int site, int k, const double above[9],
                               exi_fit_rows *rows) {
    const int joint = f->kinematics->sites[site].joint, parent = f->kinematics->joints[k].parent;
    double d[9];
    memcpy(d, above, sizeof d);
    if (f->tied[site]) {
        double back[9], lost[9];
        const double *rj = f->reference_turns[joint], *ra = f->reference_turns[parent];
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 3; c++)
                back[3 * i + c] = rj[i] * ra[c] + rj[3 + i] * ra[3 + c] + rj[6 + i] * ra[6 + c];
        multiply(frames->rotations[joint], back, lost);
        for (int i = 0; i < 9; i++)
            d[i] -= lost[i];
    }
    for (int c = 0; c < 3; c++) {
        double *out = kin_column(rows, f->translation_columns[k] + c);
        const double sign = c == 0 && f->mirrored_translation[k] ? -1 : 1;
        for (int i = 0; i < 3; i++)
            out[i] += sign * d[3 * i + c];
    }
}

void exi_fit_derive(const exi_fit *f, const exi_fit_state *state, const exi_fit_frames *frames, int scan, int site,
                    const double at[3], bool kinematics, exi_fit_rows *rows) {
    (void)state;
    rows->pose_count = rows->kin_count = 0;
    const int *columns = f->pose_columns + (size_t)scan * (size_t)f->joint_count;
    for (int k = f->kinematics->sites[site].joint; k >= 0; k = f->kinematics->joints[k].parent) {
        const ex_kin_joint *joint = &f->kinematics->joints[k];
        const double *above = joint->parent < 0 ? no_turn : frames->rotations[joint->parent];
        double arm[3];
        exi_subtract(at, frames->places[k], arm);
        if (columns[k] >= 0 && joint->freedom == EX_FREEDOM_HINGE) {
            rows->pose_columns[rows->pose_count] = columns[k];
            exi_cross(frames->turning[k], arm, rows->pose[rows->pose_count++]);
        } else if (columns[k] >= 0) {
            for (int c = 0; c < 3; c++) {
                const double e[3] = {above[c], above[3 + c], above[6 + c]};
                rows->pose_columns[rows->pose_count] = columns[k] + c;
                exi_cross(e, arm, rows->pose[rows->pose_count++]);
            }
        }
        if (kinematics && f->translation_columns[k] >= 0)
            derive_translation(f, frames, site, k, above, rows);
        for (int c = 0; kinematics && f->axis_columns[k] >= 0 && c < 2; c++) {
            double d[3], *out = kin_column(rows, f->axis_columns[k] + c);
            exi_cross(frames->tilting[k][c], arm, d);
            for (int i = 0; i < 3; i++)
                out[i] += d[i];
        }
    }
    for (int c = 0; f->scans[scan].base_column >= 0 && c < 3; c++) {
        rows->pose_columns[rows->pose_count] = f->scans[scan].base_column + c;
        for (int i = 0; i < 3; i++)
            rows->pose[rows->pose_count][i] = i == c;
        rows->pose_count++;
    }
}

/* ---- steps ---- */

static void follow_reference(exi_fit *f) {
    exi_fit_frames *frames = &f->chunks[0].frames;
    exi_fit_state *next = &f->next;
    exi_fit_frame(f, next, f->def->reference, frames);
    for (int m = f->scans[f->def->reference].begin; m < f->scans[f->def->reference].end; m++) {
        const exi_fit_mark *mark = &f->marks[m];
        if (!f->tied[mark->site])
            continue;
        const double *r = frames->rotations[mark->joint];
        double d[3];
        exi_subtract(mark->at, frames->places[mark->joint], d);
        for (int i = 0; i < 3; i++)
            next->locals[mark->site][i] = r[i] * d[0] + r[3 + i] * d[1] + r[6 + i] * d[2];
    }
}

void exi_fit_step_shared(exi_fit *f, const double *step) {
    const exi_fit_state *now = &f->now;
    exi_fit_state *next = &f->next;
    const int sites = f->shared_count - f->kin_count;
    bool any_tied = false;
    for (int s = 0; s < f->site_count; s++) {
        for (int i = 0; i < 3; i++)
            next->locals[s][i] = now->locals[s][i] + (f->site_columns[s] >= 0 ? step[f->site_columns[s] + i] : 0);
        any_tied = any_tied || f->tied[s];
    }
    for (int j = 0; j < f->joint_count; j++) {
        const int owner = f->translation_owners[j], axis_owner = f->axis_owners[j];
        memcpy(next->translations[j], now->translations[j], sizeof next->translations[j]);
        memcpy(next->axes[j], now->axes[j], sizeof next->axes[j]);
        if (f->translation_columns[j] >= 0 && owner == j)
            for (int i = 0; i < 3; i++)
                next->translations[j][i] += step[sites + f->translation_columns[j] + i];
        else if (f->translation_columns[j] >= 0 && f->mirrored_translation[j])
            exi_kin_mirror_translation(next->translations[owner], next->translations[j]);
        else if (f->translation_columns[j] >= 0)
            memcpy(next->translations[j], next->translations[owner], sizeof next->translations[j]);
        if (f->axis_columns[j] >= 0 && axis_owner == j) {
            double b[2][3];
            exi_fit_across(now->axes[j], b);
            for (int k = 0; k < 2; k++)
                for (int i = 0; i < 3; i++)
                    next->axes[j][i] += step[sites + f->axis_columns[j] + k] * b[k][i];
            exi_unit3(next->axes[j]);
        } else if (f->axis_columns[j] >= 0 && f->mirrored_axis[j]) {
            exi_kin_mirror_axis(next->axes[axis_owner], next->axes[j]);
        } else if (f->axis_columns[j] >= 0) {
            memcpy(next->axes[j], next->axes[axis_owner], sizeof next->axes[j]);
        }
    }
    if (any_tied) /* the reference's own pose is fixed meanwhile */
        exi_fit_step_pose(f, f->def->reference, NULL), follow_reference(f);
}

void exi_fit_step_pose(exi_fit *f, int scan, const double *step) {
    const size_t row = (size_t)scan * (size_t)f->joint_count;
    const exi_fit_scan *s = &f->scans[scan];
    for (int i = 0; i < 3; i++)
        f->next.bases[scan][i] = f->now.bases[scan][i] + (step && s->base_column >= 0 ? step[s->base_column + i] : 0);
    for (int j = 0; j < f->joint_count; j++) {
        const size_t at = row + (size_t)j;
        const int column = f->pose_columns[at];
        double *q = f->next.turns[at];
        memcpy(q, f->now.turns[at], 4 * sizeof *q);
        f->next.angles[at] = f->now.angles[at];
        if (!step || column < 0)
            continue;
        if (f->kinematics->joints[j].freedom == EX_FREEDOM_HINGE) {
            f->next.angles[at] += step[column];
            continue;
        }
        double turn[4];
        exi_fit_turn(step + column, turn);
        exi_quaternion_multiply(turn, q, q);
        exi_normalise(q, 4);
    }
}
