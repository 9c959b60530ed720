/*
 * Carries the template to scans: one figure for all of them, and a pose for each. Minimises, over figures b and poses,
 *
 *     sum over matches of rho(n . (x - y))/s^2 + sum over points of |x - y|^2/sigma^2 + |b|^2 + priors of the joints
 *
 * by turns: matches (closest points of the scan, with normals that agree), then Gauss-Newton steps of all poses and the
 * figure, with the poses eliminated. x is linear in b at a given pose. With w a small turn of joint k in the world, and
 * B the bones beyond it: dx = sum over j in B of w_j w x (x_j - p_k), x_j where bone j alone would put the vertex.
 * Balls are free but for a weak pull to the neutral pose; hinges hardly leave their axis, since no person's axis is
 * exactly the skeleton's.
 */
#include "author/scan/human/human_fit.h"
#include "author/base/arena.h"
#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/scan/fit/fit.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/settle.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 16, STEPS = 3, TRIED = 2000, ANCHOR_STEPS = 40, ANCHORS_LEAST = 6 };
/* Farthest match at first, at last, and what a round leaves of it, in metres. */
static const double reach_first = 0.15, reach_last = 0.03, reach_share = 0.85;
static const double reach_again = 0.08; /* once limbs are found */
/* Metres between a person's surface and the template's own: what a match weighs against priors. */
static const double surface_sigma = 0.01;
/* Radians: standard deviations of turns that people make: of the bone's direction, and about the bone itself. From
 * ranges of motion in textbooks of anatomy, halved. Of hinges: about their axis; about others; beyond their range. */
typedef struct usual_turn {
    const char *name;
    double swing, twist;
} usual_turn;
static const usual_turn usual_turns[] = {
    {"waist", 0.4, 0.3},    {"chest", 0.4, 0.4}, {"neck", 0.4, 0.5},  {"head", 0.4, 0.5},
    {"clavicle", 0.3, 0.3}, {"hip", 1, 0.4},     {"ankle", 0.5, 0.3}, {"wrist", 0.7, 0.2},
};
static const usual_turn other_turn = {NULL, 1.5, 1};
static const double hinge_sigma = 1.5, across_sigma = 0.12, beyond_sigma = 0.1;
/* Neighbouring matches err alike, so that only this share of them counts. */
static const double independent = 0.1;
static const double agree = 0.5; /* least cosine between normals of a match */

/* ---- matches ---- */

static void pose_one(exi_fit_one *o) {
    const exi_human_work *f = o->fit;
    exi_human_frames(f->human, (const double(*)[3])f->places, &o->scan->pose, o->rotations, o->posed);
    exi_human_skin(f->human, (const double(*)[3])f->rest, (const double(*)[3])f->places,
                   (const double(*)[9])o->rotations, (const double(*)[3])o->posed, o->vertices);
}

static void find_matches(exi_fit_one *o) {
    const exi_human_work *f = o->fit;
    double sum = 0;
    int tried = 0, found = 0;
    o->match_count = 0;
    for (int i = 0; i < o->scan->anchor_count; i++) {
        const ex_register_anchor *a = &o->scan->anchors[i];
        exi_fit_match *m = &o->matches[o->match_count++];
        *m = (exi_fit_match){.weight = 1 / (a->sigma * a->sigma)};
        memcpy(m->vertices, a->vertices, sizeof m->vertices);
        memcpy(m->shares, a->shares, sizeof m->shares);
        memcpy(m->target, a->target, sizeof m->target);
    }
    if (!o->surface.bounds || f->by_anchors)
        return;
    exi_human_normals(f->human, (const double(*)[3])o->vertices, o->normals);
    for (int v = 0; v < f->vertex_count; v += f->stride) {
        const float at[3] = {(float)o->vertices[v][0], (float)o->vertices[v][1], (float)o->vertices[v][2]};
        ex_closest c;
        exi_fit_match m = {.vertices = {v, v, v}, .shares = {1}, .plane = true};
        tried++;
        if (!ex_bounds_closest(o->surface.bounds, at, (float)f->reach, &c))
            continue;
        if (!exi_search_normal(&o->surface, c.triangle, m.normal) || exi_dot3(m.normal, o->normals[v]) < agree)
            continue;
        const double width = f->reach / 2, d2 = (double)c.distance_sq;
        const double share = width * width / (width * width + d2);
        m.weight = independent * share * share / (surface_sigma * surface_sigma);
        for (int k = 0; k < 3; k++)
            m.target[k] = (double)c.point[k];
        o->matches[o->match_count++] = m;
        sum += d2;
        found++;
    }
    o->scan->rms = found > 0 ? sqrt(sum / found) : 0;
    o->scan->matched = tried > 0 ? (double)found / tried : 0;
}

