/*
 * Computes labels and their confidence from found markers. This goes beyond the paper, whose graph matching failed
 * where a third of the markers were missing.
 *
 * Poses come from a search (label_search.c). Each is then refined by expectation maximisation: probabilities of all
 * pairs of a site and a found marker at this pose, then the pose at these probabilities, with shrinking variances. In
 * the end every found marker is judged by the evidence of all the others (label_others.c). A label's confidence is its
 * probability in the one-to-one matching, averaged over the remaining poses, weighted by the likelihood that each one's
 * score gives.
 */
#include "author/scan/label/label.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdlib.h>
#include <string.h>

enum { GUESSES = 6, ROUNDS = 12, LAST_ROUNDS = 30 };
#define GATE_SQ     30.0 /* limit of a squared distance over its variance: farther pairs are ignored */
#define TEMPERATURE 2.0  /* scores are not as independent as they claim: sites of one part slide together */

typedef struct settle {
    const exi_label_body *body;
    exi_label_pair *pairs; /* [site_count * found_count] */
    int pair_count;
    exi_label_match *matches; /* likewise */
    int match_count;
    double *work, *step_work;
    double (*predicted)[3]; /* [site_count] */
    int *taken;
    double *confidences; /* [found_count][site_count] */
} settle;

ex_label_def ex_label_def_default(void) {
    return (ex_label_def){.sigma = 0.015, .slack = 0.03, .tilt = 12, .colour = 0.04};
}

/* ---- settling a pose ---- */

static double odds_of(double gain) {
    return exp(gain < 60 ? gain : 60);
}

static void find_pairs(settle *e, const exi_label_place *places, double widen) {
    const exi_label_body *body = e->body;
    const ex_label_def *def = body->def;
    const double wide = exi_label_wide(widen);
    e->pair_count = 0;
    for (int s = 0; s < body->site_count; s++)
        exi_label_predict(&body->sites[s], &places[body->sites[s].part], e->predicted[s]);
    for (int f = 0; f < def->found_count; f++)
        for (int s = 0; s < body->site_count; s++) {
            double apart[3];
            exi_subtract(def->found[f].position, e->predicted[s], apart);
            const double distance_sq = exi_dot3(apart, apart);
            const bool known = def->known && def->known[f] == body->sites[s].site;
            if (distance_sq > GATE_SQ * widen * body->sites[s].variance && !known)
                continue;
            const double odds = odds_of(exi_label_gain(body, s, f, distance_sq, widen, wide));
            if (odds > 1e-6)
                e->pairs[e->pair_count++] = (exi_label_pair){s, f, odds, 0};
        }
}

/* Alternates between the pose at given probabilities and the probabilities at that pose. Returns false if it falls
 * apart. */
static bool settle_guess(settle *e, const exi_label_place *start, exi_label_guess *guess, bool near) {
    static const double wide[ROUNDS] = {9, 6, 4, 3, 2, 1.5, 1, 1, 1, 1, 1, 1};
    const exi_label_body *body = e->body;
    int count;
    for (int round = near ? 3 : 0; round < ROUNDS; round++) {
        find_pairs(e, guess->places, wide[round]);
        exi_label_marginals(e->pairs, e->pair_count, body->site_count, body->def->found_count, 6, e->work);
        e->match_count = 0;
        for (int i = 0; i < e->pair_count; i++)
            if (e->pairs[i].probability > 0.01)
                e->matches[e->match_count++] =
                    (exi_label_match){e->pairs[i].site, e->pairs[i].found, e->pairs[i].probability};
        const double went = exi_label_step(body, start, e->matches, e->match_count, wide[round], body->part_count,
                                           guess->places, round == ROUNDS - 1, e->step_work);
        if (went < 0)
            return false;
        if (went < 1e-5 && wide[round] == 1 && round < ROUNDS - 2)
            round = ROUNDS - 2; /* once more, for the inverse */
    }
    exi_label_match *mutual = e->matches + e->match_count; /* after those that the inverse belongs to */
    guess->score = exi_label_mutual(body, 0, body->part_count, guess->places, 1, mutual, &count, e->taken) -
                   exi_label_strain(body, start, guess->places, body->part_count);
    return true;
}

/* ---- confidence ---- */

