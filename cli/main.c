/*
 * cli/main.c - the tool: finds the command, parses its options, runs it, and checks that its output was written.
 * Neither this file nor the commands contain algorithms; they parse, call the library and report.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/base/command.h"
#include "cli/base/interrupt.h"
#include "cli/base/options.h"
#include "cli/base/report.h"
#include "cli/help/man.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const ex_command *const commands[] = {
    &cmd_demo,    &cmd_init,   &cmd_build,   &cmd_check, &cmd_example, &cmd_undo,   &cmd_redo,  &cmd_edit,
    &cmd_info,    &cmd_diff,   &cmd_weights, &cmd_pose,  &cmd_bake,    &cmd_render, &cmd_sheet, &cmd_plot,
    &cmd_figures, &cmd_unpack, &cmd_warp,    &cmd_drive, &cmd_scan,    &cmd_farm,   &cmd_bench, &cmd_completion,
};
enum { COMMAND_COUNT = (int)(sizeof commands / sizeof commands[0]) };

const ex_command exi_tool = {
    .name = "",
    .summary = "turns example shapes into deforming characters",
    .usage = "COMMAND [ARGUMENTS] [OPTIONS]\n"
             "help [--man] COMMAND\n"
             "--version",
    .description = "Every command has a page of its own with its options and examples:\n"
                   "'exemplar COMMAND -h', or 'man exemplar-COMMAND'. Data goes to stdout, messages\n"
                   "to stderr. The exit code is 0 when done, 1 when something failed, 2 for wrong\n"
                   "usage, and 130 or 143 when Ctrl-C or kill ended the work; what was half written\n"
                   "is then removed.",
    .examples = "exemplar demo blob\n"
                "exemplar info blob/blob.glb",
    .commands = commands,
    .command_count = COMMAND_COUNT,
};

const char *exi_command_word(const ex_command *inner) {
    const char *space = strrchr(inner->name, ' ');
    return space ? space + 1 : inner->name;
}

const ex_command *exi_command_inner(const ex_command *command, const char *word) {
    for (int i = 0; i < command->command_count; i++)
        if (strcmp(exi_command_word(command->commands[i]), word) == 0)
            return command->commands[i];
    return NULL;
}

/* Like exi_wrong_usage, without a command. */
__attribute__((format(printf, 1, 2))) static int wrong_words(const char *format, ...) {
    va_list list;
    va_start(list, format);
    exi_message("exemplar", " (see 'exemplar -h')", format, list);
    va_end(list);
    return EX_EXIT_USAGE;
}

/* Words of other tools, and the command that does it here. */
static const char *synonym(const char *word) {
    static const struct {
        const char *word, *command;
    } synonyms[] = {{"export", "pose' or 'bake"},
                    {"import", "init"},
                    {"convert", "init"},
                    {"new", "init"},
                    {"create", "init"},
                    {"view", "edit"},
                    {"show", "render"},
                    {"draw", "render"},
                    {"animate", "bake"},
                    {"play", "edit"},
                    {"add", "example add"},
                    {"evaluate", "pose"},
                    {"list", "info"},
                    {"validate", "check"},
                    {"compare", "diff"}};
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(word, synonyms[i].word) == 0)
            return synonyms[i].command;
    return NULL;
}

static int unknown_word(const char *word) {
    const char *candidates[COMMAND_COUNT + 3] = {"help", "--help", "--version"};
    for (int i = 0; i < COMMAND_COUNT; i++)
        candidates[3 + i] = commands[i]->name;
    const char *what = word[0] == '-' ? "option" : "command";
    const char *same = synonym(word), *near = same ? same : ex_suggest(word, candidates, COMMAND_COUNT + 3);
    if (near)
        return wrong_words("there is no %s '%s': did you mean '%s'?", what, word, near);
    return wrong_words("there is no %s '%s'", what, word);
}

