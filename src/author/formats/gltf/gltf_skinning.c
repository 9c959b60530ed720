/*
 * Reads joints and weights of vertices: JOINTS_n and WEIGHTS_n of any number of sets together, with weights scaled to
 * sum to 1 (glTF 2.0, section 3.7.3.1).
 */
#include "author/formats/gltf/gltf_reader.h"

#include "author/base/array.h"

#include <exemplar/pose.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest joint index kept, and most sets of four: those of a skin. No body needs more; a file that does is wrong. */
enum { JOINT_MOST = UINT16_MAX, SETS_MOST = EX_INFLUENCE_MAX / 4 };
/* Limit that keeps sums of weights finite. */
#define WEIGHT_MOST 1e30F
/* Weights down to this are rounding, and count as 0. */
#define WEIGHT_LEAST (-1e-3F)

static int count_sets(const json_t *attributes, const char *name) {
    int count = 0;
    char key[24];
    for (;; count++) {
        snprintf(key, sizeof key, "%s_%d", name, count);
        if (!json_object_get(attributes, key))
            return count;
    }
}

static ex_result read_set(exi_gltf *g, const json_t *attributes, ex_scene_primitive *p, int set, const char *where) {
    char key[24], here[EXI_WHERE_SIZE + 24];
    int accessor = -1, count, *joints = NULL;
    float *weights = NULL;
    snprintf(key, sizeof key, "JOINTS_%d", set);
    snprintf(here, sizeof here, "%s.%s", where, key);
    ex_result result = exi_gltf_get_reference(g, attributes, key, g->accessor_count, "accessor", where, &accessor);
    if (result == EX_OK)
        result = exi_gltf_ints(g, accessor, 4, p->vertex_count, JOINT_MOST, here, &joints, &count);
    snprintf(key, sizeof key, "WEIGHTS_%d", set);
    snprintf(here, sizeof here, "%s.%s", where, key);
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, attributes, key, g->accessor_count, "accessor", where, &accessor);
    if (result == EX_OK)
        result = exi_gltf_floats(g, accessor, 4, p->vertex_count, here, &weights, NULL);
    for (size_t v = 0; v < (size_t)p->vertex_count && result == EX_OK; v++)
        for (size_t k = 0; k < 4; k++) {
            size_t at = v * (size_t)p->influence_count + 4 * (size_t)set + k;
            float weight = weights[4 * v + k];
            if (!(weight >= WEIGHT_LEAST && weight <= WEIGHT_MOST)) {
                result = exi_gltf_fail(g, EX_ERROR_DATA, here, "vertex %zu (counting from 0) has a weight of %g", v,
                                       (double)weight);
                break;
            }
            p->weights[at] = weight > 0 ? weight : 0;
            p->joints[at] = (uint16_t)joints[4 * v + k];
        }
    free(joints);
    free(weights);
    return result;
}

/* Scales weights that do not sum to 1 up to rounding; a vertex without any weight follows the first joint. */
static ex_result normalise(exi_gltf *g, ex_scene_primitive *p, const char *where) {
    size_t influences = (size_t)p->influence_count, empty = 0, first_empty = 0, off = 0, first_off = 0;
    for (size_t v = 0; v < (size_t)p->vertex_count; v++) {
        float *weights = p->weights + v * influences;
        double sum = exi_scene_tidy_influences(p->joints + v * influences, weights, p->influence_count);
        if (!(sum > 0)) {
            first_empty = empty++ == 0 ? v : first_empty;
            weights[0] = 1;
            continue;
        }
        double error = fabs(sum - 1);
        if (error > 1e-3) {
            first_off = off++ == 0 ? v : first_off;
            p->worst_vertex = error > p->largest_deviation ? (int)v : p->worst_vertex;
            p->largest_deviation = error > p->largest_deviation ? error : p->largest_deviation;
        }
    }
    p->empty_count = (int)empty;
    p->first_empty = (int)first_empty;
    p->unnormalised_count = (int)off;
    if (empty > 0 && !exi_scene_note(g->scene,
                                     "%s: the joint weights of %zu %s, the first of them %zu (counting from 0), sum to "
                                     "0: they follow the skin's first joint",
                                     where, empty, empty == 1 ? "vertex" : "vertices", first_empty))
        return exi_gltf_no_memory(g);
    if (off > 0 && !exi_scene_note(g->scene,
                                   "%s: the joint weights of %zu %s, the first of them %zu (counting from 0), sum to 1 "
                                   "only within %.3g: they are divided by their sum",
                                   where, off, off == 1 ? "vertex" : "vertices", first_off, p->largest_deviation))
        return exi_gltf_no_memory(g);
    return EX_OK;
}

ex_result exi_gltf_read_influences(exi_gltf *g, const json_t *attributes, ex_scene_primitive *p, const char *where) {
    int sets = count_sets(attributes, "JOINTS"), weight_sets = count_sets(attributes, "WEIGHTS");
    if (sets != weight_sets)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "has %d set%s of joints and %d of weights", sets,
                             sets == 1 ? "" : "s", weight_sets);
    if (sets == 0)
        return EX_OK;
    if (sets > SETS_MOST)
        return exi_gltf_fail(g, EX_ERROR_LIMIT, where, "has %d sets of joints; at most %d are supported", sets,
                             SETS_MOST);
    /* Checks the decoded size of all sets before allocating memory for them. */
    ex_result result = exi_gltf_unfold(g, (size_t)p->vertex_count * (size_t)sets * 4 * 6, where);
    if (result != EX_OK)
        return result;
    p->influence_count = 4 * sets;
    p->joints = exi_array_allocate((size_t)p->vertex_count * (size_t)p->influence_count, sizeof *p->joints);
    p->weights = exi_array_allocate((size_t)p->vertex_count * (size_t)p->influence_count, sizeof *p->weights);
    if (!p->joints || !p->weights)
        return exi_gltf_no_memory(g);
    for (int set = 0; set < sets && result == EX_OK; set++)
        result = read_set(g, attributes, p, set, where);
    return result == EX_OK ? normalise(g, p, where) : result;
}
