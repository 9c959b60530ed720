/*
 * Creation of trajectories: checks, the block, and displacement velocities (trajectory warping, equation 23 with
 * appended bases and the screw T of the example):
 *
 *   u = R~(w)^-1 (T^-1(example) - mesh - sum over v's segment and those above of R~(w_a) u_a)
 *
 * in double, from w as stored: so the path ends exactly at the example, in 16-bit storage too. mixture_create.c makes
 * the tables of a mixture.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/shape/mixture.h"
#include "runtime/shape/trajectory.h"
#include "runtime/shape/trajectory.inl"
#include "runtime/shape/trajectory_bases.h"

#include <math.h>
#include <string.h>

/* Limit of a screw's turn: several revolutions are fine, until sine and cosine lose accuracy. */
static const double screw_turn_most = 1000;

/* ---- checks ---- */

static bool are_finite(const float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static ex_result check_example(const exi_trajectories_def *def, const ex_trajectory *path, ex_error *error) {
    double turn_sq = 0, move_sq = 0;
    for (int c = 0; c < 3; c++) {
        turn_sq += path->screw.turn[c] * path->screw.turn[c];
        move_sq += path->screw.move[c] * path->screw.move[c];
    }
    if (!(turn_sq <= screw_turn_most * screw_turn_most) || !isfinite(move_sq))
        return ex_error_set(error, EX_ERROR_DATA, "its screw is not finite, or turns by more than %g radians",
                            screw_turn_most);
    if (path->corrector_count < 0 || path->corrector_count > EX_CORRECTOR_MAX)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "it has %d correctors; 0 to %d are allowed",
                            path->corrector_count, EX_CORRECTOR_MAX);
    if (path->corrector_count > 0 && (!path->correctors || !path->curves))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "its correctors or their curves are missing");
    for (int j = 0; j < path->corrector_count; j++)
        if (!path->correctors[j])
            return ex_error_set(error, EX_ERROR_ARGUMENT, "corrector %d is missing", j);
        else if (!are_finite(path->curves + (size_t)j * EX_CURVE_SIZE, EX_CURVE_SIZE))
            return ex_error_set(error, EX_ERROR_DATA, "the curve of corrector %d is not finite", j);
    if (path->bases && def->segments.count == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "it has bases, but the layer has no segments");
    for (int a = 0; path->bases && a < def->segments.count; a++)
        if (!are_finite(path->bases + 6 * (size_t)a, 6))
            return ex_error_set(error, EX_ERROR_DATA, "the basis of segment %d is not finite", a);
    return EX_OK;
}

static ex_result check_segments(const exi_trajectories_def *def, ex_error *error) {
    const ex_segments *s = &def->segments;
    if (s->count < 0 || s->count > EX_SEGMENT_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "there are %d segments; at most %d are allowed", s->count,
                            EX_SEGMENT_MAX);
    if (s->count > 0 && (!s->parents || !s->vertices))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the segments' parents or vertices are missing");
    for (int a = 0; a < s->count; a++)
        if (s->parents[a] < -1 || s->parents[a] >= s->count)
            return ex_error_set(error, EX_ERROR_DATA, "the parent of segment %d is segment %d, which does not exist", a,
                                s->parents[a]);
    for (int v = 0; s->count > 0 && v < def->vertex_count; v++)
        if (s->vertices[v] >= s->count)
            return ex_error_set(error, EX_ERROR_DATA, "vertex %d is in segment %d, which does not exist", v,
                                s->vertices[v]);
    for (int a = 0; a < s->count; a++) {
        int above = a, steps = 0;
        while (above >= 0 && steps++ <= s->count)
            above = s->parents[above];
        if (above >= 0)
            return ex_error_set(error, EX_ERROR_DATA, "segment %d is its own ancestor", a);
    }
    return EX_OK;
}

