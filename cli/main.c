/*
 * cli/main.c - the tool: finds the command, has its options parsed, runs it, and makes sure that what it printed has
 * arrived. No algorithm lives here or in the commands; they parse, call the library and report.
 */
#include "command.h"
#include "interrupt.h"
#include "options.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ex_command *const commands[] = {
    &cmd_demo, &cmd_build, &cmd_check, &cmd_info, &cmd_weights, &cmd_pose, &cmd_unpack, &cmd_bench,
};
enum { COMMAND_COUNT = (int)(sizeof commands / sizeof commands[0]) };

static const ex_command *find_command(const char *name) {
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int unknown_word(const char *word) {
    const char *candidates[COMMAND_COUNT + 3] = {"help", "--help", "--version"};
    for (int i = 0; i < COMMAND_COUNT; i++)
        candidates[3 + i] = commands[i]->name;
    const char *what = word[0] == '-' ? "option" : "command";
    const char *near = ex_suggest(word, candidates, COMMAND_COUNT + 3);
    if (near)
        fprintf(stderr, "exemplar: there is no %s '%s': did you mean '%s'? (see 'exemplar -h')\n", what, word, near);
    else
        fprintf(stderr, "exemplar: there is no %s '%s' (see 'exemplar -h')\n", what, word);
    return EX_EXIT_USAGE;
}

static void print_overview(void) {
    printf("exemplar %s: turns example shapes into deforming characters\n\n"
           "Usage:\n"
           "  exemplar COMMAND [ARGUMENTS] [OPTIONS]\n"
           "  exemplar help COMMAND\n"
           "  exemplar --version\n\n"
           "Commands:\n",
           ex_version().text);
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
    printf("\nEvery command has a page of its own with its options and examples:\n"
           "'exemplar COMMAND -h'. Data goes to stdout, messages to stderr; the exit code\n"
           "is 0 when done, 1 when something failed, 2 for wrong usage.\n\n"
           "Examples:\n"
           "  exemplar demo blob\n"
           "  exemplar info blob/blob.glb\n");
}

static int print_help(int argc, char **argv) {
    if (argc < 3 || argv[2][0] == '-') {
        print_overview();
        return EX_EXIT_DONE;
    }
    const ex_command *command = find_command(argv[2]);
    if (!command)
        return unknown_word(argv[2]);
    exi_help_print(stdout, command);
    return EX_EXIT_DONE;
}

static int run_command(const ex_command *command, const char *program, int word_count, char **words) {
    const char **arguments = calloc(word_count > 0 ? (size_t)word_count : 1, sizeof *arguments);
    if (!arguments)
        return exi_failed_text("there is not enough memory");
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
    if (strcmp(word, "help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
        return print_help(argc, argv);
    if (strcmp(word, "--version") == 0) {
        printf("exemplar %s\n", ex_version().text);
        return EX_EXIT_DONE;
    }
    const ex_command *command = find_command(word);
    return command ? run_command(command, argv[0], argc - 2, argv + 2) : unknown_word(word);
}

int main(int argc, char **argv) {
    exi_interrupt_catch();
    int exit_code = dispatch(argc, argv);
    /* A full disk shows at the latest when the last bytes are flushed. */
    errno = 0;
    bool arrived = fflush(stdout) == 0 && !ferror(stdout);
    if (!arrived && exit_code == EX_EXIT_DONE)
        exit_code = exi_failed_text("cannot write to standard output: %s", strerror(errno ? errno : EIO));
    return exit_code;
}