/* Returns the gain of a pair, judged by all the others. */
static double judge_pair(const settle *e, const exi_label_place *places, const exi_label_own *own, int s, int found) {
    const exi_label_body *body = e->body;
    double at[3], c[3][3], inverse[3][3], apart[3], distance = 0;
    exi_label_expect(body, e->step_work, places, own, s, at, c);
    for (int i = 0; i < 3; i++)
        c[i][i] += body->sites[s].variance;
    const double determinant = exi_label_invert3((const double(*)[3])c, inverse);
    if (determinant == 0)
        return -INFINITY;
    exi_subtract(body->def->found[found].position, at, apart);
    for (int i = 0; i < 3; i++)
        distance += apart[i] * exi_dot3(inverse[i], apart);
    /* Tails are heavier than a Gaussian's: skin slides, and where it slides, it slides far. */
    const double heavy = -3.5 * log1p(distance / 4);
    return body->colour_gains[(size_t)s * (size_t)body->def->found_count + (size_t)found] + heavy -
           0.5 * log(determinant) - 1.5 * log(6.283185307179586) - log(body->density);
}

/* Adds the probabilities at one pose, times the pose's own. */
static void add_confidences(settle *e, const exi_label_place *places, double part) {
    const exi_label_body *body = e->body;
    const ex_label_def *def = body->def;
    e->pair_count = 0;
    for (int f = 0; f < def->found_count; f++) {
        exi_label_own own;
        exi_label_find_own(body, e->step_work, places, e->matches, e->match_count, f, &own);
        for (int s = 0; s < body->site_count; s++) {
            double gain = judge_pair(e, places, &own, s, f);
            if (def->known && def->known[f] >= 0 && def->known[f] == body->sites[s].site)
                gain = 40;
            const double odds = odds_of(gain);
            if (odds > 1e-5)
                e->pairs[e->pair_count++] = (exi_label_pair){s, f, odds, 0};
        }
    }
    exi_label_marginals(e->pairs, e->pair_count, body->site_count, def->found_count, LAST_ROUNDS, e->work);
    for (int i = 0; i < e->pair_count; i++)
        e->confidences[(size_t)e->pairs[i].found * (size_t)body->site_count + (size_t)e->pairs[i].site] +=
            part * e->pairs[i].probability;
}

/* ---- labels ---- */

/* Gives labels, the most confident first, each site once. */
static void give_labels(const settle *e, ex_label *labels) {
    const exi_label_body *body = e->body;
    const int found_count = body->def->found_count, site_count = body->site_count;
    for (int f = 0; f < found_count; f++)
        labels[f] = (ex_label){.marker = f, .site = -1, .other = -1};
    for (int s = 0; s < site_count; s++)
        e->taken[s] = -1;
    for (;;) {
        double best = 0.05;
        int site = -1, found = -1;
        for (int f = 0; f < found_count; f++)
            for (int s = 0; labels[f].site < 0 && s < site_count; s++)
                if (e->taken[s] < 0 && e->confidences[(size_t)f * (size_t)site_count + (size_t)s] > best) {
                    best = e->confidences[(size_t)f * (size_t)site_count + (size_t)s];
                    site = s;
                    found = f;
                }
        if (site < 0)
            break;
        e->taken[site] = found;
        labels[found].site = body->sites[site].site;
        labels[found].confidence = best < 1 ? best : 1;
    }
    for (int f = 0; f < found_count; f++) {
        double second = 0.01;
        for (int s = 0; s < site_count; s++) {
            const double value = e->confidences[(size_t)f * (size_t)site_count + (size_t)s];
            if (body->sites[s].site != labels[f].site && value > second) {
                second = value;
                labels[f].other = body->sites[s].site;
            }
        }
    }
}

/* Merges guesses that became the same. */
static int drop_twins(const exi_label_body *body, exi_label_guess *guesses, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool twin = false;
        for (int k = 0; k < kept && !twin; k++) {
            twin = true;
            for (int p = 0; p < body->part_count && twin; p++) /* a part without sites may be anywhere */
                twin = body->parts[p].count == 0 ||
                       exi_label_same(&guesses[i].places[p], &guesses[k].places[p], 0.02, 0.12);
            if (twin && guesses[i].score > guesses[k].score)
                guesses[k] = guesses[i];
        }
        if (!twin)
            guesses[kept++] = guesses[i];
    }
    return kept;
}

