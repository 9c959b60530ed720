/*
 * Sculpts of which only the moved vertices are kept: every sculpt of every layer comes back at its pose, through all
 * layers and the skin, with either method of skinning and in either frame; unmoved vertices have no offsets; coincident
 * ones stay so.
 */
#include "author/project/projects.h"

#include "support/arms.h"

typedef const char *const words[6];

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    arm_write_scene("arm.glb", arm_scene(1));
    return 0;
}

static const char head[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'skeleton': 'arm.glb', 'skinning': '%s', 'layers': [%s]}";

static ex_rig *build_arm(int method, const char *layers) {
    char *text = malloc(strlen(head) + strlen(layers) + 40);
    assert_non_null(text);
    sprintf(text, head, ex_skinning_name((ex_skinning)method), layers);
    ex_rig *rig = build_text(text);
    free(text);
    return rig;
}

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525U + 1013904223U;
    return *seed >> 8;
}

/* The rig at a pose, with the vertices of some rings moved by up to `amount`. */
static void write_sculpt(const char *name, const ex_rig *rig, const char *const *pose, double amount, uint32_t seed,
                         int first_ring, int last_ring) {
    float posed[3 * ARM_VERTICES];
    double positions[3 * ARM_VERTICES];
    arm_evaluate(rig, pose, posed);
    for (int i = 0; i < 3 * ARM_VERTICES; i++) {
        const int ring = i / 3 / ARM_SIDES;
        positions[i] = (double)posed[i];
        if (ring >= first_ring && ring <= last_ring)
            positions[i] += amount * (next_random(&seed) / 8388608.0 - 1);
    }
    arm_write_mesh(name, positions);
}

/* The largest distance of a coordinate of some rings from the file's, in sizes of the form. */
static double miss_of(const ex_rig *rig, const char *const *pose, const char *name, int first_ring, int last_ring) {
    float positions[3 * ARM_VERTICES];
    ex_mesh *mesh = NULL;
    double worst = 0;
    arm_evaluate(rig, pose, positions);
    assert_int_equal(ex_mesh_read(scratch_path(name), &mesh, NULL), EX_OK);
    for (int i = 3 * first_ring * ARM_SIDES; i < 3 * (last_ring + 1) * ARM_SIDES; i++)
        worst = fmax(worst, fabs((double)positions[i] - mesh->positions[i]));
    worst /= ex_mesh_size(mesh);
    ex_mesh_destroy(mesh);
    return worst;
}

static double miss(const ex_rig *rig, const char *const *pose, const char *name) {
    return miss_of(rig, pose, name, 0, ARM_RINGS - 1);
}

static void check_comes_back(const ex_rig *rig, const char *const *pose, const char *name) {
    const double off = miss(rig, pose, name);
    if (!(off < 1e-5))
        fail_msg("%s is missed by %g of its size", name, off);
}

static words at_rest = {NULL}, bent = {"joint:fore=z100", NULL}, half = {"joint:fore=z45", NULL},
             raised = {"joint:upper=z-60", NULL};

/* Two layers that do not overlap, in the given frames. (Without its zero at rest a layer with participation `moved`
 * does something there, and the sculpts of later layers undo it.) */
static const char two_layers[] =
    "{'name': 'elbow', 'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}],\n"
    " 'weigh': {'kind': 'gaussian'}, 'shape': 'offsets', 'frame': '%s', 'participation': '%s', 'rest': true,\n"
    " 'examples': [{'name': 'bent', 'mesh': 'bent.obj', 'at': {'elbow': 100}},\n"
    "              {'name': 'half', 'mesh': 'half.obj', 'at': {'elbow': 45}}]},\n"
    "{'name': 'shoulder', 'space': [{'name': 'lift', 'joint': 'upper', 'angle': 'z', 'min': -90, 'max': 90}],\n"
    " 'weigh': {'kind': 'gaussian'}, 'shape': 'offsets', 'frame': '%s', 'participation': '%s', 'rest': true,\n"
    " 'examples': [{'name': 'raised', 'mesh': 'raised.obj', 'at': {'lift': -60}}]}";

