/*
 * cloth.h - a small cloth solver for the demos: triangles of cloth on a driver, a mesh that moves. Private to demos.
 *
 * Metres, seconds, kilograms; y is up. Each frame is cut into substeps (extended position-based dynamics: one pass over
 * all constraints a substep), the driver moving straight from one frame to the next. Cloth resists being stretched
 * along edges and bent over them, is kept a thickness away from the driver, and rubs on it. What comes out depends on
 * the input alone.
 *
 * The cloth may be drawn to a form a frame, softly, and may start from any form: so a form that was found in another
 * way guides it, or saves it the time that draping takes (DrivenShape, section 4.2).
 */
#ifndef EXEMPLAR_DEMOS_CLOTH_H
#define EXEMPLAR_DEMOS_CLOTH_H

#include <exemplar/author/mesh.h>

typedef struct exi_cloth_def {
    const ex_mesh *cloth;  /* triangles; its form is the one without strain */
    const double *start;   /* [vertices of cloth][3], or NULL: the form without strain */
    const bool *pinned;    /* [vertices of cloth]: those that stay where they start, as seen from the driver; or NULL */
    const ex_mesh *driver; /* triangles, counter-clockwise from outside; where it is when the first step begins */

    double frame_time; /* seconds; 1/25 */
    int substeps;      /* a frame; 40 */
    int search;        /* substeps from one search for what is near to the next; 5 */
    double gravity;    /* downwards; 9.81 m/s^2 */
    double density;    /* of cloth; 0.2 kg/m^2 */

    double stretch;   /* N/m: the force on a metre's width for stretching to twice the length; 2000 */
    double compress;  /* the same against being shortened, as a part of it: cloth gives way in folds; 0.3 */
    double bend;      /* N m; 1e-4 */
    double bent;      /* which part of the bends of the form without strain stays without force; 1 */
    double viscosity; /* 1/s, of what vertices move against their neighbours; 30 */
    double drag;      /* 1/s, of what moves against the air, which goes with the driver; 3 */
    double thickness; /* kept between vertices and driver; 0.004 m */
    double friction;  /* against the driver; 0.4 */
    double target;    /* 1/s^2: the acceleration towards a target, for every metre from it; 400 */
} exi_cloth_def;

exi_cloth_def exi_cloth_def_default(void);

typedef struct exi_cloth exi_cloth;

/* Copies what it needs. Results: ARGUMENT, DATA (a face that is no triangle, or has no area, named), MEMORY. */
ex_result exi_cloth_create(const exi_cloth_def *def, exi_cloth **cloth, ex_error *error);
void exi_cloth_destroy(exi_cloth *cloth);

/*
 * One frame: the driver moves to driver [its vertices][3]. targets [vertices of cloth][3], or NULL: what this frame
 * draws the cloth to. Cannot fail.
 */
void exi_cloth_step(exi_cloth *cloth, const double *driver, const double *targets);

/* [vertices][3], the cloth's own. */
const double *exi_cloth_positions(const exi_cloth *cloth);

#endif
