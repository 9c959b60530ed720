/*
 * Writes an Alembic file from front to back: the header, the frames, then all that refers to them. The sizes of frames
 * are known before the first is written, so are all offsets, and nothing is written twice.
 *
 *   NAME        a transform without operations, as programs expect a mesh to be in one
 *   NAMEShape   the mesh: points and bounds at every frame, faces once
 */
#include "author/formats/cache/alembic/alembic.h"

#include "author/base/array.h"
#include "author/base/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1024, BOUNDS = 6, NAME_MOST = 200, SAMPLINGS = 2 };

#define LIBRARY_VERSION 10803 /* of the Alembic library whose layout this is: 1.8.3 */
#define PLAIN_PERIOD    (1 / 24.0)

/* Metadata strings; headers refer to them by number, from 1. */
enum { NONE, XFORM, XFORM_PROPERTY, MESH, MESH_PROPERTY, BOX, POINT, STRING_COUNT };

static const char *const strings[STRING_COUNT] = {
    [NONE] = "",
    [XFORM] = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform",
    [XFORM_PROPERTY] = "schema=AbcGeom_Xform_v3",
    [MESH] = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_PolyMesh_v1:.geom",
    [MESH_PROPERTY] = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1",
    [BOX] = "interpretation=box",
    [POINT] = "geoScope=vtx;interpretation=point",
};

/* ---- the tail ---- */

/* Bytes that grow, at an offset of the file. */
typedef struct text {
    unsigned char *bytes;
    size_t size, capacity;
    uint64_t base;
    size_t hash_places[EXI_ALEMBIC_OBJECTS]; /* of the objects added so far */
    int object_count;
    bool failed; /* true without memory */
} text;

static void put(text *t, const void *bytes, size_t size) {
    unsigned char *grown = t->failed ? NULL : exi_array_grow(t->bytes, &t->capacity, t->size + size, 1);
    t->failed = !grown;
    if (t->failed)
        return;
    t->bytes = grown;
    if (size > 0)
        memcpy(grown + t->size, bytes, size);
    t->size += size;
}

static void put_number(text *t, uint64_t number, int size) {
    unsigned char bytes[8];
    exi_ogawa_put(bytes, number, size);
    put(t, bytes, (size_t)size);
}

static void put_double(text *t, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_number(t, bits, 8);
}

/* Adds a stream and returns the reference to it. The same for a group. */
static uint64_t put_stream(text *t, const void *bytes, size_t size) {
    const uint64_t at = t->base + t->size;
    put_number(t, size, 8);
    put(t, bytes, size);
    return at | EXI_OGAWA_STREAM;
}

static uint64_t put_group(text *t, const uint64_t *references, size_t count) {
    const uint64_t at = t->base + t->size;
    put_number(t, count, 8);
    for (size_t i = 0; i < count; i++)
        put_number(t, references[i], 8);
    return at;
}

/* Adds a stream made of another text, which it releases. */
static uint64_t put_text(text *t, text *from) {
    const uint64_t reference = put_stream(t, from->bytes, from->size);
    t->failed = t->failed || from->failed;
    free(from->bytes);
    *from = (text){0};
    return reference;
}

/* A digest of a sample. Programs find equal samples by it and do not compute it again, so any hash does. */
static void digest_of(const void *bytes, size_t size, unsigned char digest[EXI_ALEMBIC_DIGEST]) {
    const uint64_t hash = exi_bytes_hash(bytes, size);
    exi_ogawa_put(digest, hash, 8);
    exi_ogawa_put(digest + 8, (hash ^ size) * 0x9E3779B97F4A7C15u, 8);
}

static void put_header(text *t, const char *name, int metadata, uint32_t bits, int frame_count, int sampling) {
    const size_t length = strlen(name);
    const uint32_t most = (uint32_t)frame_count > length ? (uint32_t)frame_count : (uint32_t)length;
    const int hint = most < 256 ? 0 : most < 65536 ? 1 : 2, size = 1 << hint;
    const bool compound = (bits & 3) == EXI_ALEMBIC_COMPOUND;
    if (sampling > 0)
        bits |= EXI_ALEMBIC_HAS_TIMES;
    bits |= (uint32_t)hint << EXI_ALEMBIC_SIZE_SHIFT | (uint32_t)metadata << EXI_ALEMBIC_METADATA_SHIFT;
    put_number(t, bits, 4);
    if (!compound)
        put_number(t, (uint32_t)frame_count, size);
    if (sampling > 0)
        put_number(t, (uint32_t)sampling, size);
    put_number(t, length, size);
    put(t, name, length);
}

