/*
 * Trajectories over tiles of vertices: mask(v) (path(v) - mesh(v)), added to the sums of the other layers. It must read
 * 12 bytes (6 in 16 bit) per vertex and form with a non-zero weight; w, u and c of a tile are side by side. R~(w) u
 * takes about 40 operations for a register of vertices, half of them for the polynomials a and b (trajectory.inl): as
 * much as summing seven forms, so this dominates if the data is in a cache.
 *
 * A single example is processed in one loop. Otherwise a block of tiles at a time goes through the stages, each a short
 * loop that leaves its results in the first-level cache: one loop for everything needs more registers than there are.
 */
#include "runtime/base/affine.h"
#include "runtime/shape/tiles.h"
#include "runtime/shape/trajectory.h"
#include "runtime/shape/trajectory.inl"

/* ---- stages of a block ---- */

/* BLOCK: tiles per block. A tile consists of parts, each with x, y and z of a register of vertices. */
enum { BLOCK = 16, PART_FLOATS = 3 * EXI_WIDTH, BLOCK_FLOATS = BLOCK * EXI_TILE_FLOATS };

typedef struct triple {
    exi_wide x, y, z;
} triple;

static inline triple load_part(const float *part) {
    return (triple){exi_load(part), exi_load(part + EXI_WIDTH), exi_load(part + 2 * EXI_WIDTH)};
}

static inline void store_part(float *part, triple a) {
    exi_store(part, a.x);
    exi_store(part + EXI_WIDTH, a.y);
    exi_store(part + 2 * EXI_WIDTH, a.z);
}

/* The same from the tiles of forms. */
static inline triple load_from_tile(const float *tile, int part) {
    tile += part * EXI_WIDTH;
    return (triple){exi_load(tile), exi_load(tile + EXI_TILE), exi_load(tile + 2 * EXI_TILE)};
}

static inline triple add_triples(triple a, triple b) {
    return (triple){exi_add(a.x, b.x), exi_add(a.y, b.y), exi_add(a.z, b.z)};
}

static inline void store_sums(float *parts, const exi_wide sums[EXI_TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_WIDES; i++)
        exi_store(parts + i % EXI_AXIS_WIDES * PART_FLOATS + i / EXI_AXIS_WIDES * EXI_WIDTH, sums[i]);
}

static inline void load_sums(const float *parts, exi_wide sums[EXI_TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_WIDES; i++)
        sums[i] = exi_load(parts + i % EXI_AXIS_WIDES * PART_FLOATS + i / EXI_AXIS_WIDES * EXI_WIDTH);
}

/* Sums tiles begin to end, as many at a time as the registers hold; adds to what is there if `on_top`. */
EXI_KERNEL void sum_tiles(const exi_forms_tables *t, const exi_sum *sum, int begin, int end, bool is_float, bool on_top,
                          float parts[BLOCK_FLOATS]) {
    const bool two = EXI_TILES_AT_ONCE == 2;
    for (int tile = begin; tile < end; tile += EXI_TILES_AT_ONCE) {
        float *a = parts + (tile - begin) * EXI_TILE_FLOATS, *b = a + EXI_TILE_FLOATS;
        const bool both = two && tile + 1 < end;
        exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES];
        EXI_WRITE_OUT
        for (int i = 0; !on_top && i < EXI_TILE_WIDES; i++)
            sums[0][i] = sums[1][i] = exi_splat(0);
        if (on_top) {
            load_sums(a, sums[0]);
            load_sums(both ? b : a, sums[1]);
        }
        exi_tile_sum(t, sum, tile, both ? tile + 1 : tile, two, is_float, sums);
        store_sums(a, sums[0]);
        if (both)
            store_sums(b, sums[1]);
    }
}

/* ---- turns ---- */

/* Factors of turns longer than the polynomials reach, lane by lane. */
static void far_factors(exi_wide square, exi_wide *a, exi_wide *b) {
    float lanes[3][EXI_WIDTH];
    exi_store(lanes[0], square);
    exi_store(lanes[1], *a);
    exi_store(lanes[2], *b);
    for (int i = 0; i < EXI_WIDTH; i++)
        if (lanes[0][i] > EXI_TURN_FAR)
            exi_turn_factors_far(lanes[0][i], &lanes[1][i], &lanes[2][i]);
    *a = exi_load(lanes[1]);
    *b = exi_load(lanes[2]);
}

