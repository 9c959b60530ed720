/*
 * Trajectories at given weights (trajectory warping, equations 24 and 26, and correctors):
 *
 *   path(v) = screw(mesh(v) + R~(w(v)) u(v) + shift(segment(v)) + sum over k, j of x_k q_kj(s_k) c_kj(v))
 *
 * Weights, the screw and what segments append are worked out once a pose, in double; then one pass over the tiles adds
 * mask(v) (path(v) - mesh(v)) to the sums of the other layers while these are in registers. It must read 12 bytes (6 in
 * 16 bit) a vertex and form whose weight is not 0; w, u and c of a tile stand side by side. R~(w) u takes about 40
 * operations for a register full of vertices, two thirds of them the polynomials for a and b (trajectory.inl).
 */
#include "runtime/shape/trajectory.h"

#include "runtime/shape/tiles.h"
#include "runtime/shape/trajectory.inl"
#include "runtime/shape/trajectory_bases.h"

#include <math.h>
#include <string.h>

/* ---- once a pose ---- */

bool exi_paths_is_sum(const exi_paths *p) {
    return p->flags == 0 && p->mask == 0;
}

/* s_k = sum over l of overlap_kl x_l */
static double corrector_time(const exi_paths *p, const double *weights, int k) {
    const float *overlaps = exi_paths_at(p, p->overlaps);
    if (p->overlaps == 0)
        return weights[k];
    double s = 0;
    for (int l = 0; l < p->example_count; l++)
        s += (double)overlaps[(size_t)k * (size_t)p->example_count + (size_t)l] * weights[l];
    return s;
}

bool exi_paths_weigh(const exi_paths *p, const double *weights, float *floats) {
    const exi_path_example *examples = exi_paths_examples(p);
    const float *curves = exi_paths_at(p, p->curves);
    bool any = false;
    memset(floats, 0, (size_t)p->form_count * sizeof *floats);
    for (int k = 0; k < p->example_count; k++) {
        const exi_path_example *e = &examples[k];
        const float x = (float)weights[k];
        if (k == p->reference || x == 0)
            continue;
        any = true;
        if (e->turns >= 0)
            floats[e->turns] = x;
        floats[e->velocities] = x;
        const double s = e->corrector_count > 0 ? corrector_time(p, weights, k) : 0;
        for (int j = 0; j < e->corrector_count; j++) {
            const float *curve = curves + (size_t)(e->first_corrector + j) * EX_CURVE_SIZE;
            floats[e->correctors + j] = (float)(weights[k] * exi_corrector_amount(curve, s));
        }
    }
    return any;
}

static void set_screw(const exi_paths *p, const double *weights, exi_path *path) {
    ex_screw screw = {{0}, {0}};
    const exi_path_example *examples = exi_paths_examples(p);
    for (int k = 0; k < p->example_count; k++)
        for (int c = 0; examples[k].flags & EXI_PATHS_SCREWS && c < 3; c++) {
            screw.turn[c] += weights[k] * examples[k].screw.turn[c];
            screw.move[c] += weights[k] * examples[k].screw.move[c];
        }
    double move[3];
    exi_turn_mean(screw.turn, screw.move, move);
    for (int c = 0; c < 3; c++) {
        double unit[3] = {c == 0, c == 1, c == 2}, turned[3];
        exi_turn_apply(screw.turn, unit, turned);
        for (int r = 0; r < 3; r++)
            path->turn[3 * r + c] = (float)(turned[r] - unit[r]);
        path->centre[c] = (float)p->centre[c];
        path->move[c] = (float)move[c];
    }
    path->moves = true;
}

