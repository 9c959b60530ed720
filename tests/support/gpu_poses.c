/* Skeletons in the GPU's layout; see gpu_poses.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/pose/skin.h"
#include "support/check.h"
#include "support/gpu_poses.h"
#include "support/poses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool one_in(uint64_t *random, int many) {
    return random_between(random, 0, many) < 1;
}

static void make_skeleton(gpu_pose *p, uint64_t *random, bool rigid) {
    int parents[GPU_POSE_JOINTS], places[GPU_POSE_JOINTS];
    ex_transform rest[GPU_POSE_JOINTS];
    ex_error error = {.result = EX_OK};
    for (int i = 0; i < GPU_POSE_JOINTS; i++) { /* any order: parents need not precede children */
        const int other = (int)random_between(random, 0, i + 1);
        places[i] = places[other];
        places[other] = i;
    }
    for (int i = 0; i < GPU_POSE_JOINTS; i++) {
        const int near = i > 3 ? i - 3 : 0, j = places[i];
        const bool root = i == 0 || one_in(random, 12);
        parents[j] = root ? -1 : places[(int)random_between(random, one_in(random, 4) ? 0 : near, i)];
        rest[j] = random_rigid(random, 1);
        for (int c = 0; c < 3 && !rigid; c++)
            rest[j].scale[c] = one_in(random, 5) ? (float)random_between(random, 0.5, 1.5) : 1;
    }
    const ex_skeleton_def def = {.joint_count = GPU_POSE_JOINTS, .parents = parents, .rest = rest};
    if (ex_skeleton_create(&def, NULL, &p->skeleton, &error) != EX_OK)
        fail_msg("%s", error.text);
}

/* Goes up from each joint, whereas the library goes down. */
static void sort_by_depth(gpu_pose *p) {
    int placed = 0;
    for (int depth = 0; placed < GPU_POSE_JOINTS; depth++) {
        p->depth_starts[depth] = placed;
        p->head.depth_count = depth + 1;
        for (int j = 0; j < GPU_POSE_JOINTS; j++) {
            int own = 0;
            for (int up = ex_skeleton_parent(p->skeleton, j); up >= 0; up = ex_skeleton_parent(p->skeleton, up))
                own++;
            if (own == depth)
                p->depth_joints[placed++] = j;
        }
    }
    p->depth_starts[p->head.depth_count] = placed;
}

/* Valid ones, and every kind of invalid one. */
static ex_transform random_local(uint64_t *random, bool rigid) {
    ex_transform local = random_rigid(random, 1);
    const int bad = (int)random_between(random, 0, 24);
    if (bad == 0)
        memset(local.rotation, 0, sizeof local.rotation);
    else if (bad == 1)
        local.rotation[2] = NAN;
    else if (bad == 2)
        local.translation[1] = -INFINITY;
    else if (bad == 3)
        local.scale[0] = NAN;
    else if (bad == 4 && !rigid)
        local.scale[1] = 1e25f;
    else if (bad == 5)
        local.translation[2] = 1e25f;
    else if (bad == 6 && !rigid)
        local.scale[2] = 0;
    else if (bad == 7 && !rigid)
        local.scale[0] = -1.25f;
    else if (bad == 8 && !rigid)
        local.scale[1] = 1.5f;
    return local;
}

static void lay_work(gpu_pose *p) {
    memset(p->worlds, 0x7f, sizeof p->worlds); /* nothing may rely on zeros */
    memset(p->turns, 0x7f, sizeof p->turns);
    memset(p->palette, 0x7f, sizeof p->palette);
    memset(p->duals, 0x7f, sizeof p->duals);
    memset(p->stretched, 0x7f, sizeof p->stretched);
    p->job.work = (exi_gpu_work){.weights = &p->weights[0][0],
                                 .worlds = &p->worlds[0][0][0],
                                 .turns = &p->turns[0][0][0],
                                 .shifts = &p->summed[0][0][0],
                                 .palette = &p->palette[0][0][0],
                                 .duals = &p->duals[0][0][0],
                                 .stretched = p->stretched};
}

