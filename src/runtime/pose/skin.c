/*
 * Creation of a skin: merges influences of the same joint at a vertex, scales them to sum to 1, sorts them by weight
 * and lays them out (skin.h).
 *
 * Weights are divided by their sum in double and rounded to float, and the heaviest absorbs the rounding error: the sum
 * is 1 within half a unit of that weight, so that a body that moves rigidly stays rigid.
 */
#include "runtime/pose/skin.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <math.h>
#include <string.h>

/* Sums nearer to 1 than this are kept: a skin made from another skin's weights is the same skin. */
#define SUM_EXACT 0x1p-24
#define SUM_NOTED 1e-5

typedef struct influence {
    uint32_t joint;
    double weight;
} influence;

/* ---- checks ---- */

static ex_result check_vertex(const ex_skin_def *def, int v, ex_error *error) {
    if (def->starts[v] > def->starts[v + 1])
        return ex_error_set(error, EX_ERROR_DATA, "vertex %d: its influences end before they begin", v);
    if (def->starts[v + 1] - def->starts[v] > EX_INFLUENCE_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "vertex %d has %u influences; at most %d are allowed", v,
                            def->starts[v + 1] - def->starts[v], EX_INFLUENCE_MAX);
    double sum = 0;
    for (uint32_t i = def->starts[v]; i < def->starts[v + 1]; i++) {
        const double weight = (double)def->weights[i];
        if (def->joints[i] >= (uint32_t)def->joint_count)
            return ex_error_set(error, EX_ERROR_DATA, "vertex %d is moved by joint %u, but joints are numbered 0 to %d",
                                v, def->joints[i], def->joint_count - 1);
        if (!isfinite(weight) || weight < 0)
            return ex_error_set(error, EX_ERROR_DATA, "vertex %d: its weight for joint %u is %s", v, def->joints[i],
                                isfinite(weight) ? "negative" : "not finite");
        sum += weight;
    }
    if (def->starts[v] == def->starts[v + 1])
        return ex_error_set(error, EX_ERROR_DATA, "vertex %d is moved by no joint", v);
    if (!(sum > 0))
        return ex_error_set(error, EX_ERROR_DATA, "vertex %d: its weights sum to 0", v);
    return EX_OK;
}

static ex_result check_def(const ex_skin_def *def, ex_error *error) {
    if (def->vertex_count < 0 || def->joint_count < 1)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the number of vertices is negative, or there is no joint");
    if (def->joint_count > EX_JOINT_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "the skin has %d joints; at most %d are allowed", def->joint_count,
                            EX_JOINT_MAX);
    if (def->vertex_count > 0 && (!def->starts || !def->joints || !def->weights))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "starts, joints or weights are missing");
    ex_result result = EX_OK;
    for (int v = 0; result == EX_OK && v < def->vertex_count; v++)
        result = check_vertex(def, v, error);
    return result;
}

/* ---- the influences of one vertex ---- */

static bool before(influence a, influence b) {
    return a.weight > b.weight || (a.weight == b.weight && a.joint < b.joint);
}