static void every_sculpt_comes_back(void **state) {
    (void)state;
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        ex_rig *plain = build_arm(method, "");
        write_sculpt("bent.obj", plain, bent, 0.05, 1, 4, 8);
        write_sculpt("half.obj", plain, half, 0.05, 2, 5, 9);
        write_sculpt("raised.obj", plain, raised, 0.05, 3, 0, 2);
        for (int which = 0; which < 8; which++) {
            const char *const frames[] = {"rest", "skinned"}, *const parts[] = {"layer", "moved"};
            char layers[2000];
            snprintf(layers, sizeof layers, two_layers, frames[which & 1], parts[which >> 2], frames[which >> 1 & 1],
                     parts[which >> 2]);
            ex_rig *rig = build_arm(method, layers);
            assert_int_equal(ex_rig_layer_domain(rig, 0), EX_DOMAIN_OFFSETS);
            assert_int_equal(ex_rig_layer_frame(rig, 0), which & 1);
            assert_int_equal(ex_rig_layer_moved(rig, 1), which >> 2);
            if (which < 4) {
                check_comes_back(rig, bent, "bent.obj");
                check_comes_back(rig, half, "half.obj");
                check_comes_back(rig, raised, "raised.obj");
                check_comes_back(rig, at_rest, "rest.obj");
            }
            /* With `moved`, an example does not affect vertices that it does not move. */
            assert_true(miss_of(rig, bent, "bent.obj", 4, 8) < 1e-5);
            assert_true(miss_of(rig, half, "half.obj", 5, 9) < 1e-5);
            assert_true(miss_of(rig, raised, "raised.obj", 0, 2) < 1e-5);
            assert_true(which < 4 || miss_of(rig, bent, "bent.obj", 9, 9) > 1e-3);
            /* Only moved vertices are kept. */
            assert_int_equal(ex_rig_example_offset_count(rig, 0, 0), 5 * ARM_SIDES);
            assert_int_equal(ex_rig_example_offset_count(rig, 1, 0), 3 * ARM_SIDES);
            /* Not by chance: between, the result differs. */
            assert_true(miss(plain, bent, "bent.obj") > 0.005);
            ex_rig_destroy(rig);
        }
        ex_rig_destroy(plain);
    }
}

/* Sculpts made on top of earlier layers, each of a different shape, where all of them overlap. */
static const char stacked_layers[] =
    "{'name': 'form', 'space': [{'name': 'fat', 'min': 0, 'max': 1}],\n"
    " 'examples': [{'name': 'thin', 'mesh': 'rest.obj', 'at': {}}, {'name': 'fat', 'mesh': 'fat.obj', 'at': {'fat': "
    "1}}]},\n"
    "{'name': 'elbow', 'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}],\n"
    " 'weigh': {'kind': 'gaussian', 'falloff': 0.4}, 'shape': 'offsets', 'frame': '%s', 'protect': true,\n"
    " 'examples': [{'name': 'bent', 'mesh': 'bent.obj', 'at': {'elbow': 100, 'fat': 0.5}}]}%s%s%s";

static const char second_offsets[] =
    ",\n{'name': 'both', 'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140},\n"
    " {'name': 'lift', 'joint': 'upper', 'angle': 'z', 'min': -90, 'max': 90}],\n"
    " 'weigh': {'kind': '%s'}, 'shape': 'offsets', 'frame': '%s', 'protect': true,\n"
    " 'examples': [{'name': 'up', 'mesh': 'up.obj', 'at': {'elbow': 60, 'lift': -50}},\n"
    " {'name': 'fully', 'mesh': 'fully.obj', 'at': {'elbow': 120, 'lift': 50, 'fat': 1},"
    " 'joints': {'hand': {'x': 30}}}]}";

static const char unposed_layer[] =
    ",\n{'name': 'flex', 'space': [{'name': 'flex', 'min': 0, 'max': 1}], 'shape': 'unposed', 'examples': [\n"
    " {'name': 'not', 'mesh': 'rest.obj', 'at': {}},\n"
    " {'name': 'flexed', 'mesh': 'flexed.obj', 'at': {'flex': 1, 'elbow': 110, 'fat': 0.3}}]}";

