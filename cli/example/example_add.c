/* exemplar example add - adds a sculpt as an example, or places a pseudo-example. */
#include "example.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *layer, *name, *falloff, *scale_text;
static ex_word_list at, joints, from, weights;
static bool replace, pseudo, force;

static const ex_option options[] = {
    {.name = "name", .argument = "NAME", .help = "name of the example", .text = &name},
    {.name = "at",
     .argument = "AXIS=VALUE...",
     .help = "the pose it was sculpted at: axes as for 'exemplar pose', or joint:NAME=x20, which becomes an axis if "
             "none reads that joint",
     .words = &at},
    {.name = "joint",
     .argument = "NAME=VALUE...",
     .help = "other joints that were turned, joint:NAME=x20, which do not place the example in its space",
     .words = &joints},
    {.name = "layer",
     .argument = "LAYER",
     .help = "the layer it goes to (default: the layer whose space has the axes that --at moves from rest, or a new "
             "one)",
     .text = &layer},
    {.name = "falloff",
     .argument = "NUMBER",
     .help = "its falloff in the layer's space: a number in scaled units, or AXIS=NUMBER,... in the axes' units "
             "(default: the layer's)",
     .text = &falloff},
    {.name = "replace",
     .help = "replace the sculpt of the example at that pose, or without --at of the one with that name",
     .flag = &replace},
    {.name = "scale",
     .argument = "FACTOR",
     .help = "multiply the sculpt's positions by this, for a sculpt in another unit: 0.01 from centimetres to metres "
             "(default: 1)",
     .text = &scale_text},
    {.name = "force",
     .letter = 'f',
     .help = "take a sculpt that is 20 times as large or as small as the mesh, or far away from it",
     .flag = &force},
    {.name = "pseudo",
     .help = "place a pseudo-example, which has no form: with --layer, --at, and --from or --weights",
     .flag = &pseudo},
    {.name = "from",
     .argument = "AXIS=VALUE...",
     .help = "with --pseudo: the place whose weights it borrows",
     .words = &from},
    {.name = "weights",
     .argument = "EXAMPLE=WEIGHT...",
     .help = "with --pseudo: its weights (default: 0)",
     .words = &weights},
};

static int add_pseudo(const ex_call *call) {
    exi_change change;
    exi_said said;
    ex_error error = {.result = EX_OK};
    if (call->argument_count > 1)
        return exi_wrong_usage(call->command, "a pseudo-example has no form: '%s' is one argument too many",
                               call->arguments[1]);
    if (!layer || at.count == 0 || (from.count == 0) == (weights.count == 0))
        return exi_wrong_usage(call->command, "--pseudo needs --layer, --at, and either --from or --weights");
    if (name || falloff || replace || joints.count > 0 || scale_text || force)
        return exi_wrong_usage(call->command,
                               "--name, --joint, --falloff, --replace, --scale and --force do not go with --pseudo");
    if (!exi_change_open(&change, call, call->arguments[0]))
        return EX_EXIT_FAILED;
    ex_result result =
        exi_said_read(&change, (const ex_word_list[]){at, joints, from, weights}, falloff, &said, &error);
    if (result == EX_OK) {
        const ex_pseudo_place pseudo_place = {
            .layer = layer, .at = said.at, .from = said.from, .weights = said.weights};
        result = ex_project_add_pseudo(change.project, &pseudo_place, &change.options, &error);
    }
    exi_said_free(&said);
    const int exit_code = exi_change_end(&change, result, &error);
    if (exit_code == EX_EXIT_DONE && !call->quiet) {
        const ex_project_view *view = ex_project_get(change.project);
        int number = 0;
        while (number < view->layer_count && strcmp(view->layers[number].name, layer) != 0)
            number++;
        exi_print("%s: layer '%s', pseudo-example %d\n", call->arguments[0], layer, view->layers[number].pseudo_count);
    }
    exi_change_close(&change);
    return exit_code;
}

/* A new layer is held to zero at the examples of earlier layers. This tells sculptors, who may otherwise wonder why a
 * sculpt is gone at a pose between two others. The zero at rest is not mentioned. */
static void tell_zeros(const ex_project_layer *made) {
    const int count = made->zero_count - 1;
    if (count > 0)
        exi_failed_text("'%s' is held at zero at %d place%s where earlier layers have examples ('exemplar example "
                        "list' shows them); \"protect\": false in the layer removes them",
                        made->name, count, count == 1 ? "" : "s");
}

static bool read_scale(const ex_call *call, double *scale) {
    char *end = NULL;
    *scale = scale_text ? strtod(scale_text, &end) : 1;
    if (!scale_text || (end != scale_text && *end == '\0' && *scale > 0 && isfinite(*scale)))
        return true;
    exi_wrong_usage(call->command, "--scale needs a number above 0, not '%s'", scale_text);
    return false;
}

