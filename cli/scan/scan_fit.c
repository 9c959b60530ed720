/* exemplar scan fit - fits a skeleton, its axes and all poses to named markers. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "common/pool.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *output, *loss_text, *skeleton, *bvh, *angles, *still, *up, *frames_text;
static bool even, rigid, free_bones, sum;
static int block;

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FIT.json",
     .help = "output file (default: fit.json in the session's folder; none for motion capture)",
     .text = &output},
    {.name = "loss",
     .argument = "LENGTH",
     .help = "distance in metres from which a marker counts less (default: 0.02); with 'none' all count alike, even "
             "wrong ones",
     .text = &loss_text},
    {.name = "skeleton",
     .values = "full|upper|.json",
     .argument = "NAME",
     .help = "motion capture: the skeleton to start from, full, upper or a file with markers (default: full)",
     .text = &skeleton},
    {.name = "bvh", .argument = "OUT.bvh", .help = "motion capture: write the motion to this file", .text = &bvh},
    {.name = "angles",
     .argument = "OUT.mot",
     .help = "motion capture: write joint angles in degrees to this file, for OpenSim (.mot) or as a table (.csv)",
     .text = &angles},
    {.name = "static",
     .argument = "FILE",
     .help = "motion capture: static trial of the same person, standing upright with flat feet (.c3d, .trc): bones and "
             "places of markers are found from it too, and it tells where angles are 0",
     .text = &still},
    {.name = "up",
     .argument = "AXIS",
     .help =
         "motion capture: up axis of the file, such as +Z (default: as the person stands, else as stated in the file)",
     .text = &up},
    {.name = "frames",
     .argument = "COUNT",
     .help = "motion capture: number of frames used to find the bones (default: 40)",
     .text = &frames_text},
    {.name = "free-bones",
     .help =
         "find bones from markers alone, as in the paper (default: they are drawn to the skeleton's, scaled to this "
         "person)",
     .flag = &free_bones},
    {.name = "block",
     .argument = "N",
     .help = "make one block of 100 scans, counting from 1, for --sum",
     .count = &block,
     .count_max = 1000000},
    {.name = "sum", .help = "sum all blocks and take a step, or end", .flag = &sum},
    {.name = "even", .help = "give markers that slide over the bone the same weight as others", .flag = &even},
    {.name = "rigid",
     .help = "fix markers to their bones (default: near a joint they follow both bones, in shares that are fitted)",
     .flag = &rigid},
};

/* ---- the result ---- */

static void print_json(const char *path, const ex_scan_fitted *fitted, const ex_kin_fit *fit) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "fit", path);
    exi_emit_number(&json, "scans", fit->scan_count);
    exi_emit_number(&json, "unknowns", fit->unknown_count);
    exi_emit_number(&json, "iterations", fit->iteration_count);
    exi_emit_number(&json, "seconds", fit->seconds);
    exi_emit_number(&json, "rms", fit->rms);
    exi_emit_number(&json, "outliers", fit->outlier_count);
    exi_emit_number(&json, "scale", fit->scale);
    exi_emit_open(&json, "left_out", '[');
    for (int i = 0; i < fitted->left_count; i++)
        exi_emit_text(&json, NULL, fitted->left_names[i]);
    exi_emit_close(&json, ']');
    exi_emit_open(&json, "undetermined", '[');
    for (int i = 0; i < fit->open_count; i++)
        exi_emit_text(&json, NULL, fit->opens[i].text);
    exi_emit_close(&json, ']');
    exi_emit_open(&json, "markers", '{');
    for (int i = 0; i < fit->kinematics->site_count; i++)
        exi_emit_number(&json, fit->kinematics->sites[i].name, fit->site_sigmas[i]);
    exi_emit_close(&json, '}');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

void exi_scan_print_bones(const ex_kinematics *kinematics) {
    char length[EXI_TEXT_SIZE];
    exi_print("  %-14s %-6s %10s  %s\n", "joint", "", "bone", "axis");
    for (int j = 1; j < kinematics->joint_count; j++) {
        const ex_kin_joint *joint = &kinematics->joints[j];
        const double *t = joint->translation;
        exi_print("  %-14s %-6s %10s", joint->name, ex_freedom_name(joint->freedom),
                  exi_text_length(length, sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])));
        if (joint->freedom == EX_FREEDOM_HINGE)
            exi_print("  %.3f %.3f %.3f", joint->axis[0], joint->axis[1], joint->axis[2]);
        exi_print("\n");
    }
}

