/*
 * Makes a skeleton from the skin of a glTF scene. Its joints are the skin's. The parent of a joint is the nearest node
 * above it that is a joint too. Nodes between the two, or above a joint without a parent, go into the rest transform:
 *
 *     rest_j = (node above parent's) ... (node above) node_j.
 *
 * A product of transforms need not be a transform, since uneven scales and turns make a shear: such a file is refused.
 */
#include "author/project/skeleton/skeleton.h"

#include "author/base/array.h"
#include "author/base/names.h"
#include "author/formats/scene/scene.h"
#include "runtime/base/result.h"
#include "runtime/pose/matrix.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest distance of a product from the nearest transform: files hold floats. */
#define SHEAR_LIMIT 1e-5
/* Largest distance of an identity from the identity matrix. */
#define IDENTITY_ROOM 1e-6

/* ---- joints ---- */

/* Input of a skeleton, [joint_count] each. */
typedef struct joints {
    const ex_scene *scene;
    const ex_scene_skin *skin;
    int *numbers; /* [node_count]: index of the joint that a node is, or -1 */
    int *parents;
    ex_transform *rest;
    float (*inverse_binds)[12];
    const char **names;
    exi_joint_text *made_names;
} joints;

static bool open_joints(joints *j, const ex_scene *scene, int skin) {
    const size_t count = (size_t)scene->skins[skin].joint_count;
    *j = (joints){.scene = scene,
                  .skin = &scene->skins[skin],
                  .numbers = exi_array_allocate((size_t)scene->node_count, sizeof *j->numbers),
                  .parents = exi_array_allocate(count, sizeof *j->parents),
                  .rest = exi_array_allocate(count, sizeof *j->rest),
                  .inverse_binds = exi_array_allocate(count, sizeof *j->inverse_binds),
                  .names = exi_array_allocate(count, sizeof *j->names),
                  .made_names = exi_array_allocate(count, sizeof *j->made_names)};
    return j->numbers && j->parents && j->rest && j->inverse_binds && j->names && j->made_names;
}

