/*
 * Closes the seams of glTF. A glTF vertex has one normal and one texture coordinate, so a file repeats a vertex where
 * these break, and the surface is open there: subdivision rounds it off and a sculpt tears it. Here such vertices
 * become one again, with texture coordinates and normals at the corners of faces as in OBJ.
 *
 * Vertices may be joined if they agree to the bit in everything that moves them: the node, the position, the
 * differences of all morph targets and the influences of the skin; and in the colour, which OBJ stores once per vertex.
 * Of those, vertices are joined across an edge at which exactly two faces meet, one running against the other. So parts
 * that merely touch stay apart, and no edge gets a third face. Faces on the same three places, such as a two-sided
 * leaf, are not joined.
 */
#include "author/project/import/init.h"

#include "author/base/array.h"
#include "author/base/rows.h"

#include <stdlib.h>
#include <string.h>

/* ---- equality of vertices ---- */

typedef struct seams {
    const exi_init *init;
    int *parts;   /* [vertex_count] first part that the vertex belongs to */
    int *classes; /* [vertex_count] first vertex that it may be joined with */
    int *sheets;  /* [face_count] first face on the same three places */
    int *edges;   /* [corner_count] first corner whose edge has ends of the same classes */
    int *joined;  /* [vertex_count] a vertex that it is joined with, finally itself */
} seams;

static const exi_scene_part *part_of(const seams *s, int vertex) {
    return &s->init->parts[s->parts[vertex]];
}

static const ex_scene_primitive *primitive_of(const seams *s, int vertex) {
    const exi_scene_part *part = part_of(s, vertex);
    return &s->init->scene->meshes[part->mesh].primitives[part->primitive];
}

/* Returns the k-th difference of a vertex in a target; 0 if there is none. */
static float difference_of(const seams *s, int vertex, int target, size_t k) {
    const ex_scene_primitive *p = primitive_of(s, vertex);
    const float *d = p->targets ? p->targets[target].positions : NULL;
    return d ? d[3 * (size_t)(vertex - part_of(s, vertex)->first_vertex) + k] : 0;
}

static double weight_of(const seams *s, int vertex, int i, int *joint) {
    const ex_scene_primitive *p = primitive_of(s, vertex);
    const size_t at = (size_t)(vertex - part_of(s, vertex)->first_vertex) * (size_t)p->influence_count + (size_t)i;
    const bool there = i < p->influence_count;
    *joint = there && p->weights[at] > 0 ? p->joints[at] : 0;
    return there ? (double)p->weights[at] : 0;
}

static int target_count(const seams *s, int vertex) {
    return s->init->scene->meshes[part_of(s, vertex)->mesh].target_count;
}

static uint64_t hash_vertex(const void *context, int vertex) {
    const seams *s = context;
    const ex_mesh *mesh = s->init->mesh;
    uint64_t hash = exi_mix(0, (uint64_t)part_of(s, vertex)->node);
    for (size_t k = 0; k < 3; k++)
        hash = exi_mix_number(hash, mesh->positions[3 * (size_t)vertex + k]);
    for (size_t k = 0; mesh->colours && k < 3; k++)
        hash = exi_mix_number(hash, (double)mesh->colours[3 * (size_t)vertex + k]);
    for (int t = 0; t < target_count(s, vertex); t++)
        for (size_t k = 0; k < 3; k++)
            hash = exi_mix_number(hash, (double)difference_of(s, vertex, t, k));
    for (int i = 0; i < primitive_of(s, vertex)->influence_count; i++) {
        int joint;
        const double weight = weight_of(s, vertex, i, &joint);
        if (weight > 0) /* parts may store different numbers of influences */
            hash = exi_mix_number(exi_mix(hash, (uint64_t)joint), weight);
    }
    return hash;
}

static bool same_influences(const seams *s, int a, int b) {
    const int counts[2] = {primitive_of(s, a)->influence_count, primitive_of(s, b)->influence_count};
    bool same = true;
    for (int i = 0; same && i < (counts[0] > counts[1] ? counts[0] : counts[1]); i++) {
        int joints[2];
        same = weight_of(s, a, i, &joints[0]) == weight_of(s, b, i, &joints[1]) && joints[0] == joints[1];
    }
    return same;
}

static bool same_vertex(const void *context, int a, int b) {
    const seams *s = context;
    const ex_mesh *mesh = s->init->mesh;
    const exi_scene_part *parts[2] = {part_of(s, a), part_of(s, b)};
    bool same = parts[0]->node == parts[1]->node && parts[0]->mesh == parts[1]->mesh;
    for (size_t k = 0; same && k < 3; k++)
        same = mesh->positions[3 * (size_t)a + k] == mesh->positions[3 * (size_t)b + k] &&
               (!mesh->colours || mesh->colours[3 * (size_t)a + k] == mesh->colours[3 * (size_t)b + k]);
    for (int t = 0; same && t < target_count(s, a); t++)
        for (size_t k = 0; same && k < 3; k++)
            same = difference_of(s, a, t, k) == difference_of(s, b, t, k);
    return same && same_influences(s, a, b);
}

