/*
 * Reads meshes: primitives with their attributes, indices and morph targets (glTF 2.0, section 3.7.2).
 */
#include "author/formats/gltf/gltf_reader.h"

#include "author/base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True for an attribute of a primitive or a target that Exemplar keeps. */
static bool is_known(const char *name, bool target) {
    static const char *const names[] = {"POSITION", "NORMAL", "TANGENT", "TEXCOORD_0", "TEXCOORD_1", "COLOR_0"};
    for (size_t i = 0; i < (target ? 3 : sizeof names / sizeof *names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return !target && (strncmp(name, "JOINTS_", 7) == 0 || strncmp(name, "WEIGHTS_", 8) == 0);
}

static ex_result note_unknown(exi_gltf *g, json_t *attributes, bool target, const char *where) {
    const char *name;
    json_t *value;
    json_object_foreach(attributes, name, value) {
        if (!is_known(name, target) && !exi_scene_note(g->scene, "%s: %s is ignored", where, name))
            return exi_gltf_no_memory(g);
    }
    return EX_OK;
}

/* Reads an optional attribute. */
static ex_result read_attribute(exi_gltf *g, const json_t *attributes, const char *name, int width, int expected,
                                const char *where, float **values, int *count) {
    int accessor = -1;
    *values = NULL;
    ex_result result = exi_gltf_get_reference(g, attributes, name, g->accessor_count, "accessor", where, &accessor);
    if (result != EX_OK || accessor < 0)
        return result;
    char here[EXI_WHERE_SIZE + 24];
    snprintf(here, sizeof here, "%s.%s", where, name);
    if (strcmp(name, "COLOR_0") == 0)
        return exi_gltf_colours(g, accessor, expected, here, values);
    return exi_gltf_floats(g, accessor, width, expected, here, values, count);
}

static ex_result read_indices(exi_gltf *g, const json_t *json, ex_scene_primitive *p, const char *where) {
    int accessor = -1;
    ex_result result = exi_gltf_get_reference(g, json, "indices", g->accessor_count, "accessor", where, &accessor);
    if (result != EX_OK || accessor < 0)
        return result;
    char here[EXI_WHERE_SIZE + 24];
    snprintf(here, sizeof here, "%s.indices", where);
    return exi_gltf_ints(g, accessor, 1, -1, p->vertex_count - 1, here, &p->indices, &p->index_count);
}

static ex_result read_targets(exi_gltf *g, const json_t *json, ex_scene_primitive *p, int target_count,
                              const char *where) {
    json_t *targets;
    int count;
    ex_result result = exi_gltf_get_array(g, json, "targets", true, where, &targets, &count);
    if (result != EX_OK)
        return result;
    if (count != target_count)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "has %d morph targets, but the first primitive has %d", count,
                             target_count);
    if (count == 0)
        return EX_OK;
    void *memory;
    result = exi_gltf_allocate(g, count, sizeof *p->targets, &memory);
    p->targets = memory;
    for (int t = 0; t < count && result == EX_OK; t++) {
        json_t *target = json_array_get(targets, (size_t)t);
        ex_scene_target *out = &p->targets[t];
        char here[EXI_WHERE_SIZE];
        snprintf(here, sizeof here, "%.100s.targets[%d]", where, t);
        int n = p->vertex_count;
        result = read_attribute(g, target, "POSITION", 3, n, here, &out->positions, NULL);
        if (result == EX_OK)
            result = read_attribute(g, target, "NORMAL", 3, n, here, &out->normals, NULL);
        if (result == EX_OK)
            result = read_attribute(g, target, "TANGENT", 3, n, here, &out->tangents, NULL);
        if (result == EX_OK)
            result = note_unknown(g, target, true, here);
    }
    return result;
}

static ex_result read_attributes(exi_gltf *g, json_t *attributes, ex_scene_primitive *p, const char *where) {
    ex_result result = read_attribute(g, attributes, "POSITION", 3, -1, where, &p->positions, &p->vertex_count);
    if (result == EX_OK && !p->positions)
        result = exi_gltf_fail(g, EX_ERROR_DATA, where, "has no POSITION, so there is nothing to draw");
    const struct {
        const char *name;
        int width;
        float **values;
    } tables[] = {{"NORMAL", 3, &p->normals},
                  {"TANGENT", 4, &p->tangents},
                  {"TEXCOORD_0", 2, &p->texcoords[0]},
                  {"TEXCOORD_1", 2, &p->texcoords[1]},
                  {"COLOR_0", 4, &p->colours}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables && result == EX_OK; i++)
        result = read_attribute(g, attributes, tables[i].name, tables[i].width, p->vertex_count, where,
                                tables[i].values, NULL);
    if (result == EX_OK)
        result = exi_gltf_read_influences(g, attributes, p, where);
    return result == EX_OK ? note_unknown(g, attributes, false, where) : result;
}

static ex_result read_primitive(exi_gltf *g, const json_t *json, ex_scene_primitive *p, int target_count,
                                const char *where) {
    json_t *attributes, *extensions = json_object_get(json, "extensions");
    *p = (ex_scene_primitive){.material = -1};
    int mode = EX_SCENE_TRIANGLES;
    if (json_object_get(extensions, "KHR_draco_mesh_compression"))
        return exi_gltf_fail(g, EX_ERROR_DATA, where,
                             "is compressed with Draco (KHR_draco_mesh_compression), which is not supported: export "
                             "without compression");
    ex_result result = exi_gltf_get_int(g, json, "mode", 0, 6, where, &mode);
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, json, "material", g->scene->material_count, "material", where, &p->material);
    if (result == EX_OK)
        result = exi_gltf_get_object(g, json, "attributes", where, &attributes);
    if (result == EX_OK)
        result = read_attributes(g, attributes, p, where);
    p->mode = (ex_scene_mode)mode;
    if (result == EX_OK)
        result = read_indices(g, json, p, where);
    return result == EX_OK ? read_targets(g, json, p, target_count, where) : result;
}

