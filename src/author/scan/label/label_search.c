/*
 * Searches whole poses: the base first, then part after part down the tree, keeping the best few at every step (a beam
 * search).
 *
 * The base comes from the starts, moved to where most pairs of a site and a found marker of its colour would have it;
 * and from each part that three found markers give a place for, with the rest of the body as in a start. Each part
 * below tries the rotations of the starts and those that found markers give. A part of which nothing is seen keeps the
 * rotation of its start.
 */
#include "author/scan/label/label.h"

#include "runtime/base/vector.h"

#include <string.h>

enum { BEAM = 14, BRANCHES = 5, TRIPLES = 4, SHIFTS = 2, SHIFTS_MAX = 1200, POOL = BEAM * (BRANCHES + 4) };
#define BROAD 3.0

typedef struct search {
    const exi_label_body *body;
    const exi_label_place *starts;
    int start_count;
    exi_arena *arena;
    exi_label_guess pool[POOL], beam[BEAM];
    int pool_count, beam_count;
    double *work;
    double (*shifts)[3];
    exi_label_place hung[BEAM], turns[BEAM][BRANCHES]; /* of the part being added */
    int turn_counts[BEAM];
} search;

static const exi_label_place *start_of(const search *s, int start) {
    return s->starts + (size_t)start * (size_t)s->body->part_count;
}

/* Returns the score of the parts before `end`. */
static double judge(search *s, const exi_label_guess *guess, int end, int *count) {
    return exi_label_mutual(s->body, 0, end, guess->places, BROAD, s->body->matches, count, s->body->taken) -
           exi_label_strain(s->body, start_of(s, guess->start), guess->places, end);
}

/* Returns a free guess of the pool, or the worst if its score is lower. */
static exi_label_guess *take_slot(search *s, double score) {
    if (s->pool_count < POOL)
        return &s->pool[s->pool_count++];
    int worst = 0;
    for (int i = 1; i < POOL; i++)
        worst = s->pool[i].score < s->pool[worst].score ? i : worst;
    return s->pool[worst].score < score ? &s->pool[worst] : NULL;
}

static bool same_guess(const exi_label_guess *a, const exi_label_guess *b, int end, double metres, double radians) {
    for (int p = 0; p < end; p++)
        if (!exi_label_same(&a->places[p], &b->places[p], metres, radians))
            return false;
    return true;
}

/* Makes the best of the pool the beam, with no two alike in the parts before `end`. */
static void choose(search *s, int end, int most) {
    const size_t size = (size_t)s->body->part_count * sizeof(exi_label_place);
    s->beam_count = 0;
    while (s->beam_count < most) {
        int best = -1;
        for (int i = 0; i < s->pool_count; i++)
            if (s->pool[i].score > -INFINITY && (best < 0 || s->pool[i].score > s->pool[best].score))
                best = i;
        if (best < 0)
            break;
        bool known = false;
        for (int i = 0; i < s->beam_count && !known; i++)
            known = same_guess(&s->pool[best], &s->beam[i], end, 0.03, 0.15);
        if (!known) {
            exi_label_guess *to = &s->beam[s->beam_count++];
            memcpy(to->places, s->pool[best].places, size);
            to->start = s->pool[best].start;
            to->score = s->pool[best].score;
        }
        s->pool[best].score = -INFINITY;
    }
    s->pool_count = 0;
}

/* ---- the base ---- */

