/*
 * Fuzzes the PNG reader (clang -fsanitize=fuzzer,address,undefined): any bytes are an image or an error, and an image
 * can be written and read back unchanged. Checksums would stop most changes, so they are corrected first: the CRC of
 * every chunk, and the compression. Pixel data that is not zlib's is taken as rows, and packed without compressing.
 */
#include <exemplar/author.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};

typedef struct bytes {
    uint8_t *at;
    size_t size;
} bytes;

static void put(bytes *to, const void *from, size_t size) {
    memcpy(to->at + to->size, from, size);
    to->size += size;
}

static void put_number(bytes *to, uint32_t number) {
    const uint8_t big[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number};
    put(to, big, 4);
}

static uint32_t number_at(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static uint32_t crc_of(const uint8_t *at, size_t size) {
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
    }
    return ~crc;
}

/* Adler-32, two sums, continued over several pieces. */
static void add_up(uint32_t sums[2], const uint8_t *at, size_t size) {
    for (size_t i = 0; i < size; i++) {
        sums[0] = (sums[0] + at[i]) % 65521;
        sums[1] = (sums[1] + sums[0]) % 65521;
    }
}

/* A chunk of rows becomes one stored block of a zlib stream that runs over all chunks of rows. */
typedef struct stream {
    bool open, packed; /* packed: begins as zlib's own streams do, and is left alone */
    uint32_t sums[2];
} stream;

static void put_rows(bytes *to, stream *s, const uint8_t *rows, size_t size, bool last) {
    const uint8_t block[5] = {last, (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)~size, (uint8_t)(~size >> 8)};
    if (!s->open)
        put(to, "\x78\x01", 2);
    s->open = true;
    put(to, block, 5);
    put(to, rows, size);
    add_up(s->sums, rows, size);
    if (last)
        put_number(to, s->sums[1] << 16 | s->sums[0]);
}

/* The size of the data of the chunk at `at`, cut to what is there; SIZE_MAX if there is no chunk. */
static size_t chunk_size(const uint8_t *data, size_t size, size_t at) {
    if (at >= size || size - at < 12)
        return SIZE_MAX;
    const size_t room = size - at - 12, own = number_at(data + at);
    return own < room ? own : room;
}

static bool is_rows(const uint8_t *chunk) {
    return memcmp(chunk + 4, "IDAT", 4) == 0;
}

/* A chunk grows by at most 11 bytes. */
static bytes mend(const uint8_t *data, size_t size) {
    bytes to = {.at = malloc(2 * size + 64)};
    stream s = {.sums = {1, 0}};
    if (!to.at)
        abort();
    if (size < 8 || memcmp(data, signature, 8) != 0) {
        put(&to, data, size);
        return to;
    }
    put(&to, signature, 8);
    for (size_t at = 8, count; (count = chunk_size(data, size, at)) != SIZE_MAX; at += count + 12) {
        const uint8_t *chunk = data + at;
        const size_t start = to.size, next = chunk_size(data, size, at + count + 12);
        put(&to, chunk, 8);
        if (is_rows(chunk) && !s.open && count > 0 && chunk[8] == 0x78)
            s.packed = true;
        if (is_rows(chunk) && !s.packed && count <= 0xFFFF)
            put_rows(&to, &s, chunk + 8, count, next == SIZE_MAX || !is_rows(chunk + count + 12));
        else
            put(&to, chunk + 8, count);
        bytes length = {.at = to.at + start};
        put_number(&length, (uint32_t)(to.size - start - 8));
        put_number(&to, crc_of(to.at + start + 4, to.size - start - 4));
    }
    return to;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_image *image, *again;
    ex_error error;
    const bytes file = mend(data, size);
    ex_result result = ex_image_parse(file.at, file.size, "fuzz.png", &image, &error);
    free(file.at);
    if ((result == EX_OK) != (image != NULL))
        abort();
    if (!image)
        return 0;
    unsigned char *encoded;
    size_t byte_count;
    if (ex_image_encode(image, &encoded, &byte_count, &error) != EX_OK ||
        ex_image_parse(encoded, byte_count, "again.png", &again, &error) != EX_OK)
        abort();
    if (again->width != image->width || again->height != image->height ||
        memcmp(again->pixels, image->pixels, 4 * (size_t)image->width * (size_t)image->height) != 0)
        abort();
    free(encoded);
    ex_image_destroy(again);
    ex_image_destroy(image);
    return 0;
}
