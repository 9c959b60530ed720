/* marked.h - the synthetic body of bench/marked.h as a problem for ex_kinematics_fit, and the errors of a fit. */
#ifndef EXEMPLAR_TESTS_AUTHOR_SCAN_MARKED_H
#define EXEMPLAR_TESTS_AUTHOR_SCAN_MARKED_H

#include "bench/marked.h"

#include <exemplar/author/kinematics.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct marked_scene {
    marked_body body;
    ex_kin_joint joints[MARKED_JOINTS];
    ex_site sites[MARKED_SITES];
    char site_names[MARKED_SITES][16], scan_names[MARKED_SCANS][20];
    bool locked[MARKED_SCANS][MARKED_JOINTS];
    ex_kin_scan scans[MARKED_SCANS];
    ex_sighting sightings[MARKED_SCANS * MARKED_SITES];
    ex_kinematics kinematics;
    ex_kin_fit_def def;
} marked_scene;

/* Adds sightings of the visible markers. */
static inline void marked_scene_look(marked_scene *m) {
    int count = 0;
    for (int i = 0; i < m->body.scan_count; i++)
        for (int s = 0; s < m->body.site_count; s++)
            if (m->body.visible[i][s]) {
                m->sightings[count] = (ex_sighting){.scan = i, .site = s, .weight = 1};
                memcpy(m->sightings[count++].position, m->body.seen[i][s], sizeof m->body.seen[i][s]);
            }
    m->def.sighting_count = count;
}

/* Release with free. */
static inline marked_scene *marked_scene_make(const marked_options *options) {
    static const char *const names[MARKED_JOINTS] = {"hips",     "waist", "abdomen", "clavicle",
                                                     "shoulder", "elbow", "forearm", "wrist"};
    marked_scene *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    marked_make(&m->body, options);
    for (int j = 0; j < MARKED_JOINTS; j++) {
        ex_kin_joint *joint = &m->joints[j];
        joint->name = (char *)(uintptr_t)names[j];
        joint->parent = marked_parents[j];
        joint->freedom = marked_freedoms[j] == 6   ? EX_FREEDOM_BASE
                         : marked_freedoms[j] == 3 ? EX_FREEDOM_BALL
                                                   : EX_FREEDOM_HINGE;
        joint->mirror = -1;
        memcpy(joint->translation, m->body.begins[j], sizeof joint->translation);
        memcpy(joint->axis, m->body.begin_axes[j], sizeof joint->axis);
    }
    for (int s = 0; s < m->body.site_count; s++) {
        snprintf(m->site_names[s], sizeof m->site_names[s], "m%d", s);
        m->sites[s].name = m->site_names[s];
        m->sites[s].joint = m->body.joints[s];
    }
    for (int i = 0; i < m->body.scan_count; i++) {
        snprintf(m->scan_names[i], sizeof m->scan_names[i], "scan_%d", i);
        m->scans[i] = (ex_kin_scan){.name = m->scan_names[i], .locked = m->locked[i]};
        for (int j = 0; j < MARKED_JOINTS; j++)
            m->locked[i][j] = m->body.locked[i][j];
    }
    m->kinematics = (ex_kinematics){.name = m->site_names[0],
                                    .joint_count = MARKED_JOINTS,
                                    .joints = m->joints,
                                    .site_count = m->body.site_count,
                                    .sites = m->sites};
    m->def = (ex_kin_fit_def){.kinematics = &m->kinematics,
                              .free_bones = true,
                              .scan_count = m->body.scan_count,
                              .scans = m->scans,
                              .sightings = m->sightings,
                              .reference = 0,
                              .rigid = true};
    marked_scene_look(m);
    return m;
}

/* Differences between a fit and the truth. */
typedef struct marked_errors {
    double angles;     /* degrees RMS, over all free rotations */
    double worst;      /* the largest */
    double across;     /* metres: the largest error of a bone, across the axes at both its ends */
    double directions; /* degrees: the largest of an axis */
} marked_errors;

static inline double marked_turn_error(const marked_body *b, const ex_kin_fit *fit, int i, int j) {
    const double *q = fit->poses[i].rotations[j];
    double dot = 0;
    if (marked_freedoms[j] == 1) {
        const double angle = ex_kin_angle(&fit->kinematics->joints[j], q) - b->angles[i][j] * (180 / 3.14159265358979);
        return fabs(angle) < 180 ? fabs(angle) : 360 - fabs(angle);
    }
    for (int k = 0; k < 4; k++)
        dot += q[k] * b->turns[i][j][k];
    return 2 * acos(fabs(dot) < 1 ? fabs(dot) : 1) * (180 / 3.14159265358979);
}

static inline marked_errors marked_compare(const marked_body *b, const ex_kin_fit *fit) {
    marked_errors e = {0};
    int count = 0;
    for (int j = 0; j < MARKED_JOINTS; j++) {
        double d[3], dot = 0;
        for (int i = 1; i < b->scan_count; i++)
            if (!b->locked[i][j]) {
                const double a = marked_turn_error(b, fit, i, j);
                e.angles += a * a;
                e.worst = a > e.worst ? a : e.worst;
                count++;
            }
        for (int k = 0; k < 3; k++) {
            d[k] = fit->kinematics->joints[j].translation[k] - b->translations[j][k];
            dot += fit->kinematics->joints[j].axis[k] * b->axes[j][k];
        }
        if (marked_freedoms[j] == 1)
            e.directions = fmax(e.directions, acos(dot < 1 ? dot : 1) * (180 / 3.14159265358979));
        for (int end = 0; end < 2; end++) { /* along the axis at either end a bone's length is a convention */
            const int other = end == 0 ? j : marked_parents[j];
            double along = 0;
            for (int k = 0; other >= 0 && k < 3; k++)
                along += d[k] * b->axes[other][k];
            for (int k = 0; other >= 0 && k < 3; k++)
                d[k] -= along * b->axes[other][k];
        }
        const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (j > 0)
            e.across = fmax(e.across, length);
    }
    e.angles = sqrt(e.angles / (count > 0 ? count : 1));
    return e;
}

#endif
