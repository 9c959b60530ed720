/*
 * Weighted sums of images: the texture at a pose. Private to the runtime.
 */
#ifndef EXI_PIXELS_H
#define EXI_PIXELS_H

#include <stdbool.h>
#include <stddef.h>

/* One image [..][4] of 8 bits (red green blue alpha) and its weight. */
typedef struct exi_pixels_term {
    const unsigned char *image;
    float weight;
} exi_pixels_term;

/*
 * out = sum of weight * image for pixels begin to end, rounded to the nearest of 8 bits and clamped. With srgb, colours
 * are decoded to linear light, summed and encoded again; alpha is summed unchanged. A single term of weight 1 is
 * reproduced to the bit. The result of a pixel does not depend on begin and end. out may not overlap an image.
 */
void exi_pixels_blend(const exi_pixels_term *terms, int term_count, bool srgb, size_t begin, size_t end,
                      unsigned char *out);

/* sums += decoded colours of `count` images, from their tables of weight times decoded code; pixel_count is even. */
enum { EXI_PIXELS_CODES = 256 };
void exi_pixels_add_colours(const unsigned char *const *images, const float (*linear)[EXI_PIXELS_CODES], int count,
                            int pixel_count, float (*sums)[3]);

#endif