/* (c0 + c1 t) + t2 (c2 + c3 t): pairs take fewer operations than Horner's scheme, and finish sooner. */
EXI_KERNEL exi_wide pairs(const float c[4], exi_wide t, exi_wide t2) {
    return exi_madd(exi_madd(t, exi_splat(c[3]), exi_splat(c[2])), t2, exi_madd(t, exi_splat(c[1]), exi_splat(c[0])));
}

/* Computes the factors of w x u and w x (w x u); reach is a constant at the call. */
EXI_KERNEL void find_factors(const exi_trajectory *p, exi_wide square, exi_trajectory_reach reach, exi_wide *a,
                             exi_wide *b) {
    if (reach == EXI_REACH_NEAR) {
        const exi_wide z = square, z2 = exi_mul(z, z), z4 = exi_mul(z2, z2);
        *a = exi_madd(exi_madd(z, exi_splat(p->a[5]), exi_splat(p->a[4])), z4, pairs(p->a, z, z2));
        *b = exi_madd(exi_splat(p->b[4]), z4, pairs(p->b, z, z2));
        return;
    }
    const exi_wide t = exi_madd(square, exi_splat(p->slope), exi_splat(-1.0f));
    const exi_wide t2 = exi_mul(t, t), t4 = exi_mul(t2, t2);
    *a = exi_madd(pairs(p->a + 4, t, t2), t4, pairs(p->a, t, t2));
    *b = exi_madd(pairs(p->b + 4, t, t2), t4, pairs(p->b, t, t2));
    if (reach == EXI_REACH_ANY && exi_any_above(square, exi_splat(EXI_TURN_FAR)))
        far_factors(square, a, b);
}

/* b x a, with the factors of b negated: gcc negates what is used twice with a separate operation. */
EXI_KERNEL triple cross(triple a, triple b) {
    return (triple){exi_msub(b.y, a.z, exi_mul(a.y, b.z)), exi_msub(b.z, a.x, exi_mul(a.z, b.x)),
                    exi_msub(b.x, a.y, exi_mul(a.x, b.y))};
}

/* to + a (w x u) + b (w x (w x u)) */
EXI_KERNEL triple add_turn(const exi_trajectory *p, triple w, triple u, exi_trajectory_reach reach, triple to) {
    const exi_wide square = exi_madd(w.x, w.x, exi_madd(w.y, w.y, exi_mul(w.z, w.z)));
    exi_wide a, b;
    find_factors(p, square, reach, &a, &b);
    const triple c = cross(w, u), d = cross(w, c);
    return (triple){exi_madd(b, d.x, exi_madd(a, c.x, to.x)), exi_madd(b, d.y, exi_madd(a, c.y, to.y)),
                    exi_madd(b, d.z, exi_madd(a, c.z, to.z))};
}

/* u = R~(w) u */
EXI_KERNEL void turn_parts_within(const exi_trajectory *path, const float *turns, int count, exi_trajectory_reach reach,
                                  float *velocities) {
    const exi_trajectory own = *path; /* a copy, which the compiler knows that results do not overwrite */
    for (const float *end = turns + count * PART_FLOATS; turns < end; turns += PART_FLOATS, velocities += PART_FLOATS) {
        const triple u = load_part(velocities);
        store_part(velocities, add_turn(&own, load_part(turns), u, reach, u));
    }
}

static void turn_parts(const exi_trajectory *path, const float *turns, int count, float *velocities) {
    if (path->reach == EXI_REACH_NEAR)
        turn_parts_within(path, turns, count, EXI_REACH_NEAR, velocities);
    else if (path->reach == EXI_REACH_FAR)
        turn_parts_within(path, turns, count, EXI_REACH_FAR, velocities);
    else
        turn_parts_within(path, turns, count, EXI_REACH_ANY, velocities);
}

/* ---- mixtures ---- */

_Static_assert((int)EX_NODE_SHARES == (int)EXI_SHORT, "the nodes of a vertex are summed as the joints of a skin");

/* d = d + A (mesh + d) + t, with the matrices of the vertices' nodes, four vertices at a time. Summing the
 * matrices of a block in a separate loop, as skinning does, takes 4 % longer. */
