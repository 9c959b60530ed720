/*
 * Checks mixtures of the examples of trajectories: compares forms all over the layer's space with as-rigid-as-possible
 * forms at the same weights, and says what would mend the worst.
 *
 * The axes of a direct layer are its weights, and mixtures are chosen among them (ex_mixture_report_create). Other
 * layers have the weights that their weigher gives: at points half-way between two examples, and at points that fill
 * the range. Weights that no point has are not measured.
 *
 * Later layers may correct a mixture: correctives over the same axes. A weak mixture counts as mended if its form with
 * these layers is not weak, or if one of their examples is at its pose.
 */
#include "author/base/array.h"
#include "author/base/progress.h"
#include "author/project/build/swing.h"
#include "author/project/check/check.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_RANDOM = 10,
    CHOSEN = 10, /* chosen mixtures for a random one */
    CHOSEN_LEAST = 24,
    SIZE_MOST = 3000000, /* triangles of all chosen mixtures together, by default */
    WORDS_SIZE = 110     /* of a mixture in words */
};

/* Points of a space closer than this, in ranges, coincide. */
static const double at_one_place = 1e-6;

typedef struct mixing {
    exi_checker *c;
    int index;
    const ex_project_layer *layer;
    const exi_project_trajectories *paths;
    int most, random_count, measured_count;
    double *points;  /* [point_count][dimension], NULL for a direct layer */
    double *weights; /* [point_count][example_count] */
    int point_count;
    ex_betweens *betweens; /* made if later layers correct this one; else NULL */
    double **later;        /* [layer_count]: points of these layers; NULL for others */
    double *form;          /* [vertex_count][3] */
    double *sum;           /* [vertex_count][3] */
} mixing;

/* ---- where ---- */

static bool has_points(const mixing *x) {
    return ex_weigher_kind_info(x->layer->weigh.kind)->has_points;
}

static bool is_scalar(const ex_project_layer *layer) {
    bool scalar = true;
    for (int a = 0; a < layer->axis_count; a++)
        scalar = scalar && layer->axes[a].axis.kind == EX_AXIS_SCALAR;
    return scalar;
}

/* Adds the point half-way between two examples. */
static void add_middle(mixing *x, int first, int second) {
    const size_t dimension = (size_t)x->layer->dimension;
    double *point = x->points + (size_t)x->point_count++ * dimension;
    for (size_t i = 0; i < dimension; i++)
        point[i] = 0.5 * (x->layer->examples[first].at[i] + x->layer->examples[second].at[i]);
}

/* Finds the points to measure, and their weights. False without memory. */
static bool find_points(mixing *x) {
    const ex_project_layer *layer = x->layer;
    const size_t dimension = (size_t)layer->dimension, examples = (size_t)layer->example_count;
    const size_t most = (size_t)x->most + (size_t)x->random_count;
    x->points = exi_array_allocate(most * dimension, sizeof *x->points);
    x->weights = exi_array_allocate(most * examples, sizeof *x->weights);
    if (!x->points || !x->weights)
        return false;
    /* Neighbours in the list first: they are often neighbours in the space. */
    for (int apart = 1; apart < layer->example_count && is_scalar(layer); apart++)
        for (int k = 0; k + apart < layer->example_count && x->point_count < x->most / 2; k++)
            add_middle(x, k, k + apart);
    for (int i = 0; x->point_count < (int)most; i++)
        exi_space_sample(layer, i, x->points + (size_t)x->point_count++ * dimension);
    for (size_t i = 0; i < most; i++)
        ex_weigher_evaluate(x->c->measure.weighers[x->index], x->points + i * dimension, x->weights + i * examples);
    return true;
}

/* Appends a setting, in quotes if a shell would not take it as one word. */
static void append_setting(exi_check_text *text, const char *name, const char *value) {
    bool plain = true;
    for (const char *c = name; *c; c++)
        plain = plain && (isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80 || strchr("._-", *c));
    exi_check_append(text, "%s%s%s=%s%s", text->size > 0 ? " " : "", plain ? "" : "\"", name, value, plain ? "" : "\"");
}

