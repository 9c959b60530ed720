/*
 * Fits kinematics, poses and local marker positions to sightings (Allen, Curless, Popovic 2002, section 3.3, equation
 * 3):
 *
 *     minimise over m, q, k   sum over scans i and markers s of   w_s rho(|o_is - c(m_s; q_i, k)|)
 *
 * First every site is held where the reference scan shows it, whatever bones and axes become; then everything is free.
 * Beyond the paper: a robust loss rho that ignores false markers (fit.h), weights w_s from each marker's typical error,
 * and priors. Bones and axes are drawn to those of a usual person (fit_person.c). Without that prior, translations,
 * axes and the reference's base are held near their start, with a weight of a ten-thousandth of a sighting, and
 * translations along a hinge's own axis are kept small.
 */
#include "author/scan/fit/fit.h"
#include "author/scan/fit/fit_skin.h"

#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOSS       0.02
#define PREFERENCE 1e-3
#define HOLD       1e-5 /* squared weight of a translation's prior, in sightings */
#define HOLD_AXIS  1e-6 /* of an axis's prior */
#define HOLD_SITE  1e-3 /* without a reference, per scan */
#define HOLD_BASE  1e-2 /* of the reference */
#define HOLD_MOVED 1e-6 /* of its place, if a prior on bones tells it */
#define FINE       5e-4 /* metres: a marker closer than this to its prediction gains nothing */
#define NOISE      0.01 /* metres: first guess of the noise, mostly of skin that moves over bones */
#define WIDTH      3    /* width of the loss in units of the noise, at least */
/* With more scans than MANY, bones are first found from about FEW of them. */
enum { ITERATIONS = 100, SIGMA_ROUNDS = 6, MANY = 150, FEW = 80 };

/* ---- weights of sites ---- */

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Computes the distances of all marks, by source. */
static void measure(exi_fit *f, double *errors) {
    exi_fit_frames *frames = &f->chunks[0].frames;
    for (int i = 0; i < f->scan_count; i++) {
        if (f->scans[i].begin < f->scans[i].end)
            exi_fit_frame(f, &f->now, i, frames);
        for (int m = f->scans[i].begin; m < f->scans[i].end; m++) {
            double at[3], r[3];
            exi_fit_predict(f, &f->now, frames, f->marks[m].site, at);
            exi_subtract(at, f->marks[m].at, r);
            errors[f->marks[m].source] = f->placed[f->marks[m].site] ? sqrt(exi_dot3(r, r)) : NAN;
        }
    }
}

/* Computes the distances of sightings without weight: predictions of a fit that has not seen them. */
static void measure_others(exi_fit *f, double *errors) {
    exi_fit_frames *frames = &f->chunks[0].frames;
    for (int i = 0, scan = -1; i < f->def->sighting_count; i++) {
        const ex_sighting *s = &f->def->sightings[i];
        double at[3], r[3];
        if (s->weight > 0 || !f->placed[s->site])
            continue;
        if (s->scan != scan)
            exi_fit_frame(f, &f->now, scan = s->scan, frames);
        exi_fit_predict(f, &f->now, frames, s->site, at);
        exi_subtract(at, s->position, r);
        errors[i] = sqrt(exi_dot3(r, r));
    }
}

/* sigmas [site]: root mean square distance, weighted by the loss, and drawn towards the typical one for sites that are
 * rarely seen. Returns the typical one: their median. */
static double find_sigmas(exi_fit *f, const double *errors, double *sigmas, double *work) {
    double *sums = work, *counts = work + f->site_count, *sorted = work + 2 * (size_t)f->site_count;
    memset(work, 0, 3 * (size_t)f->site_count * sizeof *work);
    for (int m = 0; m < f->mark_count; m++) {
        const exi_fit_mark *mark = &f->marks[m];
        double k, r = errors[mark->source];
        if (!mark->active)
            continue;
        exi_loss(r * r, f->site_widths[mark->site], &k);
        sums[mark->site] += k * r * r;
        counts[mark->site] += k;
    }
    int count = 0;
    for (int s = 0; s < f->site_count; s++)
        if (counts[s] > 1.5)
            sorted[count++] = sqrt(sums[s] / counts[s]);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    const double usual = count > 0 ? sorted[count / 2] : 0, few = 3;
    for (int s = 0; s < f->site_count; s++)
        sigmas[s] = sqrt((sums[s] + few * usual * usual) / (counts[s] + few));
    return usual;
}

