/*
 * exemplar/author/scene.h - the contents of a glTF 2.0 file that Exemplar uses, as plain data: nodes, meshes with morph
 * targets, skins, animations, materials, images.
 *
 * An ex_scene is plain data that its holder may change; every pointer in it comes from malloc and belongs to it. Items
 * refer to each other by number, -1 for none. The numbers are those of the file, so that references in raw JSON stay
 * valid. Not thread-safe while it is being changed. exemplar/author/formats.h reads and writes files.
 *
 * Coordinates are glTF's: right-handed, y up, metres, texture coordinates with their origin at the top left. Matrices
 * are [16], column by column, for column vectors. Quaternions are x y z w.
 */
#ifndef EXEMPLAR_AUTHOR_SCENE_H
#define EXEMPLAR_AUTHOR_SCENE_H

#include <exemplar/author/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- meshes ---- */

/* Modes of primitives, numbered as in glTF. */
typedef enum ex_scene_mode {
    EX_SCENE_POINTS,
    EX_SCENE_LINES,
    EX_SCENE_LINE_LOOP,
    EX_SCENE_LINE_STRIP,
    EX_SCENE_TRIANGLES,
    EX_SCENE_TRIANGLE_STRIP,
    EX_SCENE_TRIANGLE_FAN
} ex_scene_mode;

/* A morph target: differences from the primitive's own attributes, [vertex_count][3] each; NULL for those that do not
 * change. */
typedef struct ex_scene_target {
    float *positions, *normals, *tangents;
} ex_scene_target;

/* A primitive of a mesh: vertices and faces with one material. */
typedef struct ex_scene_primitive {
    ex_scene_mode mode;
    int material;
    int vertex_count;         /* at least 1 */
    float *positions;         /* [vertex_count][3] */
    float *normals;           /* [vertex_count][3] or NULL */
    float *tangents;          /* [vertex_count][4] or NULL; the fourth is the sign of the bitangent, 1 or -1 */
    float *texcoords[2];      /* [vertex_count][2] or NULL */
    float *colours;           /* [vertex_count][4] or NULL; linear, in [0, 1] */
    int influence_count;      /* joints per vertex; 0 without a skin */
    uint16_t *joints;         /* [vertex_count][influence_count] indices into the joint list of the node's skin */
    float *weights;           /* [vertex_count][influence_count], each row not negative and with sum 1 */
    int empty_count;          /* vertices whose weights sum to 0 in the file; here they follow the skin's first joint */
    int first_empty;          /* the first of them */
    int unnormalised_count;   /* vertices whose weights in the file sum to neither 0 nor 1 (by 1e-3 or more) */
    int worst_vertex;         /* the worst of them, if there is one */
    double largest_deviation; /* |sum - 1| of that vertex */
    int index_count;          /* 0: vertices are drawn in order */
    int *indices;             /* [index_count] or NULL */
    ex_scene_target *targets; /* [target_count of the mesh] or NULL */
    int *sources;             /* [vertex_count] the ex_mesh vertices these were made from, or NULL; not stored in
                                 files */
} ex_scene_primitive;

/* A mesh of a scene. */
typedef struct ex_scene_mesh {
    char *name; /* or NULL, here and below */
    int primitive_count;
    ex_scene_primitive *primitives;
    int target_count;
    char **target_names; /* [target_count] or NULL */
    double *weights;     /* [target_count]; NULL: zeros */
} ex_scene_mesh;

/* ---- nodes, skins, animations ---- */

/* A transform: scales first, then rotates, then translates. The rotation need not have length 1; zero reads as none. */
typedef struct ex_scene_transform {
    double translation[3], rotation[4], scale[3];
} ex_scene_transform;

/* A node of a scene. */
typedef struct ex_scene_node {
    char *name;
    int parent; /* -1: a root; children are in the order of their numbers */
    ex_scene_transform transform;
    int mesh, skin;
    int weight_count;
    double *weights; /* [weight_count], replace the mesh's; or NULL */
    bool hidden;     /* true for a root outside the scene that a viewer shows at first */
} ex_scene_node;

/* A skin of a scene. */
typedef struct ex_scene_skin {
    char *name;
    int joint_count;      /* at least 1 */
    int *joints;          /* [joint_count] nodes */
    float *inverse_binds; /* [joint_count][16]; NULL: identities */
    int skeleton;         /* the node above all joints, or -1 if the file does not say */
} ex_scene_skin;

/* Properties of a node that can be animated. */
typedef enum ex_scene_path { EX_SCENE_TRANSLATION, EX_SCENE_ROTATION, EX_SCENE_SCALE, EX_SCENE_WEIGHTS } ex_scene_path;

/* Interpolation between keys. */
typedef enum ex_scene_interpolation { EX_SCENE_STEP, EX_SCENE_LINEAR, EX_SCENE_CUBICSPLINE } ex_scene_interpolation;

/* One property of one node over time. */
typedef struct ex_scene_channel {
    int node;
    ex_scene_path path;
    ex_scene_interpolation interpolation;
    int key_count; /* at least 1 */
    int width;     /* numbers in a value: 3, 4, or the node's number of targets */
    float *times;  /* [key_count] seconds, ascending */
    float *values; /* [key_count][width]; for a cubic spline [key_count][3][width]: tangent in, value, tangent out */
} ex_scene_channel;

/* An animation of a scene. */
typedef struct ex_scene_animation {
    char *name;
    int channel_count;
    ex_scene_channel *channels;
} ex_scene_animation;

/* ---- materials, textures and images: kept so that they survive ---- */

