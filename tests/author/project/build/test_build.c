/*
 * Building: at every example the rig gives the example, with any weigher; units, seams, and attributes of a mesh
 * survive; forms that do not fit are named.
 */
#include "author/project/projects.h"

#include "support/check.h"

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_cube("rest.obj", 1, 0);
    write_cube("tall.obj", 2.3, 0);
    write_cube("leaning.obj", 1, 0.7);
    write_cube("flat.obj", 0.1, -0.3);
    write_square("m.obj", 0, 0, 0, 0);
    write_square("up.obj", 1, 2, 3, 4);
    return 0;
}

static ex_mesh *read_form(const char *name) {
    ex_mesh *mesh = NULL;
    ex_error error;
    if (ex_mesh_read(scratch_path(name), &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

/* Builds a project of one layer and evaluates it at its examples. */
static void check_examples(const char *space, const char *weigh, const char *places[4]) {
    static const char *const forms[4] = {"rest.obj", "tall.obj", "leaning.obj", "flat.obj"};
    char text[2000], examples[1200] = "";
    for (int k = 0; k < 4; k++)
        snprintf(examples + strlen(examples), sizeof examples - strlen(examples),
                 "%s{'name': 'e%d', 'mesh': '%s'%s%s%s}", k ? ", " : "", k, forms[k], places ? ", 'at': {" : "",
                 places ? places[k] : "", places ? "}" : "");
    snprintf(text, sizeof text,
             "{'exemplar': 1, 'mesh': 'rest.obj', 'layers': [{'name': 'l', 'space': [%s], 'weigh': {%s}, 'examples': "
             "[%s]}]}",
             space, weigh, examples);
    ex_rig *rig = build_text(text);
    for (int k = 0; k < 4; k++) {
        double pose[16] = {0};
        float positions[24];
        assert_true(ex_rig_pose_size(rig) <= 16);
        const double *point = ex_weigher_point(ex_rig_weigher(rig, 0), k);
        if (point)
            memcpy(pose, point, (size_t)ex_rig_pose_size(rig) * sizeof *pose);
        else
            pose[k] = 1;
        evaluate(rig, pose, positions, NULL);
        ex_mesh *form = read_form(forms[k]);
        for (int i = 0; i < 24; i++)
            if (fabs((double)positions[i] - form->positions[i]) > 1e-6 * ex_mesh_size(form))
                fail_msg("%s, example %d, number %d: %g and %g", weigh, k, i, (double)positions[i], form->positions[i]);
        ex_mesh_destroy(form);
    }
    ex_rig_destroy(rig);
}

static void gives_the_examples(void **state) {
    (void)state;
    const char *plane = "{'name': 'a', 'min': 0, 'max': 1}, {'name': 'b', 'min': -10, 'max': 30}";
    const char *on_plane[4] = {"'a': 0.1, 'b': 3", "'a': 1, 'b': 0", "'a': 0, 'b': 30", "'a': 0.7, 'b': -10"};
    const char *kernels[] = {"bspline",    "gaussian",   "wendland",    "inverse_multiquadric",
                             "thin_plate", "biharmonic", "triharmonic", "multiquadric"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        char weigh[100];
        snprintf(weigh, sizeof weigh, "'kernel': '%s'", kernels[i]);
        check_examples(plane, weigh, on_plane);
    }
    check_examples(plane, "'kind': 'shepard'", on_plane);
    check_examples(plane, "'kind': 'nearest', 'k': 2", on_plane);
    const char *turns[4] = {"", "'r': {'x': 90}", "'r': {'y': 120, 'z': 20}, 's': 1", "'r': [0, 0, 1, 0], 's': 0.5"};
    check_examples("{'name': 'r', 'rotation': 'full'}, {'name': 's', 'min': 0, 'max': 1}", "'linear': false", turns);
    check_examples("{'name': 'a', 'min': 0, 'max': 1}, {'name': 'b', 'min': 0, 'max': 1}, {'name': 'c', 'min': 0, "
                   "'max': 1}, {'name': 'd', 'min': 0, 'max': 1}",
                   "'kind': 'direct'", NULL);
}

/* Two direct layers, worked by hand: heights 0, then 2 * (1 2 3 4) with a mask, then -1 * (1 2 3 4). */
static void sums_layers_and_masks(void **state) {
    (void)state;
    write_text("mask.txt", "# vertex value\n0 0.5\n\n 2\t1 # all\r\n3 0\n");
    ex_rig *rig =
        build_text("{'exemplar': 1, 'mesh': 'm.obj', 'layers': [\n"
                   "{'name': 'a', 'space': [{'name': 'x', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'},\n"
                   " 'examples': [{'name': 'up', 'mesh': 'up.obj'}], 'mask': {'file': 'mask.txt'}},\n"
                   "{'name': 'b', 'space': [{'name': 'y', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'},\n"
                   " 'examples': [{'name': 'up', 'mesh': 'up.obj'}]}]}");
    float p[12];
    evaluate(rig, (double[]){2, -1}, p, NULL);
    const double expected[4] = {2 * 0.5 * 1 - 1, -2, 2 * 3 - 3, -4};
    for (int v = 0; v < 4; v++)
        check_near((double)p[3 * v + 2], expected[v], 1e-6);
    ex_rig_destroy(rig);
}

static void turns_and_scales(void **state) {
    (void)state;
    write_text("z_up.obj", "v 1 2 3\nv 4 5 6\nv 7 8 10\nvn 0 0 1\nvn 0 1 0\nvn 1 0 0\nf 1//1 2//2 3//3\n");
    write_text("z_up2.obj", "v 1 2 3\nv 4 5 6\nv 7 9 12\nf 1 2 3\n");
    ex_rig *rig =
        build_text("{'exemplar': 1, 'up': 'z', 'unit': 'cm', 'mesh': 'z_up.obj', 'layers': [\n"
                   "{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'},\n"
                   " 'examples': [{'name': 'e', 'mesh': 'z_up2.obj'}]}]}");
    float p[9], d[9];
    ex_rig_rest_mesh(rig, p);
    ex_rig_example_delta(rig, 0, 0, d);
    const double expected[9] = {0.01, 0.03, -0.02, 0.04, 0.06, -0.05, 0.07, 0.1, -0.08};
    const double moved[9] = {0, 0, 0, 0, 0, 0, 0, 0.02, -0.01};
    for (int i = 0; i < 9; i++) {
        check_near((double)p[i], expected[i], 1e-8);
        /* The mesh is rounded to float before the difference is taken: only that rounding is left. */
        check_near((double)d[i], moved[i], 1e-8);
    }
    const ex_rig_mesh m = ex_rig_get_mesh(rig);
    const float normals[9] = {0, 1, 0, 0, 0, -1, 1, 0, 0};
    for (int i = 0; i < 9; i++)
        assert_true(m.normals[i] == normals[i]);
    ex_rig_destroy(rig);
}

static const char cube_project[] =
    "{'exemplar': 1, 'mesh': 'rest.obj', 'layers': [{'name': 'l', 'space': [{'name': 'a', 'min': 0, 'max': 1}],\n"
    " 'examples': [{'name': 'rest', 'mesh': 'rest.obj', 'at': {}}, {'name': 'tall', 'mesh': 'tall.obj', 'at': {'a': "
    "1}}]}]}";

static void splits_at_seams(void **state) {
    (void)state;
    ex_rig *rig = build_text(cube_project);
    const ex_rig_mesh m = ex_rig_get_mesh(rig);
    assert_int_equal(m.vertex_count, 8);
    assert_int_equal(m.split_count, 24); /* every vertex has three normals */
    assert_int_equal(m.face_count, 6);
    assert_int_equal(m.triangle_count, 12);
    for (int s = 0; s < 24; s++)
        assert_int_equal(m.split_source[s], s / 3);
    ex_mesh *mesh = read_form("rest.obj");
    for (int c = 0; c < 24; c++) {
        uint32_t split = m.corners[c];
        const double *t = mesh->texcoords + 2 * mesh->corner_texcoords[c];
        const double *n = mesh->normals + 3 * mesh->corner_normals[c];
        assert_int_equal(m.split_source[split], mesh->corners[c]);
        assert_true(m.texcoords[2 * split] == (float)t[0] && m.texcoords[2 * split + 1] == (float)(1 - t[1]));
        for (int i = 0; i < 3; i++)
            assert_true(m.normals[3 * split + (uint32_t)i] == (float)n[i]);
    }
    ex_mesh_destroy(mesh);
    ex_rig_destroy(rig);
}

static void makes_normals_unit_long(void **state) {
    (void)state;
    write_text("n.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 3 0 4\nvn 0 0 0\nvn 1e200 0 1e200\nf 1//1 2//2 3//3\n");
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'n.obj', 'layers': []}");
    const ex_rig_mesh m = ex_rig_get_mesh(rig);
    const double expected[9] = {0.6, 0, 0.8, 0, 1, 0, sqrt(0.5), 0, sqrt(0.5)};
    for (int i = 0; i < 9; i++)
        check_near((double)m.normals[i], expected[i], 1e-7);
    ex_rig_destroy(rig);
}

/* Smooth normals if the file has none: the same at all splits of a vertex, and those of the faces around it. */
static void makes_up_smooth_normals(void **state) {
    (void)state;
    write_text("roof.obj", "v 0 0 0\nv 0 0 1\nv 1 1 0\nv 1 1 1\nv 3 -1 0\nv 3 -1 1\nv 9 9 9\nvt 0 0\nvt 1 0\nvt 1 1\n"
                           "f 1/1 2/1 4/2 3/2\nf 3/3 4/3 6/1 5/1\n");
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'roof.obj', 'layers': []}");
    const ex_rig_mesh m = ex_rig_get_mesh(rig);
    const double s = sqrt(0.5),
                 expected[7][3] = {{-s, s, 0}, {-s, s, 0}, {0, 1, 0}, {0, 1, 0}, {s, s, 0}, {s, s, 0}, {0, 1, 0}};
    assert_int_equal(m.split_count, 9); /* the ridge has two texture coordinates */
    for (int i = 0; i < 9; i++)
        for (int c = 0; c < 3; c++)
            check_near((double)m.normals[3 * i + c], expected[m.split_source[i]][c], 1e-6);
    ex_rig_destroy(rig);
    write_text("dots.obj", "v 0 0 0\nv 0 0 1\n");
    rig = build_text("{'exemplar': 1, 'mesh': 'dots.obj', 'layers': []}");
    assert_null(ex_rig_get_mesh(rig).normals);
    ex_rig_destroy(rig);
}

/* Levels as in the project, and the level to show. */
static void refines(void **state) {
    (void)state;
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'rest.obj', 'layers': [], 'subdivide': {'scheme': "
                             "'catmull_clark', 'levels': 2}}");
    assert_int_equal(ex_rig_level_count(rig), 2);
    assert_int_equal(ex_rig_level(rig), 2);
    assert_int_equal(ex_rig_level_vertex_count(rig, 1), 26);
    assert_int_equal(ex_rig_level_vertex_count(rig, 2), 98);
    const ex_rig_mesh m = ex_rig_level_mesh(rig, 1);
    assert_int_equal(m.face_count, 24);
    assert_int_equal(m.split_count, 48); /* 20 texture coordinates at corners, 22 at edges, 6 in faces */
    assert_null(m.normals);
    /* A vertex of the cage keeps its texture coordinates. */
    const ex_rig_mesh cage = ex_rig_get_mesh(rig);
    for (int i = 0; i < m.split_count && m.split_source[i] < 8; i++) {
        bool found = false;
        for (int k = 0; k < cage.split_count; k++)
            found = found || (cage.split_source[k] == m.split_source[i] &&
                              memcmp(cage.texcoords + 2 * k, m.texcoords + 2 * i, 2 * sizeof(float)) == 0);
        assert_true(found);
    }
    ex_rig_destroy(rig);
    rig = build_text("{'exemplar': 1, 'mesh': 'rest.obj', 'layers': [], 'subdivide': {'scheme': 'loop', 'levels': 0, "
                     "'limit': true}}");
    assert_int_equal(ex_rig_level_count(rig), 0);
    assert_int_equal(ex_rig_level(rig), EX_LEVEL_LIMIT);
    assert_int_equal(ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT), 8);
    ex_rig_destroy(rig);
    ex_project *project = parse_project("{'exemplar': 1, 'mesh': 'rest.obj', 'layers': [], 'subdivide': {'scheme': "
                                        "'loop', 'levels': 1}}");
    assert_int_equal(ex_project_build(project, &(ex_build_options){.rig = {.without_levels = true}}, &rig, NULL),
                     EX_OK);
    assert_null(ex_rig_stencils(rig));
    assert_int_equal(ex_rig_level_count(rig), 0);
    ex_error error = {0};
    assert_int_equal(ex_rig_pack_size(rig), 0);
    assert_int_equal(ex_rig_pack(rig, NULL, 0, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "levels");
    ex_rig_destroy(rig);
    ex_project_destroy(project);
    /* A mesh without them is complete. */
    project = parse_project("{'exemplar': 1, 'mesh': 'rest.obj', 'layers': []}");
    assert_int_equal(ex_project_build(project, &(ex_build_options){.rig = {.without_levels = true}}, &rig, NULL),
                     EX_OK);
    assert_true(ex_rig_pack_size(rig) > 0);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

/* Vertices without a face, faces without texture coordinates next to faces with them. */
static void keeps_loose_vertices(void **state) {
    (void)state;
    write_text("l.obj", "v 0 0 0\nv 9 9 9\nv 1 0 0\nv 0 1 0\nvt 0.5 0.25\nf 1/1 3/1 4/1\nf 1 4 3\n");
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'l.obj', 'layers': []}");
    const ex_rig_mesh m = ex_rig_get_mesh(rig);
    assert_int_equal(m.vertex_count, 4);
    assert_int_equal(m.split_count, 7);
    const uint32_t sources[7] = {0, 0, 1, 2, 2, 3, 3};
    assert_memory_equal(m.split_source, sources, sizeof sources);
    assert_true(m.texcoords[0] == 0.5F && m.texcoords[1] == 0.75F && m.texcoords[2] == 0 && m.texcoords[3] == 1);
    ex_rig_destroy(rig);
}

static void gives_the_mesh_back(void **state) {
    (void)state;
    ex_rig *rig = build_text(cube_project);
    ex_mesh *mesh = read_form("rest.obj"), *back = NULL;
    assert_int_equal(ex_rig_to_mesh(rig, NULL, &back, NULL), EX_OK);
    assert_int_equal(ex_mesh_compare_connectivity(mesh, back, NULL), EX_OK);
    assert_memory_equal(back->positions, mesh->positions, 24 * sizeof(double));
    assert_memory_equal(back->colours, mesh->colours, 24 * sizeof(float));
    for (int c = 0; c < 24; c++) {
        for (int i = 0; i < 2; i++)
            check_near(back->texcoords[2 * back->corner_texcoords[c] + i],
                       mesh->texcoords[2 * mesh->corner_texcoords[c] + i], 1e-7);
        for (int i = 0; i < 3; i++)
            assert_true(back->normals[3 * back->corner_normals[c] + i] ==
                        mesh->normals[3 * mesh->corner_normals[c] + i]);
    }
    assert_int_equal(back->group_count, 3);
    assert_string_equal(back->group_names[1], "top lid");
    assert_memory_equal(back->face_groups, mesh->face_groups, 6 * sizeof(int));
    assert_int_equal(back->material_count, 2);
    assert_string_equal(back->material_names[1], "blue");
    assert_string_equal(back->material_library, "cube.mtl");
    assert_memory_equal(back->face_materials, mesh->face_materials, 6 * sizeof(int));
    assert_int_equal(back->tag_count, 2);
    assert_string_equal(back->tags[0].name, "crease");
    assert_int_equal(back->tags[0].int_count, 2);
    assert_int_equal(back->tags[0].ints[1], 1);
    assert_true(back->tags[0].floats[0] == 2.5);
    assert_string_equal(back->tags[1].strings[1], "two");
    /* With the caller's positions. */
    ex_mesh_destroy(back);
    float moved[24];
    evaluate(rig, (double[]){1}, moved, NULL);
    assert_int_equal(ex_rig_to_mesh(rig, &(ex_surface){.positions = moved}, &back, NULL), EX_OK);
    for (int i = 0; i < 24; i++)
        assert_true(back->positions[i] == (double)moved[i]);
    check_near(back->positions[13], 2.3, 1e-6);
    ex_mesh_destroy(back);
    ex_mesh_destroy(mesh);
    ex_rig_destroy(rig);
}

/* Groups and materials of a refined face are those of its parent face; on the limit surface without any level, the
 * faces are the mesh's own. */
static void keeps_groups_of_levels(void **state) {
    (void)state;
    static const struct {
        const char *subdivide;
        int level, parts; /* number of parts of each of the cube's six faces */
    } cases[] = {{"{'scheme': 'catmull_clark', 'levels': 0, 'limit': true}", EX_LEVEL_LIMIT, 1},
                 {"{'scheme': 'loop', 'levels': 0, 'limit': true}", EX_LEVEL_LIMIT, 1},
                 {"{'scheme': 'catmull_clark', 'levels': 1}", 1, 4},
                 {"{'scheme': 'catmull_clark', 'levels': 2, 'limit': true}", EX_LEVEL_LIMIT, 16},
                 {"{'scheme': 'loop', 'levels': 2}", 1, 8},
                 {"{'scheme': 'loop', 'levels': 2}", 2, 32}};
    ex_mesh *mesh = read_form("rest.obj");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "{'exemplar': 1, 'mesh': 'rest.obj', 'layers': [], 'subdivide': %s}",
                 cases[i].subdivide);
        ex_rig *rig = build_text(text);
        ex_mesh *back = NULL;
        float positions[3 * 400] = {0};
        assert_true(ex_rig_level_vertex_count(rig, cases[i].level) <= 400);
        const ex_surface surface = {.level = cases[i].level, .positions = positions};
        assert_int_equal(ex_rig_to_mesh(rig, &surface, &back, NULL), EX_OK);
        assert_int_equal(back->face_count, 6 * cases[i].parts);
        assert_int_equal(back->group_count, 3);
        assert_non_null(back->face_groups);
        assert_string_equal(back->material_library, "cube.mtl");
        for (int f = 0; f < back->face_count; f++) {
            assert_int_equal(back->face_groups[f], mesh->face_groups[f / cases[i].parts]);
            assert_int_equal(back->face_materials[f], mesh->face_materials[f / cases[i].parts]);
        }
        ex_mesh_destroy(back);
        ex_rig_destroy(rig);
    }
    ex_mesh_destroy(mesh);
}

