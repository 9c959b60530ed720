#include "support/drives.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
static const double radius = 0.1, gap = 0.012;

/* A point of the bar: s from 0 to 1 along it, an angle around it, a distance from its axis. The bend is an arc in the
 * plane of x and y; the twist grows along it. */
static void place(const drive_pose *p, double s, double angle, double distance, float out[3]) {
    const double bend = p->bend * pi / 180, turned = angle + s * p->twist * pi / 180, turn = p->turn * pi / 180;
    const double a = bend * s, ring[2] = {distance * cos(turned), distance * sin(turned)};
    const double x = fabs(bend) < 1e-9 ? s : sin(a) / bend, y = fabs(bend) < 1e-9 ? 0 : (1 - cos(a)) / bend;
    const double q[3] = {x - ring[0] * sin(a), y + ring[0] * cos(a), ring[1]};
    out[0] = (float)(cos(turn) * q[0] + sin(turn) * q[2] + p->along);
    out[1] = (float)q[1];
    out[2] = (float)(-sin(turn) * q[0] + cos(turn) * q[2] + 0.3 * p->along);
}

/* Folds on the inside of the bend, and looser cloth at the twist. */
static double fold(const drive_pose *p, double s, double angle) {
    const double bend = sin(p->bend * pi / 180 / 2), inside = (1 + cos(angle)) / 2;
    return p->wrinkle * (0.02 * bend * bend * inside * (1 + cos(12 * pi * s)) +
                         0.006 * fabs(p->twist) / 60 * (1 + sin(9 * s + 2 * angle)));
}

void drive_form(const drive_pose *pose, float *driver, float *driven) {
    for (int r = 0; driver && r < DRIVE_RINGS; r++)
        for (int k = 0; k < DRIVE_SIDES; k++)
            place(pose, r / (DRIVE_RINGS - 1.0), 2 * pi * k / DRIVE_SIDES, radius,
                  driver + 3 * (size_t)(r * DRIVE_SIDES + k));
    for (int end = 0; driver && end < 2; end++)
        place(pose, end, 0, 0, driver + 3 * (size_t)(DRIVE_RINGS * DRIVE_SIDES + end));
    for (int r = 0; driven && r < DRIVE_SLEEVE_RINGS; r++)
        for (int k = 0; k < DRIVE_SLEEVE_SIDES; k++) {
            const double s = 0.15 + 0.7 * r / (DRIVE_SLEEVE_RINGS - 1.0),
                         angle = 2 * pi * (k + 0.3) / DRIVE_SLEEVE_SIDES;
            place(pose, s, angle, radius + gap + fold(pose, s, angle),
                  driven + 3 * (size_t)(r * DRIVE_SLEEVE_SIDES + k));
        }
}

/* ---- meshes ---- */

static void add_face(ex_mesh *mesh, int group, const int *corners, int count) {
    for (int i = 0; i < count; i++)
        mesh->corners[mesh->corner_count++] = corners[i];
    mesh->face_groups[mesh->face_count++] = group;
    mesh->face_offsets[mesh->face_count] = mesh->corner_count;
}

static ex_mesh *make_tube(int rings, int sides, bool caps, const char *const names[2], const float *positions) {
    ex_mesh *mesh = ex_mesh_create();
    const int vertices = rings * sides + (caps ? 2 : 0), faces = (rings - 1) * sides + (caps ? 2 * sides : 0);
    assert_non_null(mesh);
    mesh->vertex_count = vertices;
    mesh->positions = malloc((size_t)vertices * 3 * sizeof(double));
    mesh->face_offsets = calloc((size_t)faces + 1, sizeof(int));
    mesh->corners = malloc((size_t)faces * 4 * sizeof(int));
    mesh->face_groups = malloc((size_t)faces * sizeof(int));
    mesh->group_names = malloc(2 * sizeof(char *));
    mesh->group_count = 2;
    for (int i = 0; i < 3 * vertices; i++)
        mesh->positions[i] = (double)positions[i];
    for (int i = 0; i < 2; i++) {
        mesh->group_names[i] = malloc(strlen(names[i]) + 1);
        strcpy(mesh->group_names[i], names[i]);
    }
    for (int r = 0; r + 1 < rings; r++)
        for (int k = 0; k < sides; k++) {
            const int a = r * sides + k, b = r * sides + (k + 1) % sides;
            add_face(mesh, r >= rings / 2, (int[]){a, b, b + sides, a + sides}, 4);
        }
    for (int k = 0; caps && k < sides; k++) {
        const int last = (rings - 1) * sides;
        add_face(mesh, 0, (int[]){rings * sides, (k + 1) % sides, k}, 3);
        add_face(mesh, 1, (int[]){rings * sides + 1, last + k, last + (k + 1) % sides}, 3);
    }
    return mesh;
}

