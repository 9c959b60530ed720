/*
 * Sharpness, holes and boundaries of a cage from its tags, as OpenSubdiv and RenderMan read them:
 *
 *     t crease n/m/0 v1 … vn s…          sharpness of the edges along a chain of vertices: one for all, or one each
 *     t corner n/m/0 v1 … vn s…          sharpness of vertices: one for all, or one each
 *     t hole n/0/0 f1 … fn               faces that are refined but left out of the result
 *     t interpolateboundary 1/0/0 mode   0: none, 1: edges and corners, 2: edges
 *     t creasemethod 0/0/1 name          normal or chaikin
 *     t smoothtriangles …                Catmull-Clark's own weights next to triangles
 *
 * All numbers count from 0. A later tag overrides earlier ones on its edge or vertex.
 */
#include "author/mesh/subdivide/subdivide.h"
#include "runtime/base/result.h"

#include <string.h>

/* Returns the edge between two vertices, or -1. Searches the edges, sorted by lower and higher end. */
static int find_edge(const exi_topology *t, int a, int b) {
    const int low = a < b ? a : b, high = a < b ? b : a;
    int begin = 0, end = t->edge_count;
    while (begin < end) {
        int middle = begin + (end - begin) / 2, c = t->edge_corners[middle];
        int from = t->corners[c], to = t->corners[exi_next(t, c)];
        int edge_low = from < to ? from : to, edge_high = from < to ? to : from;
        if (edge_low == low && edge_high == high)
            return middle;
        if (edge_low < low || (edge_low == low && edge_high < high))
            begin = middle + 1;
        else
            end = middle;
    }
    return -1;
}

static ex_result check_numbers(const ex_tag *tag, int count, const char *what, ex_error *error) {
    for (int i = 0; i < tag->int_count; i++)
        if (tag->ints[i] < 0 || tag->ints[i] >= count)
            return ex_error_set(error, EX_ERROR_DATA, "the tag '%s' names %s %d, but there are %d (counting from 0)",
                                tag->name, what, tag->ints[i], count);
    return EX_OK;
}

/* Returns the i-th of `count` sharpnesses: one for all, or one each. */
static ex_result sharpness_at(const ex_tag *tag, int i, int count, double *sharpness, ex_error *error) {
    if (tag->float_count != 1 && tag->float_count != count)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the tag '%s' has %d sharpness values for %d places: give one for all, or one for each",
                            tag->name, tag->float_count, count);
    *sharpness = tag->floats[tag->float_count == 1 ? 0 : i];
    if (*sharpness != *sharpness)
        return ex_error_set(error, EX_ERROR_DATA, "a sharpness of the tag '%s' is not a number", tag->name);
    if (*sharpness < 0)
        *sharpness = 0;
    return EX_OK;
}

static ex_result read_crease(const ex_tag *tag, exi_topology *t, ex_error *error) {
    ex_result result = check_numbers(tag, t->vertex_count, "vertex", error);
    for (int i = 0; i + 1 < tag->int_count && result == EX_OK; i++) {
        int edge = find_edge(t, tag->ints[i], tag->ints[i + 1]);
        if (edge < 0)
            return ex_error_set(
                error, EX_ERROR_DATA,
                "the tag 'crease' runs from vertex %d to vertex %d (counting from 0), but no face has that "
                "edge",
                tag->ints[i], tag->ints[i + 1]);
        result = sharpness_at(tag, i, tag->int_count - 1, &t->edge_sharpness[edge], error);
    }
    return result;
}

static ex_result read_corner(const ex_tag *tag, exi_topology *t, ex_error *error) {
    ex_result result = check_numbers(tag, t->vertex_count, "vertex", error);
    for (int i = 0; i < tag->int_count && result == EX_OK; i++)
        result = sharpness_at(tag, i, tag->int_count, &t->vertex_sharpness[tag->ints[i]], error);
    return result;
}

