/*
 * A rig as viewers see it, in glTF 2.0: the mesh with its examples as morph targets, weighted as at rest; the skeleton
 * as nodes and a skin; its materials, with textures at rest (rig_materials.c). All of it refers to sections of the
 * pack, which are in glTF's format (docs/reference/rig.md); only pictures come after it. Refined levels and layers of
 * pixels and of displacements have no equivalent in glTF: viewers show the cage, and the texture at rest.
 */
#include "author/formats/rig/rig_gltf.h"

#include "author/formats/gltf/glb.h"
#include "author/formats/rig/rig_tree.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ARRAY_BUFFER = 34962, ELEMENT_BUFFER = 34963, FLOAT = 5126, UNSIGNED_INT = 5125, UNSIGNED_SHORT = 5123 };

typedef exi_rig_tree gltf;

static void set(gltf *g, json_t *object, const char *key, json_t *value) {
    exi_rig_tree_set(g, object, key, value);
}

static void append(gltf *g, json_t *array, json_t *value) {
    exi_rig_tree_append(g, array, value);
}

static int last_of(const json_t *array) {
    return (int)json_array_size(array) - 1;
}

/* ---- views and accessors ---- */

void exi_rig_tree_set(exi_rig_tree *g, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0)
        g->failed = true;
}

void exi_rig_tree_append(exi_rig_tree *g, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0)
        g->failed = true;
}

int exi_rig_tree_add_view(exi_rig_tree *g, size_t offset, size_t size, int target) {
    json_t *view =
        json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)offset, "byteLength", (json_int_t)size);
    if (target && view)
        set(g, view, "target", json_integer(target));
    append(g, g->views, view);
    return last_of(g->views);
}

static int add_view(gltf *g, size_t offset, size_t size, int target) {
    return exi_rig_tree_add_view(g, offset, size, target);
}

/* Adds minimum and maximum of each of three columns, as glTF requires for positions; `sparse`: including 0. */
static void add_bounds(gltf *g, json_t *accessor, const char *bytes, size_t count, bool sparse) {
    const float most = sparse ? 0 : FLT_MAX;
    float low[3] = {most, most, most}, high[3] = {-most, -most, -most};
    for (size_t i = 0; i < count; i++) {
        float v[3];
        memcpy(v, bytes + i * sizeof v, sizeof v);
        for (int c = 0; c < 3; c++) {
            low[c] = v[c] < low[c] ? v[c] : low[c];
            high[c] = v[c] > high[c] ? v[c] : high[c];
        }
    }
    set(g, accessor, "min", json_pack("[f, f, f]", (double)low[0], (double)low[1], (double)low[2]));
    set(g, accessor, "max", json_pack("[f, f, f]", (double)high[0], (double)high[1], (double)high[2]));
}

/* Element types of the sections that viewers read. */
typedef struct element {
    const char *type;
    int component, target;
    size_t size;
} element;

static const element elements[EX_SECTION_KIND_COUNT] = {
    [EX_SECTION_TRIANGLES] = {"SCALAR", UNSIGNED_INT, ELEMENT_BUFFER, 4},
    [EX_SECTION_POSITIONS] = {"VEC3", FLOAT, ARRAY_BUFFER, 12},
    [EX_SECTION_TEXCOORDS] = {"VEC2", FLOAT, ARRAY_BUFFER, 8},
    [EX_SECTION_NORMALS] = {"VEC3", FLOAT, ARRAY_BUFFER, 12},
    [EX_SECTION_INVERSE_BINDS] = {"MAT4", FLOAT, 0, 64},
    [EX_SECTION_SKIN_JOINTS] = {"VEC4", UNSIGNED_SHORT, ARRAY_BUFFER, 8},
    [EX_SECTION_SKIN_WEIGHTS] = {"VEC4", FLOAT, ARRAY_BUFFER, 16},
    [EX_SECTION_TARGET] = {"VEC3", FLOAT, ARRAY_BUFFER, 12},
};

/* True if viewers read a section: not the refined levels, nor binds if nothing is skinned. */
static bool is_shown(const gltf *g, ex_section section) {
    if (section.size > 0 && (section.kind == EX_SECTION_OFFSET_PLACES || section.kind == EX_SECTION_OFFSET_VALUES))
        return true;
    if (section.size == 0 || !elements[section.kind].type)
        return false;
    if (section.kind == EX_SECTION_INVERSE_BINDS)
        return ex_rig_skin(g->from->rig) != NULL;
    return section.index == 0 || (section.kind != EX_SECTION_TRIANGLES && section.kind != EX_SECTION_TEXCOORDS);
}

