/*
 * The template person: what its file holds; posing by the formula; and carrying it to scans of people made from it,
 * whose figures and poses are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/scan/fit/fit.h"
#include "author/scan/human/human.h"
#include "runtime/base/vector.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static exi_human *open_human(void) {
    exi_human *human = NULL;
    ex_error error = {0};
    if (exi_human_read(NULL, &human, &error) != EX_OK)
        fail_msg("%s", error.text);
    return human;
}

static void test_file(void **state) {
    (void)state;
    exi_human *human = open_human();
    ex_kinematics *full = NULL;
    assert_int_equal(ex_kinematics_read("full", &full, NULL), EX_OK);
    assert_int_equal(human->kinematics->joint_count, full->joint_count);
    for (int j = 0; j < full->joint_count; j++) /* every joint of `full` is there, below the same parent */
        assert_true(ex_kinematics_find_joint(human->kinematics, full->joints[j].name) >= 0);
    for (int v = 0; v < human->mesh->vertex_count; v++) {
        float sum = 0;
        for (int i = 0; i < EXI_HUMAN_INFLUENCES; i++)
            sum += human->weights[v * EXI_HUMAN_INFLUENCES + i];
        assert_near((double)sum, 1, 1e-5);
    }
    assert_true(human->figure_count >= 10);
    assert_true(human->landmark_count >= 8 && human->landmark_count <= 30);
    const int nose = exi_human_find(human, "nose"), toe = exi_human_find(human, "toe_tip.L");
    assert_true(nose >= 0 && toe >= 0 && exi_human_find(human, "tail") < 0);
    assert_true(human->mesh->positions[3 * nose + 1] > human->mesh->positions[3 * toe + 1] + 1);
    ex_kinematics_destroy(full);
    exi_human_destroy(human);
}

/* ---- people made from it ---- */

typedef struct person {
    exi_human *human;
    double *figure;
    double (*rest)[3], (*places)[3], (*rotations)[9], (*posed)[3];
    int count;
    double (*turns)[4]; /* [count][joint_count]: the true poses */
    ex_mesh **scans;
    double (**vertices)[3];
} person;

static double random_number(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return 2.0 * (double)(*seed >> 8) / 16777216 - 1;
}

static void turn_randomly(const ex_kin_joint *joint, double most, uint32_t *seed, double q[4]) {
    double w[3];
    const double angle = most * random_number(seed);
    for (int c = 0; c < 3; c++)
        w[c] = joint->freedom == EX_FREEDOM_HINGE ? angle * joint->axis[c] : most * random_number(seed) / 1.7;
    exi_fit_turn(w, q);
}

static person make_person(int count, double size, uint32_t seed) {
    person p = {.human = open_human(), .count = count};
    const size_t joints = (size_t)p.human->kinematics->joint_count, vertices = (size_t)p.human->mesh->vertex_count;
    p.figure = calloc((size_t)p.human->figure_count, sizeof *p.figure);
    p.rest = malloc(vertices * sizeof *p.rest);
    p.places = malloc(joints * sizeof *p.places);
    p.rotations = malloc(joints * sizeof *p.rotations);
    p.posed = malloc(joints * sizeof *p.posed);
    p.turns = malloc(joints * (size_t)count * sizeof *p.turns);
    p.scans = malloc((size_t)count * sizeof *p.scans);
    p.vertices = malloc((size_t)count * sizeof *p.vertices);
    for (int k = 0; k < p.human->figure_count; k++)
        p.figure[k] = k == 0 ? size : random_number(&seed);
    exi_human_figure(p.human, p.figure, p.rest, p.places);
    for (int i = 0; i < count; i++) {
        ex_kin_pose pose = {.translation = {0.2 * i, 0.9, -0.1}, .rotations = p.turns + (size_t)i * joints};
        for (size_t j = 0; j < joints; j++)
            turn_randomly(&p.human->kinematics->joints[j], j == 0 ? 0.3 : 0.6, &seed, pose.rotations[j]);
        exi_human_frames(p.human, (const double(*)[3])p.places, &pose, p.rotations, p.posed);
        p.scans[i] = ex_mesh_copy(p.human->mesh);
        p.vertices[i] = (double(*)[3])(void *)p.scans[i]->positions;
        exi_human_skin(p.human, (const double(*)[3])p.rest, (const double(*)[3])p.places,
                       (const double(*)[9])p.rotations, (const double(*)[3])p.posed, p.vertices[i]);
    }
    return p;
}

static void free_person(person *p) {
    for (int i = 0; i < p->count; i++)
        ex_mesh_destroy(p->scans[i]);
    free(p->figure);
    free(p->rest);
    free(p->places);
    free(p->rotations);
    free(p->posed);
    free(p->turns);
    free(p->scans);
    free(p->vertices);
    exi_human_destroy(p->human);
}

/* Root mean square distance between corresponding vertices. */
static double distance(person *p, const double *figure, const ex_kin_pose *pose, int scan) {
    double(*vertices)[3] = malloc((size_t)p->human->mesh->vertex_count * sizeof *vertices), sum = 0;
    exi_human_figure(p->human, figure, p->rest, p->places);
    exi_human_frames(p->human, (const double(*)[3])p->places, pose, p->rotations, p->posed);
    exi_human_skin(p->human, (const double(*)[3])p->rest, (const double(*)[3])p->places,
                   (const double(*)[9])p->rotations, (const double(*)[3])p->posed, vertices);
    for (int v = 0; v < p->human->mesh->vertex_count; v++)
        for (int c = 0; c < 3; c++)
            sum += pow(vertices[v][c] - p->vertices[scan][v][c], 2);
    free(vertices);
    return sqrt(sum / p->human->mesh->vertex_count);
}