/* Adds to the pool a start, moved rigidly so that its part p is at `place`. */
static void add_moved(search *s, int start, int p, const exi_label_place *place) {
    const exi_label_place *from = start_of(s, start);
    const double back[4] = {-from[p].rotation[0], -from[p].rotation[1], -from[p].rotation[2], from[p].rotation[3]};
    double turn[4];
    int count;
    exi_label_guess guess = {.places = s->pool[POOL - 1].places, .start = start};
    exi_quaternion_multiply(place->rotation, back, turn);
    for (int q = 0; q < s->body->part_count; q++) {
        double arm[3];
        exi_subtract(from[q].at, from[p].at, arm);
        exi_rotate(turn, arm, guess.places[q].at);
        for (int i = 0; i < 3; i++)
            guess.places[q].at[i] += place->at[i];
        exi_quaternion_multiply(turn, from[q].rotation, guess.places[q].rotation);
    }
    guess.score = exi_label_mutual(s->body, 0, s->body->part_count, guess.places, 2 * BROAD, s->body->matches, &count,
                                   s->body->taken) -
                  exi_label_strain(s->body, from, guess.places, 1);
    if (s->pool_count >= POOL - 1)
        return;
    exi_label_guess *slot = &s->pool[s->pool_count++];
    memcpy(slot->places, guess.places, (size_t)s->body->part_count * sizeof *slot->places);
    slot->start = start;
    slot->score = guess.score;
}

/* Adds a start, moved to where most pairs would have it. */
static void add_shifted(search *s, int start) {
    const exi_label_body *body = s->body;
    const exi_label_place *places = start_of(s, start);
    int total = 0, count = 0, tried = 0;
    for (int i = 0; i < body->site_count; i++)
        total += body->sites[i].count;
    const int stride = total / SHIFTS_MAX + 1;
    for (int i = 0; i < body->site_count; i++)
        for (int k = 0; k < body->sites[i].count; k++) {
            double at[3];
            if (tried++ % stride != 0)
                continue;
            exi_label_predict(&body->sites[i], &places[body->sites[i].part], at);
            exi_subtract(body->def->found[body->alike[body->sites[i].first + k]].position, at, s->shifts[count++]);
        }
    double chosen[SHIFTS][3];
    for (int n = 0; n < SHIFTS; n++) {
        double most = 0, mean[3] = {0, 0, 0};
        for (int i = 0; i < count; i++) {
            double sum = 0, centre[3] = {0, 0, 0}, apart[3];
            bool used = false;
            for (int m = 0; m < n && !used; m++) {
                exi_subtract(s->shifts[i], chosen[m], apart);
                used = exi_dot3(apart, apart) < 0.15 * 0.15;
            }
            for (int k = 0; k < count && !used; k++) {
                exi_subtract(s->shifts[k], s->shifts[i], apart);
                const double near = 1 - exi_dot3(apart, apart) / (0.05 * 0.05);
                if (near <= 0)
                    continue;
                sum += near;
                for (int x = 0; x < 3; x++)
                    centre[x] += near * s->shifts[k][x];
            }
            if (sum <= most)
                continue;
            most = sum;
            for (int x = 0; x < 3; x++)
                mean[x] = centre[x] / sum;
        }
        if (most == 0)
            return;
        exi_label_place place = places[0];
        for (int x = 0; x < 3; x++) {
            place.at[x] += mean[x];
            chosen[n][x] = mean[x];
        }
        add_moved(s, start, 0, &place);
    }
}

static void find_bases(search *s) {
    for (int i = 0; i < s->start_count; i++)
        add_shifted(s, i);
    for (int p = 0; p < s->body->part_count; p++) {
        exi_label_place places[TRIPLES];
        const int count = exi_label_triples(s->body, p, TRIPLES, places);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < s->start_count && k < (p == 0 ? 1 : 2); k++)
                add_moved(s, k, p, &places[i]);
    }
    choose(s, 1, BEAM);
}

/* ---- down the tree ---- */

static void add_branch(search *s, const exi_label_guess *from, int p, const exi_label_place *place) {
    int count;
    exi_label_guess guess = {.places = from->places, .start = from->start};
    const exi_label_place was = from->places[p];
    from->places[p] = *place;
    const double score = judge(s, &guess, p + 1, &count);
    exi_label_guess *slot = take_slot(s, score);
    if (slot) {
        memcpy(slot->places, from->places, (size_t)s->body->part_count * sizeof *slot->places);
        slot->start = from->start;
        slot->score = score;
    }
    from->places[p] = was;
}

