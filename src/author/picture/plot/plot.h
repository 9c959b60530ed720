/*
 * plot.h - a plot while it is made: what is plotted, the weights that were sampled, and what curves and maps share.
 * Private to this folder.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_PLOT_PLOT_H
#define EXEMPLAR_AUTHOR_PICTURE_PLOT_PLOT_H

#include "author/picture/canvas/labels.h"

#include <exemplar/author/picture.h>

/* How far beyond the range a plot reaches, in ranges. */
#define EXI_PLOT_BEYOND 0.2

/* Samples along the axis of a plot of curves: 800 steps in the range, 160 beyond either end. */
#define EXI_PLOT_CURVE_SAMPLES 1121

/* One axis of the plot. */
typedef struct exi_plot_axis {
    int input;  /* of the rig */
    int number; /* among the layer's axes */
    int offset; /* of its number in a point of the layer's space */
    ex_axis axis;
    const char *name, *unit;
    double low, high; /* what is shown: the range, and EXI_PLOT_BEYOND of it on either side */
    int count;        /* samples along it */
} exi_plot_axis;

/* An example, or a pseudo-example, in the plot. */
typedef struct exi_plot_point {
    double at[2];
    bool placed;   /* false: not in this space (an example of a direct layer whose axis is not plotted) */
    bool on_slice; /* its other axes are where the plot's are */
    bool has_from; /* pseudo-examples: where it was taken from, on this slice */
    double from[2];
} exi_plot_point;

typedef struct exi_plot {
    const ex_plot_def *def;
    const ex_rig *rig;
    int layer;
    int axis_count;
    exi_plot_axis axes[2];
    double width, height;

    int example_count, pseudo_count;
    exi_plot_point *examples; /* [example_count] */
    exi_plot_point *pseudos;  /* [pseudo_count] */
    double *slice;            /* a point of the layer's space: where the axes that are not plotted are */
    double *peaks;            /* [example_count]: the largest weight, up or down, in what is shown */
    int *drawn;               /* [drawn_count]: the examples that are drawn, ascending */
    int drawn_count;

    float *weights;   /* [drawn_count][axes[1].count][axes[0].count] */
    float *extremes;  /* [axes[1].count][axes[0].count]: by how much any weight is below -0.1 or above 1.1; below 0
                         where none is */
    double low, high; /* of the weights drawn, inside the range */
    double outer_low, outer_high; /* of all that is shown */
} exi_plot;

/* plot_space.c: what is plotted, and where examples are. */
ex_result exi_plot_open(exi_plot *plot, const ex_plot_def *def, ex_error *error);
void exi_plot_close(exi_plot *plot);

/* plot_sample.c: chooses the examples that are drawn, at most so many; then fills weights and extremes. */
ex_result exi_plot_choose(exi_plot *plot, int most, ex_error *error);
ex_result exi_plot_sample(exi_plot *plot, ex_error *error);

/* plot_curves.c, plot_maps.c: what the picture's size is, unless it was given; and the picture. */
void exi_plot_curves_size(const exi_plot *plot, double *width, double *height);
void exi_plot_maps_size(const exi_plot *plot, double *width, double *height);
/* Draws; sets how many samples along the axes it wants before. */
void exi_plot_maps_resolve(exi_plot *plot);
ex_result exi_plot_curves_draw(const exi_plot *plot, ex_canvas *canvas, ex_error *error);
ex_result exi_plot_maps_draw(const exi_plot *plot, ex_canvas *canvas, ex_error *error);

/* plot.c: the whole of it, on a canvas that is made for it; for tests, which look at its texts. */
ex_result exi_plot_make(const ex_plot_def *def, bool svg, ex_canvas **canvas, ex_plot_info *info, ex_error *error);

/* ---- plot_axes.c: what curves and maps share ---- */

/* Colours and sizes of every plot. */
#define EXI_PLOT_TITLE_SIZE 15.0
#define EXI_PLOT_TEXT_SIZE  10.5
#define EXI_PLOT_SMALL_SIZE 9.5
ex_colour exi_plot_ink(void);   /* titles, names */
ex_colour exi_plot_quiet(void); /* values, captions */
ex_colour exi_plot_faint(void); /* marks of what is not on the slice */
bool exi_plot_is_degrees(const exi_plot_axis *axis);

/* "weights along bend", and below it the layer and where the other axes are; as wide as the picture allows. */
void exi_plot_title(const exi_plot *plot, ex_canvas *canvas, exi_labels *labels, double left);
/* Values and name below a box, and to the left of one; names only where told. */
void exi_plot_axis_below(const exi_plot_axis *axis, ex_canvas *canvas, exi_labels *labels, ex_box box, bool name);
void exi_plot_axis_left(const exi_plot_axis *axis, ex_canvas *canvas, exi_labels *labels, ex_box box, bool name);
/* From a value of an axis to a place between two others. */
double exi_plot_place(const exi_plot_axis *axis, double value, double from, double to);

#endif