static ex_result label(const exi_label_body *body, exi_arena *arena, ex_label *labels, ex_kin_pose *pose,
                       double *evidence, ex_error *error) {
    const ex_label_def *def = body->def;
    const size_t parts = (size_t)body->part_count, sites = (size_t)body->site_count, found = (size_t)def->found_count;
    const size_t pairs = sites * found;
    const int start_count = def->start_count > 0 ? def->start_count : 1;
    exi_label_guess guesses[GUESSES];
    settle e = {.body = body};
    exi_label_place *starts = exi_arena_allocate(arena, (size_t)start_count * parts, sizeof *starts);
    e.pairs = exi_arena_allocate(arena, pairs, sizeof *e.pairs);
    e.matches = exi_arena_allocate(arena, pairs + sites, sizeof *e.matches);
    e.work = exi_arena_allocate(arena, 2 * pairs + sites + found, sizeof *e.work);
    e.step_work = exi_arena_allocate(arena, exi_label_step_size(body), sizeof *e.step_work);
    e.predicted = exi_arena_allocate(arena, sites, sizeof *e.predicted);
    e.taken = exi_arena_allocate(arena, sites + found, sizeof *e.taken);
    e.confidences = exi_arena_allocate(arena, pairs, sizeof *e.confidences);
    if (!starts || !e.pairs || !e.matches || !e.work || !e.step_work || !e.predicted || !e.taken || !e.confidences)
        return ex_error_memory(error, "labels", pairs * sizeof *e.pairs);
    for (int i = 0; i < def->start_count; i++)
        exi_label_from_pose(body, &def->starts[i], starts + (size_t)i * parts);
    for (int p = 0; p < body->part_count && def->start_count == 0; p++) {
        starts[p] = (exi_label_place){.rotation = {0, 0, 0, 1}};
        if (p > 0)
            exi_label_hang(body, p, &starts[body->parts[p].parent], (double[4]){0, 0, 0, 1}, &starts[p]);
    }
    int count = 1;
    if (def->settled)
        guesses[0] = (exi_label_guess){.places = exi_array_copy(starts, parts, sizeof *starts)};
    else
        count = exi_label_search(body, starts, start_count, GUESSES, guesses, arena);
    if (count < 0 || (def->settled && !guesses[0].places))
        return ex_error_memory(error, "labels", pairs * sizeof *e.pairs);
    exi_label_place *copy = def->settled ? guesses[0].places : NULL;
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (settle_guess(&e, starts + (size_t)guesses[i].start * parts, &guesses[i], def->settled))
            guesses[kept++] = guesses[i];
    kept = drop_twins(body, guesses, kept);
    int best = 0;
    double sum = 0;
    for (int i = 1; i < kept; i++)
        best = guesses[i].score > guesses[best].score ? i : best;
    for (int i = 0; i < kept; i++)
        sum += exp((guesses[i].score - guesses[best].score) / TEMPERATURE);
    for (int i = 0; i < kept; i++) {
        const double part = exp((guesses[i].score - guesses[best].score) / TEMPERATURE) / sum;
        if (part > 1e-3 && settle_guess(&e, starts + (size_t)guesses[i].start * parts, &guesses[i], true))
            add_confidences(&e, guesses[i].places, part);
    }
    give_labels(&e, labels);
    if (pose && kept > 0)
        exi_label_to_pose(body, guesses[best].places, pose);
    else if (pose)
        exi_label_to_pose(body, starts, pose);
    if (evidence)
        *evidence = kept > 0 ? guesses[best].score : 0;
    free(copy);
    return EX_OK;
}

ex_result ex_label_markers(const ex_label_def *def, ex_label *labels, ex_kin_pose *pose, double *evidence,
                           ex_error *error) {
    exi_arena arena = {0};
    exi_label_body body;
    if (!def || !def->kinematics || def->found_count < 0 || (def->found_count > 0 && (!def->found || !labels)) ||
        !(def->sigma > 0) || !(def->slack > 0) || !(def->tilt > 0) || !(def->colour > 0) ||
        (def->settled && def->start_count < 1))
        return exi_misuse_error(error, "ex_label_markers", "an incomplete definition");
    for (int f = 0; f < def->found_count; f++)
        for (int i = 0; i < 3; i++)
            if (!isfinite(def->found[f].position[i]) || !isfinite(def->found[f].colour[i]))
                return ex_error_set(error, EX_ERROR_DATA, "found marker %d has a number that is not finite", f + 1);
    ex_result result = exi_label_body_create(def, &arena, &body, error);
    if (result == EX_OK)
        result = label(&body, &arena, labels, pose, evidence, error);
    exi_arena_free(&arena);
    return result;
}
