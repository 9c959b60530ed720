/*
 * paths.h - a layer of trajectories for tests, with everything that one can have, and its expected results, computed in
 * a simple way in double: R~ as an integral, its inverse by solving three equations.
 */
#ifndef EXEMPLAR_TESTS_PATHS_H
#define EXEMPLAR_TESTS_PATHS_H

#include <exemplar/rig_inspect.h>

enum {
    PATHS_TURNS = 1,
    PATHS_CORRECTORS = 2,
    PATHS_SCREWS = 4,
    PATHS_BASES = 8, /* also the number of segments */
    PATHS_MASK = 16,
    PATHS_OVERLAPS = 32,
    PATHS_ALL = 63
};
enum { PATHS_EXAMPLES = 4, PATHS_SEGMENTS = 5, PATHS_REFERENCE = 1 };

/* Four examples on one axis: 0, a reference, 1.5 and 3 in between; the first has everything requested, the third two
 * more correctors and a screw, the last nothing. Points into itself: do not copy it, and end with path_layer_close. */
typedef struct path_layer {
    ex_layer_def def;
    int vertex_count;
    const float *mesh;
    ex_axis axis;
    ex_trajectory trajectories[PATHS_EXAMPLES];
    float curves[PATHS_EXAMPLES][3][EX_CURVE_SIZE];
    float bases[PATHS_EXAMPLES][PATHS_SEGMENTS][6];
    float overlaps[PATHS_EXAMPLES][PATHS_EXAMPLES];
    const float *corrector_list[PATHS_EXAMPLES][3], *delta_list[PATHS_EXAMPLES];
    float *memory;
    uint16_t *vertices;
} path_layer;

void path_layer_open(path_layer *p, const float *mesh, int vertex_count, int parts, uint64_t seed);
void path_layer_close(path_layer *p);

/* R~(w) v and its inverse. */
void plain_mean(const double w[3], const double v[3], double out[3]);
void plain_mean_inverse(const double w[3], const double v[3], double out[3]);
void plain_rotate(const double w[3], const double v[3], double out[3]);
/* q(s) */
double plain_amount(const float *curve, double s);

/* mask (path - mesh) of a vertex at weights [example_count]. */
void plain_path(const ex_layer_def *layer, const float *mesh, const double *weights, int vertex, double out[3]);

#endif
