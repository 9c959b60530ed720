/*
 * URIs of glTF files: data: with base64 (RFC 2397, RFC 4648), and relative references to files, percent-encoded (RFC
 * 3986). Nothing is fetched over a network, and no path that leaves the folder is followed: a file may name its own
 * parts, not other people's files.
 */
#define _XOPEN_SOURCE 700

#include "author/formats/gltf/gltf_reader.h"

#include "author/base/array.h"

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { URI_SHOWN = 80 };

static int shown(const char *uri) {
    size_t size = strlen(uri);
    return size < URI_SHOWN ? (int)size : URI_SHOWN;
}

static bool starts_with_data(const char *uri) {
    static const char scheme[] = "data:";
    for (size_t i = 0; i < sizeof scheme - 1; i++)
        if ((uri[i] | 0x20) != scheme[i] && uri[i] != scheme[i])
            return false;
    return true;
}

bool exi_gltf_is_data_uri(const char *uri, char **mime_type) {
    *mime_type = NULL;
    if (!starts_with_data(uri))
        return false;
    *mime_type = exi_text_copy(uri + 5, strcspn(uri + 5, ";,"));
    return true;
}

/* ---- base64 ---- */

static int base64_value(char c) {
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static ex_result decode_base64(const exi_gltf *g, const char *text, const char *where, unsigned char **owned,
                               size_t *size) {
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '=')
        length--;
    unsigned char *out = *owned = exi_array_allocate(length / 4 * 3 + 3, 1);
    if (!out)
        return exi_gltf_no_memory(g);
    unsigned long bits = 0;
    int count = 0;
    for (size_t i = 0; i < length; i++) {
        int value = base64_value(text[i]);
        if (value < 0)
            return exi_gltf_fail(g, EX_ERROR_DATA, where, "the data: URI has a character at %zu that is not base64", i);
        bits = (bits << 6 | (unsigned long)value) & 0xFFFFFF;
        count += 6;
        if (count >= 8) {
            count -= 8;
            *out++ = (unsigned char)(bits >> count & 0xFF);
        }
    }
    if (length % 4 == 1)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "the data: URI is cut short");
    *size = (size_t)(out - *owned);
    return EX_OK;
}

/* ---- files ---- */

static int hex_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A scheme is letters, digits, + - . before a colon that comes before any slash. */
static bool has_scheme(const char *uri) {
    size_t size = strcspn(uri, ":/?#");
    return uri[size] == ':';
}

ex_result exi_gltf_uri_to_path(const exi_gltf *g, const char *uri, const char *where, char **path) {
    *path = NULL;
    if (uri[0] == '/' || uri[0] == '\\' || has_scheme(uri))
        return exi_gltf_fail(g, EX_ERROR_DATA, where,
                             "'%.*s' is not a file beside this one: only relative names and data: URIs are read",
                             shown(uri), uri);
    char *out = *path = exi_text_copy(uri, strlen(uri));
    if (!out)
        return exi_gltf_no_memory(g);
    for (const char *c = uri; *c; c++) {
        int high = *c == '%' ? hex_value(c[1]) : -1, low = high >= 0 ? hex_value(c[2]) : -1;
        if (low >= 0 && high + low == 0) {
            free(*path);
            *path = NULL;
            return exi_gltf_fail(g, EX_ERROR_DATA, where, "the name of the file has a zero byte");
        }
        /* A percent sign that encodes nothing is kept as it is: older files were not encoded. */
        *out++ = low >= 0 ? (char)(high * 16 + low) : *c;
        c += low >= 0 ? 2 : 0;
    }
    *out = 0;
    if (exi_scene_path_leaves(*path)) {
        free(*path);
        *path = NULL;
        return exi_gltf_fail(g, EX_ERROR_DATA, where,
                             "'%.*s' does not name a file beside this one: copy it into the folder of this file and "
                             "change the name, or export one .glb",
                             shown(uri), uri);
    }
    return EX_OK;
}

static ex_result open_file(const exi_gltf *g, const char *uri, const char *where, unsigned char **owned, size_t *size) {
    char *relative, *path = NULL;
    ex_result result = exi_gltf_uri_to_path(g, uri, where, &relative);
    if (result != EX_OK)
        return result;
    if (!g->open_files) {
        free(relative);
        return exi_gltf_fail(g, EX_ERROR_FILE, where, "'%.*s' is another file, which cannot be opened here", shown(uri),
                             uri);
    }
    path = ex_path_join(g->path, relative);
    free(relative);
    if (!path)
        return exi_gltf_no_memory(g);
    /* A device might never end. */
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        result = exi_gltf_fail(g, EX_ERROR_FILE, where, "'%s' is not a file", path);
    else
        result =
            ex_error_within(g->error, ex_file_read(path, (char **)owned, size, g->error), "%s: %s", g->path, where);
    free(path);
    return result;
}

ex_result exi_gltf_open_uri(const exi_gltf *g, const char *uri, const char *where, unsigned char **owned,
                            size_t *size) {
    *owned = NULL;
    *size = 0;
    if (!starts_with_data(uri))
        return open_file(g, uri, where, owned, size);
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 12 || strncmp(comma - 7, ";base64", 7) != 0)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "the data: URI is not base64");
    ex_result result = decode_base64(g, comma + 1, where, owned, size);
    if (result != EX_OK) {
        free(*owned);
        *owned = NULL;
    }
    return result;
}
