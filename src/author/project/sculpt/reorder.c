/*
 * Finds the order of vertices in which a form is the mesh. Every vertex gets a label that does not depend on the order:
 * first from its position, or from its texture coordinates, where the other mesh has the same; then, repeatedly, from
 * its label and those of the vertices before and after it in its faces,
 *
 *     label(v) <- h(label(v)) + sum over corners c at v of h(label(before c), label(after c), sum over the face),
 *
 * (colour refinement, as in tests of graph isomorphism). So vertices that were moved, or that share a texture
 * coordinate with their mirror image, are told apart by their neighbours. Once no two vertices of a mesh have the same
 * label, labels match the vertices, and the faces are compared: that comparison decides, even if labels collide by
 * chance.
 */
#include "author/project/sculpt/reorder.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest distance between two places: in sizes of the mesh, and in texture coordinates. */
#define PLACE_ROOM    1e-5
#define TEXCOORD_ROOM 1e-5
/* Width of a cell, in tolerances. */
#define CELL 4.0
/* Maximum number of rounds: the largest distance, in faces, of an unknown vertex from a known one. */
enum { ROUNDS = 32 };

static uint64_t mix(uint64_t h) {
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9U;
    h = (h ^ h >> 27) * 0x94D049BB133111EBU;
    return h ^ h >> 31;
}

static uint64_t combine(uint64_t a, uint64_t b) {
    return mix(a * 0x9E3779B97F4A7C15U + b + 0x632BE59BD9B4E019U);
}

/* ---- numbering places ---- */

/* Points [count][dimension] of two meshes, one after the other; points within the tolerance of a numbered one get the
 * same number. */
typedef struct places {
    const double *points[2];
    int counts[2], dimension;
    double room;
    int *numbers; /* [counts[0] + counts[1]] */
    int *next;    /* next in its cell, or -1; only for points that represent a number */
    int *cells;   /* [mask + 1] first point, or -1 */
    size_t mask;
    int number_count;
} places;

static const double *point_at(const places *p, int i) {
    const size_t dimension = (size_t)p->dimension;
    return i < p->counts[0] ? p->points[0] + dimension * (size_t)i
                            : p->points[1] + dimension * (size_t)(i - p->counts[0]);
}

static size_t cell_of(const places *p, const double cell[3]) {
    uint64_t h = 0;
    for (int c = 0; c < p->dimension; c++) {
        const double number = cell[c] + 0.0;
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        h = combine(h, bits);
    }
    return (size_t)h & p->mask;
}

static bool is_near(const places *p, const double *a, const double *b) {
    bool near = true;
    for (int c = 0; c < p->dimension; c++)
        near = near && fabs(a[c] - b[c]) <= p->room;
    return near;
}

/* Returns the point that represents this one's number, or -1 if there is none yet. */
static int find_place(const places *p, const double *point) {
    double low[3] = {0}, high[3] = {0};
    for (int c = 0; c < p->dimension; c++) {
        low[c] = floor((point[c] - p->room) / (CELL * p->room));
        high[c] = floor((point[c] + p->room) / (CELL * p->room));
    }
    for (int i = 0; i < 1 << p->dimension; i++) {
        double cell[3] = {0};
        bool again = false;
        for (int c = 0; c < p->dimension; c++) {
            const bool upper = i >> c & 1;
            cell[c] = upper ? high[c] : low[c];
            again = again || (upper && low[c] == high[c]);
        }
        for (int k = again ? -1 : p->cells[cell_of(p, cell)]; k >= 0; k = p->next[k])
            if (is_near(p, point_at(p, k), point))
                return k;
    }
    return -1;
}

static void number_places(places *p) {
    for (int i = 0; i < p->counts[0] + p->counts[1]; i++) {
        const double *point = point_at(p, i);
        const int same = find_place(p, point);
        p->next[i] = -1;
        if (same >= 0) {
            p->numbers[i] = p->numbers[same];
            continue;
        }
        double cell[3] = {0};
        for (int c = 0; c < p->dimension; c++)
            cell[c] = floor(point[c] / (CELL * p->room));
        const size_t at = cell_of(p, cell);
        p->numbers[i] = p->number_count++;
        p->next[i] = p->cells[at];
        p->cells[at] = i;
    }
}

