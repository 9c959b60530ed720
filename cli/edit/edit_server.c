/*
 * cli/edit/edit_server.c - the editor's server: admits requests, dispatches them and sends answers.
 *
 * Only this machine can reach it (127.0.0.1), and on this machine only clients that know the token in the address's
 * path. Host, Origin and Sec-Fetch-Site reveal pages of other sites that guess the port. Civetweb serves no folder:
 * every request ends here.
 */
#define _GNU_SOURCE

#include "cli/base/report.h"
#include "edit_http.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TOKEN_BYTES 16
#define TEXT_MOST   ((size_t)64 << 20)
#define BODY_MOST   ((size_t)1 << 30)
#define STACK_SIZE  ((size_t)8 << 20) /* the same size as for commands */

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
    size_t body_most; /* 0: no body */
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
    {"api/values", "POST", TEXT_MOST, exi_edit_post_values},
    {"api/motions", "GET", 0, exi_edit_get_motions},
    {"api/motion", "POST", BODY_MOST, exi_edit_post_motion},
    {"api/bake", "POST", 0, exi_edit_post_bake},
};
enum { ROUTE_COUNT = (int)(sizeof routes / sizeof routes[0]) };

/* ---- admission ---- */

/* Compares in the same time for every wrong token. */
static bool same_token(const char *a, const char *b, size_t size) {
    unsigned char difference = 0;
    for (size_t i = 0; i < size; i++)
        difference |= (unsigned char)(a[i] ^ b[i]);
    return difference == 0;
}

static bool is_own_host(const struct mg_request_info *info, const char *host) {
    char own[2][32], port[16] = "";
    if (info->server_port != 80) /* browsers leave out port 80 */
        snprintf(port, sizeof port, ":%d", info->server_port);
    snprintf(own[0], sizeof own[0], "127.0.0.1%s", port);
    snprintf(own[1], sizeof own[1], "localhost%s", port);
    return host && (strcasecmp(host, own[0]) == 0 || strcasecmp(host, own[1]) == 0);
}

static bool has_header(const struct mg_connection *c, const char *name, const char *value) {
    const char *text = mg_get_header(c, name);
    return text && strcasecmp(text, value) == 0;
}

/* True for requests from other sites, by what browsers say of them. A link that a person clicks in a page of another
 * site, such as a terminal in a browser, may open the page: that changes nothing, and shows that site nothing. */
static bool is_foreign(const struct mg_connection *c, const char *host) {
    const struct mg_request_info *info = mg_get_request_info(c);
    const char *origin = mg_get_header(c, "Origin");
    const bool clicked = strcmp(info->request_method, "GET") == 0 && has_header(c, "Sec-Fetch-Mode", "navigate") &&
                         has_header(c, "Sec-Fetch-Dest", "document");
    if ((origin && (strncasecmp(origin, "http://", 7) != 0 || strcasecmp(origin + 7, host) != 0)) ||
        exi_http_count_header(info, "Origin") > 1)
        return true;
    return mg_get_header(c, "Sec-Fetch-Site") && !has_header(c, "Sec-Fetch-Site", "same-origin") &&
           !has_header(c, "Sec-Fetch-Site", "none") && !clicked;
}

/* Returns the path after the token, or NULL after a refusal. */
static const char *admit(const exi_server *server, struct mg_connection *c, int *status) {
    const struct mg_request_info *info = mg_get_request_info(c);
    const char *host = mg_get_header(c, "Host"), *path = info->local_uri_raw;
    const size_t size = sizeof server->token - 1;
    if (info->num_headers >= MG_MAX_HEADERS) { /* civetweb drops further headers */
        *status = exi_http_refuse(c, 400, "This request has too many headers.\n");
        return NULL;
    }
    if (!is_own_host(info, host) || exi_http_count_header(info, "Host") != 1) {
        *status = exi_http_refuse(c, 403, "This server answers only under its own name.\n");
        return NULL;
    }
    if (is_foreign(c, host)) {
        *status = exi_http_refuse(c, 403, "This server answers only its own page.\n");
        return NULL;
    }
    if (!path || path[0] != '/' || strlen(path) < size + 2 || !same_token(path + 1, server->token, size) ||
        path[size + 1] != '/') {
        *status = exi_http_refuse(c, 404, "There is nothing here: open the address that 'exemplar edit' printed.\n");
        return NULL;
    }
    return path + size + 2;
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

/* Runs the work in a separate thread: civetweb's threads may have as little as 100 kB of stack, which a deeply nested
 * file overruns. */
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

/* Returns true if the body, if any, was read. */
static bool run_route(exi_server *server, struct mg_connection *c, const route *r, exi_answer *answer) {
    char *body = NULL;
    exi_asked asked = {
        .query = mg_get_request_info(c)->query_string, .if_match = mg_get_header(c, "If-Match"), .body = ""};
    const bool has_body = strcmp(r->method, "GET") != 0,
               read = !has_body || exi_http_read_body(c, r->body_most, &body, &asked.size, answer);
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
                return exi_http_send_page(c);
            *unread = !run_route(server, c, r, &answer);
            return exi_http_send(c, &answer, "");
        }
        const size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof allowed - used, "%s%s", used > 0 ? ", " : "Allow: ", r->method);
    }
    if (allowed[0]) {
        exi_refuse(&answer, 405, "this needs the method %s", allowed + strlen("Allow: "));
        strcat(allowed, "\r\n");
    } else {
        exi_refuse(&answer, 404, "there is nothing under that name");
    }
    return exi_http_send(c, &answer, allowed);
}

static int on_request(struct mg_connection *c) {
    const struct mg_request_info *info = mg_get_request_info(c);
    const char *length = mg_get_header(c, "Content-Length");
    bool unread = true;
    const int status = answer_request(c, &unread);
    if (unread && ((length && strcmp(length, "0") != 0) || mg_get_header(c, "Transfer-Encoding")))
        exi_http_hang_up(info);
    return status;
}

/* Answers what civetweb refuses: malformed requests, and headers that are too long. */
static int on_http_error(struct mg_connection *c, int status, const char *text) {
    (void)text;
    exi_http_refuse(c, status, "This request cannot be answered.\n");
    return 0;
}

static int on_log(const struct mg_connection *c, const char *message) {
    (void)c;
    (void)message;
    return 1; /* print nothing: the page shows errors */
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
    /* A browser opens six connections, some of them before it has anything to request, and each keeps a thread waiting.
     * These are enough for a few browsers, and for a page of another site that tries to take them all. A client that is
     * silent for half a minute is disconnected. */
    const char *const options[] = {"listening_ports",
                                   where,
                                   "num_threads",
                                   "64",
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
        exi_failed_memory();
        return NULL;
    }
    server->edit = edit;
    mg_init_library(0);
    if (!draw_token(server->token)) {
        exi_failed_text("this system has no random numbers, which keep others out: %s", strerror(errno));
    } else if (!listen_at(server, port)) {
        if (port > 0)
            exi_failed_text("cannot serve at port %d: another program uses it, or it needs more rights; without "
                            "--port, a free one is chosen",
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

/* Civetweb checks only every two seconds if it should stop, or when a connection arrives. */
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
