/*
 * The scenes that a rig carries beside its own data: looks and clips, each as the bytes of a .glb file. Files may have
 * more than that; only the part that is named goes into the rig.
 */
#include "author/formats/scene/scene.h"
#include "author/project/build/build.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

typedef ex_result (*copy_part)(const ex_scene *from, ex_scene **made, ex_error *error);

static ex_result read_part(const exi_building *b, const char *relative, copy_part copy, exi_scene_bytes *made,
                           ex_error *error) {
    ex_scene *scene = NULL, *part = NULL;
    char *path = ex_path_join(b->view->path, relative);
    ex_result result = path ? ex_scene_read(path, &scene, error) : ex_error_memory(error, "a path", strlen(relative));
    if (result == EX_OK)
        result = copy(scene, &part, error);
    if (result == EX_OK)
        result = ex_scene_encode(part, &made->bytes, &made->size, error);
    ex_scene_destroy(part);
    ex_scene_destroy(scene);
    free(path);
    return result;
}

ex_result exi_build_scenes(exi_building *b, ex_error *error) {
    ex_result result = EX_OK;
    if (b->view->materials)
        result = ex_error_within(error, read_part(b, b->view->materials, exi_scene_copy_looks, &b->looks, error),
                                 "materials");
    if (result == EX_OK && b->view->clips)
        result = ex_error_within(error, read_part(b, b->view->clips, exi_scene_copy_clips, &b->clips, error), "clips");
    return result;
}

void exi_build_free_scenes(exi_building *b) {
    free(b->looks.bytes);
    free(b->clips.bytes);
}
