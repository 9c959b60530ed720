/*
 * Textures: an image and its mipmaps, interpolated between pixels and between sizes (L. Williams, "Pyramidal
 * parametrics", 1983), in linear light, repeated in both directions.
 */
#include "author/picture/render/render.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <stdlib.h>

void exi_texture_close(exi_texture *texture) {
    free(texture->memory);
    *texture = (exi_texture){0};
}

/* Averages four pixels; colours are weighted by alpha. */
static void average(const unsigned char *const from[4], const float linear[256], unsigned char *to) {
    float sum[3] = {0, 0, 0}, alpha = 0;
    for (int i = 0; i < 4; i++) {
        float a = (float)from[i][3];
        alpha += a;
        for (int k = 0; k < 3; k++)
            sum[k] += a * linear[from[i][k]];
    }
    for (int k = 0; k < 3; k++)
        to[k] = (unsigned char)(255 * exi_code_of_light(alpha > 0 ? sum[k] / alpha : 0) + 0.5f);
    to[3] = (unsigned char)(alpha / 4 + 0.5f);
}

static void halve(exi_texture *texture, int level, const float linear[256], unsigned char *to) {
    const unsigned char *image = texture->levels[level - 1];
    int width = texture->widths[level - 1], height = texture->heights[level - 1];
    for (int y = 0; y < texture->heights[level]; y++)
        for (int x = 0; x < texture->widths[level]; x++) {
            const unsigned char *from[4];
            for (int i = 0; i < 4; i++) {
                int column = 2 * x + (i & 1), row = 2 * y + (i >> 1);
                column = column < width ? column : width - 1;
                row = row < height ? row : height - 1;
                from[i] = image + 4 * ((size_t)row * (size_t)width + (size_t)column);
            }
            average(from, linear, to + 4 * ((size_t)y * (size_t)texture->widths[level] + (size_t)x));
        }
    texture->levels[level] = to;
}

ex_result exi_texture_open(exi_texture *texture, const ex_image *image, const float linear[256], ex_error *error) {
    *texture = (exi_texture){.level_count = 1};
    if (image->width < 1 || image->height < 1 || !image->pixels)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the texture has no pixels");
    texture->levels[0] = image->pixels;
    texture->widths[0] = image->width;
    texture->heights[0] = image->height;
    size_t total = 0;
    int n = 1;
    for (; n < EXI_TEXTURE_LEVELS && (texture->widths[n - 1] > 1 || texture->heights[n - 1] > 1); n++) {
        texture->widths[n] = (texture->widths[n - 1] + 1) / 2;
        texture->heights[n] = (texture->heights[n - 1] + 1) / 2;
        total += 4 * (size_t)texture->widths[n] * (size_t)texture->heights[n];
    }
    texture->memory = exi_array_allocate(total, 1);
    if (!texture->memory)
        return ex_error_memory(error, "a texture", total);
    unsigned char *to = texture->memory;
    for (int level = 1; level < n; level++) {
        halve(texture, level, linear, to);
        to += 4 * (size_t)texture->widths[level] * (size_t)texture->heights[level];
    }
    texture->level_count = n;
    return EX_OK;
}

static int wrap(int i, int count) {
    int rest = i % count;
    return rest < 0 ? rest + count : rest;
}

/* Interpolates one level between its four nearest pixels: colour times alpha, and alpha. */
static void sample_level(const exi_texture *texture, int level, const float linear[256], float u, float v,
                         float out[4]) {
    int width = texture->widths[level], height = texture->heights[level];
    float x = (u - floorf(u)) * (float)width - 0.5f, y = (1 - (v - floorf(v))) * (float)height - 0.5f;
    float left = floorf(x), top = floorf(y);
    out[0] = out[1] = out[2] = out[3] = 0;
    for (int i = 0; i < 4; i++) {
        int column = wrap((int)left + (i & 1), width), row = wrap((int)top + (i >> 1), height);
        float weight = (i & 1 ? x - left : 1 - (x - left)) * (i >> 1 ? y - top : 1 - (y - top));
        const unsigned char *pixel = texture->levels[level] + 4 * ((size_t)row * (size_t)width + (size_t)column);
        float alpha = weight * (float)pixel[3] / 255;
        for (int k = 0; k < 3; k++)
            out[k] += alpha * linear[pixel[k]];
        out[3] += alpha;
    }
}

exi_v3 exi_texture_sample(const exi_texture *texture, const float linear[256], float u, float v, float texels,
                          float *alpha) {
    *alpha = 0;
    if (!isfinite(u) || !isfinite(v))
        return (exi_v3){0, 0, 0};
    float fine = texels > 1 ? log2f(texels) : 0;
    float last = (float)(texture->level_count - 1);
    fine = fine < last ? fine : last;
    int level = (int)fine;
    float a[4], b[4] = {0, 0, 0, 0}, t = fine - (float)level;
    sample_level(texture, level, linear, u, v, a);
    if (t > 0)
        sample_level(texture, level + 1, linear, u, v, b);
    for (int k = 0; k < 4; k++)
        a[k] = (1 - t) * a[k] + t * b[k];
    *alpha = a[3];
    return a[3] > 0 ? (exi_v3){a[0] / a[3], a[1] / a[3], a[2] / a[3]} : (exi_v3){0, 0, 0};
}
