/*
 * Says what maps are made from, and whether one is up to date. Every map in measured/ and maps/ carries two hashes:
 *
 *     from    all that it depends on but the bytes of scans: the rig before and after refitting, the scan's pose, the
 *             parts, the settings, and the sizes of the scan's files; in maps/ also those of the scans that lend to it
 *     files   the bytes of these scans
 *
 * A map is up to date if `from` is the same, and if either the map is newer than the scans or `files` is the same. So
 * maps may be made in another folder or on a machine whose clock is off, and a map of another fit never looks new. The
 * bytes of scans are read only if the times leave a doubt. A map without hashes, made by hand or by another program, is
 * up to date if it is newer than everything.
 */
#define _POSIX_C_SOURCE 200809L /* file times to less than a second */

#include "author/base/array.h"
#include "author/base/rows.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/rig_pack.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Changes whenever the same input gives other maps. */
enum { VERSION = 1 };

typedef struct source {
    bool known; /* true: `hash` is that of the bytes of its files */
    uint64_t hash;
    struct timespec newest;
} source;

typedef struct stamp {
    uint64_t measured, map; /* `from` of both */
} stamp;

struct exi_body_stamps {
    uint64_t template; /* the rig before refitting */
    source *sources;   /* [scan_count of the session] */
    stamp *stamps;     /* [example_count] */
    int *parts;        /* [example_count]: as `examples`, before any was left out */
    uint64_t *files;   /* [part_count of the session] bytes of all scans of a part; 0: not known yet */
};

static uint64_t mix_numbers(uint64_t hash, const double *numbers, int count) {
    for (int i = 0; i < count; i++)
        hash = exi_mix_number(hash, numbers[i]);
    return hash;
}

static ex_result hash_rig(const exi_body *body, uint64_t *hash) {
    const size_t size = ex_rig_pack_size(body->rig);
    void *bytes = malloc(size);
    ex_result result =
        bytes ? ex_rig_pack(body->rig, bytes, size, body->error) : ex_error_memory(body->error, "the template", size);
    if (result == EX_OK)
        *hash = exi_bytes_hash(bytes, size);
    free(bytes);
    return result;
}

ex_result exi_body_open_stamps(exi_body *body) {
    const size_t scans = (size_t)body->session->scan_count, examples = (size_t)body->example_count;
    exi_body_stamps *s = calloc(1, sizeof *s);
    body->stamps = s;
    if (s) {
        s->sources = calloc(scans + 1, sizeof *s->sources);
        s->stamps = calloc(examples + 1, sizeof *s->stamps);
        s->parts = calloc(examples + 1, sizeof *s->parts);
        s->files = calloc((size_t)body->session->part_count + 1, sizeof *s->files);
    }
    if (!s || !s->sources || !s->stamps || !s->parts || !s->files)
        return ex_error_memory(body->error, "the maps", scans * sizeof *s->sources);
    return hash_rig(body, &s->template);
}

void exi_body_close_stamps(exi_body *body) {
    if (!body->stamps)
        return;
    free(body->stamps->sources);
    free(body->stamps->stamps);
    free(body->stamps->parts);
    free(body->stamps->files);
    free(body->stamps);
    body->stamps = NULL;
}

/* ---- from ---- */

static uint64_t hash_settings(const exi_body *body, uint64_t rig) {
    const ex_scan_session *session = body->session;
    uint64_t hash = exi_mix(exi_mix(VERSION, body->stamps->template), rig);
    const double numbers[] = {body->level,    body->vertex_count, session->unit, session->points,
                              session->reach, session->noise,     session->lend};
    hash = mix_numbers(hash, numbers, sizeof numbers / sizeof *numbers);
    return exi_mix(hash, exi_bytes_hash(session->up, strlen(session->up)));
}

