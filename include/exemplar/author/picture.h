/*
 * exemplar/author/picture.h - pictures: plots of a rig's weights and of reports, and forms rendered to an image.
 *
 * Pictures need no display and no GPU: they are computed as PNG or SVG. A plain structure describes a picture; the
 * caller keeps its pointers alive during the call. The same description gives the same bytes, whatever the tasks. Any
 * thread may draw, and two pictures may be made at once; rigs are only read.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_H
#define EXEMPLAR_AUTHOR_PICTURE_H

#include <exemplar/author/drive.h>
#include <exemplar/author/image.h>
#include <exemplar/author/looks.h>
#include <exemplar/author/mesh.h>
#include <exemplar/author/project.h>
#include <exemplar/author/trajectory.h>
#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plots ---- */

/* Maximum number of curves, and of maps, in one plot. If a layer has more examples, those with the largest weights are
 * drawn. */
#define EX_PLOT_CURVE_MAX 32
#define EX_PLOT_MAP_MAX   24
/* Maximum number of kinds of weigher in a comparison, and of examples in its maps. */
#define EX_PLOT_KIND_MAX    8
#define EX_PLOT_COMPARE_MAX 8
/* Minimum size of a plot, in points. */
#define EX_PLOT_WIDTH_MIN  240
#define EX_PLOT_HEIGHT_MIN 180

/*
 * A plot of the weights of one layer's examples over the rig's space. Along one axis: a curve for each example. Over
 * two axes: a contour map for each example. Other axes stay at the pose. The plot extends beyond either end of the
 * range by a fifth of it.
 *
 * With kinds, the plot compares weighers: a panel for each kind, with the layer's own points, axes and pseudo-examples,
 * all on one scale. The layer's own kind keeps its parameters; the others have their defaults. Each panel has its kind
 * above it, and the lowest and highest weight inside the range. In maps, a column is a kind and a row an example.
 */
typedef struct ex_plot_def {
    const ex_rig *rig;
    int layer;                    /* default 0 */
    int axis_count;               /* 1 or 2; default 0: the first two scalar axes of the layer, or its only one */
    int axes[2];                  /* scalar inputs of the rig that the layer reads (ex_rig_input_find) */
    const ex_pose *pose;          /* for the other axes; default NULL: rest */
    const ex_weigher_kind *kinds; /* [kind_count] to compare, each once; default NULL: the layer's own weights */
    int kind_count;               /* up to EX_PLOT_KIND_MAX */
    double width, height;         /* in points, which are pixels at a scale of 1; default 0: chosen to suit */
    double scale;                 /* pixels per point in an image; default 1 */
    const ex_tasks *tasks;
    const ex_progress *progress; /* optional; returning false stops */
} ex_plot_def;

/* Facts about the drawn plot. */
typedef struct ex_plot_info {
    int axis_count;
    int axes[2];
    int drawn_count, example_count; /* of the layer */
    double width, height;           /* points */
    double lows[EX_PLOT_KIND_MAX];  /* [kind_count], or [1]: lowest and highest weight of all examples in the range */
    double highs[EX_PLOT_KIND_MAX];
} ex_plot_info;

/* Returns the defaults. */
EX_API ex_plot_def ex_plot_def_default(void);

/*
 * Make the plot as an image, as SVG text (release with free), or as a file, PNG or SVG by the extension of path. info
 * may be NULL. Results: ARGUMENT (an axis that is a rotation or belongs to another layer, a size out of range, a kind
 * that cannot weigh the layer), SINGULAR (a kind that has no solution here), FILE, MEMORY.
 */
EX_API ex_result ex_plot_image(const ex_plot_def *def, ex_image **image, ex_plot_info *info, ex_error *error);
EX_API ex_result ex_plot_svg(const ex_plot_def *def, char **text, size_t *size, ex_plot_info *info, ex_error *error);
EX_API ex_result ex_plot_write(const ex_plot_def *def, const char *path, ex_plot_info *info, ex_error *error);

