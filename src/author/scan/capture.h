/*
 * capture.h - what the parts of motion capture share; private to src/author/scan.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_CAPTURE_H
#define EXEMPLAR_AUTHOR_SCAN_CAPTURE_H

#include <exemplar/author/capture.h>

/* Where a marker is seen, or NULL. */
const float *exi_capture_seen(const ex_markers *markers, int frame, int marker);

#endif
