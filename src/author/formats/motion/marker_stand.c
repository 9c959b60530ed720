/*
 * The unit and the up direction of markers, found from the person who wears them.
 *
 * Names of the usual sets tell where markers are on a standing adult: m is h_m above the floor. In frame f let p_m be
 * its position, relative to the mean of the markers seen, and h_m be relative to the mean of theirs. Up is the axis,
 * and its sign, with the largest
 *
 *     sum_f sum_m h_m p_m
 *
 * Arms, and a person who sits down at times, change it little. The root of sum |p_m|^2 over sum |t_m|^2, t_m the places
 * on the standing adult, is the size of the person, which tells a wrong unit.
 */
#include "author/formats/motion/marker_sets.h"
#include "author/formats/motion/markers.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 200, KNOWN_LEAST = 4 };
#define SPREAD_LEAST 0.25 /* metres, standard deviation of heights of the markers known */
#define CLEAR        1.5  /* times as much along the axis as along others */
#define FIT_LEAST    0.5  /* correlation of heights with the axis */
#define TRAVEL_MOST  1.2  /* metres that a person moves up and down */

static const float *position(const ex_markers *markers, int frame, int marker) {
    return markers->positions + 3 * ((size_t)frame * (size_t)markers->marker_count + (size_t)marker);
}

/* ---- by anatomy ---- */

typedef struct anatomy {
    double along[3];            /* sum of h p, per axis */
    double heights;             /* sum of h^2 */
    double spread[3];           /* sum of p^2, per axis */
    double template_size, size; /* sums of squares */
    double low[3], high[3];     /* of the middle of the body */
    int frames;
} anatomy;

static void add_frame(const ex_markers *markers, const exi_marker_meaning *meanings, int frame, anatomy *sums) {
    double mean[3] = {0}, place[3] = {0};
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int m = 0; m < markers->marker_count; m++) {
            const float *p = position(markers, frame, m);
            const double t[3] = {meanings[m].height, meanings[m].across[0], meanings[m].across[1]};
            if (meanings[m].joint[0] == '\0' || isnan(p[0]))
                continue;
            count += pass == 0;
            for (int i = 0; i < 3 && pass == 0; i++) {
                mean[i] += (double)p[i];
                place[i] += t[i];
            }
            for (int i = 0; i < 3 && pass == 1; i++) {
                const double d = (double)p[i] - mean[i];
                sums->along[i] += (t[0] - place[0]) * d;
                sums->spread[i] += d * d;
                sums->size += d * d;
                sums->template_size += (t[i] - place[i]) * (t[i] - place[i]);
            }
            sums->heights += pass == 1 ? (t[0] - place[0]) * (t[0] - place[0]) : 0;
        }
        if (count < KNOWN_LEAST)
            return;
        for (int i = 0; i < 3 && pass == 0; i++) {
            mean[i] /= count;
            place[i] /= count;
        }
    }
    for (int i = 0; i < 3; i++) {
        sums->low[i] = sums->frames == 0 || mean[i] < sums->low[i] ? mean[i] : sums->low[i];
        sums->high[i] = sums->frames == 0 || mean[i] > sums->high[i] ? mean[i] : sums->high[i];
    }
    sums->frames++;
}

static bool measure(const ex_markers *markers, anatomy *sums) {
    exi_marker_meaning *meanings = exi_array_allocate((size_t)markers->marker_count, sizeof *meanings);
    if (!meanings)
        return false;
    for (int m = 0; m < markers->marker_count; m++)
        meanings[m] = exi_marker_look_up(markers->names[m]);
    const int step = markers->frame_count / SAMPLES + 1;
    for (int f = 0; f < markers->frame_count; f += step)
        add_frame(markers, meanings, f, sums);
    free(meanings);
    return true;
}

/* True if markers of known places are spread over enough of the body. */
static bool tells(const anatomy *sums) {
    return sums->frames > 0 && sums->template_size > 0 && sums->heights > 0.2 * sums->template_size &&
           sqrt(sums->heights / (KNOWN_LEAST * sums->frames)) > SPREAD_LEAST;
}

/* Returns the direction in which the person stands; NULL if that is not clear. */
static const char *standing(const anatomy *sums) {
    int best = 0;
    for (int i = 1; i < 3; i++)
        best = fabs(sums->along[i]) > fabs(sums->along[best]) ? i : best;
    if (!tells(sums) || sums->along[best] == 0)
        return NULL;
    for (int i = 0; i < 3; i++)
        if (i != best && fabs(sums->along[best]) < CLEAR * fabs(sums->along[i]))
            return NULL;
    if (fabs(sums->along[best]) < FIT_LEAST * sqrt(sums->heights * sums->spread[best]))
        return NULL;
    const double size = sqrt(sums->size / sums->template_size);
    if (sums->high[best] - sums->low[best] > TRAVEL_MOST * (size > 1 ? size : 1))
        return NULL;
    return exi_markers_direction(best, sums->along[best] > 0);
}

/* ---- the size ---- */

