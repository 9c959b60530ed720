/*
 * The demo `emotion` (Pose Space Deformation, section 4 and figures 6 and 7): one face over two axes, happiness and
 * arousal, with expressions at their points. A half-smile is between neutral and smiling: making the face happier
 * passes through it, whereas with one slider per expression it would have to be raised and lowered again.
 *
 * Expressions are sums of soft strokes on the generic head, like those of face_metric.c; the blink moves the lids, in
 * the other direction for wide open eyes. Eyeballs stay. The skin flushes with arousal.
 */
#include "demos/face/face.h"

#include <exemplar/author/files.h>
#include <exemplar/maths.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 0 }; /* the head used for the face */

typedef enum act {
    MOUTH_UP,
    CHEEKS_UP,
    MOUTH_DOWN,
    MOUTH_NARROW,
    LIPS_TIGHT,
    BROWS_UP,
    BROWS_DOWN,
    BROWS_SAD,
    LIDS, /* from 0, open, to 1, closed; below 0, wide open */
    ACTS
} act;

/* Around a place of the left half, and its mirror image, within about `width` along each axis, skin moves by `move` and
 * by `out` along its normal. Millimetres. */
typedef struct stroke {
    act of;
    point at, width, move;
    double out;
} stroke;

static const stroke strokes[] = {
    {MOUTH_UP, {26, -68, 80}, {12, 10, 20}, {5.2, 6.4, -3.0}, 0},
    {MOUTH_UP, {13, -68, 90}, {12, 10, 20}, {1.8, 1.2, -1.0}, 0},
    {CHEEKS_UP, {40, -34, 66}, {15, 13, 20}, {1.0, 2.6, 0}, 3.4},
    {CHEEKS_UP, {27, -48, 82}, {5.5, 10, 12}, {0, 0, 0}, -1.5},
    {CHEEKS_UP, {14, -39, 94}, {8, 8, 12}, {1.1, 0.9, 0}, 0},
    {MOUTH_DOWN, {25, -70, 80}, {11, 9, 20}, {0.6, -5.6, 0.4}, 0},
    {MOUTH_DOWN, {12, -72, 90}, {10, 8, 18}, {0, 1.0, 0.6}, 0},
    {MOUTH_DOWN, {0, -92, 84}, {20, 10, 20}, {0, 2.0, 0}, 1.6},
    {MOUTH_NARROW, {24, -68, 80}, {12, 11, 20}, {-4.2, 0, 2.0}, 0},
    {MOUTH_NARROW, {0, -68, 92}, {16, 11, 18}, {0, 0, 2.0}, 0},
    {LIPS_TIGHT, {0, -62, 93}, {18, 4.5, 14}, {0, -0.9, -1.0}, 0},
    {LIPS_TIGHT, {0, -74, 92}, {17, 5, 14}, {0, 1.1, -1.0}, 0},
    {BROWS_UP, {18, 25, 82}, {18, 12, 20}, {0, 5.0, 0}, 0},
    {BROWS_UP, {40, 25, 70}, {16, 12, 20}, {0, 4.6, 0}, 0},
    {BROWS_UP, {14, 52, 76}, {30, 12, 30}, {0, 1.4, 0}, 0.9},
    {BROWS_DOWN, {12, 22, 88}, {11, 9, 16}, {-2.4, -4.6, 1.4}, 0},
    {BROWS_DOWN, {34, 24, 76}, {15, 9, 18}, {-1.0, -2.0, 0.6}, 0},
    {BROWS_DOWN, {0, 18, 92}, {6, 9, 14}, {0, -1.0, 1.0}, 0},
    {BROWS_SAD, {11, 24, 88}, {11, 10, 16}, {-1.8, 4.6, 0.8}, 0},
    {BROWS_SAD, {42, 22, 70}, {15, 9, 18}, {0, -2.4, 0}, 0},
};
enum { STROKES = sizeof strokes / sizeof *strokes };

/* An expression and its point; acts on the left, with the amount by which the mouth does more there than on the
 * right. */
typedef struct expression {
    const char *name;
    double happiness, arousal, acts[ACTS], askew;
} expression;

