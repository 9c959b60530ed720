/*
 * "Did you mean": one letter off is found, something else is not.
 */
#include "author/project/projects.h"

static const char *const words[] = {"elbow", "shoulder", "thin_plate", "at", "x", "größe"};

static void finds_what_was_meant(void **state) {
    (void)state;
    const struct {
        const char *typed, *meant;
    } cases[] = {
        {"elbow", "elbow"},
        {"elbw", "elbow"},
        {"elboow", "elbow"},
        {"elbwo", "elbow"},
        {"ELBOW", "elbow"},
        {"albow", "elbow"},
        {"sholuder", "shoulder"},
        {"shulder", "shoulder"},
        {"thinplate", "thin_plate"},
        {"thin-plate", "thin_plate"},
        {"att", "at"},
        {"ta", "at"},
        {"grösse", "größe"},
        {"groesse", NULL},
        {"knee", NULL},
        {"", NULL},
        {"elb", NULL},
        {"shoulderblades", NULL},
        {"größ", "größe"},
        {"elbowelbow", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = ex_suggest(cases[i].typed, words, sizeof words / sizeof *words);
        if (cases[i].meant ? !found || strcmp(found, cases[i].meant) != 0 : found != NULL)
            fail_msg("%s: %s", cases[i].typed, found ? found : "nothing");
    }
}

/* A swap of neighbours is one step, not two; of two equally near, the first. */
static void takes_the_nearest(void **state) {
    (void)state;
    assert_string_equal(ex_suggest("abdc", (const char *const[]){"abxx", "abcd"}, 2), "abcd");
    assert_string_equal(ex_suggest("bend", (const char *const[]){"bent", "band"}, 2), "bent");
    assert_string_equal(ex_suggest("bend", (const char *const[]){"band", "bent", "bend"}, 3), "bend");
    assert_null(ex_suggest("bend", NULL, 0));
}

static void long_words_are_passed_over(void **state) {
    (void)state;
    char word[200];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = 0;
    const char *const candidates[] = {word, "b"};
    assert_null(ex_suggest(word, candidates, 2));
    word[63] = 0;
    assert_ptr_equal(ex_suggest(word, candidates, 2), word);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_meant),
        cmocka_unit_test(takes_the_nearest),
        cmocka_unit_test(long_words_are_passed_over),
    };
    return cmocka_run_group_tests_name("author.project.suggest", tests, NULL, NULL);
}
