/*
 * cli/edit/edit_beside.c - the rig that an earlier build wrote beside the project, for the page's first picture: only
 * if no file that it is made from has changed since, and its layers are the project's.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/base/encode.h"
#include "cli/base/files.h"
#include "cli/base/named.h"
#include "edit.h"

#include <exemplar/author/cache.h>
#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_after(struct timespec a, struct timespec b) {
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

typedef struct older {
    const char *project;
    const struct stat *than;
} older;

/* True if a file's contents are no newer than those of the rig, and it was not put there after the rig: a file that
 * takes another's place keeps the time of its contents. */
static bool is_older(const char *path, const struct stat *than) {
    struct stat file, link;
    return stat(path, &file) == 0 && lstat(path, &link) == 0 && !is_after(file.st_mtim, than->st_mtim) &&
           !is_after(file.st_ctim, than->st_ctim) && !is_after(link.st_ctim, than->st_ctim);
}

/* A .gltf file has its numbers and images in other files, so it is never older. */
static bool visit_older(void *user, const char *path, const char *where) {
    const older *o = user;
    char *whole = ex_path_join(o->project, path);
    (void)where;
    if (whole)
        whole[ex_cache_file_length(whole)] = '\0';
    const bool good = whole && !ex_path_ends_with(whole, ".gltf") && is_older(whole, o->than);
    free(whole);
    return good;
}

/* True if a layer of the rig has the axes and the examples of the project's, by name and in their order. */
static bool is_layer_of(const ex_rig *rig, int l, const ex_project_layer *layer) {
    const ex_weigher *weigher = ex_rig_weigher(rig, l);
    bool same = strcmp(ex_rig_layer_name(rig, l), layer->name) == 0 &&
                ex_weigher_example_count(weigher) == layer->example_count &&
                ex_weigher_axis_count(weigher) == layer->axis_count;
    for (int k = 0; same && k < layer->example_count; k++)
        same = strcmp(ex_rig_example_name(rig, l, k), layer->examples[k].name) == 0;
    for (int i = 0; same && i < layer->axis_count; i++)
        same = strcmp(ex_rig_input_name(rig, ex_rig_layer_input(rig, l, i)), layer->axes[i].name) == 0;
    return same;
}

static bool is_of(const ex_rig *rig, const ex_project_view *view) {
    bool same = ex_rig_layer_count(rig) == view->layer_count;
    for (int l = 0; same && l < view->layer_count; l++)
        same = is_layer_of(rig, l, &view->layers[l]);
    return same;
}

static ex_rig *find(const exi_edit *edit, const ex_project_view *view) {
    struct stat status;
    ex_rig *rig = NULL;
    char *path = exi_path_with_ending(edit->path, ".glb");
    if (path && stat(path, &status) == 0 && S_ISREG(status.st_mode) && is_older(edit->path, &status) &&
        exi_named_files(view, false, visit_older, &(older){edit->path, &status}) &&
        ex_rig_read(path, NULL, &rig, NULL) == EX_OK && !is_of(rig, view)) {
        ex_rig_destroy(rig);
        rig = NULL;
    }
    free(path);
    return rig;
}

/* Of the project on disk: the page asks before it knows the text, and compares versions. */
void exi_edit_get_beside(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    ex_error error = {.result = EX_OK};
    char version[EXI_VERSION_SIZE], *bytes = NULL;
    size_t size = 0;
    exi_reply reply;
    (void)asked;
    ex_project *project = exi_edit_stored(edit, version);
    ex_rig *rig = project ? find(edit, ex_project_get(project)) : NULL;
    if (rig)
        exi_rig_encode_bare(rig, &bytes, &size, &error);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
    if (exi_reply_start(&reply, answer, 200)) {
        exi_emit_text(&reply.json, "version", bytes ? version : NULL);
        exi_reply_end(&reply);
    }
    answer->framed = answer->status == 200;
    answer->bytes = answer->owned = bytes;
    answer->size = size;
}