static words bent_fat = {"joint:fore=z100", "fat=0.5", NULL}, up = {"joint:fore=z60", "joint:upper=z-50", NULL},
             fully = {"joint:fore=z120", "joint:upper=z50", "fat=1", "joint:hand=x30", NULL},
             flexed = {"flex=1", "joint:fore=z110", "fat=0.3", NULL};

static void layers_stand_on_each_other(void **state) {
    (void)state;
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.3, positions);
    arm_write_mesh("fat.obj", positions);
    for (int which = 0; which < 8; which++) {
        const int method = which & 1;
        const char *first = which & 2 ? "skinned" : "rest", *second = which & 4 ? "skinned" : "rest";
        const char *kind = which & 2 ? "cardinal" : "gaussian";
        char layers[3000], more[1200];
        ex_rig *plain = build_arm(method, "");
        write_sculpt("bent.obj", plain, bent, 0.05, 1, 3, 9);
        write_sculpt("up.obj", plain, (words){"joint:fore=z60", "joint:upper=z-50", NULL}, 0.05, 2, 2, 8);
        write_sculpt("fully.obj", plain, (words){"joint:fore=z120", "joint:upper=z50", "joint:hand=x30", NULL}, 0.05, 3,
                     4, 12);
        write_sculpt("flexed.obj", plain, (words){"joint:fore=z110", NULL}, 0.05, 4, 0, 12);
        ex_rig_destroy(plain);
        snprintf(more, sizeof more, second_offsets, kind, second);
        snprintf(layers, sizeof layers, stacked_layers, first, more, "", unposed_layer);
        ex_rig *rig = build_arm(method, layers);
        check_comes_back(rig, at_rest, "rest.obj");
        check_comes_back(rig, (words){"fat=1", NULL}, "fat.obj");
        check_comes_back(rig, bent_fat, "bent.obj");
        check_comes_back(rig, up, "up.obj");
        check_comes_back(rig, fully, "fully.obj");
        check_comes_back(rig, flexed, "flexed.obj");
        ex_rig_destroy(rig);
    }
}

/* A layer with participation `moved` has other weights for every set of vertices, which later sculpts undo. */
static void layers_stand_on_what_moved(void **state) {
    (void)state;
    static const char format[] =
        "{'name': 'elbow', 'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}], 'weigh': "
        "{'kind': 'gaussian', 'falloff': 1}, 'shape': 'offsets', 'frame': '%s', 'participation': 'moved',\n"
        " 'examples': [{'name': 'bent', 'mesh': 'bent.obj', 'at': {'elbow': 100}}, {'name': 'half', 'mesh': "
        "'half.obj', "
        "'at': {'elbow': 45}}]},\n"
        "{'name': 'between', 'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}], "
        "'weigh': "
        "{'kind': 'gaussian'}, 'shape': 'offsets', 'frame': '%s', 'rest': false,\n"
        " 'examples': [{'name': 'between', 'mesh': 'between.obj', 'at': {'elbow': 70}}]}";
    static words between = {"joint:fore=z70", NULL};
    for (int which = 0; which < 8; which++) {
        char layers[2000];
        ex_rig *plain = build_arm(which & 1, "");
        write_sculpt("bent.obj", plain, bent, 0.05, 1, 4, 8);
        write_sculpt("half.obj", plain, half, 0.05, 2, 6, 9);
        write_sculpt("between.obj", plain, between, 0.05, 3, 5, 7);
        ex_rig_destroy(plain);
        snprintf(layers, sizeof layers, format, which & 2 ? "skinned" : "rest", which & 4 ? "skinned" : "rest");
        ex_rig *rig = build_arm(which & 1, layers);
        check_comes_back(rig, between, "between.obj");
        assert_int_equal(ex_rig_example_offset_count(rig, 1, 0), 6 * ARM_SIDES);
        ex_rig_destroy(rig);
    }
}

