/*
 * Makes a displacement map of every scan for each of its parts: fills the holes of what was measured, with detail that
 * other scans of the part lend, and writes it. Maps that are up to date are kept. The map of one scan alone is the
 * same, since it depends on what the others measured, not on their maps.
 */
#include "author/base/array.h"
#include "author/scan/build/body_build.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least part of a bone's surface that some scan must show. */
#define LEAST_SEEN 0.1

/* A bone that a part covers. */
typedef struct bone {
    int part;
    const char *joint;
    unsigned char *own; /* [vertex_count]: 1 on the bone, within the part */
    int count;          /* of these */
    double most;        /* largest share of them that a scan shows; -1: no scan yet */
} bone;

typedef struct making {
    exi_body *body;
    ex_displacement_map **maps;  /* [example_count] as measured; NULL: not needed yet, or left out */
    bool *kept;                  /* [example_count] */
    ex_scan_coverage *coverages; /* [example_count]; rms: the mean square */
    bone *bones;
    int bone_count;
} making;

/* ---- lending ---- */

/* Finds the part's other examples, and weights by the distance of their poses from this one's. lenders and weights
 * [example_count]; returns their number. */
static int find_lenders(const exi_body *body, int example, ex_displacement_map *const *maps,
                        const ex_displacement_map **lenders, double *weights) {
    const exi_body_example *own = &body->examples[example];
    const ex_scan_part *part = &body->session->parts[own->part];
    int count = 0;
    for (int i = 0; i < body->example_count; i++) {
        double square = 0;
        if (i == example || body->examples[i].part != own->part || !maps[i])
            continue;
        for (int j = 0; j < part->joint_count; j++) {
            const int joint = ex_kinematics_find_joint(body->fitted->kinematics, part->joints[j]);
            const double *a = body->fitted->poses[body->poses[body->examples[i].scan]].rotations[joint];
            const double *b = body->fitted->poses[body->poses[own->scan]].rotations[joint];
            const double dot = fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
            const double angle = 2 * acos(dot > 1 ? 1 : dot);
            square += angle * angle;
        }
        weights[count] = 1 / (1e-4 + square * square);
        lenders[count++] = maps[i];
    }
    return count;
}

/* ---- coverage ---- */

static bool is_measured(const ex_displacement_map *map, int v) {
    return map->states[v] == EX_DISPLACEMENT_MAP_HIT || map->states[v] == EX_DISPLACEMENT_MAP_FAIRED;
}

static void measure(making *m, int example, const ex_displacement_map *map) {
    double counts[EX_DISPLACEMENT_MAP_STATE_COUNT] = {0}, square = 0, all = 0;
    for (int v = 0; v < map->vertex_count; v++) {
        counts[map->states[v]]++;
        if (map->states[v] == EX_DISPLACEMENT_MAP_OUTSIDE)
            continue;
        all++;
        square += (double)map->displacements[v] * (double)map->displacements[v];
    }
    all = all > 0 ? all : 1;
    m->coverages[example] =
        (ex_scan_coverage){.hit = (counts[EX_DISPLACEMENT_MAP_HIT] + counts[EX_DISPLACEMENT_MAP_FAIRED]) / all,
                           .lent = counts[EX_DISPLACEMENT_MAP_LENT] / all,
                           .filled = counts[EX_DISPLACEMENT_MAP_FILLED] / all,
                           .rms = square / all};
}

/* Computes the coverage of scans: the mean over their parts. */
static void sum_coverage(const making *m) {
    const exi_body *body = m->body;
    double n = 0;
    for (int e = 0; e < body->example_count; e++) {
        const ex_scan_coverage *own = &m->coverages[e];
        ex_scan_coverage *scan = &body->built->scans[body->examples[e].scan];
        n = e > 0 && body->examples[e].scan == body->examples[e - 1].scan ? n : 0;
        if (body->examples[e].part < 0)
            continue;
        scan->hit = (n * scan->hit + own->hit) / (n + 1);
        scan->lent = (n * scan->lent + own->lent) / (n + 1);
        scan->filled = (n * scan->filled + own->filled) / (n + 1);
        scan->rms = sqrt((n * scan->rms * scan->rms + own->rms) / (n + 1));
        n++;
    }
}

