/*
 * The parts of a baked file that follow from rig and motion alone: the rest mesh at its level, times since the first
 * frame, and the joints' transforms.
 *
 * Examples with their own skeleton move joints in the bound mesh by d_j, the weighted sum of their shifts, and the
 * rig's matrices become W_j B_j^-1 translate(-d_j). A file has one B_j^-1 for all frames. Since
 *
 *     B_j^-1 translate(-d_j) = translate(-A_j d_j) B_j^-1,     A_j the linear part of B_j^-1,
 *
 * joints at W_j translate(-A_j d_j) do the same. Relative to their parent they keep their rotation and scale, and their
 * translation is
 *
 *     t_j + A_p d_j - R_j S_j A_j d_j
 *
 * with p the parent; for a root, R S of its rest times A_j replaces A_p. So shifts cost only keys.
 */
#include "author/bake/bake.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rest mesh ---- */

double ex_bake_size(const ex_rig *rig) {
    const size_t count = (size_t)ex_rig_vertex_count(rig);
    float *positions = exi_array_allocate(count, 3 * sizeof *positions);
    double largest = 0;
    if (!positions)
        return -1;
    ex_rig_rest_mesh(rig, positions);
    for (size_t c = 0; c < 3; c++) {
        float low = positions[c], high = positions[c];
        for (size_t v = 1; v < count; v++) {
            low = positions[3 * v + c] < low ? positions[3 * v + c] : low;
            high = positions[3 * v + c] > high ? positions[3 * v + c] : high;
        }
        largest = (double)high - (double)low > largest ? (double)high - (double)low : largest;
    }
    free(positions);
    return largest;
}

static ex_result make_rest(exi_bake *bake) {
    bake->rest = exi_array_allocate((size_t)bake->vertex_count, 3 * sizeof *bake->rest);
    if (!bake->rest)
        return ex_error_memory(bake->error, "the mesh", (size_t)bake->vertex_count * 12);
    if (bake->level == 0) {
        ex_rig_rest_mesh(bake->rig, bake->rest);
        return EX_OK;
    }
    float *control = exi_array_allocate((size_t)ex_rig_vertex_count(bake->rig), 3 * sizeof *control);
    ex_result result = EX_ERROR_MEMORY;
    if (control) {
        ex_rig_rest_mesh(bake->rig, control);
        result = exi_bake_refine(bake, control, bake->rest);
    } else {
        ex_error_memory(bake->error, "the mesh", (size_t)ex_rig_vertex_count(bake->rig) * 12);
    }
    free(control);
    return result;
}

ex_result exi_bake_refine(const exi_bake *bake, const float *control, float *refined) {
    const ex_stencils *stencils = ex_rig_stencils(bake->rig);
    void *scratch = exi_array_allocate(ex_stencils_scratch_size(stencils), 1);
    if (!scratch)
        return ex_error_memory(bake->error, "the refined mesh", ex_stencils_scratch_size(stencils));
    const ex_refine job = {.level = bake->level, .control = control, .positions = refined};
    ex_stencils_apply(stencils, &job, bake->options.tasks, scratch);
    free(scratch);
    return EX_OK;
}

/* ---- times ---- */

static ex_result make_times(exi_bake *bake) {
    const ex_motion *motion = bake->motion;
    bake->times = exi_array_allocate((size_t)bake->frame_count, sizeof *bake->times);
    if (!bake->times)
        return ex_error_memory(bake->error, "the frames' times", (size_t)bake->frame_count * 4);
    for (int f = 0; f < bake->frame_count; f++) {
        bake->times[f] = (float)(motion->times[f] - motion->times[0]);
        if (!isfinite(bake->times[f]) || (f > 0 && !(bake->times[f] > bake->times[f - 1])))
            return ex_error_set(bake->error, EX_ERROR_DATA,
                                "frame %d of the motion (counting from 1) is %.9g s after the first and %.3g s after "
                                "the one before it: times are stored as floats, and must increase",
                                f + 1, motion->times[f] - motion->times[0],
                                f > 0 ? motion->times[f] - motion->times[f - 1] : 0.0);
    }
    return EX_OK;
}

