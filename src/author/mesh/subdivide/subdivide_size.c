/*
 * The size of a subdivision before it is made. Counts of a level follow from those of the one before: with Catmull-
 * Clark V + E + F vertices, 2 E + C edges, C faces and 4 C corners from V, E, F and C; with Loop V + E vertices,
 * 2 E + 3 F edges and 4 F triangles.
 *
 * A vertex of a level is a sum over cage vertices, 16 on regular quads and 12 on regular triangles. A face of n
 * corners, or a vertex of n faces, adds n of them to all vertices near it: about n (4^(L-1) + 2^(L-1)) on level L,
 * which makes the tables grow with the square of n.
 */
#include "author/base/array.h"
#include "author/mesh/subdivide/subdivide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes in a rig: of a weight and its index, of two tangents beside them, and of a vertex with its faces. */
enum { WEIGHT_SIZE = 8, TANGENT_SIZE = 8, VERTEX_SIZE = 48 };

/* Corners and faces up to which a face or a vertex counts as ordinary. */
enum { ORDINARY = 8 };

typedef struct counts {
    double vertices, edges, faces, corners;
} counts;

static counts next_counts(counts c, ex_scheme scheme) {
    return scheme == EX_SCHEME_LOOP
               ? (counts){c.vertices + c.edges, 2 * c.edges + 3 * c.faces, 4 * c.faces, 12 * c.faces}
               : (counts){c.vertices + c.edges + c.faces, 2 * c.edges + c.corners, c.corners, 4 * c.corners};
}

/* Weights per vertex of a level on a regular mesh. */
static double regular_weights(ex_scheme scheme, int level) {
    static const double weights[EX_SCHEME_COUNT][3] = {
        [EX_SCHEME_CATMULL_CLARK] = {6, 12, 16}, [EX_SCHEME_LOOP] = {5, 9, 12}, [EX_SCHEME_BILINEAR] = {2, 3, 4}};
    return weights[scheme][level < 3 ? level - 1 : 2];
}

/* Sums of squares over large faces, and over vertices of many faces. */
typedef struct squares {
    double faces, vertices;
} squares;

static bool sum_squares(const ex_mesh *mesh, ex_scheme scheme, squares *sums) {
    int *valences = exi_array_allocate((size_t)mesh->vertex_count, sizeof *valences);
    *sums = (squares){0, 0};
    if (!valences)
        return false;
    memset(valences, 0, (size_t)mesh->vertex_count * sizeof *valences);
    for (int f = 0; f < mesh->face_count; f++) {
        const int size = mesh->face_offsets[f + 1] - mesh->face_offsets[f];
        if (size > ORDINARY && scheme != EX_SCHEME_LOOP)
            sums->faces += (double)size * size;
        for (int c = mesh->face_offsets[f]; c < mesh->face_offsets[f + 1]; c++)
            valences[mesh->corners[c]]++;
    }
    /* Bilinear subdivision leaves vertices in place. */
    for (int v = 0; v < mesh->vertex_count && scheme != EX_SCHEME_BILINEAR; v++)
        if (valences[v] > ORDINARY)
            sums->vertices += (double)valences[v] * valences[v] * (scheme == EX_SCHEME_LOOP ? 0.5 : 2);
    free(valences);
    return true;
}

bool exi_subdivide_measure(const ex_mesh *mesh, const ex_subdivide_def *def, exi_subdivide_size *size) {
    const double triangles = mesh->corner_count - 2.0 * mesh->face_count;
    const bool loop = def->scheme == EX_SCHEME_LOOP;
    /* A closed mesh has the fewest edges for its corners. */
    counts c = {mesh->vertex_count, loop ? 1.5 * triangles : mesh->corner_count / 2.0,
                loop ? triangles : mesh->face_count, loop ? 3 * triangles : mesh->corner_count};
    squares sums;
    if (!sum_squares(mesh, def->scheme, &sums))
        return false;
    *size = (exi_subdivide_size){.vertices = c.vertices};
    for (int level = 1; level <= def->levels; level++) {
        const double around = pow(4, level - 1) + pow(2, level - 1);
        c = next_counts(c, def->scheme);
        const bool limit = def->limit && (def->all || level == def->levels);
        const double regular = c.vertices * regular_weights(def->scheme, level);
        /* The limit is one step of the rules wider. */
        const double wider = c.vertices * regular_weights(def->scheme, level + 1);
        const double crowded = (sums.faces + (level > 1 ? sums.vertices : 0)) * around;
        const double own_size = limit && def->all ? 0 : WEIGHT_SIZE,
                     limit_size = limit ? WEIGHT_SIZE + TANGENT_SIZE : 0;
        size->vertices = c.vertices;
        size->bytes += c.vertices * VERTEX_SIZE + regular * own_size + wider * limit_size;
        size->crowded += crowded * (own_size + limit_size);
    }
    size->bytes += size->crowded;
    return true;
}
