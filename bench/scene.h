/* bench/scene.h - rigs for measurements: one layer of the usual size, with pseudo-random forms. */
#ifndef EXEMPLAR_BENCH_SCENE_H
#define EXEMPLAR_BENCH_SCENE_H

#include <exemplar/rig_inspect.h>

typedef struct exi_scene {
    const char *name;
    int axis_count, example_count, pseudo_count, vertex_count;
    ex_axis axes[4];
    double points[8 * 4], at[6 * 4], from[6 * 4]; /* [example_count or pseudo_count][axis_count] */
    ex_pseudo pseudos[6];
    ex_weigher_def weigh; /* points into the scene, so do not copy a scene */
} exi_scene;

/* Size of the paper's arm: 8 examples and 6 pseudo-examples in 4 axes, 1335 vertices. */
void exi_scene_arm(exi_scene *scene);
/* Size of the demo blob: 5 examples and 2 pseudo-examples in 2 axes, 642 vertices. */
void exi_scene_blob(exi_scene *scene);

/* A rig with that space and pseudo-random forms; NULL if out of memory. */
ex_rig *exi_scene_rig(const exi_scene *scene);

#endif
