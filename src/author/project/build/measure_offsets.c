/*
 * Measures sculpts of which only the moved vertices are kept (Pose Space Deformation, section 4). At the whole pose of
 * an example, earlier layers and the skin put a vertex at q = skin(base) + e, where e = R(v) t(v) is the contribution
 * of earlier layers after skinning, turned by the vertex's rotation R. A sculpt x moves the vertex if |x - q| is above
 * the tolerance, a posed length, and then by
 *
 *     d = mask (U(x - e) - base) in the frame `rest`,    d = mask R^-1 (x - q) in the frame `skinned`,
 *
 * where U un-poses. For sculpts at rest, skin, U and R are the identity. Vertices at the same position of the mesh that
 * the same joints move cannot be told apart. They get one offset if the sculpt leaves them together, so they stay
 * together to the bit.
 */
#include "author/base/array.h"
#include "author/base/rows.h"
#include "author/project/build/measure.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The default tolerance depends on the file: a program that writes six decimals moves every vertex a little, one that
 * writes floats moves none. Vertices within 5e-6 of the posed size, which is too small to see, show how far that is: it
 * is 4 times what nine tenths of them keep to. In a file of floats, that is about the last place of a float, so that
 * the whole falloff of a sculpt is kept. Rounding has a tail, though: a vertex that moved by less than 4 tolerances
 * counts only if it is part of a falloff, next to one that counts.
 */
static const double largest_tolerance = 5e-6;
static const double noise_share = 0.9, noise_factor = 4, clear_factor = 4;

bool exi_measure_moves(const exi_measure *m) {
    return (m->skeleton || m->carried) && m->skin;
}

bool exi_measure_unposes(const ex_project_layer *layer, const ex_project_example *example) {
    return !example->rest && (layer->unposed || (layer->trajectory.options && layer->driven));
}

bool exi_measure_is_posed(const exi_measure *m, const ex_project_layer *layer) {
    return exi_measure_moves(m) && (layer->unposed || layer->offsets.posed);
}

double exi_measure_tolerance(const exi_measure *m, const ex_project_layer *layer) {
    const double size = m->size * (exi_measure_is_posed(m, layer) ? m->scale : 1);
    return layer->offsets.tolerance >= 0 ? layer->offsets.tolerance : largest_tolerance * size;
}

/* ---- vertices that cannot be told apart ---- */

/* A vertex with its influences, for comparing; joints and weights have room for one vertex each. */
typedef struct twin_search {
    const exi_measure *m;
    uint32_t *joints[2];
    float *weights[2];
} twin_search;

static int influences_of(const twin_search *t, int side, int vertex) {
    return t->m->skin ? ex_skin_influences(t->m->skin, vertex, t->joints[side], t->weights[side]) : 0;
}

static uint64_t hash_vertex(const void *context, int vertex) {
    const twin_search *t = context;
    uint64_t hash = 0;
    for (size_t c = 0; c < 3; c++)
        hash = exi_mix_number(hash, t->m->mesh->positions[3 * (size_t)vertex + c]);
    return hash;
}

static bool same_vertex(const void *context, int a, int b) {
    const twin_search *t = context;
    const double *p = t->m->mesh->positions + 3 * (size_t)a, *q = t->m->mesh->positions + 3 * (size_t)b;
    if (p[0] != q[0] || p[1] != q[1] || p[2] != q[2])
        return false;
    const int count = influences_of(t, 0, a);
    return count == influences_of(t, 1, b) &&
           (count == 0 || (memcmp(t->joints[0], t->joints[1], (size_t)count * sizeof **t->joints) == 0 &&
                           memcmp(t->weights[0], t->weights[1], (size_t)count * sizeof **t->weights) == 0));
}

bool exi_measure_find_firsts(exi_measure *m) {
    const int count = m->mesh->vertex_count;
    const size_t most = m->skin ? (size_t)ex_skin_get_info(m->skin).influence_most : 0;
    twin_search t = {.m = m};
    m->firsts = exi_array_allocate((size_t)count, sizeof *m->firsts);
    bool good = m->firsts != NULL;
    for (int side = 0; side < 2; side++) {
        t.joints[side] = exi_array_allocate(most, sizeof **t.joints);
        t.weights[side] = exi_array_allocate(most, sizeof **t.weights);
        good = good && t.joints[side] && t.weights[side];
    }
    const exi_rows rows = {.context = &t, .hash = hash_vertex, .same = same_vertex};
    good = good && exi_rows_find_first(&rows, count, m->firsts);
    for (int side = 0; side < 2; side++) {
        free(t.joints[side]);
        free(t.weights[side]);
    }
    return good;
}

