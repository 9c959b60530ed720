/*
 * Sessions of the simulated scanner: the rig's skeleton as a kinematics, worked by hand; tables of poses and markers
 * with every error; a folder that reads back as a session, is resumed where it was stopped, is the same with any
 * division of the work, and is not mistaken for another one; failing memory.
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

#include "support/check.h"
#include "support/dummies.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

static const double pi = 3.14159265358979323846;

/* ---- truth ---- */

/* arm.L is turned by 73.74 degrees (cosine 0.28, sine 0.96) about z: its y points to -0.96 0.28 0. */
static void the_skeleton_is_as_the_rig_has_it(void **state) {
    (void)state;
    ex_rig *rig = dummy_rig(5, 6);
    const ex_pose poses[2] = {dummy_pose(rig), dummy_pose(rig)};
    ex_scan_truth *truth = NULL;
    const double bend = 50;
    ex_rig_set_input(rig, 0, &bend, &poses[1]);
    memcpy(poses[1].joints[DUMMY_HIPS].rotation, (float[]){0, 0.6F, 0, 0.8F}, 16);
    poses[1].joints[DUMMY_HIPS].translation[0] = 0.3F;
    assert_int_equal(ex_scan_truth_create(rig, poses, 2, 0, &truth, NULL), EX_OK);
    const ex_kinematics *k = truth->kinematics;
    assert_int_equal(k->joint_count, 4);
    const ex_kin_joint *left = &k->joints[1], *right = &k->joints[2], *tip = &k->joints[3];
    assert_string_equal(left->name, "arm.L");
    assert_int_equal(k->joints[0].freedom, EX_FREEDOM_BASE);
    assert_int_equal(left->freedom, EX_FREEDOM_HINGE);
    assert_int_equal(right->freedom, EX_FREEDOM_HINGE); /* because the other one is */
    assert_int_equal(tip->freedom, EX_FREEDOM_FIXED);
    assert_int_equal(tip->parent, 1);
    assert_int_equal(right->mirror, 1);
    assert_int_equal(left->mirror, -1);
    assert_row_near(k->joints[0].translation, ((double[]){0, 0.4, 0}), 3, 1e-6);
    assert_row_near(left->translation, ((double[]){0.05, 0.1, 0}), 3, 1e-6);
    assert_row_near(right->translation, ((double[]){-0.05, 0.1, 0}), 3, 1e-6);
    assert_row_near(tip->translation, ((double[]){0.05 * 0.28, 0.05 * 0.96, 0}), 3, 1e-6);
    assert_row_near(left->axis, ((double[]){-0.96, 0.28, 0}), 3, 1e-6);
    assert_row_near(right->axis, ((double[]){-0.96, -0.28, 0}), 3, 1e-6);
    assert_near(left->least, -90, 1e-6);
    assert_near(left->most, 120, 1e-6);
    assert_row_near(truth->poses[0].rotations[1], ((double[]){0, 0, 0, 1}), 4, 1e-6);
    assert_near(ex_kin_angle(left, truth->poses[1].rotations[1]), 50, 1e-4);
    assert_row_near(truth->poses[1].translation, ((double[]){0.3, 0.4, 0}), 3, 1e-6);
    for (int p = 0; p < 2; p++) { /* the frames of the kinematics are those of the rig */
        double rotations[4][4], places[4][3];
        ex_kin_frames(k, &truth->poses[p], rotations, places);
        for (int j = 0; j < 4; j++) {
            const double *q = truth->rotations[4 * p + j];
            double along = 0;
            for (int i = 0; i < 4; i++)
                along += q[i] * rotations[j][i];
            assert_near(fabs(along), 1, 1e-9);
            assert_row_near(places[j], truth->places[4 * p + j], 3, 1e-6);
        }
    }
    ex_scan_truth_destroy(truth);
    for (int p = 0; p < 2; p++)
        free(poses[p].inputs);
    ex_rig_destroy(rig);
}