/* Mixes in the pose of a scan, and times and sizes of its files. */
static uint64_t hash_scan(const exi_body *body, int scan, uint64_t hash) {
    const ex_scan_entry *entry = &body->session->scans[scan];
    const ex_kin_pose *pose = &body->fitted->poses[body->poses[scan]];
    source *from = &body->stamps->sources[scan];
    hash = mix_numbers(hash, pose->rotations[0], 4 * body->fitted->kinematics->joint_count);
    hash = mix_numbers(hash, pose->translation, 3);
    for (int i = 0; i < entry->file_count; i++) {
        char *path = exi_body_path(body, entry->files[i]);
        struct stat status = {0};
        if (path && stat(path, &status) == 0 &&
            (status.st_mtim.tv_sec > from->newest.tv_sec ||
             (status.st_mtim.tv_sec == from->newest.tv_sec && status.st_mtim.tv_nsec > from->newest.tv_nsec)))
            from->newest = status.st_mtim;
        hash = exi_mix(hash, (uint64_t)status.st_size);
        free(path);
    }
    return hash;
}

static uint64_t hash_part(const exi_body *body, int part) {
    const ex_scan_part *own = &body->session->parts[part];
    uint64_t hash = exi_bytes_hash(body->parts[part].covered, (size_t)body->vertex_count);
    for (int i = 0; i < own->joint_count; i++)
        hash = exi_mix(hash, exi_bytes_hash(own->joints[i], strlen(own->joints[i])));
    return hash;
}

ex_result exi_body_stamp_maps(exi_body *body) {
    exi_body_stamps *s = body->stamps;
    const int count = body->example_count, part_count = body->session->part_count;
    uint64_t rig = 0, *parts = calloc(2 * (size_t)part_count + 1, sizeof *parts), *lenders = NULL;
    ex_result result = parts ? hash_rig(body, &rig) : ex_error_memory(body->error, "the maps", (size_t)part_count * 16);
    if (result != EX_OK) {
        free(parts);
        return result;
    }
    lenders = parts + part_count;
    const uint64_t settings = hash_settings(body, rig);
    for (int p = 0; p < part_count; p++)
        parts[p] = hash_part(body, p);
    for (int first = 0, end = 0; first < count; first = end) {
        /* Rays are cast once for all parts of a scan. */
        uint64_t all = hash_scan(body, body->examples[first].scan, settings);
        for (end = first; end < count && body->examples[end].scan == body->examples[first].scan; end++)
            all = body->examples[end].part >= 0 ? exi_mix(all, parts[body->examples[end].part]) : all;
        for (int e = first; e < end; e++) {
            const int part = body->examples[e].part;
            s->parts[e] = part;
            s->stamps[e].measured = part >= 0 ? exi_mix(all, parts[part]) : 0;
            if (part >= 0)
                lenders[part] = exi_mix(lenders[part], s->stamps[e].measured);
        }
    }
    for (int e = 0; e < count; e++)
        if (s->parts[e] >= 0)
            s->stamps[e].map = exi_mix(s->stamps[e].measured + 1, body->session->lend ? lenders[s->parts[e]] : 0);
    free(parts);
    return EX_OK;
}

/* ---- files ---- */

static ex_result hash_files(const exi_body *body, int scan) {
    const ex_scan_entry *entry = &body->session->scans[scan];
    source *from = &body->stamps->sources[scan];
    ex_result result = EX_OK;
    if (from->known)
        return EX_OK;
    for (int i = 0; i < entry->file_count && result == EX_OK; i++) {
        char *path = exi_body_path(body, entry->files[i]), *bytes = NULL;
        size_t size = 0;
        result = path ? ex_file_read(path, &bytes, &size, body->error) : ex_error_memory(body->error, "a path", 0);
        if (result == EX_OK)
            from->hash = exi_mix(from->hash, exi_bytes_hash(bytes, size));
        free(bytes);
        free(path);
    }
    from->known = result == EX_OK;
    return result;
}