/* Adds an accessor over a whole section. Returns its index. */
static int add_accessor(gltf *g, ex_section section) {
    const element *e = &elements[section.kind];
    const size_t count = section.size / e->size;
    int view = add_view(g, section.offset, section.size, e->target);
    json_t *accessor = json_pack("{s:i, s:i, s:I, s:s}", "bufferView", view, "componentType", e->component, "count",
                                 (json_int_t)count, "type", e->type);
    if (accessor && (section.kind == EX_SECTION_POSITIONS || section.kind == EX_SECTION_TARGET))
        add_bounds(g, accessor, g->from->pack + section.offset, count, false);
    append(g, g->accessors, accessor);
    return last_of(g->accessors);
}

/* Adds an accessor over offsets: zeros except at the given places. */
static int add_sparse_accessor(gltf *g, ex_section places, ex_section values) {
    const size_t count = places.size / sizeof(uint32_t);
    const int splits = ex_rig_get_mesh(g->from->rig).split_count;
    json_t *accessor =
        json_pack("{s:i, s:i, s:s}", "componentType", FLOAT, "count", splits, "type", elements[EX_SECTION_TARGET].type);
    if (accessor)
        add_bounds(g, accessor, g->from->pack + values.offset, count, count < (size_t)splits);
    if (accessor && count > 0) {
        const int indices = add_view(g, places.offset, places.size, 0);
        const int numbers = add_view(g, values.offset, values.size, 0);
        set(g, accessor, "sparse",
            json_pack("{s:I, s:{s:i, s:i}, s:{s:i}}", "count", (json_int_t)count, "indices", "bufferView", indices,
                      "componentType", UNSIGNED_INT, "values", "bufferView", numbers));
    }
    append(g, g->accessors, accessor);
    return last_of(g->accessors);
}

/* ---- the mesh ---- */

static void add_attribute(gltf *g, json_t *attributes, ex_section section) {
    const int accessor = add_accessor(g, section);
    switch (section.kind) {
    case EX_SECTION_POSITIONS:
        set(g, attributes, "POSITION", json_integer(accessor));
        break;
    case EX_SECTION_NORMALS:
        set(g, attributes, "NORMAL", json_integer(accessor));
        break;
    case EX_SECTION_TEXCOORDS:
        set(g, attributes, "TEXCOORD_0", json_integer(accessor));
        break;
    default: {
        char name[24] = "JOINTS_", *end = name + 7;
        if (section.kind == EX_SECTION_SKIN_WEIGHTS) {
            memcpy(name, "WEIGHTS_", 9);
            end = name + 8;
        }
        /* at most 256 sets */
        if (section.index >= 100)
            *end++ = (char)('0' + section.index / 100);
        if (section.index >= 10)
            *end++ = (char)('0' + section.index / 10 % 10);
        *end++ = (char)('0' + section.index % 10);
        *end = 0;
        set(g, attributes, name, json_integer(accessor));
        break;
    }
    }
}

/* Adds targets of examples that are offsets: the n-th list of places belongs to the n-th list of values. */
static void add_offset_targets(gltf *g, json_t *targets) {
    int places = 0, values = 0, count = 0;
    for (int i = g->section_count; i-- > 0;) {
        const ex_section_kind kind = ex_pack_section(g->from->pack, i).kind;
        places = kind == EX_SECTION_OFFSET_PLACES ? i : places;
        values = kind == EX_SECTION_OFFSET_VALUES ? i : values;
        count += kind == EX_SECTION_OFFSET_VALUES;
    }
    for (int i = 0; i < count; i++)
        append(g, targets,
               json_pack("{s:i}", "POSITION",
                         add_sparse_accessor(g, ex_pack_section(g->from->pack, places + i),
                                             ex_pack_section(g->from->pack, values + i))));
}

static void add_colours(gltf *g, json_t *attributes) {
    const int count = ex_rig_get_mesh(g->from->rig).split_count;
    const int view = add_view(g, g->from->colours, 3 * (size_t)count * sizeof(float), ARRAY_BUFFER);
    append(
        g, g->accessors,
        json_pack("{s:i, s:i, s:i, s:s}", "bufferView", view, "componentType", FLOAT, "count", count, "type", "VEC3"));
    set(g, attributes, "COLOR_0", json_integer(last_of(g->accessors)));
}

/* The parts that all primitives share. */
typedef struct shared {
    json_t *attributes, *targets;
    int indices; /* accessor of all triangles, or -1 */
    int binds;   /* accessor of the inverse binds, or -1 */
} shared;

