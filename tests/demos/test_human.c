/*
 * The demo `human`: figures are as tall as people of their age, expressions move only the face, sculpts come in at
 * their poses and keep elbows and knees from collapsing.
 */
#include "posed.h"

#include "demos/garment/garment.h"

#include <exemplar/author/scan.h>

static posed_demo demo;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    posed_open(&demo, "human");
    return 0;
}

static int tear_down(void **state) {
    posed_close(&demo);
    return scratch_tear_down(state);
}

static double height(const float *form) {
    float low = form[1], high = form[1];
    for (int v = 0; v < demo.mesh->vertex_count; v++) {
        low = form[3 * v + 1] < low ? form[3 * v + 1] : low;
        high = form[3 * v + 1] > high ? form[3 * v + 1] : high;
    }
    assert_true(low > -0.01F && low < 0.01F); /* on the ground */
    return (double)high - (double)low;
}

static void stands_as_tall_as_people(void **state) {
    (void)state;
    const double woman = height(posed_at(&demo, true, "gender=0")), man = height(posed_at(&demo, true, "gender=1")),
                 girl = height(posed_at(&demo, true, "age=10")), old = height(posed_at(&demo, true, "age=80"));
    assert_true(woman > 1.55 && woman < 1.75);
    assert_true(man > woman && man < 1.95);
    assert_true(girl > 1.1 && girl < 1.5);
    assert_true(old < woman);
    const double between = height(posed_at(&demo, true, "gender=0.5"));
    assert_true(fabs(between - 0.5 * (woman + man)) < 0.01);
}

static double farthest_from(const double *rest, const float *form, double below) {
    double most = 0;
    for (int v = 0; v < demo.mesh->vertex_count; v++)
        if (rest[3 * v + 1] < below)
            for (int c = 0; c < 3; c++)
                most = fmax(most, fabs((double)form[3 * v + c] - rest[3 * v + c]));
    return most;
}

static void expressions_move_the_face_alone(void **state) {
    (void)state;
    static const char *const dials[] = {"smile", "open", "pucker", "grin",     "frown",      "blink.L",  "blink.R",
                                        "sneer", "wide", "squint", "brows_up", "brows_down", "brows_sad"};
    for (size_t i = 0; i < sizeof dials / sizeof *dials; i++) {
        const float *form = posed_at(&demo, true, "%s=1", dials[i]);
        assert_true(farthest_from(demo.mesh->positions, form, 10) > 0.001);
        assert_true(farthest_from(demo.mesh->positions, form, 1.25) < 1e-5); /* below the neck */
    }
}

/* The farthest that the layers move a vertex at a pose, on the side of x's sign, between two heights. All others must
 * stay. */
static double sculpted(const char *pose, int side, double low, double high) {
    const int count = demo.mesh->vertex_count;
    float *skinned = malloc(12 * (size_t)count);
    assert_non_null(skinned);
    memcpy(skinned, posed_at(&demo, false, "%s", pose), 12 * (size_t)count);
    const float *form = posed_at(&demo, true, "%s", pose);
    double most = 0;
    for (int v = 0; v < count; v++) {
        const double *p = demo.mesh->positions + 3 * v;
        double moved = 0;
        for (int c = 0; c < 3; c++)
            moved = fmax(moved, fabs((double)form[3 * v + c] - (double)skinned[3 * v + c]));
        if (p[0] * side > 0.02 && p[1] > low && p[1] < high)
            most = fmax(most, moved);
        else
            assert_true(moved < 1e-4);
    }
    free(skinned);
    return most;
}

static void sculpts_act_at_their_joints(void **state) {
    (void)state;
    assert_true(sculpted("gender=0", 1, 0, 2) < 1e-6);
    static const struct {
        const char *name;
        double angle, low, high, least;
    } bent[] = {{"elbow", 115, 0.85, 1.35, 0.008}, {"elbow", 60, 0.85, 1.35, 0.003}, {"knee", 115, 0.1, 0.9, 0.008}};
    for (int i = 0; i < 3; i++) {
        char left[32], right[32];
        snprintf(left, sizeof left, "%s.L=%g", bent[i].name, bent[i].angle);
        snprintf(right, sizeof right, "%s.R=%g", bent[i].name, bent[i].angle);
        const double l = sculpted(left, 1, bent[i].low, bent[i].high),
                     r = sculpted(right, -1, bent[i].low, bent[i].high);
        assert_true(l > bent[i].least && l < 0.08);
        assert_true(fabs(l - r) < 0.1 * l); /* both sides are alike */
    }
}

