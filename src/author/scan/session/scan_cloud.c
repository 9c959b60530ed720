/*
 * Gives points without faces a surface.
 *
 * Normals, if the file has none: the direction of least variance of a point's neighbours, with signs carried from
 * neighbour to neighbour in the order of how parallel they are (Hoppe and others 1992). The outermost points of each
 * connected piece face out.
 *
 * Faces: every point is joined with neighbours that its own Delaunay triangulation has, in its tangent plane (Gopi,
 * Krishnan and Silva 2000). A triangle stays if two of its corners agree on it.
 */
#include "author/base/array.h"
#include "author/base/eigen.h"
#include "author/mesh/mesh_normals.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Neighbours of a point; points in a cell of the grid, about; fewest points. */
enum { NEAR = 12, IN_CELL = 5, POINTS_LEAST = 8 };
/* Neighbours that face another way belong to another surface; triangles with a larger circle, relative to the distance
 * of the sixth neighbour, would close holes. */
static const double same_side = 0.2, circle_most = 1.3;

typedef struct cloud {
    ex_mesh *mesh;
    int count;
    double low[3], size;
    size_t capacity; /* of the table of cells, a power of 2 */
    int *heads;      /* [capacity]: a point of the cell; -1: empty */
    int *nexts;      /* [count]: the next point of the same cell; -1: none */
    int (*near)[NEAR];
    int *near_counts;
} cloud;

static const double *at(const cloud *c, int point) {
    return c->mesh->positions + 3 * (size_t)point;
}

static double *normal_of(const cloud *c, int point) {
    return c->mesh->normals + 3 * (size_t)point;
}

/* ---- neighbours ---- */

static void key_of(const cloud *c, const double p[3], int64_t key[3]) {
    for (int k = 0; k < 3; k++)
        key[k] = (int64_t)floor((p[k] - c->low[k]) / c->size);
}

/* The place of a cell in the table: its own, or an empty one. */
static size_t place_of(const cloud *c, const int64_t key[3]) {
    const uint64_t mixed = (uint64_t)key[0] * 73856093U ^ (uint64_t)key[1] * 19349663U ^ (uint64_t)key[2] * 83492791U;
    size_t place = (size_t)((mixed ^ mixed >> 23) * 0x9E3779B97F4A7C15U >> 20) & (c->capacity - 1);
    for (; c->heads[place] >= 0; place = (place + 1) & (c->capacity - 1)) {
        int64_t own[3];
        key_of(c, at(c, c->heads[place]), own);
        if (memcmp(own, key, sizeof own) == 0)
            break;
    }
    return place;
}

/* Puts all points into cells; returns the number of cells. */
static int fill_grid(cloud *c) {
    int cells = 0;
    for (size_t i = 0; i < c->capacity; i++)
        c->heads[i] = -1;
    for (int i = 0; i < c->count; i++) {
        int64_t key[3];
        key_of(c, at(c, i), key);
        const size_t place = place_of(c, key);
        cells += c->heads[place] < 0;
        c->nexts[i] = c->heads[place];
        c->heads[place] = i;
    }
    return cells;
}

/* Chooses cells of a few points each. */
static void make_grid(cloud *c) {
    double high[3], most = 0;
    for (int k = 0; k < 3; k++) {
        c->low[k] = INFINITY;
        high[k] = -INFINITY;
        for (int i = 0; i < c->count; i++) {
            c->low[k] = fmin(c->low[k], at(c, i)[k]);
            high[k] = fmax(high[k], at(c, i)[k]);
        }
        most = fmax(most, high[k] - c->low[k]);
    }
    c->size = most > 0 ? most / 8 : 1;
    for (int cells = fill_grid(c); cells * IN_CELL < c->count && c->size > 1e-7 * most; cells = fill_grid(c))
        c->size *= fmax(0.5, 0.97 * sqrt((double)cells * IN_CELL / c->count));
}

