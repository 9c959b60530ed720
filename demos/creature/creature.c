/*
 * The demo `creature` (trajectory warping, figures 1, 5 and 7): a four-legged animal with a long tail, standing, in a
 * leap, sitting, kicking, and with its tail curled: limbs that turn by more than a right angle, and a tail that turns
 * through most of a circle.
 */
#include "creature.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Poses of the entire animal share a layer, so that their paths are blended; the tail's has a separate layer, so that
 * it is added to every pose. */
#define PROJECT(shape)                                                                                                 \
    "{\n"                                                                                                              \
    "  \"exemplar\": 1,\n"                                                                                             \
    "  \"mesh\": \"stand.obj\",\n"                                                                                     \
    "  \"layers\": [\n"                                                                                                \
    "    {\n"                                                                                                          \
    "      \"name\": \"poses\",\n"                                                                                     \
    "      \"space\": [\n"                                                                                             \
    "        {\"name\": \"leap\", \"min\": 0, \"max\": 1},\n"                                                          \
    "        {\"name\": \"sit\", \"min\": 0, \"max\": 1},\n"                                                           \
    "        {\"name\": \"kick\", \"min\": 0, \"max\": 1}\n"                                                           \
    "      ],\n"                                                                                                       \
    "      \"weigh\": {\"kind\": \"direct\"},\n"                                                                       \
    "      \"shape\": \"" shape "\",\n"                                                                                \
    "      \"examples\": [\n"                                                                                          \
    "        {\"name\": \"leap\", \"mesh\": \"leap.obj\"},\n"                                                          \
    "        {\"name\": \"sit\", \"mesh\": \"sit.obj\"},\n"                                                            \
    "        {\"name\": \"kick\", \"mesh\": \"kick.obj\"}\n"                                                           \
    "      ]\n"                                                                                                        \
    "    },\n"                                                                                                         \
    "    {\n"                                                                                                          \
    "      \"name\": \"tail\",\n"                                                                                      \
    "      \"space\": [{\"name\": \"curl\", \"min\": 0, \"max\": 1}],\n"                                               \
    "      \"weigh\": {\"kind\": \"direct\"},\n"                                                                       \
    "      \"shape\": \"" shape "\",\n"                                                                                \
    "      \"examples\": [{\"name\": \"curl\", \"mesh\": \"curl.obj\"}]\n"                                             \
    "    }\n"                                                                                                          \
    "  ],\n"                                                                                                           \
    "  \"subdivide\": {\"scheme\": \"loop\", \"levels\": 1, \"limit\": true}\n"                                        \
    "}\n"

static const char project[] = PROJECT("trajectory");
static const char linear[] = PROJECT("positions"); /* straight lines, for comparison */

ex_result exi_creature_write(const char *directory, double spacing, ex_error *error) {
    ex_mesh *rest = exi_creature_mesh(spacing), *form = rest ? ex_mesh_copy(rest) : NULL;
    ex_skin *skin = form ? exi_creature_skin(rest) : NULL;
    ex_result result = skin ? EX_OK : ex_error_memory(error, "the creature", 0);
    if (result == EX_OK) {
        for (int i = 0; i < 3 * rest->vertex_count; i++)
            form->positions[i] = floor(rest->positions[i] * 1e5 + 0.5) / 1e5;
        result = exi_demo_write_mesh(directory, "stand.obj", form, error);
    }
    for (int pose = 0; result == EX_OK && pose < CREATURE_POSES; pose++) {
        char file[32];
        snprintf(file, sizeof file, "%s.obj", exi_creature_pose_names[pose]);
        result = exi_creature_posed(rest, skin, (exi_creature_pose)pose, form->positions, error);
        if (result == EX_OK)
            result = exi_demo_write_mesh(directory, file, form, error);
    }
    if (result == EX_OK)
        result = exi_demo_write_text(directory, "creature.json", project, error);
    if (result == EX_OK)
        result = exi_demo_write_text(directory, "creature_linear.json", linear, error);
    ex_skin_destroy(skin);
    ex_mesh_destroy(form);
    ex_mesh_destroy(rest);
    return result;
}

ex_result exi_demo_creature(const char *directory, ex_error *error) {
    return exi_creature_write(directory, CREATURE_SPACING, error);
}
