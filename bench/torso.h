/*
 * bench/torso.h - a body and its clothes for measurements: a torso of 10080 triangles that bends, twists, breathes and
 * sways, and 5000 vertices of cloth with folds outside.
 */
#ifndef EXEMPLAR_BENCH_TORSO_H
#define EXEMPLAR_BENCH_TORSO_H

#include <stdint.h>

enum { TORSO_AROUND = 70, TORSO_RINGS = 72 };
enum { TORSO_BODY = TORSO_AROUND * TORSO_RINGS + 2, TORSO_TRIANGLES = 2 * TORSO_AROUND * TORSO_RINGS };
enum { TORSO_CLOTH_AROUND = 100, TORSO_CLOTH_RINGS = 50, TORSO_CLOTH = TORSO_CLOTH_AROUND * TORSO_CLOTH_RINGS };
enum { TORSO_CLOTH_TRIANGLES = 2 * TORSO_CLOTH_AROUND * (TORSO_CLOTH_RINGS - 1) };

/* Positions [..][3] at a phase, of which 1 is a complete step, after walking that distance; the cloth at that distance
 * from the body. */
void torso_body(double phase, double walked, float *out);
void torso_cloth(double phase, double walked, double off, float *out);
/* [TORSO_TRIANGLES][3], [TORSO_CLOTH_TRIANGLES][3]. */
void torso_triangles(uint32_t *out);
void torso_cloth_triangles(uint32_t *out);

#endif
