/* exemplar warp - builds a rig from forms, whose vertices move from one form to the others along trajectories. */
#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"
#include "cli/pose/forms.h"
#include "common/pool.h"
#include "warp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *output, *reference, *picture, *rigid, *basis_text;
static exi_warp_words words;
static ex_word_list at;
static bool report;
static int mixtures = -1; /* not given */

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "RIG.glb",
     .help = "output file of the rig (- is standard output); with --basis, of the form: " EXI_FORM_ENDINGS,
     .text = &output},
    {.name = "reference",
     .argument = "FILE",
     .help = "the form that the others start from (default: the first)",
     .text = &reference},
    {.name = "mode",
     .values = "guided|paper",
     .argument = "MODE",
     .help = "guided: follow as-rigid-as-possible forms between all of them; paper: minimise the energies of the "
             "trajectory-warping paper (default: guided)",
     .text = &words.mode},
    {.name = "iterations",
     .argument = "N",
     .help = "guided: iterations for the in-betweens of the report (default: 30); paper: most steps (default: 10)",
     .count = &words.iterations,
     .count_max = 1000},
    {.name = "correctors",
     .values = "auto",
     .argument = "N",
     .help = "guided: number of correctors of the rig, 0 to 64, or auto: as few as needed to follow closely (default: "
             "auto)",
     .text = &words.correctors},
    {.name = "terms",
     .argument = "LIST",
     .help = "paper: energies to use (default: pose,rotation,gradient)",
     .text = &words.terms},
    {.name = "weights",
     .argument = "LIST",
     .help = "paper: weights of the energies (default: pose=1,rotation=0.1,gradient=0.05)",
     .text = &words.weights},
    {.name = "bases", .help = "paper: add bases for segments that are children of others", .flag = &words.bases},
    {.name = "segment-angle",
     .argument = "DEGREES",
     .help = "with --bases: smallest angle between the turns of two segments (default: 20)",
     .text = &words.segment_angle},
    {.name = "root",
     .argument = "N",
     .help = "with --bases: the root of the segments (default: the largest in the middle)",
     .text = &words.root},
    {.name = "segments",
     .argument = "FILE",
     .help = "with --bases: lines 'face segment' that assign faces to segments (default: found)",
     .text = &words.segments},
    {.name = "report",
     .help = "print the stretch of triangles on the way, for this and other ways between the forms",
     .flag = &report},
    {.name = "picture",
     .values = ".png|.svg",
     .argument = "P.png",
     .help = "with --report: draw it as a chart, .png or .svg; for several forms, P-NAME.png each; and the worst "
             "mixture, coloured by stretch, as P-worst-mixture.png",
     .text = &picture},
    {.name = "mixtures",
     .argument = "N",
     .help = "with --report: number of random mixtures to measure besides the fixed ones (default: 20); 0: no "
             "mixtures at all",
     .count = &mixtures,
     .count_min = -1,
     .count_max = 10000},
    {.name = "rigid",
     .values = ".obj|.ply|.glb|.gltf",
     .argument = "FORM.obj",
     .help = "with --report: write the as-rigid-as-possible form of the worst mixture, to add it as an "
             "example: " EXI_FORM_ENDINGS,
     .text = &rigid},
    {.name = "basis",
     .argument = "K",
     .help = "write a form that shows only one basis: 0 the vertices' own, 1 that of segment 0, and so on",
     .text = &basis_text},
    {.name = "at",
     .argument = "T",
     .help = "with --basis: position on the way, or NAME=T for each of several forms (default: 1)",
     .words = &at},
};

/* ---- options ---- */

typedef struct wish {
    ex_warp_def def;
    const char **forms;
    int basis; /* -1: none */
} wish;

/* Splits the files into the reference and the others; false after printing an error. */
static bool take_files(const ex_call *call, wish *w) {
    int first = 0;
    while (reference && first < call->argument_count && strcmp(call->arguments[first], reference) != 0)
        first++;
    if (first == call->argument_count) {
        exi_wrong_usage(call->command, "--reference needs one of the forms, but '%s' is none of them", reference);
        return false;
    }
    w->forms = malloc((size_t)call->argument_count * sizeof *w->forms);
    if (!w->forms) {
        exi_failed_memory();
        return false;
    }
    for (int i = 0; i < call->argument_count; i++)
        if (i != first)
            w->forms[w->def.form_count++] = call->arguments[i];
    w->def.reference = call->arguments[first];
    w->def.forms = w->forms;
    w->def.segments = words.segments;
    return true;
}

static bool check_basis(const ex_call *call, wish *w) {
    char *end = NULL;
    w->basis = -1;
    if (!basis_text && at.count > 0) {
        exi_wrong_usage(call->command, "--at goes with --basis: 'exemplar pose' poses the rig");
        return false;
    }
    if (!basis_text)
        return true;
    const long number = strtol(basis_text, &end, 10);
    if (end == basis_text || *end || number < 0 || number > EX_SEGMENT_MAX) {
        exi_wrong_usage(call->command, "--basis needs a whole number from 0 to %d, not '%s'", EX_SEGMENT_MAX,
                        basis_text);
        return false;
    }
    w->basis = (int)number;
    if (report)
        exi_wrong_usage(call->command, "--basis writes only a form: it does not go with --report");
    return !report;
}

