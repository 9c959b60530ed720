/*
 * Internals of the fit: derivatives against differences, for every kind of unknown, including mirrored and tied ones;
 * dense solves against the product; the reduced system against the complete one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/scan/fit/fit.h"
#include "runtime/base/dense.h"
#include "runtime/base/vector.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCANS = 3, SITES = 26, STEPS = 200 };

/* Both sides of the upper body, two markers per joint, in random poses; the fit is at the truth, except for noise. */
typedef struct problem {
    ex_kinematics *kinematics;
    double turns[SCANS][16][4];
    ex_kin_pose poses[SCANS];
    ex_kin_scan scans[SCANS];
    ex_sighting sightings[SCANS * SITES];
    ex_kin_fit_def def;
    exi_fit fit;
} problem;

static void open_problem(problem *p, int reference, const ex_kinematics *usual) {
    uint64_t seed = 11;
    ex_error error = {0};
    memset(p, 0, sizeof *p);
    assert_int_equal(ex_kinematics_read("upper", &p->kinematics, &error), EX_OK);
    ex_kinematics *k = p->kinematics;
    free(k->sites);
    k->site_count = SITES;
    k->sites = calloc(SITES, sizeof *k->sites);
    assert_non_null(k->sites);
    for (int j = 1; j < k->joint_count; j++) {
        for (int i = 0; i < 3; i++) {
            k->joints[j].translation[i] += random_between(&seed, -0.05, 0.05);
            k->joints[j].axis[i] += random_between(&seed, -0.3, 0.3);
        }
        exi_normalise(k->joints[j].axis, 3);
    }
    exi_kinematics_mirror(k);
    for (int s = 0; s < SITES; s++) {
        k->sites[s] = (ex_site){.joint = s / 2, .placed = true};
        for (int i = 0; i < 3; i++)
            k->sites[s].local[i] = random_between(&seed, -0.1, 0.1);
    }
    for (int i = 0; i < SCANS; i++) {
        for (int j = 0; j < k->joint_count; j++) {
            double w[3];
            for (int c = 0; c < 3; c++)
                w[c] = k->joints[j].freedom == EX_FREEDOM_HINGE ? k->joints[j].axis[c] * (0.7 + 0.3 * i)
                                                                : random_between(&seed, -1, 1);
            exi_fit_turn(w, p->turns[i][j]);
        }
        p->poses[i] = (ex_kin_pose){.translation = {0.1 * i, 1, -0.2}, .rotations = p->turns[i]};
        p->scans[i].start = &p->poses[i];
        for (int s = 0; s < SITES; s++) {
            ex_sighting *g = &p->sightings[SITES * i + s];
            *g = (ex_sighting){.scan = i, .site = s, .weight = random_between(&seed, 0.5, 2)};
            for (int c = 0; c < 3; c++)
                g->position[c] = random_between(&seed, -1, 1);
        }
    }
    p->def = (ex_kin_fit_def){.kinematics = k,
                              .free_bones = !usual,
                              .usual = usual,
                              .scan_count = SCANS,
                              .scans = p->scans,
                              .sighting_count = SCANS * SITES,
                              .sightings = p->sightings,
                              .reference = reference};
    exi_fit *f = &p->fit;
    assert_int_equal(exi_fit_open(f, &p->def, &error), EX_OK);
    for (int s = 0; s < SITES; s++) {
        f->site_weights[s] = random_between(&seed, 0.5, 2);
        f->site_widths[s] = INFINITY;
    }
    exi_fit_copy_state(f, &f->now, &f->begin);
    exi_fit_copy_state(f, &f->now, &f->next);
    exi_fit_activate(f);
}

static void close_problem(problem *p) {
    exi_fit_close(&p->fit);
    ex_kinematics_destroy(p->kinematics);
}

/* Position of a sighted site after a step of one unknown: shared ones first, then those of the scan. */
static void seen_after(exi_fit *f, int scan, int site, int unknown, double size, double at[3]) {
    double shared[STEPS] = {0}, pose[STEPS] = {0};
    assert_true(f->shared_count < STEPS && f->scans[scan].pose_count < STEPS);
    if (unknown < f->shared_count)
        shared[unknown] = size;
    else
        pose[unknown - f->shared_count] = size;
    exi_fit_step_shared(f, shared);
    exi_fit_step_pose(f, scan, pose);
    exi_fit_frame(f, &f->next, scan, &f->chunks[0].frames);
    exi_fit_predict(f, &f->next, &f->chunks[0].frames, site, at);
}

