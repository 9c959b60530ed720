/* cli/base/files.c - detects file kinds by content, checks output paths, and removes folders after a failure. */
#define _POSIX_C_SOURCE 200809L

#include "files.h"

#include "interrupt.h"
#include "report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_ending(const char *path, const char *ending) {
    size_t length = strlen(path), tail = strlen(ending);
    return length >= tail && strcasecmp(path + length - tail, ending) == 0;
}

static exi_file_kind kind_by_name(const char *path) {
    static const struct {
        const char *ending;
        exi_file_kind kind;
    } kinds[] = {{".json", EXI_FILE_PROJECT}, {".glb", EXI_FILE_RIG},    {".gltf", EXI_FILE_SCENE},
                 {".obj", EXI_FILE_FORM},     {".ply", EXI_FILE_FORM},   {".off", EXI_FILE_FORM},
                 {".png", EXI_FILE_IMAGE},    {".bvh", EXI_FILE_CLIP},   {".pc2", EXI_FILE_CACHE},
                 {".mdd", EXI_FILE_CACHE},    {".c3d", EXI_FILE_C3D},    {".trc", EXI_FILE_TRC},
                 {".jpg", EXI_FILE_IMAGE},    {".jpeg", EXI_FILE_IMAGE}, {".abc", EXI_FILE_CACHE}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (has_ending(path, kinds[i].ending))
            return kinds[i].kind;
    return EXI_FILE_UNKNOWN;
}

/* Reads up to `size` bytes; returns how many. Without a FILE, whose buffer would need memory. */
static size_t read_some(int file, void *bytes, size_t size) {
    size_t used = 0;
    for (ssize_t count = 1; used < size && count != 0; used += count > 0 ? (size_t)count : 0)
        if ((count = read(file, (char *)bytes + used, size - used)) < 0 && errno != EINTR)
            break;
    return used;
}

/* True if the JSON part of a .glb, of which the first 20 bytes have been read, names the extension that makes it a rig.
 * Also true for files rearranged by another program, and for a part that is cut short: reading them then reports
 * that. */
static bool names_rig(int file, const unsigned char start[20]) {
    static const char word[] = "\"EXEMPLAR_rig\"";
    size_t left = start[12] | (size_t)start[13] << 8 | (size_t)start[14] << 16 | (size_t)start[15] << 24, matched = 0;
    char bytes[4096];
    while (left > 0) {
        const size_t wanted = left < sizeof bytes ? left : sizeof bytes;
        if (read_some(file, bytes, wanted) < wanted)
            return true;
        left -= wanted;
        for (size_t i = 0; i < wanted; i++) {
            /* No character of the word but the first is a quote, so a failed match can restart only there. */
            matched = bytes[i] == word[matched] ? matched + 1 : bytes[i] == word[0] ? 1 : 0;
            if (word[matched] == '\0')
                return true;
        }
    }
    return false;
}

static exi_file_kind kind_by_content(const char *path, int file) {
    unsigned char start[257] = {0};
    size_t size = read_some(file, start, 20);
    if (size >= 4 && memcmp(start, "glTF", 4) == 0)
        return size < 20 || names_rig(file, start) ? EXI_FILE_RIG : EXI_FILE_SCENE;
    if (size >= 4 && (memcmp(start, "\x89PNG", 4) == 0 || memcmp(start, "\xFF\xD8\xFF", 3) == 0))
        return EXI_FILE_IMAGE;
    if (size >= 4 && memcmp(start, "ply", 3) == 0 && (start[3] == '\n' || start[3] == '\r'))
        return EXI_FILE_FORM;
    if (size >= 11 && memcmp(start, "POINTCACHE2", 11) == 0)
        return EXI_FILE_CACHE;
    if (size >= 5 && memcmp(start, "Ogawa", 5) == 0 && has_ending(path, ".abc"))
        return EXI_FILE_CACHE;
    if (size >= 9 && strncasecmp((const char *)start, "HIERARCHY", 9) == 0)
        return EXI_FILE_CLIP;
    if (size >= 12 && memcmp(start, "PathFileType", 12) == 0)
        return EXI_FILE_TRC;
    if (size >= 20 && start[0] > 0 && start[0] < ' ' && start[1] == 0x50)
        return EXI_FILE_C3D; /* no text begins with this character */
    size += read_some(file, start + size, sizeof start - 1 - size);
    start[size] = 0;
    if (start[strspn((const char *)start, " \t\r\n")] == '{')
        return has_ending(path, ".gltf") ? EXI_FILE_SCENE : EXI_FILE_PROJECT;
    return kind_by_name(path);
}

exi_file_kind exi_file_kind_of(const char *path) {
    struct stat status;
    if (ex_cache_kind_of(path) == EX_CACHE_ABC && !has_ending(path, ".abc"))
        return EXI_FILE_CACHE; /* a mesh in a file: FILE.abc:/NAME */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return EXI_FILE_UNKNOWN;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return EXI_FILE_UNKNOWN;
    exi_file_kind kind = kind_by_content(path, file);
    close(file);
    return kind;
}

const char *exi_file_kind_name(exi_file_kind kind) {
    static const char *const names[] = {[EXI_FILE_UNKNOWN] = "of unknown kind",
                                        [EXI_FILE_PROJECT] = "a project",
                                        [EXI_FILE_RIG] = "a rig",
                                        [EXI_FILE_SCENE] = "a glTF file",
                                        [EXI_FILE_FORM] = "a form",
                                        [EXI_FILE_IMAGE] = "an image",
                                        [EXI_FILE_CLIP] = "a motion",
                                        [EXI_FILE_CACHE] = "a point cache",
                                        [EXI_FILE_C3D] = "markers over time",
                                        [EXI_FILE_TRC] = "markers over time"};
    return names[kind];
}

bool exi_file_begins_with(const char *path, const char *text) {
    char start[16];
    const size_t size = strlen(text);
    const int file = size <= sizeof start ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const bool is = file >= 0 && read_some(file, start, size) == size && memcmp(start, text, size) == 0;
    if (file >= 0)
        close(file);
    return is;
}

/* True if a .glb has fewer bytes than it says, so that its kind may be misjudged. */
static bool is_cut_short(const char *path) {
    unsigned char start[12] = {0};
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const bool whole = file >= 0 && read_some(file, start, sizeof start) == sizeof start;
    if (file >= 0)
        close(file);
    const double length = (double)start[8] + 256.0 * start[9] + 65536.0 * start[10] + 16777216.0 * start[11];
    return !whole || length > exi_file_size(path);
}

/* True if a text names its version as project files do, among its first keys; a session of scans and a fit do not. */
static bool is_project(const char *path) {
    char start[4096] = {0};
    const int file = has_ending(path, ".json") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file < 0)
        return false;
    const size_t size = read_some(file, start, sizeof start - 1);
    close(file);
    return size > 0 && strstr(start, "\"exemplar\"");
}

