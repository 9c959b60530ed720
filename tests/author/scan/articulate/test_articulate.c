/*
 * Registered meshes: a bent tube that is skinned by formula, so that joints, poses and weights are known. With a
 * disturbed skeleton and without one, with vertices that were not seen, split into tasks; derivatives against
 * differences; the rig against the body; layers; forms left out; wrong input; failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/scan/articulate/articulation.h"
#include "runtime/base/vector.h"
#include "support/check.h"
#include "support/fail_alloc.h"

#include <exemplar/author/articulate.h>
#include <exemplar/rig.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RINGS = 25, AROUND = 8, TUBE = RINGS * AROUND, EYE = 6, VERTICES = TUBE + EYE, JOINTS = 3, FORMS = 5 };
static const double length = 1.2, radius = 0.06, at[JOINTS] = {0.1, 0.45, 0.8};
static const char *const names[FORMS] = {"straight", "bent", "kicked", "twisted", "both"};

/* A tube along x on three joints, and a small octahedron beside its end, which follows the last bone. */
typedef struct tube {
    ex_mesh *mesh;
    double rest[VERTICES][3], weights[VERTICES][JOINTS];
    double turns[FORMS][JOINTS][4], bases[FORMS][3];
    double forms[FORMS][VERTICES][3];
    const double *form_list[FORMS];
    ex_kinematics skeleton;
    ex_kin_joint joints[JOINTS];
    uint16_t start_joints[VERTICES][JOINTS];
    float start_weights[VERTICES][JOINTS];
    ex_articulate_def def;
} tube;

static void turn(double q[4], double x, double y, double z, double degrees) {
    const double half = degrees * 3.14159265358979 / 360, size = sqrt(x * x + y * y + z * z);
    q[0] = x / size * sin(half);
    q[1] = y / size * sin(half);
    q[2] = z / size * sin(half);
    q[3] = cos(half);
}

/* Skins the rest form, plus what `bulge` adds where the second joint bends, without any code of the library. */
static void pose_tube(tube *t, int form, double bulge, double (*out)[3]) {
    double world[JOINTS][4], place[JOINTS][3];
    for (int b = 0; b < JOINTS; b++) {
        double bone[3] = {b > 0 ? at[b] - at[b - 1] : 0, 0, 0};
        if (b == 0) {
            memcpy(world[0], t->turns[form][0], sizeof world[0]);
            memcpy(place[0], t->bases[form], sizeof place[0]);
            continue;
        }
        exi_quaternion_multiply(world[b - 1], t->turns[form][b], world[b]);
        exi_rotate(world[b - 1], bone, bone);
        for (int i = 0; i < 3; i++)
            place[b][i] = place[b - 1][i] + bone[i];
    }
    const double bend = 1 - fabs(t->turns[form][1][3]);
    for (int v = 0; v < VERTICES; v++) {
        double x[3] = {t->rest[v][0], t->rest[v][1], t->rest[v][2]};
        const double near = exp(-pow((x[0] - 0.3) / 0.1, 2));
        memset(out[v], 0, sizeof out[v]);
        x[1] += v < TUBE ? bulge * bend * near * x[1] / radius : 0;
        for (int b = 0; b < JOINTS; b++) {
            double p[3] = {x[0] - at[b], x[1], x[2]};
            exi_rotate(world[b], p, p);
            for (int i = 0; i < 3; i++)
                out[v][i] += t->weights[v][b] * (p[i] + place[b][i]);
        }
    }
}

