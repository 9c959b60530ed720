/*
 * Derivatives of the energies at a state (trajectory warping, equations 19, 20), and blocks of the diagonal of J^T J.
 *
 * With s1, sh, su the contributions of the bases to a segment at time 1, at 1/2 and as velocity, a change of the
 * unknowns changes
 *   velocity            v = A (z - s1) - B w         A = R~(w)^-1,        B = A d(R~(w) v)/dw
 *   half-way place      h = E (z - s1) + C w + sh    E = R~(w/2) A / 2,   C = (d(R~(w/2) v)/dw - R~(w/2) B) / 2
 *   s1 = R~(w_a) v_a + d(R~(w_a) v_a)/dw w_a, sh the same at w_a / 2, halved, su = v_a, summed up to the root
 *
 * A, B, E, C of each vertex and the four matrices of each basis are stored; everything after that is linear and
 * depends on the mesh (paper_product.c).
 */
#include "author/trajectory/matrix.h"
#include "author/trajectory/paper/paper.h"
#include "runtime/base/memory.h"

#define GRAIN 1024

typedef struct job {
    exi_paper *paper;
    const double *x;
    double *y;
} job;

/* ---- derivatives ---- */

/* Computes R~(w) and d(R~(w) v)/dw; and the same at w / 2, both halved. */
static void turn_maps(const double w[3], const double v[3], double maps[36]) {
    double half[3] = {w[0] / 2, w[1] / 2, w[2] / 2}, r[3][3];
    exi_mean_turn(w, r);
    memcpy(maps, r, sizeof r);
    exi_mean_turn_derivative(w, v, r);
    memcpy(maps + 9, r, sizeof r);
    exi_mean_turn(half, r);
    memcpy(maps + 18, r, sizeof r);
    exi_mean_turn_derivative(half, v, r);
    memcpy(maps + 27, r, sizeof r);
    for (int k = 0; k < 9; k++) {
        maps[18 + k] /= 2;
        maps[27 + k] /= 4;
    }
}

/* A = L L^T in place, lower triangle by rows, diagonal inverted; pivots stay above a small part of the largest. */
static void factorise_block(double packed[21]) {
    double largest = 0;
    for (int i = 0; i < 6; i++)
        largest = packed[i * (i + 3) / 2] > largest ? packed[i * (i + 3) / 2] : largest;
    for (int i = 0, at = 0; i < 6; i++)
        for (int j = 0; j <= i; j++, at++) {
            double sum = packed[at];
            for (int k = 0; k < j; k++)
                sum -= packed[i * (i + 1) / 2 + k] * packed[j * (j + 1) / 2 + k];
            if (i == j)
                packed[at] = 1 / sqrt(sum > 1e-14 * largest ? sum : largest > 0 ? 1e-14 * largest : 1);
            else
                packed[at] = sum * packed[j * (j + 1) / 2 + j];
        }
}

static void solve_block(const double packed[21], const double r[6], double x[6]) {
    for (int i = 0; i < 6; i++) {
        x[i] = r[i];
        for (int k = 0; k < i; k++)
            x[i] -= packed[i * (i + 1) / 2 + k] * x[k];
        x[i] *= packed[i * (i + 1) / 2 + i];
    }
    for (int i = 5; i >= 0; i--) {
        for (int k = i + 1; k < 6; k++)
            x[i] -= packed[k * (k + 1) / 2 + i] * x[k];
        x[i] *= packed[i * (i + 1) / 2 + i];
    }
}

