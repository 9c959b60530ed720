/*
 * Checks that a string is UTF-8 (shortest forms only, no surrogates) without control characters.
 */
#include "runtime/base/text.h"

#include <string.h>

/* Returns the length of the UTF-8 sequence at p, or 0 if there is none. Stops at the terminating 0. */
static int sequence_length(const unsigned char *p) {
    if (p[0] < 0x80)
        return p[0] >= 0x20 && p[0] != 0x7F;
    int length = p[0] >= 0xC2 && p[0] <= 0xDF ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) || (p[0] == 0xF0 && p[1] < 0x90) ||
        (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return length;
}

bool exi_is_text(const char *text) {
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        int length = sequence_length(p);
        if (length == 0)
            return false;
        p += length;
    }
    return true;
}

bool exi_is_name(const char *text) {
    size_t size = strlen(text);
    return size >= 1 && size <= EXI_NAME_MAX && exi_is_text(text);
}

int exi_text_cut(const char *text, int most) {
    int length = (int)strlen(text);
    if (length <= most)
        return length;
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80)
        most--;
    return most;
}
