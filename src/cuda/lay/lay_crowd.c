/*
 * Tables of the patches for crowds (exi_crowd in block.h). Sums of matrices are relative to a reference joint and to
 * the patch's centre,
 *
 *     sum over j of w_j M_j x = M_r x + sum over j of w_j ((R_j - R_r) (x - c) + M_j c - M_r c),
 *
 * so that all terms but the first are of the patch's size, not the character's: the products use numbers in two parts
 * of 11 bits, so their errors are smaller by that ratio.
 */
#include "cuda/lay/lay_crowd.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/pose/skin.h"
#include "runtime/rig/rig.h"

#include <string.h>

/* Maximum number of vertices of a cage for crowds. */
#define VERTEX_MOST 262144
/* Maximum number of steps of 8 joints for which a kernel has room. */
#define STEPS_MOST 4

static size_t tiles_of(const exi_crowd_plan *p) {
    return (size_t)p->most / 16;
}

/* ---- skin ---- */

/* Called for every influence of a vertex. */
typedef void (*influence)(void *context, int joint, float weight);
static void visit_influences(const exi_skin_tables *t, uint32_t vertex, influence call, void *context) {
    for (size_t i = 0; i < EXI_SHORT; i++)
        if (t->weights[EXI_SHORT * (size_t)vertex + i] != 0)
            call(context, t->joints[EXI_SHORT * (size_t)vertex + i], t->weights[EXI_SHORT * (size_t)vertex + i]);
    if (t->long_count == 0)
        return;
    const int place = exi_skin_find_long(t, (int)vertex);
    if (place < t->long_count && t->long_vertices[place] == (int)vertex)
        for (uint32_t i = t->long_starts[place]; i < t->long_starts[place + 1]; i++)
            call(context, t->long_joints[i], t->long_weights[i]);
}

static void add_weight(void *context, int joint, float weight) {
    ((float *)context)[joint] += weight;
}

/* Lists the joints of the patch, those with the most weight first. Returns their number, which may exceed `most`; at
 * most that many are listed. */
static int list_joints(exi_crowd_plan *p, const exi_skin_tables *t, uint16_t *joints, int most) {
    memset(p->joint_weights, 0, (size_t)p->joints * sizeof *p->joint_weights);
    for (int i = 0; i < p->row_count; i++)
        visit_influences(t, p->rows[i], add_weight, p->joint_weights);
    int count = 0;
    for (;;) {
        int heaviest = -1;
        for (int j = 0; j < p->joints; j++)
            if (p->joint_weights[j] > 0 && (heaviest < 0 || p->joint_weights[j] > p->joint_weights[heaviest]))
                heaviest = j;
        if (heaviest < 0)
            return count;
        if (count < most)
            joints[count] = (uint16_t)heaviest;
        count++;
        p->joint_weights[heaviest] = 0;
    }
}

/* ---- filling ---- */

/* Place of row r and column c of an operand among the lanes' four numbers. */
static size_t operand_place(int row, int column) {
    const int lane = row % 8 * 4 + column % 4;
    return 4 * (size_t)lane + (size_t)(row / 8 + 2 * (column / 4));
}

static void fill_centre(const exi_crowd_plan *p, float centre[3]) {
    for (int c = 0; c < 3; c++) {
        float low = 0, high = 0;
        for (int i = 0; i < p->row_count; i++) {
            const float x = p->positions[3 * (size_t)p->rows[i] + (size_t)c];
            low = i == 0 || x < low ? x : low;
            high = i == 0 || x > high ? x : high;
        }
        centre[c] = 0.5F * (low + high);
    }
}

/* Fills base and forms of a patch; missing rows stay 0. */
static void fill_forms(const exi_crowd_plan *p, const ex_forms *forms, int form_count, int steps, const float centre[3],
                       float *base, float *numbers) {
    for (int i = 0; i < p->row_count; i++) {
        const int tile = i / 16, row = i % 16;
        float *own = base + (size_t)tile * 6 * 32;
        for (int c = 0; c < 3; c++) /* all four lanes of a row hold it */
            for (int t = 0; t < 4; t++)
                own[(size_t)(3 * (row / 8) + c) * 32 + (size_t)(row % 8 * 4 + t)] =
                    p->positions[3 * (size_t)p->rows[i] + (size_t)c] - centre[c];
        for (int k = 0; k < form_count; k++) {
            float delta[3];
            exi_forms_get_vertex(forms, k, (int)p->rows[i], delta);
            for (int c = 0; c < 3; c++)
                numbers[(((size_t)tile * (size_t)steps + (size_t)(k / 8)) * 3 + (size_t)c) * 128 +
                        operand_place(row, k % 8)] = delta[c];
        }
    }
}

