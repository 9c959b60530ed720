/*
 * Vertex normals of polygons: n(v) = sum over the faces around v of c(v, f) a(f), normalised, with a(f) the area vector
 * of the face, half the sum of p_i x p_(i+1) (M. E. Newell), and c = 1 (by area) or the angle at the vertex divided by
 * |a| (by angle; G. Thuermer and C. A. Wuethrich, "Computing vertex normals from polygonal facets", 1998).
 *
 * The first pass computes all area vectors, the second all vertices: each vertex adds up its own faces in order, so the
 * result does not depend on how the work is cut, and nothing is written twice.
 *
 * Both passes work on EXI_WIDTH faces or vertices together. A register is loaded from corners (or areas) that lie
 * anywhere, four floats each, one for each block of four lanes; blocks are then transposed. With AVX-512 a face costs
 * four such loads, four loads of indices and 1.4 shuffles, a vertex with four faces four, four and 1.6. Gathers of
 * sixteen lanes, twelve for 16 faces, were a little slower (4.4 instead of 4.1 ns a vertex for both passes).
 */
#include "runtime/base/functions.inl"
#include "runtime/refine/corners.h"
#include "runtime/refine/limit.inl"
#include "runtime/refine/normals.h"

static inline const float *position(const exi_normals_pass *p, uint32_t v) {
    return (const float *)(const void *)(p->positions + (size_t)v * p->stride);
}

static inline void difference(const float *from, const float *to, double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = (double)to[c] - (double)from[c];
}

/* Uses differences from the first corner, which keep their digits far from the origin. Computed in double, but stored
 * as float: areas of faces smaller than 1e-22 or larger than 1e19 across are lost, and with them normals by area. For a
 * quad, the sum is the cross product of the diagonals. */
static inline void find_area(const exi_normals_pass *p, const uint32_t *corners, uint32_t count, double area[3]) {
    const float *o = position(p, corners[0]);
    double u[3], w[3], term[3];
    if (count == 4) {
        difference(o, position(p, corners[2]), u);
        difference(position(p, corners[1]), position(p, corners[3]), w);
        exi_cross(u, w, area);
        return;
    }
    difference(o, position(p, corners[1]), u);
    area[0] = area[1] = area[2] = 0;
    for (uint32_t i = 2; i < count; i++) {
        difference(o, position(p, corners[i]), w);
        exi_cross(u, w, term);
        for (int c = 0; c < 3; c++) {
            area[c] += term[c];
            u[c] = w[c];
        }
    }
}

enum { BLOCKS = EXI_WIDTH / EXI_QUAD_LANES };

/* `then` where a is between the two, else 0; 0 too where it is not a number. */
static inline exi_wide is_between(exi_wide a, float least, float most, exi_wide then) {
    const exi_wide zero = exi_splat(0);
    return exi_pick(a, exi_splat(least), exi_pick(exi_splat(most), a, then, zero), zero);
}

static inline exi_wide dot3(const exi_wide a[4], const exi_wide b[4]) {
    return exi_madd(a[2], b[2], exi_madd(a[1], b[1], exi_mul(a[0], b[0])));
}

/* Corner k of BLOCKS faces, one for each block. A corner is read as four floats, unless it may be the last vertex or
 * the row has other fields, which are not ours to read. */
EXI_KERNEL exi_wide load_corners(const char *positions, size_t stride, bool last, const uint32_t (*quads)[4], int k) {
    const float *at[BLOCKS];
    EXI_WRITE_OUT
    for (int b = 0; b < BLOCKS; b++)
        at[b] = (const float *)(const void *)(positions + (size_t)quads[b][k] * stride);
    if (!last)
        return exi_load_blocks(at);
    exi_quad three[BLOCKS];
    EXI_WRITE_OUT
    for (int b = 0; b < BLOCKS; b++)
        three[b] = exi_quad_load_three(at[b]);
    return exi_of_quads(three);
}

/* Area vectors of EXI_WIDTH quads, in float: if the diagonals are at more than 6 degrees to each other, and neither
 * tiny nor huge, the error is at most 3e-6 of the area. Returns true if all qualify and none is `large`; otherwise
 * good[r][b] is not 0 for those faces BLOCKS * r + b that qualify. */
