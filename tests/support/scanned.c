#include "support/scanned.h"

#include "support/check.h"
#include "support/scratch.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/author/project.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RINGS = 17, SIDES = 8 };

const char scanned_left[] =
    "{\"name\": \"arm\", \"joints\": [\"elbow.L\"], \"covers\": [\"hips\", \"elbow.L\", \"tip.L\"]}";
const char scanned_both[] =
    "{\"name\": \"left\", \"joints\": [\"elbow.L\"], \"covers\": [\"hips\", \"elbow.L\", \"tip.L\"]},"
    "{\"name\": \"right\", \"joints\": [\"elbow.R\"], \"covers\": [\"hips\", \"elbow.R\", \"tip.R\"]}";

static void *must(void *memory) {
    if (!memory)
        fail_msg("no memory for a test");
    return memory;
}

/* ---- the truth ---- */

static double swell(double x, double y, double degrees) {
    const double t = x < -0.2 ? 0 : x > 0.2 ? 1 : (x + 0.2) / 0.4; /* also a part of the trunk's other half */
    return degrees / 60 * 0.008 * t * t * (3 - 2 * t) * (1 + 6 * (y - 1));
}

double scanned_skin(const float place[3], double left, double right) {
    const double x = (double)place[0], y = (double)place[1];
    return 0.004 * cos(12 * x) + swell(x, y, left) + swell(-x, y, right);
}

static ex_mesh *make_cage(void) {
    ex_mesh *mesh = must(ex_mesh_create());
    mesh->vertex_count = RINGS * SIDES;
    mesh->positions = must(malloc(3 * (size_t)mesh->vertex_count * sizeof(double)));
    mesh->face_count = (RINGS - 1) * SIDES;
    mesh->corner_count = 4 * mesh->face_count;
    mesh->face_offsets = must(malloc((size_t)(mesh->face_count + 1) * sizeof(int)));
    mesh->corners = must(malloc((size_t)mesh->corner_count * sizeof(int)));
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double turn = 6.283185307179586 * (v % SIDES) / SIDES;
        const double place[3] = {0.08 * (v / SIDES - (RINGS - 1) / 2), 1 + 0.08 * cos(turn), -0.08 * sin(turn)};
        for (int c = 0; c < 3; c++) /* rounded as in a file in single precision */
            mesh->positions[3 * v + c] = (double)(float)place[c];
    }
    for (int f = 0; f <= mesh->face_count; f++)
        mesh->face_offsets[f] = 4 * f;
    for (int f = 0; f < mesh->face_count; f++) {
        const int row = f / SIDES * SIDES, side = f % SIDES, next = (side + 1) % SIDES;
        const int quad[4] = {row + side, row + SIDES + side, row + SIDES + next, row + next};
        memcpy(mesh->corners + 4 * f, quad, sizeof quad);
    }
    return mesh;
}

/* ---- files ---- */

static void write_skeleton(bool apart) {
    static const char form[] =
        "{\"exemplar_skeleton\": 1, \"name\": \"tube\", \"joints\": ["
        "{\"name\": \"hips\", \"joint\": \"base\", \"translation\": [0, 1, 0]},"
        "{\"name\": \"elbow.L\", \"parent\": \"hips\", \"joint\": \"hinge\", \"translation\": [0.28, 0, 0],"
        " \"axis\": [0, 0, 1]},"
        "{\"name\": \"tip.L\", \"parent\": \"elbow.L\", \"joint\": \"fixed\", \"translation\": [0.24, 0, 0]},"
        "{\"name\": \"elbow.R\", \"parent\": \"hips\", \"joint\": \"hinge\", %s},"
        "{\"name\": \"tip.R\", \"parent\": \"elbow.R\", \"joint\": \"fixed\", %s}]}";
    char text[1200];
    const int size =
        snprintf(text, sizeof text, form,
                 apart ? "\"translation\": [-0.28, 0, 0], \"axis\": [0, 0, -1]" : "\"mirror\": \"elbow.L\"",
                 apart ? "\"translation\": [-0.24, 0, 0]" : "\"mirror\": \"tip.L\"");
    scratch_write("tube.json", text, (size_t)size);
}

