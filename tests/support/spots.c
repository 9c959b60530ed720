/*
 * Scans of painted skin: casts rays against an ellipse at every height, and colours by the distance from painted
 * features.
 */
#include "support/spots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

static const double pi = 3.14159265358979323846;

const unsigned char spot_colours[SPOT_COLOURS][3] = {{30, 60, 170},  {30, 120, 60},  {25, 25, 30},   {235, 235, 235},
                                                     {230, 210, 50}, {200, 40, 120}, {60, 180, 200}, {235, 120, 30}};

/* ---- the surface ---- */

static void radii_at(double y, double *a, double *b) {
    *a = 0.08 + 0.012 * sin(14 * y);
    *b = 0.055 + 0.008 * cos(17 * y);
}

static void surface_at(double angle, double y, double place[3], double normal[3]) {
    double a, b, before[2], after[2];
    radii_at(y, &a, &b);
    radii_at(y - 1e-5, &before[0], &before[1]);
    radii_at(y + 1e-5, &after[0], &after[1]);
    const double c = cos(angle), s = sin(angle);
    place[0] = a * s, place[1] = y, place[2] = b * c;
    const double along[3] = {(after[0] - before[0]) * s / 2e-5, 1, (after[1] - before[1]) * c / 2e-5};
    const double around[3] = {a * c, 0, -b * s};
    normal[0] = along[1] * around[2] - along[2] * around[1];
    normal[1] = along[2] * around[0] - along[0] * around[2];
    normal[2] = along[0] * around[1] - along[1] * around[0];
    const double sign = normal[0] * place[0] + normal[2] * place[2] < 0 ? -1 : 1;
    const double length = sign * sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int k = 0; k < 3; k++)
        normal[k] /= length;
}

static double distance(const double a[3], const double b[3]) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static bool is_free(const spot *spots, int count, const double place[3], double apart) {
    for (int i = 0; i < count; i++)
        if (distance(spots[i].place, place) < apart)
            return false;
    return true;
}

void spotted_open(spotted *s, double height, double apart, uint64_t seed) {
    *s = (spotted){.height = height, .pitch = {0.005, 0.002}, .noise = 0.001, .colour_noise = 3, .seed = seed};
    uint64_t random = seed;
    double normal[3];
    for (int tries = 0; tries < 20000 && s->marker_count < SPOTS_MAX; tries++) {
        spot *marker = &s->markers[s->marker_count];
        surface_at(random_between(&random, 0, 2 * pi), random_between(&random, 0.02, height - 0.02), marker->place,
                   normal);
        if (!is_free(s->markers, s->marker_count, marker->place, apart))
            continue;
        marker->size = 0.012;
        memcpy(marker->colour, spot_colours[s->marker_count % SPOT_COLOURS], 3);
        s->marker_count++;
    }
    for (int tries = 0; tries < 2000 && s->mole_count < s->marker_count / 2; tries++) {
        spot *mole = &s->moles[s->mole_count];
        surface_at(random_between(&random, 0, 2 * pi), random_between(&random, 0, height), mole->place, normal);
        mole->size = random_between(&random, 0.002, 0.005);
        memcpy(mole->colour, (unsigned char[]){90, 60, 45}, 3);
        s->mole_count += is_free(s->markers, s->marker_count, mole->place, 0.012);
    }
}

/* ---- the colours ---- */

static void paint(const spot *spots, int count, const double place[3], double colour[3]) {
    for (int i = 0; i < count; i++)
        if (fabs(spots[i].place[1] - place[1]) < spots[i].size && distance(spots[i].place, place) < spots[i].size / 2)
            for (int k = 0; k < 3; k++)
                colour[k] = spots[i].colour[k];
}

/* Skin that is paler and redder in places, shadows of some centimetres, veins of three millimetres. */
static void skin_at(const spotted *s, const double place[3], double colour[3]) {
    static const double skin[3] = {224, 172, 140};
    const double angle = atan2(place[0], place[2]), y = place[1];
    const double mottle = sin(3 * angle + 31 * y) * cos(2 * angle - 23 * y), red = sin(5 * angle - 40 * y);
    const double across = sin(2 * angle + 9 * y + 1), shade = 1 - 0.35 * exp(-across * across / 0.12);
    const double vein = fabs(fmod(fabs(angle * 0.065 + 0.02 * sin(20 * y)), 0.07) - 0.035);
    for (int k = 0; k < 3; k++) {
        colour[k] = skin[k];
        if (s->plain)
            continue;
        colour[k] = shade * (skin[k] + 10 * mottle + (k == 0 ? 7 : -4) * red);
        if (vein < 0.0015)
            colour[k] += k == 2 ? 5 : -14;
    }
    if (!s->plain)
        paint(s->moles, s->mole_count, place, colour);
}

