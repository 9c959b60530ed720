/* cli/edit/edit_http.c - writes answers as HTTP messages, and reads queries. */
#define _POSIX_C_SOURCE 200809L

#include "edit_http.h"
#include "edit_page.h"

#include <stdlib.h>
#include <string.h>

/* ---- heads ---- */

static const char *phrase_of(int status) {
    static const struct {
        int status;
        const char *phrase;
    } phrases[] = {{200, "OK"},
                   {303, "See Other"},
                   {400, "Bad Request"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {409, "Conflict"},
                   {411, "Length Required"},
                   {413, "Content Too Large"},
                   {415, "Unsupported Media Type"},
                   {417, "Expectation Failed"},
                   {422, "Unprocessable Content"},
                   {428, "Precondition Required"},
                   {431, "Request Header Fields Too Large"},
                   {500, "Internal Server Error"},
                   {503, "Service Unavailable"},
                   {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Refused";
}

#define POLICY_NOTHING "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
#define POLICY_PAGE    "Content-Security-Policy: frame-ancestors 'none'\r\n"

/* Everything but the first line and Content-Length is the same for all; the page also has its own policy. */
#define HEAD                                                                                                           \
    "HTTP/1.1 %d %s\r\n"                                                                                               \
    "Content-Type: %s\r\n"                                                                                             \
    "Content-Length: %zu\r\n"                                                                                          \
    "Connection: close\r\n"                                                                                            \
    "Cache-Control: no-store\r\n"                                                                                      \
    "X-Content-Type-Options: nosniff\r\n"                                                                              \
    "X-Frame-Options: DENY\r\n"                                                                                        \
    "Referrer-Policy: no-referrer\r\n"                                                                                 \
    "Cross-Origin-Resource-Policy: same-origin\r\n"                                                                    \
    "Cross-Origin-Opener-Policy: same-origin\r\n"                                                                      \
    "%s\r\n"
#define HEAD_SIZE 1024

static const char no_memory[] = "HTTP/1.1 500 Internal Server Error\r\n"
                                "Content-Type: application/json\r\n"
                                "Content-Length: 38\r\n"
                                "Connection: close\r\n\r\n"
                                "{\"error\":\"there is not enough memory\"}";

typedef struct body {
    const void *bytes;
    size_t size;
} body;

/* Makes a message of a head, a body that is copied, and `rest`, which is not. */
static exi_http_message make(int status, const char *type, const char *more, body copied, body rest) {
    char *text = malloc(HEAD_SIZE + copied.size);
    if (!text)
        return (exi_http_message){.text = no_memory, .text_size = strlen(no_memory)};
    const int head = snprintf(text, HEAD_SIZE, HEAD, status, phrase_of(status), type, copied.size + rest.size, more);
    memcpy(text + head, copied.bytes, copied.size);
    return (exi_http_message){
        .text = text, .text_size = (size_t)head + copied.size, .bytes = rest.bytes, .size = rest.size, .owned = {text}};
}

void exi_http_free(exi_http_message *message) {
    free(message->owned[0]);
    free(message->owned[1]);
    *message = (exi_http_message){.text = ""};
}

void exi_http_only_head(exi_http_message *message) {
    const char *end = message->text;
    while (strncmp(end, "\r\n\r\n", 4) != 0)
        end++;
    message->text_size = (size_t)(end + 4 - message->text);
    message->size = 0;
}

/* ---- messages ---- */

exi_http_message exi_http_refuse(int status, const char *text) {
    return make(status, "text/plain; charset=utf-8", POLICY_NOTHING, (body){text, strlen(text)}, (body){"", 0});
}

exi_http_message exi_http_page(void) {
    body page;
    page.bytes = exi_edit_page(&page.size);
    return make(200, "text/html; charset=utf-8", POLICY_PAGE, (body){"", 0}, page);
}

exi_http_message exi_http_redirect(const char *address) {
    char headers[256];
    snprintf(headers, sizeof headers, POLICY_NOTHING "Location: %s\r\n", address);
    return make(303, "text/plain; charset=utf-8", headers, (body){"", 0}, (body){"", 0});
}

static exi_http_message make_json(const exi_answer *answer, const char *more) {
    char headers[160];
    snprintf(headers, sizeof headers, POLICY_NOTHING "%s", more);
    return make(answer->status, "application/json", headers, (body){answer->json, answer->json_size}, (body){"", 0});
}

/* The object's size, the object and its padding; the bytes follow. */
static exi_http_message make_framed(const exi_answer *a) {
    const size_t padded = (4 + a->json_size + 7) / 8 * 8 - 4;
    const body bytes = {a->bytes, a->size};
    char *frame = malloc(4 + padded);
    if (!frame)
        return (exi_http_message){.text = no_memory, .text_size = strlen(no_memory)};
    for (int i = 0; i < 4; i++)
        frame[i] = (char)(unsigned char)(padded >> 8 * i);
    memcpy(frame + 4, a->json, a->json_size);
    memset(frame + 4 + a->json_size, ' ', padded - a->json_size);
    exi_http_message message =
        make(a->status, "application/octet-stream", POLICY_NOTHING, (body){frame, 4 + padded}, bytes);
    free(frame);
    return message;
}

exi_http_message exi_http_answer(exi_answer *answer) {
    exi_http_message message = {.text = no_memory, .text_size = strlen(no_memory)};
    if (answer->json)
        message = answer->framed ? make_framed(answer) : make_json(answer, "");
    message.owned[1] = answer->owned;
    free(answer->json);
    *answer = (exi_answer){.status = 0};
    return message;
}

exi_http_message exi_http_refuse_page(const exi_verdict *verdict) {
    exi_http_message message = {.text = no_memory, .text_size = strlen(no_memory)};
    exi_answer answer = {.status = verdict->status};
    char allow[64] = "";
    if (verdict->allow[0])
        snprintf(allow, sizeof allow, "Allow: %s\r\n", verdict->allow);
    exi_refuse(&answer, verdict->status, "%s", verdict->text);
    if (answer.json)
        message = make_json(&answer, allow);
    free(answer.json);
    return message;
}

/* ---- queries ---- */

bool exi_asked_text(const exi_asked *asked, const char *key, char *buffer, size_t size) {
    return exi_query_find(asked->query, key, buffer, size) == 1;
}

bool exi_asked_needed(const exi_asked *asked, const char *key, char *buffer, size_t size, exi_answer *answer) {
    if (exi_asked_text(asked, key, buffer, size))
        return true;
    exi_refuse(answer, 400, "the request has no '%s' that can be used", key);
    return false;
}

bool exi_asked_optional(const exi_asked *asked, const char *key, char *buffer, size_t size, exi_answer *answer) {
    char none[1];
    return exi_query_find(asked->query, key, none, sizeof none) == 0 ||
           exi_asked_needed(asked, key, buffer, size, answer);
}
