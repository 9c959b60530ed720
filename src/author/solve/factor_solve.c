/*
 * L y = b, then L^T x = y, in the order of elimination. Each entry of L is read once in either direction, and that is
 * what a solve costs: three right-hand sides take hardly longer than one. They are widened to four numbers a row, so
 * that a row is two registers or one wherever it is met, and a block of columns keeps its part of x in registers while
 * the rows below pass.
 */
#include "author/solve/factor.h"
#include "author/solve/pair.h"

#include "runtime/base/result.h"

enum { BLOCK = 8 }; /* the most columns that are dealt with at once */

/* A piece of a panel below its triangle: `count` columns (a constant where these functions are called), all rows. */
typedef struct piece {
    const double *panel;
    size_t ld;
    const int *rows;
    int row_count;
} piece;

/* Subtracts columns times x [count][4] from rows of y [n][4]. Two rows at once: their entries lie side by side. */
EXI_KERNEL void push_down_4(piece p, const double *restrict x, double *restrict y, int count) {
    exi_pair own[BLOCK][2];
    for (int j = 0; j < count; j++) {
        own[j][0] = exi_pair_load(x + 4 * j);
        own[j][1] = exi_pair_load(x + 4 * j + 2);
    }
    int i = 0;
    for (; i + 2 <= p.row_count; i += 2) {
        double *a = y + 4 * (size_t)p.rows[i], *b = y + 4 * (size_t)p.rows[i + 1];
        exi_pair a0 = exi_pair_load(a), a1 = exi_pair_load(a + 2), b0 = exi_pair_load(b), b1 = exi_pair_load(b + 2);
        for (int j = 0; j < count; j++) {
            const exi_pair l = exi_pair_load(p.panel + (size_t)j * p.ld + (size_t)i);
            a0 = exi_pair_subtract_product(a0, own[j][0], exi_pair_first(l));
            a1 = exi_pair_subtract_product(a1, own[j][1], exi_pair_first(l));
            b0 = exi_pair_subtract_product(b0, own[j][0], exi_pair_second(l));
            b1 = exi_pair_subtract_product(b1, own[j][1], exi_pair_second(l));
        }
        exi_pair_store(a, a0);
        exi_pair_store(a + 2, a1);
        exi_pair_store(b, b0);
        exi_pair_store(b + 2, b1);
    }
    if (i < p.row_count) {
        double *a = y + 4 * (size_t)p.rows[i];
        exi_pair a0 = exi_pair_load(a), a1 = exi_pair_load(a + 2);
        for (int j = 0; j < count; j++) {
            const exi_pair l = exi_pair_fill(p.panel[(size_t)j * p.ld + (size_t)i]);
            a0 = exi_pair_subtract_product(a0, own[j][0], l);
            a1 = exi_pair_subtract_product(a1, own[j][1], l);
        }
        exi_pair_store(a, a0);
        exi_pair_store(a + 2, a1);
    }
}

/* Subtracts rows of y [n][4], times those of the panel, from x [count][4]. */
EXI_KERNEL void pull_up_4(piece p, double *restrict x, const double *restrict y, int count) {
    exi_pair own[BLOCK][2];
    for (int j = 0; j < count; j++) {
        own[j][0] = exi_pair_load(x + 4 * j);
        own[j][1] = exi_pair_load(x + 4 * j + 2);
    }
    int i = 0;
    for (; i + 2 <= p.row_count; i += 2) {
        const double *a = y + 4 * (size_t)p.rows[i], *b = y + 4 * (size_t)p.rows[i + 1];
        const exi_pair a0 = exi_pair_load(a), a1 = exi_pair_load(a + 2);
        const exi_pair b0 = exi_pair_load(b), b1 = exi_pair_load(b + 2);
        for (int j = 0; j < count; j++) {
            const exi_pair l = exi_pair_load(p.panel + (size_t)j * p.ld + (size_t)i);
            own[j][0] = exi_pair_subtract_product(own[j][0], a0, exi_pair_first(l));
            own[j][1] = exi_pair_subtract_product(own[j][1], a1, exi_pair_first(l));
            own[j][0] = exi_pair_subtract_product(own[j][0], b0, exi_pair_second(l));
            own[j][1] = exi_pair_subtract_product(own[j][1], b1, exi_pair_second(l));
        }
    }
    if (i < p.row_count) {
        const double *a = y + 4 * (size_t)p.rows[i];
        for (int j = 0; j < count; j++) {
            const exi_pair l = exi_pair_fill(p.panel[(size_t)j * p.ld + (size_t)i]);
            own[j][0] = exi_pair_subtract_product(own[j][0], exi_pair_load(a), l);
            own[j][1] = exi_pair_subtract_product(own[j][1], exi_pair_load(a + 2), l);
        }
    }
    for (int j = 0; j < count; j++) {
        exi_pair_store(x + 4 * j, own[j][0]);
        exi_pair_store(x + 4 * j + 2, own[j][1]);
    }
}

