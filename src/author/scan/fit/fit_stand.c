/*
 * Finds the rough pose of a skeleton in a scan, and its size, from the bones that named markers belong to: the mean of
 * a bone's markers is near its middle. Over the place and rotation of the base, the rotations q of joints and the size
 * s,
 *
 *     sum over bones |p_j + R_j s m_j - mean_j|^2 / (4 cm)^2  +  sum over joints |log q_j|^2 / (40 degrees)^2
 *   + hinges beyond their range, / (5 degrees)^2
 *
 * is least, with m_j the middle of a bone. Derivatives are differences: there are about sixty unknowns and one scan. It
 * begins with the skeleton's neutral pose, or with rotations that are given, facing eight ways. That is enough to begin
 * a fit with the arms down, on a chair or turned around.
 */
#include "author/scan/fit/fit_stand.h"

#include "author/scan/fit/fit.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <string.h>

#define SD_MIDDLE 0.04 /* metres */
#define SD_TURN   0.7  /* radians */
#define SD_GIVEN  0.2  /* radians, if the pose is given */
#define SD_RANGE  0.09 /* radians */
#define SD_SIZE   0.4  /* of its logarithm */
#define LEAF      0.4  /* a bone without a joint at its end: its middle, in lengths of the bone before */
#define RADIANS   (3.14159265358979323846 / 180)
enum { STEPS = 40, WAYS = 8 };

typedef struct pose {
    double place[3], scale;
    double (*turns)[4]; /* [joint_count] */
} pose;

typedef struct stand {
    const ex_kinematics *usual;
    const double (*given)[4];
    exi_arena arena;
    double (*middles)[3]; /* [joint_count]: of bones, in the joint's frame */
    double (*means)[3];   /* [joint_count]: of their markers */
    double *weights;      /* [joint_count]: 0: no markers */
    pose now, next, best;
    double best_cost, best_off;
    double (*frames)[4], (*places)[3];
    int column_count, row_count;
    double *rows, *moved, *jacobian, *matrix, *right, *diagonal;
} stand;

/* ---- what is known ---- */

static void find_middles(stand *s) {
    const ex_kinematics *k = s->usual;
    for (int j = 0; j < k->joint_count; j++) {
        int count = 0;
        for (int i = j + 1; i < k->joint_count; i++) {
            for (int c = 0; c < 3 && k->joints[i].parent == j; c++)
                s->middles[j][c] += 0.5 * k->joints[i].translation[c];
            count += k->joints[i].parent == j;
        }
        for (int c = 0; c < 3; c++)
            s->middles[j][c] = count > 0 ? s->middles[j][c] / count : j > 0 ? LEAF * k->joints[j].translation[c] : 0;
    }
}

/* Returns the number of bones with markers. */
static int find_means(stand *s, const ex_sighting *sightings, size_t sighting_count, int scan) {
    int count = 0;
    for (int j = 0; j < s->usual->joint_count; j++) {
        double seen = 0;
        for (size_t i = 0; i < sighting_count; i++) {
            const ex_sighting *one = &sightings[i];
            if (one->scan != scan || s->usual->sites[one->site].joint != j || !(one->weight > 0))
                continue;
            seen++;
            for (int c = 0; c < 3; c++)
                s->means[j][c] += one->position[c];
        }
        for (int c = 0; c < 3 && seen > 0; c++)
            s->means[j][c] /= seen;
        s->weights[j] = seen < 3 ? seen / 3 : 1; /* a single marker may be at the end */
        count += seen > 0;
    }
    return count;
}

/* ---- terms ---- */

static void vector_of(const double from[4], const double to[4], double w[3]) {
    const double back[4] = {-from[0], -from[1], -from[2], from[3]};
    double q[4];
    exi_quaternion_multiply(back, to, q);
    const double sine = sqrt(exi_dot3(q, q)), sign = q[3] < 0 ? -1 : 1;
    const double angle = 2 * atan2(sine, sign * q[3]), k = sine > 1e-12 ? sign * angle / sine : 2 * sign;
    for (int i = 0; i < 3; i++)
        w[i] = k * q[i];
}

static void stand_frames(stand *s, const pose *p) {
    for (int j = 0; j < s->usual->joint_count; j++) {
        const ex_kin_joint *joint = &s->usual->joints[j];
        double t[3] = {0}, above[4] = {0, 0, 0, 1};
        if (joint->parent >= 0) {
            memcpy(above, s->frames[joint->parent], sizeof above);
            exi_rotate(above, joint->translation, t);
        }
        exi_quaternion_multiply(above, p->turns[j], s->frames[j]);
        for (int i = 0; i < 3; i++)
            s->places[j][i] = joint->parent < 0 ? p->place[i] : s->places[joint->parent][i] + p->scale * t[i];
    }
}