static void make_mesh(tube *t) {
    static const int eye[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                  {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    ex_mesh *mesh = t->mesh = ex_mesh_create();
    const int quads = (RINGS - 1) * AROUND;
    assert_non_null(mesh);
    mesh->vertex_count = VERTICES;
    mesh->positions = calloc(VERTICES, 3 * sizeof(double));
    mesh->face_count = quads + 8;
    mesh->corner_count = 4 * quads + 24;
    mesh->face_offsets = calloc((size_t)mesh->face_count + 1, sizeof(int));
    mesh->corners = calloc((size_t)mesh->corner_count, sizeof(int));
    assert_true(mesh->positions && mesh->face_offsets && mesh->corners);
    for (int f = 0; f < quads; f++) {
        const int r = f / AROUND, k = f % AROUND, next = (k + 1) % AROUND;
        const int corners[4] = {r * AROUND + k, (r + 1) * AROUND + k, (r + 1) * AROUND + next, r * AROUND + next};
        memcpy(mesh->corners + 4 * f, corners, sizeof corners);
        mesh->face_offsets[f + 1] = 4 * (f + 1);
    }
    for (int f = 0; f < 8; f++) {
        for (int c = 0; c < 3; c++)
            mesh->corners[4 * quads + 3 * f + c] = TUBE + eye[f][c];
        mesh->face_offsets[quads + f + 1] = 4 * quads + 3 * (f + 1);
    }
}

static void set_vertices(tube *t) {
    for (int v = 0; v < TUBE; v++) {
        const double x = length * (v / AROUND) / (RINGS - 1), angle = 2 * 3.14159265358979 * (v % AROUND) / AROUND;
        t->rest[v][0] = x;
        t->rest[v][1] = radius * cos(angle);
        t->rest[v][2] = 1.3 * radius * sin(angle);
        double left = 1; /* weights pass from bone to bone within 12 cm around the joints */
        for (int b = JOINTS - 1; b > 0; b--) {
            const double s = fmin(1, fmax(0, (x - at[b]) / 0.12 + 0.5)), share = s * s * (3 - 2 * s);
            t->weights[v][b] = left * share;
            left *= 1 - share;
        }
        t->weights[v][0] = left;
    }
    for (int v = 0; v < EYE; v++) {
        double *p = t->rest[TUBE + v];
        p[0] = 1.1;
        p[1] = 0.12;
        p[v / 2] += v % 2 == 0 ? 0.02 : -0.02;
        t->weights[TUBE + v][JOINTS - 1] = 1;
    }
}

static void open_tube(tube *t, double bulge) {
    memset(t, 0, sizeof *t);
    make_mesh(t);
    set_vertices(t);
    const double angles[FORMS][JOINTS] = {{0, 0, 0}, {10, 70, 20}, {40, -30, 100}, {-60, 40, 60}, {150, 110, -80}};
    for (int f = 0; f < FORMS; f++) {
        turn(t->turns[f][0], 0.2, 1, 0.3, angles[f][0]);
        turn(t->turns[f][1], 0, 0.1 * f, 1, angles[f][1]);
        turn(t->turns[f][2], 0.1, 1, 0.1 * f, angles[f][2]);
        for (int i = 0; i < 3; i++)
            t->bases[f][i] = f == 0 ? (i == 0) * at[0] : 0.1 * f - 0.2 * i;
        pose_tube(t, f, bulge, t->forms[f]);
        t->form_list[f] = &t->forms[f][0][0];
    }
    t->skeleton = (ex_kinematics){.name = (char *)"tube", .joint_count = JOINTS, .joints = t->joints};
    for (int b = 0; b < JOINTS; b++)
        t->joints[b] = (ex_kin_joint){.name = (char *)(b == 0   ? "root"
                                                       : b == 1 ? "middle"
                                                                : "tip"),
                                      .parent = b - 1,
                                      .freedom = b == 0 ? EX_FREEDOM_BASE : EX_FREEDOM_BALL,
                                      .translation = {b > 0 ? at[b] - at[b - 1] : at[0], 0, 0},
                                      .mirror = -1};
    for (int v = 0; v < VERTICES; v++)
        for (int b = 0; b < JOINTS; b++) {
            t->start_joints[v][b] = (uint16_t)b;
            t->start_weights[v][b] = (float)t->weights[v][b];
        }
    t->def = (ex_articulate_def){.mesh = t->mesh, .form_count = FORMS, .forms = t->form_list, .names = names};
}

static void with_skeleton(tube *t) {
    t->def.skeleton = &t->skeleton;
    t->def.rest = &t->rest[0][0];
    t->def.influence_count = JOINTS;
    t->def.joints = &t->start_joints[0][0];
    t->def.weights = &t->start_weights[0][0];
}

static void close_tube(tube *t) {
    ex_mesh_destroy(t->mesh);
}

static ex_articulated *articulate(const ex_articulate_def *def) {
    ex_articulated *made = NULL;
    ex_error error = {0};
    if (ex_articulate(def, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

/* Distance of a body's posed form from a form of the tube. */
static double distance(const tube *t, const ex_articulated *body, int form) {
    double sum = 0, *positions = malloc(3 * VERTICES * sizeof *positions);
    assert_int_equal(ex_articulated_pose(body, &body->poses[form], NULL, positions, NULL), EX_OK);
    for (int v = 0; v < VERTICES; v++)
        for (int i = 0; i < 3; i++)
            sum += pow(positions[3 * v + i] - t->forms[form][v][i], 2);
    free(positions);
    return sqrt(sum / VERTICES);
}

/* ---- with a skeleton ---- */

static void finds_joints_of_a_disturbed_skeleton(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0);
    with_skeleton(&t);
    t.joints[1].translation[0] += 0.02; /* in its place, the tip follows */
    t.joints[1].translation[2] += 0.015;
    t.joints[2].translation[1] -= 0.02;
    ex_articulated *body = articulate(&t.def);
    double places[JOINTS][3];
    for (int b = 0; b < JOINTS; b++)
        for (int i = 0; i < 3; i++)
            places[b][i] = body->kinematics->joints[b].translation[i] + (b > 0 ? places[b - 1][i] : 0);
    for (int b = 1; b < JOINTS; b++) {
        const double error[3] = {places[b][0] - at[b], places[b][1], places[b][2]};
        assert_true(sqrt(exi_dot3(error, error)) < 0.007); /* disturbed by 20 to 35 mm, in a tube 120 mm wide */
        assert_false(body->open[b]);
    }
    for (int f = 0; f < FORMS; f++) {
        assert_true(body->rms[f] < 0.0015);
        assert_true(fabs(distance(&t, body, f) - body->rms[f]) < 1e-6); /* floats of weights */
        for (int b = 1; b < JOINTS; b++) {
            double back[4], off[4];
            exi_conjugate(t.turns[f][b], back);
            exi_quaternion_multiply(back, body->poses[f].rotations[b], off);
            assert_true(2 * asin(fmin(1, sqrt(exi_dot3(off, off)))) < 0.03); /* 1.7 degrees */
        }
    }
    ex_articulated_destroy(body);
    close_tube(&t);
}

/* Forms that the model can make exactly, with everything to find it, stay as they are. */
static void keeps_the_truth(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0);
    with_skeleton(&t);
    ex_articulated *body = articulate(&t.def);
    assert_true(body->all_rms < 2e-5);
    for (int v = 0; v < VERTICES; v++) {
        double sum = 0;
        for (int i = 0; i < body->influence_count; i++)
            sum += (double)body->weights[v * body->influence_count + i];
        assert_true(fabs(sum - 1) < 1e-5);
    }
    ex_articulated_destroy(body);
    close_tube(&t);
}

/* Starting weights with a jump at the joint become the smooth ones that the forms have. */
static void finds_weights(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0);
    with_skeleton(&t);
    for (int v = 0; v < VERTICES; v++)
        for (int b = 0; b < JOINTS; b++) {
            const double *w = t.weights[v];
            t.start_weights[v][b] = w[b] >= w[(b + 1) % 3] && w[b] > w[(b + 2) % 3] ? 1 : 0;
        }
    for (int v = 0; v < VERTICES; v++) { /* ties */
        float sum = t.start_weights[v][0] + t.start_weights[v][1] + t.start_weights[v][2];
        if (sum != 1) {
            memset(t.start_weights[v], 0, sizeof t.start_weights[v]);
            t.start_weights[v][t.rest[v][0] > 0.6 ? 2 : 1] = 1;
        }
    }
    double before = 0, after = 0;
    ex_articulated *body = articulate(&t.def);
    for (int v = 0; v < VERTICES; v++)
        for (int b = 0; b < JOINTS; b++) {
            double w = 0;
            for (int i = 0; i < body->influence_count; i++)
                if (body->joints[v * body->influence_count + i] == b)
                    w += (double)body->weights[v * body->influence_count + i];
            before += pow((double)t.start_weights[v][b] - t.weights[v][b], 2);
            after += pow(w - t.weights[v][b], 2);
        }
    assert_true(after < 0.15 * before);
    ex_articulated_destroy(body);

    t.def.lock_weights = true; /* and stay if they must */
    body = articulate(&t.def);
    for (int v = 0; v < VERTICES; v++)
        assert_true(body->weights[v * body->influence_count] == 1);
    ex_articulated_destroy(body);
    close_tube(&t);
}

/* Another, larger body as the rest form: bones get the lengths of the forms. */
static void takes_another_person_s_rest_form(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0);
    with_skeleton(&t);
    double(*other)[3] = malloc(sizeof t.rest);
    for (int v = 0; v < VERTICES; v++) {
        other[v][0] = 1.25 * t.rest[v][0];
        other[v][1] = 1.4 * t.rest[v][1];
        other[v][2] = 1.3 * t.rest[v][2];
    }
    for (int b = 0; b < JOINTS; b++)
        t.joints[b].translation[0] *= 1.25;
    t.def.rest = &other[0][0];
    ex_articulated *body = articulate(&t.def);
    assert_true(body->all_rms < 0.002);
    for (int b = 1; b < JOINTS; b++) {
        const double *bone = body->kinematics->joints[b].translation;
        assert_true(fabs(sqrt(exi_dot3(bone, bone)) - 0.35) < 0.01);
    }
    ex_articulated_destroy(body);
    free(other);
    close_tube(&t);
}

static void hinge_keeps_its_axis(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0.02);
    with_skeleton(&t);
    t.joints[1].freedom = EX_FREEDOM_HINGE;
    t.joints[1].axis[2] = 1;
    for (int f = 0; f < FORMS; f++) {
        turn(t.turns[f][1], 0, 0, 1, 20.0 * f);
        pose_tube(&t, f, 0.02, t.forms[f]);
    }
    ex_articulated *body = articulate(&t.def);
    for (int f = 0; f < FORMS; f++) {
        const double *q = body->poses[f].rotations[1];
        assert_true(2 * hypot(q[0], q[1]) < 0.01);
        assert_true(fabs(ex_kin_angle(&body->kinematics->joints[1], q) -
                         ex_kin_angle(&body->kinematics->joints[1], body->poses[0].rotations[1]) - 20.0 * f) < 3);
    }
    ex_articulated_destroy(body);
    close_tube(&t);
}

