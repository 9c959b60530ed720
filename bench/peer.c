/* bench/peer.c - runs peers as child processes, connected by two pipes. */
#define _POSIX_C_SOURCE 200809L

#include "bench/peer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct exi_peer {
    pid_t process;
    FILE *questions, *answers;
    bool silent;
};

enum { PATH_SIZE = 4096 };

/* The tool's folder, with a slash; false if the system does not tell. */
static bool tool_folder(char folder[PATH_SIZE]) {
    ssize_t length = readlink("/proc/self/exe", folder, PATH_SIZE - 1);
    if (length <= 0)
        return false;
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (!slash)
        return false;
    slash[1] = '\0';
    return true;
}

static bool find_peer(const char *file, char path[PATH_SIZE]) {
    static const char *const places[] = {"", "../libexec/exemplar/"};
    char folder[PATH_SIZE];
    if (!tool_folder(folder))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int length = snprintf(path, PATH_SIZE, "%s%s%s", folder, places[i], file);
        if (length > 0 && length < PATH_SIZE && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

/* In the child: makes the pipes its standard input and output, and discards its error output. */
static void become(const char *interpreter, const char *path, const int questions[2], const int answers[2]) {
    if (dup2(questions[0], STDIN_FILENO) < 0 || dup2(answers[1], STDOUT_FILENO) < 0 ||
        !freopen("/dev/null", "w", stderr))
        _exit(127);
    close(questions[0]);
    close(questions[1]);
    close(answers[0]);
    close(answers[1]);
    if (interpreter)
        execl(interpreter, interpreter, path, (char *)NULL);
    else
        execl(path, path, (char *)NULL);
    _exit(127);
}

static bool connect_peer(exi_peer *peer, const char *interpreter, const char *path) {
    int questions[2], answers[2];
    if (pipe(questions) != 0)
        return false;
    if (pipe(answers) != 0) {
        close(questions[0]);
        close(questions[1]);
        return false;
    }
    peer->process = fork();
    if (peer->process == 0)
        become(interpreter, path, questions, answers);
    close(questions[0]);
    close(answers[1]);
    peer->questions = fdopen(questions[1], "w");
    peer->answers = fdopen(answers[0], "r");
    return peer->process > 0 && peer->questions && peer->answers;
}

exi_peer *exi_peer_start(const char *interpreter, const char *file, const char **why) {
    char path[PATH_SIZE];
    *why = "not built";
    if (!find_peer(file, path))
        return NULL;
    *why = "does not start";
    if (interpreter && access(interpreter, X_OK) != 0)
        return NULL;
    /* A peer that ends early must not end the tool. */
    signal(SIGPIPE, SIG_IGN);
    exi_peer *peer = calloc(1, sizeof *peer);
    if (peer && !connect_peer(peer, interpreter, path)) {
        exi_peer_stop(peer);
        peer = NULL;
    }
    return peer;
}

bool exi_peer_ask(exi_peer *peer, const char *question, double *ns) {
    char line[128];
    if (peer->silent)
        return false;
    bool asked = fprintf(peer->questions, "%s\n", question) > 0 && fflush(peer->questions) == 0;
    char *end = line;
    if (asked && fgets(line, sizeof line, peer->answers))
        *ns = strtod(line, &end);
    peer->silent = end == line || !(*ns > 0);
    return !peer->silent;
}

void exi_peer_stop(exi_peer *peer) {
    if (!peer)
        return;
    if (peer->questions)
        fclose(peer->questions); /* closing its input ends the peer */
    if (peer->answers)
        fclose(peer->answers);
    if (peer->process > 0)
        waitpid(peer->process, NULL, 0);
    free(peer);
}