/* ---- bones ---- */

static ex_result find_bones(making *m) {
    const exi_body *body = m->body;
    const size_t size = (size_t)body->vertex_count;
    size_t count = 0;
    for (int p = 0; p < body->session->part_count; p++)
        count += (size_t)body->session->parts[p].cover_count;
    m->bones = calloc(count + 1, sizeof *m->bones);
    if (!m->bones)
        return ex_error_memory(body->error, "the bones", count * sizeof *m->bones);
    for (int p = 0; p < body->session->part_count; p++)
        for (int i = 0; i < body->session->parts[p].cover_count; i++) {
            bone *b = &m->bones[m->bone_count++];
            *b = (bone){.part = p, .joint = body->session->parts[p].covers[i], .most = -1};
            b->own = exi_array_allocate(size, 1);
            if (!b->own)
                return ex_error_memory(body->error, "a part", size);
            if (ex_displacement_map_covered(body->rig, body->level, &b->joint, 1, b->own, NULL) != EX_OK)
                memset(b->own, 0, size); /* without faces of its own */
            for (size_t v = 0; v < size; v++) {
                b->own[v] = b->own[v] && body->parts[p].covered[v];
                b->count += b->own[v];
            }
        }
    return EX_OK;
}

/* Finds what an example shows of the bones of its part. Filling holes does not change that. */
static void see_bones(making *m, int example, const ex_displacement_map *map) {
    for (int i = 0; i < m->bone_count; i++) {
        bone *b = &m->bones[i];
        int hits = 0;
        if (b->part != m->body->examples[example].part || b->count == 0)
            continue;
        for (int v = 0; v < map->vertex_count; v++)
            hits += b->own[v] && is_measured(map, v);
        b->most = (double)hits / b->count > b->most ? (double)hits / b->count : b->most;
    }
}

/* Checks that each bone that a part covers is measured by one of its scans at least, here and there: else the cage is
 * not on the body. */
static ex_result check_bones(const making *m) {
    for (int i = 0; i < m->bone_count; i++) {
        const bone *b = &m->bones[i];
        if (b->most >= 0 && b->most < LEAST_SEEN)
            return ex_error_set(m->body->error, EX_ERROR_DATA,
                                "no scan of part '%s' shows the bone of '%s' where the cage has it: at most %.0f %% of "
                                "it is near a scan; check the labels of its markers, and look at template/cage.obj "
                                "over the reference scan",
                                m->body->session->parts[b->part].name, b->joint, 100 * b->most);
    }
    return EX_OK;
}

/* ---- all maps ---- */

static void report(const exi_body *body, const char *what, int done, int count) {
    const ex_progress *progress = body->options->progress;
    if (progress)
        progress->report(progress->user, what, (double)done / count);
}

/* True if the example's map is asked for. */
static bool is_wanted(const exi_body *body, int example) {
    return body->examples[example].part >= 0 && exi_body_is_asked(body, body->examples[example].scan);
}

/* Keeps the maps that are up to date. */
static ex_result keep_maps(making *m) {
    exi_body *body = m->body;
    ex_result result = EX_OK;
    for (int e = 0; e < body->example_count && result == EX_OK && !body->options->force; e++) {
        ex_displacement_map *map = NULL;
        if (!is_wanted(body, e))
            continue;
        result = exi_body_read_current(body, e, EXI_BODY_FILLED, &map);
        m->kept[e] = map != NULL;
        if (map) {
            measure(m, e, map);
            see_bones(m, e, map);
            body->built->kept_count++;
        }
        ex_displacement_map_destroy(map);
    }
    return result;
}

/* True if some map of the part is still to be made. */
static bool is_open_part(const making *m, int part) {
    for (int e = 0; e < m->body->example_count; e++)
        if (m->body->examples[e].part == part && is_wanted(m->body, e) && !m->kept[e])
            return true;
    return false;
}