char *exi_folder_project(const char *path) {
    DIR *folder = opendir(path);
    char *found = NULL;
    int count = 0;
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry && count < 2; entry = readdir(folder)) {
        char *file = entry->d_name[0] == '.' ? NULL : exi_path_inside(path, entry->d_name, "");
        if (file && exi_file_kind_of(file) == EXI_FILE_PROJECT && is_project(file) && count++ == 0)
            found = file;
        else
            free(file);
    }
    if (folder)
        closedir(folder);
    if (count == 1)
        return found;
    free(found);
    return NULL;
}

/* Names the project or the rig that was meant by a folder, and tells how to make a rig that is missing. False if there
 * is nothing to say. */
static bool explain_place(const char *path, exi_file_kind expected) {
    const bool rig = expected == EXI_FILE_RIG, folder = exi_file_is_folder(path);
    if ((!rig && expected != EXI_FILE_PROJECT) ||
        (!folder && (!rig || !has_ending(path, ".glb") || exi_file_exists(path))))
        return false;
    char *project = folder ? exi_folder_project(path) : exi_path_with_ending(path, ".json");
    char *built = project ? exi_path_with_ending(project, ".glb") : NULL;
    const bool known = built && (folder || is_project(project));
    if (known && !folder)
        exi_failed_text("'%s' is not built yet: 'exemplar build %s' makes it", path, project);
    else if (known && rig && exi_file_exists(built))
        exi_failed_text("'%s' is a folder: its rig is '%s'", path, built);
    else if (known && rig)
        exi_failed_text("'%s' is a folder: its project is '%s', and 'exemplar build %s' makes the rig", path, project,
                        project);
    else if (known)
        exi_failed_text("'%s' is a folder: its project is '%s'", path, project);
    free(project);
    free(built);
    return known;
}