static void write_session(const scanned_def *def) {
    char text[3000];
    int size = snprintf(text, sizeof text,
                        "{\"exemplar_scan\": 1, \"skeleton\": \"tube.json\", \"reference\": \"%s\", \"levels\": %d, "
                        "\"noise\": 1e-9, %s\"parts\": [%s], \"scans\": [",
                        def->scans[0].name, SCANNED_LEVEL, def->options ? def->options : "", def->parts);
    for (int i = 0; def->scans[i].name; i++)
        size += snprintf(text + size, sizeof text - (size_t)size,
                         "%s{\"name\": \"%s\", \"part\": %s%s%s, \"files\": [\"%s.ply\"]}", i > 0 ? ", " : "",
                         def->scans[i].name, def->scans[i].part[0] == '[' ? "" : "\"", def->scans[i].part,
                         def->scans[i].part[0] == '[' ? "" : "\"", def->scans[i].name);
    size += snprintf(text + size, sizeof text - (size_t)size, "]}");
    scratch_write("scan.json", text, (size_t)size);
}

static void turn_hinge(const ex_kin_joint *joint, double degrees, double q[4]) {
    const double half = degrees * 3.14159265358979323846 / 360;
    for (int c = 0; c < 3; c++)
        q[c] = sin(half) * joint->axis[c];
    q[3] = cos(half);
}

static void write_fit(const scanned *s, const scanned_def *def) {
    char *names[6];
    double rms[6] = {0.001, 0.002, 0.001, 0.001, 0.001, 0.001}, rotations[6][SCANNED_JOINTS][4];
    ex_kin_pose poses[6];
    ex_scan_fitted fitted = {.kinematics = s->session->kinematics, .names = names, .poses = poses, .rms = rms};
    ex_error error = {0};
    for (int i = 0; def->scans[i].name; i++) {
        names[i] = s->session->scans[i].name;
        poses[i] = (ex_kin_pose){.translation = {0, 1, 0}, .rotations = rotations[i]};
        for (int j = 0; j < SCANNED_JOINTS; j++)
            memcpy(rotations[i][j], (const double[4]){0, 0, 0, 1}, sizeof rotations[i][j]);
        turn_hinge(&s->session->kinematics->joints[SCANNED_LEFT], def->scans[i].left, rotations[i][SCANNED_LEFT]);
        turn_hinge(&s->session->kinematics->joints[SCANNED_RIGHT], def->scans[i].right, rotations[i][SCANNED_RIGHT]);
        fitted.scan_count++;
    }
    if (ex_scan_fitted_write(scratch_path("fit.json"), &fitted, &error) != EX_OK)
        fail_msg("%s", error.text);
}

/* ---- sessions ---- */