static void same_project_same_bytes(void **state) {
    (void)state;
    ex_rig *a = build_text(cube_project), *b = build_text(cube_project);
    check_same_rig(a, b);
    ex_rig_destroy(a);
    ex_rig_destroy(b);
}

/* Whatever the spelling of the ending. */
static void reads_forms_by_their_ending(void **state) {
    (void)state;
    write_square("LOUD.OBJ", 1, 2, 3, 4);
    ex_rig *rig = build_text("{'exemplar': 1, 'mesh': 'LOUD.OBJ', 'layers': []}");
    float p[12];
    ex_rig_rest_mesh(rig, p);
    assert_true(p[11] == 4);
    ex_rig_destroy(rig);
}

static bool count_reports(void *user, const char *what, double fraction) {
    double *last = user;
    assert_true(fraction >= *last && fraction <= 1);
    assert_true(what[0] != 0);
    *last = fraction;
    return true;
}

static void reports_progress(void **state) {
    (void)state;
    ex_project *project = parse_project(cube_project);
    double last = 0;
    const ex_progress progress = {count_reports, &last};
    ex_rig *rig = NULL;
    assert_int_equal(ex_project_build(project, &(ex_build_options){.progress = &progress}, &rig, NULL), EX_OK);
    check_near(last, 2.0 / 3, 1e-12); /* two examples of two, and the solve to come */
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

static void stops(void **state) {
    (void)state;
    ex_project *project = parse_project(cube_project);
    check_stops(project);
    ex_project_destroy(project);
}

static void sixteen_bits_stay_in_memory(void **state) {
    (void)state;
    ex_project *project = parse_project(cube_project);
    ex_rig *rig = NULL;
    ex_error error;
    assert_int_equal(
        ex_project_build(project, &(ex_build_options){.rig = {.storage = EX_STORAGE_16_BIT}}, &rig, &error), EX_OK);
    assert_int_equal(ex_rig_storage(rig), EX_STORAGE_16_BIT);
    assert_int_equal(ex_rig_write(scratch_path("no.glb"), rig, &error), EX_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "no.glb: a rig in 16-bit storage cannot be packed"));
    assert_int_equal(ex_project_unpack(rig, scratch_path("no"), "no", false, &error), EX_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "16-bit"));
    float p[24];
    evaluate(rig, (double[]){1}, p, NULL);
    check_near((double)p[13], 2.3, 1e-4);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

