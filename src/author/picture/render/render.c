/*
 * Renders a picture of forms: sets the stage, frames the view, places lights, and renders tiles in all threads; then
 * draws the legend.
 */
#include "author/picture/render/render.h"

#include "author/base/progress.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <stdatomic.h>
#include <stdlib.h>

ex_render_item ex_render_item_default(void) {
    return (ex_render_item){.colour = {0.784, 0.671, 0.592}};
}

ex_render_def ex_render_def_default(void) {
    return (ex_render_def){.width = 1000,
                           .height = 1000,
                           .camera = {.yaw = 25, .pitch = 10, .angle = 24, .zoom = 1},
                           .light_yaw = -42,
                           .light_pitch = 46,
                           .ground = true,
                           .occlusion = 8,
                           .samples = 16,
                           .legend = true};
}

typedef struct work {
    exi_render render;
    ex_image *image;
    int columns, rows, stride;
    atomic_int done;
    atomic_bool failed;  /* true if memory ran out */
    atomic_bool stopped; /* true if the caller wants to stop */
} work;

/* The work that the calling thread waits for; only that thread reports progress. */
static _Thread_local const work *waiting;

static ex_result check(const ex_render_def *def, ex_error *error) {
    if (def->width < 1 || def->height < 1 || def->width > EX_IMAGE_MAX || def->height > EX_IMAGE_MAX)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a picture cannot have %d by %d pixels: each side must be from 1 to %d", def->width,
                            def->height, EX_IMAGE_MAX);
    if (def->item_count < 1 || !def->items)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is nothing to render");
    if (def->occlusion < 0 || def->occlusion > 16)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "occlusion cannot use %d rays: 0 to 16 are allowed",
                            def->occlusion);
    if (def->samples != 1 && def->samples != 4 && def->samples != 16)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%d samples per pixel are not possible: use 1, 4 or 16",
                            def->samples);
    if (!(def->wireframe >= 0 && def->wireframe <= 100))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a wireframe cannot be %g pixels wide: 0 to 100 are allowed",
                            def->wireframe);
    if (!(fabs(def->light_yaw) <= 1e6) || !(fabs(def->light_pitch) <= 90))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the light is at yaw %g and pitch %g: pitch must be from -90 to 90 degrees", def->light_yaw,
                            def->light_pitch);
    if ((int)def->background < 0 || def->background >= EX_BACKGROUND_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no background %d", (int)def->background);
    return EX_OK;
}

/* A task: renders tiles [begin, end), in an order that gives every thread some of the middle, which costs most. */
static void render_tiles(void *context, int begin, int end) {
    work *w = context;
    int count = w->columns * w->rows;
    for (int i = begin; i < end && !atomic_load(&w->failed) && !atomic_load(&w->stopped); i++) {
        int tile = (int)((int64_t)i * w->stride % count);
        if (!exi_tile_render(&w->render, tile % w->columns, tile / w->columns, w->image))
            atomic_store(&w->failed, true);
        int done = atomic_fetch_add(&w->done, 1) + 1;
        if (waiting == w && !exi_progress_tell(w->render.def->progress, "rendering", (double)done / count))
            atomic_store(&w->stopped, true);
    }
}

static int common_divisor(int a, int b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Returns a stride near the golden section of the count and coprime to it, which visits every tile once. */
static int find_stride(int count) {
    int stride = (int)(0.618 * count) > 0 ? (int)(0.618 * count) : 1;
    while (common_divisor(stride, count) != 1)
        stride++;
    return stride;
}

static ex_result draw(work *w, ex_error *error) {
    const ex_render_def *def = w->render.def;
    w->image = ex_image_create(def->width, def->height);
    if (!w->image)
        return ex_error_memory(error, "the picture", 4 * (size_t)def->width * (size_t)def->height);
    w->columns = (def->width + EXI_TILE - 1) / EXI_TILE;
    w->rows = (def->height + EXI_TILE - 1) / EXI_TILE;
    w->stride = find_stride(w->columns * w->rows);
    const work *outer = waiting;
    waiting = w;
    exi_run(def->tasks, w->columns * w->rows, 1, render_tiles, w);
    waiting = outer;
    if (atomic_load(&w->stopped))
        return exi_progress_stopped(error);
    if (atomic_load(&w->failed))
        return ex_error_memory(error, "a tile of the picture", (size_t)EXI_TILE * EXI_TILE * 160);
    for (int i = 0; def->legend && i < w->render.stage.item_count; i++)
        if (w->render.stage.items[i].map)
            return exi_legend_draw(w->image, &w->render.stage.items[i], error);
    return EX_OK;
}

ex_result ex_render(const ex_render_def *def, ex_image **image, ex_error *error) {
    if (!def || !image)
        return exi_misuse_error(error, "ex_render", "def or image is NULL");
    *image = NULL;
    work w = {.render = {.def = def}};
    atomic_init(&w.done, 0);
    atomic_init(&w.failed, false);
    atomic_init(&w.stopped, false);
    ex_result result = check(def, error);
    if (result != EX_OK)
        return result;
    result = exi_stage_open(&w.render.stage, def, error);
    if (result == EX_OK)
        result = exi_view_frame(&w.render.view, def, &w.render.stage, error);
    if (result == EX_OK) {
        w.render.lights = exi_lights_place(def);
        result = draw(&w, error);
    }
    exi_stage_close(&w.render.stage);
    if (result == EX_OK)
        *image = w.image;
    else
        ex_image_destroy(w.image);
    return result;
}
