/*
 * Mixtures that are as rigid as possible over the whole simplex of weights.
 *
 * Nodes (mixture_nodes.c) carry the mesh: their rotations are blended in the group, and their places follow. What they
 * leave is taken up by correctors, x(s) = carried(s) + sum over j of b_j(s) c_j, with curves b_j over the simplex of
 * shares. As with paths between two forms, the curves come from the motion itself. At the samples of the plan
 * (mixture_plan.c) rigid forms are made; r is what the nodes leave of them. With the weight W = 1 / (stretch of the
 * rigid form), since that is what paths are measured by, the curves leave the smallest sum of squared gradients of W r.
 * There are as many of them as leave no more than ENOUGH of the rigid form's stretch (mixture_curves.c).
 *
 * The c_j then minimise the energy of the rigid forms over all samples at once, sum W^2 E(x(s)), by the same local and
 * global steps: with g the pull of triangles and links at a sample, L dc_j = sum over samples of B_j W g, where B_j = W
 * b_j are orthonormal over the samples. That is one solve for a corrector with the factor that all examples share.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/trajectory/mixture/mixture.h"
#include "author/trajectory/surface.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#define FLOOR        0.0005 /* of stretch: less is not seen */
#define ENOUGH       0.15   /* of the rigid form's 99th percentile of stretch, root mean square of what curves leave */
#define FEW_STEPS    10     /* for the rigid forms that the curves are taken from */
#define STEPS        20     /* for correctors */
#define BATCH        16     /* samples at a time; half as many of large meshes, since each takes memory */
#define LARGE        100000 /* triangles */
#define NUMBERS      4096   /* of correctors that a task sums */
#define LOOKED_AT    4096   /* triangles that the curves are taken from */
#define NUMBERS_MOST 400000000  /* of correctors while they are fitted */
#define GOALS_MOST   0x10000000 /* bytes of goals that are kept from step to step */

typedef struct worker {
    exi_mixed mixed;
    double *form; /* [vertex_count][3] */
    double *work; /* exi_between_work_size, then exi_mixer_work_size */
    bool failed;  /* for lack of memory */
} worker;

typedef struct fitting {
    const ex_trajectories_def *def;
    const ex_betweens *betweens;
    const ex_between *first;
    bool alone; /* one example besides the reference: correctors do without nodes */
    ex_mixture *mixture;
    exi_mixer *mixer;
    exi_plan plan;
    worker workers[BATCH];
    int batch_size;
    int batch;          /* first sample of the present batch */
    float *carried;     /* [sample_count][vertex_count][3]: the forms that the nodes carry */
    float *residuals;   /* the same of r */
    exi_goal *goals;    /* [sample_count][groups of triangles], if there are few enough, else NULL */
    double *weights;    /* [sample_count]: W */
    double (*rigid)[4]; /* [sample_count]: percentiles of the rigid forms' stretch */
    double (*found)[4]; /* of the paths' */

    int step, looked_at; /* every step-th triangle is looked at; their number */
    exi_curves curves;

    int count; /* correctors */
    /* [count][vertex_count][3] each: c after a step, before it, its start, and the pull */
    double *now, *last, *at, *sum;
} fitting;

static ex_result tell(const fitting *f, double done, ex_error *error) {
    return exi_progress_tell(f->def->progress, "finding trajectories", done) ? EX_OK : exi_progress_stopped(error);
}

static size_t numbers_of(const fitting *f) {
    return 3 * (size_t)f->first->vertex_count;
}

static const double *sample_of(const fitting *f, int sample) {
    return f->plan.samples + (size_t)sample * (size_t)f->plan.example_count;
}

/* ---- rigid forms at samples ---- */

/* Moves a form rigidly onto another. */
static void align(const ex_between *b, double *form, const double *onto) {
    double rotation[3][3], from[3], to[3];
    exi_surface_fit(b->vertex_count, b->vertex_areas, form, onto, rotation, from, to);
    for (size_t v = 0; v < (size_t)b->vertex_count; v++) {
        double arm[3];
        exi_subtract(form + 3 * v, from, arm);
        exi_apply(rotation, arm, arm);
        for (size_t i = 0; i < 3; i++)
            form[3 * v + i] = to[i] + arm[i];
    }
}

