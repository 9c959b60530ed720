/*
 * rig_gltf.h - the JSON part of a rig file: it tells viewers that know nothing of Exemplar where mesh, morph targets,
 * skin and textures are in the binary part; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_RIG_RIG_GLTF_H
#define EXEMPLAR_AUTHOR_FORMATS_RIG_RIG_GLTF_H

#include <exemplar/author/mesh.h>
#include <exemplar/rig_inspect.h>
#include <exemplar/rig_pack.h>
#include <jansson.h>

/* Kinds of the attachments that are scenes, and one of the rig's attachments: data is NULL if there is none. */
#define EXI_LOOKS_NOTE "looks"
#define EXI_CLIPS_NOTE "clips"
ex_attachment exi_rig_find_attachment(const ex_rig *rig, const char *kind);

/* A texture at rest as a PNG file, after the pack in the binary part. */
typedef struct exi_rig_picture {
    size_t offset, size; /* size 0: absent */
    bool opaque;
} exi_rig_picture;

/* Triangles of one material: a list of vertices in the binary part. */
typedef struct exi_rig_piece {
    const char *material; /* NULL for faces without one */
    size_t offset, count; /* bytes, and numbers */
} exi_rig_piece;

typedef struct exi_rig_gltf {
    const ex_rig *rig;
    const char *pack;                /* output of ex_rig_pack, at the start of the binary part */
    size_t bin_size;                 /* of the whole binary part */
    const exi_rig_picture *pictures; /* [ex_rig_texture_count] */
    const double *weights;           /* [ex_rig_example_count]: weights at rest */
    const exi_rig_piece *pieces;     /* [piece_count], or none: all triangles have one material */
    int piece_count;
    size_t colours;    /* offset of colours in the binary part, three numbers per split vertex; 0 without any */
    ex_form_axes axes; /* of the project's files; written if they are not metres and y up */
} exi_rig_gltf;

/* True if viewers can use a texture of that name: "base_color", or "MATERIAL/base_color". */
bool exi_rig_gltf_shows(const char *texture);

/* Makes the tree, or NULL without memory. The same rig gives the same tree. */
json_t *exi_rig_gltf_make(const exi_rig_gltf *from);

#endif
