/*
 * refinement.h - the refined levels of a project's mesh, as stored in a rig; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_MODEL_REFINEMENT_H
#define EXEMPLAR_AUTHOR_PROJECT_MODEL_REFINEMENT_H

#include "author/base/json.h"
#include "author/mesh/rig_mesh.h"

/* All zero if there are none. */
typedef struct exi_refinement {
    ex_subdivision *subdivision;
    exi_rig_mesh *made;  /* [level_count] */
    ex_rig_mesh *levels; /* [level_count]: levels 1, 2, … without positions and normals */
    int level_count;
} exi_refinement;

/* mesh and rig_mesh are the same mesh; rig_mesh comes from exi_rig_mesh_make. */
ex_result exi_refinement_make(const ex_mesh *mesh, const exi_rig_mesh *rig_mesh, const ex_subdivide_def *def,
                              exi_refinement *made, ex_error *error);
void exi_refinement_free(exi_refinement *made);

/*
 * A rig's tables do not record the rules that made them. A note of this kind does, in the words of a project file: the
 * value of "subdivide" as JSON text.
 */
#define EXI_REFINEMENT_NOTE "subdivide"
ex_result exi_refinement_describe(const ex_subdivide_def *def, exi_text *text, ex_error *error);

#endif
