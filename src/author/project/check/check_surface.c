/*
 * Checks the requirements of subdivision on the mesh. Creases lie along edges, which are found by sorting half-edges by
 * their ends, and so are edges that texture seams cut in two. Then one level is made, which tells how many faces it had
 * to mend, and vertices where separate fans of faces meet.
 */
#include "author/base/array.h"
#include "author/mesh/half_edges.h"
#include "author/mesh/subdivide/subdivide.h"
#include "author/project/check/check.h"
#include "author/project/sculpt/reorder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More faces than this at the last level are probably not intended. */
static const double most_faces = 5e7;

/* Bytes that large faces and crowded vertices may take without a warning. */
static const double most_crowded = 2e7;

/* Returns the sorted half-edges [corner_count]; NULL without memory. */
static exi_half_edge *sort_edges(const ex_mesh *mesh) {
    exi_half_edge *edges = exi_array_allocate((size_t)mesh->corner_count, sizeof *edges);
    for (int f = 0; edges && f < mesh->face_count; f++) {
        const int begin = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        for (int c = begin; c < end; c++)
            edges[c] = exi_half_edge_of(mesh->corners[c], mesh->corners[c + 1 < end ? c + 1 : begin], f);
    }
    if (edges)
        exi_half_edges_sort(edges, mesh->corner_count);
    return edges;
}

