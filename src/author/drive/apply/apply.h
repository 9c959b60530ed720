/*
 * apply.h - applying while it goes on: what its parts share. Private to this folder.
 *
 *   apply.c          the whole: frames in, frames out
 *   apply_measure.c  a frame beside the truth, the nearest key, the driver and the frame before
 *   histogram.c      percentiles of more numbers than memory holds
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_APPLY_APPLY_H
#define EXEMPLAR_AUTHOR_DRIVE_APPLY_APPLY_H

#include "author/drive/learn/references.h"

/* ---- percentiles ---- */

/* Distances in metres from 1e-8 to 1e18, beyond which none are, each bin 1 % wide. */
#define EXI_HISTOGRAM_BINS 6100

typedef struct exi_histogram {
    uint64_t counts[EXI_HISTOGRAM_BINS];
    uint64_t total;
    double sum;
} exi_histogram;

void exi_histogram_add(exi_histogram *histogram, double value);
/* Where so much of all lies below, within 1 %; 0 of nothing. */
double exi_histogram_percentile(const exi_histogram *histogram, double part);
double exi_histogram_mean(const exi_histogram *histogram);

/* Where so much of them [count] lies below; sorts them. */
double exi_percentile(double *values, int count, double part);

/* ---- measuring ---- */

typedef struct exi_gauge {
    const ex_rig *rig;
    const ex_apply_def *def;
    int vertex_count, driver_count, key_count, layer;
    ex_drive_set *set;
    ex_rig_driver driver; /* pointers into the rig */
    double *databases;    /* [key_count] */
    double shown;         /* the one of them that is nearest to what was asked for */

    /* unless brief */
    exi_whole whole;
    ex_driver *frames;
    float *homes;       /* [key_count][driver_count][3]: the keys' drivers in the moving frame of the whole */
    float *home_driven; /* [key_count][vertex_count][3] */
    float *home;        /* [driver_count][3] */
    float *matrices;    /* [frame_count][12]: of the driver's frames */
    float *nearest;     /* [vertex_count][3] */
    float *local[2];    /* [driver_count + vertex_count][3]: where vertices are in the frames that carry them, now and
                           one frame before */
    uint16_t *carriers; /* [driver_count + vertex_count]: the driver's frame that carries a vertex most; the driven
                           vertices first */
    ex_settler *settler;
    void *settler_scratch;
    float *distances; /* [vertex_count] */

    double *errors; /* [vertex_count] */
    exi_histogram *ours, *theirs, *blends;
    ex_drive_report *report;
} exi_gauge;

/* One frame as it was applied. */
typedef struct exi_applied {
    int frame;
    double time;
    const float *driver, *driven;
    const float *truth;     /* or NULL */
    const float *unsettled; /* or NULL */
    const double *weights;  /* [key_count] */
    const ex_driven *info;
} exi_applied;

/* Opens a gauge, and the report that it fills; exi_gauge_close either way, which leaves the report alone. */
ex_result exi_gauge_open(exi_gauge *gauge, const ex_apply_def *def, int layer, int frame_count,
                         ex_drive_report **report, ex_error *error);
void exi_gauge_add(exi_gauge *gauge, const exi_applied *applied);
/* After the last frame. */
void exi_gauge_finish(exi_gauge *gauge);
void exi_gauge_close(exi_gauge *gauge);

#endif
