/* check.h - assertions that many tests share, and random numbers that are the same everywhere. */
#ifndef EXEMPLAR_TESTS_CHECK_H
#define EXEMPLAR_TESTS_CHECK_H

#include <exemplar/base.h>

/* |value - expected| <= tolerance; a value that is not finite never passes. */
#define assert_near(value, expected, tolerance)                                                                        \
    assert_near_at((value), (expected), (tolerance), #value, __FILE__, __LINE__)
void assert_near_at(double value, double expected, double tolerance, const char *what, const char *file, int line);

/* Rows of `count` numbers. */
#define assert_row_near(row, expected, count, tolerance)                                                               \
    assert_row_near_at((row), (expected), (count), (tolerance), #row, __FILE__, __LINE__)
void assert_row_near_at(const double *row, const double *expected, int count, double tolerance, const char *what,
                        const char *file, int line);

/* Asserts that the error has this result and a readable sentence with this word in it. */
#define assert_sentence(error, result, word) assert_sentence_at((error), (result), (word), __FILE__, __LINE__)
void assert_sentence_at(const ex_error *error, ex_result result, const char *word, const char *file, int line);

/* Next random number; the state may start with any value. */
uint64_t random_bits(uint64_t *state);
double random_between(uint64_t *state, double low, double high);

#endif
