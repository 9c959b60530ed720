/*
 * Fuzzes the PNG reader (clang -fsanitize=fuzzer,address,undefined): any bytes are an image or an error, and an image
 * can be written and read back unchanged. Checksums stop most changes early: give libFuzzer a corpus of files of every
 * kind.
 */
#include <exemplar/author.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_image *image, *again;
    ex_error error;
    ex_result result = ex_image_parse(data, size, "fuzz.png", &image, &error);
    if ((result == EX_OK) != (image != NULL))
        abort();
    if (!image)
        return 0;
    unsigned char *bytes;
    size_t byte_count;
    if (ex_image_encode(image, &bytes, &byte_count, &error) != EX_OK ||
        ex_image_parse(bytes, byte_count, "again.png", &again, &error) != EX_OK)
        abort();
    if (again->width != image->width || again->height != image->height ||
        memcmp(again->pixels, image->pixels, 4 * (size_t)image->width * (size_t)image->height) != 0)
        abort();
    free(bytes);
    ex_image_destroy(again);
    ex_image_destroy(image);
    return 0;
}