/* Writes the pose of a mixture in words that `exemplar pose` takes. */
static void write_pose(const mixing *x, const ex_measured_mixture *m, exi_check_text *text) {
    const double *at = x->points ? x->points + (size_t)m->number * (size_t)x->layer->dimension : m->weights;
    for (int a = 0; a < x->layer->axis_count; a++) {
        const ex_project_axis *axis = &x->layer->axes[a];
        const bool scalar = axis->axis.kind == EX_AXIS_SCALAR;
        char value[128];
        if (scalar)
            snprintf(value, sizeof value, "%.4g", at[0]);
        else
            ex_format_rotation(value, sizeof value, at, 2);
        if (x->points || at[0] != 0) /* a direct layer without this weight is at rest there */
            append_setting(text, axis->name, value);
        at += ex_axis_width(&axis->axis);
    }
}

/* True if the layer's axes are dials, which a pose can set by their names. */
static bool has_dials(const ex_project_layer *layer) {
    bool dials = true;
    for (int a = 0; a < layer->axis_count; a++)
        dials = dials && !layer->axes[a].joint;
    return dials;
}

/* ---- later layers ---- */

/* Returns the number of the layer's axis with that name, or -1. */
static int find_axis(const ex_project_layer *layer, const char *name) {
    int a = layer->axis_count - 1;
    while (a >= 0 && strcmp(layer->axes[a].name, name) != 0)
        a--;
    return a;
}

static bool shares_axis(const ex_project_layer *layer, const ex_project_layer *later) {
    for (int a = 0; a < later->axis_count; a++)
        if (find_axis(layer, later->axes[a].name) >= 0)
            return true;
    return false;
}

/* Finds later layers over axes of this one. False without memory. */
static bool open_later(mixing *x) {
    exi_checker *c = x->c;
    const ex_trajectories_def *def = &x->paths->def;
    bool any = false, good = (x->later = calloc((size_t)c->view->layer_count, sizeof *x->later));
    for (int l = x->index + 1; good && l < c->view->layer_count; l++) {
        const ex_project_layer *later = &c->view->layers[l];
        if (later->driven || !exi_measure_counts(&c->measure, l) || !shares_axis(x->layer, later))
            continue;
        x->later[l] = exi_array_allocate((size_t)later->dimension, sizeof **x->later);
        good = x->later[l];
        any = true;
    }
    if (!good || !any)
        return good;
    const ex_betweens_def how = {.vertex_count = def->vertex_count,
                                 .triangle_count = def->triangle_count,
                                 .triangles = def->triangles,
                                 .reference = def->reference,
                                 .example_count = def->example_count,
                                 .examples = def->examples};
    x->form = exi_array_allocate(3 * (size_t)def->vertex_count, sizeof *x->form);
    x->sum = exi_array_allocate(3 * (size_t)def->vertex_count, sizeof *x->sum);
    return x->form && x->sum && ex_betweens_create(&how, &x->betweens, NULL) == EX_OK;
}

/* Sets the points of later layers at the pose of a mixture: axes that this layer does not have are at rest. */
static void pose_later(const mixing *x, const ex_measured_mixture *m) {
    const double *point =
        x->points ? x->points + (size_t)m->number * (size_t)x->layer->dimension : m->weights; /* direct: one each */
    for (int l = 0; l < x->c->view->layer_count; l++) {
        const ex_project_layer *later = &x->c->view->layers[l];
        double *out = x->later[l];
        for (int a = 0; out && a < later->axis_count; a++) {
            const ex_axis *axis = &later->axes[a].axis;
            const int own = find_axis(x->layer, later->axes[a].name), width = ex_axis_width(axis);
            const double *from = width == 1 ? &axis->rest : axis->rest_rotation;
            for (int b = 0, at = 0; b < x->layer->axis_count; at += ex_axis_width(&x->layer->axes[b++].axis))
                from = b == own ? point + at : from;
            for (int i = 0; i < width; i++)
                *out++ = from[i];
            if (own < 0 && width == 4 && from[0] == 0 && from[1] == 0 && from[2] == 0 && from[3] == 0)
                out[-1] = 1; /* no rotation */
        }
    }
}

/* True if an example of a later layer is at the pose. */
static bool is_sculpted(const mixing *x) {
    for (int l = 0; l < x->c->view->layer_count; l++) {
        const ex_project_layer *later = &x->c->view->layers[l];
        for (int k = 0; x->later[l] && k < later->example_count; k++)
            if (later->examples[k].at &&
                ex_weigher_distance(x->c->measure.weighers[l], x->later[l], later->examples[k].at) <= at_one_place)
                return true;
    }
    return false;
}

