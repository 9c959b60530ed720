/*
 * Sets up the fit: memory, sorted sightings, and the columns of the unknowns.
 */
#include "author/scan/fit/fit.h"

#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of partial sums over scans, whatever the number of threads, so that results do not depend on it. */
enum { CHUNKS_MOST = 16 };
#define CHUNK_BYTES 268435456.0

/* ---- the tree ---- */

static bool open_tree(exi_fit *f) {
    const size_t n = (size_t)f->joint_count;
    int *depths = exi_arena_allocate(&f->arena, n, sizeof *depths);
    int *sizes = exi_arena_allocate(&f->arena, n, sizeof *sizes);
    int *used = exi_arena_allocate(&f->arena, n, sizeof *used);
    f->walk = exi_arena_allocate(&f->arena, n, sizeof *f->walk);
    f->walk_end = exi_arena_allocate(&f->arena, n, sizeof *f->walk_end);
    f->order = exi_arena_allocate(&f->arena, n, sizeof *f->order);
    if (!depths || !sizes || !used || !f->walk || !f->walk_end || !f->order)
        return false;
    for (int j = f->joint_count - 1; j >= 0; j--) {
        sizes[j]++;
        if (f->kinematics->joints[j].parent >= 0)
            sizes[f->kinematics->joints[j].parent] += sizes[j];
    }
    for (int j = 0; j < f->joint_count; j++) {
        const int parent = f->kinematics->joints[j].parent;
        depths[j] = 1 + (parent >= 0 ? depths[parent] : 0);
        f->depth = depths[j] > f->depth ? depths[j] : f->depth;
        f->walk[j] = parent < 0 ? 0 : f->walk[parent] + 1 + used[parent];
        if (parent >= 0)
            used[parent] += sizes[j];
        f->walk_end[j] = f->walk[j] + sizes[j];
        f->order[f->walk[j]] = j;
    }
    return true;
}

/* ---- sightings ---- */

typedef struct mark_key {
    int scan, walk, site, source;
} mark_key;

static int compare_keys(const void *left, const void *right) {
    const mark_key *a = left, *b = right;
    if (a->scan != b->scan)
        return a->scan < b->scan ? -1 : 1;
    if (a->walk != b->walk)
        return a->walk < b->walk ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    return a->source < b->source ? -1 : a->source > b->source;
}

static bool open_marks(exi_fit *f) {
    const ex_kin_fit_def *def = f->def;
    const size_t n = (size_t)def->sighting_count;
    mark_key *keys = exi_arena_allocate(&f->arena, n, sizeof *keys);
    f->marks = exi_arena_allocate(&f->arena, n, sizeof *f->marks);
    f->scans = exi_arena_allocate(&f->arena, (size_t)f->scan_count, sizeof *f->scans);
    if (!keys || !f->marks || !f->scans)
        return false;
    for (int i = 0; i < def->sighting_count; i++) {
        const ex_sighting *s = &def->sightings[i];
        if (s->weight > 0)
            keys[f->mark_count++] = (mark_key){s->scan, f->walk[f->kinematics->sites[s->site].joint], s->site, i};
    }
    qsort(keys, (size_t)f->mark_count, sizeof *keys, compare_keys);
    for (int m = 0; m < f->mark_count; m++) {
        const ex_sighting *s = &def->sightings[keys[m].source];
        f->marks[m] = (exi_fit_mark){.scan = s->scan,
                                     .site = s->site,
                                     .joint = f->kinematics->sites[s->site].joint,
                                     .source = keys[m].source,
                                     .at = {s->position[0], s->position[1], s->position[2]},
                                     .weight = s->weight};
    }
    for (int i = 0, m = 0; i < f->scan_count; i++) {
        f->scans[i].begin = m;
        while (m < f->mark_count && f->marks[m].scan == i)
            m++;
        f->scans[i].end = m;
        f->scans[i].reference = i == def->reference;
    }
    return true;
}

/* ---- states ---- */

bool exi_fit_make_state(exi_fit *f, exi_fit_state *s) {
    const size_t joints = (size_t)f->joint_count, scans = (size_t)f->scan_count;
    s->translations = exi_arena_allocate(&f->arena, joints, sizeof *s->translations);
    s->axes = exi_arena_allocate(&f->arena, joints, sizeof *s->axes);
    s->locals = exi_arena_allocate(&f->arena, (size_t)f->site_count, sizeof *s->locals);
    s->bases = exi_arena_allocate(&f->arena, scans, sizeof *s->bases);
    s->turns = exi_arena_allocate(&f->arena, scans * joints, sizeof *s->turns);
    s->angles = exi_arena_allocate(&f->arena, scans * joints, sizeof *s->angles);
    return s->translations && s->axes && s->locals && s->bases && s->turns && s->angles;
}

