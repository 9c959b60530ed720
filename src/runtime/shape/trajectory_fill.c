/*
 * Per-vertex data of trajectories: written to forms and read back. trajectory_create.c has the formula. With a mixture,
 * the matrix I + A and the offset t of a vertex at the example, blended from its nodes, give d instead of u:
 *
 *   (I + A) d = T^-1(example) - mesh - A mesh - t
 *
 * in double, from the nodes as evaluation places them. If I + A is nearly singular, a damped inverse is used, and the
 * vertex ends near its place.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/shape/mixture.h"
#include "runtime/shape/trajectory.h"
#include "runtime/shape/trajectory_bases.h"
#include "runtime/shape/trajectory_pose.inl"

#include <math.h>
#include <string.h>

/* The end of an example's path, to be computed vertex by vertex. */
typedef struct ending {
    const exi_trajectories *paths;
    ex_screw screw, back; /* back is the inverse turn */
    double move[3];       /* R~(turn) move */
    const double (*shifts)[3];
    const uint16_t *segments; /* NULL: no segments */
} ending;

static ending ending_of(const exi_trajectories *p, int example, double (*shifts)[3]) {
    const exi_trajectory_example *e = &exi_trajectories_examples(p)[example];
    ending end = {.paths = p, .screw = e->screw};
    exi_turn_mean(e->screw.turn, e->screw.move, end.move);
    for (int c = 0; c < 3; c++)
        end.back.turn[c] = -e->screw.turn[c];
    if (e->flags & EXI_PATHS_BASES) {
        exi_trajectories_append(p, NULL, example, shifts);
        end.shifts = (const double(*)[3])shifts;
        end.segments = exi_trajectories_at(p, p->segments);
    }
    return end;
}

/* d = T^-1(mesh + delta) - mesh - the segments' contributions. Without a screw, d is delta to the bit. */
static void end_to_start(const ending *end, const float mesh[3], const float delta[3], int v, double d[3]) {
    double from[3], moved[3], turned[3];
    for (int c = 0; c < 3; c++) {
        from[c] = (double)mesh[c] - end->paths->centre[c];
        moved[c] = (double)delta[c] - end->move[c];
    }
    exi_turn_apply(end->back.turn, from, turned);
    exi_turn_apply(end->back.turn, moved, d);
    for (int c = 0; c < 3; c++)
        d[c] += turned[c] - from[c];
    for (int c = 0; end->segments && c < 3; c++)
        d[c] -= end->shifts[end->segments[v]][c];
}

static void start_to_end(const ending *end, const float mesh[3], const double d[3], int v, float delta[3]) {
    double whole[3], from[3], turned[3];
    for (int c = 0; c < 3; c++) {
        whole[c] = d[c] + (end->segments ? end->shifts[end->segments[v]][c] : 0);
        from[c] = (double)mesh[c] - end->paths->centre[c] + whole[c];
    }
    exi_turn_apply(end->screw.turn, from, turned);
    for (int c = 0; c < 3; c++)
        delta[c] = (float)(whole[c] + (turned[c] - from[c]) + end->move[c]);
}

/* ---- mixtures ---- */

/* Smallest determinant that is inverted, and the damping below it. */
static const double least_determinant = 1e-3, damping = 1e-6;

