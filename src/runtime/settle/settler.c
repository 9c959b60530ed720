/*
 * Creation of a settler: checks, a tree for every set of triangles that driven vertices see, the driven vertices in
 * clusters of neighbours (order.c), and data of the driver's surface: triangles around vertices (side.c), chords
 * (carry.c), patches (patch.c).
 */
#include "runtime/settle/settler.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/settle/order.h"

/* Sets during creation: the distinct bind sets in use; bind_count stands for all triangles. */
typedef struct making {
    const ex_settler_def *def;
    const ex_allocator *allocator;
    int set_of[EX_BIND_MAX + 1];  /* by bind */
    int bind_of[EX_BIND_MAX + 1]; /* by set */
    int size_of[EX_BIND_MAX + 1]; /* driven vertices, by set */
    ex_tree *trees[EX_BIND_MAX + 1];
    int set_count;
    uint32_t *corners;   /* [triangle_count][3]: of a set */
    float (*points)[3];  /* [vertex_count]: positions where the keys bind them */
    unsigned char *used; /* [driver_count] */
    uint32_t *marks;     /* [driver_count] */
} making;

/* ---- checks ---- */

static ex_result check_counts(const ex_settler_def *def, ex_error *error) {
    if (def->driver_count < 0 || def->triangle_count < 0 || def->vertex_count < 0 || def->bind_count < 0 ||
        def->key_count < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a number of vertices, triangles, sets or keys is negative");
    if (def->key_count > EXI_KEY_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "there are %d keys; at most %d are allowed", def->key_count,
                            EXI_KEY_MAX);
    if (def->bind_count > EX_BIND_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "there are %d sets of triangles; at most %d are allowed",
                            def->bind_count, EX_BIND_MAX);
    if ((def->driver_count > 0 && !def->driver_positions) || (def->triangle_count > 0 && !def->triangles))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the driver's positions or triangles are missing");
    if (def->bind_count > 0 && (!def->binds || (def->vertex_count > 0 && !def->vertex_binds)))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "sets of triangles are missing, or which of them each vertex sees");
    if (def->key_count > 0 && def->vertex_count > 0 && (!def->key_triangles || !def->key_places))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the keys' closest triangles or places are missing");
    if (def->key_count > 0 && def->triangle_count == 0 && def->vertex_count > 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there are keys, but the driver has no triangle");
    return EX_OK;
}

static ex_result check_driver(const ex_settler_def *def, ex_error *error) {
    for (int v = 0; v < def->driver_count; v++)
        if (!exi_finite3(def->driver_positions + 3 * (size_t)v))
            return ex_error_set(error, EX_ERROR_DATA, "vertex %d (counting from 0) of the driver is not finite", v);
    for (size_t i = 0; i < 3 * (size_t)def->triangle_count; i++)
        if (def->triangles[i] >= (uint32_t)def->driver_count)
            return ex_error_set(error, EX_ERROR_DATA,
                                "triangle %d (counting from 0) of the driver refers to vertex %u, but there are %d",
                                (int)(i / 3), (unsigned)def->triangles[i], def->driver_count);
    return EX_OK;
}

static ex_result check_binds(const ex_settler_def *def, ex_error *error) {
    for (int b = 0; b < def->bind_count; b++) {
        const ex_bind *bind = &def->binds[b];
        if (bind->triangle_count < 1 || bind->triangle_count > def->triangle_count || !bind->triangles)
            return ex_error_set(error, EX_ERROR_DATA,
                                "set %d (counting from 0) has %d triangles, but the driver has %d", b,
                                bind->triangle_count, def->triangle_count);
        for (int i = 0; i < bind->triangle_count; i++) {
            if (bind->triangles[i] >= (uint32_t)def->triangle_count)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "set %d (counting from 0) names triangle %u, but there are %d", b,
                                    (unsigned)bind->triangles[i], def->triangle_count);
            if (i > 0 && bind->triangles[i] <= bind->triangles[i - 1])
                return ex_error_set(error, EX_ERROR_DATA,
                                    "set %d (counting from 0) is not in ascending order at triangle %u", b,
                                    (unsigned)bind->triangles[i]);
        }
    }
    for (int v = 0; def->bind_count > 0 && v < def->vertex_count; v++)
        if (def->vertex_binds[v] > def->bind_count)
            return ex_error_set(error, EX_ERROR_DATA, "driven vertex %d is bound to set %d, but there are %d", v,
                                def->vertex_binds[v], def->bind_count);
    return EX_OK;
}