EXI_KERNEL bool find_quads(const char *positions, size_t stride, bool last, const uint32_t (*quads)[4], bool large,
                           float (*areas)[4], float good[4][BLOCKS]) {
    exi_wide u[4], w[4], area[4];
    EXI_WRITE_OUT
    for (int r = 0; r < 4; r++) {
        const uint32_t(*own)[4] = quads + BLOCKS * r;
        u[r] = exi_sub(load_corners(positions, stride, last, own, 2), load_corners(positions, stride, last, own, 0));
        w[r] = exi_sub(load_corners(positions, stride, last, own, 3), load_corners(positions, stride, last, own, 1));
    }
    exi_transpose_blocks(u);
    exi_transpose_blocks(w);
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++) { /* not fused, so that a face and its reverse cancel to the bit */
        const int i = (c + 1) % 3, j = (c + 2) % 3;
        area[c] = exi_sub(exi_mul(u[i], w[j]), exi_mul(u[j], w[i]));
    }
    area[3] = exi_splat(0);
    const exi_wide one = exi_splat(1), least = exi_mul(exi_mul(dot3(u, u), dot3(w, w)), exi_splat(0.01f));
    const exi_wide usual =
        exi_pick(dot3(area, area), least, is_between(least, EXI_CORNER_LEAST, EXI_CORNER_MOST, one), area[3]);
    exi_transpose_blocks(area);
    EXI_WRITE_OUT
    for (int r = 0; r < 4; r++)
        exi_store(areas[BLOCKS * r], area[r]);
    if (!large && !exi_any_above(one, usual))
        return true;
    float lanes[EXI_WIDTH];
    exi_store(lanes, usual);
    for (int i = 0; i < EXI_WIDTH; i++)
        good[i % 4][i / 4] = lanes[i];
    return false;
}

/* The area of one face in double. */
static void find_singly(const exi_normals_pass *p, int f, const uint32_t *corners, uint32_t count) {
    double area[3];
    find_area(p, corners, count, area);
    if (p->normals->by_angle && !exi_unit3(area))
        area[0] = area[1] = area[2] = 0;
    for (int c = 0; c < 3; c++)
        p->areas[f][c] = (float)area[c];
    p->areas[f][3] = 0;
}

/* Does again what find_quads cannot do: faces that do not qualify, as quads too, and those with more than four
 * corners. */
static EXI_APART void find_others(const exi_normals_pass *p, int first, const float good[4][BLOCKS]) {
    const uint32_t *offsets = exi_normals_at(p->normals, p->normals->face_offsets),
                   *corners = exi_normals_at(p->normals, p->normals->corners);
    const uint32_t(*quads)[4] = exi_normals_at(p->normals, p->normals->quads);
    for (int f = first; f < first + EXI_WIDTH && f < p->normals->face_count; f++) {
        const uint32_t count = offsets[f + 1] - offsets[f];
        if (count > 4)
            find_singly(p, f, corners + offsets[f], count);
        else if (!(good[(f - first) / BLOCKS][(f - first) % BLOCKS] > 0))
            find_singly(p, f, quads[f], 4);
    }
}

/* One unit; `stride` and `last` are constants at the call. */
EXI_KERNEL void find_unit(const exi_normals_pass *p, int unit, size_t stride, bool last, bool large) {
    const uint32_t(*quads)[4] = exi_normals_at(p->normals, p->normals->quads);
    for (int f = EXI_NORMALS_UNIT * unit; f < EXI_NORMALS_UNIT * (unit + 1); f += EXI_WIDTH) {
        float good[4][BLOCKS];
        if (!find_quads(p->positions, stride, last, quads + f, large, p->areas + f, good))
            find_others(p, f, good);
    }
}

