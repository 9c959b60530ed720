/*
 * Writes a scan session as session.c reads it, leaving out default values.
 */
#include "author/base/json.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <string.h>

#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>

/* Takes ownership of the value. Returns false without memory. */
static bool put(json_t *object, const char *key, json_t *value) {
    return value && json_object_set_new(object, key, value) == 0;
}

json_t *exi_scan_pose_json(const ex_kinematics *kinematics, double (*rotations)[4]) {
    json_t *pose = json_object();
    bool good = pose != NULL;
    for (int i = 0; i < kinematics->joint_count && good; i++) {
        const ex_kin_joint *joint = &kinematics->joints[i];
        const double *q = rotations[i];
        const bool turned = q[0] != 0 || q[1] != 0 || q[2] != 0;
        if (!turned || joint->freedom == EX_FREEDOM_FIXED)
            continue;
        good = put(pose, joint->name,
                   joint->freedom == EX_FREEDOM_HINGE ? exi_json_make_number(ex_kin_angle(joint, q))
                                                      : exi_json_make_numbers(q, 4));
    }
    if (good)
        return pose;
    json_decref(pose);
    return NULL;
}

static json_t *words_json(char *const *words, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count && list; i++) {
        if (json_array_append_new(list, json_string(words[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *part_json(const ex_scan_part *part) {
    json_t *object = json_object();
    bool good = object && put(object, "name", json_string(part->name)) &&
                put(object, "joints", words_json(part->joints, part->joint_count));
    if (good && part->solves && part->solves != part->joints)
        good = put(object, "solve", words_json(part->solves, part->solve_count));
    if (good && put(object, "covers", words_json(part->covers, part->cover_count)))
        return object;
    json_decref(object);
    return NULL;
}

/* A name, or a list of several. */
static json_t *scan_parts_json(const ex_scan_session *session, const ex_scan_entry *scan) {
    if (scan->part_count == 1)
        return json_string(session->parts[scan->parts[0]].name);
    json_t *list = json_array();
    for (int i = 0; i < scan->part_count && list; i++) {
        if (json_array_append_new(list, json_string(session->parts[scan->parts[i]].name)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *scan_json(const ex_scan_session *session, const ex_scan_entry *scan) {
    json_t *object = json_object();
    bool good = object && put(object, "name", json_string(scan->name)) &&
                put(object, "part", scan_parts_json(session, scan)) &&
                put(object, "files", words_json(scan->files, scan->file_count));
    if (good && scan->held)
        good = put(object, "held", json_true());
    if (good && scan->posed)
        good = put(object, "pose", exi_scan_pose_json(session->kinematics, scan->pose.rotations));
    if (good && scan->follows)
        good = put(object, "follows", json_true());
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *session_json(const ex_scan_session *session) {
    json_t *root = json_object(), *parts = json_array(), *scans = json_array();
    bool good = root && parts && scans && put(root, "exemplar_scan", json_integer(1)) &&
                put(root, "skeleton", json_string(session->skeleton));
    if (good && session->markers)
        good = put(root, "markers", json_string(session->markers));
    good = good && put(root, "reference", json_string(session->scans[session->reference].name));
    if (good && session->average != session->reference)
        good = put(root, "average", json_string(session->scans[session->average].name));
    if (good && session->cage)
        good = put(root, "cage", json_string(session->cage));
    if (good && (session->person || (!session->cage && strcmp(session->skeleton, "full") == 0)))
        good = put(root, "template", json_string(session->person ? session->person : "cage"));
    const char *unit = exi_scan_unit_name(session->unit);
    if (good && !session->unit_found && session->unit > 0)
        good = put(root, "unit", unit ? json_string(unit) : exi_json_make_number(session->unit));
    if (good && !session->up_found && session->up[0])
        good = put(root, "up", json_string(session->up));
    if (good && session->points != (session->person ? EX_SCAN_POINTS : 0))
        good = put(root, "points", json_integer(session->points));
    good = good && put(root, "levels", json_integer(session->levels)) &&
           put(root, "reach", exi_json_make_number(session->reach)) &&
           put(root, "noise", exi_json_make_number(session->noise)) &&
           put(root, "neighbours", json_integer(session->neighbours)) &&
           put(root, "mirror", json_boolean(session->mirror)) && put(root, "add", json_boolean(session->add)) &&
           put(root, "lend", json_boolean(session->lend));
    for (int i = 0; i < session->part_count && good; i++)
        good = json_array_append_new(parts, part_json(&session->parts[i])) == 0;
    for (int i = 0; i < session->scan_count && good; i++)
        good = json_array_append_new(scans, scan_json(session, &session->scans[i])) == 0;
    good = good && json_object_set(root, "parts", parts) == 0 && json_object_set(root, "scans", scans) == 0;
    json_decref(parts);
    json_decref(scans);
    if (good)
        return root;
    json_decref(root);
    return NULL;
}

ex_result ex_scan_session_write(const ex_scan_session *session, ex_error *error) {
    if (!session || session->scan_count < 1 || session->part_count < 1)
        return exi_misuse_error(error, __func__, "no session, or one without scans and parts");
    char *path = exi_scan_file(session->folder, "scan.json");
    json_t *root = path ? session_json(session) : NULL;
    ex_result result = path ? exi_json_write(path, root, error) : ex_error_memory(error, "a path", 0);
    json_decref(root);
    free(path);
    return result;
}