/* The block of a vertex, z then w. Rotation: rows -W_ki A for z and delta_ki + W_ki B for w; gradient: L_ii. */
static void vertex_block(const exi_paper *paper, int i, double block[6][6]) {
    const double *a = &paper->maps[36 * (size_t)i], *b = a + 9, *e = a + 18, *c = a + 27;
    const double *self = &paper->curl_self[9 * (size_t)i], *q = &paper->curl_sq[6 * (size_t)i];
    double sq[9] = {q[0], q[3], q[4], q[3], q[1], q[5], q[4], q[5], q[2]};
    double sa[9] = {0}, sb[9] = {0}, zz[9] = {0}, zw[9] = {0}, ww[9] = {0}, wb[9] = {0}, wa[9] = {0};
    double beta = paper->weights[EXI_PAPER_ROTATION];
    double gamma = paper->weights[EXI_PAPER_GRADIENT] * paper->slope_sq[i];
    exi_m3_multiply(sq, a, beta, sa);
    exi_m3_multiply(sq, b, beta, sb);
    exi_m3_multiply(self, b, beta, wb);
    exi_m3_multiply(self, a, beta, wa);
    exi_m3_multiply_transposed(a, sa, 1, zz);
    exi_m3_multiply_transposed(e, e, gamma, zz);
    exi_m3_multiply_transposed(a, sb, -1, zw);
    exi_m3_multiply_transposed(e, c, gamma, zw);
    exi_m3_multiply_transposed(b, sb, 1, ww);
    exi_m3_multiply_transposed(c, c, gamma, ww);
    for (int m = 0; m < 3; m++)
        for (int n = 0; n < 3; n++) {
            block[m][n] = zz[3 * m + n] + (m == n ? paper->weights[EXI_PAPER_POSE] : 0);
            block[m][3 + n] = zw[3 * m + n] - wa[3 * n + m];
            block[3 + n][m] = block[m][3 + n];
            block[3 + m][3 + n] = ww[3 * m + n] + wb[3 * m + n] + wb[3 * n + m] + (m == n ? beta : 0);
        }
}

static void pack(double full[6][6], double packed[21]) {
    for (int i = 0, at = 0; i < 6; i++)
        for (int j = 0; j <= i; j++, at++)
            packed[at] = full[i][j];
}

static void linearise_vertices(void *context, int begin, int end) {
    exi_paper *paper = ((job *)context)->paper;
    for (int i = begin; i < end; i++) {
        double maps[36], inverse[9], *out = &paper->maps[36 * (size_t)i];
        turn_maps(&exi_paper_present(paper)->turns[3 * (size_t)i], &exi_paper_present(paper)->velocities[3 * (size_t)i],
                  maps);
        exi_m3_invert(maps, inverse);
        memset(out, 0, 36 * sizeof *out);
        memcpy(out, inverse, sizeof inverse);
        exi_m3_multiply(inverse, maps + 9, 1, out + 9);
        exi_m3_multiply(maps + 18, inverse, 1, out + 18);
        memcpy(out + 27, maps + 27, 9 * sizeof *out);
        exi_m3_multiply(maps + 18, out + 9, -1, out + 27);
        double block[6][6] = {{0}};
        if (paper->shares[i] != 0)
            vertex_block(paper, i, block);
        pack(block, &paper->blocks[21 * (size_t)i]);
    }
}

static void factorise_vertices(void *context, int begin, int end) {
    exi_paper *paper = ((job *)context)->paper;
    for (int i = begin; i < end; i++) {
        double *packed = &paper->blocks[21 * (size_t)i];
        for (int k = 0; k < 6; k++)
            packed[k * (k + 3) / 2] += paper->damping[k / 3];
        factorise_block(packed);
    }
}

static bool is_below(const exi_paper *paper, int s, int above) {
    while (s >= 0 && s != above)
        s = paper->segments->parents[s];
    return s >= 0;
}

/*
 * Adds a triangle to the block of a basis. Corners below it move by h = sh - E s1 at half-way and have v = su - A s1.
 * The curl is taken per triangle, not per vertex: never less, and the same if the triangles around a vertex agree.
 */
static void add_to_base(const exi_paper *paper, int t, int base, double block[6][6]) {
    const ex_between *b = paper->between;
    const double *maps = &paper->base_maps[36 * (size_t)base];
    double rows[12][6] = {{0}}, share = 0;
    for (int c = 0; c < 3; c++) {
        int i = b->triangles[3 * (size_t)t + (size_t)c];
        const double *slope = &b->slopes[9 * (size_t)t + 3 * (size_t)c];
        double curl[9];
        share += exi_paper_counts(paper, t, c) ? paper->shares[i] : 0;
        if (!is_below(paper, paper->segments->vertices[i], base))
            continue;
        exi_paper_curl(paper, t, c, curl);
        for (int k = 0; k < 6; k++) {
            const double *own = maps + (k < 3 ? 9 : 0), *half = maps + (k < 3 ? 27 : 18);
            double s1[3] = {own[k % 3], own[3 + k % 3], own[6 + k % 3]};
            double h[3] = {half[k % 3], half[3 + k % 3], half[6 + k % 3]}, v[3] = {0, 0, 0}, spin[3] = {0, 0, 0};
            v[k % 3] = k < 3 ? 0 : 1;
            exi_m3_add(&paper->maps[36 * (size_t)i + 18], s1, -1, h);
            exi_m3_add(&paper->maps[36 * (size_t)i], s1, -1, v);
            exi_m3_add(curl, v, 1, spin);
            for (int m = 0; m < 3; m++) {
                rows[9 + m][k] += spin[m];
                for (int d = 0; d < 3; d++)
                    rows[3 * m + d][k] += h[m] * slope[d] * b->size;
            }
        }
    }
    for (int r = 0; r < 12; r++) {
        double weight = r < 9 ? paper->weights[EXI_PAPER_GRADIENT] : paper->weights[EXI_PAPER_ROTATION] * share;
        for (int k = 0; k < 6; k++)
            for (int m = 0; m <= k; m++)
                block[k][m] += weight * rows[r][k] * rows[r][m];
    }
}