EXI_ENTRY(exi_normals_faces, (const exi_normals_pass *pass, int begin, int end), (pass, begin, end)) {
    const exi_normals_pass p = *pass;
    if (p.normals->by_angle) {
        const uint32_t *offsets = exi_normals_at(p.normals, p.normals->face_offsets),
                       *corners = exi_normals_at(p.normals, p.normals->corners);
        for (int f = EXI_NORMALS_UNIT * begin; f < EXI_NORMALS_UNIT * end && f < p.normals->face_count; f++)
            find_singly(&p, f, corners + offsets[f], offsets[f + 1] - offsets[f]);
        return;
    }
    const unsigned char *flags = exi_normals_at(p.normals, p.normals->flags);
    for (int unit = begin; unit < end; unit++) {
        const bool large = flags[unit] & EXI_NORMALS_LARGE;
        if (p.stride == 3 * sizeof(float) && !(flags[unit] & EXI_NORMALS_LAST))
            find_unit(&p, unit, 3 * sizeof(float), false, large);
        else
            find_unit(&p, unit, p.stride, true, large);
    }
}

/* Returns the angle at v between its two neighbours, in [0, pi]; from sine and cosine, which is accurate for needles
 * too. */
static double angle_at(const float *v, const float *next, const float *previous) {
    double a[3], b[3], across[3];
    for (int c = 0; c < 3; c++) {
        a[c] = (double)next[c] - (double)v[c];
        b[c] = (double)previous[c] - (double)v[c];
    }
    exi_cross(a, b, across);
    return exi_corner(sqrt(exi_dot3(across, across)), exi_dot3(a, b));
}

/* Stores vertices of which some have sums that are too small, too large, zero or NaN, or which are not packed. */
static void store_singly(const exi_normals_pass *p, int v, int count, float units[3][EXI_WIDTH],
                         float sums[3][EXI_WIDTH], const float usual[EXI_WIDTH]) {
    for (int i = 0; i < count; i++) {
        float *to = (float *)(void *)(p->out + (size_t)(v + i) * p->out_stride);
        double sum[3] = {(double)sums[0][i], (double)sums[1][i], (double)sums[2][i]};
        const bool sound = usual[i] > 0 || exi_unit3(sum);
        for (int c = 0; c < 3; c++)
            to[c] = usual[i] > 0 ? units[c][i] : sound ? (float)sum[c] : 0;
    }
}

/* Normalises the sums of up to EXI_WIDTH vertices (within 2e-7) and stores them. */
static inline void store_units(const exi_normals_pass *p, int v, int count, const exi_quad given[EXI_WIDTH]) {
    exi_wide sums[4], units[3];
    EXI_WRITE_OUT
    for (int r = 0; r < 4; r++) { /* block b has vertex 4 b + r: transposed, the lanes are in order */
        exi_quad blocks[BLOCKS];
        EXI_WRITE_OUT
        for (int b = 0; b < BLOCKS; b++)
            blocks[b] = given[4 * b + r];
        sums[r] = exi_of_quads(blocks);
    }
    exi_transpose_blocks(sums);
    const exi_wide one = exi_splat(1), square = dot3(sums, sums);
    const exi_wide y = exi_inverse_root(square);
    const exi_wide off = exi_msub(exi_mul(square, y), y, one);
    const exi_wide inverse = exi_madd(exi_mul(y, exi_splat(0.5f)), off, y); /* one more Newton step */
    const exi_wide usual = is_between(square, EXI_SQUARE_LEAST, EXI_SQUARE_MOST, one);
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        units[c] = exi_mul(sums[c], inverse);
    if (count >= EXI_WIDTH && p->out_stride == 3 * sizeof(float) && !exi_any_above(one, usual)) {
        exi_store_triples((float *)(void *)(p->out + (size_t)v * p->out_stride), units[0], units[1], units[2]);
        return;
    }
    float lanes[2][3][EXI_WIDTH], good[EXI_WIDTH];
    for (int c = 0; c < 3; c++) {
        exi_store(lanes[0][c], units[c]);
        exi_store(lanes[1][c], sums[c]);
    }
    exi_store(good, usual);
    store_singly(p, v, count < EXI_WIDTH ? count : EXI_WIDTH, lanes[0], lanes[1], good);
}

