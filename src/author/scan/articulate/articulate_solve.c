/*
 * Poses and joint centres together, by Levenberg-Marquardt on moments. With q_i the weighted sum of a vertex's places
 * under the bones below joint i, W_i the sum of their weights, p_i the joint's place and D_i = R_parent - R_i, a vertex
 * moves by
 *
 *   sum over i of omega_i x (q_i - W_i p_i)  +  tau  +  sum over i of W_i D_i dc_i
 *
 * for turns omega_i about the joints, a move tau of the base and changes dc_i of centres. All products of these, summed
 * over the vertices, are sums over pairs of bones of T_b (sum of w_b w_c x x') T_c'. Poses are eliminated form by form,
 * so a step solves one dense system per form and one for the centres.
 *
 * Priors: centres follow the skin (12 mm), hinges prefer their axis (2 degrees), collar bones do not turn about
 * themselves (3 degrees), joints of the spine share a turn (23 degrees each), fixed joints do not turn, and a joint
 * that moves nothing stays neutral.
 */
#include "author/base/array.h"
#include "author/scan/articulate/articulation.h"
#include "runtime/base/dense.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double patches = 3; /* independent vertices per bone: skin moves in large patches, and not at random */
/* In radians. */
static const double hinge_sigma = 0.03, collar_sigma = 0.05, fixed_sigma = 0.002, turn_sigma = 2.0, spine_sigma = 0.4;

/* The normal equations of one form: unknowns are the turns of joints, the base, and the centres of joints. */
typedef struct equations {
    int n;                /* 3 joint_count + 3 */
    double *poses;        /* [n][n] */
    double *mixed;        /* [n][3 joint_count] */
    double *centres;      /* [3 joint_count][3 joint_count] */
    double *pose_right;   /* [n] */
    double *centre_right; /* [3 joint_count] */
    double error;
} equations;

typedef struct work {
    double (*squares)[16]; /* [joint_count][joint_count]: sums over the bones below both */
    double (*products)[12];
    double (*transforms)[12], (*places)[3];
} work;

static void work_free(work *w) {
    free(w->squares);
    free(w->products);
    free(w->transforms);
    free(w->places);
}

static bool work_make(int joint_count, work *w) {
    const size_t b = (size_t)joint_count;
    w->squares = exi_array_allocate(b * b, sizeof *w->squares);
    w->products = exi_array_allocate(b, sizeof *w->products);
    w->transforms = exi_array_allocate(b, sizeof *w->transforms);
    w->places = exi_array_allocate(b, sizeof *w->places);
    return w->squares && w->products && w->transforms && w->places;
}

/* out = T x for T three rows of four, over a fourth row 0 0 0 1, and x [4][columns]. */
static void transform_rows(const double t[12], const double *x, int columns, double *out) {
    for (int c = 0; c < columns; c++) {
        for (int r = 0; r < 3; r++)
            out[r * columns + c] = t[4 * r] * x[c] + t[4 * r + 1] * x[columns + c] + t[4 * r + 2] * x[2 * columns + c] +
                                   t[4 * r + 3] * x[3 * columns + c];
        out[3 * columns + c] = x[3 * columns + c];
    }
}

static void transpose(const double m[16], double out[16]) {
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            out[4 * i + k] = m[4 * k + i];
}

/* Moves the moments to the pose and sums them over the bones below each joint. */
static void gather(const exi_articulation *a, const exi_art_moments *m, work *w) {
    const size_t count = (size_t)a->joint_count;
    memset(w->squares, 0, count * count * sizeof *w->squares);
    for (int i = 0; i < m->pair_count; i++) {
        const size_t b = (size_t)m->pairs[i][0], c = (size_t)m->pairs[i][1];
        double half[16], turned[16];
        transform_rows(w->transforms[b], m->squares[i], 4, half); /* T_b M */
        transpose(half, turned);                                  /* M T_b' */
        transform_rows(w->transforms[c], turned, 4, half);        /* T_c M T_b' */
        memcpy(w->squares[c * count + b], half, sizeof half);
        transpose(half, w->squares[b * count + c]);
    }
    for (size_t b = 0; b < count; b++)
        transform_rows(w->transforms[b], m->products[b], 3, w->products[b]);
    for (size_t b = count; b-- > 1;) {
        const size_t parent = (size_t)a->tree[b].parent;
        for (size_t c = 0; c < count; c++)
            for (int i = 0; i < 16; i++)
                w->squares[parent * count + c][i] += w->squares[b * count + c][i];
        for (int i = 0; i < 12; i++)
            w->products[parent][i] += w->products[b][i];
    }
    for (size_t r = 0; r < count; r++)
        for (size_t b = count; b-- > 1;)
            for (int i = 0; i < 16; i++)
                w->squares[r * count + (size_t)a->tree[b].parent][i] += w->squares[r * count + b][i];
}

