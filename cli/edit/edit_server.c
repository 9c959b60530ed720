/*
 * cli/edit/edit_server.c - the editor's server: accepts connections, reads requests, has them done and sends answers.
 *
 * Only this machine can reach it (127.0.0.1), and on this machine only clients that know the token in the address's
 * path (edit_request.c). One thread waits for all connections at once, so a silent client costs no thread; requests of
 * the page get a thread each. All clients have the same address, so connections are told apart by what they showed:
 * strangers, which have not shown the token yet, and members. Each kind has places of its own. If they are taken, the
 * oldest connection goes: a stranger that sends its request at once is never the oldest.
 */
#define _GNU_SOURCE

#include "cli/base/report.h"
#include "edit_http.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define STACK_SIZE ((size_t)8 << 20) /* the same size as for commands */

enum {
    STRANGERS_MOST = 64, /* a browser opens six connections, some before it has anything to request */
    MEMBERS_MOST = 128,
    CONNECTIONS_MOST = STRANGERS_MOST + MEMBERS_MOST,
    ACCEPTED_AT_ONCE = STRANGERS_MOST / 4, /* so that each is read from before it can be the oldest */
    PIECE = 1 << 18,
};

/* Seconds. The head has a limit as a whole, so that single bytes do not extend it; a body may be long. */
#define HEAD_SECONDS   10.0
#define SILENT_SECONDS 30.0
#define DRAIN_SECONDS  2.0
#define STOP_SECONDS   2.0
#define PAUSE_SECONDS  0.1 /* after the system refused another connection */

typedef enum state {
    READING_HEAD,
    READING_BODY,
    WORKING, /* belongs to its thread until `done` */
    SENDING,
    DRAINING, /* the answer is sent; bytes that were not read would make the system withdraw it */
    CLOSED,
} state;

typedef struct connection {
    struct exi_server *server;
    int socket;
    state state;
    bool member;
    double deadline;
    char *head; /* [EXI_HEAD_MOST + 1] */
    size_t head_size;
    exi_head parsed;
    exi_verdict verdict;
    char *body; /* [verdict.body_size + 1] */
    size_t body_size;
    pthread_t thread;
    atomic_bool done;
    bool unanswered; /* true if the request gets no answer */
    exi_http_message message;
    size_t sent;
} connection;

struct exi_server {
    exi_edit *edit;
    exi_site site;
    int listener, wake[2]; /* wake[1] interrupts the wait for connections */
    pthread_t thread;
    bool runs;
    atomic_bool stops;
    double paused;                             /* until then, no connection is accepted */
    connection *connections[CONNECTIONS_MOST]; /* in the order of their arrival */
    int count, strangers_most, members_most;
    char address[96], ticket[96];
};

static exi_request *const handlers[EXI_ROUTE_COUNT] = {
    [EXI_ROUTE_GET_PROJECT] = exi_edit_get_project,
    [EXI_ROUTE_PUT_PROJECT] = exi_edit_put_project,
    [EXI_ROUTE_GET_VERSION] = exi_edit_get_version,
    [EXI_ROUTE_BUILD] = exi_edit_build,
    [EXI_ROUTE_GET_TARGETS] = exi_edit_get_targets,
    [EXI_ROUTE_GET_BESIDE] = exi_edit_get_beside,
    [EXI_ROUTE_GET_PROGRESS] = exi_edit_get_progress,
    [EXI_ROUTE_CANCEL] = exi_edit_cancel,
    [EXI_ROUTE_CHECK] = exi_edit_check,
    [EXI_ROUTE_POST_SCULPT] = exi_edit_post_sculpt,
    [EXI_ROUTE_POST_START] = exi_edit_post_start,
    [EXI_ROUTE_POST_FILE] = exi_edit_post_file,
    [EXI_ROUTE_POST_FORM] = exi_edit_post_form,
    [EXI_ROUTE_POST_MASK] = exi_edit_post_mask,
    [EXI_ROUTE_POST_GROUP] = exi_edit_post_group,
    [EXI_ROUTE_POST_VALUES] = exi_edit_post_values,
    [EXI_ROUTE_GET_MOTIONS] = exi_edit_get_motions,
    [EXI_ROUTE_POST_MOTION] = exi_edit_post_motion,
    [EXI_ROUTE_POST_BAKE] = exi_edit_post_bake,
};

/* ---- answers ---- */

static void enter(connection *c, state next, double seconds) {
    c->state = next;
    c->deadline = exi_clock() + seconds;
}

static void send_message(connection *c, exi_http_message message) {
    if (strcmp(c->parsed.method ? c->parsed.method : "", "HEAD") == 0)
        exi_http_only_head(&message);
    exi_http_free(&c->message);
    c->message = message;
    c->sent = 0;
    enter(c, SENDING, SILENT_SECONDS);
}

