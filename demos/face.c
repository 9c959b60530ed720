/*
 * The demo `face` (Shape by Example, 6.3 and figure 10): eight heads over age, gender and build, each the generic head
 * plus a linear combination of metrics, and eight skins over axes of their own, so that form and texture may be taken
 * from different places. A blink and a smile, made on the generic head, go onto every head between.
 */
#include "face.h"

#include "author/formats/file.h"
#include "runtime/base/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A head: its place (age from about 20 to 80 years, gender from female to male, build from thin to heavy), its metrics
 * in their order, and its skin. */
typedef struct face_head {
    const char *name, *place[3]; /* the place as the project file has it */
    double metrics[FACE_SMILE];
    face_style style;
} face_head;

static const face_head heads[FACE_HEADS] = {
    {"ada",
     {"0.05", "0.05", "0.08"},
     {[FACE_HEAD_WIDTH] = -0.5, [FACE_FACE_LENGTH] = -0.2, [FACE_FOREHEAD] = 0.5, [FACE_BROW] = -0.9,
      [FACE_EYE_SIZE] = 1.0, [FACE_CHEEK_BONES] = 0.6, [FACE_CHEEKS] = -0.5, [FACE_NOSE_LENGTH] = -0.8,
      [FACE_NOSE_WIDTH] = -0.9, [FACE_NOSE_BRIDGE] = -0.5, [FACE_NOSE_TIP] = 0.8, [FACE_LIPS] = 0.7,
      [FACE_MOUTH_WIDTH] = -0.5, [FACE_JAW_WIDTH] = -0.8, [FACE_CHIN] = 0.6, [FACE_NECK] = -1.0,
      [FACE_EARS_SIZE] = -0.6, [FACE_HAIR_TOP] = 1.1, [FACE_HAIR_BACK] = 0.9},
     {{0.93, 0.76, 0.66}, {0.80, 0.42, 0.42}, {0.42, 0.24, 0.12}, {0.36, 0.22, 0.13}, {0.30, 0.46, 0.34},
      2.0, 1.2, 2, 7, 0, 0.7, 0.5, 0, 0, 0, 0, 0.5}},
    {"bea",
     {"0.12", "0", "0.94"},
     {[FACE_HEAD_WIDTH] = 0.4, [FACE_FACE_LENGTH] = -0.4, [FACE_BROW] = -0.8, [FACE_EYE_SPACING] = 0.5,
      [FACE_EYE_SIZE] = 0.6, [FACE_CHEEK_BONES] = 0.3, [FACE_CHEEKS] = 1.8, [FACE_NOSE_LENGTH] = -0.6,
      [FACE_NOSE_WIDTH] = 0.6, [FACE_NOSE_BRIDGE] = -0.8, [FACE_NOSE_TIP] = 0.4, [FACE_LIPS] = 1.5,
      [FACE_JAW_WIDTH] = 0.2, [FACE_CHIN] = 0.0, [FACE_DOUBLE_CHIN] = 1.0, [FACE_NECK] = 1.2,
      [FACE_EARS_SIZE] = -0.4, [FACE_HAIR_TOP] = 1.5, [FACE_HAIR_BACK] = 1.1},
     {{0.52, 0.345, 0.255}, {0.50, 0.245, 0.235}, {0.13, 0.1, 0.09}, {0.09, 0.06, 0.05}, {0.22, 0.125, 0.065},
      2.2, 0.8, -3, 0, 0, 0.3, 0, 0, 0, 0, 0, 0.7}},
    {"carl",
     {"0", "0.95", "0.05"},
     {[FACE_HEAD_WIDTH] = -0.4, [FACE_FACE_LENGTH] = 0.9, [FACE_HEAD_LENGTH] = 0.4, [FACE_BROW] = 0.4,
      [FACE_CHEEK_BONES] = 0.5, [FACE_CHEEKS] = -0.9, [FACE_NOSE_LENGTH] = 0.5, [FACE_NOSE_WIDTH] = -0.4,
      [FACE_NOSE_BRIDGE] = 0.5, [FACE_LIPS] = -0.2, [FACE_MOUTH_WIDTH] = 0.3, [FACE_JAW_WIDTH] = 0.3,
      [FACE_CHIN] = 0.9, [FACE_NECK] = -0.3, [FACE_EARS_SIZE] = 0.5, [FACE_HAIR_TOP] = 1.3},
     {{0.90, 0.72, 0.60}, {0.74, 0.47, 0.42}, {0.55, 0.37, 0.18}, {0.44, 0.29, 0.15}, {0.28, 0.42, 0.58},
      2.5, -0.5, 0, -6, 0, 0.5, 0.25, 0.35, 0, 0, 0, 0}},
    {"dov",
     {"0.16", "1", "0.88"},
     {[FACE_HEAD_WIDTH] = 0.6, [FACE_FACE_LENGTH] = 0.3, [FACE_BROW] = 1.0, [FACE_EYE_SIZE] = -0.4,
      [FACE_CHEEKS] = 1.1, [FACE_NOSE_LENGTH] = 0.5, [FACE_NOSE_WIDTH] = 0.9, [FACE_NOSE_BRIDGE] = 0.6,
      [FACE_LIPS] = 0.3, [FACE_MOUTH_WIDTH] = 0.7, [FACE_JAW_WIDTH] = 1.5, [FACE_CHIN] = 0.4,
      [FACE_DOUBLE_CHIN] = 0.6, [FACE_NECK] = 1.8, [FACE_EARS_SIZE] = 0.3, [FACE_HAIR_TOP] = 0.6},
     {{0.80, 0.60, 0.46}, {0.66, 0.40, 0.35}, {0.16, 0.125, 0.105}, {0.11, 0.075, 0.06}, {0.27, 0.16, 0.08},
      3.3, -0.8, 3, 0, 0, 0.3, 0, 0.5, 0.75, 0.1, 0, 0}},
    {"edith",
     {"0.96", "0.08", "0.04"},
     {[FACE_HEAD_WIDTH] = -0.6, [FACE_FACE_LENGTH] = 0.1, [FACE_FOREHEAD] = 0.3, [FACE_BROW] = -0.5,
      [FACE_CHEEK_BONES] = 1.1, [FACE_CHEEKS] = -1.2, [FACE_NOSE_LENGTH] = 0.5, [FACE_NOSE_WIDTH] = -0.5,
      [FACE_NOSE_BRIDGE] = 0.7, [FACE_NOSE_TIP] = -0.4, [FACE_LIPS] = -0.9, [FACE_JAW_WIDTH] = -0.7,
      [FACE_CHIN] = 0.8, [FACE_NECK] = -1.0, [FACE_SAG] = 0.8, [FACE_FOLDS] = 1.0, [FACE_EARS_SIZE] = 0.7,
      [FACE_HAIR_TOP] = 1.4, [FACE_HAIR_BACK] = 0.6},
     {{0.90, 0.74, 0.65}, {0.70, 0.44, 0.42}, {0.7, 0.69, 0.67}, {0.58, 0.54, 0.50}, {0.36, 0.48, 0.55},
      1.6, 0.8, 3, 4, 0, 0.5, 0, 0, 0, 0.95, 0.5, 0.2}},
    {"fern",
     {"0.86", "0", "1"},
     {[FACE_CHIN] = 0.0, [FACE_HEAD_WIDTH] = 0.5, [FACE_FACE_LENGTH] = -0.3, [FACE_BROW] = -0.5, [FACE_EYE_SIZE] = -0.3,
      [FACE_CHEEKS] = 1.8, [FACE_NOSE_LENGTH] = 0.1, [FACE_NOSE_WIDTH] = 0.5, [FACE_LIPS] = -0.3,
      [FACE_JAW_WIDTH] = 0.5, [FACE_DOUBLE_CHIN] = 1.4, [FACE_NECK] = 1.4, [FACE_SAG] = 0.8, [FACE_FOLDS] = 0.6,
      [FACE_EARS_SIZE] = 0.5, [FACE_HAIR_TOP] = 1.7, [FACE_HAIR_BACK] = 1.1},
     {{0.85, 0.66, 0.53}, {0.72, 0.36, 0.36}, {0.47, 0.43, 0.4}, {0.34, 0.28, 0.24}, {0.30, 0.20, 0.12},
      1.9, 1.0, 0, -4, 0, 0.9, 0, 0, 0, 0.65, 0.4, 0.3}},
    {"gus",
     {"0.92", "0.92", "0.12"},
     {[FACE_HEAD_WIDTH] = -0.3, [FACE_HEAD_LENGTH] = 0.5, [FACE_FACE_LENGTH] = 0.9, [FACE_FOREHEAD] = 0.4,
      [FACE_BROW] = 0.9, [FACE_EYE_SPACING] = -0.5, [FACE_CHEEK_BONES] = 0.8, [FACE_CHEEKS] = -1.1,
      [FACE_NOSE_LENGTH] = 1.2, [FACE_NOSE_WIDTH] = 0.3, [FACE_NOSE_BRIDGE] = 1.2, [FACE_NOSE_TIP] = -0.5,
      [FACE_LIPS] = -0.9, [FACE_MOUTH_WIDTH] = 0.3, [FACE_JAW_WIDTH] = 0.2, [FACE_CHIN] = 0.9, [FACE_NECK] = -0.2,
      [FACE_SAG] = 0.8, [FACE_FOLDS] = 1.1, [FACE_EARS_SIZE] = 1.5, [FACE_HAIR_TOP] = 0.3},
     {{0.47, 0.315, 0.235}, {0.42, 0.25, 0.22}, {0.55, 0.54, 0.52}, {0.55, 0.53, 0.51}, {0.20, 0.12, 0.07},
      2.6, -0.3, 9, 0, 0.5, 0.2, 0, 0.25, 0.35, 0.9, 0.2, 0}},
    {"hal",
     {"1", "1", "0.93"},
     {[FACE_HEAD_WIDTH] = 0.7, [FACE_FACE_LENGTH] = 0.4, [FACE_BROW] = 0.9, [FACE_EYE_SIZE] = -0.6,
      [FACE_CHEEKS] = 1.5, [FACE_NOSE_LENGTH] = 0.9, [FACE_NOSE_WIDTH] = 1.3, [FACE_LIPS] = -0.4,
      [FACE_MOUTH_WIDTH] = 0.5, [FACE_JAW_WIDTH] = 1.3, [FACE_CHIN] = 0.0, [FACE_DOUBLE_CHIN] = 1.6,
      [FACE_NECK] = 1.8, [FACE_SAG] = 1.1, [FACE_FOLDS] = 1.0, [FACE_EARS_SIZE] = 1.2, [FACE_HAIR_TOP] = 0.1},
     {{0.88, 0.66, 0.56}, {0.68, 0.42, 0.38}, {0.63, 0.61, 0.58}, {0.64, 0.61, 0.57}, {0.33, 0.42, 0.50},
      3.0, -0.8, 16, 0, 0.9, 1.0, 0, 0.3, 0, 0.8, 0.6, 0}},
};

