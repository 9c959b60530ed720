/* figures/figures_shots.c - draws several forms side by side in one picture, all seen by one camera, with a line or two
 * of text below. */
#include "figures.h"

#include "cli/base/words.h"
#include "figures_segments.h"

#include <exemplar/author/canvas.h>
#include <exemplar/author/picture.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 11.0 /* points */
#define BAND 40.0 /* below a form, for its text */
#define HEAD 44.0 /* above a form, for the triangle of its weights */

typedef struct shot_form {
    float *positions, *normals;
    int vertex_count;
    ex_mesh *mesh; /* or NULL: use the shot's */
    ex_image *texture;
} shot_form;

static void form_close(shot_form *form) {
    free(form->positions);
    free(form->normals);
    ex_mesh_destroy(form->mesh);
    ex_image_destroy(form->texture);
}

/* Parses "elbow=110 gender=1". */
static ex_result read_pose(const ex_rig *rig, const char *words, ex_pose *pose, ex_error *error) {
    char word[64];
    int length = 0;
    *pose = ex_pose_create(rig);
    if (!pose->inputs)
        return ex_error_memory(error, "a pose", 0);
    for (const char *at = words; sscanf(at, " %63s%n", word, &length) == 1; at += length) {
        const ex_result result = exi_pose_word(rig, word, pose, error);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

static ex_result evaluate(const exi_shot *shot, const ex_pose *pose, shot_form *form, ex_error *error) {
    const ex_rig *rig = shot->rig;
    const int level = ex_rig_level(rig);
    bool *muted = calloc((size_t)ex_rig_layer_count(rig) + 1, sizeof *muted);
    unsigned char **textures = calloc((size_t)ex_rig_texture_count(rig) + 1, sizeof *textures);
    form->vertex_count = ex_rig_level_vertex_count(rig, level);
    form->positions = calloc((size_t)form->vertex_count + 1, 3 * sizeof *form->positions);
    form->normals = calloc((size_t)form->vertex_count + 1, 3 * sizeof *form->normals);
    for (int i = 0; muted && i < ex_rig_layer_count(rig); i++)
        muted[i] = shot->muted;
    ex_evaluation how = {.muted = muted, .level = level, .unskinned = shot->unskinned};
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1) + 1);
    if (shot->textures && textures && ex_rig_texture_count(rig) > 0) {
        const ex_texture t = ex_rig_texture(rig, 0);
        form->texture = ex_image_create(t.width, t.height);
        textures[0] = form->texture ? form->texture->pixels : NULL;
    }
    ex_result result = EX_OK;
    if (!muted || !textures || !form->positions || !form->normals || !scratch || (shot->textures && !textures[0])) {
        result = ex_error_memory(error, "a form", 0);
    } else {
        ex_output where = {.positions = form->positions, .normals = form->normals, .textures = textures};
        ex_rig_evaluate(rig, pose, &where, &how, scratch);
        ex_surface surface = {.level = level, .positions = form->positions};
        result = ex_rig_to_mesh(rig, &surface, &form->mesh, error);
    }
    free(muted);
    free(textures);
    free(scratch);
    return result;
}

/* Takes a given form of the cage; the renderer computes its normals. */
static ex_result take_form(const exi_shot *shot, shot_form *form, ex_error *error) {
    form->vertex_count = ex_rig_vertex_count(shot->rig);
    form->positions = malloc(((size_t)form->vertex_count + 1) * 3 * sizeof *form->positions);
    if (!form->positions)
        return ex_error_memory(error, "a form", 0);
    memcpy(form->positions, shot->form, (size_t)form->vertex_count * 3 * sizeof *form->positions);
    return ex_rig_to_mesh(shot->rig, &(ex_surface){.positions = form->positions}, &form->mesh, error);
}

/* Takes a given mesh: only the camera needs its positions. */
static ex_result take_mesh(const exi_shot *shot, shot_form *form, ex_error *error) {
    form->vertex_count = shot->mesh->vertex_count;
    form->positions = malloc(((size_t)form->vertex_count + 1) * 3 * sizeof *form->positions);
    if (!form->positions)
        return ex_error_memory(error, "a form", 0);
    for (int i = 0; i < 3 * form->vertex_count; i++)
        form->positions[i] = (float)shot->mesh->positions[i];
    return EX_OK;
}

static ex_result form_open(const exi_shot *shot, shot_form *form, ex_error *error) {
    if (shot->mesh)
        return take_mesh(shot, form, error);
    if (shot->form)
        return take_form(shot, form, error);
    ex_pose pose;
    ex_result result = read_pose(shot->rig, shot->pose, &pose, error);
    if (result == EX_OK)
        result = evaluate(shot, &pose, form, error);
    free(pose.inputs);
    return result;
}

/* ---- the picture ---- */