/* The unit in which the markers are a person's, if that of the file is not one. */
static ex_result settle_unit(ex_markers *markers, anatomy *sums, bool stated, ex_error *error) {
    static const char *const units[] = {"mm", "cm", "m", "in", "dm", "ft"};
    enum { UNITS = (int)(sizeof units / sizeof *units) };
    const double now = exi_markers_unit(markers->unit), size = sqrt(sums->size / sums->template_size);
    if (!tells(sums) || !(size > 0) || (size > 0.35 && size < 2))
        return EX_OK;
    int best = -1;
    for (int i = 0; i < UNITS; i++) {
        const double other = size * exi_markers_unit(units[i]) / now;
        if (other > 0.5 && other < 1.7 &&
            (best < 0 || fabs(log(other)) < fabs(log(size * exi_markers_unit(units[best]) / now))))
            best = i;
    }
    if (best < 0)
        return EX_OK;
    const double factor = exi_markers_unit(units[best]) / now;
    const size_t count = 3 * (size_t)markers->frame_count * (size_t)markers->marker_count;
    for (size_t i = 0; i < count; i++)
        markers->positions[i] = (float)((double)markers->positions[i] * factor);
    for (int i = 0; i < 3; i++) {
        sums->along[i] *= factor;
        sums->spread[i] *= factor * factor;
        sums->low[i] *= factor;
        sums->high[i] *= factor;
    }
    sums->size *= factor * factor;
    bool good = stated
                    ? exi_markers_note(markers,
                                       "the file's unit is %s, but its markers would be those of a person of %.3g m: "
                                       "read in %s",
                                       markers->unit, 1.75 * size, units[best])
                    : exi_markers_note(markers, "the file has no unit: by the size of a person it is %s", units[best]);
    char *copy = exi_text_copy(units[best], strlen(units[best]));
    if (copy) {
        free(markers->unit);
        markers->unit = copy;
    }
    return good && copy ? EX_OK : ex_error_memory(error, "a note", 100);
}

/* ---- by the spread alone ---- */

/* Computes the mean of the markers seen in a frame. Returns their number. */
static int frame_middle(const ex_markers *markers, int frame, double middle[3]) {
    int count = 0;
    middle[0] = middle[1] = middle[2] = 0;
    for (int m = 0; m < markers->marker_count; m++) {
        const float *p = position(markers, frame, m);
        for (int i = 0; i < 3 && !isnan(p[0]); i++)
            middle[i] += (double)p[i];
        count += !isnan(p[0]);
    }
    for (int i = 0; i < 3 && count > 0; i++)
        middle[i] /= count;
    return count;
}

/* sums [marker_count][4]: the offset of each marker from the centre of all, summed, and the number of times it was
 * seen. whole: the mean centre. Uses only frames that show most of the markers. */
static void sum_offsets(const ex_markers *markers, double (*sums)[4], double whole[3]) {
    int frames = 0;
    for (int f = 0; f < markers->frame_count; f++) {
        double middle[3];
        const int count = frame_middle(markers, f, middle);
        if (count == 0 || 4 * count < 3 * markers->marker_count)
            continue;
        frames++;
        for (int i = 0; i < 3; i++)
            whole[i] += (middle[i] - whole[i]) / frames;
        for (int m = 0; m < markers->marker_count; m++) {
            const float *p = position(markers, f, m);
            for (int i = 0; i < 3 && !isnan(p[0]); i++)
                sums[m][i] += (double)p[i] - middle[i];
            sums[m][3] += !isnan(p[0]);
        }
    }
}

/* Guesses from the positions alone: bodies are higher than wide, and above the floor. */
static const char *guess(const ex_markers *markers, const char *otherwise) {
    double(*sums)[4] = calloc((size_t)markers->marker_count + 1, sizeof *sums);
    double whole[3] = {0}, spread[3] = {0};
    if (!sums)
        return NULL;
    sum_offsets(markers, sums, whole);
    for (int m = 0; m < markers->marker_count; m++)
        for (int i = 0; i < 3 && sums[m][3] > 0; i++)
            spread[i] += sums[m][i] / sums[m][3] * (sums[m][i] / sums[m][3]);
    free(sums);
    int most = 0;
    for (int i = 1; i < 3; i++)
        most = spread[i] > spread[most] ? i : most;
    for (int i = 0; i < 3; i++)
        if (i != most && !(spread[most] > 2 * spread[i]))
            return otherwise;
    return exi_markers_direction(most, whole[most] >= 0);
}

/* ---- both ---- */

ex_result exi_markers_settle(ex_markers *markers, const char *stated, const char *usual, bool unit_stated,
                             ex_error *error) {
    anatomy sums = {0};
    if (!measure(markers, &sums))
        return ex_error_memory(error, "names of markers", (size_t)markers->marker_count);
    ex_result result = settle_unit(markers, &sums, unit_stated, error);
    if (result != EX_OK)
        return result;
    const char *up = standing(&sums), *guessed = up || stated ? NULL : guess(markers, usual);
    if (!up && !stated && !guessed)
        return ex_error_memory(error, "names of markers", (size_t)markers->marker_count);
    if (up && stated && !exi_markers_same_word(up, stated) &&
        !exi_markers_note(
            markers,
            "the file says that %s is up, but the person would not stand on the feet: %s is taken; --up %s "
            "keeps the file's",
            stated, up, stated))
        return ex_error_memory(error, "a note", 100);
    if (up && !stated && !exi_markers_same_word(up, usual) &&
        !exi_markers_note(markers, "%s is up, as the person stands; files of this kind usually have %s", up, usual))
        return ex_error_memory(error, "a note", 100);
    return exi_markers_turn(markers, up ? up : stated ? stated : guessed, error);
}
