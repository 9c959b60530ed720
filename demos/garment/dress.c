/*
 * A garment out of a body's mesh: the faces that it covers, moved outwards, then smoothed and pushed out of the body in
 * turn. Smoothing moves each vertex half-way to the mean of its neighbours, and at an edge of the garment to that of
 * its neighbours along the edge. So cloth goes straight over dents, and its triangles become even. All of it depends on
 * the faces alone: two bodies with the same faces get garments with the same vertices.
 */
#include "dress.h"
#include "cloth_parts.h"

#include "common/array.h"
#include "demos/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

exi_dress_def exi_dress_def_default(void) {
    return (exi_dress_def){.room = 0.012, .rounds = 30};
}

/* Makes triangles of the faces that are worn (NULL: all), with all vertices of the mesh. */
static ex_mesh *take_faces(const ex_mesh *mesh, const bool *worn) {
    ex_mesh *made = ex_mesh_create();
    int faces = 0;
    for (int f = 0; f < mesh->face_count; f++)
        faces += !worn || worn[f] ? mesh->face_offsets[f + 1] - mesh->face_offsets[f] - 2 : 0;
    if (!made)
        return NULL;
    free(made->face_offsets);
    made->positions = array_copy(mesh->positions, 3 * (size_t)mesh->vertex_count, sizeof(double));
    made->face_offsets = array_allocate((size_t)faces + 1, sizeof(int));
    made->corners = array_allocate(3 * (size_t)faces, sizeof(int));
    if (!made->positions || !made->face_offsets || !made->corners) {
        ex_mesh_destroy(made);
        return NULL;
    }
    made->vertex_count = mesh->vertex_count;
    made->face_offsets[0] = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        const int *corners = mesh->corners + mesh->face_offsets[f];
        const int count = mesh->face_offsets[f + 1] - mesh->face_offsets[f];
        for (int i = 2; (!worn || worn[f]) && i < count; i++) {
            int *to = made->corners + 3 * (size_t)made->face_count++;
            to[0] = corners[0];
            to[1] = corners[i - 1];
            to[2] = corners[i];
            made->face_offsets[made->face_count] = 3 * made->face_count;
        }
    }
    made->corner_count = 3 * made->face_count;
    return made;
}

ex_mesh *exi_dress_triangles(const ex_mesh *mesh) {
    return take_faces(mesh, NULL);
}

int exi_dress_group(const ex_mesh *body, const char *name, bool *worn) {
    const size_t length = strlen(name);
    int count = 0;
    for (int f = 0; f < body->face_count; f++) {
        const int group = body->face_groups ? body->face_groups[f] : -1;
        const char *at = group >= 0 ? body->group_names[group] : "";
        worn[f] = false;
        while (*at && length > 0 && !worn[f]) {
            const size_t word = strcspn(at, " \t");
            worn[f] = word == length && strncmp(at, name, length) == 0;
            at += word + strspn(at + word, " \t");
        }
        count += worn[f];
    }
    return count;
}

/* Removes vertices without triangles. */
static bool remove_others(ex_mesh *mesh) {
    int *places = calloc((size_t)mesh->vertex_count + 1, sizeof *places), count = 0;
    if (!places)
        return false;
    for (int c = 0; c < mesh->corner_count; c++)
        places[mesh->corners[c]] = 1;
    for (int v = 0; v < mesh->vertex_count; v++)
        if (places[v]) {
            memmove(mesh->positions + 3 * (size_t)count, mesh->positions + 3 * (size_t)v, 3 * sizeof(double));
            places[v] = count++;
        }
    for (int c = 0; c < mesh->corner_count; c++)
        mesh->corners[c] = places[mesh->corners[c]];
    mesh->vertex_count = count;
    free(places);
    return true;
}

/* ---- smoothing ---- */

/* Pairs of neighbours, each from both ends: those of a vertex are links[starts[v]] to links[starts[v + 1]]. Vertices at
 * an edge of the garment have only their neighbours along it. */
typedef struct weave {
    int *starts, *links;
    bool *open; /* [vertices]: at an edge of the garment */
} weave;

