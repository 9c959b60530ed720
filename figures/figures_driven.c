/*
 * figures/figures_driven.c - figures of DrivenShape, all with the demo `sleeve`: keys and their weights over time (1),
 * with and without a moving frame (5), next to the simulation (6), more keys (7), and poses that no keys can blend
 * (8).
 */
#include "figures_sleeve.h"

#include "cli/base/files.h"

#include "common/array.h"
#include "demos/garment/garment.h"

#include <stdlib.h>
#include <string.h>

#define CAMERA .yaw = -150, .pitch = 24

static void fact_error(exi_figures *f, const char *what, const ex_drive_report *report) {
    char ours[EXI_TEXT_SIZE];
    snprintf(ours, sizeof ours, "%.1f mm, %.1f mm", 1000 * report->mean, 1000 * report->p95);
    exi_figures_fact(f, what, "", "%s", ours);
}

/* ---- 1 ---- */

/* Stacks one image above another, both centred, and overwrites the first. */
static ex_result stack(const char *path, const char *below_path, ex_error *error) {
    ex_image *images[2] = {NULL, NULL}, *whole = NULL;
    ex_result result = ex_image_read(path, &images[0], error);
    if (result == EX_OK)
        result = ex_image_read(below_path, &images[1], error);
    if (result == EX_OK) {
        const int width = images[0]->width > images[1]->width ? images[0]->width : images[1]->width;
        whole = ex_image_create(width, images[0]->height + images[1]->height);
        result = whole ? EX_OK : ex_error_memory(error, "an image", 0);
    }
    for (int i = 0, y = 0; result == EX_OK && i < 2; y += images[i++]->height) {
        if (i == 0)
            memset(whole->pixels, 255, (size_t)whole->width * (size_t)whole->height * 4);
        const size_t left = (size_t)(whole->width - images[i]->width) / 2;
        for (int row = 0; row < images[i]->height; row++)
            memcpy(whole->pixels + 4 * ((size_t)(y + row) * (size_t)whole->width + left),
                   images[i]->pixels + 4 * (size_t)row * (size_t)images[i]->width, 4 * (size_t)images[i]->width);
    }
    if (result == EX_OK)
        result = ex_image_write(path, whole, error);
    ex_image_destroy(images[0]);
    ex_image_destroy(images[1]);
    ex_image_destroy(whole);
    return result;
}

/* Draws the keys in a row with the chart below, which is first drawn into a separate file. */
static ex_result draw_weights(exi_sleeve *s, const ex_rig *rig, const char *path) {
    exi_figures *f = s->figures;
    const int count = ex_rig_example_count(rig);
    const char *names[EXI_SLEEVE_SHOTS];
    ex_drive_report *report = NULL;
    char *chart = exi_path_inside(f->folder, "demos/sleeve/weights", ".png");
    ex_result result = chart ? EX_OK : ex_error_memory(f->error, "a path", 0);
    for (int k = 0; result == EX_OK && k < count; k++) {
        names[k] = ex_rig_example_name(rig, 0, k);
        result = exi_sleeve_add_key(s, rig, k, names[k]);
        s->shots[s->shot_count - 1].tone = 1;
    }
    if (result == EX_OK)
        result = exi_figures_shots(
            f, &(exi_shots){.shots = s->shots, .count = count, .columns = count, CAMERA, .size = 1.5}, path);
    if (result == EX_OK)
        result = exi_sleeve_report(s, rig, &report);
    if (result == EX_OK)
        result = ex_drive_report_draw(report, names, chart, f->error);
    if (result == EX_OK)
        result = stack(path, chart, f->error);
    if (result == EX_OK)
        exi_figures_fact(f, "keys", "6", "%d", count);
    ex_drive_report_free(report);
    free(chart);
    return result;
}

ex_result exi_figure_weights(exi_figures *f, const char *path) {
    exi_sleeve s;
    ex_result result = exi_sleeve_open(f, &s);
    const ex_rig *rig = result == EX_OK ? exi_sleeve_learn(&s, 6, false, false) : NULL;
    if (result == EX_OK)
        result = rig ? draw_weights(&s, rig, path) : f->error->result;
    exi_sleeve_close(&s);
    return result;
}

/* ---- 5 ---- */

ex_result exi_figure_moving(exi_figures *f, const char *path) {
    static const int frames[] = {12, 60};
    exi_sleeve s;
    ex_result result = exi_sleeve_open(f, &s);
    for (int still = 0; result == EX_OK && still < 2; still++) {
        const ex_rig *rig = exi_sleeve_learn(&s, 6, true, still);
        ex_drive_report *report = NULL;
        result = rig ? exi_sleeve_report(&s, rig, &report) : f->error->result;
        if (result == EX_OK)
            exi_figures_fact(f, still ? "error of the blend, before settling, without" : "and with", "", "%.1f mm",
                             1000 * report->blend_mean);
        ex_drive_report_free(report);
    }
    for (int i = 0; result == EX_OK && i < 2; i++) {
        result = exi_sleeve_add_truth(&s, frames[i], "simulated", NULL);
        for (int still = 0; result == EX_OK && still < 2; still++) {
            result =
                exi_sleeve_add_frame(&s, exi_sleeve_learn(&s, 6, true, still), frames[i], SLEEVE_UNSETTLED,
                                     still ? "without a moving frame" : "in a moving frame", "blended, not settled");
            s.shots[s.shot_count - 1].tone = still ? 2 : 0;
        }
    }
    if (result == EX_OK)
        result = exi_figures_shots(
            f, &(exi_shots){.shots = s.shots, .count = s.shot_count, .columns = 3, CAMERA, .size = 1.3}, path);
    exi_sleeve_close(&s);
    return result;
}

/* ---- 6 ---- */

