/*
 * glb.h - the binary container of glTF: a JSON part and a binary part in one file (glTF 2.0, section 4.4); private to
 * authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_GLTF_GLB_H
#define EXEMPLAR_AUTHOR_FORMATS_GLTF_GLB_H

#include "author/base/json.h"

#include <exemplar/base.h>

/*
 * Writes the file completely or not at all. Pads the JSON with blanks so that the binary part starts at a multiple of
 * 16 in the file. EX_ERROR_LIMIT, with advice, if the file would be larger than its 32-bit length can express;
 * EX_ERROR_MEMORY if json has failed. bin_size 0 omits the binary part.
 */
ex_result exi_glb_write(const char *path, exi_text *json, const void *bin, size_t bin_size, const char *advice,
                        ex_error *error);

/* The same into memory. out fails if json has failed, without memory, or if the file would be too large. */
void exi_glb_print(exi_text *json, const char *bin, size_t bin_size, exi_text *out);

/* Program name in files: the first version that writes these bytes. It changes only when they do, not with every
 * version, since the same project must give the same bytes. */
#define EXI_GENERATOR "Exemplar 0.1.0"

#endif
