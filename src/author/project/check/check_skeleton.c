/*
 * Checks the skeleton's file: it has a skeleton; its weights move every vertex and sum to 1; it was bound to the
 * project's mesh; its joints are near the mesh and do not move it at rest; and it has the joints that the project
 * names.
 */
#include "author/project/skeleton/skeleton.h"

#include "author/base/array.h"
#include "author/project/check/check.h"
#include "runtime/pose/matrix.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Joints farther from the mesh than this, in its sizes, and vertices moved farther than this at rest, are probably a
 * mistake. */
static const double far_away = 1, moved_at_rest = 0.01;

/* ---- weights in the file ---- */

static bool came_before(const ex_scene *scene, int node) {
    for (int n = 0; n < node; n++)
        if (scene->nodes[n].mesh == scene->nodes[node].mesh && scene->nodes[n].skin == scene->nodes[node].skin)
            return true;
    return false;
}

static void check_primitive(exi_checker *c, ex_scene_primitive *p, const char *place) {
    if (p->empty_count > 0)
        exi_check_add(c, EX_SEVERITY_ERROR, "zero_weights", "skeleton", p->empty_count,
                      "%s: %s: the joint weights of %d %s, the first of them %d (counting from 0), sum to 0, so no "
                      "joint moves %s: paint weights there and export again",
                      c->view->skeleton, place, p->empty_count, p->empty_count == 1 ? "vertex" : "vertices",
                      p->first_empty, p->empty_count == 1 ? "it" : "them");
    p->empty_count = 0; /* reported; the first joint moves them, so that the other checks can go on */
    if (p->unnormalised_count > 0)
        exi_check_add(c, EX_SEVERITY_WARNING, "unnormalised", "skeleton", p->largest_deviation,
                      "%s: %s: the joint weights of %d %s do not sum to 1 and are divided by their sum; the farthest "
                      "off is vertex %d (counting from 0), by %.3g",
                      c->view->skeleton, place, p->unnormalised_count,
                      p->unnormalised_count == 1 ? "vertex" : "vertices", p->worst_vertex, p->largest_deviation);
}

static void check_weights(exi_checker *c, ex_scene *scene, int skin) {
    for (int n = 0; n < scene->node_count; n++) {
        const int mesh = scene->nodes[n].mesh;
        if (scene->nodes[n].skin != skin || mesh < 0 || came_before(scene, n))
            continue;
        for (int p = 0; p < scene->meshes[mesh].primitive_count; p++) {
            char place[64];
            snprintf(place, sizeof place, "meshes[%d].primitives[%d]", mesh, p);
            check_primitive(c, &scene->meshes[mesh].primitives[p], place);
        }
    }
}

/* ---- the mesh that it was bound to ---- */

typedef struct box {
    double low[3], high[3];
} box;

static void grow(box *b, const double p[3]) {
    for (int i = 0; i < 3; i++) {
        b->low[i] = p[i] < b->low[i] ? p[i] : b->low[i];
        b->high[i] = p[i] > b->high[i] ? p[i] : b->high[i];
    }
}

static box mesh_box(const ex_mesh *mesh) {
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int v = 0; v < mesh->vertex_count; v++)
        grow(&b, mesh->positions + 3 * (size_t)v);
    return b;
}

static box bound_box(const ex_scene *scene, int skin) {
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int n = 0; n < scene->node_count; n++) {
        const ex_scene_mesh *mesh = scene->nodes[n].mesh >= 0 ? &scene->meshes[scene->nodes[n].mesh] : NULL;
        for (int p = 0; mesh && scene->nodes[n].skin == skin && p < mesh->primitive_count; p++)
            for (int v = 0; v < mesh->primitives[p].vertex_count; v++) {
                const float *at = mesh->primitives[p].positions + 3 * (size_t)v;
                grow(&b, (double[3]){(double)at[0], (double)at[1], (double)at[2]});
            }
    }
    return b;
}

static double box_size(const box *b) {
    return sqrt((b->high[0] - b->low[0]) * (b->high[0] - b->low[0]) +
                (b->high[1] - b->low[1]) * (b->high[1] - b->low[1]) +
                (b->high[2] - b->low[2]) * (b->high[2] - b->low[2]));
}

/* Returns the distance of a point from a box. */
static double box_distance(const box *b, const double p[3]) {
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        const double off = p[i] < b->low[i] ? b->low[i] - p[i] : p[i] > b->high[i] ? p[i] - b->high[i] : 0;
        sum += off * off;
    }
    return sqrt(sum);
}

