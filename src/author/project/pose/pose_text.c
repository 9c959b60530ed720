/*
 * Poses in words, as people type them: elbow=75, shoulder=q:0,0,.38,.92, shoulder=x30y-10z5, joint:wrist=x20.
 */
#include "author/drive/drive.h"
#include "author/project/model/project.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/formats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char joint_mark[] = "joint:";
enum { MARK = sizeof joint_mark - 1 };

/* ---- names that the rig does not know ---- */

static const char *name_of(const ex_rig *rig, bool joint, int index) {
    return joint ? ex_skeleton_name(ex_rig_skeleton(rig), index) : ex_rig_input_name(rig, index);
}

/* "elbow, shoulder, …" as far as there is room */
static void list_names(const ex_rig *rig, bool joint, int count, char *list, size_t size) {
    list[0] = 0;
    for (int i = 0; i < count; i++) {
        const char *name = name_of(rig, joint, i);
        if (!name[0])
            continue;
        const char *between = list[0] ? ", " : "";
        if (strlen(list) + strlen(between) + strlen(name) + sizeof ", …" > size) {
            strcat(list, ", …");
            return;
        }
        strcat(list, between);
        strcat(list, name);
    }
}

/* Axes and joints are looked through together, those first of which the name seems to be one. */
ex_result exi_unknown_input(const ex_rig *rig, const char *name, ex_error *error) {
    const bool joint = strncmp(name, joint_mark, MARK) == 0;
    const char *bare = joint ? name + MARK : name, *kind = joint ? "joint" : "axis";
    if (joint && ex_rig_joint_count(rig) == 0)
        return exi_error(error, EX_ERROR_DATA, "this rig has no skeleton, and so no joint '%s'", bare);
    const int counts[2] = {ex_rig_input_count(rig), ex_rig_joint_count(rig)}, total = counts[0] + counts[1];
    const char **names = malloc(((size_t)total + 1) * sizeof *names);
    if (!names)
        return exi_error_memory(error, "the axes' names", (size_t)total * sizeof *names);
    for (int i = 0; i < total; i++) {
        const int first = counts[joint];
        names[i] = i < first ? name_of(rig, joint, i) : name_of(rig, !joint, i - first);
    }
    const char *near = ex_suggest(bare, names, total);
    bool near_joint = joint;
    for (int i = counts[joint]; near && i < total; i++)
        if (names[i] == near)
            near_joint = !joint;
    free(names);
    if (near)
        return exi_error(error, EX_ERROR_DATA, "this rig has no %s '%s'; did you mean %s'%s%s'?", kind, bare,
                         joint && !near_joint ? "the axis " : "", near_joint ? joint_mark : "", near);
    char list[256];
    list_names(rig, joint, counts[joint], list, sizeof list);
    return exi_error(error, EX_ERROR_DATA, "this rig has no %s '%s'; its %s are: %s", kind, bare,
                     joint ? "joints" : "axes", list);
}

/* ---- values ---- */

/* q:x,y,z,w */
static bool parse_quaternion(const char *text, double q[4]) {
    const char *at = text, *end = text + strlen(text);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        if ((i > 0 && *at++ != ',') || !ex_parse_double(&at, end, &q[i]))
            return false;
        sum += q[i] * q[i];
    }
    return at == end && sum > 1e-20;
}

/* x30y-10z5: turns in degrees, each about the axis as the ones before it left it. */
static bool parse_turns(const char *text, double q[4]) {
    const char *at = text, *end = text + strlen(text);
    q[0] = q[1] = q[2] = 0;
    q[3] = 1;
    while (at < end) {
        int axis = *at++ - 'x';
        double degrees = 0;
        if (axis < 0 || axis > 2 || !ex_parse_double(&at, end, &degrees))
            return false;
        exi_turn(q, axis, degrees);
    }
    return end > text;
}

bool exi_parse_rotation(const char *text, double q[4]) {
    return strncmp(text, "q:", 2) == 0 ? parse_quaternion(text + 2, q) : parse_turns(text, q);
}

static ex_result read_rotation(const char *name, const char *text, double q[4], ex_error *error) {
    if (exi_parse_rotation(text, q))
        return EX_OK;
    return exi_error(error, EX_ERROR_DATA,
                     "%s=%s: a rotation is written q:0,0,0.38,0.92 (x y z w) or x30y-10z5 (degrees)", name, text);
}

/* The form of a driver, into the room that the pose has for it; faces, where the file has some, must be the driver's.
 */
