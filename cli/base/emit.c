/* cli/base/emit.c - the emitter behind --json. */
#include "emit.h"

#include "plain.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <string.h>

bool exi_is_readable(const char *text) {
    unsigned code;
    for (int length = 1; *text && length; text += length)
        length = (unsigned char)*text < 0x20 || *text == 0x7F ? 0 : exi_character(text, &code);
    return !*text;
}

int exi_readable_cut(const char *text, int most) {
    const int length = (int)strlen(text);
    if (length <= most)
        return length;
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80)
        most--;
    return most;
}

/* Characters that a terminal would obey or hide are written as escapes, which read back the same. */
static void write_escaped(FILE *file, const char *text) {
    fputc('"', file);
    while (*text) {
        unsigned code;
        const int length = exi_character(text, &code);
        if (length == 0)
            fputs("\\ufffd", file);
        else if (code == '"' || code == '\\')
            fprintf(file, "\\%c", (int)code);
        else if (exi_is_hidden(code) && code >= 0x10000)
            fprintf(file, "\\u%04x\\u%04x", 0xD7C0 + (code >> 10), 0xDC00 + (code & 0x3FF));
        else if (exi_is_hidden(code))
            fprintf(file, "\\u%04x", code);
        else
            fwrite(text, 1, (size_t)length, file);
        text += length ? length : 1;
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
