/* exemplar unpack - writes a rig file as a project and its forms. */
#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/keep.h"
#include "cli/base/lock.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"

#include <stdlib.h>

static const char *output;
static bool force;

static const ex_option options[] = {
    {.name = "output", .letter = 'o', .argument = "DIR", .help = "output folder", .text = &output},
    {.name = "force", .letter = 'f', .help = "overwrite an existing project", .flag = &force},
};

static void print_result(const ex_call *call, const ex_rig *rig, const char *project) {
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "project", project);
        exi_emit_number(&json, "layers", ex_rig_layer_count(rig));
        exi_emit_number(&json, "examples", ex_rig_example_count(rig));
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet) {
        char layers[EXI_TEXT_SIZE], examples[EXI_TEXT_SIZE];
        exi_print("%s: %s, %s\n", project, exi_text_count(layers, ex_rig_layer_count(rig), "layer"),
                  exi_text_count(examples, ex_rig_example_count(rig), "example"));
    }
}

/* Unpacks; removes what was written if that fails or is interrupted. */
static int fill_folder(const ex_call *call, const ex_rig *rig, const char *name, exi_folder *folder) {
    ex_error error = {.result = EX_OK};
    ex_history_kept *kept = NULL;
    ex_result result = ex_make_directory(output, &error);
    const int lock = result == EX_OK ? exi_lock_folder(output, call->quiet) : -1;
    exi_interrupt_defer(true);
    if (result == EX_OK)
        result = exi_keep_project(output, name, "replaced by 'unpack'", &kept, &error);
    if (result == EX_OK)
        result = ex_project_unpack(rig, output, name, force, &error);
    exi_keep_end(kept, result);
    exi_lock_release(lock);
    exi_interrupt_defer(false);
    if (result == EX_OK)
        return EX_EXIT_DONE;
    if (exi_interrupted())
        return exi_folder_interrupted(folder);
    exi_folder_undo(folder);
    return exi_failed(&error);
}

static int unpack(const ex_call *call, const ex_rig *rig, const char *name) {
    exi_folder folder;
    if (!exi_folder_note(&folder, output))
        return EX_EXIT_FAILED;
    int exit_code = EX_EXIT_DONE;
    char *project = exi_path_inside(output, name, ".json");
    if (!project) {
        exit_code = exi_failed_memory();
    } else if (!force && exi_file_exists(project)) {
        exit_code = exi_failed_exists(project, "folder");
    } else {
        exit_code = fill_folder(call, rig, name, &folder);
        if (exit_code == EX_EXIT_DONE)
            print_result(call, rig, project);
    }
    free(project);
    exi_folder_forget(&folder);
    return exit_code;
}

static int run(const ex_call *call) {
    if (!output)
        return exi_wrong_usage(call->command, "-o is required: it names the output folder");
    if (!exi_output_folder_check(output))
        return EX_EXIT_FAILED;
    ex_rig *rig = exi_rig_load(call->arguments[0], NULL);
    if (!rig)
        return EX_EXIT_FAILED;
    char *name = exi_path_stem(call->arguments[0]);
    int exit_code = name ? unpack(call, rig, name) : exi_failed_memory();
    free(name);
    ex_rig_destroy(rig);
    return exit_code;
}

const ex_command cmd_unpack = {
    .name = "unpack",
    .summary = "turn a rig back into a project",
    .usage = "unpack RIG.glb -o DIR [--force]",
    .description = "Writes DIR/RIG.json, with the rest mesh and the examples as OBJ files beside\n"
                   "it. Building that project gives a rig with the same bytes, so you can edit a\n"
                   "rig whose project is lost.",
    .examples = "exemplar unpack blob/blob.glb -o blob-again\n"
                "exemplar build blob-again/blob.json && cmp blob/blob.glb blob-again/blob.glb",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
