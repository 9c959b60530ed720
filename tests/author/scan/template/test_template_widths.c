/*
 * Widths of templates: tubes around the bones of a skeleton represent a body, complete and seen from only one side;
 * markers; given meshes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/formats.h>
#include <exemplar/author/scan_body.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/skeletons.h"

#define ARM   0.047
#define WIDE  0.165
#define DEEP  0.118
#define CHEST 1.3 /* below the arms */

static ex_kinematics *upper(void) {
    ex_kinematics *kinematics = NULL;
    ex_error error = {0};
    if (ex_kinematics_read("upper", &kinematics, &error) != EX_OK)
        fail_msg("%s", error.text);
    return kinematics;
}

/* ---- a body of tubes ---- */

/* Open tubes around x (arms, at shoulder height) and y (trunk), outwards, of quadrangles; in each arm another one that
 * faces inwards, like errors of a scanner. only_front: the part with z > 0. */
static ex_mesh *tubes(bool only_front) {
    enum { SIDES = 32, RINGS = 30, TUBES = 5 };
    ex_mesh *mesh = ex_mesh_create();
    const size_t vertices = TUBES * (RINGS + 1) * SIDES, faces = TUBES * RINGS * SIDES;
    assert_non_null(mesh);
    mesh->positions = malloc(3 * vertices * sizeof *mesh->positions);
    mesh->face_offsets = realloc(mesh->face_offsets, (faces + 1) * sizeof *mesh->face_offsets);
    mesh->corners = malloc(4 * faces * sizeof *mesh->corners);
    assert_true(mesh->positions && mesh->face_offsets && mesh->corners);
    mesh->face_offsets[0] = 0;
    for (int tube = 0; tube < TUBES; tube++)
        for (int r = 0; r <= RINGS; r++)
            for (int k = 0; k < SIDES; k++) {
                const double a = 6.283185307179586 * k / SIDES, t = (double)r / RINGS;
                const double arm = tube > 2 ? 0.75 * ARM : ARM;
                double *p = mesh->positions + 3 * mesh->vertex_count++;
                p[0] = tube == 2 ? WIDE * cos(a) : (tube % 3 ? -1 : 1) * (0.1 + 0.8 * t);
                p[1] = tube == 2 ? 0.6 + t : 1.42 + arm * cos(a);
                p[2] = tube == 2 ? -0.03 + DEEP * sin(a) : -0.03 + arm * sin(a);
            }
    for (int tube = 0; tube < TUBES; tube++)
        for (int r = 0; r < RINGS; r++)
            for (int k = 0; k < SIDES; k++) {
                const int first = (tube * (RINGS + 1) + r) * SIDES, next = (k + 1) % SIDES;
                const int corners[4] = {first + k, first + next, first + SIDES + next, first + SIDES + k};
                if (only_front && 2 * k >= SIDES)
                    continue;
                for (int c = 0; c < 4; c++)
                    mesh->corners[mesh->corner_count++] = corners[tube >= 1 && tube <= 3 ? 3 - c : c];
                mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
            }
    return mesh;
}

