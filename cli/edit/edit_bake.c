/* cli/edit/edit_bake.c - bakes from the page: the motion that it plays, on the rig that it shows, into the project's
 * folder, like 'exemplar bake' without options, or for a driver's motion like 'exemplar drive apply'. */
#define _XOPEN_SOURCE 700

#include "cli/bake/bake.h"
#include "cli/base/named.h"
#include "cli/base/rigs.h"
#include "cli/drive/drive.h"
#include "edit.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the output files ---- */

/* A file to write; is_source is set if the project or the motion is read from it. */
typedef struct target {
    const exi_edit *edit;
    const ex_cache_reader *drivers; /* numbered files that the motion is read from, or NULL */
    struct stat status;
    bool is_source;
} target;

static bool same_file(const target *t, const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && status.st_dev == t->status.st_dev && status.st_ino == t->status.st_ino;
}

static bool compare(void *user, const char *relative, const char *where) {
    target *t = user;
    char *path = ex_path_join(t->edit->path, relative);
    (void)where;
    t->is_source = path && same_file(t, path);
    free(path);
    return !t->is_source;
}

/* Looks at the project as built and as it is on disk. */
static bool is_source(const exi_edit *edit, target *t) {
    ex_project *stored = NULL;
    t->is_source = same_file(t, edit->path) || (edit->motion_source && same_file(t, edit->motion_source));
    for (int i = 0; t->drivers && !t->is_source && i < ex_cache_get_info(t->drivers).frame_count; i++)
        t->is_source = same_file(t, ex_cache_path(t->drivers, i));
    if (!t->is_source && edit->project)
        exi_named_files(ex_project_get(edit->project), true, compare, t);
    if (!t->is_source && ex_project_read(edit->path, &stored, NULL) == EX_OK)
        exi_named_files(ex_project_get(stored), true, compare, t);
    ex_project_destroy(stored);
    return t->is_source;
}

/* "exists" distinguishes this refusal from others of the same status. */
static void refuse_existing(const char *name, exi_answer *answer) {
    char text[EXI_EDIT_PATH_SIZE];
    exi_reply reply;
    snprintf(text, sizeof text, "'%s' exists already", name);
    if (!exi_reply_start(&reply, answer, 409))
        return;
    exi_emit_text(&reply.json, "error", text);
    exi_emit_text(&reply.json, "exists", name);
    exi_reply_end(&reply);
}

/* A bake: source and output. */
typedef struct job {
    const exi_edit *edit;
    const char *path;
    bool overwrite;
    double database; /* of a driven rig; NAN: the value at rest */
    int frame_count;
    ex_cache_reader *drivers; /* if they are numbered files */
} job;

/* True if a file may be written there; false after a refusal. */
static bool may_write(const job *j, const char *path, exi_answer *answer) {
    target t = {.edit = j->edit, .drivers = j->drivers};
    const char *name = strrchr(path, '/') + 1;
    if (lstat(path, &t.status) != 0)
        return true;
    if (!j->overwrite)
        refuse_existing(name, answer);
    else if (!S_ISREG(t.status.st_mode))
        exi_refuse(answer, 403, "'%s' is not a plain file: use another name", name);
    else if (is_source(j->edit, &t))
        exi_refuse(answer, 403, "'%s' is a file that the project or the motion uses: use another name", name);
    else
        return true;
    return false;
}

static bool may_write_all(const job *j, exi_answer *answer) {
    if (ex_cache_kind_of(j->path) != EX_CACHE_OBJ)
        return may_write(j, j->path, answer);
    bool good = true;
    for (int i = 0; good && i < j->frame_count; i++) {
        char *frame = ex_cache_frame_path(j->path, i, j->frame_count);
        good = frame && may_write(j, frame, answer);
        if (!frame)
            exi_refuse_memory(answer);
        free(frame);
    }
    return good;
}

/* ---- the work ---- */

typedef struct baked {
    int frame_count;
    const ex_bake_error *error; /* NULL: every vertex is exact */
    char notes[EXI_BAKE_NOTES][EXI_BAKE_NOTE_SIZE];
    int note_count;
} baked;

static void reply_baked(const char *path, const baked *b, exi_answer *answer) {
    exi_reply reply;
    if (!exi_reply_start(&reply, answer, 200))
        return;
    exi_emit_text(&reply.json, "path", strrchr(path, '/') + 1);
    exi_emit_number(&reply.json, "frames", b->frame_count);
    if (b->error) {
        exi_emit_number(&reply.json, "maximum", b->error->largest);
        exi_emit_number(&reply.json, "rms", b->error->rms);
    } else {
        exi_emit_text(&reply.json, "maximum", NULL);
        exi_emit_text(&reply.json, "rms", NULL);
    }
    exi_emit_open(&reply.json, "notes", '[');
    for (int i = 0; i < b->note_count; i++)
        exi_emit_text(&reply.json, NULL, b->notes[i]);
    exi_emit_close(&reply.json, ']');
    exi_reply_end(&reply);
}

