/*
 * The demo `arm`: eight closed forms that do not cross themselves; a skin whose un-posing is exact; and figures 6 to 9
 * of Shape by Example, measured: matrices alone shrink the elbow, examples keep it, pseudo-examples remove the bulge of
 * half-bent arms, and beyond the examples arms are more bent and more muscular.
 */
#include "author/project/projects.h"

#include "author/base/json.h"
#include "demos/arm/arm.h"
#include "demos/demos.h"
#include "support/fail_alloc.h"

enum { FORMS = 8, PSEUDOS = 6, AXES = 4, V = ARM_VERTICES };

static const char *const axis_names[AXES] = {"shoulder", "elbow", "wrist", "gender"};

typedef float form[V][3];

/* The contents of a rig: the forms as sculpted and un-posed, their points, skeleton and skin. */
static ex_mesh *mesh;
static ex_scene *scene;
static ex_skeleton *skeleton;
static ex_skin *skin;
static form sculpts[FORMS];
static double rests[FORMS][V][3];
static double points[FORMS][AXES], pseudo_at[PSEUDOS][AXES], pseudo_from[PSEUDOS][AXES];
static ex_axis axes[AXES];
static double radius;

/* ---- the project, as a reader of projects would take it ---- */

static void read_point(const json_t *object, double point[AXES]) {
    size_t known = 0;
    for (int i = 0; i < AXES; i++) {
        const json_t *value = json_object_get(object, axis_names[i]);
        point[i] = value ? json_number_value(value) : 0;
        known += value != NULL;
    }
    assert_int_equal(json_object_size(object), known);
}

static void read_space(const json_t *layer) {
    static const char *const joints[AXES] = {"shoulder", "forearm", "hand", NULL};
    const json_t *space = json_object_get(layer, "space");
    assert_int_equal(json_array_size(space), AXES);
    for (int i = 0; i < AXES; i++) {
        const json_t *axis = json_array_get(space, (size_t)i);
        assert_string_equal(json_string_value(json_object_get(axis, "name")), axis_names[i]);
        if (joints[i]) {
            assert_string_equal(json_string_value(json_object_get(axis, "joint")), joints[i]);
            assert_string_equal(json_string_value(json_object_get(axis, "angle")), "z");
        }
        axes[i] = ex_axis_scalar(json_number_value(json_object_get(axis, "min")),
                                 json_number_value(json_object_get(axis, "max")), 0);
    }
    radius = json_number_value(json_object_get(json_object_get(layer, "weigh"), "radius"));
}

static void read_project(void) {
    json_t *root = json_load_file(scratch_path("arm.json"), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "skeleton")), "skeleton.glb");
    assert_string_equal(json_string_value(json_object_get(root, "skinning")), "linear");
    assert_string_equal(json_string_value(json_object_get(root, "mesh")), "straight_female.obj");
    const json_t *layer = json_array_get(json_object_get(root, "layers"), 0);
    assert_string_equal(json_string_value(json_object_get(layer, "shape")), "unposed");
    read_space(layer);
    const json_t *examples = json_object_get(layer, "examples"), *pseudos = json_object_get(layer, "pseudo");
    assert_int_equal(json_array_size(examples), FORMS);
    assert_int_equal(json_array_size(pseudos), PSEUDOS);
    for (int k = 0; k < FORMS; k++) {
        const json_t *example = json_array_get(examples, (size_t)k);
        ex_mesh *read = NULL;
        read_point(json_object_get(example, "at"), points[k]);
        const char *name = json_string_value(json_object_get(example, "mesh"));
        assert_int_equal(ex_mesh_read(scratch_path(name), &read, NULL), EX_OK);
        assert_int_equal(read->vertex_count, V);
        for (int i = 0; i < 3 * V; i++)
            sculpts[k][i / 3][i % 3] = (float)read->positions[i];
        if (k > 0)
            assert_int_equal(ex_mesh_compare_connectivity(mesh, read, NULL), EX_OK);
        if (k > 0)
            ex_mesh_destroy(read);
        else
            mesh = read;
    }
    for (int k = 0; k < PSEUDOS; k++) {
        const json_t *pseudo = json_array_get(pseudos, (size_t)k);
        read_point(json_object_get(pseudo, "at"), pseudo_at[k]);
        read_point(json_object_get(pseudo, "from"), pseudo_from[k]);
    }
    json_decref(root);
}

