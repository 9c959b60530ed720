/*
 * The demo `scanned`: the person of the demo `human` as a man, seen head to feet by the program's own scanner in six
 * poses, and the body that is made of his scans, as a rig and as a project. Points on his clothes and skin stand for
 * landmarks that a person clicked, a few millimetres off. The folder is an ordinary session with a template person:
 * registered scans are kept, so an interrupted run goes on, here or by `exemplar scan run`.
 */
#include "demos/demos.h"
#include "demos/human/person.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/author/project.h>
#include <exemplar/author/scan.h>
#include <exemplar/author/scan_body.h>
#include <exemplar/author/scan_simulate.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is scanned ---- */

/* The man, over the dials of the person. */
static const struct {
    const char *name;
    double value;
} figure[] = {{"gender", 1}, {"age", 35}, {"muscle", 0.5}, {"weight", 0.15}};
enum { DIALS = sizeof figure / sizeof *figure };

/* The reference first. Hips bend by half a right angle at most: further, the hem of the shirt hides the fold, and what
 * the template has there is a guess. */
static const exi_stance stances[] = {
    {"stand", NULL, 0, {{0}}},
    {"raise",
     NULL,
     0,
     {{"clavicle", ".L", 2, 8},
      {"clavicle", ".R", 2, -8},
      {"upperarm01", ".L", 2, 75},
      {"upperarm01", ".R", 2, -75},
      {"upperleg01", ".L", 0, -45},
      {"lowerleg01", ".L", EXI_PERSON_BEND, 60}}},
    {"forward",
     NULL,
     0,
     {{"upperarm01", ".L", 1, -65},
      {"upperarm01", ".R", 1, 65},
      {"lowerarm01", ".L", EXI_PERSON_BEND, 40},
      {"lowerarm01", ".R", EXI_PERSON_BEND, 80},
      {"upperleg01", ".R", 0, -45},
      {"lowerleg01", ".R", EXI_PERSON_BEND, 60}}},
    {"squat",
     NULL,
     0,
     {{"spine04", "", 0, 12},
      {"spine02", "", 0, 10},
      {"upperleg01", ".L", 0, -45},
      {"upperleg01", ".R", 0, -45},
      {"lowerleg01", ".L", EXI_PERSON_BEND, 85},
      {"lowerleg01", ".R", EXI_PERSON_BEND, 85},
      {"upperarm01", ".L", 2, 30},
      {"upperarm01", ".R", 2, -30}}},
    {"twist",
     NULL,
     0,
     {{"spine04", "", 1, 12},
      {"spine02", "", 1, 12},
      {"spine01", "", 1, 8},
      {"spine03", "", 2, -14},
      {"neck01", "", 1, 25},
      {"upperarm01", ".L", 2, 50}}},
    {"run", "poses", 8, {{0}}},
};
enum { STANCES = sizeof stances / sizeof *stances };

/* Names of the template's landmarks, and where they are on the person at rest, in metres. */
static const struct {
    const char *name;
    double place[3];
} landmarks[] = {
    {"head_top", {-0.004, 1.639, 0.052}},
    {"nose", {0, 1.469, 0.159}},
    {"chin", {0, 1.398, 0.127}},
    {"neck_back", {-0.016, 1.336, -0.037}},
    {"breastbone", {0, 1.245, 0.119}},
    {"navel", {0, 0.914, 0.147}},
    {"elbow_tip.L", {0.308, 1.105, -0.014}},
    {"elbow_tip.R", {-0.308, 1.105, -0.014}},
    {"shoulder_top.L", {0.167, 1.325, 0.006}},
    {"shoulder_top.R", {-0.169, 1.324, 0.006}},
    {"wrist_top.L", {0.427, 1.004, 0.143}},
    {"wrist_top.R", {-0.427, 1.004, 0.143}},
    {"fingertip.L", {0.475, 0.866, 0.274}},
    {"fingertip.R", {-0.475, 0.866, 0.274}},
    {"knee.L", {0.12, 0.486, 0.115}},
    {"knee.R", {-0.11, 0.476, 0.113}},
    {"ankle_outside.L", {0.212, 0.062, 0.039}},
    {"ankle_outside.R", {-0.212, 0.062, 0.039}},
    {"heel.L", {0.181, 0.028, -0.029}},
    {"heel.R", {-0.181, 0.028, -0.029}},
    {"toe_tip.L", {0.154, 0.006, 0.205}},
    {"toe_tip.R", {-0.154, 0.006, 0.205}},
};
enum { LANDMARKS = sizeof landmarks / sizeof *landmarks };

