/* exemplar example move, remove, mute - changes examples without touching a form. */
#include "example.h"

#include <string.h>

static const char *layer, *name, *index_text, *falloff;
static ex_word_list at, joints, from, weights;
static bool off;

#define NAME_OPTION                                                                                                    \
    { .name = "name", .argument = "NAME", .help = "name of the example", .text = &name }
#define LAYER_OPTION                                                                                                   \
    {                                                                                                                  \
        .name = "layer", .argument = "LAYER",                                                                          \
        .help = "its layer; required if several layers have an example of that name, and for pseudo-examples",         \
        .text = &layer                                                                                                 \
    }
#define PSEUDO_OPTION                                                                                                  \
    {                                                                                                                  \
        .name = "pseudo", .argument = "NUMBER", .help = "a pseudo-example of the layer instead, counting from 1",      \
        .text = &index_text                                                                                            \
    }

/* Requires exactly one of --name, and --pseudo with --layer; *number is the pseudo-example's, or -1. */
static bool check_which(const ex_call *call, int *number) {
    *number = -1;
    if (!name == !index_text) {
        exi_wrong_usage(call->command, "--name NAME is required, or --layer LAYER --pseudo NUMBER");
        return false;
    }
    if (index_text && !layer) {
        exi_wrong_usage(call->command, "--pseudo needs --layer: pseudo-examples are numbered within their layer");
        return false;
    }
    if (index_text)
        *number = exi_number_read(call->command, "pseudo", index_text) - 1;
    return !index_text || *number >= 0;
}

/* Ends a change and prints "PROJECT: example 'bent' moved". */
static int end(exi_change *change, ex_result result, const ex_error *error, const char *verb) {
    const int exit_code = exi_change_end(change, result, error);
    const ex_call *call = change->call;
    if (exit_code == EX_EXIT_DONE && !call->quiet && index_text)
        exi_print("%s: pseudo-example %s of layer '%s' %s\n", call->arguments[0], index_text, layer, verb);
    else if (exit_code == EX_EXIT_DONE && !call->quiet)
        exi_print("%s: %s '%s' %s\n", call->arguments[0], name ? "example" : "layer", name ? name : layer, verb);
    exi_change_close(change);
    return exit_code;
}

/* ---- move ---- */

static const ex_option move_options[] = {
    NAME_OPTION,
    LAYER_OPTION,
    {.name = "at", .argument = "AXIS=VALUE...", .help = "its new place; other axes keep their values", .words = &at},
    {.name = "joint",
     .argument = "NAME=VALUE...",
     .help = "other joints that are turned, in place of those it has",
     .words = &joints},
    {.name = "falloff",
     .argument = "NUMBER",
     .help =
         "its new falloff: a number in scaled units, AXIS=NUMBER,... in the axes' units, or 'layer' for the layer's",
     .text = &falloff},
    PSEUDO_OPTION,
    {.name = "from",
     .argument = "AXIS=VALUE...",
     .help = "with --pseudo: the place whose weights it borrows",
     .words = &from},
    {.name = "weights", .argument = "EXAMPLE=WEIGHT...", .help = "with --pseudo: its weights", .words = &weights},
};

static int run_move(const ex_call *call) {
    exi_change change;
    exi_said said;
    ex_error error = {.result = EX_OK};
    int number;
    if (!check_which(call, &number) || !exi_words_check(call->command, &at, "at") ||
        !exi_words_check(call->command, &joints, "joint") || !exi_words_check(call->command, &from, "from") ||
        !exi_words_check(call->command, &weights, "weights"))
        return EX_EXIT_USAGE;
    if (number < 0 && (from.count > 0 || weights.count > 0))
        return exi_wrong_usage(call->command, "--from and --weights go with --pseudo");
    if (number >= 0 && falloff)
        return exi_wrong_usage(call->command,
                               "--falloff is for examples; set that of a pseudo-example in the project file");
    if (number >= 0 && (joints.count > 0 || (from.count > 0 && weights.count > 0)))
        return exi_wrong_usage(call->command, "a pseudo-example has no --joint, and takes either --from or --weights");
    if (at.count + joints.count + from.count + weights.count == 0 && !falloff)
        return exi_wrong_usage(call->command, "--at or --falloff is required: the new place, or the new reach");
    if (!exi_change_open(&change, call, call->arguments[0]))
        return EX_EXIT_FAILED;
    const bool as_layer = falloff && strcmp(falloff, "layer") == 0;
    ex_result result = exi_said_read(&change, (const ex_word_list[]){at, joints, from, weights},
                                     as_layer ? NULL : falloff, &said, &error);
    const ex_pseudo_place place = {.layer = layer, .at = said.at, .from = said.from, .weights = said.weights};
    const ex_example_move move = {
        .at = said.at, .joints = said.joints, .falloff = said.falloff, .layer_falloff = as_layer};
    if (result == EX_OK)
        result = number >= 0 ? ex_project_move_pseudo(change.project, &place, number, &change.options, &error)
                             : ex_project_move_example(change.project, (ex_example_ref){layer, name}, &move,
                                                       &change.options, &error);
    exi_said_free(&said);
    return end(&change, result, &error, at.count + joints.count + from.count + weights.count > 0 ? "moved" : "changed");
}

