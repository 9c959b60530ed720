/*
 * The frame of a rig file: the chunks of a .glb, the header of the pack, and its directory with the checksum.
 */
#include "runtime/base/checksum.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/pack/unpack.h"

#include <string.h>

/* Format 3 is the same without trajectories, 4 without drivers, 5 without displacements, 6 without mixtures. */
#define EXI_OLDEST_FORMAT 3

static uint32_t read_u32(const char *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

ex_result exi_unpack_damaged(ex_error *error, const char *what) {
    return ex_error_set(error, EX_ERROR_FORMAT, "this rig is incomplete or damaged: %s", what);
}

ex_result exi_unpack_unsound(ex_error *error, const char *what) {
    return ex_error_set(error, EX_ERROR_DATA, "the rig's %s contradict each other", what);
}

const char exi_unpack_rearranged[] =
    "was changed after Exemplar wrote it, or another program rearranged it: build it again from its project";

/* Finds the BIN chunk of a .glb, or a bare pack. */
static ex_result find_pack(const char *bytes, size_t size, const char **pack, size_t *pack_size, ex_error *error) {
    if (size >= 8 && memcmp(bytes, EXI_PACK_MAGIC, 8) == 0) {
        *pack = bytes;
        *pack_size = size;
        return EX_OK;
    }
    if (size == 0)
        return ex_error_set(error, EX_ERROR_FORMAT, "this is not a rig: it is empty");
    if (size < 12 || memcmp(bytes, "glTF", 4) != 0)
        return ex_error_set(error, EX_ERROR_FORMAT, "this is not a rig: it does not begin like a .glb file");
    if (read_u32(bytes + 4) != 2)
        return ex_error_set(error, EX_ERROR_FORMAT, "this .glb file has version %u; only version 2 is supported",
                            (unsigned)read_u32(bytes + 4));
    size_t length = read_u32(bytes + 8);
    if (length > size)
        return ex_error_set(error, EX_ERROR_FORMAT,
                            "this is not a complete rig: the .glb file has %zu bytes, and only %zu were given", length,
                            size);
    if (length < 12)
        return exi_unpack_damaged(error, "the .glb file states an impossible length");
    size_t at = 12;
    for (int chunk = 0; length - at >= 8; chunk++) {
        size_t chunk_size = read_u32(bytes + at);
        uint32_t kind = read_u32(bytes + at + 4);
        if (chunk_size > length - at - 8 || chunk_size % 4 != 0)
            return exi_unpack_damaged(error, "a chunk of the .glb file is cut short");
        if (kind == 0x004E4942 && chunk == 1) {
            *pack = bytes + at + 8;
            *pack_size = chunk_size;
            return EX_OK;
        }
        at += 8 + chunk_size;
    }
    return ex_error_set(error, EX_ERROR_FORMAT, "this .glb file has no binary chunk, so it holds no rig");
}

/* The format number is at the same place in every format; later fields are not. */
static ex_result check_format(const char *pack, size_t size, ex_error *error) {
    if (size == 0)
        return ex_error_set(error, EX_ERROR_FORMAT, "this is not a rig: it is empty");
    if (size < 12 || memcmp(pack, EXI_PACK_MAGIC, 8) != 0)
        return ex_error_set(error, EX_ERROR_FORMAT,
                            "this .glb file has no Exemplar pack at the start of its binary chunk: it is not a rig, or "
                            "another program rearranged it (then build it again from its project)");
    const uint32_t format = read_u32(pack + 8);
    if (format == 0)
        return exi_unpack_damaged(error, "its format number is 0");
    if (format < EXI_OLDEST_FORMAT)
        return ex_error_set(error, EX_ERROR_VERSION,
                            "this rig was written in format %u by an early version; build it again from its project",
                            (unsigned)format);
    if (format > EX_FORMAT)
        return ex_error_set(
            error, EX_ERROR_VERSION,
            "this rig has format %u, but this version of Exemplar (%s) reads formats up to %d: use a newer version",
            (unsigned)format, EX_VERSION_TEXT, EX_FORMAT);
    return EX_OK;
}

static ex_result read_header(const char *pack, size_t size, exi_pack_header *header, ex_error *error) {
    ex_result result = check_format(pack, size, error);
    if (result != EX_OK)
        return result;
    if (size < sizeof *header)
        return exi_unpack_damaged(error, "the file ends before the rig does");
    memcpy(header, pack, sizeof *header);
    if (header->size > size)
        return exi_unpack_damaged(error, "the file ends before the rig does");
    uint64_t entries = (uint64_t)header->section_count * sizeof(exi_pack_entry);
    if (header->header_size != sizeof *header + entries || header->header_size > header->size)
        return exi_unpack_damaged(error, "its directory does not fit");
    return EX_OK;
}

static ex_result check_directory(const char *pack, const exi_pack_header *header, const ex_allocator *allocator,
                                 ex_error *error) {
    char *copy = exi_allocate(allocator, header->header_size);
    if (!copy)
        return ex_error_memory(error, "the rig's directory", header->header_size);
    memcpy(copy, pack, header->header_size);
    exi_pack_header blank = *header;
    blank.checksum = 0;
    memcpy(copy, &blank, sizeof blank);
    bool same = exi_checksum(copy, header->header_size) == header->checksum;
    exi_release(allocator, copy, header->header_size);
    return same ? EX_OK : ex_error_set(error, EX_ERROR_CHECKSUM, "the rig's header %s", exi_unpack_rearranged);
}

ex_result exi_unpack_open(const char *bytes, size_t size, const ex_allocator *allocator, exi_unpack *u,
                          ex_error *error) {
    size_t pack_size = 0;
    *u = (exi_unpack){0};
    ex_result result = find_pack(bytes, size, &u->pack, &pack_size, error);
    if (result == EX_OK)
        result = read_header(u->pack, pack_size, &u->header, error);
    if (result == EX_OK)
        result = check_directory(u->pack, &u->header, allocator, error);
    u->end = u->header.header_size;
    return result;
}