void exi_fit_copy_state(const exi_fit *f, const exi_fit_state *from, exi_fit_state *to) {
    const size_t joints = (size_t)f->joint_count, scans = (size_t)f->scan_count;
    memcpy(to->translations, from->translations, joints * sizeof *to->translations);
    memcpy(to->axes, from->axes, joints * sizeof *to->axes);
    memcpy(to->locals, from->locals, (size_t)f->site_count * sizeof *to->locals);
    memcpy(to->bases, from->bases, scans * sizeof *to->bases);
    memcpy(to->turns, from->turns, scans * joints * sizeof *to->turns);
    memcpy(to->angles, from->angles, scans * joints * sizeof *to->angles);
}

/* Copies the caller's kinematics and poses; mirrors what is mirrored. */
static void begin_state(exi_fit *f) {
    exi_fit_state *s = &f->now;
    for (int j = 0; j < f->joint_count; j++) {
        const ex_kin_joint *joint = &f->kinematics->joints[j];
        const int owner = f->translation_owners[j], axis_owner = f->axis_owners[j];
        memcpy(s->translations[j], joint->translation, sizeof s->translations[j]);
        memcpy(s->axes[j], joint->axis, sizeof s->axes[j]);
        if (joint->freedom == EX_FREEDOM_HINGE && !exi_normalise(s->axes[j], 3))
            s->axes[j][0] = 1;
        if (owner != j && f->mirrored_translation[j])
            exi_kin_mirror_translation(s->translations[owner], s->translations[j]);
        if (axis_owner != j && f->mirrored_axis[j])
            exi_kin_mirror_axis(s->axes[axis_owner], s->axes[j]);
    }
    for (int i = 0; i < f->site_count; i++) {
        memcpy(s->locals[i], f->kinematics->sites[i].local, sizeof s->locals[i]);
        f->placed[i] = f->kinematics->sites[i].placed;
    }
    for (int i = 0; i < f->scan_count; i++) {
        const ex_kin_pose *start = f->def->scans[i].start;
        const size_t row = (size_t)i * (size_t)f->joint_count;
        memcpy(s->bases[i], start ? start->translation : s->translations[0], sizeof s->bases[i]);
        for (int j = 0; j < f->joint_count; j++) {
            const ex_kin_joint *joint = &f->kinematics->joints[j];
            const size_t at = row + (size_t)j;
            double *q = s->turns[at];
            q[3] = 1;
            if (start)
                memcpy(q, start->rotations[j], 4 * sizeof *q);
            if (!exi_normalise(q, 4))
                q[3] = 1;
            if (joint->freedom == EX_FREEDOM_HINGE)
                s->angles[at] = ex_kin_angle(joint, q) * (3.14159265358979323846 / 180);
            f->held[at] = joint->freedom == EX_FREEDOM_FIXED || (j > 0 && i == f->def->reference) ||
                          (f->def->scans[i].locked && f->def->scans[i].locked[j]) ||
                          (j == 0 && f->def->scans[i].base_locked);
        }
    }
}

/* ---- columns ---- */

/* True if a joint turns in some scan that shows markers beyond it. */
static bool is_moved(const exi_fit *f, int j) {
    for (int i = 0; i < f->scan_count; i++) {
        if (i == f->def->reference || (f->def->scans[i].locked && f->def->scans[i].locked[j]))
            continue;
        for (int m = f->scans[i].begin; m < f->scans[i].end; m++) {
            const int walk = f->walk[f->marks[m].joint];
            if (walk >= f->walk[j] && walk < f->walk_end[j])
                return true;
        }
    }
    return false;
}

/* A joint that is seen to move is found apart from its twin, if that moves too. Otherwise it is its mirror image. */
static void find_owners(exi_fit *f) {
    const bool alike = f->def->reference < 0 || f->def->free_bones;
    for (int j = 0; j < f->joint_count; j++) {
        const ex_kin_joint *joint = &f->kinematics->joints[j];
        f->translation_owners[j] = f->axis_owners[j] = j;
        f->apart[j] = !alike && joint->mirror >= 0 && is_moved(f, j) && is_moved(f, joint->mirror);
        if (f->apart[j])
            continue;
        if (joint->mirror >= 0 && !joint->lock_translation) {
            f->translation_owners[j] = f->translation_owners[joint->mirror];
            f->mirrored_translation[j] = !f->mirrored_translation[joint->mirror];
        }
        if (joint->mirror >= 0 && !joint->lock_axis) {
            f->axis_owners[j] = f->axis_owners[joint->mirror];
            f->mirrored_axis[j] = !f->mirrored_axis[joint->mirror];
        }
    }
}

