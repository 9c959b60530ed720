/*
 * Skin weights for the project's mesh, from the vertices that a skin moves in a glTF scene. If both have the same
 * number of vertices and those of the same index are at the same position, they are the same vertices. Otherwise they
 * are matched by position, since glTF splits vertices at seams and exporters reorder them. A grid of cells, several
 * times as wide as the tolerance of positions, limits the search to at most eight cells per vertex.
 */
#include "author/project/skeleton/skeleton.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest distance, in sizes of the mesh, between two positions of one vertex; and between two vertices at one
 * place. */
#define ROOM 1e-5
#define SAME 1e-7
/* Weights that differ by more are not those of one vertex. */
#define WEIGHT_ROOM   1e-3
#define TEXCOORD_ROOM 1e-4
/* Width of a cell, in tolerances. */
#define CELL 4.0

/* A vertex that the skin moves. */
typedef struct pool_vertex {
    const ex_scene_primitive *primitive; /* NULL for a vertex of a part that the skin does not move */
    int number;                          /* index in the primitive */
    int next;                            /* next vertex in its cell, or -1 */
} pool_vertex;

typedef struct vertex_pool {
    pool_vertex *vertices;
    int count;
    size_t capacity;
    int *cells; /* [mask + 1] first vertex, or -1 */
    size_t mask;
    double room, same;
} vertex_pool;

/* ---- the vertices of the scene ---- */

static ex_result check_weights(const ex_scene *scene, int mesh, int primitive, ex_error *error) {
    const ex_scene_primitive *p = &scene->meshes[mesh].primitives[primitive];
    if (p->empty_count == 0)
        return EX_OK;
    return ex_error_set(error, EX_ERROR_DATA,
                        "meshes[%d].primitives[%d]: the joint weights of vertex %d (counting from 0)%s sum to 0, so no "
                        "joint moves it: paint weights there and export again",
                        mesh, primitive, p->first_empty, p->empty_count > 1 ? " and others" : "");
}

/* Adds the vertices of one mesh, in the order and number that it has when it becomes one mesh for people. */
static ex_result add_mesh(vertex_pool *pool, const ex_scene *scene, int number, ex_error *error) {
    const ex_scene_mesh *mesh = &scene->meshes[number];
    int *first = exi_array_allocate((size_t)mesh->primitive_count, sizeof *first);
    ex_mesh *joined = NULL;
    ex_result result = first ? ex_scene_to_mesh(scene, number, &joined, first, error)
                             : ex_error_memory(error, "the skin", (size_t)mesh->primitive_count * sizeof *first);
    const size_t start = (size_t)pool->count, count = joined ? (size_t)joined->vertex_count : 0;
    ex_mesh_destroy(joined);
    pool_vertex *vertices =
        result == EX_OK ? exi_array_grow(pool->vertices, &pool->capacity, start + count, sizeof *vertices) : NULL;
    if (result == EX_OK && !vertices)
        result = ex_error_memory(error, "the skin", (start + count) * sizeof *vertices);
    if (vertices)
        pool->vertices = vertices;
    for (int p = 0; result == EX_OK && p < mesh->primitive_count; p++) {
        result = check_weights(scene, number, p, error);
        for (int v = 0; result == EX_OK && v < mesh->primitives[p].vertex_count; v++)
            vertices[start + (size_t)first[p] + (size_t)v] =
                (pool_vertex){.primitive = &mesh->primitives[p], .number = v, .next = -1};
    }
    free(first);
    pool->count += result == EX_OK ? (int)count : 0;
    return result;
}

static const float *position_of(const pool_vertex *v) {
    return v->primitive->positions + 3 * (size_t)v->number;
}

static double distance(const float *a, const double *b) {
    double sum = 0;
    for (int c = 0; c < 3; c++)
        sum += ((double)a[c] - b[c]) * ((double)a[c] - b[c]);
    return sqrt(sum);
}

/* ---- by position ---- */

static size_t hash(double x, double y, double z) {
    const double numbers[3] = {x + 0.0, y + 0.0, z + 0.0};
    uint64_t h = 0x9E3779B97F4A7C15U;
    for (int c = 0; c < 3; c++) {
        uint64_t bits;
        memcpy(&bits, &numbers[c], sizeof bits);
        h = (h ^ bits) * 0xD6E8FEB86659FD93U;
        h ^= h >> 32;
    }
    return (size_t)h;
}

static double cell_of(const vertex_pool *pool, double x) {
    return floor(x / (CELL * pool->room));
}

