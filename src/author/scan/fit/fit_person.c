/*
 * Draws bones and axes to those of a usual person, so that what markers show badly cannot run away.
 *
 * The usual skeleton has bones u and axes b in its own neutral pose. Frames of the fit are parallel to the world in the
 * reference scan, whatever pose that is. So a second set of rotations is needed: Q_j turns the frame of joint j from
 * the neutral pose to the reference. Markers say nothing about Q; bones do. With p the joint above j, s the size of the
 * person, t and a the bones and axes of the fit, and ' a twin on the other side, Q and s are the least of
 *
 *     sum_j |Q_p^T t_j - s u_j|^2 / sd^2          along a bone: 6 % of its length and 1 cm; across it: 2 cm
 *   + sum_j |Q_p^T a_j - b_j|^2 / (10 degrees)^2  for hinges
 *   + sum_j |Q_p^T t_j - M Q_p'^T t_j'|^2 / (8 mm)^2    M mirrors in x; joints of the trunk are their own twins
 *   + small terms: each turn Q_p^T Q_j near its start; hinges of all scans in their ranges
 *
 * where a hinge's own Q_j = exp(angle a_j) Q_p. The first three, times ten variances of a marker, then join the fit as
 * priors on t and a; ten, because errors of markers side by side, and of one marker in similar poses, are alike.
 * Lengths of segments relative to stature vary by 3 to 5 % (one standard deviation) between adults; joint centres of
 * skeletons scaled by stature are off by 1 to 2 cm; left and right differ by a few millimetres.
 */
#include "author/scan/fit/fit.h"

#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <string.h>

#define SD_ALONG     0.06  /* of a bone's length */
#define SD_LENGTH    0.01  /* metres, added to it */
#define SD_ACROSS    0.02  /* metres */
#define SD_TWINS     0.008 /* metres */
#define SD_AXIS      0.175 /* radians */
#define SD_TWIN_AXIS 0.12  /* radians */
#define SD_TURN      0.6   /* radians: of a turn of the reference from its start */
#define SD_BASE      0.1   /* radians: of the base */
#define SD_SCALE     0.3   /* of the logarithm of the size, from its start */
#define SD_RANGE     0.09  /* radians beyond a range and its slack */
#define TOGETHER     10.0  /* skin moves together: this number of sightings is worth one */
#define SLACK        0.175 /* radians: ranges are rough */
#define RADIANS      (3.14159265358979323846 / 180)
enum { STEPS = 3 };

/* The rotations of the reference from the neutral pose, and the size. */
typedef struct stance {
    double (*turns)[4]; /* [joint]: Q_j */
    double *angles;     /* [joint] of hinges */
    double scale;
} stance;

struct exi_fit_person {
    stance now, next;
    double (*start_turns)[4]; /* [joint]: Q_p^T Q_j at the start */
    double *start_angles;
    double start_scale;
    double (*bones)[3], (*axes)[3]; /* [joint] of the usual skeleton */
    double (*ranges)[2];            /* [joint]: of its hinges, radians; equal: none */
    bool *middle;                   /* [joint]: true for those of the trunk, between pairs of twins */
    int *columns;                   /* [joint], or -1; then the size */
    int column_count, row_count;
    double *rows, *moved, *jacobian, *matrix, *right, *diagonal;
};

/* ---- small algebra ---- */

static void turn_back(const double q[4], const double v[3], double out[3]) {
    const double back[4] = {-q[0], -q[1], -q[2], q[3]};
    exi_rotate(back, v, out);
}

/* out = a^-1 b */
static void between(const double a[4], const double b[4], double out[4]) {
    const double back[4] = {-a[0], -a[1], -a[2], a[3]};
    exi_quaternion_multiply(back, b, out);
}

static void vector_of(const double q[4], double w[3]) {
    const double sine = sqrt(exi_dot3(q, q)), sign = q[3] < 0 ? -1 : 1;
    const double angle = 2 * atan2(sine, sign * q[3]), k = sine > 1e-12 ? sign * angle / sine : 2 * sign;
    for (int i = 0; i < 3; i++)
        w[i] = k * q[i];
}

static double length_of(const double v[3]) {
    return sqrt(exi_dot3(v, v));
}

/* ---- the joints ---- */

static const ex_kin_joint *joint_of(const exi_fit *f, int j) {
    return &f->kinematics->joints[j];
}

