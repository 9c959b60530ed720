/*
 * scene.h - shared by the parts of authoring that handle scenes: names, notes, orders, matrices; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_SCENE_SCENE_H
#define EXEMPLAR_AUTHOR_FORMATS_SCENE_SCENE_H

#include "runtime/base/result.h"

#include <exemplar/author/image.h>
#include <exemplar/author/scene.h>

/* Adds a sentence to the scene's notes; false without memory. */
bool exi_scene_note(ex_scene *scene, const char *format, ...) EX_PRINTF(2, 3);

/* Releases the contents of a primitive with that many targets. */
void exi_scene_free_primitive(ex_scene_primitive *primitive, int target_count);
void exi_scene_free_mesh(ex_scene_mesh *mesh);

/* Brings one vertex's influences into the form that glTF requires: no joint twice, joints without weight are 0, weights
 * sum to 1. Influences that are so up to rounding stay unchanged, bit for bit. Returns the former sum, and changes
 * nothing if that is 0. */
double exi_scene_tidy_influences(uint16_t *joints, float *weights, int count);

/* True if a relative path is empty, absolute, or leads out of its folder. */
bool exi_scene_path_leaves(const char *path);

/* A material with glTF's defaults and no name. */
ex_scene_material exi_scene_default_material(void);

/* The set of texture coordinates that a material uses, and what it does to them: [u v] = matrix [u v 1]. set may be one
 * that primitives do not have. */
typedef struct exi_scene_texcoords {
    int set;
    double matrix[2][3];
} exi_scene_texcoords;

/* Makes materials use the first set instead of a second one that is a copy of it, as some viewers wanted for occlusion.
 * False without memory. */
bool exi_scene_merge_texcoords(ex_scene *scene);
/* Finds them for a material, or for none (NULL). False without memory. */
bool exi_scene_find_texcoords(const ex_scene_material *material, exi_scene_texcoords *use);
/* For a mesh that has its texture coordinates so: removes the set, and what was applied, from the material, and the
 * uses of textures that need another set, which are counted. False without memory. */
bool exi_scene_settle_texcoords(ex_scene_material *material, int *removed);

/* Makes a name for every material [material_count], which no other has and a line of an OBJ file can hold: its own, if
 * it is such a name. Free each, and the array; NULL without memory. */
char **exi_scene_material_names(const ex_scene *scene);
/* Gives the materials these names; false without memory. */
bool exi_scene_name_materials(ex_scene *scene);

/* Makes a scene with only the materials, textures and images of another, and names the materials. */
ex_result exi_scene_copy_looks(const ex_scene *from, ex_scene **made, ex_error *error);

/* Returns the MIME type of a picture by its first bytes; NULL if glTF holds no such pictures. */
const char *exi_image_type(const unsigned char *bytes, size_t size);

/* Moves the looks of a scene to one that has none. */
void exi_scene_move_looks(ex_scene *from, ex_scene *to);

/* Copy the nodes of a scene, without meshes and skins, and its animations, to a scene without any; false without
 * memory. */
bool exi_scene_copy_nodes(const ex_scene *from, ex_scene *to);
bool exi_scene_copy_animations(const ex_scene *from, ex_scene *to);

/* Makes a scene with only the nodes and animations of another, with the same numbers of nodes; meshes that an animation
 * morphs become one point with the same targets. */
ex_result exi_scene_copy_clips(const ex_scene *from, ex_scene **made, ex_error *error);

/* A use of a texture: its name in rigs, and glTF's key for it. */
typedef struct exi_texture_use {
    const char *texture, *key;
    bool within_pbr; /* the key is in pbrMetallicRoughness */
} exi_texture_use;

/* Returns the use of a texture of a rig, "base_color" or "MATERIAL/base_color"; NULL if viewers have none for it. */
const exi_texture_use *exi_texture_use_of(const char *texture);
/* True if such a texture is for a material of that name: for all, unless it names one. */
bool exi_texture_is_for(const char *texture, const char *material);

/* Adds a texture to the materials that it is for; if the scene has no material, one is made for all meshes. */
ex_result exi_scene_add_texture(ex_scene *scene, const char *name, const ex_image *image, ex_error *error);

/* Orders nodes [node_count] with every parent before its children; scratch [2 node_count + 1]. False if parents form a
 * cycle. Parents must be in range. */
bool exi_scene_order(const ex_scene *scene, int *order, int *scratch);

/* [node_count]: true if the root above a node is shown. Release with free; NULL without memory. */
bool *exi_scene_find_shown(const ex_scene *scene);

/* A primitive of a form that was joined from several primitives. */
typedef struct exi_scene_part {
    int node; /* or -1 */
    int mesh, primitive;
    int first_vertex; /* in the form; that of an earlier part if it shares its vertices */
} exi_scene_part;

/* Like ex_scene_to_form, but only for the wanted nodes [node_count]. *parts [*part_count] receives the parts it was
 * joined from, in that order (release with free); may be NULL. */
ex_result exi_scene_join(const ex_scene *scene, const bool *wanted, ex_mesh **made, exi_scene_part **parts,
                         int *part_count, ex_error *error);

/* Numbers in a value of a path: 3 or 4, or the node's morph targets; 0 if it has none. */
int exi_scene_path_width(const ex_scene *scene, int node, ex_scene_path path);

/* Largest number of triangles that a primitive draws; and the i-th one: false if it has a vertex twice. */
int exi_scene_triangle_count(const ex_scene_primitive *primitive);
bool exi_scene_triangle(const ex_scene_primitive *primitive, int i, int triangle[3]);

/* ---- matrices [16], column by column ---- */

void exi_scene_matrix_from_transform(const ex_scene_transform *transform, double matrix[16]);

/* Decomposes a matrix into translation, rotation and scale. Returns their largest error, relative to the matrix's
 * largest entry: if it is above rounding, the matrix shears. */
double exi_scene_matrix_to_transform(const double matrix[16], ex_scene_transform *transform);

/* Inverts an affine matrix into another; false if it is singular. */
bool exi_scene_matrix_invert(const double matrix[16], double out[16]);

/* out = a b; out must be neither a nor b. */
void exi_scene_matrix_multiply(const double a[16], const double b[16], double out[16]);

#endif
