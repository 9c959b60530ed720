/*
 * cli/edit_server.c - the editor's server: who may ask, what is asked, and how it is sent.
 *
 * Only this machine reaches it (127.0.0.1), and on this machine only who knows the token, which the address has in its
 * path. A page of another site that guesses the port is told apart by Host, Origin and Sec-Fetch-Site. Civetweb has no
 * folder to serve: every request ends here.
 */
#define _GNU_SOURCE

#include "edit.h"
#include "edit_page.h"
#include "report.h"

#include "author/formats/number.h"

#include <civetweb.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TOKEN_BYTES   16
#define TEXT_MOST     ((size_t)64 << 20)
#define BODY_MOST     ((size_t)1 << 30)
#define PIECE         ((size_t)1 << 20)
#define STACK_SIZE    ((size_t)8 << 20) /* as commands have it */
#define DRAIN_SECONDS 2.0

struct exi_server {
    exi_edit *edit;
    struct mg_context *context;
    int port;
    char token[2 * TOKEN_BYTES + 1];
    char address[96];
};

typedef struct route {
    const char *path;
    const char *method;
    size_t body_most; /* 0: it has none */
    exi_request *run; /* NULL: the page */
} route;

static const route routes[] = {
    {"", "GET", 0, NULL},
    {"api/project", "GET", 0, exi_edit_get_project},
    {"api/project", "PUT", TEXT_MOST, exi_edit_put_project},
    {"api/version", "GET", 0, exi_edit_get_version},
    {"api/build", "POST", TEXT_MOST, exi_edit_build},
    {"api/check", "POST", TEXT_MOST, exi_edit_check},
    {"api/file", "POST", BODY_MOST, exi_edit_post_file},
    {"api/form", "POST", BODY_MOST, exi_edit_post_form},
    {"api/mask", "POST", BODY_MOST, exi_edit_post_mask},
    {"api/group", "POST", BODY_MOST, exi_edit_post_group},
    {"api/motions", "GET", 0, exi_edit_get_motions},
    {"api/motion", "POST", BODY_MOST, exi_edit_post_motion},
    {"api/bake", "POST", 0, exi_edit_post_bake},
};
enum { ROUTE_COUNT = (int)(sizeof routes / sizeof routes[0]) };

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
                   {500, "Internal Server Error"}};
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return "Refused";
}

/* Everything but the first line and Content-Length is the same for all; the page has a policy of its own besides. */
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

/* For whoever is not the page: they learn nothing but that. */
static int refuse_plain(struct mg_connection *c, int status, const char *text) {
    send_head(c, status, "text/plain; charset=utf-8", strlen(text), POLICY_NOTHING);
    send_bytes(c, text, strlen(text));
    return status;
}

