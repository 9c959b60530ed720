/*
 * Checking a layer of pixels: images that cannot be read, images of another size than the texture's first, a mesh
 * without the texture coordinates to show them by. Examples are guessed from each other as small versions of their
 * images, since what matters of a texture is not one pixel.
 */
#include "author/base/array.h"
#include "author/project/check/check.h"

#include <exemplar/author/files.h>
#include <exemplar/author/image.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels of a small version along a side. */
enum { SMALL = 32 };

/* The image that sets a texture's size is the first one named for it, in whichever layer. */
static const ex_project_example *first_image(const ex_project_view *view, const char *texture) {
    for (int l = 0; l < view->layer_count; l++)
        if (view->layers[l].shape == EX_SHAPE_PIXELS && strcmp(view->layers[l].texture, texture) == 0 &&
            view->layers[l].example_count > 0)
            return &view->layers[l].examples[0];
    return NULL;
}

static ex_image *read_image(const ex_project_view *view, const char *relative, ex_error *error) {
    ex_image *image = NULL;
    char *path = ex_path_join(view->path, relative);
    if (!path)
        exi_error_memory(error, "a path", strlen(relative));
    else
        ex_image_read(path, &image, error);
    free(path);
    return image;
}

/* Means of blocks, in [0, 1], as the file has them. NULL without memory. */
static float *make_small(const ex_image *image) {
    float *small = exi_array_allocate((size_t)SMALL * SMALL, 3 * sizeof *small);
    for (size_t y = 0; small && y < SMALL; y++)
        for (size_t x = 0; x < SMALL; x++) {
            const size_t width = (size_t)image->width, height = (size_t)image->height;
            const size_t left = x * width / SMALL, top = y * height / SMALL;
            size_t right = (x + 1) * width / SMALL, bottom = (y + 1) * height / SMALL;
            double sums[3] = {0};
            right = right > left ? right : left + 1;
            bottom = bottom > top ? bottom : top + 1;
            for (size_t j = top; j < bottom; j++)
                for (size_t i = left; i < right; i++)
                    for (size_t c = 0; c < 3; c++)
                        sums[c] += image->pixels[4 * (j * width + i) + c];
            for (size_t c = 0; c < 3; c++)
                small[3 * (y * SMALL + x) + c] = (float)(sums[c] / 255 / (double)((right - left) * (bottom - top)));
        }
    return small;
}

/* Of the first image that can be read; 0 before. */
typedef struct texture_size {
    const char *file;
    int width, height;
} texture_size;

static float *check_image(exi_checker *c, const ex_project_example *example, texture_size *size, const char *where) {
    ex_error error = {0};
    ex_image *image = read_image(c->view, example->image, &error);
    if (!image) {
        exi_check_failure(c, "unreadable", where, &error);
        return NULL;
    }
    if (size->width == 0)
        *size = (texture_size){example->image, image->width, image->height};
    if (image->width != size->width || image->height != size->height)
        exi_check_add(c, EX_SEVERITY_ERROR, "image_size", where, 0,
                      "'%s': %s is %d x %d pixels, but %s is %d x %d: the images of a texture must have one size",
                      example->name, example->image, image->width, image->height, size->file, size->width,
                      size->height);
    float *small = make_small(image);
    c->failed = c->failed || !small;
    ex_image_destroy(image);
    return small;
}

static void check_texcoords(exi_checker *c, const ex_project_layer *layer, const char *where) {
    const ex_mesh *mesh = c->mesh;
    int missing = 0, first = 0;
    for (int f = 0; mesh->corner_texcoords && f < mesh->face_count; f++) {
        bool whole = true;
        for (int k = mesh->face_offsets[f]; k < mesh->face_offsets[f + 1]; k++)
            whole = whole && mesh->corner_texcoords[k] >= 0;
        if (!whole)
            first = missing++ == 0 ? f : first;
    }
    if (!mesh->corner_texcoords || missing == mesh->face_count)
        exi_check_add(c, EX_SEVERITY_WARNING, "no_texcoords", where, mesh->face_count,
                      "'%s' blends images, but '%s' has no texture coordinates to put them on the mesh", layer->name,
                      c->view->mesh);
    else if (missing > 0)
        exi_check_add(c, EX_SEVERITY_WARNING, "no_texcoords", where, missing,
                      "'%s' blends images, but %d faces of '%s', the first of them %d (counting from 0), lack texture "
                      "coordinates",
                      layer->name, missing, c->view->mesh, first);
}

void exi_check_images(exi_checker *c, int index) {
    const ex_project_layer *layer = &c->view->layers[index];
    char where[64];
    const ex_project_example *first = first_image(c->view, layer->texture);
    texture_size size = {.file = first ? first->image : ""};
    ex_error error = {0};
    snprintf(where, sizeof where, "layers[%d]", index);
    if (c->mesh)
        check_texcoords(c, layer, where);
    ex_image *image = first ? read_image(c->view, first->image, &error) : NULL;
    c->failed = c->failed || error.result == EX_ERROR_MEMORY;
    size.width = image ? image->width : 0;
    size.height = image ? image->height : 0;
    ex_image_destroy(image);
    float **rows = calloc((size_t)layer->example_count + 1, sizeof *rows);
    bool complete = rows != NULL;
    c->failed = c->failed || !rows;
    for (int k = 0; !c->failed && k < layer->example_count; k++) {
        char here[64];
        snprintf(here, sizeof here, "layers[%d].examples[%d]", index, layer->examples[k].place);
        exi_check_progress(c, layer->examples[k].name);
        rows[k] = check_image(c, &layer->examples[k], &size, here);
        complete = complete && rows[k];
        c->done++;
    }
    const exi_guessed guessed = {.rows = (const float *const *)rows,
                                 .count = (size_t)SMALL * SMALL,
                                 .size = sqrt(3.0),
                                 .what = "image",
                                 .of = "the way from black to white"};
    if (!c->failed)
        exi_check_space(c, index, complete ? &guessed : NULL);
    for (int k = 0; rows && k < layer->example_count; k++)
        free(rows[k]);
    free(rows);
}