void gpu_pose_open(gpu_pose *p, uint64_t *random, gpu_pose_options options) {
    memset(p, 0, sizeof *p);
    make_skeleton(p, random, options.rigid);
    p->head = (exi_gpu){.joints = GPU_POSE_JOINTS,
                        .skinning = (int32_t)options.skinning,
                        .skeleton = p->skeleton,
                        .examples = GPU_POSE_EXAMPLES,
                        .shift_count = options.shifted ? GPU_POSE_SHIFTS : 0,
                        .depth_starts = p->depth_starts,
                        .depth_joints = p->depth_joints,
                        .shift_examples = p->shift_examples,
                        .shifts = &p->shifts[0][0][0],
                        .skin_joints = p->skin_joints};
    if (options.turns)
        p->head.offset_starts[EX_OFFSET_FRAME_SKINNED] = p->offset_starts;
    p->job = (exi_gpu_job){.count = GPU_POSE_COUNT, .skinned = 1, .joints = options.posed ? p->joints[0] : NULL};
    sort_by_depth(p);
    lay_work(p);
    for (int i = 0; i < GPU_POSE_COUNT; i++)
        for (int j = 0; j < GPU_POSE_JOINTS; j++)
            p->joints[i][j] = random_local(random, options.rigid);
    for (int i = 0; i < GPU_POSE_SHIFTS; i++) {
        p->shift_examples[i] = i + (i > 1);
        for (int j = 0; j < GPU_POSE_JOINTS; j++)
            for (int c = 0; c < 3; c++)
                p->shifts[i][j][c] = one_in(random, 40) ? 3e38f : (float)random_between(random, -0.2, 0.2);
    }
    for (int i = 0; i < GPU_POSE_COUNT; i++)
        for (int e = 0; e < GPU_POSE_EXAMPLES; e++)
            p->weights[i][e] = one_in(random, 3) ? 0 : (float)random_between(random, -0.5, 1.5);
}

void gpu_pose_close(gpu_pose *p) {
    ex_skeleton_destroy(p->skeleton);
}

static const float *sum_shifts(const gpu_pose *p, int instance, float sum[GPU_POSE_JOINTS][3]) {
    memset(sum, 0, GPU_POSE_JOINTS * sizeof *sum);
    for (int i = 0; i < p->head.shift_count; i++)
        for (int k = 0; k < 3 * GPU_POSE_JOINTS; k++) {
            const float weight = p->weights[instance][p->shift_examples[i]];
            sum[k / 3][k % 3] += weight != 0 ? weight * p->shifts[i][k / 3][k % 3] : 0;
        }
    return p->head.shift_count > 0 ? sum[0] : NULL;
}

void assert_gpu_pose(const gpu_pose *p) {
    float matrices[GPU_POSE_JOINTS][12], centres[GPU_POSE_JOINTS][3], shifts[GPU_POSE_JOINTS][3];
    float quaternions[GPU_POSE_JOINTS][4];
    const ex_skinning skinning = (ex_skinning)p->head.skinning;
    const bool dual = skinning == EX_SKINNING_DUAL_QUATERNION, turns = p->head.offset_starts[EX_OFFSET_FRAME_SKINNED];
    void *scratch = malloc(ex_skeleton_scratch_size(p->skeleton));
    void *memory = malloc(ex_palette_size(skinning, GPU_POSE_JOINTS));
    assert_non_null(scratch);
    assert_non_null(memory);
    for (int i = 0; i < p->job.count; i++) {
        const ex_skeleton_input input = {.locals = p->job.joints ? p->joints[i] : NULL,
                                         .shifts = sum_shifts(p, i, shifts)};
        const ex_skeleton_output output = {.matrices = matrices[0], .centres = centres[0], .turns = quaternions[0]};
        ex_skeleton_evaluate(p->skeleton, &input, &output, scratch);
        const ex_palette_def def = {.method = skinning,
                                    .joint_count = GPU_POSE_JOINTS,
                                    .matrices = matrices[0],
                                    .centres = centres[0],
                                    .rotations = turns,
                                    .turns = quaternions[0],
                                    .scale = ex_skeleton_scale(p->skeleton)};
        const ex_palette *palette = ex_palette_make(&def, memory);
        for (size_t j = 0; j < GPU_POSE_JOINTS; j++)
            assert_memory_equal(p->palette[i][j], exi_palette_affine(palette) + EXI_MATRIX_FLOATS * j,
                                sizeof p->palette[i][j]);
        if (dual || turns)
            assert_memory_equal(p->duals[i], exi_palette_duals(palette), sizeof p->duals[i]);
        if (dual)
            assert_int_equal(p->stretched[i], palette->stretched);
    }
    free(memory);
    free(scratch);
}