/* Computes the bases' diagonal blocks: over all triangles, for bases between each corner's segment and its root. */
static void linearise_bases(exi_paper *paper) {
    const ex_between *b = paper->between;
    double(*blocks)[6][6] = (double(*)[6][6])paper->base_blocks;
    memset(blocks, 0, (size_t)paper->segment_count * sizeof *blocks);
    for (int s = 0; s < paper->segment_count; s++)
        turn_maps(&exi_paper_present(paper)->bases[6 * s], &exi_paper_present(paper)->bases[6 * s + 3],
                  &paper->base_maps[36 * (size_t)s]);
    for (int t = 0; t < b->triangle_count && paper->segment_count; t++)
        for (int c = 0; c < 3 && b->areas[t] != 0; c++) {
            const int *corners = &b->triangles[3 * (size_t)t];
            for (int s = paper->segments->vertices[corners[c]]; s >= 0; s = paper->segments->parents[s]) {
                bool done = !exi_paper_solved(paper, s);
                for (int k = 0; k < c && !done; k++)
                    done = is_below(paper, paper->segments->vertices[corners[k]], s);
                if (!done)
                    add_to_base(paper, t, s, blocks[s]);
            }
        }
    for (int s = 0; s < paper->segment_count; s++) {
        double packed[21];
        pack(blocks[s], packed);
        memcpy(blocks[s], packed, sizeof packed);
    }
}

/* Mean of the diagonal entries first to last of each of count blocks. */
static double mean_diagonal(const double *blocks, size_t stride, int count, int first, int last) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        for (int k = first; k <= last; k++)
            sum += blocks[stride * (size_t)i + (size_t)(k * (k + 3) / 2)];
    return count ? sum / (count * (last - first + 1.0)) : 0;
}

void exi_paper_linearise(exi_paper *paper, double damping) {
    const ex_between *b = paper->between;
    job j = {.paper = paper};
    exi_run(b->tasks, b->vertex_count, GRAIN, linearise_vertices, &j);
    linearise_bases(paper);
    paper->damping[0] = damping * mean_diagonal(paper->blocks, 21, b->vertex_count, 0, 2);
    paper->damping[1] = damping * mean_diagonal(paper->blocks, 21, b->vertex_count, 3, 5);
    paper->damping[2] = damping * mean_diagonal(paper->base_blocks, 36, paper->segment_count, 0, 5);
    for (int k = 0; k < 3; k++)
        paper->damping[k] = paper->damping[k] > 0 ? paper->damping[k] : 1e-300;
    exi_run(b->tasks, b->vertex_count, GRAIN, factorise_vertices, &j);
    for (int s = 0; s < paper->segment_count; s++) {
        double *packed = &paper->base_blocks[36 * (size_t)s];
        for (int k = 0; k < 6; k++)
            packed[k * (k + 3) / 2] += paper->damping[2];
        factorise_block(packed);
    }
}

/* ---- the diagonal ---- */

static void precondition_vertices(void *context, int begin, int end) {
    job *j = context;
    for (int i = begin; i < end; i++)
        solve_block(&j->paper->blocks[21 * (size_t)i], j->x + 6 * (size_t)i, j->y + 6 * (size_t)i);
}

void exi_paper_precondition(void *user, const double *r, double *z) {
    exi_paper *paper = user;
    size_t n = (size_t)paper->between->vertex_count;
    job j = {.paper = paper, .x = r, .y = z};
    exi_run(paper->between->tasks, (int)n, GRAIN, precondition_vertices, &j);
    for (int s = 0; s < paper->segment_count; s++)
        solve_block(&paper->base_blocks[36 * (size_t)s], r + 6 * (n + (size_t)s), z + 6 * (n + (size_t)s));
    if (paper->coarse)
        exi_coarse_correct(paper, r, z);
}
