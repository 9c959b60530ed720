/*
 * The driver's part in evaluation; private to the room.
 */
#ifndef EXI_RIG_DRIVE_EVALUATE_H
#define EXI_RIG_DRIVE_EVALUATE_H

#include "runtime/rig/drive/drive.h"

/* Scratch of one pose. */
typedef struct exi_drive_scratch {
    const float *form;      /* the driver: the caller's, or the reference */
    float *matrices;        /* [frame_count][12] */
    double *products;       /* [most_products] of a layer */
    double *point;          /* [most_width + 1] */
    double *squares;        /* [EX_DRIVER_FRAME_MAX] of a layer */
    double *region_weights; /* [most_width] of a region */
    float *weights;         /* of all regions of all layers, a row each */
    float *omegas;          /* [vertices][width]: of one driven layer; absent unless settling uses keys */
    float *blended;         /* [driver vertices][3] */
    float *floats;          /* [forms of the driver's paths] */
    exi_term *terms;        /* the same */
    void *mixing;           /* exi_mixture_room_size of the driver's paths */
    void *palette, *weighing, *settling;
    float *motion;     /* [most_state] of a layer that follows motion */
    float *sizes;      /* [frame_count] of the moving frames; NULL if no layer follows motion */
    double elapsed;    /* of the pose */
    double unfamiliar; /* the largest of all layers that follow motion */
    double hull;       /* sum over layers */
    int hull_layers;
} exi_drive_scratch;

/* Lays out the scratch from *cursor on; nothing for a rig without a driver. */
void exi_drive_lay(const ex_rig *rig, uintptr_t *cursor, exi_drive_scratch *scratch);

/* Places the moving frames. joints: the skeleton's matrices [joints][12], or NULL. */
void exi_drive_place(const ex_rig *rig, const ex_pose *pose, exi_drive_scratch *scratch, const float *joints);
const ex_palette *exi_drive_palette(const ex_rig *rig, exi_drive_scratch *scratch, bool rotations);

/* Weighs a layer: its weights [examples], and a row for each of its regions. other: a weigher that replaces the layer's
 * own, or NULL. scalar: the value of its other axis. True if its vertices have individual weights. */
bool exi_drive_weigh(const ex_rig *rig, const exi_drive_layer *layer, const ex_weigher *other, double scalar,
                     exi_drive_scratch *scratch, double *weights, void *state);

/* Returns the layer's region weights, for the mesh's vertices or the driver's. */
exi_regions exi_drive_regions(const ex_rig *rig, const exi_drive_layer *layer, const exi_drive_scratch *scratch,
                              bool of_driver);
/* Copies those of all layers, in the layout of ex_driven. */
void exi_drive_copy_weights(const ex_rig *rig, const exi_drive_scratch *scratch, double *out);

/* Settles the posed cage. */
void exi_drive_settle(const ex_rig *rig, exi_drive_scratch *scratch, const ex_palette *palette, float *positions,
                      size_t stride, void *state, const ex_tasks *tasks, ex_settled *settled);

#endif
