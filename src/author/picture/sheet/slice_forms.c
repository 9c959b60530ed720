/*
 * The forms of a sheet: one camera with all of them in view, and a picture of each. Forms are evaluated twice, for the
 * camera and for their pictures, so that a large sheet of large forms needs little memory. Pictures are made in
 * parallel tasks, each serially, so the bytes do not depend on the tasks.
 */
#include "author/picture/sheet/slice.h"

#include "author/base/array.h"
#include "author/base/progress.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <exemplar/author/picture.h>

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PLACE 220.0 /* points along a form's cell, unless text would be too small or large */
#define NAME  13.0  /* points for a line of a name below it */
#define HEAD  14.0  /* points for a mark above it */

/* ---- one form ---- */

typedef struct form {
    ex_pose pose;
    float *positions, *normals;
    ex_image *texture;
    unsigned char **textures; /* [ex_rig_texture_count], all NULL but those that are shown */
    ex_looks *looks;          /* the sheet's with the form's own textures, or NULL */
    ex_image **painted;       /* [ex_rig_texture_count] images of the looks, or NULL */
    int painted_count;
    void *scratch;
} form;

static void form_close(form *f) {
    free(f->pose.inputs);
    free(f->positions);
    free(f->normals);
    ex_image_destroy(f->texture);
    for (int i = 0; f->painted && i < f->painted_count; i++)
        ex_image_destroy(f->painted[i]);
    free(f->painted);
    ex_looks_destroy(f->looks);
    free(f->textures);
    free(f->scratch);
}

/* Makes the looks of one form, with memory for the rig's textures that they show. */
static bool open_looks(form *f, const exi_slice *s) {
    const int count = ex_rig_texture_count(s->rig);
    f->looks = ex_looks_share(s->looks);
    f->painted = calloc((size_t)count + 1, sizeof *f->painted);
    f->painted_count = count;
    for (int i = 0; f->looks && f->painted && i < count; i++) {
        const ex_texture t = ex_rig_texture(s->rig, i);
        f->painted[i] = ex_image_create(t.width, t.height);
        if (!f->painted[i])
            return false;
        if (ex_looks_paint(f->looks, t.name, f->painted[i]) > 0)
            f->textures[i] = f->painted[i]->pixels;
    }
    return f->looks && f->painted;
}

/* False without memory; always call form_close. */
static bool form_open(form *f, const exi_slice *s) {
    const ex_rig *rig = s->rig;
    const size_t count = (size_t)ex_rig_level_vertex_count(rig, s->level);
    const ex_evaluation how = {.level = s->level};
    const ex_pose *from = s->def->pose;
    *f = (form){.pose = ex_pose_create(rig),
                .positions = exi_array_allocate(count, 3 * sizeof(float)),
                .normals = calloc(count + 1, 3 * sizeof(float)), /* a rig may have been loaded without any */
                .textures = calloc((size_t)ex_rig_texture_count(rig) + 1, sizeof *f->textures),
                .scratch = malloc(ex_rig_scratch_size(rig, &how, 1) + 1)};
    if (!f->pose.inputs || !f->positions || !f->normals || !f->textures || !f->scratch)
        return false;
    if (from && from->driver)
        f->pose.driver = from->driver;
    if (from && from->inputs && ex_rig_pose_size(rig) > 0)
        memcpy(f->pose.inputs, from->inputs, (size_t)ex_rig_pose_size(rig) * sizeof *from->inputs);
    if (from && from->joints && ex_rig_joint_count(rig) > 0)
        memcpy(f->pose.joints, from->joints, (size_t)ex_rig_joint_count(rig) * sizeof *from->joints);
    if (s->looks)
        return open_looks(f, s);
    if (s->texture < 0)
        return true;
    const ex_texture t = ex_rig_texture(rig, s->texture);
    f->texture = ex_image_create(t.width, t.height);
    f->textures[s->texture] = f->texture ? f->texture->pixels : NULL;
    return f->texture != NULL;
}

static void form_evaluate(form *f, const exi_slice *s, const exi_cell *cell, bool whole) {
    for (int i = 0; i < s->axis_count; i++)
        ex_rig_set_input(s->rig, s->axes[i].input, &cell->values[i], &f->pose);
    ex_output where = {.positions = f->positions};
    if (whole) {
        where.normals = f->normals;
        where.textures = f->textures;
    }
    ex_rig_evaluate(s->rig, &f->pose, &where, &(ex_evaluation){.level = s->level}, f->scratch);
}

