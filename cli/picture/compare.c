/* cli/picture/compare.c - draws a rig without some of its layers beside the same with them. */
#include "compare.h"

#include "clothes.h"

#include "cli/base/report.h"
#include "cli/base/rigs.h"

#include <exemplar/author/canvas.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels between the two pictures. */
#define GAP 2
/* Of the words in their lower left corners: size and margin, and the width of a picture that has room for them. */
#define WORDS_SIZE   13.0
#define WORDS_MARGIN 8.0
#define WORDS_ROOM   120

void exi_compare_swap(exi_compare *compare, exi_subject *subject) {
    bool *muted = subject->muted;
    subject->muted = compare->without;
    compare->without = muted;
}

/* Keeps what the camera has to show: the form without the layers, and with them. */
static bool keep_points(exi_compare *compare, exi_subject *subject, const ex_tasks *tasks) {
    const ex_pose *pose = subject->pose.inputs ? &subject->pose : NULL;
    const size_t count = 3 * (size_t)subject->mesh->vertex_count;
    bool good = true;
    compare->point_count = 2 * subject->mesh->vertex_count;
    compare->points = malloc(2 * count * sizeof *compare->points + 1);
    if (!compare->points) {
        exi_failed_memory();
        return false;
    }
    for (int part = 0; good && part < 2; part++) {
        exi_compare_swap(compare, subject);
        good = exi_subject_try(subject, pose, tasks);
        memcpy(compare->points + (size_t)part * count, subject->form.positions, count * sizeof *compare->points);
    }
    return good;
}

bool exi_compare_open(exi_compare *compare, const ex_call *call, const char *names, exi_subject *subject,
                      const ex_tasks *tasks) {
    *compare = (exi_compare){.names = names};
    if (!names)
        return true;
    if (!subject->rig) {
        exi_failed_text("'%s' is a form, not a rig: --compare goes with rigs", call->arguments[0]);
        return false;
    }
    compare->without = exi_muted_read(subject->rig, names);
    if (!compare->without)
        return false;
    bool differs = false;
    for (int l = 0; l < ex_rig_layer_count(subject->rig); l++) {
        compare->without[l] |= subject->muted[l];
        differs |= compare->without[l] != subject->muted[l];
    }
    if (!differs) {
        exi_failed_text("--compare %s: the rig has that muted already, so there is nothing to compare", names);
        return false;
    }
    return keep_points(compare, subject, tasks);
}

void exi_compare_close(exi_compare *compare) {
    free(compare->without);
    free(compare->points);
    *compare = (exi_compare){.without = NULL};
}

static void copy(const ex_image *from, ex_image *to, int left, int top) {
    for (int y = 0; y < from->height; y++)
        memcpy(to->pixels + 4 * ((size_t)(top + y) * (size_t)to->width + (size_t)left),
               from->pixels + 4 * (size_t)y * (size_t)from->width, 4 * (size_t)from->width);
}

static ex_result write_words(ex_image *image, const char *text, ex_error *error) {
    ex_canvas *canvas = NULL;
    const int shorter = image->width < image->height ? image->width : image->height;
    const double scale = shorter > 400 ? shorter / 400.0 : 1;
    if (image->width < WORDS_ROOM)
        return EX_OK;
    ex_result result = ex_canvas_create_over(image, scale, &canvas, error);
    if (result != EX_OK)
        return result;
    const ex_lettering type = {.size = WORDS_SIZE,
                               .colour = ex_colour_grey(60),
                               .halo = ex_colour_faded(ex_colour_grey(255), 0.6),
                               .along = EX_ALONG_BASELINE};
    char fitted[EX_LABEL_SIZE];
    ex_draw_text(canvas, WORDS_MARGIN, ex_canvas_height(canvas) - WORDS_MARGIN, &type,
                 ex_label_fit(fitted, text, WORDS_SIZE, ex_canvas_width(canvas) - 2 * WORDS_MARGIN));
    result = ex_canvas_result(canvas, error);
    ex_canvas_destroy(canvas);
    return result;
}

/* words: "with" or "without". */
static bool render_one(const exi_compare *compare, const char *words, exi_subject *subject, const ex_pose *pose,
                       const float shift[3], const ex_render_def *def, ex_image **image, ex_error *error) {
    char text[EX_LABEL_SIZE];
    ex_render_item item = def->items[0];
    ex_render_def one = *def;
    if (!exi_subject_pose(subject, pose, shift, def->tasks))
        return false;
    if (compare->hide)
        (void)exi_hide(subject->mesh, compare->hide);
    item.mesh = subject->mesh;
    one.items = &item;
    snprintf(text, sizeof text, "%s %s %s", words, strchr(compare->names, ',') ? "layers" : "layer", compare->names);
    return ex_render(&one, image, error) == EX_OK &&
           (def->background == EX_BACKGROUND_TRANSPARENT || write_words(*image, text, error) == EX_OK);
}

bool exi_compare_render(exi_compare *compare, exi_subject *subject, const ex_pose *pose, const float shift[3],
                        const ex_render_def *def, ex_image **image, ex_error *error) {
    if (!compare->without)
        return ex_render(def, image, error) == EX_OK;
    const bool tall = def->height > def->width;
    ex_render_def half = *def;
    ex_image *parts[2] = {NULL, NULL};
    *(tall ? &half.height : &half.width) = ((tall ? def->height : def->width) - GAP) / 2;
    if (!half.camera.points) {
        half.camera.points = compare->points;
        half.camera.point_count = compare->point_count;
    }
    exi_compare_swap(compare, subject);
    bool good = render_one(compare, "without", subject, pose, shift, &half, &parts[0], error);
    exi_compare_swap(compare, subject);
    good = good && render_one(compare, "with", subject, pose, shift, &half, &parts[1], error);
    *image = good ? ex_image_create(def->width, def->height) : NULL;
    if (*image) {
        memset((*image)->pixels, def->background == EX_BACKGROUND_TRANSPARENT ? 0 : 255,
               4 * (size_t)def->width * (size_t)def->height);
        copy(parts[0], *image, 0, 0);
        copy(parts[1], *image, tall ? 0 : def->width - half.width, tall ? def->height - half.height : 0);
    } else if (good)
        ex_error_memory(error, "a picture", 4 * (size_t)def->width * (size_t)def->height);
    ex_image_destroy(parts[0]);
    ex_image_destroy(parts[1]);
    return *image != NULL;
}
