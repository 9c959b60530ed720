/*
 * figures/figures_pose_curves.c - figures of Pose Space Deformation that show lines: a point between two rigid images
 * (figure 1), two interpolants on points of a straight line (4 and 5), and the path from neutral through a half-smile
 * to a smile (7). The library's weighers compute the weights.
 */
#include "figures_chart.h"

#include <exemplar/maths.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figure 1: a construction in two dimensions ---- */

#define PI       3.14159265358979323846
#define BEND     110.0 /* degrees */
#define LENGTH   190.0 /* of a bone, in points of the picture */
#define RADIUS   62.0
#define CENTRE_X 285.0
#define CENTRE_Y 215.0

/* Moves a point, given along the upper arm and across it (above 0: outside), by a part of the bend. */
static void carry(double along, double across, double part, double out[2]) {
    double sine, cosine;
    ex_sin_cos(part * BEND * PI / 180, &sine, &cosine);
    out[0] = CENTRE_X + along * cosine + across * sine;
    out[1] = CENTRE_Y - along * sine + across * cosine;
}

/* Draws a limb as a bar with a round end at the joint. */
static void draw_limb(ex_canvas *canvas, double direction, double part) {
    enum { STEPS = 24 };
    double points[STEPS + 3][2], sine, cosine;
    carry(direction * LENGTH, -RADIUS, part, points[0]);
    for (int i = 0; i <= STEPS; i++) {
        ex_sin_cos(PI * i / STEPS, &sine, &cosine);
        carry(-direction * RADIUS * sine, -RADIUS * cosine, part, points[1 + i]);
    }
    carry(direction * LENGTH, RADIUS, part, points[STEPS + 2]);
    ex_draw_polyline(canvas, (const double(*)[2])points, STEPS + 3, false, &(ex_pen){ex_colour_grey(150), 1.2, 0, 0});
    double joint[2], end[2];
    carry(0, 0, part, joint);
    carry(direction * LENGTH, 0, part, end);
    ex_draw_line(canvas, joint[0], joint[1], end[0], end[1], &(ex_pen){ex_colour_grey(205), 4, 0, 0});
}

static void draw_words(ex_canvas *canvas, const double at[2], double x, double y, ex_across across, ex_colour colour,
                       const char *words) {
    const ex_lettering type = {.size = 12, .colour = colour, .across = across, .along = EX_ALONG_CENTRE};
    ex_draw_text(canvas, at[0] + x, at[1] + y, &type, words);
}

static void draw_construction(ex_canvas *canvas) {
    enum { STEPS = 40 };
    const ex_colour one = ex_colour_category(0).colour, two = ex_colour_category(1).colour;
    const ex_colour ink = ex_colour_grey(38), kept = ex_colour_category(2).colour;
    double joint[2], first[2], second[2], middle[2], there[2], arc[STEPS + 1][2];
    draw_limb(canvas, -1, 0);
    draw_limb(canvas, 1, 1);
    carry(0, 0, 0, joint);
    carry(0, RADIUS, 0, first);
    carry(0, RADIUS, 1, second);
    carry(0, RADIUS, 0.5, there);
    for (int i = 0; i <= STEPS; i++)
        carry(0, RADIUS, (double)i / STEPS, arc[i]);
    for (int c = 0; c < 2; c++)
        middle[c] = (first[c] + second[c]) / 2;
    ex_draw_polyline(canvas, (const double(*)[2])arc, STEPS + 1, false, &(ex_pen){kept, 2.4, 6, 5});
    ex_draw_line(canvas, first[0], first[1], second[0], second[1], &(ex_pen){ink, 2.4, 0, 0});
    ex_draw_mark(canvas, EX_MARK_DOT, joint[0], joint[1], 4, &(ex_pen){ex_colour_grey(120), 1, 0, 0});
    ex_draw_mark(canvas, EX_MARK_DOT, first[0], first[1], 5, &(ex_pen){one, 1, 0, 0});
    ex_draw_mark(canvas, EX_MARK_DOT, second[0], second[1], 5, &(ex_pen){two, 1, 0, 0});
    ex_draw_mark(canvas, EX_MARK_DOT, middle[0], middle[1], 5, &(ex_pen){ink, 1, 0, 0});
    ex_draw_mark(canvas, EX_MARK_RING, there[0], there[1], 5, &(ex_pen){kept, 2, 0, 0});
    draw_words(canvas, first, -8, 18, EX_ACROSS_MIDDLE, one, "carried by the upper arm");
    draw_words(canvas, second, 12, 0, EX_ACROSS_LEFT, two, "carried by the forearm");
    draw_words(canvas, there, 12, 8, EX_ACROSS_LEFT, kept, "as far from the joint as before");
    draw_words(canvas, middle, -14, 12, EX_ACROSS_RIGHT, ink, "half of each");
}

