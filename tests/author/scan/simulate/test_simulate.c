/*
 * The simulated scanner in front of an egg: samples on its surface and on the side of their head, noise along the ray,
 * no samples at grazing angles; markers where they were painted, stretched with the skin; views merged into one layer
 * with holes; random numbers that depend only on names; each wrong number with its sentence; failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/scan/simulate/simulate.h"
#include "support/check.h"
#include "support/dummies.h"
#include "support/fail_alloc.h"

static const double pi = 3.14159265358979323846;

typedef struct studio {
    ex_rig *rig;
    ex_pose pose;
    ex_scan_simulation scanner;
    ex_paint *paints;
    int paint_count;
} studio;

static studio open_studio(void) {
    studio s = {.rig = dummy_rig(31, 48)};
    s.pose = dummy_pose(s.rig);
    s.scanner = dummy_scanner(s.rig, NULL);
    assert_int_equal(ex_scan_paint(s.rig, 0, 4, &s.paints, &s.paint_count, NULL), EX_OK);
    return s;
}

static void close_studio(studio *s) {
    ex_paints_free(s->paints, s->paint_count);
    free(s->pose.inputs);
    ex_rig_destroy(s->rig);
}

static ex_scan_shot *shoot(studio *s) {
    ex_scan_shot *shot = NULL;
    ex_error error = {.result = EX_OK};
    s->scanner.poses = &s->pose;
    if (ex_scan_shoot(&s->scanner, 0, s->paints, s->paint_count, &shot, &error) != EX_OK)
        fail_msg("%s", error.text);
    return shot;
}

/* From the middle of the egg to a vertex; its length. */
static double radius(const double point[3], double away[3]) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        away[k] = point[k] - dummy_centre[k];
        sum += away[k] * away[k];
    }
    return sqrt(sum);
}

/* Cosine of the angle at which the head of a view sees a point of a sphere. */
static double slant(int view, int count, const double away[3], double length) {
    const double angle = 2 * pi * (view + 0.5) / count;
    return (away[0] * sin(angle) + away[2] * cos(angle)) / length;
}

/* ---- samples ---- */

/* The egg is flat between its vertices, by at most half a millimetre. */
static void samples_are_where_rays_end(void **state) {
    (void)state;
    studio s = open_studio();
    s.scanner.noise = 0;
    ex_scan_shot *shot = shoot(&s);
    assert_int_equal(shot->mesh_count, 4);
    for (int view = 0; view < 4; view++) {
        const ex_mesh *mesh = shot->meshes[view];
        double least = 1;
        /* 48 to 77 times 8 mm lie between 0.38 and 0.62 m; of the lines, a disc of 15 around the middle is met at 15
         * degrees or more */
        assert_int_equal(shot->rows[view], 30);
        assert_in_range(mesh->vertex_count, 550, 710);
        assert_in_range(mesh->face_count, 1000, 1400);
        for (int v = 0; v < mesh->vertex_count; v++) {
            double away[3];
            const double *at = mesh->positions + 3 * v, length = radius(at, away),
                         square = slant(view, 4, away, length);
            const double angle = 2 * pi * (view + 0.5) / 4, across = at[0] * cos(angle) - at[2] * sin(angle);
            assert_true(length < DUMMY_RADIUS + 1e-6 && length > DUMMY_RADIUS - 0.0008);
            assert_near(at[1] / 0.008, round(at[1] / 0.008), 1e-4); /* on the lines of the grid */
            assert_near(across / 0.008, round(across / 0.008), 1e-4);
            least = square < least ? square : least;
        }
        assert_true(least > sin(15 * pi / 180) - 0.07); /* a facet's normal is slightly off */
        assert_true(least < 0.4);
        for (int f = 0; f < mesh->face_count; f++) { /* counter-clockwise from outside */
            double a[3][3], n[3];
            for (int i = 0; i < 3; i++)
                memcpy(a[i], mesh->positions + 3 * mesh->corners[3 * f + i], sizeof a[i]);
            for (int k = 0; k < 3; k++) {
                const int i = (k + 1) % 3, j = (k + 2) % 3;
                n[k] = (a[1][i] - a[0][i]) * (a[2][j] - a[0][j]) - (a[1][j] - a[0][j]) * (a[2][i] - a[0][i]);
            }
            assert_true(slant(view, 4, n, 1) > 0);
        }
    }
    ex_scan_shot_destroy(shot);
    close_studio(&s);
}