/* Computes `files` of an example's map. */
static ex_result find_files(const exi_body *body, int example, exi_body_stage stage, uint64_t *files) {
    const exi_body_stamps *s = body->stamps;
    const int scan = body->examples[example].scan, part = s->parts[example];
    ex_result result = hash_files(body, scan);
    *files = result == EX_OK ? s->sources[scan].hash : 0;
    if (stage == EXI_BODY_MEASURED || !body->session->lend || result != EX_OK)
        return result;
    uint64_t all = s->files[part];
    for (int e = 0; e < body->example_count && result == EX_OK && s->files[part] == 0; e++) {
        if (s->parts[e] != part)
            continue;
        result = hash_files(body, body->examples[e].scan);
        all = exi_mix(all, s->sources[body->examples[e].scan].hash);
    }
    if (result == EX_OK) {
        s->files[part] = all;
        *files = exi_mix(*files, all);
    }
    return result;
}

ex_result exi_body_stamp_text(const exi_body *body, int example, exi_body_stage stage, char text[EXI_MADE_FROM_SIZE]) {
    const stamp *own = &body->stamps->stamps[example];
    uint64_t files = 0;
    const ex_result result = find_files(body, example, stage, &files);
    snprintf(text, EXI_MADE_FROM_SIZE, "%016" PRIx64 "-%016" PRIx64,
             stage == EXI_BODY_MEASURED ? own->measured : own->map, files);
    return result;
}

/* ---- up to date ---- */

static bool is_after(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec >= b->tv_nsec);
}

/* True if it is newer than the scans that it depends on. */
static bool is_after_scans(const exi_body *body, int example, exi_body_stage stage, const struct timespec *made) {
    const exi_body_stamps *s = body->stamps;
    bool after = is_after(made, &s->sources[body->examples[example].scan].newest);
    for (int e = 0; stage == EXI_BODY_FILLED && body->session->lend && after && e < body->example_count; e++)
        after = s->parts[e] != s->parts[example] || is_after(made, &s->sources[body->examples[e].scan].newest);
    return after;
}

/* True if it is newer than what is not a scan. */
static bool is_after_others(const exi_body *body, const struct timespec *made) {
    static const char *const others[] = {"scan.json", "fit.json", "cage.obj", "template/body.glb"};
    bool after = true;
    for (int i = 0; after && i < 4; i++) {
        char *path = exi_body_path(body, others[i]);
        struct stat from;
        after = path && stat(path, &from) == 0 && is_after(made, &from.st_mtim);
        free(path);
    }
    return after;
}

ex_result exi_body_is_current(const exi_body *body, int example, exi_body_stage stage, const char *path,
                              bool *current) {
    const stamp *own = &body->stamps->stamps[example];
    char made_from[EXI_MADE_FROM_SIZE];
    uint64_t from = 0, files = 0, now = 0;
    struct stat made;
    *current = false;
    if (stat(path, &made) != 0)
        return EX_OK;
    const bool after = is_after_scans(body, example, stage, &made.st_mtim);
    if (!exi_displacement_map_made_from(path, made_from)) {
        *current = stage == EXI_BODY_FILLED && after && is_after_others(body, &made.st_mtim);
        return EX_OK;
    }
    if (sscanf(made_from, "%16" SCNx64 "-%16" SCNx64, &from, &files) != 2 ||
        from != (stage == EXI_BODY_MEASURED ? own->measured : own->map))
        return EX_OK;
    if (after) {
        source *scan = &body->stamps->sources[body->examples[example].scan];
        *current = true;
        if (stage == EXI_BODY_MEASURED && !scan->known) { /* need not be read for other maps */
            scan->hash = files;
            scan->known = true;
        }
        return EX_OK;
    }
    const ex_result result = find_files(body, example, stage, &now);
    *current = result == EX_OK && now == files;
    return result == EX_ERROR_MEMORY ? result : EX_OK; /* a scan that cannot be read is complained of when it is cast */
}
