/*
 * Principal forms of all frames from those of each reference. Reference i has n used frames with forms m_i + B_i^T c_t
 * and what is left, which is orthogonal to B_i and small. With c' and C_i the mean and the scatter of their
 * coefficients, and m the mean of all frames, the scatter of all forms is
 *
 *     sum over i of  B_i^T C_i B_i  +  n (m_i' - m)(m_i' - m)^T,    m_i' = m_i + B_i^T c',    C_i = F_i^T F_i.
 *
 * So its principal directions are those of the rows of all F_i B_i and of sqrt(n) (m_i' - m), which are as few as there
 * are principal forms: nothing is truncated, and the order of references does not count beyond rounding. Coefficients
 * are B (m_i - m) + (B B_i^T) c_t.
 */
#include "author/base/array.h"
#include "author/drive/motion/drive_motion.h"
#include "author/drive/motion/motion_finding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Means and scatter of the used frames of a reference. */
typedef struct piece {
    size_t rows, first; /* rows of its forms; the first of its rows among all */
    double count;       /* used frames */
    float *mean;        /* [numbers]: m_i' - m */
    double *centre;     /* [rows]: c' */
    double *factor;     /* [rows][rows]: F */
} piece;

typedef struct merging {
    exi_motion_learner *l;
    size_t numbers, row_count;
    piece *pieces; /* [references] */
    float *held;   /* [row_count][numbers] if that fits in memory, or NULL */
} merging;

static const double *coefficients_of(const exi_motion_learner *l, int i) {
    const exi_motion_part *part = &l->parts[l->homes[i]];
    return part->coefficients + (size_t)l->frames[i] * (size_t)part->row_count;
}

/* ---- scatter ---- */

/* Means and scatters of coefficients over used frames; scatters are put where factors will be. */
static void add_frames(merging *m) {
    const exi_motion_learner *l = m->l;
    for (int i = 0; i < l->frame_count; i++) {
        piece *p = &m->pieces[l->homes[i]];
        const double *c = coefficients_of(l, i);
        p->count++;
        for (size_t r = 0; r < p->rows; r++)
            p->centre[r] += c[r];
    }
    for (int i = 0; i < l->refs.count; i++)
        for (size_t r = 0; r < m->pieces[i].rows; r++)
            m->pieces[i].centre[r] /= m->pieces[i].count > 0 ? m->pieces[i].count : 1;
    for (int i = 0; i < l->frame_count; i++) {
        piece *p = &m->pieces[l->homes[i]];
        const double *c = coefficients_of(l, i);
        for (size_t r = 0; r < p->rows; r++)
            for (size_t s = 0; s < p->rows; s++)
                p->factor[r * p->rows + s] += (c[r] - p->centre[r]) * (c[s] - p->centre[s]);
    }
}

/* F from C = V^T D V, V orthogonal: rows of V times the square roots of D. */
static bool factorise(piece *p) {
    const size_t n = p->rows;
    double *vectors = exi_array_allocate(n * n, sizeof *vectors);
    if (!vectors)
        return false;
    exi_motion_diagonalise(p->factor, (int)n, vectors);
    for (size_t r = 0; r < n; r++) {
        const double value = p->factor[r * n + r], root = value > 0 ? sqrt(value) : 0;
        for (size_t s = 0; s < n; s++)
            vectors[r * n + s] *= root;
    }
    free(p->factor);
    p->factor = vectors;
    return true;
}

/* The mean of all frames, and the differences of the references' means from it. */
static void find_means(merging *m, double *sum) {
    exi_motion_learner *l = m->l;
    for (int i = 0; i < l->refs.count; i++) {
        const exi_motion_part *part = &l->parts[i];
        piece *p = &m->pieces[i];
        memcpy(p->mean, part->mean, m->numbers * sizeof *p->mean);
        for (size_t r = 0; r < p->rows; r++)
            exi_motion_add(p->mean, part->basis + r * m->numbers, p->centre[r], m->numbers);
        for (size_t k = 0; k < m->numbers; k++)
            sum[k] += p->count * (double)p->mean[k];
    }
    for (size_t k = 0; k < m->numbers; k++)
        l->mean[k] = (float)(sum[k] / l->frame_count);
    for (int i = 0; i < l->refs.count; i++)
        for (size_t k = 0; k < m->numbers; k++)
            m->pieces[i].mean[k] -= l->mean[k];
}

/* ---- rows ---- */

/* Row of F_i B_i, or the last of a reference: sqrt(n) (m_i' - m). */
static void make_row(const merging *m, size_t row, float *out) {
    int i = 0;
    while (i + 1 < m->l->refs.count && row >= m->pieces[i + 1].first)
        i++;
    const piece *p = &m->pieces[i];
    const size_t r = row - p->first;
    memset(out, 0, m->numbers * sizeof *out);
    if (r == p->rows)
        exi_motion_add(out, p->mean, sqrt(p->count), m->numbers);
    for (size_t s = 0; r < p->rows && s < p->rows; s++)
        exi_motion_add(out, m->l->parts[i].basis + s * m->numbers, p->factor[r * p->rows + s], m->numbers);
}

static const float *get_row(const void *user, size_t row, float *room) {
    const merging *m = user;
    if (m->held)
        return m->held + row * m->numbers;
    make_row(m, row, room);
    return room;
}

/* ---- coefficients ---- */

