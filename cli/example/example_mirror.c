/* exemplar example mirror - mirrors examples sculpted on one side to the other. */
#include "example.h"

#include "cli/base/emit.h"
#include "cli/base/words.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *layer, *name, *as, *plane_text, *tolerance_text;
static bool replace, force, all;

static const ex_option options[] = {
    {.name = "name", .argument = "NAME", .help = "name of the example", .text = &name},
    {.name = "layer",
     .argument = "LAYER",
     .help = "its layer, if several have an example of that name; without --name, mirror the whole layer",
     .text = &layer},
    {.name = "all", .help = "mirror all examples of a side to the other: --all L R", .flag = &all},
    {.name = "as",
     .argument = "NAME",
     .help = "name of the mirror image (default: its name with left and right exchanged)",
     .text = &as},
    {.name = "plane",
     .values = "x|y|z",
     .argument = "PLANE",
     .help = "coordinate to mirror: x, y or z, or x=0.1 for a plane elsewhere, in the project's unit (default: found "
             "from the mesh as it stands and from joints in pairs)",
     .text = &plane_text},
    {.name = "tolerance",
     .argument = "SIZES",
     .help = "largest distance of a counterpart from the mirror image, in sizes of the mesh (default: 0.0001 for "
             "symmetric vertices, 0.1 by topology, 0.02 for the nearest point)",
     .text = &tolerance_text},
    {.name = "replace", .help = "replace the sculpt of an example at the mirrored pose", .flag = &replace},
    {.name = "force", .help = "the same as --replace, for all examples of a layer or a side", .flag = &force},
};

static bool read_number(const char *text, double *value) {
    const char *at = text, *end = text + strlen(text);
    return ex_parse_double(&at, end, value) && at == end;
}

static ex_side read_side(const char *text) {
    if (strcasecmp(text, "l") == 0 || strcasecmp(text, "left") == 0)
        return EX_SIDE_LEFT;
    return strcasecmp(text, "r") == 0 || strcasecmp(text, "right") == 0 ? EX_SIDE_RIGHT : EX_SIDE_NONE;
}

/* Reads the options; false after printing an error. */
static bool read_mirroring(const ex_call *call, ex_mirroring *mirroring) {
    *mirroring = (ex_mirroring){.layer = layer, .name = name, .as = as, .replace = replace || force};
    const ex_side from = call->argument_count > 1 ? read_side(call->arguments[1]) : EX_SIDE_NONE;
    const ex_side to = call->argument_count > 2 ? read_side(call->arguments[2]) : EX_SIDE_NONE;
    if (all && (from == EX_SIDE_NONE || to == EX_SIDE_NONE || from == to || name || layer)) {
        exi_wrong_usage(call->command, name || layer
                                           ? "--all mirrors every example of a side: leave --name and --layer "
                                             "out"
                                           : "--all needs the two sides: --all L R, or --all R L");
        return false;
    }
    if (!all && call->argument_count > 1) {
        exi_wrong_usage(call->command, "'%s' is one too many: two sides are given with --all", call->arguments[1]);
        return false;
    }
    if (!all && !name && !layer) {
        exi_wrong_usage(
            call->command,
            "--name NAME is required: the example to mirror; or --layer LAYER for a whole layer, or --all L "
            "R for a side");
        return false;
    }
    mirroring->from = all ? from : EX_SIDE_NONE;
    if (as && !name) {
        exi_wrong_usage(call->command, "--as names one example: it needs --name");
        return false;
    }
    if (plane_text) {
        mirroring->plane = plane_text[0];
        if (!plane_text[0] || !strchr("xyz", plane_text[0]) ||
            (plane_text[1] && (plane_text[1] != '=' || !read_number(plane_text + 2, &mirroring->offset)))) {
            exi_wrong_usage(call->command,
                            "--plane needs x, y or z, or one of them with a position such as x=0.1, not '%s'",
                            plane_text);
            return false;
        }
    }
    if (tolerance_text && (!read_number(tolerance_text, &mirroring->tolerance) || !(mirroring->tolerance > 0))) {
        exi_wrong_usage(call->command, "--tolerance needs a number above 0, not '%s'", tolerance_text);
        return false;
    }
    return true;
}

/* ---- the result ---- */

/* Formats "x=0", or "0.966 x - 0.259 z = 0.01". */
static const char *text_plane(char buffer[EXI_TEXT_SIZE], const ex_mirrored *one) {
    size_t length = 0;
    buffer[0] = 0;
    for (int c = 0; c < 3; c++) {
        if (fabs(one->normal[c]) == 1) {
            snprintf(buffer, EXI_TEXT_SIZE, "%c=%.4g", "xyz"[c], one -> normal[c] * one -> offset + 0.0);
            return buffer;
        }
        if (fabs(one->normal[c]) > 5e-4)
            snprintf(buffer + length, EXI_TEXT_SIZE - length, "%s%.3g %c",
                     length == 0          ? ""
                     : one->normal[c] < 0 ? " - "
                                          : " + ",
                     length == 0 ? one->normal[c] : fabs(one->normal[c]), "xyz"[c]);
        length = strlen(buffer);
    }
    snprintf(buffer + length, EXI_TEXT_SIZE - length, " = %.4g", one->offset + 0.0);
    return buffer;
}

