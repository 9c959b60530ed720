/*
 * Reads a template person from a rig, and poses it (human.h).
 */
#include "author/scan/human/human.h"

#include "author/base/array.h"
#include "author/scan/human/human_data.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/formats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "landmark ";

void exi_human_destroy(exi_human *human) {
    if (!human)
        return;
    ex_mesh_destroy(human->mesh);
    ex_kinematics_destroy(human->kinematics);
    free(human->joints);
    free(human->weights);
    free(human->figures);
    free(human->joint_shifts);
    for (int i = 0; human->landmarks && i < human->landmark_count; i++)
        free(human->landmarks[i].name);
    free(human->landmarks);
    free(human);
}

int exi_human_find(const exi_human *human, const char *landmark) {
    for (int i = 0; i < human->landmark_count; i++)
        if (strcmp(human->landmarks[i].name, landmark) == 0)
            return human->landmarks[i].vertex;
    return -1;
}

/* ---- reading ---- */

typedef struct reader {
    const ex_rig *rig;
    const ex_skeleton *skeleton;
    exi_human *human;
    int *numbers;        /* [joint of the rig]: joint of the template; -1: a landmark */
    double (*places)[3]; /* [joint of the rig] */
    ex_error *error;
} reader;

static bool is_landmark(const reader *r, int joint) {
    const char *name = ex_skeleton_name(r->skeleton, joint);
    return name && strncmp(name, prefix, sizeof prefix - 1) == 0;
}

static ex_result no_memory(const reader *r) {
    return ex_error_memory(r->error, "the template", (size_t)ex_rig_vertex_count(r->rig) * 64);
}

/* Places where the joints bind. */
static ex_result find_places(reader *r, int count) {
    float *centres = exi_array_allocate(3 * (size_t)count, sizeof *centres);
    void *scratch = exi_array_allocate(ex_skeleton_scratch_size(r->skeleton), 1);
    const ex_skeleton_input input = {0};
    const ex_skeleton_output output = {.centres = centres};
    if (centres && scratch)
        ex_skeleton_evaluate(r->skeleton, &input, &output, scratch);
    for (int i = 0; centres && scratch && i < 3 * count; i++)
        r->places[i / 3][i % 3] = (double)centres[i];
    const bool good = centres && scratch;
    free(centres);
    free(scratch);
    return good ? EX_OK : no_memory(r);
}

static int nearest_vertex(const ex_mesh *mesh, const double at[3]) {
    int nearest = 0;
    double least = INFINITY;
    for (int v = 0; v < mesh->vertex_count; v++) {
        double sum = 0;
        for (int c = 0; c < 3; c++)
            sum += (mesh->positions[3 * v + c] - at[c]) * (mesh->positions[3 * v + c] - at[c]);
        nearest = sum < least ? v : nearest;
        least = sum < least ? sum : least;
    }
    return nearest;
}

/* Kinds and axes of joints are those of the built-in skeleton, where it has a joint of the name. */
static void set_joint(const ex_kinematics *full, ex_kin_joint *joint) {
    const int known = full ? ex_kinematics_find_joint(full, joint->name) : -1;
    joint->mirror = -1;
    joint->freedom = joint->parent < 0 ? EX_FREEDOM_BASE : EX_FREEDOM_BALL;
    if (known < 0 || joint->parent < 0)
        return;
    joint->freedom = full->joints[known].freedom;
    memcpy(joint->axis, full->joints[known].axis, sizeof joint->axis);
    joint->least = full->joints[known].least;
    joint->most = full->joints[known].most;
}

static ex_result read_joints(reader *r) {
    exi_human *h = r->human;
    const int count = ex_skeleton_joint_count(r->skeleton);
    int joints = 0, roots = 0;
    r->numbers = exi_array_allocate((size_t)count, sizeof *r->numbers);
    r->places = exi_array_allocate((size_t)count, sizeof *r->places);
    if (!r->numbers || !r->places || find_places(r, count) != EX_OK)
        return no_memory(r);
    for (int j = 0; j < count; j++) {
        const int parent = ex_skeleton_parent(r->skeleton, j);
        r->numbers[j] = is_landmark(r, j) ? -1 : joints++;
        h->landmark_count += r->numbers[j] < 0;
        roots += parent < 0;
    }
    if (roots != 1 || joints == 0 || r->numbers[0] != 0)
        return ex_error_set(r->error, EX_ERROR_DATA, "a template's skeleton must have one root: this has %d", roots);
    h->kinematics = calloc(1, sizeof *h->kinematics);
    h->landmarks = exi_array_allocate((size_t)h->landmark_count, sizeof *h->landmarks);
    if (!h->kinematics || !h->landmarks)
        return no_memory(r);
    memset(h->landmarks, 0, (size_t)h->landmark_count * sizeof *h->landmarks);
    h->kinematics->joints = calloc((size_t)joints, sizeof *h->kinematics->joints);
    h->kinematics->name = exi_text_copy("human", 5);
    if (!h->kinematics->joints || !h->kinematics->name)
        return no_memory(r);
    h->kinematics->joint_count = joints;
    ex_kinematics *full = NULL;
    ex_result result = ex_kinematics_read("full", &full, r->error);
    for (int j = 0, mark = 0; j < count && result == EX_OK; j++) {
        const char *name = ex_skeleton_name(r->skeleton, j);
        const size_t skip = r->numbers[j] < 0 ? sizeof prefix - 1 : 0;
        char *copy = exi_text_copy(name + skip, strlen(name + skip));
        if (r->numbers[j] < 0) {
            h->landmarks[mark++] = (exi_landmark){.name = copy, .vertex = nearest_vertex(h->mesh, r->places[j])};
        } else {
            ex_kin_joint *joint = &h->kinematics->joints[r->numbers[j]];
            const int parent = ex_skeleton_parent(r->skeleton, j);
            joint->name = copy;
            joint->parent = parent < 0 ? -1 : r->numbers[parent];
            for (int c = 0; c < 3; c++)
                joint->translation[c] = r->places[j][c] - (parent < 0 ? 0 : r->places[parent][c]);
            if (copy)
                set_joint(full, joint);
        }
        result = copy ? EX_OK : no_memory(r);
    }
    ex_kinematics_destroy(full);
    return result;
}

