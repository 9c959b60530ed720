/*
 * The header of a PLY file (G. Turk, "The PLY polygon file format", 1994) and its numbers, in text and in both byte
 * orders.
 */
#include "author/formats/ply/ply.h"

#include "author/base/array.h"

#include <exemplar/author/base.h>

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORD_SHOWN = 40, WORDS = 6 };

typedef struct word {
    const char *text;
    size_t size;
} word;

bool exi_ply_is(const char *name, size_t size, const char *other) {
    return strlen(other) == size && memcmp(name, other, size) == 0;
}

size_t exi_ply_type_size(exi_ply_type type) {
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 8, 0};
    return sizes[type];
}

ex_result exi_ply_fail(const exi_ply *ply, ex_result result, const char *format, ...) {
    char sentence[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (ply->line > 0)
        return ex_error_set(ply->error, result, "%s:%d: %s", ply->name, ply->line, sentence);
    return ex_error_set(ply->error, result, "%s: %s", ply->name, sentence);
}

ex_result exi_ply_no_memory(const exi_ply *ply) {
    return ex_error_set(ply->error, EX_ERROR_MEMORY, "%s: not enough memory for the mesh", ply->name);
}

/* ---- lines of words ---- */

static bool is_blank(unsigned char c) {
    return c == ' ' || c == '\t';
}

/* Splits the next line into at most WORDS words; -1 at the end of the file. Lines end with LF, CR LF or CR. */
static int next_line(exi_ply *ply, word words[WORDS]) {
    int count = 0;
    if (ply->at == ply->end || ply->line == INT_MAX)
        return -1;
    ply->line++;
    while (ply->at < ply->end && *ply->at != '\n' && *ply->at != '\r') {
        if (is_blank(*ply->at)) {
            ply->at++;
            continue;
        }
        const unsigned char *start = ply->at;
        while (ply->at < ply->end && !is_blank(*ply->at) && *ply->at != '\n' && *ply->at != '\r')
            ply->at++;
        if (count < WORDS)
            words[count++] = (word){(const char *)start, (size_t)(ply->at - start)};
    }
    if (ply->at < ply->end && *ply->at++ == '\r') {
        bool both = ply->at < ply->end && *ply->at == '\n';
        if (ply->line == 1)
            ply->two_end = both;
        ply->at += both && ply->two_end;
    }
    return count;
}

/* Makes text of the file fit to show in an error. */
static const char *show(word w, char text[WORD_SHOWN + 4]) {
    size_t size = w.size < WORD_SHOWN ? w.size : WORD_SHOWN;
    for (size_t i = 0; i < size; i++)
        text[i] = w.text[i] >= 0x20 && w.text[i] < 0x7F ? w.text[i] : '?';
    strcpy(text + size, w.size > size ? "..." : "");
    return text;
}

static exi_ply_type find_type(word w) {
    static const struct {
        const char *name;
        exi_ply_type type;
    } types[] = {{"char", EXI_PLY_INT8},      {"int8", EXI_PLY_INT8},       {"uchar", EXI_PLY_UINT8},
                 {"uint8", EXI_PLY_UINT8},    {"short", EXI_PLY_INT16},     {"int16", EXI_PLY_INT16},
                 {"ushort", EXI_PLY_UINT16},  {"uint16", EXI_PLY_UINT16},   {"int", EXI_PLY_INT32},
                 {"int32", EXI_PLY_INT32},    {"uint", EXI_PLY_UINT32},     {"uint32", EXI_PLY_UINT32},
                 {"float", EXI_PLY_FLOAT32},  {"float32", EXI_PLY_FLOAT32}, {"double", EXI_PLY_FLOAT64},
                 {"float64", EXI_PLY_FLOAT64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (exi_ply_is(w.text, w.size, types[i].name))
            return types[i].type;
    return EXI_PLY_NONE;
}

/* ---- lines of the header ---- */

static ex_result read_format(exi_ply *ply, const word *words, int count) {
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    char shown[WORD_SHOWN + 4];
    for (int i = 0; count >= 2 && i < 3; i++)
        if (exi_ply_is(words[1].text, words[1].size, names[i])) {
            ply->header.encoding = (ex_ply_encoding)i;
            return EX_OK;
        }
    return exi_ply_fail(ply, EX_ERROR_FORMAT,
                        "cannot read '%s' as a format: ascii, binary_little_endian or binary_big_endian is needed here",
                        count >= 2 ? show(words[1], shown) : "");
}

/* Reads digits only. False if there are none, or too many. */
static bool read_count(word w, size_t *number) {
    *number = 0;
    for (size_t i = 0; i < w.size; i++) {
        if (w.text[i] < '0' || w.text[i] > '9' || *number > SIZE_MAX / 20)
            return false;
        *number = *number * 10 + (size_t)(w.text[i] - '0');
    }
    return w.size > 0;
}

/* obj_info may say anything; only the width and height of a range grid matter. */
static void read_info(exi_ply *ply, const word *words, int count) {
    size_t number;
    if (count < 3 || !read_count(words[2], &number))
        return;
    if (exi_ply_is(words[1].text, words[1].size, "num_cols"))
        ply->header.columns = number;
    else if (exi_ply_is(words[1].text, words[1].size, "num_rows"))
        ply->header.rows = number;
}

static ex_result read_element(exi_ply *ply, const word *words, int count) {
    exi_ply_header *header = &ply->header;
    char shown[WORD_SHOWN + 4];
    if (count < 3)
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "the element lacks its name or its number");
    size_t number;
    if (!read_count(words[2], &number))
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "cannot read '%s' as a number of elements", show(words[2], shown));
    exi_ply_element *moved =
        exi_array_grow(header->elements, &header->element_capacity, (size_t)header->element_count + 1, sizeof *moved);
    if (!moved)
        return exi_ply_no_memory(ply);
    header->elements = moved;
    moved[header->element_count++] = (exi_ply_element){
        .name = words[1].text, .name_size = words[1].size, .count = number, .first_property = header->property_count};
    return EX_OK;
}

static ex_result read_property(exi_ply *ply, const word *words, int count) {
    exi_ply_header *header = &ply->header;
    char shown[WORD_SHOWN + 4];
    bool list = count >= 2 && exi_ply_is(words[1].text, words[1].size, "list");
    int type_at = list ? 3 : 1;
    if (header->element_count == 0)
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "a property comes before any element");
    if (count < type_at + 2)
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "the property lacks its type or its name");
    exi_ply_property property = {.name = words[type_at + 1].text,
                                 .name_size = words[type_at + 1].size,
                                 .type = find_type(words[type_at]),
                                 .count_type = list ? find_type(words[2]) : EXI_PLY_NONE};
    if (property.type == EXI_PLY_NONE || (list && property.count_type == EXI_PLY_NONE))
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "cannot read '%s' as a type",
                            show(words[property.type == EXI_PLY_NONE ? type_at : 2], shown));
    if (list && property.count_type >= EXI_PLY_FLOAT32)
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "the length of a list must be a whole number");
    exi_ply_property *moved = exi_array_grow(header->properties, &header->property_capacity,
                                             (size_t)header->property_count + 1, sizeof *moved);
    if (!moved)
        return exi_ply_no_memory(ply);
    header->properties = moved;
    moved[header->property_count++] = property;
    header->elements[header->element_count - 1].property_count++;
    return EX_OK;
}

