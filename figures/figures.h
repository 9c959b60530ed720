/*
 * cli/figures.h - the papers' figures and tables, computed again: one table of all of them (figures_list.c), a function
 * for each that can be made, and a page around the results. A later part adds its functions and lines.
 */
#ifndef EXEMPLAR_CLI_FIGURES_H
#define EXEMPLAR_CLI_FIGURES_H

#include "cli/base/command.h"
#include "cli/base/report.h"

#include <exemplar/author.h>

/* One line of a table, or of the numbers beside a picture. */
#define EXI_FACT_MAX 12
typedef struct exi_fact {
    char what[96], theirs[48], ours[48];
} exi_fact;

/* A rig of a demo, made when it is first asked for. */
typedef struct exi_figure_rig {
    const char *name; /* NULL: no rig yet */
    char kind;        /* as it is, without its pseudo-examples, of another project that the demo writes */
    ex_rig *rig;
} exi_figure_rig;

enum { EXI_FIGURE_RIGS = 24 };

/* What the makers of figures work with. */
typedef struct exi_figures {
    const char *folder;
    int cell; /* pixels of one form */
    const ex_tasks *tasks;
    ex_error *error; /* of what failed */
    exi_figure_rig rigs[EXI_FIGURE_RIGS];
    exi_fact facts[EXI_FACT_MAX]; /* of the figure that is being made */
    int fact_count;
} exi_figures;

typedef struct exi_figure {
    const char *number;  /* "Figure 4" */
    const char *title;   /* what it shows, in a few words */
    const char *file;    /* "shape-by-example-4.png"; NULL for a table of facts, or where it is not computed */
    const char *demo;    /* whose rig it is made from, or NULL */
    const char *caption; /* sentences; where it is not computed, why */
    bool slow;           /* only with --all */
    ex_result (*make)(exi_figures *figures, const char *path); /* NULL: not computed; path NULL for tables */
} exi_figure;

typedef struct exi_paper {
    const char *id; /* "shape-by-example" */
    const char *title, *authors;
    const exi_figure *figures;
    int figure_count;
} exi_paper;

extern const exi_paper exi_papers[];
extern const int exi_paper_count;

/* What was made of a figure: its facts, for the page. */
typedef struct exi_figure_result {
    bool made;
    int width, height; /* of a picture, in pixels or points */
    exi_fact facts[EXI_FACT_MAX];
    int fact_count;
} exi_figure_result;

/* figures_page.c: index.html, from results in the order of papers and figures. */
ex_result exi_figures_page(const exi_figures *figures, const exi_figure_result *results, ex_error *error);

/* ---- for makers (figures_parts.c) ---- */

/* The rig of a demo, written and built into folder/demos/NAME. NULL after an error. */
const ex_rig *exi_figures_rig(exi_figures *figures, const char *demo);
/* The same without its pseudo-examples. */
const ex_rig *exi_figures_rig_without(exi_figures *figures, const char *demo);
/* The rig of another project that the demo writes, DEMO_variant.json. */
const ex_rig *exi_figures_rig_variant(exi_figures *figures, const char *demo, const char *variant);

/* The rig of that demo and kind, or an empty place for it that the caller fills; there is always one. */
exi_figure_rig *exi_figures_slot(exi_figures *figures, const char *demo, char kind);