static ex_result read_skin(reader *r) {
    exi_human *h = r->human;
    const ex_skin *skin = ex_rig_skin(r->rig);
    const size_t vertices = (size_t)h->mesh->vertex_count;
    const int most = ex_skin_get_info(skin).influence_most;
    h->joints = calloc(vertices * EXI_HUMAN_INFLUENCES, sizeof *h->joints);
    h->weights = calloc(vertices * EXI_HUMAN_INFLUENCES, sizeof *h->weights);
    uint32_t *joints = exi_array_allocate((size_t)most, sizeof *joints);
    float *weights = exi_array_allocate((size_t)most, sizeof *weights);
    const bool good = h->joints && h->weights && joints && weights;
    for (int v = 0; good && v < h->mesh->vertex_count; v++) {
        const int count = ex_skin_influences(skin, v, joints, weights);
        uint16_t *to = h->joints + (size_t)v * EXI_HUMAN_INFLUENCES;
        float *share = h->weights + (size_t)v * EXI_HUMAN_INFLUENCES, sum = 0;
        for (int k = 0; k < count; k++) { /* keep the largest */
            int least = 0;
            for (int i = 1; i < EXI_HUMAN_INFLUENCES; i++)
                least = share[i] < share[least] ? i : least;
            if (r->numbers[joints[k]] >= 0 && weights[k] > share[least]) {
                share[least] = weights[k];
                to[least] = (uint16_t)r->numbers[joints[k]];
            }
        }
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++)
            sum += share[i];
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++)
            share[i] = sum > 0 ? share[i] / sum : i == 0;
    }
    free(joints);
    free(weights);
    return good ? EX_OK : no_memory(r);
}

static ex_result read_figures(reader *r) {
    exi_human *h = r->human;
    if (ex_rig_layer_count(r->rig) == 0 || ex_rig_layer_domain(r->rig, 0) != EX_DOMAIN_FORM)
        return EX_OK;
    const ex_weigher *weigher = ex_rig_weigher(r->rig, 0);
    if (ex_weigher_get_kind(weigher) != EX_WEIGHER_DIRECT)
        return EX_OK;
    const int count = ex_weigher_example_count(weigher), joints = ex_skeleton_joint_count(r->skeleton);
    const size_t numbers = 3 * (size_t)h->mesh->vertex_count, own = (size_t)h->kinematics->joint_count;
    float *shifts = exi_array_allocate(3 * (size_t)joints, sizeof *shifts);
    h->figures = exi_array_allocate((size_t)count * numbers, sizeof *h->figures);
    h->joint_shifts = exi_array_allocate((size_t)count * own, sizeof *h->joint_shifts);
    const bool good = shifts && h->figures && h->joint_shifts;
    for (int k = 0; good && k < count; k++) {
        ex_rig_example_delta(r->rig, 0, k, h->figures + (size_t)k * numbers);
        ex_rig_example_shifts(r->rig, 0, k, shifts);
        for (int j = 0; j < joints; j++)
            for (int c = 0; c < 3 && r->numbers[j] >= 0; c++)
                h->joint_shifts[(size_t)k * own + (size_t)r->numbers[j]][c] = (double)shifts[3 * j + c];
    }
    free(shifts);
    h->figure_count = good ? count : 0;
    return good ? EX_OK : no_memory(r);
}

static ex_result read_rig(const char *path, ex_rig **rig, ex_error *error) {
    const ex_rig_options options = {.without_normals = true, .without_levels = true};
    if (path)
        return ex_rig_read(path, &options, rig, error);
    size_t size = 0;
    const void *bytes = exi_human_data(&size);
    return ex_rig_unpack(bytes, size, &options, NULL, rig, error);
}

