/*
 * Where markers go: on every joint's part of the skin, far from each other, where a scanner sees them at rest. A
 * joint's part is where its skin weight is 0.8 or more, so that the marker stays on its bone; where that has no room
 * for all of them, 0.5 or more, and then wherever no other joint weighs more. Each marker is the vertex farthest from
 * all before it (farthest-point sampling); each gets the colour whose nearest other marker is farthest away.
 */
#include "author/formats/array.h"
#include "author/scan/simulate.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Metres that markers are apart at least, and the sine of the angle at which a head must see one. */
#define LEAST_APART 0.025
#define LEAST_SLANT 0.4

typedef struct painter {
    exi_skin_surface surface;
    int *owners;      /* [vertex_count]: the joint that weighs most */
    float *weights;   /* [vertex_count]: how much */
    bool *seen;       /* [vertex_count]: by one of four heads, at rest */
    int *homes;       /* [vertex_count]: 3 * a triangle + which corner of it; -1 */
    float *distances; /* [vertex_count] squared, from the nearest marker so far */
    ex_paint *paints;
    int paint_count;
    size_t paint_capacity;
} painter;

/* ---- what is known of vertices ---- */

/* Weights of joints first to first + 2 of the cage's vertices, as triples. */
static void cage_weights(const ex_rig *rig, int first, uint32_t *joints, float *weights, float *triples) {
    const ex_skin *skin = ex_rig_skin(rig);
    const int count = ex_rig_vertex_count(rig);
    for (int v = 0; v < count; v++) {
        const int influences = ex_skin_influences(skin, v, joints, weights);
        float *triple = triples + 3 * (size_t)v;
        triple[0] = triple[1] = triple[2] = 0;
        for (int i = 0; i < influences; i++)
            if ((int)joints[i] >= first && (int)joints[i] < first + 3)
                triple[joints[i] - (uint32_t)first] = weights[i];
    }
}

/* Refined vertices have the weights of the cage's, refined like positions, three joints at a time. */
static ex_result weigh_vertices(painter *p, ex_error *error) {
    const ex_rig *rig = p->surface.rig;
    const ex_stencils *stencils = ex_rig_stencils(rig);
    const bool refined = p->surface.level != 0;
    const size_t most = (size_t)ex_skin_get_info(ex_rig_skin(rig)).influence_most;
    const size_t scratch_size = refined ? ex_stencils_scratch_size(stencils) : 0;
    uint32_t *joints = exi_array_allocate(most, sizeof *joints);
    float *weights = exi_array_allocate(most, sizeof *weights);
    float *cage = exi_array_allocate(3 * (size_t)ex_rig_vertex_count(rig), sizeof *cage);
    float *values = exi_array_allocate(3 * (size_t)p->surface.vertex_count, sizeof *values);
    void *scratch = malloc(scratch_size + 1);
    const bool fits = joints && weights && cage && values && scratch;
    for (int first = 0; fits && first < ex_rig_joint_count(rig); first += 3) {
        cage_weights(rig, first, joints, weights, refined ? cage : values);
        if (refined)
            ex_stencils_apply(stencils, &(ex_refine){.level = p->surface.level, .control = cage, .positions = values},
                              NULL, scratch);
        for (int v = 0; v < p->surface.vertex_count; v++)
            for (int k = 0; k < 3; k++) {
                const float weight = values[3 * (size_t)v + (size_t)k];
                if (weight > p->weights[v]) {
                    p->weights[v] = weight;
                    p->owners[v] = first + k;
                }
            }
    }
    free(joints);
    free(weights);
    free(cage);
    free(values);
    free(scratch);
    return fits ? EX_OK : exi_error_memory(error, "skin weights", (size_t)p->surface.vertex_count * 12);
}

static void vertex_normals(const painter *p, double (*normals)[3]) {
    for (int t = 0; t < p->surface.triangle_count; t++) {
        double normal[3];
        const double area = p->surface.areas[t] - (t > 0 ? p->surface.areas[t - 1] : 0);
        exi_surface_normal(&p->surface, p->surface.rest, t, normal);
        for (int i = 0; i < 3; i++) {
            const uint32_t v = p->surface.triangles[3 * (size_t)t + (size_t)i];
            for (int k = 0; k < 3; k++)
                normals[v][k] += area * normal[k];
            if (p->homes[v] < 0)
                p->homes[v] = 3 * t + i;
        }
    }
}

static ex_result see_vertices(painter *p, ex_error *error) {
    const size_t size = ex_fit_size(p->surface.tree);
    double(*normals)[3] = calloc((size_t)p->surface.vertex_count, sizeof *normals);
    void *memory = malloc(size + 1);
    const bool fits = normals && memory;
    if (fits) {
        const ex_fit *fit = ex_fit_make(p->surface.tree, p->surface.rest, 0, memory, NULL);
        vertex_normals(p, normals);
        for (int v = 0; v < p->surface.vertex_count; v++) {
            const float *at = p->surface.rest + 3 * (size_t)v;
            const double point[3] = {(double)at[0], (double)at[1], (double)at[2]};
            p->seen[v] = false;
            for (int i = 0; i < 4 && exi_unit3(normals[v]) && !p->seen[v]; i++) {
                double head[3], right[3];
                exi_head_direction(i, 4, head, right);
                p->seen[v] =
                    exi_dot3(normals[v], head) >= LEAST_SLANT && exi_head_sees(fit, head, point, normals[v]) > 0;
            }
        }
    }
    free(normals);
    free(memory);
    return fits ? EX_OK : exi_error_memory(error, "markers", size);
}

