/*
 * Cuts the clothes of the demo `outfit` out of the person's mesh. What she wears fits her like a second skin. So the
 * shirt is made to hang straight down from the chest, the trousers from the thighs, and the sleeves wider and longer.
 * This cloth to spare is what folds. Hems are straight.
 */
#include "demos/garment/dress.h"
#include "demos/human/outfit.h"
#include "demos/human/outfit_weave.h"
#include "demos/vector.h"

#include "common/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Metres. */
#define SHIRT_ROOM    0.006 /* between the person and her clothes as they are cut */
#define TROUSERS_ROOM 0.003
#define SHIRT_GAP     0.005 /* the least while they are worn */
#define OVER_GAP      0.010 /* the same where the shirt hangs over the trousers */
#define TROUSERS_GAP  0.003

#define SHIRT_EASE    1.06 /* of widths */
#define SLEEVE_EASE   1.18
#define TROUSERS_EASE 1.06
#define LONGER        0.055 /* below the waist */
#define SLEEVE_LONGER 1.25

/* Height above which trousers cling to the hips, below the shirt. */
#define CLING 0.83

static double rise(double from, double to, double x) {
    const double t = x <= from ? 0 : x >= to ? 1 : (x - from) / (to - from);
    return t * t * (3 - 2 * t);
}

static const double *joint(const exi_outfit_body *body, const char *name) {
    return body->places[ex_skeleton_find(ex_rig_skeleton(body->person->rig), name)];
}

exi_outfit_axis exi_outfit_find_axis(const exi_outfit_body *body, exi_outfit_limb limb) {
    static const char *const ends[][2] = {[OUTFIT_TRUNK] = {"spine01", "root"},
                                          [OUTFIT_ARM_L] = {"upperarm01.L", "lowerarm01.L"},
                                          [OUTFIT_ARM_R] = {"upperarm01.R", "lowerarm01.R"},
                                          [OUTFIT_LEG_L] = {"upperleg01.L", "foot.L"},
                                          [OUTFIT_LEG_R] = {"upperleg01.R", "foot.R"}};
    exi_outfit_axis axis;
    memcpy(axis.from, joint(body, ends[limb][0]), sizeof axis.from);
    subtract(joint(body, ends[limb][1]), axis.from, axis.along);
    if (limb == OUTFIT_TRUNK) {
        axis.from[2] = 0.035; /* the middle of the chest, which the spine is behind */
        axis.along[0] = axis.along[2] = 0;
    }
    unit3(axis.along);
    return axis;
}

double exi_outfit_along(const exi_outfit_axis *axis, const double p[3], double across[3]) {
    double away[3];
    subtract(p, axis->from, away);
    const double t = dot3(away, axis->along);
    for (int c = 0; c < 3; c++)
        across[c] = away[c] - t * axis->along[c];
    return t;
}

double exi_outfit_sleeve(const exi_outfit_axis *arm, const double p[3]) {
    double across[3];
    const double t = exi_outfit_along(arm, p, across);
    return rise(0.0, 0.06, t) * (1 - rise(0.07, 0.11, sqrt(dot3(across, across))));
}

/* ---- shaping ---- */

/*
 * Lets cloth hang: a vertex is as far from the axis as `keep` of the farthest one in its direction above it, and at
 * least `ease` of what it was. Only vertices that are farther along the axis than `begin` count, with an amount
 * [vertices], 0 to 1.
 */
typedef struct hanging {
    exi_outfit_axis axis;
    double begin, keep, ease;
} hanging;

static void hang(const hanging *h, const double *amount, ex_mesh *mesh, double *polar) {
    for (int v = 0; v < mesh->vertex_count; v++) {
        double across[3], *to = polar + 5 * (size_t)v;
        to[0] = exi_outfit_along(&h->axis, mesh->positions + 3 * (size_t)v, across);
        to[1] = sqrt(dot3(across, across));
        for (int c = 0; c < 3; c++)
            to[2 + c] = to[1] > 0 ? across[c] / to[1] : 0;
    }
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *p = polar + 5 * (size_t)v;
        double wide = h->ease * p[1];
        if (!(amount[v] > 0) || p[0] < h->begin)
            continue;
        for (int u = 0; u < mesh->vertex_count; u++) {
            const double *q = polar + 5 * (size_t)u;
            if (amount[u] > 0.99 && q[0] >= h->begin && q[0] < p[0] && dot3(p + 2, q + 2) > 0.966)
                wide = fmax(wide, h->keep * q[1]);
        }
        wide = amount[v] * rise(h->begin, h->begin + 0.08, p[0]) * (wide - p[1]);
        for (int c = 0; c < 3; c++)
            mesh->positions[3 * v + c] += wide * p[2 + c];
    }
}