/* Prints how the counterparts were found: "  about x=0: 43 vertices by the symmetric mesh; …". */
static void print_match(const ex_mirrored *one) {
    static const char *const ways[EX_MATCH_COUNT] = {[EX_MATCH_SYMMETRIC] = "by symmetric positions",
                                                     [EX_MATCH_TOPOLOGY] = "by topology",
                                                     [EX_MATCH_NEAREST] = "by the nearest point of the surface"};
    char plane[EXI_TEXT_SIZE], count[EXI_TEXT_SIZE];
    const bool small = one->farthest < 0.1;
    const char *between = "";
    /* The mesh may be bound in any unit, and turned: numbers of its plane would not help. */
    exi_print("  mirrored about %s:",
              one->as_bound ? "the plane of symmetry of the mesh as bound" : text_plane(plane, one));
    for (int i = 0; i < EX_MATCH_COUNT; i++)
        if (one->matched[i] > 0) {
            exi_print("%s %s %s", between, exi_text_count(count, one->matched[i], "vertex"), ways[i]);
            between = ",";
        }
    if (!between[0])
        exi_print(" no vertex moves\n");
    else
        exi_print("; counterparts within %.2g %s of the mirror images\n", small ? 1000 * one->farthest : one->farthest,
                  small ? "mm" : "m");
}

static void emit_match(exi_emitter *json, const ex_mirrored *one) {
    exi_emit_open(json, "matched", '{');
    for (int i = 0; i < EX_MATCH_COUNT; i++)
        exi_emit_number(json, ex_match_name((ex_match)i), one->matched[i]);
    exi_emit_close(json, '}');
    exi_emit_number(json, "counterpart_distance", one->farthest);
    exi_emit_open(json, "plane", '{');
    exi_emit_open(json, "normal", '[');
    for (int c = 0; c < 3; c++)
        exi_emit_number(json, NULL, one->normal[c]);
    exi_emit_close(json, ']');
    exi_emit_number(json, "offset", one->offset);
    exi_emit_bool(json, "as_bound", one->as_bound);
    exi_emit_close(json, '}');
}

static void print_json(const exi_change *change, const char *path, const ex_mirrored *made, int count) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "project", path);
    if (name) {
        exi_sculpted_emit(change, &json, &made->sculpted);
        emit_match(&json, made);
    } else {
        exi_emit_open(&json, "mirrored", '[');
        for (int i = 0; i < count; i++) {
            exi_emit_open(&json, NULL, '{');
            exi_sculpted_emit(change, &json, &made[i].sculpted);
            emit_match(&json, &made[i]);
            exi_emit_close(&json, '}');
        }
        exi_emit_close(&json, ']');
    }
    exi_notes_emit(change, &json);
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static int run(const ex_call *call) {
    exi_change change;
    ex_error error = {.result = EX_OK};
    ex_mirrored *made = NULL;
    int count = 0;
    ex_mirroring mirroring;
    if (!read_mirroring(call, &mirroring))
        return EX_EXIT_USAGE;
    if (!exi_change_open(&change, call, call->arguments[0]))
        return EX_EXIT_FAILED;
    const ex_result result = ex_project_mirror(change.project, &mirroring, &change.options, &made, &count, &error);
    const int exit_code = exi_change_end(&change, result, &error);
    if (exit_code == EX_EXIT_DONE && call->json)
        print_json(&change, call->arguments[0], made, count);
    for (int i = 0; exit_code == EX_EXIT_DONE && !call->json && !call->quiet && i < count; i++) {
        exi_sculpted_print(&change, call->arguments[0], &made[i].sculpted);
        print_match(&made[i]);
    }
    free(made);
    exi_change_close(&change);
    return exit_code;
}

const ex_command cmd_example_mirror = {
    .name = "example mirror",
    .summary = "add the mirror images of examples",
    .usage = "example mirror PROJECT.json --name NAME [--as NAME]\n"
             "example mirror PROJECT.json --layer LAYER\n"
             "example mirror PROJECT.json --all L R",
    .description = "Mirrors a sculpt or a morph target to the other side: its offset from the form\n"
                   "at the same pose without it. So only the vertices that it moves need\n"
                   "counterparts, and the mesh may be asymmetric elsewhere. Counterparts are\n"
                   "vertices at the mirror image on the mesh as it stands at rest, else vertices\n"
                   "with the mirrored faces around them, else the nearest point of the surface.\n"
                   "The output says how many of each, and how far from the image they are.\n"
                   "\n"
                   "Counterparts of joints are found by name: LeftArm and RightArm, arm_L and\n"
                   "arm_R, arm.l and arm.r, l_arm and r_arm; and by position, if that name is of a\n"
                   "joint elsewhere or there is none. The joints' own axes may lie anyhow: what is\n"
                   "mirrored is how they turn in the world.\n"
                   "\n"
                   "The mirror image goes to the layer with the mirrored axes. If there is none,\n"
                   "one is made, with axes that have the same values on the other side and a\n"
                   "mirrored mask. A layer over the spine mirrors to itself. A morph target smile_L\n"
                   "of a direct layer becomes smile_R, with a slider of its own.\n"
                   "\n"
                   "--layer without --name mirrors a whole layer, with its pseudo-examples. --all L\n"
                   "R mirrors every example of the left side, by the names of joints and dials, or\n"
                   "of examples where those have no side. Examples that are already there are\n"
                   "listed, and replaced with --force only.\n"
                   "\n"
                   "Layers of paths, displacement maps, images and drivers are not mirrored, nor\n"
                   "examples with a skeleton of their own. Those of the chosen side are named.",
    .examples = "exemplar example mirror arms.json --name bent_L\n"
                "exemplar example mirror arms.json --all L R --force\n"
                "exemplar example mirror arms.json --name lean --as lean_right --plane z",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 3,
    .run = run,
};