static uint32_t type_bits(int kind, int type, int extent) {
    return (uint32_t)kind | (uint32_t)type << EXI_ALEMBIC_TYPE_SHIFT | (uint32_t)extent << EXI_ALEMBIC_EXTENT_SHIFT |
           EXI_ALEMBIC_SAME_SIZE;
}

/* ---- parts ---- */

static uint64_t frame_size(int vertex_count) {
    return 8 + EXI_ALEMBIC_DIGEST + 12 * (uint64_t)vertex_count + 8 + EXI_ALEMBIC_DIGEST + 8 * BOUNDS;
}

/* Adds an array that does not change. */
static uint64_t put_integers(text *t, const int *numbers, size_t count) {
    unsigned char digest[EXI_ALEMBIC_DIGEST];
    text values = {0};
    digest_of(numbers, count * sizeof *numbers, digest);
    put(&values, digest, sizeof digest);
    for (size_t i = 0; i < count; i++)
        put_number(&values, (uint32_t)numbers[i], 4);
    return put_group(t, (const uint64_t[]){put_text(t, &values), EXI_OGAWA_STREAM}, 2);
}

/* Adds the references to all frames: points with their dimensions, which are left out, or bounds. */
static uint64_t put_frames(text *t, int vertex_count, int frame_count, bool points) {
    const uint64_t at = t->base + t->size,
                   bounds = 8 + EXI_ALEMBIC_DIGEST + 12 * (uint64_t)vertex_count; /* offset in a frame */
    put_number(t, (points ? 2 : 1) * (uint64_t)frame_count, 8);
    for (int f = 0; f < frame_count; f++) {
        const uint64_t frame = EXI_OGAWA_HEADER + (uint64_t)f * frame_size(vertex_count);
        put_number(t, (points ? frame : frame + bounds) | EXI_OGAWA_STREAM, 8);
        if (points)
            put_number(t, EXI_OGAWA_STREAM, 8);
    }
    return at;
}

static uint64_t put_geometry(text *t, const ex_mesh *mesh, int frame_count) {
    const size_t corner_count = (size_t)mesh->corner_count, face_count = (size_t)mesh->face_count;
    const uint32_t same = EXI_ALEMBIC_SAME_SAMPLES, moving = frame_count > 1 ? 0 : same, array = EXI_ALEMBIC_ARRAY;
    int *turned = exi_array_allocate(corner_count, sizeof *turned),
        *counts = exi_array_allocate(face_count, sizeof *counts);
    uint64_t parts[5] = {0};
    text headers = {0};
    t->failed = t->failed || !turned || !counts;
    for (size_t f = 0; f < face_count && !t->failed; f++) {
        const int from = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        counts[f] = end - from;
        for (int i = from; i < end; i++)
            turned[i] = mesh->corners[end - 1 - (i - from)];
    }
    if (!t->failed) {
        parts[0] = put_frames(t, mesh->vertex_count, frame_count, false);
        parts[1] = put_frames(t, mesh->vertex_count, frame_count, true);
        parts[2] = put_integers(t, turned, corner_count);
        parts[3] = put_integers(t, counts, face_count);
    }
    free(turned);
    free(counts);
    put_header(&headers, ".selfBnds", BOX, type_bits(EXI_ALEMBIC_SCALAR, EXI_ALEMBIC_DOUBLE, BOUNDS) | moving,
               frame_count, 1);
    put_header(&headers, "P", POINT, type_bits((int)array | (mesh->vertex_count == 1), EXI_ALEMBIC_FLOAT, 3) | moving,
               frame_count, 1);
    put_header(&headers, ".faceIndices", NONE, type_bits((int)array, EXI_ALEMBIC_INT32, 1) | same, frame_count, 1);
    put_header(&headers, ".faceCounts", NONE, type_bits((int)array | (face_count == 1), EXI_ALEMBIC_INT32, 1) | same,
               frame_count, 1);
    parts[4] = put_text(t, &headers);
    return put_group(t, parts, 5);
}

/* Adds the properties of an object: one compound. */
static uint64_t put_properties(text *t, uint64_t compound, const char *name, int metadata) {
    text headers = {0};
    put_header(&headers, name, metadata, EXI_ALEMBIC_COMPOUND, 0, 0);
    return put_group(t, (const uint64_t[]){compound, put_text(t, &headers)}, 2);
}

