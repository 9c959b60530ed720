/*
 * Dense kernels on panels. Nearly all operations of a factorisation are products A B^T of pieces of panels. They are
 * done in tiles of 8 rows and up to 4 columns that stay in registers over the depth, from copies of A and B in which
 * the tile's numbers are adjacent. Depth and width are limited so that B's copy stays in the second-level cache and a
 * tile's rows of A in the first.
 */
#include "author/base/lanes.h"
#include "author/solve/factor.h"

/* Eight sums in progress keep the adders busy; with AVX-512 one register holds a column's. */
#if defined(EXI_SET_AVX512)
enum { ROWS = EXI_ROWS_AT_ONCE, COLUMNS = 8 };
#else
enum { ROWS = EXI_ROWS_AT_ONCE, COLUMNS = 4 };
#endif

/* The columns of C that a tile is subtracted from. */
typedef struct tile_end {
    double *columns[COLUMNS];
    const int *landing; /* from the tile's first row on, or NULL */
    int rows;           /* rows of the tile in use, at most ROWS */
} tile_end;

EXI_KERNEL void end_tile(const tile_end *end, const exi_eight sum[COLUMNS], int width) {
    if (!end->landing && end->rows == ROWS) {
        EXI_WRITE_OUT
        for (int q = 0; q < width; q++)
            exi_eight_store(end->columns[q], exi_eight_subtract(exi_eight_load(end->columns[q]), sum[q]));
        return;
    }
    double sums[COLUMNS][ROWS];
    EXI_WRITE_OUT
    for (int q = 0; q < width; q++)
        exi_eight_store(sums[q], sum[q]);
    for (int r = 0; r < end->rows; r++) {
        const int at = end->landing ? end->landing[r] : r;
        for (int q = 0; q < width; q++)
            end->columns[q][at] -= sums[q][r];
    }
}

/* Callers pass a constant for width. a: lda numbers between columns; b: `width` numbers per column. */
EXI_KERNEL void multiply_tile(int depth, const double *restrict a, size_t lda, const double *restrict b, int width,
                              const tile_end *end) {
    exi_eight sum[COLUMNS];
    EXI_WRITE_OUT
    for (int q = 0; q < width; q++)
        sum[q] = exi_eight_fill(0);
    for (int j = 0; j < depth; j++) {
        const exi_eight rows = exi_eight_load(a);
        EXI_WRITE_OUT
        for (int q = 0; q < width; q++)
            sum[q] = exi_eight_add_product(sum[q], rows, exi_eight_fill(b[q]));
        a += lda;
        b += width;
    }
    end_tile(end, sum, width);
}

static void multiply_any(int depth, const double *a, size_t lda, const double *b, int width, const tile_end *end) {
    switch (width) {
#if defined(EXI_SET_AVX512)
    case 8:
        multiply_tile(depth, a, lda, b, 8, end);
        break;
    case 7:
        multiply_tile(depth, a, lda, b, 7, end);
        break;
    case 6:
        multiply_tile(depth, a, lda, b, 6, end);
        break;
    case 5:
        multiply_tile(depth, a, lda, b, 5, end);
        break;
#endif
    case 4:
        multiply_tile(depth, a, lda, b, 4, end);
        break;
    case 3:
        multiply_tile(depth, a, lda, b, 3, end);
        break;
    case 2:
        multiply_tile(depth, a, lda, b, 2, end);
        break;
    default:
        multiply_tile(depth, a, lda, b, 1, end);
        break;
    }
}

/* Copies rows first to first + k - 1 of A, tile by tile, each [depth][up to COLUMNS]. */
static void pack_b(const double *a, size_t lda, int k, int depth, double *restrict packed) {
    for (int q = 0; q < k; q += COLUMNS) {
        const int width = k - q < COLUMNS ? k - q : COLUMNS;
        for (int j = 0; j < depth; j++)
            for (int c = 0; c < width; c++)
                *packed++ = a[(size_t)j * lda + (size_t)(q + c)];
    }
}

