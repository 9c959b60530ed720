/* exemplar scan report - measures the quality of a scanned body. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "common/pool.h"

#include <math.h>

static const char *picture;

static const ex_option options[] = {
    {.name = "picture",
     .argument = "DIR",
     .help = "template person: write DIR/NAME.png, each scan's body from the front and the back, coloured by its "
             "distance from the scan",
     .text = &picture},
};

/* ---- text ---- */

static void print_distance(const char *what, const ex_scan_distance *d, const ex_scan_distance *body) {
    char rms[EXI_TEXT_SIZE], high[EXI_TEXT_SIZE];
    if (d->count == 0)
        return;
    exi_print("  %-38s %10s %10s", what, exi_text_length(rms, d->rms), exi_text_length(high, d->high));
    if (d != body && d->rms > 0)
        exi_print("  the body has %.2f of it", body->rms / d->rms);
    exi_print("\n");
}

static void print_surfaces(const char *what, const ex_scan_surfaces *s) {
    char poses[EXI_TEXT_SIZE];
    if (s->pose_count == 0)
        return;
    exi_print("%s, %s:\n  %-38s %10s %10s\n", what, exi_text_count(poses, s->pose_count, "pose"), "", "rms", "95 %");
    print_distance("the body", &s->body, &s->body);
    print_distance("the template without displacements", &s->plain, &s->body);
    print_distance("displacements of the nearest scan", &s->nearest, &s->body);
    print_distance("displacements of the reference", &s->old, &s->body);
}

static void print_truth(const ex_scan_report *r) {
    const ex_scan_labels *l = &r->labels;
    exi_print("joint angles: %.2f degrees from the truth (rms), at most %.2f (%s in '%s'); %d not determined, %d scans "
              "left out\n",
              r->joints.angle_rms, r->joints.angle_high, r->joints.angle_joint, r->joints.angle_scan,
              r->joints.open_count, r->joints.left_out);
    exi_print("bones: at most %.1f mm off across hinge axes (%s); axes: at most %.2f degrees (%s)\n",
              1000 * r->joints.place, r->joints.place_joint, r->joints.axis, r->joints.axis_joint);
    if (l->sure > 0 && l->visible > 0)
        exi_print("labels: %.2f %% of %d called sure are right; of %d visible markers %.1f %% are named for sure\n",
                  100.0 * l->right / l->sure, l->sure, l->visible, 100.0 * l->had / l->visible);
}

static void print_text(const ex_scan_session *session, const ex_scan_report *r) {
    char count[EXI_TEXT_SIZE], rms[EXI_TEXT_SIZE], worst[EXI_TEXT_SIZE];
    exi_print("%s: %s; markers %s (rms) from where they are predicted, worst in '%s' (%s)\n", session->folder,
              exi_text_count(count, r->scan_count, "scan"), exi_text_length(rms, r->marker_rms), r->worst_scan,
              exi_text_length(worst, r->worst_rms));
    exi_print("maps: %.1f %% measured, %.1f %% lent, %.1f %% filled\n", 100 * r->hit, 100 * r->lent, 100 * r->filled);
    print_surfaces("scans predicted from the others, along the normals", &r->left_out);
    if (!r->truth)
        return;
    print_truth(r);
    print_surfaces("poses never scanned, against the true surface", &r->held);
}

/* ---- JSON ---- */

static void emit_distance(exi_emitter *json, const char *key, const ex_scan_distance *d) {
    if (d->count == 0)
        return;
    exi_emit_open(json, key, '{');
    exi_emit_number(json, "rms", d->rms);
    exi_emit_number(json, "p95", d->high);
    exi_emit_number(json, "vertices", d->count);
    exi_emit_close(json, '}');
}

static void emit_surfaces(exi_emitter *json, const char *key, const ex_scan_surfaces *s) {
    exi_emit_open(json, key, '{');
    exi_emit_number(json, "poses", s->pose_count);
    emit_distance(json, "body", &s->body);
    emit_distance(json, "template", &s->plain);
    emit_distance(json, "nearest", &s->nearest);
    emit_distance(json, "reference", &s->old);
    exi_emit_close(json, '}');
}

