/*
 * figures/figures_body.h - the demo `body` for the figures about scanned bodies: opens its session, and makes shots of
 * coloured surfaces.
 */
#ifndef EXEMPLAR_CLI_FIGURES_BODY_H
#define EXEMPLAR_CLI_FIGURES_BODY_H

#include "figures.h"

#include <exemplar/author/colour.h>

enum { EXI_SCANNED_SHOTS = 16 };

/* The body, before control points were moved to the scans and after. */
typedef struct exi_scanned {
    exi_figures *figures;
    const ex_rig *rig; /* the body */
    ex_scan_session *session;
    ex_scan_fitted *fitted;
    ex_template templates[2];
    ex_rig *rigs[2];         /* rigs of both */
    int level, vertex_count; /* the finest level */
    exi_shot shots[EXI_SCANNED_SHOTS];
    ex_mesh *meshes[EXI_SCANNED_SHOTS];
    int shot_count;
} exi_scanned;

/* Makes the demo if it does not exist yet. Call the close function also after an error. */
ex_result exi_scanned_open(exi_figures *figures, exi_scanned *scanned);
void exi_scanned_close(exi_scanned *scanned);

/* Parses a pose, "elbow.L=90 girth=0.3"; release with free(pose->inputs), also after an error. */
ex_result exi_scanned_pose(const exi_scanned *scanned, const char *words, ex_pose *pose);

/* The finest level of a rig [level vertices][3]; plain: without any layer. normals may be NULL. */
ex_result exi_scanned_surface(const exi_scanned *scanned, const ex_rig *rig, const ex_pose *pose, bool plain,
                              float *positions, float *normals);

/* positions += d * normals. */
void exi_scanned_displace(const exi_scanned *scanned, const float *d, const float *normals, float *positions);

/* Adds a shot of positions at the finest level, in colours [level vertices] (NULL: plain), with the faces whose corners
 * are all kept [level vertices] (NULL: all faces). */
ex_result exi_scanned_add(exi_scanned *scanned, const float *positions, const ex_colour *colours,
                          const unsigned char *kept, const char *title, const char *note);
/* Adds a shot of a mesh and takes ownership of it; NULL: memory ran out while it was made. */
ex_result exi_scanned_add_mesh(exi_scanned *scanned, ex_mesh *mesh, const char *title, const char *note);

/* Draws all shots; close_up as in exi_shots. */
ex_result exi_scanned_draw(exi_scanned *scanned, int columns, double size, double yaw, double pitch,
                           const float *close_up, const char *path);

/* Mesh of the positions as a checkerboard of the cage's faces. NULL if out of memory. */
ex_mesh *exi_scanned_checkerboard(const exi_scanned *scanned, const ex_mesh *cage, int level, const float *positions);
/* Mesh of the bones, joints and markers of the fit, in the reference pose: balls large, hinges as cones. NULL if out of
 * memory. */
ex_mesh *exi_scanned_skeleton(const exi_scanned *scanned);
/* The cage with a ball at each control point. NULL if out of memory. */
ex_mesh *exi_scanned_control(const exi_scanned *scanned, const ex_mesh *cage);

#endif
