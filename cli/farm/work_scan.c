/*
 * scan: sessions of scans, each made into a body. What concerns one scan is a task of its own; what needs all scans
 * runs once in between.
 *
 *   {"work": "scan", "sessions": ["anna", "people/ *"]}
 *
 *   1 markers   of each scan (left out if all scans have labels)
 *   2 skeleton  names, skeleton, template, cage: once for each session
 *   3 measure   each scan against the cage (only if scans lend detail to each other)
 *   4 maps      of each scan
 *   5 body      project and rig: once for each session
 *
 * With a template person:
 *
 *   1 carry     the person to all scans
 *   2 body      skeleton, skin weights, layers and rig
 */
#define _GNU_SOURCE

#include "planner.h"

#include "cli/base/files.h"
#include "common/array.h"

#include <exemplar/author/scan.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Files and folders that the steps of a session write: no task takes them from the session itself. */
static const char *const made[] = {"found",        "fit.json",  "template",  "cage.obj", "maps",
                                   "measured",     "changes",   "masks",     "figure",   "sides",
                                   "base.ply",     "body.json", "body.glb",  "look",     "registered",
                                   "skeleton.glb", "poses.csv", "wrong.png", "truth",    "report.json"};

typedef struct session {
    ex_scan_session *scans;
    char *folder, *name;
    json_t *links;  /* what a task sees of the folder */
    json_t *common; /* inputs of all tasks */
    bool labelled;
    json_t *tasks;    /* all of its tasks */
    json_t *item_of;  /* items of the present stage */
    json_t *skeleton; /* tasks that all later ones need */
} session;

static bool is_made(const char *name) {
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (strcmp(name, made[i]) == 0)
            return true;
    return name[0] == '.';
}

/* ---- the folder ---- */

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted names in a folder; NULL-ended. Caller frees each and the list. NULL without memory or folder. */
static char **list_folder(const char *path) {
    DIR *folder = opendir(path);
    char **names = NULL;
    size_t room = 0, count = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        char **grown = array_grow(names, &room, count + 2, sizeof *names);
        if (!grown)
            break;
        names = grown;
        if (entry->d_name[0] != '.')
            names[count++] = text_copy(entry->d_name);
        names[count] = NULL;
    }
    if (folder)
        closedir(folder);
    if (names)
        qsort(names, count, sizeof *names, by_text);
    return names;
}

static void free_names(char **names) {
    for (size_t i = 0; names && names[i]; i++)
        free(names[i]);
    free(names);
}

/* Adds a file that all tasks see and depend on. */
static ex_result add_common(exi_planner *p, session *s, const char *name) {
    char *path = exi_path_inside(s->folder, name, "");
    ex_result result = path ? exi_planner_add_input(p, s->common, path) : ex_error_memory(p->error, "a path", 64);
    if (result == EX_OK && json_array_append_new(s->links, json_string(name)) != 0)
        result = ex_error_memory(p->error, "a plan", 64);
    free(path);
    return result;
}

/* Folders of the session are linked as a whole; small tables of points are files of their own, because steps add to
 * them. */
static ex_result look_at_folder(exi_planner *p, session *s) {
    char **names = list_folder(s->folder);
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && names && names[i]; i++) {
        char *path = exi_path_inside(s->folder, names[i], "");
        const bool folder = path && exi_file_is_folder(path), points = strcmp(names[i], "labels") == 0;
        if (is_made(names[i])) {
            free(path);
            continue;
        }
        if (folder && points) {
            char **inner = list_folder(path);
            for (size_t k = 0; result == EX_OK && inner && inner[k]; k++) {
                char *name = exi_path_inside(names[i], inner[k], "");
                result = name ? add_common(p, s, name) : ex_error_memory(p->error, "a path", 64);
                free(name);
            }
            free_names(inner);
        } else if (folder) {
            json_array_append_new(s->links, json_string(names[i]));
        } else {
            result = add_common(p, s, names[i]);
        }
        free(path);
    }
    free_names(names);
    return result;
}

/* The files of one scan, and those of the template person, as inputs. */
static ex_result add_scan(exi_planner *p, const session *s, int scan, json_t *inputs) {
    const ex_scan_entry *entry = &s->scans->scans[scan];
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < entry->file_count; i++) {
        char *path =
            entry->files[i][0] == '/' ? text_copy(entry->files[i]) : exi_path_inside(s->folder, entry->files[i], "");
        result = path ? exi_planner_add_input(p, inputs, path) : ex_error_memory(p->error, "a path", 64);
        free(path);
    }
    return result;
}

