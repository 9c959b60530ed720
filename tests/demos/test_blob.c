/*
 * The demo `blob`: five forms that do not cross themselves, and figure 5
 * counted: without its two pseudo-examples the surface crosses itself at both
 * upper corners, with them nowhere in the range.
 */
#include "author/project/projects.h"

#include "demos/demos.h"

static const char *const forms[] = {"thin", "left", "right", "barrel", "thick"};

static ex_project *project;
static ex_mesh *mesh;

static int set_up(void **state) {
    if (scratch_set_up(state) != 0 || exi_demo_blob(scratch_path("."), NULL) != EX_OK)
        return -1;
    return ex_project_read(scratch_path("blob.json"), &project, NULL) == EX_OK &&
                   ex_mesh_read(scratch_path("thin.obj"), &mesh, NULL) == EX_OK
               ? 0
               : -1;
}

static int tear_down(void **state) {
    ex_project_destroy(project);
    ex_mesh_destroy(mesh);
    return scratch_tear_down(state);
}

static int crossings(const ex_rig *rig, double bend, double thickness) {
    float positions[642 * 3];
    int count = -1;
    evaluate(rig, (double[]){bend, thickness}, positions, NULL);
    assert_int_equal(ex_mesh_count_self_intersections(mesh, positions, &count, NULL), EX_OK);
    return count;
}

static void is_in_the_table(void **state) {
    (void)state;
    assert_true(ex_demo_count >= 1);
    assert_string_equal(ex_demos[0].name, "blob");
    assert_ptr_equal(ex_demos[0].write, exi_demo_blob);
    assert_int_equal(scratch_entry_count(), 6);
}

static void has_five_sound_forms(void **state) {
    (void)state;
    const ex_project_layer *layer = &ex_project_get(project)->layers[0];
    assert_int_equal(ex_project_get(project)->layer_count, 1);
    assert_int_equal(layer->example_count, 5);
    assert_int_equal(layer->pseudo_count, 2);
    for (int k = 0; k < 5; k++) {
        char name[32];
        ex_mesh *form = NULL;
        int pairs = -1;
        snprintf(name, sizeof name, "%s.obj", forms[k]);
        assert_int_equal(ex_mesh_read(scratch_path(name), &form, NULL), EX_OK);
        assert_int_equal(form->vertex_count, 642);
        assert_int_equal(form->face_count, 1280);
        assert_int_equal(ex_mesh_compare_connectivity(mesh, form, NULL), EX_OK);
        assert_int_equal(ex_mesh_count_self_intersections(form, NULL, &pairs, NULL), EX_OK);
        assert_int_equal(pairs, 0);
        ex_mesh_destroy(form);
    }
}

/* A closed surface that faces outwards: every edge occurs twice, once in each direction, and the volume is positive. */
static void is_a_closed_surface(void **state) {
    (void)state;
    enum { V = 642 };
    static unsigned char edges[V][V];
    double volume = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        const int *c = mesh->corners + mesh->face_offsets[f];
        const double *a = mesh->positions + 3 * c[0], *b = mesh->positions + 3 * c[1], *d = mesh->positions + 3 * c[2];
        assert_int_equal(mesh->face_offsets[f + 1] - mesh->face_offsets[f], 3);
        for (int i = 0; i < 3; i++)
            edges[c[i]][c[(i + 1) % 3]]++;
        volume += a[0] * (b[1] * d[2] - b[2] * d[1]) + a[1] * (b[2] * d[0] - b[0] * d[2]) +
                  a[2] * (b[0] * d[1] - b[1] * d[0]);
    }
    int count = 0;
    for (int i = 0; i < V; i++)
        for (int j = 0; j < V; j++) {
            assert_int_equal(edges[i][j], edges[j][i]);
            assert_true(edges[i][j] <= 1);
            count += edges[i][j];
        }
    assert_int_equal(count, 2 * 1920);
    /* An ellipsoid with half axes 1, 0.35, 0.35, cut into 1280 triangles. */
    check_near(volume / 6, 4.0 / 3 * 3.14159265 * 0.35 * 0.35, 0.01);
}

static void gives_its_examples(void **state) {
    (void)state;
    ex_rig *rig = build_project(project);
    const ex_project_layer *layer = &ex_project_get(project)->layers[0];
    for (int k = 0; k < 5; k++) {
        float positions[642 * 3];
        ex_mesh *form = NULL;
        assert_int_equal(ex_mesh_read(scratch_path(layer->examples[k].mesh), &form, NULL), EX_OK);
        evaluate(rig, layer->examples[k].at, positions, NULL);
        for (int i = 0; i < 642 * 3; i++)
            check_near((double)positions[i], form->positions[i], 1e-6 * ex_mesh_size(form));
        ex_mesh_destroy(form);
    }
    ex_rig_destroy(rig);
}

static void crosses_itself_without_pseudo_examples(void **state) {
    (void)state;
    ex_project *bare = NULL;
    assert_int_equal(ex_project_read(scratch_path("blob.json"), &bare, NULL), EX_OK);
    const ex_edit edit = {.kind = EX_EDIT_REMOVE_PSEUDO, .index = 0};
    assert_int_equal(ex_project_edit(bare, 0, &edit, NULL, NULL, NULL), EX_OK);
    assert_int_equal(ex_project_edit(bare, 0, &edit, NULL, NULL, NULL), EX_OK);
    ex_rig *rig = build_project(bare);
    int left = crossings(rig, -1, 1), right = crossings(rig, 1, 1);
    assert_true(left > 0 && right > 0);
    ex_rig_destroy(rig);
    ex_project_destroy(bare);
}

static void crosses_itself_nowhere_with_them(void **state) {
    (void)state;
    ex_rig *rig = build_project(project);
    for (int i = 0; i <= 8; i++)
        for (int j = 0; j <= 8; j++) {
            int count = crossings(rig, -1 + i / 4.0, j / 8.0);
            if (count != 0)
                fail_msg("%d pairs at bend %g, thickness %g", count, -1 + i / 4.0, j / 8.0);
        }
    assert_int_equal(ex_rig_example_count(rig), 5);
    ex_rig_destroy(rig);
}

static void has_nothing_wrong_with_it(void **state) {
    (void)state;
    ex_check *check = NULL;
    assert_int_equal(ex_project_check(project, NULL, &check, NULL), EX_OK);
    assert_int_equal(check->error_count, 0);
    ex_check_destroy(check);
}

static void unpacks_to_the_same_bytes(void **state) {
    (void)state;
    ex_rig *rig = build_project(project);
    ex_project *unpacked = NULL;
    assert_int_equal(ex_project_unpack(rig, scratch_path("unpacked"), "blob", false, NULL), EX_OK);
    assert_int_equal(ex_project_read(scratch_path("unpacked/blob.json"), &unpacked, NULL), EX_OK);
    ex_rig *again = build_project(unpacked);
    check_same_rig(rig, again);
    ex_rig_destroy(again);
    ex_rig_destroy(rig);
    ex_project_destroy(unpacked);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_in_the_table),
        cmocka_unit_test(has_five_sound_forms),
        cmocka_unit_test(is_a_closed_surface),
        cmocka_unit_test(gives_its_examples),
        cmocka_unit_test(crosses_itself_without_pseudo_examples),
        cmocka_unit_test(crosses_itself_nowhere_with_them),
        cmocka_unit_test(has_nothing_wrong_with_it),
        cmocka_unit_test(unpacks_to_the_same_bytes),
    };
    return cmocka_run_group_tests_name("demos.blob", tests, set_up, tear_down);
}