static void lay_out_scan(exi_fit *f, int i) {
    exi_fit_scan *scan = &f->scans[i];
    const size_t row = (size_t)i * (size_t)f->joint_count;
    scan->pose_count = 0;
    for (int w = f->joint_count - 1; w >= 0; w--) {
        const int j = f->order[w];
        int *column = &f->pose_columns[row + (size_t)j];
        *column = -1;
        if (scan->hopeless || f->held[row + (size_t)j] || (j == 0 && scan->reference && !f->base_free))
            continue;
        *column = scan->pose_count;
        scan->pose_count += f->kinematics->joints[j].freedom == EX_FREEDOM_HINGE ? 1 : 3;
    }
    scan->base_column = -1;
    if (!scan->hopeless && !f->def->scans[i].base_locked && !(scan->reference && !f->base_free && !f->base_moves)) {
        scan->base_column = scan->pose_count;
        scan->pose_count += 3;
    }
}

void exi_fit_lay_out(exi_fit *f, bool kinematics, bool sites) {
    int column = 0;
    for (int i = 0; i < f->scan_count; i++)
        lay_out_scan(f, i);
    for (int s = 0; s < f->site_count; s++)
        f->site_columns[s] = -1;
    for (int m = 0; sites && m < f->mark_count; m++)
        if (f->marks[m].active && !f->tied[f->marks[m].site])
            f->site_columns[f->marks[m].site] = 0;
    for (int s = 0; sites && f->all_sites && s < f->site_count; s++)
        f->site_columns[s] = f->placed[s] ? 0 : -1;
    for (int w = 0; w < f->joint_count; w++)
        for (int s = 0; s < f->site_count; s++)
            if (f->site_columns[s] == 0 && f->kinematics->sites[s].joint == f->order[w]) {
                f->site_columns[s] = column;
                column += 3;
            }
    f->kin_count = 0;
    for (int j = 0; j < f->joint_count; j++) {
        const ex_kin_joint *joint = &f->kinematics->joints[j];
        int *t = &f->translation_columns[j], *a = &f->axis_columns[j];
        *t = *a = -1;
        if (!kinematics || j == 0)
            continue;
        if (f->translation_owners[j] != j)
            *t = f->translation_columns[f->translation_owners[j]];
        else if (!joint->lock_translation) {
            *t = f->kin_count;
            f->kin_count += 3;
        }
        if (joint->freedom != EX_FREEDOM_HINGE)
            continue;
        if (f->axis_owners[j] != j)
            *a = f->axis_columns[f->axis_owners[j]];
        else if (!joint->lock_axis) {
            *a = f->kin_count;
            f->kin_count += 2;
        }
    }
    f->shared_count = column + f->kin_count;
}

/* ---- opening and closing ---- */

static bool open_chunks(exi_fit *f) {
    exi_arena *arena = &f->arena;
    int freedom = 3, kin = 0, marks = 0;
    for (int j = 0; j < f->joint_count; j++) {
        freedom += f->kinematics->joints[j].freedom == EX_FREEDOM_HINGE ? 1 : 3;
        kin += f->kinematics->joints[j].freedom == EX_FREEDOM_HINGE ? 5 : 3;
    }
    for (int i = 0; i < f->scan_count; i++)
        marks = f->scans[i].end - f->scans[i].begin > marks ? f->scans[i].end - f->scans[i].begin : marks;
    const int sites = marks < f->site_count ? marks : f->site_count;
    const size_t shared = 3 * (size_t)f->site_count + (size_t)kin, local = 3 * (size_t)sites + (size_t)kin;
    const size_t pose = (size_t)freedom;
    f->pose_most = freedom;
    f->local_most = (int)local;
    const double fitting = CHUNK_BYTES / (8.0 * (double)shared * (double)shared);
    f->chunk_count = fitting < 1 ? 1 : fitting < CHUNKS_MOST ? (int)fitting : CHUNKS_MOST;
    if (f->chunk_count > f->scan_count)
        f->chunk_count = f->scan_count;
    f->chunks = exi_arena_allocate(arena, (size_t)f->chunk_count, sizeof *f->chunks);
    f->shared_matrix = exi_arena_allocate(arena, shared * shared, sizeof(double));
    f->shared_right = exi_arena_allocate(arena, shared, sizeof(double));
    f->shared_diagonal = exi_arena_allocate(arena, shared, sizeof(double));
    f->factors = exi_arena_allocate(arena, (size_t)f->scan_count * pose * pose, sizeof(double));
    f->rights = exi_arena_allocate(arena, (size_t)f->scan_count * pose, sizeof(double));
    bool done = f->chunks && f->shared_matrix && f->shared_right && f->shared_diagonal && f->factors && f->rights;
    for (int c = 0; done && c < f->chunk_count; c++) {
        exi_fit_chunk *k = &f->chunks[c];
        k->matrix = exi_arena_allocate(arena, shared * shared, sizeof(double));
        k->right = exi_arena_allocate(arena, shared, sizeof(double));
        k->diagonal = exi_arena_allocate(arena, shared, sizeof(double));
        k->coupled = exi_arena_allocate(arena, pose * local, sizeof(double));
        k->product = exi_arena_allocate(arena, local * local, sizeof(double));
        k->local_right = exi_arena_allocate(arena, local, sizeof(double));
        k->locals = exi_arena_allocate(arena, local, sizeof(int));
        k->range_begins = exi_arena_allocate(arena, pose, sizeof(int));
        k->range_ends = exi_arena_allocate(arena, pose, sizeof(int));
        k->step = exi_arena_allocate(arena, 2 * pose, sizeof(double));
        done = k->matrix && k->right && k->diagonal && k->coupled && k->product && k->local_right && k->locals &&
               k->range_begins && k->range_ends && k->step && exi_fit_make_frames(arena, f->joint_count, &k->frames) &&
               exi_fit_make_rows(arena, f, &k->rows);
    }
    return done;
}