/* ---- stages ---- */

static double loss_of(const exi_fit *f) {
    return f->def->loss == 0 ? LOSS : f->def->loss;
}

static void set_widths(exi_fit *f, double width) {
    for (int s = 0; s < f->site_count; s++)
        f->site_widths[s] = width;
}

/* Takes the noise from the errors; the loss is as wide as it requires. */
static void take_noise(exi_fit *f, double found) {
    const double loss = loss_of(f);
    f->noise = found > FINE ? found : FINE;
    if (f->person)
        set_widths(f, f->def->loss == 0 && WIDTH * f->noise > loss ? WIDTH * f->noise : loss);
}

static void set_priors(exi_fit *f) {
    const double preference = f->def->preference == 0 ? PREFERENCE : f->def->preference;
    f->hold_site = f->def->reference >= 0 ? 0 : HOLD_SITE * f->scan_count;
    f->hold_translation = f->def->reference >= 0 ? HOLD : f->hold_site;
    f->hold_axis = f->def->reference >= 0 ? HOLD_AXIS : f->hold_site;
    f->hold_base = f->person ? HOLD_MOVED : HOLD_BASE;
    if (f->person)
        f->hold_translation = f->hold_axis = 0;
    if (f->def->reference >= 0)
        f->turn_holds[(size_t)f->def->reference * (size_t)f->joint_count] = HOLD_BASE;
    for (int j = 1; j < f->joint_count; j++) {
        int count = 0;
        f->preferences[j] = 0;
        if (f->kinematics->joints[j].freedom != EX_FREEDOM_HINGE || preference < 0 ||
            (f->person && f->def->preference == 0))
            continue;
        for (int m = 0; m < f->mark_count; m++)
            count += f->walk[f->marks[m].joint] >= f->walk[j] && f->walk[f->marks[m].joint] < f->walk_end[j];
        f->preferences[j] = preference * count;
    }
}

/* Alternates: weights from each site's error, then poses, bones and sites again. */
static void solve_weights(exi_fit *f, double *errors, double *sigmas, double *work, int iterations, int rounds) {
    for (int round = 0; round < rounds; round++) {
        double change = 0;
        measure(f, errors);
        const double found = find_sigmas(f, errors, sigmas, work), usual = found > FINE ? found : FINE;
        take_noise(f, found);
        const double least = 0.4 * usual > FINE ? 0.4 * usual : FINE;
        for (int s = 0; s < f->site_count; s++) {
            const double now = usual / (sigmas[s] > least ? sigmas[s] : least);
            const double d = fabs(now * now - f->site_weights[s]) / (now * now);
            change = d > change ? d : change;
            f->site_weights[s] = now * now;
        }
        if (change < 0.05)
            break;
        exi_fit_solve(f, iterations < 10 ? iterations : 10, 1e-4, "weighing markers", 0.6 + 0.05 * round,
                      0.65 + 0.05 * round);
    }
}

/* True if both of a pair of mirrored joints have markers. Then the reference's base has to lie between them; otherwise
 * any position and rotation of it is as good as another, and it stays. */
static bool shows_mirror(const exi_fit *f) {
    for (int j = 1; j < f->joint_count; j++) {
        bool own = false, other = false;
        const int owner = f->translation_owners[j];
        for (int m = 0; owner != j && m < f->mark_count; m++) {
            const int walk = f->walk[f->marks[m].joint];
            own = own || (walk >= f->walk[j] && walk < f->walk_end[j]);
            other = other || (walk >= f->walk[owner] && walk < f->walk_end[owner]);
        }
        if (own && other)
            return true;
    }
    return false;
}

