/*
 * Dials for the figure of a person's body: girth, height and lengths.
 *
 * A template person has figures: with b standard deviations of them, vertices move by sum b_k s_k and joints by
 * sum b_k S_k. A dial is the likeliest figure that changes a measure m, with m_k its change by figure k, and keeps
 * others: the least of
 *
 *     |b|^2 + sum over kept joints of |sum b_k S_k|^2 / (5 mm)^2   with   sum b_k m_k = 1
 *
 * which is b = A^-1 m / (m . A^-1 m), A = I + sum S S' / (5 mm)^2. For girth, m is the mean over bones, except ends of
 * limbs and the head, of the relative change of distances from the bone, and all joints are kept. For height, m is the
 * distance from the lowest to the highest vertex, and none is. A template without figures spreads from the bones, and
 * grows evenly.
 *
 * Lengths are those of template_dials.c, and of three groups: arms and legs share a metre among their bones as these
 * are long. For the trunk, with t from 0 at the hips to 1 at the neck, skin of the trunk moves by t at its place; each
 * limb by t where it begins.
 */
#include "author/base/array.h"
#include "author/scan/person/person.h"
#include "author/scan/template/template.h"
#include "runtime/base/dense.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/project.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double keep = 0.005; /* metres */
enum { DIALS = 40, FIGURES = 64 };

void exi_person_dials_free(exi_person_dials *dials) {
    for (int i = 0; i < dials->count; i++) {
        free(dials->names[i]);
        free((void *)dials->dials[i].deltas);
        free((void *)dials->dials[i].shifts);
    }
    free(dials->names);
    free(dials->dials);
    *dials = (exi_person_dials){0};
}

typedef struct dialling {
    const ex_articulated *body;
    ex_kinematics *kinematics; /* of the body, left and right paired by their names */
    const exi_human *human;    /* with figures for these vertices; or NULL */
    int *own;                  /* [joint_count]: joints of the template */
    exi_bones bones;
    exi_person_dials *dials;
    size_t vertices, joints;
} dialling;

/* Adds a dial with no effect yet. False without memory. */
static bool add_dial(dialling *d, const char *name, double least, double most, const char *unit, float **deltas,
                     float **shifts) {
    const int at = d->dials->count;
    char *copy = exi_text_copy(name, strlen(name));
    *deltas = calloc(3 * d->vertices, sizeof **deltas);
    *shifts = calloc(3 * d->joints, sizeof **shifts);
    if (!copy || !*deltas || !*shifts || at >= DIALS) {
        free(copy);
        free(*deltas);
        free(*shifts);
        return false;
    }
    d->dials->names[at] = copy;
    d->dials->dials[at] = (ex_articulated_dial){
        .name = copy, .unit = unit, .least = least, .most = most, .deltas = *deltas, .shifts = *shifts};
    d->dials->count++;
    return true;
}

/* Adds a dial for a length, a quarter more or less, in whole centimetres. */
static bool add_length(dialling *d, const char *name, double length, float **deltas, float **shifts) {
    const double most = fmax(0.01, 0.01 * round(25 * length));
    return add_dial(d, name, -most, most, "m", deltas, shifts);
}

/* The joint that moves a vertex most. */
static int leader_of(const dialling *d, size_t v) {
    const size_t most = (size_t)d->body->influence_count;
    size_t best = v * most;
    for (size_t i = v * most; i < (v + 1) * most; i++)
        best = d->body->weights[i] > d->body->weights[best] ? i : best;
    return d->body->joints[best];
}

/* From the bone that a joint moves to a point, across it. */
static void away_from(const dialling *d, int joint, const double p[3], double away[3]) {
    const exi_bone *bone = &d->bones.all[d->bones.all[joint].carrier];
    exi_subtract(p, bone->place, away);
    exi_along(away, bone->direction, -exi_dot3(away, bone->direction), away);
}

/* ---- by figures ---- */

static const float *figure_delta(const dialling *d, int figure, size_t v) {
    return d->human->figures + 3 * ((size_t)figure * d->vertices + v);
}

static const double *figure_shift(const dialling *d, int figure, int joint) {
    return d->human->joint_shifts[(size_t)figure * d->joints + (size_t)d->own[joint]];
}