#define CLICK 0.003 /* metres that a click is off, at most, in each direction */

/* ---- the session ---- */

enum { VIEWS = 4 };

typedef struct scanning {
    const char *directory;
    const exi_demo_options *options;
    ex_error *error;
    ex_scan_simulation scanner;
    ex_pose poses[STANCES];
    const char *names[STANCES];
    ex_error errors[STANCES];
    int vertices[LANDMARKS]; /* of the landmarks */
} scanning;

static ex_result report(const scanning *s, const char *what, double part) {
    const ex_progress *progress = s->options->progress;
    return !progress || progress->report(progress->user, what, part)
               ? EX_OK
               : ex_error_set(s->error, EX_ERROR_FILE, "stopped before it was finished");
}

static ex_result make_folders(const scanning *s) {
    static const char *const names[] = {"scans", "landmarks"};
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < sizeof names / sizeof *names; i++) {
        char *path = exi_demo_path(s->directory, names[i]);
        result = path ? ex_make_directory(path, s->error) : ex_error_memory(s->error, "a path", 0);
        free(path);
    }
    return result;
}

/* The next number of a sequence, from -1 to 1. */
static double click(uint32_t *seed) {
    *seed = *seed * 1664525U + 1013904223U;
    return 2.0 * (double)(*seed >> 8) / 16777216 - 1;
}

/* Finds the vertices of the landmarks: the nearest at rest. */
static void find_landmarks(scanning *s, const exi_person *person) {
    exi_person_evaluate(person);
    for (int i = 0; i < LANDMARKS; i++) {
        double least = HUGE_VAL;
        for (int v = 0; v < ex_rig_vertex_count(person->rig); v++) {
            double apart = 0;
            for (int c = 0; c < 3; c++) {
                const double d = (double)person->positions[3 * (size_t)v + (size_t)c] - landmarks[i].place[c];
                apart += d * d;
            }
            if (apart < least) {
                least = apart;
                s->vertices[i] = v;
            }
        }
    }
}

/* Writes landmarks/NAME.csv of the person as she is. */
static ex_result write_landmarks(const scanning *s, const exi_person *person, int stance) {
    char name[64], text[64 * (LANDMARKS + 1)];
    uint32_t seed = (uint32_t)stance + 1;
    int size = snprintf(text, sizeof text, "marker,x,y,z\n");
    for (int i = 0; i < LANDMARKS; i++) {
        const float *at = person->positions + 3 * (size_t)s->vertices[i];
        size += snprintf(text + size, sizeof text - (size_t)size, "%s", landmarks[i].name);
        for (int c = 0; c < 3; c++) {
            char number[32];
            exi_demo_number(number, (double)at[c] + CLICK * click(&seed), 4);
            size += snprintf(text + size, sizeof text - (size_t)size, ",%s", number);
        }
        size += snprintf(text + size, sizeof text - (size_t)size, "\n");
    }
    snprintf(name, sizeof name, "landmarks/%s.csv", stances[stance].name);
    return exi_demo_write_text(s->directory, name, text, s->error);
}

static ex_result pose_all(scanning *s, exi_person *person) {
    ex_result result = EX_OK;
    find_landmarks(s, person);
    for (int i = 0; result == EX_OK && i < STANCES; i++) {
        result = exi_person_stand(person, &stances[i], s->error);
        for (int k = 0; k < DIALS; k++)
            ex_rig_set_input(person->rig, ex_rig_input_find(person->rig, figure[k].name), &figure[k].value,
                             &person->pose);
        exi_person_evaluate(person);
        s->names[i] = stances[i].name;
        s->poses[i] = ex_pose_create(person->rig);
        if (!s->poses[i].inputs)
            return ex_error_memory(s->error, "a pose", 0);
        memcpy(s->poses[i].inputs, person->pose.inputs,
               (size_t)ex_rig_pose_size(person->rig) * sizeof *person->pose.inputs);
        memcpy(s->poses[i].joints, person->pose.joints,
               (size_t)ex_rig_joint_count(person->rig) * sizeof *person->pose.joints);
        if (result == EX_OK)
            result = write_landmarks(s, person, i);
    }
    return result;
}

