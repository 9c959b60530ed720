/*
 * Sums of colours by lookups (pixels_kernel.c), compiled for the first set only. With the encoding of AVX, an addition
 * whose address has an index takes two slots of the pipeline in place of one, and all of this took 1.1 times as long.
 */
#include "runtime/shape/pixels.h"

#include "runtime/base/simd.h"

#include <string.h>

enum { GROUP = 8 };

/* `count`, of terms, is a constant at the calls. */
EXI_KERNEL void add_colours(const unsigned char *const *images, const float (*linear)[EXI_PIXELS_CODES], int count,
                            int pixel_count, float (*sums)[3]) {
    const unsigned char *at[GROUP];
    EXI_WRITE_OUT
    for (int t = 0; t < count; t++)
        at[t] = images[t];
    for (int i = 0; i < pixel_count; i += 2) {
        float red = sums[i][0], green = sums[i][1], blue = sums[i][2];
        float next_red = sums[i + 1][0], next_green = sums[i + 1][1], next_blue = sums[i + 1][2];
        EXI_WRITE_OUT
        for (int t = 0; t < count; t++) {
            uint64_t two;
            memcpy(&two, at[t] + 4 * i, sizeof two);
            red += linear[t][two & 255];
            green += linear[t][two >> 8 & 255];
            blue += linear[t][two >> 16 & 255];
            next_red += linear[t][two >> 32 & 255];
            next_green += linear[t][two >> 40 & 255];
            next_blue += linear[t][two >> 48 & 255];
        }
        EXI_KEEP_FLOAT(red);
        EXI_KEEP_FLOAT(green);
        EXI_KEEP_FLOAT(blue);
        EXI_KEEP_FLOAT(next_red);
        EXI_KEEP_FLOAT(next_green);
        EXI_KEEP_FLOAT(next_blue);
        sums[i][0] = red;
        sums[i][1] = green;
        sums[i][2] = blue;
        sums[i + 1][0] = next_red;
        sums[i + 1][1] = next_green;
        sums[i + 1][2] = next_blue;
    }
}

void exi_pixels_add_colours(const unsigned char *const *images, const float (*linear)[EXI_PIXELS_CODES], int count,
                            int pixel_count, float (*sums)[3]) {
    if (count == 8)
        add_colours(images, linear, 8, pixel_count, sums);
    else if (count == 4)
        add_colours(images, linear, 4, pixel_count, sums);
    else
        for (int t = 0; t < count; t++)
            add_colours(images + t, linear + t, 1, pixel_count, sums);
}