static int add_sculpt(const ex_call *call) {
    double scale;
    exi_change change;
    exi_said said;
    ex_error error = {.result = EX_OK};
    ex_sculpted made;
    if (call->argument_count < 2)
        return exi_wrong_usage(call->command, "the file of the sculpt is missing: an .obj, .ply, .off, .glb or .gltf");
    if (from.count > 0 || weights.count > 0)
        return exi_wrong_usage(call->command, "--from and --weights go with --pseudo");
    if (!replace && !name)
        return exi_wrong_usage(call->command, "--name is required: the name of the example");
    if (replace && !name && at.count == 0)
        return exi_wrong_usage(call->command, "--replace needs --at or --name: the example to replace");
    if (replace && falloff)
        return exi_wrong_usage(
            call->command,
            "an example keeps its falloff when its sculpt is replaced: 'exemplar example move' changes it");
    if (!read_scale(call, &scale))
        return EX_EXIT_USAGE;
    if (!exi_change_open(&change, call, call->arguments[0]))
        return EX_EXIT_FAILED;
    ex_result result =
        exi_said_read(&change, (const ex_word_list[]){at, joints, from, weights}, falloff, &said, &error);
    if (result == EX_OK) {
        const ex_sculpt sculpt = {.layer = layer,
                                  .name = name,
                                  .form = call->arguments[1],
                                  .at = said.at,
                                  .joints = said.joints,
                                  .falloff = said.falloff,
                                  .replace = replace,
                                  .scale = scale,
                                  .any_size = force};
        result = ex_project_add_sculpt(change.project, &sculpt, &change.options, &made, &error);
    }
    exi_said_free(&said);
    const int exit_code = exi_change_end(&change, result, &error);
    if (exit_code == EX_EXIT_DONE && made.new_layer && !call->quiet)
        tell_zeros(&ex_project_get(change.project)->layers[made.layer]);
    if (exit_code == EX_EXIT_DONE)
        exi_sculpted_print(&change, call->arguments[0], &made);
    exi_change_close(&change);
    return exit_code;
}

static int run(const ex_call *call) {
    if (!exi_words_check(call->command, &at, "at") || !exi_words_check(call->command, &joints, "joint") ||
        !exi_words_check(call->command, &from, "from") || !exi_words_check(call->command, &weights, "weights"))
        return EX_EXIT_USAGE;
    return pseudo ? add_pseudo(call) : add_sculpt(call);
}

const ex_command cmd_example_add = {
    .name = "example add",
    .summary = "add a sculpt to a project, at its pose",
    .usage = "example add PROJECT.json --name NAME --at axis=value... SCULPT\n"
             "example add PROJECT.json --replace --at axis=value... SCULPT\n"
             "example add PROJECT.json --pseudo --layer LAYER --at ... --from ...",
    .description = "SCULPT is the whole form at its pose, in the project's unit and up axis: an\n"
                   "OBJ, PLY, OFF or glTF file. It is copied to LAYER/NAME.obj beside the project,\n"
                   "unless it is already in the project's folder. Building un-poses it through the\n"
                   "skin and the earlier layers, and keeps the vertices that moved.\n"
                   "\n"
                   "The layer is chosen by the axes that --at moves from rest: a layer of offsets\n"
                   "over exactly these; else a layer of whole forms whose space has them, where the\n"
                   "sculpt is one more example; else a new layer of offsets, which is zero at the\n"
                   "poses of earlier sculpts. On a slider (an axis of a direct layer), --replace\n"
                   "at 1 makes the sculpt the shape of that slider. A sculpt at a value between 0\n"
                   "and 1, or at a combination of sliders, gets a layer of its own. The range of\n"
                   "an axis grows if needed. What later layers add at that pose is subtracted from\n"
                   "the form that is written.\n"
                   "\n"
                   "If another program changed the order of the vertices, they are matched by\n"
                   "texture coordinates, or by the positions of those that did not move. A sculpt\n"
                   "that was triangulated, whose vertices were merged or split, or that is in\n"
                   "another unit is refused, with advice.\n"
                   "\n"
                   "Prints one line: the number of vertices that moved, how far, how well the\n"
                   "sculpt is reproduced through all layers, and the earlier sculpt that changes\n"
                   "most at its own pose, if any does. Notes on stderr name the layer that was\n"
                   "chosen or added, and what looks wrong: a sculpt far from the form at its pose,\n"
                   "or weights that swing between poses. The rig is not built: build it before you\n"
                   "pose the next sculpt. An option with several values ends at the first word\n"
                   "without '='.\n"
                   "\n"
                   "In a layer weighed by a driver (--layer), --at names the driver's form, a file\n"
                   "in the project's folder: body=keys/body_101.obj.",
    .examples = "exemplar demo arm\n"
                "exemplar pose arm/arm.glb joint:forearm=x40 --level cage -o bent.obj\n"
                "# sculpt on bent.obj, then\n"
                "exemplar example add arm/arm.json --name bent --at joint:forearm=x40 bent.obj\n"
                "exemplar example add arm/arm.json --replace --at forearm.x=40 better.obj",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 2,
    .run = run,
};