ex_result exi_ply_read_header(exi_ply *ply) {
    word words[WORDS];
    char shown[WORD_SHOWN + 4];
    bool format = false;
    if (ply->at == ply->end)
        return ex_error_set(ply->error, EX_ERROR_FORMAT, "%s is empty", ply->name);
    /* Never NULL, so that an element without properties points to none of them. */
    ply->header.properties = exi_array_grow(NULL, &ply->header.property_capacity, 1, sizeof *ply->header.properties);
    if (!ply->header.properties)
        return exi_ply_no_memory(ply);
    if (next_line(ply, words) != 1 || !exi_ply_is(words[0].text, words[0].size, "ply"))
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "does not begin with 'ply': this is not a PLY file");
    for (;;) {
        int count = next_line(ply, words);
        if (count < 0)
            return exi_ply_fail(ply, EX_ERROR_FORMAT, "the file ends within its header");
        if (count == 0 || exi_ply_is(words[0].text, words[0].size, "comment"))
            continue;
        if (exi_ply_is(words[0].text, words[0].size, "obj_info")) {
            read_info(ply, words, count);
            continue;
        }
        ex_result result;
        if (exi_ply_is(words[0].text, words[0].size, "end_header"))
            break;
        if (exi_ply_is(words[0].text, words[0].size, "format")) {
            result = read_format(ply, words, count);
            format = true;
        } else if (exi_ply_is(words[0].text, words[0].size, "element")) {
            result = read_element(ply, words, count);
        } else if (exi_ply_is(words[0].text, words[0].size, "property")) {
            result = read_property(ply, words, count);
        } else {
            result =
                exi_ply_fail(ply, EX_ERROR_FORMAT, "cannot read '%s' as a word of a PLY header", show(words[0], shown));
        }
        if (result != EX_OK)
            return result;
    }
    if (!format)
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "the header does not name the format");
    if (ply->header.encoding != EX_PLY_ASCII)
        ply->line = 0; /* binary data have no lines */
    else if (ply->line < INT_MAX)
        ply->line++;
    return EX_OK;
}

