/*
 * Plots: curves read back from their pixels follow the weigher, through 1 at their own example; labels do not overlap,
 * with any number of examples and any size; direct layers and joints; the same bytes with any division of the work;
 * each wrong argument with its sentence; failing memory.
 */
#include "author/picture/canvas/labels.h"
#include "support/characters.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/rigs.h"
#include "support/scratch.h"

#include "author/picture/plot/plot.h"
#include "support/words.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- rigs ---- */

enum { EXAMPLES_MAX = 200, NAME_SIZE = 24 };

static const char *const axis_names[EXAMPLES_MAX] = {"bend", "size", "third"};
static const char *const axis_units[EXAMPLES_MAX] = {NULL, "mm"};

static ex_kernel rig_kernel = EX_KERNEL_BSPLINE; /* of the cardinal rigs below */

/* A triangle with examples at points of a space of dials (bend from 0 to 1, size from 10 to 30); forms do not matter
 * here. */
static ex_rig *rig_at(ex_weigher_kind kind, int axis_count, int example_count, const double *points,
                      const ex_pseudo *pseudo) {
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, zeros[9] = {0};
    static const uint32_t sizes[1] = {3}, corners[3] = {0, 1, 2};
    static char texts[EXAMPLES_MAX][NAME_SIZE];
    const char *names[EXAMPLES_MAX];
    const float *deltas[EXAMPLES_MAX];
    ex_axis axes[3];
    for (int i = 0; i < axis_count; i++)
        axes[i] = ex_axis_scalar(i == 1 ? 10 : 0, i == 1 ? 30 : 1, i == 1 ? 20 : 0);
    for (int k = 0; k < example_count; k++) {
        snprintf(texts[k], NAME_SIZE, "example %d", k);
        names[k] = texts[k];
        deltas[k] = zeros;
    }
    ex_layer_def layer = {.name = "only", .weigh = ex_weigher_def_default()};
    layer.weigh.kind = kind;
    layer.weigh.kernel = rig_kernel;
    layer.weigh.axes = axes;
    layer.weigh.axis_count = axis_count;
    layer.weigh.example_count = example_count;
    layer.weigh.points = points;
    layer.weigh.pseudos = pseudo;
    layer.weigh.pseudo_count = pseudo ? 1 : 0;
    layer.axis_names = axis_names;
    layer.axis_units = axis_units;
    layer.example_names = names;
    layer.form.deltas = deltas;
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = 3,
                             .positions = positions,
                             .split_count = 3,
                             .face_count = 1,
                             .corner_count = 3,
                             .face_sizes = sizes,
                             .corners = corners,
                             .triangle_count = 1,
                             .triangles = corners};
    def.layers = &layer;
    def.layer_count = 1;
    return rig_of(&def);
}

/* Examples scattered over both axes, no two at one place. */
static ex_rig *rig_of_many(ex_weigher_kind kind, int example_count) {
    double points[2 * EXAMPLES_MAX];
    for (int k = 0; k < example_count; k++) {
        points[2 * k] = fmod(0.5 + 0.618034 * k, 1);
        points[2 * k + 1] = 10 + 20.0 * (k + 0.5) / example_count;
    }
    return rig_at(kind, 2, example_count, points, NULL);
}

/* The space of the paper's figures 2 and 3. */
static const double figure_points[3] = {0.15, 0.30, 0.75};

static ex_plot_def def_of(const ex_rig *rig, int axis_count) {
    ex_plot_def def = ex_plot_def_default();
    def.rig = rig;
    def.axis_count = axis_count;
    def.axes[1] = 1;
    return def;
}

/* ---- pixels ---- */

static bool is_code(const ex_image *image, int x, int y, ex_colour colour, int slack) {
    const unsigned char *p = image->pixels + 4 * (y * image->width + x);
    return abs(p[0] - colour.red) <= slack && abs(p[1] - colour.green) <= slack && abs(p[2] - colour.blue) <= slack;
}

/* Positions of weights 0 and 1 and of the ends of the range in the picture: the rows of the two grey rules, and the
 * columns where the ground changes from grey to white. */
typedef struct frame {
    double x0, x1, y0, y1;
} frame;