/* ---- one camera ---- */

/* Adds a form to the frame, or those of its vertices that are framed. */
static bool add_to_frame(const exi_slice *s, const float *positions, ex_framing *frame) {
    const ex_sheet_def *def = s->def;
    if (!def->framed)
        return ex_framing_add(frame, positions, ex_rig_level_vertex_count(s->rig, s->level));
    bool good = true;
    for (int i = 0; good && i < def->framed_count; i++)
        good = ex_framing_add(frame, positions + 3 * (size_t)def->framed[i], 1);
    return good;
}

static ex_result check_framed(const exi_slice *s, ex_error *error) {
    const int count = ex_rig_level_vertex_count(s->rig, s->level);
    if (s->def->framed && s->def->framed_count < 1)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no vertex to frame in a sheet");
    for (int i = 0; s->def->framed && i < s->def->framed_count; i++)
        if (s->def->framed[i] < 0 || s->def->framed[i] >= count)
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "the sheet frames vertex %d (counting from 0), but the forms have %d vertices",
                                s->def->framed[i], count);
    return EX_OK;
}

static ex_result find_extent(const exi_slice *s, ex_framing *frame, ex_error *error) {
    form f;
    ex_result result = check_framed(s, error);
    if (result != EX_OK)
        return result;
    result = form_open(&f, s) ? EX_OK : ex_error_memory(error, "a form of a sheet", 0);
    for (int i = 0; result == EX_OK && i < exi_slice_cell_count(s); i++) {
        const exi_cell *cell = &s->cells[i];
        form_evaluate(&f, s, cell, false);
        if (!add_to_frame(s, f.positions, frame))
            result =
                ex_error_set(error, EX_ERROR_DATA,
                             "at %g of the axis '%s', a form is too far away for a float: go less far beyond the range",
                             cell->values[0], s->axes[0].name);
    }
    form_close(&f);
    return result;
}

static int find_texture(const exi_slice *s) {
    for (int i = 0; s->def->textures && i < ex_rig_texture_count(s->rig); i++)
        if (strcmp(ex_rig_texture(s->rig, i).name, "base_color") == 0)
            return i;
    return -1;
}

ex_result exi_slice_frame(exi_slice *s, ex_error *error) {
    if (!(fabs(s->def->yaw) <= 1e6) || !(fabs(s->def->pitch) <= 90))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the camera is at yaw %g and pitch %g: pitch must be from -90 to 90 degrees", s->def->yaw,
                            s->def->pitch);
    s->level = ex_rig_level(s->rig);
    s->texture = find_texture(s);
    ex_result result = s->def->textures ? ex_looks_from_rig(s->rig, &s->looks, error) : EX_OK;
    if (result == EX_OK && s->def->textures && s->texture < 0 && !s->looks)
        result = ex_error_set(error, EX_ERROR_ARGUMENT,
                              "the rig has no materials and no texture 'base_color' for a sheet with textures");
    if (result != EX_OK)
        return result;
    ex_framing frame = ex_framing_start(s->def->yaw, s->def->pitch);
    result = find_extent(s, &frame, error);
    if (result != EX_OK)
        return result;
    s->camera = ex_framing_camera(&frame, s->def->cell, &s->cell_width, &s->picture_height);
    s->scale = s->def->cell / PLACE;
    s->scale = s->scale < 0.8 ? 0.8 : s->scale > EX_CANVAS_SCALE_MAX ? EX_CANVAS_SCALE_MAX : s->scale;
    const bool named = s->example_count + s->pseudo_count > 0;
    s->two_lines = named && exi_slice_needs_two_lines(s, s->cell_width / s->scale - EXI_NAME_MARGIN);
    s->head = s->outside_count > 0 && !s->def->unmarked ? (int)ceil(HEAD * s->scale) : 0;
    s->cell_height = s->head + s->picture_height + (named ? (int)ceil((s->two_lines ? 2 : 1) * NAME * s->scale) : 0);
    return EX_OK;
}

/* ---- pictures ---- */

