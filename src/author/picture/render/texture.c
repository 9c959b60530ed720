/*
 * Textures: an image and its mipmaps, interpolated between pixels and between sizes (L. Williams, "Pyramidal
 * parametrics", 1983), in linear light. Beyond its edges an image is repeated, mirrored or continued.
 */
#include "author/picture/render/render.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <stdlib.h>

void exi_texture_close(exi_texture *texture) {
    free(texture->memory);
    *texture = (exi_texture){0};
}

/* Averages four pixels; colours are weighted by alpha, if it counts. */
static void average(const unsigned char *const from[4], exi_texture_kind kind, const float linear[256],
                    unsigned char *to) {
    float sum[3] = {0, 0, 0}, alpha = 0;
    for (int i = 0; i < 4; i++) {
        float a = kind == EXI_TEXTURE_ALPHA ? (float)from[i][3] : 255;
        alpha += a;
        for (int k = 0; k < 3; k++)
            sum[k] += a * (kind == EXI_TEXTURE_NUMBERS ? (float)from[i][k] / 255 : linear[from[i][k]]);
    }
    for (int k = 0; k < 3; k++) {
        const float mean = alpha > 0 ? sum[k] / alpha : 0;
        to[k] = (unsigned char)(255 * (kind == EXI_TEXTURE_NUMBERS ? mean : exi_code_of_light(mean)) + 0.5f);
    }
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
            average(from, texture->kind, linear, to + 4 * ((size_t)y * (size_t)texture->widths[level] + (size_t)x));
        }
    texture->levels[level] = to;
}

ex_result exi_texture_open(exi_texture *texture, const ex_image *image, exi_texture_kind kind, const float linear[256],
                           ex_error *error) {
    *texture = (exi_texture){.image = image, .kind = kind, .level_count = 1};
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

static int wrap(int i, int count, ex_wrap how) {
    if (how == EX_WRAP_CLAMP)
        return i < 0 ? 0 : i < count ? i : count - 1;
    const int period = how == EX_WRAP_MIRROR ? 2 * count : count;
    int rest = i % period;
    rest = rest < 0 ? rest + period : rest;
    return rest < count ? rest : period - 1 - rest;
}

/* Brings a coordinate near 0, where floats and integers are exact: repeated and mirrored images have a period. */
static float reduce(float u, ex_wrap how) {
    if (how == EX_WRAP_CLAMP)
        return u < -1 ? -1 : u > 2 ? 2 : u;
    const float period = how == EX_WRAP_MIRROR ? 2.0f : 1.0f;
    return u - period * floorf(u / period);
}

/* Interpolates one level between its four nearest pixels: colour times alpha, and alpha. */
static void sample_level(const exi_texture *texture, int level, const float linear[256], const exi_place *place,
                         float out[4]) {
    int width = texture->widths[level], height = texture->heights[level];
    float x = reduce(place->u, place->wrap[0]) * (float)width - 0.5f;
    float y = reduce(1 - place->v, place->wrap[1]) * (float)height - 0.5f;
    x = place->nearest ? floorf(x + 0.5f) : x;
    y = place->nearest ? floorf(y + 0.5f) : y;
    float left = floorf(x), top = floorf(y);
    out[0] = out[1] = out[2] = out[3] = 0;
    for (int i = 0; i < 4; i++) {
        int column = wrap((int)left + (i & 1), width, place->wrap[0]);
        int row = wrap((int)top + (i >> 1), height, place->wrap[1]);
        float weight = (i & 1 ? x - left : 1 - (x - left)) * (i >> 1 ? y - top : 1 - (y - top));
        const unsigned char *pixel = texture->levels[level] + 4 * ((size_t)row * (size_t)width + (size_t)column);
        float alpha = texture->kind == EXI_TEXTURE_ALPHA ? weight * (float)pixel[3] / 255 : weight;
        for (int k = 0; k < 3; k++)
            out[k] += alpha * (texture->kind == EXI_TEXTURE_NUMBERS ? (float)pixel[k] / 255 : linear[pixel[k]]);
        out[3] += alpha;
    }
}

exi_v3 exi_texture_sample(const exi_texture *texture, const float linear[256], exi_place place, float *alpha) {
    *alpha = 0;
    if (!isfinite(place.u) || !isfinite(place.v))
        return (exi_v3){0, 0, 0};
    float fine = place.texels > 1 ? log2f(place.texels) : 0;
    float last = (float)(texture->level_count - 1);
    fine = fine < last ? fine : last;
    int level = (int)fine;
    float a[4], b[4] = {0, 0, 0, 0}, t = fine - (float)level;
    sample_level(texture, level, linear, &place, a);
    if (t > 0)
        sample_level(texture, level + 1, linear, &place, b);
    for (int k = 0; k < 4; k++)
        a[k] = (1 - t) * a[k] + t * b[k];
    *alpha = a[3];
    return a[3] > 0 ? (exi_v3){a[0] / a[3], a[1] / a[3], a[2] / a[3]} : (exi_v3){0, 0, 0};
}
