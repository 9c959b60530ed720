/*
 * The demo `outfit`: a loose shirt and trousers, simulated on the person of the demo `human`, who walks, goes through
 * her poses, turns, bows and moves her arms. The driver is the person's own mesh, vertex for vertex, so that any motion
 * of hers, baked to a cache, moves the clothes. One motion is for learning, the other for testing.
 */
#include "demos/human/outfit.h"
#include "demos/garment/dress.h"
#include "demos/human/outfit_weave.h"

#include <exemplar/author/mesh.h>

#include <stdlib.h>
#include <string.h>

/* Leaves faces of skin, shirt and trousers, and all vertices: cloth does not catch in hair. */
static void leave_body(ex_mesh *person) {
    static const char *const names[] = {"skin", "shirt", "trousers"};
    int faces = 0, corners = 0;
    for (int f = 0; f < person->face_count; f++) {
        const int begin = person->face_offsets[f], end = person->face_offsets[f + 1];
        bool stays = false;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            stays |= strcmp(person->group_names[person->face_groups[f]], names[i]) == 0;
        if (!stays)
            continue;
        person->face_groups[faces] = person->face_groups[f];
        person->face_offsets[faces++] = corners;
        for (int c = begin; c < end; c++)
            person->corners[corners++] = person->corners[c];
    }
    person->face_offsets[faces] = corners;
    person->face_count = faces;
    person->corner_count = corners;
    free(person->corner_texcoords);
    free(person->corner_normals);
    free(person->face_materials);
    person->corner_texcoords = person->corner_normals = person->face_materials = NULL;
    person->texcoord_count = person->normal_count = 0;
}

ex_result exi_outfit_make(exi_garment *garment, ex_error *error) {
    exi_outfit_body *b = NULL;
    ex_mesh *person = NULL;
    *garment = (exi_garment){.name = "outfit",
                             .key_count = 20,
                             .part_count = 32,
                             .cloth = exi_cloth_def_default(),
                             .pose = exi_outfit_pose,
                             .release = exi_outfit_body_close};
    memcpy(garment->frame_counts, exi_outfit_frame_counts, sizeof garment->frame_counts);
    garment->cloth.substeps = 20;
    garment->cloth.bend = 2e-6;
    garment->cloth.bent = 0;
    garment->cloth.friction = 0.5;
    garment->cloth.drag = 8;
    ex_result result = exi_outfit_body_open(&b, error);
    garment->body = b;
    if (result == EX_OK)
        result = ex_rig_to_mesh(b->person->rig, NULL, &person, error);
    if (result == EX_OK)
        result = exi_outfit_looks(b->person->rig, &garment->looks, error);
    if (result == EX_OK) {
        leave_body(person);
        garment->driver = exi_dress_triangles(person);
        result = garment->driver ? exi_outfit_cut(b, person, garment, error) : ex_error_memory(error, "the person", 0);
    }
    ex_mesh_destroy(person);
    return result;
}
