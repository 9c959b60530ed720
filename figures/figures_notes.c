/*
 * figures/figures_notes.c - names of figures, and notes: small files beside the pictures with what the page says of
 * each, so that figures can be made one at a time, elsewhere, and the page later. A note is lines of fields with tabs
 * between:
 *
 *     exemplar figure <TAB> pose-space-6 <TAB> 0.2.0 <TAB> cell 200 <TAB> 1200 x 480
 *     what was measured <TAB> the paper's number <TAB> ours
 */
#include "figures.h"

#include "cli/base/files.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void exi_figure_name(const exi_paper *paper, const exi_figure *figure, char name[EXI_FIGURE_NAME]) {
    if (figure->file) {
        const char *dot = strrchr(figure->file, '.');
        snprintf(name, EXI_FIGURE_NAME, "%.*s", (int)(dot - figure->file), figure->file);
        return;
    }
    snprintf(name, EXI_FIGURE_NAME, "%s-%s", paper->id, figure->number);
    for (char *at = name; *at; at++)
        *at = *at == ' ' ? '-' : *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
}

static char *note_path(const exi_figures *f, const char *name) {
    return exi_path_inside(f->folder, name, ".figure");
}

ex_result exi_figures_note_write(const exi_figures *f, const char *name, const exi_figure_result *r) {
    char *path = note_path(f, name);
    ex_file_writer w;
    ex_result result = path ? ex_file_open(&w, path, f->error) : ex_error_memory(f->error, "a path", 0);
    if (result == EX_OK) {
        ex_file_printf(&w, "exemplar figure\t%s\t%s\tcell %d\t%d x %d\n", name, ex_version().text, f->cell, r->width,
                       r->height);
        for (int i = 0; i < r->fact_count; i++)
            ex_file_printf(&w, "%s\t%s\t%s\n", r->facts[i].what, r->facts[i].theirs, r->facts[i].ours);
        result = ex_file_commit(&w, f->error);
    }
    free(path);
    return result;
}

/* Takes a field up to a tab, or up to the end of its line; false if it is not there or too long. */
static bool take(char **at, char end, char *field, size_t size) {
    const size_t length = strcspn(*at, "\t\n");
    if ((*at)[length] != end || length >= size)
        return false;
    memcpy(field, *at, length);
    field[length] = '\0';
    *at += length + 1;
    return true;
}

static ex_result parse(const exi_figures *f, const char *path, const char *name, char *at, exi_figure_result *r) {
    char head[32], found[EXI_FIGURE_NAME], version[32], cell[32], size[48], own[32];
    snprintf(own, sizeof own, "cell %d", f->cell);
    bool good = take(&at, '\t', head, sizeof head) && strcmp(head, "exemplar figure") == 0 &&
                take(&at, '\t', found, sizeof found) && strcmp(found, name) == 0 &&
                take(&at, '\t', version, sizeof version) && take(&at, '\t', cell, sizeof cell) &&
                take(&at, '\n', size, sizeof size) && sscanf(size, "%9d x %9d", &r->width, &r->height) == 2;
    if (good && (strcmp(version, ex_version().text) != 0 || strcmp(cell, own) != 0))
        return ex_error_set(f->error, EX_ERROR_DATA,
                            "'%s' is of version %s with %s, and this is %s with %s: make it again with --only %s", path,
                            version, cell, ex_version().text, own, name);
    while (good && *at && r->fact_count < EXI_FACT_MAX) {
        exi_fact *fact = &r->facts[r->fact_count++];
        good = take(&at, '\t', fact->what, sizeof fact->what) && take(&at, '\t', fact->theirs, sizeof fact->theirs) &&
               take(&at, '\n', fact->ours, sizeof fact->ours);
    }
    if (!good || *at)
        return ex_error_set(f->error, EX_ERROR_DATA, "'%s' is no note of a figure: make it again with --only %s", path,
                            name);
    r->made = true;
    return EX_OK;
}

ex_result exi_figures_note_read(const exi_figures *f, const char *name, const exi_figure *figure,
                                exi_figure_result *r) {
    char *path = note_path(f, name), *text = NULL;
    char *picture = figure->file ? exi_path_inside(f->folder, figure->file, "") : NULL;
    size_t size = 0;
    ex_result result = EX_OK;
    if (!path || (figure->file && !picture))
        result = ex_error_memory(f->error, "a path", 0);
    else if (!exi_file_exists(path) || (picture && !exi_file_exists(picture)))
        result = ex_error_set(f->error, EX_ERROR_FILE, "'%s' is missing: 'exemplar figures --only %s' makes it",
                              exi_file_exists(path) ? picture : path, name);
    else
        result = ex_file_read(path, &text, &size, f->error);
    if (result == EX_OK)
        result = parse(f, path, name, text, r);
    free(text);
    free(picture);
    free(path);
    return result;
}