/* ---- without ---- */

static void finds_bones(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0);
    t.def.bone_count = 3;
    ex_articulated *body = articulate(&t.def);
    assert_int_equal(body->kinematics->joint_count, 3);
    assert_string_equal(body->kinematics->joints[0].name, "bone_1");
    assert_true(body->all_rms < 0.004);
    /* The middle bone is the root, and both others hang on it; joints are where they were bent. */
    double places[3][3];
    for (int b = 0; b < 3; b++) {
        const ex_kin_joint *joint = &body->kinematics->joints[b];
        assert_int_equal(joint->parent, b > 0 ? 0 : -1);
        for (int i = 0; i < 3; i++)
            places[b][i] = joint->translation[i] + (b > 0 ? places[0][i] : 0);
    }
    const bool swapped = places[1][0] > places[2][0];
    for (int b = 1; b < 3; b++) {
        const double expected = at[swapped ? 3 - b : b];
        const double error[3] = {places[b][0] - expected, places[b][1], places[b][2]};
        assert_true(sqrt(exi_dot3(error, error)) < 0.03);
    }
    for (int v = TUBE; v < VERTICES; v++) { /* the separate piece moves with the tip */
        int tip = swapped ? 1 : 2;
        double w = 0;
        for (int i = 0; i < body->influence_count; i++)
            w += body->joints[v * body->influence_count + i] == tip
                     ? (double)body->weights[v * body->influence_count + i]
                     : 0;
        assert_true(w > 0.95);
    }
    ex_articulated_destroy(body);

    t.def.bone_count = 0; /* as many as help */
    body = articulate(&t.def);
    assert_in_range(body->kinematics->joint_count, 3, 16);
    assert_true(body->all_rms < 0.004);
    ex_articulated_destroy(body);
    close_tube(&t);
}