/* Projections of a reference's forms: onto the basis, and onto m_i - m. */
typedef struct projection {
    double *turns;  /* [basis rows][rows of the reference]: B B_i^T */
    double *shift;  /* [basis rows]: B (m_i - m) */
    double *slopes; /* [rows of the reference]: B_i (m_i - m) */
    double square;  /* |m_i - m|^2 */
} projection;

static void project(const merging *m, const exi_motion_finding *f, int reference, projection *to, float *form) {
    const exi_motion_part *part = &m->l->parts[reference];
    const size_t rows = (size_t)part->row_count;
    for (size_t k = 0; k < m->numbers; k++)
        form[k] = part->mean[k] - m->l->mean[k];
    to->square = exi_motion_dot(form, form, m->numbers);
    exi_motion_project(f->basis, (size_t)f->rows, form, m->numbers, to->shift, m->l->def->tasks);
    exi_motion_project(part->basis, rows, form, m->numbers, to->slopes, m->l->def->tasks);
    for (int b = 0; b < f->rows; b++)
        exi_motion_project(part->basis, rows, f->basis + (size_t)b * m->numbers, m->numbers,
                           to->turns + (size_t)b * rows, m->l->def->tasks);
}

/* The coefficients of frames of one reference. */
static void turn_frames(const merging *m, exi_motion_finding *f, int reference, const projection *by) {
    const exi_motion_learner *l = m->l;
    const exi_motion_part *part = &l->parts[reference];
    const size_t rows = (size_t)part->row_count;
    for (int i = 0; i < l->frame_count; i++) {
        if (l->homes[i] != reference)
            continue;
        const double *from = coefficients_of(l, i);
        double *to = f->coefficients + (size_t)i * (size_t)f->rows;
        for (size_t b = 0; b < (size_t)f->rows; b++) {
            to[b] = by->shift[b];
            for (size_t r = 0; r < rows; r++)
                to[b] += by->turns[b * rows + r] * from[r];
        }
        f->left += by->square + part->left[l->frames[i]];
        for (size_t r = 0; r < rows; r++)
            f->left += (2 * by->slopes[r] + from[r]) * from[r];
        exi_motion_add_frame(f, to);
    }
}

static ex_result find_coefficients(const merging *m, exi_motion_finding *f) {
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < m->l->refs.count; i++) {
        const size_t rows = m->pieces[i].rows, basis = (size_t)f->rows;
        projection p = {.turns = exi_array_allocate(basis * rows, sizeof(double)),
                        .shift = exi_array_allocate(basis, sizeof(double)),
                        .slopes = exi_array_allocate(rows, sizeof(double))};
        float *form = exi_array_allocate(m->numbers, sizeof *form);
        if (p.turns && p.shift && p.slopes && form) {
            project(m, f, i, &p, form);
            turn_frames(m, f, i, &p);
            result = exi_motion_tell(m->l, "finding forms", 0.7 + 0.3 * (i + 1) / m->l->refs.count);
        } else {
            result = ex_error_memory(m->l->error, "forms", basis * rows * sizeof(double));
        }
        free(p.turns);
        free(p.shift);
        free(p.slopes);
        free(form);
    }
    return result;
}

/* ---- entry point ---- */

static ex_result open_merging(merging *m) {
    const exi_motion_learner *l = m->l;
    bool room = m->pieces != NULL;
    for (int i = 0; room && i < l->refs.count; i++) {
        piece *p = &m->pieces[i];
        p->rows = (size_t)l->parts[i].row_count;
        p->first = m->row_count;
        m->row_count += p->rows + 1;
        p->mean = exi_array_allocate(m->numbers, sizeof *p->mean);
        p->centre = calloc(p->rows, sizeof *p->centre);
        p->factor = calloc(p->rows * p->rows, sizeof *p->factor);
        room = p->mean && p->centre && p->factor;
    }
    double *sum = room ? calloc(m->numbers, sizeof *sum) : NULL;
    room = room && sum;
    if (room) {
        add_frames(m);
        find_means(m, sum);
    }
    for (int i = 0; room && i < l->refs.count; i++)
        room = factorise(&m->pieces[i]);
    free(sum);
    if (room && m->row_count <= l->memory / (m->numbers * sizeof(float))) {
        m->held = exi_array_allocate(m->row_count * m->numbers, sizeof *m->held);
        room = m->held != NULL;
    }
    for (size_t r = 0; m->held && r < m->row_count; r++)
        make_row(m, r, m->held + r * m->numbers);
    return room ? EX_OK : ex_error_memory(l->error, "forms", m->numbers * sizeof(double));
}

ex_result exi_motion_merge(exi_motion_learner *l, exi_motion_finding *f) {
    merging m = {.l = l, .numbers = f->numbers, .pieces = calloc((size_t)l->refs.count, sizeof *m.pieces)};
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < l->refs.count; i++) {
        l->part = i;
        result = exi_gather_reduce(&l->gather, i, &l->parts[i]);
    }
    if (result == EX_OK)
        result = open_merging(&m);
    const exi_motion_rows rows = {.count = m.row_count, .length = f->numbers, .get = get_row, .user = &m};
    if (result == EX_OK)
        result = exi_motion_find_basis(l, f, &rows);
    if (result == EX_OK)
        result = find_coefficients(&m, f);
    for (int i = 0; m.pieces && i < l->refs.count; i++) {
        free(m.pieces[i].mean);
        free(m.pieces[i].centre);
        free(m.pieces[i].factor);
    }
    free(m.pieces);
    free(m.held);
    return result;
}