/* The matrix of v x. */
static void cross_matrix(const double v[3], double m[9]) {
    m[0] = m[4] = m[8] = 0;
    m[1] = -v[2];
    m[2] = v[1];
    m[3] = v[2];
    m[5] = -v[0];
    m[6] = -v[1];
    m[7] = v[0];
}

static void multiply3(const double a[9], const double b[9], double out[9]) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[3 * i + k] = a[3 * i] * b[k] + a[3 * i + 1] * b[3 + k] + a[3 * i + 2] * b[6 + k];
}

/* R_parent - R of a joint; zero for the base, whose centre is no unknown. */
static void difference(const exi_articulation *a, const work *w, int joint, double d[9]) {
    const int parent = a->tree[joint].parent;
    for (int i = 0; i < 9; i++)
        d[i] = parent < 0 ? 0 : w->transforms[parent][4 * (i / 3) + i % 3] - w->transforms[joint][4 * (i / 3) + i % 3];
}

static void add_block(double *matrix, int columns, int row, int column, const double block[9], double factor) {
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            matrix[(size_t)(row + i) * (size_t)columns + (size_t)(column + k)] += factor * block[3 * i + k];
}

static double data_weight(const exi_articulation *a) {
    return patches * a->joint_count / (a->noise * a->unit * a->noise * a->unit) / a->vertex_count;
}

/* Computes the error of a form: |y|^2 - 2 y . v + |v|^2. */
static double get_error(const exi_art_moments *m, const work *w) {
    double error = m->length;
    for (int i = 0; i < 3; i++)
        error += w->squares[0][5 * i] - 2 * w->products[0][4 * i];
    return error > 0 ? error : 0;
}

/* ---- priors of turns ---- */

/* The prior's residual: twice the vector part of the rotation, without its part along a hinge's axis. */
static double turn_prior(const exi_art_joint *joint, const double q[4], double residual[3], double derivative[9]) {
    const double sign = q[3] < 0 ? -1 : 1;
    const bool hinge = joint->freedom == EX_FREEDOM_HINGE;
    double cross[9];
    cross_matrix(q, cross);
    for (int i = 0; i < 3; i++)
        residual[i] = 2 * sign * q[i];
    for (int i = 0; i < 9; i++)
        derivative[i] = sign * ((i % 4 == 0 ? q[3] : 0) - cross[i]);
    if (hinge) {
        const double along = exi_dot3(residual, joint->axis);
        double flat[9];
        for (int i = 0; i < 3; i++) {
            residual[i] -= along * joint->axis[i];
            for (int k = 0; k < 3; k++)
                flat[3 * i + k] = (i == k) - joint->axis[i] * joint->axis[k];
        }
        memcpy(cross, derivative, sizeof cross);
        multiply3(flat, cross, derivative);
    }
    if (joint->collar) { /* its twist counts more: residual and derivative are stretched along it */
        const double stretch = turn_sigma / collar_sigma - 1, along = exi_dot3(residual, joint->axis);
        double stretched[9];
        for (int i = 0; i < 3; i++) {
            residual[i] += stretch * along * joint->axis[i];
            for (int k = 0; k < 3; k++)
                stretched[3 * i + k] = (i == k) + stretch * joint->axis[i] * joint->axis[k];
        }
        memcpy(cross, derivative, sizeof cross);
        multiply3(stretched, cross, derivative);
    }
    const double free_sigma = joint->spine ? spine_sigma : turn_sigma;
    const double sigma = hinge ? hinge_sigma : joint->freedom == EX_FREEDOM_FIXED ? fixed_sigma : free_sigma;
    return 1 / (sigma * sigma);
}

