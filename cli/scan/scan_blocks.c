/* The part of exemplar scan fit for a session that processes fit together, in blocks of scans. */
#include "scan.h"

#include "cli/base/emit.h"

static void print_round(const ex_call *call, const ex_scan_session *session, const ex_scan_fit_round *round) {
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "session", session->folder);
        exi_emit_number(&json, "round", round->round);
        exi_emit_number(&json, "cost", round->cost);
        exi_emit_number(&json, "gain", round->gain);
        exi_emit_bool(&json, "done", round->done);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet && round->done) {
        exi_print("%s/fit.json: fitted in %d rounds\n", session->folder, round->round);
    } else if (!call->quiet) {
        exi_print("%s: round %d, the last step gained %.2g of the cost; make all %d blocks again\n", session->folder,
                  round->round, round->gain, ex_scan_fit_block_count(session));
    }
}

int exi_scan_fit_blocks(const ex_call *call, int block, bool sum) {
    /* Blocks may be made at the same time: each process writes a file of its own. */
    ex_scan_session *session = sum ? exi_scan_open_to_change(call) : exi_scan_open(call);
    ex_scan_fitted *fitted = session ? exi_scan_open_fit(session) : NULL; /* says what makes it */
    ex_error error = {0};
    ex_scan_fit_round round = {0};
    bool done = false;
    int exit_code = EX_EXIT_FAILED;
    const bool begun = fitted != NULL;
    ex_scan_fitted_destroy(fitted);
    if (!begun || !exi_scan_can_write(session, sum ? "" : "blocks", sum ? "fit.json" : ""))
        exit_code = EX_EXIT_FAILED;
    else if (!sum && block > ex_scan_fit_block_count(session))
        exi_failed_text("'%s' has %d blocks of scans, and no block %d", session->folder,
                        ex_scan_fit_block_count(session), block);
    else if ((sum ? ex_scan_fit_sum(session, &round, &error) : ex_scan_fit_block(session, block - 1, &done, &error)) !=
             EX_OK)
        exi_failed(&error);
    else
        exit_code = EX_EXIT_DONE;
    if (exit_code == EX_EXIT_DONE && sum)
        print_round(call, session, &round);
    else if (exit_code == EX_EXIT_DONE && !call->quiet)
        exi_print("%s: block %d of %d%s\n", session->folder, block, ex_scan_fit_block_count(session),
                  done ? " is not needed: the fit has ended" : "");
    ex_scan_session_destroy(session);
    return exit_code;
}
