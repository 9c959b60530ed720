/*
 * cli/edit/edit_http.c - sends HTTP answers, and reads bodies and queries.
 *
 * Every answer ends its connection: a page sends few requests, and a refusal need not read the body that it refuses.
 */
#define _GNU_SOURCE

#include "edit_http.h"
#include "cli/base/report.h"
#include "edit_page.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE         ((size_t)1 << 20)
#define DRAIN_SECONDS 2.0

/* ---- sending ---- */

static const char *phrase_of(int status) {
    static const struct {
        int status;
        const char *phrase;
    } phrases[] = {{200, "OK"},
                   {400, "Bad Request"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {409, "Conflict"},
                   {411, "Length Required"},
                   {413, "Content Too Large"},
                   {415, "Unsupported Media Type"},
                   {422, "Unprocessable Content"},
                   {428, "Precondition Required"},
                   {500, "Internal Server Error"},
                   {503, "Service Unavailable"}};
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Refused";
}

/* Everything but the first line and Content-Length is the same for all; the page also has its own policy. */
static void send_head(struct mg_connection *c, int status, const char *type, size_t size, const char *more) {
    mg_printf(c,
              "HTTP/1.1 %d %s\r\n"
              "Content-Type: %s\r\n"
              "Content-Length: %zu\r\n"
              "Connection: close\r\n"
              "Cache-Control: no-store\r\n"
              "X-Content-Type-Options: nosniff\r\n"
              "X-Frame-Options: DENY\r\n"
              "Referrer-Policy: no-referrer\r\n"
              "Cross-Origin-Resource-Policy: same-origin\r\n"
              "Cross-Origin-Opener-Policy: same-origin\r\n"
              "%s\r\n",
              status, phrase_of(status), type, size, more);
}

#define POLICY_NOTHING "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
#define POLICY_PAGE    "Content-Security-Policy: frame-ancestors 'none'\r\n"

static bool send_bytes(struct mg_connection *c, const void *bytes, size_t size) {
    for (size_t at = 0; at < size;) {
        const size_t piece = size - at < PIECE ? size - at : PIECE;
        const int sent = mg_write(c, (const char *)bytes + at, piece);
        if (sent <= 0)
            return false;
        at += (size_t)sent;
    }
    return true;
}

int exi_http_refuse(struct mg_connection *c, int status, const char *text) {
    send_head(c, status, "text/plain; charset=utf-8", strlen(text), POLICY_NOTHING);
    send_bytes(c, text, strlen(text));
    return status;
}

int exi_http_send_page(struct mg_connection *c) {
    size_t size;
    const unsigned char *page = exi_edit_page(&size);
    send_head(c, 200, "text/html; charset=utf-8", size, POLICY_PAGE);
    send_bytes(c, page, size);
    return 200;
}

static void send_framed(struct mg_connection *c, const exi_answer *a) {
    const size_t padded = (4 + a->json_size + 7) / 8 * 8 - 4;
    const unsigned char head[4] = {(unsigned char)padded, (unsigned char)(padded >> 8), (unsigned char)(padded >> 16),
                                   (unsigned char)(padded >> 24)};
    send_head(c, a->status, "application/octet-stream", 4 + padded + a->size, POLICY_NOTHING);
    if (send_bytes(c, head, sizeof head) && send_bytes(c, a->json, a->json_size) &&
        send_bytes(c, "        ", padded - a->json_size))
        send_bytes(c, a->bytes, a->size);
}

int exi_http_send(struct mg_connection *c, exi_answer *a, const char *more) {
    static const char no_memory[] = "{\"error\":\"there is not enough memory\"}\n";
    char headers[160];
    if (!a->json) {
        send_head(c, 500, "application/json", strlen(no_memory), POLICY_NOTHING);
        send_bytes(c, no_memory, strlen(no_memory));
        a->status = 500;
    } else if (a->framed) {
        send_framed(c, a);
    } else {
        snprintf(headers, sizeof headers, "%s%s", POLICY_NOTHING, more);
        send_head(c, a->status, "application/json", a->json_size, headers);
        send_bytes(c, a->json, a->json_size);
    }
    free(a->json);
    free(a->owned);
    return a->status;
}

/* ---- hanging up ---- */

/* The socket of a connection, found by its peer's address because civetweb does not expose it; -1 for none. */
static int socket_of(const struct mg_request_info *info) {
    struct rlimit limit;
    const int most = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int i = STDERR_FILENO + 1; i < most; i++) {
        struct sockaddr_in peer = {.sin_family = AF_UNSPEC};
        socklen_t size = sizeof peer;
        char address[INET_ADDRSTRLEN];
        if (getpeername(i, (struct sockaddr *)&peer, &size) == 0 && peer.sin_family == AF_INET &&
            ntohs(peer.sin_port) == info->remote_port && inet_ntop(AF_INET, &peer.sin_addr, address, sizeof address) &&
            strcmp(address, info->remote_addr) == 0)
            return i;
    }
    return -1;
}

