/*
 * cli/edit/edit_request.c - parses HTTP requests (RFC 9112) and judges them.
 *
 * Strict where the standard lets a server choose: two readers that disagree about where a request ends, or about who
 * sent it, are how requests get smuggled past a check. So there are no folded lines, no line ends but CR LF, no
 * Transfer-Encoding and only one Content-Length; paths are compared as sent, without decoding.
 */
#define _POSIX_C_SOURCE 200809L

#include "edit_request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- characters ---- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* A character of a method or of a header's name. */
static bool is_token_character(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_control(char c) {
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static int digit_of(char c) {
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that "%41" stands for, or -1. */
static int escape_of(const char *text) {
    const int high = text[0] == '%' ? digit_of(text[1]) : -1, low = high >= 0 ? digit_of(text[2]) : -1;
    return low >= 0 ? 16 * high + low : -1;
}

/* ---- the head ---- */

/* Bytes of the empty lines before a request, which a server should overlook (RFC 9112, 2.2). */
static size_t empty_lines(const char *bytes, size_t size) {
    size_t at = 0;
    while (at + 2 <= size && bytes[at] == '\r' && bytes[at + 1] == '\n')
        at += 2;
    return at;
}

int exi_head_size(const char *bytes, size_t size) {
    const size_t most = size < EXI_HEAD_MOST ? size : EXI_HEAD_MOST, start = empty_lines(bytes, most);
    for (size_t i = start; i < most; i++) {
        if (bytes[i] == '\n' && (i == start || bytes[i - 1] != '\r'))
            return -1;
        if (bytes[i] == '\r' && i + 1 < most && bytes[i + 1] != '\n')
            return -1;
        if (is_control(bytes[i]) && bytes[i] != '\r' && bytes[i] != '\n' && bytes[i] != '\t')
            return -1;
        if (bytes[i] == '\n' && i >= start + 3 && bytes[i - 2] == '\n')
            return (int)i + 1;
    }
    return most == EXI_HEAD_MOST ? -1 : 0;
}

/* Cuts off the first line and returns it; *rest moves behind it. */
static char *cut_line(char **rest) {
    char *line = *rest, *end = strstr(line, "\r\n");
    *end = '\0';
    *rest = end + 2;
    return line;
}

/* Cuts "METHOD /path?query HTTP/1.1" apart. */
static int parse_first_line(char *line, exi_head *head) {
    char *target = strchr(line, ' '), *version = target ? strchr(target + 1, ' ') : NULL;
    if (!version || target == line)
        return 400;
    *target++ = '\0';
    *version++ = '\0';
    for (const char *c = line; *c; c++)
        if (!is_token_character(*c))
            return 400;
    if (strncmp(version, "HTTP/", 5) != 0 || !is_digit(version[5]) || version[6] != '.' || !is_digit(version[7]) ||
        version[8])
        return 400;
    if (version[5] != '1')
        return 505;
    for (const char *c = target; *c; c++)
        if (*c < 0x21 || *c > 0x7e || *c == '#' || (*c == '%' && escape_of(c) < 0))
            return 400;
    head->minor = version[7] - '0';
    head->method = line;
    if (strncasecmp(target, "http://", 7) == 0) {
        char *slash = strchr(target + 7, '/');
        if (!slash)
            return 400;
        head->authority = memmove(target, target + 7, (size_t)(slash - target) - 7);
        target[slash - target - 7] = '\0';
        target = slash;
    }
    if (target[0] != '/')
        return 400;
    head->path = target;
    char *query = strchr(target, '?');
    if (query) {
        *query = '\0';
        head->query = query + 1;
    }
    return 0;
}

/* Cuts "Name: value" apart. A line that continues the one before begins with a space, which is in no name. */
static int parse_header(char *line, exi_head *head) {
    char *colon = line, *value, *end;
    while (is_token_character(*colon))
        colon++;
    if (colon == line || *colon != ':')
        return 400;
    if (head->header_count == EXI_HEAD_HEADER_MOST)
        return 431;
    *colon = '\0';
    value = colon + 1 + strspn(colon + 1, " \t");
    end = value + strlen(value);
    while (end > value && strchr(" \t", end[-1]))
        end--;
    *end = '\0';
    head->headers[head->header_count++] = (exi_header){.name = line, .value = value};
    return 0;
}

int exi_head_parse(char *bytes, size_t size, exi_head *head) {
    char *rest = bytes + empty_lines(bytes, size);
    *head = (exi_head){.method = ""};
    bytes[size - 2] = '\0'; /* the empty line */
    int status = parse_first_line(cut_line(&rest), head);
    while (status == 0 && *rest)
        status = parse_header(cut_line(&rest), head);
    return status;
}

const char *exi_head_find(const exi_head *head, const char *name) {
    for (int i = 0; i < head->header_count; i++)
        if (strcasecmp(head->headers[i].name, name) == 0)
            return head->headers[i].value;
    return NULL;
}

/* ---- admission ---- */

static int count_headers(const exi_head *head, const char *name) {
    int count = 0;
    for (int i = 0; i < head->header_count; i++)
        count += strcasecmp(head->headers[i].name, name) == 0;
    return count;
}

static bool has_header(const exi_head *head, const char *name, const char *value) {
    const char *text = exi_head_find(head, name);
    return text && strcasecmp(text, value) == 0;
}

/* True if the path begins with "/TOKEN/". Takes the same time for every wrong token. */
static bool shows(const char *path, const char *token) {
    unsigned char difference = 0;
    if (strlen(path) < EXI_TOKEN_SIZE + 2 || path[EXI_TOKEN_SIZE + 1] != '/')
        return false;
    for (size_t i = 0; i < EXI_TOKEN_SIZE; i++)
        difference |= (unsigned char)(path[i + 1] ^ token[i]);
    return difference == 0;
}

static bool is_own_host(const exi_site *site, const char *host) {
    char own[2][32], port[16] = "";
    if (site->port != 80) /* browsers leave out port 80 */
        snprintf(port, sizeof port, ":%d", site->port);
    snprintf(own[0], sizeof own[0], "127.0.0.1%s", port);
    snprintf(own[1], sizeof own[1], "localhost%s", port);
    return host && (strcasecmp(host, own[0]) == 0 || strcasecmp(host, own[1]) == 0);
}

/* True for requests from other sites, by what browsers say of them. A link that a person clicks in a page of another
 * site, such as a terminal in a browser, may open the page: that changes nothing, and shows that site nothing. */
static bool is_foreign(const exi_head *head, const char *host) {
    const char *origin = exi_head_find(head, "Origin");
    const bool clicked = strcmp(head->method, "GET") == 0 && has_header(head, "Sec-Fetch-Mode", "navigate") &&
                         has_header(head, "Sec-Fetch-Dest", "document");
    if ((origin && (strncasecmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, host) != 0)) ||
        count_headers(head, "Origin") > 1)
        return true;
    return exi_head_find(head, "Sec-Fetch-Site") && !has_header(head, "Sec-Fetch-Site", "same-origin") &&
           !has_header(head, "Sec-Fetch-Site", "none") && !clicked;
}

static void refuse(exi_verdict *verdict, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void refuse(exi_verdict *verdict, int status, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(verdict->text, sizeof verdict->text, format, list);
    va_end(list);
    verdict->status = status;
}

/* Returns the path after the token, or NULL after a refusal. */
static const char *admit(const exi_head *head, const exi_site *site, exi_verdict *verdict) {
    static const char *const single[] = {"Host",           "Content-Length", "Transfer-Encoding", "Expect",
                                         "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest",    "If-Match"};
    const char *host = exi_head_find(head, "Host"), *path = head->path;
    for (size_t i = 0; i < sizeof single / sizeof *single; i++)
        if (count_headers(head, single[i]) > 1) {
            refuse(verdict, 400, "This request has the header %s twice.\n", single[i]);
            return NULL;
        }
    if (!is_own_host(site, host) || (head->authority && !is_own_host(site, head->authority)))
        refuse(verdict, 403, "This server answers only under its own name.\n");
    else if (is_foreign(head, host))
        refuse(verdict, 403, "This server answers only its own page.\n");
    else if (shows(path, site->token))
        return path + EXI_TOKEN_SIZE + 2;
    else
        refuse(verdict, 404, "There is nothing here: open the address that 'exemplar edit' printed.\n");
    verdict->has_ticket = verdict->status == 404 && site->ticket[0] && shows(path, site->ticket) &&
                          !path[EXI_TOKEN_SIZE + 2] && strcmp(head->method, "GET") == 0;
    return NULL;
}

/* ---- routes and bodies ---- */

static const struct {
    const char *path, *method;
    size_t body_most;
} routes[] = {
#define X(name, path, method, most) {path, method, most},
    EXI_ROUTES(X)
#undef X
};

static bool find_route(const exi_head *head, const char *path, exi_verdict *verdict) {
    for (int i = 0; i < EXI_ROUTE_COUNT; i++) {
        if (strcmp(routes[i].path, path) != 0)
            continue;
        verdict->route = (exi_route)i;
        if (strcmp(routes[i].method, head->method) == 0) {
            verdict->allow[0] = '\0';
            return true;
        }
        const size_t used = strlen(verdict->allow);
        snprintf(verdict->allow + used, sizeof verdict->allow - used, "%s%s", used > 0 ? ", " : "", routes[i].method);
    }
    if (verdict->allow[0])
        refuse(verdict, 405, "this needs the method %s", verdict->allow);
    else
        refuse(verdict, 404, "there is nothing under that name");
    return false;
}

/* Reads a Content-Length: returns 0, or the status of a refusal. */
static int read_length(const char *text, size_t most, size_t *length) {
    unsigned long long number = 0;
    if (!text[0] || text[strspn(text, "0123456789")])
        return 400;
    for (; *text; text++) {
        number = 10 * number + (unsigned long long)(*text - '0');
        if (number > most)
            return 413;
    }
    *length = (size_t)number;
    return 0;
}

static void judge_body(const exi_head *head, exi_verdict *verdict) {
    const size_t most = routes[verdict->route].body_most;
    const char *length = exi_head_find(head, "Content-Length"), *expect = exi_head_find(head, "Expect");
    const bool needs_length = strcmp(head->method, "GET") != 0;
    const int status = length ? read_length(length, most, &verdict->body_size) : needs_length ? 411 : 0;
    if (exi_head_find(head, "Transfer-Encoding"))
        refuse(verdict, length ? 400 : 411, "the request needs a Content-Length and no Transfer-Encoding");
    else if (status == 411)
        refuse(verdict, 411, "the request needs a Content-Length");
    else if (status == 400)
        refuse(verdict, 400, "Content-Length is not a number");
    else if (status == 413 && most == 0)
        refuse(verdict, 413, "no body is accepted here");
    else if (status == 413)
        refuse(verdict, 413, "this is too large: at most %zu MB are accepted", most / 1000000);
    else if (expect && strcasecmp(expect, "100-continue") != 0)
        refuse(verdict, 417, "this server does not do what the request expects");
    verdict->waits = expect && verdict->body_size > 0 && head->minor > 0;
}

exi_verdict exi_head_judge(const exi_head *head, const exi_site *site) {
    exi_verdict verdict = {.status = 0};
    const char *path = admit(head, site, &verdict);
    verdict.admitted = path;
    if (path && find_route(head, path, &verdict))
        judge_body(head, &verdict);
    return verdict;
}

/* ---- queries ---- */

/* Decodes one character of a query at *text, and moves behind it; -1 if it cannot be used. */
static int decode(const char **text) {
    const int escaped = escape_of(*text), c = **text == '%' ? escaped : **text == '+' ? ' ' : (unsigned char)**text;
    *text += escaped >= 0 ? 3 : 1;
    return c < 0 || is_control((char)c) ? -1 : c;
}

int exi_query_find(const char *query, const char *key, char *buffer, size_t size) {
    const size_t key_size = strlen(key);
    buffer[0] = '\0';
    for (; query; query = strchr(query, '&'), query = query ? query + 1 : NULL) {
        if (strncmp(query, key, key_size) != 0 || query[key_size] != '=')
            continue;
        size_t used = 0;
        for (const char *at = query + key_size + 1; *at && *at != '&';) {
            const int c = decode(&at);
            if (c < 0 || used + 1 >= size) {
                buffer[0] = '\0';
                return -1;
            }
            buffer[used++] = (char)c;
        }
        buffer[used] = '\0';
        return 1;
    }
    return 0;
}