/* The tag names faces of the mesh; for Loop, several faces of the cage come from the same one. */
static ex_result read_hole(const ex_tag *tag, const ex_mesh *mesh, exi_topology *t, ex_error *error) {
    ex_result result = check_numbers(tag, mesh->face_count, "face", error);
    for (int i = 0; i < tag->int_count && result == EX_OK; i++) {
        int begin = 0, end = t->face_count; /* face_sources is ascending */
        while (begin < end) {
            int middle = begin + (end - begin) / 2;
            if (t->face_sources[middle] < tag->ints[i])
                begin = middle + 1;
            else
                end = middle;
        }
        for (int f = begin; f < t->face_count && t->face_sources[f] == tag->ints[i]; f++)
            t->holes[f] = 1;
    }
    return result;
}

static ex_result read_boundary(const ex_tag *tag, ex_boundary *boundary, ex_error *error) {
    static const ex_boundary modes[] = {EX_BOUNDARY_NONE, EX_BOUNDARY_EDGES_AND_CORNERS, EX_BOUNDARY_EDGES};
    if (tag->int_count < 1 || tag->ints[0] < 0 || tag->ints[0] > 2)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the tag 'interpolateboundary' needs a mode: 0 (none), 1 (edges and corners) or 2 (edges)");
    *boundary = modes[tag->ints[0]];
    return EX_OK;
}

static ex_result read_method(const ex_tag *tag, bool *chaikin, ex_error *error) {
    const char *name = tag->string_count > 0 ? tag->strings[0] : "";
    *chaikin = strcmp(name, "chaikin") == 0;
    if (!*chaikin && strcmp(name, "normal") != 0 && strcmp(name, "uniform") != 0)
        return ex_error_set(error, EX_ERROR_DATA, "the tag 'creasemethod' is '%s'; it must be normal or chaikin", name);
    return EX_OK;
}

static ex_result read_tag(const ex_tag *tag, const ex_mesh *mesh, ex_boundary *boundary, exi_topology *t,
                          exi_subdivide_rules *rules, ex_error *error) {
    if (strcmp(tag->name, "crease") == 0)
        return read_crease(tag, t, error);
    if (strcmp(tag->name, "corner") == 0)
        return read_corner(tag, t, error);
    if (strcmp(tag->name, "hole") == 0)
        return read_hole(tag, mesh, t, error);
    if (strcmp(tag->name, "interpolateboundary") == 0)
        return read_boundary(tag, boundary, error);
    if (strcmp(tag->name, "creasemethod") == 0)
        return read_method(tag, &rules->chaikin, error);
    if (strcmp(tag->name, "smoothtriangles") == 0)
        rules->smooth_triangles = true;
    return EX_OK;
}

/* Leaves out every face with a vertex on a boundary that no tag makes sharp. */
static void leave_out_boundary(exi_topology *t) {
    for (int f = 0; f < t->face_count; f++)
        for (int c = t->face_offsets[f]; c < t->face_offsets[f + 1] && !t->holes[f]; c++) {
            int begin = t->vertex_corners[t->corners[c]];
            t->holes[f] = t->opposites[begin] < 0 && t->edge_sharpness[t->corner_edges[begin]] < EXI_SHARP_FOREVER;
        }
}

static void sharpen_boundary(exi_topology *t, ex_boundary boundary) {
    for (int c = 0; c < t->corner_count; c++) {
        int previous = exi_previous(t, c);
        if (t->opposites[c] < 0)
            t->edge_sharpness[t->corner_edges[c]] = EXI_SHARP_FOREVER;
        if (boundary == EX_BOUNDARY_EDGES_AND_CORNERS && t->opposites[c] < 0 && t->opposites[previous] < 0)
            t->vertex_sharpness[t->corners[c]] = EXI_SHARP_FOREVER;
    }
}

ex_result exi_subdivide_read_tags(const ex_mesh *mesh, ex_boundary boundary, exi_topology *t,
                                  exi_subdivide_rules *rules, ex_error *error) {
    ex_boundary tagged = EX_BOUNDARY_EDGES;
    ex_result result = EX_OK;
    for (int i = 0; i < mesh->tag_count && result == EX_OK; i++)
        result = read_tag(&mesh->tags[i], mesh, &tagged, t, rules, error);
    if (result != EX_OK)
        return result;
    if (boundary == EX_BOUNDARY_FROM_TAGS)
        boundary = tagged;
    if (boundary == EX_BOUNDARY_NONE)
        leave_out_boundary(t);
    sharpen_boundary(t, boundary);
    return EX_OK;
}