static bool is_hinge(const exi_fit *f, int j) {
    return joint_of(f, j)->freedom == EX_FREEDOM_HINGE;
}

/* The turn of the frame above a joint. */
static const double *above(const exi_fit *f, const stance *s, int j) {
    static const double none[4] = {0, 0, 0, 1};
    return joint_of(f, j)->parent < 0 ? none : s->turns[joint_of(f, j)->parent];
}

/* Hinges follow the joint above. */
static void follow(const exi_fit *f, stance *s) {
    for (int j = 1; j < f->joint_count; j++) {
        double w[3], q[4];
        if (joint_of(f, j)->freedom == EX_FREEDOM_FIXED)
            memcpy(s->turns[j], above(f, s, j), sizeof s->turns[j]);
        if (!is_hinge(f, j))
            continue;
        for (int i = 0; i < 3; i++)
            w[i] = s->angles[j] * f->now.axes[j][i];
        exi_fit_turn(w, q);
        exi_quaternion_multiply(q, above(f, s, j), s->turns[j]);
    }
}

/* The twin of a joint whose bone is found apart from it, and draws it; -1: none. */
static int twin_of(const exi_fit *f, int j) {
    const int twin = joint_of(f, j)->mirror;
    return twin >= 0 && f->apart[j] ? twin : -1;
}

static double along_of(const exi_fit *f, const double bone[3]) {
    return SD_ALONG * f->person->now.scale * length_of(bone) + SD_LENGTH;
}

/* ---- the terms ---- */

/* Angles of a hinge over all scans, relative to the reference. */
static void span(const exi_fit *f, int j, double *least, double *most) {
    *least = *most = 0;
    for (int i = 0; i < f->scan_count; i++) {
        const double angle = f->now.angles[(size_t)i * (size_t)f->joint_count + (size_t)j];
        if (f->scans[i].hopeless || f->scans[i].waiting)
            continue;
        *least = angle < *least ? angle : *least;
        *most = angle > *most ? angle : *most;
    }
}

static int add_bone(const exi_fit *f, const stance *s, int j, double *rows) {
    const double *bone = f->person->bones[j], length = length_of(bone);
    double own[3], off[3];
    turn_back(above(f, s, j), f->now.translations[j], own);
    for (int i = 0; i < 3; i++)
        off[i] = own[i] - s->scale * bone[i];
    const double along = length > 0 ? exi_dot3(off, bone) / length : 0;
    for (int i = 0; i < 3; i++)
        rows[i] = (off[i] - (length > 0 ? along * bone[i] / length : 0)) / SD_ACROSS;
    rows[3] = along / along_of(f, bone);
    rows[4] = f->person->middle[j] ? 2 * own[0] / SD_TWINS : 0;
    return 5;
}

static int add_twins(const exi_fit *f, const stance *s, int j, double *rows) {
    const int twin = twin_of(f, j);
    double own[3], other[3], image[3];
    if (twin < 0)
        return 0;
    turn_back(above(f, s, j), f->now.translations[j], own);
    turn_back(above(f, s, twin), f->now.translations[twin], other);
    exi_kin_mirror_translation(other, image);
    for (int i = 0; i < 3; i++)
        rows[i] = (own[i] - image[i]) / SD_TWINS;
    return 3;
}

static int add_hinge(const exi_fit *f, const stance *s, int j, double *rows) {
    const double *range = f->person->ranges[j];
    double own[3], least, most;
    turn_back(above(f, s, j), f->now.axes[j], own);
    for (int i = 0; i < 3; i++)
        rows[i] = (own[i] - f->person->axes[j][i]) / SD_AXIS;
    rows[3] = (s->angles[j] - f->person->start_angles[j]) / SD_TURN;
    rows[4] = 0;
    if (range[0] >= range[1])
        return 5;
    span(f, j, &least, &most);
    const double low = range[0] - (s->angles[j] + least), high = s->angles[j] + most - range[1];
    rows[4] = (low > 0 ? -low : 0) / SD_RANGE + (high > 0 ? high : 0) / SD_RANGE;
    return 5;
}

