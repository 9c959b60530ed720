/*
 * Groups the vertices of a level that share a list of control vertices: rows are grouped by their list, in order of
 * first appearance, and groups are cut into batches. Linear in the number of weights.
 */
#include "runtime/refine/stencils.h"

#include "runtime/base/memory.h"

#include <string.h>

static size_t slot_count(int vertex_count) {
    size_t slots = 16;
    while (slots < 2 * (size_t)vertex_count)
        slots *= 2;
    return slots;
}

size_t exi_stencil_plan_size(const ex_stencil_rows *rows, int control_count) {
    return slot_count(rows->vertex_count) + 5 * (size_t)rows->vertex_count + (size_t)control_count + 8;
}

static int row_size(const ex_stencil_rows *rows, int v) {
    return rows->offsets[v + 1] - rows->offsets[v];
}

static bool same_support(const ex_stencil_rows *rows, int a, int b) {
    int size = row_size(rows, a);
    return size == row_size(rows, b) &&
           memcmp(rows->indices + rows->offsets[a], rows->indices + rows->offsets[b], (size_t)size * sizeof(int)) == 0;
}

static size_t hash_support(const ex_stencil_rows *rows, int v) {
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (int i = rows->offsets[v]; i < rows->offsets[v + 1]; i++) {
        state = (state ^ (uint64_t)rows->indices[i]) * 0xD6E8FEB86659FD93u;
        state ^= state >> 32;
    }
    return (size_t)state;
}

/* Finds the group of every vertex, by a table of first vertices; sizes [groups] counts them. Returns the number of
 * groups. */
static int find_groups(const ex_stencil_rows *rows, int *slots, int *group_of, int *sizes) {
    size_t mask = slot_count(rows->vertex_count) - 1;
    int count = 0;
    memset(slots, 0xFF, (mask + 1) * sizeof *slots);
    for (int v = 0; v < rows->vertex_count; v++) {
        size_t slot = hash_support(rows, v) & mask;
        while (slots[slot] >= 0 && !same_support(rows, slots[slot], v))
            slot = (slot + 1) & mask;
        if (slots[slot] < 0) {
            slots[slot] = v;
            group_of[v] = count;
            sizes[count++] = 0;
        } else {
            group_of[v] = group_of[slots[slot]];
        }
        sizes[group_of[v]]++;
    }
    return count;
}

/* Returns the number of a group's vertices that fill quads: the last quad must be more than half full. */
static int shared_part(int size) {
    int left = size % EXI_STENCIL_PAD;
    return 2 * left > EXI_STENCIL_PAD ? size : size - left;
}

static void cut_groups(exi_stencil_plan *plan, const int *sizes, int group_count) {
    const int most = EXI_BATCH_SHARED;
    for (int g = 0; g < group_count; g++)
        for (int left = shared_part(sizes[g]); left > 0; left -= most) {
            plan->shared_count += left < most ? left : most;
            plan->ends[plan->end_count++] = plan->shared_count;
        }
}

/* Counts of loose vertices by the size of their support become places; then each vertex goes to its place. */
static void sort_loose(const ex_stencil_rows *rows, exi_stencil_plan *plan, const int *found, int *places,
                       int control_count) {
    memset(places, 0, ((size_t)control_count + 2) * sizeof *places);
    for (int i = 0; i < plan->loose_count; i++)
        places[row_size(rows, found[i]) + 1]++;
    for (int n = 0; n <= control_count; n++)
        places[n + 1] += places[n];
    for (int i = 0; i < plan->loose_count; i++)
        plan->loose[places[row_size(rows, found[i])]++] = found[i];
}

void exi_stencil_plan_make(const ex_stencil_rows *rows, int control_count, int *work, exi_stencil_plan *plan) {
    const size_t count = (size_t)rows->vertex_count;
    int *slots = work, *group_of = slots + slot_count(rows->vertex_count), *sizes = group_of + count;
    int *places = sizes + count;
    *plan = (exi_stencil_plan){.shared = places + control_count + 4};
    plan->ends = plan->shared + count;
    plan->loose = plan->ends + count;
    int group_count = find_groups(rows, slots, group_of, sizes);
    cut_groups(plan, sizes, group_count);
    /* From here on sizes[g] is the place of the group's next vertex; slots holds the room of each group. */
    int *found = NULL, start = 0;
    for (int g = 0; g < group_count; g++) {
        int part = shared_part(sizes[g]);
        slots[g] = start + part;
        sizes[g] = start;
        start += part;
    }
    found = slots + group_count; /* at least as many slots remain as there are vertices */
    for (int v = 0; v < rows->vertex_count; v++) {
        int g = group_of[v];
        if (sizes[g] < slots[g])
            plan->shared[sizes[g]++] = v;
        else
            found[plan->loose_count++] = v;
    }
    sort_loose(rows, plan, found, places, control_count);
}
