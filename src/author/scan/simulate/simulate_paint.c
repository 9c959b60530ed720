/*
 * Chooses places for markers: on every joint's part of the skin, far from each other, where a scanner sees them at
 * rest. Each is the vertex farthest from all before it (farthest-point sampling). A joint's part is where its skin
 * weight is 0.8 or more, so that the marker stays on its bone. A joint with little skin gets fewer, at lower weights,
 * since markers between two bones follow neither. Each marker gets the colour whose nearest other marker is farthest
 * away.
 */
#include "author/base/array.h"
#include "author/scan/simulate/simulate.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Least sine of the angle at which a head must see a marker. */
#define LEAST_SLANT 0.4

/* Rounds of choosing, with falling demands: least skin weight, least distance in metres, fraction of the wanted number
 * up to which the round applies, and true if the scanner must see the place. */
static const struct {
    float weight, apart, part;
    bool seen;
} rounds[] = {{0.8f, 0.05f, 1, true},      {0.8f, 0.025f, 1, true},    {0.65f, 0.03f, 0.75f, true},
              {0.5f, 0.03f, 0.5f, true},   {0.35f, 0.03f, 0.5f, true}, {0.2f, 0.03f, 0.5f, true},
              {0.35f, 0.025f, 0.5f, false}};
enum { ROUNDS = sizeof rounds / sizeof rounds[0] };

typedef struct painter {
    exi_skin_surface surface;
    float *weights; /* [vertex_count][3]: of three joints at a time */
    bool *seen;     /* [vertex_count]: true if one of four heads sees it at rest */
    int *homes;     /* [vertex_count]: 3 * triangle + corner; -1: none */
    float *cage;    /* weights of the cage, if the level is refined */
    void *scratch;
    float *distances; /* [vertex_count] squared, to the nearest marker so far */
    ex_paint *paints;
    int paint_count;
    size_t paint_capacity;
} painter;

/* ---- properties of vertices ---- */

/* Collects weights of joints first to first + 2 at the cage's vertices, as triples. */
static void cage_weights(const ex_rig *rig, int first, float *triples) {
    const ex_skin *skin = ex_rig_skin(rig);
    uint32_t joints[EX_INFLUENCE_MAX];
    float weights[EX_INFLUENCE_MAX];
    for (int v = 0; v < ex_rig_vertex_count(rig); v++) {
        const int influences = ex_skin_influences(skin, v, joints, weights);
        float *triple = triples + 3 * (size_t)v;
        triple[0] = triple[1] = triple[2] = 0;
        for (int i = 0; i < influences; i++)
            if ((int)joints[i] >= first && (int)joints[i] < first + 3)
                triple[joints[i] - (uint32_t)first] = weights[i];
    }
}

/* Refines the cage's weights like positions. */
static void weigh_vertices(painter *p, int first) {
    const ex_rig *rig = p->surface.rig;
    const bool refined = p->surface.level != 0;
    cage_weights(rig, first, refined ? p->cage : p->weights);
    if (refined)
        ex_stencils_apply(ex_rig_stencils(rig),
                          &(ex_refine){.level = p->surface.level, .control = p->cage, .positions = p->weights}, NULL,
                          p->scratch);
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
    const size_t size = ex_bounds_size(p->surface.tree);
    double(*normals)[3] = calloc((size_t)p->surface.vertex_count, sizeof *normals);
    void *memory = malloc(size + 1);
    const bool fits = normals && memory;
    if (fits) {
        const ex_bounds *fit = ex_bounds_fit(p->surface.tree, p->surface.rest, 0, memory, NULL);
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
    return fits ? EX_OK : ex_error_memory(error, "markers", size);
}

static ex_result open_painter(painter *p, const ex_rig *rig, int level, ex_error *error) {
    if (!ex_rig_skin(rig))
        return ex_error_set(error, EX_ERROR_DATA,
                            "the rig has no skeleton that moves its skin, so markers have nothing to follow");
    ex_result result = exi_skin_surface_open(&p->surface, rig, level, error);
    if (result != EX_OK)
        return result;
    const size_t count = (size_t)p->surface.vertex_count;
    const size_t scratch_size = level != 0 ? ex_stencils_scratch_size(ex_rig_stencils(rig)) : 0;
    p->weights = exi_array_allocate(3 * count, sizeof *p->weights);
    p->cage = exi_array_allocate(3 * (size_t)ex_rig_vertex_count(rig), sizeof *p->cage);
    p->scratch = malloc(scratch_size + 1);
    p->seen = exi_array_allocate(count, sizeof *p->seen);
    p->homes = exi_array_allocate(count, sizeof *p->homes);
    p->distances = exi_array_allocate(count, sizeof *p->distances);
    if (!p->weights || !p->cage || !p->scratch || !p->seen || !p->homes || !p->distances)
        return ex_error_memory(error, "markers", count * 21 + scratch_size);
    for (size_t v = 0; v < count; v++) {
        p->homes[v] = -1;
        p->distances[v] = INFINITY;
    }
    return see_vertices(p, error);
}

static void close_painter(painter *p) {
    exi_skin_surface_close(&p->surface);
    free(p->weights);
    free(p->cage);
    free(p->scratch);
    free(p->seen);
    free(p->homes);
    free(p->distances);
}

/* ---- places ---- */

/* Returns the vertex farthest from all markers that a round accepts for joint `which` of the three; -1: none. */
static int farthest(const painter *p, int which, int round) {
    int best = -1;
    float most = rounds[round].apart * rounds[round].apart;
    for (int v = 0; v < p->surface.vertex_count; v++)
        if (p->distances[v] > most && p->weights[3 * (size_t)v + (size_t)which] >= rounds[round].weight &&
            p->homes[v] >= 0 && (p->seen[v] || !rounds[round].seen)) {
            most = p->distances[v];
            best = v;
        }
    return best;
}

static ex_result add_marker(painter *p, int vertex, int joint, int number, ex_error *error) {
    const char *of = ex_skeleton_name(ex_rig_skeleton(p->surface.rig), joint);
    ex_paint *paints = exi_array_grow(p->paints, &p->paint_capacity, (size_t)p->paint_count + 1, sizeof *paints);
    if (!paints)
        return ex_error_memory(error, "markers", p->paint_capacity * sizeof *paints);
    p->paints = paints;
    const size_t size = strlen(of) + 32;
    ex_paint paint = {.name = malloc(size), .joint = joint, .triangle = p->homes[vertex] / 3};
    if (!paint.name)
        return ex_error_memory(error, "markers", size);
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

static ex_result paint_joint(painter *p, int joint, int count, ex_error *error) {
    ex_result result = EX_OK;
    int number = 0;
    for (int round = 0; round < ROUNDS; round++)
        while (result == EX_OK && (float)number < rounds[round].part * (float)count) {
            const int vertex = farthest(p, joint % 3, round);
            if (vertex < 0)
                break;
            result = add_marker(p, vertex, joint, ++number, error);
        }
    return result;
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
        if (joint % 3 == 0)
            weigh_vertices(&p, joint);
        result = paint_joint(&p, joint, count, error);
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