static int send_page(struct mg_connection *c) {
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

static int send_answer(struct mg_connection *c, exi_answer *a, const char *more) {
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

/* The socket of a connection, which civetweb keeps to itself: nobody else has it on the other side. -1 for none. */
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

/* Reads what still comes for a while, so that the other side gets to the answer. */
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

/* After a refusal of a body that nobody has read. Civetweb would read all that was announced, be it gigabytes or hours,
 * and offers no way not to: it is left with a socket that has ended already. */
static void hang_up(const struct mg_request_info *info) {
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

/* ---- who asks ---- */

/* Takes as long for every wrong token. */
static bool same_token(const char *a, const char *b, size_t size) {
    unsigned char difference = 0;
    for (size_t i = 0; i < size; i++)
        difference |= (unsigned char)(a[i] ^ b[i]);
    return difference == 0;
}

static bool is_own_host(const struct mg_request_info *info, const char *host) {
    char own[2][32];
    snprintf(own[0], sizeof own[0], "127.0.0.1:%d", info->server_port);
    snprintf(own[1], sizeof own[1], "localhost:%d", info->server_port);
    return host && (strcasecmp(host, own[0]) == 0 || strcasecmp(host, own[1]) == 0);
}

/* The first of several headers of one name must not hide the others. */
static int count_header(const struct mg_request_info *info, const char *name) {
    int count = 0;
    for (int i = 0; i < info->num_headers; i++)
        count += strcasecmp(info->http_headers[i].name, name) == 0;
    return count;
}

/* What stands after the token in the path, or NULL after a refusal. */
static const char *admit(const exi_server *server, struct mg_connection *c, int *status) {
    const struct mg_request_info *info = mg_get_request_info(c);
    const char *host = mg_get_header(c, "Host"), *origin = mg_get_header(c, "Origin"),
               *site = mg_get_header(c, "Sec-Fetch-Site"), *path = info->local_uri_raw;
    const size_t size = sizeof server->token - 1;
    if (!is_own_host(info, host) || count_header(info, "Host") != 1) {
        *status = refuse_plain(c, 403, "This server answers under its own name alone.\n");
        return NULL;
    }
    if ((origin && (strncasecmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, host) != 0)) ||
        count_header(info, "Origin") > 1 ||
        (site && strcasecmp(site, "same-origin") != 0 && strcasecmp(site, "none") != 0)) {
        *status = refuse_plain(c, 403, "This server answers its own page alone.\n");
        return NULL;
    }
    if (!path || path[0] != '/' || strlen(path) < size + 2 || !same_token(path + 1, server->token, size) ||
        path[size + 1] != '/') {
        *status = refuse_plain(c, 404, "There is nothing here: open the address that 'exemplar edit' printed.\n");
        return NULL;
    }
    return path + size + 2;
}

/* ---- bodies ---- */

/* Reads the body that was announced into *body; false after a refusal. */
static bool read_body(struct mg_connection *c, size_t most, char **body, size_t *size, exi_answer *answer) {
    const char *text = mg_get_header(c, "Content-Length"), *expect = mg_get_header(c, "Expect");
    unsigned long long length = 0;
    char *end = NULL;
    if (!text || mg_get_header(c, "Transfer-Encoding") || count_header(mg_get_request_info(c), "Content-Length") != 1) {
        exi_refuse(answer, 411, "the request must say with Content-Length how long it is");
        return false;
    }
    errno = 0;
    if (text[0] >= '0' && text[0] <= '9')
        length = strtoull(text, &end, 10);
    if (!end || *end || errno != 0) {
        exi_refuse(answer, 400, "Content-Length is no number");
        return false;
    }
    if (length > most) {
        exi_refuse(answer, 413, most > 0 ? "this has %llu MB, and %llu are taken here" : "no body is taken here",
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
            exi_refuse(answer, 400, "the request ended before its body was whole");
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

/* ---- requests ---- */

typedef struct work {
    exi_request *run;
    exi_edit *edit;
    const exi_asked *asked;
    exi_answer *answer;
} work;

static void *do_work(void *user) {
    const work *w = user;
    w->run(w->edit, w->asked, w->answer);
    return NULL;
}

/* In a thread of its own: those of civetweb may have as little as 100 kB of stack, which a deeply nested file overruns.
 */
static void do_with_stack(work w) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    if (pthread_create(&thread, &attributes, do_work, &w) == 0)
        pthread_join(thread, NULL);
    else
        exi_refuse_memory(w.answer);
    pthread_attr_destroy(&attributes);
}

/* Whether the body was read, if there is one. */
static bool run_route(exi_server *server, struct mg_connection *c, const route *r, exi_answer *answer) {
    char *body = NULL;
    exi_asked asked = {
        .query = mg_get_request_info(c)->query_string, .if_match = mg_get_header(c, "If-Match"), .body = ""};
    const bool has_body = strcmp(r->method, "GET") != 0,
               read = !has_body || read_body(c, r->body_most, &body, &asked.size, answer);
    if (read) {
        asked.body = body ? body : "";
        do_with_stack((work){.run = r->run, .edit = server->edit, .asked = &asked, .answer = answer});
    }
    free(body);
    return has_body && read;
}

static int answer_request(struct mg_connection *c, bool *unread) {
    const struct mg_request_info *info = mg_get_request_info(c);
    exi_server *server = info->user_data;
    exi_answer answer = {.status = 404};
    char allowed[64] = "";
    int status = 0;
    const char *path = admit(server, c, &status);
    if (!path)
        return status;
    for (int i = 0; i < ROUTE_COUNT; i++) {
        const route *r = &routes[i];
        if (strcmp(r->path, path) != 0)
            continue;
        if (strcmp(r->method, info->request_method) == 0) {
            if (!r->run)
                return send_page(c);
            *unread = !run_route(server, c, r, &answer);
            return send_answer(c, &answer, "");
        }
        const size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s%s", used > 0 ? ", " : "Allow: ", r->method);
    }
    if (allowed[0]) {
        exi_refuse(&answer, 405, "this can only be asked by %s", allowed + strlen("Allow: "));
        strcat(allowed, "\r\n");
    } else {
        exi_refuse(&answer, 404, "there is nothing under that name");
    }
    return send_answer(c, &answer, allowed);
}

static int on_request(struct mg_connection *c) {
    const struct mg_request_info *info = mg_get_request_info(c);
    const char *length = mg_get_header(c, "Content-Length");
    bool unread = true;
    const int status = answer_request(c, &unread);
    if (unread && ((length && strcmp(length, "0") != 0) || mg_get_header(c, "Transfer-Encoding")))
        hang_up(info);
    return status;
}

/* What civetweb refuses by itself: no request at all, headers that are too long. */
static int on_http_error(struct mg_connection *c, int status, const char *text) {
    (void)text;
    refuse_plain(c, status, "This is no request that can be answered.\n");
    return 0;
}

static int on_log(const struct mg_connection *c, const char *message) {
    (void)c;
    (void)message;
    return 1; /* nothing is printed: the page says what goes wrong */
}

/* ---- starting and stopping ---- */

static bool draw_token(char token[2 * TOKEN_BYTES + 1]) {
    unsigned char bytes[TOKEN_BYTES];
    if (getentropy(bytes, sizeof bytes) != 0)
        return false;
    for (int i = 0; i < TOKEN_BYTES; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool listen_at(exi_server *server, int port) {
    char where[32];
    snprintf(where, sizeof where, "127.0.0.1:%d", port);
    /* Eight threads: a browser asks six things at once. Who is silent for half a minute has left. */
    const char *const options[] = {"listening_ports",
                                   where,
                                   "num_threads",
                                   "8",
                                   "request_timeout_ms",
                                   "30000",
                                   "enable_keep_alive",
                                   "no",
                                   "enable_directory_listing",
                                   "no",
                                   "connection_queue",
                                   "64",
                                   "tcp_nodelay",
                                   "1",
                                   NULL};
    const struct mg_callbacks callbacks = {
        .begin_request = on_request, .log_message = on_log, .http_error = on_http_error};
    struct mg_server_port ports[1];
    server->context = mg_start(&callbacks, server, (const char **)options);
    if (!server->context || mg_get_server_ports(server->context, 1, ports) != 1)
        return false;
    server->port = ports[0].port;
    return true;
}

exi_server *exi_server_start(exi_edit *edit, int port) {
    exi_server *server = calloc(1, sizeof *server);
    if (!server) {
        exi_failed_text("there is not enough memory");
        return NULL;
    }
    server->edit = edit;
    mg_init_library(0);
    if (!draw_token(server->token)) {
        exi_failed_text("this system gives no random numbers, which keep others out: %s", strerror(errno));
    } else if (!listen_at(server, port)) {
        if (port > 0)
            exi_failed_text("cannot serve at port %d: another program has it, or it is not for everyone; without "
                            "--port a free one is taken",
                            port);
        else
            exi_failed_text("cannot serve at any port of 127.0.0.1");
    } else {
        snprintf(server->address, sizeof server->address, "http://127.0.0.1:%d/%s/", server->port, server->token);
        return server;
    }
    exi_server_stop(server);
    return NULL;
}

/* Civetweb looks every two seconds whether it is to stop, or when somebody comes. */
typedef struct knocking {
    int port;
    atomic_bool enough;
} knocking;

static void *knock(void *user) {
    knocking *k = user;
    while (!atomic_load(&k->enough)) {
        struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)k->port)};
        server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int connection = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (connection >= 0) {
            (void)connect(connection, (struct sockaddr *)&server, sizeof server);
            close(connection);
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return NULL;
}

static void stop(struct mg_context *context, int port) {
    knocking k = {.port = port};
    pthread_t thread;
    const bool knocks = pthread_create(&thread, NULL, knock, &k) == 0;
    mg_stop(context);
    atomic_store(&k.enough, true);
    if (knocks)
        pthread_join(thread, NULL);
}

void exi_server_stop(exi_server *server) {
    if (!server)
        return;
    if (server->context)
        stop(server->context, server->port);
    mg_exit_library();
    free(server);
}

const char *exi_server_address(const exi_server *server) {
    return server->address;
}

int exi_server_port(const exi_server *server) {
    return server->port;
}