void exi_fit_begin_again(exi_fit *f, double noise) {
    const ex_kin_fit_def *def = f->def;
    for (int i = 0; i < f->scan_count; i++)
        f->scans[i].fitted = true;
    for (int s = 0; s < f->site_count; s++)
        f->site_weights[s] = 1;
    f->noise = noise;
    set_widths(f, loss_of(f));
    take_noise(f, noise);
    set_priors(f);
    exi_fit_copy_state(f, &f->now, &f->begin);
    exi_fit_copy_state(f, &f->now, &f->next);
    exi_fit_activate(f);
    exi_fit_lay_out(f, !def->lock_kinematics, !def->lock_sites);
    exi_fit_find_open_poses(f);
    f->base_free = !f->person && shows_mirror(f);
    f->base_moves = f->person != NULL;
    exi_fit_lay_out(f, !def->lock_kinematics, !def->lock_sites);
}

/* Begins where an earlier fit ended. */
static void solve_again(exi_fit *f, const ex_kin_fit *last, double *errors, double *sigmas, double *work) {
    const int iterations = f->def->iterations > 0 ? f->def->iterations : ITERATIONS;
    exi_fit_begin_again(f, last->noise);
    if (f->def->even)
        exi_fit_solve(f, iterations, 1e-7, "fitting all", 0.3, 0.9);
    else
        solve_weights(f, errors, sigmas, work, iterations, f->person && last->noise > EXI_FIT_NOISY ? 2 : SIGMA_ROUNDS);
}

/* Finds what is not determined, and solves to the end. */
static ex_result finish(exi_fit *f, bool rough, double *errors, double *sigmas, double *work) {
    const int iterations = f->def->iterations > 0 ? f->def->iterations : ITERATIONS;
    measure(f, errors);
    const double usual = find_sigmas(f, errors, sigmas, work);
    take_noise(f, usual);
    exi_fit_find_open_shared(f, (usual > 2 * FINE ? usual : 2 * FINE) / sqrt(3));
    exi_fit_solve(f, iterations, f->scan_count > MANY ? 1e-3 : rough ? 1e-5 : 1e-6, "fitting all", 0.9, 1);
    measure(f, errors);
    measure_others(f, errors);
    f->noise = find_sigmas(f, errors, sigmas, work);
    return EX_OK;
}

