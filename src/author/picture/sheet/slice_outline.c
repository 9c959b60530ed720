/*
 * Draws a dashed line around the form in a picture, for forms that nobody sculpted. The border between pixels inside
 * and outside is followed with the inside on the right, and made smooth by the mean of a few neighbouring points.
 */
#include "author/picture/sheet/slice.h"

#include "author/base/array.h"

#include <stdlib.h>

/* Points to both sides that are averaged. */
#define NEAR 3
/* Loops that are shorter, in pixels, are holes between pixels. */
#define SHORT 16

typedef struct tracing {
    const ex_image *image;
    unsigned char *seen; /* [height][width]: true if the upper edge of that pixel was followed */
    double (*points)[2];
    size_t capacity;
    int count;
} tracing;

static bool inside(const ex_image *image, int x, int y) {
    return x >= 0 && y >= 0 && x < image->width && y < image->height &&
           image->pixels[4 * ((size_t)y * (size_t)image->width + (size_t)x) + 3] >= 128;
}

/* Follows a loop from the upper edge of a pixel; false without memory. Directions: right, down, left, up. */
static bool follow(tracing *t, int x, int y) {
    static const int steps[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    /* The pixel to the left of a direction, just ahead, from the corner where it starts. */
    static const int left[4][2] = {{0, -1}, {0, 0}, {-1, 0}, {-1, -1}};
    const int start[2] = {x, y};
    int direction = 0;
    t->count = 0;
    do {
        double(*grown)[2] = exi_array_grow(t->points, &t->capacity, (size_t)t->count + 1, sizeof *t->points);
        if (!grown)
            return false;
        t->points = grown;
        t->points[t->count][0] = x;
        t->points[t->count++][1] = y;
        if (direction == 0)
            t->seen[(size_t)y * (size_t)t->image->width + (size_t)x] = 1;
        x += steps[direction][0];
        y += steps[direction][1];
        const int right = (direction + 1) % 4;
        if (inside(t->image, x + left[direction][0], y + left[direction][1]))
            direction = (direction + 3) % 4;
        else if (!inside(t->image, x + left[right][0], y + left[right][1]))
            direction = right;
    } while (x != start[0] || y != start[1] || direction != 0);
    return true;
}

static bool draw_loop(const tracing *t, ex_canvas *canvas, double x, double y, double scale, const ex_pen *pen) {
    const int count = (t->count + 1) / 2;
    double(*line)[2] = exi_array_allocate((size_t)count, sizeof *line);
    if (!line)
        return false;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            double sum = 0;
            for (int j = -NEAR; j <= NEAR; j++)
                sum += t->points[(2 * i + j + t->count) % t->count][k];
            line[i][k] = (k ? y : x) + sum / (2 * NEAR + 1) / scale;
        }
    ex_draw_polyline(canvas, line, count, true, pen);
    free(line);
    return true;
}

bool exi_outline_draw(ex_canvas *canvas, const ex_image *image, double x, double y, double scale, const ex_pen *pen) {
    tracing t = {.image = image, .seen = calloc((size_t)image->width * (size_t)image->height, 1)};
    bool good = t.seen != NULL;
    for (int py = 0; good && py < image->height; py++)
        for (int px = 0; good && px < image->width; px++) {
            if (!inside(image, px, py) || inside(image, px, py - 1) ||
                t.seen[(size_t)py * (size_t)image->width + (size_t)px])
                continue;
            good = follow(&t, px, py) && (t.count < SHORT || draw_loop(&t, canvas, x, y, scale, pen));
        }
    free(t.seen);
    free(t.points);
    return good;
}