/* Adds the priors of turns; derivatives are turned to the parent's frame, in which the rotation is measured. */
static double add_turn_priors(const exi_articulation *a, double (*turns)[4], const work *w, equations *e) {
    double error = 0;
    for (int b = 1; b < a->joint_count; b++) {
        double residual[3], derivative[9], back[9], j[9], square[9];
        const double weight = turn_prior(&a->tree[b], turns[b], residual, derivative);
        error += weight * exi_dot3(residual, residual);
        if (!e)
            continue;
        const double *p = w->transforms[a->tree[b].parent];
        for (int i = 0; i < 9; i++)
            back[i] = p[4 * (i % 3) + i / 3];
        multiply3(derivative, back, j);
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++)
                square[3 * i + k] = j[i] * j[k] + j[3 + i] * j[3 + k] + j[6 + i] * j[6 + k];
            e->pose_right[3 * b + i] -= weight * (j[i] * residual[0] + j[3 + i] * residual[1] + j[6 + i] * residual[2]);
        }
        add_block(e->poses, e->n, 3 * b, 3 * b, square, weight);
    }
    return error;
}

/* ---- equations ---- */

/* Returns the error of a pose, with its priors; w gets the sums at that pose. */
static double evaluate(const exi_articulation *a, const exi_art_moments *m, double (*turns)[4], const double base[3],
                       work *w) {
    exi_art_frames(a, turns, base, w->transforms, w->places);
    gather(a, m, w);
    return data_weight(a) * get_error(m, w) + add_turn_priors(a, turns, w, NULL);
}

/* Sum of q_i W_k. */
static void arm(const exi_articulation *a, const work *w, int i, int k, double out[3]) {
    const double *s = w->squares[(size_t)i * (size_t)a->joint_count + (size_t)k];
    for (int c = 0; c < 3; c++)
        out[c] = s[4 * c + 3] - w->places[i][c] * s[15];
}

/* Blocks of the turns of joints i and k: tr(G) I - G' with G the sum of q_i q_k'. */
static void add_turns(const exi_articulation *a, const work *w, int i, int k, double weight, equations *e) {
    const double *s = w->squares[(size_t)i * (size_t)a->joint_count + (size_t)k];
    const double *p = w->places[i], *q = w->places[k];
    double g[9], block[9];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            g[3 * r + c] = s[4 * r + c] - p[r] * s[12 + c] - s[4 * r + 3] * q[c] + s[15] * p[r] * q[c];
    const double trace = g[0] + g[4] + g[8];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            block[3 * r + c] = (r == c ? trace : 0) - g[3 * c + r];
    add_block(e->poses, e->n, 3 * i, 3 * k, block, weight);
}

static void add_base(const exi_articulation *a, const work *w, int i, double weight, equations *e) {
    const int last = 3 * a->joint_count;
    double v[3], block[9], turned[9];
    arm(a, w, i, 0, v);
    cross_matrix(v, block);
    for (int r = 0; r < 9; r++)
        turned[r] = block[3 * (r % 3) + r / 3];
    add_block(e->poses, e->n, 3 * i, last, block, weight);
    add_block(e->poses, e->n, last, 3 * i, turned, weight);
}

/* The blocks of centres: turns and base against W_k D_k. */
static void add_centres(const exi_articulation *a, const work *w, double weight, equations *e) {
    const int count = a->joint_count, columns = 3 * count;
    for (int k = 1; k < count; k++) {
        double d[9], block[9], cross[9], v[3], other[9], turned[9];
        difference(a, w, k, d);
        for (int i = 0; i < count; i++) {
            const double both = w->squares[(size_t)i * (size_t)count + (size_t)k][15];
            if (both == 0)
                continue;
            arm(a, w, i, k, v);
            cross_matrix(v, cross);
            multiply3(cross, d, block);
            add_block(e->mixed, columns, 3 * i, 3 * k, block, weight);
            difference(a, w, i, other);
            for (int r = 0; r < 9; r++)
                turned[r] = other[3 * (r % 3) + r / 3];
            multiply3(turned, d, block);
            add_block(e->centres, columns, 3 * i, 3 * k, block, weight * both);
        }
        add_block(e->mixed, columns, 3 * count, 3 * k, d, weight * w->squares[k][15]);
    }
}