static int add_turn(const exi_fit *f, const stance *s, int j, double *rows) {
    double turned[4], left[4], w[3];
    between(above(f, s, j), s->turns[j], turned);
    between(f->person->start_turns[j], turned, left);
    vector_of(left, w);
    for (int i = 0; i < 3; i++)
        rows[i] = w[i] / (j == 0 ? SD_BASE : SD_TURN);
    return 3;
}

static int add_rows(const exi_fit *f, const stance *s, double *rows) {
    int n = 0;
    for (int j = 0; j < f->joint_count; j++) {
        if (j > 0)
            n += add_bone(f, s, j, rows + n);
        n += add_twins(f, s, j, rows + n);
        if (is_hinge(f, j))
            n += add_hinge(f, s, j, rows + n);
        else
            n += add_turn(f, s, j, rows + n);
    }
    rows[n++] = log(s->scale / f->person->start_scale) / SD_SCALE;
    return n;
}

static double cost_of(const double *rows, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += rows[i] * rows[i];
    return sum;
}

/* ---- turns and size ---- */

static void copy_stance(const exi_fit *f, const stance *from, stance *to) {
    memcpy(to->turns, from->turns, (size_t)f->joint_count * sizeof *to->turns);
    memcpy(to->angles, from->angles, (size_t)f->joint_count * sizeof *to->angles);
    to->scale = from->scale;
}

/* next = now and a step of all columns, or of one alone. */
static void step_stance(const exi_fit *f, const double *step, int only, double length) {
    exi_fit_person *p = f->person;
    copy_stance(f, &p->now, &p->next);
    for (int j = 0; j < f->joint_count; j++) {
        const int c = p->columns[j], count = is_hinge(f, j) ? 1 : 3;
        double w[3] = {0}, q[4];
        if (c < 0 || (only >= 0 && (only < c || only >= c + count)))
            continue;
        for (int i = 0; i < count; i++)
            w[i] = only < 0 ? step[c + i] : only == c + i ? length : 0;
        if (is_hinge(f, j)) {
            p->next.angles[j] += w[0];
            continue;
        }
        exi_fit_turn(w, q);
        exi_quaternion_multiply(q, p->next.turns[j], p->next.turns[j]);
        exi_normalise(p->next.turns[j], 4);
    }
    const int size = p->column_count - 1;
    if (only < 0 || only == size)
        p->next.scale *= exp(only < 0 ? step[size] : length);
    follow(f, &p->next);
}

static void sum_squares(exi_fit_person *p, int rows) {
    const int n = p->column_count;
    for (int a = 0; a < n; a++) {
        const double *ja = p->jacobian + (size_t)a * (size_t)p->row_count;
        double right = 0;
        for (int r = 0; r < rows; r++)
            right -= ja[r] * p->rows[r];
        p->right[a] = right;
    }
    exi_fit_squares(p->jacobian, (size_t)p->row_count, n, rows, p->matrix);
}

/* Gauss and Newton's steps, damped, with derivatives by differences: there are about fifty unknowns. */
static void find_stance(exi_fit *f, int steps) {
    exi_fit_person *p = f->person;
    const int n = p->column_count;
    double lambda = 1e-4;
    follow(f, &p->now);
    int rows = add_rows(f, &p->now, p->rows);
    double cost = cost_of(p->rows, rows);
    for (int step = 0; step < steps && lambda < 1e6; step++) {
        const double difference = 1e-6;
        for (int c = 0; c < n; c++) {
            double *column = p->jacobian + (size_t)c * (size_t)p->row_count;
            step_stance(f, NULL, c, difference);
            add_rows(f, &p->next, column);
            for (int r = 0; r < rows; r++)
                column[r] = (column[r] - p->rows[r]) / difference;
        }
        for (;;) {
            sum_squares(p, rows);
            for (int c = 0; c < n; c++) {
                double *entry = &p->matrix[(size_t)c * (size_t)(n + 1)];
                p->diagonal[c] = *entry;
                *entry *= 1 + lambda;
            }
            exi_cholesky(p->matrix, n, p->diagonal, 1e-12);
            exi_cholesky_solve(p->matrix, n, p->right);
            step_stance(f, p->right, -1, 0);
            add_rows(f, &p->next, p->moved);
            const double next = cost_of(p->moved, rows);
            if (next < cost) {
                const stance accepted = p->next;
                const bool done = cost - next < 1e-9 * cost;
                p->next = p->now;
                p->now = accepted;
                cost = next;
                memcpy(p->rows, p->moved, (size_t)rows * sizeof *p->rows);
                lambda *= 0.1;
                if (done)
                    return;
                break;
            }
            lambda *= 10;
            if (!(lambda < 1e6))
                return;
        }
    }
}