static void noise_is_along_the_ray(void **state) {
    (void)state;
    studio s = open_studio();
    s.scanner.noise = 0;
    ex_scan_shot *clean = shoot(&s);
    s.scanner.noise = 0.001;
    ex_scan_shot *noisy = shoot(&s);
    for (int view = 0; view < 4; view++) {
        const ex_mesh *a = clean->meshes[view], *b = noisy->meshes[view];
        double sum = 0, mean = 0;
        int count = 0;
        for (int v = 0, w = 0; v < a->vertex_count && w < b->vertex_count; v++) {
            const double *p = a->positions + 3 * v, *q = b->positions + 3 * w;
            const double angle = 2 * pi * (view + 0.5) / 4, right[2] = {cos(angle), -sin(angle)};
            if (fabs(p[1] - q[1]) > 1e-5 || fabs((p[0] - q[0]) * right[0] + (p[2] - q[2]) * right[1]) > 1e-5)
                continue; /* a sample at the edge that only one has */
            const double along = (q[0] - p[0]) * sin(angle) + (q[2] - p[2]) * cos(angle);
            assert_true(fabs(along) < 0.0035);
            sum += along * along;
            mean += along;
            count++;
            w++;
        }
        assert_true(count > 400);
        assert_near(sqrt(sum / count), 0.001, 0.00012);
        assert_near(mean / count, 0, 0.00015);
    }
    ex_scan_shot_destroy(clean);
    ex_scan_shot_destroy(noisy);
    close_studio(&s);
}

static void grazing_samples_are_lost(void **state) {
    (void)state;
    studio s = open_studio();
    int counts[2];
    for (int i = 0; i < 2; i++) {
        s.scanner.grazing = i == 0 ? 0 : 60;
        s.scanner.noise = 0;
        ex_scan_shot *shot = shoot(&s);
        double least = 1;
        counts[i] = shot->meshes[0]->vertex_count;
        for (int v = 0; v < counts[i]; v++) {
            double away[3];
            const double length = radius(shot->meshes[0]->positions + 3 * v, away), square = slant(0, 4, away, length);
            least = square < least ? square : least;
        }
        assert_true(i == 0 ? least < 0.2 : least > sin(60 * pi / 180) - 0.05);
        ex_scan_shot_destroy(shot);
    }
    assert_true(counts[1] < counts[0] / 3); /* (1 - 3/4) of the disc */
    close_studio(&s);
}

/* An arm that is extended in front of the egg hides everything behind it, and its sides are seen at too small an
 * angle. */
static void what_is_behind_is_hidden(void **state) {
    (void)state;
    studio s = open_studio();
    s.scanner.noise = 0;
    s.scanner.view_count = 2; /* from +x and from -x */
    s.pose.joints[DUMMY_LEFT].translation[0] += 0.4F;
    ex_scan_shot *shot = shoot(&s);
    for (int view = 0; view < 2; view++) {
        const ex_mesh *mesh = shot->meshes[view];
        assert_true(mesh->vertex_count > 300);
        for (int v = 0; v < mesh->vertex_count; v++)
            assert_true(view == 0 ? mesh->positions[3 * v] > 0.44 : mesh->positions[3 * v] < 0);
    }
    ex_scan_shot_destroy(shot);
    close_studio(&s);
}

