/*
 * Dials that change the figure of a template (Allen, Curless, Popovic 2002, figure 8): offsets of the cage and of the
 * joints at weight 1. A vertex v that joints j move with weights w_j is moved by
 *
 *     sum over j of w_j d_j(v).
 *
 * For girth, d_j(v) is the vector from the axis of j's bone to v. For the length of the bone from p to q, of direction
 * u, d_j(v) is u for q and everything below it, the fraction of the bone at v times u for p, and 0 for all others. Both
 * bones of a pair count at once; what is below neither, such as a spine under two clavicles, moves by the mean of both.
 */
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/project.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least length of a bone with a dial, in sizes of the skeleton. */
#define LEAST 0.02

void ex_template_dials_destroy(ex_template_dials *dials) {
    if (!dials)
        return;
    for (int i = 0; dials->dials && i < dials->count; i++) {
        free(dials->dials[i].name);
        free(dials->dials[i].deltas);
        free(dials->dials[i].shifts);
    }
    free(dials->dials);
    free(dials);
}

/* Finds the word for a side at a position of the name: its start and length. */
static size_t find_side(const char *name, size_t place, size_t *length) {
    static const char *const words[] = {"left", "right", "Left", "Right", "LEFT", "RIGHT"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        *length = strlen(words[w]);
        for (const char *at = strstr(name, words[w]); at; at = strstr(at + 1, words[w]))
            if ((size_t)(at - name) <= place && place < (size_t)(at - name) + *length)
                return (size_t)(at - name);
    }
    *length = 1;
    return place;
}

/* Returns the name without the word for its side and its separator. */
static char *plain_name(const char *name) {
    char *mirrored = ex_mirror_name(name), *plain = exi_text_copy(name, strlen(name));
    size_t same = 0, length;
    while (mirrored && name[same] && name[same] == mirrored[same])
        same++;
    if (mirrored && plain && name[same]) {
        const size_t at = find_side(name, same, &length), rest = strlen(name) - at - length;
        memmove(plain + at, name + at + length, rest + 1);
        const bool before = at > 0 && !isalnum((unsigned char)plain[at - 1]);
        if (before || (rest > 0 && !isalnum((unsigned char)plain[at])))
            memmove(plain + at - before, plain + at - before + 1, rest + (before ? 1 : 0));
        if (!plain[0])
            memcpy(plain, name, strlen(name) + 1);
    }
    if (!mirrored) {
        free(plain);
        plain = NULL;
    }
    free(mirrored);
    return plain;
}

/* ---- effect of a joint on a vertex ---- */

typedef struct dialling {
    const ex_kinematics *kinematics;
    const exi_bones *bones;
    const ex_mesh *cage;
    const ex_scene_primitive *skin;
} dialling;

static bool hangs_below(const ex_kinematics *kinematics, int joint, int above) {
    while (joint > above)
        joint = kinematics->joints[joint].parent;
    return joint == above;
}

static void add_girth(const dialling *d, int joint, double weight, const double p[3], double delta[3]) {
    const exi_bone *bone = &d->bones->all[d->bones->all[joint].carrier];
    double away[3];
    exi_subtract(p, bone->place, away);
    exi_along(away, bone->direction, -exi_dot3(away, bone->direction), away);
    exi_along(delta, away, weight, delta);
}

/* Computes the bone above a joint, skipping twists: its direction into u; returns its length. */
static double bone_above(const dialling *d, int joint, double u[3]) {
    const exi_bone *own = &d->bones->all[joint];
    exi_subtract(own->place, d->bones->all[own->parent].place, u);
    const double length = sqrt(exi_dot3(u, u));
    return exi_unit3(u) ? length : 0;
}

/* Returns the fraction by which a point that the joint moves follows the end of the bone above `lower`: 0 to 1. */
static double part_of(const dialling *d, int lower, int joint, const double p[3]) {
    double u[3], away[3];
    if (hangs_below(d->kinematics, joint, lower))
        return 1;
    if (d->bones->all[joint].carrier != d->bones->all[lower].parent)
        return 0;
    const double length = bone_above(d, lower, u);
    exi_subtract(p, d->bones->all[d->bones->all[lower].parent].place, away);
    const double f = exi_dot3(away, u) / length;
    return f < 0 ? 0 : f > 1 ? 1 : f;
}

/* Points below one of a pair follow it; points below neither follow the mean of both. */
static void add_length(const dialling *d, int lower, int joint, double weight, const double p[3], double delta[3]) {
    const int lowers[2] = {lower, d->bones->all[lower].partner}, count = lowers[1] >= 0 ? 2 : 1;
    double halves = count;
    for (int i = 0; i < count; i++) {
        const int above = d->bones->all[lowers[i]].parent;
        if (d->bones->all[above].limb && hangs_below(d->kinematics, joint, above))
            halves = 1;
        halves = hangs_below(d->kinematics, joint, lowers[i]) ? 1 : halves;
    }
    for (int i = 0; i < count; i++) {
        double u[3];
        if (bone_above(d, lowers[i], u) > 0)
            exi_along(delta, u, weight * part_of(d, lowers[i], joint, p) / halves, delta);
    }
}

