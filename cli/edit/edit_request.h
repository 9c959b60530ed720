/*
 * cli/edit/edit_request.h - HTTP requests to the editor: reads the bytes of a request's head and decides what becomes
 * of it. No sockets and no state, so that a fuzzer can send it anything (fuzz/fuzz_request.c).
 */
#ifndef EXEMPLAR_CLI_EDIT_REQUEST_H
#define EXEMPLAR_CLI_EDIT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

/* ---- the table of requests ---- */

#define EXI_TEXT_MOST ((size_t)64 << 20)
#define EXI_BODY_MOST ((size_t)1 << 30)

/* Name, path after the token, method, most bytes of the body. */
#define EXI_ROUTES(X)                                                                                                  \
    X(PAGE, "", "GET", 0)                                                                                              \
    X(GET_PROJECT, "api/project", "GET", 0)                                                                            \
    X(PUT_PROJECT, "api/project", "PUT", EXI_TEXT_MOST)                                                                \
    X(GET_VERSION, "api/version", "GET", 0)                                                                            \
    X(BUILD, "api/build", "POST", EXI_TEXT_MOST)                                                                       \
    X(GET_BESIDE, "api/beside", "GET", 0)                                                                              \
    X(GET_PROGRESS, "api/progress", "GET", 0)                                                                          \
    X(CANCEL, "api/cancel", "POST", 0)                                                                                 \
    X(CHECK, "api/check", "POST", EXI_TEXT_MOST)                                                                       \
    X(POST_SCULPT, "api/sculpt", "POST", EXI_BODY_MOST)                                                                \
    X(POST_START, "api/start", "POST", 0)                                                                              \
    X(POST_FILE, "api/file", "POST", EXI_BODY_MOST)                                                                    \
    X(POST_FORM, "api/form", "POST", EXI_BODY_MOST)                                                                    \
    X(POST_MASK, "api/mask", "POST", EXI_BODY_MOST)                                                                    \
    X(POST_GROUP, "api/group", "POST", EXI_BODY_MOST)                                                                  \
    X(POST_VALUES, "api/values", "POST", EXI_TEXT_MOST)                                                                \
    X(GET_TARGETS, "api/targets", "GET", 0)                                                                            \
    X(GET_MOTIONS, "api/motions", "GET", 0)                                                                            \
    X(POST_MOTION, "api/motion", "POST", EXI_BODY_MOST)                                                                \
    X(POST_BAKE, "api/bake", "POST", 0)

typedef enum exi_route {
#define X(name, path, method, most) EXI_ROUTE_##name,
    EXI_ROUTES(X)
#undef X
        EXI_ROUTE_COUNT
} exi_route;

/* ---- heads ---- */

#define EXI_HEAD_MOST        16384
#define EXI_HEAD_HEADER_MOST 64

typedef struct exi_header {
    const char *name, *value;
} exi_header;

/* A parsed head. The texts are parts of the parsed bytes. */
typedef struct exi_head {
    const char *method;
    const char *authority; /* of "http://AUTHORITY/path", or NULL for "/path" */
    const char *path;      /* as sent: no route needs an escape, so none is decoded */
    const char *query;     /* part after '?', or NULL */
    int minor;             /* HTTP/1.minor */
    exi_header headers[EXI_HEAD_HEADER_MOST];
    int header_count;
} exi_head;

/* Size of the head that begins these bytes, with its empty line. 0: it is not complete yet. -1: it can never become a
 * head. At most EXI_HEAD_MOST bytes are looked at. */
int exi_head_size(const char *bytes, size_t size);

/* Parses a head of the size that exi_head_size found, and cuts the bytes into texts. Returns 0, or the status of a
 * refusal: 400, 431 for too many headers, 505 for another HTTP. */
int exi_head_parse(char *bytes, size_t size, exi_head *head);

/* Value of a header, or NULL. If there are several, of the first. */
const char *exi_head_find(const exi_head *head, const char *name);

/* ---- verdicts ---- */

#define EXI_TOKEN_SIZE 32

/* The server's own address. */
typedef struct exi_site {
    int port;
    char token[EXI_TOKEN_SIZE + 1];
    char ticket[EXI_TOKEN_SIZE + 1]; /* leads this user to the token, once; "" for none */
} exi_site;

typedef struct exi_verdict {
    int status;       /* 0: run the route; else a refusal */
    bool admitted;    /* true if the sender showed the token and is no page of another site */
    bool has_ticket;  /* true if the sender showed the ticket instead; the status is that of a refusal */
    exi_route route;  /* if status is 0 */
    size_t body_size; /* bytes of the body, if status is 0 */
    bool waits;       /* true if the sender waits for "100 Continue" before it sends the body */
    char text[128];   /* sentence of a refusal */
    char allow[32];   /* for status 405: "GET, PUT"; else "" */
} exi_verdict;

/* Judges a request. Senders that are not admitted learn nothing about what is here. */
exi_verdict exi_head_judge(const exi_head *head, const exi_site *site);

/* ---- queries ---- */

/* Decodes the first value of a key of the query ("a=1&b=2") into the buffer. Returns 1, 0 if the key is missing, or -1
 * if its value is too long, has a broken escape or a control character; then the buffer is "". query may be NULL. */
int exi_query_find(const char *query, const char *key, char *buffer, size_t size);

#endif