/* Three rows of three samples, 1 across and 1 along: a flat corner, a step of 5, and one that is missing. */
static void jumps_are_not_connected(void **state) {
    (void)state;
    float depths[9] = {0, 0, 5, 0, 0, 5, 0, 1, NAN}, slants[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    unsigned char colours[9][3] = {{0}, {10}, {20}, {30}, {40}, {50}, {60}, {70}, {80}}, cells[9] = {0};
    exi_range_view view = {.head = {0, 0, 1},
                           .right = {1, 0, 0},
                           .pitch = {1, 1},
                           .first_row = 10,
                           .first_column = 20,
                           .row_count = 3,
                           .column_count = 3,
                           .depths = depths,
                           .slants = slants,
                           .colours = colours,
                           .cells = cells};
    ex_mesh *mesh = NULL;
    double depth, square, colour[3];
    exi_view_connect(&view, 0);
    const int both = EXI_CELL_FIRST | EXI_CELL_SECOND;
    assert_int_equal(cells[0] & both, both); /* cells of the first row: flat, and across the step */
    assert_int_equal(cells[1] & both, 0);
    assert_int_equal(cells[2] & both, both); /* of the second: over a rise of 1, along the flatter diagonal */
    assert_int_equal(cells[2] & EXI_CELL_TURNED, EXI_CELL_TURNED);
    assert_int_equal(cells[3] & both, 0);
    assert_true(isnan(depths[2]) && isnan(depths[5])); /* nothing connects them */
    assert_int_equal(exi_view_mesh(&view, &mesh, NULL), EX_OK);
    assert_int_equal(mesh->vertex_count, 6);
    assert_int_equal(mesh->face_count, 4);
    assert_row_near(mesh->positions + 3 * 5, ((double[]){21, 12, 1}), 3, 0);
    assert_near((double)mesh->colours[3 * 5], 70 / 255.0, 1e-7);
    ex_mesh_destroy(mesh);
    /* halfway from (20, 11) at 0 to (21, 12) at 1, where the diagonal is at 0 */
    assert_true(exi_view_look(&view, 20.75, 11.75, &depth, &square, colour));
    assert_near(depth, 0.5, 1e-12);
    assert_near(square, 1, 1e-12);
    assert_near(colour[0], 0.25 * 60 + 0.5 * 70 + 0.25 * 40, 1e-9);
    assert_true(exi_view_look(&view, 20.25, 11.25, &depth, &square, NULL));
    assert_near(depth, 0, 1e-12);
    assert_false(exi_view_look(&view, 21.5, 10.5, &depth, &square, NULL));
    assert_false(exi_view_look(&view, 19.9, 10.5, &depth, &square, NULL));
}

/* ---- markers ---- */

static double colour_off(const ex_mesh *mesh, int vertex, const unsigned char colour[3]) {
    double most = 0;
    for (int k = 0; k < 3; k++) {
        const double off = fabs((double)mesh->colours[3 * vertex + k] * 255 - colour[k]);
        most = off > most ? off : most;
    }
    return most;
}

static double apart(const double *a, const double *b) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static void places_are_far_apart(void **state) {
    (void)state;
    studio s = open_studio();
    ex_scan_shot *shot = shoot(&s);
    assert_int_equal(s.paint_count, 12); /* four for each of the three joints that move skin */
    for (int i = 0; i < s.paint_count; i++) {
        double away[3];
        assert_near(radius(shot->places[i], away), DUMMY_RADIUS, 1e-6);
        const int side = away[0] > 0.04 ? DUMMY_LEFT : away[0] < -0.04 ? DUMMY_RIGHT : DUMMY_HIPS;
        assert_int_equal(s.paints[i].joint, side);
        for (int j = 0; j < i; j++) {
            assert_true(apart(shot->places[i], shot->places[j]) > 0.05);
            assert_string_not_equal(s.paints[i].name, s.paints[j].name);
            if (apart(shot->places[i], shot->places[j]) < 0.07)
                assert_memory_not_equal(s.paints[i].colour, s.paints[j].colour, 3);
        }
    }
    ex_scan_shot_destroy(shot);
    close_studio(&s);
}

/* Inside its edge a marker has its colour, beyond it the skin has no paint; visible ones are shown by samples. */
static void markers_are_where_they_were_painted(void **state) {
    (void)state;
    studio s = open_studio();
    s.scanner.pitch[0] = s.scanner.pitch[1] = 0.005;
    s.scanner.noise = 0;
    ex_scan_shot *shot = shoot(&s);
    int counts[12] = {0};
    for (int view = 0; view < 4; view++) {
        const ex_mesh *mesh = shot->meshes[view];
        for (int v = 0; v < mesh->vertex_count; v++) {
            double nearest = 1;
            for (int i = 0; i < s.paint_count; i++) {
                const double off = apart(mesh->positions + 3 * v, shot->places[i]);
                nearest = off < nearest ? off : nearest;
                if (off < 0.015 - 0.004) {
                    assert_true(colour_off(mesh, v, s.paints[i].colour) < 12);
                    counts[i]++;
                }
            }
            if (nearest > 0.015 + 0.004)
                assert_true(colour_off(mesh, v, (unsigned char[]){206, 162, 138}) < 35);
        }
    }
    for (int i = 0; i < s.paint_count; i++) {
        assert_true(shot->visible[i]);
        assert_true(counts[i] > 5);
    }
    ex_scan_shot_destroy(shot);
    close_studio(&s);
}

static void paint_stays_on_its_side(void **state) {
    (void)state;
    const exi_spot spot = {.normal = {0, 0, 1}, .radius = 1};
    const double up[3] = {0, 0, 1}, down[3] = {0, 0, -1};
    assert_near(exi_spot_cover(&spot, (double[]){0.5, 0, 0}, up, 0.2), 1, 0);
    assert_near(exi_spot_cover(&spot, (double[]){0, 0.95, 0}, up, 0.2), 0.75, 1e-12);
    assert_near(exi_spot_cover(&spot, (double[]){0, 1.1, 0}, up, 0.2), 0, 1e-12);
    assert_near(exi_spot_cover(&spot, (double[]){0, 0, -0.01}, down, 0.2), 0, 0);
}

static void one_head_sees_one_side(void **state) {
    (void)state;
    studio s = open_studio();
    s.scanner.view_count = 1; /* from -z */
    ex_scan_shot *shot = shoot(&s);
    for (int i = 0; i < s.paint_count; i++) {
        double away[3];
        const double square = slant(0, 1, away, radius(shot->places[i], away));
        if (fabs(square) > 0.5)
            assert_true(shot->visible[i] == (square > 0));
        if (square < 0)
            assert_false(shot->visible[i]);
    }
    ex_scan_shot_destroy(shot);
    close_studio(&s);
}

static int painted_samples(const ex_scan_shot *shot, const studio *s) {
    int count = 0;
    for (int view = 0; view < shot->mesh_count; view++)
        for (int v = 0; v < shot->meshes[view]->vertex_count; v++)
            for (int i = 0; i < s->paint_count; i++)
                if (colour_off(shot->meshes[view], v, s->paints[i].colour) < 12) {
                    count++;
                    break;
                }
    return count;
}

/* The entire skin is stretched, and so are markers: four times as many samples show paint. */
static void markers_stretch_with_the_skin(void **state) {
    (void)state;
    studio s = open_studio();
    ex_scan_shot *small = shoot(&s);
    for (int k = 0; k < 3; k++)
        s.pose.joints[DUMMY_HIPS].scale[k] = 2;
    ex_scan_shot *large = shoot(&s);
    const double more = (double)painted_samples(large, &s) / painted_samples(small, &s);
    assert_true(more > 3.3 && more < 5.2);
    ex_scan_shot_destroy(small);
    ex_scan_shot_destroy(large);
    close_studio(&s);
}

static void some_are_rubbed_off_and_some_are_false(void **state) {
    (void)state;
    studio s = open_studio();
    int seen = 0, painted[3];
    const char *names[] = {"a"};
    s.scanner.names = names;
    for (int i = 0; i < 3; i++) {
        s.scanner.missing = i == 1 ? 0.5 : i == 2 ? 1 : 0;
        s.scanner.stray = i == 2 ? 1 : 0;
        ex_scan_shot *shot = shoot(&s);
        painted[i] = painted_samples(shot, &s);
        for (int m = 0; m < s.paint_count && i > 0; m++) {
            seen += shot->visible[m];
            assert_true(i < 2 || !shot->visible[m]);
        }
        ex_scan_shot_destroy(shot);
    }
    assert_in_range(seen, 2, 10);
    assert_true(painted[1] < 0.9 * painted[0] && painted[1] > 0.1 * painted[0]);
    assert_true(painted[2] > 0.2 * painted[0]); /* all of them false */
    close_studio(&s);
}

/* ---- merging ---- */

/* Number of times that a ray from the middle of the egg meets the mesh, and the last place. */
static int crossings(const ex_bounds *fit, const double direction[3], double *where) {
    ex_ray ray = {.t_min = 0, .t_max = INFINITY};
    ex_hit hit;
    int count = 0;
    for (int k = 0; k < 3; k++) {
        ray.origin[k] = (float)dummy_centre[k];
        ray.direction[k] = (float)direction[k];
    }
    for (; ex_bounds_ray(fit, &ray, &hit); count++) {
        *where = (double)hit.t;
        ray.t_min = hit.t + 1e-5F;
    }
    return count;
}

static void merged_views_are_one_layer(void **state) {
    (void)state;
    studio s = open_studio();
    s.scanner.merged = true;
    s.scanner.pitch[0] = s.scanner.pitch[1] = 0.006;
    ex_scan_shot *shot = shoot(&s);
    assert_int_equal(shot->mesh_count, 1);
    const ex_mesh *mesh = shot->meshes[0];
    float *positions = calloc(3 * (size_t)mesh->vertex_count, sizeof *positions);
    assert_non_null(positions);
    for (int i = 0; i < 3 * mesh->vertex_count; i++)
        positions[i] = (float)mesh->positions[i];
    ex_tree *tree = NULL;
    assert_int_equal(ex_tree_create(&(ex_tree_def){.vertex_count = mesh->vertex_count,
                                                   .positions = positions,
                                                   .triangle_count = mesh->face_count,
                                                   .triangles = (const uint32_t *)mesh->corners},
                                    NULL, &tree, NULL),
                     EX_OK);
    void *memory = malloc(ex_bounds_size(tree));
    const ex_bounds *fit = ex_bounds_fit(tree, positions, 0, memory, NULL);
    double sum = 0;
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 7; j++) { /* up to 45 degrees from the equator */
            const double around = 2 * pi * i / 40, up = (j - 3) * pi / 12;
            const double direction[3] = {cos(up) * sin(around), sin(up), cos(up) * cos(around)};
            double where = 0;
            assert_int_equal(crossings(fit, direction, &where), 1);
            assert_near(where, DUMMY_RADIUS, 0.003);
            sum += (where - DUMMY_RADIUS) * (where - DUMMY_RADIUS);
        }
    assert_true(sqrt(sum / 280) < 0.0009); /* below the noise */
    double volume = 0; /* six times that of the cones to the faces: above 0 where they face outwards */
    for (int f = 0; f < mesh->face_count; f++) {
        double a[3][3];
        for (int i = 0; i < 3; i++)
            radius(mesh->positions + 3 * mesh->corners[3 * f + i], a[i]);
        const double one = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) +
                           a[0][1] * (a[1][2] * a[2][0] - a[1][0] * a[2][2]) +
                           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
        assert_true(one > -1e-7);
        volume += one;
    }
    assert_true(volume > 0.8 * 8 * pi * pow(DUMMY_RADIUS, 3));
    double where;
    assert_int_equal(crossings(fit, (double[]){0, 1, 0}, &where), 0); /* which no head sees */
    assert_int_equal(crossings(fit, (double[]){0, -1, 0}, &where), 0);
    free(memory);
    ex_tree_destroy(tree);
    free(positions);
    ex_scan_shot_destroy(shot);
    close_studio(&s);
}

