/*
 * The demo `face` (Shape by Example, 6.3 and figure 10): eight heads over age, gender and build, each the generic head
 * plus a linear combination of metrics, and eight skins over separate axes, so that form and texture may come from
 * different points. A blink and a smile, made on the generic head, can be added to every head in between.
 */
#include "face.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void exi_face_head_offsets(const exi_face *face, int head, double *offsets) {
    memset(offsets, 0, 3 * (size_t)face->mesh->vertex_count * sizeof *offsets);
    for (int m = 0; m < FACE_SMILE; m++)
        if (exi_face_heads[head].metrics[m] != 0)
            exi_face_add_metric(face, (face_metric)m, exi_face_heads[head].metrics[m], offsets);
}

ex_result exi_face_rest_weights(double weights[FACE_HEADS], ex_error *error) {
    double points[FACE_HEADS][3];
    for (int k = 0; k < FACE_HEADS; k++)
        memcpy(points[k], exi_face_heads[k].place, sizeof points[k]);
    const ex_axis axis = ex_axis_scalar(0, 1, 0.5);
    ex_weigher_def def = ex_weigher_def_default();
    def.axes = (ex_axis[]){axis, axis, axis};
    def.axis_count = 3;
    def.points = points[0];
    def.example_count = FACE_HEADS;
    ex_weigher *weigher = NULL;
    ex_result result = ex_weigher_create(&def, NULL, &weigher, error);
    if (result == EX_OK)
        ex_weigher_evaluate(weigher, NULL, weights);
    ex_weigher_destroy(weigher);
    return result;
}

/* ---- the project ---- */

static const char start[] = "{\n"
                            "  \"exemplar\": 1,\n"
                            "  \"mesh\": \"mean.obj\",\n"
                            "  \"layers\": [\n";

static const char expressions[] = "    {\n"
                                  "      \"name\": \"expression\",\n"
                                  "      \"space\": [\n"
                                  "        {\"name\": \"blink\", \"min\": 0, \"max\": 1, \"rest\": 0},\n"
                                  "        {\"name\": \"smile\", \"min\": 0, \"max\": 1, \"rest\": 0}\n"
                                  "      ],\n"
                                  "      \"weigh\": {\"kind\": \"direct\"},\n"
                                  "      \"shape\": \"positions\",\n"
                                  "      \"examples\": [\n"
                                  "        {\"name\": \"blink\", \"mesh\": \"blink.obj\"},\n"
                                  "        {\"name\": \"smile\", \"mesh\": \"smile.obj\"}\n"
                                  "      ]\n"
                                  "    },\n";

static const char end[] = "  ],\n"
                          "  \"subdivide\": {\"scheme\": \"catmull_clark\", \"levels\": 1, \"limit\": true}\n"
                          "}\n";

/* Writes the layer of heads, or of skins: eight examples, on separate axes. */
static void write_layer(ex_file_writer *writer, bool skin) {
    static const char *const axes[3] = {"age", "gender", "build"};
    const char *of = skin ? "skin." : "";
    ex_file_printf(writer, "    {\n      \"name\": \"%s\",\n      \"space\": [\n", skin ? "skin" : "head");
    for (int a = 0; a < 3; a++)
        ex_file_printf(writer, "        {\"name\": \"%s%s\", \"min\": 0, \"max\": 1, \"rest\": 0.5}%s\n", of, axes[a],
                       a < 2 ? "," : "");
    ex_file_printf(writer,
                   "      ],\n"
                   "      \"weigh\": {\"kind\": \"cardinal\", \"kernel\": \"bspline\", \"linear\": true},\n"
                   "      \"shape\": \"%s\",\n",
                   skin ? "pixels" : "positions");
    if (skin)
        ex_file_printf(writer, "      \"texture\": \"base_color\",\n");
    ex_file_printf(writer, "      \"examples\": [\n");
    for (int k = 0; k < FACE_HEADS; k++) {
        const face_head *h = &exi_face_heads[k];
        ex_file_printf(writer, "        {\"name\": \"%s\", \"%s\": \"%s.%s\", \"at\": {", h->name,
                       skin ? "image" : "mesh", h->name, skin ? "png" : "obj");
        for (int a = 0; a < 3; a++) {
            char number[32];
            ex_format_double(number, h->place[a]);
            ex_file_printf(writer, "\"%s%s\": %s%s", of, axes[a], number, a < 2 ? ", " : "");
        }
        ex_file_printf(writer, "}}%s\n", k + 1 < FACE_HEADS ? "," : "");
    }
    ex_file_printf(writer, "      ]\n    }%s\n", skin ? "" : ",");
}