static void print_overview(void) {
    printf("exemplar %s: %s\n\nUsage:\n", ex_version().text, exi_tool.summary);
    exi_lines_print(stdout, "  exemplar ", exi_tool.usage);
    printf("\nCommands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    printf("\n%s\n\nExamples:\n", exi_tool.description);
    exi_lines_print(stdout, "  ", exi_tool.examples);
}

static bool asks_for_help(const char *word) {
    return strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0;
}

static bool any_asks_for_help(int count, char **words) {
    for (int i = 0; i < count; i++)
        if (asks_for_help(words[i]))
            return true;
    return false;
}

static int one_word_too_many(const char *word) {
    return wrong_words("unexpected argument '%s'", word);
}

/* help, help COMMAND, help COMMAND SUBCOMMAND; after 'help' the pages for man(1) with --man. */
static int print_help(int argc, char **argv) {
    const bool man = argc > 2 && strcmp(argv[2], "--man") == 0;
    const int first = man ? 3 : 2;
    const ex_command *command = argc > first ? exi_command_inner(&exi_tool, argv[first]) : NULL;
    if (argc > first && !command && !asks_for_help(argv[first]))
        return unknown_word(argv[first]);
    const ex_command *inner = command && argc > first + 1 ? exi_command_inner(command, argv[first + 1]) : NULL;
    if (argc > first + (inner ? 2 : 1))
        return one_word_too_many(argv[first + (inner ? 2 : 1)]);
    command = inner ? inner : command;
    if (man)
        exi_man_print(stdout, command ? command : &exi_tool);
    else if (command)
        exi_help_print(stdout, command);
    else
        print_overview();
    return EX_EXIT_DONE;
}

static int run_command(const ex_command *command, const char *program, int word_count, char **words) {
    const char **arguments = calloc(word_count > 0 ? (size_t)word_count : 1, sizeof *arguments);
    if (!arguments)
        return exi_failed_memory();
    ex_call call;
    bool help = false;
    int exit_code = exi_options_parse(command, word_count, words, arguments, &call, &help);
    if (help) {
        exi_help_print(stdout, command);
    } else if (exit_code == EX_EXIT_DONE) {
        call.program = program;
        exit_code = command->run(&call);
    }
    free(arguments);
    return exit_code;
}

static int dispatch(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "help";
    if (strcmp(word, "help") == 0 || asks_for_help(word))
        return print_help(argc, argv);
    if (strcmp(word, "--version") == 0) {
        if (argc > 2)
            return one_word_too_many(argv[2]);
        printf("exemplar %s\n", ex_version().text);
        return EX_EXIT_DONE;
    }
    const ex_command *command = exi_command_inner(&exi_tool, word), *inner = NULL;
    if (!command)
        return unknown_word(word);
    inner = argc > 2 ? exi_command_inner(command, argv[2]) : NULL;
    /* An unknown subcommand is told before its options, which are not those of the command. */
    if (!inner && command->command_count > 0 && argc > 2 && argv[2][0] != '-' && !any_asks_for_help(argc - 3, argv + 3))
        return run_command(command, argv[0], 1, argv + 2);
    return inner ? run_command(inner, argv[0], argc - 3, argv + 3) : run_command(command, argv[0], argc - 2, argv + 2);
}

/* Opens something in place of closed standard streams; otherwise a file opened later could get their number and receive
 * what is printed. They are opened in the wrong direction, so that using them still fails. */
static void fill_closed_streams(void) {
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* EX_SIMD in the environment: an instruction set to use instead of the widest. */
static bool choose_set(void) {
    const char *name = getenv("EX_SIMD");
    if (!name || !name[0] || ex_simd_use(name))
        return true;
    wrong_words("EX_SIMD is '%s' in the environment, which this build or this machine does not have; without it "
                "'%s' is used",
                name, ex_simd_name());
    return false;
}

int main(int argc, char **argv) {
    fill_closed_streams();
    exi_interrupt_catch();
    int exit_code = choose_set() ? dispatch(argc, argv) : EX_EXIT_USAGE;
    /* A full disk is noticed here at the latest, when the last bytes are flushed. */
    errno = 0;
    bool arrived = fflush(stdout) == 0 && !ferror(stdout);
    if (!arrived && exit_code == EX_EXIT_DONE)
        exit_code = exi_failed_text("cannot write to standard output: %s", strerror(errno ? errno : EIO));
    return exit_code;
}
