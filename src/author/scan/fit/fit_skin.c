/*
 * Markers are on skin, and skin near a joint follows both bones. If they are taken as fixed to one bone, they pull
 * joints out of place; lower weights (site_sigmas) help only if enough other markers are left. So each marker may share
 * in the motion of the bone above and of one below, as skin blended by dual quaternions does: it turns less with its
 * own joint, and in part with the joint below,
 *
 *     c = p_j + R_parent q_j^(1 - u) (t_k + q_k^v (m - t_k)),   u, v >= 0, u + v <= 0.9,
 *
 * with p_j the position of its joint, q the rotations of joints, t_k the translation to the joint below and m the
 * marker's local position; u = v = 0 is the paper. In the reference nothing is turned, and shares do not matter. Shares
 * and fit alternate: with poses held, shares are a small least-squares problem per marker; with shares held, the fit
 * gets each sighting moved by their effect. If the residual is noise, both agree on the true optimum.
 */
#include "author/scan/fit/fit_skin.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHARES = 2, ROUNDS = 30 };

/* Metres per share: error of a marker beyond which a share of 1 is a better explanation. */
#define SHARE_COST 0.004

/* A marker's other bones. */
typedef struct skin_site {
    int joints[SHARES]; /* or -1 */
    double shares[SHARES];
    double normal[SHARES][SHARES], right[SHARES];
} skin_site;

typedef struct skin {
    const ex_kin_fit_def *def;
    ex_kin_fit *fit; /* the last fit */
    skin_site *sites;
    ex_sighting *sightings; /* moved by the shares */
    ex_kin_scan *scans;
    double (*rotations)[4], (*places)[3]; /* [joint_count] of one scan */
    double (*turns)[4];                   /* its joints' rotations */
    double (*rest)[3];                    /* [joint_count] places in the reference */
    int *first;                           /* [scan_count + 1] first sighting of each scan in order: */
    int *order;                           /* [sighting_count] */
    ex_error *error;
} skin;

static void free_skin(skin *s) {
    free(s->sites);
    free(s->sightings);
    free(s->scans);
    free(s->rotations);
    free(s->places);
    free(s->rest);
    free(s->first);
    free(s->order);
}

static bool make_skin(skin *s) {
    const ex_kin_fit_def *def = s->def;
    const size_t joints = (size_t)def->kinematics->joint_count, sites = (size_t)def->kinematics->site_count;
    s->sites = exi_array_allocate(sites, sizeof *s->sites);
    s->sightings = exi_array_copy(def->sightings, (size_t)def->sighting_count, sizeof *s->sightings);
    s->scans = exi_array_copy(def->scans, (size_t)def->scan_count, sizeof *s->scans);
    s->rotations = exi_array_allocate(joints, sizeof *s->rotations);
    s->places = exi_array_allocate(joints, sizeof *s->places);
    s->rest = exi_array_allocate(joints, sizeof *s->rest);
    s->first = calloc((size_t)def->scan_count + 2, sizeof *s->first);
    s->order = exi_array_allocate((size_t)def->sighting_count, sizeof *s->order);
    if (!s->sites || !s->sightings || !s->scans || !s->rotations || !s->places || !s->rest || !s->first || !s->order)
        return false;
    for (int i = 0; i < def->sighting_count; i++)
        s->first[def->sightings[i].scan + 2]++;
    for (int i = 2; i < def->scan_count + 2; i++)
        s->first[i] += s->first[i - 1];
    for (int i = 0; i < def->sighting_count; i++)
        s->order[s->first[def->sightings[i].scan + 1]++] = i;
    memset(s->sites, 0, sites * sizeof *s->sites);
    return true;
}

/* ---- positions of markers ---- */

static void rest_places(const ex_kinematics *kinematics, double (*rest)[3]) {
    for (int j = 0; j < kinematics->joint_count; j++)
        for (int c = 0; c < 3; c++)
            rest[j][c] = kinematics->joints[j].translation[c] + (j > 0 ? rest[kinematics->joints[j].parent][c] : 0);
}

/* q^part, the shorter way. */
static void part_of(const double q[4], double part, double out[4]) {
    const double sign = q[3] < 0 ? -1 : 1, sine = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    const double half = part * atan2(sine, sign * q[3]), scale = sine > 1e-12 ? sign * sin(half) / sine : 0;
    for (int c = 0; c < 3; c++)
        out[c] = scale * q[c];
    out[3] = cos(half);
}

