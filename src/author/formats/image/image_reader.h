/*
 * image_reader.h - shared by the readers of image files: png_read.c and jpeg_read.c decode, image_read.c chooses
 * between them and holds the public functions. One reader reads one file, in one thread. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_IMAGE_IMAGE_READER_H
#define EXEMPLAR_AUTHOR_FORMATS_IMAGE_IMAGE_READER_H

#include <exemplar/author/image.h>

typedef struct exi_image_reader {
    const unsigned char *bytes; /* [size] */
    size_t size;
    const char *name; /* of the file, for messages */
    bool looks;       /* true: checks the pixels and keeps none */
    ex_image *image;  /* made by the reader, also if it fails; NULL if it only looks */
    ex_image_facts facts;
    ex_error *error;
} exi_image_reader;

/* Decode a whole file. Results: as ex_image_read. Whether the first bytes are those of the format is not checked. */
ex_result exi_png_read(exi_image_reader *r);
ex_result exi_jpeg_read(exi_image_reader *r);

/* Sets the facts' size, and refuses one that is 0 or beyond the limits of images. Results: FORMAT, LIMIT. */
ex_result exi_image_set_size(exi_image_reader *r, uint32_t width, uint32_t height, const char *format);

/* Refuses to fill much memory from a small file: a file of more than EX_IMAGE_PIXELS_SURE pixels needs a byte for every
 * `per_byte` of them. Results: LIMIT. */
ex_result exi_image_check_density(const exi_image_reader *r, int per_byte);

/* "NAME: WHAT: export the picture as FORMAT again". */
ex_result exi_image_refuse(const exi_image_reader *r, const char *what, const char *format);
ex_result exi_image_no_memory(const exi_image_reader *r);

#endif