static void check_derivatives(exi_fit *f, int scan) {
    const double h = 1e-6;
    double largest = 0;
    for (int site = 0; site < SITES; site++) {
        double rows[2 * STEPS][3] = {{0}}, at[3];
        exi_fit_chunk *k = &f->chunks[0];
        exi_fit_frame(f, &f->now, scan, &k->frames);
        exi_fit_predict(f, &f->now, &k->frames, site, at);
        exi_fit_derive(f, &f->now, &k->frames, scan, site, at, true, &k->rows);
        for (int i = 0; i < k->rows.pose_count; i++)
            memcpy(rows[f->shared_count + k->rows.pose_columns[i]], k->rows.pose[i], sizeof *rows);
        for (int i = 0; i < k->rows.kin_count; i++)
            memcpy(rows[f->shared_count - f->kin_count + k->rows.kin_columns[i]], k->rows.kin[i], sizeof *rows);
        for (int i = 0; i < 9 && f->site_columns[site] >= 0; i++)
            rows[f->site_columns[site] + i % 3][i / 3] = k->frames.rotations[f->kinematics->sites[site].joint][i];
        for (int u = 0; u < f->shared_count + f->scans[scan].pose_count; u++) {
            double before[3], after[3], slope[3];
            seen_after(f, scan, site, u, -h, before);
            seen_after(f, scan, site, u, h, after);
            for (int i = 0; i < 3; i++) {
                slope[i] = (after[i] - before[i]) / (2 * h);
                largest = fabs(slope[i]) > largest ? fabs(slope[i]) : largest;
            }
            assert_row_near(rows[u], slope, 3, 1e-8);
        }
    }
    assert_true(largest > 0.5);
}

static void test_derivatives(void **state) {
    (void)state;
    static problem p;
    open_problem(&p, -1, NULL);
    exi_fit_lay_out(&p.fit, true, true);
    /* 7 translations and 3 axes are shared by both sides; 26 markers; all of a pose. */
    assert_int_equal(p.fit.shared_count, 7 * 3 + 3 * 2 + SITES * 3);
    assert_int_equal(p.fit.scans[1].pose_count, 6 + 6 * 3 + 6);
    check_derivatives(&p.fit, 1);
    check_derivatives(&p.fit, 2);
    close_problem(&p);
}

/* Sites that follow the reference while bones change. Axes are left out: the reference's axes are not turned in use,
 * and its derivatives ignore them. */
static void test_tied(void **state) {
    (void)state;
    static problem p;
    open_problem(&p, 0, NULL);
    exi_fit *f = &p.fit;
    for (int j = 0; j < f->joint_count; j++)
        p.kinematics->joints[j].lock_axis = true;
    assert_int_equal(exi_fit_place_reference(f), EX_OK);
    exi_fit_copy_state(f, &f->now, &f->next);
    exi_fit_lay_out(f, true, true);
    assert_int_equal(f->shared_count, 7 * 3);
    assert_int_equal(f->scans[0].pose_count, 0);
    exi_fit_reduce(f); /* sets the reference's rotations */
    check_derivatives(f, 1);
    close_problem(&p);
}

/* ---- the prior on bones ---- */

static double person_cost_after(exi_fit *f, int a, double x, int b, double y) {
    double step[STEPS] = {0};
    step[a] += x;
    step[b] += y;
    exi_fit_step_shared(f, step);
    return exi_fit_person_cost(f, &f->next);
}

/* Gradient and matrix of the prior, by differences of its cost. Both sides are free, and differ. */
static void test_person_derivatives(void **state) {
    (void)state;
    static problem p;
    ex_kinematics *usual = NULL;
    assert_int_equal(ex_kinematics_read("upper", &usual, NULL), EX_OK);
    open_problem(&p, 0, usual);
    exi_fit *f = &p.fit;
    uint64_t seed = 8;
    assert_non_null(f->person);
    for (int j = 1; j < f->joint_count; j++) {
        for (int i = 0; i < 3; i++) {
            f->now.translations[j][i] += random_between(&seed, -0.03, 0.03);
            f->now.axes[j][i] += random_between(&seed, -0.2, 0.2);
        }
        exi_normalise(f->now.axes[j], 3);
    }
    exi_fit_lay_out(f, true, false);
    assert_int_equal(f->kin_count, f->shared_count);
    assert_int_equal(f->kin_count, 12 * 3 + 6 * 2);
    f->noise = 0.01;
    exi_fit_person_turns(f);
    const int n = f->shared_count;
    memset(f->shared_matrix, 0, (size_t)n * (size_t)n * sizeof(double));
    memset(f->shared_right, 0, (size_t)n * sizeof(double));
    memset(f->shared_diagonal, 0, (size_t)n * sizeof(double));
    exi_fit_add_person(f);
    for (int a = 0; a < n; a++) {
        const double h = 1e-5, slope = (person_cost_after(f, a, h, a, 0) - person_cost_after(f, a, -h, a, 0)) / (2 * h);
        assert_near(f->shared_right[a], -slope / 2, 1e-6);
        assert_near(f->shared_diagonal[a], f->shared_matrix[a * (n + 1)], 1e-12);
    }
    for (int j = 1; j < f->joint_count; j++) /* bones are in squares only; axes are not */
        for (int k = j; k < f->joint_count; k++)
            for (int c = 0; c < 9; c++) {
                const int a = f->translation_columns[j] + c / 3, b = f->translation_columns[k] + c % 3;
                const double h = 1e-3;
                const double both = person_cost_after(f, a, h, b, h) - person_cost_after(f, a, h, b, -h) -
                                    person_cost_after(f, a, -h, b, h) + person_cost_after(f, a, -h, b, -h);
                assert_near(f->shared_matrix[a <= b ? a * n + b : b * n + a], both / (8 * h * h), 1e-6);
            }
    close_problem(&p);
    ex_kinematics_destroy(usual);
}

