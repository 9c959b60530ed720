/*
 * cli/edit/edit_files.c - puts files dropped on the editor next to the project.
 *
 * A file is written under a temporary name and then linked to its final name, which fails if that name exists: nothing
 * is ever overwritten, and no link is followed.
 */
#define _GNU_SOURCE

#include "cli/base/report.h"
#include "edit.h"

#include <exemplar/author/files.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS        10000
#define TEMPORARY_START ".exemplar-edit."
#define STALE_SECONDS   3600

/* ---- names ---- */

bool exi_edit_check_name(const char *name, exi_answer *answer) {
    const char *why = NULL;
    if (!name[0])
        why = "is empty";
    else if (strlen(name) > EXI_EDIT_NAME_MOST)
        why = "is too long";
    else if (!exi_is_readable(name))
        why = "is not readable text";
    else if (strpbrk(name, "/\\"))
        why = "has a slash: files go into the project's own folder";
    else if (name[0] == '.')
        why = "begins with a dot";
    if (why)
        exi_refuse(answer, 400, "the name '%.60s' cannot be used: it %s", exi_is_readable(name) ? name : "", why);
    return !why;
}

bool exi_edit_asked_name(const exi_asked *asked, const char *key, char name[EXI_EDIT_NAME_SIZE], exi_answer *answer) {
    return exi_asked_needed(asked, key, name, EXI_EDIT_NAME_SIZE, answer) && exi_edit_check_name(name, answer);
}

/* ---- writing ---- */

static bool write_all(int file, const char *bytes, size_t size) {
    while (size > 0) {
        const ssize_t count = write(file, bytes, size);
        if (count < 0 && errno != EINTR)
            return false;
        bytes += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

bool exi_edit_write_temporary(int folder, const char *bytes, size_t size, int mode,
                              char name[EXI_EDIT_TEMPORARY_SIZE]) {
    unsigned long long number;
    if (getentropy(&number, sizeof number) != 0)
        return false;
    snprintf(name, EXI_EDIT_TEMPORARY_SIZE, TEMPORARY_START "%016llx", number);
    const int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode < 0 ? 0666 : 0600);
    if (file < 0)
        return false;
    bool good = write_all(file, bytes, size) && (mode < 0 || fchmod(file, (mode_t)mode) == 0) && fsync(file) == 0;
    int reason = errno;
    if (close(file) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (!good)
        unlinkat(folder, name, 0);
    errno = reason;
    return good;
}

void exi_edit_remove_stale(const exi_edit *edit) {
    DIR *folder = opendir(edit->folder);
    const time_t now = time(NULL);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat status;
        if (strncmp(entry->d_name, TEMPORARY_START, strlen(TEMPORARY_START)) == 0 &&
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode) &&
            now - status.st_mtime > STALE_SECONDS)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder)
        closedir(folder);
}

/* Gives the temporary file an unused name; false with errno EEXIST if the name is in use. */
static bool give_name(int folder, const char *temporary, const char *name) {
    if (linkat(folder, temporary, folder, name, 0) == 0) {
        unlinkat(folder, temporary, 0);
        return true;
    }
    if (errno == EEXIST)
        return false;
    /* A file system without links: first reserve the name with an empty file. */
    const int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    close(file);
    return renameat(folder, temporary, folder, name) == 0;
}

