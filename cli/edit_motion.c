/* cli/edit_motion.c - motion for the rig of the last build: which files there are, and one of them as poses. */
#define _GNU_SOURCE

#include "bake.h"
#include "edit.h"
#include "files.h"

#include "author/formats/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define JSON_MOST ((size_t)256 << 20)

static bool is_motion_name(const char *name) {
    return exi_path_ends_with(name, ".bvh") || exi_path_ends_with(name, ".csv") || exi_path_ends_with(name, ".glb") ||
           exi_path_ends_with(name, ".gltf");
}

/* ---- the files of the folder ---- */

/* Whether a file of the folder is one, and stays in it, whatever links it is. */
static bool is_own_file(const exi_edit *edit, const char *name) {
    struct stat status;
    char *joined = exi_path_join(edit->path, name), *real = joined ? realpath(joined, NULL) : NULL;
    const bool own = real && strncmp(real, edit->folder, strlen(edit->folder)) == 0 && stat(real, &status) == 0 &&
                     S_ISREG(status.st_mode);
    free(joined);
    free(real);
    return own;
}

/* The JSON of a glTF file in memory, to be freed: all of a .gltf, the first part of a .glb. */
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

/* Most glTF files of a folder are forms, and rigs. One that only seems to have an animation says so when it is opened.
 */
static bool has_animation(const exi_edit *edit, const char *name) {
    static const char key[] = "\"animations\"";
    size_t size = 0;
    char *path = exi_path_join(edit->path, name), *json = path ? read_json(path, &size) : NULL;
    const bool has = json && memmem(json, size, key, sizeof key - 1);
    free(json);
    free(path);
    return has;
}

