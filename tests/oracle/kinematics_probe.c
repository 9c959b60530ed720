/*
 * Fits a small skeleton that comes on standard input, as least squares with all markers alike, for
 * kinematics_oracle.py.
 *
 *   joint PARENT base|ball|hinge TX TY TZ AX AY AZ
 *   site JOINT
 *   scan
 *   sight SCAN SITE X Y Z
 *
 * Scan 0 is the reference. Out: "sum S", then for each sighting "at ERROR", for each hinge "axis X Y Z", for each scan
 * and hinge "angle DEGREES".
 */
#include <exemplar/author/kinematics.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINTS = 16, SITES = 64, SCANS = 32, SIGHTINGS = SITES * SCANS };

static ex_kin_joint joints[JOINTS];
static ex_site sites[SITES];
static ex_kin_scan scans[SCANS];
static ex_sighting sightings[SIGHTINGS];
static char name[] = "x";

static bool read_problem(ex_kinematics *k, ex_kin_fit_def *def) {
    char word[16], kind[16];
    while (scanf("%15s", word) == 1) {
        if (strcmp(word, "joint") == 0 && k->joint_count < JOINTS) {
            ex_kin_joint *j = &joints[k->joint_count++];
            *j = (ex_kin_joint){.name = name, .mirror = -1};
            if (scanf("%d %15s %lf %lf %lf %lf %lf %lf", &j->parent, kind, &j->translation[0], &j->translation[1],
                      &j->translation[2], &j->axis[0], &j->axis[1], &j->axis[2]) != 8)
                return false;
            j->freedom = strcmp(kind, "base") == 0    ? EX_FREEDOM_BASE
                         : strcmp(kind, "hinge") == 0 ? EX_FREEDOM_HINGE
                                                      : EX_FREEDOM_BALL;
        } else if (strcmp(word, "site") == 0 && k->site_count < SITES) {
            sites[k->site_count] = (ex_site){.name = name};
            if (scanf("%d", &sites[k->site_count++].joint) != 1)
                return false;
        } else if (strcmp(word, "scan") == 0 && def->scan_count < SCANS) {
            scans[def->scan_count++] = (ex_kin_scan){.name = name};
        } else if (strcmp(word, "sight") == 0 && def->sighting_count < SIGHTINGS) {
            ex_sighting *s = &sightings[def->sighting_count++];
            *s = (ex_sighting){.weight = 1};
            if (scanf("%d %d %lf %lf %lf", &s->scan, &s->site, &s->position[0], &s->position[1], &s->position[2]) != 5)
                return false;
        } else {
            return false;
        }
    }
    return true;
}

int main(void) {
    ex_kinematics k = {.name = name, .joints = joints, .sites = sites};
    ex_kin_fit_def def = {.kinematics = &k,
                          .free_bones = true,
                          .scans = scans,
                          .sightings = sightings,
                          .loss = INFINITY,
                          .even = true,
                          .rigid = true,
                          .iterations = 200};
    ex_kin_fit *fit = NULL;
    ex_error error = {0};
    if (!read_problem(&k, &def) || ex_kinematics_fit(&def, &fit, &error) != EX_OK) {
        fprintf(stderr, "%s\n", error.text[0] ? error.text : "not a problem");
        return 1;
    }
    double sum = 0;
    for (int i = 0; i < def.sighting_count; i++)
        sum += fit->errors[i] * fit->errors[i];
    printf("sum %.17g\n", sum);
    for (int i = 0; i < def.sighting_count; i++)
        printf("at %.17g\n", fit->errors[i]);
    for (int j = 0; j < k.joint_count; j++)
        if (joints[j].freedom == EX_FREEDOM_HINGE)
            printf("axis %.17g %.17g %.17g\n", fit->kinematics->joints[j].axis[0], fit->kinematics->joints[j].axis[1],
                   fit->kinematics->joints[j].axis[2]);
    for (int i = 0; i < def.scan_count; i++)
        for (int j = 0; j < k.joint_count; j++)
            if (joints[j].freedom == EX_FREEDOM_HINGE)
                printf("angle %.17g\n", ex_kin_angle(&fit->kinematics->joints[j], fit->poses[i].rotations[j]));
    ex_kin_fit_destroy(fit);
    return 0;
}