static int next(int corner) {
    return corner % 3 == 2 ? corner - 2 : corner + 1;
}

/* Counts how many triangles have the edge from a to b, in either direction. around: the triangles' corners at each
 * vertex, by starts. */
static int count_sides(const ex_mesh *mesh, const int *starts, const int *around, int a, int b) {
    int sides = 0;
    for (int i = starts[a]; i < starts[a + 1]; i++) {
        const int after = mesh->corners[next(around[i])], before = mesh->corners[next(next(around[i]))];
        sides += (after == b) + (before == b);
    }
    return sides;
}

static bool weave_make(const ex_mesh *mesh, weave *w) {
    const size_t vertices = (size_t)mesh->vertex_count, corners = (size_t)mesh->corner_count;
    int *starts = calloc(vertices + 2, sizeof *starts), *around = array_allocate(corners, sizeof *around);
    w->starts = calloc(vertices + 1, sizeof *w->starts);
    w->links = array_allocate(2 * corners, sizeof *w->links);
    w->open = calloc(vertices + 1, sizeof *w->open);
    const bool room = starts && around && w->open && w->starts && w->links;
    for (size_t c = 0; room && c < corners; c++)
        starts[mesh->corners[c] + 2]++;
    for (size_t v = 1; room && v <= vertices; v++)
        starts[v + 1] += starts[v];
    for (size_t c = 0; room && c < corners; c++)
        around[starts[mesh->corners[c] + 1]++] = (int)c;
    for (size_t c = 0; room && c < corners; c++) {
        const int a = mesh->corners[c], b = mesh->corners[next((int)c)];
        if (count_sides(mesh, starts, around, a, b) == 1)
            w->open[a] = w->open[b] = true;
    }
    int count = 0;
    for (int v = 0; room && v < mesh->vertex_count; v++) {
        w->starts[v] = count;
        for (int i = starts[v]; i < starts[v + 1]; i++) {
            const int ends[2] = {mesh->corners[next(around[i])], mesh->corners[next(next(around[i]))]};
            for (int e = 0; e < 2; e++)
                if (!w->open[v] || count_sides(mesh, starts, around, v, ends[e]) == 1)
                    w->links[count++] = ends[e];
        }
    }
    if (room)
        w->starts[vertices] = count;
    free(starts);
    free(around);
    return room;
}

static void weave_free(weave *w) {
    free(w->starts);
    free(w->links);
    free(w->open);
}

static void smooth(const weave *w, ex_mesh *mesh, double *means) {
    const size_t count = (size_t)mesh->vertex_count;
    for (size_t v = 0; v < count; v++) {
        const int links = w->starts[v + 1] - w->starts[v];
        memcpy(means + 3 * v, mesh->positions + 3 * v, 3 * sizeof *means);
        for (size_t c = 0; links > 0 && c < 3; c++) {
            double sum = 0;
            for (int i = w->starts[v]; i < w->starts[v + 1]; i++)
                sum += mesh->positions[3 * (size_t)w->links[i] + c];
            means[3 * v + c] = 0.5 * (mesh->positions[3 * v + c] + sum / links);
        }
    }
    memcpy(mesh->positions, means, 3 * count * sizeof *means);
}

/* ---- the body ---- */

/* Moves vertices that are nearer to the body than `room`, or inside it, to that distance. */
static void push_out(const exi_cloth_driver *body, double room, ex_mesh *mesh) {
    for (int v = 0; v < mesh->vertex_count; v++) {
        double *p = mesh->positions + 3 * (size_t)v;
        exi_cloth_contact contact;
        if (exi_cloth_driver_touch(body, p, 10 * room, &contact) && contact.distance < room)
            for (int c = 0; c < 3; c++)
                p[c] += (room - contact.distance) * contact.normal[c];
    }
}

