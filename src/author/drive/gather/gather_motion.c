/*
 * A reference as learning from motion needs it: the moving frames of the driver in every frame, from which its states
 * follow; and the forms of the driven mesh, un-posed. Few forms are kept as they are. Many, u_t, are reduced to
 *
 *     u_t = mean + sum over k of c_tk b_k + rest_t,    c_tk = b_k (u_t - mean),
 *
 * with more than twice as many principal forms b_k as will be learned, so that the rest hardly counts: its squared
 * length is kept too. Principal forms are found from evenly spread frames that fit in memory; the coefficients of all
 * kept frames in a second pass, if those are not all.
 */
#include "author/drive/gather/gather.h"

#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/drive/motion/motion_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* HELD: forms that are held in memory, at most. MORE: principal forms beside twice those wanted. ITERATIONS: over the
 * forms held; few are enough, since the last principal forms need not be exact. */
enum { HELD = 1500, MORE = 16, ITERATIONS = 3 };

void exi_motion_part_free(exi_motion_part *part) {
    for (int i = 0; i < part->owned_count; i++)
        free(part->owned[i]);
    *part = (exi_motion_part){.frame_count = 0};
}

/* Memory that is released with the part. */
static void *own(exi_motion_part *part, size_t count, size_t size) {
    void *memory = exi_array_allocate(count, size);
    if (memory)
        part->owned[part->owned_count++] = memory;
    return memory;
}

static ex_result tell(const exi_gather_motion *how, const char *doing, double part) {
    return !how->watch || how->watch->go_on(how->watch->user, doing, part) ? EX_OK : exi_progress_stopped(how->error);
}

static size_t count_numbers(const exi_gather_motion *how) {
    return 3 * (size_t)how->refs->driven_count;
}

/* ---- forms ---- */

/* Un-poses the driven form that was read, for the moving frames of the driver form that was read. */
static void unpose(const exi_gather_motion *how, float *form) {
    const size_t numbers = count_numbers(how);
    exi_moving_frames_place(how->carrier, how->driver_form, NULL, NULL);
    exi_moving_frames_unpose(how->carrier, how->driven_form, how->driver_form);
    for (size_t i = 0; i < numbers; i++)
        form[i] = (float)(how->carrier->unposed[i] - (double)how->mesh[i]);
}

ex_result exi_gather_form(const exi_gather_motion *how, int reference, const exi_motion_part *part, int kept,
                          float *form) {
    const size_t numbers = count_numbers(how), rows = (size_t)part->row_count;
    if (part->reduced) {
        memcpy(form, part->mean, numbers * sizeof *form);
        for (size_t r = 0; r < rows; r++)
            exi_motion_add(form, part->basis + r * numbers, part->coefficients[(size_t)kept * rows + r], numbers);
        return EX_OK;
    }
    if (part->forms) {
        memcpy(form, part->forms + (size_t)kept * numbers, numbers * sizeof *form);
        return EX_OK;
    }
    const int frame = how->refs->items[reference].first + kept * part->stride;
    const ex_result result = exi_references_read(how->refs, frame, how->driver_form, how->driven_form, how->error);
    if (result == EX_OK)
        unpose(how, form);
    return result;
}

/* ---- reducing ---- */

typedef struct reducing {
    const exi_gather_motion *how;
    int reference;
    const exi_motion_part *from; /* where forms come from */
    exi_motion_part *to;
    int held; /* forms in memory, evenly spread over the kept ones */
    size_t numbers, rows;
    float *data; /* [held][numbers] */
    float *form;
    float *mean, *basis;
    double *coefficients, *left, *sum;
} reducing;

/* Number of forms to hold. */
static int count_held(const exi_gather_motion *how, int kept, int rows) {
    const size_t fit = how->memory / (count_numbers(how) * sizeof(float));
    const int most = fit < HELD ? (int)fit : HELD;
    return kept <= most ? kept : most > rows ? most : rows;
}

static int count_rows(const exi_gather_motion *how, int kept) {
    const int rows = 2 * how->form_count + MORE;
    return rows < kept ? rows : kept;
}

static int held_form(const reducing *r, int i) {
    return (int)((int64_t)i * r->to->kept_count / r->held);
}

typedef struct telling {
    const exi_gather_motion *how;
    ex_result result;
} telling;

static bool tell_part(void *user, double part) {
    telling *t = user;
    t->result = tell(t->how, "finding forms", 0.5 + 0.15 * part);
    return t->result == EX_OK;
}

