/*
 * Files of a predictor, which projects name: 24 bytes, then the block that a rig stores (docs/reference/rig.md).
 *
 *     8 bytes "EXPREDIC", uint32 version, uint32 0, uint64 checksum of the block
 */
#include "runtime/base/checksum.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/weigh/predictor.h"

#include <exemplar/author/drive.h>
#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

enum { VERSION = 1 };

typedef struct header {
    char magic[8];
    uint32_t version, reserved;
    uint64_t checksum;
} header;

_Static_assert(sizeof(header) == 24, "the file format has no padding");

static const char magic[8] = {'E', 'X', 'P', 'R', 'E', 'D', 'I', 'C'};

ex_result ex_predictor_write(const char *path, const ex_predictor *predictor, ex_error *error) {
    const size_t size = (size_t)predictor->size;
    header head = {.version = VERSION, .checksum = exi_checksum(predictor, size)};
    ex_file_writer writer;
    memcpy(head.magic, magic, sizeof magic);
    const ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, &head, sizeof head);
    ex_file_write(&writer, predictor, size);
    return ex_file_commit(&writer, error);
}

ex_result ex_predictor_parse(const void *bytes, size_t size, const char *path, ex_predictor **predictor,
                             ex_error *error) {
    header head;
    ex_predictor sound;
    *predictor = NULL;
    if (size < sizeof head || memcmp(bytes, magic, sizeof magic) != 0)
        return ex_error_set(error, EX_ERROR_FORMAT,
                            "%s: this is no predictor: 'exemplar unpack' writes one from a rig that follows motion",
                            path);
    memcpy(&head, bytes, sizeof head);
    const size_t rest = size - sizeof head;
    if (head.version != VERSION)
        return ex_error_set(error, EX_ERROR_FORMAT,
                            "%s: this predictor has version %u of its format, and this program reads version %d", path,
                            (unsigned)head.version, VERSION);
    ex_predictor *made = exi_block_create(NULL, rest);
    if (!made)
        return ex_error_memory(error, "a predictor", rest);
    memcpy(made, (const char *)bytes + sizeof head, rest);
    if (head.reserved != 0 || head.checksum != exi_checksum(made, rest) ||
        !exi_predictor_is_sound(made, rest, &sound)) {
        ex_predictor_destroy(made);
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s: this predictor is damaged or cut short: unpack its rig again, or learn it again",
                            path);
    }
    *predictor = made;
    return EX_OK;
}

ex_result ex_predictor_read(const char *path, ex_predictor **predictor, ex_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    *predictor = NULL;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    if (result == EX_OK)
        result = ex_predictor_parse(bytes, size, path, predictor, error);
    free(bytes);
    return result;
}
