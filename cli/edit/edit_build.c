/* cli/edit/edit_build.c - builds and checks the page's version of the project, which may be newer than the one on
 * disk. */
#include "cli/base/encode.h"
#include "cli/base/report.h"
#include "cli/project/damped.h"
#include "cli/project/findings.h"
#include "edit.h"

#include <stdlib.h>
#include <string.h>

/* Refuses an uploaded project. */
static void refuse_project(const exi_edit *edit, exi_answer *answer, const ex_error *error) {
    exi_refuse_error(edit, answer, error->result == EX_ERROR_FILE ? 403 : 422, error, NULL);
}

/* ---- building ---- */

typedef struct building {
    exi_edit *edit;
    unsigned cancels; /* times that builds had been cancelled when this one was asked for */
    bool keeps;       /* false for a draft, which waits for no other build and is not kept */
    const ex_project_view *view;
    exi_edit_step step;
    const char *folder;
    exi_damped_list damped;
    char **notes;
    int note_count;
    bool failed; /* true if memory ran out */
    char *text, *rig;
    size_t text_size, rig_size;
    int driver_count;
    double seconds;
} building;

static void on_note(void *user, const char *text) {
    building *b = user;
    char **notes = realloc(b->notes, (size_t)(b->note_count + 1) * sizeof *notes), *copy = malloc(strlen(text) + 1);
    b->notes = notes ? notes : b->notes;
    b->failed = b->failed || !notes || !copy;
    if (notes && copy)
        exi_cut_out(notes[b->note_count++] = strcpy(copy, text), b->folder);
    else
        free(copy);
}

static bool is_cancelled(const building *b) {
    return atomic_load(&b->edit->build_cancels) != b->cancels;
}

static bool on_progress(void *user, const char *what, double fraction) {
    building *b = user;
    exi_edit_step_take(&b->step, b->view, what, fraction);
    if (b->keeps)
        exi_edit_progress_set(b->edit, &b->step);
    return !is_cancelled(b);
}

static ex_result build(const exi_edit *edit, const ex_project *project, building *b, ex_error *error) {
    ex_rig *rig = NULL;
    ex_rig_driver driver;
    const double start = exi_clock();
    const ex_progress progress = {.report = on_progress, .user = b};
    const ex_build_options how = {.progress = &progress,
                                  .damped = &b->damped.hook,
                                  .note = on_note,
                                  .note_user = b,
                                  .tasks = b->keeps ? exi_pool_tasks(edit->pool) : NULL, /* one at a time */
                                  .kept_paths = edit->kept_paths};
    ex_result result = ex_project_build(project, &how, &rig, error);
    b->seconds = exi_clock() - start;
    if (result == EX_OK && ex_rig_get_driver(rig, &driver, NULL))
        b->driver_count = driver.driver.vertex_count;
    if (result == EX_OK && b->keeps)
        exi_edit_progress_set(b->edit, &(exi_edit_step){.kind = "sending", .fraction = 1});
    if (result == EX_OK)
        result = exi_rig_encode_bare(rig, &b->rig, &b->rig_size, error);
    if (result == EX_OK)
        result = exi_project_encode(project, &b->text, &b->text_size, error);
    if (result == EX_OK && (b->failed || b->damped.failed)) {
        *error = (ex_error){.result = EX_ERROR_MEMORY, .text = "not enough memory"};
        result = EX_ERROR_MEMORY;
    }
    ex_rig_destroy(rig);
    return result;
}

static void reply_built(const char *id, const building *b, exi_answer *answer) {
    exi_reply reply;
    if (!exi_reply_start(&reply, answer, 200))
        return;
    exi_emit_text(&reply.json, "build", id);
    exi_emit_text(&reply.json, "text", b->text);
    exi_emit_open(&reply.json, "notes", '[');
    for (int i = 0; i < b->note_count; i++)
        exi_emit_text(&reply.json, NULL, b->notes[i]);
    exi_emit_close(&reply.json, ']');
    exi_emit_open(&reply.json, "damped", '[');
    for (int i = 0; i < b->damped.count; i++) {
        exi_emit_open(&reply.json, NULL, '{');
        exi_emit_number(&reply.json, "layer", b->damped.examples[i].layer);
        exi_emit_number(&reply.json, "example", b->damped.examples[i].example);
        exi_emit_number(&reply.json, "count", b->damped.examples[i].count);
        exi_emit_close(&reply.json, '}');
    }
    exi_emit_close(&reply.json, ']');
    exi_emit_number(&reply.json, "seconds", b->seconds);
    exi_reply_end(&reply);
}

/* Keeps the result. The answer has a separate copy, so sending it to a slow reader does not block other builds. */
static void keep(exi_edit *edit, building *b, ex_project **project, exi_answer *answer) {
    char *copy = malloc(b->rig_size + 1), id[24];
    if (!copy) {
        exi_refuse_memory(answer);
        return;
    }
    snprintf(id, sizeof id, "%d", ++edit->build_count);
    reply_built(id, b, answer);
    answer->framed = answer->status == 200;
    answer->bytes = answer->owned = memcpy(copy, b->rig, b->rig_size);
    answer->size = b->rig_size;
    exi_edit_forget_rig(edit);
    edit->rig_bytes = b->rig;
    edit->rig_size = b->rig_size;
    edit->driver_count = b->driver_count;
    edit->project = *project;
    b->rig = NULL;
    *project = NULL;
}

/* A build that stops because the editor ends gets no answer: the page must not take it for one that its user cancelled,
 * and go back to the rig before. */