static void keep_gradients(const fitting *f, const double *r, float *gradients) {
    const ex_between *b = f->first;
    for (int i = 0; i < f->looked_at; i++, gradients += 6) {
        const size_t t = (size_t)i * (size_t)f->step;
        const double *plane = b->planes + 5 * t;
        const int *v = b->triangles + 3 * t;
        for (int c = 0; c < 3; c++) {
            const double d1 = r[3 * v[1] + c] - r[3 * v[0] + c], d2 = r[3 * v[2] + c] - r[3 * v[0] + c];
            const bool flat = b->areas[t] == 0;
            gradients[c] = flat ? 0 : (float)(plane[0] * d1 + plane[2] * d2);
            gradients[3 + c] = flat ? 0 : (float)(plane[1] * d1 + plane[3] * d2);
        }
    }
}

/* Measures the worker's form, which is without its screw, on one thread. */
static void measure_stretch(worker *w, double percentiles[4]) {
    ex_between alone = w->mixed.between;
    ex_stretch stretch;
    alone.screw = (ex_screw){{0}, {0}};
    alone.tasks = NULL;
    if (ex_between_stretch(&alone, 1, w->form, &stretch, NULL, NULL) == EX_OK)
        memcpy(percentiles, stretch.percentiles, sizeof stretch.percentiles);
    else
        w->failed = true;
}

/* Finishes a sample whose rigid form is made: what the nodes leave of it, its stretch and its weight. */
static void keep_sample(fitting *f, int sample, worker *w) {
    const size_t n = numbers_of(f);
    const ex_between *b = &w->mixed.between;
    const double *carried = b->aligned;
    float *kept = f->carried + (size_t)sample * n, *residual = f->residuals + (size_t)sample * n;
    align(b, w->form, carried);
    if (f->goals)
        memcpy(f->goals + (size_t)sample * (size_t)b->flats.group_count, exi_between_goals(b, w->work),
               exi_goals_size(b));
    measure_stretch(w, f->rigid[sample]);
    f->weights[sample] = 1 / (f->rigid[sample][2] + FLOOR);
    for (size_t k = 0; k < n; k++) {
        kept[k] = (float)carried[k];
        w->form[k] -= carried[k];
        residual[k] = (float)w->form[k];
    }
    keep_gradients(f, w->form, f->curves.gradients + (size_t)sample * (size_t)f->curves.width);
}

static void make_samples(void *context, int begin, int end) {
    fitting *f = context;
    for (int first = begin; first < end; first += EXI_TOGETHER) {
        const int count = end - first < EXI_TOGETHER ? end - first : EXI_TOGETHER;
        const ex_between *betweens[EXI_TOGETHER];
        double *forms[EXI_TOGETHER], *work[EXI_TOGETHER];
        for (int i = 0; i < count; i++) {
            const double *sample = sample_of(f, f->batch + first + i);
            worker *w = &f->workers[first + i];
            betweens[i] = &w->mixed.between;
            forms[i] = w->form;
            work[i] = w->work;
            exi_mixed_set(f->betweens, sample, &w->mixed);
            /* The aligned end is no longer needed for this mixture. */
            exi_mixer_form(f->mixer, sample, w->mixed.between.aligned, w->work + exi_between_work_size(betweens[i]));
        }
        exi_between_rigid_several(betweens, count, 1, FEW_STEPS, forms, work);
        for (int i = 0; i < count; i++)
            keep_sample(f, f->batch + first + i, &f->workers[first + i]);
    }
}

/* Runs a body for all samples, a batch at a time. */
static ex_result for_samples(fitting *f, void (*body)(void *, int, int), double before, double after, ex_error *error) {
    ex_result result = EX_OK;
    for (f->batch = 0; result == EX_OK && f->batch < f->plan.sample_count; f->batch += f->batch_size) {
        const int left = f->plan.sample_count - f->batch;
        result = tell(f, before + (after - before) * f->batch / f->plan.sample_count, error);
        if (result == EX_OK)
            exi_run(f->def->tasks, left < f->batch_size ? left : f->batch_size, 1, body, f);
    }
    for (int i = 0; i < BATCH; i++)
        if (result == EX_OK && f->workers[i].failed)
            result = ex_error_memory(error, "the stretch of triangles", numbers_of(f) * sizeof(double));
    return result;
}

