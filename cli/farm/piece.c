/* Writes and reads pieces; piece.h describes the file. */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64

#include "piece.h"

#include "cli/base/files.h"
#include "common/array.h"
#include "hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char begin_mark[8] = {'E', 'X', 'P', 'I', 'E', 'C', 'E', '1'};
static const char end_mark[8] = {'E', 'X', 'P', 'I', 'E', 'C', 'E', '.'};

enum { COPY = 1 << 20, TAIL = 24 };
#define RECORD_MOST ((uint64_t)1 << 30)

static void put_number(unsigned char bytes[8], uint64_t x) {
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(x >> (8 * i));
}

static uint64_t get_number(const unsigned char bytes[8]) {
    uint64_t x = 0;
    for (int i = 0; i < 8; i++)
        x |= (uint64_t)bytes[i] << (8 * i);
    return x;
}

static ex_result out_of_memory(ex_error *error) {
    return ex_error_memory(error, "a piece", COPY);
}

/* ---- writing ---- */

static json_t *describe(const char *name, uint64_t size, uint64_t hash) {
    char text[EXI_HASH_DIGITS + 1];
    return json_pack("{s:s, s:I, s:s}", "name", name, "size", (json_int_t)size, "hash", exi_hash_text(text, hash));
}

/* Copies a file to the piece and adds it to the list. */
static ex_result add_file(ex_file_writer *writer, const char *folder, const char *name, json_t *list, ex_error *error) {
    char *path = exi_path_inside(folder, name, "");
    unsigned char *bytes = malloc(COPY);
    exi_hash hash = exi_hash_start();
    errno = 0;
    FILE *file = path && bytes ? fopen(path, "rb") : NULL;
    ex_result result = !path || !bytes ? out_of_memory(error)
                       : !file         ? ex_file_error(error, "read", path, errno)
                                       : EX_OK;
    for (size_t got; result == EX_OK && (got = fread(bytes, 1, COPY, file)) > 0;) {
        exi_hash_add(&hash, bytes, got);
        ex_file_write(writer, bytes, got);
    }
    if (result == EX_OK && ferror(file))
        result = ex_file_error(error, "read", path, errno ? errno : EIO);
    if (result == EX_OK && json_array_append_new(list, describe(name, hash.size, exi_hash_value(&hash))) != 0)
        result = out_of_memory(error);
    if (file)
        fclose(file);
    free(bytes);
    free(path);
    return result;
}

static ex_result add_record(ex_file_writer *writer, const json_t *record, ex_error *error) {
    char *text = json_dumps(record, JSON_COMPACT);
    if (!text)
        return out_of_memory(error);
    const size_t size = strlen(text);
    unsigned char numbers[16];
    exi_hash hash = exi_hash_start();
    exi_hash_add(&hash, text, size);
    put_number(numbers, size);
    put_number(numbers + 8, exi_hash_value(&hash));
    ex_file_write(writer, text, size);
    ex_file_write(writer, numbers, sizeof numbers);
    ex_file_write(writer, end_mark, sizeof end_mark);
    free(text);
    return EX_OK;
}

ex_result exi_piece_write(const char *path, const char *folder, const json_t *names, json_t *record, ex_error *error) {
    ex_file_writer writer;
    json_t *list = json_array();
    if (!list || json_object_set_new(record, "files", list) != 0)
        return out_of_memory(error);
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, begin_mark, sizeof begin_mark);
    for (size_t i = 0; result == EX_OK && i < json_array_size(names); i++)
        result = add_file(&writer, folder, json_string_value(json_array_get(names, i)), list, error);
    if (result == EX_OK)
        result = add_record(&writer, record, error);
    if (result == EX_OK)
        return ex_file_commit(&writer, error);
    ex_file_abandon(&writer);
    return result;
}

/* ---- reading ---- */

static ex_result damaged(const exi_piece *piece, const char *what, ex_error *error) {
    return ex_error_kind(error, ex_error_set(error, EX_ERROR_DATA, "the piece '%s' %s", piece->path, what),
                         "bad_piece");
}

/* Reads exactly `size` bytes at an offset. */
static bool read_at(const exi_piece *piece, uint64_t offset, void *bytes, size_t size) {
    return fseeko(piece->stream, (off_t)offset, SEEK_SET) == 0 && fread(bytes, 1, size, piece->stream) == size;
}

/* True if a name stays below the folder that it is relative to. */
static bool is_inside(const char *name) {
    if (!name[0] || name[0] == '/')
        return false;
    for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (strcmp(part, "..") == 0 || strncmp(part, "../", 3) == 0)
            return false;
    return true;
}

