/*
 * The demo `arm` (Shape by Example, sections 5 and 6.2, figures 6 to 9): eight forms of 1335 vertices, straight, with
 * the shoulder up, down, and with the elbow bent, of a woman and of a man, sculpted at their poses. Un-posing, blending
 * and skinning give the forms between, and beyond: more bent, more muscular. The wrist turns and has no example.
 *
 * The correction that un-posing adds for the shrinking of blended matrices grows faster than the angle: 1 / cos(angle /
 * 2) - 1, in the middle of the joint. With linear blending, a half-bent elbow would get half of what 110 degrees need,
 * and bulge. Six pseudo-examples give it less: half-bent at all three positions of the shoulder, of both genders. Radii
 * of twice the distance to the nearest point extend their effect to the arms between the genders.
 */
#include "arm.h"
#include "demos/demos.h"

#include <stdlib.h>

static const char project[] =
    "{\n"
    "  \"exemplar\": 1,\n"
    "  \"mesh\": \"straight_female.obj\",\n"
    "  \"skeleton\": \"skeleton.glb\",\n"
    "  \"skinning\": \"linear\",\n"
    "  \"layers\": [\n"
    "    {\n"
    "      \"name\": \"arm\",\n"
    "      \"space\": [\n"
    "        {\"name\": \"shoulder\", \"joint\": \"shoulder\", \"angle\": \"z\", \"min\": -60, \"max\": 60, \"rest\": "
    "0},\n"
    "        {\"name\": \"elbow\", \"joint\": \"forearm\", \"angle\": \"z\", \"min\": 0, \"max\": 140, \"rest\": 0},\n"
    "        {\"name\": \"wrist\", \"joint\": \"hand\", \"angle\": \"z\", \"min\": -60, \"max\": 60, \"rest\": 0},\n"
    "        {\"name\": \"gender\", \"min\": 0, \"max\": 1, \"rest\": 0}\n"
    "      ],\n"
    "      \"weigh\": {\"kind\": \"cardinal\", \"kernel\": \"bspline\", \"linear\": true, \"radius\": 2},\n"
    "      \"shape\": \"unposed\",\n"
    "      \"examples\": [\n"
    "        {\"name\": \"straight_female\", \"mesh\": \"straight_female.obj\", \"at\": {\"gender\": 0}},\n"
    "        {\"name\": \"up_female\", \"mesh\": \"up_female.obj\", \"at\": {\"shoulder\": 60, \"gender\": 0}},\n"
    "        {\"name\": \"down_female\", \"mesh\": \"down_female.obj\", \"at\": {\"shoulder\": -60, \"gender\": 0}},\n"
    "        {\"name\": \"bent_female\", \"mesh\": \"bent_female.obj\", \"at\": {\"elbow\": 110, \"gender\": 0}},\n"
    "        {\"name\": \"straight_male\", \"mesh\": \"straight_male.obj\", \"at\": {\"gender\": 1}},\n"
    "        {\"name\": \"up_male\", \"mesh\": \"up_male.obj\", \"at\": {\"shoulder\": 60, \"gender\": 1}},\n"
    "        {\"name\": \"down_male\", \"mesh\": \"down_male.obj\", \"at\": {\"shoulder\": -60, \"gender\": 1}},\n"
    "        {\"name\": \"bent_male\", \"mesh\": \"bent_male.obj\", \"at\": {\"elbow\": 110, \"gender\": 1}}\n"
    "      ],\n"
    "      \"pseudo\": [\n"
    "        {\"from\": {\"elbow\": 25, \"gender\": 0}, \"at\": {\"elbow\": 55, \"gender\": 0}},\n"
    "        {\"from\": {\"shoulder\": 60, \"elbow\": 65, \"gender\": 0}, \"at\": {\"shoulder\": 60, \"elbow\": 85, "
    "\"gender\": 0}},\n"
    "        {\"from\": {\"shoulder\": -60, \"elbow\": 65, \"gender\": 0}, \"at\": {\"shoulder\": -60, \"elbow\": 85, "
    "\"gender\": 0}},\n"
    "        {\"from\": {\"elbow\": 25, \"gender\": 1}, \"at\": {\"elbow\": 55, \"gender\": 1}},\n"
    "        {\"from\": {\"shoulder\": 60, \"elbow\": 65, \"gender\": 1}, \"at\": {\"shoulder\": 60, \"elbow\": 85, "
    "\"gender\": 1}},\n"
    "        {\"from\": {\"shoulder\": -60, \"elbow\": 65, \"gender\": 1}, \"at\": {\"shoulder\": -60, \"elbow\": 85, "
    "\"gender\": 1}}\n"
    "      ]\n"
    "    }\n"
    "  ]\n"
    "}\n";

static const struct {
    const char *file;
    exi_arm_look look;
} forms[] = {{"straight_female.obj", {0, 0, 0, 0}}, {"up_female.obj", {0, 60, 0, 0}},
             {"down_female.obj", {0, -60, 0, 0}},   {"bent_female.obj", {0, 0, 110, 0}},
             {"straight_male.obj", {1, 0, 0, 0}},   {"up_male.obj", {1, 60, 0, 0}},
             {"down_male.obj", {1, -60, 0, 0}},     {"bent_male.obj", {1, 0, 110, 0}}};

static ex_result write_skeleton(const char *directory, ex_mesh *mesh, ex_error *error) {
    ex_scene *scene = NULL;
    exi_arm_shape(forms[0].look, mesh->positions);
    ex_result result = exi_arm_scene(mesh, &scene, error);
    if (result == EX_OK)
        result = exi_demo_write_scene(directory, "skeleton.glb", scene, error);
    ex_scene_destroy(scene);
    return result;
}

ex_result exi_demo_arm(const char *directory, ex_error *error) {
    ex_mesh *mesh = exi_arm_mesh();
    ex_result result = mesh ? EX_OK : ex_error_memory(error, "the arm", 0);
    for (size_t i = 0; result == EX_OK && i < sizeof forms / sizeof *forms; i++) {
        exi_arm_shape(forms[i].look, mesh->positions);
        result = exi_demo_write_mesh(directory, forms[i].file, mesh, error);
    }
    if (result == EX_OK)
        result = write_skeleton(directory, mesh, error);
    if (result == EX_OK)
        result = exi_demo_write_text(directory, "arm.json", project, error);
    ex_mesh_destroy(mesh);
    return result;
}