/* Finds rotations from found markers for a part attached there; guesses with its parent at nearly the same place share
 * them. Returns their number. */
static int find_turns(search *s, int p, int guess, const exi_label_place *hung, exi_label_place *places) {
    for (int b = 0; b < guess; b++)
        if (exi_label_same(hung, &s->hung[b], 0.008, 0.04)) {
            memcpy(places, s->turns[b], sizeof s->turns[b]);
            s->hung[guess] = (exi_label_place){.at = {INFINITY, 0, 0}}; /* others find the first */
            return s->turn_counts[b];
        }
    s->hung[guess] = *hung;
    s->turn_counts[guess] = exi_label_turns(s->body, p, hung, BRANCHES, s->turns[guess]);
    memcpy(places, s->turns[guess], sizeof s->turns[guess]);
    return s->turn_counts[guess];
}

/* Adds the next part to all guesses: turned to match found markers, and as in the starts. */
static void extend(search *s, int p) {
    const exi_label_part *part = &s->body->parts[p];
    for (int b = 0; b < s->beam_count; b++) {
        const exi_label_guess *guess = &s->beam[b];
        exi_label_place hung, places[BRANCHES];
        double turn[4];
        exi_label_hang(s->body, p, &guess->places[part->parent], (double[4]){0, 0, 0, 1}, &hung);
        const int count = find_turns(s, p, b, &hung, places);
        for (int i = 0; i < count; i++)
            add_branch(s, guess, p, &places[i]);
        for (int i = 0; i < s->start_count && i < 3; i++) {
            exi_label_turn(s->body, p, start_of(s, i), turn);
            exi_label_hang(s->body, p, &guess->places[part->parent], turn, &hung);
            add_branch(s, guess, p, &hung);
        }
    }
    choose(s, p + 1, BEAM);
    for (int b = 0; b < s->beam_count; b++) {
        exi_label_guess *guess = &s->beam[b];
        int count;
        for (int step = 0; step < 2; step++) {
            judge(s, guess, p + 1, &count);
            exi_label_step(s->body, start_of(s, guess->start), s->body->matches, count, 1, p + 1, guess->places, false,
                           s->work);
        }
        guess->score = judge(s, guess, p + 1, &count);
    }
}

static bool allocate(search *s) {
    const size_t parts = (size_t)s->body->part_count;
    exi_label_place *places = exi_arena_allocate(s->arena, (POOL + BEAM) * parts, sizeof *places);
    s->work = exi_arena_allocate(s->arena, exi_label_step_size(s->body), sizeof *s->work);
    s->shifts = exi_arena_allocate(s->arena, SHIFTS_MAX + 1, sizeof *s->shifts);
    if (!places || !s->work || !s->shifts)
        return false;
    for (int i = 0; i < POOL; i++)
        s->pool[i].places = places + (size_t)i * parts;
    for (int i = 0; i < BEAM; i++)
        s->beam[i].places = places + (size_t)(POOL + i) * parts;
    return true;
}

int exi_label_search(const exi_label_body *body, const exi_label_place *starts, int start_count, int most,
                     exi_label_guess *guesses, exi_arena *arena) {
    search *s = exi_arena_allocate(arena, 1, sizeof *s);
    if (!s)
        return -1;
    *s = (search){.body = body, .starts = starts, .start_count = start_count, .arena = arena};
    if (!allocate(s))
        return -1;
    find_bases(s);
    for (int p = 1; p < body->part_count; p++)
        extend(s, p);
    int count = 0;
    while (count < most && count < s->beam_count) { /* the best first: the steps may have changed their order */
        int best = -1;
        for (int i = 0; i < s->beam_count; i++)
            if (s->beam[i].places && (best < 0 || s->beam[i].score > s->beam[best].score))
                best = i;
        if (best < 0)
            break;
        guesses[count++] = s->beam[best];
        s->beam[best].places = NULL;
    }
    return count;
}