static void without_protection_layers_disturb_each_other(void **state) {
    (void)state;
    char layers[3000], more[1200], *protect;
    ex_rig *plain = build_arm(0, "");
    write_sculpt("bent.obj", plain, bent, 0.05, 1, 3, 9);
    write_sculpt("up.obj", plain, up, 0.05, 2, 2, 8);
    write_sculpt("fully.obj", plain, up, 0.05, 3, 4, 12);
    ex_rig_destroy(plain);
    snprintf(more, sizeof more, second_offsets, "gaussian", "rest");
    snprintf(layers, sizeof layers, stacked_layers, "rest", more, "", "");
    while ((protect = strstr(layers, "'protect': true")))
        memcpy(protect, "'rest'   : true", 15);
    ex_rig *rig = build_arm(0, layers);
    assert_true(miss(rig, bent_fat, "bent.obj") > 1e-3);
    check_comes_back(rig, up, "up.obj");
    ex_rig_destroy(rig);
}

/* A layer with an example at each of some poses that only its skeleton makes. */
static void a_rigid_motion_moves_nothing(void **state) {
    (void)state;
    static words poses[] = {
        {"joint:upper=y70", NULL}, {"joint:upper=x180z30", NULL}, {"joint:fore=z140", NULL}, {"joint:fore=x170", NULL}};
    for (int which = 0; which < 16; which++) {
        ex_rig *plain = build_arm(which & 1, "");
        char layers[1000];
        write_sculpt("same.obj", plain, poses[which >> 2], 0, 1, 0, 12);
        ex_rig_destroy(plain);
        snprintf(layers, sizeof layers,
                 "{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'gaussian'}, 'shape': "
                 "'offsets', 'frame': '%s', 'examples': [{'name': 'e', 'mesh': 'same.obj', 'at': {'d': 1}, 'joints': "
                 "{%s}}]}",
                 which & 2 ? "skinned" : "rest",
                 (const char *[]){"'upper': {'y': 70}", "'upper': {'x': 180, 'z': 30}", "'fore': {'z': 140}",
                                  "'fore': {'x': 170}"}[which >> 2]);
        ex_rig *rig = build_arm(which & 1, layers);
        assert_int_equal(ex_rig_example_offset_count(rig, 0, 0), 0);
        ex_rig_destroy(rig);
    }
}

static const char twist_layer[] =
    "{'name': 'twist', 'space': [{'name': 'twist', 'joint': 'fore', 'rotation': 'twist', 'about': 'x'}],\n"
    " 'weigh': {'kind': 'gaussian'}, 'shape': 'offsets', 'frame': '%s',\n"
    " 'examples': [{'name': 'wrung', 'mesh': 'wrung.obj', 'at': {'twist': {'x': 180}}}]}";

/* With blended matrices the elbow collapses at a half turn: nothing at rest moves it. */
static void what_collapses_comes_back_in_the_skins_frame(void **state) {
    (void)state;
    static words wrung = {"joint:fore=x180", NULL};
    char layers[1000];
    ex_rig *plain = build_arm(EX_SKINNING_LINEAR, "");
    write_sculpt("wrung.obj", plain, wrung, 0.1, 5, 0, 12);
    ex_rig_destroy(plain);
    snprintf(layers, sizeof layers, twist_layer, "skinned");
    ex_rig *rig = build_arm(EX_SKINNING_LINEAR, layers);
    check_comes_back(rig, wrung, "wrung.obj");
    check_comes_back(rig, at_rest, "rest.obj");
    ex_rig_destroy(rig);
    snprintf(layers, sizeof layers, twist_layer, "rest");
    rig = build_arm(EX_SKINNING_LINEAR, layers);
    assert_true(miss(rig, wrung, "wrung.obj") > 1e-3);
    ex_rig_destroy(rig);
}

