/*
 * figures/figures_turn.c - figure 2 of trajectory warping: local frames along a displacement that turns, and the sum of
 * equation 4. A bar bends, the paper's energies give its velocity pairs, and one of them is drawn.
 */
#include "figures_chart.h"

#include "demos/tube.h"

#include <math.h>
#include <stdlib.h>

#define DEGREES 57.29577951308232
#define SCALE   200.0 /* points per metre */
#define LEFT    -170.0
#define GROUND  268.0
#define BOTTOM  385.0 /* lower edge of the visible part of the bar */
#define SHORT   0.2   /* factor on a velocity, to make room for arrows */
#define AXIS    46.0  /* of a frame, points */

enum { SIDE = 64, FRAMES = 5, STEPS = 48, SUMMANDS = 1000 };

/* The bar's outline in the plane of its bend, and the pairs of its vertices: along its upper side, and back. */
typedef struct outline {
    int count, chosen;
    double start[2 * SIDE][3], turns[2 * SIDE][3], velocities[2 * SIDE][3];
} outline;

/* p(t) = p + t R~(t w) v (equation 6). */
static void place(const outline *o, int i, double t, double out[3]) {
    double w[3];
    for (int c = 0; c < 3; c++)
        w[c] = t * o->turns[i][c];
    ex_turn_mean(w, o->velocities[i], out);
    for (int c = 0; c < 3; c++)
        out[c] = o->start[i][c] + t * out[c];
}

/* R(t w) u */
static void turned(const outline *o, int i, double t, const double u[3], double out[3]) {
    double w[3];
    for (int c = 0; c < 3; c++)
        w[c] = t * o->turns[i][c];
    ex_turn_apply(w, u, out);
}

