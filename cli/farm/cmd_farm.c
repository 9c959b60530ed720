/* exemplar farm - work that is cut into tasks, run on one machine or many, and joined. */
#include "farm.h"

#include <exemplar/author/base.h>

static const ex_command *const commands[] = {&cmd_farm_plan,  &cmd_farm_submit, &cmd_farm_status,
                                             &cmd_farm_retry, &cmd_farm_merge,  &cmd_farm_do};

enum { COMMAND_COUNT = (int)(sizeof commands / sizeof commands[0]) };

static int run(const ex_call *call) {
    const char *words[COMMAND_COUNT], *word = call->arguments[0];
    for (int i = 0; i < COMMAND_COUNT; i++)
        words[i] = exi_command_word(commands[i]);
    const char *near = ex_suggest(word, words, COMMAND_COUNT);
    if (near)
        return exi_wrong_usage(call->command, "there is no '%s' here: did you mean 'farm %s'?", word, near);
    return exi_wrong_usage(call->command, "there is no '%s' here: use plan, submit, status, retry, merge or do", word);
}

const ex_command cmd_farm = {
    .name = "farm",
    .summary = "cut large work into tasks, run them anywhere, join the results",
    .usage = "farm plan JOB.json -o DIR\n"
             "farm submit DIR [--to local|slurm|list]\n"
             "farm status|retry|merge DIR",
    .description = "Garments for many animations, scans of many people, motions for many characters:\n"
                   "such work divides into thousands of tasks. 'farm plan' makes them from the\n"
                   "description of a job. 'farm submit' runs them on this machine, hands them to\n"
                   "Slurm, or lists them for another engine. 'farm merge' joins what they made; the\n"
                   "result has the same bytes as if one process had made it.\n"
                   "\n"
                   "Tasks may be killed, run twice, or fail: a piece is there as a whole or not at\n"
                   "all, and one that is there is not made again.",
    .examples = "exemplar farm plan job.json -o job\n"
                "exemplar farm submit job\n"
                "exemplar farm status job\n"
                "exemplar farm merge job",
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
    .commands = commands,
    .command_count = COMMAND_COUNT,
};