void exi_face_head_offsets(const exi_face *face, int head, double *offsets) {
    memset(offsets, 0, 3 * (size_t)face->mesh->vertex_count * sizeof *offsets);
    for (int m = 0; m < FACE_SMILE; m++)
        if (heads[head].metrics[m] != 0)
            exi_face_add_metric(face, (face_metric)m, heads[head].metrics[m], offsets);
}

/* ---- the project ---- */

static const char before_heads[] =
    "{\n"
    "  \"exemplar\": 1,\n"
    "  \"mesh\": \"mean.obj\",\n"
    "  \"layers\": [\n"
    "    {\n"
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

/* A layer of eight examples; form and texture have axes of their own. The first layer measures from the mesh alone, so
 * expressions are the first: blink.obj is then the generic head with its eyes closed. */
static void write_layer(exi_file_writer *writer, bool skin) {
    static const char *const axes[3] = {"age", "gender", "build"};
    const char *of = skin ? "skin." : "";
    exi_file_printf(writer, "    {\n      \"name\": \"%s\",\n      \"space\": [\n", skin ? "skin" : "head");
    for (int a = 0; a < 3; a++)
        exi_file_printf(writer, "        {\"name\": \"%s%s\", \"min\": 0, \"max\": 1, \"rest\": 0.5}%s\n", of, axes[a],
                        a < 2 ? "," : "");
    exi_file_printf(writer, "      ],\n"
                            "      \"weigh\": {\"kind\": \"cardinal\", \"kernel\": \"bspline\", \"linear\": true},\n"
                            "      \"shape\": \"%s\",\n",
                    skin ? "pixels" : "positions");
    if (skin)
        exi_file_printf(writer, "      \"texture\": \"base_color\",\n");
    exi_file_printf(writer, "      \"examples\": [\n");
    for (int k = 0; k < FACE_HEADS; k++) {
        const face_head *h = &heads[k];
        exi_file_printf(writer, "        {\"name\": \"%s\", \"%s\": \"%s.%s\", \"at\": {", h->name,
                        skin ? "image" : "mesh", h->name, skin ? "png" : "obj");
        for (int a = 0; a < 3; a++)
            exi_file_printf(writer, "\"%s%s\": %s%s", of, axes[a], h->place[a], a < 2 ? ", " : "");
        exi_file_printf(writer, "}}%s\n", k + 1 < FACE_HEADS ? "," : "");
    }
    exi_file_printf(writer, "      ]\n    }%s\n", skin ? "" : ",");
}

