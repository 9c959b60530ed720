/*
 * Forms of a rig as files. glTF forms have the rig's looks: the mesh finds its materials by their names.
 */
#include "author/formats/scene/scene.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

bool ex_texture_is_shown(const char *name) {
    return exi_texture_use_of(name) != NULL;
}

static bool has_texcoords(const ex_scene *scene) {
    for (int m = 0; m < scene->mesh_count; m++)
        for (int i = 0; i < scene->meshes[m].primitive_count; i++)
            if (!scene->meshes[m].primitives[i].texcoords[0])
                return false;
    return true;
}

static ex_result add_textures(ex_scene *scene, const ex_rig *rig, unsigned char *const *textures, ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; i < ex_rig_texture_count(rig) && result == EX_OK; i++) {
        const ex_texture texture = ex_rig_texture(rig, i);
        const ex_image image = {.width = texture.width, .height = texture.height, .pixels = textures[i]};
        if (image.pixels)
            result = exi_scene_add_texture(scene, texture.name, &image, error);
    }
    return result;
}

static ex_result fill(ex_scene *scene, const ex_rig *rig, const ex_mesh *form, unsigned char *const *textures,
                      ex_error *error) {
    ex_result result = ex_scene_add_mesh(scene, form, NULL, NULL, error);
    if (result == EX_OK && ex_scene_add_node(scene, NULL, -1, 0) < 0)
        result = ex_error_memory(error, "the file", sizeof(ex_scene_node));
    if (result == EX_OK && textures && has_texcoords(scene))
        result = add_textures(scene, rig, textures, error);
    return result;
}

ex_result ex_form_write(const char *path, const ex_rig *rig, const ex_mesh *form, unsigned char *const *textures,
                        ex_error *error) {
    ex_scene *scene = NULL;
    if (!path || !rig || !form)
        return exi_misuse_error(error, __func__, "no path, rig or form");
    if (!ex_path_ends_with(path, ".glb") && !ex_path_ends_with(path, ".gltf"))
        return ex_mesh_write(path, form, error);
    ex_result result = ex_rig_looks(rig, &scene, error);
    if (result == EX_OK && !scene) {
        scene = ex_scene_create();
        if (!scene)
            result = ex_error_memory(error, "the file", sizeof *scene);
    }
    if (result == EX_OK)
        result = ex_error_within(error, fill(scene, rig, form, textures, error), "cannot write '%s'", path);
    if (result == EX_OK)
        result = ex_scene_write(path, scene, error);
    ex_scene_destroy(scene);
    return result;
}
