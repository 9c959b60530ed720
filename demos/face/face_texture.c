/*
 * The skins of the demo `face`: finds every texel's place on the generic head by drawing the faces into the texture,
 * and computes a colour for every place. Since colours depend only on places, both sides of the seam at the back get
 * the same.
 */
#include "face.h"

#include <exemplar/maths.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = FACE_TEXELS, TEXELS = SIZE * SIZE };

typedef struct texel {
    float at[3]; /* millimetres */
    float paint[FACE_PAINT_COUNT];
    float coarse, fine, grain, strand, freckle, blotch; /* noise from 0 to 1, see face_place */
} texel;

struct exi_face_canvas {
    texel texels[TEXELS];
    unsigned char drawn[TEXELS]; /* 1: in a face; 2: next to one; 0: elsewhere */
};

/* ---- noise ---- */

static double hashed(int x, int y, int z) {
    uint32_t h = (uint32_t)x * 0x9E3779B1u ^ (uint32_t)y * 0x85EBCA77u ^ (uint32_t)z * 0xC2B2AE3Du;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    return (double)(h >> 8) / 16777216.0;
}

static double eased(double t) {
    return t * t * (3 - 2 * t);
}

/* Random numbers on a lattice, smoothly interpolated; periodic in x if `period` is not 0. */
static double noise(double x, double y, double z, int period) {
    double i = floor(x), j = floor(y), k = floor(z), u = eased(x - i), v = eased(y - j), w = eased(z - k), sum = 0;
    for (int c = 0; c < 8; c++) {
        int a = (int)i + (c & 1);
        if (period)
            a = (a % period + period) % period;
        sum += ((c & 1) ? u : 1 - u) * ((c & 2) ? v : 1 - v) * ((c & 4) ? w : 1 - w) *
               hashed(a, (int)j + (c >> 1 & 1), (int)k + (c >> 2));
    }
    return sum;
}

/* Round spots of all sizes, at most one per cell of the lattice: 1 at their centres. */
static double speckled(double x, double y, double z) {
    const int i = (int)floor(x), j = (int)floor(y), k = (int)floor(z);
    double most = 0;
    for (int c = 0; c < 27; c++) {
        const int a = i + c % 3 - 1, b = j + c / 3 % 3 - 1, d = k + c / 9 - 1;
        double u = a + hashed(a, b, d) - x, v = b + hashed(a, b, d + 1000) - y, w = d + hashed(a, b, d + 2000) - z;
        double size = 0.12 + 0.33 * hashed(a, b, d + 3000), near = 1 - sqrt(u * u + v * v + w * w) / size;
        most = near > most ? near : most;
    }
    return most;
}

static void add_noise(texel *t) {
    const double x = (double)t->at[0], y = (double)t->at[1], z = (double)t->at[2];
    t->coarse = (float)(0.65 * noise(x / 17, y / 17, z / 17, 0) + 0.35 * noise(x / 7, y / 7, z / 7 + 50, 0));
    t->fine = (float)noise(x / 2.6, y / 2.6, z / 2.6 + 90, 0);
    t->grain = (float)noise(x / 0.9, y / 0.9, z / 0.9 + 190, 0);
    t->freckle = (float)speckled(x / 4.2, y / 4.2, z / 4.2);
    t->blotch = (float)speckled(x / 13, y / 13, z / 13);
    /* Hairs go down from the crown: thin around it, long away from it, and as many texels wide behind as in front. */
    double turn = exi_face_turn(x, z + 25), sine, cosine;
    ex_sin_cos(turn, &sine, &cosine);
    turn = (turn + 0.65 * sine) / (2 * 3.14159265358979323846) + 0.02 * noise(x / 30, y / 30, z / 30, 0);
    double down = 0.5 * sqrt(x * x + (z + 25) * (z + 25)) - y;
    t->strand = (float)(0.6 * noise(turn * 150, down / 24, 3, 150) + 0.4 * noise(turn * 270, down / 15, 7, 270));
}

/* ---- the map from texels to places ---- */