/* Alpha modes of a material. */
typedef enum ex_scene_alpha { EX_SCENE_OPAQUE, EX_SCENE_MASK, EX_SCENE_BLEND } ex_scene_alpha;

/* A material of a scene. */
typedef struct ex_scene_material {
    char *name;
    double base_colour[4];
    int base_texture;  /* or -1 */
    int base_texcoord; /* number of the set of texture coordinates it uses */
    double metallic, roughness;
    bool double_sided;
    ex_scene_alpha alpha;
    double alpha_cutoff;
    char *rest; /* all other properties, as JSON text, or NULL */
} ex_scene_material;

/* A texture of a scene; filters and wrapping as glTF numbers them, 0 if the file does not say. */
typedef struct ex_scene_texture {
    char *name;
    int image;
    int mag_filter, min_filter, wrap_s, wrap_t;
    char *rest; /* all other properties, as JSON text, or NULL */
} ex_scene_texture;

/* An image as bytes, or a file next to the scene's own. */
typedef struct ex_scene_image {
    char *name;
    char *path;      /* relative to the folder of the scene's file, or NULL */
    char *mime_type; /* "image/png", …; may be NULL if path is set */
    size_t size;
    unsigned char *bytes; /* [size]; NULL if path is set */
} ex_scene_image;

/* ---- the scene ---- */

/* The contents of a glTF file. */
typedef struct ex_scene {
    char *path; /* the file it was read from, or NULL; image paths are relative to its folder */
    char *copyright;
    int node_count, mesh_count, skin_count, animation_count, material_count, texture_count, image_count;
    ex_scene_node *nodes;
    ex_scene_mesh *meshes;
    ex_scene_skin *skins;
    ex_scene_animation *animations;
    ex_scene_material *materials;
    ex_scene_texture *textures;
    ex_scene_image *images;
    int required_count;
    char **required; /* extensions required to interpret materials or textures */
    int note_count;
    char **notes; /* sentences about what reading skipped or corrected */
} ex_scene;

/* Makes an empty scene; NULL without memory. */
EX_API ex_scene *ex_scene_create(void);
EX_API void ex_scene_destroy(ex_scene *scene);

/* Checks that the scene is consistent: numbers in range, no cycles, finite values. Scenes from files are; after a
 * change, check before evaluating. EX_ERROR_DATA names the first fault. Costs one pass over everything. */
EX_API ex_result ex_scene_check(const ex_scene *scene, ex_error *error);

/* ---- evaluation ---- */

/* Computes the transforms of all nodes [node_count] at a time of an animation, in seconds; constant before its first
 * key and after its last. Nodes without a channel keep their own; animation -1 gives all of them their own. */
EX_API void ex_scene_sample(const ex_scene *scene, int animation, double time, ex_scene_transform *transforms);

/* Computes the weights of a node's morph targets [target_count of its mesh] at that time. */
EX_API void ex_scene_sample_weights(const ex_scene *scene, int animation, double time, int node, double *weights);

/* Returns the time of an animation's last key, in seconds. */
EX_API double ex_scene_duration(const ex_scene *scene, int animation);

/* Computes world matrices [node_count][16] from transforms [node_count]; NULL: the nodes' own. */
EX_API ex_result ex_scene_worlds(const ex_scene *scene, const ex_scene_transform *transforms, double *worlds,
                                 ex_error *error);

/* Computes the matrices that a skin applies to its mesh's vertices, in world space: world times inverse bind,
 * [joint_count][16]. The transform of the node that carries the mesh is ignored. */
EX_API void ex_scene_skin_matrices(const ex_scene *scene, int skin, const double *worlds, double *matrices);

/* ---- between scenes and meshes ---- */

/*
 * Makes a mesh of a scene's mesh: all primitives joined, vertices in order; morph targets are not applied. Primitives
 * become groups. Materials are kept by name; those without a name, or with one that an earlier material has, get one of
 * their own. Strips and fans become triangles; triangles with a repeated vertex are left out. A primitive with the same
 * vertices as an earlier one, bit for bit, shares them. Texture coordinates are those that the material's base colour
 * uses, with its KHR_texture_transform applied. first_vertices [primitive_count], optional: first vertex of each
 * primitive.
 */
EX_API ex_result ex_scene_to_mesh(const ex_scene *scene, int mesh, ex_mesh **made, int *first_vertices,
                                  ex_error *error);

/* Joins the meshes of all visible nodes, in node order, into one. Meshes without a skin are placed by their node; those
 * with a skin are as they were bound to it. */
EX_API ex_result ex_scene_to_form(const ex_scene *scene, ex_mesh **made, ex_error *error);

/* Like ex_scene_to_form, but meshes with a skin are where their joints put them, as viewers show them. */
EX_API ex_result ex_scene_to_standing(const ex_scene *scene, ex_mesh **made, ex_error *error);

/*
 * Adds a mesh to the scene, and those of its materials that the scene does not have by name, but no node. Makes one
 * primitive for every pair of group and material, in the order of first use by a face, cut into triangles, its vertices
 * in order and split at seams, with their `sources`. Vertices without a face are left out, but a mesh without any faces
 * becomes points. *number, optional: number of the new mesh. On failure the scene is unchanged.
 */
EX_API ex_result ex_scene_add_mesh(ex_scene *scene, const ex_mesh *mesh, const char *name, int *number,
                                   ex_error *error);

/* Adds a node and returns its number, or -1 without memory. name may be NULL. */
EX_API int ex_scene_add_node(ex_scene *scene, const char *name, int parent, int mesh);

#ifdef __cplusplus
}
#endif
#endif
