/* cli/base/emit.c - the emitter behind --json. */
#include "emit.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <string.h>

/* Length of the UTF-8 sequence at text, or 0 if it is invalid: overlong, a surrogate, or cut short. The end of the text
 * is safe, because NUL continues no sequence. */
static int utf8_length(const unsigned char *text) {
    static const unsigned smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned lead = text[0];
    int length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
    if (length == 1)
        return 1;
    if (lead < 0xC2 || lead > 0xF4)
        return 0;
    unsigned code = lead & (0x7Fu >> length);
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3F);
    }
    bool valid = code >= smallest[length] && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
    return valid ? length : 0;
}

bool exi_is_readable(const char *text) {
    const unsigned char *at = (const unsigned char *)text;
    for (int length = 1; *at && length; at += length)
        length = *at < 0x20 || *at == 0x7F ? 0 : utf8_length(at);
    return !*at;
}

int exi_readable_cut(const char *text, int most) {
    const int length = (int)strlen(text);
    if (length <= most)
        return length;
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80)
        most--;
    return most;
}

static void write_escaped(FILE *file, const char *text) {
    fputc('"', file);
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        int length = utf8_length(at);
        if (length == 0) {
            fputs("\\ufffd", file);
            at++;
        } else if (*at == '"' || *at == '\\') {
            fprintf(file, "\\%c", *at++);
        } else if (*at < 0x20 || *at == 0x7F) {
            fprintf(file, "\\u%04x", *at++);
        } else {
            fwrite(at, 1, (size_t)length, file);
            at += length;
        }
    }
    fputc('"', file);
}

static void start_value(exi_emitter *json, const char *key) {
    if (json->comma)
        fputc(',', json->file);
    if (key) {
        write_escaped(json->file, key);
        fputc(':', json->file);
    }
    json->comma = true;
}

exi_emitter exi_emit_start(FILE *file) {
    return (exi_emitter){.file = file, .comma = false};
}

void exi_emit_end(exi_emitter *json) {
    fputc('\n', json->file);
}

void exi_emit_open(exi_emitter *json, const char *key, char bracket) {
    start_value(json, key);
    fputc(bracket, json->file);
    json->comma = false;
}

void exi_emit_close(exi_emitter *json, char bracket) {
    fputc(bracket, json->file);
    json->comma = true;
}

void exi_emit_text(exi_emitter *json, const char *key, const char *text) {
    start_value(json, key);
    if (text)
        write_escaped(json->file, text);
    else
        fputs("null", json->file);
}

void exi_emit_number(exi_emitter *json, const char *key, double value) {
    start_value(json, key);
    if (isfinite(value)) {
        char buffer[32];
        ex_format_double(buffer, value);
        fputs(buffer, json->file);
    } else {
        fputs("null", json->file);
    }
}

void exi_emit_bool(exi_emitter *json, const char *key, bool value) {
    start_value(json, key);
    fputs(value ? "true" : "false", json->file);
}

void exi_emit_numbers(exi_emitter *json, const char *key, const double *values, int count) {
    exi_emit_open(json, key, '[');
    for (int i = 0; i < count; i++)
        exi_emit_number(json, NULL, values[i]);
    exi_emit_close(json, ']');
}