static ex_result check_def(const exi_trajectories_def *def, ex_error *error) {
    const int count = def->example_count;
    if (!def->trajectories || def->reference < -1 || def->reference >= count)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "there are no trajectories, or the reference, example %d, does not exist",
                            def->reference + 1);
    for (int c = 0; c < 3; c++)
        if (!isfinite(def->centre[c]))
            return ex_error_set(error, EX_ERROR_DATA, "the centre of the screws is not finite");
    for (int k = 0; def->overlaps && k < count; k++)
        for (int l = 0; l < count; l++) {
            const float overlap = def->overlaps[(size_t)k * (size_t)count + (size_t)l];
            if (!(overlap >= 0 && overlap <= 1) || (k == l && overlap != 1))
                return ex_error_set(
                    error, EX_ERROR_DATA,
                    "the overlap of examples %d and %d is %g: overlaps are in [0, 1], and 1 for an example with itself",
                    k + 1, l + 1, (double)overlap);
        }
    for (int v = 0; def->mask && v < def->vertex_count; v++)
        if (!(def->mask[v] >= 0 && def->mask[v] <= 1))
            return ex_error_set(error, EX_ERROR_DATA, "the mask at vertex %d is %g, outside [0, 1]", v,
                                (double)def->mask[v]);
    ex_result result = check_segments(def, error);
    if (result == EX_OK)
        result = exi_mixture_check(def, error);
    for (int k = 0; result == EX_OK && k < count; k++) {
        result = k == def->reference ? EX_OK : check_example(def, &def->trajectories[k], error);
        if (result != EX_OK)
            return def->names ? ex_error_within(error, result, "example '%s'", def->names[k])
                              : ex_error_within(error, result, "example %d", k + 1);
    }
    return result;
}

/* ---- the block ---- */

static uint32_t flags_of(const exi_trajectories_def *def, const ex_trajectory *path) {
    bool screws = false;
    for (int c = 0; c < 3; c++)
        screws = screws || path->screw.turn[c] != 0 || path->screw.move[c] != 0;
    return (path->turns ? EXI_PATHS_TURNS : 0u) | (screws ? EXI_PATHS_SCREWS : 0u) |
           (path->bases ? EXI_PATHS_BASES : 0u) | (def->mixture.node_count > 0 ? EXI_PATHS_MIXTURE : 0u);
}

/* Sets counts, and offsets of the tables. */
static bool lay(const exi_trajectories_def *def, exi_trajectories *p) {
    *p = (exi_trajectories){.vertex_count = def->vertex_count,
                            .example_count = def->example_count,
                            .segment_count = def->segments.count,
                            .reference = def->reference};
    memcpy(p->centre, def->centre, sizeof p->centre);
    const bool mixed = def->mixture.node_count > 0;
    int64_t correctors = mixed ? def->mixture.corrector_count : 0, forms = correctors, deltas = 0;
    for (int k = 0; k < def->example_count; k++) {
        if (k == def->reference)
            continue;
        const ex_trajectory *path = &def->trajectories[k];
        p->flags |= flags_of(def, path);
        p->based_count += path->bases != NULL;
        correctors += path->corrector_count;
        forms += 1 + (path->turns != NULL) + path->corrector_count;
        deltas += def->storage == EX_STORAGE_FLOAT && flags_of(def, path) != 0;
    }
    p->corrector_count = (int32_t)correctors;
    p->form_count = (int32_t)forms;
    const size_t examples = (size_t)def->example_count, segments = (size_t)def->segments.count;
    const size_t padded = ((size_t)def->vertex_count + EXI_TILE - 1) / EXI_TILE * EXI_TILE;
    size_t square = 0, based = 0, delta_floats = 0;
    bool fits = exi_multiply(examples, examples, &square) && exi_multiply((size_t)p->based_count, segments, &based) &&
                exi_multiply((size_t)deltas, 3 * (size_t)def->vertex_count, &delta_floats) && forms <= EXI_FORM_MAX;
    exi_size total = {.bytes = sizeof *p};
    p->examples = exi_size_add(&total, examples, sizeof(exi_trajectory_example), 16);
    p->curves = exi_size_add(&total, mixed ? 0 : (size_t)correctors, EX_CURVE_SIZE * sizeof(float), 16);
    p->bases = exi_size_add(&total, based, 6 * sizeof(float), 16);
    if (def->overlaps)
        p->overlaps = exi_size_add(&total, square, sizeof(float), 16);
    p->parents = exi_size_add(&total, segments, sizeof(int32_t), 16);
    p->order = exi_size_add(&total, segments, sizeof(int32_t), 16);
    exi_mixture_lay(def, &p->mixture, &total);
    if (segments > 0)
        p->segments = exi_size_add(&total, padded, sizeof(uint16_t), EXI_ALIGN);
    if (def->mask)
        p->mask = exi_size_add(&total, padded, sizeof(float), EXI_ALIGN);
    exi_mixture_lay_vertices(def, &p->mixture, padded, &total);
    p->deltas = exi_size_add(&total, delta_floats, sizeof(float), EXI_ALIGN);
    p->size = total.bytes;
    return fits && !total.overflow;
}

