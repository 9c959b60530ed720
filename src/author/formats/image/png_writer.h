/* png_writer.h - the part of the PNG writer that animations share: rows of pixels as a PNG file in memory. Private to
 * this folder. */
#ifndef EXEMPLAR_AUTHOR_FORMATS_IMAGE_PNG_WRITER_H
#define EXEMPLAR_AUTHOR_FORMATS_IMAGE_PNG_WRITER_H

#include <exemplar/author/image.h>

/* Kinds of pixels, numbered as PNG does. */
typedef enum exi_png_kind { EXI_PNG_RGB = 2, EXI_PNG_PALETTE = 3, EXI_PNG_RGBA = 6 } exi_png_kind;

/* A picture to write. */
typedef struct exi_png {
    int width, height;
    exi_png_kind kind;
    const unsigned char *pixels; /* [height][width], of 4 bytes, or 1 for a palette; alpha is left out of RGB */
    size_t stride;               /* bytes from a row to the next */
    int level;                   /* of zlib, 1 to 9 */
} exi_png;

/* Makes the bytes of a PNG file (release with free). That of a palette has 256 greys: whoever needs its colours writes
 * them. Results: MEMORY. */
ex_result exi_png_encode(const exi_png *png, unsigned char **bytes, size_t *size, ex_error *error);

#endif
