/*
 * Fits a session in blocks of scans, through files, for processes that share nothing else:
 *
 *     blocks/N.bin        what block N sums at the present shared unknowns (fit_blocks.h), and the poses of its scans
 *     blocks/state.bin    the shared unknowns, and the last accepted sum
 *
 * Levenberg-Marquardt: a sum of all blocks that is lower than the last is accepted, and damping falls tenfold; else it
 * rises, and another step is tried from the accepted sum. Blocks are always the same scans, and are summed in order, so
 * the result does not depend on which process made which. It begins with fit.json, a fit of some scans at least.
 */
#include "author/base/array.h"
#include "author/base/rows.h"
#include "author/scan/fit/fit_blocks.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 100, VERSION = 1 };
#define LAMBDA_FIRST 1e-3
#define LAMBDA_LEAST 1e-7
#define GAIN_LEAST   1e-7 /* of the cost: less is the end */
static const double sure = 0.9;

typedef struct state {
    uint64_t key; /* of fit.json and scan.json */
    int32_t round, n, shared_count, done;
    double lambda, cost, noise; /* cost: accepted; INFINITY: none yet */
} state;

typedef struct block_head {
    uint64_t key; /* of the state's unknowns */
    int32_t n, scan_count;
    double cost;
} block_head;

typedef struct work {
    const ex_scan_session *session;
    ex_scan_fitted *fitted;
    state now;
    double *shared; /* [2][shared_count]: accepted, and the present ones */
    double *system; /* [n * n + 2 * n] accepted */
    int scan_count; /* of a definition, the reference first: */
    int *scans;
    ex_kin_scan *entries;
    ex_kin_pose *poses;
    bool *locked;
    double (*rotations)[4], *rms;
    ex_sighting *sightings;
    size_t sighting_count, sighting_capacity;
    ex_error *error;
} work;

static ex_result no_memory(const work *w) {
    return ex_error_memory(w->error, "the fit", (size_t)w->now.n * (size_t)w->now.n * sizeof(double));
}

static void close_work(work *w) {
    ex_scan_fitted_destroy(w->fitted);
    free(w->shared);
    free(w->system);
    free(w->scans);
    free(w->entries);
    free(w->poses);
    free(w->locked);
    free(w->rotations);
    free(w->rms);
    free(w->sightings);
}

int ex_scan_fit_block_count(const ex_scan_session *session) {
    return (session->scan_count + BLOCK - 1) / BLOCK;
}

/* ---- the state ---- */

static ex_result hash_start(const work *w, uint64_t *key) {
    static const char *const names[] = {"fit", "scan"};
    ex_result result = EX_OK;
    *key = VERSION;
    for (int i = 0; i < 2 && result == EX_OK; i++) {
        char *path = ex_scan_path(w->session, "", names[i], ".json"), *bytes = NULL;
        size_t size = 0;
        result = path ? ex_file_read(path, &bytes, &size, w->error) : no_memory(w);
        *key = exi_mix(*key, result == EX_OK ? exi_bytes_hash(bytes, size) : 0);
        free(bytes);
        free(path);
    }
    return result;
}

static size_t system_size(const state *s) {
    return (size_t)s->n * ((size_t)s->n + 2);
}

/* Begins with fit.json. */
static void begin(work *w, uint64_t key) {
    double sum = 0;
    for (int i = 0; i < w->fitted->scan_count; i++)
        sum += w->fitted->rms[i] * w->fitted->rms[i];
    w->now = (state){.key = key,
                     .shared_count = exi_fit_shared_count(w->fitted->kinematics),
                     .lambda = LAMBDA_FIRST,
                     .cost = INFINITY,
                     .noise = sqrt(sum / (w->fitted->scan_count > 0 ? w->fitted->scan_count : 1))};
}

