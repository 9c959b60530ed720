/*
 * exemplar/author/picture.h - pictures: plots of a rig's weights and of reports, and forms rendered to an image.
 *
 * Pictures need no display and no GPU: they are computed as PNG or SVG. A picture is described by a plain structure,
 * whose pointers the caller keeps alive during the call. The same description gives the same bytes, whatever the tasks.
 * Any thread may draw, and two pictures may be made at once; a rig is only read.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_H
#define EXEMPLAR_AUTHOR_PICTURE_H

#include <exemplar/author/drive.h>
#include <exemplar/author/image.h>
#include <exemplar/author/mesh.h>
#include <exemplar/author/project.h>
#include <exemplar/author/trajectory.h>
#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plots ---- */

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

/* The report of `exemplar warp --report` as a chart, PNG or SVG by the ending of the file's name: the 99th and 99.9th
 * percentile of stretch over time for every method, flipped triangles, crossing pairs. Results: FILE, MEMORY. */
EX_API ex_result ex_warp_report_draw(const ex_warp_report *report, const char *path, ex_error *error);

/* The report of `exemplar drive report` as a chart, PNG or SVG by the ending of the file's name: the weights of the
 * keys over time, names [key_count] beside them, and below them the errors. Results: FILE, MEMORY. */
EX_API ex_result ex_drive_report_draw(const ex_drive_report *report, const char *const *names, const char *path,
                                      ex_error *error);

/* ---- rendering forms ---- */

/* A number at every vertex, shown as colours with a legend: a distance, a weight, whatever is to be seen. */
typedef struct ex_render_scalar {
    const float *values; /* [vertex_count], or NULL: none; where not finite, grey */
    double min, max;     /* of the colours; equal: those of the values, with 0 among them */
    bool diverging;      /* colours of two kinds on either side of 0, and as far to both sides */
    const char *label;   /* what it is, for the legend; or NULL */
    const char *unit;    /* "mm"; or NULL */
} ex_render_scalar;

/* A form in the picture. */
typedef struct ex_render_item {
    const ex_mesh *mesh;     /* faces, and everything that is not given below */
    const float *positions;  /* [vertex_count][3] in place of the mesh's; or NULL */
    const float *normals;    /* [vertex_count][3] in place of the mesh's; zero: the face's own; or NULL */
    const ex_image *texture; /* repeated, over the colour where it is transparent; needs texcoords; or NULL */
    double colour[3];        /* sRGB from 0 to 1: light warm grey clay */
    bool vertex_colours;     /* true: the mesh's colours, where it has any, in place of colour */
    ex_render_scalar scalar; /* in place of texture and colours */
    double grain;            /* 0; up to 1: looks like grains of sand, for what is no sculpt (pseudo-examples) */
} ex_render_item;

/* From where the form is seen. The picture is framed so that every point that has to be in it is, with a margin. */
typedef struct ex_camera {
    double yaw;      /* degrees; 0 looks along -z at the front, 90 at the form's left side (from +x): 25 */
    double pitch;    /* degrees; above 0 from above: 10 */
    double angle;    /* of view, in degrees, along the shorter side; 0: parallel: 24 */
    double zoom;     /* 1: the frame; 2: twice as large about its middle */
    double box[6];   /* what is framed, smallest x y z and largest x y z: several pictures with one box have one frame;
                        all 0: the items' vertices */
    bool all_around; /* false; true: framed so that what is turned to any yaw stays inside, all with one frame */
} ex_camera;

/* One camera for several forms: without perspective, so that sizes compare, and as near as all of them allow. Start,
 * add every form, take the camera. The fields are the library's. */
typedef struct ex_framing {
    double yaw, pitch;
    double right[3], up[3];
    double box[6];
    double across[2], along[2];
} ex_framing;
EX_API ex_framing ex_framing_start(double yaw, double pitch);
/* Takes a form [count][3] into view; false where it is not finite. */
EX_API bool ex_framing_add(ex_framing *framing, const float *positions, int count);
/* The camera; and the size of a picture of `size` pixels along its longer side that suits the forms. */
EX_API ex_camera ex_framing_camera(const ex_framing *framing, int size, int *width, int *height);

typedef enum ex_background {
    EX_BACKGROUND_QUIET, /* light grey, a little darker towards the edge below */
    EX_BACKGROUND_WHITE,
    EX_BACKGROUND_GREY,
    EX_BACKGROUND_TRANSPARENT, /* shadows on the ground are then partly transparent black */
    EX_BACKGROUND_COUNT
} ex_background;