/* ---- correctors ---- */

/* Sets how many correctors there may be: those that are asked for, or as many as leave little enough, but no more
 * numbers than paths to each example alone have. */
static void limit_curves(fitting *f) {
    const int wanted = f->def->options.corrector_count, usual = 8 * (f->plan.example_count + 1);
    const size_t room = NUMBERS_MOST / (4 * numbers_of(f));
    int most = wanted >= 0 ? wanted : usual < EX_MIXTURE_CORRECTOR_MAX ? usual : EX_MIXTURE_CORRECTOR_MAX;
    if (f->alone && most > EX_CORRECTOR_MAX)
        most = EX_CORRECTOR_MAX;
    f->curves.most = (size_t)most < room ? most : (int)room;
    f->curves.enough = wanted >= 0 ? -1 : ENOUGH * ENOUGH * f->plan.sample_count * f->looked_at;
}

/* Computes the path at a sample, with the correctors at `from`. */
static void path_form(const fitting *f, int sample, const double *from, double *form) {
    const size_t n = numbers_of(f), samples = (size_t)f->plan.sample_count;
    const float *carried = f->carried + (size_t)sample * n;
    for (size_t i = 0; i < n; i++)
        form[i] = (double)carried[i];
    for (size_t j = 0; j < (size_t)f->count; j++) {
        const double factor = f->curves.basis[j * samples + (size_t)sample] / f->weights[sample], *c = from + j * n;
        for (size_t i = 0; i < n; i++)
            form[i] += factor * c[i];
    }
}

/* Projects the residuals onto a curve: the corrector's start value. A rigid form is hardly folded, and steps from there
 * do not fold it. */
static void project(void *context, int begin, int end) {
    fitting *f = context;
    const size_t n = numbers_of(f), samples = (size_t)f->plan.sample_count;
    for (size_t j = (size_t)begin; j < (size_t)end; j++)
        for (size_t a = 0; a < samples; a++) {
            const double factor = f->curves.basis[j * samples + a] * f->weights[a];
            const float *residual = f->residuals + a * n;
            double *c = f->now + j * n;
            for (size_t i = 0; i < n; i++)
                c[i] += factor * (double)residual[i];
        }
}

/* Returns what a sample asks of triangles, and sets the worker's links. */
static const exi_goal *goals_of(const fitting *f, int sample, worker *w) {
    if (f->goals) {
        exi_mixed_set_links(f->betweens, sample_of(f, sample), &w->mixed);
        return f->goals + (size_t)sample * (size_t)f->first->flats.group_count;
    }
    exi_goal *goals = exi_between_goals(f->first, w->work);
    exi_mixed_set_steps(f->betweens, sample_of(f, sample), &w->mixed);
    exi_goals_set(&w->mixed.between, 1, goals);
    return goals;
}

/* Computes the pull of triangles and links at every sample of the batch, at the begin of its work memory. */
static void pull(void *context, int begin, int end) {
    fitting *f = context;
    const size_t n = numbers_of(f);
    for (int i = begin; i < end; i++) {
        worker *w = &f->workers[i];
        const ex_between *b = &w->mixed.between;
        path_form(f, f->batch + i, f->at, w->form);
        exi_local_step(b, goals_of(f, f->batch + i, w), w->form, w->work + 3 * n, w->work);
        exi_links_pull(b, 1, w->form, w->work);
    }
}

/* Adds the pulls of the batch for every corrector, in blocks of NUMBERS. */
static void gather(void *context, int begin, int end) {
    fitting *f = context;
    const size_t n = numbers_of(f), samples = (size_t)f->plan.sample_count;
    const size_t first = (size_t)begin * NUMBERS, last = (size_t)end * NUMBERS < n ? (size_t)end * NUMBERS : n;
    for (size_t j = 0; j < (size_t)f->count; j++)
        for (int i = 0; i < f->batch_size && f->batch + i < f->plan.sample_count; i++) {
            const size_t sample = (size_t)(f->batch + i);
            const double factor = f->curves.basis[j * samples + sample] * f->weights[sample],
                         *right = f->workers[i].work;
            double *sum = f->sum + j * n;
            for (size_t k = first; k < last; k++)
                sum[k] += factor * right[k];
        }
}

