/*
 * Images in memory: red green blue alpha, 8 bits each. png_read.c and png_write.c read and write files.
 */
#include <exemplar/author/image.h>

#include <stdlib.h>

ex_image *ex_image_create(int width, int height) {
    if (width < 1 || height < 1 || width > EX_IMAGE_MAX || height > EX_IMAGE_MAX)
        return NULL;
    ex_image *image = malloc(sizeof *image);
    if (!image)
        return NULL;
    *image = (ex_image){.width = width, .height = height};
    image->pixels = calloc((size_t)width * (size_t)height, 4);
    if (!image->pixels) {
        free(image);
        return NULL;
    }
    return image;
}

void ex_image_destroy(ex_image *image) {
    if (!image)
        return;
    free(image->pixels);
    free(image);
}
