/*
 * Reads registered meshes: files of the same connectivity, and a glTF file with a skin to start from.
 */
#include "author/base/array.h"
#include "author/project/skeleton/skeleton.h"
#include "author/scan/articulate/articulation.h"
#include "author/scan/kinematics/kinematics.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ex_registered_set_destroy(ex_registered_set *registered) {
    if (!registered)
        return;
    for (int f = 0; f < registered->form_count; f++) {
        free(registered->forms[f]);
        free(registered->names[f]);
    }
    ex_mesh_destroy(registered->mesh);
    ex_kinematics_destroy(registered->skeleton);
    free(registered->forms);
    free(registered->names);
    free(registered->rest);
    free(registered->joints);
    free(registered->weights);
    free(registered);
}

ex_articulate_def ex_registered_set_def(const ex_registered_set *r) {
    return (ex_articulate_def){.mesh = r->mesh,
                               .form_count = r->form_count,
                               .forms = (const double *const *)r->forms,
                               .names = (const char *const *)r->names,
                               .skeleton = r->skeleton,
                               .rest = r->rest,
                               .influence_count = r->influence_count,
                               .joints = r->joints,
                               .weights = r->weights};
}

/* ---- forms ---- */

/* The name of a file without folder and ending. */
static char *make_name(const char *path, ex_registered_set *r) {
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *dot = strrchr(name, '.');
    const size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    char *made = malloc(length + 24);
    if (!made)
        return NULL;
    memcpy(made, name, length);
    made[length] = 0;
    for (int f = 0; f < r->form_count; f++)
        if (strcmp(r->names[f], made) == 0) { /* of another folder */
            snprintf(made + length, 24, "_%d", r->form_count + 1);
            break;
        }
    return made;
}

static ex_result compare(const ex_mesh *first, const char *first_path, const ex_mesh *mesh, const char *path,
                         ex_error *error) {
    if (mesh->vertex_count != first->vertex_count || mesh->face_count != first->face_count)
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' has %d vertices and %d faces, but '%s' has %d and %d: registered meshes are the same "
                            "mesh in every file",
                            path, mesh->vertex_count, mesh->face_count, first_path, first->vertex_count,
                            first->face_count);
    return ex_error_within(error, ex_mesh_compare_connectivity(first, mesh, error), "'%s', compared with '%s'", path,
                           first_path);
}

static ex_result read_form(const char *const *paths, int number, ex_registered_set *r, ex_error *error) {
    ex_mesh *mesh = NULL;
    ex_result result = ex_mesh_read(paths[number], &mesh, error);
    if (result == EX_OK && mesh->vertex_count == 0)
        result = ex_error_set(error, EX_ERROR_DATA, "'%s' has no vertices", paths[number]);
    if (result == EX_OK && r->mesh)
        result = compare(r->mesh, paths[0], mesh, paths[number], error);
    if (result == EX_OK) {
        double *form = exi_array_copy(mesh->positions, 3 * (size_t)mesh->vertex_count, sizeof *form);
        char *name = make_name(paths[number], r);
        if (form && name) {
            r->forms[r->form_count] = form;
            r->names[r->form_count++] = name;
        } else {
            free(form);
            free(name);
            result = ex_error_memory(error, "the forms", 3 * (size_t)mesh->vertex_count * sizeof *form);
        }
    }
    if (result == EX_OK && !r->mesh) {
        r->mesh = mesh;
        return EX_OK;
    }
    ex_mesh_destroy(mesh);
    return result;
}

/* ---- skeleton and weights ---- */

/* Orders joints parents first, below one base: numbers [joint_count] of the skeleton's joints. */
static int order_joints(const ex_skeleton *skeleton, int *numbers, int *order) {
    const int count = ex_skeleton_joint_count(skeleton);
    int done = 0;
    for (int j = 0; j < count; j++)
        numbers[j] = -1;
    for (bool more = true; more;) {
        more = false;
        for (int j = 0; j < count; j++) {
            const int parent = ex_skeleton_parent(skeleton, j);
            if (numbers[j] >= 0 || (parent >= 0 && numbers[parent] < 0))
                continue;
            numbers[j] = done;
            order[done++] = j;
            more = true;
        }
    }
    return done;
}

