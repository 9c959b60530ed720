/*
 * A rig's driver: its sections in a file (drive_source.c), the points of its weighers (drive_points.c), the block made
 * from them (drive.c), and its part in evaluation (drive_evaluate.c). The block is a part of the rig like others, but
 * is made last, since it holds the place of every key's vertices on the driver.
 */
#ifndef EXI_RIG_DRIVE_H
#define EXI_RIG_DRIVE_H

#include "runtime/rig/rig.h"
#include "runtime/shape/regions.h"
#include "runtime/weigh/predictor.h"

/* ---- sections (docs/reference/rig.md) ---- */

/*
 * Section DRIVER. This header is followed by reference (float [vertices][3]); starts (uint32_t [frames + 1]), vertices
 * (uint32_t [fits]) and weights (float [fits]) of the frames; joints (int32_t [frames]) if there are any; starts
 * (uint32_t [rows + 1]) and weights (float [carries]) of the frames that carry the vertices of mesh and driver, if
 * carries > 0; triangles (uint32_t [triangles][3]); starts (uint32_t [binds + 1]) and triangles (uint32_t
 * [bind_triangles]) of the binds; then, each padded to 4 bytes, the carrying frames (uint16_t [carries]) and, if there
 * are binds, those of the mesh's vertices (uint16_t).
 */
typedef struct exi_pack_driver {
    int32_t vertices, frames, fits, carries, triangles, binds, bind_triangles;
    uint32_t flags; /* EXI_DRIVER_… */
    int32_t residual;
    float thickness;
    uint32_t reserved[2];
} exi_pack_driver;

enum { EXI_DRIVER_PUSH = 1, EXI_DRIVER_JOINTS = 2 };

/* Section REGIONS of a layer. For a layer that follows motion, it is its predictor (weigh/predictor.h), and its keys
 * are empty. For others, this header is followed by frames (int32_t [views]), starts (uint32_t [views + 1]), vertices
 * (uint32_t [samples]) and weights (float [samples]) of the views; starts (uint32_t [rows + 1]) and weights (float
 * [influences]) of the vertices of mesh and driver, if influences > 0, and their regions (uint16_t, padded to 4 bytes).
 * In a layer with a mixture, the data of the driver's vertices come last: shares (float [EX_NODE_SHARES] each),
 * correctors (float [3] each, corrector after corrector), nodes (uint16_t [EX_NODE_SHARES] each). */
typedef struct exi_pack_regions {
    int32_t views, samples, influences;
    uint32_t reserved;
} exi_pack_regions;

_Static_assert(sizeof(exi_pack_driver) == 48, "the file format has no padding");
_Static_assert(sizeof(exi_pack_regions) == 16, "the file format has no padding");

typedef struct exi_bytes {
    const void *data; /* aligned to 4 */
    size_t size;
} exi_bytes;

/* Everything that a driver is made from, in the form of file sections. */
typedef struct exi_drive_source {
    exi_bytes driver;
    const exi_bytes *regions; /* [layers]; size 0 for a layer that no driver weighs */
    const exi_bytes *keys;    /* [examples]; the same. The driver's vertices (float [3]), no joints or all, and, in a
                                 trajectory layer, turns (if the example has them) and correctors of the driver's
                                 vertices (float [3] each) */
} exi_drive_source;

/* Makes the sections of a definition. The data of the source is one allocation, which the caller releases. */
ex_result exi_drive_encode(const ex_rig_def *def, const ex_allocator *allocator, exi_drive_source *source,
                           void **memory, size_t *size, ex_error *error);

/* Reads the sections as definitions that point into them. views [EX_DRIVER_FRAME_MAX]; vertex_count: of the mesh.
 * Refuses inconsistent sizes and counts, and indices out of range. */
ex_result exi_drive_read_driver(exi_bytes bytes, int vertex_count, int joint_count, ex_rig_driver *driver,
                                ex_bind *binds, ex_error *error);
ex_result exi_drive_read_regions(exi_bytes bytes, int vertex_count, const ex_rig_driver *driver, int *view_count,
                                 ex_region *views, ex_influences *regions, ex_error *error);

/* ---- the block ---- */

