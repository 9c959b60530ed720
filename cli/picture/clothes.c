/*
 * cli/picture/clothes.c - draws clothes with their body. Clothes see the rig's own mesh, whatever level is drawn, at
 * the place where it is drawn. One that follows motion keeps a state from frame to frame.
 */
#include "clothes.h"

#include "cli/base/report.h"
#include "cli/base/rigs.h"

#include <stdlib.h>
#include <string.h>

/* ---- hiding ---- */

/* True if one of the words, separated by `between`, is a name of the list. */
static bool is_among(const char *words, const char *name, size_t length) {
    for (const char *word = words; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL)
        if (strcspn(word, ",") == length && strncmp(word, name, length) == 0)
            return true;
    return false;
}

/* True if the list has one of the names in the text, which are separated by blanks; or the entire text. */
static bool is_listed(const char *words, const char *text) {
    if (is_among(words, text, strlen(text)))
        return true;
    for (const char *name = text; *name; name += strspn(name, " ")) {
        const size_t length = strcspn(name, " ");
        if (length > 0 && is_among(words, name, length))
            return true;
        name += length;
    }
    return false;
}

static bool is_hidden(const ex_mesh *mesh, int face, const char *words) {
    const int group = mesh->face_groups ? mesh->face_groups[face] : -1,
              material = mesh->face_materials ? mesh->face_materials[face] : -1;
    return (group >= 0 && is_listed(words, mesh->group_names[group])) ||
           (material >= 0 && is_listed(words, mesh->material_names[material]));
}

int exi_hide(ex_mesh *mesh, const char *words) {
    int faces = 0, corners = 0;
    const int before = mesh->face_count;
    for (int f = 0; f < before; f++) {
        const int begin = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        if (is_hidden(mesh, f, words))
            continue;
        if (mesh->face_groups)
            mesh->face_groups[faces] = mesh->face_groups[f];
        if (mesh->face_materials)
            mesh->face_materials[faces] = mesh->face_materials[f];
        mesh->face_offsets[faces++] = corners;
        for (int c = begin; c < end; c++, corners++) {
            mesh->corners[corners] = mesh->corners[c];
            if (mesh->corner_texcoords)
                mesh->corner_texcoords[corners] = mesh->corner_texcoords[c];
            if (mesh->corner_normals)
                mesh->corner_normals[corners] = mesh->corner_normals[c];
        }
    }
    mesh->face_offsets[faces] = corners;
    mesh->face_count = faces;
    mesh->corner_count = corners;
    return before - faces;
}

/* Removes the faces of all names; each must have some. False after printing an error. */
static bool hide_all(const ex_call *call, ex_mesh *mesh, const char *words) {
    for (const char *word = words; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        char name[EXI_TEXT_SIZE];
        bool any = false;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, ","), word);
        for (int f = 0; !any && f < mesh->face_count; f++)
            any = is_hidden(mesh, f, name);
        if (!any) {
            exi_failed_text("no face of '%s' has a group or material named '%s' (--hide)", call->arguments[0], name);
            return false;
        }
    }
    exi_hide(mesh, words);
    return true;
}

/* ---- clothes ---- */

/* Moves the rig's own mesh to a pose. */
static bool move_body(const exi_clothes *worn, const exi_subject *subject, const ex_pose *pose, const float shift[3],
                      const ex_tasks *tasks) {
    const ex_evaluation how = {.tasks = tasks, .muted = subject->muted};
    void *scratch = malloc(ex_rig_scratch_size(subject->rig, &how, 1) + 1);
    if (!scratch) {
        exi_failed_memory();
        return false;
    }
    ex_rig_evaluate(subject->rig, pose, &(ex_output){.positions = worn->body}, &how, scratch);
    for (size_t i = 0; i < 3 * (size_t)ex_rig_vertex_count(subject->rig); i++)
        worn->body[i] += shift[i % 3];
    free(scratch);
    return true;
}

