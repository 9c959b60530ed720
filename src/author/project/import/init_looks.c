/*
 * Looks: the materials of a scene, with all images inside, and without what a mesh of one set of texture coordinates
 * cannot show.
 */
#include "author/project/import/init.h"

#include "author/base/array.h"

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

/* Brings the bytes of an image's file inside. Returns false, with a note, if it has none that can be used. */
static bool bring(const exi_init *init, ex_scene_image *image) {
    char *path = image->path ? ex_path_join(init->given->path ? init->given->path : "", image->path) : NULL;
    char *bytes = NULL;
    size_t size = 0;
    ex_error problem = {.result = EX_OK};
    if (!path || exi_scene_path_leaves(image->path) || ex_file_read(path, &bytes, &size, &problem) != EX_OK) {
        exi_init_note(init, "image '%s' is left out: %s", image->path ? image->path : "",
                      problem.text[0] ? problem.text : "it is not in the folder of the file");
        free(path);
        return false;
    }
    free(path);
    const char *type = exi_image_type((unsigned char *)bytes, size);
    char *copy = type ? exi_text_copy(type, strlen(type)) : NULL;
    if (!copy) {
        exi_init_note(init, "image '%s' is left out: it is not a PNG or JPEG picture", image->path);
        free(bytes);
        return false;
    }
    free(image->mime_type);
    image->mime_type = copy;
    image->bytes = (unsigned char *)bytes;
    image->size = size;
    if (!image->name) {
        image->name = image->path;
        image->path = NULL;
        char *dot = strrchr(image->name, '.'), *slash = strrchr(image->name, '/');
        if (dot && (!slash || dot > slash))
            *dot = 0;
        if (slash)
            memmove(image->name, slash + 1, strlen(slash + 1) + 1);
    }
    free(image->path);
    image->path = NULL;
    return true;
}

/* Drops an image; the textures that show it have none. */
static void drop_image(ex_scene *looks, int number) {
    ex_scene_image *image = &looks->images[number];
    free(image->name);
    free(image->path);
    free(image->mime_type);
    free(image->bytes);
    memmove(image, image + 1, (size_t)(--looks->image_count - number) * sizeof *image);
    for (int i = 0; i < looks->texture_count; i++)
        if (looks->textures[i].image == number)
            looks->textures[i].image = -1;
        else if (looks->textures[i].image > number)
            looks->textures[i].image--;
}

/* The mesh has the texture coordinates as the material uses them. */
static ex_result use_first_set(const exi_init *init, ex_scene_material *material, ex_error *error) {
    int removed = 0;
    if (!exi_scene_settle_texcoords(material, &removed))
        return ex_error_memory(error, "a material", 1000);
    if (removed > 0)
        exi_init_note(
            init,
            "material '%s': %d texture%s left out, because %s a second set of texture coordinates, and a mesh "
            "has one",
            material->name, removed, removed == 1 ? " is" : "s are", removed == 1 ? "it uses" : "they use");
    return EX_OK;
}

/* Says so if vertices are partly transparent, which colours of a mesh cannot be. */
static void note_alpha(const exi_init *init) {
    for (int m = 0; m < init->scene->mesh_count; m++)
        for (int i = 0; i < init->scene->meshes[m].primitive_count; i++) {
            const ex_scene_primitive *p = &init->scene->meshes[m].primitives[i];
            for (size_t v = 0; p->colours && v < (size_t)p->vertex_count; v++)
                if (p->colours[4 * v + 3] < 1) {
                    exi_init_note(init, "vertex colours lose their alpha: the mesh keeps red, green and blue");
                    return;
                }
        }
}

ex_result exi_init_make_looks(exi_init *init, ex_error *error) {
    note_alpha(init);
    if (init->scene->material_count == 0)
        return EX_OK;
    init->looks = ex_scene_create();
    if (!init->looks)
        return ex_error_memory(error, "the materials", sizeof *init->looks);
    exi_scene_move_looks(init->scene, init->looks);
    for (int i = 0; i < init->looks->image_count;)
        if (init->looks->images[i].bytes || bring(init, &init->looks->images[i]))
            i++;
        else
            drop_image(init->looks, i);
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < init->looks->material_count; i++)
        result = use_first_set(init, &init->looks->materials[i], error);
    for (int i = 0; i < init->given->material_count; i++) {
        const char *given = init->given->materials[i].name, *name = init->looks->materials[i].name;
        if (given && given[0] && strcmp(given, name) != 0)
            exi_init_note(init, "material '%s' is called '%s' in the project", given, name);
    }
    return result;
}
