/*
 * Recognising markers of one scan: probabilities of matchings worked by hand, and a subject with known markers: in
 * poses far from the reference, rigidly moved, with missing and false markers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/scan/label/label.h"
#include "runtime/base/vector.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/subjects.h"

/* ---- matchings ---- */

static void marginals_by_hand(void **state) {
    (void)state;
    double work[32];
    exi_label_pair one[] = {{0, 0, 3, 0}};
    exi_label_marginals(one, 1, 1, 1, 5, work);
    assert_near(one[0].probability, 3.0 / 4, 1e-12);
    /* One site, two found markers: neither, the first, the second weigh 1, 3, 6. */
    exi_label_pair two[] = {{0, 0, 3, 0}, {0, 1, 6, 0}};
    exi_label_marginals(two, 2, 1, 2, 5, work);
    assert_near(two[0].probability, 0.3, 1e-12);
    assert_near(two[1].probability, 0.6, 1e-12);
    /* A chain: site 0 may be 0 or 1, site 1 may be 1: 1 + 3 + 6 + 2 + 3 * 2 ways. */
    exi_label_pair chain[] = {{0, 0, 3, 0}, {0, 1, 6, 0}, {1, 1, 2, 0}};
    exi_label_marginals(chain, 3, 2, 2, 20, work);
    assert_near(chain[0].probability, 9.0 / 18, 1e-9);
    assert_near(chain[1].probability, 6.0 / 18, 1e-9);
    assert_near(chain[2].probability, 8.0 / 18, 1e-9);
    /* In a ring it is near: 1 + 9 + 1 + 1 + 9 + 81 + 1 ways. */
    exi_label_pair ring[] = {{0, 0, 9, 0}, {1, 0, 1, 0}, {0, 1, 1, 0}, {1, 1, 9, 0}};
    exi_label_marginals(ring, 4, 2, 2, 40, work);
    assert_near(ring[0].probability, 90.0 / 103, 0.01);
    assert_near(ring[1].probability, 2.0 / 103, 0.01);
}

/* ---- a subject ---- */

typedef struct fixture {
    subject *s;
    ex_kinematics *placed;
} fixture;

static int set_up(void **state) {
    static fixture f;
    subject_def def = subject_usual();
    def.per_joint = 6;
    def.whole_reference = true;
    f.s = subject_create(&def);
    f.placed = subject_placed(f.s);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    subject_destroy(f->s);
    ex_kinematics_destroy(f->placed);
    return 0;
}

static ex_label_def define(const fixture *f, int scan) {
    ex_label_def def = ex_label_def_default();
    def.kinematics = f->placed;
    def.found = f->s->scans[scan].found;
    def.found_count = f->s->scans[scan].found_count;
    def.solved = f->s->scans[scan].solved;
    return def;
}

static ex_label *must_label(const ex_label_def *def, ex_kin_pose *pose, double *evidence) {
    ex_label *labels = calloc((size_t)def->found_count + 1, sizeof *labels);
    ex_error error;
    assert_non_null(labels);
    if (ex_label_markers(def, labels, pose, evidence, &error) != EX_OK)
        fail_msg("%s", error.text);
    return labels;
}

/* Counts the certain ones, and fails if one of them is wrong. */
static int check_sure(const subject_scan *scan, const ex_label *labels) {
    int sure = 0;
    for (int f = 0; f < scan->found_count; f++) {
        assert_int_equal(labels[f].marker, f);
        assert_true(labels[f].confidence >= 0 && labels[f].confidence <= 1);
        for (int g = 0; g < f && labels[f].site >= 0; g++)
            assert_int_not_equal(labels[f].site, labels[g].site);
        if (labels[f].site < 0 || labels[f].confidence < EX_LABEL_SURE)
            continue;
        sure++;
        assert_int_equal(labels[f].site, scan->truth[f]);
    }
    return sure;
}

static int count_real(const subject_scan *scan) {
    int count = 0;
    for (int f = 0; f < scan->found_count; f++)
        count += scan->truth[f] >= 0;
    return count;
}

