/*
 * Subdivides a mesh with its tags: makes the faces of every level, and its vertices as weighted sums over the cage's.
 */
#include "author/mesh/subdivide/subdivide.h"
#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "runtime/base/result.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ex_subdivide_def ex_subdivide_def_default(void) {
    return (ex_subdivide_def){
        .scheme = EX_SCHEME_CATMULL_CLARK, .levels = 2, .limit = true, .boundary = EX_BOUNDARY_FROM_TAGS};
}

/* State while building: the present level, and the rows of all levels. */
typedef struct builder {
    const ex_mesh *mesh;
    const ex_subdivide_def *def;
    exi_subdivide_rules rules;
    exi_topology level;
    exi_rows rows[EX_SUBDIVIDE_LEVELS + 1];   /* level 1 at index 0 */
    exi_rows limits[EX_SUBDIVIDE_LEVELS + 1]; /* of levels 0, 1, …; only of the last unless all are wanted */
    exi_row_sum sum;
    ex_subdivision *out;
    ex_error *error;
} builder;

static ex_result no_memory(const builder *b) {
    return ex_error_set(b->error, EX_ERROR_MEMORY, "not enough memory to subdivide %d faces %d times",
                        b->mesh->face_count, b->def->levels);
}

/* ---- the cage ---- */

/* Copies the mesh's faces. */
static ex_result take_faces(const builder *b, exi_topology *t) {
    const ex_mesh *mesh = b->mesh;
    const bool textured = mesh->corner_texcoords && mesh->texcoord_count > 0;
    const size_t faces = (size_t)mesh->face_count, corners = faces > 0 ? (size_t)mesh->corner_count : 0;
    t->vertex_count = mesh->vertex_count;
    t->face_count = mesh->face_count;
    t->corner_count = (int)corners;
    t->face_offsets = exi_array_allocate(faces + 1, sizeof *t->face_offsets);
    t->face_sources = exi_array_allocate(faces, sizeof *t->face_sources);
    t->corners = exi_array_allocate(corners, sizeof *t->corners);
    if (textured) {
        t->texcoord_count = mesh->texcoord_count;
        t->texcoords = exi_array_copy(mesh->texcoords, (size_t)mesh->texcoord_count, 2 * sizeof *t->texcoords);
        t->corner_texcoords = exi_array_copy(mesh->corner_texcoords, corners, sizeof *t->corner_texcoords);
    }
    if (!t->face_offsets || !t->face_sources || !t->corners || (textured && (!t->texcoords || !t->corner_texcoords)))
        return no_memory(b);
    for (int f = 0; f < t->face_count; f++) {
        t->face_offsets[f] = mesh->face_offsets[f];
        t->face_sources[f] = f;
    }
    t->face_offsets[t->face_count] = t->corner_count;
    if (corners > 0)
        memcpy(t->corners, mesh->corners, corners * sizeof *t->corners);
    return EX_OK;
}

/* Replaces the faces by the triangles that they are cut into, given as corners. */
static bool replace_faces(exi_topology *t, const int *triangles, int count) {
    const size_t faces = (size_t)count;
    int *offsets = exi_array_allocate(faces + 1, sizeof *offsets),
        *sources = exi_array_allocate(faces, sizeof *sources);
    int *corners = exi_array_allocate(3 * faces, sizeof *corners);
    int *texcoords = t->corner_texcoords ? exi_array_allocate(3 * faces, sizeof *texcoords) : NULL;
    const bool good = offsets && sources && corners && (!t->corner_texcoords || texcoords);
    for (int f = 0; good && f < count; f++) {
        offsets[f] = 3 * f;
        sources[f] = t->face_sources[t->corner_faces[triangles[3 * (size_t)f]]];
    }
    for (size_t c = 0; good && c < 3 * faces; c++) {
        corners[c] = t->corners[triangles[c]];
        if (texcoords)
            texcoords[c] = t->corner_texcoords[triangles[c]];
    }
    if (!good) {
        free(offsets);
        free(sources);
        free(corners);
        free(texcoords);
        return false;
    }
    offsets[count] = 3 * count;
    free(t->face_offsets);
    free(t->face_sources);
    free(t->corners);
    free(t->corner_texcoords);
    t->face_offsets = offsets;
    t->face_sources = sources;
    t->corners = corners;
    t->corner_texcoords = texcoords;
    t->face_count = count;
    t->corner_count = 3 * count;
    return true;
}

