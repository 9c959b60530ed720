/* exemplar build - a project in, a rig file out. */
#include "command.h"
#include "files.h"
#include "report.h"
#include "rigs.h"

#include <stdlib.h>

static const char *output;

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "RIG.glb",
     .help = "where the rig goes (default: beside the project, with .glb in place of .json; - is standard output)",
     .text = &output},
};

/* Reads and builds; NULL after a sentence. */
static ex_rig *build_rig(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    ex_rig *rig = NULL;
    exi_progress progress;
    exi_progress_start(&progress, call);
    ex_result result = ex_project_read(path, &project, &error);
    if (result == EX_OK) {
        ex_build_options how = {.progress = exi_progress_hook(&progress)};
        result = ex_project_build(project, &how, &rig, &error);
    }
    exi_progress_end(&progress);
    ex_project_destroy(project);
    if (result != EX_OK) {
        exi_failed(&error);
        return NULL;
    }
    return rig;
}

static int build(const ex_call *call, const char *path, const char *target) {
    double start = exi_clock();
    bool to_stdout = exi_is_standard_output(target);
    int exit_code = EX_EXIT_DONE;
    if (!exi_output_check(call->command, target, ".glb", path, &exit_code))
        return exit_code;
    ex_rig *rig = build_rig(call, path);
    if (!rig)
        return EX_EXIT_FAILED;
    ex_error error = {.result = EX_OK};
    if (ex_rig_write(to_stdout ? "/dev/stdout" : target, rig, &error) != EX_OK)
        exit_code = exi_failed(&error);
    else if ((call->json || !call->quiet) && !to_stdout)
        exi_rig_print_line(stdout, call->json, target, rig, exi_clock() - start);
    ex_rig_destroy(rig);
    return exit_code;
}

static int run(const ex_call *call) {
    const char *path = call->arguments[0];
    if (call->json && output && exi_is_standard_output(output))
        return exi_wrong_usage(call->command, "the rig and --json cannot both go to standard output");
    if (!exi_expect_kind(path, EXI_FILE_PROJECT))
        return EX_EXIT_FAILED;
    if (output)
        return build(call, path, output);
    char *beside = exi_path_with_ending(path, ".glb");
    if (!beside)
        return exi_failed_text("there is not enough memory");
    int exit_code = build(call, path, beside);
    free(beside);
    return exit_code;
}

const ex_command cmd_build = {
    .name = "build",
    .summary = "solve a project and pack it into a rig",
    .usage = "build PROJECT.json [-o RIG.glb]",
    .description = "Reads the project and the forms it names, solves every layer's space and writes\n"
                   "the rig: a .glb that the runtime loads and that any glTF viewer opens, with the\n"
                   "examples as morph targets. The same project always gives the same bytes. The\n"
                   "file is written whole or not at all.\n"
                   "\n"
                   "Prints one line: vertices, layers, examples, size of the file, time taken.",
    .examples = "exemplar build blob/blob.json\n"
                "exemplar build blob/blob.json -o /tmp/blob.glb --json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