ex_mesh *drive_driver_mesh(void) {
    float form[3 * DRIVE_DRIVER_COUNT];
    drive_form(&(drive_pose){.wrinkle = 1}, form, NULL);
    return make_tube(DRIVE_RINGS, DRIVE_SIDES, true, (const char *const[]){"lower", "upper"}, form);
}

ex_mesh *drive_driven_mesh(void) {
    float form[3 * DRIVE_DRIVEN_COUNT];
    drive_form(&(drive_pose){.wrinkle = 1}, NULL, form);
    return make_tube(DRIVE_SLEEVE_RINGS, DRIVE_SLEEVE_SIDES, false, (const char *const[]){"cuff", "arm"}, form);
}

/* ---- motions ---- */

drive_pose drive_motion(int seed, int frame, int frame_count) {
    const double t = (double)frame / frame_count, shift = 0.7 * seed;
    return (drive_pose){.bend = 55 * (1 - cos(2 * pi * t + shift)),
                        .twist = 40 * sin(4 * pi * t + 2 * shift),
                        .turn = 120 * t,
                        .along = 0.8 * t,
                        .wrinkle = 1};
}

void drive_write(const char *driver, const char *driven, const drive_pose *poses, int frame_count) {
    double *times = malloc((size_t)frame_count * sizeof *times);
    float form[3 * DRIVE_DRIVER_COUNT], cloth[3 * DRIVE_DRIVEN_COUNT];
    for (int f = 0; f < frame_count; f++)
        times[f] = f / 25.0;
    for (int i = 0; i < 2; i++) {
        const char *name = i ? driven : driver;
        ex_error error = {.result = EX_OK};
        ex_cache_writer *writer = NULL;
        ex_mesh *mesh =
            name && ex_cache_kind_of(name) == EX_CACHE_OBJ ? i ? drive_driven_mesh() : drive_driver_mesh() : NULL;
        if (!name)
            continue;
        ex_result result = ex_cache_create(scratch_path(name), i ? DRIVE_DRIVEN_COUNT : DRIVE_DRIVER_COUNT, frame_count,
                                           times, mesh, &writer, &error);
        for (int f = 0; result == EX_OK && f < frame_count; f++) {
            drive_form(&poses[f], form, cloth);
            result = ex_cache_write(writer, i ? cloth : form, &error);
        }
        if (result == EX_OK)
            result = ex_cache_finish(writer, true, &error);
        if (result != EX_OK)
            fail_msg("%s", error.text);
        ex_mesh_destroy(mesh);
    }
    free(times);
}

void drive_write_motion(const char *driver, const char *driven, int seed, int frame_count) {
    drive_pose *poses = malloc((size_t)frame_count * sizeof *poses);
    for (int f = 0; f < frame_count; f++)
        poses[f] = drive_motion(seed, f, frame_count);
    drive_write(driver, driven, poses, frame_count);
    free(poses);
}

double drive_apart(const float *a, const float *b, int count) {
    double most = 0;
    for (int v = 0; v < count; v++) {
        double sum = 0;
        for (int c = 0; c < 3; c++) {
            const double d = (double)a[3 * v + c] - (double)b[3 * v + c];
            sum += d * d;
        }
        most = sum > most ? sum : most;
    }
    return sqrt(most);
}
