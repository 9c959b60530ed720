/*
 * cli/edit/edit_start.c - an empty editor (exemplar edit --new): files dropped on it become a project, as 'exemplar
 * init' makes one. Files wait in a folder of their own until all are there; nothing is written next to the project
 * before.
 */
#define _XOPEN_SOURCE 700

#include "cli/base/files.h"
#include "cli/base/lock.h"
#include "cli/base/report.h"
#include "cli/project/init_forms.h"
#include "edit.h"

#include <exemplar/author/files.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the folder of dropped files ---- */

static ex_result make_folder(exi_edit *edit, ex_error *error) {
    const char *variable = getenv("TMPDIR"), *room = variable && variable[0] ? variable : "/tmp";
    if (edit->dropped[0])
        return EX_OK;
    const int size = snprintf(edit->dropped, sizeof edit->dropped, "%s/exemplar-edit-XXXXXX", room);
    if (size > 0 && (size_t)size < sizeof edit->dropped && mkdtemp(edit->dropped))
        return EX_OK;
    edit->dropped[0] = '\0';
    return ex_file_error(error, "make a folder in", room, errno);
}

void exi_edit_forget_dropped(exi_edit *edit) {
    DIR *folder = edit->dropped[0] ? opendir(edit->dropped) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char *path = entry->d_name[0] != '.' ? exi_path_inside(edit->dropped, entry->d_name, "") : NULL;
        if (path)
            unlink(path);
        free(path);
    }
    if (folder)
        closedir(folder);
    if (edit->dropped[0])
        rmdir(edit->dropped);
    edit->dropped[0] = '\0';
}

static bool is_scene_name(const char *name) {
    return ex_path_ends_with(name, ".glb") || ex_path_ends_with(name, ".gltf");
}

/* Counts forms and glTF files; the name of one of the latter. */
static void count_dropped(const exi_edit *edit, int *forms, int *scenes, char name[EXI_EDIT_NAME_SIZE]) {
    DIR *folder = edit->dropped[0] ? opendir(edit->dropped) : NULL;
    *forms = *scenes = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        if (is_scene_name(entry->d_name))
            snprintf(name, EXI_EDIT_NAME_SIZE, "%s", entry->d_name);
        *scenes += is_scene_name(entry->d_name);
        *forms += !is_scene_name(entry->d_name);
    }
    if (folder)
        closedir(folder);
}

/* ---- requests ---- */

static bool is_empty(const exi_edit *edit, exi_answer *answer) {
    if (atomic_load(&edit->starts) && !exi_file_exists(edit->path))
        return true;
    exi_refuse(answer, 409, "'%s' is a project already: open the page again", edit->name);
    return false;
}

void exi_edit_post_sculpt(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    char name[EXI_EDIT_NAME_SIZE];
    ex_error error = {.result = EX_OK};
    exi_reply reply;
    if (!is_empty(edit, answer) || !exi_edit_asked_name(asked, "name", name, answer))
        return;
    if (!is_scene_name(name) && !ex_path_ends_with(name, ".obj") && !ex_path_ends_with(name, ".ply") &&
        !ex_path_ends_with(name, ".off")) {
        ex_mesh *mesh = NULL;
        ex_obj_parse(asked->body, asked->size, name, &mesh, &error);
        ex_mesh_destroy(mesh);
        if (exi_is_foreign(&error))
            exi_refuse_error(edit, answer, 415, &error, NULL);
        else
            exi_refuse(answer, 415, "'%s' is no form: .obj, .ply, .off, .glb or .gltf is needed", name);
        return;
    }
    pthread_mutex_lock(&edit->writing);
    ex_result result = make_folder(edit, &error);
    char *path = result == EX_OK ? exi_path_inside(edit->dropped, name, "") : NULL;
    ex_file_writer writer;
    if (result == EX_OK)
        result = path ? ex_file_open_bulk(&writer, path, &error) : ex_error_memory(&error, "a path", strlen(name));
    if (result == EX_OK) {
        ex_file_write(&writer, asked->body, asked->size);
        result = ex_file_commit(&writer, &error);
    }
    free(path);
    pthread_mutex_unlock(&edit->writing);
    if (result != EX_OK) {
        exi_refuse_error(edit, answer, 500, &error, NULL);
    } else if (exi_reply_start(&reply, answer, 200)) {
        exi_emit_text(&reply.json, "path", name);
        exi_reply_end(&reply);
    }
}