/* Takes the step for every corrector of a batch. */
static void follow(void *context, int begin, int end) {
    fitting *f = context;
    const size_t n = numbers_of(f);
    for (int first = begin; first < end; first += EXI_TOGETHER) {
        const int count = end - first < EXI_TOGETHER ? end - first : EXI_TOGETHER;
        double *sums[EXI_TOGETHER], *work[EXI_TOGETHER];
        for (int i = 0; i < count; i++) {
            sums[i] = f->sum + (size_t)(f->batch + first + i) * n;
            work[i] = f->workers[first + i].work;
        }
        exi_between_solve_changes(f->first, count, sums, work);
        for (int i = 0; i < count; i++) {
            const size_t j = (size_t)(f->batch + first + i);
            double *c = f->now + j * n, *at = f->at + j * n;
            for (size_t k = 0; k < n; k++) {
                c[k] = at[k] + sums[i][k];
                sums[i][k] = 0;
            }
        }
    }
}

/* The next point to look at for all correctors, in blocks of NUMBERS, each with its own sum. */
typedef struct advance {
    fitting *fitting;
    double further;
    double *sums; /* per block */
} advance;

static size_t block_end(const fitting *f, int block) {
    const size_t size = numbers_of(f) * (size_t)f->count, end = ((size_t)block + 1) * NUMBERS;
    return end < size ? end : size;
}

static void sum_uphill(void *context, int begin, int end) {
    advance *a = context;
    const fitting *f = a->fitting;
    for (int block = begin; block < end; block++) {
        double sum = 0;
        for (size_t i = (size_t)block * NUMBERS; i < block_end(f, block); i++)
            sum += (f->at[i] - f->now[i]) * (f->now[i] - f->last[i]);
        a->sums[block] = sum;
    }
}

static void go_further(void *context, int begin, int end) {
    advance *a = context;
    fitting *f = a->fitting;
    for (size_t i = (size_t)begin * NUMBERS; i < block_end(f, end - 1); i++) {
        f->at[i] = f->now[i] + a->further * (f->now[i] - f->last[i]);
        f->last[i] = f->now[i];
    }
}

static void advance_all(fitting *f, double *sums, double *momentum) {
    const int blocks = (int)((numbers_of(f) * (size_t)f->count + NUMBERS - 1) / NUMBERS);
    advance a = {.fitting = f, .sums = sums};
    double uphill = 0;
    exi_run(f->def->tasks, blocks, 1, sum_uphill, &a);
    for (int i = 0; i < blocks; i++)
        uphill += sums[i];
    a.further = exi_further(uphill, momentum);
    exi_run(f->def->tasks, blocks, 1, go_further, &a);
}

static ex_result take_steps(fitting *f, double before, double after, ex_error *error) {
    const size_t size = numbers_of(f) * (size_t)f->count;
    double momentum = 1, *sums = exi_array_allocate(size / NUMBERS + 1, sizeof *sums);
    if (!sums)
        return ex_error_memory(error, "correctors", (size / NUMBERS + 1) * sizeof *sums);
    ex_result result = EX_OK;
    exi_run(f->def->tasks, f->count, 1, project, f);
    memcpy(f->at, f->now, size * sizeof *f->at);
    memcpy(f->last, f->now, size * sizeof *f->last);
    for (int k = 0; result == EX_OK && f->count > 0 && k < STEPS; k++) {
        for (f->batch = 0; result == EX_OK && f->batch < f->plan.sample_count; f->batch += f->batch_size) {
            const int left = f->plan.sample_count - f->batch;
            result = tell(f, before + (after - before) * (k + (double)f->batch / f->plan.sample_count) / STEPS, error);
            if (result != EX_OK)
                break;
            exi_run(f->def->tasks, left < f->batch_size ? left : f->batch_size, 1, pull, f);
            exi_run(f->def->tasks, (int)((numbers_of(f) + NUMBERS - 1) / NUMBERS), 1, gather, f);
        }
        for (f->batch = 0; result == EX_OK && f->batch < f->count; f->batch += f->batch_size) {
            const int left = f->count - f->batch;
            exi_run(f->def->tasks, left < f->batch_size ? left : f->batch_size, 1, follow, f);
        }
        if (result == EX_OK)
            advance_all(f, sums, &momentum);
    }
    free(sums);
    return result;
}

