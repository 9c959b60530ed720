/* cli/info/info_scene.c - describes images, and glTF files that are not rigs, for `exemplar info`. */
#include "info.h"

#include "cli/base/report.h"

#include <exemplar/author.h>

#include <stdio.h>
#include <stdlib.h>

/* Number of targets named in text; a face may have hundreds. JSON has all. */
#define NAMED_MOST 12

static const char *text_or(const char *text, const char *other) {
    return text && *text ? text : other;
}

/* ---- numbers ---- */

typedef struct mesh_figures {
    int vertices, triangles, influences;
} mesh_figures;

/* Number of joints with a weight at the vertex; a file has room for four. */
static int count_held(const ex_scene_primitive *p, int vertex) {
    const float *weights = p->weights + (size_t)vertex * (size_t)p->influence_count;
    int held = 0;
    for (int i = 0; i < p->influence_count; i++)
        held += weights[i] > 0;
    return held;
}

static mesh_figures count_mesh(const ex_scene_mesh *mesh) {
    mesh_figures out = {0, 0, 0};
    for (int i = 0; i < mesh->primitive_count; i++) {
        const ex_scene_primitive *p = &mesh->primitives[i];
        const int drawn = p->index_count > 0 ? p->index_count : p->vertex_count;
        out.vertices += p->vertex_count;
        if (p->mode == EX_SCENE_TRIANGLES)
            out.triangles += drawn / 3;
        else if ((p->mode == EX_SCENE_TRIANGLE_STRIP || p->mode == EX_SCENE_TRIANGLE_FAN) && drawn > 2)
            out.triangles += drawn - 2;
        for (int v = 0; v < p->vertex_count && p->influence_count > 0; v++) {
            const int held = count_held(p, v);
            out.influences = held > out.influences ? held : out.influences;
        }
    }
    return out;
}

/* Number of nodes that carry the mesh. */
static int count_uses(const ex_scene *scene, int mesh) {
    int count = 0;
    for (int n = 0; n < scene->node_count; n++)
        count += scene->nodes[n].mesh == mesh;
    return count;
}

static const char *target_name(const ex_scene_mesh *mesh, int target, char buffer[24]) {
    snprintf(buffer, 24, "target%d", target);
    return mesh->target_names ? text_or(mesh->target_names[target], buffer) : buffer;
}

static int count_keys(const ex_scene_animation *animation) {
    int most = 0;
    for (int i = 0; i < animation->channel_count; i++)
        most = animation->channels[i].key_count > most ? animation->channels[i].key_count : most;
    return most;
}

/* ---- text ---- */

static void print_targets(const ex_scene_mesh *mesh) {
    char count[EXI_TEXT_SIZE], name[24];
    if (mesh->target_count == 0)
        return;
    exi_print("  %s: ", exi_text_count(count, mesh->target_count, "morph target"));
    for (int t = 0; t < mesh->target_count && t < NAMED_MOST; t++)
        exi_print("%s%s", t > 0 ? ", " : "", target_name(mesh, t, name));
    if (mesh->target_count > NAMED_MOST)
        exi_print(" and %d more", mesh->target_count - NAMED_MOST);
    exi_print("\n");
}

static void print_label(const char *what, int number, const char *name) {
    char label[EXI_TEXT_SIZE];
    snprintf(label, sizeof label, "%s %d", what, number);
    exi_print("%-12s %s", label, text_or(name, "(no name)"));
}

static void print_meshes(const ex_scene *scene) {
    for (int m = 0; m < scene->mesh_count; m++) {
        const ex_scene_mesh *mesh = &scene->meshes[m];
        const mesh_figures figures = count_mesh(mesh);
        char vertices[EXI_TEXT_SIZE], triangles[EXI_TEXT_SIZE], primitives[EXI_TEXT_SIZE], uses[EXI_TEXT_SIZE];
        char held[EXI_TEXT_SIZE];
        print_label("mesh", m, mesh->name);
        exi_print(": %s, %s, %s, in %s\n", exi_text_count(primitives, mesh->primitive_count, "primitive"),
                  exi_text_count(vertices, figures.vertices, "vertex"),
                  exi_text_count(triangles, figures.triangles, "triangle"),
                  exi_text_count(uses, count_uses(scene, m), "node"));
        if (figures.influences > 0)
            exi_print("  at most %s a vertex\n", exi_text_count(held, figures.influences, "influence"));
        print_targets(mesh);
    }
}

