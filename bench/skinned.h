/*
 * bench/skinned.h - the vertices and joints of 'exemplar bench skin', generated identically for us and for the peer, so
 * this is C and C++. Joints of a vertex are neighbours, as in bodies, and consecutive vertices share most of them.
 */
#ifndef EXEMPLAR_BENCH_SKINNED_H
#define EXEMPLAR_BENCH_SKINNED_H

#include <stddef.h>
#include <stdint.h>

enum { EXI_SKINNED_JOINTS = 64 };

/* Pseudo-random numbers in [0, 1), the same everywhere. */
static inline double exi_skinned_made_up(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

/* joints and weights [vertex_count][influences]; the weights of a vertex do not add up to 1 yet. */
static inline void exi_skinned_influences(int vertex_count, int influences, uint32_t *joints, float *weights) {
    const size_t vertices = (size_t)vertex_count, of_each = (size_t)influences;
    unsigned seed = 1;
    for (size_t i = 0; i < vertices * of_each; i++) {
        const size_t v = i / of_each, joint_count = EXI_SKINNED_JOINTS;
        const size_t near = v * joint_count / vertices + (size_t)(3 * exi_skinned_made_up(&seed));
        joints[i] = (uint32_t)((near + 3 * (i % of_each)) % joint_count);
        weights[i] = (float)(0.1 + exi_skinned_made_up(&seed));
    }
}

/* A joint: scales, turns by the quaternion x y z 1 of any length, moves. */
typedef struct exi_skinned_joint {
    float turn[3], move[3], scale[3];
} exi_skinned_joint;

/* Every other joint is scaled if `stretched`. */
static inline void exi_skinned_joints(int stretched, exi_skinned_joint joints[EXI_SKINNED_JOINTS]) {
    unsigned seed = 2;
    for (int j = 0; j < EXI_SKINNED_JOINTS; j++)
        for (int c = 0; c < 3; c++) {
            joints[j].turn[c] = (float)(exi_skinned_made_up(&seed) - 0.5);
            joints[j].move[c] = (float)exi_skinned_made_up(&seed);
            joints[j].scale[c] = stretched && j % 2 ? (float)(0.5 + exi_skinned_made_up(&seed)) : 1;
        }
}

/* Positions, then normals: [2][vertex_count][3]. */
static inline void exi_skinned_vertices(int vertex_count, float *out) {
    unsigned seed = 3;
    for (size_t i = 0; i < 6 * (size_t)vertex_count; i++)
        out[i] = (float)(0.1 + exi_skinned_made_up(&seed));
}

#endif
