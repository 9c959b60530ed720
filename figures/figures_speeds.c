/*
 * figures/figures_speeds.c - the speeds of Shape by Example, section 6, next to those of this machine now: the rows of
 * 'exemplar bench', with few samples.
 */
#include "figures.h"

#include "bench/bench.h"

#include <math.h>
#include <stdio.h>

enum { REPEAT = 5 };

/* "1 230 000": three significant digits. */
static const char *rate_text(char text[32], double ns) {
    const double rate = 1e9 / ns, grain = pow(10, floor(log10(rate)) - 2);
    const long rounded = lround(grain > 1 ? round(rate / grain) * grain : rate);
    if (rounded >= 1000000)
        snprintf(text, 32, "%ld %03ld %03ld", rounded / 1000000, rounded / 1000 % 1000, rounded % 1000);
    else if (rounded >= 10000)
        snprintf(text, 32, "%ld %03ld", rounded / 1000, rounded % 1000);
    else
        snprintf(text, 32, "%ld", rounded);
    return text;
}

static void add_row(void *user, const exi_row *row) {
    char theirs[32] = "", ours[32];
    if (row->peer_ns > 0)
        snprintf(theirs, sizeof theirs, "%.0f", 1e9 / row->peer_ns);
    exi_figures_fact(user, row->work, theirs, "%s", rate_text(ours, row->ns));
}

ex_result exi_figure_speeds(exi_figures *f, const char *path) {
    (void)path;
    const exi_bench bench = {.repeat = REPEAT, .report = add_row, .user = f, .error = f->error};
    if (exi_bench_paper(&bench) && exi_bench_edit(&bench))
        return EX_OK;
    return f->error->result != EX_OK ? f->error->result : ex_error_memory(f->error, "the measurement", 0);
}
