/*
 * Clips: the animations of a scene, whose nodes and morph targets get the names that joints and axes have in the
 * project.
 */
#include "author/project/import/init.h"

#include "author/base/array.h"
#include "author/base/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of clips ---- */

static bool clip_taken(const void *context, const char *name) {
    return exi_names_find(context, name) != NULL;
}

static bool name_clips(const exi_init *init) {
    ex_scene *clips = init->clips;
    exi_names names;
    bool good = exi_names_open(&names, clips->animation_count);
    for (int i = 0; good && i < clips->animation_count; i++) {
        ex_scene_animation *animation = &clips->animations[i];
        char name[EXI_NAME_MAX + 1];
        if (animation->name && animation->name[0])
            exi_name_clean(animation->name, name);
        else
            snprintf(name, sizeof name, "clip %d", i + 1);
        exi_name_make_unique(name, 2, clip_taken, &names);
        if (animation->name && animation->name[0] && strcmp(animation->name, name) != 0)
            exi_init_note(init, "animation '%s' is called '%s' in the project", animation->name, name);
        char *copy = exi_text_copy(name, strlen(name));
        if (copy) {
            free(animation->name);
            animation->name = copy;
            exi_names_add(&names, copy, i);
        }
        good = copy != NULL;
    }
    exi_names_close(&names);
    return good;
}

/* Takes names from nodes that are no joints and have the name of one: clips find joints by name. */
static bool name_nodes(const exi_init *init) {
    const ex_scene_skin *skin = init->scene->skin_count > 0 ? init->scene->skins : NULL;
    exi_names names;
    if (!exi_names_open(&names, skin ? skin->joint_count : 0)) {
        exi_names_close(&names);
        return false;
    }
    for (int i = 0; skin && i < skin->joint_count; i++)
        exi_names_add(&names, init->scene->nodes[skin->joints[i]].name, skin->joints[i]);
    for (int n = 0; n < init->clips->node_count; n++) {
        ex_scene_node *node = &init->clips->nodes[n];
        const int *joint = node->name ? exi_names_find(&names, node->name) : NULL;
        if (joint && *joint != n) {
            free(node->name);
            node->name = NULL;
        }
    }
    exi_names_close(&names);
    return true;
}

/* Names the targets of morphed nodes as the axes that they move. */
static bool name_targets(const exi_init *init) {
    for (int i = 0; i < init->part_count; i++) {
        const int node = init->parts[i].node;
        const int mesh = node >= 0 ? init->clips->nodes[node].mesh : -1;
        ex_scene_mesh *made = mesh >= 0 ? &init->clips->meshes[mesh] : NULL;
        if (made && !made->target_names)
            made->target_names = calloc((size_t)made->target_count + 1, sizeof *made->target_names);
        if (made && !made->target_names)
            return false;
        for (int t = 0; made && t < made->target_count; t++) {
            const char *name = init->axes[init->target_axes[init->part_axes[i] + t]].name;
            char *copy = exi_text_copy(name, strlen(name));
            if (!copy)
                return false;
            free(made->target_names[t]);
            made->target_names[t] = copy;
        }
    }
    return true;
}

ex_result exi_init_make_clips(exi_init *init, ex_error *error) {
    if (init->scene->animation_count == 0)
        return EX_OK;
    ex_result result = exi_scene_copy_clips(init->scene, &init->clips, error);
    if (result == EX_OK && !(name_clips(init) && name_nodes(init) && name_targets(init)))
        result = ex_error_memory(error, "the clips", (size_t)init->scene->node_count * sizeof *init->scene->nodes);
    return result;
}