/* Computes a marker's position with these shares; the scan is loaded. */
static void place(const skin *s, int number, const double shares[SHARES], double at[3]) {
    const ex_site *site = &s->fit->kinematics->sites[number];
    const int j = site->joint, below = s->sites[number].joints[1], above = s->sites[number].joints[0];
    double local[3], q[4], turned[3];
    memcpy(local, site->local, sizeof local);
    if (below >= 0 && shares[1] != 0) {
        const double *t = s->fit->kinematics->joints[below].translation;
        for (int c = 0; c < 3; c++)
            local[c] -= t[c];
        part_of(s->turns[below], shares[1], q);
        exi_rotate(q, local, turned);
        for (int c = 0; c < 3; c++)
            local[c] = turned[c] + t[c];
    }
    if (above >= 0 && shares[0] != 0) {
        part_of(s->turns[j], -shares[0], q); /* its own rotation, minus a part of it */
        exi_quaternion_multiply(s->rotations[j], q, q);
        exi_rotate(q, local, at);
    } else {
        exi_rotate(s->rotations[j], local, at);
    }
    for (int c = 0; c < 3; c++)
        at[c] += s->places[j][c];
}

/* Chooses the bone above, unless that is the world, and the one below with the nearest joint. */
static void choose_joints(skin *s) {
    const ex_kinematics *kinematics = s->fit->kinematics;
    for (int i = 0; i < kinematics->site_count; i++) {
        const ex_site *site = &kinematics->sites[i];
        double least = 0;
        s->sites[i].joints[0] = kinematics->joints[site->joint].parent;
        s->sites[i].joints[1] = -1;
        for (int j = site->joint + 1; j < kinematics->joint_count; j++) {
            double square = 0;
            if (kinematics->joints[j].parent != site->joint)
                continue;
            for (int c = 0; c < 3; c++) {
                const double d = s->rest[j][c] - s->rest[site->joint][c] - site->local[c];
                square += d * d;
            }
            if (s->sites[i].joints[1] < 0 || square < least) {
                s->sites[i].joints[1] = j;
                least = square;
            }
        }
    }
}

/* ---- shares ---- */

static void gather(skin *s, int sighting) {
    const ex_sighting *seen = &s->def->sightings[sighting];
    skin_site *own = &s->sites[seen->site];
    const double step = 1e-3;
    double at[3], off[3], moved[SHARES][3] = {{0}};
    place(s, seen->site, own->shares, at);
    for (int k = 0; k < SHARES; k++) {
        double shares[SHARES], there[3];
        if (own->joints[k] < 0)
            continue;
        memcpy(shares, own->shares, sizeof shares);
        shares[k] += step;
        place(s, seen->site, shares, there);
        for (int c = 0; c < 3; c++)
            moved[k][c] = (there[c] - at[c]) / step;
    }
    for (int c = 0; c < 3; c++)
        off[c] = seen->position[c] - at[c];
    /* A mark that is far off is false, and is ignored. */
    const double wide = 3 * s->fit->noise > 0.02 ? 3 * s->fit->noise : 0.02;
    const double width = wide * wide, square = exi_dot3(off, off);
    const double weight = seen->weight * (width / (width + square)) * (width / (width + square));
    for (int c = 0; c < 3; c++) /* relative to shares of 0 */
        for (int k = 0; k < SHARES; k++)
            off[c] += own->shares[k] * moved[k][c];
    for (int k = 0; k < SHARES; k++) {
        own->right[k] += weight * exi_dot3(moved[k], off);
        for (int l = 0; l < SHARES; l++)
            own->normal[k][l] += weight * exi_dot3(moved[k], moved[l]);
    }
}

/* Non-negative least squares with two unknowns. */
static void solve_shares(skin_site *site) {
    const double ridge = SHARE_COST * SHARE_COST;
    const double a = site->normal[0][0] + ridge, b = site->normal[0][1], d = site->normal[1][1] + ridge;
    const double det = a * d - b * b;
    double x = (d * site->right[0] - b * site->right[1]) / det, y = (a * site->right[1] - b * site->right[0]) / det;
    if (x < 0 || y < 0) {
        const double alone[2] = {site->right[0] / a, site->right[1] / d};
        const bool first = x >= 0 || (y < 0 && alone[0] * site->right[0] > alone[1] * site->right[1]);
        x = first && alone[0] > 0 ? alone[0] : 0;
        y = !first && alone[1] > 0 ? alone[1] : 0;
    }
    const double most = x + y > 0.9 ? 0.9 / (x + y) : 1;
    site->shares[0] = most * x;
    site->shares[1] = most * y;
}

