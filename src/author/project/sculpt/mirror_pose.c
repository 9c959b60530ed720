/*
 * Axes and places in a mirror (mirror_pose.h). A direction n of a joint is W n in the world. A reflection takes
 * an arrow to S W n, but an axis of rotation, which gives the sense of a turn, to -S W n.
 */
#include "author/project/sculpt/mirror_pose.h"

#include "author/base/json.h"
#include "runtime/base/text.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the world at rest ---- */

/* Computes the world axes of a joint, as columns: the rotations of the joint and of those above it, and the signs of
 * the scales of those above it. Returns the determinant, 1 or -1. */
static double rest_axes(const exi_mirror *m, const char *name, double w[3][3]) {
    double determinant = 1;
    int joint = ex_skeleton_find(m->skeleton, name);
    memcpy(w, (double[3][3]){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 9 * sizeof **w);
    for (bool own = true; joint >= 0; joint = ex_skeleton_parent(m->skeleton, joint), own = false) {
        const ex_transform rest = ex_skeleton_rest(m->skeleton, joint);
        double q[4];
        for (int i = 0; i < 4; i++)
            q[i] = (double)rest.rotation[i];
        exi_normalise(q, 4);
        for (int i = 0; !own && i < 3; i++)
            if (rest.scale[i] < 0) {
                determinant = -determinant;
                for (int k = 0; k < 3; k++)
                    w[i][k] = -w[i][k];
            }
        for (int k = 0; k < 3; k++) {
            const double column[3] = {w[0][k], w[1][k], w[2][k]};
            double turned[3];
            exi_rotate(q, column, turned);
            for (int i = 0; i < 3; i++)
                w[i][k] = turned[i];
        }
    }
    return determinant;
}

/* Mirrors a direction in the axes of a joint into those of its counterpart; joints may be NULL for one in the world. An
 * axis of rotation (`turn`), which gives the sense of a turn, also changes its sign under each reflection. */
static void mirror_vector(const exi_mirror *m, const char *joint, const char *other, bool turn, const double n[3],
                          double out[3]) {
    double w[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double sign = -1, world[3], image[3];
    if (joint)
        sign *= rest_axes(m, joint, w) * rest_axes(m, other, v);
    for (int i = 0; i < 3; i++)
        world[i] = exi_dot3(w[i], n);
    exi_plane_direction(&m->plane, world, image);
    if (joint && m->frames) {
        const double *frame = m->frames[ex_skeleton_find(m->skeleton, joint)];
        for (int i = 0; i < 3; i++)
            image[i] = exi_dot3(frame + 3 * (size_t)i, world);
    }
    for (int k = 0; k < 3; k++)
        out[k] = (turn ? sign : 1) * (v[0][k] * image[0] + v[1][k] * image[1] + v[2][k] * image[2]);
}

/* Computes q' of the counterpart. The vector of a quaternion is an axis of rotation. */
static void mirror_rotation(const exi_mirror *m, const char *joint, const char *other, double q[4]) {
    double vector[3];
    exi_normalise(q, 4);
    mirror_vector(m, joint, other, true, q, vector);
    memcpy(q, vector, sizeof vector);
}

/* Computes the direction of the counterpart, and rounds it near the counterpart's own axes. */
static void mirror_direction(const exi_mirror *m, const char *joint, const char *other, bool turn, const double n[3],
                             double out[3]) {
    mirror_vector(m, joint, other, turn, n, out);
    exi_normalise(out, 3);
    for (int i = 0; i < 3; i++)
        if (fabs(fabs(out[i]) - 1) < 1e-5 && fabs(out[(i + 1) % 3]) < 1e-5 && fabs(out[(i + 2) % 3]) < 1e-5) {
            out[i] = out[i] < 0 ? -1 : 1;
            out[(i + 1) % 3] = out[(i + 2) % 3] = 0;
        }
}

/* ---- axes ---- */

/* The axis to be found in the mirror. */
typedef struct image {
    char *joint;     /* NULL for a dial */
    double about[3]; /* for readings along or about a direction */
} image;

/* Compares the axis's reading of the image's joint with the image's: 1 if it is the same, -1 if it counts the other
 * way, else 0. */
static int compare_reading(const ex_project_axis *axis, const ex_project_axis *from, const image *i) {
    double n[3];
    if (!i->joint || !axis->joint)
        return !i->joint && !axis->joint && axis->axis.kind == from->axis.kind;
    if (strcmp(axis->joint, i->joint) != 0 || axis->reading.kind != from->reading.kind ||
        axis->axis.kind != from->axis.kind)
        return 0;
    if (axis->axis.kind == EX_AXIS_ROTATION)
        return 1;
    memcpy(n, axis->axis.kind == EX_AXIS_SCALAR ? axis->reading.about : axis->axis.about, sizeof n);
    exi_normalise(n, 3);
    const double along = exi_dot3(n, i->about);
    const bool either = axis->axis.kind != EX_AXIS_SCALAR || axis->reading.kind == EX_READING_STRETCH;
    return fabs(along) < 1 - 1e-9 ? 0 : along > 0 || either ? 1 : -1;
}

/* Returns an axis of the project that is the image; tries the one of the mirrored name first. */
static const ex_project_axis *find_image(const exi_mirror *m, const ex_project_axis *from, const image *i,
                                         const char *name, int *sign) {
    const ex_project_axis *named = exi_view_axis(m->view, name);
    *sign = named ? compare_reading(named, from, i) : 0;
    if (*sign != 0 || !i->joint)
        return *sign != 0 ? named : NULL;
    for (int l = 0; l < m->view->layer_count; l++)
        for (int k = 0; k < m->view->layers[l].axis_count; k++) {
            *sign = compare_reading(&m->view->layers[l].axes[k], from, i);
            if (*sign != 0)
                return &m->view->layers[l].axes[k];
        }
    return NULL;
}

/* Returns "x" for one of the joint's own axes, else three numbers. */
static json_t *make_direction(const double n[3]) {
    for (int i = 0; i < 3; i++)
        if (n[i] == 1)
            return json_string((const char *[]){"x", "y", "z"}[i]);
    double rounded[3];
    for (int i = 0; i < 3; i++)
        rounded[i] = round(n[i] * 1e9) / 1e9;
    return exi_json_make_numbers(rounded, 3);
}

/* Makes a copy that reads the counterpart so that values stay the same. */
static json_t *make_image(const ex_project_axis *from, const json_t *source, const image *i, const char *name,
                          ex_error *error) {
    static const char *const keys[EX_READING_KIND_COUNT] = {
        [EX_READING_ANGLE] = "angle", [EX_READING_SLIDE] = "slide", [EX_READING_STRETCH] = "stretch"};
    json_t *made = json_deep_copy(source), *direction = NULL;
    const char *key = i->joint ? keys[from->reading.kind] : NULL;
    bool done = made && json_object_set_new(made, "name", json_string(name)) == 0;
    double n[3];
    memcpy(n, i->about, sizeof n);
    if (done && i->joint)
        done = json_object_set_new(made, "joint", json_string(i->joint)) == 0;
    if (i->joint && from->reading.kind == EX_READING_STRETCH) {
        for (int c = 0; c < 3; c++)
            n[c] = fabs(n[c]);
        if (n[0] != 1 && n[1] != 1 && n[2] != 1) {
            json_decref(made);
            ex_error_set(error, EX_ERROR_DATA,
                         "axis '%s' stretches joint '%s', but joint '%s' has no axis in the mirrored direction",
                         from->name, from->joint, i->joint);
            return NULL;
        }
    }
    if (i->joint && (from->axis.kind == EX_AXIS_SWING || from->axis.kind == EX_AXIS_TWIST))
        key = "about";
    if (done && key) {
        direction = make_direction(n);
        done = json_object_set_new(made, key, direction) == 0;
    }
    if (done)
        return made;
    json_decref(made);
    ex_error_memory(error, "an axis", 0);
    return NULL;
}

static ex_result find_counterpart(const exi_mirror *m, const ex_project_axis *axis, image *i, ex_error *error) {
    *i = (image){0};
    if (!axis->joint)
        return EX_OK;
    i->joint = exi_mirror_joint(m, axis->joint, error);
    if (!i->joint)
        return error->result;
    const bool turn = axis->reading.kind == EX_READING_ANGLE;
    const double *n = axis->axis.kind == EX_AXIS_SCALAR ? axis->reading.about : axis->axis.about;
    if (axis->axis.kind != EX_AXIS_ROTATION)
        mirror_direction(m, axis->joint, i->joint, turn, n, i->about);
    return EX_OK;
}

/* Returns the name of the mirrored axis: after the counterpart if the axis is called after its joint, else with left
 * and right exchanged. */
static char *mirror_axis_name(const ex_project_axis *axis, const char *joint) {
    const size_t length = axis->joint ? strlen(axis->joint) : 0;
    if (length == 0 || strncmp(axis->name, axis->joint, length) != 0)
        return ex_mirror_name(axis->name);
    char *name = malloc(strlen(joint) + strlen(axis->name + length) + 1);
    if (name) {
        strcpy(name, joint);
        strcat(name, axis->name + length);
    }
    return name;
}

static bool name_is_taken(const exi_mirror *m, const exi_mirrored_axis *others, int count, const char *name) {
    bool taken = exi_view_axis(m->view, name) != NULL;
    for (int i = 0; i < count; i++)
        taken = taken || strcmp(others[i].name, name) == 0;
    return taken;
}

/* The mirrored name may be taken, or have no side to exchange: then it is the joint's name, with a number. */
static void choose_name(const exi_mirror *m, const exi_mirrored_axis *others, int count, const char *name,
                        const char *joint, char chosen[256]) {
    const char *stem = joint ? joint : name;
    snprintf(chosen, 256, "%.*s", exi_text_cut(name, EXI_NAME_MAX), name);
    for (int number = 1; name_is_taken(m, others, count, chosen); number++)
        snprintf(chosen, 256, number > 1 ? "%.*s %d" : "%.*s", exi_text_cut(stem, 200), stem, number);
}

ex_result exi_mirror_axis(const exi_mirror *m, const ex_project_axis *axis, const json_t *source,
                          const exi_mirrored_axis *others, int other_count, exi_mirrored_axis *out, ex_error *error) {
    *out = (exi_mirrored_axis){.from = axis, .factor = 1};
    image i;
    int sign = 0;
    ex_result result = find_counterpart(m, axis, &i, error);
    char *name = result == EX_OK ? mirror_axis_name(axis, i.joint) : NULL;
    if (result == EX_OK && !name)
        result = ex_error_memory(error, "a name", 0);
    if (result != EX_OK) {
        free(i.joint);
        return result;
    }
    out->to = find_image(m, axis, &i, name, &sign);
    if (out->to) {
        snprintf(out->name, sizeof out->name, "%s", out->to->name);
        out->factor = sign;
    } else if (source) {
        choose_name(m, others, other_count, name, i.joint, out->name);
        out->made = make_image(axis, source, &i, out->name, error);
    }
    if (out->to && axis->reading.kind == EX_READING_SLIDE)
        out->factor *= axis->reading.unit / out->to->reading.unit;
    free(name);
    free(i.joint);
    return out->to || out->made || !source ? EX_OK : error->result;
}

/* ---- values ---- */

/* Returns the same angle on the turn that the joint reads. */
static double on_the_turn(const ex_project_axis *axis, double degrees) {
    const double off = degrees - axis->reading.middle;
    return off >= -180 && off < 180 ? degrees : degrees - 360 * floor((off + 180) / 360);
}

ex_result exi_mirror_value(const exi_mirror *m, const exi_mirrored_axis *axis, const json_t *value, json_t **out,
                           ex_error *error) {
    const exi_place place = {"at"};
    double q[4];
    *out = NULL;
    if (axis->from->axis.kind == EX_AXIS_SCALAR) {
        double number = json_number_value(value) * axis->factor;
        if (axis->to && axis->to->joint && axis->to->reading.kind == EX_READING_ANGLE)
            number = on_the_turn(axis->to, number);
        *out = exi_json_make_number(number + 0.0);
    } else {
        const char *joint = axis->from->joint;
        char *other = joint ? exi_mirror_joint(m, joint, error) : NULL;
        ex_result result = joint && !other ? error->result : exi_json_rotation(value, &place, q, error);
        if (result == EX_OK) {
            mirror_rotation(m, joint, other, q);
            *out = exi_json_make_rotation(q);
        }
        free(other);
        if (result != EX_OK)
            return result;
    }
    return *out ? EX_OK : ex_error_memory(error, "a place", 0);
}

ex_result exi_mirror_joints(const exi_mirror *m, const json_t *joints, json_t **out, ex_error *error) {
    const exi_place place = {"joints"};
    const char *joint;
    json_t *value;
    *out = json_object();
    ex_result result = *out ? EX_OK : ex_error_memory(error, "a place", 0);
    json_object_foreach((json_t *)joints, joint, value) {
        char *other = result == EX_OK ? exi_mirror_joint(m, joint, error) : NULL;
        double q[4];
        if (result == EX_OK)
            result = other ? exi_json_rotation(value, &place, q, error) : error->result;
        if (result == EX_OK) {
            mirror_rotation(m, joint, other, q);
            if (json_object_set_new(*out, other, exi_json_make_rotation(q)) != 0)
                result = ex_error_memory(error, "a place", 0);
        }
        free(other);
    }
    if (result == EX_OK)
        return EX_OK;
    json_decref(*out);
    *out = NULL;
    return result;
}