/* ---- skeleton, skin, evaluation ---- */

static void make_skeleton(void) {
    int parents[ARM_JOINTS];
    ex_transform rest[ARM_JOINTS];
    const char *names[ARM_JOINTS];
    float binds[ARM_JOINTS][12] = {{0}};
    for (int j = 0; j < ARM_JOINTS; j++) {
        const ex_scene_node *node = &scene->nodes[j];
        parents[j] = node->parent;
        names[j] = node->name;
        rest[j] = ex_transform_identity();
        for (int c = 0; c < 3; c++)
            rest[j].translation[c] = (float)node->transform.translation[c];
        for (int i = 0; i < 12; i++)
            binds[j][i] = scene->skins[0].inverse_binds[16 * j + 4 * (i % 4) + i / 4];
    }
    const ex_skeleton_def def = {ARM_JOINTS, parents, rest, &binds[0][0], names};
    assert_int_equal(ex_skeleton_create(&def, NULL, &skeleton, NULL), EX_OK);
}

static void make_skin(void) {
    const ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    static uint32_t starts[V + 1], joints[4 * V];
    for (int v = 0; v <= V; v++)
        starts[v] = (uint32_t)(4 * v);
    for (int i = 0; i < 4 * V; i++)
        joints[i] = p->joints[i];
    const ex_skin_def def = {V, ARM_JOINTS, starts, joints, p->weights};
    assert_int_equal(ex_skin_create(&def, NULL, &skin, NULL), EX_OK);
}

/* Valid until the next call. */
static const ex_palette *palette_at(const double point[AXES]) {
    ex_transform locals[ARM_JOINTS];
    float matrices[ARM_JOINTS][12];
    for (int j = 0; j < ARM_JOINTS; j++) {
        const double half = point[j] * 3.14159265358979323846 / 360;
        locals[j] = ex_skeleton_rest(skeleton, j);
        locals[j].rotation[2] = (float)sin(half);
        locals[j].rotation[3] = (float)cos(half);
    }
    void *scratch = malloc(ex_skeleton_scratch_size(skeleton));
    static max_align_t memory[1024 / sizeof(max_align_t)];
    assert_non_null(scratch);
    assert_true(ex_palette_size(EX_SKINNING_LINEAR, ARM_JOINTS) <= sizeof memory);
    const ex_skeleton_output output = {.matrices = &matrices[0][0]};
    ex_skeleton_evaluate(skeleton, &(ex_skeleton_input){.locals = locals}, &output, scratch);
    free(scratch);
    return ex_palette_make(&(ex_palette_def){EX_SKINNING_LINEAR, ARM_JOINTS, &matrices[0][0], NULL, false, NULL, 0},
                           memory);
}

static void skin_at(const double point[AXES], const form rest, form posed) {
    const ex_skin_job job = {.begin = 0, .end = V, .positions = &rest[0][0], .out_positions = &posed[0][0]};
    ex_skin_apply(skin, palette_at(point), &job);
}

static int unpose(int k, double limit) {
    const ex_unpose_job job = {
        .posed = &sculpts[k][0][0], .rest = &sculpts[0][0][0], .out = &rests[k][0][0], .limit = limit};
    return ex_skin_unpose(skin, palette_at(points[k]), &job);
}

