/*
 * Reads a scan session: FOLDER/scan.json.
 *
 *     { "exemplar_scan": 1, "skeleton": "upper", "markers": "markers.csv", "reference": "arm_00", "average": "arm_13",
 *       "levels": 5, "reach": 0.06, "neighbours": 8, "mirror": true,
 *       "parts": [ {"name": "arm", "joints": ["elbow.L", "forearm.L", "wrist.L"], "covers": ["shoulder.L", …]} ],
 *       "scans": [ {"name": "arm_00", "part": "arm", "files": ["scans/arm_00.ply"], "pose": {"elbow.L": 60}} ] }
 */
#define _POSIX_C_SOURCE 200809L

#include "author/scan/session/session.h"

#include "author/base/array.h"
#include "author/base/json.h"
#include "runtime/base/functions.inl"
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/base/vector.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The session, and the memory that holds all of it except the kinematics. */
typedef struct exi_session {
    ex_scan_session session; /* first */
    exi_arena arena;
} exi_session;

char *exi_scan_file(const char *folder, const char *relative) {
    const size_t size = strlen(folder) + 2;
    char *inside = malloc(size), *path = NULL;
    if (inside) {
        memcpy(inside, folder, size - 2);
        memcpy(inside + size - 2, "/", 2);
        path = ex_path_join(inside, relative);
    }
    free(inside);
    return path;
}

bool exi_scan_is_there(const char *path) {
    return access(path, R_OK) == 0; /* needs no memory, whose lack would look like a missing file */
}

/* ---- poses ---- */

static ex_result read_turn(const json_t *value, const exi_place *place, const ex_kin_joint *joint, double q[4],
                           ex_error *error) {
    double degrees = 0;
    if (joint->freedom == EX_FREEDOM_FIXED)
        return ex_error_set(error, EX_ERROR_DATA, "%s: this joint is fixed", place->text);
    if (joint->freedom != EX_FREEDOM_HINGE)
        return exi_json_rotation(value, place, q, error);
    ex_result result = exi_json_number(value, place, &degrees, error);
    if (result != EX_OK)
        return ex_error_set(error, EX_ERROR_DATA, "%s: a hinge turns by a number of degrees", place->text);
    double sine;
    exi_sin_cos(fmod(degrees, 720) * (3.14159265358979323846 / 360), &sine, &q[3]);
    for (int i = 0; i < 3; i++)
        q[i] = sine * joint->axis[i];
    return EX_OK;
}

ex_result exi_scan_read_pose(exi_reader *r, const json_t *object, const exi_place *place,
                             const ex_kinematics *kinematics, double (*rotations)[4]) {
    const char *key;
    json_t *value;
    ex_result result = EX_OK;
    for (int i = 0; i < kinematics->joint_count; i++)
        memcpy(rotations[i], (double[4]){0, 0, 0, 1}, sizeof rotations[i]);
    if (!json_is_object(object))
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: a pose is an object: {\"JOINT\": degrees or rotation}",
                            place->text);
    json_object_foreach((json_t *)object, key, value) {
        const exi_place at = exi_place_key(place, key);
        const int joint = ex_kinematics_find_joint(kinematics, key);
        if (joint < 0)
            return ex_error_set(r->error, EX_ERROR_DATA, "%s: the skeleton has no joint '%s'", at.text, key);
        result = read_turn(value, &at, &kinematics->joints[joint], rotations[joint], r->error);
        if (result != EX_OK)
            return result;
        exi_normalise(rotations[joint], 4);
    }
    return EX_OK;
}

/* ---- lists ---- */