/* True if all outputs can be written. */
static bool check_outputs(const ex_call *call, const wish *w, int *exit_code) {
    const char *endings = w->basis >= 0 ? EXI_FORM_ENDINGS : ".glb";
    *exit_code = EX_EXIT_USAGE;
    if (!output && !report) {
        exi_wrong_usage(call->command, "-o is required: it names the output for the %s%s",
                        w->basis >= 0 ? "form" : "rig", w->basis >= 0 ? "" : ", unless --report is given");
        return false;
    }
    if (picture && !report) {
        exi_wrong_usage(call->command, "--picture goes with --report");
        return false;
    }
    if ((mixtures >= 0 || rigid) && !report) {
        exi_wrong_usage(call->command, "--%s goes with --report", rigid ? "rigid" : "mixtures");
        return false;
    }
    if (rigid && mixtures == 0) {
        exi_wrong_usage(call->command, "--rigid writes the worst mixture, but --mixtures 0 measures none");
        return false;
    }
    if (output && exi_is_standard_output(output) && (call->json || report)) {
        exi_wrong_usage(call->command, "the rig and %s cannot both go to standard output",
                        report ? "the report" : "--json");
        return false;
    }
    if (output && rigid && strcmp(output, rigid) == 0) {
        exi_wrong_usage(call->command, "-o and --rigid both name '%s': give each a file of its own", output);
        return false;
    }
    for (int i = 0; output && i < call->argument_count; i++)
        if (!exi_output_check(call->command, output, endings, call->arguments[i], exit_code))
            return false;
    for (int i = 0; rigid && i < call->argument_count; i++)
        if (!exi_output_check(call->command, rigid, EXI_FORM_ENDINGS, call->arguments[i], exit_code))
            return false;
    for (int i = 0; picture && i < call->argument_count; i++)
        if (!exi_output_check(call->command, picture, ".png or .svg", call->arguments[i], exit_code))
            return false;
    return true;
}

/* ---- the work ---- */

static void on_note(void *user, const char *text) {
    (void)user;
    exi_print_to(stderr, "exemplar: %s\n", text);
}

/* NULL after printing an error. */
static ex_rig *build(const ex_call *call, const wish *w, const ex_tasks *tasks) {
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    ex_rig *rig = NULL;
    exi_progress progress;
    exi_progress_start(&progress, call);
    ex_result result = ex_warp_project(&w->def, &project, &error);
    if (result == EX_OK)
        result = ex_project_build(
            project,
            &(ex_build_options){.progress = &progress.hook, .note = call->quiet ? NULL : on_note, .tasks = tasks}, &rig,
            &error);
    exi_progress_end(&progress);
    ex_project_destroy(project);
    if (result != EX_OK)
        exi_failed(&error);
    return rig;
}

static void print_form(const ex_call *call, const ex_rig *rig) {
    char vertices[EXI_TEXT_SIZE];
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "file", output);
        exi_emit_number(&json, "vertices", ex_rig_vertex_count(rig));
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet) {
        exi_print("%s: %s\n", output, exi_text_count(vertices, ex_rig_vertex_count(rig), "vertex"));
    }
}

static int write_basis(const ex_call *call, const ex_rig *rig, const wish *w, ex_rig_trajectories *paths) {
    const exi_form_wish how = {.level = 0};
    const size_t count = (size_t)ex_rig_vertex_count(rig);
    double *weights = malloc((size_t)paths->def.example_count * sizeof *weights);
    double *positions = malloc(3 * count * sizeof *positions);
    exi_form form = {.positions = NULL};
    ex_error error = {.result = EX_OK};
    int exit_code = EX_EXIT_FAILED;
    if (!weights || !positions || !exi_form_open(&form, rig, &how)) {
        exi_failed_memory();
    } else if (w->basis > paths->found.segments.count) {
        exi_failed_text(paths->found.segments.count > 0
                            ? "there is no basis %d: the forms have %d segments"
                            : "there is no basis %d: without --mode paper --bases, there is only basis 0",
                        w->basis, paths->found.segments.count);
    } else if (!exi_warp_weights_read(call, paths, &at, weights)) {
        exit_code = EX_EXIT_USAGE;
    } else {
        for (int k = 0; at.count == 0 && k < paths->def.example_count; k++)
            weights[k] = 1;
        bool done = ex_trajectories_form(&paths->found, &paths->def, weights, w->basis, positions);
        for (size_t i = 0; done && i < 3 * count; i++)
            form.positions[i] = (float)positions[i];
        if (!done)
            exi_failed_memory();
        else if (exi_form_write(&form, rig, &how, exi_is_standard_output(output) ? "/dev/stdout" : output, &error) !=
                 EX_OK)
            exi_failed(&error);
        else
            exit_code = EX_EXIT_DONE;
    }
    if (exit_code == EX_EXIT_DONE && !exi_is_standard_output(output))
        print_form(call, rig);
    exi_form_close(&form, rig);
    free(positions);
    free(weights);
    return exit_code;
}

