/* cli/base/plain.c - prints text for people with escapes in place of what a terminal would obey or hide. */
#include "plain.h"

#include <string.h>

#define ESCAPE_SIZE 16 /* the longest is \u{10ffff} */
#define SPEC_SIZE   32

/* ---- characters ---- */

int exi_character(const char *text, unsigned *code) {
    static const unsigned smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    const unsigned lead = at[0];
    const int length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
    *code = lead;
    if (length == 1)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    *code = lead & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return 0;
        *code = *code << 6 | (at[i] & 0x3F);
    }
    const bool valid = *code >= smallest[length] && *code <= 0x10FFFF && !(*code >= 0xD800 && *code <= 0xDFFF);
    return valid ? length : 0;
}

/* Controls, separators of lines, marks of direction, and characters without width (Unicode's Cc, Cf, Zl, Zp and
 * Default_Ignorable_Code_Point). The selectors U+FE00 to U+FE0F are left out: emoji use them, and they hide nothing. */
bool exi_is_hidden(unsigned code) {
    static const struct {
        unsigned first, last;
    } ranges[] = {{0x0000, 0x001F},  {0x007F, 0x009F}, {0x00AD, 0x00AD}, {0x034F, 0x034F},   {0x0600, 0x0605},
                  {0x061C, 0x061C},  {0x06DD, 0x06DD}, {0x070F, 0x070F}, {0x115F, 0x1160},   {0x17B4, 0x17B5},
                  {0x180B, 0x180F},  {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},   {0x3164, 0x3164},
                  {0xFEFF, 0xFEFF},  {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
                  {0xE0000, 0xE0FFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (code <= ranges[i].last)
            return code >= ranges[i].first;
    return false;
}

/* Writes the next character as it is shown, moves *text behind it, and returns the number of characters shown. */
static int next_shown(const char **text, char shown[ESCAPE_SIZE]) {
    unsigned code;
    const int length = exi_character(*text, &code);
    const unsigned byte = (unsigned char)**text;
    *text += length ? length : 1;
    if (length && !exi_is_hidden(code)) {
        memcpy(shown, *text - length, (size_t)length);
        shown[length] = '\0';
        return 1;
    }
    if (byte == '\n' || byte == '\t' || byte == '\r')
        return snprintf(shown, ESCAPE_SIZE, "\\%c", byte == '\n' ? 'n' : byte == '\t' ? 't' : 'r');
    if (length < 2)
        return snprintf(shown, ESCAPE_SIZE, "\\x%02x", byte);
    return snprintf(shown, ESCAPE_SIZE, "\\u{%x}", code);
}

bool exi_is_plain(const char *text) {
    unsigned code;
    for (int length; *text; text += length) {
        length = exi_character(text, &code);
        if (length == 0 || exi_is_hidden(code))
            return false;
    }
    return true;
}

int exi_plain_width(const char *text) {
    char shown[ESCAPE_SIZE];
    int width = 0;
    while (*text)
        width += next_shown(&text, shown);
    return width;
}

void exi_print_plain(FILE *file, const char *text) {
    char shown[ESCAPE_SIZE];
    while (*text) {
        next_shown(&text, shown);
        fputs(shown, file);
    }
}

/* ---- printf ---- */

/* A conversion: %[flags][width][.precision][length]letter. */
typedef struct conversion {
    bool left;     /* flag - */
    int width;     /* 0: none */
    int precision; /* -1: none */
    char spec[SPEC_SIZE];
} conversion;

/* Prints at most `precision` bytes of the text, without a part of a character, padded to the width. */
static void print_text(FILE *file, const conversion *c, const char *text) {
    char shown[ESCAPE_SIZE];
    unsigned code;
    text = text ? text : "";
    const char *end = text;
    int width = 0;
    for (const char *at = text; *at;) {
        const int length = exi_character(at, &code);
        if (c->precision >= 0 && at - text + (length ? length : 1) > c->precision)
            break;
        width += next_shown(&at, shown);
        end = at;
    }
    const int blanks = c->width > width ? c->width - width : 0;
    fprintf(file, "%*s", c->left ? 0 : blanks, "");
    while (text < end) {
        next_shown(&text, shown);
        fputs(shown, file);
    }
    fprintf(file, "%*s", c->left ? blanks : 0, "");
}

/* Prints the next number of the list; `size` is the length modifier. */
static void print_number(FILE *file, const conversion *c, const char *size, char letter, va_list *list) {
    const bool whole = strchr("diuxXo", letter) != NULL;
    if (whole && strcmp(size, "ll") == 0)
        fprintf(file, c->spec, c->width, c->precision, va_arg(*list, long long));
    else if (whole && (*size == 'l' || *size == 'z' || *size == 't'))
        fprintf(file, c->spec, c->width, c->precision, va_arg(*list, long));
    else if (whole)
        fprintf(file, c->spec, c->width, c->precision, va_arg(*list, int));
    else
        fprintf(file, c->spec, c->width, c->precision, va_arg(*list, double));
}

/* Reads digits, or an argument for '*'. */
static int read_figure(const char **at, va_list *list) {
    if (**at == '*') {
        (*at)++;
        return va_arg(*list, int);
    }
    int figure = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        figure = 10 * figure + (**at - '0');
    return figure;
}

/* Prints one conversion, which begins behind its '%', and returns the rest of the format. */
static const char *print_conversion(FILE *file, const char *at, va_list *list) {
    conversion c = {.precision = -1};
    const int flags = (int)strspn(at, "-+ #0");
    const char *start = at;
    c.left = memchr(at, '-', (size_t)flags) != NULL;
    at += flags;
    c.width = read_figure(&at, list);
    if (c.width < 0) {
        c.left = true;
        c.width = -c.width;
    }
    if (*at == '.') {
        at++;
        c.precision = read_figure(&at, list);
    }
    const int modifiers = (int)strspn(at, "lzthj");
    char size[3] = "";
    snprintf(size, sizeof size, "%.*s", modifiers, at);
    const char letter = at[modifiers];
    snprintf(c.spec, sizeof c.spec, "%%%s%.*s*.*%s%c", c.left ? "-" : "", flags, start, size, letter);
    if (letter == '%')
        fputc('%', file);
    else if (letter == 's')
        print_text(file, &c, va_arg(*list, const char *));
    else if (letter == 'c')
        print_text(file, &c, (char[]){(char)va_arg(*list, int), '\0'});
    else
        print_number(file, &c, size, letter, list);
    return at + modifiers + (letter ? 1 : 0);
}

static void print_list(FILE *file, const char *format, va_list *list) {
    while (*format) {
        const size_t length = strcspn(format, "%");
        fwrite(format, 1, length, file);
        format += length;
        if (*format == '%')
            format = print_conversion(file, format + 1, list);
    }
}

void exi_print(const char *format, ...) {
    va_list list;
    va_start(list, format);
    print_list(stdout, format, &list);
    va_end(list);
}

void exi_print_to(FILE *file, const char *format, ...) {
    va_list list;
    va_start(list, format);
    print_list(file, format, &list);
    va_end(list);
}

void exi_print_word(const char *word) {
    static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (*word && word[strspn(word, harmless)] == '\0') {
        exi_print("%s", word);
        return;
    }
    exi_print("'");
    for (const char *at = word; *at; at += strcspn(at, "'")) {
        if (*at == '\'') {
            exi_print("'\\''");
            at++;
        }
        exi_print("%.*s", (int)strcspn(at, "'"), at);
    }
    exi_print("'");
}