static ex_result set_driver(const ex_rig *rig, const char *path, const ex_pose *pose, ex_error *error) {
    ex_rig_driver driver;
    ex_drive_options unused;
    exi_arena arena = {0};
    ex_mesh *form = NULL, *mesh = NULL;
    ex_error difference = {0};
    if (!ex_rig_get_driver(rig, &driver, NULL) || !pose->driver)
        return exi_misuse_error(error, __func__, "the pose has no room for a driver");
    ex_result result = ex_mesh_read(path, &form, error);
    if (result == EX_OK && form->vertex_count != driver.driver.vertex_count)
        result = exi_error(error, EX_ERROR_DATA, "%s: not a form of the driver '%s': it has %d vertices, not %d", path,
                           driver.name, form->vertex_count, driver.driver.vertex_count);
    if (result == EX_OK && form->face_count > 0)
        result = exi_drive_note_read(rig, &driver, &arena, &unused, &mesh, &difference);
    if (result == EX_OK && mesh)
        result = ex_mesh_compare_connectivity(mesh, form, &difference);
    if (result == EX_ERROR_MEMORY && difference.result == result)
        exi_error(error, result, "%s", difference.text);
    else if (result == EX_ERROR_DATA && mesh && difference.result == result)
        exi_error(error, result, "%s: not a form of the driver '%s': %s", path, driver.name, difference.text);
    else if (result == EX_ERROR_DATA && difference.result == result)
        result = EX_OK; /* a rig that does not say how its driver's faces are */
    float *room = (float *)(uintptr_t)pose->driver;
    for (size_t i = 0; result == EX_OK && i < 3 * (size_t)driver.driver.vertex_count; i++) {
        room[i] = (float)form->positions[i];
        if (!isfinite(room[i]))
            result = exi_error(error, EX_ERROR_DATA, "%s: vertex %zu is too far away for a float", path, i / 3);
    }
    ex_mesh_destroy(form);
    ex_mesh_destroy(mesh);
    exi_arena_free(&arena);
    return result;
}

static ex_result set_axis(const ex_rig *rig, int input, const char *text, const ex_pose *pose, ex_error *error) {
    const ex_axis axis = ex_rig_input_axis(rig, input);
    const char *name = ex_rig_input_name(rig, input), *at = text, *end = text + strlen(text);
    double value[4];
    if (axis.kind == EX_AXIS_DRIVER)
        return set_driver(rig, text, pose, error);
    if (axis.kind == EX_AXIS_SCALAR && (!ex_parse_double(&at, end, value) || at != end))
        return exi_error(error, EX_ERROR_DATA, "%s=%s: a number is needed here", name, text);
    ex_result result = axis.kind == EX_AXIS_SCALAR ? EX_OK : read_rotation(name, text, value, error);
    const ex_axis_source source = ex_rig_input_source(rig, input);
    if (result == EX_OK && source.joint >= 0 && !exi_reading_reaches(&source.reading, value))
        result = exi_error(error, EX_ERROR_DATA, "%s=%s: no joint can be moved or stretched so far", name, text);
    if (result == EX_OK)
        ex_rig_set_input(rig, input, value, pose);
    return result;
}

int exi_find_rig_joint(const ex_rig *rig, const char *name) {
    if (strncmp(name, joint_mark, MARK) != 0 || !name[MARK] || ex_rig_joint_count(rig) == 0)
        return -1;
    return ex_skeleton_find(ex_rig_skeleton(rig), name + MARK);
}

void exi_turn_joint(const ex_rig *rig, int joint, const double q[4], const ex_pose *pose) {
    const ex_reading whole = {.kind = EX_READING_ROTATION, .part = EX_AXIS_ROTATION};
    const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(rig), joint);
    ex_reading_write(&whole, &rest, q, &pose->joints[joint]);
}

static ex_result set_named(const ex_rig *rig, const char *name, const char *text, const ex_pose *pose,
                           ex_error *error) {
    const int input = ex_rig_input_find(rig, name), joint = exi_find_rig_joint(rig, name);
    if (input >= 0)
        return set_axis(rig, input, text, pose, error);
    if (joint < 0)
        return exi_unknown_input(rig, name, error);
    double q[4];
    ex_result result = read_rotation(name, text, q, error);
    if (result == EX_OK)
        exi_turn_joint(rig, joint, q, pose);
    return result;
}

/* ---- the entry points ---- */

ex_result ex_pose_set(const ex_rig *rig, const char *assignment, const ex_pose *pose, ex_error *error) {
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment)
        return exi_error(error, EX_ERROR_DATA, "'%s': a pose is given as axis=value", assignment);
    size_t length = (size_t)(equals - assignment);
    char *name = malloc(length + 1);
    if (!name)
        return exi_error_memory(error, "an axis name", length);
    memcpy(name, assignment, length);
    name[length] = 0;
    ex_result result = set_named(rig, name, equals + 1, pose, error);
    free(name);
    return result;
}

ex_pose ex_pose_create(const ex_rig *rig) {
    exi_size size = {0};
    exi_size_add(&size, (size_t)ex_rig_pose_size(rig), sizeof(double), sizeof(double));
    size_t joints = exi_size_add(&size, (size_t)ex_rig_joint_count(rig), sizeof(ex_transform), sizeof(double));
    ex_rig_driver driver;
    const bool driven = ex_rig_get_driver(rig, &driver, NULL);
    const size_t form = driven ? 3 * sizeof(float) * (size_t)driver.driver.vertex_count : 0;
    size_t driver_at = exi_size_add(&size, form, 1, sizeof(double));
    char *block = size.overflow ? NULL : malloc(size.bytes + 1);
    ex_pose pose = {.inputs = (double *)(void *)block};
    if (!block)
        return pose;
    pose.joints = ex_rig_joint_count(rig) > 0 ? (ex_transform *)(void *)(block + joints) : NULL;
    if (driven)
        pose.driver = memcpy(block + driver_at, driver.driver.reference, form);
    ex_rig_rest_pose(rig, &pose);
    return pose;
}