static void send_more(connection *c) {
    const exi_http_message *m = &c->message;
    while (c->sent < m->text_size + m->size) {
        const bool in_text = c->sent < m->text_size;
        const char *from = in_text ? m->text + c->sent : (const char *)m->bytes + (c->sent - m->text_size);
        const size_t left = in_text ? m->text_size - c->sent : m->text_size + m->size - c->sent;
        const ssize_t count = send(c->socket, from, left < PIECE ? left : PIECE, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                c->state = CLOSED;
            return;
        }
        c->sent += (size_t)count;
        c->deadline = exi_clock() + SILENT_SECONDS;
    }
    exi_http_free(&c->message);
    shutdown(c->socket, SHUT_WR);
    enter(c, DRAINING, DRAIN_SECONDS);
}

/* ---- requests ---- */

static void *do_work(void *user) {
    connection *c = user;
    exi_answer answer = {.status = 500};
    const exi_asked asked = {.query = c->parsed.query,
                             .if_match = exi_head_find(&c->parsed, "If-Match"),
                             .body = c->body,
                             .size = c->body_size};
    handlers[c->verdict.route](c->server->edit, &asked, &answer);
    c->unanswered = answer.status == 0;
    c->message = exi_http_answer(&answer);
    atomic_store(&c->done, true);
    (void)!write(c->server->wake[1], "", 1); /* a full pipe wakes it too */
    return NULL;
}

static void refuse_memory(connection *c) {
    send_message(c, exi_http_answer(&(exi_answer){.status = 500}));
}

/* Handlers get as much stack as commands have: a deeply nested file needs it. */
static void start_work(connection *c) {
    pthread_attr_t attributes;
    if (c->verdict.route == EXI_ROUTE_PAGE) {
        send_message(c, exi_http_page());
        return;
    }
    c->body[c->body_size] = '\0';
    c->state = WORKING;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    if (pthread_create(&c->thread, &attributes, do_work, c) != 0)
        refuse_memory(c);
    pthread_attr_destroy(&attributes);
}

static void end_work(connection *c) {
    pthread_join(c->thread, NULL);
    const exi_http_message message = c->message;
    c->message = (exi_http_message){.text = ""};
    send_message(c, message);
    if (c->unanswered)
        c->state = CLOSED;
}

static int count_members(const exi_server *server) {
    int count = 0;
    for (int i = 0; i < server->count; i++)
        count += server->connections[i]->member;
    return count;
}

/* Closes the oldest connection of a kind that keeps the server waiting; false if there is none. */
static bool drop_oldest(exi_server *server, bool member, const connection *except) {
    for (int i = 0; i < server->count; i++) {
        connection *c = server->connections[i];
        if (c != except && c->member == member && c->state != WORKING && c->state != CLOSED) {
            c->state = CLOSED;
            c->member = false;
            return true;
        }
    }
    return false;
}

