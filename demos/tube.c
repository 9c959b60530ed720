/*
 * Closed tubes along a centre line that bends: rings across it, and at each end smaller and smaller ones down to a
 * point. The line keeps its length and a ring its form, so examples that differ only in bends are as rigid as a bent
 * object can be.
 */
#include "tube.h"

#include "common/array.h"

#include <exemplar/maths.h>

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

enum { CAP = 4, PIECES = 512 }; /* rings of an end; steps along the centre line */
/* Sizes from the point outwards, and distances from the end, as fractions of half. */
static const double cap_sizes[CAP] = {0.3, 0.6, 0.85, 0.97}, cap_places[CAP] = {0, 0, 0.005, 0.03};
#define CAP_DEPTH 0.1

static int ring_total(const exi_tube *tube) {
    return tube->rings + 2 * CAP;
}

/* Skips the length of hinges: place of a ring, from its place on a line without them. */
static double beyond_hinges(const exi_tube *tube, double part, double first, double last) {
    double taken = 0;
    for (int i = 0; i < tube->bend_count; i++)
        taken += tube->bends[i].width;
    double place = first + (last - first - taken) * part;
    for (int i = 0; i < tube->bend_count && place > tube->bends[i].at - tube->bends[i].width / 2; i++)
        place += tube->bends[i].width;
    return place;
}

/* Position of ring i along the line, and its size. */
static double ring_place(const exi_tube *tube, int i, double *size) {
    const int last = ring_total(tube) - 1, from_end = i < last - i ? i : last - i;
    const double first = CAP_DEPTH * tube->half;
    const double part = (double)(i - CAP) / (tube->rings - 1), end = tube->length - first;
    double place = tube->hinges ? beyond_hinges(tube, part, first, end) : first + (end - first) * part;
    *size = 1;
    if (from_end < CAP) {
        *size = cap_sizes[from_end];
        place = cap_places[from_end] * tube->half;
        place = i < last - i ? place : tube->length - place;
    }
    const double t = 2 * place / tube->length - 1;
    *size *= 1 + tube->bulge * (1 - t * t);
    return place;
}

/* Angle, in radians, by which the line has turned at a place. */
static double turn_at(const exi_tube *tube, double place) {
    double turn = 0;
    for (int i = 0; i < tube->bend_count; i++) {
        double t = (place - tube->bends[i].at) / tube->bends[i].width + 0.5;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        if (tube->hinges)
            t = place < tube->bends[i].at ? 0 : 1;
        turn += tube->bends[i].degrees * PI / 180 * t * t * (3 - 2 * t);
    }
    return turn;
}

/* Centre line of a chain of straight links. */
static void chain_at(const exi_tube *tube, double place, double *x, double *y) {
    double turn = 0, from = 0;
    *x = *y = 0;
    for (int i = 0; i <= tube->bend_count; i++) {
        const bool whole = i < tube->bend_count && place > tube->bends[i].at;
        const double to = whole ? tube->bends[i].at : place;
        double sine, cosine;
        ex_sin_cos(turn * PI / 180, &sine, &cosine);
        *x += (to - from) * cosine;
        *y += (to - from) * sine;
        if (!whole)
            return;
        turn += tube->bends[i].degrees;
        from = to;
    }
}

/* Centre line from the fixed place to another. */
static void line_at(const exi_tube *tube, double place, double *x, double *y) {
    if (tube->hinges) {
        chain_at(tube, place, x, y);
        return;
    }
    const double step = (place - tube->hold) / PIECES, held = turn_at(tube, tube->hold);
    *x = tube->hold;
    *y = 0;
    for (int i = 0; i < PIECES; i++) {
        double sine, cosine;
        ex_sin_cos(turn_at(tube, tube->hold + (i + 0.5) * step) - held, &sine, &cosine);
        *x += step * cosine;
        *y += step * sine;
    }
}

/* Outline of a ring, from -1 to 1 across. */
static void outline(const exi_tube *tube, int i, double *across, double *aside) {
    double sine, cosine, bound = 1;
    ex_sin_cos(2 * PI * i / tube->around, &sine, &cosine);
    if (tube->square) { /* the eighth root of the sum of eighth powers is 1 */
        const double a = sine * sine * sine * sine, b = cosine * cosine * cosine * cosine;
        bound = sqrt(sqrt(sqrt(a * a + b * b)));
    }
    *across = cosine / bound;
    *aside = sine / bound;
}

void exi_tube_shape(const exi_tube *tube, double *positions) {
    const double held = turn_at(tube, tube->hold);
    const int total = ring_total(tube);
    double *p = positions + 6; /* after the two points at the ends */
    for (int end = 0; end < 2; end++) {
        line_at(tube, end ? tube->length : 0, &positions[3 * end], &positions[3 * end + 1]);
        positions[3 * end + 2] = 0;
    }
    for (int r = 0; r < total; r++) {
        double size, x, y, sine, cosine;
        const double place = ring_place(tube, r, &size);
        line_at(tube, place, &x, &y);
        ex_sin_cos(turn_at(tube, place) - held, &sine, &cosine);
        for (int i = 0; i < tube->around; i++, p += 3) {
            double across, aside;
            outline(tube, i, &across, &aside);
            p[0] = x - size * tube->half * across * sine;
            p[1] = y + size * tube->half * across * cosine;
            p[2] = size * tube->half * aside;
        }
    }
    for (int i = 0; i < 3 * (2 + total * tube->around); i++)
        positions[i] = floor(positions[i] * 1e6 + 0.5) / 1e6;
}

/* Clockwise as seen from outside. */
static void add_triangle(ex_mesh *mesh, int a, int b, int c) {
    int *corners = mesh->corners + mesh->corner_count;
    corners[0] = a;
    corners[1] = c;
    corners[2] = b;
    mesh->corner_count += 3;
    mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
}

ex_mesh *exi_tube_create(const exi_tube *tube) {
    const int total = ring_total(tube), n = tube->around;
    const size_t triangles = (size_t)(2 * n * total);
    ex_mesh *mesh = ex_mesh_create();
    if (!mesh)
        return NULL;
    mesh->vertex_count = 2 + total * n;
    mesh->positions = array_allocate(3 * (size_t)mesh->vertex_count, sizeof *mesh->positions);
    mesh->corners = array_allocate(3 * triangles, sizeof *mesh->corners);
    mesh->face_offsets = array_allocate(triangles + 1, sizeof *mesh->face_offsets);
    if (!mesh->positions || !mesh->corners || !mesh->face_offsets) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    mesh->face_offsets[0] = 0;
    for (int i = 0; i < n; i++) {
        const int next = (i + 1) % n, last = 2 + (total - 1) * n;
        add_triangle(mesh, 0, 2 + i, 2 + next);
        for (int r = 0; r + 1 < total; r++) {
            const int a = 2 + r * n + i, b = 2 + r * n + next;
            if ((r + i) % 2) { /* diagonals in both directions, so that none dominates */
                add_triangle(mesh, a, a + n, b);
                add_triangle(mesh, b, a + n, b + n);
            } else {
                add_triangle(mesh, a, a + n, b + n);
                add_triangle(mesh, a, b + n, b);
            }
        }
        add_triangle(mesh, 1, last + next, last + i);
    }
    exi_tube_shape(tube, mesh->positions);
    return mesh;
}