/* Draws the report of `exemplar warp --report` as a chart, PNG or SVG by the extension of path: the 99th and 99.9th
 * percentile of stretch over time for every method, flipped triangles, crossing pairs. Results: FILE, MEMORY. */
EX_API ex_result ex_warp_report_draw(const ex_warp_report *report, const char *path, ex_error *error);

/*
 * Draws a measured mixture, PNG or SVG by the extension of path: its form on the trajectories beside the
 * as-rigid-as-possible form. Both are coloured by the stretch of their triangles, and seen from the side that shows
 * most of the difference. title: the mixture in words. def and trajectories as for ex_mixture_report_create; def->tasks
 * are used. Results: as there, and FILE.
 */
EX_API ex_result ex_mixture_draw(const ex_trajectories_def *def, const ex_trajectories *trajectories,
                                 const ex_measured_mixture *mixture, const char *title, const char *path,
                                 ex_error *error);

/* Draws the report of `exemplar drive report` as a chart, PNG or SVG by the extension of path: the weights of the keys
 * over time, labelled with names [key_count], and the errors below. Results: FILE, MEMORY. */
EX_API ex_result ex_drive_report_draw(const ex_drive_report *report, const char *const *names, const char *path,
                                      ex_error *error);

/* ---- rendering forms ---- */

/* A number per vertex, such as a distance or a weight, shown as colours with a legend. */
typedef struct ex_render_scalar {
    const float *values; /* [vertex_count], or NULL: none; grey if not finite */
    double min, max;     /* range of the colours; if equal: the range of the values, extended to include 0 */
    bool diverging;      /* true: two colour ramps, one on each side of 0, over a symmetric range */
    const char *label;   /* description for the legend; may be NULL */
    const char *unit;    /* "mm"; may be NULL */
} ex_render_scalar;

/* A form in the picture. */
typedef struct ex_render_item {
    const ex_mesh *mesh;     /* faces, and everything not given below */
    const float *positions;  /* [vertex_count][3], optional: replace the mesh's */
    const float *normals;    /* [vertex_count][3], optional: replace the mesh's; zero: the face's own */
    const ex_image *texture; /* optional; repeated; where transparent, the colour shows; requires texcoords */
    double colour[3];        /* sRGB from 0 to 1; default: warm clay */
    bool vertex_colours;     /* true: the mesh's colours, if it has any, replace colour */
    const ex_looks *looks;   /* optional: materials, which replace texture and colours at the faces whose material has
                                one by name; a single look goes to all faces of a mesh without materials. The mesh's
                                vertex colours are then linear and multiply */
    ex_render_scalar scalar; /* replaces texture, looks and colours */
    double stripes;          /* default 0; up to 1: diagonal stripes of a darker shade */
} ex_render_item;

/* A camera: its direction and angle of view. The picture is framed to include every required point, with a margin. */
typedef struct ex_camera {
    double yaw;    /* degrees; 0 looks along -z at the front, 90 at the form's left side (from +x); default 25 */
    double pitch;  /* degrees; positive: from above; default 10 */
    double angle;  /* angle of view in degrees along the shorter side; 0: parallel projection; default 24 */
    double zoom;   /* default 1: the frame; 2: twice as large about its middle */
    double box[6]; /* box to frame, smallest x y z and largest x y z; pictures with the same box share one frame; all
                      0: the items' vertices */
    const float *points; /* [point_count][3], optional: points to frame instead of the box, such as the vertices around
                            an elbow; everything else is drawn too */
    int point_count;
    bool all_around; /* default false; true: the frame contains the box turned to any yaw, and is the same for all */
} ex_camera;

/* One camera for several forms: without perspective, so that sizes can be compared, and as close as all of them allow.
 * Start, add every form, take the camera. The library owns the fields. */
typedef struct ex_framing {
    double yaw, pitch;
    double right[3], up[3];
    double box[6];
    double across[2], along[2];
} ex_framing;
/* Starts a framing at a direction of view. */
EX_API ex_framing ex_framing_start(double yaw, double pitch);
/* Adds a form [count][3] to the view; returns false if it is not finite. */
EX_API bool ex_framing_add(ex_framing *framing, const float *positions, int count);
/* Returns the camera, and the width and height that suit the forms for a picture with `size` pixels along its longer
 * side. */
