/*
 * Fuzzes point caches (clang -fsanitize=fuzzer,address,undefined): the first byte chooses PC2 or MDD; any bytes after
 * it are a cache or an error, and a cache is written to the same bytes except for its header.
 */
#include <exemplar/author.h>

#include "fuzz/scratch.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NUMBERS_MOST = 30000 };

static ex_cache_reader *open_bytes(const char *path, const uint8_t *data, size_t size) {
    ex_cache_reader *reader;
    ex_error error;
    scratch_write(path, data, size);
    ex_result result = ex_cache_open(path, &reader, &error);
    if ((result == EX_OK) != (reader != NULL))
        abort();
    return reader;
}

static void write_again(const char *path, ex_cache_reader *reader) {
    static float positions[NUMBERS_MOST], again[NUMBERS_MOST];
    const ex_cache_info info = ex_cache_get_info(reader);
    double *times = malloc((size_t)info.frame_count * sizeof *times);
    ex_cache_writer *writer;
    ex_cache_reader *copy;
    ex_error error;
    if (!times || 3 * (size_t)info.vertex_count > NUMBERS_MOST)
        abort();
    for (int f = 0; f < info.frame_count; f++)
        times[f] = f;
    if (ex_cache_create(path, info.vertex_count, info.frame_count, times, NULL, &writer, &error) != EX_OK)
        abort();
    bool good = true;
    for (int f = 0; f < info.frame_count && good; f++)
        good =
            ex_cache_read(reader, f, positions, &error) == EX_OK && ex_cache_write(writer, positions, &error) == EX_OK;
    if (ex_cache_finish(writer, good, &error) != EX_OK || (good && ex_cache_open(path, &copy, &error) != EX_OK))
        abort();
    for (int f = 0; f < info.frame_count && good; f++)
        if (ex_cache_read(reader, f, positions, &error) != EX_OK || ex_cache_read(copy, f, again, &error) != EX_OK ||
            memcmp(positions, again, 12 * (size_t)info.vertex_count) != 0)
            abort();
    if (good)
        ex_cache_close(copy);
    free(times);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size > 4 * NUMBERS_MOST)
        return 0;
    const bool mdd = data[0] & 1;
    const scratch_path path = scratch_name(mdd ? "cache.mdd" : "cache.pc2"),
                       other = scratch_name(mdd ? "again.mdd" : "again.pc2");
    ex_cache_reader *reader = open_bytes(path.text, data + 1, size - 1);
    if (reader)
        write_again(other.text, reader);
    ex_cache_close(reader);
    remove(path.text);
    remove(other.text);
    return 0;
}
