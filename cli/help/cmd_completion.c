/* exemplar completion - prints a script that lets a shell complete the tool's command lines. */
#include "cli/base/command.h"
#include "cli/base/report.h"

#include "complete.h"
#include "scripts.h"

#include <string.h>

static bool words;

static const ex_option options[] = {
    {.name = "words",
     .help = "print what can complete the last of the words after '--', one per line; the scripts call this",
     .flag = &words},
};

static const struct {
    const char *name, *script;
} shells[] = {{"bash", exi_script_bash}, {"zsh", exi_script_zsh}, {"fish", exi_script_fish}};

static int run(const ex_call *call) {
    if (words)
        return exi_complete_print(stdout, call->argument_count, call->arguments) ? EX_EXIT_DONE : exi_failed_memory();
    if (call->argument_count != 1)
        return exi_wrong_usage(call->command, "name one shell: bash, zsh or fish");
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(shells[i].name, call->arguments[0]) == 0) {
            fputs(shells[i].script, stdout);
            return EX_EXIT_DONE;
        }
    return exi_wrong_usage(call->command, "there is no script for '%s': bash, zsh and fish have one",
                           call->arguments[0]);
}

const ex_command cmd_completion = {
    .name = "completion",
    .summary = "print a script that completes commands in bash, zsh or fish",
    .usage = "completion bash|zsh|fish\n"
             "completion --words -- [WORD...]",
    .description = "With the script, the Tab key completes commands, options, their values, file\n"
                   "names by ending, and the axes of a rig: 'exemplar pose blob.glb be<Tab>'.\n"
                   "'make install' and the Debian package install the scripts where the shells\n"
                   "look for them. Elsewhere, load one when the shell starts; the examples show\n"
                   "the line for ~/.bashrc, the file for zsh and the file for fish.\n"
                   "\n"
                   "The scripts are short: each time, they ask the tool what can come next. So\n"
                   "they always fit the version that is called.",
    .examples = "source <(exemplar completion bash)\n"
                "exemplar completion zsh > ~/.zsh/completions/_exemplar\n"
                "exemplar completion fish > ~/.config/fish/completions/exemplar.fish\n"
                "exemplar completion --words -- build --w",
    .options = options,
    .option_count = (int)(sizeof options / sizeof options[0]),
    .argument_max = -1,
    .run = run,
};
