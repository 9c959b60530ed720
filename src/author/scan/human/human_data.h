/*
 * human_data.h - the bytes of human.glb, which are part of the library (human_data.S).
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_HUMAN_HUMAN_DATA_H
#define EXEMPLAR_AUTHOR_SCAN_HUMAN_HUMAN_DATA_H

#include <stddef.h>

const void *exi_human_data(size_t *size);

#endif
