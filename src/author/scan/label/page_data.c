/*
 * Data inside pages: base64, and JSON in a script.
 */
#include "author/scan/label/label_scans.h"
#include "runtime/base/result.h"

#include <stdlib.h>

void exi_page_base64(ex_file_writer *writer, const void *from, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = from;
    char line[4];
    for (size_t i = 0; i < size; i += 3) {
        const unsigned left = size - i < 3 ? (unsigned)(size - i) : 3;
        const unsigned bits = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)bytes[i + 2] : 0);
        for (unsigned k = 0; k < 4; k++)
            line[k] = k <= left ? digits[bits >> (18 - 6 * k) & 63] : '=';
        ex_file_write(writer, line, sizeof line);
    }
}

ex_result exi_page_json(ex_file_writer *writer, json_t *value, ex_error *error) {
    exi_text text = {0};
    if (value)
        exi_json_print(value, false, &text);
    const bool good = value && !text.failed;
    for (size_t i = 0; good && i < text.size; i++) { /* so that no name ends the script */
        const bool tag = text.bytes[i] == '<';
        ex_file_write(writer, tag ? "\\u003c" : text.bytes + i, tag ? 6 : 1);
    }
    free(text.bytes);
    json_decref(value);
    return good ? EX_OK : ex_error_memory(error, "the page", text.size);
}
