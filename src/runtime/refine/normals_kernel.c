/*
 * Vertex normals of polygons: n(v) = sum over the faces around v of c(v, f) a(f), normalised, with a(f) the area vector
 * of the face, half the sum of p_i x p_(i+1) (M. E. Newell), and c = 1 (by area) or the angle at the vertex divided by
 * |a| (by angle; G. Thuermer and C. A. Wuethrich, "Computing vertex normals from polygonal facets", 1998).
 *
 * The first pass computes all area vectors, the second all vertices: each vertex adds up its own faces in order, so the
 * result does not depend on how the work is cut, and nothing is written twice.
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

/* Four quads side by side, in float: if the diagonals are at more than 6 degrees to each other, and neither tiny nor
 * huge, the error is at most 3e-6 of the area. Returns false, and does nothing, if some quads do not qualify. */
static inline bool find_quads(const exi_normals_pass *p, const uint32_t *corners, float areas[4][4]) {
    exi_quad u[4], w[4], area[4];
    EXI_WRITE_OUT
    for (int f = 0; f < 4; f++) {
        const exi_quad a = exi_quad_load_three(position(p, corners[4 * f]));
        const exi_quad b = exi_quad_load_three(position(p, corners[4 * f + 1]));
        u[f] = exi_quad_sub(exi_quad_load_three(position(p, corners[4 * f + 2])), a);
        w[f] = exi_quad_sub(exi_quad_load_three(position(p, corners[4 * f + 3])), b);
    }
    exi_quad_transpose(u);
    exi_quad_transpose(w);
    area[0] = exi_quad_msub(u[2], w[1], exi_quad_mul(u[1], w[2]));
    area[1] = exi_quad_msub(u[0], w[2], exi_quad_mul(u[2], w[0]));
    area[2] = exi_quad_msub(u[1], w[0], exi_quad_mul(u[0], w[1]));
    area[3] = exi_quad_splat(0);
    float sizes[EXI_QUAD_LANES], least[EXI_QUAD_LANES];
    exi_quad_store(sizes, exi_corner_dot(area, area));
    exi_quad_store(least,
                   exi_quad_mul(exi_quad_mul(exi_corner_dot(u, u), exi_corner_dot(w, w)), exi_quad_splat(0.01f)));
    bool usual = true;
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_QUAD_LANES; i++)
        usual = usual & (sizes[i] > least[i]) & (least[i] > EXI_CORNER_LEAST) & (least[i] < EXI_CORNER_MOST);
    if (!usual)
        return false;
    exi_quad_transpose(area);
    EXI_WRITE_OUT
    for (int f = 0; f < 4; f++)
        exi_quad_store(areas[f], area[f]);
    return true;
}