static bool open_places(places *p) {
    const size_t count = (size_t)p->counts[0] + (size_t)p->counts[1];
    size_t size = 16;
    while (size < 2 * count)
        size *= 2;
    p->mask = size - 1;
    p->numbers = exi_array_allocate(count, sizeof *p->numbers);
    p->next = exi_array_allocate(count, sizeof *p->next);
    p->cells = exi_array_allocate(size, sizeof *p->cells);
    if (!p->numbers || !p->next || !p->cells)
        return false;
    memset(p->cells, 0xFF, size * sizeof *p->cells);
    number_places(p);
    return true;
}

static void close_places(places *p) {
    free(p->numbers);
    free(p->next);
    free(p->cells);
}

int *exi_vertex_places(const ex_mesh *mesh, int *count, bool *failed) {
    const double size = ex_mesh_size(mesh);
    places p = {.points = {mesh->positions, mesh->positions},
                .counts = {mesh->vertex_count, 0},
                .dimension = 3,
                .room = PLACE_ROOM * size + 1e-30};
    const bool opened = open_places(&p);
    int *numbers = opened ? p.numbers : NULL;
    p.numbers = opened ? NULL : p.numbers;
    *count = p.number_count;
    *failed = !opened || *failed;
    close_places(&p);
    return numbers;
}

int exi_place_count(const ex_mesh *mesh, bool *failed) {
    int count;
    free(exi_vertex_places(mesh, &count, failed));
    return count;
}

/* ---- labels ---- */

typedef struct labelled {
    const ex_mesh *mesh;
    uint64_t *labels; /* [vertex_count] */
    uint64_t *next;   /* [vertex_count], of the next round */
    int *order;       /* vertices by label */
} labelled;

static bool open_labelled(labelled *l, const ex_mesh *mesh) {
    const size_t count = (size_t)mesh->vertex_count;
    *l = (labelled){.mesh = mesh,
                    .labels = exi_array_allocate(count, sizeof *l->labels),
                    .next = exi_array_allocate(count, sizeof *l->next),
                    .order = exi_array_allocate(count, sizeof *l->order)};
    return l->labels && l->next && l->order;
}

static void close_labelled(labelled *l) {
    free(l->labels);
    free(l->next);
    free(l->order);
}

/* A number's label is 0 if the two meshes have different counts of points with it. */
static bool label_places(const places *p, uint64_t *labels) {
    int *balance = calloc((size_t)p->number_count + 1, sizeof *balance);
    const int total = p->counts[0] + p->counts[1];
    for (int i = 0; balance && i < total; i++)
        balance[p->numbers[i]] += i < p->counts[0] ? 1 : -1;
    for (int i = 0; balance && i < total; i++)
        labels[i] = balance[p->numbers[i]] == 0 ? mix((uint64_t)p->numbers[i] + 1) : 0;
    free(balance);
    return balance != NULL;
}

/* Sets the first labels of both meshes; returns the number of labelled vertices of the first, or -1 without memory. */
static int label_by_position(labelled l[2], double room) {
    places p = {.points = {l[0].mesh->positions, l[1].mesh->positions},
                .counts = {l[0].mesh->vertex_count, l[1].mesh->vertex_count},
                .dimension = 3,
                .room = room + 1e-30};
    const size_t count = (size_t)p.counts[0];
    uint64_t *labels = exi_array_allocate(2 * count, sizeof *labels);
    int known = -1;
    if (labels && open_places(&p) && label_places(&p, labels)) {
        known = 0;
        memcpy(l[0].labels, labels, count * sizeof *labels);
        memcpy(l[1].labels, labels + count, count * sizeof *labels);
        for (size_t v = 0; v < count; v++)
            known += labels[v] != 0;
    }
    free(labels);
    close_places(&p);
    return known;
}

