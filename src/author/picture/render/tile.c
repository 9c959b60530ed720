/*
 * A tile of the picture: casts one ray through the middle of each pixel, gathers light there, averages it over
 * neighbours on the same surface, and adds samples if something changes within a pixel.
 *
 * Sixteen patterns of rays alternate over blocks of 4 by 4 pixels (light.c). The mean over 5 by 5 pixels, whose outer
 * ones count half, contains each pattern once at any position; pixels of other surfaces are left out. Each sample
 * within a pixel is shaded with its own normal and paint, but takes its visibility of sky and light from the
 * surrounding pixels on the same surface; new rays are cast only if there are none.
 *
 * A tile looks APRON pixels beyond its borders and shares nothing with its neighbours, so the bytes do not depend on
 * which thread renders a tile or when.
 */
#include "author/picture/render/render.h"

#include "author/base/array.h"

#include <stdlib.h>

#define APRON 3

/* Contrasts that need 4 samples, and all of them, on a perceptually even scale from 0 to 1. */
#define CONTRAST_SOME 0.03f
#define CONTRAST_ALL  0.10f

/* Least sum of the weights around a pixel, out of 16. */
#define ENOUGH 13.0f

/* Neighbouring pixels whose visibility differs by more, or is lower, do not predict what lies beyond them. */
#define STEEP 0.2f
#define DIM   0.85f

typedef struct pixel {
    exi_spot spot;
    exi_seen seen, even;
    exi_shade shade;
} pixel;

typedef struct tile {
    const exi_render *render;
    int left, top;     /* first pixel of the apron, in the picture */
    int width, height; /* including the apron */
    pixel *pixels;     /* [height][width] */
} tile;

static pixel *at(const tile *t, int x, int y) {
    return &t->pixels[(size_t)y * (size_t)t->width + (size_t)x];
}

/* ---- averaged light ---- */

/* True if two spots lie on one surface, close enough to have the same visibility. */
static bool agree(const exi_spot *a, const exi_spot *b) {
    if (a->kind != b->kind)
        return false;
    if (a->kind != EXI_SPOT_FORM)
        return true;
    if (exi_v3_dot(a->normal, b->normal) < 0.85f)
        return false;
    exi_v3 between = exi_v3_subtract(b->point, a->point);
    float off = fabsf(exi_v3_dot(between, a->face)), other = fabsf(exi_v3_dot(between, b->face));
    /* Neighbours on a face at a grazing angle are far apart along it. */
    float far = 6 * a->pixel / (0.05f + fabsf(exi_v3_dot(a->face, a->towards)));
    return (off < other ? off : other) < 3 * a->pixel && exi_v3_dot(between, between) < far * far;
}

static void even_out(const tile *t, int x, int y) {
    pixel *p = at(t, x, y);
    p->even = p->seen;
    if (p->spot.kind == EXI_SPOT_NOTHING)
        return;
    exi_seen sum = {0, 0};
    float weights = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            const pixel *q = at(t, x + dx, y + dy);
            if (!agree(&p->spot, &q->spot))
                continue;
            float weight = (dx * dx == 4 ? 0.5f : 1.0f) * (dy * dy == 4 ? 0.5f : 1.0f);
            sum.sky += weight * q->seen.sky;
            sum.key += weight * q->seen.key;
            weights += weight;
        }
    /* Along an edge most patterns are missing: add three others, far from its own and from each other. */
    for (int i = 1; i < 4 && weights < ENOUGH; i++) {
        int pattern = ((t->left + x) & 3) + 4 * ((t->top + y) & 3);
        exi_seen more = exi_light_gather(t->render, &p->spot, pattern ^ (5 * i));
        sum.sky += more.sky;
        sum.key += more.key;
        weights += 1;
    }
    p->even = (exi_seen){sum.sky / weights, sum.key / weights};
}

/* ---- samples within a pixel ---- */

/* Predicts the visibility of a sample from the pixels around its own; false if rays are needed. If a form is near the
 * ground, the ground behind its outline may be much darker than all whole pixels of it. */
