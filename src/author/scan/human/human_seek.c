/*
 * Limbs that were not found. If nothing tells where an arm or a leg is, its matches may fit no skin at all, since a
 * pose that is far off has none near it. The limb is then tried in many poses: directions d of the bone all around,
 * turns t about the bone, and bends of its hinge. The best few are improved by small turns. The best of them is the one
 * with the largest share of its skin on the scan:
 *
 *     share = mean over vertices of max(0, 1 - distance / reach), of those with normals that agree
 *
 * Skin of the scan that the rest of the body has already counts nothing, or an arm would be found in the other one.
 * Points on the limb that have names take away the mean of min(1, distance / off_most).
 */
#include "author/scan/fit/fit.h"
#include "author/scan/human/human_fit.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <string.h>

enum {
    SAMPLES = 72,
    OTHERS = 400,
    DIRECTIONS = 96,
    TURNS = 5,
    BENDS = 4,
    BEST = 8,
    HALVINGS = 3,
    STEPS = 12,
    JOINTS = 64
};
/* Metres: reach of the many poses, and of the best of them. Radians: the first small turn. */
static const double far_reach = 0.1, near_reach = 0.05, first_turn = 0.2;
static const double taken_reach = 0.04, off_most = 0.1, agree = 0.5;
/* A limb was not found if less of it, above or below its hinge, is on the scan, or if its points are farther off than
 * this share of off_most. A pose must be better by this. */
static const double lost_share = 0.25, lost_off = 0.6, better = 0.2;
static const char *const roots[] = {"shoulder.L", "shoulder.R", "hip.L", "hip.R"};

typedef struct limb {
    exi_fit_one *o;
    int root, hinge; /* joints; hinge -1: none */
    double bone[3];  /* direction of the root's bone in the neutral pose */
    int vertices[SAMPLES], count;
    double normals[SAMPLES][3]; /* of the rest form */
    double others[OTHERS][3];   /* vertices of the rest of the body, posed */
    int other_count;
    double reach;
} limb;

static bool is_below(const ex_kinematics *k, int joint, int root) {
    while (joint > root)
        joint = k->joints[joint].parent;
    return joint == root;
}

static int leader_of(const exi_human *human, int vertex) {
    const size_t first = (size_t)vertex * EXI_HUMAN_INFLUENCES;
    size_t best = first;
    for (size_t i = first; i < first + EXI_HUMAN_INFLUENCES; i++)
        best = human->weights[i] > human->weights[best] ? i : best;
    return human->joints[best];
}

/* The place of a vertex in the present frames of the scan. */
static void put(const exi_fit_one *o, int vertex, double x[3]) {
    const exi_human_work *f = o->fit;
    memset(x, 0, 3 * sizeof *x);
    for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++) {
        const size_t at = (size_t)vertex * EXI_HUMAN_INFLUENCES + (size_t)i;
        const int j = f->human->joints[at];
        const double w = (double)f->human->weights[at], *m = o->rotations[j];
        double d[3];
        if (w == 0)
            continue;
        exi_subtract(f->rest[vertex], f->places[j], d);
        for (int c = 0; c < 3; c++)
            x[c] += w * (m[3 * c] * d[0] + m[3 * c + 1] * d[1] + m[3 * c + 2] * d[2] + o->posed[j][c]);
    }
}

static void set_frames(exi_fit_one *o) {
    exi_human_frames(o->fit->human, (const double(*)[3])o->fit->places, &o->scan->pose, o->rotations, o->posed);
}

/* Collects vertices of the limb and of the rest of the body; false if the template has no such limb. */
static bool open_limb(limb *l, exi_fit_one *o, const char *name) {
    const exi_human_work *f = o->fit;
    const ex_kinematics *k = f->human->kinematics;
    int own = 0, other = 0;
    *l = (limb){.o = o, .root = ex_kinematics_find_joint(k, name), .hinge = -1};
    if (l->root < 0)
        return false;
    for (int j = l->root + 1; j < k->joint_count && l->hinge < 0; j++)
        if (k->joints[j].parent == l->root) {
            l->hinge = k->joints[j].freedom == EX_FREEDOM_HINGE ? j : -1;
            memcpy(l->bone, k->joints[j].translation, sizeof l->bone);
        }
    if (!(exi_dot3(l->bone, l->bone) > 0))
        return false;
    exi_unit3(l->bone);
    for (int v = 0; v < f->vertex_count; v++)
        *(is_below(k, leader_of(f->human, v), l->root) ? &own : &other) += 1;
    if (own < SAMPLES || other < OTHERS)
        return false;
    exi_human_normals(f->human, (const double(*)[3])f->rest, o->normals);
    for (int v = 0, i = 0, u = 0; v < f->vertex_count; v++) {
        if (!is_below(k, leader_of(f->human, v), l->root)) {
            if (l->other_count < OTHERS && u++ % (other / OTHERS) == 0)
                memcpy(l->others[l->other_count++], o->vertices[v], sizeof l->others[0]);
        } else if (l->count < SAMPLES && i++ % (own / SAMPLES) == 0) {
            l->vertices[l->count] = v;
            memcpy(l->normals[l->count++], o->normals[v], sizeof l->normals[0]);
        }
    }
    return true;
}