static double length(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* ---- the pairs ---- */

typedef struct side {
    double x;
    int vertex;
} side;

static int compare(const void *a, const void *b) {
    const double x = ((const side *)a)->x, y = ((const side *)b)->x;
    return (x > y) - (x < y);
}

/* Adds the vertices of one side that lie in the plane, to the right or back. The bend is symmetric about the bar's
 * middle, so the motion that lays its end over its start has no rotation, and is removed as a translation. */
static void add_side(outline *o, const ex_trajectories_def *def, const ex_trajectory *path, double up) {
    side found[SIDE];
    int count = 0;
    for (int v = 0; v < def->vertex_count && count < SIDE; v++)
        if (fabs(def->reference[3 * v + 2]) < 1e-6 && up * def->reference[3 * v + 1] > 1e-6)
            found[count++] = (side){up * def->reference[3 * v], v};
    qsort(found, (size_t)count, sizeof *found, compare);
    for (int i = 0; i < count; i++, o->count++) {
        const int v = found[i].vertex;
        double d[3];
        for (int c = 0; c < 3; c++) {
            o->start[o->count][c] = def->reference[3 * v + c];
            o->turns[o->count][c] = path->turns ? (double)path->turns[3 * v + c] : 0;
            d[c] = def->examples[0][3 * v + c] - path->screw.move[c] - def->reference[3 * v + c];
        }
        ex_turn_mean_inverse(o->turns[o->count], d, o->velocities[o->count]); /* equation 23 */
    }
    if (up > 0)
        o->chosen = o->count > 6 ? o->count - 6 : 0;
}

static ex_result find_outline(const ex_tasks *tasks, outline *o, ex_error *error) {
    const exi_tube_bend bend = {2, 3.4, 220};
    exi_tube tube = {.rings = 36, .around = 12, .length = 4, .half = 0.2, .hold = 2};
    ex_mesh *mesh = exi_tube_create(&tube);
    double *end = mesh ? malloc((size_t)mesh->vertex_count * 3 * sizeof *end) : NULL;
    if (!end) {
        ex_mesh_destroy(mesh);
        return ex_error_memory(error, "a bar", 0);
    }
    tube.bends = &bend;
    tube.bend_count = 1;
    exi_tube_shape(&tube, end);
    static const char *const names[1] = {"bent"};
    const double *const ends[1] = {end};
    ex_trajectories *paths = NULL;
    ex_trajectories_def def = {.vertex_count = mesh->vertex_count,
                               .triangle_count = mesh->face_count,
                               .triangles = mesh->corners,
                               .reference = mesh->positions,
                               .example_count = 1,
                               .examples = ends,
                               .names = names,
                               .options = ex_trajectory_options_default(),
                               .tasks = tasks};
    def.options.mode = EX_TRAJECTORY_PAPER;
    const ex_result result = ex_trajectories_create(&def, &paths, error);
    if (result == EX_OK) {
        add_side(o, &def, &paths->trajectories[0], 1);
        add_side(o, &def, &paths->trajectories[0], -1);
    }
    ex_trajectories_destroy(paths);
    ex_mesh_destroy(mesh);
    free(end);
    return result;
}

/* ---- the drawing ---- */

static double across(const double p[3]) {
    return LEFT + SCALE * p[0];
}

static double down(const double p[3]) {
    return GROUND - SCALE * p[1];
}

static void draw_bar(ex_canvas *canvas, const outline *o, double t, int grey) {
    double points[2 * SIDE][2], p[3];
    for (int i = 0; i < o->count; i++) {
        place(o, i, t, p);
        points[i][0] = across(p);
        points[i][1] = down(p);
    }
    ex_draw_polyline(canvas, (const double(*)[2])points, o->count, true, &(ex_pen){ex_colour_grey(grey), 1.2, 0, 0});
}

/* Draws an arrow at p along R(t w) u, scaled to that number of points per metre; returns its tip. */
static void draw_turned(ex_canvas *canvas, const outline *o, double t, const double u[3], double length,
                        const ex_pen *pen, double end[2]) {
    double p[3], r[3];
    place(o, o->chosen, t, p);
    turned(o, o->chosen, t, u, r);
    end[0] = across(p) + length * r[0];
    end[1] = down(p) - length * r[1];
    ex_draw_arrow(canvas, across(p), down(p), end[0], end[1], 7, pen);
}

static void draw_words(ex_canvas *canvas, double x, double y, ex_across at, ex_colour colour, const char *words) {
    const ex_lettering type = {
        .size = 12, .colour = colour, .across = at, .along = EX_ALONG_CENTRE, .halo = ex_colour_grey(255)};
    ex_draw_text(canvas, x, y, &type, words);
}

static void draw_parts(ex_canvas *canvas, const outline *o) {
    const ex_colour one = ex_colour_category(0).colour, two = ex_colour_category(1).colour;
    const ex_colour ink = ex_colour_grey(38), straight = ex_colour_grey(120);
    const double *v = o->velocities[o->chosen], x[3] = {1, 0, 0}, y[3] = {0, 1, 0};
    double path[STEPS + 1][2], p[3], tip[2];
    for (int i = 0; i <= STEPS; i++) {
        place(o, o->chosen, (double)i / STEPS, p);
        path[i][0] = across(p);
        path[i][1] = down(p);
    }
    ex_draw_line(canvas, path[0][0], path[0][1], path[STEPS][0], path[STEPS][1], &(ex_pen){straight, 1.6, 5, 4});
    ex_draw_polyline(canvas, (const double(*)[2])path, STEPS + 1, false, &(ex_pen){ink, 2.6, 0, 0});
    for (int i = 0; i < FRAMES; i++) {
        const double t = (double)i / (FRAMES - 1);
        const double *at = path[i * STEPS / (FRAMES - 1)];
        char words[32];
        draw_turned(canvas, o, t, x, AXIS, &(ex_pen){one, 1.8, 0, 0}, tip);
        draw_turned(canvas, o, t, y, AXIS, &(ex_pen){one, 1.8, 0, 0}, tip);
        draw_turned(canvas, o, t, v, SCALE * SHORT, &(ex_pen){two, 2.6, 0, 0}, tip);
        ex_draw_mark(canvas, EX_MARK_DOT, at[0], at[1], 4.5, &(ex_pen){ink, 1, 0, 0});
        snprintf(words, sizeof words, i ? "R(%.3g) v" : "v", t);
        /* Inside the arc, where no frame is: to the left of the arrow's direction. */
        const double length = hypot(tip[0] - at[0], tip[1] - at[1]);
        const double left[2] = {(tip[1] - at[1]) / length, (at[0] - tip[0]) / length};
        draw_words(canvas, (tip[0] + at[0]) / 2 + 14 * left[0], (tip[1] + at[1]) / 2 + 20 * left[1],
                   left[0] < -0.4  ? EX_ACROSS_RIGHT
                   : left[0] > 0.4 ? EX_ACROSS_LEFT
                                   : EX_ACROSS_MIDDLE,
                   two, words);
    }
    draw_words(canvas, (path[0][0] + path[STEPS][0]) / 2 - 20, (path[0][1] + path[STEPS][1]) / 2 + 10, EX_ACROSS_MIDDLE,
               straight, "the straight line");
}

static void draw_key(ex_canvas *canvas) {
    static const char *const words[3] = {
        "the path d(t): what all the small steps R(s) v ds from s = 0 to t come to",
        "local frames R(s): turned by the angular velocity w, s of the way",
        "the displacement velocity v: the same in every local frame",
    };
    const ex_colour colours[3] = {ex_colour_grey(38), ex_colour_category(0).colour, ex_colour_category(1).colour};
    for (int i = 0; i < 3; i++) {
        const double y = BOTTOM + 22 + 20 * i;
        ex_draw_line(canvas, 110, y, 136, y, &(ex_pen){colours[i], 2.6, 0, 0});
        draw_words(canvas, 146, y, EX_ACROSS_LEFT, colours[i], words[i]);
    }
}

/* ---- the numbers ---- */

/* Distance of the sum of steps (equation 4) from the closed form (equation 6). */
static double summed(const outline *o) {
    const double *v = o->velocities[o->chosen];
    double p[3], sum[3], step[3], far = 0;
    place(o, o->chosen, 1, p);
    for (int c = 0; c < 3; c++)
        sum[c] = o->start[o->chosen][c];
    for (int i = 0; i < SUMMANDS; i++) {
        turned(o, o->chosen, (i + 0.5) / SUMMANDS, v, step);
        for (int c = 0; c < 3; c++)
            sum[c] += step[c] / SUMMANDS;
    }
    for (int c = 0; c < 3; c++)
        far += (sum[c] - p[c]) * (sum[c] - p[c]);
    return sqrt(far);
}

ex_result exi_figure_turn(exi_figures *f, const char *path) {
    outline o = {.count = 0};
    ex_canvas *canvas = NULL;
    ex_result result = find_outline(f->tasks, &o, f->error);
    if (result == EX_OK)
        result = ex_canvas_create_svg(
            760, 470, ex_colour_grey(255), "Local frames along a displacement that turns",
            "A bar bends; at five places on the path of one of its points stand its local frame and its velocity, "
            "which keeps its place in that frame.",
            &canvas, f->error);
    if (result != EX_OK)
        return result;
    ex_canvas_clip(canvas, &(ex_box){12, 12, 748, BOTTOM});
    draw_bar(canvas, &o, 0.5, 226);
    draw_bar(canvas, &o, 0, 165);
    draw_bar(canvas, &o, 1, 165);
    ex_canvas_clip(canvas, NULL);
    draw_parts(canvas, &o);
    draw_key(canvas);
    const double *v = o.velocities[o.chosen];
    double end[3];
    place(&o, o.chosen, 1, end);
    exi_figures_fact(f, "the frame turns by", "", "%.0f\xC2\xB0", DEGREES * length(o.turns[o.chosen]));
    exi_figures_fact(f, "the path, and the straight line, metres", "", "%.2f, %.2f", length(v),
                     hypot(end[0] - o.start[o.chosen][0], end[1] - o.start[o.chosen][1]));
    exi_figures_fact(f, "1000 steps of equation 4 end from equation 6, metres", "", "%.1g", summed(&o));
    return exi_figures_write_svg(f, canvas, path);
}