typedef struct sheet {
    const exi_shots *shots;
    shot_form *forms;
    ex_camera camera;
    int width, height; /* of one form, pixels */
    double scale;
    int band, head;    /* pixels */
    ex_image **images; /* [count] */
    int *tops, *rows;  /* [rows]: first visible line of the images, and its position in the picture */
} sheet;

static ex_result find_camera(sheet *s, int cell, ex_error *error) {
    ex_framing frame = ex_framing_start(s->shots->yaw, s->shots->pitch);
    if (s->shots->close_up) {
        /* Two corners are enough. */
        const float corners[6] = {s->shots->close_up[0], s->shots->close_up[1], s->shots->close_up[2],
                                  s->shots->close_up[3], s->shots->close_up[4], s->shots->close_up[5]};
        ex_framing_add(&frame, corners, 2);
    }
    for (int i = 0; !s->shots->close_up && i < s->shots->count; i++)
        if (!ex_framing_add(&frame, s->forms[i].positions, s->forms[i].vertex_count))
            return ex_error_set(error, EX_ERROR_DATA, "a form is too far away for a float");
    for (int i = 0; !s->shots->close_up && i < s->shots->count; i++)
        if (s->shots->shots[i].under &&
            !ex_framing_add(&frame, s->shots->shots[i].under_form, s->shots->shots[i].under->vertex_count))
            return ex_error_set(error, EX_ERROR_DATA, "a form is too far away for a float");
    s->camera = ex_framing_camera(&frame, cell, &s->width, &s->height);
    /* Text is as large as on a sheet, whatever the size of the forms. */
    s->scale = cell / (180 * s->shots->size);
    s->scale = s->scale < 0.8 ? 0.8 : s->scale;
    s->band = (int)ceil(BAND * s->scale);
    for (int i = 0; i < s->shots->count; i++)
        if (s->shots->shots[i].weights)
            s->head = (int)ceil(HEAD * s->scale);
    return EX_OK;
}

static ex_result render(const sheet *s, int i, const ex_tasks *tasks, ex_image **image, ex_error *error) {
    static const double tones[][3] = {{0.784, 0.671, 0.592}, {0.47, 0.62, 0.80}, {0.68, 0.50, 0.50}};
    const exi_shot *shot = &s->shots->shots[i];
    static const double dark[3] = {0.36, 0.33, 0.31};
    ex_render_item items[2] = {ex_render_item_default(), ex_render_item_default()};
    items[0].mesh = shot->mesh ? shot->mesh : s->forms[i].mesh;
    items[0].vertex_colours = shot->mesh != NULL;
    items[0].positions = s->forms[i].positions;
    items[0].normals = s->forms[i].normals;
    items[0].texture = s->forms[i].texture;
    memcpy(items[0].colour, tones[shot->tone], sizeof items[0].colour);
    items[1].mesh = shot->under;
    items[1].positions = shot->under_form;
    memcpy(items[1].colour, dark, sizeof items[1].colour);
    ex_render_def def = ex_render_def_default();
    def.width = s->width;
    def.height = s->height;
    def.items = items;
    def.item_count = shot->under ? 2 : 1;
    def.camera = s->camera;
    def.ground = false;
    def.background = EX_BACKGROUND_TRANSPARENT;
    def.tasks = tasks;
    return shot->face_segments ? exi_figures_segments_image(s->forms[i].mesh, shot, def, image, error)
                               : ex_render(&def, image, error);
}

/* Draws the point with those weights in a triangle whose base of 36 points is at y; corners from left to right, the
 * first at the top. */
static void draw_weights(ex_canvas *canvas, double x, double y, const double weights[3]) {
    const double corners[3][2] = {{x, y - 31}, {x - 18, y}, {x + 18, y}};
    double point[2] = {0, 0};
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 2; c++)
            point[c] += weights[i] * corners[i][c];
    ex_draw_polyline(canvas, corners, 3, true, &(ex_pen){ex_colour_grey(120), 1.3, 0, 0});
    ex_draw_mark(canvas, EX_MARK_DOT, point[0], point[1], 4, &(ex_pen){ex_colour_hex(0xD62728), 1, 0, 0});
}

static void write_words(const sheet *s, ex_canvas *canvas, int i, ex_box box) {
    const exi_shot *shot = &s->shots->shots[i];
    char fitted[EX_LABEL_SIZE];
    const double x = (box.x0 + box.x1) / 2, room = box.x1 - box.x0 - 4;
    ex_lettering type = {
        .size = TEXT, .colour = ex_colour_grey(38), .across = EX_ACROSS_MIDDLE, .along = EX_ALONG_BASELINE};
    if (s->shots->close_up)
        ex_draw_frame(canvas, box, &(ex_pen){ex_colour_grey(214), 0.9, 0, 0});
    if (shot->title)
        ex_draw_text(canvas, x, box.y1 + 13, &type, ex_label_fit(fitted, shot->title, type.size, room));
    type.colour = ex_colour_grey(110);
    type.size = TEXT - 1;
    if (shot->segments)
        exi_figures_segments_tree(canvas, x, box.y1 + 27, room, shot->segments);
    else if (shot->note)
        ex_draw_text(canvas, x, box.y1 + 28, &type, ex_label_fit(fitted, shot->note, type.size, room));
}