/* Straight limbs of a man are those of the figure: no sculpt moves them. */
static void sculpts_leave_straight_limbs_alone(void **state) {
    (void)state;
    ex_mesh *man = NULL;
    assert_int_equal(ex_obj_read(scratch_path("layer1_005_male_young.obj"), &man, NULL), EX_OK);
    assert_int_equal(man->vertex_count, demo.mesh->vertex_count);
    assert_true(farthest_from(man->positions, posed_at(&demo, true, "gender=1"), 10) < 1e-5);
    assert_true(farthest_from(man->positions, posed_at(&demo, true, "gender=0"), 10) > 0.05);
    ex_mesh_destroy(man);
}

/* Adds the faces' normals, scaled by their areas, at their corners. */
static void add_normals(const float *form, double (*normals)[3]) {
    for (int f = 0; f < demo.mesh->face_count; f++) {
        const int *corners = demo.mesh->corners + demo.mesh->face_offsets[f];
        const int count = demo.mesh->face_offsets[f + 1] - demo.mesh->face_offsets[f];
        double a[3], b[3];
        for (int c = 0; c < 3; c++) {
            a[c] = (double)form[3 * corners[2] + c] - (double)form[3 * corners[0] + c];
            b[c] = (double)form[3 * corners[count - 1] + c] - (double)form[3 * corners[1] + c];
        }
        for (int i = 0; i < count; i++)
            for (int c = 0; c < 3; c++)
                normals[corners[i]][c] += a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
    }
}

/* The least depth, in metres, of skin below the shirt that covers it at rest. */
static double depth_below_shirt(const float *form, const int *cloth) {
    double(*normals)[3] = calloc((size_t)demo.mesh->vertex_count, sizeof *normals), least = 10;
    assert_non_null(normals);
    add_normals(form, normals);
    for (int v = 0; v < demo.mesh->vertex_count; v++) {
        const double *n = normals[cloth[v] < 0 ? 0 : cloth[v]];
        double below = 0;
        for (int c = 0; c < 3 && cloth[v] >= 0; c++)
            below += ((double)form[3 * cloth[v] + c] - (double)form[3 * v + c]) * n[c];
        least = cloth[v] < 0 ? least : fmin(least, below / sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]));
    }
    free(normals);
    return least;
}

/* Skin stays below the shirt wherever the arm is raised. */
static void skin_stays_below_the_shirt(void **state) {
    (void)state;
    const int count = demo.mesh->vertex_count;
    int *cloth = malloc(sizeof *cloth * (size_t)count), covered = 0;
    char *part = calloc((size_t)count, 1);
    double(*normals)[3] = calloc((size_t)count, sizeof *normals);
    assert_non_null(cloth);
    assert_non_null(part);
    assert_non_null(normals);
    for (int f = 0; f < demo.mesh->face_count; f++)
        for (int c = demo.mesh->face_offsets[f]; c < demo.mesh->face_offsets[f + 1]; c++)
            part[demo.mesh->corners[c]] = *demo.mesh->material_names[demo.mesh->face_materials[f]] == 's'
                                              ? demo.mesh->material_names[demo.mesh->face_materials[f]][1]
                                              : 0; /* sKin, sHirt; shoes are low */
    const float *form = posed_at(&demo, true, "gender=0");
    add_normals(form, normals);
    for (int v = 0; v < count; v++) {
        const double *p = demo.mesh->positions + 3 * v;
        double nearest = 1;
        cloth[v] = -1;
        for (int w = 0; part[v] == 'k' && p[1] > 0.8 && w < count; w++) {
            const double *q = demo.mesh->positions + 3 * w;
            const double away =
                (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]);
            if (part[w] == 'h' && q[1] > 0.8 && away < nearest) {
                nearest = away;
                cloth[v] = w;
            }
        }
        double below = 0, size = 0;
        for (int c = 0; c < 3 && cloth[v] >= 0; c++) {
            below += (demo.mesh->positions[3 * cloth[v] + c] - p[c]) * normals[cloth[v]][c];
            size += normals[cloth[v]][c] * normals[cloth[v]][c];
        }
        below /= sqrt(size);
        if (cloth[v] >= 0 && !(below > 0 && nearest < 0.03 * 0.03 && nearest - below * below < 0.012 * 0.012))
            cloth[v] = -1;
        covered += cloth[v] >= 0;
    }
    assert_true(covered > 100);
    static const char *const poses[] = {"gender=0",        "shoulder.L=z20",  "shoulder.L=z42",  "shoulder.L=z70",
                                        "shoulder.L=z105", "shoulder.R=z-70", "shoulder.L=y-60", "shoulder.L=z-38"};
    for (size_t i = 0; i < sizeof poses / sizeof *poses; i++) {
        const double deep = depth_below_shirt(posed_at(&demo, true, "%s", poses[i]), cloth);
        print_message("%s: %.1f mm below the shirt\n", poses[i], 1000 * deep);
        assert_true(deep > 0);
    }
    free(normals);
    free(part);
    free(cloth);
}