/* Four faces at a time: the same four go together, however the work was cut. */
EXI_ENTRY(exi_normals_faces, (const exi_normals_pass *pass, int begin, int end), (pass, begin, end)) {
    const exi_normals_pass p = *pass;
    const uint32_t *offsets = exi_normals_at(p.normals, p.normals->face_offsets),
                   *corners = exi_normals_at(p.normals, p.normals->corners);
    const bool by_angle = p.normals->by_angle != 0, quads = p.normals->quads && !by_angle;
    for (int four = begin; four < end; four++) {
        const int first = 4 * four, left = p.normals->face_count - first, last = first + (left < 4 ? left : 4);
        if (quads && left >= 4 && find_quads(&p, corners + 4 * (size_t)first, p.areas + first))
            continue;
        for (int f = first; f < last; f++) {
            double area[3];
            find_area(&p, corners + offsets[f], offsets[f + 1] - offsets[f], area);
            if (by_angle && !exi_unit3(area))
                area[0] = area[1] = area[2] = 0;
            for (int c = 0; c < 3; c++)
                p.areas[f][c] = (float)area[c];
            p.areas[f][3] = 0;
        }
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

/* Stores up to four vertices whose sums are too small, too large, zero or NaN, or which are not packed. */
static void store_singly(const exi_normals_pass *p, int v, int count, float units[3][EXI_QUAD_LANES],
                         float sums[3][EXI_QUAD_LANES], const float squares[EXI_QUAD_LANES]) {
    for (int i = 0; i < count; i++) {
        float *to = (float *)(void *)(p->out + (size_t)(v + i) * p->out_stride);
        double sum[3] = {(double)sums[0][i], (double)sums[1][i], (double)sums[2][i]};
        const bool usual = squares[i] > EXI_SQUARE_LEAST && squares[i] < EXI_SQUARE_MOST;
        const bool sound = usual || exi_unit3(sum);
        for (int c = 0; c < 3; c++)
            to[c] = usual ? units[c][i] : sound ? (float)sum[c] : 0;
    }
}

/* Normalises the sums of up to four vertices (within 2e-7) and stores them. */
static inline void store_units(const exi_normals_pass *p, int v, int count, exi_quad sums[4]) {
    exi_quad_transpose(sums);
    const exi_quad square = exi_corner_dot(sums, sums), half = exi_quad_splat(0.5f);
    const exi_quad y = exi_quad_inverse_root(square);
    const exi_quad off = exi_quad_msub(exi_quad_mul(square, y), y, exi_quad_splat(1));
    const exi_quad inverse = exi_quad_madd(exi_quad_mul(y, half), off, y); /* one more Newton step */
    exi_quad units[3];
    float squares[EXI_QUAD_LANES], lanes[2][3][EXI_QUAD_LANES];
    for (int c = 0; c < 3; c++)
        units[c] = exi_quad_mul(sums[c], inverse);
    exi_quad_store(squares, square);
    bool usual = count == 4 && p->out_stride == 3 * sizeof(float);
    for (int i = 0; i < 4; i++)
        usual = usual & (squares[i] > EXI_SQUARE_LEAST) & (squares[i] < EXI_SQUARE_MOST);
    if (usual) {
        exi_quad_store_triples((float *)(void *)(p->out + (size_t)v * p->out_stride), units);
        return;
    }
    for (int c = 0; c < 3; c++) {
        exi_quad_store(lanes[0][c], units[c]);
        exi_quad_store(lanes[1][c], sums[c]);
    }
    store_singly(p, v, count, lanes[0], lanes[1], squares);
}

EXI_ENTRY(exi_normals_by_area, (const exi_normals_pass *pass, int begin, int end), (pass, begin, end)) {
    const exi_normals_pass p = *pass;
    const uint32_t *starts = exi_normals_at(p.normals, p.normals->gather_offsets),
                   *faces = exi_normals_at(p.normals, p.normals->gathers);
    for (int v = begin, count; v < end; v += count) {
        exi_quad sums[4];
        count = end - v < 4 ? end - v : 4;
        if (count == 4 && starts[v + 4] - starts[v] == 16 && starts[v + 2] - starts[v] == 8 &&
            starts[v + 1] - starts[v] == 4 && starts[v + 3] - starts[v] == 12) { /* four faces each, as in refined
                                                                                    quads */
            const uint32_t *around = faces + starts[v];
            EXI_WRITE_OUT
            for (int k = 0; k < 4; k++) {
                sums[k] = exi_quad_splat(0);
                EXI_WRITE_OUT
                for (int i = 0; i < 4; i++)
                    sums[k] = exi_quad_add(sums[k], exi_quad_load(p.areas[around[4 * k + i]]));
            }
            store_units(&p, v, count, sums);
            continue;
        }
        for (int k = 0; k < 4; k++) {
            exi_quad sum = exi_quad_splat(0);
            for (uint32_t i = k < count ? starts[v + k] : 0, last = k < count ? starts[v + k + 1] : 0; i < last; i++)
                sum = exi_quad_add(sum, exi_quad_load(p.areas[faces[i]]));
            sums[k] = sum;
        }
        store_units(&p, v, count, sums);
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
    const uint32_t *starts = exi_normals_at(p.normals, p.normals->gather_offsets);
    const exi_normals_gather *gathers = exi_normals_at(p.normals, p.normals->gathers);
    for (int v = begin, count; v < end; v += count) {
        exi_quad sums[4];
        count = end - v < 4 ? end - v : 4;
        for (int k = 0; k < 4; k++)
            sums[k] = k < count ? sum_by_angle(&p, (uint32_t)(v + k), gathers + starts[v + k],
                                               (int)(starts[v + k + 1] - starts[v + k]))
                                : exi_quad_splat(0);
        store_units(&p, v, count, sums);
    }
}
