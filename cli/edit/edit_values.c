/* cli/edit/edit_values.c - sends the mask of a layer as numbers, so that a brush can start from it. The library reads
 * it from a file, a group, joints or a colour. */
#include "edit.h"

#include <exemplar/author/base.h>

#include <stdlib.h>
#include <string.h>

static void reply_values(float *values, int count, exi_answer *answer) {
    exi_reply reply;
    if (!exi_reply_start(&reply, answer, 200)) {
        free(values);
        return;
    }
    exi_emit_number(&reply.json, "count", count);
    exi_reply_end(&reply);
    answer->framed = answer->status == 200;
    answer->bytes = answer->owned = values;
    answer->size = (size_t)count * sizeof *values;
}

/* Index of the layer that the request names by number; -1 after a refusal. */
static int find_layer(const ex_project_view *view, const exi_asked *asked, exi_answer *answer) {
    char text[16];
    int index = -1;
    if (!exi_asked_needed(asked, "layer", text, sizeof text, answer))
        return -1;
    const char *cursor = text;
    if (!ex_parse_int(&cursor, text + strlen(text), &index) || *cursor || index < 0 || index >= view->layer_count) {
        exi_refuse(answer, 422, "the project has no layer number '%s'", text);
        return -1;
    }
    if (view->layers[index].domain == EX_DOMAIN_DISPLACEMENT) {
        exi_refuse(answer, 422, "layer '%s' is masked over the refined surface, not over the mesh",
                   view->layers[index].name);
        return -1;
    }
    return index;
}

void exi_edit_post_values(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    ex_error error = {.result = EX_OK};
    ex_project *project = exi_edit_parse(edit, asked, &error);
    if (!project) {
        exi_refuse_error(edit, answer, error.result == EX_ERROR_FILE ? 403 : 422, &error, NULL);
        return;
    }
    const ex_project_view *view = ex_project_get(project);
    const int layer = find_layer(view, asked, answer);
    float *values = NULL;
    int count = 0;
    if (layer >= 0 && ex_project_read_mask(project, layer, &values, &count, &error) == EX_OK)
        reply_values(values, count, answer);
    else if (layer >= 0)
        exi_refuse_error(edit, answer, 422, &error, view);
    ex_project_destroy(project);
}