/* Relative change of girth by each figure, the mean over bones. */
static void measure_girth(const dialling *d, double *measure) {
    int bones = 0;
    for (int j = 0; j < d->bones.count; j++) {
        const exi_bone *bone = &d->bones.all[j];
        double changes[FIGURES] = {0}, weight = 0;
        if (bone->carrier != j || bone->child < 0)
            continue;
        for (size_t v = 0; v < d->vertices; v++) {
            double away[3];
            if (d->bones.all[leader_of(d, v)].carrier != j)
                continue;
            away_from(d, j, d->body->rest + 3 * v, away);
            const double square = exi_dot3(away, away);
            for (int k = 0; k < d->human->figure_count; k++) {
                const float *delta = figure_delta(d, k, v);
                const double *shift = figure_shift(d, k, j);
                for (int c = 0; c < 3; c++)
                    changes[k] += away[c] * ((double)delta[c] - shift[c]);
            }
            weight += square;
        }
        for (int k = 0; weight > 0 && k < d->human->figure_count; k++)
            measure[k] += changes[k] / weight;
        bones += weight > 0;
    }
    for (int k = 0; bones > 0 && k < d->human->figure_count; k++)
        measure[k] /= bones;
}

static void measure_height(const dialling *d, double *measure) {
    size_t low = 0, high = 0;
    for (size_t v = 0; v < d->vertices; v++) {
        low = d->body->rest[3 * v + 1] < d->body->rest[3 * low + 1] ? v : low;
        high = d->body->rest[3 * v + 1] > d->body->rest[3 * high + 1] ? v : high;
    }
    for (int k = 0; k < d->human->figure_count; k++)
        measure[k] = (double)figure_delta(d, k, high)[1] - (double)figure_delta(d, k, low)[1];
}

/* Fills a dial with the likeliest figure that changes the measure by 1. False without memory, or if none does. */
static bool fill_likeliest(const dialling *d, const double *measure, bool keep_joints, float *deltas, float *shifts) {
    const size_t n = (size_t)d->human->figure_count;
    double *system = exi_array_allocate(n * (n + 1), sizeof *system), change = 0;
    if (!system)
        return false;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            double sum = i == k;
            for (int j = 0; keep_joints && j < d->bones.count; j++)
                sum += exi_dot3(figure_shift(d, (int)i, j), figure_shift(d, (int)k, j)) / (keep * keep);
            system[i * (n + 1) + k] = sum;
        }
        system[i * (n + 1) + n] = measure[i];
    }
    const bool good = exi_solve_definite(system, (int)n, 1);
    for (size_t k = 0; k < n; k++)
        change += measure[k] * system[k * (n + 1) + n];
    for (size_t k = 0; good && change > 0 && k < n; k++) {
        const double b = system[k * (n + 1) + n] / change;
        for (size_t i = 0; i < 3 * d->vertices; i++)
            deltas[i] += (float)(b * (double)figure_delta(d, (int)k, 0)[i]);
        for (size_t i = 0; i < 3 * d->joints; i++)
            shifts[i] += (float)(b * figure_shift(d, (int)k, (int)(i / 3))[i % 3]);
    }
    free(system);
    return good && change > 0;
}

/* ---- without figures ---- */

static void fill_girth(const dialling *d, float *deltas) {
    const size_t most = (size_t)d->body->influence_count;
    for (size_t i = 0; i < d->vertices * most; i++) {
        double away[3];
        away_from(d, d->body->joints[i], d->body->rest + 3 * (i / most), away);
        for (size_t c = 0; c < 3; c++)
            deltas[3 * (i / most) + c] += (float)((double)d->body->weights[i] * away[c]);
    }
}

static void fill_height(const dialling *d, float *deltas, float *shifts) {
    const double *base = d->bones.all[0].place;
    double low = INFINITY, high = -INFINITY;
    for (size_t v = 0; v < d->vertices; v++) {
        low = fmin(low, d->body->rest[3 * v + 1]);
        high = fmax(high, d->body->rest[3 * v + 1]);
    }
    for (size_t i = 0; i < 3 * d->vertices; i++)
        deltas[i] = (float)((d->body->rest[i] - base[i % 3]) / (high - low));
    for (size_t i = 0; i < 3 * d->joints; i++)
        shifts[i] = (float)((d->bones.all[i / 3].place[i % 3] - base[i % 3]) / (high - low));
}

static bool add_figures(dialling *d) {
    const size_t count = d->human ? (size_t)d->human->figure_count : 0;
    double *measure = calloc(2 * count + 1, sizeof *measure);
    float *deltas = NULL, *shifts = NULL;
    bool good = measure && add_dial(d, "girth", -0.2, 0.3, NULL, &deltas, &shifts);
    if (good && count > 0)
        measure_girth(d, measure);
    if (good && (count == 0 || !fill_likeliest(d, measure, true, deltas, shifts)))
        fill_girth(d, deltas);
    good = good && add_dial(d, "height", -0.3, 0.3, "m", &deltas, &shifts);
    if (good && count > 0)
        measure_height(d, measure + count);
    if (good && (count == 0 || !fill_likeliest(d, measure + count, false, deltas, shifts)))
        fill_height(d, deltas, shifts);
    free(measure);
    return good;
}

