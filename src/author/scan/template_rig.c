/*
 * A rig of a template: its cage, skeleton and skin, dual quaternions, and levels on the limit surface; no layers. Poses
 * of the kinematics as local transforms of its joints.
 */
#include "author/scan/template.h"

#include "author/project/refinement.h"
#include "author/project/skeleton.h"
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

static ex_result make_parts(const ex_template *made, const ex_subdivide_def *def, parts *p, ex_error *error) {
    p->mesh = ex_mesh_copy(made->cage);
    if (!p->mesh)
        return exi_error_memory(error, "the template", (size_t)made->cage->vertex_count * 24);
    ex_result result = exi_rig_mesh_make(p->mesh, &p->rig_mesh, error);
    if (result == EX_OK)
        result = exi_rig_mesh_smooth(&p->rig_mesh, error);
    if (result == EX_OK)
        result = exi_refinement_make(p->mesh, &p->rig_mesh, def, &p->refinement, error);
    if (result == EX_OK)
        result = exi_refinement_describe(def, &p->rules, error);
    if (result == EX_OK)
        result = exi_skeleton_from_scene(made->scene, 0, &p->skeleton, error);
    if (result == EX_OK)
        result = exi_skin_from_scene(made->scene, 0, p->mesh, &p->skin, error);
    return result;
}

ex_result ex_template_rig(const ex_template *made, int levels, ex_rig **rig, ex_error *error) {
    *rig = NULL;
    if (levels < 1 || levels > EX_SUBDIVIDE_LEVELS)
        return exi_misuse_error(error, "ex_template_rig", "levels are 1 to EX_SUBDIVIDE_LEVELS");
    ex_subdivide_def def = ex_subdivide_def_default();
    def.levels = levels;
    def.limit = true;
    parts p = {0};
    ex_result result = make_parts(made, &def, &p, error);
    if (result == EX_OK) {
        ex_note notes[EXI_RIG_MESH_NOTES + 1];
        ex_rig_def rig_def = ex_rig_def_default();
        memcpy(notes, p.rig_mesh.notes, sizeof p.rig_mesh.notes);
        rig_def.note_count = p.rig_mesh.note_count;
        notes[rig_def.note_count++] =
            (ex_note){.kind = EXI_REFINEMENT_NOTE, .data = p.rules.bytes, .size = p.rules.size};
        rig_def.notes = notes;
        rig_def.mesh = p.rig_mesh.mesh;
        rig_def.skeleton = p.skeleton;
        rig_def.skin = p.skin;
        rig_def.skinning = EX_SKINNING_DUAL_QUATERNION;
        rig_def.stencils = p.refinement.subdivision->stencils;
        rig_def.levels = p.refinement.levels;
        rig_def.level = EX_LEVEL_LIMIT;
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