const ex_command cmd_example_move = {
    .name = "example move",
    .summary = "move an example to another place in its layer's space",
    .usage = "example move PROJECT.json --name NAME --at axis=value...\n"
             "example move PROJECT.json --name NAME --falloff axis=number,...\n"
             "example move PROJECT.json --layer LAYER --pseudo NUMBER --at ...",
    .description = "Changes the pose of an example, for example one whose pose was typed wrongly,\n"
                   "or the place of a pseudo-example. The sculpt's file stays the same, and is\n"
                   "un-posed from the new pose. The difference between the two poses then counts\n"
                   "as sculpted: 'exemplar example list --moved' shows how much that is. --falloff\n"
                   "alone leaves the example where it is, and changes its reach.",
    .examples = "exemplar example move arm/arm.json --name bent --at forearm.x=45\n"
                "exemplar example move blob/blob.json --layer blob --pseudo 1 --at bend=0.9",
    .options = move_options,
    .option_count = sizeof move_options / sizeof move_options[0],
    .argument_min = 1,
    .argument_max = 1,
    .run = run_move,
};

/* ---- remove ---- */

static const ex_option remove_options[] = {NAME_OPTION, LAYER_OPTION, PSEUDO_OPTION};

static int run_remove(const ex_call *call) {
    exi_change change;
    ex_error error = {.result = EX_OK};
    int number;
    if (!check_which(call, &number))
        return EX_EXIT_USAGE;
    if (!exi_change_open(&change, call, call->arguments[0]))
        return EX_EXIT_FAILED;
    const ex_result result =
        number >= 0 ? ex_project_remove_pseudo(change.project, layer, number, &change.options, &error)
                    : ex_project_remove_example(change.project, (ex_example_ref){layer, name}, &change.options, &error);
    return end(&change, result, &error, "removed");
}

const ex_command cmd_example_remove = {
    .name = "example remove",
    .summary = "remove an example from a project",
    .usage = "example remove PROJECT.json --name NAME [--layer LAYER]\n"
             "example remove PROJECT.json --layer LAYER --pseudo NUMBER",
    .description = "Removes the example from the project; the file of its sculpt stays on disk. A\n"
                   "layer that loses its last example is removed too, with a note on stderr. To\n"
                   "leave an example out for a while, mute it.",
    .examples = "exemplar example remove arm/arm.json --name bent\n"
                "exemplar example remove blob/blob.json --layer blob --pseudo 1",
    .options = remove_options,
    .option_count = sizeof remove_options / sizeof remove_options[0],
    .argument_min = 1,
    .argument_max = 1,
    .run = run_remove,
};

/* ---- mute ---- */

static const ex_option mute_options[] = {
    {.name = "name", .argument = "NAME", .help = "name of the example (default: the whole layer)", .text = &name},
    {.name = "layer", .argument = "LAYER", .help = "the layer, or the example's layer", .text = &layer},
    {.name = "off", .help = "unmute it", .flag = &off},
};

static int run_mute(const ex_call *call) {
    exi_change change;
    ex_error error = {.result = EX_OK};
    if (!name && !layer)
        return exi_wrong_usage(call->command, "--name NAME is required, or --layer LAYER for a whole layer");
    if (!exi_change_open(&change, call, call->arguments[0]))
        return EX_EXIT_FAILED;
    const ex_result result =
        ex_project_mute(change.project, (ex_example_ref){layer, name}, !off, &change.options, &error);
    return end(&change, result, &error, off ? "unmuted" : "muted");
}

const ex_command cmd_example_mute = {
    .name = "example mute",
    .summary = "leave out an example, or a layer, for a while",
    .usage = "example mute PROJECT.json --name NAME [--layer LAYER] [--off]\n"
             "example mute PROJECT.json --layer LAYER [--off]",
    .description = "A muted example stays in the project but is not built. A muted layer is built,\n"
                   "but left out of evaluation, and later layers are measured without it. --off\n"
                   "unmutes either.",
    .examples = "exemplar example mute arm/arm.json --layer forearm.x\n"
                "exemplar example mute arm/arm.json --layer forearm.x --off",
    .options = mute_options,
    .option_count = sizeof mute_options / sizeof mute_options[0],
    .argument_min = 1,
    .argument_max = 1,
    .run = run_mute,
};