/* ---- chance ---- */

static bool are_same(const ex_scan_shot *a, const ex_scan_shot *b) {
    bool same = a->mesh_count == b->mesh_count;
    for (int i = 0; i < a->mesh_count && same; i++) {
        const ex_mesh *p = a->meshes[i], *q = b->meshes[i];
        same = p->vertex_count == q->vertex_count &&
               memcmp(p->positions, q->positions, 24 * (size_t)p->vertex_count) == 0 &&
               memcmp(p->colours, q->colours, 12 * (size_t)p->vertex_count) == 0;
    }
    return same;
}

/* By its name, whatever its number. */
static void scans_depend_on_names_and_seed(void **state) {
    (void)state;
    studio s = open_studio();
    const char *names[][2] = {{"a", "b"}, {"b", "a"}};
    const ex_pose poses[2] = {s.pose, s.pose};
    ex_scan_shot *shots[4] = {NULL};
    s.scanner.poses = poses;
    s.scanner.pose_count = 2;
    s.scanner.missing = 0.3;
    s.scanner.stray = 0.3;
    for (int i = 0; i < 4; i++) {
        s.scanner.names = names[i == 1];
        s.scanner.seed = i == 3 ? 2 : 1;
        assert_int_equal(ex_scan_shoot(&s.scanner, i == 1 || i == 2, s.paints, s.paint_count, &shots[i], NULL), EX_OK);
    }
    assert_true(are_same(shots[0], shots[1]));  /* a, first and second */
    assert_false(are_same(shots[0], shots[2])); /* b */
    assert_false(are_same(shots[0], shots[3]));
    for (int i = 0; i < 4; i++)
        ex_scan_shot_destroy(shots[i]);
    close_studio(&s);
}