static ex_result check_keys(const ex_settler_def *def, ex_error *error) {
    for (int k = 0; k < def->key_count; k++)
        for (int v = 0; v < def->vertex_count; v++) {
            const size_t at = (size_t)k * (size_t)def->vertex_count + (size_t)v;
            if (def->key_triangles[at] >= (uint32_t)def->triangle_count)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "key %d, driven vertex %d: refers to triangle %u, but there are %d", k + 1, v,
                                    (unsigned)def->key_triangles[at], def->triangle_count);
            if (!isfinite(def->key_places[2 * at]) || !isfinite(def->key_places[2 * at + 1]) ||
                (def->key_gaps && !isfinite(def->key_gaps[at])))
                return ex_error_set(error, EX_ERROR_DATA, "key %d, driven vertex %d: its place or gap is not finite",
                                    k + 1, v);
        }
    return EX_OK;
}

static ex_result check_def(const ex_settler_def *def, ex_error *error) {
    ex_result result = check_counts(def, error);
    if (result == EX_OK)
        result = check_driver(def, error);
    if (result == EX_OK)
        result = check_binds(def, error);
    return result == EX_OK ? check_keys(def, error) : result;
}

/* ---- sets and trees ---- */

static int bind_of_vertex(const ex_settler_def *def, int v) {
    return def->bind_count > 0 ? def->vertex_binds[v] : 0;
}

/* NULL: all triangles. */
static const ex_bind *bind_at(const ex_settler_def *def, int bind) {
    return bind < def->bind_count ? &def->binds[bind] : NULL;
}

static int set_size(const ex_settler_def *def, int bind) {
    const ex_bind *b = bind_at(def, bind);
    return b ? b->triangle_count : def->triangle_count;
}

static uint32_t set_triangle(const ex_settler_def *def, int bind, int i) {
    const ex_bind *b = bind_at(def, bind);
    return b ? b->triangles[i] : (uint32_t)i;
}

/* True if two sets are equal, also if one lists all triangles one by one. */
static bool same_set(const ex_settler_def *def, int a, int b) {
    if (set_size(def, a) != set_size(def, b))
        return false;
    for (int i = 0; i < set_size(def, a); i++)
        if (set_triangle(def, a, i) != set_triangle(def, b, i))
            return false;
    return true;
}

static void number_sets(making *m) {
    for (int b = 0; b <= EX_BIND_MAX; b++)
        m->set_of[b] = -1;
    for (int v = 0; v < m->def->vertex_count; v++) {
        const int bind = bind_of_vertex(m->def, v);
        if (m->set_of[bind] < 0) {
            int set = 0;
            while (set < m->set_count && !same_set(m->def, bind, m->bind_of[set]))
                set++;
            m->bind_of[set] = bind;
            m->set_of[bind] = set;
            m->set_count += set == m->set_count;
        }
        m->size_of[m->set_of[bind]]++;
    }
}

static ex_result make_trees(making *m, ex_error *error) {
    const ex_settler_def *def = m->def;
    ex_result result = EX_OK;
    for (int s = 0; result == EX_OK && s < m->set_count; s++) {
        const int count = set_size(def, m->bind_of[s]);
        for (int i = 0; i < count; i++)
            memcpy(m->corners + 3 * (size_t)i, def->triangles + 3 * (size_t)set_triangle(def, m->bind_of[s], i),
                   3 * sizeof *m->corners);
        const ex_tree_def tree = {.vertex_count = def->driver_count,
                                  .positions = def->driver_positions,
                                  .triangle_count = count,
                                  .triangles = m->corners};
        result = ex_tree_create(&tree, m->allocator, &m->trees[s], error);
    }
    return result;
}

/* ---- tables ---- */

