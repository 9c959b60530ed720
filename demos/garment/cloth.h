/*
 * cloth.h - a small cloth solver for the demos: triangles of cloth on a driver, a mesh that moves. Private to demos.
 *
 * Metres, seconds, kilograms; y is up. Each frame is divided into substeps (extended position-based dynamics: one pass
 * over all constraints per substep), while the driver moves linearly from one frame to the next. Cloth resists
 * stretching along edges and bending over them, is kept a thickness away from the driver, and rubs on it. The result
 * depends only on the input.
 *
 * A soft target form per frame may attract the cloth, and it may start from any form: so a form found in another way
 * can guide it, or save the time that draping takes (DrivenShape, section 4.2).
 */
#ifndef EXEMPLAR_DEMOS_CLOTH_H
#define EXEMPLAR_DEMOS_CLOTH_H

#include <exemplar/author/base.h>
#include <exemplar/author/mesh.h>

typedef struct exi_cloth_def {
    const ex_mesh *cloth;  /* triangles; its form is the one without strain */
    const double *start;   /* [vertices of cloth][3], or NULL: the form without strain */
    const bool *pinned;    /* [vertices of cloth]: true for vertices fixed to the driver at their start; or NULL */
    const double *gaps;    /* [vertices of cloth]: distances to keep from the driver in place of `thickness`, as for a
                              shirt over trousers; or NULL */
    const ex_mesh *driver; /* triangles, counter-clockwise from outside; its form when the first step begins */

    double frame_time; /* seconds; default 1/25 */
    int substeps;      /* per frame; default 40 */
    int search;        /* substeps between two searches for contacts; default 5 */
    double gravity;    /* downwards; default 9.81 m/s^2 */
    double density;    /* of cloth; default 0.2 kg/m^2 */

    double stretch;   /* N/m: force per metre of width for stretching to twice the length; default 2000 */
    double compress;  /* the same against compression, as a fraction of it, because cloth folds; default 0.3 */
    double bend;      /* N m; default 1e-4 */
    double bent;      /* fraction of the bends of the strain-free form that remain without force; default 1 */
    double viscosity; /* 1/s, on motion relative to neighbours; default 30 */
    double drag;      /* 1/s, on motion relative to the air, which moves with the driver; default 3 */
    double thickness; /* distance kept between vertices and driver; default 0.004 m */
    double friction;  /* against the driver; default 0.4 */
    double target;    /* 1/s^2: acceleration towards a target per metre of distance; default 400 */
} exi_cloth_def;

exi_cloth_def exi_cloth_def_default(void);

typedef struct exi_cloth exi_cloth;

/* Copies what it needs. Results: ARGUMENT, DATA (a face, named, that is not a triangle or has no area), MEMORY. */
ex_result exi_cloth_create(const exi_cloth_def *def, exi_cloth **cloth, ex_error *error);
void exi_cloth_destroy(exi_cloth *cloth);

/*
 * Simulates one frame: the driver moves to driver [its vertices][3]. targets [vertices of cloth][3]: the form that
 * attracts the cloth in this frame, or NULL. Cannot fail.
 */
void exi_cloth_step(exi_cloth *cloth, const double *driver, const double *targets);

/* [vertices][3], owned by the cloth. */
const double *exi_cloth_positions(const exi_cloth *cloth);

/* ---- many frames (cloth_play.c) ---- */

/* Moves the driver to a frame: [vertices of driver][3]. */
typedef ex_result (*exi_cloth_move)(void *user, int frame, double *driver, ex_error *error);
/* Returns a guide, a form found in another way, for a frame: [vertices of cloth][3], or NULL. */
typedef const double *(*exi_cloth_guide)(void *user, int frame, const double *driver);
/* Receives a frame, [vertices][3] each; any result but EX_OK ends the simulation. */
typedef ex_result (*exi_cloth_frame)(void *user, int frame, const double *driver, const double *driven,
                                     ex_error *error);

typedef struct exi_cloth_play {
    exi_cloth_def cloth;   /* the form of its driver is replaced by that of the first frame */
    int first, end;        /* frames, without the end; those below 0 let the cloth settle, and `frame` does not see
                            * them. The cloth is in its start form at the first frame: with a start, it is not
                            * simulated; without one, the driver rests there for one frame */
    exi_cloth_move move;   /* or NULL: the driver rests */
    exi_cloth_guide guide; /* or NULL */
    exi_cloth_frame frame; /* or NULL */
    void *user;            /* passed to all of them */
    const char *doing;     /* for progress */
    const ex_progress *progress; /* or NULL */
} exi_cloth_play;

/* Simulates cloth on any mesh that moves. Results: those of exi_cloth_create, move and frame, MEMORY. */
ex_result exi_cloth_simulate(const exi_cloth_play *play, ex_error *error);

#endif
