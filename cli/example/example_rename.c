/* exemplar example rename - gives an example, a layer or an axis another name. */
#include "example.h"

#include <string.h>

static const char *layer, *kind_text;

static const ex_option options[] = {
    {.name = "layer",
     .argument = "LAYER",
     .help = "the example's layer; required if several layers have an example of that name",
     .text = &layer},
    {.name = "kind",
     .argument = "KIND",
     .values = "example|layer|axis",
     .help = "example, layer or axis: the thing that is renamed (default: example)",
     .text = &kind_text},
};

static int run(const ex_call *call) {
    static const char *const kinds[] = {"example", "layer", "axis"};
    const char *const *words = call->arguments;
    exi_change change;
    ex_error error = {.result = EX_OK};
    int kind = 0;
    while (kind_text && kind < 3 && strcmp(kind_text, kinds[kind]) != 0)
        kind++;
    if (kind == 3)
        return exi_wrong_usage(call->command, "--kind needs example, layer or axis, not '%s'", kind_text);
    if (kind != EX_RENAME_EXAMPLE && layer)
        return exi_wrong_usage(call->command, "--layer names the layer of an example; it does not go with --kind %s",
                               kinds[kind]);
    if (!exi_change_open(&change, call, words[0]))
        return EX_EXIT_FAILED;
    const ex_rename rename = {.kind = (ex_rename_kind)kind, .layer = layer, .name = words[1], .to = words[2]};
    const ex_result result = ex_project_rename(change.project, &rename, &change.options, &error);
    const int exit_code = exi_change_end(&change, result, &error);
    if (exit_code == EX_EXIT_DONE && !call->quiet)
        exi_print("%s: %s '%s' is now '%s'\n", words[0], kinds[kind], words[1], words[2]);
    exi_change_close(&change);
    return exit_code;
}

const ex_command cmd_example_rename = {
    .name = "example rename",
    .summary = "give an example, a layer or an axis another name",
    .usage = "example rename PROJECT.json EXAMPLE NEW [--layer LAYER]\n"
             "example rename PROJECT.json --kind layer|axis OLD NEW",
    .description = "Everything in the project that refers to it is renamed too: weights of\n"
                   "pseudo-examples, places, falloffs, and the axis in all layers. Files keep their\n"
                   "names. The slider of a shape that has the shape's name is renamed with it.\n"
                   "Build the rig again afterwards; tables and motions that name an axis have to be\n"
                   "changed by hand.",
    .examples = "exemplar example rename arm/arm.json bent elbow_90\n"
                "exemplar example rename arm/arm.json --kind axis forearm.x bend",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .argument_min = 3,
    .argument_max = 3,
    .run = run,
};