static void tolerances_say_what_moved(void **state) {
    (void)state;
    static const struct {
        const char *unit, *tolerance;
        int moved;
    } cases[] = {{"m", "", 4},
                 {"m", ", 'tolerance': 0.002", 2},
                 {"cm", ", 'tolerance': 0.2", 2},
                 {"m", ", 'tolerance': 0", 4},
                 {"m", ", 'tolerance': 1", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double size = strcmp(cases[i].unit, "cm") == 0 ? 100 : 1;
        char text[1000];
        snprintf(text, sizeof text, "v 0 0 0\nv %g 0 0\nv %g %g 0\nv 0 %g 0\nf 1 2 3 4\n", size, size, size, size);
        write_text("square.obj", text);
        snprintf(text, sizeof text, "v 0 0 %g\nv %g 0 %g\nv %g %g %g\nv 0 %g %g\nf 1 2 3 4\n", 0.001 * size, size,
                 0.0015 * size, size, size, 0.003 * size, size, 0.004 * size);
        write_text("lifted.obj", text);
        snprintf(
            text, sizeof text,
            "{'exemplar': 1, 'mesh': 'square.obj', 'unit': '%s', 'layers': [{'name': 'l', 'space': [{'name': 'd', "
            "'min': 0, 'max': 1}], 'weigh': {'kind': 'gaussian'}, 'shape': 'offsets'%s, 'examples': [{'name': 'e', "
            "'mesh': 'lifted.obj', 'at': {'d': 1}}]}]}",
            cases[i].unit, cases[i].tolerance);
        ex_rig *rig = build_text(text);
        assert_int_equal(ex_rig_example_offset_count(rig, 0, 0), cases[i].moved);
        ex_rig_destroy(rig);
    }
}

static void masks_go_into_offsets(void **state) {
    (void)state;
    write_square("square.obj", 0, 0, 0, 0);
    write_square("lifted.obj", 1, 1, 1, 1);
    write_text("mask.txt", "0 1\n1 0.5\n2 0.25\n");
    ex_rig *rig =
        build_text("{'exemplar': 1, 'mesh': 'square.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', "
                   "'min': 0, 'max': 1}], 'weigh': {'kind': 'gaussian'}, 'shape': 'offsets', 'mask': {'file': "
                   "'mask.txt'}, 'examples': [{'name': 'e', 'mesh': 'lifted.obj', 'at': {'d': 1}}]}]}");
    uint32_t vertices[4];
    float deltas[12];
    assert_int_equal(ex_rig_example_offset_count(rig, 0, 0), 3);
    ex_rig_example_offsets(rig, 0, 0, vertices, deltas);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vertices[i], i);
        assert_true(deltas[3 * i] == 0 && deltas[3 * i + 1] == 0 && deltas[3 * i + 2] == ldexpf(1, -i));
    }
    ex_rig_destroy(rig);
}

/* ---- vertices that cannot be told apart ---- */

enum { SEAM_VERTICES = ARM_VERTICES + ARM_RINGS };

/* The arm cut open along its first side; twin r of ring r's first vertex comes last. */
static void write_cut(const char *name, const double *positions, const double *twins) {
    char *text = malloc(40000);
    size_t size = 0;
    assert_non_null(text);
    for (int v = 0; v < SEAM_VERTICES; v++) {
        const double *p = v < ARM_VERTICES ? positions + 3 * v : twins + 3 * (v - ARM_VERTICES);
        size += (size_t)sprintf(text + size, "v %.17g %.17g %.17g\n", p[0], p[1], p[2]);
    }
    for (int r = 0; r + 1 < ARM_RINGS; r++)
        for (int s = 0; s < ARM_SIDES; s++) {
            const bool last = s + 1 == ARM_SIDES;
            size += (size_t)sprintf(text + size, "f %d %d %d %d\n", r * ARM_SIDES + s + 1, (r + 1) * ARM_SIDES + s + 1,
                                    last ? ARM_VERTICES + r + 2 : (r + 1) * ARM_SIDES + s + 2,
                                    last ? ARM_VERTICES + r + 1 : r * ARM_SIDES + s + 2);
        }
    write_text(name, text);
    free(text);
}

static void evaluate_cut(const ex_rig *rig, const char *const *pose, float *positions) {
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    ex_pose at = arm_pose(rig, pose);
    assert_non_null(scratch);
    ex_rig_evaluate(rig, &at, &(ex_output){.positions = positions}, NULL, scratch);
    free(at.inputs);
    free(scratch);
}