/* ---- poses ---- */

/* A point of the rest form, and the bones that move it. */
typedef struct skinned {
    const double *rest;
    int count;
    const uint16_t *joints;
    const float *weights;
} skinned;

static skinned vertex_of(const exi_human_work *f, int vertex) {
    return (skinned){.rest = f->rest[vertex],
                     .count = EXI_HUMAN_INFLUENCES,
                     .joints = f->human->joints + (size_t)vertex * EXI_HUMAN_INFLUENCES,
                     .weights = f->human->weights + (size_t)vertex * EXI_HUMAN_INFLUENCES};
}

/* The place to which a bone alone would move a point. */
static void put(const exi_fit_one *o, const double rest[3], int joint, double x[3]) {
    const double *m = o->rotations[joint];
    double d[3];
    exi_subtract(rest, o->fit->places[joint], d);
    for (int c = 0; c < 3; c++)
        x[c] = m[3 * c] * d[0] + m[3 * c + 1] * d[1] + m[3 * c + 2] * d[2] + o->posed[joint][c];
}

/* Adds `share` of the derivatives of a point by the unknowns of a pose: three for each joint, then the base. */
static void derive(const exi_fit_one *o, const skinned *s, double share, double (*rows)[3]) {
    const exi_human_work *f = o->fit;
    for (int i = 0; i < s->count; i++) {
        const double w = share * (double)s->weights[i];
        double x[3];
        if (w == 0)
            continue;
        put(o, s->rest, s->joints[i], x);
        for (int k = s->joints[i]; k >= 0; k = f->human->kinematics->joints[k].parent) {
            const int parent = f->human->kinematics->joints[k].parent;
            double arm[3], turned[3];
            exi_subtract(x, o->posed[k], arm);
            for (int c = 0; c < 3; c++) {
                double axis[3] = {c == 0, c == 1, c == 2};
                if (parent >= 0)
                    for (int r = 0; r < 3; r++)
                        axis[r] = o->rotations[parent][3 * r + c];
                exi_cross(axis, arm, turned);
                for (int r = 0; r < 3; r++)
                    rows[3 * k + c][r] += w * turned[r];
            }
        }
        for (int c = 0; c < 3; c++)
            rows[3 * f->joint_count + c][c] += w;
    }
}

/* Adds weight times the square of a residual, along one direction or along all three. Rows: the pose, then the figure.
 */
static void add_rows(exi_fit_one *o, const double residual[3], const double *normal, double weight) {
    const int n = o->fit->unknowns, k = o->fit->figure_count;
    double *along = o->along;
    for (int d = 0; d < (normal ? 1 : 3); d++) {
        const double axis[3] = {d == 0, d == 1, d == 2}, *e = normal ? normal : axis;
        const double r = exi_dot3(residual, e);
        for (int i = 0; i < n + k; i++)
            along[i] = exi_dot3(o->rows[i], e);
        for (int i = 0; i < n; i++) {
            if (along[i] == 0)
                continue;
            const double by = weight * along[i];
            o->right[i] -= by * r;
            for (int j = i; j < n; j++)
                o->matrix[i * n + j] += by * along[j];
            for (int j = 0; j < k; j++)
                o->mixed[j * n + i] += by * along[n + j];
        }
        for (int i = 0; i < k; i++) {
            const double by = weight * along[n + i];
            o->figure_right[i] -= by * r;
            for (int j = i; j < k; j++)
                o->figure_matrix[i * k + j] += by * along[n + j];
        }
    }
}

