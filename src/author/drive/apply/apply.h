/*
 * apply.h - types and functions shared by the files that apply a driven rig. Private to this folder.
 *
 *   apply.c          the main loop: reads, evaluates and writes frames
 *   apply_block.c    frames at which its state begins anew
 *   apply_output.c   writes frames
 *   wear.c           removes crossings of the garment, and puts it over others
 *   apply_measure.c  compares a frame with the truth, the nearest key, the driver and the previous frame
 *   histogram.c      percentiles of more numbers than fit in memory
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_APPLY_APPLY_H
#define EXEMPLAR_AUTHOR_DRIVE_APPLY_APPLY_H

#include "author/drive/apply/wear.h"
#include "author/drive/learn/references.h"

/* ---- the past ---- */

/* True if a predictor needs no frames of more than this number and time ago. */
bool exi_apply_is_past(const ex_predictor *predictor, int frames, double seconds);

/* ---- output ---- */

typedef struct exi_apply_output {
    const ex_apply_def *def;
    int vertex_count;
    int *picked; /* [picked_count]: vertices to write; NULL: all */
    int picked_count;
    float *written;
    ex_cache_writer *writer; /* NULL: no output */
} exi_apply_output;

/* Opens the output; after a failure too, free picked and written, and finish the writer. */
ex_result exi_apply_output_open(exi_apply_output *output, const ex_apply_def *def, const ex_cache_reader *driver,
                                int frame_count, ex_error *error);
/* Writes a form, which is changed to the unit of the output. */
ex_result exi_apply_output_write(const exi_apply_output *output, int frame, float *made, ex_error *error);

/* ---- percentiles ---- */

/* Bins, each 1 % wide, for distances from 1e-8 to 1e18 metres. No distance is larger. */
#define EXI_HISTOGRAM_BINS 6100

typedef struct exi_histogram {
    uint64_t counts[EXI_HISTOGRAM_BINS];
    uint64_t total;
    double sum;
} exi_histogram;

void exi_histogram_add(exi_histogram *histogram, double value);
/* Returns the value below which the fraction `part` of all numbers lies, within 1 %; 0 without numbers. */
double exi_histogram_percentile(const exi_histogram *histogram, double part);
double exi_histogram_mean(const exi_histogram *histogram);

/* Returns the exact percentile: the value below which the fraction `part` of values [count] lies. Sorts values. */
double exi_percentile(double *values, int count, double part);

/* ---- measuring ---- */

typedef struct exi_gauge {
    const ex_rig *rig;
    const ex_apply_def *def;
    int vertex_count, driver_count, key_count, layer;
    ex_drive_set *set;
    ex_rig_driver driver; /* pointers into the rig */
    double *databases;    /* [key_count] */
    double shown;         /* the one of them nearest to the requested value */

    /* not used if brief */
    exi_whole whole;
    ex_driver *frames;
    float *homes;       /* [key_count][driver_count][3]: the drivers of the keys in the moving frame of the whole */
    float *home_driven; /* [key_count][vertex_count][3] */
    float *home;        /* [driver_count][3] */
    float *matrices;    /* [frame_count][12]: matrices of the driver's moving frames */
    float *nearest;     /* [vertex_count][3] */
    float *local[2];    /* [driver_count + vertex_count][3]: vertices in their carriers, now and one frame before */
    uint16_t *carriers; /* [driver_count + vertex_count]: frame of the largest weight; driven vertices first */
    ex_settler *settler;
    void *settler_scratch;
    float *distances; /* [vertex_count] */

    double *errors; /* [vertex_count] */
    exi_histogram *ours, *theirs, *blends;
    ex_drive_report *report;
} exi_gauge;

/* One applied frame. */
typedef struct exi_applied {
    int frame;
    double time;
    const float *driver, *driven;
    const float *truth;     /* or NULL */
    const float *unsettled; /* or NULL */
    const double *weights;  /* [key_count] */
    const ex_driven *info;
    const exi_wear *wear;
    const exi_worn *worn;
} exi_applied;

/* Opens a gauge and the report it fills. Call exi_gauge_close even after a failure; it keeps the report. */
ex_result exi_gauge_open(exi_gauge *gauge, const ex_apply_def *def, int layer, int frame_count,
                         ex_drive_report **report, ex_error *error);
void exi_gauge_add(exi_gauge *gauge, const exi_applied *applied);
/* Call after the last frame. */
void exi_gauge_finish(exi_gauge *gauge);
void exi_gauge_close(exi_gauge *gauge);

#endif