static int row_count(const sheet *s) {
    return (s->shots->count + s->shots->columns - 1) / s->shots->columns;
}

/* The first line that is not empty, or the height if all are. */
static int first_line(const ex_image *image) {
    const size_t count = (size_t)image->width * (size_t)image->height;
    size_t pixel = 0;
    while (pixel < count && image->pixels[4 * pixel + 3] == 0)
        pixel++;
    return (int)(pixel / (size_t)image->width);
}

/* All forms have the same frame, so that sizes compare; the upper part that no form of a row reaches is cropped.
 * Returns the height of the picture. */
static int stack_rows(sheet *s, int margin) {
    const int columns = s->shots->columns;
    int y = margin;
    for (int row = 0; row < row_count(s); row++) {
        int top = s->shots->close_up ? 0 : s->height;
        for (int i = row * columns; i < (row + 1) * columns && i < s->shots->count; i++) {
            const int first = first_line(s->images[i]);
            top = first < top ? first : top;
        }
        top -= top < 2 * margin ? top : 2 * margin;
        s->tops[row] = top;
        s->rows[row] = y += s->head;
        y += s->height - top + s->band;
    }
    return y + margin;
}

/* Box of a form's image, in pixels; its cropped part is transparent, so it may overlap the row above. */
static ex_box image_box(const sheet *s, int i, int margin) {
    const int column = i % s->shots->columns, row = i / s->shots->columns;
    const double x = margin + column * (s->width + margin), y = s->rows[row] - s->tops[row];
    return (ex_box){x, y, x + s->width, y + s->height};
}

static ex_result draw(exi_figures *f, sheet *s, const char *path) {
    const int margin = (int)ceil(8 * s->scale);
    const exi_shot *shots = s->shots->shots;
    ex_canvas *canvas = NULL;
    ex_image *whole = NULL;
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < s->shots->count; i++)
        result = render(s, i, f->tasks, &s->images[i], f->error);
    if (result == EX_OK)
        result = ex_canvas_create_image(margin + s->shots->columns * (s->width + margin), stack_rows(s, margin), 1,
                                        ex_colour_grey(255), &canvas, f->error);
    for (int i = 0; result == EX_OK && i < s->shots->count; i++)
        ex_draw_image(canvas, s->images[i], image_box(s, i, margin));
    if (result == EX_OK)
        result = ex_canvas_take_image(canvas, &whole, f->error);
    canvas = NULL;
    if (result == EX_OK)
        result = ex_canvas_create_over(whole, s->scale, &canvas, f->error);
    for (int i = 0; result == EX_OK && i < s->shots->count; i++) {
        const ex_box box = image_box(s, i, margin);
        write_words(s, canvas, i, (ex_box){box.x0 / s->scale, box.y0 / s->scale, box.x1 / s->scale, box.y1 / s->scale});
        if (shots[i].weights)
            draw_weights(canvas, (box.x0 + box.x1) / 2 / s->scale, s->rows[i / s->shots->columns] / s->scale,
                         shots[i].weights);
    }
    if (result == EX_OK)
        result = ex_canvas_result(canvas, f->error);
    ex_canvas_destroy(canvas);
    if (result == EX_OK)
        result = ex_image_write(path, whole, f->error);
    ex_image_destroy(whole);
    return result;
}

ex_result exi_figures_shots(exi_figures *f, const exi_shots *shots, const char *path) {
    const size_t count = (size_t)shots->count + 1;
    sheet s = {.shots = shots,
               .forms = calloc(count, sizeof *s.forms),
               .images = calloc(count, sizeof *s.images),
               .tops = calloc(count, sizeof *s.tops),
               .rows = calloc(count, sizeof *s.rows)};
    ex_result result = s.forms && s.images && s.tops && s.rows ? EX_OK : ex_error_memory(f->error, "a figure", 0);
    for (int i = 0; result == EX_OK && i < shots->count; i++)
        result = form_open(&shots->shots[i], &s.forms[i], f->error);
    if (result == EX_OK)
        result = find_camera(&s, (int)(f->cell * shots->size), f->error);
    if (result == EX_OK)
        result = draw(f, &s, path);
    for (int i = 0; i < shots->count; i++) {
        if (s.forms)
            form_close(&s.forms[i]);
        if (s.images)
            ex_image_destroy(s.images[i]);
    }
    free(s.forms);
    free(s.images);
    free(s.tops);
    free(s.rows);
    return result;
}