static void print_text(const ex_call *call, const char *path, const ex_scan_fitted *fitted, const ex_kin_fit *fit) {
    char scans[EXI_TEXT_SIZE], rms[EXI_TEXT_SIZE], seconds[EXI_TEXT_SIZE];
    int worst = 0;
    for (int i = 1; i < fitted->scan_count; i++)
        worst = fitted->rms[i] > fitted->rms[worst] ? i : worst;
    exi_print("%s: %s, %d unknowns, %d iterations", path, exi_text_count(scans, fit->scan_count, "scan"),
              fit->unknown_count, fit->iteration_count);
    if (exi_report_is_terminal())
        exi_print(", %s", exi_text_seconds(seconds, fit->seconds));
    exi_print("\nmarkers are %s (rms) from where they are predicted, worst in '%s'", exi_text_length(rms, fit->rms),
              fitted->names[worst]);
    exi_print(" (%s); %d taken for false\n", exi_text_length(rms, fitted->rms[worst]), fit->outlier_count);
    if (!free_bones)
        exi_print("bones are drawn to the skeleton's, times %.3f\n", fit->scale);
    exi_scan_print_bones(fitted->kinematics);
    if (call->quiet)
        return;
    for (int i = 0; i < fitted->left_count; i++)
        exi_failed_text("scan %s is left out: %s", fitted->left_names[i], fitted->left_reasons[i]);
    for (int i = 0; i < fit->open_count; i++)
        exi_failed_text("%s", fit->opens[i].text);
}

/* ---- the command ---- */

static bool read_loss(const ex_call *call, double *loss) {
    const char *at = loss_text, *end = loss_text ? loss_text + strlen(loss_text) : NULL;
    if (!loss_text)
        return true;
    *loss = INFINITY;
    if (strcmp(loss_text, "none") == 0 || (ex_parse_double(&at, end, loss) && at == end && *loss > 0))
        return true;
    exi_wrong_usage(call->command, "--loss needs a length in metres above 0, or 'none', not '%s'", loss_text);
    return false;
}

static int fit_capture(const ex_call *call, double loss) {
    exi_scan_capture wish = {
        .output = output, .bvh = bvh, .angles = angles, .still = still, .skeleton = skeleton, .up = up, .loss = loss};
    const char *at = frames_text;
    if (even || rigid || free_bones)
        return exi_wrong_usage(call->command, "--%s goes with a session, but '%s' is motion capture",
                               even    ? "even"
                               : rigid ? "rigid"
                                       : "free-bones",
                               call->arguments[0]);
    if (frames_text && (!ex_parse_int(&at, frames_text + strlen(frames_text), &wish.frames) || *at || wish.frames < 1))
        return exi_wrong_usage(call->command, "--frames needs a number from 1 up, not '%s'", frames_text);
    return exi_scan_fit_capture(call, &wish);
}

