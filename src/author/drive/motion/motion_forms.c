/*
 * Principal forms of the driven mesh in the moving frames of its driver: orthonormal rows f_i that hold most of the
 * variance of u_t - mean, where u_t is the form of frame t, un-posed (motion_rows.c). If all references keep their
 * forms and these fit in memory, from the forms. Else from principal forms of each reference (motion_merge.c).
 */
#include "author/base/array.h"
#include "author/drive/motion/drive_motion.h"
#include "author/drive/motion/motion_finding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* HELD: frames that are held in memory, at most. SPARE: rows beside those wanted, so that the last ones converge.
 * ITERATIONS: over the rows. */
enum { HELD = 1500, SPARE = 8, ITERATIONS = 6 };

ex_result exi_motion_form(const exi_motion_learner *l, int i, float *form) {
    const int part = l->homes[i];
    return exi_gather_form(&l->gather, part, &l->parts[part], l->frames[i], form);
}

/* Tells how far the principal forms are. */
typedef struct telling {
    exi_motion_learner *learner;
    ex_result result;
} telling;

static bool tell_part(void *user, double part) {
    telling *t = user;
    t->result = exi_motion_tell(t->learner, "finding forms", 0.4 + 0.3 * part);
    return t->result == EX_OK;
}

ex_result exi_motion_find_basis(exi_motion_learner *l, exi_motion_finding *f, const exi_motion_rows *rows) {
    telling told = {.learner = l, .result = EX_OK};
    const exi_motion_watch watch = {tell_part, &told};
    if (exi_motion_principal_rows(rows, ITERATIONS, f->rows, f->basis, &watch, l->def->tasks))
        return EX_OK;
    return told.result != EX_OK ? told.result
                                : ex_error_memory(l->error, "forms", (size_t)f->rows * f->numbers * sizeof(float));
}

void exi_motion_add_frame(exi_motion_finding *f, const double *c) {
    const size_t rows = (size_t)f->rows;
    for (size_t r = 0; r < rows; r++)
        for (size_t s = 0; s < rows; s++)
            f->products[r * rows + s] += c[r] * c[s];
}

/* From the forms of all frames. */
static ex_result find_from_forms(exi_motion_learner *l, exi_motion_finding *f) {
    const size_t frames = (size_t)l->frame_count;
    float *data = exi_array_allocate(frames * f->numbers, sizeof *data);
    float *form = exi_array_allocate(f->numbers, sizeof *form);
    double *sum = calloc(f->numbers, sizeof *sum);
    ex_result result =
        data && form && sum ? EX_OK : ex_error_memory(l->error, "forms", frames * f->numbers * sizeof *data);
    for (int i = 0; result == EX_OK && i < l->frame_count; i++) {
        float *to = data + (size_t)i * f->numbers;
        result = exi_motion_form(l, i, to);
        for (size_t k = 0; result == EX_OK && k < f->numbers; k++)
            sum[k] += (double)to[k];
        if (result == EX_OK)
            result = exi_motion_tell(l, "reading clothes", 0.4 * (i + 1) / l->frame_count);
    }
    for (size_t k = 0; result == EX_OK && k < f->numbers; k++)
        l->mean[k] = (float)(sum[k] / l->frame_count);
    const exi_motion_table table = {.data = data, .mean = l->mean, .length = f->numbers};
    const exi_motion_rows rows = exi_motion_rows_of(&table, frames);
    if (result == EX_OK)
        result = exi_motion_find_basis(l, f, &rows);
    for (int i = 0; result == EX_OK && i < l->frame_count; i++) {
        double *c = f->coefficients + (size_t)i * (size_t)f->rows;
        for (size_t k = 0; k < f->numbers; k++) {
            form[k] = data[(size_t)i * f->numbers + k] - l->mean[k];
            f->left += (double)form[k] * (double)form[k];
        }
        exi_motion_project(f->basis, (size_t)f->rows, form, f->numbers, c, l->def->tasks);
        exi_motion_add_frame(f, c);
        result = exi_motion_tell(l, "finding forms", 0.7 + 0.3 * (i + 1) / l->frame_count);
    }
    free(data);
    free(form);
    free(sum);
    return result;
}

/* Turns forms and coefficients, and takes those that are wanted. */
static ex_result take_forms(exi_motion_learner *l, exi_motion_finding *f) {
    const size_t rows = (size_t)f->rows;
    if (!exi_motion_align(f->products, f->rows, f->basis, f->numbers, f->coefficients, (size_t)l->frame_count))
        return ex_error_memory(l->error, "forms", rows * rows * sizeof(double));
    for (int i = 0; i < l->frame_count; i++)
        for (int k = 0; k < l->form_count; k++) {
            const double c = f->coefficients[(size_t)i * rows + (size_t)k];
            l->coefficients[(size_t)i * (size_t)l->form_count + (size_t)k] = c;
            f->left -= c * c;
        }
    memcpy(l->forms, f->basis, (size_t)l->form_count * f->numbers * sizeof *l->forms);
    l->form_square = f->left > 0 ? f->left / ((double)l->frame_count * l->refs.driven_count) : 0;
    return EX_OK;
}

/* True if the forms of all frames are kept and fit in memory. */
static bool are_few(const exi_motion_learner *l, size_t numbers) {
    const size_t fit = l->memory / (numbers * sizeof(float));
    bool few = l->frame_count <= HELD && (size_t)l->frame_count <= fit;
    for (int i = 0; i < l->refs.count; i++)
        few &= !l->parts[i].reduced;
    return few;
}

ex_result exi_motion_find_forms(exi_motion_learner *l) {
    exi_motion_finding f = {.numbers = 3 * (size_t)l->refs.driven_count};
    const int wanted = l->def->form_count;
    l->form_count = wanted < l->frame_count ? wanted : l->frame_count;
    f.rows = l->form_count + SPARE < l->frame_count ? l->form_count + SPARE : l->frame_count;
    const size_t rows = (size_t)f.rows, frames = (size_t)l->frame_count;
    f.basis = exi_array_allocate(rows * f.numbers, sizeof(float));
    f.coefficients = exi_array_allocate(frames * rows, sizeof(double));
    f.products = calloc(rows * rows, sizeof(double));
    l->mean = exi_array_allocate(f.numbers, sizeof(float));
    l->forms = exi_array_allocate((size_t)l->form_count * f.numbers, sizeof(float));
    l->coefficients = exi_array_allocate(frames * (size_t)l->form_count, sizeof(double));
    ex_result result = f.basis && f.coefficients && f.products && l->mean && l->forms && l->coefficients
                           ? EX_OK
                           : ex_error_memory(l->error, "forms", 2 * rows * f.numbers * sizeof(float));
    if (result == EX_OK)
        result = are_few(l, f.numbers) ? find_from_forms(l, &f) : exi_motion_merge(l, &f);
    if (result == EX_OK)
        result = take_forms(l, &f);
    free(f.basis);
    free(f.coefficients);
    free(f.products);
    return result;
}
