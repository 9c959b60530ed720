/* cli/edit/edit_open.c - opens and closes the state that the editor's requests share. */
#define _XOPEN_SOURCE 700

#include "cli/base/report.h"
#include "edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool no_memory(void) {
    exi_failed_memory();
    return false;
}

/* The folder that contains a path, with links resolved and a '/' at the end; NULL with errno set. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *part = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = part ? realpath(part, NULL) : NULL;
    const size_t size = real ? strlen(real) : 0;
    char *folder = real ? malloc(size + 2) : NULL;
    if (folder)
        snprintf(folder, size + 2, "%s%s", real, real[size - 1] == '/' ? "" : "/");
    free(real);
    free(part);
    return folder;
}

/* Paths of trajectories stay in the user's cache, $XDG_CACHE_HOME or ~/.cache: they can be found again at any time, so
 * they do not belong beside the project. */
static void keep_paths_in_cache(exi_edit *edit) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool given = cache && cache[0] == '/'; /* its specification says to ignore other values */
    char folder[1024];
    if (!edit->kept_paths || (!given && !(home && home[0] == '/')))
        return;
    const int size = given ? snprintf(folder, sizeof folder, "%s/exemplar/paths", cache)
                           : snprintf(folder, sizeof folder, "%s/.cache/exemplar/paths", home);
    if (size > 0 && (size_t)size < sizeof folder)
        ex_kept_paths_use_folder(edit->kept_paths, folder, 0);
}

bool exi_edit_open(exi_edit *edit, const ex_call *call, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    *edit = (exi_edit){.folder = folder_of(path)};
    pthread_mutex_init(&edit->writing, NULL);
    pthread_mutex_init(&edit->checking, NULL);
    pthread_mutex_init(&edit->building, NULL);
    pthread_mutex_init(&edit->progressing, NULL);
    if (!edit->folder && errno != ENOMEM) {
        exi_failed_text("cannot find the folder of '%s': %s", path, strerror(errno));
        return false;
    }
    const size_t size = edit->folder ? strlen(edit->folder) : 0;
    edit->path = edit->folder ? malloc(size + strlen(name) + 1) : NULL;
    if (!edit->path)
        return no_memory();
    strcpy(edit->path, edit->folder);
    edit->name = strcpy(edit->path + size, name);
    edit->pool = exi_pool_create(call->threads);
    edit->kept_paths = ex_kept_paths_create(0); /* without it, everything is only slower */
    keep_paths_in_cache(edit);
    return true;
}

static void remove_file(exi_sent *sent) {
    char folder[EXI_EDIT_SENT_SIZE];
    if (!atomic_exchange(&sent->is_there, false))
        return;
    snprintf(folder, sizeof folder, "%s", sent->path);
    *strrchr(folder, '/') = '\0';
    unlink(sent->path);
    rmdir(folder);
}

void exi_edit_remove_read(exi_edit *edit) {
    remove_file(&edit->sent);
}

void exi_edit_remove_sent(exi_edit *edit) {
    remove_file(&edit->sent);
    remove_file(&edit->cache);
}

void exi_edit_forget_motion(exi_edit *edit) {
    remove_file(&edit->cache);
    ex_motion_destroy(edit->motion);
    free(edit->driver_cache);
    free(edit->motion_source);
    edit->motion = NULL;
    edit->driver_cache = edit->motion_source = NULL;
}

void exi_edit_forget_rig(exi_edit *edit) {
    exi_edit_forget_motion(edit);
    ex_rig_destroy(edit->rig);
    ex_project_destroy(edit->project);
    free(edit->rig_bytes);
    edit->rig = NULL;
    edit->project = NULL;
    edit->rig_bytes = NULL;
    edit->rig_size = 0;
    edit->driver_count = 0;
}

void exi_edit_close(exi_edit *edit) {
    exi_edit_forget_dropped(edit);
    exi_edit_forget_rig(edit);
    exi_pool_destroy(edit->pool);
    ex_kept_paths_destroy(edit->kept_paths);
    pthread_mutex_destroy(&edit->writing);
    pthread_mutex_destroy(&edit->checking);
    pthread_mutex_destroy(&edit->building);
    pthread_mutex_destroy(&edit->progressing);
    free(edit->path);
    free(edit->folder);
}