static double determinant(const double m[9]) {
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/* x = m^-1 x */
static void solve_three(const double m[9], double x[3]) {
    const double whole = determinant(m), from[3] = {x[0], x[1], x[2]};
    for (int c = 0; c < 3; c++) {
        double column[9];
        for (int i = 0; i < 9; i++)
            column[i] = i % 3 == c ? from[i / 3] : m[i];
        x[c] = determinant(column) / whole;
    }
}

/* d, from the way to the example without its screw, is replaced by the d of the mixture. a: A and t, three rows. */
static void way_to_mixture(const double a[12], const float mesh[3], double d[3]) {
    double m[9];
    for (int r = 0; r < 3; r++) {
        d[r] -= a[4 * r + 3];
        for (int c = 0; c < 3; c++) {
            m[3 * r + c] = a[4 * r + c] + (r == c);
            d[r] -= a[4 * r + c] * (double)mesh[c];
        }
    }
    if (determinant(m) >= least_determinant) {
        solve_three(m, d);
        return;
    }
    double square[9], back[3];
    for (int r = 0; r < 3; r++) {
        back[r] = m[r] * d[0] + m[3 + r] * d[1] + m[6 + r] * d[2];
        for (int c = 0; c < 3; c++)
            square[3 * r + c] = m[r] * m[c] + m[3 + r] * m[3 + c] + m[6 + r] * m[6 + c] + (r == c ? damping : 0);
    }
    memcpy(d, back, sizeof back);
    solve_three(square, d);
}

/* The inverse. */
static void mixture_to_way(const double a[12], const float mesh[3], double d[3]) {
    double way[3];
    for (int r = 0; r < 3; r++) {
        way[r] = d[r] + a[4 * r + 3];
        for (int c = 0; c < 3; c++)
            way[r] += a[4 * r + c] * ((double)mesh[c] + d[c]);
    }
    memcpy(d, way, sizeof way);
}

/* ---- filling ---- */

static ex_result check_turns(const exi_trajectories *p, const float *turns, ex_error *error) {
    for (int v = 0; v < p->vertex_count; v++) {
        const double w[3] = {(double)turns[3 * (size_t)v], (double)turns[3 * (size_t)v + 1],
                             (double)turns[3 * (size_t)v + 2]};
        const double length = sqrt(exi_turn_square(w));
        if (!(length <= EX_TURN_MAX))
            return ex_error_set(error, EX_ERROR_DATA,
                                "vertex %d turns by %.4g radians; a path can turn by at most %.4g", v, length,
                                EX_TURN_MAX);
    }
    return EX_OK;
}

static float longest_turn(const exi_trajectories *p, const ex_forms *forms, int form) {
    float most = 0;
    for (int v = 0; v < p->vertex_count; v++) {
        float w[3];
        exi_forms_get_vertex(forms, form, v, w);
        const float square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
        most = square > most ? square : most;
    }
    return sqrtf(most);
}

static ex_result not_finite(ex_error *error, const char *what, int vertex) {
    return ex_error_set(error, EX_ERROR_DATA, "%s of vertex %d is not finite, or too far away for a float", what,
                        vertex);
}

static ex_result fill_correctors(const exi_trajectories *p, ex_forms *forms, const exi_trajectory_example *e,
                                 const float *const *correctors, ex_error *error) {
    for (int j = 0; j < e->corrector_count; j++) {
        int bad = 0;
        if (!exi_forms_set_example(forms, p->first_form + e->correctors + j, correctors[j], NULL, NULL, &bad))
            return ex_error_within(error, not_finite(error, "the entry", bad), "corrector %d", j);
    }
    return EX_OK;
}

/* The parts of the room. */
typedef struct rooms {
    double (*shifts)[3];    /* [EX_SEGMENT_MAX] */
    float *turns, *numbers; /* [vertex_count][3] each */
    void *mixing;           /* exi_mixture_room_size */
} rooms;

static rooms rooms_of(const exi_trajectories *p, void *room) {
    rooms r = {.shifts = (double(*)[3])(void *)((char *)room + exi_mixture_room_size(p)), .mixing = room};
    r.turns = (float *)(void *)(r.shifts + EX_SEGMENT_MAX);
    r.numbers = r.turns + 3 * (size_t)p->vertex_count;
    return r;
}

size_t exi_trajectories_room_size(const exi_trajectories *p) {
    return exi_mixture_room_size(p) + EX_SEGMENT_MAX * 3 * sizeof(double) + 6 * (size_t)p->vertex_count * sizeof(float);
}

static void find_velocities(const exi_trajectories *p, const ex_forms *forms, int example,
                            const exi_trajectory_numbers *numbers, const rooms *r) {
    const exi_trajectory_example *e = &exi_trajectories_examples(p)[example];
    const ending end = ending_of(p, example, r->shifts);
    const float *matrices = p->mixture.node_count > 0 ? exi_mixture_at_example(p, example, r->mixing) : NULL;
    if (e->turns >= 0)
        exi_forms_get_example(forms, p->first_form + e->turns, r->turns);
    exi_forms_get_base(forms, r->numbers);
    for (int v = 0; v < p->vertex_count; v++) {
        const float *w = r->turns + 3 * (size_t)v;
        float *mesh = r->numbers + 3 * (size_t)v; /* replaced by u */
        double d[3];
        end_to_start(&end, mesh, numbers->delta + 3 * (size_t)(numbers->gather ? numbers->gather[v] : (uint32_t)v), v,
                     d);
        if (e->turns >= 0)
            exi_turn_mean_inverse((double[3]){(double)w[0], (double)w[1], (double)w[2]}, d, d);
        if (matrices) {
            double m[12];
            exi_mixture_matrix(p, matrices, v, m);
            way_to_mixture(m, mesh, d);
        }
        for (int c = 0; c < 3; c++)
            mesh[c] = (float)d[c];
    }
}

static ex_result keep_delta(exi_trajectories *p, int place, const exi_trajectory_numbers *numbers, ex_error *error) {
    float *kept =
        (float *)(void *)((char *)p + p->deltas) + (place < 0 ? 0 : (size_t)place) * 3 * (size_t)p->vertex_count;
    for (int v = 0; v < p->vertex_count; v++) {
        const float *delta = numbers->delta + 3 * (size_t)(numbers->gather ? numbers->gather[v] : (uint32_t)v);
        if (!isfinite(delta[0]) || !isfinite(delta[1]) || !isfinite(delta[2]))
            return not_finite(error, "the place", v);
        if (place >= 0)
            memcpy(kept + 3 * (size_t)v, delta, 3 * sizeof *delta);
    }
    return EX_OK;
}

ex_result exi_trajectories_fill(exi_trajectories *p, ex_forms *forms, int example,
                                const exi_trajectory_numbers *numbers, void *room, ex_error *error) {
    if (example == p->reference)
        return EX_OK;
    exi_trajectory_example *e = (exi_trajectory_example *)(void *)((char *)p + p->examples) + example;
    const rooms r = rooms_of(p, room);
    int bad = 0;
    ex_result result = keep_delta(p, e->delta, numbers, error);
    if (result == EX_OK && e->turns >= 0) {
        result = check_turns(p, numbers->turns, error);
        if (result == EX_OK)
            exi_forms_set_example(forms, p->first_form + e->turns, numbers->turns, NULL, NULL, &bad);
        if (result == EX_OK)
            e->longest = longest_turn(p, forms, p->first_form + e->turns);
    }
    if (result == EX_OK)
        result = fill_correctors(p, forms, e, numbers->correctors, error);
    if (result != EX_OK)
        return result;
    const int form = p->first_form + e->velocities;
    if (e->flags == 0) {
        exi_forms_set_example(forms, form, numbers->delta, numbers->gather, NULL, &bad);
        return EX_OK;
    }
    find_velocities(p, forms, example, numbers, &r);
    return exi_forms_set_example(forms, form, r.numbers, NULL, NULL, &bad) ? EX_OK
                                                                           : not_finite(error, "the velocity", bad);
}

ex_result exi_trajectories_fill_mixture(const exi_trajectories *p, ex_forms *forms, const float *const *correctors,
                                        ex_error *error) {
    const int first = p->first_form + p->form_count - p->mixture.corrector_count;
    for (int j = 0; j < p->mixture.corrector_count; j++) {
        int bad = 0;
        if (!exi_forms_set_example(forms, first + j, correctors[j], NULL, NULL, &bad))
            return ex_error_within(error, not_finite(error, "the entry", bad), "corrector %d of the mixture", j);
    }
    return EX_OK;
}

/* ---- reading back ---- */

bool exi_trajectories_get_turns(const exi_trajectories *p, const ex_forms *forms, int example, float *turns) {
    const int form = exi_trajectories_examples(p)[example].turns;
    if (form >= 0)
        exi_forms_get_example(forms, p->first_form + form, turns);
    else
        memset(turns, 0, 3 * (size_t)p->vertex_count * sizeof *turns);
    return form >= 0;
}

void exi_trajectories_get_corrector(const exi_trajectories *p, const ex_forms *forms, int example, int corrector,
                                    float *values) {
    const int first =
        example < 0 ? p->form_count - p->mixture.corrector_count : exi_trajectories_examples(p)[example].correctors;
    exi_forms_get_example(forms, p->first_form + first + corrector, values);
}

/* Computes the end of the path, if the delta was not kept. */
static void follow(const exi_trajectories *p, const ex_forms *forms, int example, float *delta) {
    const exi_trajectory_example *e = &exi_trajectories_examples(p)[example];
    double shifts[EX_SEGMENT_MAX][3];
    const ending end = ending_of(p, example, shifts);
    exi_forms_get_example(forms, p->first_form + e->velocities, delta);
    for (int v = 0; v < p->vertex_count; v++) {
        float *u = delta + 3 * (size_t)v, mesh[3], w[3] = {0};
        exi_forms_get_base_vertex(forms, v, mesh);
        if (e->turns >= 0)
            exi_forms_get_vertex(forms, p->first_form + e->turns, v, w);
        double d[3] = {(double)u[0], (double)u[1], (double)u[2]};
        exi_turn_mean((double[3]){(double)w[0], (double)w[1], (double)w[2]}, d, d);
        if (p->mixture.node_count > 0) {
            double m[12];
            exi_mixture_matrix_at(p, example, v, m);
            mixture_to_way(m, mesh, d);
        }
        start_to_end(&end, mesh, d, v, u);
    }
}

void exi_trajectories_get_delta(const exi_trajectories *p, const ex_forms *forms, int example, float *delta) {
    const exi_trajectory_example *e = &exi_trajectories_examples(p)[example];
    const size_t numbers = 3 * (size_t)p->vertex_count;
    if (example == p->reference)
        memset(delta, 0, numbers * sizeof *delta);
    else if (e->flags == 0)
        exi_forms_get_example(forms, p->first_form + e->velocities, delta);
    else if (e->delta >= 0)
        memcpy(delta, (const float *)exi_trajectories_at(p, p->deltas) + (size_t)e->delta * numbers,
               numbers * sizeof *delta);
    else
        follow(p, forms, example, delta);
}

/* ---- contributions of segments ---- */

/* A segment's shift is that of its parent plus the contribution of its own basis; parents come before children. */
void exi_trajectories_append(const exi_trajectories *p, const double *weights, int only, double (*shifts)[3]) {
    const int32_t *parents = exi_trajectories_at(p, p->parents), *order = exi_trajectories_at(p, p->order);
    for (int i = 0; i < p->segment_count; i++) {
        const int a = order[i];
        double u[3] = {0};
        if (parents[a] >= 0)
            exi_trajectories_basis(p, weights, only, a, u);
        for (int c = 0; c < 3; c++)
            shifts[a][c] = parents[a] < 0 ? 0 : shifts[parents[a]][c] + u[c];
    }
}
