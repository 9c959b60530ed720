/* cli/scan/scan_capture.c - `exemplar scan fit FILE.c3d`: fits a moving skeleton to the markers of motion capture. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "common/pool.h"

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

/* Prints the reader's notes, and the contents of the file that are not markers. */
static void print_notes(const char *path, const ex_markers *markers) {
    char text[EXI_TEXT_SIZE];
    for (int i = 0; i < markers->note_count; i++)
        exi_failed_text("%s: %s", path, markers->notes[i]);
    if (markers->analogue_count > 0)
        exi_failed_text("%s: %s skipped: only markers are used", path,
                        exi_text_count(text, markers->analogue_count, "analogue channel"));
    if (markers->other_count > 0)
        exi_failed_text("%s: %s of another program skipped: forces, moments, powers or numbers", path,
                        exi_text_count(text, markers->other_count, "result"));
}

static void print_markers_json(exi_emitter *json, const ex_capture *capture) {
    exi_emit_open(json, "markers", '{');
    for (int m = 0; m < capture->marker_count; m++)
        exi_emit_text(json, capture->markers[m].name,
                      capture->sites[m] >= 0 ? capture->kinematics->sites[capture->sites[m]].name : NULL);
    exi_emit_close(json, '}');
    exi_emit_open(json, "marker_notes", '[');
    for (int m = 0; m < capture->marker_count; m++) {
        const ex_capture_marker *marker = &capture->markers[m];
        const int site = capture->sites[m];
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "marker", marker->name);
        exi_emit_text(json, "joint",
                      site >= 0 ? capture->kinematics->joints[capture->kinematics->sites[site].joint].name : NULL);
        exi_emit_text(json, "text", marker->text);
        exi_emit_number(json, "swapped_count", marker->swapped_count);
        exi_emit_number(json, "dropped_count", marker->dropped_count);
        exi_emit_number(json, "filled_count", marker->filled_count);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

static void print_compared_json(exi_emitter *json, const ex_capture_compared *compared, int count) {
    exi_emit_open(json, "compared", '[');
    for (int i = 0; i < count; i++) {
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "angle", compared[i].name);
        exi_emit_text(json, "other", compared[i].other);
        exi_emit_number(json, "rms", compared[i].rms);
        exi_emit_number(json, "mean", compared[i].mean);
        exi_emit_number(json, "spread", compared[i].spread);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

static void print_json(const ex_markers *markers, const ex_capture *capture, const ex_capture_compared *compared,
                       int compared_count) {
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
    print_markers_json(&json, capture);
    exi_emit_open(&json, "notes", '[');
    for (int i = 0; i < markers->note_count; i++)
        exi_emit_text(&json, NULL, markers->notes[i]);
    for (int i = 0; i < capture->note_count; i++)
        exi_emit_text(&json, NULL, capture->notes[i]);
    exi_emit_close(&json, ']');
    print_compared_json(&json, compared, compared_count);
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
    char bare[200] = "";
    size_t used = 0;
    for (int i = 0; i < capture->note_count; i++)
        exi_failed_text("%s", capture->notes[i]);
    for (int i = 0; i < capture->open_count; i++) {
        const ex_kin_open *open = &capture->opens[i];
        if (open->scan >= 0)
            continue;
        if (strstr(open->text, "has no markers") == NULL)
            exi_failed_text("%s", open->text);
        else if (used < sizeof bare)
            used += (size_t)snprintf(bare + used, sizeof bare - used, "%s%.40s", used > 0 ? ", " : "",
                                     capture->kinematics->joints[open->joint].name);
    }
    if (used > 0)
        exi_failed_text("no markers on %s%s: these joints keep the skeleton's pose", bare,
                        used < sizeof bare ? "" : " and others");
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

/* "  bone of the name: RTH1 RTH2 on hip.R, RSK1 on knee.R": markers whose names tell the bone only. */
static void print_by_bone(const ex_capture *capture) {
    bool any = false;
    for (int j = 0; j < capture->kinematics->joint_count; j++) {
        bool here = false;
        for (int m = 0; m < capture->marker_count; m++)
            if (capture->sites[m] >= 0 && capture->kinematics->sites[capture->sites[m]].joint == j &&
                strncmp(capture->markers[m].text, "by its name", 11) == 0) {
                exi_print("%s%s", here ? " " : any ? ", " : "  bone of the name: ", capture->markers[m].name);
                any = here = true;
            }
        if (here)
            exi_print(" on %s", capture->kinematics->joints[j].name);
    }
    if (any)
        exi_print("\n");
}

/* Markers that are not used, or not by their name alone. */
static void print_uses(const ex_capture *capture) {
    char text[EXI_TEXT_SIZE];
    print_by_bone(capture);
    for (int used = 1; used >= 0; used--)
        for (int m = 0; m < capture->marker_count; m++) {
            const ex_capture_marker *marker = &capture->markers[m];
            if ((capture->sites[m] >= 0) != (used == 1))
                continue;
            if (!used)
                exi_print("  not used: %s: %s\n", marker->name, marker->text);
            else if (marker->text[0] && strncmp(marker->text, "by its name", 11) != 0)
                exi_print("  %s: %s\n", marker->name, marker->text);
            if (used && marker->dropped_count > 0)
                exi_print("  %s: left out of %s, too far from where the others predict it\n", marker->name,
                          exi_text_count(text, marker->dropped_count, "frame"));
            if (used && marker->filled_count > 0)
                exi_print("  %s: a marker without a label taken for it in %s\n", marker->name,
                          exi_text_count(text, marker->filled_count, "frame"));
        }
}

static void print_compared(const ex_capture_compared *compared, int count) {
    if (count > 0)
        exi_print("  %-18s %-22s %8s %8s %8s\n", "angle", "of the file", "rms", "mean", "spread");
    for (int i = 0; i < count; i++)
        exi_print("  %-18s %-22s %6.2f° %6.2f° %6.2f°\n", compared[i].name, compared[i].other, compared[i].rms,
                  compared[i].mean, compared[i].spread);
}

static void print_text(const ex_call *call, const ex_capture *capture, const ex_capture_compared *compared, int count) {
    char frames[EXI_TEXT_SIZE], rms[EXI_TEXT_SIZE], seconds[EXI_TEXT_SIZE];
    const int used = count_used(capture), worst = worst_frame(capture);
    exi_print("%s: %s, %d of %d markers used", call->arguments[0],
              exi_text_count(frames, capture->frame_count, "frame"), used, capture->marker_count);
    if (exi_report_is_terminal())
        exi_print(", %s", exi_text_seconds(seconds, capture->seconds));
    exi_print("\nmarkers are %s (rms) from where they are predicted", exi_text_length(rms, capture->error));
    exi_print(", worst in frame %d (%s)\n", capture->first_frame + worst, exi_text_length(rms, capture->rms[worst]));
    print_uses(capture);
    exi_scan_print_bones(capture->kinematics);
    print_compared(compared, count);
    if (!call->quiet)
        print_open(capture);
}

/* ---- the command ---- */

static ex_result write_results(const exi_scan_capture *wish, const ex_capture *capture, const ex_capture_angles *angles,
                               ex_error *error) {
    ex_scan_fitted *fitted = NULL;
    ex_clip *clip = NULL;
    ex_result result = wish->output ? ex_capture_to_fitted(capture, &fitted, error) : EX_OK;
    if (result == EX_OK && wish->output)
        result = ex_scan_fitted_write(wish->output, fitted, error);
    if (result == EX_OK && wish->bvh)
        result = ex_capture_to_clip(capture, &clip, error);
    if (result == EX_OK && wish->bvh)
        result = ex_bvh_write(wish->bvh, clip, error);
    if (result == EX_OK && wish->angles)
        result = ex_capture_angles_write(wish->angles, angles, error);
    ex_clip_destroy(clip);
    ex_scan_fitted_destroy(fitted);
    return result;
}

static ex_result read_markers(const ex_call *call, const char *path, const char *up, ex_markers **markers,
                              ex_error *error) {
    ex_result result = ex_markers_read(path, markers, error);
    if (result == EX_OK && !call->json && !call->quiet)
        print_notes(path, *markers);
    return result == EX_OK && up ? ex_markers_set_up(*markers, up, error) : result;
}

static ex_result fit(const ex_call *call, const exi_scan_capture *wish, const ex_markers *markers,
                     const ex_markers *still, ex_capture **capture, ex_error *error) {
    ex_kinematics *skeleton = NULL;
    exi_progress progress;
    ex_result result = ex_kinematics_read(wish->skeleton ? wish->skeleton : "full", &skeleton, error);
    if (result == EX_OK) {
        exi_pool *pool = exi_pool_create(call->threads);
        exi_progress_start(&progress, call);
        const ex_capture_options how = {.kinematics = skeleton,
                                        .still = still,
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

/* True if all outputs can be written. */
static bool check_outputs(const ex_call *call, const exi_scan_capture *wish, int *exit_code) {
    const char *path = call->arguments[0];
    if (wish->bvh && !exi_output_check(call->command, wish->bvh, ".bvh", path, exit_code))
        return false;
    if (wish->angles && !exi_output_check(call->command, wish->angles,
                                          ex_path_ends_with(wish->angles, ".csv") ? ".csv" : ".mot", path, exit_code))
        return false;
    return !wish->output || exi_output_check(call->command, wish->output, ".json", path, exit_code);
}

int exi_scan_fit_capture(const ex_call *call, const exi_scan_capture *wish) {
    ex_error error = {0};
    ex_markers *markers = NULL, *still = NULL;
    ex_capture *capture = NULL;
    ex_capture_angles *angles = NULL;
    ex_capture_compared *compared = NULL;
    int exit_code = EX_EXIT_USAGE, count = 0;
    if (!check_outputs(call, wish, &exit_code))
        return exit_code;
    ex_result result = read_markers(call, call->arguments[0], wish->up, &markers, &error);
    if (result == EX_OK && wish->still)
        result = read_markers(call, wish->still, wish->up, &still, &error);
    if (result == EX_OK)
        result = fit(call, wish, markers, still, &capture, &error);
    if (result == EX_OK)
        result = ex_capture_to_angles(capture, &angles, &error);
    if (result == EX_OK)
        result = ex_capture_compare(angles, markers, &compared, &count, &error);
    if (result == EX_OK)
        result = write_results(wish, capture, angles, &error);
    if (result != EX_OK)
        exi_failed(&error);
    else if (call->json)
        print_json(markers, capture, compared, count);
    else
        print_text(call, capture, compared, count);
    free(compared);
    ex_capture_angles_destroy(angles);
    ex_capture_destroy(capture);
    ex_markers_destroy(still);
    ex_markers_destroy(markers);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}