/* Adds an object with one child, or with none if name is NULL. */
static uint64_t put_object(text *t, uint64_t properties, uint64_t child, const char *name, const char *ending,
                           int metadata) {
    static const unsigned char hashes[EXI_ALEMBIC_HASHES];
    text headers = {0};
    if (name) {
        put_number(&headers, strlen(name) + strlen(ending), 4);
        put(&headers, name, strlen(name));
        put(&headers, ending, strlen(ending));
        put_number(&headers, (uint64_t)metadata, 1);
    }
    put(&headers, hashes, sizeof hashes);
    const uint64_t reference = put_text(t, &headers);
    t->hash_places[t->object_count++] = t->size - sizeof hashes;
    return name ? put_group(t, (const uint64_t[]){properties, child, reference}, 3)
                : put_group(t, (const uint64_t[]){properties, reference}, 2);
}

static uint64_t put_xform_properties(text *t) {
    unsigned char sample[EXI_ALEMBIC_DIGEST + 1] = {[EXI_ALEMBIC_DIGEST] = 1};
    text headers = {0};
    digest_of(sample + EXI_ALEMBIC_DIGEST, 1, sample);
    const uint64_t stream = put_stream(t, sample, sizeof sample), inherits = put_group(t, &stream, 1);
    put_header(&headers, ".inherits", NONE,
               type_bits(EXI_ALEMBIC_SCALAR, EXI_ALEMBIC_BOOL, 1) | EXI_ALEMBIC_SAME_SAMPLES, 1, 0);
    const uint64_t compound = put_group(t, (const uint64_t[]){inherits, put_text(t, &headers)}, 2);
    return put_properties(t, compound, ".xform", XFORM_PROPERTY);
}

/* True if frames are at equal distances, to a thousandth of one: caches that store times as floats round them. */
static bool are_even(const double *times, int count) {
    const double step = count > 1 ? (times[count - 1] - times[0]) / (count - 1) : 1;
    bool even = true;
    for (int i = 0; i < count && even; i++)
        even = fabs(times[i] - (times[0] + i * step)) <= 1e-3 * step;
    return even;
}

static uint64_t put_samplings(text *t, const double *times, int count) {
    const bool even = are_even(times, count);
    text bytes = {0};
    put_number(&bytes, 1, 4); /* for what does not change: one sample, at 0 */
    put_double(&bytes, 1);
    put_number(&bytes, 1, 4);
    put_double(&bytes, 0);
    put_number(&bytes, (uint32_t)count, 4);
    put_double(&bytes, !even       ? EXI_ALEMBIC_ACYCLIC
                       : count > 1 ? (times[count - 1] - times[0]) / (count - 1)
                                   : PLAIN_PERIOD);
    put_number(&bytes, even ? 1 : (uint32_t)count, 4);
    for (int i = 0; i < (even ? 1 : count); i++)
        put_double(&bytes, times[i]);
    return put_text(t, &bytes);
}

static uint64_t put_strings(text *t) {
    text bytes = {0};
    for (int i = 1; i < STRING_COUNT; i++) {
        put_number(&bytes, strlen(strings[i]), 1);
        put(&bytes, strings[i], strlen(strings[i]));
    }
    return put_text(t, &bytes);
}

/* Adds everything and returns the offset of the root group. */
static uint64_t put_archive(text *t, const char *name, const ex_mesh *mesh, const double *times, int frame_count) {
    static const char metadata[] = "_ai_Application=Exemplar";
    unsigned char version[4];
    const uint64_t geometry = put_geometry(t, mesh, frame_count);
    const uint64_t shape = put_object(t, put_properties(t, geometry, ".geom", MESH_PROPERTY), 0, NULL, "", NONE);
    const uint64_t xform = put_object(t, put_xform_properties(t), shape, name, "Shape", MESH);
    uint64_t root[6];
    exi_ogawa_put(version, 0, 4);
    root[0] = put_stream(t, version, sizeof version);
    exi_ogawa_put(version, LIBRARY_VERSION, 4);
    root[1] = put_stream(t, version, sizeof version);
    root[2] = put_object(t, 0, xform, name, "", XFORM);
    root[3] = put_stream(t, metadata, sizeof metadata - 1);
    root[4] = put_samplings(t, times, frame_count);
    root[5] = put_strings(t);
    return put_group(t, root, 6);
}