/* Explains why the weights could not be read, by comparing the boxes of the bound mesh and of the project's mesh. */
static void explain_skin(exi_checker *c, const ex_scene *scene, int skin, const ex_error *error) {
    const box mesh = mesh_box(c->mesh), bound = bound_box(scene, skin);
    const double ratio = box_size(&bound) / c->size;
    double centre[3], apart = 0;
    for (int i = 0; i < 3; i++) {
        centre[i] = (bound.low[i] + bound.high[i]) / 2;
        apart += (centre[i] - (mesh.low[i] + mesh.high[i]) / 2) * (centre[i] - (mesh.low[i] + mesh.high[i]) / 2);
    }
    apart = sqrt(apart) / c->size;
    if (error->result == EX_ERROR_MEMORY)
        c->failed = true;
    else if (ratio > 1.5 || ratio < 1 / 1.5)
        exi_check_add(c, EX_SEVERITY_ERROR, "bind", "skeleton", ratio,
                      "%s: the mesh it was bound to is %.3g times as large as the project's mesh: export both from the "
                      "same mesh; glTF is in metres, and \"unit\" is the unit of the mesh (%s)",
                      c->view->skeleton, ratio, error->text);
    else if (apart > 0.25)
        exi_check_add(c, EX_SEVERITY_ERROR, "bind", "skeleton", apart,
                      "%s: the mesh it was bound to is %.3g of the mesh's size away from it: export both from the same "
                      "mesh, in the rest pose and at the same place (%s)",
                      c->view->skeleton, apart, error->text);
    else
        exi_check_add(c, EX_SEVERITY_ERROR, "bind", "skeleton", 0, "%s: %s", c->view->skeleton, error->text);
}

/* ---- joints and the mesh ---- */

/* Marks joints that move anything [joint_count]; false without memory. */
static bool find_movers(const ex_skin *skin, bool *moves) {
    const size_t most = (size_t)ex_skin_get_info(skin).influence_most;
    uint32_t *joints = exi_array_allocate(most, sizeof *joints);
    for (int v = 0; joints && v < ex_skin_vertex_count(skin); v++)
        for (int i = ex_skin_influences(skin, v, joints, NULL) - 1; i >= 0; i--)
            moves[joints[i]] = true;
    free(joints);
    return joints != NULL;
}

static void check_centres(exi_checker *c) {
    const size_t count = (size_t)ex_skeleton_joint_count(c->skeleton);
    double *centres = exi_array_allocate(count, 3 * sizeof *centres), worst = 0;
    bool *moves = calloc(count, sizeof *moves);
    const box mesh = mesh_box(c->mesh);
    int far = 0, farthest = 0;
    if (!centres || !moves || !exi_skeleton_centres(c->skeleton, centres) || !find_movers(c->skin, moves))
        c->failed = true;
    for (size_t j = 0; !c->failed && j < count; j++) {
        const double off = moves[j] ? box_distance(&mesh, centres + 3 * j) / c->size : 0;
        far += off > far_away;
        farthest = off > worst ? (int)j : farthest;
        worst = off > worst ? off : worst;
    }
    exi_joint_text text;
    if (!c->failed && far > 0)
        exi_check_add(c, EX_SEVERITY_WARNING, "far_joints", "skeleton", worst,
                      "%s: %d %s where the mesh was bound lie%s far from it, the farthest '%s', by %.3g times its "
                      "size: are the inverse bind matrices in another unit than the mesh?",
                      c->view->skeleton, far, far == 1 ? "joint" : "joints", far == 1 ? "s" : "",
                      exi_joint_name(c->skeleton, farthest, &text), worst);
    free(centres);
    free(moves);
}

typedef struct rest_pose {
    void *scratch, *palette;
    float *matrices, *centres, *turns, *positions;
} rest_pose;

/* Returns the joint with the largest sum of weights. */
static int find_main_joint(const ex_skin *skin, int joint_count) {
    const size_t most = (size_t)ex_skin_get_info(skin).influence_most;
    uint32_t *joints = exi_array_allocate(most, sizeof *joints);
    float *weights = exi_array_allocate(most, sizeof *weights);
    double *sums = calloc((size_t)joint_count, sizeof *sums);
    int main = joints && weights && sums ? 0 : -1;
    for (int v = 0; main >= 0 && v < ex_skin_vertex_count(skin); v++)
        for (int i = ex_skin_influences(skin, v, joints, weights) - 1; i >= 0; i--)
            sums[joints[i]] += (double)weights[i];
    for (int j = 0; main >= 0 && j < joint_count; j++)
        main = sums[j] > sums[main] ? j : main;
    free(joints);
    free(weights);
    free(sums);
    return main;
}