/* Measures a weak mixture again with later layers, and keeps the better numbers. Returns true if they mend it. */
static bool is_mended(mixing *x, ex_measured_mixture *m) {
    const size_t count = 3 * (size_t)x->paths->def.vertex_count;
    ex_measured_mixture with = *m;
    if (!x->betweens)
        return false;
    pose_later(x, m);
    if (is_sculpted(x))
        return true;
    const ex_project_example at = {.points = (const double *const *)x->later};
    memset(x->sum, 0, count * sizeof *x->sum);
    for (int l = 0; l < x->c->view->layer_count; l++)
        if (x->later[l] && !exi_measure_add_up(&x->c->measure, l, &at, x->sum))
            x->c->failed = true;
    if (!ex_trajectories_form(x->paths->found, &x->paths->def, m->weights, -1, x->form))
        x->c->failed = true;
    for (size_t i = 0; i < count; i++)
        x->form[i] += x->sum[i];
    if (x->c->failed || ex_betweens_stretch(x->betweens, m->weights, x->form, &with.path, NULL, NULL) != EX_OK) {
        x->c->failed = true;
        return false;
    }
    with.ratio =
        m->ratio * fmax(with.path.percentiles[2], EX_MIXTURE_FLOOR) / fmax(m->path.percentiles[2], EX_MIXTURE_FLOOR);
    *m = with.ratio < m->ratio || !ex_mixture_is_weak(&with) ? with : *m;
    return !ex_mixture_is_weak(m);
}

/* ---- findings ---- */

static const char *pose_name(const mixing *x, int example) {
    const int reference = exi_layer_reference(x->layer);
    return example >= 0     ? x->layer->examples[example].name
           : reference >= 0 ? x->layer->examples[reference].name
                            : "mesh";
}

static void write_remedy(const mixing *x, const ex_mixture_report *report, exi_check_text *text) {
    switch (report->remedy) {
    case EX_MIXTURE_TO_GUIDED:
        exi_check_append(text, "; \"mode\": \"guided\" would follow it");
        break;
    case EX_MIXTURE_TO_BETWEEN:
        exi_check_append(text, "; parts turn by %.0f degrees between '%s' and '%s': an example between them would help",
                         report->turn, pose_name(x, report->turned[0]), pose_name(x, report->turned[1]));
        break;
    case EX_MIXTURE_TO_LAYERS:
        exi_check_append(text, "; these examples move different parts: a layer for each would keep them apart");
        break;
    case EX_MIXTURE_TO_CORRECT:
        exi_check_append(text, "; more \"correctors\" would help");
        break;
    case EX_MIXTURE_TO_SCULPT:
        exi_check_append(text, "; an example sculpted there would help");
        break;
    default:
        break;
    }
}

/* Gives the last finding its pose. */
static void add_pose(exi_checker *c, const char *pose) {
    ex_finding *last = &c->check->findings[c->check->finding_count - 1];
    last->pose = exi_text_copy(pose, strlen(pose));
    c->failed = !last->pose;
}

static void report_mixture(mixing *x, const ex_mixture_report *report, const ex_measured_mixture *worst,
                           int weak_count) {
    const bool weak = weak_count > 0, folded = weak && !(worst->ratio > EX_MIXTURE_RATIO_MAX);
    const ex_severity severity = weak ? EX_SEVERITY_WARNING : EX_SEVERITY_NOTE;
    char where[64], words[WORDS_SIZE];
    exi_check_text pose = {.size = 0}, place = {.size = 0}, remedy = {.size = 0};
    snprintf(where, sizeof where, "layers[%d]", x->index);
    ex_mixture_words(&x->paths->def, worst->weights, pose_name(x, -1), words, sizeof words);
    write_pose(x, worst, &pose);
    if (x->points)
        exi_check_append(&place, "%.120s (%s)", pose.text, words);
    else
        exi_check_append(&place, "%s", words);
    write_remedy(x, report, &remedy);
    if (folded)
        exi_check_add(x->c, severity, "mixture", where, worst->path.flipped,
                      "'%s' folds %d triangles at %s, the as-rigid-as-possible form %d%s", x->layer->name,
                      worst->path.flipped, place.text, worst->rigid.flipped, remedy.text);
    else
        exi_check_add(x->c, severity, "mixture", where, worst->ratio,
                      "of %d mixtures in '%s', %d are weak; the worst is %s, where triangles are stretched %.2f times "
                      "as much as in the as-rigid-as-possible form (99 of 100)%s",
                      x->measured_count, x->layer->name, weak_count, place.text, worst->ratio, remedy.text);
    if (!x->c->failed && has_dials(x->layer))
        add_pose(x->c, pose.text);
}

