/*
 * Records of what was found while a template person is carried, so that processes can share the work: each takes the
 * common part from files of carried/ and adds the file of its own scan.
 *
 *   carried/reference.bin        the reference alone: its figure and pose, places of markers, poses that markers tell
 *   carried/NAME.screened.bin    a scan posed with that figure, and whether it is of this person
 *   carried/figure.bin           the figure of several scans, the person, and places that other scans gave to markers
 *   carried/NAME.bin             a scan registered: pose, errors, bones that it shows
 *
 * A record begins with the hash of all that it was made from, the bytes of scans included, and of its contents. A
 * record of something else, or a damaged one, does not count, whatever its age. Numbers are as in memory.
 */
#include "author/base/array.h"
#include "author/base/rows.h"
#include "author/scan/person/person.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Changes whenever the same input gives another result, or another file. */
enum { VERSION = 1 };
static const char magic[8] = "excarry1";

/* ---- hashes ---- */

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t size) {
    return exi_mix(hash, exi_bytes_hash(bytes, size));
}

static uint64_t mix_text(uint64_t hash, const char *text) {
    return mix_bytes(hash, text ? text : "", text ? strlen(text) : 0);
}

/* Mixes in all that scan.json and the points say about a scan. */
static uint64_t mix_scan(const exi_carry *w, uint64_t hash, const exi_carry_scan *o) {
    const ex_scan_entry *entry = &w->session->scans[o->scan];
    hash = mix_text(exi_mix(hash, (uint64_t)o->scan), entry->name);
    hash = exi_mix(hash, (uint64_t)(entry->held + 2 * entry->posed + 4 * entry->follows));
    if (entry->posed)
        hash = mix_bytes(hash, entry->pose.rotations,
                         (size_t)w->session->kinematics->joint_count * sizeof *entry->pose.rotations);
    for (int i = 0; i < o->count; i++) {
        hash = mix_text(hash, w->places[o->points[i].name].name);
        hash = mix_bytes(hash, o->points[i].at, sizeof o->points[i].at);
    }
    return hash;
}

void exi_carry_hash(exi_carry *w) {
    const ex_scan_session *s = w->session;
    const exi_human *human = w->human;
    const size_t influences = (size_t)w->vertex_count * EXI_HUMAN_INFLUENCES;
    const double numbers[] = {s->unit, s->points, s->noise, w->sure, w->reference, s->scan_count};
    uint64_t hash = mix_text(mix_text(VERSION, s->person), s->up);
    hash = mix_bytes(hash, numbers, sizeof numbers);
    hash = mix_bytes(hash, human->mesh->positions, 3 * (size_t)w->vertex_count * sizeof *human->mesh->positions);
    hash = mix_bytes(hash, human->weights, influences * sizeof *human->weights);
    for (int i = 0; i < w->one_count; i++)
        hash = mix_scan(w, hash, &w->ones[i]);
    w->hash = hash;
}

/* Finds the hash of the bytes of a scan's files; one that cannot be read counts as empty, and is complained of when it
 * is opened. */
static ex_result hash_files(exi_carry *w, exi_carry_scan *o) {
    const ex_scan_entry *entry = &w->session->scans[o->scan];
    ex_result result = EX_OK;
    for (int i = 0; i < entry->file_count && !o->hashed && result == EX_OK; i++) {
        char *path = exi_scan_file(w->session->folder, entry->files[i]), *bytes = NULL;
        size_t size = 0;
        if (!path || ex_file_read(path, &bytes, &size, NULL) == EX_ERROR_MEMORY)
            result = exi_carry_no_memory(w);
        o->files = mix_bytes(o->files, bytes ? bytes : "", bytes ? size : 0);
        free(bytes);
        free(path);
    }
    o->hashed = result == EX_OK;
    return result;
}

/* A frame of a sequence also depends on the one before it. */
static ex_result screen_key(exi_carry *w, int one, uint64_t *key) {
    int first = one;
    while (first > 0 && w->session->scans[w->ones[first].scan].follows)
        first--;
    ex_result result = hash_files(w, &w->ones[w->reference]);
    *key = exi_mix(w->hash, w->ones[w->reference].files);
    for (int i = first; i <= one && result == EX_OK; i++) {
        result = hash_files(w, &w->ones[i]);
        *key = exi_mix(*key, w->ones[i].files);
    }
    return result;
}

/* ---- a record ---- */

typedef struct record {
    char *bytes;
    size_t size, capacity, at;
    bool good; /* false: no memory, or the file ends too early */
} record;

