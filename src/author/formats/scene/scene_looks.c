/*
 * The looks of a scene alone: materials, textures and images, with the extensions that they require.
 */
#include "author/formats/scene/scene.h"

#include "author/base/array.h"
#include "author/base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies a text, which may be NULL; *good becomes false without memory. */
static char *copy_text(const char *text, bool *good) {
    char *copy = text ? exi_text_copy(text, strlen(text)) : NULL;
    *good = *good && (copy || !text);
    return copy;
}

static bool copy_materials(const ex_scene *from, ex_scene *to) {
    bool good = true;
    to->materials = exi_array_allocate((size_t)from->material_count, sizeof *to->materials);
    for (int i = 0; to->materials && i < from->material_count; i++) {
        to->materials[i] = from->materials[i];
        to->materials[i].name = copy_text(from->materials[i].name, &good);
        to->materials[i].rest = copy_text(from->materials[i].rest, &good);
        to->material_count = i + 1;
    }
    return good && to->materials;
}

static bool copy_textures(const ex_scene *from, ex_scene *to) {
    bool good = true;
    to->textures = exi_array_allocate((size_t)from->texture_count, sizeof *to->textures);
    for (int i = 0; to->textures && i < from->texture_count; i++) {
        to->textures[i] = from->textures[i];
        to->textures[i].name = copy_text(from->textures[i].name, &good);
        to->textures[i].rest = copy_text(from->textures[i].rest, &good);
        to->texture_count = i + 1;
    }
    return good && to->textures;
}

static bool copy_images(const ex_scene *from, ex_scene *to) {
    bool good = true;
    to->images = exi_array_allocate((size_t)from->image_count, sizeof *to->images);
    for (int i = 0; to->images && i < from->image_count; i++) {
        const ex_scene_image *image = &from->images[i];
        to->images[i] = *image;
        to->images[i].name = copy_text(image->name, &good);
        to->images[i].path = copy_text(image->path, &good);
        to->images[i].mime_type = copy_text(image->mime_type, &good);
        to->images[i].bytes = image->bytes ? exi_array_copy(image->bytes, image->size, 1) : NULL;
        good = good && (to->images[i].bytes || !image->bytes);
        to->image_count = i + 1;
    }
    return good && to->images;
}

static bool copy_required(const ex_scene *from, ex_scene *to) {
    bool good = true;
    to->required = exi_array_allocate((size_t)from->required_count, sizeof *to->required);
    for (int i = 0; to->required && i < from->required_count; i++) {
        to->required[i] = copy_text(from->required[i], &good);
        to->required_count = i + 1;
    }
    return good && to->required;
}

/* ---- names ---- */

/* Makes a name that fits on one line of a file, without blanks at its ends, and that is not taken; then it is. The
 * table has the number that comes after a name if it is wanted again. */
static char *make_name(const ex_scene *scene, int material, exi_names *taken) {
    const char *given = scene->materials[material].name ? scene->materials[material].name : "";
    given += strspn(given, " ");
    size_t size = strlen(given);
    while (size > 0 && given[size - 1] == ' ')
        size--;
    const size_t room = size + 40;
    char *name = malloc(room);
    if (!name)
        return NULL;
    if (size > 0)
        snprintf(name, room, "%.*s", (int)size, given);
    else
        snprintf(name, room, "material.%d", material);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '_';
    size = strlen(name);
    int *next = exi_names_find(taken, name);
    while (next && exi_names_find(taken, name))
        snprintf(name + size, room - size, " %d", (*next)++);
    exi_names_add(taken, name, 2);
    return name;
}

char **exi_scene_material_names(const ex_scene *scene) {
    exi_names taken;
    char **names = exi_array_allocate((size_t)scene->material_count + 1, sizeof *names);
    if (!names || !exi_names_open(&taken, scene->material_count)) {
        free(names);
        return NULL;
    }
    int count = 0;
    while (count < scene->material_count && (names[count] = make_name(scene, count, &taken)) != NULL)
        count++;
    exi_names_close(&taken);
    if (count == scene->material_count)
        return names;
    while (count > 0)
        free(names[--count]);
    free(names);
    return NULL;
}

bool exi_scene_name_materials(ex_scene *scene) {
    char **names = exi_scene_material_names(scene);
    for (int i = 0; names && i < scene->material_count; i++) {
        free(scene->materials[i].name);
        scene->materials[i].name = names[i];
    }
    free(names);
    return names != NULL;
}

ex_result exi_scene_copy_looks(const ex_scene *from, ex_scene **made, ex_error *error) {
    bool good = true;
    ex_scene *to = *made = ex_scene_create();
    if (to) {
        to->path = copy_text(from->path, &good);
        good = good && copy_materials(from, to) && copy_textures(from, to) && copy_images(from, to) &&
               copy_required(from, to) && exi_scene_name_materials(to);
    }
    if (to && good)
        return EX_OK;
    ex_scene_destroy(to);
    *made = NULL;
    return ex_error_memory(error, "the materials", (size_t)from->material_count * sizeof *from->materials);
}

void exi_scene_move_looks(ex_scene *from, ex_scene *to) {
    to->materials = from->materials;
    to->material_count = from->material_count;
    to->textures = from->textures;
    to->texture_count = from->texture_count;
    to->images = from->images;
    to->image_count = from->image_count;
    to->required = from->required;
    to->required_count = from->required_count;
    from->materials = NULL;
    from->textures = NULL;
    from->images = NULL;
    from->required = NULL;
    from->material_count = from->texture_count = from->image_count = from->required_count = 0;
}

const char *exi_image_type(const unsigned char *bytes, size_t size) {
    if (size >= 8 && memcmp(bytes, "\x89PNG\r\n\x1A\n", 8) == 0)
        return "image/png";
    if (size >= 3 && memcmp(bytes, "\xFF\xD8\xFF", 3) == 0)
        return "image/jpeg";
    if (size >= 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0)
        return "image/webp";
    if (size >= 12 && memcmp(bytes + 4, "ftypavif", 8) == 0)
        return "image/avif";
    return size >= 12 && memcmp(bytes, "\xABKTX 20\xBB\r\n\x1A\n", 12) == 0 ? "image/ktx2" : NULL;
}
