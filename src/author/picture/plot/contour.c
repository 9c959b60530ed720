/*
 * Contours by marching squares. Every edge of the grid whose ends lie on different sides of the level holds one point,
 * by linear interpolation; every cell joins the points on its edges in pairs. In a cell with four of them, the level at
 * the saddle of the bilinear patch decides which belong together. Around a cell, the values fall below the level at one
 * edge of a pair and rise above it at the other. Joining from the first to the second gives every line the same
 * direction, and an edge then has one successor, since values that fall seen from one cell rise seen from its
 * neighbour.
 */
#include "author/picture/plot/contour.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct tracer {
    const float *values;
    int width, height;
    double level;
    int *next;     /* [edge]: the next edge, -1: none */
    bool *entered; /* [edge]: true if it follows another */
} tracer;

/* Edges along rows come first: [height][width - 1], then those along columns: [height - 1][width]. */
static int row_edge(const tracer *t, int x, int y) {
    return y * (t->width - 1) + x;
}

static int column_edge(const tracer *t, int x, int y) {
    return t->height * (t->width - 1) + y * t->width + x;
}

static int edge_count(const tracer *t) {
    return t->height * (t->width - 1) + (t->height - 1) * t->width;
}

static double value_at(const tracer *t, int x, int y) {
    const double value = (double)t->values[(size_t)y * (size_t)t->width + (size_t)x] - t->level;
    return isfinite(value) ? value : -1e30;
}

static void locate(const tracer *t, int edge, double point[2]) {
    const int rows = t->height * (t->width - 1);
    const bool along_row = edge < rows;
    const int i = along_row ? edge : edge - rows, width = along_row ? t->width - 1 : t->width;
    const int x = i % width, y = i / width;
    const double a = value_at(t, x, y), b = along_row ? value_at(t, x + 1, y) : value_at(t, x, y + 1);
    const double part = a / (a - b);
    point[0] = x + (along_row ? part : 0);
    point[1] = y + (along_row ? 0 : part);
}

/* Joins two edges of a cell; the values fall at `a` if a_falls, else at `b`. */
static void join(tracer *t, int a, int b, bool a_falls) {
    const int from = a_falls ? a : b, to = a_falls ? b : a;
    t->next[from] = to;
    t->entered[to] = true;
}

static void join_cell(tracer *t, int x, int y) {
    const double v[4] = {value_at(t, x, y), value_at(t, x + 1, y), value_at(t, x + 1, y + 1), value_at(t, x, y + 1)};
    const int edges[4] = {row_edge(t, x, y), column_edge(t, x + 1, y), row_edge(t, x, y + 1), column_edge(t, x, y)};
    int crossed[4], count = 0;
    for (int i = 0; i < 4; i++)
        if ((v[i] > 0) != (v[(i + 1) % 4] > 0))
            crossed[count++] = i;
    if (count == 2)
        join(t, edges[crossed[0]], edges[crossed[1]], v[crossed[0]] > 0);
    if (count != 4)
        return;
    /* If the saddle is above the level, the two corners that are above belong together. */
    const double saddle = (v[0] * v[2] - v[1] * v[3]) / (v[0] + v[2] - v[1] - v[3]);
    if ((saddle > 0) == (v[0] > 0)) {
        join(t, edges[0], edges[1], v[0] > 0); /* around corners 1 and 3 */
        join(t, edges[2], edges[3], v[2] > 0);
    } else {
        join(t, edges[3], edges[0], v[3] > 0); /* around corners 0 and 2 */
        join(t, edges[1], edges[2], v[1] > 0);
    }
}

/* Follows the line from an edge to its end or back to the edge, adding points and removing the links. True if it is
 * closed. */
static bool follow(tracer *t, int start, exi_contour *c, int *count) {
    for (int at = start, next;; at = next) {
        locate(t, at, c->points[(*count)++]);
        next = t->next[at];
        t->next[at] = -1;
        if (next == start || next < 0)
            return next == start;
    }
}

static void trace(tracer *t, exi_contour *c) {
    const int edges = edge_count(t);
    int count = 0;
    /* Start lines that begin at the border there, then closed ones anywhere. */
    for (int round = 0; round < 2; round++) {
        for (int e = 0; e < edges; e++) {
            if (t->next[e] < 0 || (round == 0 && t->entered[e]))
                continue;
            c->starts[c->line_count] = count;
            c->closed[c->line_count] = follow(t, e, c, &count);
            c->starts[++c->line_count] = count;
        }
    }
}