static ex_result shape(const exi_dress_def *def, ex_mesh *mesh, ex_error *error) {
    ex_mesh *triangles = exi_dress_triangles(def->body);
    double *means = array_allocate(3 * (size_t)mesh->vertex_count, sizeof *means);
    exi_cloth_driver body = {0};
    weave w = {0};
    ex_result result = triangles && means && weave_make(mesh, &w)
                           ? EX_OK
                           : ex_error_memory(error, "a garment", 3 * (size_t)mesh->vertex_count * sizeof *means);
    if (result == EX_OK)
        result = exi_cloth_driver_make(triangles, &body, error);
    if (result == EX_OK) {
        exi_cloth_driver_move(&body, 1);
        push_out(&body, def->room, mesh);
        for (int round = 0; round < def->rounds; round++) {
            smooth(&w, mesh, means);
            push_out(&body, def->room, mesh);
        }
        exi_cloth_driver_free(&body);
    }
    weave_free(&w);
    free(means);
    ex_mesh_destroy(triangles);
    return result;
}

ex_result exi_dress_make(const exi_dress_def *def, ex_mesh **garment, ex_error *error) {
    if (!def || !garment || !def->body || !def->worn || !(def->room > 0))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "exi_dress_make was called with a pointer that is NULL, or a room that is not above 0");
    *garment = NULL;
    ex_mesh *made = take_faces(def->body, def->worn);
    ex_result result = made && remove_others(made) ? EX_OK : ex_error_memory(error, "a garment", 0);
    if (result == EX_OK && made->face_count == 0)
        result = ex_error_set(error, EX_ERROR_DATA, "the garment covers no face of the body");
    if (result == EX_OK)
        result = shape(def, made, error);
    if (result == EX_OK)
        *garment = made;
    else
        ex_mesh_destroy(made);
    return result;
}

/* ---- edges ---- */

/* Lists the vertices of the edge that `first` is on, in loop; they are closed for later calls. Returns their number. */
static int follow(const weave *w, int first, int *loop) {
    int count = 1;
    loop[0] = first;
    w->open[first] = false;
    for (int i = 0; i < count; i++)
        for (int l = w->starts[loop[i]]; l < w->starts[loop[i] + 1]; l++)
            if (w->open[w->links[l]]) {
                w->open[w->links[l]] = false;
                loop[count++] = w->links[l];
            }
    return count;
}

int exi_dress_edges(const ex_mesh *garment, int *edges) {
    int *loop = array_allocate((size_t)garment->vertex_count, sizeof *loop), number = 0;
    weave w = {0};
    const bool room = loop && weave_make(garment, &w);
    for (int v = 0; v < garment->vertex_count; v++)
        edges[v] = 0;
    for (int v = 0; room && v < garment->vertex_count; v++) {
        const int count = w.open[v] ? follow(&w, v, loop) : 0;
        number += count > 0;
        for (int i = 0; i < count; i++)
            edges[loop[i]] = number;
    }
    weave_free(&w);
    free(loop);
    return room ? number : -1;
}

bool exi_dress_smooth(ex_mesh *garment, int rounds) {
    double *means = array_allocate(3 * (size_t)garment->vertex_count, sizeof *means);
    weave w = {0};
    const bool room = means && weave_make(garment, &w);
    for (int round = 0; room && round < rounds; round++)
        smooth(&w, garment, means);
    weave_free(&w);
    free(means);
    return room;
}

int exi_dress_top(const ex_mesh *garment, bool *pinned) {
    int *loop = array_allocate((size_t)garment->vertex_count, sizeof *loop), pins = 0;
    weave w = {0};
    const bool room = loop && weave_make(garment, &w);
    double highest = -INFINITY;
    for (int v = 0; v < garment->vertex_count; v++)
        pinned[v] = false;
    for (int v = 0; room && v < garment->vertex_count; v++) {
        const int count = w.open[v] ? follow(&w, v, loop) : 0;
        double mean = 0;
        for (int i = 0; i < count; i++)
            mean += garment->positions[3 * (size_t)loop[i] + 1] / count;
        if (count == 0 || mean <= highest)
            continue;
        highest = mean;
        pins = count;
        memset(pinned, 0, (size_t)garment->vertex_count * sizeof *pinned);
        for (int i = 0; i < count; i++)
            pinned[loop[i]] = true;
    }
    weave_free(&w);
    free(loop);
    return room ? pins : -1;
}