/* ---- joining across edges ---- */

/* All faces are triangles here. */
static int next_corner(int corner) {
    return corner % 3 == 2 ? corner - 2 : corner + 1;
}

static uint64_t hash_face(const void *context, int face) {
    const seams *s = context;
    uint64_t sum = 0; /* independent of the order */
    if (exi_init_face_flat(s->classes, s->init->mesh, face))
        return exi_mix(0, (uint64_t)face);
    for (int k = 0; k < 3; k++)
        sum += exi_mix(0, (uint64_t)s->classes[s->init->mesh->corners[3 * (size_t)face + (size_t)k]]);
    return exi_mix(0, sum);
}

static bool same_face(const void *context, int a, int b) {
    const seams *s = context;
    const int *x = s->init->mesh->corners + 3 * (size_t)a, *y = s->init->mesh->corners + 3 * (size_t)b;
    int found = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            found += s->classes[x[i]] == s->classes[y[k]];
    return found == 3 && !exi_init_face_flat(s->classes, s->init->mesh, a) &&
           !exi_init_face_flat(s->classes, s->init->mesh, b);
}

static void ends_of(const seams *s, int corner, int ends[2]) {
    const int a = s->classes[s->init->mesh->corners[corner]];
    const int b = s->classes[s->init->mesh->corners[next_corner(corner)]];
    ends[0] = a < b ? a : b;
    ends[1] = a < b ? b : a;
}

static uint64_t hash_edge(const void *context, int corner) {
    int ends[2];
    ends_of(context, corner, ends);
    return exi_mix(exi_mix(0, (uint64_t)ends[0]), (uint64_t)ends[1]);
}

static bool same_edge(const void *context, int a, int b) {
    int ends[2][2];
    ends_of(context, a, ends[0]);
    ends_of(context, b, ends[1]);
    return ends[0][0] == ends[1][0] && ends[0][1] == ends[1][1];
}

static int last_joined(int *joined, int vertex) {
    while (joined[vertex] != vertex)
        vertex = joined[vertex] = joined[joined[vertex]];
    return vertex;
}

/* Keeps the smaller index, so that vertices keep their order. */
static void join(int *joined, int a, int b) {
    a = last_joined(joined, a);
    b = last_joined(joined, b);
    joined[a > b ? a : b] = a < b ? a : b;
}

/* Joins the ends of edges at which two faces meet. pairs [corner_count][2] and counts [corner_count] are scratch: the
 * corners at an edge and their number, stored at the edge's first corner. */
static void join_edges(seams *s, int *pairs, int *counts) {
    const ex_mesh *mesh = s->init->mesh;
    memset(counts, 0, (size_t)mesh->face_count * sizeof *counts);
    for (int f = 0; f < mesh->face_count; f++)
        counts[s->sheets[f]] += counts[s->sheets[f]] < 2;
    for (int f = 0; f < mesh->face_count; f++)
        s->sheets[f] = counts[s->sheets[f]] > 1 || exi_init_face_flat(s->classes, mesh, f) ? -1 : f;
    memset(counts, 0, (size_t)mesh->corner_count * sizeof *counts);
    for (int c = 0; c < mesh->corner_count; c++)
        if (s->sheets[c / 3] >= 0) {
            const size_t edge = (size_t)s->edges[c];
            if (counts[edge] < 2)
                pairs[2 * edge + (size_t)counts[edge]] = c;
            counts[edge] += counts[edge] < 3;
        }
    for (size_t edge = 0; edge < (size_t)mesh->corner_count; edge++) {
        if (counts[edge] != 2)
            continue;
        const int a = pairs[2 * edge], b = pairs[2 * edge + 1];
        if (s->classes[mesh->corners[a]] == s->classes[mesh->corners[b]])
            continue; /* both run in the same direction */
        join(s->joined, mesh->corners[a], mesh->corners[next_corner(b)]);
        join(s->joined, mesh->corners[next_corner(a)], mesh->corners[b]);
    }
}

/* Joins vertices used only by faces without area with a vertex of the same class that other faces use, so that these
 * faces can be dropped. mates, used [vertex_count] are scratch: the first vertex of a class that other faces use; true
 * if other faces use the vertex. */
static void join_flat(seams *s, int *mates, bool *used) {
    const ex_mesh *mesh = s->init->mesh;
    for (int v = 0; v < mesh->vertex_count; v++) {
        mates[v] = -1;
        used[v] = false;
    }
    for (int c = 0; c < mesh->corner_count; c++)
        if (!exi_init_face_flat(s->classes, mesh, c / 3)) {
            const int v = mesh->corners[c], class = s->classes[v];
            used[v] = true;
            mates[class] = mates[class] < 0 ? v : mates[class];
        }
    for (int c = 0; c < mesh->corner_count; c++) {
        const int v = mesh->corners[c], mate = mates[s->classes[v]];
        if (!used[v] && mate >= 0)
            join(s->joined, v, mate);
    }
    for (int v = 0; v < mesh->vertex_count; v++)
        s->joined[v] = last_joined(s->joined, v);
}

