/*
 * Scalars at vertices to look at: the distance between two forms, the displacement by an example, the weight of a
 * joint. On a refined level they are the cage's, refined like its points.
 */
#include <exemplar/author/picture.h>
#include <exemplar/settle.h>

#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- between two forms ---- */

/* The other form's surface, moved by -origin; for tasks. */
typedef struct nearest {
    const ex_mesh *form;
    double origin[3];
    float *positions;
    uint32_t *triangles;
    ex_tree *tree;
    void *memory;
    const ex_bounds *fit;
    float *values;
} nearest;

static void find_nearest(void *context, int begin, int end) {
    const nearest *n = context;
    for (int v = begin; v < end; v++) {
        float point[3];
        ex_closest closest;
        for (int k = 0; k < 3; k++)
            point[k] = (float)(n->form->positions[3 * (size_t)v + (size_t)k] - n->origin[k]);
        n->values[v] = ex_bounds_closest(n->fit, point, INFINITY, &closest) ? sqrtf(closest.distance_sq) : NAN;
    }
}

static ex_result grow_tree(nearest *n, const ex_mesh *other, const ex_tasks *tasks, ex_error *error) {
    int *cuts = NULL, count = 0;
    ex_result result = ex_mesh_triangulate(other, &cuts, &count, error);
    if (result != EX_OK)
        return result;
    size_t numbers = 3 * (size_t)other->vertex_count;
    n->positions = exi_array_allocate(numbers, sizeof *n->positions);
    n->triangles = exi_array_allocate(3 * (size_t)count, sizeof *n->triangles);
    if (n->positions && n->triangles) {
        for (size_t i = 0; i < numbers; i++)
            n->positions[i] = (float)(other->positions[i] - n->origin[i % 3]);
        for (size_t i = 0; i < 3 * (size_t)count; i++)
            n->triangles[i] = (uint32_t)other->corners[cuts[i]];
        ex_tree_def def = {.vertex_count = other->vertex_count,
                           .positions = n->positions,
                           .triangle_count = count,
                           .triangles = n->triangles};
        result = ex_tree_create(&def, NULL, &n->tree, error);
    } else {
        result = ex_error_memory(error, "the other form", numbers * sizeof(float) + 12 * (size_t)count);
    }
    free(cuts);
    if (result != EX_OK)
        return result;
    n->memory = malloc(ex_bounds_size(n->tree));
    if (!n->memory)
        return ex_error_memory(error, "the tree of triangles", ex_bounds_size(n->tree));
    n->fit = ex_bounds_fit(n->tree, n->positions, 0, n->memory, tasks);
    return EX_OK;
}

ex_result ex_form_distances(const ex_mesh *form, const ex_mesh *other, float *values, bool *by_vertex,
                            const ex_tasks *tasks, ex_error *error) {
    if (!form || !other || !values)
        return exi_misuse_error(error, "ex_form_distances", "form, other or values is NULL");
    bool same = ex_mesh_compare_connectivity(form, other, NULL) == EX_OK;
    if (by_vertex)
        *by_vertex = same;
    if (same) {
        for (size_t v = 0; v < (size_t)form->vertex_count; v++) {
            const double *a = form->positions + 3 * v, *b = other->positions + 3 * v;
            values[v] = (float)sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                                    (a[2] - b[2]) * (a[2] - b[2]));
        }
        return EX_OK;
    }
    if (other->face_count < 1)
        return ex_error_set(error, EX_ERROR_DATA, "the other form has neither the same vertices nor any faces");
    nearest n = {.form = form, .values = values};
    if (form->vertex_count > 0)
        memcpy(n.origin, form->positions, sizeof n.origin);
    ex_result result = exi_mesh_check_faces(other, error);
    if (result == EX_OK)
        result = grow_tree(&n, other, tasks, error);
    if (result == EX_OK)
        exi_run(tasks, form->vertex_count, 256, find_nearest, &n);
    free(n.memory);
    ex_tree_destroy(n.tree);
    free(n.triangles);
    free(n.positions);
    return result;
}

/* ---- of rigs ---- */

