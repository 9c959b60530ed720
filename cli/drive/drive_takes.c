/* Parses the parts of `exemplar drive` that say how caches are read: ranges of frames, frame rates and units. */
#include "drive.h"

#include "cli/base/span.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <string.h>

bool exi_drive_scale_read(const ex_call *call, const char *option, const char *text, double *scale) {
    const char *at = text, *end = text ? text + strlen(text) : NULL;
    *scale = 1;
    if (!text || (ex_parse_double(&at, end, scale) && at == end && *scale > 0 && isfinite(*scale)))
        return true;
    exi_wrong_usage(call->command, "--%s needs a number above 0, such as 0.01, not '%s'", option, text);
    return false;
}

/* The library counts from 0, with a number of frames: 0 for all that follow. */
static void of_span(int from, int to, int *first, int *count) {
    *first = from > 0 ? from - 1 : 0;
    *count = to > 0 ? to - *first : 0;
}

bool exi_drive_frames_read(const ex_call *call, const char *text, int *first, int *count) {
    int from, to;
    *first = *count = 0;
    if (!exi_span_read(call, "frames", "frame", text, &from, &to))
        return false;
    of_span(from, to, first, count);
    return true;
}

bool exi_drive_range_read(const ex_call *call, const char *text, int *first, int *count) {
    const char *at = text, *end = text ? text + strlen(text) : NULL;
    int from = 0, to = 0;
    *first = *count = 0;
    bool dashed = text && ex_parse_int(&at, end, &from) && from >= 1 && at < end && *at++ == '-';
    if (dashed && at < end)
        dashed = *at >= '0' && *at <= '9' && ex_parse_int(&at, end, &to) && at == end && to >= from;
    if (!dashed && !exi_span_read(call, "range", "frame", text, &from, &to))
        return false;
    of_span(from, to, first, count);
    return true;
}

bool exi_drive_rate_read(const ex_call *call, const char *text, double *rate) {
    const char *at = text, *end = text ? text + strlen(text) : NULL;
    *rate = 0;
    if (!text || (ex_parse_double(&at, end, rate) && at == end && *rate > 0 && isfinite(*rate)))
        return true;
    exi_wrong_usage(call->command, "--fps needs frames per second, a number above 0, such as 24, not '%s'", text);
    return false;
}

/* Number of words of a list before a place of the command line. */
static int count_before(const ex_word_list *list, int place) {
    int count = 0;
    while (count < list->count && list->places[count] < place)
        count++;
    return count;
}

bool exi_drive_words_of_pairs(const ex_call *call, const char *option, const ex_word_list *list,
                              const ex_word_list *drivers, const ex_word_list *drivens, const char **words) {
    for (int i = 0; i < drivers->count; i++)
        words[i] = NULL;
    for (int i = 0; i < list->count; i++) {
        const int one = count_before(drivers, list->places[i]), other = count_before(drivens, list->places[i]);
        const int pair = drivers->count == 1 ? 1 : one > other ? one : other;
        if (pair == 0) {
            exi_wrong_usage(call->command, "--%s %s comes before all caches: write it after the pair that it is for",
                            option, list->words[i]);
            return false;
        }
        if (words[pair - 1]) {
            exi_wrong_usage(call->command, "--%s is given twice for '%s'", option, drivers->words[pair - 1]);
            return false;
        }
        words[pair - 1] = list->words[i];
    }
    return true;
}