/* The surface at rest, at level 2. */
static float *surface_of(const ex_template *made, int *count) {
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_template_rig(made, 2, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    const ex_evaluation evaluation = {.level = 2};
    *count = ex_rig_level_vertex_count(rig, 2);
    float *positions = malloc(3 * sizeof(float) * (size_t)*count);
    void *scratch = malloc(ex_rig_scratch_size(rig, &evaluation, 1));
    assert_true(positions && scratch);
    const ex_output output = {.positions = positions};
    ex_rig_evaluate(rig, &(ex_pose){.inputs = NULL}, &output, &evaluation, scratch);
    free(scratch);
    ex_rig_destroy(rig);
    return positions;
}

/* Largest difference from the tubes, in radii, over the arms from elbow to wrist and over the trunk below them. */
static void differences(const ex_template *made, double *arm, double *trunk) {
    int count, seen[2] = {0};
    float *p = surface_of(made, &count);
    *arm = *trunk = 0;
    for (int v = 0; v < count; v++) {
        const double x = fabs((double)p[3 * v]), y = (double)p[3 * v + 1], z = (double)p[3 * v + 2] + 0.03;
        if (x > 0.4 && x < 0.72) {
            const double off = fabs(hypot(y - 1.42, z) / ARM - 1);
            *arm = off > *arm ? off : *arm;
            seen[0]++;
        } else if (x < 0.2 && y < CHEST && y > 1.0) {
            const double off = fabs(hypot(x / WIDE, z / DEEP) - 1);
            *trunk = off > *trunk ? off : *trunk;
            seen[1]++;
        }
    }
    assert_true(seen[0] > 200 && seen[1] > 150);
    free(p);
}

static ex_template *make(const ex_kinematics *kinematics, const ex_mesh *const *scans, int count, const ex_mesh *cage) {
    ex_template *made = NULL;
    ex_error error = {0};
    const ex_template_options options = {.cage = cage, .scans = scans, .scan_count = count};
    if (ex_template_create(kinematics, &options, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

/* Within 5 % of the radius: 2 mm on an arm, where four points make a circle to 3 %. */
static void by_scans(void **state) {
    (void)state;
    ex_kinematics *kinematics = upper();
    ex_mesh *body = tubes(false);
    ex_template *made = make(kinematics, (const ex_mesh *const[]){body}, 1, NULL);
    double arm, trunk;
    differences(made, &arm, &trunk);
    assert_true(arm < 0.05);
    assert_true(trunk < 0.08);
    ex_template_destroy(made);
    ex_mesh_destroy(body);
    ex_kinematics_destroy(kinematics);
}

/* Unseen parts are as wide as their neighbours, which is right if the axis is in the middle. */
static void by_half_a_scan(void **state) {
    (void)state;
    ex_kinematics *kinematics = upper();
    ex_mesh *body = tubes(true);
    ex_template *made = make(kinematics, (const ex_mesh *const[]){body}, 1, NULL);
    double arm, trunk;
    differences(made, &arm, &trunk);
    assert_true(arm < 0.12);
    assert_true(trunk < 0.25);
    ex_template_destroy(made);
    ex_mesh_destroy(body);
    ex_kinematics_destroy(kinematics);
}

/* Markers 7 cm from the axis of the upper arm: so is the surface half-way along it. */
static void by_markers(void **state) {
    (void)state;
    ex_kinematics *kinematics = upper();
    const int joint = skeleton_find(kinematics, "shoulder.L"), other = skeleton_find(kinematics, "shoulder.R");
    enum { SITES = 6 };
    free(kinematics->sites);
    kinematics->sites = calloc(2 * SITES, sizeof *kinematics->sites);
    assert_non_null(kinematics->sites);
    kinematics->site_count = 2 * SITES;
    for (int i = 0; i < 2 * SITES; i++) {
        ex_site *site = &kinematics->sites[i];
        const double sign = i < SITES ? 1 : -1;
        *site = (ex_site){.name = malloc(2), .joint = i < SITES ? joint : other, .placed = true};
        assert_non_null(site->name);
        strcpy(site->name, "m");
        site->local[0] = sign * 0.14;
        site->local[1] = 0.07 * cos(i);
        site->local[2] = 0.07 * sin(i);
    }
    ex_template *made = make(kinematics, NULL, 0, NULL);
    int count, seen = 0;
    float *p = surface_of(made, &count);
    for (int v = 0; v < count; v++)
        if (fabs(fabs((double)p[3 * v]) - 0.32) < 0.015) {
            assert_near(hypot((double)p[3 * v + 1] - 1.42, (double)p[3 * v + 2] + 0.03), 0.07, 0.007);
            seen++;
        }
    assert_true(seen > 8);
    free(p);
    ex_template_destroy(made);
    ex_kinematics_destroy(kinematics);
}

/* ---- meshes that were given ---- */

static double weight_of(const ex_template *made, int vertex, int joint) {
    const ex_scene_primitive *p = made->scene->meshes[0].primitives;
    double sum = 0;
    for (int i = 0; i < p->influence_count; i++)
        if (p->joints[vertex * p->influence_count + i] == joint)
            sum += (double)p->weights[vertex * p->influence_count + i];
    return sum;
}

/* Around the elbow: half of both bones in the plane through it, on any side of the arm, all of one at the bone's
 * middle; between, increasing. */
static void given(void **state) {
    (void)state;
    ex_kinematics *kinematics = upper();
    ex_mesh *body = tubes(false);
    ex_template *made = make(kinematics, NULL, 0, body);
    const int shoulder = skeleton_find(kinematics, "shoulder.L"), elbow = skeleton_find(kinematics, "elbow.L");
    const int forearm = skeleton_find(kinematics, "forearm.L");
    assert_int_equal(made->cage->vertex_count, body->vertex_count);
    assert_int_equal(made->cage->face_count, body->face_count);
    assert_memory_equal(made->cage->positions, body->positions, 3 * sizeof(double) * (size_t)body->vertex_count);
    for (int v = 0; v < body->vertex_count; v++) {
        const double x = body->positions[3 * v] - 0.46, w = weight_of(made, v, shoulder), e = weight_of(made, v, elbow);
        if (v >= 31 * 32)
            break; /* the left arm */
        if (fabs(x) < 0.015)
            assert_near(w, 0.5, 0.1 + 1e-3);
        if (fabs(fabs(x) - 0.04) < 0.015)
            assert_near(w, x < 0 ? 0.75 : 0.25, 0.1);
        if (fabs(x + 0.14) < 0.02)
            assert_near(w, 1, 1e-6);
        if (fabs(x - 0.13) < 0.02) {
            assert_near(e + weight_of(made, v, forearm), 1, 1e-6);
            assert_near(e, 0.5, 0.1);
        }
    }
    bool found = false;
    for (int i = 0; i < made->cage->group_count; i++)
        found |= strcmp(made->cage->group_names[i], "shoulder.R") == 0;
    assert_true(found);
    ex_template_destroy(made);
    ex_mesh_destroy(body);
    ex_kinematics_destroy(kinematics);
}

static void invalid(void **state) {
    (void)state;
    static const char text[] = "v 0 1 0\nv 1 1 0\nv 0 2 0\n";
    ex_kinematics *kinematics = upper();
    ex_mesh *mesh = NULL;
    ex_template *made = NULL;
    ex_error error = {0};
    assert_int_equal(ex_obj_parse(text, strlen(text), "test", &mesh, &error), EX_OK);
    assert_int_equal(ex_template_create(kinematics, &(ex_template_options){.cage = mesh}, &made, &error),
                     EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "no faces");
    assert_null(made);
    ex_mesh_destroy(mesh);
    ex_mesh *body = tubes(false);
    body->positions[301] = NAN;
    assert_int_equal(ex_template_create(kinematics, &(ex_template_options){.cage = body}, &made, &error),
                     EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "vertex 100");
    ex_mesh_destroy(body);
    ex_kinematics_destroy(kinematics);
}

/* ---- memory ---- */

typedef struct trial {
    const ex_kinematics *kinematics;
    ex_template_options options;
} trial;

static ex_result attempt(void *context) {
    const trial *t = context;
    ex_template *made = NULL;
    ex_error error = {0};
    const ex_result result = ex_template_create(t->kinematics, &t->options, &made, &error);
    ex_template_destroy(made);
    return result;
}

static void memory(void **state) {
    (void)state;
    static const char text[] = "v 0 1 0\nv 0.5 1 0\nv 0.5 1.4 0\nv 0 1.4 0\nf 1 2 3 4\n";
    ex_kinematics *kinematics = upper();
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    assert_int_equal(ex_obj_parse(text, strlen(text), "test", &mesh, &error), EX_OK);
    const ex_mesh *scans[] = {mesh, mesh};
    trial scanned = {kinematics, {.scans = scans, .scan_count = 2}}, taken = {kinematics, {.cage = mesh}};
    assert_true(fail_alloc_sweep(attempt, &scanned) > 30);
    assert_true(fail_alloc_sweep(attempt, &taken) > 10);
    ex_mesh_destroy(mesh);
    ex_kinematics_destroy(kinematics);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_scans), cmocka_unit_test(by_half_a_scan), cmocka_unit_test(by_markers),
        cmocka_unit_test(given),    cmocka_unit_test(invalid),        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