static void refuse_cancelled(const exi_edit *edit, exi_answer *answer) {
    exi_reply reply;
    if (atomic_load(&edit->ends)) {
        answer->status = 0;
        return;
    }
    if (!exi_reply_start(&reply, answer, 409))
        return;
    exi_emit_text(&reply.json, "error",
                  edit->rig_bytes ? "the build was cancelled: the rig before it stays" : "the build was cancelled");
    exi_emit_bool(&reply.json, "cancelled", true);
    exi_reply_end(&reply);
}

/* Builds beside another build, for a first look. Motions and bakes do not know the rig. */
static void build_draft(exi_edit *edit, building *b, const ex_project *project, exi_answer *answer) {
    ex_error error = {.result = EX_OK};
    const ex_result result = build(edit, project, b, &error);
    if (result != EX_OK) {
        exi_refuse_error(edit, answer, is_cancelled(b) ? 409 : 422, &error, ex_project_get(project));
        return;
    }
    reply_built("draft", b, answer);
    answer->framed = answer->status == 200;
    answer->bytes = answer->owned = b->rig;
    answer->size = b->rig_size;
    b->rig = NULL;
}

/* Builds, or waits until another build is done. A cancelled build leaves everything as it was. */
static void build_project(exi_edit *edit, building *b, ex_project **project, exi_answer *answer) {
    ex_error error = {.result = EX_OK};
    pthread_mutex_lock(&edit->building);
    const ex_result result = is_cancelled(b) ? EX_ERROR_FILE : build(edit, *project, b, &error);
    if (is_cancelled(b))
        refuse_cancelled(edit, answer);
    else if (result == EX_OK)
        keep(edit, b, project, answer);
    else
        exi_refuse_error(edit, answer, 422, &error, ex_project_get(*project));
    exi_edit_progress_set(edit, &(exi_edit_step){.kind = NULL});
    pthread_mutex_unlock(&edit->building);
}

void exi_edit_build(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    ex_error error = {.result = EX_OK};
    building b = {.edit = edit, .cancels = atomic_load(&edit->build_cancels), .folder = edit->folder};
    char keep[8] = "1";
    if (!exi_asked_optional(asked, "keep", keep, sizeof keep, answer))
        return;
    b.keeps = strcmp(keep, "0") != 0;
    ex_project *project = exi_edit_parse(edit, asked, &error);
    if (!project) {
        refuse_project(edit, answer, &error);
        return;
    }
    b.view = ex_project_get(project);
    exi_damped_start(&b.damped);
    atomic_fetch_add(&edit->build_running, 1);
    if (b.keeps)
        build_project(edit, &b, &project, answer);
    else
        build_draft(edit, &b, project, answer);
    atomic_fetch_sub(&edit->build_running, 1);
    exi_damped_free(&b.damped);
    for (int i = 0; i < b.note_count; i++)
        free(b.notes[i]);
    free(b.notes);
    free(b.text);
    free(b.rig);
    ex_project_destroy(project);
}

void exi_edit_cancel(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    exi_reply reply;
    (void)asked;
    const int count = atomic_load(&edit->build_running);
    atomic_fetch_add(&edit->build_cancels, 1);
    if (!exi_reply_start(&reply, answer, 200))
        return;
    exi_emit_number(&reply.json, "cancelled", count);
    exi_reply_end(&reply);
}

/* ---- checking ---- */

/* Prints findings, with files of the folder by name only, as the command prints them there. False if out of memory. */
static bool print_findings(const exi_edit *edit, FILE *file, const ex_check *found) {
    ex_check shown = *found;
    char **texts = calloc((size_t)found->finding_count + 1, sizeof *texts);
    bool good = texts && (shown.findings = malloc((size_t)found->finding_count * sizeof *shown.findings + 1));
    for (int i = 0; good && i < found->finding_count; i++) {
        shown.findings[i] = found->findings[i];
        good = (texts[i] = malloc(strlen(found->findings[i].text) + 1));
        if (good)
            exi_cut_out(strcpy(texts[i], found->findings[i].text), edit->folder);
        shown.findings[i].text = texts[i];
    }
    if (good)
        exi_findings_print_json(file, &shown);
    for (int i = 0; texts && i < found->finding_count; i++)
        free(texts[i]);
    if (texts)
        free(shown.findings);
    free(texts);
    return good;
}

static ex_result check(exi_edit *edit, const ex_project *project, exi_answer *answer, ex_error *error) {
    ex_check *found = NULL;
    exi_reply reply;
    pthread_mutex_lock(&edit->checking);
    /* Few mixtures: it checks after every change. */
    const ex_check_options how = {.mixture_count = 1, .kept_paths = edit->kept_paths};
    const ex_result result = ex_project_check(project, &how, &found, error);
    pthread_mutex_unlock(&edit->checking);
    if (result == EX_OK && exi_reply_start_plain(&reply, answer, 200)) {
        const bool good = print_findings(edit, reply.file, found);
        exi_reply_end_plain(&reply);
        if (!good)
            exi_refuse_memory(answer);
    }
    ex_check_destroy(found);
    return result;
}

void exi_edit_check(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    ex_error error = {.result = EX_OK};
    exi_reply reply;
    ex_project *project = exi_edit_parse(edit, asked, &error);
    if (project) {
        if (check(edit, project, answer, &error) != EX_OK)
            exi_refuse_error(edit, answer, 422, &error, ex_project_get(project));
    } else if (error.result == EX_ERROR_FILE || error.result == EX_ERROR_MEMORY) {
        refuse_project(edit, answer, &error);
    } else if (exi_reply_start_plain(&reply, answer, 200)) {
        const exi_fault fault = exi_fault_of(edit, &error, NULL);
        exi_findings_print_unreadable(reply.file, fault.where, fault.text);
        exi_reply_end_plain(&reply);
    }
    ex_project_destroy(project);
}
