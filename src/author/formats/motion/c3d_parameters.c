/*
 * C3D files, the parameter section: a chain of records, groups and parameters in any order, each with a name, a type,
 * dimensions and data. Numbers are in the format of an Intel, a DEC (VAX) or a MIPS processor, as one byte tells.
 *
 * A record is: length of the name (negative: locked), group (negative: this is a group), name, distance to the next
 * record counted from here (two bytes; 0 ends the chain), then for a parameter type, number of dimensions, dimensions,
 * data.
 */
#include "author/formats/motion/c3d.h"

#include "author/base/array.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sentences ---- */

ex_result exi_c3d_fail(const exi_c3d *r, ex_result result, size_t at, const char *format, ...) {
    char sentence[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return ex_error_set(r->error, result, "%s, byte %zu: %s", r->path, at, sentence);
}

ex_result exi_c3d_no_memory(const exi_c3d *r) {
    return ex_error_set(r->error, EX_ERROR_MEMORY, "%s: not enough memory for the markers", r->path);
}

/* ---- numbers ---- */

unsigned exi_c3d_word(const exi_c3d *r, size_t at) {
    const unsigned char *b = r->bytes + at;
    return r->order == EXI_C3D_MIPS ? (unsigned)b[0] << 8 | b[1] : (unsigned)b[1] << 8 | b[0];
}

/* Converts a VAX F number: words of two bytes, the high one first, and 0.1f · 2^(e - 128) where IEEE has 1.f · 2^(e -
 * 127). An exponent of 0 means the number 0, or, with a sign, not a number. */
static double dec_real(uint32_t bits) {
    const int exponent = (int)(bits >> 23 & 0xFF);
    if (exponent == 0)
        return bits >> 31 ? (double)NAN : 0;
    const double value = ldexp((double)((bits & 0x7FFFFF) | 0x800000), exponent - 128 - 24);
    return bits >> 31 ? -value : value;
}

double exi_c3d_real(const exi_c3d *r, size_t at) {
    const unsigned char *b = r->bytes + at;
    if (r->order == EXI_C3D_DEC)
        return dec_real((uint32_t)b[1] << 24 | (uint32_t)b[0] << 16 | (uint32_t)b[3] << 8 | b[2]);
    const uint32_t bits = r->order == EXI_C3D_MIPS
                              ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
                              : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* ---- records ---- */

static int signed_byte(const exi_c3d *r, size_t at) {
    return r->bytes[at] < 128 ? r->bytes[at] : r->bytes[at] - 256;
}

static ex_result cut_short(const exi_c3d *r, size_t at) {
    return exi_c3d_fail(r, EX_ERROR_FORMAT, at,
                        "the parameters reach beyond the end of the file, which has %zu bytes: it was cut short; copy "
                        "or export it again",
                        r->size);
}

/* Reads a parameter's type, dimensions and data, from `at` on. */
static ex_result read_parameter(const exi_c3d *r, size_t at, exi_c3d_record *record) {
    if (r->size - at < 2)
        return cut_short(r, at);
    record->type = signed_byte(r, at);
    record->dimension_count = r->bytes[at + 1];
    record->dimensions = at + 2;
    if (record->type != -1 && record->type != 1 && record->type != 2 && record->type != 4)
        return exi_c3d_fail(r, EX_ERROR_FORMAT, at,
                            "the parameter '%.*s' has the type %d; only -1, 1, 2 and 4 exist: the parameters are "
                            "damaged; export the file again",
                            record->name_size, (const char *)r->bytes + record->name, record->type);
    if (r->size - record->dimensions < (size_t)record->dimension_count)
        return cut_short(r, at);
    record->data = record->dimensions + (size_t)record->dimension_count;
    const size_t width = record->type < 0 ? 1 : (size_t)record->type, room = (r->size - record->data) / width;
    record->count = 1;
    for (int i = 0; i < record->dimension_count; i++) {
        const size_t dimension = r->bytes[record->dimensions + (size_t)i];
        if (dimension > 0 && record->count > room / dimension)
            return cut_short(r, record->data);
        record->count *= dimension;
    }
    return record->count <= room ? EX_OK : cut_short(r, record->data);
}

static ex_result add_record(exi_c3d *r, const exi_c3d_record *record) {
    exi_c3d_record *records =
        exi_array_grow(r->records, &r->record_capacity, (size_t)r->record_count + 1, sizeof *records);
    if (!records)
        return exi_c3d_no_memory(r);
    r->records = records;
    records[r->record_count++] = *record;
    return EX_OK;
}

/* Reads the record at *at; moves *at to the next, or to 0 after the last. */
static ex_result read_record(exi_c3d *r, size_t *at) {
    const size_t here = *at;
    *at = 0;
    if (r->size - here < 2)
        return EX_OK; /* nothing more can follow */
    const int length = signed_byte(r, here);
    exi_c3d_record record = {.group = signed_byte(r, here + 1), .name = here + 2, .name_size = abs(length)};
    if (length == 0 || record.group == 0)
        return EX_OK;
    const size_t next = record.name + (size_t)record.name_size;
    if (next > r->size || r->size - next < 2)
        return cut_short(r, here);
    const size_t step = exi_c3d_word(r, next);
    ex_result result = record.group > 0 ? read_parameter(r, next + 2, &record) : EX_OK;
    if (result == EX_OK)
        result = add_record(r, &record);
    if (result == EX_OK && step == 1)
        return exi_c3d_fail(
            r, EX_ERROR_FORMAT, next,
            "the next parameter would begin within this number: the parameters are damaged; export the file again");
    *at = step == 0 ? 0 : next + step;
    return result;
}

ex_result exi_c3d_read_parameters(exi_c3d *r) {
    if (r->size < EXI_C3D_BLOCK)
        return ex_error_set(r->error, EX_ERROR_FORMAT,
                            "%s: the file has only %zu bytes: it is not a C3D file, or it was cut short", r->path,
                            r->size);
    if (r->bytes[1] != 0x50)
        return exi_c3d_fail(r, EX_ERROR_FORMAT, 1, "this is not a C3D file: it has %d here, not 80", r->bytes[1]);
    if (r->bytes[0] < 1)
        return exi_c3d_fail(r, EX_ERROR_FORMAT, 0, "the header names no block of parameters: export the file again");
    const size_t block = r->bytes[0], start = (block - 1) * EXI_C3D_BLOCK;
    if (start > r->size - 4)
        return exi_c3d_fail(
            r, EX_ERROR_FORMAT, 0,
            "the parameters should begin at byte %zu, but the file has %zu: it was cut short; copy or export it again",
            start, r->size);
    const int order = r->bytes[start + 3];
    if (order != EXI_C3D_INTEL && order != EXI_C3D_DEC && order != EXI_C3D_MIPS)
        return exi_c3d_fail(r, EX_ERROR_FORMAT, start + 3,
                            "%d is not a known processor (84 Intel, 85 DEC, 86 MIPS): export the file again", order);
    r->order = (exi_c3d_order)order;
    ex_result result = EX_OK;
    r->parameters_end = start + 4;
    /* The section's number of blocks is not used: writers are careless with it, and the chain has an end. If the end is
     * missing, the chain ends where the points begin according to the header. */
    const size_t data = exi_c3d_word(r, 16);
    const size_t stop = data > block ? (data - 1) * EXI_C3D_BLOCK : r->size;
    for (size_t at = start + 4; at != 0 && at < r->size && at < stop && result == EX_OK;) {
        r->parameters_end = at;
        result = read_record(r, &at);
    }
    return result;
}

/* ---- by name ---- */

static char upper(char c) {
    return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

static bool is_called(const exi_c3d *r, const exi_c3d_record *record, const char *name) {
    if (strlen(name) != (size_t)record->name_size)
        return false;
    for (int i = 0; i < record->name_size; i++)
        if (upper((char)r->bytes[record->name + (size_t)i]) != name[i])
            return false;
    return true;
}

const exi_c3d_record *exi_c3d_find(const exi_c3d *r, const char *group, const char *name) {
    for (int g = 0; g < r->record_count; g++) {
        if (r->records[g].group >= 0 || !is_called(r, &r->records[g], group))
            continue;
        for (int i = 0; i < r->record_count; i++)
            if (r->records[i].group == -r->records[g].group && is_called(r, &r->records[i], name))
                return &r->records[i];
    }
    return NULL;
}

bool exi_c3d_number(const exi_c3d *r, const char *group, const char *name, size_t index, double *value) {
    const exi_c3d_record *record = exi_c3d_find(r, group, name);
    if (!record || record->type < 0 || index >= record->count)
        return false;
    const size_t at = record->data + index * (size_t)record->type;
    const double number = record->type == 1   ? (double)r->bytes[at]
                          : record->type == 2 ? (double)exi_c3d_word(r, at)
                                              : exi_c3d_real(r, at);
    if (!isfinite(number))
        return false;
    *value = number;
    return true;
}

size_t exi_c3d_text_count(const exi_c3d *r, const exi_c3d_record *record) {
    if (!record || record->type != -1 || record->count == 0)
        return 0;
    const size_t width = record->dimension_count > 0 ? r->bytes[record->dimensions] : 1;
    return record->count / width;
}

const char *exi_c3d_text(const exi_c3d *r, const exi_c3d_record *record, size_t index, size_t *size) {
    const size_t width = record->dimension_count > 0 ? r->bytes[record->dimensions] : 1;
    const char *text = (const char *)r->bytes + record->data + index * width;
    *size = 0;
    while (*size < width && text[*size] != '\0')
        ++*size;
    while (*size > 0 && text[*size - 1] == ' ')
        --*size;
    return text;
}
