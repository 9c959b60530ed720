/*
 * Drops keys. A channel's tolerance follows from how far it moves vertices: for a joint's rotation its reach, the
 * distance of the farthest vertex that follows it. That is only an estimate, since errors of channels add up along a
 * chain and cancel out. So keys are chosen, every frame is compared with the animation that has all keys, and keys are
 * chosen again with smaller tolerances for all channels until no vertex is off by more than allowed.
 */
#include "author/bake/bake.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MOST = 24 };

typedef struct thinning {
    exi_bake *bake;
    double *extents; /* [target_count] */
    float *value;    /* [width of the widest channel] */
    float *weights;  /* [frame_count][target_count]: weights from the keys */
    ex_transform *locals;
    exi_bake_miss *misses; /* [frame_count] */
} thinning;

/* ---- reach of channels ---- */

static void find_extents(const exi_bake *bake, double *extents) {
    for (int k = 0; k < bake->target_count; k++) {
        const exi_bake_target *target = &bake->targets[k];
        double largest = 0;
        for (int i = 0; i < target->count; i++) {
            const float *d = target->deltas + 3 * (size_t)i;
            const double square =
                (double)d[0] * (double)d[0] + (double)d[1] * (double)d[1] + (double)d[2] * (double)d[2];
            largest = square > largest ? square : largest;
        }
        extents[k] = sqrt(largest);
    }
}

static double distance(const float *a, const float *b) {
    double square = 0;
    for (int c = 0; c < 3; c++)
        square += ((double)a[c] - (double)b[c]) * ((double)a[c] - (double)b[c]);
    return sqrt(square);
}

/* Computes each joint's reach: the distance to the farthest vertex that it or a joint below it moves. A joint that
 * moves none may still carry something that is not in the file. */
static ex_result find_reaches(const exi_bake *bake, double *reaches) {
    const ex_skeleton *skeleton = ex_rig_skeleton(bake->rig);
    const size_t joints = (size_t)bake->joint_count;
    float *centres = exi_array_allocate(joints, 3 * sizeof *centres);
    double *own = calloc(joints, sizeof *own);
    void *scratch = exi_array_allocate(ex_skeleton_scratch_size(skeleton), 1);
    uint32_t *list = exi_array_allocate(joints, sizeof *list);
    const bool good = centres && own && scratch && list;
    if (good) {
        const ex_skeleton_output output = {.centres = centres};
        ex_skeleton_evaluate(skeleton, NULL, &output, scratch);
        for (int v = 0; v < bake->vertex_count; v++) {
            const int count = ex_skin_influences(bake->skin, v, list, NULL);
            for (int i = 0; i < count; i++) {
                const double far = distance(bake->rest + 3 * (size_t)v, centres + 3 * (size_t)list[i]);
                own[list[i]] = far > own[list[i]] ? far : own[list[i]];
            }
        }
        for (size_t j = 0; j < joints; j++)
            reaches[j] = 0.05 * bake->size;
        for (int j = 0; j < bake->joint_count; j++)
            for (int above = j; above >= 0 && own[j] > 0; above = ex_skeleton_parent(skeleton, above)) {
                const double far = own[j] + distance(centres + 3 * (size_t)j, centres + 3 * (size_t)above);
                reaches[above] = far > reaches[above] ? far : reaches[above];
            }
    }
    free(centres);
    free(own);
    free(scratch);
    free(list);
    return good ? EX_OK : ex_error_memory(bake->error, "the joints' reach", joints * 40);
}

static ex_result set_reaches(exi_bake *bake) {
    if (!bake->skin)
        return EX_OK;
    double *reaches = exi_array_allocate((size_t)bake->joint_count, sizeof *reaches);
    ex_result result =
        reaches ? find_reaches(bake, reaches) : ex_error_memory(bake->error, "the joints' reach", sizeof *reaches);
    for (int i = 0; result == EX_OK && i < bake->channel_count; i++) {
        exi_bake_channel *channel = &bake->channels[i];
        if (channel->joint >= 0)
            channel->reach = channel->path == EX_SCENE_TRANSLATION ? 1 : reaches[channel->joint];
    }
    free(reaches);
    return result;
}

/* ---- the loop ---- */

static void compare_frame(void *context, int index, int frame, const float *truth, exi_bake_room *room) {
    const thinning *t = context;
    const exi_bake *bake = t->bake;
    const size_t joints = (size_t)bake->joint_count, targets = (size_t)bake->target_count;
    float *thinned = (float *)room->loose;
    (void)truth;
    exi_bake_pose(bake, t->locals + (size_t)frame * joints, room);
    exi_bake_form(bake, t->weights + (size_t)frame * targets, thinned);
    exi_bake_skin_form(bake->skin, room, bake->vertex_count, thinned);
    exi_bake_pose(bake, bake->locals + (size_t)frame * joints, room);
    exi_bake_form(bake, bake->weights + (size_t)frame * targets, room->form);
    exi_bake_skin_form(bake->skin, room, bake->vertex_count, room->form);
    t->misses[index] = exi_bake_compare(room->form, thinned, bake->vertex_count);
}

static ex_result try_room(thinning *t, double room, int round, double *largest) {
    exi_bake *bake = t->bake;
    for (int i = 0; i < bake->channel_count; i++)
        exi_bake_choose_keys(bake, &bake->channels[i], room, t->extents, t->value);
    exi_bake_play(bake, t->weights, t->locals);
    const exi_bake_walk walk = {.count = bake->frame_count,
                                .visit = compare_frame,
                                .context = t,
                                .what = "leaving out keys",
                                .begin = 0.65 + 0.15 * round / (round + 3.0),
                                .end = 0.65 + 0.15 * (round + 1) / (round + 4.0)};
    ex_result result = exi_bake_walk_frames(bake, &walk);
    if (result == EX_OK)
        *largest = exi_bake_gather(t->misses, bake->frame_count, bake->vertex_count).largest;
    return result;
}

static ex_result thin(thinning *t) {
    const double most = t->bake->options.thin;
    double room = 4 * most, largest = 0;
    for (int round = 0; round < ROUNDS_MOST; round++) {
        const ex_result result = try_room(t, room, round, &largest);
        if (result != EX_OK || largest <= most)
            return result;
        const double part = 0.9 * most / largest;
        room *= part < 0.25 ? 0.25 : part > 0.8 ? 0.8 : part;
    }
    return try_room(t, 0, ROUNDS_MOST, &largest); /* all keys: there is no error */
}

ex_result exi_bake_thin(exi_bake *bake) {
    if (!(bake->options.thin > 0) || bake->channel_count == 0)
        return EX_OK;
    const size_t frames = (size_t)bake->frame_count, targets = (size_t)bake->target_count;
    thinning t = {.bake = bake,
                  .extents = exi_array_allocate(targets, sizeof *t.extents),
                  .value = exi_array_allocate(targets + 4, sizeof *t.value),
                  .weights = exi_array_allocate(frames * targets, sizeof *t.weights),
                  .locals = exi_array_copy(bake->locals, frames * (size_t)bake->joint_count, sizeof *t.locals),
                  .misses = exi_array_allocate(frames, sizeof *t.misses)};
    ex_result result = t.extents && t.value && t.weights && t.locals && t.misses
                           ? set_reaches(bake)
                           : ex_error_memory(bake->error, "leaving out keys", frames * (targets + 1) * 4);
    if (result == EX_OK) {
        find_extents(bake, t.extents);
        result = thin(&t);
    }
    free(t.extents);
    free(t.value);
    free(t.weights);
    free(t.locals);
    free(t.misses);
    return result;
}