ex_result exi_human_read(const char *path, exi_human **human, ex_error *error) {
    ex_rig *rig = NULL;
    *human = NULL;
    ex_result result = read_rig(path, &rig, error);
    if (result != EX_OK)
        return result;
    reader r = {.rig = rig, .skeleton = ex_rig_skeleton(rig), .human = calloc(1, sizeof(exi_human)), .error = error};
    if (!r.skeleton || !ex_rig_skin(rig))
        result = ex_error_set(error, EX_ERROR_DATA, "%s has no skeleton with a skin: it cannot be a template",
                              path ? path : "the template");
    else if (!r.human)
        result = no_memory(&r);
    if (result == EX_OK)
        result = ex_rig_to_mesh(rig, NULL, &r.human->mesh, error);
    if (result == EX_OK)
        result = read_joints(&r);
    if (result == EX_OK)
        result = read_skin(&r);
    if (result == EX_OK)
        result = read_figures(&r);
    free(r.numbers);
    free(r.places);
    ex_rig_destroy(rig);
    if (result == EX_OK)
        *human = r.human;
    else
        exi_human_destroy(r.human);
    return result;
}

/* ---- posing ---- */

void exi_human_figure(const exi_human *human, const double *figure, double (*rest)[3], double (*places)[3]) {
    const size_t vertices = (size_t)human->mesh->vertex_count, joints = (size_t)human->kinematics->joint_count;
    memcpy(rest, human->mesh->positions, vertices * sizeof *rest);
    for (size_t j = 0; j < joints; j++) {
        const ex_kin_joint *joint = &human->kinematics->joints[j];
        for (int c = 0; c < 3; c++)
            places[j][c] = joint->translation[c] + (joint->parent < 0 ? 0 : places[joint->parent][c]);
    }
    for (int k = 0; figure && k < human->figure_count; k++) {
        const float *form = human->figures + 3 * (size_t)k * vertices;
        for (size_t i = 0; figure[k] != 0 && i < vertices; i++)
            for (int c = 0; c < 3; c++)
                rest[i][c] += figure[k] * (double)form[3 * i + (size_t)c];
    }
    for (int k = 0; figure && k < human->figure_count; k++) /* after all parents are known without figures */
        for (size_t j = 0; j < joints; j++)
            for (int c = 0; c < 3; c++)
                places[j][c] += figure[k] * human->joint_shifts[(size_t)k * joints + j][c];
}

void exi_human_frames(const exi_human *human, const double (*places)[3], const ex_kin_pose *pose,
                      double (*rotations)[9], double (*posed)[3]) {
    for (int j = 0; j < human->kinematics->joint_count; j++) {
        const int parent = human->kinematics->joints[j].parent;
        double own[9];
        exi_quaternion_matrix(pose->rotations[j], own);
        if (parent < 0) {
            memcpy(rotations[j], own, sizeof own);
            memcpy(posed[j], pose->translation, sizeof posed[j]);
            continue;
        }
        const double *above = rotations[parent];
        for (int r = 0; r < 3; r++) {
            posed[j][r] = posed[parent][r];
            for (int c = 0; c < 3; c++) {
                rotations[j][3 * r + c] =
                    above[3 * r] * own[c] + above[3 * r + 1] * own[3 + c] + above[3 * r + 2] * own[6 + c];
                posed[j][r] += above[3 * r + c] * (places[j][c] - places[parent][c]);
            }
        }
    }
}

void exi_human_skin(const exi_human *human, const double (*rest)[3], const double (*places)[3],
                    const double (*rotations)[9], const double (*posed)[3], double (*vertices)[3]) {
    for (int v = 0; v < human->mesh->vertex_count; v++) {
        const uint16_t *joints = human->joints + (size_t)v * EXI_HUMAN_INFLUENCES;
        const float *weights = human->weights + (size_t)v * EXI_HUMAN_INFLUENCES;
        double sum[3] = {0};
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++) {
            const double w = (double)weights[i], *m = rotations[joints[i]], *at = places[joints[i]];
            if (w == 0)
                continue;
            const double d[3] = {rest[v][0] - at[0], rest[v][1] - at[1], rest[v][2] - at[2]};
            for (int c = 0; c < 3; c++)
                sum[c] += w * (m[3 * c] * d[0] + m[3 * c + 1] * d[1] + m[3 * c + 2] * d[2] + posed[joints[i]][c]);
        }
        memcpy(vertices[v], sum, sizeof sum);
    }
}

void exi_human_normals(const exi_human *human, const double (*vertices)[3], double (*normals)[3]) {
    const ex_mesh *mesh = human->mesh;
    memset(normals, 0, (size_t)mesh->vertex_count * sizeof *normals);
    for (int f = 0; f < mesh->face_count; f++) {
        const int begin = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        for (int c = begin + 1; c + 1 < end; c++) {
            const int a = mesh->corners[begin], b = mesh->corners[c], d = mesh->corners[c + 1];
            double u[3], v[3], n[3];
            exi_subtract(vertices[b], vertices[a], u);
            exi_subtract(vertices[d], vertices[a], v);
            exi_cross(u, v, n);
            for (int k = 0; k < 3; k++) {
                normals[a][k] += n[k];
                normals[b][k] += n[k];
                normals[d][k] += n[k];
            }
        }
    }
    for (int v = 0; v < mesh->vertex_count; v++)
        exi_unit3(normals[v]);
}
