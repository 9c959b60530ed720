/*
 * Reads a mesh of an Alembic file frame by frame, in the space of the scene: the transforms above it are applied.
 *
 * The frames are the samples of the points, or of a transform if one has more: a rigid thing that is only moved has one
 * sample of points. Everything else is taken at its sample nearest in time. Faces run clockwise in Alembic, seen from
 * outside, and counter-clockwise in Exemplar, so their corners are turned round.
 */
#include "author/formats/cache/alembic/alembic.h"

#include "author/base/array.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PIECE = 3 * 512 }; /* numbers converted at once */

size_t exi_alembic_split(const char *path, const char **name) {
    static const char ending[] = ".abc";
    const size_t length = strlen(path), size = sizeof ending - 1;
    *name = NULL;
    if (ex_path_ends_with(path, ending))
        return length;
    for (size_t i = size; i + 1 < length; i++)
        if (path[i] == ':' && path[i + 1] == '/' && strncasecmp(path + i - size, ending, size) == 0) {
            *name = path + i + 1;
            return i;
        }
    return 0;
}

/* ---- points ---- */

static size_t number_size(int type) {
    return type == EXI_ALEMBIC_HALF ? 2 : type == EXI_ALEMBIC_FLOAT ? 4 : 8;
}

static double half_value(uint32_t bits) {
    const int exponent = bits >> 10 & 31;
    const double mantissa = bits & 1023, sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return mantissa > 0 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? ldexp(mantissa, -24) : ldexp(mantissa + 1024, exponent - 25));
}

