/* figures/figures_segments.c - draws the segments of a form in a figure, as colours and as a tree. */
#include "figures_segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- colours ---- */

/* The faces of one segment as a separate mesh with all vertices. NULL if out of memory. */
static ex_mesh *segment_mesh(const ex_mesh *whole, const int *face_segments, int segment) {
    ex_mesh *mesh = ex_mesh_create();
    if (!mesh)
        return NULL;
    const size_t vertices = (size_t)whole->vertex_count, corners = (size_t)whole->corner_count;
    mesh->positions = malloc((vertices + 1) * 3 * sizeof *mesh->positions);
    mesh->corners = malloc((corners + 1) * sizeof *mesh->corners);
    mesh->face_offsets = calloc((size_t)whole->face_count + 1, sizeof *mesh->face_offsets);
    if (!mesh->positions || !mesh->corners || !mesh->face_offsets) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    memcpy(mesh->positions, whole->positions, vertices * 3 * sizeof *mesh->positions);
    mesh->vertex_count = whole->vertex_count;
    for (int face = 0; face < whole->face_count; face++) {
        if (face_segments[face] != segment)
            continue;
        for (int c = whole->face_offsets[face]; c < whole->face_offsets[face + 1]; c++)
            mesh->corners[mesh->corner_count++] = whole->corners[c];
        mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
    }
    return mesh;
}

/* A light shade of the segment's colour in the tree below. */
static void segment_colour(int segment, double colour[3]) {
    const ex_colour shade = ex_colour_paled(ex_colour_category(segment).colour, 0.25);
    colour[0] = shade.red / 255.0;
    colour[1] = shade.green / 255.0;
    colour[2] = shade.blue / 255.0;
}

ex_result exi_figures_segments_image(const ex_mesh *mesh, const exi_shot *shot, ex_render_def def, ex_image **image,
                                     ex_error *error) {
    const int segments = shot->segments->count;
    ex_render_item *items = calloc((size_t)segments + 1, sizeof *items);
    ex_mesh **meshes = calloc((size_t)segments + 1, sizeof *meshes);
    int count = 0;
    ex_result result = items && meshes ? EX_OK : ex_error_memory(error, "a form", 0);
    for (int k = 0; result == EX_OK && k < segments; k++) { /* one item each, for sharp borders */
        meshes[k] = segment_mesh(mesh, shot->face_segments, k);
        if (!meshes[k])
            result = ex_error_memory(error, "a form", 0);
        else if (meshes[k]->face_count > 0) {
            items[count] = ex_render_item_default();
            items[count].mesh = meshes[k];
            segment_colour(k, items[count++].colour);
        }
    }
    def.items = items;
    def.item_count = count;
    if (result == EX_OK)
        result = ex_render(&def, image, error);
    for (int k = 0; meshes && k < segments; k++)
        ex_mesh_destroy(meshes[k]);
    free(meshes);
    free(items);
    return result;
}

/* ---- the tree ---- */

#define NODE  6.5  /* points, half its size */
#define APART 24.0 /* from a parent to its children, if there is room */
#define ROWS  16.0 /* from the first row to the last, if there are several */

typedef struct tree {
    const ex_segments *segments;
    int *columns, *rows; /* [count] */
    int column_count, row_count;
} tree;

/* Places the children of a parent: one column further, the first child in the parent's row. */
static void place(tree *t, int parent, int column) {
    bool first = true;
    for (int k = 0; k < t->segments->count; k++) {
        if (t->segments->parents[k] != parent)
            continue;
        if (!first || parent < 0)
            t->row_count++;
        first = false;
        t->columns[k] = column;
        t->rows[k] = t->row_count - 1;
        t->column_count = column + 1 > t->column_count ? column + 1 : t->column_count;
        place(t, k, column + 1);
    }
}

static void draw_tree(ex_canvas *canvas, const tree *t, double x, double y, double room) {
    const int gaps = t->column_count > 1 ? t->column_count - 1 : 1;
    const double apart = gaps * APART + 2 * NODE > room ? (room - 2 * NODE) / gaps : APART;
    const double down = t->row_count > 1 ? ROWS / (t->row_count - 1) : 0;
    const double left = x - apart * (t->column_count - 1) / 2, top = t->row_count > 1 ? y - 4 : y;
    for (int k = 0; k < t->segments->count; k++) {
        const int parent = t->segments->parents[k];
        if (parent >= 0)
            ex_draw_line(canvas, left + apart * t->columns[parent], top + down * t->rows[parent],
                         left + apart * t->columns[k], top + down * t->rows[k],
                         &(ex_pen){ex_colour_grey(150), 1.4, 0, 0});
    }
    for (int k = 0; k < t->segments->count; k++) {
        const double at[2] = {left + apart * t->columns[k], top + down * t->rows[k]};
        const ex_colour colour = ex_colour_category(k).colour;
        double lab[3];
        ex_colour_to_oklab(colour, lab);
        const ex_lettering type = {.size = 9,
                                   .colour = ex_colour_grey(lab[0] > 0.7 ? 20 : 255),
                                   .across = EX_ACROSS_MIDDLE,
                                   .along = EX_ALONG_CENTRE,
                                   .bold = true};
        char number[16];
        snprintf(number, sizeof number, "%d", k + 1);
        ex_draw_mark(canvas, EX_MARK_DOT, at[0], at[1], NODE, &(ex_pen){colour, 1, 0, 0});
        ex_draw_text(canvas, at[0], at[1], &type, number);
    }
}

void exi_figures_segments_tree(ex_canvas *canvas, double x, double y, double room, const ex_segments *segments) {
    const size_t count = (size_t)segments->count + 1;
    tree t = {.segments = segments, .columns = calloc(count, sizeof *t.columns), .rows = calloc(count, sizeof *t.rows)};
    if (t.columns && t.rows) {
        place(&t, -1, 0);
        draw_tree(canvas, &t, x, y, room);
    }
    free(t.columns);
    free(t.rows);
}