static void print_json(const ex_scan_session *session, const ex_scan_report *r) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "session", session->folder);
    exi_emit_number(&json, "scans", r->scan_count);
    exi_emit_number(&json, "marker_rms", r->marker_rms);
    exi_emit_number(&json, "measured", r->hit);
    exi_emit_number(&json, "lent", r->lent);
    exi_emit_number(&json, "filled", r->filled);
    emit_surfaces(&json, "left_out", &r->left_out);
    if (r->truth) {
        exi_emit_open(&json, "truth", '{');
        exi_emit_number(&json, "angle_rms", r->joints.angle_rms);
        exi_emit_number(&json, "angle_most", r->joints.angle_high);
        exi_emit_number(&json, "angles_undetermined", r->joints.open_count);
        exi_emit_number(&json, "scans_left_out", r->joints.left_out);
        exi_emit_number(&json, "bone_most", r->joints.place);
        exi_emit_text(&json, "bone_joint", r->joints.place_joint);
        exi_emit_number(&json, "axis_most", r->joints.axis);
        exi_emit_text(&json, "axis_joint", r->joints.axis_joint);
        exi_emit_number(&json, "sure", r->labels.sure);
        exi_emit_number(&json, "sure_right", r->labels.right);
        exi_emit_number(&json, "visible", r->labels.visible);
        exi_emit_number(&json, "visible_sure", r->labels.had);
        emit_surfaces(&json, "held", &r->held);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static int run(const ex_call *call) {
    ex_scan_session *session = exi_scan_open(call);
    if (session && session->person) {
        const int reported = picture && !exi_output_folder_check(picture)
                                 ? EX_EXIT_FAILED
                                 : exi_scan_make_person(call, session, true, picture);
        ex_scan_session_destroy(session);
        return reported;
    }
    if (session && picture) {
        exi_failed_text("%s: --picture needs a template person, and this session has a cage", session->folder);
        ex_scan_session_destroy(session);
        return EX_EXIT_FAILED;
    }
    ex_scan_fitted *fitted = session ? exi_scan_open_fit(session) : NULL;
    ex_result result = EX_ERROR_FILE;
    if (fitted) {
        ex_scan_report report;
        ex_error error = {0};
        exi_progress progress;
        exi_pool *pool = exi_pool_create(call->threads);
        exi_progress_start(&progress, call);
        result = ex_scan_measure(session, fitted, exi_pool_tasks(pool), &progress.hook, &report, &error);
        exi_progress_end(&progress);
        exi_pool_destroy(pool);
        if (result != EX_OK)
            exi_failed(&error);
        else if (call->json)
            print_json(session, &report);
        else
            print_text(session, &report);
    }
    ex_scan_fitted_destroy(fitted);
    ex_scan_session_destroy(session);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

const ex_command cmd_scan_report = {
    .name = "scan report",
    .summary = "measure how good a scanned body is",
    .usage = "scan report DIR [--picture DIR] [--json]",
    .description = "Prints the distance of markers from their predicted positions, and the share\n"
                   "of the maps that was measured. Predicts every scan from the others of its part\n"
                   "and compares it with the scan: this is the error to expect at a pose that was\n"
                   "never scanned. Beside it are the template alone, the nearest scan alone, and\n"
                   "the displacements of the reference pose.\n"
                   "\n"
                   "With a template person, every scan is left out once: skeleton, skin weights and\n"
                   "layers are made from the others, and the scan is predicted from its pose.\n"
                   "Beside it is the reference alone, skinned. If scan.json holds scans back\n"
                   "(\"held\": true), those are predicted instead, and no others are left out.\n"
                   "\n"
                   "For a simulated session (truth/), it also prints the distance of joints,\n"
                   "bones, axes, labels and the surface in held-back poses from the truth.",
    .examples = "exemplar scan report body\n"
                "exemplar scan report anna --picture errors\n"
                "exemplar scan report body --json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