static ex_result solve(exi_fit *f, double *errors, double *sigmas, double *work) {
    const ex_kin_fit_def *def = f->def;
    const double loss = loss_of(f);
    const int iterations = def->iterations > 0 ? def->iterations : ITERATIONS;
    f->noise = NOISE;
    set_widths(f, 3 * loss);
    for (int s = 0; s < f->site_count; s++)
        f->site_weights[s] = 1;
    set_priors(f);
    ex_result result = exi_fit_place_reference(f);
    if (result == EX_OK)
        result = exi_fit_start(f);
    if (result != EX_OK)
        return result;
    exi_fit_find_open_poses(f);
    for (int i = 0, step = (f->scan_count + FEW - 1) / FEW; f->scan_count > MANY && i < f->scan_count; i++)
        f->scans[i].waiting = i % step != 0 && i != def->reference;
    exi_fit_lay_out(f, !def->lock_kinematics, false);
    exi_fit_solve(f, iterations < 30 ? iterations : 30, 1e-3, "fitting bones", 0.1, 0.3);
    if (!def->lock_sites)
        result = exi_fit_replace_sites(f, loss < 1 ? loss : 0.02);
    if (result != EX_OK)
        return result;
    memset(f->tied, 0, (size_t)f->site_count * sizeof *f->tied);
    exi_fit_activate(f);
    exi_fit_lay_out(f, !def->lock_kinematics, !def->lock_sites);
    result = exi_fit_restart(f);
    if (result != EX_OK)
        return result;
    set_widths(f, loss);
    measure(f, errors);
    take_noise(f, find_sigmas(f, errors, sigmas, work));
    exi_fit_find_open_poses(f);
    exi_fit_activate(f);
    f->base_free = !f->person && shows_mirror(f);
    f->base_moves = f->person != NULL;
    exi_fit_lay_out(f, !def->lock_kinematics, !def->lock_sites);
    exi_fit_solve(f, iterations, def->even ? 1e-7 : 1e-4, "fitting all", 0.3, 0.6);
    result = exi_fit_restart(f);
    if (result != EX_OK)
        return result;
    if (!def->even)
        solve_weights(f, errors, sigmas, work, iterations, SIGMA_ROUNDS);
    if (f->scan_count > MANY) {
        exi_fit_wake(f);
        exi_fit_find_open_poses(f);
        exi_fit_solve(f, iterations < 10 ? iterations : 10, 1e-3, "fitting all", 0.8, 0.9);
        result = exi_fit_restart(f);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

/* ---- the result ---- */

static bool make_poses(const exi_fit *f, ex_kin_fit *out) {
    const size_t joints = (size_t)f->joint_count;
    out->poses = calloc((size_t)f->scan_count, sizeof *out->poses);
    for (int i = 0; out->poses && i < f->scan_count; i++) {
        ex_kin_pose *pose = &out->poses[i];
        out->scan_count = i + 1;
        pose->rotations = malloc(joints * sizeof *pose->rotations);
        if (!pose->rotations)
            return false;
        memcpy(pose->translation, f->now.bases[i], sizeof pose->translation);
        for (int j = 0; j < f->joint_count; j++) {
            const size_t at = (size_t)i * joints + (size_t)j;
            double w[3];
            for (int k = 0; k < 3; k++)
                w[k] = f->now.angles[at] * f->now.axes[j][k];
            memcpy(pose->rotations[j], f->now.turns[at], sizeof *pose->rotations);
            if (f->kinematics->joints[j].freedom == EX_FREEDOM_HINGE)
                exi_fit_turn(w, pose->rotations[j]);
        }
    }
    return out->poses != NULL;
}

static bool make_kinematics(const exi_fit *f, ex_kin_fit *out) {
    out->kinematics = ex_kinematics_copy(f->kinematics);
    if (!out->kinematics)
        return false;
    for (int j = 0; j < f->joint_count; j++) {
        ex_kin_joint *joint = &out->kinematics->joints[j];
        if (j > 0)
            memcpy(joint->translation, f->now.translations[j], sizeof joint->translation);
        else if (f->def->reference >= 0)
            memcpy(joint->translation, f->now.bases[f->def->reference], sizeof joint->translation);
        if (joint->freedom == EX_FREEDOM_HINGE)
            memcpy(joint->axis, f->now.axes[j], sizeof joint->axis);
        if (f->apart[j])
            joint->mirror = -1;
        if (f->person)
            exi_fit_person_range(f, j, &joint->least, &joint->most);
    }
    for (int s = 0; s < f->site_count; s++) {
        memcpy(out->kinematics->sites[s].local, f->now.locals[s], sizeof f->now.locals[s]);
        out->kinematics->sites[s].placed = f->placed[s];
    }
    return true;
}

static bool make_neutral(const exi_fit *f, ex_kin_fit *out) {
    out->neutral = calloc((size_t)f->joint_count, sizeof *out->neutral);
    out->scale = f->person ? exi_fit_person_scale(f) : 1;
    for (int j = 0; out->neutral && j < f->joint_count; j++) {
        out->neutral[j][3] = 1;
        if (f->person)
            exi_fit_person_neutral(f, j, out->neutral[j]);
    }
    return out->neutral != NULL;
}

static void summarise(const exi_fit *f, ex_kin_fit *out) {
    const double loss = f->person && f->site_count > 0 ? f->site_widths[0] : loss_of(f);
    double sum = 0;
    int count = 0;
    for (int m = 0; m < f->mark_count; m++) {
        const double r = out->errors[f->marks[m].source];
        if (!f->marks[m].active)
            continue;
        if (r > 3 * loss) {
            out->outlier_count++;
            continue;
        }
        sum += r * r;
        count++;
    }
    out->rms = count > 0 ? sqrt(sum / count) : 0;
    out->noise = f->noise;
    out->iteration_count = f->iteration_count;
    out->unknown_count = f->shared_count;
    for (int i = 0; i < f->scan_count; i++)
        out->unknown_count += f->scans[i].pose_count;
}

static ex_result make_result(exi_fit *f, ex_kin_fit *out) {
    if (!make_kinematics(f, out) || !make_poses(f, out) || !make_neutral(f, out))
        return ex_error_memory(f->error, "the fit of a skeleton", (size_t)f->scan_count * (size_t)f->joint_count * 32);
    summarise(f, out);
    return exi_fit_list_open(f, out);
}

void ex_kin_fit_destroy(ex_kin_fit *fit) {
    if (!fit)
        return;
    for (int i = 0; fit->poses && i < fit->scan_count; i++)
        free(fit->poses[i].rotations);
    ex_kinematics_destroy(fit->kinematics);
    free(fit->poses);
    free(fit->errors);
    free(fit->site_sigmas);
    free(fit->neutral);
    free(fit->opens);
    free(fit);
}

/* ---- checks, and the entry point ---- */

static ex_result check_kinematics(const ex_kinematics *k, ex_error *error) {
    bool good = k->joint_count > 0 && k->joints[0].parent < 0 && k->joints[0].freedom == EX_FREEDOM_BASE;
    for (int j = 1; good && j < k->joint_count; j++)
        good = k->joints[j].parent >= 0 && k->joints[j].parent < j && k->joints[j].mirror < j &&
               k->joints[j].freedom != EX_FREEDOM_BASE;
    for (int s = 0; good && s < k->site_count; s++)
        good = k->sites[s].joint >= 0 && k->sites[s].joint < k->joint_count;
    return good ? EX_OK : exi_misuse_error(error, "ex_kinematics_fit", "a skeleton with parents after their children");
}

static ex_result check(const ex_kin_fit_def *def, ex_error *error) {
    ex_result result = check_kinematics(def->kinematics, error);
    if (result != EX_OK)
        return result;
    if (def->scan_count < 1 || def->reference < -1 || def->reference >= def->scan_count)
        return exi_misuse_error(error, "ex_kinematics_fit", "no scans, or a reference that is none of them");
    for (int i = 0; i < def->sighting_count; i++) {
        const ex_sighting *s = &def->sightings[i];
        if (s->scan < 0 || s->scan >= def->scan_count || s->site < 0 || s->site >= def->kinematics->site_count)
            return exi_misuse_error(error, "ex_kinematics_fit", "a sighting of no scan or of no site");
        bool good = isfinite(s->weight);
        for (int k = 0; k < 3; k++)
            good = good && fabs(s->position[k]) < 1e6;
        if (!good)
            return ex_error_set(error, EX_ERROR_DATA, "scan '%s': the position of marker '%s' is not finite",
                                def->scans[s->scan].name ? def->scans[s->scan].name : "?",
                                def->kinematics->sites[s->site].name);
    }
    return EX_OK;
}

ex_result exi_kinematics_fit_rigid(const ex_kin_fit_def *def, const ex_kin_fit *last, ex_kin_fit **fit,
                                   ex_error *error) {
    *fit = NULL;
    struct timespec began, ended;
    timespec_get(&began, TIME_UTC);
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    exi_fit f;
    ex_kin_fit *out = calloc(1, sizeof *out);
    result = exi_fit_open(&f, def, error);
    double *work = exi_arena_allocate(&f.arena, 3 * (size_t)f.site_count, sizeof *work);
    if (out) {
        out->errors = calloc((size_t)def->sighting_count + 1, sizeof *out->errors);
        out->site_sigmas = calloc((size_t)f.site_count + 1, sizeof *out->site_sigmas);
    }
    if (result == EX_OK && (!out || !work || !out->errors || !out->site_sigmas))
        result = ex_error_memory(error, "the fit of a skeleton", (size_t)def->sighting_count * sizeof(double));
    for (int i = 0; result == EX_OK && i < def->sighting_count; i++)
        out->errors[i] = NAN; /* for sites without a place */
    if (result == EX_OK && last && def->scan_count <= MANY)
        solve_again(&f, last, out->errors, out->site_sigmas, work);
    else if (result == EX_OK)
        result = solve(&f, out->errors, out->site_sigmas, work);
    if (result == EX_OK)
        result = finish(&f, last && f.person && last->noise > EXI_FIT_NOISY, out->errors, out->site_sigmas, work);
    if (result == EX_OK)
        result = make_result(&f, out);
    exi_fit_close(&f);
    if (result != EX_OK) {
        ex_kin_fit_destroy(out);
        return result;
    }
    timespec_get(&ended, TIME_UTC);
    out->seconds = (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec);
    *fit = out;
    return EX_OK;
}
