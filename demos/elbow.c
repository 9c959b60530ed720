/*
 * The demo `elbow` (Pose Space Deformation, section 5 and figures 2 and 9; the load of section 5.3): a strong arm whose
 * elbow bends to 140 degrees. Blended matrices alone collapse it. Three sculpts, at 60, 100 and 140 degrees, restore
 * what is lost: the point of the elbow, the crease, the biceps. A second layer, over the elbow and a load in the hand,
 * tenses the bent arm if the load is heavy, and is held at zero (`protect`) where the first layer was sculpted.
 *
 * The sculpts are made from the straight arm with its muscles flexed. Each vertex turns about the elbow's axis by a
 * fraction of the angle, and so keeps its distance from it; the fraction goes from 0 to 1 along the arm, quickly on the
 * outer side, where the bone is under the skin, and slowly on the inner one. Flesh that would cross the plane of the
 * crease yields to it.
 */
#include "demos.h"
#include "demos/arm/arm.h"

#include <exemplar/maths.h>

#include <math.h>
#include <stdlib.h>

#define PI           3.14159265358979323846
#define GENDER       0.75
#define SPREAD_INNER 0.065 /* metres to either side of the joint over which the turn is spread */
#define SPREAD_OUTER 0.05
#define USUAL        0.045
#define CREASE       0.94 /* limit on flesh near the plane of the crease, as a fraction of the distance to it */

static const char project[] =
    "{\n"
    "  \"exemplar\": 1,\n"
    "  \"mesh\": \"straight.obj\",\n"
    "  \"skeleton\": \"skeleton.glb\",\n"
    "  \"skinning\": \"linear\",\n"
    "  \"layers\": [\n"
    "    {\n"
    "      \"name\": \"elbow\",\n"
    "      \"space\": [\n"
    "        {\"name\": \"elbow\", \"joint\": \"forearm\", \"angle\": \"z\", \"min\": 0, \"max\": 140}\n"
    "      ],\n"
    "      \"weigh\": {\"kind\": \"calm\"},\n"
    "      \"shape\": \"offsets\",\n"
    "      \"examples\": [\n"
    "        {\"name\": \"bent_60\", \"mesh\": \"bent_60.obj\", \"at\": {\"elbow\": 60}},\n"
    "        {\"name\": \"bent_100\", \"mesh\": \"bent_100.obj\", \"at\": {\"elbow\": 100}},\n"
    "        {\"name\": \"bent_140\", \"mesh\": \"bent_140.obj\", \"at\": {\"elbow\": 140}}\n"
    "      ]\n"
    "    },\n"
    "    {\n"
    "      \"name\": \"load\",\n"
    "      \"space\": [\n"
    "        {\"name\": \"elbow\", \"joint\": \"forearm\", \"angle\": \"z\", \"min\": 0, \"max\": 140},\n"
    "        {\"name\": \"load\", \"min\": 0, \"max\": 1}\n"
    "      ],\n"
    "      \"weigh\": {\"kind\": \"calm\"},\n"
    "      \"shape\": \"offsets\",\n"
    "      \"protect\": true,\n"
    "      \"examples\": [\n"
    "        {\"name\": \"heavy_60\", \"mesh\": \"heavy_60.obj\", \"at\": {\"elbow\": 60, \"load\": 1}},\n"
    "        {\"name\": \"heavy_110\", \"mesh\": \"heavy_110.obj\", \"at\": {\"elbow\": 110, \"load\": 1}},\n"
    "        {\"name\": \"heavy_140\", \"mesh\": \"heavy_140.obj\", \"at\": {\"elbow\": 140, \"load\": 1}}\n"
    "      ],\n"
    "      \"pseudo\": [\n"
    "        {\"name\": \"straight, heavy\", \"at\": {\"elbow\": 0, \"load\": 1}, \"weights\": {}}\n"
    "      ]\n"
    "    }\n"
    "  ],\n"
    "  \"subdivide\": {\"scheme\": \"catmull_clark\", \"levels\": 1, \"limit\": true}\n"
    "}\n";

