/* cli/base/span.c - a part of what is counted from 1. */
#include "span.h"

#include <exemplar/author/base.h>

#include <string.h>

/* A number from 1 on that begins with a digit. */
static bool read_number(const char **cursor, const char *end, int *number) {
    return *cursor < end && **cursor >= '0' && **cursor <= '9' && ex_parse_int(cursor, end, number) && *number >= 1;
}

bool exi_span_read(const ex_call *call, const char *option, const char *what, const char *text, int *first, int *last) {
    *first = *last = 0;
    if (!text)
        return true;
    const char *cursor = text, *end = text + strlen(text);
    bool good = *cursor == ':' || read_number(&cursor, end, first);
    good = good && *cursor++ == ':';
    good = good && (cursor == end || (read_number(&cursor, end, last) && cursor == end));
    if (good && (*last == 0 || *first <= *last))
        return true;
    exi_wrong_usage(call->command, "--%s needs A:B, the first and the last %s counting from 1, not '%s'", option, what,
                    text);
    return false;
}