static void add_right_sides(const exi_articulation *a, const work *w, double weight, bool centres, equations *e) {
    const int count = a->joint_count;
    for (int i = 0; i < count; i++) {
        const double *s = w->squares[(size_t)i * (size_t)count];
        double z[12]; /* the sum of q_i r', and of W_i r', with the residual r = y - v */
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 3; c++)
                z[3 * r + c] = w->products[i][3 * r + c] - s[4 * r + c];
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                z[3 * r + c] -= w->places[i][r] * z[9 + c];
        e->pose_right[3 * i] += weight * (z[5] - z[7]);
        e->pose_right[3 * i + 1] += weight * (z[6] - z[2]);
        e->pose_right[3 * i + 2] += weight * (z[1] - z[3]);
        for (int c = 0; c < 3 && i == 0; c++)
            e->pose_right[3 * count + c] += weight * z[9 + c];
        if (centres && i > 0) {
            double d[9];
            difference(a, w, i, d);
            for (int c = 0; c < 3; c++)
                e->centre_right[3 * i + c] += weight * (d[c] * z[9] + d[3 + c] * z[10] + d[6 + c] * z[11]);
        }
    }
}

/* Fills the equations of a form at its present pose; w holds its sums. centres: adds to those of centres, too. */
static void fill(const exi_articulation *a, const exi_art_moments *m, double (*turns)[4], const work *w, bool centres,
                 equations *e) {
    const int count = a->joint_count, n = e->n;
    const double weight = data_weight(a), one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memset(e->poses, 0, (size_t)n * (size_t)n * sizeof *e->poses);
    memset(e->pose_right, 0, (size_t)n * sizeof *e->pose_right);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < count; k++)
            if (w->squares[(size_t)i * (size_t)count + (size_t)k][15] != 0)
                add_turns(a, w, i, k, weight, e);
        add_base(a, w, i, weight, e);
    }
    add_block(e->poses, n, 3 * count, 3 * count, one, weight * m->weight);
    if (centres) {
        memset(e->mixed, 0, (size_t)n * 3 * (size_t)count * sizeof *e->mixed);
        add_centres(a, w, weight, e);
    }
    add_right_sides(a, w, weight, centres, e);
    add_turn_priors(a, turns, w, e);
}

/* ---- steps ---- */

/* Turns joints by world rotation vectors and moves the base. w holds the frames before. */
static void apply(const exi_articulation *a, const work *w, const double *step, double (*turns)[4],
                  const double base[3], double (*new_turns)[4], double new_base[3]) {
    for (int b = 0; b < a->joint_count; b++) {
        const double *omega = step + 3 * b, angle = sqrt(exi_dot3(omega, omega));
        const double limit = angle > 1 ? 1 / angle : 1, half = 0.5 * angle * limit;
        const double factor = angle > 1e-12 ? sin(half) / angle : 0.5 * limit;
        const double world[4] = {factor * omega[0], factor * omega[1], factor * omega[2], cos(half)};
        double local[4] = {world[0], world[1], world[2], world[3]};
        if (b > 0) { /* into the parent's frame */
            const double *p = w->transforms[a->tree[b].parent];
            for (int i = 0; i < 3; i++)
                local[i] = p[i] * world[0] + p[4 + i] * world[1] + p[8 + i] * world[2];
        }
        exi_quaternion_multiply(local, turns[b], new_turns[b]);
        exi_normalise(new_turns[b], 4);
    }
    for (int i = 0; i < 3; i++)
        new_base[i] = base[i] + step[3 * a->joint_count + i];
}