static ex_result write_project(const char *path, ex_error *error) {
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, start, strlen(start));
    write_layer(&writer, false);
    ex_file_write(&writer, expressions, strlen(expressions));
    write_layer(&writer, true);
    ex_file_write(&writer, end, strlen(end));
    return ex_file_commit(&writer, error);
}

/* ---- forms and images ---- */

/* Writes base plus offsets, [vertex_count][3] each, as NAME.obj. */
static ex_result write_form(const char *directory, const char *name, const double *base, const double *offsets,
                            ex_mesh *form, ex_error *error) {
    char file[32];
    snprintf(file, sizeof file, "%s.obj", name);
    for (int i = 0; i < 3 * form->vertex_count; i++)
        form->positions[i] = floor((base[i] + offsets[i]) * 1e6 + 0.5) / 1e6; /* to a micrometre: shorter files */
    return exi_demo_write_mesh(directory, file, form, error);
}

/* The mean is the heads' blend in the middle of the space. So the layer of heads adds nothing at rest, and blink.obj
 * and smile.obj, the mean with an expression, are the forms that the rig shows there. offsets and mean are scratch
 * arrays of [vertex_count][3]. */
static ex_result write_heads(const char *directory, const exi_face *face, double *offsets, double *mean, ex_mesh *form,
                             ex_error *error) {
    const size_t count = 3 * (size_t)face->mesh->vertex_count;
    double weights[FACE_HEADS];
    ex_result result = exi_face_rest_weights(weights, error);
    memcpy(mean, face->mesh->positions, count * sizeof *mean);
    for (int k = 0; result == EX_OK && k < FACE_HEADS; k++) {
        exi_face_head_offsets(face, k, offsets);
        for (size_t i = 0; i < count; i++)
            mean[i] += weights[k] * offsets[i];
        result = write_form(directory, exi_face_heads[k].name, face->mesh->positions, offsets, form, error);
    }
    if (result == EX_OK)
        result = write_form(directory, "blink", mean, face->blink, form, error);
    memset(offsets, 0, count * sizeof *offsets);
    if (result == EX_OK)
        result = write_form(directory, "mean", mean, offsets, form, error);
    exi_face_add_metric(face, FACE_SMILE, 1, offsets);
    if (result == EX_OK)
        result = write_form(directory, "smile", mean, offsets, form, error);
    return result;
}

static ex_result write_forms(const char *directory, const exi_face *face, ex_error *error) {
    const size_t size = 3 * (size_t)face->mesh->vertex_count * sizeof(double);
    double *offsets = malloc(size), *mean = malloc(size);
    ex_mesh *form = ex_mesh_copy(face->mesh);
    ex_result result = offsets && mean && form ? write_heads(directory, face, offsets, mean, form, error)
                                               : ex_error_memory(error, "a head", size);
    ex_mesh_destroy(form);
    free(mean);
    free(offsets);
    return result;
}

static ex_result write_skins(const char *directory, const exi_face *face, ex_error *error) {
    exi_face_canvas *canvas = exi_face_canvas_create(face);
    ex_image *image = ex_image_create(FACE_TEXELS, FACE_TEXELS);
    ex_result result = canvas && image ? EX_OK : ex_error_memory(error, "a texture", 0);
    for (int k = 0; result == EX_OK && k < FACE_HEADS; k++) {
        char file[32];
        snprintf(file, sizeof file, "%s.png", exi_face_heads[k].name);
        exi_face_canvas_paint(canvas, &exi_face_heads[k].style, image->pixels);
        char *path = exi_demo_path(directory, file);
        result = path ? ex_image_write(path, image, error) : ex_error_memory(error, "a path", 0);
        free(path);
    }
    ex_image_destroy(image);
    exi_face_canvas_destroy(canvas);
    return result;
}

ex_result exi_demo_face(const char *directory, ex_error *error) {
    exi_face *face = exi_face_create();
    char *path = exi_demo_path(directory, "face.json");
    ex_result result = face && path ? EX_OK : ex_error_memory(error, "the face", 0);
    if (result == EX_OK)
        result = write_forms(directory, face, error);
    if (result == EX_OK)
        result = write_skins(directory, face, error);
    if (result == EX_OK)
        result = write_project(path, error);
    free(path);
    exi_face_destroy(face);
    return result;
}