/* ---- measuring and storing ---- */

static void measure(void *context, int begin, int end) {
    fitting *f = context;
    for (int i = begin; i < end; i++) {
        worker *w = &f->workers[i];
        exi_mixed_set(f->betweens, sample_of(f, f->batch + i), &w->mixed);
        path_form(f, f->batch + i, f->now, w->form);
        measure_stretch(w, f->found[f->batch + i]);
    }
}

static void compare(const fitting *f, double ratios[4]) {
    memset(ratios, 0, 4 * sizeof *ratios);
    for (int a = 0; a < f->plan.sample_count; a++)
        for (int i = 0; i < 4; i++)
            ratios[i] =
                fmax(ratios[i], fmax(f->found[a][i], EX_MIXTURE_FLOOR) / fmax(f->rigid[a][i], EX_MIXTURE_FLOOR));
}

/* Stores correctors as the rig has them: in float, with mean 0, since the screw moves the form as a whole. */
static ex_result store(const fitting *f, ex_error *error) {
    const ex_between *b = f->first;
    const size_t n = numbers_of(f), terms = (size_t)f->plan.term_count, count = (size_t)f->count;
    float **list = calloc(count + 1, sizeof *list), *curves = calloc(count * terms + 1, sizeof *curves);
    f->mixture->correctors = (const float *const *)list;
    f->mixture->curves = curves;
    if (!list || !curves)
        return ex_error_memory(error, "correctors", n * sizeof(float));
    f->mixture->corrector_count = f->count;
    for (size_t j = 0; j < count; j++) {
        const double *c = f->now + j * n;
        double mean[3] = {0}, total = 0;
        for (size_t v = 0; v < (size_t)b->vertex_count; v++) {
            total += b->vertex_areas[v];
            for (size_t i = 0; i < 3; i++)
                mean[i] += b->vertex_areas[v] * c[3 * v + i];
        }
        list[j] = exi_array_allocate(n, sizeof **list);
        if (!list[j])
            return ex_error_memory(error, "correctors", n * sizeof(float));
        for (size_t i = 0; i < n; i++)
            list[j][i] = (float)(c[i] - (total > 0 ? mean[i % 3] / total : 0));
        for (size_t t = 0; t < terms; t++)
            curves[j * terms + t] = (float)f->curves.curves[j * terms + t];
    }
    return EX_OK;
}

/* ---- entry points ---- */

static bool open_mixer(fitting *f) {
    const ex_betweens *several = f->betweens;
    const double **examples = exi_array_allocate((size_t)several->example_count, sizeof *examples);
    const exi_mixer_def mixer = {.mixture = f->mixture,
                                 .vertex_count = f->first->vertex_count,
                                 .example_count = several->example_count,
                                 .reference = f->first->start,
                                 .examples = examples};
    for (int k = 0; examples && k < several->example_count; k++)
        examples[k] = several->items[k] ? several->items[k]->aligned : NULL;
    const bool done = examples && exi_mixer_create(&mixer, &f->mixer);
    free(examples);
    return done;
}

static bool open_workers(fitting *f) {
    const size_t size = exi_between_work_size(f->first) + exi_mixer_work_size(f->mixer);
    bool done = true;
    for (int i = 0; done && i < f->batch_size && i < f->plan.sample_count; i++) {
        worker *w = &f->workers[i];
        w->form = exi_array_allocate(numbers_of(f), sizeof *w->form);
        w->work = exi_array_allocate(size, sizeof *w->work);
        done = exi_mixed_create(f->betweens, &w->mixed) && w->form && w->work;
    }
    return done;
}