/* Prints the joints of a skin below their nearest ancestor joint, skipping other nodes in between. */
static bool print_joints(const ex_scene *scene, const ex_scene_skin *skin) {
    const int count = skin->joint_count;
    int *parents = malloc((size_t)count * sizeof *parents), *joint_of = malloc((size_t)scene->node_count * sizeof(int));
    const char **names = malloc((size_t)count * sizeof *names);
    for (int n = 0; joint_of && n < scene->node_count; n++)
        joint_of[n] = -1;
    for (int j = 0; joint_of && j < count; j++)
        joint_of[skin->joints[j]] = j;
    for (int j = 0; joint_of && parents && names && j < count; j++) {
        int node = scene->nodes[skin->joints[j]].parent;
        while (node >= 0 && joint_of[node] < 0)
            node = scene->nodes[node].parent;
        parents[j] = node < 0 ? -1 : joint_of[node];
        names[j] = scene->nodes[skin->joints[j]].name;
    }
    const bool printed = joint_of && parents && names && exi_info_print_joints(count, parents, names, NULL);
    free(names);
    free(joint_of);
    free(parents);
    return printed;
}

static bool print_skins(const ex_scene *scene) {
    bool printed = true;
    for (int s = 0; s < scene->skin_count && printed; s++) {
        char joints[EXI_TEXT_SIZE];
        print_label("skin", s, scene->skins[s].name);
        exi_print(": %s%s\n", exi_text_count(joints, scene->skins[s].joint_count, "joint"),
                  scene->skins[s].inverse_binds ? "" : ", no inverse bind matrices");
        printed = print_joints(scene, &scene->skins[s]);
    }
    return printed;
}

void exi_info_print_clips(const ex_scene *scene) {
    for (int a = 0; a < scene->animation_count; a++) {
        const ex_scene_animation *animation = &scene->animations[a];
        char channels[EXI_TEXT_SIZE], keys[EXI_TEXT_SIZE];
        print_label("clip", a + 1, animation->name); /* --clip takes this number */
        exi_print(": %g seconds, %s, up to %s each\n", ex_scene_duration(scene, a),
                  exi_text_count(channels, animation->channel_count, "channel"),
                  exi_text_count(keys, count_keys(animation), "key"));
    }
}

void exi_info_print_looks(const ex_scene *scene) {
    for (int m = 0; m < scene->material_count; m++) {
        const ex_scene_material *material = &scene->materials[m];
        print_label("material", m, material->name);
        exi_print(": base colour %.3g %.3g %.3g %.3g%s\n", material->base_colour[0], material->base_colour[1],
                  material->base_colour[2], material->base_colour[3], material->base_texture >= 0 ? ", textured" : "");
    }
    for (int i = 0; i < scene->image_count; i++) {
        const ex_scene_image *image = &scene->images[i];
        char bytes[EXI_TEXT_SIZE];
        print_label("image", i, image->name);
        exi_print(": %s, %s\n", text_or(image->mime_type, "of unknown type"),
                  image->path ? image->path : exi_text_bytes(bytes, (double)image->size));
    }
}

static int print_scene(const ex_call *call, const char *path, const ex_scene *scene) {
    char nodes[EXI_TEXT_SIZE];
    exi_info_begin(path, "a glTF file");
    exi_print("%s\n", exi_text_count(nodes, scene->node_count, "node"));
    print_meshes(scene);
    if (!print_skins(scene))
        return exi_failed_memory();
    exi_info_print_clips(scene);
    exi_info_print_looks(scene);
    if (!call->quiet)
        exi_notes_print(path, scene->notes, scene->note_count);
    return EX_EXIT_DONE;
}

/* ---- JSON ---- */

