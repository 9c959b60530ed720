/*
 * Writes JSON for people to read and edit. jansson's own writer prints 0.1 as 0.10000000000000001, and puts every
 * element of a list on a separate line.
 */
#include "author/base/json.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 100, INDENT = 2 };

void exi_text_add(exi_text *text, const char *bytes, size_t size) {
    char *grown = text->failed ? NULL : exi_array_grow(text->bytes, &text->capacity, text->size + size + 1, 1);
    if (!grown) {
        text->failed = true;
        return;
    }
    text->bytes = grown;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = 0;
}

static void add(exi_text *text, const char *words) {
    exi_text_add(text, words, strlen(words));
}

static void print_string(const char *string, size_t size, exi_text *text) {
    add(text, "\"");
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)string[i];
        char escape[8] = {(char)c};
        if (c == '"' || c == '\\')
            snprintf(escape, sizeof escape, "\\%c", c);
        else if (c == '\n')
            snprintf(escape, sizeof escape, "\\n");
        else if (c == '\t')
            snprintf(escape, sizeof escape, "\\t");
        else if (c < 0x20 || c == 0x7F)
            snprintf(escape, sizeof escape, "\\u%04x", c);
        add(text, escape);
    }
    add(text, "\"");
}

static void print_scalar(const json_t *value, exi_text *text) {
    char number[48];
    switch (json_typeof(value)) {
    case JSON_STRING:
        print_string(json_string_value(value), json_string_length(value), text);
        return;
    case JSON_INTEGER:
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
        break;
    case JSON_REAL:
        ex_format_double(number, json_real_value(value));
        /* Marks it as a real, so that it is one when read again. */
        if (!strpbrk(number, ".e"))
            strcat(number, ".0");
        break;
    default:
        snprintf(number, sizeof number, "%s", json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null");
        break;
    }
    add(text, number);
}

static void new_line(exi_text *text, int depth) {
    add(text, "\n");
    for (int i = 0; i < depth * INDENT; i++)
        add(text, " ");
}

/* Returns the columns that the value takes on one line, or more than LINE. Sets the text to failed if memory for
 * measuring runs out. */
static size_t width(const json_t *value, exi_text *text) {
    exi_text line = {0};
    if (json_is_object(value) || json_is_array(value)) {
        /* ", " follows every element except the last. */
        size_t total = json_object_size(value) + json_array_size(value) > 0 ? 0 : 2;
        const char *key;
        json_t *child;
        size_t index;
        if (json_is_object(value))
            json_object_foreach((json_t *)value, key, child) {
                total += strlen(key) + 6 + width(child, text);
                if (total > LINE)
                    return LINE + 1;
            }
        else
            json_array_foreach(value, index, child) {
                total += 2 + width(child, text);
                if (total > LINE)
                    return LINE + 1;
            }
        return total;
    }
    print_scalar(value, &line);
    text->failed = text->failed || line.failed;
    free(line.bytes);
    return line.size;
}

static void print(const json_t *value, bool pretty, int depth, exi_text *text) {
    if (!json_is_object(value) && !json_is_array(value)) {
        print_scalar(value, text);
        return;
    }
    const bool object = json_is_object(value);
    const bool lines = pretty && width(value, text) + (size_t)(depth * INDENT) > LINE;
    const char *key = NULL;
    json_t *child = NULL;
    size_t index = 0;
    add(text, object ? "{" : "[");
    void *iterator = object ? json_object_iter((json_t *)value) : NULL;
    for (;; index++) {
        if (object) {
            if (!iterator)
                break;
            key = json_object_iter_key(iterator);
            child = json_object_iter_value(iterator);
            iterator = json_object_iter_next((json_t *)value, iterator);
        } else {
            if (index >= json_array_size(value))
                break;
            child = json_array_get(value, index);
        }
        if (index > 0)
            add(text, pretty && !lines ? ", " : ",");
        if (lines)
            new_line(text, depth + 1);
        if (object) {
            print_string(key, strlen(key), text);
            add(text, pretty ? ": " : ":");
        }
        print(child, pretty, depth + 1, text);
    }
    if (lines)
        new_line(text, depth);
    add(text, object ? "}" : "]");
}

void exi_json_print(const json_t *value, bool pretty, exi_text *text) {
    print(value, pretty, 0, text);
    if (pretty)
        add(text, "\n");
}

ex_result exi_json_write(const char *path, const json_t *value, ex_error *error) {
    exi_text text = {0};
    if (value)
        exi_json_print(value, true, &text);
    ex_file_writer writer;
    ex_result result = !value || text.failed ? ex_error_memory(error, "the text of a JSON file", text.size)
                                             : ex_file_open(&writer, path, error);
    if (result == EX_OK) {
        ex_file_write(&writer, text.bytes, text.size);
        result = ex_file_commit(&writer, error);
    }
    free(text.bytes);
    return result;
}

bool exi_json_set(json_t *object, const char *key, json_t *value) {
    return json_object_set_new(object, key, value) == 0;
}

json_t *exi_json_make_number(double value) {
    const bool whole = value == floor(value) && fabs(value) < 1e15 && !(value == 0 && signbit(value));
    return whole ? json_integer((json_int_t)value) : json_real(value);
}

json_t *exi_json_make_numbers(const double *values, int count) {
    json_t *list = json_array();
    for (int i = 0; list && i < count; i++)
        if (json_array_append_new(list, exi_json_make_number(values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}
