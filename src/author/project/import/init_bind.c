/*
 * Joints and inverse binds of the common skin (init_unify.h).
 */
#include "author/project/import/init_unify.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest difference, in sizes of the character, between places that one bind may stand for: files hold floats. */
#define BIND_ROOM 2e-7
/* Largest distance of a product of transforms from a transform, and of a key from rest. */
#define SHEAR_ROOM 1e-7
#define STILL_ROOM 1e-6

static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

static ex_result no_memory(const exi_unify *u, ex_error *error) {
    return ex_error_memory(error, "the skeleton", (size_t)u->from->node_count * sizeof *u->joints);
}

static const double *world_of(const exi_unify *u, int node) {
    return u->worlds + 16 * (size_t)node;
}

static const char *name_of(const ex_scene *scene, int node) {
    return scene->nodes[node].name ? scene->nodes[node].name : "";
}

/* ---- joints ---- */

/* Returns the index of the new joint; -1 without memory. */
static int add_joint(exi_unify *u, int node, const double inverse_bind[16]) {
    exi_bound_joint *joints = exi_array_grow(u->joints, &u->joint_capacity, (size_t)u->joint_count + 1, sizeof *joints);
    if (!joints)
        return -1;
    u->joints = joints;
    joints[u->joint_count].node = node;
    memcpy(joints[u->joint_count].inverse_bind, inverse_bind, 16 * sizeof *inverse_bind);
    if (node < u->from->node_count && u->joint_of[node] < 0)
        u->joint_of[node] = u->joint_count;
    return u->joint_count++;
}

/* Makes a joint of a node that is none in the file. It binds where it is at rest; if that is singular, as it is. */
static bool add_node_joint(exi_unify *u, int node) {
    double inverse[16], bind[16];
    if (u->joint_of[node] >= 0)
        return true;
    if (exi_scene_matrix_invert(world_of(u, node), inverse)) {
        exi_scene_matrix_multiply(inverse, u->ground, bind);
        return add_joint(u, node, bind) >= 0;
    }
    return add_joint(u, node, identity) >= 0;
}

int exi_unify_joint_above(const exi_unify *u, int node, double product[16]) {
    memcpy(product, identity, sizeof identity);
    for (; node >= 0 && u->joint_of[node] < 0; node = u->from->nodes[node].parent) {
        double own[16], next[16];
        exi_scene_matrix_from_transform(&u->from->nodes[node].transform, own);
        exi_scene_matrix_multiply(own, product, next);
        memcpy(product, next, sizeof next);
    }
    return node >= 0 ? u->joint_of[node] : -1;
}

bool exi_unify_is_rigid(const exi_unify *u, int node) {
    const ex_scene_node *at = &u->from->nodes[node];
    for (int i = 0; u->init->wanted[node] && at->mesh >= 0 && i < u->from->meshes[at->mesh].primitive_count; i++)
        if (!exi_unify_is_skinned(u->from, node, &u->from->meshes[at->mesh].primitives[i]))
            return true;
    return false;
}

/* ---- skins ---- */

static void bind_of(const ex_scene_skin *skin, int joint, double bind[16]) {
    for (int i = 0; i < 16; i++)
        bind[i] = skin->inverse_binds ? (double)skin->inverse_binds[16 * (size_t)joint + (size_t)i] : identity[i];
}

/* Adds up the weights [joint_count] of a skin's joints over the wanted meshes. */
static void weigh_joints(const exi_unify *u, int skin, double *sums) {
    for (int j = 0; j < u->from->skins[skin].joint_count; j++)
        sums[j] = 0;
    for (int n = 0; n < u->from->node_count; n++) {
        const ex_scene_node *node = &u->from->nodes[n];
        if (!u->init->wanted[n] || node->skin != skin || node->mesh < 0)
            continue;
        for (int i = 0; i < u->from->meshes[node->mesh].primitive_count; i++) {
            const ex_scene_primitive *p = &u->from->meshes[node->mesh].primitives[i];
            for (size_t k = 0; k < (size_t)p->vertex_count * (size_t)p->influence_count; k++)
                if (p->joints[k] < u->from->skins[skin].joint_count)
                    sums[p->joints[k]] += (double)p->weights[k];
        }
    }
}

/* Returns the heaviest joint of a skin; with `shared`, among those that the common skin has, or -1. */
static int heaviest(const exi_unify *u, int skin, const double *sums, bool shared) {
    int best = -1;
    for (int j = 0; j < u->from->skins[skin].joint_count; j++)
        if ((!shared || u->joint_of[u->from->skins[skin].joints[j]] >= 0) && (best < 0 || sums[j] > sums[best]))
            best = j;
    return best;
}