/* Reads the state, or begins. */
static ex_result open_work(work *w) {
    char *path = ex_scan_path(w->session, "blocks", "state", ".bin"), *bytes = NULL;
    char *fit = ex_scan_path(w->session, "", "fit", ".json");
    size_t size = 0;
    uint64_t key = 0;
    ex_result result = path && fit ? ex_scan_fitted_read(fit, &w->fitted, w->error) : no_memory(w);
    if (result == EX_OK)
        result = hash_start(w, &key);
    if (result == EX_OK)
        begin(w, key);
    const int count = w->now.shared_count;
    if (result == EX_OK && ex_file_read(path, &bytes, &size, NULL) == EX_OK && size >= sizeof(state)) {
        state last;
        memcpy(&last, bytes, sizeof last);
        if (last.key == key && last.shared_count == count && last.n > 0 && last.n <= count &&
            size == sizeof last + (2 * (size_t)count + system_size(&last)) * sizeof(double))
            w->now = last;
    }
    w->shared = result == EX_OK ? calloc(2 * (size_t)count + 1, sizeof *w->shared) : NULL;
    w->system = result == EX_OK ? calloc(system_size(&w->now) + 1, sizeof *w->system) : NULL;
    if (result == EX_OK && (!w->shared || !w->system))
        result = no_memory(w);
    if (result == EX_OK && w->now.n > 0) {
        memcpy(w->shared, bytes + sizeof(state), 2 * (size_t)count * sizeof(double));
        memcpy(w->system, bytes + sizeof(state) + 2 * (size_t)count * sizeof(double),
               system_size(&w->now) * sizeof(double));
    } else if (result == EX_OK) {
        exi_fit_shared_read(w->fitted->kinematics, w->shared + count);
    }
    free(bytes);
    free(fit);
    free(path);
    return result;
}

static ex_result write_state(const work *w) {
    char *path = ex_scan_path(w->session, "blocks", "state", ".bin");
    ex_file_writer writer;
    ex_result result = path ? ex_file_open(&writer, path, w->error) : no_memory(w);
    if (result == EX_OK) {
        ex_file_write(&writer, &w->now, sizeof w->now);
        ex_file_write(&writer, w->shared, 2 * (size_t)w->now.shared_count * sizeof *w->shared);
        ex_file_write(&writer, w->system, system_size(&w->now) * sizeof *w->system);
        result = ex_file_commit(&writer, w->error);
    }
    free(path);
    return result;
}

/* ---- scans ---- */

static ex_result add_scan(work *w, int scan) {
    const ex_scan_entry *entry = &w->session->scans[scan];
    const ex_kinematics *k = w->fitted->kinematics;
    const int at = w->scan_count;
    bool *locked = w->locked + (size_t)at * (size_t)k->joint_count;
    char *path = ex_scan_path(w->session, "labels", entry->name, ".csv");
    ex_labelled *labelled = NULL;
    int count = 0, known = 0;
    const size_t before = w->sighting_count;
    ex_result result = path ? EX_OK : no_memory(w);
    if (result == EX_OK && exi_scan_is_there(path))
        result = ex_scan_labels_read(w->session, path, &labelled, &count, w->error);
    for (int i = 0; i < count && result == EX_OK; i++) {
        const int site = ex_kinematics_find_site(k, labelled[i].name);
        ex_sighting *grown = exi_array_grow(w->sightings, &w->sighting_capacity, w->sighting_count + 1, sizeof *grown);
        w->sightings = grown ? grown : w->sightings;
        if (site < 0)
            result =
                ex_error_set(w->error, EX_ERROR_DATA, "%s: the session has no marker '%s'", path, labelled[i].name);
        else if (!grown)
            result = no_memory(w);
        else if (labelled[i].confidence >= sure) {
            grown[w->sighting_count] = (ex_sighting){.scan = at, .site = site, .weight = 1};
            memcpy(grown[w->sighting_count++].position, labelled[i].position, sizeof grown->position);
        }
    }
    ex_labels_free(labelled, count);
    free(path);
    if (result != EX_OK || w->sighting_count == before)
        return result;
    memset(locked, true, (size_t)k->joint_count * sizeof *locked);
    locked[0] = false;
    for (int p = 0; p < entry->part_count; p++)
        for (int i = 0; i < w->session->parts[entry->parts[p]].solve_count; i++) {
            const int joint = ex_kinematics_find_joint(k, w->session->parts[entry->parts[p]].solves[i]);
            if (joint >= 0)
                locked[joint] = false;
        }
    while (known < w->fitted->scan_count && strcmp(w->fitted->names[known], entry->name) != 0)
        known++;
    w->entries[at] = (ex_kin_scan){.name = entry->name,
                                   .locked = locked,
                                   .start = known < w->fitted->scan_count ? &w->fitted->poses[known] : NULL};
    w->scans[w->scan_count++] = scan;
    return EX_OK;
}

