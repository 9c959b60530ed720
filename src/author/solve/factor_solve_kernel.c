/*
 * Solves L y = b, then L^T x = y, in the order of elimination. Each entry of L is read once in each direction, so that
 * three right-hand sides take hardly longer than one. They are padded to four numbers per row. Columns of a supernode
 * are processed up to eight at a time, with their part of x in registers: their own triangle first (or last, in back
 * substitution), then the rows below, first those of the supernode itself, then the others.
 */
#include "author/base/lanes.h"
#include "author/solve/factor.h"

enum { BLOCK = 8 };

/* Up to BLOCK columns of a panel, from their diagonal on. */
typedef struct block {
    const double *panel;
    size_t ld;
    int inner; /* rows below the block that are the supernode's own: they follow those of the block */
    int outer; /* the remaining rows: */
    const int *rows;
} block;

/* Two entries of L, one below the other, as factors of rows of x. */
#if defined(EXI_SET_AVX2) || defined(EXI_SET_AVX512)
typedef const double *entries; /* they are spread when they are loaded */
EXI_KERNEL entries load_entries(const double *l) {
    return l;
}
EXI_KERNEL exi_four subtract_first(exi_four from, exi_four row, entries l) {
    return exi_four_subtract_product(from, row, exi_four_fill(l[0]));
}
EXI_KERNEL exi_four subtract_second(exi_four from, exi_four row, entries l) {
    return exi_four_subtract_product(from, row, exi_four_fill(l[1]));
}
#else
typedef exi_pair entries;
EXI_KERNEL entries load_entries(const double *l) {
    return exi_pair_load(l);
}
EXI_KERNEL exi_four subtract_first(exi_four from, exi_four row, entries l) {
    const exi_pair both = exi_pair_first(l);
    return (exi_four){exi_pair_subtract_product(from.a, row.a, both), exi_pair_subtract_product(from.b, row.b, both)};
}
EXI_KERNEL exi_four subtract_second(exi_four from, exi_four row, entries l) {
    const exi_pair both = exi_pair_second(l);
    return (exi_four){exi_pair_subtract_product(from.a, row.a, both), exi_pair_subtract_product(from.b, row.b, both)};
}
#endif

/* y[row] -= sum over j of l_j own[j] for `count` rows of the panel at l, two at once: their entries are adjacent. rows
 * NULL: rows are consecutive. Callers pass a constant for `columns`. */
EXI_KERNEL void push_4(const double *restrict l, size_t ld, const int *rows, int count, const exi_four *own,
                       double *restrict y, int columns) {
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        double *first = y + 4 * (size_t)(rows ? rows[i] : i), *second = y + 4 * (size_t)(rows ? rows[i + 1] : i + 1);
        exi_four a = exi_four_load(first), b = exi_four_load(second);
        EXI_WRITE_OUT
        for (int j = 0; j < columns; j++) {
            const entries both = load_entries(l + (size_t)j * ld + (size_t)i);
            a = subtract_first(a, own[j], both);
            b = subtract_second(b, own[j], both);
        }
        exi_four_store(first, a);
        exi_four_store(second, b);
    }
    if (i < count) {
        double *last = y + 4 * (size_t)(rows ? rows[i] : i);
        exi_four a = exi_four_load(last);
        EXI_WRITE_OUT
        for (int j = 0; j < columns; j++)
            a = exi_four_subtract_product(a, own[j], exi_four_fill(l[(size_t)j * ld + (size_t)i]));
        exi_four_store(last, a);
    }
}

/* own[j] -= sum over rows of l_j y[row]. */
EXI_KERNEL void pull_4(const double *restrict l, size_t ld, const int *rows, int count, exi_four *own,
                       const double *restrict y, int columns) {
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        const exi_four a = exi_four_load(y + 4 * (size_t)(rows ? rows[i] : i));
        const exi_four b = exi_four_load(y + 4 * (size_t)(rows ? rows[i + 1] : i + 1));
        EXI_WRITE_OUT
        for (int j = 0; j < columns; j++) {
            const entries both = load_entries(l + (size_t)j * ld + (size_t)i);
            own[j] = subtract_first(own[j], a, both);
            own[j] = subtract_second(own[j], b, both);
        }
    }
    if (i < count) {
        const exi_four a = exi_four_load(y + 4 * (size_t)(rows ? rows[i] : i));
        EXI_WRITE_OUT
        for (int j = 0; j < columns; j++)
            own[j] = exi_four_subtract_product(own[j], a, exi_four_fill(l[(size_t)j * ld + (size_t)i]));
    }
}