typedef struct exi_drive_layer {
    int32_t layer, example_count, view_count;
    int32_t width;      /* length of a row of region weights: examples, padded to a multiple of 4 */
    int32_t first_form; /* index in the driver's forms */
    int32_t reserved;
    uint64_t views;    /* ex_regions */
    uint64_t weighers; /* [view_count] uint64_t: offset of each region's weigher; 0 for a single region: the layer's
                          own */
    uint64_t shares;   /* [view_count] double: fraction of the mesh that each region weighs */
    uint64_t regions, regions_size;   /* its section */
    uint64_t starts, weights, places; /* ex_influences of the mesh's vertices, then the driver's; 0: a single region */
    uint64_t predictor;               /* ex_predictor: the layer follows motion, and has no regions; 0: none */
    uint64_t state;                   /* offset, in a caller's state, of the state of the first region's weigher;
                                         others follow; of its history, if it follows motion */
} exi_drive_layer;

struct exi_drive {
    uint64_t size;
    int32_t vertex_count, frame_count, layer_count;
    int32_t most_products; /* largest views times examples of a layer */
    int32_t most_width;
    int32_t residual;
    uint32_t push;
    float thickness;
    uint64_t layers;   /* [layer_count] exi_drive_layer */
    uint64_t layer_of; /* [layers of the rig] int32_t: its index in `layers`, or -1 */
    uint64_t section, section_size;
    uint64_t keys;        /* [examples of the rig] exi_drive_key */
    uint64_t links;       /* [frame_count] exi_frame_link */
    uint64_t joints;      /* [frame_count] int32_t; 0: none */
    uint64_t driver;      /* ex_driver */
    uint64_t skin;        /* ex_skin: of the mesh, by the frames; 0: the rig has its own skin */
    uint64_t driver_skin; /* ex_skin: of the driver; 0 without residual */
    uint64_t forms;       /* ex_forms: the driver, un-posed, in all keys; 0 without residual */
    uint64_t paths; /* exi_trajectories: of the driver, in a layer of trajectories; 0 for forms, or without residual */
    uint64_t settler; /* ex_settler; 0: nothing to settle */
    uint64_t state_size, settler_state, weigher_scratch;
    int32_t most_state; /* largest number of a predictor's state; 0: no layer follows motion */
    uint32_t reserved;
};

typedef struct exi_drive_key {
    uint64_t data, size; /* its section; 0: none */
} exi_drive_key;

static inline const exi_drive *exi_rig_drive(const ex_rig *rig) {
    return exi_rig_part(rig, rig->drive);
}
static inline const void *exi_drive_at(const exi_drive *drive, uint64_t offset) {
    return (const char *)drive + offset;
}
static inline const exi_drive_layer *exi_drive_layers(const exi_drive *drive) {
    return exi_drive_at(drive, drive->layers);
}
/* Returns the layer's driver record; NULL if no driver weighs it. */
static inline const exi_drive_layer *exi_drive_layer_of(const ex_rig *rig, int layer) {
    const exi_drive *drive = exi_rig_drive(rig);
    const int32_t of = drive ? ((const int32_t *)exi_drive_at(drive, drive->layer_of))[layer] : -1;
    return of >= 0 ? exi_drive_layers(drive) + of : NULL;
}

/* True if settling gets the weights of the keys at every vertex: one driven layer with keys, on frames of the
 * driver. */
static inline bool exi_drive_is_keyed(const exi_drive *drive) {
    return drive->settler && drive->layer_count == 1 && drive->skin && exi_drive_layers(drive)->view_count > 0;
}

/* Returns the bytes of a key's section after its form and joints: its trajectory's data for the driver's vertices. */
size_t exi_drive_trajectory_size(const ex_rig *rig, int layer, int example, int vertices);

/* Returns the bytes of a layer's section REGIONS after the regions: its mixture's data for the driver's vertices. */
size_t exi_drive_mixture_size(const ex_rig *rig, int layer, int vertices);

/* Places the frames at a key: those with joints follow the skeleton there, the others are fitted. matrices
 * [frames][12].
 */
ex_result exi_drive_place_frames(const ex_driver *driver, const int *frame_joints, const ex_skeleton *skeleton,
                                 const ex_transform *locals, const float *form, const ex_allocator *allocator,
                                 float *matrices, ex_error *error);

/* Computes the points of a driven layer's weigher [example_count][dimension] from a checked definition: the products
 * over all regions, and the values on its scalar axis. */
ex_result exi_drive_points(const ex_rig_def *def, int layer, const ex_allocator *allocator, double *points,
                           ex_error *error);

/* Makes the block from sections and appends it to an otherwise complete rig; *rig may move. */
ex_result exi_drive_attach(const exi_drive_source *source, const ex_allocator *allocator, ex_rig **rig,
                           ex_error *error);

#endif
