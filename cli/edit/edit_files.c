/*
 * cli/edit/edit_files.c - puts files dropped on the editor next to the project.
 *
 * A file gets a name that no file has: nothing is ever overwritten, and no link is followed.
 */
#include "cli/base/files.h"
#include "cli/base/report.h"
#include "edit.h"

#include <exemplar/author/files.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ATTEMPTS 10000

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

/* Takes the first free name of NAME.ending, NAME-2.ending, … */
static ex_result add(const exi_edit *edit, const char *stem, const char *ending, const char *bytes, size_t size,
                     char path[EXI_EDIT_PATH_SIZE], ex_error *error) {
    ex_result result = EX_ERROR_FILE;
    for (int i = 1; i < ATTEMPTS; i++) {
        ex_file_writer writer;
        char number[16] = "";
        if (i > 1)
            snprintf(number, sizeof number, "-%d", i);
        snprintf(path, EXI_EDIT_PATH_SIZE, "%s%s%s", stem, number, ending);
        char *whole = exi_path_inside(edit->folder, path, "");
        const bool taken = whole && exi_file_exists(whole);
        if (!whole)
            result = ex_error_memory(error, "a path", strlen(path));
        else if (taken)
            result = ex_file_error(error, "write", path, EEXIST);
        else
            result = ex_file_open(&writer, whole, error);
        if (result == EX_OK) {
            ex_file_write(&writer, bytes, size);
            result = ex_file_commit_new(&writer, error);
        }
        const bool again = result != EX_OK && whole && exi_file_exists(whole);
        free(whole);
        if (!again)
            break;
    }
    return result;
}

void exi_edit_add_file(exi_edit *edit, const char *stem, const char *ending, const char *bytes, size_t size,
                       exi_answer *answer) {
    char path[EXI_EDIT_PATH_SIZE];
    exi_reply reply;
    ex_error error = {.result = EX_OK};
    pthread_mutex_lock(&edit->writing);
    const ex_result result = add(edit, stem, ending, bytes, size, path, &error);
    pthread_mutex_unlock(&edit->writing);
    if (result != EX_OK) {
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
    else if (ex_path_ends_with(name, ".off"))
        result = ex_off_parse(asked->body, asked->size, name, &mesh, error);
    else if (ex_path_ends_with(name, ".png") || ex_path_ends_with(name, ".jpg") || ex_path_ends_with(name, ".jpeg"))
        result = ex_image_parse(asked->body, asked->size, name, &image, error);
    else
        result = parse_scene(asked, name, error);
    ex_mesh_destroy(mesh);
    ex_image_destroy(image);
    return result;
}

void exi_edit_post_file(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    static const char *const endings[] = {".obj", ".ply", ".off", ".glb", ".gltf", ".png", ".jpg", ".jpeg"};
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
        exi_refuse(answer, 415,
                   "'%s' is not a file that a project can use: .obj, .ply, .off, .glb, .gltf, .png or .jpg is needed",
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
