/*
 * cloth - clothes that follow a body: play an animation of the body, and let a driven rig put the clothes on it.
 *
 *   cloth RIG.glb BODY.pc2
 *
 * The rig is one made by `exemplar drive learn`. Each frame takes the body's vertices, in the order of the mesh it was
 * learned with. The state carries over from frame to frame, which makes the next one faster.
 */
#include <exemplar/author/cache.h>
#include <exemplar/author/formats.h>
#include <exemplar/rig_inspect.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *text) {
    fprintf(stderr, "cloth: %s\n", text);
    return 1;
}

int main(int count, char **words) {
    ex_rig *rig = NULL;
    ex_cache_reader *cache = NULL;
    ex_rig_driver driver;
    ex_error error = {0};
    if (count != 3) {
        fprintf(stderr, "usage: cloth RIG.glb BODY.pc2\n");
        return 2;
    }
    if (ex_rig_read(words[1], NULL, &rig, &error) != EX_OK || ex_cache_open(words[2], &cache, &error) != EX_OK)
        return fail(error.text);
    if (!ex_rig_get_driver(rig, &driver, NULL))
        return fail("this rig does not follow a driver");
    const int body_count = driver.driver.vertex_count, frame_count = ex_cache_get_info(cache).frame_count;
    if (ex_cache_get_info(cache).vertex_count != body_count)
        return fail("the animation has another number of vertices than the rig's driver");

    float *body = malloc((size_t)body_count * sizeof(float[3]));
    float *clothes = malloc((size_t)ex_rig_level_vertex_count(rig, 0) * sizeof(float[3]));
    void *state = calloc(1, ex_rig_state_size(rig)); /* one for each wearer */
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    const ex_evaluation how = {.states = &state};
    ex_driven driven = {0};
    double farthest = 0;
    for (int frame = 0; frame < frame_count; frame++) {
        if (ex_cache_read(cache, frame, body, &error) != EX_OK)
            return fail(error.text);
        const double elapsed = frame > 0 ? ex_cache_time(cache, frame) - ex_cache_time(cache, frame - 1) : 0;
        const ex_pose pose = {.driver = body, .elapsed = elapsed}; /* 0 after a cut */
        ex_rig_evaluate(rig, &pose, &(ex_output){.positions = clothes, .driven = &driven}, &how, scratch);
        farthest = driven.hull_distance > farthest ? driven.hull_distance : farthest;
    }
    printf("%d frames; the body was at most %.2g m from what the keys can blend\n", frame_count, farthest);
    free(scratch);
    free(state);
    free(clothes);
    free(body);
    ex_cache_close(cache);
    ex_rig_destroy(rig);
    return 0;
}