static frame find_frame(const ex_image *image) {
    frame f = {-1, -1, -1, -1};
    int rows[8], row_count = 0;
    const int x = image->width / 9; /* in the grey ground left of the range, without a label */
    for (int y = image->height / 7; y < image->height && row_count < 8; y++) { /* below the title */
        const unsigned char *p = image->pixels + 4 * (y * image->width + x);
        if (p[0] < 190 && p[0] == p[1] && p[1] == p[2] && (row_count == 0 || y - rows[row_count - 1] > 3))
            rows[row_count++] = y;
    }
    assert_true(row_count >= 2);
    f.y1 = rows[0] + 0.5;
    f.y0 = rows[1] + 0.5;
    const int y = (4 * rows[0] + rows[1]) / 5; /* at 0.8 no curve is outside the range */
    for (int u = 1; u < image->width; u++) {
        const bool before = is_code(image, u - 1, y, ex_colour_grey(246), 0),
                   now = is_code(image, u, y, ex_colour_grey(246), 0);
        if (before && !now && f.x0 < 0)
            f.x0 = u + 1;
        if (!before && now && f.x0 >= 0)
            f.x1 = u - 1;
    }
    return f;
}

/* The middle of the pixels of a colour in a column; -1 if there are none. */
static double find_curve(const ex_image *image, int x, ex_colour colour) {
    double sum = 0, rows = 0;
    for (int y = 0; y < image->height; y++)
        if (is_code(image, x, y, colour, 6)) {
            sum += y + 0.5;
            rows++;
        }
    return rows > 0 ? sum / rows : -1;
}

static void curves_go_through_the_weights(void **state) {
    (void)state;
    ex_rig *rig = rig_at(EX_WEIGHER_CARDINAL, 1, 3, figure_points, NULL);
    ex_plot_def def = def_of(rig, 1);
    ex_image *image = NULL;
    def.scale = 2;
    assert_int_equal(ex_plot_image(&def, &image, NULL, NULL), EX_OK);
    const frame f = find_frame(image);
    int found = 0;
    for (int step = 2; step < 49; step++) {
        const int x = (int)(f.x0 + (f.x1 - f.x0) * step / 50);
        const double value = (x + 0.5 - f.x0) / (f.x1 - f.x0);
        double weights[3];
        ex_weigher_evaluate(ex_rig_weigher(rig, 0), &value, weights);
        for (int k = 0; k < 3; k++) {
            const double y = find_curve(image, x, ex_colour_category(k).colour);
            bool hidden = y < 0; /* by another curve, or by the mark at an example */
            for (int i = 0; i < 3; i++)
                hidden |= fabs(figure_points[i] - value) < 0.02 || (i != k && fabs(weights[i] - weights[k]) < 0.06);
            if (hidden)
                continue;
            found++;
            assert_near(y, f.y0 + (f.y1 - f.y0) * weights[k], 1);
        }
    }
    assert_true(found > 60);
    /* At its example each has its mark on the line of 1, with the curve's colour in the middle. */
    for (int k = 0; k < 3; k++)
        assert_true(
            is_code(image, (int)(f.x0 + (f.x1 - f.x0) * figure_points[k]), (int)f.y1, ex_colour_category(k).colour, 8));
    ex_image_destroy(image);
    ex_rig_destroy(rig);
}

/* ---- labels ---- */

