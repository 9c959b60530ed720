/*
 * cuda_order.h - what depends on when things happen: captured graphs, several streams, edited weighers, and calls that
 * follow one that failed.
 */
#ifndef EXEMPLAR_TESTS_CUDA_ORDER_H
#define EXEMPLAR_TESTS_CUDA_ORDER_H

#include "cuda/cuda_compare.h"

/* Each makes rigs of its own. */
void check_graphs(findings *f);
void check_streams(findings *f);
void check_edits(findings *f);
void check_errors(findings *f);

#endif