/* ---- the scanner ---- */

/* Finds where a ray hits, `across` to the right of the axis; false if it misses. The ray goes along -direction. */
static bool cast(double across, double y, double degrees, double place[3], double *facing) {
    const double t = degrees * pi / 180, d[2] = {sin(t), cos(t)}, e[2] = {cos(t), -sin(t)};
    double a, b, at[3], normal[3];
    radii_at(y, &a, &b);
    const double ox = across * e[0], oz = across * e[1];
    const double p = d[0] * d[0] / (a * a) + d[1] * d[1] / (b * b);
    const double q = ox * d[0] / (a * a) + oz * d[1] / (b * b), r = ox * ox / (a * a) + oz * oz / (b * b) - 1;
    if (q * q - p * r <= 0)
        return false;
    const double depth = (-q + sqrt(q * q - p * r)) / p;
    place[0] = ox + depth * d[0], place[1] = y, place[2] = oz + depth * d[1];
    surface_at(atan2(place[0] / a, place[2] / b), y, at, normal);
    *facing = normal[0] * d[0] + normal[2] * d[1];
    return true;
}

static double gauss(uint64_t *random) {
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += random_between(random, -0.5, 0.5);
    return sum;
}

ex_mesh *spotted_scan(const spotted *s, double degrees) {
    const int columns = (int)(0.2 / s->pitch[0]), rows = (int)(s->height / s->pitch[1]);
    const size_t cells = (size_t)columns * (size_t)rows;
    ex_mesh *mesh = ex_mesh_create();
    int *grid = malloc(cells * sizeof *grid);
    mesh->positions = malloc(3 * cells * sizeof *mesh->positions);
    mesh->colours = malloc(3 * cells * sizeof *mesh->colours);
    mesh->corners = malloc(6 * cells * sizeof *mesh->corners);
    mesh->face_offsets = malloc((2 * cells + 1) * sizeof *mesh->face_offsets);
    uint64_t random = s->seed + (uint64_t)(1000 * degrees);
    const double d[2] = {sin(degrees * pi / 180), cos(degrees * pi / 180)};
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < columns; i++) {
            double place[3], colour[3], facing;
            int *cell = &grid[j * columns + i];
            *cell = -1;
            if (!cast(-0.1 + s->pitch[0] * (i + 0.3), s->pitch[1] * j, degrees, place, &facing) ||
                facing < sin(15 * pi / 180))
                continue;
            *cell = mesh->vertex_count++;
            skin_at(s, place, colour);
            paint(s->markers, s->marker_count, place, colour);
            const double off = s->noise * gauss(&random);
            place[0] += off * d[0];
            place[2] += off * d[1];
            for (int k = 0; k < 3; k++) {
                const double code = rint(colour[k] + s->colour_noise * gauss(&random));
                mesh->positions[3 * *cell + k] = place[k];
                mesh->colours[3 * *cell + k] = (float)((code < 0 ? 0 : code > 255 ? 255 : code) / 255);
            }
        }
    for (int j = 0; j + 1 < rows; j++)
        for (int i = 0; i + 1 < columns; i++) {
            const int *c = &grid[j * columns + i];
            const int quad[4] = {c[0], c[1], c[columns + 1], c[columns]};
            for (int half = 0; half < 2; half++) {
                const int corners[3] = {quad[0], quad[half + 1], quad[half + 2]};
                if (corners[0] < 0 || corners[1] < 0 || corners[2] < 0)
                    continue;
                memcpy(mesh->corners + mesh->corner_count, corners, sizeof corners);
                mesh->face_offsets[mesh->face_count++] = mesh->corner_count;
                mesh->corner_count += 3;
            }
        }
    mesh->face_offsets[mesh->face_count] = mesh->corner_count;
    free(grid);
    return mesh;
}

double spotted_facing(const spotted *s, int marker, double degrees) {
    const double *place = s->markers[marker].place, margin = s->markers[marker].size / 2 + 0.006;
    const double t = degrees * pi / 180, d[2] = {sin(t), cos(t)}, e[2] = {cos(t), -sin(t)};
    const double across = place[0] * e[0] + place[2] * e[1];
    double hit[3], facing, least = 1;
    if (place[1] < margin + 0.003 || place[1] > s->height - margin - 0.003)
        return 0;
    for (int side = -1; side <= 1; side++) {
        if (!cast(across, place[1], degrees, hit, &facing) || distance(hit, place) > 1e-6)
            return 0;
        /* The rim of the same disc towards either side: its radius and a margin further along the surface. */
        if (!cast(across + side * margin * facing, place[1], degrees, hit, &least) || least < 0.3)
            return 0;
    }
    (void)d;
    return facing;
}