/* Bones of another size, in another pose: the turns that lead there cost nothing. */
static void test_person_turned(void **state) {
    (void)state;
    static problem p;
    ex_kinematics *usual = NULL;
    double q[16][4], frames[16][4];
    uint64_t seed = 21;
    assert_int_equal(ex_kinematics_read("upper", &usual, NULL), EX_OK);
    open_problem(&p, 0, usual);
    exi_fit *f = &p.fit;
    for (int j = 0; j < usual->joint_count; j++) {
        double w[3];
        const double angle = random_between(&seed, 0, 0.8);
        for (int c = 0; c < 3; c++)
            w[c] = usual->joints[j].freedom == EX_FREEDOM_HINGE ? angle * usual->joints[j].axis[c]
                                                                : random_between(&seed, -0.3, 0.3);
        exi_fit_turn(w, q[j]);
    }
    const ex_kin_pose pose = {.rotations = q};
    ex_kin_frames(usual, &pose, frames, NULL);
    for (int j = 1; j < usual->joint_count; j++) {
        const int parent = usual->joints[j].parent;
        exi_rotate(frames[parent], usual->joints[j].translation, f->now.translations[j]);
        exi_rotate(frames[parent], usual->joints[j].axis, f->now.axes[j]);
        for (int c = 0; c < 3; c++)
            f->now.translations[j][c] *= 0.7;
    }
    memset(f->now.angles, 0, (size_t)f->scan_count * (size_t)f->joint_count * sizeof *f->now.angles);
    exi_fit_lay_out(f, true, false);
    f->noise = 0.01;
    const double before = exi_fit_person_cost(f, &f->now);
    for (int i = 0; i < 10; i++)
        exi_fit_person_turns(f);
    assert_true(before > 0.02);
    assert_near(exi_fit_person_cost(f, &f->now), 0, 1e-2 * before);
    assert_near(exi_fit_person_scale(f), 0.7, 0.02);
    close_problem(&p);
    ex_kinematics_destroy(usual);
}