ex_result exi_figure_beside(exi_figures *f, const char *path) {
    enum { FRAMES = 5 };
    exi_sleeve s;
    ex_drive_report *report = NULL;
    ex_result result = exi_sleeve_open(f, &s);
    if (result == EX_OK)
        result = exi_sleeve_report(&s, s.rig, &report);
    for (int i = 0; result == EX_OK && i < FRAMES; i++)
        result = exi_sleeve_add_frame(&s, s.rig, 10 + 24 * i, SLEEVE_SETTLED, "driven", NULL);
    for (int i = 0; result == EX_OK && i < FRAMES; i++)
        result = exi_sleeve_add_truth(&s, 10 + 24 * i, "simulated", NULL);
    for (int i = 0; result == EX_OK && i < FRAMES; i++)
        s.shots[FRAMES + i].tone = 1;
    if (result == EX_OK)
        result = exi_figures_shots(
            f, &(exi_shots){.shots = s.shots, .count = s.shot_count, .columns = FRAMES, CAMERA, .size = 1}, path);
    if (result == EX_OK)
        fact_error(f, "error of driven cloth: mean, 95th percentile", report);
    ex_drive_report_free(report);
    exi_sleeve_close(&s);
    return result;
}

/* ---- 7 ---- */

ex_result exi_figure_more_keys(exi_figures *f, const char *path) {
    static const int counts[] = {4, 6, 12}, frames[] = {4, 90};
    static const char *const words[] = {"4 keys", "6 keys", "12 keys"};
    exi_sleeve s;
    ex_result result = exi_sleeve_open(f, &s);
    for (int k = 0; result == EX_OK && k < 3; k++) {
        const ex_rig *rig = exi_sleeve_learn(&s, counts[k], false, false);
        ex_drive_report *report = NULL;
        result = rig ? exi_sleeve_report(&s, rig, &report) : f->error->result;
        if (result == EX_OK) {
            char what[64];
            snprintf(what, sizeof what, "%s: mean, 95th percentile", words[k]);
            fact_error(f, what, report);
            snprintf(what, sizeof what, "%s, nearest of them: mean", words[k]);
            exi_figures_fact(f, what, "", "%.1f mm", 1000 * report->nearest_mean);
        }
        ex_drive_report_free(report);
    }
    for (int i = 0; result == EX_OK && i < 2; i++) {
        for (int k = 0; result == EX_OK && k < 3; k++)
            result = exi_sleeve_add_frame(&s, exi_sleeve_learn(&s, counts[k], false, false), frames[i], SLEEVE_SETTLED,
                                          words[k], NULL);
        if (result == EX_OK)
            result = exi_sleeve_add_truth(&s, frames[i], "simulated", NULL);
        s.shots[s.shot_count - 1].tone = 1;
    }
    if (result == EX_OK)
        result = exi_figures_shots(
            f, &(exi_shots){.shots = s.shots, .count = s.shot_count, .columns = 4, CAMERA, .size = 1.2}, path);
    exi_sleeve_close(&s);
    return result;
}

/* ---- 8 ---- */

/* Poses the arm at a time of the unseen motion with all its angles scaled. */
static ex_result pose_arm(const exi_garment *garment, double times, float *form, ex_error *error) {
    const size_t count = 3 * (size_t)garment->driver->vertex_count;
    double *positions = array_allocate(count, sizeof *positions);
    if (!positions)
        return ex_error_memory(error, "the arm", count * sizeof *positions);
    garment->pose(garment, GARMENT_UNSEEN, 106 / GARMENT_FPS, times, positions);
    for (size_t i = 0; i < count; i++)
        form[i] = (float)positions[i];
    free(positions);
    return EX_OK;
}

static ex_result add_far(exi_sleeve *s, const ex_rig *rig, const exi_garment *garment) {
    static const double times[] = {1, 1.4, 1.8};
    static const char *const notes[] = {"as in the motion", "angles times 1.4", "angles times 1.8"};
    float *form = array_allocate((size_t)s->driver->vertex_count, 3 * sizeof *form);
    ex_result result = form ? EX_OK : ex_error_memory(s->figures->error, "the arm", 0);
    for (int i = 0; result == EX_OK && i < 3; i++) {
        char what[64];
        double hull = 0;
        result = pose_arm(garment, times[i], form, s->figures->error);
        if (result == EX_OK)
            result = exi_sleeve_add(s, rig, form, SLEEVE_BLENDED, "arm and cloth, blended", notes[i], NULL);
        if (result == EX_OK)
            result = exi_sleeve_add(s, rig, form, SLEEVE_UNSETTLED, "blended cloth, the arm itself", notes[i], NULL);
        s->shots[s->shot_count - 1].tone = 2;
        if (result == EX_OK)
            result = exi_sleeve_add(s, rig, form, SLEEVE_SETTLED, "carried over", notes[i], &hull);
        snprintf(what, sizeof what, "%s: from what the keys blend", notes[i]);
        exi_figures_fact(s->figures, what, "", "%.1f mm", 1000 * hull);
    }
    free(form);
    return result;
}

ex_result exi_figure_far(exi_figures *f, const char *path) {
    exi_sleeve s;
    exi_garment garment;
    ex_result result = exi_sleeve_open(f, &s), made = exi_sleeve_make(&garment, f->error);
    const ex_rig *rig = result == EX_OK && made == EX_OK ? exi_sleeve_learn(&s, 4, true, false) : NULL;
    result = rig ? add_far(&s, rig, &garment) : f->error->result;
    if (result == EX_OK)
        result = exi_figures_shots(
            f, &(exi_shots){.shots = s.shots, .count = s.shot_count, .columns = 3, CAMERA, .size = 1.3}, path);
    exi_garment_free(&garment);
    exi_sleeve_close(&s);
    return result;
}
