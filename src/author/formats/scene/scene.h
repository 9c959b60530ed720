/*
 * scene.h - what the parts of authoring that handle scenes share: names, notes, orders, matrices; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_SCENE_SCENE_H
#define EXEMPLAR_AUTHOR_FORMATS_SCENE_SCENE_H

#include "runtime/base/result.h"

#include <exemplar/author/image.h>
#include <exemplar/author/scene.h>

/* Adds a sentence to the scene's notes; false without memory. */
bool exi_scene_note(ex_scene *scene, const char *format, ...) EX_PRINTF(2, 3);

/* Releases what a primitive holds, with as many targets. */
void exi_scene_free_primitive(ex_scene_primitive *primitive, int target_count);
void exi_scene_free_mesh(ex_scene_mesh *mesh);

/* Brings one vertex's influences into the form that glTF demands: no joint twice, joints without weight called 0,
 * weights of sum 1; what is so up to rounding stays as it is, to the bit. Returns the sum that was, and leaves all as
 * it is where that is 0. */
double exi_scene_tidy_influences(uint16_t *joints, float *weights, int count);

/* A material with glTF's defaults and no name. */
ex_scene_material exi_scene_default_material(void);

/* A texture for a scene without any: every material shows it, and where there are none, one is made for all meshes. */
ex_result exi_scene_add_texture(ex_scene *scene, const ex_image *image, ex_error *error);

/* Nodes [node_count] with every parent before its children; scratch [2 node_count + 1]. False where parents go round in
 * a circle. Parents must be in range. */
bool exi_scene_order(const ex_scene *scene, int *order, int *scratch);

/* [node_count] whether the root above a node is shown. Release with free; NULL without memory. */
bool *exi_scene_find_shown(const ex_scene *scene);

/* A primitive of a form that was joined from several. */
typedef struct exi_scene_part {
    int node; /* or -1 */
    int mesh, primitive;
    int first_vertex; /* of the form; that of an earlier part where it shares its vertices */
} exi_scene_part;

/* As ex_scene_to_form, of the nodes that are wanted [node_count]. *parts [*part_count] receives what it was joined
 * from, in that order (release with free); may be NULL. */
ex_result exi_scene_join(const ex_scene *scene, const bool *wanted, ex_mesh **made, exi_scene_part **parts,
                         int *part_count, ex_error *error);

/* Numbers in a value of a path: 3 or 4, or the node's morph targets; 0 where it has none. */
int exi_scene_path_width(const ex_scene *scene, int node, ex_scene_path path);

/* Triangles that a primitive draws, at most; and the i-th one: false where it has a vertex twice. */
int exi_scene_triangle_count(const ex_scene_primitive *primitive);
bool exi_scene_triangle(const ex_scene_primitive *primitive, int i, int triangle[3]);

/* ---- matrices [16], column by column ---- */

void exi_scene_matrix_from_transform(const ex_scene_transform *transform, double matrix[16]);

/* Translation, rotation and scale of a matrix. Returns how far what they give is from it, relative to its largest
 * entry: above rounding, the matrix shears. */
double exi_scene_matrix_to_transform(const double matrix[16], ex_scene_transform *transform);

/* out = a b; out may be neither. */
void exi_scene_matrix_multiply(const double a[16], const double b[16], double out[16]);

#endif
