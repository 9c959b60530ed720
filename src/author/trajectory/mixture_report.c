/*
 * Measures mixtures of several poses: the trajectories at some weights, next to the as-rigid-as-possible form and
 * straight lines at the same weights. All three are compared with the stretch that each triangle would have alone.
 *
 * Mixtures are spread over the tasks, each of them computed by one task, in batches, so that progress is told between
 * them and results do not depend on the tasks.
 */
#include "author/trajectory/mixture_choice.h"

#include "author/base/array.h"
#include "author/base/progress.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mixtures between two reports of progress. */
enum { BATCH = 16 };

/* Weights below this are not named. */
static const double least_share = 1e-9;

typedef struct survey {
    const ex_trajectories_def *def;
    const ex_trajectories *trajectories;
    ex_betweens *betweens;
    ex_measured_mixture *mixtures; /* of this batch */
    ex_result results[BATCH];
} survey;

/* ---- names ---- */

const char *ex_mixture_kind_name(ex_mixture_kind kind) {
    static const char *const names[] = {
#define EX_MIXTURE_NAME(name, text) [name] = text,
        EX_MIXTURE_LIST(EX_MIXTURE_NAME)};
    return kind >= 0 && kind < EX_MIXTURE_KIND_COUNT ? names[kind] : "";
}

const char *ex_mixture_remedy_name(ex_mixture_remedy remedy) {
    static const char *const names[] = {EX_MIXTURE_REMEDY_LIST(EX_MIXTURE_NAME)};
#undef EX_MIXTURE_NAME
    return remedy >= 0 && remedy < EX_MIXTURE_REMEDY_COUNT ? names[remedy] : "";
}

ex_mixture_options ex_mixture_options_default(void) {
    return (ex_mixture_options){.random_count = 20};
}

bool ex_mixture_is_weak(const ex_measured_mixture *mixture) {
    return mixture->ratio > EX_MIXTURE_RATIO_MAX ||
           mixture->path.flipped > mixture->rigid.flipped + EX_MIXTURE_FOLD_MAX;
}

/* Appends an item if it fits, with room left for the mark of what is left out; else that mark. */
static bool append(char *text, size_t size, size_t *used, const char *item) {
    static const char more[] = "\xE2\x80\xA6", plus[] = " + ";
    const bool first = *used == 0, fits = *used + strlen(plus) + strlen(item) + strlen(plus) + sizeof more <= size;
    const int length = snprintf(text + *used, size - *used, "%s%s", first ? "" : plus, fits ? item : more);
    *used += length > 0 ? (size_t)length : 0;
    if (*used >= size) { /* not even the mark fits */
        text[0] = '\0';
        *used = 0;
    }
    return fits;
}

const char *ex_mixture_words(const ex_trajectories_def *def, const double *weights, const char *reference, char *text,
                             size_t size) {
    double rest = 1;
    size_t used = 0;
    bool fits = true;
    for (int k = 0; k < def->example_count; k++)
        rest -= def->examples[k] ? weights[k] : 0;
    text[0] = '\0';
    for (int k = 0; k <= def->example_count && fits; k++) {
        const bool last = k == def->example_count;
        const double weight = last ? rest : def->examples[k] ? weights[k] : 0;
        const char *name = last ? reference : def->names ? def->names[k] : NULL;
        char number[32], item[300];
        if (fabs(weight) < least_share)
            continue;
        snprintf(number, sizeof number, "example %d", k + 1);
        snprintf(item, sizeof item, "%.3g %.256s", weight, name ? name : last ? "reference" : number);
        fits = append(text, size, &used, item);
    }
    return text;
}

/* ---- measuring ---- */

static double ratio_of(const ex_measured_mixture *m, int percentile) {
    const double path = m->path.percentiles[percentile], rigid = m->rigid.percentiles[percentile];
    if (!isfinite(path) && !isfinite(rigid))
        return 1;
    return (path > EX_MIXTURE_FLOOR ? path : EX_MIXTURE_FLOOR) / (rigid > EX_MIXTURE_FLOOR ? rigid : EX_MIXTURE_FLOOR);
}