static bool open_columns(exi_fit *f) {
    exi_arena *arena = &f->arena;
    const size_t joints = (size_t)f->joint_count, sites = (size_t)f->site_count;
    f->held = exi_arena_allocate(arena, joints * (size_t)f->scan_count, sizeof *f->held);
    f->open = exi_arena_allocate(arena, joints * (size_t)f->scan_count, sizeof *f->open);
    f->turn_holds = exi_arena_allocate(arena, joints * (size_t)f->scan_count, sizeof *f->turn_holds);
    f->open_translations = exi_arena_allocate(arena, joints, sizeof(bool));
    f->open_axes = exi_arena_allocate(arena, joints, sizeof(bool));
    f->pose_columns = exi_arena_allocate(arena, joints * (size_t)f->scan_count, sizeof *f->pose_columns);
    f->translation_columns = exi_arena_allocate(arena, joints, sizeof(int));
    f->axis_columns = exi_arena_allocate(arena, joints, sizeof(int));
    f->translation_owners = exi_arena_allocate(arena, joints, sizeof(int));
    f->axis_owners = exi_arena_allocate(arena, joints, sizeof(int));
    f->mirrored_translation = exi_arena_allocate(arena, joints, sizeof(bool));
    f->mirrored_axis = exi_arena_allocate(arena, joints, sizeof(bool));
    f->apart = exi_arena_allocate(arena, joints, sizeof(bool));
    f->preferences = exi_arena_allocate(arena, joints, sizeof(double));
    f->extra_hold = exi_arena_allocate(arena, joints, sizeof *f->extra_hold);
    f->extra_axis = exi_arena_allocate(arena, joints, sizeof *f->extra_axis);
    f->reference_turns = exi_arena_allocate(arena, joints, sizeof *f->reference_turns);
    f->site_columns = exi_arena_allocate(arena, sites, sizeof(int));
    f->placed = exi_arena_allocate(arena, sites, sizeof(bool));
    f->tied = exi_arena_allocate(arena, sites, sizeof(bool));
    f->site_weights = exi_arena_allocate(arena, sites, sizeof(double));
    f->site_widths = exi_arena_allocate(arena, sites, sizeof(double));
    return f->held && f->turn_holds && f->open && f->open_translations && f->open_axes && f->pose_columns &&
           f->translation_columns && f->axis_columns && f->translation_owners && f->axis_owners &&
           f->mirrored_translation && f->mirrored_axis && f->apart && f->preferences && f->extra_hold &&
           f->extra_axis && f->reference_turns && f->site_columns && f->placed && f->tied && f->site_weights &&
           f->site_widths;
}

ex_result exi_fit_open(exi_fit *f, const ex_kin_fit_def *def, ex_error *error) {
    *f = (exi_fit){.def = def,
                   .kinematics = def->kinematics,
                   .error = error,
                   .joint_count = def->kinematics->joint_count,
                   .site_count = def->kinematics->site_count,
                   .scan_count = def->scan_count};
    if (!open_tree(f) || !open_marks(f) || !open_columns(f) || !open_chunks(f) || !exi_fit_make_state(f, &f->now) ||
        !exi_fit_make_state(f, &f->next) || !exi_fit_make_state(f, &f->begin))
        return ex_error_memory(error, "the fit of a skeleton", (size_t)f->scan_count * (size_t)f->joint_count * 64);
    find_owners(f);
    begin_state(f);
    if (!exi_fit_open_person(f))
        return ex_error_memory(error, "the fit of a skeleton", (size_t)f->joint_count * 4096);
    return EX_OK;
}

void exi_fit_close(exi_fit *f) {
    exi_arena_free(&f->arena);
}