static ex_result list_files(exi_piece *piece, uint64_t room, ex_error *error) {
    const json_t *list = json_object_get(piece->record, "files");
    const size_t count = json_array_size(list);
    uint64_t offset = sizeof begin_mark;
    piece->files = array_allocate(count, sizeof *piece->files);
    if (!piece->files)
        return out_of_memory(error);
    for (size_t i = 0; i < count; i++) {
        exi_piece_file *file = &piece->files[i];
        const char *hash = NULL;
        json_int_t size = -1;
        if (json_unpack(json_array_get(list, i), "{s:s, s:I, s:s}", "name", &file->name, "size", &size, "hash",
                        &hash) != 0 ||
            size < 0 || (uint64_t)size > room || !exi_hash_parse(hash, &file->hash) || !is_inside(file->name))
            return damaged(piece, "has a record that makes no sense", error);
        file->size = (uint64_t)size;
        file->offset = offset;
        offset += file->size;
        room -= file->size;
    }
    piece->file_count = (int)count;
    return room == 0 ? EX_OK : damaged(piece, "is not as long as its record says", error);
}

static ex_result read_record(exi_piece *piece, uint64_t fingerprint, ex_error *error) {
    unsigned char mark[8], tail[TAIL];
    char wanted[EXI_HASH_DIGITS + 1];
    if (fseeko(piece->stream, 0, SEEK_END) != 0)
        return ex_file_error(error, "read", piece->path, errno);
    const off_t whole = ftello(piece->stream);
    const uint64_t size = whole > 0 ? (uint64_t)whole : 0;
    if (size < sizeof mark + TAIL || !read_at(piece, 0, mark, sizeof mark) ||
        memcmp(mark, begin_mark, sizeof mark) != 0 || !read_at(piece, size - TAIL, tail, TAIL) ||
        memcmp(tail + 16, end_mark, sizeof end_mark) != 0)
        return ferror(piece->stream) ? ex_file_error(error, "read", piece->path, errno ? errno : EIO)
                                     : damaged(piece, "is cut short or damaged", error);
    const uint64_t length = get_number(tail), room = size - sizeof mark - TAIL;
    if (length > room || length > RECORD_MOST)
        return damaged(piece, "is cut short or damaged", error);
    char *text = array_allocate((size_t)length, 1);
    if (!text)
        return out_of_memory(error);
    exi_hash hash = exi_hash_start();
    const bool whole_text = read_at(piece, size - TAIL - length, text, (size_t)length);
    exi_hash_add(&hash, text, whole_text ? (size_t)length : 0);
    if (whole_text && exi_hash_value(&hash) == get_number(tail + 8))
        piece->record = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    if (!json_is_object(piece->record))
        return damaged(piece, "is damaged: its record cannot be read", error);
    const char *found = json_string_value(json_object_get(piece->record, "piece"));
    if (!found || strcmp(found, exi_hash_text(wanted, fingerprint)) != 0)
        return damaged(piece, "is of another task than its name says", error);
    return list_files(piece, room - length, error);
}

ex_result exi_piece_open(const char *path, uint64_t fingerprint, exi_piece *piece, ex_error *error) {
    *piece = (exi_piece){.path = text_copy(path)};
    if (!piece->path)
        return out_of_memory(error);
    errno = 0;
    piece->stream = fopen(path, "rb");
    return piece->stream ? read_record(piece, fingerprint, error) : ex_file_error(error, "read", path, errno);
}

void exi_piece_close(exi_piece *piece) {
    if (piece->stream)
        fclose(piece->stream);
    json_decref(piece->record);
    free(piece->files);
    free(piece->path);
    *piece = (exi_piece){.stream = NULL};
}

int exi_piece_find(const exi_piece *piece, const char *name) {
    for (int i = 0; i < piece->file_count; i++)
        if (strcmp(piece->files[i].name, name) == 0)
            return i;
    return -1;
}

/* Reads a file of the piece, hashes it, and copies it to the writer, unless that is NULL. */
static ex_result pass_on(const exi_piece *piece, const exi_piece_file *file, ex_file_writer *writer, ex_error *error) {
    unsigned char *bytes = malloc(COPY);
    exi_hash hash = exi_hash_start();
    if (!bytes)
        return out_of_memory(error);
    errno = 0;
    clearerr(piece->stream);
    bool good = fseeko(piece->stream, (off_t)file->offset, SEEK_SET) == 0;
    for (uint64_t left = file->size; good && left > 0;) {
        const size_t part = left < COPY ? (size_t)left : COPY;
        good = fread(bytes, 1, part, piece->stream) == part;
        exi_hash_add(&hash, bytes, good ? part : 0);
        if (good && writer)
            ex_file_write(writer, bytes, part);
        left -= part;
    }
    free(bytes);
    if (ferror(piece->stream))
        return ex_file_error(error, "read", piece->path, errno ? errno : EIO);
    return good && exi_hash_value(&hash) == file->hash ? EX_OK
                                                       : damaged(piece, "is damaged: its bytes have changed", error);
}

ex_result exi_piece_extract(const exi_piece *piece, int file, const char *path, bool sync, ex_error *error) {
    ex_file_writer writer;
    ex_result result = sync ? ex_file_open(&writer, path, error) : ex_file_open_bulk(&writer, path, error);
    if (result != EX_OK)
        return result;
    result = pass_on(piece, &piece->files[file], &writer, error);
    if (result == EX_OK)
        return ex_file_commit(&writer, error);
    ex_file_abandon(&writer);
    return result;
}

ex_result exi_piece_check(const exi_piece *piece, ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < piece->file_count; i++)
        result = pass_on(piece, &piece->files[i], NULL, error);
    return result;
}
