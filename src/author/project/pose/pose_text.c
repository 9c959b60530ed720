/*
 * Sets poses by the names of axes and joints; and errors for names that a rig does not have.
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

static const char joint_mark[] = "joint:"; /* before the name of a joint in a table of poses */
enum { MARK = sizeof joint_mark - 1 };

/* ---- unknown names ---- */

static const char *name_of(const ex_rig *rig, bool joint, int index) {
    return joint ? ex_skeleton_name(ex_rig_skeleton(rig), index) : ex_rig_input_name(rig, index);
}

/* Lists "elbow, shoulder, …" as far as there is room. */
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

/* Searches axes and joints together, the likely kind first. */
ex_result exi_unknown_input(const ex_rig *rig, bool joint, const char *bare, ex_error *error) {
    const char *kind = joint ? "joint" : "axis";
    if (joint && ex_rig_joint_count(rig) == 0)
        return ex_error_set(error, EX_ERROR_DATA, "this rig has no skeleton, so it has no joint '%s'", bare);
    const int counts[2] = {ex_rig_input_count(rig), ex_rig_joint_count(rig)}, total = counts[0] + counts[1];
    const char **names = malloc(((size_t)total + 1) * sizeof *names);
    if (!names)
        return ex_error_memory(error, "the axes' names", (size_t)total * sizeof *names);
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
        return ex_error_set(error, EX_ERROR_DATA, "this rig has no %s '%s'; did you mean %s'%s%s'?", kind, bare,
                            joint && !near_joint ? "the axis " : "", near_joint ? joint_mark : "", near);
    char list[256];
    list_names(rig, joint, counts[joint], list, sizeof list);
    return ex_error_set(error, EX_ERROR_DATA, "this rig has no %s '%s'; its %s are: %s", kind, bare,
                        joint ? "joints" : "axes", list);
}

/* ---- values ---- */

bool exi_setting_rotation(const ex_setting *setting, double q[4]) {
    if (setting->kind == EX_SETTING_ROTATION) {
        memcpy(q, setting->rotation, 4 * sizeof *q);
        return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 1e-20;
    }
    memcpy(q, (const double[4]){0, 0, 0, 1}, 4 * sizeof *q);
    for (int i = 0; setting->kind == EX_SETTING_TURNS && i < setting->turn_count; i++)
        exi_turn(q, setting->turns[i].axis, setting->turns[i].degrees);
    return setting->kind == EX_SETTING_TURNS;
}

ex_result exi_setting_mismatch(const ex_setting *setting, ex_axis_kind kind, ex_error *error) {
    return ex_error_set(error, EX_ERROR_DATA, "%s '%s' takes a %s", setting->joint ? "joint" : "axis", setting->name,
                        kind == EX_AXIS_SCALAR   ? "number"
                        : kind == EX_AXIS_DRIVER ? "form of the driver, as a file"
                                                 : "rotation");
}

/* Reads the form of a driver into the pose; faces, if the file has any, must be the driver's. */
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
        result = ex_error_set(error, EX_ERROR_DATA, "%s: not a form of the driver '%s': it has %d vertices, not %d",
                              path, driver.name, form->vertex_count, driver.driver.vertex_count);
    if (result == EX_OK && form->face_count > 0)
        result = exi_drive_note_read(rig, &driver, &arena, &unused, &mesh, &difference);
    if (result == EX_OK && mesh)
        result = ex_mesh_compare_connectivity(mesh, form, &difference);
    if (result == EX_ERROR_MEMORY && difference.result == result)
        ex_error_set(error, result, "%s", difference.text);
    else if (result == EX_ERROR_DATA && mesh && difference.result == result)
        ex_error_set(error, result, "%s: not a form of the driver '%s': %s", path, driver.name, difference.text);
    else if (result == EX_ERROR_DATA && difference.result == result)
        result = EX_OK; /* a rig that does not store its driver's faces */
    float *room = (float *)(uintptr_t)pose->driver;
    for (size_t i = 0; result == EX_OK && i < 3 * (size_t)driver.driver.vertex_count; i++) {
        room[i] = (float)form->positions[i];
        if (!isfinite(room[i]))
            result = ex_error_set(error, EX_ERROR_DATA, "%s: vertex %zu is too far away for a float", path, i / 3);
    }
    ex_mesh_destroy(form);
    ex_mesh_destroy(mesh);
    exi_arena_free(&arena);
    return result;
}

static ex_result set_axis(const ex_rig *rig, int input, const ex_setting *setting, const ex_pose *pose,
                          ex_error *error) {
    const ex_axis_kind kind = ex_rig_input_axis(rig, input).kind;
    double value[4] = {setting->number};
    if (kind == EX_AXIS_DRIVER && setting->kind == EX_SETTING_FILE)
        return set_driver(rig, setting->file, pose, error);
    if (kind == EX_AXIS_DRIVER ||
        !(kind == EX_AXIS_SCALAR ? setting->kind == EX_SETTING_NUMBER : exi_setting_rotation(setting, value)))
        return exi_setting_mismatch(setting, kind, error);
    const ex_axis_source source = ex_rig_input_source(rig, input);
    if (source.joint >= 0 && !exi_reading_reaches(&source.reading, value)) {
        char number[32];
        ex_format_double(number, value[0]);
        return ex_error_set(error, EX_ERROR_DATA, "%s=%s: no joint can be moved or stretched that far", setting->name,
                            number);
    }
    ex_rig_set_input(rig, input, value, pose);
    return EX_OK;
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

/* ---- the entry points ---- */

ex_result ex_pose_set(const ex_rig *rig, const ex_setting *setting, const ex_pose *pose, ex_error *error) {
    const int input = setting->joint ? -1 : ex_rig_input_find(rig, setting->name);
    const bool jointed = setting->joint && setting->name[0] && ex_rig_joint_count(rig) > 0;
    const int joint = jointed ? ex_skeleton_find(ex_rig_skeleton(rig), setting->name) : -1;
    double q[4];
    if (input >= 0)
        return set_axis(rig, input, setting, pose, error);
    if (joint < 0)
        return exi_unknown_input(rig, setting->joint, setting->name, error);
    if (!exi_setting_rotation(setting, q))
        return exi_setting_mismatch(setting, EX_AXIS_ROTATION, error);
    exi_turn_joint(rig, joint, q, pose);
    return EX_OK;
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