static ex_weigher *make_weigher(int pseudo_count) {
    ex_pseudo pseudos[PSEUDOS];
    for (int k = 0; k < PSEUDOS; k++)
        pseudos[k] = (ex_pseudo){pseudo_at[k], pseudo_from[k], NULL};
    ex_weigher_def def = ex_weigher_def_default();
    def.axes = axes;
    def.axis_count = AXES;
    def.example_count = FORMS;
    def.points = &points[0][0];
    def.pseudos = pseudos;
    def.pseudo_count = pseudo_count;
    def.radius = radius;
    ex_weigher *weigher = NULL;
    assert_int_equal(ex_weigher_create(&def, NULL, &weigher, NULL), EX_OK);
    return weigher;
}

static void evaluate_at(const ex_weigher *weigher, const double point[AXES], form posed) {
    static form rest;
    double weights[FORMS];
    ex_weigher_evaluate(weigher, point, weights);
    for (int v = 0; v < V; v++)
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int k = 0; k < FORMS; k++)
                sum += weights[k] * rests[k][v][c];
            rest[v][c] = (float)sum;
        }
    skin_at(point, rest, posed);
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0 || exi_demo_arm(scratch_path("."), NULL) != EX_OK ||
        ex_scene_read(scratch_path("skeleton.glb"), &scene, NULL) != EX_OK)
        return -1;
    read_project();
    make_skeleton();
    make_skin();
    for (int k = 0; k < FORMS; k++)
        unpose(k, 0);
    return 0;
}

static int tear_down(void **state) {
    ex_skin_destroy(skin);
    ex_skeleton_destroy(skeleton);
    ex_scene_destroy(scene);
    ex_mesh_destroy(mesh);
    return scratch_tear_down(state);
}

/* ---- measures ---- */

static int crossings(const form posed) {
    int count = -1;
    assert_int_equal(ex_mesh_count_self_intersections(mesh, &posed[0][0], &count, NULL), EX_OK);
    return count;
}

static double distance(const float a[3], const float b[3]) {
    return sqrt(pow((double)(a[0] - b[0]), 2) + pow((double)(a[1] - b[1]), 2) + pow((double)(a[2] - b[2]), 2));
}

/* In litres. */
static double volume_of(const form posed) {
    double sum = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        const int *corners = mesh->corners + mesh->face_offsets[f];
        for (int i = 0; i < 2; i++) {
            const float *a = posed[corners[0]], *b = posed[corners[1 + i]], *c = posed[corners[2 + i]];
            sum += (double)(a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
                            a[2] * (b[0] * c[1] - b[1] * c[0]));
        }
    }
    return sum / 6 * 1000;
}

/* From one column to the opposite one, at the ring nearest to a place of the straight arm. */
static double thickness_of(const form posed, double place, int column) {
    int ring = 0;
    for (int i = 0; i < ARM_RINGS; i++)
        if (fabs(rests[0][exi_arm_vertex(i, 0)][0] - place) < fabs(rests[0][exi_arm_vertex(ring, 0)][0] - place))
            ring = i;
    return distance(posed[exi_arm_vertex(ring, column)], posed[exi_arm_vertex(ring, column + ARM_COLUMNS / 2)]);
}

/* ---- tests ---- */

static void is_in_the_table(void **state) {
    (void)state;
    int found = -1;
    for (int i = 0; i < ex_demo_count; i++)
        if (strcmp(ex_demos[i].name, "arm") == 0)
            found = i;
    assert_true(found >= 0);
    assert_ptr_equal(ex_demos[found].write, exi_demo_arm);
    assert_int_equal(scratch_entry_count(), FORMS + 2);
}