static bool all_labelled(const session *s) {
    bool all = true;
    for (int i = 0; all && i < s->scans->scan_count; i++) {
        char *path = ex_scan_path(s->scans, "labels", s->scans->scans[i].name, ".csv");
        all = path && exi_file_exists(path);
        free(path);
    }
    return all;
}

/* ---- stages ---- */

/* Adds an item: a command on the session, with a scan's files or all scans' (scan -1) as inputs. */
static ex_result add_item(exi_planner *p, session *s, int scan, const json_t *words, const json_t *needs) {
    json_t *inputs = json_deep_copy(s->common), *folders = json_pack("[s]", "session");
    char name[640];
    ex_result result = inputs && folders ? EX_OK : ex_error_memory(p->error, "a plan", 64);
    for (int i = scan < 0 ? 0 : scan; result == EX_OK && i < (scan < 0 ? s->scans->scan_count : scan + 1); i++)
        result = add_scan(p, s, i, inputs);
    snprintf(name, sizeof name, "%s%s%s", s->name, scan < 0 ? "" : " ", scan < 0 ? "" : s->scans->scans[scan].name);
    json_t *item = result == EX_OK ? exi_planner_add(p, &(exi_farm_item){.name = name,
                                                                         .words = words,
                                                                         .inputs = inputs,
                                                                         .needs = needs,
                                                                         .session = s->folder,
                                                                         .links = s->links,
                                                                         .folders = folders})
                                   : NULL;
    if (item)
        json_array_append(s->item_of, item);
    json_decref(inputs);
    json_decref(folders);
    return item ? EX_OK : p->error->result;
}

/* After a stage: moves the tasks of its items to `tasks`; and, if their files are results, to all of the session. */
static void gather(session *s, json_t *tasks, bool results) {
    size_t i, k;
    json_t *item, *task;
    json_array_foreach(s->item_of, i, item) json_array_foreach((json_t *)exi_planner_tasks_of(item), k, task) {
        const size_t count = json_array_size(tasks);
        if (count > 0 && json_equal(json_array_get(tasks, count - 1), task))
            continue; /* grouped with the item before */
        json_array_append(tasks, task);
        if (results)
            json_array_append(s->tasks, task);
    }
    json_array_clear(s->item_of);
}

/* Commands that run one after the other. */
static ex_result add_steps(exi_planner *p, session *s, const char *const (*steps)[4], int count, const json_t *needs) {
    json_t *commands = json_array();
    for (int i = 0; i < count; i++) {
        json_t *words = json_pack("[s, s, s]", steps[i][0], steps[i][1], "@/session");
        for (int k = 2; k < 4 && steps[i][k]; k++)
            json_array_append_new(words, json_string(steps[i][k]));
        json_array_append_new(commands, words);
    }
    const ex_result result = add_item(p, s, -1, commands, needs);
    json_decref(commands);
    return result;
}

/* One command for each scan. */
static ex_result add_scans(exi_planner *p, session *s, const char *step, const char *more, const json_t *needs) {
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < s->scans->scan_count; i++) {
        const char *name = s->scans->scans[i].name;
        json_t *words = strcmp(step, "markers") == 0
                            ? json_pack("[s, s, s, s]", "scan", step, "@/session", name)
                            : json_pack("[s, s, s, s, s]", "scan", step, "@/session", "--scan", name);
        if (more)
            json_array_append_new(words, json_string(more));
        result = add_item(p, s, i, words, needs);
        json_decref(words);
    }
    return result;
}

/* A stage that runs once for each session is one task each, whatever --pieces says. */
static ex_result end_once(exi_planner *p, const char *name, int sessions) {
    const int pieces = p->pieces;
    p->pieces = sessions;
    const ex_result result = exi_planner_end_stage(p, name);
    p->pieces = pieces;
    return result;
}

typedef struct sessions {
    int count;
    session *list;
} sessions;