static ex_result make_kinematics(const ex_skeleton *skeleton, const double *centres, const int *numbers,
                                 const int *order, ex_kinematics **made, ex_error *error) {
    const int count = ex_skeleton_joint_count(skeleton);
    ex_kinematics *k = *made = exi_kinematics_create(count, 0);
    bool good = k && (k->name = exi_text_copy("body", 4)) != NULL;
    for (int b = 0; b < count && good; b++) {
        const int parent = ex_skeleton_parent(skeleton, order[b]);
        const char *name = ex_skeleton_name(skeleton, order[b]);
        ex_kin_joint *joint = &k->joints[b];
        *joint = (ex_kin_joint){.name = exi_text_copy(name, strlen(name)),
                                .parent = b == 0        ? -1
                                          : parent >= 0 ? numbers[parent]
                                                        : 0,
                                .freedom = b == 0 ? EX_FREEDOM_BASE : EX_FREEDOM_BALL,
                                .mirror = -1};
        good = joint->name != NULL;
        for (int i = 0; i < 3; i++)
            joint->translation[i] =
                centres[3 * order[b] + i] - (joint->parent >= 0 ? centres[3 * order[joint->parent] + i] : 0);
    }
    return good ? EX_OK : ex_error_memory(error, "the skeleton", (size_t)count * 100);
}

static ex_result take_skin(const ex_skin *skin, const int *numbers, ex_registered_set *r, ex_error *error) {
    const size_t vertices = (size_t)ex_skin_vertex_count(skin);
    const size_t most = (size_t)ex_skin_get_info(skin).influence_most;
    uint32_t *joints = exi_array_allocate(most, sizeof *joints);
    float *weights = exi_array_allocate(most, sizeof *weights);
    r->influence_count = (int)most;
    r->joints = calloc(vertices * most, sizeof *r->joints);
    r->weights = calloc(vertices * most, sizeof *r->weights);
    const bool good = joints && weights && r->joints && r->weights;
    for (size_t v = 0; good && v < vertices; v++) {
        const int count = ex_skin_influences(skin, (int)v, joints, weights);
        for (int i = 0; i < count; i++) {
            r->joints[v * most + (size_t)i] = (uint16_t)numbers[joints[i]];
            r->weights[v * most + (size_t)i] = weights[i];
        }
    }
    free(joints);
    free(weights);
    return good ? EX_OK : ex_error_memory(error, "the weights", vertices * most * sizeof *weights);
}

/* Reads the skin of a scene: joints, rest form, weights. */
static ex_result take_scene(const ex_scene *scene, const char *path, const ex_mesh *rest, ex_registered_set *r,
                            ex_error *error) {
    const int number = exi_skeleton_main_skin(scene);
    ex_skeleton *skeleton = NULL;
    ex_skin *skin = NULL;
    if (number < 0)
        return ex_error_within(error, exi_skeleton_no_skin(error), "%s", path);
    ex_result result = exi_skeleton_from_scene(scene, number, &skeleton, error);
    if (result == EX_OK)
        result = exi_skin_from_scene(scene, number, rest, &skin, error);
    if (result == EX_OK && !skin)
        result = ex_error_set(error, EX_ERROR_DATA, "%s: nothing is bound to its skeleton", path);
    if (result == EX_OK) {
        const size_t count = (size_t)ex_skeleton_joint_count(skeleton);
        int *numbers = exi_array_allocate(count, sizeof *numbers), *order = exi_array_allocate(count, sizeof *order);
        double *centres = exi_array_allocate(3 * count, sizeof *centres);
        if (numbers && order && centres && exi_skeleton_centres(skeleton, centres)) {
            order_joints(skeleton, numbers, order);
            result = make_kinematics(skeleton, centres, numbers, order, &r->skeleton, error);
            if (result == EX_OK)
                result = take_skin(skin, numbers, r, error);
        } else {
            result = ex_error_memory(error, "the skeleton", count * 100);
        }
        free(numbers);
        free(order);
        free(centres);
    }
    ex_skin_destroy(skin);
    ex_skeleton_destroy(skeleton);
    return result;
}