/* Returns the texture coordinates [corner_count][2] of all corners; corners without any get one that is out of the
 * way. */
static double *spread_texcoords(const ex_mesh *mesh) {
    double *spread = exi_array_allocate((size_t)mesh->corner_count, 2 * sizeof *spread);
    for (size_t c = 0; spread && c < (size_t)mesh->corner_count; c++) {
        const int t = mesh->corner_texcoords[c];
        spread[2 * c] = t >= 0 ? mesh->texcoords[2 * (size_t)t] : -1e9;
        spread[2 * c + 1] = t >= 0 ? mesh->texcoords[2 * (size_t)t + 1] : -1e9;
    }
    return spread;
}

static int label_by_texcoord(labelled l[2]) {
    const size_t corners = (size_t)l[0].mesh->corner_count, count = (size_t)l[0].mesh->vertex_count;
    double *spread[2] = {spread_texcoords(l[0].mesh), spread_texcoords(l[1].mesh)};
    places p = {.points = {spread[0], spread[1]},
                .counts = {(int)corners, (int)corners},
                .dimension = 2,
                .room = TEXCOORD_ROOM};
    uint64_t *labels = exi_array_allocate(2 * corners, sizeof *labels);
    int known = -1;
    if (spread[0] && spread[1] && labels && open_places(&p) && label_places(&p, labels)) {
        known = 0;
        for (int m = 0; m < 2; m++) {
            memset(l[m].labels, 0, count * sizeof *l[m].labels);
            for (size_t c = 0; c < corners; c++)
                l[m].labels[l[m].mesh->corners[c]] += labels[(size_t)m * corners + c];
        }
        for (size_t v = 0; v < count; v++)
            known += l[0].labels[v] != 0;
    }
    free(labels);
    free(spread[0]);
    free(spread[1]);
    close_places(&p);
    return known;
}

static void refine(labelled *l) {
    const ex_mesh *mesh = l->mesh;
    for (int v = 0; v < mesh->vertex_count; v++)
        l->next[v] = mix(l->labels[v] + 1);
    for (int f = 0; f < mesh->face_count; f++) {
        const int begin = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        uint64_t whole = (uint64_t)(end - begin);
        for (int c = begin; c < end; c++)
            whole += mix(l->labels[mesh->corners[c]] + 2);
        for (int c = begin; c < end; c++) {
            const uint64_t before = l->labels[mesh->corners[c > begin ? c - 1 : end - 1]];
            const uint64_t after = l->labels[mesh->corners[c + 1 < end ? c + 1 : begin]];
            l->next[mesh->corners[c]] += combine(combine(before, after), whole);
        }
    }
    uint64_t *swap = l->labels;
    l->labels = l->next;
    l->next = swap;
}

/* ---- matching ---- */

typedef struct pair {
    uint64_t label;
    int vertex;
} pair;