/* ---- what was not seen ---- */

static void ignores_what_was_not_seen(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0);
    with_skeleton(&t);
    float *confidence[FORMS] = {NULL};
    confidence[1] = malloc(VERTICES * sizeof **confidence);
    confidence[3] = malloc(VERTICES * sizeof **confidence);
    for (int v = 0; v < VERTICES; v++) {
        confidence[1][v] = v % 3 == 0 ? 0 : 1;
        confidence[3][v] = v % AROUND < 3 ? 0 : 0.5f;
        for (int i = 0; i < 3; i++) {
            t.forms[1][v][i] = confidence[1][v] == 0 ? NAN : t.forms[1][v][i];
            t.forms[3][v][i] += confidence[3][v] == 0 ? 100 : 0;
        }
    }
    t.def.confidences = (const float *const *)confidence;
    ex_articulated *body = articulate(&t.def);
    assert_true(body->all_rms < 1e-4);
    for (int v = 0; v < VERTICES; v++)
        assert_true(isfinite(body->rest[3 * v]));
    ex_articulated_destroy(body);

    /* A patch that no form shows moves with its neighbours: a body that starts too thick becomes thin there, too. */
    close_tube(&t);
    open_tube(&t, 0);
    with_skeleton(&t);
    enum { FROM = 4 * AROUND, TO = 8 * AROUND };
    for (int v = 0; v < VERTICES; v++)
        t.rest[v][1] += v < TUBE ? 0.3 * t.rest[v][1] : 0;
    for (int f = 0; f < FORMS; f++) {
        confidence[f] = confidence[f] ? confidence[f] : malloc(VERTICES * sizeof **confidence);
        for (int v = 0; v < VERTICES; v++) {
            confidence[f][v] = v >= FROM && v < TO ? 0 : 1;
            for (int i = 0; i < 3; i++)
                t.forms[f][v][i] = confidence[f][v] == 0 ? NAN : t.forms[f][v][i];
        }
    }
    t.def.confidences = (const float *const *)confidence;
    body = articulate(&t.def);
    for (int v = FROM; v < TO; v += AROUND) /* across: 120 mm, and 156 at the start */
        assert_near(body->rest[3 * v + 1] - body->rest[3 * (v + AROUND / 2) + 1], 2 * radius, 0.006);
    ex_articulated_destroy(body);
    for (int f = 0; f < FORMS; f++)
        free(confidence[f]);
    close_tube(&t);
}

/* ---- tasks ---- */

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int end = count; end > 0; end -= 37)
        body(context, end > 37 ? end - 37 : 0, end);
}

static void tasks_change_nothing(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0.02);
    with_skeleton(&t);
    ex_articulated *one = articulate(&t.def);
    const ex_tasks tasks = {.run = run_backwards};
    t.def.tasks = &tasks;
    ex_articulated *two = articulate(&t.def);
    assert_memory_equal(one->rest, two->rest, 3 * VERTICES * sizeof *one->rest);
    assert_memory_equal(one->weights, two->weights, (size_t)(VERTICES * one->influence_count) * sizeof *one->weights);
    ex_articulated_destroy(one);
    ex_articulated_destroy(two);
    close_tube(&t);
}

/* ---- moments ---- */