static void damp(double *matrix, int n, double lambda) {
    for (int i = 0; i < n; i++)
        matrix[(size_t)i * (size_t)n + (size_t)i] += lambda * matrix[(size_t)i * (size_t)n + (size_t)i] + 1e-9;
}

ex_result exi_art_fit_pose(const exi_articulation *a, const exi_art_moments *m, int step_count, double (*turns)[4],
                           double base[3], ex_error *error) {
    const size_t count = (size_t)a->joint_count, n = 3 * count + 3;
    equations e = {.n = (int)n};
    work w = {0};
    double(*tried)[4] = exi_array_allocate(count, sizeof *tried),
    *system = exi_array_allocate(n * (n + 1), sizeof *system);
    double *step = exi_array_allocate(n, sizeof *step), tried_base[3], lambda = 1e-3;
    e.poses = exi_array_allocate(n * n, sizeof *e.poses);
    e.pose_right = exi_array_allocate(n, sizeof *e.pose_right);
    const bool good = work_make(a->joint_count, &w) && tried && system && step && e.poses && e.pose_right;
    double now = good ? evaluate(a, m, turns, base, &w) : 0;
    for (int i = 0; good && i < step_count; i++) {
        fill(a, m, turns, &w, false, &e);
        damp(e.poses, e.n, lambda);
        for (size_t r = 0; r < n; r++) {
            memcpy(system + r * (n + 1), e.poses + r * n, n * sizeof *system);
            system[r * (n + 1) + n] = e.pose_right[r];
        }
        if (!exi_solve_definite(system, (int)n, 1)) {
            lambda *= 10;
            continue;
        }
        for (size_t r = 0; r < n; r++)
            step[r] = system[r * (n + 1) + n];
        apply(a, &w, step, turns, base, tried, tried_base);
        const double then = evaluate(a, m, tried, tried_base, &w);
        const bool better = then < now;
        if (better) {
            memcpy(turns, tried, count * sizeof *tried);
            memcpy(base, tried_base, sizeof tried_base);
        }
        lambda = better ? 0.2 * lambda : 10 * lambda;
        const bool done = better ? now - then < 1e-7 * now : lambda > 1e8;
        if (better)
            now = then;
        else
            evaluate(a, m, turns, base, &w);
        if (done)
            break;
    }
    free(tried);
    free(system);
    free(step);
    free(e.poses);
    free(e.pose_right);
    work_free(&w);
    return good ? EX_OK : ex_error_memory(error, "the pose", n * n * sizeof *system);
}

/* ---- poses and centres ---- */

typedef struct bundle {
    exi_articulation *a;
    exi_art_moments *moments; /* [form_count] */
    double (*skin)[3];        /* prior places of centres */
    equations e;
    work w;
    double *system;                                 /* [n][n + 3 joint_count + 1] */
    double *answers;                                /* [form_count][n][3 joint_count + 1]: the eliminated poses */
    double *reduced;                                /* [3 joint_count][3 joint_count + 1] */
    double (*turns)[4], (*bases)[3], (*centres)[3]; /* tried */
} bundle;

static double centre_priors(const bundle *s, double (*centres)[3]) {
    const double weight = 1 / pow(s->a->centre_sigma * s->a->unit, 2);
    double error = 0;
    for (int b = 1; b < s->a->joint_count; b++) {
        double d[3];
        exi_subtract(centres[b], s->skin[b], d);
        error += weight * exi_dot3(d, d);
    }
    return error;
}

static double total(bundle *s) {
    exi_articulation *a = s->a;
    double error = centre_priors(s, a->centres);
    for (int f = 0; f < a->form_count; f++)
        if (exi_art_counts(a, f))
            error += evaluate(a, &s->moments[f], a->turns + (size_t)f * (size_t)a->joint_count, a->bases[f], &s->w);
    return error;
}

