/*
 * plot.h - a plot in the making: its definition, the sampled weights, and declarations shared by curves and maps.
 * Private to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_PLOT_PLOT_H
#define EXEMPLAR_AUTHOR_PICTURE_PLOT_PLOT_H

#include "author/picture/canvas/labels.h"

#include <exemplar/author/picture.h>

/* Margin of a plot beyond the range, as a fraction of the range. */
#define EXI_PLOT_BEYOND 0.2

/* Samples along the axis of a plot of curves: 800 steps in the range, 160 beyond each end. */
#define EXI_PLOT_CURVE_SAMPLES 1121

/* One axis of the plot. */
typedef struct exi_plot_axis {
    int input;  /* index among the rig's inputs */
    int number; /* index among the layer's axes */
    int offset; /* index of its number in a point of the layer's space */
    ex_axis axis;
    const char *name, *unit;
    double low, high; /* interval shown: the range, plus EXI_PLOT_BEYOND of it on either side */
    int count;        /* number of samples */
} exi_plot_axis;

/* An example, or a pseudo-example, in the plot. */
typedef struct exi_plot_point {
    double at[2];
    bool placed;   /* false if not in this space (an example of a direct layer whose axis is not plotted) */
    bool on_slice; /* true if its other axes have the values of the slice */
    bool has_from; /* pseudo-examples: true if the point it borrows from is on this slice */
    double from[2];
} exi_plot_point;

typedef struct exi_plot {
    const ex_plot_def *def;
    const ex_rig *rig;
    int layer;
    const ex_weigher *weigher; /* in a comparison: the weigher of this panel; else NULL, and the rig is evaluated */
    int number, count;         /* of this panel, from 0, and of all; 0 and 1 if nothing is compared */
    int axis_count;
    exi_plot_axis axes[2];
    double width, height;

    int example_count, pseudo_count;
    exi_plot_point *examples; /* [example_count] */
    exi_plot_point *pseudos;  /* [pseudo_count] */
    double *slice;            /* a point of the layer's space: values of the axes that are not plotted */
    double *peaks;            /* [example_count]: largest absolute weight in the interval shown */
    int *drawn;               /* [drawn_count]: examples that are drawn, ascending */
    int drawn_count;
    int most; /* examples that could be drawn */

    float *weights;   /* [drawn_count][axes[1].count][axes[0].count] */
    float *extremes;  /* [axes[1].count][axes[0].count]: distance of any weight below -0.1 or above 1.1; below 0 if none
                         is out of bounds */
    double low, high; /* range of the drawn weights inside the axis range */
    double outer_low, outer_high; /* range of the drawn weights in all that is shown */
    double lowest, highest;       /* weights of all examples inside the axis range */
} exi_plot;

/* plot_space.c: resolves the plot's definition and places the examples. */
ex_result exi_plot_open(exi_plot *plot, const ex_plot_def *def, ex_error *error);
void exi_plot_close(exi_plot *plot);

/* plot_sample.c: finds the peaks of `count` panels, and chooses at most `most` examples to draw, the same in all; then
 * fills weights and extremes of one. */
ex_result exi_plot_choose(exi_plot *plots, int count, int most, ex_error *error);
ex_result exi_plot_sample(exi_plot *plot, ex_error *error);

/* plot_compare.c: makes the weighers of a comparison [def->kind_count]; NULL for the layer's own kind. Destroy them
 * always. */
ex_result exi_plot_weighers(const ex_plot_def *def, ex_weigher *made[EX_PLOT_KIND_MAX], ex_error *error);
/* Gives all panels one scale. */
void exi_plot_share_scale(exi_plot *plots, int count);
/* Writes the kind, and its lowest and highest weight: "−0.04 to 1.05". */
void exi_plot_head(const exi_plot *plot, ex_canvas *canvas, exi_labels *labels, double left, double right, double y);
/* "gaussian, calm and cardinal" */
void exi_plot_kinds_text(const ex_weigher_kind *kinds, int count, char *text, size_t size);

/* plot_curves.c, plot_maps.c: the default size of the picture; and the picture. Panels are plots[0].count. */
void exi_plot_curves_size(const exi_plot *plots, double *width, double *height);
void exi_plot_maps_size(const exi_plot *plots, double *width, double *height);
/* The number of samples along the axes, set before drawing; and the drawing. */
void exi_plot_maps_resolve(exi_plot *plots);
ex_result exi_plot_curves_draw(const exi_plot *plots, ex_canvas *canvas, ex_error *error);
ex_result exi_plot_maps_draw(const exi_plot *plots, ex_canvas *canvas, ex_error *error);

/* plot.c: makes the whole plot on a new canvas; also for tests, which look at its texts. */
ex_result exi_plot_make(const ex_plot_def *def, bool svg, ex_canvas **canvas, ex_plot_info *info, ex_error *error);

/* ---- plot_axes.c: shared by curves and maps ---- */

/* Colours and sizes of every plot. */
#define EXI_PLOT_TITLE_SIZE 15.0
#define EXI_PLOT_TEXT_SIZE  10.5
#define EXI_PLOT_SMALL_SIZE 9.5
ex_colour exi_plot_ink(void);   /* titles, names */
ex_colour exi_plot_quiet(void); /* values, captions */
ex_colour exi_plot_faint(void); /* marks of points that are not on the slice */
bool exi_plot_is_degrees(const exi_plot_axis *axis);

/* Draws "weights along bend" and below it the layer and the values of the other axes, as wide as the picture allows. */
void exi_plot_title(const exi_plot *plot, ex_canvas *canvas, exi_labels *labels, double left);
/* Draws the axis values and name below a box, and to the left of one; the name is optional. */
void exi_plot_axis_below(const exi_plot_axis *axis, ex_canvas *canvas, exi_labels *labels, ex_box box, bool name);
void exi_plot_axis_left(const exi_plot_axis *axis, ex_canvas *canvas, exi_labels *labels, ex_box box, bool name);
/* Maps a value of an axis linearly to between `from` and `to`. */
double exi_plot_place(const exi_plot_axis *axis, double value, double from, double to);

#endif