/* The rotation of a quaternion as a vector, in radians. */
static void rotation_vector(const double q[4], double w[3]) {
    const double sign = q[3] < 0 ? -1 : 1, length = sqrt(exi_dot3(q, q));
    const double angle = 2 * atan2(length, fabs(q[3]));
    for (int c = 0; c < 3; c++)
        w[c] = length > 1e-12 ? sign * q[c] * angle / length : 0;
}

static usual_turn find_usual(const char *name) {
    const size_t length = strcspn(name, ".");
    for (size_t i = 0; i < sizeof usual_turns / sizeof *usual_turns; i++)
        if (strlen(usual_turns[i].name) == length && strncmp(usual_turns[i].name, name, length) == 0)
            return usual_turns[i];
    return other_turn;
}

/* The bone that a joint turns: towards its first child; for the last joint of a limb, on from its own bone. */
static void bone_direction(const exi_human_work *f, int joint, double direction[3]) {
    const ex_kinematics *k = f->human->kinematics;
    memcpy(direction, k->joints[joint].translation, 3 * sizeof *direction);
    for (int j = k->joint_count - 1; j > joint; j--)
        if (k->joints[j].parent == joint)
            memcpy(direction, k->joints[j].translation, 3 * sizeof *direction);
    exi_unit3(direction);
}

/* Adds the square of (w + target) / sigma along a direction, for the rotation of a joint. */
static void add_prior(exi_fit_one *o, int joint, const double direction[3], double off, double sigma) {
    const int n = o->fit->unknowns;
    for (int a = 0; a < 3; a++) {
        const double k = direction[a] / (sigma * sigma);
        o->right[3 * joint + a] -= k * off;
        for (int b = a; b < 3; b++)
            o->matrix[(3 * joint + a) * n + 3 * joint + b] += k * direction[b];
    }
}

static void add_hinge(exi_fit_one *o, int j, const double w[3]) {
    const ex_kin_joint *joint = &o->fit->human->kinematics->joints[j];
    const double angle = exi_dot3(w, joint->axis), degree = 0.017453292519943295;
    double across[2][3];
    exi_fit_across(joint->axis, across);
    for (int i = 0; i < 2; i++)
        add_prior(o, j, across[i], exi_dot3(w, across[i]), across_sigma);
    add_prior(o, j, joint->axis, angle, hinge_sigma);
    if (joint->least < joint->most && (angle < degree * joint->least || angle > degree * joint->most))
        add_prior(o, j, joint->axis, angle - degree * (angle < degree * joint->least ? joint->least : joint->most),
                  beyond_sigma);
}

static void add_ball(exi_fit_one *o, int j, const double w[3]) {
    const usual_turn usual = find_usual(o->fit->human->kinematics->joints[j].name);
    double bone[3], across[2][3];
    bone_direction(o->fit, j, bone);
    exi_fit_across(bone, across);
    for (int i = 0; i < 2; i++)
        add_prior(o, j, across[i], exi_dot3(w, across[i]), usual.swing);
    add_prior(o, j, bone, exi_dot3(w, bone), usual.twist);
}

static void add_priors(exi_fit_one *o) {
    const exi_human_work *f = o->fit;
    const int n = f->unknowns;
    for (int j = 1; j < f->joint_count; j++) {
        double w[3], off[3], back[4], from[4];
        rotation_vector(o->scan->pose.rotations[j], w);
        if (f->human->kinematics->joints[j].freedom == EX_FREEDOM_HINGE)
            add_hinge(o, j, w);
        else
            add_ball(o, j, w);
        exi_conjugate(o->starts[j], back);
        exi_quaternion_multiply(o->scan->pose.rotations[j], back, from);
        rotation_vector(from, off);
        for (int a = 0; o->scan->hold > 0 && a < 3; a++) {
            const double axis[3] = {a == 0, a == 1, a == 2};
            add_prior(o, j, axis, off[a], o->scan->hold);
        }
    }
    for (int i = 0; i < n; i++)
        o->matrix[i * (n + 1)] += 1e-6;
}