static void load_scan(skin *s, int scan) {
    ex_kin_frames(s->fit->kinematics, &s->fit->poses[scan], s->rotations, s->places);
    s->turns = s->fit->poses[scan].rotations;
}

static void find_shares(skin *s) {
    for (int i = 0; i < s->def->kinematics->site_count; i++) {
        memset(s->sites[i].normal, 0, sizeof s->sites[i].normal);
        memset(s->sites[i].right, 0, sizeof s->sites[i].right);
    }
    for (int scan = 0; scan < s->def->scan_count; scan++) {
        if (scan == s->def->reference)
            continue;
        load_scan(s, scan);
        for (int i = s->first[scan]; i < s->first[scan + 1]; i++)
            gather(s, s->order[i]);
    }
    for (int i = 0; i < s->def->kinematics->site_count; i++)
        solve_shares(&s->sites[i]);
}

/* ---- sightings ---- */

/* Moves sightings by the effect of their shares, so that the fit may treat markers as fixed to their bones. */
static void move_sightings(skin *s) {
    static const double none[SHARES] = {0};
    for (int scan = 0; scan < s->def->scan_count; scan++) {
        load_scan(s, scan);
        for (int i = s->first[scan]; i < s->first[scan + 1]; i++) {
            const ex_sighting *seen = &s->def->sightings[s->order[i]];
            double at[3], fixed[3], *position = s->sightings[s->order[i]].position;
            place(s, seen->site, s->sites[seen->site].shares, at);
            place(s, seen->site, none, fixed);
            for (int c = 0; c < 3; c++)
                position[c] = seen->position[c] - (at[c] - fixed[c]);
        }
    }
}

/* Fits once more, starting from the last result. */
static ex_result fit_again(skin *s) {
    ex_kin_fit_def def = *s->def;
    ex_kin_fit *next = NULL;
    for (int i = 0; i < def.scan_count; i++) {
        s->scans[i] = def.scans[i];
        s->scans[i].start = &s->fit->poses[i];
    }
    def.usual = def.usual ? def.usual : def.kinematics;
    def.neutral = (const double(*)[4])s->fit->neutral;
    def.kinematics = s->fit->kinematics;
    def.scans = s->scans;
    def.sightings = s->sightings;
    def.progress = NULL;
    ex_result result = exi_kinematics_fit_rigid(&def, s->fit, &next, s->error);
    if (result != EX_OK)
        return result;
    next->iteration_count += s->fit->iteration_count;
    next->seconds += s->fit->seconds;
    ex_kin_fit_destroy(s->fit);
    s->fit = next;
    rest_places(s->fit->kinematics, s->rest);
    return EX_OK;
}

static ex_result fit_skin(skin *s) {
    ex_result result = EX_OK;
    double before = INFINITY;
    rest_places(s->fit->kinematics, s->rest);
    choose_joints(s);
    for (int round = 0; round < ROUNDS && result == EX_OK; round++) {
        find_shares(s);
        move_sightings(s);
        result = fit_again(s);
        if (result == EX_OK &&
            s->fit->rms > before * (s->fit->noise > EXI_FIT_NOISY && !s->def->free_bones ? 0.99 : 0.998))
            break;
        before = s->fit->rms;
    }
    return result;
}

ex_result ex_kinematics_fit(const ex_kin_fit_def *def, ex_kin_fit **fit, ex_error *error) {
    skin s = {.def = def, .error = error};
    ex_result result = exi_kinematics_fit_rigid(def, NULL, &s.fit, error);
    *fit = NULL;
    if (result == EX_OK && !def->rigid && def->reference >= 0) {
        result = make_skin(&s) ? fit_skin(&s) : ex_error_memory(error, "the fit", 0);
        free_skin(&s);
    }
    if (result == EX_OK)
        *fit = s.fit;
    else
        ex_kin_fit_destroy(s.fit);
    return result;
}
