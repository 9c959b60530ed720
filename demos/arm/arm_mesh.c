/*
 * The connectivity of the demo `arm`: 1335 vertices (as in Shape by Example, section 6.2), 1333 quads, closed. Texture
 * coordinates are one chart for the tube, with its seam on the side of the body, and small ones for the shoulder's
 * patch, the fingers and the thumb.
 */
#include "arm.h"

#include "common/array.h"

#include <string.h>

int exi_arm_vertex(int ring, int column) {
    return ring * ARM_COLUMNS + (column + ARM_COLUMNS) % ARM_COLUMNS;
}

/* Across the knuckles: place 0 to 8, from the thumb to the little finger, on the palm, midway, or on the back. */
typedef enum knuckle { PALM, MIDDLE, BACK } knuckle;

static int knuckle_vertex(int place, knuckle side) {
    if (side == PALM)
        return exi_arm_vertex(ARM_RINGS - 1, place - 4);
    if (side == BACK)
        return exi_arm_vertex(ARM_RINGS - 1, 14 - place);
    if (place == 0 || place == 8)
        return exi_arm_vertex(ARM_RINGS - 1, place == 0 ? 15 : 5);
    return ARM_FIRST_WEB + place / 2 - 1;
}

void exi_arm_finger_base(int finger, int loop[ARM_LOOP]) {
    const int left = 2 * finger, right = left + 2;
    loop[0] = knuckle_vertex(left, PALM);
    loop[1] = knuckle_vertex(left + 1, PALM);
    loop[2] = knuckle_vertex(right, PALM);
    loop[3] = knuckle_vertex(right, MIDDLE);
    loop[4] = knuckle_vertex(right, BACK);
    loop[5] = knuckle_vertex(left + 1, BACK);
    loop[6] = knuckle_vertex(left, BACK);
    loop[7] = knuckle_vertex(left, MIDDLE);
}

void exi_arm_thumb_base(int loop[ARM_LOOP]) {
    static const int steps[ARM_LOOP][2] = {{-1, 1}, {0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}, {-1, 0}};
    for (int i = 0; i < ARM_LOOP; i++)
        loop[i] = exi_arm_vertex(ARM_THUMB + steps[i][0], ARM_THUMB_COLUMN + steps[i][1]);
}

/* ---- faces ---- */

/* Place of a strip or patch in the texture. */
typedef struct chart {
    double left, bottom, width, height;
} chart;

static int add_texcoord(ex_mesh *mesh, int first, double u, double v) {
    for (int i = first; i < mesh->texcoord_count; i++)
        if (mesh->texcoords[2 * i] == u && mesh->texcoords[2 * i + 1] == v)
            return i;
    mesh->texcoords[2 * mesh->texcoord_count] = u;
    mesh->texcoords[2 * mesh->texcoord_count + 1] = v;
    return mesh->texcoord_count++;
}

/* Adds a quad at columns i, i + 1 and rows j, j + 1 of a chart; `first` is the chart's first coordinate. */
static void add_quad(ex_mesh *mesh, const int vertices[4], const chart *where, int first, int i, int columns, int j,
                     int rows) {
    static const int steps[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    for (int c = 0; c < 4; c++) {
        double u = where->left + where->width * (i + steps[c][0]) / columns;
        double v = where->bottom + where->height * (j + steps[c][1]) / rows;
        mesh->corners[mesh->corner_count] = vertices[c];
        mesh->corner_texcoords[mesh->corner_count++] = add_texcoord(mesh, first, u, v);
    }
    mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
}

/* Adds the faces between two loops of vertices; they face outwards if columns run from +y to +z and rows along +x. */
static void add_strip(ex_mesh *mesh, const int *loop, const int *next, int count, const chart *where, int first,
                      int row, int rows) {
    for (int i = 0; i < count; i++) {
        int k = (i + 1) % count;
        add_quad(mesh, (const int[4]){loop[i], loop[k], next[k], next[i]}, where, first, i, count, row, rows);
    }
}

/* Adds a square of size x size faces from its (size + 1)^2 vertices, row by row. */
static void add_patch(ex_mesh *mesh, const int *grid, int size, const chart *where) {
    const int first = mesh->texcoord_count, n = size + 1;
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++) {
            const int *g = grid + j * n + i;
            add_quad(mesh, (const int[4]){g[0], g[1], g[n + 1], g[n]}, where, first, i, size, j, size);
        }
}