/* Starts each joint up to `turned` radians off, the base 4 cm off, and the usual figure. */
static void carry(double size, bool landmarks, double turned, double most) {
    enum { SCANS = 3 };
    person p = make_person(SCANS, size, 7);
    const size_t joints = (size_t)p.human->kinematics->joint_count;
    exi_human_scan scans[SCANS];
    const ex_mesh *meshes[SCANS];
    ex_register_anchor points[SCANS][40];
    exi_bone_point targets[SCANS][40];
    uint32_t seed = 99;
    double usual[40][3], (*rest)[3] = malloc((size_t)p.human->mesh->vertex_count * sizeof *rest);
    exi_human_figure(p.human, NULL, rest, usual);
    free(rest);
    for (int i = 0; i < SCANS; i++) {
        double(*rotations)[4] = malloc(joints * sizeof *rotations);
        for (size_t j = 0; j < joints; j++) {
            double off[4];
            turn_randomly(&p.human->kinematics->joints[j], turned, &seed, off);
            memcpy(rotations[j], p.turns[(size_t)i * joints + j], sizeof rotations[j]);
            exi_quaternion_multiply(off, rotations[j], rotations[j]);
        }
        meshes[i] = p.scans[i];
        scans[i] = (exi_human_scan){.meshes = &meshes[i],
                                    .mesh_count = 1,
                                    .anchors = points[i],
                                    .bone_points = targets[i],
                                    .hold = landmarks ? 0 : 0.1,
                                    .pose = {.translation = {0.2 * i + 0.04, 0.87, -0.1}, .rotations = rotations}};
        const ex_kin_pose truth = {.translation = {0.2 * i, 0.9, -0.1}, .rotations = p.turns + (size_t)i * joints};
        exi_human_frames(p.human, (const double(*)[3])p.places, &truth, p.rotations, p.posed);
        for (size_t j = 0; !landmarks && j < joints; j++) { /* as markers tell them */
            exi_bone_point *target = &targets[i][scans[i].bone_point_count++];
            *target = (exi_bone_point){.joint = (int)j, .sigma = 0.02};
            memcpy(target->at, usual[j], sizeof target->at);
            for (int c = 0; c < 3; c++)
                target->target[c] = p.posed[j][c] + 0.01 * random_number(&seed);
        }
        for (int k = 0; landmarks && k < p.human->landmark_count; k++) {
            const int vertex = p.human->landmarks[k].vertex;
            ex_register_anchor *point = &points[i][scans[i].anchor_count++];
            *point = (ex_register_anchor){.vertices = {vertex}, .shares = {1}, .sigma = 0.01};
            memcpy(point->target, p.vertices[i][vertex], sizeof point->target);
        }
    }
    double *figure = calloc((size_t)p.human->figure_count, sizeof *figure);
    ex_error error = {0};
    if (exi_human_fit(p.human, scans, SCANS, figure, false, NULL, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < SCANS; i++) {
        const double off = distance(&p, figure, &scans[i].pose, i);
        print_message("scan %d: %.2f mm from the truth, %.2f mm from the scan, %.3f matched\n", i, 1000 * off,
                      1000 * scans[i].rms, scans[i].matched);
        assert_true(off < most);
        assert_true(scans[i].rms < most && scans[i].matched > 0.85);
        free(scans[i].pose.rotations);
    }
    free(figure);
    free_person(&p);
}

/* Nothing tells where a limb is, and its start is far off and held: it is looked for. */
static void test_lost_limbs(void **state) {
    (void)state;
    person p = make_person(1, 0.3, 21);
    static const char *const names[] = {"hip.R", "shoulder.L"};
    const size_t joints = (size_t)p.human->kinematics->joint_count;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double(*rotations)[4] = malloc(joints * sizeof *rotations), turn[4];
        const int joint = ex_kinematics_find_joint(p.human->kinematics, names[i]);
        memcpy(rotations, p.turns, joints * sizeof *rotations);
        exi_fit_turn((const double[3]){1.6, 0, i == 0 ? 0 : 1.2}, turn);
        exi_quaternion_multiply(turn, rotations[joint], rotations[joint]);
        exi_human_scan scan = {.meshes = (const ex_mesh *const *)p.scans,
                               .mesh_count = 1,
                               .hold = 0.15,
                               .pose = {.translation = {0, 0.9, -0.1}, .rotations = rotations}};
        assert_int_equal(exi_human_fit(p.human, &scan, 1, p.figure, true, NULL, NULL, NULL), EX_OK);
        const double off = distance(&p, p.figure, &scan.pose, 0);
        print_message("%s: %.2f mm from the truth\n", names[i], 1000 * off);
        assert_true(off < 0.01);
        free(rotations);
    }
    free_person(&p);
}

static void test_carried_by_joints(void **state) {
    (void)state;
    carry(0.5, false, 0.1, 0.003);
}

static void test_carried_by_landmarks(void **state) {
    (void)state;
    carry(-2.5, true, 0.25, 0.003); /* a child */
    carry(2, true, 0.25, 0.003);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_lost_limbs),
        cmocka_unit_test(test_carried_by_joints),
        cmocka_unit_test(test_carried_by_landmarks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
