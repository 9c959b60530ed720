/*
 * Driver vertices that moving frames are fitted to (DrivenShape, 2.7): all of the driver, or a group of its faces,
 * weighted by area; or the surroundings of a node, weighted by a bell exp(-(g/(fit s))^2 / 2) of the distance g along
 * the driver, with s the mean distance between nodes. Long lists are thinned out: a motion of six numbers does not need
 * thousands of vertices.
 *
 * Vertices on a line leave the turn about it undetermined. A bell that sees only a line is widened.
 */
#include "author/drive/drive.h"
#include "author/mesh/groups.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODE_ENTRIES = 128, WHOLE_ENTRIES = 2000 };
#define BELL_REACH 3.0

/* ---- appending frames ---- */

bool exi_drive_plan_reserve(exi_drive_plan *made, int frame_count) {
    const size_t frames = (size_t)frame_count + 1, entries = (size_t)frame_count * NODE_ENTRIES + WHOLE_ENTRIES;
    made->starts = exi_arena_allocate(&made->arena, frames + 1, sizeof *made->starts);
    made->joints = exi_arena_allocate(&made->arena, frames, sizeof *made->joints);
    made->vertices = exi_arena_allocate(&made->arena, entries, sizeof *made->vertices);
    made->weights = exi_arena_allocate(&made->arena, entries, sizeof *made->weights);
    made->driver.driver.starts = made->starts;
    made->driver.driver.vertices = made->vertices;
    made->driver.driver.weights = made->weights;
    return made->starts && made->joints && made->vertices && made->weights;
}

/* Adds a frame whose entries, [count], follow those of the frames before. */
static void add_frame(exi_drive_plan *made, int count, int joint) {
    const int frame = made->driver.driver.frame_count++;
    made->starts[frame + 1] = made->starts[frame] + (uint32_t)count;
    made->joints[frame] = joint;
    if (joint >= 0)
        made->driver.joints = made->joints;
}

/* ---- collinear vertices ---- */

/* True if the entries spread in at least two directions: compares ab + ac + bc with (a + b + c)^2 for the eigenvalues a
 * >= b >= c of the covariance. 1e-3 is a strip 30 times as long as wide. */
static bool determined(const exi_graph *g, const uint32_t *vertices, const float *weights, int count) {
    double sum = 0, mean[3] = {0}, m[3][3] = {{0}};
    for (int i = 0; i < count; i++) {
        sum += (double)weights[i];
        for (uint32_t c = 0; c < 3; c++)
            mean[c] += (double)weights[i] * (double)g->positions[3 * vertices[i] + c];
    }
    for (int i = 0; i < count; i++) {
        double d[3];
        for (uint32_t c = 0; c < 3; c++)
            d[c] = (double)g->positions[3 * vertices[i] + c] - mean[c] / sum;
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++)
                m[r][c] += (double)weights[i] * d[r] * d[c];
    }
    const double trace = m[0][0] + m[1][1] + m[2][2];
    const double pairs = m[0][0] * m[1][1] - m[0][1] * m[1][0] + m[0][0] * m[2][2] - m[0][2] * m[2][0] +
                         m[1][1] * m[2][2] - m[1][2] * m[2][1];
    return trace > 0 && pairs > 1e-3 * trace * trace;
}

/* ---- the frame of the whole ---- */

static ex_result weigh_group(exi_drive_plan *made, const ex_mesh *driver, const char *group, ex_error *error) {
    bool *in = calloc((size_t)driver->vertex_count, sizeof *in), any = false;
    if (!in)
        return ex_error_memory(error, "the moving frames", (size_t)driver->vertex_count);
    for (int f = 0; driver->face_groups && f < driver->face_count; f++) {
        const int number = driver->face_groups[f];
        if (number < 0 || !exi_names_group(driver->group_names[number], group))
            continue;
        any = true;
        for (int c = driver->face_offsets[f]; c < driver->face_offsets[f + 1]; c++)
            in[driver->corners[c]] = true;
    }
    for (int v = 0; v < driver->vertex_count; v++)
        made->room_two[v] = in[v] ? made->graph.areas[v] : 0;
    free(in);
    if (any)
        return EX_OK;
    const char *near = ex_suggest(group, (const char *const *)driver->group_names, driver->group_count);
    return near ? ex_error_set(error, EX_ERROR_DATA, "the driver has no group '%s'; did you mean '%s'?", group, near)
                : ex_error_set(error, EX_ERROR_DATA, "the driver has no faces in a group '%s'", group);
}

