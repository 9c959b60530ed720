/*
 * exemplar/author/base.h - the ground floor of authoring: progress of long work, suggestions for mistyped words, and
 * numbers in text, the same in every locale. Any thread may call what is here. Files: exemplar/author/files.h.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_H
#define EXEMPLAR_AUTHOR_BASE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Called now and then during long work, from the calling thread; fraction is in [0, 1]. false asks the work to stop:
 * functions that say so then fail with EX_ERROR_FILE and write nothing; the others go on.
 */
typedef struct ex_progress {
    bool (*report)(void *user, const char *what, double fraction);
    void *user;
} ex_progress;

/* The candidate nearest to a mistyped word, or NULL where none is near (more than a third of its letters off). */
EX_API const char *ex_suggest(const char *word, const char *const *candidates, int candidate_count);

/*
 * Reading takes a number that begins exactly at *cursor, before end, and moves *cursor past the last character that
 * belongs to it; what follows is the caller's to judge. Without a number there, the result is false, and *cursor and
 * *value are left alone.
 */

/* A decimal number with optional sign, point and exponent, rounded correctly; false too where it is beyond double.
 * inf, nan and hexadecimal numbers are not numbers here. */
EX_API bool ex_parse_double(const char **cursor, const char *end, double *value);

/* Decimal digits with an optional sign; false too where they are beyond int. */
EX_API bool ex_parse_int(const char **cursor, const char *end, int *value);

/*
 * The fewest significant digits that ex_parse_double reads back as the same value (and, for the second, rounds to the
 * same float). Written plainly from 1e-5 up to 1e16 (0.001, 100000), beyond that with an exponent where that is shorter
 * (1e20). Returns the length; the text ends with NUL. value must be finite.
 */
EX_API int ex_format_double(char buffer[32], double value);
EX_API int ex_format_float(char buffer[32], float value);

#ifdef __cplusplus
}
#endif
#endif