static void derive_places(exi_fit_one *o) {
    const exi_human_work *f = o->fit;
    for (int k = 0; k < f->figure_count; k++) {
        const double(*shifts)[3] = (const double(*)[3])f->human->joint_shifts + (size_t)k * (size_t)f->joint_count;
        double(*moved)[3] = o->moved + (size_t)k * (size_t)f->joint_count;
        memset(moved[0], 0, sizeof moved[0]);
        for (int j = 1; j < f->joint_count; j++) {
            const int parent = f->human->kinematics->joints[j].parent;
            const double *m = o->rotations[parent];
            double d[3];
            exi_subtract(shifts[j], shifts[parent], d);
            for (int c = 0; c < 3; c++)
                moved[j][c] = moved[parent][c] + m[3 * c] * d[0] + m[3 * c + 1] * d[1] + m[3 * c + 2] * d[2];
        }
    }
}

/* Adds `share` of the derivatives by the figure. A point of a bone moves with its joint. */
static void derive_figure(const exi_fit_one *o, const skinned *s, int vertex, double share, double (*rows)[3]) {
    const exi_human_work *f = o->fit;
    for (int k = 0; k < f->figure_count; k++) {
        const float *form =
            f->human->figures + 3 * ((size_t)k * (size_t)f->vertex_count + (size_t)(vertex < 0 ? 0 : vertex));
        const size_t first = (size_t)k * (size_t)f->joint_count;
        for (int i = 0; i < s->count; i++) {
            const double w = share * (double)s->weights[i], *m = o->rotations[s->joints[i]];
            const double *shift = f->human->joint_shifts[first + s->joints[i]], *place = o->moved[first + s->joints[i]];
            double d[3] = {0};
            for (int c = 0; vertex >= 0 && c < 3; c++)
                d[c] = (double)form[c] - shift[c];
            for (int c = 0; w != 0 && c < 3; c++)
                rows[k][c] += w * (m[3 * c] * d[0] + m[3 * c + 1] * d[1] + m[3 * c + 2] * d[2] + place[c]);
        }
    }
}

/* Adds a residual at points of the skin. */
static void add_match(exi_fit_one *o, const exi_fit_match *m) {
    const exi_human_work *f = o->fit;
    double r[3] = {-m->target[0], -m->target[1], -m->target[2]};
    memset(o->rows, 0, (size_t)(f->unknowns + f->figure_count) * sizeof *o->rows);
    for (int i = 0; i < 3; i++) {
        if (m->shares[i] == 0)
            continue;
        const skinned s = vertex_of(f, m->vertices[i]);
        derive(o, &s, m->shares[i], o->rows);
        derive_figure(o, &s, m->vertices[i], m->shares[i], o->rows + f->unknowns);
        for (int c = 0; c < 3; c++)
            r[c] += m->shares[i] * o->vertices[m->vertices[i]][c];
    }
    add_rows(o, r, m->plane ? m->normal : NULL, m->weight);
}

/* Adds a residual at a point of a bone, which keeps its place relative to the joint. */
static void add_bone_point(exi_fit_one *o, const exi_bone_point *p) {
    const exi_human_work *f = o->fit;
    const uint16_t joint = (uint16_t)p->joint;
    const float weight = 1;
    double rest[3], x[3], r[3];
    for (int c = 0; c < 3; c++)
        rest[c] = p->at[c] + f->places[p->joint][c] - f->usual[p->joint][c];
    const skinned s = {.rest = rest, .count = 1, .joints = &joint, .weights = &weight};
    memset(o->rows, 0, (size_t)(f->unknowns + f->figure_count) * sizeof *o->rows);
    derive(o, &s, 1, o->rows);
    derive_figure(o, &s, -1, 1, o->rows + f->unknowns);
    put(o, rest, p->joint, x);
    exi_subtract(x, p->target, r);
    add_rows(o, r, NULL, 1 / (p->sigma * p->sigma));
}