/* Finds M from one joint: (B_j)^-1 B_s,j if the common skin has it, else so that the part is at rest where it was. */
static void find_carry(exi_unify *u, int skin, const double *sums, bool first) {
    exi_bound_skin *made = &u->skins[skin];
    const ex_scene_skin *from = &u->from->skins[skin];
    const int shared = heaviest(u, skin, sums, true), joint = shared >= 0 ? shared : heaviest(u, skin, sums, false);
    double bind[16], inverse[16], placed[16], off = 0;
    bool found = false;
    bind_of(from, joint, bind);
    memcpy(made->carry, identity, sizeof identity);
    if (!first && shared >= 0) {
        found = exi_scene_matrix_invert(u->joints[u->joint_of[from->joints[joint]]].inverse_bind, inverse);
        if (found)
            exi_scene_matrix_multiply(inverse, bind, made->carry);
    } else if (!first) {
        exi_scene_matrix_multiply(world_of(u, from->joints[joint]), bind, placed);
        found = exi_scene_matrix_invert(u->ground, inverse) && exi_scene_matrix_invert(placed, made->carry);
        if (found)
            exi_scene_matrix_multiply(inverse, placed, made->carry);
    }
    for (int i = 0; i < 16; i++)
        off = fabs(made->carry[i] - identity[i]) > off ? fabs(made->carry[i] - identity[i]) : off;
    made->still = !found || off == 0;
    if (made->still)
        memcpy(made->carry, identity, sizeof identity);
}

/* ---- boxes: smallest x y z, largest x y z ---- */

static const double empty_box[6] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};

static void box_add(double box[6], const double x[3]) {
    for (int k = 0; k < 3; k++) {
        if (x[k] < box[k])
            box[k] = x[k];
        if (x[k] > box[3 + k])
            box[3 + k] = x[k];
    }
}

static void move(const double m[16], const double x[3], double out[3]) {
    for (int r = 0; r < 3; r++)
        out[r] = m[r] * x[0] + m[4 + r] * x[1] + m[8 + r] * x[2] + m[12 + r];
}

/* Adds the vertices of a primitive, moved by a matrix. */
static void box_add_primitive(double box[6], const ex_scene_primitive *p, const double m[16]) {
    for (size_t v = 0; v < (size_t)p->vertex_count; v++) {
        const double x[3] = {(double)p->positions[3 * v], (double)p->positions[3 * v + 1],
                             (double)p->positions[3 * v + 2]};
        double moved[3];
        move(m, x, moved);
        box_add(box, moved);
    }
}

/* Box of the vertices that a skin moves. */
static void box_of(const exi_unify *u, int skin, double box[6]) {
    memcpy(box, empty_box, sizeof empty_box);
    for (int n = 0; n < u->from->node_count; n++) {
        const ex_scene_node *node = &u->from->nodes[n];
        if (!u->init->wanted[n] || node->skin != skin || node->mesh < 0)
            continue;
        for (int i = 0; i < u->from->meshes[node->mesh].primitive_count; i++)
            box_add_primitive(box, &u->from->meshes[node->mesh].primitives[i], identity);
    }
}

/* Largest distance in the world at rest, over the corners of a box, between W a x and W b x. */
static double distance_of(const double world[16], const double a[16], const double b[16], const double box[6]) {
    double one[16], two[16], most = 0;
    exi_scene_matrix_multiply(world, a, one);
    exi_scene_matrix_multiply(world, b, two);
    for (int corner = 0; corner < 8; corner++) {
        const double x[3] = {box[corner & 1 ? 3 : 0], box[corner & 2 ? 4 : 1], box[corner & 4 ? 5 : 2]};
        double p[3], q[3];
        move(one, x, p);
        move(two, x, q);
        most = fmax(most, hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]));
    }
    return most;
}

/* Adds a second joint at the node of a joint, whose bind does not fit. Returns its index, or -1 without memory. */
static int add_second(exi_unify *u, int node, const double bind[16]) {
    const int second = ex_scene_add_node(u->to, name_of(u->from, node), node, -1);
    if (second < 0)
        return -1;
    exi_init_note(u->init, "joint '%s' is bound in two ways by two skins: a second joint below it has the other",
                  name_of(u->from, node));
    return add_joint(u, second, bind);
}