ex_result exi_figure_between(exi_figures *f, const char *path) {
    ex_canvas *canvas = NULL;
    ex_result result = ex_canvas_create_svg(
        600, 330, ex_colour_grey(255), "A point between two rigid images",
        "Where the upper arm and the forearm each carry a point of the skin, the line between both, and the arc that "
        "keeps its distance from the joint.",
        &canvas, f->error);
    if (result != EX_OK)
        return result;
    draw_construction(canvas);
    double sine, cosine;
    ex_sin_cos(BEND / 2 * PI / 180, &sine, &cosine);
    exi_figures_fact(f, "distance from the joint that half of each leaves, at 110\xC2\xB0", "", "%.2f", cosine);
    return exi_figures_write_svg(f, canvas, path);
}

/* ---- figures 4 and 5: six points on a straight line ---- */

enum { LINE = 6 };
static const double line_points[LINE] = {15, 29, 43, 57, 71, 85};
#define SIGMA 10.0

static double value_at(const ex_weigher *weigher, double x) {
    double weights[LINE], sum = 0;
    ex_weigher_evaluate(weigher, &x, weights);
    for (int k = 0; k < LINE; k++)
        sum += weights[k] * line_points[k];
    return sum;
}

static ex_result create_line(ex_weigher_kind kind, ex_weigher **weigher, ex_error *error) {
    ex_weigher_def def = ex_weigher_def_default();
    ex_axis axis = ex_axis_scalar(0, 100, 0);
    double falloffs[LINE];
    axis.scale = 1; /* distances in the axis's unit */
    for (int k = 0; k < LINE; k++)
        falloffs[k] = SIGMA;
    def.kind = kind;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = line_points;
    def.example_count = LINE;
    if (ex_weigher_kind_info(kind)->has_falloffs)
        def.falloffs = falloffs;
    return ex_weigher_create(&def, NULL, weigher, error);
}

/* Mean slope of the curve at the inner points; their line has a slope of 1. */
static double slope_at_points(const ex_weigher *weigher) {
    const double step = 1e-3;
    double sum = 0;
    for (int k = 1; k < LINE - 1; k++)
        sum += (value_at(weigher, line_points[k] + step) - value_at(weigher, line_points[k] - step)) / (2 * step);
    return sum / (LINE - 2);
}

/* Largest distance from the line between the points. */
static double off_the_line(const ex_weigher *weigher) {
    double worst = 0;
    for (double x = line_points[0]; x <= line_points[LINE - 1]; x += 0.1) {
        const double off = fabs(value_at(weigher, x) - x);
        worst = off > worst ? off : worst;
    }
    return worst;
}

static ex_result draw_line_chart(exi_figures *f, const exi_chart *like, ex_weigher_kind kind, const char *path) {
    ex_weigher *weigher = NULL;
    exi_chart *c = malloc(sizeof *c);
    if (!c)
        return ex_error_memory(f->error, "a figure", sizeof *c);
    *c = *like;
    c->low = -60;
    c->high = 160;
    c->top = 100;
    c->points = c->heights = line_points;
    c->point_count = LINE;
    c->curve_count = 1;
    c->curves[0].heavy = true;
    ex_result result = create_line(kind, &weigher, f->error);
    if (result == EX_OK) {
        for (int i = 0; i < EXI_CHART_SAMPLES; i++)
            c->curves[0].values[i] = value_at(weigher, exi_chart_at(c, i));
        const bool shepard = !ex_weigher_get_info(weigher)->has_falloffs;
        exi_figures_fact(f, "slope at the inner points, of a line whose slope is 1", shepard ? "0" : "", "%.2f",
                         fabs(slope_at_points(weigher)) < 0.005 ? 0 : slope_at_points(weigher));
        exi_figures_fact(f, "farthest from the line, between the points", "", "%.1f", off_the_line(weigher));
        exi_figures_fact(f, "value far from the points, whose mean is 50", shepard ? "the mean" : "0", "%.1f",
                         value_at(weigher, 1e5));
        result = exi_chart_write(f, c, path);
    }
    ex_weigher_destroy(weigher);
    free(c);
    return result;
}