/* Reads incoming bytes for a while, so that the other side gets to the answer. */
static void drain(int connection) {
    char unwanted[1 << 14];
    const double end = exi_clock() + DRAIN_SECONDS;
    shutdown(connection, SHUT_WR);
    for (double left = DRAIN_SECONDS; left > 0; left = end - exi_clock()) {
        struct pollfd wait = {.fd = connection, .events = POLLIN};
        if (poll(&wait, 1, (int)(1000 * left) + 1) > 0 && recv(connection, unwanted, sizeof unwanted, 0) <= 0)
            return;
    }
}

/* Civetweb would read the entire announced body, even gigabytes or for hours, and has no option not to; so it gets a
 * socket that is already closed. */
void exi_http_hang_up(const struct mg_request_info *info) {
    int ended[2];
    const int connection = socket_of(info), own = connection >= 0 ? fcntl(connection, F_DUPFD_CLOEXEC, 0) : -1;
    if (own < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ended) != 0) {
        if (own >= 0)
            close(own);
        return;
    }
    dup3(ended[0], connection, O_CLOEXEC);
    close(ended[0]);
    close(ended[1]);
    drain(own);
    close(own);
}

/* ---- headers and bodies ---- */

int exi_http_count_header(const struct mg_request_info *info, const char *name) {
    int count = 0;
    for (int i = 0; i < info->num_headers; i++)
        count += strcasecmp(info->http_headers[i].name, name) == 0;
    return count;
}

bool exi_http_read_body(struct mg_connection *c, size_t most, char **body, size_t *size, exi_answer *answer) {
    const char *text = mg_get_header(c, "Content-Length"), *expect = mg_get_header(c, "Expect");
    unsigned long long length = 0;
    char *end = NULL;
    if (!text || mg_get_header(c, "Transfer-Encoding") ||
        exi_http_count_header(mg_get_request_info(c), "Content-Length") != 1) {
        exi_refuse(answer, 411, "the request needs a Content-Length");
        return false;
    }
    errno = 0;
    if (text[0] >= '0' && text[0] <= '9')
        length = strtoull(text, &end, 10);
    if (!end || *end || errno != 0) {
        exi_refuse(answer, 400, "Content-Length is not a number");
        return false;
    }
    if (length > most) {
        exi_refuse(answer, 413,
                   most > 0 ? "this has %llu MB; at most %llu MB are accepted" : "no body is accepted here",
                   length / 1000000, (unsigned long long)most / 1000000);
        return false;
    }
    *body = malloc((size_t)length + 1);
    if (!*body) {
        exi_refuse_memory(answer);
        return false;
    }
    if (expect && strcasecmp(expect, "100-continue") == 0)
        mg_printf(c, "HTTP/1.1 100 Continue\r\n\r\n");
    for (*size = 0; *size < length;) {
        const size_t left = (size_t)length - *size;
        const int count = mg_read(c, *body + *size, left < PIECE ? left : PIECE);
        if (count <= 0) {
            exi_refuse(answer, 400, "the request ended before its body was complete");
            return false;
        }
        *size += (size_t)count;
    }
    (*body)[*size] = '\0';
    return true;
}

/* ---- queries ---- */

bool exi_asked_text(const exi_asked *asked, const char *key, char *buffer, size_t size) {
    if (!asked->query)
        return false;
    const int length = mg_get_var(asked->query, strlen(asked->query), key, buffer, size);
    return length >= 0 && strlen(buffer) == (size_t)length;
}

bool exi_asked_needed(const exi_asked *asked, const char *key, char *buffer, size_t size, exi_answer *answer) {
    if (exi_asked_text(asked, key, buffer, size))
        return true;
    exi_refuse(answer, 400, "the request has no '%s' that can be used", key);
    return false;
}

bool exi_asked_optional(const exi_asked *asked, const char *key, char *buffer, size_t size, exi_answer *answer) {
    char none[1];
    const bool given = asked->query && mg_get_var(asked->query, strlen(asked->query), key, none, sizeof none) != -1;
    return !given || exi_asked_needed(asked, key, buffer, size, answer);
}