/* ---- lengths ---- */

/* The fraction of the trunk at which a place is. */
static double trunk_part(const double low[3], const double along[3], const double p[3]) {
    double away[3];
    exi_subtract(p, low, away);
    const double t = exi_dot3(away, along) / exi_dot3(along, along);
    return t < 0 ? 0 : t > 1 ? 1 : t;
}

/* The joint at which the limb of a joint begins, or -1: it is of the trunk. */
static int limb_of(const dialling *d, int joint) {
    int first = -1;
    for (int j = d->bones.all[joint].carrier; j >= 0 && d->bones.all[j].limb; j = d->bones.all[j].parent)
        first = j;
    return first;
}

static bool add_trunk(dialling *d) {
    const int neck = ex_kinematics_find_joint(d->kinematics, "neck");
    const size_t most = (size_t)d->body->influence_count;
    const double *low = d->bones.all[0].place;
    double along[3], unit[3];
    float *deltas, *shifts;
    if (neck <= 0)
        return true;
    exi_subtract(d->bones.all[neck].place, low, along);
    memcpy(unit, along, sizeof unit);
    if (!exi_unit3(unit) || !add_length(d, "trunk.length", sqrt(exi_dot3(along, along)), &deltas, &shifts))
        return false;
    for (size_t i = 0; i < d->vertices * most; i++) {
        const int limb = limb_of(d, d->body->joints[i]);
        const double *p = limb >= 0 ? d->bones.all[limb].place : d->body->rest + 3 * (i / most);
        const double part = (double)d->body->weights[i] * trunk_part(low, along, p);
        for (size_t c = 0; c < 3; c++)
            deltas[3 * (i / most) + c] += (float)(part * unit[c]);
    }
    for (int j = 0; j < d->bones.count; j++) {
        const int limb = limb_of(d, j);
        const double part = trunk_part(low, along, d->bones.all[limb >= 0 ? limb : j].place);
        for (size_t c = 0; c < 3; c++)
            shifts[3 * (size_t)j + c] = (float)(part * unit[c]);
    }
    return true;
}

/* Adds a share of a bone's dial. */
static void add_bone(const dialling *d, const ex_template_dial *dial, double share, float *deltas, float *shifts) {
    for (size_t i = 0; i < 3 * d->vertices; i++)
        deltas[i] += (float)(share * dial->deltas[i / 3][i % 3]);
    for (size_t i = 0; i < 3 * d->joints; i++)
        shifts[i] += (float)(share * dial->shifts[i / 3][i % 3]);
}

static const ex_template_dial *find_bone(const ex_template_dials *bones, const char *name) {
    for (int i = 0; i < bones->count; i++)
        if (bones->dials[i].joint >= 0 && strcmp(bones->dials[i].name, name) == 0)
            return &bones->dials[i];
    return NULL;
}

/* Length of the bone that ends at a dial's joint. */
static double bone_length(const dialling *d, const ex_template_dial *dial) {
    double along[3];
    exi_subtract(d->bones.all[dial->joint].place, d->bones.all[d->bones.all[dial->joint].parent].place, along);
    return sqrt(exi_dot3(along, along));
}

/* A limb of two bones that grows as a whole. */
static bool add_limb(dialling *d, const ex_template_dials *bones, const char *name, const char *upper,
                     const char *lower) {
    const ex_template_dial *a = find_bone(bones, upper), *b = find_bone(bones, lower);
    float *deltas, *shifts;
    if (!a || !b)
        return true;
    const double length = bone_length(d, a) + bone_length(d, b), share = bone_length(d, a) / length;
    if (!add_length(d, name, length, &deltas, &shifts))
        return false;
    add_bone(d, a, share, deltas, shifts);
    add_bone(d, b, 1 - share, deltas, shifts);
    return true;
}

/* Bones of limbs, and the neck. Collar bones are not along the trunk, and go with it. */
static bool add_bones(dialling *d, const ex_template_dials *bones) {
    bool good = true;
    for (int i = 0; good && i < bones->count; i++) {
        const ex_template_dial *dial = &bones->dials[i];
        char name[128];
        float *deltas, *shifts;
        const bool wanted = dial->joint > 0 && strcmp(dial->name, "clavicle") != 0 &&
                            (d->bones.all[dial->joint].limb || strcmp(dial->name, "head") == 0);
        if (!wanted)
            continue;
        snprintf(name, sizeof name, "%s.length", dial->name);
        good = add_length(d, name, bone_length(d, dial), &deltas, &shifts);
        if (good)
            add_bone(d, dial, 1, deltas, shifts);
    }
    return good;
}