/* Poses the mesh at rest, into r->positions. */
static void pose_at_rest(const exi_checker *c, const rest_pose *r) {
    ex_skeleton_evaluate(c->skeleton, NULL,
                         &(ex_skeleton_output){.matrices = r->matrices, .centres = r->centres, .turns = r->turns},
                         r->scratch);
    const ex_palette *palette = ex_palette_make(&(ex_palette_def){.method = c->view->skinning,
                                                                  .joint_count = ex_skeleton_joint_count(c->skeleton),
                                                                  .matrices = r->matrices,
                                                                  .centres = r->centres,
                                                                  .turns = r->turns,
                                                                  .scale = ex_skeleton_scale(c->skeleton)},
                                                r->palette);
    for (size_t i = 0; i < 3 * (size_t)c->mesh->vertex_count; i++)
        r->positions[i] = (float)c->mesh->positions[i];
    ex_skin_apply(
        c->skin, palette,
        &(ex_skin_job){.end = c->mesh->vertex_count, .positions = r->positions, .out_positions = r->positions});
}

/* Distances at rest, the largest of all vertices. */
typedef struct rest_distances {
    double whole; /* between the mesh and the mesh moved by one joint */
    double pose;  /* between that and the posed mesh */
    double size;  /* of the posed mesh */
    int vertex;   /* with the largest `pose` */
} rest_distances;

static rest_distances measure_rest(const exi_checker *c, const rest_pose *r, const float matrix[12]) {
    rest_distances d = {0};
    box posed = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int v = 0; v < c->mesh->vertex_count; v++) {
        const double *x = c->mesh->positions + 3 * (size_t)v;
        const float *p = r->positions + 3 * (size_t)v;
        double whole = 0, pose = 0;
        for (int i = 0; i < 3; i++) {
            const float *row = matrix + 4 * i;
            const double y = (double)row[0] * x[0] + (double)row[1] * x[1] + (double)row[2] * x[2] + (double)row[3];
            whole += (y - x[i]) * (y - x[i]);
            pose += ((double)p[i] - y) * ((double)p[i] - y);
            posed.low[i] = fmin(posed.low[i], (double)p[i]);
            posed.high[i] = fmax(posed.high[i], (double)p[i]);
        }
        d.whole = fmax(d.whole, sqrt(whole));
        d.vertex = sqrt(pose) > d.pose ? v : d.vertex;
        d.pose = fmax(d.pose, sqrt(pose));
    }
    d.size = box_size(&posed);
    return d;
}

/* " and scale it by 0.01", if the matrix does. */
static const char *scale_text(const float matrix[12], char text[48]) {
    double m[12];
    for (int i = 0; i < 12; i++)
        m[i] = (double)matrix[i];
    const double determinant = exi_matrix_determinant(m), scale = cbrt(fabs(determinant));
    text[0] = 0;
    if (fabs(scale - 1) > moved_at_rest)
        snprintf(text, 48, " and scale it by %.3g", scale);
    if (determinant < 0)
        snprintf(text + strlen(text), 48 - strlen(text), " and mirror it");
    return text;
}

/* Says so if a sculpt on the mesh's file would not fit: joints at rest move the mesh as a whole, because it was bound
 * in another space, or its parts, because it was bound in another pose. The joint that moves the most tells the two
 * apart. */