static void has_eight_sound_forms(void **state) {
    (void)state;
    static const double places[FORMS][AXES] = {{0, 0, 0, 0}, {60, 0, 0, 0}, {-60, 0, 0, 0}, {0, 110, 0, 0},
                                               {0, 0, 0, 1}, {60, 0, 0, 1}, {-60, 0, 0, 1}, {0, 110, 0, 1}};
    assert_int_equal(mesh->vertex_count, 1335);
    assert_int_equal(mesh->face_count, 1333);
    assert_memory_equal(points, places, sizeof places);
    for (int k = 0; k < FORMS; k++) {
        assert_int_equal(crossings(sculpts[k]), 0);
        /* Flesh is moved, not lost. */
        const int straight = k < 4 ? 0 : 4;
        check_near(volume_of(sculpts[k]) / volume_of(sculpts[straight]), 1, 0.04);
    }
    check_near(volume_of(sculpts[0]), 3.2, 0.2);
    check_near(volume_of(sculpts[4]), 4.8, 0.3);
    /* From the shoulder to the middle finger, in metres. */
    for (int k = 0; k < FORMS; k += 4) {
        const int tip = ARM_FIRST_FINGER + 2 * ARM_FINGER_SIZE - 1;
        check_near((double)(sculpts[k][tip][0] - sculpts[k][ARM_FIRST_CAP][0]), 0.81, 0.02);
    }
    /* When the elbow bends, the hand goes up and back. */
    const float *hand = sculpts[7][exi_arm_vertex(ARM_RINGS - 1, 0)];
    assert_true((double)hand[0] < ARM_ELBOW && hand[1] > 0.3f);
}

/* Quads that face outwards: every edge occurs twice, once in each direction. */
static void is_a_closed_surface(void **state) {
    (void)state;
    static unsigned char edges[V][V];
    int count = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        const int *c = mesh->corners + mesh->face_offsets[f];
        assert_int_equal(mesh->face_offsets[f + 1] - mesh->face_offsets[f], 4);
        for (int i = 0; i < 4; i++)
            edges[c[i]][c[(i + 1) % 4]]++;
    }
    for (int i = 0; i < V; i++)
        for (int j = 0; j < V; j++) {
            assert_int_equal(edges[i][j], edges[j][i]);
            assert_true(edges[i][j] <= 1);
            count += edges[i][j];
        }
    assert_int_equal(V - count / 2 + mesh->face_count, 2);
    assert_true(volume_of(sculpts[0]) > 0);
}

/* The same skin at every pose: no edge of a face is torn, and none vanishes in the crease of the elbow. */
static void stretches_evenly(void **state) {
    (void)state;
    for (int k = 0; k < FORMS; k++)
        for (int i = 0; i < mesh->corner_count; i++) {
            const int a = mesh->corners[i], b = mesh->corners[i % 4 == 3 ? i - 3 : i + 1], straight = k < 4 ? 0 : 4;
            const double stretch =
                distance(sculpts[k][a], sculpts[k][b]) / distance(sculpts[straight][a], sculpts[straight][b]);
            if (!(stretch > (k == straight + 3 ? 0.09 : 0.45) && stretch < (k == straight + 3 ? 2 : 1.5)))
                fail_msg("form %d: the edge %d to %d is %g times as long", k, a, b, stretch);
        }
}

/* Charts lie in the unit square, none mirrored. */
static void has_texture_coordinates(void **state) {
    (void)state;
    assert_true(mesh->texcoord_count > V && mesh->texcoord_count < 1700);
    for (int i = 0; i < 2 * mesh->texcoord_count; i++)
        assert_true(mesh->texcoords[i] >= 0 && mesh->texcoords[i] <= 1);
    for (int f = 0; f < mesh->face_count; f++) {
        double area = 0;
        for (int i = 0; i < 4; i++) {
            const double *a = mesh->texcoords + 2 * mesh->corner_texcoords[4 * f + i];
            const double *b = mesh->texcoords + 2 * mesh->corner_texcoords[4 * f + (i + 1) % 4];
            area += a[0] * b[1] - a[1] * b[0];
        }
        assert_true(area > 1e-6);
    }
}