/* Eliminates a form's pose: what remains is added to the equations of centres. */
static bool eliminate(bundle *s, int form, double lambda) {
    const size_t n = (size_t)s->e.n, c = n - 3, columns = n + c + 1;
    const double *mixed = s->e.mixed;
    damp(s->e.poses, s->e.n, lambda);
    for (size_t r = 0; r < n; r++) {
        memcpy(s->system + r * columns, s->e.poses + r * n, n * sizeof *s->system);
        memcpy(s->system + r * columns + n, mixed + r * c, c * sizeof *s->system);
        s->system[r * columns + n + c] = s->e.pose_right[r];
    }
    if (!exi_solve_definite(s->system, (int)n, (int)c + 1))
        return false;
    double *answer = s->answers + (size_t)form * n * (c + 1);
    for (size_t r = 0; r < n; r++)
        memcpy(answer + r * (c + 1), s->system + r * columns + n, (c + 1) * sizeof *answer);
    for (size_t r = 0; r < n; r++)
        for (size_t i = 0; i < c; i++) {
            const double x = mixed[r * c + i];
            if (x == 0)
                continue;
            double *to = s->reduced + i * (c + 1);
            for (size_t k = 0; k <= c; k++)
                to[k] -= x * answer[r * (c + 1) + k];
        }
    return true;
}

/* Fills and eliminates all forms. Returns false if a system cannot be solved. */
static bool assemble(bundle *s, double lambda, bool centres) {
    exi_articulation *a = s->a;
    const size_t count = (size_t)a->joint_count, c = 3 * count;
    const double weight = 1 / pow(a->centre_sigma * a->unit, 2);
    bool good = true;
    memset(s->reduced, 0, c * (c + 1) * sizeof *s->reduced);
    memset(s->e.centres, 0, c * c * sizeof *s->e.centres);
    memset(s->e.centre_right, 0, c * sizeof *s->e.centre_right);
    memset(s->e.mixed, 0, (c + 3) * c * sizeof *s->e.mixed);
    for (int f = 0; f < a->form_count && good; f++) {
        if (!exi_art_counts(a, f))
            continue;
        double(*turns)[4] = a->turns + (size_t)f * count;
        evaluate(a, &s->moments[f], turns, a->bases[f], &s->w);
        fill(a, &s->moments[f], turns, &s->w, centres, &s->e);
        good = eliminate(s, f, lambda);
    }
    for (size_t i = 0; i < c && good; i++) {
        for (size_t k = 0; k < c; k++)
            s->reduced[i * (c + 1) + k] += s->e.centres[i * c + k];
        s->reduced[i * (c + 1) + c] += s->e.centre_right[i];
    }
    for (size_t i = 0; i < c && good; i++) {
        double *diagonal = &s->reduced[i * (c + 1) + i];
        const size_t b = i / 3;
        *diagonal += lambda * fabs(*diagonal) + weight + (b == 0 || !centres ? 1e12 * weight : 0);
        s->reduced[i * (c + 1) + c] -= b == 0 ? 0 : weight * (a->centres[b][i % 3] - s->skin[b][i % 3]);
        if (!centres)
            s->reduced[i * (c + 1) + c] = 0;
    }
    return good && exi_solve_definite(s->reduced, (int)c, 1);
}

/* Applies the step of s->reduced to copies of turns, bases and centres. */
static void step_all(bundle *s) {
    exi_articulation *a = s->a;
    const size_t count = (size_t)a->joint_count, c = 3 * count, n = c + 3;
    for (size_t b = 0; b < count; b++)
        for (size_t i = 0; i < 3; i++)
            s->centres[b][i] = a->centres[b][i] + (b > 0 ? s->reduced[(3 * b + i) * (c + 1) + c] : 0);
    for (int f = 0; f < a->form_count; f++) {
        double(*turns)[4] = a->turns + (size_t)f * count, *step = s->e.pose_right;
        double(*tried)[4] = s->turns + (size_t)f * count;
        memcpy(tried, turns, count * sizeof *turns);
        memcpy(s->bases[f], a->bases[f], sizeof a->bases[f]);
        if (!exi_art_counts(a, f))
            continue;
        const double *answer = s->answers + (size_t)f * n * (c + 1);
        for (size_t r = 0; r < n; r++) {
            step[r] = answer[r * (c + 1) + c];
            for (size_t k = 0; k < c; k++)
                step[r] -= answer[r * (c + 1) + k] * s->reduced[k * (c + 1) + c];
        }
        exi_art_frames(a, turns, a->bases[f], s->w.transforms, s->w.places);
        apply(a, &s->w, step, turns, a->bases[f], tried, s->bases[f]);
    }
}

