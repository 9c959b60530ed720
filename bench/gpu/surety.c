/*
 * bench/gpu/surety.c - the uncertainty of float results; see surety.h.
 *
 * A position is assumed to be off by d = (4 + sqrt(n)) roundings of the form's largest coordinate, n the number of
 * examples, and of nodes and correctors of mixtures, that are summed: the observed difference between sums of n floats
 * and sums in double, and no more. That
 * turns the sum of the area vectors of a vertex's faces by at most d/2 times the sum of their outlines, and the cross
 * product of two tangents by d times the sums of their weights times each other's length; divided by the length of the
 * sum that is an angle. If the limit normal is turned by an angle, a vertex displaced along it by s is off by s times
 * that, and the faces around it are turned by more.
 */
#include "bench/gpu/surety.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rounding = 5.9604644775390625e-08; /* 2^-24 */

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
}

static double length(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double largest_coordinate(const float *positions, int count) {
    double most = 0;
    for (size_t i = 0; i < 3 * (size_t)count; i++)
        most = fabs((double)positions[i]) > most ? fabs((double)positions[i]) : most;
    return most;
}

double exi_surety_form_size(const float *positions, int count) {
    double low[3] = {0, 0, 0}, high[3] = {0, 0, 0}, size = 0;
    for (size_t i = 0; i < 3 * (size_t)count; i++) {
        const double p = (double)positions[i];
        low[i % 3] = p < low[i % 3] ? p : low[i % 3];
        high[i % 3] = p > high[i % 3] ? p : high[i % 3];
    }
    for (int c = 0; c < 3; c++)
        size = high[c] - low[c] > size ? high[c] - low[c] : size;
    return size;
}

/* ---- normals from faces ---- */

/* Adds one face to sums [vertex], x y z and turned: its area vector and outline, times the uncertainty of its
 * corners. */
static void add_face(const ex_rig_mesh *mesh, const uint32_t *corners, uint32_t count, const float *positions,
                     double least, const float *off, double (*sums)[4]) {
    double area[3] = {0}, outline = 0, most = 0;
    double first[3] = {0}, p[3] = {0}, next[3];
    for (uint32_t i = 0; i <= count; i++) {
        const uint32_t split = corners[i % count], v = mesh->split_source ? mesh->split_source[split] : split;
        double from[3], to[3], edge[3], part[3];
        for (int c = 0; c < 3; c++) {
            next[c] = (double)positions[3 * (size_t)v + (size_t)c];
            first[c] = i == 0 ? next[c] : first[c];
            p[c] = i == 0 ? next[c] : p[c];
            from[c] = p[c] - first[c];
            to[c] = next[c] - first[c];
            edge[c] = next[c] - p[c];
            p[c] = next[c];
        }
        cross(from, to, part);
        for (int c = 0; c < 3; c++)
            area[c] += part[c] / 2;
        outline += length(edge);
        most = (double)off[v] > most ? (double)off[v] : most;
    }
    for (uint32_t i = 0; i < count; i++) {
        double *sum = sums[mesh->split_source ? mesh->split_source[corners[i]] : corners[i]];
        for (int c = 0; c < 3; c++)
            sum[c] += area[c];
        sum[3] += (least + most) * outline / 2;
    }
}

static bool sure_faces(const ex_rig_mesh *mesh, const float *positions, double least, const float *off, float *angles) {
    const uint32_t *corners = mesh->corners;
    double(*sums)[4] = calloc((size_t)mesh->vertex_count + 1, sizeof *sums);
    if (!sums)
        return false;
    for (int f = 0; f < mesh->face_count; corners += mesh->face_sizes[f++])
        add_face(mesh, corners, mesh->face_sizes[f], positions, least, off, sums);
    for (int v = 0; v < mesh->vertex_count; v++)
        angles[v] = (float)(sums[v][3] == 0 ? 0 : sums[v][3] / (length(sums[v]) + 1e-30));
    free(sums);
    return true;
}

/* ---- normals of the limit surface ---- */

static void sure_rows(int rows, const int *offsets, const int *indices, const double *tangents, const float *cage,
                      double least, float *angles) {
    for (int v = 0; v < rows; v++) {
        double t[2][3] = {{0}}, sums[2] = {0}, normal[3];
        for (int i = offsets[v]; i < offsets[v + 1]; i++)
            for (int k = 0; k < 2; k++) {
                sums[k] += fabs(tangents[2 * i + k]);
                for (int c = 0; c < 3; c++)
                    t[k][c] += tangents[2 * i + k] * (double)cage[3 * (size_t)indices[i] + (size_t)c];
            }
        cross(t[0], t[1], normal);
        const double turned = least * (sums[0] * length(t[1]) + sums[1] * length(t[0]));
        angles[v] = (float)(sums[0] == 0 ? 0 : turned / (length(normal) + 1e-30));
    }
}

static bool sure_tangents(const ex_rig *rig, const ex_pose *pose, const ex_evaluation *how, double least,
                          float *angles) {
    const ex_stencils *stencils = ex_rig_stencils(rig);
    const int rows = ex_stencils_vertex_count(stencils, how->level);
    const size_t count = (size_t)ex_stencils_weight_count(stencils, how->level);
    ex_evaluation at_cage = *how;
    at_cage.level = 0;
    int *offsets = calloc((size_t)rows + 1, sizeof *offsets), *indices = calloc(count + 1, sizeof *indices);
    double *weights = calloc(count + 1, sizeof *weights), *tangents = calloc(2 * count + 1, sizeof *tangents);
    float *cage = calloc((size_t)ex_rig_vertex_count(rig) + 1, 3 * sizeof *cage);
    void *scratch = malloc(ex_rig_scratch_size(rig, &at_cage, 1));
    const bool good = offsets && indices && weights && tangents && cage && scratch;
    if (good) {
        ex_stencils_read(stencils, how->level, offsets, indices, weights, tangents);
        ex_rig_evaluate(rig, pose, &(ex_output){.positions = cage}, &at_cage, scratch);
        sure_rows(rows, offsets, indices, tangents, cage, least, angles);
    }
    free(offsets);
    free(indices);
    free(weights);
    free(tangents);
    free(cage);
    free(scratch);
    return good;
}

/* ---- displaced vertices ---- */

static bool takes_part(const ex_rig *rig, const ex_evaluation *how, int layer) {
    return ex_rig_layer_domain(rig, layer) == EX_DOMAIN_DISPLACEMENT &&
           !(how->muted ? how->muted[layer] : ex_rig_layer_muted(rig, layer));
}

static bool is_displaced(const ex_rig *rig, const ex_evaluation *how) {
    bool displaced = false;
    for (int l = 0; how->level != 0 && l < ex_rig_layer_count(rig); l++)
        displaced |= takes_part(rig, how, l);
    return displaced;
}

/* off = each vertex's displacement times the angle of its limit normal. */
static bool sure_displaced(const ex_rig *rig, const ex_pose *pose, const ex_evaluation *how, const float *positions,
                           const float *limit_angles, float *off) {
    const int layers = ex_rig_layer_count(rig), vertices = ex_rig_level_vertex_count(rig, how->level);
    bool *muted = calloc((size_t)layers + 1, sizeof *muted);
    float *flat = calloc((size_t)vertices + 1, 3 * sizeof *flat);
    ex_evaluation without = *how;
    without.muted = muted;
    void *scratch = malloc(ex_rig_scratch_size(rig, &without, 1));
    const bool good = muted && flat && scratch;
    for (int l = 0; good && l < layers; l++)
        muted[l] = takes_part(rig, how, l) || (how->muted ? how->muted[l] : ex_rig_layer_muted(rig, l));
    if (good)
        ex_rig_evaluate(rig, pose, &(ex_output){.positions = flat}, &without, scratch);
    for (size_t v = 0; good && v < (size_t)vertices; v++) {
        double by[3];
        for (size_t c = 0; c < 3; c++)
            by[c] = (double)positions[3 * v + c] - (double)flat[3 * v + c];
        off[v] = (float)(length(by) * ((double)limit_angles[v] < 2 ? (double)limit_angles[v] : 2));
    }
    free(muted);
    free(flat);
    free(scratch);
    return good;
}

/* Numbers that a coordinate is the sum of. */
static int count_summed(const ex_rig *rig) {
    int count = ex_rig_example_count(rig);
    for (int l = 0; l < ex_rig_layer_count(rig); l++) {
        const ex_mixture mixture = ex_rig_layer_mixture(rig, l);
        count += mixture.node_count + mixture.corrector_count;
    }
    return count;
}

bool exi_surety_of(const ex_rig *rig, const ex_pose *pose, const ex_evaluation *how, const float *positions, float *off,
                   float *angles) {
    const ex_rig_mesh mesh = how->level == 0 ? ex_rig_get_mesh(rig) : ex_rig_level_mesh(rig, how->level);
    const int vertices = ex_rig_level_vertex_count(rig, how->level);
    const double least = (4 + sqrt((double)count_summed(rig))) * rounding * largest_coordinate(positions, vertices);
    const bool displaced = is_displaced(rig, how);
    memset(off, 0, (size_t)vertices * sizeof *off);
    memset(angles, 0, (size_t)vertices * sizeof *angles);
    if (how->level != 0 && ex_stencils_has_tangents(ex_rig_stencils(rig), how->level) &&
        !sure_tangents(rig, pose, how, least, angles))
        return false;
    if (displaced && !sure_displaced(rig, pose, how, positions, angles, off))
        return false;
    if (how->level != 0 && ex_stencils_has_tangents(ex_rig_stencils(rig), how->level) && !displaced)
        return true;
    return mesh.face_count == 0 || sure_faces(&mesh, positions, least, off, angles);
}