typedef struct work {
    exi_slice *sheet;
    int first, count; /* cells as they are read */
    atomic_int done;
    atomic_bool stopped; /* true if the caller wants to stop */
} work;

/* The work that the calling thread waits for; only that thread reports progress. */
static _Thread_local const work *waiting;

/* Sculpts are blue, forms between them clay; paler where there is no sculpt, or no data. */
static void colour_item(const exi_cell *cell, ex_render_item *item) {
    static const double colours[][3] = {[EXI_CELL_BEYOND] = {0.88, 0.83, 0.79},
                                        [EXI_CELL_EXAMPLE] = {0.47, 0.62, 0.80},
                                        [EXI_CELL_PSEUDO] = {0.73, 0.81, 0.90}};
    if (cell->kind != EXI_CELL_BETWEEN)
        memcpy(item->colour, colours[cell->kind], sizeof item->colour);
}

static ex_result render_cell(const exi_slice *s, exi_cell *cell, ex_error *error) {
    form f;
    ex_mesh *sharp = NULL;
    ex_result result = form_open(&f, s) ? EX_OK : ex_error_memory(error, "a form of a sheet", 0);
    if (result == EX_OK) {
        form_evaluate(&f, s, cell, true);
        ex_render_item item = ex_render_item_default();
        item.mesh = s->mesh;
        item.positions = f.positions;
        item.normals = f.normals;
        item.texture = f.texture;
        if (f.looks) {
            /* With its own normals, which keep hard edges. */
            const ex_surface surface = {.level = s->level, .positions = f.positions, .normals = f.normals};
            result = ex_rig_to_sharp_mesh(s->rig, &surface, &sharp, error);
            item.mesh = sharp;
            item.positions = item.normals = NULL;
            item.looks = f.looks;
            item.vertex_colours = true;
        }
        colour_item(cell, &item);
        ex_render_def def = ex_render_def_default();
        def.width = s->cell_width;
        def.height = s->picture_height;
        def.items = &item;
        def.item_count = 1;
        def.camera = s->camera;
        def.ground = false;
        def.background = EX_BACKGROUND_TRANSPARENT;
        if (result == EX_OK)
            result = ex_render(&def, &cell->picture, error);
    }
    ex_mesh_destroy(sharp);
    form_close(&f);
    return result;
}

static void render_cells(void *context, int begin, int end) {
    work *w = context;
    for (int i = begin; i < end && !atomic_load(&w->stopped); i++) {
        exi_cell *cell = exi_slice_read(w->sheet, w->first + i);
        cell->result = render_cell(w->sheet, cell, NULL);
        const int done = atomic_fetch_add(&w->done, 1) + 1;
        if (waiting == w && !exi_progress_tell(w->sheet->def->progress, "rendering forms", (double)done / w->count))
            atomic_store(&w->stopped, true);
    }
}

ex_result exi_slice_render(exi_slice *s, int first, int count, ex_error *error) {
    /* Only the level's faces are needed; they come with some positions. */
    form f;
    ex_result result = form_open(&f, s) ? EX_OK : ex_error_memory(error, "a form of a sheet", 0);
    if (result == EX_OK) {
        form_evaluate(&f, s, &s->cells[0], false);
        const ex_surface surface = {.level = s->level, .positions = f.positions};
        result = ex_rig_to_mesh(s->rig, &surface, &s->mesh, error);
    }
    form_close(&f);
    if (result != EX_OK)
        return result;
    work w = {.sheet = s, .first = first, .count = count};
    atomic_init(&w.done, 0);
    atomic_init(&w.stopped, false);
    const work *outer = waiting;
    waiting = &w;
    exi_run(s->def->tasks, count, 1, render_cells, &w);
    waiting = outer;
    if (atomic_load(&w.stopped))
        return exi_progress_stopped(error);
    /* Report the first of several failures in cell order, whichever came first in time: make it again for its
     * sentence. */
    for (int i = 0; result == EX_OK && i < exi_slice_cell_count(s); i++)
        if (s->cells[i].result == EX_ERROR_MEMORY)
            result = ex_error_memory(error, "a form of a sheet", 0);
        else if (s->cells[i].result != EX_OK)
            result = render_cell(s, &s->cells[i], error);
    return result;
}
