/*
 * Releases clips and motions, which are plain data.
 */
#include <exemplar/author/clip.h>
#include <stdlib.h>

void ex_clip_destroy(ex_clip *clip) {
    if (!clip)
        return;
    for (int j = 0; j < clip->joint_count; j++)
        free(clip->joints[j].name);
    for (int d = 0; d < clip->dial_count; d++) {
        free(clip->dials[d].name);
        free(clip->dials[d].values);
    }
    free(clip->joints);
    free(clip->dials);
    free(clip->times);
    free(clip->locals);
    free(clip);
}

void ex_motion_destroy(ex_motion *motion) {
    if (!motion)
        return;
    free(motion->poses);
    free(motion->times);
    free(motion);
}