static void put(record *r, const void *bytes, size_t size) {
    char *grown = r->good ? exi_array_grow(r->bytes, &r->capacity, r->size + size + 1, 1) : NULL;
    r->good = grown != NULL;
    r->bytes = grown ? grown : r->bytes;
    if (grown && size > 0)
        memcpy(grown + r->size, bytes, size);
    r->size += size;
}

static void get(record *r, void *bytes, size_t size) {
    r->good = r->good && r->size - r->at >= size;
    if (r->good && size > 0)
        memcpy(bytes, r->bytes + r->at, size);
    r->at += size;
}

static char *record_path(const exi_carry *w, const char *name, const char *ending) {
    return ex_scan_path(w->session, "carried", name, ending);
}

/* Writes a record, and releases it. */
static ex_result write_record(exi_carry *w, const char *name, const char *ending, uint64_t key, record *r) {
    char *path = record_path(w, name, ending), *folder = exi_scan_file(w->session->folder, "carried");
    ex_file_writer writer;
    ex_result result = path && folder && r->good ? ex_make_directory(folder, w->error) : exi_carry_no_memory(w);
    if (result == EX_OK)
        result = ex_file_open(&writer, path, w->error);
    if (result == EX_OK) {
        ex_file_write(&writer, magic, sizeof magic);
        const uint64_t sum = exi_bytes_hash(r->bytes, r->size);
        ex_file_write(&writer, &key, sizeof key);
        ex_file_write(&writer, &sum, sizeof sum);
        ex_file_write(&writer, r->bytes, r->size);
        result = ex_file_commit(&writer, w->error);
    }
    free(path);
    free(folder);
    free(r->bytes);
    return result;
}

/* Reads a record of that key; !r->good: there is none. */
static ex_result read_record(exi_carry *w, const char *name, const char *ending, uint64_t key, record *r) {
    char *path = record_path(w, name, ending), begin[sizeof magic];
    uint64_t own = 0, sum = 0;
    *r = (record){.good = true};
    ex_result result = path ? ex_file_read(path, &r->bytes, &r->size, NULL) : EX_ERROR_MEMORY;
    free(path);
    if (result == EX_ERROR_MEMORY)
        return exi_carry_no_memory(w);
    get(r, begin, sizeof begin);
    get(r, &own, sizeof own);
    get(r, &sum, sizeof sum);
    r->good = r->good && result == EX_OK && memcmp(begin, magic, sizeof magic) == 0 && own == key &&
              exi_bytes_hash(r->bytes + r->at, r->size - r->at) == sum;
    return EX_OK;
}

/* ---- parts of records ---- */

/* True if a file of the scan is there, where one is said to be. */
static bool has_file(const exi_carry *w, const exi_carry_scan *o, const char *folder, const char *ending) {
    char *path = ex_scan_path(w->session, folder, w->session->scans[o->scan].name, ending);
    const bool there = path && exi_scan_is_there(path);
    free(path);
    return there;
}

static void put_scan(const exi_carry *w, record *r, const exi_carry_scan *o) {
    const double numbers[] = {o->hold, o->matched, o->told, o->posed};
    put(r, numbers, sizeof numbers);
    put(r, o->pose.translation, sizeof o->pose.translation);
    put(r, o->pose.rotations, (size_t)w->joint_count * sizeof *o->pose.rotations);
    put(r, o->report, sizeof *o->report);
}

/* Nothing changes unless all of it is good. registered: its file must be there too. */
static ex_result get_scan(exi_carry *w, record *r, exi_carry_scan *o, bool registered) {
    double numbers[4] = {0};
    ex_carried_scan report = {0};
    exi_carry_scan made = *o;
    made.pose.rotations = exi_arena_allocate(&w->arena, (size_t)w->joint_count, sizeof *made.pose.rotations);
    if (!made.pose.rotations)
        return exi_carry_no_memory(w);
    get(r, numbers, sizeof numbers);
    made.hold = numbers[0];
    made.matched = numbers[1];
    made.told = numbers[2] != 0;
    made.posed = numbers[3] != 0;
    get(r, made.pose.translation, sizeof made.pose.translation);
    get(r, made.pose.rotations, (size_t)w->joint_count * sizeof *made.pose.rotations);
    get(r, &report, sizeof report);
    /* Pictures and registered scans must be there still. */
    r->good = r->good && (!report.pictured || has_file(w, o, "look", ".png")) &&
              (!registered || report.left_out || has_file(w, o, "registered", ".ply"));
    if (r->good) {
        *o = made;
        *o->report = report;
    }
    return EX_OK;
}

