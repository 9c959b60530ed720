/*
 * sleeves.h - a driver and a driven mesh: an arm, which is a tube of quads along x, and a sleeve around its middle; and
 * their forms when the arm is bent.
 */
#ifndef EXEMPLAR_TESTS_SLEEVES_H
#define EXEMPLAR_TESTS_SLEEVES_H

#include <exemplar/author/drive.h>

enum { SLEEVE_KEYS = 4 };

typedef struct sleeve {
    ex_mesh *driver; /* from x = 0 to 2, radius 0.2; faces in groups "upper" (x below 1) and "lower" */
    ex_mesh *driven; /* from 0.4 to 1.6, radius 0.25; groups "cuff" (above 1.2) and "body" */
    double folds;    /* depth of wrinkles; default 1 */
    float *drivers[SLEEVE_KEYS], *drivens[SLEEVE_KEYS];
    ex_drive_key keys[SLEEVE_KEYS]; /* bent by 0, 30, 60, 90 degrees, moved and turned, with names */
    ex_drive_def def;               /* definition with all keys, the default options and two frames of parts */
} sleeve;

/* Makes `rings` times `sides` vertices of the driver, two thirds as many rings of the driven mesh. Fails the test if
 * out of memory. */
void sleeve_open(sleeve *s, int rings, int sides);
void sleeve_close(sleeve *s);

/* Both bent by `degrees`, then turned about a slanted axis and moved: forms [vertex_count][3]. */
void sleeve_form(const sleeve *s, double degrees, double turn, double move, float *driver, float *driven);

#endif