/* Insertion sort: there are few influences, and mostly in order already. */
static void sort_by_weight(influence *list, int count) {
    for (int i = 1; i < count; i++) {
        influence moving = list[i];
        int at = i;
        for (; at > 0 && before(moving, list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = moving;
    }
}

static void normalise(influence *list, int count, double sum) {
    int heaviest = 0;
    double rounded = 0, others = 0;
    for (int i = 0; i < count; i++) /* the weight of a merged joint is not yet a float */
        rounded += (double)(float)list[i].weight;
    const bool exact = fabs(rounded - 1) <= SUM_EXACT;
    for (int i = 0; i < count; i++) {
        list[i].weight = (double)(float)(exact ? list[i].weight : list[i].weight / sum);
        others += list[i].weight;
        if (list[i].weight > list[heaviest].weight)
            heaviest = i;
    }
    if (!exact)
        list[heaviest].weight = (double)(float)(1 - (others - list[heaviest].weight));
}

/* Fills list and returns its length. *off is |sum - 1|. */
static int gather(const ex_skin_def *def, int v, influence list[EX_INFLUENCE_MAX], double *off) {
    int count = 0;
    double sum = 0;
    for (uint32_t i = def->starts[v]; i < def->starts[v + 1]; i++) {
        int at = 0;
        if (!(def->weights[i] > 0))
            continue;
        sum += (double)def->weights[i];
        while (at < count && list[at].joint != def->joints[i])
            at++;
        if (at == count)
            list[count++] = (influence){def->joints[i], 0};
        list[at].weight += (double)def->weights[i];
    }
    *off = fabs(sum - 1);
    normalise(list, count, sum);
    sort_by_weight(list, count);
    while (count > 1 && !(list[count - 1].weight > 0)) /* too small compared with the others */
        count--;
    return count;
}

/* ---- entry point ---- */

static void note(ex_skin_info *info, int vertex, int count, double off) {
    info->influence_most = count > info->influence_most ? count : info->influence_most;
    info->long_count += count > EXI_SHORT;
    info->unnormalised_count += off > SUM_NOTED;
    if (off > info->largest_deviation) {
        info->largest_deviation = off;
        info->worst_vertex = vertex;
    }
}

static bool layout(ex_skin *s, size_t long_influences) {
    const size_t vertices = (size_t)s->vertex_count + 3, longs = (size_t)s->long_count;
    exi_size total = {.bytes = sizeof *s};
    s->joints = exi_size_add(&total, vertices, EXI_SHORT * sizeof(uint16_t), EXI_ALIGN);
    s->weights = exi_size_add(&total, vertices, EXI_SHORT * sizeof(float), EXI_ALIGN);
    s->most = exi_size_add(&total, vertices / EXI_BLOCK + 1, 1, EXI_ALIGN);
    s->long_vertices = exi_size_add(&total, longs, sizeof(int32_t), EXI_ALIGN);
    s->long_starts = exi_size_add(&total, longs + 1, sizeof(uint32_t), EXI_ALIGN);
    s->long_joints = exi_size_add(&total, long_influences, sizeof(uint16_t), EXI_ALIGN);
    s->long_weights = exi_size_add(&total, long_influences, sizeof(float), EXI_ALIGN);
    s->size = total.bytes;
    return !total.overflow && long_influences <= UINT32_MAX;
}

static void fill(ex_skin *s, const ex_skin_def *def) {
    uint16_t *joints = (uint16_t *)((uintptr_t)s + (uintptr_t)s->joints);
    float *weights = (float *)((uintptr_t)s + (uintptr_t)s->weights);
    unsigned char *most = (unsigned char *)((uintptr_t)s + (uintptr_t)s->most);
    int32_t *long_vertices = (int32_t *)((uintptr_t)s + (uintptr_t)s->long_vertices);
    uint32_t *long_starts = (uint32_t *)((uintptr_t)s + (uintptr_t)s->long_starts);
    uint16_t *long_joints = (uint16_t *)((uintptr_t)s + (uintptr_t)s->long_joints);
    float *long_weights = (float *)((uintptr_t)s + (uintptr_t)s->long_weights);
    int longs = 0;
    uint32_t end = 0;
    for (int v = 0; v < s->vertex_count; v++) {
        influence list[EX_INFLUENCE_MAX];
        double off;
        const int count = gather(def, v, list, &off);
        for (int i = 0; i < EXI_SHORT; i++) {
            joints[EXI_SHORT * (size_t)v + (size_t)i] = (uint16_t)list[i < count ? i : 0].joint;
            weights[EXI_SHORT * (size_t)v + (size_t)i] = i < count ? (float)list[i].weight : 0;
        }
        const unsigned char needed = count <= 2 ? (unsigned char)count : EXI_SHORT;
        if (most[v / EXI_BLOCK] < needed)
            most[v / EXI_BLOCK] = needed;
        if (count <= EXI_SHORT)
            continue;
        long_vertices[longs++] = v;
        for (int i = EXI_SHORT; i < count; i++, end++) {
            long_joints[end] = (uint16_t)list[i].joint;
            long_weights[end] = (float)list[i].weight;
        }
        long_starts[longs] = end;
    }
}

ex_result ex_skin_create(const ex_skin_def *def, const ex_allocator *allocator, ex_skin **skin, ex_error *error) {
    if (!def || !skin) {
        exi_misuse(__func__, "no definition, or no pointer for the skin");
        return EX_ERROR_ARGUMENT;
    }
    *skin = NULL;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    size_t long_influences = 0;
    ex_skin head = {.vertex_count = def->vertex_count, .joint_count = def->joint_count, .info = {.worst_vertex = -1}};
    for (int v = 0; v < def->vertex_count; v++) {
        influence list[EX_INFLUENCE_MAX];
        double off;
        const int count = gather(def, v, list, &off);
        note(&head.info, v, count, off);
        long_influences += count > EXI_SHORT ? (size_t)(count - EXI_SHORT) : 0;
    }
    head.long_count = head.info.long_count;
    if (!layout(&head, long_influences))
        return ex_error_set(error, EX_ERROR_LIMIT, "the skin is too large for this machine's memory");
    ex_skin *made = exi_block_create(allocator, (size_t)head.size);
    if (!made)
        return ex_error_memory(error, "the skin", (size_t)head.size);
    *made = head;
    fill(made, def);
    *skin = made;
    return EX_OK;
}

void ex_skin_destroy(ex_skin *skin) {
    exi_block_destroy(skin);
}

/* ---- access ---- */

int ex_skin_vertex_count(const ex_skin *skin) {
    return skin->vertex_count;
}

int ex_skin_joint_count(const ex_skin *skin) {
    return skin->joint_count;
}

ex_skin_info ex_skin_get_info(const ex_skin *skin) {
    return skin->info;
}

int exi_skin_find_long(const exi_skin_tables *t, int vertex) {
    int low = 0, high = t->long_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (t->long_vertices[middle] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int ex_skin_influences(const ex_skin *skin, int vertex, uint32_t *joints, float *weights) {
    if (!skin || vertex < 0 || vertex >= skin->vertex_count) {
        exi_misuse(__func__, "no skin, or no such vertex");
        return 0;
    }
    const exi_skin_tables t = exi_skin_tables_of(skin);
    int count = 0;
    for (size_t i = EXI_SHORT * (size_t)vertex; count < EXI_SHORT && t.weights[i] > 0; i++, count++) {
        if (joints)
            joints[count] = t.joints[i];
        if (weights)
            weights[count] = t.weights[i];
    }
    const int place = exi_skin_find_long(&t, vertex);
    if (place == t.long_count || t.long_vertices[place] != vertex)
        return count;
    for (uint32_t i = t.long_starts[place]; i < t.long_starts[place + 1]; i++, count++) {
        if (joints)
            joints[count] = t.long_joints[i];
        if (weights)
            weights[count] = t.long_weights[i];
    }
    return count;
}