static int fit_session(const ex_call *call, const ex_scan_session *session, double loss, const char *path) {
    exi_progress progress;
    ex_error error = {0};
    ex_scan_fitted *fitted = NULL;
    ex_kin_fit *fit = NULL;
    exi_pool *pool = exi_pool_create(call->threads);
    exi_progress_start(&progress, call);
    const ex_scan_fit_options how = {.loss = loss,
                                     .even = even,
                                     .rigid = rigid,
                                     .free_bones = free_bones,
                                     .progress = &progress.hook,
                                     .tasks = exi_pool_tasks(pool)};
    ex_result result = ex_scan_fit(session, &how, &fitted, &fit, &error);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    if (result == EX_OK)
        result = ex_scan_fitted_write(path, fitted, &error);
    if (result != EX_OK)
        exi_failed(&error);
    else if (call->json)
        print_json(path, fitted, fit);
    else
        print_text(call, path, fitted, fit);
    ex_scan_fitted_destroy(fitted);
    ex_kin_fit_destroy(fit);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

static int run(const ex_call *call) {
    double loss = 0;
    int exit_code = EX_EXIT_FAILED;
    if (!read_loss(call, &loss))
        return EX_EXIT_USAGE;
    const exi_file_kind kind = exi_file_kind_of(call->arguments[0]);
    if (kind == EXI_FILE_C3D || kind == EXI_FILE_TRC)
        return fit_capture(call, loss);
    if (skeleton || bvh || angles || still || up || frames_text)
        return exi_wrong_usage(call->command, "%s goes with motion capture (.c3d, .trc), but '%s' is not that",
                               skeleton ? "--skeleton"
                               : bvh    ? "--bvh"
                               : angles ? "--angles"
                               : still  ? "--static"
                               : up     ? "--up"
                                        : "--frames",
                               call->arguments[0]);
    if (block > 0 && sum)
        return exi_wrong_usage(call->command, "--sum comes after --block: give one of them");
    if (block > 0 || sum)
        return exi_scan_fit_blocks(call, block, sum);
    if (output && !exi_output_check(call->command, output, ".json", NULL, &exit_code))
        return exit_code;
    ex_scan_session *session = exi_scan_open_to_change(call);
    char *path = session && !output ? ex_scan_path(session, "", "fit", ".json") : NULL;
    if (session && !output && !path)
        exi_failed_memory();
    else if (session && (output || exi_output_writable(path)))
        exit_code = fit_session(call, session, loss, output ? output : path);
    free(path);
    ex_scan_session_destroy(session);
    return exit_code;
}

const ex_command cmd_scan_fit = {
    .name = "scan fit",
    .summary = "find bones, axes and poses from named markers",
    .usage = "scan fit DIR [-o FIT.json] [--loss LENGTH] [--even] [--rigid]\n"
             "scan fit DIR --block N | --sum\n"
             "scan fit FILE.c3d [--static FILE] [--angles OUT.mot] [--bvh OUT.bvh]",
    .description = "Reads labels/ of a session and finds everything that its skeleton leaves open,\n"
                   "all at once: the lengths and directions of bones, the axes of hinges, the\n"
                   "position of each marker on its bone, and the pose of every scan. Markers that\n"
                   "a scan does not show are left out; labels with a confidence below 0.9 are not\n"
                   "used. The paper's fit is --rigid --even --loss none --free-bones.\n"
                   "\n"
                   "Bones and axes are drawn to those of the skeleton, scaled to this person, so\n"
                   "that what skin hides cannot run away; left and right are alike within 8 mm.\n"
                   "The person may stand in any pose in the reference scan. Scans that do not fit\n"
                   "the others are left out and named. A result that no person could have is an\n"
                   "error, and nothing is written.\n"
                   "\n"
                   "One process fits 10 000 scans in a minute. Processes that share nothing but\n"
                   "files can fit more, from a fit.json of some scans: --block N for each block of\n"
                   "100 scans, at the same time, then --sum; this again until --sum says that it\n"
                   "is done and writes fit.json. Markers are fixed to their bones and have equal\n"
                   "weights then, as with --rigid --even, and no scan is left out.\n"
                   "\n"
                   "For motion capture (a C3D or TRC file), the same is found from its frames.\n"
                   "Markers are known by the names of Plug-in Gait, CMU, Helen Hayes, OpenSim's\n"
                   "gait2392 and Rajagopal, and clusters such as RTH1. Others are put on the bone\n"
                   "to which they keep their distance. Markers that changed places are put right,\n"
                   "false sightings left out, gaps filled with markers without a label. A line\n"
                   "says so for every marker that was not used, with the reason.\n"
                   "\n"
                   "Bones are found from some frames and from the static trial (--static), then\n"
                   "the pose of every frame. --bvh writes a motion for other rigs, --angles the\n"
                   "angles of joints with OpenSim's names. If the file has angles of its own\n"
                   "(Plug-in Gait's), they are compared. Force plates and other analogue channels\n"
                   "are skipped.\n"
                   "\n"
                   "Prints the bones and the distance of markers from their predicted positions.\n"
                   "Notes on stderr say what the markers do not determine, and which value it has\n"
                   "instead.",
    .examples = "exemplar scan fit body\n"
                "exemplar scan fit body --loss none -o plain.json\n"
                "exemplar scan fit walk.c3d --bvh walk.bvh\n"
                "exemplar scan fit walk.c3d --static static.c3d --angles walk.mot",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