static void has_a_skeleton_and_a_skin(void **state) {
    (void)state;
    static const char *const names[ARM_JOINTS] = {"shoulder", "forearm", "hand"};
    const ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    assert_int_equal(ex_scene_check(scene, NULL), EX_OK);
    assert_int_equal(scene->note_count, 0);
    assert_int_equal(scene->skins[0].joint_count, ARM_JOINTS);
    for (int j = 0; j < ARM_JOINTS; j++) {
        assert_int_equal(scene->skins[0].joints[j], j);
        assert_string_equal(scene->nodes[j].name, names[j]);
        assert_int_equal(scene->nodes[j].parent, j - 1);
    }
    assert_int_equal(p->vertex_count, V);
    assert_int_equal(p->influence_count, 4);
    assert_memory_equal(p->positions, sculpts[0], sizeof(form));
    for (int v = 0; v < V; v++) {
        double sum = 0;
        for (int i = 0; i < 4; i++) {
            const float weight = p->weights[4 * v + i];
            assert_true(weight >= 0 && p->joints[4 * v + i] < ARM_JOINTS);
            assert_true(weight > 0 || p->joints[4 * v + i] == 0);
            sum += (double)weight;
        }
        check_near(sum, 1, 1e-7);
    }
    /* Half at a joint, all beyond it. */
    form posed;
    skin_at((const double[AXES]){0, 90, 0, 0}, sculpts[0], posed);
    const int tip = ARM_FIRST_FINGER + 2 * ARM_FINGER_SIZE - 1;
    check_near((double)posed[tip][1], (double)sculpts[0][tip][0] - ARM_ELBOW, 1e-6);
}

static void comes_back_from_un_posing(void **state) {
    (void)state;
    for (int k = 0; k < FORMS; k++) {
        form rest, again;
        assert_int_equal(unpose(k, 0), 0);
        for (int i = 0; i < 3 * V; i++)
            rest[i / 3][i % 3] = (float)rests[k][i / 3][i % 3];
        skin_at(points[k], rest, again);
        for (int i = 0; i < 3 * V; i++)
            check_near((double)again[i / 3][i % 3], (double)sculpts[k][i / 3][i % 3], 1e-6 * ex_mesh_size(mesh));
        /* The most that skinning shrinks anything: to cos 55 degrees, 0.574. */
        const int bent = k % 4 == 3;
        assert_int_equal(unpose(k, 0.57), 0);
        assert_true(bent ? unpose(k, 0.6) > 0 : unpose(k, 0.99) == 0);
        unpose(k, 0);
    }
}

/* Figures 6 and 8, at the elbow: from front to back, a bent arm is no thinner than a straight one. */
static void keeps_what_skinning_shrinks(void **state) {
    (void)state;
    for (int k = 3; k < FORMS; k += 4) {
        form naive;
        skin_at(points[k], sculpts[k - 3], naive);
        const double straight = thickness_of(sculpts[k - 3], ARM_ELBOW, 0);
        check_near(thickness_of(naive, ARM_ELBOW, 0) / straight, 0.574, 0.02);
        assert_true(thickness_of(sculpts[k], ARM_ELBOW, 0) > straight);
        assert_true(volume_of(naive) < 0.99 * volume_of(sculpts[k]));
    }
}

/* Figure 9 and the paper's reason for pseudo-examples. */
static void bulges_less_with_pseudo_examples(void **state) {
    (void)state;
    ex_weigher *with = make_weigher(PSEUDOS), *without = make_weigher(0);
    for (int g = 0; g <= 4; g++)
        for (int s = -1; s <= 1; s++) {
            const double straight[AXES] = {60 * s, 0, 0, g / 4.0}, half[AXES] = {60 * s, 55, 0, g / 4.0};
            form a, b, c;
            evaluate_at(with, straight, a);
            evaluate_at(with, half, b);
            evaluate_at(without, half, c);
            const double rest = thickness_of(a, ARM_ELBOW, 0);
            assert_true(thickness_of(b, ARM_ELBOW, 0) < 1.15 * rest);
            assert_true(thickness_of(c, ARM_ELBOW, 0) > 1.25 * rest);
        }
    ex_weigher_destroy(without);
    ex_weigher_destroy(with);
}

