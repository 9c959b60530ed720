/* exemplar scan build - computes the displacement maps of all scans, and builds the rig. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/rigs.h"
#include "common/pool.h"

#include <stdlib.h>
#include <string.h>

static bool keep_cage, force, cage_only, measure;
static ex_word_list names;

static const ex_option options[] = {
    {.name = "keep-cage", .help = "do not move the template's control points to the scans", .flag = &keep_cage},
    {.name = "force", .help = "make all maps again, even if they are up to date", .flag = &force},
    {.name = "cage-only", .help = "refit the cage, and make nothing else", .flag = &cage_only},
    {.name = "scan",
     .argument = "NAME",
     .help = "make the map of this scan, and nothing else; may be given several times",
     .words = &names},
    {.name = "measure", .help = "with --scan: only measure, before holes are filled", .flag = &measure},
};

/* True if a step is about this scan. */
static bool is_about(const ex_scan_build_options *how, int scan) {
    return how->step == EX_SCAN_BUILD_ALL || (how->step != EX_SCAN_BUILD_CAGE && how->scans[scan]);
}

/* Says what a step made. */
static void print_step(const ex_scan_session *session, const ex_scan_build_options *how, const ex_scan_built *built) {
    char before[EXI_TEXT_SIZE], after[EXI_TEXT_SIZE], count[EXI_TEXT_SIZE];
    if (how->step == EX_SCAN_BUILD_CAGE)
        exi_print("%s: control points were %s (rms) from the average scans, and %s after refitting once\n",
                  session->folder, exi_text_length(before, built->refitted), exi_text_length(after, built->remaining));
    else if (how->step == EX_SCAN_BUILD_MEASURE)
        exi_print("%s: %s measured, %d of them before\n", session->folder, exi_text_count(count, names.count, "scan"),
                  built->kept_count);
    for (int i = 0; i < built->scan_count && how->step == EX_SCAN_BUILD_MAP; i++) {
        const ex_scan_coverage *c = &built->scans[i];
        if (c->hit > 0)
            exi_print("%s: %.1f %% measured, %.1f %% lent, %.1f %% filled\n", session->scans[i].name, 100 * c->hit,
                      100 * c->lent, 100 * (1 - c->hit - c->lent));
    }
    if (how->step == EX_SCAN_BUILD_MAP)
        exi_print("%s: %s, %d maps were there\n", session->folder, exi_text_count(count, names.count, "scan"),
                  built->kept_count);
}

static void print_text(const ex_scan_session *session, const ex_scan_built *built) {
    char before[EXI_TEXT_SIZE], after[EXI_TEXT_SIZE];
    double hit = 0, lent = 0, least = 2;
    int count = 0, worst = 0;
    for (int i = 0; i < built->scan_count; i++) {
        const ex_scan_coverage *c = &built->scans[i];
        if (c->hit == 0)
            continue; /* not in the fit */
        count++;
        hit += c->hit;
        lent += c->lent;
        if (c->hit < least) {
            least = c->hit;
            worst = i;
        }
    }
    exi_print("%s: a cage of %d vertices and %d faces, %d vertices at level %d\n", session->folder, built->vertex_count,
              built->face_count, built->level_count, built->level);
    if (!keep_cage)
        exi_print("control points were %s (rms) from the average scans, and %s after refitting once\n",
                  exi_text_length(before, built->refitted), exi_text_length(after, built->remaining));
    if (count == 0)
        return;
    exi_print("%d maps (%d were there): %.1f %% measured, %.1f %% lent, %.1f %% filled; least in '%s', %.1f %%\n",
              count, built->kept_count, 100 * hit / count, 100 * lent / count, 100 * (1 - hit / count - lent / count),
              session->scans[worst].name, 100 * least);
}