/* Refines triples of the cage to a level and computes their lengths. Takes ownership of the triples. */
static ex_result refine_lengths(const ex_rig *rig, float *cage, int level, float *values, ex_error *error) {
    int count = ex_rig_level_vertex_count(rig, level);
    float *fine = cage;
    if (level != 0) {
        const ex_stencils *stencils = ex_rig_stencils(rig);
        void *scratch = malloc(ex_stencils_scratch_size(stencils) + 1);
        fine = exi_array_allocate(3 * (size_t)count, sizeof *fine);
        if (!scratch || !fine) {
            free(scratch);
            free(fine);
            free(cage);
            return ex_error_memory(error, "numbers at the vertices", 12 * (size_t)count);
        }
        ex_refine refine = {.level = level, .control = cage, .positions = fine};
        ex_stencils_apply(stencils, &refine, NULL, scratch);
        free(scratch);
        free(cage);
    }
    for (size_t v = 0; v < (size_t)count; v++) {
        const float *d = fine + 3 * v;
        values[v] = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    free(fine);
    return EX_OK;
}

static ex_result check_level(const ex_rig *rig, int level, ex_error *error) {
    if (ex_rig_level_vertex_count(rig, level) < 1)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the rig has no level %d", level);
    return EX_OK;
}

/* Computes the displacement by an example of the vertices of a level, which are the first of the last level's. */
static ex_result displaced_amounts(const ex_rig *rig, int layer, int example, int level, float *values,
                                   ex_error *error) {
    const int count = ex_rig_layer_displaced(rig, layer, NULL), vertices = ex_rig_level_vertex_count(rig, level);
    uint32_t *listed = exi_array_allocate((size_t)count, sizeof *listed);
    float *amounts = exi_array_allocate((size_t)count, sizeof *amounts);
    const bool good = listed && amounts;
    if (good) {
        memset(values, 0, (size_t)vertices * sizeof *values);
        ex_rig_layer_displaced(rig, layer, listed);
        ex_rig_example_displacements(rig, layer, example, amounts);
        for (int i = 0; i < count && listed[i] < (uint32_t)vertices; i++)
            values[listed[i]] = fabsf(amounts[i]);
    }
    free(listed);
    free(amounts);
    return good ? EX_OK : ex_error_memory(error, "an example", (size_t)count * sizeof *amounts);
}

ex_result ex_rig_example_amounts(const ex_rig *rig, int layer, int example, int level, float *values, ex_error *error) {
    if (!rig || !values)
        return exi_misuse_error(error, "ex_rig_example_amounts", "rig or values is NULL");
    if (layer < 0 || layer >= ex_rig_layer_count(rig) || ex_rig_layer_stage(rig, layer) == EX_STAGE_TEXTURE ||
        example < 0 || example >= ex_weigher_example_count(ex_rig_weigher(rig, layer)))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "example %d of layer %d is not a form of the rig", example,
                            layer);
    ex_result result = check_level(rig, level, error);
    if (result != EX_OK)
        return result;
    if (ex_rig_layer_stage(rig, layer) == EX_STAGE_SURFACE)
        return displaced_amounts(rig, layer, example, level, values, error);
    size_t count = 3 * (size_t)ex_rig_vertex_count(rig);
    float *delta = exi_array_allocate(count, sizeof *delta);
    if (!delta)
        return ex_error_memory(error, "an example", count * sizeof *delta);
    ex_rig_example_delta(rig, layer, example, delta);
    return refine_lengths(rig, delta, level, values, error);
}

ex_result ex_rig_joint_weights(const ex_rig *rig, int joint, int level, float *values, ex_error *error) {
    if (!rig || !values)
        return exi_misuse_error(error, "ex_rig_joint_weights", "rig or values is NULL");
    const ex_skin *skin = ex_rig_skin(rig);
    if (!skin || joint < 0 || joint >= ex_skin_joint_count(skin))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the rig has no skin of joint %d", joint);
    ex_result result = check_level(rig, level, error);
    if (result != EX_OK)
        return result;
    size_t count = (size_t)ex_rig_vertex_count(rig), most = (size_t)ex_skin_get_info(skin).influence_most;
    float *held = calloc(3 * count + 1, sizeof *held), *weights = exi_array_allocate(most, sizeof *weights);
    uint32_t *joints = exi_array_allocate(most, sizeof *joints);
    if (!held || !weights || !joints) {
        free(held);
        result = ex_error_memory(error, "skin weights", 12 * count);
    } else {
        for (size_t v = 0; v < count; v++)
            for (int i = ex_skin_influences(skin, (int)v, joints, weights) - 1; i >= 0; i--)
                held[3 * v] += joints[i] == (uint32_t)joint ? weights[i] : 0;
        result = refine_lengths(rig, held, level, values, error);
    }
    free(weights);
    free(joints);
    return result;
}