/* Measures the scans of maps that are to be made; then, as `lenders`, those of the same parts. */
static ex_result measure_scans(making *m, bool lenders) {
    exi_body *body = m->body;
    const int count = body->example_count;
    bool *needed = calloc((size_t)body->session->part_count + 1, sizeof *needed);
    ex_result result = needed ? EX_OK : ex_error_memory(body->error, "the parts", 0);
    for (int p = 0; p < body->session->part_count && result == EX_OK && lenders; p++)
        needed[p] = is_open_part(m, p);
    for (int first = 0, end = 0; first < count && result == EX_OK; first = end) {
        bool open = false;
        for (end = first; end < count && body->examples[end].scan == body->examples[first].scan; end++)
            open |= body->examples[end].part >= 0 && !m->maps[end] &&
                    (lenders ? needed[body->examples[end].part] : is_wanted(body, end) && !m->kept[end]);
        report(body, "casting rays", first, count);
        if (open)
            result = exi_body_measure(body, first,
                                      body->options->force && exi_body_is_asked(body, body->examples[first].scan),
                                      false, m->maps, NULL);
    }
    free(needed);
    return result;
}

static ex_result finish_map(making *m, int example) {
    exi_body *body = m->body;
    const ex_scan_entry *entry = &body->session->scans[body->examples[example].scan];
    const size_t count = (size_t)body->example_count;
    const ex_displacement_map **lenders = exi_array_allocate(count, sizeof *lenders);
    double *weights = exi_array_allocate(count, sizeof *weights);
    ex_displacement_map *map = ex_displacement_map_create(body->vertex_count);
    ex_result result = lenders && weights && map ? EX_OK : ex_error_memory(body->error, "filling holes", count * 16);
    if (result == EX_OK) { /* a copy: it lends to others as it was measured */
        memcpy(map->displacements, m->maps[example]->displacements,
               (size_t)body->vertex_count * sizeof *map->displacements);
        memcpy(map->states, m->maps[example]->states, (size_t)body->vertex_count);
        result = ex_displacement_map_fill_lent(
            map, body->rig, body->level, lenders, weights,
            body->session->lend ? find_lenders(body, example, m->maps, lenders, weights) : 0, NULL, body->error);
    }
    if (result == EX_OK)
        result = exi_body_smooth(body, map);
    if (result == EX_OK) {
        measure(m, example, map);
        result = exi_body_write_map(body, example, EXI_BODY_FILLED, map);
    }
    ex_displacement_map_destroy(map);
    free(lenders);
    free(weights);
    return ex_error_within(body->error, result, "scan '%s'", entry->name);
}

static ex_result make_maps(making *m) {
    exi_body *body = m->body;
    const int count = body->example_count;
    const bool all = body->options->step == EX_SCAN_BUILD_ALL;
    ex_result result = all ? find_bones(m) : EX_OK;
    if (result == EX_OK)
        result = keep_maps(m);
    if (result == EX_OK)
        result = measure_scans(m, false);
    for (int e = 0; e < count && result == EX_OK && all; e++)
        if (m->maps[e])
            see_bones(m, e, m->maps[e]);
    if (result == EX_OK)
        result = check_bones(m);
    if (result == EX_OK && body->session->lend)
        result = measure_scans(m, true);
    for (int e = 0; e < count && result == EX_OK; e++) {
        report(body, "filling holes", e, count);
        if (is_wanted(body, e) && !m->kept[e])
            result = finish_map(m, e);
    }
    if (result == EX_OK)
        sum_coverage(m);
    return result;
}

ex_result exi_body_make_maps(exi_body *body) {
    const size_t count = (size_t)body->example_count + 1;
    making m = {.body = body,
                .maps = calloc(count, sizeof *m.maps),
                .kept = calloc(count, sizeof *m.kept),
                .coverages = calloc(count, sizeof *m.coverages)};
    const ex_result result = m.maps && m.kept && m.coverages
                                 ? make_maps(&m)
                                 : ex_error_memory(body->error, "the maps", count * sizeof *m.coverages);
    for (int e = 0; m.maps && e < body->example_count; e++)
        ex_displacement_map_destroy(m.maps[e]);
    for (int i = 0; i < m.bone_count; i++)
        free(m.bones[i].own);
    free(m.bones);
    free(m.maps);
    free(m.kept);
    free(m.coverages);
    return result;
}