/* Puts the vertices of each edge on one place along an axis. */
static bool straighten(const exi_outfit_axis *axis, const double *amount, ex_mesh *mesh) {
    const size_t count = (size_t)mesh->vertex_count;
    int *edges = array_allocate(count, sizeof *edges);
    const int number = edges ? exi_dress_edges(mesh, edges) : -1;
    for (int e = 1; e <= number; e++) {
        double sum = 0, total = 0, across[3];
        for (size_t v = 0; v < count; v++)
            if (edges[v] == e && amount[v] > 0.5) {
                sum += exi_outfit_along(axis, mesh->positions + 3 * v, across);
                total++;
            }
        for (size_t v = 0; v < count; v++)
            if (edges[v] == e && amount[v] > 0.5) {
                const double t = exi_outfit_along(axis, mesh->positions + 3 * v, across);
                for (size_t c = 0; c < 3; c++)
                    mesh->positions[3 * v + c] += (sum / total - t) * axis->along[c];
            }
    }
    free(edges);
    return number >= 0;
}

static bool shape_shirt(const exi_outfit_body *body, ex_mesh *mesh, double *amount, double *polar) {
    const exi_outfit_axis trunk = exi_outfit_find_axis(body, OUTFIT_TRUNK);
    const exi_outfit_axis arms[2] = {exi_outfit_find_axis(body, OUTFIT_ARM_L),
                                     exi_outfit_find_axis(body, OUTFIT_ARM_R)};
    bool done = true;
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *p = mesh->positions + 3 * (size_t)v;
        amount[v] = 1 - exi_outfit_sleeve(&arms[p[0] < 0], p);
    }
    const double armpit = trunk.from[1] - arms[0].from[1] + 0.09;
    hang(&(hanging){trunk, armpit, 1, SHIRT_EASE}, amount, mesh, polar);
    done = done && exi_dress_smooth(mesh, 2);
    for (int v = 0; v < mesh->vertex_count; v++) { /* below the waist */
        double *p = mesh->positions + 3 * (size_t)v;
        p[1] -= LONGER * (1 - rise(0.85, 1.02, p[1]));
        amount[v] = p[1] < 0.95;
    }
    done = done && straighten(&trunk, amount, mesh);
    for (int side = 0; side < 2; side++) {
        for (int v = 0; v < mesh->vertex_count; v++) {
            double *p = mesh->positions + 3 * (size_t)v, across[3];
            amount[v] = (p[0] < 0) == (side == 1) ? exi_outfit_sleeve(&arms[side], p) : 0;
            const double t = exi_outfit_along(&arms[side], p, across);
            for (int c = 0; c < 3; c++)
                p[c] += amount[v] *
                        ((SLEEVE_EASE - 1) * across[c] + (SLEEVE_LONGER - 1) * fmax(t - 0.03, 0) * arms[side].along[c]);
        }
        done = done && straighten(&arms[side], amount, mesh);
    }
    return done;
}

static bool shape_trousers(const exi_outfit_body *body, ex_mesh *mesh, double *amount, double *polar) {
    for (int side = 0; side < 2; side++) {
        const exi_outfit_axis leg = exi_outfit_find_axis(body, side ? OUTFIT_LEG_R : OUTFIT_LEG_L);
        for (int v = 0; v < mesh->vertex_count; v++)
            amount[v] = (mesh->positions[3 * v] < 0) == (side == 1);
        hang(&(hanging){leg, 0.12, 0.88, TROUSERS_EASE}, amount, mesh, polar);
        for (int v = 0; v < mesh->vertex_count; v++)
            amount[v] = amount[v] > 0 && mesh->positions[3 * v + 1] < 0.3;
        if (!straighten(&(exi_outfit_axis){{0, 0, 0}, {0, 1, 0}}, amount, mesh))
            return false;
    }
    return exi_dress_smooth(mesh, 2);
}

/* ---- sewing ---- */