static void mix_parts(const exi_trajectory *path, const float *base, size_t first, int count, float *parts) {
    const float *matrices = path->matrices, *shares = path->shares + EX_NODE_SHARES * first;
    const uint16_t *nodes = path->nodes + EX_NODE_SHARES * first;
    for (int i = 0; i < count; i++, parts += PART_FLOATS) {
        const float *mesh = base + i / EXI_AXIS_WIDES * EXI_TILE_FLOATS + i % EXI_AXIS_WIDES * EXI_WIDTH;
        EXI_WRITE_OUT
        for (int lane = 0; lane < EXI_WIDTH; lane += EXI_QUAD_LANES) {
            exi_quad m[12], d[3], from[3], moved[3];
            exi_sum_group(matrices, nodes, shares, m);
            EXI_WRITE_OUT
            for (int c = 0; c < 3; c++) {
                d[c] = exi_quad_load(parts + c * EXI_WIDTH + lane);
                from[c] = exi_quad_add(exi_quad_load(mesh + c * EXI_TILE + lane), d[c]);
            }
            exi_move_position(m, from, moved);
            EXI_WRITE_OUT
            for (int c = 0; c < 3; c++)
                exi_quad_store(parts + c * EXI_WIDTH + lane, exi_quad_add(d[c], moved[c]));
            nodes += EX_NODE_SHARES * EXI_QUAD_LANES;
            shares += EX_NODE_SHARES * EXI_QUAD_LANES;
        }
    }
}

/* ---- other parts of a path ---- */

/* Adds the contributions of the segments of a part's vertices. */
static void append_parts(const exi_trajectory *path, size_t first, int count, float *parts) {
    const uint16_t *segments = path->segments + first;
    for (int v = 0; v < count * EXI_WIDTH; v++)
        for (int c = 0; c < 3; c++)
            parts[v / EXI_WIDTH * PART_FLOATS + c * EXI_WIDTH + v % EXI_WIDTH] += path->shifts[segments[v]][c];
}

static inline exi_wide row(const float m[3], triple from, exi_wide to) {
    return exi_madd(from.x, exi_splat(m[0]), exi_madd(from.y, exi_splat(m[1]), exi_madd(from.z, exi_splat(m[2]), to)));
}

/* d = screw(mesh + d) - mesh */
static void screw_parts(const exi_trajectory *path, const float *base, int count, float *parts) {
    const triple centre = {exi_splat(-path->centre[0]), exi_splat(-path->centre[1]), exi_splat(-path->centre[2])};
    const triple move = {exi_splat(path->move[0]), exi_splat(path->move[1]), exi_splat(path->move[2])};
    for (int i = 0; i < count; i++, parts += PART_FLOATS) {
        const triple d = load_part(parts);
        const triple mesh = load_from_tile(base + i / EXI_AXIS_WIDES * EXI_TILE_FLOATS, i % EXI_AXIS_WIDES);
        const triple from = add_triples(add_triples(mesh, centre), d), to = add_triples(d, move);
        store_part(parts, (triple){row(path->turn, from, to.x), row(path->turn + 3, from, to.y),
                                   row(path->turn + 6, from, to.z)});
    }
}

static void mask_parts(const float *mask, int count, float *parts) {
    for (int i = 0; i < count; i++, mask += EXI_WIDTH)
        for (int c = 0; c < 3; c++, parts += EXI_WIDTH)
            exi_store(parts, exi_mul(exi_load(parts), exi_load(mask)));
}

/* ---- blocks ---- */

/* Computes path - mesh of tiles begin to end, without correctors if those come last. */
EXI_KERNEL void follow_path(const exi_forms_tables *t, const exi_trajectory *path, int begin, int end, bool is_float,
                            bool without_correctors, float parts[BLOCK_FLOATS]) {
    const int count = (end - begin) * EXI_AXIS_WIDES;
    const size_t first = (size_t)begin * EXI_TILE;
    sum_tiles(t, &path->velocities, begin, end, is_float, false, parts);
    if (path->turns.term_count > 0) {
        float turns[BLOCK_FLOATS];
        sum_tiles(t, &path->turns, begin, end, is_float, false, turns);
        turn_parts(path, turns, count, parts);
    }
    if (path->matrices)
        mix_parts(path, t->base + 3 * first, first, count, parts);
    if (path->correctors.term_count > 0 && !without_correctors)
        sum_tiles(t, &path->correctors, begin, end, is_float, true, parts);
    if (path->shifts)
        append_parts(path, first, count, parts);
    if (path->moves)
        screw_parts(path, t->base + 3 * first, count, parts);
    if (path->mask)
        mask_parts(path->mask + first, count, parts);
}

