/*
 * Differences between the skeletons, skins, refined levels and textures of two rigs.
 */
#include "author/project/compare/rig_difference.h"

#include "author/base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- joints ---- */

static const char *joint_name(const ex_rig *rig, int layer, int index) {
    (void)layer;
    return ex_skeleton_name(ex_rig_skeleton(rig), index);
}

static double transform_apart(const ex_transform *a, const ex_transform *b) {
    double plain = 0, turned = 0;
    for (int i = 0; i < 3; i++) {
        const double t = fabs((double)a->translation[i] - (double)b->translation[i]);
        const double s = fabs((double)a->scale[i] - (double)b->scale[i]);
        plain = t > plain ? t : plain;
        plain = s > plain ? s : plain;
    }
    double same = 0;
    for (int i = 0; i < 4; i++) {
        const double d = fabs((double)a->rotation[i] - (double)b->rotation[i]);
        const double e = fabs((double)a->rotation[i] + (double)b->rotation[i]);
        same = d > same ? d : same;
        turned = e > turned ? e : turned;
    }
    const double rotation = same < turned ? same : turned;
    return plain > rotation ? plain : rotation;
}

static double bind_apart(const ex_skeleton *a, int i, const ex_skeleton *b, int k) {
    float x[12], y[12];
    double largest = 0;
    ex_skeleton_inverse_bind(a, i, x);
    ex_skeleton_inverse_bind(b, k, y);
    for (int n = 0; n < 12; n++) {
        const double d = fabs((double)x[n] - (double)y[n]);
        largest = d > largest ? d : largest;
    }
    return largest;
}

static void compare_joints(exi_comparison *c, const int *joints) {
    const ex_skeleton *a = ex_rig_skeleton(c->a), *b = ex_rig_skeleton(c->b);
    for (int i = 0; i < ex_skeleton_joint_count(a); i++) {
        const int k = joints[i];
        if (k < 0)
            continue;
        const char *name = ex_skeleton_name(a, i);
        const ex_transform x = ex_skeleton_rest(a, i), y = ex_skeleton_rest(b, k);
        const double rest = transform_apart(&x, &y), bind = bind_apart(a, i, b, k);
        const int parent = ex_skeleton_parent(a, i);
        if ((parent < 0 ? -1 : joints[parent]) != ex_skeleton_parent(b, k))
            exi_difference_add(c, "joint", "skeleton", 0, 0, "joint '%s' has another parent", name);
        if (rest > c->tolerance)
            exi_difference_add(c, "joint", "skeleton", rest, 0, "joint '%s' rests elsewhere, by %.3g", name, rest);
        if (bind > c->tolerance)
            exi_difference_add(c, "joint", "skeleton", bind, 0, "joint '%s' was bound elsewhere, by %.3g", name, bind);
    }
}

/* ---- skins ---- */

/* Adds sign times the weights of a vertex to row [joint_count], with joint i stored at places[i]. */
static void add_weights(const ex_skin *skin, int vertex, const int *places, double sign, uint32_t *joints,
                        float *weights, double *row) {
    const int count = ex_skin_influences(skin, vertex, joints, weights);
    for (int i = 0; i < count; i++) {
        const int place = places ? places[joints[i]] : (int)joints[i];
        if (place >= 0)
            row[place] += sign * (double)weights[i];
    }
}

static void compare_weights(exi_comparison *c, const ex_skin *a, const ex_skin *b, const int *joints) {
    const size_t most_a = (size_t)ex_skin_get_info(a).influence_most,
                 most_b = (size_t)ex_skin_get_info(b).influence_most;
    const size_t most = most_a > most_b ? most_a : most_b, count = (size_t)ex_skin_joint_count(b);
    uint32_t *numbers = exi_array_allocate(most, sizeof *numbers);
    float *weights = exi_array_allocate(most, sizeof *weights);
    double *row = calloc(count + 1, sizeof *row), largest = 0;
    int vertex = -1, different = 0;
    c->failed = c->failed || !numbers || !weights || !row;
    for (int v = 0; numbers && weights && row && v < ex_skin_vertex_count(a); v++) {
        double here = 0;
        add_weights(a, v, joints, 1, numbers, weights, row);
        add_weights(b, v, NULL, -1, numbers, weights, row);
        for (size_t i = 0; i < count; i++) {
            here = fabs(row[i]) > here ? fabs(row[i]) : here;
            row[i] = 0;
        }
        different += here > c->tolerance;
        if (here > largest) {
            largest = here;
            vertex = v;
        }
    }
    if (different > 0)
        exi_difference_add(c, "skin", "skin", largest, 0,
                           "the weights of %d vertices differ, those of vertex %d (counting from 0) the most, by %.3g",
                           different, vertex, largest);
    free(numbers);
    free(weights);
    free(row);
}

static void compare_skins(exi_comparison *c, const int *joints) {
    const ex_skin *a = ex_rig_skin(c->a), *b = ex_rig_skin(c->b);
    if ((a == NULL) != (b == NULL))
        exi_difference_add(c, "skin", "", 0, 0, "the skeleton moves the mesh only in the %s", a ? "first" : "second");
    else if (a && ex_skin_vertex_count(a) == ex_skin_vertex_count(b))
        compare_weights(c, a, b, joints);
    if (ex_rig_skinning(c->a) != ex_rig_skinning(c->b))
        exi_difference_add(c, "skin", "", 0, 0, "the skinning is %s in the first and %s in the second",
                           ex_skinning_name(ex_rig_skinning(c->a)), ex_skinning_name(ex_rig_skinning(c->b)));
}