static void put_figure(const exi_carry *w, record *r) {
    put(r, w->figure, (size_t)w->human->figure_count * sizeof *w->figure);
    put(r, w->rest, (size_t)w->vertex_count * sizeof *w->rest);
    put(r, w->joints, (size_t)w->joint_count * sizeof *w->joints);
    for (int i = 0; i < w->place_count; i++) {
        const unsigned char known = w->places[i].known;
        put(r, &known, sizeof known);
        put(r, &w->places[i].since, sizeof w->places[i].since);
        put(r, &w->places[i].anchor, sizeof w->places[i].anchor);
    }
}

static void get_figure(exi_carry *w, record *r) {
    get(r, w->figure, (size_t)w->human->figure_count * sizeof *w->figure);
    get(r, w->rest, (size_t)w->vertex_count * sizeof *w->rest);
    get(r, w->joints, (size_t)w->joint_count * sizeof *w->joints);
    for (int i = 0; i < w->place_count; i++) {
        unsigned char known = 0;
        get(r, &known, sizeof known);
        w->places[i].known = known != 0;
        get(r, &w->places[i].since, sizeof w->places[i].since);
        get(r, &w->places[i].anchor, sizeof w->places[i].anchor);
    }
}

/* ---- the reference ---- */

ex_result exi_carry_write_reference(exi_carry *w) {
    exi_carry_scan *o = &w->ones[w->reference];
    record r = {.good = true};
    ex_result result = hash_files(w, o);
    put_figure(w, &r);
    put_scan(w, &r, o);
    for (int i = 0; i < w->one_count && result == EX_OK; i++) { /* poses that markers tell */
        exi_carry_scan *other = &w->ones[i];
        const unsigned char told = other->told_rotations != NULL;
        put(&r, &told, sizeof told);
        if (told)
            put(&r, other->told_rotations, (size_t)w->joint_count * sizeof *other->told_rotations);
    }
    if (result != EX_OK) {
        free(r.bytes);
        return result;
    }
    return write_record(w, "reference", ".bin", exi_mix(w->hash, o->files), &r);
}

ex_result exi_carry_read_reference(exi_carry *w, bool *there) {
    exi_carry_scan *o = &w->ones[w->reference];
    record r = {0};
    ex_result result = hash_files(w, o);
    *there = false;
    if (result == EX_OK)
        result = read_record(w, "reference", ".bin", exi_mix(w->hash, o->files), &r);
    if (result == EX_OK && r.good) {
        get_figure(w, &r);
        result = get_scan(w, &r, o, false);
        for (int i = 0; i < w->one_count && r.good && result == EX_OK; i++) {
            exi_carry_scan *other = &w->ones[i];
            unsigned char told = 0;
            get(&r, &told, sizeof told);
            if (!told)
                continue;
            other->told_rotations =
                exi_arena_allocate(&w->arena, (size_t)w->joint_count, sizeof *other->told_rotations);
            if (!other->told_rotations)
                result = exi_carry_no_memory(w);
            else
                get(&r, other->told_rotations, (size_t)w->joint_count * sizeof *other->told_rotations);
        }
        *there = r.good && result == EX_OK;
    }
    free(r.bytes);
    return result;
}

/* ---- a scan that was screened ---- */

ex_result exi_carry_write_screened(exi_carry *w, const exi_carry_scan *o) {
    record r = {.good = true};
    uint64_t key = 0;
    const ex_result result = screen_key(w, (int)(o - w->ones), &key);
    if (result != EX_OK)
        return result;
    put_scan(w, &r, o);
    return write_record(w, w->session->scans[o->scan].name, ".screened.bin", key, &r);
}

ex_result exi_carry_read_screened(exi_carry *w, exi_carry_scan *o, bool *there) {
    record r = {0};
    uint64_t key = 0;
    ex_result result = screen_key(w, (int)(o - w->ones), &key);
    *there = false;
    if (result == EX_OK)
        result = read_record(w, w->session->scans[o->scan].name, ".screened.bin", key, &r);
    if (result == EX_OK && r.good) {
        result = get_scan(w, &r, o, false);
        *there = r.good && result == EX_OK;
    }
    free(r.bytes);
    return result;
}

/* ---- the figure ---- */