static void test_cholesky(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int n = 1; n < 12; n++) {
        double a[12 * 12] = {0}, u[12 * 12], x[12], b[12] = {0}, diagonal[12], root[12][12];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                root[i][j] = random_between(&seed, -1, 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    a[n * i + j] += root[k][i] * root[k][j] + (i == j);
        for (int i = 0; i < n; i++) {
            x[i] = random_between(&seed, -1, 1);
            diagonal[i] = a[n * i + i];
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                b[i] += a[n * i + j] * x[j];
        memcpy(u, a, sizeof u);
        exi_cholesky(u, n, diagonal, 1e-13);
        exi_cholesky_solve(u, n, b);
        assert_row_near(b, x, n, 1e-10);
        /* An unknown that nothing depends on stays, and the others are the same as without it. */
        const int drop = n / 2;
        for (int i = 0; i < n; i++)
            a[n * i + drop] = a[n * drop + i] = 0;
        double c[12] = {0};
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                c[i] += a[n * i + j] * x[j];
        c[drop] = 5;
        x[drop] = 0;
        exi_cholesky(a, n, diagonal, 1e-13);
        exi_cholesky_solve(a, n, c);
        assert_row_near(c, x, n, 1e-10);
    }
}

/* The step with eliminated poses equals that of the complete system, written out and solved. */
static void test_elimination(void **state) {
    (void)state;
    static problem p;
    open_problem(&p, 0, NULL);
    exi_fit *f = &p.fit;
    f->base_free = true;
    exi_fit_lay_out(f, true, true);
    f->hold_translation = 0.3;
    f->hold_axis = 0.2;
    f->hold_site = 0.1;
    f->hold_base = 0.4;
    f->turn_holds[0] = 0.4;
    f->preferences[5] = 0.7;
    f->lambda = 0.01;
    int offsets[SCANS], n = f->shared_count;
    for (int i = 0; i < SCANS; i++) {
        offsets[i] = n;
        n += f->scans[i].pose_count;
    }
    double *whole = calloc((size_t)n * (size_t)(n + 1), sizeof *whole);
    assert_non_null(whole);
    const int width = n + 1, base = f->shared_count - f->kin_count;
    for (int m = 0; m < f->mark_count; m++) {
        const exi_fit_mark *mark = &f->marks[m];
        exi_fit_chunk *k = &f->chunks[0];
        double at[3], r[3], j[3 * STEPS][3] = {{0}};
        int columns[3 * STEPS], count = 0;
        exi_fit_frame(f, &f->now, mark->scan, &k->frames);
        exi_fit_predict(f, &f->now, &k->frames, mark->site, at);
        exi_subtract(at, mark->at, r);
        exi_fit_derive(f, &f->now, &k->frames, mark->scan, mark->site, at, true, &k->rows);
        for (int i = 0; i < k->rows.pose_count; i++, count++) {
            columns[count] = offsets[mark->scan] + k->rows.pose_columns[i];
            memcpy(j[count], k->rows.pose[i], sizeof *j);
        }
        for (int i = 0; i < k->rows.kin_count; i++, count++) {
            columns[count] = base + k->rows.kin_columns[i];
            memcpy(j[count], k->rows.kin[i], sizeof *j);
        }
        for (int c = 0; c < 3; c++, count++) {
            columns[count] = f->site_columns[mark->site] + c;
            for (int i = 0; i < 3; i++)
                j[count][i] = k->frames.rotations[mark->joint][3 * i + c];
        }
        const double w = mark->weight * f->site_weights[mark->site];
        for (int a = 0; a < count; a++) {
            whole[columns[a] * width + n] -= w * exi_dot3(j[a], r);
            for (int b = 0; b < count; b++)
                whole[columns[a] * width + columns[b]] += w * exi_dot3(j[a], j[b]);
        }
    }
    /* At the beginning priors have no effect, except the preference. */
    for (int i = 0; i < n; i++)
        whole[i * width + i] += i < base ? 0.1 : i >= offsets[0] && i < offsets[0] + f->scans[0].pose_count ? 0.4 : 0;
    for (int j = 1; j < f->joint_count; j++) {
        if (f->translation_columns[j] >= 0 && f->translation_owners[j] == j)
            for (int i = 0; i < 3; i++)
                whole[(base + f->translation_columns[j] + i) * (width + 1)] += 0.3;
        if (f->axis_columns[j] >= 0 && f->axis_owners[j] == j)
            for (int i = 0; i < 2; i++)
                whole[(base + f->axis_columns[j] + i) * (width + 1)] += 0.2;
    }
    double across[2][3], row[5];
    exi_fit_across(f->now.axes[5], across);
    memcpy(row, f->now.axes[5], 3 * sizeof *row);
    for (int i = 0; i < 2; i++)
        row[3 + i] = exi_dot3(across[i], f->now.translations[5]);
    for (int a = 0; a < 5; a++) {
        const int ca = base + (a < 3 ? f->translation_columns[5] + a : f->axis_columns[5] + a - 3);
        whole[ca * width + n] -= 0.7 * row[a] * exi_dot3(f->now.axes[5], f->now.translations[5]);
        for (int b = 0; b < 5; b++) {
            const int cb = base + (b < 3 ? f->translation_columns[5] + b : f->axis_columns[5] + b - 3);
            whole[ca * width + cb] += 0.7 * row[a] * row[b];
        }
    }
    for (int i = 0; i < n; i++)
        whole[i * width + i] *= 1.01;
    assert_true(exi_solve(whole, n, 1) > 0);
    exi_fit_reduce(f);
    exi_fit_advance(f);
    for (int i = 0; i < f->shared_count; i++)
        assert_near(f->shared_right[i], whole[i * width + n], 1e-8);
    for (int i = 0; i < SCANS; i++)
        for (int c = 0; c < 3; c++)
            assert_near(f->next.bases[i][c] - f->now.bases[i][c],
                        whole[(offsets[i] + f->scans[i].base_column + c) * width + n], 1e-8);
    free(whole);
    close_problem(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_derivatives),   cmocka_unit_test(test_person_derivatives),
                                       cmocka_unit_test(test_person_turned), cmocka_unit_test(test_tied),
                                       cmocka_unit_test(test_cholesky),      cmocka_unit_test(test_elimination)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