/* Data for filling the skin's operands. */
typedef struct skin_row {
    const uint16_t *joints;
    int joint_count, row;
    float *operands; /* of the row's tile */
} skin_row;

static void put_weight(void *context, int joint, float weight) {
    const skin_row *s = context;
    for (int i = 1; i < s->joint_count; i++)
        if (s->joints[i] == joint)
            s->operands[(size_t)(i / 8) * 128 + operand_place(s->row, i % 8)] += weight;
}

static void fill_skin(const exi_crowd_plan *p, const exi_skin_tables *t, const uint16_t *joints, int joint_count,
                      int steps, float *operands) {
    for (int i = 0; i < p->row_count; i++) {
        skin_row row = {joints, joint_count, i % 16, operands + (size_t)(i / 16) * (size_t)steps * 128};
        row.operands[operand_place(row.row, 0)] = 1; /* the reference */
        visit_influences(t, p->rows[i], put_weight, &row);
    }
}

/* Makes the ring of a vertex one closed loop of rows: chains are joined through the vertex itself, whose edges add
 * nothing. Returns its length, made even; loop may be NULL. */
static uint32_t close_loop(const exi_crowd_plan *p, uint32_t vertex, uint32_t *loop) {
    const uint32_t begin = p->ring_starts[vertex], end = p->ring_starts[vertex + 1];
    uint32_t count = 0, chains = 0, last = p->row_of[vertex];
    for (uint32_t k = begin; k < end; k++)
        chains += (p->rings[k] & EXI_GPU_RING_START) != 0;
    const bool closed = chains == 1 && end - begin > 1 && (p->rings[begin] & ~EXI_GPU_RING_START) == p->rings[end - 1];
    for (uint32_t k = begin; k < (closed ? end - 1 : end); k++) {
        if (!closed && (p->rings[k] & EXI_GPU_RING_START)) {
            if (loop)
                loop[count] = p->row_of[vertex];
            count++;
        }
        last = p->row_of[p->rings[k] & ~EXI_GPU_RING_START];
        if (loop)
            loop[count] = last;
        count++;
    }
    if (count % 2 != 0) {
        if (loop)
            loop[count] = last;
        count++;
    }
    return count;
}

/* Returns the number of entries of the patch's loops beyond those that a thread keeps. */
static size_t count_long(const exi_crowd_plan *p) {
    size_t sum = 0;
    for (int i = 0; p->rings && i < p->owned; i++) {
        const uint32_t count = close_loop(p, p->rows[i], NULL);
        sum += count > EXI_CROWD_RING ? count - EXI_CROWD_RING : 0;
    }
    return sum;
}

/* room: for the longest loop of the rig. */
static void fill_rings(const exi_crowd_plan *p, uint16_t *rings, uint32_t *long_starts, uint32_t *long_rings,
                       uint32_t *next, uint32_t *room) {
    for (int i = 0; i < p->most; i++) {
        uint16_t *own = rings + (size_t)i * EXI_CROWD_RING;
        long_starts[i] = *next;
        const uint32_t count = i < p->owned ? close_loop(p, p->rows[i], room) : 0;
        for (uint32_t k = 0; k < EXI_CROWD_RING; k++) {
            const uint32_t row = count == 0 ? (i < p->owned ? (uint32_t)i : 0) : room[k < count ? k : count - 1];
            own[k] = (uint16_t)(12 * row);
        }
        for (uint32_t k = EXI_CROWD_RING; k < count; k++)
            long_rings[(*next)++] = 12 * room[k];
    }
    long_starts[p->most] = *next;
}

/* ---- entry point ---- */

