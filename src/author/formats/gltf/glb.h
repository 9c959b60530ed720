/*
 * glb.h - the binary container of glTF: a JSON part and a binary part in one file (glTF 2.0, section 4.4); private to
 * authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_GLTF_GLB_H
#define EXEMPLAR_AUTHOR_FORMATS_GLTF_GLB_H

#include "author/base/json.h"

#include <exemplar/base.h>

/*
 * Writes the file whole or not at all. The JSON is padded with blanks until the binary part starts at a multiple of 16
 * in the file. EX_ERROR_LIMIT, and advice, where the file would be larger than its 32-bit length can say;
 * EX_ERROR_MEMORY where json has failed. bin_size 0 leaves the binary part out.
 */
ex_result exi_glb_write(const char *path, exi_text *json, const void *bin, size_t bin_size, const char *advice,
                        ex_error *error);

/* The program that wrote a file: the first version that writes these bytes. It changes when they do, not with every
 * version, since the same project gives the same bytes. */
#define EXI_GENERATOR "Exemplar 0.1.0"

#endif