/* Finds the remedy of one mixture, and reports it. */
static void advise(mixing *x, const ex_measured_mixture *worst, int weak_count) {
    const ex_mixture_options options = {.given = worst->weights, .given_count = 1};
    const ex_mixture_report sound = {.remedy = EX_MIXTURE_SOUND};
    ex_mixture_report *report = NULL;
    ex_error error = {0};
    if (weak_count == 0)
        report_mixture(x, &sound, worst, 0);
    else if (ex_mixture_report_create(&x->paths->def, x->paths->found, &options, &report, &error) == EX_OK)
        report_mixture(x, report, worst, weak_count);
    else
        x->c->failed = true;
    ex_mixture_report_destroy(report);
}

/* Reports the worst mixture that is weak and not mended, or else the worst of all. */
static void report_worst(mixing *x, const ex_mixture_report *report) {
    ex_measured_mixture worst = {.ratio = -1}, first = {.ratio = -1};
    int weak_count = 0;
    x->measured_count = report->mixture_count;
    for (int i = 0; i < report->mixture_count && !x->c->failed; i++) {
        ex_measured_mixture m = report->mixtures[i];
        const bool weak = ex_mixture_is_weak(&m), bad = weak && !is_mended(x, &m);
        worst = bad && m.ratio > worst.ratio ? m : worst;
        first = m.ratio > first.ratio && !ex_mixture_is_weak(&m) ? m : first;
        weak_count += bad;
    }
    if (weak_count == 0)
        worst = first;
    if (!x->c->failed && worst.ratio >= 0)
        advise(x, &worst, weak_count);
}

/* ---- one layer ---- */

/* Tells the check's progress while the mixtures of a layer are measured, after everything else. */
static bool tell(void *user, const char *what, double fraction) {
    const mixing *x = user;
    const exi_checker *c = x->c;
    const double layers = (x->index + fraction) / c->view->layer_count;
    return exi_progress_tell(c->progress, what, (c->total + layers) / (c->total + 1));
}

static int most_of(const exi_checker *c, const ex_trajectories_def *def) {
    if (c->mixture_count > 0)
        return CHOSEN * c->mixture_count;
    const int most = CHOSEN * DEFAULT_RANDOM, by_size = SIZE_MOST / (def->triangle_count > 0 ? def->triangle_count : 1);
    return by_size > most ? most : by_size < CHOSEN_LEAST ? CHOSEN_LEAST : by_size;
}

static void check_layer(mixing *x) {
    exi_checker *c = x->c;
    const ex_progress progress = {tell, x};
    ex_trajectories_def def = x->paths->def;
    ex_mixture_options options = ex_mixture_options_default();
    ex_mixture_report *report = NULL;
    ex_error error = {0};
    char where[64];
    options.most = x->most = most_of(c, &def);
    options.random_count = x->random_count = c->mixture_count > 0 ? c->mixture_count : DEFAULT_RANDOM;
    if (has_points(x)) {
        if (!find_points(x)) {
            c->failed = true;
            return;
        }
        options.given = x->weights;
        options.given_count = x->point_count;
    }
    def.tasks = c->tasks;
    def.progress = &progress;
    snprintf(where, sizeof where, "layers[%d].trajectory", x->index);
    if (!open_later(x)) {
        c->failed = true;
        return;
    }
    const ex_result result = ex_mixture_report_create(&def, x->paths->found, &options, &report, &error);
    if (result == EX_OK)
        report_worst(x, report);
    else if (result == EX_ERROR_FILE)
        c->failed = c->stopped = true;
    else
        exi_check_failure(c, "mixture", where, &error);
    ex_mixture_report_destroy(report);
}

static void close_mixing(mixing *x) {
    for (int l = 0; x->later && l < x->c->view->layer_count; l++)
        free(x->later[l]);
    free(x->later);
    free(x->form);
    free(x->sum);
    free(x->points);
    free(x->weights);
    ex_betweens_destroy(x->betweens);
}

void exi_check_mixtures(exi_checker *c) {
    for (int l = 0; !c->failed && c->mixture_count >= 0 && l < c->view->layer_count; l++) {
        mixing x = {.c = c, .index = l, .layer = &c->view->layers[l], .paths = &c->paths[l]};
        if (!x.paths->found || !exi_measure_counts(&c->measure, l))
            continue;
        check_layer(&x);
        close_mixing(&x);
    }
}