static void add_tube(ex_mesh *mesh) {
    static const chart where = {0, 0, 1, 0.7};
    for (int ring = 0; ring + 1 < ARM_RINGS; ring++)
        for (int i = 0; i < ARM_COLUMNS; i++) {
            int c = i + ARM_COLUMNS / 2; /* the seam is at -y */
            if (ring >= ARM_THUMB - 1 && ring <= ARM_THUMB && c % ARM_COLUMNS >= ARM_THUMB_COLUMN - 1 &&
                c % ARM_COLUMNS <= ARM_THUMB_COLUMN)
                continue;
            const int quad[4] = {exi_arm_vertex(ring, c), exi_arm_vertex(ring, c + 1), exi_arm_vertex(ring + 1, c + 1),
                                 exi_arm_vertex(ring + 1, c)};
            add_quad(mesh, quad, &where, 0, i, ARM_COLUMNS, ring, ARM_RINGS - 1);
        }
}

/* The patch's rim is the first ring, from column -2 on; its rows run so that it faces along -x. */
static void add_shoulder(ex_mesh *mesh) {
    static const chart where = {0.02, 0.73, 0.16, 0.16};
    enum { N = ARM_CAP + 2, LAST = N - 1 };
    int grid[N * N];
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            int column = j == 0 ? -i : i == LAST ? -LAST - j : j == LAST ? -3 * LAST + i : -4 * LAST + j;
            bool rim = i == 0 || j == 0 || i == LAST || j == LAST;
            grid[j * N + i] =
                rim ? exi_arm_vertex(0, column - 2 + ARM_COLUMNS) : ARM_FIRST_CAP + (j - 1) * ARM_CAP + i - 1;
        }
    add_patch(mesh, grid, LAST, &where);
}

/* Adds a finger from its base: rings of ARM_LOOP vertices from `start` on, and the tip. */
static void add_finger(ex_mesh *mesh, const int base[ARM_LOOP], int start, int rings, int tip, double left) {
    const chart side = {left, 0.73, 0.13, 0.16}, end = {left, 0.9, 0.08, 0.08};
    const int first = mesh->texcoord_count;
    int loop[ARM_LOOP], next[ARM_LOOP];
    memcpy(loop, base, sizeof loop);
    for (int ring = 0; ring < rings; ring++) {
        for (int i = 0; i < ARM_LOOP; i++)
            next[i] = start + ring * ARM_LOOP + i;
        add_strip(mesh, loop, next, ARM_LOOP, &side, first, ring, rings);
        memcpy(loop, next, sizeof loop);
    }
    add_patch(mesh, (const int[9]){loop[0], loop[1], loop[2], loop[7], tip, loop[3], loop[6], loop[5], loop[4]}, 2,
              &end);
}

ex_mesh *exi_arm_mesh(void) {
    ex_mesh *mesh = ex_mesh_create();
    if (!mesh)
        return NULL;
    mesh->positions = array_allocate(3 * ARM_VERTICES, sizeof(double));
    mesh->texcoords = array_allocate(2 * 4 * ARM_FACES, sizeof(double));
    mesh->face_offsets = array_allocate(ARM_FACES + 1, sizeof(int));
    mesh->corners = array_allocate(4 * ARM_FACES, sizeof(int));
    mesh->corner_texcoords = array_allocate(4 * ARM_FACES, sizeof(int));
    if (!mesh->positions || !mesh->texcoords || !mesh->face_offsets || !mesh->corners || !mesh->corner_texcoords) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    mesh->vertex_count = ARM_VERTICES;
    memset(mesh->positions, 0, 3 * ARM_VERTICES * sizeof(double));
    mesh->face_offsets[0] = 0;
    add_tube(mesh);
    add_shoulder(mesh);
    int base[ARM_LOOP];
    for (int f = 0; f < ARM_FINGERS; f++) {
        int start = ARM_FIRST_FINGER + f * ARM_FINGER_SIZE;
        exi_arm_finger_base(f, base);
        add_finger(mesh, base, start, ARM_FINGER_RINGS, start + ARM_FINGER_SIZE - 1, 0.2 + 0.16 * f);
    }
    exi_arm_thumb_base(base);
    add_finger(mesh, base, ARM_FIRST_THUMB, ARM_THUMB_RINGS, exi_arm_vertex(ARM_THUMB, ARM_THUMB_COLUMN), 0.84);
    return mesh;
}
