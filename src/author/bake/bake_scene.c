/*
 * Turns a bake into a scene: a node with the mesh, a node per joint, a skin, an animation. Vertices are split at seams.
 * Morph targets also carry differences of normals (bake_normals.c), since viewers do not recompute normals.
 */
#include "author/bake/bake.h"

#include "author/base/array.h"
#include "author/formats/scene/scene.h"

#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

typedef struct maker {
    const exi_bake *bake;
    ex_scene *scene;
    exi_bake_normals normals;
    float *form, *delta; /* [vertex_count][3] of one target at a time */
} maker;

static ex_result no_memory(const maker *m) {
    return ex_error_memory(m->bake->error, "the file", (size_t)m->bake->vertex_count * 48);
}

/* ---- the mesh ---- */

/* Evaluates the textures of the rig at rest; glTF has no equivalent of pixel layers. */
static ex_result evaluate_textures(maker *m, unsigned char **textures) {
    const ex_rig *rig = m->bake->rig;
    const ex_evaluation how = {.tasks = m->bake->options.tasks};
    void *scratch = exi_array_allocate(ex_rig_scratch_size(rig, &how, 1), 1);
    bool whole = scratch != NULL;
    for (int i = 0; whole && i < ex_rig_texture_count(rig); i++) {
        const ex_texture texture = ex_rig_texture(rig, i);
        if (!exi_texture_use_of(texture.name))
            continue;
        textures[i] = exi_array_allocate((size_t)texture.width * (size_t)texture.height, 4);
        whole = textures[i] != NULL;
    }
    if (whole)
        ex_rig_evaluate(rig, NULL, &(ex_output){.textures = textures}, &how, scratch);
    free(scratch);
    return whole ? EX_OK : no_memory(m);
}

/* Adds the textures that the rig shows at rest, if there are texture coordinates for them. */
static ex_result add_textures(maker *m) {
    const ex_rig *rig = m->bake->rig;
    const int count = ex_rig_texture_count(rig);
    bool shown = count > 0;
    for (int i = 0; i < m->scene->meshes[0].primitive_count; i++)
        shown = shown && m->scene->meshes[0].primitives[i].texcoords[0];
    if (!shown)
        return EX_OK;
    unsigned char **textures = calloc((size_t)count, sizeof *textures);
    ex_result result = textures ? evaluate_textures(m, textures) : no_memory(m);
    for (int i = 0; textures && i < count; i++) {
        const ex_texture texture = ex_rig_texture(rig, i);
        const ex_image image = {.width = texture.width, .height = texture.height, .pixels = textures[i]};
        if (result == EX_OK && textures[i])
            result = exi_scene_add_texture(m->scene, texture.name, &image, m->bake->error);
        free(textures[i]);
    }
    free(textures);
    return result;
}

/* Takes the rig's materials over; the mesh finds them by name. */
static ex_result add_looks(maker *m) {
    ex_scene *looks = NULL;
    const ex_result result = ex_rig_looks(m->bake->rig, &looks, m->bake->error);
    if (looks)
        exi_scene_move_looks(looks, m->scene);
    ex_scene_destroy(looks);
    return result;
}

static ex_result fill_influences(const maker *m, ex_scene_primitive *p) {
    const ex_skin *skin = m->bake->skin;
    const int most = ex_skin_get_info(skin).influence_most;
    const size_t vertices = (size_t)p->vertex_count, width = (size_t)most;
    uint32_t *joints = exi_array_allocate(width, sizeof *joints);
    p->joints = calloc(vertices * width, sizeof *p->joints);
    p->weights = calloc(vertices * width, sizeof *p->weights);
    p->influence_count = most;
    if (!joints || !p->joints || !p->weights) {
        free(joints);
        return no_memory(m);
    }
    for (size_t v = 0; v < vertices; v++) {
        const int count = ex_skin_influences(skin, p->sources[v], joints, p->weights + v * width);
        for (int i = 0; i < most; i++) {
            if (i < count)
                p->joints[v * width + (size_t)i] = (uint16_t)joints[i];
            else
                p->weights[v * width + (size_t)i] = 0;
        }
    }
    free(joints);
    return EX_OK;
}

/* Picks the values of the primitive's vertices. */
static float *pick(const ex_scene_primitive *p, const float *values) {
    float *picked = exi_array_allocate((size_t)p->vertex_count, 3 * sizeof *picked);
    for (size_t v = 0; picked && v < (size_t)p->vertex_count; v++)
        memcpy(picked + 3 * v, values + 3 * (size_t)p->sources[v], 3 * sizeof *picked);
    return picked;
}

