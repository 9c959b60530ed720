/*
 * exemplar/author/base.h - basics of authoring: progress of long work, suggestions for mistyped words, and
 * locale-independent numbers in text. All functions are thread-safe. Files: exemplar/author/files.h.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_H
#define EXEMPLAR_AUTHOR_BASE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A function that long work calls now and then, on the calling thread; fraction is in [0, 1]. Returning false asks the
 * work to stop: functions that support this then fail with EX_ERROR_FILE and write nothing; the others go on.
 */
typedef struct ex_progress {
    bool (*report)(void *user, const char *what, double fraction);
    void *user;
} ex_progress;

/* Returns the candidate nearest to a mistyped word, or NULL if none is near (more than a third of the letters
 * differ). */
EX_API const char *ex_suggest(const char *word, const char *const *candidates, int candidate_count);

/*
 * The parsers read a number that begins exactly at *cursor, before end, and move *cursor past its last character. The
 * caller judges what follows. If there is no number, they return false and leave *cursor and *value alone.
 */

/* Parses a decimal number with optional sign, point and exponent, rounded correctly. Returns false also if it is out of
 * range for double. inf, nan and hexadecimal numbers are not accepted. */
EX_API bool ex_parse_double(const char **cursor, const char *end, double *value);

/* Parses decimal digits with an optional sign. Returns false also if they are out of range for int. */
EX_API bool ex_parse_int(const char **cursor, const char *end, int *value);

/*
 * Format a number as text: the fewest significant digits that ex_parse_double reads back as the same value
 * (ex_format_float: that round to the same float). Plain notation from 1e-5 up to 1e16 (0.001, 100000); beyond that an
 * exponent if it is shorter (1e20). Returns the length; the text ends with NUL. value must be finite.
 */
EX_API int ex_format_double(char buffer[32], double value);
EX_API int ex_format_float(char buffer[32], float value);

/*
 * Formats a rotation [x y z w], of any nonzero length, as people type it: turns in degrees about a joint's own axes,
 * each about the axis as left by the ones before it, such as x30z-40. The shortest such text is taken, with turns
 * rounded to a number of decimals, 0 to 9. Returns text, which is cut if it is smaller than EX_ROTATION_SIZE.
 */
enum { EX_ROTATION_SIZE = 48 };
EX_API const char *ex_format_rotation(char *text, size_t size, const double q[4], int decimals);

#ifdef __cplusplus
}
#endif
#endif
