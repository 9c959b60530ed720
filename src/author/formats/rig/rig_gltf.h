/*
 * rig_gltf.h - the JSON part of a rig file: where viewers that know nothing of Exemplar find mesh, morph targets, skin
 * and textures in the binary part; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_RIG_RIG_GLTF_H
#define EXEMPLAR_AUTHOR_FORMATS_RIG_RIG_GLTF_H

#include <exemplar/rig_inspect.h>
#include <exemplar/rig_pack.h>
#include <jansson.h>

/* A texture at rest as a PNG file, behind the pack in the binary part. */
typedef struct exi_rig_picture {
    size_t offset, size; /* size 0: not there */
    bool opaque;
} exi_rig_picture;

typedef struct exi_rig_gltf {
    const ex_rig *rig;
    const char *pack;                /* what ex_rig_pack wrote, at the start of the binary part */
    size_t bin_size;                 /* of the whole binary part */
    const exi_rig_picture *pictures; /* [ex_rig_texture_count] */
    const double *weights;           /* [ex_rig_example_count] at rest */
} exi_rig_gltf;

/* Whether a viewer finds a use for a texture of that name. */
bool exi_rig_gltf_shows(const char *texture);

/* The tree, or NULL without memory. The same rig gives the same tree. */
json_t *exi_rig_gltf_make(const exi_rig_gltf *from);

#endif
