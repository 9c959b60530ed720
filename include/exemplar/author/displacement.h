/*
 * exemplar/author/displacement.h - displacement maps: one number per vertex of a refined level, along its limit normal.
 * Plain data, owned by its holder.
 */
#ifndef EXEMPLAR_AUTHOR_DISPLACEMENT_H
#define EXEMPLAR_AUTHOR_DISPLACEMENT_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* States of the vertices of a map. */
typedef enum ex_displacement_map_state {
    EX_DISPLACEMENT_MAP_OUTSIDE, /* not covered by the part */
    EX_DISPLACEMENT_MAP_HIT,     /* measured */
    EX_DISPLACEMENT_MAP_FAIRED,  /* measured, and smoothed together with an adjacent hole */
    EX_DISPLACEMENT_MAP_LENT,    /* taken from other scans */
    EX_DISPLACEMENT_MAP_FILLED,  /* a filled hole */
    EX_DISPLACEMENT_MAP_STATE_COUNT
} ex_displacement_map_state;

/* A displacement map. */
typedef struct ex_displacement_map {
    int vertex_count;     /* of the template's last level */
    float *displacements; /* metres along the limit normal */
    unsigned char *states;
} ex_displacement_map;

/* Makes a map, or returns NULL without memory. */
EX_API ex_displacement_map *ex_displacement_map_create(int vertex_count);
EX_API void ex_displacement_map_destroy(ex_displacement_map *map);
/* Read and write a map as PLY with the vertex properties displacement (float) and state (uchar), and no faces. */
EX_API ex_result ex_displacement_map_read(const char *path, ex_displacement_map **map, ex_error *error);
EX_API ex_result ex_displacement_map_write(const char *path, const ex_displacement_map *map, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