/* ---- steps ---- */

/* Sums the normal equations of a scan, and eliminates its pose: leaves U with U'U = A, Y = U'^-1 (B, r) in mixed and
 * right, and the reduced matrix and right-hand side of the figure. */
static void reduce(exi_fit_one *o) {
    const exi_human_work *f = o->fit;
    const int n = f->unknowns, k = f->figure_count;
    memset(o->matrix, 0, (size_t)n * (size_t)n * sizeof *o->matrix);
    memset(o->right, 0, (size_t)n * sizeof *o->right);
    memset(o->mixed, 0, (size_t)k * (size_t)n * sizeof *o->mixed);
    memset(o->figure_matrix, 0, (size_t)k * (size_t)k * sizeof *o->figure_matrix);
    memset(o->figure_right, 0, (size_t)k * sizeof *o->figure_right);
    derive_places(o);
    for (int i = 0; i < o->match_count; i++)
        add_match(o, &o->matches[i]);
    for (int i = 0; i < (f->by_anchors || o->scan->hold <= 0 ? o->scan->bone_point_count : 0); i++)
        add_bone_point(o, &o->scan->bone_points[i]);
    add_priors(o);
    for (int i = 0; i < n; i++)
        o->diagonal[i] = o->matrix[i * (n + 1)];
    exi_cholesky(o->matrix, n, o->diagonal, 1e-12);
    exi_cholesky_forward(o->matrix, n, o->right);
    for (int i = 0; i < k; i++)
        exi_cholesky_forward(o->matrix, n, o->mixed + (size_t)i * (size_t)n);
    for (int i = 0; i < k; i++) {
        const double *y = o->mixed + (size_t)i * (size_t)n;
        for (int c = 0; c < n; c++)
            o->figure_right[i] -= y[c] * o->right[c];
        for (int j = i; j < k; j++)
            for (int c = 0; c < n; c++)
                o->figure_matrix[i * k + j] -= y[c] * o->mixed[j * n + c];
    }
}

/* The step of the figure, in change [figure_count]; the sums of all scans are in those of the first. */
static void solve_figure(exi_human_work *f, double *change) {
    const int k = f->figure_count;
    double *matrix = f->ones[0].figure_matrix, *diagonal = f->ones[0].diagonal;
    memcpy(change, f->ones[0].figure_right, (size_t)k * sizeof *change);
    for (int i = 1; i < f->scan_count; i++) {
        for (int j = 0; j < k * k; j++)
            matrix[j] += f->ones[i].figure_matrix[j];
        for (int j = 0; j < k; j++)
            change[j] += f->ones[i].figure_right[j];
    }
    for (int j = 0; j < k; j++) {
        change[j] -= f->figure[j];
        matrix[j * (k + 1)] += 1;
        diagonal[j] = matrix[j * (k + 1)];
    }
    exi_cholesky(matrix, k, diagonal, 1e-12);
    exi_cholesky_solve(matrix, k, change);
}

static void step_pose(exi_fit_one *o) {
    const exi_human_work *f = o->fit;
    const int n = f->unknowns;
    for (int k = 0; k < f->figure_count; k++)
        for (int c = 0; c < n; c++)
            o->right[c] -= f->change[k] * o->mixed[k * n + c];
    exi_cholesky_backward(o->matrix, n, o->right);
    for (int j = 0; j < f->joint_count; j++) {
        double *q = o->scan->pose.rotations[j], turn[4], w[3];
        const double size = sqrt(exi_dot3(o->right + 3 * j, o->right + 3 * j)), share = size > 0.6 ? 0.6 / size : 1;
        for (int c = 0; c < 3; c++)
            w[c] = share * o->right[3 * j + c];
        exi_fit_turn(w, turn);
        exi_quaternion_multiply(turn, q, q);
        exi_normalise(q, 4);
    }
    for (int c = 0; c < 3; c++)
        o->scan->pose.translation[c] += o->right[3 * f->joint_count + c];
}