ex_result exi_figure_shepard(exi_figures *f, const char *path) {
    static const exi_chart chart = {.title = "Shepard's interpolant",
                                    .description = "Six points on a straight line, and the curve through them.",
                                    .curves = {{.label = "Shepard"}}};
    return draw_line_chart(f, &chart, EX_WEIGHER_SHEPARD, path);
}

ex_result exi_figure_gaussian(exi_figures *f, const char *path) {
    static const exi_chart chart = {.title = "Gaussian radial bases",
                                    .description = "The same six points, and the curve that Gaussians make.",
                                    .curves = {{.label = "Gaussian"}}};
    return draw_line_chart(f, &chart, EX_WEIGHER_GAUSSIAN, path);
}

/* ---- figure 7: from neutral through a half-smile to a smile ---- */

static int find_example(const ex_rig *rig, const char *name) {
    const int count = ex_weigher_example_count(ex_rig_weigher(rig, 0));
    int k = 0;
    while (k < count && strcmp(ex_rig_example_name(rig, 0, k), name) != 0)
        k++;
    return k;
}

/* Number of times that a curve changes between rising and falling. */
static int turns_of(const exi_curve *curve) {
    int turns = 0, way = 0;
    for (int i = 1; i < EXI_CHART_SAMPLES; i++) {
        const double step = curve->values[i] - curve->values[i - 1];
        const int now = step > 1e-12 ? 1 : step < -1e-12 ? -1 : way;
        turns += way && now != way;
        way = now;
    }
    return turns;
}

ex_result exi_figure_smile(exi_figures *f, const char *path) {
    static const double places[] = {0, 0.5, 1};
    enum { EXAMPLE_MAX = 32 };
    const ex_rig *rig = exi_figures_rig(f, "emotion");
    if (!rig)
        return f->error->result;
    const ex_weigher *weigher = ex_rig_weigher(rig, 0);
    const int half = find_example(rig, "half_smile"), smile = find_example(rig, "smile");
    double weights[EXAMPLE_MAX];
    exi_chart *c = calloc(1, sizeof *c);
    if (!c)
        return ex_error_memory(f->error, "a figure", sizeof *c);
    *c = (exi_chart){.title = "From neutral over a half-smile to a smile",
                     .description = "A slider for each expression, the one dial of pose space, and its weights.",
                     .high = 1,
                     .bottom = -0.2,
                     .top = 1.2,
                     .points = places,
                     .point_count = 3,
                     .curve_count = 5,
                     .names = 150};
    for (int i = 0; i < EXI_CHART_SAMPLES; i++) {
        const double x = exi_chart_at(c, i);
        ex_weigher_evaluate(weigher, (const double[2]){x, 0}, weights);
        c->curves[0].values[i] = x < 0.5 ? 2 * x : 2 - 2 * x;
        c->curves[1].values[i] = x < 0.5 ? 0 : 2 * x - 1;
        c->curves[2].values[i] = x;
        c->curves[3].values[i] = weights[half];
        c->curves[4].values[i] = weights[smile];
    }
    static const char *const labels[] = {"slider, half-smile", "slider, smile", "happiness", "weight, half-smile",
                                         "weight, smile"};
    for (int k = 0; k < 5; k++) {
        c->curves[k].label = labels[k];
        c->curves[k].dashed = k < 2;
        c->curves[k].heavy = k == 2;
    }
    exi_figures_fact(f, "turns of what the animator moves: a slider for each", "1", "%d", turns_of(&c->curves[0]));
    exi_figures_fact(f, "turns of what the animator moves: pose space", "0", "%d", turns_of(&c->curves[2]));
    const ex_result result = exi_chart_write(f, c, path);
    free(c);
    return result;
}