static bool fill_cells(vertex_pool *pool) {
    size_t size = 16;
    while (size < 2 * (size_t)pool->count)
        size *= 2;
    pool->cells = exi_array_allocate(size, sizeof *pool->cells);
    if (!pool->cells)
        return false;
    pool->mask = size - 1;
    for (size_t i = 0; i < size; i++)
        pool->cells[i] = -1;
    for (int v = pool->count - 1; v >= 0; v--) { /* so that a cell lists them in ascending order */
        const float *p = position_of(&pool->vertices[v]);
        size_t cell = hash(cell_of(pool, (double)p[0]), cell_of(pool, (double)p[1]), cell_of(pool, (double)p[2]));
        pool->vertices[v].next = pool->cells[cell & pool->mask];
        pool->cells[cell & pool->mask] = v;
    }
    return true;
}

/* Calls `look` for every vertex in the cells around a position. */
typedef struct search {
    const vertex_pool *pool;
    const double *position; /* position of the mesh's vertex */
    const double *texcoord; /* its texture coordinate, or NULL */
    double nearest;
    int found;
    bool textured; /* true if the vertex found has that texture coordinate */
} search;

static void visit(search *s, void (*look)(search *s, int vertex)) {
    double cells[3][2];
    for (int c = 0; c < 3; c++) {
        cells[c][0] = cell_of(s->pool, s->position[c] - s->pool->room);
        cells[c][1] = cell_of(s->pool, s->position[c] + s->pool->room);
    }
    for (int i = 0; i < 8; i++) {
        const int x = i & 1, y = i >> 1 & 1, z = i >> 2;
        if ((x && cells[0][0] == cells[0][1]) || (y && cells[1][0] == cells[1][1]) || (z && cells[2][0] == cells[2][1]))
            continue;
        int v = s->pool->cells[hash(cells[0][x], cells[1][y], cells[2][z]) & s->pool->mask];
        for (; v >= 0; v = s->pool->vertices[v].next)
            look(s, v);
    }
}

static void look_for_nearest(search *s, int vertex) {
    const double d = distance(position_of(&s->pool->vertices[vertex]), s->position);
    s->nearest = d < s->nearest ? d : s->nearest;
}

static double weight_of(const ex_scene_primitive *p, int vertex, int joint) {
    double sum = 0;
    const size_t influences = (size_t)p->influence_count, at = (size_t)vertex * influences;
    for (size_t i = at; i < at + influences; i++)
        sum += p->joints[i] == joint ? (double)p->weights[i] : 0;
    return sum;
}

/* True if a has a weight that b does not have. */
static bool differs(const pool_vertex *a, const pool_vertex *b) {
    const size_t influences = (size_t)a->primitive->influence_count, at = (size_t)a->number * influences;
    for (size_t i = at; i < at + influences; i++)
        if (fabs(weight_of(a->primitive, a->number, a->primitive->joints[i]) -
                 weight_of(b->primitive, b->number, a->primitive->joints[i])) > WEIGHT_ROOM)
            return true;
    return false;
}

static bool has_texcoord(const pool_vertex *v, const double *texcoord) {
    const float *own = v->primitive->texcoords[0] ? v->primitive->texcoords[0] + 2 * (size_t)v->number : NULL;
    return own && texcoord && fabs((double)own[0] - texcoord[0]) <= TEXCOORD_ROOM &&
           fabs(1 - (double)own[1] - texcoord[1]) <= TEXCOORD_ROOM;
}

/* Chooses the first vertex at the place; if weights differ between them, the first with the same texture coordinate. */
static void look_for_best(search *s, int vertex) {
    const pool_vertex *v = &s->pool->vertices[vertex];
    if (distance(position_of(v), s->position) > s->nearest + s->pool->same)
        return;
    const bool textured = has_texcoord(v, s->texcoord);
    const bool other =
        s->found >= 0 && (differs(v, &s->pool->vertices[s->found]) || differs(&s->pool->vertices[s->found], v));
    if (s->found < 0 || (other && textured && !s->textured) ||
        ((!other || textured == s->textured) && vertex < s->found)) {
        s->found = vertex;
        s->textured = textured;
    }
}

static int find_partner(const vertex_pool *pool, const double *position, const double *texcoord) {
    search s = {.pool = pool, .position = position, .texcoord = texcoord, .nearest = INFINITY, .found = -1};
    visit(&s, look_for_nearest);
    if (s.nearest <= pool->room)
        visit(&s, look_for_best);
    return s.found;
}

/* ---- partners ---- */

static bool in_order(const vertex_pool *pool, const ex_mesh *mesh) {
    bool same = pool->count == mesh->vertex_count;
    for (int v = 0; same && v < pool->count; v++)
        same = distance(position_of(&pool->vertices[v]), mesh->positions + 3 * (size_t)v) <= pool->room;
    return same;
}