/* Cuts faces of more than three corners for Loop, and connects the triangles. */
static ex_result cut_faces(const builder *b, exi_topology *t, unsigned char *pinched, exi_faults *faults) {
    if (t->corner_count == 3 * t->face_count)
        return EX_OK;
    const ex_mesh polygons = {.vertex_count = t->vertex_count,
                              .positions = b->mesh->positions,
                              .face_count = t->face_count,
                              .face_offsets = t->face_offsets,
                              .corner_count = t->corner_count,
                              .corners = t->corners};
    int *triangles = NULL, count = 0;
    ex_result result = ex_mesh_triangulate(&polygons, &triangles, &count, b->error);
    if (result == EX_OK && count > INT_MAX / 16)
        result = ex_error_set(b->error, EX_ERROR_LIMIT, "%d triangles are too many to subdivide", count);
    if (result == EX_OK && !replace_faces(t, triangles, count))
        result = no_memory(b);
    free(triangles);
    if (result != EX_OK)
        return result;
    exi_topology_disconnect(t);
    return exi_topology_connect(t, pinched, faults, b->error);
}

/* Connects the mesh's faces, mended if they are no surface, and for Loop cut into triangles. */
static ex_result connect_faces(builder *b, unsigned char *pinched) {
    exi_topology *t = &b->level;
    ex_subdivision_mends *mends = &b->out->mends;
    exi_faults faults = {0};
    ex_result result = exi_topology_connect(t, pinched, &faults, b->error);
    if (result == EX_OK && (faults.repeated_count > 0 || faults.edge_count > 0)) {
        result = exi_topology_mend(t, mends, b->error);
        if (result == EX_OK)
            result = exi_topology_connect(t, pinched, &faults, b->error);
    }
    if (result == EX_OK && b->rules.scheme == EX_SCHEME_LOOP)
        result = cut_faces(b, t, pinched, &faults);
    mends->sharp_count = faults.edge_count;
    memcpy(mends->sharp_edge, faults.edge_vertices, sizeof mends->sharp_edge);
    return result;
}

/* Makes everything smooth, and no face a hole. */
static ex_result smooth_all(const builder *b, exi_topology *t) {
    const size_t edges = (size_t)t->corner_count, vertices = (size_t)t->vertex_count;
    t->edge_sharpness = exi_array_allocate(edges, sizeof *t->edge_sharpness);
    t->vertex_sharpness = exi_array_allocate(vertices, sizeof *t->vertex_sharpness);
    t->holes = exi_array_allocate((size_t)t->face_count, 1);
    if (!t->edge_sharpness || !t->vertex_sharpness || !t->holes)
        return no_memory(b);
    for (size_t i = 0; i < edges; i++)
        t->edge_sharpness[i] = 0;
    for (size_t i = 0; i < vertices; i++)
        t->vertex_sharpness[i] = 0;
    memset(t->holes, 0, (size_t)t->face_count);
    return EX_OK;
}

/* Makes vertices between separate fans corners: the fans share no edge, so nothing continues the surface. */
static ex_result pin_pinched(builder *b, const unsigned char *pinched) {
    exi_topology *t = &b->level;
    for (int v = 0; v < t->vertex_count; v++)
        b->out->pinched_count += pinched[v];
    b->out->pinched = exi_array_allocate((size_t)b->out->pinched_count, sizeof *b->out->pinched);
    if (!b->out->pinched)
        return no_memory(b);
    for (int v = 0, count = 0; v < t->vertex_count; v++)
        if (pinched[v]) {
            b->out->pinched[count++] = v;
            t->vertex_sharpness[v] = EXI_SHARP_FOREVER;
        }
    return EX_OK;
}

static ex_result make_cage(builder *b) {
    unsigned char *pinched = exi_array_allocate((size_t)b->mesh->vertex_count, 1);
    ex_result result = pinched ? take_faces(b, &b->level) : no_memory(b);
    if (result == EX_OK)
        result = connect_faces(b, pinched);
    if (result == EX_OK)
        result = smooth_all(b, &b->level);
    if (result == EX_OK)
        result = exi_subdivide_read_tags(b->mesh, b->def->boundary, &b->level, &b->rules, b->error);
    if (result == EX_OK)
        result = pin_pinched(b, pinched);
    free(pinched);
    return result;
}

/* ---- levels ---- */

