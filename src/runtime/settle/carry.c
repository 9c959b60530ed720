/*
 * Motion from the blended driver to the true one at every vertex (DrivenShape, sections 2.3 and 2.4): with frames B
 * (orthonormal) of the blended surface at x, and B' of the true one at x',
 *
 *     T(d) = x' + R (d - x),    R = B' B^T.
 *
 * Within a triangle, x, x' and R are those of its corners weighted by u and v. The paper takes one frame per triangle,
 * so that neighbours on two triangles turn differently, and cloth shows the driver's triangles; here a vertex's frame
 * is shared by all triangles around it. A weighted sum of rotations is slightly shorter than a rotation, by the cosine
 * of half the angle between them, over a length of a few gaps, which is invisible. Summing the corners' own T(d), which
 * is faster, was tried and dropped: where the driver stretches, frames turn slightly, each differently, and the
 * difference then acts over the length of an edge instead of a gap. T(d) - d is stored.
 *
 * A vertex's frame needs two directions that move with the surface. Two chords between its neighbours, e and f, nearly
 * perpendicular, are chosen once. The frame is (e/|e| + f/|f|), (e/|e| - f/|f|), which are perpendicular in every form,
 * and the normal to both. So no vertex normals are needed, and under a rigid motion R is exactly that rotation.
 * Here the chords are chosen; carry_kernel.c computes the motions.
 */
#include "runtime/settle/settler.h"

enum { RING = 12 };

static void difference(const float *positions, uint32_t a, uint32_t b, double out[3]) {
    for (size_t c = 0; c < 3; c++)
        out[c] = (double)positions[3 * (size_t)a + c] - (double)positions[3 * (size_t)b + c];
}

static double square(const double a[3]) {
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

static double area_sq(const double a[3], const double b[3]) {
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    return x * x + y * y + z * z;
}

/* Collects the vertex and up to RING neighbours; returns their number. */
static int ring_of(const ex_settler *s, uint32_t vertex, uint32_t ring[RING + 1]) {
    const uint32_t *triangles = exi_tree_at(s, s->triangles), *first = exi_tree_at(s, s->incident);
    const uint32_t *list = exi_tree_at(s, s->incidences);
    int count = 1;
    ring[0] = vertex;
    for (uint32_t k = first[vertex]; k < first[vertex + 1]; k++)
        for (int i = 0; i < 3; i++) {
            const uint32_t corner = triangles[3 * (size_t)list[k] + (size_t)i];
            int at = 0;
            while (at < count && ring[at] != corner)
                at++;
            if (at == count && count <= RING)
                ring[count++] = corner;
        }
    return count;
}

void exi_carry_choose(const ex_settler *s, const float *positions, uint32_t *chords) {
    for (uint32_t v = 0; v < (uint32_t)s->driver_count; v++) {
        uint32_t ring[RING + 1], *chord = chords + 4 * (size_t)v;
        const int count = ring_of(s, v, ring);
        double e[3] = {0, 0, 0}, f[3], longest = -1, largest = -1;
        for (int i = 0; i < 4; i++)
            chord[i] = v;
        for (int i = 0; i < count; i++)
            for (int k = i + 1; k < count; k++) {
                difference(positions, ring[i], ring[k], f);
                if (square(f) > longest) {
                    longest = square(f);
                    memcpy(e, f, sizeof e);
                    chord[0] = ring[i];
                    chord[1] = ring[k];
                }
            }
        for (int i = 0; i < count; i++)
            for (int k = i + 1; k < count; k++) {
                difference(positions, ring[i], ring[k], f);
                if (area_sq(e, f) > largest) {
                    largest = area_sq(e, f);
                    chord[2] = ring[i];
                    chord[3] = ring[k];
                }
            }
    }
}