static void json_meshes(const ex_scene *scene, exi_emitter *json) {
    exi_emit_open(json, "meshes", '[');
    for (int m = 0; m < scene->mesh_count; m++) {
        const ex_scene_mesh *mesh = &scene->meshes[m];
        const mesh_figures figures = count_mesh(mesh);
        char name[24];
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", mesh->name);
        exi_emit_number(json, "primitives", mesh->primitive_count);
        exi_emit_number(json, "vertices", figures.vertices);
        exi_emit_number(json, "triangles", figures.triangles);
        exi_emit_number(json, "influences", figures.influences);
        exi_emit_number(json, "nodes", count_uses(scene, m));
        exi_emit_open(json, "targets", '[');
        for (int t = 0; t < mesh->target_count; t++)
            exi_emit_text(json, NULL, target_name(mesh, t, name));
        exi_emit_close(json, ']');
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

static void json_motion(const ex_scene *scene, exi_emitter *json) {
    exi_emit_open(json, "skins", '[');
    for (int s = 0; s < scene->skin_count; s++) {
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", scene->skins[s].name);
        exi_emit_bool(json, "inverse_binds", scene->skins[s].inverse_binds != NULL);
        exi_emit_open(json, "joints", '[');
        for (int j = 0; j < scene->skins[s].joint_count; j++)
            exi_emit_text(json, NULL, scene->nodes[scene->skins[s].joints[j]].name);
        exi_emit_close(json, ']');
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
    exi_info_emit_clips(scene, "animations", json);
}

void exi_info_emit_clips(const ex_scene *scene, const char *key, exi_emitter *json) {
    exi_emit_open(json, key, '[');
    for (int a = 0; scene && a < scene->animation_count; a++) {
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", scene->animations[a].name);
        exi_emit_number(json, "duration", ex_scene_duration(scene, a));
        exi_emit_number(json, "channels", scene->animations[a].channel_count);
        exi_emit_number(json, "keys", count_keys(&scene->animations[a]));
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

void exi_info_emit_looks(const ex_scene *scene, exi_emitter *json) {
    exi_emit_open(json, "materials", '[');
    for (int m = 0; scene && m < scene->material_count; m++) {
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", scene->materials[m].name);
        exi_emit_numbers(json, "base_colour", scene->materials[m].base_colour, 4);
        exi_emit_bool(json, "textured", scene->materials[m].base_texture >= 0);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
    exi_emit_open(json, "images", '[');
    for (int i = 0; scene && i < scene->image_count; i++) {
        const ex_scene_image *image = &scene->images[i];
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", image->name);
        exi_emit_text(json, "type", image->mime_type);
        exi_emit_text(json, "path", image->path);
        exi_emit_number(json, "bytes", (double)image->size);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

static void print_scene_json(const char *path, const ex_scene *scene) {
    exi_emitter json = exi_info_begin_json(path, "glTF");
    exi_emit_number(&json, "nodes", scene->node_count);
    json_meshes(scene, &json);
    json_motion(scene, &json);
    exi_info_emit_looks(scene, &json);
    exi_emit_open(&json, "notes", '[');
    for (int i = 0; i < scene->note_count; i++)
        exi_emit_text(&json, NULL, scene->notes[i]);
    exi_emit_close(&json, ']');
    exi_info_end_json(&json);
}

int exi_info_scene(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_scene *scene = NULL;
    if (ex_scene_read(path, &scene, &error) != EX_OK)
        return exi_failed(&error);
    int exit_code = EX_EXIT_DONE;
    if (call->json)
        print_scene_json(path, scene);
    else
        exit_code = print_scene(call, path, scene);
    ex_scene_destroy(scene);
    return exit_code;
}

/* ---- images ---- */

int exi_info_image(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_image_facts image;
    if (ex_image_measure(path, &image, &error) != EX_OK)
        return exi_failed(&error);
    if (call->json) {
        exi_emitter json = exi_info_begin_json(path, "image");
        exi_emit_number(&json, "width", image.width);
        exi_emit_number(&json, "height", image.height);
        exi_emit_bool(&json, "opaque", image.opaque);
        exi_info_end_json(&json);
    } else {
        exi_info_begin(path, "an image");
        exi_print("pixels    %d x %d, %s\n", image.width, image.height, image.opaque ? "opaque" : "partly transparent");
    }
    return EX_EXIT_DONE;
}