static shared make_shared(gltf *g) {
    shared s = {.attributes = json_object(), .targets = json_array(), .indices = -1, .binds = -1};
    for (int i = 0; i < g->section_count; i++) {
        const ex_section section = ex_pack_section(g->from->pack, i);
        if (!is_shown(g, section))
            continue;
        if (section.kind == EX_SECTION_TRIANGLES)
            s.indices = g->from->piece_count > 0 ? 0 : add_accessor(g, section);
        else if (section.kind == EX_SECTION_INVERSE_BINDS)
            s.binds = add_accessor(g, section);
        else if (section.kind == EX_SECTION_TARGET)
            append(g, s.targets, json_pack("{s:i}", "POSITION", add_accessor(g, section)));
        else if (section.kind != EX_SECTION_OFFSET_PLACES && section.kind != EX_SECTION_OFFSET_VALUES)
            add_attribute(g, s.attributes, section);
    }
    if (g->from->colours > 0)
        add_colours(g, s.attributes);
    add_offset_targets(g, s.targets);
    return s;
}

static json_t *make_primitive(gltf *g, const shared *s, int indices, int material) {
    json_t *primitive = json_object();
    set(g, primitive, "attributes", json_incref(s->attributes));
    if (indices >= 0)
        set(g, primitive, "indices", json_integer(indices));
    set(g, primitive, "mode", json_integer(indices >= 0 ? 4 : 0));
    if (material >= 0)
        set(g, primitive, "material", json_integer(material));
    if (json_array_size(s->targets) > 0)
        set(g, primitive, "targets", json_incref(s->targets));
    return primitive;
}

/* One primitive for all faces, or, if materials are known, one for each. */
static json_t *make_primitives(gltf *g, const shared *s) {
    json_t *primitives = json_array();
    for (int i = 0; i < g->from->piece_count; i++) {
        const exi_rig_piece *piece = &g->from->pieces[i];
        const int view = add_view(g, piece->offset, piece->count * sizeof(uint32_t), ELEMENT_BUFFER);
        append(g, g->accessors,
               json_pack("{s:i, s:i, s:I, s:s}", "bufferView", view, "componentType", UNSIGNED_INT, "count",
                         (json_int_t)piece->count, "type", "SCALAR"));
        append(g, primitives,
               make_primitive(g, s, last_of(g->accessors), exi_rig_tree_find_material(g, piece->material)));
    }
    if (g->from->piece_count == 0)
        append(g, primitives, make_primitive(g, s, s->indices, exi_rig_tree_find_material(g, NULL)));
    return primitives;
}

/* Returns 0 for whole forms, 1 for offsets, 2 for neither. */
static int turn_of(const ex_rig *rig, int layer) {
    return ex_rig_layer_has_forms(rig, layer) ? 0 : ex_rig_layer_stage(rig, layer) <= EX_STAGE_POSED ? 1 : 2;
}

/* Adds weights at rest, so that a viewer shows the form at rest, and names: "example", or "layer/example" if several
 * layers have targets. Whole forms come first, then offsets. */
static void add_targets(gltf *g, json_t *mesh) {
    const ex_rig *rig = g->from->rig;
    json_t *values = json_array(), *names = json_array();
    int layers = 0;
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        layers += turn_of(rig, l) < 2;
    for (int pass = 0; pass < 2; pass++)
        for (int l = 0; l < ex_rig_layer_count(rig); l++) {
            const int count = ex_weigher_example_count(ex_rig_weigher(rig, l)), first = ex_rig_first_example(rig, l);
            for (int k = 0; turn_of(rig, l) == pass && k < count; k++) {
                const double weight = (double)(float)g->from->weights[first + k];
                append(g, values, json_real(isfinite(weight) ? weight : 0));
                append(g, names,
                       layers == 1 ? json_string(ex_rig_example_name(rig, l, k))
                                   : json_sprintf("%s/%s", ex_rig_layer_name(rig, l), ex_rig_example_name(rig, l, k)));
            }
        }
    set(g, mesh, "weights", values);
    set(g, mesh, "extras", json_pack("{s:o}", "targetNames", names));
}

/* ---- nodes ---- */

static json_t *make_numbers(gltf *g, const float *values, int count) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        append(g, array, json_real((double)values[i]));
    return array;
}

static json_t *make_joint(gltf *g, int joint) {
    const ex_skeleton *skeleton = ex_rig_skeleton(g->from->rig);
    const ex_transform rest = ex_skeleton_rest(skeleton, joint), none = ex_transform_identity();
    json_t *node = json_object();
    if (ex_skeleton_name(skeleton, joint)[0])
        set(g, node, "name", json_string(ex_skeleton_name(skeleton, joint)));
    if (memcmp(rest.translation, none.translation, sizeof rest.translation) != 0)
        set(g, node, "translation", make_numbers(g, rest.translation, 3));
    if (memcmp(rest.rotation, none.rotation, sizeof rest.rotation) != 0)
        set(g, node, "rotation", make_numbers(g, rest.rotation, 4));
    if (memcmp(rest.scale, none.scale, sizeof rest.scale) != 0)
        set(g, node, "scale", make_numbers(g, rest.scale, 3));
    return node;
}