/* Turned about another axis than the rig reads, it is a ball joint; and measured from the second pose it is not. */
static void a_hinge_that_turns_otherwise_is_none(void **state) {
    (void)state;
    ex_rig *rig = dummy_rig(5, 6);
    const ex_pose poses[2] = {dummy_pose(rig), dummy_pose(rig)};
    ex_scan_truth *truth = NULL;
    memcpy(poses[1].joints[DUMMY_LEFT].rotation, (float[]){0.5F, 0.5F, 0.5F, 0.5F}, 16);
    memcpy(poses[1].joints[DUMMY_RIGHT].rotation, (float[]){0, 0, 0, 1}, 16);
    assert_int_equal(ex_scan_truth_create(rig, poses, 2, 1, &truth, NULL), EX_OK);
    assert_int_equal(truth->kinematics->joints[1].freedom, EX_FREEDOM_BALL);
    assert_int_equal(truth->kinematics->joints[2].freedom, EX_FREEDOM_BALL);
    for (int j = 0; j < 4; j++)
        assert_near(fabs(truth->poses[1].rotations[j][3]), 1, 1e-9);
    assert_true(fabs(truth->poses[0].rotations[1][3]) < 0.99);
    assert_int_equal(truth->kinematics->joints[2].mirror, 1);
    ex_scan_truth_destroy(truth);
    for (int p = 0; p < 2; p++)
        free(poses[p].inputs);
    ex_rig_destroy(rig);
}

static void bones_are_measured_with_a_tape(void **state) {
    (void)state;
    ex_rig *rig = dummy_rig(5, 6);
    const ex_pose pose = dummy_pose(rig);
    double largest[2] = {0, 0};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        ex_scan_truth *truth = NULL;
        assert_int_equal(ex_scan_truth_create(rig, &pose, 1, 0, &truth, NULL), EX_OK);
        ex_kin_joint before[4];
        memcpy(before, truth->kinematics->joints, sizeof before);
        ex_scan_disturb(truth->kinematics, 0.02, 10, seed);
        const ex_kin_joint *after = truth->kinematics->joints;
        double off = 0, along = 0;
        for (int i = 0; i < 3; i++) {
            off += (after[1].translation[i] - before[1].translation[i]) *
                   (after[1].translation[i] - before[1].translation[i]);
            along += after[1].axis[i] * before[1].axis[i];
        }
        off = sqrt(off);
        const double turned = acos(along < 1 ? along : 1) * 180 / pi;
        assert_true(off <= 0.02 && turned <= 10.0001);
        largest[0] = off > largest[0] ? off : largest[0];
        largest[1] = turned > largest[1] ? turned : largest[1];
        assert_row_near(after[2].translation,
                        ((double[]){-after[1].translation[0], after[1].translation[1], after[1].translation[2]}), 3, 0);
        assert_row_near(after[2].axis, ((double[]){after[1].axis[0], -after[1].axis[1], -after[1].axis[2]}), 3, 0);
        assert_row_near(after[3].translation, before[3].translation, 3, 0);
        assert_true(after[3].lock_translation);
        assert_row_near(after[0].translation, before[0].translation, 3, 0);
        ex_scan_truth_destroy(truth);
    }
    assert_true(largest[0] > 0.015 && largest[1] > 7);
    free(pose.inputs);
    ex_rig_destroy(rig);
}

/* ---- tables ---- */

static ex_result read_poses(const ex_rig *rig, const char *text, ex_scan_poses *poses, ex_error *error) {
    scratch_write("poses.csv", text, strlen(text));
    return ex_scan_poses_read(scratch_path("poses.csv"), rig, poses, error);
}

