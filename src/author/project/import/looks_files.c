/*
 * Looks as files of a project: materials.gltf, and next to it every image as it is, byte for byte.
 */
#include "author/base/array.h"
#include "author/project/import/unpack.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

static const char *ending_of(const ex_scene_image *image) {
    static const struct {
        const char *type, *ending;
    } kinds[] = {{"image/png", ".png"},
                 {"image/jpeg", ".jpg"},
                 {"image/webp", ".webp"},
                 {"image/avif", ".avif"},
                 {"image/ktx2", ".ktx2"}};
    for (size_t i = 0; image->mime_type && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(image->mime_type, kinds[i].type) == 0)
            return kinds[i].ending;
    return ".image";
}

static exi_file_name file_of(const ex_scene *looks, int number) {
    const ex_scene_image *image = &looks->images[number];
    return exi_file_name_make("image", number, image->name ? image->name : "", ending_of(image));
}

ex_result exi_looks_check_free(const ex_scene *looks, const exi_new_folder *folder, ex_error *error) {
    ex_result result = looks ? exi_new_folder_check_free(folder, EXI_UNPACKED_MATERIALS, error) : EX_OK;
    for (int i = 0; looks && result == EX_OK && i < looks->image_count; i++)
        result = exi_new_folder_check_free(folder, file_of(looks, i).text, error);
    return result;
}

/* Writes an image to its file, and lets the scene refer to that. */
static ex_result write_image(ex_scene *looks, int number, exi_new_folder *folder, ex_error *error) {
    ex_scene_image *image = &looks->images[number];
    const exi_file_name name = file_of(looks, number);
    const char *path = exi_new_folder_add(folder, name.text, error);
    char *relative = path ? exi_text_copy(name.text, strlen(name.text)) : NULL;
    ex_file_writer writer;
    if (!relative)
        return path ? ex_error_memory(error, "a path", sizeof name) : EX_ERROR_MEMORY;
    ex_result result = ex_file_open(&writer, path, error);
    if (result == EX_OK) {
        ex_file_write(&writer, image->bytes, image->size);
        result = ex_file_commit(&writer, error);
    }
    if (result != EX_OK) {
        free(relative);
        return result;
    }
    free(image->bytes);
    image->bytes = NULL;
    image->size = 0;
    image->path = relative;
    return EX_OK;
}

ex_result exi_looks_write(ex_scene *looks, exi_new_folder *folder, ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; looks && result == EX_OK && i < looks->image_count; i++)
        result = write_image(looks, i, folder, error);
    const char *path = looks && result == EX_OK ? exi_new_folder_add(folder, EXI_UNPACKED_MATERIALS, error) : NULL;
    if (!looks || result != EX_OK)
        return result;
    if (!path)
        return EX_ERROR_MEMORY;
    free(looks->path);
    looks->path = exi_text_copy(path, strlen(path)); /* so that its images are next to it */
    return looks->path ? ex_scene_write(path, looks, error) : ex_error_memory(error, "a path", strlen(path));
}