static ex_result write_project(const char *path, ex_error *error) {
    exi_file_writer writer;
    ex_result result = exi_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    exi_file_write(&writer, before_heads, sizeof before_heads - 1);
    write_layer(&writer, false);
    write_layer(&writer, true);
    exi_file_printf(&writer, "  ],\n"
                             "  \"subdivide\": {\"scheme\": \"catmull_clark\", \"levels\": 1, \"limit\": true}\n"
                             "}\n");
    return exi_file_commit(&writer, error);
}

/* ---- forms and images ---- */

/* Writes the generic head with offsets [vertex_count][3] on it as NAME.obj. */
static ex_result write_form(const char *directory, const char *name, const exi_face *face, const double *offsets,
                            ex_mesh *form, ex_error *error) {
    char file[32];
    snprintf(file, sizeof file, "%s.obj", name);
    for (int i = 0; i < 3 * face->mesh->vertex_count; i++) {
        /* To a hundredth of a millimetre: files half as long. */
        double x = face->mesh->positions[i] + offsets[i];
        form->positions[i] = floor(x * 1e5 + 0.5) / 1e5;
    }
    return exi_demo_write_mesh(directory, file, form, error);
}

static ex_result write_forms(const char *directory, const exi_face *face, ex_error *error) {
    const size_t size = 3 * (size_t)face->mesh->vertex_count * sizeof(double);
    double *offsets = calloc(1, size);
    ex_mesh *form = ex_mesh_copy(face->mesh);
    ex_result result = offsets && form ? EX_OK : exi_error_memory(error, "a head", size);
    if (result == EX_OK)
        result = write_form(directory, "mean", face, offsets, form, error);
    if (result == EX_OK)
        result = write_form(directory, "blink", face, face->blink, form, error);
    if (result == EX_OK) {
        exi_face_add_metric(face, FACE_SMILE, 1, offsets);
        result = write_form(directory, "smile", face, offsets, form, error);
    }
    for (int k = 0; result == EX_OK && k < FACE_HEADS; k++) {
        exi_face_head_offsets(face, k, offsets);
        result = write_form(directory, heads[k].name, face, offsets, form, error);
    }
    ex_mesh_destroy(form);
    free(offsets);
    return result;
}

static ex_result write_skins(const char *directory, const exi_face *face, ex_error *error) {
    exi_face_canvas *canvas = exi_face_canvas_create(face);
    ex_image *image = ex_image_create(FACE_TEXELS, FACE_TEXELS);
    ex_result result = canvas && image ? EX_OK : exi_error_memory(error, "a texture", 0);
    for (int k = 0; result == EX_OK && k < FACE_HEADS; k++) {
        char file[32];
        snprintf(file, sizeof file, "%s.png", heads[k].name);
        exi_face_canvas_paint(canvas, &heads[k].style, image->pixels);
        char *path = exi_demo_path(directory, file);
        result = path ? ex_image_write(path, image, error) : exi_error_memory(error, "a path", 0);
        free(path);
    }
    ex_image_destroy(image);
    exi_face_canvas_destroy(canvas);
    return result;
}

ex_result exi_demo_face(const char *directory, ex_error *error) {
    exi_face *face = exi_face_create();
    char *path = exi_demo_path(directory, "face.json");
    ex_result result = face && path ? EX_OK : exi_error_memory(error, "the face", 0);
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