EXI_KERNEL void block_down_4(block b, double *x, double *y, int columns) {
    exi_four own[BLOCK];
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++)
        own[j] = exi_four_load(x + 4 * j);
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++) {
        const double *column = b.panel + (size_t)j * b.ld;
        own[j] = exi_four_multiply(own[j], exi_four_fill(column[j]));
        EXI_WRITE_OUT
        for (int i = j + 1; i < columns; i++)
            own[i] = exi_four_subtract_product(own[i], own[j], exi_four_fill(column[i]));
    }
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++)
        exi_four_store(x + 4 * j, own[j]);
    push_4(b.panel + columns, b.ld, NULL, b.inner, own, x + 4 * columns, columns);
    push_4(b.panel + columns + b.inner, b.ld, b.rows, b.outer, own, y, columns);
}

EXI_KERNEL void block_up_4(block b, double *x, double *y, int columns) {
    exi_four own[BLOCK];
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++)
        own[j] = exi_four_load(x + 4 * j);
    pull_4(b.panel + columns, b.ld, NULL, b.inner, own, x + 4 * columns, columns);
    pull_4(b.panel + columns + b.inner, b.ld, b.rows, b.outer, own, y, columns);
    EXI_WRITE_OUT
    for (int j = columns - 1; j >= 0; j--) {
        own[j] = exi_four_multiply(own[j], exi_four_fill(b.panel[(size_t)j * b.ld + (size_t)j]));
        EXI_WRITE_OUT
        for (int i = 0; i < j; i++)
            own[i] = exi_four_subtract_product(own[i], own[j], exi_four_fill(b.panel[(size_t)i * b.ld + (size_t)j]));
    }
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++)
        exi_four_store(x + 4 * j, own[j]);
}

/* The same for one right-hand side: pairs are two rows here. */
EXI_KERNEL void push_1(const double *restrict l, size_t ld, const int *rows, int count, const double *own,
                       double *restrict y, int columns) {
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        exi_pair sum = exi_pair_fill(0);
        EXI_WRITE_OUT
        for (int j = 0; j < columns; j++)
            sum = exi_pair_add_product(sum, exi_pair_load(l + (size_t)j * ld + (size_t)i), exi_pair_fill(own[j]));
        double sums[2];
        exi_pair_store(sums, sum);
        y[rows ? rows[i] : i] -= sums[0];
        y[rows ? rows[i + 1] : i + 1] -= sums[1];
    }
    if (i < count)
        EXI_WRITE_OUT
    for (int j = 0; j < columns; j++)
        y[rows ? rows[i] : i] -= l[(size_t)j * ld + (size_t)i] * own[j];
}

EXI_KERNEL void pull_1(const double *restrict l, size_t ld, const int *rows, int count, double *own,
                       const double *restrict y, int columns) {
    exi_pair sums[BLOCK];
    int i = 0;
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++)
        sums[j] = exi_pair_fill(0);
    for (; i + 2 <= count; i += 2) {
        const double both[2] = {y[rows ? rows[i] : i], y[rows ? rows[i + 1] : i + 1]};
        const exi_pair row = exi_pair_load(both);
        EXI_WRITE_OUT
        for (int j = 0; j < columns; j++)
            sums[j] = exi_pair_add_product(sums[j], exi_pair_load(l + (size_t)j * ld + (size_t)i), row);
    }
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++) {
        double both[2];
        exi_pair_store(both, sums[j]);
        own[j] -= both[0] + both[1];
        if (i < count)
            own[j] -= l[(size_t)j * ld + (size_t)i] * y[rows ? rows[i] : i];
    }
}