static void poses_have_names_and_parts(void **state) {
    (void)state;
    ex_rig *rig = dummy_rig(5, 6);
    ex_scan_poses poses;
    double value;
    assert_int_equal(read_poses(rig, "part,bend,name\r\narm,10,a\n\nheld,20,\"b, c\"\n,30,d", &poses, NULL), EX_OK);
    assert_int_equal(poses.table.pose_count, 3);
    assert_string_equal(poses.names[1], "b, c");
    assert_string_equal(poses.parts[0], "arm");
    assert_string_equal(poses.parts[1], "held");
    assert_string_equal(poses.parts[2], "");
    ex_rig_get_input(rig, 0, &poses.table.poses[2], &value);
    assert_near(value, 30, 1e-4);
    ex_scan_poses_free(&poses);
    assert_int_equal(read_poses(rig,
                                "\xEF\xBB\xBF"
                                "bend\n1\n2\n",
                                &poses, NULL),
                     EX_OK);
    assert_string_equal(poses.names[1], "scan_2");
    assert_string_equal(poses.parts[1], "");
    ex_scan_poses_free(&poses);
    assert_int_equal(read_poses(rig, "name\nrest\n", &poses, NULL), EX_OK);
    assert_int_equal(poses.table.pose_count, 1);
    ex_scan_poses_free(&poses);
    ex_rig_destroy(rig);
}

static void wrong_tables_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"name,bend\na,1\na,2\n", ":3: there is already a scan 'a'"},
        {"name,bend\n../a,1\n", ":2: '../a' cannot be the name"},
        {"name,bend\n,1\n", ":2: '' cannot be the name"},
        {"name,bent\na,1\n", "bend"}, /* the nearest is suggested */
        {"name,bend\na,x\n", ":2: 'x' in column 'bend'"},
        {"name,bend\na\n", ":2: there"},
        {"name,bend\na,1,2\n", ":2: there are more fields"},
        {"name,bend\n", "no rows"},
        {"", "name the axes"},
        {"name,bend\na,\"1\n", ":2: a field"},
    };
    ex_rig *rig = dummy_rig(5, 6);
    ex_scan_poses poses;
    ex_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_not_equal(read_poses(rig, cases[i].text, &poses, &error), EX_OK);
        assert_sentence(&error, error.result, cases[i].word);
    }
    scratch_write("poses.csv", "n\0a\0m\0e\0", 8);
    assert_int_equal(ex_scan_poses_read(scratch_path("poses.csv"), rig, &poses, &error), EX_ERROR_FORMAT);
    assert_sentence(&error, EX_ERROR_FORMAT, "UTF-16");
    ex_rig_destroy(rig);
}

static void markers_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"marker,joint,r,g,b,x,y,z\na,leg,1,2,3,0,0,0\n", "no joint 'leg'"},
        {"marker,joint,r,g,b,x,y,z\n,hips,1,2,3,0,0,0\n", "no name"},
        {"marker,joint,r,g,b,x,y,z\na,hips,1,2,300,0,0,0\n", "255"},
        {"marker,joint,r,g,b,x,y,z\na,hips,1,2,3,0,0,0\na,hips,1,2,3,0,0,0\n", "already a marker 'a'"},
        {"marker,joint,r,g,b\na,hips,1,2,3\n", "x"},
    };
    ex_rig *rig = dummy_rig(31, 48);
    ex_paint *paints;
    int count;
    ex_error error;
    const char *good = "marker,joint,r,g,b,x,y,z\nnose,hips,1,2,255,0,0.5,0.3\near,arm.L,9,8,7,1,0.5,0\n";
    scratch_write("m.csv", good, strlen(good));
    assert_int_equal(ex_paints_read(scratch_path("m.csv"), rig, 0, &paints, &count, &error), EX_OK);
    assert_int_equal(count, 2);
    assert_string_equal(paints[0].name, "nose");
    assert_int_equal(paints[0].colour[2], 255);
    assert_int_equal(paints[1].joint, DUMMY_LEFT);
    const ex_pose pose = dummy_pose(rig);
    const ex_scan_simulation scanner = dummy_scanner(rig, &pose);
    ex_scan_shot *shot = NULL;
    assert_int_equal(ex_scan_shoot(&scanner, 0, paints, count, &shot, &error), EX_OK);
    assert_row_near(shot->places[0], ((double[]){0, 0.5, DUMMY_RADIUS}), 3, 1e-4); /* the nearest points of the egg */
    assert_row_near(shot->places[1], ((double[]){DUMMY_RADIUS, 0.5, 0}), 3, 1e-4);
    ex_scan_shot_destroy(shot);
    ex_paints_free(paints, count);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scratch_write("m.csv", cases[i].text, strlen(cases[i].text));
        assert_int_not_equal(ex_paints_read(scratch_path("m.csv"), rig, 0, &paints, &count, &error), EX_OK);
        assert_sentence(&error, error.result, cases[i].word);
        assert_null(paints);
    }
    free(pose.inputs);
    ex_rig_destroy(rig);
}