EXI_KERNEL void blend_block(const exi_forms_tables *t, const exi_blend *blend, int begin, int end, bool is_float) {
    static const exi_sum nothing;
    float parts[BLOCK_FLOATS], more[BLOCK_FLOATS];
    const exi_trajectory *path = &blend->paths[0];
    const bool last = blend->path_count == 1 && !path->shifts && !path->moves && !path->mask;
    const exi_sum *correctors = last ? &path->correctors : &nothing;
    follow_path(t, path, begin, end, is_float, last, parts);
    for (int i = 1; i < blend->path_count; i++) {
        follow_path(t, &blend->paths[i], begin, end, is_float, false, more);
        for (int k = 0; k < (end - begin) * EXI_TILE_FLOATS; k++)
            parts[k] += more[k];
    }
    for (int tile = begin; tile < end; tile++) {
        exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES], added[EXI_TILE_WIDES];
        load_sums(parts + (tile - begin) * EXI_TILE_FLOATS, added);
        exi_tile_load_base(t->base + (size_t)tile * EXI_TILE_FLOATS, sums[0]);
        EXI_WRITE_OUT
        for (int i = 0; i < EXI_TILE_WIDES; i++)
            sums[0][i] = exi_add(sums[0][i], added[i]);
        if (correctors->term_count > 0)
            exi_tile_sum(t, correctors, tile, tile, false, is_float, sums);
        if (blend->sum.term_count > 0)
            exi_tile_sum(t, &blend->sum, tile, tile, false, is_float, sums);
        exi_tile_finish(sums[0], blend, tile, t->vertex_count);
    }
}

/* ---- a single example ---- */

/* True if a blend is one trajectory of one example, as between two forms: everything that is read then goes through
 * registers once. */
static bool is_alone(const exi_blend *blend) {
    const exi_trajectory *path = blend->paths;
    return blend->path_count == 1 && path->turns.term_count == 1 && path->velocities.term_count == 1 &&
           path->reach != EXI_REACH_ANY && !path->shifts && !path->mask && blend->sum.term_count == 0;
}

/* The path with factors for unweighted w and u: with a weight x, z becomes x^2 z, and the factors of w x u and w x (w x
 * u) get x^2 and x^3. */
static exi_trajectory without_weight(const exi_trajectory *path) {
    exi_trajectory own = *path;
    const double x = (double)path->velocities.terms[0].factor;
    double power = x * x;
    own.slope = (float)((double)path->slope * power);
    for (int i = 0; i <= EXI_TURN_DEGREE; i++) {
        own.a[i] = (float)((double)path->a[i] * power);
        own.b[i] = (float)((double)path->b[i] * power * x);
        power *= path->reach == EXI_REACH_NEAR ? x * x : 1;
    }
    return own;
}

/* One tile: first the sums for all of it, then turns and the screw, part by part. In float storage w and u are read
 * unweighted, and the factors include the weight. */
EXI_KERNEL void place_tile(const exi_forms_tables *t, const exi_trajectory *p, int tile, exi_trajectory_reach reach,
                           bool moves, bool is_float, exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES]) {
    enum { Y = EXI_AXIS_WIDES, Z = 2 * EXI_AXIS_WIDES };
    exi_wide w[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES], u[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES];
    const float *turns = NULL, *velocities = NULL;
    exi_tile_load_base(t->base + (size_t)tile * EXI_TILE_FLOATS, sums[0]);
    if (is_float) {
        const float *numbers = t->floats + (size_t)tile * t->step - EXI_TILE_FLOATS;
        turns = numbers + p->turns.terms[0].end;
        velocities = numbers + p->velocities.terms[0].end;
        exi_tile_add_floats(velocities + EXI_TILE_FLOATS, exi_splat(p->velocities.terms[0].factor), sums[0]);
    } else {
        EXI_WRITE_OUT
        for (int i = 0; i < EXI_TILE_WIDES; i++)
            w[0][i] = u[0][i] = exi_splat(0);
        exi_tile_sum(t, &p->velocities, tile, tile, false, false, u);
        exi_tile_sum(t, &p->turns, tile, tile, false, false, w);
        EXI_WRITE_OUT
        for (int i = 0; i < EXI_TILE_WIDES; i++)
            sums[0][i] = exi_add(sums[0][i], u[0][i]);
    }
    if (p->correctors.term_count > 0)
        exi_tile_sum(t, &p->correctors, tile, tile, false, is_float, sums);
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_AXIS_WIDES; i++) {
        triple at = {sums[0][i], sums[0][Y + i], sums[0][Z + i]};
        const triple turn = is_float ? load_from_tile(turns, i) : (triple){w[0][i], w[0][Y + i], w[0][Z + i]};
        const triple way = is_float ? load_from_tile(velocities, i) : (triple){u[0][i], u[0][Y + i], u[0][Z + i]};
        at = add_turn(p, turn, way, reach, at);
        if (moves)
            at = (triple){row(p->rotation, at, exi_splat(p->offset[0])),
                          row(p->rotation + 3, at, exi_splat(p->offset[1])),
                          row(p->rotation + 6, at, exi_splat(p->offset[2]))};
        sums[0][i] = at.x;
        sums[0][Y + i] = at.y;
        sums[0][Z + i] = at.z;
    }
}

