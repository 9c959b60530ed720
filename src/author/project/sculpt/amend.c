/*
 * Changes of a project that are made completely or not at all. The tree is changed in a copy, which is read and built
 * as if it came from a file; only then is the file replaced and the copy becomes the project's tree. Forms written on
 * the way are removed if anything fails. The previous file is kept as a version to undo (history.h), and next to it
 * with "~" after its name. A file that someone else has changed in the meantime is not replaced, since their change
 * would be lost.
 */
#define _POSIX_C_SOURCE 200809L

#include "author/base/array.h"
#include "author/base/file.h"
#include "author/base/json.h"
#include "author/project/sculpt/sculpt.h"
#include "runtime/base/text.h"

#include <exemplar/author/files.h>
#include <exemplar/author/history.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ex_result exi_amend_open(exi_amendment *a, ex_project *project, const ex_build_options *options, ex_error *error) {
    *a = (exi_amendment){.project = project, .options = options, .damped_layer = -1};
    if (!project->path[0])
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the project has no file yet: write it first");
    a->trial = (ex_project){.path = project->path, .root = json_deep_copy(project->root)};
    return a->trial.root ? EX_OK : ex_error_memory(error, "the project", 0);
}

static void forget_made(exi_amendment *a) {
    for (size_t i = 0; i < a->made_count; i++)
        free(a->made[i]);
    free(a->made);
    a->made = NULL;
    a->made_count = a->made_capacity = 0;
}

ex_result exi_amend_made(exi_amendment *a, char *path, ex_error *error) {
    char **made = exi_array_grow(a->made, &a->made_capacity, a->made_count + 1, sizeof *made);
    if (!made) {
        remove(path);
        free(path);
        return ex_error_memory(error, "a path", 0);
    }
    a->made = made;
    made[a->made_count++] = path;
    return EX_OK;
}

ex_result exi_amend_make_room(exi_amendment *a, const char *relative, char **path, ex_error *error) {
    struct stat there;
    *path = ex_path_join(a->trial.path, relative);
    char *folder = *path ? exi_text_copy(*path, strlen(*path)) : NULL;
    ex_result result = folder ? EX_OK : ex_error_memory(error, "a path", strlen(relative));
    if (result == EX_OK) {
        *strrchr(folder, '/') = 0;
        const bool existed = stat(folder, &there) == 0;
        result = ex_make_directory(folder, error);
        if (result == EX_OK && !existed) {
            result = exi_amend_made(a, folder, error);
            folder = NULL;
        }
    }
    free(folder);
    if (result == EX_OK)
        return EX_OK;
    free(*path);
    *path = NULL;
    return result;
}

void exi_amend_close(exi_amendment *a) {
    for (size_t i = a->made_count; i > 0; i--) /* files before their folders */
        remove(a->made[i - 1]);
    forget_made(a);
    free(a->wanted);
    ex_rig_destroy(a->rig);
    exi_arena_free(&a->trial.arena);
    json_decref(a->trial.root);
    json_decref(a->trial.stored);
    *a = (exi_amendment){0};
}

json_t *exi_amend_layer(const exi_amendment *a, int layer) {
    return json_array_get(json_object_get(a->trial.root, "layers"), (size_t)layer);
}

void exi_amend_note(const exi_amendment *a, const char *format, ...) {
    char text[EX_ERROR_SIZE];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (a->options && a->options->note)
        a->options->note(a->options->note_user, text);
}

ex_result exi_amend_read(exi_amendment *a, ex_error *error) {
    exi_arena_free(&a->trial.arena);
    a->trial.arena = (exi_arena){0};
    return exi_project_interpret(a->trial.root, a->trial.path, &a->trial.arena, &a->trial.view, error);
}

/* Counts the damped vertices of one example, and passes all of them on. */
static void count_damped(void *user, int layer, int example, const ex_damped *list, int count) {
    exi_amendment *a = user;
    const ex_damped_report *next = a->options ? a->options->damped : NULL;
    if (layer == a->damped_layer && example == a->damped_example)
        a->damped_count = count;
    if (next && next->report)
        next->report(next->user, layer, example, list, count);
}

