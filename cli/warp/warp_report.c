/* cli/warp/warp_report.c - measures the path from the reference to every example, next to its trajectory. */
#include "warp.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/report.h"

#include <exemplar/author/files.h>

#include <stdlib.h>

static const char *const percents[] = {"50 %", "90 %", "99 %", "99.9 %"};

static void print_text(const ex_rig_trajectories *paths, int example, const ex_warp_report *r) {
    char components[EXI_TEXT_SIZE];
    exi_print("%s: %s, %g bytes a vertex; pairs of triangles that cross: %d at the start, %d at the end\n",
              paths->def.names[example], exi_text_count(components, r->component_count, "component"), r->bytes,
              r->start_crossing, r->end_crossing);
    exi_print("  %-10s %4s", "method", "t");
    for (int i = 0; i < 4; i++)
        exi_print(" %8s", percents[i]);
    exi_print(" %8s %8s %9s\n", "flipped", "crossing", "centroid");
    for (int i = 0; i < r->row_count; i++) {
        const ex_warp_row *row = &r->rows[i];
        exi_print("  %-10s %4.1f", row->method, row->t);
        for (int p = 0; p < 4; p++)
            exi_print(" %8.4f", row->stretch.percentiles[p]);
        exi_print(" %8d %8d %7.2f %%\n", row->stretch.flipped, row->crossing, 100 * row->centroid);
    }
}

static void print_json(exi_emitter *json, const ex_rig_trajectories *paths, int example, const ex_warp_report *r) {
    exi_emit_open(json, NULL, '{');
    exi_emit_text(json, "example", paths->def.names[example]);
    exi_emit_number(json, "components", r->component_count);
    exi_emit_number(json, "bytes", r->bytes);
    exi_emit_number(json, "start_crossing", r->start_crossing);
    exi_emit_number(json, "end_crossing", r->end_crossing);
    exi_emit_open(json, "rows", '[');
    for (int i = 0; i < r->row_count; i++) {
        const ex_warp_row *row = &r->rows[i];
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "method", row->method);
        exi_emit_number(json, "t", row->t);
        exi_emit_numbers(json, "stretch", row->stretch.percentiles, 4);
        exi_emit_number(json, "flipped", row->stretch.flipped);
        exi_emit_number(json, "crossing", row->crossing);
        exi_emit_number(json, "centroid", row->centroid);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
    exi_emit_close(json, '}');
}

/* P.png for one example; P-NAME.png for several. Caller frees; NULL if out of memory. */
static char *picture_path(const ex_rig_trajectories *paths, int example, const char *picture) {
    char ending[160];
    if (paths->def.example_count == 1)
        return exi_path_with_ending(picture, ex_path_ends_with(picture, ".svg") ? ".svg" : ".png");
    snprintf(ending, sizeof ending, "-%.120s%s", paths->def.names[example],
             ex_path_ends_with(picture, ".svg") ? ".svg" : ".png");
    return exi_path_with_ending(picture, ending);
}

static ex_result draw(const ex_rig_trajectories *paths, int example, const ex_warp_report *r, const char *picture,
                      ex_error *error) {
    char *path = picture_path(paths, example, picture);
    if (!path) {
        *error = (ex_error){.result = EX_ERROR_MEMORY, .text = "not enough memory"};
        return EX_ERROR_MEMORY;
    }
    const ex_result result = ex_warp_report_draw(r, path, error);
    free(path);
    return result;
}

static ex_result report_example(const ex_call *call, ex_rig_trajectories *paths, int example, const char *picture,
                                exi_emitter *json, ex_error *error) {
    ex_warp_report *report = NULL;
    exi_progress progress;
    exi_progress_start(&progress, call);
    paths->def.progress = &progress.hook;
    ex_result result = ex_warp_report_create(&paths->def, &paths->found, example, &report, error);
    paths->def.progress = NULL;
    exi_progress_end(&progress);
    if (result == EX_OK && call->json)
        print_json(json, paths, example, report);
    else if (result == EX_OK)
        print_text(paths, example, report);
    if (result == EX_OK && picture)
        result = draw(paths, example, report, picture, error);
    ex_warp_report_destroy(report);
    return result;
}

int exi_warp_report(const ex_call *call, ex_rig_trajectories *paths, const exi_warp_wish *wish) {
    exi_emitter json = exi_emit_start(stdout);
    ex_error error = {.result = EX_OK};
    ex_result result = EX_OK;
    if (call->json) {
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "file", wish->rig);
        exi_emit_open(&json, "reports", '[');
    }
    for (int k = 0; k < paths->def.example_count && result == EX_OK; k++)
        result = report_example(call, paths, k, wish->picture, &json, &error);
    if (result == EX_OK && call->json)
        exi_emit_close(&json, ']');
    if (result == EX_OK && wish->mixtures > 0)
        result = exi_warp_mixtures(call, paths, wish, &json, &error);
    if (result != EX_OK)
        return exi_failed(&error);
    if (call->json) {
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    }
    return EX_EXIT_DONE;
}