static ex_result add_skin(exi_unify *u, int skin, bool first, ex_error *error) {
    const ex_scene_skin *from = &u->from->skins[skin];
    exi_bound_skin *made = &u->skins[skin];
    const size_t count = (size_t)from->joint_count;
    double *sums = exi_array_allocate(count, sizeof *sums), back[16], box[6];
    made->joints = exi_array_allocate(count, sizeof *made->joints);
    made->used = true;
    if (!sums || !made->joints) {
        free(sums);
        return no_memory(u, error);
    }
    weigh_joints(u, skin, sums);
    find_carry(u, skin, sums, first);
    if (first) {
        double bind[16];
        const int joint = heaviest(u, skin, sums, false);
        bind_of(from, joint, bind);
        exi_scene_matrix_multiply(world_of(u, from->joints[joint]), bind, u->ground);
        if (!exi_scene_matrix_invert(u->ground, back))
            memcpy(u->ground, identity, sizeof identity);
    }
    if (!exi_scene_matrix_invert(made->carry, back))
        memcpy(back, identity, sizeof identity);
    box_of(u, skin, box);
    bool good = true;
    for (int j = 0; good && j < from->joint_count; j++) {
        const int node = from->joints[j];
        double bind[16], carried[16];
        bind_of(from, j, bind);
        made->joints[j] = u->joint_of[node];
        if (made->joints[j] >= 0) {
            exi_scene_matrix_multiply(u->joints[made->joints[j]].inverse_bind, made->carry, carried);
            if (sums[j] == 0 || distance_of(world_of(u, node), carried, bind, box) <= BIND_ROOM * u->size)
                continue;
        }
        exi_scene_matrix_multiply(bind, back, carried);
        const double *chosen = made->still ? bind : carried;
        made->joints[j] = made->joints[j] < 0 ? add_joint(u, node, chosen) : add_second(u, node, chosen);
        good = made->joints[j] >= 0;
    }
    free(sums);
    return good ? EX_OK : no_memory(u, error);
}

/* ---- nodes that move ---- */

/* True if a value is the one at rest, apart from rounding. */
static bool is_still(const float *value, const double *rest, size_t width, double sign) {
    double size = 0, off = 0;
    for (size_t i = 0; i < width; i++) {
        size += rest[i] * rest[i];
        off += (sign * (double)value[i] - rest[i]) * (sign * (double)value[i] - rest[i]);
    }
    return off <= STILL_ROOM * STILL_ROOM * (size > 0 ? size : 1);
}

/* True if a channel leaves its node's own transform. */
static bool moves(const ex_scene *scene, const ex_scene_channel *channel) {
    const ex_scene_transform *t = &scene->nodes[channel->node].transform;
    const double *rests[] = {t->translation, t->rotation, t->scale};
    const bool spline = channel->interpolation == EX_SCENE_CUBICSPLINE;
    const size_t width = (size_t)channel->width, step = spline ? 3 * width : width;
    bool still = true;
    if (channel->path == EX_SCENE_WEIGHTS)
        return false;
    const double *rest = rests[channel->path];
    for (size_t k = 0; still && k < (size_t)channel->key_count; k++) {
        const float *value = channel->values + k * step + (spline ? width : 0);
        still =
            is_still(value, rest, width, 1) || (channel->path == EX_SCENE_ROTATION && is_still(value, rest, width, -1));
        for (size_t i = 0; still && spline && i < width; i++)
            still = (value - width)[i] == 0 && value[i + width] == 0;
    }
    return !still;
}

/* needed [node_count]: true at and above joints and parts without a skin. Skinned meshes ignore their node. */
static void find_needed(const exi_unify *u, bool *needed) {
    for (int n = 0; n < u->from->node_count; n++)
        needed[n] = u->joint_of[n] >= 0 || exi_unify_is_rigid(u, n);
    for (int n = 0; n < u->from->node_count; n++)
        for (int above = needed[n] ? u->from->nodes[n].parent : -1; above >= 0 && !needed[above];
             above = u->from->nodes[above].parent)
            needed[above] = true;
}

static ex_result add_moving(exi_unify *u, ex_error *error) {
    const ex_scene *from = u->from;
    bool *needed = exi_array_allocate((size_t)from->node_count, sizeof *needed);
    bool good = needed != NULL;
    int added = 0, last = -1;
    if (needed)
        find_needed(u, needed);
    for (int a = 0; good && a < from->animation_count; a++)
        for (int c = 0; good && c < from->animations[a].channel_count; c++) {
            const ex_scene_channel *channel = &from->animations[a].channels[c];
            const int node = channel->node;
            if (u->joint_of[node] >= 0 || !needed[node] || !moves(from, channel))
                continue;
            good = add_node_joint(u, node);
            last = node;
            added++;
        }
    if (good && added == 1)
        exi_init_note(u->init, "node '%s' is a joint of the project, because an animation moves it",
                      name_of(from, last));
    else if (good && added > 1)
        exi_init_note(u->init, "%d nodes, such as '%s', are joints of the project, because an animation moves them",
                      added, name_of(from, last));
    free(needed);
    return good ? EX_OK : no_memory(u, error);
}