/* The same for one right-hand side: x [count], y [n]. */
EXI_KERNEL void push_down_1(piece p, const double *restrict x, double *restrict y, int count) {
    int i = 0;
    for (; i + 2 <= p.row_count; i += 2) {
        exi_pair sum = exi_pair_fill(0);
        for (int j = 0; j < count; j++)
            sum = exi_pair_add_product(sum, exi_pair_load(p.panel + (size_t)j * p.ld + (size_t)i), exi_pair_fill(x[j]));
        double sums[2];
        exi_pair_store(sums, sum);
        y[p.rows[i]] -= sums[0];
        y[p.rows[i + 1]] -= sums[1];
    }
    if (i < p.row_count)
        for (int j = 0; j < count; j++)
            y[p.rows[i]] = exi_multiply_add(-p.panel[(size_t)j * p.ld + (size_t)i], x[j], y[p.rows[i]]);
}

EXI_KERNEL void pull_up_1(piece p, double *restrict x, const double *restrict y, int count) {
    exi_pair own[BLOCK];
    int i = 0;
    for (int j = 0; j < count; j++)
        own[j] = exi_pair_fill(0);
    for (; i + 2 <= p.row_count; i += 2) {
        const double both[2] = {y[p.rows[i]], y[p.rows[i + 1]]};
        const exi_pair row = exi_pair_load(both);
        for (int j = 0; j < count; j++)
            own[j] = exi_pair_add_product(own[j], exi_pair_load(p.panel + (size_t)j * p.ld + (size_t)i), row);
    }
    for (int j = 0; j < count; j++) {
        double sums[2];
        exi_pair_store(sums, own[j]);
        x[j] -= sums[0] + sums[1];
        if (i < p.row_count)
            x[j] = exi_multiply_add(-p.panel[(size_t)j * p.ld + (size_t)i], y[p.rows[i]], x[j]);
    }
}

EXI_KERNEL void push_down(piece p, const double *x, double *y, int width, int count) {
    if (width == 4)
        push_down_4(p, x, y, count);
    else
        push_down_1(p, x, y, count);
}

EXI_KERNEL void pull_up(piece p, double *x, const double *y, int width, int count) {
    if (width == 4)
        pull_up_4(p, x, y, count);
    else
        pull_up_1(p, x, y, count);
}

/* The triangle of a supernode's own columns. */
EXI_KERNEL void solve_down_4(const double *restrict panel, size_t ld, int columns, double *restrict x) {
    for (int j = 0; j < columns; j++) {
        const double *column = panel + (size_t)j * ld;
        const exi_pair scale = exi_pair_fill(column[j]);
        const exi_pair x0 = exi_pair_multiply(exi_pair_load(x + 4 * j), scale);
        const exi_pair x1 = exi_pair_multiply(exi_pair_load(x + 4 * j + 2), scale);
        exi_pair_store(x + 4 * j, x0);
        exi_pair_store(x + 4 * j + 2, x1);
        for (int i = j + 1; i < columns; i++) {
            const exi_pair l = exi_pair_fill(column[i]);
            exi_pair_store(x + 4 * i, exi_pair_subtract_product(exi_pair_load(x + 4 * i), x0, l));
            exi_pair_store(x + 4 * i + 2, exi_pair_subtract_product(exi_pair_load(x + 4 * i + 2), x1, l));
        }
    }
}

EXI_KERNEL void solve_up_4(const double *restrict panel, size_t ld, int columns, double *restrict x) {
    for (int j = columns - 1; j >= 0; j--) {
        const double *column = panel + (size_t)j * ld;
        const exi_pair scale = exi_pair_fill(column[j]);
        exi_pair x0 = exi_pair_load(x + 4 * j), x1 = exi_pair_load(x + 4 * j + 2);
        for (int i = j + 1; i < columns; i++) {
            const exi_pair l = exi_pair_fill(column[i]);
            x0 = exi_pair_subtract_product(x0, exi_pair_load(x + 4 * i), l);
            x1 = exi_pair_subtract_product(x1, exi_pair_load(x + 4 * i + 2), l);
        }
        exi_pair_store(x + 4 * j, exi_pair_multiply(x0, scale));
        exi_pair_store(x + 4 * j + 2, exi_pair_multiply(x1, scale));
    }
}

static void solve_down_1(const double *restrict panel, size_t ld, int columns, double *restrict x) {
    for (int j = 0; j < columns; j++) {
        const double *column = panel + (size_t)j * ld;
        x[j] *= column[j];
        for (int i = j + 1; i < columns; i++)
            x[i] = exi_multiply_add(-column[i], x[j], x[i]);
    }
}

