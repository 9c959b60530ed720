/*
 * Normals of a mesh: the tables, made once, and the computation of a form's (normals_kernel.c).
 */
#include "runtime/refine/normals.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"

/* ---- creation ---- */

static ex_result check_def(const ex_normals_def *def, ex_error *error) {
    if (def->vertex_count < 0 || def->face_count < 0 || (unsigned)def->weighting >= EX_NORMAL_WEIGHTING_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a count is negative, or the weighting is unknown");
    if (def->face_count > 0 && (!def->face_offsets || !def->corners))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "offsets or corners are missing");
    if (def->face_count > 0 && def->face_offsets[0] != 0)
        return ex_error_set(error, EX_ERROR_DATA, "the corners of the first face do not begin at 0");
    for (int f = 0; f < def->face_count; f++) {
        if (def->face_offsets[f] > INT32_MAX - 3 || def->face_offsets[f + 1] < def->face_offsets[f] + 3)
            return ex_error_set(error, EX_ERROR_DATA, "face %d (counting from 0) has fewer than 3 corners", f);
        for (int c = def->face_offsets[f]; c < def->face_offsets[f + 1]; c++)
            if (def->corners[c] < 0 || def->corners[c] >= def->vertex_count)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "face %d (counting from 0) refers to vertex %d, but there are %d", f,
                                    def->corners[c], def->vertex_count);
    }
    return EX_OK;
}

/* Rounds of the four vertices from v on: the most faces around one of them, rounded up to a multiple of four. */
static uint32_t count_rounds(const uint32_t *counts, int v, int vertex_count) {
    uint32_t most = 0;
    for (int i = v; i < v + EXI_NORMALS_FOUR && i < vertex_count; i++)
        most = counts[i] > most ? counts[i] : most;
    return (most + 3) / 4 * 4;
}

/* Counts become ends; filling from the back turns them into starts, with faces in order. */
static void fill_by_angle(ex_normals *n) {
    const uint32_t *face_offsets = exi_normals_at(n, n->face_offsets), *corners = exi_normals_at(n, n->corners);
    uint32_t *starts = exi_normals_at(n, n->gather_starts);
    exi_normals_gather *gathers = exi_normals_at(n, n->gathers);
    for (int c = 0; c < n->corner_count; c++)
        starts[corners[c]]++;
    for (int v = 0; v < n->vertex_count; v++)
        starts[v + 1] += starts[v];
    for (int f = n->face_count - 1; f >= 0; f--) {
        const uint32_t begin = face_offsets[f], end = face_offsets[f + 1];
        for (uint32_t c = end; c-- > begin;)
            gathers[--starts[corners[c]]] = (exi_normals_gather){.face = (uint32_t)f,
                                                                 .next = corners[c + 1 < end ? c + 1 : begin],
                                                                 .previous = corners[c > begin ? c - 1 : end - 1]};
    }
}

static uint32_t find_least(const uint32_t triangle[3]) {
    const uint32_t least = triangle[1] < triangle[0];
    return triangle[2] < triangle[least] ? 2 : least;
}

static void fill_quads(ex_normals *n) {
    const uint32_t *face_offsets = exi_normals_at(n, n->face_offsets), *corners = exi_normals_at(n, n->corners);
    uint32_t(*quads)[4] = exi_normals_at(n, n->quads);
    unsigned char *flags = exi_normals_at(n, n->flags);
    for (int f = 0; f < EXI_NORMALS_UNIT * n->face_units; f++) {
        const int own = f < n->face_count ? f : n->face_count - 1;
        const uint32_t *from = corners + face_offsets[own], size = face_offsets[own + 1] - face_offsets[own];
        const uint32_t first = size == 3 ? find_least(from) : 0;
        for (uint32_t k = 0; k < 4; k++) {
            quads[f][k] = size == 4 ? from[k] : from[(first + k) % 3];
            if (quads[f][k] + 1 == (uint32_t)n->vertex_count)
                flags[f / EXI_NORMALS_UNIT] |= EXI_NORMALS_LAST;
        }
        if (size > 4)
            flags[f / EXI_NORMALS_UNIT] |= EXI_NORMALS_LARGE;
    }
}