void exi_figures_fact(exi_figures *figures, const char *what, const char *theirs, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- several forms side by side (figures_shots.c) ---- */

typedef struct exi_shot {
    const ex_rig *rig;
    const char *pose;    /* "elbow=110 gender=1" */
    const float *form;   /* [vertex_count][3] of the cage, in place of a pose; or NULL */
    const ex_mesh *mesh; /* in place of a rig and all that is said of its form, in its own colours; or NULL */
    bool muted;          /* all layers: what the skeleton alone makes of the mesh */
    bool unskinned;      /* what the layers make of it, before the skeleton moves it */
    bool textures;
    int tone; /* 0: light, 1: an example, 2: what is wrong with it is the point */
    /* Of a form that is given: the segment of every face [face_count], as colours, and the tree of segments, written
     * in place of a note; or NULL. */
    const int *face_segments;
    const ex_segments *segments;
    const ex_mesh *under; /* another mesh in the same picture, dark, and its form [vertex_count][3]; or NULL */
    const float *under_form;
    const double *weights; /* [3] that sum to 1: a point in a triangle above the form; or NULL */
    const char *title, *note;
} exi_shot;

typedef struct exi_shots {
    const exi_shot *shots;
    int count, columns;
    double yaw, pitch;
    double size;           /* of each, in forms of a sheet */
    const float *close_up; /* [6]: two corners of what is in view; NULL: all of every form */
} exi_shots;

ex_result exi_figures_shots(exi_figures *figures, const exi_shots *shots, const char *path);

/* ---- the figures ---- */

ex_result exi_figure_basis(exi_figures *figures, const char *path);    /* figures_curves.c */
ex_result exi_figure_cardinal(exi_figures *figures, const char *path); /* figures_curves.c */
ex_result exi_figure_blob_plain(exi_figures *figures, const char *path);
ex_result exi_figure_blob(exi_figures *figures, const char *path);
ex_result exi_figure_arm(exi_figures *figures, const char *path);
ex_result exi_figure_shrinking(exi_figures *figures, const char *path);
ex_result exi_figure_unposed(exi_figures *figures, const char *path);
ex_result exi_figure_stages(exi_figures *figures, const char *path);
ex_result exi_figure_faces(exi_figures *figures, const char *path);
ex_result exi_figure_speeds(exi_figures *figures, const char *path);  /* figures_speeds.c */
ex_result exi_figure_between(exi_figures *figures, const char *path); /* figures_pose_curves.c, down to smile */
ex_result exi_figure_shepard(exi_figures *figures, const char *path);
ex_result exi_figure_gaussian(exi_figures *figures, const char *path);
ex_result exi_figure_smile(exi_figures *figures, const char *path);
ex_result exi_figure_collapse(exi_figures *figures, const char *path); /* figures_pose.c, down to elbow */
ex_result exi_figure_twist(exi_figures *figures, const char *path);
ex_result exi_figure_emotions(exi_figures *figures, const char *path);
ex_result exi_figure_shoulder(exi_figures *figures, const char *path);
ex_result exi_figure_elbow(exi_figures *figures, const char *path);
ex_result exi_figure_creature(exi_figures *figures, const char *path); /* figures_trajectories.c, down to three */
ex_result exi_figure_stretch(exi_figures *figures, const char *path);
ex_result exi_figure_heads(exi_figures *figures, const char *path);
ex_result exi_figure_three(exi_figures *figures, const char *path);
ex_result exi_figure_chain(exi_figures *figures, const char *path); /* figures_chain.c, and tail */
ex_result exi_figure_tail(exi_figures *figures, const char *path);
ex_result exi_figure_turn(exi_figures *figures, const char *path);       /* figures_turn.c */
ex_result exi_figure_path_times(exi_figures *figures, const char *path); /* figures_times.c */
ex_result exi_figure_weights(exi_figures *figures, const char *path);    /* figures_driven.c, down to far */
ex_result exi_figure_moving(exi_figures *figures, const char *path);
ex_result exi_figure_beside(exi_figures *figures, const char *path);
ex_result exi_figure_more_keys(exi_figures *figures, const char *path);
ex_result exi_figure_far(exi_figures *figures, const char *path);
ex_result exi_figure_poses(exi_figures *figures, const char *path); /* figures_scans.c, down to builds */
ex_result exi_figure_scan(exi_figures *figures, const char *path);
ex_result exi_figure_template(exi_figures *figures, const char *path);
ex_result exi_figure_freedoms(exi_figures *figures, const char *path);
ex_result exi_figure_parts(exi_figures *figures, const char *path);
ex_result exi_figure_interpolated(exi_figures *figures, const char *path);
ex_result exi_figure_builds(exi_figures *figures, const char *path);
ex_result exi_figure_rays(exi_figures *figures, const char *path); /* figures_maps.c, and holes */
ex_result exi_figure_holes(exi_figures *figures, const char *path);

#endif