static ex_result find_principal(reducing *r) {
    memset(r->sum, 0, r->numbers * sizeof *r->sum);
    for (int i = 0; i < r->held; i++)
        for (size_t k = 0; k < r->numbers; k++)
            r->sum[k] += (double)r->data[(size_t)i * r->numbers + k];
    for (size_t k = 0; k < r->numbers; k++)
        r->mean[k] = (float)(r->sum[k] / r->held);
    telling told = {.how = r->how, .result = EX_OK};
    const exi_motion_watch watch = {tell_part, &told};
    const exi_motion_table table = {.data = r->data, .mean = r->mean, .length = r->numbers};
    const exi_motion_rows rows = exi_motion_rows_of(&table, (size_t)r->held);
    if (exi_motion_principal_rows(&rows, ITERATIONS, (int)r->rows, r->basis, &watch, r->how->tasks))
        return EX_OK;
    return told.result != EX_OK ? told.result : ex_error_memory(r->how->error, "forms", r->rows * r->numbers * 4);
}

/* Coefficients of all kept forms, and what is left of each. */
static ex_result project_all(reducing *r) {
    const int kept = r->to->kept_count;
    const bool all = r->held == kept;
    memset(r->sum, 0, r->numbers * sizeof *r->sum);
    for (int i = 0; i < kept; i++) {
        double *c = r->coefficients + (size_t)i * r->rows, left = 0;
        ex_result result = EX_OK;
        if (all)
            memcpy(r->form, r->data + (size_t)i * r->numbers, r->numbers * sizeof *r->form);
        else
            result = exi_gather_form(r->how, r->reference, r->from, i, r->form);
        if (result == EX_OK)
            result = tell(r->how, "reading clothes", 0.65 + 0.35 * (i + 1) / kept);
        if (result != EX_OK)
            return result;
        for (size_t k = 0; k < r->numbers; k++) {
            r->sum[k] += (double)r->form[k];
            r->form[k] -= r->mean[k];
            left += (double)r->form[k] * (double)r->form[k];
        }
        exi_motion_project(r->basis, r->rows, r->form, r->numbers, c, r->how->tasks);
        for (size_t k = 0; k < r->rows; k++)
            left -= c[k] * c[k];
        r->left[i] = left > 0 ? left : 0;
    }
    return EX_OK;
}

/* Moves the mean to that of all kept forms. With d its change, of which the rows do not hold e, coefficients lose B d,
 * and what is left of the forms loses |e|^2 in the mean. */
static void centre(reducing *r) {
    const int kept = r->to->kept_count;
    double outside = 0;
    for (size_t k = 0; k < r->numbers; k++) {
        const float mean = (float)(r->sum[k] / kept);
        r->form[k] = mean - r->mean[k];
        outside += (double)r->form[k] * (double)r->form[k];
        r->mean[k] = mean;
    }
    for (size_t b = 0; b < r->rows; b++) {
        const double change = exi_motion_dot(r->basis + b * r->numbers, r->form, r->numbers);
        outside -= change * change;
        for (int i = 0; i < kept; i++)
            r->coefficients[(size_t)i * r->rows + b] -= change;
    }
    for (int i = 0; outside > 0 && i < kept; i++)
        r->left[i] = r->left[i] > outside ? r->left[i] - outside : 0;
}

/* Opens with forms to be held in r->data; their number is r->held. */
static ex_result open_reducing(reducing *r) {
    exi_motion_part *to = r->to;
    r->numbers = count_numbers(r->how);
    to->row_count = count_rows(r->how, to->kept_count);
    r->rows = (size_t)to->row_count;
    r->held = count_held(r->how, to->kept_count, to->row_count);
    r->data = exi_array_allocate((size_t)r->held * r->numbers, sizeof *r->data);
    r->form = exi_array_allocate(r->numbers, sizeof *r->form);
    r->sum = exi_array_allocate(r->numbers, sizeof *r->sum);
    to->mean = r->mean = own(to, r->numbers, sizeof *r->mean);
    to->basis = r->basis = own(to, r->rows * r->numbers, sizeof *r->basis);
    to->coefficients = r->coefficients = own(to, (size_t)to->kept_count * r->rows, sizeof *r->coefficients);
    to->left = r->left = own(to, (size_t)to->kept_count, sizeof *r->left);
    return r->data && r->form && r->sum && r->mean && r->basis && r->coefficients && r->left
               ? EX_OK
               : ex_error_memory(r->how->error, "forms", ((size_t)r->held + r->rows) * r->numbers * 4);
}

static ex_result finish(reducing *r) {
    ex_result result = find_principal(r);
    if (result == EX_OK && r->held < r->to->kept_count) {
        free(r->data);
        r->data = NULL;
    }
    if (result == EX_OK)
        result = project_all(r);
    if (result == EX_OK && r->held < r->to->kept_count)
        centre(r);
    return result;
}

