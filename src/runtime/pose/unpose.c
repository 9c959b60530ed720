/*
 * Un-posing: finds the rest position that skinning would move to a given position, x_0 = M^-1 x (Shape by Example,
 * equation 7), for any number of joints and both methods: with either method, one vertex at one pose moves by one
 * matrix.
 *
 * Near half a turn a linear blend flattens the surface, and M^-1 throws vertices far away. With the singular values M =
 * U diag(s) V^T and r = x - M x_rest, the position is split along V's directions,
 *
 *     x_0 = x_rest + sum over i of v_i s_i / max(s_i, limit)^2 (u_i . r),
 *
 * which minimises |M x_0 - x|^2 + sum of max(0, limit^2 - s_i^2) (v_i . (x_0 - x_rest))^2: It is exact along every
 * direction that keeps at least `limit`. Below that it is pulled towards rest, the more the smaller s_i is, and
 * completely if s_i is 0. At the limit both agree. A single lambda for all directions would also pull at those that
 * need no damping. The limit is relative to the stretch by the joints if they did not cancel: sum of w_i |M_i|, with
 * |M_i| the root mean square of the singular values; 1 for rigid joints.
 */
#include "runtime/base/dense.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"
#include "runtime/pose/skin.h"

#include <math.h>
#include <string.h>

static double square_sum(const double m[12]) {
    return exi_dot3(m, m) + exi_dot3(m + 4, m + 4) + exi_dot3(m + 8, m + 8);
}

/* Stretch of a length by a joint's matrix. Rigid motions before or after it do not matter, so for dual quaternions the
 * stretch part is enough. */
static double joint_stretch(const ex_palette *palette, int joint) {
    double m[12];
    if (palette->method == EX_SKINNING_DUAL_QUATERNION && !palette->stretched)
        return 1;
    exi_matrix_from_floats(exi_palette_affine(palette) + EXI_MATRIX_FLOATS * (size_t)joint, m);
    return sqrt(square_sum(m) / 3);
}

/* Sum over the vertex's influences. */
static double expected_stretch(const exi_skin_tables *t, const ex_palette *palette, int vertex) {
    double sum = 0;
    for (size_t i = EXI_SHORT * (size_t)vertex; i < EXI_SHORT * ((size_t)vertex + 1); i++)
        if (t->weights[i] > 0)
            sum += (double)t->weights[i] * joint_stretch(palette, t->joints[i]);
    const int place = exi_skin_find_long(t, vertex);
    if (place < t->long_count && t->long_vertices[place] == vertex)
        for (uint32_t i = t->long_starts[place]; i < t->long_starts[place + 1]; i++)
            sum += (double)t->long_weights[i] * joint_stretch(palette, t->long_joints[i]);
    return sum;
}

/*
 * Exact inverse, used only if no direction is near the limit: the smallest singular value is |det| / (s_1 s_2), and s_1
 * s_2 <= (s_1^2 + s_2^2) / 2, so it is at least 2 |det| / (sum of squares). Returns false if that bound does not
 * decide.
 */
static bool invert(const double m[12], double limit, const double posed[3], double out[3]) {
    double inverse[12];
    if (!(2 * fabs(exi_matrix_determinant(m)) >= limit * square_sum(m)) || !exi_matrix_invert(m, inverse))
        return false;
    exi_matrix_move(inverse, posed, out);
    return true;
}

/* Damped inverse by singular values. Returns the smallest. */
static double invert_damped(const double m[12], double limit, const double posed[3], const double rest[3],
                            double out[3]) {
    double us[3][3], v[3][3], s[3], r[3], smallest = INFINITY;
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++)
            us[c][i] = m[4 * i + c];
    exi_svd(&us[0][0], 3, 3, &v[0][0], s);
    exi_matrix_move(m, rest, r);
    for (int i = 0; i < 3; i++) {
        r[i] = posed[i] - r[i];
        out[i] = rest[i];
    }
    for (int i = 0; i < 3; i++) {
        const double divisor = s[i] > limit ? s[i] : limit;
        const double along = divisor > 0 ? exi_dot3(us[i], r) / divisor / divisor : 0;
        smallest = s[i] < smallest ? s[i] : smallest;
        for (int c = 0; c < 3; c++)
            out[c] += v[i][c] * along;
    }
    return smallest;
}

/* True if the vertex was damped; then fills in its report. */
static bool unpose_vertex(const exi_skin_tables *t, const ex_palette *palette, const double m[12], int vertex,
                          const ex_unpose_job *job, ex_damped *report) {
    double posed[3], rest[3], again[3], *out = job->out + 3 * (size_t)vertex;
    for (int c = 0; c < 3; c++) {
        posed[c] = (double)job->posed[3 * (size_t)vertex + (size_t)c];
        rest[c] = (double)job->rest[3 * (size_t)vertex + (size_t)c];
    }
    *report = (ex_damped){.vertex = vertex, .residual = INFINITY};
    if (!isfinite(posed[0]) || !isfinite(posed[1]) || !isfinite(posed[2])) {
        memcpy(out, rest, sizeof rest);
        return true;
    }
    const double expected = expected_stretch(t, palette, vertex);
    const double limit = (job->limit > 0 ? job->limit : EX_UNPOSE_LIMIT) * expected;
    if (limit > 0 && invert(m, limit, posed, out))
        return false;
    const double smallest = invert_damped(m, limit, posed, rest, out);
    if (limit > 0 && smallest >= limit)
        return false;
    exi_matrix_move(m, out, again);
    for (int c = 0; c < 3; c++)
        again[c] -= posed[c];
    report->stretch = (float)(expected > 0 ? smallest / expected : 0);
    report->residual = (float)sqrt(exi_dot3(again, again));
    return true;
}

int ex_skin_unpose(const ex_skin *skin, const ex_palette *palette, const ex_unpose_job *job) {
    if (!skin || !palette || !job || palette->joint_count != skin->joint_count || !job->posed || !job->rest ||
        !job->out) {
        exi_misuse(__func__, "no skin, palette or positions, or a palette for another number of joints");
        return 0;
    }
    const exi_skin_tables t = exi_skin_tables_of(skin);
    int damped = 0;
    for (int v = 0; v < skin->vertex_count; v++) {
        double m[12];
        ex_damped report;
        ex_skin_vertex_matrix(skin, palette, v, m);
        if (!unpose_vertex(&t, palette, m, v, job, &report))
            continue;
        if (job->damped && damped < job->damped_capacity)
            job->damped[damped] = report;
        damped++;
    }
    return damped;
}