/* filled [vertex_count]: zero, and then the number of a vertex's faces. */
static void fill_by_area(ex_normals *n, size_t rounds, uint32_t *filled) {
    const uint32_t *face_offsets = exi_normals_at(n, n->face_offsets), *corners = exi_normals_at(n, n->corners);
    const uint32_t *starts = exi_normals_at(n, n->gather_starts);
    uint32_t *gathers = exi_normals_at(n, n->gathers);
    for (size_t i = 0; i < EXI_NORMALS_FOUR * rounds; i++)
        gathers[i] = 4 * EXI_NORMALS_UNIT * (uint32_t)n->face_units; /* without area */
    for (int f = 0; f < n->face_count; f++)
        for (uint32_t c = face_offsets[f]; c < face_offsets[f + 1]; c++) {
            const size_t v = corners[c], round = starts[v / EXI_NORMALS_FOUR] + filled[v]++;
            gathers[EXI_NORMALS_FOUR * round + v % EXI_NORMALS_FOUR] = 4 * (uint32_t)f;
        }
    fill_quads(n);
}

/* Places the tables; by area, counts [vertex_count] has the number of faces around each vertex. Returns the number of
 * rounds. */
static size_t lay_out(ex_normals *head, const ex_normals_def *def, const uint32_t *counts, exi_size *total) {
    const size_t corners = (size_t)head->corner_count, quads = EXI_NORMALS_UNIT * (size_t)head->face_units;
    const size_t fours = 4 * (size_t)exi_normals_units(head->vertex_count);
    bool all = true;
    size_t rounds = 0;
    for (int f = 0; f < def->face_count; f++)
        all &= def->face_offsets[f + 1] - def->face_offsets[f] == 4;
    head->face_offsets = exi_size_add(total, (size_t)head->face_count + 1, sizeof(uint32_t), EXI_ALIGN);
    head->corners = exi_size_add(total, !head->by_angle && all ? 4 * quads : corners, sizeof(uint32_t), EXI_ALIGN);
    if (head->by_angle) {
        head->gather_starts = exi_size_add(total, (size_t)head->vertex_count + 1, sizeof(uint32_t), EXI_ALIGN);
        head->gathers = exi_size_add(total, corners, sizeof(exi_normals_gather), EXI_ALIGN);
        return 0;
    }
    for (int v = 0; v < head->vertex_count; v += EXI_NORMALS_FOUR)
        rounds += count_rounds(counts, v, head->vertex_count);
    head->quads = all ? head->corners : exi_size_add(total, quads, 4 * sizeof(uint32_t), EXI_ALIGN);
    head->flags = exi_size_add(total, (size_t)head->face_units, 1, EXI_ALIGN);
    head->gather_starts = exi_size_add(total, fours + 1, sizeof(uint32_t), EXI_ALIGN);
    head->gathers = exi_size_add(total, rounds, EXI_NORMALS_FOUR * sizeof(uint32_t), EXI_ALIGN);
    return rounds;
}