/* A pose fitted by moments is where no small turn or move lowers the distance. */
static void poses_are_minima(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0.03);
    with_skeleton(&t);
    ex_articulated *body = articulate(&t.def);
    exi_articulation a;
    assert_int_equal(exi_art_open(&t.def, body, &a, NULL), EX_OK);
    const int form = 3;
    exi_art_moments m;
    double turns[JOINTS][4], base[3] = {0}, now;
    for (int b = 0; b < JOINTS; b++) /* from far away */
        turn(turns[b], 1, 0, 0, 0);
    assert_int_equal(exi_art_moments_make(&a, form, NULL, &m, NULL), EX_OK);
    assert_int_equal(exi_art_fit_pose(&a, &m, 100, turns, base, NULL), EX_OK);
    assert_int_equal(exi_art_distance(&a, form, turns, base, NULL, &now, NULL, NULL), EX_OK);
    assert_true(now < 0.005);
    for (int i = 0; i < 3 * JOINTS + 3; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double moved[JOINTS][4], moved_base[3], then;
            memcpy(moved, turns, sizeof moved);
            memcpy(moved_base, base, sizeof base);
            if (i < 3 * JOINTS) {
                double small[4];
                turn(small, i % 3 == 0, i % 3 == 1, i % 3 == 2, sign * 0.5);
                exi_quaternion_multiply(small, moved[i / 3], moved[i / 3]);
            } else {
                moved_base[i - 3 * JOINTS] += sign * 0.003;
            }
            assert_int_equal(exi_art_distance(&a, form, moved, moved_base, NULL, &then, NULL, NULL), EX_OK);
            assert_true(then > now - 1e-6);
        }
    exi_art_moments_free(&m);
    exi_art_free(&a);
    ex_articulated_destroy(body);
    close_tube(&t);
}

/* ---- the rig ---- */

static void rig_moves_as_the_body(void **state) {
    (void)state;
    tube t;
    ex_rig *rig = NULL;
    ex_articulated_layers *layers = NULL;
    open_tube(&t, 0.05);
    with_skeleton(&t);
    for (int f = 0; f < FORMS; f++) { /* so that the bulge follows the middle joint */
        turn(t.turns[f][1], 0, 0, 1, 25.0 * f);
        pose_tube(&t, f, 0.05, t.forms[f]);
    }
    ex_articulated *body = articulate(&t.def);
    ex_error error = {0};
    assert_int_equal(ex_articulated_find_layers(&t.def, body, &layers, &error), EX_OK);
    assert_true(layers->count > 0);
    assert_int_equal(ex_articulated_rig(&t.def, body, layers, &rig, &error), EX_OK);
    double *deltas = malloc(3 * VERTICES * sizeof *deltas), *positions = malloc(3 * VERTICES * sizeof *positions);
    ex_transform locals[JOINTS];
    float *out = malloc(3 * VERTICES * sizeof *out);
    void *memory = malloc(ex_rig_scratch_size(rig, NULL, 1));
    for (int f = 0; f < FORMS; f++) {
        double turned[JOINTS][4];
        ex_kin_pose pose = body->poses[f];
        memcpy(turned, pose.rotations, sizeof turned);
        pose.rotations = turned;
        pose.rotations[2][0] += 0.1; /* not at an example */
        exi_normalise(pose.rotations[2], 4);
        assert_int_equal(ex_articulated_layers_evaluate(body, layers, &pose, deltas, &error), EX_OK);
        assert_int_equal(ex_articulated_pose(body, &pose, deltas, positions, &error), EX_OK);
        for (int b = 0; b < JOINTS; b++) {
            locals[b] = ex_transform_identity();
            for (int i = 0; i < 3; i++)
                locals[b].translation[i] =
                    (float)(b > 0 ? body->kinematics->joints[b].translation[i] : pose.translation[i]);
            for (int i = 0; i < 4; i++)
                locals[b].rotation[i] = (float)pose.rotations[b][i];
        }
        ex_rig_evaluate(rig, &(ex_pose){.joints = locals}, &(ex_output){.positions = out}, NULL, memory);
        for (int i = 0; i < 3 * VERTICES; i++)
            assert_true(fabs((double)out[i] - positions[i]) < 2e-6);
    }
    free(deltas);
    free(positions);
    free(out);
    free(memory);
    ex_rig_destroy(rig);
    ex_articulated_layers_destroy(layers);
    ex_articulated_destroy(body);
    close_tube(&t);
}

/* ---- layers, and forms left out ---- */

enum { MANY = 9 };

/* The tube bends at its middle joint by eight angles and bulges by formula; the first form is straight. */
typedef struct bends {
    tube t;
    double forms[MANY][VERTICES][3];
    const double *list[MANY];
} bends;

static void open_bends(bends *b, double bulge) {
    open_tube(&b->t, bulge);
    with_skeleton(&b->t);
    for (int f = 0; f < MANY; f++) {
        turn(b->t.turns[0][0], 0.2, 1, 0.3, 5.0 * f);
        turn(b->t.turns[0][1], 0, 0, 1, 14.0 * f);
        turn(b->t.turns[0][2], 0.1, 1, 0, 10.0 * (f % 4));
        pose_tube(&b->t, 0, bulge, b->forms[f]);
        b->list[f] = &b->forms[f][0][0];
    }
    b->t.def.form_count = MANY;
    b->t.def.forms = b->list;
    b->t.def.names = NULL;
}