static ex_result read_words(exi_reader *r, const json_t *object, const exi_place *place, const char *key, char ***words,
                            int *count) {
    const json_t *list = json_object_get(object, key);
    const exi_place at = exi_place_key(place, key);
    if (!list)
        return EX_OK;
    if (json_array_size(list) == 0 || json_array_size(list) > EX_JOINT_MAX)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: a list of names is needed here", at.text);
    *words = exi_arena_allocate(r->arena, json_array_size(list), sizeof **words);
    if (!*words)
        return ex_error_memory(r->error, "the session", json_array_size(list) * sizeof **words);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        const exi_place item = exi_place_index(&at, i);
        if (!word || !word[0])
            return ex_error_set(r->error, EX_ERROR_DATA, "%s: a name is needed here", item.text);
        for (size_t k = 0; k < i; k++) {
            if (strcmp((*words)[k], word) == 0)
                return ex_error_set(r->error, EX_ERROR_DATA, "%s: '%s' is already in this list", item.text, word);
        }
        (*words)[i] = exi_arena_text(r->arena, word);
        if (!(*words)[i])
            return ex_error_memory(r->error, "the session", strlen(word));
    }
    *count = (int)json_array_size(list);
    return EX_OK;
}

static ex_result check_joints(exi_reader *r, const ex_scan_session *session, const exi_place *place, const char *key,
                              char **names, int count) {
    const ex_kinematics *kinematics = session->kinematics;
    for (int i = 0; i < count; i++) {
        if (ex_kinematics_find_joint(kinematics, names[i]) >= 0)
            continue;
        const char **all = exi_array_allocate((size_t)kinematics->joint_count, sizeof *all);
        for (int j = 0; all && j < kinematics->joint_count; j++)
            all[j] = kinematics->joints[j].name;
        const char *near = all ? ex_suggest(names[i], all, kinematics->joint_count) : NULL;
        free((void *)all);
        return ex_error_set(r->error, EX_ERROR_DATA, "%s.%s[%d]: the skeleton has no joint '%s'%s%s%s", place->text,
                            key, i, names[i], near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return EX_OK;
}

bool exi_scan_is_name(const char *name) {
    return exi_is_name(name) && name[0] != '.' && strpbrk(name, "/\\:*?\"<>|") == NULL && strlen(name) < 128 &&
           strcmp(name, "doubtful") != 0; /* a file in labels/ of another kind */
}

bool exi_scan_is_part_name(const char *name) {
    return exi_scan_is_name(name) && strcmp(name, "base") != 0 && strcmp(name, "figure") != 0;
}

static ex_result read_part(exi_reader *r, const json_t *object, const exi_place *place, const ex_scan_session *session,
                           ex_scan_part *part) {
    static const char *const keys[] = {"name", "joints", "solve", "covers", NULL};
    static const char *const needed[] = {"name", "joints", "covers", NULL};
    const char *name = NULL;
    ex_result result = json_is_object(object)
                           ? exi_check_keys(r, object, place, keys)
                           : ex_error_set(r->error, EX_ERROR_DATA, "%s: a part must be an object", place->text);
    if (result == EX_OK)
        result = exi_require_keys(r, object, place, needed);
    if (result == EX_OK)
        result = exi_get_text(r, object, place, "name", true, &name);
    part->name = (char *)name;
    if (result == EX_OK && !exi_scan_is_part_name(name))
        result = ex_error_set(r->error, EX_ERROR_DATA,
                              "%s.name: '%s' cannot be the name of a part, because a file and a layer get that name",
                              place->text, name);
    if (result == EX_OK)
        result = read_words(r, object, place, "joints", &part->joints, &part->joint_count);
    if (result == EX_OK)
        result = check_joints(r, session, place, "joints", part->joints, part->joint_count);
    part->solves = part->joints;
    part->solve_count = part->joint_count;
    if (result == EX_OK)
        result = read_words(r, object, place, "solve", &part->solves, &part->solve_count);
    if (result == EX_OK)
        result = check_joints(r, session, place, "solve", part->solves, part->solve_count);
    if (result == EX_OK)
        result = read_words(r, object, place, "covers", &part->covers, &part->cover_count);
    if (result == EX_OK)
        result = check_joints(r, session, place, "covers", part->covers, part->cover_count);
    return result;
}

/* Reads "part": a name, or a list of names; without it, all parts. */
static ex_result read_scan_parts(exi_reader *r, const json_t *object, const exi_place *place,
                                 const ex_scan_session *session, ex_scan_entry *scan) {
    const json_t *value = json_object_get(object, "part");
    const char *one = NULL;
    char *single[1], **names = NULL;
    int count = 0;
    ex_result result = EX_OK;
    if (json_is_array(value)) {
        result = read_words(r, object, place, "part", &names, &count);
    } else if (value) {
        result = exi_get_text(r, object, place, "part", true, &one);
        single[0] = (char *)one;
        names = single;
        count = 1;
    }
    if (result != EX_OK)
        return result;
    scan->part_count = value ? count : session->part_count;
    scan->parts = exi_arena_allocate(r->arena, (size_t)scan->part_count, sizeof *scan->parts);
    if (!scan->parts)
        return ex_error_memory(r->error, "the session", (size_t)scan->part_count * sizeof *scan->parts);
    for (int k = 0; k < scan->part_count; k++) {
        scan->parts[k] = value ? -1 : k;
        for (int i = 0; i < session->part_count && scan->parts[k] < 0; i++)
            scan->parts[k] = strcmp(session->parts[i].name, names[k]) == 0 ? i : -1;
        if (scan->parts[k] < 0)
            return ex_error_set(r->error, EX_ERROR_DATA, "%s.part: there is no part '%s' in \"parts\"", place->text,
                                names[k]);
    }
    return EX_OK;
}

static ex_result read_scan(exi_reader *r, const json_t *object, const exi_place *place, ex_scan_session *session,
                           ex_scan_entry *scan) {
    static const char *const keys[] = {"name", "part", "files", "held", "pose", "follows", NULL};
    static const char *const needed[] = {"name", "files", NULL};
    const exi_place at = exi_place_key(place, "pose");
    const char *name = NULL;
    const json_t *pose = json_object_get(object, "pose");
    ex_result result = json_is_object(object)
                           ? exi_check_keys(r, object, place, keys)
                           : ex_error_set(r->error, EX_ERROR_DATA, "%s: a scan must be an object", place->text);
    if (result == EX_OK)
        result = exi_require_keys(r, object, place, needed);
    if (result == EX_OK)
        result = exi_get_text(r, object, place, "name", true, &name);
    if (result == EX_OK)
        result = read_words(r, object, place, "files", &scan->files, &scan->file_count);
    if (result == EX_OK)
        result = read_scan_parts(r, object, place, session, scan);
    if (result == EX_OK)
        result = exi_get_bool(r, object, place, "held", &scan->held);
    if (result == EX_OK)
        result = exi_get_bool(r, object, place, "follows", &scan->follows);
    if (result == EX_OK && scan->follows && scan == session->scans)
        result = ex_error_set(r->error, EX_ERROR_DATA, "%s.follows: there is no scan before the first", place->text);
    if (result != EX_OK)
        return result;
    if (scan->held && !session->person)
        return ex_error_set(r->error, EX_ERROR_DATA,
                            "%s.held: only sessions with a template person can hold scans back", place->text);
    if (!exi_scan_is_name(name))
        return ex_error_set(r->error, EX_ERROR_DATA,
                            "%s.name: '%s' cannot be the name of a scan, because files get that name", place->text,
                            name);
    const size_t length = strlen(name), tail = strlen(".mirrored");
    if (length > tail && strcmp(name + length - tail, ".mirrored") == 0)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s.name: '%s' would be the name of another scan's mirror image",
                            place->text, name);
    if (ex_scan_session_find(session, name) >= 0)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s.name: there is already a scan '%s'", place->text, name);
    scan->name = (char *)name;
    scan->posed = pose != NULL;
    if (pose) {
        scan->pose.rotations =
            exi_arena_allocate(r->arena, (size_t)session->kinematics->joint_count, sizeof *scan->pose.rotations);
        if (!scan->pose.rotations)
            return ex_error_memory(r->error, "the session", 0);
        result = exi_scan_read_pose(r, pose, &at, session->kinematics, scan->pose.rotations);
    }
    return result;
}

static ex_result read_list(exi_reader *r, const json_t *root, const char *key, size_t item_size, void **items,
                           const json_t **list) {
    *list = json_object_get(root, key);
    if (json_array_size(*list) == 0 || json_array_size(*list) > 100000)
        return ex_error_set(r->error, EX_ERROR_DATA, "%s: a list with at least one of them is needed here", key);
    *items = exi_arena_allocate(r->arena, json_array_size(*list), item_size);
    return *items ? EX_OK : ex_error_memory(r->error, "the session", json_array_size(*list) * item_size);
}

/* ---- the session ---- */

/* A template person needs no parts: one of all joints. */
static ex_result add_whole(exi_reader *r, ex_scan_session *session) {
    const ex_kinematics *k = session->kinematics;
    ex_scan_part *part = session->parts = exi_arena_allocate(r->arena, 1, sizeof *session->parts);
    if (!part)
        return ex_error_memory(r->error, "the session", sizeof *part);
    part->name = exi_arena_text(r->arena, "body");
    part->joints = part->solves = part->covers =
        exi_arena_allocate(r->arena, (size_t)k->joint_count, sizeof *part->joints);
    part->joint_count = part->solve_count = k->joint_count - 1; /* the base is always solved for */
    part->cover_count = k->joint_count;
    session->part_count = 1;
    for (int j = 0; part->joints && j < k->joint_count; j++)
        part->joints[j] = k->joints[(j + 1) % k->joint_count].name;
    return part->name && part->joints ? EX_OK : ex_error_memory(r->error, "the session", (size_t)k->joint_count * 8);
}

/* Maps of a scan with several parts are called SCAN.PART, which must not be another scan's name. */
static ex_result check_map_names(exi_reader *r, const ex_scan_session *session) {
    for (int i = 0; i < session->scan_count; i++)
        for (int k = 0; k < session->scans[i].part_count && session->scans[i].part_count > 1; k++) {
            const char *scan = session->scans[i].name, *part = session->parts[session->scans[i].parts[k]].name;
            const size_t size = strlen(scan) + strlen(part) + 2;
            char *name = malloc(size);
            if (!name)
                return ex_error_memory(r->error, "a name", size);
            snprintf(name, size, "%s.%s", scan, part);
            const bool taken = ex_scan_session_find(session, name) >= 0;
            free(name);
            if (taken)
                return ex_error_set(r->error, EX_ERROR_DATA,
                                    "scans: '%s.%s' would be the name of the map of scan '%s' for part '%s': rename "
                                    "that scan",
                                    scan, part, scan, part);
        }
    return EX_OK;
}

static ex_result read_lists(exi_reader *r, const json_t *root, ex_scan_session *session) {
    const exi_place whole = {""}, parts = exi_place_key(&whole, "parts"), scans = exi_place_key(&whole, "scans");
    const json_t *list = NULL;
    ex_result result = EX_OK;
    if (session->person && !json_object_get(root, "parts"))
        result = add_whole(r, session);
    else
        result = read_list(r, root, "parts", sizeof *session->parts, (void **)&session->parts, &list);
    for (size_t i = 0; result == EX_OK && i < json_array_size(list); i++) {
        const exi_place at = exi_place_index(&parts, i);
        result = read_part(r, json_array_get(list, i), &at, session, &session->parts[i]);
        for (int j = 0; result == EX_OK && j < (int)i; j++) {
            if (strcmp(session->parts[j].name, session->parts[i].name) == 0)
                result = ex_error_set(r->error, EX_ERROR_DATA, "%s.name: there is already a part '%s'", at.text,
                                      session->parts[i].name);
        }
        session->part_count = (int)i + 1;
    }
    if (result == EX_OK)
        result = read_list(r, root, "scans", sizeof *session->scans, (void **)&session->scans, &list);
    for (size_t i = 0; result == EX_OK && i < json_array_size(list); i++) {
        const exi_place at = exi_place_index(&scans, i);
        result = read_scan(r, json_array_get(list, i), &at, session, &session->scans[i]);
        session->scan_count = (int)i + 1;
    }
    return result == EX_OK ? check_map_names(r, session) : result;
}

static ex_result read_named_scan(exi_reader *r, const json_t *root, const ex_scan_session *session, const char *key,
                                 bool needed, int *scan) {
    const exi_place whole = {""};
    const char *name = NULL;
    ex_result result = exi_get_text(r, root, &whole, key, needed, &name);
    if (result != EX_OK || !name)
        return result;
    *scan = ex_scan_session_find(session, name);
    return *scan >= 0 ? EX_OK
                      : ex_error_set(r->error, EX_ERROR_DATA, "%s: there is no scan '%s' in \"scans\"", key, name);
}

static ex_result read_skeleton(exi_reader *r, ex_scan_session *session) {
    const bool own = strcmp(session->skeleton, "upper") == 0 || strcmp(session->skeleton, "full") == 0;
    char *path = own ? NULL : exi_scan_file(session->folder, session->skeleton);
    char *markers = session->markers ? exi_scan_file(session->folder, session->markers) : NULL;
    ex_result result = EX_OK;
    if ((!own && !path) || (session->markers && !markers))
        result = ex_error_memory(r->error, "the session", 0);
    if (result == EX_OK)
        result = ex_kinematics_read(own ? session->skeleton : path, &session->kinematics, r->error);
    if (result == EX_OK && markers)
        result = exi_scan_read_sites(markers, session->kinematics, r->error);
    free(path);
    free(markers);
    return result;
}

static ex_result read_positive(exi_reader *r, const json_t *root, const char *key, double *value) {
    const exi_place whole = {""};
    ex_result result = exi_get_number(r, root, &whole, key, value);
    if (result == EX_OK && !(*value > 0 && isfinite(*value)))
        result = ex_error_set(r->error, EX_ERROR_DATA, "%s: must be above 0", key);
    return result;
}

static ex_result read_plain(exi_reader *r, const json_t *root, ex_scan_session *session) {
    static const char *const keys[] = {"exemplar_scan", "skeleton", "markers", "reference", "average",
                                       "cage",          "template", "levels",  "reach",     "noise",
                                       "neighbours",    "mirror",   "add",     "lend",      "parts",
                                       "scans",         "unit",     "up",      "points",    NULL};
    static const char *const needed[] = {"exemplar_scan", "skeleton", "reference", "scans", NULL};
    const exi_place whole = {""};
    const char *skeleton = NULL, *markers = NULL, *cage = NULL, *person = NULL;
    if (!json_is_object(root))
        return ex_error_set(r->error, EX_ERROR_DATA, "a scan session must be an object");
    ex_result result = exi_check_keys(r, root, &whole, keys);
    if (result == EX_OK)
        result = exi_require_keys(r, root, &whole, needed);
    if (result == EX_OK && json_integer_value(json_object_get(root, "exemplar_scan")) != 1)
        result = ex_error_set(r->error, EX_ERROR_VERSION, "exemplar_scan: this program reads version 1");
    if (result == EX_OK)
        result = exi_get_text(r, root, &whole, "skeleton", true, &skeleton);
    if (result == EX_OK)
        result = exi_get_text(r, root, &whole, "markers", false, &markers);
    if (result == EX_OK)
        result = exi_get_text(r, root, &whole, "cage", false, &cage);
    if (result == EX_OK)
        result = exi_get_text(r, root, &whole, "template", false, &person);
    if (result == EX_OK)
        result = exi_scan_read_axes(r, root, session);
    if (result == EX_OK)
        result = exi_get_range(r, root, &whole, "levels", 1, EX_SUBDIVIDE_LEVELS, &session->levels);
    if (result == EX_OK)
        result = exi_get_range(r, root, &whole, "neighbours", 1, EX_NEIGHBOUR_MAX, &session->neighbours);
    if (result == EX_OK)
        result = read_positive(r, root, "reach", &session->reach);
    if (result == EX_OK)
        result = read_positive(r, root, "noise", &session->noise);
    if (result == EX_OK)
        result = exi_get_bool(r, root, &whole, "mirror", &session->mirror);
    if (result == EX_OK)
        result = exi_get_bool(r, root, &whole, "add", &session->add);
    if (result == EX_OK)
        result = exi_get_bool(r, root, &whole, "lend", &session->lend);
    session->skeleton = (char *)skeleton;
    session->markers = (char *)markers;
    session->cage = (char *)cage;
    if (result == EX_OK && cage && person && strcmp(person, "cage") != 0)
        return ex_error_set(r->error, EX_ERROR_DATA,
                            "template: a session has a \"cage\" or a template person, not both");
    if (result == EX_OK && !person && !cage && strcmp(skeleton, "full") == 0)
        person = "human";
    const bool carried = person && strcmp(person, "cage") != 0;
    session->person = carried ? exi_arena_text(r->arena, person) : NULL;
    if (result == EX_OK && carried && !session->person)
        result = ex_error_memory(r->error, "the session", strlen(person));
    session->points = session->person ? EX_SCAN_POINTS : 0;
    if (result == EX_OK)
        result = exi_get_range(r, root, &whole, "points", 0, INT_MAX, &session->points);
    return result;
}

static ex_result read_session(exi_reader *r, json_t *root, ex_scan_session *session) {
    session->levels = 5;
    session->neighbours = 8;
    session->add = true;
    session->lend = true;
    session->reach = 0.06;
    session->noise = 0.001;
    ex_result result = read_plain(r, root, session);
    if (result == EX_OK)
        result = read_skeleton(r, session);
    if (result == EX_OK)
        result = exi_scan_expand_frames(session->folder, root, r->error);
    if (result == EX_OK)
        result = read_lists(r, root, session);
    if (result == EX_OK)
        result = read_named_scan(r, root, session, "reference", true, &session->reference);
    if (result == EX_OK && session->scans[session->reference].held)
        result = ex_error_set(r->error, EX_ERROR_DATA,
                              "reference: the body is measured from '%s', so this scan cannot be held back (\"held\")",
                              session->scans[session->reference].name);
    session->average = session->reference;
    if (result == EX_OK)
        result = read_named_scan(r, root, session, "average", false, &session->average);
    if (result == EX_OK)
        result = exi_scan_find_axes(session, r->error);
    return result;
}

ex_result ex_scan_session_read(const char *folder, ex_scan_session **session, ex_error *error) {
    if (!folder || !session)
        return exi_misuse_error(error, __func__, "no folder, or no pointer for the session");
    exi_session *made = calloc(1, sizeof *made);
    exi_reader r = {.arena = made ? &made->arena : NULL, .error = error};
    char *path = exi_scan_file(folder, "scan.json");
    json_t *root = NULL;
    ex_result result = EX_OK;
    *session = NULL;
    if (made)
        made->session.folder = exi_arena_text(&made->arena, folder);
    if (!made || !path || !made->session.folder)
        result = ex_error_memory(error, "the session", sizeof *made);
    if (result == EX_OK)
        result = exi_json_read(path, &root, error);
    if (result == EX_OK)
        result = ex_error_within(error, read_session(&r, root, &made->session), "%s", path);
    json_decref(root);
    free(path);
    if (result == EX_OK)
        *session = &made->session;
    else if (made)
        ex_scan_session_destroy(&made->session);
    return result;
}

void ex_scan_session_destroy(ex_scan_session *session) {
    exi_session *whole = (exi_session *)session; /* its first member */
    if (!session)
        return;
    ex_kinematics_destroy(session->kinematics);
    exi_arena_free(&whole->arena);
    free(whole);
}

int ex_scan_session_find(const ex_scan_session *session, const char *scan) {
    for (int i = 0; i < session->scan_count; i++) {
        if (session->scans[i].name && strcmp(session->scans[i].name, scan) == 0)
            return i;
    }
    return -1;
}

/* ---- its files ---- */

char *ex_scan_path(const ex_scan_session *session, const char *kind, const char *name, const char *ending) {
    const size_t size = strlen(kind) + strlen(name) + strlen(ending) + 3;
    char *relative = malloc(size), *path = NULL;
    if (relative) {
        snprintf(relative, size, "%s%s%s%s", kind, kind[0] ? "/" : "", name, ending);
        path = exi_scan_file(session->folder, relative);
    }
    free(relative);
    return path;
}