/* Makes the definition of the reference and of scans [first, last). */
static ex_result define(work *w, int first, int last, ex_kin_fit_def *def) {
    const size_t most = (size_t)(last - first) + 1, joints = (size_t)w->fitted->kinematics->joint_count;
    w->scans = calloc(most, sizeof *w->scans);
    w->entries = calloc(most, sizeof *w->entries);
    w->poses = calloc(most, sizeof *w->poses);
    w->locked = calloc(most * joints, sizeof *w->locked);
    w->rotations = calloc(most * joints, sizeof *w->rotations);
    w->rms = calloc(most, sizeof *w->rms);
    if (!w->scans || !w->entries || !w->poses || !w->locked || !w->rotations || !w->rms)
        return no_memory(w);
    for (size_t i = 0; i < most; i++)
        w->poses[i].rotations = w->rotations + i * joints;
    ex_result result = add_scan(w, w->session->reference);
    if (result == EX_OK && (w->scan_count == 0 || !w->entries[0].start))
        result = ex_error_kind(w->error,
                               ex_error_set(w->error, EX_ERROR_DATA, "fit.json does not have the reference scan '%s'",
                                            w->session->scans[w->session->reference].name),
                               "old_fit");
    for (int i = first; i < last && result == EX_OK; i++)
        if (i != w->session->reference)
            result = add_scan(w, i);
    *def = (ex_kin_fit_def){.kinematics = w->fitted->kinematics,
                            .scan_count = w->scan_count,
                            .scans = w->entries,
                            .sighting_count = (int)w->sighting_count,
                            .sightings = w->sightings,
                            .usual = w->session->kinematics,
                            .neutral = (const double(*)[4])w->fitted->neutral,
                            .even = true,
                            .rigid = true};
    return result;
}

/* ---- a block ---- */

static uint64_t block_key(const work *w, int block) {
    const double *present = w->shared + w->now.shared_count;
    return exi_mix(exi_mix(w->now.key, (uint64_t)block),
                   exi_bytes_hash(present, (size_t)w->now.shared_count * sizeof *present));
}

static char *block_path(const work *w, int block) {
    char name[32];
    snprintf(name, sizeof name, "%d", block + 1);
    return ex_scan_path(w->session, "blocks", name, ".bin");
}

static ex_result write_block(const work *w, int block, bool own, const exi_fit_system *system) {
    const size_t n = (size_t)system->n, joints = (size_t)w->fitted->kinematics->joint_count;
    const int first = own ? 0 : 1;
    const block_head head = {block_key(w, block), system->n, w->scan_count - first, system->cost};
    char *path = block_path(w, block), *folder = exi_scan_file(w->session->folder, "blocks");
    ex_file_writer writer;
    ex_result result = path && folder ? ex_make_directory(folder, w->error) : no_memory(w);
    if (result == EX_OK)
        result = ex_file_open(&writer, path, w->error);
    if (result == EX_OK) {
        ex_file_write(&writer, &head, sizeof head);
        for (size_t i = 0; i < n; i++) /* the upper triangle */
            ex_file_write(&writer, system->numbers + i * n + i, (n - i) * sizeof(double));
        ex_file_write(&writer, system->numbers + n * n, 2 * n * sizeof(double));
        for (int i = first; i < w->scan_count; i++) {
            const double numbers[] = {w->scans[i], w->rms[i], w->poses[i].translation[0], w->poses[i].translation[1],
                                      w->poses[i].translation[2]};
            ex_file_write(&writer, numbers, sizeof numbers);
            ex_file_write(&writer, w->poses[i].rotations, joints * sizeof *w->poses[i].rotations);
        }
        result = ex_file_commit(&writer, w->error);
    }
    free(path);
    free(folder);
    return result;
}

