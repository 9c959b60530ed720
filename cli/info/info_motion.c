/* cli/info/info_motion.c - describes motions (.bvh) and point caches (.pc2, .mdd, .abc) for `exemplar info`. */
#include "info.h"

#include "cli/base/report.h"

#include <exemplar/author.h>

#include <stdio.h>
#include <stdlib.h>

/* ---- motions ---- */

/* Height from the lowest joint at rest to the highest, including end sites. BVH rests have no rotations. */
static bool rest_height(const ex_clip *clip, double *height) {
    double *y = malloc((size_t)clip->joint_count * sizeof *y + 1), low = 0, high = 0;
    for (int j = 0; y && j < clip->joint_count; j++) {
        const ex_clip_joint *joint = &clip->joints[j];
        y[j] = (double)joint->rest.translation[1] + (joint->parent >= 0 ? y[joint->parent] : 0);
        low = j == 0 || y[j] < low ? y[j] : low;
        high = j == 0 || y[j] > high ? y[j] : high;
    }
    *height = high - low;
    free(y);
    return y != NULL;
}

static int count_ends(const ex_clip *clip) {
    int count = 0;
    for (int j = 0; j < clip->joint_count; j++)
        count += clip->joints[j].end;
    return count;
}

static double frame_time(const ex_clip *clip) {
    return clip->frame_count > 1 ? clip->times[1] - clip->times[0] : 0;
}

static int print_clip(const char *path, const ex_clip *clip, double height) {
    const int count = clip->joint_count, ends = count_ends(clip);
    int *parents = malloc((size_t)count * sizeof *parents + 1);
    const char **names = malloc((size_t)count * sizeof *names + 1);
    char frames[EXI_TEXT_SIZE], joints[EXI_TEXT_SIZE], sites[EXI_TEXT_SIZE];
    exi_info_begin(path, "a motion");
    exi_print("frames    %s, %g s", exi_text_count(frames, clip->frame_count, "frame"),
              clip->times[clip->frame_count - 1]);
    if (clip->frame_count > 1)
        exi_print(", %.4g a second", 1 / frame_time(clip));
    exi_print("\nroot      %s\nheight    %g at rest\n", clip->root_moves ? "moves" : "only turns", height);
    exi_print("joints    %s, %s\n", exi_text_count(joints, count - ends, "joint"),
              exi_text_count(sites, ends, "end site"));
    for (int j = 0; parents && names && j < count; j++) {
        parents[j] = clip->joints[j].parent;
        names[j] = clip->joints[j].name;
    }
    const bool printed = parents && names && exi_info_print_joints(count, parents, names, NULL);
    free(parents);
    free(names);
    return printed ? EX_EXIT_DONE : exi_failed_memory();
}

static void print_clip_json(const char *path, const ex_clip *clip, double height) {
    exi_emitter json = exi_info_begin_json(path, "motion");
    exi_emit_number(&json, "frames", clip->frame_count);
    exi_emit_number(&json, "seconds", clip->times[clip->frame_count - 1]);
    exi_emit_number(&json, "frame_time", frame_time(clip));
    exi_emit_bool(&json, "root_moves", clip->root_moves);
    exi_emit_number(&json, "height", height);
    exi_emit_open(&json, "joints", '[');
    for (int j = 0; j < clip->joint_count; j++) {
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", clip->joints[j].name);
        exi_emit_text(&json, "parent", clip->joints[j].parent >= 0 ? clip->joints[clip->joints[j].parent].name : NULL);
        exi_emit_bool(&json, "end", clip->joints[j].end);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_info_end_json(&json);
}

int exi_info_clip(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_clip *clip = NULL;
    double height = 0;
    if (ex_bvh_read(path, &clip, &error) != EX_OK)
        return exi_failed(&error);
    int exit_code = EX_EXIT_DONE;
    if (!rest_height(clip, &height))
        exit_code = exi_failed_memory();
    else if (call->json)
        print_clip_json(path, clip, height);
    else
        exit_code = print_clip(path, clip, height);
    ex_clip_destroy(clip);
    return exit_code;
}

/* ---- point caches ---- */

int exi_info_cache(const ex_call *call, const char *path) {
    static const char *const kinds[EX_CACHE_KIND_COUNT] = {"PC2", "MDD", "OBJ", "Alembic"};
    ex_error error = {.result = EX_OK};
    ex_cache_reader *reader = NULL;
    if (ex_cache_open(path, &reader, &error) != EX_OK)
        return exi_failed(&error);
    const ex_cache_info info = ex_cache_get_info(reader);
    const double end = ex_cache_time(reader, info.frame_count - 1);
    const char *file = ex_cache_path(reader, 0); /* without the name of a mesh in it */
    if (call->json) {
        exi_emitter json = exi_info_begin_json(file, "cache");
        exi_emit_text(&json, "format", kinds[info.kind]);
        exi_emit_number(&json, "vertices", info.vertex_count);
        exi_emit_number(&json, "frames", info.frame_count);
        exi_emit_number(&json, "start", info.start);
        exi_emit_number(&json, "end", end);
        exi_emit_number(&json, "step", info.step);
        exi_info_end_json(&json);
    } else {
        exi_info_begin(file, "a point cache");
        exi_print("format    %s\nvertices  %d\nframes    %d, from %g s to %g s\n", kinds[info.kind], info.vertex_count,
                  info.frame_count, info.start, end);
    }
    ex_cache_close(reader);
    return EX_EXIT_DONE;
}