static ex_result open_painter(painter *p, const ex_rig *rig, int level, ex_error *error) {
    if (!ex_rig_skin(rig))
        return exi_error(error, EX_ERROR_DATA,
                         "the rig has no skeleton that moves its skin: there is nothing for markers to follow");
    ex_result result = exi_skin_surface_open(&p->surface, rig, level, error);
    if (result != EX_OK)
        return result;
    const size_t count = (size_t)p->surface.vertex_count;
    p->owners = exi_array_allocate(count, sizeof *p->owners);
    p->weights = exi_array_allocate(count, sizeof *p->weights);
    p->seen = exi_array_allocate(count, sizeof *p->seen);
    p->homes = exi_array_allocate(count, sizeof *p->homes);
    p->distances = exi_array_allocate(count, sizeof *p->distances);
    if (!p->owners || !p->weights || !p->seen || !p->homes || !p->distances)
        return exi_error_memory(error, "markers", count * 17);
    for (size_t v = 0; v < count; v++) {
        p->owners[v] = p->homes[v] = -1;
        p->weights[v] = 0;
        p->distances[v] = INFINITY;
    }
    result = weigh_vertices(p, error);
    return result == EX_OK ? see_vertices(p, error) : result;
}

static void close_painter(painter *p) {
    exi_skin_surface_close(&p->surface);
    free(p->owners);
    free(p->weights);
    free(p->seen);
    free(p->homes);
    free(p->distances);
}

/* ---- places ---- */

/* Whether a vertex may have a marker of the joint, the demands falling with every round. */
static bool is_candidate(const painter *p, int vertex, int joint, int round) {
    static const float least[] = {0.8f, 0.5f, 0.5f};
    return p->owners[vertex] == joint && p->homes[vertex] >= 0 && p->weights[vertex] >= least[round] &&
           (p->seen[vertex] || round == 2);
}

/* The candidate farthest from all markers; -1 where all are too near. */
static int farthest(const painter *p, int joint, int round) {
    int best = -1;
    float most = (float)(LEAST_APART * LEAST_APART);
    for (int v = 0; v < p->surface.vertex_count; v++)
        if (p->distances[v] > most && is_candidate(p, v, joint, round)) {
            most = p->distances[v];
            best = v;
        }
    return best;
}

static ex_result add_marker(painter *p, int vertex, int joint, int number, ex_error *error) {
    const char *of = ex_skeleton_name(ex_rig_skeleton(p->surface.rig), joint);
    ex_paint *paints = exi_array_grow(p->paints, &p->paint_capacity, (size_t)p->paint_count + 1, sizeof *paints);
    if (!paints)
        return exi_error_memory(error, "markers", p->paint_capacity * sizeof *paints);
    p->paints = paints;
    const size_t size = strlen(of) + 32;
    ex_paint paint = {.name = malloc(size), .joint = joint, .triangle = p->homes[vertex] / 3};
    if (!paint.name)
        return exi_error_memory(error, "markers", size);
    paint.place[p->homes[vertex] % 3] = 1;
    if (of[0])
        snprintf(paint.name, size, "%s-%02d", of, number);
    else
        snprintf(paint.name, size, "joint %d-%02d", joint, number);
    p->paints[p->paint_count++] = paint;
    const float *at = p->surface.rest + 3 * (size_t)vertex;
    for (int v = 0; v < p->surface.vertex_count; v++) {
        const float *here = p->surface.rest + 3 * (size_t)v;
        const float x = here[0] - at[0], y = here[1] - at[1], z = here[2] - at[2], square = x * x + y * y + z * z;
        p->distances[v] = square < p->distances[v] ? square : p->distances[v];
    }
    return EX_OK;
}

/* ---- colours ---- */

static void choose_colours(painter *p) {
    for (int i = 0; i < p->paint_count; i++) {
        double nearest[8], here[3], there[3];
        int best = i % 8;
        for (int c = 0; c < 8; c++)
            nearest[c] = INFINITY;
        exi_surface_point(&p->surface, p->surface.rest, p->paints[i].triangle, p->paints[i].place, here);
        for (int j = 0; j < i; j++) {
            double away[3];
            exi_surface_point(&p->surface, p->surface.rest, p->paints[j].triangle, p->paints[j].place, there);
            exi_subtract(there, here, away);
            const double square = exi_dot3(away, away);
            for (int c = 0; c < 8; c++)
                if (memcmp(p->paints[j].colour, exi_paint_colours[c], 3) == 0)
                    nearest[c] = square < nearest[c] ? square : nearest[c];
        }
        for (int c = 0; c < 8; c++)
            best = nearest[c] > nearest[best] ? c : best;
        memcpy(p->paints[i].colour, exi_paint_colours[best], 3);
    }
}

ex_result ex_scan_paint(const ex_rig *rig, int level, int count, ex_paint **paints, int *paint_count, ex_error *error) {
    if (!rig || !paints || !paint_count || count < 1)
        return exi_misuse_error(error, "ex_scan_paint", "no rig, no room for the markers, or none wanted");
    painter p = {.paint_count = 0};
    ex_result result = open_painter(&p, rig, level, error);
    for (int joint = 0; result == EX_OK && joint < ex_rig_joint_count(rig); joint++) {
        int number = 0;
        for (int round = 0; round < 3; round++)
            while (result == EX_OK && number < count) {
                const int vertex = farthest(&p, joint, round);
                if (vertex < 0)
                    break;
                result = add_marker(&p, vertex, joint, ++number, error);
            }
    }
    if (result == EX_OK)
        choose_colours(&p);
    close_painter(&p);
    if (result != EX_OK) {
        ex_paints_free(p.paints, p.paint_count);
        return result;
    }
    *paints = p.paints;
    *paint_count = p.paint_count;
    return EX_OK;
}
