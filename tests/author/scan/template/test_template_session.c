/*
 * The template of a session: a scan taken at another place is moved to the skeleton, a mesh may replace the generated
 * one, and the files read back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/author/scan.h>
#include <exemplar/author/scan_body.h>

#include "runtime/base/vector.h"
#include "support/check.h"
#include "support/scratch.h"

/* ---- a session without files ---- */

static char folder[512], *files[] = {"scan.ply"};
static const double turn[4] = {0, 0.3826834323650898, 0, 0.9238795325112867}, place[3] = {0.3, 1.1, -0.2};

typedef struct session_case {
    ex_scan_session session;
    ex_scan_fitted fitted;
    ex_scan_entry entry;
    ex_kin_pose pose;
    double rotations[32][4];
    char *names[1];
} session_case;

static void open_case(session_case *c) {
    ex_error error = {0};
    *c = (session_case){.names = {"stand"}};
    c->entry = (ex_scan_entry){.name = "stand", .file_count = 1, .files = files};
    c->session = (ex_scan_session){.folder = folder, .scan_count = 1, .scans = &c->entry};
    if (ex_kinematics_read("upper", &c->fitted.kinematics, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int j = 0; j < c->fitted.kinematics->joint_count; j++)
        c->rotations[j][3] = 1;
    memcpy(c->rotations[0], turn, sizeof turn);
    memcpy(c->pose.translation, place, sizeof place);
    c->pose.rotations = c->rotations;
    c->fitted.scan_count = 1;
    c->fitted.names = c->names;
    c->fitted.poses = &c->pose;
}

/* Writes a template's smooth surface as a scan of someone turned and at another place; returns it unmoved. */
static ex_mesh *write_scan(const session_case *c, const ex_template *made, const char *path) {
    const ex_subdivide_def def = {.scheme = EX_SCHEME_CATMULL_CLARK, .levels = 2};
    const double *base = c->fitted.kinematics->joints[0].translation;
    ex_subdivision *subdivision = NULL;
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    if (ex_mesh_subdivide(made->cage, &def, &subdivision, &error) != EX_OK ||
        ex_subdivision_mesh(subdivision, made->cage, 2, &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh *still = ex_mesh_copy(mesh);
    assert_non_null(still);
    for (int v = 0; v < mesh->vertex_count; v++) {
        double away[3];
        exi_subtract(mesh->positions + 3 * v, base, away);
        exi_rotate(turn, away, away);
        for (int k = 0; k < 3; k++)
            mesh->positions[3 * v + k] = away[k] + place[k];
    }
    if (ex_ply_write(path, mesh, EX_PLY_LITTLE_ENDIAN, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh_destroy(mesh);
    ex_subdivision_destroy(subdivision);
    return still;
}

/* Root mean square distance of the vertices. */
static double distance(const ex_mesh *a, const ex_mesh *b) {
    double sum = 0;
    assert_int_equal(a->vertex_count, b->vertex_count);
    for (int i = 0; i < 3 * a->vertex_count; i++)
        sum += (a->positions[i] - b->positions[i]) * (a->positions[i] - b->positions[i]);
    return sqrt(sum / a->vertex_count);
}

static void brought_back(void **state) {
    session_case c;
    ex_template *usual = NULL, *made = NULL, *direct = NULL;
    ex_error error = {0};
    char path[600];
    (void)state;
    snprintf(folder, sizeof folder, "%s", scratch_path("session"));
    assert_int_equal(ex_make_directory(folder, &error), EX_OK);
    open_case(&c);
    assert_int_equal(ex_template_create(c.fitted.kinematics, NULL, &usual, &error), EX_OK);
    for (int v = 0; v < usual->cage->vertex_count; v++)
        usual->cage->positions[3 * v + 2] *= 1.2; /* deeper than expected */
    snprintf(path, sizeof path, "%s/scan.ply", folder);
    ex_mesh *scan = write_scan(&c, usual, path);
    const ex_template_options options = {.scans = (const ex_mesh *const[]){scan}, .scan_count = 1};
    assert_int_equal(ex_template_create(c.fitted.kinematics, &options, &direct, &error), EX_OK);
    if (ex_scan_template(&c.session, &c.fitted, NULL, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(distance(made->cage, direct->cage) < 1e-5);
    ex_template_destroy(direct);
    ex_mesh_destroy(scan);

    if (ex_scan_template_write(&c.session, made, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_template again = {0};
    ex_rig *rig = NULL;
    snprintf(path, sizeof path, "%s/template/cage.obj", folder);
    assert_int_equal(ex_obj_read(path, &again.cage, &error), EX_OK);
    snprintf(path, sizeof path, "%s/template/body.glb", folder);
    assert_int_equal(ex_scene_read(path, &again.scene, &error), EX_OK);
    again.cage->positions[0] += 0.01; /* as refitting does */
    if (ex_template_rig(&again, 1, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(ex_rig_joint_count(rig), c.fitted.kinematics->joint_count);
    for (int j = 0; j < ex_rig_joint_count(rig); j++)
        assert_string_equal(ex_skeleton_name(ex_rig_skeleton(rig), j), c.fitted.kinematics->joints[j].name);
    ex_rig_destroy(rig);
    ex_mesh_destroy(again.cage);
    ex_scene_destroy(again.scene);
    ex_template_destroy(made);
    made = NULL;

    snprintf(path, sizeof path, "%s/template/cage.obj", folder); /* in place of the generated one */
    c.session.cage = "template/cage.obj";
    assert_int_equal(ex_scan_template(&c.session, &c.fitted, NULL, &made, &error), EX_OK);
    assert_int_equal(made->cage->vertex_count, usual->cage->vertex_count);
    ex_template_destroy(made);
    c.session.cage = NULL;
    assert_int_equal(ex_scan_template(&c.session, &c.fitted, path, &made, &error), EX_OK);
    ex_template_destroy(made);
    assert_int_equal(ex_scan_template(&c.session, &c.fitted, "nowhere.obj", &made, &error), EX_ERROR_FILE);
    assert_null(made);
    c.names[0] = "sit";
    assert_int_equal(ex_scan_template(&c.session, &c.fitted, NULL, &made, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "'stand'");
    ex_template_destroy(usual);
    ex_kinematics_destroy(c.fitted.kinematics);
    static const char *const left[] = {"template/cage.obj", "template/body.glb", "template", "scan.ply"};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, left[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(remove(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(brought_back, scratch_set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