/* Takes the first free name of NAME.ending, NAME-2.ending, … */
static bool give_free_name(int folder, const char *temporary, const char *stem, const char *ending,
                           char path[EXI_EDIT_PATH_SIZE]) {
    for (int i = 1; i < ATTEMPTS; i++) {
        if (i == 1)
            snprintf(path, EXI_EDIT_PATH_SIZE, "%s%s", stem, ending);
        else
            snprintf(path, EXI_EDIT_PATH_SIZE, "%s-%d%s", stem, i, ending);
        if (give_name(folder, temporary, path))
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool add(int folder, const char *stem, const char *ending, const char *bytes, size_t size,
                char path[EXI_EDIT_PATH_SIZE]) {
    char temporary[EXI_EDIT_TEMPORARY_SIZE];
    if (!exi_edit_write_temporary(folder, bytes, size, -1, temporary))
        return false;
    const bool good = give_free_name(folder, temporary, stem, ending, path);
    const int reason = errno;
    if (good)
        fsync(folder); /* not possible on some file systems; the file is complete either way */
    else
        unlinkat(folder, temporary, 0);
    errno = reason;
    return good;
}

void exi_edit_add_file(exi_edit *edit, const char *stem, const char *ending, const char *bytes, size_t size,
                       exi_answer *answer) {
    char path[EXI_EDIT_PATH_SIZE];
    exi_reply reply;
    ex_error error = {.result = EX_OK};
    pthread_mutex_lock(&edit->writing);
    const int folder = open(edit->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = folder >= 0 && add(folder, stem, ending, bytes, size, path);
    const int reason = errno;
    if (folder >= 0)
        close(folder);
    pthread_mutex_unlock(&edit->writing);
    if (!good) {
        snprintf(path, sizeof path, "%s%s", stem, ending);
        ex_file_error(&error, "write", path, reason);
        exi_refuse_error(edit, answer, 500, &error, NULL);
    } else if (exi_reply_start(&reply, answer, 200)) {
        exi_emit_text(&reply.json, "path", path);
        exi_reply_end(&reply);
    }
}

/* ---- dropped files ---- */

static ex_result parse_scene(const exi_asked *asked, const char *name, ex_error *error) {
    ex_scene *scene = NULL;
    ex_result result = ex_scene_parse(asked->body, asked->size, name, false, &scene, error);
    for (int i = 0; result == EX_OK && i < scene->image_count; i++)
        if (scene->images[i].path)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "%s: it needs '%.100s' beside it: export it as .glb, which holds everything", name,
                                  scene->images[i].path);
    ex_scene_destroy(scene);
    return result;
}

/* Checks that the file can be read, by its ending; opens nothing else. */
static ex_result parse_file(const exi_asked *asked, const char *name, ex_error *error) {
    ex_mesh *mesh = NULL;
    ex_image *image = NULL;
    ex_result result;
    if (ex_path_ends_with(name, ".obj"))
        result = ex_obj_parse(asked->body, asked->size, name, &mesh, error);
    else if (ex_path_ends_with(name, ".ply"))
        result = ex_ply_parse(asked->body, asked->size, name, &mesh, error);
    else if (ex_path_ends_with(name, ".png"))
        result = ex_image_parse(asked->body, asked->size, name, &image, error);
    else
        result = parse_scene(asked, name, error);
    ex_mesh_destroy(mesh);
    ex_image_destroy(image);
    return result;
}

void exi_edit_post_file(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    static const char *const endings[] = {".obj", ".ply", ".glb", ".gltf", ".png"};
    char name[EXI_EDIT_NAME_SIZE];
    ex_error error = {.result = EX_OK};
    bool known = false;
    if (!exi_edit_asked_name(asked, "name", name, answer))
        return;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        known = known || ex_path_ends_with(name, endings[i]);
    char *dot = strrchr(name, '.');
    if (!known || !dot || dot == name) {
        ex_mesh *mesh = NULL;
        ex_obj_parse(asked->body, asked->size, name, &mesh, &error);
        ex_mesh_destroy(mesh);
        if (exi_is_foreign(&error)) {
            exi_refuse_error(edit, answer, 415, &error, NULL);
            return;
        }
        exi_refuse(answer, 415, "'%s' is not a file that a project can use: .obj, .ply, .glb, .gltf or .png is needed",
                   name);
        return;
    }
    if (parse_file(asked, name, &error) != EX_OK) {
        exi_refuse_error(edit, answer, 422, &error, NULL);
        return;
    }
    char ending[8];
    snprintf(ending, sizeof ending, "%s", dot);
    *dot = '\0';
    exi_edit_add_file(edit, name, ending, asked->body, asked->size, answer);
}