EX_API ex_camera ex_framing_camera(const ex_framing *framing, int size, int *width, int *height);

/* Backgrounds of a rendering. */
typedef enum ex_background {
    EX_BACKGROUND_QUIET, /* cool white, slightly darker towards the bottom and the corners */
    EX_BACKGROUND_WHITE,
    EX_BACKGROUND_GREY,
    EX_BACKGROUND_TRANSPARENT, /* shadows on the ground are then semi-transparent black */
    EX_BACKGROUND_COUNT
} ex_background;

/* Definition of a rendering: size, forms, camera, light. */
typedef struct ex_render_def {
    int width, height; /* pixels, up to EX_IMAGE_MAX; default 1000 by 1000 */
    const ex_render_item *items;
    int item_count; /* at least 1 */
    ex_camera camera;
    double light_yaw;   /* degrees from the camera to the key light, to the right; default -42 */
    double light_pitch; /* degrees up; default 46 */
    bool flat;          /* default false; true: every face has its own normal */
    bool smooth;        /* default false: edges of more than 60 degrees stay hard if normals are not given; true: all
                           edges are smooth */
    bool backfaces;     /* default false; true: back faces are tinted, which shows flipped normals */
    double wireframe;   /* width in pixels of lines along the polygons' edges; 0: none */
    bool ground;        /* default true: a shadow on the ground below the lowest point */
    int occlusion;      /* rays per hit for ambient occlusion, 0 to 16; default 8 */
    int samples;        /* 1, 4 or 16: maximum number of samples in a pixel with detail; default 16 */
    ex_background background;    /* default: quiet */
    bool legend;                 /* default true: a legend if an item has a scalar */
    const ex_tasks *tasks;       /* optional */
    const ex_progress *progress; /* optional; called on the calling thread, if it takes part in the tasks; returning
                                    false stops */
} ex_render_def;

/* Return the defaults. */
EX_API ex_render_item ex_render_item_default(void);
EX_API ex_render_def ex_render_def_default(void);

/*
 * Renders forms into a new image. Cost: about 1 ray per pixel, occlusion + 4 rays per pixel that shows the form,
 * occlusion + 16 per pixel of shaded ground, and up to 16 samples per pixel along edges. Memory: about 150 bytes per
 * triangle and about 2 MB per thread. Results: ARGUMENT (sizes, angles, boxes), DATA (no faces, positions that are not
 * finite, faces out of range: item, vertex or face named), MEMORY, LIMIT.
 */
EX_API ex_result ex_render(const ex_render_def *def, ex_image **image, ex_error *error);

/* ---- numbers at vertices, for rendering ---- */

/*
 * Computes the distance of each vertex of a form from another form [vertex_count]: to the same vertex if both have the
 * same faces, else to the nearest point of the other's surface. *by_vertex is true in the first case; by_vertex may be
 * NULL. Results: DATA, MEMORY, LIMIT.
 */
EX_API ex_result ex_form_distances(const ex_mesh *form, const ex_mesh *other, float *values, bool *by_vertex,
                                   const ex_tasks *tasks, ex_error *error);

/* Computes the size of an example's difference at each vertex of a level of the rig [ex_rig_level_vertex_count]. */
EX_API ex_result ex_rig_example_amounts(const ex_rig *rig, int layer, int example, int level, float *values,
                                        ex_error *error);

/* Computes a joint's skin weight at each vertex of a level. */
EX_API ex_result ex_rig_joint_weights(const ex_rig *rig, int joint, int level, float *values, ex_error *error);

/* ---- sheets ---- */

/* Maximum number of forms on one sheet, and maximum size of one in pixels along its longer side. */
#define EX_SHEET_FORM_MAX 1024
#define EX_SHEET_CELL_MIN 48
#define EX_SHEET_CELL_MAX 2000