void scanned_open(scanned *s, const scanned_def *def) {
    ex_error error = {0};
    ex_mesh *cage = make_cage();
    *s = (scanned){0};
    write_skeleton(def->apart);
    write_session(def);
    if (ex_scan_session_read(scratch_path("."), &s->session, &error) != EX_OK)
        fail_msg("%s", error.text);
    write_fit(s, def);
    const ex_template_options options = {.cage = cage};
    if (ex_scan_fitted_read(scratch_path("fit.json"), &s->fitted, &error) != EX_OK ||
        ex_template_create(s->fitted->kinematics, &options, &s->template, &error) != EX_OK ||
        ex_scan_template_write(s->session, s->template, &error) != EX_OK ||
        ex_template_rig(s->template, SCANNED_LEVEL, &s->rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    s->count = ex_rig_level_vertex_count(s->rig, SCANNED_LEVEL);
    for (int i = 0; def->scans[i].name; i++) {
        char name[100];
        snprintf(name, sizeof name, "%s.ply", def->scans[i].name);
        scanned_write(s, name, def->scans[i].left, def->scans[i].right);
    }
    ex_mesh_destroy(cage);
}

void scanned_close(scanned *s) {
    ex_rig_destroy(s->rig);
    ex_template_destroy(s->template);
    ex_scan_fitted_destroy(s->fitted);
    ex_scan_session_destroy(s->session);
}

/* ---- surfaces ---- */

void scanned_bend(const scanned *s, double left, double right, ex_transform *joints) {
    double rotations[SCANNED_JOINTS][4];
    const ex_kin_pose pose = {.translation = {0, 1, 0}, .rotations = rotations};
    for (int j = 0; j < SCANNED_JOINTS; j++)
        memcpy(rotations[j], (const double[4]){0, 0, 0, 1}, sizeof rotations[j]);
    turn_hinge(&s->fitted->kinematics->joints[SCANNED_LEFT], left, rotations[SCANNED_LEFT]);
    turn_hinge(&s->fitted->kinematics->joints[SCANNED_RIGHT], right, rotations[SCANNED_RIGHT]);
    ex_template_pose(s->fitted->kinematics, &pose, joints);
}

static void evaluate(const scanned *s, const ex_rig *rig, const ex_pose *pose, float **positions, float **normals) {
    const ex_evaluation evaluation = {.level = SCANNED_LEVEL};
    void *scratch = must(malloc(ex_rig_scratch_size(rig, &evaluation, 1)));
    assert_int_equal(ex_rig_level_vertex_count(rig, SCANNED_LEVEL), s->count);
    *positions = must(malloc(3 * (size_t)s->count * sizeof(float)));
    if (normals)
        *normals = must(malloc(3 * (size_t)s->count * sizeof(float)));
    ex_rig_evaluate(rig, pose, &(ex_output){.positions = *positions, .normals = normals ? *normals : NULL}, &evaluation,
                    scratch);
    free(scratch);
}

void scanned_plain(const scanned *s, double left, double right, float **positions, float **normals, float **rest) {
    ex_transform joints[SCANNED_JOINTS];
    scanned_bend(s, left, right, joints);
    evaluate(s, s->rig, &(ex_pose){.joints = joints}, positions, normals);
    evaluate(s, s->rig, &(ex_pose){.joints = NULL}, rest, NULL);
}

float *scanned_truth(const scanned *s, double left, double right) {
    float *positions, *normals, *rest;
    scanned_plain(s, left, right, &positions, &normals, &rest);
    for (int v = 0; v < s->count; v++)
        for (int c = 0; c < 3; c++)
            positions[3 * v + c] += (float)scanned_skin(rest + 3 * v, left, right) * normals[3 * v + c];
    free(normals);
    free(rest);
    return positions;
}

void scanned_write(const scanned *s, const char *name, double left, double right) {
    float *positions = scanned_truth(s, left, right);
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    if (ex_rig_to_mesh(s->rig, &(ex_surface){.level = SCANNED_LEVEL, .positions = positions}, &mesh, &error) != EX_OK ||
        ex_ply_write(scratch_path(name), mesh, EX_PLY_LITTLE_ENDIAN, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(mesh);
    free(positions);
}

ex_rig *scanned_body(void) {
    ex_project *project = NULL;
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_project_read(scratch_path("body.json"), &project, &error) != EX_OK ||
        ex_project_build(project, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_project_destroy(project);
    return rig;
}

float *scanned_evaluate(const scanned *s, const ex_rig *body, double left, double right, const char *dial,
                        double value) {
    ex_pose pose = ex_pose_create(body);
    float *positions;
    assert_non_null(pose.inputs);
    assert_int_equal(ex_rig_joint_count(body), SCANNED_JOINTS);
    scanned_bend(s, left, right, pose.joints);
    if (dial) {
        const int input = ex_rig_input_find(body, dial);
        if (input < 0)
            fail_msg("the body has no dial '%s'", dial);
        ex_rig_set_input(body, input, &value, &pose);
    }
    evaluate(s, body, &pose, &positions, NULL);
    free(pose.inputs);
    return positions;
}

double scanned_distance(const scanned *s, const float *a, const float *b) {
    double most = 0;
    for (int v = 0; v < s->count; v++) {
        double square = 0;
        for (int c = 0; c < 3; c++)
            square += pow((double)a[3 * v + c] - (double)b[3 * v + c], 2);
        most = sqrt(square) > most ? sqrt(square) : most;
    }
    return most;
}

/* ---- bodies ---- */

const scanned_def scanned_one = {
    .parts = scanned_left, .scans = {{"stand", "arm", 0, 0}, {"bent", "arm", 60, 0}}, .apart = true};

const scanned_def scanned_shared = {.parts = scanned_both,
                                    .scans = {{"stand", "[\"left\", \"right\"]", 0, 0},
                                              {"bent", "[\"left\", \"right\"]", 60, 30},
                                              {"other", "[\"left\", \"right\"]", 20, 60}}};

ex_scan_built *scanned_build(const scanned *s, const ex_scan_build_options *options) {
    ex_scan_built *built = NULL;
    ex_error error = {0};
    if (ex_scan_build(s->session, s->fitted, options, &built, &error) != EX_OK)
        fail_msg("%s", error.text);
    return built;
}

const ex_scan_build_options scanned_as_is = {.keep_cage = true};

void scanned_refuse(const scanned *s, const ex_scan_build_options *options, ex_result result, const char *word) {
    ex_scan_built *built = NULL;
    ex_error error = {0};
    assert_int_equal(ex_scan_build(s->session, s->fitted, options, &built, &error), result);
    assert_sentence(&error, result, word);
    assert_null(built);
}
