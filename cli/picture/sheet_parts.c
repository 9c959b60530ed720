/*
 * Files of parts of a sheet. A PNG is a signature of 8 bytes and chunks: length, name, data, and a checksum of name and
 * data (CRC-32). The note of a part is a chunk of text, tEXt, after the head of the picture, which viewers ignore:
 *
 *     Exemplar-Sheet: cells 3:7 of 20, 480 x 96, rig 0123456789abcdef, options 0123456789abcdef, version 0.2.0
 */
#include "sheet_parts.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 8 + 25, NOTE_MAX = 300 };
static const char keyword[] = "Exemplar-Sheet";

/* ---- what forms are made from ---- */

/* FNV-1a: not against forgers, but against mistakes. */
static void add(uint64_t *hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void add_int(uint64_t *hash, int value) {
    add(hash, &value, sizeof value);
}

static void add_doubles(uint64_t *hash, const double *values, size_t count) {
    add(hash, values, count * sizeof *values);
}

static uint64_t hash_options(const ex_sheet_def *def) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const ex_rig *rig = def->rig;
    const ex_pose *pose = def->pose;
    ex_rig_driver driver;
    add_int(&hash, def->axis_count);
    for (int i = 0; i < def->axis_count; i++) {
        add_int(&hash, def->axes[i]);
        add_int(&hash, def->counts[i]);
        add_doubles(&hash, def->beyond[i], 2);
    }
    add_int(&hash, def->cell);
    add_doubles(&hash, &def->yaw, 1);
    add_doubles(&hash, &def->pitch, 1);
    add_int(&hash, def->textures);
    add(&hash, def->framed, def->framed ? (size_t)def->framed_count * sizeof *def->framed : 0);
    if (pose && pose->inputs)
        add_doubles(&hash, pose->inputs, (size_t)ex_rig_pose_size(rig));
    if (pose && pose->joints)
        add(&hash, pose->joints, (size_t)ex_rig_joint_count(rig) * sizeof *pose->joints);
    if (pose && pose->driver && ex_rig_get_driver(rig, &driver, NULL))
        add(&hash, pose->driver, 3 * (size_t)driver.driver.vertex_count * sizeof *pose->driver);
    return hash;
}

ex_result exi_sheet_source_find(const char *rig_path, const ex_sheet_def *def, exi_sheet_source *source,
                                ex_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    const ex_result result = ex_file_read(rig_path, &bytes, &size, error);
    *source = (exi_sheet_source){.rig = UINT64_C(0xcbf29ce484222325)};
    if (result != EX_OK)
        return result;
    add(&source->rig, bytes, size);
    source->options = hash_options(def);
    free(bytes);
    return EX_OK;
}

/* ---- chunks ---- */

static uint32_t crc_of(const unsigned char *bytes, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? crc >> 1 ^ UINT32_C(0xedb88320) : crc >> 1;
    }
    return ~crc;
}

static void put_number(unsigned char bytes[4], uint32_t number) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(number >> (24 - 8 * i));
}

static size_t get_number(const unsigned char bytes[4]) {
    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
}

ex_result exi_sheet_part_write(const char *path, const ex_sheet_part *part, int cell_count,
                               const exi_sheet_source *source, ex_error *error) {
    unsigned char *png = NULL, chunk[NOTE_MAX + 64];
    char note[NOTE_MAX];
    size_t size = 0;
    const int length = snprintf(
        note, sizeof note, "%s%ccells %d:%d of %d, %d x %d, rig %016" PRIx64 ", options %016" PRIx64 ", version %s",
        keyword, '\0', part->first + 1, part->first + part->count, cell_count, part->image->width, part->image->height,
        source->rig, source->options, ex_version().text);
    put_number(chunk, (uint32_t)length);
    memcpy(chunk + 4, "tEXt", 4);
    memcpy(chunk + 8, note, (size_t)length);
    put_number(chunk + 8 + length, crc_of(chunk + 4, 4 + (size_t)length));
    ex_result result = ex_image_encode(part->image, &png, &size, error);
    if (result != EX_OK)
        return result;
    ex_file_writer file;
    result = ex_file_open(&file, path, error);
    if (result == EX_OK) {
        ex_file_write(&file, png, HEAD);
        ex_file_write(&file, chunk, 12 + (size_t)length);
        ex_file_write(&file, png + HEAD, size - HEAD);
        result = ex_file_commit(&file, error);
    }
    free(png);
    return result;
}