/* ---- priors of the fit ---- */

/* Computes the wanted bone, and the inverse covariance, in the fit's frames. */
static void wanted_bone(const exi_fit *f, int j, double wanted[3], double inverse[9]) {
    const exi_fit_person *p = f->person;
    const double *bone = p->bones[j], length = length_of(bone), along = along_of(f, bone);
    const double k = 1 / (along * along) - 1 / (SD_ACROSS * SD_ACROSS);
    double unit[3] = {0};
    exi_rotate(above(f, &p->now, j), bone, wanted);
    for (int i = 0; i < 3; i++) {
        unit[i] = length > 0 ? wanted[i] / length : 0;
        wanted[i] *= p->now.scale;
    }
    for (int i = 0; i < 9; i++)
        inverse[i] = k * unit[i / 3] * unit[i % 3] + (i % 4 == 0 ? 1 / (SD_ACROSS * SD_ACROSS) : 0);
}

/* k = Q_own S Q_other^T, for the mirror S of translations or of axes: carries values of the twin to this side. */
static void carry(const exi_fit *f, int j, int twin, bool axis, double k[9]) {
    static const double signs[2][3] = {{-1, 1, 1}, {1, -1, -1}};
    double own[9], other[9];
    exi_quaternion_matrix(above(f, &f->person->now, j), own);
    exi_quaternion_matrix(above(f, &f->person->now, twin), other);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++) {
            k[3 * i + c] = 0;
            for (int m = 0; m < 3; m++)
                k[3 * i + c] += own[3 * i + m] * signs[axis][m] * other[3 * c + m];
        }
}

static double variance_of(const exi_fit *f) {
    return TOGETHER * f->noise * f->noise;
}

static double weight_of(const exi_fit *f, double sd) {
    return variance_of(f) / (sd * sd);
}

static void add_entry(exi_fit *f, int a, int b, double value) {
    const size_t n = (size_t)f->shared_count;
    f->shared_matrix[a <= b ? (size_t)a * n + (size_t)b : (size_t)b * n + (size_t)a] += value;
}

/* The direction to the left, in the frame above a joint. */
static void side_of(const exi_fit *f, int j, double side[3]) {
    static const double left[3] = {1, 0, 0};
    exi_rotate(above(f, &f->person->now, j), left, side);
}

static void add_bone_prior(exi_fit *f, int j) {
    const int first = f->shared_count - f->kin_count + f->translation_columns[j], twin = twin_of(f, j);
    const double *now = f->now.translations[j], variance = variance_of(f);
    double wanted[3], inverse[9];
    wanted_bone(f, j, wanted, inverse);
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) {
            if (c >= i)
                add_entry(f, first + i, first + c, variance * inverse[3 * i + c]);
            f->shared_right[first + i] += variance * inverse[3 * i + c] * (wanted[c] - now[c]);
        }
        f->shared_diagonal[first + i] += variance * inverse[4 * i];
    }
    if (f->person->middle[j]) {
        const double w = 4 * weight_of(f, SD_TWINS);
        double side[3];
        side_of(f, j, side);
        const double off = exi_dot3(side, now);
        for (int i = 0; i < 3; i++) {
            for (int c = i; c < 3; c++)
                add_entry(f, first + i, first + c, w * side[i] * side[c]);
            f->shared_diagonal[first + i] += w * side[i] * side[i];
            f->shared_right[first + i] -= w * side[i] * off;
        }
    }
    if (twin < 0 || f->translation_columns[twin] < 0 || f->translation_owners[twin] != twin)
        return;
    const int second = f->shared_count - f->kin_count + f->translation_columns[twin];
    const double w = weight_of(f, SD_TWINS), *other = f->now.translations[twin];
    double k[9];
    carry(f, j, twin, false, k);
    for (int i = 0; i < 3; i++) {
        add_entry(f, first + i, first + i, w);
        add_entry(f, second + i, second + i, w);
        f->shared_diagonal[first + i] += w;
        f->shared_diagonal[second + i] += w;
        f->shared_right[first + i] -= w * now[i];
        f->shared_right[second + i] -= w * other[i];
        for (int c = 0; c < 3; c++) {
            add_entry(f, first + i, second + c, -w * k[3 * i + c]);
            f->shared_right[first + i] += w * k[3 * i + c] * other[c];
            f->shared_right[second + c] += w * k[3 * i + c] * now[i];
        }
    }
}

