/*
 * "Did you mean …": finds the candidate with the smallest edit distance (insert, delete, replace, swap neighbours),
 * ignoring case.
 */
#include <exemplar/author/base.h>

#include <ctype.h>
#include <string.h>

enum { LONGEST = 63 };

static int at_most(int a, int b) {
    return a < b ? a : b;
}

static bool same(char a, char b) {
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static int distance(const char *a, const char *b) {
    int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    int rows[3][LONGEST + 1];
    int *before = rows[0], *last = rows[1], *row = rows[2];
    for (int j = 0; j <= m; j++)
        last[j] = j;
    for (int i = 1; i <= n; i++) {
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            row[j] = at_most(at_most(last[j], row[j - 1]) + 1, last[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = at_most(row[j], before[j - 2] + 1);
        }
        int *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[m];
}

const char *ex_suggest(const char *word, const char *const *candidates, int candidate_count) {
    const char *best = NULL;
    int best_distance = LONGEST;
    for (int i = 0; i < candidate_count; i++) {
        int d = distance(word, candidates[i]);
        if (d < best_distance) {
            best_distance = d;
            best = candidates[i];
        }
    }
    /* A word of one letter is equally far from all others. */
    int length = (int)strlen(word);
    int allowed = length < 3 ? length > 0 : (length + 2) / 3;
    return best && best_distance <= allowed && (length > 1 || strlen(best) > 1) ? best : NULL;
}
