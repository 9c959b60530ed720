/*
 * Shared assertions and random numbers; see check.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"

#include "runtime/base/text.h"

#include <math.h>
#include <string.h>

void assert_near_at(double value, double expected, double tolerance, const char *what, const char *file, int line) {
    if (fabs(value - expected) <= tolerance)
        return;
    print_error("%s is %.17g, not %.17g (off by %.3g, allowed %.3g)\n", what, value, expected, fabs(value - expected),
                tolerance);
    _fail(file, line);
}

void assert_row_near_at(const double *row, const double *expected, int count, double tolerance, const char *what,
                        const char *file, int line) {
    for (int i = 0; i < count; i++) {
        if (fabs(row[i] - expected[i]) <= tolerance)
            continue;
        print_error("%s[%d] is %.17g, not %.17g (off by %.3g, allowed %.3g)\n", what, i, row[i], expected[i],
                    fabs(row[i] - expected[i]), tolerance);
        _fail(file, line);
    }
}

void assert_sentence_at(const ex_error *error, ex_result result, const char *word, const char *file, int line) {
    bool ended = memchr(error->text, 0, sizeof error->text) != NULL;
    if (ended && error->result == result && error->text[0] && exi_is_text(error->text) && strstr(error->text, word))
        return;
    print_error("expected result %d and '%s', got %d and '%.511s'%s\n", (int)result, word, (int)error->result,
                error->text, ended && exi_is_text(error->text) ? "" : ", which is not readable text");
    _fail(file, line);
}

/* A mixed counter: multiplications and shifts of Steele, Lea and Flood's generator, 2014. */
uint64_t random_bits(uint64_t *state) {
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double random_between(uint64_t *state, double low, double high) {
    return low + (high - low) * ((double)(random_bits(state) >> 11) * 0x1p-53);
}
