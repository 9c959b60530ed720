/*
 * scan_report.h - shared by the files of a session's report; private to src/author/scan.
 *
 *   scan_report.c      the sequence of steps
 *   report_truth.c     joints and labels against the truth of a simulated scanner
 *   report_left_out.c  scans predicted from others
 *   report_surface.c   poses never scanned against their true surfaces
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_REPORT_SCAN_REPORT_H
#define EXEMPLAR_AUTHOR_SCAN_REPORT_SCAN_REPORT_H

#include "author/scan/build/body_build.h"

typedef struct exi_scan_work {
    exi_body body;              /* with the cage as it was built, parts and masks */
    ex_displacement_map **maps; /* [example_count of the body], NULL for those that are left out */
    ex_scan_report *report;
    const ex_tasks *tasks;
    const ex_progress *progress;
    ex_error *error;
} exi_scan_work;

/* A list of distances, to be summarised. */
typedef struct exi_distances {
    float *values;
    size_t count, capacity;
    bool failed;
} exi_distances;
void exi_distances_add(exi_distances *distances, double value);
/* Summarises the distances, and frees them. */
ex_scan_distance exi_distances_sum(exi_distances *distances);

ex_result exi_report_left_out(exi_scan_work *work);
ex_result exi_report_truth(exi_scan_work *work, const ex_scan_fitted *truth);
ex_result exi_report_held(exi_scan_work *work, const ex_scan_fitted *truth);

#endif