static void fill_incidences(ex_settler *s) {
    uint32_t *first = exi_tree_at(s, s->incident), *list = exi_tree_at(s, s->incidences);
    const uint32_t *triangles = exi_tree_at(s, s->triangles);
    const size_t count = 3 * (size_t)s->triangle_count;
    for (size_t i = 0; i < count; i++)
        first[triangles[i] + 1]++;
    for (int v = 0; v < s->driver_count; v++)
        first[v + 1] += first[v];
    /* From the last to the first: the starts move down to their places meanwhile. */
    for (size_t i = count; i-- > 0;)
        list[--first[triangles[i] + 1]] = (uint32_t)(i / 3);
    memmove(first, first + 1, (size_t)s->driver_count * sizeof *first);
    first[s->driver_count] = (uint32_t)count;
}

/* Positions of the driven vertices on the known form: the mean of their places in the keys. */
static void fill_points(making *m) {
    const ex_settler_def *def = m->def;
    for (int v = 0; v < def->vertex_count; v++) {
        float *point = m->points[v];
        point[0] = point[1] = point[2] = 0;
        for (int k = 0; k < def->key_count; k++) {
            const size_t at = (size_t)k * (size_t)def->vertex_count + (size_t)v;
            const uint32_t *corner = def->triangles + 3 * (size_t)def->key_triangles[at];
            const float u = def->key_places[2 * at], w = def->key_places[2 * at + 1], part[3] = {1 - u - w, u, w};
            for (int i = 0; i < 3; i++)
                for (size_t c = 0; c < 3; c++)
                    point[c] += part[i] * def->driver_positions[3 * (size_t)corner[i] + c] / (float)def->key_count;
        }
    }
}

static void fill_order(ex_settler *s, making *m) {
    uint32_t *order = exi_tree_at(s, s->order);
    exi_cluster *clusters = exi_tree_at(s, s->clusters);
    int begin = 0, cluster = 0;
    for (int set = 0; set < m->set_count; set++) {
        int end = begin;
        for (int v = 0; v < s->vertex_count; v++)
            if (m->set_of[bind_of_vertex(m->def, v)] == set)
                order[end++] = (uint32_t)v;
        if (s->key_count > 0)
            exi_order_cluster((const float(*)[3])m->points, order, begin, end);
        for (; begin < end; begin += EXI_CLUSTER)
            clusters[cluster++] = (exi_cluster){
                .first = begin, .count = end - begin < EXI_CLUSTER ? end - begin : EXI_CLUSTER, .set = set};
        begin = end;
    }
}

static uint32_t number_in(const ex_settler *s, const exi_settler_set *set, uint32_t triangle) {
    const uint32_t *triangles = exi_tree_at(s, set->triangles);
    int low = 0, high = set->triangle_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (triangles[middle] < triangle)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->triangle_count && triangles[low] == triangle ? (uint32_t)low : EXI_NO_TRIANGLE;
}

static void fill_bounds(ex_settler *s, making *m) {
    const ex_settler_def *def = m->def;
    const exi_settler_set *sets = exi_tree_at(s, s->sets);
    const exi_cluster *clusters = exi_tree_at(s, s->clusters);
    const uint32_t *order = exi_tree_at(s, s->order);
    exi_bound *bounds = exi_tree_at(s, s->bounds);
    for (int c = 0; c < s->cluster_count; c++) {
        const exi_settler_set *set = &sets[clusters[c].set];
        for (int i = clusters[c].first; i < clusters[c].first + clusters[c].count; i++)
            for (int k = 0; k < s->key_count; k++) {
                const size_t at = (size_t)k * (size_t)s->vertex_count + order[i];
                exi_bound *b = &bounds[(size_t)k * (size_t)s->vertex_count + (size_t)i];
                memcpy(b->corner, def->triangles + 3 * (size_t)def->key_triangles[at], sizeof b->corner);
                b->triangle = number_in(s, set, def->key_triangles[at]);
                b->u = def->key_places[2 * at];
                b->v = def->key_places[2 * at + 1];
                b->gap = def->key_gaps ? def->key_gaps[at] : EXI_GAP_UNKNOWN;
            }
    }
}

