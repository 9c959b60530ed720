/* cli/edit/edit_motion.c - motion for the rig of the last build: lists the files, and reads one of them as poses. */
#define _GNU_SOURCE

#include "cli/base/files.h"
#include "edit.h"
#include "edit_page.h"

#include <exemplar/author/files.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JSON_MOST ((size_t)256 << 20)

static bool is_motion_name(const char *name) {
    return ex_path_ends_with(name, ".bvh") || ex_path_ends_with(name, ".csv") || ex_path_ends_with(name, ".glb") ||
           ex_path_ends_with(name, ".gltf");
}

/* ---- the files of the folder ---- */

/* True if it is a file of the folder, and does not lead out of it through links. */
static bool is_own_file(const exi_edit *edit, const char *name) {
    struct stat status;
    char *joined = ex_path_join(edit->path, name), *real = joined ? realpath(joined, NULL) : NULL;
    const bool own = real && strncmp(real, edit->folder, strlen(edit->folder)) == 0 && stat(real, &status) == 0 &&
                     S_ISREG(status.st_mode);
    free(joined);
    free(real);
    return own;
}

/* Reads the JSON of a glTF file into memory, caller frees: all of a .gltf, the first part of a .glb. */
static char *read_json(const char *path, size_t *size) {
    unsigned char head[20];
    FILE *file = fopen(path, "rb");
    char *json = NULL;
    *size = 0;
    if (!file)
        return NULL;
    if (fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, "glTF", 4) == 0) {
        *size = head[12] | (size_t)head[13] << 8 | (size_t)head[14] << 16 | (size_t)head[15] << 24;
    } else if (fseek(file, 0, SEEK_END) == 0 && ftell(file) > 0) {
        *size = (size_t)ftell(file);
        rewind(file);
    }
    if (*size > 0 && *size <= JSON_MOST)
        json = malloc(*size);
    if (json)
        *size = fread(json, 1, *size, file);
    fclose(file);
    return json;
}

/* True if a glTF file seems to have an animation; most of a folder are forms and rigs. If it has none after all,
 * opening it reports that. */
static bool has_animation(const exi_edit *edit, const char *name) {
    static const char key[] = "\"animations\"";
    size_t size = 0;
    char *path = ex_path_join(edit->path, name), *json = path ? read_json(path, &size) : NULL;
    const bool has = json && memmem(json, size, key, sizeof key - 1);
    free(json);
    free(path);
    return has;
}

static bool is_motion(const exi_edit *edit, const char *name) {
    if (!is_motion_name(name) || !is_own_file(edit, name))
        return false;
    return ex_path_ends_with(name, ".bvh") || ex_path_ends_with(name, ".csv") || has_animation(edit, name);
}

static bool is_driver_motion(const exi_edit *edit, const char *name, int driver_count) {
    if (!is_own_file(edit, name))
        return false;
    char *path = ex_path_join(edit->path, name);
    const bool is = path && exi_edit_is_driver_motion(path, driver_count);
    free(path);
    return is;
}