void exi_paths_open(const exi_paths *p, const ex_forms *forms, const double *weights, const float *floats,
                    exi_term *terms, double (*room)[3], float (*shifts)[3], exi_path *path) {
    const exi_path_example *examples = exi_paths_examples(p);
    int turns = 0, velocities = 0;
    for (int k = 0; k < p->example_count; k++) {
        turns += examples[k].turns >= 0;
        velocities += examples[k].velocities >= 0;
    }
    *path = (exi_path){.mask = p->mask ? exi_paths_at(p, p->mask) : NULL};
    const int first[3] = {p->first_form, p->first_form + turns, p->first_form + turns + velocities};
    exi_forms_set_terms(forms, floats, first[0], turns, terms, &path->turns);
    exi_forms_set_terms(forms, floats, first[1], velocities, terms + turns, &path->velocities);
    exi_forms_set_terms(forms, floats, first[2], p->corrector_count, terms + turns + velocities, &path->correctors);
    if (p->flags & EXI_PATHS_SCREWS)
        set_screw(p, weights, path);
    if (p->flags & EXI_PATHS_BASES) {
        exi_paths_append(p, weights, -1, room);
        for (int a = 0; a < p->segment_count; a++)
            for (int c = 0; c < 3; c++)
                shifts[a][c] = (float)room[a][c];
        path->shifts = (const float(*)[3])shifts;
        path->segments = exi_paths_at(p, p->segments);
    }
}

/* ---- a tile ---- */

/* Turns that are longer than the polynomials reach: every lane by itself. */
static void far_factors(exi_wide z, exi_wide *a, exi_wide *b) {
    float lanes[3][EXI_WIDTH];
    exi_store(lanes[0], z);
    exi_store(lanes[1], *a);
    exi_store(lanes[2], *b);
    for (int i = 0; i < EXI_WIDTH; i++)
        if (lanes[0][i] > EXI_TURN_NEAR)
            exi_turn_factors_far(lanes[0][i], &lanes[1][i], &lanes[2][i]);
    *a = exi_load(lanes[1]);
    *b = exi_load(lanes[2]);
}

/* v = R~(w) v, as exi_turn_mean_float has it. */
static inline void turn_mean(exi_wide x, exi_wide y, exi_wide z, exi_wide *vx, exi_wide *vy, exi_wide *vz) {
    static const float as[] = EXI_TURN_A, bs[] = EXI_TURN_B;
    const exi_wide square = exi_madd(x, x, exi_madd(y, y, exi_mul(z, z)));
    const exi_wide t = exi_madd(square, exi_splat(2.0f / EXI_TURN_NEAR), exi_splat(-1.0f));
    exi_wide a = exi_splat(as[EXI_TURN_DEGREE]), b = exi_splat(bs[EXI_TURN_DEGREE]);
    EXI_WRITE_OUT
    for (int i = EXI_TURN_DEGREE - 1; i >= 0; i--) {
        a = exi_madd(a, t, exi_splat(as[i]));
        b = exi_madd(b, t, exi_splat(bs[i]));
    }
    if (exi_any_above(square, exi_splat(EXI_TURN_NEAR)))
        far_factors(square, &a, &b);
    const exi_wide cx = exi_msub(z, *vy, exi_mul(y, *vz)), cy = exi_msub(x, *vz, exi_mul(z, *vx));
    const exi_wide cz = exi_msub(y, *vx, exi_mul(x, *vy));
    const exi_wide dx = exi_msub(z, cy, exi_mul(y, cz)), dy = exi_msub(x, cz, exi_mul(z, cx));
    const exi_wide dz = exi_msub(y, cx, exi_mul(x, cy));
    *vx = exi_madd(b, dx, exi_madd(a, cx, *vx));
    *vy = exi_madd(b, dy, exi_madd(a, cy, *vy));
    *vz = exi_madd(b, dz, exi_madd(a, cz, *vz));
}