static void bake_motion(const job *j, exi_answer *answer) {
    const exi_edit *edit = j->edit;
    ex_error error = {.result = EX_OK};
    ex_bake_report report;
    exi_bake_between between;
    baked b = {.frame_count = j->frame_count};
    const bool standard = ex_path_ends_with(j->path, ".glb");
    bool *muted = exi_muted_read(edit->rig, NULL);
    const ex_bake_options how = {
        .level = exi_bake_level(edit->rig), .muted = muted, .tasks = exi_pool_tasks(edit->pool)};
    if (!muted || (standard && !exi_bake_between_measure(edit->rig, edit->motion, &how, &between))) {
        exi_refuse_memory(answer);
    } else if ((standard ? ex_bake_glb(edit->rig, edit->motion, j->path, &how, &report, &error)
                         : ex_bake_cache(edit->rig, edit->motion, j->path, &how, &error)) != EX_OK) {
        exi_refuse_error(edit, answer, 422, &error, NULL);
    } else {
        b.error = standard ? &report.total : NULL;
        b.note_count = standard ? exi_bake_notes(edit->rig, &how, &report, &between, b.notes) : 0;
        reply_baked(j->path, &b, answer);
    }
    free(muted);
}

static void bake_driver(const job *j, exi_answer *answer) {
    const exi_edit *edit = j->edit;
    ex_error error = {.result = EX_OK};
    ex_drive_report *report = NULL;
    baked b = {.frame_count = j->frame_count};
    const ex_apply_def def = {.rig = edit->rig,
                              .driver = edit->driver_cache,
                              .output = j->path,
                              .database = j->database,
                              .brief = true,
                              .tasks = exi_pool_tasks(edit->pool)};
    _Static_assert(EXI_DRIVE_FAR_SIZE == EXI_BAKE_NOTE_SIZE, "a sentence about far frames is a note");
    if (ex_drive_apply(&def, &report, &error) != EX_OK) {
        exi_edit_hide_folder(edit->driver_cache, &error);
        exi_refuse_error(edit, answer, 422, &error, NULL);
        return;
    }
    b.note_count = exi_drive_far_text(report, b.notes[0]);
    ex_drive_report_free(report);
    reply_baked(j->path, &b, answer);
}

/* ---- the request ---- */

/* Finds the motion's length and source; false after a refusal. */
static bool look_at_motion(job *j, exi_answer *answer) {
    const exi_edit *edit = j->edit;
    ex_error error = {.result = EX_OK};
    ex_cache_reader *reader = NULL;
    if (edit->motion) {
        j->frame_count = edit->motion->pose_count;
        return true;
    }
    if (ex_path_ends_with(j->path, ".glb")) {
        exi_refuse(answer, 415,
                   "glTF cannot hold a mesh that follows a driver: use a point cache, .pc2, .mdd, .abc or .obj");
        return false;
    }
    ex_result result = ex_cache_open(edit->driver_cache, &reader, &error);
    if (result == EX_OK)
        j->frame_count = ex_cache_get_info(reader).frame_count;
    if (ex_cache_kind_of(edit->driver_cache) == EX_CACHE_OBJ)
        j->drivers = reader;
    else
        ex_cache_close(reader);
    if (result == EX_OK)
        return true;
    exi_edit_hide_folder(edit->driver_cache, &error);
    exi_refuse_error(edit, answer, 422, &error, NULL);
    return false;
}

/* For a driven rig with several cloths: the one to bake. */
static bool read_database(const exi_asked *asked, double *value, exi_answer *answer) {
    char text[40] = "";
    const char *at = text;
    *value = NAN;
    if (!exi_asked_optional(asked, "database", text, sizeof text, answer))
        return false;
    if (!text[0] || (ex_parse_double(&at, text + strlen(text), value) && !*at && isfinite(*value)))
        return true;
    exi_refuse(answer, 400, "'%s' is not a number", text);
    return false;
}

/* With `building` locked. */
static void bake_named(exi_edit *edit, const exi_asked *asked, const char *name, exi_answer *answer) {
    char id[24], last[24], overwrite[4] = "0";
    job j = {.edit = edit};
    if (!exi_edit_open_rig(edit, asked, answer) || !exi_asked_needed(asked, "motion", id, sizeof id, answer))
        return;
    snprintf(last, sizeof last, "%d", edit->motion_count);
    if (!(edit->motion || edit->driver_cache) || strcmp(id, last) != 0) {
        exi_refuse(answer, 409, "another motion has been opened since then: try again");
        return;
    }
    if (!exi_asked_optional(asked, "overwrite", overwrite, sizeof overwrite, answer) ||
        !read_database(asked, &j.database, answer))
        return;
    char *path = ex_path_join(edit->path, name);
    j.path = path;
    j.overwrite = strcmp(overwrite, "1") == 0;
    if (!path)
        exi_refuse_memory(answer);
    else if (look_at_motion(&j, answer) && may_write_all(&j, answer))
        (edit->motion ? bake_motion : bake_driver)(&j, answer);
    ex_cache_close(j.drivers);
    free(path);
}

void exi_edit_post_bake(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    static const char *const endings[] = {".glb", ".pc2", ".mdd", ".abc", ".obj"};
    char name[EXI_EDIT_NAME_SIZE];
    bool known = false;
    if (!exi_edit_asked_name(asked, "name", name, answer))
        return;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        known = known || ex_path_ends_with(name, endings[i]);
    if (!known) {
        exi_refuse(answer, 415, "'%s' cannot be the name of a bake: .glb, .pc2, .mdd, .abc or .obj is needed", name);
        return;
    }
    pthread_mutex_lock(&edit->building);
    bake_named(edit, asked, name, answer);
    pthread_mutex_unlock(&edit->building);
}