/* The clothes of the demo `outfit` lie outside the person, who moves as in the rig; the shirt over the trousers. */
static void the_outfit_fits(void **state) {
    (void)state;
    exi_garment outfit;
    assert_int_equal(exi_outfit_make(&outfit, NULL), EX_OK);
    const int count = outfit.driver->vertex_count, worn = outfit.driven->vertex_count;
    assert_int_equal(count, demo.mesh->vertex_count);
    double *form = malloc(24 * (size_t)count);
    assert_non_null(form);
    outfit.pose(&outfit, GARMENT_TRAINING, 1, 0, form);
    for (int i = 0; i < 3 * count; i++)
        assert_true(fabs(form[i] - demo.mesh->positions[i]) < 1e-5);
    outfit.pose(&outfit, GARMENT_TRAINING, 1, 1, form);
    double most = 0;
    for (int i = 0; i < 3 * count; i++)
        most = fmax(most, fabs(form[i] - demo.mesh->positions[i]));
    assert_true(most > 0.1 && most < 1.5);
    int pins = 0, shirt = 0;
    double hem = 10, waist = 0;
    bool *of_shirt = calloc((size_t)worn, sizeof *of_shirt);
    assert_non_null(of_shirt);
    assert_string_equal(outfit.driven->material_names[0], "shirt");
    for (int c = 0; c < outfit.driven->corner_count; c++)
        of_shirt[outfit.driven->corners[c]] = outfit.driven->face_materials[c / 3] == 0;
    for (int v = 0; v < worn; v++) {
        const bool upper = of_shirt[v];
        const double y = outfit.driven->positions[3 * v + 1];
        pins += outfit.pinned[v];
        shirt += upper;
        hem = upper ? fmin(hem, y) : hem;
        waist = upper ? waist : fmax(waist, y);
    }
    assert_true(pins > 20 && pins < worn / 10);
    assert_true(shirt > 1000 && shirt < worn - 1000);
    assert_true(waist > hem && waist < hem + 0.15);
    free(of_shirt);
    free(form);
    exi_garment_free(&outfit);
}

static ex_mesh *form_of(const char *file) {
    ex_mesh *mesh = NULL;
    assert_int_equal(ex_obj_read(scratch_path(file), &mesh, NULL), EX_OK);
    return mesh;
}

/* The demo `strides`: forms of the same person on the ground, a run that leans forwards, and a foot as high as a hip.
 */