EXI_KERNEL void block_down_1(block b, double *x, double *y, int columns) {
    double own[BLOCK];
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++)
        own[j] = x[j];
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++) {
        const double *column = b.panel + (size_t)j * b.ld;
        own[j] *= column[j];
        EXI_WRITE_OUT
        for (int i = j + 1; i < columns; i++)
            own[i] -= column[i] * own[j];
    }
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++)
        x[j] = own[j];
    push_1(b.panel + columns, b.ld, NULL, b.inner, own, x + columns, columns);
    push_1(b.panel + columns + b.inner, b.ld, b.rows, b.outer, own, y, columns);
}

EXI_KERNEL void block_up_1(block b, double *x, double *y, int columns) {
    double own[BLOCK];
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++)
        own[j] = x[j];
    pull_1(b.panel + columns, b.ld, NULL, b.inner, own, x + columns, columns);
    pull_1(b.panel + columns + b.inner, b.ld, b.rows, b.outer, own, y, columns);
    EXI_WRITE_OUT
    for (int j = columns - 1; j >= 0; j--) {
        own[j] *= b.panel[(size_t)j * b.ld + (size_t)j];
        EXI_WRITE_OUT
        for (int i = 0; i < j; i++)
            own[i] -= b.panel[(size_t)i * b.ld + (size_t)j] * own[j];
    }
    EXI_WRITE_OUT
    for (int j = 0; j < columns; j++)
        x[j] = own[j];
}

/* Callers pass constants for width (4 or 1), down and columns. */
EXI_KERNEL void solve_block(block b, double *x, double *y, int width, bool down, int columns) {
    if (width == 4 && down)
        block_down_4(b, x, y, columns);
    else if (width == 4)
        block_up_4(b, x, y, columns);
    else if (down)
        block_down_1(b, x, y, columns);
    else
        block_up_1(b, x, y, columns);
}

EXI_KERNEL void solve_any_block(block b, double *x, double *y, int width, bool down, int columns) {
    switch (columns) {
    case 8:
        solve_block(b, x, y, width, down, 8);
        break;
    case 7:
        solve_block(b, x, y, width, down, 7);
        break;
    case 6:
        solve_block(b, x, y, width, down, 6);
        break;
    case 5:
        solve_block(b, x, y, width, down, 5);
        break;
    case 4:
        solve_block(b, x, y, width, down, 4);
        break;
    case 3:
        solve_block(b, x, y, width, down, 3);
        break;
    case 2:
        solve_block(b, x, y, width, down, 2);
        break;
    default:
        solve_block(b, x, y, width, down, 1);
        break;
    }
}

/* Columns first to first + columns - 1 of supernode s. */
EXI_KERNEL void solve_columns(const exi_factor *f, int s, int first, int columns, double *y, int width, bool down) {
    const int all = exi_column_count(f, s), outer = exi_below_count(f, s);
    const size_t ld = (size_t)(all + outer);
    const block b = {.panel = f->values + f->value_starts[s] + (size_t)first * (ld + 1),
                     .ld = ld,
                     .inner = all - first - columns,
                     .outer = outer,
                     .rows = f->rows + f->row_starts[s]};
    solve_any_block(b, y + (size_t)(f->firsts[s] + first) * (size_t)width, y, width, down, columns);
}

/* y [count][n][width], in the order of elimination. A block of L is read once for all of them. */
EXI_KERNEL void substitute(const exi_factor *f, double *const *y, int count, int width) {
    for (int s = 0; s < f->supernode_count; s++)
        for (int first = 0, left = exi_column_count(f, s); left > 0; first += BLOCK, left -= BLOCK)
            for (int i = 0; i < count; i++)
                solve_columns(f, s, first, left < BLOCK ? left : BLOCK, y[i], width, true);
    for (int s = f->supernode_count - 1; s >= 0; s--) {
        const int all = exi_column_count(f, s);
        for (int first = (all - 1) / BLOCK * BLOCK; first >= 0; first -= BLOCK)
            for (int i = 0; i < count; i++)
                solve_columns(f, s, first, all - first < BLOCK ? all - first : BLOCK, y[i], width, false);
    }
}

EXI_ENTRY(exi_factor_substitute, (const exi_factor *f, double *const *y, int count), (f, y, count)) {
    substitute(f, y, count, 4);
}

EXI_ENTRY(exi_factor_substitute_1, (const exi_factor *f, double *y), (f, y)) {
    substitute(f, &y, 1, 1);
}