/* Judges the head, which ends there, and goes on with the bytes behind it. */
static void take_head(connection *c, size_t end) {
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    const int status = exi_head_parse(c->head, end, &c->parsed);
    if (status != 0) {
        send_message(c, exi_http_refuse(status, "This request cannot be answered.\n"));
        return;
    }
    c->verdict = exi_head_judge(&c->parsed, &c->server->site);
    if (c->verdict.has_ticket && exi_peer_is_user(c->socket)) {
        c->server->site.ticket[0] = '\0';
        send_message(c, exi_http_redirect(c->server->address));
        return;
    }
    if (!c->verdict.admitted) {
        send_message(c, exi_http_refuse(c->verdict.status, c->verdict.text));
        return;
    }
    c->member = true;
    if (count_members(c->server) > c->server->members_most && !drop_oldest(c->server, true, c)) {
        c->member = false; /* it takes no place of theirs */
        c->verdict.status = 503;
        snprintf(c->verdict.text, sizeof c->verdict.text, "the editor is busy: try again later");
    }
    if (c->verdict.status != 0) {
        send_message(c, exi_http_refuse_page(&c->verdict));
        return;
    }
    c->body = malloc(c->verdict.body_size + 1);
    if (!c->body) {
        refuse_memory(c);
        return;
    }
    const size_t more = c->head_size - end;
    c->body_size = more < c->verdict.body_size ? more : c->verdict.body_size;
    memcpy(c->body, c->head + end, c->body_size);
    enter(c, READING_BODY, SILENT_SECONDS);
    if (c->body_size == c->verdict.body_size)
        start_work(c);
    else if (c->verdict.waits)
        (void)!send(c->socket, go_on, strlen(go_on), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- reading ---- */

/* Reads what is there; false after the end of the connection, and if nothing is there. */
static bool receive(connection *c, char *bytes, size_t size, size_t *got) {
    const ssize_t count = recv(c->socket, bytes, size, MSG_DONTWAIT);
    *got = count > 0 ? (size_t)count : 0;
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        c->state = CLOSED;
    return count > 0;
}

static void read_head(connection *c) {
    size_t got;
    if (!receive(c, c->head + c->head_size, EXI_HEAD_MOST - c->head_size, &got))
        return;
    c->head_size += got;
    const int end = exi_head_size(c->head, c->head_size);
    if (end > 0)
        take_head(c, (size_t)end);
    else if (end < 0)
        send_message(c,
                     exi_http_refuse(c->head_size < EXI_HEAD_MOST ? 400 : 431, "This request cannot be answered.\n"));
}

static void read_body(connection *c) {
    const size_t left = c->verdict.body_size - c->body_size;
    size_t got;
    if (receive(c, c->body + c->body_size, left < PIECE ? left : PIECE, &got)) {
        c->body_size += got;
        c->deadline = exi_clock() + SILENT_SECONDS;
        if (c->body_size == c->verdict.body_size)
            start_work(c);
    } else if (c->state == CLOSED) {
        c->verdict.status = 400;
        snprintf(c->verdict.text, sizeof c->verdict.text, "the request ended before its body was complete");
        send_message(c, exi_http_refuse_page(&c->verdict));
    }
}

static void drain(connection *c) {
    char unwanted[1 << 14];
    size_t got;
    receive(c, unwanted, sizeof unwanted, &got);
}

/* ---- connections ---- */

static void advance(connection *c, bool ready) {
    if (c->state == WORKING) {
        if (atomic_load(&c->done))
            end_work(c);
    } else if (ready && c->state == READING_HEAD) {
        read_head(c);
    } else if (ready && c->state == READING_BODY) {
        read_body(c);
    } else if (ready && c->state == DRAINING) {
        drain(c);
    }
    if (c->state == SENDING)
        send_more(c);
    if (c->state != WORKING && exi_clock() > c->deadline)
        c->state = CLOSED;
}

static void release(connection *c) {
    close(c->socket);
    exi_http_free(&c->message);
    free(c->head);
    free(c->body);
    free(c);
}

static void remove_closed(exi_server *server) {
    int kept = 0;
    for (int i = 0; i < server->count; i++)
        if (server->connections[i]->state == CLOSED)
            release(server->connections[i]);
        else
            server->connections[kept++] = server->connections[i];
    server->count = kept;
}

static void add(exi_server *server, int socket) {
    connection *c = calloc(1, sizeof *c);
    char *head = c ? malloc(EXI_HEAD_MOST + 1) : NULL;
    if (!head) {
        free(c);
        close(socket);
        return;
    }
    if (server->count - count_members(server) >= server->strangers_most) {
        drop_oldest(server, false, NULL);
        remove_closed(server);
    }
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    c->server = server;
    c->socket = socket;
    c->head = head;
    enter(c, READING_HEAD, HEAD_SECONDS);
    server->connections[server->count++] = c;
    advance(c, true);
    remove_closed(server);
}

static void accept_some(exi_server *server) {
    for (int i = 0; i < ACCEPTED_AT_ONCE; i++) {
        const int socket = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket >= 0) {
            add(server, socket);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            if (errno != EAGAIN && errno != EWOULDBLOCK && !drop_oldest(server, false, NULL))
                server->paused = exi_clock() + PAUSE_SECONDS;
            return;
        }
    }
}

/* ---- the thread of the server ---- */

/* Waits until something can be done. ready[i] tells if the i-th connection can go on; true if the listener can. */
static bool wait_for_any(exi_server *server, bool *ready) {
    struct pollfd waits[CONNECTIONS_MOST + 2];
    const double now = exi_clock();
    const bool paused = atomic_load(&server->stops) || now < server->paused;
    double until = now < server->paused ? server->paused : INFINITY;
    char bytes[64];
    for (int i = 0; i < server->count; i++) {
        const connection *c = server->connections[i];
        waits[i] = (struct pollfd){.fd = c->state == WORKING ? -1 : c->socket,
                                   .events = c->state == SENDING ? POLLOUT : POLLIN};
        if (c->state != WORKING)
            until = fmin(until, c->deadline);
    }
    waits[server->count] = (struct pollfd){.fd = server->wake[0], .events = POLLIN};
    waits[server->count + 1] = (struct pollfd){.fd = paused ? -1 : server->listener, .events = POLLIN};
    const double left = fmax(0, until - now);
    const int found = poll(waits, (nfds_t)server->count + 2, isinf(left) ? -1 : (int)(1000 * left) + 1);
    for (int i = 0; i < server->count; i++)
        ready[i] = found > 0 && waits[i].revents;
    if (found > 0 && waits[server->count].revents)
        (void)!read(server->wake[0], bytes, sizeof bytes);
    return found > 0 && waits[server->count + 1].revents;
}

/* True while an answer is made or sent. */
static bool is_busy(const exi_server *server, double until) {
    bool busy = false;
    for (int i = 0; i < server->count; i++) {
        connection *c = server->connections[i];
        c->deadline = fmin(c->deadline, until);
        busy = busy || c->state == WORKING || c->state == SENDING;
    }
    return busy;
}

static void *serve(void *user) {
    exi_server *server = user;
    bool ready[CONNECTIONS_MOST];
    double until = INFINITY;
    while (!atomic_load(&server->stops) || is_busy(server, until = fmin(until, exi_clock() + STOP_SECONDS))) {
        const bool arrived = wait_for_any(server, ready);
        for (int i = 0; i < server->count; i++)
            advance(server->connections[i], ready[i]);
        remove_closed(server);
        if (arrived)
            accept_some(server);
        remove_closed(server);
    }
    for (int i = 0; i < server->count; i++)
        server->connections[i]->state = CLOSED;
    remove_closed(server);
    return NULL;
}

/* ---- starting and stopping ---- */

static bool draw_token(char token[EXI_TOKEN_SIZE + 1]) {
    unsigned char bytes[EXI_TOKEN_SIZE / 2];
    if (getentropy(bytes, sizeof bytes) != 0)
        return false;
    for (int i = 0; i < EXI_TOKEN_SIZE / 2; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* Leaves half of the files that a process may open, if these are few, to the requests. */
static void limit_connections(exi_server *server) {
    struct rlimit files;
    const int part = getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < 4 * MEMBERS_MOST
                         ? (int)files.rlim_cur / 4
                         : MEMBERS_MOST;
    server->members_most = part > 1 ? part : 1;
    server->strangers_most = server->members_most < STRANGERS_MOST ? server->members_most : STRANGERS_MOST;
}

static bool listen_at(exi_server *server, int port) {
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof where;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (server->listener < 0)
        return false;
    setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(server->listener, (struct sockaddr *)&where, sizeof where) != 0 ||
        listen(server->listener, SOMAXCONN) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&where, &size) != 0)
        return false;
    server->site.port = ntohs(where.sin_port);
    return true;
}

exi_server *exi_server_start(exi_edit *edit, int port) {
    exi_server *server = calloc(1, sizeof *server);
    if (!server) {
        exi_failed_memory();
        return NULL;
    }
    server->edit = edit;
    server->listener = server->wake[0] = server->wake[1] = -1;
    limit_connections(server);
    if (!draw_token(server->site.token) || !draw_token(server->site.ticket)) {
        exi_failed_text("this system has no random numbers, which keep others out: %s", strerror(errno));
    } else if (!listen_at(server, port)) {
        if (port > 0)
            exi_failed_text("cannot serve at port %d: another program uses it, or it needs more rights; without "
                            "--port, a free one is chosen",
                            port);
        else
            exi_failed_text("cannot serve at any port of 127.0.0.1");
    } else {
        snprintf(server->address, sizeof server->address, "http://127.0.0.1:%d/%s/", server->site.port,
                 server->site.token);
        snprintf(server->ticket, sizeof server->ticket, "http://127.0.0.1:%d/%s/", server->site.port,
                 server->site.ticket);
        server->runs = pipe2(server->wake, O_NONBLOCK | O_CLOEXEC) == 0 &&
                       pthread_create(&server->thread, NULL, serve, server) == 0;
        if (server->runs)
            return server;
        exi_failed_text("cannot start the server: %s", strerror(errno));
    }
    exi_server_stop(server);
    return NULL;
}

void exi_server_stop(exi_server *server) {
    if (!server)
        return;
    if (server->runs) {
        atomic_store(&server->stops, true);
        (void)!write(server->wake[1], "", 1);
        pthread_join(server->thread, NULL);
    }
    for (int i = 0; i < 2; i++)
        if (server->wake[i] >= 0)
            close(server->wake[i]);
    if (server->listener >= 0)
        close(server->listener);
    free(server);
}

const char *exi_server_address(const exi_server *server) {
    return server->address;
}

const char *exi_server_ticket(const exi_server *server) {
    return exi_peer_can_tell() ? server->ticket : NULL;
}

int exi_server_port(const exi_server *server) {
    return server->site.port;
}