/* ---- rounds ---- */

static void open_scans(void *context, int begin, int end) {
    exi_human_work *f = context;
    for (int i = begin; i < end; i++)
        if (f->ones[i].scan->mesh_count > 0)
            f->ones[i].result = exi_search_make(&f->ones[i].surface, f->ones[i].scan->meshes,
                                                f->ones[i].scan->mesh_count, &f->ones[i].error);
}

static void match_scans(void *context, int begin, int end) {
    exi_human_work *f = context;
    for (int i = begin; i < end; i++) {
        pose_one(&f->ones[i]);
        find_matches(&f->ones[i]);
    }
}

static void reduce_scans(void *context, int begin, int end) {
    exi_human_work *f = context;
    for (int i = begin; i < end; i++) {
        pose_one(&f->ones[i]);
        reduce(&f->ones[i]);
    }
}

static void step_scans(void *context, int begin, int end) {
    exi_human_work *f = context;
    for (int i = begin; i < end; i++)
        step_pose(&f->ones[i]);
}

static void step(exi_human_work *f, const ex_tasks *tasks) {
    exi_run(tasks, f->scan_count, 1, reduce_scans, f);
    if (f->figure_count > 0)
        solve_figure(f, f->change);
    exi_run(tasks, f->scan_count, 1, step_scans, f);
    for (int k = 0; k < f->figure_count; k++)
        f->figure[k] += f->change[k];
    exi_human_figure(f->human, f->figure, f->rest, f->places);
}

/* Poses the vertices once more: the last step moved them. */
static void seek_scans(void *context, int begin, int end) {
    exi_human_work *f = context;
    for (int i = begin; i < end; i++) {
        pose_one(&f->ones[i]);
        f->ones[i].found = exi_fit_seek(&f->ones[i]);
    }
}

static ex_result run_rounds(exi_human_work *f, double reach, const ex_progress *progress, const ex_tasks *tasks) {
    f->reach = reach;
    for (int round = 0; round < ROUNDS; round++) {
        if (!exi_progress_tell(progress, "carrying the template", (double)round / ROUNDS))
            return exi_progress_stopped(f->error);
        exi_run(tasks, f->scan_count, 1, match_scans, f);
        for (int i = 0; i < STEPS; i++)
            step(f, tasks);
        f->reach = f->reach * reach_share > reach_last ? f->reach * reach_share : reach_last;
    }
    return EX_OK;
}

static bool open_one(exi_human_work *f, exi_fit_one *o, exi_human_scan *scan) {
    const size_t n = (size_t)f->unknowns, k = (size_t)f->figure_count, joints = (size_t)f->joint_count;
    exi_arena *arena = &f->arena;
    *o = (exi_fit_one){.fit = f, .scan = scan};
    o->mixed = exi_arena_allocate(arena, n * k, sizeof *o->mixed);
    o->matches = exi_arena_allocate(arena, (size_t)scan->anchor_count + (size_t)f->vertex_count, sizeof *o->matches);
    o->starts = exi_arena_allocate(arena, joints, sizeof *o->starts);
    o->rotations = exi_arena_allocate(arena, joints, sizeof *o->rotations);
    o->posed = exi_arena_allocate(arena, joints, sizeof *o->posed);
    o->vertices = exi_arena_allocate(arena, (size_t)f->vertex_count, sizeof *o->vertices);
    o->normals = exi_arena_allocate(arena, (size_t)f->vertex_count, sizeof *o->normals);
    o->matrix = exi_arena_allocate(arena, n * n, sizeof *o->matrix);
    o->right = exi_arena_allocate(arena, n, sizeof *o->right);
    o->diagonal = exi_arena_allocate(arena, n + k, sizeof *o->diagonal);
    o->rows = exi_arena_allocate(arena, n + k, sizeof *o->rows);
    o->along = exi_arena_allocate(arena, n + k, sizeof *o->along);
    o->moved = exi_arena_allocate(arena, k * joints, sizeof *o->moved);
    o->figure_matrix = exi_arena_allocate(arena, k * k, sizeof *o->figure_matrix);
    o->figure_right = exi_arena_allocate(arena, k, sizeof *o->figure_right);
    if (o->starts)
        memcpy(o->starts, scan->pose.rotations, joints * sizeof *o->starts);
    return o->starts && o->matches && o->rotations && o->posed && o->vertices && o->normals && o->matrix && o->right &&
           o->diagonal && o->rows && o->along && o->moved && o->mixed && o->figure_matrix && o->figure_right;
}

