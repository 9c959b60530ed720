/* Labels as files: round trips, labels by hand stay so, and errors have sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <exemplar/author/scan.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

static void round_trip(void **state) {
    (void)state;
    char names[3][16] = {"elbow-1", "a,\"b\"", "wrist"};
    const ex_labelled labels[] = {{.name = names[0], .position = {0.125, -1, 2e-3}, .confidence = 1, .by_hand = true},
                                  {.name = names[1], .position = {1, 2, 3}, .confidence = 0.89996},
                                  {.name = names[2], .position = {0, 0, 0}, .confidence = 1}};
    ex_labelled *read;
    ex_error error;
    int count;
    size_t size;
    assert_int_equal(ex_labels_write(scratch_path("l.csv"), labels, 3, &error), EX_OK);
    char *text = scratch_read("l.csv", &size);
    assert_string_equal(text, "marker,x,y,z,confidence\nelbow-1,0.125,-1,0.002,\n\"a,\"\"b\"\"\",1,2,3,0.899\n"
                              "wrist,0,0,0,1\n");
    free(text);
    assert_int_equal(ex_labels_read(scratch_path("l.csv"), &read, &count, &error), EX_OK);
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(read[i].name, labels[i].name);
        assert_row_near(read[i].position, labels[i].position, 3, 1e-9);
        assert_int_equal(read[i].by_hand, labels[i].by_hand);
    }
    assert_near(read[1].confidence, 0.899, 1e-12);
    ex_labels_free(read, count);
    ex_labels_free(NULL, 0);
}

static void by_hand(void **state) {
    (void)state;
    static const char text[] = "marker,x,y,z\nm1,1,2,3\nm2,4,5,6\n";
    ex_labelled *read;
    ex_error error;
    int count;
    scratch_write("h.csv", text, strlen(text));
    assert_int_equal(ex_labels_read(scratch_path("h.csv"), &read, &count, &error), EX_OK);
    assert_int_equal(count, 2);
    assert_true(read[1].by_hand && read[1].confidence == 1);
    ex_labels_free(read, count);
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"", "is empty"},
        {"marker,x,y\nm,1,2\n", "z"},
        {"marker,x,y,z,sure\n", "sure"},
        {"marker,x,y,z\n,1,2,3\n", "no name"},
        {"marker,x,y,z\nm\xb1,1,2,3\n", "is not text of at most"},
        {"marker,x,y,z\nm,1,2e39,3\n", ":2: this marker is too far away"},
        {"marker,x,y,z\nm,1,2,\n", ":2"},
        {"marker,x,y,z\nm,1,2,wide\n", ":2"},
        {"marker,x,y,z,confidence\nm,1,2,3,1.5\n", "from 0 to 1"},
        {"marker,x,y,z\nm,1,2,3\nn,1,2,4\nm,4,5,6\n", "already on line 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_labelled *read;
        ex_error error = {0};
        int count;
        scratch_write("bad.csv", cases[i].text, strlen(cases[i].text));
        const ex_result result = ex_labels_read(scratch_path("bad.csv"), &read, &count, &error);
        assert_int_not_equal(result, EX_OK);
        assert_sentence(&error, result, cases[i].word);
        assert_null(read);
        assert_int_equal(count, 0);
    }
}

static ex_result read_again(void *context) {
    ex_labelled *read;
    int count;
    const ex_result result = ex_labels_read(context, &read, &count, NULL);
    if (result == EX_OK)
        ex_labels_free(read, count);
    return result;
}

static void memory(void **state) {
    (void)state;
    static const char text[] = "marker,x,y,z,confidence\nm1,1,2,3,\nm2,4,5,6,0.5\n";
    scratch_write("m.csv", text, strlen(text));
    assert_true(fail_alloc_sweep(read_again, (void *)scratch_path("m.csv")) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(by_hand),
                                       cmocka_unit_test(refuses), cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
