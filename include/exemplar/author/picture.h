/*
 * exemplar/author/picture.h - pictures of what a rig is: plots of its weights.
 *
 * Pictures need no display: they are computed as PNG or SVG. The same rig and definition give the same bytes, whatever
 * the tasks. Any thread may draw; a rig is only read.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_H
#define EXEMPLAR_AUTHOR_PICTURE_H

#include <exemplar/author/image.h>
#include <exemplar/author/project.h>
#include <exemplar/rig.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most curves, and the most maps, that one plot draws: where a layer has more examples, those with the largest
 * weights. */
#define EX_PLOT_CURVE_MAX 32
#define EX_PLOT_MAP_MAX   24
/* The smallest plot, in points. */
#define EX_PLOT_WIDTH_MIN  240
#define EX_PLOT_HEIGHT_MIN 180

/*
 * How the weights of one layer's examples change over the rig's space. Along one axis: a curve for each example. Over
 * two axes: a contour map for each example. Axes that are not plotted stay where the pose has them. The plot reaches a
 * fifth of the range beyond either end of it.
 */
typedef struct ex_plot_def {
    const ex_rig *rig;
    int layer;            /* default 0 */
    int axis_count;       /* 1 or 2; default 0: the first two scalar axes of the layer, or its only one */
    int axes[2];          /* inputs of the rig that the layer reads, scalar (ex_rig_input_find) */
    const ex_pose *pose;  /* of the other axes; NULL, the default, is rest */
    double width, height; /* in points, which are pixels at a scale of 1; default 0: what suits */
    double scale;         /* pixels a point has in an image; default 1 */
    const ex_tasks *tasks;
    const ex_progress *progress; /* or NULL */
} ex_plot_def;

/* What was drawn. */
typedef struct ex_plot_info {
    int axis_count;
    int axes[2];
    int drawn_count, example_count; /* of the layer */
    double width, height;           /* points */
} ex_plot_info;

EX_API ex_plot_def ex_plot_def_default(void);

/*
 * The plot as an image, as SVG text (release with free) and as a file, PNG or SVG by the ending of its name. info may
 * be NULL. Results: ARGUMENT (an axis that is a rotation or belongs to another layer, a size out of range), FILE,
 * MEMORY.
 */
EX_API ex_result ex_plot_image(const ex_plot_def *def, ex_image **image, ex_plot_info *info, ex_error *error);
EX_API ex_result ex_plot_svg(const ex_plot_def *def, char **text, size_t *size, ex_plot_info *info, ex_error *error);
EX_API ex_result ex_plot_write(const ex_plot_def *def, const char *path, ex_plot_info *info, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