static const expression expressions[] = {
    {"half_smile", 0.5, 0, {[MOUTH_UP] = 0.5, [CHEEKS_UP] = 0.08}, 0.14},
    {"smile", 1, 0, {[MOUTH_UP] = 1.05, [CHEEKS_UP] = 1, [LIDS] = 0.16}, 0},
    {"delighted", 0.7, 0.7, {[MOUTH_UP] = 1.35, [CHEEKS_UP] = 1.15, [BROWS_UP] = 1, [LIDS] = -0.12}, 0},
    {"surprised", 0, 1, {[MOUTH_NARROW] = 1, [BROWS_UP] = 1.5, [LIDS] = -0.3}, 0},
    {"angry", -0.7, 0.7, {[MOUTH_DOWN] = 0.6, [LIPS_TIGHT] = 0.7, [BROWS_DOWN] = 1.4, [LIDS] = 0.08}, 0},
    {"frown", -1, 0, {[MOUTH_DOWN] = 1.15, [BROWS_SAD] = 0.8, [BROWS_DOWN] = 0.2, [LIDS] = 0.1}, 0},
    {"gloomy", -0.7, -0.7, {[MOUTH_DOWN] = 0.8, [BROWS_SAD] = 1.2, [LIDS] = 0.45}, 0},
    {"asleep", 0, -1, {[LIDS] = 1, [BROWS_UP] = 0.15}, 0},
    {"content", 0.7, -0.7, {[MOUTH_UP] = 0.6, [CHEEKS_UP] = 0.35, [LIDS] = 0.55}, 0},
};
enum { EXPRESSIONS = sizeof expressions / sizeof *expressions };

/* ---- strokes ---- */

static double weight(point p, const stroke *s) {
    const double x = (p.x - s->at.x) / s->width.x, y = (p.y - s->at.y) / s->width.y, z = (p.z - s->at.z) / s->width.z;
    return ex_exp(-(x * x + y * y + z * z));
}

/* Offset of a vertex at p by the strokes, in millimetres like p. */
static point stroke_sum(const expression *e, point p, point normal) {
    point sum = {0, 0, 0};
    for (int i = 0; i < STROKES; i++) {
        const stroke *s = &strokes[i];
        const double amount = e->acts[s->of], askew = s->of == MOUTH_UP ? e->askew : 0;
        const double left = weight(p, s) * (amount + askew);
        const double right = s->at.x > 0 ? weight(point_mirror(p), s) * (amount - askew) : 0;
        if (left + right < 1e-4) /* too small for an offset */
            continue;
        sum =
            point_add(sum, (point){s->move.x * (left - right), s->move.y * (left + right), s->move.z * (left + right)});
        sum = point_add(sum, point_scale(normal, s->out * (left + right)));
    }
    return sum;
}

/* Adds an expression to positions [vertex_count][3]. Strokes fade near the eye, so that lids stay on the eyeball; flesh
 * that rises below it pushes the lower lid slightly. */
static void add_expression(const exi_face *face, const expression *e, double *positions) {
    const point eye = {FACE_EYE_X, 0, FACE_EYE_Z};
    for (int v = 0; v < face->mesh->vertex_count; v++) {
        const double *q = face->mesh->positions + 3 * v;
        const double *paint = face->paint + v * FACE_PAINT_COUNT;
        if (paint[FACE_EYE] > 0 || paint[FACE_EAR] > 0)
            continue;
        const point p = {q[0], q[1], q[2]}, from_eye = point_subtract((point){fabs(p.x), p.y, p.z}, eye);
        const double clear = smooth_step(FACE_EYE_RADIUS + 0.004, FACE_EYE_RADIUS + 0.018, point_length(from_eye));
        const point d = point_scale(stroke_sum(e, point_scale(p, 1000), face->normals[v]), 0.001 * clear);
        const double lower = smooth_step(0.002, -0.004, p.y) * smooth_step(0.016, 0.008, fabs(from_eye.x));
        positions[3 * v] += d.x + e->acts[LIDS] * face->blink[3 * v];
        positions[3 * v + 1] += d.y + e->acts[LIDS] * face->blink[3 * v + 1] +
                                0.0011 * e->acts[CHEEKS_UP] * lower * (1 - clear) * (1 - fabs(e->acts[LIDS]));
        positions[3 * v + 2] += d.z + e->acts[LIDS] * face->blink[3 * v + 2];
    }
}

/* ---- the project ---- */

static const char start[] = "{\n"
                            "  \"exemplar\": 1,\n"
                            "  \"mesh\": \"neutral.obj\",\n"
                            "  \"layers\": [\n"
                            "    {\n"
                            "      \"name\": \"emotion\",\n"
                            "      \"space\": [\n"
                            "        {\"name\": \"happiness\", \"min\": -1, \"max\": 1, \"rest\": 0},\n"
                            "        {\"name\": \"arousal\", \"min\": -1, \"max\": 1, \"rest\": 0}\n"
                            "      ],\n"
                            "      \"weigh\": {\"kind\": \"calm\"},\n"
                            "      \"shape\": \"offsets\",\n"
                            "      \"examples\": [\n";