static void pack_a(const double *a, size_t lda, int depth, double *restrict packed) {
    for (int j = 0; j < depth; j++)
        for (int r = 0; r < ROWS; r++)
            packed[j * ROWS + r] = a[(size_t)j * lda + (size_t)r];
}

/* One piece of depth and width: columns q0 to q0 + k - 1 of C. a and packed B begin at the piece's depth. */
static void subtract_piece(const exi_panel_product *p, const double *a, int q0, int k, int depth) {
    double *b = p->packed, *strip = p->packed + (size_t)EXI_PACK_DEPTH * EXI_PACK_WIDTH;
    pack_b(a + q0, p->lda, k, depth, b);
    for (int i = q0; i < p->m; i += ROWS) {
        tile_end end = {.landing = p->landing ? p->landing + i : NULL, .rows = p->m - i < ROWS ? p->m - i : ROWS};
        const double *rows = a + i;
        size_t stride = p->lda;
        if (k > 4 * COLUMNS && depth > 8) {
            pack_a(rows, p->lda, depth, strip);
            rows = strip;
            stride = ROWS;
        }
        for (int q = 0; q < k && q0 + q < i + ROWS; q += COLUMNS) {
            const int width = k - q < COLUMNS ? k - q : COLUMNS;
            for (int c = 0; c < width; c++) {
                const int column = p->columns ? p->columns[q0 + q + c] : q0 + q + c;
                end.columns[c] = p->c + (size_t)column * p->ldc + (p->landing ? 0 : i);
            }
            multiply_any(depth, rows, stride, b + (size_t)q * (size_t)depth, width, &end);
        }
    }
}

static void subtract(const exi_panel_product *p) {
    for (int j = 0; j < p->depth; j += EXI_PACK_DEPTH) {
        const int depth = p->depth - j < EXI_PACK_DEPTH ? p->depth - j : EXI_PACK_DEPTH;
        for (int q = 0; q < p->k; q += EXI_PACK_WIDTH) {
            const int width = p->k - q < EXI_PACK_WIDTH ? p->k - q : EXI_PACK_WIDTH;
            subtract_piece(p, p->a + (size_t)j * p->lda, q, width, depth);
        }
    }
}

/* Factorises columns first to first + k - 1 of a panel [..][m], after those before; the diagonal becomes 1 / L_jj. */
static int factorise_block(double *panel, int m, int first, int k, const double *floors) {
    const size_t ld = (size_t)m;
    for (int j = first; j < first + k; j++) {
        double *restrict column = panel + (size_t)j * ld;
        if (!(column[j] > floors[j]))
            return j;
        const double scale = 1 / sqrt(column[j]);
        column[j] = scale;
        for (int i = j + 1; i < m; i++)
            column[i] *= scale;
        for (int q = j + 1; q < first + k; q++) {
            double *restrict other = panel + (size_t)q * ld;
            const double factor = -column[q];
            for (int i = q; i < m; i++)
                other[i] = exi_multiply_add(factor, column[i], other[i]);
        }
    }
    return -1;
}

EXI_ENTRY(exi_panel_subtract, (const exi_panel_product *p), (p)) {
    subtract(p);
}

EXI_ENTRY_OF(int, exi_panel_factorise, (double *panel, int m, int k, const double *floors, double *packed),
             (panel, m, k, floors, packed)) {
    enum { BLOCK = 8 };
    const size_t ld = (size_t)m;
    for (int first = 0; first < k; first += BLOCK) {
        const int width = k - first < BLOCK ? k - first : BLOCK;
        if (first > 0) {
            const exi_panel_product before = {.m = m - first,
                                              .k = width,
                                              .depth = first,
                                              .a = panel + first,
                                              .lda = ld,
                                              .c = panel + (size_t)first * ld + (size_t)first,
                                              .ldc = ld,
                                              .packed = packed};
            subtract(&before);
        }
        const int bad = factorise_block(panel, m, first, width, floors);
        if (bad != -1)
            return bad;
    }
    return -1;
}
