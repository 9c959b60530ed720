/*
 * Scans labelled together: certain labels are right, most visible markers are certain, also those that the reference
 * does not show; markers painted alike stay uncertain until someone names one; the same labels with any tasks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/subjects.h"

enum { SCANS = 10 };
/* The reference, and some of each kind. */
static const int chosen[SCANS] = {0, 4, 11, 20, 33, 39, 45, 64, 70, 80};

typedef struct fixture {
    subject *s;
    ex_label_scan scans[SCANS];
    ex_label_scans_def def;
    ex_labelled *reference;
    int reference_count;
    ex_label *labels[SCANS];
} fixture;

static fixture *create(const subject_def *def) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->s = subject_create(def);
    f->reference = subject_reference(f->s, &f->reference_count);
    for (int i = 0; i < SCANS; i++) {
        const subject_scan *scan = &f->s->scans[chosen[i]];
        f->scans[i] = (ex_label_scan){
            .name = scan->name, .found = scan->found, .found_count = scan->found_count, .solved = scan->solved};
        f->labels[i] = calloc((size_t)scan->found_count + 1, sizeof **f->labels);
        assert_non_null(f->labels[i]);
    }
    f->scans[0].given = f->reference;
    f->scans[0].given_count = f->reference_count;
    f->scans[0].done = true;
    f->def = (ex_label_scans_def){.kinematics = f->s->begin, .scan_count = SCANS, .scans = f->scans};
    return f;
}

static void destroy(fixture *f) {
    for (int i = 0; i < SCANS; i++)
        free(f->labels[i]);
    ex_labels_free(f->reference, f->reference_count);
    subject_destroy(f->s);
    free(f);
}