static void check_rest(exi_checker *c) {
    const int joints = ex_skeleton_joint_count(c->skeleton), main = find_main_joint(c->skin, joints);
    rest_pose r = {.scratch = exi_array_allocate(ex_skeleton_scratch_size(c->skeleton), 1),
                   .palette = exi_array_allocate(ex_palette_size(c->view->skinning, joints), 1),
                   .matrices = exi_array_allocate((size_t)joints, 12 * sizeof *r.matrices),
                   .centres = exi_array_allocate((size_t)joints, 3 * sizeof *r.centres),
                   .turns = exi_array_allocate((size_t)joints, 4 * sizeof *r.turns),
                   .positions = exi_array_allocate((size_t)c->mesh->vertex_count, 3 * sizeof *r.positions)};
    if (main < 0 || !r.scratch || !r.palette || !r.matrices || !r.centres || !r.turns || !r.positions)
        c->failed = true;
    if (!c->failed) {
        char text[48];
        pose_at_rest(c, &r);
        const float *matrix = r.matrices + 12 * (size_t)main;
        const rest_distances d = measure_rest(c, &r, matrix);
        if (d.pose > moved_at_rest * d.size)
            exi_check_add(
                c, EX_SEVERITY_NOTE, "rest_pose", "skeleton", d.pose / d.size,
                "%s: at rest its joints move the mesh by up to %.3g %% of its size (vertex %d, counting from 0): "
                "it was bound in another pose than its rest pose, which is fine; sculpt on what 'pose' writes, not "
                "on the mesh",
                c->view->skeleton, 100 * d.pose / d.size, d.vertex);
        else if (d.whole > moved_at_rest * c->size)
            exi_check_add(c, EX_SEVERITY_NOTE, "rest_pose", "skeleton", 0,
                          "%s: at rest its joints move the whole mesh%s: it was bound in another place, direction or "
                          "unit, which is fine; sculpt on what 'pose' writes, not on the mesh",
                          c->view->skeleton, scale_text(matrix, text));
    }
    free(r.scratch);
    free(r.palette);
    free(r.matrices);
    free(r.centres);
    free(r.turns);
    free(r.positions);
}

static void check_influences(exi_checker *c) {
    const ex_skin_info info = ex_skin_get_info(c->skin);
    if (info.long_count > 0)
        exi_check_add(c, EX_SEVERITY_NOTE, "influences", "skeleton", info.influence_most,
                      "%s: %d %s than 4 joints, up to %d: many viewers use only the first 4", c->view->skeleton,
                      info.long_count, info.long_count == 1 ? "vertex is moved by more" : "vertices are moved by more",
                      info.influence_most);
}

/* ---- the whole ---- */

static void report_joint(void *user, const char *place, const char *sentence) {
    exi_check_add(user, EX_SEVERITY_ERROR, "joint", place, 0, "%s", sentence);
}

static void check_joints(exi_checker *c) {
    if (exi_project_find_missing_joints(c->view, c->skeleton, report_joint, c, NULL) != EX_OK)
        c->failed = true;
}

static void check_scene(exi_checker *c, ex_scene *scene) {
    ex_error error = {0};
    const int skin = exi_skeleton_main_skin(scene);
    if (skin < 0) {
        exi_skeleton_no_skin(&error);
        exi_check_add(c, EX_SEVERITY_ERROR, "skeleton", "skeleton", 0, "%s: %s", c->view->skeleton, error.text);
        return;
    }
    if (exi_skeleton_from_scene(scene, skin, &c->skeleton, &error) != EX_OK) {
        ex_error_within(&error, error.result, "%s", c->view->skeleton);
        exi_check_failure(c, "skeleton", "skeleton", &error);
    }
    check_weights(c, scene, skin);
    if (!c->mesh || c->failed)
        return;
    if (exi_skin_from_scene(scene, skin, c->mesh, &c->skin, &error) != EX_OK) {
        c->lame = true;
        explain_skin(c, scene, skin, &error);
    } else if (!c->skin)
        exi_check_add(c, EX_SEVERITY_WARNING, "unbound", "skeleton", 0,
                      "%s: nothing is bound to its skeleton, so no joint moves the mesh: export the skinned mesh "
                      "together with it",
                      c->view->skeleton);
}

void exi_check_skeleton(exi_checker *c) {
    if (!c->view->skeleton) {
        check_joints(c);
        return;
    }
    ex_scene *scene = NULL;
    ex_error error = {0};
    exi_check_progress(c, "skeleton");
    if (exi_skeleton_read_scene(c->view, c->view->skeleton, &scene, &error) != EX_OK)
        exi_check_failure(c, "unreadable", "skeleton", &error);
    else
        check_scene(c, scene);
    ex_scene_destroy(scene);
    c->lame = c->lame || !c->skeleton;
    if (c->skeleton && !c->failed)
        check_joints(c);
    if (c->skin && !c->failed)
        check_influences(c);
    if (c->skeleton && c->skin && !c->failed) {
        check_centres(c);
        check_rest(c);
    }
}