/* Adds the nodes between a joint and the joint above it, if their product is no transform. */
static bool add_sheared(exi_unify *u, int joint) {
    const ex_scene_node *nodes = u->from->nodes;
    const int node = u->joints[joint].node;
    if (node >= u->from->node_count)
        return true; /* a second joint, which does not move on its own */
    double matrix[16], above[16], product[16];
    ex_scene_transform t;
    double lost = 0;
    exi_scene_matrix_from_transform(&nodes[node].transform, matrix);
    for (int n = nodes[node].parent; n >= 0 && u->joint_of[n] < 0; n = nodes[n].parent) {
        exi_scene_matrix_from_transform(&nodes[n].transform, above);
        exi_scene_matrix_multiply(above, matrix, product);
        memcpy(matrix, product, sizeof matrix);
        lost = exi_scene_matrix_to_transform(matrix, &t);
    }
    bool good = true;
    for (int n = nodes[node].parent; lost > SHEAR_ROOM && good && n >= 0 && u->joint_of[n] < 0; n = nodes[n].parent) {
        exi_init_note(u->init, "node '%s' is a joint of the project, because its scale shears what is below it",
                      name_of(u->from, n));
        good = add_node_joint(u, n);
    }
    return good;
}

/* ---- the whole ---- */

/* Measures the character in the world, roughly: skinned parts as their heaviest joint has them. */
static void measure(exi_unify *u) {
    double box[6], sum = 0;
    memcpy(box, empty_box, sizeof empty_box);
    for (int n = 0; n < u->from->node_count; n++) {
        const ex_scene_node *node = &u->from->nodes[n];
        double bind[16], placed[16];
        memcpy(placed, world_of(u, n), sizeof placed);
        if (!u->init->wanted[n] || node->mesh < 0)
            continue;
        if (node->skin >= 0) {
            bind_of(&u->from->skins[node->skin], 0, bind);
            exi_scene_matrix_multiply(world_of(u, u->from->skins[node->skin].joints[0]), bind, placed);
        }
        for (int i = 0; i < u->from->meshes[node->mesh].primitive_count; i++)
            box_add_primitive(box, &u->from->meshes[node->mesh].primitives[i], placed);
    }
    for (int k = 0; k < 3; k++)
        sum += (box[3 + k] - box[k]) * (box[3 + k] - box[k]);
    u->size = isfinite(sum) ? sqrt(sum) : 0;
}

/* Adds the roots of parts that hang on no joint, if there are joints at all. */
static bool add_roots(exi_unify *u) {
    double product[16];
    int added = 0, last = -1;
    for (int n = 0; u->joint_count > 0 && n < u->from->node_count; n++) {
        if (!exi_unify_is_rigid(u, n) || exi_unify_joint_above(u, n, product) >= 0)
            continue;
        int root = n;
        while (u->from->nodes[root].parent >= 0)
            root = u->from->nodes[root].parent;
        if (!add_node_joint(u, root))
            return false;
        last = root;
        added++;
    }
    if (added == 1)
        exi_init_note(u->init, "node '%s' is a joint of the project, because it hangs on no other",
                      name_of(u->from, last));
    else if (added > 1)
        exi_init_note(u->init, "%d nodes, such as '%s', are joints of the project, because they hang on no other",
                      added, name_of(u->from, last));
    return true;
}

ex_result exi_unify_bind(exi_unify *u, ex_error *error) {
    const ex_scene *from = u->from;
    ex_result result = EX_OK;
    memcpy(u->ground, identity, sizeof identity);
    measure(u);
    if (u->main >= 0)
        result = add_skin(u, u->main, true, error);
    for (int n = 0; result == EX_OK && n < from->node_count; n++) {
        const ex_scene_node *node = &from->nodes[n];
        if (u->init->wanted[n] && node->mesh >= 0 && node->skin >= 0 && !u->skins[node->skin].used)
            result = add_skin(u, node->skin, false, error);
    }
    if (result == EX_OK)
        result = add_moving(u, error);
    bool good = result != EX_OK || add_roots(u);
    for (int j = 0; result == EX_OK && good && j < u->joint_count; j++)
        good = add_sheared(u, j);
    return good ? result : no_memory(u, error);
}