/* ---- weights ---- */

/* Weights of all examples at all frames [frame_count][ex_rig_example_count]. NULL without memory, with a sentence. */
static double *weigh_frames(exi_bake *bake) {
    enum { BATCH = 64 };
    const size_t examples = (size_t)ex_rig_example_count(bake->rig);
    const ex_evaluation how = {.muted = bake->muted, .tasks = bake->options.tasks};
    double *weights = exi_array_allocate((size_t)bake->frame_count * examples, sizeof *weights);
    void *scratch = exi_array_allocate(ex_rig_scratch_size(bake->rig, &how, BATCH), 1);
    if (!weights || !scratch) {
        ex_error_memory(bake->error, "the examples' weights", (size_t)bake->frame_count * examples * 8);
        free(weights);
        free(scratch);
        return NULL;
    }
    for (int first = 0; first < bake->frame_count; first += BATCH) {
        const int left = bake->frame_count - first, count = left < BATCH ? left : BATCH;
        ex_output outputs[BATCH];
        for (int i = 0; i < count; i++)
            outputs[i] = (ex_output){.weights = weights + (size_t)(first + i) * examples};
        ex_rig_evaluate_many(bake->rig, count, bake->motion->poses + first, outputs, &how, scratch);
    }
    free(scratch);
    return weights;
}

/* ---- joints ---- */

/* Returns the transform as evaluation reads it: parts that are not finite become those of rest, and the rotation has
 * length 1. */
static ex_transform read_local(const ex_transform *given, const ex_transform *rest) {
    ex_transform local = given ? *given : *rest;
    bool moved = true, scaled = true;
    double length = 0;
    for (int c = 0; c < 3; c++) {
        moved = moved && isfinite(local.translation[c]);
        scaled = scaled && isfinite(local.scale[c]);
    }
    for (int c = 0; c < 4; c++)
        length += (double)local.rotation[c] * (double)local.rotation[c];
    length = sqrt(length);
    if (!moved)
        memcpy(local.translation, rest->translation, sizeof local.translation);
    if (!scaled)
        memcpy(local.scale, rest->scale, sizeof local.scale);
    if (!isfinite(length) || !(length > 0))
        memcpy(local.rotation, rest->rotation, sizeof local.rotation);
    else if (fabs(length - 1) > 1e-7)
        for (int c = 0; c < 4; c++)
            local.rotation[c] = (float)((double)local.rotation[c] / length);
    return local;
}

static void turn(const float matrix[12], const double in[3], double out[3]) {
    for (int r = 0; r < 3; r++)
        out[r] = (double)matrix[4 * r] * in[0] + (double)matrix[4 * r + 1] * in[1] + (double)matrix[4 * r + 2] * in[2];
}

/* Adds the effect of the joint's shift to its local translation. */
static void apply_shift(const ex_skeleton *skeleton, int joint, const double shift[3], ex_transform *local) {
    const int parent = ex_skeleton_parent(skeleton, joint);
    float own[12], above[12], posed[12];
    double by_own[3], by_parent[3], turned[3];
    ex_skeleton_inverse_bind(skeleton, joint, own);
    turn(own, shift, by_own);
    if (parent >= 0) {
        ex_skeleton_inverse_bind(skeleton, parent, above);
        turn(above, shift, by_parent);
    } else {
        const ex_transform rest = ex_skeleton_rest(skeleton, joint);
        ex_transform_matrix(&rest, above);
        turn(above, by_own, by_parent);
    }
    ex_transform_matrix(local, posed);
    turn(posed, by_own, turned);
    for (int c = 0; c < 3; c++)
        local->translation[c] = (float)((double)local->translation[c] + by_parent[c] - turned[c]);
}

/* Shifts of all examples [examples][joint_count][3]; NULL for examples without any. */
typedef struct shift_table {
    int example_count;
    float **shifts;
} shift_table;