/* Finds the note, as text; false if the file has none. */
static bool find_note(const unsigned char *png, size_t size, char note[NOTE_MAX]) {
    for (size_t at = 8; at + 12 <= size;) {
        const size_t length = get_number(png + at);
        if (length > size - at - 12)
            return false;
        if (memcmp(png + at + 4, "tEXt", 4) == 0 && length > sizeof keyword && length - sizeof keyword < NOTE_MAX &&
            memcmp(png + at + 8, keyword, sizeof keyword) == 0) {
            memcpy(note, png + at + 8 + sizeof keyword, length - sizeof keyword);
            note[length - sizeof keyword] = '\0';
            return true;
        }
        at += 12 + length;
    }
    return false;
}

/* ---- reading ---- */

static ex_result check_note(const char *path, const char *note, const exi_sheet_source *source, ex_sheet_part *part,
                            ex_error *error) {
    exi_sheet_source made;
    int first = 0, last = 0, all = 0, width = 0, height = 0;
    char version[32];
    if (sscanf(note, "cells %9d:%9d of %9d, %9d x %9d, rig %16" SCNx64 ", options %16" SCNx64 ", version %31s", &first,
               &last, &all, &width, &height, &made.rig, &made.options, version) != 8 ||
        first < 1 || last < first || last > all)
        return ex_error_set(error, EX_ERROR_DATA, "'%s' is no part of a sheet: --cells draws parts", path);
    if (part->image->width != width || part->image->height != height)
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' was drawn with %d x %d pixels and has %d x %d: draw it again with --cells %d:%d",
                            path, width, height, part->image->width, part->image->height, first, last);
    if (strcmp(version, ex_version().text) != 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' was drawn by version %s, and this is %s: draw it again with --cells %d:%d", path,
                            version, ex_version().text, first, last);
    if (made.rig != source->rig)
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' was drawn from another rig: draw it again from this one with --cells %d:%d", path,
                            first, last);
    if (made.options != source->options)
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' was drawn with other options: give the same ones here, or draw it again with "
                            "--cells %d:%d",
                            path, first, last);
    part->first = first - 1;
    part->count = last - first + 1;
    return EX_OK;
}

static ex_result read_part(const char *path, const exi_sheet_source *source, ex_sheet_part *part, ex_error *error) {
    char *bytes = NULL, note[NOTE_MAX];
    size_t size = 0;
    ex_image *image = NULL;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    if (result == EX_OK)
        result = ex_image_parse(bytes, size, path, &image, error);
    if (result == EX_OK && !find_note((const unsigned char *)bytes, size, note))
        result = ex_error_set(error, EX_ERROR_DATA, "'%s' is no part of a sheet: --cells draws parts", path);
    part->image = image;
    if (result == EX_OK)
        result = check_note(path, note, source, part, error);
    free(bytes);
    return result;
}

/* Checks that no two parts have a cell in common, as far as this one. */
static ex_result check_twice(const char *const *paths, const ex_sheet_part *parts, int at, ex_error *error) {
    for (int i = 0; i < at; i++)
        for (int c = parts[at].first; c < parts[at].first + parts[at].count; c++)
            if (c >= parts[i].first && c < parts[i].first + parts[i].count)
                return ex_error_set(error, EX_ERROR_DATA, "cell %d is in '%s' and in '%s': leave one of them out",
                                    c + 1, paths[i], paths[at]);
    return EX_OK;
}

ex_result exi_sheet_parts_read(const char *const *paths, int count, const exi_sheet_source *source,
                               exi_sheet_parts *parts, ex_error *error) {
    *parts = (exi_sheet_parts){.parts = calloc((size_t)count + 1, sizeof *parts->parts)};
    ex_result result = parts->parts ? EX_OK : ex_error_memory(error, "parts of a sheet", 0);
    for (int i = 0; result == EX_OK && i < count; i++) {
        parts->count = i + 1;
        result = read_part(paths[i], source, &parts->parts[i], error);
        if (result == EX_OK)
            result = check_twice(paths, parts->parts, i, error);
    }
    return result;
}

void exi_sheet_parts_close(exi_sheet_parts *parts) {
    for (int i = 0; i < parts->count; i++)
        ex_image_destroy((ex_image *)(uintptr_t)parts->parts[i].image);
    free(parts->parts);
}