/* ---- errors ---- */

static void wrong_numbers_are_named(void **state) {
    (void)state;
    studio s = open_studio();
    const struct {
        size_t at;
        double value;
        ex_result result;
        const char *word;
    } cases[] = {{offsetof(ex_scan_simulation, pitch), 0, EX_ERROR_ARGUMENT, "pitch"},
                 {offsetof(ex_scan_simulation, pitch), NAN, EX_ERROR_ARGUMENT, "pitch"},
                 {offsetof(ex_scan_simulation, noise), -1, EX_ERROR_ARGUMENT, "noise"},
                 {offsetof(ex_scan_simulation, grazing), 90, EX_ERROR_ARGUMENT, "grazing"},
                 {offsetof(ex_scan_simulation, marker_size), 0, EX_ERROR_ARGUMENT, "marker"},
                 {offsetof(ex_scan_simulation, missing), 1.1, EX_ERROR_ARGUMENT, "missing"},
                 {offsetof(ex_scan_simulation, stray), -0.1, EX_ERROR_ARGUMENT, "stray"}};
    ex_scan_shot *shot = NULL;
    ex_error error;
    s.scanner.poses = &s.pose;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_scan_simulation wrong = s.scanner;
        memcpy((char *)&wrong + cases[i].at, &cases[i].value, sizeof(double));
        assert_int_equal(ex_scan_shoot(&wrong, 0, s.paints, s.paint_count, &shot, &error), cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_null(shot);
    }
    ex_scan_simulation wrong = s.scanner;
    wrong.view_count = 0;
    assert_int_equal(ex_scan_shoot(&wrong, 0, NULL, 0, &shot, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "views");
    wrong = s.scanner;
    wrong.level = 3;
    assert_int_equal(ex_scan_shoot(&wrong, 0, NULL, 0, &shot, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "level 3");
    wrong = s.scanner;
    wrong.pitch[0] = wrong.pitch[1] = 1e-5;
    assert_int_equal(ex_scan_shoot(&wrong, 0, NULL, 0, &shot, &error), EX_ERROR_LIMIT);
    assert_sentence(&error, EX_ERROR_LIMIT, "pitch");
    s.paints[0].triangle = 100000;
    assert_int_equal(ex_scan_shoot(&s.scanner, 0, s.paints, s.paint_count, &shot, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "triangle 100000");
    close_studio(&s);
}

static void a_rig_without_faces_is_refused(void **state) {
    (void)state;
    const float positions[9] = {0};
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = 3, .positions = positions, .split_count = 3};
    ex_rig *rig = NULL;
    assert_int_equal(ex_rig_create(&def, NULL, &rig, NULL), EX_OK);
    const ex_pose pose = {.inputs = NULL};
    const ex_scan_simulation scanner = dummy_scanner(rig, &pose);
    ex_scan_shot *shot;
    ex_paint *paints;
    int count;
    ex_error error;
    assert_int_equal(ex_scan_shoot(&scanner, 0, NULL, 0, &shot, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "no surface");
    assert_int_equal(ex_scan_paint(rig, 0, 4, &paints, &count, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "no skeleton");
    ex_rig_destroy(rig);
}

static ex_result try_to_shoot(void *context) {
    const studio *s = context;
    ex_scan_shot *shot = NULL;
    ex_paint *paints = NULL;
    int count = 0;
    ex_result result = ex_scan_paint(s->rig, 0, 2, &paints, &count, NULL);
    if (result == EX_OK)
        result = ex_scan_shoot(&s->scanner, 0, paints, count, &shot, NULL);
    ex_scan_shot_destroy(shot);
    ex_paints_free(paints, count);
    return result;
}

static void memory_may_run_out(void **state) {
    (void)state;
    studio s = {.rig = dummy_rig(5, 6)};
    s.pose = dummy_pose(s.rig);
    s.scanner = dummy_scanner(s.rig, &s.pose);
    s.scanner.pitch[0] = s.scanner.pitch[1] = 0.03;
    s.scanner.stray = 1;
    for (int merged = 0; merged < 2; merged++) {
        s.scanner.merged = merged;
        assert_true(fail_alloc_sweep(try_to_shoot, &s) > 20);
    }
    close_studio(&s);
}

/* A point below a ceiling, near or far, is hidden; the surface does not hide itself. */
static void what_is_in_the_way_hides(void **state) {
    (void)state;
    static const uint32_t triangles[6] = {0, 1, 2, 3, 4, 5};
    static const double up[3] = {0, 1, 0}, point[3] = {0, 0, 0}, heights[] = {0.01, 0.5, 0.99, 3};
    for (int i = 0; i < 5; i++) {
        const float y = i < 4 ? (float)heights[i] : -1;
        const float positions[18] = {-1, 0, -1, 1, 0, -1, 0, 0, 2, -1, y, -1, 1, y, -1, 0, y, 2};
        const ex_tree_def def = {
            .vertex_count = 6, .positions = positions, .triangle_count = 2, .triangles = triangles};
        ex_tree *tree = NULL;
        assert_int_equal(ex_tree_create(&def, NULL, &tree, NULL), EX_OK);
        void *memory = malloc(ex_bounds_size(tree));
        assert_non_null(memory);
        const ex_bounds *fit = ex_bounds_fit(tree, positions, 0, memory, NULL);
        assert_near(exi_head_sees(fit, up, point, up), i == 4, 1e-12);
        free(memory);
        ex_tree_destroy(tree);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_the_way_hides),
        cmocka_unit_test(samples_are_where_rays_end),
        cmocka_unit_test(noise_is_along_the_ray),
        cmocka_unit_test(grazing_samples_are_lost),
        cmocka_unit_test(what_is_behind_is_hidden),
        cmocka_unit_test(jumps_are_not_connected),
        cmocka_unit_test(places_are_far_apart),
        cmocka_unit_test(markers_are_where_they_were_painted),
        cmocka_unit_test(paint_stays_on_its_side),
        cmocka_unit_test(one_head_sees_one_side),
        cmocka_unit_test(markers_stretch_with_the_skin),
        cmocka_unit_test(some_are_rubbed_off_and_some_are_false),
        cmocka_unit_test(merged_views_are_one_layer),
        cmocka_unit_test(scans_depend_on_names_and_seed),
        cmocka_unit_test(wrong_numbers_are_named),
        cmocka_unit_test(a_rig_without_faces_is_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
