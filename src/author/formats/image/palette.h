/* palette.h - the few colours that show some pictures best. Private to this folder. */
#ifndef EXEMPLAR_AUTHOR_FORMATS_IMAGE_PALETTE_H
#define EXEMPLAR_AUTHOR_FORMATS_IMAGE_PALETTE_H

#include <exemplar/author/image.h>

/* Colours remembered from earlier searches, so that most pixels need none. */
enum { EXI_PALETTE_MEMORY = 1 << 16 };

typedef struct exi_palette {
    int count; /* 1 to 256 */
    unsigned char colours[256][3];
    uint32_t known[EXI_PALETTE_MEMORY]; /* a colour and its number: number << 24 | colour; 0: nothing yet */
} exi_palette;

/* Chooses at most `most` colours for the pixels of some images, whose alpha does not count. Results: MEMORY. */
ex_result exi_palette_choose(exi_palette *palette, int most, int image_count, const ex_image *const *images,
                             ex_error *error);
/* Returns the number of the nearest colour. */
int exi_palette_find(exi_palette *palette, const unsigned char rgb[3]);
/* Returns the squared distance of two colours, about as large as people see it. */
int exi_palette_distance(const unsigned char a[3], const unsigned char b[3]);

#endif
