/* exemplar example mirror - mirrors examples sculpted on one side to the other. */
#include "example.h"

#include <exemplar/author/base.h>

#include <string.h>

static const char *layer, *name, *as, *plane_text, *tolerance_text;
static bool replace;

static const ex_option options[] = {
    {.name = "name", .argument = "NAME", .help = "name of the example", .text = &name},
    {.name = "layer",
     .argument = "LAYER",
     .help = "its layer, if several have an example of that name",
     .text = &layer},
    {.name = "as",
     .argument = "NAME",
     .help = "name of the mirror image (default: its name with left and right exchanged)",
     .text = &as},
    {.name = "plane",
     .values = "x|y|z",
     .argument = "PLANE",
     .help = "coordinate to mirror: x, y or z, or x=0.1 for a plane elsewhere, in the project's unit (default: x)",
     .text = &plane_text},
    {.name = "tolerance",
     .argument = "SIZES",
     .help = "largest distance of a vertex from its counterpart, in sizes of the mesh (default: 0.0001)",
     .text = &tolerance_text},
    {.name = "replace", .help = "replace the sculpt of an example at the mirrored pose", .flag = &replace},
};

static bool read_number(const char *text, double *value) {
    const char *at = text, *end = text + strlen(text);
    return ex_parse_double(&at, end, value) && at == end;
}

static int run(const ex_call *call) {
    exi_change change;
    ex_error error = {.result = EX_OK};
    ex_sculpted made;
    ex_mirroring mirroring = {.layer = layer, .name = name, .as = as, .replace = replace};
    if (!name)
        return exi_wrong_usage(call->command, "--name NAME is required: the example to mirror");
    if (plane_text) {
        mirroring.plane = plane_text[0] - 'x';
        if (mirroring.plane < 0 || mirroring.plane > 2 ||
            (plane_text[1] && (plane_text[1] != '=' || !read_number(plane_text + 2, &mirroring.offset))))
            return exi_wrong_usage(call->command,
                                   "--plane needs x, y or z, or one of them with a position such as x=0.1, not '%s'",
                                   plane_text);
    }
    if (tolerance_text && (!read_number(tolerance_text, &mirroring.tolerance) || !(mirroring.tolerance > 0)))
        return exi_wrong_usage(call->command, "--tolerance needs a number above 0, not '%s'", tolerance_text);
    if (!exi_change_open(&change, call, call->arguments[0]))
        return EX_EXIT_FAILED;
    const ex_result result = ex_project_mirror_example(change.project, &mirroring, &change.options, &made, &error);
    const int exit_code = exi_change_end(&change, result, &error);
    if (exit_code == EX_EXIT_DONE)
        exi_sculpted_print(&change, call->arguments[0], &made);
    exi_change_close(&change);
    return exit_code;
}

const ex_command cmd_example_mirror = {
    .name = "example mirror",
    .summary = "add the mirror image of an example",
    .usage = "example mirror PROJECT.json --name NAME [--as NAME] [--plane x|y|z]",
    .description = "Mirrors the sculpt through the counterparts of the vertices at rest, and the\n"
                   "pose through those of the joints. Counterparts of joints are found by name:\n"
                   "LeftArm and RightArm, arm_L and arm_R, arm.l and arm.r, l_arm and r_arm; a\n"
                   "joint without a side is its own. The mirror image goes to the layer with the\n"
                   "mirrored axes. If there is none, one is made, with axes that have the same\n"
                   "values on the other side and, if the layer has a mask by joints, the mirrored\n"
                   "mask. A layer over the spine mirrors to itself.\n"
                   "\n"
                   "The mesh must be symmetric about the plane, and so must the positions of the\n"
                   "joints at rest; the directions of their own axes do not matter.",
    .examples = "exemplar example mirror arms.json --name bent_L\n"
                "exemplar example mirror arms.json --name lean --as lean_right --plane z",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