static void crosses_itself_nowhere_between_examples(void **state) {
    (void)state;
    ex_weigher *weigher = make_weigher(PSEUDOS);
    for (int s = -2; s <= 2; s++)
        for (int e = 0; e <= 4; e++)
            for (int g = 0; g <= 2; g++) {
                const double point[AXES] = {30 * s, 27.5 * e, 20 * s, g / 2.0};
                form posed;
                evaluate_at(weigher, point, posed);
                const int count = crossings(posed);
                if (count != 0)
                    fail_msg("%d pairs at shoulder %g, elbow %g, gender %g", count, point[0], point[1], point[3]);
            }
    ex_weigher_destroy(weigher);
}

static void goes_beyond_its_examples(void **state) {
    (void)state;
    ex_weigher *weigher = make_weigher(PSEUDOS);
    form male, more, bent, further;
    evaluate_at(weigher, (const double[AXES]){0, 110, 0, 1}, male);
    evaluate_at(weigher, (const double[AXES]){0, 110, 0, 1.4}, more);
    evaluate_at(weigher, (const double[AXES]){0, 110, 0, 0}, bent);
    evaluate_at(weigher, (const double[AXES]){0, 140, 0, 0}, further);
    assert_true(volume_of(more) > 1.1 * volume_of(male));
    assert_true(thickness_of(more, 0.17, 0) > 1.07 * thickness_of(male, 0.17, 0));
    assert_true(thickness_of(further, 0.17, 0) > 1.01 * thickness_of(bent, 0.17, 0));
    check_near(volume_of(further) / volume_of(bent), 1, 0.03);
    assert_int_equal(crossings(more), 0);
    ex_weigher_destroy(weigher);
}

static void writes_the_same_bytes_twice(void **state) {
    (void)state;
    static const char *const names[] = {"arm.json",        "skeleton.glb",    "straight_female.obj", "up_female.obj",
                                        "down_female.obj", "bent_female.obj", "straight_male.obj",   "up_male.obj",
                                        "down_male.obj",   "bent_male.obj"};
    char *bytes[10];
    size_t sizes[10];
    for (int i = 0; i < 10; i++)
        bytes[i] = scratch_read(names[i], &sizes[i]);
    assert_int_equal(exi_demo_arm(scratch_path("."), NULL), EX_OK);
    for (int i = 0; i < 10; i++) {
        size_t size;
        char *again = scratch_read(names[i], &size);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(again, bytes[i], size);
        free(again);
        free(bytes[i]);
    }
}

static ex_result make_scene(void *context) {
    ex_mesh *made = exi_arm_mesh();
    ex_scene *made_scene = NULL;
    (void)context;
    if (!made)
        return EX_ERROR_MEMORY;
    exi_arm_shape((exi_arm_look){0, 0, 0, 0}, made->positions);
    ex_error error = {0};
    ex_result result = exi_arm_scene(made, &made_scene, &error);
    ex_scene_destroy(made_scene);
    ex_mesh_destroy(made);
    return result;
}

static void survives_a_lack_of_memory(void **state) {
    (void)state;
    assert_true(fail_alloc_sweep(make_scene, NULL) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_in_the_table),
        cmocka_unit_test(has_eight_sound_forms),
        cmocka_unit_test(is_a_closed_surface),
        cmocka_unit_test(stretches_evenly),
        cmocka_unit_test(has_texture_coordinates),
        cmocka_unit_test(has_a_skeleton_and_a_skin),
        cmocka_unit_test(comes_back_from_un_posing),
        cmocka_unit_test(keeps_what_skinning_shrinks),
        cmocka_unit_test(bulges_less_with_pseudo_examples),
        cmocka_unit_test(crosses_itself_nowhere_between_examples),
        cmocka_unit_test(goes_beyond_its_examples),
        cmocka_unit_test(writes_the_same_bytes_twice),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests_name("demos.arm", tests, set_up, tear_down);
}