static void find_near(cloud *c, int point) {
    double squares[NEAR];
    int64_t key[3];
    int *near = c->near[point], count = 0;
    key_of(c, at(c, point), key);
    for (int n = 0; n < 27; n++) {
        const int64_t cell[3] = {key[0] + n % 3 - 1, key[1] + n / 3 % 3 - 1, key[2] + n / 9 - 1};
        for (int other = c->heads[place_of(c, cell)]; other >= 0; other = c->nexts[other]) {
            double d[3];
            exi_subtract(at(c, other), at(c, point), d);
            const double square = exi_dot3(d, d);
            if (other == point || !(square > 0) || (count == NEAR && square >= squares[NEAR - 1]))
                continue;
            int to = count < NEAR ? count++ : NEAR - 1;
            for (; to > 0 && squares[to - 1] > square; to--) {
                squares[to] = squares[to - 1];
                near[to] = near[to - 1];
            }
            squares[to] = square;
            near[to] = other;
        }
    }
    c->near_counts[point] = count;
}

/* ---- normals ---- */

static void fit_normal(cloud *c, int point) {
    double mean[3], matrix[9] = {0}, values[3], vectors[9];
    const int count = c->near_counts[point];
    memcpy(mean, at(c, point), sizeof mean);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            mean[k] += at(c, c->near[point][i])[k];
    for (int k = 0; k < 3; k++)
        mean[k] /= count + 1;
    for (int i = -1; i < count; i++) {
        const double *p = at(c, i < 0 ? point : c->near[point][i]);
        for (int k = 0; k < 9; k++)
            matrix[k] += (p[k / 3] - mean[k / 3]) * (p[k % 3] - mean[k % 3]);
    }
    exi_eigen(matrix, 3, values, vectors);
    memcpy(normal_of(c, point), vectors + 6, 3 * sizeof *vectors);
}

typedef struct step {
    double parallel; /* how parallel the two normals are, from 0 to 1 */
    int from, to;
} step;

typedef struct heap {
    step *steps;
    size_t count, capacity;
} heap;

static bool push(heap *h, step s) {
    step *grown = exi_array_grow(h->steps, &h->capacity, h->count + 1, sizeof *grown);
    if (!grown)
        return false;
    h->steps = grown;
    size_t i = h->count++;
    for (; i > 0 && h->steps[(i - 1) / 2].parallel < s.parallel; i = (i - 1) / 2)
        h->steps[i] = h->steps[(i - 1) / 2];
    h->steps[i] = s;
    return true;
}

static step pop(heap *h) {
    const step top = h->steps[0], last = h->steps[--h->count];
    size_t i = 0;
    for (size_t child = 1; child < h->count; child = 2 * i + 1) {
        child += child + 1 < h->count && h->steps[child + 1].parallel > h->steps[child].parallel;
        if (h->steps[child].parallel <= last.parallel)
            break;
        h->steps[i] = h->steps[child];
        i = child;
    }
    h->steps[i] = last;
    return top;
}

static bool push_near(const cloud *c, heap *h, const unsigned char *done, int point) {
    bool good = true;
    for (int i = 0; i < c->near_counts[point] && good; i++) {
        const int other = c->near[point][i];
        if (!done[other])
            good = push(h, (step){fabs(exi_dot3(normal_of(c, point), normal_of(c, other))), point, other});
    }
    return good;
}

/* Turns all normals of the piece of a point to the side of their neighbours; lists its members. */
static bool spread_signs(cloud *c, heap *h, unsigned char *done, int seed, int *members, int *member_count) {
    bool good;
    *member_count = 0;
    done[seed] = 1;
    members[(*member_count)++] = seed;
    good = push_near(c, h, done, seed);
    while (h->count > 0 && good) {
        const step s = pop(h);
        if (done[s.to])
            continue;
        double *n = normal_of(c, s.to);
        const double sign = exi_dot3(normal_of(c, s.from), n) < 0 ? -1 : 1;
        for (int k = 0; k < 3; k++)
            n[k] *= sign;
        done[s.to] = 1;
        members[(*member_count)++] = s.to;
        good = push_near(c, h, done, s.to);
    }
    return good;
}

/* Turns a piece round unless it faces out: at the outermost point in some direction e, the normal is e. The rim of a
 * view may be outermost too, with any normal, so normals count by a high power of how parallel they are. */
static void face_out(cloud *c, const int *members, int count) {
    double vote = 0;
    for (int way = 0; way < 27; way++) {
        double e[3] = {way % 3 - 1, way / 3 % 3 - 1, way / 9 - 1}, most = -INFINITY;
        int outermost = members[0];
        if (!exi_unit3(e))
            continue;
        for (int i = 0; i < count; i++) {
            const double out = exi_dot3(at(c, members[i]), e);
            outermost = out > most ? members[i] : outermost;
            most = fmax(out, most);
        }
        const double parallel = exi_dot3(normal_of(c, outermost), e), square = parallel * parallel;
        vote += parallel * square * square * square;
    }
    for (int i = 0; i < count && vote < 0; i++)
        for (int k = 0; k < 3; k++)
            normal_of(c, members[i])[k] *= -1;
}