static void compare_skeletons(exi_comparison *c) {
    const ex_skeleton *a = ex_rig_skeleton(c->a), *b = ex_rig_skeleton(c->b);
    if ((a == NULL) != (b == NULL))
        exi_difference_add(c, "skeleton", "", 0, 0, "there is a skeleton only in the %s", a ? "first" : "second");
    if (!a || !b)
        return;
    int *joints =
        exi_difference_match(c, &(exi_named){.what = "joint",
                                             .where = "skeleton",
                                             .name = joint_name,
                                             .counts = {ex_skeleton_joint_count(a), ex_skeleton_joint_count(b)}});
    if (joints) {
        compare_joints(c, joints);
        compare_skins(c, joints);
    }
    free(joints);
}

/* ---- refinement ---- */

/* Weighted sums of one level. */
typedef struct rows {
    int *offsets, *indices;
    double *weights;
} rows;

static bool read_rows(const ex_stencils *stencils, int level, rows *r) {
    const size_t weights = (size_t)ex_stencils_weight_count(stencils, level);
    r->offsets = exi_array_allocate((size_t)ex_stencils_vertex_count(stencils, level) + 1, sizeof *r->offsets);
    r->indices = exi_array_allocate(weights, sizeof *r->indices);
    r->weights = exi_array_allocate(weights, sizeof *r->weights);
    if (!r->offsets || !r->indices || !r->weights)
        return false;
    ex_stencils_read(stencils, level, r->offsets, r->indices, r->weights, NULL);
    return true;
}

static void free_rows(rows *r) {
    free(r->offsets);
    free(r->indices);
    free(r->weights);
}

static bool rows_apart(const exi_comparison *c, const rows *a, const rows *b, size_t vertices, size_t weights) {
    if (memcmp(a->offsets, b->offsets, (vertices + 1) * sizeof *a->offsets) != 0 ||
        memcmp(a->indices, b->indices, weights * sizeof *a->indices) != 0)
        return true;
    for (size_t i = 0; i < weights; i++)
        if (exi_apart(c, a->weights[i], b->weights[i]))
            return true;
    return false;
}

static void compare_level(exi_comparison *c, int level, const char *name) {
    const ex_stencils *a = ex_rig_stencils(c->a), *b = ex_rig_stencils(c->b);
    if (ex_stencils_has(a, level) != ex_stencils_has(b, level)) {
        exi_difference_add(c, "level", name, 0, 0, "it is only in the %s",
                           ex_stencils_has(a, level) ? "first" : "second");
        return;
    }
    if (!ex_stencils_has(a, level))
        return;
    const int vertices = ex_stencils_vertex_count(a, level), weights = ex_stencils_weight_count(a, level);
    if (vertices != ex_stencils_vertex_count(b, level)) {
        exi_difference_add(c, "level", name, 0, 0, "vertices: %d in the first, %d in the second", vertices,
                           ex_stencils_vertex_count(b, level));
        return;
    }
    rows x = {0}, y = {0};
    bool apart = weights != ex_stencils_weight_count(b, level);
    if (!apart) {
        const bool read = read_rows(a, level, &x) && read_rows(b, level, &y);
        c->failed = c->failed || !read;
        apart = read && rows_apart(c, &x, &y, (size_t)vertices, (size_t)weights);
    }
    if (apart)
        exi_difference_add(c, "level", name, 0, 0, "it is refined by other rules or creases");
    free_rows(&x);
    free_rows(&y);
}

static void compare_levels(exi_comparison *c) {
    const int first = ex_rig_level_count(c->a), second = ex_rig_level_count(c->b);
    const ex_stencils *a = ex_rig_stencils(c->a), *b = ex_rig_stencils(c->b);
    if (first != second)
        exi_difference_add(c, "level", "", 0, 0, "refined levels: %d in the first, %d in the second", first, second);
    for (int l = 1; a && b && l <= first && l <= second; l++) {
        char name[24];
        snprintf(name, sizeof name, "level %d", l);
        compare_level(c, l, name);
    }
    if (a && b && ex_stencils_on_limit(a) != ex_stencils_on_limit(b))
        exi_difference_add(c, "level", "", 0, 0, "all levels are on the limit surface only in the %s",
                           ex_stencils_on_limit(a) ? "first" : "second");
    else if (a && b && !ex_stencils_on_limit(a))
        compare_level(c, EX_LEVEL_LIMIT, "limit");
    else if (!a != !b)
        exi_difference_add(c, "level", "", 0, 0, "the surface is refined only in the %s", a ? "first" : "second");
    if (ex_rig_level(c->a) != ex_rig_level(c->b))
        exi_difference_add(c, "level", "", 0, 0, "they are shown at different levels");
}

/* ---- textures ---- */

static const char *texture_name(const ex_rig *rig, int layer, int index) {
    (void)layer;
    return ex_rig_texture(rig, index).name;
}

static void compare_textures(exi_comparison *c) {
    int *textures =
        exi_difference_match(c, &(exi_named){.what = "texture",
                                             .where = "",
                                             .name = texture_name,
                                             .counts = {ex_rig_texture_count(c->a), ex_rig_texture_count(c->b)}});
    for (int i = 0; textures && i < ex_rig_texture_count(c->a); i++) {
        if (textures[i] < 0)
            continue;
        const ex_texture a = ex_rig_texture(c->a, i), b = ex_rig_texture(c->b, textures[i]);
        if (a.width != b.width || a.height != b.height)
            exi_difference_add(c, "texture", "", 0, 0, "texture '%s' is %d x %d in the first and %d x %d in the second",
                               a.name, a.width, a.height, b.width, b.height);
    }
    free(textures);
}

void exi_difference_body(exi_comparison *c) {
    compare_skeletons(c);
    compare_levels(c);
    compare_textures(c);
}