/* ---- the writer ---- */

/* Writes the name of the file without folder and ending. */
static void name_of(const char *path, char name[NAME_MOST + 1]) {
    const char *slash = strrchr(path, '/'), *start = slash ? slash + 1 : path;
    size_t length = strlen(start);
    length = length > 4 ? length - 4 : 0;
    length = length < NAME_MOST ? length : NAME_MOST;
    memcpy(name, start, length);
    name[length] = '\0';
    if (length == 0)
        memcpy(name, "mesh", sizeof "mesh");
}

ex_result exi_alembic_writer_open(exi_alembic_writer *writer, ex_file_writer *file, const char *path, int frame_count,
                                  const double *times, const ex_mesh *mesh, ex_error *error) {
    unsigned char header[EXI_OGAWA_HEADER] = {'O', 'g', 'a', 'w', 'a', 0xFF, 0, 1};
    char name[NAME_MOST + 1];
    text tail = {.base = EXI_OGAWA_HEADER + (uint64_t)frame_count * frame_size(mesh->vertex_count)};
    name_of(path, name);
    const uint64_t root = put_archive(&tail, name, mesh, times, frame_count);
    *writer = (exi_alembic_writer){
        .file = file, .tail = tail.bytes, .tail_size = tail.size, .vertex_count = mesh->vertex_count};
    memcpy(writer->hash_places, tail.hash_places, sizeof tail.hash_places);
    writer->hash = exi_bytes_hash(mesh->corners, (size_t)mesh->corner_count * sizeof *mesh->corners);
    if (tail.failed) {
        exi_alembic_writer_finish(writer, false);
        return ex_error_memory(error, "the Alembic file", tail.size);
    }
    exi_ogawa_put(header + 8, root, 8);
    ex_file_write(file, header, sizeof header);
    return EX_OK;
}

static void write_start(exi_alembic_writer *w, const void *values, size_t own_size, uint64_t size) {
    unsigned char start[8 + EXI_ALEMBIC_DIGEST];
    exi_ogawa_put(start, EXI_ALEMBIC_DIGEST + size, 8);
    digest_of(values, own_size, start + 8);
    w->hash = exi_mix(w->hash, exi_bytes_hash(start + 8, EXI_ALEMBIC_DIGEST));
    ex_file_write(w->file, start, sizeof start);
}

void exi_alembic_writer_add(exi_alembic_writer *writer, const float *positions) {
    const size_t count = 3 * (size_t)writer->vertex_count;
    double box[BOUNDS];
    unsigned char bytes[PIECE][4], bounds[BOUNDS][8];
    for (int j = 0; j < BOUNDS; j++)
        box[j] = (double)positions[j % 3];
    write_start(writer, positions, count * sizeof *positions, 4 * (uint64_t)count);
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t size = count - at < PIECE ? count - at : PIECE;
        for (size_t i = 0; i < size; i++) {
            const size_t axis = (at + i) % 3;
            const double value = (double)positions[at + i];
            uint32_t bits;
            memcpy(&bits, &positions[at + i], sizeof bits);
            exi_ogawa_put(bytes[i], bits, 4);
            box[axis] = value < box[axis] ? value : box[axis];
            box[3 + axis] = value > box[3 + axis] ? value : box[3 + axis];
        }
        ex_file_write(writer->file, bytes, 4 * size);
    }
    for (int j = 0; j < BOUNDS; j++) {
        uint64_t bits;
        memcpy(&bits, &box[j], sizeof bits);
        exi_ogawa_put(bounds[j], bits, 8);
    }
    write_start(writer, box, sizeof box, sizeof bounds);
    ex_file_write(writer->file, bounds, sizeof bounds);
}

void exi_alembic_writer_finish(exi_alembic_writer *writer, bool keep) {
    /* Programs may take objects with equal hashes for equal ones: files differ by theirs. */
    for (int i = 0; keep && writer->tail && i < EXI_ALEMBIC_OBJECTS; i++)
        for (int j = 0; j < EXI_ALEMBIC_HASHES; j += 8)
            exi_ogawa_put(writer->tail + writer->hash_places[i] + j,
                          exi_mix(writer->hash, (uint64_t)(EXI_ALEMBIC_HASHES * i + j)), 8);
    if (keep && writer->tail)
        ex_file_write(writer->file, writer->tail, writer->tail_size);
    free(writer->tail);
    *writer = (exi_alembic_writer){0};
}