/* Sums the faces around four vertices, from four rounds together. */
static inline void sum_four(const float *areas, const uint32_t *round, const uint32_t *end, exi_quad sums[4]) {
    EXI_WRITE_OUT
    for (int k = 0; k < 4; k++)
        sums[k] = exi_quad_splat(0);
    for (; round < end; round += 16) {
        EXI_WRITE_OUT
        for (int k = 0; k < 4; k++) {
            EXI_WRITE_OUT
            for (int i = 0; i < 4; i++)
                sums[k] = exi_quad_add(sums[k], exi_quad_load(areas + round[4 * i + k]));
        }
    }
}

EXI_ENTRY(exi_normals_by_area, (const exi_normals_pass *pass, int begin, int end), (pass, begin, end)) {
    const exi_normals_pass p = *pass;
    const uint32_t *starts = exi_normals_at(p.normals, p.normals->gather_starts),
                   *rounds = exi_normals_at(p.normals, p.normals->gathers);
    const int units_end = EXI_NORMALS_UNIT * end;
    const int last = units_end < p.normals->vertex_count ? units_end : p.normals->vertex_count;
    for (int v = EXI_NORMALS_UNIT * begin; v < last; v += EXI_WIDTH) {
        exi_quad sums[EXI_WIDTH];
        EXI_WRITE_OUT
        for (int b = 0; b < BLOCKS; b++) {
            const uint32_t *own = starts + v / EXI_NORMALS_FOUR + b;
            sum_four(p.areas[0], rounds + EXI_NORMALS_FOUR * (size_t)own[0], rounds + EXI_NORMALS_FOUR * (size_t)own[1],
                     sums + 4 * b);
        }
        store_units(&p, v, last - v, sums);
    }
}

/* Sums the faces around a vertex, four at a time. */
static inline exi_quad sum_by_angle(const exi_normals_pass *p, uint32_t v, const exi_normals_gather *g, int count) {
    enum { STEP = sizeof(exi_normals_gather) / sizeof(uint32_t) };
    const float *here = position(p, v);
    exi_quad sum = exi_quad_splat(0);
    for (; count > 0; g += EXI_QUAD_LANES, count -= EXI_QUAD_LANES) {
        exi_quad next[3], previous[3], size_sq;
        float angles[EXI_QUAD_LANES], sizes[EXI_QUAD_LANES];
        exi_corner_edges(p->positions, p->stride, here, &g->next, STEP, count, next);
        exi_corner_edges(p->positions, p->stride, here, &g->previous, STEP, count, previous);
        exi_quad_store(angles, exi_corner_angles(next, previous, &size_sq));
        exi_quad_store(sizes, size_sq);
        for (int lane = 0; lane < count && lane < EXI_QUAD_LANES; lane++) {
            if (!(sizes[lane] > EXI_CORNER_LEAST && sizes[lane] < EXI_CORNER_MOST))
                angles[lane] = (float)angle_at(here, position(p, g[lane].next), position(p, g[lane].previous));
            sum = exi_quad_madd(exi_quad_splat(angles[lane]), exi_quad_load(p->areas[g[lane].face]), sum);
        }
    }
    return sum;
}

EXI_ENTRY(exi_normals_by_angle, (const exi_normals_pass *pass, int begin, int end), (pass, begin, end)) {
    const exi_normals_pass p = *pass;
    const uint32_t *starts = exi_normals_at(p.normals, p.normals->gather_starts);
    const exi_normals_gather *gathers = exi_normals_at(p.normals, p.normals->gathers);
    const int units_end = EXI_NORMALS_UNIT * end;
    const int last = units_end < p.normals->vertex_count ? units_end : p.normals->vertex_count;
    for (int v = EXI_NORMALS_UNIT * begin; v < last; v += EXI_WIDTH) {
        exi_quad sums[EXI_WIDTH];
        for (int k = 0; k < EXI_WIDTH; k++)
            sums[k] = v + k < last ? sum_by_angle(&p, (uint32_t)(v + k), gathers + starts[v + k],
                                                  (int)(starts[v + k + 1] - starts[v + k]))
                                   : exi_quad_splat(0);
        store_units(&p, v, last - v, sums);
    }
}