/* Returns 1 divided by the mean square of the edges around vertices; 1 if there are none. */
static float area_unit(const exi_crowd_plan *p) {
    double sum = 0, count = 0;
    for (uint32_t v = 0; p->rings && v < (uint32_t)p->vertices; v++)
        for (uint32_t k = p->ring_starts[v]; k < p->ring_starts[v + 1]; k++) {
            const float *a = p->positions + 3 * (size_t)v;
            const float *b = p->positions + 3 * (size_t)(p->rings[k] & ~EXI_GPU_RING_START);
            for (int c = 0; c < 3; c++)
                sum += ((double)a[c] - (double)b[c]) * ((double)a[c] - (double)b[c]);
            count++;
        }
    const double unit = count / sum;
    return unit > 1e-30 && unit < 1e30 ? (float)unit : 1;
}

/* Totals over all patches. */
typedef struct totals {
    int most_steps;
    size_t operands, long_entries;
    uint32_t longest;
} totals;

static totals measure(exi_crowd_plan *p, const exi_skin_tables *t) {
    totals all = {.longest = EXI_CROWD_RING + 2};
    uint16_t joints[8 * STEPS_MOST];
    for (int i = 0; i < p->patch_count; i++) {
        exi_crowd_plan_patch(p, i);
        const int count = t ? list_joints(p, t, joints, 8 * STEPS_MOST) : 0, steps = (count + 7) / 8;
        all.most_steps = steps > all.most_steps ? steps : all.most_steps;
        all.operands += (size_t)steps * tiles_of(p);
        all.long_entries += count_long(p);
        for (int k = 0; p->rings && k < p->owned; k++) {
            const uint32_t length = close_loop(p, p->rows[k], NULL);
            all.longest = length > all.longest ? length : all.longest;
        }
    }
    memset(p->seen, 0, (size_t)p->vertices * sizeof *p->seen);
    return all;
}

static void fill_patches(const ex_rig *rig, exi_crowd_plan *p, const exi_skin_tables *t, const exi_crowd *crowd,
                         const exi_crowd *host, uint32_t *room) {
    uint32_t operand = 0, next = 0;
    for (int i = 0; i < p->patch_count; i++) {
        const size_t n = (size_t)i;
        exi_crowd_patch *patch = (exi_crowd_patch *)(uintptr_t)host->patches + i;
        uint32_t *sources = (uint32_t *)(uintptr_t)host->sources + n * (size_t)p->most;
        uint16_t *joints = (uint16_t *)(uintptr_t)host->joints + n * 8 * (size_t)crowd->most_joint_steps;
        exi_crowd_plan_patch(p, i);
        memcpy(sources, p->rows, (size_t)p->row_count * sizeof *sources);
        patch->owned = p->owned;
        patch->rows = p->row_count;
        patch->skin = operand;
        fill_centre(p, patch->centre);
        fill_forms(p, exi_rig_forms(rig), rig->counts.forms, crowd->form_steps, patch->centre,
                   (float *)(uintptr_t)host->base + n * tiles_of(p) * 6 * 32,
                   (float *)(uintptr_t)host->forms + n * tiles_of(p) * (size_t)crowd->form_steps * 3 * 128);
        if (t) {
            patch->joint_count = list_joints(p, t, joints, 8 * crowd->most_joint_steps);
            patch->joint_steps = (patch->joint_count + 7) / 8;
            fill_skin(p, t, joints, patch->joint_count, patch->joint_steps,
                      (float *)(uintptr_t)host->skin + (size_t)operand * 128);
            operand += (uint32_t)patch->joint_steps * (uint32_t)tiles_of(p);
        }
        if (!p->rings)
            continue;
        const uint32_t first = next;
        fill_rings(p, (uint16_t *)(uintptr_t)host->rings + n * (size_t)p->most * EXI_CROWD_RING,
                   (uint32_t *)(uintptr_t)host->long_starts + n * ((size_t)p->most + 1),
                   (uint32_t *)(uintptr_t)host->long_rings, &next, room);
        patch->has_long_rings = next > first;
    }
}