/* Measures the form of a method; EX_BETWEEN_COUNT: of the trajectories. */
static ex_result measure_form(const survey *s, int method, const double *weights, double *positions,
                              ex_stretch *stretch, double *values, ex_error *error) {
    ex_result result = EX_OK;
    if (method < EX_BETWEEN_COUNT)
        result = ex_betweens_form(s->betweens, (ex_between_method)method, weights, positions, error);
    else if (!ex_trajectories_form(s->trajectories, s->def, weights, -1, positions))
        result = ex_error_memory(error, "the form of a trajectory", 0);
    return result == EX_OK ? ex_betweens_stretch(s->betweens, weights, positions, stretch, values, error) : result;
}

static ex_result measure(const survey *s, ex_measured_mixture *m, double *positions) {
    ex_error error;
    ex_result result = measure_form(s, EX_BETWEEN_COUNT, m->weights, positions, &m->path, NULL, &error);
    if (result == EX_OK)
        result = measure_form(s, EX_BETWEEN_RIGID, m->weights, positions, &m->rigid, NULL, &error);
    if (result == EX_OK)
        result = measure_form(s, EX_BETWEEN_LINEAR, m->weights, positions, &m->linear, NULL, &error);
    m->ratio = ratio_of(m, 2);
    m->ratio_999 = ratio_of(m, 3);
    return result;
}

static void measure_some(void *context, int begin, int end) {
    survey *s = context;
    double *positions = exi_array_allocate(3 * (size_t)s->def->vertex_count, sizeof *positions);
    for (int i = begin; i < end; i++)
        s->results[i] = positions ? measure(s, &s->mixtures[i], positions) : EX_ERROR_MEMORY;
    free(positions);
}

static ex_result measure_all(survey *s, ex_mixture_report *report, ex_error *error) {
    for (int first = 0; first < report->mixture_count; first += BATCH) {
        const int left = report->mixture_count - first, count = left < BATCH ? left : BATCH;
        if (!exi_progress_tell(s->def->progress, "measuring mixtures", (double)first / report->mixture_count))
            return exi_progress_stopped(error);
        s->mixtures = report->mixtures + first;
        exi_run(s->def->tasks, count, 1, measure_some, s);
        for (int i = 0; i < count; i++)
            if (s->results[i] != EX_OK)
                return ex_error_memory(error, "a mixture", 24 * (size_t)s->def->vertex_count);
    }
    return EX_OK;
}

/* ---- the report ---- */

static int compare_mixtures(const void *a, const void *b) {
    const ex_measured_mixture *x = a, *y = b;
    if (x->ratio != y->ratio)
        return x->ratio > y->ratio ? -1 : 1;
    return x->number - y->number;
}

static int folds_of(const ex_measured_mixture *m) {
    return m->path.flipped - m->rigid.flipped;
}

static void summarise(ex_mixture_report *report) {
    const int count = report->mixture_count, middle = count / 2;
    const ex_measured_mixture *m = report->mixtures;
    qsort(report->mixtures, (size_t)count, sizeof *report->mixtures, compare_mixtures);
    report->median = count % 2 == 1 ? m[middle].ratio : (m[middle - 1].ratio + m[middle].ratio) / 2;
    for (int i = 0; i < count; i++) {
        report->weak_count += ex_mixture_is_weak(&m[i]);
        if (!(m[0].ratio > EX_MIXTURE_RATIO_MAX) && folds_of(&m[i]) > EX_MIXTURE_FOLD_MAX &&
            folds_of(&m[i]) > folds_of(&m[report->worst]))
            report->worst = i;
    }
}