/* Hashes sides of faces; a side of a face without area equals no other. */
static uint64_t hash_side(const void *context, int corner) {
    const seams *s = context;
    const int *corners = s->init->mesh->corners;
    if (exi_init_face_flat(s->joined, s->init->mesh, corner / 3))
        return exi_mix(0, (uint64_t)corner);
    return exi_mix(exi_mix(0, (uint64_t)s->joined[corners[corner]]), (uint64_t)s->joined[corners[next_corner(corner)]]);
}

static bool same_side(const void *context, int a, int b) {
    const seams *s = context;
    const int *corners = s->init->mesh->corners;
    return s->joined[corners[a]] == s->joined[corners[b]] &&
           s->joined[corners[next_corner(a)]] == s->joined[corners[next_corner(b)]] &&
           !exi_init_face_flat(s->joined, s->init->mesh, a / 3) && !exi_init_face_flat(s->joined, s->init->mesh, b / 3);
}

/* Finds edges that would get four faces: the file has one of their ends once and the other twice, and another path
 * joins that end. Such vertices are left as in the file. first [corner_count] and apart [vertex_count] are scratch. */
static bool part_crowded(seams *s, int *first, bool *apart) {
    const ex_mesh *mesh = s->init->mesh;
    if (!exi_rows_find_first(&(exi_rows){.context = s, .hash = hash_side, .same = same_side}, mesh->corner_count,
                             first))
        return false;
    memset(apart, 0, (size_t)mesh->vertex_count * sizeof *apart);
    for (int c = 0; c < mesh->corner_count; c++)
        if (first[c] != c)
            apart[s->joined[mesh->corners[c]]] = apart[s->joined[mesh->corners[next_corner(c)]]] = true;
    for (int v = 0; v < mesh->vertex_count; v++)
        s->joined[v] = apart[s->joined[v]] ? v : s->joined[v];
    return true;
}

/* ---- entry point ---- */

static void find_parts(const exi_init *init, int *parts) {
    for (int i = init->part_count - 1; i >= 0; i--) {
        const exi_scene_part *part = &init->parts[i];
        const int count = init->scene->meshes[part->mesh].primitives[part->primitive].vertex_count;
        for (int v = 0; v < count; v++)
            parts[part->first_vertex + v] = i;
    }
}

static bool find_joined(seams *s, int *scratch) {
    const ex_mesh *mesh = s->init->mesh;
    find_parts(s->init, s->parts);
    for (int v = 0; v < mesh->vertex_count; v++)
        s->joined[v] = v;
    if (!exi_rows_find_first(&(exi_rows){.context = s, .hash = hash_vertex, .same = same_vertex}, mesh->vertex_count,
                             s->classes) ||
        !exi_rows_find_first(&(exi_rows){.context = s, .hash = hash_face, .same = same_face}, mesh->face_count,
                             s->sheets) ||
        !exi_rows_find_first(&(exi_rows){.context = s, .hash = hash_edge, .same = same_edge}, mesh->corner_count,
                             s->edges))
        return false;
    join_edges(s, scratch, scratch + 2 * (size_t)mesh->corner_count);
    bool *marks = exi_array_allocate((size_t)mesh->vertex_count, sizeof *marks);
    if (marks)
        join_flat(s, scratch, marks);
    const bool good = marks && part_crowded(s, scratch, marks);
    free(marks);
    return good;
}

ex_result exi_init_join_seams(exi_init *init, ex_error *error) {
    ex_mesh *mesh = init->mesh;
    const size_t vertices = (size_t)mesh->vertex_count, corners = (size_t)mesh->corner_count;
    const size_t most = 3 * corners > vertices ? 3 * corners : vertices;
    int *scratch = exi_array_allocate(most, sizeof *scratch);
    seams s = {.init = init,
               .parts = exi_array_allocate(vertices, sizeof *s.parts),
               .classes = exi_array_allocate(vertices, sizeof *s.classes),
               .sheets = exi_array_allocate((size_t)mesh->face_count, sizeof *s.sheets),
               .edges = exi_array_allocate(corners, sizeof *s.edges),
               .joined = exi_array_allocate(vertices, sizeof *s.joined)};
    bool good = scratch && s.parts && s.classes && s.sheets && s.edges && s.joined && find_joined(&s, scratch);
    if (good)
        good = exi_init_close_up(init, s.joined, scratch);
    free(scratch);
    free(s.parts);
    free(s.classes);
    free(s.sheets);
    free(s.edges);
    init->joined = s.joined;
    return good ? EX_OK : ex_error_memory(error, "joining vertices", vertices * 16);
}
