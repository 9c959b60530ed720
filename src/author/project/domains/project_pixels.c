/*
 * Layers of pixels: images of a texture, read as they are. Checking finds images that cannot be read, images whose size
 * differs from the texture's first, and a mesh without the texture coordinates to show them. Examples are predicted
 * from each other as thumbnails of their images, since no single pixel of a texture matters.
 */
#include "author/base/array.h"
#include "author/project/domains/project_domain.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>
#include <exemplar/author/image.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Side of a thumbnail in pixels. */
enum { SMALL = 32 };

/* Returns the image that sets a texture's size: the first one named for it, in any layer. */
static const ex_project_example *first_image(const ex_project_view *view, const char *texture) {
    for (int l = 0; l < view->layer_count; l++)
        if (view->layers[l].domain == EX_DOMAIN_PIXELS && strcmp(view->layers[l].pixels.texture, texture) == 0 &&
            view->layers[l].example_count > 0)
            return &view->layers[l].examples[0];
    return NULL;
}

static ex_image *read_image(const ex_project_view *view, const char *relative, ex_error *error) {
    ex_image *image = NULL;
    char *path = ex_path_join(view->path, relative);
    if (!path)
        ex_error_memory(error, "a path", strlen(relative));
    else
        ex_image_read(path, &image, error);
    free(path);
    return image;
}

/* Returns the means of blocks, in [0, 1], in the file's encoding. NULL without memory. */
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

/* Size of the first image that can be read; 0 before. */
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
                      "'%s': %s is %d x %d pixels, but %s is %d x %d: the images of a texture must have the same size",
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

static void check(exi_checker *c, int index) {
    const ex_project_layer *layer = &c->view->layers[index];
    char where[64];
    const ex_project_example *first = first_image(c->view, layer->pixels.texture);
    texture_size size = {.file = first ? first->image : ""};
    ex_error error = {0};
    snprintf(where, sizeof where, "layers[%d]", index);
    if (c->mesh)
        check_texcoords(c, layer, where);
    ex_image_facts facts = {0};
    char *path = first ? ex_path_join(c->view->path, first->image) : NULL;
    if (path)
        ex_image_measure(path, &facts, &error);
    c->failed = c->failed || (first && !path) || error.result == EX_ERROR_MEMORY;
    size.width = facts.width;
    size.height = facts.height;
    free(path);
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

/* ---- reading ---- */

/* Names the texture of one material: "MATERIAL/base_color". */
static ex_result join_names(exi_project_reader *r, const exi_place *place, const char *texture,
                            ex_project_layer *layer) {
    char name[EXI_NAME_MAX + 1];
    const int size = snprintf(name, sizeof name, "%s/%s", layer->pixels.material, texture);
    if (size > EXI_NAME_MAX)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.material: the name is too long for a layer of pixels",
                            place->text);
    layer->pixels.texture = exi_arena_text(r->keys.arena, name);
    return layer->pixels.texture ? EX_OK : ex_error_memory(r->keys.error, "the project", sizeof name);
}

static ex_result read_layer(exi_project_reader *r, const json_t *object, const exi_place *place,
                            ex_project_layer *layer) {
    static const char *const textures[] = {"base_color", "normal", "metallic_roughness", "occlusion", "emissive"};
    exi_place at = exi_place_key(place, "texture");
    int choice = 0;
    ex_result result = exi_choose(&r->keys, json_object_get(object, "texture"), &at, textures, 5, &choice);
    layer->pixels.texture = textures[choice];
    if (result == EX_OK)
        result = exi_get_text(&r->keys, object, place, "material", false, &layer->pixels.material);
    return result == EX_OK && layer->pixels.material ? join_names(r, place, textures[choice], layer) : result;
}

/* ---- building ---- */

static ex_image **images_of(const exi_building *b, int layer) {
    return b->own[layer];
}

/* Returns the texture's first image, whose size the others must have; and its file. */
static const ex_image *first_built(const exi_building *b, int layer, const char **file) {
    const char *texture = b->view->layers[layer].pixels.texture;
    for (int l = 0; l <= layer; l++)
        if (b->view->layers[l].domain == EX_DOMAIN_PIXELS && images_of(b, l) &&
            strcmp(b->view->layers[l].pixels.texture, texture) == 0) {
            *file = b->view->layers[l].examples[0].image;
            return images_of(b, l)[0];
        }
    return NULL;
}

static ex_result build_image(exi_building *b, int layer, int index, ex_error *error) {
    const char *relative = b->view->layers[layer].examples[index].image, *first_file = NULL;
    char *path = ex_path_join(b->view->path, relative);
    if (!path)
        return ex_error_memory(error, "a path", strlen(relative));
    ex_result result = ex_image_read(path, &images_of(b, layer)[index], error);
    free(path);
    if (result != EX_OK)
        return ex_error_within(error, result, "image");
    const ex_image *image = images_of(b, layer)[index], *first = first_built(b, layer, &first_file);
    if (image->width != first->width || image->height != first->height)
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s is %d x %d pixels, but %s is %d x %d: the images of a texture must have the same size",
                            relative, image->width, image->height, first_file, first->width, first->height);
    return EX_OK;
}