static bool is_taken(const limb *l, const float point[3]) {
    for (int i = 0; i < l->other_count; i++) {
        double square = 0;
        for (int c = 0; c < 3; c++)
            square += ((double)point[c] - l->others[i][c]) * ((double)point[c] - l->others[i][c]);
        if (square < taken_reach * taken_reach)
            return true;
    }
    return false;
}

/* Distance of the limb's points from their places, 0 to 1; 0 if it has none. */
static double points_off(const limb *l) {
    const exi_fit_one *o = l->o;
    const exi_human_work *f = o->fit;
    double sum = 0, x[3];
    int count = 0;
    for (int i = 0; i < o->scan->anchor_count; i++) {
        const ex_register_anchor *a = &o->scan->anchors[i];
        if (!is_below(f->human->kinematics, leader_of(f->human, a->vertices[0]), l->root))
            continue;
        put(o, a->vertices[0], x);
        exi_subtract(x, a->target, x);
        sum += fmin(1, sqrt(exi_dot3(x, x)) / off_most);
        count++;
    }
    return count > 0 ? sum / count : 0;
}

/* The share of the limb's skin that is on the scan, in the present frames. *least, optional: the lesser of the shares
 * above and below the hinge. */
static double shown(const limb *l, double *least) {
    const exi_fit_one *o = l->o;
    const ex_kinematics *k = o->fit->human->kinematics;
    double sum = 0, sums[2] = {0}, counts[2] = {0};
    for (int i = 0; i < l->count; i++) {
        const double *m = o->rotations[leader_of(o->fit->human, l->vertices[i])], *n = l->normals[i];
        const bool below = l->hinge >= 0 && is_below(k, leader_of(o->fit->human, l->vertices[i]), l->hinge);
        double x[3], normal[3], turned[3];
        ex_closest c;
        counts[below]++;
        put(o, l->vertices[i], x);
        const float at[3] = {(float)x[0], (float)x[1], (float)x[2]};
        if (!ex_bounds_closest(o->surface.bounds, at, (float)l->reach, &c))
            continue;
        if (!exi_search_normal(&o->surface, c.triangle, normal))
            continue;
        for (int r = 0; r < 3; r++)
            turned[r] = m[3 * r] * n[0] + m[3 * r + 1] * n[1] + m[3 * r + 2] * n[2];
        if (exi_dot3(turned, normal) <= agree || is_taken(l, c.point))
            continue;
        sum += 1 - sqrt((double)c.distance_sq) / l->reach;
        sums[below] += 1 - sqrt((double)c.distance_sq) / l->reach;
    }
    if (least)
        *least = fmin(sums[0] / fmax(counts[0], 1), counts[1] > 0 ? sums[1] / counts[1] : INFINITY);
    return sum / l->count;
}

/* The turn from a to b, unit vectors. */
static void turn_between(const double a[3], const double b[3], double q[4]) {
    double across[2][3];
    exi_cross(a, b, q);
    q[3] = 1 + exi_dot3(a, b);
    if (q[3] < 1e-6) { /* half a turn about anything across */
        exi_fit_across(a, across);
        memcpy(q, across[0], sizeof across[0]);
        q[3] = 0;
    }
    exi_normalise(q, 4);
}

/* Directions all around, evenly: a spiral of Fibonacci. */
static void direction_of(int number, double d[3]) {
    const double z = 1 - (2 * number + 1.0) / DIRECTIONS, angle = 2.399963229728653 * number, r = sqrt(1 - z * z);
    d[0] = r * cos(angle);
    d[1] = r * sin(angle);
    d[2] = z;
}

/* Poses the limb by number: a direction, a turn about the bone, a bend. */
static void pose_limb(const limb *l, int number) {
    const exi_fit_one *o = l->o;
    const ex_kin_joint *hinge = l->hinge >= 0 ? &o->fit->human->kinematics->joints[l->hinge] : NULL;
    const int bend = number % BENDS, turn = number / BENDS % TURNS;
    double d[3], swing[4], twist[4], w[3];
    direction_of(number / BENDS / TURNS, d);
    turn_between(l->bone, d, swing);
    for (int c = 0; c < 3; c++)
        w[c] = 0.7853981633974483 * (turn - TURNS / 2) * l->bone[c];
    exi_fit_turn(w, twist);
    exi_quaternion_multiply(swing, twist, o->scan->pose.rotations[l->root]);
    for (int c = 0; hinge && c < 3; c++)
        w[c] = 0.7 * bend * hinge->axis[c];
    if (hinge)
        exi_fit_turn(w, o->scan->pose.rotations[l->hinge]);
}

