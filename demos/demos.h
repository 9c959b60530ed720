/*
 * demos.h - sample projects generated from formulas, and a person from demos/data: for `exemplar demo`, for tests, for
 * pictures. One file or folder per demo, one line in the table of demos.c.
 */
#ifndef EXEMPLAR_DEMOS_H
#define EXEMPLAR_DEMOS_H

#include <exemplar/author.h>

typedef struct exi_garment exi_garment; /* garment.h */

/* Options for writing a demo. */
typedef struct exi_demo_options {
    const ex_progress *progress; /* or NULL */
    const ex_tasks *tasks;       /* or NULL; long work runs on these tasks, and the files do not depend on them */
    bool quick;                  /* body: a coarse one from few scans, in seconds */
    int takes;                   /* garments: further motions to learn from */
} exi_demo_options;

typedef struct ex_demo {
    const char *name;
    const char *summary; /* one line */
    bool large;          /* true if it takes long to build, or its folder 50 MB or more */
    /* Writes NAME.json and its forms into an existing folder; NULL if another function below does. */
    ex_result (*write)(const char *directory, ex_error *error);
    /* Makes a garment whose cloth is simulated, which takes half a minute, and learnt from; or NULL. */
    ex_result (*garment)(exi_garment *garment, ex_error *error);
    /* Scans a subject, which takes up to minutes, and builds a body from the scans. The folder is a scan session, in
     * which an interrupted run goes on. Or NULL. */
    ex_result (*session)(const char *directory, const exi_demo_options *options, ex_error *error);
    /* Commands to try next, up to a NULL; NULL: the usual ones. FOLDER, RIG, OUT.obj and OUT.png stand for its files,
     * POSE for a value of two dials, and @NAME for a file in its folder. */
    const char *const *next;
} ex_demo;

extern const ex_demo ex_demos[];
extern const int ex_demo_count;

/* True if it takes half a minute or more, or much of a disk. */
bool exi_demo_is_long(const ex_demo *demo);
/* Writes NAME.json and all its files into an existing folder. options may be NULL. */
ex_result exi_demo_write(const ex_demo *demo, const char *directory, const exi_demo_options *options, ex_error *error);

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
ex_result exi_demo_human(const char *directory, ex_error *error);
ex_result exi_demo_strides(const char *directory, ex_error *error);
/* The scans and landmarks of the demo `scanned`, without its body. */
ex_result exi_demo_scans(const char *directory, const exi_demo_options *options, ex_error *error);
ex_result exi_demo_scanned(const char *directory, const exi_demo_options *options, ex_error *error);
ex_result exi_demo_body(const char *directory, const exi_demo_options *options, ex_error *error);

/* Makes a sphere of 20 * 4^levels triangles, radius 1: the icosahedron, each triangle split into four `levels` times.
 * NULL if out of memory. */
ex_mesh *exi_demo_sphere(int levels);

/* directory/name; release with free, NULL if out of memory. */
char *exi_demo_path(const char *directory, const char *name);
/* value rounded to a number of digits after the decimal point, the same in every locale. Returns text. */
const char *exi_demo_number(char text[32], double value, int digits);
/* Writes directory/name. */
ex_result exi_demo_write_mesh(const char *directory, const char *name, const ex_mesh *mesh, ex_error *error);
ex_result exi_demo_write_scene(const char *directory, const char *name, const ex_scene *scene, ex_error *error);
ex_result exi_demo_write_text(const char *directory, const char *name, const char *text, ex_error *error);

#endif