/* The body as a template, for the dials of bones. */
static ex_result make_template(const dialling *d, const ex_mesh *mesh, ex_template *made, ex_error *error) {
    const size_t most = (size_t)d->body->influence_count;
    exi_share *shares = exi_array_allocate(d->vertices, sizeof *shares);
    made->cage = shares ? ex_mesh_copy(mesh) : NULL;
    ex_result result = made->cage ? EX_OK : ex_error_memory(error, "the dials", d->vertices * sizeof *shares);
    for (size_t i = 0; result == EX_OK && i < d->vertices * most; i++) {
        if (i % most == 0)
            shares[i / most] = (exi_share){0};
        if (d->body->weights[i] > 0)
            exi_share_add(&shares[i / most], d->body->joints[i], (double)d->body->weights[i]);
    }
    if (result == EX_OK) {
        memcpy(made->cage->positions, d->body->rest, 3 * d->vertices * sizeof *d->body->rest);
        result = exi_template_scene(d->kinematics, made->cage, shares, &made->scene, error);
    }
    free(shares);
    return result;
}

/* True if the template has figures; finds its joints by name, which may be in another order. */
static bool has_figures(dialling *d, const exi_human *human) {
    bool fits = human && human->figure_count > 0 && human->figure_count <= FIGURES &&
                human->mesh->vertex_count == d->body->vertex_count &&
                human->kinematics->joint_count == d->kinematics->joint_count;
    for (int j = 0; fits && j < d->kinematics->joint_count; j++) {
        d->own[j] = ex_kinematics_find_joint(human->kinematics, d->kinematics->joints[j].name);
        fits = d->own[j] >= 0;
    }
    return fits;
}

/* Pairs joints by their names: people are not so symmetric that places tell. */
static bool pair_sides(ex_kinematics *kinematics) {
    for (int j = 1; j < kinematics->joint_count; j++) {
        char *other = ex_mirror_name(kinematics->joints[j].name);
        if (!other)
            return false;
        const int mirror = ex_kinematics_find_joint(kinematics, other);
        kinematics->joints[j].mirror = mirror != j ? mirror : -1;
        free(other);
    }
    return true;
}

ex_result exi_person_dials_make(const ex_articulated *body, const ex_mesh *mesh, const exi_human *human,
                                exi_person_dials *dials, ex_error *error) {
    dialling d = {.body = body,
                  .kinematics = ex_kinematics_copy(body->kinematics),
                  .own = calloc((size_t)body->kinematics->joint_count, sizeof *d.own),
                  .dials = dials,
                  .vertices = (size_t)body->vertex_count,
                  .joints = (size_t)body->kinematics->joint_count};
    ex_template made = {0};
    ex_template_dials *bones = NULL;
    *dials =
        (exi_person_dials){.names = calloc(DIALS, sizeof *dials->names), .dials = calloc(DIALS, sizeof *dials->dials)};
    ex_result result = d.kinematics && d.own && dials->names && dials->dials && pair_sides(d.kinematics)
                           ? exi_bones_make(d.kinematics, &d.bones, error)
                           : ex_error_memory(error, "the dials", d.vertices * 12);
    if (result != EX_OK) {
        ex_kinematics_destroy(d.kinematics);
        free(d.own);
        exi_person_dials_free(dials);
        return result;
    }
    d.human = has_figures(&d, human) ? human : NULL;
    result = make_template(&d, mesh, &made, error);
    if (result == EX_OK)
        result = ex_template_dials_create(d.kinematics, &made, &bones, error);
    if (result == EX_OK && !(add_figures(&d) && add_trunk(&d) && add_limb(&d, bones, "arm.length", "elbow", "wrist") &&
                             add_limb(&d, bones, "leg.length", "knee", "ankle") && add_bones(&d, bones)))
        result = ex_error_memory(error, "the dials", d.vertices * DIALS * 12);
    ex_template_dials_destroy(bones);
    ex_mesh_destroy(made.cage);
    ex_scene_destroy(made.scene);
    exi_bones_free(&d.bones);
    ex_kinematics_destroy(d.kinematics);
    free(d.own);
    if (result != EX_OK)
        exi_person_dials_free(dials);
    return result;
}