static void fill(ex_settler *s, making *m) {
    const ex_settler_def *def = m->def;
    exi_settler_set *sets = exi_tree_at(s, s->sets);
    if (def->triangle_count > 0)
        memcpy(exi_tree_at(s, s->triangles), def->triangles, 3 * (size_t)def->triangle_count * sizeof *def->triangles);
    for (int k = 0; k < s->set_count; k++) {
        memcpy(exi_tree_at(s, sets[k].tree), m->trees[k], (size_t)m->trees[k]->size);
        uint32_t *triangles = exi_tree_at(s, sets[k].triangles), *corners = exi_tree_at(s, sets[k].corners);
        for (int i = 0; i < sets[k].triangle_count; i++) {
            triangles[i] = set_triangle(def, m->bind_of[k], i);
            memcpy(corners + 3 * (size_t)i, def->triangles + 3 * (size_t)triangles[i], 3 * sizeof *corners);
        }
    }
    fill_incidences(s);
    exi_carry_choose(s, def->driver_positions, exi_tree_at(s, s->chords));
    uint32_t *used = exi_tree_at(s, s->used);
    for (int v = 0, count = 0; v < s->driver_count; v++)
        if (m->used[v])
            used[count++] = (uint32_t)v;
    fill_order(s, m);
    fill_bounds(s, m);
    size_t total;
    if (s->kept_set >= 0)
        exi_patch_cut(m->trees[s->kept_set], m->marks, exi_tree_at(s, s->patch_starts),
                      exi_tree_at(s, s->patch_vertices), &total);
    if (s->kept_set >= 0 && !exi_patch_closed(s))
        s->kept_set = -1;
}

/* ---- the block ---- */

static int count_used(making *m) {
    const ex_settler_def *def = m->def;
    memset(m->used, 0, (size_t)def->driver_count);
    for (size_t at = 0; at < (size_t)def->key_count * (size_t)def->vertex_count; at++)
        for (size_t i = 0; i < 3; i++)
            m->used[def->triangles[3 * (size_t)def->key_triangles[at] + i]] = 1;
    int count = 0;
    for (int v = 0; v < def->driver_count; v++)
        count += m->used[v];
    return count;
}