static void layers_help_with_forms_left_out(void **state) {
    (void)state;
    bends *b = malloc(sizeof *b);
    ex_left_outs *report = NULL;
    ex_error error = {0};
    open_bends(b, 0.08);
    ex_articulated *body = articulate(&b->t.def);
    assert_int_equal(ex_articulate_leave_out(&b->t.def, body, &report, &error), EX_OK);
    assert_int_equal(report->group_count, MANY);
    assert_true(report->all.rms < 0.6 * report->all.skinned_rms);
    assert_true(report->all.rms < 0.5 * report->all.one_rms);
    for (int f = 0; f < MANY; f++) {
        assert_true(report->forms[f].rms > 0 && report->forms[f].high >= report->forms[f].rms);
        assert_true(report->forms[f].one_high > 0);
    }
    ex_left_outs_destroy(report);
    ex_articulated_destroy(body);
    close_tube(&b->t);
    free(b);
}

/* Nothing of a form that is left out is in what it is compared with: a dent that only it has is missing entirely. The
 * mean of nine forms would have a ninth of it. */
static void left_out_is_left_out(void **state) {
    (void)state;
    enum { ODD = 4, EVERY = 9 };
    bends *b = malloc(sizeof *b);
    ex_left_outs *report = NULL;
    open_bends(b, 0);
    double sum = 0;
    for (int v = 0; v < TUBE; v += EVERY) { /* spread, so that no pose explains it */
        const double dent = v % 2 == 0 ? 0.03 : -0.03;
        b->forms[ODD][v][2] += dent;
        sum += dent * dent;
    }
    const double whole = sqrt(sum / VERTICES);
    ex_articulated *body = articulate(&b->t.def);
    assert_true(body->rms[ODD] < 0.93 * whole); /* not left out: the rest form has its share */
    assert_int_equal(ex_articulate_leave_out(&b->t.def, body, &report, NULL), EX_OK);
    assert_true(report->forms[ODD].skinned_rms > 0.97 * whole);
    assert_true(report->forms[ODD].rms > 0.97 * whole);
    ex_left_outs_destroy(report);
    ex_articulated_destroy(body);
    close_tube(&b->t);
    free(b);
}

/* A finished body is measured on a form that it has never seen: its pose is found, and its dent is missing. The other
 * forms are as the body poses them. */
static void measures_forms_never_seen(void **state) {
    (void)state;
    enum { ODD = MANY - 1, EVERY = 9 };
    bends *b = malloc(sizeof *b);
    double *positions = malloc(3 * VERTICES * sizeof *positions), sum = 0;
    ex_left_outs *report = NULL;
    ex_error error = {0};
    open_bends(b, 0);
    for (int v = 0; v < TUBE; v += EVERY) {
        const double dent = v % 2 == 0 ? 0.03 : -0.03;
        b->forms[ODD][v][2] += dent;
        sum += dent * dent;
    }
    const double whole = sqrt(sum / VERTICES);
    ex_articulate_def def = b->t.def;
    def.form_count = MANY - 1;
    ex_articulated *body = articulate(&def);
    assert_int_equal(ex_articulated_measure(&b->t.def, body, NULL, &report, &error), EX_OK);
    assert_int_equal(report->form_count, MANY);
    assert_true(report->forms[ODD].rms > 0.97 * whole && report->forms[ODD].rms < 1.03 * whole);
    for (int f = 0; f < MANY; f++) {
        double squares = 0;
        assert_int_equal(ex_articulated_pose(body, &report->poses[f], NULL, positions, &error), EX_OK);
        for (int v = 0; v < VERTICES; v++) {
            double square = 0;
            for (int i = 0; i < 3; i++) {
                const double off = positions[3 * v + i] - b->forms[f][v][i];
                assert_true(fabs((double)report->positions[f][3 * v + i] - positions[3 * v + i]) < 1e-6);
                square += off * off;
            }
            assert_true(fabs((double)report->distances[f][v] - sqrt(square)) < 1e-6);
            squares += square / VERTICES;
        }
        assert_true(fabs(sqrt(squares) - report->forms[f].rms) < 1e-6);
    }
    const ex_left_out two = ex_left_outs_sum(report, 0, 2);
    assert_true(fabs(2 * two.rms * two.rms - report->forms[0].rms * report->forms[0].rms -
                     report->forms[1].rms * report->forms[1].rms) < 1e-12);
    ex_left_outs_destroy(report);
    def.form_count = MANY - 2; /* fewer than it was made from */
    assert_int_equal(ex_articulated_measure(&def, body, NULL, &report, &error), EX_ERROR_ARGUMENT);
    ex_articulated_destroy(body);
    close_tube(&b->t);
    free(positions);
    free(b);
}