static bool is_motion(const exi_edit *edit, const char *name) {
    if (name[0] == '.' || !is_motion_name(name) || !is_own_file(edit, name))
        return false;
    return exi_path_ends_with(name, ".bvh") || exi_path_ends_with(name, ".csv") || has_animation(edit, name);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void exi_edit_get_motions(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    (void)asked;
    exi_reply reply;
    char **names = NULL;
    int count = 0;
    bool good = true;
    DIR *folder = opendir(edit->folder);
    for (struct dirent *entry; good && folder && (entry = readdir(folder));) {
        if (!is_motion(edit, entry->d_name))
            continue;
        char **more = realloc(names, (size_t)(count + 1) * sizeof *names);
        names = more ? more : names;
        good = more && (names[count] = strdup(entry->d_name));
        count += good;
    }
    if (folder)
        closedir(folder);
    if (count > 0)
        qsort(names, (size_t)count, sizeof *names, compare_names);
    if (!good) {
        exi_refuse_memory(answer);
    } else if (exi_reply_start(&reply, answer, 200)) {
        exi_emit_open(&reply.json, "files", '[');
        for (int i = 0; i < count; i++)
            exi_emit_text(&reply.json, NULL, names[i]);
        exi_emit_close(&reply.json, ']');
        exi_reply_end(&reply);
    }
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
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
    char *path = exi_path_with_ending(edit->name, ".glb");
    const bool good = exi_bake_check_rig(edit->rig, path ? path : "the rig", &error) == EX_OK;
    if (!good)
        exi_refuse_error(edit, answer, 422, &error, NULL);
    free(path);
    return good;
}

/* ---- reading a motion ---- */

/* Nothing beside what was sent is opened. */
static ex_result check_alone(const exi_asked *asked, const char *name, ex_error *error) {
    ex_scene *scene = NULL;
    if (!exi_path_ends_with(name, ".glb") && !exi_path_ends_with(name, ".gltf"))
        return EX_OK;
    const ex_result result = ex_scene_parse(asked->body, asked->size, name, false, &scene, error);
    ex_scene_destroy(scene);
    return result;
}

void exi_edit_remove_sent(exi_edit *edit) {
    char folder[EXI_EDIT_SENT_SIZE];
    if (!atomic_exchange(&edit->has_sent, false))
        return;
    snprintf(folder, sizeof folder, "%s", edit->sent);
    *strrchr(folder, '/') = '\0';
    unlink(edit->sent);
    rmdir(folder);
}

/* A folder of its own for a file of that name: edit->sent is its path. */
static ex_result make_room(exi_edit *edit, const char *name, ex_error *error) {
    const char *variable = getenv("TMPDIR"), *room = variable && variable[0] ? variable : "/tmp";
    const int size = snprintf(edit->sent, sizeof edit->sent, "%s/exemplar-edit-XXXXXX", room);
    if (size < 0 || (size_t)size + 1 + strlen(name) >= sizeof edit->sent)
        return exi_file_error(error, "make a folder in", room, ENAMETOOLONG);
    if (!mkdtemp(edit->sent))
        return exi_file_error(error, "make a folder in", room, errno);
    snprintf(edit->sent + size, sizeof edit->sent - (size_t)size, "/%s", name);
    atomic_store(&edit->has_sent, true);
    return EX_OK;
}

/* The library reads motion from files alone: this one stands in a folder of its own for as long as that takes. */
static ex_result read_sent(exi_edit *edit, const exi_asked *asked, const char *name, ex_motion **motion,
                           ex_error *error) {
    exi_file_writer writer;
    ex_result result = check_alone(asked, name, error);
    if (result == EX_OK)
        result = make_room(edit, name, error);
    if (result != EX_OK)
        return result;
    result = exi_file_open(&writer, edit->sent, error);
    if (result == EX_OK) {
        exi_file_write(&writer, asked->body, asked->size);
        result = exi_file_commit(&writer, error);
    }
    if (result == EX_OK)
        result = ex_motion_read(edit->sent, edit->rig, NULL, motion, error);
    exi_edit_remove_sent(edit);
    strrchr(edit->sent, '/')[1] = '\0';
    if (result != EX_OK)
        exi_cut_out(error->text, edit->sent);
    return result;
}

/* The motion that the request names or has; NULL after a refusal. */
static ex_motion *read_motion(exi_edit *edit, const exi_asked *asked, char name[EXI_EDIT_NAME_SIZE], char **source,
                              exi_answer *answer) {
    ex_motion *motion = NULL;
    ex_error error = {.result = EX_OK};
    ex_result result;
    *source = NULL;
    const bool sent = exi_asked_text(asked, "name", name, EXI_EDIT_NAME_SIZE);
    if (!exi_edit_asked_name(asked, sent ? "name" : "path", name, answer))
        return NULL;
    if (!is_motion_name(name)) {
        exi_refuse(answer, 415, "'%s' is no motion: .bvh, .csv, .glb or .gltf is needed", name);
        return NULL;
    }
    if (sent) {
        result = read_sent(edit, asked, name, &motion, &error);
    } else if (!is_own_file(edit, name)) {
        exi_refuse(answer, 404, "there is no file '%s' in the project's folder", name);
        return NULL;
    } else {
        *source = exi_path_join(edit->path, name);
        result =
            *source ? ex_motion_read(*source, edit->rig, NULL, &motion, &error) : exi_error_memory(&error, "a path", 0);
    }
    if (result != EX_OK)
        exi_refuse_error(edit, answer, 422, &error, NULL);
    return motion;
}

/* ---- as an answer ---- */

/* Doubles [frames][inputs], then floats [frames][joints][10]. */
static bool lay_out(const ex_rig *rig, const ex_motion *motion, exi_answer *answer) {
    const size_t inputs = (size_t)ex_rig_pose_size(rig) * sizeof(double),
                 joints = (size_t)ex_rig_joint_count(rig) * sizeof(ex_transform), frames = (size_t)motion->pose_count;
    _Static_assert(sizeof(ex_transform) == 10 * sizeof(float), "a transform is ten floats");
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

static void reply_motion(const exi_edit *edit, const ex_motion *motion, const char *name, exi_answer *answer) {
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
    exi_emit_text(&reply.json, "name", name);
    exi_emit_number(&reply.json, "frames", motion->pose_count);
    exi_emit_number(&reply.json, "inputs", ex_rig_pose_size(edit->rig));
    exi_emit_number(&reply.json, "joints", ex_rig_joint_count(edit->rig));
    exi_emit_number(&reply.json, "matched", motion->matched_count);
    exi_emit_number(&reply.json, "scale", motion->scale);
    exi_emit_numbers(&reply.json, "times", motion->times, motion->pose_count);
    exi_reply_end(&reply);
    answer->framed = answer->status == 200;
}

void exi_edit_post_motion(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    char name[EXI_EDIT_NAME_SIZE], *source = NULL;
    pthread_mutex_lock(&edit->building);
    ex_motion *motion = exi_edit_open_rig(edit, asked, answer) ? read_motion(edit, asked, name, &source, answer) : NULL;
    if (motion) {
        ex_motion_destroy(edit->motion);
        free(edit->motion_source);
        edit->motion = motion;
        edit->motion_source = source;
        source = NULL;
        edit->motion_count++;
        reply_motion(edit, motion, name, answer);
    }
    pthread_mutex_unlock(&edit->building);
    free(source);
}
