/* cli/edit_bake.c - baking from the page: the motion that it plays, on the rig that it shows, into the project's
 * folder, as 'exemplar bake' does it where no options are given. */
#define _XOPEN_SOURCE 700

#include "bake.h"
#include "edit.h"
#include "named.h"

#include "author/formats/cache.h"
#include "author/formats/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- where it goes ---- */

/* A file that is to be written, and whether the project or the motion is made from it. */
typedef struct target {
    const exi_edit *edit;
    struct stat status;
    bool is_source;
} target;

static bool same_file(const target *t, const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && status.st_dev == t->status.st_dev && status.st_ino == t->status.st_ino;
}

static bool compare(void *user, const char *relative, const char *where) {
    target *t = user;
    char *path = exi_path_join(t->edit->path, relative);
    (void)where;
    t->is_source = path && same_file(t, path);
    free(path);
    return !t->is_source;
}

/* Of the project as it was built, and as it is on disk. */
static bool is_source(const exi_edit *edit, target *t) {
    ex_project *stored = NULL;
    t->is_source = same_file(t, edit->path) || (edit->motion_source && same_file(t, edit->motion_source));
    if (!t->is_source && edit->project)
        exi_named_files(ex_project_get(edit->project), true, compare, t);
    if (!t->is_source && ex_project_read(edit->path, &stored, NULL) == EX_OK)
        exi_named_files(ex_project_get(stored), true, compare, t);
    ex_project_destroy(stored);
    return t->is_source;
}

/* Whether a file may be written there; false after a refusal. */
static bool may_write(const exi_edit *edit, const char *path, bool overwrite, exi_answer *answer) {
    target t = {.edit = edit};
    const char *name = strrchr(path, '/') + 1;
    if (lstat(path, &t.status) != 0)
        return true;
    if (!overwrite)
        exi_refuse(answer, 409, "'%s' exists already", name);
    else if (!S_ISREG(t.status.st_mode))
        exi_refuse(answer, 403, "'%s' is not a plain file: take another name", name);
    else if (is_source(edit, &t))
        exi_refuse(answer, 403, "'%s' is a file that the project or the motion is made from: take another name", name);
    else
        return true;
    return false;
}

static bool may_write_all(const exi_edit *edit, const char *path, bool overwrite, exi_answer *answer) {
    if (ex_cache_kind_of(path) != EX_CACHE_OBJ)
        return may_write(edit, path, overwrite, answer);
    bool good = true;
    for (int i = 1; good && i <= edit->motion->pose_count; i++) {
        char *frame = exi_bake_frame_path(path, i, edit->motion->pose_count);
        good = frame && may_write(edit, frame, overwrite, answer);
        if (!frame)
            exi_refuse_memory(answer);
        free(frame);
    }
    return good;
}

/* ---- the work ---- */

static void reply_baked(const char *name, const ex_rig *rig, const ex_motion *motion, const ex_bake_options *how,
                        const ex_bake_report *report, exi_answer *answer) {
    char notes[EXI_BAKE_NOTES][EXI_BAKE_NOTE_SIZE];
    const int count = report ? exi_bake_notes(rig, how, report, notes) : 0;
    exi_reply reply;
    if (!exi_reply_start(&reply, answer, 200))
        return;
    exi_emit_text(&reply.json, "path", name);
    exi_emit_number(&reply.json, "frames", motion->pose_count);
    if (report) {
        exi_emit_number(&reply.json, "maximum", report->total.largest);
        exi_emit_number(&reply.json, "rms", report->total.rms);
    } else {
        exi_emit_text(&reply.json, "maximum", NULL);
        exi_emit_text(&reply.json, "rms", NULL);
    }
    exi_emit_open(&reply.json, "notes", '[');
    for (int i = 0; i < count; i++)
        exi_emit_text(&reply.json, NULL, notes[i]);
    exi_emit_close(&reply.json, ']');
    exi_reply_end(&reply);
}

static void bake(const exi_edit *edit, const char *path, exi_answer *answer) {
    ex_error error = {.result = EX_OK};
    ex_bake_report report;
    const bool standard = exi_path_ends_with(path, ".glb");
    bool *muted = exi_bake_muted(edit->rig);
    const ex_bake_options how = {
        .level = exi_bake_level(edit->rig), .muted = muted, .tasks = exi_pool_tasks(edit->pool)};
    if (!muted)
        exi_refuse_memory(answer);
    else if ((standard ? ex_bake_glb(edit->rig, edit->motion, path, &how, &report, &error)
                       : ex_bake_cache(edit->rig, edit->motion, path, &how, &error)) != EX_OK)
        exi_refuse_error(edit, answer, 422, &error, NULL);
    else
        reply_baked(strrchr(path, '/') + 1, edit->rig, edit->motion, &how, standard ? &report : NULL, answer);
    free(muted);
}

/* With `building` locked. */
static void bake_named(exi_edit *edit, const exi_asked *asked, const char *name, exi_answer *answer) {
    char id[24], last[24], overwrite[4] = "0";
    if (!exi_edit_open_rig(edit, asked, answer) || !exi_asked_needed(asked, "motion", id, sizeof id, answer))
        return;
    snprintf(last, sizeof last, "%d", edit->motion_count);
    if (!edit->motion || strcmp(id, last) != 0) {
        exi_refuse(answer, 409, "another motion has been opened since then: try again");
        return;
    }
    if (!exi_asked_optional(asked, "overwrite", overwrite, sizeof overwrite, answer))
        return;
    char *path = exi_path_join(edit->path, name);
    if (!path)
        exi_refuse_memory(answer);
    else if (may_write_all(edit, path, strcmp(overwrite, "1") == 0, answer))
        bake(edit, path, answer);
    free(path);
}

void exi_edit_post_bake(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    static const char *const endings[] = {".glb", ".pc2", ".mdd", ".obj"};
    char name[EXI_EDIT_NAME_SIZE];
    bool known = false;
    if (!exi_edit_asked_name(asked, "name", name, answer))
        return;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        known = known || exi_path_ends_with(name, endings[i]);
    if (!known) {
        exi_refuse(answer, 415, "'%s' is no name for a bake: .glb, .pc2, .mdd or .obj is needed", name);
        return;
    }
    pthread_mutex_lock(&edit->building);
    bake_named(edit, asked, name, answer);
    pthread_mutex_unlock(&edit->building);
}