static void draw_triangle(exi_face_canvas *canvas, const exi_face *face, const int vertices[3],
                          const int texcoords[3]) {
    double x[3], y[3];
    for (int i = 0; i < 3; i++) {
        x[i] = face->mesh->texcoords[2 * texcoords[i]] * SIZE - 0.5;
        y[i] = (1 - face->mesh->texcoords[2 * texcoords[i] + 1]) * SIZE - 0.5;
    }
    double area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    if (fabs(area) < 1e-12)
        return;
    int low[2] = {SIZE, SIZE}, high[2] = {-1, -1};
    for (int i = 0; i < 3; i++) {
        int a = (int)floor(x[i]), b = (int)floor(y[i]);
        low[0] = a < low[0] ? a : low[0];
        low[1] = b < low[1] ? b : low[1];
        high[0] = a + 1 > high[0] ? a + 1 : high[0];
        high[1] = b + 1 > high[1] ? b + 1 : high[1];
    }
    for (int b = low[1] < 0 ? 0 : low[1]; b <= high[1] && b < SIZE; b++)
        for (int a = low[0] < 0 ? 0 : low[0]; a <= high[0] && a < SIZE; a++) {
            double w[3];
            w[1] = ((a - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (b - y[0])) / area;
            w[2] = ((x[1] - x[0]) * (b - y[0]) - (a - x[0]) * (y[1] - y[0])) / area;
            w[0] = 1 - w[1] - w[2];
            if (w[0] < -1e-9 || w[1] < -1e-9 || w[2] < -1e-9)
                continue;
            texel *t = &canvas->texels[b * SIZE + a];
            memset(t, 0, sizeof *t);
            for (int i = 0; i < 3; i++) {
                for (int c = 0; c < 3; c++)
                    t->at[c] += (float)(1000 * w[i] * face->mesh->positions[3 * vertices[i] + c]);
                for (int c = 0; c < FACE_PAINT_COUNT; c++)
                    t->paint[c] += (float)(w[i] * face->paint[vertices[i] * FACE_PAINT_COUNT + c]);
            }
            canvas->drawn[b * SIZE + a] = 1;
        }
}

/* Extends faces to the texels next to them: filtering never mixes in anything but skin, and on either side of the seam
 * it finds the texels of the other side. */
static void spread(exi_face_canvas *canvas) {
    static const int beside[8] = {-1, 1, -SIZE, SIZE, -SIZE - 1, -SIZE + 1, SIZE - 1, SIZE + 1};
    for (int round = 0; round < 10; round++) {
        for (int i = 2 * (SIZE + 1); i < TEXELS - 2 * (SIZE + 1); i++)
            for (int k = 0; k < 8 && !canvas->drawn[i]; k++) {
                const int near = i + beside[k], far = near + beside[k];
                if (canvas->drawn[near] != 1)
                    continue;
                texel *t = &canvas->texels[i];
                *t = canvas->texels[near];
                for (int c = 0; c < 3 && round < 2 && canvas->drawn[far] == 1; c++)
                    t->at[c] += t->at[c] - canvas->texels[far].at[c];
                canvas->drawn[i] = 2;
            }
        for (int i = 0; i < TEXELS; i++)
            canvas->drawn[i] = canvas->drawn[i] ? 1 : 0;
    }
}

exi_face_canvas *exi_face_canvas_create(const exi_face *face) {
    exi_face_canvas *canvas = calloc(1, sizeof *canvas);
    const ex_mesh *mesh = face->mesh;
    for (int f = 0; canvas && f < mesh->face_count; f++) {
        const int first = mesh->face_offsets[f], count = mesh->face_offsets[f + 1] - first;
        const int *v = mesh->corners + first, *t = mesh->corner_texcoords + first;
        for (int i = 1; i + 1 < count; i++)
            draw_triangle(canvas, face, (int[]){v[0], v[i], v[i + 1]}, (int[]){t[0], t[i], t[i + 1]});
    }
    if (canvas) {
        spread(canvas);
        for (int i = 0; i < TEXELS; i++)
            add_noise(&canvas->texels[i]);
    }
    return canvas;
}

void exi_face_canvas_destroy(exi_face_canvas *canvas) {
    free(canvas);
}

void exi_face_canvas_paint(const exi_face_canvas *canvas, const face_style *style, unsigned char *pixels) {
    for (int i = 0; i < TEXELS; i++) {
        double colour[3];
        const texel *t = &canvas->texels[i];
        face_place place = {.x = (double)t->at[0],
                            .y = (double)t->at[1],
                            .z = (double)t->at[2],
                            .coarse = (double)t->coarse,
                            .fine = (double)t->fine,
                            .grain = (double)t->grain,
                            .strand = (double)t->strand,
                            .freckle = (double)t->freckle,
                            .blotch = (double)t->blotch};
        for (int c = 0; c < FACE_PAINT_COUNT; c++)
            place.paint[c] = (double)t->paint[c];
        if (!canvas->drawn[i])
            memcpy(colour, style->skin, sizeof colour);
        else
            exi_face_colour(&place, style, colour);
        for (int c = 0; c < 3; c++)
            pixels[4 * i + c] = (unsigned char)(255 * clamped(colour[c], 0, 1) + 0.5);
        pixels[4 * i + 3] = 255;
    }
}