static ex_result fill_target(maker *m, ex_scene_mesh *mesh, int k) {
    const exi_bake *bake = m->bake;
    const exi_bake_target *target = &bake->targets[k];
    const size_t numbers = 3 * (size_t)bake->vertex_count;
    memset(m->delta, 0, numbers * sizeof *m->delta);
    for (size_t i = 0; i < (size_t)target->count; i++)
        memcpy(m->delta + 3 * (size_t)target->vertices[i], target->deltas + 3 * i, 3 * sizeof *m->delta);
    for (size_t i = 0; i < numbers; i++)
        m->form[i] = bake->rest[i] + m->delta[i];
    exi_bake_normals_take(&m->normals, m->form);
    for (int i = 0; i < mesh->primitive_count; i++) {
        ex_scene_primitive *p = &mesh->primitives[i];
        p->targets[k].positions = pick(p, m->delta);
        p->targets[k].normals = p->normals ? exi_bake_normals_changes(&m->normals, p) : NULL;
        if (!p->targets[k].positions || (p->normals && !p->targets[k].normals))
            return no_memory(m);
    }
    return EX_OK;
}

static ex_result fill_targets(maker *m, ex_scene_mesh *mesh) {
    const exi_bake *bake = m->bake;
    const size_t count = (size_t)bake->target_count, vertices = (size_t)bake->vertex_count;
    if (count == 0)
        return EX_OK;
    m->form = exi_array_allocate(vertices, 3 * sizeof *m->form);
    m->delta = exi_array_allocate(vertices, 3 * sizeof *m->delta);
    mesh->target_names = calloc(count, sizeof *mesh->target_names);
    mesh->weights = calloc(count, sizeof *mesh->weights);
    bool good = m->form && m->delta && mesh->target_names && mesh->weights;
    for (int i = 0; i < mesh->primitive_count; i++) {
        mesh->primitives[i].targets = calloc(count, sizeof *mesh->primitives[i].targets);
        good = good && mesh->primitives[i].targets;
    }
    if (!good)
        return no_memory(m);
    mesh->target_count = bake->target_count;
    for (size_t k = 0; bake->rest_weights && k < count; k++)
        mesh->weights[k] = (double)bake->rest_weights[k];
    ex_result result = EX_OK;
    for (int k = 0; result == EX_OK && k < bake->target_count; k++) {
        mesh->target_names[k] = exi_text_copy(bake->targets[k].name, strlen(bake->targets[k].name));
        result = mesh->target_names[k] ? fill_target(m, mesh, k) : no_memory(m);
    }
    return result;
}

static ex_result add_mesh(maker *m, const char *name) {
    const exi_bake *bake = m->bake;
    const ex_surface surface = {.level = bake->level, .positions = bake->rest};
    ex_mesh *mesh = NULL;
    ex_result result = ex_rig_to_mesh(bake->rig, &surface, &mesh, bake->error);
    if (result == EX_OK)
        result = exi_bake_normals_give(&m->normals, mesh);
    if (result == EX_OK)
        result = add_looks(m);
    if (result == EX_OK)
        result = ex_scene_add_mesh(m->scene, mesh, name, NULL, bake->error);
    ex_mesh_destroy(mesh);
    if (result == EX_OK)
        result = add_textures(m);
    ex_scene_mesh *made = result == EX_OK ? &m->scene->meshes[0] : NULL;
    for (int i = 0; result == EX_OK && bake->skin && i < made->primitive_count; i++)
        result = fill_influences(m, &made->primitives[i]);
    return result == EX_OK ? fill_targets(m, made) : result;
}

/* ---- nodes: the mesh is node 0, joint j is node 1 + j, and joints of several roots have a node above them ---- */

static ex_scene_transform widen(const ex_transform *from) {
    ex_scene_transform to;
    for (int c = 0; c < 4; c++)
        to.rotation[c] = (double)from->rotation[c];
    for (int c = 0; c < 3; c++) {
        to.translation[c] = (double)from->translation[c];
        to.scale[c] = (double)from->scale[c];
    }
    return to;
}