static double number_value(const unsigned char *bytes, int type) {
    if (type == EXI_ALEMBIC_HALF)
        return half_value((uint32_t)exi_ogawa_number(bytes, 2));
    if (type == EXI_ALEMBIC_FLOAT) {
        const uint32_t bits = (uint32_t)exi_ogawa_number(bytes, 4);
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    const uint64_t bits = exi_ogawa_number(bytes, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Checks that every sample that is stored is complete and has the same number of points. */
static ex_result check_points(exi_alembic_reader *r, ex_error *error) {
    const exi_alembic_property *p = &r->points;
    const uint32_t stored = exi_alembic_stored_count(p);
    uint64_t size = 0;
    if (!p->found || p->kind != EXI_ALEMBIC_ARRAY || p->extent != 3 || p->type < EXI_ALEMBIC_HALF ||
        p->type > EXI_ALEMBIC_DOUBLE || stored == 0)
        return exi_ogawa_damaged(&r->archive.file, "the mesh has no points", error);
    for (uint32_t i = 0; i < stored; i++) {
        exi_ogawa_stream values;
        const ex_result result = exi_alembic_values(&r->archive, p, i, &values, error);
        if (result != EX_OK)
            return result;
        if (i > 0 && values.size != size)
            return ex_error_set(error, EX_ERROR_DATA,
                                "%s: the number of vertices changes from frame to frame: a cache needs one topology",
                                r->archive.file.path);
        size = values.size;
    }
    const uint64_t one = 3 * number_size(p->type), count = size / one;
    if (size % one != 0 || count < 1 || count > INT_MAX / 3)
        return exi_ogawa_damaged(&r->archive.file, "the mesh has no valid number of points", error);
    r->vertex_count = (int)count;
    return EX_OK;
}

static bool is_identity(double m[4][4]) {
    bool same = true;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            same = same && m[i][j] == (i == j);
    return same;
}

/* p' = p M, with p_w = 1. */
static void transform(double m[4][4], double *p) {
    double moved[4];
    for (int j = 0; j < 4; j++)
        moved[j] = p[0] * m[0][j] + p[1] * m[1][j] + p[2] * m[2][j] + m[3][j];
    const double w = moved[3] != 0 ? moved[3] : 1;
    for (int j = 0; j < 3; j++)
        p[j] = moved[j] / w;
}

static ex_result make_matrix(const exi_alembic_reader *r, double time, double m[4][4], ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            m[i][j] = i == j;
    for (int i = 0; i < r->xform_count && result == EX_OK; i++)
        result = exi_alembic_xform_apply(&r->archive, &r->xforms[i], time, m, error);
    return result;
}

ex_result exi_alembic_reader_read(const exi_alembic_reader *reader, int frame, float *positions, ex_error *error) {
    const exi_alembic_property *p = &reader->points;
    const double time = exi_alembic_reader_time(reader, frame);
    const uint32_t sample = p == reader->paced ? (uint32_t)frame
                            : p->last > 0      ? exi_alembic_nearest(&reader->archive, p, time)
                                               : 0;
    const size_t one = number_size(p->type), count = 3 * (size_t)reader->vertex_count;
    unsigned char bytes[PIECE * 8];
    double m[4][4];
    exi_ogawa_stream values;
    ex_result result = make_matrix(reader, time, m, error);
    if (result == EX_OK)
        result = exi_alembic_values(&reader->archive, p, exi_alembic_stored(p, sample), &values, error);
    const bool moves = result == EX_OK && !is_identity(m);
    for (size_t at = 0; at < count && result == EX_OK; at += PIECE) {
        const size_t size = count - at < PIECE ? count - at : PIECE;
        result = exi_ogawa_read(&reader->archive.file, values, at * one, bytes, size * one, error);
        for (size_t i = 0; i < size && result == EX_OK; i += 3) {
            double point[3];
            for (size_t j = 0; j < 3; j++)
                point[j] = number_value(bytes + (i + j) * one, p->type);
            if (moves)
                transform(m, point);
            for (size_t j = 0; j < 3; j++) {
                positions[at + i + j] = (float)point[j];
                if (!isfinite(positions[at + i + j]))
                    result = ex_error_set(error, EX_ERROR_DATA,
                                          "%s: in frame %d, vertex %zu (counting from 0) is not a number",
                                          reader->archive.file.path, frame + 1, (at + i) / 3);
            }
        }
    }
    return result;
}

double exi_alembic_reader_time(const exi_alembic_reader *reader, int frame) {
    return exi_alembic_time(&reader->archive, reader->paced, (uint32_t)frame);
}

/* ---- faces ---- */

/* Reads an array of integers that must be the same at all samples. */
static ex_result read_integers(exi_alembic_reader *r, exi_ogawa_group geometry, const char *name, int **numbers,
                               size_t *count, ex_error *error) {
    exi_alembic_property p;
    exi_ogawa_stream first = {0}, other = {0};
    unsigned char *bytes = NULL, digest[2][EXI_ALEMBIC_DIGEST];
    const exi_ogawa *file = &r->archive.file;
    ex_result result = exi_alembic_property_find(&r->archive, geometry, name, &p, error);
    if (result == EX_OK && (!p.found || p.kind != EXI_ALEMBIC_ARRAY || p.sample_count == 0 || p.extent != 1 ||
                            (p.type != EXI_ALEMBIC_INT32 && p.type != EXI_ALEMBIC_UINT32)))
        result = exi_ogawa_damaged(file, "the mesh has no faces", error);
    if (result == EX_OK)
        result = exi_alembic_values(&r->archive, &p, 0, &first, error);
    for (uint32_t i = 1; result == EX_OK && i < exi_alembic_stored_count(&p); i++) {
        result = exi_alembic_values(&r->archive, &p, i, &other, error);
        memset(digest, 0, sizeof digest);
        for (int k = 0; k < 2 && result == EX_OK; k++) {
            const exi_ogawa_stream *s = k ? &other : &first;
            if (s->size > 0)
                result = exi_ogawa_read(file, (exi_ogawa_stream){s->at - EXI_ALEMBIC_DIGEST, EXI_ALEMBIC_DIGEST}, 0,
                                        digest[k], EXI_ALEMBIC_DIGEST, error);
        }
        if (result == EX_OK && (first.size != other.size || memcmp(digest[0], digest[1], EXI_ALEMBIC_DIGEST) != 0))
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "%s: the faces change from frame to frame: a cache needs one topology", file->path);
    }
    *count = (size_t)(first.size / 4);
    if (result == EX_OK && *count > INT_MAX / 2)
        result = exi_ogawa_damaged(file, "the mesh has too many faces", error);
    if (result == EX_OK)
        result = exi_ogawa_read_all(file, first, &bytes, error);
    if (result == EX_OK && !(*numbers = exi_array_allocate(*count, sizeof **numbers)))
        result = ex_error_memory(error, "the faces", *count * sizeof **numbers);
    for (size_t i = 0; result == EX_OK && i < *count; i++)
        (*numbers)[i] = (int)(int32_t)exi_ogawa_number(bytes + 4 * i, 4);
    free(bytes);
    return result;
}

/* Makes the faces from numbers of corners and their vertices; faces of fewer than three corners are left out. */
static ex_result make_faces(exi_alembic_reader *r, const int *counts, size_t face_count, const int *vertices,
                            size_t corner_count, ex_error *error) {
    ex_mesh *mesh = r->mesh;
    size_t from = 0;
    mesh->face_offsets = exi_array_allocate(face_count + 1, sizeof *mesh->face_offsets);
    mesh->corners = exi_array_allocate(corner_count, sizeof *mesh->corners);
    if (!mesh->face_offsets || !mesh->corners)
        return ex_error_memory(error, "the faces", (face_count + corner_count) * sizeof(int));
    mesh->face_offsets[0] = 0;
    for (size_t f = 0; f < face_count; f++) {
        const int size = counts[f];
        if (size < 0 || (size_t)size > corner_count - from)
            return exi_ogawa_damaged(&r->archive.file, "a face has more corners than there are", error);
        for (int i = 0; i < size; i++) {
            const int vertex = vertices[from + (size_t)(size - 1 - i)];
            if (vertex < 0 || vertex >= r->vertex_count)
                return exi_ogawa_damaged(&r->archive.file, "a face has a vertex that does not exist", error);
            if (size >= 3)
                mesh->corners[mesh->corner_count++] = vertex;
        }
        from += (size_t)size;
        if (size >= 3)
            mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
    }
    return EX_OK;
}

static ex_result read_mesh(exi_alembic_reader *r, exi_ogawa_group geometry, ex_error *error) {
    int *counts = NULL, *vertices = NULL;
    size_t face_count = 0, corner_count = 0;
    const size_t size = 3 * (size_t)r->vertex_count;
    r->mesh = ex_mesh_create();
    if (!r->mesh)
        return ex_error_memory(error, "the mesh", sizeof *r->mesh);
    ex_result result = read_integers(r, geometry, ".faceCounts", &counts, &face_count, error);
    if (result == EX_OK)
        result = read_integers(r, geometry, ".faceIndices", &vertices, &corner_count, error);
    if (result == EX_OK)
        result = make_faces(r, counts, face_count, vertices, corner_count, error);
    free(counts);
    free(vertices);
    float *positions = result == EX_OK ? exi_array_allocate(size, sizeof *positions) : NULL;
    r->mesh->positions = result == EX_OK ? exi_array_allocate(size, sizeof *r->mesh->positions) : NULL;
    if (result == EX_OK && (!positions || !r->mesh->positions))
        result = ex_error_memory(error, "the mesh", size * sizeof *r->mesh->positions);
    r->mesh->vertex_count = result == EX_OK ? r->vertex_count : 0;
    if (result == EX_OK)
        result = exi_alembic_reader_read(r, 0, positions, error);
    for (size_t i = 0; result == EX_OK && i < size; i++)
        r->mesh->positions[i] = (double)positions[i];
    free(positions);
    return result;
}

/* ---- opening ---- */

static uint32_t moving_samples(const exi_alembic_property *p) {
    return p->last > 0 ? p->sample_count : 1;
}

static ex_result choose_frames(exi_alembic_reader *r, ex_error *error) {
    r->paced = &r->points;
    for (int i = 0; i < r->xform_count; i++)
        if (moving_samples(&r->xforms[i].values) > moving_samples(r->paced))
            r->paced = &r->xforms[i].values;
    /* Samples may be one and the same, but a header that promises more frames than bytes is a trap. */
    if (moving_samples(r->paced) > INT_MAX || moving_samples(r->paced) > r->archive.file.size)
        return exi_ogawa_damaged(&r->archive.file, "it has too many frames", error);
    r->frame_count = (int)moving_samples(r->paced);
    return exi_alembic_check_times(&r->archive, &r->points, error);
}

static ex_result open_place(exi_alembic_reader *r, const exi_alembic_place *place, ex_error *error) {
    exi_ogawa_group properties = {0};
    exi_alembic_property geometry = {0};
    ex_result result = EX_OK;
    r->xforms = exi_array_allocate((size_t)place->xform_count, sizeof *r->xforms);
    if (!r->xforms)
        return ex_error_memory(error, "the transforms", sizeof *r->xforms);
    for (int i = 0; i < place->xform_count && result == EX_OK; i++) {
        result = exi_alembic_xform_open(&r->archive, place->xforms[i], &r->xforms[i], error);
        r->xform_count += result == EX_OK;
    }
    if (result == EX_OK)
        result = exi_ogawa_enter_child(&r->archive.file, place->mesh, 0, &properties, error);
    if (result == EX_OK)
        result = exi_alembic_property_find(&r->archive, properties, ".geom", &geometry, error);
    if (result == EX_OK && geometry.kind != EXI_ALEMBIC_COMPOUND)
        result = exi_ogawa_damaged(&r->archive.file, "the mesh has no points", error);
    if (result == EX_OK)
        result = exi_alembic_property_find(&r->archive, geometry.group, "P", &r->points, error);
    if (result == EX_OK)
        result = check_points(r, error);
    if (result == EX_OK)
        result = choose_frames(r, error);
    return result == EX_OK ? read_mesh(r, geometry.group, error) : result;
}

ex_result exi_alembic_reader_open(exi_alembic_reader *reader, const char *path, ex_error *error) {
    const char *name = NULL;
    const size_t length = exi_alembic_split(path, &name);
    exi_alembic_place *place = calloc(1, sizeof *place);
    *reader = (exi_alembic_reader){0};
    if (!place)
        return ex_error_memory(error, "the place of the mesh", sizeof *place);
    ex_result result = exi_alembic_open(&reader->archive, path, length, error);
    if (result == EX_OK)
        result = exi_alembic_find(&reader->archive, name, place, error);
    if (result == EX_OK)
        result = open_place(reader, place, error);
    free(place);
    if (result != EX_OK)
        exi_alembic_reader_close(reader);
    return result;
}

void exi_alembic_reader_close(exi_alembic_reader *reader) {
    exi_alembic_close(&reader->archive);
    ex_mesh_destroy(reader->mesh);
    free(reader->xforms);
    *reader = (exi_alembic_reader){0};
}