/* Five vertices at one place, of which two go one way, two another, and one stays: each like the first of its kind. */
static void what_coincides_parts_in_kinds(void **state) {
    (void)state;
    static const char faces[] = "v 1 0 0\nv 0 1 0\nf 1 6 7\nf 2 6 7\nf 3 6 7\nf 4 6 7\nf 5 6 7\n";
    static const uint32_t moved[] = {0, 1, 3, 4};
    static const float lifts[] = {0.25F, 0.5F, 0.25F, 0.5F};
    char text[500];
    uint32_t vertices[5];
    float deltas[15];
    snprintf(text, sizeof text, "v 0 0 0\nv 0 0 0\nv 0 0 0\nv 0 0 0\nv 0 0 0\n%s", faces);
    write_text("five.obj", text);
    snprintf(text, sizeof text, "v 0 0 0.25\nv 0 0 0.5\nv 1e-6 0 0\nv 0 0 0.250001\nv 0 1e-6 0.5\n%s", faces);
    write_text("parted.obj", text);
    ex_rig *rig =
        build_text("{'exemplar': 1, 'mesh': 'five.obj', 'layers': [{'name': 'a', 'shape': 'offsets', 'space': "
                   "[{'name': 'd', 'min': 0, 'max': 1}], 'examples': [{'name': 'e', 'mesh': 'parted.obj', "
                   "'at': {'d': 1}}]}]}");
    assert_int_equal(ex_rig_example_offset_count(rig, 0, 0), 4);
    ex_rig_example_offsets(rig, 0, 0, vertices, deltas);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(vertices[i], moved[i]);
        assert_true(deltas[3 * i] == 0 && deltas[3 * i + 1] == 0 && deltas[3 * i + 2] == lifts[i]);
    }
    ex_rig_destroy(rig);
}

static void what_coincides_stays_so(void **state) {
    (void)state;
    static const char format[] =
        "{'exemplar': 1, 'mesh': 'cut.obj', 'skeleton': 'arm.glb', 'skinning': '%s', 'layers': [{'name': 'elbow', "
        "'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}], 'weigh': {'kind': "
        "'gaussian'}, 'shape': 'offsets', 'frame': '%s', 'participation': '%s', 'examples': [{'name': 'bent', 'mesh': "
        "'cut_bent.obj', 'at': {'elbow': 100}}, {'name': 'half', 'mesh': 'cut_half.obj', 'at': {'elbow': 45}}]}]}";
    double rest[3 * ARM_VERTICES], twins[3 * ARM_RINGS], sculpt[3 * ARM_VERTICES];
    arm_form(1, 0.2, rest);
    for (int r = 0; r < ARM_RINGS; r++)
        memcpy(twins + 3 * r, rest + 3 * r * ARM_SIDES, 3 * sizeof *twins);
    write_cut("cut.obj", rest, twins);
    for (int which = 0; which < 8; which++) {
        ex_rig *plain = build_arm(which & 1, "");
        static const char *const names[] = {"cut_bent.obj", "cut_half.obj"};
        char text[2000];
        for (int e = 0; e < 2; e++) {
            uint32_t seed = (uint32_t)e + 7;
            float posed[3 * ARM_VERTICES];
            arm_evaluate(plain, e ? half : bent, posed);
            for (int i = 0; i < 3 * ARM_VERTICES; i++)
                sculpt[i] =
                    (double)posed[i] + (i / 3 / ARM_SIDES > 3 + e ? 0.05 * (next_random(&seed) / 8388608.0 - 1) : 0);
            /* An export that rounds: twins come back slightly apart, all but those that were pulled apart. */
            for (int i = 0; i < 3 * ARM_RINGS; i++)
                twins[i] = sculpt[3 * (i / 3) * ARM_SIDES + i % 3] + (i / 3 == 12 ? 0.1 : 1e-6 * (i % 5));
            write_cut(names[e], sculpt, twins);
        }
        ex_rig_destroy(plain);
        snprintf(text, sizeof text, format, ex_skinning_name((ex_skinning)(which & 1)), which & 2 ? "skinned" : "rest",
                 which & 4 ? "moved" : "layer");
        ex_rig *rig = build_text(text);
        for (int pose = 0; pose < 4; pose++) {
            static words poses[] = {{"joint:fore=z100", NULL},
                                    {"joint:fore=z45", NULL},
                                    {"joint:fore=z73", "joint:upper=x20", NULL},
                                    {"joint:fore=x33", NULL}};
            float positions[3 * SEAM_VERTICES];
            evaluate_cut(rig, poses[pose], positions);
            for (int r = 0; r < ARM_RINGS; r++) {
                const bool same = memcmp(positions + 3 * r * ARM_SIDES, positions + 3 * (ARM_VERTICES + r), 12) == 0;
                assert_true(same == (r != 12) || pose == 3);
            }
        }
        ex_rig_destroy(rig);
    }
}

