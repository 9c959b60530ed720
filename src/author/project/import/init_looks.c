/*
 * Looks: the materials of a scene, with all images inside, and without what a mesh of one set of texture coordinates
 * cannot show.
 */
#include "author/project/import/init.h"

#include "author/base/array.h"
#include "author/base/json.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SAID = 10 };

/* Formats "image 'skin'", or "image 2", counting from 0 as 'exemplar info' does. */
static const char *name_image(char text[160], const ex_scene_image *image, int number) {
    const char *name = image->name ? image->name : image->path;
    if (name && name[0])
        snprintf(text, 160, "image '%.120s'", name);
    else
        snprintf(text, 160, "image %d", number);
    return text;
}

/* Finds out what an image is from its bytes: files call pictures by wrong names. *kept is false, with a note, if it is
 * none. */
static ex_result tell_type(const exi_init *init, ex_scene_image *image, int number, bool *kept, ex_error *error) {
    char text[160];
    const char *type = exi_image_type(image->bytes, image->size);
    *kept = type != NULL;
    if (!type) {
        exi_init_note(init, "%s is left out: it is not a PNG or JPEG picture", name_image(text, image, number));
        return EX_OK;
    }
    char *copy = exi_text_copy(type, strlen(type));
    if (!copy)
        return ex_error_memory(error, "the materials", strlen(type));
    free(image->mime_type);
    image->mime_type = copy;
    return EX_OK;
}

/* Names pictures that go through unread: browsers show them, or other programs do. */
static void note_unread(const exi_init *init) {
    static const struct {
        const char *type, *name, *where;
    } kinds[] = {{"image/webp", "WebP", "pages in a browser show %s, but pictures by 'exemplar render' do not"},
                 {"image/avif", "AVIF", "pages in a browser show %s, but pictures by 'exemplar render' do not"},
                 {"image/ktx2", "KTX2", "other programs show %s, but neither pages nor pictures of Exemplar do"}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int count = 0, first = -1;
        char text[160], where[160];
        for (int i = init->looks->image_count - 1; i >= 0; i--)
            if (init->looks->images[i].mime_type && strcmp(init->looks->images[i].mime_type, kinds[k].type) == 0) {
                count++;
                first = i;
            }
        if (count == 0)
            continue;
        snprintf(where, sizeof where, kinds[k].where, count == 1 ? "it" : "them");
        name_image(text, &init->looks->images[first], first);
        if (count == 1)
            exi_init_note(init, "%s is %s: %s; export PNG or JPEG for those", text, kinds[k].name, where);
        else
            exi_init_note(init, "%d images, such as %s, are %s: %s; export PNG or JPEG for those", count, text + 6,
                          kinds[k].name, where);
    }
}

/* Brings the bytes of an image's file inside. *kept is false, with a note, if it has none that can be used. */
static ex_result bring(const exi_init *init, ex_scene_image *image, int number, bool *kept, ex_error *error) {
    char *path = image->path ? ex_path_join(init->given->path ? init->given->path : "", image->path) : NULL;
    char *bytes = NULL;
    size_t size = 0;
    ex_error problem = {.result = EX_OK};
    if (!path || exi_scene_path_leaves(image->path) || ex_file_read(path, &bytes, &size, &problem) != EX_OK) {
        exi_init_note(init, "image '%s' is left out: %s", image->path ? image->path : "",
                      problem.text[0] ? problem.text : "it is not in the folder of the file");
        free(path);
        *kept = false;
        return EX_OK;
    }
    free(path);
    image->bytes = (unsigned char *)bytes;
    image->size = size;
    const ex_result result = tell_type(init, image, number, kept, error);
    if (result != EX_OK || !*kept)
        return result;
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
    return EX_OK;
}

/* Takes an image out of a texture's extensions, which name it with "source". */
static bool drop_from_rest(char **rest, int number) {
    json_t *tree = NULL, *extension;
    const char *key;
    void *next;
    exi_text text = {0};
    if (exi_json_load(*rest, strlen(*rest), &tree, NULL) != EX_OK)
        return false;
    json_t *extensions = json_object_get(tree, "extensions");
    bool good = true;
    json_object_foreach_safe(extensions, next, key, extension) {
        const json_t *source = json_object_get(extension, "source");
        if (json_is_integer(source) && json_integer_value(source) == number)
            json_object_del(extensions, key);
        else if (json_is_integer(source) && json_integer_value(source) > number)
            good = good && exi_json_set(extension, "source", json_integer(json_integer_value(source) - 1));
    }
    if (extensions && json_object_size(extensions) == 0)
        json_object_del(tree, "extensions");
    exi_json_print(tree, false, &text);
    json_decref(tree);
    if (!good || text.failed) {
        free(text.bytes);
        return false;
    }
    free(*rest);
    *rest = text.bytes;
    return true;
}

/* Drops an image; the textures that show it have none. False without memory. */
static bool drop_image(ex_scene *looks, int number) {
    ex_scene_image *image = &looks->images[number];
    free(image->name);
    free(image->path);
    free(image->mime_type);
    free(image->bytes);
    memmove(image, image + 1, (size_t)(--looks->image_count - number) * sizeof *image);
    bool good = true;
    for (int i = 0; i < looks->texture_count; i++) {
        ex_scene_texture *texture = &looks->textures[i];
        texture->image = texture->image == number ? -1 : texture->image - (texture->image > number);
        good = (!texture->rest || drop_from_rest(&texture->rest, number)) && good;
    }
    return good;
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

/* Says which names materials have in the project, if they are other ones; of many, the first. */
static void note_names(const exi_init *init) {
    int count = 0;
    for (int i = 0; i < init->given->material_count; i++) {
        const char *given = init->given->materials[i].name, *name = init->looks->materials[i].name;
        if (given && given[0] && strcmp(given, name) != 0 && ++count <= NAMES_SAID)
            exi_init_note(init, "material '%s' is called '%s' in the project", given, name);
    }
    if (count > NAMES_SAID)
        exi_init_note(init, "%d more material%s in the project", count - NAMES_SAID,
                      count - NAMES_SAID == 1 ? " has another name" : "s have other names");
}

ex_result exi_init_make_looks(exi_init *init, ex_error *error) {
    note_alpha(init);
    if (init->scene->material_count == 0)
        return EX_OK;
    init->looks = ex_scene_create();
    if (!init->looks)
        return ex_error_memory(error, "the materials", sizeof *init->looks);
    exi_scene_move_looks(init->scene, init->looks);
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < init->looks->image_count;) {
        ex_scene_image *image = &init->looks->images[i];
        bool kept = false;
        result = image->bytes ? tell_type(init, image, i, &kept, error) : bring(init, image, i, &kept, error);
        if (result == EX_OK && kept)
            i++;
        else if (result == EX_OK && !drop_image(init->looks, i))
            result = ex_error_memory(error, "the materials", 0);
    }
    note_unread(init);
    for (int i = 0; result == EX_OK && i < init->looks->material_count; i++)
        result = use_first_set(init, &init->looks->materials[i], error);
    note_names(init);
    return result;
}