static ex_result open_fit(exi_human_work *f, exi_human_scan *scans) {
    f->ones = exi_arena_allocate(&f->arena, (size_t)f->scan_count, sizeof *f->ones);
    f->rest = exi_arena_allocate(&f->arena, (size_t)f->vertex_count, sizeof *f->rest);
    f->places = exi_arena_allocate(&f->arena, (size_t)f->joint_count, sizeof *f->places);
    f->change = exi_arena_allocate(&f->arena, (size_t)f->figure_count, sizeof *f->change);
    f->usual = exi_arena_allocate(&f->arena, (size_t)f->joint_count, sizeof *f->usual);
    bool good = f->ones && f->rest && f->places && f->change && f->usual;
    if (good)
        exi_human_figure(f->human, NULL, f->rest, f->usual);
    for (int i = 0; good && i < f->scan_count; i++)
        good = open_one(f, &f->ones[i], &scans[i]);
    return good ? EX_OK : ex_error_memory(f->error, "carrying the template", (size_t)f->vertex_count * 96);
}

ex_result exi_human_fit(const exi_human *human, exi_human_scan *scans, int scan_count, double *figure, bool lock,
                        const ex_progress *progress, const ex_tasks *tasks, ex_error *error) {
    exi_human_work f = {.human = human,
                        .scan_count = scan_count,
                        .joint_count = human->kinematics->joint_count,
                        .vertex_count = human->mesh->vertex_count,
                        .figure_count = lock ? 0 : human->figure_count,
                        .unknowns = 3 * human->kinematics->joint_count + 3,
                        .stride = human->mesh->vertex_count / TRIED + 1,
                        .figure = figure,
                        .error = error};
    ex_result result = open_fit(&f, scans);
    if (result == EX_OK)
        exi_run(tasks, scan_count, 1, open_scans, &f);
    for (int i = 0; f.ones && i < scan_count && result == EX_OK; i++) {
        result = f.ones[i].result;
        if (result != EX_OK && error)
            *error = f.ones[i].error;
    }
    if (result == EX_OK)
        exi_human_figure(human, figure, f.rest, f.places);
    for (int i = 0; i < scan_count; i++)
        f.by_anchors = f.by_anchors || scans[i].anchor_count + scans[i].bone_point_count >= ANCHORS_LEAST;
    if (result == EX_OK && f.by_anchors) {
        exi_run(tasks, scan_count, 1, match_scans, &f);
        for (int i = 0; i < ANCHOR_STEPS; i++)
            step(&f, tasks);
    }
    f.by_anchors = false;
    if (result == EX_OK)
        result = run_rounds(&f, reach_first, progress, tasks);
    if (result == EX_OK) {
        exi_run(tasks, scan_count, 1, seek_scans, &f);
        bool found = false;
        for (int i = 0; i < scan_count; i++)
            found = found || f.ones[i].found;
        if (found)
            result = run_rounds(&f, reach_again, progress, tasks);
    }
    for (int i = 0; f.ones && i < scan_count; i++)
        exi_search_free(&f.ones[i].surface);
    exi_arena_free(&f.arena);
    return result;
}