/* ---- data of the mesh ---- */

static ex_result read_weights(exi_gltf *g, const json_t *json, ex_scene_mesh *mesh, const char *where) {
    if (!json_object_get(json, "weights"))
        return EX_OK;
    void *memory;
    ex_result result = exi_gltf_allocate(g, mesh->target_count, sizeof *mesh->weights, &memory);
    mesh->weights = memory;
    return result == EX_OK ? exi_gltf_get_numbers(g, json, "weights", mesh->target_count, where, mesh->weights, NULL)
                           : result;
}

/* Reads names from extras, which are unspecified: ignores a list that does not fit. */
static ex_result read_target_names(exi_gltf *g, const json_t *json, ex_scene_mesh *mesh, const char *where) {
    const json_t *names = json_object_get(json_object_get(json, "extras"), "targetNames");
    if (!names || mesh->target_count == 0)
        return EX_OK;
    bool good = json_is_array(names) && json_array_size(names) == (size_t)mesh->target_count;
    for (int t = 0; t < mesh->target_count && good; t++)
        good = json_is_string(json_array_get(names, (size_t)t));
    if (!good)
        return exi_scene_note(g->scene, "%s: extras.targetNames is not a list of %d names, and is ignored", where,
                              mesh->target_count)
                   ? EX_OK
                   : exi_gltf_no_memory(g);
    void *memory;
    ex_result result = exi_gltf_allocate(g, mesh->target_count, sizeof *mesh->target_names, &memory);
    mesh->target_names = memory;
    for (int t = 0; t < mesh->target_count && result == EX_OK; t++) {
        const json_t *name = json_array_get(names, (size_t)t);
        mesh->target_names[t] = exi_text_copy(json_string_value(name), json_string_length(name));
        if (!mesh->target_names[t])
            result = exi_gltf_no_memory(g);
    }
    return result;
}

static ex_result read_mesh(exi_gltf *g, const json_t *json, ex_scene_mesh *mesh, int number) {
    char where[EXI_WHERE_SIZE];
    json_t *primitives, *targets;
    int count;
    void *memory;
    snprintf(where, sizeof where, "meshes[%d]", number);
    ex_result result = exi_gltf_get_text(g, json, "name", where, &mesh->name);
    if (result == EX_OK)
        result = exi_gltf_get_array(g, json, "primitives", true, where, &primitives, &count);
    if (result == EX_OK && count == 0)
        result = exi_gltf_fail(g, EX_ERROR_DATA, where, "has no primitives");
    if (result == EX_OK)
        result =
            exi_gltf_get_array(g, json_array_get(primitives, 0), "targets", true, where, &targets, &mesh->target_count);
    if (result != EX_OK)
        return result;
    result = exi_gltf_allocate(g, count, sizeof *mesh->primitives, &memory);
    mesh->primitives = memory;
    for (int p = 0; p < count && result == EX_OK; p++) {
        snprintf(where, sizeof where, "meshes[%d].primitives[%d]", number, p);
        mesh->primitive_count = p + 1;
        result =
            read_primitive(g, json_array_get(primitives, (size_t)p), &mesh->primitives[p], mesh->target_count, where);
    }
    snprintf(where, sizeof where, "meshes[%d]", number);
    if (result == EX_OK)
        result = read_weights(g, json, mesh, where);
    return result == EX_OK ? read_target_names(g, json, mesh, where) : result;
}

ex_result exi_gltf_read_meshes(exi_gltf *g) {
    json_t *meshes;
    int count;
    void *memory;
    ex_result result = exi_gltf_get_array(g, g->root, "meshes", true, "", &meshes, &count);
    if (result != EX_OK || count == 0)
        return result;
    result = exi_gltf_allocate(g, count, sizeof *g->scene->meshes, &memory);
    g->scene->meshes = memory;
    for (int i = 0; i < count && result == EX_OK; i++) {
        g->scene->mesh_count = i + 1;
        result = read_mesh(g, json_array_get(meshes, (size_t)i), &g->scene->meshes[i], i);
    }
    return result;
}
