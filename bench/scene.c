/* bench/scene.c - spaces with examples at pseudo-random points and pseudo-examples taken from nearby. */
#include "bench/scene.h"

#include "bench/harness.h"

#include <stdlib.h>
#include <string.h>

static void fill(exi_scene *scene) {
    unsigned seed = 7;
    const int axes = scene->axis_count;
    for (int a = 0; a < axes; a++)
        scene->axes[a] = ex_axis_scalar(0, 1, 0);
    for (int i = 0; i < scene->example_count * axes; i++)
        scene->points[i] = exi_made_up(&seed);
    for (int i = 0; i < scene->pseudo_count * axes; i++) {
        scene->from[i] = exi_made_up(&seed);
        scene->at[i] = scene->from[i] + 0.1 * (exi_made_up(&seed) - 0.5);
    }
    for (int i = 0; i < scene->pseudo_count; i++)
        scene->pseudos[i] = (ex_pseudo){.at = scene->at + i * axes, .from = scene->from + i * axes};
    scene->weigh = ex_weigher_def_default();
    scene->weigh.axes = scene->axes;
    scene->weigh.axis_count = axes;
    scene->weigh.points = scene->points;
    scene->weigh.example_count = scene->example_count;
    scene->weigh.pseudos = scene->pseudos;
    scene->weigh.pseudo_count = scene->pseudo_count;
}

void exi_scene_arm(exi_scene *scene) {
    memset(scene, 0, sizeof *scene);
    scene->name = "arm";
    scene->axis_count = 4;
    scene->example_count = 8;
    scene->pseudo_count = 6;
    scene->vertex_count = 1335;
    fill(scene);
}

void exi_scene_blob(exi_scene *scene) {
    memset(scene, 0, sizeof *scene);
    scene->name = "blob";
    scene->axis_count = 2;
    scene->example_count = 5;
    scene->pseudo_count = 2;
    scene->vertex_count = 642;
    fill(scene);
}

/* All forms are parts of one pseudo-random list of numbers, each starting one number later. */
ex_rig *exi_scene_rig(const exi_scene *scene) {
    static const char *const axis_names[] = {"a", "b", "c", "d"};
    static const char *const example_names[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    static const uint32_t triangle[] = {0, 1, 2}, face_size[] = {3};
    const int count = 3 * scene->vertex_count + scene->example_count;
    float *numbers = malloc((size_t)count * sizeof *numbers);
    if (!numbers)
        return NULL;
    unsigned seed = 3;
    for (int i = 0; i < count; i++)
        numbers[i] = (float)exi_made_up(&seed);
    const float *deltas[8];
    for (int k = 0; k < scene->example_count; k++)
        deltas[k] = numbers + k + 1;
    ex_layer_def layer = {.name = scene->name,
                          .weigh = scene->weigh,
                          .axis_names = axis_names,
                          .example_names = example_names,
                          .form.deltas = deltas};
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = scene->vertex_count,
                             .positions = numbers,
                             .split_count = scene->vertex_count,
                             .face_count = 1,
                             .corner_count = 3,
                             .face_sizes = face_size,
                             .corners = triangle,
                             .triangle_count = 1,
                             .triangles = triangle};
    def.layers = &layer;
    def.layer_count = 1;
    ex_rig *rig = NULL;
    ex_rig_create(&def, NULL, &rig, NULL);
    free(numbers);
    return rig;
}
