/*
 * Layout of a rig for the GPU: the tables that prepare an instance, and the order of all parts (lay.h).
 *
 * Weighers, the skeleton, inputs and axes are copied from the rig unchanged: they are blocks with offsets, and the
 * stages read them through the runtime's own functions.
 */
#include "cuda/lay/lay.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/pose/skeleton.h"
#include "runtime/rig/domains/domain.h"

#include <string.h>

/* ---- room ---- */

void *exi_lay_take(exi_lay *lay, size_t count, size_t size, const void **at) {
    *at = NULL;
    if (count == 0)
        return NULL;
    exi_size total = {.bytes = lay->used, .overflow = lay->overflow};
    const size_t start = exi_size_add(&total, count, size, EXI_LAY_ALIGN);
    lay->used = total.bytes;
    lay->overflow = total.overflow;
    *at = (const void *)(lay->base + start);
    return lay->memory ? lay->memory + start : NULL;
}

void exi_lay_copy(exi_lay *lay, const void *bytes, size_t size, const void **at) {
    void *to = exi_lay_take(lay, size, 1, at);
    if (to)
        memcpy(to, bytes, size);
}

/* ---- layers ---- */

size_t exi_gpu_weigher_room(const ex_weigher *weigher) {
    ex_weigher head = *weigher;
    head.pseudo_count += EXI_GPU_MORE_POINTS;
    return exi_weigher_layout(&head) ? (size_t)head.size : (size_t)weigher->size;
}

/* Returns the index of a layer among the trajectory layers; -1: none. */
static int path_of(const ex_rig *rig, int layer) {
    int path = 0;
    for (int l = 0; l < layer; l++)
        path += exi_rig_trajectories_of(rig, l) != NULL;
    return exi_rig_trajectories_of(rig, layer) ? path : -1;
}

/* Lays out the places of offset weights in their sets. */
static void lay_sets(const ex_rig *rig, exi_lay *lay, exi_gpu *head) {
    bool any = false;
    for (int l = 0; l < rig->counts.layers; l++)
        any = any || (exi_rig_layers(rig)[l].flags & EXI_LAYER_MOVED) != 0;
    const void *at = NULL;
    exi_gpu_set_weight *all = exi_lay_take(lay, any ? (size_t)rig->weights : 0, sizeof *all, &at);
    head->set_weights = at;
    for (int l = 0; all && l < rig->counts.layers; l++) {
        const exi_layer_record *layer = &exi_rig_layers(rig)[l];
        const ex_weigher *weigher = ex_rig_weigher(rig, l);
        const uint32_t *sizes =
            exi_weigher_sets(weigher) + (size_t)weigher->set_count * exi_set_words(weigher->example_count);
        uint32_t first = 0, squares = 0;
        for (int i = 0; (layer->flags & EXI_LAYER_MOVED) && i < weigher->set_count; i++) {
            for (uint32_t k = 0; k < sizes[i]; k++)
                all[layer->first_weight + (int32_t)(first + k)] = (exi_gpu_set_weight){
                    .column = (uint16_t)k, .size = (uint16_t)sizes[i], .first = first, .squares = squares, .layer = l};
            first += sizes[i];
            squares += sizes[i] * sizes[i];
        }
    }
}

static void lay_layers(const ex_rig *rig, exi_lay *lay, exi_gpu *head) {
    const exi_rig_counts *c = &rig->counts;
    const void *at = NULL;
    exi_gpu_layer *layers = exi_lay_take(lay, (size_t)c->layers, sizeof *layers, &at);
    head->layers = at;
    exi_lay_copy(lay, exi_rig_inputs(rig), (size_t)c->inputs * sizeof(exi_input_record), &at);
    head->inputs = at;
    exi_lay_copy(lay, exi_rig_at(rig, rig->axis_inputs), (size_t)c->axes * sizeof(int32_t), &at);
    head->axis_inputs = at;
    for (int l = 0; l < c->layers; l++) {
        const exi_layer_record *from = &exi_rig_layers(rig)[l];
        const ex_weigher *weigher = ex_rig_weigher(rig, l);
        const exi_trajectories *paths = exi_rig_trajectories_of(rig, l);
        const int points = weigher->example_count + weigher->pseudo_count + EXI_GPU_MORE_POINTS;
        void *room = exi_lay_take(lay, exi_gpu_weigher_room(weigher), 1, &at);
        if (room)
            memcpy(room, weigher, (size_t)weigher->size);
        if (layers)
            layers[l] = (exi_gpu_layer){.domain = from->domain,
                                        .flags = (int32_t)from->flags,
                                        .first_axis = from->first_axis,
                                        .example_count = from->example_count,
                                        .first_example = from->first_example,
                                        .first_form = paths ? paths->first_form : from->first_form,
                                        .first_weight = from->first_weight,
                                        .path = path_of(rig, l),
                                        .first_feature = head->features,
                                        .first_point = head->points,
                                        .weigher = exi_lay_offset(lay, at)};
        head->features += weigher->dimension + (weigher->flags & EXI_WEIGHER_LIMITS ? weigher->axis_count : 0);
        head->points += points;
    }
    lay_sets(rig, lay, head);
}