static int finish(const ex_call *call, const ex_rig *rig, const wish *w, const ex_tasks *tasks, double start) {
    ex_error error = {.result = EX_OK};
    ex_rig_trajectories *paths = NULL;
    int exit_code = EX_EXIT_DONE;
    const bool to_stdout = output && exi_is_standard_output(output);
    if (output && w->basis < 0 && ex_rig_write(to_stdout ? "/dev/stdout" : output, rig, &error) != EX_OK)
        return exi_failed(&error);
    if (!report && w->basis < 0) {
        if ((call->json || !call->quiet) && !to_stdout)
            exi_rig_print_line(stdout, call->json, output, rig, exi_clock() - start, NULL);
        return EX_EXIT_DONE;
    }
    if (ex_rig_trajectories_open(rig, 0, &paths, &error) != EX_OK) {
        exit_code = exi_failed(&error);
    } else {
        paths->def.options = w->def.options;
        paths->def.tasks = tasks;
        const exi_warp_wish how = {.rig = output,
                                   .picture = picture,
                                   .reference = w->def.reference,
                                   .rigid = rigid,
                                   .built = rig,
                                   .mixtures = mixtures >= 0 ? mixtures : ex_mixture_options_default().random_count};
        exit_code = w->basis >= 0 ? write_basis(call, rig, w, paths) : exi_warp_report(call, paths, &how);
    }
    ex_rig_trajectories_close(paths);
    return exit_code;
}

static int run(const ex_call *call) {
    int exit_code = EX_EXIT_USAGE;
    wish w = {.basis = -1};
    if (call->argument_count < 2)
        return exi_wrong_usage(call->command, "at least two forms are needed: the reference, and one to warp it to");
    if (!check_basis(call, &w) || !exi_warp_options_read(call, &words, &w.def.options) ||
        !check_outputs(call, &w, &exit_code) || !take_files(call, &w)) {
        free(w.forms);
        return exit_code;
    }
    const double start = exi_clock();
    exi_pool *pool = exi_pool_create(call->threads);
    ex_rig *rig = build(call, &w, exi_pool_tasks(pool));
    exit_code = rig ? finish(call, rig, &w, exi_pool_tasks(pool), start) : EX_EXIT_FAILED;
    ex_rig_destroy(rig);
    exi_pool_destroy(pool);
    free(w.forms);
    return exit_code;
}

const ex_command cmd_warp = {
    .name = "warp",
    .summary = "warp one form into others along curved paths",
    .usage = "warp A B [C...] [--reference A] [--mode guided|paper] -o RIG.glb\n"
             "warp A B [C...] --report [--picture P.png] [-o RIG.glb]\n"
             "warp A B --mode paper --bases --basis K --at T -o FORM.obj",
    .description = "Takes forms with the same connectivity (.obj, .ply, .off, .glb or .gltf). For\n"
                   "every vertex, it finds a path from the first form to each of the others along\n"
                   "which parts rotate and keep their size, instead of shrinking on a straight\n"
                   "line. The rig evaluates these paths in closed form; it solves nothing. With two\n"
                   "forms, its axis is t, from 0 to 1. With more, each form but the reference has\n"
                   "an axis from 0 to 1, named after its file. 'exemplar unpack' makes a project\n"
                   "from it, to which you can add layers, a skeleton or other weighers.\n"
                   "\n"
                   "--report compares ways from one form to the other at t = 0.1 to 0.9: linear,\n"
                   "Poisson, as rigid as possible, a polynomial through such forms, and the\n"
                   "trajectory. It prints percentiles of the stretch of triangles, compared with\n"
                   "each triangle alone, and the numbers of flipped triangles and crossing pairs.\n"
                   "It also prints the distance of each component's centre from that of the\n"
                   "as-rigid-as-possible form, in parts of the mesh's size.\n"
                   "\n"
                   "Then it measures mixtures: points on all paths from t = 0.05 to 0.95, pairs\n"
                   "of forms, thirds of three, an equal share of all, and random weights. It\n"
                   "prints those that stretch most, compared with the as-rigid-as-possible form\n"
                   "at the same weights, and says what would mend the worst.",
    .examples = "exemplar demo blob\n"
                "exemplar warp blob/left.obj blob/right.obj -o warp.glb\n"
                "exemplar pose warp.glb t=0.5 -o half.obj\n"
                "exemplar warp blob/left.obj blob/right.obj --report",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 0,
    .argument_max = -1,
    .run = run,
};
