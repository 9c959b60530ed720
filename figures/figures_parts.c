/* figures/figures_parts.c - shared by all figures: rigs of demos, optionally changed, and facts. */
#include "figures.h"

#include "cli/base/files.h"

#include "demos/demos.h"

#include <exemplar/author/files.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void exi_figures_fact(exi_figures *f, const char *what, const char *theirs, const char *format, ...) {
    if (f->fact_count == EXI_FACT_MAX)
        return;
    exi_fact *fact = &f->facts[f->fact_count++];
    va_list list;
    snprintf(fact->what, sizeof fact->what, "%s", what);
    snprintf(fact->theirs, sizeof fact->theirs, "%s", theirs);
    va_start(list, format);
    vsnprintf(fact->ours, sizeof fact->ours, format, list);
    va_end(list);
}

/* ---- rigs ---- */

typedef ex_result (*change)(ex_project *project, ex_error *error);

/* Writes the demo, unless another figure has; reads it, changes it and builds it. */
static ex_result make_rig(exi_figures *f, const ex_demo *demo, const char *variant, change apply, const char *folder,
                          ex_rig **rig) {
    const bool write = !apply && !variant;
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", demo->name, variant ? "_" : "", variant ? variant : "");
    char *project_path = exi_path_inside(folder, name, ".json");
    char *rig_path = exi_path_inside(folder, name, ".glb");
    ex_project *project = NULL;
    ex_result result = project_path && rig_path ? EX_OK : ex_error_memory(f->error, "a path", 0);
    if (result == EX_OK && write)
        result = ex_make_directory(folder, f->error);
    if (result == EX_OK && write)
        result = exi_demo_write(demo, folder, &(exi_demo_options){.tasks = f->tasks}, f->error);
    if (result == EX_OK)
        result = ex_project_read(project_path, &project, f->error);
    if (result == EX_OK && apply)
        result = apply(project, f->error);
    if (result == EX_OK)
        result = ex_project_build(project, &(ex_build_options){.tasks = f->tasks}, rig, f->error);
    if (result == EX_OK && !apply)
        result = ex_rig_write(rig_path, *rig, f->error);
    ex_project_destroy(project);
    free(project_path);
    free(rig_path);
    return result;
}

static const ex_demo *find_demo(const char *name) {
    for (int i = 0; i < ex_demo_count; i++)
        if (strcmp(ex_demos[i].name, name) == 0)
            return &ex_demos[i];
    return NULL;
}

/* Entry for the rig of that demo and kind. */
exi_figure_rig *exi_figures_slot(exi_figures *f, const char *name, char kind) {
    for (int i = 0; i < EXI_FIGURE_RIGS; i++)
        if (!f->rigs[i].name || (strcmp(f->rigs[i].name, name) == 0 && f->rigs[i].kind == kind))
            return &f->rigs[i];
    return NULL;
}

static const ex_rig *get_rig(exi_figures *f, char kind, const char *name, const char *variant, change apply) {
    exi_figure_rig *slot = exi_figures_slot(f, name, kind);
    const ex_demo *demo = find_demo(name);
    if (!slot || !demo) {
        ex_error_set(f->error, EX_ERROR_ARGUMENT, "there is no demo '%s'", name);
        return NULL;
    }
    if (slot->rig)
        return slot->rig;
    char *demos = exi_path_inside(f->folder, "demos", "");
    char *folder = demos ? exi_path_inside(demos, name, "") : NULL;
    ex_rig *rig = NULL;
    ex_result result = folder ? ex_make_directory(demos, f->error) : ex_error_memory(f->error, "a path", 0);
    if (result == EX_OK)
        result = make_rig(f, demo, variant, apply, folder, &rig);
    free(demos);
    free(folder);
    if (result != EX_OK) {
        ex_rig_destroy(rig);
        return NULL;
    }
    *slot = (exi_figure_rig){.name = demo->name, .kind = kind, .rig = rig};
    return rig;
}

static ex_result remove_pseudos(ex_project *project, ex_error *error) {
    ex_result result = EX_OK;
    while (result == EX_OK && ex_project_get(project)->layers[0].pseudo_count > 0)
        result = ex_project_edit(project, 0, &(ex_edit){.kind = EX_EDIT_REMOVE_PSEUDO, .index = 0}, NULL, NULL, error);
    return result;
}

const ex_rig *exi_figures_rig(exi_figures *f, const char *demo) {
    return get_rig(f, 'a', demo, NULL, NULL);
}

const ex_rig *exi_figures_rig_without(exi_figures *f, const char *demo) {
    return exi_figures_rig(f, demo) ? get_rig(f, 'w', demo, NULL, remove_pseudos) : NULL;
}

const ex_rig *exi_figures_rig_variant(exi_figures *f, const char *demo, const char *variant) {
    return exi_figures_rig(f, demo) ? get_rig(f, 'v', demo, variant, NULL) : NULL;
}