bool exi_contour_find(const float *values, int width, int height, double level, exi_contour *contour) {
    tracer t = {.values = values, .width = width, .height = height, .level = level};
    *contour = (exi_contour){.points = NULL};
    const size_t edges = (size_t)edge_count(&t);
    t.next = exi_array_allocate(edges, sizeof *t.next);
    t.entered = calloc(edges, sizeof *t.entered);
    contour->points = exi_array_allocate(edges, sizeof *contour->points);
    contour->starts = exi_array_allocate(edges + 1, sizeof *contour->starts);
    contour->closed = exi_array_allocate(edges, sizeof *contour->closed);
    const bool fits = t.next && t.entered && contour->points && contour->starts && contour->closed;
    if (fits) {
        memset(t.next, 0xFF, edges * sizeof *t.next);
        contour->starts[0] = 0;
        for (int y = 0; y + 1 < height; y++)
            for (int x = 0; x + 1 < width; x++)
                join_cell(&t, x, y);
        trace(&t, contour);
    } else {
        exi_contour_free(contour);
    }
    free(t.next);
    free(t.entered);
    return fits;
}

/* A border of numbers far below around the grid closes every outline; it is then moved onto the grid's own border. */
bool exi_contour_region(const float *values, int width, int height, double level, exi_contour *contour) {
    const int wide = width + 2, high = height + 2;
    float *padded = exi_array_allocate((size_t)wide * (size_t)high, sizeof *padded);
    *contour = (exi_contour){.points = NULL};
    if (!padded)
        return false;
    for (int y = 0; y < high; y++) {
        for (int x = 0; x < wide; x++) {
            const bool inside = x > 0 && y > 0 && x <= width && y <= height;
            padded[(size_t)y * (size_t)wide + (size_t)x] =
                inside ? values[(size_t)(y - 1) * (size_t)width + (size_t)(x - 1)] : -INFINITY;
        }
    }
    const bool fits = exi_contour_find(padded, wide, high, level, contour);
    free(padded);
    for (int i = 0; fits && i < contour->starts[contour->line_count]; i++) {
        double *p = contour->points[i];
        p[0] = p[0] < 1 ? 0 : p[0] > width ? width - 1 : p[0] - 1;
        p[1] = p[1] < 1 ? 0 : p[1] > height ? height - 1 : p[1] - 1;
    }
    return fits;
}

void exi_contour_free(exi_contour *contour) {
    free(contour->points);
    free(contour->starts);
    free(contour->closed);
    *contour = (exi_contour){.points = NULL};
}

/*
 * From a point that is kept, every further point allows the directions that pass it within the tolerance: a wedge. As
 * long as the next point lies in all wedges so far, and farther away than the previous ones, the points between can be
 * removed.
 */
int exi_simplify(double (*points)[2], int count, double tolerance) {
    int kept = 1, last = 0; /* the last point kept is points[kept - 1], with original index `last` */
    if (count < 3)
        return count;
    while (last < count - 1) {
        const double x = points[kept - 1][0], y = points[kept - 1][1];
        double low = -INFINITY, high = INFINITY, reached = 0, first = 0;
        int next = last + 1;
        for (int i = last + 1; i < count; i++) {
            const double dx = points[i][0] - x, dy = points[i][1] - y, distance = hypot(dx, dy);
            if (distance < reached - tolerance)
                break;
            if (distance > tolerance) {
                double angle = atan2(dy, dx) - first;
                if (low == -INFINITY) {
                    first = angle;
                    angle = 0;
                }
                angle -= 2 * pi * round(angle / (2 * pi));
                const double slack = asin(tolerance / distance);
                if (angle < low || angle > high)
                    break;
                low = angle - slack > low ? angle - slack : low;
                high = angle + slack < high ? angle + slack : high;
            }
            reached = distance > reached ? distance : reached;
            next = i;
        }
        points[kept][0] = points[next][0];
        points[kept++][1] = points[next][1];
        last = next;
    }
    return kept;
}

void exi_contour_simplify(exi_contour *c, double tolerance) {
    int end = 0;
    for (int i = 0; i < c->line_count; i++) {
        double(*line)[2] = c->points + c->starts[i];
        const int count = exi_simplify(line, c->starts[i + 1] - c->starts[i], tolerance);
        memmove(c->points + end, line, (size_t)count * sizeof *line);
        c->starts[i] = end;
        end += count;
    }
    /* Line i + 1 begins where line i ended; its old start was still needed above. */
    c->starts[c->line_count] = end;
}