/*
 * Adds the skeleton's nodes: node 0 is the mesh, joint j is node 1 + j. Joints of a skin must have a common root:
 * several roots get a node above them.
 */
static void add_joints(gltf *g, json_t *nodes, json_t *scene) {
    const ex_skeleton *skeleton = ex_rig_skeleton(g->from->rig);
    const int joints = ex_skeleton_joint_count(skeleton);
    json_t *roots = json_array();
    for (int j = 0; j < joints; j++)
        append(g, nodes, make_joint(g, j));
    for (int j = 0; j < joints; j++) {
        const int parent = ex_skeleton_parent(skeleton, j);
        json_t *node = parent < 0 ? NULL : json_array_get(nodes, (size_t)(1 + parent));
        if (node && !json_object_get(node, "children"))
            set(g, node, "children", json_array());
        append(g, node ? json_object_get(node, "children") : roots, json_integer(1 + j));
    }
    if (json_array_size(roots) == 1) {
        append(g, scene, json_incref(json_array_get(roots, 0)));
        json_decref(roots);
        return;
    }
    append(g, nodes, json_pack("{s:s, s:o}", "name", "skeleton", "children", roots));
    append(g, scene, json_integer(1 + joints));
}

static void add_skin(gltf *g, json_t *mesh_node, int binds) {
    json_t *joints = json_array();
    for (int j = 0; j < ex_rig_joint_count(g->from->rig); j++)
        append(g, joints, json_integer(1 + j));
    set(g, g->root, "skins", json_pack("[{s:i, s:o}]", "inverseBindMatrices", binds, "joints", joints));
    set(g, mesh_node, "skin", json_integer(0));
}

static void add_nodes(gltf *g, int binds) {
    json_t *nodes = json_array(), *scene = json_pack("[i]", 0), *mesh_node = json_pack("{s:i}", "mesh", 0);
    if (binds >= 0)
        add_skin(g, mesh_node, binds);
    append(g, nodes, mesh_node);
    if (ex_rig_joint_count(g->from->rig) > 0)
        add_joints(g, nodes, scene);
    set(g, g->root, "scenes", json_pack("[{s:o}]", "nodes", scene));
    set(g, g->root, "nodes", nodes);
}

/* ---- the tree ---- */

json_t *exi_rig_gltf_make(const exi_rig_gltf *from) {
    gltf g = {.from = from,
              .section_count = ex_pack_section_count(from->pack),
              .views = json_array(),
              .accessors = json_array()};
    g.root = json_pack("{s:{s:s, s:s}, s:[s], s:{s:{s:i, s:i}}, s:i}", "asset", "version", "2.0", "generator",
                       EXI_GENERATOR, "extensionsUsed", "EXEMPLAR_rig", "extensions", "EXEMPLAR_rig", "format",
                       EX_FORMAT, "bufferView", 0, "scene", 0);
    json_t *mesh = json_object();
    if (!g.root)
        g.failed = true;
    if ((from->axes.unit > 0 && from->axes.unit != 1) || from->axes.z_up)
        set(&g, json_object_get(g.root, "asset"), "extras",
            json_pack("{s:o, s:s}", "unit", exi_json_make_number(from->axes.unit > 0 ? from->axes.unit : 1), "up",
                      from->axes.z_up ? "z" : "y"));
    add_view(&g, 0, ex_pack_header_size(from->pack), 0);
    const shared parts = make_shared(&g);
    add_nodes(&g, parts.binds);
    exi_rig_tree_add_materials(&g);
    set(&g, mesh, "primitives", make_primitives(&g, &parts));
    if (json_array_size(parts.targets) > 0)
        add_targets(&g, mesh);
    json_decref(parts.attributes);
    json_decref(parts.targets);
    for (int i = 0; i < g.section_count; i++) { /* views keep other programs from using the rest for something else */
        const ex_section section = ex_pack_section(from->pack, i);
        const bool in_pieces = section.kind == EX_SECTION_TRIANGLES && section.index == 0 && from->piece_count > 0;
        if (section.size > 0 && (!is_shown(&g, section) || in_pieces) && section.offset != g.looks_offset)
            add_view(&g, section.offset, section.size, 0);
    }
    set(&g, g.root, "meshes", json_pack("[o]", mesh));
    set(&g, g.root, "accessors", g.accessors);
    set(&g, g.root, "bufferViews", g.views);
    set(&g, g.root, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)from->bin_size));
    if (g.failed) {
        json_decref(g.root);
        return NULL;
    }
    return g.root;
}