/* Finds a texture coordinate of every vertex [vertex_count], or -1. */
static void find_texcoords(const ex_mesh *mesh, int *texcoords) {
    for (int v = 0; v < mesh->vertex_count; v++)
        texcoords[v] = -1;
    for (int c = mesh->corner_texcoords ? mesh->corner_count - 1 : -1; c >= 0; c--)
        if (mesh->corner_texcoords[c] >= 0)
            texcoords[mesh->corners[c]] = mesh->corner_texcoords[c];
}

/* partners [vertex_count]: index in the pool of the matching vertex. */
static ex_result find_partners(vertex_pool *pool, const ex_mesh *mesh, int *partners, ex_error *error) {
    if (in_order(pool, mesh)) {
        for (int v = 0; v < mesh->vertex_count; v++)
            partners[v] = v;
        return EX_OK;
    }
    int *texcoords = exi_array_allocate((size_t)mesh->vertex_count, sizeof *texcoords);
    if (!texcoords || !fill_cells(pool)) {
        free(texcoords);
        return ex_error_memory(error, "matching vertices", (size_t)pool->count * 8);
    }
    find_texcoords(mesh, texcoords);
    ex_result result = EX_OK;
    for (int v = 0; result == EX_OK && v < mesh->vertex_count; v++) {
        const double *p = mesh->positions + 3 * (size_t)v;
        partners[v] = find_partner(pool, p, texcoords[v] >= 0 ? mesh->texcoords + 2 * (size_t)texcoords[v] : NULL);
        if (partners[v] < 0)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "the skin moves nothing at the position of vertex %d of the mesh (%.6g %.6g %.6g): "
                                  "export both from the same mesh, in the rest pose, in metres with y up",
                                  v, p[0], p[1], p[2]);
    }
    free(texcoords);
    return result;
}

static ex_result make_skin(const vertex_pool *pool, const int *partners, int vertex_count, int joint_count,
                           ex_skin **made, ex_error *error) {
    uint64_t total = 0;
    for (int v = 0; v < vertex_count; v++) {
        if (pool->vertices[partners[v]].primitive->influence_count == 0)
            return ex_error_set(error, EX_ERROR_DATA, "vertex %d of the mesh is in a part that has no joint weights",
                                v);
        total += (uint64_t)pool->vertices[partners[v]].primitive->influence_count;
    }
    if (total > UINT32_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "the skin has more than %u influences", UINT32_MAX);
    uint32_t *starts = exi_array_allocate((size_t)vertex_count + 1, sizeof *starts);
    uint32_t *joints = exi_array_allocate((size_t)total, sizeof *joints), end = 0;
    float *weights = exi_array_allocate((size_t)total, sizeof *weights);
    ex_result result = starts && joints && weights ? EX_OK : ex_error_memory(error, "the skin", (size_t)total * 8);
    for (int v = 0; result == EX_OK && v < vertex_count; v++) {
        const pool_vertex *from = &pool->vertices[partners[v]];
        const size_t influences = (size_t)from->primitive->influence_count;
        starts[v] = end;
        for (size_t i = 0; i < influences; i++, end++) {
            joints[end] = from->primitive->joints[(size_t)from->number * influences + i];
            weights[end] = from->primitive->weights[(size_t)from->number * influences + i];
        }
    }
    if (result == EX_OK) {
        starts[vertex_count] = end;
        result = ex_skin_create(&(ex_skin_def){.vertex_count = vertex_count,
                                               .joint_count = joint_count,
                                               .starts = starts,
                                               .joints = joints,
                                               .weights = weights},
                                NULL, made, error);
    }
    free(starts);
    free(joints);
    free(weights);
    return result;
}

ex_result exi_skin_from_scene(const ex_scene *scene, int skin, const ex_mesh *mesh, ex_skin **made, ex_error *error) {
    const double size = ex_mesh_size(mesh);
    vertex_pool pool = {.room = size > 0 ? ROOM * size : 1e-30, .same = SAME * size};
    ex_result result = EX_OK;
    *made = NULL;
    for (int n = 0; result == EX_OK && n < scene->node_count; n++)
        if (scene->nodes[n].skin == skin && scene->nodes[n].mesh >= 0)
            result = add_mesh(&pool, scene, scene->nodes[n].mesh, error);
    int *partners = exi_array_allocate((size_t)mesh->vertex_count, sizeof *partners);
    if (result == EX_OK && !partners)
        result = ex_error_memory(error, "the skin", (size_t)mesh->vertex_count * sizeof *partners);
    if (result == EX_OK && pool.count > 0)
        result = find_partners(&pool, mesh, partners, error);
    if (result == EX_OK && pool.count > 0)
        result = make_skin(&pool, partners, mesh->vertex_count, scene->skins[skin].joint_count, made, error);
    free(partners);
    free(pool.vertices);
    free(pool.cells);
    return result;
}