bool exi_expect_kind(const char *path, exi_file_kind expected) {
    exi_file_kind kind = exi_file_kind_of(path);
    if (kind == EXI_FILE_UNKNOWN)
        return !explain_place(path, expected);
    if (kind == expected || (kind == EXI_FILE_RIG && (!exi_file_begins_with(path, "glTF") || is_cut_short(path))))
        return true; /* reading it says what is wrong */
    const char *is = exi_file_kind_name(kind), *other = exi_file_kind_name(expected);
    if (kind == EXI_FILE_RIG)
        exi_failed_text("'%s' is %s, not %s: 'exemplar unpack %s -o FOLDER' makes a project from it", path, is,
                        expected == EXI_FILE_SCENE ? "plain glTF" : other, path);
    else if (kind == EXI_FILE_SCENE)
        exi_failed_text("'%s' is %s, not %s: 'exemplar init %s' makes a project from it", path, is, other, path);
    else if (kind == EXI_FILE_PROJECT)
        exi_failed_text("'%s' is %s, not %s: 'exemplar build %s' makes a rig from it", path, is, other, path);
    else
        exi_failed_text("'%s' is %s, not %s: 'exemplar info %s' shows its content", path, is, other, path);
    return false;
}

bool exi_file_exists(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0;
}

bool exi_is_standard_output(const char *path) {
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

bool exi_file_is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* True for what every folder has, and for what a command left that was killed. */
static bool is_nothing(const char *name) {
    const size_t length = strlen(name);
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
           (strncmp(name, ".set.", 5) == 0 && length > 14 && strcmp(name + length - 9, ".exemplar") == 0);
}

bool exi_folder_is_empty(const char *path) {
    DIR *folder = opendir(path);
    if (!folder)
        return errno != ENOMEM && !exi_file_exists(path);
    int others = 0;
    for (struct dirent *entry = readdir(folder); entry && others == 0; entry = readdir(folder))
        others += !is_nothing(entry->d_name);
    closedir(folder);
    return others == 0;
}

double exi_file_size(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (double)status.st_size : 0;
}

/* True if the path ends in one of the endings, which are listed as people write them: ".obj, .ply or .glb". */
static bool has_one_of(const char *path, const char *endings) {
    char one[16];
    for (const char *at = strchr(endings, '.'); at; at = strchr(at + 1, '.')) {
        size_t length = strcspn(at, ", ");
        if (length >= sizeof one)
            continue;
        memcpy(one, at, length);
        one[length] = 0;
        if (has_ending(path, one))
            return true;
    }
    return false;
}

/* Starts the file that a result will become, and gives it up again: every reason not to write it shows up here. */
static bool can_be_written(const char *path, bool special) {
    ex_error error = {.result = EX_OK};
    ex_file_writer writer;
    if (special) {
        if (access(path, W_OK) == 0)
            return true;
        ex_file_error(&error, "write", path, errno);
    } else if (ex_file_open(&writer, path, &error) == EX_OK) {
        ex_file_abandon(&writer);
        return true;
    }
    exi_failed(&error);
    return false;
}

bool exi_output_writable(const char *path) {
    struct stat target;
    return can_be_written(path, stat(path, &target) == 0 && !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode));
}

/* Finds an input, which may be a mesh in a file: FILE.abc:/NAME. */
static bool stat_source(const char *path, struct stat *status) {
    if (stat(path, status) == 0)
        return true;
    char *file = strndup(path, ex_cache_file_length(path));
    const bool found = file && stat(file, status) == 0;
    free(file);
    return found;
}