/* ---- dials ---- */

static bool fill_dial(const dialling *d, int lower, ex_template_dial *dial) {
    const size_t vertices = (size_t)d->cage->vertex_count, joints = (size_t)d->bones->count;
    const size_t most = (size_t)d->skin->influence_count;
    dial->joint = lower;
    dial->name = lower < 0 ? exi_text_copy("girth", 5) : plain_name(d->kinematics->joints[lower].name);
    dial->deltas = calloc(vertices + 1, sizeof *dial->deltas);
    dial->shifts = calloc(joints + 1, sizeof *dial->shifts);
    if (!dial->name || !dial->deltas || !dial->shifts)
        return false;
    for (size_t v = 0; v < vertices; v++)
        for (size_t i = 0; i < most; i++) {
            const int joint = d->skin->joints[v * most + i];
            const double weight = (double)d->skin->weights[v * most + i], *p = d->cage->positions + 3 * v;
            if (weight > 0 && lower < 0)
                add_girth(d, joint, weight, p, dial->deltas[v]);
            else if (weight > 0)
                add_length(d, lower, joint, weight, p, dial->deltas[v]);
        }
    for (int j = 0; lower >= 0 && j < d->bones->count; j++) {
        const exi_bone *bone = &d->bones->all[j]; /* a twist is somewhere along the bone */
        if (bone->carrier != j || hangs_below(d->kinematics, j, lower) ||
            (d->bones->all[lower].partner >= 0 && hangs_below(d->kinematics, j, d->bones->all[lower].partner)))
            add_length(d, lower, j, 1, bone->place, dial->shifts[j]);
    }
    return true;
}

static bool has_dial(const dialling *d, int joint) {
    const exi_bone *bone = &d->bones->all[joint];
    double u[3];
    return joint > 0 && bone->carrier == joint && (bone->partner < 0 || bone->partner > joint) &&
           bone_above(d, joint, u) > LEAST * d->bones->size;
}

/* Gives two bones with the same name their joints' full names. */
static bool tell_apart(const dialling *d, ex_template_dials *dials) {
    for (int i = 1; i < dials->count; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(dials->dials[i].name, dials->dials[k].name) == 0) {
                const char *full = d->kinematics->joints[dials->dials[i].joint].name;
                free(dials->dials[i].name);
                dials->dials[i].name = exi_text_copy(full, strlen(full));
                if (!dials->dials[i].name)
                    return false;
                break;
            }
    return true;
}

static ex_result check(const ex_kinematics *kinematics, const ex_template *made, ex_error *error) {
    const ex_scene *scene = made->scene;
    const ex_scene_primitive *skin =
        scene->mesh_count == 1 && scene->meshes[0].primitive_count == 1 ? scene->meshes[0].primitives : NULL;
    if (scene->skin_count != 1 || scene->skins[0].joint_count != kinematics->joint_count)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the template's skin does not have the %d joints of the skeleton: make the template again",
                            kinematics->joint_count);
    if (!skin || skin->vertex_count != made->cage->vertex_count || skin->influence_count == 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the template's skin does not have the %d vertices of its cage: make the template again",
                            made->cage->vertex_count);
    return EX_OK;
}

ex_result ex_template_dials_create(const ex_kinematics *kinematics, const ex_template *made, ex_template_dials **dials,
                                   ex_error *error) {
    exi_bones bones;
    *dials = NULL;
    ex_result result = check(kinematics, made, error);
    if (result == EX_OK)
        result = exi_bones_make(kinematics, &bones, error);
    if (result != EX_OK)
        return result;
    const dialling d = {kinematics, &bones, made->cage, made->scene->meshes[0].primitives};
    ex_template_dials *list = calloc(1, sizeof *list);
    bool good = list && (list->dials = calloc((size_t)bones.count + 1, sizeof *list->dials)) != NULL;
    for (int j = -1; good && j < bones.count; j++)
        if (j < 0 || has_dial(&d, j))
            good = fill_dial(&d, j, &list->dials[list->count++]);
    good = good && tell_apart(&d, list);
    if (!good) {
        ex_template_dials_destroy(list);
        list = NULL;
        result = ex_error_memory(error, "the dials", (size_t)made->cage->vertex_count * sizeof(double[3]));
    }
    *dials = list;
    exi_bones_free(&bones);
    return result;
}
