/* cli/edit/edit_values.c - the mask of a layer as numbers, so that a brush goes on from it: of a file, a group, joints or a
 * colour, by the library's one reader of them. */
#include "edit.h"

#include "author/base/number.h"
#include "author/project/model/project.h"
#include "author/project/skeleton/skeleton.h"

#include <stdlib.h>
#include <string.h>

/* Values [mesh->vertex_count], to be freed; NULL where the layer has no mask. */
static ex_result read_values(const ex_project_view *view, const ex_project_layer *layer, ex_mesh **mesh, float **values,
                             ex_error *error) {
    ex_skeleton *skeleton = NULL;
    ex_skin *skin = NULL;
    ex_result result = exi_project_read_mesh(view, view->mesh, mesh, error);
    if (result == EX_OK && layer->mask.kind == EX_MASK_JOINTS)
        result = exi_skeleton_read(view, *mesh, &skeleton, &skin, error);
    if (result == EX_OK)
        result = exi_project_read_mask(view, layer, *mesh, skeleton, skin, values, error);
    ex_skeleton_destroy(skeleton);
    ex_skin_destroy(skin);
    return result;
}

static void reply_values(float *values, int count, exi_answer *answer) {
    exi_reply reply;
    if (!exi_reply_start(&reply, answer, 200)) {
        free(values);
        return;
    }
    exi_emit_number(&reply.json, "count", values ? count : 0);
    exi_reply_end(&reply);
    answer->framed = answer->status == 200;
    answer->bytes = answer->owned = values;
    answer->size = values ? (size_t)count * sizeof *values : 0;
}

/* The layer that the request names by its number; NULL after a refusal. */
static const ex_project_layer *find_layer(const ex_project_view *view, const exi_asked *asked, exi_answer *answer) {
    char text[16];
    int index = -1;
    if (!exi_asked_needed(asked, "layer", text, sizeof text, answer))
        return NULL;
    const char *cursor = text;
    if (!exi_parse_int(&cursor, text + strlen(text), &index) || *cursor || index < 0 || index >= view->layer_count) {
        exi_refuse(answer, 422, "the project has no layer number '%s'", text);
        return NULL;
    }
    if (view->layers[index].shape == EX_SHAPE_DISPLACEMENT) {
        exi_refuse(answer, 422, "layer '%s' is masked over the refined surface, not over the mesh",
                   view->layers[index].name);
        return NULL;
    }
    return &view->layers[index];
}

void exi_edit_post_values(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    ex_error error = {.result = EX_OK};
    ex_project *project = exi_edit_parse(edit, asked, &error);
    if (!project) {
        exi_refuse_error(edit, answer, error.result == EX_ERROR_FILE ? 403 : 422, &error, NULL);
        return;
    }
    const ex_project_view *view = ex_project_get(project);
    const ex_project_layer *layer = find_layer(view, asked, answer);
    ex_mesh *mesh = NULL;
    float *values = NULL;
    if (layer && read_values(view, layer, &mesh, &values, &error) == EX_OK)
        reply_values(values, mesh->vertex_count, answer);
    else if (layer)
        exi_refuse_error(edit, answer, 422, &error, view);
    ex_mesh_destroy(mesh);
    ex_project_destroy(project);
}