static const char end[] = "      ]\n"
                          "    },\n"
                          "    {\n"
                          "      \"name\": \"skin\",\n"
                          "      \"space\": [{\"name\": \"arousal\", \"min\": -1, \"max\": 1, \"rest\": 0}],\n"
                          "      \"weigh\": {\"kind\": \"shepard\"},\n"
                          "      \"shape\": \"pixels\",\n"
                          "      \"texture\": \"base_color\",\n"
                          "      \"examples\": [\n"
                          "        {\"name\": \"calm\", \"image\": \"calm.png\", \"at\": {\"arousal\": 0}},\n"
                          "        {\"name\": \"flushed\", \"image\": \"flushed.png\", \"at\": {\"arousal\": 1}}\n"
                          "      ]\n"
                          "    }\n"
                          "  ],\n"
                          "  \"subdivide\": {\"scheme\": \"catmull_clark\", \"levels\": 1, \"limit\": true}\n"
                          "}\n";

static ex_result write_project(const char *path, ex_error *error) {
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, start, strlen(start));
    for (int k = 0; k < EXPRESSIONS; k++) {
        const expression *e = &expressions[k];
        char number[32];
        ex_file_printf(&writer, "        {\"name\": \"%s\", \"mesh\": \"%s.obj\", \"at\": {\"happiness\": %s, ",
                       e->name, e->name, exi_demo_number(number, e->happiness, 6));
        ex_file_printf(&writer, "\"arousal\": %s}}%s\n", exi_demo_number(number, e->arousal, 6),
                       k + 1 < EXPRESSIONS ? "," : "");
    }
    ex_file_write(&writer, end, strlen(end));
    return ex_file_commit(&writer, error);
}

/* ---- forms and images ---- */

/* Writes the base, or the base with an expression, as NAME.obj. */
static ex_result write_form(const char *directory, const exi_face *face, const double *base, const expression *e,
                            ex_mesh *form, ex_error *error) {
    char file[32];
    snprintf(file, sizeof file, "%s.obj", e ? e->name : "neutral");
    memcpy(form->positions, base, 3 * (size_t)form->vertex_count * sizeof *base);
    if (e)
        add_expression(face, e, form->positions);
    for (int i = 0; i < 3 * form->vertex_count; i++)
        form->positions[i] = floor(form->positions[i] * 1e6 + 0.5) / 1e6; /* to a micrometre: shorter files */
    return exi_demo_write_mesh(directory, file, form, error);
}

static ex_result write_forms(const char *directory, const exi_face *face, ex_error *error) {
    const size_t count = 3 * (size_t)face->mesh->vertex_count;
    double *base = malloc(count * sizeof *base);
    ex_mesh *form = ex_mesh_copy(face->mesh);
    ex_result result = base && form ? EX_OK : ex_error_memory(error, "a head", count * sizeof *base);
    if (result == EX_OK) {
        exi_face_head_offsets(face, HEAD, base);
        for (size_t i = 0; i < count; i++)
            base[i] += face->mesh->positions[i];
        result = write_form(directory, face, base, NULL, form, error);
    }
    for (int k = 0; result == EX_OK && k < EXPRESSIONS; k++)
        result = write_form(directory, face, base, &expressions[k], form, error);
    ex_mesh_destroy(form);
    free(base);
    return result;
}

static ex_result write_skins(const char *directory, const exi_face *face, ex_error *error) {
    static const struct {
        const char *file;
        double blush;
    } skins[] = {{"calm.png", 0.5}, {"flushed.png", 2}};
    exi_face_canvas *canvas = exi_face_canvas_create(face);
    ex_image *image = ex_image_create(FACE_TEXELS, FACE_TEXELS);
    ex_result result = canvas && image ? EX_OK : ex_error_memory(error, "a texture", 0);
    for (int k = 0; result == EX_OK && k < 2; k++) {
        face_style style = exi_face_heads[HEAD].style;
        style.blush = skins[k].blush;
        exi_face_canvas_paint(canvas, &style, image->pixels);
        char *path = exi_demo_path(directory, skins[k].file);
        result = path ? ex_image_write(path, image, error) : ex_error_memory(error, "a path", 0);
        free(path);
    }
    ex_image_destroy(image);
    exi_face_canvas_destroy(canvas);
    return result;
}

ex_result exi_demo_emotion(const char *directory, ex_error *error) {
    exi_face *face = exi_face_create();
    char *path = exi_demo_path(directory, "emotion.json");
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
