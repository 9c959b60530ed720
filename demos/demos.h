/*
 * demos.h - sample projects that the program makes itself, from formulas: for `exemplar demo`, for tests, for pictures.
 * One file a demo, one line in the table of demos.c.
 */
#ifndef EXEMPLAR_DEMOS_H
#define EXEMPLAR_DEMOS_H

#include <exemplar/author.h>

typedef struct exi_garment exi_garment; /* garment.h */

typedef struct ex_demo {
    const char *name;
    const char *summary; /* one line */
    /* Writes NAME.json and its forms into a folder that exists; NULL where there is a garment. */
    ex_result (*write)(const char *directory, ex_error *error);
    /* Makes cloth that is simulated, which takes half a minute, and learnt from; or NULL. */
    ex_result (*garment)(exi_garment *garment, ex_error *error);
} ex_demo;

extern const ex_demo ex_demos[];
extern const int ex_demo_count;

/* Writes NAME.json and all that belongs to it into a folder that exists. progress may be NULL. */
ex_result exi_demo_write(const ex_demo *demo, const char *directory, const ex_progress *progress, ex_error *error);

ex_result exi_demo_blob(const char *directory, ex_error *error);
ex_result exi_demo_arm(const char *directory, ex_error *error);
ex_result exi_demo_face(const char *directory, ex_error *error);
ex_result exi_demo_elbow(const char *directory, ex_error *error);
ex_result exi_demo_twist(const char *directory, ex_error *error);
ex_result exi_demo_shoulder(const char *directory, ex_error *error);
ex_result exi_demo_emotion(const char *directory, ex_error *error);
ex_result exi_demo_bar(const char *directory, ex_error *error);
ex_result exi_demo_cylinder(const char *directory, ex_error *error);
ex_result exi_demo_stretch(const char *directory, ex_error *error);
ex_result exi_demo_creature(const char *directory, ex_error *error);
ex_result exi_demo_heads(const char *directory, ex_error *error);

/* A sphere of 20 * 4^levels triangles, radius 1: the icosahedron, each triangle cut into four `levels` times. NULL
 * without memory. */
ex_mesh *exi_demo_sphere(int levels);

/* directory/name; release with free, NULL without memory. */
char *exi_demo_path(const char *directory, const char *name);
/* Writes directory/name. */
ex_result exi_demo_write_mesh(const char *directory, const char *name, const ex_mesh *mesh, ex_error *error);
ex_result exi_demo_write_scene(const char *directory, const char *name, const ex_scene *scene, ex_error *error);
ex_result exi_demo_write_text(const char *directory, const char *name, const char *text, ex_error *error);

#endif