static void close_reducing(reducing *r) {
    free(r->data);
    free(r->form);
    free(r->sum);
}

ex_result exi_gather_reduce(const exi_gather_motion *how, int reference, exi_motion_part *part) {
    const exi_motion_part from = *part;
    reducing r = {.how = how, .reference = reference, .from = &from, .to = part};
    if (part->reduced)
        return EX_OK;
    ex_result result = open_reducing(&r);
    for (int i = 0; result == EX_OK && i < r.held; i++) {
        result = exi_gather_form(how, reference, &from, held_form(&r, i), r.data + (size_t)i * r.numbers);
        if (result == EX_OK)
            result = tell(how, "reading clothes", 0.5 * (i + 1) / r.held);
    }
    if (result == EX_OK)
        result = finish(&r);
    part->reduced = true;
    close_reducing(&r);
    return result;
}

/* ---- moving frames ---- */

/* The first pass: moving frames of all frames; and forms that are kept or held, the next of them at index *next. */
typedef struct passing {
    double *times;
    float *matrices, *sizes;
    float *forms;    /* room for forms, or NULL */
    reducing *holds; /* which of them are wanted; NULL: all kept ones */
    int next;
} passing;

static bool wants(const passing *p, const exi_motion_part *part, int frame) {
    if (!p->forms || frame % part->stride != 0)
        return false;
    return !p->holds || (p->next < p->holds->held && held_form(p->holds, p->next) == frame / part->stride);
}

static ex_result pass_frame(const exi_gather_motion *how, int reference, const exi_motion_part *part, passing *p,
                            int f) {
    const size_t moving = (size_t)part->moving_count;
    const int frame = how->refs->items[reference].first + f;
    const bool wanted = wants(p, part, f);
    const ex_result result =
        exi_references_read(how->refs, frame, how->driver_form, wanted ? how->driven_form : NULL, how->error);
    if (result != EX_OK)
        return result;
    p->times[f] = exi_references_time(how->refs, frame);
    ex_driver_place(how->carrier->driver, how->driver_form, p->matrices + 12 * moving * (size_t)f);
    ex_driver_sizes(how->carrier->driver, how->driver_form, p->sizes + moving * (size_t)f);
    if (wanted)
        unpose(how, p->forms + (size_t)p->next++ * count_numbers(how));
    return EX_OK;
}

ex_result exi_gather_part(const exi_gather_motion *how, int reference, bool forms, exi_motion_part *part) {
    const int count = how->refs->items[reference].used_count;
    const size_t frames = (size_t)count, numbers = count_numbers(how);
    const int stride = (count - 1) / EXI_GATHER_LEARNED + 1;
    *part = (exi_motion_part){.frame_count = count,
                              .moving_count = how->plan->driver.driver.frame_count,
                              .stride = stride,
                              .kept_count = (count - 1) / stride + 1};
    const size_t moving = (size_t)part->moving_count;
    passing p = {.times = own(part, frames, sizeof *p.times),
                 .matrices = own(part, frames * moving, 12 * sizeof *p.matrices),
                 .sizes = own(part, frames * moving, sizeof *p.sizes)};
    reducing r = {.how = how, .reference = reference, .from = part, .to = part};
    ex_result result = p.times && p.matrices && p.sizes
                           ? EX_OK
                           : ex_error_memory(how->error, "the moving frames", frames * (moving * 52 + 8));
    const bool few = part->kept_count <= EXI_GATHER_SPREAD &&
                     (size_t)part->kept_count <= EXI_GATHER_FORMS / (numbers * sizeof(float));
    if (result == EX_OK && few && forms) {
        part->forms = p.forms = own(part, (size_t)part->kept_count * numbers, sizeof *p.forms);
        result = p.forms ? EX_OK : ex_error_memory(how->error, "forms", (size_t)part->kept_count * numbers * 4);
    }
    if (result == EX_OK && !few) {
        result = open_reducing(&r);
        p.forms = r.data;
        p.holds = &r;
    }
    for (int f = 0; result == EX_OK && f < count; f++) {
        result = pass_frame(how, reference, part, &p, f);
        if (result == EX_OK)
            result = tell(how, "reading motion", (few ? 1.0 : 0.5) * (f + 1) / count);
    }
    part->times = p.times;
    part->matrices = p.matrices;
    part->sizes = p.sizes;
    if (result == EX_OK && !few)
        result = finish(&r);
    part->reduced = !few;
    close_reducing(&r);
    return result;
}