/* Hashes the figure without the places that other scans give: those are found from it. files [one_count]. */
static void hash_figure(exi_carry *w, const uint64_t *files) {
    uint64_t hash = mix_bytes(w->hash, files, (size_t)w->one_count * sizeof *files);
    hash = mix_bytes(hash, w->figure, (size_t)w->human->figure_count * sizeof *w->figure);
    hash = mix_bytes(hash, w->rest, (size_t)w->vertex_count * sizeof *w->rest);
    w->figure_hash = exi_mix(hash, 1);
}

ex_result exi_carry_write_figure(exi_carry *w) {
    uint64_t *files = exi_array_allocate((size_t)w->one_count, sizeof *files);
    record r = {.good = true};
    ex_result result = files ? EX_OK : exi_carry_no_memory(w);
    for (int i = 0; i < w->one_count && result == EX_OK; i++) {
        result = hash_files(w, &w->ones[i]);
        files[i] = w->ones[i].files;
    }
    if (result == EX_OK) {
        hash_figure(w, files);
        put(&r, files, (size_t)w->one_count * sizeof *files);
        put_figure(w, &r);
        put(&r, &w->usual, sizeof w->usual);
        put(&r, w->shown, (size_t)w->joint_count * sizeof *w->shown);
    }
    for (int i = 0; i < w->one_count && result == EX_OK; i++) {
        put(&r, &(unsigned char){w->ones[i].together}, 1);
        if (w->ones[i].together)
            put_scan(w, &r, &w->ones[i]);
    }
    free(files);
    if (result == EX_OK)
        return write_record(w, "figure", ".bin", w->hash, &r);
    free(r.bytes);
    return result;
}

ex_result exi_carry_read_figure(exi_carry *w, const bool *asked, bool *there) {
    uint64_t *files = exi_array_allocate((size_t)w->one_count, sizeof *files);
    record r = {0};
    ex_result result = files ? read_record(w, "figure", ".bin", w->hash, &r) : exi_carry_no_memory(w);
    char *path = ex_scan_path(w->session, "registered", w->session->scans[w->ones[w->reference].scan].name, ".ply");
    bool same = result == EX_OK && r.good && (asked || (path && exi_scan_is_there(path)));
    *there = false;
    free(path);
    if (same)
        get(&r, files, (size_t)w->one_count * sizeof *files);
    for (int i = 0; i < w->one_count && result == EX_OK && same; i++) {
        if (asked && !asked[w->ones[i].scan] && i != w->reference)
            continue;
        result = hash_files(w, &w->ones[i]);
        same = w->ones[i].files == files[i];
    }
    if (result == EX_OK && same) {
        get_figure(w, &r);
        get(&r, &w->usual, sizeof w->usual);
        get(&r, w->shown, (size_t)w->joint_count * sizeof *w->shown);
        hash_figure(w, files);
        *there = true;
    }
    for (int i = 0; i < w->one_count && result == EX_OK && same; i++) {
        unsigned char together = 0;
        get(&r, &together, 1);
        w->ones[i].together = together != 0;
        if (together)
            result = get_scan(w, &r, &w->ones[i], false);
    }
    free(files);
    free(r.bytes);
    return result;
}

/* ---- a scan that was registered ---- */

static ex_result carried_key(exi_carry *w, exi_carry_scan *o, uint64_t *key) {
    const ex_result result = screen_key(w, (int)(o - w->ones), key);
    *key = exi_mix(*key, w->figure_hash);
    return result;
}

ex_result exi_carry_write_carried(exi_carry *w, exi_carry_scan *o, const float *shown) {
    record r = {.good = true};
    uint64_t key = 0;
    const ex_result result = carried_key(w, o, &key);
    if (result != EX_OK)
        return result;
    put(&r, shown, (size_t)w->joint_count * sizeof *shown);
    put_scan(w, &r, o);
    return write_record(w, w->session->scans[o->scan].name, ".bin", key, &r);
}

ex_result exi_carry_read_carried(exi_carry *w, exi_carry_scan *o, float *shown, bool *there) {
    record r = {0};
    uint64_t key = 0;
    ex_result result = carried_key(w, o, &key);
    *there = false;
    if (result == EX_OK && w->figure_hash != 0)
        result = read_record(w, w->session->scans[o->scan].name, ".bin", key, &r);
    if (result == EX_OK && r.good) {
        get(&r, shown, (size_t)w->joint_count * sizeof *shown);
        result = get_scan(w, &r, o, true);
        *there = r.good && result == EX_OK;
    }
    free(r.bytes);
    return result;
}
