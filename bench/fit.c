/*
 * bench/fit.c - fits a skeleton to markers: 96 scans of an upper body with 138 markers (marked.h), least squares over
 * poses, bones, axes and markers at once, next to Ceres on the same problem from the same start. Ours includes work
 * that the peer does not do: rigid starts of every scan, the stage with sites tied to the reference, and finding what
 * is not determined. The sums of squares that both reach are compared. One thread.
 */
#include "bench/bench.h"
#include "bench/marked.h"
#include "bench/peer.h"

#include <exemplar/author/kinematics.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct fitting {
    marked_body body;
    ex_kin_joint joints[MARKED_JOINTS];
    ex_site sites[MARKED_SITES];
    char names[MARKED_SITES][16];
    bool locked[MARKED_SCANS][MARKED_JOINTS];
    ex_kin_pose starts[MARKED_SCANS];
    ex_kin_scan scans[MARKED_SCANS];
    ex_sighting sightings[MARKED_SCANS * MARKED_SITES];
    ex_kinematics kinematics;
    ex_kin_fit_def def;
    double sum; /* sum of squares */
    int unknown_count;
    bool failed;
    ex_error *error;
} fitting;

static void run_fit(void *context) {
    fitting *t = context;
    ex_kin_fit *fit = NULL;
    if (ex_kinematics_fit(&t->def, &fit, t->error) != EX_OK) {
        t->failed = true;
        return;
    }
    t->sum = 0;
    for (int i = 0; i < t->def.sighting_count; i++)
        t->sum += fit->errors[i] * fit->errors[i];
    t->unknown_count = fit->unknown_count;
    ex_kin_fit_destroy(fit);
}

static void open_joints(fitting *t) {
    static const char *const names[MARKED_JOINTS] = {"hips",     "waist", "abdomen", "clavicle",
                                                     "shoulder", "elbow", "forearm", "wrist"};
    for (int j = 0; j < MARKED_JOINTS; j++) {
        t->joints[j] = (ex_kin_joint){.name = (char *)(uintptr_t)names[j],
                                      .parent = marked_parents[j],
                                      .freedom = marked_freedoms[j] == 6   ? EX_FREEDOM_BASE
                                                 : marked_freedoms[j] == 3 ? EX_FREEDOM_BALL
                                                                           : EX_FREEDOM_HINGE,
                                      .mirror = -1};
        memcpy(t->joints[j].translation, t->body.begins[j], sizeof t->joints[j].translation);
        memcpy(t->joints[j].axis, t->body.begin_axes[j], sizeof t->joints[j].axis);
    }
}

static void open_scans(fitting *t) {
    int count = 0;
    for (int i = 0; i < t->body.scan_count; i++) {
        t->starts[i].rotations = t->body.begin_turns[i];
        memcpy(t->starts[i].translation, t->body.begin_bases[i], sizeof t->starts[i].translation);
        t->scans[i] = (ex_kin_scan){.name = "scan", .locked = t->locked[i], .start = &t->starts[i]};
        for (int j = 0; j < MARKED_JOINTS; j++) {
            t->locked[i][j] = t->body.locked[i][j];
            const double angle = t->body.begin_angles[i][j], *a = t->body.begin_axes[j];
            const double w[3] = {angle * a[0], angle * a[1], angle * a[2]};
            if (marked_freedoms[j] == 1)
                marked_turn(w, t->body.begin_turns[i][j]);
        }
        for (int s = 0; s < t->body.site_count; s++)
            if (t->body.visible[i][s]) {
                t->sightings[count] = (ex_sighting){.scan = i, .site = s, .weight = 1};
                memcpy(t->sightings[count++].position, t->body.seen[i][s], sizeof t->body.seen[i][s]);
            }
    }
    t->def.sighting_count = count;
}

static void open_fitting(fitting *t, int scans, int arm, int torso) {
    const marked_options options = marked_bench(scans, arm, torso);
    marked_make(&t->body, &options);
    marked_begin(&t->body);
    open_joints(t);
    for (int s = 0; s < t->body.site_count; s++) {
        snprintf(t->names[s], sizeof t->names[s], "m%d", s);
        t->sites[s] = (ex_site){.name = t->names[s], .joint = t->body.joints[s]};
    }
    t->kinematics = (ex_kinematics){.name = t->names[0],
                                    .joint_count = MARKED_JOINTS,
                                    .joints = t->joints,
                                    .site_count = t->body.site_count,
                                    .sites = t->sites};
    t->def = (ex_kin_fit_def){.kinematics = &t->kinematics,
                              .scan_count = t->body.scan_count,
                              .scans = t->scans,
                              .sightings = t->sightings,
                              .loss = INFINITY,
                              .even = true,
                              .rigid = true};
    open_scans(t);
}

bool exi_bench_fit(const exi_bench *bench) {
    static const char *const solvers[] = {"dense_schur", "sparse_schur"};
    const int scans = 96, arm = 9, torso = 31;
    const char *why = NULL;
    fitting *t = calloc(1, sizeof *t);
    if (!t)
        return false;
    t->error = bench->error;
    open_fitting(t, scans, arm, torso);
    exi_peer *peer = exi_peer_start(NULL, "exemplar_peer_ceres", &why);
    for (int i = 0; !t->failed && i < 2; i++) {
        exi_row row = {.group = "fit", .peer = i == 0 ? "Ceres, DENSE_SCHUR" : "Ceres, SPARSE_SCHUR", .goal_ratio = 1};
        char question[64], note[64];
        exi_work work = {run_fit, t};
        snprintf(question, sizeof question, "run %s %d %d %d", solvers[i], scans, arm, torso);
        row.ns = exi_measure_beside(&work, peer, question, bench->repeat < 7 ? bench->repeat : 7, &row.peer_ns);
        row.peer_note = row.peer_ns > 0 ? NULL : peer ? "does not answer" : why;
        snprintf(row.work, sizeof row.work, "%d scans, %d markers, %d unknowns", scans, t->body.site_count,
                 t->unknown_count);
        double sum = 0;
        snprintf(question, sizeof question, "answer %s %d %d %d", solvers[i], scans, arm, torso);
        if (row.peer_ns > 0 && exi_peer_ask(peer, question, &sum)) {
            snprintf(note, sizeof note, "our sum of squares is %.6f of its", t->sum / sum);
            row.peer_note = note;
        }
        if (!t->failed)
            bench->report(bench->user, &row);
    }
    exi_peer_stop(peer);
    const bool good = !t->failed;
    free(t);
    return good;
}
