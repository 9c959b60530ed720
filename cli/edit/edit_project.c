/*
 * cli/edit/edit_project.c - the edited project: its text and version, and saving it.
 *
 * A version is a checksum of the file's bytes. A save compares it and writes under the lock that other editors and
 * 'exemplar example' use, too. Whatever happens, the file is the old one or the new one (files.h). The old one is kept
 * as a version to undo, and as NAME~.
 */
#define _XOPEN_SOURCE 700

#include "cli/base/lock.h"
#include "cli/base/named.h"
#include "cli/base/report.h"
#include "edit.h"

#include <exemplar/author/cache.h>
#include <exemplar/author/files.h>
#include <exemplar/author/history.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Time that a save waits for another command. */
#define PATIENCE_SECONDS 5

/* ---- the file ---- */

typedef struct content {
    bool exists;
    char *bytes;
    size_t size;
    char version[EXI_VERSION_SIZE];
} content;

/* The version of a content: FNV-1a over its bytes, and their number. */
static void name_version(const char *bytes, size_t size, char version[EXI_VERSION_SIZE]) {
    unsigned long long hash = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
    snprintf(version, EXI_VERSION_SIZE, "%016llx-%zx", hash, size);
}

/* Reads the present file; a missing file is not an error. */
static ex_result read_content(const exi_edit *edit, content *c, ex_error *error) {
    struct stat status;
    *c = (content){.exists = false};
    if (stat(edit->path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR ? EX_OK : ex_file_error(error, "read", edit->path, errno);
    c->exists = true;
    if (S_ISREG(status.st_mode)) {
        const ex_result result = ex_file_read(edit->path, &c->bytes, &c->size, error);
        if (result == EX_OK)
            name_version(c->bytes, c->size, c->version);
        return result;
    }
    error->result = EX_ERROR_FILE;
    snprintf(error->text, sizeof error->text, "'%s' is no longer a file", edit->name);
    return EX_ERROR_FILE;
}

static const char *version_of(const content *c) {
    return c->exists ? c->version : NULL;
}

ex_project *exi_edit_stored(const exi_edit *edit, char version[EXI_VERSION_SIZE]) {
    ex_project *project = NULL;
    content c;
    if (read_content(edit, &c, &(ex_error){.result = EX_OK}) == EX_OK && c.bytes)
        ex_project_parse(c.bytes, c.size, edit->path, &project, NULL);
    memcpy(version, c.version, EXI_VERSION_SIZE);
    free(c.bytes);
    return project;
}

/* ---- files that a project may name ---- */

static bool is_inside(const exi_edit *edit, const char *path) {
    return strncmp(path, edit->folder, strlen(edit->folder)) == 0;
}

/* True if a dangling path could only lead into the folder. */
static bool stays_inside(const char *relative) {
    if (relative[0] == '/')
        return false;
    for (const char *part = relative; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

/* The project on disk, read when the first file outside the folder is met. */
typedef struct confinement {
    const exi_edit *edit;
    ex_error *error;
    bool looked;
    ex_project *stored; /* NULL if there is none */
} confinement;

static const ex_project_view *stored_view(confinement *c) {
    char version[EXI_VERSION_SIZE];
    if (!c->looked)
        c->stored = exi_edit_stored(c->edit, version);
    c->looked = true;
    return c->stored ? ex_project_get(c->stored) : NULL;
}

/* Search for a file outside the folder among those that a project names. */
typedef struct search {
    const exi_edit *edit;
    const char *relative, *real; /* real: NULL if the link dangles */
    bool found;
} search;

static bool compare_names(void *user, const char *path, const char *where) {
    search *s = user;
    (void)where;
    s->found = strcmp(path, s->relative) == 0;
    return !s->found;
}

/* Returns the path of a named file without links, NULL if there is none; without the name of a mesh in the file. */
static char *find_real(const exi_edit *edit, const char *relative) {
    char *joined = ex_path_join(edit->path, relative);
    if (joined)
        joined[ex_cache_file_length(joined)] = '\0';
    char *real = joined ? realpath(joined, NULL) : NULL;
    free(joined);
    return real;
}

static bool compare_files(void *user, const char *path, const char *where) {
    search *s = user;
    (void)where;
    char *real = find_real(s->edit, path);
    s->found = real && strcmp(real, s->real) == 0;
    free(real);
    return !s->found;
}

/* Compares names first, without access to the disk: a project may name hundreds of files outside its folder. */
static bool is_named_on_disk(confinement *c, const char *relative, const char *real) {
    search s = {.edit = c->edit, .relative = relative, .real = real};
    const ex_project_view *view = stored_view(c);
    if (view)
        exi_named_files(view, true, compare_names, &s);
    if (view && real && !s.found)
        exi_named_files(view, true, compare_files, &s);
    return s.found;
}

/* False after an error. */
static bool may_read(confinement *c, const char *relative) {
    struct stat status;
    char *real = find_real(c->edit, relative);
    const bool inside = real ? is_inside(c->edit, real) : stays_inside(relative);
    bool may = inside || is_named_on_disk(c, relative, real);
    if (!may) {
        ex_error_set(c->error, EX_ERROR_FILE,
                     "'%.200s' is not in the project's folder: the editor opens only files that the project named when "
                     "it was last saved",
                     relative);
    } else if (real && stat(real, &status) == 0 && !S_ISREG(status.st_mode)) { /* reading a pipe would never end */
        may = false;
        ex_error_set(c->error, EX_ERROR_FILE, "'%.200s' is not a file", relative);
    }
    free(real);
    return may;
}

bool exi_edit_may_read(const exi_edit *edit, const char *relative, ex_error *error) {
    confinement c = {.edit = edit, .error = error};
    const bool may = may_read(&c, relative);
    ex_project_destroy(c.stored);
    return may;
}

static bool confine(void *user, const char *path, const char *where) {
    confinement *c = user;
    if (may_read(c, path))
        return true;
    ex_error_within(c->error, EX_ERROR_FILE, "%s", where);
    return false;
}

ex_project *exi_edit_parse(const exi_edit *edit, const exi_asked *asked, ex_error *error) {
    ex_project *project = NULL;
    if (ex_project_parse(asked->body, asked->size, edit->path, &project, error) != EX_OK)
        return NULL;
    confinement c = {.edit = edit, .error = error};
    if (!exi_named_files(ex_project_get(project), true, confine, &c)) {
        ex_project_destroy(project);
        project = NULL;
    }
    ex_project_destroy(c.stored);
    return project;
}

/* ---- reading ---- */

void exi_edit_get_project(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    (void)asked;
    content c;
    exi_reply reply;
    ex_project *project = NULL;
    ex_error error = {.result = EX_OK};
    exi_fault fault = {.text = ""};
    ex_result result = read_content(edit, &c, &error);
    const bool empty = result == EX_OK && !c.exists && atomic_load(&edit->starts);
    if (result == EX_OK && !c.exists && !empty) {
        result = error.result = EX_ERROR_FILE;
        snprintf(error.text, sizeof error.text, "'%s' is gone: was it moved or deleted?", edit->name);
    }
    if (result == EX_OK && !empty)
        result = ex_project_parse(c.bytes, c.size, edit->path, &project, &error);
    if (result != EX_OK)
        fault = exi_fault_of(edit, &error, NULL);
    if (exi_reply_start(&reply, answer, 200)) {
        exi_emit_text(&reply.json, "name", edit->name);
        exi_emit_text(&reply.json, "text", c.bytes ? c.bytes : "");
        exi_emit_text(&reply.json, "version", c.version[0] ? c.version : NULL);
        exi_emit_text(&reply.json, "error", result == EX_OK ? NULL : fault.text);
        exi_emit_text(&reply.json, "where", fault.where[0] ? fault.where : NULL);
        if (empty)
            exi_emit_bool(&reply.json, "empty", true);
        exi_reply_end(&reply);
    }
    ex_project_destroy(project);
    free(c.bytes);
}

static void answer_version(exi_answer *answer, int status, const char *refusal, const char *version) {
    exi_reply reply;
    if (!exi_reply_start(&reply, answer, status))
        return;
    if (refusal)
        exi_emit_text(&reply.json, "error", refusal);
    exi_emit_text(&reply.json, "version", version);
    exi_reply_end(&reply);
}

void exi_edit_get_version(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    (void)asked;
    content c;
    ex_error error = {.result = EX_OK};
    if (read_content(edit, &c, &error) == EX_OK)
        answer_version(answer, 200, NULL, version_of(&c));
    else
        exi_refuse_error(edit, answer, 500, &error, NULL);
    free(c.bytes);
}

/* ---- saving ---- */

static ex_result save(const exi_edit *edit, const content *old, const exi_asked *asked, ex_error *error) {
    struct stat status;
    ex_file_writer writer;
    ex_history_kept *kept = NULL;
    if (!old->exists && lstat(edit->path, &status) == 0) /* a dangling link */
        return ex_file_error(error, "write", edit->path, ENOENT);
    ex_result result = ex_file_open(&writer, edit->path, error);
    if (result != EX_OK)
        return result;
    if (old->exists)
        result = ex_history_keep(
            &(ex_history_change){
                .path = edit->path, .what = "saved in the editor", .bytes = old->bytes, .size = old->size},
            &kept, error);
    if (result == EX_OK && old->exists)
        result = ex_file_back_up(edit->path, old->bytes, old->size, error);
    if (result == EX_OK) {
        ex_file_write(&writer, asked->body, asked->size);
        result = ex_file_commit(&writer, error);
    } else {
        ex_file_abandon(&writer);
    }
    if (result == EX_OK)
        ex_history_commit(kept);
    else
        ex_history_abandon(kept);
    return result;
}

/* True if a header names that version; quotes around it are fine. */
static bool matches(const char *header, const char *version) {
    const size_t size = version ? strlen(version) : 0;
    if (strcmp(header, "*") == 0)
        return true;
    header += header[0] == '"';
    return version && strncmp(header, version, size) == 0 && (!header[size] || strcmp(header + size, "\"") == 0);
}

/* With the folder locked. */
static void put(const exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    content old, new;
    ex_error error = {.result = EX_OK};
    ex_result result = read_content(edit, &old, &error);
    const bool same = result == EX_OK && matches(asked->if_match, version_of(&old));
    /* A file with the same bytes is not rewritten, so that NAME~ stays the version before. */
    const bool there = same && old.exists && old.size == asked->size && memcmp(old.bytes, asked->body, old.size) == 0;
    if (same && !there)
        result = save(edit, &old, asked, &error);
    if (result != EX_OK) {
        exi_refuse_error(edit, answer, 500, &error, NULL);
    } else if (!same) {
        answer_version(answer, 409,
                       old.exists ? "another program has changed the project since it was opened here"
                                  : "the project's file is gone: another program has moved or deleted it",
                       version_of(&old));
    } else {
        new = (content){.exists = true};
        name_version(asked->body, asked->size, new.version);
        answer_version(answer, 200, NULL, new.version);
    }
    free(old.bytes);
}

void exi_edit_put_project(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    ex_error error = {.result = EX_OK};
    if (!asked->if_match) {
        exi_refuse(answer, 428, "If-Match is required: it names the version of the project that this one follows");
        return;
    }
    ex_project *project = exi_edit_parse(edit, asked, &error);
    if (!project) {
        exi_refuse_error(edit, answer, error.result == EX_ERROR_FILE ? 403 : 422, &error, NULL);
        return;
    }
    ex_project_destroy(project);
    pthread_mutex_lock(&edit->writing);
    int lock;
    if (exi_lock_folder_soon(edit->path, PATIENCE_SECONDS, &lock))
        put(edit, asked, answer);
    else
        exi_refuse(answer, 503, "another command is changing a project in this folder: save again when it has ended");
    exi_lock_release(lock);
    pthread_mutex_unlock(&edit->writing);
}