/* ---- one example ---- */

/* State while an example is measured. */
typedef struct sculpt {
    const exi_measure *m;
    const ex_project_layer *layer;
    const ex_mesh *form;
    const float *mask;
    double tolerance;         /* a vertex that is no farther from where it stands did not move */
    double clear;             /* a vertex that is farther did; one between these moved if it is next to one that did */
    unsigned char *moved;     /* [vertex_count] */
    double together;          /* vertices at one place that the sculpt keeps within this stay together */
    const exi_posing *posing; /* NULL if it is at rest */
    float *stands;            /* [vertex_count][3]: vertex positions without this example */
    double *rest;             /* [vertex_count][3], frame `rest`, posed: the sculpt at rest */
    int *places;              /* [vertex_count]: index of a vertex in the list, or -1 */
    int *next; /* [vertex_count]: the next of the vertices at one place that do not stay together, or -1 */
    uint32_t *vertices;
    float *deltas;
    size_t vertex_capacity, delta_capacity;
    int count;
} sculpt;

static bool open_sculpt(sculpt *s) {
    const size_t vertices = (size_t)s->m->mesh->vertex_count;
    s->stands = exi_array_allocate(3 * vertices, sizeof *s->stands);
    s->rest = exi_array_allocate(3 * vertices, sizeof *s->rest);
    s->places = exi_array_allocate(vertices, sizeof *s->places);
    s->next = exi_array_allocate(vertices, sizeof *s->next);
    s->moved = exi_array_allocate(vertices, sizeof *s->moved);
    return s->stands && s->rest && s->places && s->next && s->moved;
}

static void close_sculpt(sculpt *s) {
    free(s->stands);
    free(s->rest);
    free(s->places);
    free(s->next);
    free(s->moved);
    free(s->vertices);
    free(s->deltas);
}

static double distance(const double a[3], const double b[3]) {
    double off[3];
    exi_subtract(a, b, off);
    return sqrt(exi_dot3(off, off));
}

/* True if two vertices at one place were also together with the earlier layers applied, and still are. */
static bool stay_together(const sculpt *s, int a, int b) {
    const size_t i = 3 * (size_t)a, k = 3 * (size_t)b;
    for (size_t c = 0; c < 3; c++)
        if (s->m->base[i + c] != s->m->base[k + c] || (s->m->turned && s->m->turned[i + c] != s->m->turned[k + c]))
            return false;
    return (!s->mask || s->mask[a] == s->mask[b]) &&
           distance(s->form->positions + i, s->form->positions + k) <= s->together;
}

/* Returns the first of the vertices at this place that the vertex stays together with; it has that vertex's offset. If
 * there is none, returns the vertex itself, which is then the next for others to be compared with. */
static int find_model(const sculpt *s, int vertex) {
    int model = s->m->firsts[vertex], last = vertex;
    while (model >= 0 && model != vertex && !stay_together(s, vertex, model)) {
        last = model;
        model = s->next[model];
    }
    if (model >= 0 && model != vertex)
        return model;
    s->next[vertex] = -1;
    if (last != vertex)
        s->next[last] = vertex;
    return vertex;
}

/* Computes the displacement of a vertex, before rounding. */
static void measure_vertex(const sculpt *s, int vertex, const double off[3], double delta[3]) {
    const size_t i = 3 * (size_t)vertex;
    const double share = s->mask ? (double)s->mask[vertex] : 1;
    if (!s->posing) {
        memcpy(delta, off, 3 * sizeof *delta);
    } else if (s->layer->offsets.frame == EX_OFFSET_FRAME_SKINNED) {
        double q[4];
        ex_skin_vertex_rotation(s->m->skin, s->posing->palette, vertex, q);
        const double back[4] = {-q[0], -q[1], -q[2], q[3]};
        exi_rotate(back, off, delta);
    } else {
        exi_subtract(s->rest + i, s->m->base + i, delta);
    }
    for (int c = 0; c < 3; c++)
        delta[c] *= share;
}

