/* cli/base/keep.c - keeps a project that a command is about to replace as a whole, for 'exemplar undo'. */
#include "keep.h"

#include "files.h"
#include "named.h"

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

/* Names of files, which belong to a project. */
typedef struct names {
    const char **list;
    int count, room;
    bool failed;
} names;

/* Files elsewhere are not replaced with the project. */
static bool is_inside(const char *path) {
    return path[0] != '/' && strncmp(path, "../", 3) != 0 && !strstr(path, "/../");
}

static bool add_name(void *user, const char *path, const char *where) {
    names *n = user;
    (void)where;
    for (int i = 0; i < n->count; i++)
        if (strcmp(n->list[i], path) == 0)
            return true;
    if (!is_inside(path))
        return true;
    if (n->count == n->room) {
        const char **more = realloc((void *)n->list, (size_t)(n->room = 2 * n->room + 16) * sizeof *more);
        n->failed = !more;
        if (!more)
            return false;
        n->list = more;
    }
    n->list[n->count++] = path;
    return true;
}

ex_result exi_keep_project(const char *directory, const char *name, const char *what, ex_history_kept **kept,
                           ex_error *error) {
    char *path = exi_path_inside(directory, name, ".json"), *bytes = NULL;
    size_t size = 0;
    names n = {.count = 0};
    ex_project *project = NULL;
    *kept = NULL;
    ex_result result = path ? EX_OK : ex_error_memory(error, "a path", 0);
    if (result == EX_OK && exi_file_exists(path))
        result = ex_file_read(path, &bytes, &size, error);
    if (result == EX_OK && bytes) {
        /* One that cannot be read is kept without its files, which are unknown. */
        if (ex_project_parse(bytes, size, path, &project, NULL) == EX_OK)
            exi_named_files(ex_project_get(project), true, add_name, &n);
        result = n.failed ? ex_error_memory(error, "the files", 0)
                          : ex_history_keep(&(ex_history_change){.path = path,
                                                                 .what = what,
                                                                 .bytes = bytes,
                                                                 .size = size,
                                                                 .files = n.list,
                                                                 .file_count = n.count},
                                            kept, error);
    }
    ex_project_destroy(project);
    free((void *)n.list);
    free(bytes);
    free(path);
    return result;
}

void exi_keep_end(ex_history_kept *kept, ex_result result) {
    if (result == EX_OK)
        ex_history_commit(kept);
    else
        ex_history_abandon(kept);
}
