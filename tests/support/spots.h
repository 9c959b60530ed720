/*
 * spots.h - scans of painted skin for tests: an elliptic tube that bulges, seen by scanners around it on a grid of 5 by
 * 2 mm, with noise, markers in eight colours, and distractors: moles, veins, shadows, mottled skin.
 */
#ifndef EXEMPLAR_TESTS_SPOTS_H
#define EXEMPLAR_TESTS_SPOTS_H

#include <exemplar/author/mesh.h>

enum { SPOT_COLOURS = 8, SPOTS_MAX = 256 };
extern const unsigned char spot_colours[SPOT_COLOURS][3];

typedef struct spot {
    double place[3];
    double size;
    unsigned char colour[3];
} spot;

typedef struct spotted {
    double height;       /* of the tube, along y */
    double pitch[2];     /* metres between samples, across and along; default 0.005 and 0.002 */
    double noise;        /* along the ray; default 0.001 */
    double colour_noise; /* of each code; default 3 */
    bool plain;          /* true for skin of one colour with only markers */
    uint64_t seed;
    int marker_count;
    spot markers[SPOTS_MAX];
    int mole_count;
    spot moles[SPOTS_MAX];
} spotted;

/* Markers with at least that distance, as many as fit; 0.03 to 0.05 is usual. */
void spotted_open(spotted *s, double height, double apart, uint64_t seed);

/* The view of a scanner at that many degrees around y. The caller owns the mesh. */
ex_mesh *spotted_scan(const spotted *s, double degrees);

/* Cosine between ray and normal at a marker; 0 if the marker is not completely in view. */
double spotted_facing(const spotted *s, int marker, double degrees);

#endif