/* ---- the skeleton ---- */

/* Sorts joints by depth, and within a depth by index. */
static ex_result lay_depths(const ex_skeleton *skeleton, exi_lay *lay, exi_gpu *head, ex_error *error) {
    const int32_t *parents = exi_skeleton_at(skeleton, skeleton->parents);
    const int32_t *parents_first = exi_skeleton_at(skeleton, skeleton->order);
    const size_t joints = (size_t)skeleton->joint_count, size = joints * sizeof(int32_t);
    const void *at = NULL;
    int32_t *depths = exi_allocate(lay->allocator, size);
    if (!depths)
        return ex_error_memory(error, "the depths of the joints", size);
    head->depth_count = 0;
    for (size_t i = 0; i < joints; i++) {
        const int32_t j = parents_first[i];
        depths[j] = parents[j] >= 0 ? depths[parents[j]] + 1 : 0;
        head->depth_count = depths[j] >= head->depth_count ? depths[j] + 1 : head->depth_count;
    }
    int32_t *starts = exi_lay_take(lay, (size_t)head->depth_count + 1, sizeof *starts, &at);
    head->depth_starts = at;
    int32_t *order = exi_lay_take(lay, joints, sizeof *order, &at);
    head->depth_joints = at;
    if (order) { /* counts become ends; filling from the back turns them into starts */
        for (size_t j = 0; j < joints; j++)
            starts[depths[j]]++;
        for (int d = 0; d < head->depth_count; d++)
            starts[d + 1] += starts[d];
        for (size_t j = joints; j-- > 0;)
            order[--starts[depths[j]]] = (int32_t)j;
    }
    exi_release(lay->allocator, depths, size);
    return EX_OK;
}

static ex_result lay_skeleton(const ex_rig *rig, exi_lay *lay, exi_gpu *head, ex_error *error) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    const size_t joints = (size_t)rig->counts.joints, shifts = (size_t)rig->counts.shifts;
    const void *at = NULL;
    if (!skeleton)
        return EX_OK;
    exi_lay_copy(lay, skeleton, (size_t)skeleton->name_starts, &at); /* names come last, and are not read */
    head->skeleton = at;
    int32_t *examples = exi_lay_take(lay, shifts, sizeof *examples, &at);
    head->shift_examples = at;
    float *numbers = exi_lay_take(lay, shifts * joints, 3 * sizeof *numbers, &at);
    head->shifts = at;
    for (size_t i = 0; numbers && i < shifts; i++) {
        const exi_shift_record *record = &exi_rig_shifts(rig)[i];
        examples[i] = record->example;
        memcpy(numbers + 3 * joints * i, exi_rig_at(rig, record->data), 3 * joints * sizeof *numbers);
    }
    return lay_depths(skeleton, lay, head, error);
}

/* ---- features ---- */

int exi_gpu_weigher_has(const ex_weigher *w) {
    const int kinds = w->kind == EX_WEIGHER_DIRECT     ? 0
                      : w->kind == EX_WEIGHER_CARDINAL ? EXI_GPU_CARDINAL
                      : w->kind == EX_WEIGHER_GAUSSIAN ? EXI_GPU_GAUSSIAN
                      : w->kind == EX_WEIGHER_CALM     ? EXI_GPU_CALM
                                                       : EXI_GPU_SHARES;
    const bool kernels = w->kind == EX_WEIGHER_CARDINAL && w->kernel != EX_KERNEL_BSPLINE;
    const int limits = w->flags & EXI_WEIGHER_LIMITS ? EXI_GPU_CALM : 0;
    int has = kinds | limits | (kernels || (w->flags & EXI_WEIGHER_SUM_1) ? EXI_GPU_KERNELS : 0);
    for (int a = 0; a < w->axis_count; a++)
        has |= exi_axes(w)[a].kind == EX_AXIS_SCALAR ? 0 : EXI_GPU_READINGS;
    return has;
}

/* Returns the features that kernels can leave out and this rig needs. */
static int find_things(const ex_rig *rig, const exi_gpu *head) {
    int has = head->storage == EX_STORAGE_FLOAT ? 0 : EXI_GPU_SHORTS;
    has |= rig->counts.layers > 32 ? EXI_GPU_LAYERS : 0;
    for (int i = 0; i < rig->counts.inputs; i++) {
        const exi_input_record *input = &exi_rig_inputs(rig)[i];
        has |= input->joint >= 0 || input->axis.kind != EX_AXIS_SCALAR ? EXI_GPU_READINGS : 0;
    }
    for (int l = 0; l < rig->counts.layers; l++) {
        const exi_layer_record *layer = &exi_rig_layers(rig)[l];
        const exi_trajectories *paths = exi_rig_trajectories_of(rig, l);
        has |= exi_gpu_weigher_has(ex_rig_weigher(rig, l));
        has |= layer->domain == EX_DOMAIN_OFFSETS ? EXI_GPU_OFFSETS : 0;
        has |= layer->flags & EXI_LAYER_MOVED ? EXI_GPU_SETS : 0;
        if (paths)
            has |= EXI_GPU_PATHS | (paths->corrector_count > 0 ? EXI_GPU_CORRECTORS : 0) |
                   (paths->flags & EXI_PATHS_SCREWS ? EXI_GPU_SCREWS : 0) |
                   (paths->flags & EXI_PATHS_BASES ? EXI_GPU_BASES : 0) |
                   (paths->flags & EXI_PATHS_MIXTURE ? EXI_GPU_MIXTURES : 0);
    }
    if (head->skin_joints)
        has |=
            EXI_GPU_SKIN | (head->shift_count > 0 ? EXI_GPU_SHIFTS : 0) |
            (head->skinning != EX_SKINNING_LINEAR || head->offset_starts[EX_OFFSET_FRAME_SKINNED] ? EXI_GPU_TURNS : 0);
    return has;
}