/* ---- muting ---- */

static void muted_examples_are_not_there(void **state) {
    (void)state;
    write_square("square.obj", 0, 0, 0, 0);
    write_square("one.obj", 1, 0, 0, 0);
    write_square("two.obj", 0, 1, 0, 0);
    write_square("three.obj", 0, 0, 1, 0);
    static const char with[] =
        "{'exemplar': 1, 'mesh': 'square.obj', 'layers': [{'name': 'l', 'space': [{'name': 'd', 'min': 0, 'max': 3}], "
        "'weigh': {'kind': '%s'}, 'shape': 'offsets', 'examples': [{'name': 'one', 'mesh': 'one.obj', 'at': {'d': 1}}, "
        "%s{'name': 'three', 'mesh': 'three.obj', 'at': {'d': 3}}]}]}";
    static const char *const kinds[] = {"gaussian", "cardinal", "shepard", "nearest"};
    for (size_t k = 0; k < 4; k++) {
        char text[1000];
        snprintf(text, sizeof text, with, kinds[k],
                 "{'name': 'two', 'mesh': 'missing.obj', 'muted': true, 'at': {'d': 2}}, ");
        ex_rig *muted = build_text(text);
        snprintf(text, sizeof text, with, kinds[k], "");
        ex_rig *without = build_text(text);
        check_same_rig(muted, without);
        ex_rig_destroy(muted);
        ex_rig_destroy(without);
    }
}

static void muted_layers_are_carried(void **state) {
    (void)state;
    write_square("square.obj", 0, 0, 0, 0);
    write_square("one.obj", 1, 0, 0, 0);
    write_square("two.obj", 2, 2, 0, 0);
    static const char format[] =
        "{'exemplar': 1, 'mesh': 'square.obj', 'layers': [{'name': 'a', %s'space': [{'name': 'd', 'min': 0, 'max': "
        "1}], "
        "'weigh': {'kind': 'gaussian'}, 'shape': 'offsets', 'examples': [{'name': 'one', 'mesh': 'one.obj', 'at': "
        "{'d': "
        "1}}]}, {'name': 'b', 'space': [{'name': 'd', 'min': 0, 'max': 1}], 'weigh': {'kind': 'gaussian'}, 'shape': "
        "'offsets', 'examples': [{'name': 'two', 'mesh': 'two.obj', 'at': {'d': 1}}]}]}";
    for (int muted = 0; muted < 2; muted++) {
        char text[1000];
        float delta[12], positions[12];
        const double one = 1;
        snprintf(text, sizeof text, format, muted ? "'muted': true, " : "");
        ex_rig *rig = build_text(text);
        assert_int_equal(ex_rig_layer_muted(rig, 0), muted);
        assert_false(ex_rig_layer_muted(rig, 1));
        ex_rig_example_delta(rig, 0, 0, delta);
        assert_true(delta[2] == 1);
        ex_rig_example_delta(rig, 1, 0, delta);
        assert_true(delta[2] == (muted ? 2 : 1) && delta[5] == 2);
        evaluate(rig, &one, positions, NULL);
        check_near((double)positions[2], 2, 1e-6);
        ex_rig_destroy(rig);
    }
}

/* ---- there and back ---- */