static void strides_stand_on_the_ground(void **state) {
    (void)state;
    static const char *const files[] = {"stand.obj", "stride.obj", "run.obj", "kick.obj"};
    double heads[4][3], feet[4] = {0};
    ex_error error = {0};
    if (exi_demo_strides(scratch_path(""), &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh *stand = form_of(files[0]);
    assert_int_equal(stand->vertex_count, demo.mesh->vertex_count);
    for (int i = 0; i < 4; i++) {
        ex_mesh *form = form_of(files[i]);
        assert_int_equal(ex_mesh_compare_connectivity(stand, form, NULL), EX_OK);
        double lowest = 10;
        heads[i][1] = 0;
        for (int v = 0; v < form->vertex_count; v++) {
            const double *p = form->positions + 3 * v, *rest = demo.mesh->positions + 3 * v;
            lowest = fmin(lowest, p[1]);
            if (p[1] > heads[i][1])
                memcpy(heads[i], p, sizeof heads[i]);
            if (rest[0] > 0 && rest[1] < 0.05) /* her left shoe */
                feet[i] = fmax(feet[i], p[1]);
        }
        assert_true(lowest > -1e-4 && lowest < 1e-4);
        ex_mesh_destroy(form);
    }
    ex_mesh_destroy(stand);
    assert_true(heads[1][1] < heads[0][1] && heads[2][1] < heads[1][1]); /* strides are lower */
    assert_true(feet[0] < 0.15 && feet[3] > 0.8);
    ex_project *project = NULL;
    assert_int_equal(ex_project_read(scratch_path("strides.json"), &project, NULL), EX_OK);
    ex_project_destroy(project);
}

/* The demo `scanned`: landmarks lie on what the scans show, but for the few that no view shows, and the poses differ.
 */
static void scans_show_the_landmarks(void **state) {
    (void)state;
    static const char *const side[] = {"fingertip.L", "fingertip.R"};
    ex_error error = {0};
    if (exi_demo_scans(scratch_path(""), &(exi_demo_options){.quick = false}, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_scan_session *session = NULL;
    assert_int_equal(ex_scan_session_read(scratch_path(""), &session, NULL), EX_OK);
    assert_true(session->person && session->scan_count == 6);
    double tips[6][2] = {{0}};
    for (int i = 0; i < session->scan_count; i++) {
        char path[64], line[128], name[32];
        ex_mesh **meshes = NULL;
        int count = 0, near = 0;
        assert_int_equal(ex_scan_meshes(session, i, &meshes, NULL), EX_OK);
        snprintf(path, sizeof path, "landmarks/%s.csv", session->scans[i].name);
        FILE *file = fopen(scratch_path(path), "r");
        assert_true(file && fgets(line, sizeof line, file));
        for (double p[3]; fgets(line, sizeof line, file); count++) {
            double least = 1;
            assert_int_equal(sscanf(line, "%31[^,],%lf,%lf,%lf", name, &p[0], &p[1], &p[2]), 4);
            for (int m = 0; m < session->scans[i].file_count; m++)
                for (int v = 0; v < meshes[m]->vertex_count; v++) {
                    const double *q = meshes[m]->positions + 3 * v;
                    least = fmin(least, hypot(hypot(p[0] - q[0], p[1] - q[1]), p[2] - q[2]));
                }
            near += least < 0.012;
            for (int k = 0; k < 2; k++)
                if (strcmp(name, side[k]) == 0)
                    tips[i][k] = p[1];
        }
        fclose(file);
        print_message("%s: %d of %d landmarks on the scan\n", session->scans[i].name, near, count);
        assert_true(count >= 20 && near >= count - 4);
        for (int m = 0; m < session->scans[i].file_count; m++) {
            assert_true(meshes[m]->vertex_count > 4000 && meshes[m]->face_count > 4000);
            ex_mesh_destroy(meshes[m]);
        }
        free(meshes);
    }
    assert_string_equal(session->scans[1].name, "raise");
    assert_true(tips[1][0] > tips[0][0] + 0.5 && tips[1][1] > tips[0][1] + 0.5);
    ex_scan_session_destroy(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_as_tall_as_people),           cmocka_unit_test(expressions_move_the_face_alone),
        cmocka_unit_test(sculpts_act_at_their_joints),        cmocka_unit_test(the_outfit_fits),
        cmocka_unit_test(strides_stand_on_the_ground),        cmocka_unit_test(scans_show_the_landmarks),
        cmocka_unit_test(sculpts_leave_straight_limbs_alone), cmocka_unit_test(skin_stays_below_the_shirt),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
