/*
 * The demo `twist` (Pose Space Deformation, figure 3): a forearm whose hand turns by up to half a turn about the bone.
 * Its skin spreads the turn along the forearm, where blended matrices collapse it halfway like the wrapper of a sweet.
 * At 180 degrees nothing can be un-posed there: an entire section is on one point. So the sculpts, at 60, 120 and 180
 * degrees, are kept in the skinned frame: as offsets after skinning, turned by the vertex's rotation, which is defined
 * everywhere.
 *
 * The sculpts are the straight arm with each vertex turned by its fraction of the angle.
 */
#include "bones.h"
#include "demos/arm/arm.h"

#include <exemplar/maths.h>

#include <stdlib.h>

#define PI          3.14159265358979323846
#define GENDER      0.75
#define TWIST_BEGIN 0.335
#define TWIST_END   0.555
#define ELBOW_REACH 0.03 /* keeps the elbow's weights clear of the twist */

static const char project[] =
    "{\n"
    "  \"exemplar\": 1,\n"
    "  \"mesh\": \"straight.obj\",\n"
    "  \"skeleton\": \"skeleton.glb\",\n"
    "  \"skinning\": \"linear\",\n"
    "  \"layers\": [\n"
    "    {\n"
    "      \"name\": \"twist\",\n"
    "      \"space\": [\n"
    "        {\"name\": \"twist\", \"joint\": \"hand\", \"angle\": \"x\", \"min\": 0, \"max\": 180}\n"
    "      ],\n"
    "      \"weigh\": {\"kind\": \"calm\"},\n"
    "      \"shape\": \"offsets\",\n"
    "      \"frame\": \"skinned\",\n"
    "      \"examples\": [\n"
    "        {\"name\": \"twist_60\", \"mesh\": \"twist_60.obj\", \"at\": {\"twist\": 60}},\n"
    "        {\"name\": \"twist_120\", \"mesh\": \"twist_120.obj\", \"at\": {\"twist\": 120}},\n"
    "        {\"name\": \"twist_180\", \"mesh\": \"twist_180.obj\", \"at\": {\"twist\": 180}}\n"
    "      ]\n"
    "    }\n"
    "  ],\n"
    "  \"subdivide\": {\"scheme\": \"catmull_clark\", \"levels\": 1, \"limit\": true}\n"
    "}\n";

static const struct {
    const char *file;
    double degrees;
} forms[] = {{"straight.obj", 0}, {"twist_60.obj", 60}, {"twist_120.obj", 120}, {"twist_180.obj", 180}};

static double smooth_step(double a, double b, double x) {
    double t = (x - a) / (b - a);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

static double part_of_twist(double x) {
    return smooth_step(TWIST_BEGIN, TWIST_END, x);
}

static void weigh_vertex(const double place[3], float weights[BONES_MAX]) {
    const double x = place[0];
    const float forearm = (float)smooth_step(ARM_ELBOW - ELBOW_REACH, ARM_ELBOW + ELBOW_REACH, x);
    const float hand = (float)part_of_twist(x);
    /* Below TWIST_BEGIN the hand has no weight, above it the upper arm has none. */
    weights[0] = 1 - forearm;
    weights[1] = forearm - hand;
    weights[2] = hand;
    weights[3] = 0;
}

static const exi_bone bones[ARM_JOINTS] = {
    {"shoulder", -1, {0, 0, 0}}, {"forearm", 0, {ARM_ELBOW, 0, 0}}, {"hand", 1, {ARM_WRIST, 0, 0}}};

static void twist(double p[3], double degrees) {
    double sine, cosine;
    ex_sin_cos(degrees * PI / 180 * part_of_twist(p[0]), &sine, &cosine);
    const double y = p[1], z = p[2];
    p[1] = y * cosine - z * sine;
    p[2] = y * sine + z * cosine;
}

ex_result exi_demo_twist(const char *directory, ex_error *error) {
    ex_mesh *mesh = exi_arm_mesh();
    ex_result result = mesh ? EX_OK : ex_error_memory(error, "the forearm", 0);
    for (size_t i = 0; result == EX_OK && i < sizeof forms / sizeof *forms; i++) {
        exi_arm_shape_straight((exi_arm_look){.gender = GENDER}, mesh->positions);
        for (int v = 0; forms[i].degrees > 0 && v < ARM_VERTICES; v++)
            twist(mesh->positions + 3 * (size_t)v, forms[i].degrees);
        exi_arm_round(mesh->positions);
        result = exi_demo_write_mesh(directory, forms[i].file, mesh, error);
        if (result == EX_OK && i == 0)
            result = exi_bones_write(&(exi_bones){"arm", bones, ARM_JOINTS, weigh_vertex}, mesh, directory, error);
    }
    if (result == EX_OK)
        result = exi_demo_write_text(directory, "twist.json", project, error);
    ex_mesh_destroy(mesh);
    return result;
}