static void add_axis_prior(exi_fit *f, int j) {
    const int first = f->shared_count - f->kin_count + f->axis_columns[j], twin = twin_of(f, j);
    const double w = weight_of(f, SD_AXIS), *now = f->now.axes[j];
    double across[2][3], beside[2][3], wanted[3];
    exi_fit_across(now, across);
    exi_rotate(above(f, &f->person->now, j), f->person->axes[j], wanted);
    for (int k = 0; k < 2; k++) {
        add_entry(f, first + k, first + k, w);
        f->shared_diagonal[first + k] += w;
        f->shared_right[first + k] += w * exi_dot3(wanted, across[k]);
    }
    if (twin < 0 || f->axis_columns[twin] < 0 || f->axis_owners[twin] != twin)
        return;
    const int second = f->shared_count - f->kin_count + f->axis_columns[twin];
    const double pull = weight_of(f, SD_TWIN_AXIS), *other = f->now.axes[twin];
    double k[9], image[3], back[3];
    carry(f, j, twin, true, k);
    exi_fit_across(other, beside);
    for (int i = 0; i < 3; i++) {
        image[i] = exi_dot3(k + 3 * i, other);
        back[i] = k[i] * now[0] + k[3 + i] * now[1] + k[6 + i] * now[2];
    }
    for (int a = 0; a < 2; a++) {
        add_entry(f, first + a, first + a, pull);
        add_entry(f, second + a, second + a, pull);
        f->shared_diagonal[first + a] += pull;
        f->shared_diagonal[second + a] += pull;
        f->shared_right[first + a] += pull * exi_dot3(image, across[a]);
        f->shared_right[second + a] += pull * exi_dot3(back, beside[a]);
        for (int b = 0; b < 2; b++) {
            double value = 0;
            for (int i = 0; i < 3; i++)
                value += across[a][i] * exi_dot3(k + 3 * i, beside[b]);
            add_entry(f, first + a, second + b, -pull * value);
        }
    }
}

void exi_fit_add_person(exi_fit *f) {
    for (int j = 1; j < f->joint_count; j++) {
        if (f->translation_columns[j] >= 0 && f->translation_owners[j] == j)
            add_bone_prior(f, j);
        if (f->axis_columns[j] >= 0 && f->axis_owners[j] == j)
            add_axis_prior(f, j);
    }
}

static double bone_cost(const exi_fit *f, const exi_fit_state *state, int j) {
    const int twin = twin_of(f, j);
    double wanted[3], inverse[9], off[3], k[9], cost = 0;
    wanted_bone(f, j, wanted, inverse);
    exi_subtract(state->translations[j], wanted, off);
    for (int i = 0; i < 3; i++)
        cost += variance_of(f) * off[i] * exi_dot3(inverse + 3 * i, off);
    if (f->person->middle[j]) {
        side_of(f, j, off);
        const double side = exi_dot3(off, state->translations[j]);
        cost += 4 * weight_of(f, SD_TWINS) * side * side;
    }
    if (twin < 0 || f->translation_columns[twin] < 0 || f->translation_owners[twin] != twin)
        return cost;
    carry(f, j, twin, false, k);
    for (int i = 0; i < 3; i++)
        off[i] = state->translations[j][i] - exi_dot3(k + 3 * i, state->translations[twin]);
    return cost + weight_of(f, SD_TWINS) * exi_dot3(off, off);
}

static double axis_cost(const exi_fit *f, const exi_fit_state *state, int j) {
    const int twin = twin_of(f, j);
    double wanted[3], off[3], k[9];
    exi_rotate(above(f, &f->person->now, j), f->person->axes[j], wanted);
    exi_subtract(state->axes[j], wanted, off);
    const double cost = weight_of(f, SD_AXIS) * exi_dot3(off, off);
    if (twin < 0 || f->axis_columns[twin] < 0 || f->axis_owners[twin] != twin)
        return cost;
    carry(f, j, twin, true, k);
    for (int i = 0; i < 3; i++)
        off[i] = state->axes[j][i] - exi_dot3(k + 3 * i, state->axes[twin]);
    return cost + weight_of(f, SD_TWIN_AXIS) * exi_dot3(off, off);
}