static void *at(exi_trajectories *p, uint64_t offset) {
    return (char *)p + offset;
}

static void copy_tables(const exi_trajectories_def *def, exi_trajectories *p) {
    const size_t segments = (size_t)def->segments.count, vertices = (size_t)def->vertex_count;
    const size_t examples = (size_t)def->example_count;
    if (def->overlaps)
        memcpy(at(p, p->overlaps), def->overlaps, examples * examples * sizeof(float));
    if (def->mask)
        memcpy(at(p, p->mask), def->mask, vertices * sizeof(float));
    if (segments == 0)
        return;
    memcpy(at(p, p->segments), def->segments.vertices, vertices * sizeof(uint16_t));
    int32_t *parents = at(p, p->parents), *order = at(p, p->order);
    int placed = 0;
    for (int a = 0; a < def->segments.count; a++) {
        parents[a] = def->segments.parents[a];
        if (parents[a] < 0)
            order[placed++] = a;
    }
    /* each placed segment adds its children */
    for (int i = 0; i < placed; i++)
        for (int a = 0; a < def->segments.count; a++)
            if (parents[a] == order[i])
                order[placed++] = a;
}

static void fill_examples(const exi_trajectories_def *def, exi_trajectories *p) {
    exi_trajectory_example *examples = at(p, p->examples);
    const size_t basis = 6 * (size_t)def->segments.count;
    float *curves = at(p, p->curves), *bases = at(p, p->bases);
    int turns = 0, velocities = 0, correctors = 0, based = 0, deltas = 0;
    for (int k = 0; k < def->example_count; k++)
        turns += k != def->reference && def->trajectories[k].turns;
    const int first_velocities = turns, first_correctors = p->form_count - p->corrector_count;
    turns = 0;
    for (int k = 0; k < def->example_count; k++) {
        const ex_trajectory *path = &def->trajectories[k];
        exi_trajectory_example *e = &examples[k];
        *e = (exi_trajectory_example){.turns = -1, .velocities = -1, .correctors = -1, .bases = -1, .delta = -1};
        if (k == def->reference)
            continue;
        e->flags = flags_of(def, path);
        e->screw = path->screw;
        e->turns = path->turns ? turns++ : -1;
        e->velocities = first_velocities + velocities++;
        e->corrector_count = path->corrector_count;
        e->first_corrector = correctors;
        e->correctors = first_correctors + correctors;
        if (path->corrector_count > 0)
            memcpy(curves + (size_t)correctors * EX_CURVE_SIZE, path->curves,
                   (size_t)path->corrector_count * EX_CURVE_SIZE * sizeof(float));
        correctors += path->corrector_count;
        if (path->bases) {
            e->bases = based++;
            memcpy(bases + (size_t)e->bases * basis, path->bases, basis * sizeof(float));
        }
        e->delta = def->storage == EX_STORAGE_FLOAT && e->flags ? deltas++ : -1;
    }
}

ex_result exi_trajectories_create(const exi_trajectories_def *def, const ex_allocator *allocator,
                                  exi_trajectories **paths, ex_error *error) {
    *paths = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    exi_trajectories head;
    if (!lay(def, &head))
        return ex_error_set(error, EX_ERROR_LIMIT, "the trajectories are too large for this machine's memory");
    exi_trajectories *made = exi_block_create(allocator, (size_t)head.size);
    if (!made)
        return ex_error_memory(error, "the trajectories", (size_t)head.size);
    *made = head;
    copy_tables(def, made);
    fill_examples(def, made);
    result = exi_mixture_fill(def, made, allocator, error);
    if (result == EX_OK)
        *paths = made;
    else
        exi_block_destroy(made);
    return result;
}
