/*
 * drives.h - a bar that bends and turns, and a sleeve on it that wrinkles as it bends, by formula: a minimal driver and
 * driven mesh.
 */
#ifndef EXEMPLAR_TESTS_DRIVES_H
#define EXEMPLAR_TESTS_DRIVES_H

#include <exemplar/author.h>

enum {
    DRIVE_RINGS = 11,
    DRIVE_SIDES = 8,
    DRIVE_DRIVER_COUNT = DRIVE_RINGS * DRIVE_SIDES + 2, /* a closed bar: 90 */
    DRIVE_SLEEVE_RINGS = 9,
    DRIVE_SLEEVE_SIDES = 12,
    DRIVE_DRIVEN_COUNT = DRIVE_SLEEVE_RINGS * DRIVE_SLEEVE_SIDES /* open at both ends: 108 */
};

/* One pose: degrees of bending and of twist, position and heading, and amount of the cloth's wrinkles. */
typedef struct drive_pose {
    double bend, twist, turn, along;
    double wrinkle; /* 1 is usual */
} drive_pose;

/* Forms [DRIVE_DRIVER_COUNT][3] and [DRIVE_DRIVEN_COUNT][3]; either may be NULL. */
void drive_form(const drive_pose *pose, float *driver, float *driven);

/* The meshes at rest; the driver's faces are in groups lower and upper, the sleeve's in groups cuff and arm. Release
 * with ex_mesh_destroy. */
ex_mesh *drive_driver_mesh(void);
ex_mesh *drive_driven_mesh(void);

/* A motion that bends and twists, there and back, and walks off; different for each seed. */
drive_pose drive_motion(int seed, int frame, int frame_count);

/* Writes a motion into caches of the test's folder (scratch.h); either name may be NULL. */
void drive_write(const char *driver, const char *driven, const drive_pose *poses, int frame_count);
void drive_write_motion(const char *driver, const char *driven, int seed, int frame_count);

/* Largest distance of two forms [count][3] at any vertex, in metres. */
double drive_apart(const float *a, const float *b, int count);

#endif
