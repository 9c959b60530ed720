/*
 * scan: sessions of scans, each made into a body. What concerns one scan is a task of its own; what needs all scans
 * runs once in between.
 *
 *   {"work": "scan", "sessions": ["anna", "people/ *"]}
 *
 *   1 markers   of each scan (left out if all scans have labels)
 *   2 names     of markers: once for each session
 *   3 skeleton  template and cage: once for each session
 *   4 measure   each scan against the cage (only if scans lend detail to each other)
 *   5 maps      of each scan
 *   6 body      project and rig: once for each session
 *
 * With a template person, after markers and names if scans have no landmarks:
 *
 *   1 reference  figure and pose of the reference scan
 *   2 screen     pose of each scan
 *   3 figure     of the person
 *   4 carry      the person to each scan
 *   5 body       skeleton, skin weights, layers and rig
 *
 * Frames of a sequence depend on each other, and are one task.
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
static const char *const made[] = {"found",    "fit.json", "template",   "cage.obj",     "maps",      "measured",
                                   "changes",  "masks",    "figure",     "sides",        "base.ply",  "body.json",
                                   "body.glb", "look",     "registered", "skeleton.glb", "poses.csv", "wrong.png",
                                   "truth",    "carried",  "report.json"};

typedef struct session {
    ex_scan_session *scans;
    char *folder, *name;
    json_t *links;  /* names that a task sees of the folder */
    json_t *common; /* inputs of all tasks */
    bool named;     /* scans have names of their points already */
    json_t *items;  /* of the present stage */
    json_t *once;   /* tasks of stages that run once */
    json_t *last;   /* tasks of the last stage of scans, until a stage that runs once has taken them */
    json_t *all;    /* all tasks so far */
    json_t *made;   /* tasks whose files are results */
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
        const bool folder = path && exi_file_is_folder(path),
                   points = strcmp(names[i], "labels") == 0 || strcmp(names[i], "landmarks") == 0;
        if (is_made(names[i])) {
            free(path);
            continue;
        }
        if (folder && points && s->named) {
            /* Nothing is written there, so one link and one input serve all tasks, however many scans there are. */
            result = exi_planner_add_folder(p, s->common, path);
            json_array_append_new(s->links, json_string(names[i]));
        } else if (folder && points) {
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

/* A path of the session. In a private folder, one that leads out of it would lead elsewhere. */
static ex_result find_path(exi_planner *p, const session *s, const char *name, char **path) {
    *path = NULL;
    if (strncmp(name, "../", 3) == 0 || strstr(name, "/../"))
        return exi_job_wrong(p, "'%s' names '%s', which is outside its folder: write the whole path, from / on",
                             s->folder, name);
    *path = name[0] == '/' ? text_copy(name) : exi_path_inside(s->folder, name, "");
    return *path ? EX_OK : ex_error_memory(p->error, "a path", 64);
}

/* Files that scan.json names, besides scans, are inputs of all tasks. */
static ex_result add_named(exi_planner *p, session *s) {
    const char *const names[] = {s->scans->markers, s->scans->cage, s->scans->skeleton, s->scans->person};
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < sizeof names / sizeof *names; i++) {
        char *path = NULL;
        if (names[i])
            result = find_path(p, s, names[i], &path);
        if (result == EX_OK && path && exi_file_exists(path)) /* else it is "full" or "human" */
            result = exi_planner_add_input(p, s->common, path);
        free(path);
    }
    return result;
}

/* The files of one scan, as inputs. */
static ex_result add_scan(exi_planner *p, const session *s, int scan, json_t *inputs) {
    const ex_scan_entry *entry = &s->scans->scans[scan];
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < entry->file_count; i++) {
        char *path = NULL;
        result = find_path(p, s, entry->files[i], &path);
        if (result == EX_OK)
            result = exi_planner_add_input(p, inputs, path);
        free(path);
    }
    return result;
}

/* True if every scan has labels, or landmarks, or is a frame after another: then no markers are found and named. */
static bool is_named(const session *s) {
    const bool person = s->scans->person != NULL;
    bool all = true;
    for (int i = 0; all && i < s->scans->scan_count; i++) {
        const ex_scan_entry *scan = &s->scans->scans[i];
        char *labels = ex_scan_path(s->scans, "labels", scan->name, ".csv"),
             *landmarks = ex_scan_path(s->scans, "landmarks", scan->name, ".csv");
        all = labels && landmarks &&
              (exi_file_exists(labels) || (person && (scan->follows || exi_file_exists(landmarks))));
        free(labels);
        free(landmarks);
    }
    return all || (person && !s->scans->markers);
}