/* Copies the level's faces for the caller, without holes. */
static bool publish(const exi_topology *t, ex_refined_level *out) {
    int faces = 0, corners = 0;
    for (int f = 0; f < t->face_count; f++)
        if (!t->holes[f]) {
            faces++;
            corners += t->face_offsets[f + 1] - t->face_offsets[f];
        }
    out->vertex_count = t->vertex_count;
    out->face_offsets = exi_array_allocate((size_t)faces + 1, sizeof *out->face_offsets);
    out->corners = exi_array_allocate((size_t)corners, sizeof *out->corners);
    out->face_sources = exi_array_allocate((size_t)faces, sizeof *out->face_sources);
    if (t->corner_texcoords) {
        out->texcoords = exi_array_copy(t->texcoords, (size_t)t->texcoord_count, 2 * sizeof *out->texcoords);
        out->corner_texcoords = exi_array_allocate((size_t)corners, sizeof *out->corner_texcoords);
    }
    if (!out->face_offsets || !out->corners || !out->face_sources ||
        (t->corner_texcoords && (!out->texcoords || !out->corner_texcoords)))
        return false;
    out->texcoord_count = t->texcoord_count;
    for (int f = 0; f < t->face_count; f++) {
        if (t->holes[f])
            continue;
        out->face_offsets[out->face_count] = out->corner_count;
        out->face_sources[out->face_count++] = t->face_sources[f];
        for (int c = t->face_offsets[f]; c < t->face_offsets[f + 1]; c++) {
            if (t->corner_texcoords)
                out->corner_texcoords[out->corner_count] = t->corner_texcoords[c];
            out->corners[out->corner_count++] = t->corners[c];
        }
    }
    out->face_offsets[out->face_count] = out->corner_count;
    return true;
}

static ex_result rows_failed(const builder *b, const exi_rows *rows) {
    if (rows->too_many)
        return ex_error_set(b->error, EX_ERROR_LIMIT, "%d faces subdivided %d times make more than 2^31 weights",
                            b->mesh->face_count, b->def->levels);
    return no_memory(b);
}

/* Goes from level `to` - 1 to level `to`. */
static ex_result next_level(builder *b, int to) {
    exi_topology *t = &b->level, child = {0};
    exi_rows *rows = &b->rows[to - 1];
    const int vertex_count = t->vertex_count + t->edge_count + (b->rules.scheme == EX_SCHEME_LOOP ? 0 : t->face_count);
    double *edge_sharpness = exi_array_allocate((size_t)t->edge_count, 2 * sizeof *edge_sharpness);
    double *vertex_sharpness = exi_array_allocate((size_t)t->vertex_count, sizeof *vertex_sharpness);
    b->sum.source = to > 1 ? &b->rows[to - 2] : NULL;
    ex_result result = EX_OK;
    if (!edge_sharpness || !vertex_sharpness || !exi_rows_allocate(rows, vertex_count, false) ||
        !exi_subdivide_level(t, &b->rules, &b->sum, rows, edge_sharpness, vertex_sharpness))
        result = rows_failed(b, rows);
    if (result == EX_OK)
        result = ex_error_within(
            b->error, exi_topology_refine(t, b->rules.scheme, edge_sharpness, vertex_sharpness, &child, b->error),
            "at level %d of the subdivision", to);
    free(edge_sharpness);
    free(vertex_sharpness);
    exi_topology_free(t);
    *t = child;
    return result;
}

/* Makes the limit of a level. At level 0 of Catmull-Clark a vertex has the limit of its successor at level 1, where all
 * faces are quads. */
static ex_result make_limit(builder *b, int level) {
    const int vertex_count = b->level.vertex_count;
    exi_rows *limit = &b->limits[level];
    if (level == 0 && b->rules.scheme == EX_SCHEME_CATMULL_CLARK) {
        ex_result result = next_level(b, ++level);
        if (result != EX_OK)
            return result;
    }
    b->sum.source = level > 0 ? &b->rows[level - 1] : NULL;
    if (!exi_rows_allocate(limit, vertex_count, true) ||
        !exi_subdivide_limit(&b->level, &b->rules, vertex_count, &b->sum, limit))
        return rows_failed(b, limit);
    return EX_OK;
}

static ex_result make_stencils(builder *b) {
    ex_stencil_rows rows[EX_SUBDIVIDE_LEVELS + 1];
    const bool all = b->def->limit && b->def->all;
    for (int i = 0; i <= b->def->levels; i++) {
        const bool own = i < b->def->levels;
        const exi_rows *from = own && !all ? &b->rows[i] : &b->limits[own ? i + 1 : i];
        rows[i] = (ex_stencil_rows){.vertex_count = from->vertex_count,
                                    .offsets = from->offsets,
                                    .indices = from->indices,
                                    .weights = from->weights,
                                    .tangents = from->tangents};
    }
    ex_stencils_def def = {.control_count = b->mesh->vertex_count,
                           .level_count = b->def->levels,
                           .levels = rows,
                           .limit = b->def->limit && !all ? &rows[b->def->levels] : NULL};
    return ex_stencils_create(&def, NULL, &b->out->stencils, b->error);
}