static int compare_pairs(const void *a, const void *b) {
    const pair *x = a, *y = b;
    return x->label != y->label ? (x->label < y->label ? -1 : 1) : (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Sorts vertices by label; returns the number of different labels. pairs [vertex_count] is scratch. */
static int sort_labels(labelled *l, pair *pairs) {
    const int count = l->mesh->vertex_count;
    int different = 0;
    for (int v = 0; v < count; v++)
        pairs[v] = (pair){l->labels[v], v};
    qsort(pairs, (size_t)count, sizeof *pairs, compare_pairs);
    for (int i = 0; i < count; i++) {
        l->order[i] = pairs[i].vertex;
        different += i == 0 || pairs[i].label != pairs[i - 1].label;
    }
    return different;
}

/* Hashes faces by their edges: independent of the order of faces and of their first corner. */
static uint64_t hash_faces(const ex_mesh *mesh, const int *to) {
    uint64_t sum = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        const int begin = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        uint64_t face = (uint64_t)(end - begin);
        for (int c = begin; c < end; c++) {
            const int v = mesh->corners[c], w = mesh->corners[c + 1 < end ? c + 1 : begin];
            face += combine((uint64_t)(to ? to[v] : v), (uint64_t)(to ? to[w] : w));
        }
        sum += mix(face);
    }
    return sum;
}

/* True if labels tell the vertices apart and map the faces of one mesh to those of the other; then fills in `to`. */
static bool follow_labels(labelled l[2], pair *pairs, int *to) {
    const int count = l[0].mesh->vertex_count;
    int before = -1, different = sort_labels(&l[0], pairs);
    for (int round = 0; round < ROUNDS && different < count && different > before; round++) {
        before = different;
        refine(&l[0]);
        refine(&l[1]);
        different = sort_labels(&l[0], pairs);
    }
    if (different < count || sort_labels(&l[1], pairs) < count)
        return false;
    for (int i = 0; i < count; i++) {
        if (l[0].labels[l[0].order[i]] != l[1].labels[l[1].order[i]])
            return false;
        to[l[1].order[i]] = l[0].order[i];
    }
    return hash_faces(l[0].mesh, NULL) == hash_faces(l[1].mesh, to);
}

/* Meshes with equal counts that are not compared yet, and the data for finding an order. */
typedef struct matching {
    labelled l[2];
    pair *pairs;
    int *to;
    bool open;
} matching;

static bool same_counts(const ex_mesh *mesh, const ex_mesh *other) {
    return mesh->vertex_count == other->vertex_count && mesh->face_count == other->face_count &&
           mesh->corner_count == other->corner_count;
}

static void open_matching(matching *m, const ex_mesh *mesh, const ex_mesh *other) {
    const bool first = open_labelled(&m->l[0], mesh), second = open_labelled(&m->l[1], other);
    m->pairs = exi_array_allocate((size_t)mesh->vertex_count, sizeof *m->pairs);
    m->to = exi_array_allocate((size_t)mesh->vertex_count, sizeof *m->to);
    m->open = first && second && m->pairs && m->to;
}

static void close_matching(matching *m) {
    free(m->pairs);
    free(m->to);
    close_labelled(&m->l[0]);
    close_labelled(&m->l[1]);
}

/* At least half of the vertices must be known; otherwise faces alone would be guessing. */
static bool match(matching *m, int known, bool *failed) {
    *failed = *failed || known < 0;
    return 2 * (int64_t)known > m->l[0].mesh->vertex_count && follow_labels(m->l, m->pairs, m->to);
}

bool exi_find_order_by_position(const ex_mesh *mesh, const ex_mesh *other, double room, int *to, bool *failed) {
    if (!same_counts(mesh, other))
        return false;
    matching m;
    open_matching(&m, mesh, other);
    const bool found = m.open && match(&m, label_by_position(m.l, room), failed);
    if (found)
        memcpy(to, m.to, (size_t)mesh->vertex_count * sizeof *to);
    *failed = *failed || !m.open;
    close_matching(&m);
    return found;
}

exi_order exi_find_order(const ex_mesh *mesh, const ex_mesh *other, int *to, bool *failed) {
    if (!same_counts(mesh, other))
        return EXI_ORDER_OTHER;
    if (hash_faces(mesh, NULL) == hash_faces(other, NULL)) {
        for (int v = 0; to && v < mesh->vertex_count; v++)
            to[v] = v;
        return EXI_ORDER_FACES;
    }
    matching m;
    open_matching(&m, mesh, other);
    exi_order order = EXI_ORDER_OTHER;
    if (m.open && mesh->corner_texcoords && other->corner_texcoords && match(&m, label_by_texcoord(m.l), failed))
        order = EXI_ORDER_TEXCOORDS;
    if (m.open && order == EXI_ORDER_OTHER &&
        match(&m, label_by_position(m.l, PLACE_ROOM * ex_mesh_size(mesh)), failed))
        order = EXI_ORDER_POSITIONS;
    if (to && order != EXI_ORDER_OTHER)
        memcpy(to, m.to, (size_t)mesh->vertex_count * sizeof *to);
    *failed = *failed || !m.open;
    close_matching(&m);
    return order;
}
