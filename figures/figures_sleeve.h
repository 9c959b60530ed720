/*
 * figures/figures_sleeve.h - the demo `sleeve` for DrivenShape's figures: its motions, rigs with other keys and
 * options, and forms of arm and sleeve side by side. It is simulated once per run; rigs are kept for later figures.
 */
#ifndef EXEMPLAR_CLI_FIGURES_SLEEVE_H
#define EXEMPLAR_CLI_FIGURES_SLEEVE_H

#include "figures.h"

enum { EXI_SLEEVE_SHOTS = 16 };

typedef struct exi_sleeve {
    exi_figures *figures;
    const ex_rig *rig;                 /* rig of the demo, with twelve keys */
    ex_mesh *driver;                   /* at rest */
    char *driver_train, *driven_train; /* paths of caches */
    char *driver_unseen, *driven_unseen;
    ex_cache_reader *drivers, *drivens; /* of the unseen motion */
    ex_driver *whole;                   /* position of the arm as a whole */
    int shot_count;
    exi_shot shots[EXI_SLEEVE_SHOTS];                       /* shots made so far; their forms are the sleeve's */
    float *forms[EXI_SLEEVE_SHOTS][2];                      /* driven, driver */
    float *driver_form, *driven_form, *blended, *unsettled; /* [vertices][3], temporary */
} exi_sleeve;

/* Writes and builds the demo unless this run has done so. Call exi_sleeve_close either way. */
ex_result exi_sleeve_open(exi_figures *figures, exi_sleeve *sleeve);
void exi_sleeve_close(exi_sleeve *sleeve);

/* Learns a rig from the same motion with key_count keys; `paper`: one moving frame, and the residual by closest
 * triangles; `still`: without a moving frame. NULL after an error. */
const ex_rig *exi_sleeve_learn(exi_sleeve *sleeve, int key_count, bool paper, bool still);

/* Stages of a rig that a shot can show. */
typedef enum exi_sleeve_stage { SLEEVE_SETTLED, SLEEVE_UNSETTLED, SLEEVE_BLENDED } exi_sleeve_stage;

/* Adds a shot: of the simulation at a frame of the unseen motion; of a rig there; or of a rig at any form of the
 * driver, with `blended` for a driver as the keys blend it. hull, if not NULL, receives the distance of the driver from
 * the keys. Shots are placed like the reference. */
ex_result exi_sleeve_add_truth(exi_sleeve *sleeve, int frame, const char *title, const char *note);
ex_result exi_sleeve_add_frame(exi_sleeve *sleeve, const ex_rig *rig, int frame, exi_sleeve_stage stage,
                               const char *title, const char *note);
ex_result exi_sleeve_add(exi_sleeve *sleeve, const ex_rig *rig, const float *driver, exi_sleeve_stage stage,
                         const char *title, const char *note, double *hull);
/* Adds a shot of a key. */
ex_result exi_sleeve_add_key(exi_sleeve *sleeve, const ex_rig *rig, int key, const char *title);

/* Measures a rig on the unseen motion; release with ex_drive_report_free. */
ex_result exi_sleeve_report(exi_sleeve *sleeve, const ex_rig *rig, ex_drive_report **report);

#endif