/* Draws, and compares all pairs of labels. */
static int check_labels(const ex_plot_def *def) {
    ex_canvas *canvas = NULL;
    ex_error error = {.result = EX_OK};
    if (exi_plot_make(def, true, &canvas, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    const int count = exi_canvas_text_count(canvas);
    for (int i = 0; i < count; i++) {
        const char *a, *b;
        const ex_box box = exi_canvas_text(canvas, i, &a);
        if (box.x0 < 0 || box.y0 < 0 || box.x1 > ex_canvas_width(canvas) || box.y1 > ex_canvas_height(canvas))
            fail_msg("'%s' leaves the picture", a);
        for (int k = 0; k < i; k++)
            if (exi_box_overlaps(box, exi_canvas_text(canvas, k, &b)))
                fail_msg("'%s' lies upon '%s'", a, b);
    }
    ex_canvas_destroy(canvas);
    return count;
}

static void labels_do_not_overlap(void **state) {
    (void)state;
    static const int counts[] = {1, 2, 7, 14, 30, 60, 200};
    static const double sizes[][2] = {{0, 0}, {EX_PLOT_WIDTH_MIN, EX_PLOT_HEIGHT_MIN}, {400, 900}, {1200, 300}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        ex_rig *rig = rig_of_many(i % 2 ? EX_WEIGHER_SHEPARD : EX_WEIGHER_CARDINAL, counts[i]);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            ex_plot_def def = def_of(rig, 1);
            def.width = sizes[k][0];
            def.height = sizes[k][1];
            assert_true(check_labels(&def) > 8);
            def.axis_count = 2;
            if (k == 0 || (counts[i] <= 7 && k != 1) || counts[i] == 1)
                assert_true(check_labels(&def) > 8);
        }
        ex_rig_destroy(rig);
    }
}

/* ---- the drawing ---- */

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

static char *svg_of(const ex_plot_def *def, ex_plot_info *info) {
    char *text = NULL;
    size_t size;
    ex_error error = {.result = EX_OK};
    if (ex_plot_svg(def, &text, &size, info, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(strlen(text), size);
    return text;
}

static void largest_are_chosen(void **state) {
    (void)state;
    ex_rig *rig = rig_of_many(EX_WEIGHER_CARDINAL, 200);
    ex_plot_def def = def_of(rig, 0);
    ex_plot_info info;
    char *text = svg_of(&def, &info);
    assert_int_equal(info.axis_count, 2);
    assert_int_equal(info.drawn_count, EX_PLOT_MAP_MAX);
    assert_int_equal(info.example_count, 200);
    assert_int_equal(count_of(text, "24 of 200 examples, those with the largest weights"), 1);
    free(text);
    /* Along one axis, those near the slice have the largest; the names are those of the legend. */
    def.axis_count = 1;
    text = svg_of(&def, &info);
    assert_int_equal(info.drawn_count, EX_PLOT_CURVE_MAX);
    assert_int_equal(count_of(text, "\"example 100\""), 1);
    assert_int_equal(count_of(text, "\"example 0\""), 0);
    free(text);
    ex_rig_destroy(rig);
}

/* Every map has its example's name above it and at the example's place. */
static void every_map_is_named_twice(void **state) {
    (void)state;
    ex_rig *rig = rig_of_many(EX_WEIGHER_CARDINAL, 12);
    const ex_plot_def def = def_of(rig, 2);
    char *text = svg_of(&def, NULL), word[32];
    for (int k = 0; k < 12; k++) {
        snprintf(word, sizeof word, "\"example %d\"", k);
        assert_int_equal(count_of(text, word), 2);
    }
    free(text);
    ex_rig_destroy(rig);
}

/* A legend without room for all names says how many are missing. */
static void the_legend_counts_the_rest(void **state) {
    (void)state;
    ex_rig *rig = rig_of_many(EX_WEIGHER_CARDINAL, 60);
    ex_plot_def def = def_of(rig, 1);
    ex_plot_info info;
    def.width = EX_PLOT_WIDTH_MIN;
    def.height = EX_PLOT_HEIGHT_MIN;
    char *text = svg_of(&def, &info), word[32];
    int named = 0, more = 0;
    for (int k = 0; k < 60; k++) {
        snprintf(word, sizeof word, "\"example %d\"", k);
        named += count_of(text, word) > 0;
    }
    for (int k = 1; k <= 2 * info.drawn_count; k++) {
        snprintf(word, sizeof word, "\"and %d more\"", k);
        more = count_of(text, word) > 0 ? k : more;
    }
    assert_true(named > 0 && more > 0);
    assert_int_equal(named + more, info.drawn_count);
    free(text);
    ex_rig_destroy(rig);
}

/* Above the plot and at the end of the curve. */
static void every_example_is_named_twice(void **state) {
    (void)state;
    double points[9];
    for (int k = 0; k < 9; k++)
        points[k] = k / 8.0;
    /* Of this kind, most curves end at nearly the same height. */
    ex_rig *rig = rig_at(EX_WEIGHER_SHEPARD, 1, 9, points, NULL);
    const ex_plot_def def = def_of(rig, 1);
    char *text = svg_of(&def, NULL), word[32];
    for (int k = 0; k < 9; k++) {
        snprintf(word, sizeof word, "\"example %d\"", k);
        assert_int_equal(count_of(text, word), 2);
    }
    free(text);
    ex_rig_destroy(rig);
}

static void direct_layers_are_plain(void **state) {
    (void)state;
    ex_rig *rig = rig_at(EX_WEIGHER_DIRECT, 3, 3, NULL, NULL);
    ex_pose pose = ex_pose_create(rig);
    ex_plot_def def = def_of(rig, 1);
    ex_plot_info info;
    char *text = svg_of(&def, &info);
    /* The others rest: `size` at 20, which is a weight, `third` at 0, which is none. */
    assert_int_equal(info.drawn_count, 2);
    assert_int_equal(count_of(text, "size 20"), 1);
    free(text);
    assert_int_equal(exi_pose_word(rig, "third=0.5", &pose, NULL), EX_OK);
    def.pose = &pose;
    text = svg_of(&def, &info);
    assert_int_equal(info.drawn_count, 3);
    assert_int_equal(count_of(text, "third 0.5"), 1);
    free(text);
    check_labels(&def);
    def.axis_count = 2;
    check_labels(&def);
    free(pose.inputs);
    ex_rig_destroy(rig);
}

static void pseudo_examples_are_shown(void **state) {
    (void)state;
    const double points[6] = {0, 10, 1, 10, 0, 30}, at[2] = {0.5, 20}, from[2] = {0.3, 20};
    const ex_pseudo pseudo = {.at = at, .from = from};
    ex_rig *with = rig_at(EX_WEIGHER_CARDINAL, 2, 3, points, &pseudo);
    ex_rig *without = rig_at(EX_WEIGHER_CARDINAL, 2, 3, points, NULL);
    ex_plot_def def = def_of(with, 1);
    char *text = svg_of(&def, NULL);
    assert_int_equal(count_of(text, "\"pseudo 1\""), 1);
    free(text);
    check_labels(&def);
    def.axis_count = 2;
    text = svg_of(&def, NULL);
    def.rig = without;
    char *other = svg_of(&def, NULL);
    assert_true(count_of(text, "stroke=\"#323232\"") == count_of(other, "stroke=\"#323232\"") + 2 * 3);
    free(text);
    free(other);
    ex_rig_destroy(with);
    ex_rig_destroy(without);
}

/* An axis that reads a joint: weights through the joint's rotation. */
static void joints_are_plotted(void **state) {
    (void)state;
    character c;
    character_open(&c, 3, 3, EX_SKINNING_LINEAR);
    ex_rig *rig = rig_of(&c.def);
    ex_plot_def def = def_of(rig, 1);
    def.axes[0] = ex_rig_input_find(rig, "elbow");
    assert_true(def.axes[0] >= 0);
    exi_plot plot;
    assert_int_equal(exi_plot_open(&plot, &def, NULL), EX_OK);
    assert_int_equal(exi_plot_choose(&plot, 1, EX_PLOT_CURVE_MAX, NULL), EX_OK);
    plot.axes[0].count = 29;
    assert_int_equal(exi_plot_sample(&plot, NULL), EX_OK);
    assert_int_equal(plot.drawn_count, CHARACTER_FORMS);
    for (int i = 0; i < 29; i++) {
        double point[2] = {0, plot.slice[1]}, weights[CHARACTER_FORMS];
        point[0] = plot.axes[0].low + (plot.axes[0].high - plot.axes[0].low) * i / 28;
        if (fabs(point[0]) > 175)
            continue; /* a turn by more comes from the other side */
        ex_weigher_evaluate(ex_rig_weigher(rig, 0), point, weights);
        for (int k = 0; k < CHARACTER_FORMS; k++)
            assert_near((double)plot.weights[k * 29 + i], weights[k], 1e-5);
    }
    exi_plot_close(&plot);
    check_labels(&def);
    ex_rig_destroy(rig);
    character_close(&c);
}

/* ---- comparisons ---- */

static const ex_weigher_kind three[3] = {EX_WEIGHER_GAUSSIAN, EX_WEIGHER_CALM, EX_WEIGHER_CARDINAL};

/* The weigher of another kind at the points of figure_points, all parameters at their defaults. */
static ex_weigher *figure_weigher(ex_weigher_kind kind) {
    const ex_axis axis = ex_axis_scalar(0, 1, 0);
    ex_weigher_def def = ex_weigher_def_default();
    ex_weigher *weigher = NULL;
    def.kind = kind;
    def.axes = &axis;
    def.axis_count = 1;
    def.example_count = 3;
    def.points = figure_points;
    assert_int_equal(ex_weigher_create(&def, NULL, &weigher, NULL), EX_OK);
    return weigher;
}

/* Every panel says the lowest and the highest weight of its own kind, measured here with other samples. */
static void panels_say_how_far_weights_go(void **state) {
    (void)state;
    ex_rig *rig = rig_at(EX_WEIGHER_CARDINAL, 1, 3, figure_points, NULL);
    ex_plot_def def = def_of(rig, 1);
    ex_plot_info info;
    def.kinds = three;
    def.kind_count = 3;
    char *text = svg_of(&def, &info), word[64];
    for (int j = 0; j < 3; j++) {
        ex_weigher *weigher = figure_weigher(three[j]);
        double low = 0, high = 0, weights[3];
        for (int i = 0; i <= 5000; i++) {
            ex_weigher_evaluate(weigher, &(double){i / 5000.0}, weights);
            for (int k = 0; k < 3; k++) {
                low = fmin(low, weights[k]);
                high = fmax(high, weights[k]);
            }
        }
        assert_near(info.lows[j], low, 1e-4);
        assert_near(info.highs[j], high, 1e-4);
        snprintf(word, sizeof word, "\"%s\"", ex_weigher_kind_name(three[j]));
        assert_int_equal(count_of(text, word), 1);
        snprintf(word, sizeof word, "\"\xE2\x88\x92%.2f to %.2f\"", -info.lows[j], info.highs[j]);
        assert_true(count_of(text, word) >= 1);
        ex_weigher_destroy(weigher);
    }
    assert_int_equal(count_of(text, "weighed by gaussian, calm and cardinal."), 1);
    free(text);
    ex_rig_destroy(rig);
}

/* The same kind with its own parameters, not with the defaults. */
static void the_own_kind_keeps_its_parameters(void **state) {
    (void)state;
    ex_rig *rig = rig_at(EX_WEIGHER_CARDINAL, 1, 3, figure_points, NULL);
    rig_kernel = EX_KERNEL_TRIHARMONIC;
    ex_rig *other = rig_at(EX_WEIGHER_CARDINAL, 1, 3, figure_points, NULL);
    rig_kernel = EX_KERNEL_BSPLINE;
    ex_plot_info plain, compared, alone;
    ex_plot_def def = def_of(other, 1);
    free(svg_of(&def, &plain));
    def.kinds = three;
    def.kind_count = 3;
    free(svg_of(&def, &compared));
    def.rig = rig;
    free(svg_of(&def, &alone));
    assert_near(compared.lows[2], plain.lows[0], 1e-12);
    assert_true(fabs(compared.lows[2] - alone.lows[2]) > 0.01);
    assert_near(compared.lows[0], alone.lows[0], 1e-12); /* gaussian has its defaults in both */
    ex_rig_destroy(other);
    ex_rig_destroy(rig);
}

static void compared_labels_do_not_overlap(void **state) {
    (void)state;
    static const int counts[] = {2, 7, 30, 200};
    static const ex_weigher_kind all[5] = {EX_WEIGHER_CARDINAL, EX_WEIGHER_SHEPARD, EX_WEIGHER_NEAREST,
                                           EX_WEIGHER_GAUSSIAN, EX_WEIGHER_CALM};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        ex_rig *rig = rig_of_many(EX_WEIGHER_CARDINAL, counts[i]);
        for (int kinds = 1; kinds <= 5; kinds += 2) {
            ex_plot_def def = def_of(rig, 1);
            def.kinds = all;
            def.kind_count = kinds;
            assert_true(check_labels(&def) > 8);
            def.width = 700;
            def.height = 320;
            assert_true(check_labels(&def) > 8);
            def.width = def.height = 0;
            def.axis_count = 2;
            if (counts[i] <= 30)
                assert_true(check_labels(&def) > 8);
        }
        ex_rig_destroy(rig);
    }
}

/* A row for each example, a column for each kind. */
static void compared_maps_are_columns(void **state) {
    (void)state;
    ex_rig *rig = rig_of_many(EX_WEIGHER_CARDINAL, 20);
    ex_plot_def def = def_of(rig, 2);
    ex_plot_info info;
    def.kinds = three;
    def.kind_count = 3;
    ex_canvas *canvas = NULL;
    assert_int_equal(exi_plot_make(&def, true, &canvas, &info, NULL), EX_OK);
    assert_int_equal(info.drawn_count, EX_PLOT_COMPARE_MAX);
    double x[3] = {0, 0, 0}, y[3] = {0, 0, 0};
    int names = 0;
    for (int i = 0; i < exi_canvas_text_count(canvas); i++) {
        const char *text;
        const ex_box box = exi_canvas_text(canvas, i, &text);
        for (int j = 0; j < 3; j++)
            if (strcmp(text, ex_weigher_kind_name(three[j])) == 0) {
                x[j] = box.x0;
                y[j] = box.y1;
            }
        for (int j = 0; j < 3; j++) /* the name above each map */
            names += strncmp(text, "example", 7) == 0 && fabs(box.x0 - x[j]) < 1.5 && x[j] > 0;
    }
    assert_true(x[0] > 0 && x[1] > x[0] + 100 && x[2] > x[1] + 100);
    assert_near(y[0], y[2], 3);
    assert_int_equal(names, 3 * EX_PLOT_COMPARE_MAX);
    ex_canvas_destroy(canvas);
    ex_rig_destroy(rig);
}

static void kinds_that_cannot_are_refused(void **state) {
    (void)state;
    ex_rig *rig = rig_at(EX_WEIGHER_CARDINAL, 1, 3, figure_points, NULL);
    ex_rig *direct = rig_at(EX_WEIGHER_DIRECT, 3, 3, NULL, NULL);
    const struct {
        const ex_rig *rig;
        ex_weigher_kind kinds[2];
        int count;
        double width;
        const char *words;
    } cases[] = {
        {rig,
         {EX_WEIGHER_CALM, EX_WEIGHER_DIRECT},
         2,
         0,
         "direct cannot weigh the layer 'only': choose from cardinal, "},
        {rig, {EX_WEIGHER_CONVEX}, 1, 0, "convex cannot weigh the layer 'only'"},
        {rig, {EX_WEIGHER_CALM, EX_WEIGHER_CALM}, 2, 0, "the kind calm is given twice"},
        {rig, {EX_WEIGHER_CALM, EX_WEIGHER_CARDINAL}, 2, EX_PLOT_WIDTH_MIN, "2 kinds do not fit into 240 by"},
        {direct, {EX_WEIGHER_CALM}, 1, 0, "the layer 'only' is direct"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ex_plot_def def = def_of(cases[i].rig, 1);
        ex_error error = {.result = EX_OK};
        char *text = NULL;
        size_t size;
        def.kinds = cases[i].kinds;
        def.kind_count = cases[i].count;
        def.width = cases[i].width;
        assert_int_equal(ex_plot_svg(&def, &text, &size, NULL, &error), EX_ERROR_ARGUMENT);
        if (!strstr(error.text, cases[i].words))
            fail_msg("'%s' is not in '%s'", cases[i].words, error.text);
    }
    ex_rig_destroy(rig);
    ex_rig_destroy(direct);
}

/* ---- the same bytes ---- */

static void cut_oddly(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int end = count; end > 0;) {
        const int begin = end > 3 ? end - 3 : 0;
        body(context, begin, end);
        end = begin;
    }
}

static bool note_progress(void *user, const char *what, double fraction) {
    double *last = user;
    assert_non_null(what);
    assert_true(fraction >= *last && fraction <= 1);
    *last = fraction;
    return true;
}

static void bytes_do_not_depend_on_tasks(void **state) {
    (void)state;
    ex_rig *rig = rig_of_many(EX_WEIGHER_CARDINAL, 7);
    const ex_tasks tasks = {.run = cut_oddly};
    for (int round = 0; round < 4; round++) {
        double last = 0;
        const ex_progress progress = {note_progress, &last};
        ex_plot_def def = def_of(rig, 1 + round % 2);
        def.kinds = three;
        def.kind_count = round < 2 ? 0 : 3;
        char *serial = svg_of(&def, NULL);
        ex_image *first = NULL, *second = NULL;
        assert_int_equal(ex_plot_image(&def, &first, NULL, NULL), EX_OK);
        def.tasks = &tasks;
        def.progress = &progress;
        char *cut = svg_of(&def, NULL);
        assert_string_equal(serial, cut);
        assert_true(last > 0.7);
        last = 0;
        assert_int_equal(ex_plot_image(&def, &second, NULL, NULL), EX_OK);
        assert_int_equal(first->width, second->width);
        assert_memory_equal(first->pixels, second->pixels, 4 * (size_t)first->width * (size_t)first->height);
        free(serial);
        free(cut);
        ex_image_destroy(first);
        ex_image_destroy(second);
    }
    ex_rig_destroy(rig);
}

static void files_are_written(void **state) {
    (void)state;
    ex_rig *rig = rig_at(EX_WEIGHER_CARDINAL, 1, 3, figure_points, NULL);
    ex_plot_def def = def_of(rig, 0);
    ex_plot_info info;
    ex_image *image = NULL;
    size_t size;
    def.width = 300;
    def.height = 200;
    def.scale = 1.5;
    assert_int_equal(ex_plot_write(&def, scratch_path("a.png"), &info, NULL), EX_OK);
    assert_int_equal(info.axis_count, 1);
    assert_near(info.width, 300, 0);
    assert_int_equal(ex_image_read(scratch_path("a.png"), &image, NULL), EX_OK);
    assert_int_equal(image->width, 450);
    assert_int_equal(image->height, 300);
    ex_image_destroy(image);
    assert_int_equal(ex_plot_write(&def, scratch_path("a.svg"), NULL, NULL), EX_OK);
    char *text = scratch_read("a.svg", &size);
    char *direct = svg_of(&def, NULL);
    assert_int_equal(size, strlen(direct));
    assert_memory_equal(text, direct, size);
    free(text);
    free(direct);
    ex_error error = {.result = EX_OK};
    assert_int_equal(ex_plot_write(&def, scratch_path("none/a.svg"), NULL, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "none/a.svg");
    ex_rig_destroy(rig);
}

/* ---- wrong arguments, memory ---- */

static void stay_calm(const char *function, const char *what) {
    (void)function;
    (void)what;
}

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, 8);
    ex_rig *rig = rig_of(&s.def);
    const int bend = ex_rig_input_find(rig, "bend"), turn = ex_rig_input_find(rig, "turn");
    const int smile = ex_rig_input_find(rig, "smile");
    const struct {
        int layer, axis_count, first, second;
        double width, height, scale;
        const char *word;
    } wrong[] = {
        {-1, 1, bend, 0, 0, 0, 1, "layer -1"},
        {3, 1, bend, 0, 0, 0, 1, "the rig has 3"},
        {0, 3, bend, 0, 0, 0, 1, "one axis or two"},
        {0, -1, bend, 0, 0, 0, 1, "one axis or two"},
        {0, 1, 99, 0, 0, 0, 1, "axis 99"},
        {0, 2, bend, -1, 0, 0, 1, "axis -1"},
        {0, 1, turn, 0, 0, 0, 1, "'turn' is a rotation"},
        {0, 2, bend, turn, 0, 0, 1, "'turn' is a rotation"},
        {0, 1, smile, 0, 0, 0, 1, "does not depend on the axis 'smile'"},
        {0, 2, bend, bend, 0, 0, 1, "'bend' is given twice"},
        {0, 1, bend, 0, 100, 400, 1, "too small"},
        {0, 1, bend, 0, 400, 100, 1, "too small"},
        {0, 1, bend, 0, NAN, 400, 1, "too small"},
        {0, 1, bend, 0, 20000, 400, 1, "from 1 to"},
        {0, 1, bend, 0, 0, 0, 0, "above 0"},
        {0, 1, bend, 0, 0, 0, 400, "at most 16"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ex_plot_def def = {.rig = rig,
                           .layer = wrong[i].layer,
                           .axis_count = wrong[i].axis_count,
                           .axes = {wrong[i].first, wrong[i].second},
                           .width = wrong[i].width,
                           .height = wrong[i].height,
                           .scale = wrong[i].scale};
        ex_error error = {.result = EX_OK};
        ex_image *image = NULL;
        assert_int_equal(ex_plot_image(&def, &image, NULL, &error), EX_ERROR_ARGUMENT);
        assert_null(image);
        assert_sentence(&error, EX_ERROR_ARGUMENT, wrong[i].word);
    }
    ex_rig_destroy(rig);
    sample_rig_close(&s);
    rig = rig_of_many(EX_WEIGHER_SHEPARD, 24);
    ex_plot_def def = def_of(rig, 2);
    ex_error error = {.result = EX_OK};
    ex_image *image = NULL;
    def.width = EX_PLOT_WIDTH_MIN;
    def.height = EX_PLOT_HEIGHT_MIN;
    assert_int_equal(ex_plot_image(&def, &image, NULL, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "24 maps do not fit");
    ex_rig_destroy(rig);
    ex_set_misuse_hook(stay_calm);
    def = ex_plot_def_default();
    assert_int_equal(ex_plot_image(&def, &image, NULL, NULL), EX_ERROR_ARGUMENT);
    ex_set_misuse_hook(NULL);
}

static ex_result attempt(void *context) {
    const ex_plot_def *def = context;
    char *text = NULL;
    size_t size;
    const ex_result result = ex_plot_svg(def, &text, &size, NULL, NULL);
    free(text);
    return result;
}

static void memory_may_run_out(void **state) {
    (void)state;
    const double points[2] = {0, 1};
    ex_rig *rig = rig_at(EX_WEIGHER_CARDINAL, 1, 2, points, NULL);
    ex_plot_def def = def_of(rig, 1);
    def.width = EX_PLOT_WIDTH_MIN;
    def.height = EX_PLOT_HEIGHT_MIN;
    assert_true(fail_alloc_sweep(attempt, &def) > 50);
    def.width = 400;
    def.kinds = three;
    def.kind_count = 2;
    assert_true(fail_alloc_sweep(attempt, &def) > 100);
    ex_rig_destroy(rig);
    rig = rig_at(EX_WEIGHER_CARDINAL, 2, 1, (double[]){0.5, 20}, NULL);
    def = def_of(rig, 2);
    def.width = EX_PLOT_WIDTH_MIN;
    def.height = EX_PLOT_HEIGHT_MIN;
    assert_true(fail_alloc_sweep(attempt, &def) > 50);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_go_through_the_weights),
        cmocka_unit_test(labels_do_not_overlap),
        cmocka_unit_test(largest_are_chosen),
        cmocka_unit_test(the_legend_counts_the_rest),
        cmocka_unit_test(every_map_is_named_twice),
        cmocka_unit_test(every_example_is_named_twice),
        cmocka_unit_test(direct_layers_are_plain),
        cmocka_unit_test(pseudo_examples_are_shown),
        cmocka_unit_test(joints_are_plotted),
        cmocka_unit_test(panels_say_how_far_weights_go),
        cmocka_unit_test(the_own_kind_keeps_its_parameters),
        cmocka_unit_test(compared_labels_do_not_overlap),
        cmocka_unit_test(compared_maps_are_columns),
        cmocka_unit_test(kinds_that_cannot_are_refused),
        cmocka_unit_test(bytes_do_not_depend_on_tasks),
        cmocka_unit_test_setup_teardown(files_are_written, scratch_set_up, scratch_tear_down),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