bool exi_file_is_same(const char *path, const char *other) {
    struct stat a, b;
    return stat(path, &a) == 0 && stat_source(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool exi_output_check(const ex_command *command, const char *path, const char *endings, const char *source,
                      int *exit_code) {
    struct stat target;
    if (exi_is_standard_output(path))
        return true;
    const bool exists = stat(path, &target) == 0, folder = exists && S_ISDIR(target.st_mode);
    const bool special = exists && !S_ISREG(target.st_mode) && !folder;
    if (source && exi_file_is_same(path, source)) {
        *exit_code =
            exi_wrong_usage(command, "'%s' is also an input and would be overwritten: give another name", path);
        return false;
    }
    if (!folder && !special && !has_one_of(path, endings)) {
        *exit_code = exi_wrong_usage(command, "'%s' does not end in %s, the %s that can be written here", path, endings,
                                     strchr(endings, ' ') ? "kinds" : "only kind");
        return false;
    }
    if (!can_be_written(path, special)) {
        *exit_code = EX_EXIT_FAILED;
        return false;
    }
    return true;
}

int exi_failed_exists(const char *path, const char *what) {
    return exi_failed_text("'%s' exists already: give --force to overwrite it, or another %s with -o", path, what);
}

/* ---- paths ---- */

/* Start of the last component, and its length without the ending. */
static const char *last_component(const char *path, size_t *stem) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    *stem = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    return name;
}

/* The first `length` characters of a text, followed by another text. */
static char *joined(const char *text, size_t length, const char *more) {
    size_t tail = strlen(more);
    char *result = malloc(length + tail + 1);
    if (result) {
        memcpy(result, text, length);
        memcpy(result + length, more, tail + 1);
    }
    return result;
}

char *exi_path_with_ending(const char *path, const char *ending) {
    size_t stem;
    const char *name = last_component(path, &stem);
    return joined(path, (size_t)(name - path) + stem, ending);
}

char *exi_path_stem(const char *path) {
    size_t stem;
    const char *name = last_component(path, &stem);
    return joined(name, stem, "");
}

char *exi_path_inside(const char *folder, const char *name, const char *ending) {
    size_t length = strlen(folder);
    bool slash = length > 0 && folder[length - 1] != '/';
    size_t size = length + strlen(name) + strlen(ending) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s%s", folder, slash ? "/" : "", name, ending);
    return path;
}

/* ---- folders ---- */

/* Length of the path without its last component; 0 if there is only one. */
static size_t parent_length(const char *path, size_t length) {
    while (length > 0 && path[length - 1] != '/')
        length--;
    while (length > 0 && path[length - 1] == '/')
        length--;
    return length;
}

static bool prefix_exists(char *path, size_t length) {
    char kept = path[length];
    path[length] = '\0';
    bool exists = exi_file_exists(path);
    path[length] = kept;
    return exists;
}

bool exi_output_folder_check(const char *path) {
    struct stat status;
    size_t length = strlen(path);
    char *nearest = joined(path, length, "");
    if (!nearest) {
        exi_failed_memory();
        return false;
    }
    while (length > 0 && !prefix_exists(nearest, length))
        length = parent_length(nearest, length);
    if (length > 0)
        nearest[length] = '\0';
    else
        strcpy(nearest, path[0] == '/' ? "/" : ".");
    const bool whole = length == strlen(path);
    bool good = stat(nearest, &status) == 0;
    if (good && !S_ISDIR(status.st_mode) && whole) {
        exi_failed_text("cannot make the folder '%s': a file has that name", path);
        good = false;
    } else if (good && !S_ISDIR(status.st_mode)) {
        exi_failed_text("cannot make the folder '%s': '%s' is a file", path, nearest);
        good = false;
    } else if (!good || access(nearest, W_OK | X_OK) != 0) {
        exi_failed_text("cannot %s '%s': %s", whole ? "write into the folder" : "make the folder", path,
                        strerror(errno));
        good = false;
    }
    free(nearest);
    return good;
}

bool exi_output_new_folder_check(const char *path, bool force) {
    if (!exi_output_folder_check(path))
        return false;
    errno = 0;
    if (force || exi_folder_is_empty(path))
        return true;
    if (errno == ENOMEM)
        exi_failed_memory();
    else
        exi_failed_text(
            "the folder '%s' is not empty: give --force to overwrite files in it, or another folder with -o", path);
    return false;
}

bool exi_folder_note(exi_folder *folder, const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    *folder = (exi_folder){.path = joined(path, length, ""), .old_length = length};
    if (!folder->path) {
        exi_failed_memory();
        return false;
    }
    while (folder->old_length > 0 && !prefix_exists(folder->path, folder->old_length))
        folder->old_length = parent_length(folder->path, folder->old_length);
    folder->existed = folder->old_length == length;
    errno = 0;
    folder->empty = exi_folder_is_empty(folder->path);
    if (errno != ENOMEM)
        return true;
    exi_failed_memory();
    exi_folder_forget(folder);
    return false;
}

/* Removes the plain files of a folder that was empty before, so nothing of value can be in it. */
static void remove_files(const char *path) {
    DIR *directory = opendir(path);
    if (!directory)
        return;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char *file = exi_path_inside(path, entry->d_name, "");
        struct stat status;
        if (file && lstat(file, &status) == 0 && S_ISREG(status.st_mode))
            unlink(file);
        free(file);
    }
    closedir(directory);
}

void exi_folder_undo(exi_folder *folder) {
    if (!folder->empty)
        return;
    remove_files(folder->path);
    for (size_t n = strlen(folder->path); n > folder->old_length; n = parent_length(folder->path, n)) {
        folder->path[n] = '\0';
        if (rmdir(folder->path) != 0 && errno != ENOENT)
            return;
    }
}

int exi_folder_interrupted(exi_folder *folder) {
    exi_folder_undo(folder);
    exi_failed_text("interrupted: what was written has been removed");
    return exi_interrupted();
}

void exi_folder_forget(exi_folder *folder) {
    free(folder->path);
    folder->path = NULL;
}