EXI_KERNEL void blend_alone(const exi_forms_tables *t, const exi_blend *blend, int begin, int end,
                            exi_trajectory_reach reach, bool moves, bool is_float) {
    const exi_trajectory path = is_float ? without_weight(blend->paths) : *blend->paths;
    const exi_blend own = *blend;
    for (int tile = begin; tile < end; tile++) {
        exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES];
        place_tile(t, &path, tile, reach, moves, is_float, sums);
        exi_tile_finish(sums[0], &own, tile, t->vertex_count);
    }
}

EXI_KERNEL void blend_alone_as_asked(const exi_forms_tables *t, const exi_blend *blend, int begin, int end,
                                     bool is_float) {
    const bool near = blend->paths->reach == EXI_REACH_NEAR, moves = blend->paths->moves;
    if (near && moves)
        blend_alone(t, blend, begin, end, EXI_REACH_NEAR, true, is_float);
    else if (near)
        blend_alone(t, blend, begin, end, EXI_REACH_NEAR, false, is_float);
    else if (moves)
        blend_alone(t, blend, begin, end, EXI_REACH_FAR, true, is_float);
    else
        blend_alone(t, blend, begin, end, EXI_REACH_FAR, false, is_float);
}

/* ---- only correctors and a screw ---- */

/* True if a blend is one layer of trajectories without turns: a sum, moved as a whole. */
static bool is_moved_sum(const exi_blend *blend) {
    const exi_trajectory *path = blend->paths;
    return blend->path_count == 1 && path->turns.term_count == 0 && !path->matrices && path->moves && !path->shifts &&
           !path->mask && blend->sum.term_count == 0;
}

EXI_KERNEL void blend_moved_sum(const exi_forms_tables *t, const exi_blend *blend, int begin, int end, bool is_float) {
    enum { Y = EXI_AXIS_WIDES, Z = 2 * EXI_AXIS_WIDES };
    const exi_trajectory *p = blend->paths;
    for (int tile = begin; tile < end; tile++) {
        exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES];
        exi_tile_load_base(t->base + (size_t)tile * EXI_TILE_FLOATS, sums[0]);
        if (p->velocities.term_count > 0)
            exi_tile_sum(t, &p->velocities, tile, tile, false, is_float, sums);
        if (p->correctors.term_count > 0)
            exi_tile_sum(t, &p->correctors, tile, tile, false, is_float, sums);
        EXI_WRITE_OUT
        for (int i = 0; i < EXI_AXIS_WIDES; i++) {
            const triple at = {sums[0][i], sums[0][Y + i], sums[0][Z + i]};
            sums[0][i] = row(p->rotation, at, exi_splat(p->offset[0]));
            sums[0][Y + i] = row(p->rotation + 3, at, exi_splat(p->offset[1]));
            sums[0][Z + i] = row(p->rotation + 6, at, exi_splat(p->offset[2]));
        }
        exi_tile_finish(sums[0], blend, tile, t->vertex_count);
    }
}

/* ---- entry point ---- */

EXI_ENTRY(exi_trajectories_blend_tiles, (const ex_forms *forms, const exi_blend *blend, int begin, int end),
          (forms, blend, begin, end)) {
    const exi_forms_tables t = exi_forms_tables_of(forms);
    const bool is_float = forms->storage == EX_STORAGE_FLOAT, alone = is_alone(blend), sum = is_moved_sum(blend);
    if (alone && is_float)
        blend_alone_as_asked(&t, blend, begin, end, true);
    else if (alone)
        blend_alone_as_asked(&t, blend, begin, end, false);
    else if (sum && is_float)
        blend_moved_sum(&t, blend, begin, end, true);
    else if (sum)
        blend_moved_sum(&t, blend, begin, end, false);
    for (int block = begin; !alone && !sum && block < end; block += BLOCK) {
        const int last = block + BLOCK < end ? block + BLOCK : end;
        if (is_float)
            blend_block(&t, blend, block, last, true);
        else
            blend_block(&t, blend, block, last, false);
    }
}
