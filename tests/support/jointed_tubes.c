#include "support/jointed_tubes.h"

#include "runtime/base/vector.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double length = 1.2;
const double jointed_radius = 0.06, jointed_at[JOINTS] = {0.1, 0.45, 0.8};
static const char *const names[FORMS] = {"straight", "bent", "kicked", "twisted", "both"};

void jointed_turn(double q[4], double x, double y, double z, double degrees) {
    const double half = degrees * 3.14159265358979 / 360, size = sqrt(x * x + y * y + z * z);
    q[0] = x / size * sin(half);
    q[1] = y / size * sin(half);
    q[2] = z / size * sin(half);
    q[3] = cos(half);
}

void jointed_pose(jointed_tube *t, int form, double bulge, double (*out)[3]) {
    double world[JOINTS][4], place[JOINTS][3];
    for (int b = 0; b < JOINTS; b++) {
        double bone[3] = {b > 0 ? jointed_at[b] - jointed_at[b - 1] : 0, 0, 0};
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
        x[1] += v < TUBE ? bulge * bend * near * x[1] / jointed_radius : 0;
        for (int b = 0; b < JOINTS; b++) {
            double p[3] = {x[0] - jointed_at[b], x[1], x[2]};
            exi_rotate(world[b], p, p);
            for (int i = 0; i < 3; i++)
                out[v][i] += t->weights[v][b] * (p[i] + place[b][i]);
        }
    }
}

static void make_mesh(jointed_tube *t) {
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

static void set_vertices(jointed_tube *t) {
    for (int v = 0; v < TUBE; v++) {
        const double x = length * (v / AROUND) / (RINGS - 1), angle = 2 * 3.14159265358979 * (v % AROUND) / AROUND;
        t->rest[v][0] = x;
        t->rest[v][1] = jointed_radius * cos(angle);
        t->rest[v][2] = 1.3 * jointed_radius * sin(angle);
        double left = 1; /* weights pass from bone to bone within 12 cm around the joints */
        for (int b = JOINTS - 1; b > 0; b--) {
            const double s = fmin(1, fmax(0, (x - jointed_at[b]) / 0.12 + 0.5)), share = s * s * (3 - 2 * s);
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

void jointed_open(jointed_tube *t, double bulge) {
    memset(t, 0, sizeof *t);
    make_mesh(t);
    set_vertices(t);
    const double angles[FORMS][JOINTS] = {{0, 0, 0}, {10, 70, 20}, {40, -30, 100}, {-60, 40, 60}, {150, 110, -80}};
    for (int f = 0; f < FORMS; f++) {
        jointed_turn(t->turns[f][0], 0.2, 1, 0.3, angles[f][0]);
        jointed_turn(t->turns[f][1], 0, 0.1 * f, 1, angles[f][1]);
        jointed_turn(t->turns[f][2], 0.1, 1, 0.1 * f, angles[f][2]);
        for (int i = 0; i < 3; i++)
            t->bases[f][i] = f == 0 ? (i == 0) * jointed_at[0] : 0.1 * f - 0.2 * i;
        jointed_pose(t, f, bulge, t->forms[f]);
        t->form_list[f] = &t->forms[f][0][0];
    }
    t->skeleton = (ex_kinematics){.name = (char *)"tube", .joint_count = JOINTS, .joints = t->joints};
    for (int b = 0; b < JOINTS; b++)
        t->joints[b] = (ex_kin_joint){.name = (char *)(b == 0   ? "root"
                                                       : b == 1 ? "middle"
                                                                : "tip"),
                                      .parent = b - 1,
                                      .freedom = b == 0 ? EX_FREEDOM_BASE : EX_FREEDOM_BALL,
                                      .translation = {b > 0 ? jointed_at[b] - jointed_at[b - 1] : jointed_at[0], 0, 0},
                                      .mirror = -1};
    for (int v = 0; v < VERTICES; v++)
        for (int b = 0; b < JOINTS; b++) {
            t->start_joints[v][b] = (uint16_t)b;
            t->start_weights[v][b] = (float)t->weights[v][b];
        }
    t->def = (ex_articulate_def){.mesh = t->mesh, .form_count = FORMS, .forms = t->form_list, .names = names};
}

void jointed_add_skeleton(jointed_tube *t) {
    t->def.skeleton = &t->skeleton;
    t->def.rest = &t->rest[0][0];
    t->def.influence_count = JOINTS;
    t->def.joints = &t->start_joints[0][0];
    t->def.weights = &t->start_weights[0][0];
}

void jointed_close(jointed_tube *t) {
    ex_mesh_destroy(t->mesh);
}

ex_articulated *jointed_articulate(const ex_articulate_def *def) {
    ex_articulated *made = NULL;
    ex_error error = {0};
    if (ex_articulate(def, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

double jointed_distance(const jointed_tube *t, const ex_articulated *body, int form) {
    double sum = 0, *positions = malloc(3 * VERTICES * sizeof *positions);
    assert_int_equal(ex_articulated_pose(body, &body->poses[form], NULL, positions, NULL), EX_OK);
    for (int v = 0; v < VERTICES; v++)
        for (int i = 0; i < 3; i++)
            sum += pow(positions[3 * v + i] - t->forms[form][v][i], 2);
    free(positions);
    return sqrt(sum / VERTICES);
}