/* Refuses what is too large for a rig, before any work; and says how many levels would fit. */
static ex_result check_size(const builder *b) {
    ex_subdivide_def fewer = *b->def;
    exi_subdivide_size size, smaller;
    if (!exi_subdivide_measure(b->mesh, b->def, &size))
        return no_memory(b);
    if (size.bytes <= EX_SUBDIVIDE_BYTES)
        return EX_OK;
    do {
        fewer.levels--;
        if (!exi_subdivide_measure(b->mesh, &fewer, &smaller))
            return no_memory(b);
    } while (fewer.levels > 0 && smaller.bytes > EX_SUBDIVIDE_BYTES);
    char advice[64] = "use a mesh of smaller faces";
    if (fewer.levels > 0)
        snprintf(advice, sizeof advice, "at most %d level%s fit%s", fewer.levels, fewer.levels == 1 ? "" : "s",
                 fewer.levels == 1 ? "s" : "");
    return ex_error_set(b->error, EX_ERROR_LIMIT,
                        "%d face%s subdivided %d times would have about %.2g vertices and take about %.2g GB; at most "
                        "%.2g GB are allowed: %s",
                        b->mesh->face_count, b->mesh->face_count == 1 ? "" : "s", b->def->levels, size.vertices,
                        size.bytes / 1e9, EX_SUBDIVIDE_BYTES / 1e9, advice);
}

static ex_result build(builder *b) {
    const int levels = b->def->levels;
    b->out->levels = calloc((size_t)levels + 1, sizeof *b->out->levels);
    if (!b->out->levels || !exi_row_sum_allocate(&b->sum, b->mesh->vertex_count))
        return no_memory(b);
    b->out->level_count = levels;
    ex_result result = check_size(b);
    if (result == EX_OK)
        result = make_cage(b);
    for (int level = 0; level <= levels && result == EX_OK; level++) {
        if (level > 0)
            result = next_level(b, level);
        if (result == EX_OK && !publish(&b->level, &b->out->levels[level]))
            result = no_memory(b);
        if (result == EX_OK && b->def->limit && (level == levels || (b->def->all && level > 0)))
            result = make_limit(b, level);
    }
    exi_topology_free(&b->level);
    exi_row_sum_free(&b->sum);
    return result == EX_OK ? make_stencils(b) : result;
}

ex_result ex_mesh_subdivide(const ex_mesh *mesh, const ex_subdivide_def *def, ex_subdivision **subdivision,
                            ex_error *error) {
    if (!mesh || !def || !subdivision) {
        exi_misuse(__func__, "no mesh or definition, or no pointer for the subdivision");
        return EX_ERROR_ARGUMENT;
    }
    *subdivision = NULL;
    if ((unsigned)def->scheme >= EX_SCHEME_COUNT || (unsigned)def->boundary >= EX_BOUNDARY_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the scheme of subdivision or the kind of boundary is unknown");
    if (def->levels < 0 || def->levels > EX_SUBDIVIDE_LEVELS)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%d levels of subdivision were asked for; 0 to %d are allowed",
                            def->levels, EX_SUBDIVIDE_LEVELS);
    if (def->all && (def->levels == 0 || !def->limit))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there are no levels to put on the limit surface");
    ex_result result = exi_mesh_check_faces(mesh, error);
    if (result != EX_OK)
        return result;
    builder *b = calloc(1, sizeof *b);
    ex_subdivision *out = calloc(1, sizeof *out);
    if (!b || !out) {
        free(b);
        free(out);
        return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory to subdivide %d faces", mesh->face_count);
    }
    *b = (builder){.mesh = mesh, .def = def, .rules = {.scheme = def->scheme}, .out = out, .error = error};
    result = build(b);
    exi_topology_free(&b->level);
    exi_row_sum_free(&b->sum);
    for (int i = 0; i <= EX_SUBDIVIDE_LEVELS; i++) {
        exi_rows_free(&b->rows[i]);
        exi_rows_free(&b->limits[i]);
    }
    free(b);
    if (result == EX_OK)
        *subdivision = out;
    else
        ex_subdivision_destroy(out);
    return result;
}

void ex_subdivision_destroy(ex_subdivision *subdivision) {
    if (!subdivision)
        return;
    for (int i = 0; subdivision->levels && i <= subdivision->level_count; i++) {
        ex_refined_level *level = &subdivision->levels[i];
        free(level->face_offsets);
        free(level->corners);
        free(level->face_sources);
        free(level->texcoords);
        free(level->corner_texcoords);
    }
    free(subdivision->levels);
    free(subdivision->pinched);
    ex_stencils_destroy(subdivision->stencils);
    free(subdivision);
}
