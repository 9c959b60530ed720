/*
 * Results and their texts from the list in exemplar/base.h, the misuse hook, and the version.
 */
#include "runtime/base/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ex_version_info ex_version(void) {
    return (ex_version_info){.major = EX_VERSION_MAJOR,
                             .minor = EX_VERSION_MINOR,
                             .patch = EX_VERSION_PATCH,
                             .abi = EX_ABI,
                             .format = EX_FORMAT,
                             .text = EX_VERSION_TEXT,
                             .simd = ex_simd_name()};
}

const char *ex_result_text(ex_result result) {
    static const char *const texts[] = {
#define TEXT(name, text) text,
        EX_RESULT_LIST(TEXT)
#undef TEXT
    };
    return (unsigned)result < (unsigned)EX_RESULT_COUNT ? texts[result] : "unknown result";
}

/* Removes the bytes of a character that was cut at the end of a full text. */
static void end_on_character(char text[EX_ERROR_SIZE]) {
    size_t end = strlen(text), start = end;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xC0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (end - (start - 1) < length)
        text[start - 1] = 0;
}

/* Long texts lose their middle, which holds paths and names; the end says what is wrong. */
static void shorten(const char *sentence, char text[EX_ERROR_SIZE]) {
    static const char gap[] = " ... ";
    const size_t size = strlen(sentence), half = (EX_ERROR_SIZE - sizeof gap) / 2;
    if (size < EX_ERROR_SIZE) {
        memcpy(text, sentence, size + 1);
        return;
    }
    memcpy(text, sentence, half);
    text[half] = 0;
    end_on_character(text);
    const char *tail = sentence + size - half;
    while (((unsigned char)*tail & 0xC0) == 0x80)
        tail++;
    const size_t head = strlen(text);
    memcpy(text + head, gap, sizeof gap - 1);
    memcpy(text + head + sizeof gap - 1, tail, strlen(tail) + 1);
}

ex_result ex_error_set(ex_error *error, ex_result result, const char *format, ...) {
    if (!error)
        return result;
    char sentence[4 * EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    error->result = result;
    error->kind = NULL;
    shorten(sentence, error->text);
    return result;
}

ex_result ex_error_within(ex_error *error, ex_result result, const char *format, ...) {
    if (!error || result == EX_OK)
        return result;
    char sentence[EX_ERROR_SIZE], where[2 * EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(where, sizeof where, format, arguments);
    va_end(arguments);
    memcpy(sentence, error->text, sizeof sentence);
    const char *kind = error->kind;
    ex_error_set(error, result, "%s: %s", where, sentence);
    return ex_error_kind(error, result, kind);
}

ex_result ex_error_kind(ex_error *error, ex_result result, const char *kind) {
    if (error)
        error->kind = kind;
    return result;
}

ex_result ex_error_memory(ex_error *error, const char *what, size_t size) {
    return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory for %s (%.1f MB)", what, (double)size / 1e6);
}

static void default_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
#ifndef NDEBUG
    abort();
#endif
}

static ex_misuse_hook misuse_hook = default_misuse;

void ex_set_misuse_hook(ex_misuse_hook hook) {
    misuse_hook = hook ? hook : default_misuse;
}

bool exi_misuse(const char *function, const char *what) {
    misuse_hook(function, what);
    return false;
}

ex_result exi_misuse_error(ex_error *error, const char *function, const char *what) {
    misuse_hook(function, what);
    return ex_error_set(error, EX_ERROR_ARGUMENT, "%s was called with %s", function, what);
}