/* Checks that the mesh has the material of a layer. */
static ex_result check_material(const exi_building *b, int index, ex_error *error) {
    const char *material = b->view->layers[index].pixels.material;
    const char *const *names = (const char *const *)b->mesh->material_names;
    for (int i = 0; material && i < b->mesh->material_count; i++)
        if (strcmp(names[i], material) == 0)
            return EX_OK;
    if (!material)
        return EX_OK;
    const char *near = b->mesh->material_count > 0 ? ex_suggest(material, names, b->mesh->material_count) : NULL;
    if (near)
        return ex_error_set(error, EX_ERROR_DATA,
                            "layers[%d].material: the mesh has no material '%s'; did you mean '%s'?", index, material,
                            near);
    return ex_error_set(error, EX_ERROR_DATA, "layers[%d].material: the mesh has no material '%s'%s%s%s", index,
                        material, b->mesh->material_count > 0 ? "; the first that it has is '" : "",
                        b->mesh->material_count > 0 ? names[0] : "", b->mesh->material_count > 0 ? "'" : "");
}

static ex_result build(exi_building *b, int index, ex_layer_def *layer, ex_error *error) {
    const ex_project_layer *source = &b->view->layers[index];
    ex_result found = check_material(b, index, error);
    if (found != EX_OK)
        return found;
    const size_t count = (size_t)source->example_count;
    const unsigned char **pixels = calloc(count, sizeof *pixels);
    ex_image **images = b->own[index] = calloc(count, sizeof *images);
    layer->pixels.images = pixels;
    layer->pixels.texture = source->pixels.texture;
    ex_result result = pixels && images ? EX_OK : ex_error_memory(error, "a layer", count * sizeof *pixels);
    for (int k = 0; result == EX_OK && k < source->example_count; k++) {
        result = exi_build_report(b, source->examples[k].name, error);
        if (result != EX_OK)
            return result;
        result = ex_error_within(error, build_image(b, index, k, error), "layers[%d].examples[%d] '%s'", index,
                                 source->examples[k].place, source->examples[k].name);
        b->example_done++;
        if (result != EX_OK)
            return result;
        pixels[k] = images[k]->pixels;
        layer->pixels.width = images[k]->width;
        layer->pixels.height = images[k]->height;
    }
    return result;
}

static void free_layer(exi_building *b, int index, ex_layer_def *layer) {
    for (int k = 0; images_of(b, index) && k < layer->weigh.example_count; k++)
        ex_image_destroy(images_of(b, index)[k]);
    free(b->own[index]);
    free((void *)(uintptr_t)layer->pixels.images);
}

/* ---- unpacking and comparing ---- */

static ex_result write_images(exi_unpacking *w, int layer, ex_error *error) {
    const ex_rig *rig = w->rig;
    const ex_texture texture = ex_rig_texture(rig, ex_rig_layer_texture(rig, layer));
    ex_result result = EX_OK;
    for (int k = 0; result == EX_OK && k < ex_weigher_example_count(ex_rig_weigher(rig, layer)); k++) {
        const ex_image image = {.width = texture.width,
                                .height = texture.height,
                                .pixels = (unsigned char *)(uintptr_t)ex_rig_example_image(rig, layer, k)};
        const char *path =
            exi_new_folder_add(w->folder, exi_unpacked_name(rig, layer, k, EXI_UNPACKED_FILE).text, error);
        result = path ? ex_image_write(path, &image, error) : EX_ERROR_MEMORY;
    }
    return result;
}

static bool describe(const ex_rig *rig, int layer, const ex_weigher_def *def, const json_t *paths, json_t *object) {
    (void)def, (void)paths;
    const char *name = ex_rig_texture(rig, ex_rig_layer_texture(rig, layer)).name, *slash = strrchr(name, '/');
    return json_object_set_new(object, "texture", json_string(slash ? slash + 1 : name)) == 0 &&
           (!slash || json_object_set_new(object, "material", json_stringn(name, (size_t)(slash - name))) == 0);
}

static void compare_images(const exi_layer_pair *p, int a, int b, const char *name) {
    const ex_texture first = ex_rig_texture(p->a.rig, ex_rig_layer_texture(p->a.rig, p->a.layer));
    const ex_texture second = ex_rig_texture(p->b.rig, ex_rig_layer_texture(p->b.rig, p->b.layer));
    if (first.width != second.width || first.height != second.height)
        return; /* reported for the texture */
    const unsigned char *x = ex_rig_example_image(p->a.rig, p->a.layer, a);
    const unsigned char *y = ex_rig_example_image(p->b.rig, p->b.layer, b);
    const size_t count = 4 * (size_t)first.width * (size_t)first.height;
    int largest = 0;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const int apart = abs(x[i] - y[i]);
        largest = apart > largest ? apart : largest;
        sum += apart;
    }
    if (largest / 255.0 > p->c->tolerance)
        exi_difference_add(p->c, "example", p->where, largest / 255.0, sum / (double)count / 255,
                           "the image of example '%s' differs by at most %d of 255, %.3g on average", name, largest,
                           sum / (double)count);
}

const exi_project_domain exi_project_domain_pixels = {.examples = "pixels",
                                                      .file = "image",
                                                      .files = "an \"image\"",
                                                      .ending = ".png",
                                                      .file_at = offsetof(ex_project_example, image),
                                                      .masked = EXI_MASKED_NOTHING,
                                                      .keys = {{"texture", "a texture"}, {"material", "a material"}},
                                                      .example_keys = {{"image", "images"}},
                                                      .read = read_layer,
                                                      .build = build,
                                                      .free = free_layer,
                                                      .check = check,
                                                      .describe = describe,
                                                      .write = write_images,
                                                      .compare_example = compare_images};
