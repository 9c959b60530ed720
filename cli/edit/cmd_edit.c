/* exemplar edit - the editor in the browser: serves a project until Ctrl-C, or writes a page with a rig in it. */
#define _GNU_SOURCE

#include "cli/base/command.h"
#include "cli/base/files.h"
#include "cli/base/report.h"
#include "edit_page.h"

#ifdef EX_WITH_EDITOR
#include "edit.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#endif

static const char *export_page;
static int port;
static bool no_open, is_new;

static const ex_option options[] = {
    {.name = "export",
     .argument = "PAGE.html",
     .help = "write a page with the rig in it, which needs no server and no network (- is standard output)",
     .text = &export_page},
    {.name = "port",
     .argument = "N",
     .help = "port on 127.0.0.1 (default: a free one)",
     .count = &port,
     .count_max = 65535},
    {.name = "new", .help = "start empty: files dropped on the page become the project", .flag = &is_new},
    {.name = "no-open", .help = "print the address, but open no browser", .flag = &no_open},
};

#ifdef EX_WITH_EDITOR

/* Time that work in progress may take after Ctrl-C. */
#define PATIENCE_SECONDS 2

extern char **environ;

/* ---- the browser ---- */

/* Opens the browser, without output and in a separate session, so that Ctrl-C here does not end it. False if there is
 * no program to open it with. Other users of the machine can read the address. */
static bool open_browser(const char *address) {
#ifdef __APPLE__
    char program[] = "open";
#else
    char program[] = "xdg-open";
#endif
    char text[128];
    char *const words[] = {program, text, NULL};
    sigset_t none, all;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    pid_t child;
    snprintf(text, sizeof text, "%s", address);
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        posix_spawn_file_actions_addopen(&files, i, "/dev/null", O_RDWR, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const bool opened = posix_spawnp(&child, program, &files, &how, words, environ) == 0;
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return opened;
}

/* ---- until Ctrl-C ---- */

/* The signals that end the editor. They are blocked before the first thread starts, so that only the main thread, which
 * waits for them, receives them. */
static sigset_t ending_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&set, numbers[i]);
    }
    return set;
}

static bool lock_soon(pthread_mutex_t *mutex, const struct timespec *until) {
    return pthread_mutex_timedlock(mutex, until) == 0;
}

/* Stops the server in order if that takes little time. Otherwise the process just ends: finished saves stay, and
 * half-written files are removed. */
static int end(exi_edit *edit, exi_server *server, const sigset_t *signals) {
    struct timespec until;
    pthread_sigmask(SIG_UNBLOCK, signals, NULL); /* a second Ctrl-C does not wait */
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    atomic_store(&edit->ends, true);
    atomic_fetch_add(&edit->build_cancels, 1); /* builds stop soon */
    pthread_mutex_lock(&edit->writing);
    ex_file_stop(); /* a bake removes what it wrote */
    const bool building = lock_soon(&edit->building, &until), checking = lock_soon(&edit->checking, &until);
    if (!building || !checking) {
        fflush(stdout);
        ex_file_remove_pending();
        exi_edit_remove_sent(edit);
        _exit(EX_EXIT_DONE);
    }
    pthread_mutex_unlock(&edit->checking);
    pthread_mutex_unlock(&edit->building);
    pthread_mutex_unlock(&edit->writing);
    exi_server_stop(server);
    return EX_EXIT_DONE;
}

static void print_address(const ex_call *call, const exi_server *server) {
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "address", exi_server_address(server));
        exi_emit_number(&json, "port", exi_server_port(server));
        exi_emit_text(&json, "project", call->arguments[0]);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else {
        exi_print("%s\n", exi_server_address(server));
    }
}

/* A project that cannot be read does not keep the editor from starting: the page shows the error, too. */
static void say_what_is_edited(const ex_call *call) {
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    if (!is_new && ex_project_read(call->arguments[0], &project, &error) != EX_OK)
        exi_failed(&error);
    ex_project_destroy(project);
    if (!call->quiet)
        exi_print_to(stderr, "exemplar: editing %s, until Ctrl-C\n", call->arguments[0]);
}

static int serve(const ex_call *call, exi_edit *edit) {
    const sigset_t signals = ending_signals();
    int number = 0;
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN); /* a browser may leave at any time */
    signal(SIGCHLD, SIG_IGN); /* nobody waits for the process that opened it */
    exi_server *server = exi_server_start(edit, port);
    if (!server)
        return EX_EXIT_FAILED;
    say_what_is_edited(call); /* before others know the address: they may put anything in the file's place */
    print_address(call, server);
    if (fflush(stdout) != 0) {
        exi_server_stop(server);
        return EX_EXIT_FAILED; /* main prints the error */
    }
    const char *ticket = exi_server_ticket(server);
    if (!no_open && !(ticket && open_browser(ticket)))
        exi_failed_text("no program here can open a browser: open that address yourself");
    while (sigwait(&signals, &number) != 0)
        continue;
    return end(edit, server, &signals);
}