/* ---- stages ---- */

/* Adds an item: a command on the session, with the files of `count` scans as inputs; of all if count is 0. */
static ex_result add_item(exi_planner *p, session *s, int scan, int count, const json_t *words, const json_t *needs) {
    json_t *inputs = json_deep_copy(s->common), *folders = json_pack("[s]", "session");
    char name[640];
    ex_result result = inputs && folders ? EX_OK : ex_error_memory(p->error, "a plan", 64);
    for (int i = scan; result == EX_OK && i < scan + (count ? count : s->scans->scan_count); i++)
        result = add_scan(p, s, i, inputs);
    snprintf(name, sizeof name, "%s%s%s", s->name, count ? " " : "", count ? s->scans->scans[scan].name : "");
    json_t *item = result == EX_OK ? exi_planner_add(p, &(exi_farm_item){.name = name,
                                                                         .words = words,
                                                                         .inputs = inputs,
                                                                         .needs = needs,
                                                                         .session = s->folder,
                                                                         .links = s->links,
                                                                         .folders = folders})
                                   : NULL;
    if (item)
        json_array_append(s->items, item);
    json_decref(inputs);
    json_decref(folders);
    return item ? EX_OK : p->error->result;
}

static void append_new(json_t *tasks, json_t *task) {
    const size_t count = json_array_size(tasks);
    if (count == 0 || !json_equal(json_array_get(tasks, count - 1), task)) /* several items may share a task */
        json_array_append(tasks, task);
}

/* After a stage: files its tasks. */
static void gather(session *s, bool once, bool kept) {
    size_t i, k;
    json_t *item, *task;
    json_array_clear(s->last);
    json_array_foreach(s->items, i, item) {
        json_array_foreach((json_t *)exi_planner_tasks_of(item), k, task) {
            append_new(once ? s->once : s->last, task);
            append_new(s->all, task);
            if (kept)
                append_new(s->made, task);
        }
    }
    json_array_clear(s->items);
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
    const ex_result result = add_item(p, s, 0, 0, commands, needs);
    json_decref(commands);
    return result;
}

/* Number of scans that must stay together, from one on: the frames of a sequence. */
static int sequence_length(const session *s, int scan) {
    int count = 1;
    while (scan + count < s->scans->scan_count && s->scans->scans[scan + count].follows)
        count++;
    return count;
}