static ex_result create(const ex_normals_def *def, const ex_allocator *allocator, uint32_t *counts, ex_normals **made,
                        ex_error *error) {
    ex_normals head = {.vertex_count = def->vertex_count,
                       .face_count = def->face_count,
                       .corner_count = def->face_count > 0 ? def->face_offsets[def->face_count] : 0,
                       .by_angle = def->weighting == EX_NORMAL_BY_ANGLE,
                       .face_units = exi_normals_units(def->face_count)};
    for (int v = 0; counts && v < head.vertex_count; v++)
        counts[v] = 0;
    for (int c = 0; counts && c < head.corner_count; c++)
        counts[def->corners[c]]++;
    exi_size total = {.bytes = sizeof head};
    const size_t rounds = lay_out(&head, def, counts, &total);
    head.size = total.bytes;
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the normals are too large for this machine's memory");
    ex_normals *n = exi_block_create(allocator, total.bytes);
    if (!n)
        return ex_error_memory(error, "the normals", total.bytes);
    *n = head;
    uint32_t *face_offsets = exi_normals_at(n, n->face_offsets), *corners = exi_normals_at(n, n->corners);
    uint32_t *starts = exi_normals_at(n, n->gather_starts);
    for (int f = 0; f < n->face_count; f++)
        face_offsets[f + 1] = (uint32_t)def->face_offsets[f + 1];
    for (int c = 0; c < n->corner_count; c++)
        corners[c] = (uint32_t)def->corners[c];
    *made = n;
    if (n->by_angle) {
        fill_by_angle(n);
        return EX_OK;
    }
    for (int four = 0; four < 4 * exi_normals_units(n->vertex_count); four++)
        starts[four + 1] = starts[four] + count_rounds(counts, EXI_NORMALS_FOUR * four, n->vertex_count);
    for (int v = 0; v < n->vertex_count; v++)
        counts[v] = 0;
    fill_by_area(n, rounds, counts);
    return EX_OK;
}

ex_result ex_normals_create(const ex_normals_def *def, const ex_allocator *allocator, ex_normals **normals,
                            ex_error *error) {
    if (!def || !normals) {
        exi_misuse(__func__, "no definition, or no pointer for the normals");
        return EX_ERROR_ARGUMENT;
    }
    *normals = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK || def->weighting == EX_NORMAL_BY_ANGLE)
        return result == EX_OK ? create(def, allocator, NULL, normals, error) : result;
    const size_t size = (size_t)def->vertex_count * sizeof(uint32_t);
    uint32_t *counts = exi_allocate(allocator, size);
    if (!counts)
        return ex_error_memory(error, "the normals", size);
    result = create(def, allocator, counts, normals, error);
    exi_release(allocator, counts, size);
    return result;
}

void ex_normals_destroy(ex_normals *normals) {
    exi_block_destroy(normals);
}

int ex_normals_vertex_count(const ex_normals *normals) {
    return normals->vertex_count;
}

/* ---- computation ---- */

static void run_faces(void *context, int begin, int end) {
    exi_normals_faces(context, begin, end);
}

static void run_by_area(void *context, int begin, int end) {
    exi_normals_by_area(context, begin, end);
}

static void run_by_angle(void *context, int begin, int end) {
    exi_normals_by_angle(context, begin, end);
}

size_t ex_normals_scratch_size(const ex_normals *normals) {
    return (EXI_NORMALS_UNIT * (size_t)normals->face_units + 1) * sizeof(float[4]);
}

void ex_normals_compute(const ex_normals *normals, const float *positions, size_t stride, float *out, size_t out_stride,
                        const ex_tasks *tasks, void *scratch) {
    if (!normals || !positions || !out || !scratch) {
        exi_misuse(__func__, "no normals, positions or scratch, or no pointer for the result");
        return;
    }
    if (!exi_rows_fit(positions, stride, 12) || !exi_rows_fit(out, out_stride, 12) || !exi_rows_fit(scratch, 0, 0)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    exi_normals_pass p = {.normals = normals,
                          .positions = (const char *)positions,
                          .stride = stride ? stride : 12,
                          .out = (char *)out,
                          .out_stride = out_stride ? out_stride : 12,
                          .areas = scratch};
    for (int c = 0; c < 4; c++)
        p.areas[EXI_NORMALS_UNIT * normals->face_units][c] = 0;
    exi_run(tasks, normals->face_units, 64, run_faces, &p);
    exi_run(tasks, exi_normals_units(normals->vertex_count), 64, normals->by_angle ? run_by_angle : run_by_area, &p);
}
