/*
 * spots.h - scans of painted skin for tests: an elliptic tube that bulges, seen by scanners around it on a grid of 5 by
 * 2 mm, with noise, markers in eight colours, and what is no marker: moles, veins, shadows, mottled skin.
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
    double pitch[2];     /* metres between samples, across and along: 0.005 and 0.002 */
    double noise;        /* along the ray: 0.001 */
    double colour_noise; /* of each code: 3 */
    bool plain;          /* nothing but skin of one colour, and markers */
    uint64_t seed;
    int marker_count;
    spot markers[SPOTS_MAX];
    int mole_count;
    spot moles[SPOTS_MAX];
} spotted;

/* Markers so many millimetres apart at least, as many as there is room for, 0.03 to 0.05 is usual. */
void spotted_open(spotted *s, double height, double apart, uint64_t seed);

/* What a scanner sees that stands at so many degrees around y. The mesh is the caller's. */
ex_mesh *spotted_scan(const spotted *s, double degrees);

/* How squarely it sees a marker, as the cosine between ray and normal; 0 where the marker is not whole within. */
double spotted_facing(const spotted *s, int marker, double degrees);

#endif
