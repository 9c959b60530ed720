/*
 * rig_tree.h - the growing JSON of a rig file, shared by rig_gltf.c and rig_materials.c; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_RIG_RIG_TREE_H
#define EXEMPLAR_AUTHOR_FORMATS_RIG_RIG_TREE_H

#include "author/formats/rig/rig_gltf.h"

/* The JSON being written. Lack of memory in jansson is caught at the end: a NULL never reaches a finished tree. */
typedef struct exi_rig_tree {
    const exi_rig_gltf *from;
    int section_count;
    json_t *root, *views, *accessors;
    size_t looks_offset; /* of the section with the rig's looks; 0 if it has none */
    bool failed;
} exi_rig_tree;

void exi_rig_tree_set(exi_rig_tree *g, json_t *object, const char *key, json_t *value);
void exi_rig_tree_append(exi_rig_tree *g, json_t *array, json_t *value);
/* Returns the index of the new view. */
int exi_rig_tree_add_view(exi_rig_tree *g, size_t offset, size_t size, int target);

/* Adds materials, textures, samplers and images, if there are any: the rig's looks, with the textures of pixel layers
 * as they are at rest. */
void exi_rig_tree_add_materials(exi_rig_tree *g);
/* Returns the number of the material of that name, or -1. NULL finds the material of all faces, in a rig without
 * looks. */
int exi_rig_tree_find_material(const exi_rig_tree *g, const char *name);

#endif