/* A garment over what the person wears, refined once. */
static ex_result sew(const exi_outfit_body *body, const ex_mesh *person, bool upper, ex_mesh **garment,
                     ex_error *error) {
    exi_dress_def def = exi_dress_def_default();
    ex_subdivide_def twice = ex_subdivide_def_default();
    ex_subdivision *subdivision = NULL;
    ex_mesh *coarse = NULL;
    double *room = NULL;
    bool *worn = array_allocate((size_t)person->face_count, sizeof *worn);
    if (!worn)
        return ex_error_memory(error, "a garment", (size_t)person->face_count);
    memset(worn, 0, (size_t)person->face_count * sizeof *worn);
    exi_dress_group(person, upper ? "shirt" : "trousers", worn);
    def.body = person;
    def.worn = worn;
    def.room = upper ? SHIRT_ROOM : TROUSERS_ROOM;
    twice.scheme = EX_SCHEME_LOOP;
    twice.levels = 1;
    ex_result result = exi_dress_make(&def, &coarse, error);
    if (result == EX_OK) {
        const size_t count = (size_t)coarse->vertex_count;
        room = array_allocate(6 * count, sizeof *room);
        if (!room || !(upper ? shape_shirt : shape_trousers)(body, coarse, room, room + count))
            result = ex_error_memory(error, "a garment", 6 * count * sizeof *room);
    }
    if (result == EX_OK)
        result = ex_mesh_subdivide(coarse, &twice, &subdivision, error);
    if (result == EX_OK)
        result = ex_subdivision_mesh(subdivision, coarse, 1, garment, error);
    ex_subdivision_destroy(subdivision);
    ex_mesh_destroy(coarse);
    free(room);
    free(worn);
    return result;
}

/* Joins two meshes of triangles. NULL if out of memory. */
static ex_mesh *join(const ex_mesh *const parts[2]) {
    ex_mesh *mesh = ex_mesh_create();
    const size_t vertices = (size_t)parts[0]->vertex_count + (size_t)parts[1]->vertex_count,
                 faces = (size_t)parts[0]->face_count + (size_t)parts[1]->face_count;
    if (!mesh)
        return NULL;
    free(mesh->face_offsets);
    mesh->positions = array_allocate(3 * vertices, sizeof *mesh->positions);
    mesh->corners = array_allocate(3 * faces, sizeof *mesh->corners);
    mesh->face_offsets = array_allocate(faces + 1, sizeof *mesh->face_offsets);
    if (!mesh->positions || !mesh->corners || !mesh->face_offsets) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    for (int p = 0; p < 2; p++) {
        const ex_mesh *part = parts[p];
        memcpy(mesh->positions + 3 * (size_t)mesh->vertex_count, part->positions,
               3 * (size_t)part->vertex_count * sizeof *part->positions);
        for (int c = 0; c < part->corner_count; c++)
            mesh->corners[mesh->corner_count + c] = mesh->vertex_count + part->corners[c];
        mesh->vertex_count += part->vertex_count;
        mesh->face_count += part->face_count;
        mesh->corner_count += part->corner_count;
    }
    for (int f = 0; f <= mesh->face_count; f++)
        mesh->face_offsets[f] = 3 * f;
    return mesh;
}

/* A collar holds the shirt, and the hips hold the trousers. */
static bool hold(const ex_mesh *const parts[2], exi_garment *garment) {
    const int upper = parts[0]->vertex_count, count = upper + parts[1]->vertex_count;
    garment->pinned = array_allocate((size_t)count, sizeof *garment->pinned);
    garment->gaps = array_allocate((size_t)count, sizeof *garment->gaps);
    if (!garment->pinned || !garment->gaps || exi_dress_top(parts[0], garment->pinned) < 0)
        return false;
    for (int v = 0; v < count; v++) {
        const double y = garment->driven->positions[3 * v + 1];
        if (v >= upper)
            garment->pinned[v] = y > CLING;
        garment->gaps[v] = v >= upper ? TROUSERS_GAP : OVER_GAP + (SHIRT_GAP - OVER_GAP) * rise(0.92, 1.02, y);
    }
    return true;
}

ex_result exi_outfit_cut(const exi_outfit_body *body, const ex_mesh *person, exi_garment *garment, ex_error *error) {
    ex_mesh *parts[2] = {NULL, NULL};
    ex_result result = sew(body, person, true, &parts[0], error);
    if (result == EX_OK)
        result = sew(body, person, false, &parts[1], error);
    if (result == EX_OK) {
        const ex_mesh *const both[2] = {parts[0], parts[1]};
        garment->driven = join(both);
        if (!garment->driven || !hold(both, garment) || !exi_outfit_weave(body, parts[0]->face_count, garment->driven))
            result = ex_error_memory(error, "the clothes", 0);
        garment->cloth.thickness = OVER_GAP; /* for following: where the keys are nearer, their distance counts */
    }
    ex_mesh_destroy(parts[0]);
    ex_mesh_destroy(parts[1]);
    return result;
}
