/*
 * Fuzzes the BVH reader (clang -fsanitize=fuzzer,address,undefined): any bytes are a clip or an error, and a clip is
 * finite and can be retargeted to a rig that has some of its joints.
 */
#include <exemplar/author.h>

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { JOINTS_MOST = 8 };

/* A triangle with a skeleton of the clip's first joints, turned and stretched. */
static ex_rig *make_rig(const ex_clip *clip) {
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const uint32_t corners[3] = {0, 1, 2}, face_size = 3;
    const char *names[JOINTS_MOST];
    int parents[JOINTS_MOST];
    ex_transform rest[JOINTS_MOST];
    ex_skeleton *skeleton;
    ex_rig *rig = NULL;
    ex_error error;
    const int count = clip->joint_count < JOINTS_MOST ? clip->joint_count : JOINTS_MOST;
    for (int j = 0; j < count; j++) {
        names[j] = clip->joints[j].name;
        parents[j] = clip->joints[j].parent;
        rest[j] = clip->joints[j].rest;
        rest[j].rotation[0] = 0.5f;
        rest[j].translation[j % 3] += 1;
    }
    ex_skeleton_def skeleton_def = {.joint_count = count, .parents = parents, .rest = rest, .names = names};
    if (ex_skeleton_create(&skeleton_def, NULL, &skeleton, &error) != EX_OK)
        return NULL; /* too large a number */
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = 3, .positions = positions, .split_count = 3, .face_count = 1};
    def.mesh.corner_count = 3;
    def.mesh.face_sizes = &face_size;
    def.mesh.corners = corners;
    def.mesh.triangle_count = 1;
    def.mesh.triangles = corners;
    def.skeleton = skeleton;
    if (ex_rig_create(&def, NULL, &rig, &error) != EX_OK)
        abort();
    ex_skeleton_destroy(skeleton);
    return rig;
}

static void check_clip(const ex_clip *clip) {
    if (clip->joint_count < 1 || clip->frame_count < 1)
        abort();
    for (int j = 0; j < clip->joint_count; j++)
        if (clip->joints[j].parent >= j || !clip->joints[j].name)
            abort();
    for (int f = 0; f < clip->frame_count; f++) {
        if (f > 0 && !(clip->times[f] > clip->times[f - 1]))
            abort();
        for (int j = 0; j < clip->joint_count; j++) {
            const ex_transform *t = &clip->locals[(size_t)f * (size_t)clip->joint_count + (size_t)j];
            for (int i = 0; i < 4; i++)
                if (!isfinite(t->rotation[i]) || (i < 3 && !isfinite(t->translation[i])))
                    abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_clip *clip;
    ex_error error;
    ex_result result = ex_bvh_parse((const char *)data, size, "fuzz.bvh", &clip, &error);
    if ((result == EX_OK) != (clip != NULL))
        abort();
    if (!clip)
        return 0;
    check_clip(clip);
    ex_rig *rig = make_rig(clip);
    ex_motion *motion = NULL;
    result = rig ? ex_motion_from_clip(clip, rig, NULL, &motion, &error) : EX_OK;
    if (result != EX_OK && result != EX_ERROR_DATA) /* all of the first joints may be end sites, or unnamed */
        abort();
    for (int p = 0; motion && p < motion->pose_count; p++)
        for (int j = 0; j < ex_rig_joint_count(rig); j++)
            for (int i = 0; i < 4; i++)
                if (!isfinite(motion->poses[p].joints[j].rotation[i]))
                    abort();
    ex_motion_destroy(motion);
    ex_rig_destroy(rig);
    ex_clip_destroy(clip);
    return 0;
}