static ex_result allocate(making *m, ex_settler **settler, ex_error *error) {
    const ex_settler_def *def = m->def;
    const size_t vertices = (size_t)def->vertex_count, triangles = (size_t)def->triangle_count;
    ex_settler head = {.driver_count = def->driver_count,
                       .triangle_count = def->triangle_count,
                       .vertex_count = def->vertex_count,
                       .key_count = def->key_count,
                       .set_count = m->set_count,
                       .used_count = count_used(m),
                       .open = def->open};
    exi_settler_set sets[EX_BIND_MAX + 1] = {{0}};
    for (int k = 0; k < m->set_count; k++)
        head.cluster_count += (m->size_of[k] + EXI_CLUSTER - 1) / EXI_CLUSTER;
    exi_size total = {.bytes = sizeof head}, scratch = {0};
    size_t bounds = 0, patch_vertices = 0;
    head.kept_set = -1;
    for (int k = 0; k < m->set_count && !def->open; k++)
        if (set_size(def, m->bind_of[k]) == def->triangle_count && def->triangle_count > 0)
            head.kept_set = k;
    if (head.kept_set >= 0)
        head.patch_count = exi_patch_cut(m->trees[head.kept_set], m->marks, NULL, NULL, &patch_vertices);
    total.overflow = !exi_multiply(vertices, (size_t)def->key_count, &bounds);
    head.triangles = exi_size_add(&total, triangles, 3 * sizeof(uint32_t), EXI_ALIGN);
    head.incident = exi_size_add(&total, (size_t)def->driver_count + 1, sizeof(uint32_t), EXI_ALIGN);
    head.incidences = exi_size_add(&total, triangles, 3 * sizeof(uint32_t), EXI_ALIGN);
    head.chords = exi_size_add(&total, (size_t)def->driver_count, 4 * sizeof(uint32_t), EXI_ALIGN);
    head.used = exi_size_add(&total, (size_t)head.used_count, sizeof(uint32_t), EXI_ALIGN);
    head.sets = exi_size_add(&total, (size_t)m->set_count, sizeof *sets, EXI_ALIGN);
    head.clusters = exi_size_add(&total, (size_t)head.cluster_count, sizeof(exi_cluster), EXI_ALIGN);
    head.order = exi_size_add(&total, vertices, sizeof(uint32_t), EXI_ALIGN);
    head.bounds = exi_size_add(&total, bounds, sizeof(exi_bound), EXI_ALIGN);
    head.patch_starts = exi_size_add(&total, (size_t)head.patch_count + 1, sizeof(uint32_t), EXI_ALIGN);
    head.patch_vertices = exi_size_add(&total, patch_vertices, sizeof(uint32_t), EXI_ALIGN);
    head.fours = exi_size_add(&scratch, ((size_t)head.patch_count + 3) / 4, sizeof(exi_patch_four), EXI_ALIGN);
    head.motions = exi_size_add(&scratch, (size_t)def->driver_count, sizeof(exi_motion), EXI_ALIGN);
    head.tallies = exi_size_add(&scratch, (size_t)head.cluster_count, sizeof(ex_settled), EXI_ALIGN);
    for (int k = 0; k < m->set_count; k++) {
        sets[k].triangle_count = ex_tree_triangle_count(m->trees[k]);
        sets[k].tree = exi_size_add(&total, (size_t)m->trees[k]->size, 1, EXI_ALIGN);
        sets[k].triangles = exi_size_add(&total, (size_t)sets[k].triangle_count, sizeof(uint32_t), EXI_ALIGN);
        sets[k].corners = exi_size_add(&total, (size_t)sets[k].triangle_count, 3 * sizeof(uint32_t), EXI_ALIGN);
        sets[k].fit = exi_size_add(&scratch, ex_bounds_size(m->trees[k]), 1, EXI_ALIGN);
    }
    exi_size_add(&scratch, 1, EXI_ALIGN, 1); /* the memory may start at any address */
    if (total.overflow || scratch.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the settler is too large for this machine's memory");
    head.size = total.bytes;
    head.scratch = scratch.bytes;
    ex_settler *made = exi_block_create(m->allocator, total.bytes);
    if (!made)
        return ex_error_memory(error, "the settler", total.bytes);
    *made = head;
    memcpy(exi_tree_at(made, head.sets), sets, (size_t)m->set_count * sizeof *sets);
    fill(made, m);
    *settler = made;
    return EX_OK;
}

ex_result ex_settler_create(const ex_settler_def *def, const ex_allocator *allocator, ex_settler **settler,
                            ex_error *error) {
    if (!def || !settler)
        return exi_misuse_error(error, __func__, "no definition, or no pointer for the settler");
    *settler = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    exi_size total = {0};
    const size_t corners = exi_size_add(&total, (size_t)def->triangle_count, 3 * sizeof(uint32_t), EXI_ALIGN);
    const size_t points = exi_size_add(&total, (size_t)def->vertex_count, 3 * sizeof(float), EXI_ALIGN);
    const size_t used = exi_size_add(&total, (size_t)def->driver_count, 1, EXI_ALIGN);
    const size_t marks = exi_size_add(&total, (size_t)def->driver_count, sizeof(uint32_t), EXI_ALIGN);
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the settler is too large for this machine's memory");
    char *work = exi_allocate(allocator, total.bytes);
    if (!work)
        return ex_error_memory(error, "making the settler", total.bytes);
    making m = {.def = def,
                .allocator = allocator,
                .corners = (uint32_t *)(void *)(work + corners),
                .points = (float(*)[3])(void *)(work + points),
                .used = (unsigned char *)(work + used),
                .marks = (uint32_t *)(void *)(work + marks)};
    number_sets(&m);
    fill_points(&m);
    result = make_trees(&m, error);
    if (result == EX_OK)
        result = allocate(&m, settler, error);
    for (int k = 0; k < m.set_count; k++)
        ex_tree_destroy(m.trees[k]);
    exi_release(allocator, work, total.bytes);
    return result;
}

void ex_settler_destroy(ex_settler *settler) {
    exi_block_destroy(settler);
}