static void add_shifts(const exi_path *path, int tile, exi_wide d[EXI_TILE_WIDES]) {
    float lanes[EXI_TILE_FLOATS];
    const uint16_t *segments = path->segments + (size_t)tile * EXI_TILE;
    for (int v = 0; v < EXI_TILE; v++)
        for (int c = 0; c < 3; c++)
            lanes[c * EXI_TILE + v] = path->shifts[segments[v]][c];
    for (int i = 0; i < EXI_TILE_WIDES; i++)
        d[i] = exi_add(d[i], exi_load(lanes + i * EXI_WIDTH));
}

/* d = screw(mesh + d) - mesh */
static inline void add_screw(const exi_path *path, const float *base, exi_wide d[EXI_TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_AXIS_WIDES; i++) {
        exi_wide from[3], to[3];
        for (int c = 0; c < 3; c++) {
            const exi_wide mesh = exi_load(base + c * EXI_TILE + i * EXI_WIDTH);
            from[c] = exi_add(exi_sub(mesh, exi_splat(path->centre[c])), d[c * EXI_AXIS_WIDES + i]);
            to[c] = exi_add(d[c * EXI_AXIS_WIDES + i], exi_splat(path->move[c]));
        }
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++)
                to[r] = exi_madd(from[c], exi_splat(path->turn[3 * r + c]), to[r]);
            d[r * EXI_AXIS_WIDES + i] = to[r];
        }
    }
}

static inline void zero(exi_wide sums[EXI_TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_WIDES; i++)
        sums[i] = exi_splat(0);
}

/* sums += mask (path - mesh) for one tile. */
static inline void add_path(const exi_forms_tables *t, const exi_path *path, int tile, bool is_float,
                            exi_wide sums[EXI_TILE_WIDES]) {
    exi_wide d[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES];
    zero(d[0]);
    exi_tile_sum(t, &path->velocities, tile, tile, false, is_float, d);
    if (path->turns.term_count > 0) {
        exi_wide w[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES];
        zero(w[0]);
        exi_tile_sum(t, &path->turns, tile, tile, false, is_float, w);
        EXI_WRITE_OUT
        for (int i = 0; i < EXI_AXIS_WIDES; i++)
            turn_mean(w[0][i], w[0][EXI_AXIS_WIDES + i], w[0][2 * EXI_AXIS_WIDES + i], &d[0][i],
                      &d[0][EXI_AXIS_WIDES + i], &d[0][2 * EXI_AXIS_WIDES + i]);
    }
    if (path->correctors.term_count > 0)
        exi_tile_sum(t, &path->correctors, tile, tile, false, is_float, d);
    if (path->shifts)
        add_shifts(path, tile, d[0]);
    if (path->moves)
        add_screw(path, t->base + (size_t)tile * EXI_TILE_FLOATS, d[0]);
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_WIDES; i++) {
        if (path->mask)
            sums[i] =
                exi_madd(d[0][i], exi_load(path->mask + tile * EXI_TILE + i % EXI_AXIS_WIDES * EXI_WIDTH), sums[i]);
        else
            sums[i] = exi_add(sums[i], d[0][i]);
    }
}

static inline void blend_all(const exi_forms_tables *t, const exi_blend *blend, int begin, int end, bool is_float) {
    for (int tile = begin; tile < end; tile++) {
        exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES];
        exi_tile_load_base(t->base + (size_t)tile * EXI_TILE_FLOATS, sums[0]);
        if (blend->sum.term_count > 0)
            exi_tile_sum(t, &blend->sum, tile, tile, false, is_float, sums);
        for (int i = 0; i < blend->path_count; i++)
            add_path(t, &blend->paths[i], tile, is_float, sums[0]);
        exi_tile_finish(sums[0], blend, tile, t->vertex_count);
    }
}

void exi_paths_blend_tiles(const ex_forms *forms, const exi_blend *blend, int begin, int end) {
    const exi_forms_tables t = exi_forms_tables_of(forms);
    if (forms->storage == EX_STORAGE_FLOAT)
        blend_all(&t, blend, begin, end, true);
    else
        blend_all(&t, blend, begin, end, false);
}