/* Numbers too small to register next to the largest coordinate become 0, so that unpacking, which writes positions in
 * double, keeps all of them. After skinning, coordinates are posed ones. + 0 turns -0 into 0. */
static bool round_delta(const sculpt *s, const double delta[3], float rounded[3]) {
    const bool skinned = s->posing && s->layer->offsets.frame == EX_OFFSET_FRAME_SKINNED;
    const double least = s->m->least * (skinned && s->m->scale < 1 ? s->m->scale : 1);
    bool any = false;
    for (int c = 0; c < 3; c++) {
        rounded[c] = fabs(delta[c]) < least ? 0 : (float)delta[c] + 0.0F;
        any = any || rounded[c] != 0;
    }
    return any;
}

static bool keep(sculpt *s, int vertex, const float delta[3]) {
    const size_t needed = (size_t)s->count + 1;
    uint32_t *vertices = exi_array_grow(s->vertices, &s->vertex_capacity, needed, sizeof *vertices);
    s->vertices = vertices ? vertices : s->vertices;
    float *deltas = exi_array_grow(s->deltas, &s->delta_capacity, needed, 3 * sizeof *deltas);
    s->deltas = deltas ? deltas : s->deltas;
    if (!vertices || !deltas)
        return false;
    vertices[s->count] = (uint32_t)vertex;
    memcpy(deltas + 3 * (size_t)s->count, delta, 3 * sizeof *delta);
    s->places[vertex] = s->count++;
    return true;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Lowers the default tolerance to what the file needs. */
static bool find_tolerance(sculpt *s) {
    const size_t count = (size_t)s->m->mesh->vertex_count;
    double *off = exi_array_allocate(count, sizeof *off), largest = 0;
    size_t near = 0;
    for (size_t v = 0; off && v < count; v++) {
        double at[3];
        for (size_t c = 0; c < 3; c++) {
            at[c] = (double)s->stands[3 * v + c];
            largest = fmax(largest, fabs(at[c]));
        }
        const double d = distance(s->form->positions + 3 * v, at);
        if (d <= s->tolerance)
            off[near++] = d;
    }
    if (off && near > 0) {
        qsort(off, near, sizeof *off, compare);
        const double noise = noise_factor * off[(size_t)ceil(noise_share * (double)(near - 1))];
        const double least = fmin(s->tolerance, fmax(noise, ldexp(largest, -23)));
        s->clear = fmin(s->tolerance, clear_factor * least);
        s->tolerance = least;
    }
    free(off);
    return off != NULL;
}

enum { STAYED, PERHAPS, MOVED };

/* Lets a vertex that perhaps moved count because of another. */
static bool follow(const sculpt *s, int vertex, int other) {
    if (s->moved[vertex] != PERHAPS || s->moved[other] != MOVED)
        return false;
    s->moved[vertex] = MOVED;
    return true;
}

/* Carries movement over faces, and over the vertices at one place. Returns true if that made a difference. */
static bool spread(const sculpt *s) {
    const ex_mesh *mesh = s->m->mesh;
    bool more = false;
    for (int f = 0; f < mesh->face_count; f++)
        for (int i = mesh->face_offsets[f]; i < mesh->face_offsets[f + 1]; i++)
            for (int k = mesh->face_offsets[f]; k < mesh->face_offsets[f + 1]; k++)
                more = follow(s, mesh->corners[i], mesh->corners[k]) || more;
    for (int v = 0; v < mesh->vertex_count; v++)
        if (s->m->firsts[v] >= 0) {
            more = follow(s, v, s->m->firsts[v]) || more;
            more = follow(s, s->m->firsts[v], v) || more;
        }
    return more;
}

static void find_moved(sculpt *s) {
    bool unsure = false;
    for (size_t v = 0; v < (size_t)s->m->mesh->vertex_count; v++) {
        const double at[3] = {(double)s->stands[3 * v], (double)s->stands[3 * v + 1], (double)s->stands[3 * v + 2]};
        const double off = distance(s->form->positions + 3 * v, at);
        s->moved[v] = off > s->clear ? MOVED : off > s->tolerance ? PERHAPS : STAYED;
        unsure = unsure || s->moved[v] == PERHAPS;
    }
    while (unsure)
        unsure = spread(s);
}

static ex_result collect(sculpt *s, ex_error *error) {
    for (int v = 0; v < s->m->mesh->vertex_count; v++) {
        const double *x = s->form->positions + 3 * (size_t)v;
        const float *at = s->stands + 3 * (size_t)v;
        const double stands[3] = {(double)at[0], (double)at[1], (double)at[2]};
        double off[3], delta[3];
        float rounded[3];
        s->places[v] = -1;
        const int model = find_model(s, v);
        exi_subtract(x, stands, off);
        if (model != v) {
            if (s->places[model] < 0)
                continue;
            memcpy(rounded, s->deltas + 3 * (size_t)s->places[model], sizeof rounded);
        } else {
            if (s->moved[v] != MOVED)
                continue;
            measure_vertex(s, v, off, delta);
            if (!round_delta(s, delta, rounded))
                continue;
            for (int c = 0; c < 3; c++)
                if (!isfinite(rounded[c]))
                    return ex_error_set(error, EX_ERROR_DATA,
                                        "vertex %d (counting from 0) is too far away for a float once it is measured",
                                        v);
        }
        if (!keep(s, v, rounded))
            return ex_error_memory(error, "an example", (size_t)s->count * 16);
    }
    return EX_OK;
}

/* Removes unmoved vertices from the list: they did not have to be reproduced. */
static int leave_out_unmoved(const sculpt *s, ex_damped *list, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (s->places[list[i].vertex] >= 0)
            list[kept++] = list[i];
    return kept;
}

static ex_result measure(sculpt *s, exi_measured *out, ex_error *error) {
    const size_t vertices = (size_t)s->m->mesh->vertex_count;
    if (!open_sculpt(s) || !exi_posing_apply(s->posing, s->m, s->stands))
        return ex_error_memory(error, "an example", vertices * 44);
    ex_result result = EX_OK;
    if (s->layer->offsets.tolerance < 0 && !find_tolerance(s))
        return ex_error_memory(error, "an example", vertices * sizeof(double));
    find_moved(s);
    if (s->posing && s->layer->offsets.frame == EX_OFFSET_FRAME_REST)
        result = exi_measure_unpose(s->m, s->posing, s->form, s->rest, out, error);
    if (result == EX_OK)
        result = collect(s, error);
    if (result != EX_OK)
        return result;
    out->damped_count = leave_out_unmoved(s, out->damped, out->damped_count);
    out->near_count = leave_out_unmoved(s, out->near, out->near_count);
    out->offsets = (ex_offsets){.count = s->count, .vertices = s->vertices, .deltas = s->deltas};
    s->vertices = NULL;
    s->deltas = NULL;
    return EX_OK;
}

ex_result exi_measure_offsets(const exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                              exi_measured *out, ex_error *error) {
    const ex_project_layer *source = &m->view->layers[layer];
    exi_posing posing = {0};
    sculpt s = {.m = m,
                .layer = source,
                .form = form,
                .mask = mask,
                .tolerance = exi_measure_tolerance(m, source),
                .clear = exi_measure_tolerance(m, source),
                .together = exi_measure_tolerance(m, source),
                .posing = exi_measure_is_posed(m, source) ? &posing : NULL};
    ex_result result = EX_OK;
    if (source->offsets.frame == EX_OFFSET_FRAME_SKINNED && (!m->skin || m->carried))
        return ex_error_set(error, EX_ERROR_DATA,
                            "its offsets cannot turn with the skin, because no joint moves the mesh: name a "
                            "\"skeleton\" with a skin, or set the layer's \"frame\" to \"rest\"");
    if (s.posing && !exi_posing_open(&posing, m, &source->examples[example], NULL))
        result = ex_error_memory(error, "posing", m->joint_count * 200);
    if (result == EX_OK)
        result = measure(&s, out, error);
    close_sculpt(&s);
    exi_posing_close(&posing);
    return result;
}