static bool make_normals(cloud *c) {
    unsigned char *done = calloc((size_t)c->count, 1);
    int *members = exi_array_allocate((size_t)c->count, sizeof *members), member_count = 0;
    heap h = {0};
    free(c->mesh->normals);
    c->mesh->normals = exi_array_allocate(3 * (size_t)c->count, sizeof *c->mesh->normals);
    bool good = done && members && c->mesh->normals;
    c->mesh->normal_count = good ? c->count : 0;
    for (int i = 0; good && i < c->count; i++)
        fit_normal(c, i);
    for (int i = 0; good && i < c->count; i++) {
        if (done[i])
            continue;
        good = spread_signs(c, &h, done, i, members, &member_count);
        face_out(c, members, member_count);
    }
    free(h.steps);
    free(members);
    free(done);
    return good;
}

/* ---- faces ---- */

typedef struct triangle {
    int corners[3]; /* ascending */
} triangle;

typedef struct triangle_list {
    triangle *all;
    size_t count, capacity;
} triangle_list;

static int by_corners(const void *a, const void *b) {
    const triangle *s = a, *t = b;
    for (int k = 0; k < 3; k++)
        if (s->corners[k] != t->corners[k])
            return s->corners[k] < t->corners[k] ? -1 : 1;
    return 0;
}

/* The centre of the circle through 0, a and b; false if they are on a line. */
static bool circle(const double a[2], const double b[2], double centre[2]) {
    const double cross = 2 * (a[0] * b[1] - a[1] * b[0]), aa = a[0] * a[0] + a[1] * a[1],
                 bb = b[0] * b[0] + b[1] * b[1];
    if (!(fabs(cross) > 1e-6 * sqrt(aa * bb)))
        return false;
    centre[0] = (b[1] * aa - a[1] * bb) / cross;
    centre[1] = (a[0] * bb - b[0] * aa) / cross;
    return true;
}