/* Straightens the joints beyond the hinge, or all but the root. */
static void straighten(const limb *l) {
    const ex_kinematics *k = l->o->fit->human->kinematics;
    for (int j = l->root + 1; j < k->joint_count; j++)
        if (is_below(k, j, l->root))
            memcpy(l->o->scan->pose.rotations[j], (const double[4]){0, 0, 0, 1}, 4 * sizeof(double));
}

static double score(const limb *l) {
    set_frames(l->o);
    return shown(l, NULL) - points_off(l);
}

/* Turns root or hinge by an angle: about the axes of the root's parent, or about the hinge's own. */
static void turn_limb(const limb *l, int way, double angle) {
    const exi_fit_one *o = l->o;
    const int joint = way < 3 ? l->root : l->hinge;
    const double *axis = o->fit->human->kinematics->joints[joint].axis;
    double w[3], turn[4];
    for (int c = 0; c < 3; c++)
        w[c] = angle * (way < 3 ? c == way : axis[c]);
    exi_fit_turn(w, turn);
    exi_quaternion_multiply(turn, o->scan->pose.rotations[joint], o->scan->pose.rotations[joint]);
}

/* Improves the present pose by small turns; returns its score. */
static double improve(const limb *l) {
    double most = score(l), angle = first_turn;
    for (int h = 0; h < HALVINGS; h++, angle /= 2)
        for (int step = 0; step < STEPS; step++) {
            const double before = most;
            for (int way = 0; way < (l->hinge >= 0 ? 8 : 6); way++) {
                const double by = way % 2 ? -angle : angle;
                turn_limb(l, way / 2, by);
                const double now = score(l);
                if (now > most)
                    most = now;
                else
                    turn_limb(l, way / 2, -by);
            }
            if (most == before)
                break;
        }
    return most;
}

/* Finds the numbers of the best poses of a bend [BEST], best first. */
static void find_best(const limb *l, int bend, int numbers[BEST]) {
    double scores[BEST];
    for (int i = 0; i < BEST; i++)
        scores[i] = -INFINITY;
    for (int i = bend; i < DIRECTIONS * TURNS * BENDS; i += BENDS) {
        pose_limb(l, i);
        const double now = score(l);
        int at = BEST;
        for (; at > 0 && now > scores[at - 1]; at--)
            if (at < BEST) {
                scores[at] = scores[at - 1];
                numbers[at] = numbers[at - 1];
            }
        if (at < BEST) {
            scores[at] = now;
            numbers[at] = i;
        }
    }
}

static bool seek_limb(limb *l) {
    exi_fit_one *o = l->o;
    const ex_kinematics *k = o->fit->human->kinematics;
    double(*rotations)[4] = o->scan->pose.rotations, best[JOINTS][4];
    if (k->joint_count > JOINTS)
        return false;
    l->reach = near_reach;
    set_frames(o);
    double least = 0;
    const double share = shown(l, &least), off = points_off(l);
    if (least > lost_share && off < lost_off)
        return false;
    memcpy(best, rotations, (size_t)k->joint_count * sizeof *best);
    straighten(l);
    double most = share - off + better;
    bool found = false;
    for (int bend = 0; bend < (l->hinge >= 0 ? BENDS : 1); bend++) {
        int numbers[BEST];
        l->reach = far_reach;
        find_best(l, bend, numbers);
        for (int i = 0; i < BEST; i++) {
            pose_limb(l, numbers[i]);
            l->reach = far_reach;
            improve(l);
            l->reach = near_reach;
            const double now = improve(l);
            if (!(now > most))
                continue;
            most = now;
            found = true;
            memcpy(best, rotations, (size_t)k->joint_count * sizeof *best);
        }
    }
    memcpy(rotations, best, (size_t)k->joint_count * sizeof *best);
    for (int j = l->root; found && j < k->joint_count; j++)
        if (is_below(k, j, l->root))
            memcpy(o->starts[j], rotations[j], sizeof o->starts[j]);
    return found;
}

bool exi_fit_seek(exi_fit_one *o) {
    bool found = false;
    limb l;
    if (!o->surface.bounds)
        return false;
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (open_limb(&l, o, roots[i]) && seek_limb(&l))
            found = true;
    return found;
}