/* flexed is the state of the muscles; 110 is full flexion. */
static const struct {
    const char *file;
    double degrees, flexed, load;
} forms[] = {{"straight.obj", 0, 0, 0},     {"bent_60.obj", 60, 50, 0},  {"bent_100.obj", 100, 92, 0},
             {"bent_140.obj", 140, 115, 0}, {"heavy_60.obj", 60, 60, 1}, {"heavy_110.obj", 110, 105, 1},
             {"heavy_140.obj", 140, 120, 1}};

/* 0 below -1, 1 above 1, smooth between. */
static double part_of_turn(double t) {
    t = t < -1 ? 0 : t > 1 ? 1 : (t + 1) / 2;
    return t * t * (3 - 2 * t);
}

/* Tends to `limit` and never reaches it. */
static double yielding(double height, double limit) {
    const double t = height / limit, q = t * t * t * t;
    return height <= 0 ? height : height / sqrt(sqrt(sqrt(1 + q * q)));
}

/* Height of the plane of the crease above the axis of the elbow, at `along` metres from the joint. */
static double crease_at(double along, double angle) {
    const double turn = angle * (part_of_turn(fabs(along) / SPREAD_INNER) - 0.5), near = 1e-4;
    double sine, cosine;
    if (fabs(along) < near) /* the limit, from the slope of the turn at the joint */
        return SPREAD_INNER / (0.75 * angle);
    ex_sin_cos(turn, &sine, &cosine);
    return fabs(along) * cosine / sine;
}

static void bend(double p[3], double degrees) {
    const double angle = degrees * PI / 180, along = p[0] - ARM_ELBOW, limit = CREASE * crease_at(along, angle);
    /* Displaced flesh moves to the sides and behind: as much as a limb of usual thickness loses there. */
    const double wider = 1 + 0.18 * (1 - yielding(USUAL, limit) / USUAL);
    const double height = p[1] > 0 ? yielding(p[1], limit) : p[1] * wider;
    p[2] *= wider;
    const double inner = part_of_turn(height / 0.035), spread = SPREAD_OUTER + (SPREAD_INNER - SPREAD_OUTER) * inner;
    double sine, cosine;
    ex_sin_cos(angle * part_of_turn(along / spread), &sine, &cosine);
    p[0] = ARM_ELBOW + along * cosine - height * sine;
    p[1] = along * sine + height * cosine;
}

static ex_result write_skeleton(const char *directory, const ex_mesh *mesh, ex_error *error) {
    ex_scene *scene = NULL;
    ex_result result = exi_arm_scene(mesh, &scene, error);
    if (result == EX_OK)
        result = exi_demo_write_scene(directory, "skeleton.glb", scene, error);
    ex_scene_destroy(scene);
    return result;
}

ex_result exi_demo_elbow(const char *directory, ex_error *error) {
    ex_mesh *mesh = exi_arm_mesh();
    ex_result result = mesh ? EX_OK : ex_error_memory(error, "the arm", 0);
    for (size_t i = 0; result == EX_OK && i < sizeof forms / sizeof *forms; i++) {
        exi_arm_shape_straight((exi_arm_look){GENDER, 0, forms[i].flexed, forms[i].load}, mesh->positions);
        for (int v = 0; forms[i].degrees > 0 && v < ARM_VERTICES; v++)
            bend(mesh->positions + 3 * (size_t)v, forms[i].degrees);
        exi_arm_round(mesh->positions);
        result = exi_demo_write_mesh(directory, forms[i].file, mesh, error);
        if (result == EX_OK && i == 0)
            result = write_skeleton(directory, mesh, error);
    }
    if (result == EX_OK)
        result = exi_demo_write_text(directory, "elbow.json", project, error);
    ex_mesh_destroy(mesh);
    return result;
}
