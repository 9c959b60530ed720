/*
 * Fuzzes Alembic files (clang -fsanitize=fuzzer,address,undefined): any bytes are a cache or an error with a sentence,
 * and the first frames of a cache can be read, written and read again with the same positions and faces. The first byte
 * chooses between the only mesh of the file and one with a name.
 */
#include <exemplar/author.h>

#include "fuzz/scratch.h"

#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIZE_MOST = 60000, FRAMES_MOST = 4 };

static void write_again(const char *path, ex_cache_reader *reader) {
    static const double times[FRAMES_MOST] = {0, 1, 2, 3};
    static float positions[SIZE_MOST], again[SIZE_MOST];
    const ex_cache_info info = ex_cache_get_info(reader);
    const int count = info.frame_count < FRAMES_MOST ? info.frame_count : FRAMES_MOST;
    ex_cache_writer *writer;
    ex_cache_reader *copy;
    ex_error error;
    bool good = true;
    if (3 * (size_t)info.vertex_count > SIZE_MOST)
        abort();
    if (ex_cache_create(path, info.vertex_count, count, times, ex_cache_mesh(reader), &writer, &error) != EX_OK)
        abort();
    for (int f = 0; f < count && good; f++)
        good =
            ex_cache_read(reader, f, positions, &error) == EX_OK && ex_cache_write(writer, positions, &error) == EX_OK;
    if (ex_cache_finish(writer, good, &error) != EX_OK)
        abort();
    if (!good)
        return;
    if (ex_cache_open(path, &copy, &error) != EX_OK || ex_cache_get_info(copy).frame_count != count)
        abort();
    for (int f = 0; f < count; f++)
        if (ex_cache_read(reader, f, positions, &error) != EX_OK || ex_cache_read(copy, f, again, &error) != EX_OK ||
            memcmp(positions, again, 12 * (size_t)info.vertex_count) != 0)
            abort();
    const ex_mesh *mesh = ex_cache_mesh(reader), *other = ex_cache_mesh(copy);
    if (mesh->face_count != other->face_count || mesh->corner_count != other->corner_count ||
        memcmp(mesh->corners, other->corners, (size_t)mesh->corner_count * sizeof *mesh->corners) != 0)
        abort();
    ex_cache_close(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size > SIZE_MOST)
        return 0;
    const scratch_path path = scratch_name("cache.abc"), other = scratch_name("again.abc");
    char named[sizeof path.text + 16];
    ex_cache_reader *reader;
    ex_error error = {0};
    snprintf(named, sizeof named, "%s%s", path.text, data[0] & 1 ? ":/a/b" : "");
    scratch_write(path.text, data + 1, size - 1);
    const ex_result result = ex_cache_open(named, &reader, &error);
    if ((result == EX_OK) != (reader != NULL) || (result != EX_OK && error.text[0] == '\0'))
        abort();
    if (reader) {
        const int last = ex_cache_get_info(reader).frame_count - 1;
        (void)ex_cache_time(reader, last);
        write_again(other.text, reader);
    }
    ex_cache_close(reader);
    remove(path.text);
    remove(other.text);
    return 0;
}