static bool is_edge(const exi_half_edge *edges, int count, int v, int w) {
    const int low = v < w ? v : w, high = v < w ? w : v;
    int begin = 0, end = count;
    while (begin < end) {
        const int middle = begin + (end - begin) / 2;
        if (edges[middle].low < low || (edges[middle].low == low && edges[middle].high < high))
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < count && edges[begin].low == low && edges[begin].high == high;
}

/* Counts edges with one face that coincide with another such edge: exporters that write a vertex for each texture
 * coordinate cut the surface there. */
static void check_seams(exi_checker *c, const exi_half_edge *edges, int count) {
    int place_count, boundary = 0, cut = 0, first = 0;
    int *places = exi_vertex_places(c->mesh, &place_count, &c->failed);
    exi_half_edge *open = exi_array_allocate((size_t)count, sizeof *open);
    c->failed = c->failed || !open;
    for (int i = 0, end; places && open && i < count; i = end) {
        end = exi_half_edges_end(edges, i, count);
        const int v = places[edges[i].low], w = places[edges[i].high];
        if (end - i == 1 && v != w)
            open[boundary++] = exi_half_edge_of(v, w, i);
    }
    exi_half_edges_sort(open, boundary);
    for (int i = 0; i + 1 < boundary; i++)
        if (open[i].low == open[i + 1].low && open[i].high == open[i + 1].high)
            first = cut++ == 0 ? open[i].side : first;
    if (cut > 0 && c->view->subdivision.scheme != EX_SCHEME_BILINEAR)
        exi_check_add(c, EX_SEVERITY_WARNING, "seam", "mesh", cut,
                      "%d %s cut in two, such as the one between vertices %d and %d (counting from 0): subdividing "
                      "leaves a crease there; merge vertices at the same position before the export, and let only "
                      "texture coordinates differ",
                      cut, cut == 1 ? "edge is" : "edges are", edges[first].low, edges[first].high);
    free(open);
    free(places);
}

static void check_creases(exi_checker *c, const exi_half_edge *edges) {
    const ex_mesh *mesh = c->mesh;
    for (int t = 0; t < mesh->tag_count; t++) {
        const ex_tag *tag = &mesh->tags[t];
        for (int i = 0; strcmp(tag->name, "crease") == 0 && i + 1 < tag->int_count; i++)
            if (!is_edge(edges, mesh->corner_count, tag->ints[i], tag->ints[i + 1]))
                exi_check_add(c, EX_SEVERITY_ERROR, "crease", "mesh", t,
                              "a crease runs from vertex %d to vertex %d (counting from 0), but no face has that edge",
                              tag->ints[i], tag->ints[i + 1]);
    }
}

static void report_mends(exi_checker *c, const ex_subdivision_mends *mends) {
    static const char *const kinds[] = {[EXI_MEND_TURNED] = "flipped_face",
                                        [EXI_MEND_REPEATED] = "degenerate_face",
                                        [EXI_MEND_DUPLICATE] = "duplicate_face",
                                        [EXI_MEND_SHARP] = "non_manifold"};
    const int counts[] = {[EXI_MEND_TURNED] = mends->turned_count,
                          [EXI_MEND_REPEATED] = mends->repeated_count,
                          [EXI_MEND_DUPLICATE] = mends->duplicate_count,
                          [EXI_MEND_SHARP] = mends->sharp_count};
    char text[EXI_MEND_SIZE];
    for (int i = 0; i < EXI_MEND_KINDS; i++)
        if (exi_mend_describe(mends, (exi_mend)i, text))
            exi_check_add(c, EX_SEVERITY_WARNING, kinds[i], "mesh", counts[i], "%s", text);
}

static void report_pinched(exi_checker *c, const ex_subdivision *s) {
    exi_check_text list = {.size = 0};
    const int most = 8;
    for (int i = 0; i < s->pinched_count && i < most; i++)
        exi_check_append(&list, "%s%d", i ? ", " : "", s->pinched[i]);
    if (s->pinched_count > most)
        exi_check_append(&list, " and %d more", s->pinched_count - most);
    if (s->pinched_count > 0)
        exi_check_add(c, EX_SEVERITY_WARNING, "pinched", "mesh", s->pinched_count,
                      "separate fans of faces touch at %s %s (counting from 0): subdividing leaves %s there as a spike",
                      s->pinched_count == 1 ? "vertex" : "vertices", list.text, s->pinched_count == 1 ? "it" : "them");
}

static void subdivide_once(exi_checker *c) {
    ex_subdivide_def def = c->view->subdivision;
    ex_subdivision *subdivision = NULL;
    ex_error error = {0};
    const double faces = c->mesh->corner_count * pow(4, def.levels > 0 ? def.levels - 1 : 0);
    exi_subdivide_size size = {0};
    c->failed = c->failed || !exi_subdivide_measure(c->mesh, &def, &size);
    if (faces > most_faces)
        exi_check_add(
            c, EX_SEVERITY_WARNING, "levels", "subdivide", faces,
            "%d levels make about %.2g faces from the mesh's %d: each level has four times as many as the one before",
            def.levels, faces, c->mesh->face_count);
    else if (size.crowded > most_crowded)
        exi_check_add(
            c, EX_SEVERITY_WARNING, "levels", "subdivide", size.crowded,
            "%d levels take about %.2g MB in the rig, and %.2g MB of it for faces of many corners and vertices "
            "of many faces, which take the square of their number: cut them up into quads",
            def.levels, size.bytes / 1e6, size.crowded / 1e6);
    def.levels = 1;
    def.limit = def.all = false;
    if (ex_mesh_subdivide(c->mesh, &def, &subdivision, &error) != EX_OK)
        exi_check_failure(c, "subdivide", "mesh", &error);
    else
        report_mends(c, &subdivision->mends);
    if (subdivision && subdivision->mends.sharp_count == 0) /* else ends of sharp edges are among them */
        report_pinched(c, subdivision);
    ex_subdivision_destroy(subdivision);
}

void exi_check_surface(exi_checker *c) {
    if (!c->view->subdivide)
        return;
    const int before = c->check->error_count;
    exi_half_edge *edges = sort_edges(c->mesh);
    c->failed = c->failed || !edges;
    if (edges) {
        check_seams(c, edges, c->mesh->corner_count);
        check_creases(c, edges);
    }
    free(edges);
    if (!c->failed && c->check->error_count == before)
        subdivide_once(c);
}