/* One command for each scan, or each sequence. */
static ex_result add_scans(exi_planner *p, session *s, const char *step, const char *more, const json_t *needs) {
    const bool markers = strcmp(step, "markers") == 0;
    ex_result result = EX_OK;
    for (int i = 0, count = 0; result == EX_OK && i < s->scans->scan_count; i += count) {
        json_t *words = json_pack("[s, s, s]", "scan", step, "@/session");
        count = markers ? 1 : sequence_length(s, i);
        for (int k = i; k < i + count; k++) {
            if (!markers)
                json_array_append_new(words, json_string("--scan"));
            json_array_append_new(words, json_string(s->scans->scans[k].name));
        }
        if (more)
            json_array_append_new(words, json_string(more));
        result = add_item(p, s, i, count, words, needs);
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

/* A stage, of all sessions to which it applies. */
typedef struct stage {
    const char *name;
    bool (*applies)(const session *s);
    const char *const (*steps)[4]; /* commands that run once, one after the other; NULL: `step` runs for each scan */
    int step_count;
    const char *step, *more;
    bool all;  /* it needs all tasks before it, else those of stages that run once and of the stage before */
    bool kept; /* its files are results */
} stage;

static bool has_cage(const session *s) {
    return !s->scans->person;
}
static bool has_person(const session *s) {
    return s->scans->person != NULL;
}
static bool has_no_names(const session *s) {
    return !s->named;
}
static bool lends(const session *s) {
    return has_cage(s) && s->scans->lend;
}

static const char *const names[][4] = {{"scan", "label", NULL}};
static const char *const skeleton[][4] = {
    {"scan", "fit", NULL}, {"scan", "template", NULL}, {"scan", "build", "--cage-only", NULL}};
static const char *const reference[][4] = {{"scan", "carry", "--reference-only", NULL}};
static const char *const figure[][4] = {{"scan", "carry", "--figure-only", NULL}};
static const char *const body[][4] = {{"scan", "build", NULL}};
static const char *const person_body[][4] = {{"scan", "carry", NULL}, {"scan", "build", NULL}};

#define ONCE(list) .steps = (list), .step_count = (int)(sizeof(list) / sizeof(list)[0])

static const stage stages[] = {
    {.name = "markers", .applies = has_no_names, .step = "markers", .kept = true},
    {.name = "names", .applies = has_no_names, ONCE(names), .kept = true},
    {.name = "skeleton", .applies = has_cage, ONCE(skeleton), .kept = true},
    {.name = "measure", .applies = lends, .step = "build", .more = "--measure"},
    {.name = "maps", .applies = has_cage, .step = "build", .kept = true},
    {.name = "body", .applies = has_cage, ONCE(body), .kept = true},
    {.name = "reference", .applies = has_person, ONCE(reference), .kept = true},
    {.name = "screen", .applies = has_person, .step = "carry", .more = "--screen", .kept = true},
    {.name = "figure", .applies = has_person, ONCE(figure), .kept = true},
    {.name = "carry", .applies = has_person, .step = "carry", .kept = true},
    {.name = "body", .applies = has_person, ONCE(person_body), .all = true, .kept = true},
};

static ex_result add_stage(exi_planner *p, const stage *g, session *list, int session_count) {
    ex_result result = EX_OK;
    int count = 0;
    for (int i = 0; result == EX_OK && i < session_count; i++) {
        session *s = &list[i];
        if (!g->applies(s))
            continue;
        json_t *needs = json_copy(g->all ? s->all : s->once);
        if (!g->all)
            json_array_extend(needs, s->last);
        result = g->steps ? add_steps(p, s, g->steps, g->step_count, needs) : add_scans(p, s, g->step, g->more, needs);
        json_decref(needs);
        count++;
    }
    if (result == EX_OK && count > 0)
        result = g->steps ? end_once(p, g->name, count) : exi_planner_end_stage(p, g->name);
    for (int i = 0; result == EX_OK && i < session_count; i++)
        if (g->applies(&list[i]))
            gather(&list[i], g->steps != NULL, g->kept);
    return result;
}

/* ---- the whole ---- */

static ex_result open_session(exi_planner *p, const char *folder, session *s) {
    *s = (session){.folder = text_copy(folder), .name = exi_path_stem(folder)};
    json_t **const lists[] = {&s->links, &s->common, &s->items, &s->once, &s->last, &s->all, &s->made};
    bool whole = s->folder && s->name;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        *lists[i] = json_array();
        whole = whole && *lists[i];
    }
    ex_result result =
        whole ? ex_scan_session_read(folder, &s->scans, p->error) : ex_error_memory(p->error, "a plan", 64);
    s->named = result == EX_OK && is_named(s);
    if (result == EX_OK)
        result = look_at_folder(p, s);
    if (result == EX_OK)
        result = add_named(p, s);
    return result;
}

static void close_session(session *s) {
    json_t *const lists[] = {s->links, s->common, s->items, s->once, s->last, s->all, s->made};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        json_decref(lists[i]);
    ex_scan_session_destroy(s->scans);
    free(s->folder);
    free(s->name);
}

/* Steps keep files of former runs if they fit. Tasks do not see those files, so that they make what a first run would.
 */
static ex_result plan(exi_planner *p) {
    json_t *folders = NULL, *none = json_array();
    ex_result result = exi_job_paths(p, "sessions", false, &folders);
    session *list = result == EX_OK ? calloc(json_array_size(folders) + 1, sizeof *list) : NULL;
    int count = 0;
    if (result == EX_OK && (!list || !none))
        result = ex_error_memory(p->error, "a plan", 64);
    for (size_t i = 0; result == EX_OK && i < json_array_size(folders); i++, count++)
        result = open_session(p, json_string_value(json_array_get(folders, i)), &list[i]);
    for (size_t i = 0; result == EX_OK && i < sizeof stages / sizeof *stages; i++)
        result = add_stage(p, &stages[i], list, count);
    for (int i = 0; result == EX_OK && i < count; i++)
        result = exi_planner_result(p, "files", list[i].folder, list[i].made, none,
                                    json_pack("{s:s, s:[s]}", "below", "session/", "without", "session/carried/"));
    for (int i = 0; i < count; i++)
        close_session(&list[i]);
    free(list);
    json_decref(folders);
    json_decref(none);
    return result;
}

const exi_farm_work exi_farm_work_scan = {
    .name = "scan",
    .keys = (const char *const[]){"work", "threads", "sessions", NULL},
    .plan = plan,
};