typedef struct listing {
    char **names;
    int count;
} listing;

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the files that have the name of a motion, in order; of numbered ones only the first. False if out of memory. */
static bool list_folder(const exi_edit *edit, bool caches, listing *l) {
    bool good = true;
    int kept = 0;
    DIR *folder = opendir(edit->folder);
    for (struct dirent *entry; good && folder && (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (name[0] == '.' || !(caches ? exi_edit_is_cache_name(name) : is_motion_name(name)))
            continue;
        char **more = realloc(l->names, (size_t)(l->count + 1) * sizeof *l->names);
        l->names = more ? more : l->names;
        good = more && (l->names[l->count] = strdup(name));
        l->count += good;
    }
    if (folder)
        closedir(folder);
    if (l->count > 0)
        qsort(l->names, (size_t)l->count, sizeof *l->names, compare_names);
    for (int i = 0; i < l->count; i++) {
        bool known = false;
        for (int k = 0; caches && k < kept && !known; k++)
            known = exi_edit_is_same_cache(l->names[i], l->names[k]);
        if (known)
            free(l->names[i]);
        else
            l->names[kept++] = l->names[i];
    }
    l->count = kept;
    return good;
}

void exi_edit_get_motions(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    (void)asked;
    exi_reply reply;
    listing l = {.count = 0};
    pthread_mutex_lock(&edit->building);
    const int driver_count = edit->driver_count;
    pthread_mutex_unlock(&edit->building);
    if (!list_folder(edit, driver_count > 0, &l)) {
        exi_refuse_memory(answer);
    } else if (exi_reply_start(&reply, answer, 200)) {
        exi_emit_open(&reply.json, "files", '[');
        for (int i = 0; i < l.count; i++)
            if (driver_count > 0 ? is_driver_motion(edit, l.names[i], driver_count) : is_motion(edit, l.names[i]))
                exi_emit_text(&reply.json, NULL, l.names[i]);
        exi_emit_close(&reply.json, ']');
        exi_reply_end(&reply);
    }
    for (int i = 0; i < l.count; i++)
        free(l.names[i]);
    free(l.names);
}

/* ---- the rig ---- */

bool exi_edit_open_rig(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    char id[24], last[24];
    ex_error error = {.result = EX_OK};
    if (!exi_asked_needed(asked, "build", id, sizeof id, answer))
        return false;
    snprintf(last, sizeof last, "%d", edit->build_count);
    if (!edit->rig_bytes || strcmp(id, last) != 0) {
        exi_refuse(answer, 409, "the rig has been built again since then: try again");
        return false;
    }
    /* As 'exemplar bake' loads it. */
    const ex_rig_options how = {.without_tangents = true};
    if (!edit->rig && ex_rig_unpack(edit->rig_bytes, edit->rig_size, &how, NULL, &edit->rig, &error) != EX_OK) {
        exi_refuse_error(edit, answer, 500, &error, NULL);
        return false;
    }
    return true;
}

/* ---- reading a motion ---- */

/* Opens no file but the uploaded one. */
static ex_result check_alone(const exi_asked *asked, const char *name, ex_error *error) {
    ex_scene *scene = NULL;
    if (!ex_path_ends_with(name, ".glb") && !ex_path_ends_with(name, ".gltf"))
        return EX_OK;
    const ex_result result = ex_scene_parse(asked->body, asked->size, name, false, &scene, error);
    ex_scene_destroy(scene);
    return result;
}

/* Makes a folder for a file of that name: edit->sent is its path. */
static ex_result make_room(exi_edit *edit, const char *name, ex_error *error) {
    const char *variable = getenv("TMPDIR"), *room = variable && variable[0] ? variable : "/tmp";
    char *path = edit->sent.path;
    const size_t most = sizeof edit->sent.path;
    const int size = snprintf(path, most, "%s/exemplar-edit-XXXXXX", room);
    if (size < 0 || (size_t)size + 1 + strlen(name) >= most)
        return ex_file_error(error, "make a folder in", room, ENAMETOOLONG);
    if (!mkdtemp(path))
        return ex_file_error(error, "make a folder in", room, errno);
    snprintf(path + size, most - (size_t)size, "/%s", name);
    atomic_store(&edit->sent.is_there, true);
    return EX_OK;
}

/* The library reads motion only from files, so this puts the upload into a separate folder while it is read. */
static ex_result put_sent(exi_edit *edit, const exi_asked *asked, const char *name, ex_error *error) {
    ex_file_writer writer;
    ex_result result = check_alone(asked, name, error);
    if (result == EX_OK)
        result = make_room(edit, name, error);
    if (result == EX_OK)
        result = ex_file_open_bulk(&writer, edit->sent.path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, asked->body, asked->size);
    return ex_file_commit(&writer, error);
}

/* The file that a request names or contains. */
typedef struct wanted {
    char name[EXI_EDIT_NAME_SIZE];
    bool sent;
    char *path;
    ex_joint_map *map; /* of the folder, or NULL */
} wanted;

/* True if the rig can follow the file, by its name; false after a refusal. */
static bool check_kind(const exi_edit *edit, const wanted *w, exi_answer *answer) {
    const bool cache = ex_cache_kind_of(w->name) != EX_CACHE_KIND_COUNT;
    ex_rig_driver driver;
    if (edit->driver_count == 0 && is_motion_name(w->name))
        return true;
    if (edit->driver_count == 0 && cache)
        exi_refuse(
            answer, 415,
            "'%s' is a point cache, which only moves a rig with a driver: this rig needs .bvh, .csv, .glb or .gltf",
            w->name);
    else if (edit->driver_count == 0)
        exi_refuse(answer, 415, "'%s' is not a motion: .bvh, .csv, .glb or .gltf is needed", w->name);
    else if (!cache)
        exi_refuse(answer, 415,
                   "this rig follows the driver '%s', but '%s' does not hold its forms: a point cache is needed, .pc2, "
                   ".mdd, .abc or numbered .obj files",
                   ex_rig_get_driver(edit->rig, &driver, NULL) ? driver.name : "", w->name);
    else if (w->sent && ex_cache_kind_of(w->name) == EX_CACHE_OBJ)
        exi_refuse(answer, 415,
                   "'%s' is one frame: put all numbered .obj files into the project's folder, and they are listed",
                   w->name);
    else
        return true;
    return false;
}

static bool find_file(exi_edit *edit, const exi_asked *asked, wanted *w, exi_answer *answer) {
    ex_error error = {.result = EX_OK};
    w->sent = exi_asked_text(asked, "name", w->name, sizeof w->name);
    if (!exi_edit_asked_name(asked, w->sent ? "name" : "path", w->name, answer) || !check_kind(edit, w, answer))
        return false;
    if (!w->sent && !is_own_file(edit, w->name)) {
        exi_refuse(answer, 404, "there is no file '%s' in the project's folder", w->name);
        return false;
    }
    if (w->sent && put_sent(edit, asked, w->name, &error) != EX_OK) {
        exi_edit_hide_folder(edit->sent.path, &error);
        exi_refuse_error(edit, answer, 422, &error, NULL);
        return false;
    }
    w->path = w->sent ? strdup(edit->sent.path) : ex_path_join(edit->path, w->name);
    if (!w->path)
        exi_refuse_memory(answer);
    return w->path;
}

/* A file of the folder maps joints: walk.map.json for walk.bvh. */
static ex_result read_mapped(const exi_edit *edit, wanted *w, const char *map_name, ex_motion **motion,
                             ex_error *error) {
    ex_joint_map *map = NULL;
    char *path = ex_path_join(edit->path, map_name);
    ex_result result = path ? EX_OK : ex_error_memory(error, "a path", 0);
    if (result == EX_OK && !ex_path_ends_with(w->name, ".csv") && is_own_file(edit, map_name))
        result = ex_joint_map_read(path, &map, error);
    if (result == EX_OK)
        result = ex_motion_read(w->path, edit->rig, &(ex_motion_options){.map = map}, motion, error);
    /* The library does not know the name of that file. */
    const size_t used = strlen(error->text);
    if (result == EX_ERROR_DATA && !map && strstr(error->text, " in a map file: "))
        snprintf(error->text + used, sizeof error->text - used, ", as '%s' in the project's folder", map_name);
    w->map = map;
    free(path);
    return result;
}

/* Reads motion of a skeleton and dials; NULL after a refusal. */
static ex_motion *read_motion(exi_edit *edit, wanted *w, exi_answer *answer) {
    ex_motion *motion = NULL;
    ex_error error = {.result = EX_OK};
    char *map_name = exi_path_with_ending(w->name, ".map.json");
    const ex_result result =
        map_name ? read_mapped(edit, w, map_name, &motion, &error) : ex_error_memory(&error, "a name", 0);
    free(map_name);
    if (result == EX_OK)
        return motion;
    exi_edit_hide_folder(w->path, &error);
    exi_refuse_error(edit, answer, 422, &error, NULL);
    return NULL;
}

/* ---- as an answer ---- */

/* Lays out doubles [frames][inputs], then floats [frames][joints][10]. */
static bool lay_out(const ex_rig *rig, const ex_motion *motion, exi_answer *answer) {
    const size_t inputs = (size_t)ex_rig_pose_size(rig) * sizeof(double),
                 joints = (size_t)ex_rig_joint_count(rig) * sizeof(ex_transform), frames = (size_t)motion->pose_count;
    _Static_assert(sizeof(ex_transform) == 10 * sizeof(float), "a transform must be ten floats");
    char *bytes = malloc(frames * (inputs + joints) + 1);
    if (!bytes)
        return false;
    for (size_t f = 0; f < frames; f++) {
        if (inputs > 0)
            memcpy(bytes + f * inputs, motion->poses[f].inputs, inputs);
        if (joints > 0)
            memcpy(bytes + frames * inputs + f * joints, motion->poses[f].joints, joints);
    }
    answer->bytes = answer->owned = bytes;
    answer->size = frames * (inputs + joints);
    return true;
}

static void reply_motion(const exi_edit *edit, const ex_motion *motion, const wanted *w, exi_answer *answer) {
    exi_reply reply;
    char id[24];
    if (!lay_out(edit->rig, motion, answer)) {
        exi_refuse_memory(answer);
        return;
    }
    if (!exi_reply_start(&reply, answer, 200))
        return;
    snprintf(id, sizeof id, "%d", edit->motion_count);
    exi_emit_text(&reply.json, "motion", id);
    exi_emit_text(&reply.json, "name", w->name);
    exi_emit_number(&reply.json, "frames", motion->pose_count);
    exi_emit_number(&reply.json, "inputs", ex_rig_pose_size(edit->rig));
    exi_emit_number(&reply.json, "joints", ex_rig_joint_count(edit->rig));
    exi_emit_number(&reply.json, "driver", 0);
    exi_emit_number(&reply.json, "matched", motion->matched_count);
    if (w->path)
        exi_edit_emit_matched(&reply.json, edit->rig, w->path, w->map);
    exi_emit_number(&reply.json, "scale", motion->scale);
    exi_emit_numbers(&reply.json, "times", motion->times, motion->pose_count);
    exi_reply_end(&reply);
    answer->framed = answer->status == 200;
}

/* Keeps an uploaded cache for as long as it may be baked. */
static void keep_driver(exi_edit *edit, wanted *w) {
    if (w->sent) {
        memcpy(edit->cache.path, edit->sent.path, sizeof edit->cache.path);
        atomic_store(&edit->cache.is_there, true);
        atomic_store(&edit->sent.is_there, false);
    }
    edit->driver_cache = w->path;
    w->path = NULL;
}

static void keep_motion(exi_edit *edit, wanted *w, ex_motion *motion) {
    exi_edit_forget_motion(edit);
    edit->motion = motion;
    edit->motion_source = w->sent ? NULL : strdup(w->path);
    if (!motion)
        keep_driver(edit, w);
    edit->motion_count++;
}

/* Makes the motion of one of the rig's own clips, by its name or its number. */
static void open_clip(exi_edit *edit, wanted *w, exi_answer *answer) {
    ex_motion *motion = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_rig_motion(edit->rig, &(ex_motion_options){.clip = w->name, .fps = EXI_CLIP_FPS}, &motion, &error) !=
        EX_OK) {
        exi_refuse_error(edit, answer, 422, &error, NULL);
        return;
    }
    w->sent = true; /* there is no file that a bake could overwrite */
    keep_motion(edit, w, motion);
    reply_motion(edit, motion, w, answer);
}

/* With `building` locked. */
static void open_motion(exi_edit *edit, const exi_asked *asked, wanted *w, exi_answer *answer) {
    if (!exi_edit_open_rig(edit, asked, answer))
        return;
    if (exi_asked_text(asked, "clip", w->name, sizeof w->name)) {
        open_clip(edit, w, answer);
        return;
    }
    if (!find_file(edit, asked, w, answer))
        return;
    if (edit->driver_count > 0) {
        if (exi_edit_reply_driver(edit, w->path, w->name, answer))
            keep_motion(edit, w, NULL);
        return;
    }
    ex_motion *motion = read_motion(edit, w, answer);
    if (motion) {
        keep_motion(edit, w, motion);
        reply_motion(edit, motion, w, answer);
    }
}

void exi_edit_post_motion(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    wanted w = {.path = NULL};
    pthread_mutex_lock(&edit->building);
    open_motion(edit, asked, &w, answer);
    exi_edit_remove_read(edit);
    pthread_mutex_unlock(&edit->building);
    ex_joint_map_destroy(w.map);
    free(w.path);
}
