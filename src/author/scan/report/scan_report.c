/*
 * Measures a session's body: the fit of its markers, the measured fraction, the prediction of scans from others, and,
 * if the session was simulated, all errors against the truth.
 */
#include "author/scan/report/scan_report.h"

#include "author/base/array.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opens the body as it was built: its cage, parts and maps. */
static ex_result open_body(exi_scan_work *work) {
    exi_body *body = &work->body;
    char *cage = exi_body_path(body, "cage.obj"), *scene = exi_body_path(body, "skeleton.glb");
    ex_result result = cage && scene ? EX_OK : ex_error_memory(work->error, "a path", 0);
    if (result == EX_OK && !exi_scan_is_there(cage))
        result = ex_error_kind(work->error, ex_error_set(work->error, EX_ERROR_FILE, "'%s' does not exist yet", cage),
                               "no_body");
    if (result == EX_OK)
        result = ex_obj_read(cage, &body->template.cage, work->error);
    if (result == EX_OK)
        result = ex_scene_read(scene, &body->template.scene, work->error);
    if (result == EX_OK)
        result = exi_body_make_rig(body);
    if (result == EX_OK)
        result = exi_body_check_joints(body, scene, "old_body");
    if (result == EX_OK) {
        body->level = body->session->levels;
        body->vertex_count = ex_rig_level_vertex_count(body->rig, body->level);
        result = exi_body_find_poses(body);
    }
    if (result == EX_OK)
        result = exi_body_check_poses(body);
    if (result == EX_OK)
        result = exi_body_find_parts(body);
    free(cage);
    free(scene);
    return result;
}

static ex_result read_maps(exi_scan_work *work) {
    exi_body *body = &work->body;
    double counts[EX_DISPLACEMENT_MAP_STATE_COUNT] = {0}, all = 0;
    ex_result result = EX_OK;
    work->maps = calloc((size_t)body->example_count + 1, sizeof(ex_displacement_map *));
    if (!work->maps)
        return ex_error_memory(work->error, "the report", 0);
    for (int i = 0; i < body->example_count && result == EX_OK; i++) {
        exi_body_example *own = &body->examples[i];
        const ex_scan_entry *entry = &body->session->scans[own->scan];
        char *name = own->part >= 0 ? exi_body_map_name(&body->parts[own->part], "maps", entry) : NULL;
        char *path = name ? exi_body_path(body, name) : NULL;
        if (own->part < 0 || (path && entry->part_count > 1 && !exi_scan_is_there(path))) {
            own->part = -1; /* the build left it out */
            free(name);
            free(path);
            continue;
        }
        result = path ? ex_displacement_map_read(path, &work->maps[i], work->error)
                      : ex_error_memory(work->error, "a path", 0);
        if (result == EX_OK && work->maps[i]->vertex_count != body->vertex_count)
            result = ex_error_set(work->error, EX_ERROR_DATA,
                                  "%s has %d vertices, but the template has %d: build the body again", path,
                                  work->maps[i]->vertex_count, body->vertex_count);
        for (int v = 0; v < body->vertex_count && result == EX_OK; v++) {
            counts[work->maps[i]->states[v]]++;
            all += work->maps[i]->states[v] != EX_DISPLACEMENT_MAP_OUTSIDE;
        }
        free(name);
        free(path);
    }
    all = all > 0 ? all : 1;
    work->report->hit = (counts[EX_DISPLACEMENT_MAP_HIT] + counts[EX_DISPLACEMENT_MAP_FAIRED]) / all;
    work->report->lent = counts[EX_DISPLACEMENT_MAP_LENT] / all;
    work->report->filled = counts[EX_DISPLACEMENT_MAP_FILLED] / all;
    return result;
}

static ex_result give_map(void *user, int scan, const ex_displacement_map **map) {
    const exi_scan_work *work = user;
    *map = work->maps[scan];
    return EX_OK;
}

static void sum_markers(const ex_scan_fitted *fitted, ex_scan_report *report) {
    double square = 0;
    for (int i = 0; i < fitted->scan_count; i++) {
        square += fitted->rms[i] * fitted->rms[i];
        if (fitted->rms[i] > report->worst_rms) {
            report->worst_rms = fitted->rms[i];
            snprintf(report->worst_scan, sizeof report->worst_scan, "%s", fitted->names[i]);
        }
    }
    report->scan_count = fitted->scan_count;
    report->marker_rms = sqrt(square / fitted->scan_count);
}

static ex_result compare_truth(exi_scan_work *work) {
    char *path = exi_body_path(&work->body, "truth/fit.json");
    ex_scan_fitted *truth = NULL;
    ex_result result = EX_OK;
    if (!path)
        return ex_error_memory(work->error, "a path", 0);
    if (exi_scan_is_there(path)) {
        result = ex_scan_fitted_read(path, &truth, work->error);
        if (result == EX_OK)
            result = exi_report_truth(work, truth);
        if (result == EX_OK)
            result = exi_report_held(work, truth);
        work->report->truth = result == EX_OK;
    }
    ex_scan_fitted_destroy(truth);
    free(path);
    return result;
}

ex_result ex_scan_measure(const ex_scan_session *session, const ex_scan_fitted *fitted, const ex_tasks *tasks,
                          const ex_progress *progress, ex_scan_report *report, ex_error *error) {
    if (!session || !fitted || !report)
        return exi_misuse_error(error, __func__, "no session, no fit, or no pointer for the report");
    const ex_scan_build_options plain = {.tasks = tasks};
    exi_scan_work work = {.body = {.session = session, .fitted = fitted, .options = &plain, .error = error},
                          .report = report,
                          .tasks = tasks,
                          .progress = progress,
                          .error = error};
    *report = (ex_scan_report){0};
    ex_result result = open_body(&work);
    if (result == EX_OK && progress)
        progress->report(progress->user, "reading maps", 0.1);
    if (result == EX_OK)
        result = read_maps(&work);
    if (result == EX_OK)
        result = exi_body_find_references(&work.body, give_map, &work);
    if (result == EX_OK) {
        sum_markers(fitted, report);
        if (progress)
            progress->report(progress->user, "leaving scans out", 0.3);
        result = exi_report_left_out(&work);
    }
    if (result == EX_OK && progress)
        progress->report(progress->user, "comparing with the truth", 0.6);
    if (result == EX_OK)
        result = compare_truth(&work);
    for (int i = 0; work.maps && i < work.body.example_count; i++)
        ex_displacement_map_destroy(work.maps[i]);
    free(work.maps);
    exi_body_close(&work.body);
    return result;
}