/* ---- entry point ---- */

/* Returns the size of the front so far, in whole units of 16 bytes: the next table starts there or later. */
static int32_t front_size(const exi_lay *lay) {
    return lay->used < INT32_MAX - 15 ? (int32_t)((lay->used + 15) / 16 * 16) : INT32_MAX;
}

static ex_result lay_all(const ex_rig *rig, exi_lay *lay, exi_gpu *head, exi_gpu_levels *levels, ex_error *error) {
    const exi_rig_counts *c = &rig->counts;
    *head = (exi_gpu){.block = (const char *)lay->base,
                      .front = (const char *)lay->base,
                      .vertices = c->vertices,
                      .layer_count = c->layers,
                      .axes = c->axes,
                      .pose_size = rig->pose_size,
                      .examples = c->examples,
                      .joints = c->joints,
                      .skinning = c->skinning,
                      .shift_count = c->shifts};
    *levels = (exi_gpu_levels){.count = 0};
    lay_layers(rig, lay, head);
    exi_lay_trajectories(rig, lay, head);
    head->weigh_bytes = front_size(lay);
    ex_result result = lay_skeleton(rig, lay, head, error);
    head->front_bytes = front_size(lay);
    if (result == EX_OK)
        result = exi_lay_shape(rig, lay, head, error);
    head->lacks = EXI_GPU_ALL & ~find_things(rig, head);
    if (result == EX_OK)
        result = exi_lay_surface(rig, lay, head, levels, error);
    if (result == EX_OK)
        result = exi_lay_crowd(rig, lay, head, error);
    if (result == EX_OK && lay->overflow)
        result = ex_error_set(error, EX_ERROR_LIMIT, "the rig is too large for one block of memory");
    return result;
}

static ex_result check(const ex_rig *rig, ex_error *error) {
    for (int l = 0; l < rig->counts.layers; l++) {
        const ex_weigher_kind kind = ex_weigher_get_kind(ex_rig_weigher(rig, l));
        if (!ex_weigher_kind_info(kind)->has_gpu_code)
            return ex_error_set(
                error, EX_ERROR_ARGUMENT,
                "layer '%s' is weighed by '%s', which has no GPU code: use ex_rig_evaluate for this rig",
                ex_rig_layer_name(rig, l), ex_weigher_kind_name(kind));
    }
    if (rig->counts.layers > EXI_GPU_LAYER_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "the rig has %d layers; the GPU evaluates at most %d",
                            rig->counts.layers, EXI_GPU_LAYER_MAX);
    for (int l = 0; l < rig->counts.layers; l++)
        if (!exi_domain_of(rig, l)->gpu)
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "layer '%s' is of the domain %s (%s), which the GPU does not evaluate: use "
                                "ex_rig_evaluate for it",
                                ex_rig_layer_name(rig, l), ex_domain_name(ex_rig_layer_domain(rig, l)),
                                ex_domain_help(ex_rig_layer_domain(rig, l)));
    return EX_OK;
}

ex_result exi_gpu_lay(const ex_rig *rig, exi_lay_place place, void *user, const ex_allocator *allocator, void **memory,
                      size_t *size, exi_gpu *head, exi_gpu_levels *levels, ex_error *error) {
    exi_lay measure = {.allocator = allocator};
    ex_result result = check(rig, error);
    *memory = NULL;
    if (result == EX_OK)
        result = lay_all(rig, &measure, head, levels, error);
    if (result != EX_OK)
        return result;
    *size = measure.used;
    char *block = exi_allocate(allocator, measure.used);
    if (!block)
        return ex_error_memory(error, "the rig as it is uploaded", measure.used);
    memset(block, 0, measure.used);
    exi_lay fill = {.memory = block, .base = (uintptr_t)block, .allocator = allocator};
    if (place)
        result = place(user, measure.used, &fill.base, error);
    if (result == EX_OK)
        result = lay_all(rig, &fill, head, levels, error);
    if (result != EX_OK) {
        exi_release(allocator, block, measure.used);
        return result;
    }
    *memory = block;
    return EX_OK;
}