static bool open_samples(fitting *f) {
    const size_t samples = (size_t)f->plan.sample_count, triangles = (size_t)f->first->triangle_count;
    f->step = (int)((triangles + LOOKED_AT - 1) / LOOKED_AT);
    f->step = f->step > 0 ? f->step : 1;
    f->looked_at = (int)((triangles + (size_t)f->step - 1) / (size_t)f->step);
    f->carried = exi_array_allocate(samples * numbers_of(f), sizeof *f->carried);
    f->residuals = exi_array_allocate(samples * numbers_of(f), sizeof *f->residuals);
    f->weights = calloc(samples + 1, sizeof *f->weights);
    f->rigid = calloc(samples + 1, sizeof *f->rigid);
    f->found = calloc(samples + 1, sizeof *f->found);
    f->curves = (exi_curves){.plan = &f->plan, .weights = f->weights, .width = 6 * f->looked_at};
    f->curves.gradients = exi_array_allocate(samples * (size_t)f->curves.width, sizeof(float));
    const bool keep = samples * exi_goals_size(f->first) <= GOALS_MOST;
    if (keep)
        f->goals = exi_array_allocate(samples * exi_goals_size(f->first), 1);
    return (f->goals || !keep) && f->carried && f->residuals && f->weights && f->rigid && f->found &&
           f->curves.gradients;
}

static bool open_correctors(fitting *f) {
    const size_t size = (size_t)f->count * numbers_of(f);
    f->now = calloc(4 * size + 1, sizeof *f->now);
    if (!f->now)
        return false;
    f->last = f->now + size;
    f->at = f->last + size;
    f->sum = f->at + size;
    return true;
}

static ex_result fit(fitting *f, double ratios[4], ex_error *error) {
    const size_t n = numbers_of(f);
    ex_result result = tell(f, 0.02, error);
    if (result == EX_OK && !f->alone)
        result = exi_nodes_find(f->betweens, f->mixture, error);
    if (result == EX_OK)
        result = exi_plan_create(f->betweens, &f->plan, error);
    if (result != EX_OK)
        return result;
    f->mixture->terms = exi_array_copy(f->plan.terms, (size_t)f->plan.term_count, sizeof *f->plan.terms);
    f->mixture->term_count = f->plan.term_count;
    if (!f->mixture->terms || !open_mixer(f) || !open_workers(f) || !open_samples(f))
        return ex_error_memory(error, "a mixture", (size_t)f->plan.sample_count * n * sizeof(float));
    result = for_samples(f, make_samples, 0.03, 0.3, error);
    if (result == EX_OK) {
        limit_curves(f);
        result = exi_curves_find(&f->curves, f->def->tasks, error);
        f->count = f->curves.count;
    }
    if (result == EX_OK && !open_correctors(f))
        result = ex_error_memory(error, "correctors", 4 * (size_t)f->count * n * sizeof(double));
    if (result == EX_OK)
        result = take_steps(f, 0.3, 0.95, error);
    if (result == EX_OK)
        result = for_samples(f, measure, 0.95, 1, error);
    if (result != EX_OK)
        return result;
    compare(f, ratios);
    return store(f, error);
}

ex_result exi_mixture_fit(const ex_trajectories_def *def, const ex_betweens *betweens, ex_mixture *mixture,
                          double ratios[4], ex_error *error) {
    fitting f = {.def = def, .betweens = betweens, .first = betweens->first, .mixture = mixture};
    int count = 0;
    for (int k = 0; k < betweens->example_count; k++)
        count += betweens->items[k] != NULL;
    f.alone = count == 1;
    f.batch_size = f.first->triangle_count < LARGE ? BATCH : BATCH / 2;
    const ex_result result = fit(&f, ratios, error);
    for (int i = 0; i < BATCH; i++) {
        exi_mixed_release(&f.workers[i].mixed);
        free(f.workers[i].form);
        free(f.workers[i].work);
    }
    exi_mixer_destroy(f.mixer);
    exi_plan_release(&f.plan);
    void *const arrays[] = {f.carried,          f.residuals,    f.weights,       f.rigid, f.found,
                            f.curves.gradients, f.curves.basis, f.curves.curves, f.now,   f.goals};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    return result;
}