bool exi_clothes_follow(exi_clothes *worn, exi_subject *subject, const ex_pose *pose, const float shift[3],
                        double elapsed, const ex_tasks *tasks) {
    static const float still[3] = {0, 0, 0};
    if (worn->words->hide)
        exi_hide(subject->mesh, worn->words->hide);
    if (worn->count > 0 && !move_body(worn, subject, pose, shift, tasks))
        return false;
    for (int i = 0; i < worn->count; i++) {
        worn->poses[i].driver = worn->body;
        worn->poses[i].elapsed = elapsed;
        if (!exi_subject_follow(&worn->clothes[i], &worn->poses[i], still, worn->states[i], tasks))
            return false;
    }
    return true;
}

static bool open_clothes(exi_clothes *worn, const ex_call *call, const char *path, const exi_subject *subject,
                         const ex_tasks *tasks, int *exit_code) {
    exi_subject *clothes = &worn->clothes[worn->count];
    ex_rig_driver driver;
    if (!exi_subject_open(clothes, call, path, &(exi_subject_words){.level = NULL}, tasks, exit_code)) {
        exi_subject_close(clothes);
        return false;
    }
    const int number = worn->count++;
    const int count = ex_rig_vertex_count(subject->rig);
    if (!clothes->rig || !ex_rig_get_driver(clothes->rig, &driver, NULL)) {
        exi_failed_text("'%s' does not follow a driver: --wear needs a rig of 'exemplar drive learn'", path);
        return false;
    }
    if (driver.driver.vertex_count != count) {
        exi_failed_text("'%s' follows a driver of %d vertices, and '%s' has %d: --wear needs clothes that were learned "
                        "on this rig's mesh",
                        path, driver.driver.vertex_count, call->arguments[0], count);
        return false;
    }
    worn->poses[number] = ex_pose_create(clothes->rig);
    worn->states[number] = calloc(1, ex_rig_state_size(clothes->rig) + 1);
    if (worn->poses[number].inputs && worn->states[number])
        return true;
    exi_failed_memory();
    return false;
}

bool exi_clothes_open(exi_clothes *worn, const ex_call *call, const exi_clothes_words *words, exi_subject *subject,
                      const ex_tasks *tasks, int *exit_code) {
    static const float still[3] = {0, 0, 0};
    *worn = (exi_clothes){.words = words};
    *exit_code = EX_EXIT_FAILED;
    if (words->clothes.count > EXI_CLOTHES_MOST) {
        *exit_code = exi_wrong_usage(call->command, "--wear takes at most %d rigs", EXI_CLOTHES_MOST);
        return false;
    }
    if (words->clothes.count > 0 && !subject->rig) {
        exi_failed_text("'%s' is a form, not a rig: --wear goes with rigs", call->arguments[0]);
        return false;
    }
    if (words->hide && !hide_all(call, subject->mesh, words->hide))
        return false;
    if (subject->mesh->face_count == 0 && words->clothes.count == 0) {
        if (words->hide)
            exi_failed_text("--hide %s leaves nothing of '%s' to draw", words->hide, call->arguments[0]);
        else
            exi_failed_text("'%s' has no faces to draw", call->arguments[0]);
        return false;
    }
    if (words->clothes.count == 0)
        return true;
    worn->body = malloc(3 * (size_t)ex_rig_vertex_count(subject->rig) * sizeof *worn->body + 1);
    if (!worn->body) {
        exi_failed_memory();
        return false;
    }
    for (int i = 0; i < words->clothes.count; i++)
        if (!open_clothes(worn, call, words->clothes.words[i], subject, tasks, exit_code))
            return false;
    return exi_clothes_follow(worn, subject, subject->pose.inputs ? &subject->pose : NULL, still, 0, tasks);
}

void exi_clothes_close(exi_clothes *worn) {
    for (int i = 0; i < worn->count; i++) {
        exi_subject_close(&worn->clothes[i]);
        free(worn->poses[i].inputs);
        free(worn->states[i]);
    }
    free(worn->body);
    *worn = (exi_clothes){.count = 0};
}

int exi_clothes_items(const exi_clothes *worn, const ex_render_item *subject, bool textured, ex_render_item *items) {
    int count = 0;
    if (subject->mesh->face_count > 0 || worn->count == 0) /* nothing is left of one that is hidden completely */
        items[count++] = *subject;
    for (int i = 0; i < worn->count; i++) {
        items[count] = exi_subject_item(&worn->clothes[i], textured);
        items[count++].vertex_colours = textured;
    }
    return count;
}
