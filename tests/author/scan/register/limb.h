/*
 * limb.h - a template and scans of it for tests of registration: a closed surface along y, 1 m long, 0.2 m wide at most
 * and without symmetry, and a known motion of all its points.
 */
#ifndef EXEMPLAR_TESTS_AUTHOR_SCAN_REGISTER_LIMB_H
#define EXEMPLAR_TESTS_AUTHOR_SCAN_REGISTER_LIMB_H

#include <exemplar/author/mesh.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LIMB_PI 3.14159265358979

/* A point of the surface: u in [0, 1] along it, v in [0, 1] around it. */
static inline void limb_point(double u, double v, double out[3]) {
    const double turn = 2 * LIMB_PI * v, round = sqrt(fmax(0, 1 - pow(2 * u - 1, 6)));
    const double wide = round * (0.07 + 0.03 * sin(7 * u) + 0.012 * cos(2 * turn + 6 * u));
    out[0] = wide * cos(turn);
    out[1] = u - 0.5;
    out[2] = 0.8 * wide * sin(turn) + 0.03 * sin(5 * u);
}

/* Bends a point about z, by `bend` radians per metre along y, and makes it thicker. */
static inline void limb_move(const double p[3], double bend, double thicker, double out[3]) {
    const double x = p[0] * thicker, z = p[2] * thicker, angle = bend * p[1];
    const double radius = bend != 0 ? 1 / bend : 0;
    out[0] = bend != 0 ? (radius + x) * cos(angle) - radius : x;
    out[1] = bend != 0 ? (radius + x) * sin(angle) : p[1];
    out[2] = z;
}

/* A closed mesh of quads, with triangles at the ends: 2 + (along - 1) around vertices. */
static inline ex_mesh *limb_mesh(int along, int around, double bend, double thicker) {
    ex_mesh *mesh = ex_mesh_create();
    assert_non_null(mesh);
    const int rings = along - 1, count = 2 + rings * around, faces = along * around;
    mesh->vertex_count = count;
    mesh->positions = calloc(3 * (size_t)count, sizeof *mesh->positions);
    mesh->face_count = faces;
    mesh->face_offsets = calloc((size_t)faces + 1, sizeof *mesh->face_offsets);
    mesh->corners = calloc(4 * (size_t)faces, sizeof *mesh->corners);
    assert_true(mesh->positions && mesh->face_offsets && mesh->corners);
    for (int i = 0; i < count; i++) {
        const int ring = i == 0 ? 0 : i == count - 1 ? along : 1 + (i - 1) / around;
        double p[3];
        limb_point(0.5 - 0.5 * cos(LIMB_PI * ring / along), (double)((i + around - 1) % around) / around, p);
        limb_move(p, bend, thicker, mesh->positions + 3 * (size_t)i);
    }
    for (int r = 0; r < along; r++)
        for (int a = 0; a < around; a++) {
            const int next = (a + 1) % around, low = 1 + (r - 1) * around, high = low + around;
            int corners[4] = {low + a, high + a, high + next, low + next}, size = 4;
            if (r == 0) {
                corners[0] = 0;
                size = 3;
            } else if (r == rings) {
                corners[1] = count - 1;
                corners[2] = low + next;
                size = 3;
            }
            memcpy(mesh->corners + mesh->corner_count, corners, (size_t)size * sizeof *corners);
            mesh->corner_count += size;
            mesh->face_offsets[r * around + a + 1] = mesh->corner_count;
        }
    return mesh;
}

/* Adds a plane at this height, of tiles, that faces up. */
static inline void limb_add_floor(ex_mesh *mesh, double height, double half, int tiles) {
    const int first = mesh->vertex_count, side = tiles + 1;
    mesh->vertex_count += side * side;
    mesh->face_count += tiles * tiles;
    mesh->positions = realloc(mesh->positions, 3 * (size_t)mesh->vertex_count * sizeof *mesh->positions);
    mesh->face_offsets = realloc(mesh->face_offsets, ((size_t)mesh->face_count + 1) * sizeof *mesh->face_offsets);
    mesh->corners = realloc(mesh->corners, ((size_t)mesh->corner_count + 4 * (size_t)(tiles * tiles)) * sizeof(int));
    assert_true(mesh->positions && mesh->face_offsets && mesh->corners);
    for (int i = 0; i < side * side; i++) {
        double *p = mesh->positions + 3 * (size_t)(first + i);
        p[0] = half * (2.0 * (i % side) / tiles - 1);
        p[1] = height;
        p[2] = half * (2.0 * (i / side) / tiles - 1);
    }
    for (int t = 0; t < tiles * tiles; t++) {
        const int at = first + t / tiles * side + t % tiles;
        const int corners[4] = {at, at + side, at + side + 1, at + 1};
        memcpy(mesh->corners + mesh->corner_count, corners, sizeof corners);
        mesh->corner_count += 4;
        mesh->face_offsets[mesh->face_count - tiles * tiles + t + 1] = mesh->corner_count;
    }
}

#endif