static void close_joints(joints *j) {
    free(j->numbers);
    free(j->parents);
    free(j->rest);
    free(j->inverse_binds);
    free(j->names);
    free(j->made_names);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names, since a skin may have thousands of joints. */
static ex_result check_names(const joints *j, ex_error *error) {
    const int count = j->skin->joint_count;
    const char **sorted = exi_array_copy(j->names, (size_t)count, sizeof *sorted);
    if (!sorted)
        return ex_error_memory(error, "the skeleton", (size_t)count * sizeof *sorted);
    ex_result result = EX_OK;
    qsort(sorted, (size_t)count, sizeof *sorted, compare_names);
    for (int i = 1; result == EX_OK && i < count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "two joints of the skin are called '%s': joints are found by name, so rename one",
                                  sorted[i]);
    free(sorted);
    return result;
}

static ex_result name_joints(joints *j, ex_error *error) {
    for (int n = 0; n < j->scene->node_count; n++)
        j->numbers[n] = -1;
    for (int i = 0; i < j->skin->joint_count; i++) {
        const char *name = j->scene->nodes[j->skin->joints[i]].name;
        snprintf(j->made_names[i].text, sizeof j->made_names[i].text, "joint %d", i);
        j->names[i] = name && name[0] ? name : j->made_names[i].text;
        j->numbers[j->skin->joints[i]] = i;
    }
    return check_names(j, error);
}

static bool is_identity(const double matrix[16]) {
    double off = 0;
    for (int i = 0; i < 16; i++) {
        double d = fabs(matrix[i] - (i % 5 == 0 ? 1 : 0));
        off = d > off ? d : off;
    }
    return off <= IDENTITY_ROOM;
}

/* Rounds to float, and drops the sign of 0, which file writers do not keep. */
static ex_transform round_transform(const ex_scene_transform *t) {
    ex_transform out;
    for (int c = 0; c < 3; c++) {
        out.translation[c] = (float)t->translation[c] + 0.0F;
        out.scale[c] = (float)t->scale[c] + 0.0F;
    }
    for (int c = 0; c < 4; c++)
        out.rotation[c] = (float)t->rotation[c] + 0.0F;
    return out;
}

static ex_result make_rest(joints *j, int joint, ex_error *error) {
    const ex_scene_node *nodes = j->scene->nodes;
    int node = nodes[j->skin->joints[joint]].parent, culprit = -1;
    ex_scene_transform t = nodes[j->skin->joints[joint]].transform;
    double matrix[16], above[16], product[16], lost = 0;
    exi_scene_matrix_from_transform(&t, matrix);
    for (; node >= 0 && j->numbers[node] < 0; node = nodes[node].parent) {
        exi_scene_matrix_from_transform(&nodes[node].transform, above);
        if (is_identity(above))
            continue;
        exi_scene_matrix_multiply(above, matrix, product);
        memcpy(matrix, product, sizeof matrix);
        lost = exi_scene_matrix_to_transform(matrix, &t);
        culprit = lost > SHEAR_LIMIT && culprit < 0 ? node : culprit;
    }
    if (lost > SHEAR_LIMIT)
        return ex_error_set(error, EX_ERROR_DATA,
                            "joint '%s': node %d ('%s') above it scales unevenly and so shears it, which no rest "
                            "transform can express: apply that scale before exporting",
                            j->names[joint], culprit, nodes[culprit].name ? nodes[culprit].name : "");
    j->parents[joint] = node >= 0 ? j->numbers[node] : -1;
    j->rest[joint] = round_transform(&t);
    return EX_OK;
}

/* ---- binds ---- */

/* Without matrices glTF uses identities: the mesh was bound with every joint at its origin. */
static void bind_at_origin(const joints *j) {
    for (int i = 0; i < j->skin->joint_count; i++)
        for (int e = 0; e < 12; e++)
            j->inverse_binds[i][e] = e % 5 == 0 ? 1.0F : 0.0F;
}

static ex_result make_binds(const joints *j, ex_error *error) {
    if (!j->skin->inverse_binds) {
        bind_at_origin(j);
        return EX_OK;
    }
    for (int i = 0; i < j->skin->joint_count; i++) {
        const float *from = j->skin->inverse_binds + 16 * (size_t)i;
        if (!(fabsf(from[3]) + fabsf(from[7]) + fabsf(from[11]) + fabsf(from[15] - 1) <= 1e-4F))
            return ex_error_set(error, EX_ERROR_DATA,
                                "the inverse bind matrix of joint '%s' does not end with the row 0 0 0 1", j->names[i]);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                j->inverse_binds[i][4 * r + c] = from[4 * c + r] + 0.0F;
    }
    return EX_OK;
}

ex_result exi_skeleton_from_scene(const ex_scene *scene, int skin, ex_skeleton **skeleton, ex_error *error) {
    joints j;
    ex_result result = open_joints(&j, scene, skin)
                           ? name_joints(&j, error)
                           : ex_error_memory(error, "the skeleton", (size_t)scene->skins[skin].joint_count * 160);
    for (int i = 0; result == EX_OK && i < j.skin->joint_count; i++)
        result = make_rest(&j, i, error);
    if (result == EX_OK)
        result = make_binds(&j, error);
    if (result == EX_OK)
        result = ex_skeleton_create(&(ex_skeleton_def){.joint_count = j.skin->joint_count,
                                                       .parents = j.parents,
                                                       .rest = j.rest,
                                                       .inverse_binds = &j.inverse_binds[0][0],
                                                       .names = j.names},
                                    NULL, skeleton, error);
    close_joints(&j);
    return result;
}

/* ---- files ---- */

ex_result exi_skeleton_read_scene(const ex_project_view *view, const char *relative, ex_scene **scene,
                                  ex_error *error) {
    char *path = ex_path_join(view->path, relative);
    if (!path)
        return ex_error_memory(error, "a path", strlen(relative));
    ex_result result = ex_scene_read(path, scene, error);
    free(path);
    return result;
}

int exi_skeleton_main_skin(const ex_scene *scene) {
    int skin = scene->skin_count > 0 ? 0 : -1;
    int64_t most = 0;
    for (int n = 0; n < scene->node_count; n++) {
        const ex_scene_node *node = &scene->nodes[n];
        int64_t vertices = 0;
        if (node->skin < 0 || node->mesh < 0)
            continue;
        for (int p = 0; p < scene->meshes[node->mesh].primitive_count; p++)
            vertices += scene->meshes[node->mesh].primitives[p].vertex_count;
        if (vertices > most) {
            most = vertices;
            skin = node->skin;
        }
    }
    return skin;
}

ex_result exi_skeleton_no_skin(ex_error *error) {
    return ex_error_set(
        error, EX_ERROR_DATA,
        "it has no skin, so it has no skeleton: export the mesh together with the skeleton that moves it");
}

ex_result exi_skeleton_read(const ex_project_view *view, const ex_mesh *mesh, ex_skeleton **skeleton, ex_skin **skin,
                            ex_error *error) {
    *skeleton = NULL;
    *skin = NULL;
    if (!view->skeleton)
        return EX_OK;
    ex_scene *scene = NULL;
    ex_result result = exi_skeleton_read_scene(view, view->skeleton, &scene, error);
    if (result != EX_OK)
        return ex_error_within(error, result, "skeleton");
    const int number = exi_skeleton_main_skin(scene);
    if (number < 0)
        result = exi_skeleton_no_skin(error);
    if (result == EX_OK)
        result = exi_skeleton_from_scene(scene, number, skeleton, error);
    if (result == EX_OK)
        result = exi_skin_from_scene(scene, number, mesh, skin, error);
    ex_scene_destroy(scene);
    if (result != EX_OK) {
        ex_skeleton_destroy(*skeleton);
        *skeleton = NULL;
    }
    return ex_error_within(error, result, "%s", view->skeleton);
}

/* Rotations do not scale: the determinant of a joint's matrix is that of its bind times the scales of its ancestors. */
double exi_skeleton_scale(const ex_skeleton *skeleton) {
    const int count = skeleton ? ex_skeleton_joint_count(skeleton) : 0;
    double sum = 0;
    for (int j = 0; j < count; j++) {
        float inverse[12];
        double m[12];
        ex_skeleton_inverse_bind(skeleton, j, inverse);
        exi_matrix_from_floats(inverse, m);
        double volume = exi_matrix_determinant(m);
        for (int above = j; above >= 0; above = ex_skeleton_parent(skeleton, above)) {
            const ex_transform rest = ex_skeleton_rest(skeleton, above);
            for (int c = 0; c < 3; c++)
                volume *= (double)rest.scale[c];
        }
        sum += cbrt(fabs(volume));
    }
    return sum > 0 && isfinite(sum) ? sum / count : 1;
}

bool exi_skeleton_centres(const ex_skeleton *skeleton, double *centres) {
    const size_t count = 3 * (size_t)ex_skeleton_joint_count(skeleton);
    float *floats = exi_array_allocate(count, sizeof *floats);
    void *scratch = malloc(ex_skeleton_scratch_size(skeleton));
    const bool good = floats && scratch;
    if (good)
        ex_skeleton_evaluate(skeleton, NULL, &(ex_skeleton_output){.centres = floats}, scratch);
    for (size_t i = 0; good && i < count; i++)
        centres[i] = (double)floats[i];
    free(floats);
    free(scratch);
    return good;
}

/* The joints of a skeleton that another file does not have. */
typedef struct missing_joints {
    int count, first;
} missing_joints;

static void miss_joint(missing_joints *m, int joint) {
    m->first = m->count++ == 0 ? joint : m->first;
}

static ex_result refuse_missing(const missing_joints *m, const ex_skeleton *skeleton, ex_error *error) {
    exi_joint_text text;
    const char *name = exi_joint_name(skeleton, m->first, &text);
    if (m->count == 0)
        return EX_OK;
    if (m->count == 1)
        return ex_error_set(error, EX_ERROR_DATA, "it lacks joint '%s', which the project's skeleton has", name);
    return ex_error_set(error, EX_ERROR_DATA, "it lacks joint '%s', which the project's skeleton has, and %d more",
                        name, m->count - 1);
}

static ex_result centres_of_skin(const ex_scene *scene, const ex_skeleton *skeleton, double *centres, ex_error *error) {
    ex_skeleton *own = NULL;
    ex_result result = exi_skeleton_from_scene(scene, exi_skeleton_main_skin(scene), &own, error);
    if (result != EX_OK)
        return result;
    double(*own_centres)[3] = exi_array_allocate((size_t)ex_skeleton_joint_count(own), sizeof *own_centres);
    if (!own_centres || !exi_skeleton_centres(own, &own_centres[0][0]))
        result = ex_error_memory(error, "a skeleton", (size_t)ex_skeleton_joint_count(own) * sizeof *own_centres);
    exi_names names = {0};
    if (result == EX_OK && !exi_names_open(&names, ex_skeleton_joint_count(own)))
        result = ex_error_memory(error, "a skeleton", (size_t)ex_skeleton_joint_count(own) * 16);
    for (int j = 0; result == EX_OK && j < ex_skeleton_joint_count(own); j++)
        exi_names_add(&names, ex_skeleton_name(own, j), j);
    missing_joints missing = {0};
    for (int j = 0; result == EX_OK && j < ex_skeleton_joint_count(skeleton); j++) {
        exi_joint_text text;
        const int *from = exi_names_find(&names, exi_joint_name(skeleton, j, &text));
        if (!from)
            miss_joint(&missing, j);
        else
            memcpy(centres + 3 * (size_t)j, own_centres[*from], sizeof *own_centres);
    }
    if (result == EX_OK)
        result = refuse_missing(&missing, skeleton, error);
    exi_names_close(&names);
    free(own_centres);
    ex_skeleton_destroy(own);
    return result;
}

static ex_result centres_of_nodes(const ex_scene *scene, const ex_skeleton *skeleton, double *centres,
                                  ex_error *error) {
    const size_t count = (size_t)scene->node_count;
    double(*worlds)[16] = exi_array_allocate(count, sizeof *worlds);
    ex_result result = worlds ? ex_scene_worlds(scene, NULL, &worlds[0][0], error)
                              : ex_error_memory(error, "a skeleton", count * sizeof *worlds);
    exi_names names = {0};
    if (result == EX_OK && !exi_names_open(&names, scene->node_count))
        result = ex_error_memory(error, "a skeleton", count * 16);
    for (int n = 0; result == EX_OK && n < scene->node_count; n++)
        if (scene->nodes[n].name)
            exi_names_add(&names, scene->nodes[n].name, n);
    missing_joints missing = {0};
    for (int j = 0; result == EX_OK && j < ex_skeleton_joint_count(skeleton); j++) {
        exi_joint_text text;
        const int *node = exi_names_find(&names, exi_joint_name(skeleton, j, &text));
        if (!node)
            miss_joint(&missing, j);
        else
            memcpy(centres + 3 * (size_t)j, worlds[*node] + 12, 3 * sizeof *centres);
    }
    exi_names_close(&names);
    if (result == EX_OK && missing.count == ex_skeleton_joint_count(skeleton))
        result = ex_error_set(error, EX_ERROR_DATA,
                              "it has no skeleton: no skin, and no node with the name of one of the project's joints");
    if (result == EX_OK)
        result = refuse_missing(&missing, skeleton, error);
    free(worlds);
    return result;
}

ex_result exi_skeleton_read_centres(const ex_project_view *view, const char *relative, const ex_skeleton *skeleton,
                                    double *centres, ex_error *error) {
    ex_scene *scene = NULL;
    ex_result result = exi_skeleton_read_scene(view, relative, &scene, error);
    if (result != EX_OK)
        return ex_error_within(error, result, "skeleton");
    result = scene->skin_count > 0 ? centres_of_skin(scene, skeleton, centres, error)
                                   : centres_of_nodes(scene, skeleton, centres, error);
    ex_scene_destroy(scene);
    return ex_error_within(error, result, "%s", relative);
}
