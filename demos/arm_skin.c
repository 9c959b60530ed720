/*
 * Skeleton and skin of the demo `arm`, as a scene: three joints, and smooth weights across elbow and wrist that depend
 * on the place along the arm alone. They are spread over a length, as riggers do: the blended matrices shrink the elbow
 * for all to see (Shape by Example, figure 6), but leave 0.57 of it at 110 degrees, the cosine of half the angle, and
 * un-posing stays far from where it would have to damp.
 */
#include "arm.h"

#include "author/formats/array.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

static double smooth_step(double a, double b, double x) {
    double t = (x - a) / (b - a);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

static void weigh_vertex(double x, float weights[4]) {
    const double forearm = smooth_step(ARM_ELBOW - 0.09, ARM_ELBOW + 0.09, x);
    const double hand = smooth_step(ARM_WRIST - 0.03, ARM_WRIST + 0.03, x);
    /* The two zones do not meet: one weight is 0, and the others are w and 1 - w. */
    weights[1] = (float)(x < (ARM_ELBOW + ARM_WRIST) / 2 ? forearm : 1 - hand);
    weights[0] = x < (ARM_ELBOW + ARM_WRIST) / 2 ? 1 - weights[1] : 0;
    weights[2] = x < (ARM_ELBOW + ARM_WRIST) / 2 ? 0 : 1 - weights[1];
    weights[3] = 0;
}

/* glTF asks that joints without weight are called 0. */
static bool skin_primitive(ex_scene_primitive *primitive) {
    const size_t count = (size_t)primitive->vertex_count;
    primitive->influence_count = 4;
    primitive->joints = exi_array_allocate(4 * count, sizeof *primitive->joints);
    primitive->weights = exi_array_allocate(4 * count, sizeof *primitive->weights);
    if (!primitive->joints || !primitive->weights)
        return false;
    for (size_t v = 0; v < count; v++) {
        float *weights = primitive->weights + 4 * v;
        weigh_vertex((double)primitive->positions[3 * v], weights);
        for (int i = 0; i < 4; i++)
            primitive->joints[4 * v + (size_t)i] = weights[i] > 0 ? (uint16_t)i : 0;
    }
    return true;
}

/* The skin of joints, which are the scene's first nodes, bound where they are. */
static bool add_skin(ex_scene *scene, const double places[ARM_JOINTS]) {
    ex_scene_skin *skin = scene->skins = calloc(1, sizeof *scene->skins);
    if (!skin)
        return false;
    scene->skin_count = 1;
    skin->joint_count = ARM_JOINTS;
    skin->skeleton = 0;
    skin->name = exi_text_copy("arm", 3);
    skin->joints = exi_array_allocate(ARM_JOINTS, sizeof *skin->joints);
    skin->inverse_binds = calloc(ARM_JOINTS, 16 * sizeof *skin->inverse_binds);
    if (!skin->name || !skin->joints || !skin->inverse_binds)
        return false;
    for (int j = 0; j < ARM_JOINTS; j++) {
        float *m = skin->inverse_binds + 16 * j;
        skin->joints[j] = j;
        m[0] = m[5] = m[10] = m[15] = 1;
        m[12] = (float)-places[j];
    }
    return true;
}

static bool add_joints(ex_scene *scene, const double places[ARM_JOINTS]) {
    static const char *const names[ARM_JOINTS] = {"shoulder", "forearm", "hand"};
    for (int j = 0; j < ARM_JOINTS; j++) {
        if (ex_scene_add_node(scene, names[j], j - 1, -1) != j)
            return false;
        /* As float holds it, so that joints and inverse binds cancel. */
        scene->nodes[j].transform.translation[0] = (double)(float)places[j] - (j ? (double)(float)places[j - 1] : 0);
    }
    return true;
}

/* The vertices must be the project's, one by one: a scene splits them at texture seams, so it gets none. */
static ex_mesh *without_seams(const ex_mesh *rest) {
    ex_mesh *bare = ex_mesh_copy(rest);
    if (bare) {
        free(bare->texcoords);
        free(bare->corner_texcoords);
        bare->texcoords = NULL;
        bare->corner_texcoords = NULL;
        bare->texcoord_count = 0;
    }
    return bare;
}

ex_result exi_arm_scene(const ex_mesh *rest, ex_scene **scene, ex_error *error) {
    static const double places[ARM_JOINTS] = {0, ARM_ELBOW, ARM_WRIST};
    ex_scene *made = ex_scene_create();
    ex_mesh *bare = without_seams(rest);
    int mesh = -1, node = -1;
    ex_result result = EX_OK;
    bool memory = made && bare && add_joints(made, places) && add_skin(made, places);
    if (memory)
        result = ex_scene_add_mesh(made, bare, "arm", &mesh, error);
    ex_mesh_destroy(bare);
    if (memory && result == EX_OK) {
        node = ex_scene_add_node(made, "arm", -1, mesh);
        memory = node >= 0 && skin_primitive(&made->meshes[mesh].primitives[0]);
    }
    if (!memory || result != EX_OK) {
        ex_scene_destroy(made);
        return memory ? result : exi_error_memory(error, "the arm's skin", 0);
    }
    made->nodes[node].skin = 0;
    *scene = made;
    return EX_OK;
}