static void unpacking_gives_the_same_bytes(void **state) {
    (void)state;
    static const char offsets[] =
        "{'name': '%s', %s'space': [{'name': 'elbow', 'joint': 'fore', 'angle': 'z', 'min': 0, 'max': 140}, {'name': "
        "'fat', 'min': 0, 'max': 2}, {'name': 'aim', 'joint': 'upper', 'rotation': 'swing', 'about': 'x'}],\n"
        " 'weigh': {'kind': 'gaussian', %s}, 'shape': 'offsets', 'frame': '%s', 'participation': '%s', 'protect': %s,\n"
        " 'examples': [{'name': 'bent', 'mesh': 'bent.obj', 'at': {'elbow': 100, 'fat': 0.5}, 'falloff': {'elbow': 33, "
        "'aim': 70}},\n {'name': 'half', 'mesh': 'half.obj', 'at': {'elbow': 45}, 'metric': [[0.001, 0.0001], [0.0001, "
        "3]]}, {'name': 'gone', 'mesh': 'gone.obj', 'muted': true, 'at': {}}],\n 'pseudo': [{'from': {'elbow': 60}, "
        "'at': {'elbow': 75}, 'falloff': 0.1}, {'weights': {'bent': 0.5, 'gone': 0.5}, 'at': {'elbow': 130}}]}";
    static const char *const weighs[] = {"'ridge': 1e-5", "'falloff': 'auto'", "'falloff': [0.2, 0.3, 0.7]",
                                         "'metric': [[0.01, 0], [0, 1]], 'falloff': 0.5"};
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.3, positions);
    arm_write_mesh("fat.obj", positions);
    for (int which = 0; which < 8; which++) {
        char layers[6000], text[7000];
        ex_rig *plain = build_arm(which & 1, "");
        write_sculpt("bent.obj", plain, bent, 0.05, 1, 3, 9);
        write_sculpt("half.obj", plain, half, 0.0001, 2, 5, 11);
        write_sculpt("flexed.obj", plain, (words){"joint:fore=z110", NULL}, 0.05, 4, 0, 12);
        ex_rig_destroy(plain);
        size_t at = (size_t)snprintf(layers, sizeof layers,
                                     "{'name': 'form', 'space': [{'name': 'fat', 'min': 0, 'max': 1}], 'examples': "
                                     "[{'name': 'thin', 'mesh': 'rest.obj', 'at': {}}, {'name': 'fat', 'mesh': "
                                     "'fat.obj', 'at': {'fat': 1}}]},\n");
        at += (size_t)snprintf(layers + at, sizeof layers - at, offsets, "elbow", which & 4 ? "'muted': true, " : "",
                               weighs[which & 3], which & 2 ? "skinned" : "rest", which & 1 ? "moved" : "layer",
                               which & 1 ? "false" : "true");
        at += (size_t)snprintf(layers + at, sizeof layers - at, "%s,\n", unposed_layer);
        at += (size_t)snprintf(layers + at, sizeof layers - at, offsets, "again", "", weighs[3 - (which & 3)],
                               which & 4 ? "rest" : "skinned", "layer", "true");
        snprintf(text, sizeof text, head, ex_skinning_name((ex_skinning)(which & 1)), layers);
        check_round_trip(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sculpt_comes_back),
        cmocka_unit_test(layers_stand_on_each_other),
        cmocka_unit_test(layers_stand_on_what_moved),
        cmocka_unit_test(without_protection_layers_disturb_each_other),
        cmocka_unit_test(a_rigid_motion_moves_nothing),
        cmocka_unit_test(what_collapses_comes_back_in_the_skins_frame),
        cmocka_unit_test(tolerances_say_what_moved),
        cmocka_unit_test(masks_go_into_offsets),
        cmocka_unit_test(what_coincides_parts_in_kinds),
        cmocka_unit_test(what_coincides_stays_so),
        cmocka_unit_test(muted_examples_are_not_there),
        cmocka_unit_test(muted_layers_are_carried),
        cmocka_unit_test(unpacking_gives_the_same_bytes),
    };
    return cmocka_run_group_tests_name("author.project.offsets", tests, set_up, scratch_tear_down);
}