static ex_result read_weights(const char *path, const char *first_path, ex_registered_set *r, ex_error *error) {
    ex_scene *scene = NULL;
    ex_mesh *rest = NULL;
    ex_result result = ex_scene_read(path, &scene, error);
    if (result == EX_OK)
        result = ex_scene_to_form(scene, &rest, error);
    if (result == EX_OK && rest->vertex_count != r->mesh->vertex_count)
        result = ex_error_set(error, EX_ERROR_DATA,
                              "'%s' has %d vertices, but '%s' has %d: weights must be for the same vertices in the "
                              "same order; glTF files split vertices at texture seams, so export without texture "
                              "coordinates",
                              path, rest->vertex_count, first_path, r->mesh->vertex_count);
    if (result == EX_OK)
        result = take_scene(scene, path, rest, r, error);
    if (result == EX_OK) {
        r->rest = exi_array_copy(rest->positions, 3 * (size_t)rest->vertex_count, sizeof *r->rest);
        result = r->rest ? EX_OK : ex_error_memory(error, "the rest form", 3 * (size_t)rest->vertex_count * 8);
    }
    ex_mesh_destroy(rest);
    ex_scene_destroy(scene);
    return result;
}

/* Replaces the joints of the weights' file by those of a skeleton, found by name. */
static ex_result apply_skeleton(const char *name, const char *path, ex_registered_set *r, ex_error *error) {
    ex_kinematics *wanted = NULL, *have = r->skeleton;
    ex_result result = ex_kinematics_read(name, &wanted, error);
    if (result != EX_OK)
        return result;
    const size_t wanted_count = (size_t)wanted->joint_count, have_count = (size_t)have->joint_count;
    double(*places)[3] = exi_array_allocate(have_count, sizeof *places);
    int *numbers = exi_array_allocate(have_count, sizeof *numbers),
        *found = exi_array_allocate(wanted_count, sizeof *found);
    if (!places || !numbers || !found)
        result = ex_error_memory(error, "the skeleton", have_count * sizeof *places);
    for (int b = 0; b < have->joint_count && result == EX_OK; b++) {
        const ex_kin_joint *joint = &have->joints[b];
        const int own = ex_kinematics_find_joint(wanted, joint->name);
        numbers[b] = own >= 0 ? own : joint->parent >= 0 ? numbers[joint->parent] : 0;
        for (int i = 0; i < 3; i++)
            places[b][i] = joint->translation[i] + (joint->parent >= 0 ? places[joint->parent][i] : 0);
    }
    for (int b = 0; b < wanted->joint_count && result == EX_OK; b++) {
        ex_kin_joint *joint = &wanted->joints[b];
        found[b] = ex_kinematics_find_joint(have, joint->name);
        if (found[b] < 0)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "'%s' has no joint '%s', which the skeleton '%s' has: rename its joints, or leave "
                                  "the skeleton away",
                                  path, joint->name, name);
        for (int i = 0; i < 3 && result == EX_OK; i++)
            joint->translation[i] = places[found[b]][i] - (joint->parent >= 0 ? places[found[joint->parent]][i] : 0);
    }
    for (size_t i = 0; result == EX_OK && i < (size_t)r->mesh->vertex_count * (size_t)r->influence_count; i++)
        r->joints[i] = (uint16_t)numbers[r->joints[i]];
    free(places);
    free(numbers);
    free(found);
    if (result != EX_OK) {
        ex_kinematics_destroy(wanted);
        return result;
    }
    ex_kinematics_destroy(have);
    r->skeleton = wanted;
    return EX_OK;
}

ex_result ex_registered_set_read(const char *const *paths, int count, const char *weights, const char *skeleton,
                                 ex_registered_set **registered, ex_error *error) {
    *registered = NULL;
    if (count < 1 || !paths || (skeleton && !weights))
        return exi_misuse_error(error, "ex_registered_set_read", "files are required, and weights with a skeleton");
    ex_registered_set *r = calloc(1, sizeof *r);
    ex_result result = r ? EX_OK : ex_error_memory(error, "the forms", sizeof *r);
    if (r) {
        r->forms = calloc((size_t)count, sizeof *r->forms);
        r->names = calloc((size_t)count, sizeof *r->names);
        if (!r->forms || !r->names)
            result = ex_error_memory(error, "the forms", (size_t)count * sizeof *r->forms);
    }
    for (int f = 0; f < count && result == EX_OK; f++)
        result = read_form(paths, f, r, error);
    if (result == EX_OK && weights)
        result = read_weights(weights, paths[0], r, error);
    if (result == EX_OK && skeleton)
        result = apply_skeleton(skeleton, weights, r, error);
    if (result == EX_OK)
        *registered = r;
    else
        ex_registered_set_destroy(r);
    return result;
}
