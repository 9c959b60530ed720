/*
 * Motions of the driver's vertices (carry.c has the equations), four at a time: frames from the two chords of each in
 * the blended form and in the true one, and R - 1 from them.
 */
#include "runtime/base/memory.h"
#include "runtime/settle/closest.h"
#include "runtime/settle/settler.h"

typedef struct preparing {
    const ex_settler *settler;
    const float *blended, *driver;
    const uint32_t *vertices;
    int count;
    exi_motions *motions;
} preparing;

static inline exi_vector four_of(const float *positions, const uint32_t *a) {
    exi_quad m[4];
    for (int i = 0; i < 4; i++)
        m[i] = exi_quad_load_three(positions + 3 * (size_t)a[i]);
    exi_quad_transpose(m);
    return (exi_vector){m[0], m[1], m[2]};
}

static inline exi_vector unit(exi_vector a) {
    return exi_v_scale(a, exi_quad_inverse_root(exi_v_dot(a, a)));
}

/* chord[i]: one end of a chord, for each of the four vertices. */
static inline void frame_of(const float *positions, uint32_t chord[4][4], exi_vector frame[3]) {
    const exi_vector e = unit(exi_v_subtract(four_of(positions, chord[0]), four_of(positions, chord[1])));
    const exi_vector f = unit(exi_v_subtract(four_of(positions, chord[2]), four_of(positions, chord[3])));
    frame[0] = unit((exi_vector){exi_quad_add(e.x, f.x), exi_quad_add(e.y, f.y), exi_quad_add(e.z, f.z)});
    frame[1] = unit(exi_v_subtract(e, f));
    frame[2] = exi_v_cross(frame[0], frame[1]);
}

/* An element of a0 b0^T + a1 b1^T + a2 b2^T - 1. */
static inline exi_quad element(exi_quad a0, exi_quad b0, exi_quad a1, exi_quad b1, exi_quad a2, exi_quad b2,
                               bool diagonal) {
    return exi_quad_madd(a0, b0, exi_quad_madd(a1, b1, exi_quad_madd(a2, b2, exi_quad_splat(diagonal ? -1.0f : 0.0f))));
}

static void prepare_four(const preparing *p, const uint32_t vertex[4]) {
    const uint32_t *chords = exi_tree_at(p->settler, p->settler->chords);
    uint32_t chord[4][4];
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            chord[k][i] = chords[4 * (size_t)vertex[i] + (size_t)k];
    exi_vector b[3], t[3];
    frame_of(p->blended, chord, b);
    frame_of(p->driver, chord, t);
    const exi_vector x = four_of(p->blended, vertex), to = four_of(p->driver, vertex), moved = exi_v_subtract(to, x);
    const float *o = p->motions->origin;
    const exi_vector origin = {exi_quad_splat(o[0]), exi_quad_splat(o[1]), exi_quad_splat(o[2])};
    const exi_vector from = exi_v_subtract(x, origin);
    exi_quad rows[3][4] = {{element(t[0].x, b[0].x, t[1].x, b[1].x, t[2].x, b[2].x, true),
                            element(t[0].x, b[0].y, t[1].x, b[1].y, t[2].x, b[2].y, false),
                            element(t[0].x, b[0].z, t[1].x, b[1].z, t[2].x, b[2].z, false), moved.x},
                           {element(t[0].y, b[0].x, t[1].y, b[1].x, t[2].y, b[2].x, false),
                            element(t[0].y, b[0].y, t[1].y, b[1].y, t[2].y, b[2].y, true),
                            element(t[0].y, b[0].z, t[1].y, b[1].z, t[2].y, b[2].z, false), moved.y},
                           {element(t[0].z, b[0].x, t[1].z, b[1].x, t[2].z, b[2].x, false),
                            element(t[0].z, b[0].y, t[1].z, b[1].y, t[2].z, b[2].y, false),
                            element(t[0].z, b[0].z, t[1].z, b[1].z, t[2].z, b[2].z, true), moved.z}};
    /* A frame that is degenerate or not finite does not turn. */
    const exi_quad zero = exi_quad_splat(0), limit = exi_quad_splat(8.1f); /* |R - 1|^2 is 8 at most */
    exi_quad size = zero;
    EXI_WRITE_OUT
    for (int k = 0; k < 9; k++)
        size = exi_quad_madd(rows[k / 3][k % 3], rows[k / 3][k % 3], size);
    const unsigned turns = exi_quad_at_most(size, limit);
    EXI_WRITE_OUT
    for (int k = 0; k < 3; k++) {
        if (turns != 15)
            for (int c = 0; c < 3; c++)
                rows[k][c] = exi_quad_pick(limit, size, rows[k][c], zero);
        exi_quad_transpose(rows[k]);
    }
    exi_quad at[4] = {from.x, from.y, from.z, zero};
    exi_quad_transpose(at);
    for (int i = 0; i < 4; i++) {
        exi_motion *m = &p->motions->of[vertex[i]];
        exi_quad_store(m->row[0], at[i]);
        for (int k = 0; k < 3; k++)
            exi_quad_store(m->row[1 + k], rows[k][i]);
    }
    /* The motion of a vertex that is not finite, or too large, is unknown. */
    const exi_quad large = exi_quad_add(exi_v_dot(x, x), exi_v_dot(to, to));
    const unsigned known = exi_quad_at_most(large, exi_quad_splat(1e36f));
    for (int i = 0; known != 15 && i < 4; i++)
        for (int k = 0; k < 16 && !(known >> i & 1); k++)
            p->motions->of[vertex[i]].row[k / 4][k % 4] = NAN;
}

static void prepare(void *context, int begin, int end) {
    const preparing *p = context;
    for (int group = begin; group < end; group++) {
        uint32_t vertex[4];
        for (int i = 0; i < 4; i++) {
            const int at = 4 * group + i < p->count ? 4 * group + i : p->count - 1;
            vertex[i] = p->vertices ? p->vertices[at] : (uint32_t)at;
        }
        prepare_four(p, vertex);
    }
}

/* True if all numbers count as finite: NaN, infinity, and what overflows here, times 0, is NaN. */
static bool all_finite(const float *numbers, int count) {
    const exi_quad zero = exi_quad_splat(0), large = exi_quad_splat(FLT_MAX / EXI_TREE_LARGEST);
    exi_quad sum = zero;
    int i = 0;
    for (; i + 4 <= count; i += 4)
        sum = exi_quad_madd(exi_quad_mul(exi_quad_load(numbers + i), large), zero, sum);
    for (; i < count; i++)
        sum = exi_quad_madd(exi_quad_mul(exi_quad_splat(numbers[i]), large), zero, sum);
    return exi_quad_at_most(sum, zero) == 15;
}

EXI_ENTRY(exi_carry_prepare,
          (const ex_settler *settler, const float *blended, const float *driver, const uint32_t *vertices, int count,
           exi_motions *motions, const ex_tasks *tasks),
          (settler, blended, driver, vertices, count, motions, tasks)) {
    preparing p = {settler, blended, driver, vertices, count, motions};
    motions->whole = all_finite(blended, 3 * settler->driver_count) && all_finite(driver, 3 * settler->driver_count);
    memset(motions->origin, 0, sizeof motions->origin);
    for (int v = 0; v < settler->driver_count; v++) /* the first finite one */
        if (exi_finite3(blended + 3 * (size_t)v)) {
            memcpy(motions->origin, blended + 3 * (size_t)v, sizeof motions->origin);
            break;
        }
    exi_run(tasks, (count + 3) / 4, 64, prepare, &p);
}