ex_result exi_amend_build(exi_amendment *a, ex_error *error) {
    const ex_damped_report damped = {.report = count_damped, .user = a};
    ex_build_options options = a->options ? *a->options : (ex_build_options){0};
    options.damped = &damped;
    options.rig.without_levels = options.rig.without_tangents = options.rig.without_normals = true;
    a->damped_count = 0;
    ex_rig_destroy(a->rig);
    return ex_project_build(&a->trial, &options, &a->rig, error);
}

void exi_amend_name(exi_amendment *a, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(a->what, sizeof a->what, format, list);
    va_end(list);
    a->what[exi_text_cut(a->what, sizeof a->what - 1)] = '\0';
}

ex_result exi_amend_end(exi_amendment *a, ex_result result, ex_error *error) {
    if (result == EX_OK)
        result = exi_amend_read(a, error);
    if (result == EX_OK)
        result = exi_amend_build(a, error);
    if (result == EX_OK)
        result = exi_amend_save(a, error);
    exi_amend_close(a);
    return result;
}

/* ---- saving ---- */

/* Content of a file: its bytes, or none. */
typedef struct content {
    char *bytes; /* NULL if there is no file */
    size_t size;
} content;

static ex_result read_content(const char *path, content *c, ex_error *error) {
    *c = (content){0};
    return access(path, F_OK) == 0 ? ex_file_read(path, &c->bytes, &c->size, error) : EX_OK;
}

static ex_result write_content(const char *path, const content *c, ex_error *error) {
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, c->bytes, c->size);
    return ex_file_commit(&writer, error);
}

/* Fails unless the file still has the known content: as read, or as written since by ex_project_write. Compares trees,
 * so that writing the same in another way does no harm. */
static ex_result check_ours(const ex_project *project, const content *now, ex_error *error) {
    if (!project->stored || !now->bytes)
        return EX_OK;
    const size_t mark = now->size >= 3 && memcmp(now->bytes, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    json_t *tree = NULL;
    if (exi_json_load(now->bytes + mark, now->size - mark, &tree, NULL) == EX_ERROR_MEMORY)
        return ex_error_memory(error, "the project", now->size);
    const bool ours = json_equal(tree, project->stored) || json_equal(tree, project->root);
    json_decref(tree);
    if (ours)
        return EX_OK;
    return ex_error_set(error, EX_ERROR_DATA,
                        "'%s' was changed by another program in the meantime, and was left as it is: run this again",
                        project->path);
}

/* Keeps the file's content, if any, as a version and in `beside`; if the new content cannot be written, restores both.
 */
static ex_result replace_file(const exi_amendment *a, const char *beside, ex_error *error) {
    const ex_project *project = a->project;
    const char *path = project->path;
    ex_history_kept *kept = NULL;
    content now, before = {0};
    ex_result result = read_content(path, &now, error);
    if (result == EX_OK)
        result = check_ours(project, &now, error);
    if (result == EX_OK)
        result = read_content(beside, &before, error);
    if (result == EX_OK && now.bytes)
        result = ex_history_keep(
            &(ex_history_change){.path = path, .what = a->what, .bytes = now.bytes, .size = now.size}, &kept, error);
    if (result == EX_OK && now.bytes)
        result = ex_file_back_up(path, now.bytes, now.size, error);
    if (result == EX_OK) {
        result = exi_json_write(path, a->trial.root, error);
        if (result != EX_OK && now.bytes && !before.bytes)
            unlink(beside);
        else if (result != EX_OK && now.bytes)
            write_content(beside, &before, NULL);
    }
    if (result == EX_OK)
        ex_history_commit(kept);
    else
        ex_history_abandon(kept);
    free(now.bytes);
    free(before.bytes);
    return result;
}

ex_result exi_amend_save(exi_amendment *a, ex_error *error) {
    ex_project *project = a->project;
    char *beside = exi_file_backup_path(project->path);
    if (!beside)
        return ex_error_memory(error, "a path", strlen(project->path));
    const ex_result result = replace_file(a, beside, error);
    free(beside);
    if (result != EX_OK)
        return result;
    a->trial.stored = json_incref(a->trial.root);
    forget_made(a);
    const ex_project old = *project;
    *project = a->trial;
    a->trial = old;
    return EX_OK;
}