/* Makes a report that owns a copy of the chosen weights. */
static ex_mixture_report *make_report(const exi_mixture_choice *choice, const ex_trajectories_def *def) {
    const size_t count = (size_t)choice->count, width = (size_t)def->example_count;
    ex_mixture_report *report = calloc(1, sizeof *report);
    double *weights = exi_array_copy(choice->weights, count * width, sizeof *weights);
    if (report)
        report->mixtures = calloc(count, sizeof *report->mixtures);
    if (!report || !weights || !report->mixtures) {
        free(weights);
        if (report)
            free(report->mixtures);
        free(report);
        return NULL;
    }
    report->weights = weights;
    report->example_count = def->example_count;
    report->mixture_count = choice->count;
    report->candidate_count = choice->candidate_count;
    for (size_t i = 0; i < count; i++) {
        ex_measured_mixture *m = &report->mixtures[i];
        *m = (ex_measured_mixture){
            .kind = choice->kinds[i], .number = (int)i, .weights = weights + i * width, .rest = 1};
        for (size_t k = 0; k < width; k++)
            m->rest -= m->weights[k];
        m->rest = fabs(m->rest) < least_share ? 0 : m->rest;
    }
    return report;
}

void ex_mixture_report_destroy(ex_mixture_report *report) {
    if (!report)
        return;
    free(report->weights);
    free(report->mixtures);
    free(report);
}

/* Rigid forms have the default number of steps, whatever the trajectories followed: they are the standard. */
static ex_result open_betweens(const ex_trajectories_def *def, ex_betweens **betweens, ex_error *error) {
    return ex_betweens_create(&(ex_betweens_def){.vertex_count = def->vertex_count,
                                                 .triangle_count = def->triangle_count,
                                                 .triangles = def->triangles,
                                                 .reference = def->reference,
                                                 .example_count = def->example_count,
                                                 .examples = def->examples,
                                                 .names = def->names},
                              betweens, error);
}

ex_result ex_mixture_report_create(const ex_trajectories_def *def, const ex_trajectories *trajectories,
                                   const ex_mixture_options *options, ex_mixture_report **report, ex_error *error) {
    const ex_mixture_options defaults = ex_mixture_options_default();
    options = options ? options : &defaults;
    if (!report)
        return exi_misuse_error(error, __func__, "no pointer for the report");
    *report = NULL;
    if (!def || !trajectories || options->random_count < 0 || options->most < 0 ||
        (options->given && options->given_count < 1))
        return exi_misuse_error(error, __func__, "no trajectories, or a negative number of mixtures");
    if (!exi_progress_tell(def->progress, "measuring mixtures", 0))
        return exi_progress_stopped(error);
    survey s = {.def = def, .trajectories = trajectories};
    ex_mixture_report *made = NULL;
    ex_result result = open_betweens(def, &s.betweens, error);
    if (result == EX_OK) {
        exi_mixture_choice choice;
        made = exi_mixture_choose(def, trajectories, options, &choice) ? make_report(&choice, def) : NULL;
        exi_mixture_choice_release(&choice);
        result = made ? measure_all(&s, made, error) : ex_error_memory(error, "the mixtures", 0);
    }
    if (result == EX_OK) {
        summarise(made);
        if (!exi_mixture_advise(def, trajectories, s.betweens, made))
            result = ex_error_memory(error, "the mixtures", 16 * (size_t)def->triangle_count);
    }
    ex_betweens_destroy(s.betweens);
    if (result == EX_OK)
        *report = made;
    else
        ex_mixture_report_destroy(made);
    return result;
}

ex_result ex_mixture_forms(const ex_trajectories_def *def, const ex_trajectories *trajectories, const double *weights,
                           double *path, double *path_values, double *rigid, double *rigid_values, ex_error *error) {
    if (!def || !trajectories || !weights || !path || !rigid)
        return exi_misuse_error(error, __func__, "no trajectories, weights or forms");
    survey s = {.def = def, .trajectories = trajectories};
    ex_stretch stretch;
    ex_result result = open_betweens(def, &s.betweens, error);
    if (result == EX_OK)
        result = measure_form(&s, EX_BETWEEN_COUNT, weights, path, &stretch, path_values, error);
    if (result == EX_OK)
        result = measure_form(&s, EX_BETWEEN_RIGID, weights, rigid, &stretch, rigid_values, error);
    ex_betweens_destroy(s.betweens);
    return result;
}