static bool seen_around(const tile *t, const exi_spot *spot, int x, int y, float fx, float fy, exi_seen *seen) {
    exi_seen sum = {0, 0}, low = {1, 1}, high = {0, 0};
    float weights = 0;
    int count = 0;
    *seen = (exi_seen){1, 1};
    if (spot->kind == EXI_SPOT_NOTHING)
        return true;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const pixel *q = at(t, x + dx, y + dy);
            float nx = fabsf(fx - (float)dx - 0.5f), ny = fabsf(fy - (float)dy - 0.5f);
            float weight = (1.5f - nx) * (1.5f - ny);
            if (!(weight > 0 && agree(spot, &q->spot)))
                continue;
            sum.sky += weight * q->even.sky;
            sum.key += weight * q->even.key;
            weights += weight;
            count++;
            low.sky = q->even.sky < low.sky ? q->even.sky : low.sky;
            low.key = q->even.key < low.key ? q->even.key : low.key;
            high.sky = q->even.sky > high.sky ? q->even.sky : high.sky;
            high.key = q->even.key > high.key ? q->even.key : high.key;
        }
    if (count == 0)
        return false;
    *seen = (exi_seen){sum.sky / weights, sum.key / weights};
    bool steep = high.sky - low.sky > STEEP || high.key - low.key > STEEP;
    bool dim = spot->kind == EXI_SPOT_GROUND && (low.sky < DIM || low.key < DIM);
    return count > 7 || !(steep || dim);
}

/* Returns the contrast on a perceptually even scale. */
static float contrast(const exi_shade *a, const exi_shade *b) {
    float most = fabsf(a->alpha - b->alpha);
    const float u[3] = {a->colour.x, a->colour.y, a->colour.z}, v[3] = {b->colour.x, b->colour.y, b->colour.z};
    for (int k = 0; k < 3; k++) {
        float difference = fabsf(sqrtf(u[k] > 0 ? u[k] : 0) - sqrtf(v[k] > 0 ? v[k] : 0));
        most = difference > most ? difference : most;
    }
    return most;
}

/* Returns the pixel's contrast with those around it. */
static float change_at(const tile *t, int x, int y) {
    static const int beside[8][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {-1, -1}, {1, -1}, {-1, 1}, {1, 1}};
    const pixel *p = at(t, x, y);
    float most = 0;
    for (int i = 0; i < 8; i++) {
        const pixel *q = at(t, x + beside[i][0], y + beside[i][1]);
        float difference = contrast(&p->shade, &q->shade);
        /* A form's outline counts even if it has the background's colour. */
        if ((p->spot.kind == EXI_SPOT_FORM) != (q->spot.kind == EXI_SPOT_FORM))
            difference += CONTRAST_SOME;
        most = difference > most ? difference : most;
    }
    return most;
}

static exi_shade sample(const tile *t, int x, int y, int number, bool *guessed) {
    /* Sixteen points with all different columns and rows (a (0, 2)-net); the first four are evenly distributed too. */
    static const unsigned char columns[16] = {0, 5, 10, 15, 1, 2, 3, 4, 6, 7, 8, 9, 11, 12, 13, 14};
    int column = columns[number];
    int row = (column & 1) << 3 | (column & 2) << 1 | (column & 4) >> 1 | (column & 8) >> 3;
    float fx = ((float)column + 0.5f) / 16, fy = ((float)row + 0.5f) / 16;
    float px = (float)(t->left + x) + fx, py = (float)(t->top + y) + fy;
    exi_spot spot;
    exi_seen seen;
    exi_spot_find(t->render, px, py, -1, &spot);
    *guessed = seen_around(t, &spot, x, y, fx, fy, &seen);
    if (!*guessed)
        seen = exi_light_gather(t->render, &spot, number);
    return exi_shade_spot(t->render, &spot, seen, px, py);
}