static void free_shifts(shift_table *table) {
    for (int k = 0; table->shifts && k < table->example_count; k++)
        free(table->shifts[k]);
    free(table->shifts);
}

static bool read_shifts(const exi_bake *bake, shift_table *table) {
    const ex_rig *rig = bake->rig;
    table->example_count = ex_rig_example_count(rig);
    table->shifts = calloc((size_t)table->example_count + 1, sizeof *table->shifts);
    float *shifts = exi_array_allocate((size_t)bake->joint_count, 3 * sizeof *shifts);
    bool good = table->shifts && shifts;
    for (int l = 0; good && l < ex_rig_layer_count(rig); l++)
        for (int k = 0; good && k < ex_weigher_example_count(ex_rig_weigher(rig, l)); k++)
            if (ex_rig_example_shifts(rig, l, k, shifts)) {
                float *copy = exi_array_copy(shifts, 3 * (size_t)bake->joint_count, sizeof *copy);
                table->shifts[ex_rig_first_example(rig, l) + k] = copy;
                good = copy != NULL;
            }
    free(shifts);
    return good;
}

static void pose_joint(const exi_bake *bake, const shift_table *table, const double *weights, int frame, int joint) {
    const ex_skeleton *skeleton = ex_rig_skeleton(bake->rig);
    const ex_transform rest = ex_skeleton_rest(skeleton, joint), *given = bake->motion->poses[frame].joints;
    ex_transform *local = &bake->locals[(size_t)frame * (size_t)bake->joint_count + (size_t)joint];
    double shift[3] = {0, 0, 0};
    *local = read_local(given ? given + joint : NULL, &rest);
    for (int k = 0; k < table->example_count; k++)
        for (int c = 0; table->shifts[k] && c < 3; c++)
            shift[c] += (double)(float)weights[k] * (double)table->shifts[k][3 * (size_t)joint + (size_t)c];
    if (shift[0] != 0 || shift[1] != 0 || shift[2] != 0)
        apply_shift(skeleton, joint, shift, local);
    if (frame == 0)
        return;
    double dot = 0; /* q and -q are the same rotation, but numbers interpolated between them are not */
    const float *before = local[-bake->joint_count].rotation;
    for (int c = 0; c < 4; c++)
        dot += (double)before[c] * (double)local->rotation[c];
    for (int c = 0; dot < 0 && c < 4; c++)
        local->rotation[c] = -local->rotation[c];
}

static ex_result make_locals(exi_bake *bake, const double *weights) {
    const size_t count = (size_t)bake->frame_count * (size_t)bake->joint_count;
    shift_table table = {.shifts = NULL};
    bake->locals = exi_array_allocate(count, sizeof *bake->locals);
    ex_result result = EX_OK;
    if (!bake->locals || !read_shifts(bake, &table))
        result = ex_error_memory(bake->error, "the joints' motion", count * sizeof *bake->locals);
    for (int f = 0; result == EX_OK && f < bake->frame_count; f++)
        for (int j = 0; j < bake->joint_count; j++)
            pose_joint(bake, &table, weights + (size_t)f * (size_t)table.example_count, f, j);
    free_shifts(&table);
    return result;
}

ex_result exi_bake_describe(exi_bake *bake, bool own_targets) {
    ex_result result = make_times(bake);
    if (result == EX_OK)
        result = make_rest(bake);
    if (result == EX_OK)
        result = exi_bake_make_skin(bake);
    double *weights = result == EX_OK ? weigh_frames(bake) : NULL;
    if (result == EX_OK)
        result = weights ? make_locals(bake, weights) : EX_ERROR_MEMORY;
    if (result == EX_OK && own_targets) {
        result = exi_bake_describe_targets(bake, weights);
    } else if (result == EX_OK) {
        bake->weights = exi_array_allocate(0, sizeof *bake->weights);
        result = bake->weights ? EX_OK : ex_error_memory(bake->error, "weights", 1);
    }
    free(weights);
    return result;
}
