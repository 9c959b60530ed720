/* cli/scan/scan_capture.c - `exemplar scan fit FILE.c3d`: fits a moving skeleton to the markers of motion capture. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the result ---- */

static int count_used(const ex_capture *capture) {
    int count = 0;
    for (int m = 0; m < capture->marker_count; m++)
        count += capture->sites[m] >= 0;
    return count;
}

static int worst_frame(const ex_capture *capture) {
    int worst = 0;
    for (int f = 1; f < capture->frame_count; f++)
        if (!(capture->rms[f] <= capture->rms[worst]) && !isnan(capture->rms[f]))
            worst = f;
    return worst;
}

static void print_json(const ex_markers *markers, const ex_capture *capture) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_number(&json, "frames", capture->frame_count);
    exi_emit_number(&json, "first_frame", capture->first_frame);
    exi_emit_number(&json, "rate", capture->rate);
    exi_emit_text(&json, "up", markers->up);
    exi_emit_number(&json, "scale", capture->scale);
    exi_emit_number(&json, "rms", capture->error);
    exi_emit_number(&json, "sightings", capture->sighting_count);
    exi_emit_number(&json, "seconds", capture->seconds);
    exi_emit_open(&json, "markers", '{');
    for (int m = 0; m < markers->marker_count; m++)
        exi_emit_text(&json, markers->names[m],
                      capture->sites[m] >= 0 ? capture->kinematics->sites[capture->sites[m]].name : NULL);
    exi_emit_close(&json, '}');
    exi_emit_open(&json, "bones", '{');
    for (int j = 1; j < capture->kinematics->joint_count; j++) {
        const double *t = capture->kinematics->joints[j].translation;
        exi_emit_number(&json, capture->kinematics->joints[j].name, sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]));
    }
    exi_emit_close(&json, '}');
    exi_emit_open(&json, "undetermined", '[');
    for (int i = 0; i < capture->open_count; i++)
        exi_emit_text(&json, NULL, capture->opens[i].text);
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

/* Prints the problems that hold for all frames, then the number of frames in which each other joint could not be
 * found. */
static void print_open(const ex_capture *capture) {
    for (int i = 0; i < capture->open_count; i++)
        if (capture->opens[i].scan < 0)
            exi_failed_text("%s", capture->opens[i].text);
    for (int j = 0; j < capture->kinematics->joint_count; j++) {
        int count = 0;
        for (int i = 0; i < capture->open_count; i++)
            count += capture->opens[i].scan >= 0 && capture->opens[i].joint == j;
        char frames[EXI_TEXT_SIZE];
        if (count > 0)
            exi_failed_text("%s cannot be found in %s of those used to find the bones",
                            capture->kinematics->joints[j].name, exi_text_count(frames, count, "frame"));
    }
}

static void print_text(const ex_call *call, const ex_markers *markers, const ex_capture *capture) {
    char frames[EXI_TEXT_SIZE], rms[EXI_TEXT_SIZE], seconds[EXI_TEXT_SIZE];
    const int used = count_used(capture), worst = worst_frame(capture);
    exi_print("%s: %s, %d of %d markers used", call->arguments[0],
              exi_text_count(frames, capture->frame_count, "frame"), used, markers->marker_count);
    if (exi_report_is_terminal())
        exi_print(", %s", exi_text_seconds(seconds, capture->seconds));
    exi_print("\nmarkers are %s (rms) from where they are predicted", exi_text_length(rms, capture->error));
    exi_print(", worst in frame %d (%s)\n", capture->first_frame + worst, exi_text_length(rms, capture->rms[worst]));
    for (int m = 0, said = 0; m < markers->marker_count; m++)
        if (capture->sites[m] < 0)
            exi_print("%s%s", said++ ? ", " : "not used: ", markers->names[m]);
    if (used < markers->marker_count)
        exi_print("\n");
    exi_scan_print_bones(capture->kinematics);
    if (!call->quiet)
        print_open(capture);
}

/* ---- the command ---- */

static ex_result write_results(const exi_scan_capture *wish, const ex_capture *capture, ex_error *error) {
    ex_scan_fitted *fitted = NULL;
    ex_clip *clip = NULL;
    ex_result result = wish->output ? ex_capture_to_fitted(capture, &fitted, error) : EX_OK;
    if (result == EX_OK && wish->output)
        result = ex_scan_fitted_write(wish->output, fitted, error);
    if (result == EX_OK && wish->bvh)
        result = ex_capture_to_clip(capture, &clip, error);
    if (result == EX_OK && wish->bvh)
        result = ex_bvh_write(wish->bvh, clip, error);
    ex_clip_destroy(clip);
    ex_scan_fitted_destroy(fitted);
    return result;
}

static ex_result fit(const ex_call *call, const exi_scan_capture *wish, ex_markers *markers, ex_capture **capture,
                     ex_error *error) {
    ex_kinematics *skeleton = NULL;
    exi_progress progress;
    ex_result result = wish->up ? ex_markers_set_up(markers, wish->up, error) : EX_OK;
    if (result == EX_OK)
        result = ex_kinematics_read(wish->skeleton ? wish->skeleton : "full", &skeleton, error);
    if (result == EX_OK) {
        exi_pool *pool = exi_pool_create(call->threads);
        exi_progress_start(&progress, call);
        const ex_capture_options how = {.kinematics = skeleton,
                                        .frames = wish->frames,
                                        .loss = wish->loss,
                                        .progress = &progress.hook,
                                        .tasks = exi_pool_tasks(pool)};
        result = ex_capture_fit(markers, &how, capture, error);
        exi_progress_end(&progress);
        exi_pool_destroy(pool);
    }
    ex_kinematics_destroy(skeleton);
    return result;
}

int exi_scan_fit_capture(const ex_call *call, const exi_scan_capture *wish) {
    ex_error error = {0};
    ex_markers *markers = NULL;
    ex_capture *capture = NULL;
    const char *path = call->arguments[0];
    int exit_code = EX_EXIT_USAGE;
    if (wish->bvh && !exi_output_check(call->command, wish->bvh, ".bvh", path, &exit_code))
        return exit_code;
    if (wish->output && !exi_output_check(call->command, wish->output, ".json", path, &exit_code))
        return exit_code;
    ex_result result = exi_file_kind_of(path) == EXI_FILE_TRC ? ex_trc_read(path, &markers, &error)
                                                              : ex_c3d_read(path, &markers, &error);
    if (result == EX_OK)
        result = fit(call, wish, markers, &capture, &error);
    if (result == EX_OK)
        result = write_results(wish, capture, &error);
    if (result != EX_OK)
        exi_failed(&error);
    else if (call->json)
        print_json(markers, capture);
    else
        print_text(call, markers, capture);
    ex_capture_destroy(capture);
    ex_markers_destroy(markers);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}