static exi_shade refine(const tile *t, int x, int y) {
    const exi_shade centre = at(t, x, y)->shade;
    const int most = t->render->def->samples;
    float change = most > 1 ? change_at(t, x, y) : 0;
    if (change < CONTRAST_SOME)
        return centre;
    exi_shade sum = {{0, 0, 0}, 0};
    int count = most > 4 && change >= CONTRAST_ALL ? 16 : 4;
    for (int i = 0; i < count; i++) {
        bool guessed;
        exi_shade one = sample(t, x, y, i, &guessed);
        sum.colour = exi_v3_add(sum.colour, one.colour);
        sum.alpha += one.alpha;
        /* Neighbours did not show a change, but the samples do; and new rays need all sixteen patterns. */
        if (most > 4 && (!guessed || contrast(&one, &centre) >= CONTRAST_ALL))
            count = 16;
    }
    return (exi_shade){exi_v3_scale(sum.colour, 1 / (float)count), sum.alpha / (float)count};
}

/* ---- out ---- */

/* Dithers between two codes with an even pattern of 8 by 8 pixels: gradients show no bands, and files stay small. */
static float dither(int x, int y) {
    int order = 0;
    for (int bit = 0; bit < 3; bit++) {
        int a = (x >> bit) & 1, b = (y >> bit) & 1;
        order |= ((a ^ b) << 1 | b) << (2 * (2 - bit));
    }
    return ((float)order + 0.5f) / 64;
}

static unsigned char code_of(float value, float threshold) {
    float code = floorf(255 * value + threshold);
    return (unsigned char)(code > 0 ? code < 255 ? code : 255 : 0);
}

static void write_pixel(ex_image *image, int x, int y, exi_shade shade) {
    unsigned char *to = image->pixels + 4 * ((size_t)y * (size_t)image->width + (size_t)x);
    float threshold = dither(x, y), scale = shade.alpha > 0 ? 1 / shade.alpha : 0;
    const float rgb[3] = {shade.colour.x * scale, shade.colour.y * scale, shade.colour.z * scale};
    for (int k = 0; k < 3; k++)
        to[k] = code_of(exi_code_of_light(rgb[k] > 0 ? rgb[k] < 1 ? rgb[k] : 1 : 0), threshold);
    to[3] = code_of(shade.alpha, 0.5f);
}

static void look(const tile *t) {
    for (int y = 0; y < t->height; y++)
        for (int x = 0; x < t->width; x++) {
            pixel *p = at(t, x, y);
            int px = t->left + x, py = t->top + y;
            exi_spot_find(t->render, (float)px + 0.5f, (float)py + 0.5f, -1, &p->spot);
            p->seen = exi_light_gather(t->render, &p->spot, (px & 3) + 4 * (py & 3));
        }
}

bool exi_tile_render(const exi_render *render, int column, int row, ex_image *image) {
    tile t = {.render = render, .left = column * EXI_TILE - APRON, .top = row * EXI_TILE - APRON};
    int right = (column + 1) * EXI_TILE, bottom = (row + 1) * EXI_TILE;
    t.width = (right < image->width ? right : image->width) + APRON - t.left;
    t.height = (bottom < image->height ? bottom : image->height) + APRON - t.top;
    t.pixels = exi_array_allocate((size_t)t.width * (size_t)t.height, sizeof *t.pixels);
    if (!t.pixels)
        return false;
    look(&t);
    for (int y = APRON - 1; y < t.height - APRON + 1; y++)
        for (int x = APRON - 1; x < t.width - APRON + 1; x++) {
            pixel *p = at(&t, x, y);
            even_out(&t, x, y);
            p->shade = exi_shade_spot(render, &p->spot, p->even, (float)(t.left + x) + 0.5f, (float)(t.top + y) + 0.5f);
        }
    for (int y = APRON; y < t.height - APRON; y++)
        for (int x = APRON; x < t.width - APRON; x++)
            write_pixel(image, t.left + x, t.top + y, refine(&t, x, y));
    free(t.pixels);
    return true;
}