typedef struct ex_render_def {
    int width, height; /* pixels, up to EX_IMAGE_MAX: 1000 by 1000 */
    const ex_render_item *items;
    int item_count; /* at least 1 */
    ex_camera camera;
    double light_yaw;   /* degrees from the camera to the key light, to the right: -42 */
    double light_pitch; /* degrees up: 46 */
    bool flat;          /* false; true: every face has its own normal */
    bool smooth;        /* false: edges of more than 60 degrees stay hard where normals are not given; true: none do */
    bool backfaces;     /* false; true: what is seen from behind is tinted, so that swapped normals are seen */
    double wireframe;   /* width in pixels of lines along the polygons' edges; 0: none */
    bool ground;        /* true: a shadow on the ground below the lowest point */
    int occlusion;      /* rays a hit for how much of the sky is seen, 0 to 16: 8 */
    int samples;        /* 1, 4 or 16: the most for a pixel in which something changes: 16 */
    ex_background background;    /* quiet */
    bool legend;                 /* true: a legend where an item has a scalar */
    const ex_tasks *tasks;       /* or NULL */
    const ex_progress *progress; /* called from the calling thread, where it takes part in the tasks; or NULL */
} ex_render_def;

EX_API ex_render_item ex_render_item_default(void);
EX_API ex_render_def ex_render_def_default(void);

/*
 * Renders into a new image. Costs about 1 ray a pixel, occlusion + 4 rays a pixel that shows the form, occlusion + 16
 * one that shows the ground where the form shades it, and up to 16 along edges; memory for the triangles (about 150
 * bytes each) and some 2 MB a thread. Results: ARGUMENT (sizes, angles, boxes), DATA (no faces, positions that are not
 * finite, faces out of range: item, vertex or face named), MEMORY, LIMIT.
 */
EX_API ex_result ex_render(const ex_render_def *def, ex_image **image, ex_error *error);

/* ---- numbers at vertices, to be shown ---- */

/*
 * How far each vertex of a form is from another form [vertex_count]: from the same vertex where both have the same
 * faces, else from the nearest point of the other's surface; *by_vertex says which, and may be NULL. Results: DATA,
 * MEMORY, LIMIT.
 */
EX_API ex_result ex_form_distances(const ex_mesh *form, const ex_mesh *other, float *values, bool *by_vertex,
                                   const ex_tasks *tasks, ex_error *error);

/* How far an example's difference reaches at each vertex of a level of the rig [ex_rig_level_vertex_count]. */
EX_API ex_result ex_rig_example_amounts(const ex_rig *rig, int layer, int example, int level, float *values,
                                        ex_error *error);

/* How much a joint holds of each vertex of a level. */
EX_API ex_result ex_rig_joint_weights(const ex_rig *rig, int joint, int level, float *values, ex_error *error);

/* ---- sheets ---- */

/* The most forms on one sheet; how large one may be, in pixels along its longer side. */
#define EX_SHEET_FORM_MAX 1024
#define EX_SHEET_CELL_MIN 48
#define EX_SHEET_CELL_MAX 2000

/*
 * Forms over a slice of a rig's space, each at its values: the first axis to the right, the second upwards. All are
 * seen by one camera, without perspective, so that sizes compare. Forms at examples of the slice are darker and named;
 * pseudo-examples look like sand, with an arrow from where they were taken; forms beyond the range of an axis are
 * lighter. An example that stands within half a cell of a place takes it, with its own values.
 */
typedef struct ex_sheet_def {
    const ex_rig *rig;
    int axis_count;      /* 1 (a row) or 2 */
    int axes[2];         /* inputs of the rig, scalar (ex_rig_input_find) */
    int counts[2];       /* forms along the range of each, at least 2: 5 and 5 */
    double beyond[2][2]; /* how far to go below and above the range, in ranges, 0 to 10: 0.25; not for clamped axes */
    const ex_pose *pose; /* of the other axes; NULL, the default, is rest */
    int cell;            /* pixels along the longer side of a form's place: 240 */
    double yaw, pitch;   /* of the camera, in degrees (ex_camera): 0 and 0 */
    bool textures;       /* false; true: in the rig's base colour; kinds of forms are then told by frames alone */
    const char *title;   /* or NULL: names the axes; "": none */
    const ex_tasks *tasks;
    const ex_progress *progress; /* or NULL */
} ex_sheet_def;

/* What was drawn. */
typedef struct ex_sheet_info {
    int columns, rows;
    int example_count, pseudo_count; /* marked */
    int hidden_count;                /* of the slice, but in another's place or outside the sheet */
    int width, height;               /* pixels */
} ex_sheet_info;

EX_API ex_sheet_def ex_sheet_def_default(void);

/*
 * The sheet as a new image. info may be NULL. Costs an evaluation and a small picture (ex_render) for each form.
 * Results: ARGUMENT (an axis that is a rotation, counts, sizes), LIMIT (too many forms, too large a picture), DATA (a
 * form too far away), MEMORY.
 */
EX_API ex_result ex_sheet_image(const ex_sheet_def *def, ex_image **image, ex_sheet_info *info, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