double exi_fit_person_cost(const exi_fit *f, const exi_fit_state *state) {
    double cost = 0;
    for (int j = 1; j < f->joint_count; j++) {
        if (f->translation_columns[j] >= 0 && f->translation_owners[j] == j)
            cost += bone_cost(f, state, j);
        if (f->axis_columns[j] >= 0 && f->axis_owners[j] == j)
            cost += axis_cost(f, state, j);
    }
    return cost;
}

void exi_fit_person_turns(exi_fit *f) {
    find_stance(f, STEPS);
}

/* ---- ranges of hinges ---- */

double exi_fit_beyond(const exi_fit *f, const exi_fit_state *state, int scan, int j, double *weight) {
    if (!f->person || !is_hinge(f, j) || f->person->ranges[j][0] >= f->person->ranges[j][1])
        return 0;
    const double *range = f->person->ranges[j];
    const double angle = f->person->now.angles[j] + state->angles[(size_t)scan * (size_t)f->joint_count + (size_t)j];
    const double low = range[0] - SLACK - angle, high = angle - range[1] - SLACK;
    *weight = weight_of(f, SD_RANGE);
    return low > 0 ? -low : high > 0 ? high : 0;
}

/* ---- opening, and the result ---- */

double exi_fit_person_variance(const exi_fit *f) {
    return variance_of(f);
}

double exi_fit_person_scale(const exi_fit *f) {
    return f->person->now.scale;
}

void exi_fit_person_neutral(const exi_fit *f, int j, double q[4]) {
    between(above(f, &f->person->now, j), f->person->now.turns[j], q);
    exi_normalise(q, 4);
}

void exi_fit_person_range(const exi_fit *f, int j, double *least, double *most) {
    const exi_fit_person *p = f->person;
    if (!is_hinge(f, j) || p->ranges[j][0] >= p->ranges[j][1])
        return;
    *least = (p->ranges[j][0] - p->now.angles[j]) / RADIANS;
    *most = (p->ranges[j][1] - p->now.angles[j]) / RADIANS;
}

double exi_fit_person_looseness(const exi_fit *f, int j, bool axis, const double *covariance) {
    double wanted[3], inverse[9], trace = 0, most = 0;
    if (axis) /* the larger of two variances, at most */
        return fmax(covariance[0], covariance[3]) / (SD_AXIS * SD_AXIS);
    wanted_bone(f, j, wanted, inverse);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            trace += inverse[3 * i + c] * covariance[3 * c + i];
    /* The largest eigenvalue of the product, by a few steps of its power: it is similar to a symmetric matrix. */
    double v[3] = {1, 0.7, 0.4};
    for (int round = 0; round < 40; round++) {
        double u[3], w[3];
        for (int i = 0; i < 3; i++)
            u[i] = exi_dot3(covariance + 3 * i, v);
        for (int i = 0; i < 3; i++)
            w[i] = exi_dot3(inverse + 3 * i, u);
        most = sqrt(exi_dot3(w, w) / exi_dot3(v, v));
        if (!(most > 0))
            break;
        memcpy(v, w, sizeof v);
        exi_unit3(v);
    }
    return most < trace ? most : trace;
}

/* Joints without a twin, as are all above them, in a skeleton that has twins. */
static void find_middle(exi_fit *f, const ex_kinematics *usual) {
    bool *middle = f->person->middle, pairs = false;
    for (int j = 0; j < f->joint_count; j++) {
        middle[j] = true;
        pairs = pairs || usual->joints[j].mirror >= 0;
    }
    for (int j = f->joint_count - 1; j >= 0; j--)
        if (usual->joints[j].mirror >= 0)
            middle[j] = middle[usual->joints[j].mirror] = false;
    for (int j = 0; j < f->joint_count; j++) {
        const int parent = joint_of(f, j)->parent;
        middle[j] = pairs && middle[j] && (parent < 0 || middle[parent]);
    }
}

