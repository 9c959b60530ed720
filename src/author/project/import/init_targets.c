/*
 * Morph targets as axes. With weights w, a glTF mesh has the vertices p + sum w_t d_t (glTF 2.0, section 3.7.2.2),
 * placed by its node's matrix M unless it is skinned. The form of target t is M p + L d_t, where L is M without its
 * translation.
 */
#include "author/project/import/init.h"

#include "author/base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

int exi_name_make_unique(char name[EXI_NAME_MAX + 1], int first, exi_name_taken taken, const void *context) {
    const int length = (int)strlen(name);
    int number = first;
    for (; taken(context, name); number++) {
        char suffix[16];
        const int size = snprintf(suffix, sizeof suffix, " %d", number);
        name[length] = '\0';
        name[exi_text_cut(name, length < EXI_NAME_MAX - size ? length : EXI_NAME_MAX - size)] = '\0';
        strcat(name, suffix);
    }
    return number;
}

static int find_axis(const exi_init *init, const char *name) {
    for (int a = 0; a < init->axis_count; a++)
        if (strcmp(init->axes[a].name, name) == 0)
            return a;
    return -1;
}

static bool axis_taken(const void *context, const char *name) {
    return find_axis(context, name) >= 0;
}

void exi_name_clean(const char *given, char name[EXI_NAME_MAX + 1]) {
    snprintf(name, EXI_NAME_MAX + 1, "%.*s", exi_text_cut(given, EXI_NAME_MAX), given);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '_';
    const bool valid = exi_is_text(name);
    for (char *c = name; !valid && *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '_';
}

void exi_axis_name_clean(const char *given, char name[EXI_NAME_MAX + 1]) {
    const bool reserved = strncmp(given, "joint:", 6) == 0 || strcmp(given, "time") == 0;
    char text[2 * EXI_NAME_MAX];
    snprintf(text, sizeof text, "%s%.*s", reserved ? "target " : "", exi_text_cut(given, EXI_NAME_MAX), given);
    exi_name_clean(text, name);
    for (char *c = name; *c; c++)
        if (strchr("=,\"", *c))
            *c = '_';
}

/* ---- axes ---- */

static const ex_scene_mesh *mesh_of(const exi_init *init, int part) {
    return &init->scene->meshes[init->parts[part].mesh];
}

static double rest_of(const exi_init *init, int part, int target) {
    const ex_scene_node *node = init->parts[part].node >= 0 ? &init->scene->nodes[init->parts[part].node] : NULL;
    const double *weights = node && node->weights ? node->weights : mesh_of(init, part)->weights;
    return weights ? weights[target] : 0;
}

/* True if an earlier target of the same mesh has the axis. */
static bool own_axis(const int *axes, int count, int axis) {
    for (int t = 0; t < count; t++)
        if (axes[t] == axis)
            return true;
    return false;
}

/* The channel of an animation that moves the weights of a node; NULL if there is none. */
static const ex_scene_channel *weights_of(const ex_scene_animation *animation, int node) {
    for (int c = 0; c < animation->channel_count; c++)
        if (animation->channels[c].path == EX_SCENE_WEIGHTS && animation->channels[c].node == node)
            return &animation->channels[c];
    return NULL;
}

static bool same_keys(const ex_scene_channel *a, int a_target, const ex_scene_channel *b, int b_target) {
    const size_t rows = a ? (size_t)a->key_count * (a->interpolation == EX_SCENE_CUBICSPLINE ? 3 : 1) : 0;
    if (!a || !b)
        return a == b;
    bool same = a->key_count == b->key_count && a->interpolation == b->interpolation &&
                memcmp(a->times, b->times, (size_t)a->key_count * sizeof *a->times) == 0;
    for (size_t i = 0; same && i < rows; i++)
        same = a->values[i * (size_t)a->width + (size_t)a_target] == b->values[i * (size_t)b->width + (size_t)b_target];
    return same;
}

/* True if every animation moves the target of an axis and that of a part alike. */
static bool move_alike(const exi_init *init, const exi_init_axis *axis, int part, int target) {
    const int nodes[2] = {init->parts[axis->part].node, init->parts[part].node};
    bool same = true;
    for (int i = 0; same && i < init->scene->animation_count; i++)
        same = same_keys(weights_of(&init->scene->animations[i], nodes[0]), axis->target,
                         weights_of(&init->scene->animations[i], nodes[1]), target);
    return same;
}

/* Returns the axis of a part's target: that of the same name in another mesh, or a new one; -1 without memory. */
static int choose_axis(exi_init *init, int part, int target, const int *before) {
    char **names = mesh_of(init, part)->target_names;
    const char *given = names && names[target] && names[target][0] ? names[target] : NULL;
    char name[EXI_NAME_MAX + 1];
    if (given)
        exi_axis_name_clean(given, name);
    else
        snprintf(name, sizeof name, "target%d", target);
    const int same = find_axis(init, name);
    const double rest = rest_of(init, part, target);
    if (same >= 0 && given && init->axes[same].joinable && !own_axis(before, target, same) &&
        init->axes[same].rest == rest && move_alike(init, &init->axes[same], part, target))
        return same;
    exi_name_make_unique(name, 2, axis_taken, init);
    if (given && strcmp(given, name) != 0)
        exi_init_note(init, "morph target '%s' is called '%s' in the project", given, name);
    exi_init_axis *axes =
        exi_array_grow(init->axes, &init->axis_capacity, (size_t)init->axis_count + 1, sizeof *init->axes);
    if (!axes)
        return -1;
    init->axes = axes;
    exi_init_axis *axis = &axes[init->axis_count];
    *axis = (exi_init_axis){.joinable = given != NULL, .part = part, .target = target, .rest = rest};
    strcpy(axis->name, name);
    return init->axis_count++;
}

/* Returns the start of the axes of an earlier part of the same node; -1 if there is none. */
static int axes_of_node(const exi_init *init, int part) {
    const exi_scene_part *p = &init->parts[part];
    if (part > 0 && p[-1].node == p->node && p[-1].mesh == p->mesh)
        return init->part_axes[part - 1];
    return -1;
}

ex_result exi_init_find_targets(exi_init *init, ex_error *error) {
    size_t total = 0;
    for (int i = 0; i < init->part_count; i++)
        total += (size_t)mesh_of(init, i)->target_count;
    init->part_axes = exi_array_allocate((size_t)init->part_count, sizeof *init->part_axes);
    init->target_axes = exi_array_allocate(total, sizeof *init->target_axes);
    if (!init->part_axes || !init->target_axes)
        return ex_error_memory(error, "the morph targets", total * sizeof *init->target_axes);
    int end = 0;
    for (int i = 0; i < init->part_count; i++) {
        init->part_axes[i] = axes_of_node(init, i);
        if (init->part_axes[i] >= 0)
            continue;
        int *axes = init->target_axes + end;
        init->part_axes[i] = end;
        for (int t = 0; t < mesh_of(init, i)->target_count; t++, end++) {
            axes[t] = choose_axis(init, i, t, axes);
            if (axes[t] < 0)
                return ex_error_memory(error, "the morph targets", (size_t)init->axis_count * sizeof *init->axes);
        }
    }
    return EX_OK;
}

/* ---- forms ---- */

static void move_part(const exi_init *init, const exi_scene_part *part, int target, double *positions) {
    const ex_scene_primitive *p = &init->scene->meshes[part->mesh].primitives[part->primitive];
    const float *d = p->targets ? p->targets[target].positions : NULL;
    const bool placed = part->node >= 0 && init->scene->skin_count == 0;
    const double *m = placed ? init->worlds + 16 * (size_t)part->node : NULL;
    for (size_t v = 0; d && v < (size_t)p->vertex_count; v++, d += 3) {
        const size_t at = 3 * exi_init_vertex(init, part, v);
        for (size_t r = 0; r < 3; r++)
            positions[at + r] =
                init->mesh->positions[at + r] +
                (m ? m[r] * (double)d[0] + m[4 + r] * (double)d[1] + m[8 + r] * (double)d[2] : (double)d[r]);
    }
}

void exi_init_target_form(const exi_init *init, int axis, double *positions) {
    memcpy(positions, init->mesh->positions, 3 * (size_t)init->mesh->vertex_count * sizeof *positions);
    for (int i = 0; i < init->part_count; i++)
        for (int t = 0; t < mesh_of(init, i)->target_count; t++)
            if (init->target_axes[init->part_axes[i] + t] == axis)
                move_part(init, &init->parts[i], t, positions);
}
