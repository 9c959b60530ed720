/*
 * Makes a rig of a template: its cage, skeleton and skin, dual quaternions, and levels on the limit surface; no layers.
 * Converts poses of the kinematics to local transforms of its joints.
 */
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "author/project/model/refinement.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

typedef struct parts {
    ex_mesh *mesh;
    exi_rig_mesh rig_mesh;
    exi_refinement refinement;
    ex_skeleton *skeleton;
    ex_skin *skin;
    exi_text rules;
} parts;

/* Matches vertices by order: they may have moved since the skin was made. */
static ex_result make_skin(const ex_template *made, ex_skin **skin, ex_error *error) {
    const ex_scene *scene = made->scene;
    const bool has = scene->mesh_count == 1 && scene->meshes[0].primitive_count == 1 && scene->skin_count == 1;
    const ex_scene_primitive *p = has ? scene->meshes[0].primitives : NULL;
    if (!p || p->vertex_count != made->cage->vertex_count || p->influence_count == 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the template's skin does not have the %d vertices of its cage: make the template again",
                            made->cage->vertex_count);
    const size_t vertices = (size_t)p->vertex_count, most = (size_t)p->influence_count;
    uint32_t *starts = exi_array_allocate(vertices + 1, sizeof *starts);
    uint32_t *joints = exi_array_allocate(vertices * most, sizeof *joints);
    ex_result result = starts && joints ? EX_OK : ex_error_memory(error, "the skin", vertices * most * 4);
    for (size_t v = 0; result == EX_OK && v <= vertices; v++)
        starts[v] = (uint32_t)(v * most);
    for (size_t i = 0; result == EX_OK && i < vertices * most; i++)
        joints[i] = p->joints[i];
    if (result == EX_OK)
        result = ex_skin_create(&(ex_skin_def){.vertex_count = p->vertex_count,
                                               .joint_count = scene->skins[0].joint_count,
                                               .starts = starts,
                                               .joints = joints,
                                               .weights = p->weights},
                                NULL, skin, error);
    free(starts);
    free(joints);
    return result;
}

static ex_result make_parts(const ex_template *made, const ex_subdivide_def *def, parts *p, ex_error *error) {
    p->mesh = ex_mesh_copy(made->cage);
    if (!p->mesh)
        return ex_error_memory(error, "the template", (size_t)made->cage->vertex_count * 24);
    ex_result result = exi_rig_mesh_make(p->mesh, &p->rig_mesh, error);
    if (result == EX_OK)
        result = exi_rig_mesh_smooth(&p->rig_mesh, error);
    if (result == EX_OK)
        result = exi_refinement_make(p->mesh, &p->rig_mesh, def, &p->refinement, error);
    if (result == EX_OK)
        result = exi_refinement_describe(def, &p->rules, error);
    if (result == EX_OK)
        result = make_skin(made, &p->skin, error);
    if (result == EX_OK)
        result = exi_skeleton_from_scene(made->scene, 0, &p->skeleton, error);
    return result;
}

ex_result ex_template_rig(const ex_template *made, int levels, ex_rig **rig, ex_error *error) {
    *rig = NULL;
    if (levels < 1 || levels > EX_SUBDIVIDE_LEVELS)
        return exi_misuse_error(error, "ex_template_rig", "levels are 1 to EX_SUBDIVIDE_LEVELS");
    ex_subdivide_def def = ex_subdivide_def_default();
    def.levels = levels;
    def.limit = def.all = true;
    parts p = {0};
    ex_result result = make_parts(made, &def, &p, error);
    if (result == EX_OK) {
        ex_attachment notes[EXI_RIG_MESH_NOTES + 1];
        ex_rig_def rig_def = ex_rig_def_default();
        memcpy(notes, p.rig_mesh.notes, sizeof p.rig_mesh.notes);
        rig_def.note_count = p.rig_mesh.note_count;
        notes[rig_def.note_count++] =
            (ex_attachment){.kind = EXI_REFINEMENT_NOTE, .data = p.rules.bytes, .size = p.rules.size};
        rig_def.notes = notes;
        rig_def.mesh = p.rig_mesh.mesh;
        rig_def.skeleton = p.skeleton;
        rig_def.skin = p.skin;
        rig_def.skinning = EX_SKINNING_DUAL_QUATERNION;
        rig_def.stencils = p.refinement.subdivision->stencils;
        rig_def.levels = p.refinement.levels;
        rig_def.level = levels;
        result = ex_rig_create(&rig_def, NULL, rig, error);
    }
    free(p.rules.bytes);
    ex_skin_destroy(p.skin);
    ex_skeleton_destroy(p.skeleton);
    exi_refinement_free(&p.refinement);
    exi_rig_mesh_free(&p.rig_mesh);
    ex_mesh_destroy(p.mesh);
    return result;
}

/* Around an inner vertex every neighbour comes once after it in a face and once before. At a boundary one comes only
 * after it and another only before, so the counts differ. */
int ex_template_extraordinary_count(const ex_template *made) {
    const ex_mesh *mesh = made->cage;
    int found = 0;
    for (int v = 0; v < mesh->vertex_count; v++) {
        int64_t difference = 0;
        int faces = 0;
        for (int f = 0; f < mesh->face_count; f++) {
            const int first = mesh->face_offsets[f], size = mesh->face_offsets[f + 1] - first;
            for (int c = 0; c < size; c++)
                if (mesh->corners[first + c] == v) {
                    difference += mesh->corners[first + (c + 1) % size];
                    difference -= mesh->corners[first + (c + size - 1) % size];
                    faces++;
                }
        }
        found += faces > 0 && faces != (difference == 0 ? 4 : 2);
    }
    return found;
}

void ex_template_pose(const ex_kinematics *kinematics, const ex_kin_pose *pose, ex_transform *joints) {
    for (int j = 0; j < kinematics->joint_count; j++) {
        const double *place = j == 0 ? pose->translation : kinematics->joints[j].translation;
        joints[j] = ex_transform_identity();
        for (int c = 0; c < 3; c++)
            joints[j].translation[c] = (float)place[c];
        for (int c = 0; c < 4; c++)
            joints[j].rotation[c] = (float)pose->rotations[j][c];
    }
}
