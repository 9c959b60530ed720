/*
 * Labels all scans of a session together, in rounds.
 *
 * In the first round, markers are where the reference scan shows them and joints roughly where the skeleton file has
 * them; every scan is searched separately. The sure labels go into the fit of bones, axes, poses and places of markers
 * (equation 3). The next rounds look for the same markers with its result, which is off by a few millimetres instead of
 * a few centimetres. Colours are then as the scanner saw them, and markers that the reference does not show are looked
 * for too (label_unseen.c).
 */
#include "author/scan/label/label_scans.h"

#include "author/scan/kinematics/kinematics.h"

#include "author/base/array.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { STARTS = 6 };
#define GOOD                                                                                                           \
    0.6                   /* fraction of sure labels among the recognisable found markers from which the pose is       \
                             right */
#define STRANGE      0.15 /* a scan with a smaller fraction of sure labels shows something else, where chance gives some */
#define FITTED_SLACK 0.008
#define FITTED_TILT  4.0
#define KNOWN_SIGMA  0.01 /* metres: deviation of a marker from its place, of a fit that does not say it */

/* ---- final labels ---- */

static ex_result find_site(const exi_label_run *run, const ex_label_scan *scan, const char *name, int *site,
                           ex_error *error) {
    const ex_kinematics *k = run->kinematics;
    *site = ex_kinematics_find_site(k, name);
    if (*site >= 0)
        return EX_OK;
    const char **names = exi_arena_allocate(run->arena, (size_t)k->site_count, sizeof *names);
    for (int s = 0; names && s < k->site_count; s++)
        names[s] = k->sites[s].name;
    const char *near = names ? ex_suggest(name, names, k->site_count) : NULL;
    return ex_error_set(error, EX_ERROR_DATA, "scan '%s': there is no marker '%s' in the table of markers%s%s%s",
                        scan->name, name, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static ex_result read_given(exi_label_run *run, int i, ex_error *error) {
    const ex_label_scan *scan = &run->def->scans[i];
    for (int f = 0; f < scan->found_count; f++)
        run->known[i][f] = -1;
    for (int g = 0; g < scan->given_count; g++) {
        const ex_labelled *given = &scan->given[g];
        double least = EXI_SAME_PLACE * EXI_SAME_PLACE;
        int nearest = -1;
        const ex_result result = find_site(run, scan, given->name, &run->given[i][g], error);
        if (result != EX_OK)
            return result;
        for (int h = 0; h < g; h++)
            if (run->given[i][h] == run->given[i][g])
                return ex_error_set(error, EX_ERROR_DATA, "scan '%s': marker '%s' is named twice", scan->name,
                                    given->name);
        for (int f = 0; f < scan->found_count; f++) {
            double apart[3];
            exi_subtract(scan->found[f].position, given->position, apart);
            if (run->known[i][f] < 0 && exi_dot3(apart, apart) < least) {
                least = exi_dot3(apart, apart);
                nearest = f;
            }
        }
        if (nearest >= 0 && given->confidence >= EX_LABEL_SURE)
            run->known[i][nearest] = run->given[i][g];
    }
    for (int f = 0; f < scan->found_count; f++)
        run->labels[i][f] =
            (ex_label){.marker = f, .site = run->known[i][f], .confidence = run->known[i][f] >= 0 ? 1 : 0, .other = -1};
    return EX_OK;
}

/* ---- one scan ---- */

static int count_sure(const exi_label_run *run, int i) {
    int count = 0;
    for (int f = 0; f < run->def->scans[i].found_count; f++)
        count += run->labels[i][f].site >= 0 && run->labels[i][f].confidence >= EX_LABEL_SURE;
    return count;
}

/* Only placed markers can be recognised. */
static bool is_good(const exi_label_run *run, int i) {
    int placed = 0;
    for (int s = 0; s < run->kinematics->site_count; s++)
        placed += run->kinematics->sites[s].placed;
    return (double)count_sure(run, i) * run->kinematics->site_count >= GOOD * run->def->scans[i].found_count * placed;
}

/* Starting poses: its own, a rough one, none turned, and those of good scans near it in the session. */
static int find_starts(const exi_label_run *run, int i, ex_kin_pose starts[STARTS]) {
    const ex_label_scan *scan = &run->def->scans[i];
    int count = 0;
    if (run->turned[i])
        starts[count++] = run->poses[i];
    if (scan->start)
        starts[count++] = *scan->start;
    starts[count++] = run->still;
    for (int away = 1; away < run->def->scan_count && count < STARTS && run->pass > 0; away++)
        for (int side = -1; side <= 1 && count < STARTS; side += 2) {
            const int other = i + side * away;
            if (other >= 0 && other < run->def->scan_count && run->turned[other] && run->good[other])
                starts[count++] = run->poses[other];
        }
    return count;
}

static void label_one(exi_label_run *run, int i) {
    const ex_label_scan *scan = &run->def->scans[i];
    ex_kin_pose starts[STARTS];
    ex_label_def def = ex_label_def_default();
    def.kinematics = run->kinematics;
    def.found = scan->found;
    def.found_count = scan->found_count;
    def.known = run->known[i];
    def.starts = starts;
    def.start_count = find_starts(run, i, starts);
    def.solved = scan->solved;
    def.site_sigmas = run->sigmas;
    if (run->fitted) {
        def.slack = FITTED_SLACK;
        def.tilt = FITTED_TILT;
        def.settled = run->good[i] && run->turned[i];
    }
    if (run->coloured)
        def.colours = (const double(*)[3])run->colours;
    run->results[i] = ex_label_markers(&def, run->labels[i], &run->next[i], &run->evidence[i], &run->errors[i]);
}

static void label_range(void *context, int begin, int end) {
    exi_label_run *run = context;
    for (int i = begin; i < end; i++)
        if (run->wanted[i])
            label_one(run, i);
}

/* Labels the wanted scans. Their poses are stored afterwards, so that none depends on the order. */
static ex_result label_wanted(exi_label_run *run, ex_error *error) {
    const int count = run->def->scan_count;
    exi_run(run->def->tasks, count, 1, label_range, run);
    for (int i = 0; i < count; i++) {
        if (!run->wanted[i])
            continue;
        if (run->results[i] != EX_OK) {
            if (error)
                *error = run->errors[i];
            return ex_error_within(error, run->results[i], "scan '%s'", run->def->scans[i].name);
        }
        memcpy(run->poses[i].rotations, run->next[i].rotations,
               (size_t)run->kinematics->joint_count * sizeof *run->poses[i].rotations);
        memcpy(run->poses[i].translation, run->next[i].translation, sizeof run->poses[i].translation);
        run->turned[i] = true;
        run->good[i] = is_good(run, i);
    }
    return EX_OK;
}

/* Labels all scans, then the bad ones again, starting from other scans' poses. */
static ex_result label_round(exi_label_run *run, ex_error *error) {
    for (run->pass = 0; run->pass < 2; run->pass++) {
        int count = 0;
        for (int i = 0; i < run->def->scan_count; i++) {
            run->wanted[i] = run->pass == 0 ? !run->def->scans[i].done || !run->turned[i] : !run->good[i];
            count += run->wanted[i];
        }
        const ex_result result = count > 0 ? label_wanted(run, error) : EX_OK;
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

/* ---- results of the labels ---- */

/* Computes mean colours of sure markers, for all sites painted alike; for a site of unknown colour, its own. */
static void find_colours(exi_label_run *run) {
    const ex_kinematics *k = run->kinematics;
    for (int s = 0; s < k->site_count; s++) {
        const ex_site *site = &k->sites[s];
        const bool known = site->colour[0] || site->colour[1] || site->colour[2];
        double sum[3] = {0, 0, 0};
        int count = 0;
        for (int i = 0; i < run->def->scan_count; i++)
            for (int f = 0; f < run->def->scans[i].found_count; f++) {
                const ex_label *label = &run->labels[i][f];
                if (label->site < 0 || label->confidence < EX_LABEL_SURE ||
                    (known ? memcmp(k->sites[label->site].colour, site->colour, 3) != 0 : label->site != s))
                    continue;
                count++;
                for (int c = 0; c < 3; c++)
                    sum[c] += run->def->scans[i].found[f].colour[c];
            }
        for (int c = 0; c < 3; c++)
            run->colours[s][c] = count >= 3 ? sum[c] / count : known ? site->colour[c] : -1;
    }
    run->coloured = true;
}

static void add_sighting(exi_label_run *run, int scan, int site, const double position[3]) {
    ex_sighting *sighting = &run->sightings[run->sighting_count++];
    *sighting = (ex_sighting){.scan = scan, .site = site, .weight = 1};
    memcpy(sighting->position, position, sizeof sighting->position);
}

/* Adds the sightings of one scan: given and sure labels. Returns false, and adds none, if they are too few to place
 * it. */
static bool add_sightings(exi_label_run *run, int i, int number) {
    const ex_label_scan *scan = &run->def->scans[i];
    const int first = run->sighting_count;
    for (int g = 0; g < scan->given_count; g++)
        if (scan->given[g].confidence >= EX_LABEL_SURE)
            add_sighting(run, number, run->given[i][g], scan->given[g].position);
    for (int f = 0; f < scan->found_count; f++)
        if (run->labels[i][f].site >= 0 && run->labels[i][f].confidence >= EX_LABEL_SURE && run->known[i][f] < 0 &&
            !run->doubtful[run->labels[i][f].site])
            add_sighting(run, number, run->labels[i][f].site, scan->found[f].position);
    if (run->sighting_count - first >= 6)
        return true;
    run->sighting_count = first;
    return false;
}

/* Fits bones, axes, places and poses to the sure labels; fit is NULL if that cannot be done. count: number of its
 * scans, whose numbers are in run->numbers. */
static ex_result fit_sure(exi_label_run *run, bool rigid, ex_kin_fit **fit, int *count, ex_error *error) {
    const ex_label_scans_def *def = run->def;
    ex_kin_fit_def fit_def = {.kinematics = run->kinematics, .reference = -1, .rigid = rigid, .tasks = def->tasks};
    ex_error failure = {.result = EX_OK};
    *fit = NULL;
    *count = 0;
    run->sighting_count = 0;
    for (int i = 0; i < def->scan_count; i++) {
        const ex_label_scan *scan = &def->scans[i];
        if ((i != def->reference && !run->good[i]) || !add_sightings(run, i, *count))
            continue;
        for (int j = 0; j < run->kinematics->joint_count; j++)
            run->locked[*count][j] = scan->solved && !scan->solved[j];
        run->fit_scans[*count] =
            (ex_kin_scan){.name = scan->name, .locked = run->locked[*count], .start = &run->poses[i]};
        if (i == def->reference)
            fit_def.reference = *count;
        run->numbers[(*count)++] = i;
    }
    fit_def.scan_count = *count;
    fit_def.scans = run->fit_scans;
    fit_def.sightings = run->sightings;
    fit_def.sighting_count = run->sighting_count;
    fit_def.iterations = 40;
    const ex_result result = *count > 1 ? ex_kinematics_fit(&fit_def, fit, &failure) : EX_ERROR_DATA;
    if (result == EX_ERROR_MEMORY && error)
        *error = failure;
    return result == EX_ERROR_MEMORY ? result : EX_OK;
}

/* Without a fit, nothing changes. */
static ex_result fit_bones(exi_label_run *run, ex_error *error) {
    ex_kin_fit *fit;
    int count;
    const ex_result result = fit_sure(run, true, &fit, &count, error);
    if (!fit)
        return result;
    for (int n = 0; n < count; n++) {
        const int i = run->numbers[n];
        memcpy(run->poses[i].rotations, fit->poses[n].rotations,
               (size_t)run->kinematics->joint_count * sizeof *run->poses[i].rotations);
        memcpy(run->poses[i].translation, fit->poses[n].translation, sizeof run->poses[i].translation);
    }
    for (int i = 0; i < run->sighting_count; i++) {
        const int s = run->sightings[i].site;
        /* Along one axis; a few sightings determine it less well than they seem to. */
        const double sigma = sqrt(fit->site_sigmas[s] * fit->site_sigmas[s] / 3 + 0.003 * 0.003);
        run->sigmas[s] = sigma > 0.005 ? (sigma < 0.015 ? sigma : 0.015) : 0.005;
    }
    ex_kinematics_destroy(run->kinematics);
    run->kinematics = fit->kinematics;
    fit->kinematics = NULL;
    run->fitted = true;
    ex_kin_fit_destroy(fit);
    return EX_OK;
}

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Finds bones of one scan of a fit that are far from where the fit has them, or that a hinge turns where none turns. A
 * limb that was taken for another one is wrong from there to its end. False if that is no single bone's fault. */
static bool find_bad_bones(const exi_label_run *run, const ex_kin_fit *fit, int scan, double most, double *sums,
                           double *numbers, bool *bad) {
    const ex_kinematics *k = fit->kinematics;
    bool any = false;
    for (int j = 0; j < k->joint_count; j++) {
        sums[j] = numbers[j] = 0;
        bad[j] = false;
    }
    for (int i = 0; i < run->sighting_count; i++) {
        const ex_sighting *s = &run->sightings[i];
        if (s->scan != scan || !(fit->errors[i] >= 0))
            continue;
        sums[k->sites[s->site].joint] += fit->errors[i] * fit->errors[i];
        numbers[k->sites[s->site].joint]++;
    }
    for (int j = 0; j < k->joint_count; j++)
        if (exi_kin_is_beyond(&k->joints[j], fit->poses[scan].rotations[j]))
            bad[j] = bad[k->joints[j].parent > 0 ? k->joints[j].parent : j] = true;
    for (int j = 0; j < k->joint_count; j++) {
        bad[j] =
            bad[j] || (j > 0 && bad[k->joints[j].parent]) || (numbers[j] > 0 && sums[j] > most * most * numbers[j]);
        any = any || bad[j];
    }
    return any && !bad[0];
}

/* The labels of a scan may agree with each other and all be wrong, if one limb was taken for another. Then they do not
 * fit the skeleton found from the others, or turn a hinge where none turns. Labels of that limb become doubtful; of the
 * entire scan, if no limb alone is to blame. */
static ex_result doubt_misfits(exi_label_run *run, ex_error *error) {
    const size_t joints = (size_t)run->kinematics->joint_count;
    ex_kin_fit *fit;
    int count;
    const ex_result result = fit_sure(run, false, &fit, &count, error);
    if (!fit)
        return result;
    double *sums = exi_arena_allocate(run->arena, 3 * (size_t)count + 2 * joints, sizeof *sums);
    bool *bad = exi_arena_allocate(run->arena, joints, sizeof *bad);
    if (!sums || !bad) {
        ex_kin_fit_destroy(fit);
        return ex_error_memory(error, "the labels", 3 * (size_t)count * sizeof *sums);
    }
    double *numbers = sums + count, *sorted = numbers + count, *bones = sorted + count;
    for (int i = 0; i < run->sighting_count; i++) {
        if (!(fit->errors[i] >= 0))
            continue;
        sums[run->sightings[i].scan] += fit->errors[i] * fit->errors[i];
        numbers[run->sightings[i].scan]++;
    }
    for (int n = 0; n < count; n++)
        sorted[n] = sums[n] = numbers[n] > 0 ? sqrt(sums[n] / numbers[n]) : 0;
    qsort(sorted, (size_t)count, sizeof *sorted, compare_numbers);
    for (int n = 0; n < count; n++) {
        const int i = run->numbers[n];
        const double most = 3 * sorted[count / 2] > 0.005 ? 3 * sorted[count / 2] : 0.005;
        if (i == run->def->reference || (sums[n] <= most && exi_kin_find_beyond(fit->kinematics, &fit->poses[n]) < 0))
            continue;
        const bool limb = find_bad_bones(run, fit, n, most, bones, bones + joints, bad);
        for (int f = 0; f < run->def->scans[i].found_count; f++) {
            ex_label *label = &run->labels[i][f];
            if (label->site >= 0 && limb && !bad[run->kinematics->sites[label->site].joint])
                continue;
            if (run->known[i][f] < 0 && label->confidence > 0.5)
                label->confidence = 0.5;
        }
    }
    ex_kin_fit_destroy(fit);
    return EX_OK;
}

/* Leaves no label sure in a scan of which hardly anything was recognised. */
static void doubt_strangers(exi_label_run *run) {
    for (int i = 0; i < run->def->scan_count; i++) {
        const ex_label_scan *scan = &run->def->scans[i];
        if (i == run->def->reference || scan->given_count > 0 || count_sure(run, i) >= STRANGE * scan->found_count)
            continue;
        for (int f = 0; f < scan->found_count; f++)
            if (run->labels[i][f].confidence > 0.5)
                run->labels[i][f].confidence = 0.5;
    }
}

/* ---- memory ---- */

static bool allocate_poses(exi_label_run *run, ex_kin_pose **poses) {
    const size_t scans = (size_t)run->def->scan_count, joints = (size_t)run->kinematics->joint_count;
    double(*rotations)[4] = exi_arena_allocate(run->arena, scans * joints, sizeof *rotations);
    *poses = exi_arena_allocate(run->arena, scans, sizeof **poses);
    if (!rotations || !*poses)
        return false;
    for (size_t i = 0; i < scans * joints; i++)
        rotations[i][3] = 1;
    for (size_t i = 0; i < scans; i++)
        (*poses)[i].rotations = rotations + i * joints;
    return true;
}

static bool allocate(exi_label_run *run) {
    const ex_label_scans_def *def = run->def;
    const size_t scans = (size_t)def->scan_count, sites = (size_t)run->kinematics->site_count,
                 joints = (size_t)run->kinematics->joint_count;
    exi_arena *a = run->arena;
    size_t sightings = 0;
    bool *locked = exi_arena_allocate(a, scans * joints, sizeof *locked);
    run->known = exi_arena_allocate(a, scans, sizeof *run->known);
    run->given = exi_arena_allocate(a, scans, sizeof *run->given);
    run->locked = exi_arena_allocate(a, scans, sizeof *run->locked);
    run->numbers = exi_arena_allocate(a, scans, sizeof *run->numbers);
    run->fit_scans = exi_arena_allocate(a, scans, sizeof *run->fit_scans);
    run->turned = exi_arena_allocate(a, scans, sizeof *run->turned);
    run->good = exi_arena_allocate(a, scans, sizeof *run->good);
    run->wanted = exi_arena_allocate(a, scans, sizeof *run->wanted);
    run->results = exi_arena_allocate(a, scans, sizeof *run->results);
    run->errors = exi_arena_allocate(a, scans, sizeof *run->errors);
    run->evidence = exi_arena_allocate(a, scans, sizeof *run->evidence);
    run->sigmas = exi_arena_allocate(a, sites, sizeof *run->sigmas);
    run->colours = exi_arena_allocate(a, sites, sizeof *run->colours);
    run->doubtful = exi_arena_allocate(a, sites, sizeof *run->doubtful);
    run->seen = exi_arena_allocate(a, sites, sizeof *run->seen);
    run->joints = exi_arena_allocate(a, joints, sizeof *run->joints);
    run->still.rotations = exi_arena_allocate(a, joints, sizeof *run->still.rotations);
    if (!locked || !run->known || !run->given || !run->locked || !run->numbers || !run->fit_scans || !run->turned ||
        !run->good || !run->wanted || !run->results || !run->errors || !run->evidence || !run->sigmas ||
        !run->colours || !run->doubtful || !run->seen || !run->joints || !run->still.rotations ||
        !allocate_poses(run, &run->poses) || !allocate_poses(run, &run->next))
        return false;
    for (size_t i = 0; i < scans; i++) {
        const size_t found = (size_t)def->scans[i].found_count, given = (size_t)def->scans[i].given_count;
        run->known[i] = exi_arena_allocate(a, found, sizeof **run->known);
        run->given[i] = exi_arena_allocate(a, given, sizeof **run->given);
        run->locked[i] = locked + i * joints;
        sightings += found + given;
        if (!run->known[i] || !run->given[i])
            return false;
    }
    run->sightings = exi_arena_allocate(a, sightings, sizeof *run->sightings);
    for (size_t j = 0; j < joints; j++)
        run->still.rotations[j][3] = 1;
    return run->sightings != NULL;
}

static void step(const exi_label_run *run, double part) {
    if (run->def->progress)
        run->def->progress->report(run->def->progress->user, "labelling", part);
}

static ex_result label_all(exi_label_run *run, ex_error *error) {
    const ex_label_scans_def *def = run->def;
    const int rounds = def->rounds > 0 ? def->rounds : 3;
    ex_result result = EX_OK;
    if (!allocate(run))
        return ex_error_memory(error, "the labels of all scans", (size_t)def->scan_count);
    for (int i = 0; i < def->scan_count && result == EX_OK; i++)
        result = read_given(run, i, error);
    if (result == EX_OK && def->scans[def->reference].given_count == 0)
        result =
            ex_error_set(error, EX_ERROR_DATA, "the reference scan '%s' has no labels: name its markers by hand first",
                         def->scans[def->reference].name);
    if (result != EX_OK)
        return result;
    exi_label_place_reference(run);
    for (int round = 0; round < rounds && result == EX_OK; round++) {
        step(run, (double)round / rounds);
        result = label_round(run, error);
        if (result != EX_OK || round == rounds - 1)
            break;
        find_colours(run);
        result = fit_bones(run, error);
        if (result == EX_OK && run->fitted)
            result = exi_label_unseen(run, error);
    }
    if (result == EX_OK)
        result = doubt_misfits(run, error);
    if (result == EX_OK)
        doubt_strangers(run);
    for (int i = 0; i < def->scan_count && result == EX_OK; i++)
        for (int f = 0; f < def->scans[i].found_count; f++) {
            ex_label *label = &run->labels[i][f];
            if (label->site >= 0 && run->doubtful[label->site] && run->known[i][f] < 0 && label->confidence > 0.5)
                label->confidence = 0.5;
        }
    return result;
}

/* ---- one scan ---- */

/* Labels the first of its scans; the others only lend their poses. */
static ex_result label_known(exi_label_run *run, const ex_kin_pose *others, ex_error *error) {
    const ex_label_scans_def *def = run->def;
    if (!allocate(run))
        return ex_error_memory(error, "the labels", (size_t)def->scan_count);
    for (int i = 1; i < def->scan_count; i++) {
        memcpy(run->poses[i].rotations, others[i - 1].rotations,
               (size_t)run->kinematics->joint_count * sizeof *others->rotations);
        memcpy(run->poses[i].translation, others[i - 1].translation, sizeof others->translation);
        run->turned[i] = run->good[i] = true;
    }
    for (int s = 0; s < run->kinematics->site_count; s++)
        run->sigmas[s] = KNOWN_SIGMA;
    run->fitted = run->wanted[0] = true;
    run->pass = 1;
    ex_result result = read_given(run, 0, error);
    if (result == EX_OK)
        result = label_wanted(run, error);
    if (result == EX_OK)
        doubt_strangers(run);
    return result;
}

ex_result exi_label_known(const ex_kinematics *kinematics, const ex_label_scan *scan, const ex_kin_pose *others,
                          int other_count, ex_label *labels, ex_error *error) {
    exi_arena arena = {0};
    ex_label_scan *scans = exi_arena_allocate(&arena, (size_t)other_count + 1, sizeof *scans);
    ex_label **rows = exi_arena_allocate(&arena, (size_t)other_count + 1, sizeof *rows);
    const ex_label_scans_def def = {
        .kinematics = kinematics, .scan_count = other_count + 1, .scans = scans, .reference = -1};
    exi_label_run run = {.def = &def, .labels = rows, .arena = &arena, .kinematics = ex_kinematics_copy(kinematics)};
    ex_result result = scans && rows && run.kinematics ? EX_OK : ex_error_memory(error, "the labels", 0);
    if (result == EX_OK) {
        scans[0] = *scan;
        rows[0] = labels;
        result = label_known(&run, others, error);
    }
    ex_kinematics_destroy(run.kinematics);
    exi_arena_free(&arena);
    return result;
}

ex_result ex_label_scans(const ex_label_scans_def *def, ex_label *const *labels, double *evidence, ex_error *error) {
    exi_arena arena = {0};
    exi_label_run run = {.def = def, .labels = labels, .arena = &arena};
    if (!def || !def->kinematics || !labels || def->scan_count < 1 || def->reference < 0 ||
        def->reference >= def->scan_count)
        return exi_misuse_error(error, "ex_label_scans", "a definition without scans, skeleton or reference");
    run.kinematics = ex_kinematics_copy(def->kinematics);
    ex_result result = run.kinematics ? label_all(&run, error) : ex_error_memory(error, "a skeleton", 1);
    for (int i = 0; evidence && i < def->scan_count && result == EX_OK; i++)
        evidence[i] = run.evidence[i];
    ex_kinematics_destroy(run.kinematics);
    exi_arena_free(&arena);
    return result;
}