static void solve_up_1(const double *restrict panel, size_t ld, int columns, double *restrict x) {
    for (int j = columns - 1; j >= 0; j--) {
        const double *column = panel + (size_t)j * ld;
        for (int i = j + 1; i < columns; i++)
            x[j] = exi_multiply_add(-column[i], x[i], x[j]);
        x[j] *= column[j];
    }
}

/* All columns of a piece, block by block. width is a constant where this is called. */
EXI_KERNEL void push_all_down(piece p, int columns, const double *x, double *y, int width) {
    for (int count; columns > 0; columns -= count) {
        count = columns < BLOCK ? columns : BLOCK;
        switch (count) {
        case 8:
            push_down(p, x, y, width, 8);
            break;
        case 7:
            push_down(p, x, y, width, 7);
            break;
        case 6:
            push_down(p, x, y, width, 6);
            break;
        case 5:
            push_down(p, x, y, width, 5);
            break;
        case 4:
            push_down(p, x, y, width, 4);
            break;
        case 3:
            push_down(p, x, y, width, 3);
            break;
        case 2:
            push_down(p, x, y, width, 2);
            break;
        default:
            push_down(p, x, y, width, 1);
            break;
        }
        p.panel += (size_t)count * p.ld;
        x += count * width;
    }
}

EXI_KERNEL void pull_all_up(piece p, int columns, double *x, const double *y, int width) {
    for (int count; columns > 0; columns -= count) {
        count = columns < BLOCK ? columns : BLOCK;
        switch (count) {
        case 8:
            pull_up(p, x, y, width, 8);
            break;
        case 7:
            pull_up(p, x, y, width, 7);
            break;
        case 6:
            pull_up(p, x, y, width, 6);
            break;
        case 5:
            pull_up(p, x, y, width, 5);
            break;
        case 4:
            pull_up(p, x, y, width, 4);
            break;
        case 3:
            pull_up(p, x, y, width, 3);
            break;
        case 2:
            pull_up(p, x, y, width, 2);
            break;
        default:
            pull_up(p, x, y, width, 1);
            break;
        }
        p.panel += (size_t)count * p.ld;
        x += count * width;
    }
}

EXI_KERNEL void substitute_down(const exi_factor *f, double *y, int width) {
    for (int s = 0; s < f->supernode_count; s++) {
        const int columns = exi_column_count(f, s), below = exi_below_count(f, s);
        const size_t ld = (size_t)(columns + below);
        const double *panel = f->values + f->value_starts[s];
        double *x = y + (size_t)f->firsts[s] * (size_t)width;
        if (width == 4)
            solve_down_4(panel, ld, columns, x);
        else
            solve_down_1(panel, ld, columns, x);
        push_all_down((piece){panel + columns, ld, f->rows + f->row_starts[s], below}, columns, x, y, width);
    }
}

EXI_KERNEL void substitute_up(const exi_factor *f, double *y, int width) {
    for (int s = f->supernode_count - 1; s >= 0; s--) {
        const int columns = exi_column_count(f, s), below = exi_below_count(f, s);
        const size_t ld = (size_t)(columns + below);
        const double *panel = f->values + f->value_starts[s];
        double *x = y + (size_t)f->firsts[s] * (size_t)width;
        pull_all_up((piece){panel + columns, ld, f->rows + f->row_starts[s], below}, columns, x, y, width);
        if (width == 4)
            solve_up_4(panel, ld, columns, x);
        else
            solve_up_1(panel, ld, columns, x);
    }
}

size_t exi_factor_work_size(const exi_factor *factor) {
    return (factor->n > 0 ? (size_t)factor->n : 1) * 4 * sizeof(double);
}

void exi_factor_solve(const exi_factor *factor, double *x, double *work) {
    if (!factor || !factor->good || !x || !work) {
        exi_misuse(__func__, "no factor, one that was not factorised, or no numbers");
        return;
    }
    for (int k = 0; k < factor->n; k++) {
        const double *from = x + 3 * (size_t)factor->order[k];
        double *to = work + 4 * (size_t)k;
        to[0] = from[0];
        to[1] = from[1];
        to[2] = from[2];
        to[3] = 0;
    }
    substitute_down(factor, work, 4);
    substitute_up(factor, work, 4);
    for (int k = 0; k < factor->n; k++)
        for (int c = 0; c < 3; c++)
            x[3 * (size_t)factor->order[k] + (size_t)c] = work[4 * (size_t)k + (size_t)c];
}

void exi_factor_solve_1(const exi_factor *factor, double *x, double *work) {
    if (!factor || !factor->good || !x || !work) {
        exi_misuse(__func__, "no factor, one that was not factorised, or no numbers");
        return;
    }
    for (int k = 0; k < factor->n; k++)
        work[k] = x[factor->order[k]];
    substitute_down(factor, work, 1);
    substitute_up(factor, work, 1);
    for (int k = 0; k < factor->n; k++)
        x[factor->order[k]] = work[k];
}
