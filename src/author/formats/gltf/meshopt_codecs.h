/*
 * meshopt_codecs.h - the codecs and filters of EXT_meshopt_compression, on bytes in memory; private to authoring. Any
 * bytes may be given: a codec reads none beyond them, and returns false if they are damaged. Numbers are little-endian
 * on either side.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_GLTF_MESHOPT_CODECS_H
#define EXEMPLAR_AUTHOR_FORMATS_GLTF_MESHOPT_CODECS_H

#include <exemplar/base.h>

/* Decodes attributes into out [count][stride]. stride is a multiple of 4, at most 256. Costs one pass. */
bool exi_meshopt_attributes(const unsigned char *bytes, size_t size, size_t count, size_t stride, unsigned char *out);

/* Decode indices of 2 or 4 bytes into out [count][stride]: triangles, count a multiple of 3, or any sequence. */
bool exi_meshopt_triangles(const unsigned char *bytes, size_t size, size_t count, size_t stride, unsigned char *out);
bool exi_meshopt_sequence(const unsigned char *bytes, size_t size, size_t count, size_t stride, unsigned char *out);

/* Turn [count][stride] decoded bytes into numbers, in place: unit vectors and a fourth number (stride 4 or 8),
 * quaternions (stride 8), floats (count of them). */
void exi_meshopt_octahedral(unsigned char *out, size_t count, size_t stride);
void exi_meshopt_quaternion(unsigned char *out, size_t count);
void exi_meshopt_exponential(unsigned char *out, size_t count);

#endif
