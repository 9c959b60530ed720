/* The body of a session with a template person: for exemplar scan build, and exemplar scan report. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/interrupt.h"
#include "common/pool.h"
#include "cli/base/rigs.h"

#include <math.h>
#include <stdlib.h>

/* One line: the rig in its own pose, unless NAN, and a prediction, if there is one. */
static void print_row(const char *name, double own, const ex_left_out *guess) {
    char a[EXI_TEXT_SIZE] = "", b[EXI_TEXT_SIZE], c[EXI_TEXT_SIZE], d[EXI_TEXT_SIZE];
    exi_print("  %-23s %12s", name, isnan(own) ? "" : exi_text_length(a, own));
    if (guess)
        exi_print(" %12s %12s %12s %7.2f", exi_text_length(b, guess->rms), exi_text_length(c, guess->high),
                  exi_text_length(d, guess->one_rms), guess->rms / guess->one_rms);
    exi_print("\n");
}

static void print_table(const ex_scan_session *session, const ex_scan_body *body) {
    const ex_left_outs *left = body->left_outs, *own = body->measured;
    const int all = body->scan_count + body->held_count;
    const ex_left_out sum = ex_left_outs_sum(own, 0, body->scan_count),
                      held = ex_left_outs_sum(own, body->scan_count, all);
    char count[EXI_TEXT_SIZE];
    exi_print("distances of vertices, rms %11s", "the rig");
    if (left || body->held_count > 0)
        exi_print(" %12s %12s %12s %7s", "predicted", "its 95 %", "one scan", "ratio");
    exi_print("\n");
    for (int i = 0; i < all; i++)
        print_row(session->scans[body->scans[i]].name, i < body->scan_count ? own->forms[i].rms : (double)NAN,
                  left                    ? &left->forms[i]
                  : i >= body->scan_count ? &own->forms[i]
                                          : NULL);
    print_row("all", sum.rms, left ? &left->all : body->held_count > 0 ? &held : NULL);
    if (left)
        exi_print("predicted: from the other scans; one scan: '%s' alone, skinned\n",
                  session->scans[body->scans[0]].name);
    else if (body->held_count > 0)
        exi_print("predicted: %s held back, which the body has never seen; one scan: '%s' alone, skinned\n",
                  exi_text_count(count, body->held_count, "scan"), session->scans[body->scans[0]].name);
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

static void emit_guess(exi_emitter *json, const ex_left_out *guess) {
    exi_emit_number(json, "left_out_rms", guess->rms);
    exi_emit_number(json, "left_out_high", guess->high);
    exi_emit_number(json, "one_rms", guess->one_rms);
    exi_emit_number(json, "one_high", guess->one_high);
    exi_emit_number(json, "ratio", guess->rms / guess->one_rms);
}

static void print_json(const ex_scan_session *session, const ex_scan_body *body) {
    const int all = body->scan_count + body->held_count;
    const ex_left_outs *left = body->left_outs, *own = body->measured;
    const ex_left_out sum = ex_left_outs_sum(own, 0, body->scan_count),
                      held = ex_left_outs_sum(own, body->scan_count, all);
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "session", session->folder);
    exi_emit_number(&json, "rms", sum.rms);
    exi_emit_number(&json, "held_count", body->held_count);
    if (left || body->held_count > 0)
        emit_guess(&json, left ? &left->all : &held);
    exi_emit_open(&json, "scans", '[');
    for (int i = 0; i < all; i++) {
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", session->scans[body->scans[i]].name);
        exi_emit_bool(&json, "held", i >= body->scan_count);
        if (i < body->scan_count) {
            exi_emit_number(&json, "rms", own->forms[i].rms);
            exi_emit_number(&json, "high", own->forms[i].high);
        }
        if (left || i >= body->scan_count)
            emit_guess(&json, left ? &left->forms[i] : &own->forms[i]);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

/* Names joints whose skin no scan shows. */
static void print_unseen(const ex_scan_body *body) {
    for (int j = 0; j < body->articulated->kinematics->joint_count; j++)
        if (body->unseen[j])
            exi_failed_text("no scan shows the skin of %s: the template's is there",
                            body->articulated->kinematics->joints[j].name);
}

/* After a body that is none: draws the scan that shows it, and names the picture. */
static void draw_wrong(const ex_scan_session *session, const ex_scan_body *body, const ex_tasks *tasks) {
    char *path = ex_scan_path(session, "", "wrong", ".png");
    const char *name = session->scans[body->scans[body->wrong]].name;
    char label[200];
    ex_error error = {0};
    snprintf(label, sizeof label, "%s: distance of the rig from it", name);
    if (path && exi_scan_draw_errors(body->mesh, body->measured->positions[body->wrong],
                                     body->measured->distances[body->wrong], 0.05, label, path, tasks, &error) == EX_OK)
        exi_failed_text("%s shows what was made of scan '%s', from the front and the back", path, name);
    free(path);
}

int exi_scan_make_person(const ex_call *call, const ex_scan_session *session, bool report, const char *picture) {
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
    if (result == EX_OK && picture)
        result = exi_scan_draw_report(session, body, picture, how.tasks, &error);
    if (result != EX_OK) {
        exi_failed(&error);
        if (!report && body && body->wrong >= 0)
            draw_wrong(session, body, how.tasks);
    } else if (call->json) {
        print_json(session, body);
    } else if (report) {
        print_table(session, body);
    } else if (!call->quiet) {
        char *path = ex_scan_path(session, "", "body", ".glb");
        print_unseen(body);
        print_open(body->articulated);
        exi_scan_print_bones(body->articulated->kinematics);
        exi_rig_print_line(stdout, false, path ? path : "body.glb", body->rig, exi_clock() - start, NULL);
        free(path);
    }
    exi_pool_destroy(pool);
    ex_scan_body_destroy(body);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}