/* From only the reference: an arm bent by 130 degrees and twisted by 130, a shoulder, a torso. */
static void recognises(void **state) {
    const fixture *f = *state;
    const int scans[] = {36, 12, 40, 90};
    for (int i = 0; i < 4; i++) {
        const subject_scan *scan = &f->s->scans[scans[i]];
        const ex_label_def def = define(f, scans[i]);
        double rotations[SUBJECT_JOINTS][4], evidence = 0;
        ex_kin_pose pose = {.rotations = rotations};
        ex_label *labels = must_label(&def, &pose, &evidence);
        assert_true(check_sure(scan, labels) >= 0.9 * count_real(scan));
        assert_true(evidence > 100);
        for (int j = 1; j < SUBJECT_JOINTS; j++) {
            double cosine = 0;
            for (int c = 0; c < 4; c++)
                cosine += rotations[j][c] * scan->pose.rotations[j][c];
            const double most = f->placed->joints[j].freedom == EX_FREEDOM_HINGE ? 0.9 : 0.3; /* axes are rough */
            assert_true(2 * acos(fabs(cosine) < 1 ? fabs(cosine) : 1) < most);
        }
        free(labels);
    }
}

/* The entire scan turned about, and moved: no start is near it. */
static void stands_anywhere(void **state) {
    const fixture *f = *state;
    const subject_scan *scan = &f->s->scans[30];
    ex_label_def def = define(f, 30);
    const double q[4] = {0, sin(1.5), 0, cos(1.5)}, by[3] = {2, -1, 0.5};
    ex_found_marker *moved = calloc((size_t)scan->found_count, sizeof *moved);
    assert_non_null(moved);
    for (int i = 0; i < scan->found_count; i++) {
        moved[i] = scan->found[i];
        exi_rotate(q, scan->found[i].position, moved[i].position);
        for (int c = 0; c < 3; c++)
            moved[i].position[c] += by[c];
    }
    def.found = moved;
    ex_label *labels = must_label(&def, NULL, NULL);
    assert_true(check_sure(scan, labels) >= 0.9 * count_real(scan));
    free(labels);
    free(moved);
}

/* The pose of true matches, except for one. */
static void settle(const exi_label_body *body, const subject_scan *scan, int without, exi_label_match *matches,
                   int *match_count, exi_label_place *places, double *work) {
    exi_label_place start[SUBJECT_JOINTS];
    *match_count = 0;
    for (int m = 0; m < scan->found_count; m++)
        for (int s = 0; s < body->site_count; s++)
            if (body->sites[s].site == scan->truth[m] && m != without)
                matches[(*match_count)++] = (exi_label_match){s, m, 1};
    exi_label_from_pose(body, &scan->pose, start);
    memcpy(places, start, sizeof start);
    for (int step = 0; step < 30; step++)
        assert_true(exi_label_step(body, start, matches, *match_count, 1, body->part_count, places, true, work) >= 0);
}

/* The others' prediction of a marker is the place of its site when the pose is found without it. */
static void others_speak(void **state) {
    const fixture *f = *state;
    const subject_scan *scan = &f->s->scans[25];
    const ex_label_def def = define(f, 25);
    exi_arena arena = {0};
    exi_label_body body;
    exi_label_place all[SUBJECT_JOINTS], rest[SUBJECT_JOINTS];
    exi_label_match matches[64];
    int count;
    double largest = 0;
    assert_int_equal(exi_label_body_create(&def, &arena, &body, NULL), EX_OK);
    double *work = exi_arena_allocate(&arena, exi_label_step_size(&body), sizeof *work);
    double *other = exi_arena_allocate(&arena, exi_label_step_size(&body), sizeof *other);
    for (int m = 0; m < scan->found_count; m++) {
        if (scan->truth[m] < 0)
            continue;
        settle(&body, scan, m, matches, &count, rest, other);
        settle(&body, scan, -1, matches, &count, all, work);
        exi_label_own own;
        exi_label_find_own(&body, work, all, matches, count, m, &own);
        for (int s = 0; s < body.site_count; s++) {
            double at[3], c[3][3], true_at[3], here[3], moved[3], off[3], true_c[3][3];
            const exi_label_own none = {.part = -1};
            exi_label_expect(&body, work, all, &own, s, at, c);
            exi_label_expect(&body, other, rest, &none, s, true_at, true_c);
            exi_label_predict(&body.sites[s], &all[body.sites[s].part], here);
            exi_subtract(true_at, here, moved);
            exi_subtract(at, true_at, off);
            const double way = sqrt(exi_dot3(moved, moved));
            assert_true(sqrt(exi_dot3(off, off)) < 3e-4 + 0.25 * way); /* a rotation is not linear */
            largest = way > largest ? way : largest;
            for (int i = 0; i < 3; i++)
                assert_near(c[i][i], true_c[i][i], 0.25 * true_c[i][i] + 1e-6);
        }
    }
    assert_true(largest > 0.004);
    exi_arena_free(&arena);
}