/* One project per error; the sentence has all `words`. */
static void names_what_does_not_fit(void **state) {
    (void)state;
    write_text("turned.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 2 3 4 1\n");
    write_text("five.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 2 2\nf 1 2 3 4\n");
    write_text("two.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n");
    write_text("broken.obj", "v 0 0 0\nv 1 0 zero\n");
    write_text("form.stl", "solid form\n");
    write_text("far.obj", "v 0 0 0\nv 1 0 0\nv 1 1e39 0\nv 0 1 0\nf 1 2 3 4\n");
    static const char one[] =
        "'layers': [{'name': 'l', 'space': [{'name': 'a', 'min': 0, 'max': 1}],\n"
        "'examples': [{'name': 'ok', 'mesh': 'm.obj', 'at': {}}, {'name': 'e', 'mesh': '%s', 'at': "
        "{'a': %s}}]}%s]";
    static const char second[] = ", {'name': 'k', 'space': [{'name': 'a', 'min': 0, 'max': 1, 'rest': 1}], 'examples': "
                                 "[{'name': 'e', 'mesh': 'm.obj', 'at': {}}]}";
    const struct {
        const char *mesh, *form, *at, *more;
        ex_result result;
        const char *words[3];
    } cases[] = {
        {"m.obj", "turned.obj", "1", "", EX_ERROR_DATA, {"layers[0].examples[1] 'e'", "turned.obj", "face 0"}},
        {"m.obj", "five.obj", "1", "", EX_ERROR_DATA, {"layers[0].examples[1] 'e'", "five.obj", "5"}},
        {"m.obj", "two.obj", "1", "", EX_ERROR_DATA, {"layers[0].examples[1] 'e'", "two.obj", "'m.obj'"}},
        {"m.obj", "none.obj", "1", "", EX_ERROR_FILE, {"layers[0].examples[1] 'e'", "none.obj", ""}},
        {"m.obj", "broken.obj", "1", "", EX_ERROR_FORMAT, {"layers[0].examples[1] 'e'", "broken.obj:2", ""}},
        {"m.obj",
         "form.stl",
         "1",
         "",
         EX_ERROR_FORMAT,
         {"form.stl", "a mesh is read from .obj, .ply, .off, .abc, .glb or .gltf", ""}},
        {"m.obj", "far.obj", "1", "", EX_ERROR_DATA, {"'e'", "vertex 2", "finite"}},
        {"none.obj", "m.obj", "1", "", EX_ERROR_FILE, {"x.json", "none.obj", ""}},
        {"far.obj", "m.obj", "1", "", EX_ERROR_DATA, {"far.obj", "vertex 2", "float"}},
        {"m.obj", "up.obj", "0", "", EX_ERROR_SINGULAR, {"'ok'", "'e'", ""}},
        {"m.obj", "up.obj", "1", second, EX_ERROR_DATA, {"'a'", "rest", ""}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char layers[1000], text[1200];
        snprintf(layers, sizeof layers, one, cases[i].form, cases[i].at, cases[i].more);
        snprintf(text, sizeof text, "{'exemplar': 1, 'mesh': '%s', %s}", cases[i].mesh, layers);
        ex_project *project = parse_project(text);
        ex_rig *rig = (ex_rig *)(uintptr_t)1;
        ex_error error = {0};
        ex_result result = ex_project_build(project, NULL, &rig, &error);
        if (result != cases[i].result)
            fail_msg("case %zu: result %d, '%s'", i, (int)result, error.text);
        assert_null(rig);
        for (int w = 0; w < 3; w++)
            if (!strstr(error.text, cases[i].words[w]))
                fail_msg("case %zu: '%s' is not in '%s'", i, cases[i].words[w], error.text);
        assert_ptr_equal(strstr(error.text, scratch_path("x.json")), error.text);
        ex_project_destroy(project);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_examples),
        cmocka_unit_test(sums_layers_and_masks),
        cmocka_unit_test(turns_and_scales),
        cmocka_unit_test(splits_at_seams),
        cmocka_unit_test(makes_normals_unit_long),
        cmocka_unit_test(makes_up_smooth_normals),
        cmocka_unit_test(refines),
        cmocka_unit_test(keeps_loose_vertices),
        cmocka_unit_test(gives_the_mesh_back),
        cmocka_unit_test(keeps_groups_of_levels),
        cmocka_unit_test(same_project_same_bytes),
        cmocka_unit_test(reads_forms_by_their_ending),
        cmocka_unit_test(reports_progress),
        cmocka_unit_test(stops),
        cmocka_unit_test(sixteen_bits_stay_in_memory),
        cmocka_unit_test(names_what_does_not_fit),
    };
    return cmocka_run_group_tests_name("author.project.build", tests, set_up, scratch_tear_down);
}