/* Reserves room for the tables; host gets the addresses to write them to now. */
static void take_tables(exi_lay *lay, const exi_crowd_plan *p, const totals *all, int form_steps, exi_crowd *crowd,
                        exi_crowd *host) {
    const size_t n = (size_t)p->patch_count;
    const void *at = NULL;
    host->patches = exi_lay_take(lay, n, sizeof *host->patches, &at);
    crowd->patches = at;
    host->sources = exi_lay_take(lay, n * (size_t)p->most, sizeof *host->sources, &at);
    crowd->sources = at;
    host->joints = exi_lay_take(lay, n * 8 * (size_t)all->most_steps, sizeof *host->joints, &at);
    crowd->joints = at;
    host->base = exi_lay_take(lay, n * tiles_of(p), 6 * 32 * sizeof *host->base, &at);
    crowd->base = at;
    host->forms = exi_lay_take(lay, n * tiles_of(p) * (size_t)form_steps, 3 * 128 * sizeof *host->forms, &at);
    crowd->forms = at;
    host->skin = exi_lay_take(lay, all->operands, 128 * sizeof *host->skin, &at);
    crowd->skin = at;
    host->rings = exi_lay_take(lay, p->rings ? n * (size_t)p->most : 0, EXI_CROWD_RING * sizeof *host->rings, &at);
    crowd->rings = at;
    host->long_starts = exi_lay_take(lay, p->rings ? n * ((size_t)p->most + 1) : 0, sizeof *host->long_starts, &at);
    crowd->long_starts = at;
    host->long_rings = exi_lay_take(lay, all->long_entries, sizeof *host->long_rings, &at);
    crowd->long_rings = at;
}

/* True if a rig has only forms, and linear skinning or none. */
static bool suits(const ex_rig *rig) {
    const exi_rig_counts *c = &rig->counts;
    return c->vertices > 0 && c->vertices <= VERTEX_MOST && c->forms <= EXI_CROWD_FORM_MAX && c->trajectories == 0 &&
           !rig->patches[EX_OFFSET_FRAME_REST] && !rig->patches[EX_OFFSET_FRAME_SKINNED] &&
           exi_rig_forms(rig)->storage == EX_STORAGE_FLOAT && (!rig->skin || c->skinning == EX_SKINNING_LINEAR);
}

/* Lays out one cut of the cage, with neighbours or without. */
static ex_result lay_cut(const ex_rig *rig, exi_lay *lay, exi_crowd_plan *p, exi_crowd *crowd, ex_error *error) {
    const exi_skin_tables skin = rig->skin ? exi_skin_tables_of(ex_rig_skin(rig)) : (exi_skin_tables){0};
    const exi_skin_tables *t = rig->skin ? &skin : NULL;
    if (!exi_crowd_plan_cut(p))
        return EX_OK;
    const totals all = measure(p, t);
    if (all.most_steps > STEPS_MOST)
        return EX_OK;
    exi_crowd host;
    *crowd = (exi_crowd){.patch_count = p->patch_count,
                         .rows = p->most,
                         .form_steps = (rig->counts.forms + 7) / 8,
                         .most_joint_steps = all.most_steps,
                         .has_rings = p->rings != NULL,
                         .runs = p->runs,
                         .area = area_unit(p)};
    take_tables(lay, p, &all, crowd->form_steps, crowd, &host);
    if (!lay->memory)
        return EX_OK;
    const size_t size = all.longest * sizeof(uint32_t);
    uint32_t *room = exi_allocate(lay->allocator, size);
    if (!room)
        return ex_error_memory(error, "the patches of a crowd", size);
    fill_patches(rig, p, t, crowd, &host, room);
    exi_release(lay->allocator, room, size);
    return EX_OK;
}

ex_result exi_lay_crowd(const ex_rig *rig, exi_lay *lay, exi_gpu *head, ex_error *error) {
    exi_crowd_plan p;
    head->crowd = head->bare = (exi_crowd){.patch_count = 0};
    if (!suits(rig))
        return EX_OK;
    ex_result result = exi_crowd_plan_open(rig, lay->allocator, &p, error);
    if (result == EX_OK && p.rings) {
        p.most = EXI_CROWD_ROWS;
        result = lay_cut(rig, lay, &p, &head->crowd, error);
    }
    if (result == EX_OK) {
        p.most = EXI_CROWD_BARE;
        p.rings = NULL;
        result = lay_cut(rig, lay, &p, &head->bare, error);
    }
    exi_crowd_plan_close(&p);
    return result;
}