static double count_rows(stand *s, const pose *p, double *rows) {
    static const double none[4] = {0, 0, 0, 1};
    int n = 0;
    double cost = 0;
    stand_frames(s, p);
    for (int j = 0; j < s->usual->joint_count; j++) {
        const ex_kin_joint *joint = &s->usual->joints[j];
        double at[3], w[3];
        exi_rotate(s->frames[j], s->middles[j], at);
        for (int i = 0; i < 3; i++)
            rows[n++] = s->weights[j] * (s->places[j][i] + p->scale * at[i] - s->means[j][i]) / SD_MIDDLE;
        if (j == 0)
            continue;
        vector_of(s->given ? s->given[j] : none, p->turns[j], w);
        for (int i = 0; i < 3; i++)
            rows[n++] = w[i] / (s->given ? SD_GIVEN : SD_TURN);
        rows[n] = 0;
        if (joint->freedom == EX_FREEDOM_HINGE && joint->least < joint->most) {
            const double angle = ex_kin_angle(joint, p->turns[j]);
            const double low = joint->least - angle, high = angle - joint->most;
            rows[n] = (low > 0 ? -low : high > 0 ? high : 0) * RADIANS / SD_RANGE;
        }
        n++;
    }
    rows[n++] = log(p->scale) / SD_SIZE;
    s->row_count = n;
    for (int i = 0; i < n; i++)
        cost += rows[i] * rows[i];
    return cost;
}

/* ---- steps ---- */

static int freedom_of(const ex_kin_joint *joint) {
    return joint->freedom == EX_FREEDOM_FIXED ? 0 : joint->freedom == EX_FREEDOM_HINGE ? 1 : 3;
}

/* next = now and a step of all columns, or of one alone. */
static void step_pose(stand *s, const double *step, int only, double length) {
    double(*turns)[4] = s->next.turns;
    int column = 0;
    memcpy(turns, s->now.turns, (size_t)s->usual->joint_count * sizeof *turns);
    for (int j = 0; j < s->usual->joint_count; j++) {
        const ex_kin_joint *joint = &s->usual->joints[j];
        const int count = freedom_of(joint);
        double w[3] = {0}, q[4], v[3];
        for (int i = 0; i < count; i++)
            w[i] = only < 0 ? step[column + i] : only == column + i ? length : 0;
        column += count;
        for (int i = 0; i < 3; i++)
            v[i] = count == 1 ? w[0] * joint->axis[i] : w[i];
        exi_fit_turn(v, q);
        exi_quaternion_multiply(q, turns[j], turns[j]);
        exi_normalise(turns[j], 4);
    }
    for (int i = 0; i < 3; i++, column++)
        s->next.place[i] = s->now.place[i] + (only < 0 ? step[column] : only == column ? length : 0);
    s->next.scale = s->now.scale * exp(only < 0 ? step[column] : only == column ? length : 0);
}

static void sum_squares(stand *s, double lambda) {
    const size_t n = (size_t)s->column_count, rows = (size_t)s->row_count;
    for (size_t a = 0; a < n; a++) {
        const double *ja = s->jacobian + a * rows;
        s->right[a] = 0;
        for (size_t r = 0; r < rows; r++)
            s->right[a] -= ja[r] * s->rows[r];
    }
    exi_fit_squares(s->jacobian, rows, s->column_count, s->row_count, s->matrix);
    for (size_t a = 0; a < n; a++) {
        s->diagonal[a] = s->matrix[a * n + a];
        s->matrix[a * n + a] *= 1 + lambda;
    }
    exi_cholesky(s->matrix, s->column_count, s->diagonal, 1e-12);
    exi_cholesky_solve(s->matrix, s->column_count, s->right);
}

static double descend(stand *s) {
    const double difference = 1e-6;
    double cost = count_rows(s, &s->now, s->rows), lambda = 1e-2;
    for (int step = 0; step < STEPS; step++) {
        for (int c = 0; c < s->column_count; c++) {
            double *column = s->jacobian + (size_t)c * (size_t)s->row_count;
            step_pose(s, NULL, c, difference);
            count_rows(s, &s->next, column);
            for (int r = 0; r < s->row_count; r++)
                column[r] = (column[r] - s->rows[r]) / difference;
        }
        for (;; lambda *= 10) {
            if (!(lambda < 1e8))
                return cost;
            sum_squares(s, lambda);
            step_pose(s, s->right, -1, 0);
            if (count_rows(s, &s->next, s->moved) < cost)
                break;
        }
        const double next = count_rows(s, &s->next, s->rows), gain = cost - next;
        const pose accepted = s->next;
        s->next = s->now;
        s->now = accepted;
        cost = next;
        lambda *= 0.1;
        if (gain < 1e-5 * cost)
            break;
    }
    return cost;
}

