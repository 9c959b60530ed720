/*
 * figures/figures.h - computes the papers' figures and tables: one table of all of them (figures_list.c), a function
 * for each that can be made, and a page around the results.
 */
#ifndef EXEMPLAR_CLI_FIGURES_H
#define EXEMPLAR_CLI_FIGURES_H

#include "cli/base/command.h"
#include "cli/base/report.h"

#include <exemplar/author.h>

/* One line of a table, or of the numbers next to a picture. */
#define EXI_FACT_MAX 12
typedef struct exi_fact {
    char what[96], theirs[48], ours[48];
} exi_fact;

/* A rig of a demo, made when it is first needed. */
typedef struct exi_figure_rig {
    const char *name; /* NULL: no rig yet */
    char kind;        /* as it is, without its pseudo-examples, or of another project that the demo writes */
    ex_rig *rig;
} exi_figure_rig;

enum { EXI_FIGURE_RIGS = 24 };

/* Context of the functions that make figures. */
typedef struct exi_figures {
    const char *folder;
    int cell; /* width of one form in pixels */
    const ex_tasks *tasks;
    ex_error *error; /* error of the failed step */
    exi_figure_rig rigs[EXI_FIGURE_RIGS];
    exi_fact facts[EXI_FACT_MAX]; /* facts of the figure that is being made */
    int fact_count;
} exi_figures;

typedef struct exi_figure {
    const char *number;  /* "Figure 4" */
    const char *title;   /* title of a few words */
    const char *file;    /* "shape-by-example-4.png"; NULL for a table of facts, or if it is not computed */
    const char *demo;    /* demo whose rig it uses, or NULL */
    const char *caption; /* sentences; if it is not computed, the reason */
    bool slow;           /* true if made only with --all */
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

/* Result of a figure, for the page: its facts. */
typedef struct exi_figure_result {
    bool made;
    int width, height; /* of a picture, in pixels or points */
    exi_fact facts[EXI_FACT_MAX];
    int fact_count;
} exi_figure_result;

/* Writes index.html, from results in the order of papers and figures (figures_page.c). */
ex_result exi_figures_page(const exi_figures *figures, const exi_figure_result *results, ex_error *error);

/* ---- names and notes (figures_notes.c) ---- */

/* Writes the name of a figure: its file's without the ending, or "shape-by-example-table-1". */
#define EXI_FIGURE_NAME 64
void exi_figure_name(const exi_paper *paper, const exi_figure *figure, char name[EXI_FIGURE_NAME]);

/* Write and read what the page says of a figure, folder/NAME.figure. Reading checks that its picture is there too, and
 * fails if the note is of another version or another size of forms. */
ex_result exi_figures_note_write(const exi_figures *figures, const char *name, const exi_figure_result *result);
ex_result exi_figures_note_read(const exi_figures *figures, const char *name, const exi_figure *figure,
                                exi_figure_result *result);

/* ---- parts of figures (figures_parts.c) ---- */

/* Writes the demo, builds its rig in folder/demos/NAME and returns it. NULL after an error. */
const ex_rig *exi_figures_rig(exi_figures *figures, const char *demo);
/* Like exi_figures_rig without its pseudo-examples. */
const ex_rig *exi_figures_rig_without(exi_figures *figures, const char *demo);
/* Like exi_figures_rig for another project that the demo writes, DEMO_variant.json. */
const ex_rig *exi_figures_rig_variant(exi_figures *figures, const char *demo, const char *variant);

/* Entry for the rig of that demo and kind; if it is empty, the caller fills it. Never NULL. */
exi_figure_rig *exi_figures_slot(exi_figures *figures, const char *demo, char kind);

void exi_figures_fact(exi_figures *figures, const char *what, const char *theirs, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- several forms side by side (figures_shots.c) ---- */

typedef struct exi_shot {
    const ex_rig *rig;
    const char *pose;    /* "elbow=110 gender=1" */
    const float *form;   /* [vertex_count][3] of the cage, instead of a pose; or NULL */
    const ex_mesh *mesh; /* replaces the rig and its form, with the mesh's own colours; or NULL */
    bool muted;          /* true to mute all layers: the mesh moved by the skeleton alone */
    bool unskinned;      /* true for the form of the layers before skinning */
    bool textures;
    int tone; /* 0: light, 1: an example, 2: a form that shows a defect */
    /* For a given form: the segment of every face [face_count], shown as colours, and the tree of segments, drawn
     * instead of a note; or NULL. */
    const int *face_segments;
    const ex_segments *segments;
    const ex_mesh *under; /* a second mesh in the same picture, dark, and its form [vertex_count][3]; or NULL */
    const float *under_form;
    const double *weights; /* [3] that sum to 1: a point in a triangle drawn above the form; or NULL */
    const char *title, *note;
} exi_shot;

typedef struct exi_shots {
    const exi_shot *shots;
    int count, columns;
    double yaw, pitch;
    double size;           /* size of each form, relative to the forms of a sheet */
    const float *close_up; /* [6]: two corners of the visible box; NULL: all of every form */
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
ex_result exi_figure_creature(exi_figures *figures, const char *path); /* figures_trajectories.c, down to mixtures */
ex_result exi_figure_stretch(exi_figures *figures, const char *path);
ex_result exi_figure_heads(exi_figures *figures, const char *path);
ex_result exi_figure_three(exi_figures *figures, const char *path);
ex_result exi_figure_mixtures(exi_figures *figures, const char *path);
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
