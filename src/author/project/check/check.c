/*
 * Checks a project: finds everything that is wrong or weak before it hurts, with its place and size. Errors keep it
 * from building or make the result wrong; warnings will look bad; notes are measurements.
 */
#include "author/project/domains/project_domain.h"

#include "author/base/progress.h"
#include "author/project/model/project.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the list of findings ---- */

bool exi_check_add(exi_checker *c, ex_severity severity, const char *kind, const char *where, double value,
                   const char *format, ...) {
    char text[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ex_check *check = c->check;
    ex_finding *findings = realloc(check->findings, ((size_t)check->finding_count + 1) * sizeof *findings);
    char *where_copy = malloc(strlen(where) + 1), *text_copy = malloc(strlen(text) + 1);
    if (findings)
        check->findings = findings;
    if (!findings || !where_copy || !text_copy) {
        free(where_copy);
        free(text_copy);
        c->failed = true;
        return false;
    }
    strcpy(where_copy, where);
    strcpy(text_copy, text);
    findings[check->finding_count++] =
        (ex_finding){.severity = severity, .kind = kind, .where = where_copy, .text = text_copy, .value = value};
    check->error_count += severity == EX_SEVERITY_ERROR;
    check->warning_count += severity == EX_SEVERITY_WARNING;
    return true;
}

void exi_check_failure(exi_checker *c, const char *kind, const char *where, const ex_error *error) {
    if (error->result == EX_ERROR_MEMORY)
        c->failed = true;
    else
        exi_check_add(c, EX_SEVERITY_ERROR, kind, where, 0, "%s", error->text);
}

void exi_check_append(exi_check_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text->text + text->size, sizeof text->text - text->size, format, arguments);
    va_end(arguments);
    text->size += length > 0 ? (size_t)length : 0;
    text->size = text->size < sizeof text->text ? text->size : sizeof text->text - 1;
}

void ex_check_destroy(ex_check *check) {
    if (!check)
        return;
    for (int i = 0; i < check->finding_count; i++) {
        free((void *)(uintptr_t)check->findings[i].where);
        free((void *)(uintptr_t)check->findings[i].text);
        free((void *)(uintptr_t)check->findings[i].pose);
    }
    free(check->findings);
    free(check);
}

bool exi_check_progress(exi_checker *c, const char *what) {
    if (!exi_progress_tell(c->progress, what, (double)c->done / (c->total + 1)))
        c->failed = c->stopped = true;
    return !c->stopped;
}

/* ---- the whole ---- */

static void free_rows(const exi_checker *c, float ***rows) {
    for (int l = 0; rows && l < c->view->layer_count; l++) {
        for (int k = 0; rows[l] && k < c->view->layers[l].example_count; k++)
            free(rows[l][k]);
        free(rows[l]);
    }
    free(rows);
}

static void close_checker(exi_checker *c) {
    exi_measure_close(&c->measure);
    free_rows(c, c->deltas);
    free_rows(c, c->shifts);
    for (int l = 0; c->offsets && l < c->view->layer_count; l++) {
        for (int k = 0; c->offsets[l] && k < c->view->layers[l].example_count; k++)
            exi_offsets_free(&c->offsets[l][k]);
        free(c->offsets[l]);
    }
    free(c->offsets);
    for (int l = 0; c->masks && l < c->view->layer_count; l++)
        free(c->masks[l]);
    free(c->masks);
    for (int l = 0; c->paths && l < c->view->layer_count; l++)
        exi_project_trajectories_close(&c->paths[l]);
    free(c->paths);
    for (int l = 0; c->falloffs && l < c->view->layer_count; l++)
        free(c->falloffs[l]);
    free(c->falloffs);
    free(c->weighs);
    exi_project_driver_close(&c->driver);
    ex_skin_destroy(c->skin);
    ex_skeleton_destroy(c->skeleton);
    ex_mesh_destroy(c->mesh);
}

/* Checks the parts that the layers build on: inputs, mesh, skeleton, surface and driver. */
static void check_body(exi_checker *c) {
    ex_error error = {0};
    exi_check_inputs(c);
    exi_check_mesh(c);
    if (!c->failed)
        exi_check_skeleton(c);
    if (c->mesh && !c->failed)
        exi_check_surface(c);
    if (c->mesh && !c->failed)
        exi_check_driver(c);
    if (c->mesh && !c->failed &&
        exi_measure_open(&c->measure, c->view, c->mesh, c->skeleton, c->skin, c->driver.driver ? &c->driver : NULL,
                         &error) != EX_OK)
        c->failed = true;
}

ex_result ex_project_check(const ex_project *project, const ex_check_options *options, ex_check **check,
                           ex_error *error) {
    const size_t layers = (size_t)project->view.layer_count + 1;
    *check = NULL;
    exi_checker c = {.view = &project->view,
                     .check = calloc(1, sizeof *c.check),
                     .sample_count = options && options->sample_count > 0 ? options->sample_count : 4096,
                     .mixture_count = options ? options->mixture_count : 0,
                     .kept_paths = options ? options->kept_paths : NULL,
                     .tasks = options ? options->tasks : NULL,
                     .progress = options ? options->progress : NULL,
                     .size = 1,
                     .deltas = calloc(layers, sizeof *c.deltas),
                     .shifts = calloc(layers, sizeof *c.shifts),
                     .offsets = calloc(layers, sizeof *c.offsets),
                     .masks = calloc(layers, sizeof *c.masks),
                     .paths = calloc(layers, sizeof *c.paths),
                     .weighs = calloc(layers, sizeof *c.weighs),
                     .falloffs = calloc(layers, sizeof *c.falloffs)};
    c.failed = !c.check || !c.deltas || !c.shifts || !c.offsets || !c.masks || !c.paths || !c.weighs || !c.falloffs;
    for (int l = 0; !c.failed && l < c.view->layer_count; l++) {
        c.total += c.view->layers[l].example_count;
        c.weighs[l] = c.view->layers[l].weigh;
    }
    if (!c.failed)
        check_body(&c);
    for (int l = 0; !c.failed && l < c.view->layer_count; l++)
        exi_project_domain_of(&c.view->layers[l])->check(&c, l);
    if (!c.failed)
        exi_check_disturbed(&c);
    if (!c.failed)
        exi_check_mixtures(&c);
    close_checker(&c);
    if (c.failed) {
        ex_check_destroy(c.check);
        return c.stopped ? exi_progress_stopped(error) : ex_error_memory(error, "the check", 0);
    }
    *check = c.check;
    return EX_OK;
}
