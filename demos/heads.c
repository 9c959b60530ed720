/*
 * The demo `heads` (trajectory warping, figure 4): from one head of the demo `face` to another along trajectories. Eyes
 * and ears are separate components, which have to keep their places on the way.
 */
#include "demos/face/face.h"

#include <stdlib.h>
#include <string.h>

static const char project[] = "{\n"
                              "  \"exemplar\": 1,\n"
                              "  \"mesh\": \"bea.obj\",\n"
                              "  \"layers\": [\n"
                              "    {\n"
                              "      \"name\": \"morph\",\n"
                              "      \"space\": [{\"name\": \"t\", \"min\": 0, \"max\": 1}],\n"
                              "      \"weigh\": {\"kind\": \"direct\"},\n"
                              "      \"shape\": \"trajectory\",\n"
                              "      \"trajectory\": {\"mode\": \"guided\"},\n"
                              "      \"examples\": [{\"name\": \"gus\", \"mesh\": \"gus.obj\"}]\n"
                              "    }\n"
                              "  ],\n"
                              "  \"subdivide\": {\"scheme\": \"catmull_clark\", \"levels\": 1, \"limit\": true}\n"
                              "}\n";

static int find_head(const char *name) {
    int found = 0;
    for (int i = 0; i < FACE_HEADS; i++)
        found = strcmp(exi_face_heads[i].name, name) == 0 ? i : found;
    return found;
}

ex_result exi_demo_heads(const char *directory, ex_error *error) {
    static const char *const names[2][2] = {{"bea", "bea.obj"}, {"gus", "gus.obj"}};
    exi_face *face = exi_face_create();
    ex_mesh *form = face ? ex_mesh_copy(face->mesh) : NULL;
    double *offsets = form ? malloc(3 * (size_t)form->vertex_count * sizeof *offsets) : NULL;
    ex_result result = offsets ? EX_OK : ex_error_memory(error, "the heads", 0);
    for (int k = 0; result == EX_OK && k < 2; k++) {
        exi_face_head_offsets(face, find_head(names[k][0]), offsets);
        for (int i = 0; i < 3 * form->vertex_count; i++)
            form->positions[i] = floor((face->mesh->positions[i] + offsets[i]) * 1e6 + 0.5) / 1e6;
        result = exi_demo_write_mesh(directory, names[k][1], form, error);
    }
    if (result == EX_OK)
        result = exi_demo_write_text(directory, "heads.json", project, error);
    free(offsets);
    ex_mesh_destroy(form);
    exi_face_destroy(face);
    return result;
}