static void print_json(const ex_scan_session *session, const ex_scan_build_options *how, const ex_scan_built *built) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "session", session->folder);
    exi_emit_number(&json, "cage_vertices", built->vertex_count);
    exi_emit_number(&json, "cage_faces", built->face_count);
    exi_emit_number(&json, "level", built->level);
    exi_emit_number(&json, "vertices", built->level_count);
    exi_emit_number(&json, "refitted", built->refitted);
    exi_emit_number(&json, "remaining", built->remaining);
    exi_emit_open(&json, "scans", '[');
    for (int i = 0; i < built->scan_count; i++) {
        if (!is_about(how, i))
            continue;
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", session->scans[i].name);
        exi_emit_number(&json, "measured", built->scans[i].hit);
        exi_emit_number(&json, "lent", built->scans[i].lent);
        exi_emit_number(&json, "filled", built->scans[i].filled);
        exi_emit_number(&json, "rms", built->scans[i].rms);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_open(&json, "left_out", '[');
    for (int i = 0; i < built->left_count; i++)
        if (built->left_out[i].part < 0 && is_about(how, built->left_out[i].scan))
            exi_emit_text(&json, NULL, session->scans[built->left_out[i].scan].name);
    exi_emit_close(&json, ']');
    exi_emit_open(&json, "left_out_parts", '[');
    for (int i = 0; i < built->left_count; i++) {
        if (built->left_out[i].part < 0 || !is_about(how, built->left_out[i].scan))
            continue;
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "scan", session->scans[built->left_out[i].scan].name);
        exi_emit_text(&json, "part", session->parts[built->left_out[i].part].name);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

/* Builds the rig from the project. */
static ex_result build_rig(const ex_scan_session *session, const ex_progress *progress, const ex_tasks *tasks,
                           ex_rig **rig, ex_error *error) {
    char *project_path = ex_scan_path(session, "", "body", ".json"), *path = ex_scan_path(session, "", "body", ".glb");
    ex_project *project = NULL;
    ex_result result = project_path && path ? ex_project_read(project_path, &project, error) : EX_ERROR_MEMORY;
    if (!project_path || !path)
        *error = (ex_error){.result = EX_ERROR_MEMORY, .text = "not enough memory"};
    if (result == EX_OK)
        result = ex_project_build(project, &(ex_build_options){.progress = progress, .tasks = tasks}, rig, error);
    if (result == EX_OK)
        result = ex_rig_write(path, *rig, error);
    ex_project_destroy(project);
    free(project_path);
    free(path);
    return result;
}

/* Says which scans are left out; of scans that were asked for, also those that the fit does not have. */
static void print_left_out(const ex_scan_build_options *how, const ex_scan_fitted *fitted, const ex_scan_built *built) {
    for (int i = 0; i < built->left_count; i++)
        if (is_about(how, built->left_out[i].scan))
            exi_failed_text("%s", built->left_out[i].text);
    for (int k = 0; k < names.count; k++) {
        bool fits = false;
        for (int i = 0; i < fitted->scan_count && !fits; i++)
            fits = strcmp(fitted->names[i], names.words[k]) == 0;
        if (!fits)
            exi_failed_text("scan '%s' is not in the fit, so it has no map", names.words[k]);
    }
}

static int build(const ex_call *call, const ex_scan_session *session, const ex_scan_fitted *fitted, const bool *scans) {
    exi_progress progress;
    ex_error error = {0};
    ex_scan_built *built = NULL;
    ex_rig *rig = NULL;
    const double start = exi_clock();
    exi_pool *pool = exi_pool_create(call->threads);
    exi_progress_start(&progress, call);
    const ex_scan_build_options how = {.keep_cage = keep_cage,
                                       .force = force,
                                       .progress = &progress.hook,
                                       .tasks = exi_pool_tasks(pool),
                                       .scans = scans,
                                       .step = cage_only          ? EX_SCAN_BUILD_CAGE
                                               : names.count == 0 ? EX_SCAN_BUILD_ALL
                                               : measure          ? EX_SCAN_BUILD_MEASURE
                                                                  : EX_SCAN_BUILD_MAP};
    ex_result result = ex_scan_build(session, fitted, &how, &built, &error);
    if (result == EX_OK && how.step == EX_SCAN_BUILD_ALL)
        result = build_rig(session, how.progress, how.tasks, &rig, &error);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    char *path = ex_scan_path(session, "", "body", ".glb");
    if (result == EX_OK && !call->quiet)
        print_left_out(&how, fitted, built);
    if (result != EX_OK) {
        exi_failed(&error);
    } else if (call->json) {
        print_json(session, &how, built);
    } else if (!call->quiet && how.step != EX_SCAN_BUILD_ALL) {
        print_step(session, &how, built);
    } else if (!call->quiet) {
        print_text(session, built);
        exi_rig_print_line(stdout, false, path ? path : "body.glb", rig, exi_clock() - start, NULL);
    }
    free(path);
    ex_rig_destroy(rig);
    ex_scan_built_destroy(built);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

static int run_person(const ex_call *call, const ex_scan_session *session) {
    if (names.count > 0 || cage_only) {
        exi_failed_text("'%s' has a template person, and so neither a cage nor maps: give --scan to 'exemplar scan "
                        "carry'",
                        session->folder);
        return EX_EXIT_FAILED;
    }
    const bool writable = exi_scan_can_write(session, "", "body.glb") && exi_scan_can_write(session, "", "fit.json") &&
                          exi_scan_can_write(session, "", "poses.csv");
    return writable ? exi_scan_make_person(call, session, false, NULL) : EX_EXIT_FAILED;
}

/* True if the files of this step can be written. */
static bool can_write(const ex_scan_session *session) {
    if (cage_only)
        return exi_scan_can_write(session, "", "cage.obj") && exi_scan_can_write(session, "", "skeleton.glb");
    if (names.count > 0)
        return exi_scan_can_write(session, measure ? "measured" : "maps", "");
    return exi_scan_can_write(session, "", "body.glb") && exi_scan_can_write(session, "", "body.json") &&
           exi_scan_can_write(session, "maps", "");
}

static int run(const ex_call *call) {
    if (measure && names.count == 0)
        return exi_wrong_usage(call->command, "--measure needs the name of a scan: --scan NAME");
    if (cage_only && names.count > 0)
        return exi_wrong_usage(call->command, "--cage-only comes before --scan: give one of them");
    /* Maps of different scans may be made at the same time: each process writes files of its own. */
    ex_scan_session *session = names.count > 0 ? exi_scan_open(call) : exi_scan_open_to_change(call);
    if (session && session->person) {
        const int made = run_person(call, session);
        ex_scan_session_destroy(session);
        return made;
    }
    bool *scans = session ? exi_scan_choose(session, &names) : NULL;
    ex_scan_fitted *fitted = scans && can_write(session) ? exi_scan_open_fit(session) : NULL;
    const int exit_code = fitted ? build(call, session, fitted, scans) : EX_EXIT_FAILED;
    free(scans);
    ex_scan_fitted_destroy(fitted);
    ex_scan_session_destroy(session);
    return exit_code;
}

const ex_command cmd_scan_build = {
    .name = "scan build",
    .summary = "make displacement maps of all scans, and the rig",
    .usage = "scan build DIR [--keep-cage] [--force]\n"
             "scan build DIR --cage-only [--keep-cage]\n"
             "scan build DIR --scan NAME ... [--measure] [--force]",
    .description = "Moves the template's control points until its smooth surface runs through an\n"
                   "average scan of each part. Records the distance of every scan from that\n"
                   "surface along its normals (maps/), and fills the parts that a scan does not\n"
                   "show. Writes body.json, a project in which each body part is a layer of\n"
                   "displacements, weighed by the nearest scans and blended into its neighbours by\n"
                   "a mask; then builds body.glb. Left parts become right parts if scan.json has\n"
                   "\"mirror\".\n"
                   "\n"
                   "With a template person, makes skeleton, skin weights and layers from the\n"
                   "registered scans instead, and writes body.glb, fit.json, and poses.csv, a\n"
                   "motion through the poses of the scans. If that is no body (bones that no\n"
                   "person has, torn skin, a limb that no scan shows, scans that are centimetres\n"
                   "off), nothing is written but wrong.png, a picture of it. The dials of body.glb\n"
                   "are girth, height, and lengths of trunk, arms and legs.\n"
                   "\n"
                   "A map says what it was made from. Maps that are up to date are kept, so an\n"
                   "interrupted build continues where it stopped.\n"
                   "\n"
                   "The work can be divided among processes, and the files are the same. First run\n"
                   "--cage-only; then --scan NAME --measure for every scan, in any order and at the\n"
                   "same time; then --scan NAME for every scan, likewise; at last 'scan build DIR',\n"
                   "which finds all maps and makes the rest. The second round is needed if scans\n"
                   "lend detail to each other (\"lend\" in scan.json): without measured/, each\n"
                   "process measures all scans of the part itself.",
    .examples = "exemplar scan build body\n"
                "exemplar scan build body --scan arm_03\n"
                "exemplar pose body/body.glb elbow.L=90 -o bent.obj",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