/* A right start is enough, and quick; known markers stay, even if they are wrong. */
static void begins_and_knows(void **state) {
    const fixture *f = *state;
    const subject_scan *scan = &f->s->scans[20];
    ex_label_def def = define(f, 20);
    int *known = calloc((size_t)scan->found_count, sizeof *known), wrong = -1;
    assert_non_null(known);
    def.starts = &scan->pose;
    def.start_count = 1;
    def.settled = true;
    ex_label *labels = must_label(&def, NULL, NULL);
    assert_true(check_sure(scan, labels) >= 0.9 * count_real(scan));
    free(labels);
    for (int i = 0; i < scan->found_count; i++)
        known[i] = -1;
    for (int i = 0; i < f->placed->site_count && wrong < 0; i++) { /* a site that is not visible */
        bool seen = false;
        for (int k = 0; k < scan->found_count; k++)
            seen = seen || scan->truth[k] == i;
        wrong = seen ? -1 : i;
    }
    assert_true(wrong >= 0);
    def.known = known;
    for (int i = 0; i <= 3; i += 3) {
        known[i] = wrong;
        labels = must_label(&def, NULL, NULL);
        assert_int_equal(labels[i].site, wrong);
        assert_true(labels[i].confidence > 0.99);
        free(labels);
        known[i] = -1;
    }
    free(known);
}

/* Spots at random places are not recognised as markers. */
static void nothing_in_common(void **state) {
    const fixture *f = *state;
    uint64_t random = 5;
    ex_label_def def = define(f, 10);
    ex_found_marker spots[30];
    for (int i = 0; i < 30; i++) {
        spots[i] = f->s->scans[10].found[i % def.found_count];
        for (int c = 0; c < 3; c++)
            spots[i].position[c] = random_between(&random, 0, 2);
    }
    def.found = spots;
    def.found_count = 30;
    double evidence;
    ex_label *labels = must_label(&def, NULL, &evidence);
    int sure = 0;
    for (int i = 0; i < 30; i++)
        sure += labels[i].site >= 0 && labels[i].confidence >= EX_LABEL_SURE;
    assert_true(sure <= 2);
    free(labels);
    def.found_count = 0;
    labels = must_label(&def, NULL, &evidence);
    free(labels);
}

static void refuses(void **state) {
    const fixture *f = *state;
    ex_label_def def = define(f, 10);
    ex_found_marker spot = f->s->scans[10].found[0];
    ex_label label;
    ex_error error;
    spot.position[1] = NAN;
    def.found = &spot;
    def.found_count = 1;
    assert_int_equal(ex_label_markers(&def, &label, NULL, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "marker 1");
}

/* ---- memory ---- */

static ex_result label_again(void *context) {
    const ex_label_def *def = context;
    ex_label labels[64];
    return ex_label_markers(def, labels, NULL, NULL, NULL);
}

static void memory(void **state) {
    const fixture *f = *state;
    ex_label_def def = define(f, 40);
    def.found_count = 9;
    assert_true(fail_alloc_sweep(label_again, &def) > 10);
    def.starts = &f->s->scans[40].pose;
    def.start_count = 1;
    def.settled = true;
    assert_true(fail_alloc_sweep(label_again, &def) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marginals_by_hand), cmocka_unit_test(recognises),       cmocka_unit_test(stands_anywhere),
        cmocka_unit_test(others_speak),      cmocka_unit_test(begins_and_knows), cmocka_unit_test(nothing_in_common),
        cmocka_unit_test(refuses),           cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
