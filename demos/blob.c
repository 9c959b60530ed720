/*
 * The demo `blob` (Shape by Example, figures 4 and 5): five forms of 642 vertices over bend and thickness. Bent forms
 * are thin and the thick form is straight and short, so at the upper corners, bent and thick, the blend shortens the
 * inner side of a bend that is already short, and the surface folds through itself. Two pseudo-examples there, taken
 * from less bent points that are sound, fix it without a new form.
 */
#include "demos.h"

#include <exemplar/maths.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Stretches the sphere along y to a body of the given half length (metres) and radius at its middle, thinner towards
 * its ends by `waist`, then bends it in the x-y plane by `degrees` from end to end about its middle. */
static void shape_blob(const ex_mesh *sphere, double half_length, double radius, double waist, double degrees,
                       ex_mesh *blob) {
    const double angle = degrees * 3.14159265358979323846 / 180.0;
    for (int v = 0; v < sphere->vertex_count; v++) {
        const double *p = sphere->positions + 3 * (size_t)v;
        double s = p[1], r = radius * (1 - waist * s * s);
        double x = r * p[0], y = half_length * s, z = r * p[2];
        double *out = blob->positions + 3 * (size_t)v;
        out[2] = z;
        if (fabs(angle) < 1e-9) {
            out[0] = x;
            out[1] = y;
            continue;
        }
        /* The centre line becomes an arc; x is measured across it. */
        double turn = s * angle / 2, arc = 2 * half_length / angle;
        double sine, cosine;
        ex_sin_cos(turn, &sine, &cosine);
        out[0] = arc - (arc - x) * cosine;
        out[1] = (arc - x) * sine;
    }
}

static const char project[] =
    "{\n"
    "  \"exemplar\": 1,\n"
    "  \"mesh\": \"thin.obj\",\n"
    "  \"subdivide\": {\"scheme\": \"loop\", \"levels\": 1, \"limit\": true},\n"
    "  \"layers\": [\n"
    "    {\n"
    "      \"name\": \"blob\",\n"
    "      \"space\": [\n"
    "        {\"name\": \"bend\", \"min\": -1, \"max\": 1, \"rest\": 0},\n"
    "        {\"name\": \"thickness\", \"min\": 0, \"max\": 1, \"rest\": 0}\n"
    "      ],\n"
    "      \"weigh\": {\"kind\": \"cardinal\", \"kernel\": \"bspline\", \"linear\": true},\n"
    "      \"shape\": \"positions\",\n"
    "      \"examples\": [\n"
    "        {\"name\": \"thin\", \"mesh\": \"thin.obj\", \"at\": {\"bend\": 0, \"thickness\": 0}},\n"
    "        {\"name\": \"left\", \"mesh\": \"left.obj\", \"at\": {\"bend\": -1, \"thickness\": 0}},\n"
    "        {\"name\": \"right\", \"mesh\": \"right.obj\", \"at\": {\"bend\": 1, \"thickness\": 0}},\n"
    "        {\"name\": \"barrel\", \"mesh\": \"barrel.obj\", \"at\": {\"bend\": 0, \"thickness\": 0.5}},\n"
    "        {\"name\": \"thick\", \"mesh\": \"thick.obj\", \"at\": {\"bend\": 0, \"thickness\": 1}}\n"
    "      ],\n"
    "      \"pseudo\": [\n"
    "        {\"from\": {\"bend\": -0.65, \"thickness\": 0.75}, \"at\": {\"bend\": -1, \"thickness\": 1}},\n"
    "        {\"from\": {\"bend\": 0.65, \"thickness\": 0.75}, \"at\": {\"bend\": 1, \"thickness\": 1}}\n"
    "      ]\n"
    "    }\n"
    "  ]\n"
    "}\n";

ex_result exi_demo_blob(const char *directory, ex_error *error) {
    static const struct {
        const char *file;
        double half_length, radius, waist, degrees;
    } forms[] = {{"thin.obj", 1, 0.35, 0, 0},
                 {"left.obj", 1, 0.35, 0, -180},
                 {"right.obj", 1, 0.35, 0, 180},
                 {"barrel.obj", 0.7, 0.5, 0.35, 0},
                 {"thick.obj", 0.4, 0.75, 0, 0}};
    ex_mesh *sphere = exi_demo_sphere(3), *blob = sphere ? ex_mesh_copy(sphere) : NULL;
    ex_result result = blob ? EX_OK : ex_error_memory(error, "the blob", 0);
    for (size_t i = 0; result == EX_OK && i < sizeof forms / sizeof *forms; i++) {
        shape_blob(sphere, forms[i].half_length, forms[i].radius, forms[i].waist, forms[i].degrees, blob);
        result = exi_demo_write_mesh(directory, forms[i].file, blob, error);
    }
    if (result == EX_OK)
        result = exi_demo_write_text(directory, "blob.json", project, error);
    ex_mesh_destroy(blob);
    ex_mesh_destroy(sphere);
    return result;
}