/* ---- starts ---- */

/* Facing a way, with the base at the mean of the markers of its own bone, or of all. */
static void begin(stand *s, int way) {
    const double half = 3.14159265358979323846 * way / WAYS, turn[4] = {0, sin(half), 0, cos(half)};
    double sum = 0, own[4] = {0, 0, 0, 1};
    for (int j = 0; j < s->usual->joint_count; j++)
        memcpy(s->now.turns[j], s->given ? s->given[j] : own, sizeof own);
    exi_quaternion_multiply(turn, s->now.turns[0], s->now.turns[0]);
    s->now.scale = 1;
    memset(s->now.place, 0, sizeof s->now.place);
    for (int j = 0; j < s->usual->joint_count && (j == 0 || s->weights[0] == 0); j++) {
        sum += s->weights[j];
        for (int c = 0; c < 3; c++)
            s->now.place[c] += s->weights[j] * s->means[j][c];
    }
    for (int c = 0; c < 3; c++)
        s->now.place[c] /= sum;
}

static void keep_best(stand *s, double cost) {
    double sum = 0, weight = 0;
    if (!(cost < s->best_cost))
        return;
    count_rows(s, &s->now, s->rows);
    for (int j = 0, n = 0; j < s->usual->joint_count; n += j == 0 ? 3 : 7, j++) {
        for (int i = 0; i < 3; i++)
            sum += s->rows[n + i] * s->rows[n + i] * SD_MIDDLE * SD_MIDDLE;
        weight += s->weights[j] * s->weights[j];
    }
    s->best_cost = cost;
    s->best_off = sqrt(sum / weight);
    s->best.scale = s->now.scale;
    memcpy(s->best.place, s->now.place, sizeof s->best.place);
    memcpy(s->best.turns, s->now.turns, (size_t)s->usual->joint_count * sizeof *s->best.turns);
}

static bool open_stand(stand *s) {
    exi_arena *arena = &s->arena;
    const size_t n = (size_t)s->usual->joint_count, rows = 7 * n + 4;
    s->column_count = 4;
    for (int j = 0; j < s->usual->joint_count; j++)
        s->column_count += freedom_of(&s->usual->joints[j]);
    const size_t columns = (size_t)s->column_count;
    s->middles = exi_arena_allocate(arena, n, sizeof *s->middles);
    s->means = exi_arena_allocate(arena, n, sizeof *s->means);
    s->weights = exi_arena_allocate(arena, n, sizeof *s->weights);
    s->now.turns = exi_arena_allocate(arena, n, sizeof *s->now.turns);
    s->next.turns = exi_arena_allocate(arena, n, sizeof *s->next.turns);
    s->best.turns = exi_arena_allocate(arena, n, sizeof *s->best.turns);
    s->frames = exi_arena_allocate(arena, n, sizeof *s->frames);
    s->places = exi_arena_allocate(arena, n, sizeof *s->places);
    s->rows = exi_arena_allocate(arena, rows, sizeof *s->rows);
    s->moved = exi_arena_allocate(arena, rows, sizeof *s->moved);
    s->jacobian = exi_arena_allocate(arena, rows * columns, sizeof *s->jacobian);
    s->matrix = exi_arena_allocate(arena, columns * columns, sizeof *s->matrix);
    s->right = exi_arena_allocate(arena, columns, sizeof *s->right);
    s->diagonal = exi_arena_allocate(arena, columns, sizeof *s->diagonal);
    return s->middles && s->means && s->weights && s->now.turns && s->next.turns && s->best.turns && s->frames &&
           s->places && s->rows && s->moved && s->jacobian && s->matrix && s->right && s->diagonal;
}

ex_result exi_fit_stand(const ex_kinematics *usual, const ex_sighting *sightings, size_t sighting_count, int scan,
                        const double (*given)[4], exi_stance *stance, ex_error *error) {
    stand s = {.usual = usual, .given = given, .best_cost = INFINITY};
    ex_result result = EX_OK;
    stance->off = INFINITY;
    if (!open_stand(&s)) {
        result = ex_error_memory(error, "the skeleton", (size_t)usual->joint_count * 4096);
    } else {
        find_middles(&s);
        if (find_means(&s, sightings, sighting_count, scan) >= 3) {
            for (int way = 0; way < WAYS; way++) {
                begin(&s, way);
                keep_best(&s, descend(&s));
            }
            stance->off = s.best_off;
            stance->cost = s.best_cost;
            stance->scale = s.best.scale;
            memcpy(stance->pose.translation, s.best.place, sizeof s.best.place);
            memcpy(stance->pose.rotations, s.best.turns, (size_t)usual->joint_count * sizeof *s.best.turns);
        }
    }
    exi_arena_free(&s.arena);
    return result;
}
