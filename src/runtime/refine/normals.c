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

static void fill(ex_normals *n, const ex_normals_def *def) {
    uint32_t *face_offsets = exi_normals_at(n, n->face_offsets), *corners = exi_normals_at(n, n->corners);
    uint32_t *starts = exi_normals_at(n, n->gather_offsets);
    exi_normals_gather *gathers = exi_normals_at(n, n->gathers);
    uint32_t *faces = exi_normals_at(n, n->gathers);
    for (int f = 0; f < n->face_count; f++)
        face_offsets[f + 1] = (uint32_t)def->face_offsets[f + 1];
    for (int c = 0; c < n->corner_count; c++) {
        corners[c] = (uint32_t)def->corners[c];
        starts[corners[c]]++;
    }
    /* Counts become ends; filling from the back turns them into starts, with faces in order. */
    for (int v = 0; v < n->vertex_count; v++)
        starts[v + 1] += starts[v];
    for (int f = n->face_count - 1; f >= 0; f--) {
        const uint32_t begin = face_offsets[f], end = face_offsets[f + 1];
        for (uint32_t c = end; c-- > begin;) {
            const uint32_t place = --starts[corners[c]];
            if (n->by_angle)
                gathers[place] = (exi_normals_gather){.face = (uint32_t)f,
                                                      .next = corners[c + 1 < end ? c + 1 : begin],
                                                      .previous = corners[c > begin ? c - 1 : end - 1]};
            else
                faces[place] = (uint32_t)f;
        }
    }
}

ex_result ex_normals_create(const ex_normals_def *def, const ex_allocator *allocator, ex_normals **normals,
                            ex_error *error) {
    if (!def || !normals) {
        exi_misuse(__func__, "no definition, or no pointer for the normals");
        return EX_ERROR_ARGUMENT;
    }
    *normals = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    ex_normals head = {.vertex_count = def->vertex_count,
                       .face_count = def->face_count,
                       .corner_count = def->face_count > 0 ? def->face_offsets[def->face_count] : 0,
                       .by_angle = def->weighting == EX_NORMAL_BY_ANGLE};
    exi_size total = {.bytes = sizeof head};
    head.face_offsets = exi_size_add(&total, (size_t)head.face_count + 1, sizeof(uint32_t), EXI_ALIGN);
    head.corners = exi_size_add(&total, (size_t)head.corner_count, sizeof(uint32_t), EXI_ALIGN);
    head.gather_offsets = exi_size_add(&total, (size_t)head.vertex_count + 1, sizeof(uint32_t), EXI_ALIGN);
    head.gathers = exi_size_add(&total, (size_t)head.corner_count,
                                head.by_angle ? sizeof(exi_normals_gather) : sizeof(uint32_t), EXI_ALIGN);
    head.size = total.bytes;
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the normals are too large for this machine's memory");
    ex_normals *made = exi_block_create(allocator, total.bytes);
    if (!made)
        return ex_error_memory(error, "the normals", total.bytes);
    *made = head;
    made->quads = 1;
    for (int f = 0; f < def->face_count; f++)
        made->quads &= def->face_offsets[f + 1] - def->face_offsets[f] == 4;
    fill(made, def);
    *normals = made;
    return EX_OK;
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
    return ((size_t)normals->face_count + 1) * sizeof(float[4]);
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
    exi_run(tasks, (normals->face_count + 3) / 4, 256, run_faces, &p);
    exi_run(tasks, normals->vertex_count, 1024, normals->by_angle ? run_by_angle : run_by_area, &p);
}