ex_result ex_scan_fit_block(const ex_scan_session *session, int block, bool *done, ex_error *error) {
    if (!session || !done || block < 0 || block >= ex_scan_fit_block_count(session))
        return exi_misuse_error(error, __func__, "no session, or no such block");
    work w = {.session = session, .error = error};
    const int first = block * BLOCK, last = first + BLOCK < session->scan_count ? first + BLOCK : session->scan_count;
    const bool own = session->reference >= first && session->reference < last;
    exi_fit_system system = {0};
    ex_kin_fit_def def;
    ex_result result = open_work(&w);
    *done = result == EX_OK && w.now.done;
    if (result == EX_OK && !*done)
        result = define(&w, first, last, &def);
    if (result == EX_OK && !*done)
        result = exi_fit_block(&def, w.now.noise, w.shared + w.now.shared_count, own, &system, w.poses, w.rms, error);
    if (result == EX_OK && !*done)
        result = write_block(&w, block, own, &system);
    free(system.numbers);
    close_work(&w);
    return result;
}

/* ---- the sum ---- */

/* Adds a block; its poses go to `made`, which has room for all scans. */
static ex_result add_block(work *w, int block, exi_fit_system *sum, ex_scan_fitted *made) {
    const size_t joints = (size_t)w->fitted->kinematics->joint_count, row = 5 + 4 * joints;
    char *path = block_path(w, block), *bytes = NULL;
    block_head head = {0};
    size_t size = 0;
    ex_result result = path ? EX_OK : no_memory(w);
    if (result == EX_OK && ex_file_read(path, &bytes, &size, NULL) == EX_OK && size >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    const size_t n = (size_t)head.n, numbers = n * (n + 1) / 2 + 2 * n;
    if (result == EX_OK && (head.key != block_key(w, block) || head.n < 1 || (sum->numbers && head.n != sum->n) ||
                            head.scan_count < 0 || head.scan_count > w->session->scan_count - made->scan_count ||
                            size != sizeof head + (numbers + (size_t)head.scan_count * row) * sizeof(double)))
        result = ex_error_set(w->error, EX_ERROR_FILE, "block %d of this round is missing: --block %d makes it",
                              block + 1, block + 1);
    if (result == EX_OK && !sum->numbers) {
        sum->n = head.n;
        sum->numbers = calloc(n * n + 2 * n, sizeof *sum->numbers);
        result = sum->numbers ? EX_OK : no_memory(w);
    }
    const char *at = bytes ? bytes + sizeof head : NULL;
    for (size_t i = 0; i < n * n + 2 * n && result == EX_OK; i++) {
        double number;
        if (i < n * n && i % n < i / n)
            continue;
        memcpy(&number, at, sizeof number);
        at += sizeof number;
        sum->numbers[i] += number;
    }
    sum->cost += head.cost;
    for (int i = 0; i < head.scan_count && result == EX_OK; i++, at += row * sizeof(double)) {
        double own[5];
        memcpy(own, at, sizeof own);
        const int k = made->scan_count, scan = own[0] >= 0 && own[0] < w->session->scan_count ? (int)own[0] : 0;
        const char *name = w->session->scans[scan].name;
        made->names[k] = exi_text_copy(name, strlen(name));
        made->rms[k] = own[1];
        memcpy(made->poses[k].translation, own + 2, sizeof made->poses[k].translation);
        made->poses[k].rotations = exi_array_allocate(joints, sizeof *made->poses[k].rotations);
        made->scan_count++;
        if (!made->names[k] || !made->poses[k].rotations)
            result = no_memory(w);
        else
            memcpy(made->poses[k].rotations, at + sizeof own, joints * sizeof *made->poses[k].rotations);
    }
    free(bytes);
    free(path);
    return result;
}

static ex_scan_fitted *create_fitted(const work *w) {
    const size_t count = (size_t)w->session->scan_count + 1;
    ex_scan_fitted *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->names = calloc(count, sizeof *made->names);
    made->poses = calloc(count, sizeof *made->poses);
    made->rms = calloc(count, sizeof *made->rms);
    made->neutral = calloc((size_t)w->fitted->kinematics->joint_count, sizeof *made->neutral);
    made->kinematics = ex_kinematics_copy(w->fitted->kinematics);
    if (made->names && made->poses && made->rms && made->neutral && made->kinematics)
        return made;
    ex_scan_fitted_destroy(made);
    return NULL;
}

/* Accepts the present unknowns or not, and takes the next step. */
static ex_result step(work *w, const ex_kin_fit_def *def, exi_fit_system *sum, ex_scan_fitted *made,
                      ex_scan_fit_round *round) {
    double *accepted = w->shared, *present = w->shared + w->now.shared_count, cost = 0, ignored = 0;
    const size_t size = (size_t)w->now.shared_count * sizeof *accepted;
    ex_result result = exi_fit_step(def, w->now.noise, present, sum, 0, &cost, NULL, made->neutral, w->error);
    if (result != EX_OK)
        return result;
    const bool lower = cost < w->now.cost;
    round->gain = isfinite(w->now.cost) ? (w->now.cost - cost) / cost : 1;
    round->done = fabs(round->gain) < GAIN_LEAST;
    round->cost = cost;
    exi_fit_shared_write(made->kinematics, present);
    if (lower) {
        double *numbers = w->system;
        w->now.lambda = isfinite(w->now.cost) ? fmax(w->now.lambda * 0.1, LAMBDA_LEAST) : w->now.lambda;
        w->now.cost = cost;
        w->now.n = sum->n;
        memcpy(accepted, present, size);
        w->system = sum->numbers;
        sum->numbers = numbers;
    } else {
        w->now.lambda *= 10;
    }
    const exi_fit_system last = {.n = w->now.n, .cost = 0, .numbers = w->system};
    w->now.round++;
    if (!round->done)
        result = exi_fit_step(def, w->now.noise, accepted, &last, w->now.lambda, &ignored, present, NULL, w->error);
    round->round = w->now.round;
    return result;
}

/* Writes fit.json, in the order of the session, and ends the rounds. */
static ex_result finish(work *w, ex_scan_fitted *made) {
    char *path = ex_scan_path(w->session, "", "fit", ".json");
    const double *base = NULL;
    for (int i = 0; i < made->scan_count; i++)
        if (strcmp(made->names[i], w->session->scans[w->session->reference].name) == 0)
            base = made->poses[i].translation;
    if (base)
        memcpy(made->kinematics->joints[0].translation, base, sizeof made->kinematics->joints[0].translation);
    ex_result result = path ? ex_scan_fitted_write(path, made, w->error) : no_memory(w);
    w->now.done = true;
    if (result == EX_OK)
        result = hash_start(w, &w->now.key);
    free(path);
    return result;
}

ex_result ex_scan_fit_sum(const ex_scan_session *session, ex_scan_fit_round *round, ex_error *error) {
    if (!session || !round)
        return exi_misuse_error(error, __func__, "no session, or no pointer for the round");
    work w = {.session = session, .error = error};
    exi_fit_system sum = {0};
    ex_kin_fit_def def;
    *round = (ex_scan_fit_round){0};
    ex_result result = open_work(&w);
    ex_scan_fitted *made = result == EX_OK ? create_fitted(&w) : NULL;
    if (result == EX_OK && !made)
        result = no_memory(&w);
    if (result == EX_OK && w.now.done) {
        *round = (ex_scan_fit_round){.round = w.now.round, .cost = w.now.cost, .done = true};
    } else if (result == EX_OK) {
        for (int i = 0; i < ex_scan_fit_block_count(session) && result == EX_OK; i++)
            result = add_block(&w, i, &sum, made);
        if (result == EX_OK)
            result = define(&w, 0, 0, &def);
        if (result == EX_OK)
            result = step(&w, &def, &sum, made, round);
        if (result == EX_OK && round->done)
            result = finish(&w, made);
        if (result == EX_OK)
            result = write_state(&w);
    }
    free(sum.numbers);
    ex_scan_fitted_destroy(made);
    close_work(&w);
    return result;
}
