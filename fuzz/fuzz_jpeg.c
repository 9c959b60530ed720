/*
 * JPEG pictures: any bytes are a picture or an error with a sentence, and a picture can be written and read again.
 */
#include <exemplar/author/image.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_image *image, *again;
    ex_error error = {.result = EX_OK};
    const ex_result result = ex_image_parse(data, size, "fuzz.jpg", &image, &error);
    if ((result == EX_OK) != (image != NULL) || (result != EX_OK && error.text[0] == '\0'))
        abort();
    if (!image)
        return 0;
    for (size_t i = 0; i < (size_t)image->width * (size_t)image->height; i++)
        if (image->pixels[4 * i + 3] != 255 && data[0] == 0xFF)
            abort();
    unsigned char *encoded;
    size_t byte_count;
    if (ex_image_encode(image, &encoded, &byte_count, &error) != EX_OK ||
        ex_image_parse(encoded, byte_count, "again.png", &again, &error) != EX_OK)
        abort();
    if (memcmp(again->pixels, image->pixels, 4 * (size_t)image->width * (size_t)image->height) != 0)
        abort();
    free(encoded);
    ex_image_destroy(again);
    ex_image_destroy(image);
    return 0;
}
