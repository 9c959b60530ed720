/* cli/edit/edit_progress.c - the step that a build is at, for the page to show: written by the build, read by
 * requests. */
#include "edit.h"

#include <string.h>

void exi_edit_progress_set(exi_edit *edit, const exi_edit_step *step) {
    pthread_mutex_lock(&edit->progressing);
    edit->step = *step;
    pthread_mutex_unlock(&edit->progressing);
}

/* The library tells the name of each example that it reads, and words for all other work. The name is the project's own
 * text, so an example called "mesh" is told from the word. True if it was an example. */
static bool take_example(exi_edit_step *step, const ex_project_view *view, const char *what) {
    for (int i = 0; i < view->layer_count; i++)
        for (int k = 0; k < view->layers[i].example_count; k++)
            if (view->layers[i].examples[k].name == what) {
                step->kind = "example";
                step->number = k + 1;
                step->count = view->layers[i].example_count;
                snprintf(step->layer, sizeof step->layer, "%s", view->layers[i].name);
                snprintf(step->example, sizeof step->example, "%s", what);
                return true;
            }
    return false;
}

void exi_edit_step_take(exi_edit_step *step, const ex_project_view *view, const char *what, double fraction) {
    static const char *const words[] = {"mesh", "driver", "subdividing", "solving"};
    step->fraction = fraction;
    if (take_example(step, view, what))
        return;
    step->example[0] = '\0';
    step->kind = "trajectories"; /* the paths of the layer whose examples were read last */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(what, words[i]) == 0) {
            step->kind = words[i];
            step->layer[0] = '\0';
        }
}

void exi_edit_get_progress(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    exi_reply reply;
    (void)asked;
    pthread_mutex_lock(&edit->progressing);
    const exi_edit_step step = edit->step;
    pthread_mutex_unlock(&edit->progressing);
    if (!exi_reply_start(&reply, answer, 200))
        return;
    exi_emit_text(&reply.json, "step", step.kind);
    if (step.kind && step.layer[0])
        exi_emit_text(&reply.json, "layer", step.layer);
    if (step.kind && step.example[0]) {
        exi_emit_text(&reply.json, "example", step.example);
        exi_emit_number(&reply.json, "number", step.number);
        exi_emit_number(&reply.json, "count", step.count);
    }
    if (step.kind)
        exi_emit_number(&reply.json, "fraction", step.fraction);
    exi_reply_end(&reply);
}