/*
 * A sheet of forms over a slice of a rig's space, each at its values: the first axis runs to the right, the second
 * upwards. One camera without perspective shows all, so that sizes can be compared. Forms at examples of the slice are
 * blue and named. Pseudo-examples are pale, with a dashed outline and an arrow from their source. Forms beyond the
 * range of an axis are lighter. A ring marks forms with a weight below -0.1 or above 1.1, beside it the example and the
 * weight; layers whose axes are their weights do not count. An example within half a cell of a position on the sheet
 * takes that position, with its own values.
 */
typedef struct ex_sheet_def {
    const ex_rig *rig;
    int axis_count;      /* 1 (a row) or 2 */
    int axes[2];         /* scalar inputs of the rig (ex_rig_input_find) */
    int counts[2];       /* number of forms along the range of each axis, at least 2; default 5 and 5 */
    double beyond[2][2]; /* extension below and above the range, in ranges, 0 to 10; default 0.25; ignored for clamped
                            axes */
    const ex_pose *pose; /* for the other axes; default NULL: rest */
    int cell;            /* pixels along the longer side of a form's cell; default 240 */
    double yaw, pitch;   /* of the camera, in degrees (ex_camera); default 0 and 0 */
    const int *framed;   /* [framed_count] vertices of the rig's level to frame in all forms; default NULL: all */
    int framed_count;
    bool textures; /* default false; true: use the rig's materials, or else its base colour; only frames then tell the
                      kinds of forms apart */
    bool unmarked; /* default false; true: no rings at forms with a weight below -0.1 or above 1.1 */
    const char *title; /* default NULL: names the axes; "": none */
    const ex_tasks *tasks;
    const ex_progress *progress; /* optional; returning false stops */
} ex_sheet_def;

/* Facts about the drawn sheet. */
typedef struct ex_sheet_info {
    int columns, rows;
    int example_count, pseudo_count; /* number of marked ones */
    int hidden_count;                /* examples of the slice that are covered by another or outside the sheet */
    int width, height;               /* pixels */
    int outside_count;               /* forms with a weight below -0.1 or above 1.1, which are marked */
    int outside_layer;               /* the weight farthest outside, if there is one: its layer, */
    int outside_example;             /* example, */
    double outside_weight;           /* and size, */
    double outside_at[2];            /* and the values of the sheet's axes there */
} ex_sheet_info;

/* Returns the defaults. */
EX_API ex_sheet_def ex_sheet_def_default(void);

/*
 * Draws the sheet as a new image. info may be NULL. Cost: one evaluation and one small picture (ex_render) per form.
 * Results: ARGUMENT (an axis that is a rotation, counts, sizes), LIMIT (too many forms, too large a picture), DATA (a
 * form too far away), MEMORY.
 */
EX_API ex_result ex_sheet_image(const ex_sheet_def *def, ex_image **image, ex_sheet_info *info, ex_error *error);

/* Some forms of a sheet, which count row by row, from 0 at the top left. */
typedef struct ex_sheet_part {
    int first, count;      /* count 0: all that follow */
    const ex_image *image; /* their pictures, as ex_sheet_forms drew them */
} ex_sheet_part;

/*
 * Draws only these forms, with the sheet's camera, as a new image of its cells without anything around them. image of
 * part is ignored; info may be NULL. Cost: one evaluation per form of the sheet, and one small picture per form of the
 * part. Results: ARGUMENT (no such form), those of ex_sheet_image.
 */
EX_API ex_result ex_sheet_forms(const ex_sheet_def *def, const ex_sheet_part *part, ex_image **image,
                                ex_sheet_info *info, ex_error *error);
/* Makes the sheet of parts [part_count], which have each form once: the same image as ex_sheet_image. The definition
 * must be the one that the parts were drawn with; title and unmarked may differ. Results: ARGUMENT (a form that is
 * missing or there twice, an image of another size), those of ex_sheet_image. */
EX_API ex_result ex_sheet_join(const ex_sheet_def *def, int part_count, const ex_sheet_part *parts, ex_image **image,
                               ex_sheet_info *info, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