/* A dial moves the rest form and the joints. */
static void rig_has_dials(void **state) {
    (void)state;
    tube t;
    ex_rig *rig = NULL;
    ex_error error = {0};
    float deltas[3 * VERTICES], shifts[3 * JOINTS];
    open_tube(&t, 0);
    with_skeleton(&t);
    ex_articulated *body = articulate(&t.def);
    for (int i = 0; i < 3 * VERTICES; i++)
        deltas[i] = i % 3 == 1 ? 0.5F : 0;
    for (int i = 0; i < 3 * JOINTS; i++)
        shifts[i] = i % 3 == 1 ? 0.5F : 0;
    const ex_articulated_dial dial = {
        .name = "up", .unit = "m", .least = -1, .most = 1, .deltas = deltas, .shifts = shifts};
    t.def.dial_count = 1;
    t.def.dials = &dial;
    assert_int_equal(ex_articulated_rig(&t.def, body, NULL, &rig, &error), EX_OK);
    assert_int_equal(ex_rig_layer_count(rig), 1);
    const int input = ex_rig_input_find(rig, "up");
    assert_true(input >= 0);
    double values[64] = {0};
    assert_true(ex_rig_pose_size(rig) <= 64);
    float *out = malloc(6 * VERTICES * sizeof *out);
    void *memory = malloc(ex_rig_scratch_size(rig, NULL, 1));
    ex_rig_evaluate(rig, NULL, &(ex_output){.positions = out}, NULL, memory);
    ex_pose pose = {.inputs = values};
    ex_rig_set_input(rig, input, &(double){0.5}, &pose);
    ex_rig_evaluate(rig, &pose, &(ex_output){.positions = out + 3 * VERTICES}, NULL, memory);
    for (int i = 0; i < 3 * VERTICES; i++)
        assert_true(fabs((double)(out[3 * VERTICES + i] - out[i]) - (i % 3 == 1 ? 0.25 : 0)) < 1e-6);
    free(out);
    free(memory);
    ex_rig_destroy(rig);
    ex_articulated_destroy(body);
    close_tube(&t);
}

/* Rests that do not follow the pose are no layer: with noise alone, guesses are no better than none. */
static void noise_makes_no_layers(void **state) {
    (void)state;
    bends *b = malloc(sizeof *b);
    ex_articulated_layers *layers = NULL;
    uint64_t seed = 5;
    open_bends(b, 0);
    for (int f = 0; f < MANY; f++)
        for (int v = 0; v < VERTICES; v++)
            for (int i = 0; i < 3; i++)
                b->forms[f][v][i] += random_between(&seed, -0.003, 0.003);
    ex_articulated *body = articulate(&b->t.def);
    assert_int_equal(ex_articulated_find_layers(&b->t.def, body, &layers, NULL), EX_OK);
    assert_int_equal(layers->count, 0);
    ex_articulated_layers_destroy(layers);
    ex_articulated_destroy(body);
    close_tube(&b->t);
    free(b);
}

/* The closed form of the error of guesses against guesses: each form taken away, and the layer's own weights. */
static void guesses_are_those_without_the_form(void **state) {
    (void)state;
    bends *b = malloc(sizeof *b);
    ex_articulated_layers *layers = NULL;
    open_bends(b, 0.08);
    ex_articulated *body = articulate(&b->t.def);
    assert_int_equal(ex_articulated_find_layers(&b->t.def, body, &layers, NULL), EX_OK);
    assert_true(layers->count > 0);
    const ex_articulated_layer *layer = &layers->layers[0];
    double after = 0, before = 0;
    for (int f = 0; f < MANY; f++) {
        ex_axis axes[8];
        double points[MANY * 8 * 4], falloffs[MANY * 8], at_form[8 * 4], weights[MANY];
        int count = 0, others[MANY];
        for (int k = 0; k < MANY; k++)
            for (int a = 0; a < layer->axis_count && k != f; a++) {
                memcpy(points + 4 * (count * layer->axis_count + a), body->poses[k].rotations[layer->axes[a]], 32);
                falloffs[count * layer->axis_count + a] = layer->falloff;
                others[count] = k;
                count += a == layer->axis_count - 1;
            }
        for (int a = 0; a < layer->axis_count; a++) {
            axes[a] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
            memcpy(at_form + 4 * a, body->poses[f].rotations[layer->axes[a]], 32);
        }
        ex_weigher_def def = ex_weigher_def_default();
        def.kind = EX_WEIGHER_GAUSSIAN;
        def.axes = axes;
        def.axis_count = layer->axis_count;
        def.example_count = count;
        def.points = points;
        def.falloffs = falloffs;
        def.ridge = layer->ridge;
        ex_weigher *weigher = NULL;
        ex_error error = {0};
        if (ex_weigher_create(&def, NULL, &weigher, &error) != EX_OK)
            fail_msg("%s", error.text);
        ex_weigher_evaluate(weigher, at_form, weights);
        for (int i = 0; i < 3 * VERTICES; i++) {
            double rest = (double)layers->deltas[f][i];
            before += (double)layer->mask[i / 3] * rest * rest;
            for (int k = 0; k < count; k++)
                rest -= weights[k] * (double)layers->deltas[others[k]][i];
            after += (double)layer->mask[i / 3] * rest * rest;
        }
        ex_weigher_destroy(weigher);
    }
    assert_near(layer->before / before, 1, 1e-3);
    assert_near(layer->after / after, 1, 1e-3);
    ex_articulated_layers_destroy(layers);
    ex_articulated_destroy(body);
    close_tube(&b->t);
    free(b);
}

