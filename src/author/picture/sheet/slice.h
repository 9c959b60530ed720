/*
 * slice.h - a slice of a space while its sheet of forms is made: the cells, their contents, and their pictures. Private
 * to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_SHEET_SLICE_H
#define EXEMPLAR_AUTHOR_PICTURE_SHEET_SLICE_H

#include <exemplar/author/canvas.h>
#include <exemplar/author/picture.h>

typedef enum exi_cell_kind { EXI_CELL_BETWEEN, EXI_CELL_BEYOND, EXI_CELL_EXAMPLE, EXI_CELL_PSEUDO } exi_cell_kind;

/* Bounds of a weight that is not marked. */
#define EXI_OUTSIDE_LOW  (-0.1)
#define EXI_OUTSIDE_HIGH 1.1

/* The weight at a form that is farthest outside these bounds; 0 if none is outside. */
typedef struct exi_far {
    int layer, example;
    double weight;
} exi_far;

typedef struct exi_cell {
    exi_cell_kind kind;
    double values[2];  /* values of the sheet's axes */
    bool moved;        /* true if the values are the example's, not those of its column and row */
    int layer, number; /* index of the layer, and of the example or pseudo-example in it */
    bool has_from;     /* pseudo-examples: true if the point it borrows from is on this slice */
    double from[2];
    exi_far far;
    ex_image *picture;
    ex_result result; /* result of making it */
} exi_cell;

typedef struct exi_slice_axis {
    int input;
    ex_axis axis;
    const char *name;
    const char *unit; /* suffix of a number: "°", " mm" */
    char unit_text[64];
    int count;
    double *values; /* [count], ascending: values of the columns, or of the rows from the lowest */
} exi_slice_axis;

typedef struct exi_slice {
    const ex_sheet_def *def;
    const ex_rig *rig;
    int axis_count;
    exi_slice_axis axes[2]; /* the second has one value if it is not given */
    exi_cell *cells;        /* [axes[1].count][axes[0].count], rows from the lowest */
    int example_count, pseudo_count, hidden_count;
    int outside_count; /* cells with a weight outside the bounds */
    int farthest;      /* the cell whose weight is farthest outside, if any is */

    int level;
    ex_mesh *mesh;   /* shared by all forms */
    int texture;     /* index of the base colour among the rig's textures, or -1; not with looks */
    ex_looks *looks; /* the rig's, if textures are wanted; or NULL */
    ex_camera camera;
    double scale;                /* pixels per point of text */
    int cell_width, cell_height; /* pixels */
    int picture_height;          /* of a form; names, if any, go below it */
    int head;                    /* above it, for marks of weights outside the bounds, if any */
    bool two_lines;              /* true if the values of an example go below its name, as they do not fit beside it */
} exi_slice;

/* slice_cells.c: fills the cells. Call exi_slice_close even after a failure. */
ex_result exi_slice_open(exi_slice *sheet, const ex_sheet_def *def, ex_error *error);
void exi_slice_close(exi_slice *sheet);

/* slice_weights.c: finds the weights outside the bounds. exi_outside is the distance from them, 0 inside. */
ex_result exi_slice_weigh(exi_slice *sheet, ex_error *error);
double exi_outside(double weight);

/* slice_forms.c: chooses one camera for all cells; then renders the pictures of `count` cells, as they are read. */
ex_result exi_slice_frame(exi_slice *sheet, ex_error *error);
ex_result exi_slice_render(exi_slice *sheet, int first, int count, ex_error *error);

/* slice_parts.c: checks a part and sets its count; puts its pictures into one image; takes them from there. */
ex_result exi_slice_check(const exi_slice *sheet, ex_sheet_part *part, ex_error *error);
ex_result exi_slice_gather(const exi_slice *sheet, const ex_sheet_part *part, ex_image **image, ex_error *error);
ex_result exi_slice_take(exi_slice *sheet, int part_count, const ex_sheet_part *parts, ex_error *error);

/* slice_draw.c: checks before rendering that the picture has a valid size; draws everything around the forms. */
ex_result exi_slice_measure(const exi_slice *sheet, ex_error *error);
ex_result exi_slice_draw(const exi_slice *sheet, ex_image **image, ex_error *error);

/* slice_names.c: the name of a cell, and the values beside it if they are not those of its column and row, else "". */
#define EXI_NAME_SIZE   320
#define EXI_NAME_MARGIN 12.0 /* points of a cell that a name leaves free */
void exi_cell_name(const exi_slice *sheet, const exi_cell *cell, char name[EXI_NAME_SIZE], char values[EXI_NAME_SIZE]);
/* Formats a value of an axis to a ten-thousandth of the range, since thirds have endless digits. */
const char *exi_value_text(char buffer[128], const exi_slice_axis *axis, double value);
/* True if a name does not fit beside its values in a width in points. */
bool exi_slice_needs_two_lines(const exi_slice *sheet, double width);

/* slice_outline.c: draws a line around the visible pixels of an image whose upper left corner is at x y, with `scale`
 * pixels per point; false without memory. */
bool exi_outline_draw(ex_canvas *canvas, const ex_image *image, double x, double y, double scale, const ex_pen *pen);

static inline int exi_slice_cell_count(const exi_slice *sheet) {
    return sheet->axes[0].count * sheet->axes[1].count;
}

/* The cell that a reader meets at this place: row by row from the top left. */
static inline exi_cell *exi_slice_read(const exi_slice *sheet, int place) {
    const int columns = sheet->axes[0].count, row = sheet->axes[1].count - 1 - place / columns;
    return &sheet->cells[row * columns + place % columns];
}

#endif