/* False after printing an error. A pipe would block the editor, and a saved file could not replace it. */
/* True for a file of another program, and prints what to do. A project with a mistake opens: the page shows it. */
static bool is_foreign(const char *path) {
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    if (exi_file_kind_of(path) != EXI_FILE_UNKNOWN)
        return false;
    ex_project_read(path, &project, &error);
    ex_project_destroy(project);
    if (!exi_is_foreign(&error))
        return false;
    exi_failed(&error);
    return true;
}

static bool can_be_edited(const char *path) {
    struct stat status;
    if (is_new && exi_file_exists(path))
        return exi_failed_text("'%s' exists: leave out --new to open it", path) == EX_EXIT_DONE;
    if (is_new && !ex_path_ends_with(path, ".json"))
        return exi_failed_text("'%s' does not end in .json, as a project does", path) == EX_EXIT_DONE;
    if (is_new)
        return true;
    if (stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR) && !exi_file_exists(path))
        exi_failed_text("there is no project '%s': make one with 'exemplar demo' or 'exemplar init', or start with an "
                        "empty page by --new",
                        path);
    else if (stat(path, &status) != 0)
        exi_failed_text("cannot read '%s': %s", path, strerror(errno));
    else if (S_ISDIR(status.st_mode) && !exi_expect_kind(path, EXI_FILE_PROJECT))
        return false;
    else if (S_ISDIR(status.st_mode))
        exi_failed_text("'%s' is a folder: name the project in it; 'exemplar init %s' makes one from sculpts in it",
                        path, path);
    else if (!S_ISREG(status.st_mode))
        exi_failed_text("'%s' is not a plain file: the editor needs to save the project there", path);
    else
        return exi_expect_kind(path, EXI_FILE_PROJECT) && !is_foreign(path);
    return false;
}

static int edit_project(const ex_call *call) {
    exi_edit edit;
    int exit_code = EX_EXIT_FAILED;
    const char *path = call->arguments[0];
    if (!can_be_edited(path))
        return EX_EXIT_FAILED;
    const bool opened = exi_edit_open(&edit, call, path);
    atomic_store(&edit.starts, is_new);
    if (opened)
        exit_code = serve(call, &edit);
    exi_edit_close(&edit);
    return exit_code;
}

#else

static int edit_project(const ex_call *call) {
    (void)call;
    return exi_failed_text("%s", exi_edit_missing());
}

#endif

static int run(const ex_call *call) {
    if (!export_page)
        return edit_project(call);
    if (port || no_open || is_new)
        return exi_wrong_usage(call->command, "--export writes a page and starts no server: --%s does not go with it",
                               port     ? "port"
                               : is_new ? "new"
                                        : "no-open");
    return exi_edit_export(call, export_page, call->arguments[0]);
}

const ex_command cmd_edit = {
    .name = "edit",
    .summary = "open a project in the web editor",
    .usage = "edit PROJECT.json [--new] [--port N] [--no-open]\n"
             "edit --export PAGE.html RIG.glb|PROJECT.json",
    .description = "Serves the editor and opens it in the browser. Pose the rig, drag its examples\n"
                   "and see the forms follow, make pseudo-examples, fix vertices with a brush,\n"
                   "play motion, bake, save. It runs until Ctrl-C. The address is printed first;\n"
                   "with --json as {\"address\": ..., \"port\": ..., \"project\": ...}.\n"
                   "\n"
                   "Only programs on this machine can reach the server, and only if they know the\n"
                   "address: it contains a random word, new every time. The server reads and\n"
                   "writes only the project's folder and the files that the project names. A save\n"
                   "replaces the project as a whole; 'exemplar undo' brings the previous version\n"
                   "back. If another program changed the file meanwhile, the editor asks before it\n"
                   "overwrites. A project with a mistake opens too: the page shows where\n"
                   "it is. Trajectories that were found once are kept in ~/.cache/exemplar, or\n"
                   "below $XDG_CACHE_HOME, up to 512 MiB; that folder can be deleted at any time.\n"
                   "\n"
                   "--new opens an empty page for a project that does not exist yet. Drop the mesh\n"
                   "at rest and shapes of it on the page (.obj, .ply, .off), or one glTF file: they\n"
                   "become the project, as 'exemplar init' makes it.\n"
                   "\n"
                   "--export writes the editor with a rig in it as one file, which anyone can open\n"
                   "from a disk or a web site to pose the rig and move its examples. It makes no\n"
                   "connection. A project is built first.",
    .examples = "exemplar demo blob\n"
                "exemplar edit blob/blob.json\n"
                "exemplar edit --new face.json\n"
                "exemplar edit blob/blob.json --port 8080 --no-open\n"
                "exemplar edit --export blob.html blob/blob.glb",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