/* ---- sessions ---- */

enum { POSES = 4 };

typedef struct stage {
    ex_rig *rig;
    ex_pose poses[POSES];
    int parts[POSES];
    ex_paint *paints;
    ex_scan_simulate_def def;
    int allowed; /* reports of progress before it is stopped */
} stage;

static const char *const names[POSES] = {"rest", "bent", "away", "hidden"};

static void open_stage(stage *s, int rings, const char *folder) {
    *s = (stage){.rig = dummy_rig(rings, rings + 1), .parts = {0, 0, 0, -1}, .allowed = 100};
    for (int p = 0; p < POSES; p++) {
        const double bend = 20.0 * p;
        s->poses[p] = dummy_pose(s->rig);
        ex_rig_set_input(s->rig, 0, &bend, &s->poses[p]);
    }
    int count = 0;
    assert_int_equal(ex_scan_paint(s->rig, 0, 2, &s->paints, &count, NULL), EX_OK);
    s->def = (ex_scan_simulate_def){.folder = folder,
                                    .simulation = dummy_scanner(s->rig, s->poses),
                                    .parts = s->parts,
                                    .paint_count = count,
                                    .paints = s->paints,
                                    .reference = -1,
                                    .average = -1,
                                    .rough = -1,
                                    .text = "the table",
                                    .size = 9};
    s->def.simulation.names = names;
    s->def.simulation.pose_count = POSES;
}

static void close_stage(stage *s) {
    ex_paints_free(s->paints, s->def.paint_count);
    for (int p = 0; p < POSES; p++)
        free(s->poses[p].inputs);
    ex_rig_destroy(s->rig);
}

static bool has(const char *name) {
    FILE *file = fopen(scratch_path(name), "rb");
    if (file)
        fclose(file);
    return file != NULL;
}

/* Tasks from last to first, one at a time. */
static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int i = count - 1; i >= 0; i--)
        body(context, i, i + 1);
}

