/* The body of a session with a template person: for exemplar scan build, and exemplar scan report. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/interrupt.h"
#include "cli/base/pool.h"
#include "cli/base/rigs.h"

#include <stdlib.h>

static void print_table(const ex_scan_session *session, const ex_scan_body *body) {
    const ex_articulated *a = body->articulated;
    const ex_left_outs *left = body->left_outs;
    char own[EXI_TEXT_SIZE], out[EXI_TEXT_SIZE], high[EXI_TEXT_SIZE], one[EXI_TEXT_SIZE];
    exi_print("distances of vertices, rms %11s %12s %12s %12s %7s\n", "the rig", "left out", "its 95 %", "one scan",
              "ratio");
    for (int i = 0; i < body->scan_count; i++) {
        exi_print("  %-23s %12s", session->scans[body->scans[i]].name, exi_text_length(own, a->rms[i]));
        if (left)
            exi_print(" %12s %12s %12s %7.2f", exi_text_length(out, left->forms[i].rms),
                      exi_text_length(high, left->forms[i].high), exi_text_length(one, left->forms[i].one_rms),
                      left->forms[i].rms / left->forms[i].one_rms);
        exi_print("\n");
    }
    exi_print("  %-23s %12s", "all", exi_text_length(own, a->all_rms));
    if (left)
        exi_print(" %12s %12s %12s %7.2f", exi_text_length(out, left->all.rms), exi_text_length(high, left->all.high),
                  exi_text_length(one, left->all.one_rms), left->all.rms / left->all.one_rms);
    exi_print("\n");
    if (left)
        exi_print("left out: the scan is predicted from the others; one scan: '%s' alone, skinned\n",
                  session->scans[body->scans[0]].name);
}

static void print_open(const ex_articulated *a) {
    int count = 0;
    for (int j = 1; j < a->kinematics->joint_count; j++)
        count += a->open[j];
    if (count == 0)
        return;
    exi_print("hardly turned in these scans, so their centres are those of the figure:");
    for (int j = 1; j < a->kinematics->joint_count; j++)
        if (a->open[j])
            exi_print(" %s", a->kinematics->joints[j].name);
    exi_print("\n");
}

static void print_json(const ex_scan_session *session, const ex_scan_body *body) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "session", session->folder);
    exi_emit_number(&json, "rms", body->articulated->all_rms);
    if (body->left_outs) {
        exi_emit_number(&json, "left_out_rms", body->left_outs->all.rms);
        exi_emit_number(&json, "one_rms", body->left_outs->all.one_rms);
        exi_emit_number(&json, "ratio", body->left_outs->all.rms / body->left_outs->all.one_rms);
    }
    exi_emit_open(&json, "scans", '[');
    for (int i = 0; i < body->scan_count; i++) {
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", session->scans[body->scans[i]].name);
        exi_emit_number(&json, "rms", body->articulated->rms[i]);
        exi_emit_number(&json, "high", body->articulated->high[i]);
        if (body->left_outs) {
            exi_emit_number(&json, "left_out_rms", body->left_outs->forms[i].rms);
            exi_emit_number(&json, "left_out_high", body->left_outs->forms[i].high);
            exi_emit_number(&json, "one_rms", body->left_outs->forms[i].one_rms);
        }
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

int exi_scan_make_person(const ex_call *call, const ex_scan_session *session, bool report) {
    exi_progress progress;
    ex_error error = {0};
    ex_scan_body *body = NULL;
    const double start = exi_clock();
    exi_pool *pool = exi_pool_create(call->threads);
    exi_progress_start(&progress, call);
    const ex_scan_body_options how = {
        .without_left_outs = !report, .progress = &progress.hook, .tasks = exi_pool_tasks(pool)};
    ex_result result = ex_scan_body_make(session, &how, &body, &error);
    if (result == EX_OK && !report)
        result = ex_scan_body_write(session, body, &error);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    if (result != EX_OK) {
        exi_failed(&error);
    } else if (call->json) {
        print_json(session, body);
    } else if (report) {
        print_table(session, body);
    } else if (!call->quiet) {
        char *path = ex_scan_path(session, "", "body", ".glb");
        print_open(body->articulated);
        exi_scan_print_bones(body->articulated->kinematics);
        exi_rig_print_line(stdout, false, path ? path : "body.glb", body->rig, exi_clock() - start, NULL);
        free(path);
    }
    ex_scan_body_destroy(body);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}