static bool add_triangle(triangle_list *list, int a, int b, int c) {
    triangle t = {{a, b, c}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (t.corners[j] > t.corners[j + 1]) {
                const int held = t.corners[j];
                t.corners[j] = t.corners[j + 1];
                t.corners[j + 1] = held;
            }
    triangle *grown = exi_array_grow(list->all, &list->capacity, list->count + 1, sizeof *grown);
    if (!grown)
        return false;
    list->all = grown;
    grown[list->count++] = t;
    return true;
}

/* Adds the triangles of a point's Delaunay triangulation in its tangent plane. */
static bool add_star(const cloud *c, int point, triangle_list *list) {
    double flat[NEAR][2], n[3], u[3] = {0}, v[3], reach = 0;
    int own[NEAR], count = 0;
    memcpy(n, normal_of(c, point), sizeof n);
    if (!exi_unit3(n))
        return true;
    u[fabs(n[0]) < 0.6 ? 0 : 1] = 1;
    exi_cross(n, u, v);
    exi_unit3(v);
    exi_cross(v, n, u);
    for (int i = 0; i < c->near_counts[point]; i++) {
        const int other = c->near[point][i];
        double d[3];
        exi_subtract(at(c, other), at(c, point), d);
        if (i < 6)
            reach = sqrt(exi_dot3(d, d));
        if (!(exi_dot3(n, normal_of(c, other)) > same_side))
            continue;
        flat[count][0] = exi_dot3(d, u);
        flat[count][1] = exi_dot3(d, v);
        own[count++] = other;
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) {
            double m[2];
            if (!circle(flat[a], flat[b], m))
                continue;
            const double square = m[0] * m[0] + m[1] * m[1];
            bool empty = square < circle_most * circle_most * reach * reach;
            for (int k = 0; k < count && empty; k++) {
                const double x = flat[k][0] - m[0], y = flat[k][1] - m[1];
                empty = k == a || k == b || x * x + y * y > square * (1 - 1e-9);
            }
            if (empty && !add_triangle(list, point, own[a], own[b]))
                return false;
        }
    return true;
}

static bool make_faces(cloud *c) {
    ex_mesh *mesh = c->mesh;
    triangle_list list = {0};
    bool good = true;
    for (int i = 0; i < c->count && good; i++)
        good = add_star(c, i, &list);
    if (good && list.count > 0)
        qsort(list.all, list.count, sizeof *list.all, by_corners);
    size_t kept = 0;
    for (size_t i = 0; good && i + 1 < list.count; i++)
        if (by_corners(&list.all[i], &list.all[i + 1]) == 0 &&
            (kept == 0 || by_corners(&list.all[kept - 1], &list.all[i])))
            list.all[kept++] = list.all[i];
    int **const of_faces[] = {&mesh->corners, &mesh->face_offsets, &mesh->corner_texcoords, &mesh->face_groups,
                              &mesh->face_materials};
    for (size_t i = 0; i < sizeof of_faces / sizeof *of_faces; i++) {
        free(*of_faces[i]);
        *of_faces[i] = NULL;
    }
    mesh->corners = good ? exi_array_allocate(3 * kept, sizeof *mesh->corners) : NULL;
    mesh->face_offsets = good ? exi_array_allocate(kept + 1, sizeof *mesh->face_offsets) : NULL;
    good = mesh->corners && mesh->face_offsets;
    for (size_t t = 0; good && t < kept; t++) {
        const int *p = list.all[t].corners;
        double a[3], b[3], cross[3];
        exi_subtract(at(c, p[1]), at(c, p[0]), a);
        exi_subtract(at(c, p[2]), at(c, p[0]), b);
        exi_cross(a, b, cross);
        const bool back = exi_dot3(cross, normal_of(c, p[0])) + exi_dot3(cross, normal_of(c, p[1])) +
                              exi_dot3(cross, normal_of(c, p[2])) <
                          0;
        memcpy(mesh->corners + 3 * t, (int[3]){p[0], p[back ? 2 : 1], p[back ? 1 : 2]}, 3 * sizeof *p);
        mesh->face_offsets[t] = (int)(3 * t);
    }
    if (good) {
        mesh->face_offsets[kept] = (int)(3 * kept);
        mesh->face_count = (int)kept;
        mesh->corner_count = (int)(3 * kept);
    }
    free(list.all);
    return good;
}

/* ---- entry point ---- */

ex_result exi_scan_mesh_points(ex_mesh *mesh, int most, ex_error *error) {
    ex_result result = most > 0 ? ex_scan_thin(&mesh, 1, most, NULL, error) : EX_OK;
    cloud c = {.mesh = mesh, .count = mesh->vertex_count};
    if (result == EX_OK && c.count < POINTS_LEAST)
        result = ex_error_set(error, EX_ERROR_DATA, "its %d points are too few for a scan", c.count);
    for (int i = 0; i < 3 * c.count && result == EX_OK; i++)
        if (!isfinite(mesh->positions[i]))
            result =
                ex_error_set(error, EX_ERROR_DATA,
                             "point %d is not finite: clean the scan, or export it again (counting from 0)", i / 3);
    if (result != EX_OK)
        return result;
    for (c.capacity = 16; c.capacity < 2 * (size_t)c.count;)
        c.capacity *= 2;
    c.heads = exi_array_allocate(c.capacity, sizeof *c.heads);
    c.nexts = exi_array_allocate((size_t)c.count, sizeof *c.nexts);
    c.near = exi_array_allocate((size_t)c.count, sizeof *c.near);
    c.near_counts = exi_array_allocate((size_t)c.count, sizeof *c.near_counts);
    bool good = c.heads && c.nexts && c.near && c.near_counts;
    if (good)
        make_grid(&c);
    for (int i = 0; good && i < c.count; i++)
        find_near(&c, i);
    if (good && (mesh->normal_count != mesh->vertex_count || !mesh->normals))
        good = make_normals(&c);
    good = good && make_faces(&c);
    free(c.heads);
    free(c.nexts);
    free(c.near);
    free(c.near_counts);
    if (!good)
        return ex_error_memory(error, "the points", (size_t)c.count * sizeof *c.near);
    exi_mesh_drop_normals(mesh); /* they have served */
    if (mesh->face_count == 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "its %d points have no neighbours on a surface: mesh it, or export it with faces", c.count);
    return EX_OK;
}