/* Takes the usual skeleton, the start of the turns, and a first size: that of the starting bones. */
static void begin_person(exi_fit *f) {
    exi_fit_person *p = f->person;
    const ex_kinematics *usual = f->def->usual ? f->def->usual : f->kinematics;
    double own = 0, other = 0;
    find_middle(f, usual);
    for (int j = 0; j < f->joint_count; j++) {
        const ex_kin_joint *joint = &usual->joints[j];
        const double plain[4] = {0, 0, 0, 1};
        memcpy(p->bones[j], joint->translation, sizeof p->bones[j]);
        memcpy(p->axes[j], joint->axis, sizeof p->axes[j]);
        p->ranges[j][0] = joint->least * RADIANS;
        p->ranges[j][1] = joint->most * RADIANS;
        if (joint->freedom == EX_FREEDOM_HINGE && !exi_normalise(p->axes[j], 3))
            p->axes[j][0] = 1;
        memcpy(p->start_turns[j], f->def->neutral ? f->def->neutral[j] : plain, sizeof p->start_turns[j]);
        if (is_hinge(f, j))
            p->start_angles[j] = p->now.angles[j] = ex_kin_angle(joint, p->start_turns[j]) * RADIANS;
        exi_quaternion_multiply(above(f, &p->now, j), p->start_turns[j], p->now.turns[j]);
        own += j > 0 ? length_of(f->now.translations[j]) : 0;
        other += j > 0 ? length_of(p->bones[j]) : 0;
    }
    p->start_scale = p->now.scale = own > 0 && other > 0 ? own / other : 1;
}

bool exi_fit_open_person(exi_fit *f) {
    const size_t n = (size_t)f->joint_count;
    exi_arena *arena = &f->arena;
    bool locked = false;
    if (f->def->reference < 0 || f->def->free_bones || f->def->lock_kinematics)
        return true;
    exi_fit_person *p = exi_arena_allocate(arena, 1, sizeof *p);
    if (!p)
        return false;
    p->now.turns = exi_arena_allocate(arena, n, sizeof *p->now.turns);
    p->next.turns = exi_arena_allocate(arena, n, sizeof *p->next.turns);
    p->now.angles = exi_arena_allocate(arena, n, sizeof *p->now.angles);
    p->next.angles = exi_arena_allocate(arena, n, sizeof *p->next.angles);
    p->start_turns = exi_arena_allocate(arena, n, sizeof *p->start_turns);
    p->start_angles = exi_arena_allocate(arena, n, sizeof *p->start_angles);
    p->bones = exi_arena_allocate(arena, n, sizeof *p->bones);
    p->axes = exi_arena_allocate(arena, n, sizeof *p->axes);
    p->ranges = exi_arena_allocate(arena, n, sizeof *p->ranges);
    p->columns = exi_arena_allocate(arena, n, sizeof *p->columns);
    p->middle = exi_arena_allocate(arena, n, sizeof *p->middle);
    if (!p->now.turns || !p->next.turns || !p->now.angles || !p->next.angles || !p->start_turns || !p->start_angles ||
        !p->bones || !p->axes || !p->ranges || !p->columns || !p->middle)
        return false;
    for (int j = 0; j < f->joint_count; j++)
        locked = locked || joint_of(f, j)->lock_translation || joint_of(f, j)->lock_axis;
    for (int j = 0; j < f->joint_count; j++) { /* what is locked is given in the reference's frames */
        p->columns[j] = -1;
        if (locked || joint_of(f, j)->freedom == EX_FREEDOM_FIXED)
            continue;
        p->columns[j] = p->column_count;
        p->column_count += is_hinge(f, j) ? 1 : 3;
    }
    p->column_count++;
    p->row_count = 13 * f->joint_count + 1;
    const size_t columns = (size_t)p->column_count, rows = (size_t)p->row_count;
    p->rows = exi_arena_allocate(arena, rows, sizeof *p->rows);
    p->moved = exi_arena_allocate(arena, rows, sizeof *p->moved);
    p->jacobian = exi_arena_allocate(arena, rows * columns, sizeof *p->jacobian);
    p->matrix = exi_arena_allocate(arena, columns * columns, sizeof *p->matrix);
    p->right = exi_arena_allocate(arena, columns, sizeof *p->right);
    p->diagonal = exi_arena_allocate(arena, columns, sizeof *p->diagonal);
    if (!p->rows || !p->moved || !p->jacobian || !p->matrix || !p->right || !p->diagonal)
        return false;
    f->person = p;
    begin_person(f);
    return true;
}