/* Writes scans/NAME_1.ply and so on. */
static ex_result scan_one(const scanning *s, int stance, ex_error *error) {
    ex_scan_shot *shot = NULL;
    ex_result result = ex_scan_shoot(&s->scanner, stance, NULL, 0, &shot, error);
    for (int k = 0; result == EX_OK && k < VIEWS; k++) {
        char name[64];
        snprintf(name, sizeof name, "scans/%s_%d.ply", stances[stance].name, k + 1);
        char *path = exi_demo_path(s->directory, name);
        result = path ? ex_ply_write(path, shot->meshes[k], EX_PLY_LITTLE_ENDIAN, error)
                      : ex_error_memory(error, "a path", 0);
        free(path);
    }
    ex_scan_shot_destroy(shot);
    return result;
}

static void scan_some(void *context, int begin, int end) {
    scanning *s = context;
    for (int i = begin; i < end; i++)
        s->errors[i].result = scan_one(s, i, &s->errors[i]);
}

static ex_result scan_all(scanning *s) {
    const ex_tasks *tasks = s->options->tasks;
    const ex_result result = report(s, "scanning", 0);
    if (result != EX_OK)
        return result;
    if (tasks)
        tasks->run(tasks->user, STANCES, 1, scan_some, s);
    else
        scan_some(s, 0, STANCES);
    for (int i = 0; i < STANCES; i++)
        if (s->errors[i].result != EX_OK) {
            if (s->error)
                *s->error = s->errors[i];
            return s->errors[i].result;
        }
    return EX_OK;
}

/* Writes scan.json, last. */
static ex_result write_session(const scanning *s) {
    char text[256 * (STANCES + 1)];
    int size =
        snprintf(text, sizeof text,
                 "{\n  \"exemplar_scan\": 1,\n  \"skeleton\": \"full\",\n  \"reference\": \"%s\",\n  \"scans\": [\n",
                 stances[0].name);
    for (int i = 0; i < STANCES; i++) {
        size += snprintf(text + size, sizeof text - (size_t)size, "    {\"name\": \"%s\", ", stances[i].name);
        for (int k = 0; k < VIEWS; k++)
            size += snprintf(text + size, sizeof text - (size_t)size, "%s\"scans/%s_%d.ply\"",
                             k == 0 ? "\"files\": [" : ", ", stances[i].name, k + 1);
        size += snprintf(text + size, sizeof text - (size_t)size, "]}%s\n", i < STANCES - 1 ? "," : "");
    }
    snprintf(text + size, sizeof text - (size_t)size, "  ]\n}\n");
    return exi_demo_write_text(s->directory, "scan.json", text, s->error);
}

ex_result exi_demo_scans(const char *directory, const exi_demo_options *options, ex_error *error) {
    scanning s = {.directory = directory, .options = options, .error = error, .scanner = ex_scan_simulation_default()};
    exi_person *person = NULL;
    ex_result result = exi_person_open(&person, error);
    if (result == EX_OK)
        result = make_folders(&s);
    if (result == EX_OK)
        result = pose_all(&s, person);
    if (result == EX_OK) {
        s.scanner.rig = person->rig;
        s.scanner.poses = s.poses;
        s.scanner.names = s.names;
        s.scanner.pose_count = STANCES;
        s.scanner.view_count = VIEWS;
        s.scanner.pitch[0] = 0.008;
        s.scanner.pitch[1] = 0.005;
        result = scan_all(&s);
    }
    if (result == EX_OK)
        result = write_session(&s);
    for (int i = 0; i < STANCES; i++)
        free(s.poses[i].inputs);
    exi_person_close(person);
    return result;
}

/* ---- the body ---- */

ex_result exi_demo_scanned(const char *directory, const exi_demo_options *options, ex_error *error) {
    const ex_scan_carry_options carrying = {.progress = options->progress, .tasks = options->tasks};
    const ex_scan_body_options making = {
        .without_left_outs = true, .progress = options->progress, .tasks = options->tasks};
    ex_scan_session *session = NULL;
    ex_scan_carried *carried = NULL;
    ex_scan_body *body = NULL;
    ex_result result = exi_demo_scans(directory, options, error);
    if (result == EX_OK)
        result = ex_scan_session_read(directory, &session, error);
    if (result == EX_OK)
        result = ex_scan_carry(session, &carrying, &carried, error);
    if (result == EX_OK)
        result = ex_scan_body_make(session, &making, &body, error);
    if (result == EX_OK)
        result = ex_scan_body_write(session, body, error);
    if (result == EX_OK)
        result = ex_project_unpack(body->rig, directory, "scanned", true, error);
    ex_scan_body_destroy(body);
    ex_scan_carried_destroy(carried);
    ex_scan_session_destroy(session);
    return result;
}