/* The stages of sessions with a cage. */
static ex_result plan_cages(exi_planner *p, sessions *all) {
    static const char *const skeleton[][4] = {{"scan", "label", NULL},
                                              {"scan", "fit", NULL},
                                              {"scan", "template", NULL},
                                              {"scan", "build", "--cage-only", NULL}};
    static const char *const body[][4] = {{"scan", "build", NULL}};
    ex_result result = EX_OK;
    int open = 0, lending = 0;
    for (int i = 0; result == EX_OK && i < all->count; i++) {
        session *s = &all->list[i];
        s->labelled = all_labelled(s);
        open += !s->labelled;
        lending += s->scans->lend;
        if (!s->labelled)
            result = add_scans(p, s, "markers", NULL, NULL);
    }
    if (result == EX_OK && open > 0)
        result = exi_planner_end_stage(p, "markers");
    for (int i = 0; result == EX_OK && i < all->count; i++) {
        session *s = &all->list[i];
        json_t *found = json_array();
        gather(s, found, true);
        result = add_steps(p, s, skeleton + s->labelled, 4 - s->labelled, found);
        json_decref(found);
    }
    if (result == EX_OK)
        result = end_once(p, "skeleton", all->count);
    for (int i = 0; result == EX_OK && i < all->count; i++) {
        session *s = &all->list[i];
        gather(s, s->skeleton, true);
        if (s->scans->lend)
            result = add_scans(p, s, "build", "--measure", s->skeleton);
    }
    if (result == EX_OK && lending > 0)
        result = exi_planner_end_stage(p, "measure");
    for (int i = 0; result == EX_OK && i < all->count; i++) {
        session *s = &all->list[i];
        json_t *needs = json_copy(s->skeleton);
        gather(s, needs, false);
        result = add_scans(p, s, "build", NULL, needs);
        json_decref(needs);
    }
    if (result == EX_OK)
        result = exi_planner_end_stage(p, "maps");
    for (int i = 0; result == EX_OK && i < all->count; i++) {
        session *s = &all->list[i];
        json_t *needs = json_copy(s->skeleton);
        gather(s, needs, true);
        result = add_steps(p, s, body, 1, needs);
        json_decref(needs);
    }
    return result == EX_OK ? end_once(p, "body", all->count) : result;
}

/* ---- the whole ---- */

static ex_result open_session(exi_planner *p, const char *folder, session *s) {
    char *stem = exi_path_stem(folder);
    *s = (session){.folder = text_copy(folder),
                   .name = stem,
                   .links = json_array(),
                   .common = json_array(),
                   .tasks = json_array(),
                   .item_of = json_array(),
                   .skeleton = json_array()};
    if (!s->folder || !stem || !s->links || !s->common || !s->tasks || !s->item_of || !s->skeleton)
        return ex_error_memory(p->error, "a plan", 64);
    const ex_result result = ex_scan_session_read(folder, &s->scans, p->error);
    return result == EX_OK ? look_at_folder(p, s) : result;
}

static void close_session(session *s) {
    ex_scan_session_destroy(s->scans);
    json_decref(s->links);
    json_decref(s->common);
    json_decref(s->tasks);
    json_decref(s->item_of);
    json_decref(s->skeleton);
    free(s->folder);
    free(s->name);
}

/* Steps keep files of former runs if they fit. Tasks do not see those files, so that they make what a first run would.
 */
static ex_result plan(exi_planner *p) {
    json_t *folders = NULL;
    ex_result result = exi_job_paths(p, "sessions", false, &folders);
    sessions all = {.list = result == EX_OK ? calloc(json_array_size(folders) + 1, sizeof *all.list) : NULL};
    if (result == EX_OK && !all.list)
        result = ex_error_memory(p->error, "a plan", 64);
    for (size_t i = 0; result == EX_OK && i < json_array_size(folders); i++) {
        result = open_session(p, json_string_value(json_array_get(folders, i)), &all.list[i]);
        all.count++;
        if (result == EX_OK && all.list[i].scans->person)
            result = exi_job_wrong(p, "'%s' has a template person: run 'exemplar scan run' there", all.list[i].folder);
    }
    if (result == EX_OK)
        result = plan_cages(p, &all);
    for (int i = 0; result == EX_OK && i < all.count; i++) {
        session *s = &all.list[i];
        json_t *none = json_array();
        gather(s, none, true);
        result = exi_planner_result(p, "files", s->folder, s->tasks, none, json_pack("{s:s}", "below", "session/"));
        json_decref(none);
    }
    for (int i = 0; i < all.count; i++)
        close_session(&all.list[i]);
    free(all.list);
    json_decref(folders);
    return result;
}

const exi_farm_work exi_farm_work_scan = {
    .name = "scan",
    .keys = (const char *const[]){"work", "threads", "sessions", NULL},
    .plan = plan,
};