ex_result exi_drive_plan_fit_whole(exi_drive_plan *made, const ex_mesh *driver, const ex_drive_options *o,
                                   ex_error *error) {
    if (o->frame != EX_WHOLE_FRAME_FIT) {
        add_frame(made, 0, o->frame == EX_WHOLE_FRAME_JOINT ? o->frame_joint : -1);
        return EX_OK;
    }
    const exi_graph *g = &made->graph;
    for (int v = 0; v < g->vertex_count; v++)
        made->room_two[v] = g->areas[v];
    ex_result result = o->frame_group ? weigh_group(made, driver, o->frame_group, error) : EX_OK;
    if (result != EX_OK)
        return result;
    const uint32_t at = made->starts[made->driver.driver.frame_count];
    uint32_t *vertices = made->vertices + at;
    const int count = exi_graph_sample(g, made->order, made->room_two, WHOLE_ENTRIES, vertices, made->weights + at);
    if (!determined(g, vertices, made->weights + at, count))
        return ex_error_set(error, EX_ERROR_DATA,
                            "the vertices of %s%s%s lie on a line, which does not determine the driver's moving frame",
                            o->frame_group ? "the group '" : "the driver", o->frame_group ? o->frame_group : "",
                            o->frame_group ? "'" : "");
    add_frame(made, count, -1);
    return EX_OK;
}

/* ---- around nodes ---- */

static ex_result fit_node(exi_drive_plan *made, int node, double width, ex_error *error) {
    const exi_graph *g = &made->graph;
    uint32_t *vertices = made->vertices + made->starts[made->driver.driver.frame_count];
    float *weights = made->weights + made->starts[made->driver.driver.frame_count];
    exi_graph_distances(g, &node, 1, made->room, NULL);
    for (int tries = 0; tries < 40; tries++, width *= 1.5) {
        bool all = true;
        for (int v = 0; v < g->vertex_count; v++) {
            const double x = made->room[v] / width;
            made->room_two[v] = x <= BELL_REACH ? g->areas[v] * exp(-x * x / 2) : 0;
            all = all && (x <= BELL_REACH || isinf(x));
        }
        const int count = exi_graph_sample(g, made->order, made->room_two, NODE_ENTRIES, vertices, weights);
        if (count >= 3 && determined(g, vertices, weights, count)) {
            add_frame(made, count, -1);
            return EX_OK;
        }
        /* A connected piece that is only a line moves with vertices near it by straight-line distance. */
        for (int v = 0; all && v < g->vertex_count; v++) {
            double sum = 0;
            for (int c = 0; c < 3; c++) {
                const double d = (double)g->positions[3 * (size_t)v + (size_t)c] -
                                 (double)g->positions[3 * (size_t)node + (size_t)c];
                sum += d * d;
            }
            made->room[v] = sqrt(sum);
        }
    }
    return ex_error_set(
        error, EX_ERROR_DATA,
        "the driver's vertices around vertex %d lie on a line, which does not determine its moving frame", node);
}

ex_result exi_drive_plan_fit_nodes(exi_drive_plan *made, const exi_nodes *nodes, const ex_drive_options *o,
                                   ex_error *error) {
    ex_result result = EX_OK;
    for (int f = 0; result == EX_OK && f < nodes->count; f++)
        result = fit_node(made, nodes->vertices[f], o->fit * nodes->spacing, error);
    return result;
}