/* ---- wrong input ---- */

static void refuse(const ex_articulate_def *def, ex_result expected, const char *word) {
    ex_articulated *made = NULL;
    ex_error error = {0};
    assert_int_equal(ex_articulate(def, &made, &error), expected);
    assert_null(made);
    assert_sentence(&error, expected, word);
}

static void refuses_wrong_input(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0);
    t.def.form_count = 1;
    refuse(&t.def, EX_ERROR_DATA, "one form alone");
    t.def.form_count = FORMS;
    const double *same[FORMS] = {t.form_list[0], t.form_list[0], t.form_list[0], t.form_list[0], t.form_list[0]};
    t.def.forms = same;
    refuse(&t.def, EX_ERROR_DATA, "nothing moves");
    t.def.forms = t.form_list;
    t.forms[2][17][1] = NAN;
    refuse(&t.def, EX_ERROR_DATA, "kicked: the position of vertex 17");
    t.def.names = NULL;
    refuse(&t.def, EX_ERROR_DATA, "form 3: the position of vertex 17");
    t.forms[2][17][1] = 0;
    t.def.skeleton = &t.skeleton;
    refuse(&t.def, EX_ERROR_DATA, "skin weights to start from");
    with_skeleton(&t);
    t.start_weights[9][0] += 0.5f;
    refuse(&t.def, EX_ERROR_DATA, "vertex 9 sum to 1.5");
    t.start_weights[9][0] -= 0.5f;
    t.start_joints[3][0] = 7;
    refuse(&t.def, EX_ERROR_DATA, "vertex 3 has a weight");
    t.start_joints[3][0] = 0;
    t.def.form_count = 2;
    ex_articulated *body = articulate(&t.def); /* two are enough, but none can be left out */
    ex_left_outs *report = NULL;
    ex_error error = {0};
    assert_int_equal(ex_articulate_leave_out(&t.def, body, &report, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "at least 3");
    ex_articulated_destroy(body);
    close_tube(&t);
}

static bool stop(void *user, const char *what, double fraction) {
    (void)user;
    (void)what;
    return fraction < 0.3;
}

static void stops_when_asked(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0.05);
    with_skeleton(&t);
    const ex_progress progress = {.report = stop};
    t.def.progress = &progress;
    t.def.round_most = 3;
    refuse(&t.def, EX_ERROR_FILE, "stopped");
    close_tube(&t);
}

/* ---- memory ---- */

static ex_result everything(void *context) {
    const tube *t = context;
    ex_articulated *body = NULL;
    ex_articulated_layers *layers = NULL;
    ex_left_outs *report = NULL;
    ex_rig *rig = NULL;
    ex_error error;
    ex_result result = ex_articulate(&t->def, &body, &error);
    if (result == EX_OK)
        result = ex_articulated_find_layers(&t->def, body, &layers, &error);
    if (result == EX_OK)
        result = ex_articulated_rig(&t->def, body, layers, &rig, &error);
    if (result == EX_OK)
        result = ex_articulate_leave_out(&t->def, body, &report, &error);
    ex_left_outs_destroy(report);
    report = NULL;
    if (result == EX_OK)
        result = ex_articulated_measure(&t->def, body, layers, &report, &error);
    ex_left_outs_destroy(report);
    ex_rig_destroy(rig);
    ex_articulated_layers_destroy(layers);
    ex_articulated_destroy(body);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    tube t;
    open_tube(&t, 0.05);
    t.def.round_most = 1;
    t.def.form_count = 3;
    t.def.bone_count = 2;
    assert_true(fail_alloc_sweep(everything, &t) > 200);
    with_skeleton(&t);
    assert_true(fail_alloc_sweep(everything, &t) > 200);
    close_tube(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_joints_of_a_disturbed_skeleton),
        cmocka_unit_test(keeps_the_truth),
        cmocka_unit_test(finds_weights),
        cmocka_unit_test(takes_another_person_s_rest_form),
        cmocka_unit_test(hinge_keeps_its_axis),
        cmocka_unit_test(finds_bones),
        cmocka_unit_test(ignores_what_was_not_seen),
        cmocka_unit_test(tasks_change_nothing),
        cmocka_unit_test(poses_are_minima),
        cmocka_unit_test(rig_moves_as_the_body),
        cmocka_unit_test(layers_help_with_forms_left_out),
        cmocka_unit_test(left_out_is_left_out),
        cmocka_unit_test(measures_forms_never_seen),
        cmocka_unit_test(rig_has_dials),
        cmocka_unit_test(noise_makes_no_layers),
        cmocka_unit_test(guesses_are_those_without_the_form),
        cmocka_unit_test(refuses_wrong_input),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