static void a_session_reads_back(void **state) {
    (void)state;
    stage s;
    ex_scan_simulated made;
    ex_error error = {.result = EX_OK};
    char folder[1024];
    snprintf(folder, sizeof folder, "%s", scratch_path("a"));
    open_stage(&s, 15, folder);
    s.def.rough = 5;
    s.def.mirror = true;
    if (ex_scan_simulate(&s.def, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(made.scan_count, 3);
    assert_int_equal(made.held_count, 1);
    assert_int_equal(made.kept_count, 0);
    assert_string_equal(made.reference, "rest");
    assert_true(made.seen > 2);
    assert_true(has("a/scans/bent_4.ply") && !has("a/scans/bent_5.ply") && !has("a/scans/hidden_1.ply"));
    assert_true(has("a/truth/surface/hidden.ply") && !has("a/truth/surface/bent.ply"));
    assert_true(has("a/truth/frames.json") && has("a/truth/poses.csv") && has("a/truth/markers/away.csv"));
    ex_scan_session *session = NULL;
    if (ex_scan_session_read(folder, &session, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(session->scan_count, 3);
    assert_int_equal(session->part_count, 1);
    assert_string_equal(session->parts[0].name, "body");
    assert_int_equal(session->parts[0].joint_count, 2);
    assert_int_equal(session->parts[0].cover_count, 4);
    assert_int_equal(session->kinematics->site_count, s.def.paint_count);
    assert_string_equal(session->scans[session->reference].name, "rest");
    assert_true(session->mirror && session->scans[2].posed);
    const int arm = ex_kinematics_find_joint(session->kinematics, "arm.L");
    assert_near(ex_kin_angle(&session->kinematics->joints[arm], session->scans[2].pose.rotations[arm]), 40, 5.01);
    ex_mesh **meshes = NULL;
    assert_int_equal(ex_scan_meshes(session, 1, &meshes, &error), EX_OK);
    assert_non_null(meshes[3]->colours);
    for (int i = 0; i < 4; i++)
        ex_mesh_destroy(meshes[i]);
    free(meshes);
    ex_scan_fitted *fitted = NULL;
    if (ex_scan_fitted_read(scratch_path("a/truth/fit.json"), &fitted, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fitted->scan_count, POSES);
    assert_near(ex_kin_angle(&fitted->kinematics->joints[arm], fitted->poses[2].rotations[arm]), 40, 1e-3);
    /* a site in the frame of its joint is at the scan's marker */
    size_t size;
    char *text = scratch_read("a/truth/markers/rest.csv", &size), name[64];
    double places[4][3], at[3];
    int visible, site = 0;
    ex_kin_frames(fitted->kinematics, &fitted->poses[0], NULL, places);
    for (char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1, site++) {
        const ex_site *here = &fitted->kinematics->sites[site];
        assert_int_equal(sscanf(line, "%63[^,],%lf,%lf,%lf,%d", name, &at[0], &at[1], &at[2], &visible), 5);
        assert_string_equal(name, here->name);
        for (int i = 0; i < 3; i++)
            assert_near(here->local[i] + places[here->joint][i], at[i], 1e-6);
    }
    assert_int_equal(site, s.def.paint_count);
    free(text);
    text = scratch_read("a/labels/rest.csv", &size);
    assert_non_null(strstr(text, "marker,x,y,z,confidence\nhips-01,"));
    free(text);
    ex_scan_fitted_destroy(fitted);
    ex_scan_session_destroy(session);
    close_stage(&s);
}

static bool step(void *user, const char *doing, double part) {
    stage *s = user;
    (void)doing;
    (void)part;
    return s->allowed-- > 0;
}

/* Existing files stay; a stopped run is resumed; the same bytes either way. */
static void a_session_goes_on(void **state) {
    (void)state;
    stage s;
    ex_scan_simulated made;
    ex_error error;
    char folders[2][1024];
    for (int i = 0; i < 2; i++)
        snprintf(folders[i], sizeof folders[i], "%s", scratch_path(i ? "b" : "c"));
    open_stage(&s, 15, folders[0]);
    const ex_tasks backwards = {.run = run_backwards};
    s.def.progress = &(ex_progress){step, &s};
    s.def.tasks = &backwards;
    s.allowed = 0;
    assert_int_equal(ex_scan_simulate(&s.def, &made, &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "stopped");
    assert_true(has("c/markers.csv") && !has("c/scan.json"));
    s.allowed = 100;
    assert_int_equal(ex_scan_simulate(&s.def, &made, &error), EX_OK);
    assert_int_equal(made.kept_count, 0);
    scratch_write("c/scans/bent_2.ply", "mine", 4);
    assert_int_equal(remove(scratch_path("c/scans/rest_3.ply")), 0);
    assert_int_equal(remove(scratch_path("c/scan.json")), 0);
    assert_int_equal(ex_scan_simulate(&s.def, &made, &error), EX_OK);
    assert_int_equal(made.kept_count, 2);
    assert_true(has("c/scans/rest_3.ply") && has("c/scan.json"));
    size_t sizes[2];
    char *texts[2] = {scratch_read("c/scans/bent_2.ply", &sizes[0]), NULL};
    assert_int_equal(sizes[0], 4); /* it was not opened */
    free(texts[0]);
    s.def.force = true;
    assert_int_equal(ex_scan_simulate(&s.def, &made, &error), EX_OK);
    s.def.tasks = NULL;
    s.def.force = false;
    s.def.folder = folders[1];
    assert_int_equal(ex_scan_simulate(&s.def, &made, &error), EX_OK);
    static const char *const files[] = {"scans/bent_2.ply", "truth/markers/away.csv", "skeleton.json", "scan.json",
                                        "labels/rest.csv"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        for (int f = 0; f < 2; f++) {
            char name[64];
            snprintf(name, sizeof name, "%s/%s", f ? "b" : "c", files[i]);
            texts[f] = scratch_read(name, &sizes[f]);
        }
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(texts[0], texts[1], sizes[0]);
        free(texts[0]);
        free(texts[1]);
    }
    /* another scanner is another session */
    s.def.simulation.noise = 0.002;
    assert_int_equal(ex_scan_simulate(&s.def, &made, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "other options");
    s.def.simulation.noise = 0.001;
    s.def.text = "another";
    s.def.size = 7;
    assert_int_equal(ex_scan_simulate(&s.def, &made, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "other options");
    assert_int_equal(remove(scratch_path("b/truth/scanner.json")), 0);
    assert_int_equal(ex_scan_simulate(&s.def, &made, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "not simulated");
    close_stage(&s);
}

static void wrong_sessions_are_named(void **state) {
    (void)state;
    stage s;
    ex_error error;
    char folder[1024];
    snprintf(folder, sizeof folder, "%s", scratch_path("d"));
    open_stage(&s, 5, folder);
    char *joints[] = {"arm.X"}, *covers[] = {"hips"};
    const ex_scan_part part = {.name = "p", .joint_count = 1, .joints = joints, .cover_count = 1, .covers = covers};
    s.def.part_list = &part;
    s.def.part_count = 1;
    assert_int_equal(ex_scan_simulate(&s.def, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "part 'p': the rig has no joint 'arm.X'");
    joints[0] = "arm.L";
    for (int p = 0; p < POSES; p++)
        s.parts[p] = -1;
    assert_int_equal(ex_scan_simulate(&s.def, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "nothing to scan");
    s.parts[1] = 0;
    assert_int_equal(ex_scan_simulate(&s.def, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "no scan has all joints at rest");
    assert_string_equal(error.kind, "no_reference");
    s.def.reference = 0;
    assert_int_equal(ex_scan_simulate(&s.def, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "'rest' is held back");
    assert_false(has("d/truth/scanner.json"));
    s.def.reference = 1; /* any scan may be the reference */
    assert_int_equal(ex_scan_simulate(&s.def, NULL, &error), EX_OK);
    close_stage(&s);
}

static ex_result try_truth(void *context) {
    const stage *s = context;
    ex_scan_truth *truth = NULL;
    ex_result result = ex_scan_truth_create(s->rig, s->poses, POSES, 0, &truth, NULL);
    ex_scan_truth_destroy(truth);
    return result;
}

static ex_result try_poses(void *context) {
    const stage *s = context;
    ex_scan_poses poses;
    ex_result result = ex_scan_poses_read(scratch_path("poses.csv"), s->rig, &poses, NULL);
    if (result == EX_OK)
        ex_scan_poses_free(&poses);
    return result;
}

static void memory_may_run_out(void **state) {
    (void)state;
    stage s;
    open_stage(&s, 5, "");
    scratch_write("poses.csv", "name,bend,part\na,1,b\nc,2,d\n", 27);
    assert_true(fail_alloc_sweep(try_truth, &s) > 10);
    assert_true(fail_alloc_sweep(try_poses, &s) > 5);
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_skeleton_is_as_the_rig_has_it),
        cmocka_unit_test(a_hinge_that_turns_otherwise_is_none),
        cmocka_unit_test(bones_are_measured_with_a_tape),
        cmocka_unit_test(poses_have_names_and_parts),
        cmocka_unit_test(wrong_tables_are_named),
        cmocka_unit_test(markers_by_hand),
        cmocka_unit_test(a_session_reads_back),
        cmocka_unit_test(a_session_goes_on),
        cmocka_unit_test(wrong_sessions_are_named),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