static void must_label(fixture *f) {
    ex_error error;
    if (ex_label_scans(&f->def, f->labels, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
}

typedef struct tally {
    int seen, sure, right;
} tally;

/* Of sites that the reference shows, or of the others. */
static tally count(const fixture *f, bool in_reference) {
    tally t = {0};
    for (int i = 1; i < SCANS; i++)
        for (int m = 0; m < f->scans[i].found_count; m++) {
            const int truth = f->s->scans[chosen[i]].truth[m];
            const ex_label *label = &f->labels[i][m];
            bool shown = false;
            for (int g = 0; g < f->reference_count && truth >= 0; g++)
                shown = shown || strcmp(f->reference[g].name, f->s->truth->sites[truth].name) == 0;
            if (shown != in_reference)
                continue;
            t.seen += truth >= 0;
            t.sure += label->site >= 0 && label->confidence >= EX_LABEL_SURE;
            t.right += label->site >= 0 && label->confidence >= EX_LABEL_SURE && label->site == truth;
        }
    return t;
}

static void whole_reference(void **state) {
    (void)state;
    subject_def def = subject_usual();
    def.per_joint = 6;
    def.whole_reference = true;
    fixture *f = create(&def);
    must_label(f);
    const tally t = count(f, true), strays = count(f, false);
    assert_true(t.right >= 0.99 * (t.sure + strays.sure));
    assert_true(t.right >= 0.9 * t.seen);
    for (int m = 0; m < f->scans[0].found_count; m++) /* the given labels */
        assert_int_equal(f->labels[0][m].site, f->s->scans[0].truth[m]);
    destroy(f);
}

/* A third of the markers and those that no view sees are missing in the reference, too. */
static void partial_reference(void **state) {
    (void)state;
    subject_def def = subject_usual();
    def.per_joint = 6;
    def.seed = 1;
    fixture *f = create(&def);
    must_label(f);
    const tally shown = count(f, true), others = count(f, false);
    assert_true(shown.right >= 0.99 * shown.sure && shown.right >= 0.9 * shown.seen);
    assert_true(others.seen > 50); /* otherwise this test shows nothing */
    assert_true(others.right >= 0.97 * others.sure);
    assert_true(others.right >= 0.4 * others.seen);
    destroy(f);
}

/* Two sites of one colour on one bone that the reference does not show: found, but indistinguishable. */
static void painted_alike(void **state) {
    (void)state;
    subject_def def = subject_usual();
    def.per_joint = 5;
    def.whole_reference = true;
    def.missing = 0.1;
    fixture *f = create(&def);
    ex_kinematics *k = f->s->begin;
    const int a = 4 * 5, b = 4 * 5 + 3; /* of the upper arm */
    int kept = 0, doubtful = 0, named = 0;
    memcpy(k->sites[b].colour, k->sites[a].colour, 3);
    for (int i = 0; i < SCANS; i++)
        for (int m = 0; m < f->scans[i].found_count; m++)
            if (f->s->scans[chosen[i]].truth[m] == b)
                for (int c = 0; c < 3; c++)
                    f->s->scans[chosen[i]].found[m].colour[c] = k->sites[a].colour[c];
    for (int g = 0; g < f->reference_count; g++) {
        if (strcmp(f->reference[g].name, k->sites[a].name) == 0 || strcmp(f->reference[g].name, k->sites[b].name) == 0)
            free(f->reference[g].name);
        else
            f->reference[kept++] = f->reference[g];
    }
    f->reference_count = f->scans[0].given_count = kept;
    must_label(f);
    for (int i = 1; i < SCANS; i++)
        for (int m = 0; m < f->scans[i].found_count; m++) {
            const int truth = f->s->scans[chosen[i]].truth[m];
            const ex_label *label = &f->labels[i][m];
            if (truth != a && truth != b)
                continue;
            doubtful += label->site == a || label->site == b;
            named += label->site >= 0 && label->confidence >= EX_LABEL_SURE;
        }
    assert_int_equal(named, 0);
    assert_true(doubtful > 5);
    /* Someone names one of them in one scan. */
    for (int m = 0; m < f->scans[5].found_count; m++)
        if (f->s->scans[chosen[5]].truth[m] == a || f->s->scans[chosen[5]].truth[m] == b)
            named = f->s->scans[chosen[5]].truth[m];
    ex_labelled given = {.name = k->sites[named].name, .confidence = 1, .by_hand = true};
    for (int m = 0; m < f->scans[5].found_count; m++)
        if (f->s->scans[chosen[5]].truth[m] == named)
            memcpy(given.position, f->scans[5].found[m].position, sizeof given.position);
    f->scans[5].given = &given;
    f->scans[5].given_count = 1;
    must_label(f);
    int right = 0;
    for (int i = 1; i < SCANS; i++)
        for (int m = 0; m < f->scans[i].found_count; m++) {
            const int truth = f->s->scans[chosen[i]].truth[m];
            const ex_label *label = &f->labels[i][m];
            if ((truth != a && truth != b) || label->site < 0 || label->confidence < EX_LABEL_SURE)
                continue;
            assert_int_equal(label->site, truth);
            right++;
        }
    assert_true(right > 5);
    destroy(f);
}

/* ---- tasks ---- */

/* From the last to the first, one by one. */
static void run_backwards(void *user, int number, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int i = number - 1; i >= 0; i--)
        body(context, i, i + 1);
}

static void same_by_any_tasks(void **state) {
    (void)state;
    subject_def def = subject_usual();
    def.per_joint = 4;
    def.whole_reference = true;
    fixture *f = create(&def), *g = create(&def);
    const ex_tasks tasks = {.run = run_backwards};
    g->def.tasks = &tasks;
    f->def.rounds = g->def.rounds = 2;
    must_label(f);
    must_label(g);
    for (int i = 0; i < SCANS; i++)
        assert_memory_equal(f->labels[i], g->labels[i], (size_t)f->scans[i].found_count * sizeof **f->labels);
    destroy(f);
    destroy(g);
}

/* ---- errors ---- */

static void refuses(void **state) {
    (void)state;
    subject_def def = subject_usual();
    def.per_joint = 4;
    fixture *f = create(&def);
    ex_error error;
    f->def.rounds = 1;
    f->scans[0].given_count = 0;
    assert_int_equal(ex_label_scans(&f->def, f->labels, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "reference scan 'reference' has no labels");
    f->scans[0].given_count = f->reference_count;
    ex_labelled given[2] = {{.name = "elbo.L_01", .confidence = 1}, {.name = "elbow.L_01", .confidence = 1}};
    f->scans[2].given = given;
    f->scans[2].given_count = 1;
    assert_int_equal(ex_label_scans(&f->def, f->labels, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "did you mean 'elbow.L_01'?");
    given[0].name = given[1].name;
    f->scans[2].given_count = 2;
    assert_int_equal(ex_label_scans(&f->def, f->labels, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "named twice");
    destroy(f);
}

static ex_result label_again(void *context) {
    fixture *f = context;
    return ex_label_scans(&f->def, f->labels, NULL, NULL);
}

static void memory(void **state) {
    (void)state;
    subject_def def = subject_usual();
    def.per_joint = 3;
    fixture *f = create(&def);
    f->def.scan_count = 2;
    f->def.rounds = 2;
    f->scans[1].found_count = 5;
    assert_true(fail_alloc_sweep(label_again, f) > 20);
    destroy(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_reference), cmocka_unit_test(partial_reference),
                                       cmocka_unit_test(painted_alike),   cmocka_unit_test(same_by_any_tasks),
                                       cmocka_unit_test(refuses),         cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
