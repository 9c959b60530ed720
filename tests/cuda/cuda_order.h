/*
 * cuda_order.h - tests of the order of events: captured graphs, several streams, edited weighers, and calls after a
 * failed one.
 */
#ifndef EXEMPLAR_TESTS_CUDA_ORDER_H
#define EXEMPLAR_TESTS_CUDA_ORDER_H

#include "cuda/cuda_compare.h"

/* Each makes its own rigs. */
void check_graphs(findings *f);
void check_streams(findings *f);
void check_edits(findings *f);
void check_errors(findings *f);

#endif
