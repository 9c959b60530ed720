/* checks.h - shared by the tests of checking: checks a project given as text, and finds its findings by kind. */
#ifndef EXEMPLAR_TESTS_CHECKS_H
#define EXEMPLAR_TESTS_CHECKS_H

#include "author/project/projects.h"

static inline ex_check *check_text(const char *text) {
    ex_project *project = parse_project(text);
    ex_check *check = NULL;
    ex_error error;
    if (ex_project_check(project, NULL, &check, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_project_destroy(project);
    int errors = 0, warnings = 0;
    for (int i = 0; i < check->finding_count; i++) {
        errors += check->findings[i].severity == EX_SEVERITY_ERROR;
        warnings += check->findings[i].severity == EX_SEVERITY_WARNING;
    }
    assert_int_equal(check->error_count, errors);
    assert_int_equal(check->warning_count, warnings);
    return check;
}

/* Number of findings of a kind, and the last of them. */
static inline int count_kind(const ex_check *check, const char *kind, ex_severity severity, const ex_finding **last) {
    int count = 0;
    for (int i = 0; i < check->finding_count; i++)
        if (strcmp(check->findings[i].kind, kind) == 0 && check->findings[i].severity == severity) {
            count++;
            if (last)
                *last = &check->findings[i];
        }
    return count;
}

/* The finding of that kind, of which there must be exactly one. */
static inline const ex_finding *only(const ex_check *check, const char *kind, ex_severity severity) {
    const ex_finding *finding = NULL;
    int count = count_kind(check, kind, severity, &finding);
    if (count != 1) {
        for (int i = 0; i < check->finding_count; i++)
            print_message("%s: %s [%s]\n", check->findings[i].where, check->findings[i].text, check->findings[i].kind);
        fail_msg("%d findings of kind %s", count, kind);
    }
    return finding;
}

static inline void expect_words(const ex_finding *finding, const char *where, const char *words) {
    assert_string_equal(finding->where, where);
    if (!strstr(finding->text, words))
        fail_msg("'%s' is not in '%s'", words, finding->text);
}

/* Expects exactly this error or warning in the project. */
static inline void expect_one(const char *text, const char *kind, ex_severity severity, const char *where,
                              const char *words) {
    ex_check *check = check_text(text);
    expect_words(only(check, kind, severity), where, words);
    assert_int_equal(check->error_count, severity == EX_SEVERITY_ERROR);
    assert_int_equal(check->warning_count, severity == EX_SEVERITY_WARNING);
    ex_check_destroy(check);
}

/* Expects no error and no warning. */
static inline void expect_good(const char *text) {
    ex_check *check = check_text(text);
    for (int i = 0; i < check->finding_count; i++)
        if (check->findings[i].severity != EX_SEVERITY_NOTE)
            fail_msg("%s: %s [%s]", check->findings[i].where, check->findings[i].text, check->findings[i].kind);
    ex_check_destroy(check);
}

#endif