static void swap_all(bundle *s) {
    exi_articulation *a = s->a;
    double(*turns)[4] = a->turns, (*bases)[3] = a->bases, (*centres)[3] = a->centres;
    a->turns = s->turns;
    a->bases = s->bases;
    a->centres = s->centres;
    s->turns = turns;
    s->bases = bases;
    s->centres = centres;
}

static bool bundle_make(exi_articulation *a, bundle *s) {
    const size_t count = (size_t)a->joint_count, c = 3 * count, n = c + 3, forms = (size_t)a->form_count;
    *s = (bundle){.a = a, .e = {.n = (int)n}};
    s->moments = calloc(forms, sizeof *s->moments);
    s->skin = exi_array_allocate(count, sizeof *s->skin);
    s->e.poses = exi_array_allocate(n * n, sizeof *s->e.poses);
    s->e.mixed = exi_array_allocate(n * c, sizeof *s->e.mixed);
    s->e.centres = exi_array_allocate(c * c, sizeof *s->e.centres);
    s->e.pose_right = exi_array_allocate(n, sizeof *s->e.pose_right);
    s->e.centre_right = exi_array_allocate(c, sizeof *s->e.centre_right);
    s->system = exi_array_allocate(n * (n + c + 1), sizeof *s->system);
    s->answers = exi_array_allocate(forms * n * (c + 1), sizeof *s->answers);
    s->reduced = exi_array_allocate(c * (c + 1), sizeof *s->reduced);
    s->turns = exi_array_allocate(forms * count, sizeof *s->turns);
    s->bases = exi_array_allocate(forms, sizeof *s->bases);
    s->centres = exi_array_allocate(count, sizeof *s->centres);
    return s->moments && s->skin && s->e.poses && s->e.mixed && s->e.centres && s->e.pose_right && s->e.centre_right &&
           s->system && s->answers && s->reduced && s->turns && s->bases && s->centres &&
           work_make(a->joint_count, &s->w);
}

static void bundle_free(bundle *s) {
    for (int f = 0; s->moments && f < s->a->form_count; f++)
        exi_art_moments_free(&s->moments[f]);
    free(s->moments);
    free(s->skin);
    free(s->e.poses);
    free(s->e.mixed);
    free(s->e.centres);
    free(s->e.pose_right);
    free(s->e.centre_right);
    free(s->system);
    free(s->answers);
    free(s->reduced);
    free(s->turns);
    free(s->bases);
    free(s->centres);
    work_free(&s->w);
}

static void iterate(bundle *s, int step_count, bool centres) {
    double lambda = 1e-3, now = total(s);
    for (int i = 0; i < step_count; i++) {
        const bool solved = assemble(s, lambda, centres);
        if (!solved) {
            lambda *= 10;
            continue;
        }
        step_all(s);
        swap_all(s);
        const double then = total(s);
        if (then < now) {
            const bool done = now - then < 1e-6 * now;
            now = then;
            lambda *= 0.2;
            if (done)
                break;
        } else {
            swap_all(s);
            lambda *= 10;
            if (lambda > 1e6)
                break;
        }
    }
}

ex_result exi_art_fit(exi_articulation *a, int step_count, bool centres, ex_error *error) {
    bundle s;
    ex_result result = bundle_make(a, &s) ? EX_OK : ex_error_memory(error, "the poses", (size_t)a->form_count * 1000);
    if (result == EX_OK)
        result = exi_art_skin(a, s.skin, error);
    for (int f = 0; f < a->form_count && result == EX_OK; f++)
        if (exi_art_counts(a, f))
            result = exi_art_moments_make(a, f, NULL, &s.moments[f], error);
    if (result == EX_OK)
        iterate(&s, step_count, centres);
    bundle_free(&s);
    return result;
}