static ex_result add_nodes(maker *m, const char *name) {
    const exi_bake *bake = m->bake;
    const ex_skeleton *skeleton = ex_rig_skeleton(bake->rig);
    const int joints = bake->skin ? bake->joint_count : 0;
    int roots = 0;
    if (ex_scene_add_node(m->scene, name, -1, 0) < 0)
        return no_memory(m);
    for (int j = 0; j < joints; j++) {
        const char *joint = ex_skeleton_name(skeleton, j);
        if (ex_scene_add_node(m->scene, joint[0] ? joint : NULL, -1, -1) < 0)
            return no_memory(m);
        const ex_transform rest = ex_skeleton_rest(skeleton, j);
        m->scene->nodes[1 + j].transform = widen(&rest);
        roots += ex_skeleton_parent(skeleton, j) < 0;
    }
    const int above = roots > 1 ? ex_scene_add_node(m->scene, "skeleton", -1, -1) : -1;
    if (roots > 1 && above < 0)
        return no_memory(m);
    for (int j = 0; j < joints; j++) {
        const int parent = ex_skeleton_parent(skeleton, j);
        m->scene->nodes[1 + j].parent = parent >= 0 ? 1 + parent : above;
    }
    return EX_OK;
}

static ex_result add_skin(maker *m) {
    const exi_bake *bake = m->bake;
    if (!bake->skin)
        return EX_OK;
    const size_t joints = (size_t)bake->joint_count;
    ex_scene_skin *skin = calloc(1, sizeof *skin);
    if (!skin)
        return no_memory(m);
    m->scene->skins = skin;
    m->scene->skin_count = 1;
    *skin = (ex_scene_skin){.joint_count = bake->joint_count,
                            .joints = exi_array_allocate(joints, sizeof *skin->joints),
                            .inverse_binds = calloc(16 * joints, sizeof *skin->inverse_binds),
                            .skeleton = -1};
    if (!skin->joints || !skin->inverse_binds)
        return no_memory(m);
    for (int j = 0; j < bake->joint_count; j++) {
        float rows[12], *columns = skin->inverse_binds + 16 * (size_t)j;
        skin->joints[j] = 1 + j;
        ex_skeleton_inverse_bind(ex_rig_skeleton(bake->rig), j, rows);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                columns[4 * c + r] = rows[4 * r + c];
        columns[15] = 1;
    }
    m->scene->nodes[0].skin = 0;
    return EX_OK;
}

/* ---- the animation ---- */

static bool fill_channel(const exi_bake *bake, const exi_bake_channel *from, ex_scene_channel *to) {
    const size_t keys = (size_t)from->key_count, width = (size_t)from->width;
    *to = (ex_scene_channel){.node = from->joint < 0 ? 0 : 1 + from->joint,
                             .path = from->path,
                             .interpolation = EX_SCENE_LINEAR,
                             .key_count = from->key_count,
                             .width = from->width,
                             .times = exi_array_allocate(keys, sizeof *to->times),
                             .values = exi_array_allocate(keys * width, sizeof *to->values)};
    for (size_t k = 0; to->times && to->values && k < keys; k++) {
        to->times[k] = bake->times[from->keys[k]];
        memcpy(to->values + k * width, from->values + (size_t)from->keys[k] * width, width * sizeof *to->values);
    }
    return to->times && to->values;
}

static ex_result add_animation(maker *m) {
    const exi_bake *bake = m->bake;
    ex_scene_animation *animation = calloc(1, sizeof *animation);
    if (!animation)
        return no_memory(m);
    m->scene->animations = animation;
    m->scene->animation_count = 1;
    const char *name = bake->options.name ? bake->options.name : "motion";
    animation->name = exi_text_copy(name, strlen(name));
    animation->channels = calloc((size_t)bake->channel_count + 1, sizeof *animation->channels);
    bool good = animation->name && animation->channels;
    for (int i = 0; good && i < bake->channel_count; i++)
        if (bake->channels[i].key_count > 0)
            good = fill_channel(bake, &bake->channels[i], &animation->channels[animation->channel_count++]);
    return good ? EX_OK : no_memory(m);
}

ex_result exi_bake_make_scene(const exi_bake *bake, const char *name, ex_scene **scene) {
    maker m = {.bake = bake, .scene = ex_scene_create()};
    *scene = NULL;
    ex_result result = m.scene ? exi_bake_normals_open(&m.normals, bake) : no_memory(&m);
    if (result == EX_OK)
        result = add_mesh(&m, name);
    if (result == EX_OK)
        result = add_nodes(&m, name);
    if (result == EX_OK)
        result = add_skin(&m);
    if (result == EX_OK)
        result = add_animation(&m);
    exi_bake_normals_close(&m.normals);
    free(m.form);
    free(m.delta);
    if (result == EX_OK)
        *scene = m.scene;
    else
        ex_scene_destroy(m.scene);
    return result;
}