static ex_result init_forms(const exi_edit *edit, const char *name, const ex_init_report *report, ex_error *error) {
    const char *folder = edit->dropped;
    const ex_call call = {.quiet = true, .argument_count = 1, .arguments = &folder, .threads = 1};
    const ex_word_list nowhere = {0};
    exi_forms forms;
    int exit_code = 0;
    ex_result result = exi_forms_read(&call, NULL, &nowhere, false, &forms, &exit_code)
                           ? ex_project_init_forms(&forms.forms, edit->folder, name, NULL, report, error)
                           : ex_error_memory(error, "the forms", 0);
    exi_forms_free(&forms);
    return result;
}

static ex_result init_scene(const exi_edit *edit, const char *file, const char *name, const ex_init_report *report,
                            ex_error *error) {
    ex_scene *scene = NULL;
    char *path = exi_path_inside(edit->dropped, file, "");
    ex_result result = path ? ex_scene_read(path, &scene, error) : ex_error_memory(error, "a path", strlen(file));
    if (result == EX_OK)
        result = ex_project_init(scene, edit->folder, name, NULL, report, error);
    ex_scene_destroy(scene);
    free(path);
    return result;
}

/* With `writing` locked. */
static void start(exi_edit *edit, exi_answer *answer) {
    char file[EXI_EDIT_NAME_SIZE];
    int form_count, scene_count;
    ex_error error = {.result = EX_OK};
    exi_notes notes = {.path = edit->name};
    const ex_init_report report = {.note = exi_notes_keep, .user = &notes};
    count_dropped(edit, &form_count, &scene_count, file);
    if (scene_count > 0 ? scene_count > 1 || form_count > 0 : form_count < 2) {
        exi_refuse(
            answer, 422,
            "Drop the mesh at rest and at least one shape of it, as .obj, .ply or .off files, or one glTF file alone.");
        return;
    }
    char *name = exi_path_stem(edit->name);
    const int lock = exi_lock_folder(edit->folder, true);
    ex_result result = !name              ? ex_error_memory(&error, "the name", strlen(edit->name))
                       : scene_count == 1 ? init_scene(edit, file, name, &report, &error)
                                          : init_forms(edit, name, &report, &error);
    exi_lock_release(lock);
    free(name);
    exi_reply reply;
    if (result != EX_OK) {
        char folder[EXI_EDIT_SENT_SIZE + 2];
        snprintf(folder, sizeof folder, "%s/", edit->dropped);
        exi_cut_out(error.text, folder);
        exi_refuse_error(edit, answer, 422, &error, NULL);
    } else if (exi_reply_start(&reply, answer, 200)) {
        atomic_store(&edit->starts, false);
        exi_emit_text(&reply.json, "name", edit->name);
        exi_emit_open(&reply.json, "notes", '[');
        for (int i = 0; i < notes.count; i++)
            exi_emit_text(&reply.json, NULL, notes.texts[i]);
        exi_emit_close(&reply.json, ']');
        exi_reply_end(&reply);
    }
    exi_notes_free(&notes);
}

void exi_edit_post_start(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    (void)asked;
    if (!is_empty(edit, answer))
        return;
    pthread_mutex_lock(&edit->writing);
    start(edit, answer);
    exi_edit_forget_dropped(edit);
    pthread_mutex_unlock(&edit->writing);
}
