/* A fit in blocks of scans ends where the fit of all scans ends, however they are divided. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/scan/fit/fit.h"
#include "author/scan/fit/fit_blocks.h"
#include "author/scan/marked.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

enum { SCANS = 20, ROUNDS = 25 };

static const marked_options options = {
    .scan_count = SCANS, .arm_sites = 4, .torso_sites = 4, .noise = 0.001, .missing = 0.2, .wrong = 0.02, .seed = 6};

/* A fit of the scene's first scans, from which blocks begin. */
typedef struct begun {
    marked_scene *scene;
    ex_kin_fit *fit;
    ex_kin_scan scans[SCANS];
    ex_kin_fit_def def;
} begun;

static void begin(begun *b) {
    ex_error error = {0};
    b->scene = marked_scene_make(&options);
    ex_kin_fit_def def = b->scene->def;
    def.rigid = def.even = true;
    def.free_bones = false;
    def.iterations = 3;
    if (ex_kinematics_fit(&def, &b->fit, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < SCANS; i++) {
        b->scans[i] = def.scans[i];
        b->scans[i].start = i % 3 == 1 ? NULL : &b->fit->poses[i]; /* some are looked for */
    }
    b->def = def;
    b->def.scans = b->scans;
    b->def.usual = def.kinematics;
    b->def.neutral = (const double(*)[4])b->fit->neutral;
    b->def.kinematics = b->fit->kinematics;
}

static void end(begun *b) {
    ex_kin_fit_destroy(b->fit);
    free(b->scene);
}

/* The definition of some scans, after the reference. */
static void choose(const begun *b, int first, int last, ex_kin_fit_def *def, ex_kin_scan *scans,
                   ex_sighting *sightings) {
    *def = b->def;
    def->scans = scans;
    def->sightings = sightings;
    def->sighting_count = 0;
    def->scan_count = 1;
    def->reference = 0;
    scans[0] = b->scans[0];
    for (int i = first > 0 ? first : 1; i < last; i++)
        scans[def->scan_count++] = b->scans[i];
    for (int k = 0; k < b->def.sighting_count; k++) {
        const int scan = b->def.sightings[k].scan, at = scan == 0 ? 0 : scan - (first > 0 ? first : 1) + 1;
        if (scan != 0 && (scan < first || scan >= last))
            continue;
        sightings[def->sighting_count] = b->def.sightings[k];
        sightings[def->sighting_count++].scan = at;
    }
}

/* Fits in blocks of that many scans. */
static double fit_blocks(const begun *b, int size, double *shared) {
    ex_kin_fit_def def;
    ex_kin_scan scans[SCANS + 1];
    ex_sighting *sightings = malloc((size_t)b->def.sighting_count * sizeof *sightings);
    static double rotations[SCANS + 1][MARKED_JOINTS][4];
    ex_kin_pose poses[SCANS + 1];
    double rms[SCANS + 1], cost = 0;
    ex_error error = {0};
    for (int i = 0; i <= SCANS; i++)
        poses[i].rotations = rotations[i];
    exi_fit_shared_read(b->fit->kinematics, shared);
    for (int round = 0; round < ROUNDS; round++) {
        exi_fit_system sum = {0};
        for (int first = 0; first < SCANS; first += size) {
            exi_fit_system block;
            choose(b, first, first + size < SCANS ? first + size : SCANS, &def, scans, sightings);
            if (exi_fit_block(&def, 0.002, shared, first == 0, &block, poses, rms, &error) != EX_OK)
                fail_msg("%s", error.text);
            const int count = block.n * (block.n + 2);
            for (int i = 0; sum.numbers && i < count; i++)
                sum.numbers[i] += block.numbers[i];
            sum.cost += block.cost;
            sum.n = block.n;
            if (sum.numbers)
                free(block.numbers);
            else
                sum.numbers = block.numbers;
        }
        choose(b, 1, 1, &def, scans, sightings);
        if (exi_fit_step(&def, 0.002, shared, &sum, 1e-7, &cost, shared, NULL, &error) != EX_OK)
            fail_msg("%s", error.text);
        free(sum.numbers);
    }
    free(sightings);
    return cost;
}

static void test_same_end(void **state) {
    (void)state;
    begun b;
    begin(&b);
    const int count = exi_fit_shared_count(b.fit->kinematics);
    double *one = malloc((size_t)count * sizeof *one), *two = malloc((size_t)count * sizeof *two);
    const double cost = fit_blocks(&b, SCANS, one);
    assert_near(fit_blocks(&b, 7, two), cost, 1e-9 * cost);
    for (int i = 0; i < count; i++)
        assert_near(two[i], one[i], 1e-9);
    /* All at once, poses and shared unknowns together. */
    exi_fit f;
    ex_error error = {0};
    assert_int_equal(exi_fit_open(&f, &b.def, &error), EX_OK);
    for (int i = 0; i < f.scan_count; i++)
        f.scans[i].fitted = b.scans[i].start != NULL;
    assert_int_equal(exi_fit_start(&f), EX_OK);
    exi_fit_begin_again(&f, 0.002);
    double whole = 0;
    for (int i = 0; i < 20; i++) /* each ends when it gains little */
        whole = exi_fit_solve(&f, 100, 1e-15, "", 0, 1);
    assert_near(whole, cost, 2e-8 * cost); /* turns of the reference are found to 1e-9 of their cost */
    const double *parts[] = {f.now.translations[1], f.now.axes[5], f.now.locals[0]};
    const double *ours[] = {one + 3, one + 3 * (f.joint_count + 5), one + 6 * f.joint_count};
    const int sizes[] = {3 * (f.joint_count - 1), 9, 3 * f.site_count};
    double moved = 0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < sizes[k]; i++)
            assert_near(ours[k][i], parts[k][i], 1e-5);
    for (int j = 1; j < f.joint_count; j++)
        moved = fmax(moved, fabs(f.now.translations[j][0] - b.fit->kinematics->joints[j].translation[0]));
    assert_true(moved > 1e-6); /* otherwise this test shows nothing */
    exi_fit_close(&f);
    free(one);
    free(two);
    end(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
