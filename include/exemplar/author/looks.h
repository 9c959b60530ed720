/*
 * exemplar/author/looks.h - looks: materials with their images decoded, as rendering needs them (exemplar/author/
 * picture.h). Made from the materials of a glTF scene, such as those that a rig carries.
 *
 * Looks are plain data that their holder may change; ex_looks_destroy releases what ex_looks_from_scene made. Any
 * number of threads may read them.
 */
#ifndef EXEMPLAR_AUTHOR_LOOKS_H
#define EXEMPLAR_AUTHOR_LOOKS_H

#include <exemplar/author/image.h>
#include <exemplar/author/scene.h>
#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Ways to continue an image beyond its edges. */
typedef enum ex_wrap { EX_WRAP_REPEAT, EX_WRAP_MIRROR, EX_WRAP_CLAMP } ex_wrap;

/* An image on a form. In texture coordinates with the origin at the top left, it lies at offset + rotation * (scale *
 * coordinates), as KHR_texture_transform says. */
typedef struct ex_material_map {
    const ex_image *image; /* NULL: none, and the factors count alone */
    ex_wrap wrap[2];       /* across, down */
    bool nearest;          /* true: the nearest pixel, without interpolation */
    double offset[2], scale[2];
    double rotation; /* radians */
} ex_material_map;

/* A material. Factors are multiplied with what their image has. Colours are linear; images of colours are sRGB. */
typedef struct ex_material {
    char *name;
    double colour[4]; /* red green blue alpha; also times the vertex colours of the mesh */
    ex_material_map colour_map;
    double metallic, roughness;    /* 0 to 1 */
    ex_material_map metallic_map;  /* blue is metallic, green is roughness */
    double normal_scale;           /* of the first two numbers of the normal map */
    ex_material_map normal_map;    /* tangents follow from the texture coordinates */
    double occlusion;              /* strength of the occlusion map, 0 to 1 */
    ex_material_map occlusion_map; /* red darkens light from all around */
    double emissive[3];            /* may be above 1 (KHR_materials_emissive_strength) */
    ex_material_map emissive_map;
    ex_scene_alpha alpha;
    double alpha_cutoff;
    bool double_sided; /* false: faces are not seen from behind */
    bool unlit;        /* KHR_materials_unlit */
    double scatter[3]; /* light that wanders below the surface, 0 to 1: skin (KHR_materials_diffuse_transmission) */
    double sheen[3];   /* colour of fibres at grazing angles: cloth (KHR_materials_sheen) */
    double sheen_roughness;
} ex_material;

/* The materials of a form, found by name: a face of a mesh has the look of its material's name. */
typedef struct ex_looks {
    int look_count;
    ex_material *looks; /* [look_count] */
    int image_count;
    ex_image **images; /* [image_count], each NULL if no material needs it; maps point to these or to others */
    int note_count;
    char **notes; /* sentences about images that cannot be read: they are left out */
} ex_looks;

/* Returns a look without images: white, rough, not metallic, opaque, single-sided. name stays NULL. */
EX_API ex_material ex_material_default(void);

/* Makes the looks of a scene's materials and decodes the images that they use, for the names and texture coordinates of
 * ex_scene_to_mesh: a transform that all textures of a material share is already in those. Images that cannot be
 * decoded are left out, with a note. Results: DATA, MEMORY. */
EX_API ex_result ex_looks_from_scene(const ex_scene *scene, ex_looks **looks, ex_error *error);
EX_API void ex_looks_destroy(ex_looks *looks);

/* Returns the number of the look with that name, or -1. */
EX_API int ex_looks_find(const ex_looks *looks, const char *name);

/* Makes the looks that a rig carries; *looks is NULL if it has none. Results: as ex_looks_from_scene. */
EX_API ex_result ex_looks_from_rig(const ex_rig *rig, ex_looks **looks, ex_error *error);

/* Makes a mesh as ex_rig_to_mesh does, with the hard edges of the rig's own mesh in its normals. On a refined level the
 * normals are those of the surface. */
EX_API ex_result ex_rig_to_sharp_mesh(const ex_rig *rig, const ex_surface *surface, ex_mesh **mesh, ex_error *error);

/* Makes a copy that shares the images of another, which has to outlive it; NULL without memory. */
EX_API ex_looks *ex_looks_share(const ex_looks *looks);

/* Lets an image replace the base colour map of the looks that a texture of a rig is for: "base_color" is for all of
 * them, "NAME/base_color" for the look of that name, others for none. The image stays its owner's and has to outlive
 * the looks. Returns the number of looks changed. */
EX_API int ex_looks_paint(ex_looks *looks, const char *texture, const ex_image *image);

#ifdef __cplusplus
}
#endif
#endif