/* ---- numbers ---- */

/* Moves to the next word of ascii data. False at the end. */
static bool next_word(exi_ply *ply) {
    for (; ply->at < ply->end; ply->at++) {
        bool line_end = *ply->at == '\n' || *ply->at == '\r';
        bool second = *ply->at == '\n' && ply->at[-1] == '\r'; /* the header comes before, so at[-1] exists */
        if (!line_end && !is_blank(*ply->at))
            return true;
        if (line_end && !second && ply->line < INT_MAX)
            ply->line++;
    }
    return false;
}

static ex_result next_ascii(exi_ply *ply, exi_ply_type type, double *value) {
    if (!next_word(ply))
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "the file ends too early: copy or export it again");
    const char *start = (const char *)ply->at, *cursor = start, *stop = start;
    while (stop < (const char *)ply->end && !is_blank((unsigned char)*stop) && *stop != '\n' && *stop != '\r')
        stop++;
    bool good = ex_parse_double(&cursor, stop, value) && cursor == stop;
    if (good && type < EXI_PLY_FLOAT32)
        good = *value == floor(*value);
    if (!good) {
        char shown[WORD_SHOWN + 4];
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "cannot read '%s' as a %snumber",
                            show((word){start, (size_t)(stop - start)}, shown), type < EXI_PLY_FLOAT32 ? "whole " : "");
    }
    ply->at = (const unsigned char *)stop;
    return EX_OK;
}

static double decode(exi_ply_type type, uint64_t bits) {
    float single;
    double number;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case EXI_PLY_INT8:
        return (double)(int8_t)(uint8_t)bits;
    case EXI_PLY_INT16:
        return (double)(int16_t)(uint16_t)bits;
    case EXI_PLY_INT32:
        return (double)(int32_t)low;
    case EXI_PLY_FLOAT32:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    case EXI_PLY_FLOAT64:
        memcpy(&number, &bits, sizeof number);
        return number;
    default:
        return (double)bits;
    }
}

ex_result exi_ply_next(exi_ply *ply, exi_ply_type type, double *value) {
    if (ply->header.encoding == EX_PLY_ASCII)
        return next_ascii(ply, type, value);
    size_t size = exi_ply_type_size(type);
    if ((size_t)(ply->end - ply->at) < size)
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "the file ends too early: copy or export it again");
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | ply->at[ply->header.encoding == EX_PLY_BIG_ENDIAN ? i : size - 1 - i];
    ply->at += size;
    *value = decode(type, bits);
    if (!isfinite(*value))
        return exi_ply_fail(ply, EX_ERROR_DATA, "holds a number that is not finite");
    return EX_OK;
}

ex_result exi_ply_skip(exi_ply *ply, exi_ply_type type, size_t count) {
    if (ply->header.encoding != EX_PLY_ASCII) {
        if (count > (size_t)(ply->end - ply->at) / exi_ply_type_size(type))
            return exi_ply_fail(ply, EX_ERROR_FORMAT, "the file ends too early: copy or export it again");
        ply->at += count * exi_ply_type_size(type);
        return EX_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (!next_word(ply))
            return exi_ply_fail(ply, EX_ERROR_FORMAT, "the file ends too early: copy or export it again");
        while (ply->at < ply->end && !is_blank(*ply->at) && *ply->at != '\n' && *ply->at != '\r')
            ply->at++;
    }
    return EX_OK;
}

size_t exi_ply_least_size(const exi_ply *ply, const exi_ply_element *element) {
    size_t row = 0;
    for (int i = 0; i < element->property_count; i++) {
        const exi_ply_property *property = &ply->header.properties[element->first_property + i];
        exi_ply_type type = property->count_type == EXI_PLY_NONE ? property->type : property->count_type;
        row += ply->header.encoding == EX_PLY_ASCII ? 2 : exi_ply_type_size(type);
    }
    /* The last number of a text needs no separator after it. */
    size_t spared = ply->header.encoding == EX_PLY_ASCII && row > 0 && element->count > 0;
    return row > 0 && element->count > SIZE_MAX / row ? SIZE_MAX : element->count * row - spared;
}
